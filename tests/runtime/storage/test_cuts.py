"""The SQL cut is the cut of StoryPosition."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import product
from typing import ClassVar

from sqlalchemy import Connection, MetaData, create_engine, insert, select
from sqlmodel import Field, SQLModel

from novelgen.models.position import StoryPosition
from runtime.storage.session import before, story_order, within

PLACES = [(None, None), *product(range(5), (None, *range(5)))]


class Thing(SQLModel, table=True):
    """Something with a place in the story."""

    metadata: ClassVar[MetaData] = MetaData()
    number: int | None = Field(default=None, primary_key=True)
    chapter_index: int | None = None
    scene_index: int | None = None


@contextmanager
def _stored(places: Sequence[tuple[int | None, int | None]]) -> Iterator[Connection]:
    """A database with things at these places, numbered in their order."""
    engine = create_engine("sqlite://")
    with engine.begin() as connection:
        Thing.metadata.create_all(connection)
        rows = [{"number": number, "chapter_index": at[0], "scene_index": at[1]} for number, at in enumerate(places)]
        connection.execute(insert(Thing), rows)
        yield connection
    engine.dispose()


def test_cut_keeps_exactly_the_rows_that_the_position_admits() -> None:
    """SQL and Python agree on rows with a chapter, a scene or neither; what is not admitted is in the negation."""
    with _stored(PLACES) as connection:
        for cut in PLACES:
            condition = before(StoryPosition(*cut), Thing)
            kept, left = (
                [PLACES[number] for number in connection.scalars(select(Thing.number).where(each))]
                for each in (condition, ~condition)
            )

            assert kept == [place for place in PLACES if StoryPosition(*cut).admits(*place)]
            assert set(left) == set(PLACES).difference(kept)


def test_a_stretch_keeps_the_rows_between_two_positions() -> None:
    """The lower position belongs to it, the upper one does not."""
    since, until = StoryPosition(1, 2), StoryPosition(3, 1)
    with _stored(PLACES) as connection:
        numbers = connection.scalars(select(Thing.number).where(within(since, until, Thing)))

        assert [PLACES[number] for number in numbers] == [
            place for place in PLACES if until.admits(*place) and not since.admits(*place)
        ]


def test_story_order_puts_what_has_no_position_first() -> None:
    """Canon comes before chapters, and a chapter as a whole before its scenes."""
    with _stored([(2, 1), (None, None), (1, 3), (2, None), (1, 0)]) as connection:
        found = connection.execute(select(Thing.chapter_index, Thing.scene_index).order_by(*story_order(Thing))).all()

    assert [tuple(row) for row in found] == [(None, None), (1, 0), (1, 3), (2, None), (2, 1)]
