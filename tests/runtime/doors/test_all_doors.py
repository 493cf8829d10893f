"""One operation, the same arguments, the same answer and the same kind of refusal, whichever door it is called by."""

import json
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from runtime.doors.operations import Operation
from runtime.doors.tools import MCP_TOOLS
from tests.runtime.doors.all_doors import Answered, Doors, all_doors, assert_is_part, operation, shell_words, tool_for

PLAN = {
    "scene_number": 4,
    "location": "the Salt House",
    "characters": ["Ines"],
    "purpose": "Open the iron door.",
    "key_actions": ["She turns the key."],
    "estimated_words": 260,
    "scene_type": "dramatic",
    "intensity": "high",
    "pov": "Ines",
    "mood_board": "salt and rust",
}
MISSPELT = {"location": "the Salt House", "charcters": ["Ines"]}
PLACE = {"chapter_index": 5, "scene_index": 4}
DRAFT = "Ines walked in. Elias Marrow greeted her."
OF_THE_ROW_BEFORE = {"change_id": -1}
"""Stands for the number of the change that the answer to the row before it names."""
SPARROW, GREGOR = {"character_id": "Sparrow"}, {"character_id": "Gregor"}


@dataclass(frozen=True)
class Row:
    """A call: its answer tells this, or it is refused as this kind."""

    name: str
    arguments: dict[str, Any]
    tells: str = ""
    kind: str = ""

    def __str__(self) -> str:
        """Name it in the list of tests."""
        return f"{self.name}-{self.kind or self.tells}"[:60]


READS = [
    Row("search_story_memory", {"query": "who holds the heron key", "top_k": 3, "as_of": "4:4"}, "M053"),
    Row("search_story_memory", {"query": "the key", "entities": ["Sparrow"], "tags": ["key"], "top_k": 200}, "M080"),
    Row("search_story_memory", {"query": "who is she", "entities": ["Zyxwv"]}, "Zyxwv"),
    Row("get_entity_state", {"entity_id": "Ines", "as_of": "2:1"}, "owes forty crowns"),
    Row("get_recent_timeline", {"chapter_index": 2, "chapters_around": 1, "as_of": "3:1"}, "Sparrow"),
    Row("list_entities", {"entity_type": "item", "as_of": "2:1"}, "heron key"),
    Row("list_entities", {"name": "sparr", "limit": 1}, "Sparrow"),
    Row("get_entity", {"entity_id": "Ines", "as_of": "2:1"}, "Ines Marrow"),
    Row("list_memories_about", {"entity_id": "Sparrow", "limit": 3, "as_of": "3:1"}, "Sparrow"),
    Row("list_memories", {"attached_to": ["Ines"], "limit": 4, "content_types": ["memory"], "as_of": "3:1"}, "Ines"),
    Row("list_relationships", {"character_id": "Ines", "as_of": "4:1"}, "R0"),
    Row("query_relationships", {"character_id": "Ines", "as_of": "4:1"}, "your_view"),
    Row("get_relationship_course", {"character_a": "Ines", "character_b": "Tobias Reed", "as_of": "4:1"}, "C0"),
    Row("list_knowledge", {"character_id": "Sparrow", "about": "key", "as_of": "2:1", "limit": 2}, "C5"),
    Row("who_knows", {"memory_id": "M001", "as_of": "2:1"}, "Ines"),
    Row("who_knows", {"memory_id": "OL1", "as_of": "2:1"}, "Ines"),
    Row("list_shared_scenes", {"character_a": "Ines", "character_b": "Sparrow", "as_of": "3:1"}, "C5"),
    Row("list_changes", {"since": "2:1", "until": "2:2"}, "clapper"),
    Row("list_story_times", {"character_id": "Ines", "as_of": "3:1", "limit": 3}, "told"),
    Row("list_threads", {"statuses": ["open"], "as_of": "3:1"}, "OL"),
    Row("get_thread_ledger", {"as_of": "3:1", "stages": ["planted"], "limit": 2}, "OL"),
    Row("list_scenes", {"limit": 2}, "Ninety-five leaves"),
    Row("get_scene", {"position": "1:1", "begin": 5, "length": 60}, "characters"),
    Row("list_summaries", {"as_of": "3:1"}, "summaries"),
    Row("list_conflicts", {"with_waived": True}, "conflicts"),
    Row("check_draft", {"text": DRAFT, **PLACE, "scene_plan": PLAN, "use_model": False}, "Elias Marrow"),
    Row("build_chunk_context", {"text": "Sparrow rang.", "chapter_index": 3, "limit": 200}, "M0"),
    Row("build_chunk_context", {"text": "Sparrow rang.", "limit": 0}, "more"),
    Row("summarize_scene", {"text": "Ines locked the shop. Rain fell. Sparrow waited at the gate."}, "rules"),
]

REFUSALS = [
    Row("list_threads", {"as_of": "3:x"}, kind="invalid-request"),
    Row("get_entity", {"entity_id": "x" * 401}, kind="invalid-request"),
    Row("get_entity", {"entity_id": "Nobody"}, kind="unknown-entity"),
    Row("get_entity_state", {"entity_id": "Ines", "as_of": "3:x"}, kind="invalid-request"),
    Row("get_entity_state", {"entity_id": "nobody at all"}, kind="unknown-entity"),
    Row("who_knows", {"memory_id": "M99999"}, kind="unknown-memory"),
    Row("get_scene", {"position": "99:1"}, kind="unknown-scene"),
    Row("list_scenes", {"limit": 0}, kind="invalid-request"),
    Row("list_entities", {"colour": "blue"}, kind="invalid-request"),
    Row("list_memories_about", {"entity_id": "Sparrow", "limit": 0}, kind="invalid-request"),
    Row("get_recent_timeline", {"chapter_index": -1}, kind="invalid-request"),
    Row("list_knowledge", {"character_id": "x" * 401}, kind="invalid-request"),
    Row("search_story_memory", {"query": "key", "top_k": 201}, kind="invalid-request"),
    Row("search_story_memory", {"query": ""}, kind="invalid-request"),
    Row("search_story_memory", {"query": "   "}, kind="user-input"),
    Row("search_story_memory", {"query": "key", "path": "/etc/passwd"}, kind="invalid-request"),
    Row("build_chunk_context", {"text": "x" * 100_001}, kind="invalid-request"),
    Row("build_chunk_context", {"text": "Sparrow", "limit": 201}, kind="invalid-request"),
    Row("build_chunk_context", {"chapter_index": 3}, kind="invalid-request"),
    Row("check_draft", PLACE, kind="invalid-request"),
    Row("check_draft", {"text": DRAFT, **PLACE, "scene_plan": MISSPELT}, kind="user-input"),
    Row("build_context", {**PLACE, "scene_plan": MISSPELT}, kind="user-input"),
    Row("build_context", {"chapter_index": 99, "scene_index": 1}, kind="user-input"),
    Row("add_note", {"content": "x", "importance": 11}, kind="invalid-request"),
    Row("add_note", {"content": "x", "importance": 2**63}, kind="invalid-request"),
    Row("add_note", {"content": "x", "attached_to": [{"type": "character"}]}, kind="invalid-request"),
    Row("add_note", {"content": "x", "attached_to": [{"type": "faction", "id": "Ines"}]}, kind="unknown-entity"),
    Row("edit_memory", {"memory_id": "M001", "attached_to": ["Nobody"]}, kind="unknown-entity"),
    Row(
        "edit_entity",
        {"entity_id": "Ines", "changes": {"x": json.loads("[" * 101 + "]" * 101)}},
        kind="invalid-request",
    ),
    Row("add_relationship", {"character_a": "Ines", "character_b": "Sparrow", "intensity": 11}, kind="invalid-request"),
    Row(
        "edit_relationship", {"character_a": "C0", "character_b": "C2", "dimensions": {"trust": 101}}, kind="user-input"
    ),
    Row("undo_change", {"change_id": 2**63}, kind="invalid-request"),
    Row("resolve_thread", {"loop_id": "OL999", "summary": "Gone."}, kind="user-input"),
    Row("add_waiver", {"finding_id": "M001"}, kind="user-input"),
    Row("ingest_scene", {"position": "7:1", "text": "She went.", "record": {"summary": 3}}, kind="user-input"),
    Row("ingest_scene", {"position": "7:1", "text": "  "}, kind="user-input"),
]

WRITES = [
    Row(
        "add_note",
        {
            "content": "The tower leans.",
            "attached_to": [{"type": "character", "id": "C5"}, "chapter:3"],
            "start": "2:1",
        },
        "C5",
    ),
    Row("edit_memory", {"memory_id": "M001", "content": "Ines found a brass key.", "attach": ["Sparrow"]}, "brass"),
    Row("end_memory", {"memory_id": "M001", "start": "1:2"}, "over_at"),
    Row("pin_memory", {"memory_id": "M001"}, "pinned"),
    Row("ban_memory", {"memory_id": "M002"}, "banned"),
    Row("delete_memory", {"memory_id": "M003"}, "deleted"),
    Row(
        "edit_entity",
        {"entity_id": "Sparrow", "changes": {"role": "bell-ringer", "alias": "the ringer's boy"}},
        "ringer's",
    ),
    Row("merge_entities", {"keep": "Sparrow", "gone": "Captain Varga"}, "C6"),
    Row("undo_change", OF_THE_ROW_BEFORE, "Varga"),
    Row("add_thread", {"description": "Who rang at noon?", "characters": ["Sparrow"]}, "Who rang at noon?"),
    Row("resolve_thread", {"loop_id": "OL16", "summary": "Sorrel cut it."}, "resolved"),
    Row("abandon_thread", {"loop_id": "OL14", "summary": "Forgotten."}, "abandoned"),
    Row("add_waiver", {"finding_id": "K0123456789ab", "note": "A ghost."}, "A ghost."),
    Row(
        "edit_relationship",
        {"character_a": "Ines", "character_b": "Tobias Reed", "event": "a shared supper", "dimensions": {"trust": 5}},
        "updated",
    ),
    Row("ingest_scene", {"position": "7:1", "text": "Ines went home.", "record": {"summary": ["Home."]}}, "added"),
    Row("ingest_scene", {"position": "7:1", "text": "Ines went home.", "record": {"summary": ["Home."]}}, "unchanged"),
    Row("add_card", {"name": "the cracked bell", "kind": "item", "holder": "Sparrow"}, "the cracked bell"),
    Row("rename_card", {"entity_id": "the cracked bell", "new_name": "the mended bell"}, "the mended bell"),
    Row("delete_entity", {"entity_id": "the cracked bell"}, "the cracked bell"),
    Row("undo_change", {}, "the cracked bell"),
    Row("unpin_memory", {"memory_id": "M001"}, "active"),
    Row("unban_memory", {"memory_id": "M002"}, "active"),
    Row("ingest_scene", {"position": "7:2", "text": "It rained on the Salt House."}, "added"),
    Row("extract_scenes", {"scenes": ["7:2"]}, "done"),
    Row("remember_event", {**SPARROW, "content": "A stranger gave me an apple.", "importance": 6}, "apple"),
    Row("recall_memories", {**SPARROW, "said": "Did you eat the apple?"}, "apple"),
    Row("list_character_memories", SPARROW, "apple"),
    Row("add_character", {"name": "Gregor", "description": "The blacksmith."}, "blacksmith"),
    Row("add_location", {"name": "the smithy", "description": "Hot and loud."}, "the smithy"),
    Row(
        "add_relationship",
        {
            "character_a": "Gregor",
            "character_b": "Sparrow",
            "relationship_type": "friends",
            "perspective_a": "A good boy.",
            "perspective_b": "He feeds me.",
        },
        "feeds",
    ),
    Row("tell_memories", {**SPARROW, "listener": "Gregor", "what": "apple"}, "apple"),
    Row("change_feelings", {**GREGOR, "deltas": {"trust": 5}}, "trust"),
    Row("get_feelings", GREGOR, "trust"),
    Row(
        "keep_secret",
        {**GREGOR, "secret": {"secret_id": "deal", "text": "I forged the seal.", "unlock": {"item": "the seal"}}},
        "deal",
    ),
    Row("list_secrets", GREGOR, "locked"),
    Row("check_reply", {**GREGOR, "text": "I forged the seal."}, "leaked_secret"),
    Row("show_item", {**GREGOR, "item": "the seal"}, "the seal"),
    Row("reveal_secret", {**GREGOR, "secret_id": "deal"}, "deal"),
    Row("drop_secret", {**GREGOR, "secret_id": "deal"}, "deal"),
    Row(
        "tell_world_event", {"content": "The bell fell.", "witnesses": ["Sparrow"], "told_to": ["Gregor"]}, "witnessed"
    ),
    Row("list_world_events", {}, "The bell fell."),
    Row("set_flag", {"name": "bell_fell", "value": True}, "bell_fell"),
    Row("list_flags", {}, "bell_fell"),
    Row("delete_character_memory", {**SPARROW, "memory_id": "CM0"}, "CM0"),
    Row("delete_relationship", {"character_a": "Gregor", "character_b": "Sparrow"}, "deleted"),
    Row("set_staging", {"position": "1:1", "cast": ["Ines"]}, "change_id"),
]

OF_THE_MOMENT = {"created_at", "updated_at", "undone_at", "timestamp", "timings_s", "elapsed_s"} | {
    "happened_at",
    "known_at",
    "chunk_id",
    "embedding_id",
    "scene_id",
}
"""Fields that differ between two calls of the same."""


@pytest.fixture(scope="module")
def doors(ingested_demos: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Doors]:
    """All doors of one folder, in which nothing is written."""
    folder = tmp_path_factory.mktemp("doors")
    for each in ("open", "shell"):
        shutil.copytree(ingested_demos, folder / each)
    with all_doors(folder / "open", folder / "shell") as opened:
        yield opened


@pytest.fixture(autouse=True)
def _embeddings_of_the_demo(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NOVELGEN_MEMORY__EMBEDDING_MODEL", "fake:64")


def is_offered(called: Operation, door: str) -> bool:
    """Whether an operation can be called by a door."""
    if door in ("mcp", "langchain"):
        return tool_for(called, door) is not None
    return door == "python" or bool(called.http)


@pytest.mark.slow
@pytest.mark.parametrize("row", READS, ids=str)
def test_all_doors_answer_alike(doors: Doors, row: Row) -> None:
    """Python, HTTP and the shell give the same JSON; agents a part of it, the same over MCP as in LangChain."""
    called = operation(row.name)
    told = doors.python(called, row.arguments)
    assert not told.kind, told.kind
    assert row.tells in json.dumps(told.answer)
    assert lasting(doors.http(called, row.arguments).answer) == lasting(told.answer)
    tools = [door for door in ("mcp", "langchain") if is_offered(called, door)]
    over = {door: getattr(doors, door)(called, row.arguments) for door in tools}
    for answered in over.values():
        assert_is_part(answered.answer, told.answer)
    assert len({json.dumps(lasting(each.answer), sort_keys=True) for each in over.values()}) <= 1
    command = shell_words(called, row.arguments)
    if command is not None:
        assert lasting(doors.shell(command).answer) == lasting(told.answer)


@pytest.mark.parametrize("row", REFUSALS, ids=str)
def test_all_doors_refuse_alike(doors: Doors, row: Row) -> None:
    """What is unknown, out of bounds, misspelt or nests without end is refused as the same kind at every door."""
    called = operation(row.name)
    kinds = {
        door: getattr(doors, door)(called, row.arguments).kind
        for door in ("python", "http", "mcp", "langchain")
        if is_offered(called, door)
    }
    assert set(kinds.values()) == {row.kind}, kinds
    command = shell_words(called, row.arguments)
    if command is not None:
        assert doors.shell(command).kind == "exit 2"


@pytest.mark.slow
def test_all_doors_write_alike(ingested_demos: Path, tmp_path: Path) -> None:
    """The same writes by each door, one after the other, give the same answers; what no tool does is done over HTTP."""
    answers: dict[str, list[Answered]] = {}
    for door in ("python", "http", "mcp", "langchain"):
        folder = Path(shutil.copytree(ingested_demos, tmp_path / door))
        with all_doors(folder, folder) as opened:
            answers[door] = []
            for row in WRITES:
                called, arguments = operation(row.name), row.arguments
                if arguments is OF_THE_ROW_BEFORE:
                    arguments = {"change_id": answers[door][-1].answer["change"]["change_id"]}
                by = next(each for each in (door, "http", "python") if is_offered(called, each))
                answers[door].append(getattr(opened, by)(called, arguments))
    for number, row in enumerate(WRITES):
        told = answers["python"][number]
        assert not told.kind, (row, told.kind)
        assert row.tells in json.dumps(told.answer), row
        assert lasting(answers["http"][number].answer) == lasting(told.answer), row
        for door in ("mcp", "langchain"):
            assert_is_part(lasting(answers[door][number].answer), lasting(told.answer))


def test_every_tool_is_in_the_table() -> None:
    """What agents can call over MCP is called here."""
    rows = {row.name for row in (*READS, *REFUSALS, *WRITES)}
    assert [each.operation.name for each in MCP_TOOLS if each.operation.name not in rows] == []


@pytest.mark.slow
@pytest.mark.parametrize("plan", [PLAN, {}], ids=["whole", "empty"])
def test_a_plan_is_taken_alike(doors: Doors, plan: dict[str, Any], tmp_path: Path) -> None:
    """A plan with all its fields, and fields of its author's own, gives the same block; `{}` is an empty plan."""
    called = operation("build_context")
    arguments = {**PLACE, "scene_plan": plan}
    answer = doors.http(called, arguments).answer
    (tmp_path / "plan.json").write_text(json.dumps(plan), encoding="utf-8")
    place = ["--chapter", "5", "--scene", "4", "--plan", str(tmp_path / "plan.json")]
    printed = doors.shell(["context", "demo", *place]).answer
    assert block_of(called, printed) == block_of(called, answer) == doors.mcp(called, arguments).answer["block"]


def block_of(called: Operation, context: Any) -> str:
    """Return the block that a context's JSON stands for."""
    block: str = called.result.model_validate(context).as_prompt()
    return block


def lasting(answer: Any) -> Any:
    """Return an answer without what is of the moment."""
    if isinstance(answer, dict):
        return {name: lasting(value) for name, value in answer.items() if name not in OF_THE_MOMENT}
    if isinstance(answer, list):
        return [lasting(each) for each in answer]
    return round(answer, 3) if isinstance(answer, float) else answer
