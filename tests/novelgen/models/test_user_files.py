"""Models that are read from users' files, and plans as callers hold them, read by a request."""

import logging
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel, ValidationError

from novelgen import models
from novelgen.models.context import MemoryContextRequest, SceneMemoryContext
from novelgen.models.memory import EVENT_TYPES
from novelgen.models.plan import ChapterPlan, ScenePlan, foreign_field_names
from novelgen.models.record import SceneRecord
from novelgen.models.user_file import Character, CharactersConfig


def test_unknown_fields_are_kept_and_named_in_one_warning(caplog: pytest.LogCaptureFixture) -> None:
    """All unknown fields of a file, nested ones too, are named once and kept under extra."""
    data = {"chapter_number": 1, "mood": "dark", "scenes": [{"scene_number": 1, "weather": "rain"}]}
    with caplog.at_level(logging.WARNING):
        plan = ChapterPlan.model_validate(data)
    assert plan.extra == {"mood": "dark"}
    assert plan.scenes[0].extra == {"weather": "rain"}
    assert [record.getMessage() for record in caplog.records] == [
        "unknown fields kept under 'extra': ChapterPlan.mood, ScenePlan.weather"
    ]


def test_extra_survives_a_round_trip() -> None:
    """After dumping and reading again, and reading a plan leaves the caller's dict as it was."""
    plan = ScenePlan.model_validate({"scene_number": 1, "weather": "rain"})
    assert ScenePlan.model_validate(plan.model_dump()).extra == {"weather": "rain"}
    data = {"scene_number": 1, "weather": "rain"}
    ScenePlan.model_validate(data)
    assert data == {"scene_number": 1, "weather": "rain"}


def test_unknown_words_of_closed_lists_are_warned_of(caplog: pytest.LogCaptureFixture) -> None:
    """A scene type or intensity is kept, an event type becomes other, aloud."""
    with caplog.at_level(logging.WARNING):
        plan = ScenePlan(scene_number=1, scene_type="flashback", intensity="extreme")
    assert (plan.scene_type, plan.intensity) == ("flashback", "extreme")
    assert "'flashback'" in caplog.text
    assert "'extreme'" in caplog.text
    memory = {"memory_id": "M1", "content": "A duel.", "event_type": "duel_of_honour"}
    with caplog.at_level(logging.WARNING):
        record = SceneRecord.model_validate({"chapter_index": 1, "scene_index": 1, "memories": [memory]})
    assert record.memories[0].event_type == "other"
    assert "'duel_of_honour'" in caplog.text


@pytest.mark.parametrize(
    ("page", "beginning"),
    [
        ("file-formats.md", "`event_type` of a memory is one of"),
        ("file-formats.zh.md", "记忆的 `event_type` 是以下之一"),
    ],
)
def test_the_pages_list_every_type_of_event(page: str, beginning: str) -> None:
    """Whoever writes a record finds the closed list where records are told."""
    text = (Path(__file__).parents[3] / "docs/reference" / page).read_text(encoding="utf-8")
    listed = text[text.index(beginning) :].partition("\n\n")[0].replace("\n", " ")
    assert set(re.findall(r"[a-z_]+", listed)) >= EVENT_TYPES


PLAN = {"location": "the Salt House", "characters": ["Ines"], "purpose": "Open the iron door."}


class OwnPlan(BaseModel):
    """A plan of the caller's own, with a field that ScenePlan does not know."""

    location: str
    characters: list[str]
    purpose: str
    weather: str = "fog"


@dataclass
class OwnBeat:
    """A planner's object without any field of a scene plan."""

    place: str
    beat: str


@dataclass
class PlanOfSlots:
    """The same as a dataclass."""

    location: str
    characters: list[str]
    purpose: str
    weather: str = "fog"


@dataclass
class OwnChapter:
    """A chapter's plan of the caller's own."""

    chapter_title: str
    scenes: list[Any] = field(default_factory=list)


def request(**given: Any) -> MemoryContextRequest:
    """Return a request for scene 4 of chapter 5."""
    return MemoryContextRequest.model_validate(
        {"project_id": "demo", "chapter_index": 5, "scene_index": 4, "scene_plan": PLAN, **given}
    )


@pytest.mark.parametrize("plan", [PLAN, ScenePlan(**PLAN), OwnPlan(**PLAN), PlanOfSlots(**PLAN)])
def test_every_kind_of_plan_is_read_without_its_number(plan: Any, caplog: pytest.LogCaptureFixture) -> None:
    """Mapping, our model, own model and own dataclass say the same, and nothing is warned of."""
    with caplog.at_level(logging.WARNING):
        read = request(scene_plan=plan).scene_plan
    assert read.model_dump(include=set(PLAN)) == PLAN
    assert read.scene_number == 4
    assert read.extra == ({} if isinstance(plan, dict | ScenePlan) else {"weather": "fog"})
    assert not caplog.records


def test_a_plan_keeps_its_own_number_and_fields() -> None:
    """What it says of its number is not overwritten, fields of other programs stay, the caller's is not changed."""
    assert request(scene_plan=PLAN | {"scene_number": 9}).scene_plan.scene_number == 9
    given, model = dict(PLAN), ScenePlan(**PLAN)
    request(scene_plan=given)
    request(scene_plan=model)
    assert given == PLAN
    assert model.scene_number is None
    plan = PLAN | {"scene_id": "5_4", "pov": "Ines", "goal": "the door", "must_avoid": ["light"], "scene_title": "x"}
    assert request(scene_plan=plan).scene_plan.pov == "Ines"


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"scene_plan": {"charactors": ["Ines"]}}, "scene_plan has no field 'charactors'; did you mean 'characters'"),
        ({"scene_plan": {"Location": "x"}}, "did you mean 'location'"),
        (
            {"chapter_plan": {"scenes": [{"purpos": "x"}]}},
            r"chapter_plan.scenes\[0\] has no field 'purpos'; did you mean 'purpose'",
        ),
        ({"chapter_plan": {"chapter_titel": "x"}}, "did you mean 'chapter_title'"),
        ({"characters": {"protagonst": {"name": "x"}}}, "did you mean 'protagonist'"),
        ({"characters": {"protagonist": {"name": "x", "personalty": "y"}}}, "did you mean 'personality'"),
        ({"scene_plan": ScenePlan.model_validate({"charactors": ["Ines"]})}, "did you mean 'characters'"),
        (
            {"characters": CharactersConfig.model_validate({"protagonist": {"name": "x", "personalty": "y"}})},
            "did you mean 'personality'",
        ),
        (
            {"scene_plan": {"cast": ["Ines"], "goal": "the key"}},
            r"only 'cast' \(did you mean 'characters'\?\), 'goal' \(did you mean 'purpose'\?\); a plan has location",
        ),
        ({"scene_plan": {"人物": ["沈青"], "天气": "雪"}}, r"only '人物' \(did you mean 'characters'\?\), '天气'"),
        ({"scene_plan": OwnBeat(place="the mill", beat="find the key")}, "'place' .did you mean 'location'"),
        ({"scene_plan": ScenePlan.model_validate({"goal": "the key", "scene_number": 4})}, "'goal' .did you mean"),
        ({"scene_plan": {"characters": ["Ines"] * 201}}, "holds 201 names; a scene has at most 200"),
    ],
)
def test_a_misspelt_field_is_an_error_that_names_the_right_one(given: dict[str, Any], told: str) -> None:
    """In whatever part of the request it stands."""
    with pytest.raises(ValidationError, match=told):
        request(**given)


def test_foreign_fields_of_a_plan_name_the_fields_that_they_may_mean() -> None:
    """A foreign field names the field that it may mean unless the plan fills that field."""
    plan = request(scene_plan={"purpose": "the door", "goal": "the key", "cast": ["Ines"], "mood": "dark"}).scene_plan
    assert foreign_field_names(plan) == ["'goal'", "'cast' (did you mean 'characters'?)", "'mood'"]
    assert foreign_field_names(request(scene_plan=PLAN).scene_plan) == []


def test_a_chapter_plan_gets_the_numbers_that_it_leaves_out() -> None:
    """Chapter and scenes when none is given, scenes of any kind; numbers told only partly cannot be guessed."""
    chapter = OwnChapter("The door", [PLAN, OwnPlan(**PLAN), ScenePlan(**PLAN)])
    read = request(chapter_plan=chapter).chapter_plan
    assert read is not None
    assert (read.chapter_number, read.chapter_title) == (5, "The door")
    assert [scene.scene_number for scene in read.scenes] == [1, 2, 3]
    assert request(chapter_plan=read).chapter_plan == read
    with pytest.raises(ValidationError, match=r"scenes\[1\]\.scene_number is missing"):
        request(chapter_plan={"scenes": [{"scene_number": 1}, {"purpose": "x"}]})
    assert ChapterPlan.model_validate({"chapter_number": 1, "scenes": [{"scene_number": 3}]}).scene(3)


def test_a_list_of_characters_is_enough_and_none_is_nothing() -> None:
    """Of models or mappings; arguments that are passed on as None are left out."""
    read = request(characters=[Character(name="Ines"), {"name": "Brannoc", "aliases": ["the harbour master"]}])
    assert [each.name for each in read.characters.everyone()] == ["Ines", "Brannoc"]
    read = request(characters=None, chapter_plan=None, settings=None)
    assert (read.characters.everyone(), read.chapter_plan, read.settings) == ([], None, None)


def test_a_context_always_has_a_report() -> None:
    """One without, from a test or a file of before that holds null, has an empty report."""
    fields = {"project_id": "mill", "chapter_index": 1, "scene_index": 2, "retrieval_timestamp": "2026-01-01T00:00:00Z"}
    for context in (SceneMemoryContext(**fields), SceneMemoryContext(**fields, report=None)):
        assert (context.report.items, context.report.story_version) == ([], None)
    with pytest.raises(ValidationError, match="report"):
        SceneMemoryContext(**fields, report="none")


def test_the_models_come_from_one_place() -> None:
    """Seed 004.6: `from novelgen.models import SceneMemoryContext` works, and for every other model alike."""
    assert {"SceneMemoryContext", "ScenePlan", "StoryMemoryChunk", "EntityStateSnapshot"} <= set(dir(models))
    assert all(getattr(models, name) is not None for name in dir(models) if name[0].isupper())
    assert models.SceneMemoryContext is SceneMemoryContext
