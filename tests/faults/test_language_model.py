"""Rows 38-42 and 46: the language model fails over a real HTTP client, end to end; its answers are read elsewhere."""

import itertools
import json
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from langchain_openai import ChatOpenAI

from novelgen.models.context import MemoryContextRequest
from novelgen.models.position import StoryPosition
from runtime.context_chain import build_context_chain
from runtime.ingest.extraction import extract_scenes
from runtime.ingest.ingest import ingest_scene
from runtime.ingest.scene_input import SceneInput
from runtime.ingest.scene_passes import SceneChoice
from runtime.stores import MemoryStores
from tests.faults.expectations import HANG_GUARD_S, require_same_entities
from tests.faults.matrix import covers
from tests.support.demo_project import settings_for
from tests.support.openai_stub import OpenAiStub, Responder, StubCall, openai_stub

PROJECT = "told"
_chapters = itertools.count(1)
TEXT = (
    "Mara Venn took the brass lamp from the shelf and promised Tom to bring it back before the tide. Nobody in the "
    "harbour saw her go, and the door of the Salt House stood open all night long."
)
RECORD = {
    "location": "",
    "characters_present": [],
    "new_entities": [{"name": "Mara Venn", "entity_type": "character", "aliases": []}],
    "summary": ["Mara takes the lamp."],
    "state_changes": [],
    "relationship_changes": [],
    "open_loops_created": [],
    "memories": [
        {
            "content": "Mara Venn promised Tom to bring the brass lamp back before the tide.",
            "event_type": "promise_made",
            "importance": 7,
            "entities": ["Mara Venn"],
            "evidence": "promised Tom to bring it back before the tide",
        }
    ],
}
GOOD = json.dumps(RECORD)
FOREIGN = json.dumps({**RECORD, "project_id": "other", "scene_id": "S1", "chapter_index": 99})


def _say(text: str) -> Responder:
    return lambda call: call.say(text)


def _slow(call: StubCall) -> None:
    call.refuse(429, "slow down", headers={"Retry-After": "3600"})


FAILURES: dict[str, tuple[int, Responder]] = {
    "hang": (38, lambda call: call.hang()),
    "drip": (38, lambda call: call.drip(GOOD, seconds_per_byte=0.2)),
    "retry-after": (39, _slow),
    "500": (40, lambda call: call.refuse(500, "out of memory")),
    "html": (40, lambda call: call.send("<html>Bad gateway</html>")),
    "cut at the token limit": (42, lambda call: call.say(GOOD, finish_reason="length")),
}
OF_EXTRACTION = ("hang", "500", "cut at the token limit")
"""One failure of each kind; what else a client may meet, test_model_planner_over_http has."""


def _refuse_formats(call: StubCall) -> None:
    if "response_format" in call.payload:
        call.refuse(400, "'response_format' is not supported with this model")
    else:
        call.say(GOOD)


SUCCESSES: dict[str, tuple[int, Responder]] = {
    "formats refused": (41, _refuse_formats),
    "another project": (46, _say(FOREIGN)),
}


def _parameters(cases: dict[str, tuple[int, Responder]]) -> list[object]:
    return [pytest.param(respond, marks=covers(row), id=name) for name, (row, respond) in cases.items()]


def _model(stub: OpenAiStub) -> ChatOpenAI:
    """The client with long timeouts and many retries of its own, which a deadline of ours must end."""
    return ChatOpenAI(model="stub", base_url=stub.base_url, api_key="sk-stub", timeout=600, max_retries=5)  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def stores(tmp_path_factory: pytest.TempPathFactory) -> Iterator[MemoryStores]:
    """Stores with an empty project."""
    with MemoryStores(settings_for(tmp_path_factory.mktemp("projects"))) as opened:
        opened.create_project(PROJECT, language="en")
        yield opened


@pytest.fixture
def at(stores: MemoryStores) -> StoryPosition:
    """Where a scene without a record stands: the only one of its chapter."""
    position = StoryPosition(next(_chapters), 1)
    ingest_scene(stores, PROJECT, SceneInput(chapter_index=position.chapter_index, scene_index=1, text=TEXT))
    return position


def _extract(
    stores: MemoryStores, at: StoryPosition, stub: OpenAiStub, *, timeout_s: float, retry: bool = False
) -> str:
    summarization = stores.settings.memory.summarization.model_copy(update={"timeout_s": timeout_s})
    memory = stores.settings.memory.model_copy(update={"summarization": summarization})
    stores.settings = stores.settings.model_copy(update={"memory": memory})
    report = extract_scenes(
        stores, PROJECT, _model(stub), choice=SceneChoice(chapter_index=at.chapter_index, retry_failed=retry)
    )
    (scene,) = report.scenes
    assert (scene.outcome == "failed") == bool(scene.reason)
    return scene.outcome


@pytest.mark.slow
@pytest.mark.parametrize("respond", _parameters({each: FAILURES[each] for each in OF_EXTRACTION}))
def test_a_failing_model_leaves_the_scene_as_it_is(stores: MemoryStores, at: StoryPosition, respond: Responder) -> None:
    """The text is kept, the record is not made and the reason is stored; the scene can be tried again."""
    started_s = time.monotonic()
    with openai_stub(respond) as stub:
        assert _extract(stores, at, stub, timeout_s=2.0) == "failed"
    assert time.monotonic() - started_s < HANG_GUARD_S
    with stores.database(PROJECT).read() as unit:
        stored = unit.scenes.require(at)
    assert (stored.text, stored.record, stored.extraction_status) == (TEXT, None, "failed")
    with openai_stub(_say(GOOD)) as stub:
        assert _extract(stores, at, stub, timeout_s=HANG_GUARD_S, retry=True) == "done"


@pytest.mark.parametrize("respond", _parameters(SUCCESSES))
def test_an_odd_answer_is_read_and_stays_in_its_project(
    stores: MemoryStores, at: StoryPosition, respond: Responder
) -> None:
    """The real answer is used, and what it says of projects, ids and places is not."""
    with openai_stub(respond) as stub:
        assert _extract(stores, at, stub, timeout_s=HANG_GUARD_S) == "done"
    with stores.database(PROJECT).read() as unit:
        stored = unit.scenes.require(at)
        projects = [project.project_id for project in stores.database(PROJECT).database.list_projects()]
    assert stored.record is not None
    assert [memory.content for memory in stored.record.memories] == [RECORD["memories"][0]["content"]]  # type: ignore[index]
    assert projects == stores.project_ids() == [PROJECT]


@pytest.mark.slow
@covers(38, 39, 40)
@pytest.mark.parametrize("failure", ["hang", "retry-after", "500"])
def test_a_failing_model_costs_a_context_only_its_queries_and_its_selection(
    demo_folder: Path, request_in_demo: MemoryContextRequest, healthy_demo: object, failure: str
) -> None:
    """The rules plan and choose alone, the issues say why, and the model is not asked again for the selection."""
    settings = settings_for(demo_folder).model_copy(update={"model_timeout_s": 1.0})
    with openai_stub(FAILURES[failure][1]) as stub, MemoryStores(settings) as stores:
        chain = build_context_chain(stores, model=_model(stub), write_files=False)
        context = chain.invoke(request_in_demo)
    assert context.relevant_memories
    require_same_entities(context, healthy_demo)  # type: ignore[arg-type]
    plan_issue, select_issue = context.report.issues
    assert (plan_issue.stage, select_issue.stage) == ("plan", "select")
    assert select_issue.kind == plan_issue.kind
    assert "was not asked again" in select_issue.message
    assert context.report.selector is not None
    assert (context.report.selector.used, context.report.selector.timeout_s) == ("rules", 0)
    assert "selector" not in context.report.timings_s
