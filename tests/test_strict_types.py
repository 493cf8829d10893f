"""Programs that are checked by `mypy --strict` find every public name typed."""

import inspect
import re
import subprocess
import sys
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import get_type_hints

import pytest

from novelgen import Memory, Story
from runtime.story.character import Character
from tests.docs.notebooks import NOTEBOOKS, read_notebook
from tests.docs.pages import PAGES, ROOT, blocks_of
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
        contents: list[str] = [memory.content for memory in story.search("key", as_of="1:2", top_k=3)]
        names: list[str] = [tool.name for tool in story.as_tools(names=["knowledge_query"], reads_only=True)]
        state = story.entities.state("Ada", as_of=(1, 2))
        prompt: str = story.context(1, 2, {"purpose": "Bo opens the mill."}).as_prompt()
        return " ".join([*contents, *names, prompt, "" if state is None else state.entity_id])


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
        name for name, value in vars(loaded).items() if inspect.isclass(value) and value.__module__ == module
    ]
    return [name for name in names if not name.startswith("_")]


CONFIGURATION = """
[mypy]
strict = True
# No type of these packages is in a signature of ours, and reading them takes half of the time.
[mypy-alembic.*,chromadb.*,fastapi.*,jinja2.*,langsmith.*,openai.*,psycopg.*,rich.*,sqlalchemy.*,starlette.*]
follow_imports = skip
"""


def _examples() -> dict[str, tuple[str, str]]:
    """Return each program of the documentation by the name of its module, with its page and its lines.

    A block of a page is a program by itself, as `tests/docs` runs it. The cells of a notebook are one program.
    """
    blocks = [block for page in PAGES for block in blocks_of(page) if block.language == "python"]
    examples = {f"block_{number}": (block.page, "\n" * block.line + block.text) for number, block in enumerate(blocks)}
    for number, path in enumerate(NOTEBOOKS):
        cells = [cell for cell in read_notebook(path)["cells"] if cell["cell_type"] == "code"]
        examples[f"notebook_{number}"] = (path.name, "\n".join("".join(cell["source"]) for cell in cells))
    return examples


EXAMPLES = _examples()


def _errors_in(programs: Mapping[str, str], folder: Path) -> dict[str, list[str]]:
    """Return the errors that mypy finds in programs, by module name. One run reads their imports once."""
    for name, program in programs.items():
        (folder / f"{name}.py").write_text(program, encoding="utf-8")
    configuration = folder / "mypy.ini"
    configuration.write_text(CONFIGURATION, encoding="utf-8")
    options = ["--strict", "--config-file", configuration, "--follow-imports", "silent"]
    options += ["--cache-dir", ROOT / ".mypy_cache" / "examples"]
    run = subprocess.run(
        [sys.executable, "-m", "mypy", *options, *(f"{name}.py" for name in programs)],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode in (0, 1), run.stdout + run.stderr
    errors: dict[str, list[str]] = {name: [] for name in programs}
    for name, line, message in re.findall(r"^(\w+)\.py:(\d+): error: (.+)$", run.stdout, re.MULTILINE):
        errors[name].append(f"line {line}: {message}")
    return errors


@pytest.fixture(scope="module")
def errors(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[str]]:
    """The errors of all programs of this module, from one process of mypy."""
    named = [(module, name) for module in PUBLIC for name in _public_names(module)]
    imports = [f"from {module} import {name} as name_{number}" for number, (module, name) in enumerate(named)]
    programs = {"whole_program": "\n".join([*imports, PROGRAM]), "wrong_program": WRONG}
    programs |= {name: text for name, (_, text) in EXAMPLES.items()}
    return _errors_in(programs, tmp_path_factory.mktemp("programs"))


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


@pytest.mark.slow
def test_a_program_with_every_public_name_is_strict(errors: dict[str, list[str]]) -> None:
    """Each name can be imported and used without an Any of ours; a wrong argument is found."""
    assert errors["whole_program"] == []
    assert len(errors["wrong_program"]) == 3


@pytest.mark.slow
def test_every_example_of_the_documentation_is_strict(errors: dict[str, list[str]]) -> None:
    """`mypy --strict` passes on each Python block of README and docs, and on each notebook, as written."""
    wrong = {page: errors[name] for name, (page, _) in EXAMPLES.items() if errors[name]}
    assert len(EXAMPLES) > 50
    assert wrong == {}
