"""`novelgen memory` and `note`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from runtime.cli.commands.knowledge import knowers, knowledge
from runtime.cli.labels import place_text
from runtime.cli.opening import opened_project, story_labels
from runtime.cli.output import (
    print_json,
    print_pairs,
    print_result,
    print_text,
    report_indexing,
    report_line,
)
from runtime.cli.parameters import (
    COUNT,
    POSITION,
    CliSession,
    CommandGroup,
    as_of_option,
    json_option,
    project_argument,
    require_confirmation,
    yes_option,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from novelgen.models.memory import Attachment
    from novelgen.models.position import StoryPosition
    from runtime.services.attachments import AttachmentChange
    from runtime.services.memories import MemoryChange, MemoryStatus


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
    type=click.Choice(["active", "banned", "deleted"]),
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
    status: MemoryStatus,
    limit: int,
    as_of: StoryPosition | None,
    as_json: bool,
) -> None:
    """List memories in story order."""
    from runtime.cli.views import print_memories
    from runtime.services.memories import list_memories

    with opened_project(session, project) as stores:
        found = list_memories(
            stores,
            project,
            entities=entities,
            content_types=content_types,
            status=status,
            limit=limit,
            as_of=as_of,
        )
        labels = story_labels(stores, project)
    if as_json:
        print_json(found.memories)
        return
    print_memories([each.chunk for each in found.memories], labels)
    if found.total > len(found.memories):
        print_text(f"… {found.total - len(found.memories)} more; raise --limit")


@memory.command(epilog="\b\nExample:\n  novelgen memory show my-novel note-N0")
@project_argument
@click.argument("memory_id", metavar="MEMORY")
@json_option
@click.pass_obj
def show(session: CliSession, project: str, memory_id: str, as_json: bool) -> None:
    """Show one memory whole; MEMORY is its chunk_id or source_id."""
    from runtime.services.memories import find_memory

    with opened_project(session, project) as stores:
        found = find_memory(stores, project, memory_id=memory_id)
        labels = story_labels(stores, project)
    if as_json:
        print_json(found)
        return
    chunk = found.chunk
    print_pairs(
        {
            "chunk_id": chunk.chunk_id,
            "source_id": chunk.source_id,
            labels.place: place_text(chunk.chapter_index, chunk.scene_index, labels),
            labels.kind: labels.value(chunk.content_type),
            labels.status: labels.value(found.status) + (", pinned" if found.pinned else ""),
            labels.importance: chunk.importance,
            labels.origin: chunk.origin,
            "attached to": _attached_to(found.attachments),
            "concerns": "nobody who occurs in a stored scene" if found.occurs_nowhere else "",
            "verified": "" if chunk.verified else "no: its quote is not in the scene",
            "tags": ", ".join(chunk.tags),
            labels.forms["short"]: chunk.short,
            labels.text: chunk.content,
        }
    )


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
@json_option
@click.pass_obj
def edit(
    session: CliSession,
    project: str,
    memory_id: str,
    text: str | None,
    short: str | None,
    importance: int | None,
    tags: tuple[str, ...],
    as_json: bool,
) -> None:
    """Change a memory; from then on it is yours, and no ingest touches it."""
    from runtime.services.memories import edit_memory

    with opened_project(session, project) as stores:
        change = edit_memory(
            stores,
            project,
            memory_id=memory_id,
            content=text,
            short=short,
            importance=importance,
            tags=tags or None,
        )
    report_indexing(change.indexing, project)
    print_result(change, f"edited {memory_id}; no ingest touches it from now on", as_json=as_json)


def _add_decision(name: str, what_it_does: str) -> None:
    @memory.command(name, help=what_it_does, epilog=f"\b\nExample:\n  novelgen memory {name} my-novel M012")
    @project_argument
    @click.argument("memory_id", metavar="MEMORY")
    @json_option
    @click.pass_obj
    def decide(session: CliSession, project: str, memory_id: str, as_json: bool) -> None:
        from runtime.services import memories

        decision = {
            "pin": memories.pin_memory,
            "unpin": memories.unpin_memory,
            "ban": memories.ban_memory,
            "unban": memories.unban_memory,
        }[name]
        with opened_project(session, project) as stores:
            change = decision(stores, project, memory_id=memory_id)
        _print_decision(project, memory_id, change, as_json=as_json)


_add_decision("pin", "Pin a memory: it outranks the others.")
_add_decision("unpin", "Take a pin off.")
memory.add_command(knowers)
memory.add_command(knowledge)
_add_decision("ban", "Ban a memory: it is kept, but no search and no context brings it.")
_add_decision("unban", "Lift a ban, or bring a deleted memory back.")


@memory.command(epilog="\b\nExample:\n  novelgen memory delete my-novel M012")
@project_argument
@click.argument("memory_id", metavar="MEMORY")
@yes_option
@json_option
@click.pass_obj
def delete(session: CliSession, project: str, memory_id: str, is_confirmed: bool, as_json: bool) -> None:
    """Delete a memory; a new ingest does not bring it back, `memory unban` does."""
    from runtime.services.memories import delete_memory, find_memory

    with opened_project(session, project) as stores:
        find_memory(stores, project, memory_id=memory_id)
        require_confirmation(f"delete memory {memory_id} of {project!r}", is_confirmed=is_confirmed)
        change = delete_memory(stores, project, memory_id=memory_id)
    _print_decision(project, memory_id, change, as_json=as_json)


@memory.command(
    epilog='\b\nExamples:\n  novelgen memory attach my-novel M012 Ada "the brass key"\n'
    "  novelgen memory attach my-novel M012 chapter:3"
)
@project_argument
@click.argument("memory_id", metavar="MEMORY")
@click.argument("targets", metavar="TARGET...", nargs=-1, required=True)
@json_option
@click.pass_obj
def attach(
    session: CliSession, project: str, memory_id: str, targets: tuple[str, ...], as_json: bool
) -> None:
    """Attach a memory to what it is about.

    TARGET is an entity's id or name, a chapter as chapter:3, or book. An unknown name is refused with the
    nearest.
    """
    from runtime.services.attachments import attach_memories

    with opened_project(session, project) as stores:
        change = attach_memories(stores, project, memory_ids=[memory_id], targets=targets)
    _print_attachments(memory_id, change, as_json=as_json)


@memory.command(epilog="\b\nExample:\n  novelgen memory detach my-novel M012 Ben")
@project_argument
@click.argument("memory_id", metavar="MEMORY")
@click.argument("targets", metavar="TARGET...", nargs=-1, required=True)
@json_option
@click.pass_obj
def detach(
    session: CliSession, project: str, memory_id: str, targets: tuple[str, ...], as_json: bool
) -> None:
    """Take a memory off what it is not about; a new ingest does not attach it again.

    TARGET is an entity's id or name, a chapter as chapter:3, or book.
    """
    from runtime.services.attachments import detach_memories

    with opened_project(session, project) as stores:
        change = detach_memories(stores, project, memory_ids=[memory_id], targets=targets)
    _print_attachments(memory_id, change, as_json=as_json)


@memory.command(epilog="\b\nExample:\n  novelgen memory attach-mentions my-novel Ada --apply")
@project_argument
@click.argument("entity")
@click.option("--apply", "is_applied", is_flag=True, help="Attach them.  [default: only show them]")
@json_option
@click.pass_obj
def attach_mentions(session: CliSession, project: str, entity: str, is_applied: bool, as_json: bool) -> None:
    """Attach every memory whose text names ENTITY to it; shown first, attached with --apply."""
    from runtime.cli.views import print_memories
    from runtime.services import attachments

    with opened_project(session, project) as stores:
        found = attachments.attach_mentions(stores, project, entity=entity, is_applied=is_applied)
        labels = story_labels(stores, project)
    if as_json:
        print_json(found)
        return
    print_memories(found.memories, labels)
    if found.is_attached:
        print_text(f"attached to {entity}: {len(found.memories)}")
    elif found.memories:
        print_text(f"{len(found.memories)} name {entity}; attach them with --apply")


@click.command(
    epilog='\b\nExamples:\n  novelgen note my-novel "Nobody in this story can swim."\n'
    '  novelgen note my-novel "The bridge is gone." --from 4:1'
)
@project_argument
@click.argument("text")
@click.option("--from", "start", type=POSITION, help="Read from that scene on.  [default: everywhere]")
@click.option(
    "--entity", "entities", multiple=True, help="Id or name of whom it is about; may be given repeatedly."
)
@json_option
@click.pass_obj
def note(
    session: CliSession,
    project: str,
    text: str,
    start: StoryPosition | None,
    entities: tuple[str, ...],
    as_json: bool,
) -> None:
    """Add a fact of your own that holds in the story: canon."""
    from runtime.services.memories import add_note

    with opened_project(session, project) as stores:
        added = add_note(stores, project, text=text, entities=entities, start=start)
    report_indexing(added.indexing, project)
    where = f"from {start} on" if start else "everywhere"
    print_result(added, f"noted as {added.note.chunk_id}, read {where}", as_json=as_json)
    if added.occurs_nowhere:
        report_line("whom it is about occurs in no stored scene, so it cannot be pinned yet")
    elif not added.named:
        report_line("it concerns nobody that the story knows; it is read as a fact of the whole book")


def _print_decision(project: str, memory_id: str, change: MemoryChange, *, as_json: bool) -> None:
    report_indexing(change.indexing, project)
    decided = change.memory.status + (", pinned" if change.memory.pinned else "")
    print_result(change, f"{memory_id}: {decided}", as_json=as_json)


def _print_attachments(memory_id: str, change: AttachmentChange, *, as_json: bool) -> None:
    same = "" if change.changed else " (as before)"
    print_result(change, f"{memory_id}: {_attached_to(change.attachments[memory_id])}{same}", as_json=as_json)


def _attached_to(attachments: Sequence[Attachment]) -> str:
    """What a memory is attached to as one line: entities by name and id, chapters, the book."""
    return ", ".join(f"{each.name} ({each.target})" if each.name else each.target for each in attachments)
