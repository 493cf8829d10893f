"""The author's notes by the scene of which they are facts."""

from collections.abc import Iterator, Sequence

from sqlmodel import col

from novelgen.models.memory import scene_of_note
from novelgen.models.position import StoryPosition
from runtime.storage.columns import PLACE, MemoryStatus, ScenePlace
from runtime.storage.records import MemoryRow, Scene
from runtime.storage.session import AnyRow, StorageSession, before, columns_of

_COLUMNS = ("row_id", "chapter_index", "scene_index", "scene_id", "span_start", "verified")


def placed_notes(
    session: StorageSession, as_of: StoryPosition, statuses: Sequence[MemoryStatus]
) -> Iterator[tuple[AnyRow, ScenePlace]]:
    """Yield the columns of each note that has a place before a position, with its scene before that position."""
    rows = session.select(
        columns_of(MemoryRow, _COLUMNS),
        MemoryRow.content_type == "note",
        col(MemoryRow.status).in_(statuses),
        col(MemoryRow.chapter_index).is_not(None),
        before(as_of, MemoryRow),
    )
    if not rows:
        return
    scene_columns = columns_of(Scene, PLACE)
    places = [(row[0], row[1]) for row in session.select(scene_columns, before(as_of, Scene), order=scene_columns)]
    for row in rows:
        # Words prove a note by the scene at its place alone.
        is_of_scene = row.scene_id is not None or row.span_start is not None
        scene = scene_of_note(row.chapter_index, row.scene_index, is_of_scene=is_of_scene, scenes=places)
        if scene is not None:
            yield row, scene
