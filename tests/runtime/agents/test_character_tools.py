"""A character's memory by function calling."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import novelgen
from runtime.story.story import Story


@pytest.fixture
def village(tmp_path: Path) -> Iterator[Story]:
    """A project with two characters who remember nothing yet."""
    with novelgen.open(tmp_path, embeddings="fake:32") as memory:
        story = memory.create("village")
        for name in ("Gregor", "Mira"):
            story.character(name, create=True)
        yield story


def test_a_model_remembers_and_recalls_for_one_character(village: Story) -> None:
    """What one character's tool keeps, its own recall brings back, and another's does not."""
    tools = {tool.name: tool for tool in village.character("Gregor").tools()}
    others = {tool.name: tool for tool in village.character("Mira").tools()}

    kept = tools["character_remember"].invoke({"text": "The player gave me a brass compass."})
    answer = tools["character_recall"].invoke({"said": "Do you have the compass?"})

    assert answer["memory_ids"] == [kept["memory_id"]]
    assert "brass compass" in answer["remembered"]
    assert others["character_recall"].invoke({"said": "the compass"})["memory_ids"] == []


def test_a_tool_answers_wrong_arguments_as_data(village: Story) -> None:
    """An argument that is none comes back as a refusal, and nothing is stored."""
    gregor = village.character("Gregor")
    [remember, _] = gregor.tools()
    assert remember.invoke({"text": ""})["success"] is False
    assert remember.invoke({"text": "   "})["success"] is False
    assert remember.invoke({"words": "The player came."})["success"] is False
    assert gregor.memories() == []
