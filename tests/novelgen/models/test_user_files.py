"""Models that are read from users' files."""

import logging
import re
from pathlib import Path

import pytest

from novelgen.models.memory import EVENT_TYPES
from novelgen.models.plan import ChapterPlan, ScenePlan
from novelgen.models.record import SceneRecord


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


def test_the_pages_list_every_type_of_event() -> None:
    """Whoever writes a record finds the closed list where records are told."""
    page = (Path(__file__).parents[3] / "docs/file-formats.md").read_text(encoding="utf-8")
    listed = page[page.index("`event_type` of a memory is one of") :].partition("\n\n")[0].replace("\n", " ")
    assert set(re.findall(r"[a-z_]+", listed)) >= EVENT_TYPES
