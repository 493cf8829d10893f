"""Checks of drafts and stored scenes in real stores: listed, judged, waived, degraded, and never of later."""

import itertools
import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from novelgen.errors import (
    ConfigurationError,
    DeadlineExceededError,
    InvalidPositionError,
    UnknownProjectError,
    UnknownSceneError,
    UserInputError,
)
from novelgen.language.normalise import SCENE_CHARACTER_LIMIT
from novelgen.models.continuity import DraftCheck
from novelgen.models.plan import ScenePlan
from novelgen.models.position import StoryPosition
from runtime.ingest.indexing import drain_outbox
from runtime.settings import load_settings
from runtime.stores import MemoryStores
from runtime.story.draft_checker import MAX_SENTENCE_QUERIES, find_by_sentences
from runtime.story.story import Story
from tests.runtime.story.drowned_story import DEAD_ACT, SECRET, TEXTS, tell_drowned_story
from tests.support.scripted_chat_model import ScriptedChatModel, answering

_numbers = itertools.count(1)


@pytest.fixture
def project(stores: MemoryStores) -> str:
    """The story in which Tobias drowns in 2:1."""
    project_id = f"drowned-{next(_numbers)}"
    tell_drowned_story(stores, project_id)
    return project_id


def checked(stores: MemoryStores, project: str, text: str = DEAD_ACT, **asked: Any) -> DraftCheck:
    """Check a draft of scene 3:1 without a model, or as asked."""
    given = {"chapter_index": 3, "scene_index": 1, "use_model": "model" in asked, **asked}
    return Story(stores, project).check(text=text, **given)


def problems(check: DraftCheck) -> list[tuple[str, str]]:
    """Return stage and kind of what went wrong; that the story waits to be indexed is no wonder here."""
    return [(each.stage, each.kind) for each in check.report.issues if each.kind != "stale"]


def said_of(check: DraftCheck, name: str = "Tobias Fenn") -> list[str]:
    """Return what the check lists of one matter."""
    return [saying.text for each in check.touched if each.name == name for saying in each.sayings]


@pytest.mark.parametrize("text", [DEAD_ACT, f"Dawn.\n\n{DEAD_ACT}"])
def test_what_the_story_says_of_the_dead_stands_first(stores: MemoryStores, project: str, text: str) -> None:
    """Nobody judged: the list quotes the draft where it stands, and the scene of the death."""
    check = checked(stores, project, text)
    first = check.touched[0]
    start, end = first.draft_span
    assert text[start:end].strip() == first.draft_quote
    assert "Tobias Fenn walked" in first.draft_quote
    assert (first.kind, first.entity_id) == ("person", "C1")
    assert (first.sayings[0].chapter_index, first.sayings[0].scene_index) == (2, 1)
    assert (check.language, problems(check), check.findings) == ("en", [], [])
    assert (check.checked.scenes_before, check.checked.memories_before) == (2, 2)
    assert (check.checked.is_judged, check.compared_with) == (False, "unjudged")


@pytest.mark.slow
def test_a_plan_that_names_a_death_silences_nothing(stores: MemoryStores, project: str) -> None:
    """The list is the same whatever the plan says."""
    plan = ScenePlan(purpose="Tobias Fenn is dead; Ilse mourns.", characters=["Tobias Fenn"])
    assert said_of(checked(stores, project, scene_plan=plan)) == said_of(checked(stores, project))


def test_nothing_of_later_is_seen(stores: MemoryStores, project: str) -> None:
    """Before his death nothing tells it, and a fact of a later scene is no evidence, however alike the draft is."""
    early = checked(stores, project, f"{DEAD_ACT} {SECRET}", chapter_index=2, scene_index=1)
    assert not any("drown" in each for each in said_of(early))
    at_its_scene = checked(stores, project, SECRET)
    for check, cut in ((early, (2, 1)), (at_its_scene, (3, 1))):
        assert check.evidence
        assert all((each.chapter_index, each.scene_index) < cut for each in check.evidence)
        assert "will" not in json.dumps([each.model_dump() for each in check.evidence])
    later = checked(stores, project, SECRET, chapter_index=4, scene_index=1)
    assert any(SECRET in each.text for each in later.evidence)


@pytest.mark.slow
def test_sentences_are_compared_with_what_lies_before_each_in_its_order(stores: MemoryStores, project: str) -> None:
    """Each by itself, blank ones not asked; of a long draft they are joined and none is left out."""
    drain_outbox(stores, project)
    asked = [SECRET, " ", "Tobias Fenn drowned when the sluice broke."]
    similar = find_by_sentences(stores, project, sentences=asked, as_of=StoryPosition(3, 1), timeout_s=20).similar
    assert [bool(each) for each in similar] == [True, False, True]
    assert max(similar[2], key=lambda each: similar[2][each]) == "M002"
    assert all("M003" not in each for each in similar)
    later = find_by_sentences(stores, project, sentences=[SECRET], as_of=StoryPosition(4), timeout_s=20).similar[0]
    assert max(later, key=lambda each: later[each]) == "M003"
    asked = [f"Day {number}." for number in range(MAX_SENTENCE_QUERIES)] + [TEXTS[2, 1]]
    similar = find_by_sentences(stores, project, sentences=asked, as_of=StoryPosition(3, 1), timeout_s=20).similar
    assert len(similar) == len(asked)
    assert similar[0] is similar[1]
    assert "M002" in similar[-1]
    blank = find_by_sentences(stores, project, sentences=["", "\n"], as_of=StoryPosition(3), timeout_s=20)
    assert blank.similar == [{}, {}]


def test_a_text_that_is_none_is_refused(stores: MemoryStores, project: str) -> None:
    """Nothing, and more than a scene may hold, is the caller's to change."""
    for text in ("", " \n", "\ufeff", "x" * (SCENE_CHARACTER_LIMIT + 1)):
        with pytest.raises(UserInputError, match=r"draft (of scene 3:1|has 2,000,001)"):
            checked(stores, project, text)


def test_a_plan_file_that_is_wrong_is_said(stores: MemoryStores, project: str) -> None:
    """The draft is checked without the plan; one that is given counts in its place."""
    file = stores.paths(project).chapter_plan_file(3)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("{", encoding="utf-8")
    check = checked(stores, project)
    assert problems(check) == [("plan", "malformed")]
    assert said_of(check)
    assert problems(checked(stores, project, scene_plan=ScenePlan(purpose="breakfast"))) == []


# --- What fails inside ---


@pytest.mark.slow
def test_without_a_model_nobody_judges(stores: MemoryStores, project: str) -> None:
    """No failure, also where one is at hand and not wanted; an unknown point of view, project or place is said."""
    check = Story(stores, project).check(text=DEAD_ACT, chapter_index=3, scene_index=1)
    assert (problems(check), check.findings, check.checked.model_calls) == ([], [], 0)
    model = answering()
    check = Story(stores, project).check(text=DEAD_ACT, chapter_index=3, scene_index=1, model=model, use_model=False)
    assert (model.prompts, check.checked.model_calls) == ([], 0)
    assert problems(checked(stores, project, pov="Nobody")) == [("plan", "unresolved")]
    assert problems(checked(stores, project, pov="Ilse Moor")) == []
    assert problems(checked(stores, project, scene_plan=ScenePlan(pov="C0"))) == []
    with pytest.raises(UnknownProjectError):
        checked(stores, "nowhere")
    with pytest.raises(InvalidPositionError):
        checked(stores, project, chapter_index=-1)


def test_a_model_that_cannot_be_built(tmp_path: Path) -> None:
    """Of the settings it costs its part; one that the caller names is the caller's error."""
    settings = load_settings(projects_dir=tmp_path, model="nobody:nothing", memory={"embedding_model": "fake:8"})
    with MemoryStores(settings) as stores:
        tell_drowned_story(stores, "drowned")
        check = Story(stores, "drowned").check(text=DEAD_ACT, chapter_index=3, scene_index=1)
        assert ("model", "unavailable") in [(each.stage, each.kind) for each in check.report.issues]
        assert said_of(check)
        with pytest.raises(ConfigurationError):
            checked(stores, "drowned", model="nobody:else")


@pytest.mark.slow
def test_a_database_that_cannot_be_read_is_said(tmp_path: Path) -> None:
    """A valid check comes, with nothing in it but why."""
    settings = load_settings(projects_dir=tmp_path, memory={"embedding_model": "fake:8"})
    with MemoryStores(settings) as stores:
        tell_drowned_story(stores, "drowned")
        database = stores.paths("drowned").database
    with sqlite3.connect(database) as connection:
        connection.execute("PRAGMA foreign_keys = OFF")
        connection.execute("DROP TABLE state_changes")
    with MemoryStores(settings) as stores:
        check = checked(stores, "drowned")
    assert "story" in {each.stage for each in check.report.issues}
    assert (check.findings, check.evidence) == ([], [])
    assert DraftCheck.model_validate(check.model_dump(mode="json")) == check


def test_an_embedding_model_that_fails_costs_meaning_alone(tmp_path: Path) -> None:
    """The list stands, and evidence comes by names and words."""
    with MemoryStores(load_settings(projects_dir=tmp_path, memory={"embedding_model": "fake:8"})) as stores:
        tell_drowned_story(stores, "drowned")
    broken = load_settings(projects_dir=tmp_path, memory={"embedding_model": "nobody:nothing"})
    with MemoryStores(broken) as stores:
        check = checked(stores, "drowned")
    assert "semantic" in {each.stage for each in check.report.issues}
    assert said_of(check)
    assert check.evidence


# --- A model that judges ---


def judged_by(*, stands: bool) -> ScriptedChatModel:
    """Return a model that finds one contradiction and looks at it again."""

    def answer(messages: Any) -> str:
        asked = "\n".join(str(each.content) for each in messages)
        if "verdicts" in asked:
            verdict = {"id": "K1", "stands": stands, "reason": "Both did.", "confidence": 0.9}
            return json.dumps({"verdicts": [verdict]})
        shown = next(line.split(" |")[0] for line in asked.splitlines() if "locked the Tide Mill at dusk" in line)
        found = {
            "quote": "Ilse Moor had locked the Tide Mill alone",
            "evidence": [{"id": shown, "quote": "Ilse Moor and Tobias Fenn locked the Tide Mill at dusk"}],
            "kind": "invented",
            "why": "Both locked it (1:1).",
            "severity": "medium",
            "confidence": 0.9,
            "fix": "Let both have locked it.",
        }
        return json.dumps({"contradictions": [found]})

    return ScriptedChatModel(answer=answer)


ALONE = "That first dusk Ilse Moor had locked the Tide Mill alone."


def test_a_model_finds_contradictions(stores: MemoryStores, project: str) -> None:
    """Its finding has both quotes and costs two calls."""
    check = checked(stores, project, ALONE, model=judged_by(stands=True))
    assert problems(check) == []
    [found] = check.findings
    start, end = found.draft_span
    assert (found.kind, ALONE[start:end]) == ("invented", found.draft_quote)
    assert (check.checked.is_judged, check.compared_with, check.touched) == (True, "facts", [])
    assert (found.evidence[0].chapter_index, found.fix) == (1, "Let both have locked it.")
    assert check.checked.model_calls == 2


# --- Waivers ---


@pytest.mark.slow
def test_a_waived_finding_is_silent_until_it_is_told_again(stores: MemoryStores, project: str) -> None:
    """It stands among the waived with its note, also where the draft around it changes."""
    model = judged_by(stands=True)
    [found] = checked(stores, project, ALONE, model=model).findings
    Story(stores, project).checks.waive(finding_id=found.finding_id, note="she lies")
    check = checked(stores, project, f"The wind dropped. {ALONE}", model=model)
    assert (check.findings, [each.waived_note for each in check.waived]) == ([], ["she lies"])
    assert [(each.finding_id, each.note) for each in Story(stores, project).checks.list_waivers()] == [
        (found.finding_id, "she lies")
    ]
    assert Story(stores, project).checks.unwaive(finding_id=found.finding_id).note == "she lies"
    assert [each.finding_id for each in checked(stores, project, ALONE, model=model).findings] == [found.finding_id]


def test_what_is_no_finding_or_scene_is_refused(stores: MemoryStores, project: str) -> None:
    """Only findings are waived, only waived ones told again, only stored scenes checked."""
    with pytest.raises(UserInputError, match="'X1' is no id"):
        Story(stores, project).checks.waive(finding_id="X1")
    with pytest.raises(UserInputError, match="waived are: none"):
        Story(stores, project).checks.unwaive(finding_id="K0123456789ab")
    with pytest.raises(UnknownSceneError, match="'9:1'"):
        Story(stores, project).checks.check_stored(chapter_index=9, scene_index=1, use_model=False)
    with pytest.raises(UserInputError, match="without its chapter"):
        Story(stores, project).checks.check_stored(scene_index=1, use_model=False)


# --- What is stored ---


def test_stored_scenes_are_checked_against_what_came_before_each(stores: MemoryStores, project: str) -> None:
    """Each scene is held against what came before it alone."""
    seen: list[tuple[int, int]] = []
    book = Story(stores, project).checks.check_stored(use_model=False, progress=lambda *done: seen.append(done))
    assert [(each.chapter_index, each.checked.scenes_before) for each in book.checks] == [(1, 0), (2, 1), (3, 2)]
    assert [each.findings for each in book.checks] == [[], [], []]
    assert seen == [(1, 3), (2, 3), (3, 3)]
    [one] = Story(stores, project).checks.check_stored(chapter_index=2, scene_index=1, use_model=False).checks
    assert one.chapter_index == 2


def test_a_list_that_is_late_is_said(stores: MemoryStores, project: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where its time is over, the check says so, and still comes."""

    def late(*_: Any) -> list[Any]:
        raise DeadlineExceededError("touched did not return in time")

    monkeypatch.setattr("runtime.story.draft_checker.find_touched", late)
    check = checked(stores, project)
    assert check.touched == []
    assert "touched" in {each.stage for each in check.report.issues}


@pytest.mark.slow
def test_a_step_after_the_writer_checks_and_repairs(stores: MemoryStores, project: str) -> None:
    """The draft comes out with its check; with a writer what was found is changed once, and checked again."""
    plan = {"purpose": "breakfast", "characters": ["Ilse Moor"]}
    written = {"chapter_index": 3, "scene_index": 1, "draft": ALONE, "scene_plan": plan}
    story = Story(stores, project, chat_model=judged_by(stands=True))
    done = story.checks.as_runnable(use_model=False).invoke(written)
    assert (done.draft, done.check.findings, done.check.checked.is_judged) == (ALONE, [], False)
    found = story.checks.as_runnable().invoke(written).check
    mended = {
        "passages": [{"id": ["K1"], "old": found.findings[0].draft_quote, "new": "Both had locked the Tide Mill"}]
    }
    writer = answering(json.dumps(mended))
    repaired = story.checks.as_runnable(writer=writer, repair=True).invoke(written)
    assert (len(writer.prompts), repaired.is_repaired, repaired.check.findings) == (1, True, [])
    with pytest.raises(UserInputError):
        story.checks.as_runnable(repair=True)
