"""The SQL cut is the cut of StoryPosition."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy import Column, Integer, MetaData, Table, create_engine, select

from novelgen.models.position import StoryPosition
from runtime.storage.session import before, story_order

INDEX = st.integers(0, 4)
PLACE = st.one_of(st.just((None, None)), st.tuples(INDEX, st.none()), st.tuples(INDEX, INDEX))
THINGS = Table(
    "things",
    MetaData(),
    Column("number", Integer, primary_key=True),
    Column("chapter_index", Integer),
    Column("scene_index", Integer),
)


@settings(deadline=None, max_examples=200)
@given(places=st.lists(PLACE, min_size=1, max_size=12), cut=PLACE)
def test_cut_keeps_exactly_the_rows_that_the_position_admits(
    places: list[tuple[int | None, int | None]], cut: tuple[int | None, int | None]
) -> None:
    """For every kind of position, and rows with a chapter, a scene or neither, SQL and Python agree."""
    engine = create_engine("sqlite://")
    as_of = StoryPosition(*cut)
    with engine.begin() as connection:
        THINGS.create(connection)
        rows = [
            {"number": number, "chapter_index": place[0], "scene_index": place[1]}
            for number, place in enumerate(places)
        ]
        connection.execute(THINGS.insert(), rows)
        kept = set(connection.scalars(select(THINGS.c.number).where(before(as_of, THINGS))))
    engine.dispose()

    assert kept == {number for number, place in enumerate(places) if as_of.admits(*place)}


@pytest.mark.parametrize("negate", [False, True])
def test_cut_is_true_or_false_but_never_unknown(negate: bool) -> None:
    """A row with a chapter alone is refused by the cut and accepted by its negation, not lost to both."""
    engine = create_engine("sqlite://")
    condition = before(StoryPosition(3, 2), THINGS)
    with engine.begin() as connection:
        THINGS.create(connection)
        connection.execute(THINGS.insert(), [{"number": 1, "chapter_index": 3, "scene_index": None}])
        kept = list(connection.scalars(select(THINGS.c.number).where(~condition if negate else condition)))
    engine.dispose()

    assert kept == ([1] if negate else [])


def test_story_order_puts_what_has_no_position_first() -> None:
    """Canon comes before chapters, and a chapter as a whole before its scenes."""
    engine = create_engine("sqlite://")
    places = [(2, 1), (None, None), (1, 3), (2, None), (1, 0)]
    with engine.begin() as connection:
        THINGS.create(connection)
        rows = [
            {"number": number, "chapter_index": place[0], "scene_index": place[1]}
            for number, place in enumerate(places)
        ]
        connection.execute(THINGS.insert(), rows)
        found = connection.execute(
            select(THINGS.c.chapter_index, THINGS.c.scene_index).order_by(*story_order(THINGS))
        ).all()
    engine.dispose()

    assert [tuple(row) for row in found] == [(None, None), (1, 0), (1, 3), (2, None), (2, 1)]
