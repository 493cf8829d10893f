"""The plan of what to look up, made by rules: names found in the scene plan, one query for each part of it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import combinations, islice

from novelgen.models.characters import CharactersConfig
from novelgen.models.context import PlannerReport, ReportIssue
from novelgen.models.entity import Entity, EntityType
from novelgen.models.plan import ScenePlan
from novelgen.names.resolver import NameResolver, Resolution
from novelgen.planning.retrieval_plan import PlannedQuery, RetrievalPlan

MAX_RULE_QUERIES = 24
MAX_ACTION_QUERIES = 10
MAX_HINT_QUERIES = 4
MAX_CHARACTER_QUERIES = 6
MAX_QUERY_CHARACTERS = 1000


def plan_by_rules(
    scene_plan: ScenePlan,
    *,
    entities: Sequence[Entity],
    names: NameResolver,
    characters: CharactersConfig | None = None,
    hints: Sequence[str] = (),
) -> RetrievalPlan:
    """Plan retrieval without a model.

    Args:
        scene_plan: The planned scene.
        entities: The entities known at its position, with the names known there.
        names: Resolver over the same entities.
        characters: The author's cast; decides between several known bearers of a name, and nothing else, for
            its cards may tell what the story has not told yet.
        hints: Free remarks that the search should heed.

    Returns:
        The entities named in characters, place, purpose, actions and hints, in this order; at most
        MAX_RULE_QUERIES queries: the whole plan, purpose, actions, place, hints, characters at the place,
        pairs of characters. A plan without any text gives no query. Names of `characters` that nobody bears
        are unresolved and stay query words.
    """
    resolutions = [
        _decided_by_cast(_resolved(name, names, ("character",)), entities, characters)
        for name in scene_plan.characters
        if name.strip()
    ]
    texts = [scene_plan.location, scene_plan.purpose, *scene_plan.key_actions, *hints]
    cast_ids = [each.entity_id for each in resolutions if each.entity_id]
    mentioned = [each for text in texts for each in names.entity_ids_in(text, also_present=cast_ids)]
    location = scene_plan.location.strip()
    place = _resolved(location, names, ("location",)).entity_id if location else None
    display_names = {entity.entity_id: entity.name for entity in entities}
    labels = [display_names.get(each.entity_id or "", each.name) for each in resolutions]
    return RetrievalPlan(
        entity_ids=list(dict.fromkeys([*cast_ids, *([place] if place else []), *mentioned])),
        queries=_queries(scene_plan, labels, hints),
        unresolved_names=[each.name for each in resolutions if each.entity_id is None],
        planner=PlannerReport(used="rules", reason="no model is configured"),
        issues=[_ambiguity(each) for each in resolutions if each.entity_id is None and each.candidate_ids],
    )


def _resolved(name: str, names: NameResolver, entity_types: Sequence[EntityType]) -> Resolution:
    """Resolve a name among entities of the expected types, and among all where none of those bears it."""
    expected = names.resolve(name, entity_types=entity_types)
    return expected if expected.candidate_ids else names.resolve(name)


def _decided_by_cast(
    resolution: Resolution, entities: Sequence[Entity], characters: CharactersConfig | None
) -> Resolution:
    """Choose among the candidates the only one whose display name is in the author's cast."""
    if resolution.entity_id is not None or characters is None:
        return resolution
    cast = {character.name for character in characters.everyone()}
    in_cast = [
        entity.entity_id
        for entity in entities
        if entity.entity_id in resolution.candidate_ids and entity.name in cast
    ]
    if len(in_cast) != 1:
        return resolution
    return Resolution(resolution.name, in_cast[0], resolution.candidate_ids, "the only one in the cast")


def _queries(plan: ScenePlan, labels: Sequence[str], hints: Sequence[str]) -> list[PlannedQuery]:
    whole = " ".join([plan.location, *labels, plan.purpose, *plan.key_actions])
    people = list(dict.fromkeys(labels))
    asked = [
        ("whole", whole),
        ("purpose", plan.purpose),
        *(("action", action) for action in plan.key_actions[:MAX_ACTION_QUERIES]),
        ("place", plan.location),
        *(("hint", hint) for hint in hints[:MAX_HINT_QUERIES]),
        *(("character", f"{person} {plan.location}") for person in people[:MAX_CHARACTER_QUERIES]),
        *(("pair", f"{one} {other}") for one, other in islice(combinations(people, 2), MAX_RULE_QUERIES)),
    ]
    return _distinct(asked)[:MAX_RULE_QUERIES]


def _distinct(asked: Iterable[tuple[str, str]]) -> list[PlannedQuery]:
    kept: dict[str, PlannedQuery] = {}
    for purpose, text in asked:
        clean = " ".join(text.split())[:MAX_QUERY_CHARACTERS]
        if clean:
            kept.setdefault(clean.casefold(), PlannedQuery(text=clean, purpose=purpose, origin="rules"))
    return list(kept.values())


def _ambiguity(resolution: Resolution) -> ReportIssue:
    bearers = ", ".join(resolution.candidate_ids)
    return ReportIssue(
        stage="plan",
        kind="unresolved",
        message=f"the name {resolution.name!r} may mean {bearers} ({resolution.reason}); used as a search word only",
    )
