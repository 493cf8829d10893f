"""Showing, adding and editing characters and locations."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from novelgen.errors import UserInputError
from novelgen.models.entity import Entity, EntityType
from novelgen.models.position import END_OF_STORY, StoryPosition
from novelgen.rendering.labels import labels_for
from novelgen.rendering.lines import render_value
from runtime.cli.actions.entities import known_entities, resolved_entity
from runtime.cli.labels import place_text, view_labels_for
from runtime.cli.opening import opened_project, story_language
from runtime.cli.output import print_json, print_pairs, print_table, print_text
from runtime.cli.session import CliSession
from runtime.cli.views.states import print_states
from runtime.story_tools.entity_tools import character_generate, location_generate, memory_upsert
from runtime.story_tools.story_scope import StoryScope


def list_of_type(
    session: CliSession,
    project_id: str,
    entity_type: EntityType,
    *,
    as_of: StoryPosition | None,
    as_json: bool,
) -> None:
    """Show the entities of a type, as the story has shown them at a position; at its end all, whole."""
    with opened_project(session, project_id) as stores:
        with stores.database(project_id).read() as unit:
            entities = known_entities(unit, project_id, as_of)
        labels = view_labels_for(story_language(stores, project_id))
    listed = [entity for entity in entities if entity.entity_type == entity_type]
    if as_json:
        print_json(listed)
        return
    rows = [
        (
            each.entity_id,
            ", ".join(each.names()),
            each.role,
            place_text(each.first_chapter, each.first_scene, labels),
            each.description,
        )
        for each in listed
    ]
    print_table((labels.entity_id, labels.names, "role", labels.place, labels.text), rows, wide=4)


def show_of_type(
    session: CliSession,
    project_id: str,
    entity_type: EntityType,
    name: str,
    *,
    as_of: StoryPosition | None,
    as_json: bool,
) -> None:
    """Show card, profile and state of an entity.

    Raises:
        UnknownEntityError: When nobody of the type bears the name by then, or several do.
    """
    with opened_project(session, project_id) as stores:
        with stores.database(project_id).read() as unit:
            entities = known_entities(unit, project_id, as_of)
            entity = _resolved(name, entities, entity_type)
            states = unit.states.snapshots([entity.entity_id], as_of=as_of or END_OF_STORY)
        language = story_language(stores, project_id)
    if as_json:
        print_json({"entity": entity, "state": states[0] if states else None})
        return
    names = {each.entity_id: each.name for each in entities}
    labels, words = view_labels_for(language), labels_for(language)
    profile = {
        words.attribute(field): render_value(value, names, words) for field, value in entity.profile.items()
    }
    print_pairs(
        {
            labels.entity_id: entity.entity_id,
            labels.names: ", ".join(entity.names()),
            labels.place: place_text(entity.first_chapter, entity.first_scene, labels),
            "role": entity.role,
            labels.text: entity.description,
            **profile,
        }
    )
    if states:
        print_states(states, names, language=language)


def add_character(
    session: CliSession, project_id: str, fields: Mapping[str, Any], *, start: StoryPosition | None
) -> None:
    """Add a character and print its id.

    Raises:
        UserInputError: When a character bears the name already.
    """
    with opened_project(session, project_id) as stores:
        answer = character_generate(StoryScope(stores, project_id, start or END_OF_STORY), **fields)
    print_text(f"added {answer['character_id']}  {answer['name']}")


def add_location(
    session: CliSession, project_id: str, fields: Mapping[str, Any], *, start: StoryPosition | None
) -> None:
    """Add a location and print its id.

    Raises:
        UserInputError: When a location bears the name already.
    """
    with opened_project(session, project_id) as stores:
        answer = location_generate(StoryScope(stores, project_id, start or END_OF_STORY), **fields)
    print_text(f"added {answer['location_id']}  {answer['name']}")


def edit_entity(
    session: CliSession,
    project_id: str,
    entity_type: EntityType,
    name: str,
    changes: Sequence[str],
    *,
    start: StoryPosition | None,
) -> None:
    """Change fields of an entity, given as FIELD=VALUE, and print which were changed.

    Raises:
        UnknownEntityError: When nobody of the type bears the name, or several do.
        UserInputError: When a change cannot be read or its value does not fit.
    """
    with opened_project(session, project_id) as stores:
        with stores.database(project_id).read() as unit:
            entity = _resolved(name, known_entities(unit, project_id, None), entity_type)
        scope = StoryScope(stores, project_id, start or END_OF_STORY)
        answer = memory_upsert(
            scope, entity_id=entity.entity_id, changes=dict(map(_field_and_value, changes))
        )
    print_text(f"changed {entity.entity_id}: {', '.join(answer['updated_fields'])}")


def _resolved(name: str, entities: Sequence[Entity], entity_type: EntityType) -> Entity:
    return resolved_entity(name, [entity for entity in entities if entity.entity_type == entity_type])


def _field_and_value(change: str) -> tuple[str, Any]:
    field, sign, text = change.partition("=")
    if not sign or not field.strip():
        raise UserInputError(f"{change!r} is no change; write FIELD=VALUE such as role=minor")
    try:
        value = json.loads(text)
    except json.JSONDecodeError:
        value = text
    return field.strip(), value
