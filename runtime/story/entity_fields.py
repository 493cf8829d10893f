"""Editable fields of an entity: card, profile and state."""

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from typing import Any

from pydantic import Field, ValidationError

from novelgen.card_fields import KINDS, NAME_WORDS, CardField, card_fields, under_keys
from novelgen.context.labels import labels_for
from novelgen.errors import UserInputError
from novelgen.language.language import StoryLanguage, stated_language, story_language
from novelgen.language.name_lists import split_names
from novelgen.language.resolver import NameResolver
from novelgen.models.base import Model
from novelgen.models.context import ReportIssue
from novelgen.models.entity import (
    ALIAS_TRANSLATIONS,
    GUESSED_NAMES,
    TRANSLATION,
    Entity,
    EntityAlias,
    EntityType,
    translated_under,
)
from novelgen.models.position import END_OF_STORY, StoryPosition
from novelgen.models.profiles import PROFILE_MODELS, STATE_MODELS, profile_of
from novelgen.models.state import PRESENCE_ATTRIBUTE
from novelgen.nearest import did_you_mean, near_names
from novelgen.words import LANGUAGES
from runtime.storage.change import Change
from runtime.storage.database import UnitOfWork
from runtime.storage.undo_checks import require_as_left
from runtime.story.base import StoryBase, async_twin, bears_name

_OWN_FIELDS = ("name", "role", "description")
_NAME_FIELDS = ("aliases", "alias", TRANSLATION, ALIAS_TRANSLATIONS)
_PLACE_FIELDS = ("first_chapter", "first_scene", "name_first_chapter", "name_first_scene")

CURRENT_STATE = "current_state"
"""Field of a profile: how the story finds it at its start; in changes, an object of attributes of the state."""

MIN_LIKENESS = 0.75
"""A name as like to a field as this is taken for a slip of the pen."""


@dataclass(frozen=True)
class KnownFields:
    """Fields of a kind of card, and the known entities."""

    fields: Sequence[CardField]
    language: str
    known: Sequence[Entity]

    def with_said(
        self,
        unit: UnitOfWork,
        entity: Entity,
        changes: Mapping[str, Any],
        at: StoryPosition,
        *,
        state: Mapping[str, Any] | None = None,
    ) -> tuple[Entity, list[str], dict[str, Any]]:
        """Return an entity with edited fields, the fields and the state."""
        attributes = STATE_MODELS[entity.entity_type].model_fields.keys() - {"extra"}
        changes = with_names_field(changes)
        changes = self._stored_fields(_with_known_speakers(changes, self.known))
        nested = changes.get(CURRENT_STATE, {})
        if not isinstance(nested, Mapping):
            named_text = ", ".join(
                model_field
                for model_field in STATE_MODELS[entity.entity_type].model_fields
                if model_field in attributes
            )
            raise UserInputError(
                f"{CURRENT_STATE} cannot be {nested!r}: write an object with some of {named_text}; "
                "a single one is given as state: NAME=VALUE"
            )
        nested = self._stored_fields(nested)
        self._require_fitting_attributes(entity, nested)
        plain = {field: value for field, value in changes.items() if field != CURRENT_STATE}
        on_card = self._on_card(entity)
        card = {field: value for field, value in plain.items() if field in on_card}
        stated_fields = {field: value for field, value in plain.items() if field not in card} | nested
        told_names = {change.attribute for change in unit.states.changes_of() if change.kind == "explicit"}
        own = self._refuse_slips(entity, stated_fields, told_names=told_names)
        # What nobody knows is a field of the author's own.
        card |= {name: stated_fields.pop(name) for name in own if name not in nested}
        stated_fields |= self._stored_state(state or {})
        self._require_fitting_attributes(entity, stated_fields)
        started = {name: value for name, value in stated_fields.items() if name in attributes and value is not None}
        if at == END_OF_STORY and started:
            # What holds from the start is how the card says that it stands there.
            card[CURRENT_STATE] = started
        return changed_card(entity, card), list(plain), stated_fields

    def issues(self, fields: Mapping[str, Any]) -> list[ReportIssue]:
        """Report names without a card, which stay text."""
        matching_issues = []
        for name, kind in self._kinds_named().items():
            value = fields.get(name)
            entities = [entity for entity in self.known if entity.entity_type == kind]
            ids = [entity.entity_id for entity in entities]
            for item in value if isinstance(value, list) else [value]:
                if isinstance(item, str) and item and item not in ids:
                    near = near_names(item, entities)
                    message = f"{name}={item!r} is kept as text: no {kind} of that name is known; {near}"
                    matching_issues.append(ReportIssue(stage="card", kind="unresolved", message=message))
        return matching_issues

    def _on_card(self, entity: Entity) -> list[str]:
        """Return the fields of an entity's card and profile, those included that only this profile has."""
        model_fields = [
            model_field for model_field in PROFILE_MODELS[entity.entity_type].model_fields if model_field != "extra"
        ]
        lasting = [field.key for field in self.fields if not field.changes]
        fields = [*_OWN_FIELDS, *_NAME_FIELDS, *_PLACE_FIELDS, *model_fields, *lasting, *entity.profile]
        return list(dict.fromkeys(fields))

    def _stored_fields(self, stated_fields: Mapping[str, Any]) -> dict[str, Any]:
        """Return field values by stored name, with ids of known cards."""
        fields = under_keys(stated_fields, self.fields)
        kinds = self._kinds_named()
        return {
            name: _with_ids(value, kinds[name], self.known) if name in kinds else value
            for name, value in fields.items()
        }

    def _stored_state(self, state: Mapping[str, Any]) -> dict[str, Any]:
        """Return attributes by stored name; one that both a state and a card have is that of the state."""
        lasting = {name for field in self.fields if not field.changes for name in field.names}
        both = lasting & _attribute_words()
        own = {name: value for name, value in state.items() if name.casefold() in both}
        return {**self._stored_fields({name: state[name] for name in state if name not in own}), **own}

    def _kinds_named(self) -> dict[str, EntityType]:
        """Return fields with card references, and their kinds."""
        return {**_NAMES_A_CARD, **{field.key: field.card for field in self.fields if field.card}}

    def _refuse_slips(self, entity: Entity, statements: Iterable[str], *, told_names: Set[str]) -> list[str]:
        """Reject misspelt fields and attributes, and return unknown names."""
        fields = self._on_card(entity)
        changing = [field.key for field in self.fields if field.changes]
        own = [*STATE_MODELS[entity.entity_type].model_fields, *_attribute_words()]
        known_names = {*changing, *own, *told_names} - {"extra", PRESENCE_ATTRIBUTE}
        unknown_names = []
        for name in statements:
            field, _, part = name.partition(".")
            if part and field in fields:
                raise UserInputError(f'{name!r} is a part of a field; write {field}={{"{part}": …}}')
            if name in known_names:
                continue
            near = get_close_matches(name, [*fields, *known_names], n=1, cutoff=MIN_LIKENESS)
            if near:
                raise UserInputError(
                    f"{name!r} is no field of a {entity.entity_type}; did you mean {near[0]!r}? Where you mean an"
                    f" attribute of this name, give it as state: --state {name}=VALUE"
                )
            unknown_names.append(name)
        return unknown_names

    def _require_fitting_attributes(self, entity: Entity, stated_fields: Mapping[str, Any]) -> None:
        """Refuse fields of the card among attributes of the state, and values of the wrong shape."""
        fields = [field for field in stated_fields if field in (*self._on_card(entity), PRESENCE_ATTRIBUTE)]
        if fields:
            raise UserInputError(f"{fields[0]!r} is no attribute of a state; change it as a field")
        model = STATE_MODELS[entity.entity_type]
        payload = {
            name: value for name, value in stated_fields.items() if value is not None and name in model.model_fields
        }
        try:
            model.model_validate(payload)
        except ValidationError as error:
            raise _misfit(error) from error


@cache
def _attribute_words() -> frozenset[str]:
    """Return the attributes of states under their own names and those in both languages."""
    listed_words = [labels_for(language).attributes for language in LANGUAGES]
    return frozenset(word.casefold() for words in listed_words for pair in words.items() for word in pair)


_NAMES_A_CARD: Mapping[str, EntityType] = {"holder": "character", "leader": "character", "location_id": "location"}
"""Attributes whose value is somebody or something that has a card."""


def _with_ids(value: Any, kind: EntityType, known_entities: Sequence[Entity]) -> Any:
    """Return a known card's id of that kind, or the text."""
    if isinstance(value, list):
        return [_with_ids(item, kind, known_entities) for item in value]
    if not isinstance(value, str):
        return value
    entities = [entity for entity in known_entities if entity.entity_type == kind]
    result = NameResolver(entities).resolve(value).entity_id
    # Part of a name is somebody else's as often: 林凡 without a card is not 林凡尘.
    return result if any(entity.entity_id == result and bears_name(entity, value) for entity in entities) else value


def with_names_field(changes: Mapping[str, Any], *, also: Sequence[str] = ()) -> dict[str, Any]:
    """Return changes with other names under `alias`, which adds them, or as a list under `aliases`, which replaces all.

    A text may hold several names between commas, an item of a list is one.
    """
    fields = {name: value for name, value in changes.items() if name.casefold() not in NAME_WORDS}
    added_names: list[Any] = list(also)
    for name, value in changes.items():
        if name.casefold() not in NAME_WORDS:
            continue
        if isinstance(value, str):
            added_names += split_names([value])
        elif isinstance(value, list) and name != "alias":
            fields["aliases"] = [*fields.get("aliases", []), *value]
        else:
            added_names += _as_list(value)
    return {**fields, **({"alias": added_names} if added_names else {})}


def changed_card(entity: Entity, changes: Mapping[str, Any]) -> Entity:
    """Return an entity with other values in some fields of its card and profile, nested ones merged."""
    card = dict(changes)
    own = {name: card.pop(name) for name in _OWN_FIELDS if name in card}
    is_renamed = own.get("name", entity.name) != entity.name and "aliases" not in card
    added_aliases = _aliases(entity, card.pop("alias")) if "alias" in card else []
    if "aliases" in card or added_aliases or is_renamed:
        replacing = _aliases(entity, card.pop("aliases")) if "aliases" in card else entity.aliases
        if is_renamed:
            # Text and plans go on saying the old name: nothing that is stored may lose whom it means.
            known_alias = next((alias for alias in replacing if alias.alias == own["name"]), None)
            replacing = [
                EntityAlias(
                    alias=entity.name, first_chapter=entity.name_first_chapter, first_scene=entity.name_first_scene
                ),
                *(alias for alias in replacing if alias is not known_alias),
            ]
            if known_alias is not None:
                # A name that was known already counts from where it did.
                card = {
                    "name_first_chapter": known_alias.first_chapter,
                    "name_first_scene": known_alias.first_scene,
                    **card,
                }
        # What is said of an alias anew takes the place of what was said of it.
        own["aliases"] = list({alias.alias: alias for alias in [*replacing, *added_aliases]}.values())
        values = [item for name in ("aliases", "alias") for item in _as_list(changes.get(name, []))]
        translated = {
            item["alias"]: item[TRANSLATION] for item in values if isinstance(item, Mapping) and TRANSLATION in item
        }
        if translated:
            card[ALIAS_TRANSLATIONS] = {**translated, **card.get(ALIAS_TRANSLATIONS, {})}
    own |= _first_shown(entity, {name: card.pop(name) for name in _PLACE_FIELDS if name in card})
    if not isinstance(card.get(TRANSLATION, ""), str | Mapping):
        raise UserInputError(f"{TRANSLATION} cannot be {card[TRANSLATION]!r}: write it as a text")
    if not isinstance(card.get(ALIAS_TRANSLATIONS, {}), Mapping):
        raise UserInputError(
            f"{ALIAS_TRANSLATIONS} cannot be {card[ALIAS_TRANSLATIONS]!r}: write an object of alias to translation"
        )
    is_other_name = own.get("name", entity.name) != entity.name
    profile = translated_under(entity, own["name"]) if is_other_name else dict(entity.profile)
    if GUESSED_NAMES in profile:
        # Whoever says a guessed name makes it their own.
        names_said = {alias.alias for alias in added_aliases}
        profile[GUESSED_NAMES] = [name for name in profile[GUESSED_NAMES] if name not in names_said]
    for name, value in card.items():
        profile[name] = _merge_values(profile.get(name), value, levels=2 if name == ALIAS_TRANSLATIONS else 1)
    parsed_fields = {
        name: value for name, value in profile.items() if name in PROFILE_MODELS[entity.entity_type].model_fields
    }
    try:
        profile_of(entity.entity_type, parsed_fields)
        return Entity.model_validate(entity.model_dump() | own | {"profile": profile})
    except ValidationError as error:
        raise _misfit(error) from error


def refuse_places(fields: Iterable[str]) -> None:
    """Refuse fields that say themselves from where on, beside a position from which all holds."""
    places = [name for name in fields if name in _PLACE_FIELDS]
    if places:
        raise UserInputError(f"{places[0]!r} says itself from where on; leave out the position at which it begins")


def with_names_from(shown_entity: Entity, edited: Entity, at: StoryPosition) -> Entity:
    """Return an edited card with new names dated from a place."""
    place = {"first_chapter": at.chapter_index, "first_scene": at.scene_index}
    known_names = shown_entity.names()
    aliases = [
        alias.model_copy(update=place) if alias.alias not in known_names and alias.first_chapter is None else alias
        for alias in edited.aliases
    ]
    own = {} if edited.name in known_names else {f"name_{field}": value for field, value in place.items()}
    return edited.model_copy(update={"aliases": aliases, **own})


def _merge_values(before: Any, value: Any, *, levels: int) -> Any:
    """Return an object with the keys of both, as deep as that, else the new value."""
    if not levels or not isinstance(before, Mapping) or not isinstance(value, Mapping):
        return value
    return {**before, **{key: _merge_values(before.get(key), item, levels=levels - 1) for key, item in value.items()}}


def _first_shown(entity: Entity, payload: Mapping[str, Any]) -> dict[str, Any]:
    """Return an entity's first place, with its name there."""
    if not payload:
        return {}
    own, name = ("first_chapter", "first_scene"), ("name_first_chapter", "name_first_scene")
    stated = {field: getattr(entity, field) for field in (*own, *name)}
    if [stated[field] for field in own] == [stated[field] for field in name]:
        stated |= {f"name_{field}": payload[field] for field in own if field in payload}
    stated |= payload
    for chapter, scene in (own, name):
        if stated[chapter] is None and scene not in payload:
            stated[scene] = None
        # Refuses numbers out of bounds, and a scene without its chapter.
        StoryPosition(stated[chapter], stated[scene])
    return {**stated, "said_from": None}


_ALIAS_FIELDS = (*EntityAlias.model_fields, TRANSLATION)


def _with_known_speakers(changes: Mapping[str, Any], known_entities: Sequence[Entity]) -> dict[str, Any]:
    """Return changes with known speakers of aliases as ids."""
    resolver = NameResolver(known_entities)

    def resolved(alias: Any) -> Any:
        speaker = alias.get("speaker") if isinstance(alias, Mapping) else None
        if not isinstance(speaker, str):
            return alias
        return {**alias, "speaker": resolver.resolve(speaker).entity_id or speaker}

    return {
        name: [resolved(item) for item in _as_list(value)] if name in ("alias", "aliases") else value
        for name, value in changes.items()
    }


def _as_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _aliases(entity: Entity, value: Any) -> list[EntityAlias]:
    known_aliases_by_id = {alias.alias: alias for alias in entity.aliases}
    return [_alias(item, known_aliases_by_id) for item in _as_list(value)]


def _alias(given_value: Any, known_aliases_by_id: Mapping[str, EntityAlias]) -> EntityAlias:
    if isinstance(given_value, EntityAlias):
        return given_value
    if isinstance(given_value, str):
        given_value = {"alias": given_value}
    if not isinstance(given_value, Mapping):
        raise UserInputError(
            f'an alias cannot be {given_value!r}: write a name, or an object such as {{"alias": "…", "speaker": "C1"}}'
        )
    unknown_fields = [name for name in given_value if name not in _ALIAS_FIELDS]
    if unknown_fields:
        raise UserInputError(
            f"{unknown_fields[0]!r} is no field of an alias{did_you_mean(unknown_fields[0], _ALIAS_FIELDS)}; there are"
            f" {', '.join(_ALIAS_FIELDS)}"
        )
    before = known_aliases_by_id.get(str(given_value.get("alias")))
    stated_fields = {name: value for name, value in given_value.items() if name != TRANSLATION}
    try:
        return EntityAlias.model_validate((before.model_dump() if before else {}) | stated_fields)
    except ValidationError as error:
        raise _misfit(error) from error


def _misfit(error: ValidationError) -> UserInputError:
    first = error.errors(include_url=False)[0]
    field = ".".join(str(part) for part in first["loc"])
    return UserInputError(f"{field} cannot be {first.get('input')!r}: {first['msg']}")


class OfferedField(Model):
    """A field that a card may have."""

    kind: EntityType
    name: str = Field(description="In the story's language; the other language's name is understood, too.")
    key: str = Field(description="How it stands on the card.")
    changes: bool = Field(
        default=False, description="Whether it is an attribute of the state, which may change with the story."
    )
    card: EntityType | None = Field(default=None, description="Its value is the name of a card of this kind.")
    many: bool = False


class StoryCardFields(StoryBase):
    """Which fields cards have."""

    def list_fields(self) -> list[OfferedField]:
        """Return the fields of cards, by kind."""
        with self._stores.database(self.project_id).read() as unit:
            language = card_language(unit)
        return [
            OfferedField(
                kind=kind, name=field.called(language), **field.model_dump(include={"key", "changes", "card", "many"})
            )
            for kind in KINDS
            for field in card_fields(kind)
        ]

    alist_fields = async_twin(list_fields)


TEMPLATE_SETTING = "card_template"


def restore_template(unit: UnitOfWork, change: Change) -> None:
    """Undo a template choice of version 0.1.0, which nothing reads."""
    require_as_left(change, {TEMPLATE_SETTING: unit.projects.require().settings.get(TEMPLATE_SETTING)})
    unit.projects.set_setting(TEMPLATE_SETTING, change.before[TEMPLATE_SETTING])


def known_fields_of(kind: EntityType, *, unit: UnitOfWork, entities: Sequence[Entity]) -> KnownFields:
    """Return which fields the cards of a kind have, and which entities are known."""
    return KnownFields(card_fields(kind), card_language(unit), entities)


def card_language(unit: UnitOfWork) -> StoryLanguage:
    """Return the language in which a story's fields are named."""
    project = unit.projects.require()
    return stated_language(project.language) or story_language(project.name)
