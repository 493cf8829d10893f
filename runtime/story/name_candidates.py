"""What users do with candidates, the names that a story's text offers: list, confirm, merge and drop them."""

from collections.abc import Sequence
from typing import get_args

from pydantic import BaseModel, Field

from novelgen.errors import UnknownEntityError, UserInputError
from novelgen.language.candidates import NameCandidate, candidate_of
from novelgen.language.normalise import name_key
from novelgen.language.sightings import CandidateKind
from novelgen.models.context import ReportIssue
from novelgen.models.entity import Entity, EntityAlias, EntityType
from novelgen.models.position import END_OF_STORY
from novelgen.models.shown import ShownList
from novelgen.nearest import MAX_NEAR, nearest_names
from runtime.search.text_names import open_candidates
from runtime.storage.database import UnitOfWork
from runtime.storage.journal import Change
from runtime.storage.records import IndexingResult
from runtime.story.base import Count, Place, StoryBase, async_twin, known_entities, position_of, resolved_entity


class NameCandidates(BaseModel):
    """Names that the text offers and no entity bears, those that stand in most scenes first."""

    candidates: list[NameCandidate] = Field(default_factory=list)


class CandidateDecision(BaseModel):
    """What became of a candidate."""

    change: Change
    candidate: NameCandidate
    entity: Entity | None = Field(default=None, description="Who bears its names now; None: nobody.")
    joined: NameCandidate | None = Field(default=None, description="The candidate that it belongs to now.")
    indexing: IndexingResult = Field(default_factory=IndexingResult)


class StoryNameCandidates(StoryBase):
    """What users do with candidates, the names that a story's text offers: list, confirm, merge and drop them."""

    def candidates(
        self, kind: CandidateKind | None = None, *, min_count: Count | None = None, as_of: Place = None
    ) -> list[NameCandidate]:
        """List who and what the text names that no entity is, told by rules; they are no facts.

        Args:
            kind: Only these: character, location, item, faction, term or unknown.
            min_count: Only those that the text names so many times; without it 3, and rarer ones in a short story.
            as_of: Only scenes before this position count.
        """
        return self.list_candidates(kind=kind, min_count=min_count, as_of=position_of(as_of)).candidates

    def list_candidates(
        self, *, kind: CandidateKind | None = None, min_count: int | None = None, as_of: Place = None
    ) -> NameCandidates:
        """List who and what the text names before a position and no entity is, told by rules, without a model."""
        if kind is not None and kind not in get_args(CandidateKind):
            raise UserInputError(f"kind={kind!r} is none; give one of {', '.join(get_args(CandidateKind))}")
        if min_count is not None and min_count < 1:
            raise UserInputError(f"min_count={min_count!r} is too small; give 1 or more")
        with self._stores.database(self.project_id).read() as unit:
            found = open_candidates(unit, as_of=position_of(as_of) or END_OF_STORY, min_count=min_count)
        return NameCandidates(candidates=[each for each in found if kind in (None, each.kind)])

    def confirm_candidate(self, name: str, *, kind: EntityType | None = None) -> CandidateDecision:
        """Make a candidate an entity, known from the first scene that names it on, each variant from its own first.

        Args:
            name: The name, as the text has it.
            kind: What it is; None means what the text suggests.
        """
        return self.confirm_candidates([name], kind=kind)[0]

    def confirm_candidates(
        self, names: Sequence[str] = (), *, kind: EntityType | None = None, top: Count | None = None
    ) -> ShownList[CandidateDecision]:
        """Make several candidates entities at once; each can be undone by itself.

        Args:
            names: Their names, as the text has them.
            kind: What they are; None means what the text suggests.
            top: So many more: those that are named most often, of this kind, or people where none is said.

        Raises:
            UnknownEntityError: When no name is a candidate; where some are, `issues` of the list tell of the rest.
            UserInputError: When nobody is named, or the text does not tell what one is.
        """
        from runtime.ingest.entities import store_entities_in

        if not names and top is None:
            raise UserInputError("nobody is named; give names, or how many of the first candidates to take (top)")
        with self._stores.database(self.project_id).write() as unit:
            offered = open_candidates(unit, as_of=END_OF_STORY, min_count=1)
            chosen: dict[str, NameCandidate] = {}
            missing: list[UnknownEntityError] = []
            for name in names:
                try:
                    found = _of_offered(unit, offered, name)
                except UnknownEntityError as error:
                    missing.append(error)
                else:
                    chosen[found.name] = found
            if missing and not chosen and top is None:
                raise missing[0]
            others = [each for each in offered if each.kind == (kind or "character") and each.name not in chosen]
            chosen |= {each.name: each for each in others[: top or 0]}
            entities = {
                name: _entity_of(each, unit.entities.next_id(entity_type), entity_type)
                for name, each in chosen.items()
                for entity_type in [kind or _entity_type(each)]
            }
            # All at once: the scenes that name them are derived anew once.
            store_entities_in(unit, list(entities.values()), origin="author", stores=self._stores)
            decided = [
                CandidateDecision(
                    change=unit.merges.keep_names("confirm", entity.entity_id, name, entity.names()),
                    candidate=chosen[name],
                    entity=entity,
                )
                for name, entity in entities.items()
            ]
        indexing = self._follow_edit()
        return ShownList(
            (each.model_copy(update={"indexing": indexing}) for each in decided),
            issues=[ReportIssue(stage="card", kind="unresolved", message=str(error)) for error in missing],
        )

    def merge_candidate(self, keep: str, other: str) -> CandidateDecision:
        """Make a candidate part of an entity or of another candidate.

        Its names become names of the entity, each from the first scene that holds it on; of two candidates one is
        offered from then on, with the names of both.
        """
        if self.is_candidate(name=keep):
            with self._stores.database(self.project_id).write() as unit:
                kept, candidate = (_required(unit, each) for each in (keep, other))
                if kept.name == candidate.name:
                    raise UserInputError(f"{keep!r} and {other!r} are one candidate already; give two")
                change = unit.merges.keep("join", kept.name, candidate.name, [])
                joined = _required(unit, kept.name)
            return CandidateDecision(change=change, candidate=candidate, joined=joined)
        from runtime.ingest.entities import store_entities_in

        with self._stores.database(self.project_id).write() as unit:
            entity = resolved_entity(keep, known_entities(unit, None))
            candidate = _required(unit, other)
            borne = set(map(name_key, entity.names()))
            added = [alias for alias in _aliases(candidate, candidate.names()) if name_key(alias.alias) not in borne]
            named = entity.model_copy(update={"aliases": [*entity.aliases, *added]})
            stored = unit.entities.get(entity.entity_id)
            origin = stored.origin if stored else "author"
            store_entities_in(unit, [named], origin=origin, stores=self._stores)
            names = [alias.alias for alias in added]
            change = unit.merges.keep_names("name", entity.entity_id, candidate.name, names)
        indexing = self._follow_edit()
        return CandidateDecision(change=change, candidate=candidate, entity=named, indexing=indexing)

    def drop_candidate(self, name: str) -> CandidateDecision:
        """Never offer a candidate again; the text stays searchable by its names."""
        with self._stores.database(self.project_id).write() as unit:
            candidate = _required(unit, name)
            change = unit.merges.keep("drop", "", candidate.name, [])
        return CandidateDecision(change=change, candidate=candidate)

    def is_candidate(self, *, name: str) -> bool:
        """Tell whether a name is one of a candidate, as written there; ids and names of entities are none."""
        with self._stores.database(self.project_id).read() as unit:
            found = candidate_of(open_candidates(unit, as_of=END_OF_STORY, min_count=1), name)
            key = name_key(name)
            return found is not None and key in map(name_key, found.names())

    acandidates = async_twin(candidates)
    alist_candidates = async_twin(list_candidates)
    aconfirm_candidate = async_twin(confirm_candidate)
    aconfirm_candidates = async_twin(confirm_candidates)
    amerge_candidate = async_twin(merge_candidate)
    adrop_candidate = async_twin(drop_candidate)
    ais_candidate = async_twin(is_candidate)


def _required(unit: UnitOfWork, name: str) -> NameCandidate:
    return _of_offered(unit, open_candidates(unit, as_of=END_OF_STORY, min_count=1), name)


def _of_offered(unit: UnitOfWork, candidates: Sequence[NameCandidate], name: str) -> NameCandidate:
    found = candidate_of(candidates, name)
    if found is not None:
        return found
    bearer = next((each for each in known_entities(unit, None) if name_key(name) in map(name_key, each.names())), None)
    if bearer is not None:
        raise UnknownEntityError(
            f"{name!r} has a card already: {bearer.entity_id} ({bearer.name}); `novelgen entity delete` takes it away"
        )
    names = {variant: each.name for each in reversed(candidates) for variant in each.names()}
    near = nearest_names(name, names, at_most=MAX_NEAR, likeness=0.4)
    advice = f"near it: {', '.join(near)}" if near else "list them with `novelgen entity candidates`"
    raise UnknownEntityError(f"no candidate, or more than one, is named {name!r} in the text; {advice}")


def _entity_type(candidate: NameCandidate) -> EntityType:
    if candidate.kind == "unknown":
        kinds = ", ".join(get_args(EntityType))
        raise UserInputError(f"the text does not tell what {candidate.name!r} is; say its kind, one of {kinds}")
    return candidate.kind


def _entity_of(candidate: NameCandidate, entity_id: str, entity_type: EntityType) -> Entity:
    places = {variant.name: variant.first_place for variant in candidate.variants}
    chapter, scene = candidate.first_place
    name_chapter, name_scene = places[candidate.name]
    return Entity(
        entity_id=entity_id,
        entity_type=entity_type,
        name=candidate.name,
        aliases=_aliases(candidate, [each for each in candidate.names() if each != candidate.name]),
        first_chapter=chapter,
        first_scene=scene,
        name_first_chapter=name_chapter,
        name_first_scene=name_scene,
    )


def _aliases(candidate: NameCandidate, names: list[str]) -> list[EntityAlias]:
    places = {variant.name: variant.first_place for variant in candidate.variants}
    return [EntityAlias(alias=name, first_chapter=places[name][0], first_scene=places[name][1]) for name in names]
