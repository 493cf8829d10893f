"""Entity states as tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from novelgen.models.state import PRESENCE_ATTRIBUTE, EntityStateSnapshot
from novelgen.rendering.labels import labels_for
from novelgen.rendering.lines import render_value
from runtime.cli.labels import place_text, view_labels_for
from runtime.cli.output import print_table


def print_states(
    snapshots: Sequence[EntityStateSnapshot], names: Mapping[str, str], *, language: str
) -> None:
    """Print states, one row per snapshot, in their order.

    Args:
        snapshots: The states.
        names: Entity id to the name to show; an id without one is shown itself.
        language: Language of the story.
    """
    labels = view_labels_for(language)
    rows = [
        (
            names.get(each.entity_id, each.entity_id),
            place_text(each.chapter_index, each.scene_index, labels),
            facts_text(each, names, language=language),
        )
        for each in snapshots
    ]
    print_table((labels.entity, labels.place, labels.facts), rows, wide=2)


def facts_text(snapshot: EntityStateSnapshot, names: Mapping[str, str], *, language: str) -> str:
    """Return a state as one line: attributes in their own order, where somebody was last seen at the end.

    An attribute that no quote of its scene proves says so.
    """
    words, state = labels_for(language), snapshot.state_data
    texts = {
        name: f"{words.attribute(name)}{words.colon}{value_text(name, value, names, language=language)}"
        f"{words.unverified if name in snapshot.unverified else ''}"
        for name, value in state.items()
    }
    seen_last = [texts.pop(PRESENCE_ATTRIBUTE)] if PRESENCE_ATTRIBUTE in texts else []
    return words.separator.join([*texts.values(), *seen_last])


def value_text(attribute: str, value: object, names: Mapping[str, str], *, language: str) -> str:
    """Return an attribute's value as text: names for ids, nothing for None, presence as a place and its scene."""
    words = labels_for(language)
    if value is None:
        return ""
    if attribute != PRESENCE_ATTRIBUTE or not isinstance(value, Mapping):
        return render_value(value, names, words)
    where = place_text(value.get("chapter_index"), value.get("scene_index"), view_labels_for(language))
    return f"{render_value(value.get('location_id') or '?', names, words)} ({where})"
