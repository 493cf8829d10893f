"""Which states enter a context."""

from novelgen.context.lines import labels_for
from novelgen.context.scene_context import AssembledStates, assemble_states
from novelgen.language.language import estimate_tokens
from novelgen.models.position import END_OF_STORY
from novelgen.models.state import EntityStateSnapshot
from tests.support.stories import NOW, PROJECT, lighthouse_memory

ENGLISH = labels_for("en")

STATES = lighthouse_memory().get_entity_states(PROJECT, ["C0", "C1", "I0"], as_of=END_OF_STORY)


def assembled(states: list[EntityStateSnapshot], *, budget: int = 600, most: int = 12) -> AssembledStates:
    """Assemble states in English."""
    return assemble_states(
        states, {}, labels=ENGLISH, budget_tokens=budget, max_states=most, count_tokens=estimate_tokens
    )


def test_snapshots_keep_their_order_and_their_whole_state() -> None:
    """Nothing is cut out, the most wanted comes first, and a state of which all was cleared takes no place."""
    assert assembled(STATES).snapshots == STATES
    bare = EntityStateSnapshot(project_id=PROJECT, entity_type="item", entity_id="I9", timestamp=NOW)
    assert assembled([bare, *STATES], most=3).snapshots == STATES


def test_what_does_not_fit_is_left_out_by_name() -> None:
    """What is beyond max_states, and all of them for a budget of nothing, each with its reason."""
    result = assembled(STATES, most=2)
    assert [state.entity_id for state in result.snapshots] == ["C0", "C1"]
    assert [(item.id, item.reason) for item in result.left_out] == [("I0", "more than max_states=2")]
    result = assembled(STATES, budget=0)
    assert result.snapshots == []
    assert [item.id for item in result.left_out] == ["C0", "C1", "I0"]
    assert all("state_budget=0" in item.reason for item in result.left_out)


def test_attributes_kept_out_of_the_prompt_are_named() -> None:
    """A snapshot that is only partly in the prompt is whole in the JSON, and the report says what is missing."""
    rich = EntityStateSnapshot(
        project_id=PROJECT,
        entity_type="character",
        entity_id="C9",
        timestamp=NOW,
        state_data={"status": "alive", "goals": ["a very long list of goals " * 20]},
    )
    result = assembled([rich], budget=20)
    assert result.snapshots == [rich]
    assert "goals" in result.left_out[0].reason


def test_who_was_only_seen_keeps_a_place() -> None:
    """Seed 001.6: presence alone is a state, with its place where that is known, else with the scene."""
    seen = [
        EntityStateSnapshot(
            project_id=PROJECT,
            entity_type="character",
            entity_id=entity_id,
            timestamp=NOW,
            state_data={"presence": {"location_id": place, "chapter_index": 2, "scene_index": 1}},
        )
        for entity_id, place in (("C7", "L0"), ("C8", None))
    ]
    result = assembled(seen)
    assert result.snapshots == seen
    assert result.left_out == []
