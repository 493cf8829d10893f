"""What a character recalls of the story that it stands in: only what it knows, only what lies before the position."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from novelgen.errors import UnknownEntityError
from novelgen.memory.consolidation import ConsolidatedText, consolidated_memory
from novelgen.models.entity import Entity, EntityAlias
from novelgen.models.position import utc_now
from runtime.ingest.entities import store_entities
from runtime.ingest.ingest import ingest_scenes
from runtime.settings import load_settings
from runtime.storage.models import MemoryFilter
from runtime.stores import MemoryStores
from runtime.story.character import Character
from runtime.story.story import Story
from tests.runtime.story.key_story import PEOPLE, fact, heard, scene, stored_story
from tests.support.scripted_chat_model import answering

PROJECT = "heronsea"
END = 99
"""A chapter after the last one."""

PEOPLE_ZH = {"C0": "阿达", "C1": "小本", "C2": "老康", "C3": "朵拉"}


ENGLISH = [
    scene(
        (1, 1),
        "Ada hid the heron key under the stair of the lighthouse.",
        "C0",
        memories=[fact("M1", "Ada hid the heron key under the stair.", "C0", importance=8)],
    ),
    scene(
        (1, 2),
        "Ada told Ben of the heron key. Cornelius slept.",
        "C0 C1 C2",
        memories=[fact("M2", "Ben swore silence about the heron key.", "C1", known_by=["C0", "C1"])],
        learned=[heard("C1", "M1", "C0")],
        knowledge_read=True,
    ),
    scene(
        (2, 1),
        "Cornelius sold the heron key to a pedlar behind the chapel.",
        "C2",
        memories=[fact("M3", "Cornelius sold the heron key to a pedlar.", "C2")],
    ),
    scene(
        (2, 2),
        "Ben whispered to Ada that Cornelius sold the key, or so they say. Dora listened.",
        "C0 C1 C3",
        learned=[heard("C0", "M3", "C1", certainty=0.4), heard("C3", "M3", "C1", how="overheard")],
    ),
]

CHINESE = [
    scene(
        (1, 1), "阿达把苍鹭钥匙藏在灯塔的楼梯底下。", "C0", memories=[fact("M1", "阿达把苍鹭钥匙藏在楼梯底下。", "C0")]
    ),
    scene((1, 2), "阿达把藏钥匙的事告诉了小本。老康睡着了。", "C0 C1 C2", learned=[heard("C1", "M1", "C0")]),
]


@pytest.fixture
def stores(tmp_path: Path) -> Iterator[MemoryStores]:
    settings = load_settings(projects_dir=tmp_path, memory={"embedding_model": "fake:64"})
    with MemoryStores(settings) as opened:
        yield opened


@pytest.fixture
def story(stores: MemoryStores) -> Story:
    """A key that Ada hides, tells Ben of, and Cornelius sells."""
    return stored_story(stores, PROJECT, ENGLISH)[0]


def came_back(character: Character, said: str = "Where is the heron key?", **asked: Any) -> list[str]:
    return sorted(each.memory.memory_id for each in character.recall(said, **asked).items)


@pytest.mark.slow
def test_the_story_is_recalled_where_a_position_is_named(story: Story) -> None:
    """Unasked it is left out; what was told, overheard or is a rumour is marked so, without an age."""
    ada = story.character("Ada")
    assert came_back(ada) == []
    assert ada.memories() == []
    assert came_back(ada, story_as_of=END) == ["M1", "M2", "M3"]
    ben = story.character("Ben").recall("Where is the heron key?", story_as_of=END).as_prompt()
    assert "- (heard from Ada) Ada hid the heron key under the stair." in ben
    assert "- Ben swore silence about the heron key." in ben
    ada = story.character("Ada").recall("Who sold the heron key?", story_as_of=END).as_prompt()
    assert "- (heard from Ben; only a rumour) Cornelius sold the heron key to a pedlar." in ada
    dora = story.character("Dora").recall("Who sold the heron key?", story_as_of=END)
    assert "overheard" in dora.as_prompt()
    assert (dora.items[0].memory.how, dora.items[0].age_days) == ("overheard", None)


@pytest.mark.slow
def test_nobody_recalls_what_the_story_keeps_from_them(story: Story) -> None:
    """Seed 002.2, 002.3: each recalls what the story let them know before the place, and nothing else."""
    known = {
        ("Ada", (1, 1)): [],
        ("Ada", (1, 2)): ["M1"],
        ("Ada", (2, 2)): ["M1", "M2"],
        ("Ben", (1, 2)): [],
        ("Ben", (2, 1)): ["M1", "M2"],
        ("Cornelius", (2, 1)): [],
        ("Cornelius", (2, 2)): ["M3"],
        ("Dora", (2, 2)): [],
        ("Dora", (2, 3)): ["M3"],
    }
    found = {(who, place): came_back(story.character(who), story_as_of=place) for who, place in known}
    assert found == known


@pytest.mark.slow
@pytest.mark.parametrize("said", ["Where is the heron key?", ""])
def test_nothing_unknown_stands_anywhere_in_a_recall(story: Story, said: str) -> None:
    """Zero leak: no text or id of an unknown or later memory is in the prompt or the JSON, whatever is asked."""
    kept_back = 0
    places = [(1, 1), (1, 2), (2, 1), (2, 2), END]
    for who, place in [(who, place) for who in PEOPLE.values() for place in places]:
        asked = story.character(who)
        recalled = asked.recall(said, story_as_of=place, budget_tokens=5_000)
        everything = recalled.as_prompt() + recalled.model_dump_json()
        known = {each.source_id for each in story.knowledge.list(asked.character_id, as_of=place).known}
        for memory_id, words in {"M1": "under the stair", "M2": "swore silence", "M3": "pedlar"}.items():
            if memory_id not in known:
                kept_back += 1
                assert words not in everything
                assert f'"{memory_id}"' not in everything
    assert kept_back > 30


@pytest.mark.slow
def test_a_chinese_story_is_recalled_in_chinese(stores: MemoryStores) -> None:
    """The marks are in the language of the story, and what is not known stays out of it."""
    zh = stored_story(stores, PROJECT, CHINESE, PEOPLE_ZH, language="zh")[0]
    recalled = zh.character("小本").recall("苍鹭钥匙在哪里？", story_as_of=END)
    assert recalled.as_prompt() == "小本记得的事：\n- （听阿达说的）阿达把苍鹭钥匙藏在楼梯底下。"
    assert zh.character("老康").recall("苍鹭钥匙在哪里？", story_as_of=END).as_prompt() == ""
    assert zh.character("小本").recall("苍鹭钥匙在哪里？", story_as_of=(1, 2)).as_prompt() == ""


@pytest.mark.slow
def test_own_memories_and_the_story_compete_by_one_score(story: Story) -> None:
    """The story does not fade and is not fresh: its recency is the floor; weighty events of it do not push in."""
    ada = story.character("Ada")
    ada.remember("I dreamt of the heron key and the sea.")
    recalled = ada.recall("Where is the heron key?", story_as_of=END)
    assert {each.memory.memory_id for each in recalled.items} >= {"M1", "M2", "M3"}
    by_id = {each.memory.memory_id: each for each in recalled.items}
    assert by_id["M1"].parts.recency == pytest.approx(0.3)
    assert by_id["M1"].why == ["meaning"]
    assert (by_id["M1"].memory.tier, by_id["M2"].memory.tier) == ("important", "regular")
    assert (recalled.memories, recalled.story_memories) == (1, 3)
    assert len(ada.recall("Where is the heron key?", story_as_of=END, budget_tokens=30).as_prompt()) <= 90


@pytest.mark.slow
def test_a_secret_is_held_back_in_the_storys_words_too(story: Story) -> None:
    """Seed 002.39: a locked secret stands in no recall towards its listener, though the story tells it."""
    ada = story.character("Ada")
    secret = {"secret_id": "key", "text": "I hid the heron key under the stair.", "unlock": {"flag": "storm"}}
    ada.keep_secret(secret)
    assert "M1" not in came_back(ada, to="player", story_as_of=END)
    assert "M1" not in came_back(ada, story_as_of=END)
    assert "M1" in came_back(ada, to="Ada", story_as_of=END)
    story.world.set_flag("storm")
    assert "M1" in came_back(ada, to="player", story_as_of=END)


@pytest.mark.slow
def test_the_authors_word_and_a_new_reading_count_at_once(stores: MemoryStores, story: Story) -> None:
    """Nothing of the story is copied, so that what is put right there is right here."""
    dora = story.character("Dora")
    assert came_back(dora, story_as_of=END) == ["M3"]
    story.knowledge.set(character_id="Dora", memory_id="M3", kind="hidden")
    assert came_back(dora, story_as_of=END) == []
    story.knowledge.set(character_id="Dora", memory_id="M1", how="told", learned_from="Ada")
    assert came_back(dora, story_as_of=END) == ["M1"]
    cut = scene((1, 1), "Ada sat by the lamp.", "C0")
    ingest_scenes(stores, PROJECT, [cut], index=True)
    assert came_back(dora, story_as_of=END) == []


@pytest.mark.slow
def test_notes_are_for_authors_unless_it_is_said_that_somebody_knows_them(stores: MemoryStores, story: Story) -> None:
    """What an author notes of somebody's future must not stand in that one's mouth."""
    note = story.memories.add(content="Ada will drown with the heron key.").note.chunk_id
    ada = story.character("Ada")
    assert note in [each.source_id for each in story.knowledge.list(character_id="Ada").known]
    assert note not in came_back(ada, story_as_of=END)
    story.knowledge.set(character_id="Ada", memory_id=note, how="deduced")
    found = ada.recall("Will I drown?", story_as_of=END)
    assert "(worked it out) Ada will drown" in found.as_prompt()


@pytest.mark.slow
def test_what_was_replaced_holds_for_who_does_not_know_the_new(stores: MemoryStores) -> None:
    """Seed 002.27: who knows the new value has the old one marked; who does not still believes the old."""
    scenes = []
    for memory_id, place, present, where in [("M1", (1, 1), "C0 C1", "stair"), ("M2", (1, 2), "C0", "well")]:
        text = f"The heron key lies in the {where}."
        knowing = [fact(memory_id, text, *present.split(), slot_type="I0.location", known_by=present.split())]
        scenes.append(scene(place, text, present, memories=knowing))
    story = stored_story(stores, PROJECT, scenes)[0]
    over = {
        who: {
            each.memory.memory_id: each.is_over
            for each in story.character(who).recall("Where is the heron key?", story_as_of=END).items
        }
        for who in ("Ada", "Ben")
    }
    assert over == {"Ada": {"M1": True, "M2": False}, "Ben": {"M1": False}}


@pytest.mark.slow
def test_a_name_that_comes_to_light_later_is_not_told(stores: MemoryStores) -> None:
    """Who told it is named by what the listener knows them by; a stranger's later name stands nowhere."""
    hooded = Entity(
        entity_id="C9",
        entity_type="character",
        name="Count Orlan",
        aliases=[EntityAlias(alias="the hooded man", first_chapter=1, first_scene=1)],
        first_chapter=1,
        first_scene=1,
        name_first_chapter=3,
        name_first_scene=1,
    )
    scenes = [
        scene((1, 1), "The bridge fell.", "C9", memories=[fact("M1", "The bridge fell into the river.", "C9")]),
        scene((1, 2), "The hooded man told Ada of the bridge.", "C0 C9", learned=[heard("C0", "M1", "C9")]),
        scene((3, 1), "It was Count Orlan.", "C0 C9"),
    ]
    story = stored_story(stores, PROJECT, [], {"C0": "Ada"})[0]
    store_entities(stores, PROJECT, [hooded], origin="author")
    ingest_scenes(stores, PROJECT, scenes, index=True)
    recalled = story.character("Ada").recall("What of the bridge?", story_as_of=(2, 1))
    assert came_back(story.character("Ada"), story_as_of=(2, 1)) == ["M1"]
    assert "Orlan" not in recalled.as_prompt() + recalled.model_dump_json()


@pytest.mark.slow
def test_what_was_consolidated_comes_back_in_its_own_words(stores: MemoryStores, story: Story) -> None:
    """One memory that stands for many may tell more than a character knows; the single ones are asked."""
    with stores.database(PROJECT).write() as unit:
        sources = [each.chunk for each in unit.memories.list_matching(MemoryFilter(content_types=["memory"]))]
        standing = consolidated_memory(
            ConsolidatedText(content="The key, from stair to pedlar."), sources, created_at=utc_now()
        )
        assert unit.consolidations.add(standing, sources)
    assert came_back(story.character("Ben"), story_as_of=END) == ["M1", "M2"]
    assert came_back(story.character("Cornelius"), story_as_of=END) == ["M3"]


def test_without_vectors_the_story_is_found_by_words_and_says_so(stores: MemoryStores) -> None:
    """A story whose index was not made yet is recalled all the same; what is missing is told."""
    story = stored_story(stores, PROJECT, ENGLISH, index=False)[0]
    recalled = story.character("Ben").recall("Where is the heron key?", story_as_of=END)
    assert "M1" in {each.memory.memory_id for each in recalled.items}
    assert any("no vector yet" in issue.message for issue in recalled.issues)


@pytest.mark.slow
def test_a_reply_is_held_against_who_is_dead_in_the_story(stores: MemoryStores, story: Story) -> None:
    """Who died before the place, and of whose death the character knows, does not live in what it says."""
    died = scene(
        (2, 1),
        "Cornelius was found dead in the harbour by Ada.",
        "C0",
        state_changes=[{"entity_id": "C2", "changes": {"status": "dead, drowned"}}],
        memories=[fact("M9", "Cornelius was found dead in the harbour.", "C2", event_type="death", known_by=["C0"])],
    )
    ingest_scenes(stores, PROJECT, [died])
    said = "Cornelius is alive and well, and waits at the mill."
    [finding] = story.character("Ada").check_reply(said, story_as_of=END)
    assert (finding.kind, finding.quote) == ("contradicted_slot", "Cornelius is alive")
    assert not story.character("Ada").check_reply(said, story_as_of=(2, 1))
    assert not story.character("Dora").check_reply(said, story_as_of=END)


@pytest.mark.slow
def test_a_reply_may_draw_on_the_story(story: Story) -> None:
    """The prompt of a reply, and a tool, hold what the speaker knows of the story, and nothing that it does not."""
    model = answering("I will not say.")
    list(story.character("Ben").stream_reply(model, "Where is the heron key?", story_as_of=(2, 1)))
    prompt = "\n".join(str(each.content) for each in model.prompts[0])
    assert "Ada hid the heron key under the stair." in prompt
    assert "pedlar" not in prompt
    *_, recall = story.character("Ben").as_tools(story_as_of=(2, 1))
    answer = recall.invoke({"said": "Where is the heron key?"})
    assert "under the stair" in str(answer)
    assert "pedlar" not in str(answer)


@pytest.mark.slow
def test_what_is_true_of_the_world_comes_back_to_everybody(story: Story) -> None:
    """Seed 002: a note with the tag `world` needs nobody to say who knows it; who is said not to know it does not."""
    story.memories.add("The heron key opens the lighthouse.", tags=["world"])
    story.memories.add("The heron key is of brass.", tags=["world"], hidden_from=["Dora"])
    story.memories.add("The heron key is a forgery.")
    recalled = story.character("Dora").recall("Which door does the heron key open?", story_as_of=END).as_prompt()
    assert "opens the lighthouse" in recalled
    assert "of brass" not in recalled
    assert "forgery" not in recalled


@pytest.mark.slow
def test_an_error_by_a_position_names_nobody_of_later(stores: MemoryStores, story: Story) -> None:
    """Who is not known is told with names of by then alone; who comes later has an id and no name yet."""
    late = story.entities.add("Zorn zq19NAME", start=(2, 1)).entity
    with pytest.raises(UnknownEntityError) as refusal:
        story.character("Zzqw", as_of=(1, 2))
    assert "zq19NAME" not in str(refusal.value)
    assert "Ada" in str(refusal.value)
    with pytest.raises(UnknownEntityError, match="zq19NAME"):
        story.character("Zorm zq19NAME", as_of=(3, 1))
    who = story.character(late.entity_id, as_of=(1, 2))
    assert "zq19NAME" not in who.recall("hello", story_as_of=(1, 2)).model_dump_json()
    assert who.recall("hello", story_as_of=(3, 1)).character_name == "Zorn zq19NAME"
