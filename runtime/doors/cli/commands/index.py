"""`novelgen index`, and what a command says whose indexing is broken off."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import click

from runtime.doors.cli.opening import opened_project
from runtime.doors.cli.output import index_state, print_json, print_pairs, progress_bars, report_line
from runtime.doors.cli.parameters import CliSession, json_option, project_argument


@click.command(epilog="\b\nExample:\n  novelgen index my-novel")
@project_argument
@json_option
@click.pass_obj
def index(session: CliSession, project: str, as_json: bool) -> None:
    """Make what is stored searchable by meaning.

    Does what an import left for later, goes on where an earlier run stopped, and may be stopped at any time. Until it
    is done, contexts and searches find the rest by words and names, and say how much waits.
    """
    from runtime.story.indexing import StoryIndexing

    bars = progress_bars("meaning, characters")
    with opened_project(session, project) as stores, resuming(project), bars as (progress,):
        result = StoryIndexing(stores, project).index_project(progress=progress)
    if as_json:
        print_json(result)
        return
    done = f"{result.indexed} memories, {result.embedded} texts embedded"
    print_pairs({"project": project, "indexed": done, "index": index_state(result, project)})


@contextmanager
def resuming(project: str, *, command: str = "") -> Iterator[None]:
    """Say, when the block is interrupted, that what is stored is whole, and what goes on with the rest."""
    try:
        yield
    except KeyboardInterrupt:
        repeat = f"repeat `{command}` if text is missing; " if command else ""
        report_line(
            f"stopped: what was stored is whole and found by words; {repeat}"
            f"`novelgen index {project}` goes on with its meaning"
        )
        raise
