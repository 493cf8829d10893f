"""Parts of commands on relationships."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from runtime.doors.cli import output
from runtime.doors.cli.command_view import View, cells_of, count_text, does


class _Side(NamedTuple):
    of: str
    side: Any


@does("rows", "list_relationships")
def _sides(result: Any, view: View) -> list[_Side]:
    """Return pairs from the requested side, by default the reading one.

    A type that cannot be turned is told from its own side.
    """
    if not view.values.get("character_id"):
        return [_Side(item.in_reading_order()[0], item.seen_by(item.in_reading_order()[0])) for item in result]
    from runtime.story.entities import StoryEntities

    story = StoryEntities(view.stores, view.project)
    own = story.get(view.values["character_id"], as_of=view.values.get("as_of")).entity.entity_id
    sides = [(own if not item.seen_by(own).type_reads_back else item.in_reading_order()[0], item) for item in result]
    return [_Side(of, item.seen_by(of)) for of, item in sides]


@does("show", "get_relationship")
def _show_relationship(result: Any, view: View) -> None:
    labels = view.labels
    one, other = view.name(result.character_a), view.name(result.character_b)

    def felt(who: str, dimensions: Mapping[str, int]) -> dict[str, int]:
        feeling = labels["line.felt_by"]
        return {feeling.format(feeling=labels.value(name), who=who): value for name, value in dimensions.items()}

    output.print_pairs(
        {
            labels["head.entity_id"]: result.relationship_id,
            " – ".join(map(view.name, result.in_reading_order())): result.relationship_type,
            labels["head.status"]: labels.value(result.status),
            labels["value.intensity"]: result.intensity,
            labels["line.view_of"].format(one, other): result.perspective_a,
            labels["line.view_of"].format(other, one): result.perspective_b,
            **{labels.value(name): value for name, value in result.dimensions.items()},
            **felt(one, result.dimensions_a),
            **felt(other, result.dimensions_b),
            **{labels.value(name): count_text(value, view) for name, value in result.metadata.items()},
            labels["value.last_changed"]: ""
            if result.updated_at is None
            else f"{result.updated_at:%Y-%m-%d %H:%M} UTC",
        }
    )
    output.print_heading(labels["line.history"])
    view.table(cells_of("place=:place_or_none status=~status event"), result.history)


@does("show", "edit_relationship")
def _show_edited_relationship(result: Any, view: View) -> None:
    view.say("changed" if result.updated else "unchanged", id=result.relationship_id)
