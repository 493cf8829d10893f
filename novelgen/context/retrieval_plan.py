"""The retrieval plan of a scene and the prompt of its planner."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, Field, field_validator

from novelgen.context.labels import labels_for
from novelgen.context.rendering import render_states, render_value
from novelgen.language.language import StoryLanguage, estimate_tokens, folded, significant_words
from novelgen.language.normalise import name_key
from novelgen.memory.attributes import DESCRIPTION_ATTRIBUTE
from novelgen.memory.outline import OutlineScene, StoryOutline, StoryRecap
from novelgen.memory.pay_off import SceneAhead, threads_by_pay_off
from novelgen.memory.search import SearchQuery, SearchResult
from novelgen.model_calls.answers import AtMost
from novelgen.model_calls.prompt_data import NOTHING, as_data, listed, telling_names
from novelgen.models.context import MemoryContextRequest, PlannerReport, ReportIssue
from novelgen.models.entity import Entity
from novelgen.models.memory import CONTENT_TYPES, DISTILLED_TYPES, ContentType
from novelgen.models.plan import ScenePlan
from novelgen.models.position import place_text, sort_key, story_place
from novelgen.models.state import LOOP_WEIGHTS, EntityStateSnapshot, OpenLoop
from novelgen.models.user_file import Character
from novelgen.words import words

MAX_ENTITIES = 12
MAX_EVENTS = 6
MAX_QUERIES = 12
MAX_FURTHER_QUERIES = 6
MAX_THREADS = 6
MAX_TAGS = 4
MAX_QUERY_CHARACTERS = 200


def _only_texts(value: Any) -> list[str]:
    """Return the texts of a list, dropping other values."""
    texts = [item.strip() for item in value if isinstance(item, str)] if isinstance(value, list) else []
    return list(dict.fromkeys(filter(None, texts)))[:MAX_THREADS]


class ModelQuery(BaseModel):
    """One search that the model asks for."""

    query: str = Field(description="search text in the story's language")
    entities: Annotated[list[str], AtMost(MAX_ENTITIES)] = Field(
        default_factory=list,
        description="ids of known entities; only what is linked to one of them is searched; mostly empty",
    )
    content_type: ContentType | None = Field(default=None, description="only passages of this kind; null when in doubt")
    tags: Annotated[list[str], AtMost(MAX_TAGS)] = Field(
        default_factory=list, description="only passages with one of these tags"
    )

    @field_validator("query")
    @classmethod
    def _clip_query(cls, value: str) -> str:
        return value.strip()[:MAX_QUERY_CHARACTERS]

    @field_validator("content_type", mode="before")
    @classmethod
    def _none_when_unknown(cls, value: Any) -> Any:
        return value if value in CONTENT_TYPES else None


class ModelRetrievalPlan(BaseModel):
    """The research for a planned scene, as the model answers it.

    More items than the bounds are cut off; items of a wrong type are errors.
    """

    entities: Annotated[list[str], AtMost(MAX_ENTITIES)] = Field(
        description="step 1: ids of the known entities that the scene touches"
    )
    events: Annotated[list[str], AtMost(MAX_EVENTS)] = Field(
        default_factory=list, description="step 1: earlier events that the scene touches, a few words each"
    )
    queries: Annotated[list[ModelQuery], AtMost(MAX_QUERIES)] = Field(description="step 2: the searches")
    threads: Annotated[list[str], BeforeValidator(_only_texts)] = Field(
        default_factory=list,
        description="step 3: ids of open threads that this scene ends or must not forget, surest first",
        max_length=MAX_THREADS,
    )


class RetrievalPlan(BaseModel):
    """The queries and filters of a planned scene."""

    entity_ids: list[str] = Field(default_factory=list, description="Known entities, the plan's own first.")
    inferred_ids: list[str] = Field(
        default_factory=list,
        description="Those of them that only a model picked; their memories and states are looked up, and no more.",
    )
    queries: list[SearchQuery] = Field(default_factory=list, description="The widest first.")
    pov_id: str | None = Field(
        default=None, description="Who tells or sees the scene; None: not planned, or nobody known."
    )
    unresolved_names: list[str] = Field(
        default_factory=list, description="Names in the plan that no known entity bears; query words only."
    )
    thread_ids: list[str] = Field(
        default_factory=list, description="Open threads that a model expects the scene to pay, surest first."
    )
    planner: PlannerReport = Field(default_factory=PlannerReport)
    issues: list[ReportIssue] = Field(default_factory=list)


def merge_plans(rules: RetrievalPlan, model: RetrievalPlan) -> RetrievalPlan:
    """Add a model's plan to the rules' plan, keeping all rules."""
    queries = {_query_key(query) for query in rules.queries}
    return RetrievalPlan(
        entity_ids=list(dict.fromkeys([*rules.entity_ids, *model.entity_ids])),
        inferred_ids=[entity_id for entity_id in model.entity_ids if entity_id not in rules.entity_ids],
        pov_id=rules.pov_id,
        queries=[*rules.queries, *(query for query in model.queries if _query_key(query) not in queries)],
        unresolved_names=list(dict.fromkeys([*rules.unresolved_names, *model.unresolved_names])),
        thread_ids=list(dict.fromkeys([*rules.thread_ids, *model.thread_ids])),
        planner=model.planner,
        issues=[*rules.issues, *model.issues],
    )


def with_further(plan: RetrievalPlan, further: RetrievalPlan) -> RetrievalPlan:
    """Add a model's second plan.

    A failed second round adds only its reason.
    """
    whole = merge_plans(plan, further)
    planner = plan.planner.model_copy(update={"reason": further.planner.reason})
    if further.planner.used == "llm":
        planner_fields = further.planner.model_dump(include={"rounds", "prompt_tokens"})
        planner = plan.planner.model_copy(update=planner_fields)
    inferred = dict.fromkeys([*plan.inferred_ids, *whole.inferred_ids])
    return whole.model_copy(update={"planner": planner, "inferred_ids": list(inferred)})


def _query_key(query: SearchQuery) -> tuple[str, frozenset[str], str | None, frozenset[str]]:
    text = folded(query.text)
    return (text, frozenset(query.entities), query.content_type, frozenset(query.tags))


NOWHERE = "–"
"""Where something stands in a list that has no place."""

MAX_PLAN_CHARACTERS = 6000
MAX_BACKGROUND_CHARACTERS = 1500
MAX_CARDS = 8
MAX_CARD_CHARACTERS = 300


def scene_plan_text(plan: ScenePlan, language: StoryLanguage) -> str:
    """Return the plan as labelled lines, at most MAX_PLAN_CHARACTERS long, in the story's language."""
    labels = words("context", language, "plan")
    lines = [
        (labels["location"], plan.location),
        (labels["characters"], _join_names(plan.characters, language)),
        (labels["pov"], plan.pov),
        (labels["purpose"], plan.purpose),
        *((labels["action"], action) for action in plan.key_actions),
        (labels["scene_type"], plan.scene_type),
        (labels["intensity"], plan.intensity),
        (labels["words"], str(plan.estimated_words or "")),
    ]
    return _labelled(lines, language, MAX_PLAN_CHARACTERS)


def background_text(request: MemoryContextRequest, language: StoryLanguage) -> str:
    """Return the request's background: settings, chapter plan and hints."""
    labels = words("context", language, "plan")
    lines = [(labels["hint"], hint) for hint in request.hints]
    if request.chapter_plan is not None:
        number = request.scene_index
        earlier = [scene.purpose for scene in request.chapter_plan.scenes if (scene.scene_number or 0) < number]
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
    """Return the plan's character cards, one line each, at most MAX_CARDS."""
    cast = request.characters.everyone() if request.characters is not None else []
    by_name = {name_key(name): card for card in cast[::-1] for name in (*card.aliases, card.name)}
    plan = request.scene_plan
    planned_characters = (by_name.get(name_key(name)) for name in (*plan.characters, plan.pov))
    cards = {card.name: card for card in planned_characters if card is not None}
    lines = [_card_line(card, language) for card in list(cards.values())[:MAX_CARDS]]
    return "\n".join(lines) or NOTHING[language]


def _card_line(card: Character, language: StoryLanguage) -> str:
    separator, colon = ("；", "：") if language == "zh" else ("; ", ": ")
    lines = [card.role, _join_names(card.aliases, language), card.personality, card.motivation, card.background]
    statement = separator.join(as_data(text) for text in lines if text.strip())
    return f"{as_data(card.name)}{colon}{statement}"[:MAX_CARD_CHARACTERS]


def _labelled(lines: Iterable[tuple[str, str]], language: StoryLanguage, max_characters: int) -> str:
    separator = "：" if language == "zh" else ": "
    statements = [f"{label}{separator}{as_data(text)}" for label, text in lines if text.strip()]
    return "\n".join(statements)[:max_characters] or NOTHING[language]


def _join_names(names: Iterable[str], language: StoryLanguage) -> str:
    return ("、" if language == "zh" else ", ").join(names)


SECTION_TOKENS: dict[str, int] = {
    "last_scenes": 450,
    "chapter_so_far": 350,
    "threads": 2600,
    "states": 600,
    "known_entities": 4000,
    "first_hits": 800,
}
"""Estimated tokens that a section of the prompt takes at most; a line enters whole or not at all."""

PLANNER_LIST_TOKENS = sum(tokens for name, tokens in SECTION_TOKENS.items() if name != "first_hits")
"""What all that the first prompt lists of the story takes at most; of fewer every section has its share."""

MAX_LAST_SCENES = 4

MAX_LINE_CHARACTERS: dict[StoryLanguage, int] = {"en": 280, "zh": 110}
"""Of a scene, a chapter, a thread or a hit; the scene just before has twice as many."""

MAX_NOTE_CHARACTERS: dict[StoryLanguage, int] = {"en": 70, "zh": 30}
"""Of an entity's description."""

RECENT_SCENES_OF_A_LISTING = 3
"""Whoever and whatever took part in so many last scenes is listed right after what the plan touches."""

HALF_LIFE_SCENES = 20
"""A scene that lies so far back counts half as much for whom it shows."""


@dataclass(frozen=True)
class StorySoFar:
    """The story strictly before the planned scene, as its planner is told of it."""

    outline: StoryOutline
    recap: StoryRecap = field(default_factory=StoryRecap)
    states: Sequence[EntityStateSnapshot] = ()
    state_ids: Sequence[str] = ()
    touched_ids: Sequence[str] = ()
    newcomers: Sequence[str] = ()


@dataclass
class PromptSections:
    """The prompt's sections by variable, with costs and omitted lines."""

    share: float = 1.0
    texts: dict[str, str] = field(default_factory=dict)
    tokens: dict[str, int] = field(default_factory=dict)
    left_out: dict[str, int] = field(default_factory=dict)

    def budget(self, name: str) -> int:
        """Return the most tokens of a section."""
        return int(self.share * SECTION_TOKENS[name])

    def add(self, name: str, text: str, *, left_out: int = 0) -> None:
        """Add a section as it stands in the prompt."""
        self.texts[name] = text
        self.tokens[name] = estimate_tokens(text)
        if left_out:
            self.left_out[name] = left_out


def story_sections(
    story: StorySoFar,
    request: MemoryContextRequest,
    entities: Sequence[Entity],
    language: StoryLanguage,
    *,
    max_tokens: int = PLANNER_LIST_TOKENS,
) -> PromptSections:
    """Return the story sections: scenes, chapter, threads, states, entities, filters."""
    sections = PromptSections(share=min(1.0, max_tokens / PLANNER_LIST_TOKENS))
    names = {entity.entity_id: as_data(entity.name) for entity in entities}
    last = [*story.recap.scenes[-MAX_LAST_SCENES:]]
    _add_lines(sections, "last_scenes", [*_last_scenes(last, names, language)], language, from_the_end=True)
    chapter = _chapter_so_far(story, last, request.chapter_index, language)
    _add_lines(sections, "chapter_so_far", chapter, language, from_the_end=True)
    scene = request.scene_plan
    # As far as the scene is known before anything was searched for it.
    ahead = SceneAhead(
        texts=(scene.location, scene.purpose, *scene.key_actions),
        entity_ids=frozenset(story.touched_ids),
        known_texts=[text for scene in story.outline.scenes for text in (*scene.summary, *scene.key_events)],
    )
    threads = threads_by_pay_off(story.outline, ahead)
    _add_lines(sections, "threads", [_thread_line(thread, names, language) for thread in threads], language)
    by_id = {state.entity_id: state for state in story.states}
    wanted_snapshots = [by_id[state_id] for state_id in story.state_ids if state_id in by_id]
    rendered_states = render_states(
        wanted_snapshots,
        names,
        labels=labels_for(language),
        budget_tokens=sections.budget("states"),
        count_tokens=estimate_tokens,
    )
    text = (
        "\n".join(as_data(line) for line in (*rendered_states.lines.values(), *rendered_states.minds.values()))
        or NOTHING[language]
    )
    sections.add("states", text, left_out=sum(map(len, rendered_states.dropped.values())))
    notes = _Notes(story, names, language)
    text = scene_plan_text(scene, language)
    ordered = listing_order(entities, story.outline, touched_ids=story.touched_ids, text=text)
    _add_lines(sections, "known_entities", [notes.line(entity) for entity in ordered], language)
    sections.add("newcomers", _join_names(map(as_data, story.newcomers), language) or NOTHING[language])
    sections.add("content_types", _join_names(story.recap.content_types, language) or NOTHING[language])
    sections.add("tags", _join_names(map(as_data, story.recap.tags), language) or NOTHING[language])
    return sections


def listing_order(
    entities: Sequence[Entity], outline: StoryOutline, *, touched_ids: Sequence[str], text: str = ""
) -> list[Entity]:
    """Return the entities: what the plan touches or says words of, what the last scenes showed and hold, the others."""
    by_id = {entity.entity_id: entity for entity in entities}
    recent: list[str] = []
    for scene in reversed(outline.scenes[-RECENT_SCENES_OF_A_LISTING:]):
        recent += [*([scene.location_id] if scene.location_id else []), *scene.participants]
    held_ids = [item for holder in [*touched_ids, *recent] for item in outline.holders.get(holder, ())]
    weights = _weights(outline)
    appearance_by_id = {entity.entity_id: sort_key(entity.first_chapter, entity.first_scene) for entity in entities}
    others = sorted(
        by_id, key=lambda entity_id: (weights[entity_id], appearance_by_id[entity_id], entity_id), reverse=True
    )
    said_ids = significant_words(text)
    worded_ids = [entity.entity_id for entity in entities if significant_words(" ".join(entity.names())) & said_ids]
    ordered = dict.fromkeys([*touched_ids, *worded_ids, *recent, *held_ids, *others])
    return [by_id[entity_id] for entity_id in ordered if entity_id in by_id]


def _weights(outline: StoryOutline) -> defaultdict[str, float]:
    weights: defaultdict[str, float] = defaultdict(float)
    for age, scene in enumerate(reversed(outline.scenes)):
        for entity_id in {*scene.participants, scene.location_id or ""}:
            weights[entity_id] += 0.5 ** (age / HALF_LIFE_SCENES)
    for loop in outline.open_loops:
        for entity_id in loop.related_entities:
            weights[entity_id] += LOOP_WEIGHTS[loop.importance] / 2
    for later, entity_id in enumerate(outline.stated_ids):
        weights[entity_id] += 0.5 ** (later / HALF_LIFE_SCENES)
    return weights


def first_hits_text(result: SearchResult, language: StoryLanguage) -> str:
    """Return the search results as lines, facts first, within a budget."""
    facts = {True: 0, False: 1}
    ranked_candidates = sorted(
        (candidate for candidate in result.candidates if candidate.hits),
        key=lambda candidate: (
            facts[candidate.chunk.content_type in DISTILLED_TYPES],
            -sum(hit.by_rank for hit in candidate.hits),
            candidate.chunk.chunk_id,
        ),
    )
    lines = [
        f"- [{place_text(candidate.chunk.chapter_index, candidate.chunk.scene_index, always=NOWHERE)}] "
        + _clipped(candidate.chunk.short or candidate.chunk.content, MAX_LINE_CHARACTERS[language])
        for candidate in ranked_candidates
    ]
    return listed(dict.fromkeys(lines), str, SECTION_TOKENS["first_hits"], stops_at_first=True).text(language)


def _add_lines(
    sections: PromptSections, name: str, lines: Sequence[str], language: StoryLanguage, *, from_the_end: bool = False
) -> None:
    ordered = lines[::-1] if from_the_end else lines
    line_list = listed(ordered, str, sections.budget(name), stops_at_first=True)
    text = "\n".join(line_list.lines[::-1] if from_the_end else line_list.lines)
    sections.add(name, text or NOTHING[language], left_out=line_list.left_out)


def _last_scenes(scenes: Sequence[OutlineScene], names: dict[str, str], language: StoryLanguage) -> Iterable[str]:
    with_whom, colon = words("context", language, "planner")["with"], "：" if language == "zh" else ": "
    for scene in scenes:
        limit = MAX_LINE_CHARACTERS[language] * (2 if scene is scenes[-1] else 1)
        where = names.get(scene.location_id or "", "")
        who = _join_names(
            (names[participant_id] for participant_id in scene.participants if participant_id in names), language
        )
        stage = f"{where}{with_whom if where else ''}{who}" if who else where
        text = _clipped_to_the_end(scene.summary or scene.key_events, limit, language)
        place = place_text(scene.chapter_index, scene.scene_index, always=NOWHERE)
        yield f"[{place}] {stage}{colon if stage and text else ''}{text}"


def _chapter_so_far(
    story: StorySoFar, scenes: Sequence[OutlineScene], chapter_index: int, language: StoryLanguage
) -> list[str]:
    """The summary of the chapter before, and a line on each scene of this one that is not told above."""
    limit = MAX_LINE_CHARACTERS[language]
    before = [summary for summary in story.outline.chapter_summaries if summary.chapter_index < chapter_index][-1:]
    lines = [
        f"[{words('context', language, 'planner').text('chapter', number=summary.chapter_index)}] "
        f"{_clipped(summary.summary, limit)}"
        for summary in before
    ]
    above = {story_place(scene) for scene in scenes}
    recalled_scenes_by_position = {story_place(scene): scene for scene in story.recap.scenes}
    for scene in story.outline.scenes:
        if scene.chapter_index == chapter_index and story_place(scene) not in above:
            known_scene = recalled_scenes_by_position.get(story_place(scene), scene)
            bullets = known_scene.summary or known_scene.key_events or [known_scene.title]
            if bullets[0].strip():
                place = place_text(scene.chapter_index, scene.scene_index, always=NOWHERE)
                lines.append(f"[{place}] {_clipped(bullets[0], limit // 2)}")
    return lines


def _thread_line(loop: OpenLoop, names: dict[str, str], language: StoryLanguage) -> str:
    stated_words, importance = words("context", language, "planner"), words("context", language, "importance")
    due_text = stated_words.text("thread", importance=importance[loop.importance], age=loop.age_scenes or 0)
    if loop.status == "advanced":
        due_text = _join_names([due_text, stated_words["moving"]], language)
    who = _join_names(
        (names[related_entity] for related_entity in loop.related_entities if related_entity in names), language
    )
    people = (f"（{who}）" if language == "zh" else f" ({who})") if who else ""
    return f"- {loop.loop_id} [{due_text}] {_clipped(loop.description, MAX_LINE_CHARACTERS[language])}{people}"


class _Notes:
    """A few words on entities: description, status, holder, where they were last seen."""

    def __init__(self, story: StorySoFar, names: dict[str, str], language: StoryLanguage) -> None:
        self._names = names
        self._language = language
        self._states = {state.entity_id: state.state_data for state in story.states}
        self._holders = {item: holder for holder, items in story.outline.holders.items() for item in items}
        self._last_scenes = {
            entity_id: scene
            for scene in story.outline.scenes
            for entity_id in (*scene.participants, scene.location_id or "")
        }

    def line(self, entity: Entity) -> str:
        """Return id, kind, names and a description on one line."""
        names = "; ".join(as_data(name)[:60] for name in telling_names(entity))
        statements = self._description_parts(entity)
        parts = [as_data(entity.entity_id), entity.entity_type, names]
        return " | ".join(
            [*parts, ("；" if self._language == "zh" else "; ").join(statements)] if statements else parts
        )

    def _description_parts(self, entity: Entity) -> list[str]:
        catalogue = words("context", self._language, "planner")
        now = self._states.get(entity.entity_id, {}).get(DESCRIPTION_ATTRIBUTE)
        text = _clipped(
            now if isinstance(now, str) else entity.description or entity.role, MAX_NOTE_CHARACTERS[self._language]
        )
        status = self._states.get(entity.entity_id, {}).get("status")
        holder = self._names.get(self._holders.get(entity.entity_id, ""))
        scene = self._last_scenes.get(entity.entity_id)
        statements = [text] if text else []
        if status:
            shown_text = render_value(status, self._names, labels_for(self._language))
            statements.append(_clipped(shown_text, MAX_NOTE_CHARACTERS[self._language]))
        if holder:
            statements.append(catalogue.text("held_by", name=holder))
        if scene is not None:
            where = self._names.get(scene.location_id or "", "") if scene.location_id != entity.entity_id else ""
            place = f"{place_text(scene.chapter_index, scene.scene_index, always=NOWHERE)} {where}".strip()
            guess = catalogue["guess"] if scene.is_cast_guessed or (where and scene.is_place_guessed) else ""
            statements.append(catalogue.text("last_seen", place=place) + guess)
        return statements


def _clipped(text: str, max_characters: int) -> str:
    clean = as_data(text)
    return clean if len(clean) <= max_characters else f"{clean[: max_characters - 1]}…"


def _clipped_to_the_end(bullets: Sequence[str], max_characters: int, language: StoryLanguage) -> str:
    """Join as many bullets as fit, preferring the last ones."""
    kept_names: list[str] = []
    separator = "" if language == "zh" else " "
    for bullet in reversed([as_data(bullet) for bullet in bullets if bullet.strip()]):
        if kept_names and len(separator.join([bullet, *kept_names])) > max_characters:
            break
        kept_names.insert(0, _clipped(bullet, max_characters))
    return separator.join(kept_names)
