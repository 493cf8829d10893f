"""A scene in three to five bullets, by function, Story and command."""

import asyncio
import json
from pathlib import Path

import pytest
from click.testing import CliRunner

import novelgen
from novelgen.errors import ConfigurationError, UserInputError
from runtime.doors.cli.main import novelgen as program
from runtime.story.summaries import summarize_scene
from tests.support.scripted_chat_model import answering

SCENE = "Ada hid the key. It rained. She swore to find her father."
OWN = ["Ada hid the key.", "It rained.", "She swore to find her father."]
TOLD = ["Ada hid the key.", "It rained all day.", "She swore to find her father."]


@pytest.fixture(autouse=True)
def _own_settings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Keep the settings of the machine out."""
    monkeypatch.delenv("NOVELGEN_MODEL", raising=False)
    monkeypatch.setenv("NOVELGEN_PROJECTS_DIR", str(tmp_path))
    monkeypatch.chdir(tmp_path)


def test_the_function_sums_up_without_a_project() -> None:
    """Seed 000.36: `summarize_scene(text)` gives a list of bullets, the model's where one is given."""
    assert novelgen.summarize_scene(SCENE) == OWN
    model = answering(json.dumps({"summary": TOLD}))
    assert novelgen.summarize_scene(SCENE, chat_model=model) == TOLD


def test_a_story_sums_up_with_its_model(tmp_path: Path) -> None:
    """Seed 000.36: a Story does, too, and awaited alike; a bound on bullets holds."""
    model = answering(json.dumps({"summary": TOLD}), json.dumps({"summary": TOLD}))
    with novelgen.open(tmp_path, embedding_model="fake:8", chat_model=model) as memory:
        story = memory.create("own")
        assert story.summaries.summarize(SCENE).bullets == TOLD
        assert asyncio.run(story.summaries.asummarize(SCENE, max_bullets=2)).bullets == TOLD[:2]


def test_a_model_that_fails_leaves_the_rules() -> None:
    """The scene's own sentences are told, and why stands in the issues."""
    summary = summarize_scene(SCENE, chat_model=answering("no", "never"))
    assert (summary.bullets, summary.made_by) == (OWN, "rules")
    assert [(each.stage, each.kind) for each in summary.issues] == [("scene_summary", "malformed")]


@pytest.mark.parametrize(
    ("text", "fields", "error", "message"),
    [
        (" ", {}, UserInputError, "the scene is empty"),
        (SCENE, {"max_bullets": 0}, UserInputError, "max_bullets 0 leaves nothing"),
        (SCENE, {"chat_model": "nobody:nothing"}, ConfigurationError, "nobody"),
    ],
)
def test_what_cannot_be_summed_up_is_refused(
    text: str, fields: dict[str, object], error: type[Exception], message: str
) -> None:
    """An empty text, no bullets, and a model that is none are the caller's to mend."""
    with pytest.raises(error, match=message):
        summarize_scene(text, **fields)  # type: ignore[arg-type]


def test_the_command_reads_a_file_or_stdin(tmp_path: Path) -> None:
    """Seed 000.36: `novelgen summarize FILE` prints bullets, as JSON who made them too."""
    file = tmp_path / "scene.txt"
    file.write_text(SCENE, encoding="utf-8")
    result = CliRunner().invoke(program, ["summarize", str(file), "--max-bullets", "2"])
    assert (result.exit_code, result.stdout) == (0, f"- {OWN[0]}\n- {OWN[2]}\n")
    result = CliRunner().invoke(program, ["summarize", "-", "--json"], input="我答应你，明年必来。天黑了。众人吃饭。")
    assert json.loads(result.stdout) == {
        "bullets": ["我答应你，明年必来。", "天黑了。", "众人吃饭。"],
        "made_by": "rules",
        "issues": [],
    }
    file.write_bytes(bytes(range(256)) * 4)
    assert CliRunner().invoke(program, ["summarize", str(file)]).exit_code == 2
