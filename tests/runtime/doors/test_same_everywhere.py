"""One operation, the same arguments, the same answer and the same kind of refusal, whichever door it is called by."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from fastapi.testclient import TestClient

from novelgen.errors import UserInputError
from novelgen.models.context import SceneMemoryContext
from runtime.doors.arguments import arguments_of, read_arguments
from runtime.doors.cli.main import novelgen as program
from runtime.doors.cli.offers import OFFERS
from runtime.doors.operations import OPERATIONS, Operation
from runtime.stores import MemoryStores
from runtime.story.story import Story
from tests.runtime.doors.http.serving import client_of
from tests.runtime.doors.mcp.test_tools import answer_of, text_of
from tests.support.demo_project import settings_for

PLAN = {
    "scene_number": 4,
    "location": "the Salt House",
    "characters": ["Ines"],
    "purpose": "Open the iron door.",
    "key_actions": ["She turns the key."],
    "estimated_words": 260,
    "scene_type": "dramatic",
    "intensity": "high",
    "mood_board": "salt and rust",
}
PLACE = {"chapter_index": 5, "scene_index": 4}

READS: dict[str, dict[str, Any]] = {
    "list_scenes": {},
    "list_threads": {"statuses": ["open"], "as_of": "3:1"},
    "get_thread_ledger": {"on_stage": ["Ines"], "as_of": "3:1"},
    "list_entities": {"entity_type": "item", "as_of": "2:1"},
    "get_entity": {"name": "Ines", "as_of": "2:1"},
    "list_memories_about": {"entity": "Sparrow", "limit": 3, "as_of": "3:1"},
    "list_relationships": {"character": "Ines", "as_of": "4:1"},
    "get_relationship_course": {"first": "Ines", "second": "Tobias Reed", "as_of": "4:1"},
    "list_knowledge": {"character": "Sparrow", "about": "key", "as_of": "2:1"},
    "who_knows": {"memory_id": "M001", "as_of": "2:1"},
    "list_shared_scenes": {"first": "Ines", "second": "Sparrow", "as_of": "3:1"},
    "list_changes": {"since": "2:1", "until": "2:2"},
    "list_story_times": {"character": "Ines", "as_of": "3:1"},
    "list_memories": {"attached_to": ["Ines"], "limit": 4, "as_of": "3:1"},
    "get_recent_timeline": {"chapter_index": 2, "context_window": 1, "as_of": "3:1"},
    "list_conflicts": {"with_waived": True},
    "list_summaries": {"as_of": "3:1"},
}

REFUSED: dict[str, dict[str, Any]] = {
    "list_threads": {"as_of": "3:x"},
    "get_entity": {"name": "x" * 401},
    "list_memories_about": {"entity": "Sparrow", "limit": 0},
    "get_recent_timeline": {"chapter_index": -1},
    "list_knowledge": {"character": "x" * 401},
    "add_note": {"text": "x", "importance": 11},
    "add_relationship": {"first": "Ines", "second": "Sparrow", "relationship_type": "friends", "intensity": 11},
    "edit_entity": {"name": "Ines", "changes": {"profile_x": json.loads("[" * 101 + "]" * 101)}},
    "undo_change": {"change_id": 2**63},
    "list_entities": {"colour": "blue"},
}


@pytest.fixture(autouse=True)
def _embeddings_of_the_demo(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NOVELGEN_MEMORY__EMBEDDING_MODEL", "fake:64")


def operation(name: str) -> Operation:
    """Return an operation of the table."""
    return next(each for each in OPERATIONS if each.name == name)


def over_http(client: TestClient, called: Operation, arguments: dict[str, Any]) -> Any:
    """Return the answer of an operation's route."""
    verb, _, path = called.http.partition(" ")
    rest = dict(arguments)
    for name in arguments:
        if f"{{{name}}}" in path:
            path = path.replace(f"{{{name}}}", str(rest.pop(name)) or "%20")
    sent: dict[str, Any] = {"params": rest} if verb in ("GET", "DELETE") else {"json": rest}
    return client.request(verb, f"/v1/projects/demo{path}", **sent)


def by_command(folder: Path, called: Operation, arguments: dict[str, Any]) -> Result:
    """Return what the command of an operation ends with: its options are called as the arguments are, too."""
    offer = OFFERS[called.name]
    required = [name for name, info in arguments_of(called.function).model_fields.items() if info.is_required()]
    first = required if offer.by_position is None else [*offer.by_position]
    positional = [str(arguments[name]) for name in first if name in arguments]
    options: list[str] = []
    for name in set(arguments) - set(first):
        value, option = arguments[name], f"--{name.replace('_', '-')}"
        for each in value if isinstance(value, list) else [value]:
            options += [option] if each is True else [option, str(each)]
    words = ["--projects-dir", str(folder), *offer.command.split(), "demo", *options, "--json", "--", *positional]
    return CliRunner().invoke(program, words)


def in_python(stores: MemoryStores, called: Operation, arguments: dict[str, Any]) -> Any:
    """Return the answer of an operation's method as JSON."""
    values = read_arguments(arguments_of(called.function, called.without), arguments)
    answer = called.answer(called.function(called.part(stores, "demo"), **values))
    return json.loads(answer.model_dump_json(by_alias=True))


@pytest.mark.parametrize("name", READS)
def test_python_and_http_answer_alike(demo_folder: Path, name: str) -> None:
    """The same arguments give the same JSON; what a message tells of this machine is left out over HTTP."""
    with MemoryStores(settings_for(demo_folder)) as stores:
        told = in_python(stores, operation(name), READS[name])
    with client_of(demo_folder) as client:
        answer = over_http(client, operation(name), READS[name])
    assert answer.status_code == 200, answer.text
    assert answer.json() == told


@pytest.mark.parametrize("name", [name for name in READS if name in OFFERS and "entity_type" not in READS[name]])
def test_a_command_prints_what_python_answers(demo_folder: Path, name: str) -> None:
    """The same arguments give the same JSON."""
    with MemoryStores(settings_for(demo_folder)) as stores:
        told = in_python(stores, operation(name), READS[name])
    result = by_command(demo_folder, operation(name), READS[name])
    assert result.exit_code == 0, result.stderr
    assert json.loads(result.stdout) == told


@pytest.mark.parametrize("name", REFUSED)
def test_python_and_http_refuse_alike(demo_folder: Path, name: str) -> None:
    """What is out of bounds, unknown or nests without end is refused before anything is stored, by the same model."""
    with MemoryStores(settings_for(demo_folder)) as stores, pytest.raises(UserInputError):
        in_python(stores, operation(name), REFUSED[name])
    with client_of(demo_folder) as client:
        answer = over_http(client, operation(name), REFUSED[name])
    assert answer.status_code in (400, 422), answer.text
    assert answer.json()["type"] in ("urn:novelgen:invalid-request", "urn:novelgen:user-input")


def _by_python(folder: Path, plan: dict[str, Any]) -> str | None:
    with MemoryStores(settings_for(folder)) as stores:
        try:
            return Story(stores, "demo").context(**PLACE, scene_plan=plan).as_prompt()
        except UserInputError as error:
            return None if "did you mean" in str(error) else str(error)


def _by_http(folder: Path, plan: dict[str, Any]) -> str | None:
    with client_of(folder) as client:
        accept = {"Accept": "text/plain"}
        answer = client.post("/v1/projects/demo/context", json={**PLACE, "scene_plan": plan}, headers=accept)
    is_slip = answer.status_code == 400 and "did you mean" in answer.text
    return None if is_slip else answer.text


def _by_mcp(folder: Path, plan: dict[str, Any]) -> str | None:
    answer = answer_of(folder, "build_scene_context", {**PLACE, "scene_plan": plan})
    return None if answer.is_error and "did you mean" in text_of(answer) else text_of(answer)


def _by_shell(folder: Path, plan: dict[str, Any]) -> str | None:
    (folder / "plan.json").write_text(json.dumps(plan), encoding="utf-8")
    place = ["--chapter", "5", "--scene", "4", "--plan", str(folder / "plan.json")]
    result = CliRunner().invoke(program, ["--projects-dir", str(folder), "context", "demo", *place, "--json"])
    is_slip = result.exit_code == 2 and "did you mean" in result.stderr
    return None if is_slip else SceneMemoryContext.model_validate_json(result.stdout).as_prompt()


DOORS: dict[str, Callable[[Path, dict[str, Any]], str | None]] = {"http": _by_http, "mcp": _by_mcp, "shell": _by_shell}


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("plan", [PLAN, {}], ids=["whole", "empty"])
def test_a_plan_is_taken_alike(demo_folder: Path, door: str, plan: dict[str, Any]) -> None:
    """A plan with all its fields, and fields of its author's own, gives the same block; `{}` is an empty plan."""
    told = _by_python(demo_folder, plan)
    answered = DOORS[door](demo_folder, plan)
    assert told is not None
    assert answered is not None
    assert told.strip() in answered


@pytest.mark.parametrize("door", [*DOORS, "python"])
def test_a_misspelt_plan_is_refused_alike(demo_folder: Path, door: str) -> None:
    """`charcters` is no field to be kept unheeded: the message names the right one."""
    call = {**DOORS, "python": _by_python}[door]
    assert call(demo_folder, {"location": "the Salt House", "charcters": ["Ines"]}) is None
