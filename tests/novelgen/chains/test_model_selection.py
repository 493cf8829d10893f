"""The memories that a model chooses from the list of all before the scene, through the whole chain."""

import json
import re
from dataclasses import replace
from itertools import pairwise

import pytest
from langchain_core.messages import BaseMessage

from novelgen.chains.memory_context_chain import MemoryContextChain
from novelgen.context.memory_list import MemoryList, best_list, memory_line, whole_list
from novelgen.context.model_selector import ModelSelector
from novelgen.errors import DatabaseError
from novelgen.language.language import estimate_tokens
from novelgen.memory.search import CALLED_NOTES_RETRIEVER, Candidate, RetrieverHit, SearchRequest, SearchResult
from novelgen.models.context import MemoryContextRequest, SceneMemoryContext
from novelgen.models.memory import StoryMemoryChunk
from novelgen.models.position import StoryPosition
from novelgen.models.state import LoopImportance, OpenLoop
from novelgen.settings import ContextSettings
from tests.support.scripted_chat_model import ScriptedChatModel, answering
from tests.support.stored_story import StoredStory, patient
from tests.support.stories import ENTITIES, MEMORIES, PROJECT, RECORDS, lighthouse_memory, lighthouse_request

BY_MODEL = ContextSettings(selector="model", full_report=True)


def context_with(
    model: ScriptedChatModel, *, settings: ContextSettings = BY_MODEL, request: MemoryContextRequest | None = None
) -> SceneMemoryContext:
    """Build a context that rules plan and a model selects."""
    chain = MemoryContextChain(
        lighthouse_memory(), selector_model=model, settings=patient(settings), propagate_bugs=True
    )
    return chain.invoke(request or lighthouse_request())


def list_of(model: ScriptedChatModel) -> list[tuple[int, int, str]]:
    """The chapter, the scene and the text of every numbered line of the last prompt."""
    prompt = str(model.prompts[-1][-1].content)
    lines = re.findall(r"^\d+\. \[(\d+):(\d+)\] (.*)$", prompt, re.MULTILINE)
    return [(int(chapter), int(scene), text) for chapter, scene, text in lines]


def content_of(context: SceneMemoryContext) -> dict[str, object]:
    """A context without what the clock gave it."""
    return context.model_dump(exclude={"retrieval_timestamp": True, "report": {"timings_s", "issues", "selector"}})


def test_the_list_is_in_story_order_and_ends_before_the_scene() -> None:
    model = answering('{"numbers": [1]}')
    context_with(model)
    places = [(chapter, scene) for chapter, scene, _ in list_of(model)]
    assert len(places) > 1
    assert places == sorted(places)
    assert max(places) < (2, 2)


def test_chosen_memories_come_first_in_full_and_in_the_order_of_the_answer() -> None:
    first = answering('{"numbers": [1]}')
    context_with(first)
    lines = list_of(first)
    last = len(lines)
    context = context_with(answering(json.dumps({"numbers": [last, 1]})))
    items = context.report.items[:2]
    assert [item.text for item in items] == [lines[-1][2], lines[0][2]]
    assert [item.reasons[0] for item in items] == ["chosen by the model: rank 1", "chosen by the model: rank 2"]
    assert all(item.form == "full" for item in items)


def test_unknown_and_repeated_numbers_are_dropped_and_counted() -> None:
    context = context_with(answering('{"numbers": [1, 999, 1, 0, 2]}'))
    report = context.report.selector
    assert (report.used, report.chosen, report.unknown, report.repeated) == ("llm", 2, 2, 1)
    assert report.prompt_tokens > 0
    assert not [issue for issue in context.report.issues if issue.stage == "select"]


@pytest.mark.parametrize("answer", ["no idea", '{"numbers": [999]}', '{"numbers": []}', ""])
def test_an_answer_that_cannot_be_used_leaves_the_choice_of_the_rules(answer: str) -> None:
    by_rules = MemoryContextChain(
        lighthouse_memory(), settings=patient(ContextSettings(full_report=True)), propagate_bugs=True
    ).invoke(lighthouse_request())
    context = context_with(answering(answer))
    assert context.report.selector is not None
    assert context.report.selector.used == "rules"
    assert [issue.stage for issue in context.report.issues if "the rules chose alone" in issue.message] == ["select"]
    assert content_of(context) == content_of(by_rules)


def test_a_model_that_cannot_be_reached_leaves_the_choice_of_the_rules() -> None:
    def refuse(_: object) -> str:
        raise ConnectionError("nobody listens")

    context = context_with(ScriptedChatModel(answer=refuse))
    assert context.relevant_memories
    assert "unavailable" in [issue.kind for issue in context.report.issues if issue.stage == "select"]


def test_only_another_model_than_that_of_a_failed_plan_is_asked_to_select() -> None:
    def refuse(_: object) -> str:
        raise ConnectionError("nobody listens")

    planner, selector = ScriptedChatModel(answer=refuse), answering('{"numbers": [1]}')
    used = {}
    for name, selector_model in {"own": selector, "same": None}.items():
        chain = MemoryContextChain(
            lighthouse_memory(),
            model=planner,
            selector_model=selector_model,
            settings=patient(BY_MODEL),
            propagate_bugs=True,
        )
        report = chain.invoke(lighthouse_request()).report
        assert report.selector is not None
        used[name] = report.selector.used
    assert used == {"own": "llm", "same": "rules"}
    assert len(planner.prompts) == 2
    assert len(selector.prompts) == 1


def test_rules_ask_no_model_and_report_no_selection() -> None:
    model = answering('{"numbers": [1]}')
    context = context_with(model, settings=ContextSettings(selector="rules"))
    assert model.prompts == []
    assert "selector" not in context.report.model_dump()


def test_a_request_decides_over_the_settings() -> None:
    """Both ways: a model that the settings leave out, and rules where they have one."""
    model = answering('{"numbers": [1]}')
    asked = lighthouse_request().model_copy(update={"selector": "model"})
    context_with(model, settings=ContextSettings(selector="rules"), request=asked)
    assert len(model.prompts) == 1
    context_with(model, request=asked.model_copy(update={"selector": "rules"}))
    assert len(model.prompts) == 1


def test_a_selection_without_a_model_is_reported() -> None:
    chain = MemoryContextChain(lighthouse_memory(), settings=patient(BY_MODEL), propagate_bugs=True)
    context = chain.invoke(lighthouse_request())
    assert context.relevant_memories
    assert [issue.kind for issue in context.report.issues if issue.stage == "select"] == ["unavailable"]


def test_the_list_lacks_what_the_point_of_view_does_not_know() -> None:
    all_knowing, of_view = answering('{"numbers": [1]}'), answering('{"numbers": [1]}')
    context_with(all_knowing)
    request = lighthouse_request().model_copy(update={"knowledge": "exclude"})
    plan = request.scene_plan.model_copy(update={"pov": "Ben"})
    context = context_with(of_view, request=request.model_copy(update={"scene_plan": plan}))
    texts = {text for _, _, text in list_of(of_view)}
    assert texts
    assert texts < {text for _, _, text in list_of(all_knowing)}
    assert {memory.content for memory in context.relevant_memories} >= texts


def prompt_of(model: ScriptedChatModel) -> str:
    """The last prompt up to the end of its list."""
    prompt = "\n".join(str(message.content) for message in model.prompts[-1])
    return prompt[: prompt.index("\n===== open threads")]


def test_the_list_of_a_scene_begins_with_that_of_the_scene_before() -> None:
    """So a provider's prompt cache serves it again; the plans and what the search found differ."""
    model = ScriptedChatModel(answer=lambda _: '{"numbers": [1]}')
    prompts: list[str] = []
    for place in ((1, 2), (2, 1), (2, 2), (3, 1), (3, 2)):
        request = lighthouse_request(*place)
        plan = request.scene_plan.model_copy(update={"purpose": f"Purpose {len(prompts)}", "key_actions": []})
        context_with(model, request=request.model_copy(update={"scene_plan": plan}))
        prompts.append(prompt_of(model))
    for earlier, later in pairwise(prompts):
        assert later.startswith(earlier)
    assert prompts[0] != prompts[-1]


def test_the_list_has_what_no_retriever_found() -> None:
    """It is chosen, too, and comes first."""

    class Forgetful(StoredStory):
        def search(self, request: SearchRequest) -> SearchResult:
            result = super().search(request)
            return replace(result, candidates=result.candidates[:1])

    story = Forgetful.of_chunks(PROJECT, MEMORIES, records=RECORDS, entities=ENTITIES)
    model = answering('{"numbers": [3]}')
    chain = MemoryContextChain(story, selector_model=model, settings=patient(BY_MODEL), propagate_bugs=True)
    context = chain.invoke(lighthouse_request())
    assert len(list_of(model)) == 3
    assert context.report.items[0].source_id == "M3"


def test_a_model_that_is_configured_chooses_and_rules_do_without_one() -> None:
    model = answering('{"numbers": [1]}')
    context_with(model, settings=ContextSettings())
    assert len(model.prompts) == 1
    alone = MemoryContextChain(lighthouse_memory(), settings=patient(ContextSettings()), propagate_bugs=True)
    report = alone.invoke(lighthouse_request()).report
    assert report.selector is None
    assert not [issue for issue in report.issues if issue.stage == "select"]


def test_a_list_that_cannot_be_read_is_made_of_what_the_search_found() -> None:
    class Broken(StoredStory):
        def memories_before(self, project_id: str, *, as_of: StoryPosition, most: int) -> list[StoryMemoryChunk]:
            raise DatabaseError("the disk is gone")

    story = Broken.of_chunks(PROJECT, MEMORIES, records=RECORDS, entities=ENTITIES)
    model = answering('{"numbers": [1]}')
    chain = MemoryContextChain(story, selector_model=model, settings=patient(BY_MODEL), propagate_bugs=True)
    context = chain.invoke(lighthouse_request())
    assert len(list_of(model)) == 3
    assert [issue.kind for issue in context.report.issues if issue.stage == "select"] == ["unavailable"]


def test_a_list_that_leaks_is_cut_once_more() -> None:
    class Leaking(StoredStory):
        def memories_before(self, project_id: str, *, as_of: StoryPosition, most: int) -> list[StoryMemoryChunk]:
            return super().memories_before(project_id, as_of=StoryPosition(), most=most)

    story = Leaking.of_chunks(PROJECT, MEMORIES, records=RECORDS, entities=ENTITIES)
    model = answering('{"numbers": [1]}')
    MemoryContextChain(story, selector_model=model, settings=patient(BY_MODEL), propagate_bugs=True).invoke(
        lighthouse_request()
    )
    assert len(list_of(model)) == 3


def candidate_of(memory: StoryMemoryChunk, retriever: str = "semantic") -> Candidate:
    """A memory that one retriever found."""
    return Candidate(memory, (RetrieverHit(retriever, 1),))


def test_a_list_without_room_keeps_the_best_of_the_ranking_in_story_order() -> None:
    candidates = [candidate_of(memory) for memory in reversed(MEMORIES)]
    memory_list = best_list(candidates, most=2, budget_tokens=1000, count_tokens=estimate_tokens)
    assert memory_list.chunk_ids == ("k-M3", "k-M4")
    assert memory_list.unlisted == 2
    assert best_list(candidates, most=4, budget_tokens=0, count_tokens=estimate_tokens).chunk_ids == ()
    assert whole_list(candidates, budget_tokens=20, count_tokens=estimate_tokens) is None


def test_called_notes_are_listed_before_the_best_of_the_ranking() -> None:
    candidates = [candidate_of(memory) for memory in MEMORIES[:3]]
    candidates.append(candidate_of(MEMORIES[3], CALLED_NOTES_RETRIEVER))
    memory_list = best_list(candidates, most=1, budget_tokens=1000, count_tokens=estimate_tokens)
    assert memory_list.chunk_ids == ("k-M4",)


def test_a_line_has_the_short_form_unless_that_is_a_label() -> None:
    memory = MEMORIES[0].model_copy(update={"short": "Ada hid the brass key under the stair."})
    label = MEMORIES[0].model_copy(update={"short": "The key"})
    assert memory_line(7, memory, estimate_tokens) == "7. [1:1] Ada hid the brass key under the stair."
    assert memory_line(7, label, estimate_tokens) == f"7. [1:1] {MEMORIES[0].content}"


PLAN_ANSWER = '{"entities": [], "events": [], "queries": [{"query": "the brass key"}]}'


def planning_and_selecting(messages: list[BaseMessage]) -> str:
    """The answer to either of the two prompts."""
    return '{"numbers": [1]}' if "===== memories before" in str(messages[-1].content) else PLAN_ANSWER


@pytest.mark.parametrize(("selector_tokens", "prompts"), [(16_000, 1), (40, 2)])
def test_without_planning_rounds_a_model_plans_only_where_the_list_lacks_memories(
    selector_tokens: int, prompts: int
) -> None:
    model = ScriptedChatModel(answer=planning_and_selecting)
    settings = ContextSettings(planner_rounds=0, selector_tokens=selector_tokens)
    chain = MemoryContextChain(lighthouse_memory(), model=model, settings=patient(settings), propagate_bugs=True)
    report = chain.invoke(lighthouse_request()).report
    assert report.selector is not None
    assert report.selector.used == "llm"
    assert ("was not asked what to search for" in report.planner.reason) == (prompts == 1)
    assert len(model.prompts) == prompts


def test_without_planning_rounds_a_model_plans_where_the_rules_choose() -> None:
    model = answering(PLAN_ANSWER)
    settings = ContextSettings(planner_rounds=0, selector="rules")
    chain = MemoryContextChain(lighthouse_memory(), model=model, settings=patient(settings), propagate_bugs=True)
    report = chain.invoke(lighthouse_request()).report
    assert report.planner.used == "llm"
    assert len(model.prompts) == 1


def test_a_failed_selection_without_a_plan_leaves_the_choice_of_the_rules() -> None:
    def refuse(_: object) -> str:
        raise ConnectionError("nobody listens")

    model = ScriptedChatModel(answer=refuse)
    chain = MemoryContextChain(
        lighthouse_memory(), model=model, settings=patient(ContextSettings(planner_rounds=0)), propagate_bugs=True
    )
    context = chain.invoke(lighthouse_request())
    assert context.relevant_memories
    assert [issue.kind for issue in context.report.issues if issue.stage == "select"] == ["unavailable"]
    assert "model" not in context.report.timings_s


def test_of_many_threads_the_model_reads_the_weightiest_in_story_order() -> None:
    model = answering('{"numbers": [1]}')
    weights: list[LoopImportance] = [*["low"] * 40, "critical", *["medium"] * 10, "high"]
    threads = [
        OpenLoop(loop_id=f"T{number}", description=f"Thread {number} {'waits ' * 40}", importance=importance)
        for number, importance in enumerate(weights)
    ]
    chunk = MEMORIES[0]
    memory_list = MemoryList((Candidate(chunk),), (memory_line(1, chunk, estimate_tokens),))
    selection = ModelSelector(model).select(lighthouse_request(), memory_list, open_loops=threads, language="en")
    assert selection.chunk_ids == (chunk.chunk_id,)
    prompt = str(model.prompts[-1][-1].content)
    numbers = [int(number) for number in re.findall(r"^- Thread (\d+) ", prompt, re.MULTILINE)]
    assert {40, 51} <= set(numbers)
    assert numbers == sorted(numbers)
    assert len(numbers) < len(threads)
    assert selection.report.prompt_tokens < 2_500
