"""The known story on reading a window, and resolution of its names."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from novelgen.language.language import has_cjk, significant_words, synonyms
from novelgen.language.normalise import is_any_place, is_description, name_key, title_free_key, title_gender
from novelgen.language.resolver import NameResolver, Resolution
from novelgen.models.entity import GENERIC, ID_PREFIXES, Entity, EntityAlias
from novelgen.models.folds import standing_after
from novelgen.models.record import SceneRecord
from novelgen.models.state import OpenLoop, Relationship
from novelgen.reading.model_record import EVERYBODY, ModelNewEntity
from novelgen.reading.request import NewName, ProposedEntity, SceneRecordRequest, UnplacedItem
from novelgen.reading.scene_touch import StoryClock, name_evidence

TEMPORARY_ENTITY_PREFIX = "new-"
_LEADING_ID = re.compile(r"\s*([A-Za-z]{1,4}-?\d{1,9})\b")
_LOOKS_LIKE_AN_ID = re.compile(r"(?:[CLIFTSR]|OL|new-)\d{1,9}", re.IGNORECASE)
_ID_WITHIN_TEXT = re.compile(rf"(?<![A-Za-z0-9])(?:{'|'.join(ID_PREFIXES.values())})\d{{1,9}}(?![A-Za-z0-9])")
_MERELY_INSIDE = "known name inside"
_PART = "part of a name"


class References:
    """Resolves references to entities in a model's answer.

    An id counts only when it was shown. A name counts when an entity bears it, or a part of a name that only
    one has; a phrase that merely holds a name ("Ben's sister") does not.
    """

    def __init__(
        self,
        entities: Sequence[Entity],
        *,
        shown_ids: Collection[str],
        present_ids: Sequence[str] = (),
        stand_ins: Mapping[str, str] | None = None,
        own_names: Mapping[str, str] | None = None,
    ) -> None:
        self.entities = list(entities)
        """Everybody who may be meant."""
        self._present_ids = tuple(present_ids)
        self._own_names = {name_key(name): entity_id for name, entity_id in (own_names or {}).items()}
        ids_by_shown_id = {**{shown_id: shown_id for shown_id in shown_ids}, **(stand_ins or {})}
        known_ids = {entity.entity_id for entity in entities}
        self._shown = {word.casefold(): now for word, now in ids_by_shown_id.items() if now in known_ids}
        self._stand_ins = dict(stand_ins or {})
        self.names = NameResolver(entities, present_ids=present_ids)
        self._names_of = {entity.entity_id: entity.names() for entity in entities}
        self._types = {entity.entity_id: entity.entity_type for entity in entities}

    def entity_id(self, reference: str, *, entity_types: Collection[str] = ()) -> str | None:
        """Return the id of the entity that is meant, or None when nobody can tell."""
        entity_id = self._find_meaning(reference, entity_types)
        fits = entity_id is not None and (not entity_types or self._types[entity_id] in entity_types)
        return entity_id if fits else None

    def in_names(self, text: str) -> str:
        """Return text with names for shown ids, except for references."""
        if self.entity_id(text) is not None:
            return text

        def name_of(match: re.Match[str]) -> str:
            entity_id = self._shown.get(match[0].casefold())
            return match[0] if entity_id is None else self._names_of[entity_id][0]

        return _ID_WITHIN_TEXT.sub(name_of, text)

    def with_proposals(self, proposals: Proposals) -> References:
        """Return references that also know newly proposed entities, by their temporary ids, and new names."""
        entities = [*self.entities, *(as_entity(entity) for entity in proposals.entities)]
        shown_ids = [*self._shown.values(), *(entity.temporary_id for entity in proposals.entities)]
        return References(
            entities,
            shown_ids=shown_ids,
            present_ids=self._present_ids,
            stand_ins=self._stand_ins,
            own_names=proposals.meanings,
        )

    def propose(
        self, new_entities: Sequence[ModelNewEntity], *, text: str, first_number: int, used_ids: Collection[str] = ()
    ) -> Proposals:
        """Accept new entities that are unknown and named in the scene.

        A name that a known entity bears is that entity, unless the model says that it is another one of a kind;
        what else the model calls it, or says is the same as a known one, becomes a name of that.
        """
        proposed_ids = {self._shown[used_id.casefold()] for used_id in used_ids if used_id.casefold() in self._shown}
        proposals = Proposals()
        for model_new_entity in new_entities:
            key = name_key(model_new_entity.name)
            twin = next((one for one in proposals.entities if name_key(one.name) == key), None)
            if twin is not None:
                proposals.call(twin, self._own_aliases(model_new_entity, text))
            if not model_new_entity.name or key in map(name_key, proposals.meanings):
                continue
            evidence = name_evidence(model_new_entity.name, text, quote=model_new_entity.quote)
            known_id = self._already_known(model_new_entity, proposed_ids)
            if known_id is not None:
                proposals.meanings[model_new_entity.name] = known_id
                names = [model_new_entity.name] if evidence not in ("none", "garbled") else []
                proposals.names += [
                    NewName(entity_id=known_id, name=name, quote=model_new_entity.quote)
                    for name in dict.fromkeys([*names, *self._own_aliases(model_new_entity, text)])
                    if self.entity_id(name) != known_id
                ]
                continue
            if looks_like_an_id(model_new_entity.name) or evidence == "none":
                proposals.refused.append(model_new_entity.name)
                continue
            resolution = self._resolve(model_new_entity)
            is_shared = resolution.entity_id is None and self._is_borne(resolution)
            if is_shared and not model_new_entity.generic and not _may_be_any(model_new_entity):
                proposals.shared.append(model_new_entity.name)
                continue
            proposals.add(
                model_new_entity, first_number=first_number, aliases=self._own_aliases(model_new_entity, text)
            )
            proposals.garbled += [model_new_entity.name] if evidence == "garbled" else []
        return proposals

    def bearers(self, name: str) -> list[str]:
        """Return the ids of all bearers of a whole name."""
        key = name_key(name)
        return [entity.entity_id for entity in self.entities if key in map(name_key, entity.names())]

    def _resolve(self, new_entity: ModelNewEntity) -> Resolution:
        return self.names.resolve(new_entity.name, entity_types=[new_entity.entity_type])

    def _already_known(self, new_entity: ModelNewEntity, used_ids: Collection[str]) -> str | None:
        """Return the known entity behind a proposed new one, or None."""
        statement = self.entity_id(new_entity.same_as, entity_types=[new_entity.entity_type])
        if statement is not None or new_entity.generic:
            return statement
        known_resolution = self._resolve(new_entity)
        if (
            known_resolution.entity_id is None
            or not self._is_borne(known_resolution)
            or not self._tells(known_resolution)
        ):
            return None
        is_one = self._may_be(
            known_resolution.entity_id, new_entity.name, is_used=known_resolution.entity_id in used_ids
        )
        return known_resolution.entity_id if is_one else None

    def _may_be(self, entity_id: str, name: str, *, is_used: bool) -> bool:
        """Return whether a proposed new entity can be the known bearer.

        Not when the model also speaks of that one by id and the name is a mere byname (长老, "the old man"), when
        the titles say otherwise (Mrs. Smith is not Mr. Smith), or when the name is a description that the known
        one does not bear word by word.
        """
        own, *others = self._names_of[entity_id]
        if name_key(name) == name_key(own):
            return True
        is_alias = name_key(name) in map(name_key, others)
        if is_used or (not is_alias and is_description(name)):
            return False
        genders = {title_gender(text) for text in (own, *others)} - {None}
        gender = title_gender(name)
        return is_alias or gender is None or gender in genders or (gender == "male" and not genders)

    def _find_meaning(self, statement: str, entity_types: Collection[str]) -> str | None:
        leading = _LEADING_ID.match(statement)
        for written_form in (statement.strip(), leading.group(1) if leading else ""):
            if written_form.casefold() in self._shown:
                return self._shown[written_form.casefold()]
        if name_key(statement) in self._own_names:
            return self._own_names[name_key(statement)]
        if looks_like_an_id(statement):
            return None
        resolution = self.names.resolve(statement, entity_types=entity_types)
        return resolution.entity_id if self._is_borne(resolution) and self._tells(resolution) else None

    def _tells(self, resolution: Resolution) -> bool:
        """Tell whether a name can mean one of earlier scenes: "the room" means one of the scene alone."""
        entity_id = resolution.entity_id
        if entity_id is None or self._types[entity_id] != "location" or not is_any_place(resolution.name):
            return True
        return entity_id.startswith(TEMPORARY_ENTITY_PREFIX)

    def _is_borne(self, resolution: Resolution) -> bool:
        """Return whether a whole name belongs to its bearers: "Ben's sister" is not Ben."""
        if resolution.reason.startswith(_MERELY_INSIDE):
            return False
        if not resolution.reason.startswith(_PART):
            return bool(resolution.candidate_ids)
        names = [name_key(name) for candidate_id in resolution.candidate_ids for name in self._names_of[candidate_id]]
        if has_cjk(resolution.name):
            # 高老 is a part of 高老儿, and only somebody of his in 高老儿的女儿.
            part = name_key(resolution.name)
            return any(part in name.rpartition("的")[2] for name in names)
        words = set(title_free_key(resolution.name).split())
        return any(words <= set(name.split()) for name in names)

    def _own_aliases(self, new_entity: ModelNewEntity, text: str) -> list[str]:
        aliases = dict.fromkeys(alias for alias in new_entity.aliases if alias != new_entity.name)
        return [
            alias
            for alias in aliases
            if name_evidence(alias, text) in ("verbatim", "parts") and self.entity_id(alias) is None
        ]


NOBODY = "neither an id of the list nor a plain name of anybody known or new"

_EVERYBODY = frozenset({EVERYBODY, *synonyms("people_present")})
"""In a list of people: all who are present."""


class Placer:
    """Resolves an answer's references and notes unplaced ones.

    `members` lists each group's members.
    """

    def __init__(self, references: References, *, members: Mapping[str, Sequence[str]] | None = None) -> None:
        self.references = references
        self.present: tuple[str, ...] = ()
        """Whom "everybody" means."""
        self._members = dict(members or {})
        self.unplaced: dict[UnplacedItem, None] = {}
        """What could not be placed, in the order in which it was met."""
        self.unknown: dict[str, None] = {}
        """Ids and names that nobody bears."""
        self._types = {entity.entity_id: entity.entity_type for entity in references.entities}

    @property
    def refused(self) -> list[str]:
        """Other unplaced items, with reasons."""
        return [f"{item.text[:60]!r} ({item.reason})" for item in self.unplaced if item.text not in self.unknown]

    def type_of(self, entity_id: str) -> str:
        """Return the type of a known entity."""
        return self._types[entity_id]

    def one(self, reference: str, *entity_types: str, field: str) -> str | None:
        """Return the entity of a reference, noting unplaced ones."""
        if not reference:
            return None
        entity_id = self.meant(reference, entity_types)
        if entity_id is None:
            self.unknown_in(field, reference, entity_types)
        return entity_id

    def all(self, references: Iterable[str], *entity_types: str, field: str) -> list[str]:
        """Return the distinct entities of a list, "everybody" being all who are present.

        See `one`.
        """
        matches: list[str] = []
        for number, text in enumerate(references):
            if means_everybody(text) and self.meant(text, entity_types) is None:
                matches += self.present
            elif (one := self.one(text, *entity_types, field=f"{field}[{number}]")) is not None:
                matches.append(one)
        return list(dict.fromkeys(matches))

    def people(self, references: Iterable[str], *, field: str) -> list[str]:
        """Return which characters a list means, each once; a group stands for its members."""
        matches: list[str] = []
        for number, text in enumerate(references):
            group = self.meant(text, ("faction",))
            if group is None and means_everybody(text):
                matches += self.present
            elif group is not None:
                matches += self._members.get(group, ())
            elif (one := self.one(text, "character", field=f"{field}[{number}]")) is not None:
                matches.append(one)
        return list(dict.fromkeys(matches))

    def meant(self, reference: str, entity_types: Collection[str] = ()) -> str | None:
        """Return the entity of a reference, or None without a note."""
        return self.references.entity_id(reference, entity_types=entity_types)

    def unknown_in(self, field: str, text: str, entity_types: Collection[str] = ()) -> None:
        """Note an id or name as one that nobody, or nobody of a fitting type, bears."""
        self.unknown[text] = None
        other = self.meant(text) if entity_types else None
        target = " or ".join(entity_types)
        reason = NOBODY if other is None else f"{other} is a {self.type_of(other)}, not a {target}"
        self.refuse(field, text, reason)

    def refuse(self, field: str, text: str, reason: str) -> None:
        """Note something as unplaced."""
        self.unplaced[UnplacedItem(field=field, text=text, reason=reason)] = None


@dataclass(slots=True)
class Proposals:
    """The new entities of an answer.

    `entities` are new, `names` are new names of known ones, `meanings` tells of each name whom it means.
    `refused` names do not stand in the scene, `shared` ones belong to several known entities; of the `garbled`
    ones, which are kept, the scene holds a part.
    """

    entities: list[ProposedEntity] = field(default_factory=list)
    names: list[NewName] = field(default_factory=list)
    meanings: dict[str, str] = field(default_factory=dict)
    refused: list[str] = field(default_factory=list)
    shared: list[str] = field(default_factory=list)
    garbled: list[str] = field(default_factory=list)

    def add(self, new_entity: ModelNewEntity, *, first_number: int, aliases: Sequence[str]) -> None:
        """Take up one that is new, under the next temporary id."""
        entity = ProposedEntity(
            temporary_id=f"{TEMPORARY_ENTITY_PREFIX}{first_number + len(self.entities)}",
            entity_type=new_entity.entity_type,
            name=new_entity.name,
            description=new_entity.description,
            generic=new_entity.generic or _may_be_any(new_entity),
        )
        self.entities.append(entity)
        self.call(entity, aliases)
        self.meanings[entity.name] = entity.temporary_id

    def call(self, entity: ProposedEntity, aliases: Sequence[str]) -> None:
        """Let one that is new have further names that mean nobody else."""
        further = [alias for alias in aliases if alias not in self.meanings and alias != entity.name]
        entity.aliases += further
        self.meanings |= dict.fromkeys(further, entity.temporary_id)


def _may_be_any(new_entity: ModelNewEntity) -> bool:
    return new_entity.entity_type == "location" and is_any_place(new_entity.name)


def means_everybody(text: str) -> bool:
    """Tell whether an entry of a list of people means all who are present."""
    return text.strip().casefold() in _EVERYBODY


def looks_like_an_id(text: str) -> bool:
    """Tell whether something is written like an id, and so cannot be a name."""
    return _LOOKS_LIKE_AN_ID.fullmatch(text.strip()) is not None


def names_an_id(text: str) -> bool:
    """Return whether a text begins with an id: "C1 (Ben)"."""
    leading = _LEADING_ID.match(text)
    return leading is not None and looks_like_an_id(leading.group(1))


def as_entity(proposed: ProposedEntity) -> Entity:
    """Return a proposed entity as one that is known under its temporary id."""
    return Entity(
        entity_id=proposed.temporary_id,
        entity_type=proposed.entity_type,
        name=proposed.name,
        aliases=[EntityAlias(alias=alias) for alias in proposed.aliases],
        description=proposed.description,
        profile={GENERIC: True} if proposed.generic else {},
    )


@dataclass(frozen=True, slots=True)
class SceneSoFar:
    """The story on entering a scene, plus its earlier windows.

    `proposed` holds the entities that the scene itself brought; they are among `entities`, too, under their
    temporary ids. `loops_created` counts the loops with temporary ids. `summary` and `remembered` (memories in short)
    are what earlier windows of the scene gave.
    """

    request: SceneRecordRequest
    clock: StoryClock
    entities: tuple[Entity, ...]
    states: dict[str, dict[str, Any]]
    open_loops: tuple[OpenLoop, ...]
    relationships: tuple[Relationship, ...]
    present_ids: tuple[str, ...]
    proposed: tuple[ProposedEntity, ...] = ()
    loops_created: int = 0
    summary: tuple[str, ...] = ()
    remembered: tuple[str, ...] = ()

    @classmethod
    def on_entering(cls, request: SceneRecordRequest) -> SceneSoFar:
        """Return the knowledge before the first window."""
        return cls(
            request=request,
            clock=StoryClock(request.story_places),
            entities=tuple(request.entities),
            states={state.entity_id: dict(state.state_data) for state in request.states},
            open_loops=tuple(request.open_loops),
            relationships=tuple(request.relationships),
            present_ids=tuple(request.present_ids),
        )

    def after(self, record: SceneRecord, proposed: Sequence[ProposedEntity]) -> SceneSoFar:
        """Return the knowledge after a window."""
        ended_names = {loop.id for loop in record.open_loops_resolved}
        created = [
            OpenLoop(
                loop_id=loop.id,
                category=loop.category,
                description=loop.description,
                importance=loop.importance,
                related_entities=[*loop.related_characters, *loop.related_locations, *loop.related_items],
            )
            for loop in record.open_loops_created
        ]
        states = dict(self.states)
        for change in record.state_changes:
            states[change.entity_id] = {**states.get(change.entity_id, {}), **change.changes}
        relationships = {
            (relationship.character_a, relationship.character_b): relationship for relationship in self.relationships
        }
        for ordered in (change.in_order() for change in record.relationship_changes):
            pair = (ordered.character_a, ordered.character_b)
            relationships[pair] = standing_after(ordered, relationships.get(pair))
        return replace(
            self,
            entities=(*self.entities, *map(as_entity, proposed)),
            states=states,
            open_loops=(*(loop for loop in self.open_loops if loop.loop_id not in ended_names), *created),
            relationships=tuple(relationships.values()),
            present_ids=tuple(dict.fromkeys([*record.characters_present, *self.present_ids])),
            proposed=(*self.proposed, *proposed),
            loops_created=self.loops_created + len(created),
            summary=(*self.summary, *record.summary),
            remembered=(*self.remembered, *(memory.short or memory.content for memory in record.memories)),
        )


MIN_SHARED = 0.5
"""Share of the words of both that must be common."""

MIN_LEAD = 0.2
"""How far the best thread must be ahead of the next."""

_LEADING_LOOP_ID = re.compile(r"\W*((?:new-loop-|[A-Za-z]{1,4}-?)\w*\d+)\b")


def meant_thread(reference: str, threads: Sequence[OpenLoop]) -> str | None:
    """Return the id of the thread that is meant, or None when nobody can tell."""
    thread_ids_by_folded_id = {thread.loop_id.casefold(): thread.loop_id for thread in threads}
    leading = _LEADING_LOOP_ID.match(reference)
    for written_form in (reference.strip(), leading.group(1) if leading else ""):
        if written_form.casefold() in thread_ids_by_folded_id:
            return thread_ids_by_folded_id[written_form.casefold()]
    ranking = sorted(
        ((_shared(reference, thread.description), thread.loop_id) for thread in threads), key=lambda pair: -pair[0]
    )
    if not ranking or ranking[0][0] < MIN_SHARED:
        return None
    runner_up = ranking[1][0] if len(ranking) > 1 else 0.0
    return ranking[0][1] if ranking[0][0] - runner_up >= MIN_LEAD else None


def _shared(remainder: str, right: str) -> float:
    """Share of the words of two texts that both hold."""
    first, second = set(significant_words(remainder)), set(significant_words(right))
    return len(first & second) / max(1, len(first | second))
