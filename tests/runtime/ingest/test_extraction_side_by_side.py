"""Scenes read side by side, concluded and stored in story order; refusals; interrupts."""

import json
import threading
from typing import Any

import pytest
from langchain_core.messages import BaseMessage

from novelgen.language.language import estimate_tokens
from novelgen.models.position import StoryPosition
from runtime.ingest import scene_passes
from runtime.ingest.extraction import estimate_extraction, extract_scenes
from runtime.ingest.ingest import ingest_scenes
from runtime.ingest.scene_passes import SceneChoice
from runtime.stores import MemoryStores
from tests.runtime.ingest.made_up_story import scene
from tests.support.scripted_chat_model import ScriptedChatModel

HANG_GUARD_S = 30.0
SCENES = 6
PLACES = [(1 + number // 3, 1 + number % 3) for number in range(SCENES)]


def text_of(number: int) -> str:
    """Return the text of a scene; all of them tell of Sexton Pike, whom nobody knows before the first."""
    return (
        f"Sexton Pike counted {number} bells in the tower at dusk and wrote the number on the door. Mary Grey held the"
        f" lantern for him and asked what the {number} stood for. He would not say, and she walked home alone."
    )


def answer(messages: list[BaseMessage], **changes: Any) -> str:
    """Answer as a model does that knows nothing of the other scenes: by names alone."""
    number = number_in(messages)
    told = {
        "characters_present": ["Sexton Pike", "Mary Grey"],
        "new_entities": [
            {"name": "Sexton Pike", "entity_type": "character", "aliases": ["Pike"]},
            {"name": "Mary Grey", "entity_type": "character", "aliases": []},
        ],
        "summary": [f"Pike counts {number} bells."],
        "state_changes": [
            {
                "entity": "Sexton Pike",
                "attribute": "bells_counted",
                "value": str(number),
                "evidence": f"counted {number}",
            }
        ],
        "memories": [
            {
                "content": f"Sexton Pike counted {number} bells and wrote the number on the door.",
                "entities": ["Sexton Pike"],
                "evidence": f"Sexton Pike counted {number} bells",
            }
        ],
        **changes,
    }
    return json.dumps(told)


def number_in(messages: list[BaseMessage]) -> int:
    """Return which scene a prompt is about."""
    told = messages[1].text.rpartition("counted ")[2]
    return int(told.split()[0])


@pytest.fixture
def story(stores: MemoryStores, project: str) -> str:
    """Two chapters of three scenes without records."""
    ingest_scenes(stores, project, [scene(*place, text_of(number)) for number, place in enumerate(PLACES)])
    return project


def stored(stores: MemoryStores, project: str) -> dict[str, Any]:
    """Return all that an extraction leaves: records, entities, states."""
    with stores.database(project).read() as unit:
        scenes = unit.scenes.list_as_of()
        entities = [each.entity for each in unit.entities.list_all()]
        states = unit.states.snapshots([each.entity_id for each in entities])
    return {
        "records": [each.record and each.record.model_dump() for each in scenes],
        "entities": [each.model_dump() for each in entities],
        "states": [each.state_data for each in states],
    }


def statuses(stores: MemoryStores, project: str) -> list[str]:
    """Return how the extraction of each scene went."""
    with stores.database(project).read() as unit:
        return [each.extraction_status for each in unit.scenes.list_as_of()]


@pytest.mark.slow
def test_four_workers_leave_what_one_leaves(stores: MemoryStores, story: str) -> None:
    """Whom two scenes side by side call new is one person, and records, entities and states are equal."""
    extract_scenes(stores, story, ScriptedChatModel(answer=answer))
    by_one = stored(stores, story)
    stores.create_project("side-by-side", language="en")
    ingest_scenes(stores, "side-by-side", [scene(*place, text_of(number)) for number, place in enumerate(PLACES)])
    together = threading.Barrier(4)

    def at_once(messages: list[BaseMessage]) -> str:
        if number_in(messages) < 4:
            together.wait(HANG_GUARD_S)
        return answer(messages)

    report = extract_scenes(stores, "side-by-side", ScriptedChatModel(answer=at_once), workers=4)
    assert report.count("done") == SCENES
    by_four = stored(stores, "side-by-side")
    assert [each["name"] for each in by_four["entities"]] == ["Sexton Pike", "Mary Grey"]
    assert without_memory_ids(by_four) == without_memory_ids(by_one)


def without_memory_ids(left: dict[str, Any]) -> str:
    """Return it as text, without the ids of memories, into which the project's name goes."""

    def kept(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: kept(each) for key, each in value.items() if key not in ("memory_id", "project_id")}
        return [kept(each) for each in value] if isinstance(value, list) else value

    return json.dumps(kept(left), sort_keys=True, default=str)


@pytest.mark.slow
def test_a_scene_that_fails_does_not_stall_the_others(stores: MemoryStores, story: str) -> None:
    """The first scene's answer comes last and cannot be used; one more than there are workers is read meanwhile."""
    others: set[int] = set()
    two_are_read = threading.Event()

    def first_fails(messages: list[BaseMessage]) -> str:
        number = number_in(messages)
        if number == 0:
            # It is asked twice: an answer that cannot be used is repaired once.
            waited.append(two_are_read.wait(HANG_GUARD_S) and len(others) == 2)
            return "I cannot."
        others.add(number)
        if len(others) == 2:
            two_are_read.set()
        return answer(messages)

    waited: list[bool] = []

    report = extract_scenes(stores, story, ScriptedChatModel(answer=first_fails), workers=2)
    assert waited
    assert all(waited)
    assert [each.outcome for each in report.scenes] == ["failed", *["done"] * (SCENES - 1)]
    assert [(each.chapter_index, each.scene_index) for each in report.scenes] == PLACES


class WrongKeyError(Exception):
    """What a client raises when the service refuses the key."""

    status_code = 401


class QuotaError(Exception):
    """What a client raises when nothing is left to pay with."""

    status_code = 429


@pytest.mark.slow
@pytest.mark.parametrize("workers", [1, 4])
def test_a_refusal_that_every_scene_would_meet_ends_the_run(stores: MemoryStores, story: str, workers: int) -> None:
    """No scene is marked failed, few requests are sent, the reason is told, and the next run reads them all."""

    def refuse(_: list[BaseMessage]) -> str:
        raise WrongKeyError("Error code: 401 - Incorrect API key")

    model = ScriptedChatModel(answer=refuse)
    report = extract_scenes(stores, story, model, workers=workers)
    assert "NOVELGEN_MODEL_API_KEY" in str(report.stopped)
    assert (report.scenes, report.waiting, report.failed_before) == ([], SCENES, 0)
    assert statuses(stores, story) == ["none"] * SCENES
    assert len(model.prompts) <= workers + 1
    again = extract_scenes(stores, story, ScriptedChatModel(answer=answer))
    assert (again.count("done"), again.stopped, again.waiting) == (SCENES, None, 0)


def test_what_was_read_before_a_refusal_is_stored(stores: MemoryStores, story: str) -> None:
    """The quota ends in the fourth scene: three are done, three wait."""

    def until_the_money_ends(messages: list[BaseMessage]) -> str:
        if number_in(messages) >= 3:
            raise QuotaError("Error code: 429 - insufficient_quota")
        return answer(messages)

    report = extract_scenes(stores, story, ScriptedChatModel(answer=until_the_money_ends))
    assert (report.count("done"), report.count("failed"), report.waiting) == (3, 0, 3)
    assert "balance" in str(report.stopped)


@pytest.mark.slow
def test_a_server_that_nobody_answers_at_is_tried_once_more(
    stores: MemoryStores, story: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A local server that starts again a moment later costs nothing; one that stays away ends the run."""
    monkeypatch.setattr(scene_passes, "RETRY_PAUSE_S", 0.0)
    calls: list[int] = []

    def back_at_the_second(messages: list[BaseMessage]) -> str:
        calls.append(1)
        if len(calls) == 1:
            raise ConnectionRefusedError(111, "Connection refused")
        return answer(messages)

    report = extract_scenes(
        stores, story, ScriptedChatModel(answer=back_at_the_second), choice=SceneChoice(chapter_index=1)
    )
    assert (report.count("done"), report.stopped, report.waiting) == (3, None, 3)

    def gone(_: list[BaseMessage]) -> str:
        raise ConnectionRefusedError(111, "Connection refused")

    model = ScriptedChatModel(answer=gone)
    report = extract_scenes(stores, story, model)
    assert "start the server" in str(report.stopped)
    assert len(model.prompts) == 2


@pytest.mark.slow
@pytest.mark.parametrize("end", [KeyboardInterrupt, InterruptedError])
def test_an_interrupt_stores_what_was_read(stores: MemoryStores, story: str, end: type[BaseException]) -> None:
    """Ctrl-C, or a job that is cancelled, begins nothing more; what is finished by then is stored, the rest waits."""
    hang = threading.Event()

    def answers(messages: list[BaseMessage]) -> str:
        if number_in(messages) == 1:
            hang.wait(HANG_GUARD_S)
        return answer(messages)

    def interrupt(*_: int) -> None:
        while len(readers := readers_at_work()) > 1:
            readers[-1].join(0.01)
        raise end

    with pytest.raises(end):
        extract_scenes(stores, story, ScriptedChatModel(answer=answers), workers=3, progress=interrupt)
    hang.set()
    assert statuses(stores, story)[:3] == ["done", "none", "done"]
    extract_scenes(stores, story, ScriptedChatModel(answer=answer))
    assert statuses(stores, story) == ["done"] * SCENES


def readers_at_work() -> list[threading.Thread]:
    """Return the threads that still wait for a model."""
    return [each for each in threading.enumerate() if each.name == "novelgen-reading"]


@pytest.mark.slow
def test_an_estimate_counts_scenes_calls_and_tokens(stores: MemoryStores, story: str) -> None:
    """It asks no model; the provider's count is summed, and the price needs both prices."""
    every = estimate_extraction(stores, story)
    chapter = estimate_extraction(stores, story, choice=SceneChoice(chapter_index=1))
    assert (every.scenes, every.calls, chapter.calls) == (SCENES, SCENES, 3)
    assert every.input_tokens > chapter.input_tokens > 0
    assert every.output_tokens > chapter.output_tokens > 0
    assert every.price is None
    assert statuses(stores, story) == ["none"] * SCENES
    report = extract_scenes(stores, story, ScriptedChatModel(answer=answer))
    assert report.usage.uncounted_calls == SCENES
    assert report.price is None


def test_an_estimate_is_of_the_prompts_that_are_sent(stores: MemoryStores, story: str) -> None:
    """What is sent of a story without people is the estimate but for the lists, which have a third of their budget."""
    model = ScriptedChatModel(answer=answer)
    choice = SceneChoice(scenes=(StoryPosition(1, 1),), again=True)
    estimate = estimate_extraction(stores, story, choice=choice)
    extract_scenes(stores, story, model, choice=choice)
    sent = sum(estimate_tokens(message.text) for message in model.prompts[0])
    budget = stores.settings.memory.summarization.prompt_list_tokens
    assert sent <= estimate.input_tokens <= sent + budget
