"""Showing and changing how characters stand to each other."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from novelgen.errors import UserInputError
from novelgen.models.position import END_OF_STORY, StoryPosition
from novelgen.models.state import RelationshipDimension
from runtime.cli.actions.entities import known_entities, resolved_entity
from runtime.cli.opening import opened_project
from runtime.cli.output import print_heading, print_json, print_pairs, print_table, print_text
from runtime.cli.session import CliSession
from runtime.story_tools.relationship_tools import relationship_create, relationship_update
from runtime.story_tools.story_scope import StoryScope


def list_relationships(
    session: CliSession,
    project_id: str,
    *,
    character: str | None,
    status: str | None,
    as_of: StoryPosition | None,
    as_json: bool,
) -> None:
    """Show relationships at a position; those of one character from its side.

    Raises:
        UnknownEntityError: When nobody bears the character's name by then, or several do.
    """
    with opened_project(session, project_id) as stores, stores.database(project_id).read() as unit:
        known = known_entities(unit, project_id, as_of)
        own_id = resolved_entity(character, known).entity_id if character else None
        found = unit.relationships.list_as_of(as_of=as_of or END_OF_STORY, character_id=own_id, status=status)
    if as_json:
        print_json([each.seen_by(own_id) for each in found] if own_id else found)
        return
    names = {entity.entity_id: entity.name for entity in known}
    views = [each.seen_by(own_id or each.character_a) for each in found]
    rows = [
        (
            each.relationship_id,
            "" if own_id else names.get(relation.character_a, relation.character_a),
            names.get(each.character_id, each.character_id),
            each.relationship_type,
            each.status,
            each.intensity,
            _dimensions_text(each.dimensions),
            each.your_view,
        )
        for relation, each in zip(found, views, strict=True)
    ]
    headings = ("id", "of", "to", "type", "status", "intensity", "dimensions", "view")
    print_table(headings, rows, wide=7)


def show_relationship(
    session: CliSession,
    project_id: str,
    first: str,
    second: str,
    *,
    as_of: StoryPosition | None,
    as_json: bool,
) -> None:
    """Show how two characters stand, from both sides, with its history.

    Raises:
        UnknownEntityError: When nobody bears a name by then, or several do.
        UserInputError: When nothing is known of the two together.
    """
    with opened_project(session, project_id) as stores, stores.database(project_id).read() as unit:
        known = known_entities(unit, project_id, as_of)
        ids = [resolved_entity(name, known).entity_id for name in (first, second)]
        relation = unit.relationships.between(ids[0], ids[1], as_of=as_of or END_OF_STORY)
    if relation is None:
        raise UserInputError(f"nothing is known of {ids[0]} and {ids[1]} together by then; add it first")
    if as_json:
        print_json(relation)
        return
    names = {entity.entity_id: entity.name for entity in known}
    one, other = (names.get(each, each) for each in (relation.character_a, relation.character_b))
    print_pairs(
        {
            "id": relation.relationship_id,
            "type": relation.relationship_type,
            "status": relation.status,
            "intensity": relation.intensity,
            f"{one} on {other}": relation.perspective_a,
            f"{other} on {one}": relation.perspective_b,
            **{str(name): value for name, value in relation.dimensions.items()},
        }
    )
    print_heading("History")
    rows = [
        (
            "" if each.chapter_index is None else f"{each.chapter_index}:{each.scene_index}",
            each.status,
            each.event,
        )
        for each in relation.history
    ]
    print_table(("scene", "status", "event"), rows, wide=2)


def add_relationship(
    session: CliSession,
    project_id: str,
    first: str,
    second: str,
    fields: Mapping[str, Any],
    *,
    start: StoryPosition | None,
) -> None:
    """Add the relationship of two characters and print its id.

    Raises:
        UnknownEntityError: When nobody bears a name by then, or several do.
        UserInputError: When they have one already.
    """
    with opened_project(session, project_id) as stores:
        scope = StoryScope(stores, project_id, start or END_OF_STORY)
        answer = relationship_create(scope, character_a=first, character_b=second, **fields)
    print_text(f"added {answer['relationship_id']}")


def edit_relationship(
    session: CliSession,
    project_id: str,
    first: str,
    second: str,
    changes: Mapping[str, Any],
    *,
    start: StoryPosition | None,
) -> None:
    """Change the relationship of two characters and print its id.

    Raises:
        UnknownEntityError: When nobody bears a name by then, or several do.
        UserInputError: When they have none, or nothing is to be changed.
    """
    with opened_project(session, project_id) as stores:
        scope = StoryScope(stores, project_id, start or END_OF_STORY)
        answer = relationship_update(scope, character_a=first, character_b=second, **changes)
    verb = "changed" if answer["updated"] else "unchanged"
    print_text(f"{verb} {answer['relationship_id']}")


def _dimensions_text(dimensions: Mapping[RelationshipDimension, int]) -> str:
    return ", ".join(f"{name} {value}" for name, value in dimensions.items())
