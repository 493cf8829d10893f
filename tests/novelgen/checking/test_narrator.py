"""Who says I in a draft is who says I in the scenes before it."""

from novelgen.checking.story import read_draft
from tests.novelgen.checking.small_story import CHINESE, ENGLISH, told

I_TELL = "I went down to the harbour. Anselm was waiting there, and I gave him the lamp. I said nothing."
I_TELL_ZH = "我下了码头。陆青崖等在那里，我把灯交给他。我什么也没有说。"
STAGE = [(1, "C0 C1"), (2, "C0 C1 C3"), (3, "C0 C1")]


def test_who_is_on_stage_and_never_named_says_i() -> None:
    """A draft in the third person has no narrator, nor after scenes of it, too few, or with two unnamed."""
    draft = "I lit the stove. “Sit down,” said I, and I sat myself."
    assert read_draft(draft, told(ENGLISH, on_stage=STAGE, text=I_TELL)).narrator_id == "C1"
    assert read_draft("我点上炉子，我坐下了。", told(CHINESE, on_stage=STAGE, text=I_TELL_ZH)).narrator_id == "C1"
    told_by_her = told(ENGLISH, on_stage=STAGE, text=I_TELL)
    assert read_draft("Anselm lit the stove. “I am cold,” he said.", told_by_her).narrator_id is None
    draft = "I lit the stove, and I sat down."
    assert read_draft(draft, told(ENGLISH, on_stage=STAGE, text="Anselm waited.")).narrator_id is None
    assert read_draft(draft, told(ENGLISH, on_stage=STAGE[:2], text=I_TELL)).narrator_id is None
    both = [(chapter, "C0 C1 C3") for chapter in (1, 2, 3)]
    assert read_draft(draft, told(ENGLISH, on_stage=both, text=I_TELL)).narrator_id is None
