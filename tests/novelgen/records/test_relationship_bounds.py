"""How far a scene may move a relationship."""

from __future__ import annotations

from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from novelgen.extraction.answer_reading import (
    DELTA_BOUNDS,
    DIMENSION_RANGES,
    clamp_deltas,
    dimensions_after,
)
from novelgen.models.state import RelationshipDimension

DIMENSIONS: tuple[RelationshipDimension, ...] = get_args(RelationshipDimension)


def test_every_dimension_is_bounded() -> None:
    """The tables know all dimensions."""
    assert set(DELTA_BOUNDS) == set(DIMENSION_RANGES) == set(DIMENSIONS)


@pytest.mark.parametrize(
    ("dimension", "proposed", "kept"),
    [
        ("trust", 40, 15),
        ("trust", -15, -15),
        ("affection", 11, 10),
        ("fear", -99, -10),
        ("familiarity", 3, 3),
    ],
)
def test_proposals_are_clamped(dimension: RelationshipDimension, proposed: int, kept: int) -> None:
    """A model cannot move a dimension farther than a scene may."""
    assert clamp_deltas({dimension: proposed}) == {dimension: kept}


@given(
    st.dictionaries(st.sampled_from(DIMENSIONS), st.integers(-100, 100)),
    st.dictionaries(st.sampled_from(DIMENSIONS), st.integers()),
)
def test_results_stay_in_range_and_near(
    before: dict[RelationshipDimension, int], deltas: dict[RelationshipDimension, int]
) -> None:
    """Whatever is proposed, values stay in their range, and only moved dimensions are returned."""
    after = dimensions_after(before, deltas)
    assert set(after) == {name for name, delta in deltas.items() if delta}
    for name, value in after.items():
        lowest, highest = DIMENSION_RANGES[name]
        assert lowest <= value <= highest
        assert abs(value - max(lowest, before.get(name, 0))) <= DELTA_BOUNDS[name]
