"""Profiles: an entity's details beside name, role and description.

A profile is stored as a plain mapping in `Entity.profile`; these models say which fields it has for which
type of entity. Fields that a model does not know are kept.
"""

from typing import Any

from pydantic import Field, field_validator

from novelgen.models.entity import EntityType
from novelgen.models.user_file import UserFileModel


class PhysicalTraits(UserFileModel):
    """How a character looks."""

    age: int | str | None = None
    appearance: str = ""
    distinctive_features: list[str] = Field(default_factory=list)


class Personality(UserFileModel):
    """A character's personality.

    `description` holds free text.
    """

    core_traits: list[str] = Field(default_factory=list)
    fears: list[str] = Field(default_factory=list)
    desires: list[str] = Field(default_factory=list)
    flaws: list[str] = Field(default_factory=list)
    description: str = ""


class CharacterState(UserFileModel):
    """A character's state: place, mood, condition, possessions, goals."""

    location_id: str | None = None
    emotional_state: str = ""
    physical_state: str = ""
    inventory: list[str] = Field(default_factory=list)
    goals: list[str] = Field(default_factory=list)


class CharacterProfile(UserFileModel):
    """A character's profile.

    `current_state` is the state at the story's start.
    """

    physical_traits: PhysicalTraits = Field(default_factory=PhysicalTraits)
    personality: Personality = Field(default_factory=Personality)
    backstory: str = ""
    current_state: CharacterState = Field(default_factory=CharacterState)

    @field_validator("personality", mode="before")
    @classmethod
    def _told_in_one_text(cls, value: Any) -> Any:
        return {"description": value} if isinstance(value, str) else value


class SensoryDetails(UserFileModel):
    """Sensory details of a place."""

    visual: str = ""
    auditory: str = ""
    olfactory: str = ""
    tactile: str = ""


class LocationConnection(UserFileModel):
    """A way from one place to another."""

    location_id: str = Field(min_length=1)
    connection_type: str = Field(default="", description="adjacent, distant, portal, hidden, …")
    description: str = ""


class LocationState(UserFileModel):
    """A place's state: tension, time, weather, people and things."""

    tension_level: int = Field(default=0, ge=0, le=10)
    time_of_day: str = ""
    weather: str = ""
    occupants: list[str] = Field(default_factory=list, description="Character ids.")
    notable_objects: list[str] = Field(default_factory=list)


class LocationProfile(UserFileModel):
    """A place's profile.

    `current_state` is the state at the story's start.
    """

    atmosphere: str = ""
    sensory_details: SensoryDetails = Field(default_factory=SensoryDetails)
    features: list[str] = Field(default_factory=list)
    connections: list[LocationConnection] = Field(default_factory=list)
    significance: str = ""
    current_state: LocationState = Field(default_factory=LocationState)


class ItemState(UserFileModel):
    """A thing's state: holder, place and condition."""

    holder: str | None = Field(default=None, description="Character id.")
    location_id: str | None = None
    condition: str = ""


class ItemProfile(UserFileModel):
    """A thing's profile.

    `current_state` is the state at the story's start.
    """

    appearance: str = ""
    properties: list[str] = Field(default_factory=list)
    origin: str = ""
    significance: str = ""
    current_state: ItemState = Field(default_factory=ItemState)


class FactionState(UserFileModel):
    """How a group stands."""

    leader: str | None = Field(default=None, description="Character id.")
    members: list[str] = Field(default_factory=list, description="Character ids.")
    status: str = ""
    goals: list[str] = Field(default_factory=list)


class FactionProfile(UserFileModel):
    """A group's profile.

    `current_state` is the state at the story's start.
    """

    purpose: str = ""
    values: list[str] = Field(default_factory=list)
    structure: str = ""
    significance: str = ""
    current_state: FactionState = Field(default_factory=FactionState)


class TermState(UserFileModel):
    """A term has no state that novelgen knows."""


class TermProfile(UserFileModel):
    """The profile of a term: a word of the story's world."""

    definition: str = ""
    usage: str = ""
    translation: str = ""
    current_state: TermState = Field(default_factory=TermState)


Profile = CharacterProfile | LocationProfile | ItemProfile | FactionProfile | TermProfile

PROFILE_MODELS: dict[EntityType, type[UserFileModel]] = {
    "character": CharacterProfile,
    "location": LocationProfile,
    "item": ItemProfile,
    "faction": FactionProfile,
    "term": TermProfile,
}
STATE_MODELS: dict[EntityType, type[UserFileModel]] = {
    "character": CharacterState,
    "location": LocationState,
    "item": ItemState,
    "faction": FactionState,
    "term": TermState,
}


def profile_of(entity_type: EntityType, data: dict[str, Any]) -> Profile:
    """Read a stored profile as the model of its type."""
    profile: Profile = PROFILE_MODELS[entity_type].model_validate(data)  # type: ignore[assignment]
    return profile
