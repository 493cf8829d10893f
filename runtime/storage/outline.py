"""Summaries, and the outline before a position with the mark of all before it."""

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from hashlib import sha256
from typing import Any, Literal, NamedTuple, get_args

from sqlalchemy import Text, case, cast, exists, func, literal, literal_column, select, union_all
from sqlmodel import col

from novelgen.language.extractive import gist, salient_sentences, with_whole_quotations
from novelgen.memory import outline
from novelgen.models.base import Model
from novelgen.models.entity import Entity
from novelgen.models.memory import DISTILLED_TYPES
from novelgen.models.position import END_OF_STORY, StoryPosition, packed_place
from novelgen.models.state import UNRESOLVED_STATUSES, LoopStatus
from novelgen.models.user_file import StoryPart
from runtime.storage.chunks import ConsolidationRepository
from runtime.storage.columns import WITHOUT_RECORD, ScenePlace, SummaryLevel, SummaryWriter
from runtime.storage.damage import readable_json
from runtime.storage.entities import EntityRepository
from runtime.storage.events import RelationshipRepository, ThreadRepository, stated_as_of
from runtime.storage.living_casts import CAST_FIELDS, living_casts
from runtime.storage.models import MemoryFilter
from runtime.storage.records import (
    EVENT_TABLES,
    SCENE_RECORD,
    TOUCHED_BY_HAND,
    ConsolidationSource,
    MemoryRow,
    MemoryTag,
    Scene,
    Summary,
)
from runtime.storage.session import (
    Repository,
    StorageSession,
    before,
    columns_of,
    decoded_json,
    filter_conditions,
    story_order,
    unconsolidated,
)


class StandingSummary(Model):
    """A written summary, and how it stands to the scenes that it sums up.

    `current` tells what they say now; `outdated` was written before they changed: a person's is used all the
    same, a model's is not; of a `withheld` one scenes went elsewhere, and it is not used until they are back.
    """

    summary: Summary
    standing: Literal["current", "outdated", "withheld"]

    @property
    def is_used(self) -> bool:
        """Whether it stands in the place of a made summary."""
        return self.standing == "current" or (self.standing == "outdated" and self.summary.origin == "author")


class SummaryRepository(Repository):
    """Writes and reads summaries."""

    def write(
        self, level: SummaryLevel, number: int, text: str, *, chapters: tuple[int, int], origin: SummaryWriter
    ) -> None:
        """Store a summary, replacing those of its range.

        An empty text deletes them.

        A model's takes the place of a model's only: a person's stays, and is told while it is not withheld.
        """
        self._session.touch()
        summary_conditions = [Summary.level == level, Summary.number == number]
        summary_conditions += [] if origin == "author" else [Summary.origin == origin]
        self._session.delete(Summary, *summary_conditions)
        if text.strip():
            summary_fields = {
                "level": level,
                "number": number,
                "first_chapter": chapters[0],
                "last_chapter": chapters[1],
            }
            source = {"source_hash": self.source_hash(*chapters), "written_at": self._session.now(), "origin": origin}
            self.add([Summary.model_validate(summary_fields | source | {"text": " ".join(text.split())})])

    def add(self, summaries: Sequence[Summary]) -> None:
        """Store summaries unchanged, beside existing ones."""
        self._session.add(*summaries)

    def source_hash(self, first_chapter: int, last_chapter: int) -> str:
        """Return a hash of the scenes in chapters."""
        return source_hash(scene_hashes(self._session), first_chapter, last_chapter)

    def events(self, first_chapter: int, last_chapter: int) -> list[str]:
        """Return recorded events of chapters in order: key events or bullets."""
        chapters = col(Scene.chapter_index).between(first_chapter, last_chapter)
        told_in = (SCENE_RECORD["key_events"], SCENE_RECORD["summary"])
        rows = self._session.select([col(Scene.scene_id), *told_in], chapters, order=story_order(Scene))
        lines = (row[1] or row[2] or () for row in rows)
        return [bullet for bullets in lines for bullet in bullets if bullet.strip()]

    def list_as_of(self, *, as_of: StoryPosition = END_OF_STORY) -> list[StandingSummary]:
        """Return finished ranges' written summaries at a position, chapters first."""
        stored_items = stored_summaries(self._session, as_of)
        hashes = scene_hashes(self._session) if stored_items else {}
        summaries = []
        for summary in stored_items:
            is_current = summary.source_hash == source_hash(hashes, summary.first_chapter, summary.last_chapter)
            standing_text = "current" if is_current else "withheld" if summary.is_withheld else "outdated"
            summaries.append(StandingSummary.model_validate({"summary": summary, "standing": standing_text}))
        return summaries

    def used(
        self, parts: Sequence[outline.NumberedPart], *, as_of: StoryPosition
    ) -> dict[SummaryLevel, dict[int, outline.WrittenSummary]]:
        """Return the written summaries that stand at a position, by level and number.

        That of a part counts only while the part has the chapters that it was written of: others may lie ahead.
        """
        if Summary not in _tables_of_authors(self._session, as_of):
            return {"chapter": {}, "part": {}}
        chapters_of = {part.number: (part.first_chapter, part.last_chapter) for part in parts}
        summaries_by_level: dict[SummaryLevel, dict[int, outline.WrittenSummary]] = {"chapter": {}, "part": {}}
        for other_summary in self.list_as_of(as_of=as_of):
            summary = other_summary.summary
            chapters = (summary.first_chapter, summary.last_chapter)
            is_whole = summary.level == "chapter" or chapters_of.get(summary.number) == chapters
            known_written_summary = summaries_by_level[summary.level].get(summary.number)
            is_free = known_written_summary is None or known_written_summary.origin != "author"
            if other_summary.is_used and is_whole and is_free:
                summaries_by_level[summary.level][summary.number] = outline.WrittenSummary(
                    text=summary.text, origin=summary.origin
                )
        return summaries_by_level


def stored_summaries(session: StorageSession, as_of: StoryPosition = END_OF_STORY) -> list[Summary]:
    """Return the written summaries finished at a position, chapters first."""
    over = [] if as_of.chapter_index is None else [Summary.last_chapter < as_of.chapter_index]
    order = [col(Summary.level), col(Summary.number), col(Summary.row_id)]
    return session.once(("summaries", as_of.chapter_index), lambda: session.read(Summary, *over, order=order))


def scene_hashes(session: StorageSession) -> dict[ScenePlace, str]:
    """Return each scene's content hash, in story order."""
    columns = columns_of(Scene, ("chapter_index", "scene_index", "text_hash", "content_hash"))
    rows = session.select(columns, order=story_order(Scene))
    return {(row[0], row[1]): f"{row[2]} {row[3]}" for row in rows}


def source_hash(hashes: Mapping[ScenePlace, str], first_chapter: int, last_chapter: int) -> str:
    """Return one hash of all scenes from the first to the last chapter, in order, wherever the chapters stand."""
    digest = sha256()
    for (chapter_index, _), buffer in hashes.items():
        if first_chapter <= chapter_index <= last_chapter:
            digest.update(f"{buffer}\n".encode())
    return digest.hexdigest()[:32]


def move_summaries(session: StorageSession, places: Mapping[ScenePlace, ScenePlace]) -> None:
    """Let written summaries follow scenes that move: before they do.

    That of a chapter goes with the chapter when it moves as one. Where scenes leave what was summed up, the
    summary tells what may now lie ahead, and where it is gone and others take its place, what never was: it is
    withheld until it is written again.
    """
    all_places = {place: places.get(place, place) for place in scene_hashes(session)}
    moved_places = [
        (row.row_id, change)
        for row in session.read(Summary, ~col(Summary.is_withheld))
        if (change := _after_move(row, all_places)) is not None
    ]
    session.update_each(Summary.row_id, moved_places)


def _after_move(row: Any, places: Mapping[ScenePlace, ScenePlace]) -> dict[str, Any] | None:
    """The new columns of a moved summary, None if its scenes changed."""
    chapters = range(row.first_chapter, row.last_chapter + 1)
    reached_numbers = {new[0] for old, new in places.items() if old[0] in chapters}
    is_taken = any(new[0] in chapters for new in places.values())
    if all(chapter in chapters for chapter in reached_numbers) and (reached_numbers or not is_taken):
        return None
    if row.level == "chapter" and len(reached_numbers) == 1:
        (target,) = reached_numbers
        if all(old[0] == row.number for old, new in places.items() if new[0] == target):
            return {"number": target, "first_chapter": target, "last_chapter": target}
    return {"is_withheld": True}


MAX_CHAPTERS = 12
"""Of a part that is not over at most so many chapters are summed up, the last ones."""

RECENT_PARTS = 3
"""How many of the last parts that are over are summed up."""


class StorySummaries(NamedTuple):
    """Summaries at a position, oldest first."""

    chapters: list[outline.ChapterSummary]
    parts: list[outline.PartSummary]


def read_summaries(
    session: StorageSession,
    as_of: StoryPosition,
    *,
    chapters_per_part: int = outline.CHAPTERS_PER_PART,
    is_whole_story: bool = False,
    chapters: Sequence[int] | None = None,
) -> StorySummaries:
    """Summarise the finished ranges at a position.

    Args:
        session: The project's transaction.
        as_of: The position.
        chapters_per_part: Length of a part where the author says nothing.
        is_whole_story: Take all ranges, not the last ones alone.
        chapters: The stored chapters before that of the position, in order; None reads them.
    """
    if chapters is None:
        chapter, over = col(Scene.chapter_index), before(StoryPosition(as_of.chapter_index), Scene)
        chapters = [row[0] for row in session.select([chapter], over, group=[chapter], order=[chapter])]
    known_items = list(chapters)
    last_chapter = max(known_items, default=-1)
    parts = read_parts(session, last_chapter=last_chapter, chapters_per_part=chapters_per_part)
    finished = outline.finished_parts(parts, as_of=as_of, last_chapter=last_chapter)
    recent_parts = finished if is_whole_story else finished[-RECENT_PARTS:]
    # The chapters of the part that is not over, and the last ones whatever part they are in.
    told_chapters = known_items if is_whole_story else known_items[-MAX_CHAPTERS:]
    if not is_whole_story:
        recent = known_items[-outline.RECENT_CHAPTERS :]
        told_chapters = [
            told_chapter
            for told_chapter in told_chapters
            if told_chapter in recent or not any(part.holds(told_chapter) for part in finished)
        ]
    in_parts = {chapter for part in recent_parts for chapter in known_items if part.holds(chapter)}
    # Whole records are long, and this is read for every context.
    place = (col(Scene.chapter_index), col(Scene.scene_index))
    is_readable = readable_json(session, col(Scene.record))
    cases = [case((is_readable, SCENE_RECORD[name])) for name in ("key_events", "summary")]
    wanted_chapters = sorted(in_parts.union(told_chapters))
    rows = session.select([*place, *cases], place[0].in_(wanted_chapters), order=place) if wanted_chapters else []
    scenes = [outline.OutlineScene(row[0], row[1], key_events=row[2] or (), summary=row[3] or ()) for row in rows]
    summaries_by_level = SummaryRepository(session).used(parts, as_of=as_of)
    return StorySummaries(
        chapters=outline.chapter_summaries(
            [scene for scene in scenes if scene.chapter_index in told_chapters],
            as_of=as_of,
            written_summaries=summaries_by_level["chapter"],
        ),
        parts=outline.part_summaries(
            recent_parts,
            scenes,
            as_of=as_of,
            written_summaries=summaries_by_level["part"],
            weights=_weights(session, in_parts),
        ),
    )


def read_parts(
    session: StorageSession, *, last_chapter: int, chapters_per_part: int = outline.CHAPTERS_PER_PART
) -> list[outline.NumberedPart]:
    """Return the parts that begin up to a chapter: those that the author said, else of a fixed length."""
    stated = [StoryPart.model_validate(part) for part in _settings(session).get("parts", ())]
    return outline.story_parts(stated, last_chapter=last_chapter, chapters_per_part=chapters_per_part)


def _weights(session: StorageSession, chapters: Collection[int]) -> dict[tuple[int, int], float]:
    """Each scene's greatest importance, without consolidated memories."""
    if not chapters:
        return {}
    place = (col(MemoryRow.chapter_index), col(MemoryRow.scene_index))
    as_brought = (MemoryRow.content_type == "memory", unconsolidated(session.project_id, END_OF_STORY))
    here = (MemoryRow.status == "active", place[1].is_not(None), place[0].in_(sorted(chapters)))
    rows = session.select([*place, func.max(col(MemoryRow.importance))], *as_brought, *here, group=place)
    return {(row[0], row[1]): float(row[2] or 0) for row in rows}


def _settings(session: StorageSession) -> dict[str, Any]:
    project = session.project()
    return {} if project is None else project.settings or {}


def story_version(
    session: StorageSession, as_of: StoryPosition, *, entities: Sequence[Entity], scenes: str | None = None
) -> str:
    """Return a version mark of the story before the position.

    It covers the scenes by their content hashes, what authors noted, edited, attached, pinned, banned and
    deleted, which memories are consolidated, and the entities as of the position. Row ids and moments of writing
    do not count: the same story stored twice has the same mark.

    Args:
        session: The project's transaction.
        as_of: The position.
        entities: As the story had shown them by then.
        scenes: What `_scenes_as_json` gives, for one who has read the scenes; None reads it.
    """
    digest = sha256((_scenes_as_json(session, as_of) if scenes is None else scenes).encode())
    stored_tables = _tables_of_authors(session, as_of)
    summaries = [
        summary.model_dump(mode="json", exclude={"written_at"})
        for summary in (stored_summaries(session, as_of) if Summary in stored_tables else ())
    ]
    text = _settings(session).get("parts", ())
    consolidated = [
        [
            stored_consolidation.chunk.chunk_id,
            stored_consolidation.chunk.chapter_index,
            stored_consolidation.chunk.scene_index,
            stored_consolidation.chunk.content,
        ]
        for stored_consolidation in (
            ConsolidationRepository(session).list_all() if ConsolidationSource in stored_tables else ()
        )
        if as_of.admits(stored_consolidation.chunk.chapter_index, stored_consolidation.chunk.scene_index)
    ]
    # An author's event has no quote: where quotes stand says nothing about it.
    left_out = ("row_id", "scene_id", "created_at", "verified", "span_start", "span_end")
    events: list[list[dict[str, Any]]] = []
    for table in EVENT_TABLES:
        if table not in stored_tables:
            events.append([])
            continue
        columns = columns_of(table, (name for name in table.model_fields if name not in left_out))
        order = (*story_order(table), table.row_id)
        rows = session.select(columns, *stored_tables[table], order=order)
        events.append([dict(row._mapping) for row in rows])
    by_hand: Sequence[Any] = ()
    if MemoryRow in stored_tables:
        by_hand = session.select(_OF_AUTHORS, *stored_tables[MemoryRow], order=[col(MemoryRow.chunk_id)])
    # Nothing where there is no knowledge, summary, part or consolidated memory, so that marks of before stay true.
    for section in (
        [[*row[:-1], *([row.over_at] if row.over_at and as_of.admits(*row.over_at) else [])] for row in by_hand],
        *(events if events[-1] else events[:-1]),
        [entity.model_dump(mode="json") for entity in entities],
        *filter(None, (summaries, [part for part in text if as_of.admits(part["last_chapter"], None)], consolidated)),
    ):
        digest.update(b"\x00")
        digest.update(json.dumps(section, sort_keys=True, ensure_ascii=False).encode("utf-8", "surrogatepass"))
    digest.update(b"\x00")
    return digest.hexdigest()[:32]


def _tables_of_authors(session: StorageSession, as_of: StoryPosition) -> dict[type[Any], tuple[Any, ...]]:
    """Return the tables with rows beside those that scenes bring, each with its condition: of most there are none."""
    conditions: dict[type[Any], tuple[Any, ...]] = {
        **{table: (table.origin == "author", before(as_of, table)) for table in EVENT_TABLES},
        Summary: (),
        ConsolidationSource: (),
        MemoryRow: (literal_column(f"({TOUCHED_BY_HAND})"), before(as_of, MemoryRow)),
    }
    looks = [
        select(literal(number)).where(exists().where(session.owns(table), *condition))
        for number, (table, condition) in enumerate(conditions.items())
    ]
    rows = session.once(("author_tables", as_of), lambda: session.rows(union_all(*looks)))
    numbers = {row[0] for row in rows}
    return {table: condition for number, (table, condition) in enumerate(conditions.items()) if number in numbers}


_OF_AUTHORS = columns_of(
    MemoryRow,
    (
        *("chunk_id", "chapter_index", "scene_index", "content_hash", "importance", "entities_mentioned"),
        *("attached", "detached", "tags", "status", "pinned", "over_at"),
    ),
)
"""What an author may have decided about a memory, and by which it is known."""


def _scenes_as_json(session: StorageSession, as_of: StoryPosition) -> str:
    """Return [chapter, scene, content hash] of all scenes, as `json.dumps` writes them in story order.

    A long story has ten thousand of them: the database writes the text, hashes need no escaping.
    """
    columns = (col(Scene.chapter_index), col(Scene.scene_index), col(Scene.content_hash))
    wanted_subquery = (
        select(*columns).where(session.owns(Scene), before(as_of, Scene)).order_by(*story_order(Scene)).subquery()
    )
    chapter, scene, content_hash = (cast(column, Text) for column in wanted_subquery.c)
    one = literal("[") + chapter + ", " + scene + ', "' + content_hash + '"]'
    json_text = session.scalar(select(func.aggregate_strings(one, ", ")).select_from(wanted_subquery))
    return f"[{json_text or ''}]"


RECENT_RECORDS = 6
"""Of so many last scenes it is read what they tell; of the others only place and participants."""

TOLD_SENTENCES = 2
"""A scene without a summary tells of itself in so many sentences of its text."""


def read_outline(
    session: StorageSession, as_of: StoryPosition, *, chapters_per_part: int = outline.CHAPTERS_PER_PART
) -> outline.StoryOutline:
    """Return entities, scenes, threads, relationships, summaries and holders strictly before a position."""
    project = session.project()
    stored_entity_repository = EntityRepository(session)
    entities = stored_entity_repository.list_as_of(as_of=as_of)
    here, place = before(as_of, Scene), (col(Scene.chapter_index), col(Scene.scene_index))
    latest = [mapped.desc() for mapped in place]
    recent = session.select([*place, SCENE_RECORD, col(Scene.text)], here, order=latest, limit=RECENT_RECORDS)
    fields = {(row[0], row[1]): _recap_fields(row[2] or {}, row[3]) for row in recent}
    # Thousands of scenes are read for every context: their participants are decoded all at once.
    columns = (
        *place,
        col(Scene.title),
        col(Scene.location_id),
        cast(col(Scene.participants), Text),
        col(Scene.record_origin),
        col(Scene.staged),
        col(Scene.content_hash),
    )
    rows = session.select(columns, here, order=story_order(Scene))
    participants = living_casts(session, rows, decoded_json([row[4] for row in rows]), as_of=as_of)
    # What else wants to know where scenes stand finds it here: every one of them is read above.
    session.once(("scene_places", as_of), lambda: sorted(packed_place(row[0], row[1]) for row in rows))
    chapters = dict.fromkeys(row[0] for row in rows if as_of.chapter_index is None or row[0] < as_of.chapter_index)
    summaries = read_summaries(session, as_of, chapters_per_part=chapters_per_part, chapters=sorted(chapters))
    holders, stated_ids = stated_as_of(session, as_of)
    loops = ThreadRepository(session).list_as_of(as_of=as_of, statuses=get_args(LoopStatus))
    scenes = "[" + ", ".join(f'[{row[0]}, {row[1]}, "{row[7]}"]' for row in rows) + "]"
    return outline.StoryOutline(
        project_id=session.project_id,
        language=project.language if project is not None else "",
        entities=entities,
        scenes=[
            _outline_scene(
                row,
                tuple(present),
                fields.get((row[0], row[1])),
                is_guessed=row.record_origin == WITHOUT_RECORD,
                statements=row.staged,
            )
            for row, present in zip(rows, participants, strict=True)
        ],
        open_loops=[loop for loop in loops if loop.status in UNRESOLVED_STATUSES],
        ended_loops=[loop for loop in loops if loop.status not in UNRESOLVED_STATUSES],
        relationships=RelationshipRepository(session).list_as_of(as_of=as_of),
        part_summaries=summaries.parts,
        chapter_summaries=summaries.chapters,
        holders=holders,
        stated_ids=stated_ids,
        story_version=story_version(session, as_of, entities=entities, scenes=scenes),
        masks=stored_entity_repository.masks_as_of(as_of),
    )


def _recap_fields(record: dict[str, Any], text: str) -> dict[str, Any]:
    """Return a record that tells its scene, else the weightiest sentences of the text."""
    if record.get("summary") or record.get("key_events"):
        return record
    matching_salient_sentences = sorted(
        salient_sentences(text, (), limit=TOLD_SENTENCES), key=lambda salient_sentence: salient_sentence.start
    )
    return {
        "summary": [
            with_whole_quotations(text[salient_sentence.start : salient_sentence.end].strip())
            for salient_sentence in matching_salient_sentences
        ]
    }


def _outline_scene(
    row: Any,
    participants: Sequence[str],
    record: dict[str, Any] | None,
    *,
    is_guessed: bool = False,
    statements: Iterable[str] = (),
) -> outline.OutlineScene:
    fields = record or {}
    events, bullets = tuple(fields.get("key_events", ())), tuple(fields.get("summary", ()))
    time = fields.get("story_time") or ""
    return outline.OutlineScene(
        row[0], row[1], row[2], row[3], participants, events, bullets, is_guessed, time, frozenset(statements)
    )


MAX_RECALLED_TAGS = 30


def read_recap(session: StorageSession, as_of: StoryPosition, *, last_scenes: int) -> outline.StoryRecap:
    """Return a recap before a position, with stored kinds and tags."""
    latest = (col(Scene.chapter_index).desc(), col(Scene.scene_index).desc())
    scenes = []
    columns = [
        *columns_of(Scene, ("chapter_index", "scene_index", "title", "location_id", "text", *CAST_FIELDS)),
        SCENE_RECORD,
    ]
    rows = session.select(columns, before(as_of, Scene), order=latest, limit=max(0, last_scenes))
    casts = living_casts(session, rows, [row.participants for row in rows], as_of=as_of)
    for row, participants in zip(rows, casts, strict=True):
        is_guessed = row.record_origin == WITHOUT_RECORD
        scene = _outline_scene(row, tuple(participants), row[-1], is_guessed=is_guessed, statements=row.staged)
        told_text = "" if scene.summary or scene.key_events else gist(row.text)
        scenes.append(replace(scene, summary=(told_text,)) if told_text else scene)
    kind, conditions = col(MemoryRow.content_type), filter_conditions(session.project_id, MemoryFilter(as_of=as_of))
    kinds = session.values(kind, *conditions, group=[kind], order=[func.count().desc(), kind])
    distilled = MemoryFilter(as_of=as_of, content_types=list(DISTILLED_TYPES))
    tags = session.rows(
        select(col(MemoryTag.tag))
        .join(MemoryRow, col(MemoryRow.row_id) == col(MemoryTag.chunk_row_id))
        .where(*filter_conditions(session.project_id, distilled))
        .group_by(col(MemoryTag.tag))
        .order_by(func.count().desc(), col(MemoryTag.tag))
        .limit(MAX_RECALLED_TAGS)
    )
    return outline.StoryRecap(scenes=scenes[::-1], content_types=kinds, tags=[row[0] for row in tags])
