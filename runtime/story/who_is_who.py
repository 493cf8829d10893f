"""Appearances of entities, merge previews and name candidates."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, get_args

from pydantic import BaseModel, Field

from novelgen.errors import UnknownEntityError, UserInputError
from novelgen.language.candidates import NameCandidate, candidate_of, find_name_candidates
from novelgen.language.normalise import name_key
from novelgen.language.sightings import CandidateKind
from novelgen.models.context import ReportIssue
from novelgen.models.entity import Entity, EntityAlias, EntityType
from novelgen.models.position import END_OF_STORY, StoryPosition
from novelgen.models.shown import ShownList
from novelgen.models.state import LoopStatus
from novelgen.nearest import MAX_NEAR, nearest_names
from novelgen.shell_words import in_shell
from runtime.search.text_names import open_candidates
from runtime.storage.change import Change
from runtime.storage.database import UnitOfWork
from runtime.storage.merges import require_mergeable
from runtime.storage.models import IndexingResult, MemoryFilter
from runtime.stores import MemoryStores
from runtime.story import base
from runtime.story.note_mentions import follow_notes_of_names

Order = Literal["weight", "name", "last"]
"""By how many scenes have them, by name, or by where they were last seen."""

EVERY_STATUS: tuple[LoopStatus, ...] = ("open", "advanced", "resolved", "abandoned")


class Appearance(BaseModel):
    """An entity, and how much the story before a position has of it."""

    entity: Entity
    scenes: int = Field(description="In how many scenes it is on stage, or the place; of things, groups, terms: named.")
    named: int = Field(default=0, description="In how many scenes the text names it.")
    last_chapter: int | None = Field(default=None, description="None: no scene has it yet.")
    last_scene: int | None = None

    @property
    def last_place(self) -> tuple[int, int]:
        """The last chapter and scene with it, lowest without any."""
        return (-1 if self.last_chapter is None else self.last_chapter, self.last_scene or 0)


class MergePreview(BaseModel):
    """A preview of a merge as of a position.

    The merge itself covers the whole story.
    """

    kept: Entity
    gone: Entity
    added_names: list[str] = Field(description="Names that the one who stays would get.")
    scenes: int
    memories: int
    states: int
    relationships: int
    threads: int


class StoryAppearances(base.StoryBase):
    """Appearances of entities, and merge previews."""

    def list_appearances(self, *, order: Order = "weight", as_of: base.Place = None) -> list[Appearance]:
        """List entities as the story has shown them before a position, with how much it has of them.

        Args:
            order: How they are ordered; equals stand in order of id.
            as_of: The position; None means the end of the story.
        """
        position = base.position_of(as_of) or END_OF_STORY
        with self._stores.database(self.project_id).read() as unit:
            known_entities = base.known_entities(unit, position)
            sightings_by_id, mentions_by_id = _count_sightings(unit, position), unit.entities.mentions_before(position)
        appearances = []
        for entity in known_entities:
            scenes, last = sightings_by_id.get(entity.entity_id, (0, None))
            chapter, scene = last or (None, None)
            count = mentions_by_id.get(entity.entity_id, (0,))[0]
            appearances.append(
                Appearance(entity=entity, scenes=scenes, named=count, last_chapter=chapter, last_scene=scene)
            )
        orders: dict[Order, Callable[[Appearance], Any]] = {
            "weight": lambda appearance: -appearance.scenes,
            "name": lambda other_appearance: other_appearance.entity.name.casefold(),
            "last": lambda this_appearance: (-this_appearance.last_place[0], -this_appearance.last_place[1]),
        }
        return sorted(appearances, key=orders[order])

    def preview_merge(self, keep: str, gone: base.Name, *, as_of: base.Place = None) -> MergePreview:
        """Preview `merge`, changing nothing.

        Args:
            keep: Who would stay, by id, name or alias.
            gone: Who would become part of it.
            as_of: Only what lies before this position is told; None means all.

        Raises:
            UserInputError: When both are one, or of different types.
        """
        position = base.position_of(as_of) or END_OF_STORY
        with self._stores.database(self.project_id).read() as unit:
            known_entities = base.known_entities(unit, position)
            kept_entity, other = (base.entity_of_exact_name(name, known_entities) for name in (keep, gone))
            require_mergeable(kept_entity, other)
            scenes, _ = _count_sightings(unit, position).get(other.entity_id, (0, None))
            changes = unit.states.stated(entity_ids=[other.entity_id], as_of=position)
            is_person = other.entity_type == "character"
            pairs = (
                unit.relationships.list_as_of(as_of=position, character_id=other.entity_id, status=None)
                if is_person
                else []
            )
            threads = unit.threads.list_as_of(as_of=position, statuses=EVERY_STATUS)
            memories = unit.memories.count(MemoryFilter(as_of=position, entities=[other.entity_id]))
        return MergePreview(
            kept=kept_entity,
            gone=other,
            added_names=[name for name in other.names() if name not in kept_entity.names()],
            scenes=scenes,
            memories=memories,
            states=len(changes),
            relationships=len(pairs),
            threads=sum(other.entity_id in thread.related_entities for thread in threads),
        )

    alist_appearances = base.async_twin(list_appearances)
    apreview_merge = base.async_twin(preview_merge)


def _count_sightings(unit: UnitOfWork, position: StoryPosition) -> dict[str, tuple[int, tuple[int, int] | None]]:
    """Return the count of each entity's scenes and the last of them, as for a card.

    A character is where it is on stage or whose point of view tells, a place where scenes play; only of anything else
    it counts that texts name it.
    """
    sightings_by_id: dict[str, tuple[int, tuple[int, int] | None]] = {}
    for scene in unit.scenes.stagings(as_of=position):
        for entity_id in filter(None, {scene.pov, scene.location_id, *scene.participants}):
            count, _ = sightings_by_id.get(entity_id, (0, None))
            sightings_by_id[entity_id] = (count + 1, scene.place)
    known_entities = (entity.entity for entity in unit.entities.list_all())
    staged = {entity.entity_id for entity in known_entities if entity.entity_type in ("character", "location")}
    for entity_id, (count, last) in unit.entities.mentions_before(position).items():
        if entity_id not in staged:
            before, place_before = sightings_by_id.get(entity_id, (0, None))
            sightings_by_id[entity_id] = (max(before, count), max(place_before or last, last))
    return sightings_by_id


class CandidateDecision(BaseModel):
    """A decision on a candidate."""

    change: Change
    candidate: NameCandidate
    entity: Entity | None = Field(default=None, description="Who bears its names now; None: nobody.")
    joined: NameCandidate | None = Field(default=None, description="The candidate that it belongs to now.")
    indexing: IndexingResult = Field(default_factory=IndexingResult)


class StoryNameCandidates(base.StoryBase):
    """Name candidates of a story's text: list, confirm, merge and drop."""

    def confirm(self, name: str, *, kind: EntityType | None = None) -> CandidateDecision:
        """Make a candidate an entity, known from the first scene that names it on, each variant from its own first.

        Args:
            name: The name, as the text has it.
            kind: What it is; None means what the text suggests.
        """
        return self.confirm_several([name], kind=kind)[0]

    def confirm_several(
        self, names: Sequence[str] = (), *, kind: EntityType | None = None, top: base.Count | None = None
    ) -> ShownList[CandidateDecision]:
        """Make several candidates entities at once; each can be undone by itself.

        Args:
            names: Their names, as the text has them.
            kind: What they are; None means what the text suggests.
            top: So many more: those that are named most often, of this kind, or people where none is said.

        Raises:
            UnknownEntityError: When no name is a candidate; where some are, `issues` of the list tell of the rest.
            UserInputError: When nobody is named, or the text does not tell what the only one is.
        """
        from runtime.ingest.entities import store_entities_in
        from runtime.ingest.guessed_names import with_guessed_names

        if not names and top is None:
            raise UserInputError("nobody is named; give names, or how many of the first candidates to take (top)")
        with self._stores.database(self.project_id).write() as unit:
            offered = open_candidates(unit, as_of=END_OF_STORY, min_count=1)
            chosen_candidates_by_id: dict[str, NameCandidate] = {}
            missing: list[UnknownEntityError | UserInputError] = []
            for name in names:
                try:
                    candidate = _required(unit, name, offered)
                    if kind is None:
                        _entity_type(candidate, self.project_id)
                except (UnknownEntityError, UserInputError) as error:
                    missing.append(error)
                else:
                    chosen_candidates_by_id[candidate.name] = candidate
            if missing and not chosen_candidates_by_id and top is None:
                raise missing[0]
            others = [
                candidate
                for candidate in offered
                if candidate.kind == (kind or "character") and candidate.name not in chosen_candidates_by_id
            ]
            chosen_candidates_by_id |= {candidate.name: candidate for candidate in others[: top or 0]}
            entities = {
                name: _entity_of(candidate, unit.entities.next_id(entity_type), entity_type, _places(unit, candidate))
                for name, candidate in chosen_candidates_by_id.items()
                for entity_type in [kind or _entity_type(candidate, self.project_id)]
            }
            known_entities = [*base.known_entities(unit, None), *entities.values()]
            entities = {
                name: with_guessed_names(unit, entity, known_entities=known_entities)
                for name, entity in entities.items()
            }
            # All at once: the scenes that name them are derived anew once.
            store_entities_in(unit, list(entities.values()), origin="author", stores=self._stores)
            note_rows_by_name, note_issues = {}, []
            for name, entity in entities.items():
                notes = follow_notes_of_names(unit, entity.entity_id, entity.names(), stores=self._stores)
                note_rows_by_name[name] = notes.rows
                note_issues += notes.issues
            decided = [
                CandidateDecision(
                    change=unit.merges.keep_names(
                        "confirm", entity.entity_id, name, entity.names(), note_rows=note_rows_by_name[name]
                    ),
                    candidate=chosen_candidates_by_id[name],
                    entity=entity,
                )
                for name, entity in entities.items()
            ]
        indexing = self._follow_edit()
        return ShownList(
            (candidate_decision.model_copy(update={"indexing": indexing}) for candidate_decision in decided),
            issues=[
                *(ReportIssue(stage="card", kind="unresolved", message=str(error)) for error in missing),
                *note_issues,
            ],
        )

    def merge(self, keep: str, other: str) -> CandidateDecision:
        """Make a candidate part of an entity or of another candidate.

        Its names become names of the entity, each from the first scene that holds it on; of two candidates one is
        offered from then on, with the names of both.
        """
        if is_candidate(self._stores, self.project_id, name=keep):
            with self._stores.database(self.project_id).write() as unit:
                kept_candidate, candidate = (_required(unit, text) for text in (keep, other))
                if kept_candidate.name == candidate.name:
                    raise UserInputError(f"{keep!r} and {other!r} are one candidate already; give two")
                change = unit.merges.keep("join", kept_candidate.name, candidate.name, [])
                joined_candidate = _required(unit, kept_candidate.name)
            return CandidateDecision(change=change, candidate=candidate, joined=joined_candidate)
        from runtime.ingest.entities import store_entities_in

        with self._stores.database(self.project_id).write() as unit:
            entity = base.entity_of_name(keep, base.known_entities(unit, None))
            candidate = _required(unit, other)
            borne = set(map(name_key, entity.names()))
            added_aliases = [alias for alias in _aliases(candidate) if name_key(alias.alias) not in borne]
            named_entity = entity.model_copy(update={"aliases": [*entity.aliases, *added_aliases]})
            stored_entity = unit.entities.get(entity.entity_id)
            origin = stored_entity.origin if stored_entity else "author"
            store_entities_in(unit, [named_entity], origin=origin, stores=self._stores)
            names = [alias.alias for alias in added_aliases]
            notes = follow_notes_of_names(unit, entity.entity_id, names, stores=self._stores)
            change = unit.merges.keep_names("name", entity.entity_id, candidate.name, names, note_rows=notes.rows)
        indexing = self._follow_edit()
        return CandidateDecision(change=change, candidate=candidate, entity=named_entity, indexing=indexing)

    def drop(self, name: str) -> CandidateDecision:
        """Never offer a candidate again; the text stays searchable by its names."""
        with self._stores.database(self.project_id).write() as unit:
            candidate = _required(unit, name)
            change = unit.merges.keep("drop", "", candidate.name, [])
        return CandidateDecision(change=change, candidate=candidate)

    def list(
        self, kind: CandidateKind | None = None, *, min_count: base.Count | None = None, as_of: base.Place = None
    ) -> list[NameCandidate]:
        """List who and what the text names that no entity is, told by rules; they are no facts.

        Args:
            kind: Only these: character, location, item, faction, term or unknown.
            min_count: Only those that the text names so many times; without it 3, and rarer ones in a short story.
            as_of: Only scenes before this position count.
        """
        with self._stores.database(self.project_id).read() as unit:
            matching_candidates = open_candidates(
                unit, as_of=base.position_of(as_of) or END_OF_STORY, min_count=min_count
            )
        return [candidate for candidate in matching_candidates if kind in (None, candidate.kind)]

    alist = base.async_twin(list)
    aconfirm = base.async_twin(confirm)
    aconfirm_several = base.async_twin(confirm_several)
    amerge = base.async_twin(merge)
    adrop = base.async_twin(drop)


def _required(unit: UnitOfWork, name: str, candidates: Sequence[NameCandidate] | None = None) -> NameCandidate:
    if candidates is None:
        candidates = open_candidates(unit, as_of=END_OF_STORY, min_count=1)
    candidate = candidate_of(candidates, name)
    if candidate is not None:
        return candidate
    bearer = next(
        (entity for entity in base.known_entities(unit, None) if name_key(name) in map(name_key, entity.names())), None
    )
    if bearer is not None:
        raise UnknownEntityError(
            f"{name!r} has a card already: {bearer.entity_id} ({bearer.name}); `novelgen entity merge"
            f" {unit.project_id} {in_shell(bearer.name)} NAME` adds a name of the text to it"
        )
    names = {variant: candidate.name for candidate in reversed(candidates) for variant in candidate.names()}
    near = nearest_names(name, names, at_most=MAX_NEAR, likeness=0.4)
    advice = f"near it: {', '.join(near)}" if near else "list them with `novelgen entity candidates`"
    raise UnknownEntityError(
        f"no candidate, or more than one, is named {name!r} in the text; {advice}; or make the card yourself with"
        f" `novelgen card add {unit.project_id} {in_shell(name)}`"
    )


def _entity_type(candidate: NameCandidate, project_id: str) -> EntityType:
    if candidate.kind == "unknown":
        kinds = ", ".join(get_args(EntityType))
        raise UserInputError(
            f"the text does not tell what {candidate.name!r} is; say its kind, one of {kinds}:"
            f" `novelgen entity confirm {project_id} {in_shell(candidate.name)} --kind character`"
        )
    return candidate.kind


EARLY_SCENES = 8
"""So many scenes with a name tell what it meant before the full name that holds it came."""


def _places(unit: UnitOfWork, candidate: NameCandidate) -> dict[str, tuple[int, int]]:
    """Return from which scene on each name of a candidate is its own.

    A name that the text has before the full one counts from there only where it told the same kind already: that a
    place is a person's name, too, the full name tells.
    """
    places = {name_variant.name: name_variant.first_place for name_variant in candidate.variants}
    own = places[candidate.name]
    texts = unit.scenes.texts_as_of(as_of=StoryPosition(*own)) if any(place < own for place in places.values()) else []
    for name, place in places.items():
        if place < own:
            holding = [scene for scene in texts if name in scene[2]][:EARLY_SCENES]
            early = candidate_of(find_name_candidates(holding, min_count=1), name)
            places[name] = place if early is not None and early.kind in (candidate.kind, "unknown") else own
    return places


def _entity_of(
    candidate: NameCandidate, entity_id: str, entity_type: EntityType, places: Mapping[str, tuple[int, int]]
) -> Entity:
    (chapter, scene), own = min(places.values()), places[candidate.name]
    aliases = [
        EntityAlias(alias=name, first_chapter=places[name][0], first_scene=places[name][1])
        for name in candidate.names()
        if name != candidate.name
    ]
    return Entity(
        entity_id=entity_id,
        entity_type=entity_type,
        name=candidate.name,
        aliases=aliases,
        first_chapter=chapter,
        first_scene=scene,
        name_first_chapter=own[0],
        name_first_scene=own[1],
    )


def _aliases(candidate: NameCandidate) -> list[EntityAlias]:
    """Return the names of a candidate, each from the first scene that holds it on."""
    places = {name_variant.name: name_variant.first_place for name_variant in candidate.variants}
    return [
        EntityAlias(alias=name, first_chapter=places[name][0], first_scene=places[name][1])
        for name in candidate.names()
    ]


def is_candidate(stores: MemoryStores, project_id: str, *, name: str) -> bool:
    """Return whether a name belongs to a candidate."""
    with stores.database(project_id).read() as unit:
        candidate = candidate_of(open_candidates(unit, as_of=END_OF_STORY, min_count=1), name)
        key = name_key(name)
        return candidate is not None and key in map(name_key, candidate.names())
