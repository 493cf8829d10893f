"""Scenes: reading, order, moving and deleting."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence, Set
from dataclasses import replace
from hashlib import sha256
from typing import TYPE_CHECKING, Any, NamedTuple

from sqlalchemy import distinct, false, func, literal, literal_column, select
from sqlmodel import and_, case, col, or_

from novelgen.errors import InvalidPositionError, UnknownSceneError, UserInputError
from novelgen.models.entity import SceneCast
from novelgen.models.memory import chapter_of_target, chapter_target
from novelgen.models.position import END_OF_STORY, StoryPosition
from runtime.storage.chunks import ENDS_SEVERAL_ROWS, ChunkWriter, text_hash
from runtime.storage.columns import PLACE, ExtractionStatus, ScenePlace
from runtime.storage.damage import readable_json
from runtime.storage.entities import EntityRepository
from runtime.storage.living_casts import CAST_FIELDS, dead_before, living_casts
from runtime.storage.models import FactCount, SceneCensus, SceneState, SceneWrite, SceneWriteResult
from runtime.storage.placed_notes import placed_notes
from runtime.storage.records import (
    POSITIONED_TABLES,
    SCENE_RECORD,
    TOUCHED_BY_HAND,
    AliasRow,
    EntityRow,
    MemoryRow,
    NameMention,
    Scene,
    Staging,
    guessed_staging,
)
from runtime.storage.said_places import PlaceFields, SaidPlaces, StoryOrder, moved_out_of_order, moved_positions
from runtime.storage.session import AnyRow, Repository, StorageSession, before, columns_of, within

if TYPE_CHECKING:
    from novelgen.language.chronology import TellingScene

OPENING_CHARACTERS = 200
"""So much of a scene's text holds the words with which it opens, with marks and blanks before them."""


SCENE_FIELDS = (
    "title",
    "text",
    "record",
    "record_origin",
    "extraction_status",
    "failure_reason",
    "story_time",
    "staged",
    "file_version",
)
"""What a change of a scene keeps of it."""


_STAGING_FIELDS = ("location_id", "pov", *CAST_FIELDS)
"""Columns that a `Staging` is read from, beside its place."""


class SceneNaming(NamedTuple):
    """A scene whose text names an entity."""

    entity_id: str
    chapter_index: int
    scene_index: int


class Relocation(NamedTuple):
    """Where everything goes that stands at a scene's place, or, for whole chapters, in a chapter.

    `moved` are the scenes that change their place in the order; the others only close up or make room.
    """

    places: Mapping[ScenePlace, ScenePlace]
    chapter_of: Callable[[int], int]
    moved: Collection[ScenePlace] = ()

    def of(self, chapter: int, scene: int | None) -> tuple[int, int | None]:
        """Return the new place of something without a scene of its own that stands there."""
        if scene is not None and (chapter, scene) in self.places:
            return self.places[chapter, scene]
        return self.chapter_of(chapter), scene


def scene_gap(places: Iterable[ScenePlace], at: ScenePlace) -> Relocation:
    """Return the moves that free a place, shifting later scenes."""
    listed_places = set(places)
    later = [place for place in listed_places if place[0] == at[0] and place[1] >= at[1]]
    moved_places = {place: (place[0], place[1] + 1) for place in later} if at in listed_places else {}
    return _relocation(moved_places)


def chapter_gap(places: Iterable[ScenePlace], at: int) -> Relocation:
    """Make room for a chapter: when one stands there, it and all later ones move up by one."""
    listed_places = list(places)
    occupied = any(chapter == at for chapter, _ in listed_places)
    return _chapters(listed_places, lambda chapter: chapter + 1 if occupied and chapter >= at else chapter)


def scene_move(places: Iterable[ScenePlace], source: ScenePlace, target: ScenePlace) -> Relocation:
    """Move a scene so that it stands at the target: the ranks close behind it and open before it."""
    listed_places = list(places)
    if source not in listed_places:
        raise UnknownSceneError(f"no scene stands at {source[0]}:{source[1]}; list them with `novelgen scene list`")
    closed = {
        place: (place[0], place[1] - 1) if place[0] == source[0] and place[1] > source[1] else place
        for place in listed_places
        if place != source
    }
    gap_places = scene_gap(closed.values(), target).places
    new_places = {place: gap_places.get(new, new) for place, new in closed.items()} | {source: target}
    return _relocation(new_places)._replace(moved=[source])


def chapter_move(places: Iterable[ScenePlace], source: int, target: int) -> Relocation:
    """Return the moves of a chapter and the chapters between."""
    listed_places = list(places)
    if all(chapter != source for chapter, _ in listed_places):
        raise UnknownSceneError(f"chapter {source!r} has no scene; list them with `novelgen scene list`")

    def chapter_of(chapter: int) -> int:
        if chapter == source:
            return target
        if source < chapter <= target:
            return chapter - 1
        return chapter + 1 if target <= chapter < source else chapter

    return _chapters(listed_places, chapter_of)._replace(moved=[place for place in listed_places if place[0] == source])


def _chapters(places: Iterable[ScenePlace], chapter_of: Callable[[int], int]) -> Relocation:
    moved_places = {(chapter, scene): (chapter_of(chapter), scene) for chapter, scene in places}
    return _relocation(moved_places, chapter_of)


def _relocation(
    places: Mapping[ScenePlace, ScenePlace], chapter_of: Callable[[int], int] = lambda chapter: chapter
) -> Relocation:
    return Relocation({old: new for old, new in places.items() if old != new}, chapter_of)


_ASIDE = 10_000_000
"""Added to chapters on the way, so that no two scenes ever stand at one place; above every chapter index."""

_NAMED_PLACES: tuple[tuple[Any, str, str], ...] = (
    (EntityRow, "first_chapter", "first_scene"),
    (EntityRow, "name_first_chapter", "name_first_scene"),
    (AliasRow, "first_chapter", "first_scene"),
)
"""Scenes whose texts first name somebody: these positions follow the scene."""

_BULLET = re.compile(r"(\d+):(\d+):(summary|key_events):(\d+)")


def scene_places(session: StorageSession) -> dict[ScenePlace, str]:
    """Return the places of all scenes with their ids."""
    return {
        (row[0], row[1]): row[2]
        for row in session.select([col(Scene.chapter_index), col(Scene.scene_index), col(Scene.scene_id)])
    }


def _move_free_places(session: StorageSession, relocation: Relocation) -> None:
    said_places = SaidPlaces(session)
    stated = said_places.read()
    for table, chapter_name, scene_name in _NAMED_PLACES:
        chapter, scene = getattr(table, chapter_name), getattr(table, scene_name)
        place_moves = [
            (row_id, {chapter_name: new[0], scene_name: new[1]})
            for row_id, *old in session.select([table.row_id, chapter, scene], chapter.is_not(None))
            if (new := relocation.of(*old)) != tuple(old)
        ]
        session.update_each(table.row_id, place_moves)
    order = StoryOrder(
        scene_places(session), relocation.places, moved_places=relocation.moved, chapter_of=relocation.chapter_of
    )
    said_places.write({key: moved_positions(positions, order) for key, positions in stated.items()})
    stored_entity_repository = EntityRepository(session)
    for entity_id, identity in stored_entity_repository.revealed().items():
        place = dict(zip(PLACE, relocation.of(identity.chapter_index, identity.scene_index), strict=True))
        if place != identity.model_dump(include=set(place)):
            stored_entity_repository.reveal(entity_id, identity.model_copy(update=place))
    attached_entries = []
    for row in session.read(MemoryRow, literal_column(f"({TOUCHED_BY_HAND})")):
        lists = {name: _moved_targets(getattr(row, name), relocation) for name in ("attached", "detached")}
        if lists != {name: getattr(row, name) for name in lists}:
            session.update(MemoryRow, MemoryRow.row_id == row.row_id, **lists)
            attached_entries.append({**row.columns(), **lists})
    ChunkWriter(session).relink(attached_entries)


def _moved_targets(targets: Sequence[str], relocation: Relocation) -> list[str]:
    """Return manual attachments with moved chapters."""
    chapters = ((target_id, chapter_of_target(target_id)) for target_id in targets)
    return [text if place is None else chapter_target(relocation.chapter_of(place)) for text, place in chapters]


_NAMING_BULLETS = ("source_id", "supersedes", "also_supersedes")
"""Columns in which a bullet of a summary may be named, by its position."""


def _renamed(source_id: str | None, places: Mapping[ScenePlace, ScenePlace]) -> str | None:
    match = _BULLET.fullmatch(source_id or "")
    if match is None or (int(match[1]), int(match[2])) not in places:
        return source_id
    chapter, scene = places[int(match[1]), int(match[2])]
    return f"{chapter}:{scene}:{match[3]}:{match[4]}"


class SceneRepository(Repository):
    """Repository of scenes within the running transaction."""

    def replace_scene(self, write: SceneWrite) -> SceneWriteResult:
        """Store a scene.

        See `replace_scenes`.
        """
        return self.replace_scenes([write])[0]

    def replace_scenes(self, writes: Sequence[SceneWrite]) -> list[SceneWriteResult]:
        """Store scenes with derived facts, replacing those at their positions.

        Withdrawn are a scene's memories, states, loop events, relationship changes, what its record said of who
        knows what, mentions and links, and nothing else. A memory with a known id and the same content keeps its
        vector and is not queued for the index. What an author edited, pinned, banned, deleted or noted stays as it is.
        """
        from runtime.storage.scene_writer import SceneWriter

        return SceneWriter(self._session).replace(writes)

    def delete_scene(self, at: StoryPosition) -> list[str]:
        """Delete a scene with derived facts, keeping author's notes."""
        from runtime.storage.scene_writer import SceneWriter

        scene = self.require(at)
        writer = SceneWriter(self._session)
        removed = writer.withdraw_chunks(scene.scene_id)
        writer.withdraw_events([scene.scene_id])
        self._session.delete(Scene, Scene.scene_id == scene.scene_id)
        return removed

    def get(self, at: StoryPosition) -> Scene | None:
        """Return the scene at a position with its text, or None when none stands there."""
        return self._one(Scene.chapter_index == at.chapter_index, Scene.scene_index == at.scene_index)

    def by_id(self, scene_id: str) -> Scene | None:
        """Return the scene of an id with its text, wherever it stands now, or None when there is none."""
        return self._one(Scene.scene_id == scene_id)

    def require_id(self, scene_id: str) -> Scene:
        """Return the scene of an id with its text."""
        scene = self.by_id(scene_id)
        if scene is None:
            raise UserInputError("the scene of this change is gone; nothing can be taken back in it")
        return scene

    def position_of_label(self, label: str) -> StoryPosition | None:
        """Return where the scene of a label such as S001 stands now, or None when there is none."""
        row = self._session.one([col(Scene.chapter_index), col(Scene.scene_index)], Scene.label == label)
        return None if row is None else StoryPosition(*row)

    def image(self, scene: Scene) -> dict[str, Any]:
        """Return a scene's undo image: fields and author's spans."""
        fields = scene.model_dump(mode="json", include=set(SCENE_FIELDS))
        return {**fields, "spans": self.spans_by_hand(scene.scene_id)}

    def image_hash(self, scene: Scene) -> str:
        """Return by which a scene is known to be as it was left, wherever it stands by now."""
        fields = scene.model_dump(mode="json", include={"title", "text", "record", "record_origin", "story_time"})
        record = {**(fields["record"] or {}), "chapter_index": None, "scene_index": None}
        staged = {"staged": scene.staged} if scene.staged else {}
        return text_hash(json.dumps({**fields, **staged, "record": record}, sort_keys=True))

    def note_file_version(self, scene_id: str, version: Mapping[str, str] | None) -> None:
        """Note what the file of a scene says, where the scene says the same already."""
        self._session.update(Scene, Scene.scene_id == scene_id, file_version=version and dict(version))

    def spans_by_hand(self, scene_id: str) -> dict[str, list[Any]]:
        """Return where the words of the author's own facts stand in a scene, and whether they count as proved."""
        from runtime.storage.scene_writer import spans_by_hand

        rows = spans_by_hand(self._session, scene_id)
        return {row.chunk_id: [row.span_start, row.span_end, row.verified] for row in rows}

    def restore_spans(self, scene_id: str, spans: Mapping[str, Sequence[Any]]) -> None:
        """Restore the spans of `spans_by_hand`, ignoring deleted facts."""
        for chunk_id, (start, end, is_verified) in spans.items():
            this = (MemoryRow.scene_id == scene_id, MemoryRow.chunk_id == chunk_id)
            self._session.update(MemoryRow, *this, span_start=start, span_end=end, verified=is_verified)

    def holds_id(self, scene_id: str) -> bool:
        """Tell whether a scene of any project bears that id: ids are never shared."""
        return self._session.scalar(select(col(Scene.scene_id)).where(col(Scene.scene_id) == scene_id)) is not None

    def require(self, at: StoryPosition) -> Scene:
        """Return the scene at a position with its text."""
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
        since: StoryPosition | None = None,
        with_text: bool = False,
        statuses: Sequence[ExtractionStatus] = (),
        last: int | None = None,
    ) -> list[Scene]:
        """Return the scenes before a position in story order."""
        wanted_conditions = [before(as_of, Scene) if since is None else within(since, as_of, Scene)]
        if statuses:
            wanted_conditions.append(col(Scene.extraction_status).in_(statuses))
        latest_first = (col(Scene.chapter_index).desc(), col(Scene.scene_index).desc())
        scenes = self._session.read(
            Scene, *wanted_conditions, order=latest_first, limit=last, without=() if with_text else (Scene.text,)
        )
        return self._placed(scenes[::-1])

    def casts(self, *, as_of: StoryPosition, naming: str | None = None) -> list[SceneCast]:
        """Return casts of scenes before a position, without texts."""
        naming_scene_ids: set[str] = set()
        if naming:
            cards = EntityRepository(self._session).identities_as_of(as_of).cards([naming])
            named_condition = self._session.among(NameMention.entity_id, cards)
            naming_scene_ids.update(self._session.values(NameMention.scene_id, named_condition))
        rows = self._before(as_of, *columns_of(Scene, ("scene_id", "label", *_STAGING_FIELDS)))
        return [
            SceneCast(
                row.label,
                staging.pov,
                staging.participants,
                staging.location_id,
                frozenset([naming] if naming and row.scene_id in naming_scene_ids else []),
            )
            for row, staging in zip(rows, self._stagings(rows, as_of), strict=True)
        ]

    def stagings(
        self, *, as_of: StoryPosition = END_OF_STORY, last: int | None = None, by_card: bool = False
    ) -> list[Staging]:
        """Return casts and places of the last scenes before a position, of persons or, as stored, of cards."""
        columns = columns_of(Scene, (*PLACE, *_STAGING_FIELDS))
        latest_first = (col(Scene.chapter_index).desc(), col(Scene.scene_index).desc())
        rows = self._session.select(columns, before(as_of, Scene), order=latest_first, limit=last)
        return self._stagings(rows[::-1], None if by_card else as_of)

    def tellings(self, *, as_of: StoryPosition, by_card: bool = False) -> list[TellingScene]:
        """Return times and openings of scenes before a position, with casts as in `stagings`."""
        from novelgen.language.chronology import TellingScene

        columns = columns_of(Scene, ("scene_id", "title", "story_time"))
        opening = func.substr(col(Scene.text), 1, OPENING_CHARACTERS).label("text")
        is_readable = readable_json(self._session, col(Scene.record))
        rendered_case = case((is_readable, SCENE_RECORD["is_flashback"].as_boolean()))
        is_flashback = func.coalesce(rendered_case, false()).label("is_flashback")
        rows = self._before(as_of, *columns, opening, is_flashback, *columns_of(Scene, _STAGING_FIELDS))
        return [
            replace(
                TellingScene(*row[:7]),
                participants=staging.participants,
                location_id=staging.location_id,
                guessed=guessed_staging(row.record_origin, row.staged),
            )
            for row, staging in zip(rows, self._stagings(rows, None if by_card else as_of), strict=True)
        ]

    def namings(self, names: Mapping[str, Collection[str]], *, as_of: StoryPosition) -> list[SceneNaming]:
        """Return which scenes before a position have texts that name entities, each scene and entity once."""
        columns = (
            col(NameMention.entity_id),
            col(NameMention.chapter_index),
            col(NameMention.scene_index),
            col(NameMention.name),
        )
        identities = EntityRepository(self._session).identities_as_of(as_of)
        names_by_person: dict[str, set[str]] = {}
        for entity_id, own_names in names.items():
            names_by_person.setdefault(identities.person(entity_id), set()).update(own_names)
        named_condition = self._session.among(NameMention.entity_id, identities.cards(names))
        rows = self._session.select(columns, named_condition, before(as_of, NameMention))
        namings = {(identities.person(row.entity_id), row.name, row[1], row[2]) for row in rows}
        return sorted({SceneNaming(who, *place) for who, name, *place in namings if name in names_by_person[who]})

    def places(self, *, as_of: StoryPosition = END_OF_STORY) -> list[ScenePlace]:
        """Return chapter and scene of every scene before a position in story order, and nothing else of them."""
        return [(row[0], row[1]) for row in self._before(as_of)]

    def titles(self) -> list[tuple[int, int, str]]:
        """Return chapter, scene and title of every scene in story order, and nothing else of them."""
        columns = [col(Scene.chapter_index), col(Scene.scene_index), col(Scene.title)]
        return sorted((row[0], row[1], row[2]) for row in self._session.select(columns))

    def words(self) -> dict[ScenePlace, int]:
        """Return the words of every scene by its place."""
        from runtime.storage.word_counts import words_of_scenes

        return words_of_scenes(self._session)

    def census(self) -> SceneCensus:
        """Count chapters, scenes, lengths and readings."""
        has_record = col(Scene.record).is_not(None)
        failed = and_(col(Scene.record).is_(None), Scene.extraction_status == "failed")
        statement = select(
            func.count(distinct(col(Scene.chapter_index))).label("chapters"),
            func.count().label("scenes"),
            func.coalesce(func.sum(func.length(col(Scene.text))), 0).label("characters"),
            func.coalesce(func.sum(case((has_record, 1), else_=0)), 0).label("with_record"),
            func.coalesce(func.sum(case((failed, 1), else_=0)), 0).label("failed"),
        ).where(self._session.owns(Scene))
        return SceneCensus.model_validate(self._session.connection.execute(statement).one(), from_attributes=True)

    def states(self, *, as_of: StoryPosition, with_lengths: bool = True) -> list[SceneState]:
        """Return how far the scenes before a position were read, in story order, without reading them."""
        names = ("title", "record_origin", "extraction_status", "failure_reason", "created_at")
        characters = func.length(col(Scene.text)) if with_lengths else literal(0)
        has_record = col(Scene.record).is_not(None).label("has_record")
        rows = self._before(as_of, *columns_of(Scene, names), characters.label("characters"), has_record)
        words = self.words() if with_lengths else {}
        states = (SceneState.model_validate(row, from_attributes=True) for row in rows)
        return [
            scene_state.model_copy(update={"words": words.get((scene_state.chapter_index, scene_state.scene_index), 0)})
            for scene_state in states
        ]

    def fact_counts(self, *, as_of: StoryPosition) -> dict[ScenePlace, FactCount]:
        """Count facts by scene before a position, without empty scenes."""
        unproved = func.sum(case((col(MemoryRow.verified), 0), else_=1))
        place = (col(MemoryRow.chapter_index), col(MemoryRow.scene_index))
        is_fact = (MemoryRow.status == "active", MemoryRow.content_type == "memory", ~col(MemoryRow.is_consolidated))
        of_scene = (col(MemoryRow.scene_index).is_not(None), before(as_of, MemoryRow))
        rows = self._session.select([*place, func.count(), unproved], *is_fact, *of_scene, group=place)
        counts = {(row[0], row[1]): FactCount(facts=row[2], unverified=row[3]) for row in rows}
        for note, scene in placed_notes(self._session, as_of, ["active"]):
            count = counts.setdefault(scene, FactCount())
            count.facts += 1
            count.unverified += not note.verified
        return counts

    def texts_as_of(self, *, as_of: StoryPosition) -> list[tuple[int, int, str]]:
        """Return (chapter, scene, text) of the scenes before a position in story order, without their records."""
        return [(row[0], row[1], row[2] or "") for row in self._before(as_of, col(Scene.text))]

    def texts_mark(self, *, as_of: StoryPosition) -> str:
        """Return a mark that changes exactly when the texts before a position, or their places, change."""
        rows = (f"{row[0]}:{row[1]}:{row[2]}" for row in self._before(as_of, col(Scene.text_hash)))
        return sha256("\n".join(rows).encode()).hexdigest()

    def _one(self, *conditions: Any) -> Scene | None:
        scene = self._session.first(Scene, *conditions)
        return None if scene is None else self._placed([scene])[0]

    def _placed(self, scenes: Sequence[Scene]) -> list[Scene]:
        """Return scenes with their records at their own places, and nobody guessed to be there after death."""
        casts = self._living(scenes)
        for scene, participants in zip(scenes, casts, strict=True):
            scene.participants = list(participants)
            if scene.record is not None:
                scene.record.chapter_index, scene.record.scene_index = scene.chapter_index, scene.scene_index
        return list(scenes)

    def _living(self, scenes: Sequence[Any], as_of: StoryPosition | None = None) -> list[Sequence[str]]:
        return living_casts(self._session, scenes, [scene.participants for scene in scenes], as_of=as_of)

    def _stagings(self, rows: Sequence[AnyRow], as_of: StoryPosition | None) -> list[Staging]:
        """Return the stagings of rows, of persons as known before a position."""
        persons = {} if as_of is None else EntityRepository(self._session).masks_as_of(as_of)
        return [
            Staging(
                (row.chapter_index, row.scene_index),
                list(participants),
                persons.get(row.location_id, row.location_id),
                persons.get(row.pov, row.pov),
            )
            for row, participants in zip(rows, self._living(rows, as_of), strict=True)
        ]

    def dead_before(self, places: Sequence[ScenePlace]) -> list[Set[str]]:
        """Return the dead on entering the scenes at some places."""
        return dead_before(self._session, places)

    def _before(self, as_of: StoryPosition, *columns: Any) -> Sequence[AnyRow]:
        order = (col(Scene.chapter_index), col(Scene.scene_index))
        return self._session.select([*order, *columns], before(as_of, Scene), order=order)

    def insert_gap(self, at: StoryPosition) -> int:
        """Make room for a new scene, or with a chapter alone for a new chapter, and return how many moved."""
        places = self._places()
        if at.scene_index is None:
            if at.chapter_index is None:
                raise UnknownSceneError(f"{str(at)!r} names no chapter; give one")
            return self._relocate(chapter_gap(places, at.chapter_index))
        return self._relocate(scene_gap(places, _place(at)))

    def close_chapter(self, at: int) -> int:
        """Take back the room that was made for a chapter, while nothing stands in it, and return how many moved."""
        listed_places = self._places()
        if any(chapter == at for chapter, _ in listed_places):
            raise InvalidPositionError(f"chapter {at!r} has scenes by now; delete or move them first")
        return self._relocate(_chapters(listed_places, lambda chapter: chapter - 1 if chapter > at else chapter))

    def move_scene(self, source: StoryPosition, target: StoryPosition) -> int:
        """Move a scene, closing and opening gaps."""
        return self._relocate(scene_move(self._places(), _place(source), _place(target)))

    def move_chapter(self, source: int, target: int) -> int:
        """Move a chapter, shifting the chapters between."""
        if target < 0:
            raise InvalidPositionError(f"a scene cannot stand at {target}:0; count from 0 up")
        return self._relocate(chapter_move(self._places(), source, target))

    def rearrange(self, moves: Mapping[ScenePlace, ScenePlace], chapters: Mapping[int, int]) -> int:
        """Move scenes with all that came from them to the places that a new arrangement gives them."""
        # What has no scene of its own goes with its chapter.
        final = {place: moves.get(place, place) for place in self._places()}
        if len(set(final.values())) < len(final):
            raise InvalidPositionError("two scenes cannot stand at one place; delete or move one of them first")
        relocation = _relocation(final, lambda chapter: chapters.get(chapter, chapter))
        return self._relocate(relocation._replace(moved=moved_out_of_order(final, final)))

    def said_places(self) -> dict[str, PlaceFields]:
        """Return positions of author's statements outside scenes."""
        return SaidPlaces(self._session).read()

    def set_said_places(self, fields: Mapping[str, PlaceFields]) -> None:
        """Restore positions of author's statements.

        See `said_places`.
        """
        SaidPlaces(self._session).write(fields)

    def standing(self) -> dict[str, list[int]]:
        """Return where every scene stands, by its id."""
        return {scene_id: list(place) for place, scene_id in scene_places(self._session).items()}

    def _places(self) -> list[ScenePlace]:
        return list(scene_places(self._session))

    def _relocate(self, relocation: Relocation) -> int:
        """Move scenes and their facts, queueing chunks for the index.

        The source_ids of summary bullets name their scene's position, so they are renamed with it, and so are
        `supersedes` and `also_supersedes` that refer to them; all other source_ids stay.
        """
        from runtime.storage.outline import move_summaries

        self._session.touch()
        scene_ids = scene_places(self._session)
        _move_free_places(self._session, relocation)
        if not relocation.places:
            return 0
        move_summaries(self._session, relocation.places)
        moves = [(scene_ids[old], new) for old, new in relocation.places.items()]
        tables: Iterable[tuple[Any, int]] = ((Scene, _ASIDE), (Scene, 0), *((kind, 0) for kind in POSITIONED_TABLES))
        for table, aside in tables:
            placed_rows = (
                (scene_id, {"chapter_index": new[0] + aside, "scene_index": new[1]}) for scene_id, new in moves
            )
            self._session.update_each(table.scene_id, placed_rows)
        renamed = []
        for row in self._session.select(
            [col(MemoryRow.row_id), *columns_of(MemoryRow, _NAMING_BULLETS)],
            or_(col(MemoryRow.source_id).contains(":"), col(MemoryRow.supersedes).contains(":"), ENDS_SEVERAL_ROWS),
        ):
            old = {name: getattr(row, name) for name in _NAMING_BULLETS}
            new = {
                "source_id": _renamed(row.source_id, relocation.places),
                "supersedes": _renamed(row.supersedes, relocation.places),
                "also_supersedes": [_renamed(one, relocation.places) for one in row.also_supersedes],
            }
            if new != old:
                renamed.append((row.row_id, new))
        self._session.update_each(MemoryRow.row_id, renamed)
        ChunkWriter(self._session).reposition(scene_ids=[scene_id for scene_id, _ in moves])
        return len(moves)


def _place(at: StoryPosition) -> ScenePlace:
    if at.chapter_index is None or at.scene_index is None:
        raise UnknownSceneError(f"{str(at)!r} names no scene; give chapter and scene")
    return at.chapter_index, at.scene_index
