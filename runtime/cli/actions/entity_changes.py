"""Merging and splitting entities, and undoing it."""

from __future__ import annotations

from collections.abc import Sequence

from novelgen.errors import UserInputError
from novelgen.models.position import StoryPosition
from runtime.cli.actions.entities import known_entities, resolved_entity
from runtime.cli.index_following import follow_index
from runtime.cli.opening import opened_project
from runtime.cli.output import print_json, print_table, print_text
from runtime.cli.session import CliSession


def merge_entities(session: CliSession, project_id: str, keep: str, gone: str) -> None:
    """Make one entity part of another and print how to undo it.

    Raises:
        UnknownEntityError: When nobody bears a name, or several do.
        UserInputError: When both are one, or of different types.
    """
    with opened_project(session, project_id) as stores:
        with stores.database(project_id).write() as unit:
            entities = known_entities(unit, project_id, None)
            kept, merged = (resolved_entity(name, entities) for name in (keep, gone))
            change = unit.merges.merge(kept.entity_id, merged.entity_id)
        follow_index(stores, project_id)
    print_text(f"{merged.entity_id} ({merged.name}) is now part of {kept.entity_id} ({kept.name})")
    print_text(f"undo: novelgen entity undo {project_id} {change.change_id}")


def split_entity(
    session: CliSession,
    project_id: str,
    name: str,
    *,
    new_name: str,
    aliases: Sequence[str],
    scenes: Sequence[StoryPosition],
) -> None:
    """Take a new entity out of one and print its id and how to undo it.

    Raises:
        UnknownEntityError: When nobody bears the name, or several do.
        UserInputError: When nothing is to be split off, or a place names no scene.
    """
    places = [(place.chapter_index, place.scene_index) for place in scenes]
    if any(None in place for place in places):
        raise UserInputError("--scene needs chapter and scene, such as 3:2")
    with opened_project(session, project_id) as stores:
        with stores.database(project_id).write() as unit:
            entity = resolved_entity(name, known_entities(unit, project_id, None))
            change = unit.merges.split(entity.entity_id, name=new_name, aliases=aliases, scenes=places)
        follow_index(stores, project_id)
    print_text(f"{change.other_id} ({new_name}) came out of {entity.entity_id} ({entity.name})")
    print_text(f"undo: novelgen entity undo {project_id} {change.change_id}")


def undo_entity_change(session: CliSession, project_id: str, change_id: int) -> None:
    """Undo a merge or split.

    Raises:
        UserInputError: When there is none of that number, or something of it changed again since.
    """
    with opened_project(session, project_id) as stores:
        with stores.database(project_id).write() as unit:
            change = unit.merges.undo(change_id)
        follow_index(stores, project_id)
    print_text(f"undone: {change.kind} of {change.entity_id} and {change.other_id}")


def list_entity_changes(session: CliSession, project_id: str, *, as_json: bool) -> None:
    """Show all merges and splits, the oldest first."""
    with opened_project(session, project_id) as stores, stores.database(project_id).read() as unit:
        changes = unit.merges.list_all()
    if as_json:
        print_json(changes)
        return
    rows = [
        (each.change_id, each.kind, each.entity_id, each.other_id, "yes" if each.undone_at else "")
        for each in changes
    ]
    print_table(("number", "what", "entity", "other", "undone"), rows, wide=3)
