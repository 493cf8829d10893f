"""Who knows what, by rules, and what outranks them."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from novelgen.language.language import has_cjk
from novelgen.language.resolver import NameResolver
from novelgen.memory.character_view import StoryKnowledge
from novelgen.memory.knowledge_rules import ABSENT_CERTAINTY, KnowledgeRules, why_unknown
from novelgen.memory.knowledge_story import KnowledgeMemory, KnowledgeScene, KnowledgeStory, recorded_events
from novelgen.models.entity import Entity
from novelgen.models.knowledge import READER, KnowledgeEvent
from novelgen.models.position import StoryPosition
from novelgen.models.record import SceneRecord
from novelgen.models.state import OpenLoop
from novelgen.words import words

NAMES = {
    "C1": ["Ines"],
    "C2": ["Ben"],
    "C3": ["Ada"],
    "C4": ["Gregor"],
    "C5": ["周岚"],
    "C6": ["沈舟"],
    "I1": ["the heron key"],
}
PEOPLE = frozenset({"C1", "C2", "C3", "C4", "C5", "C6"})


def at(chapter: int, scene: int) -> StoryPosition:
    return StoryPosition(chapter, scene)


def scene(chapter: int, number: int, present: str, text: str = "", **more: Any) -> KnowledgeScene:
    return KnowledgeScene(at(chapter, number), frozenset(present.split()), text, **more)


def memory(content: str, entities: str, event_type: str = "event", **more: object) -> KnowledgeMemory:
    return KnowledgeMemory("M1", content, more.pop("position", at(1, 1)), entities.split(), event_type, **more)  # type: ignore[arg-type]


def rules(*scenes: KnowledgeScene, about: KnowledgeMemory, events: object = (), end: object = None) -> KnowledgeRules:
    return KnowledgeRules(
        KnowledgeStory(end or at(9, 1), scenes, [about], NAMES, PEOPLE, events)  # type: ignore[arg-type]
    )


HID = memory("Ines hides the heron key under the stair.", "C1 I1")


def test_whom_a_memory_is_about_knows_it_from_its_scene_on() -> None:
    """Who acts knows it as their own doing, who is present and named has witnessed it, and the reader read it."""
    knowing = rules(scene(1, 1, "C1"), about=HID).knows("C1", HID)
    assert (knowing.knows, knowing.how, knowing.since) == (True, "own_doing", at(1, 1))
    told = memory("Ines gives Ben the heron key.", "C1 C2 I1", "gift")
    knowing = rules(scene(1, 1, "C1 C2"), about=told).knows("C2", told)
    assert (knowing.knows, knowing.how) == (True, "witnessed")
    assert rules(scene(1, 1, "C1"), about=HID).knows(READER, HID).since == at(1, 1)


def test_who_is_named_while_away_is_no_witness() -> None:
    """They know what concerns them, nothing says how; what comes to light of somebody off stage less surely."""
    told = memory("Ines sells the boat of Ben.", "C1 C2", "event")
    whole_tale = KnowledgeEvent(
        character_id="C3", source_id="*", chapter_index=1, scene_index=2, how="told", learned_from="C2"
    )
    story = rules(scene(1, 1, "C1"), scene(1, 2, "C2 C3"), about=told, events=[whole_tale])
    knowing = story.knows("C2", told)
    assert (knowing.knows, knowing.how, knowing.certainty) == (True, "author", ABSENT_CERTAINTY)
    assert not story.knows("C3", told).knows
    named = KnowledgeMemory("M0", "The note names Gregor and the heron key.", at(1, 1), ["C4", "I1"], "discovery")
    found = KnowledgeMemory("M1", "The heron key was stolen at night.", at(1, 2), ["I1"], "discovery")
    story = KnowledgeRules(
        KnowledgeStory(at(2, 1), [scene(1, 1, "C1"), scene(1, 2, "C1")], [named, found], NAMES, PEOPLE)
    )
    assert story.knows("C4", found).knows
    assert not story.knows("C2", found).knows


def test_nobody_knows_by_presence_alone_or_before_it_is_told() -> None:
    """Who is merely there, away, too early or among people who do not know it learns nothing."""
    found = rules(scene(1, 1, "C1 C3"), about=HID).of_character("C3")
    assert not found.known
    assert "was there" in found.not_known[0].why
    plan = memory("Ines plans to send Ben the heron key.", "C1 C2 I1", "plan")
    both = rules(scene(1, 1, "C1"), about=plan)
    assert both.knows("C1", plan).knows
    assert not both.knows("C2", plan).knows
    before = rules(scene(1, 1, "C1"), about=HID, end=at(2, 1))
    assert not before.knows("C2", HID).knows
    story = rules(scene(1, 1, "C1"), scene(2, 1, "C2 C3", RETOLD), about=HID)
    assert not story.knows("C2", HID).knows


@pytest.mark.parametrize(
    ("content", "whose", "others"), [("Ben secretly loves Ada.", "C2", "C3"), ("沈舟心中爱慕周岚。", "C6", "C5")]
)
def test_feelings_are_known_to_whose_they_are(content: str, whose: str, others: str) -> None:
    """What goes on in a mind is known to its owner, not to whom it is about, though they were there."""
    feeling = memory(content, f"{whose} {others}", "relationship_change")
    both = rules(scene(1, 1, f"{whose} {others}"), about=feeling)
    assert both.knows(whose, feeling).knows
    assert not both.knows(others, feeling).knows


RETOLD = "“The heron key lies under the stair,” said Ines, “and there it hides.”"


def test_a_later_scene_tells_it_to_who_is_there() -> None:
    """In the presence of one who knows it; a scene that tells of something else is a chance alone."""
    story = rules(scene(1, 1, "C1"), scene(2, 1, "C1 C2", RETOLD), about=HID)
    knowing = story.knows("C2", HID)
    assert (knowing.knows, knowing.how, knowing.learned_from, knowing.since) == (True, "told", "C1", at(2, 1))
    assert 0.5 <= knowing.certainty < 1
    story = rules(scene(1, 1, "C1"), scene(2, 1, "C1 C2", "They spoke about bread."), about=HID)
    unknown = story.of_character("C2").not_known[0]
    assert (unknown.might_know, unknown.might_know_from) == (True, "C1")


@pytest.mark.parametrize("adds_knower", [True, False])
def test_one_whom_the_author_adds_takes_a_retelling_from_nobody(adds_knower: bool) -> None:
    """A record that says who learnt it there says it of all who did."""
    said = event("C3", by_author=adds_knower, adds_knower=adds_knower)
    story = rules(scene(1, 1, "C1"), scene(2, 1, "C1 C2 C3", RETOLD), about=HID, events=[said])
    assert (story.knows("C3", HID).knows, story.knows("C2", HID).knows) == (True, adds_knower)


STREET = "Ada walked down to the quay. The boat of Gregor lay there, half sunk. Ada called out, and Gregor came. " * 8
SANK = memory("The boat of Gregor sank at the quay.", "C4")


@pytest.mark.parametrize(
    ("text", "pov", "knows"),
    [
        ("", "", True),
        (STREET, "", True),
        (STREET.replace("Ada", "She"), "C3", True),
        (STREET.replace("Ada", "I"), "C3", True),
        (STREET.replace("Ada", "Ines"), "", False),
        ("Ada slept in the mill. " * 20 + "\n\n***\n\n" + STREET.replace("Ada", "Ines"), "C3", False),
    ],
)
def test_who_takes_part_in_a_scene_knows_what_happens_in_it(text: str, pov: str, knows: bool) -> None:
    """Who is named all through it, and whom it is seen through, though a memory is not about them."""
    story = rules(scene(1, 1, "C3 C4", text, pov=pov), about=SANK)
    assert story.knows("C3", SANK).knows is knows
    assert not story.knows("C1", SANK).knows


@pytest.mark.parametrize(
    ("content", "event_type"),
    [
        ("Gregor secretly sinks his boat.", "event"),
        ("Gregor fears that his boat sinks.", "other"),
        ("Gregor takes the oars.", "theft"),
        ("格雷戈悄悄凿沉了船。", "event"),
    ],
)
def test_what_is_done_apart_is_not_perceived_by_all_who_are_there(content: str, event_type: str) -> None:
    """What is hidden, thought or said apart is between those whom it is about, even before the point of view."""
    apart = memory(content, "C4", event_type)
    story = rules(scene(1, 1, "C3 C4", STREET, pov="C3"), about=apart)
    assert not story.knows("C3", apart).knows
    assert story.knows("C4", apart).knows


@pytest.mark.parametrize(
    "text",
    [
        "Ines and Ben stood by the stair. Under it lay the heron key that she had hidden there.",
        "“Good day,” said Ben, and slept. " * 30 + "\n\n※※※\n\n" + RETOLD * 2,
        "“Good day,” said Ben, and slept. " * 30 + "\n\nMeanwhile Ines was at home. " + RETOLD,
    ],
)
def test_what_nobody_says_to_somebody_tells_them_nothing(text: str) -> None:
    """Narration tells nobody, and what is said at another place of the scene not who is elsewhere."""
    assert not rules(scene(1, 1, "C1"), scene(2, 1, "C1 C2", text), about=HID).knows("C2", HID).knows


def test_the_dead_learn_nothing() -> None:
    """Neither by words of a later scene nor as part of what happens to them; whom a record lets walk does."""
    guessed = scene(2, 1, "C1 C2", RETOLD, has_record=False)
    for later, knows in ((guessed, False), (scene(2, 1, "C1 C2", RETOLD), True)):
        story = KnowledgeStory(at(9, 1), [scene(1, 1, "C1"), later], [HID], NAMES, PEOPLE, dead={"C2": at(1, 1)})
        assert KnowledgeRules(story).knows("C2", HID).knows is knows
    died = memory("Ben died of a fever.", "C2", "death", position=at(1, 1))
    buried = memory("Ben was buried by Ines.", "C2 C1", position=at(1, 2))
    story = KnowledgeStory(
        at(9, 1), [scene(1, 1, "C1 C2"), scene(1, 2, "C1")], [died, buried], NAMES, PEOPLE, dead={"C2": at(1, 1)}
    )
    known = KnowledgeRules(story)
    assert [known.knows("C2", each).reason for each in (died, buried)] == ["dead", "dead"]
    assert known.knows("C1", buried).knows


def test_what_a_record_says_somebody_knows_now_is_known() -> None:
    """From that scene on; where a record tells who learnt what, words shared with a memory add nothing."""
    learnt = {"C2": "that the heron key is hidden under the stair"}
    story = rules(scene(1, 1, "C1"), scene(2, 1, "C2", learnt=learnt), about=HID)
    assert story.knows("C2", HID).since == at(2, 1)
    assert (
        not rules(scene(1, 1, "C1"), scene(2, 1, "C2", learnt={"C2": "the price of bread"}), about=HID)
        .knows("C2", HID)
        .knows
    )
    read = scene(2, 1, "C2", learnt=learnt, tells_knowledge=True)
    assert not rules(scene(1, 1, "C1"), read, about=HID).knows("C2", HID).knows


def event(character_id: str, kind: str = "knows", chapter: int = 2, **more: object) -> KnowledgeEvent:
    return KnowledgeEvent.model_validate(
        {
            "character_id": character_id,
            "source_id": "M1",
            "chapter_index": chapter,
            "scene_index": 1,
            "kind": kind,
            **more,
        }
    )


def test_what_is_said_outranks_the_rules() -> None:
    """A record's hidden outranks presence, and an author's word a record's later one."""
    story = rules(scene(1, 1, "C1"), about=HID, events=[event("C1", "hidden", 1)])
    assert story.of_character("C1").not_known[0].kind == "hidden"
    events = [event("C2", "hidden", 2, by_author=True), event("C2", "knows", 3, how="told", learned_from="C1")]
    assert not rules(scene(1, 1, "C1"), about=HID, events=events).knows("C2", HID).knows


def test_who_believes_the_contrary_until_told() -> None:
    """Somebody deceived does not know it until a later scene says that they do."""
    deceived = event("C2", "deceived", 1)
    assert rules(scene(1, 1, "C1 C2"), about=HID, events=[deceived]).of_character("C2").not_known[0].kind == "deceived"
    undeceived = event("C2", "knows", 3, how="told", learned_from="C1", quote="So it was you.")
    knowing = rules(scene(1, 1, "C1 C2"), about=HID, events=[deceived, undeceived]).knows("C2", HID)
    assert (knowing.knows, knowing.since, knowing.quote) == (True, at(3, 1), "So it was you.")


def test_a_whole_tale_teaches_all_that_its_teller_lived_through() -> None:
    """Told everything by Ines, Ben knows what she did, and nothing that she only heard of or that came later."""
    tale = KnowledgeEvent(
        character_id="C2", source_id="*", chapter_index=2, scene_index=1, how="told", learned_from="C1"
    )
    lived = KnowledgeMemory("M1", "Ines hides the heron key.", at(1, 1), ["C1", "I1"])
    foreign = KnowledgeMemory("M2", "Ada burns the letter.", at(1, 2), ["C3"])
    later = KnowledgeMemory("M3", "Ines sells the heron key.", at(3, 1), ["C1", "I1"])
    scenes = [scene(1, 1, "C1"), scene(1, 2, "C3"), scene(2, 1, "C1 C2"), scene(3, 1, "C1")]
    found = KnowledgeRules(
        KnowledgeStory(at(4, 1), scenes, [lived, foreign, later], NAMES, PEOPLE, [tale])
    ).of_character("C2")
    assert [each.source_id for each in found.known] == ["M1"]


def test_who_is_named_as_a_knower_alone_knows_it() -> None:
    """Of a memory whose record says who knows it, and of a note, nobody else does by presence, part or words."""
    said = memory("Ines gives Ben the heron key.", "C1 C2 I1", "gift", tells_knowers=True)
    story = rules(scene(1, 1, "C1 C2"), about=said, events=[event("C1", "knows", 1)])
    assert story.knows("C1", said).knows
    assert not story.knows("C2", said).knows
    note = memory("Ines hides the heron key.", "C1 I1", position=None)
    story = rules(about=note, events=[event("C2", "knows", 0, scene_index=0, by_author=True)])
    assert (story.knows("C2", note).knows, story.knows("C1", note).knows) == (True, False)
    added = event("C2", "knows", 0, scene_index=0, by_author=True, adds_knower=True)
    assert [rules(about=note, events=[added]).knows(who, note).knows for who in ("C2", "C1", "C3")] == [
        True,
        True,
        False,
    ]
    named = memory(KEPT.content, "C1 C4", tells_knowers=True)
    knowing = rules(scene(1, 1, "C4"), MEETING, about=named).knows("C1", named)
    assert (knowing.knows, knowing.reason) == (False, "absent")


@pytest.mark.parametrize(
    ("entities", "more", "knows"),
    [
        ("", {}, False),
        ("", {"is_for_all": True}, True),
        ("I1", {}, True),
        ("C2", {}, True),
        ("C1", {}, False),
        ("C1", {"noted_at": at(3, 1)}, True),
        ("C1", {"noted_at": at(1, 1)}, False),
        # Past the last scene of its chapter it is of that scene, and not of the next chapter.
        ("C1", {"noted_at": at(2, 9)}, False),
        ("C4", {"noted_at": at(2, 9)}, False),
        ("C4", {"noted_at": at(2, 0)}, False),
        ("", {"noted_at": at(2, 9)}, False),
        ("C1", {"noted_at": at(3, 0)}, True),
        ("C4", {"noted_at": at(3, 0)}, True),
        ("", {"noted_at": at(3, 0)}, True),
        # Nobody of the scene before was in a chapter that has no scene yet.
        ("", {"noted_at": at(5, 0)}, False),
        ("", {"noted_at": at(2, 0)}, False),
        ("C4", {"noted_at": at(4, 1)}, True),
        ("C4", {"noted_at": at(4, 0)}, True),
    ],
)
def test_notes_are_known_to_whom_they_concern(entities: str, more: dict[str, Any], knows: bool) -> None:
    """One on the world to all, one about people to those, and any to who is in the scene from which it holds."""
    note = memory("Nobody can swim.", entities, position=None, **more)
    body = scene(4, 1, "C2", "Ben found Gregor under the oak.")
    story = rules(scene(2, 1, "C1"), scene(3, 1, "C1 C2"), body, about=note)
    assert story.knows("C2", note).knows is knows


@pytest.mark.parametrize(("content", "who"), [("Ines died of a fever.", "C1"), ("周岚死于风寒。", "C5")])
def test_the_dead_do_not_know_of_their_death(content: str, who: str) -> None:
    """A note of somebody's death is known to who was there, and not to the dead."""
    note = memory(content, who, position=None, noted_at=at(2, 1))
    story = rules(scene(2, 1, f"{who} C2"), about=note)
    assert (story.knows(who, note).knows, story.knows(who, note).reason) == (False, "dead")
    assert story.knows("C2", note).how == "witnessed"
    [known] = story.of_character("C2", [note]).known
    assert (known.since_chapter, known.since_scene) == (2, 2)


def test_what_a_record_says_becomes_events_at_its_scene() -> None:
    """`known_by`, `hidden_from` and `learned` of a record are events of its position; a whole tale needs its teller."""
    record = SceneRecord.model_validate(
        {
            "chapter_index": 2,
            "scene_index": 3,
            "characters_present": ["C1", "C2"],
            "memories": [
                {
                    "memory_id": "M5",
                    "content": "Ines lies.",
                    "entities": ["C1"],
                    "known_by": ["C1", "C2", "C4"],
                    "hidden_from": ["C3"],
                }
            ],
            "learned": [
                {"character_id": "C2", "memory_ids": ["M1", "M2"], "how": "overheard", "evidence": "behind the door"},
                {"character_id": "C3", "from_id": "C1"},
            ],
        }
    )
    told = [(e.character_id, e.source_id, e.kind, e.how) for e in recorded_events(record)]
    assert told == [
        ("C1", "M5", "knows", "own_doing"),
        ("C2", "M5", "knows", "witnessed"),
        ("C4", "M5", "knows", "author"),
        ("C3", "M5", "hidden", "author"),
        ("C2", "M1", "knows", "overheard"),
        ("C2", "M2", "knows", "overheard"),
        ("C3", "*", "knows", "told"),
    ]
    assert {(e.chapter_index, e.scene_index) for e in recorded_events(record)} == {(2, 3)}


KEPT = memory("Ines is the heir of Gregor's mill.", "C1 C4", "secret_revealed")
MEETING = scene(2, 1, "C1 C4", "Ines and Gregor, each the heir of nobody, walked to the mill and spoke of rain.")


def kept(chapter: int, number: int) -> KnowledgeEvent:
    return KnowledgeEvent(character_id="C1", source_id="M1", kind="hidden", chapter_index=chapter, scene_index=number)


def test_no_words_of_a_later_scene_open_what_is_said_to_be_kept() -> None:
    """The author's tale on entering 2:1 stands at 1:2, and what happened there was told, too."""
    scenes = [scene(1, 1, "C1 C4"), MEETING]
    assert rules(*scenes, about=memory(KEPT.content, "C4", "secret_revealed")).knows("C1", KEPT).knows
    knowing = rules(*scenes, about=KEPT, events=[kept(1, 1)]).knows("C1", KEPT)
    assert (knowing.knows, knowing.reason, knowing.is_said) == (False, "hidden", True)
    last = memory("Gregor burned the mill.", "C4", position=at(1, 2))
    tale = KnowledgeEvent(
        character_id="C1", source_id="*", how="told", learned_from="C4", chapter_index=1, scene_index=2, by_author=True
    )
    scenes = [scene(1, 1, "C1"), scene(1, 2, "C4"), scene(2, 1, "C1")]
    assert rules(*scenes, about=last, events=[tale]).knows("C1", last).knows
    recorded = [tale.model_copy(update={"by_author": False})]
    assert not rules(*scenes, about=last, events=recorded).knows("C1", last).knows


@pytest.mark.parametrize(
    ("now_known", "knows"), [("she is the heir of Gregor's mill", True), ("Gregor sells flour", False)]
)
def test_their_own_knowledge_opens_what_was_kept_where_it_says_most_of_it(now_known: str, knows: bool) -> None:
    """A later record's `knowledge` that holds most of a kept memory opens it; one that shares a name does not."""
    later = scene(2, 1, "C1", learnt={"C1": now_known})
    assert rules(scene(1, 1, "C1 C4"), later, about=KEPT, events=[kept(1, 1)]).knows("C1", KEPT).knows == knows


@pytest.mark.parametrize(("kept_at", "knows"), [((1, 1), True), ((2, 1), False), ((2, 2), False)])
def test_a_whole_tale_opens_only_what_was_kept_before_it(kept_at: tuple[int, int], knows: bool) -> None:
    """Told everything, somebody still does not know what is said to be kept from them there, or later."""
    tale = KnowledgeEvent(
        character_id="C1", source_id="*", how="told", learned_from="C4", chapter_index=2, scene_index=1
    )
    events = sorted([tale, kept(*kept_at)], key=lambda event: (event.chapter_index, event.scene_index))
    found = rules(scene(1, 1, "C4"), scene(2, 1, "C1 C4"), scene(2, 2, "C1"), about=KEPT, events=events)
    assert found.knows("C1", KEPT).knows == knows


def test_why_somebody_does_not_know_is_told_in_the_readers_language() -> None:
    """The story's own language says it in JSON; a person reads it in theirs, and any other words as they are."""
    english, chinese = (words("memory", each, "unknown")["absent"] for each in ("en", "zh"))
    assert why_unknown(english, "zh") == chinese
    assert why_unknown(chinese, "en") == english
    assert why_unknown("as another program says", "zh") == "as another program says"


@pytest.mark.parametrize(
    ("text", "has_record", "is_there"),
    [
        ("Rain. Then Ada, thin and cold, by the wall.", False, True),
        ("Rain. Then Ada, thin and cold, by the wall.", True, False),
        ("Rain. They thought of Ada by the wall.", False, False),
        ("Rain. Ada’s boat lay by the wall.", False, False),
        ("Rain. “Ada, thin and cold, stood by the wall,” they said.", False, False),
        ("Rain. “Good morning, Ada,” they said.", False, True),
        ("Rain. “Ada!” they cried.", False, True),
        ("Rain. “Ada, your oar,” they said.", False, True),
        ("Rain. “Good morning, Ada,” they said.", True, False),
        ("Rain. “It was Ada.” They rowed.", False, False),
        ("Rain. Adamant they stood by the wall.", False, False),
    ],
)
def test_whom_the_narration_makes_a_subject_is_away_by_a_guess_alone(
    text: str, has_record: bool, is_there: bool
) -> None:
    """Where a record or a cast says who was there, it holds; who is spoken or thought of is not there."""
    place = scene(1, 1, "C4", text, has_record=has_record)
    story = rules(place, about=SANK)
    assert story.may_be_in("C3", place) is is_there
    assert not story.may_be_in("C4", place)


def test_nobody_may_be_there_after_their_death_or_by_the_name_of_another() -> None:
    """A longer name that has theirs in it, and a name of two, show nobody."""
    place = scene(2, 1, "", "雨。观音院静悄悄的。", has_record=False)
    names = {"C1": ["观音"], "L1": ["观音院"]}
    assert not KnowledgeRules(KnowledgeStory(at(9, 1), [place], [], names, frozenset({"C1"}))).may_be_in("C1", place)
    place = scene(2, 1, "", "雨。观音坐在石上。", has_record=False)
    for more, is_there in (
        ({}, True),
        ({"dead": {"C1": at(1, 1)}}, False),
        ({"names": {"C1": ["观音"], "C2": ["观音"]}}, False),
    ):
        story = KnowledgeStory(at(9, 1), [place], [], **{"names": names, "character_ids": frozenset({"C1"}), **more})
        assert KnowledgeRules(story).may_be_in("C1", place) is is_there


@pytest.mark.parametrize(
    ("content", "is_known"),
    [
        ("Gregor killed the miller; he stole the brooch.", True),
        ("Gregor stole the brooch.", True),
        ("Gregor hid the brooch in the clock.", True),
        ("Gregor secretly stole the brooch.", False),
        ("Gregor alone knew of the brooch.", False),
        ("Gregor poured the tea, and he secretly poisoned it.", False),
        ("Gregor whispered something; the rain fell.", False),
        ("格雷杀了磨坊主，偷走了胸针。", True),
        ("格雷偷走了胸针。", True),
        ("格雷把胸针藏在钟里。", True),
        ("格雷暗中偷走了胸针。", False),
        ("格雷独自知道胸针在哪里。", False),
        ("格雷倒了茶，暗中下了毒。", False),
    ],
)
def test_a_note_is_secret_by_words_of_secrecy_and_not_by_a_theft(content: str, is_known: bool) -> None:
    """To who is in the scene from which it holds."""
    note = memory(content, "C4", position=None, noted_at=at(2, 0))
    assert rules(scene(1, 1, "C2 C4"), scene(2, 1, "C2"), about=note).knows("C2", note).knows is is_known


@pytest.mark.parametrize("content", ["The brooch was stolen.", "胸针被偷走了。"])
def test_a_note_that_names_nobody_is_known_to_whom_a_guess_has_in_its_scene(content: str) -> None:
    """By that scene alone, so that it has the mark of a guess."""
    note = KnowledgeMemory("N1", content, None, [], "other", noted_at=at(2, 0))
    story = rules(scene(1, 1, "C4"), scene(2, 1, "C2", has_record=False), about=note)
    knowing = story.knows("C2", note)
    assert (knowing.knows, knowing.since) == (True, at(2, 1))
    assert not story.knows("C4", note).knows


@pytest.mark.parametrize("content", ["Gregor has been going blind since winter.", "格雷入冬以来渐渐失明。"])
def test_a_note_at_the_end_of_a_chapter_is_of_its_last_scene(content: str) -> None:
    """Who is in the next chapter was not there, also with its subject; they alone know what holds from there on."""
    scenes = (scene(1, 1, "C1 C2"), scene(1, 2, "C2 C3"), scene(2, 1, "C1 C3"))
    for noted_at, knows in ((at(1, 2), [False, True]), (at(2, 0), [True, False])):
        note = memory(content, "C3", position=None, noted_at=noted_at)
        story = rules(*scenes, about=note)
        assert [story.knows(who, note).knows for who in ("C1", "C2")] == knows


CARDS = (
    ("C1", "character", "Hugh Ashby", "宋怀远"),
    ("C2", "character", "Nell", "宋蘅"),
    ("C3", "character", "Tom Reed", "孟小舟"),
    ("I1", "item", "the brass fish", "铜鱼符"),
    ("I2", "item", "the silver lock", "银锁"),
    ("L1", "location", "the old kiln", "老窑"),
)
OF_SCENE_BEFORE = """
Hugh Ashby gave the brass fish to Nell.|Nell has the brass fish.|The brass fish is hidden under the hearth.
Nell put the silver lock in the drawer.|The silver lock is gone.|The letter is hidden behind the clock.
Hugh Ashby handed a letter to Nell.|Hugh Ashby struck Nell.|Hugh Ashby burned the ledger.
Hugh Ashby is really called Luke Wren.|Hugh Ashby promised Nell to leave in autumn.|Nell hid the money under the floor.
宋怀远把铜鱼符交给了宋蘅。|铜鱼符在宋蘅手里。|铜鱼符藏在宋家窑的灶下。|铜鱼符在老窑。|铜鱼符不见了。
密信藏在钟后面。|宋怀远把一封信交给了宋蘅。|宋怀远打了宋蘅一巴掌。|宋怀远把账本烧了。|宋怀远其实叫陆文昭。
宋怀远答应了宋蘅，秋后就走。|宋蘅戴着银锁。
"""
PLAIN_FACTS = """
Hugh Ashby is Nell's father.|Hugh Ashby is afraid of water.|Hugh Ashby was a sailor once.|The inn stands by the river.
Nell reached the city.|Nell is wounded.|The brass fish is cracked.|The brass fish opens the kiln.
Hugh Ashby killed a man years ago.|It rained for three days.|Hugh Ashby is dead.|Nell is hidden from the law by friends.
宋怀远是宋蘅的父亲。|宋怀远怕水。|宋怀远病了很久。|客栈在河边。|宋蘅到了东京。|宋蘅受了伤。|铜鱼符裂了一道缝。
宋怀远当年杀了人。|下了三天雨。|宋蘅恨官府。|宋怀远死了。|宋怀远把铜鱼符当成命。
"""


@pytest.mark.parametrize(("contents", "is_known"), [(OF_SCENE_BEFORE, False), (PLAIN_FACTS, True)])
def test_what_came_to_be_in_the_scene_before_is_not_known_by_the_next_one_alone(contents: str, is_known: bool) -> None:
    """Whoever was in both scenes knows it, and so does who takes part in it or has the thing."""
    scenes = (scene(1, 1, "C1 C2 C4"), scene(1, 2, "C2 C3 C4"))
    people = frozenset({"C1", "C2", "C3", "C4"})
    for content in contents.replace("\n", "|").strip("|").split("|"):
        cards = [
            Entity(entity_id=entity_id, project_id="p", entity_type=kind, name=chinese if has_cjk(content) else english)
            for entity_id, kind, english, chinese in CARDS
        ]
        names = {card.entity_id: [card.name] for card in cards}
        named_ids = NameResolver(cards).entity_ids_in(content)
        note = memory(content, " ".join(named_ids), position=None, noted_at=at(1, 1))
        story = KnowledgeRules(KnowledgeStory(at(1, 3), scenes, [note], names, people, entities=cards))
        assert (content, story.knows("C3", note).knows) == (content, is_known)
        assert story.knows("C4", note).knows
        assert "C2" not in named_ids or story.knows("C2", note).knows


PEOPLE_LEFT = (
    ("C1", "Ada Penrose", "宋怀远"),
    ("C2", "Ben Carver", "宋蘅"),
    ("C3", "Tom Hale", "孟小舟"),
    ("C4", "Sister Agnes", "裴婆婆"),
    ("C5", "Cora Finch", "陈默"),
    ("C6", "Jo Dunn", "阿丁"),
)
DEEDS_OF_ONE_WHO_LEFT = """
Ada Penrose told Ben Carver that Tom Hale is a thief.|1 2 4
Ada Penrose gave Tom Hale leave to speak of the brooch.|1 3 4
Before she died, Ada Penrose told Ben Carver about Tom Hale's debts.|1 2 4
Ada Penrose tells Ben Carver that Tom Hale was once a thief.|1 2 4
Ada Penrose warned Ben Carver against Tom Hale.|1 2 4
Ada Penrose set fire to the mill.|1 4
Ada Penrose lit the thatch.|1 4
Ada Penrose put poison in the well.|1 4
Ada Penrose shut the sluice.|1 4
Ada Penrose laid a fuse.|1 4
Ada Penrose read Ben Carver's letter.|1 2 4
Ada Penrose promised Ben Carver to marry Tom Hale.|1 2 4
Ada Penrose, who lay dying, told Ben Carver where Tom Hale was born.|1 2 4
Ben Carver was told by Ada Penrose that Tom Hale is a thief.|1 2 4
Tom Hale stole the brooch, Ada Penrose told Ben Carver.|1 2 4
“Tom Hale is a thief,” Ada Penrose said to Ben Carver.|1 2 4
Ada Penrose and Ben Carver quarrelled about Tom Hale.|1 2 4
Ada Penrose wrote to Tom Hale that the mill was sold.|1 3 4
Ada Penrose burned Tom Hale's letters.|1 4
Ada Penrose struck Ben Carver, because Tom Hale had lied.|1 2 4
It was Ada Penrose who told Ben Carver that Tom Hale is a thief.|1 2 4
Ada Penrose came to Ben Carver and asked him to hide Tom Hale.|1 2 4
宋怀远告诉宋蘅，孟小舟是贼。|1 2 4
宋怀远对宋蘅说孟小舟从前是贼。|1 2 4
宋怀远准许孟小舟说出胸针的事。|1 3 4
临死前，宋怀远把孟小舟的身世告诉了宋蘅。|1 2 4
宋怀远答应宋蘅，绝不放过孟小舟。|1 2 4
宋怀远让宋蘅去找孟小舟。|1 2 4
宋蘅被宋怀远打了一顿，孟小舟没拦。|1 2 4
宋怀远和宋蘅为孟小舟吵了一架。|1 2 4
孟小舟是贼，宋怀远告诉宋蘅。|1 2 4
宋怀远把孟小舟的信烧了。|1 4
宋怀远从宋蘅那里得知，孟小舟是贼。|1 2 4
宋怀远给上海发函核查宋蘅。|1 2 4
宋怀远盘问宋蘅。|1 2 4
宋怀远当众揭发宋蘅，孟小舟也有份。|1 2 4
宋怀远写信给孟小舟。|1 3 4
宋怀远逼问宋蘅孟小舟的下落。|1 2 4
"""
OTHER_NOTES = """
Tom Hale told Cora Finch that Ada Penrose is a thief.|3 4 5
Tom Hale is Ada Penrose's brother.|1 3 4 5
Ada Penrose is Tom Hale's aunt.|1 3 4 5
Ada Penrose once told Tom Hale that the mill is haunted.|1 3 4 5
Ada Penrose's brother told Tom Hale that the mill is sold.|1 3 4 5
Tom Hale knows that Ada Penrose stole the brooch.|3 4 5
Tom Hale is older than Ada Penrose.|1 3 4 5
Tom Hale laughed at Ada Penrose's letter.|1 3 4 5
Sister Agnes asked Tom Hale to watch Ada Penrose.|1 3 4 5
Cora Finch was told by Sister Agnes that Ada Penrose is a thief.|3 4 5
Ada Penrose will tell Tom Hale everything.|1 3 4 5
When Ada Penrose left, Tom Hale wept.|1 3 4 5
Ada Penrose raised Tom Hale as her son.|1 3 4 5
Ada Penrose learned to swim beside Tom Hale.|1 3 4 5
孟小舟告诉陈默，宋怀远是贼。|3 4 5
孟小舟是宋怀远的弟弟。|1 3 4 5
宋怀远是孟小舟的舅舅。|1 3 4 5
宋怀远的弟弟告诉孟小舟，磨坊卖了。|1 3 4 5
宋怀远当年打了孟小舟。|1 3 4 5
孟小舟比宋怀远大三岁。|1 3 4 5
宋怀远走后，孟小舟哭了一夜。|1 3 4 5
宋怀远收养了孟小舟。|1 3 4 5
宋怀远娶了孟小舟的姐姐。|1 3 4 5
陈默被孟小舟打了，为的是宋怀远的信。|1 3 4 5
裴婆婆让孟小舟去找宋怀远。|1 3 4 5
宋怀远说话结巴，像孟小舟。|1 3 4 5
"""


def _note_of_people_left(
    content: str, scenes: Sequence[KnowledgeScene], *, healing: str = ""
) -> tuple[KnowledgeRules, KnowledgeMemory]:
    """Return the story of these scenes with a note after the first, and the note; another may follow the second."""
    names = {entity_id: chinese if has_cjk(content) else english for entity_id, english, chinese in PEOPLE_LEFT}
    cards = [
        Entity(entity_id=entity_id, project_id="p", entity_type="character", name=name)
        for entity_id, name in names.items()
    ]
    note = memory(content, " ".join(NameResolver(cards).entity_ids_in(content)), position=None, noted_at=at(1, 1))
    healed = memory(healing or "-", "C2" if healing else "", "N1", position=None, noted_at=at(1, 2))
    notes = [note, *([healed] if healing else [])]
    names_of_all = {entity_id: [name] for entity_id, name in names.items()}
    as_of = at(scenes[-1].position.chapter_index or 0, 3)
    whole = KnowledgeStory(as_of, scenes, notes, names_of_all, frozenset(names), entities=cards)
    return KnowledgeRules(whole), note


@pytest.mark.parametrize("lines", [DEEDS_OF_ONE_WHO_LEFT, OTHER_NOTES])
def test_a_deed_of_one_who_has_left_is_known_to_who_takes_part(lines: str) -> None:
    """Cora, who came later, knows any other note of her scene, and Tom, who came too, not what is said of him.

    Jo and Ben, who were there and have left as well, saw a deed among those who were there.
    """
    scenes = (scene(1, 1, "C1 C2 C4 C6"), scene(1, 2, "C3 C4 C5"))
    for content, knowers in (line.split("|") for line in lines.strip().splitlines()):
        story, note = _note_of_people_left(content, scenes)
        names = story.story.names
        is_seen = lines == DEEDS_OF_ONE_WHO_LEFT and "3" not in knowers
        everybody = " ".join(sorted({*knowers.split(), "2", "6"})) if is_seen else knowers
        assert (content, " ".join(one[1:] for one in names if story.knows(one, note).knows)) == (content, everybody)


@pytest.mark.parametrize(
    ("content", "knowers"),
    [
        ("Ada Penrose told Ben Carver that Tom Hale is a thief.", "1 2 6"),
        ("Ada Penrose struck Ben Carver, because Tom Hale had lied.", "1 2 6"),
        ("Ada Penrose suspects that Tom Hale is a thief.", "1"),
        ("Ada Penrose believes that Tom Hale is a thief.", "1 2 6"),
        ("Ada Penrose is Tom Hale's aunt.", "1 2 3 6"),
        ("Ada Penrose does not know that Tom Hale stole the brooch.", "2 3 6"),
        ("宋怀远告诉宋蘅，孟小舟是贼。", "1 2 6"),
        ("宋怀远怀疑孟小舟是贼。", "1"),
        ("宋怀远认定孟小舟是贼。", "1 2 6"),
        ("宋怀远是孟小舟的舅舅。", "1 2 3 6"),
    ],
)
def test_a_note_after_the_last_scene_is_unknown_to_people_it_only_speaks_of(content: str, knowers: str) -> None:
    """Tom comes in the next chapter; the cast of that last scene knows what is no thought."""
    story, note = _note_of_people_left(content, (scene(1, 1, "C1 C2 C6"), scene(2, 1, "C3 C5")))
    names = story.story.names
    assert (content, " ".join(one[1:] for one in names if story.knows(one, note).knows)) == (content, knowers)


@pytest.mark.parametrize(
    ("content", "is_cast_stated"),
    [
        ("Ada Penrose whispered to Ben Carver that Tom Hale is a thief.", True),
        ("Ada Penrose secretly gave Ben Carver leave to go.", True),
        ("Ada Penrose struck Ben Carver; only Ben Carver knows it.", True),
        ("Ada Penrose struck Ben Carver.", False),
        ("宋怀远悄悄告诉宋蘅，孟小舟是贼。", True),
        ("宋怀远背着人打了宋蘅。", True),
        ("宋怀远打了宋蘅，只有宋蘅知道。", True),
        ("宋怀远打了宋蘅。", False),
    ],
)
def test_a_deed_apart_or_before_a_guessed_cast_is_seen_by_nobody_else(content: str, is_cast_stated: bool) -> None:
    """Of a scene before whose cast rules guess nobody is known to have seen it."""
    scenes = (replace(scene(1, 1, "C1 C2 C6"), has_record=is_cast_stated), scene(1, 2, "C5"))
    cards = [
        Entity(
            entity_id=entity_id, project_id="p", entity_type="character", name=chinese if has_cjk(content) else english
        )
        for entity_id, english, chinese in PEOPLE_LEFT
    ]
    names = {card.entity_id: [card.name] for card in cards}
    note = memory(content, " ".join(NameResolver(cards).entity_ids_in(content)), position=None, noted_at=at(1, 1))
    story = KnowledgeRules(KnowledgeStory(at(1, 3), scenes, [note], names, frozenset(names), entities=cards))
    assert not story.knows("C6", note).knows


@pytest.mark.parametrize(
    ("content", "is_seen"),
    [
        ("Ada Penrose handed Ben Carver the key.", True),
        ("宋怀远把钥匙交给了宋蘅。", True),
        ("Ada Penrose secretly handed Ben Carver the key.", False),
        ("Ada Penrose handed Ben Carver the key years ago.", False),
        ("Ada Penrose is Ben Carver's aunt.", False),
    ],
)
def test_a_deed_of_people_in_both_scenes_was_seen_in_the_first(content: str, is_seen: bool) -> None:
    """By those of its stated cast who are not in the second; Cora, who came later, knows it as before."""
    story, note = _note_of_people_left(content, (scene(1, 1, "C1 C2 C6"), scene(1, 2, "C1 C2 C5")))
    assert story.knows("C6", note).knows == is_seen


@pytest.mark.parametrize(
    ("content", "healing", "is_known"),
    [
        ("Ben Carver's left arm is broken.", "", True),
        ("Ben Carver was wounded in the leg.", "", True),
        ("宋蘅的右手烧伤了。", "", True),
        ("Ben Carver's left arm is broken.", "Ben Carver's arm has healed.", False),
        ("宋蘅的右手烧伤了。", "宋蘅的手痊愈了。", False),
        ("Ben Carver was wounded by Ada Penrose.", "", False),
        ("Ben Carver's left arm is broken; nobody may know it.", "", False),
        ("宋蘅偷东西时摔断了腿。", "", False),
    ],
)
def test_a_plain_wound_shows_when_its_bearer_is_met(content: str, healing: str, is_known: bool) -> None:
    """In a later scene, until the wound is whole; nothing else that a note tells shows."""
    scenes = (scene(1, 1, "C1 C2"), scene(1, 2, "C5"), scene(2, 1, "C2 C5"))
    story, note = _note_of_people_left(content, scenes, healing=healing)
    assert story.knows("C5", note).knows == is_known
    early, note = _note_of_people_left(content, scenes[:1])
    assert not early.knows("C5", note).knows


@pytest.mark.parametrize(
    ("content", "knowers"),
    [
        ("Ben Carver died in the mill; before that he asked Sister Agnes to watch the house.", "1 4 5 6"),
        ("Ben Carver is dead; Cora Finch does not know it yet.", "1 4 6"),
        ("宋蘅死在磨坊里，临死前叫裴婆婆照看家里。", "1 4 5 6"),
        ("宋蘅死了，陈默还不知道。", "1 4 6"),
        ("Ada Penrose saw that Ben Carver lied, and kept it to herself.", "1"),
        ("Ada Penrose recognised Ben Carver, but did not let on.", "1"),
        ("宋怀远听出宋蘅在说谎，没对谁讲。", "1"),
        ("宋怀远认出了宋蘅，没有声张。", "1"),
        ("宋怀远看出宋蘅心虚。", "1"),
        ("宋怀远怀疑宋蘅偷了簿子。", "1"),
        ("宋怀远发觉宋蘅改了账本。", "1"),
        ("宋怀远认定宋蘅杀了人。", "1 4"),
        ("宋怀远猜宋蘅把钱埋在后院。", "1"),
        ("宋怀远相信宋蘅说了谎。", "1 4"),
        ("宋怀远相信了宋蘅。", "1 2 4 6"),
        ("Ada Penrose noticed that Ben Carver was afraid.", "1"),
        ("Ada Penrose suspects Ben Carver stole the book.", "1"),
        ("Ada Penrose has worked out that Ben Carver forged the will.", "1"),
        ("Ada Penrose accused Ben Carver of stealing the book.", "1 2 4 6"),
        ("Ada Penrose stole the locket; only Ada knows it.", "1"),
        ("Ben Carver broke a cup; only Carver knows it.", "2"),
        ("Jo Dunn broke a cup; only Jo knows it.", "6"),
        ("宋怀远偷了胸针，只有怀远知道。", "1"),
    ],
)
def test_a_death_with_more_is_seen_and_a_private_perception_is_not(content: str, knowers: str) -> None:
    """People of the scene before saw the death; short names list knowers, too."""
    scenes = (scene(1, 1, "C1 C2 C4 C6"), scene(1, 2, "C4 C5"))
    story, note = _note_of_people_left(content, scenes)
    known_ids = [entity_id for entity_id, *_ in PEOPLE_LEFT if story.knows(entity_id, note).knows]
    assert " ".join(one[1:] for one in known_ids) == knowers


@pytest.mark.parametrize(
    ("wound", "healing", "is_seen"),
    [
        ("Ben Carver's left arm is broken.", "Ada Penrose took the splint off; Ben Carver's arm is whole again.", True),
        ("宋蘅的右手烧伤了。", "宋怀远拆了绷带，宋蘅的手痊愈了。", True),
        ("Ben Carver's left arm is broken.", "Ben Carver's arm is whole again, and he stole the brooch.", False),
        ("Ben Carver's left arm is broken.", "Ada Penrose took the splint off.", False),
        ("Ben Carver is Ada Penrose's uncle.", "Ben Carver's horse is whole again.", False),
    ],
)
def test_a_healing_shows_when_its_bearer_is_met(wound: str, healing: str, is_seen: bool) -> None:
    """In a later scene; what a note tells beside it and the treatment does not show."""
    scenes = (scene(1, 1, "C1 C2"), scene(1, 2, "C1 C2"), scene(2, 1, "C2 C5"))
    story, _ = _note_of_people_left(wound, scenes, healing=healing)
    (note,) = (one for one in story.story.memories if one.content == healing)
    note = replace(note, entities=["C1", "C2"])
    assert story.knows("C5", note).knows == is_seen


DEAD_AND_LIVING = (("C1", "James Moss", "贺老三"), ("C2", "Kitty Moss", "贺小满"), ("C3", "Ada Penrose", "沈青"))
LEARNT_AFTER_DEATH = """
Kitty Moss found forty pounds of James Moss's money in a belt.
Kitty Moss sold James Moss's horse to Ada Penrose.
Kitty Moss told Ada Penrose that James Moss was a thief.
Ada Penrose had hidden James Moss's letters.
Ada Penrose wept at the grave of James Moss.
Kitty Moss told James Moss everything at his grave.
Kitty Moss looks like James Moss.
The house of James Moss has burned down.
James Moss is dead.
James Moss is mourned by all.
Kitty Moss is the heir of James Moss.
Before James Moss was cold, Kitty Moss sold the mill.
贺小满找到了贺老三的四十块银元。
贺小满把贺老三的马卖给了沈青。
贺小满告诉沈青，贺老三是贼。
贺小满在贺老三的坟前哭了一场。
贺小满长得像贺老三。
贺老三的房子烧了。
贺老三死了。
贺小满是贺老三的继承人。
"""
KNOWN_IN_LIFE = """
Kitty Moss had told James Moss of the money.
Kitty Moss told James Moss of the money before he died.
On his deathbed James Moss was told that Kitty Moss was safe.
James Moss had hidden forty pounds in a belt.
James Moss knew that Kitty Moss stole the brooch.
James Moss had known of the debt.
The belt is false; only Kitty Moss and James Moss know it.
James Moss once told Ada Penrose that Kitty Moss can swim.
James Moss told Ada Penrose of the belt while he lived.
In his lifetime James Moss gave Kitty Moss a belt.
Ada Penrose had confessed to James Moss that the mill was sold.
James Moss had been told of the debt.
贺小满早就把银元的事告诉了贺老三。
贺老三生前把银元藏了起来。
贺老三早就知道贺小满偷了胸针。
银元是假的，只有贺小满和贺老三知道。
贺老三当年告诉沈青，贺小满会水。
临终前，贺老三把银元的事告诉了沈青。
沈青曾向贺老三坦白，磨坊卖了。
"""


@pytest.mark.parametrize(("lines", "is_known"), [(LEARNT_AFTER_DEATH, False), (KNOWN_IN_LIFE, True)])
@pytest.mark.parametrize("died", [at(0, 0), at(1, 0), at(1, 1)])
def test_the_dead_learn_nothing_of_a_later_note(lines: str, is_known: bool, died: StoryPosition) -> None:
    """Be they named; what its words have them do or learn in life they knew, and in a stated cast they walk."""
    for content in lines.strip().splitlines():
        cards = [
            Entity(
                entity_id=one, project_id="p", entity_type="character", name=chinese if has_cjk(content) else english
            )
            for one, english, chinese in DEAD_AND_LIVING
        ]
        names = {card.entity_id: [card.name] for card in cards}
        note = memory(content, " ".join(NameResolver(cards).entity_ids_in(content)), position=None, noted_at=at(1, 3))

        def knows(last_cast: str, note: KnowledgeMemory = note, names: Any = names, cards: Any = cards) -> bool:
            scenes = (scene(1, 1, "C1 C2"), scene(1, 2, "C1 C2"), scene(1, 3, "C2 C3"), scene(1, 4, last_cast))
            story = KnowledgeStory(at(1, 5), scenes, [note], names, frozenset(names), dead={"C1": died}, entities=cards)
            return KnowledgeRules(story).knows("C1", note).knows

        assert (content, knows("C2 C3")) == (content, is_known)
        if not content.startswith(("James Moss is dead", "贺老三死")):
            assert (content, knows("C1 C2 C3")) == (content, True)


def test_a_note_of_a_death_is_not_known_to_who_lies_there() -> None:
    """Also where the author has them in the scene from which it holds."""
    note = memory("Ines died of a fever.", "C1", position=None, noted_at=at(2, 0))
    assert rules(scene(2, 1, "C1 C2"), about=note).knows("C1", note).reason == "dead"


@pytest.mark.parametrize("content", ["The pistol has one bullet left.", "手枪里只剩一颗子弹。"])
def test_a_note_of_a_thing_alone_is_known_to_who_was_beside_it(content: str) -> None:
    """From a scene on; what holds from the beginning is of the world, and all know it."""
    scenes = (scene(1, 1, "C1 C2"), scene(2, 1, "C1"), scene(3, 1, "C1"))
    for noted_at, knows in ((at(3, 0), [True, False]), (None, [True, True])):
        note = memory(content, "I1", position=None, noted_at=noted_at)
        story = rules(*scenes, about=note)
        assert [story.knows(who, note).knows for who in ("C1", "C2")] == knows


@pytest.mark.parametrize(
    "content",
    [
        "Gregor has promised Ada not to tell Ben or the miller that he is going blind.",
        "Gregor has promised Ada not to tell Ines or Ben that he is going blind.",
        "Ben does not know that Gregor is going blind.",
        "Ben doesn't know yet that Gregor is going blind.",
        "Ben does not know Gregor is going blind.",
        "Ben still does not know of it.",
        "Neither Ben nor Ines knows that Gregor is going blind.",
        "Ben and Ines do not know that Gregor is going blind.",
        "Ben must never learn that Gregor is going blind.",
        "Ben is not to know why Gregor limps.",
        "Ben was not told that Gregor is going blind.",
        "Ben has no idea that Gregor is going blind.",
        "Ben is unaware of Gregor's blindness.",
        "Ben knows nothing of Gregor's blindness.",
        "Ada gave Gregor her word to keep his blindness from Ben.",
        "Gregor's blindness is hidden from Ben.",
        "Gregor wrote to Ada behind Ben's back.",
        "Gregor sold the boat without Ben's knowing.",
        "Nobody has told Ben that Gregor is going blind.",
        "Do not let Ben know that Gregor is going blind.",
        "Ada did not tell it to Ines, least of all to Ben.",
        "Ada now knows that Ben has not been told of it.",
        "Gregor has not told Ben.",
        "Not a word of Gregor's blindness to Ben.",
        "Gregor wept unknown to Ben.",
        "Gregor and Ada have agreed to say nothing to Ben.",
        "Gregor told Ada but not Ben.",
        "Everybody but Ben knows that Gregor is going blind.",
        "Ben, who does not know that Gregor is going blind, leads him.",
        "Gregor hopes that Ben never finds out.",
        "除了沈舟，大家都知道格雷快瞎了。",
        "格雷不想沈舟知道他快瞎了。",
        "格雷向沈舟隐瞒了病情。",
        "周岚现在知道了，沈舟还不知道格雷快瞎了。",
        "没人告诉沈舟格雷快瞎了。",
        "沈舟还不知道格雷快瞎了。",
        "沈舟和周岚都不知道格雷快瞎了。",
        "格雷答应周岚不告诉沈舟他快瞎了。",
        "格雷快瞎了，没有告诉沈舟。",
        "格雷没把这件事告诉沈舟。",
        "格雷快瞎了，别让沈舟知道。",
        "绝不能让沈舟知道格雷快瞎了。",
        "格雷瞒着沈舟卖了船。",
        "格雷背着沈舟卖了船。",
        "格雷卖了船，沈舟被蒙在鼓里。",
        "格雷卖了船，沈舟并不知情。",
        "沈舟对格雷卖船的事一无所知。",
        "周岚对沈舟隐瞒了此事。",
    ],
)
def test_a_note_is_not_known_to_whom_its_words_keep_it_from(content: str) -> None:
    """Though it names them and they are in its scene; to others whom it names it is known. The author goes first."""
    kept_id, name = ("C6", "沈舟") if "沈舟" in content else ("C2", "Ben")
    assert name in content
    note = memory(content, f"{kept_id} C4", position=None, noted_at=at(1, 1))
    stage = scene(2, 1, kept_id)
    story = rules(stage, about=note)
    assert (story.knows(kept_id, note).knows, story.knows(kept_id, note).reason) == (False, "hidden")
    assert story.knows("C4", note).knows
    by_author = rules(stage, about=note, events=[event(kept_id, "knows", 0, by_author=True)])
    assert by_author.knows(kept_id, note).knows


@pytest.mark.parametrize(
    "content",
    [
        "Ben does not know how to swim.",
        "Ben does not know Ada.",
        "Ben does not know what to do.",
        "Ben has not learnt to swim.",
        "Ben was not told to come.",
        "Ben has not told Gregor that the boat is sold.",
        "Ben keeps it from Gregor that the boat is sold.",
        "Ben's mother does not know that Gregor is going blind.",
        "Gregor no longer hides it from Ben.",
        "Gregor kept the letter from Ben in his coat.",
        "Gregor told Ben, and Ines does not know of it.",
        "Ben does not know the man who is with Gregor.",
        "Gregor said nothing to Ben when he came home.",
        "Gregor has promised never to leave Ben.",
        "格雷没有瞒着沈舟。",
        "Ben has not told Gregor off, and Ines knows it.",
        "Ben did not know until now that Gregor is going blind.",
        "Ben did not know that Gregor is going blind; now he knows.",
        "沈舟不知道怎么游泳。",
        "沈舟不知道该去哪里。",
        "沈舟没有告诉格雷船卖了。",
        "沈舟瞒着格雷卖了船。",
        "格雷不再瞒着沈舟。",
        "沈舟直到今天才知道格雷快瞎了。",
        "格雷没跟沈舟说话。",
    ],
)
def test_other_negations_keep_a_note_from_nobody_whom_it_names(content: str) -> None:
    """What somebody cannot do, whom they do not know, what they themselves keep, and what is over."""
    character_id = "C6" if "沈舟" in content else "C2"
    note = memory(content, f"{character_id} C4", position=None, noted_at=at(1, 1))
    assert rules(about=note).knows(character_id, note).knows


@pytest.mark.parametrize(
    ("text", "content"),
    [
        (
            "“If they come again I cannot hold them off,” said Gregor.",
            "If they come again, Gregor cannot hold them off.",
        ),
        ("格雷说：“七十六号要是再来，我挡不住。”", "格雷说，七十六号要是再来，他挡不住。"),
    ],
)
def test_a_note_is_known_to_who_heard_it_earlier_in_its_chapter(text: str, content: str) -> None:
    """Its author writes it at the end of the chapter; who was not in the scene that tells it does not know it."""
    note = memory(content, "C4", position=None, noted_at=at(2, 0))
    story = rules(scene(1, 1, "C1 C4", text), scene(1, 2, "C1 C2", "Rain fell."), about=note)
    assert [story.knows(who, note).knows for who in ("C1", "C2")] == [True, False]


def test_whom_the_authors_list_leaves_out_is_kept_from_it_by_the_author() -> None:
    """Be the list in words or beside them: it is no guess."""
    listed = memory("Ines is ill.", "C1", position=None)
    worded = memory("Ines is ill; only Gregor knows it.", "C1", position=None)
    said = event("C3", "knows", 0, scene_index=0, by_author=True)
    for note, events in ((listed, [said]), (worded, [])):
        unknown = rules(scene(1, 1, "C1 C2 C3"), events=events, about=note).of_character("C2", [note]).not_known
        assert [(one.kind, one.is_guess) for one in unknown] == [("hidden", False)]
        assert "leaves them out" in unknown[0].why


UNSEEN_PEOPLE = ("Nell", "Hugh", "Tom", "Jem", "Silas"), ("顾晚", "许海", "孟小舟", "阿九", "陈默")
UNSEEN = """
Tom looked into the clock; nobody saw him.
Tom looked into the clock unseen.
Tom took the key, and nobody noticed.
Tom took the key while no one was looking.
Tom opened the letter without anyone noticing.
Tom came back when nobody was there.
Tom crept out while the others slept.
Tom hid the key while the others slept.
Nobody noticed him take it: Tom has the ring.
Tom burned the will without being seen.
No one saw her go, but Nell left by the garden.
Tom read the letter when nobody was about.
Tom dug up the box while everyone was asleep.
Tom changed the lock, and not a soul saw it.
Tom took it by stealth.
Tom swapped the cups and no one saw this.
Tom searched the room with nobody there to see him.
孟小舟看了钟里面，没人看见。
孟小舟拿走了钥匙，谁也没看到。
孟小舟换了杯子，没有人注意。
孟小舟趁没人进了书房。
孟小舟神不知鬼不觉地换了信。
孟小舟烧了遗嘱，无人察觉。
孟小舟趁大家睡着，溜了出去。
谁也没注意到他，孟小舟拿走了戒指。
孟小舟拆了信，谁都没有发现。
孟小舟避开众人，进了祠堂。
孟小舟把信放回原处，没被人发现。
没有人看见她，顾晚走了后门。
孟小舟趁四下无人挖出了匣子。
众人都睡着时，孟小舟开了门。
孟小舟乘人不备拿走了印章。
"""
SEEN = """
Tom left, and nobody saw him again.
Nobody has seen him since the fair: Tom is missing.
Tom knocked, but nobody was there.
Nobody saw the storm coming, and Tom lost his boat.
Tom slept while Nell watched.
Nobody has seen Tom for a week.
Tom told the others that the mill was sold.
Everybody saw Tom break the glass.
Tom was heard by everyone.
An unheard of price was paid by Tom.
Tom was asleep when Hugh came.
No one caught the thief.
Nobody saw him alive after that: Tom drowned.
Nobody has heard of it yet in the town.
Nobody was hurt when Tom fell.
孟小舟走后，再没人看见他。
谁也没看见过孟小舟的父亲。
没人发现许海的才华。
孟小舟睡着了，许海来了。
人人都看见孟小舟打碎了杯子。
没有人受伤。
没人注意身体，孟小舟病了。
孟小舟注意到门开着。
孟小舟没有发现钥匙丢了。
无人发现的岛上住着孟小舟。
孟小舟让大家睡下。
顾晚没看见孟小舟。
谁也没看见他再出来。
"""
DONE_IN_SECRET = """
Hugh gave Jem the packet in secret: he is to give it to Nell when Hugh is dead.|Hugh Jem
Hugh secretly told Jem that Nell is ill.|Hugh Jem
Hugh and Jem buried Tom's box in secret.|Hugh Jem
Hugh took the letter unseen and told Jem to keep it for Nell.|Hugh Jem
Hugh burned Nell's letter; nobody saw him.|Hugh
Hugh gave Jem the packet in secret, and Jem gave it to Nell.|Hugh Jem Nell
Hugh secretly married Nell.|Hugh Nell
Hugh is secretly Nell's father.|Hugh Nell
Hugh met Nell in secret by the mill.|Hugh Nell
Hugh whispered to Jem that Tom stole the ring.|Hugh Jem
Hugh hid the packet in secret; later he gave it to Nell.|Hugh Nell
Hugh secretly wrote to Silas about Nell.|Hugh Silas
Nell secretly loves Tom.|Nell
Hugh told Jem in private that Nell struck Tom.|Hugh Jem
Hugh told Jem aside to watch Nell.|Hugh Jem
Behind everybody's back, Hugh promised Silas the house of Nell.|Hugh Silas
Hugh gave Jem the packet while the others slept, for Nell.|Hugh Jem
许海暗中把包裹交给了阿九，等许海死后由他转交顾晚。|许海 阿九
许海偷偷告诉阿九，顾晚病了。|许海 阿九
许海私下把顾晚的戒指卖给了陈默。|许海 陈默
许海背着人烧了顾晚的信。|许海
许海暗中把包裹交给了阿九，阿九又交给了顾晚。|许海 阿九 顾晚
许海私下见了顾晚。|许海 顾晚
许海趁没人把信塞给了阿九，要他防着顾晚。|许海 阿九
许海偷偷写信给陈默，说顾晚要走。|许海 陈默
许海悄悄对阿九说孟小舟是贼。|许海 阿九
许海私下许诺陈默，把顾晚嫁给他。|许海 陈默
许海偷偷娶了顾晚。|许海 顾晚
许海烧了顾晚的信，神不知鬼不觉。|许海
许海偷偷拿走了孟小舟的表，又还给了孟小舟。|许海 孟小舟
Tom secretly followed Nell.|Tom
Tom spied on Nell at the mill.|Tom
Tom secretly watched Nell burn the letter.|Tom
Tom listened at the door while Nell and Hugh talked.|Tom
Tom overheard Nell and Hugh in secret; nobody knows it.|Tom
Tom shadowed Nell to the mill and told nobody.|Tom
Tom secretly met Nell.|Nell Tom
Tom secretly gave Nell the key.|Nell Tom
Tom pretends to be dumb; only Nell knows it.|Nell Tom
Tom feigns illness; only Nell knows it.|Nell Tom
Tom is not really blind; only Nell knows it.|Nell Tom
Tom is only playing lame, and nobody but Nell knows.|Nell Tom
孟小舟偷偷看见顾晚私会许海。|孟小舟
孟小舟偷偷跟踪顾晚。|孟小舟
孟小舟暗中跟踪顾晚，没有告诉任何人。|孟小舟
孟小舟偷听了顾晚和许海的话，没有人知道。|孟小舟
孟小舟躲在树后偷看顾晚烧信。|孟小舟
孟小舟尾随顾晚到了磨坊。|孟小舟
孟小舟暗中监视顾晚。|孟小舟
孟小舟偷偷把钥匙给了顾晚。|孟小舟 顾晚
孟小舟偷偷见了顾晚。|孟小舟 顾晚
孟小舟装哑，其实能说话，只有顾晚知道。|孟小舟 顾晚
孟小舟装病，只有顾晚知道。|孟小舟 顾晚
孟小舟装疯卖傻，只有顾晚知道。|孟小舟 顾晚
孟小舟假装哑巴，只有顾晚知道。|孟小舟 顾晚
孟小舟是装瞎的，只有顾晚知道。|孟小舟 顾晚
孟小舟其实会武功，只有顾晚知道。|孟小舟 顾晚
孟小舟其实会说话，只有顾晚知道。|孟小舟 顾晚
"""
THREADS = """
Nell promised Hugh to tell nobody that he cut the rope.|C0 C1|C0 C1
Nell promised Hugh to tell nobody that he cut the rope.||C0 C1
Nell promised Hugh to mend the gate.||C0 C1 C3
Nell tells nobody that Hugh cut the rope.||C0 C1
Hugh secretly told Jem that Nell is ill.||C1 C3
Will Nell tell Hugh who cut the rope?||C2 C3 C4
The mill must be mended by the spring.||C2 C3 C4
Tom must find the ring of Silas.||C2 C3 C4
顾晚答应许海不告诉任何人是他割断了绳子。||C0 C1
顾晚答应许海修好大门。||C0 C1 C3
许海暗中把包裹交给了阿九，等许海死后由他转交顾晚。||C1 C3
顾晚会告诉许海真相吗？||C2 C3 C4
磨坊开春前要修好。||C2 C3 C4
顾晚答应许海：这件事谁问都不说。|C0 C1|C0 C1 C3
顾晚答应许海：谁来也不开门。||C0 C1 C3
顾晚答应许海，怎么求也不松口。||C0 C1 C3
顾晚把戒指丢在井边了，谁拿走的？|C0|C0 C1 C3
Nell dropped the ring by the well; who has it?|C0|C0 C1 C3
谁拿走了顾晚的戒指？||C2 C3 C4
顾晚的戒指，怎么会在井边？||C2 C3 C4
"""


def _story_of_unseen(content: str, note: KnowledgeMemory | None = None) -> KnowledgeRules:
    """Return a story of two scenes: Jem alone is in both, Nell and Hugh in the first, Tom and Silas in the second."""
    cards = [
        Entity(entity_id=f"C{number}", project_id="p", entity_type="character", name=name)
        for number, name in enumerate(UNSEEN_PEOPLE[has_cjk(content)])
    ]
    scenes = (scene(1, 1, "C0 C1 C3"), scene(1, 2, "C2 C3 C4"))
    names = {card.entity_id: [card.name] for card in cards}
    notes = [] if note is None else [note]
    return KnowledgeRules(KnowledgeStory(at(1, 3), scenes, notes, names, frozenset(names), entities=cards))


def test_what_nobody_sees_is_done_in_secret() -> None:
    """Who is only spoken of in it does not know it, be they there or not."""
    for text in UNSEEN.strip().splitlines():
        assert (text, _story_of_unseen(text).is_said_openly(text)) == (text, False)
    for text in SEEN.strip().splitlines():
        assert (text, _story_of_unseen(text).is_said_openly(text)) == (text, True)
    for content, knowers in (line.split("|") for line in DONE_IN_SECRET.strip().splitlines()):
        cards = _story_of_unseen(content).story.entities
        named_ids = NameResolver(cards).entity_ids_in(content)
        note = memory(content, " ".join(named_ids), position=None, noted_at=at(1, 1))
        story = _story_of_unseen(content, note)
        known = {card.name for card in cards if story.knows(card.entity_id, note).knows}
        assert (content, known) == (content, {*knowers.split()})


def test_a_thread_is_known_by_its_words_as_a_note() -> None:
    """It is from the second scene on; its words name its people where it has no characters and asks nothing."""
    for description, related, knowers in (line.split("|") for line in THREADS.strip().splitlines()):
        thread = OpenLoop(
            loop_id="OL0",
            description=description,
            related_entities=related.split(),
            chapter_index=1,
            scene_index=1,
            said_from=(1, 2),
        )
        knowledge = StoryKnowledge(_story_of_unseen(description))
        known = [f"C{number}" for number in range(5) if knowledge.of(f"C{number}", is_shown=True).knows_thread(thread)]
        assert (description, " ".join(known)) == (description, knowers)


STAGE_PEOPLE = (
    ("Ada", "Tom", "Ben", "Clara", "Hume", "Silas", "Nora"),
    ("林阿秀", "贺老三", "刘七", "周云娘", "孙郎中", "钱四海", "何小满"),
)
KNOWN_BY_WORDS = """
3|Clara is really the daughter of Silas, though she herself has no idea.|
3|Clara is a clone of Nora, although she does not know it.|
3|Clara's mother is really Nora, though she was never told.|
2|Hume knows that Clara is the daughter of Silas; she does not.|Hume
3|Silas robbed Clara of her inheritance, and she never knew.|Silas Ada
1|Unknown to Ada, Tom and Ben have already sold the boat.|Tom Ben
1|Without Ada's knowledge Tom has pawned the watch.|Tom Ben
2|Clara kept to herself what Hume had muttered in his sleep.|Clara
2|Hume recognised Clara's ring but did not let on.|Hume
3|Clara saw Ada palm the ace and held her tongue.|Clara
3|Ada recognised Clara at once and embraced her.|Ada Clara
1|Ben is secretly in love with Nora.|Ben
3|Clara hates Ada and told her so.|Ada Clara
1|Ada has made up her mind to sell the mill to Silas.|Ada
1|Ada dreamed of her drowned father.|Ada
1|Tom told Ada in confidence that his brother is in gaol.|Tom Ada
2|Hume hid the will behind the clock after Clara had left the room.|Hume
1|Ada sent Ben to the cellar and showed Tom the body.|Ada Tom
1|While Tom slept, Ben read his diary.|Ben Ada
3|Ada sent Clara to fetch the doctor.|Ada Clara
3|After Clara had left the stage, Ada thanked her.|Ada Clara
1|Ada lied to Tom that the rope had been paid for.|Ada
3|Ada pretended to Clara that the lamp had been broken by the wind.|Ada
1|Ada told Tom a lie about the will; he did not believe her.|Ada Tom Ben
3|Ada did not lie to Clara about the debt.|Ada Clara
1|Ada overheard Tom telling Ben about the strike.|Ada Tom Ben
1|Tom's left hand was crushed between two planks.|Ada Tom Ben
1|Tom was shot in the leg by a guard.|Ada Tom Ben
3|Clara could not swim, and she never learnt it.|Ada Clara
3|周云娘其实是钱四海的女儿，她自己却不知道。|
3|周云娘的生母其实是何小满，没有人告诉过她。|
2|孙郎中知道周云娘是钱四海的女儿，周云娘自己不知情。|孙郎中
3|钱四海吞了周云娘的家产，她一直不知道。|钱四海 林阿秀
1|林阿秀不知道，贺老三和刘七已经签了和约。|贺老三 刘七
1|刘七背着林阿秀和贺老三偷看了试卷。|刘七
2|孙郎中认出了周云娘的戒指，却没有说破。|孙郎中
2|周云娘往孙郎中的茶里下了药，一声没吭。|周云娘
3|周云娘撞见林阿秀烧信，装作什么都没看见。|周云娘
3|林阿秀一眼认出了周云娘，抱住了她。|林阿秀 周云娘
1|刘七暗恋何小满。|刘七
1|林阿秀心里并不信任贺老三。|林阿秀
3|周云娘恨林阿秀，当面说了出来。|林阿秀 周云娘
1|林阿秀打定主意开春前离开。|林阿秀
1|林阿秀梦见了淹死的父亲。|林阿秀
1|刘七向贺老三吐露，他喜欢何小满。|刘七 贺老三
2|孙郎中等周云娘出去以后，把遗嘱藏在钟后面。|孙郎中
1|林阿秀支开贺老三，对刘七说堤坝裂了。|林阿秀 刘七
3|林阿秀等周云娘说完，才在逮捕令上签字。|林阿秀 周云娘
1|林阿秀骗贺老三说绳子的钱已经付了。|林阿秀
1|贺老三让林阿秀以为开庭是初十。|贺老三
1|林阿秀向贺老三撒谎说遗嘱丢了，贺老三不信。|林阿秀 贺老三 刘七
3|林阿秀没有骗周云娘，欠债是真的。|林阿秀 周云娘
2|周云娘怀了孩子，这事只有孙郎中知道。|周云娘 孙郎中
2|周云娘瞥见孙郎中的药箱里全是银票。|周云娘
1|林阿秀听见贺老三提醒刘七有人要来抄家。|林阿秀 贺老三 刘七
1|贺老三的左手被两块木板夹烂了。|林阿秀 贺老三 刘七
3|周云娘不会水，她也一直没学会。|林阿秀 周云娘
3|Unknown to herself, Clara is the heir to the throne.|
3|Silas is Clara's real father; neither of them knows it.|
1|With Ada out of the room, Tom and Ben divided the loot.|Tom Ben
1|Ada distracted Tom while Ben picked the lock.|Ada Ben
1|Ben guarded the door while Ada slept.|Ada Tom Ben
1|Ada told Tom that Ben was dead, which was a lie.|Ada
1|Ada gave Ben a false passport.|Ada Tom Ben
3|Clara had made up her mind to testify against Ada.|Clara
3|Ada noticed Clara and waved to her.|Ada Clara
3|Clara noticed the blood on Ada's cuff and looked away.|Clara
3|Clara saw through Ada's disguise but did not give her away.|Clara
3|Clara is a nurse, but she has no money.|Ada Clara
1|While the others ate, Tom slipped the purse into his boot.|Tom
3|钱四海是周云娘的生父，两人都不知道。|
1|林阿秀把贺老三灌醉，搜了他的包袱。|林阿秀 刘七
1|林阿秀引开贺老三，刘七撬了锁。|林阿秀 刘七
3|周云娘离开教室时，林阿秀跟她道了别。|林阿秀 周云娘
1|林阿秀告诉贺老三刘七已经死了，其实是骗他的。|林阿秀
3|林阿秀暗自发誓要扳倒周云娘。|林阿秀
3|周云娘爱上了林阿秀，却不敢说出口。|周云娘
1|林阿秀在冰上滑倒，扭伤了手腕。|林阿秀 贺老三 刘七
3|周云娘病倒后，林阿秀天天去看她。|林阿秀 周云娘
1|趁众人吃饭，贺老三把钱袋塞进靴子里。|贺老三
"""


def _story_of_three_scenes(content: str, scene_number: int) -> tuple[KnowledgeRules, KnowledgeMemory]:
    """Return a note on a scene of a chapter of three: of the first three people, the next two, Ada and Clara."""
    cards = [
        Entity(entity_id=f"C{number}", project_id="p", entity_type="character", name=name)
        for number, name in enumerate(STAGE_PEOPLE[has_cjk(content)])
    ]
    scenes = (scene(1, 1, "C0 C1 C2"), scene(1, 2, "C3 C4"), scene(1, 3, "C0 C3"))
    named_ids = NameResolver(cards).entity_ids_in(content)
    note = memory(content, " ".join(named_ids), position=None, noted_at=at(1, scene_number))
    names = {card.entity_id: [card.name] for card in cards}
    return KnowledgeRules(KnowledgeStory(at(2, 1), scenes, [note], names, frozenset(names), entities=cards)), note


def test_the_words_of_a_note_say_who_cannot_know_it() -> None:
    """Secrets of birth and of feelings, lies, perceptions without a sign, and deeds while somebody is away."""
    for number, content, knowers in (line.split("|") for line in KNOWN_BY_WORDS.strip().splitlines()):
        story, note = _story_of_three_scenes(content, int(number))
        known = {name for at, name in enumerate(STAGE_PEOPLE[has_cjk(content)]) if story.knows(f"C{at}", note).knows}
        assert (content, known) == (content, {*knowers.split()})


def test_who_is_lied_to_believes_the_contrary() -> None:
    for content in ("Ada lied to Tom that the rope had been paid for.", "林阿秀骗贺老三说绳子的钱已经付了。"):
        story, note = _story_of_three_scenes(content, 1)
        assert [(one.kind, one.is_guess) for one in story.of_character("C1", [note]).not_known] == [("deceived", True)]
