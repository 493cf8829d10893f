"""Every text that people are shown exists in both languages."""

import string
from importlib import resources
from typing import Any

import pytest

from novelgen.words import LANGUAGES, words

SUBJECTS = sorted(
    {each.name.split(".")[0] for each in resources.files("novelgen.words").iterdir() if each.name.endswith(".en.toml")}
)


def _places(value: Any) -> set[str | None]:
    return {name for _, name, _, _ in string.Formatter().parse(value) if name} if isinstance(value, str) else set()


@pytest.mark.parametrize("subject", SUBJECTS)
def test_both_languages_have_the_same_keys_and_places(subject: str) -> None:
    """What one language says, the other says too, with the same places to fill in."""
    english, chinese = (words(subject, language) for language in LANGUAGES)
    assert set(english) == set(chinese)
    differing = [key for key in english if _places(english[key]) != _places(chinese[key])]
    assert not differing
