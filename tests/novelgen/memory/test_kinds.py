"""Kinds of threads, in whatever words their categories are said."""

from typing import get_args

import pytest

from novelgen.language.language import StoryLanguage
from novelgen.memory.ledger import ThreadKind, is_of_category, kind_of, shown_category


@pytest.mark.parametrize(
    ("category", "kind"),
    [
        ("Promises", "promise"),
        ("a blood-oath", "promise"),
        ("未了的誓言", "promise"),
        ("family_secret", "mystery"),
        ("身世之谜", "mystery"),
        ("unpaid debt", "debt"),
        ("人情债", "debt"),
        ("compromise", None),
        ("", None),
    ],
)
def test_words_of_both_languages_say_a_kind(category: str, kind: ThreadKind | None) -> None:
    """A word counts in any form and beside others, but not as a part of another English word."""
    assert kind_of(category) == kind


def test_a_category_is_found_in_either_language_or_by_its_very_words() -> None:
    """What names no kind finds only what is called the same."""
    assert is_of_category("许诺", "vow")
    assert is_of_category("oath", "许诺")
    assert is_of_category("Weather ", "weather")
    assert not is_of_category("weather", "season")
    assert not is_of_category("promise", "threat")
    assert not is_of_category("", "threat")


@pytest.mark.parametrize(
    ("category", "language", "shown"),
    [("vow", "zh", "许诺"), ("伏笔", "en", "foreshadowing"), (" weather ", "zh", "weather"), ("", "en", "")],
)
def test_a_kind_is_shown_in_the_storys_language(category: str, language: StoryLanguage, shown: str) -> None:
    """What is of no known kind stays as it was written."""
    assert shown_category(category, language) == shown


@pytest.mark.parametrize("kind", get_args(ThreadKind))
def test_every_kind_is_read_again_as_it_is_shown(kind: ThreadKind) -> None:
    """What a board shows can be asked for in the same words."""
    for language in get_args(StoryLanguage):
        assert kind_of(shown_category(kind, language)) == kind
