"""Words of a model that say the same."""

import pytest

from novelgen.checking.judging import ModelFinding, read_kind
from novelgen.models.continuity import CONTINUITY_KINDS


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
