"""`novelgen memory`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from runtime.cli.parameters import (
    COUNT,
    CliSession,
    CommandGroup,
    as_of_option,
    json_option,
    project_argument,
)

if TYPE_CHECKING:
    from novelgen.models.position import StoryPosition

STATUSES = ("active", "banned", "deleted")


@click.group(cls=CommandGroup)
def memory() -> None:
    """Look at single memories and put them right.

    What you decide survives a new ingest.
    """


@memory.command("list", epilog="\b\nExample:\n  novelgen memory list my-novel --entity Ada --limit 20")
@project_argument
@click.option(
    "--entity", "entities", multiple=True, help="Only of this entity: id, name or alias; repeatable."
)
@click.option(
    "--type",
    "content_types",
    multiple=True,
    help="Only this kind: memory, summary, note, …; repeatable.",
)
@click.option(
    "--status",
    type=click.Choice(STATUSES),
    default="active",
    show_default=True,
    help="What was decided about them.",
)
@click.option("--limit", type=COUNT, default=50, show_default=True, help="At most so many, in story order.")
@as_of_option
@json_option
@click.pass_obj
def list_command(
    session: CliSession,
    project: str,
    entities: tuple[str, ...],
    content_types: tuple[str, ...],
    status: str,
    limit: int,
    as_of: StoryPosition | None,
    as_json: bool,
) -> None:
    """List memories in story order."""
    from runtime.cli.actions.memories import list_memories

    list_memories(
        session,
        project,
        entities=entities,
        content_types=content_types,
        status=status,
        limit=limit,
        as_of=as_of,
        as_json=as_json,
    )


@memory.command(epilog="\b\nExample:\n  novelgen memory show my-novel note-N0")
@project_argument
@click.argument("memory_id", metavar="MEMORY")
@json_option
@click.pass_obj
def show(session: CliSession, project: str, memory_id: str, as_json: bool) -> None:
    """Show one memory whole; MEMORY is its chunk_id or source_id."""
    from runtime.cli.actions.memories import show_memory

    show_memory(session, project, memory_id, as_json=as_json)


@memory.command(
    epilog='\b\nExample:\n  novelgen memory edit my-novel M012 --text "The key is brass." --importance 8'
)
@project_argument
@click.argument("memory_id", metavar="MEMORY")
@click.option("--text", help="New content.  [default: as it is]")
@click.option("--short", help="New short form.  [default: as it is; dropped with a new text]")
@click.option("--importance", type=click.IntRange(1, 10), help="New weight, 1 to 10.  [default: as it is]")
@click.option(
    "--tag", "tags", multiple=True, help="New tags, all of them; repeatable.  [default: as they are]"
)
@click.pass_obj
def edit(
    session: CliSession,
    project: str,
    memory_id: str,
    text: str | None,
    short: str | None,
    importance: int | None,
    tags: tuple[str, ...],
) -> None:
    """Change a memory; from then on it is yours, and no ingest touches it."""
    from runtime.cli.actions.memories import edit_memory

    edit_memory(
        session, project, memory_id, content=text, short=short, importance=importance, tags=list(tags) or None
    )


def _add_decision(name: str, help_text: str) -> None:
    """Add a subcommand that decides one thing about a memory."""

    @memory.command(name, help=help_text, epilog=f"\b\nExample:\n  novelgen memory {name} my-novel M012")
    @project_argument
    @click.argument("memory_id", metavar="MEMORY")
    @click.pass_obj
    def decide(session: CliSession, project: str, memory_id: str) -> None:
        from runtime.cli.actions.memories import decide_memory

        decide_memory(session, project, memory_id, decision=name)


for _name, _help in (
    ("pin", "Pin a memory: it outranks the others."),
    ("unpin", "Take a pin off."),
    ("ban", "Ban a memory: it is kept, but no search and no context brings it."),
    ("unban", "Lift a ban, or bring a deleted memory back."),
    ("delete", "Delete a memory; a new ingest does not bring it back."),
):
    _add_decision(_name, _help)


@memory.command(
    epilog='\b\nExamples:\n  novelgen memory attach my-novel M012 Ada "the brass key"\n'
    "  novelgen memory attach my-novel M012 chapter:3"
)
@project_argument
@click.argument("memory_id", metavar="MEMORY")
@click.argument("targets", metavar="TARGET...", nargs=-1, required=True)
@click.pass_obj
def attach(session: CliSession, project: str, memory_id: str, targets: tuple[str, ...]) -> None:
    """Attach a memory to what it is about.

    TARGET is an entity's id or name, a chapter as chapter:3, or book. An unknown name is refused with the
    nearest.
    """
    from runtime.cli.actions.attachments import attach_memory

    attach_memory(session, project, memory_id, targets)


@memory.command(epilog="\b\nExample:\n  novelgen memory detach my-novel M012 Ben")
@project_argument
@click.argument("memory_id", metavar="MEMORY")
@click.argument("targets", metavar="TARGET...", nargs=-1, required=True)
@click.pass_obj
def detach(session: CliSession, project: str, memory_id: str, targets: tuple[str, ...]) -> None:
    """Take a memory off what it is not about; a new ingest does not attach it again.

    TARGET is an entity's id or name, a chapter as chapter:3, or book.
    """
    from runtime.cli.actions.attachments import detach_memory

    detach_memory(session, project, memory_id, targets)


@memory.command(
    "attach-mentions", epilog="\b\nExample:\n  novelgen memory attach-mentions my-novel Ada --apply"
)
@project_argument
@click.argument("entity")
@click.option("--apply", "is_applied", is_flag=True, help="Attach them.  [default: only show them]")
@json_option
@click.pass_obj
def attach_mentions(session: CliSession, project: str, entity: str, is_applied: bool, as_json: bool) -> None:
    """Attach every memory whose text names ENTITY to it; shown first, attached with --apply."""
    from runtime.cli.actions.attachments import attach_mentions as attach_them

    attach_them(session, project, entity, is_applied=is_applied, as_json=as_json)
