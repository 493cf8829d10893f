"""The README tells the truth: its Python runs, its settings exist with these defaults."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from langchain_core.language_models import FakeListChatModel
from pydantic import BaseModel

from novelgen.selection.weights import SelectionWeights
from runtime.context_chain import build_context_chain
from runtime.settings import NovelgenSettings, load_settings
from runtime.stores import MemoryStores
from tests.support.demo_project import demo_request, settings_for

README = (Path(__file__).parents[1] / "README.md").read_text(encoding="utf-8")
PYTHON_BLOCKS = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
SETTING_ROW = re.compile(r"^\| (?:`([\w.]+)` )?\| `(NOVELGEN_\w+)` \| ([^|]+) \|", re.MULTILINE)


def flat_defaults(model: type[BaseModel], prefix: str = "") -> dict[str, Any]:
    """Return every setting by its dotted name with its default."""
    found: dict[str, Any] = {}
    for name, field in model.model_fields.items():
        default = field.default
        nested = flat_defaults(type(default), f"{prefix}{name}.") if isinstance(default, BaseModel) else None
        found |= nested if nested is not None else {f"{prefix}{name}": default}
    return found


def test_the_ten_lines_run_as_they_stand(
    demo_folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The first example prints the facts of the demo's scene at the iron door."""
    monkeypatch.chdir(demo_folder.parent)
    monkeypatch.setenv("NOVELGEN_MEMORY__EMBEDDING_MODEL", "fake:64")
    monkeypatch.setenv("NOVELGEN_MEMORY__TOOL_TIMEOUT_S", "60")
    monkeypatch.setenv("NOVELGEN_MEMORY__CHAIN_TIMEOUT_S", "120")
    exec(compile(PYTHON_BLOCKS[0], "README.md", "exec"), {})
    printed = capsys.readouterr().out
    assert "## Facts that hold" in printed
    assert "6-0-2" in printed


def test_the_scene_writing_chain_gives_the_model_the_memory(demo_folder: Path) -> None:
    """The second example hands the rendered context to the chat model and returns its text."""
    names: dict[str, Any] = {}
    exec(compile("\n".join(PYTHON_BLOCKS[0].splitlines()[:5]), "README.md", "exec"), names)
    exec(compile(PYTHON_BLOCKS[1], "README.md", "exec"), names)
    model = FakeListChatModel(responses=["The door swung open."])
    with MemoryStores(settings_for(demo_folder)) as stores:
        chain = names["scene_writing_chain"](stores, model)
        assert chain.invoke(dict(demo_request("demo", 5, 4))) == "The door swung open."
        prompts = build_context_chain(stores, write_files=False).invoke(demo_request("demo", 5, 4))
    assert prompts.relevant_memories


def test_the_retriever_and_the_chunk_context_run_as_they_stand(
    demo_folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The third example prints five memories and the glossary of a piece of text."""
    monkeypatch.chdir(demo_folder.parent)
    monkeypatch.setenv("NOVELGEN_MEMORY__EMBEDDING_MODEL", "fake:64")
    monkeypatch.setenv("NOVELGEN_MEMORY__TOOL_TIMEOUT_S", "60")
    names: dict[str, Any] = {"MemoryStores": MemoryStores, "load_settings": load_settings}
    exec(compile(PYTHON_BLOCKS[2], "README.md", "exec"), names)
    printed = capsys.readouterr().out
    assert "Ines" in printed
    assert "heron key" in printed


def test_every_setting_is_in_the_table_with_its_default() -> None:
    """The configuration table names every setting, its variable and its default, and no other."""
    described = {variable: (name, default.strip()) for name, variable, default in SETTING_ROW.findall(README)}
    defaults = flat_defaults(NovelgenSettings)
    elsewhere = ("memory.vector_store.provider", "memory.weights.")
    shown = [name for name in defaults if not name.startswith(elsewhere)]
    expected = {f"NOVELGEN_{name.upper().replace('.', '__')}" for name in shown}
    assert described.keys() == expected
    for variable, (name, told) in described.items():
        default = defaults[name or "projects_dir"]
        if isinstance(default, bool):
            assert told == str(default).lower(), variable
        elif isinstance(default, int | float):
            assert float(told) == default, variable


def test_every_weight_of_the_choice_is_told_with_its_default() -> None:
    """The table of weights is that of the settings: names, defaults and descriptions, in their order."""
    described = re.findall(
        r"^\| `(\w+)` \| ([^|]+) \| ([^|]+) \|$", README.partition("| weight |")[2], re.MULTILINE
    )
    fields = SelectionWeights.model_fields.items()
    defaults = [
        ", ".join(sorted(field.default)) if isinstance(field.default, frozenset) else str(field.default)
        for _, field in fields
    ]
    told = [
        (name, default, field.description) for (name, field), default in zip(fields, defaults, strict=True)
    ]
    assert described[: len(told)] == told


def test_both_commands_of_a_fresh_machine_are_there() -> None:
    """The two commands that do all the set-up are marked, so that CI runs the very line of the README."""
    for marker in ("main-command", "test-command"):
        assert re.search(rf"<!-- {marker} -->\n```bash\n.+\n```", README)
