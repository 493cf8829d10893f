"""The words of a view in the language of its story."""

import pytest

from novelgen.models.context import ContextReport, PlannerReport, ReportIssue
from novelgen.models.position import utc_now
from novelgen.models.state import LOOP_WEIGHTS, EntityStateSnapshot
from runtime.doors.cli.labels import view_labels_for
from runtime.doors.cli.views import facts_text, print_summary

PARTS = "relevance words novelty importance entities open_loops spreading surroundings summaries beside".split()
"""Parts of the score of a memory."""

STORED = (*LOOP_WEIGHTS, "age", "locked", "hinted", "unlocked", "known", "leaked_secret", "hint", "flag")
"""How heavy and how old a thread is, and how secrets stand."""


def test_words_that_are_stored_have_chinese_words() -> None:
    """Lists of a Chinese story, and why a memory was chosen, have no English word in them."""
    labels = view_labels_for("zh")
    told = {each: labels.value(each) for each in STORED} | {each: labels.reason(each) for each in PARTS}
    assert [word for word, chinese in told.items() if chinese.isascii()] == []
    assert view_labels_for("en").value("age") == "age"


def test_a_place_that_nobody_knows_is_told_by_its_scene_alone() -> None:
    """Who was seen somewhere in scene 2:1 was last seen there, without a question mark."""
    seen = EntityStateSnapshot(
        project_id="story",
        entity_type="character",
        entity_id="C0",
        timestamp=utc_now(),
        state_data={"presence": {"location_id": None, "chapter_index": 2, "scene_index": 1}},
    )
    assert facts_text(seen, {}, view_labels_for("en")) == "last seen at: scene 2:1"


@pytest.mark.parametrize(("chosen", "told"), [("", "mood: calm"), ("zh", "情绪：calm")])
def test_the_chosen_language_goes_before_the_storys(monkeypatch: pytest.MonkeyPatch, chosen: str, told: str) -> None:
    """NOVELGEN_LANG says in which language the labels of an English story are; its own words stay."""
    monkeypatch.setenv("NOVELGEN_LANG", chosen)
    state = EntityStateSnapshot(
        project_id="story",
        entity_type="character",
        entity_id="C0",
        timestamp=utc_now(),
        state_data={"emotional_state": "calm"},
    )
    assert facts_text(state, {}, view_labels_for("en")) == told


def test_what_stands_among_the_issues_is_not_told_again(capsys: pytest.CaptureFixture[str]) -> None:
    """Why the model's plan was not used is long, and said once on a screen."""
    why = "chat model 'x' needs a package"
    report = ContextReport(
        planner=PlannerReport(used="rules", reason=f"the model's plan was not used: {why}"),
        issues=[ReportIssue(stage="plan", kind="unavailable", message=why)],
    )
    print_summary(report, view_labels_for("zh-CN"), written_to=None)
    out = capsys.readouterr().out
    assert "规则 (未采用模型的规划)" in out
    assert why not in out
