"""Profiles of entities, and the translations of names that they hold."""

from typing import Any

import pytest
from pydantic import ValidationError

from novelgen.models.entity import Entity, EntityAlias, EntityType, profile_with_names, translation_of
from novelgen.models.profiles import CharacterProfile, LocationProfile, profile_of

CHARACTER: dict[str, Any] = {
    "physical_traits": {"age": 32, "appearance": "tall", "distinctive_features": ["a scar"]},
    "personality": {"core_traits": ["curious"], "fears": ["water"], "desires": [], "flaws": ["pride"]},
    "backstory": "Raised in the guild.",
    "current_state": {"location_id": "L0", "goals": ["find the map"]},
}
LOCATION: dict[str, Any] = {
    "atmosphere": "musty",
    "sensory_details": {"visual": "shelves", "auditory": "dripping"},
    "features": ["a vault"],
    "connections": [{"location_id": "L1", "connection_type": "hidden", "description": "a door"}],
    "current_state": {"tension_level": 4, "occupants": ["C0"]},
    "significance": "her father worked here",
}


@pytest.mark.parametrize(("kind", "data"), [("character", CHARACTER), ("location", LOCATION)])
def test_the_documented_shapes_come_back_as_they_went_in(kind: EntityType, data: dict[str, Any]) -> None:
    """Reading and writing a profile loses nothing and invents nothing."""
    assert profile_of(kind, data).model_dump(exclude_unset=True) == data


def test_a_profile_keeps_what_it_does_not_know() -> None:
    """Under `extra`, in nested ones too; a personality in one text describes, a wrong shape names its field."""
    data = {"voice": "hoarse", "personality": {"fears": ["water"], "habits": ["hums"]}}
    profile = profile_of("character", data)
    assert isinstance(profile, CharacterProfile)
    assert profile.extra == {"voice": "hoarse"}
    assert profile.personality.extra == {"habits": ["hums"]}
    profile = profile_of("character", {"personality": "冷静而多疑"})
    assert isinstance(profile, CharacterProfile)
    assert profile.personality.description == "冷静而多疑"
    with pytest.raises(ValidationError, match=r"personality\.fears"):
        profile_of("character", {"personality": {"fears": "water"}})
    profile = profile_of("location", {})
    assert isinstance(profile, LocationProfile)
    assert (profile.atmosphere, profile.features, profile.current_state.tension_level) == ("", [], 0)


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
