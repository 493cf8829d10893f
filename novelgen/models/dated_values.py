"""Values of a card that hold from a position of the story on."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from pydantic import Field, TypeAdapter

from novelgen.models.base import Model
from novelgen.models.entity import (
    ALIAS_TRANSLATIONS,
    ANY_LANGUAGE,
    DATED,
    GENERIC,
    GUESSED_NAMES,
    METADATA,
    SAME_AS,
    TRANSLATION,
    Entity,
    EntityAlias,
)
from novelgen.models.position import ChapterIndex, Place, SceneIndex, StoryPosition

CARD_TEXTS = ("role", "description")
"""Fields of a card beside its profile that may have other values later in the story."""

Path = tuple[str, str | None]
"""A field, and within an object its key."""


class DatedValue(Model):
    """A value of a field, or of one key of an object in it, from a position on."""

    field: str = Field(min_length=1)
    key: str | None = Field(default=None, description="Of an object: the alias, the language.")
    value: Any = None
    start: tuple[ChapterIndex, SceneIndex] | None = Field(
        default=None, description="It holds on entering this scene; None: until the first that has a position."
    )

    @property
    def path(self) -> Path:
        """The field and the key."""
        return self.field, self.key

    def holds_at(self, position: StoryPosition) -> bool:
        """Tell whether it has begun at a position."""
        return self.start is None or StoryPosition(*self.start) <= position


_VALUES = TypeAdapter(list[DatedValue])


def dated_values(entity: Entity) -> list[DatedValue]:
    """Return the dated values of a card, in story order, those without a position first."""
    stored_list = entity.profile.get(DATED)
    values = _VALUES.validate_python(stored_list) if isinstance(stored_list, list) else []
    return _in_order(values)


def _in_order(values: Iterable[DatedValue]) -> list[DatedValue]:
    return sorted(values, key=lambda dated_value: dated_value.start or (-1, -1))


def entity_at(entity: Entity, position: StoryPosition) -> Entity:
    """Return a card with the values that hold at a position.

    What it had before is kept beside them, so that the result can be read at an earlier position again. Of values
    that begin later nothing is left.
    """
    values = dated_values(entity)
    if not values:
        return entity
    first = undated(entity)
    current = [
        dated_value for dated_value in values if dated_value.start is not None and dated_value.holds_at(position)
    ]
    before = _values(first)
    earlier = [
        DatedValue(field=field, key=key, value=before.get((field, key)))
        for field, key in dict.fromkeys(dated_value.path for dated_value in current)
    ]
    return _with_values(first, current, later=[*earlier, *current])


def undated(entity: Entity) -> Entity:
    """Return a card as it is stored: with its first values, and the later ones beside them."""
    values = dated_values(entity)
    first = [dated_value for dated_value in values if dated_value.start is None]
    if not first:
        return entity
    return _with_values(entity, first, later=[dated_value for dated_value in values if dated_value.start is not None])


def with_values_from(
    stored_entity: Entity,
    shown_entity: Entity,
    changed: Entity,
    *,
    start: tuple[int, int] | None,
    is_first: bool = False,
) -> Entity:
    """Return a stored card with new values that hold from a position on.

    Args:
        stored_entity: The card as it is stored.
        shown_entity: The same as it is read where the values begin.
        changed: What was shown, with the new values; its names and places are taken as they are.
        start: Where they begin; None: in the place of the newest value of each field.
        is_first: They begin with the story.
    """
    before = _values(shown_entity)
    new = {path: value for path, value in _values(changed).items() if value != before.get(path)}
    values = [dated_value for dated_value in dated_values(stored_entity) if dated_value.start is not None]
    first: list[DatedValue] = []
    for (field, key), value in new.items():
        newest = (
            None
            if is_first
            else next((number for number in range(len(values))[::-1] if values[number].path == (field, key)), None)
        )
        if start is not None:
            values = [
                dated_value for dated_value in values if (dated_value.start, dated_value.path) != (start, (field, key))
            ]
            values.append(DatedValue(field=field, key=key, value=value, start=start))
        elif newest is not None:
            values[newest] = values[newest].model_copy(update={"value": value})
        else:
            first.append(DatedValue(field=field, key=key, value=value))
    texts = {name: getattr(stored_entity, name) for name in CARD_TEXTS}
    return _with_values(
        changed.model_copy(update={**texts, "profile": dict(stored_entity.profile)}), first, later=values
    )


_OWN_OF_CARD = (SAME_AS, TRANSLATION, ALIAS_TRANSLATIONS, GUESSED_NAMES, METADATA, GENERIC)
"""Fields of cards, not persons."""


KnownFrom = tuple[Place, Place]
"""Stated and first place."""


class MaskCard(NamedTuple):
    """A revealed card."""

    card: Entity
    known_from: KnownFrom
    revealed_at: Place


def with_mask_cards(
    person: Entity, known_from: KnownFrom, masks: Sequence[MaskCard], *, as_of: StoryPosition
) -> Entity:
    """Return a person's card with the newer values of masks.

    Ties keep the person's own.
    """
    starts = dict(_starts(person, known_from))
    card_of_both, own = person, _values(person)
    for mask, mask_known_from, revealed_at in masks:
        mask_starts = _starts(mask, mask_known_from)
        new = [
            DatedValue(field=field, key=key, value=value)
            for (field, key), value in _values(mask).items()
            if field not in _OWN_OF_CARD
            and not _is_nothing(value)
            and (_is_nothing(own.get((field, key))) or mask_starts[field, key] > starts[field, key])
        ]
        starts |= {value.path: mask_starts[value.path] for value in new}
        dated_card = _with_values(card_of_both, new, later=dated_values(card_of_both))
        start = (max(revealed_at[0], 0), max(revealed_at[1], 0) + 1)
        card_of_both = entity_at(with_values_from(undated(card_of_both), card_of_both, dated_card, start=start), as_of)
        own, names = _values(card_of_both), card_of_both.names()
        place = {"first_chapter": revealed_at[0], "first_scene": revealed_at[1]}
        fresh = [EntityAlias(alias=name, **place) for name in mask.names() if name not in names]
        card_of_both = card_of_both.model_copy(update={"aliases": [*card_of_both.aliases, *fresh]})
    return card_of_both


def _is_nothing(value: Any) -> bool:
    """Tell whether a value is empty."""
    return value is None or value in ("", [], {})


def _starts(entity: Entity, known_from: KnownFrom) -> Mapping[Path, KnownFrom]:
    """Return the start of each value."""
    dated = {value.path: (value.start, value.start) for value in dated_values(entity) if value.start is not None}
    return {path: dated.get(path, known_from) for path in _values(entity)}


def _values(entity: Entity) -> dict[Path, Any]:
    """Return each value of a card, those of an object by their keys."""
    values: dict[Path, Any] = {(name, None): getattr(entity, name) for name in CARD_TEXTS}
    for name, value in entity.profile.items():
        if name == DATED:
            continue
        keyed = value if isinstance(value, Mapping) and value else {None: value}
        values |= {(name, key): inner for key, inner in keyed.items()}
    return values


def _with_values(entity: Entity, values: Iterable[DatedValue], *, later: Iterable[DatedValue]) -> Entity:
    texts: dict[str, Any] = {}
    profile = {name: value for name, value in entity.profile.items() if name != DATED}
    for dated_value in values:
        if dated_value.field in CARD_TEXTS:
            texts[dated_value.field] = dated_value.value or ""
        elif dated_value.key is not None:
            inner = dict(_keyed(profile.get(dated_value.field), dated_value.field)) | {
                dated_value.key: dated_value.value
            }
            profile[dated_value.field] = {key: value for key, value in inner.items() if value is not None}
        else:
            profile[dated_value.field] = dated_value.value
        if profile.get(dated_value.field, "") in (None, {}):
            del profile[dated_value.field]
    listed_entries = [dated_value.model_dump(mode="json", exclude_none=True) for dated_value in _in_order(later)]
    return entity.model_copy(
        update={**texts, "profile": {**profile, **({DATED: listed_entries} if listed_entries else {})}}
    )


def _keyed(value: Any, field: str) -> Mapping[str, Any]:
    if isinstance(value, Mapping):
        return value
    # A translation of which nobody said the language counts beside one into a language.
    return {ANY_LANGUAGE: value} if field == TRANSLATION and isinstance(value, str) and value else {}
