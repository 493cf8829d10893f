"""Entity states as tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from novelgen.models.state import PRESENCE_ATTRIBUTE, EntityStateSnapshot
from novelgen.rendering.labels import labels_for
from novelgen.rendering.states import render_value
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
            facts_text(each.state_data, names, language=language),
        )
        for each in snapshots
    ]
    print_table((labels.entity, labels.place, labels.facts), rows, wide=2)


def facts_text(state: Mapping[str, object], names: Mapping[str, str], *, language: str) -> str:
    """Return a state as one line: attributes in their own order, where somebody was last seen at the end."""
    words = labels_for(language)
    stated = {name: value for name, value in state.items() if name != PRESENCE_ATTRIBUTE}
    facts = [
        f"{words.attribute(name)}{words.colon}{render_value(value, names, words)}"
        for name, value in stated.items()
    ]
    presence = state.get(PRESENCE_ATTRIBUTE)
    if isinstance(presence, Mapping):
        place = presence.get("location_id") or "?"
        where = place_text(
            presence.get("chapter_index"), presence.get("scene_index"), view_labels_for(language)
        )
        shown = render_value(place, names, words)
        facts.append(f"{words.attribute(PRESENCE_ATTRIBUTE)}{words.colon}{shown} ({where})")
    return words.separator.join(facts)
