"""`novelgen since`: what the story's last scenes changed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from runtime.doors.cli.opening import opened_project
from runtime.doors.cli.output import print_json, print_text
from runtime.doors.cli.parameters import POSITION, CliSession, as_of_option, json_option, project_argument

if TYPE_CHECKING:
    from novelgen.models.position import StoryPosition


@click.command(
    epilog="\b\nExamples:\n  novelgen since my-novel\n  novelgen since my-novel --scene 3:4\n"
    "  novelgen since my-novel --from 3:1 --as-of 5"
)
@project_argument
@click.option("--scene", "scene", type=POSITION, help="What this scene changed, or this whole chapter.")
@click.option("--from", "since", type=POSITION, help="What all scenes from here on changed.  [default: the last scene]")
@as_of_option
@json_option
@click.pass_obj
def since(
    session: CliSession,
    project: str,
    scene: StoryPosition | None,
    since: StoryPosition | None,
    as_of: StoryPosition | None,
    as_json: bool,
) -> None:
    """Tell what the last scene changed, or all from one on.

    New facts, best first; states, who holds what, threads, who learnt what, relationships; who came for the first time,
    died, or turned out to be somebody else. Nothing that lies after what is told of.
    """
    if scene is not None and (since is not None or as_of is not None):
        raise click.UsageError("--scene names what is told of; leave out --from and --as-of")
    from novelgen.context.difference_block import difference_lines
    from runtime.story.story_difference import StoryDifferences

    with opened_project(session, project) as stores:
        if scene is not None:
            difference = StoryDifferences(stores, project).what_scene_changed(position=scene)
        else:
            difference = StoryDifferences(stores, project).what_changed(since=since, until=as_of)
    if as_json:
        print_json(difference)
        return
    for line in difference_lines(difference):
        print_text(line)
