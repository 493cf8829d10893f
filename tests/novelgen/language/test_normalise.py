"""Keys of names, and what comes from outside cleaned."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from novelgen.errors import UserInputError
from novelgen.language.normalise import (
    fold_width,
    is_any_place,
    is_deeper,
    is_possessive,
    name_key,
    require_size,
    scrub_text,
    scrub_tree,
    title_free_key,
    title_gender,
)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("劉備", "刘备"),
        ("HOLMES", "holmes"),
        ("Ｈｏｌｍｅｓ", "Holmes"),
        ("Dr. Watson", "dr watson"),
        ("Morstan’s orphan", "Morstan's orphan"),
        ("Thaddeus's", "Thaddeus"),
        ("Jones’", "Jones"),
        ("“Number One”", "Number One"),
        ("Baker   Street", "Baker\u3000Street"),
        ("《多心经》", "多心经"),
        ("约翰•华生", "约翰·华生"),
        ("约翰 · 华生", "约翰·华生"),
        ("孙 行者", "孙行者"),
    ],
)
def test_spellings_of_one_name_share_a_key(one: str, other: str) -> None:
    """Case, width, marks, spaces and a possessive ending do not count."""
    assert name_key(one) == name_key(other)


@pytest.mark.parametrize(("one", "other"), [("Mary Ann", "Maryann"), ("Jones", "Joneses"), ("师父", "师傅")])
def test_different_names_have_different_keys(one: str, other: str) -> None:
    """A space between English words counts, and so does every letter."""
    assert name_key(one) != name_key(other)


@pytest.mark.parametrize(
    ("titled", "plain"),
    [
        ("Dr. John Watson", "John Watson"),
        ("Old Mrs. Bernstone", "Bernstone"),
        ("the Thames", "Thames"),
        ("高才先生", "高才"),
        ("老王", "王"),
        ("王大人", "王"),
    ],
)
def test_titles_do_not_count_in_the_second_key(titled: str, plain: str) -> None:
    """English titles before a name and Chinese ones after it are taken off."""
    assert title_free_key(titled) == name_key(plain)


@pytest.mark.parametrize("title", ["师父", "the doctor", "Captain", "先生"])
def test_a_mere_title_is_a_name_of_its_own(title: str) -> None:
    """Nothing is taken off a name that is nothing but a title."""
    assert title_free_key(title) == name_key(title)


@pytest.mark.parametrize(
    ("name", "gender"),
    [("Mrs. Smith", "female"), ("old Mr. Smith", "male"), ("Dr. Smith", None), ("Mary", None), ("Lady", None)],
)
def test_a_title_may_tell_the_gender(name: str, gender: str | None) -> None:
    """Only a title before a name tells it."""
    assert title_gender(name) == gender


@given(st.text())
def test_folding_keeps_positions(text: str) -> None:
    """The folded text is as long as the text."""
    assert len(fold_width(text)) == len(text)


@pytest.mark.parametrize(
    ("name", "fits_any"),
    [
        ("the room", True),
        ("The House", True),
        ("that street", True),
        ("客店", True),
        ("那屋里", True),
        ("the lamp room", False),
        ("the lighthouse", False),
        ("River House", False),
        ("灯室", False),
        ("野猪林", False),
    ],
)
def test_a_place_of_every_story_tells_none_from_the_others(name: str, fits_any: bool) -> None:
    """A bare common noun says of no place which one it is; with a word beside it, it does."""
    assert is_any_place(name) is fits_any


@pytest.mark.parametrize(("name", "is_of_somebody"), [("Mrs. Gray's", True), ("the Grays’", True), ("Ada", False)])
def test_whose_place_it_is(name: str, is_of_somebody: bool) -> None:
    """An ending apostrophe, of either kind, makes a name that of a place of theirs."""
    assert is_possessive(name) is is_of_somebody


ANY_TEXT = st.text(st.characters())


@pytest.mark.parametrize(
    ("dirty", "clean"),
    [
        ("\ufeffOnce", "Once"),
        ("a\r\nb\rc\u2028d", "a\nb\nc\nd"),
        ("a\x00b\x1b[0m", "ab[0m"),
        ("lone \ud800 half", "lone  half"),
        ("\u202eevil\u202c", "evil"),
        ("tab\tand\nline", "tab\tand\nline"),
        ("行者 😀 ok", "行者 😀 ok"),
    ],
)
def test_what_no_story_needs_goes(dirty: str, clean: str) -> None:
    """Controls, halves of characters, direction and byte order marks go, and everything else stays."""
    assert scrub_text(dirty) == clean


@given(ANY_TEXT)
def test_scrubbed_text_can_be_encoded_and_stays(text: str) -> None:
    """Whatever comes in, the result is valid UTF-8, and scrubbing it again changes nothing."""
    clean = scrub_text(text)
    assert clean.encode("utf-8").decode("utf-8") == clean
    assert scrub_text(clean) == clean


def test_every_text_of_plain_data_is_scrubbed() -> None:
    """However deep, what is no text stays; a text over the limit is refused with what, how long and how much."""
    dirty = {"a\x00": ["b\ud800", {"c": "d\u202e"}], "n": 1, "none": None, "yes": True}
    assert scrub_tree(dirty) == {"a": ["b", {"c": "d"}], "n": 1, "none": None, "yes": True}
    require_size("a" * 10, "scene 1", limit_characters=10)
    with pytest.raises(UserInputError, match=r"scene 1 has 11 characters, more than the limit of 10"):
        require_size("a" * 11, "scene 1", limit_characters=10)


@pytest.mark.parametrize(
    ("value", "levels"), [(1, 0), ("[[", 0), ([], 1), ({"a": [1]}, 2), ([[], [{}]], 3), ([None, [[[]]]], 4)]
)
def test_levels_of_lists_and_mappings_count(value: Any, levels: int) -> None:
    """A list has one level, a list in it another; texts and numbers have none."""
    assert not is_deeper(value, than=levels)
    assert levels == 0 or is_deeper(value, than=levels - 1)


@pytest.mark.parametrize(
    ("text", "visible"),
    [
        ("Pen\u00adrose", "Penrose"),
        ("林\u200b海", "林海"),
        ("林\u2060海\ufeff", "林海"),
        ("林\u200d海", "林海"),
        ("葛\U000e0100城\ufe0f", "葛城"),
        ("海\ufe0f\u200d", "海"),
        ("林\u3164海", "林海"),
        ("👩\u200d❤\ufe0f\u200d👩", "👩\u200d❤\ufe0f\u200d👩"),
        ("1\ufe0f\u20e3", "1\ufe0f\u20e3"),
        ("🏴\U000e0067\U000e007f", "🏴\U000e0067\U000e007f"),
        ("می\u200cخواهم", "می\u200cخواهم"),
    ],
)
def test_characters_that_show_nothing_go(text: str, visible: str) -> None:
    """Soft hyphens, zero-width characters, selectors of variants; what emoji and other scripts need stays."""
    assert scrub_text(text) == visible
    assert scrub_text(visible) == visible
    assert name_key(text) == name_key(visible)
