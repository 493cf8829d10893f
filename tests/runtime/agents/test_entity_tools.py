"""Creating characters and locations by tool."""

from typing import Any

import pytest

from novelgen.models.position import StoryPosition
from runtime.stores import MemoryStores
from runtime.story.story import Story
from tests.runtime.agents.conftest import Call


def _state(stores: MemoryStores, project: str, entity_id: str, as_of: StoryPosition) -> dict[str, Any]:
    with stores.database(project).read() as unit:
        found = unit.states.snapshots([entity_id], as_of=as_of)
    return found[0].state_data if found else {}


def _known(stores: MemoryStores, project: str, as_of: StoryPosition) -> set[str]:
    with stores.database(project).read() as unit:
        return {entity.entity_id for entity in unit.entities.list_as_of(as_of=as_of)}


@pytest.mark.slow
def test_a_generated_character_holds_from_the_planned_scene_on(stores: MemoryStores, project: str, call: Call) -> None:
    """It is known where it was planned, with card and goals, and nowhere earlier."""
    planned = StoryPosition(2, 1)
    answer = call(
        "character_generate",
        as_of=planned,
        name="Ines Holt",
        role="minor",
        description="A lighthouse keeper",
        traits=["patient"],
        goals=["keep the lamp lit"],
    )
    assert (answer["entity"]["entity_id"], answer["holds_after"]) == ("C3", "1:2")
    assert "C3" in _known(stores, project, planned)
    assert "C3" not in _known(stores, project, StoryPosition(1, 2))
    assert _state(stores, project, "C3", planned) == {"goals": ["keep the lamp lit"]}
    assert _state(stores, project, "C3", StoryPosition(1, 2)) == {}
    with stores.database(project).read() as unit:
        stored = unit.entities.get("C3")
    assert stored is not None
    assert stored.entity.profile["personality"] == {"core_traits": ["patient"]}
    assert (stored.entity.role, stored.entity.description) == ("minor", "A lighthouse keeper")


@pytest.mark.slow
def test_a_known_name_is_refused_with_its_id(call: Call) -> None:
    """Aliases and spellings count; of a name of the future not whose it is."""
    answer = call("character_generate", name="the cartographer", description="x")
    assert "character C0 bears the name 'the cartographer' already" in answer["error"]["message"]
    answer = call("character_generate", name="ELENA THORNE", description="x")
    assert "character C0 bears the name 'ELENA THORNE' already" in answer["error"]["message"]
    answer = call("character_generate", as_of=StoryPosition(1, 2), name="Odile Brandt", description="x")
    assert answer["error"]["message"] == "the name 'Odile Brandt' is taken; choose another one"


@pytest.mark.slow
def test_stored_scenes_are_read_again_for_a_new_name(stores: MemoryStores, project: str, call: Call) -> None:
    """Who gets a card later was there before: the desk's scene now is about the place, too."""
    call("location_generate", name="frozen lake", description="A lake in winter")
    with stores.database(project).read() as unit:
        assert unit.entities.first_mentions()["L1", "frozen lake"] == (2, 1)


@pytest.mark.slow
def test_before_the_first_scene_what_is_generated_holds_from_the_start(stores: MemoryStores) -> None:
    """An empty project can be peopled."""
    stores.create_project("new-story")
    tools = {tool.name: tool for tool in Story(stores, "new-story").as_tools(as_of=(1, 1))}
    answer = tools["location_generate"].invoke({"name": "灯塔", "description": "海边的灯塔", "features": ["铜铃"]})
    assert (answer["entity"]["entity_id"], answer["entity"]["name"]) == ("L0", "灯塔")
    assert _known(stores, "new-story", StoryPosition(1, 1)) == {"L0"}
