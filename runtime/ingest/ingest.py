"""Taking scenes in: one SQL transaction per scene, then the vector index.

A scene that is there already is replaced by `scene_writes.replace_scene`: what came from it before is withdrawn by
`runtime.storage.scene_writer.SceneWriter`, what it brings now is inserted, and nothing else changes.
"""

import logging
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, Field

from novelgen.errors import DatabaseError
from novelgen.language.language import story_language
from novelgen.language.normalise import name_key
from novelgen.models.context import ReportIssue
from novelgen.models.entity import Entity, EntityAlias
from novelgen.models.knowledge import READER
from novelgen.models.position import StoryPosition
from novelgen.models.record import is_unsaid
from novelgen.models.user_file import StoryPart, UserFileModel
from novelgen.reading.knowledge_reading import with_reading_of
from runtime.files.project_files import load_book
from runtime.ingest.consolidation import consolidate_beyond_setting
from runtime.ingest.entities import store_entities, store_entities_in
from runtime.ingest.guessed_names import guess_names_in
from runtime.ingest.indexing import (
    INDEX_STAGE,
    IndexingResult,
    Progress,
    drain_outbox,
    rebuild_if_bloated,
    verify_after_crash,
)
from runtime.ingest.scene_input import (
    SceneInput,
    SceneSurroundings,
    bare_text,
    record_origin_of,
    record_with_ids,
    scenes_of_book,
)
from runtime.ingest.scene_writes import keep_of_run, new_run, read_surroundings, replace_scene, same_record
from runtime.storage.change import ChangeNumber
from runtime.storage.database import UnitOfWork
from runtime.storage.records import Scene
from runtime.stores import MemoryStores

logger = logging.getLogger(__name__)

Outcome = Literal["added", "replaced", "unchanged"]
INGEST_STAGE = "ingest"


class SceneIngestResult(BaseModel):
    """The result of one scene, with counts of its memories."""

    chapter_index: int
    scene_index: int
    scene_id: str
    outcome: Outcome
    added: int = 0
    changed: int = 0
    removed: int = 0
    unchanged: int = Field(default=0, description="They keep their vectors.")
    kept: int = Field(default=0, description="Changed by the author, and therefore left alone.")
    ended: dict[str, str] = Field(
        default_factory=dict,
        exclude_if=is_unsaid,
        description="Id of a memory to that of the earlier one which it ends by rule: a promise broken, a secret out.",
    )
    issues: list[ReportIssue] = Field(default_factory=list)
    change_id: ChangeNumber = None


class IngestResult(BaseModel):
    """The results of stored scenes, and of the vector index."""

    scenes: list[SceneIngestResult] = Field(default_factory=list)
    indexing: IndexingResult = Field(default_factory=IndexingResult)
    consolidation: list[ReportIssue] = Field(
        default_factory=list, description="What went wrong in consolidating, where the settings ask for it."
    )

    def count(self, outcome: Outcome) -> int:
        """Return how many scenes had that outcome."""
        return sum(scene.outcome == outcome for scene in self.scenes)

    @property
    def change_id(self) -> int | None:
        """The undo id of a run, None without a change."""
        return next((result.change_id for result in reversed(self.scenes) if result.change_id is not None), None)

    @property
    def issues(self) -> list[ReportIssue]:
        """Everything that went wrong or is missing, of the scenes first."""
        of_scenes = [issue for scene in self.scenes for issue in scene.issues]
        return [*of_scenes, *self.indexing.issues, *self.consolidation]


def ingest_scene(
    stores: MemoryStores, project_id: str, scene: SceneInput, *, guard: Callable[[Scene | None], None] | None = None
) -> IngestResult:
    """Store one scene with undo.

    See `ingest_scenes`. `guard` may refuse what stands at its place.
    """
    return ingest_scenes(stores, project_id, [scene], run_id=new_run(), guard=guard)


def ingest_scenes(
    stores: MemoryStores,
    project_id: str,
    scenes: Sequence[SceneInput],
    *,
    run_id: str = "",
    progress: Callable[[int, int], Any] | None = None,
    index: bool = True,
    index_progress: Callable[[int, int], Any] | None = None,
    guard: Callable[[Scene | None], None] | None = None,
) -> IngestResult:
    """Take scenes in, each in one transaction, and let the vector index follow.

    A scene with the text, title and record that are stored already is left alone; one that comes without a
    record keeps the stored one while its text is the same. Otherwise the scene takes the place of what stood
    at its position, together with all that came from that, and nothing else. Once a scene is committed it is
    safe: what the index could not take waits in the outbox, and the result says so. What shares a `run_id` can be
    undone, together; without one nothing is kept for that.
    """
    database = stores.database(project_id)
    results: list[SceneIngestResult] = []
    for scene in scenes:
        # All in one writing transaction, so that no other writer's names or scenes can slip in between.
        with database.write() as unit:
            if guard is not None:
                guard(unit.scenes.get(StoryPosition(scene.chapter_index, scene.scene_index)))
            results.append(take_in(unit, scene, project_id=project_id, run_id=run_id, stores=stores))
        if progress is not None:
            progress(len(results), len(scenes))
    if not index:
        return IngestResult(scenes=results)
    indexing = _followed(stores, project_id, index_progress)
    consolidation = consolidate_beyond_setting(stores, project_id)
    return IngestResult(scenes=results, indexing=indexing, consolidation=consolidation)


def _followed(stores: MemoryStores, project_id: str, progress: Callable[[int, int], Any] | None) -> IndexingResult:
    """Update the index, keeping the stored scenes on any failure."""
    try:
        result = drain_outbox(stores, project_id, progress=progress)
        return rebuild_if_bloated(stores, project_id, verify_after_crash(stores, project_id, result))
    except DatabaseError as error:
        logger.warning("project %r: the vector index does not follow: %s", project_id, error)
        message = f"the scenes are stored, but the vector index does not follow: {error}"
        return IndexingResult(issues=[ReportIssue(stage=INDEX_STAGE, kind="unavailable", message=message)])


def take_in(
    unit: UnitOfWork, given: SceneInput, *, project_id: str, stores: MemoryStores, run_id: str = ""
) -> SceneIngestResult:
    """Store a scene in a running transaction.

    See `ingest_scenes`.
    """
    given = given.scrubbed()
    place = {"chapter_index": given.chapter_index, "scene_index": given.scene_index}
    stored_scene = unit.scenes.get(StoryPosition(**place))
    scene, issues = _with_stored_record(_with_ids_for_names(given, unit, stores=stores), stored_scene)
    if stored_scene is not None and _is_unchanged(scene, stored_scene):
        if scene.file_version is not None:
            unit.scenes.note_file_version(stored_scene.scene_id, scene.file_version)
        return SceneIngestResult(**place, scene_id=stored_scene.scene_id, outcome="unchanged", issues=issues)
    if not unit.projects.require().language:
        unit.projects.update(language=story_language(scene.text))
    surroundings = read_surroundings(unit, scene)
    before = None if stored_scene is None or not run_id else unit.scenes.image(stored_scene)
    write_result = replace_scene(
        unit, scene, surroundings, project_id=project_id, stored_scene=stored_scene, stores=stores
    )
    guess_names_in(unit, scene.text, stores=stores)
    names = ("added", "changed", "removed", "unchanged", "kept")
    return SceneIngestResult(
        **place,
        scene_id=write_result.scene_id,
        outcome="added" if write_result.is_new else "replaced",
        issues=[*issues, *_doubts(unit, scene, surroundings)],
        ended=write_result.ended,
        change_id=keep_of_run(unit, "ingest", run_id, write_result.scene_id, before).change_id if run_id else None,
        **{name: len(getattr(write_result, f"chunks_{name}")) for name in names},
    )


def _with_ids_for_names(scene: SceneInput, unit: UnitOfWork, *, stores: MemoryStores) -> SceneInput:
    """Make the cards that a supplied record brings and write ids for the names of known entities."""
    if scene.record is None or scene.record_origin != "supplied":
        return scene
    entities = [stored_entity.entity for stored_entity in unit.entities.list_all()]
    names = {name_key(name) for entity in entities for name in entity.names()}
    for entity in scene.record.new_entities:
        if name_key(entity.name) in names:
            continue
        card = Entity(
            entity_id=unit.entities.next_id(entity.entity_type),
            entity_type=entity.entity_type,
            name=entity.name,
            aliases=[EntityAlias(alias=alias) for alias in entity.aliases],
            description=entity.description,
            first_chapter=scene.chapter_index,
            first_scene=scene.scene_index,
        )
        names |= {name_key(name) for name in card.names()}
        entities.append(card)
        store_entities_in(unit, [card], origin="supplied", stores=stores)
    return scene.model_copy(update={"record": record_with_ids(scene.record, entities)})


def _with_stored_record(scene: SceneInput, stored_scene: Scene | None) -> tuple[SceneInput, list[ReportIssue]]:
    """Keep the stored record where nothing better comes: human-written facts outrank extracted ones.

    A supplied record that comes again keeps what a model read of who knows what, while the text is the same.
    """
    if stored_scene is None or stored_scene.record is None:
        return scene, []
    origin = record_origin_of(stored_scene)
    same_text = bare_text(stored_scene.text or "") == bare_text(scene.text)
    if scene.record is not None and scene.record_origin == "supplied" and same_text:
        scene = scene.model_copy(update={"record": with_reading_of(scene.record, stored_scene.record)})
    outranked = origin == "author" and (scene.record is None or scene.record_origin == "extracted")
    if not outranked and not (scene.record is None and same_text):
        return scene, []
    kept_scene = scene.model_copy(update={"record": stored_scene.record, "record_origin": origin})
    if same_text:
        return kept_scene, []
    message = f"scene {stored_scene.position} has a new text; the author's record of it was kept, check it"
    return kept_scene, [ReportIssue(stage=INGEST_STAGE, kind="stale", message=message)]


def _is_unchanged(scene: SceneInput, stored_scene: Scene) -> bool:
    title = scene.title or (scene.record.title if scene.record else "")
    same_origin = scene.record is None or scene.record_origin == record_origin_of(stored_scene)
    status = "done" if scene.record else scene.extraction_status
    return (
        stored_scene.text == scene.text
        and stored_scene.title == title
        and same_record(scene.record, stored_scene.record)
        and same_origin
        and stored_scene.staged == stored_scene.staged | scene.staged
        # Plain ingest of a scene whose extraction failed before does not make that undone.
        and (status == "none" or stored_scene.extraction_status == status)
    )


def _doubts(unit: UnitOfWork, scene: SceneInput, surroundings: SceneSurroundings) -> list[ReportIssue]:
    """Report meaningless or ambiguous parts of a record."""
    record = scene.record
    if record is None:
        return []
    at = StoryPosition(scene.chapter_index, scene.scene_index)
    named_ids = {
        *record.characters_present,
        *(change.entity_id for change in record.state_changes),
        *(entity_id for memory in record.memories for entity_id in memory.entities),
        *(who for memory in record.memories for who in (*memory.known_by, *memory.hidden_from)),
        *(who for learning in record.learned for who in (learning.character_id, learning.from_id) if who),
        *([record.location_id] if record.location_id else []),
    }
    fields = sorted(set(_unread_fields(record, "record")))
    entities = sorted(named_ids - {READER, *(entity.entity_id for entity in surroundings.entities)})
    learned_ids = [memory_id for one in record.learned for memory_id in one.memory_ids]
    # What no scene up to this one has brought.
    memories = unit.memories.unknown_sources(
        learned_ids, as_of=StoryPosition(scene.chapter_index, scene.scene_index + 1)
    )
    taken_ids = unit.memories.sources_elsewhere([memory.memory_id for memory in record.memories], at=at)
    lines = [
        (fields, f"fields of the record of scene {at} are not read: {fields!r}"),
        (
            entities,
            (
                f"the record of scene {at} names unknown entities {entities!r}; "
                "add a card of each name, or list it in the record's new_entities"
            ),
        ),
        (
            memories,
            (
                f"the record of scene {at} says that somebody learnt of memories that are not there: {memories!r}; "
                "they count once a scene before it brings them"
            ),
        ),
        (
            taken_ids,
            (
                f"the record of scene {at} gives its memories ids that memories of other scenes have: {taken_ids!r}; "
                "both are kept, but the id may mean either: leave memory_id out, or write one that no other scene has"
            ),
        ),
    ]
    return [
        ReportIssue(stage=INGEST_STAGE, kind="unresolved", message=message) for matches, message in lines if matches
    ]


def _unread_fields(value: Any, name: str) -> list[str]:
    """Return the fields that are kept but mean nothing here."""
    if isinstance(value, list):
        return [other_name for one in value for other_name in _unread_fields(one, name)]
    if not isinstance(value, UserFileModel):
        return []
    known_names = value.model_fields_set - {"extra"}
    inner = [text for field in known_names for text in _unread_fields(getattr(value, field), field)]
    return [f"{name}.{field}" for field in value.extra] + inner


def absent_scenes(stores: MemoryStores, project_id: str, scenes: Sequence[SceneInput]) -> list[StoryPosition]:
    """Find stored scenes missing from their chapters, for the author to decide."""
    present = {(scene.chapter_index, scene.scene_index) for scene in scenes}
    chapters = {chapter_index for chapter_index, _ in present}
    with stores.database(project_id).read() as unit:
        stored_scenes = unit.scenes.list_as_of()
    return [
        scene.position
        for scene in stored_scenes
        if scene.chapter_index in chapters and (scene.chapter_index, scene.scene_index) not in present
    ]


VOLUMES = "volumes_of_manuscript"
"""Mark among a project's settings: its parts came from headings, and follow them until the author says others."""


def follow_volumes(stores: MemoryStores, project_id: str, volumes: Sequence[StoryPart]) -> None:
    """Set parts from the manuscript's volumes, keeping the author's."""
    if not volumes:
        return
    entries = [part.model_dump(exclude={"extra"}) for part in volumes]
    with stores.database(project_id).write() as unit:
        settings = unit.projects.require().settings
        stored_value = settings.get("parts") or []
        is_theirs = not stored_value or stored_value == entries or bool(settings.get(VOLUMES))
        if is_theirs and (stored_value != entries or not settings.get(VOLUMES)):
            unit.projects.update(settings={**settings, "parts": entries, VOLUMES: True})


def import_book(
    stores: MemoryStores,
    folder: Path,
    *,
    project_id: str,
    records: bool = False,
    progress: Progress | None = None,
    index_progress: Progress | None = None,
) -> IngestResult:
    """Import a book's scenes, and with `records` its entities and scene records, into a project.

    The project is created when there is none; ids of the book are kept. Importing again changes nothing.
    """
    stores.paths(project_id)
    book = load_book(folder, records=records)
    stores.ensure_project(project_id, name=book.title, language=book.language)
    if book.entities:
        store_entities(stores, project_id, book.entities)
    return ingest_scenes(
        stores, project_id, scenes_of_book(book), run_id=new_run(), progress=progress, index_progress=index_progress
    )
