"""Showing how entities stood around a chapter."""

from __future__ import annotations

from novelgen.models.position import StoryPosition
from runtime.cli.actions.entities import known_entities
from runtime.cli.labels import view_labels_for
from runtime.cli.opening import opened_project, story_language
from runtime.cli.output import print_json, print_text
from runtime.cli.parameters import CliSession
from runtime.cli.views.states import print_states
from runtime.memory_tools import get_recent_timeline_tool


def show_timeline(
    session: CliSession,
    project_id: str,
    *,
    chapter: int,
    window: int,
    as_of: StoryPosition | None,
    as_json: bool,
) -> None:
    """Show the snapshots of the chapters within the window, in story order."""
    with opened_project(session, project_id) as stores:
        snapshots = get_recent_timeline_tool(
            project_id, chapter, context_window=window, as_of=as_of, stores=stores
        )
        with stores.database(project_id).read() as unit:
            names = {each.entity_id: each.name for each in known_entities(unit, project_id, as_of)}
        language = story_language(stores, project_id)
    if as_json:
        print_json(snapshots)
    elif snapshots:
        print_states(snapshots, names, language=language)
    else:
        print_text(view_labels_for(language).nothing)
