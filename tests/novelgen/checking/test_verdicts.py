"""Words of a model that say the same, and what evidence of several lists is shown once."""

from __future__ import annotations

import pytest

from novelgen.checking.claims import read_kind
from novelgen.checking.conclusion import merge_issues
from novelgen.checking.prompt_lists import joined_evidence
from novelgen.checking.verdicts import ModelFinding
from novelgen.models.continuity import CONTINUITY_KINDS, ContinuityEvidence, ContinuityIssue


@pytest.mark.parametrize("kind", CONTINUITY_KINDS)
def test_every_kind_is_read_as_itself(kind: str) -> None:
    """The words that the prompt offers are taken, however they are written."""
    assert read_kind(kind) == read_kind(kind.upper().replace("_", " ")) == kind


@pytest.mark.parametrize(
    ("said", "kind"),
    [
        ("wound", "injury_or_body"),
        ("date", "story_time"),
        ("Knowledge-Leak", "knowledge_leak"),
        ("称呼", "identity"),
        ("whatever", "invented"),
        (7, "invented"),
    ],
)
def test_other_words_for_a_kind_are_understood(said: object, kind: str) -> None:
    """What nobody can place is a past that never was."""
    assert read_kind(said) == kind


@pytest.mark.parametrize(
    ("said", "confidence"), [(0.9, 0.9), ("0.9", 0.9), ("90%", 0.9), (90, 0.9), ("High", 0.9), (-1, 0.0), (None, 0.7)]
)
def test_how_sure_a_model_is_may_be_said_in_many_ways(said: object, confidence: float) -> None:
    """Shares, percents and words mean the same."""
    finding = ModelFinding.model_validate({"quote": "x", "evidence": [], "confidence": said})
    assert finding.confidence == pytest.approx(confidence)


def issue(start: int, end: int, severity: str = "medium", confidence: float = 0.9) -> ContinuityIssue:
    """Return a finding about some characters of a draft."""
    return ContinuityIssue.model_validate(
        {
            "kind": "place",
            "severity": severity,
            "draft_quote": "x" * (end - start),
            "draft_span": (start, end),
            "message": "Elsewhere.",
            "confidence": confidence,
            "evidence": [{"source_id": f"M{start}", "text": "Elsewhere."}],
        }
    )


def test_findings_that_share_half_of_the_shorter_are_one() -> None:
    """Neighbours that only touch stay two; the worst comes first."""
    merged = merge_issues([issue(0, 40, "low"), issue(35, 45, "high"), issue(41, 80)])
    assert [(each.draft_span, len(each.evidence)) for each in merged] == [((35, 45), 2), ((41, 80), 1)]


def evidence(source_id: str, text: str) -> ContinuityEvidence:
    """Return a piece of evidence."""
    return ContinuityEvidence(source_id=source_id, text=text)


def test_evidence_of_several_lists_is_shown_once_the_best_of_each_in_turn() -> None:
    """A passage that overlaps one before it by half tells too little new."""
    first = [evidence("M1", "The mill burnt."), evidence("1:1", "Ada ran. Ben fell. The dog barked.")]
    second = [evidence("M2", "Ben limps."), evidence("1:1", "Ben fell. The dog barked. It rained.")]
    joined = joined_evidence([first, second])
    assert [each.text for each in joined] == ["The mill burnt.", "Ben limps.", first[1].text]


def test_evidence_without_room_makes_room_for_what_is_shorter() -> None:
    """Whole pieces within the budget."""
    long = evidence("M1", "The mill burnt to the ground in the night of the great storm. " * 5)
    short = evidence("M2", "Ben limps.")
    assert joined_evidence([[long, short]], max_tokens=20) == [short]
