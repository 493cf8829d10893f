"""What of a model's plan can be trusted: known entities, and searches that belong to the scene."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from novelgen.model_calls.parsing import UnusableAnswerError
from novelgen.models.context import PlannerReport
from novelgen.names.resolver import Mention, NameResolver
from novelgen.planning.retrieval_plan import (
    MAX_ENTITIES,
    MAX_QUERIES,
    ModelQuery,
    ModelRetrievalPlan,
    PlannedQuery,
    RetrievalPlan,
)
from novelgen.text.significant import significant_words

SHARED_WORDS_OF_A_GROUNDED_QUERY = 2
NAMES_ONLY = "names"
"""Purpose of a query that is nothing but names: it finds memories, but cannot tell which of them are relevant."""


@dataclass(frozen=True, slots=True)
class Ground:
    """What a plan may speak of.

    Args:
        names: Resolves names and ids as of the position of the planned scene.
        has_known_entities: Whether any entity is known there.
        scene_text: The scene plan and the hints, as text.
        example: The worked example of the prompt.
    """

    names: NameResolver
    has_known_entities: bool
    scene_text: str
    example: ModelRetrievalPlan


def ground_plan(answer: ModelRetrievalPlan, ground: Ground) -> RetrievalPlan:
    """Keep of a model's plan what is grounded in the scene and in the known entities.

    An entity is kept when its id or name is known. A search is kept when it names a known entity or shares
    SHARED_WORDS_OF_A_GROUNDED_QUERY words with the scene, and does not come from the prompt's example. Events
    become searches after the queries, up to MAX_QUERIES in all.

    Args:
        answer: The plan as the model gave it.
        ground: What it may speak of.

    Returns:
        A plan by "llm" with at least one entity or query.

    Raises:
        UnusableAnswerError: With fault "empty" for a plan that asks nothing, "echo" for one that repeats the
            example, "ungrounded" when nothing is left or when all its entities are invented.
    """
    if not (answer.entities or answer.queries or answer.events):
        raise UnusableAnswerError("empty", "the plan is empty")
    if _is_echo(answer, ground.example):
        raise UnusableAnswerError("echo", "the plan repeats the example of the prompt")
    entity_ids = _known_ids(answer.entities, ground.names)[:MAX_ENTITIES]
    queries = _grounded_queries(answer, ground)
    if not entity_ids and (not queries or (answer.entities and ground.has_known_entities)):
        raise UnusableAnswerError(
            "ungrounded", f"nothing in the plan belongs to this story: entities {answer.entities[:3]!r}"
        )
    return RetrievalPlan(
        entity_ids=entity_ids,
        queries=queries,
        planner=PlannerReport(used="llm", reason="the model's plan was added to that of the rules"),
    )


def _grounded_queries(answer: ModelRetrievalPlan, ground: Ground) -> list[PlannedQuery]:
    scene_words = significant_words(ground.scene_text)
    echoes = _search_texts(ground.example)
    asked = [(query, "model") for query in answer.queries]
    asked += [(ModelQuery(query=event), "event") for event in answer.events]
    kept: dict[str, PlannedQuery] = {}
    for query, purpose in asked:
        text = _folded(query.query)
        if not text or text in echoes:
            continue
        mentions = ground.names.find_mentions(query.query)
        if mentions or _speaks_of_the_scene(query.query, scene_words):
            says_more = bool(significant_words(_without(query.query, mentions)))
            kept.setdefault(text, _planned(query, purpose if says_more else NAMES_ONLY, ground.names))
    return list(kept.values())[:MAX_QUERIES]


def _planned(query: ModelQuery, purpose: str, names: NameResolver) -> PlannedQuery:
    return PlannedQuery(
        text=query.query,
        purpose=purpose,
        entities=_known_ids(query.entities, names),
        content_type=query.content_type,
        tags=query.tags,
        origin="llm",
    )


def _known_ids(picked: Iterable[str], names: NameResolver) -> list[str]:
    """The entities meant by ids or names, each once; what nobody knows is dropped."""
    found: dict[str, None] = {}
    for name in picked:
        resolved = names.resolve(name).entity_id
        found.update(dict.fromkeys([resolved] if resolved else names.entity_ids_in(name)))
    return list(found)


def _without(text: str, mentions: Sequence[Mention]) -> str:
    """Return the text with a space in place of every name."""
    for mention in sorted(mentions, key=lambda each: each.start, reverse=True):
        text = f"{text[: mention.start]} {text[mention.end :]}"
    return text


def _speaks_of_the_scene(text: str, scene_words: Collection[str]) -> bool:
    shared = significant_words(text).intersection(scene_words)
    return len(shared) >= SHARED_WORDS_OF_A_GROUNDED_QUERY


def _is_echo(answer: ModelRetrievalPlan, example: ModelRetrievalPlan) -> bool:
    """Tell whether all that the plan holds stands in the example too."""
    return set(answer.entities) <= set(example.entities) and _search_texts(answer) <= _search_texts(example)


def _search_texts(plan: ModelRetrievalPlan) -> frozenset[str]:
    return frozenset(map(_folded, [*(query.query for query in plan.queries), *plan.events]))


def _folded(text: str) -> str:
    return " ".join(text.casefold().split())
