"""Planning of a scene's retrieval from its request and outline."""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, islice

from novelgen.context.model_planner import FirstRound, ModelPlanner
from novelgen.context.retrieval_plan import RetrievalPlan, StorySoFar, listing_order, merge_plans, with_further
from novelgen.language.language import StoryLanguage, stated_language, story_language
from novelgen.language.name_lists import split_names
from novelgen.language.normalise import name_key
from novelgen.language.resolver import NameResolver, Resolution
from novelgen.memory.outline import StoryOutline, StoryRecap
from novelgen.memory.search import NAMES_PURPOSE, SearchQuery, SearchResult
from novelgen.models.context import MemoryContextRequest, PlannerReport, ReportIssue
from novelgen.models.entity import Entity, EntityAlias, EntityType, is_entity_id
from novelgen.models.plan import ScenePlan
from novelgen.models.state import EntityStateSnapshot, Relationship
from novelgen.models.user_file import CharactersConfig

MAX_RULE_QUERIES = 24
MAX_ACTION_QUERIES = 10
MAX_HINT_QUERIES = 4

TELLING_ACTIONS = 4
"""A plan of fewer key actions says too little: for each that it lacks, how two of its people stand is asked."""

MAX_CHARACTER_QUERIES = 6
MAX_QUERY_CHARACTERS = 1000


def plan_by_rules(
    scene_plan: ScenePlan,
    *,
    entities: Sequence[Entity],
    names: NameResolver,
    characters: CharactersConfig | None = None,
    hints: Sequence[str] = (),
    relationships: Sequence[Relationship] = (),
) -> RetrievalPlan:
    """Plan retrieval without a model, adding the cast's relations to short plans."""

    def bearer(name: str) -> Resolution:
        return _decided_by_cast(_resolve_name(name, names, ("character",)), entities, characters)

    resolutions = [bearer(name) for name in scene_plan.characters if name.strip()]
    pov = bearer(scene_plan.pov.strip()) if scene_plan.pov.strip() else None
    if pov is not None and not {pov.entity_id or pov.name} & {
        resolution.entity_id or resolution.name for resolution in resolutions
    }:
        resolutions.append(pov)
    texts = [scene_plan.location, scene_plan.purpose, *scene_plan.key_actions, *hints]
    cast_ids = [resolution.entity_id for resolution in resolutions if resolution.entity_id]
    mentioned = [entity_id for text in texts for entity_id in names.entity_ids_in(text, also_present=cast_ids)]
    location = scene_plan.location.strip()
    place = _resolve_name(location, names, ("location",)).entity_id if location else None
    display_names = {entity.entity_id: entity.name for entity in entities}
    labels = [display_names.get(resolution.entity_id or "", resolution.name) for resolution in resolutions]
    return RetrievalPlan(
        pov_id=pov.entity_id if pov is not None else None,
        entity_ids=list(dict.fromkeys([*cast_ids, *([place] if place else []), *mentioned])),
        queries=_queries(scene_plan, labels, hints, _between(relationships, cast_ids, display_names)),
        unresolved_names=[resolution.name for resolution in resolutions if resolution.entity_id is None],
        planner=PlannerReport(used="rules", reason="no model is configured"),
        issues=[
            report_unresolved(
                f"the name {resolution.name!r} may mean {', '.join(resolution.candidate_ids)} ({resolution.reason}); "
                "used as a search word only"
            )
            for resolution in resolutions
            if resolution.entity_id is None and resolution.candidate_ids
        ],
    )


def _resolve_name(name: str, names: NameResolver, entity_types: Sequence[EntityType]) -> Resolution:
    """Resolve a name among entities of the expected types, and among all where none of those bears it."""
    expected_resolution = names.resolve(name, entity_types=entity_types)
    return expected_resolution if expected_resolution.candidate_ids else names.resolve(name)


def _decided_by_cast(
    resolution: Resolution, entities: Sequence[Entity], characters: CharactersConfig | None
) -> Resolution:
    """Choose the only candidate whose display name is in the author's cast."""
    if resolution.entity_id is not None or characters is None:
        return resolution
    cast = {character.name for character in characters.everyone()}
    in_cast = [
        entity.entity_id for entity in entities if entity.entity_id in resolution.candidate_ids and entity.name in cast
    ]
    if len(in_cast) != 1:
        return resolution
    return Resolution(resolution.name, in_cast[0], resolution.candidate_ids, "the only one in the cast")


def _between(relationships: Sequence[Relationship], cast_ids: Sequence[str], names: Mapping[str, str]) -> list[str]:
    """Describe each planned pair: status and last event, the most intense first."""
    touched_relationships = [
        relationship
        for relationship in relationships
        if {relationship.character_a, relationship.character_b}.issubset(cast_ids)
    ]
    statements = []
    for relationship in sorted(
        touched_relationships,
        key=lambda other_relationship: (-other_relationship.intensity, other_relationship.relationship_id),
    ):
        latest = next((event.event for event in reversed(relationship.history) if event.event), "")
        pair = [names.get(side, "") for side in relationship.in_reading_order()]
        statements.append(" ".join([*pair, relationship.relationship_type, relationship.status, latest]))
    return statements


def _queries(plan: ScenePlan, labels: Sequence[str], hints: Sequence[str], between: Sequence[str]) -> list[SearchQuery]:
    whole = " ".join([plan.location, *labels, plan.purpose, *plan.key_actions])
    people = list(dict.fromkeys(labels))
    queries = [
        ("whole", whole),
        ("purpose", plan.purpose),
        *(("action", action) for action in plan.key_actions[:MAX_ACTION_QUERIES]),
        ("place", plan.location),
        *(("between", statement) for statement in between[: max(0, TELLING_ACTIONS - len(plan.key_actions))]),
        *(("hint", hint) for hint in hints[:MAX_HINT_QUERIES]),
        *(("character", f"{person} {plan.location}") for person in people[:MAX_CHARACTER_QUERIES]),
        *(("pair", f"{one} {other}") for one, other in islice(combinations(people, 2), MAX_RULE_QUERIES)),
    ]
    queries_by_text: dict[str, SearchQuery] = {}
    for purpose, text in queries:
        clean = " ".join(text.split())[:MAX_QUERY_CHARACTERS]
        if clean:
            queries_by_text.setdefault(clean.casefold(), SearchQuery(text=clean, purpose=purpose, origin="rules"))
    return list(queries_by_text.values())[:MAX_RULE_QUERIES]


MAX_INFERRED = 3
"""States of so many entities that only a model picked; a bad pick must not push the stage out."""

SCENES_OF_A_RECAP = 3


def entities_for_states(plan_entity_ids: Sequence[str], outline: StoryOutline, *, limit: int) -> list[str]:
    """Choose the entities for states: planned, recent, held, last changed."""
    about = [*recently_on_stage(outline), *_held_by(plan_entity_ids, outline)]
    about += _held_by(about, outline)
    last_changed_first = [entity_id for entity_id in outline.stated_ids if entity_id in about]
    stated = set(outline.stated_ids)
    others = sorted([*last_changed_first, *outline.stated_ids, *about], key=lambda entity_id: entity_id not in stated)
    return list(dict.fromkeys([*plan_entity_ids, *others]))[:limit]


def state_candidates(plan: RetrievalPlan) -> list[str]:
    """Return the plan's entities with no more than `MAX_INFERRED` of those that only a model picked, last."""
    named_ids = [entity_id for entity_id in plan.entity_ids if entity_id not in plan.inferred_ids]
    return [*named_ids, *plan.inferred_ids[:MAX_INFERRED]]


def recently_on_stage(outline: StoryOutline, *, scenes: int = SCENES_OF_A_RECAP) -> list[str]:
    """Return the distinct participants of the last scenes, latest first."""
    latest_first = reversed(outline.scenes[-scenes:] if scenes > 0 else [])
    return list(dict.fromkeys(entity_id for scene in latest_first for entity_id in scene.participants))


def _held_by(holder_ids: Iterable[str], outline: StoryOutline) -> list[str]:
    return [item_id for holder_id in holder_ids for item_id in outline.holders.get(holder_id, ())]


PRESENT_SCENES = 8
"""Who was on stage in so many last scenes decides whom an ambiguous name means."""


MAX_TOLD_STATES = 12
"""So many people and things have a line of state in a planner's prompt."""

MAX_NOTED = 60
"""Of so many of the entities that a planner's prompt lists first the status is read."""

Recall = Callable[[Sequence[str]], tuple[StoryRecap, Sequence[EntityStateSnapshot]]]
"""Reads, for a planning model, the recap of the story and the states of these entities."""


@dataclass(frozen=True)
class PlannedScene:
    """The plan of a scene, and the planner's report."""

    plan: RetrievalPlan
    model_time_s: float = 0.0
    first_round: FirstRound | None = None


def known_story(request: MemoryContextRequest, outline: StoryOutline | None) -> StoryOutline:
    """Return the outline, or an empty one where the story could not be read."""
    return outline if outline is not None else StoryOutline(project_id=request.project_id)


def language_of(request: MemoryContextRequest, outline: StoryOutline) -> StoryLanguage:
    """Return the story's language: as its settings say, as stored, else as the plan is written."""
    stated = (request.settings.language if request.settings else "") or outline.language
    plan = request.scene_plan
    return stated_language(stated) or story_language(" ".join([plan.location, plan.purpose, *plan.key_actions]))


def plan_scene(
    request: MemoryContextRequest,
    outline: StoryOutline | None,
    *,
    planner: ModelPlanner | None,
    recall: Recall | None = None,
    takes_names: bool = False,
) -> PlannedScene:
    """Plan by rules, and add the plan of a model where there is one.

    Args:
        request: The scene.
        outline: The story before it; None where it could not be read.
        planner: Plans with a model; None plans by rules alone.
        recall: Reads further matter for the model's prompt.
        takes_names: Whether the memory does not know the story, so that the plan names people in place of their ids.

    Returns:
        The plan, with ids of the story or with names.
    """
    story = known_story(request, outline)
    known_entities = story.entities or _cast_as_entities(request.characters)
    names = NameResolver(known_entities, present_ids=recently_on_stage(story, scenes=PRESENT_SCENES))
    rules = plan_by_rules(
        request.scene_plan,
        entities=known_entities,
        names=names,
        characters=request.characters,
        hints=request.hints,
        relationships=story.relationships,
    )
    if planner is None:
        return PlannedScene(plan=_of_memory(rules, story, names, request, takes_names=takes_names))
    so_far = _story_so_far(rules, story, names, recall)
    started_s = time.monotonic()
    first = planner.plan(
        request, entities=known_entities, names=names, language=language_of(request, story), story=so_far
    )
    return PlannedScene(
        plan=_of_memory(merge_plans(rules, first.plan), story, names, request, takes_names=takes_names),
        model_time_s=time.monotonic() - started_s,
        first_round=first,
    )


def plan_second_round(
    scene: PlannedScene,
    request: MemoryContextRequest,
    outline: StoryOutline | None,
    *,
    planner: ModelPlanner,
    first_result: SearchResult,
    takes_names: bool = False,
) -> PlannedScene:
    """Let the model plan again after the first hits.

    See `plan_scene`.
    """
    if scene.first_round is None:
        return scene
    story = known_story(request, outline)
    started_s = time.monotonic()
    further = planner.plan_second_round(scene.first_round, first_result)
    plan = with_further(scene.plan, further)
    plan = _with_names(plan, request) if takes_names else _stored_only(plan, story)
    return PlannedScene(plan, scene.model_time_s + time.monotonic() - started_s, scene.first_round)


def _story_so_far(rules: RetrievalPlan, story: StoryOutline, names: NameResolver, recall: Recall | None) -> StorySoFar:
    state_ids = entities_for_states(rules.entity_ids, story, limit=MAX_TOLD_STATES)
    listed_entities = listing_order(story.entities, story, touched_ids=rules.entity_ids)
    requested_fields = dict.fromkeys([*state_ids, *(entity.entity_id for entity in listed_entities[:MAX_NOTED])])
    recap, states = (
        recall(list(requested_fields))
        if recall is not None
        else (StoryRecap(scenes=story.scenes[-SCENES_OF_A_RECAP:]), ())
    )
    return StorySoFar(
        outline=story,
        recap=recap,
        states=states,
        state_ids=state_ids,
        touched_ids=rules.entity_ids,
        newcomers=[
            unresolved_name
            for unresolved_name in rules.unresolved_names
            if not names.resolve(unresolved_name).candidate_ids
        ],
    )


def _cast_as_entities(characters: CharactersConfig | None) -> list[Entity]:
    """The people of the author's cards as entities with names alone."""
    return [
        Entity(
            entity_id=f"cast:{number}",
            entity_type="character",
            name=card.name,
            aliases=[EntityAlias(alias=alias) for alias in card.aliases if alias],
        )
        for number, card in enumerate(characters.everyone() if characters else ())
    ]


def with_single_names(request: MemoryContextRequest, outline: StoryOutline | None) -> MemoryContextRequest:
    """Return a request with the names of its plan's characters one by one."""
    known_entities = known_story(request, outline).entities or _cast_as_entities(request.characters)
    names = split_names(request.scene_plan.characters, known_entities)
    if names == request.scene_plan.characters:
        return request
    return request.model_copy(update={"scene_plan": request.scene_plan.model_copy(update={"characters": names})})


def planned_people(request: MemoryContextRequest) -> list[str]:
    """Return the names of a plan's characters and of its point of view, as they stand."""
    plan = request.scene_plan
    return list(dict.fromkeys(name for entity_id in (*plan.characters, plan.pov) if (name := entity_id.strip())))


def names_for_states(request: MemoryContextRequest, *, limit: int) -> list[str]:
    """Choose the names under which a memory that knows no ids is asked for states: the plan's, then the cast's."""
    cast = [card.name.strip() for card in request.characters.everyone()]
    return [name for name in dict.fromkeys([*planned_people(request), *cast]) if name][:limit]


def _of_memory(
    plan: RetrievalPlan, story: StoryOutline, names: NameResolver, request: MemoryContextRequest, *, takes_names: bool
) -> RetrievalPlan:
    kept_retrieval_plan = _of_story(plan, story, names, request.characters)
    if not takes_names:
        return kept_retrieval_plan
    named_retrieval_plan = _with_names(plan, request)
    return kept_retrieval_plan.model_copy(
        update={"entity_ids": named_retrieval_plan.entity_ids, "queries": named_retrieval_plan.queries}
    )


def _with_names(plan: RetrievalPlan, request: MemoryContextRequest) -> RetrievalPlan:
    """Name people as the plan or their card does, where the memory gives no ids."""
    people = planned_people(request)
    cards = _cast_as_entities(request.characters)
    spelled = {card.entity_id: next((name for name in people if name in card.names()), card.name) for card in cards}
    return plan.model_copy(
        update={
            "entity_ids": list(
                dict.fromkeys([*people, *(spelled.get(entity_id, entity_id) for entity_id in plan.entity_ids)])
            ),
            "inferred_ids": [],
            "pov_id": None,
            "queries": [
                query.model_copy(
                    update={"entities": [spelled.get(entity_id, entity_id) for entity_id in query.entities]}
                )
                for query in plan.queries
            ],
        }
    )


def referenced_ids(states: Iterable[EntityStateSnapshot]) -> list[str]:
    """Return the entity ids among the values of states, without repeats."""

    def ids_in(value: object) -> Iterator[str]:
        if isinstance(value, Mapping):
            value = list(value.values())
        if isinstance(value, list | tuple):
            for part in value:
                yield from ids_in(part)
        elif isinstance(value, str) and is_entity_id(value):
            yield value

    return list(dict.fromkeys(text for state in states for text in ids_in([state.state_data, state.holds])))


def with_known_ids(plan: RetrievalPlan, ids_by_name: Mapping[str, str]) -> RetrievalPlan:
    """Return a plan of names with the ids that the memory gave for them, the others left out."""
    ids = [ids_by_name[name] for name in plan.entity_ids if name in ids_by_name]
    return plan.model_copy(update={"entity_ids": list(dict.fromkeys(ids))})


def _of_story(
    plan: RetrievalPlan, story: StoryOutline, names: NameResolver, characters: CharactersConfig | None
) -> RetrievalPlan:
    """Keep the ids that are stored, and say which names nobody bears, neither in the story nor in its cards."""
    carded = {name_key(name) for card in _cast_as_entities(characters) for name in card.names()}
    missing = [name for name in dict.fromkeys(plan.unresolved_names) if name_key(name) not in carded]
    unborne = [name for name in missing if not names.resolve(name).candidate_ids]
    issues = [*plan.issues, *(_nobody(name) for name in unborne if story.entities)]
    return _stored_only(plan, story).model_copy(update={"unresolved_names": missing, "issues": issues})


def _stored_only(plan: RetrievalPlan, story: StoryOutline) -> RetrievalPlan:
    stored_ids = {entity.entity_id for entity in story.entities}
    return plan.model_copy(
        update={
            "entity_ids": [entity_id for entity_id in plan.entity_ids if entity_id in stored_ids],
            "inferred_ids": [inferred_id for inferred_id in plan.inferred_ids if inferred_id in stored_ids],
            "pov_id": plan.pov_id if plan.pov_id in stored_ids else None,
            "queries": [
                query.model_copy(
                    update={"entities": [entity_id for entity_id in query.entities if entity_id in stored_ids]}
                )
                for query in plan.queries
            ],
        }
    )


MAX_VARIANTS = 6
"""So many ways of saying a name are searched for."""


def with_names_of_text(plan: RetrievalPlan, names_by_word: Mapping[str, Sequence[str]]) -> RetrievalPlan:
    """Search a plan's names that are no entity's in all ways in which the text says them."""
    missed_names = {_nobody(name).message for name in names_by_word}
    asked_texts = {query.text.casefold() for query in plan.queries}
    queries = [
        SearchQuery(text=text, purpose=NAMES_PURPOSE, origin="rules")
        for name, variants in names_by_word.items()
        if any(variant.casefold() != name.casefold() for variant in variants)
        and (text := " ".join(list(dict.fromkeys([name, *variants]))[:MAX_VARIANTS])[:MAX_QUERY_CHARACTERS]).casefold()
        not in asked_texts
    ]
    return plan.model_copy(
        update={
            "queries": [*plan.queries, *queries],
            "issues": [issue for issue in plan.issues if issue.message not in missed_names],
        }
    )


def _nobody(name: str) -> ReportIssue:
    return report_unresolved(
        f"nobody whom the story has shown by then is called {name!r}; it was used as a search word only. "
        "Correct the name, or add the alias, where somebody known is meant"
    )


def report_unresolved(message: str) -> ReportIssue:
    """Return the issue of an unresolved name in a plan."""
    return ReportIssue(stage="plan", kind="unresolved", message=message)
