"""Looking at the records of stored scenes, and replacing them by the author's."""

from __future__ import annotations

import json
from pathlib import Path

import click
from pydantic import ValidationError

from novelgen.errors import InvalidFileError
from novelgen.models.position import StoryPosition
from novelgen.models.record import SceneRecord
from runtime.cli.index_following import index_state
from runtime.cli.opening import opened_project
from runtime.cli.output import print_json, print_text, report_line
from runtime.cli.session import CliSession
from runtime.ingest.ingest import ingest_scene
from runtime.ingest.scene_input import SceneInput
from runtime.projects.file_reading import read_text_file
from runtime.storage.records import MemoryFilter, StoredScene
from runtime.stores import MemoryStores


def show_record(session: CliSession, project_id: str, place: StoryPosition) -> None:
    """Print a scene's record as JSON; an empty one where it has none. What no quote proves is told beside it.

    Raises:
        UnknownSceneError: When no scene stands there.
    """
    with opened_project(session, project_id) as stores:
        scene = _stored_scene(stores, project_id, place)
        unverified = _unverified_facts(stores, scene)
    if scene.record is None:
        reason = f": {scene.failure_reason}" if scene.failure_reason else ""
        report_line(f"scene {place} has no record (extraction {scene.extraction_status}{reason})")
    for fact in unverified:
        report_line(f"unverified, its quote is not in the scene: {fact}")
    print_json(_record_of(scene))


def edit_record(
    session: CliSession, project_id: str, place: StoryPosition, *, record_file: Path | None
) -> None:
    """Store a record that the author wrote, in place of what is stored.

    Raises:
        UnknownSceneError: When no scene stands there.
        InvalidFileError: When what was written is no record; nothing is changed then.
    """
    with opened_project(session, project_id) as stores:
        scene = _stored_scene(stores, project_id, place)
        text = read_text_file(record_file) if record_file is not None else _edited(scene)
        if text is None:
            print_text(f"the record of scene {place} is as it was")
            return
        written = SceneInput(
            chapter_index=scene.chapter_index,
            scene_index=scene.scene_index,
            title=scene.title,
            text=scene.text or "",
            record=_parsed(text, scene, str(record_file or "the edited record")),
            record_origin="author",
        )
        result = ingest_scene(stores, project_id, written)
    for issue in result.scenes[0].issues:
        report_line(f"warning: {issue.message}")
    if result.indexing.waiting:
        report_line(f"warning: stored, but the index lags: {index_state(result.indexing, project_id)}")
    print_text(f"scene {place} now has your record")


def _stored_scene(stores: MemoryStores, project_id: str, place: StoryPosition) -> StoredScene:
    with stores.database(project_id).read() as unit:
        return unit.scenes.require(place)


def _unverified_facts(stores: MemoryStores, scene: StoredScene) -> list[str]:
    with stores.database(scene.project_id).read() as unit:
        memories = unit.memories.list_matching(MemoryFilter(unverified_only=True))
        changes = unit.states.unverified(scene_id=scene.scene_id)
    facts = [
        f"memory {stored.chunk.source_id}: {stored.chunk.content}"
        for stored in memories
        if stored.scene_id == scene.scene_id
    ]
    return facts + [f"state {change.entity_id}.{change.attribute}: {change.value}" for change in changes]


def _record_of(scene: StoredScene) -> SceneRecord:
    empty = SceneRecord(chapter_index=scene.chapter_index, scene_index=scene.scene_index, title=scene.title)
    return scene.record or empty


def _edited(scene: StoredScene) -> str | None:
    """Let the author edit the record; None when nothing was saved."""
    shown = json.dumps(_record_of(scene).model_dump(mode="json"), indent=2, ensure_ascii=False)
    return click.edit(shown, extension=".json")


def _parsed(text: str, scene: StoredScene, name: str) -> SceneRecord:
    try:
        record = SceneRecord.model_validate_json(text)
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(map(str, first["loc"])) or "the file"
        raise InvalidFileError(
            f"{name!r} is no scene record: {field}: {first['msg']}; nothing was changed"
        ) from error
    # A record belongs to the scene that it is given for, wherever that stood when it was written.
    place = {"chapter_index": scene.chapter_index, "scene_index": scene.scene_index}
    return record.model_copy(update=place)
