"""JSON, tables and words as they are printed, in the language of the story."""

import io
import json
import logging

import pytest
from click.testing import CliRunner

from novelgen.models.context import ContextReport, PlannerReport, ReportIssue
from novelgen.models.position import utc_now
from novelgen.models.state import LOOP_WEIGHTS, EntityStateSnapshot
from runtime.doors.cli.labels import view_labels_for
from runtime.doors.cli.main import novelgen
from runtime.doors.cli.output import print_json, print_pairs, print_table, print_text
from runtime.doors.cli.views import facts_text, print_states, print_summary
from runtime.storage.models import MemoryFilter
from tests.runtime.doors.cli.conftest import Run
from tests.runtime.doors.cli.small_project import PROJECT


def test_json_is_of_models_lists_and_mappings(capsys: pytest.CaptureFixture[str]) -> None:
    """Chinese stays readable, and half a surrogate pair is escaped."""
    print_json({"filter": MemoryFilter(tags=["钥匙"]), "list": [1, None]})
    out = capsys.readouterr().out
    assert "钥匙" in out
    assert json.loads(out)["filter"]["tags"] == ["钥匙"]
    print_json({"text": "a\ud800b"})
    assert json.loads(capsys.readouterr().out) == {"text": "a\ud800b"}


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "gbk"])
def test_json_is_json_in_every_encoding(encoding: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What stdout cannot encode is escaped as JSON escapes it."""
    buffer = io.BytesIO()
    monkeypatch.setattr("sys.stdout", io.TextIOWrapper(buffer, encoding=encoding, write_through=True))
    print_json({"text": "钥匙 😀"})
    assert json.loads(buffer.getvalue().decode(encoding)) == {"text": "钥匙 😀"}


@pytest.mark.usefixtures("ingested")
def test_a_terminal_that_knows_no_chinese_breaks_nothing(run: Run) -> None:
    """Under an ASCII locale the readable view of a Chinese name is escaped and does not fail."""
    run.well("card", "add", PROJECT, "骆青荇")
    shown = CliRunner(charset="ascii").invoke(novelgen, ["card", "list", PROJECT])
    assert (shown.exit_code, "\\u9a86" in shown.stdout) == (0, True)


def test_people_are_shown_text_as_it_is(capsys: pytest.CaptureFixture[str]) -> None:
    """No markup, no control characters, Chinese as two columns, and nothing that is empty."""
    print_table(
        ("entity_id", "text"), [("M1", "[bold]he said[/bold] :smile: \x1b[31mred")], labels=view_labels_for("en")
    )
    out = capsys.readouterr().out
    assert "[bold]he said[/bold] :smile: [31mred" in out
    assert "\x1b" not in out
    print_table(("entity_id", "text"), [("M1", "青荇得知鹭鸶钥匙在阿雀那里" * 20)], labels=view_labels_for("en"))
    lines = capsys.readouterr().out.splitlines()
    assert all(sum(2 if each > "\u2e80" else 1 for each in line) <= 100 for line in lines)
    assert "".join(lines).count("雀") == 20
    print_pairs({"name": "Ada", "tags": "", "role": None})
    assert capsys.readouterr().out.split() == ["name", "Ada"]
    print_text("a\x07b\x1b[2J")
    assert capsys.readouterr().out == "ab[2J\n"


def test_a_warning_that_repeats_is_said_once_a_run(run: Run, capsys: pytest.CaptureFixture[str]) -> None:
    """Whatever is warned of again and again stands on stderr once, until the next command begins."""
    run("projects")
    for message in ("unknown field 'mood'", "unknown field 'mood'", "unknown field 'weather'"):
        logging.getLogger("runtime.files").warning(message)
    assert capsys.readouterr().err.count("unknown field 'mood'") == 1
    run("projects")
    logging.getLogger("runtime.files").warning("unknown field 'mood'")
    assert capsys.readouterr().err.count("unknown field 'mood'") == 1


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


def test_a_place_that_nobody_knows_is_not_told() -> None:
    """Who was seen in scene 2:1, where nobody says where that was, has no place."""
    seen = EntityStateSnapshot(
        project_id="story",
        entity_type="character",
        entity_id="C0",
        timestamp=utc_now(),
        state_data={"presence": {"location_id": None, "chapter_index": 2, "scene_index": 1}},
    )
    assert facts_text(seen, {}, view_labels_for("en")) == ""


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
    assert "规则（未采用模型的规划）" in out
    assert why not in out


def test_a_state_that_says_nothing_has_no_row(capsys: pytest.CaptureFixture[str]) -> None:
    """Nor has a cleared field of one that says something a name and a colon."""
    empty, cleared = (
        EntityStateSnapshot(
            project_id="p", entity_type="item", entity_id=f"I{number}", timestamp=utc_now(), state_data=data
        )
        for number, data in enumerate([{}, {"holder": "", "condition": "烧成灰"}])
    )
    print_states([empty], {"I0": "铜钥匙"}, view_labels_for("zh"))
    assert capsys.readouterr().out == ""
    print_states([empty, cleared], {"I0": "铜钥匙", "I1": "航海日志"}, view_labels_for("zh"))
    shown = capsys.readouterr().out
    assert "铜钥匙" not in shown
    assert "情形：烧成灰" in shown
    assert "持有者" not in shown


def test_chinese_words_of_cards() -> None:
    """Roles, fields of cards and lists are said as Chinese people write them; English stays as it was."""
    chinese, english = view_labels_for("zh"), view_labels_for("en")
    assert (chinese.role("protagonist"), english.role("protagonist")) == ("主角", "protagonist")
    assert chinese.role("守灯人") == "守灯人"
    assert (chinese.field("public_identity"), english.field("public_identity")) == ("身份", "identity")
    assert (chinese.listing(["何小满", "小满"]), english.listing(["Ada", "Ben"])) == ("何小满、小满", "Ada, Ben")
