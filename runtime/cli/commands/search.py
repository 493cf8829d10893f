"""`novelgen search`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from runtime.cli.parameters import COUNT, CliSession, as_of_option, json_option, project_argument

if TYPE_CHECKING:
    from novelgen.models.position import StoryPosition

CONTENT_TYPES = ("scene", "dialogue", "description", "summary", "memory", "note")


@click.command(
    epilog='\b\nExamples:\n  novelgen search my-novel "the brass key"\n'
    '  novelgen search my-novel "a promise" --entity Ada --type memory --as-of 4:1 --json'
)
@project_argument
@click.argument("query")
@click.option(
    "--entity", "entities", multiple=True, help="Only of this entity: id, name or alias; repeatable."
)
@click.option(
    "--type", "content_type", type=click.Choice(CONTENT_TYPES), help="Only this kind.  [default: all]"
)
@click.option("--tag", "tags", multiple=True, help="Only memories with this tag; repeatable.")
@click.option("--top-k", type=COUNT, default=10, show_default=True, help="At most so many.")
@as_of_option
@json_option
@click.pass_obj
def search(
    session: CliSession,
    project: str,
    query: str,
    entities: tuple[str, ...],
    content_type: str | None,
    tags: tuple[str, ...],
    top_k: int,
    as_of: StoryPosition | None,
    as_json: bool,
) -> None:
    """Search the memory by meaning and by words, best first."""
    from runtime.cli.actions.search import search_project

    search_project(
        session,
        project,
        query,
        entities=entities,
        content_type=content_type,
        tags=tags,
        top_k=top_k,
        as_of=as_of,
        as_json=as_json,
    )
