"""Creating and changing characters and locations."""

from __future__ import annotations

from typing import Any

import pytest

from novelgen.errors import UnknownEntityError, UserInputError
from novelgen.models.position import END_OF_STORY, StoryPosition
from runtime.stores import MemoryStores
from runtime.story_tools.entity_tools import location_generate, memory_upsert
from runtime.story_tools.story_scope import StoryScope
from tests.runtime.story_tools.conftest import Call


def _state(stores: MemoryStores, project: str, entity_id: str, as_of: StoryPosition) -> dict[str, Any]:
    with stores.database(project).read() as unit:
        found = unit.states.snapshots([entity_id], as_of=as_of)
    return found[0].state_data if found else {}


def _known(stores: MemoryStores, project: str, as_of: StoryPosition) -> set[str]:
    with stores.database(project).read() as unit:
        return {entity.entity_id for entity in unit.entities.list_as_of(as_of=as_of)}


def test_a_generated_character_holds_from_the_planned_scene_on(
    stores: MemoryStores, project: str, call: Call
) -> None:
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
    assert answer == {"success": True, "character_id": "C3", "name": "Ines Holt"}
    assert "C3" in _known(stores, project, planned)
    assert "C3" not in _known(stores, project, StoryPosition(1, 2))
    assert _state(stores, project, "C3", planned) == {"goals": ["keep the lamp lit"]}
    assert _state(stores, project, "C3", StoryPosition(1, 2)) == {}
    with stores.database(project).read() as unit:
        stored = unit.entities.get("C3")
    assert stored is not None
    assert stored.entity.profile["personality"] == {"core_traits": ["patient"]}
    assert (stored.entity.role, stored.entity.description) == ("minor", "A lighthouse keeper")


def test_before_the_first_scene_what_is_generated_holds_from_the_start(stores: MemoryStores) -> None:
    """An empty project can be peopled."""
    stores.create_project("new-story")
    scope = StoryScope(stores, "new-story", StoryPosition(1, 1))
    answer = location_generate(scope, name="灯塔", description="海边的灯塔", features=["铜铃"])
    assert answer == {"success": True, "location_id": "L0", "name": "灯塔"}
    assert _known(stores, "new-story", StoryPosition(1, 1)) == {"L0"}


def test_a_known_name_is_refused_with_its_id(call: Call) -> None:
    """No second Elena; aliases and spellings count."""
    answer = call("character_generate", name="the cartographer", description="x")
    assert "character C0 bears the name 'the cartographer' already" in answer["error"]
    answer = call("character_generate", name="ELENA THORNE", description="x")
    assert "character C0 bears the name 'ELENA THORNE' already" in answer["error"]


def test_a_name_of_the_future_is_refused_without_telling_whose(call: Call) -> None:
    """The name stays free for later, and no id of later is told."""
    answer = call("character_generate", as_of=StoryPosition(1, 2), name="Odile Brandt", description="x")
    assert answer["error"] == "the name 'Odile Brandt' is taken; choose another one"


def test_stored_scenes_are_read_again_for_a_new_name(stores: MemoryStores, project: str, call: Call) -> None:
    """Who gets a card later was there before: the desk's scene now is about the place, too."""
    call("location_generate", name="frozen lake", description="A lake in winter")
    with stores.database(project).read() as unit:
        assert unit.entities.first_mentions()["L1", "frozen lake"] == (2, 1)


def test_upsert_changes_card_profile_and_state(stores: MemoryStores, project: str) -> None:
    """Card fields change the card, profile fields are merged, the rest is state from the last scene on."""
    changes = {
        "emotional_state": "calm",
        "inventory": ["compass"],
        "role": "antagonist",
        "personality": {"flaws": ["pride"]},
        "aliases": ["the Cartographer", "Elle"],
    }
    answer = memory_upsert(StoryScope(stores, project, StoryPosition(2, 1)), entity_id="C0", changes=changes)
    assert answer == {"success": True, "entity_id": "C0", "updated_fields": list(changes)}
    with stores.database(project).read() as unit:
        stored = unit.entities.get("C0")
    assert stored is not None
    assert stored.entity.role == "antagonist"
    assert stored.entity.profile["personality"] == {"fears": ["being forgotten"], "flaws": ["pride"]}
    assert [alias.alias for alias in stored.entity.aliases] == ["the Cartographer", "Elle"]
    now = _state(stores, project, "C0", StoryPosition(2, 1))
    assert (now["emotional_state"], now["inventory"]) == ("calm", ["compass"])
    assert _state(stores, project, "C0", StoryPosition(1, 2))["emotional_state"] == "anxious"
    assert _state(stores, project, "C0", END_OF_STORY)["emotional_state"] == "hopeful"


@pytest.mark.parametrize(
    ("entity_id", "changes", "message"),
    [
        ("L0", {"tension_level": 11}, "tension_level cannot be 11"),
        ("C0", {"inventory": "compass"}, "inventory cannot be 'compass'"),
        ("C0", {"personality": {"fears": 3}}, "personality.fears cannot be 3"),
        ("C0", {"name": ""}, "name cannot be ''"),
    ],
)
def test_values_that_do_not_fit_change_nothing(
    stores: MemoryStores, project: str, entity_id: str, changes: dict[str, Any], message: str
) -> None:
    """The field and the value are named."""
    with pytest.raises(UserInputError, match=message):
        memory_upsert(StoryScope(stores, project), entity_id=entity_id, changes={"role": "x", **changes})
    with stores.database(project).read() as unit:
        stored = unit.entities.get(entity_id)
    assert stored is not None
    assert stored.entity.role != "x"


def test_upsert_needs_a_stored_entity(stores: MemoryStores, project: str) -> None:
    """An unknown id is an error with the command that lists the known ones."""
    with pytest.raises(UnknownEntityError, match="no entity 'C99' is stored"):
        memory_upsert(StoryScope(stores, project), entity_id="C99", changes={"role": "x"})
