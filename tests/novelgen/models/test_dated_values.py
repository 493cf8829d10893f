"""Values of a card that hold from a position on."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from novelgen.models.dated_values import entity_at, undated, with_values_from
from novelgen.models.entity import DATED, Entity, EntityAlias, profile_with_names, translated_under, translation_of
from novelgen.models.position import END_OF_STORY, StoryPosition

GUIXU = Entity(
    entity_id="T0",
    entity_type="term",
    name="归墟",
    description="万物归处",
    aliases=[EntityAlias(alias="大壑")],
    profile={"translation": "the Ruins of Return", "usage": "旧称"},
)


def edited(card: Entity, start: tuple[int, int] | None, *, is_first: bool = False, **said: Any) -> Entity:
    """Return a stored card of which something is said from a position on."""
    shown = entity_at(card, StoryPosition(*start) if start else END_OF_STORY)
    texts = {name: value for name, value in said.items() if name == "description"}
    profile = {**shown.profile, **{name: value for name, value in said.items() if name not in texts}}
    changed = shown.model_copy(update={**texts, "profile": profile})
    return with_values_from(card, shown, changed, start=start, is_first=is_first)


def test_a_value_holds_from_its_position_on() -> None:
    """Before it holds what was said before, and nothing tells that there will be another."""
    card = edited(GUIXU, (3, 1), translation="the Guixu Abyss", description="一个人")
    before, after = entity_at(card, StoryPosition(2, 9)), entity_at(card, StoryPosition(3, 1))
    assert before == GUIXU
    assert (translation_of(after, "归墟"), after.description) == ("the Guixu Abyss", "一个人")
    assert after.profile["usage"] == "旧称"
    assert undated(after) == card
    assert entity_at(after, StoryPosition(2, 9)) == GUIXU


def test_without_a_position_the_newest_value_is_corrected() -> None:
    """It keeps its position; said from the start, the first value is another."""
    card = edited(GUIXU, (3, 1), translation="the Guixu Abbys")
    corrected = edited(card, None, translation="the Guixu Abyss")
    assert translation_of(entity_at(corrected, StoryPosition(3, 1)), "归墟") == "the Guixu Abyss"
    assert translation_of(entity_at(corrected, StoryPosition(2, 1)), "归墟") == "the Ruins of Return"
    shown = entity_at(corrected, StoryPosition(1, 1))
    first = with_values_from(
        corrected,
        shown,
        shown.model_copy(update={"profile": {**shown.profile, "translation": "the Return"}}),
        start=None,
        is_first=True,
    )
    assert translation_of(entity_at(first, StoryPosition(2, 1)), "归墟") == "the Return"
    assert translation_of(entity_at(first, END_OF_STORY), "归墟") == "the Guixu Abyss"


def test_each_language_and_each_alias_has_its_own_position() -> None:
    """A translation of no language counts beside one into a language, for all others."""
    card = edited(GUIXU, (3, 1), translation={"de": "Guixu-Abgrund"}, alias_translations={"大壑": "the Gulf"})
    card = edited(card, (5, 1), alias_translations={"大壑": "the Great Gulf"})
    at_three, at_end = (entity_at(card, each) for each in (StoryPosition(3, 1), END_OF_STORY))
    assert translation_of(at_three, "归墟", into="de") == "Guixu-Abgrund"
    assert translation_of(at_three, "归墟", into="en") == "the Ruins of Return"
    assert [translation_of(each, "大壑") for each in (at_three, at_end)] == ["the Gulf", "the Great Gulf"]


def test_a_hidden_alias_is_in_no_dated_value() -> None:
    """What was said of a name that is not shown, or of a card that is not told, is not in its profile."""
    card = edited(GUIXU, (2, 1), alias_translations={"大壑": "the Gulf"}, description="一个人")
    shown = entity_at(card, StoryPosition(3, 1))
    assert "大壑" not in str(profile_with_names(shown, ["归墟"], is_told=True))
    assert "万物归处" in str(profile_with_names(shown, ["归墟"], is_told=True)[DATED])
    assert "万物归处" not in str(profile_with_names(shown, ["归墟", "大壑"], is_told=False))


def test_another_display_name_leaves_each_name_its_translation() -> None:
    """The dated ones go along; a name that had none is translated as the old one was."""
    card = edited(GUIXU, (3, 1), translation="the Guixu Abyss", alias_translations={"大壑": "the Gulf"})
    alias = card.model_copy(update={"name": "大壑", "profile": translated_under(card, "大壑")})
    new = card.model_copy(update={"name": "归墟海", "profile": translated_under(card, "归墟海")})
    late, early = StoryPosition(3, 1), StoryPosition(2, 1)
    assert [translation_of(entity_at(alias, late), name) for name in ("归墟", "大壑")] == [
        "the Guixu Abyss",
        "the Gulf",
    ]
    assert translation_of(entity_at(alias, early), "归墟") == "the Ruins of Return"
    assert [translation_of(entity_at(new, late), name) for name in ("归墟", "归墟海")] == ["the Guixu Abyss"] * 2


@pytest.mark.parametrize("value", ["soon", 7, {"a": 1}])
def test_a_field_of_that_name_that_is_no_list_is_none(value: Any) -> None:
    """A file may call anything so; it neither fails nor hides the rest."""
    card = GUIXU.model_copy(update={"profile": {**GUIXU.profile, DATED: value}})
    assert entity_at(card, StoryPosition(3, 1)).description == "万物归处"


@given(
    st.lists(st.tuples(st.integers(1, 4), st.integers(1, 3), st.sampled_from("abcdef")), max_size=8),
    st.integers(1, 4),
    st.integers(1, 3),
)
def test_what_holds_is_what_was_said_last_before(said: list[tuple[int, int, str]], chapter: int, scene: int) -> None:
    """Whatever the order in which it was said; what was said later of the same position wins."""
    card = GUIXU
    for at_chapter, at_scene, word in said:
        card = edited(card, (at_chapter, at_scene), description=word)
    expected = "万物归处"
    by_place: dict[tuple[int, int], str] = {}
    for at_chapter, at_scene, word in said:
        held = next((by_place[each] for each in sorted(by_place)[::-1] if each <= (at_chapter, at_scene)), expected)
        if word != held:
            by_place[at_chapter, at_scene] = word
    begun = [each for each in sorted(by_place) if each <= (chapter, scene)]
    expected = by_place[begun[-1]] if begun else expected
    assert entity_at(card, StoryPosition(chapter, scene)).description == expected
    assert undated(entity_at(card, END_OF_STORY)) == card
