"""What the author's own notes make certain: who has a thing, and who never leaves a place, in both languages."""

import pytest

from novelgen.models.continuity import ContinuityIssue
from novelgen.models.entity import Entity
from novelgen.models.memory import StoryMemoryChunk
from tests.novelgen.checking.small_story import entity, found, memory, state, told

CHINESE = (
    entity("C0", "林凡"),
    entity("C1", "林雪儿"),
    entity("C2", "林啸天"),
    entity("I0", "青铜戒指"),
    entity("L0", "青阳镇"),
    entity("L1", "青云宗"),
    entity("L2", "林府"),
)
ENGLISH = (
    entity("C0", "Anselm Rook", "Anselm"),
    entity("C1", "Ottoline Fenn", "Ottoline"),
    entity("C2", "Captain Varley", "Varley"),
    entity("I0", "the bronze ring"),
    entity("L0", "Harrowgate"),
    entity("L1", "Brightwater"),
)
WAY_ZH, WAY = "第二天，他离开青阳镇，来到青云宗。", "At noon she left Harrowgate for Brightwater."


def note(content: str, *, chapter: int | None = 3) -> StoryMemoryChunk:
    """A note of the author's, read from a chapter on, or in the whole book."""
    kept = memory(content).model_copy(update={"content_type": "note", "source_id": "note-N0"})
    return kept.model_copy(update={"chapter_index": chapter, "scene_index": None if chapter is None else 0})


def noted(
    draft: str, *notes: str, chapter: int | None = 3, card: bool = True, **before: object
) -> list[ContinuityIssue]:
    """What the rules find in a draft after notes; without a card the thing is only a word."""
    is_chinese = "。" in draft
    entities: list[Entity] = [each for each in (CHINESE if is_chinese else ENGLISH) if card or each.entity_id != "I0"]
    notes_before = [note(each, chapter=chapter) for each in notes]
    memories = [*notes_before, *before.pop("memories", [])]  # type: ignore[misc]
    story = told(entities, memories=memories, text=WAY_ZH if is_chinese else WAY, **before)  # type: ignore[arg-type]
    story = story.__class__(**{**story.__dict__, "language": "zh" if is_chinese else "en"})
    return found(draft, story)


HELD_ZH = "青铜戒指在林雪儿手里。"
HELD = "The bronze ring is with Ottoline Fenn."


@pytest.mark.parametrize("card", [True, False], ids=["card", "word"])
@pytest.mark.parametrize(
    "draft",
    [
        "林凡取出青铜戒指，放在桌上。",
        "林凡手中握着青铜戒指，一言不发。",
        "林凡摩挲着手指上的青铜戒指，望向窗外。",
        "林凡把玩着那枚青铜戒指。",
        "林凡从怀里掏出青铜戒指。",
        "林凡從懷裡掏出青銅戒指。",
        "Anselm toyed with the bronze ring and said nothing.",
        "Anselm drew the bronze ring from his pocket.",
        "Anselm sat down, turning the bronze ring.",
        "Anselm wore the bronze ring.",
        "Anselm came in and held up the bronze ring.",
    ],
)
def test_to_grasp_wear_or_show_a_thing_is_to_have_it(draft: str, *, card: bool) -> None:
    """A note puts it into another's hands: the finding quotes the note, and says from where on it holds."""
    (issue,) = noted(draft, HELD_ZH if "。" in draft else HELD, card=card)
    assert (issue.kind, issue.rule, issue.evidence[0].source) == ("object_holder", "wrong_hands", "note")
    assert "3:1" in issue.message
    assert "第0场" not in issue.message


@pytest.mark.parametrize(
    "told_so",
    [
        "青铜戒指一直在林雪儿身上。",
        "青铜戒指由林雪儿保管。",
        "林雪儿戴着青铜戒指。",
        "青铜戒指是林雪儿的命根子，从不离身。",
        "The bronze ring is in Ottoline’s keeping.",
        "The bronze ring is always worn by Ottoline.",
        "Ottoline wears the bronze ring.",
        "Ottoline never parts with the bronze ring.",
    ],
)
def test_a_note_says_in_many_ways_who_has_a_thing(told_so: str) -> None:
    """With somebody, kept by them, worn, never from their side."""
    draft = "林凡把玩着青铜戒指。" if "。" in told_so else "Anselm toyed with the bronze ring."
    assert len(noted(draft, told_so)) == 1


@pytest.mark.parametrize(
    "told_so",
    [
        "青铜戒指曾在林雪儿手里。",
        "如果青铜戒指在林雪儿手里，事情就好办了。",
        "林雪儿想要青铜戒指。",
        "林凡戴着青铜戒指。",
        "林凡说青铜戒指在林雪儿手里。",
        "Ottoline never wears the bronze ring.",
        "Ottoline says that the bronze ring is with Captain Varley.",
        "The bronze ring was with Ottoline.",
        "Perhaps the bronze ring is with Ottoline.",
        "Ottoline wants the bronze ring.",
        "Anselm wears the bronze ring.",
    ],
)
def test_a_note_of_another_time_or_of_a_wish_makes_no_holder(told_so: str) -> None:
    """What was, may be or is wanted is not certain; its own holder may have it."""
    draft = "林凡把玩着青铜戒指。" if "。" in told_so else "Anselm toyed with the bronze ring."
    assert noted(draft, told_so) == []


@pytest.mark.parametrize(
    "draft",
    [
        "林雪儿取出青铜戒指，放在桌上。",
        "林雪儿把青铜戒指递给他。林凡摩挲着青铜戒指。",
        "林凡想起青铜戒指，叹了口气。",
        "林凡梦见自己摩挲着青铜戒指。",
        "林雪儿点了点头。林凡把玩着青铜戒指。",
        "林凡道：“青铜戒指好看么？”",
        "林凡把玩着青铜戒指。这是林雪儿昨夜塞给他的。",
        "Ottoline toyed with the bronze ring.",
        "Ottoline gave him the bronze ring. Anselm turned the bronze ring.",
        "Anselm thought of the bronze ring.",
        "Anselm dreamt that he wore the bronze ring.",
        "Ottoline nodded. Anselm toyed with the bronze ring.",
        "Anselm asked for the bronze ring.",
        "Anselm toyed with the bronze ring. Ottoline had given it to him.",
    ],
)
def test_a_draft_that_keeps_to_the_note_or_tells_of_the_change_is_clean(draft: str) -> None:
    """Its holder has it, hands it on, stands beside; or nobody has it in the draft's present."""
    assert noted(draft, HELD_ZH if "。" in draft else HELD) == []


def test_what_the_story_told_later_or_nobody_knows_when_puts_a_note_out() -> None:
    """A later holder counts; a note without a place says nothing against another holder."""
    draft = "Anselm toyed with the bronze ring."
    later, earlier = state("I0", "holder", "C0", chapter=4), state("I0", "holder", "C2", chapter=2)
    sold = memory("Ottoline sold the bronze ring to a pedlar.", "C1", "I0", event_type="transfer", chapter=4)
    assert noted(draft, HELD, changes=[later]) == []
    assert len(noted(draft, HELD, changes=[earlier])) == 1
    assert noted(draft, HELD, memories=[sold]) == []
    assert noted(draft, HELD, chapter=None, changes=[earlier]) == []
    assert noted(draft, HELD, changes=[state("C1", "status", "dead", chapter=4)]) == []
    (issue,) = noted(draft, HELD, chapter=None)
    assert "always" in issue.message


@pytest.mark.parametrize(
    ("told_so", "draft", "elsewhere"),
    [
        ("林啸天一直在青阳镇，从未离开。", "林啸天站在青云宗的山门前，冷笑一声。", "青云宗"),
        ("林啸天从不离开青阳镇。", "夜里，林啸天走进青云宗，无人察觉。", "青云宗"),
        (
            "Captain Varley never leaves Harrowgate.",
            "Captain Varley stood before the gate of Brightwater.",
            "Brightwater",
        ),
        ("Varley is always in Harrowgate.", "Captain Varley sat in Brightwater and smoked.", "Brightwater"),
    ],
)
def test_who_never_leaves_a_place_is_at_no_other(told_so: str, draft: str, elsewhere: str) -> None:
    """The story tells of a way between the two, so that the one does not lie in the other."""
    (issue,) = noted(draft, told_so)
    assert (issue.kind, issue.rule, issue.entity_ids) == ("place", "never_there", ["C2", "L1"])
    assert elsewhere in issue.message


@pytest.mark.parametrize(
    ("told_so", "draft"),
    [
        ("林啸天一直在青阳镇，从未离开。", "林啸天站在林府门前，冷笑一声。"),
        ("林啸天一直在青阳镇，从未离开。", "林啸天站在青阳镇口，望着青云宗的方向。"),
        ("林啸天一直在青阳镇，从未离开。", "林凡站在青云宗的山门前。"),
        ("林啸天曾一直在青阳镇。", "林啸天站在青云宗的山门前。"),
        ("林啸天一直在青阳镇，从未离开。", "林凡道：“林啸天就在青云宗。”"),
        ("林啸天一直在青阳镇，从未离开。", "林凡做了个梦。林啸天站在青云宗的山门前。"),
        ("Captain Varley never leaves Harrowgate.", "Captain Varley sat in Harrowgate and thought of Brightwater."),
        ("Captain Varley never left Harrowgate while he lived.", "Captain Varley sat down at the window."),
        ("Captain Varley would never leave Harrowgate if he could.", "Captain Varley stood in Brightwater."),
        ("林啸天一直在青阳镇，从未离开。", "林啸天坐在椅上，想起在青云宗的日子。"),
        ("林啸天一直在青阳镇，从未离开。", "林啸天望着远在天边的青云宗。"),
        ("Captain Varley never leaves Harrowgate.", "Captain Varley sat and thought how in Brightwater they laughed."),
        ("Captain Varley never stays in Harrowgate.", "Captain Varley stood in Brightwater."),
        ("Captain Varley never leaves Harrowgate.", "“Captain Varley sat in Brightwater,” said Ottoline."),
    ],
)
def test_a_place_within_a_place_a_word_or_a_dream_is_none(told_so: str, draft: str) -> None:
    """Where no way between them was told, one may lie in the other; what is only said or dreamt is no act."""
    assert noted(draft, told_so) == []


def test_who_was_seen_elsewhere_since_has_left() -> None:
    """Where the story put somebody later puts the note out."""
    seen = state("C2", "location_id", "L1", chapter=4)
    draft = "林啸天站在青云宗的山门前。"
    assert noted(draft, "林啸天从不离开青阳镇。", changes=[seen]) == []
    assert len(noted(draft, "林啸天从不离开青阳镇。", changes=[state("C2", "location_id", "L1", chapter=2)])) == 1


CLEAN_ZH = (
    "天刚亮，林凡推开窗，镇上已有叫卖声。林雪儿端着粥进来，戒指在她指上闪了一下。",
    "林雪儿摩挲着青铜戒指，低声道：“哥，你几时回来？”林凡没有回答。",
    "林啸天坐在青阳镇的茶楼里，听人说起青云宗的大比，只是冷笑。",
    "林凡独自走了三十里，在青云宗外歇下。他想起妹妹手上的青铜戒指。",
    "“爹，青铜戒指我收好了。”林雪儿道。林啸天点了点头。",
    "林凡站在青云宗的山门前，取出一块玉佩。守门弟子看了一眼，放他进去。",
)
CLEAN = (
    "Anselm opened the shutters. Ottoline came in with the bread, and the bronze ring caught the light on her hand.",
    "Ottoline turned the bronze ring. “When will you be back?” she asked, and Anselm said nothing.",
    "Captain Varley sat in Harrowgate and listened to the talk of Brightwater.",
    "Anselm walked the thirty miles to Brightwater alone, and thought of the bronze ring on his sister’s hand.",
    "“I have the bronze ring safe,” said Ottoline. Captain Varley nodded.",
    "Anselm stood before the gate of Brightwater and drew a letter from his pocket. The porter let him in.",
)


@pytest.mark.parametrize("draft", [*CLEAN_ZH, *CLEAN])
def test_clean_drafts_stay_clean(draft: str) -> None:
    """Beside notes of both kinds nothing is found where nothing is wrong."""
    notes = (HELD_ZH, "林啸天一直在青阳镇，从未离开。")
    assert noted(draft, *(notes if "。" in draft else (HELD, "Captain Varley never leaves Harrowgate."))) == []
