"""Scenes, and everything that comes and goes with them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Select, select

from novelgen.errors import UnknownSceneError
from novelgen.models.position import END_OF_STORY, StoryPosition
from novelgen.models.record import SceneRecord
from runtime.storage.cuts import before
from runtime.storage.records import ExtractionStatus, SceneWrite, SceneWriteResult, StoredScene
from runtime.storage.scene_moves import relocate, scene_places
from runtime.storage.scene_order import (
    Relocation,
    ScenePlace,
    chapter_gap,
    chapter_move,
    renumbering,
    require_place,
    scene_gap,
    scene_move,
)
from runtime.storage.scene_writer import SceneWriter
from runtime.storage.session import AnyRow, StorageSession
from runtime.storage.tables import SCENES


class SceneRepository:
    """Writes, reads, moves and deletes scenes; each method is one step of the running transaction.

    Args:
        session: The transaction to work in.
    """

    def __init__(self, session: StorageSession) -> None:
        self._session = session

    def replace_scene(self, write: SceneWrite) -> SceneWriteResult:
        """Store a scene and all that it brings, in place of what came from the scene at that position.

        Withdrawn are the scene's memories, states, loop events, relationship changes, mentions and links, and
        nothing else. A memory with a known id and the same content keeps its vector and is not queued for
        the index. What an author edited, pinned, banned, deleted or noted stays as it is.

        Returns:
            The scene's id and what happened to its memories.

        Raises:
            UnknownProjectError: When no project of that id is stored.
            UserInputError: When a memory's id is taken by another scene or comes twice.
        """
        return SceneWriter(self._session).replace(write)

    def delete_scene(self, at: StoryPosition) -> list[str]:
        """Delete a scene with everything that came from it; notes of an author at its position stay.

        Returns:
            The ids of the memories that went with it, in order.

        Raises:
            UnknownSceneError: When no scene stands there.
        """
        scene = self.require(at)
        writer = SceneWriter(self._session)
        removed = writer.withdraw_chunks(scene.scene_id)
        writer.withdraw_events(scene.scene_id)
        self._session.run(SCENES.delete().where(SCENES.c.scene_id == scene.scene_id))
        return removed

    def get(self, at: StoryPosition) -> StoredScene | None:
        """Return the scene at a position with its text, or None when none stands there."""
        statement = self._select(with_text=True).where(
            self._session.owns(SCENES),
            SCENES.c.chapter_index == at.chapter_index,
            SCENES.c.scene_index == at.scene_index,
        )
        row = self._session.connection.execute(statement).one_or_none()
        return None if row is None else _scene(row)

    def holds_id(self, scene_id: str) -> bool:
        """Tell whether a scene of any project bears that id: ids are never shared."""
        found = select(SCENES.c.scene_id).where(SCENES.c.scene_id == scene_id)
        return self._session.connection.scalar(found) is not None

    def require(self, at: StoryPosition) -> StoredScene:
        """Return the scene at a position with its text.

        Raises:
            UnknownSceneError: When none stands there.
        """
        scene = self.get(at)
        if scene is None:
            raise UnknownSceneError(
                f"no scene stands at {str(at)!r} in project {self._session.project_id!r}; "
                "list them with `novelgen scene list`"
            )
        return scene

    def list_as_of(
        self,
        *,
        as_of: StoryPosition = END_OF_STORY,
        with_text: bool = False,
        statuses: Sequence[ExtractionStatus] = (),
        last: int | None = None,
    ) -> list[StoredScene]:
        """Return the scenes before a position in story order.

        Args:
            as_of: Position of the read.
            with_text: Whether to read the texts, too.
            statuses: Only scenes of these extraction statuses; none means all.
            last: Only so many, the last ones.
        """
        statement = (
            self._select(with_text=with_text)
            .where(self._session.owns(SCENES), before(as_of, SCENES))
            .order_by(SCENES.c.chapter_index.desc(), SCENES.c.scene_index.desc())
            .limit(last)
        )
        if statuses:
            statement = statement.where(SCENES.c.extraction_status.in_(statuses))
        rows = self._session.own(self._session.rows(statement))
        return [_scene(row) for row in reversed(rows)]

    def insert_gap(self, at: StoryPosition) -> int:
        """Make room for a new scene, or with a chapter alone for a new chapter, and return how many moved."""
        places = self._places()
        if at.scene_index is None:
            return self._relocate(chapter_gap(places, _chapter(at)))
        return self._relocate(scene_gap(places, _place(at)))

    def move_scene(self, source: StoryPosition, target: StoryPosition) -> int:
        """Move a scene so that it stands at the target; the others close up and make room.

        Returns:
            How many scenes have another position than before.

        Raises:
            UnknownSceneError: When no scene stands at the source.
        """
        return self._relocate(scene_move(self._places(), _place(source), _place(target)))

    def move_chapter(self, source: int, target: int) -> int:
        """Move a chapter so that it becomes the target; the chapters between move by one.

        Returns:
            How many scenes have another position than before.

        Raises:
            UnknownSceneError: When the source chapter has no scene.
        """
        require_place((target, 0))
        return self._relocate(chapter_move(self._places(), source, target))

    def renumber(self) -> int:
        """Number the scenes of each chapter without gaps and return how many moved."""
        return self._relocate(renumbering(self._places()))

    def _places(self) -> list[ScenePlace]:
        return list(scene_places(self._session))

    def _relocate(self, relocation: Relocation) -> int:
        self._session.touch()
        return relocate(self._session, relocation)

    def _select(self, *, with_text: bool) -> Select[Any]:
        return select(*(column for column in SCENES.c if with_text or column.name != "text"))


def _place(at: StoryPosition) -> ScenePlace:
    if at.chapter_index is None or at.scene_index is None:
        raise UnknownSceneError(f"{str(at)!r} names no scene; give chapter and scene")
    return at.chapter_index, at.scene_index


def _chapter(at: StoryPosition) -> int:
    if at.chapter_index is None:
        raise UnknownSceneError(f"{str(at)!r} names no chapter; give one")
    return at.chapter_index


def _scene(row: AnyRow) -> StoredScene:
    values = dict(row._mapping)
    record = values.pop("record")
    if record is not None:
        place = {"chapter_index": row.chapter_index, "scene_index": row.scene_index}
        values["record"] = SceneRecord.model_validate(record | place)
    return StoredScene.model_validate(values)
