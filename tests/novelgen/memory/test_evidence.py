"""Finding quotes in the scene that they are said to come from."""

import pytest

from novelgen.language.matching import LONGEST_OMISSION_CHARACTERS, QuoteFinder

SCENE = "“I gave you my word,” said Ada — and\nshe meant  it. Ｂｅｎ laughed. “Your word…”"
CHINESE = "“我答应过你，”阿本说，“灯不会灭。”\n可是星期二，灯灭了。"


@pytest.mark.parametrize(
    ("text", "quote", "found"),
    [
        (SCENE, "gave you my", "gave you my"),
        (SCENE, '"I gave you my word," said Ada', "I gave you my word,” said Ada"),
        (SCENE, "said ada - and she meant it.", "said Ada — and\nshe meant  it"),
        (SCENE, "Ben laughed", "Ｂｅｎ laughed"),
        (SCENE, "“I gave you … she meant it", "I gave you my word,” said Ada — and\nshe meant  it"),
        (SCENE, "I gave you [...] laughed", "I gave you my word,” said Ada — and\nshe meant  it. Ｂｅｎ laughed"),
        (CHINESE, "我答应过你,”阿本说", "我答应过你，”阿本说"),
        (CHINESE, "灯不会灭。”可是星期二", "灯不会灭。”\n可是星期二"),
        (CHINESE, "「灯灭了」", "灯灭了"),
    ],
)
def test_quotes_are_found_whatever_their_spelling(text: str, quote: str, found: str) -> None:
    """White space, case, width, quotation marks, dashes and omissions do not keep a quote from its place."""
    span = QuoteFinder(text).find(quote)
    assert span is not None
    assert text[span.start : span.end] == found


@pytest.mark.parametrize(
    "quote",
    [None, "", "  ", "“…”", "it.", "Ada", "I gave you my wort", "laughed … I gave you", "答应", "……", "said Ben"],
)
def test_what_is_not_there_or_proves_nothing_is_not_found(quote: str | None) -> None:
    """A missing, too short, altered or reordered quote has no place."""
    assert QuoteFinder(SCENE).find(quote) is None


def test_an_omission_is_bounded_and_the_place_after_the_start_comes_first() -> None:
    """An ellipsis is no half of a scene; a sentence that stands twice is found in the window that was read."""
    text = f"the beginning of it {'x' * LONGEST_OMISSION_CHARACTERS} and the end of it"
    assert QuoteFinder(text).find("beginning of it … the end of it") is None
    text = "The bell rang. Nobody came. The bell rang."
    assert QuoteFinder(text).find("The bell rang", start=5) == (28, 41)
    assert QuoteFinder(text).find("Nobody came", start=20) == (15, 26)
