"""An editor's model corrects cards and threads, deletes and undoes by function calling."""

from __future__ import annotations

from typing import Any

import pytest

from novelgen.errors import InvalidProjectIdError
from runtime.agents.editing_tools import build_editing_tools
from runtime.stores import MemoryStores
from runtime.story.entities import StoryEntities


def call(stores: MemoryStores, project: str, name: str, **arguments: Any) -> dict[str, Any]:
    """Call a tool by name."""
    tools = {tool.name: tool for tool in build_editing_tools(stores, project)}
    answer = tools[name].invoke(arguments)
    assert isinstance(answer, dict)
    return answer


def test_a_model_updates_a_nested_state(stores: MemoryStores, project: str) -> None:
    """Seed 000.19: the seed's nested current_state changes place and goals, and the fields are named."""
    changes = {"role": "antagonist", "current_state": {"location_id": "L0", "goals": ["the lake"]}}
    answer = call(stores, project, "entity_update", entity_id="C0", changes=changes)
    assert answer == {"success": True, "entity_id": "C0", "updated_fields": ["role", "location_id", "goals"]}
    state = StoryEntities(stores, project).entity(name="C0").state
    assert state is not None
    assert (state.state_data["location_id"], state.state_data["goals"]) == ("L0", ["the lake"])
    assert call(stores, project, "entity_update", entity_id="C0", changes={"rol": "x"})["success"] is False


def test_a_model_deletes_and_undoes(stores: MemoryStores, project: str) -> None:
    """Seed 000.18: each deletion answers the number that takes it back, and says who stays without the link."""
    for name, arguments, gone in (
        ("entity_delete", {"entity_id": "Odile Brandt"}, "C2"),
        ("relationship_delete", {"character_a": "C1", "character_b": "C0"}, "R0"),
        ("open_loop_delete", {"open_loop_id": "OL0"}, "OL0"),
    ):
        done = call(stores, project, name, **arguments)
        assert (done["success"], done["deleted"]) == (True, gone)
        again = call(stores, project, name, **arguments)
        assert (again["success"], sorted(again)) == (False, ["error", "hint", "success"])
        undone = call(stores, project, "change_undo", change_id=done["change_id"])
        assert undone == {"success": True, "undone": "delete", "id": gone}
    assert call(stores, project, "change_undo", change_id=99)["success"] is False


def test_a_model_notes_something_of_a_thread(stores: MemoryStores, project: str) -> None:
    """Seed 000.10: notes are set by a tool, and answered as they are now."""
    answer = call(stores, project, "open_loop_update", open_loop_id="OL0", notes="ask Marcus")
    assert (answer["notes"], answer["importance"]) == ("ask Marcus", "high")
    assert call(stores, project, "open_loop_update", open_loop_id="OL0")["success"] is False


def test_the_tools_reach_one_project_alone(stores: MemoryStores, project: str) -> None:
    """The project is no argument, and a path is none."""
    for tool in build_editing_tools(stores, project):
        assert "project_id" not in tool.args
    with pytest.raises(InvalidProjectIdError):
        build_editing_tools(stores, "../other")
