"""The memory context chain as a citizen of LangChain: tracing, batches, retries, fallbacks."""

import asyncio
import dataclasses
import json
from typing import Any

from langchain_core.runnables import RunnableConfig, RunnableLambda

from novelgen.chains.memory_context_chain import MemoryContextChain
from novelgen.chains.stepwise_chain import StepwiseChain, retriever_summaries
from novelgen.errors import InvalidProjectIdError
from novelgen.memory.search import Candidate, RetrieverHit, SearchResult
from novelgen.models.context import ReportIssue
from tests.support.scripted_chat_model import answering
from tests.support.stories import MEMORIES, NOW, PROJECT, lighthouse_memory, lighthouse_request
from tests.support.tracing import RecordingHandler

STEPS = ["read_outline", "plan", "retrieve", "select", "write"]


def chain(**arguments: Any) -> MemoryContextChain:
    """Return a chain over the lighthouse story with a fixed clock."""
    return MemoryContextChain(lighthouse_memory(), clock=lambda: NOW, propagate_bugs=True, **arguments)


def traced(asked: Any = None, config: dict[str, Any] | None = None, **arguments: Any) -> RecordingHandler:
    """Run the chain with a recording handler and return it."""
    handler = RecordingHandler()
    chain(**arguments).invoke(asked or lighthouse_request(), {**(config or {}), "callbacks": [handler]})
    return handler


def test_a_handler_sees_the_steps_under_one_run() -> None:
    """Named runs in order; a tracer is told how many candidates there are, neither their texts nor vectors."""
    handler = traced()
    assert handler.children_of(None) == ["MemoryContextChain"]
    assert handler.children_of("MemoryContextChain") == STEPS
    outputs = traced().named("retrieve").outputs
    told = json.dumps(dataclasses.asdict(outputs), default=str)
    assert '"3 candidates"' in told
    assert '"3 scenes, 4 entities"' in told
    assert not [each for each in outputs.search.candidates if each.chunk.content in told]


def test_the_run_is_tagged_and_says_its_place() -> None:
    """The caller's tags stay, a model's call is under the plan, and ainvoke shows the same runs."""
    handler = traced(config={"tags": ["draft"], "metadata": {"author": "Eve"}, "run_name": "context of 2:2"})
    run = handler.named("context of 2:2")
    assert run.tags == ["draft", "novelgen"]
    assert run.metadata == {"author": "Eve", "project_id": PROJECT, "chapter_index": 2, "scene_index": 2}
    handler = traced(model=answering(*['{"queries": ["where is the brass key"]}'] * 2))
    assert set(handler.children_of("plan")) == {"ask_model"}
    assert set(handler.children_of("ask_model")) == {"ScriptedChatModel", "hear_answer", "AnswerParser"}
    handler = RecordingHandler()
    asyncio.run(chain().ainvoke(lighthouse_request(), {"callbacks": [handler]}))
    assert [(run.name, run.parent) for run in handler.runs] == [(run.name, run.parent) for run in traced().runs]


def test_plan_retrievers_and_selection_are_in_the_trace() -> None:
    """The queries, what each retriever found for them, and the receipts can be read from the runs."""
    handler = traced()
    planned = handler.named("plan").outputs.plan
    assert {"retriever_lexical", "retriever_semantic"} <= set(handler.children_of("retrieve"))
    run = handler.named("retriever_lexical")
    assert "retriever" in run.tags
    assert run.inputs["queries"] == [query.text for query in planned.queries]
    assert run.inputs["as_of"] == "2:2"
    assert {"k-M1", "k-M2"} <= set(run.outputs["best"])
    assert [item.source_id for item in handler.named("select").outputs.report.items][:1]


def test_the_summary_of_a_retriever_counts_each_memory_once_and_names_its_failures() -> None:
    """Best rank first; a retriever that found nothing is there with its issue."""
    search = SearchResult(
        candidates=(
            Candidate(MEMORIES[0], (RetrieverHit("semantic", 3, 0), RetrieverHit("semantic", 2, 1))),
            Candidate(MEMORIES[1], (RetrieverHit("semantic", 1, 0),)),
        ),
        issues=(ReportIssue(stage="lexical", kind="timeout", message="too slow"),),
        timings_s={"retriever_semantic": 0.2, "retriever_lexical": 5.0, "outline": 1.0},
    )
    assert retriever_summaries(search) == {
        "lexical": {"candidates": 0, "best": [], "elapsed_s": 5.0, "issues": ["timeout: too slow"]},
        "semantic": {"candidates": 2, "best": ["k-M2", "k-M1"], "elapsed_s": 0.2, "issues": []},
    }


def test_a_batch_keeps_its_order_and_its_failures_apart() -> None:
    """A wrong request fails alone, and an async batch gives the same contexts."""
    wrong = {**dict(lighthouse_request()), "project_id": "a/b"}
    first, refused, last = chain().batch(
        [lighthouse_request(2, 1), wrong, lighthouse_request(2, 2)], return_exceptions=True
    )
    assert isinstance(refused, InvalidProjectIdError)
    assert (first.scene_index, last.scene_index) == (1, 2)
    requests = [lighthouse_request(2, 1), lighthouse_request(2, 2)]
    chosen = asyncio.run(chain().abatch(requests))
    assert [each.relevant_memories for each in chosen] == [each.relevant_memories for each in chain().batch(requests)]


def twice(number: int) -> int:
    """Return the story."""
    return 2 * number


class Fourfold(StepwiseChain[int, int]):
    """Doubles in two steps."""

    def __init__(self) -> None:
        super().__init__(
            RunnableLambda(twice).with_config(run_name="first") | RunnableLambda(twice).with_config(run_name="second")
        )


def test_a_run_is_named_after_its_chain_unless_the_caller_names_it() -> None:
    """What else the caller gave is kept and stays as it was; invoke and ainvoke do the same."""
    handler = RecordingHandler()
    given: RunnableConfig = {"tags": ["scene"], "callbacks": [handler]}
    assert Fourfold().invoke(2, given) == 8
    assert asyncio.run(Fourfold().ainvoke(3, {**given, "run_name": "mine"})) == 12
    assert given == {"tags": ["scene"], "callbacks": [handler]}
    assert handler.children_of(None) == ["Fourfold", "mine"]
    assert handler.children_of("Fourfold") == ["first", "second"]
    assert handler.named("mine").tags == ["scene"]
