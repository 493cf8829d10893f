"""The commented config.yaml of a new project."""

from pathlib import Path

import pytest

from novelgen.language.language import has_cjk
from novelgen.memory.weights import DEFAULT_WEIGHTS
from novelgen.words import words
from runtime.settings import load_settings
from runtime.story.projects import config_template
from tests.runtime.doors.cli.conftest import Run


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_template_changes_nothing_and_holds_every_default(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, language: str
) -> None:
    """As it is it sets nothing; with its lines uncommented it sets every default."""
    monkeypatch.delenv("NOVELGEN_MEMORY__EMBEDDING_MODEL")
    monkeypatch.delenv("NOVELGEN_PROJECTS_DIR")
    commented, plain = tmp_path / "commented.yaml", tmp_path / "plain.yaml"
    body = config_template(language).split("\n\n", maxsplit=1)[1]
    commented.write_text(config_template(language), encoding="utf-8")
    plain.write_text("\n".join(line.removeprefix("# ") for line in body.split("\n")), encoding="utf-8")
    assert load_settings(commented) == load_settings(plain) == load_settings()


def test_a_weight_of_the_choice_can_be_set(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The file sets one weight, the environment another, and all others keep their defaults."""
    config = tmp_path / "config.yaml"
    config.write_text("memory:\n  weights:\n    relevance: 0.5\n", encoding="utf-8")
    monkeypatch.setenv("NOVELGEN_MEMORY__WEIGHTS__IMPORTANCE", "0.1")
    weights = load_settings(config).memory.weights
    assert weights == DEFAULT_WEIGHTS.model_copy(update={"relevance": 0.5, "importance": 0.1})


def test_the_template_names_settings_but_no_key() -> None:
    """In Chinese for a Chinese project, each setting that there is and none that is gone."""
    text = config_template("en")
    assert "#   memory_budget: 2150" in text
    assert "\n# model_api_key" not in text
    english, chinese = (config_template(each).split("\n\n", maxsplit=1)[1].splitlines() for each in ("en", "zh"))
    assert [line.partition("  # ")[0] for line in english] == [line.partition("  # ")[0] for line in chinese]
    assert [line for line in chinese if "  # " in line and not has_cjk(line)] == []
    told = {line.partition("  # ")[2] for line in chinese}
    assert [said for place, said in words("settings", "zh").items() if place and said not in told] == []


@pytest.mark.slow
@pytest.mark.parametrize("is_edited", [False, True])
def test_settings_follow_the_language_that_the_first_text_tells(run: Run, projects_dir: Path, is_edited: bool) -> None:
    """Of a Chinese story with a Latin name config.yaml gets Chinese remarks; one that was edited stays as it is."""
    run("init", "lamp")
    config = projects_dir / "lamp" / "config.yaml"
    made = config.read_text(encoding="utf-8") + ("# my own\n" if is_edited else "")
    config.write_text(made, encoding="utf-8")
    chapter = projects_dir / "lamp" / "chapters" / "chapter_001.md"
    chapter.write_text("# 第一章 灯\n\n沈砚提灯入山。\n", encoding="utf-8")
    run.well("ingest", "lamp")
    assert config.read_text(encoding="utf-8") == (made if is_edited else config_template("zh"))
