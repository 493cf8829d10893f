"""Attaching memories by hand, as code does it."""

from __future__ import annotations

import pytest

from novelgen.errors import UnknownMemoryError, UnknownProjectError, UserInputError
from runtime.services.attachments import attach_memories, attach_mentions, detach_memories
from runtime.services.memories import add_note
from runtime.stores import MemoryStores


def test_what_is_not_there_is_refused(stores: MemoryStores, project: str) -> None:
    """Code gets the errors themselves."""
    with pytest.raises(UserInputError, match="at least one"):
        attach_memories(stores, project, memory_ids=["note-N0"], targets=[])
    with pytest.raises(UnknownMemoryError, match="'M9'"):
        detach_memories(stores, project, memory_ids=["M9"], targets=["C0"])
    with pytest.raises(UnknownProjectError, match="nowhere"):
        attach_mentions(stores, "nowhere", entity="C0")


def test_mentions_are_attached_when_asked_only(stores: MemoryStores, project: str) -> None:
    """A preview changes nothing; an alias counts as the entity."""
    note = add_note(stores, project, text="The Cartographer never sleeps in the Archive.").note
    assert not attach_mentions(stores, project, entity="Elena Thorne").is_attached
    found = attach_mentions(stores, project, entity="Elena Thorne", is_applied=True)
    assert [each.chunk_id for each in found.memories] == [note.chunk_id]
    assert attach_mentions(stores, project, entity="C0").memories == []
