"""Summaries that a person or a model wrote, and whether they still tell what the scenes say."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import Any, Literal

from pydantic import BaseModel
from sqlalchemy import bindparam, select

from novelgen.models.position import END_OF_STORY, StoryPosition, UtcDatetime
from novelgen.records.summaries import NumberedPart, WrittenSummary
from runtime.storage.cuts import before, story_order
from runtime.storage.scene_order import ScenePlace
from runtime.storage.session import StorageSession, own_rows
from runtime.storage.tables import SCENES, SUMMARIES

SummaryLevel = Literal["chapter", "part"]
SummaryWriter = Literal["author", "model"]


class StoredSummary(BaseModel):
    """A written summary as it is stored."""

    level: SummaryLevel
    number: int
    first_chapter: int
    last_chapter: int
    text: str
    origin: SummaryWriter
    source_hash: str = ""
    is_withheld: bool = False
    written_at: UtcDatetime


class StandingSummary(BaseModel):
    """A written summary, and how it stands to the scenes that it sums up.

    `current` tells what they say now; `outdated` was written before they changed: a person's is used all the
    same, a model's is not; of a `withheld` one scenes went elsewhere, and it is not used.
    """

    summary: StoredSummary
    standing: Literal["current", "outdated", "withheld"]

    @property
    def is_used(self) -> bool:
        """Whether it stands in the place of a made summary."""
        return self.standing == "current" or (self.standing == "outdated" and self.summary.origin == "author")


class SummaryRepository:
    """Writes and reads summaries.

    Args:
        session: The transaction to work in.
    """

    def __init__(self, session: StorageSession) -> None:
        self._session = session

    def write(
        self,
        project_id: str,
        level: SummaryLevel,
        number: int,
        text: str,
        *,
        chapters: tuple[int, int],
        origin: SummaryWriter,
    ) -> None:
        """Store a summary in place of those of the same chapter or part; an empty text only takes them away.

        A model's takes the place of a model's only: a person's stays, and is told while it is not withheld.

        Args:
            project_id: The project.
            level: chapter or part.
            number: The chapter, or the number of the part.
            text: The summary.
            chapters: First and last chapter that it sums up.
            origin: Who wrote it.

        Raises:
            UnknownProjectError: When no project of that id is stored.
        """
        self._session.touch(project_id)
        replaced = SUMMARIES.delete().where(
            SUMMARIES.c.project_id == project_id,
            SUMMARIES.c.level == level,
            SUMMARIES.c.number == number,
        )
        self._session.run(replaced if origin == "author" else replaced.where(SUMMARIES.c.origin == origin))
        if text.strip():
            summary = StoredSummary(
                level=level,
                number=number,
                first_chapter=chapters[0],
                last_chapter=chapters[1],
                text=" ".join(text.split()),
                origin=origin,
                source_hash=self.source_hash(project_id, *chapters),
                written_at=self._session.now(),
            )
            self.add(project_id, [summary])

    def add(self, project_id: str, summaries: Sequence[StoredSummary]) -> None:
        """Store summaries as they are, beside what is there."""
        self._session.insert(
            SUMMARIES, [each.model_dump() | {"project_id": project_id} for each in summaries]
        )

    def source_hash(self, project_id: str, first_chapter: int, last_chapter: int) -> str:
        """Return one hash of what the scenes of chapters hold."""
        return source_hash(scene_hashes(self._session, project_id), first_chapter, last_chapter)

    def events(self, project_id: str, first_chapter: int, last_chapter: int) -> list[str]:
        """Return what the records of chapters tell, in story order: key events, else the summary's bullets."""
        statement = (
            select(SCENES.c.record)
            .where(
                SCENES.c.project_id == project_id, SCENES.c.chapter_index.between(first_chapter, last_chapter)
            )
            .order_by(*story_order(SCENES))
        )
        records = [row[0] or {} for row in self._session.rows(statement)]
        return [
            bullet
            for record in records
            for bullet in (record.get("key_events") or record.get("summary") or ())
            if bullet.strip()
        ]

    def list_as_of(self, project_id: str, *, as_of: StoryPosition = END_OF_STORY) -> list[StandingSummary]:
        """Return the written summaries of what is over at a position, chapters first, each level in order."""
        stored = stored_summaries(self._session, project_id, as_of)
        hashes = scene_hashes(self._session, project_id) if stored else {}
        return [StandingSummary(summary=each, standing=_standing(each, hashes)) for each in stored]

    def used(
        self, project_id: str, parts: Sequence[NumberedPart], *, as_of: StoryPosition
    ) -> dict[SummaryLevel, dict[int, WrittenSummary]]:
        """Return the written summaries that stand at a position, by level and number.

        That of a part counts only while the part has the chapters that it was written of: others may lie ahead.
        """
        chapters_of = {part.number: (part.first_chapter, part.last_chapter) for part in parts}
        used: dict[SummaryLevel, dict[int, WrittenSummary]] = {"chapter": {}, "part": {}}
        for each in self.list_as_of(project_id, as_of=as_of):
            summary = each.summary
            is_whole = summary.level == "chapter" or chapters_of.get(summary.number) == (
                summary.first_chapter,
                summary.last_chapter,
            )
            known = used[summary.level].get(summary.number)
            is_free = known is None or known.origin != "author"
            if each.is_used and is_whole and is_free:
                used[summary.level][summary.number] = WrittenSummary(text=summary.text, origin=summary.origin)
        return used


def stored_summaries(
    session: StorageSession, project_id: str, as_of: StoryPosition = END_OF_STORY
) -> list[StoredSummary]:
    """Return the written summaries whose last chapter is over at a position, chapters first, in order."""
    statement = (
        select(SUMMARIES)
        .where(SUMMARIES.c.project_id == project_id)
        .order_by(SUMMARIES.c.level, SUMMARIES.c.number, SUMMARIES.c.row_id)
    )
    if as_of.chapter_index is not None:
        statement = statement.where(SUMMARIES.c.last_chapter < as_of.chapter_index)
    rows = own_rows(session.rows(statement), project_id)
    return [StoredSummary.model_validate(row, from_attributes=True) for row in rows]


def scene_hashes(session: StorageSession, project_id: str) -> dict[ScenePlace, str]:
    """Return what each scene of a project holds, as a hash, in story order."""
    statement = (
        select(SCENES.c.chapter_index, SCENES.c.scene_index, SCENES.c.text_hash, SCENES.c.content_hash)
        .where(SCENES.c.project_id == project_id, before(END_OF_STORY, SCENES))
        .order_by(*story_order(SCENES))
    )
    return {(row[0], row[1]): f"{row[2]} {row[3]}" for row in session.rows(statement)}


def source_hash(hashes: Mapping[ScenePlace, str], first_chapter: int, last_chapter: int) -> str:
    """Return one hash of all scenes from the first to the last chapter, in order, wherever the chapters stand."""
    digest = sha256()
    for (chapter_index, _), held in hashes.items():
        if first_chapter <= chapter_index <= last_chapter:
            digest.update(f"{held}\n".encode())
    return digest.hexdigest()[:32]


def move_summaries(session: StorageSession, project_id: str, places: Mapping[ScenePlace, ScenePlace]) -> None:
    """Let written summaries follow scenes that move: before they do.

    That of a chapter goes with the chapter when it moves as one. Where scenes leave what was summed up, the
    summary tells what may now lie ahead, and where it is gone and others take its place, what never was: it is
    withheld until it is written again.

    Args:
        session: A writing session.
        project_id: The project.
        places: Old places to new ones, of the scenes that move.
    """
    all_places = {place: places.get(place, place) for place in scene_hashes(session, project_id)}
    statement = select(SUMMARIES).where(SUMMARIES.c.project_id == project_id, ~SUMMARIES.c.is_withheld)
    moved = [
        {"moved_row": row.row_id} | change
        for row in session.rows(statement)
        if (change := _after_move(row, all_places)) is not None
    ]
    if moved:
        update = SUMMARIES.update().where(SUMMARIES.c.row_id == bindparam("moved_row"))
        values: dict[str, Any] = {name: bindparam(f"new_{name}") for name in _MOVED_COLUMNS}
        session.run(update.values(values), moved)


_MOVED_COLUMNS = ("number", "first_chapter", "last_chapter", "is_withheld")


def _after_move(row: Any, places: Mapping[ScenePlace, ScenePlace]) -> dict[str, Any] | None:
    """The new values of a summary's columns; None where nothing that it sums up leaves, or is gone for others."""
    chapters = range(row.first_chapter, row.last_chapter + 1)
    reached = {new[0] for old, new in places.items() if old[0] in chapters}
    is_taken = any(new[0] in chapters for new in places.values())
    if all(chapter in chapters for chapter in reached) and (reached or not is_taken):
        return None
    if row.level == "chapter" and len(reached) == 1:
        (target,) = reached
        if all(old[0] == row.number for old, new in places.items() if new[0] == target):
            return _moved_columns(target, target, target, False)
    return _moved_columns(row.number, row.first_chapter, row.last_chapter, True)


def _moved_columns(*values: int) -> dict[str, int]:
    return {f"new_{name}": value for name, value in zip(_MOVED_COLUMNS, values, strict=True)}


def _standing(
    summary: StoredSummary, hashes: Mapping[ScenePlace, str]
) -> Literal["current", "outdated", "withheld"]:
    if summary.is_withheld:
        return "withheld"
    now = source_hash(hashes, summary.first_chapter, summary.last_chapter)
    return "current" if now == summary.source_hash else "outdated"
