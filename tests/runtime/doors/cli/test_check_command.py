"""`novelgen check`."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from novelgen.language.language import count_cjk
from novelgen.models.continuity import CheckedDraft, DraftCheck
from runtime.doors.cli.labels import view_labels_for
from runtime.index.locations import ChromaFolder
from runtime.index.process import DEFAULT_REGISTRY
from runtime.settings import load_settings
from runtime.stores import MemoryStores
from tests.runtime.doors.cli.conftest import Run
from tests.runtime.story.drowned_story import DEAD_ACT, tell_drowned_story
from tests.support.openai_stub import StubCall, openai_stub

PROJECT = "mill"
NO_MODEL = "--no-model"


@pytest.fixture(scope="module")
def _told_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("told")
    with MemoryStores(load_settings(projects_dir=folder, memory={"embedding_model": "fake:32"})) as stores:
        tell_drowned_story(stores, PROJECT, index=True)
    return folder / PROJECT


@pytest.fixture
def drowned(_told_once: Path, projects_dir: Path) -> Path:
    """The story in which Tobias drowns in 2:1; a copy of its own for each test."""
    return Path(shutil.copytree(_told_once, projects_dir / PROJECT))


@pytest.fixture
def index_kept_open(drowned: Path) -> Iterator[None]:
    """Keep the process of the index between the commands of a test, since each start of it takes seconds."""
    process = DEFAULT_REGISTRY.borrow(ChromaFolder(drowned / "data" / "vectors"))
    yield
    DEFAULT_REGISTRY.give_back(process)


def draft(tmp_path: Path, text: str = DEAD_ACT) -> str:
    """Write a draft and return its file."""
    file = tmp_path / "draft.txt"
    file.write_text(text, encoding="utf-8")
    return str(file)


def drafts_file(tmp_path: Path, *lines: dict[str, Any] | str) -> str:
    """Write a file of drafts and return it."""
    file = tmp_path / "drafts.jsonl"
    file.write_text("\n".join(line if isinstance(line, str) else json.dumps(line) for line in lines), encoding="utf-8")
    return str(file)


def line(draft_id: str = "D1", **changes: Any) -> dict[str, Any]:
    """Return a line of a file of drafts."""
    return {"id": draft_id, "chapter_index": 3, "scene_index": 1, "text": DEAD_ACT, **changes}


@pytest.mark.slow
def test_what_the_draft_touches_is_shown_with_both_sides(run: Run, drowned: Path, tmp_path: Path) -> None:
    """The headline says that nobody judged it; the quote of the draft stands beside what the story says, with its
    scene. That no model was asked is no failure, and nothing was found.
    """
    arguments = ("check", PROJECT, "--chapter", "3", "--scene", "1", "--text", draft(tmp_path), NO_MODEL)
    result = run(*arguments)
    assert (result.exit_code, result.stderr) == (0, "")
    shown = result.stdout
    for part in ("Continuity of scene 3:1", "nobody judged this draft", "person: Tobias Fenn", "“Tobias Fenn", "2:1"):
        assert part in shown
    assert shown.index("nobody judged") < shown.index("person: Tobias Fenn")
    assert run(*arguments, "--strict").exit_code == 0
    result = run(*arguments, "--json")
    assert (result.exit_code, result.stderr) == (0, "")
    check = json.loads(result.stdout)
    first = check["touched"][0]
    start, end = first["draft_span"]
    assert DEAD_ACT[start:end].strip() == first["draft_quote"]
    assert (check["findings"], check["report"]["issues"], check["checked"]["is_judged"]) == ([], [], False)


@pytest.mark.parametrize(
    ("checked", "expected"),
    [
        ({"sentences": 1, "facts_before": 3, "is_judged": True}, "facts"),
        ({"sentences": 1, "facts_before": 3}, "unjudged"),
        ({"sentences": 1, "is_judged": True}, "text"),
        ({"sentences": 1, "scenes_before": 2}, "unjudged"),
        ({"sentences": 1}, "nothing_stored"),
        ({}, "nothing_read"),
    ],
)
def test_no_finding_is_told_by_what_was_compared(checked: dict[str, Any], expected: str) -> None:
    """A check that read nothing says neither that all is well nor that nothing is stored; in both languages."""
    done = DraftCheck(project_id="mill", chapter_index=1, scene_index=1, checked=CheckedDraft.model_validate(checked))
    assert done.compared_with == expected
    chinese = view_labels_for("zh")[f"line.no_findings_{done.compared_with}"]
    assert count_cjk(chinese) > 5


@pytest.mark.slow
def test_a_draft_from_stdin(run: Run, drowned: Path) -> None:
    """What it was compared with is told."""
    asked = ("check", PROJECT, "--chapter", "3", "--scene", "1", "--text", "-", NO_MODEL, "--strict")
    result = run.well(*asked, answer="Ilse Moor walked to the harbour.")
    assert "nobody judged this draft" in result.stdout
    assert "sentences: 1, against scenes: 2" in result.stdout


@pytest.mark.slow
def test_words_of_the_authors_list_are_told(run: Run, drowned: Path, tmp_path: Path) -> None:
    """Of a draft and of stored scenes, with how often and where; remarks of the list are no words."""
    (drowned / "avoid.txt").write_text("# platform\n\nkitchen\nGood morning\nplatform\n", encoding="utf-8")
    asked = ("check", PROJECT, "--chapter", "3", "--scene", "1", "--text", draft(tmp_path), NO_MODEL)
    assert [each["word"] for each in run.json(*asked)["avoided"]] == ["kitchen", "Good morning"]
    shown = run(*asked).stdout
    assert "words to avoid" in shown
    assert "walked into the kitchen" in shown
    (drowned / "avoid.txt").write_text("drowned", encoding="utf-8")
    assert "words to avoid" in run("check", PROJECT, "--stored", NO_MODEL).stdout


def judging(call: StubCall) -> None:
    """Answer a check as a model that finds the dead man at breakfast."""
    prompt = "\n".join(str(each["content"]) for each in call.payload["messages"])
    if "verdicts" in prompt:
        call.say(json.dumps({"verdicts": [{"id": "K1", "stands": True, "confidence": 0.9}]}))
        return
    shown = next(line.split(" |")[0] for line in prompt.splitlines() if "drowned" in line and line[:1] in "EF")
    found = {
        "quote": "Tobias Fenn walked into the kitchen",
        "evidence": [{"id": shown, "quote": "drowned"}],
        "kind": "dead_or_absent",
        "why": "He drowned.",
        "confidence": 0.9,
    }
    call.say(json.dumps({"contradictions": [found]}))


@pytest.mark.slow
def test_a_waived_finding_is_shown_on_request_only(
    run: Run, drowned: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the note; what is told again is shown again; --strict fails on what stands."""
    with openai_stub(judging) as stub:
        monkeypatch.setenv("OPENAI_BASE_URL", stub.base_url)
        monkeypatch.setenv("OPENAI_API_KEY", "none")
        asked = (
            "check",
            PROJECT,
            "--chapter",
            "3",
            "--scene",
            "1",
            "--text",
            draft(tmp_path),
            "--model",
            "openai:stub",
        )
        shown = run(*asked).stdout
        for part in ("dead or absent", "“Tobias Fenn walked", "He drowned."):
            assert part in shown
        assert "nobody judged" not in shown
        assert run(*asked, "--strict").exit_code == 1
        [found] = run.json(*asked)["findings"]
        run.well("check", PROJECT, "--waive", found["finding_id"], "--note", "a ghost")
        assert "Tobias Fenn walked" not in run(*asked).stdout
        assert "1 more is meant to be so" in run(*asked).stdout
        shown = run(*asked, "--with-waived").stdout
        assert "not shown" not in shown
        assert "waived: a ghost" in shown
        run.well(*asked, "--strict")
        told = run.json("check", PROJECT, "--unwaive", found["finding_id"])
        assert told == {"finding_id": found["finding_id"], "note": "a ghost", "change_id": 2}
        assert "Tobias Fenn walked" in run(*asked).stdout
    assert run("check", PROJECT, "--unwaive", found["finding_id"]).exit_code == 2
    assert run("check", PROJECT, "--waive", "X1").exit_code == 2


@pytest.mark.slow
@pytest.mark.usefixtures("index_kept_open")
def test_many_drafts_get_a_file_each(run: Run, drowned: Path, tmp_path: Path) -> None:
    """Other fields are not read, a plan may be there, and each is cut at its own scene."""
    lines = [
        line("late", secret="the answer", scene_plan={"purpose": "breakfast"}),
        line("early", chapter_index=2),
        line("other") | {"draft_id": "named"},
    ]
    out = tmp_path / "out"
    asked = ("--drafts", drafts_file(tmp_path, *lines), "--out", str(out), NO_MODEL, "--workers", "2")
    result = run("check", PROJECT, *asked)
    assert (result.exit_code, result.stdout) == (0, "")
    assert "3 of 3 checks written" in result.stderr
    checks = {each.stem: json.loads(each.read_text(encoding="utf-8")) for each in out.iterdir()}
    assert all(check["issues"] == check["findings"] for check in checks.values())
    assert sorted(checks) == ["early", "late", "named"]
    assert [bool(checks[name]["touched"]) for name in ("late", "early")] == [True, True]
    assert "the answer" not in json.dumps(checks)
    places = [(each["chapter_index"], each["scene_index"]) for each in checks["early"]["evidence"]]
    assert places
    assert max(places) < (2, 1)


@pytest.mark.slow
@pytest.mark.usefixtures("index_kept_open")
def test_a_bad_draft_does_not_stop_the_others(run: Run, drowned: Path, tmp_path: Path) -> None:
    """Its line is named; ids that are paths, ids that come twice and empty texts are refused."""
    lines = [line(), line("../evil"), "{", line("d1"), line("empty", text=" "), line("good")]
    out = tmp_path / "out"
    result = run("check", PROJECT, "--drafts", drafts_file(tmp_path, *lines), "--out", str(out), NO_MODEL)
    assert result.exit_code == 1
    for number in (2, 3, 4, 5):
        assert f"line {number}" in result.stderr
    assert "2 of 6 checks written" in result.stderr
    assert sorted(each.name for each in out.iterdir()) == ["D1.json", "good.json"]
    assert not (tmp_path / "evil.json").exists()


@pytest.mark.slow
@pytest.mark.usefixtures("index_kept_open")
def test_resuming_keeps_what_is_there(run: Run, drowned: Path, tmp_path: Path) -> None:
    """A file that is no check of that scene is written anew; without --resume all are."""
    out = tmp_path / "out"
    asked = ("--drafts", drafts_file(tmp_path, line(), line("D2")), "--out", str(out), NO_MODEL)
    run("check", PROJECT, *asked)
    (out / "D2.json").write_text("{}", encoding="utf-8")
    first = (out / "D1.json").stat().st_mtime_ns
    result = run("check", PROJECT, *asked, "--resume")
    assert "1 of 2 checks written" in result.stderr
    assert "1 were there" in result.stderr
    assert (out / "D1.json").stat().st_mtime_ns == first
    assert json.loads((out / "D2.json").read_text(encoding="utf-8"))["touched"]
    assert "2 of 2 checks written" in run("check", PROJECT, *asked).stderr


@pytest.mark.slow
@pytest.mark.usefixtures("index_kept_open")
def test_what_is_stored_is_checked(run: Run, drowned: Path) -> None:
    """The book, a chapter; a scene that is not there is bad input."""
    book = run.well("check", PROJECT, "--stored", NO_MODEL, "--json")
    told = json.loads(book.stdout)
    assert [each["checked"]["scenes_before"] for each in told["checks"]] == [0, 1, 2]
    assert "scenes checked: 3, findings: " in book.stderr
    chapter = run.json("check", PROJECT, "--stored", "--chapter", "2", NO_MODEL)
    assert [each["scene_index"] for each in chapter["checks"]] == [1]
    asked = ("check", PROJECT, "--stored", "--chapter", "2", "--scene", "9", NO_MODEL)
    assert run(*asked).exit_code == 2


@pytest.mark.slow
def test_bad_input_is_named(run: Run, drowned: Path, projects_dir: Path, tmp_path: Path) -> None:
    """An empty draft, an unknown project, a model that nobody has, and a file without drafts."""
    asked = ("--chapter", "3", "--scene", "1", "--text", "-")
    assert run("check", PROJECT, *asked, NO_MODEL, answer=" ").exit_code == 2
    assert run("check", "nowhere", *asked, NO_MODEL, answer="Ilse").exit_code == 2
    assert not (projects_dir / "nowhere").exists()
    assert run("check", PROJECT, *asked, "--model", "nobody:x", answer="Ilse").exit_code == 2
    out = tmp_path / "out"
    run.refused("check", PROJECT, "--drafts", drafts_file(tmp_path, ""), "--out", str(out), told="holds no draft")


@pytest.mark.slow
@pytest.mark.parametrize("encoding", ["gbk", "utf-16"])
def test_a_draft_is_read_as_a_manuscript_is(run: Run, drowned: Path, tmp_path: Path, encoding: str) -> None:
    """Another encoding is no hindrance, from a file and from stdin; a pipe of noise is refused in words."""
    file = tmp_path / "draft.txt"
    file.write_bytes("沈青推开门，雪落在她的肩上。她把铜钥匙交给了林海。".encode(encoding))
    asked = ("check", PROJECT, "--chapter", "3", "--scene", "1", NO_MODEL, "--json", "--text")
    assert run.json(*asked[:-2], "--text", str(file))["chapter_index"] == 3
    run.refused(*asked, str(tmp_path / "none.txt"), told="does not exist")


@pytest.mark.slow
def test_a_draft_may_be_a_word_document(run: Run, drowned: Path, tmp_path: Path) -> None:
    """The check lists what the story says of the person in it."""
    docx = pytest.importorskip("docx")
    document = docx.Document()
    document.add_paragraph(DEAD_ACT)
    document.save(str(tmp_path / "draft.docx"))
    found = run.json(
        "check", PROJECT, "--chapter", "3", "--scene", "1", NO_MODEL, "--text", str(tmp_path / "draft.docx")
    )
    assert found["touched"]
