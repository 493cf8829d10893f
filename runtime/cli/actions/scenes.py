"""Looking at stored scenes, inserting, moving and deleting them."""

from __future__ import annotations

from pathlib import Path

from novelgen.errors import InvalidPositionError, UserInputError
from novelgen.models.position import StoryPosition
from runtime.cli.actions.entities import known_entities
from runtime.cli.index_following import follow_index, index_state
from runtime.cli.labels import place_text, view_labels_for
from runtime.cli.opening import opened_project, story_language
from runtime.cli.output import print_json, print_pairs, print_table, print_text, report_line
from runtime.cli.session import CliSession
from runtime.ingest.ingest import delete_scene, ingest_scene
from runtime.ingest.scene_input import SceneInput
from runtime.projects.file_reading import read_text_file
from runtime.stores import MemoryStores


def list_scenes(session: CliSession, project_id: str, *, as_json: bool) -> None:
    """Show the stored scenes in story order."""
    with opened_project(session, project_id) as stores:
        with stores.database(project_id).read() as unit:
            scenes = unit.scenes.list_as_of()
            names = {each.entity_id: each.name for each in known_entities(unit, project_id, None)}
        labels = view_labels_for(story_language(stores, project_id))
    if as_json:
        print_json([scene.model_dump(mode="json", exclude={"text", "record"}) for scene in scenes])
        return
    rows = [
        (
            place_text(each.chapter_index, each.scene_index, labels),
            each.extraction_status,
            each.title,
            ", ".join(names.get(one, one) for one in each.participants),
        )
        for each in scenes
    ]
    print_table((labels.place, labels.status, labels.title, labels.on_stage), rows, wide=3)


def show_scene(session: CliSession, project_id: str, place: StoryPosition, *, as_json: bool) -> None:
    """Show a scene with its text.

    Raises:
        UnknownSceneError: When none stands there.
    """
    with opened_project(session, project_id) as stores:
        with stores.database(project_id).read() as unit:
            scene = unit.scenes.require(place)
            names = {each.entity_id: each.name for each in known_entities(unit, project_id, None)}
        labels = view_labels_for(story_language(stores, project_id))
    if as_json:
        print_json(scene)
        return
    print_pairs(
        {
            labels.place: str(scene.position),
            labels.title: scene.title,
            labels.status: scene.extraction_status,
            labels.on_stage: ", ".join(names.get(each, each) for each in scene.participants),
        }
    )
    print_text("\n" + (scene.text or ""))


def insert_scene(
    session: CliSession, project_id: str, place: StoryPosition, *, text_file: Path | None, title: str
) -> None:
    """Make room at a place and store a new scene there when a file is given.

    Raises:
        InvalidPositionError: When a text is given for a whole chapter.
        InvalidFileError: When the file cannot be read; nothing is moved then.
    """
    text = read_text_file(text_file) if text_file is not None else None
    if text is not None and place.scene_index is None:
        raise InvalidPositionError(f"{str(place)!r} is a chapter; name the place of the scene: {place}:1")
    if text is not None and not text.strip():
        raise UserInputError(f"{str(text_file)!r} holds no text; nothing was moved")
    with opened_project(session, project_id) as stores:
        with stores.database(project_id).write() as unit:
            moved = unit.scenes.insert_gap(place)
        if text is None:
            follow_index(stores, project_id)
            print_text(f"room at {place}; {moved} scenes moved")
        else:
            _store_inserted(stores, project_id, place, text.strip(), title)
            print_text(f"new scene at {place}; {moved} scenes moved")
    _remind_of_files(moved)


def move_scene(session: CliSession, project_id: str, source: StoryPosition, target: StoryPosition) -> None:
    """Move a scene, or a whole chapter.

    Raises:
        InvalidPositionError: When one is a scene and the other a chapter.
        UnknownSceneError: When nothing stands at the source.
    """
    if (source.scene_index is None) != (target.scene_index is None):
        raise InvalidPositionError(
            f"{str(source)!r} and {str(target)!r} are not alike; move a scene to a scene's place (3:2 5:1) or a "
            "chapter to a chapter's (3 5)"
        )
    with opened_project(session, project_id) as stores:
        with stores.database(project_id).write() as unit:
            if source.scene_index is None:
                moved = unit.scenes.move_chapter(source.chapter_index or 0, target.chapter_index or 0)
            else:
                moved = unit.scenes.move_scene(source, target)
        follow_index(stores, project_id)
    print_text(f"{source} is now {target}; {moved} scenes have another place than before")
    _remind_of_files(moved)


def delete_scene_at(session: CliSession, project_id: str, place: StoryPosition) -> None:
    """Delete a scene with everything that came from it.

    Raises:
        UnknownSceneError: When none stands there.
    """
    with opened_project(session, project_id) as stores:
        result = delete_scene(stores, project_id, place)
        if result.indexing.waiting:
            report_line(f"warning: deleted, but the index lags: {index_state(result.indexing, project_id)}")
    print_text(f"deleted scene {place} with {result.scenes[0].removed} memories")
    report_line("its file in chapters/ still holds it: take it out there, or the next ingest brings it back")


def _store_inserted(
    stores: MemoryStores, project_id: str, place: StoryPosition, text: str, title: str
) -> None:
    scene = SceneInput(
        chapter_index=place.chapter_index or 0, scene_index=place.scene_index or 0, title=title, text=text
    )
    result = ingest_scene(stores, project_id, scene)
    if result.indexing.waiting:
        report_line(f"warning: stored, but the index lags: {index_state(result.indexing, project_id)}")


def _remind_of_files(moved: int) -> None:
    if moved:
        report_line("the files in chapters/ keep their numbers: renumber them before the next ingest")
