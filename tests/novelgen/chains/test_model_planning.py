"""What a planning model is told of the story, and its second round, through the whole chain."""

import json
import threading
from typing import Any

import pytest
from langchain_core.output_parsers import PydanticOutputParser

from novelgen.chains.memory_context_chain import MemoryContextChain
from novelgen.errors import DatabaseError
from novelgen.memory.outline import StoryRecap
from novelgen.memory.search import SearchRequest, SearchResult
from novelgen.model_calls.answer_parser import AnswerParser
from novelgen.models.context import ContextReport, MemoryContextRequest
from novelgen.models.plan import ScenePlan
from novelgen.models.record import SceneRecord
from novelgen.settings import ContextSettings
from novelgen.testing import CHINESE_STORY, ENGLISH_STORY, SampleStory
from tests.support.scripted_chat_model import ScriptedChatModel, answering
from tests.support.stored_story import StoredStory, patient
from tests.support.stories import lighthouse_memory, lighthouse_request

ONE_ROUND = ContextSettings(planner_rounds=1)
TWO_ROUNDS = ContextSettings(planner_rounds=2)


def answer(*queries: str, entities: tuple[str, ...] = ("C1",)) -> str:
    """A plan as a model writes it."""
    asked = [{"query": query} for query in queries]
    return json.dumps({"entities": list(entities), "queries": asked}, ensure_ascii=False)


FIRST = answer("Ben's promise of the lamp")


def report_of(
    model: ScriptedChatModel,
    *,
    memory: Any = None,
    request: MemoryContextRequest | None = None,
    settings: ContextSettings = TWO_ROUNDS,
    **options: Any,
) -> ContextReport:
    """Build a context that a model plans and rules choose, and return its report."""
    by_rules = patient(settings).model_copy(update={"selector": "rules"})
    chain = MemoryContextChain(
        memory or lighthouse_memory(), model=model, settings=by_rules, propagate_bugs=True, **options
    )
    report = chain.invoke(request or lighthouse_request()).report
    return report


def asked_by_model(report: ContextReport) -> list[str]:
    """The texts of the model's queries."""
    return [query.text for query in report.queries if query.origin == "llm"]


def prompt_at(story: SampleStory, chapter: int, scene: int) -> str:
    """The human part of the planner's prompt for a scene of a sample story."""
    memory = StoredStory.of_records(story.project_id, story.records, entities=story.entities, language=story.language)
    names = {entity.entity_id: entity.name for entity in story.entities}
    request = MemoryContextRequest(
        project_id=story.project_id,
        chapter_index=chapter,
        scene_index=scene,
        scene_plan=ScenePlan(scene_number=scene, characters=[names["C0"], names["C1"], "Quill 奎尔"]),
    )
    model = answering(answer(names["C0"]))
    report_of(model, memory=memory, request=request, settings=ContextSettings())
    return model.prompts[0][1].text


@pytest.mark.slow
@pytest.mark.parametrize("story", [ENGLISH_STORY, CHINESE_STORY], ids=["en", "zh"])
def test_the_prompt_tells_the_story_as_of_the_scene(story: SampleStory) -> None:
    """Threads, states, holders and names as they stood; nothing of the scene itself or of a later one."""
    names = {entity.entity_id: entity.name for entity in story.entities}
    memories = {each.memory_id: each.content for record in story.records for each in record.memories}
    goal_given_up = story.records[1].state_changes[0].changes["goals"][1]
    early, before_last, after = (prompt_at(story, *place) for place in ((1, 1), (3, 1), (4, 1)))
    assert names["C1"] not in early.split("C0 | ")[1].split("=====")[0]
    assert memories["M1"] not in early
    # The thread of M1 ends in the last scene: open before it, gone after it.
    assert memories["M1"] in before_last
    assert memories["M2"] in before_last
    assert memories["M1"] not in after
    assert goal_given_up in before_last
    assert goal_given_up not in after
    assert names["C2"] not in before_last
    assert memories["M4"] not in before_last
    assert names["C2"] in after
    for prompt in (early, before_last, after):
        assert "Quill 奎尔" in prompt


def test_the_prompt_tells_scenes_states_and_filters_of_the_story() -> None:
    """The last scenes, what holds of the plan's people, where they were seen, and the report counts the tokens."""
    model = answering(FIRST)
    report = report_of(model, settings=ContextSettings())
    human = model.prompts[0][1].text
    for told in (
        "[1:2] the lighthouse with Ada, Ben: A vow",
        "[2:1] Ada: The logbook is read",
        "Will Ben keep the lamp burning? (Ben)",
        "- Ben: wants: keep the lamp",
        "I0 | item | the brass key | held by Ada",
        "C1 | character | Ben; the lamplighter | last seen 1:2 the lighthouse",
    ):
        assert told in human, told
    assert "The key is sold" not in human
    assert "Cornelius" not in human
    tokens = report.planner.prompt_tokens
    assert report.planner.rounds == 1
    assert 0 < tokens["threads"] < tokens["whole"]
    assert report.planner.prompt_left_out == {}


class Watched(StoredStory):
    """The lighthouse story, which notes what is read and may fail or hang on the way."""

    def __init__(self, *, recap_fails: bool = False, searches: int = 99) -> None:
        self.__dict__.update(lighthouse_memory().__dict__)
        self.reads: list[str] = []
        self.recap_fails = recap_fails
        self.searches_left = searches

    def recap(self, *arguments: Any, **keywords: Any) -> StoryRecap:
        """Recall, or fail."""
        self.reads.append("recap")
        if self.recap_fails:
            raise DatabaseError("the recap cannot be read")
        return super().recap(*arguments, **keywords)

    def search(self, request: SearchRequest) -> SearchResult:
        """Search, or fail at first."""
        self.reads.append("search")
        self.searches_left -= 1
        if self.searches_left < 0:
            self.searches_left = 99
            raise DatabaseError("the first search fails")
        return super().search(request)


def test_without_a_model_nothing_more_is_read() -> None:
    """No recap, and one search, whatever the rounds."""
    memory = Watched()
    MemoryContextChain(memory, settings=patient(TWO_ROUNDS), propagate_bugs=True).invoke(lighthouse_request())
    assert memory.reads == ["search"]


def test_a_model_plans_without_a_recap_that_cannot_be_read() -> None:
    """One issue says so, and the model is told what the outline holds."""
    model = answering(FIRST)
    report = report_of(model, memory=Watched(recap_fails=True), settings=ContextSettings())
    assert [(issue.stage, issue.kind) for issue in report.issues] == [("plan", "unavailable")]
    assert report.planner.used == "llm"
    assert "[2:1] Ada: The logbook is read" in model.prompts[0][1].text


def test_a_second_round_sees_the_first_hits_and_asks_on() -> None:
    """The model is shown what was found in short form and its own answer; its further queries join the plan."""
    model = answering(FIRST, answer("the wreck called the Marigold", "Ben's promise of the lamp"))
    memory = Watched()
    report = report_of(model, memory=memory)
    first, second = model.prompts
    assert [message.type for message in second[len(first) :]] == ["ai", "human"]
    assert "Ben's promise of the lamp" in second[-2].text
    assert "- [1:2] Ben promised Ada to keep the lamp burning until her return." in second[-1].text
    assert "sold the brass key" not in second[-1].text
    assert asked_by_model(report) == ["Ben's promise of the lamp", "the wreck called the Marigold"]
    assert (report.planner.used, report.planner.rounds, report.issues) == ("llm", 2, [])
    assert report.planner.prompt_tokens["first_hits"] > 0
    assert memory.reads == ["recap", "search", "search"]


def test_a_second_round_is_bounded_and_may_find_nothing_missing() -> None:
    """Empty lists are an answer, without an issue or a repair; at most six further queries."""
    model = answering(FIRST, answer(entities=()))
    report = report_of(model)
    assert asked_by_model(report) == ["Ben's promise of the lamp"]
    assert (report.planner.rounds, report.issues, len(model.prompts)) == (2, [], 2)
    model = answering(FIRST, answer(*(f"Ben's promise number {number}" for number in range(12))))
    assert len(asked_by_model(report_of(model))) == 1 + 6


@pytest.mark.parametrize("bad", ["no plan", '{"entities": "C1"}', answer("the weather in Bangkok", entities=())])
def test_a_bad_second_round_leaves_the_first(bad: str) -> None:
    """After one repair call the first round's plan is used whole, and one issue and the reason say why."""
    model = answering(FIRST, bad, bad)
    report = report_of(model)
    assert asked_by_model(report) == ["Ben's promise of the lamp"]
    assert [(issue.stage, issue.kind) for issue in report.issues] == [("plan", "malformed")]
    assert (report.planner.used, report.planner.rounds) == ("llm", 1)
    assert "only the first round was used" in report.planner.reason


def test_a_late_second_round_leaves_the_first() -> None:
    """Both rounds share the model's time; one that hangs costs no more than that."""
    hang = threading.Event()
    answers = iter([lambda: FIRST, lambda: str(hang.wait(30))])
    model = ScriptedChatModel(answer=lambda _: next(answers)())
    report = report_of(model, model_timeout_s=1.0)
    hang.set()
    assert asked_by_model(report) == ["Ben's promise of the lamp"]
    assert [(issue.stage, issue.kind) for issue in report.issues] == [("plan", "timeout")]
    assert report.items


def test_first_hits_that_cannot_be_read_cost_the_second_round_alone() -> None:
    """A failed first round is not asked on: there is nothing to go on from."""
    model = answering(FIRST)
    report = report_of(model, memory=Watched(searches=0))
    assert [(issue.stage, issue.kind) for issue in report.issues] == [("plan", "unavailable")]
    assert report.planner.rounds == 1
    assert report.items
    model = answering("no plan", "no plan")
    memory = Watched()
    report = report_of(model, memory=memory)
    assert (report.planner.used, report.planner.rounds) == ("rules", 0)
    assert memory.reads == ["recap", "search"]


def test_threads_that_the_model_expects_come_first_in_the_context() -> None:
    """One that the rules put third is first when the model names it; an answer without threads changes nothing."""
    planted = [{"id": f"OL{number}", "description": f"vow number {number}"} for number in range(1, 6)]
    records = [
        SceneRecord.model_validate({"chapter_index": 1, "scene_index": each, "open_loops_created": [loop]})
        for each, loop in enumerate(planted, start=1)
    ]
    memory = StoredStory.of_records("p", records)
    request = MemoryContextRequest(
        project_id="p",
        chapter_index=2,
        scene_index=1,
        scene_plan=ScenePlan(scene_number=1, purpose="The harbour wakes."),
    )

    def listed(said: dict[str, Any]) -> list[str]:
        model = answering(json.dumps({"entities": [], "queries": [{"query": "the harbour wakes"}], **said}))
        by_rules = patient(ContextSettings(selector="rules"))
        context = MemoryContextChain(memory, model=model, settings=by_rules, propagate_bugs=True).invoke(request)
        return [each["loop_id"] for each in (context.timeline_context or {})["open_loops"]]

    assert listed({}) == ["OL5", "OL4", "OL3", "OL2", "OL1"]
    assert listed({"threads": ["OL3", "OL77"]}) == ["OL3", "OL5", "OL4", "OL2", "OL1"]


def test_the_parser_of_the_chain_parses_the_plan(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a model answers is read by the PydanticOutputParser of the chain, and by nothing else."""
    parsed: list[str] = []
    parse_result = AnswerParser.parse_result

    def counted(parser: AnswerParser[Any], result: list[Any], *, partial: bool = False) -> Any:
        parsed.append(result[0].text)
        return parse_result(parser, result, partial=partial)

    monkeypatch.setattr(AnswerParser, "parse_result", counted)
    report = report_of(answering(FIRST), settings=ONE_ROUND)
    assert parsed == [FIRST]
    assert asked_by_model(report) == ["Ben's promise of the lamp"]
    assert issubclass(AnswerParser, PydanticOutputParser)


def test_a_number_of_thousands_of_digits_ends_no_context() -> None:
    """The rules plan, and the report says why; Python itself refuses to read such a number."""
    report = report_of(answering(*[f'{{"entities": [], "queries": [{"9" * 6000}]}}'] * 2), settings=ONE_ROUND)
    assert report.planner.used == "rules"
    assert "a number of 6000 digits" in report.planner.reason
