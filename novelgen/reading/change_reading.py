"""State and relationship changes of an answer, with their endings."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any

from novelgen.language.language import folded, has_cjk, significant_words
from novelgen.language.normalise import is_possessive
from novelgen.memory import attributes
from novelgen.models.folds import HOLDER_ATTRIBUTE, standing_after
from novelgen.models.pair_types import turned_type
from novelgen.models.record import RecordedRelationshipChange, RecordedStateChange, SceneRecord
from novelgen.models.state import DELTA_BOUNDS, DIMENSION_RANGES, Relationship, RelationshipDimension
from novelgen.reading.known_story import Placer, looks_like_an_id, means_everybody
from novelgen.reading.model_record import ModelRelationshipChange, ModelStateChange

States = Mapping[str, Mapping[str, Any]]

ENDED_BY_DEATH = ("goals", "emotional_state", attributes.PASSING_ATTRIBUTE, "disguise", attributes.PLACE_ATTRIBUTE)
"""What the dead no longer have; what they hold stays with the body."""

ENDED_WHEN_SEEN_AGAIN = ("emotional_state", attributes.PASSING_ATTRIBUTE)
"""What does not outlast a scene: it holds until its bearer is next seen."""

WHERE_A_PERSON_IS = (attributes.LOCATION_ATTRIBUTE, attributes.PLACE_ATTRIBUTE)
WHERE_A_THING_IS = (*WHERE_A_PERSON_IS, HOLDER_ATTRIBUTE)


def with_endings(
    changes: Sequence[RecordedStateChange], *, before: States, character_ids: Collection[str]
) -> list[RecordedStateChange]:
    """Return changes with the facts they end, as changes to None."""
    latest: dict[tuple[str, str], RecordedStateChange] = {}
    for change in changes:
        for attribute, value in change.changes.items():
            latest.pop((change.entity_id, attribute), None)
            latest[change.entity_id, attribute] = change.model_copy(update={"changes": {attribute: value}})
    for (entity_id, attribute), change in reversed(list(latest.items())):
        value = latest[entity_id, attribute].changes[attribute]
        where = WHERE_A_PERSON_IS if entity_id in character_ids else WHERE_A_THING_IS
        ended_names: Sequence[str] = ()
        if attributes.is_death(attribute, value):
            ended_names = ENDED_BY_DEATH
        elif attribute in where and value is not None:
            ended_names = [text for text in where if text != attribute]
        for name in ended_names:
            if (entity_id, name) in latest or before.get(entity_id, {}).get(name) is not None:
                latest[entity_id, name] = change.model_copy(update={"changes": {name: None}})
    return list(latest.values())


def with_endings_of_the_scene(record: SceneRecord, *, before: States) -> SceneRecord:
    """Return a record with the ends of facts that hold until the next sighting."""
    stated = {(change.entity_id, name) for change in record.state_changes for name in change.changes}
    seen_ids = dict.fromkeys([*record.characters_present, *(change.entity_id for change in record.state_changes)])
    ended_statements = [
        (entity_id, name)
        for entity_id in seen_ids
        for name in ENDED_WHEN_SEEN_AGAIN
        if before.get(entity_id, {}).get(name) is not None
    ]
    for entity_id in record.characters_present if record.location_id else ():
        if any((entity_id, name) in stated for name in WHERE_A_PERSON_IS):
            continue
        was = before.get(entity_id, {})
        ended_statements += [
            (entity_id, name)
            for name in WHERE_A_PERSON_IS
            if was.get(name) is not None and was[name] != record.location_id
        ]
    clearings = [
        RecordedStateChange(entity_id=entity_id, changes={name: None})
        for entity_id, name in ended_statements
        if (entity_id, name) not in stated
    ]
    return record.model_copy(update={"state_changes": [*record.state_changes, *clearings]})


HOLDER_TYPES = ("character", "faction", "item")
"""Who or what has a thing: somebody, or what it is in; a thing at a place has a place and no holder."""

SHARE_OF_A_REMOVED_ENTRY = 0.6
"""Share of the words of the shorter that an entry of a list and what is to be removed have in common."""

_VITAL_WORDS = {False: ("alive", "dead"), True: ("活着", "已死")}


class StateReader:
    """Reads the state changes of one answer onto earlier states."""

    def __init__(self, placer: Placer, before: Mapping[str, Mapping[str, Any]], *, text: str) -> None:
        self._placer = placer
        self._before = before
        self._now = {entity_id: dict(state) for entity_id, state in before.items()}
        self._vital_words = _VITAL_WORDS[has_cjk(text)]
        self._changes: list[RecordedStateChange] = []

    def read(self, changes: Iterable[tuple[int, ModelStateChange]]) -> list[RecordedStateChange]:
        """Return recorded changes with their endings."""
        for number, change in changes:
            if change.when != "before":
                # A guess bears no quote: it is kept as unverified, for the words prove only that somebody thinks so.
                model_state_change = change if change.when == "now" else change.model_copy(update={"evidence": ""})
                self._read_one(model_state_change, field=f"state_changes[{number}]")
        characters = [
            change.entity_id for change in self._changes if self._placer.type_of(change.entity_id) == "character"
        ]
        return with_endings(self._changes, before=self._before, character_ids=characters)

    def _read_one(self, change: ModelStateChange, *, field: str) -> None:
        attribute = attributes.attribute_named(change.attribute)
        entity_ids = self._placer.all(change.entities, field=f"{field}.entities")
        alone = self._placer.one(change.entity, field=f"{field}.entity")
        if not change.entity and not change.entities:
            self._placer.refuse(field, change.attribute, "names no entity")
        if attribute is None:
            self._placer.refuse(f"{field}.attribute", change.attribute, "not a short name of an attribute")
            return
        attribute, value = attributes.vital_value(attribute, change.value, words=self._vital_words)
        for entity_id in dict.fromkeys([*([alone] if alone else []), *entity_ids]):
            self._apply(entity_id, attribute, value, change, field=f"{field}.value")

    def _apply(self, entity_id: str, attribute: str, value: Any, change: ModelStateChange, *, field: str) -> None:
        if change.op == "clear" or attributes.is_nothing(value):
            self._set(entity_id, attribute, None, change)
        elif attribute == attributes.INVENTORY_ATTRIBUTE:
            self._carry(entity_id, _as_texts(value), change, field=field)
        elif attribute == attributes.MEMBERS_ATTRIBUTE:
            members = [
                member
                for text in _as_texts(value)
                for member in (
                    self._placer.present
                    if means_everybody(text)
                    else [self._placer.meant(text, ("character",)) or text]
                )
            ]
            if change.op == "set":
                self._set(entity_id, attribute, members, change)
            else:
                self._edit_list(entity_id, attribute, members, change)
        elif attribute in attributes.ONE_OF_THE_STORY:
            self._say_who(entity_id, attribute, ", ".join(_as_texts(value)), change, field=field)
        elif attribute in (attributes.LOCATION_ATTRIBUTE, attributes.PLACE_ATTRIBUTE, HOLDER_ATTRIBUTE):
            self._move(entity_id, attribute, value, change, field=field)
        elif change.op == "set" or (change.op == "add" and attribute in attributes.SINGLE_ATTRIBUTES):
            self._set(entity_id, attribute, value, change)
        else:
            self._edit_list(entity_id, attribute, _as_texts(value), change)

    def _edit_list(self, entity_id: str, attribute: str, statements: Sequence[str], change: ModelStateChange) -> None:
        held_ids = _as_texts(self._now.get(entity_id, {}).get(attribute))
        if change.op == "remove":
            # What is not held need not be removed; a list that was shown in part is no reason to ask again.
            gone_names = [entry for text in statements if (entry := entry_meant(text, held_ids)) is not None]
            if not gone_names:
                return
            held_ids = [text for text in held_ids if text not in gone_names]
        else:
            held_ids += [text for text in statements if text not in held_ids]
            held_ids = held_ids[-attributes.MAX_ENTRIES.get(attribute, len(held_ids)) :]
        is_text = attribute not in attributes.LIST_ATTRIBUTES and len(held_ids) == 1
        self._set(entity_id, attribute, (held_ids[0] if is_text else held_ids) if held_ids else None, change)

    def _carry(self, bearer_id: str, statements: Sequence[str], change: ModelStateChange, *, field: str) -> None:
        """Turn an inventory into holders.

        Unknown things stay words in a list.
        """
        words: list[str] = []
        for text in statements:
            item_id = self._placer.meant(text, ("item",))
            if item_id is None:
                words.append(text)
            elif change.op != "remove":
                self._move(item_id, HOLDER_ATTRIBUTE, bearer_id, change, field=field)
            elif self._now.get(item_id, {}).get(HOLDER_ATTRIBUTE) == bearer_id:
                self._set(item_id, HOLDER_ATTRIBUTE, None, change)
        if change.op == "set":
            if words or self._now.get(bearer_id, {}).get(attributes.INVENTORY_ATTRIBUTE) is not None:
                self._set(bearer_id, attributes.INVENTORY_ATTRIBUTE, words or None, change)
        elif words:
            self._edit_list(bearer_id, attributes.INVENTORY_ATTRIBUTE, words, change)

    def _move(self, entity_id: str, attribute: str, value: Any, change: ModelStateChange, *, field: str) -> None:
        """Put somebody or something where it is: at a place, with a holder, inside a thing, or in words."""
        statement = ", ".join(_as_texts(value))
        if change.op == "remove":
            self._set(entity_id, attribute, None, change)
            return
        place_id = self._placer.meant(statement, ("location",))
        is_place_of = attribute != HOLDER_ATTRIBUTE and is_possessive(statement)
        other_id = None if is_place_of else self._placer.meant(statement, HOLDER_TYPES)
        if place_id is not None:
            self._set(entity_id, attributes.LOCATION_ATTRIBUTE, place_id, change)
        elif other_id is not None:
            is_thing = self._placer.type_of(entity_id) == "item" or attribute == HOLDER_ATTRIBUTE
            if is_thing and self._is_inside(other_id, entity_id):
                self._placer.refuse(field, statement, f"{entity_id} cannot be within itself")
            else:
                self._set(entity_id, HOLDER_ATTRIBUTE if is_thing else attributes.PLACE_ATTRIBUTE, other_id, change)
        elif looks_like_an_id(statement):
            self._placer.unknown_in(field, statement)
        else:
            in_words = HOLDER_ATTRIBUTE if attribute == HOLDER_ATTRIBUTE else attributes.PLACE_ATTRIBUTE
            self._set(entity_id, in_words, statement, change)

    def _say_who(self, entity_id: str, attribute: str, statement: str, change: ModelStateChange, *, field: str) -> None:
        """Say who somebody or something is, or passes for: one of the story, or in words."""
        other_id = self._placer.meant(statement)
        if other_id is None and looks_like_an_id(statement):
            self._placer.unknown_in(field, statement)
        else:
            self._set(entity_id, attribute, statement if other_id in (None, entity_id) else other_id, change)

    def _is_inside(self, entity_id: str | None, container_id: str) -> bool:
        """Tell whether somebody or something is, or is held by, a container."""
        met_ids: set[str] = set()
        while entity_id is not None and entity_id not in met_ids:
            if entity_id == container_id:
                return True
            met_ids.add(entity_id)
            entity_id = self._now.get(entity_id, {}).get(HOLDER_ATTRIBUTE)
        return False

    def _set(self, entity_id: str, attribute: str, value: Any, change: ModelStateChange) -> None:
        self._now.setdefault(entity_id, {})[attribute] = value
        self._changes.append(
            RecordedStateChange(
                entity_id=entity_id,
                changes={attribute: value},
                evidence=change.evidence or None,
                only_ends=change.op == "remove" and not change.evidence,
            )
        )


def entry_meant(text: str, entries: Sequence[str]) -> str | None:
    """Return the matching entry of a list, or None if unclear."""
    target, words = folded(text), significant_words(text)
    shared: dict[str, int] = {}
    for entry in entries:
        own = significant_words(entry)
        if 0 < len(words & own) >= SHARE_OF_A_REMOVED_ENTRY * min(len(words), len(own)):
            shared[entry] = len(words & own)
    for fits in (
        [entry for entry in entries if folded(entry) == target],
        [entry for entry in entries if target in folded(entry) or folded(entry) in target],
        [entry for entry in entries if entry in shared and shared[entry] == max(shared.values())],
    ):
        if fits:
            return fits[0] if len(fits) == 1 else None
    return None


def _as_texts(value: Any) -> list[str]:
    """A value as a list of texts."""
    if value is None:
        return []
    return [str(item) for item in value] if isinstance(value, list) else [str(value)]


Feelings = dict[RelationshipDimension, int]


def moved(name: RelationshipDimension, value: int, delta: int, *, on_entering: int) -> int:
    """Return a dimension after a change, within its range and scene bounds."""
    lowest, highest = DIMENSION_RANGES[name]
    bound = DELTA_BOUNDS[name]
    return max(lowest, on_entering - bound, min(highest, on_entering + bound, value + delta))


class RelationshipReader:
    """Reads the relationship changes of one answer, each onto how the pair stood before it."""

    def __init__(
        self,
        placer: Placer,
        *,
        so_far: Sequence[Relationship],
        on_entering: Sequence[Relationship],
        report_cut: Callable[[str], None],
    ) -> None:
        self._placer = placer
        self._so_far = _by_pair(so_far)
        self._on_entering = _by_pair(on_entering)
        self._report_cut = report_cut

    def read(self, changes: Sequence[ModelRelationshipChange]) -> list[RecordedRelationshipChange]:
        """Return the changes as a record states them, in the model's order of each pair."""
        recorded_relationship_changes: list[RecordedRelationshipChange] = []
        for number, change in enumerate(changes):
            field = f"relationship_changes[{number}]"
            a = self._placer.one(change.character_a, "character", field=f"{field}.character_a")
            b = self._placer.one(change.character_b, "character", field=f"{field}.character_b")
            if a is not None and a == b:
                self._placer.refuse(field, change.character_b, f"both sides are {a}")
            if a is None or b is None or a == b:
                continue
            known_relationship = self._so_far.get(frozenset({a, b}))
            said_names = change.model_fields_set
            pair, mine, theirs = self._feelings(a, b, change)
            recorded = RecordedRelationshipChange(
                character_a=a,
                character_b=b,
                relationship_type=_type_said(change),
                status=change.status
                if known_relationship is None or "status" in said_names
                else known_relationship.status,
                perspective_a=change.perspective_a,
                perspective_b=change.perspective_b,
                intensity=change.intensity
                if known_relationship is None or "intensity" in said_names
                else known_relationship.intensity,
                event=change.event,
                dimensions=pair,
                dimensions_a=mine,
                dimensions_b=theirs,
            )
            recorded_relationship_changes.append(recorded)
            self._so_far[frozenset({a, b})] = standing_after(recorded, known_relationship)
        return recorded_relationship_changes

    def _feelings(self, a: str, b: str, change: ModelRelationshipChange) -> tuple[Feelings, Feelings, Feelings]:
        """The dimensions that moved, of the pair and of either side."""
        now = _Standing(self._so_far.get(frozenset({a, b})), a)
        entered = _Standing(self._on_entering.get(frozenset({a, b})), a)
        is_cut = False
        for model_dimension_change in change.dimensions:
            name = model_dimension_change.dimension
            is_of_both = model_dimension_change.of == "both" and not any(name in side for side in now.sides.values())
            parts = (
                ["both"]
                if is_of_both
                else ["a", "b"]
                if model_dimension_change.of == "both"
                else [model_dimension_change.of]
            )
            for part in parts if model_dimension_change.change else ():
                before = entered.of(part, name)
                value = moved(name, now.of(part, name), model_dimension_change.change, on_entering=before)
                is_cut = is_cut or abs(now.of(part, name) + model_dimension_change.change - before) > DELTA_BOUNDS[name]
                now.put(part, name, value)
        if is_cut:
            self._report_cut(f"{a} {b}")
        return now.moved["both"], now.moved["a"], now.moved["b"]


class _Standing:
    """A pair's feelings and each side's own."""

    def __init__(self, pair: Relationship | None, a: str) -> None:
        self._pair: Feelings = dict(pair.dimensions) if pair else {}
        is_first = pair is None or pair.character_a == a
        first = dict(pair.dimensions_a) if pair else {}
        second = dict(pair.dimensions_b) if pair else {}
        self.sides: dict[str, Feelings] = {"a": first if is_first else second, "b": second if is_first else first}
        self.moved: dict[str, Feelings] = {"both": {}, "a": {}, "b": {}}

    def of(self, part: str, name: RelationshipDimension) -> int:
        return self.sides.get(part, self._pair).get(name, self._pair.get(name, 0))

    def put(self, part: str, name: RelationshipDimension, value: int) -> None:
        self.sides.get(part, self._pair)[name] = value
        self.moved[part][name] = value


def _by_pair(relationships: Sequence[Relationship]) -> dict[frozenset[str], Relationship]:
    return {
        frozenset({relationship.character_a, relationship.character_b}): relationship for relationship in relationships
    }


def _type_said(change: ModelRelationshipChange) -> str:
    """Return both roles in the pair's order where they differ, else the type."""
    one, other = change.role_a, change.role_b
    if not one or not other or one == other:
        return change.relationship_type or one or other
    if has_cjk(one):
        return f"{one}与{other}"
    text = f"{one} and {other}"
    return text if turned_type(text) == f"{other} and {one}" else f"{one} / {other}"
