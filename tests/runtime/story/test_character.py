"""A character that remembers: what comes back, from whom it is kept, and from when on it is known."""

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

import novelgen
from novelgen.errors import UnknownEntityError, UnknownMemoryError, UserInputError
from runtime.front_door import Memory
from runtime.model_providers.offline_embeddings import HashedNgramEmbeddings
from runtime.story.story import Story
from tests.runtime.story.conftest import START, Calendar
from tests.support.scripted_chat_model import ScriptedChatModel


def test_events_take_one_name_or_several(village: Story) -> None:
    """Seed 002.6: `milestone_type` makes a milestone; one name is not its letters; news in turns needs no delay."""
    found = village.character("Gregor").remember("We shared a fire.", milestone_type="first_night").memory
    assert (found.tier, found.is_milestone, found.details) == ("pinned", True, {"milestone_type": "first_night"})
    done = village.character("Gregor").remember("A cup fell.", participants="player", witnesses="Mira")
    assert done.memory.participants == ["player"]
    assert len(done.copies) == 1
    event = village.world.announce("The bell rang.", witnesses="Mira", told_to="Bjorn", at=(1, 1))
    assert len(event.memories) == 2
    event = village.world.announce("The bell rang.", told_to={"Bjorn": 2}, delay_per_distance=3, at=(1, 1))
    assert event.memories[0].known_turn == 7


def test_nobody_recalls_what_another_learnt(village: Story) -> None:
    """Seed 002.2: a memory belongs to one character alone, and is none of the story's, which scenes search."""
    village.character("Gregor").remember("I buried the coffer under the chapel.", event_type="secret_kept")

    assert village.character("Mira").recall("Where is the coffer under the chapel?").items == []
    assert village.memories.list().total == 0


def test_witnesses_remember_in_rows_and_words_of_their_own(village: Story) -> None:
    """Seed 002.3, 002.4: those who were there remember it, each in their own words, and nobody else does."""
    gregor = village.character("Gregor")
    gregor.remember(
        "I sold the guard's sword to a bandit.",
        event_type="betrayal",
        witnesses={"Mira": "I saw Gregor hand a sword to a bandit."},
    )

    [seen] = village.character("Mira").memories()
    assert seen.content == "I saw Gregor hand a sword to a bandit."
    assert seen.how == "witnessed"
    assert seen.event_id == gregor.memories()[0].event_id
    assert village.character("Bjorn").memories() == []


def test_who_and_what_is_unknown_is_refused(village: Story) -> None:
    """A misspelt name or slot with the one that was meant; nobody tells what somebody else remembers."""
    with pytest.raises(UnknownEntityError, match=r"Gregor.*create=True"):
        village.character("Gregr")
    assert village.character("Varn", create=True).character_id != village.character("Gregor").character_id
    with pytest.raises(UserInputError, match="player_name"):
        village.character("Mira").remember("The player's name is Theron.", slot="player_nmae")
    secret = village.character("Mira").remember("Marcus is not dead.").memory
    with pytest.raises(UnknownMemoryError):
        village.character("Bjorn").tell("Gregor", [secret.memory_id])


def test_a_slot_holds_one_value_and_the_former_one_is_history(village: Story, calendar: Calendar) -> None:
    """Seed 002.27, 002.28: a new value takes the old one out of recall; the list of memories still has it."""
    mira = village.character("Mira", clock=calendar)
    mira.remember("The player's name is Theron.", slot="player_name")
    calendar.pass_days(1)
    renamed = mira.remember("The player's name is really Marcus.", slot="player_name")

    recalled = mira.recall("What is the player's name? Is it Theron?")

    assert renamed.ended
    assert [line.text for line in recalled.header] == ["The player's name is really Marcus."]
    assert recalled.items == []
    assert "Theron" not in recalled.as_prompt("en")
    [former, _] = mira.memories()
    assert (former.content, former.superseded_by) == ("The player's name is Theron.", renamed.memory.memory_id)
    assert former not in mira.memories(with_former=False)


def test_a_wrong_argument_is_refused_by_name(village: Story) -> None:
    """Nothing is stored, and the error says which value is wrong."""
    cases: list[tuple[dict[str, Any], str]] = [
        ({"how": "witnesed"}, "did you mean 'witnessed'"),
        ({"state_deltas": {"trust_change": "4"}}, "no whole number"),
        ({"state_deltas": {"trust_change": 4.5}}, "no whole number"),
        ({"details": {"thing": object()}}, "details cannot be"),
        ({"importance": 11}, "importance cannot be 11"),
    ]
    gregor = village.character("Gregor")
    for wrong, says in cases:
        with pytest.raises(UserInputError, match=says):
            gregor.remember("A cup fell.", participants=["player"], **wrong)
        assert gregor.memories() == []
    for asked in ({"said": None}, {"said": "x", "budget_tokens": "50"}):
        with pytest.raises(UserInputError):
            gregor.recall(**asked)  # type: ignore[arg-type]
    for delay in (1.5, "a day", True):
        with pytest.raises(UserInputError, match="delay"):
            village.world.announce("The bell rang.", told_to={"Bjorn": 2}, delay=delay, at=(1, 1))  # type: ignore[arg-type]


def test_what_is_told_is_what_it_is_about_and_not_what_weighs_most(village: Story) -> None:
    """Asked for the soup nobody tells of a first meeting; about nothing that is known nothing is told, aloud."""
    gregor = village.character("Gregor")
    gregor.remember("A guest in a red cloak came.", event_type="first_meeting", participants=["player"])
    gregor.remember("I brought soup to the smith.")
    told = gregor.tell("Mira", "I brought soup to the smith")
    assert [each.content for each in told.told] == ["I brought soup to the smith."]
    nothing = gregor.tell("Bjorn", "xyzzy")
    assert nothing.told == []
    assert [issue.stage for issue in nothing.issues] == ["tell"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("memories", "unknown", "known"),
    [
        (
            ["Kari bowed.", "The player sang.", "I slept.", "It rained.", "I sold fish."],
            ["the ring", "the war", "the bishop", "the murder", "a dragon", "my debts"],
            {"the song": "The player sang.", "the weather": "It rained.", "fish": "I sold fish."},
        ),
        (
            ["卡丽行了礼。", "玩家唱了歌。", "我睡了。", "下雨了。", "我卖了鱼。"],
            ["戒指", "战争", "主教", "凶案", "龙", "我的债"],
            {"唱歌": "玩家唱了歌。", "天气": "下雨了。", "鱼": "我卖了鱼。"},
        ),
    ],
)
def test_short_memories_are_told_only_for_their_topic(
    tmp_path: Path, memories: list[str], unknown: list[str], known: dict[str, str]
) -> None:
    """With the embeddings that ship, a topic that no memory is about brings none, however short the memories are."""
    with novelgen.open(tmp_path) as opened:
        town = opened.create("town", language="en")
        greta = town.character("Greta", create=True)
        town.character("Olaf", create=True)
        for memory in memories:
            greta.remember(memory)
        for topic in unknown:
            reply = greta.tell("Olaf", topic)
            assert (reply.told, [issue.stage for issue in reply.issues]) == ([], ["tell"]), topic
        assert {topic: [memory.content for memory in greta.tell("Olaf", topic).told] for topic in known} == {
            topic: [memory] for topic, memory in known.items()
        }


def test_a_read_as_of_a_moment_shows_only_what_was_learnt_before_it(village: Story, calendar: Calendar) -> None:
    """Sessions and turns, and points in time alike, cut strictly before themselves."""
    bjorn = village.character("Bjorn", clock=calendar)
    bjorn.remember("The forge burnt down.", at=(1, 1))
    calendar.pass_days(2)
    bjorn.remember("The forge was built again.", at=(2, 1))

    assert [each.content for each in bjorn.memories(as_of=(2, 1))] == ["The forge burnt down."]
    assert [each.content for each in bjorn.memories(as_of=START)] == []
    assert len(bjorn.memories(as_of=START + timedelta(days=1))) == 1
    assert len(bjorn.memories()) == 2
    assert [each.text for each in bjorn.recall("the forge", as_of=(2, 1)).items] == ["The forge burnt down."]


def test_what_is_told_is_marked_and_told_once(village: Story, calendar: Calendar) -> None:
    """Gossip is a call: the listener has it from the teller, and hears of one event only once."""
    mira, bjorn = (village.character(name, clock=calendar) for name in ("Mira", "Bjorn"))
    secret = mira.remember("I saw Gregor hand a sword to a bandit.", event_type="betrayal").memory

    told = mira.tell(bjorn, secret.memory_id)
    again = mira.tell("Bjorn", "Gregor and the bandit")

    [heard] = bjorn.memories()
    assert told.told == [heard]
    assert (heard.how, heard.heard_from, heard.tier) == ("told", mira.character_id, "important")
    assert again.known_already == [secret.memory_id]
    assert "heard from Mira" in bjorn.recall("Gregor, bandit").as_prompt("en")


def test_news_reaches_witnesses_at_once_and_others_after_their_delay(village: Story, calendar: Calendar) -> None:
    """Seed 002.45: an event reaches who sees it at once, others after delay and distance, the far ones never."""
    spread = village.world.announce(
        "The bridge fell into the river.",
        witnesses=["Mira"],
        told_to={"Gregor": 1, "Bjorn": 9},
        delay=timedelta(hours=2),
        delay_per_distance=timedelta(days=1),
        max_distance=5,
        clock=calendar,
    )
    mira, gregor = (village.character(name, clock=calendar) for name in ("Mira", "Gregor"))

    assert spread.unreached == ["Bjorn"]
    assert len(mira.memories()) == 1
    assert gregor.memories() == []
    calendar.pass_days(2)
    assert [each.how for each in gregor.memories()] == ["told"]
    assert village.character("Bjorn", clock=calendar).memories() == []


def test_news_can_take_turns_of_the_game(village: Story) -> None:
    """Turns delay as time does: the news is known from its turn on, and at the latest in the next session."""
    village.world.announce("The well is poisoned.", witnesses=["Mira"], told_to=["Gregor"], delay=3, at=(1, 4))
    gregor = village.character("Gregor")

    assert gregor.memories(as_of=(1, 7)) == []
    assert len(gregor.memories(as_of=(1, 8))) == 1
    assert gregor.memories() == []
    village.character("Mira").remember("I hauled water from the mill.", at=(2, 1))
    assert len(gregor.memories()) == 1


def test_a_broken_promise_ends_the_promise_that_it_is_about(village: Story) -> None:
    """Seed 002.29, 002.30: the promise is kept as history at a tenth of its score, other promises stand."""
    gregor = village.character("Gregor")
    herbs = gregor.remember("The player promised me herbs from the marsh.", event_type="promise_made").memory
    gregor.remember("The player promised to guard my stall.", event_type="promise_made")
    broken = gregor.remember("The player never brought the herbs from the marsh.", event_type="promise_broken")

    recalled = gregor.recall("Did I bring you the herbs from the marsh?")
    by_id = {each.memory.memory_id: each for each in recalled.items}

    assert broken.ended == [herbs.memory_id]
    assert by_id[herbs.memory_id].parts.superseded == 0.1
    assert [each.memory.memory_id for each in recalled.items if each.is_over] == [herbs.memory_id]
    assert "no longer so" in recalled.as_prompt("en")


def test_a_promise_that_cannot_be_told_from_another_is_not_ended(village: Story) -> None:
    """Where two promises fit equally, neither is lost, and the result says how to name one."""
    gregor = village.character("Gregor")
    for turn in (1, 2):
        gregor.remember("The player promised me herbs.", event_type="promise_made", at=(1, turn))
    broken = gregor.remember("The player broke a promise.", event_type="promise_broken")

    assert broken.ended == []
    assert "supersedes=" in broken.issues[0].message


def test_edits_and_deletions_are_undone(village: Story) -> None:
    """A correction is told at once and can be taken back; a deleted value lets the former one hold again."""
    mira = village.character("Mira")
    first = mira.remember("The player's name is Theron.", slot="player_name").memory
    second = mira.remember("The player's name is Marcus.", slot="player_name").memory
    mira.edit(second.memory_id, content="The player's name is Markus.")
    assert mira.recall("name").header[0].text == "The player's name is Markus."
    mira.undo()
    assert mira.recall("name").header[0].text == "The player's name is Marcus."
    mira.delete(second.memory_id)
    assert [line.memory_id for line in mira.recall("name").header] == [first.memory_id]
    mira.remember("The player's name is Odo.", slot="player_name")
    assert [line.text for line in mira.recall("name").header] == ["The player's name is Odo."]
    assert [each.kind for each in mira.changes() if each.undone_at is None] == [
        "remember",
        "remember",
        "delete",
        "remember",
    ]


def test_an_edit_that_does_not_fit_is_refused(village: Story) -> None:
    """A misspelt field, a value out of bounds and an empty text are told, and the memory stays as it was."""
    cases: list[dict[str, object]] = [{"contents": "x"}, {"importance": 11}, {"content": " "}, {}]
    mira = village.character("Mira")
    memory = mira.remember("Marcus owed me money.").memory
    for changes in cases:
        with pytest.raises(UserInputError):
            mira.edit(memory.memory_id, **changes)
        assert mira.memories() == [memory]


def test_what_happened_in_the_world_is_listed_with_who_knows_of_it(village: Story) -> None:
    """An event once, however many remember it and whoever tells it on; what one alone lived through is none."""
    village.character("Gregor").remember("I dreamt of the sea.", at=(1, 1))
    well = village.world.announce("The well is poisoned.", witnesses=["Mira"], told_to=["Gregor"], delay=3, at=(1, 4))
    bell = village.world.announce("The bell rang.", witnesses=["Bjorn"], at=(1, 2))
    village.character("Mira").tell("Bjorn", well.memories[0].memory_id, at=(1, 5))
    events = village.world.list_events()
    assert [each.event_id for each in events] == [bell.event_id, well.event_id]
    ids = {name: village.character(name).character_id for name in ("Mira", "Gregor", "Bjorn")}
    assert events[1].knowers == {ids["Mira"]: "witnessed", ids["Gregor"]: "told", ids["Bjorn"]: "told"}
    assert village.world.list_events(limit=1) == events[1:]


@pytest.mark.slow
def test_consolidation_by_volume_leaves_twenty_and_is_undone(village: Story, calendar: Calendar) -> None:
    """Seed 002.31: beyond 50 the lightest of a day and topic become one of importance 6, tier important."""
    gregor = village.character("Gregor", clock=calendar)
    gregor.remember("The player saved my life at the mill.", event_type="saved_life")
    gregor.remember("The player's name is Ines.", slot="player_name")
    for day in range(8):
        for number in range(7):
            gregor.remember(f"I sold {number} sacks of oats on day {day}.", event_type="trade", location="market")
        calendar.pass_days(1)

    report = gregor.consolidate()

    assert report.before == 58
    assert report.after == len(gregor.memories()) <= 20
    assert {(each.importance, each.tier) for each in report.memories} == {(6, "important")}
    assert "The player saved my life at the mill." in [each.content for each in gregor.memories()]
    gregor.undo()
    assert len(gregor.memories()) == 58


@pytest.mark.slow
def test_nearly_the_same_words_become_one_without_a_type(village: Story, calendar: Calendar) -> None:
    """Memories that are all alike share a topic by their words, though none is nearer than the mean of all."""
    gregor = village.character("Gregor", clock=calendar)
    for _ in range(12):
        for number in range(5):
            gregor.remember(f"The miller and I talked about flour, sack {number}, and the price of it.")
        calendar.pass_days(1)
    assert gregor.consolidate().after <= 20


@pytest.mark.slow
def test_a_memory_a_day_becomes_one_a_week(village: Story, calendar: Calendar) -> None:
    """Seed 002.31: where a day holds nothing to put together, the volume still goes down; topics stay apart."""
    gregor = village.character("Gregor", clock=calendar)
    for day in range(60):
        gregor.remember(f"I sold {day} sacks of oats.", event_type="trade", location="market", at=(day, 1))
        calendar.pass_days(1)
    report = gregor.consolidate()
    assert (report.before, report.after <= 20) == (60, True)
    day_of = {memory_id: int(memory_id.removeprefix("CM")) for group in report.groups for memory_id in group}
    assert all(max(map(day_of.get, group)) - min(map(day_of.get, group)) < 7 for group in report.groups)
    gregor.undo()
    assert len(gregor.memories()) == 60


@pytest.mark.parametrize(
    ("answer", "is_taken"),
    [
        ('{"content": "I sold 1 sack and 2 sacks of oats to Ansel."}', True),
        ('{"content": "Queen Ottoline bought every sack of oats."}', False),
        ("I would rather not.", False),
    ],
)
def test_a_model_may_write_what_stands_for_others(village: Story, answer: str, is_taken: bool) -> None:
    """A model's text is taken where it says no more than the memories; else these are joined, and it is said."""
    gregor = village.character("Gregor")
    for number in (1, 2):
        gregor.remember(f"I sold {number} sacks of oats to Ansel.", event_type="trade", location="market")

    report = gregor.consolidate(target=1, model=ScriptedChatModel(answer=lambda _: answer))

    [told] = gregor.memories()
    joined = "I sold 1 sacks of oats to Ansel. I sold 2 sacks of oats to Ansel."
    assert (told.content != joined) == is_taken
    assert bool(report.issues) != is_taken
    gregor.delete(told.memory_id)
    assert len(gregor.memories()) == 2


def test_consolidation_by_itself_is_reported(tmp_path: Path) -> None:
    """Where the settings want it, remembering beyond the limit consolidates, and the result says what."""
    settings = {"consolidate_automatically": True, "max_memories_before_consolidate": 3, "consolidate_target": 2}
    with novelgen.open(tmp_path, embeddings="fake:64", **settings) as memory:
        gregor = memory.create("village").character("Gregor", create=True)
        done = [
            gregor.remember(f"I sold {number} sacks of oats.", event_type="trade", location="market")
            for number in range(4)
        ]
        assert [each.consolidation is not None for each in done] == [False, False, False, True]
        assert len(gregor.memories()) == 2
        gregor.undo()
        assert len(gregor.memories()) == 4


class BrokenEmbeddings(HashedNgramEmbeddings):
    """Embeddings that fail while they are told to."""

    is_broken = False

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        if self.is_broken:
            raise ConnectionError("no route to the model")
        return super().embed_documents(texts)

    def embed_query(self, text: str) -> list[float]:
        if self.is_broken:
            raise ConnectionError("no route to the model")
        return super().embed_query(text)


def test_without_the_embedding_model_memories_are_kept_and_found_by_words(tmp_path: Path) -> None:
    """A model that fails costs no memory: it is stored, found by words, said so, and embedded at the next call."""
    model = BrokenEmbeddings(64)
    with novelgen.open(tmp_path, embeddings=model) as memory:
        gregor = memory.create("village").character("Gregor", create=True)
        model.is_broken = True
        stored = gregor.remember("The player lost a golden compass in the marsh.")
        gregor.remember("I slept badly.")
        by_words = gregor.recall("Where is the golden compass?")
        model.is_broken = False
        by_meaning = gregor.recall("Where is the golden compass?")
        at_last = gregor.recall("Where is the golden compass?")

    assert stored.issues[0].kind == "degraded"
    assert by_words.by == "words"
    assert "golden compass" in by_words.items[0].text
    assert "compared by words" in by_words.issues[0].message
    assert (by_meaning.by, by_meaning.issues) == ("meaning", [])
    assert at_last.issues == []


def test_settings_of_the_seed_are_taken_under_memory_and_by_open(tmp_path: Path) -> None:
    """Seed 002.56: its names stand flat under `memory:`, in the group, and as arguments of `open`."""
    (tmp_path / "village").mkdir()
    (tmp_path / "village" / "config.yaml").write_text(
        "memory:\n  recency_half_life_days: 9\n  character_memory:\n    semantic_top_k: 3\n"
    )
    with novelgen.open(tmp_path, embeddings="fake:64", recency_floor=0.2) as memory:
        settings = memory.create("village")._stores.settings.memory.character_memory

    assert (settings.recency_half_life_days, settings.semantic_top_k, settings.recency_floor) == (9, 3, 0.2)


@pytest.mark.slow
def test_an_export_carries_what_characters_remember(
    memory: Memory, village: Story, tmp_path: Path, calendar: Calendar
) -> None:
    """Twice is once: memories, former values, feelings, secrets, what was told of them, and flags."""
    mira = village.character("Mira", clock=calendar)
    mira.remember("The player's name is Theron.", slot="player_name", at=(1, 1))
    mira.remember("The player's name is Marcus.", slot="player_name", at=(1, 2))
    village.character("Gregor", clock=calendar).remember("Elena wants to leave.", participants=["Elena"])
    gregor = village.character("Gregor", clock=calendar)
    gregor.keep_secret({"secret_id": "deal", "text": "I pay the bandits.", "unlock": {"trust": 60}})
    gregor.feel("player", deltas={"trust": 5}, at=(1, 2))
    gregor.see_item("ledger", by="player", at=(1, 3))
    gregor.reveal("deal", to="Mira", at=(1, 4))
    village.world.set_flag("bridge", {"burnt": True}, at=(1, 5))
    village.project.export(tmp_path / "out")

    memory.import_from(tmp_path / "out", project_id="copy")
    memory.import_from(tmp_path / "out", project_id="copy")

    copy = memory.story("copy")
    assert copy.character("Mira", clock=calendar).memories() == mira.memories()
    recalled = copy.character("Mira", clock=calendar).recall("What is my name?")
    assert [line.text for line in recalled.header] == ["The player's name is Marcus."]
    new = copy.character("Mira", clock=calendar).remember("A storm took the roof.").memory
    assert new.memory_id not in {each.memory_id for each in mira.memories()}
    npc = copy.character("Gregor", clock=calendar)
    assert {to: npc.secrets(to=to)[0].standing for to in ("Mira", "player")} == {"Mira": "known", "player": "locked"}
    assert [npc.feelings("player", as_of=at).disposition.trust for at in [(1, 2), None]] == [30, 35]
    assert len(npc.feelings_history("player")) == 1
    assert copy.world.get_flags() == {"bridge": {"burnt": True}}


def test_the_same_words_at_the_same_place_are_one_event(village: Story) -> None:
    """A call that is repeated remembers nothing twice and moves feelings once; another turn is another event."""
    gregor = village.character("Gregor")
    lamp: dict[str, Any] = {"participants": ["player"], "state_deltas": {"trust_change": -5}}
    first = gregor.remember("The player broke my lamp.", at=(1, 1), **lamp)
    again = gregor.remember("The player broke my lamp.", at=(1, 1), **lamp)
    assert (first.is_new, again.is_new) == (True, False)
    assert (again.memory, again.change_id) == (first.memory, first.change_id)
    assert gregor.feelings().disposition.trust == 25
    assert len(gregor.memories()) == 1
    for others in ({"at": (1, 2)}, {"at": (1, 1), "participants": []}, {"at": (1, 1), "slot": "player_info:lamp"}):
        assert gregor.remember("The player broke my lamp.", **{**lamp, **others}).is_new


def test_without_a_turn_what_comes_again_at_once_is_one_event(village: Story, calendar: Calendar) -> None:
    """By the clock of the game; what ended or was taken back may happen anew, and witnesses have one memory each."""
    gregor = village.character("Gregor", clock=calendar)
    first = gregor.remember("I found a coin.", witnesses=["Mira"])
    again = gregor.remember("I found a coin.", witnesses=["Mira"])
    assert [each.memory_id for each in again.copies] == [each.memory_id for each in first.copies]
    assert len(village.character("Mira").memories()) == 1
    gregor.undo(first.change_id)
    assert gregor.remember("I found a coin.").is_new
    calendar.pass_days(1)
    assert gregor.remember("I found a coin.").is_new
    morning = calendar.now
    assert gregor.remember("The bell rang.", at=morning).is_new
    assert not gregor.remember("The bell rang.", at=morning).is_new
    assert gregor.remember("The bell rang.", at=morning + timedelta(minutes=1)).is_new
