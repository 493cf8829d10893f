"""Versions of editable items, for refusing stale changes."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field
from pydantic_core import to_jsonable_python

from novelgen.errors import StaleVersionError
from novelgen.models.entity import Entity
from novelgen.models.memory import StoryMemoryChunk
from novelgen.models.state import Relationship
from runtime.storage.models import MemoryEdit, StoredMemory
from runtime.storage.records import Scene

if TYPE_CHECKING:
    from runtime.storage.database import UnitOfWork
    from runtime.storage.outline import StandingSummary
    from runtime.story.threads import ListedThread

Version = Annotated[str, Field(min_length=1, max_length=80)]
"""What `version` of a read says; it is another one as soon as anything of what can be edited is."""

VERSION_CHARACTERS = 16

_EDITED_FIELDS = [name for name in MemoryEdit.model_fields if name in {*StoryMemoryChunk.model_fields} - {"verified"}]
"""Fields of a memory that an author edits."""


def version_of(*parts: Any) -> str:
    """Return a version hash of parts, equal on every machine."""
    written_form = json.dumps(to_jsonable_python(parts, fallback=str), sort_keys=True, ensure_ascii=True)
    return sha256(written_form.encode()).hexdigest()[:VERSION_CHARACTERS]


def require_version(
    expected_version: str | None,
    version: str,
    *,
    subject: str,
    stored_fields: Mapping[str, Any],
    sent_fields: Mapping[str, Any],
) -> None:
    """Reject a stale change, unless it states present values.

    Args:
        expected_version: The version that was read; None checks nothing.
        version: The version that is stored.
        subject: What is changed, by kind and id.
        stored_fields: What stands, under the names of what is sent.
        sent_fields: What the change says.

    Raises:
        StaleVersionError: When the versions differ.
    """
    current = {name: stored_fields.get(name) for name in sent_fields}
    if expected_version in (None, version) or (
        sent_fields and to_jsonable_python(current) == to_jsonable_python(dict(sent_fields))
    ):
        return
    raise StaleVersionError(
        f"{subject} was changed since version {expected_version!r} of it was read; nothing was stored:"
        f" look at what stands now, and send the change again with version {version!r}",
        version=version,
        stored_fields=to_jsonable_python(current, fallback=str),
        sent_fields=to_jsonable_python(dict(sent_fields), fallback=str),
    )


def require_unchanged(expected: str | None, version: str, *, subject: str) -> None:
    """Reject the stale deletion of something.

    Args:
        expected: The version that was read; None checks nothing.
        version: The version that is stored.
        subject: What is deleted, by kind and id.

    Raises:
        StaleVersionError: When the versions differ.
    """
    require_version(expected, version, subject=subject, stored_fields={}, sent_fields={})


def card_version(unit: UnitOfWork, entity_id: str) -> str:
    """Return the version of a card, its states included."""
    stored_entity = unit.entities.get(entity_id)
    # What is said again at the same place changes nothing.
    states = sorted({change.model_dump_json() for change in unit.states.changes_of([entity_id])})
    return version_of(None if stored_entity is None else stored_entity.entity, states)


def card_fields(entity: Entity, state: Mapping[str, Any]) -> dict[str, Any]:
    """Return a card's editable fields."""
    own = {name: getattr(entity, name) for name in ("name", "role", "description")}
    aliases = [alias.alias for alias in entity.aliases]
    return {**state, **entity.profile, **own, "alias": aliases, "aliases": aliases}


def memory_version(unit: UnitOfWork, memory: StoredMemory) -> str:
    """Return a memory's version, with attachments and decisions."""
    chunk = memory.chunk
    attached_ids = sorted(attachment.target for attachment in unit.attachments.attachments_of(chunk.chunk_id))
    statements = [getattr(chunk, name) for name in _EDITED_FIELDS]
    # Where a scene's memory stands follows from its scene.
    place = (chunk.chapter_index, chunk.scene_index) if chunk.content_type == "note" else None
    ended = () if memory.over_at is None else (memory.over_at,)
    return version_of(statements, attached_ids, memory.status, memory.pinned, chunk.also_supersedes, place, *ended)


def thread_version(thread: ListedThread) -> str:
    """Return the version of a thread as it stands at the end of the story."""
    statements = [thread.description, thread.category, thread.importance, thread.status, thread.related_entities]
    return version_of(statements, thread.notes, thread.pay_off, thread.due_from, thread.due_by, thread.parts)


def scene_version(scene: Scene) -> str:
    """Return the version of a scene: its title, text, record, and what its author said of place, cast and names."""
    return version_of(scene.title, scene.text_hash, scene.record, scene.staged)


def summary_version(summaries: Sequence[StandingSummary]) -> str:
    """Return a written summary's version."""
    return version_of([(summary.summary.text, summary.summary.origin) for summary in summaries])


def relationship_version(relationship: Relationship) -> str:
    """Return the version of how two characters stand at the end of the story."""
    return version_of(relationship)
