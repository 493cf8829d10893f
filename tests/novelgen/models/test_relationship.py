"""How two characters stand, from either side."""

import pytest
from pydantic import ValidationError

from novelgen.models.record import RecordedRelationshipChange
from novelgen.models.state import Relationship


def test_each_side_has_its_own_view() -> None:
    """What one thinks of the other is not what the other thinks of the one."""
    relation = Relationship(
        relationship_id="R0",
        character_a="C0",
        character_b="C1",
        perspective_a="he hides something",
        perspective_b="she asks too much",
        dimensions={"trust": -20},
    )
    elena, marcus = relation.seen_by("C0"), relation.seen_by("C1")
    assert (elena.character_id, elena.your_view, elena.their_view) == ("C1", "he hides something", "she asks too much")
    assert (marcus.character_id, marcus.your_view, marcus.their_view) == (
        "C0",
        "she asks too much",
        "he hides something",
    )
    assert marcus.dimensions == {"trust": -20}


@pytest.mark.parametrize(("name", "value"), [("trust", 101), ("fear", -101), ("familiarity", -1), ("familiarity", 101)])
def test_dimensions_have_bounds(name: str, value: int) -> None:
    """Nobody trusts by more than a hundred, and nobody is less than a stranger."""
    with pytest.raises(ValidationError, match=f"{name}={value} is not from"):
        RecordedRelationshipChange.model_validate(
            {"character_a": "C0", "character_b": "C1", "dimensions": {name: value}}
        )


def test_the_ends_of_the_ranges_are_allowed() -> None:
    """The bounds belong to the range."""
    change = RecordedRelationshipChange.model_validate(
        {"character_a": "C0", "character_b": "C1", "dimensions": {"trust": -100, "familiarity": 100}}
    )
    assert change.dimensions == {"trust": -100, "familiarity": 100}
