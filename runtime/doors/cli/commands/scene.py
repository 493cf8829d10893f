"""`novelgen scene` and `record`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from runtime.doors.cli.labels import place_text
from runtime.doors.cli.opening import opened_project, story_labels
from runtime.doors.cli.output import (
    print_json,
    print_pairs,
    print_result,
    print_table,
    print_text,
    report_indexing,
    report_line,
    report_warning,
)
from runtime.doors.cli.parameters import (
    FILE,
    POSITION,
    CliSession,
    CommandGroup,
    json_option,
    project_argument,
    require_confirmation,
    yes_option,
)

if TYPE_CHECKING:
    from novelgen.models.position import StoryPosition


@click.group(cls=CommandGroup)
def scene() -> None:
    """Look at stored scenes; insert, move or delete them.

    Memories, states and all else that came from a scene go with it.
    """


@scene.command("list", epilog="\b\nExample:\n  novelgen scene list my-novel")
@project_argument
@json_option
@click.pass_obj
def list_command(session: CliSession, project: str, as_json: bool) -> None:
    """List the stored scenes in story order."""
    from runtime.story.scenes import StoryScenes

    with opened_project(session, project) as stores:
        listed = StoryScenes(stores, project).list_scenes()
        labels = story_labels(stores, project)
    if as_json:
        told = [(each.scene.model_dump(mode="json", exclude={"text", "record"}), each.part) for each in listed]
        print_json([{**scene, "part": part} for scene, part in told])
        return
    columns: dict[str, list[str]] = {
        labels.place: [place_text(each.scene.chapter_index, each.scene.scene_index, labels) for each in listed],
        labels.status: [labels.value(each.scene.extraction_status) for each in listed],
        labels.value("volume"): [each.part for each in listed],
        labels.title: [each.scene.title for each in listed],
        labels.on_stage: [", ".join(each.on_stage) for each in listed],
    }
    if not any(each.part for each in listed):
        del columns[labels.value("volume")]
    print_table(list(columns), zip(*columns.values(), strict=True), wide=len(columns) - 1)


@scene.command(epilog="\b\nExample:\n  novelgen scene show my-novel 3:2")
@project_argument
@click.argument("place", metavar="C:S", type=POSITION)
@json_option
@click.pass_obj
def show(session: CliSession, project: str, place: StoryPosition, as_json: bool) -> None:
    """Show a stored scene with its text."""
    from runtime.story.scenes import StoryScenes

    with opened_project(session, project) as stores:
        found = StoryScenes(stores, project).get_scene(position=place)
        labels = story_labels(stores, project)
    if as_json:
        print_json(found.scene)
        return
    print_pairs(
        {
            labels.place: str(found.scene.position),
            labels.value("volume"): found.part,
            labels.title: found.scene.title,
            labels.status: labels.value(found.scene.extraction_status),
            labels.on_stage: ", ".join(found.on_stage),
        }
    )
    print_text("\n" + (found.scene.text or ""))


@scene.command(
    epilog="\b\nExamples:\n  novelgen scene insert my-novel 3:2 --file new-scene.md\n  novelgen scene insert my-novel 4"
)
@project_argument
@click.argument("place", metavar="C:S", type=POSITION)
@click.option("--file", "text_file", type=FILE, help="Text of the new scene.  [default: only make room]")
@click.option("--title", default="", help="Title of the new scene.  [default: none]")
@json_option
@click.pass_obj
def insert(
    session: CliSession, project: str, place: StoryPosition, text_file: Path | None, title: str, as_json: bool
) -> None:
    """Make room at a place, and store a new scene there when a file is given.

    The scene that stands there and those after it move on by one; with a chapter alone, the chapters do.
    """
    from runtime.files.file_reading import read_text_file
    from runtime.story.scenes import StoryScenes

    text = read_text_file(text_file) if text_file is not None else None
    with opened_project(session, project) as stores:
        change = StoryScenes(stores, project).insert_scene(position=place, text=text, title=title)
    report_indexing(change.indexing, project)
    what = "room" if text is None else "new scene"
    print_result(change, f"{what} at {place}; {change.moved} scenes moved", as_json=as_json)
    _remind_of_files(change.moved)


@scene.command(epilog="\b\nExamples:\n  novelgen scene move my-novel 3:2 5:1\n  novelgen scene move my-novel 3 5")
@project_argument
@click.argument("source", metavar="FROM", type=POSITION)
@click.argument("target", metavar="TO", type=POSITION)
@json_option
@click.pass_obj
def move(session: CliSession, project: str, source: StoryPosition, target: StoryPosition, as_json: bool) -> None:
    """Move a scene (3:2 5:1) or a whole chapter (3 5); the others close up and make room."""
    from runtime.story.scenes import StoryScenes

    with opened_project(session, project) as stores:
        change = StoryScenes(stores, project).move_scene(source=source, target=target)
    report_indexing(change.indexing, project)
    told = f"{source} is now {target}; {change.moved} scenes have another place than before"
    print_result(change, told, as_json=as_json)
    _remind_of_files(change.moved)


@scene.command(epilog="\b\nExample:\n  novelgen scene delete my-novel 3:2")
@project_argument
@click.argument("place", metavar="C:S", type=POSITION)
@yes_option
@json_option
@click.pass_obj
def delete(session: CliSession, project: str, place: StoryPosition, is_confirmed: bool, as_json: bool) -> None:
    """Delete a scene with everything that came from it; your notes stay."""
    from runtime.story.scenes import StoryScenes

    with opened_project(session, project) as stores:
        StoryScenes(stores, project).get_scene(position=place)
        require_confirmation(
            f"delete scene {place} of {project!r} with all that came from it", is_confirmed=is_confirmed
        )
        change = StoryScenes(stores, project).delete_scene(position=place)
    report_indexing(change.indexing, project, done="deleted")
    print_result(change, f"deleted scene {place} with {change.removed} memories", as_json=as_json)
    report_line("its file in chapters/ still holds it: take it out there, or the next ingest brings it back")


def _remind_of_files(moved: int) -> None:
    if moved:
        report_line("the files in chapters/ keep their numbers: renumber them before the next ingest")


@click.group(cls=CommandGroup)
def record() -> None:
    """Look at what a scene established, and correct it.

    What you write outranks what a model extracts and stays when scenes are extracted again.
    """


@record.command("show", epilog="\b\nExample:\n  novelgen record show my-novel 3:2 > record.json")
@project_argument
@click.argument("place", metavar="C:S", type=POSITION)
@click.option("--json", "as_json", is_flag=True, hidden=True, help="As without it: a record is JSON.")
@click.pass_obj
def show_record(session: CliSession, project: str, place: StoryPosition, as_json: bool) -> None:
    """Print a scene's record as JSON.

    Memories and states whose quote does not stand in the scene are listed on the error stream.
    """
    from runtime.story.scenes import StoryScenes

    with opened_project(session, project) as stores:
        view = StoryScenes(stores, project).get_record(position=place)
    if not view.is_stored:
        reason = f": {view.failure_reason}" if view.failure_reason else ""
        report_line(f"scene {place} has no record (extraction {view.extraction_status}{reason})")
    for fact in view.unverified:
        report_line(f"unverified, its quote is not in the scene: {fact}")
    print_json(view.record)


@record.command(
    "edit",
    epilog="\b\nExamples:\n  novelgen record edit my-novel 3:2\n  novelgen record edit my-novel 3:2 --file record.json",
)
@project_argument
@click.argument("place", metavar="C:S", type=POSITION)
@click.option("--file", "record_file", type=FILE, help="The new record.  [default: open $EDITOR]")
@json_option
@click.pass_obj
def edit_record(
    session: CliSession, project: str, place: StoryPosition, record_file: Path | None, as_json: bool
) -> None:
    """Replace a scene's record by one that you wrote, in an editor or a file.

    What came from the old record is withdrawn; a scene without a record starts with an empty one.
    """
    from runtime.files.file_reading import read_text_file
    from runtime.story.scenes import StoryScenes

    with opened_project(session, project) as stores:
        stored = StoryScenes(stores, project).get_record(position=place).record
        shown = json.dumps(stored.model_dump(mode="json"), indent=2, ensure_ascii=False)
        written = read_text_file(record_file) if record_file else click.edit(shown, extension=".json")
        if written is None:
            print_result(stored, f"the record of scene {place} is as it was", as_json=as_json)
            return
        source_name = str(record_file or "the edited record")
        change = StoryScenes(stores, project).replace_record(position=place, written=written, source_name=source_name)
    for issue in change.issues:
        report_warning(issue.message)
    report_indexing(change.indexing, project)
    print_result(change, f"scene {place} now has your record", as_json=as_json)
