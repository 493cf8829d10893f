"""The instructions of reading agree with each other, in both languages."""

import re

import pytest

from novelgen.language.language import StoryLanguage
from novelgen.model_calls.prompting import read_prompt_file
from novelgen.reading.known_story import NOBODY
from novelgen.reading.model_record import WHO, ModelKnownName, ModelStateChange

SCALE: dict[StoryLanguage, str] = {"en": r"1-2: a trifle.*?two at 7-8\.", "zh": r"1-2：琐事。.*?两条在 7-8。"}


def prompt_text(name: str, language: StoryLanguage) -> str:
    """Return a prompt as its file has it."""
    return read_prompt_file(f"{name}.{language}.txt")


@pytest.mark.parametrize("language", ["en", "zh"])
def test_scene_and_chapter_weigh_memories_by_one_scale(language: StoryLanguage) -> None:
    """A review at the end of a chapter lowers nothing only because it asks for other shares."""
    scales = [
        re.findall(SCALE[language], prompt_text(each, language)) for each in ("scene_record", "reconcile_chapter")
    ]
    assert scales[0] == scales[1]
    assert len(scales[0]) == 1


def test_instructions_schema_and_correction_accept_the_same() -> None:
    """An id of the list or a plain name means somebody, wherever a model is told so."""
    assert "plain name" in WHO
    assert WHO in str(ModelKnownName.model_json_schema())
    assert WHO in str(ModelStateChange.model_json_schema())
    assert "plain name" in NOBODY
    for name in ("scene_record", "repair_scene_record", "correct_scene_record"):
        assert "plain name" in prompt_text(name, "en")
        assert "名字" in prompt_text(name, "zh")
