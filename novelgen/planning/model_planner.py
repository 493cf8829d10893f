"""The plan of what to look up, made by a language model and trusted only where it fits the scene."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import BaseMessage

from novelgen.deadlines import Deadline
from novelgen.errors import DeadlineExceededError, ModelError
from novelgen.memory.search import NAMES_PURPOSE
from novelgen.model_calls.answers import UnusableAnswerError
from novelgen.model_calls.json_model import JsonModel, issue_kind_of
from novelgen.model_calls.prompt_data import NOTHING, as_data, known_entities_text
from novelgen.models.context import MemoryContextRequest, PlannerReport, ReportIssue
from novelgen.models.entity import Entity
from novelgen.models.plan import ScenePlan
from novelgen.models.user_file import Character
from novelgen.names.normalise import name_key
from novelgen.names.resolver import Mention, NameResolver
from novelgen.planning.retrieval_plan import (
    MAX_ENTITIES,
    MAX_EVENTS,
    MAX_QUERIES,
    MAX_QUERY_CHARACTERS,
    ModelQuery,
    ModelRetrievalPlan,
    PlannedQuery,
    RetrievalPlan,
)
from novelgen.prompting import load_chat_prompt, read_prompt_file
from novelgen.text.language import StoryLanguage, significant_words

MAX_PLAN_CHARACTERS = 6000

MAX_BACKGROUND_CHARACTERS = 1500

MAX_CARDS = 8

MAX_CARD_CHARACTERS = 300

_LABELS: dict[StoryLanguage, dict[str, str]] = {
    "en": {
        "location": "Place",
        "characters": "Characters",
        "purpose": "Purpose",
        "action": "Action",
        "title": "Story",
        "genre": "Genre",
        "world": "World",
        "chapter": "Chapter",
        "earlier": "Earlier in the chapter",
        "hint": "Remark",
        "later": "Planned later in the chapter",
        "scene_type": "Kind of scene",
        "intensity": "Intensity",
        "words": "Planned length in words",
    },
    "zh": {
        "location": "地点",
        "characters": "人物",
        "purpose": "目的",
        "action": "动作",
        "title": "故事",
        "genre": "类型",
        "world": "世界",
        "chapter": "章",
        "earlier": "本章之前各场",
        "hint": "提示",
        "later": "本章之后计划的各场",
        "scene_type": "场景类型",
        "intensity": "强度",
        "words": "计划字数",
    },
}


def scene_plan_text(plan: ScenePlan, language: StoryLanguage) -> str:
    """Return the plan as labelled lines, at most MAX_PLAN_CHARACTERS long, in the story's language."""
    labels = _LABELS[language]
    lines = [
        (labels["location"], plan.location),
        (labels["characters"], _joined(plan.characters, language)),
        (labels["purpose"], plan.purpose),
        *((labels["action"], action) for action in plan.key_actions),
        (labels["scene_type"], plan.scene_type),
        (labels["intensity"], plan.intensity),
        (labels["words"], str(plan.estimated_words or "")),
    ]
    return _labelled(lines, language, MAX_PLAN_CHARACTERS)


def background_text(request: MemoryContextRequest, language: StoryLanguage) -> str:
    """Return what the request tells beside the plan: settings, the plan of its chapter, hints."""
    labels = _LABELS[language]
    lines = [(labels["hint"], hint) for hint in request.hints]
    if request.chapter_plan is not None:
        number = request.scene_plan.scene_number or request.scene_index
        earlier = [
            scene.purpose for scene in request.chapter_plan.scenes if (scene.scene_number or 0) < number
        ]
        lines.append((labels["chapter"], request.chapter_plan.chapter_title))
        lines += [(labels["earlier"], purpose) for purpose in earlier]
        later = [scene.purpose for scene in request.chapter_plan.scenes if (scene.scene_number or 0) > number]
        lines += [(labels["later"], purpose) for purpose in later]
    if request.settings is not None:
        lines.append((labels["title"], request.settings.project_name))
        lines.append((labels["genre"], request.settings.genre))
        lines.append((labels["world"], request.settings.world_description))
    return _labelled(lines, language, MAX_BACKGROUND_CHARACTERS)


def cards_text(request: MemoryContextRequest, language: StoryLanguage) -> str:
    """Return the author's cards of those whom the plan names, one line each, at most MAX_CARDS of them."""
    cast = request.characters.everyone() if request.characters is not None else []
    by_name = {name_key(name): card for card in cast[::-1] for name in (*card.aliases, card.name)}
    planned = (by_name.get(name_key(name)) for name in request.scene_plan.characters)
    cards = {card.name: card for card in planned if card is not None}
    lines = [_card_line(card, language) for card in list(cards.values())[:MAX_CARDS]]
    return "\n".join(lines) or NOTHING[language]


def _card_line(card: Character, language: StoryLanguage) -> str:
    separator, colon = ("；", "：") if language == "zh" else ("; ", ": ")
    told = [card.role, _joined(card.aliases, language), card.personality, card.motivation, card.background]
    said = separator.join(as_data(text) for text in told if text.strip())
    return f"{as_data(card.name)}{colon}{said}"[:MAX_CARD_CHARACTERS]


def _labelled(lines: Iterable[tuple[str, str]], language: StoryLanguage, max_characters: int) -> str:
    separator = "：" if language == "zh" else ": "
    said = [f"{label}{separator}{as_data(text)}" for label, text in lines if text.strip()]
    return "\n".join(said)[:max_characters] or NOTHING[language]


def _joined(names: Iterable[str], language: StoryLanguage) -> str:
    return ("、" if language == "zh" else ", ").join(names)


SHARED_WORDS_OF_A_GROUNDED_QUERY = 2


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
            kept.setdefault(text, _planned(query, purpose if says_more else NAMES_PURPOSE, ground.names))
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


PROMPT_VARIABLES = frozenset(
    {"background", "cards", "example", "format_instructions", "known_entities", "max_entities", "max_events"}
    | {"max_queries", "max_query_characters", "scene_plan"}
)

REPAIR_VARIABLES = frozenset({"problem"})

_PLAN_KEYS = ("entities", "queries")


class ModelPlanner:
    """Plans retrieval with a chat model.

    A planner remembers which response format its server takes; keep one per model.

    Args:
        model: Any LangChain chat model.
        timeout_s: Seconds for all calls of one plan together, whatever the client's own timeouts and
            retries do.
    """

    def __init__(self, model: BaseChatModel, *, timeout_s: float = 20.0) -> None:
        self._model = JsonModel(model, ModelRetrievalPlan, keys=_PLAN_KEYS)
        self._timeout_s = timeout_s

    def plan(
        self,
        request: MemoryContextRequest,
        *,
        entities: Sequence[Entity],
        names: NameResolver,
        language: StoryLanguage,
        touched_ids: Sequence[str] = (),
    ) -> RetrievalPlan:
        """Ask the model what to look up, with at most one call to repair a bad answer.

        Args:
            request: The planned scene.
            entities: The entities known at its position, with the names known there.
            names: Resolver over the same entities.
            language: Language of the story; chooses the prompt.
            touched_ids: Entities that the rules found; listed first where not all can be listed.

        Returns:
            The grounded plan with `planner.used` "llm"; when the model fails in any way an empty plan with
            "rules", the reason, and one issue. Never raises for what the model or its server does.
        """
        scene_text = scene_plan_text(request.scene_plan, language)
        example = read_prompt_file(f"plan_retrieval_example.{language}.json").strip()
        ground = Ground(
            names=names,
            has_known_entities=bool(entities),
            scene_text="\n".join([scene_text, *request.hints]),
            example=ModelRetrievalPlan.model_validate_json(example),
        )
        prompt = load_chat_prompt("plan_retrieval", language, variables=PROMPT_VARIABLES)
        messages = prompt.format_messages(
            background=background_text(request, language),
            cards=cards_text(request, language),
            example=example,
            format_instructions=self._model.format_instructions(),
            known_entities=known_entities_text(entities, language, first_ids=touched_ids),
            max_entities=str(MAX_ENTITIES),
            max_events=str(MAX_EVENTS),
            max_queries=str(MAX_QUERIES),
            max_query_characters=str(MAX_QUERY_CHARACTERS),
            scene_plan=scene_text,
        )
        try:
            return self._asked_and_repaired(messages, ground, language)
        except (ModelError, DeadlineExceededError) as error:
            return _failed(error)

    def _asked_and_repaired(
        self, messages: list[BaseMessage], ground: Ground, language: StoryLanguage
    ) -> RetrievalPlan:
        repair = load_chat_prompt("repair_retrieval_plan", language, variables=REPAIR_VARIABLES)
        conversation = self._model.conversation(
            deadline=Deadline.after(self._timeout_s), stage="planning by the model"
        )
        return conversation.obtain(
            messages,
            accept=lambda plan: ground_plan(plan, ground),
            repair=lambda problem: repair.format_messages(problem=problem),
        )


def _failed(error: ModelError | DeadlineExceededError) -> RetrievalPlan:
    return RetrievalPlan(
        planner=PlannerReport(used="rules", reason=f"the model's plan was not used: {error}"),
        issues=[ReportIssue(stage="plan", kind=issue_kind_of(error), message=str(error))],
    )
