"""`novelgen extract`."""

from __future__ import annotations

import click

from runtime.cli.options import json_option, project_argument
from runtime.cli.session import CliSession


@click.command(
    epilog="\b\nExamples:\n  novelgen extract my-novel\n  novelgen extract my-novel --retry\n"
    "  novelgen extract my-novel --chapter 7 --model openai:gpt-4.1-mini"
)
@project_argument
@click.option("--retry", is_flag=True, help="Also the scenes whose extraction failed before.")
@click.option("--chapter", type=click.IntRange(min=0), help="Only this chapter.  [default: all]")
@click.option(
    "--model", metavar="PROVIDER:MODEL", help="Chat model.  [default: memory.summarization.model, else model]"
)
@json_option
@click.pass_obj
def extract(
    session: CliSession, project: str, retry: bool, chapter: int | None, model: str | None, as_json: bool
) -> None:
    """Let a model read the stored scenes that have no record.

    What it finds (memories, states, relationships, open threads, new people and places) is stored with the
    quote that proves it. Records that you wrote or supplied are left alone. A scene that cannot be read keeps its
    text and is marked failed, with the reason.
    """
    from runtime.cli.actions.extract import extract_project

    extract_project(session, project, retry=retry, chapter=chapter, model=model, as_json=as_json)
