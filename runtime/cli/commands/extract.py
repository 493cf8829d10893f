"""`novelgen extract`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from runtime.cli.parameters import POSITION, CliSession, json_option, project_argument

if TYPE_CHECKING:
    from novelgen.models.position import StoryPosition


@click.command(
    epilog="\b\nExamples:\n  novelgen extract my-novel\n  novelgen extract my-novel --retry\n"
    "  novelgen extract my-novel --chapter 7 --model openai:gpt-4.1-mini\n"
    "  novelgen extract my-novel --scene 7:2 --scene 7:3"
)
@project_argument
@click.option("--retry", is_flag=True, help="Also the scenes whose extraction failed before.")
@click.option("--again", is_flag=True, help="Also the scenes that a model read before.")
@click.option("--chapter", type=click.IntRange(min=0), help="Only this chapter.  [default: all]")
@click.option(
    "--scene",
    "scenes",
    type=POSITION,
    multiple=True,
    help="Only this scene, read before or not; several with one --scene each.",
)
@click.option(
    "--model", metavar="PROVIDER:MODEL", help="Chat model.  [default: memory.summarization.model, else model]"
)
@json_option
@click.pass_obj
def extract(
    session: CliSession,
    project: str,
    retry: bool,
    again: bool,
    chapter: int | None,
    scenes: tuple[StoryPosition, ...],
    model: str | None,
    as_json: bool,
) -> None:
    """Let a model read the stored scenes that have no record.

    What it finds (memories, states, relationships, open threads, new people and places) is stored with the
    quote that proves it. Records that you wrote or supplied are left alone. A scene that cannot be read keeps its
    text and is marked failed, with the reason.

    With --scene or --again scenes are read anew: what the model said before is replaced, what you wrote or
    changed stays. Where that fails, the record of before is kept.
    """
    from runtime.cli.actions.extract import extract_project
    from runtime.ingest.extraction_choice import ExtractionChoice

    if scenes and (retry or again or chapter is not None):
        raise click.UsageError("--scene names the scenes; leave out --chapter, --retry and --again")
    choice = ExtractionChoice(scenes=scenes, chapter_index=chapter, retry_failed=retry, again=again)
    extract_project(session, project, choice=choice, model=model, as_json=as_json)
