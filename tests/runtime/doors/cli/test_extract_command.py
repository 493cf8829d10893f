"""`novelgen extract`, with a model server on loopback."""

import contextlib
import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.runtime.doors.cli.conftest import Run
from tests.runtime.doors.cli.small_project import PROJECT
from tests.support.openai_stub import OpenAiStub, StubCall, openai_stub

Model = Callable[[Callable[[StubCall], None]], contextlib.AbstractContextManager[OpenAiStub]]


def answer_to(call: StubCall) -> str:
    """Return two memories: one with the scene's first words for a quote, one with a quote of another scene."""
    scene = call.payload["messages"][1]["content"].split("===== the text =====\n")[1]
    quoted = {"content": "Something is known.", "entities": ["Ada"], "evidence": scene[:30]}
    unquoted = {"content": "Something else is known.", "evidence": "the cat sat on the mat"}
    return json.dumps({"summary": ["Something happens."], "memories": [quoted, unquoted]})


def answer_well(call: StubCall) -> None:
    """Answer about the scene that is asked for."""
    call.say(answer_to(call))


@pytest.fixture
def model(monkeypatch: pytest.MonkeyPatch) -> Model:
    """The settings name a model behind an OpenAI-compatible server, which is asked about scenes alone."""
    monkeypatch.setenv("NOVELGEN_MODEL", "openai:stub")
    monkeypatch.setenv("NOVELGEN_MEMORY__SUMMARIZATION__RECONCILE_CHAPTERS", "false")

    @contextlib.contextmanager
    def answering(answer: Callable[[StubCall], None]) -> Iterator[OpenAiStub]:
        with openai_stub(answer) as stub:
            monkeypatch.setenv("NOVELGEN_MODEL_BASE_URL", stub.base_url)
            yield stub

    return answering


def statuses(run: Run) -> list[str]:
    """Return the extraction status of every stored scene."""
    listed = run.json("scene", "list", PROJECT)["scenes"]
    return [each["scene"]["extraction_status"] for each in listed]


@pytest.mark.slow
def test_an_overdue_thread_is_told_at_the_end(run: Run, unrecorded: Path, model: Model) -> None:
    """A critical thread whose deadline has passed is named on stderr and in the report; one that has time is not."""
    for description, deadline in (("Who lit the lamp?", "1:2"), ("Who rows at night?", "99")):
        added = run.json("thread", "add", PROJECT, description, "--importance", "critical")
        loop_id = added["loop_id"]
        run.well("thread", "edit", PROJECT, loop_id, "--due-by", deadline)
    with model(answer_well):
        result = run("extract", PROJECT, "--json")
    warning = "critical threads are overdue: OL0 Who lit the lamp?"
    assert json.loads(result.stdout)["thread_warnings"] == [warning]
    assert warning in " ".join(result.stderr.split())


@pytest.mark.slow
def test_failures_are_told_and_taken_up_again(run: Run, unrecorded: Path, model: Model) -> None:
    """A failed scene ends the command with code 1 and its reason; `--retry` reads it again."""

    def refuse_ben(call: StubCall) -> None:
        scene = call.payload["messages"][1]["content"]
        call.say("I cannot." if "Ben sold" in scene else answer_to(call))

    with model(refuse_ben) as stub:
        result = run("extract", PROJECT)
        second = run.well("extract", PROJECT)
    assert f"1 scene failed before; read them again with `novelgen extract {PROJECT} --retry`" in second.stderr
    assert result.exit_code == 1
    assert "scene 2:2: no readable JSON object" in result.stderr
    assert f"novelgen extract {PROJECT} --retry" in result.stderr
    assert statuses(run) == ["done", "done", "done", "failed"]
    with model(answer_well) as stub:
        run.well("extract", PROJECT, "--retry")
    assert len(stub.calls) == 1
    assert statuses(run) == ["done"] * 4


@pytest.mark.slow
def test_a_scene_is_read_anew(run: Run, unrecorded: Path, model: Model) -> None:
    """`--scene` names scenes, `--again` all that a model read; a failure keeps the record and says so."""
    with model(answer_well) as stub:
        run.well("extract", PROJECT)
        first = len(stub.calls)
        named = run.json("extract", PROJECT, "--scene", "1:1", "--scene", "2:2")
        again = run("extract", PROJECT, "--again")
    assert [scene["had_record"] for scene in named["scenes"]] == [True, True]
    assert "4 done, 0 failed" in again.stdout
    assert len(stub.calls) == first + 2 + 4
    with model(lambda call: call.say("I cannot.")) as stub:
        failed = run("extract", PROJECT, "--scene", "1:1")
    assert failed.exit_code == 1
    assert "scene 1:1: no readable JSON object" in failed.stderr
    assert "its record of before is kept" in failed.stderr
    assert f"novelgen extract {PROJECT} --scene 1:1" in failed.stderr
    assert "--retry" not in failed.stderr
    assert statuses(run) == ["done"] * 4


def test_an_estimate_asks_nobody(run: Run, unrecorded: Path) -> None:
    """`--estimate` needs no model: scenes, calls, tokens, price; nothing is done, and where to name one is told."""
    plain = run("extract", PROJECT, "--estimate")
    priced = run.json("extract", PROJECT, "--estimate", "--price-in", "1", "--price-out", "2")
    assert plain.exit_code == 0
    assert "4 scenes to read: 6 calls" in plain.stdout, "one for each scene, and one at the end of each chapter"
    assert (priced["scenes"], priced["calls"]) == (4, 6)
    assert priced["price"] == pytest.approx((priced["input_tokens"] + 2 * priced["output_tokens"]) / 1e6)
    assert statuses(run) == ["none"] * 4
    result = run("extract", PROJECT)
    assert result.exit_code == 2
    assert "memory.summarization.model" in result.stderr
    run.refused("extract", PROJECT, "--knowledge", "--scene", "1:1", "--estimate", told="has no record")


@pytest.mark.slow
def test_what_it_took_is_told_before_and_after(run: Run, unrecorded: Path, model: Model) -> None:
    """Before it starts the estimate, on stderr; after it what became of each scene, what the provider counted, and what
    there is now.
    """
    with model(answer_well) as stub:
        result = run.well("extract", PROJECT, "--workers", "2", "--price-in", "1", "--price-out", "1")
    assert "4 scenes to read" in result.stderr
    assert "4 done, 0 failed" in result.stdout
    assert statuses(run) == ["done"] * 4
    assert len(stub.calls) == 4
    assert "4 in, 0 of them cached, 4 out" in result.stdout
    assert "There is now" in result.stdout


@pytest.mark.slow
def test_a_refused_key_ends_the_run(run: Run, unrecorded: Path, model: Model) -> None:
    """One request, code 1, the reason with its fix and how many scenes wait; none is marked failed."""
    with model(lambda call: call.refuse(401, "Incorrect API key provided")) as stub:
        result = run("extract", PROJECT)
        report = json.loads(run("extract", PROJECT, "--json").stdout)
    assert result.exit_code == 1
    assert len(stub.calls) == 2
    assert "set the right key" in result.stderr
    assert "4 scenes wait" in result.stderr
    assert (report["scenes"], report["waiting"]) == ([], 4)
    assert "401" in report["stopped"]
    assert statuses(run) == ["none"] * 4


def tell_who_knows(call: StubCall) -> None:
    """Say of the scene that Ada alone knows it, but for the last, in which Ben learns where the key was."""
    scene = call.payload["messages"][1]["content"]
    said = {"memories": [{"id": f"N{number}", "known_by": ["Ada"]} for number in (1, 2) if f"N{number} |" in scene]}
    if "Ben sold" in scene:
        said |= {"learned": [{"who": ["Ben"], "memories": ["M1"], "quote": "Ben sold the brass key"}]}
    call.say(json.dumps(said))


def known_to(run: Run, who: str) -> dict[str, dict[str, object]]:
    """Return what somebody knows, by id."""
    told = run.json("knows", PROJECT, who)
    return {each["source_id"]: each for each in told["known"]}


@pytest.mark.slow
@pytest.mark.usefixtures("ingested")
def test_knowledge_of_supplied_records_is_read(run: Run, model: Model) -> None:
    """`--knowledge` asks about scenes that have a record, each once, and `novelgen knows` tells what came of it."""
    assert "M001" not in known_to(run, "Ben")
    with model(tell_who_knows) as stub:
        assert "3 scenes to read: 3 calls" in run("extract", PROJECT, "--knowledge", "--estimate").stdout
        result = run.well("extract", PROJECT, "--knowledge", "--workers", "2")
        assert "3 done, 0 failed" in result.stdout
        assert len(stub.calls) == 3
        run.well("extract", PROJECT, "--knowledge")
        assert len(stub.calls) == 3
    learnt = known_to(run, "Ben")["M001"]
    assert (learnt["since_chapter"], learnt["since_scene"], learnt["quote"]) == (2, 2, "Ben sold the brass key")
    assert "M001" in known_to(run, "Ada")
    assert "M001" not in known_to(run, "Cornelius")


@pytest.mark.slow
def test_passes_at_the_end_of_chapters_are_counted(
    run: Run, unrecorded: Path, model: Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Their calls are among those of the model; chapters that were reconciled before are told apart."""

    def answer(call: StubCall) -> None:
        is_pass = "threads_ended" in call.payload["messages"][0]["content"]
        call.say('{"same_entities": [], "threads_ended": []}' if is_pass else answer_to(call))

    monkeypatch.delenv("NOVELGEN_MEMORY__SUMMARIZATION__RECONCILE_CHAPTERS")
    with model(answer) as stub:
        read = run("extract", PROJECT)
        calls = len(stub.calls)
        again = run("extract", PROJECT, "--reconcile")
    assert calls > 4
    assert f"model calls          {calls}" in read.stdout
    assert len(stub.calls) == calls
    assert "2 before" in again.stdout


@pytest.mark.slow
@pytest.mark.usefixtures("ingested")
def test_a_scene_not_read_for_knowledge_is_told_of(run: Run, model: Model) -> None:
    """Failures end the command with code 1 and their reason; the same command goes on from there."""

    def refuse_ben(call: StubCall) -> None:
        if "Ben sold" in call.payload["messages"][1]["content"]:
            call.say("I cannot.")
        else:
            tell_who_knows(call)

    with model(refuse_ben) as stub:
        result = run("extract", PROJECT, "--knowledge", "--json")
    assert result.exit_code == 1
    assert [scene["outcome"] for scene in json.loads(result.stdout)["scenes"]] == ["done", "done", "failed"]
    assert "scene 2:2: no readable JSON object" in result.stderr
    assert "1 scene waits to be read for who knows what" in result.stderr
    with model(tell_who_knows) as stub:
        run.well("extract", PROJECT, "--knowledge")
        assert len(stub.calls) == 1


@pytest.mark.slow
def test_short_forms_are_written_anew_and_taken_back(run: Run, unrecorded: Path, model: Model) -> None:
    """`--shorts` says what it takes, asks about each scene once, and one `undo` takes the whole run back."""

    def answer(call: StubCall) -> None:
        if "its short form now" in call.payload["messages"][1]["content"]:
            call.say(json.dumps({"shorts": [{"id": "M1", "short": "Something is known by now"}]}))
        else:
            answer_well(call)

    with model(answer) as stub:
        run.well("extract", PROJECT)
        assert "4 scenes to read: 4 calls" in run("extract", PROJECT, "--shorts", "--estimate").stdout
        result = run.json("extract", PROJECT, "--shorts")
        assert len(stub.calls) == 8
    assert [each["memories"] for each in result["scenes"]] == [1] * 4
    assert run("extract", PROJECT, "--shorts", "--knowledge").exit_code == 2
    assert "short forms" in run("undo", PROJECT).stdout
    assert "4 scenes to read" in run("extract", PROJECT, "--shorts", "--estimate").stdout
