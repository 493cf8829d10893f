"""What rules and a model found, concluded: ids, order, waivers, and nothing of later."""

from typing import Any

from novelgen.checking.findings import conclude, evidence_before
from novelgen.models.continuity import ContinuityEvidence, ContinuityFinding
from novelgen.models.position import StoryPosition

HERE = StoryPosition(3, 1)


def told(chapter: int | None, scene: int | None = 1, text: str = "Ben drowned.") -> ContinuityEvidence:
    """Return evidence of a place."""
    return ContinuityEvidence(source_id="M1", chapter_index=chapter, scene_index=scene, text=text)


def finding(quote: str = "Ben waved", start: int = 0, **fields: Any) -> ContinuityFinding:
    """Return a finding with evidence of chapter 2."""
    given = {
        "kind": "dead_or_absent",
        "draft_quote": quote,
        "draft_span": (start, start + len(quote)),
        "message": "Ben is dead.",
        "evidence": [told(2)],
    }
    return ContinuityFinding.model_validate({**given, **fields})


def test_the_worst_comes_first() -> None:
    """Severity counts before confidence, and confidence before the place in the draft."""
    found = [
        finding("low", 0, severity="low"),
        finding("late", 40, severity="high"),
        finding("unsure", 20, severity="high", confidence=0.5),
        finding("early", 30, severity="high"),
    ]
    issues = conclude(found, as_of=HERE, waivers={}).findings
    assert [each.draft_quote for each in issues] == ["early", "late", "unsure", "low"]


def test_evidence_of_the_scene_itself_or_later_is_none() -> None:
    """A finding that rests on nothing else is dropped; canon without a place counts."""
    later = finding("later", 0, evidence=[told(3), told(9)])
    both = finding("both", 20, evidence=[told(3), told(2), told(None, None)])
    [kept] = conclude([later, both], as_of=HERE, waivers={}).findings
    assert kept.draft_quote == "both"
    assert [each.chapter_index for each in kept.evidence] == [2, None]
    assert evidence_before([told(3), told(2, 9)], HERE) == [told(2, 9)]


def test_one_place_of_the_draft_is_told_of_once() -> None:
    """The surest finding stays, with the evidence of all that overlap with it; other words are another finding."""
    model = [
        finding("Ben waved", 0, kind="invented", confidence=0.9, evidence=[told(1, text="Ben sank.")]),
        finding("the lamp", 40),
    ]
    longer = finding("Ben waved and", 0, confidence=0.8)
    waved, lamp = conclude([longer, *model], as_of=HERE, waivers={}).findings[::-1]
    assert waved.kind == "invented"
    assert [each.chapter_index for each in waved.evidence] == [1, 2]
    assert lamp.draft_quote == "the lamp"
    # Neighbours that share less than half of the shorter stay two.
    assert len(conclude([finding("Ben waved", 0), finding("waved and he", 6)], as_of=HERE, waivers={}).findings) == 2


def test_what_is_waived_hides_nothing_else() -> None:
    """It stands apart while words and evidence stand; another finding at the same place is told."""
    longer = finding("Ben waved and", 0)
    [first] = conclude([longer], as_of=HERE, waivers={}).findings
    other = finding("waved", 4, kind="invented", confidence=0.5, evidence=[told(1)])
    told_of = conclude([longer, other], as_of=HERE, waivers={first.finding_id: ""})
    assert [(each.kind, len(each.evidence)) for each in told_of.findings] == [("invented", 1)]
    assert [each.kind for each in told_of.waived] == ["dead_or_absent"]
    [first] = conclude([finding()], as_of=HERE, waivers={}).findings
    waived = {first.finding_id: "a ghost"}
    moved = conclude([finding(start=90)], as_of=HERE, waivers=waived)
    assert (moved.findings, [each.waived_note for each in moved.waived]) == ([], ["a ghost"])
    changed = conclude([finding(evidence=[told(2, text="Ben burnt.")])], as_of=HERE, waivers=waived)
    assert (len(changed.findings), changed.waived) == (1, [])
