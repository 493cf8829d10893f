"""What a model said and nobody could place: whether to ask once more, what to ask, and what comes of it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from novelgen.model_calls.prompt_data import as_data
from novelgen.reading.model_record import ModelSceneRecord
from novelgen.reading.request import UnplacedItem

MAX_ITEMS = 20
MAX_ITEM_CHARACTERS = 120

_KEPT_WITHOUT = ("memories", "open_loops_created", "learned")
"""Lists whose items are stored all the same, with one entity or slot fewer: no reason to ask again.

So little is lost of who learnt what: the pass over who knows what reads the scene again.
"""

_NEVER_CORRECTED = frozenset({"summary", "key_events", "emotional_beats", "memories", "open_loops_created", "learned"})

_PLACE = re.compile(r"(\w+)(?:\[(\d+)\])?")


def is_worth_asking(unplaced: Sequence[UnplacedItem]) -> bool:
    """Tell whether a fact would be lost: a state, a relationship, a thread's move, somebody on stage, the place."""
    return any(not item.field.startswith(_KEPT_WITHOUT) for item in unplaced)


def items_text(unplaced: Sequence[UnplacedItem]) -> str:
    """List what could not be placed: where the answer says it, what, and why not."""
    return "\n".join(
        f"- {item.field}: {as_data(item.text)[:MAX_ITEM_CHARACTERS]} ({as_data(item.reason)})"
        for item in unplaced[:MAX_ITEMS]
    )


def with_corrections(
    said: ModelSceneRecord, correction: ModelSceneRecord, unplaced: Sequence[UnplacedItem]
) -> ModelSceneRecord:
    """Return an answer together with what the model corrected of it.

    Only what could not be placed is touched, whatever else the correction says. Items are added and not put in
    the place of others: a new name may be all that the first ones lacked.
    """
    asked = {match.group(1) for item in unplaced if (match := _PLACE.match(item.field))}
    changes: dict[str, Any] = {}
    for name, now in _fields(correction).items():
        before = getattr(said, name)
        if name in _NEVER_CORRECTED or not now:
            continue
        if isinstance(before, list):
            if name in asked or name == "new_entities":
                changes[name] = [*before, *(each for each in now if each not in before)]
        elif name in asked:
            changes[name] = now
    corrected = {each.content: each for each in correction.memories}
    if "memories" in asked:
        changes["memories"] = [corrected.get(each.content, each) for each in said.memories]
    return said.model_copy(update=changes)


def without_replaced(
    merged: ModelSceneRecord, said: ModelSceneRecord, still_unplaced: Sequence[UnplacedItem]
) -> ModelSceneRecord:
    """Return an answer without those first items that still cannot be placed where the correction put others."""
    gone: dict[str, set[int]] = {}
    for item in still_unplaced:
        match = _PLACE.match(item.field)
        if match and match.group(2) is not None and match.group(1) not in _NEVER_CORRECTED:
            gone.setdefault(match.group(1), set()).add(int(match.group(2)))
    changes = {}
    for name, numbers in gone.items():
        first, now = getattr(said, name), getattr(merged, name)
        if len(now) > len(first):
            changes[name] = [each for number, each in enumerate(now) if number >= len(first) or number not in numbers]
    return merged.model_copy(update=changes)


def _fields(record: ModelSceneRecord) -> dict[str, Any]:
    return {name: getattr(record, name) for name in type(record).model_fields}
