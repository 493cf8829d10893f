"""Programs that are checked by `mypy --strict` find every public name typed."""

import inspect
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import get_type_hints

import pytest

from novelgen import Memory, Story
from runtime.story.character import Character
from tests.support.story_parts import PARTS

PUBLIC = ("novelgen", "novelgen.errors", "novelgen.models", "novelgen.testing")

PROGRAM = """
import asyncio

import novelgen
from novelgen.testing import open_ephemeral


def write() -> str:
    with open_ephemeral(memory_budget=2000) as stories:
        story: novelgen.Story = stories.create("mill", language="en")
        story.ingest(text="Ada gave Bo the key.", chapter_index=1, scene_index=1)
        found: list[str] = [each.content for each in story.search("key", as_of="1:2", top_k=3)]
        names: list[str] = [tool.name for tool in story.as_tools(names=["knowledge_query"], reads_only=True)]
        state = story.entities.state("Ada", as_of=(1, 2))
        told: str = story.context(1, 2, {"purpose": "Bo opens the mill."}).as_prompt()
        return " ".join([*found, *names, told, "" if state is None else state.entity_id])


async def look(story: novelgen.Story) -> int:
    context = await story.acontext(1, 2, {"purpose": "Bo opens the mill."})
    return len(context.relevant_memories)


print(write(), asyncio.iscoroutinefunction(look))
"""

WRONG = """
import novelgen


def ask(story: novelgen.Story) -> None:
    story.search("key", top_k="three")
    story.search("key", content_type="memories")
    story.context("one", 2)
"""


def _public_names(module: str) -> list[str]:
    loaded = import_module(module)
    names = getattr(loaded, "__all__", None) or [
        name for name, each in vars(loaded).items() if inspect.isclass(each) and each.__module__ == module
    ]
    return [each for each in names if not each.startswith("_")]


def _errors_in(programs: Mapping[str, str], folder: Path) -> Counter[str]:
    """Return how many errors mypy finds in each of some programs; one run reads what they import for all."""
    files = [folder / f"{name}.py" for name in programs]
    for file, program in zip(files, programs.values(), strict=True):
        file.write_text(program, encoding="utf-8")
    # Types of others' packages say nothing of ours, and reading them takes seven eighths of the time.
    options = ["--strict", "--config-file", "", "--follow-imports", "silent", "--no-site-packages"]
    options += ["--cache-dir", os.devnull]
    checked = subprocess.run(
        [sys.executable, "-m", "mypy", *options, *files], capture_output=True, text=True, check=False
    )
    assert checked.stdout, checked.stderr
    found = [line for line in checked.stdout.splitlines() if ": error:" in line]
    return Counter(name for line in found for name in programs if f"{name}.py:" in line)


@pytest.mark.parametrize("part", [Memory, Story, Character, *PARTS.values()])
def test_every_public_method_says_its_types(part: type) -> None:
    """Arguments and results alike, of async twins, too."""
    for name, method in inspect.getmembers(part, inspect.isfunction):
        if name.startswith("_"):
            continue
        signature = inspect.signature(method)
        bare = [each.name for each in list(signature.parameters.values())[1:] if each.annotation is each.empty]
        assert (name, bare, signature.return_annotation is signature.empty) == (name, [], False)


def test_every_method_that_takes_a_place_takes_each_spelling_of_it() -> None:
    """A pair, a text and a StoryPosition alike, for type checkers too: none is typed for a StoryPosition alone."""
    taken = 0
    methods = [item for part in (Story, *PARTS.values()) for item in inspect.getmembers(part, inspect.isfunction)]
    for name, method in methods:
        hints = {} if name.startswith("_") else get_type_hints(method)
        for argument, hint in hints.items():
            if argument != "return" and "StoryPosition" in str(hint):
                assert "tuple[int, int]" in str(hint) and "str" in str(hint), (name, argument)  # noqa: PT018
                taken += 1
    assert taken > 100


def test_a_program_with_every_public_name_is_strict(tmp_path: Path) -> None:
    """Each name can be imported and used without an Any of ours; a wrong argument is found."""
    named = [(module, name) for module in PUBLIC for name in _public_names(module)]
    imports = [f"from {module} import {name} as name_{number}" for number, (module, name) in enumerate(named)]
    programs = {"whole_program": "\n".join([*imports, PROGRAM]), "wrong_program": WRONG}
    assert _errors_in(programs, tmp_path) == {"wrong_program": 3}
