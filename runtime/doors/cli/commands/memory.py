"""`novelgen memory` and `note`."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import click

from runtime.doors.cli.commands.knowledge import knowers, knowledge
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
)
from runtime.doors.cli.parameters import (
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

    from novelgen.models.memory import Attachment, ContentType
    from novelgen.models.position import StoryPosition
    from runtime.story.attachments import AttachmentChange
    from runtime.story.memories import MemoryChange, MemoryStatus


@click.group(cls=CommandGroup)
def memory() -> None:
    """Look at single memories and put them right.

    What you decide survives a new ingest.
    """


@memory.command(
    "list",
    epilog="\b\nExamples:\n  novelgen memory list my-novel --attached-to Ada --limit 20\n"
    "  novelgen memory list my-novel --attached-to chapter:3 --attached-to book",
)
@project_argument
@click.option(
    "--attached-to",
    "--entity",
    "attached_to",
    multiple=True,
    metavar="TARGET",
    help="Only what is attached to this: an entity's id, name or alias, chapter:3, or book; repeatable.",
)
@click.option("--type", "content_types", multiple=True, help="Only this kind: memory, summary, note, …; repeatable.")
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
    attached_to: tuple[str, ...],
    content_types: tuple[str, ...],
    status: MemoryStatus,
    limit: int,
    as_of: StoryPosition | None,
    as_json: bool,
) -> None:
    """List memories in story order."""
    from runtime.doors.cli.views import print_memories
    from runtime.story.memories import StoryMemories

    with opened_project(session, project) as stores:
        found = StoryMemories(stores, project).memories(
            attached_to=attached_to,
            content_types=cast("tuple[ContentType, ...]", content_types),
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
    from runtime.story.memories import StoryMemories

    with opened_project(session, project) as stores:
        found = StoryMemories(stores, project).find_memory(memory_id=memory_id)
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
    epilog='\b\nExamples:\n  novelgen memory edit my-novel M012 --text "The key is brass." --importance 8\n'
    "  novelgen memory edit my-novel M012 --attach chapter:3 --detach Ben"
)
@project_argument
@click.argument("memory_id", metavar="MEMORY")
@click.option("--text", help="New content.  [default: as it is]")
@click.option("--short", help="New short form.  [default: as it is; dropped with a new text]")
@click.option("--importance", type=click.IntRange(1, 10), help="New weight, 1 to 10.  [default: as it is]")
@click.option("--tag", "tags", multiple=True, help="New tags, all of them; repeatable.  [default: as they are]")
@click.option(
    "--attach",
    multiple=True,
    metavar="TARGET",
    help="Attach it to this, too: an entity's id or name, chapter:3, or book; repeatable.",
)
@click.option("--detach", multiple=True, metavar="TARGET", help="Take it off this; repeatable.")
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
    attach: tuple[str, ...],
    detach: tuple[str, ...],
    as_json: bool,
) -> None:
    """Change a memory; from then on it is yours, and no ingest touches it.

    What it is attached to can be changed alone: then a new ingest still brings its text.
    """
    from runtime.story.memories import StoryMemories

    with opened_project(session, project) as stores:
        change = StoryMemories(stores, project).edit_memory(
            memory_id=memory_id,
            content=text,
            short=short,
            importance=importance,
            tags=tags or None,
            attach=attach,
            detach=detach,
        )
        attachments = StoryMemories(stores, project).find_memory(memory_id=memory_id).attachments
    report_indexing(change.indexing, project)
    is_edited = any(each for each in (text, short, importance, tags))
    done = f"edited {memory_id}; no ingest touches it from now on" if is_edited else ""
    told = f"{memory_id}: {_attached_to(attachments)}" if attach or detach else ""
    print_result(change, *filter(None, (done, told)), as_json=as_json)


def _add_decision(name: str, what_it_does: str) -> None:
    @memory.command(name, help=what_it_does, epilog=f"\b\nExample:\n  novelgen memory {name} my-novel M012")
    @project_argument
    @click.argument("memory_id", metavar="MEMORY")
    @json_option
    @click.pass_obj
    def decide(session: CliSession, project: str, memory_id: str, as_json: bool) -> None:
        from runtime.story.memories import StoryMemories

        decision = {
            "confirm": StoryMemories.confirm_memory,
            "pin": StoryMemories.pin_memory,
            "unpin": StoryMemories.unpin_memory,
            "ban": StoryMemories.ban_memory,
            "unban": StoryMemories.unban_memory,
        }[name]
        with opened_project(session, project) as stores:
            change = decision(StoryMemories(stores, project), memory_id=memory_id)
        _print_decision(project, memory_id, change, as_json=as_json)


_add_decision("confirm", "Say that a memory is true as it stands: it is yours then, and no ingest touches it.")
_add_decision("pin", "Pin a memory: it outranks the others.")
_add_decision("unpin", "Take a pin off.")
memory.add_command(knowers)
memory.add_command(knowledge)
_add_decision("ban", "Ban a memory: it is kept, but no search and no context brings it.")
_add_decision("unban", "Lift a ban, or bring a deleted memory back.")


@memory.command(epilog="\b\nExample:\n  novelgen memory changes my-novel --limit 20")
@project_argument
@click.option("--limit", type=COUNT, default=50, show_default=True, help="At most so many, the latest first.")
@as_of_option
@json_option
@click.pass_obj
def changes(session: CliSession, project: str, limit: int, as_of: StoryPosition | None, as_json: bool) -> None:
    """List what you changed in memories and scenes; `entity changes` lists the others."""
    from runtime.story.author_changes import StoryAuthorChanges

    with opened_project(session, project) as stores:
        listed = StoryAuthorChanges(stores, project).author_changes(limit=limit, as_of=as_of)
    if as_json:
        print_json(listed)
        return
    rows = [(each.change_id, each.kind, each.position, each.what, "yes" if each.undone_at else "") for each in listed]
    print_table(("number", "change", "scene", "of what", "undone"), rows, wide=3)


@memory.command(epilog="\b\nExamples:\n  novelgen memory undo my-novel\n  novelgen memory undo my-novel 4")
@project_argument
@click.argument("number", type=COUNT, required=False)
@json_option
@click.pass_obj
def undo(session: CliSession, project: str, number: int | None, as_json: bool) -> None:
    """Take a change of any kind back.

    NUMBER is as `memory changes` and `entity changes` list it; without it the last change that was not undone yet.
    """
    from runtime.story.entities import StoryEntities

    with opened_project(session, project) as stores:
        undone = StoryEntities(stores, project).undo(change_id=number)
    report_indexing(undone.indexing, project)
    print_result(undone, f"undone: {undone.change.kind}, change {undone.change.change_id}", as_json=as_json)


@memory.command(epilog="\b\nExample:\n  novelgen memory delete my-novel M012")
@project_argument
@click.argument("memory_id", metavar="MEMORY")
@yes_option
@json_option
@click.pass_obj
def delete(session: CliSession, project: str, memory_id: str, is_confirmed: bool, as_json: bool) -> None:
    """Delete a memory; a new ingest does not bring it back, `memory unban` does."""
    from runtime.story.memories import StoryMemories

    with opened_project(session, project) as stores:
        StoryMemories(stores, project).find_memory(memory_id=memory_id)
        require_confirmation(f"delete memory {memory_id} of {project!r}", is_confirmed=is_confirmed)
        change = StoryMemories(stores, project).delete_memory(memory_id=memory_id)
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
def attach(session: CliSession, project: str, memory_id: str, targets: tuple[str, ...], as_json: bool) -> None:
    """Attach a memory to what it is about.

    TARGET is an entity's id or name, a chapter as chapter:3, or book. An unknown name is refused with the
    nearest.
    """
    from runtime.story.attachments import StoryAttachments

    with opened_project(session, project) as stores:
        change = StoryAttachments(stores, project).attach_memories(memory_ids=[memory_id], targets=targets)
    _print_attachments(memory_id, change, as_json=as_json)


@memory.command(epilog="\b\nExample:\n  novelgen memory detach my-novel M012 Ben")
@project_argument
@click.argument("memory_id", metavar="MEMORY")
@click.argument("targets", metavar="TARGET...", nargs=-1, required=True)
@json_option
@click.pass_obj
def detach(session: CliSession, project: str, memory_id: str, targets: tuple[str, ...], as_json: bool) -> None:
    """Take a memory off what it is not about; a new ingest does not attach it again.

    TARGET is an entity's id or name, a chapter as chapter:3, or book.
    """
    from runtime.story.attachments import StoryAttachments

    with opened_project(session, project) as stores:
        change = StoryAttachments(stores, project).detach_memories(memory_ids=[memory_id], targets=targets)
    _print_attachments(memory_id, change, as_json=as_json)


@memory.command(epilog="\b\nExample:\n  novelgen memory attach-mentions my-novel Ada --apply")
@project_argument
@click.argument("entity")
@click.option("--apply", "is_applied", is_flag=True, help="Attach them.  [default: only show them]")
@json_option
@click.pass_obj
def attach_mentions(session: CliSession, project: str, entity: str, is_applied: bool, as_json: bool) -> None:
    """Attach every memory whose text names ENTITY to it; shown first, attached with --apply."""
    from runtime.doors.cli.views import print_memories
    from runtime.story.attachments import StoryAttachments

    with opened_project(session, project) as stores:
        found = StoryAttachments(stores, project).attach_mentions(entity=entity, is_applied=is_applied)
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
    '  novelgen note my-novel "The bridge is gone." --from 4:1\n'
    '  novelgen note my-novel "Told in the present tense." --attach chapter:3'
)
@project_argument
@click.argument("text")
@click.option("--from", "start", type=POSITION, help="Read from that scene on.  [default: everywhere]")
@click.option(
    "--attach",
    "--entity",
    "attached_to",
    multiple=True,
    metavar="TARGET",
    help="What it is about: an entity's id or name, chapter:3, or book; repeatable.  [default: whom its text names, "
    "else the book]",
)
@json_option
@click.pass_obj
def note(
    session: CliSession,
    project: str,
    text: str,
    start: StoryPosition | None,
    attached_to: tuple[str, ...],
    as_json: bool,
) -> None:
    """Add a fact of your own that holds in the story: canon."""
    from runtime.story.memories import StoryMemories

    with opened_project(session, project) as stores:
        added = StoryMemories(stores, project).note(text=text, attached_to=attached_to, start=start)
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
