"""`novelgen search`, `entity`, `timeline` and `projects`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from runtime.doors.cli.labels import view_labels_for
from runtime.doors.cli.views import print_memories
from tests.runtime.doors.cli.conftest import Run
from tests.runtime.doors.cli.small_project import PROJECT
from tests.support.stories import MEMORIES


def test_search_shows_the_best_first(run: Run, ingested: Path) -> None:
    """The memory that answers comes with its id, scene and weight."""
    result = run("search", PROJECT, "Ben sold the brass key for two loaves", "--type", "memory")
    assert result.exit_code == 0
    first = next(line for line in result.stdout.splitlines() if line.startswith("M0"))
    assert first.startswith("M003")


@pytest.mark.parametrize(
    ("language", "mark"), [("en", "(outdated, replaced by M009)"), ("zh", "（已过时，后有 M009）")]
)
def test_search_marks_what_is_over(language: str, mark: str, capsys: pytest.CaptureFixture[str]) -> None:
    """What something later replaced is shown with its id, in the story's language; what holds has no mark."""
    over = MEMORIES[0].model_copy(update={"superseded_by": "M009"})
    print_memories([over, MEMORIES[1]], view_labels_for(language))
    shown = "".join(capsys.readouterr().out.split())
    assert shown.count("".join(mark.split())) == 1
    assert shown.index("".join(mark.split())) < shown.index("".join(MEMORIES[1].content[:12].split()))


def test_search_as_json_is_cut_and_filtered(run: Run, ingested: Path) -> None:
    """--as-of, --entity, --tag, --type and --top-k hold, and stdout is JSON alone."""
    early = json.loads(run("search", PROJECT, "brass key", "--as-of", "1:2", "--json").stdout)
    assert early
    assert {(each["chapter_index"], each["scene_index"]) for each in early} == {(1, 1)}
    of_ben = json.loads(run("search", PROJECT, "key", "--entity", "Ben", "--type", "memory", "--json").stdout)
    assert {each["source_id"] for each in of_ben} == {"M002", "M003"}
    tagged = json.loads(run("search", PROJECT, "key", "--tag", "key", "--json").stdout)
    assert [each["source_id"] for each in tagged] == ["M001"]
    assert len(json.loads(run("search", PROJECT, "key", "--top-k", "1", "--json").stdout)) == 1


def test_search_that_finds_nothing_says_so(run: Run, ingested: Path) -> None:
    """An empty result is an empty list, and a word for people."""
    nothing = ("search", PROJECT, "key", "--tag", "no such tag")
    assert run(*nothing).stdout.strip() == "nothing"
    assert json.loads(run(*nothing, "--json").stdout) == []


def test_entities_are_listed_as_the_story_has_shown_them(run: Run, ingested: Path) -> None:
    """At the end all are there; before his scene the harbour master is not."""
    everyone = json.loads(run("entity", "list", PROJECT, "--json").stdout)
    early = json.loads(run("entity", "list", PROJECT, "--as-of", "2:1", "--json").stdout)
    assert {each["name"] for each in everyone} >= {"Ada", "Ben", "Cornelius"}
    assert "Cornelius" not in json.dumps(early)
    assert "the keeper's daughter" in run("entity", "list", PROJECT).stdout


def test_an_entity_is_shown_with_its_state_at_a_place(run: Run, ingested: Path) -> None:
    """The key is in the lighthouse before it is sold, and with its buyer after that."""
    before = json.loads(run("entity", "show", PROJECT, "the brass key", "--as-of", "2:2", "--json").stdout)
    after = json.loads(run("entity", "show", PROJECT, "I0", "--json").stdout)
    assert before["state"]["state_data"] == {"location_id": "L0"}
    assert after["state"]["state_data"] == {"holder": "C2"}
    assert "held by: Cornelius" in run("entity", "show", PROJECT, "I0").stdout


def test_an_unknown_entity_names_who_is_near(run: Run, ingested: Path) -> None:
    """A typing error is answered with the nearest names."""
    result = run("entity", "show", PROJECT, "Corneliuss")
    assert result.exit_code == 2
    assert "near it: C2 (Cornelius)" in result.stderr


def test_the_timeline_is_of_the_chapters_around_and_before_the_cut(run: Run, ingested: Path) -> None:
    """The window bounds the chapters and --as-of cuts them."""
    one = json.loads(run("timeline", PROJECT, "--chapter", "1", "--window", "0", "--json").stdout)
    assert {each["chapter_index"] for each in one} == {1}
    cut = json.loads(run("timeline", PROJECT, "--chapter", "1", "--as-of", "1:2", "--json").stdout)
    assert {each["scene_index"] for each in cut} == {1}
    assert "keep the lamp burning" in run("timeline", PROJECT, "--chapter", "1").stdout
    assert run("timeline", PROJECT, "--chapter", "9", "--window", "0").stdout.strip() == "nothing"


def test_the_timeline_tells_when_scenes_play(run: Run, ingested: Path) -> None:
    """Without a chapter it shows the scenes with their order, before the cut, or those of one character."""
    found = json.loads(run("timeline", PROJECT, "--json").stdout)
    assert [each["told_order"] for each in found["scenes"]] == [1, 2, 3, 4]
    assert found["names"]["C0"] == "Ada"
    cut = json.loads(run("timeline", PROJECT, "--as-of", "1:2", "--json").stdout)
    assert [(each["chapter_index"], each["scene_index"]) for each in cut["scenes"]] == [(1, 1)]
    of_ben = json.loads(run("timeline", PROJECT, "--character", "Ben", "--json").stdout)
    assert [each["chapter_index"] for each in of_ben["scenes"]] == [1, 2]
    assert run("timeline", PROJECT, "--lived").stdout.splitlines()[0].split()[0] == "scene"
    assert run("timeline", PROJECT, "--character", "Nobody").exit_code == 2


def test_the_timeline_of_a_chapter_has_no_order_lived(run: Run, ingested: Path) -> None:
    """Options of scenes are refused beside a chapter."""
    result = run("timeline", PROJECT, "--chapter", "1", "--lived")
    assert result.exit_code == 2
    assert "leave out --chapter" in result.stderr


def test_projects_are_listed_with_what_they_hold(run: Run, ingested: Path, projects_dir: Path) -> None:
    """Stored projects, folders that wait for ingest, and projects that cannot be read are all there."""
    run("init", "waiting")
    (projects_dir / "broken" / "data").mkdir(parents=True)
    (projects_dir / "broken" / "data" / "novel.db").write_bytes(b"no database at all" * 1000)
    (projects_dir / "no-project").mkdir()
    listed = {each["project_id"]: each for each in json.loads(run("projects", "--json").stdout)}
    assert set(listed) == {PROJECT, "waiting", "broken"}
    assert (listed[PROJECT]["scenes"], listed[PROJECT]["name"]) == (4, "The Lighthouse")
    assert "novelgen ingest" in listed["waiting"]["problem"]
    assert "cannot be read" in listed["broken"]["problem"]


def test_no_projects_say_how_to_begin(run: Run, projects_dir: Path) -> None:
    """Without any project the list says how to make one, and creates nothing."""
    result = run("projects")
    assert "novelgen init" in result.stdout
    assert json.loads(run("projects", "--json").stdout) == []
    assert not projects_dir.exists()


@pytest.mark.parametrize(
    "command",
    [
        ["search", "nobody", "key"],
        ["entity", "list", "nobody"],
        ["entity", "show", "nobody", "Ada"],
        ["timeline", "nobody", "--chapter", "1"],
        ["memory", "list", "nobody"],
        ["memory", "pin", "nobody", "M001"],
        ["note", "nobody", "a fact"],
        ["scene", "list", "nobody"],
        ["scene", "delete", "nobody", "1:1", "--yes"],
        ["reindex", "nobody"],
        ["doctor", "nobody"],
    ],
)
def test_an_unknown_project_ends_with_2_and_creates_nothing(run: Run, projects_dir: Path, command: list[str]) -> None:
    """No command creates a project that it was asked to read or change."""
    result = run(*command)
    assert result.exit_code == 2
    assert "nobody" in result.stderr
    assert not projects_dir.exists()


def test_a_folder_with_nothing_stored_says_how_to_fill_it(run: Run, written: Path) -> None:
    """The author's files alone are answered with the command that takes them in."""
    result = run("search", PROJECT, "key")
    assert result.exit_code == 2
    assert f"novelgen ingest {PROJECT}" in result.stderr
    assert not (written / "data").exists()
