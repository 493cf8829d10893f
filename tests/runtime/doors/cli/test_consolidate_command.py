"""`novelgen consolidate`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.runtime.doors.cli.conftest import Run
from tests.runtime.doors.cli.small_project import PROJECT, write_project
from tests.support.openai_stub import StubCall, openai_stub


@pytest.fixture
def crowded(run: Run, projects_dir: Path) -> Path:
    """The small project with four small memories of Cornelius in one more chapter, taken in."""
    folder = write_project(projects_dir)
    text = "Cornelius rowed out, counted the gulls, mended a net and slept."
    (folder / "chapters" / "chapter_003.txt").write_text(text, encoding="utf-8")
    deeds = ("rowed out to the reef", "counted the gulls", "mended a net", "slept in the boat")
    memories = [
        {
            "memory_id": f"M10{number}",
            "content": f"Cornelius {deed}.",
            "importance": 3,
            "entities": ["C2"],
            "tags": ["sea"],
        }
        for number, deed in enumerate(deeds)
    ]
    record = {"chapter_index": 3, "scene_index": 1, "characters_present": ["C2"], "memories": memories}
    (folder / "records" / "chapter_003_records.json").write_text(json.dumps([record]), encoding="utf-8")
    assert run("ingest", PROJECT).exit_code == 0
    return folder


def listed(run: Run) -> list[dict[str, object]]:
    """Return the consolidated memories as JSON."""
    found: list[dict[str, object]] = json.loads(run("consolidate", PROJECT, "--list", "--json").stdout)
    return found


def test_consolidating_listing_and_undoing(run: Run, crowded: Path) -> None:
    """The summary tells what became of how many; the list has the sources; undo empties it."""
    dry = run("consolidate", PROJECT, "--limit", "2", "--dry-run")
    assert (dry.exit_code, listed(run)) == (0, [])
    assert "3 memories into 1" in dry.stdout
    done = run("consolidate", PROJECT, "--limit", "2")
    assert (done.exit_code, "3 memories into 1, 0 of them written by the model" in done.stdout) == (0, True)
    (stored,) = listed(run)
    assert len(stored["source_ids"]) == 3  # type: ignore[arg-type]
    chunk_id = stored["chunk"]["chunk_id"]  # type: ignore[index]
    assert chunk_id[:30] in run("consolidate", PROJECT, "--list").stdout.replace("\n", "")
    assert run("memory", "show", PROJECT, chunk_id).exit_code == 0
    undone = run("consolidate", PROJECT, "--undo", chunk_id)
    assert (undone.exit_code, listed(run)) == (0, [])
    assert run("consolidate", PROJECT, "--limit", "2", "--json").exit_code == 0
    assert json.loads(run("consolidate", PROJECT, "--undo-all", "--json").stdout) == {"undone": [chunk_id]}


@pytest.mark.thorough
def test_a_model_of_the_settings_writes_unless_it_is_not_wanted(
    run: Run, crowded: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With `--no-model` nobody is asked; a failing one is a warning."""
    text = "Cornelius rowed out, counted the gulls, mended a net and slept in the boat."

    def answer(call: StubCall) -> None:
        call.say(json.dumps({"content": text, "short": ""}))

    with openai_stub(answer) as stub:
        monkeypatch.setenv("NOVELGEN_MODEL", "openai:stub")
        monkeypatch.setenv("NOVELGEN_MODEL_BASE_URL", stub.base_url)
        assert run("consolidate", PROJECT, "--limit", "2", "--no-model").exit_code == 0
        assert (len(stub.calls), run("consolidate", PROJECT, "--undo-all").exit_code) == (0, 0)
        report = json.loads(run("consolidate", PROJECT, "--limit", "2", "--json").stdout)
    assert [(group["content"], group["is_models"]) for group in report["groups"]] == [(text, True)]


def test_bad_input_is_refused(run: Run, crowded: Path) -> None:
    """Two deeds at once, a limit of none, unknown memories and projects; a plain memory cannot be undone."""
    assert run("consolidate", PROJECT, "--list", "--undo-all").exit_code == 2
    assert run("consolidate", PROJECT, "--limit", "0").exit_code == 2
    assert run("consolidate", PROJECT, "--undo-all", "--limit", "9").exit_code == 2
    unknown = run("consolidate", PROJECT, "--undo", "M100")
    assert unknown.exit_code == 2
    assert "no consolidated memory 'M100'" in unknown.stderr
    assert run("consolidate", "nowhere").exit_code == 2
