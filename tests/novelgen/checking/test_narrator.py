"""Who says I in a draft is who says I in the scenes before it."""

from novelgen.checking.story import read_draft
from tests.novelgen.checking.small_story import CHINESE, ENGLISH, found, state, told

I_TELL = "I went down to the harbour. Anselm was waiting there, and I gave him the lamp. I said nothing."
I_TELL_ZH = "我下了码头。陆青崖等在那里，我把灯交给他。我什么也没有说。"
STAGE = [(1, "C0 C1"), (2, "C0 C1 C3"), (3, "C0 C1")]


def test_who_is_on_stage_and_never_named_says_i() -> None:
    """A draft in the third person has no narrator, nor after scenes of it, too few, or with two unnamed."""
    draft = "I lit the stove. “Sit down,” said I, and I sat myself."
    read = read_draft(draft, told(ENGLISH, on_stage=STAGE, text=I_TELL))
    assert (read.narrator_id, read.speeches[0].speaker_id) == ("C1", "C1")
    assert read_draft("我点上炉子，我坐下了。", told(CHINESE, on_stage=STAGE, text=I_TELL_ZH)).narrator_id == "C1"
    told_by_her = told(ENGLISH, on_stage=STAGE, text=I_TELL)
    assert read_draft("Anselm lit the stove. “I am cold,” he said.", told_by_her).narrator_id is None
    draft = "I lit the stove, and I sat down."
    assert read_draft(draft, told(ENGLISH, on_stage=STAGE, text="Anselm waited.")).narrator_id is None
    assert read_draft(draft, told(ENGLISH, on_stage=STAGE[:2], text=I_TELL)).narrator_id is None
    both = [(chapter, "C0 C1 C3") for chapter in (1, 2, 3)]
    assert read_draft(draft, told(ENGLISH, on_stage=both, text=I_TELL)).narrator_id is None


def test_what_the_narrator_has_is_with_the_narrator() -> None:
    """I draw what somebody else holds: a finding; what I hold: none."""
    draft = "I lit the stove. Then I drew the brass astrolabe from my own satchel, and I laid it down."
    with_pym = told(ENGLISH, on_stage=STAGE, text=I_TELL, changes=[state("I0", "holder", "C3")])
    with_me = told(ENGLISH, on_stage=STAGE, text=I_TELL, changes=[state("I0", "holder", "C1")])
    assert [each.rule for each in found(draft, with_pym)] == ["wrong_hands"]
    assert found(draft, with_me) == []
