"""The record as a model fills it."""

import json
from typing import Any

import pytest
from pydantic import ValidationError

from novelgen.language.language import StoryLanguage
from novelgen.model_calls.answers import MAX_TEXT_CHARACTERS
from novelgen.model_calls.json_model import strict_schema
from novelgen.model_calls.prompting import read_prompt_file
from novelgen.reading.model_record import MAX_MEMORIES, ModelSceneRecord
from tests.novelgen.reading.keeper_scene import ANSWER

LANGUAGES: tuple[StoryLanguage, ...] = ("en", "zh")


def filled(**changes: Any) -> ModelSceneRecord:
    """Return the good answer with changes, read."""
    return ModelSceneRecord.model_validate({**ANSWER, **changes})


def test_lists_are_bounded_and_nulls_stand_for_nothing() -> None:
    """More items or characters than the bounds are cut off; null is what was not said."""
    memories = [{"content": f"Fact {number}\nof many. {'x' * 2000}"} for number in range(50)]
    answer = filled(memories=memories, characters_present=[f"C{number}" for number in range(50)])
    assert (len(answer.memories), len(answer.characters_present)) == (MAX_MEMORIES, 16)
    assert len(answer.memories[0].content) == MAX_TEXT_CHARACTERS
    assert "\n" not in answer.memories[0].content
    answer = filled(title=None, state_changes=None, memories=[{"content": "A.", "importance": None, "slot": None}])
    assert (answer.title, answer.state_changes, answer.memories[0].importance) == ("", [], 5)


@pytest.mark.parametrize(("given", "kept"), [(-3, 1), (0, 1), (7, 7), ("8", 8), (99, 10)])
def test_importance_is_clamped(given: Any, kept: int) -> None:
    """Importance is within 1 to 10 whatever the model says."""
    assert filled(memories=[{"content": "A fact.", "importance": given}]).memories[0].importance == kept


@pytest.mark.parametrize(("word", "entity_type"), [("Person", "character"), ("地点", "location"), ("item", "item")])
def test_entity_types_in_other_words(word: str, entity_type: str) -> None:
    """Common words for the types are understood."""
    assert filled(new_entities=[{"name": "X", "entity_type": word}]).new_entities[0].entity_type == entity_type


@pytest.mark.parametrize(
    ("value", "read"), [(3, "3"), (True, "true"), ([1, "a"], ["1", "a"]), ("", None), (None, None), ([], [])]
)
def test_values_become_words(value: Any, read: Any) -> None:
    """Numbers and truth values of a state become words, a blank clears it."""
    change = {"entity": "C0", "attribute": "status", "value": value}
    assert filled(state_changes=[change]).state_changes[0].value == read


@pytest.mark.parametrize(
    "changes",
    [
        {"memories": "none"},
        {"memories": [{"short": "no content"}]},
        {"memories": ["a string"]},
        {"summary": {"bullet": 1}},
        {"new_entities": [{"name": "X", "entity_type": "dragon"}]},
        {"state_changes": [{"entity": "C0", "attribute": "a", "value": {"b": 1}}]},
    ],
)
def test_wrong_shapes_are_errors(changes: dict[str, Any]) -> None:
    """What is of another shape is not guessed at."""
    with pytest.raises(ValidationError, match="validation error"):
        filled(**changes)


def test_the_strict_schema_bounds_its_lists() -> None:
    """The schema that servers enforce holds a bound for every list of the record, and no defaults."""
    schema = json.dumps(strict_schema(ModelSceneRecord))
    assert '"default"' not in schema
    assert "maxLength" not in schema
    assert strict_schema(ModelSceneRecord)["additionalProperties"] is False
    assert "discovery" in strict_schema(ModelSceneRecord)["$defs"]["ModelMemory"]["properties"]["event_type"]["enum"]
    lists = strict_schema(ModelSceneRecord)["properties"]
    assert all("maxItems" in each for each in lists.values() if each["type"] == "array")


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_example_proves_what_it_says(language: StoryLanguage) -> None:
    """Its quotes stand in the prompt's scene."""
    read = ModelSceneRecord.model_validate_json(read_prompt_file(f"scene_record_example.{language}.json"))
    text = read_prompt_file(f"scene_record.{language}.txt")
    assert all(part.evidence in text for part in (*read.memories, *read.state_changes))
