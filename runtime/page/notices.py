"""What an address says was changed just now, and how it is taken back: whole in the address, nothing is kept."""

from __future__ import annotations

import base64
import binascii
import zlib
from typing import Any, Literal

from pydantic import BaseModel, Field, ValidationError
from starlette.datastructures import QueryParams

from novelgen.errors import UserInputError
from runtime.page.words import ENGLISH
from runtime.story.knowledge import StoredKnowledge

NOTICE_FIELDS = frozenset({"done", "told", "lost", "undo"})
"""What an address says of a change."""

MAX_PACKED = 100_000
"""Characters of what is taken back, unpacked; a card's texts are much shorter."""

MAX_TOLD = 400

LONGEST_NAME = 60
"""Characters by which a memory is named."""

Undoing = Literal["author_change", "entity_change", "thread", "card", "knowledge"]


class TakingBack(BaseModel):
    """How a change is taken back.

    `author_change`, `entity_change`: by its number. `thread`: that one has not ended. `card`: fields and attributes to
    what they were. `knowledge`: the words of the author that stood before.
    """

    kind: Undoing
    change_id: int = 0
    entity: str = ""
    changes: dict[str, Any] = Field(default_factory=dict)
    attributes: dict[str, Any] = Field(default_factory=dict)
    start: str = Field(default="", pattern=r"^([0-9]{1,7}(:[0-9]{1,7})?)?$")
    memory_id: str = ""
    words: list[StoredKnowledge] = Field(default_factory=list)

    def packed(self) -> str:
        """Return it as an address can hold it."""
        told = self.model_dump_json(exclude_defaults=True).encode("utf-8", "replace")
        return base64.urlsafe_b64encode(zlib.compress(told, 9)).decode("ascii")


class Notice(BaseModel):
    """What was changed just now: `did_` and `done` are a word, of whom it tells, and how to take it back."""

    done: str
    told: str = ""
    lost: int = Field(default=0, description="So many facts of a scene have lost their words.")
    undo: str = ""


def notice_of(query: QueryParams) -> Notice | None:
    """Return what the query of an address says was changed; None where it says nothing."""
    done, lost = query.get("done", ""), query.get("lost", "")
    if f"did_{done}" not in ENGLISH:
        return None
    return Notice(
        done=done,
        told=query.get("told", "")[:MAX_TOLD],
        lost=int(lost) if lost.isascii() and lost.isdecimal() and len(lost) <= 7 else 0,
        undo=query.get("undo", ""),
    )


def undo_by_number(kind: Undoing, change_id: int | None) -> str:
    """Return how a change that has a number is taken back, as a form or an address holds it; empty without one."""
    return "" if change_id is None else TakingBack(kind=kind, change_id=change_id).packed()


def named_by_words(content: str) -> str:
    """Return a memory's words, in short, by which a notice names it."""
    return f"“{content if len(content) <= LONGEST_NAME else f'{content[:LONGEST_NAME]}…'}”"


def unpacked(packed: str) -> TakingBack:
    """Return how a change is taken back."""
    try:
        unpacker = zlib.decompressobj()
        told = unpacker.decompress(base64.urlsafe_b64decode(packed), MAX_PACKED)
        return TakingBack.model_validate_json(told)
    except (ValidationError, zlib.error, binascii.Error, ValueError) as error:
        raise UserInputError(
            "what is to be taken back is not said whole; use the button beside the notice, or the list of changes"
        ) from error
