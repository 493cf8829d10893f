"""The memory context chain over real stores: what callers hand in, projects that there are not, and files written."""

import json
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from novelgen.context.prompt_block import context_lines
from novelgen.memory.retelling import content_words
from novelgen.models.context import ContextItem, SceneMemoryContext
from novelgen.models.memory import StoryMemoryChunk
from runtime.context_chain import build_context_chain, context_json
from runtime.files.project_files import load_context
from runtime.index.process import IndexProcess, RunningProcess
from runtime.stores import MemoryStores
from runtime.story.memories import StoryMemories
from tests.support.demo_project import demo_request, settings_for

PLAN = {"location": "the Salt House", "characters": ["Ines"], "purpose": "Open the iron door."}


UNSAID = {"known_by", "not_known_by", "kept_from", "guessed_in", "holds_now", "told_in"}
"""Fields that a receipt without such a remark leaves out."""


def ask(project_id: str, **asked: Any) -> dict[str, Any]:
    """Return a request of the chain as a mapping."""
    return {"project_id": project_id, "chapter_index": 5, "scene_index": 4, "scene_plan": PLAN, **asked}


@pytest.mark.parametrize("is_shared", [False, True])
def test_an_unknown_project_degrades_aloud_and_writes_no_folder(tmp_path: Path, is_shared: bool) -> None:
    """The context is valid and empty, one issue names the project that was meant, and the disk stays as it was."""
    url = f"sqlite:///{tmp_path / 'all.db'}" if is_shared else None
    settings = settings_for(tmp_path / "projects").model_copy(update={"database_url": url})
    with MemoryStores(settings) as stores:
        stores.create_project("demo")
        before = sorted((tmp_path / "projects").rglob("*"))
        context = build_context_chain(stores).invoke(ask("dmeo"))
        assert sorted((tmp_path / "projects").rglob("*")) == before
    assert SceneMemoryContext.model_validate_json(context.model_dump_json()) == context
    assert (context.relevant_memories, context.entity_states) == ([], [])
    (issue,) = context.report.issues
    assert (issue.stage, issue.kind) == ("outline", "unresolved")
    assert "'dmeo'" in issue.message
    assert "did you mean 'demo'?" in issue.message


def test_a_stored_project_without_a_folder_gets_its_file(tmp_path: Path) -> None:
    """In a shared database a project has no folder before its first context."""
    settings = settings_for(tmp_path / "projects").model_copy(
        update={"database_url": f"sqlite:///{tmp_path / 'all.db'}"}
    )
    with MemoryStores(settings) as stores:
        stores.create_project("demo")
        build_context_chain(stores).invoke(ask("demo"))
    assert (tmp_path / "projects" / "demo" / "scene_5_4_memory.json").is_file()


@pytest.mark.slow
def test_an_index_that_still_loads_is_nothing_to_repair(demo_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first context of a program says that its index was not there in time, and sends nobody to the doctor."""

    def load_for_ever(arguments: Sequence[str], channel: int, log: int) -> RunningProcess:
        return subprocess.Popen(["sleep", "600"], stdin=channel)

    monkeypatch.setattr(IndexProcess, "launch", staticmethod(load_for_ever))
    with MemoryStores(settings_for(demo_folder, tool_timeout_s=2.0)) as stores:
        context = build_context_chain(stores, write_files=False).invoke(ask("demo"))
    (issue,) = [each for each in context.report.issues if each.stage == "semantic"]
    assert (issue.kind, "still starting" in issue.message, "doctor" in issue.message) == ("timeout", True, False)


@pytest.mark.parametrize(("project_id", "heading"), [("demo", "## Facts that hold"), ("demo-zh", "## 须遵守的事实")])
def test_the_prompt_is_in_the_language_of_the_story(
    read_demo_stores: MemoryStores, project_id: str, heading: str
) -> None:
    """Whatever the language of the plan."""
    context = build_context_chain(read_demo_stores, write_files=False).invoke(ask(project_id))
    assert heading in context.as_prompt()
    assert "## Facts that hold" in context.as_prompt(language="en")
    alone = context.model_copy(update={"report": context.report.model_copy(update={"language": ""})})
    assert heading in alone.as_prompt()


BOTH_DEMOS = pytest.mark.parametrize("project_id", ["demo", "demo-zh"])


def written(stores: MemoryStores, project_id: str) -> str:
    """Return the text of the context's file."""
    return stores.paths(project_id).context_file(5, 4).read_text(encoding="utf-8")


@pytest.mark.slow
@BOTH_DEMOS
def test_the_file_is_little_more_than_half_of_what_a_full_one_is(demo_stores: MemoryStores, project_id: str) -> None:
    """Seed 004: by default a file has at most six tenths of the bytes, lacks no receipt, and reads back as the same."""
    context = build_context_chain(demo_stores).invoke(demo_request(project_id, 5, 4))
    text = written(demo_stores, project_id)
    full = build_context_chain(_with(demo_stores, full_report=True), write_files=False).invoke(
        demo_request(project_id, 5, 4)
    )
    assert len(text.encode()) <= len(context_json(full, is_full=True).encode()) * 0.6
    assert load_context(demo_stores.paths(project_id), 5, 4) == context
    report = json.loads(text)["report"]
    assert len(report["items"]) == len(context.relevant_memories)
    for item in report["items"]:
        assert ContextItem.model_fields.keys() - item.keys() <= UNSAID
        assert item["text"]
        assert item["retriever_ranks"]
    assert context.as_prompt() == full.as_prompt()


@pytest.mark.slow
@BOTH_DEMOS
def test_a_full_report_keeps_everything(demo_stores: MemoryStores, project_id: str) -> None:
    """Seed 004: with `full_report` every field is in the file and every receipt tells its score's parts."""
    chain = build_context_chain(_with(demo_stores, full_report=True))
    context = chain.invoke(demo_request(project_id, 5, 4))
    told = json.loads(written(demo_stores, project_id))
    assert told == context.model_dump(mode="json")
    assert {"embedding_id", "slot_type", "attached_to"} <= told["relevant_memories"][0].keys()
    for item in told["report"]["items"]:
        assert sum(item["score_parts"].values()) == pytest.approx(item["score"], abs=0.02)


@pytest.mark.slow
def test_files_of_both_forms_are_the_same_context(demo_stores: MemoryStores) -> None:
    """Seed 004: a memory leaves out flags that say nothing, an id that repeats another one, and what chunks read."""
    context = build_context_chain(demo_stores).invoke(demo_request("demo", 5, 4))
    small, large = context_json(context), context_json(context, is_full=True)
    assert len(small) < len(large)
    assert SceneMemoryContext.model_validate_json(small) == context
    assert SceneMemoryContext.model_validate_json(large) == context
    # No form tells what a memory was taken off: it may be an entity of later scenes.
    unshown = {"is_attached_by_hand", "taken_off"}
    left_out = {"also_supersedes", "is_indexed", "is_consolidated", "embedding_id", "attached_to"} | unshown
    for told in json.loads(context_json(context))["relevant_memories"]:
        assert set(StoryMemoryChunk.model_fields) - told.keys() <= left_out
    assert not any(unshown & told.keys() for told in json.loads(large)["relevant_memories"])


@pytest.mark.slow
@pytest.mark.parametrize("top_k", [0, 1, 7])
def test_top_k_bounds_the_memories_beside_their_budget(read_demo_stores: MemoryStores, top_k: int) -> None:
    """Seed 001.4, 004.11: of the chain, of a request, and of the settings; the best stay, the rest is told."""
    request = demo_request("demo", 5, 4)
    whole = build_context_chain(read_demo_stores, write_files=False).invoke(request)
    of_chain = build_context_chain(read_demo_stores, write_files=False, top_k=top_k).invoke(request)
    asked = request.model_copy(update={"top_k": top_k})
    of_request = build_context_chain(read_demo_stores, write_files=False).invoke(asked)
    of_settings = build_context_chain(_with(read_demo_stores, top_k=top_k), write_files=False).invoke(request)
    assert len(whole.relevant_memories) > 40
    for context in (of_chain, of_request, of_settings):
        ids = [each.chunk_id for each in context.relevant_memories]
        # Of the best, those that another line tells already stand there alone.
        left_out = [each for each in context.report.left_out if each.section == "memories"]
        told = [each for each in left_out if each.why is not None and each.why.code == "told_elsewhere"]
        assert len(ids) + len(told) == top_k
        assert ids == [each.chunk_id for each in whole.relevant_memories][: len(ids)]
        assert any(f"more than top_k={top_k}" in each.reason for each in left_out)


@BOTH_DEMOS
def test_a_reader_of_the_memories_alone_misses_nothing_of_the_story_so_far(
    read_demo_stores: MemoryStores, project_id: str
) -> None:
    """What another section of the prompt tells is listed, marked and free, and stands in the prompt once."""
    context = build_context_chain(read_demo_stores, write_files=False).invoke(demo_request(project_id, 5, 4))
    report = context.report
    told = {item.chunk_id: item for item in report.items if item.told_in is not None}
    assert {item.told_in for item in told.values()} <= {"left_off", "story_so_far"}
    assert all((item.tokens, item.prompt_index) == (0, None) for item in told.values())
    assert told.keys().isdisjoint(each.id for each in report.left_out)
    assert told.keys() <= {each.id for each in report.left_out_of_prompt}
    assert report.tokens["memories"] == sum(item.tokens for item in report.own_items)
    scenes = {
        each.scene_index: each for each in context.story_so_far if each.level == "scene" and each.chapter_index == 5
    }
    assert scenes
    for scene_index, before in scenes.items():
        listed = [
            chunk.content
            for chunk in context.relevant_memories
            if (chunk.chapter_index, chunk.scene_index) == (5, scene_index)
        ]
        words = frozenset().union(*map(content_words, listed))
        assert len(content_words(before.text) - words) <= 0.15 * len(content_words(before.text))
    own_lines = [line.item.chunk_id for line in context_lines(context) if line.item is not None]
    assert own_lines == [item.chunk_id for item in report.own_items]
    page = context.as_prompt()
    assert all(page.count(item.text) <= 1 for item in told.values())
    without = context.model_copy(
        update={
            "relevant_memories": [each for each in context.relevant_memories if each.chunk_id not in told],
            "report": report.model_copy(update={"items": report.own_items}),
        }
    )
    assert without.as_prompt() == page


@pytest.mark.slow
def test_a_chapters_and_the_books_memory_say_so_in_a_context(demo_stores: MemoryStores, tmp_path: Path) -> None:
    """Seed 003.2: `attached_to` is told where the entities alone do not say it, and only there."""
    StoryMemories(demo_stores, "demo").add(
        content="Ines counts leaves.", attached_to=["chapter:5", "book"], importance=10
    )
    context = build_context_chain(demo_stores).invoke(demo_request("demo", 5, 4))
    told = json.loads(written(demo_stores, "demo"))["relevant_memories"]
    (note,) = [each for each in told if each["content_type"] == "note"]
    assert [each["id"] for each in note["attached_to"]] == ["chapter:5", "book"]
    assert [each["type"] for each in note["attached_to"]] == ["chapter", "book"]
    by_entity = [each for each in told if each["entities_mentioned"] and each is not note]
    assert by_entity
    assert all("attached_to" not in each for each in by_entity)
    assert context.relevant_memories


def _with(stores: MemoryStores, **memory: object) -> MemoryStores:
    """Return the same stores under other settings of the memory."""
    own = stores.settings.memory.model_copy(update=memory)
    settings = stores.settings.model_copy(update={"memory": own})
    return MemoryStores(settings)
