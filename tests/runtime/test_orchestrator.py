"""One scene end to end: context, the caller's writer, ingest."""

import asyncio
import json
from pathlib import Path

import pytest
from langchain_core.messages import BaseMessage
from langchain_core.runnables import RunnableLambda

from novelgen.models.context import MemoryContextRequest
from novelgen.models.plan import GeneratedScene, ScenePlan
from novelgen.models.position import StoryPosition
from novelgen.models.record import SceneRecord
from runtime.context_chain import build_context_chain
from runtime.orchestrator import SceneBrief, WrittenScene, build_scene_pipeline
from runtime.stores import MemoryStores
from tests.support.demo_project import demo_request, settings_for
from tests.support.scripted_chat_model import ScriptedChatModel

pytestmark = pytest.mark.slow

SENTENCE = "Ines counted the steps to the iron door and said the number 6-0-2 aloud."


def write_scene(brief: SceneBrief) -> WrittenScene:
    """Write a scene that names how many memories it was given."""
    text = f"{SENTENCE} She remembered {len(brief.context.relevant_memories)} things."
    return WrittenScene(scene=GeneratedScene(scene_number=brief.request.scene_index, content=text))


def test_a_scene_is_remembered_written_and_taken_in(demo_stores: MemoryStores) -> None:
    """The writer gets the context, and what it wrote is memory for the scenes after it."""
    pipeline = build_scene_pipeline(demo_stores, build_context_chain(demo_stores), write_scene)
    outcome = pipeline.invoke(demo_request("demo", 7, 1))
    assert outcome.context.relevant_memories
    assert outcome.ingest is not None
    assert outcome.issues == []
    with demo_stores.database("demo").read() as unit:
        assert unit.scenes.require(StoryPosition(7, 1)).text is not None
        after = unit.lexical.search("counted the steps")
    assert after


def _request(chapter_index: int, scene_index: int) -> MemoryContextRequest:
    plan = ScenePlan(scene_number=scene_index, characters=["Oda Kell"], purpose="Begin.")
    return MemoryContextRequest(project_id="new", chapter_index=chapter_index, scene_index=scene_index, scene_plan=plan)


def test_it_is_a_step_of_any_chain_and_takes_a_runnable_as_writer(tmp_path: Path, demo_stores: MemoryStores) -> None:
    """With ainvoke and behind another step; a new story's first scene makes its project."""
    request = _request(1, 1)
    with MemoryStores(settings_for(tmp_path)) as stores:
        pipeline = build_scene_pipeline(stores, build_context_chain(stores, write_files=False), write_scene)
        outcome = pipeline.invoke(request)
        assert outcome.context.relevant_memories == []
        assert outcome.ingest is not None
        assert stores.project_ids() == ["new"]
    pipeline = build_scene_pipeline(demo_stores, build_context_chain(demo_stores), RunnableLambda(write_scene))
    chain = RunnableLambda(lambda scene_index: demo_request("demo", 7, scene_index)) | pipeline
    outcome = asyncio.run(chain.ainvoke(2))
    assert outcome.scene.scene_number == 2
    assert outcome.ingest is not None


def test_the_cards_of_a_new_folder_are_taken_in_first(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """What other chains left in the folder is taken in first, and neither of the first two scenes is complained of."""
    (tmp_path / "new").mkdir()
    cast = {"protagonist": {"name": "Oda Kell", "personality": "stubborn"}}
    (tmp_path / "new/characters.json").write_text(json.dumps(cast), encoding="utf-8")
    with MemoryStores(settings_for(tmp_path)) as stores, caplog.at_level("WARNING"):
        pipeline = build_scene_pipeline(stores, build_context_chain(stores), write_scene)
        first, second = pipeline.invoke(_request(1, 1)), pipeline.invoke(_request(1, 2))
        with stores.database("new").read() as unit:
            assert [each.entity.name for each in unit.entities.list_all()] == ["Oda Kell"]
    for outcome in (first, second):
        assert outcome.context.report.issues == []
    assert caplog.messages == []


def test_what_the_writer_raises_is_the_callers_own(demo_stores: MemoryStores) -> None:
    """An error of the scene writer is raised on, and nothing is stored."""

    def fail(brief: SceneBrief) -> WrittenScene:
        raise RuntimeError("the writer's model is down")

    pipeline = build_scene_pipeline(demo_stores, build_context_chain(demo_stores), fail)
    with pytest.raises(RuntimeError, match="the writer's model is down"):
        pipeline.invoke(demo_request("demo", 7, 1))
    with demo_stores.database("demo").read() as unit:
        assert unit.scenes.get(StoryPosition(7, 1)) is None


def read_well(messages: list[BaseMessage]) -> str:
    """Answer as a model that found one fact."""
    fact = {"content": "Ines knows the number 6-0-2.", "entities": ["Ines"], "evidence": "said the number 6-0-2 aloud"}
    return json.dumps({"summary": ["Ines counts the steps."], "memories": [fact]})


def test_a_model_reads_what_was_written(demo_stores: MemoryStores) -> None:
    """Where a model is given, the scene gets a record at once, and the next context knows what it established."""
    model = ScriptedChatModel(answer=read_well)
    chain = build_context_chain(demo_stores)
    pipeline = build_scene_pipeline(demo_stores, chain, write_scene, model=model)
    outcome = pipeline.invoke(demo_request("demo", 7, 1))
    assert outcome.extraction is not None
    assert [each.outcome for each in outcome.extraction.scenes] == ["done"]
    with demo_stores.database("demo").read() as unit:
        record = unit.scenes.require(StoryPosition(7, 1)).record
    assert record is not None
    assert [memory.content for memory in record.memories] == ["Ines knows the number 6-0-2."]


def test_a_writer_s_own_record_is_not_read_again(demo_stores: MemoryStores) -> None:
    """Who writes the scene and its record knows best; the model is not asked."""

    def write_with_record(brief: SceneBrief) -> WrittenScene:
        written = write_scene(brief)
        return written.model_copy(update={"record": SceneRecord(chapter_index=7, scene_index=1, summary=["Steps."])})

    model = ScriptedChatModel(answer=read_well)
    chain = build_context_chain(demo_stores)
    outcome = build_scene_pipeline(demo_stores, chain, write_with_record, model=model).invoke(
        demo_request("demo", 7, 1)
    )
    assert outcome.ingest is not None
    assert (outcome.extraction, model.prompts) == (None, [])


def test_a_model_that_fails_leaves_the_scene_stored(demo_stores: MemoryStores) -> None:
    """What could not be read is an issue of the outcome; the scene is there and waits."""

    def refuse(_: list[BaseMessage]) -> str:
        raise ConnectionError("gone")

    model = ScriptedChatModel(answer=refuse)
    chain = build_context_chain(demo_stores)
    outcome = build_scene_pipeline(demo_stores, chain, write_scene, model=model).invoke(demo_request("demo", 7, 1))
    assert outcome.ingest is not None
    assert [issue.stage for issue in outcome.issues] == ["extract"]
    with demo_stores.database("demo").read() as unit:
        assert unit.scenes.require(StoryPosition(7, 1)).text is not None
