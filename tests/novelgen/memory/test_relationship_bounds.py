"""How far a scene may move a relationship."""

from typing import get_args

import pytest

from novelgen.models.state import DELTA_BOUNDS, RelationshipDimension
from novelgen.reading.change_reading import moved
from novelgen.reading.model_record import ModelDimensionChange

DIMENSIONS: tuple[RelationshipDimension, ...] = get_args(RelationshipDimension)


@pytest.mark.parametrize(
    ("dimension", "proposed", "kept"),
    [("trust", 40, 15), ("trust", -15, -15), ("affection", 11, 10), ("fear", -99, -10), ("familiarity", 3, 3)],
)
def test_proposals_are_clamped(dimension: RelationshipDimension, proposed: int, kept: int) -> None:
    """A model cannot move a dimension farther than a scene may."""
    assert moved(dimension, 0, proposed, on_entering=0) == kept


@pytest.mark.parametrize("dimension", DIMENSIONS)
def test_the_model_is_told_the_bounds(dimension: RelationshipDimension) -> None:
    """What the schema says is what the store holds to."""
    told = ModelDimensionChange.model_json_schema()["properties"]["change"]["description"]
    assert f"{dimension} {DELTA_BOUNDS[dimension]}" in told
