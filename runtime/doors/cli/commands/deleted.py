"""What is told of a deletion, of whatever kind."""

from __future__ import annotations

from typing import TYPE_CHECKING

from runtime.doors.cli.output import print_result, report_indexing

if TYPE_CHECKING:
    from runtime.story.deletion import DeletionResult


def print_deletion(deletion: DeletionResult, project: str, *, as_json: bool) -> None:
    """Print what is gone, who referred to it, and how to take it back."""
    report_indexing(deletion.indexing, project)
    told = {
        "memories stay without the link": deletion.unlinked_memories,
        "relationships went with it": deletion.removed_relationships,
        "threads stay without it": deletion.changed_threads,
        "scenes stay without it": deletion.changed_scenes,
        "others no longer refer to it": deletion.changed_entities,
        "memories of its own went with it": deletion.removed_character_memories,
        "memories of other characters stay without it": deletion.changed_character_memories,
    }
    print_result(
        deletion,
        f"deleted {deletion.deleted} ({deletion.name})",
        *(f"{len(ids)} {what}: {', '.join(ids[:MAX_LISTED])}" for what, ids in told.items() if ids),
        f"undo: novelgen entity undo {project} {deletion.change.change_id}",
        as_json=as_json,
    )


MAX_LISTED = 10
"""So many ids are printed; `--json` has them all."""
