"""The owner's design card, phrase by phrase."""

import ast
import functools
import inspect
import json
import re
import subprocess
import sys
import tomllib
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
from langchain_core.output_parsers import PydanticOutputParser
from langchain_core.runnables import Runnable, RunnableLambda
from pydantic import SecretStr
from sqlmodel import SQLModel

from novelgen.chains.memory_context_chain import MemoryContextChain, memory_context_chain
from novelgen.memory.protocol import MemoryTools
from novelgen.model_calls.answer_parser import AnswerParser
from novelgen.models.context import SceneMemoryContext
from novelgen.models.plan import GeneratedScene
from runtime import memory_tools
from runtime.context_chain import build_context_chain
from runtime.model_providers.chat_models import build_chat_model
from runtime.orchestrator import SceneBrief, WrittenScene, build_scene_pipeline
from runtime.storage import records
from runtime.stores import MemoryStores
from tests.support.demo_project import demo_request
from tests.support.scripted_chat_model import answering

ROOT = Path(__file__).parents[2]
TOOLS = ("search_story_memory_tool", "get_entity_state_tool", "get_recent_timeline_tool")


@functools.cache
def imported_packages() -> set[str]:
    """Return the packages that the program's modules import, late imports too."""
    nodes = [
        node
        for folder in ("novelgen", "runtime")
        for file in (ROOT / folder).rglob("*.py")
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
    ]
    named = [alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names]
    named += [node.module for node in nodes if isinstance(node, ast.ImportFrom) and node.module]
    return {name.partition(".")[0] for name in named}


@functools.cache
def required_packages() -> set[str]:
    """Return the packages that an installation of novelgen brings."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return {re.split("[^A-Za-z0-9_-]", each)[0] for each in project["dependencies"]}


@pytest.mark.slow
def test_the_packages_are_installed_and_imported() -> None:
    """Packages: each is required by an installation, and the program imports it."""
    packages = {"langchain", "langchain-chroma", "pydantic", "sqlmodel"}
    assert packages - required_packages() == set()
    assert {package.replace("-", "_") for package in packages} - imported_packages() == set()


def test_every_table_is_a_class_of_sqlmodel() -> None:
    """Over SQLModel: each table of the migrations' metadata is one class with `table=True`."""
    classes = {
        value.__tablename__: value
        for value in vars(records).values()
        if isinstance(value, type) and issubclass(value, SQLModel) and hasattr(value, "__table__")
    }
    assert set(classes) == set(records.METADATA.tables)
    assert {"projects", "scenes", "entities", "memory_chunks"} <= set(classes)


def test_a_model_of_openai_is_of_langchain_openai() -> None:
    """Package: langchain-openai is required, and is loaded for a model that is named so."""
    assert "langchain-openai" in required_packages()
    model = build_chat_model("openai:gpt-4.1-mini", api_key=SecretStr("none"))
    assert type(model).__module__.startswith("langchain_openai.")


def test_tests_are_for_pytest() -> None:
    """Package: pytest runs this."""
    assert "pytest" in sys.modules


@pytest.mark.parametrize("name", ["pyproject.toml", "novelgen", "runtime", "projects", "tests", "prompts", "README.md"])
def test_the_top_level_has_its_entries(name: str) -> None:
    """Top level."""
    assert (ROOT / name).exists()


@pytest.mark.slow
def test_the_chain_is_a_langchain_pipeline(read_demo_stores: MemoryStores) -> None:
    """Kind: a Runnable of named steps, which composes by `|`."""
    chain = build_context_chain(read_demo_stores, write_files=False)
    assert isinstance(chain, Runnable)
    count = (chain | RunnableLambda(lambda context: len(context.relevant_memories))).invoke(demo_request("demo", 5, 4))
    assert count > 0


def test_the_function_takes_a_scene_plan_and_a_cast() -> None:
    """Shape: `memory_context_chain` takes a ScenePlan and CharactersConfig, then the place by name."""
    parameters = inspect.signature(memory_context_chain).parameters
    assert list(parameters)[:5] == ["scene_plan", "characters_config", "project_id", "chapter_index", "scene_index"]
    assert parameters["project_id"].kind is inspect.Parameter.KEYWORD_ONLY


@pytest.mark.slow
def test_it_is_stateless(read_demo_stores: MemoryStores) -> None:
    """Shape: another scene in between changes nothing, and the chain holds no request."""
    chain = build_context_chain(read_demo_stores, write_files=False)
    before = {name: id(value) for name, value in vars(chain).items()}
    first = chain.invoke(demo_request("demo", 5, 1))
    chain.invoke(demo_request("demo", 6, 3))
    again = chain.invoke(demo_request("demo", 5, 1))
    assert first.relevant_memories == again.relevant_memories
    assert before == {name: id(value) for name, value in vars(chain).items()}


def test_a_pydantic_output_parser_parses_the_plan(
    read_demo_stores: MemoryStores, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Shape: the answer of the model goes through the parser, and its queries are in the context."""
    answers: list[str] = []
    parse_result = AnswerParser.parse_result

    def counted(self: Any, result: Any, **options: Any) -> Any:
        answers.append(result[0].text)
        return parse_result(self, result, **options)

    monkeypatch.setattr(AnswerParser, "parse_result", counted)
    plan = {"entities": ["I0"], "events": [], "queries": [{"query": "who has the heron key"}]}
    chain = build_context_chain(read_demo_stores, model=answering(json.dumps(plan)), write_files=False)
    context = chain.invoke(demo_request("demo", 5, 4))
    assert issubclass(AnswerParser, PydanticOutputParser)
    assert len(answers) == 1
    assert "who has the heron key" in {query.text for query in context.report.queries if query.origin == "llm"}


def test_the_three_functions_are_called(read_demo_stores: MemoryStores, monkeypatch: pytest.MonkeyPatch) -> None:
    """Shape: the chain over the stores calls each function of `runtime/memory_tools.py`."""
    calls: Counter[str] = Counter()

    def counting(name: str, tool: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any, **keywords: Any) -> Any:
            calls[name] += 1
            return tool(*arguments, **keywords)

        return call

    for name in TOOLS:
        monkeypatch.setattr(memory_tools, name, counting(name, getattr(memory_tools, name)))
    context = build_context_chain(read_demo_stores, write_files=False).invoke(demo_request("demo", 5, 4))
    assert set(calls) == set(TOOLS)
    assert context.relevant_memories
    assert context.entity_states


def test_mocked_stores_give_the_json() -> None:
    """Shape: it degrades into a SceneMemoryContext as JSON; used by pytest with mocked stores."""
    place: dict[str, Any] = {"project_id": "mill", "chapter_index": 2, "scene_index": 1}
    context = memory_context_chain({"characters": ["Ada"]}, None, **place, memory=Mock(spec=MemoryTools))
    assert SceneMemoryContext.model_validate_json(context.model_dump_json()) == context
    assert {issue.stage for issue in context.report.issues} >= {"search", "states", "timeline"}


@pytest.mark.slow
def test_the_orchestrator_runs_it_as_a_step(demo_stores: MemoryStores) -> None:
    """Used by: orchestrator chain step."""
    chain = build_context_chain(demo_stores)
    assert isinstance(chain, MemoryContextChain)

    def write(brief: SceneBrief) -> WrittenScene:
        text = f"Ines counts {len(brief.context.relevant_memories)} facts."
        return WrittenScene(scene=GeneratedScene(scene_number=1, content=text))

    outcome = build_scene_pipeline(demo_stores, chain, write).invoke(demo_request("demo", 7, 1))
    assert outcome.context.relevant_memories
    assert outcome.ingest is not None
    assert (demo_stores.paths("demo").context_file(7, 1)).is_file()


@pytest.mark.slow
def test_each_scene_can_be_run_as_a_module() -> None:
    """Used by: standalone `python -m` run per scene; tests/novelgen/chains/test_plain_call.py runs it whole."""
    words = [sys.executable, "-m", "novelgen.chains.memory_context_chain", "--help"]
    ended = subprocess.run(words, capture_output=True, text=True, check=True)
    assert "--chapter" in ended.stdout
    assert "--scene" in ended.stdout
