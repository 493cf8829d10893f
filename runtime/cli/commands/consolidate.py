"""`novelgen consolidate`."""

from __future__ import annotations

import click

from runtime.cli.parameters import COUNT, CliSession, json_option, project_argument

_EXAMPLES = """\b
Examples:
  novelgen consolidate my-novel --dry-run
  novelgen consolidate my-novel --limit 200
  novelgen consolidate my-novel --list
  novelgen consolidate my-novel --undo consolidated-0123456789abcdef
  novelgen consolidate my-novel --undo-all"""


@click.command(epilog=_EXAMPLES)
@project_argument
@click.option(
    "--limit",
    type=COUNT,
    help="Most memories per entity.  [default: memory.consolidation.max_memories_per_entity, else 300]",
)
@click.option("--no-model", is_flag=True, help="Join the memories' own sentences, though a model is set.")
@click.option("--dry-run", is_flag=True, help="Only show what would be consolidated.")
@click.option("--list", "listing", is_flag=True, help="List the consolidated memories with their sources.")
@click.option("--undo", metavar="ID", help="Take one consolidated memory back.")
@click.option("--undo-all", is_flag=True, help="Take all consolidated memories back.")
@json_option
@click.pass_obj
def consolidate(
    session: CliSession,
    project: str,
    limit: int | None,
    no_model: bool,
    dry_run: bool,
    listing: bool,
    undo: str | None,
    undo_all: bool,
    as_json: bool,
) -> None:
    """Let one memory stand for several small ones.

    Done where an entity has more memories than a limit.

    Taken together are the least important memories of an entity that lie near each other in the story and speak of
    one topic. A scene after the last of them reads the one memory, earlier scenes read them as before; they are
    kept, and come back when one of them changes or you undo it. Important ones, your own, promises not yet kept and
    what belongs to open threads are never touched.
    """
    if sum([listing, undo is not None, undo_all, dry_run]) > 1:
        raise click.UsageError("give only one of --dry-run, --list, --undo and --undo-all")
    if (listing or undo is not None or undo_all) and (limit is not None or no_model):
        raise click.UsageError("--list, --undo and --undo-all go without --limit and --no-model")
    from runtime.cli.actions import consolidation

    if listing:
        consolidation.list_consolidations(session, project, as_json=as_json)
    elif undo is not None or undo_all:
        consolidation.undo(session, project, undo, as_json=as_json)
    else:
        consolidation.consolidate(
            session, project, limit=limit, with_model=not no_model, dry_run=dry_run, as_json=as_json
        )
