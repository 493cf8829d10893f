"""Evidence for a draft: what is gathered of the story before it, in which order and within which bounds."""

from dataclasses import replace

import pytest

from novelgen.checking.evidence import gather_evidence
from novelgen.checking.story import Draft, StoryBefore, read_draft
from novelgen.language.language import estimate_tokens
from novelgen.memory.knowledge_rules import KnowledgeRules
from novelgen.memory.knowledge_story import KnowledgeMemory, KnowledgeScene, KnowledgeStory
from novelgen.models.continuity import ContinuityEvidence
from novelgen.models.memory import StoryMemoryChunk
from novelgen.models.position import StoryPosition
from novelgen.models.state import StateChange
from tests.novelgen.checking.small_story import AS_OF, CHINESE, ENGLISH, memory, told

HARBOUR = (
    "The customs house of the harbour has a copper dome and eleven steps. A goat sleeps on the lowest of them. "
    "Nobody has wound the clock above the door since the flood."
)
KITCHEN = (
    "Ottoline peeled turnips in the kitchen. The kettle sang, and the cat watched the window. "
    "She said that her left wrist still ached where the winch had caught it."
)


def _memory(source_id: str, content: str, *entities: str, **more: object) -> StoryMemoryChunk:
    return memory(content, *entities).model_copy(update={"source_id": source_id, **more})


def _story(*memories: StoryMemoryChunk, texts: tuple[str, ...] = (HARBOUR, KITCHEN), quote: str = "") -> StoryBefore:
    scenes = [
        KnowledgeScene(StoryPosition(2, number), frozenset({"C0", "C1"}), text)
        for number, text in enumerate(texts, start=1)
    ]
    proved = [
        KnowledgeMemory(each.source_id or "", each.content, StoryPosition(3, 2), quote=quote) for each in memories
    ]
    names = {each.entity_id: each.names() for each in ENGLISH}
    rules = KnowledgeRules(KnowledgeStory(AS_OF, scenes, proved, names, frozenset({"C0", "C1", "C2", "C3"})))
    return replace(told(ENGLISH, memories=memories), knowledge=rules)


def _gathered(text: str, story: StoryBefore, **options: object) -> list[ContinuityEvidence]:
    return gather_evidence(read_draft(text, story), story, **options)  # type: ignore[arg-type]


def test_what_shares_rare_words_comes_first_and_says_where_it_stands() -> None:
    """A memory has its id and quote, a passage its place in its scene and its own words as the quote."""
    turnips = _memory("M7", "Ottoline hates turnips.", "C1")
    story = _story(turnips, _memory("M8", "Anselm was born at sea.", "C0"), quote="hates turnips")
    found = _gathered("Ottoline ate the turnips with delight.", story)
    assert (found[0].source, found[0].source_id, found[0].quote) == ("memory", "M7", "hates turnips")
    passage = next(each for each in found if each.source == "passage")
    assert passage.source_id == "2:2:passage:0"
    assert (passage.chapter_index, passage.scene_index) == (2, 2)
    assert passage.text in KITCHEN
    assert passage.quote == passage.text
    assert [each.score for each in found] == sorted((each.score for each in found), reverse=True)


def test_chinese_is_found_by_its_characters() -> None:
    """Words need no spaces: a passage is found by the pairs and rare characters that it shares."""
    story = replace(
        told(CHINESE, memories=[_memory("M1", "青铜罗盘沉在井底。", "I0")]),
        knowledge=KnowledgeRules(
            KnowledgeStory(
                AS_OF, [KnowledgeScene(StoryPosition(2, 1), frozenset({"C0"}), "院里有口枯井。井栏刻着七只仙鹤。")]
            )
        ),
    )
    found = _gathered("陆青崖数着井栏上的三只仙鹤。", story)
    assert any(each.source == "passage" and "七只仙鹤" in each.text for each in found)
    assert any(each.source_id == "M1" for each in found)


def test_meaning_finds_what_shares_no_word() -> None:
    """A memory whose meaning is nearest to a sentence has a place among the first."""
    others = [_memory(f"M{number}", f"Varley counts barrels, {number} of them.", "C2") for number in range(1, 9)]
    near = _memory("M9", "The physician forbade all spirits.")
    story = _story(*others, near, texts=())
    cosines = {f"M{number}": 0.1 for number in range(1, 9)} | {"M9": 0.9}
    without = _gathered("She poured herself another brandy.", story, limit=2)
    found = _gathered("She poured herself another brandy.", story, similar=[cosines], limit=2)
    assert "M9" not in [each.source_id for each in without]
    assert found[0].source_id == "M9"


def test_the_last_change_of_everybody_named_has_a_place_of_its_own() -> None:
    """What became of somebody last is gathered although nothing in the draft sounds like it."""
    taken = _memory("M1", "The watch took Sergeant Pym to the tower.", "C3", event_type="departure", importance=1)
    noise = [
        _memory(f"N{number}", f"Pym likes tea, lemon {number} and talk of weather.", "C3", importance=9)
        for number in range(30)
    ]
    story = _story(taken, *noise)
    found = _gathered("Over tea with lemon Pym had a talk about the weather.", story, limit=5)
    assert "M1" in [each.source_id for each in found]


def test_the_place_of_the_last_scene_is_told_of() -> None:
    """What is known of where everybody was last is gathered, though the draft does not name the place."""
    walls = _memory("M1", "Greyfen Hall is girt with a moat.", "L0", importance=1)
    noise = [_memory(f"N{number}", f"Rook mends clock {number} by candlelight.", "C0") for number in range(20)]
    seen = StateChange(
        entity_id="C0",
        attribute="presence",
        value={"location_id": "L0"},
        chapter_index=2,
        scene_index=2,
        kind="presence",
    )
    story = replace(_story(walls, *noise), changes=[seen])
    found = _gathered("Rook climbed over the low hedge and mended the clock by candlelight.", story, limit=4)
    assert "M1" in [each.source_id for each in found]


def test_numbers_and_limbs_find_what_is_said_of_them_in_other_words() -> None:
    """A number with a unit has the story's with such a unit, a limb of somebody the memory of theirs."""
    sum_ = _memory("M1", "A jeweller valued the whole hoard at nine thousand pounds.", importance=1)
    limb = _memory("M2", "Varley's left foot is a hook since the siege.", "C2", importance=1)
    noise = [_memory(f"N{number}", f"Varley opens casket {number} by lantern.", "C2") for number in range(30)]
    story = _story(sum_, limb, *noise, texts=())
    money = _gathered("Varley opens the casket by lantern, forty guineas in it.", story, limit=6)
    body = _gathered("Varley opens the casket by lantern on both feet.", story, limit=6)
    assert "M1" in [each.source_id for each in money]
    assert "M2" in [each.source_id for each in body]


def test_neighbouring_passages_become_one_piece_and_bounds_hold() -> None:
    """Passages of a scene that stand side by side are one piece; neither pieces nor tokens pass their bounds."""
    long = " ".join(f"The lamplighter of street {number} owns {number} brass ladders." for number in range(40))
    story = _story(*(_memory(f"M{number}", f"Ladder {number} is brass.") for number in range(20)), texts=(long,))
    found = _gathered("The lamplighter owns brass ladders.", story, limit=6, max_tokens=300)
    assert len(found) <= 6
    assert sum(estimate_tokens(each.text) for each in found) <= 300
    spans = [each.source_id for each in found if each.source == "passage"]
    assert len(spans) == len(set(spans))


@pytest.mark.parametrize("text", ["", "   \n", "……", "A draft that names nobody."])
def test_nothing_before_the_draft_is_no_evidence(text: str) -> None:
    """A story without scenes and memories gives none, nor does a bound of none."""
    nothing = replace(told(ENGLISH, on_stage=()), memories=())
    assert gather_evidence(Draft(text), nothing) == []
    assert gather_evidence(Draft(text), _story(_memory("M1", "Rook whistles.", "C0")), limit=0) == []
