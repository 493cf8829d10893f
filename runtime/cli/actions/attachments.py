"""Attaching memories, and taking them off."""

from __future__ import annotations

from collections.abc import Sequence

from novelgen.models.memory import Attachment
from runtime.attachment_tools import (
    AttachmentChange,
    memory_attach,
    memory_attach_by_mention,
    memory_detach,
)
from runtime.cli.actions.search import print_memories
from runtime.cli.labels import view_labels_for
from runtime.cli.opening import opened_project, story_language
from runtime.cli.output import print_json, print_text
from runtime.cli.session import CliSession


def attach_memory(session: CliSession, project_id: str, memory_id: str, targets: Sequence[str]) -> None:
    """Attach a memory and show what it is attached to now.

    Raises:
        UnknownMemoryError: When there is none of that id.
        UnknownEntityError: When a target is not stored; names what is near.
    """
    with opened_project(session, project_id) as stores:
        _print_change(memory_id, memory_attach(project_id, [memory_id], targets, stores=stores))


def detach_memory(session: CliSession, project_id: str, memory_id: str, targets: Sequence[str]) -> None:
    """Take a memory off targets and show what it is attached to now; raises as `attach_memory`."""
    with opened_project(session, project_id) as stores:
        _print_change(memory_id, memory_detach(project_id, [memory_id], targets, stores=stores))


def attach_mentions(
    session: CliSession, project_id: str, entity: str, *, is_applied: bool, as_json: bool
) -> None:
    """Show the memories that name an entity and are not attached to it; attach them when asked.

    Raises:
        UnknownEntityError: When the entity is not stored; names what is near.
    """
    with opened_project(session, project_id) as stores:
        found = memory_attach_by_mention(project_id, entity, preview=not is_applied, stores=stores)
        labels = view_labels_for(story_language(stores, project_id))
    if as_json:
        print_json(found)
        return
    print_memories(found.memories, labels)
    if found.is_attached:
        print_text(f"attached to {entity}: {len(found.memories)}")
    elif found.memories:
        print_text(f"{len(found.memories)} name {entity}; attach them with --apply")


def attachments_text(attachments: Sequence[Attachment]) -> str:
    """Return what a memory is attached to as one line: entities by name and id, chapters, the book."""
    return ", ".join(f"{each.name} ({each.target})" if each.name else each.target for each in attachments)


def _print_change(memory_id: str, change: AttachmentChange) -> None:
    shown = attachments_text(change.attachments[memory_id])
    print_text(f"{memory_id}: {shown}" + ("" if change.changed else " (as before)"))
