"""`novelgen scene`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from runtime.cli.options import FILE, POSITION, json_option, project_argument
from runtime.cli.session import CliSession

if TYPE_CHECKING:
    from novelgen.models.position import StoryPosition


@click.group()
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
    from runtime.cli.actions.scenes import list_scenes

    list_scenes(session, project, as_json=as_json)


@scene.command(epilog="\b\nExample:\n  novelgen scene show my-novel 3:2")
@project_argument
@click.argument("place", metavar="C:S", type=POSITION)
@json_option
@click.pass_obj
def show(session: CliSession, project: str, place: StoryPosition, as_json: bool) -> None:
    """Show a stored scene with its text."""
    from runtime.cli.actions.scenes import show_scene

    show_scene(session, project, place, as_json=as_json)


@scene.command(
    epilog="\b\nExamples:\n  novelgen scene insert my-novel 3:2 --file new-scene.md\n  novelgen scene insert my-novel 4"
)
@project_argument
@click.argument("place", metavar="C:S", type=POSITION)
@click.option("--file", "text_file", type=FILE, help="Text of the new scene.  [default: only make room]")
@click.option("--title", default="", help="Title of the new scene.  [default: none]")
@click.pass_obj
def insert(
    session: CliSession, project: str, place: StoryPosition, text_file: Path | None, title: str
) -> None:
    """Make room at a place, and store a new scene there when a file is given.

    The scene that stands there and those after it move on by one; with a chapter alone, the chapters do.
    """
    from runtime.cli.actions.scenes import insert_scene

    insert_scene(session, project, place, text_file=text_file, title=title)


@scene.command(
    epilog="\b\nExamples:\n  novelgen scene move my-novel 3:2 5:1\n  novelgen scene move my-novel 3 5"
)
@project_argument
@click.argument("source", metavar="FROM", type=POSITION)
@click.argument("target", metavar="TO", type=POSITION)
@click.pass_obj
def move(session: CliSession, project: str, source: StoryPosition, target: StoryPosition) -> None:
    """Move a scene (3:2 5:1) or a whole chapter (3 5); the others close up and make room."""
    from runtime.cli.actions.scenes import move_scene

    move_scene(session, project, source, target)


@scene.command(epilog="\b\nExample:\n  novelgen scene delete my-novel 3:2")
@project_argument
@click.argument("place", metavar="C:S", type=POSITION)
@click.pass_obj
def delete(session: CliSession, project: str, place: StoryPosition) -> None:
    """Delete a scene with everything that came from it; your notes stay."""
    from runtime.cli.actions.scenes import delete_scene_at

    delete_scene_at(session, project, place)
