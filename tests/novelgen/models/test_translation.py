"""Translations of names, as profiles hold them."""

from typing import Any

import pytest

from novelgen.models.entity import Entity, EntityAlias, profile_with_names, translation_of


def entity(**profile: Any) -> Entity:
    """Return 黛玉 with a profile."""
    aliases = [EntityAlias(alias="颦儿"), EntityAlias(alias="潇湘妃子")]
    return Entity(entity_id="C0", entity_type="character", name="黛玉", aliases=aliases, profile=profile)


@pytest.mark.parametrize(
    ("profile", "expected"),
    [
        ({"translation": " Daiyu "}, "Daiyu"),
        ({"translation": {"translation": "Daiyu", "aiModelId": "m"}}, "Daiyu"),
        ({"translation": {"id": "t1"}}, ""),
        ({"translation": 7}, ""),
        ({"alias_translations": {"黛玉": "Daiyu"}}, "Daiyu"),
        ({"alias_translations": ["Daiyu"]}, ""),
        ({}, ""),
    ],
)
def test_a_name_is_translated_as_its_profile_says(profile: dict[str, Any], expected: str) -> None:
    """A text or an object with a text counts, anything else is no translation."""
    assert translation_of(entity(**profile), "黛玉") == expected


def test_an_alias_has_a_translation_of_its_own() -> None:
    """A profile shown as of a position translates the names shown there, and no others."""
    known = entity(translation="Daiyu", alias_translations={"颦儿": "Frowner"})
    assert translation_of(known, "颦儿") == "Frowner"
    assert translation_of(known, "潇湘妃子") == ""
    known = entity(translation="Daiyu", alias_translations={"颦儿": "Frowner", "潇湘妃子": "the Bamboo Lady"}, age=13)
    assert profile_with_names(known, ["颦儿"], is_told=False) == {"alias_translations": {"颦儿": "Frowner"}}
    assert profile_with_names(known, ["黛玉"], is_told=True) == {"translation": "Daiyu", "age": 13}
    assert profile_with_names(known, known.names(), is_told=True) == known.profile
