"""`novelgen scene`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.runtime.doors.cli.conftest import Run
from tests.runtime.doors.cli.small_project import CHAPTERS, PROJECT

pytestmark = pytest.mark.usefixtures("index_kept_open")


def titles(run: Run) -> dict[str, str]:
    """Return the titles of the stored scenes by their places."""
    scenes = json.loads(run("scene", "list", PROJECT, "--json").stdout)
    return {f"{each['chapter_index']}:{each['scene_index']}": each["title"] for each in scenes}


def place_of_memory(run: Run, memory_id: str) -> tuple[int, int]:
    """Return where a memory stands now."""
    chunk = json.loads(run("memory", "show", PROJECT, memory_id, "--json").stdout)["chunk"]
    return chunk["chapter_index"], chunk["scene_index"]


def test_scenes_are_listed_and_shown(run: Run, ingested: Path) -> None:
    """The list has who was on stage, the single scene its text; one without a title has its chapter's."""
    assert titles(run) == {"1:1": "The third stair", "1:2": "A promise", "2:1": "Chapter 2", "2:2": "Two loaves"}
    assert "Ada, Ben" in run("scene", "list", PROJECT).stdout
    shown = run("scene", "show", PROJECT, "1:1")
    assert CHAPTERS[1][0] in shown.stdout
    assert json.loads(run("scene", "show", PROJECT, "1:1", "--json").stdout)["text"] == CHAPTERS[1][0]


def test_a_scene_moves_with_what_came_from_it(run: Run, ingested: Path) -> None:
    """Its memories go along, the others close up, and the author is reminded of the files."""
    result = run("scene", "move", PROJECT, "1:1", "2:1")
    assert result.exit_code == 0
    assert titles(run)["2:1"] == "The third stair"
    assert titles(run)["1:1"] == "A promise"
    assert place_of_memory(run, "M001") == (2, 1)
    assert "renumber them before the next ingest" in result.stderr


def test_a_chapter_moves_whole(run: Run, ingested: Path) -> None:
    """With chapters alone all their scenes change places."""
    run("scene", "move", PROJECT, "1", "2")
    assert place_of_memory(run, "M001") == (2, 1)
    assert place_of_memory(run, "M003") == (1, 2)


def test_a_scene_is_inserted_with_its_text(run: Run, ingested: Path, tmp_path: Path) -> None:
    """Those from there on move by one and the new text is found."""
    file = tmp_path / "new.md"
    file.write_text("Ada painted the door of the lighthouse green.\n", encoding="utf-8")
    result = run("scene", "insert", PROJECT, "1:2", "--file", str(file), "--title", "Green")
    assert result.exit_code == 0
    assert titles(run)["1:2"] == "Green"
    assert titles(run)["1:3"] == "A promise"
    assert "painted the door" in run("search", PROJECT, "painted the door green").stdout


def test_room_is_made_for_a_chapter(run: Run, ingested: Path) -> None:
    """Without a file only the numbers change."""
    assert "room at 2; 2 scenes moved" in run("scene", "insert", PROJECT, "2").stdout
    assert set(titles(run)) == {"1:1", "1:2", "3:1", "3:2"}


def test_a_deleted_scene_takes_its_memories_along(run: Run, ingested: Path) -> None:
    """What came from it is gone, and the author is reminded of its file."""
    result = run("scene", "delete", PROJECT, "1:1", "--yes", "--json")
    assert result.exit_code == 0
    assert json.loads(result.stdout)["removed"] == 3
    assert "1:1" not in titles(run)
    assert run("memory", "show", PROJECT, "M001").exit_code == 2
    assert "the next ingest brings it back" in result.stderr


def test_nothing_is_deleted_unasked(run: Run, ingested: Path) -> None:
    """Where no terminal is there to ask at, `--yes` must say it."""
    result = run("scene", "delete", PROJECT, "1:1")
    assert (result.exit_code, result.stdout) == (2, "")
    assert "--yes" in result.stderr
    assert "1:1" in titles(run)


@pytest.mark.parametrize(
    ("command", "told"),
    [
        (["show", "9:9"], "'9:9'"),
        (["delete", "9:9"], "'9:9'"),
        (["move", "9:9", "1:1"], "9"),
        (["move", "1:1", "2"], "are not alike"),
        (["insert", "2", "--file", "{file}"], "name the place of the scene: 2:1"),
        (["insert", "2:1", "--file", "gone.md"], "gone.md"),
        (["insert", "2:1", "--file", "{empty}"], "holds no text"),
    ],
)
def test_what_cannot_be_done_is_bad_input_and_moves_nothing(
    run: Run, ingested: Path, tmp_path: Path, command: list[str], told: str
) -> None:
    """The value is named and all scenes stay where they were."""
    files = {"file": tmp_path / "new.md", "empty": tmp_path / "empty.md"}
    files["file"].write_text("Text.", encoding="utf-8")
    files["empty"].write_text(" \n", encoding="utf-8")
    before = titles(run)
    name, *rest = [part.format(**files) for part in command]
    result = run("scene", name, PROJECT, *rest)
    assert result.exit_code == 2
    assert told in result.stderr
    assert titles(run) == before
