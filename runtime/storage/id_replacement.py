"""Replacing an entity's id by another one inside of stored values."""

from __future__ import annotations

from typing import Any


def replaced_id(value: Any, old_id: str, new_id: str) -> Any:
    """Return a value with one id in place of another.

    Args:
        value: Texts, lists and mappings in any depth. Only a whole text that is the id counts, and one that
            begins with it and a dot (a slot such as C2.identity); longer texts stay as they are.
        old_id: Id to replace.
        new_id: Id in its place.

    Returns:
        A new value; a list of texts that would hold the new id twice holds it once.
    """
    if isinstance(value, str):
        if value == old_id:
            return new_id
        return new_id + value[len(old_id) :] if is_slot_of(value, old_id) else value
    if isinstance(value, dict):
        return {key: replaced_id(each, old_id, new_id) for key, each in value.items()}
    if not isinstance(value, list):
        return value
    replaced = [replaced_id(each, old_id, new_id) for each in value]
    if replaced != value and all(isinstance(each, str) for each in replaced):
        return list(dict.fromkeys(replaced))
    return replaced


def is_slot_of(text: str, entity_id: str) -> bool:
    """Tell whether a text is the name of one of an entity's slots: its id, a dot, one word."""
    return text.startswith(f"{entity_id}.") and " " not in text


def record_with_replaced_id(record: dict[str, Any] | None, old_id: str, new_id: str) -> dict[str, Any] | None:
    """Return a stored scene record with one id in place of another, without relationships of one with itself."""
    if record is None:
        return None
    replaced: dict[str, Any] = replaced_id(record, old_id, new_id)
    changes = [
        each
        for each in replaced.get("relationship_changes", ())
        if each["character_a"] != each["character_b"]
    ]
    return {**replaced, **({"relationship_changes": changes} if "relationship_changes" in replaced else {})}
