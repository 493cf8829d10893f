"""How far a scene may move a relationship."""

from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from novelgen.models.state import DELTA_BOUNDS, DIMENSION_RANGES, RelationshipDimension
from novelgen.reading.change_reading import moved
from novelgen.reading.model_record import ModelDimensionChange

DIMENSIONS: tuple[RelationshipDimension, ...] = get_args(RelationshipDimension)


def test_every_dimension_is_bounded() -> None:
    """The tables know all dimensions."""
    assert set(DELTA_BOUNDS) == set(DIMENSION_RANGES) == set(DIMENSIONS)


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


@given(st.sampled_from(DIMENSIONS), st.integers(-100, 100), st.lists(st.integers(), max_size=4))
def test_results_stay_in_range_and_near(dimension: RelationshipDimension, before: int, deltas: list[int]) -> None:
    """Whatever is proposed, in however many steps, a value stays in its range and near where it was."""
    lowest, highest = DIMENSION_RANGES[dimension]
    entered = max(lowest, before)
    value = entered
    for delta in deltas:
        value = moved(dimension, value, delta, on_entering=entered)
        assert lowest <= value <= highest
        assert abs(value - entered) <= DELTA_BOUNDS[dimension]
