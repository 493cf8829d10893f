"""Entities of a story: characters, locations, items, factions, terms, and the counts that their cards are told."""

import re
from collections.abc import Callable, Mapping, Sequence
from operator import not_
from typing import Any, Literal, NamedTuple

from pydantic import BaseModel, Field

from novelgen.models.base import Model
from novelgen.models.shown import Shown

EntityType = Literal["character", "location", "item", "faction", "term"]
ID_PREFIXES: dict[EntityType, str] = {"character": "C", "location": "L", "item": "I", "faction": "F", "term": "T"}


_ENTITY_ID = re.compile(rf"({'|'.join(ID_PREFIXES.values())})\d+")


def is_entity_id(text: str) -> bool:
    """Tell whether a text has the form of an entity's id, such as C0 or T12."""
    return _ENTITY_ID.fullmatch(text) is not None


class EntityAlias(Model):
    """Another name of an entity, and from where on in the story it counts.

    A position of None means that the name counts from the entity's own first appearance.
    """

    alias: str = Field(min_length=1)
    language: str | None = None
    speaker: str | None = Field(
        default=None, description="Id of who uses it, or a text, where it depends on the speaker."
    )
    first_chapter: int | None = None
    first_scene: int | None = None


class Entity(Shown, Model):
    """A person, place, thing, group or term that the story knows.

    `first_chapter` and `first_scene` say where the story first showed it; None means known from the start.
    """

    entity_id: str = Field(min_length=1)
    entity_type: EntityType
    name: str = Field(min_length=1)
    aliases: list[EntityAlias] = Field(default_factory=list)
    role: str = ""
    description: str = ""
    profile: dict[str, Any] = Field(default_factory=dict)
    first_chapter: int | None = None
    first_scene: int | None = None
    name_first_chapter: int | None = Field(default=None, description="Where the display name itself first occurs.")
    name_first_scene: int | None = None
    said_from: tuple[int, int] | None = Field(
        default=None, exclude_if=not_, description="From where on it is known, where its author said that."
    )
    revealed_names: list[str] = Field(
        default_factory=list, exclude_if=not_, description="Display names of the cards that turned out to be this one."
    )
    earlier_ids: list[str] = Field(
        default_factory=list, exclude_if=not_, description="Ids of the cards that turned out to be this one by then."
    )

    @property
    def first_told(self) -> tuple[int | None, int | None]:
        """Chapter and scene from which people are told that it is known: as its author said, else where it stands."""
        return self.said_from or (self.first_chapter, self.first_scene)

    @property
    def is_unnamed(self) -> bool:
        """Whether the id stands in place of a name that the story tells later."""
        return self.name == self.entity_id and self.first_chapter is not None and is_entity_id(self.entity_id)

    def names(self) -> list[str]:
        """Return the display name and every alias, without repeats, in that order."""
        return list(dict.fromkeys([self.name, *(alias.alias for alias in self.aliases)]))


def names_from_the_start(entity: Entity) -> list[str]:
    """Return the names under which an entity first appears: that it bears them is never told too early."""
    first = (entity.first_chapter, entity.first_scene)
    unplaced = ((None, None), first)
    own = [entity.name] if (entity.name_first_chapter, entity.name_first_scene) in unplaced else []
    others = [alias.alias for alias in entity.aliases if (alias.first_chapter, alias.first_scene) in unplaced]
    return list(dict.fromkeys([*own, *others]))


GENERIC = "generic"
"""Key of a profile: true for one of a kind, whose name another one of that kind may bear as well."""

SAME_AS = "same_as"
"""Key of a profile: whom the story shows to be the same, and from which scene on."""


class RevealedIdentity(Model):
    """The revealed identity of an entity, and the scene of the reveal."""

    entity_id: str = Field(min_length=1)
    chapter_index: int
    scene_index: int
    by_author: bool = Field(
        default=False, exclude_if=not_, description="Its author merged the two cards: all know it from there on."
    )


def revealed_identity(entity: Entity) -> RevealedIdentity | None:
    """Return the revealed identity of an entity, or None."""
    text = entity.profile.get(SAME_AS)
    return RevealedIdentity.model_validate(text) if isinstance(text, dict) else None


def renamed(entity: Entity, name: str) -> Entity:
    """Return an entity listed under one of its aliases, with dated names."""
    own = next(alias for alias in entity.aliases if alias.alias == name)
    is_placed = entity.name_first_chapter is not None
    before = EntityAlias(
        alias=entity.name,
        first_chapter=entity.name_first_chapter if is_placed else entity.first_chapter,
        first_scene=entity.name_first_scene if is_placed else entity.first_scene,
    )
    return entity.model_copy(
        update={
            "name": name,
            "aliases": [before, *(alias for alias in entity.aliases if alias.alias != name)],
            "name_first_chapter": own.first_chapter,
            "name_first_scene": own.first_scene,
            "profile": translated_under(entity, name),
        }
    )


TRANSLATION = "translation"
"""Key of a profile: how the name is translated, as a text or as an object of languages to texts."""

ALIAS_TRANSLATIONS = "alias_translations"
"""Key of a profile: the same of each alias."""

ANY_LANGUAGE = ""
"""Key of a translation of which nobody said the language, beside those into a language."""

GUESSED_NAMES = "guessed_names"
"""Key of a profile: short names that the text suggested; one that is no name of the card any more was refused."""

DATED = "dated_values"
"""Key of a profile: values that hold from a later position on; see `dated_values.py`."""


def profile_with_names(entity: Entity, names: Sequence[str], *, is_told: bool) -> dict[str, Any]:
    """Return a profile that translates some names only, since a translation tells a name, and no true identity."""
    elsewhere = (TRANSLATION, ALIAS_TRANSLATIONS, GUESSED_NAMES, SAME_AS, DATED)
    rest = {key: value for key, value in entity.profile.items() if key not in elsewhere}
    profile_fields: dict[str, Any] = dict(rest) if is_told else {}
    if entity.name in names and TRANSLATION in entity.profile:
        profile_fields[TRANSLATION] = entity.profile[TRANSLATION]
    by_alias = entity.profile.get(ALIAS_TRANSLATIONS)
    if isinstance(by_alias, dict):
        translated = {name: by_alia for name, by_alia in by_alias.items() if name in names}
        profile_fields |= {ALIAS_TRANSLATIONS: translated} if translated else {}
    if guessed := [name for name in guessed_names(entity) if name in names]:
        profile_fields[GUESSED_NAMES] = guessed
    dated_value = entity.profile.get(DATED)
    if isinstance(dated_value, list):
        is_of = {TRANSLATION: lambda _: entity.name in names, ALIAS_TRANSLATIONS: lambda item: item.get("key") in names}
        listing = [item for item in dated_value if is_of.get(item.get("field"), lambda _: is_told)(item)]
        profile_fields |= {DATED: listing} if listing else {}
    return profile_fields


def guessed_names(entity: Entity) -> list[str]:
    """Return the names of a card that the text alone suggested."""
    listed_names = entity.profile.get(GUESSED_NAMES)
    return [name for name in entity.names() if isinstance(listed_names, list) and name in listed_names]


def translated_under(entity: Entity, name: str) -> dict[str, Any]:
    """Return the profile of a card that gets another display name: each name keeps its translation.

    A name that had none takes over that of the old one.
    """
    profile = dict(entity.profile)
    by_alias = profile.get(ALIAS_TRANSLATIONS)
    by_alias = dict(by_alias) if isinstance(by_alias, Mapping) else {}
    own, old = by_alias.pop(name, None), profile.get(TRANSLATION)
    dated_entries: list[dict[str, Any]] = profile[DATED] if isinstance(profile.get(DATED), list) else []
    if old:
        by_alias.setdefault(entity.name, old)
    if own is not None:
        profile[TRANSLATION] = own
    profile |= {ALIAS_TRANSLATIONS: by_alias} if by_alias else {}
    if dated_entries:
        of_old = [fields for fields in dated_entries if fields.get("field") == TRANSLATION]
        of_new = [
            fields for fields in dated_entries if (fields.get("field"), fields.get("key")) == (ALIAS_TRANSLATIONS, name)
        ]
        has_own = own is not None or bool(of_new)
        rest = [fields for fields in dated_entries if fields not in of_new and not (has_own and fields in of_old)]
        profile[DATED] = [*rest, *(_of_alias(fields, entity.name) for fields in of_old), *map(_of_name, of_new)]
    return profile


def translated_as(profile: Mapping[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    """Return a profile in which new names are translated as the old aliases are in whose place they stand."""
    by_alias, dated_value = profile.get(ALIAS_TRANSLATIONS), profile.get(DATED)
    copied = dict(profile)
    if isinstance(by_alias, Mapping):
        new = {names[name]: value for name, value in by_alias.items() if name in names}
        copied[ALIAS_TRANSLATIONS] = {**new, **by_alias}
    if isinstance(dated_value, list):
        of_old = [item for item in dated_value if item.get("field") == ALIAS_TRANSLATIONS and item.get("key") in names]
        copied[DATED] = [*dated_value, *({**item, "key": names[item["key"]]} for item in of_old)]
    return copied


def _of_alias(name_fields: Mapping[str, Any], alias: str) -> dict[str, Any]:
    language, value = name_fields.get("key"), name_fields.get("value")
    return {**name_fields, "field": ALIAS_TRANSLATIONS, "key": alias, "value": {language: value} if language else value}


def _of_name(name_fields: Mapping[str, Any]) -> dict[str, Any]:
    return {**{name: item for name, item in name_fields.items() if name != "key"}, "field": TRANSLATION}


def translation_of(entity: Entity, name: str, *, into: str = "") -> str:
    """Return the translation of an entity's name, empty if none.

    A translation whose language nobody said counts for all. Where no language is asked for, the first counts.
    """
    if name == entity.name and TRANSLATION in entity.profile:
        return _text(entity.profile[TRANSLATION], into)
    by_alias = entity.profile.get(ALIAS_TRANSLATIONS)
    return _text(by_alias.get(name), into) if isinstance(by_alias, dict) else ""


_NO_LANGUAGES = ("id", "aiModelId")
"""Keys beside `translation` in files of other programs."""


def _text(value: Any, into: str) -> str:
    if not isinstance(value, Mapping):
        return value.strip() if isinstance(value, str) else ""
    of_any = [value.get(TRANSLATION), value.get(ANY_LANGUAGE)]
    by_language = [item for name, item in value.items() if name not in (*_NO_LANGUAGES, TRANSLATION, ANY_LANGUAGE)]
    candidate_texts = [value.get(into), *of_any] if into else [*of_any, *by_language]
    return next((item.strip() for item in candidate_texts if isinstance(item, str) and item.strip()), "")


SAID_FROM = "said_from"
"""Key of a stored profile: from where on its author said that it is known, and the scene before, at which it stands."""

METADATA = "metadata"
"""Key of a profile: what an author or another program notes of an entity beside its card."""


class SceneCast(NamedTuple):
    """The cast of a scene: label, point of view, participants, place, names."""

    label: str
    pov: str | None
    participants: Sequence[str]
    location_id: str | None
    named: frozenset[str] = frozenset()

    def has(self, character_id: str) -> bool:
        """Tell whether a character is on stage."""
        return character_id == self.pov or character_id in self.participants


_CHARACTER_COUNTS = ("pov_count", "scene_count", "last_appeared")
_LOCATION_COUNTS = ("scene_count", "last_used")
_OTHER_COUNTS = ("scene_count", "last_appeared")
PAIR_COUNTS = ("interaction_count", "last_interaction")
"""What is computed of a relationship."""


def computed_names(entity_type: EntityType) -> tuple[str, ...]:
    """Return the names of computed fields of an entity type."""
    if entity_type == "character":
        return _CHARACTER_COUNTS
    return _LOCATION_COUNTS if entity_type == "location" else _OTHER_COUNTS


def entity_counts(entity_id: str, entity_type: EntityType, scenes: Sequence[SceneCast]) -> dict[str, Any]:
    """Return an entity's counts on stage, as a place and in names."""
    if entity_type == "character":
        counts: dict[str, Any] = {"pov_count": sum(scene.pov == entity_id for scene in scenes)}
        return counts | _count_scenes(scenes, lambda scene: scene.has(entity_id), *_CHARACTER_COUNTS[1:])
    if entity_type == "location":
        return _count_scenes(scenes, lambda scene: scene.location_id == entity_id, *_LOCATION_COUNTS)
    return _count_scenes(
        scenes, lambda scene: entity_id in {*scene.named, *scene.participants, scene.location_id}, *_OTHER_COUNTS
    )


def pair_counts(first: str, second: str, scenes: Sequence[SceneCast]) -> dict[str, Any]:
    """Return in how many scenes two characters are on stage together, and the label of the last of them."""
    return _count_scenes(scenes, lambda scene: scene.has(first) and scene.has(second), *PAIR_COUNTS)


def without_computed(profile: Mapping[str, Any], names: Sequence[str]) -> dict[str, Any]:
    """Return a profile without computed metadata, which may tell the future."""
    noted = profile.get(METADATA)
    if not isinstance(noted, Mapping):
        return dict(profile)
    remaining_fields = {name: value for name, value in noted.items() if name not in names}
    rest = {name: value for name, value in profile.items() if name != METADATA}
    return {**rest, METADATA: remaining_fields} if remaining_fields else rest


def _count_scenes(
    scenes: Sequence[SceneCast], counts: Callable[[SceneCast], bool], count: str, last: str
) -> dict[str, Any]:
    labels = [scene.label for scene in scenes if counts(scene)]
    return {count: len(labels), **({last: labels[-1]} if labels else {})}


class NewName(BaseModel):
    """A new name of an entity, valid from its scene on."""

    entity_id: str
    name: str = Field(min_length=1)
    quote: str = ""
    former_id: str | None = Field(default=None, description="Who bore it until then, of a title that passes on.")


class SameEntities(BaseModel):
    """Two entities that a scene shows to be one.

    With `how` "same" they were one for the readers all along, so that one becomes part of the other;
    "unmasked" says that readers learn it in the scene: they are one from there on, and two before.
    """

    entity_id: str
    other_id: str
    how: Literal["same", "unmasked"] = "same"
    quote: str = ""
