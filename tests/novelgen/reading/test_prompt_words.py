"""The instructions of reading agree with each other, in both languages."""

import pytest

from novelgen.language.language import StoryLanguage
from novelgen.model_calls.prompting import read_prompt_file, read_prompt_part
from novelgen.reading.chapter_reading import ModelChapterName, ModelNotSame
from novelgen.reading.knowledge_reading import ModelKnowers
from novelgen.reading.known_story import NOBODY
from novelgen.reading.model_record import WHO, ModelKnownName, ModelStateChange


def prompt_text(name: str, language: StoryLanguage) -> str:
    """Return a prompt as its file has it."""
    return read_prompt_file(f"{name}.{language}.txt")


@pytest.mark.parametrize("language", ["en", "zh"])
def test_scene_and_chapter_weigh_memories_by_one_scale(language: StoryLanguage) -> None:
    """A review at the end of a chapter lowers nothing only because it asks for other shares."""
    scale = read_prompt_part("importance_scale", language)
    assert "7-8" in scale
    for name in ("scene_record", "reconcile_chapter"):
        assert prompt_text(name, language).count("{importance_scale}") == 1
        assert "7-8" not in prompt_text(name, language)


def test_instructions_schema_and_correction_accept_the_same() -> None:
    """An id of the list or a plain name means somebody, wherever a model is told so."""
    assert "plain name" in WHO
    assert WHO in str(ModelKnownName.model_json_schema())
    assert WHO in str(ModelStateChange.model_json_schema())
    assert "plain name" in NOBODY
    for model in (ModelChapterName, ModelNotSame, ModelKnowers):
        assert WHO in str(model.model_json_schema())
    for name in (
        *("scene_record", "repair_scene_record", "correct_scene_record"),
        *("scene_knowledge", "repair_scene_knowledge", "reconcile_chapter", "repair_chapter"),
    ):
        assert "plain name" in prompt_text(name, "en")
        assert "名字" in prompt_text(name, "zh")
