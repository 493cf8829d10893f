"""What a memory is attached to: entities, chapters, the book."""

from __future__ import annotations

import re
from typing import Literal

from pydantic import BaseModel, Field

AttachmentKind = Literal["character", "location", "item", "faction", "term", "chapter", "book"]
AttachmentOrigin = Literal["record", "mention", "manual", "position", "default"]

BOOK = "book"
"""The target that stands for the whole story."""

_CHAPTER = re.compile(r"chapter:(\d{1,7})")


class Attachment(BaseModel):
    """One thing that a memory is attached to, and by what.

    `record` and `mention` are derived from the scene and replaced when it is taken in again, `manual` was set
    by hand and stays, `position` is the chapter in which the memory stands, `default` the book of a memory
    that is attached to nothing else.
    """

    kind: AttachmentKind
    target: str = Field(description="Entity id, chapter:<chapter_index>, or book.")
    name: str = ""
    origin: AttachmentOrigin


def chapter_target(chapter_index: int) -> str:
    """Return the target that stands for a chapter: `chapter:3`."""
    return f"chapter:{chapter_index}"


def chapter_of_target(target: str) -> int | None:
    """Return the chapter that a target stands for, or None when it stands for none."""
    match = _CHAPTER.fullmatch(target.strip())
    return int(match[1]) if match else None


def is_entity_target(target: str) -> bool:
    """Tell whether a target is an entity's id: neither the book nor a chapter."""
    return target != BOOK and chapter_of_target(target) is None


def linked_targets(derived: list[str], attached: list[str], detached: list[str]) -> list[str]:
    """Return what a memory is linked to: what was derived and set by hand, without what was taken off by hand.

    Args:
        derived: Entity ids as the scene gives them.
        attached: Targets set by hand.
        detached: Derived targets taken off by hand.

    Returns:
        Targets without repeats, the derived ones first.
    """
    kept = [each for each in derived if each not in detached]
    return list(dict.fromkeys([*kept, *attached]))
