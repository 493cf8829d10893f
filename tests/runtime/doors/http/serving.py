"""A server application over real stores, and a walk that calls every route once."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fastapi.testclient import TestClient
from httpx import Response
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage
from langchain_core.outputs import ChatGenerationChunk
from pydantic import SecretStr

from runtime.doors.http.app import build_app
from runtime.doors.http.settings import Limits, ServerSettings
from runtime.story.projects import ProjectStores
from tests.support.scripted_chat_model import ScriptedChatModel

PATIENT = {"tool_timeout_s": 60.0, "chain_timeout_s": 120.0, "vector_store": {"write_timeout_s": 60.0}}

TOKEN = SecretStr("a-token-that-opens-everything")
READ_TOKEN = SecretStr("a-token-that-opens-for-reading")

BUILT = re.compile(r"\{[a-z_]+\}")


def project_stores(projects_dir: Path, **settings: Any) -> ProjectStores:
    """Return stores with fake embeddings, and time enough for a loaded machine."""
    memory = {"embedding_model": "fake:64", **PATIENT}
    return ProjectStores({"projects_dir": projects_dir, "memory": memory, **settings})


def client_of(
    projects_dir: Path,
    settings: ServerSettings | None = None,
    *,
    chat_model: BaseChatModel | None = None,
    limits: Limits | None = None,
) -> TestClient:
    """Return a client of a server over a folder of projects; to be entered."""
    settings = settings or ServerSettings(limits=limits or Limits())
    app = build_app(project_stores(projects_dir), settings, chat_model=chat_model)
    return TestClient(app, base_url="http://localhost", raise_server_exceptions=False)


class SpeakingModel(ScriptedChatModel):
    """Answers as scripted, and streams the same answer word by word."""

    def _stream(self, messages: list[BaseMessage], *_: Any, **__: Any) -> Iterator[ChatGenerationChunk]:
        answer = self.answer(messages)
        text = answer.text if isinstance(answer, AIMessage) else answer
        for piece in re.findall(r"\S+\s*", text):
            yield ChatGenerationChunk(message=AIMessageChunk(content=piece))


def village_model() -> SpeakingModel:
    """Return a model that speaks as an innkeeper and reads scenes as holding nothing."""

    def answer(messages: list[BaseMessage]) -> str:
        if "```json" in messages[0].text and "interaction_type" in messages[0].text:
            return 'The kettle is on, sit down.\n```json\n{"interaction_type": "conversation"}\n```'
        return json.dumps({"summary": ["Nothing is told."], "memories": []})

    return SpeakingModel(answer=answer)


@dataclass(frozen=True, slots=True)
class Exchange:
    """What was asked of a route, and what it answered."""

    operation: str
    parameters: dict[str, Any]
    request: Any
    response: Response


class Walker:
    """Calls routes and notes what was asked and answered."""

    def __init__(self, client: TestClient) -> None:
        self._client = client
        document = client.get("/openapi.json").json()
        self._routes = {
            operation["operationId"]: (method.upper(), path)
            for path, operations in document["paths"].items()
            for method, operation in operations.items()
        }
        self.exchanges: dict[str, Exchange] = {}

    @property
    def operations(self) -> set[str]:
        """Every operation of the server."""
        return set(self._routes)

    def call(
        self, operation: str, body: Any = None, *, content: bytes | None = None, kind: str = "", **parameters: Any
    ) -> Response:
        """Call a route by its operation id; what its path does not take goes into the query."""
        method, path = self._routes[operation]
        in_path = {each.strip("{}") for each in BUILT.findall(path)}
        query = {name: value for name, value in parameters.items() if name not in in_path}
        response = self._client.request(
            method,
            path.format(**parameters),
            params=query,
            json=body,
            content=content,
            headers={"Content-Type": kind} if kind else None,
        )
        asked = body if content is None else content.decode()
        self.exchanges.setdefault(operation, Exchange(operation, parameters, asked, response))
        assert response.is_success, (operation, response.status_code, response.text)
        return response


def await_job(client: TestClient, job_id: str) -> dict[str, Any]:
    """Follow a job to its end, and return it."""
    with client.stream("GET", f"/v1/jobs/{job_id}/events") as response:
        jobs = [json.loads(line[6:]) for line in response.iter_lines() if line.startswith("data: ")]
    ended: dict[str, Any] = jobs[-1]
    return ended


def walk(client: TestClient) -> dict[str, Exchange]:
    """Call every route once, in an order in which all go well, over `demo`; operation id to what was said."""
    walker = Walker(client)
    call = walker.call
    here = {"project_id": "demo"}
    call("check_alive")
    call("check_ready")
    call("read_metrics")
    call("create_project", {"project_id": "the-mill", "name": "The Mill by the Weir", "language": "en"})
    call("create_project", {"project_id": "a-mistake", "name": "A Mistake", "language": "en"})
    call("delete_project", project_id="a-mistake", confirm="a-mistake")
    call("list_projects")
    call("get_project", **here)
    call("export_project", **here)
    call("export_text", **here)
    call("check_health", **here)
    call("repair_project", **here)
    plan = {"location": "the Three Herons", "characters": ["Ines", "Sparrow"], "purpose": "Ines hides the key"}
    call("build_context", {"chapter_index": 3, "scene_index": 1, "scene_plan": plan, "pov": "Ines", "top_k": 2}, **here)
    call("search_story_memory", {"query": "who holds the heron key", "top_k": 2, "as_of": "3:1"}, **here)
    call("build_chunk_context", {"text": "Sparrow rang the bell for Nell.", "chapter_index": 2, "limit": 2}, **here)
    call("summarize_scene", {"text": "Ines locked the shop. Rain fell. Sparrow waited at the gate."}, **here)
    call("get_entity_state", **here, entity_id="Ines", as_of="2:1")
    call("get_recent_timeline", **here, chapter_index=2, chapters_around=1, as_of="3:1")
    _walk_scenes(walker, here)
    _walk_entities(walker, here)
    _walk_memories(walker, here)
    _walk_story(walker, here)
    _walk_characters(walker, here)
    _walk_jobs(walker, client, here)
    assert set(walker.exchanges) == walker.operations
    return walker.exchanges


def _walk_scenes(walker: Walker, here: dict[str, str]) -> None:
    place = {"chapter_index": 7, "scene_index": 1}
    record = {
        "chapter_index": 7,
        "scene_index": 1,
        "characters_present": ["C0", "C11"],
        "summary": ["Elias Marrow opens the shop for Ines."],
    }
    text = "The shutters were up. Elias Marrow stood behind the vice, and Ines could not speak."
    walker.call("ingest_scene", {"text": text, "record": record, "title": "The shutters"}, **here, **place)
    walker.call("store_text", {"text": "Chapter 9 The weir\n\nThe weir ran high.", "dry_run": True}, **here)
    walker.call("list_scenes", **here)
    walker.call("get_scene", **here, **place)
    walker.call("get_scene_record", **here, **place)
    later = {"chapter_index": 7, "scene_index": 2}
    walker.call("insert_scene", {"text": "Rain came in under the door.", "title": "Rain"}, **here, **later)
    walker.call("move_scene", {"target": "8:1"}, **here, **later)
    walker.call("delete_scene", **here, chapter_index=8, scene_index=1)
    first = {"chapter_index": 1, "scene_index": 1}
    walker.call("preview_scene_text", {"text": "Rain had found its way in."}, **here, **first)
    edited = walker.call("edit_scene", {"title": "Rain through the roof"}, **here, **first).json()
    walker.call("list_author_changes", **here, limit=2, as_of="2:1")
    walker.call("undo_change", **here, change_id=edited["change_id"])
    staged_id = walker.call("set_staging", {"cast": ["Ines"]}, **here, **first).json()["change_id"]
    walker.call("undo_change", **here, change_id=staged_id)
    kept = walker.call("get_scene_record", **here, **first).json()["record"]["open_loops_created"][0]
    amended = {"kind": "thread_planted", "source_id": kept["id"], "text": "Which lock does the key fit?"}
    amended_id = walker.call("amend_recorded_fact", amended, **here, **first).json()["change_id"]
    walker.call("undo_change", **here, change_id=amended_id)
    walker.call("edit_scene", {"title": "Rain again"}, **here, **first)
    walker.call("undo_last_change", **here)
    walker.call("list_summaries", **here, as_of="3:1")
    told = {"text": "Ines finds a key that fits nothing."}
    walker.call("write_summary", told, **here, level="chapter", number=1)


def _walk_entities(walker: Walker, here: dict[str, str]) -> None:
    walker.call("list_entities", **here, entity_type="item", as_of="2:1")
    walker.call("get_entity", **here, entity_id="Ines", as_of="2:1")
    walker.call("list_memories_about", **here, entity_id="Sparrow", limit=2)
    walker.call("edit_entity", {"changes": {"role": "locksmith of Tanner's Row"}}, **here, entity_id="Ines")
    walker.call("list_appearances", **here, order="last", as_of="2:1")
    walker.call("preview_merge", **here, keep="Tobias Reed", gone="Agatha Quill", as_of="5:1")
    merged = walker.call("merge_entities", {"keep": "Tobias Reed", "gone": "Agatha Quill"}, **here).json()
    walker.call("undo_change", **here, change_id=merged["change"]["change_id"])
    split = walker.call("split_entity", {"new_name": "Toby", "aliases": ["Toby"]}, **here, entity_id="Tobias Reed")
    walker.call("undo_change", **here, change_id=split.json()["change"]["change_id"])
    gone = walker.call("delete_entity", **here, entity_id="Agatha Quill").json()
    walker.call("undo_change", **here, change_id=gone["change"]["change_id"])
    walker.call("delete_entity", **here, entity_id="Agatha Quill")
    walker.call("undo_last_change", **here)
    listed = walker.call("list_candidates", **here, min_count=2).json()["candidates"]
    names = [each["name"] for each in listed]
    walker.call("drop_candidate", {"name": names[0]}, **here)
    walker.call("confirm_candidate", {"name": names[1], "kind": "character"}, **here)
    walker.call("confirm_candidates", {"names": names[3:5], "kind": "term"}, **here)
    walker.call("undo_last_change", **here)
    walker.call("undo_last_change", **here)
    walker.call("merge_candidate", {"keep": "Agatha Quill", "other": names[2]}, **here)
    walker.call("undo_last_change", **here)
    new = {"name": "Corin Vale", "role": "ferryman", "fields": {"goals": ["buy the boat back"]}, "start": "2:1"}
    walker.call("add_card", new, **here)
    walker.call("add_card", {"name": "the tide bell", "kind": "item", "holder": "Ines"}, **here)
    walker.call("rename_card", {"new_name": "the ebb bell"}, **here, entity_id="the tide bell")
    walker.call("list_card_fields", **here)


def _walk_memories(walker: Walker, here: dict[str, str]) -> None:
    note = {"content": "Ines never lends her father's watch.", "attached_to": ["Ines"], "importance": 7, "start": "2:1"}
    memory = {"memory_id": walker.call("add_note", note, **here).json()["note"]["chunk_id"]}
    walker.call("preview_note", {"content": "The heron key is with Ines.", "start": "2:1"}, **here)
    walker.call("list_memories", **here, attached_to=["Ines"], content_types=["note"], limit=2)
    walker.call("get_memory", **here, **memory)
    walker.call("end_memory", {"start": "3:1"}, **here, **memory)
    walker.call("edit_memory", {"importance": 8, "tags": ["watch"]}, **here, **memory)
    walker.call("import_glossary", {"text": "heron key,鹭钥匙\nSparrow,麻雀\n", "to": "zh"}, **here)
    walker.call("export_glossary", **here, form="json", to="zh")
    walker.call("import_lore", {"text": '{"entries": [{"text": "Gulls lie.", "keys": ["gull"]}]}'}, **here)
    walker.call("list_lore", **here, as_of="2:1")
    walker.call("export_lore", **here, form="novelai")
    for operation in ("confirm_memory", "pin_memory", "unpin_memory", "ban_memory", "unban_memory", "delete_memory"):
        walker.call(operation, **here, **memory)


def _walk_story(walker: Walker, here: dict[str, str]) -> None:
    question = {"description": "Who rang the bell at noon?", "category": "mystery", "characters": ["Sparrow"]}
    planted = walker.call("add_thread", question, **here)
    thread = {"loop_id": planted.json()["loop_id"]}
    walker.call("list_threads", **here, statuses=["open"], as_of="2:1")
    draft = {"text": "Ines laughed.", "chapter_index": 5, "scene_index": 1, "use_model": False}
    walker.call("check_draft", draft, **here)
    walker.call("check_stored_scenes", **here, chapter_index=1, scene_index=2)
    meant = {"finding_id": "K0123456789ab", "note": "a dream"}
    walker.call("add_waiver", meant, **here)
    walker.call("list_waived_findings", **here)
    walker.call("remove_waiver", **here, finding_id=meant["finding_id"])
    walker.call("list_changes", **here, until="3:1")
    walker.call("list_story_times", **here, as_of="2:1")
    walker.call("get_thread_ledger", **here, as_of="2:1")
    walker.call("get_thread", **here, **thread)
    walker.call("edit_thread", {"importance": "high", "due_by": "9:1"}, **here, **thread)
    walker.call("advance_thread", {"note": "The rope was wet."}, **here, **thread)
    walker.call("resolve_thread", {"summary": "Sparrow rang it."}, **here, **thread)
    walker.call("list_reopenable_threads", **here)
    walker.call("reopen_thread", {}, **here, **thread)
    other = walker.call("add_thread", {"description": "Where is the second watch?"}, **here).json()["loop_id"]
    walker.call("abandon_thread", {"summary": "There was no second watch."}, **here, loop_id=other)
    walker.call("delete_thread", **here, loop_id=other)
    pair = {"character_a": "Tobias Reed", "character_b": "Agatha Quill"}
    walker.call("add_relationship", {**pair, "relationship_type": "neighbours", "start": "2:1"}, **here)
    walker.call("edit_relationship", {**pair, "status": "strained", "event": "She asked for the rent."}, **here)
    walker.call("list_relationships", **here, character_id="Agatha Quill")
    walker.call("query_relationships", **here, character_id="Agatha Quill")
    walker.call("get_relationship_course", **here, **pair)
    walker.call("delete_relationship", **here, **pair)
    walker.call("get_knowledge_table", **here, narrowing="known", of="Sparrow", limit=2, as_of="2:1")
    walker.call("list_knowledge", **here, character_id="Sparrow", about="key", as_of="2:1")
    memory = {"memory_id": "M001"}
    word = {"kind": "knows", "how": "told", "learned_from": "Ines"}
    walker.call("set_knowledge", word, **here, **memory, character_id="Reed")
    walker.call("who_knows", **here, **memory, as_of="2:1")
    walker.call("forget_knowledge", **here, **memory, character_id="Reed")
    walker.call("list_shared_scenes", **here, character_a="Ines", character_b="Sparrow", as_of="2:1")
    found = walker.call("list_conflicts", **here).json()["conflicts"]
    conflict = {"conflict_id": found[-1]["conflict"]["conflict_id"]}
    walker.call("waive_conflict", {"note": "A dream."}, **here, **conflict)
    walker.call("settle_conflict", {"keep": "first"}, **here, **conflict)
    walker.call("consolidate_memories", {"limit": 5, "with_model": False}, **here)
    walker.call("undo_consolidations", **here)


def _walk_characters(walker: Walker, here: dict[str, str]) -> None:
    who = {**here, "character_id": "Agatha Quill"}
    event = {
        "content": "The player mended my stove.",
        "event_type": "help_given",
        "participants": ["player"],
        "at": "1:1",
    }
    memory = walker.call("remember_event", event, **who).json()["memory"]["memory_id"]
    walker.call("list_character_memories", **who)
    walker.call("edit_character_memory", {"changes": {"importance": 9}}, **who, memory_id=memory)
    walker.call("recall_memories", {"said": "Is the stove still warm?", "to": "player", "budget_tokens": 200}, **who)
    walker.call("get_feelings", **who, other_id="player")
    walker.call("change_feelings", {"other_id": "player", "deltas": {"trust": 5}}, **who)
    walker.call("list_feelings_changes", **who, other_id="player")
    unlock = {"trust": 60, "item": "the brass token"}
    walker.call("keep_secret", {"secret": {"secret_id": "stove", "text": "Coins lie below.", "unlock": unlock}}, **who)
    walker.call("list_secrets", **who, to="player")
    walker.call("show_item", {"item": "the brass token", "by": "player"}, **who)
    walker.call("reveal_secret", {"to": "player"}, **who, secret_id="stove")
    walker.call("drop_secret", **who, secret_id="stove")
    walker.call("set_flag", {"value": True, "at": "1:1"}, **here, name="the bell has rung")
    walker.call("list_flags", **here)
    walker.call("tell_memories", {"listener": "Sparrow", "what": [memory]}, **who)
    news = {"content": "The weir broke.", "witnesses": ["Sparrow"], "told_to": {"Ines": 2}, "delay": 3, "at": "1:3"}
    walker.call("tell_world_event", news, **here)
    walker.call("list_world_events", **here)
    walker.call("consolidate_character", {"dry_run": True}, **who)
    walker.call("check_reply", {"text": "Sit by the stove.", "to": "player"}, **who)
    walker.call("stream_reply", {"said": "May I sit down?", "at": "1:2"}, **who)
    walker.call("delete_character_memory", **who, memory_id=memory)
    walker.call("undo_character_change", {}, **who)
    walker.call("list_character_changes", **who)


def _walk_jobs(walker: Walker, client: TestClient, here: dict[str, str]) -> None:
    job = walker.call("ingest_files", {"chapter_index": 1}, **here).json()
    await_job(client, job["job_id"])
    book = b"Chapter 1\n\nThe weir was low. Ada Penrose counted the stones.\n\nChapter 2\n\nIt rained.\n"
    sent = walker.call("import_manuscript", content=book, kind="text/plain", project_id="the-weir").json()
    await_job(client, sent["job_id"])
    read = walker.call("extract_scenes", {"chapter_index": 1}, project_id="the-weir").json()
    await_job(client, read["job_id"])
    walker.call("list_jobs", project_id="the-weir")
    walker.call("get_job", job_id=sent["job_id"])
    walker.call("follow_job", job_id=sent["job_id"])
    walker.call("resume_job", job_id=sent["job_id"])
    await_job(client, sent["job_id"])
    walker.call("cancel_job", job_id=sent["job_id"])
