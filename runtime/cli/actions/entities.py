"""Showing a project's entities."""

from __future__ import annotations

from difflib import get_close_matches

from novelgen.errors import UnknownEntityError
from novelgen.models.entity import Entity
from novelgen.models.position import END_OF_STORY, StoryPosition
from novelgen.names.resolver import NameResolver
from runtime.cli.labels import place_text, view_labels_for
from runtime.cli.opening import opened_project, story_language
from runtime.cli.output import print_json, print_pairs, print_table
from runtime.cli.session import CliSession
from runtime.cli.views.states import print_states
from runtime.storage.unit import UnitOfWork


def list_entities(
    session: CliSession, project_id: str, *, as_of: StoryPosition | None, as_json: bool
) -> None:
    """Show the entities, as the story has shown them at a position; at its end all, whole."""
    with opened_project(session, project_id) as stores:
        with stores.database(project_id).read() as unit:
            entities = known_entities(unit, project_id, as_of)
        labels = view_labels_for(story_language(stores, project_id))
    if as_json:
        print_json(entities)
        return
    rows = [
        (
            each.entity_id,
            each.entity_type,
            place_text(each.first_chapter, each.first_scene, labels),
            ", ".join(each.names()),
        )
        for each in entities
    ]
    print_table((labels.entity_id, labels.kind, labels.place, labels.names), rows, wide=3)


def show_entity(
    session: CliSession, project_id: str, name: str, *, as_of: StoryPosition | None, as_json: bool
) -> None:
    """Show an entity and its state.

    Raises:
        UnknownEntityError: When nobody bears the name by then, or several do; names who is near.
    """
    with opened_project(session, project_id) as stores:
        with stores.database(project_id).read() as unit:
            entities = known_entities(unit, project_id, as_of)
            entity = resolved_entity(name, entities)
            states = unit.states.snapshots([entity.entity_id], as_of=as_of or END_OF_STORY)
        language = story_language(stores, project_id)
    if as_json:
        print_json({"entity": entity, "state": states[0] if states else None})
        return
    labels = view_labels_for(language)
    print_pairs(
        {
            labels.entity_id: entity.entity_id,
            labels.kind: entity.entity_type,
            labels.names: ", ".join(entity.names()),
            labels.place: place_text(entity.first_chapter, entity.first_scene, labels),
            "role": entity.role,
            labels.text: entity.description,
        }
    )
    if states:
        print_states(states, {each.entity_id: each.name for each in entities}, language=language)


def known_entities(unit: UnitOfWork, project_id: str, as_of: StoryPosition | None) -> list[Entity]:
    """Return the entities as the story has shown them before a position; None means all, whole."""
    if as_of is not None:
        return unit.entities.list_as_of(as_of=as_of)
    return [stored.entity for stored in unit.entities.list_all()]


def resolved_entity(name: str, entities: list[Entity]) -> Entity:
    """Return the entity that an id, name or alias means.

    Raises:
        UnknownEntityError: When nobody bears the name, or several do.
    """
    by_id = {entity.entity_id: entity for entity in entities}
    resolution = NameResolver(entities).resolve(name)
    if resolution.entity_id is not None:
        return by_id[resolution.entity_id]
    if resolution.candidate_ids:
        several = ", ".join(f"{each} ({by_id[each].name})" for each in resolution.candidate_ids)
        raise UnknownEntityError(f"{name!r} may mean several entities: {several}; give the id")
    names = [known for entity in entities for known in entity.names()]
    near = (
        ", ".join(get_close_matches(name, names, n=3, cutoff=0.4)) or "list them with `novelgen entity list`"
    )
    raise UnknownEntityError(f"no entity {name!r} is known by then; near it: {near}")
