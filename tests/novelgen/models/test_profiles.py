"""Profiles of entities."""

from typing import Any

import pytest
from pydantic import ValidationError

from novelgen.models.entity import EntityType
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
