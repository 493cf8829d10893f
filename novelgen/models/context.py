"""The request and the result of a scene context, and their differences."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, model_validator

from novelgen.models.base import Model
from novelgen.models.knowledge import KnowledgeMode
from novelgen.models.memory import StoryMemoryChunk
from novelgen.models.plan import (
    ChapterPlan,
    ScenePlan,
    given_chapter_plan,
    given_characters,
    given_scene_plan,
    given_settings,
)
from novelgen.models.position import ChapterIndex, SceneIndex, StoryPosition, UtcDatetime
from novelgen.models.record import is_unsaid
from novelgen.models.shown import Shown, renderer
from novelgen.models.state import EntityStateSnapshot, GuessedScenes
from novelgen.models.user_file import CharactersConfig, Settings
from novelgen.nearest import did_you_mean

MISSPELT_KEY = 0.85
"""Likeness from which another key of a chain's input counts as a field misspelt."""


class MemoryContextRequest(Model):
    """A scene plan and its place.

    Settings, chapter plan and hints are optional.

    Plans, characters and settings may be mappings, our models, or Pydantic models and dataclasses of the caller
    with those fields. Numbers in a plan that only repeat `chapter_index` and `scene_index` may be left out.
    `characters_config` is another name of `characters`. Other keys are ignored, but for a field misspelt.
    """

    project_id: str = Field(min_length=1)
    chapter_index: ChapterIndex
    scene_index: SceneIndex
    scene_plan: ScenePlan
    characters: CharactersConfig = Field(default_factory=CharactersConfig)
    settings: Settings | None = None
    chapter_plan: ChapterPlan | None = None
    hints: list[str] = Field(default_factory=list, description="Free remarks that the search should heed.")
    pov: str = Field(
        default="", description="From whose point of view: a name, an alias or an id; over that of the plan."
    )
    knowledge: KnowledgeMode | None = Field(
        default=None, description="What becomes of what the point of view does not know; over the settings."
    )
    top_k: int | None = Field(
        default=None,
        ge=0,
        le=10_000,
        description="At most so many memories, beside their budget; None: as the settings say.",
    )
    selector: Literal["rules", "model"] | None = Field(
        default=None, description="Whether a chat model also chooses the memories; None: as the settings say."
    )

    @model_validator(mode="before")
    @classmethod
    def _read_what_callers_hold(cls, given_value: Any) -> Any:
        if not isinstance(given_value, Mapping):
            return given_value
        cls.require_spelt(given_value)
        given_value = _with_one_cast(given_value)
        readers: dict[str, Callable[[object], object]] = {
            "scene_plan": partial(given_scene_plan, scene_index=given_value.get("scene_index")),
            "chapter_plan": partial(given_chapter_plan, chapter_index=given_value.get("chapter_index")),
            "characters": given_characters,
            "settings": given_settings,
        }
        stated_fields = {name: value for name, value in given_value.items() if value is not None}
        return {name: readers[name](value) if name in readers else value for name, value in stated_fields.items()}

    @classmethod
    def require_spelt(cls, payload: Mapping[Any, Any]) -> None:
        """Refuse a key that is nearly one of the fields that are not there.

        Raises:
            ValueError: With the key, and the field that it is like.
        """
        known_names = {*cls.model_fields, "characters_config"}
        absent = [name for name in (*cls.model_fields, "characters_config") if name not in payload]
        for name in map(str, payload):
            if name not in known_names and (suggestion := did_you_mean(name, absent, likeness=MISSPELT_KEY)):
                raise ValueError(f"a context takes no key {name!r}{suggestion}")

    @property
    def position(self) -> StoryPosition:
        """The position of the planned scene.

        Every read lies strictly before it.
        """
        return StoryPosition(self.chapter_index, self.scene_index)


def _with_one_cast(payload: Mapping[Any, Any]) -> Mapping[Any, Any]:
    """Return the fields with `characters_config`, the name of the specification, as `characters`."""
    if "characters_config" not in payload:
        return payload
    fields = dict(payload)
    cast = fields.pop("characters_config")
    if cast is not None and fields.get("characters") is not None:
        raise ValueError("characters and characters_config are one field; pass one of them")
    return fields if cast is None else {**fields, "characters": cast}


DEFAULT_STATE_BUDGET = 450
"""Tokens that the states of a context take in a prompt, where nobody says otherwise."""

Form = Literal["full", "short"]

IssueKind = Literal[
    "unavailable", "timeout", "degraded", "malformed", "over_limit", "not_written", "unresolved", "stale"
]


class ReportIssue(Model):
    """Something that went wrong or is missing, said aloud."""

    stage: str = Field(description="plan, outline, search, states, timeline, select, write, …")
    kind: IssueKind
    message: str


class PlannerReport(Model):
    """Which planner was used, and why."""

    used: Literal["llm", "rules"] = "rules"
    reason: str = ""
    rounds: int = Field(default=0, ge=0, description="How often a model planned: 2 with a second round.")
    prompt_tokens: dict[str, int] = Field(
        default_factory=dict, description="Estimated, of the model's prompt: per section of the story, and whole."
    )
    prompt_left_out: dict[str, int] = Field(
        default_factory=dict, description="Section to how many of its lines the prompt had no room for."
    )


class SelectorReport(Model):
    """How a model chose from the memories before the scene."""

    used: Literal["llm", "reranker", "rules"] = "llm"
    reason: str = ""
    listed: int = Field(default=0, ge=0, description="Memories in the model's list.")
    unlisted: int = Field(default=0, ge=0, description="Memories that had no room in the list.")
    chosen: int = Field(default=0, ge=0, description="Memories that the model chose.")
    unknown: int = Field(default=0, ge=0, description="Numbers of the answer that are not in the list.")
    repeated: int = Field(default=0, ge=0, description="Numbers that the answer repeats.")
    prompt_tokens: int = Field(default=0, ge=0, description="Estimated, of the whole prompt.")
    timeout_s: float = Field(default=0.0, ge=0, description="Seconds that the model had.")


class ReportedQuery(Model):
    """One retrieval query as it was asked."""

    text: str
    origin: Literal["rules", "llm"] = "rules"
    purpose: str = Field(default="", description="What part of the plan it serves: action, place, pair, …")
    entities: list[str] = Field(default_factory=list)
    content_type: str | None = None
    tags: list[str] = Field(default_factory=list)


class HoldsNow(Model):
    """The present fact that ended or changed a memory."""

    source_id: str
    chapter_index: int | None = None
    scene_index: int | None = None
    text: str = Field(default="", description="Empty where it is among the memories, or some may not know it.")


ToldSection = Literal["left_off", "story_so_far"]
"""Sections of the prompt in which a memory may be told already."""


class ContextItem(Model):
    """Receipt of one selected memory: reasons, form and cost."""

    chunk_id: str
    source_id: str | None = None
    chapter_index: int | None = None
    scene_index: int | None = None
    form: Form = "full"
    text: str = Field(description="The text as it enters the prompt.")
    tokens: int = Field(ge=0)
    prompt_index: int | None = Field(
        default=None,
        ge=0,
        description="Place among the memories in the rendered prompt, from 0; None: told there in another section.",
    )
    told_in: ToldSection | None = Field(
        default=None,
        exclude_if=is_unsaid,
        description="Section of the prompt that tells this memory, so that it has no line and no tokens of its own.",
    )
    reasons: list[str] = Field(default_factory=list)
    retriever_ranks: dict[str, int] = Field(
        default_factory=dict,
        description="Best rank per retriever, from 1; of what the model chose also its rank there, `selector`.",
    )
    score: float = 0.0
    score_parts: dict[str, float] = Field(
        default_factory=dict, description="Points per part; told where `full_report` asks for it."
    )
    known_by: list[str] = Field(
        default_factory=list, exclude_if=is_unsaid, description="Ids of those of the planned cast who know it."
    )
    not_known_by: list[str] = Field(
        default_factory=list, exclude_if=is_unsaid, description="Ids of those of them who do not."
    )
    kept_from: list[str] = Field(
        default_factory=list,
        exclude_if=is_unsaid,
        description="Ids of those who do not because a record or the author says so.",
    )
    guessed_in: GuessedScenes = Field(default_factory=list, exclude_if=is_unsaid)
    holds_now: HoldsNow | None = Field(
        default=None, exclude_if=is_unsaid, description="What came in its place, where that was found as well."
    )

    @property
    def memory_id(self) -> str:
        """The id for records and authors.

        See `StoryMemoryChunk.memory_id`.
        """
        return self.source_id or self.chunk_id


class PointOfView(Model):
    """The point of view of a context, and the handling of its unknown facts."""

    character_id: str | None = Field(default=None, description="None: nobody's in particular.")
    name: str = ""
    mode: KnowledgeMode
    unknown: dict[str, int] = Field(
        default_factory=dict,
        description="How much is kept from the context proper, per kind: memories, states, timeline, names.",
    )
    guessed_scenes: GuessedScenes = Field(
        default_factory=list,
        exclude_if=is_unsaid,
        description="Scenes without a stated cast, by which alone they know something of the context.",
    )
    doubted_scenes: list[tuple[int, int]] = Field(
        default_factory=list,
        exclude_if=is_unsaid,
        description="Scenes without a stated cast, by which alone something of the context is hidden from them.",
    )
    doubted_notes: list[tuple[str, int, int]] = Field(
        default_factory=list,
        exclude_if=is_unsaid,
        description="Notes kept from them that a scene with them seems to tell, with the scene: it is hidden by that.",
    )
    untied_notes: list[tuple[str, int, int]] = Field(
        default_factory=list,
        exclude_if=is_unsaid,
        description="Notes kept from them of a scene with them, with the scene: no words of its text could be tied to "
        "the note, and the text that is given may tell it.",
    )


LeftOutCode = Literal[
    "duplicate",
    "no_room",
    "over_top_k",
    "over_max_states",
    "no_attribute_fits",
    "partly_in_prompt",
    "no_room_in_timeline",
    "over_timeline_quota",
    "told_elsewhere",
    "unlikely",
    "over_threads",
    "not_known",
]

_WHY_LEFT_OUT: dict[LeftOutCode, str] = {
    "duplicate": "duplicate of {twin}",
    "no_room": "no room in the budget",
    "over_top_k": "more than top_k={limit}",
    "over_max_states": "more than max_states={limit}",
    "no_attribute_fits": "no attribute fits state_budget={budget}",
    "partly_in_prompt": "in the JSON only, not in the prompt within state_budget={budget}: {attributes}",
    "no_room_in_timeline": "does not fit what timeline_budget={budget} has left",
    "over_timeline_quota": "over {quota}, and does not fit what timeline_budget={budget} has left",
    "told_elsewhere": "told already under {section}",
    "unlikely": "not likely needed: {score} is below least_score={least}, so the budget is not filled with it",
    "over_threads": "more than {limit} threads",
    "not_known": "{name} does not know all of it",
}


class LeftOutWhy(Model):
    """Why something was not taken, so that every language can say it."""

    # Older files tell of a quota of passages, which was no more than want of room.
    code: Annotated[
        LeftOutCode, BeforeValidator(lambda said_value: "no_room" if said_value == "over_quota" else said_value)
    ]
    values: dict[str, str] = Field(
        default_factory=dict, exclude_if=is_unsaid, description="What the words of the code name."
    )
    lowered_as: list[str] = Field(
        default_factory=list, exclude_if=is_unsaid, description="Parts of the score that spoke against it."
    )

    @property
    def sentence(self) -> str:
        """The same in English."""
        text = _WHY_LEFT_OUT[self.code].format(**self.values)
        return f"{text}; lowered as {', '.join(self.lowered_as)}" if self.lowered_as else text

    def item(self, **fields: Any) -> "LeftOutItem":
        """Return the omission record of an item."""
        return LeftOutItem(reason=self.sentence, why=self, **fields)


class LeftOutItem(Model):
    """Something that was found near the border and not taken, and why."""

    section: Literal["memories", "states", "timeline", "story_so_far", "left_off"] = "memories"
    id: str
    source_id: str | None = None
    text: str = ""
    tokens: int = 0
    score: float | None = None
    reason: str
    why: LeftOutWhy | None = Field(
        default=None, exclude_if=is_unsaid, description="The reason by its code; None in older files."
    )


class ContextReport(Model):
    """How the context came about."""

    planner: PlannerReport = Field(default_factory=PlannerReport)
    selector: SelectorReport | None = Field(
        default=None, exclude_if=is_unsaid, description="Only where a model chose from the memories."
    )
    queries: list[ReportedQuery] = Field(default_factory=list)
    entities: list[str] = Field(default_factory=list, description="Entity ids that the plan resolved to.")
    unresolved_names: list[str] = Field(default_factory=list)
    names: dict[str, str] = Field(
        default_factory=dict, description="Entity id to the name under which it is known at the position."
    )
    also_called: dict[str, str] = Field(
        default_factory=dict,
        exclude_if=is_unsaid,
        description="Entity id to quite another name that the plan or the memories have for it.",
    )
    items: list[ContextItem] = Field(default_factory=list, description="One per relevant memory, best first.")
    tokens: dict[str, int] = Field(default_factory=dict, description="Per section.")
    tokens_per_need: dict[str, int] = Field(
        default_factory=dict,
        description="Per need: states, story_so_far, left_off, relations, obligations, timeline (its rest), "
        "memories, passages.",
    )
    left_out: list[LeftOutItem] = Field(default_factory=list, description="Found near the border and not taken.")
    issues: list[ReportIssue] = Field(default_factory=list)
    timings_s: dict[str, float] = Field(default_factory=dict, description="Seconds per stage.")
    story_version: str | None = Field(
        default=None, description="Mark of what was stored before the position; changes when that changes."
    )
    language: str = Field(default="", description="Language of the story, `zh` or `en`; empty: not known.")
    scene_plan: ScenePlan | None = Field(
        default=None, description="The plan that the context was built for, so that it can be built again."
    )
    point_of_view: PointOfView | None = Field(default=None, exclude_if=is_unsaid)
    scenes_before: int = Field(
        default=0, ge=0, exclude_if=is_unsaid, description="Stored scenes before the planned one."
    )
    unread_scenes: int = Field(
        default=0,
        ge=0,
        exclude_if=is_unsaid,
        description="Those of them without a record: `extract` reads them; until then sentences of their text "
        "alone tell of them.",
    )

    @property
    def own_items(self) -> list[ContextItem]:
        """The receipts of the memories that have a line of their own in the prompt."""
        return [item for item in self.items if item.told_in is None]

    @property
    def left_out_of_prompt(self) -> list[LeftOutItem]:
        """Items without a line: told by other sections first, then omitted ones."""
        omissions = [
            LeftOutWhy(code="told_elsewhere", values={"section": item.told_in}).item(
                id=item.chunk_id, **item.model_dump(include={"source_id", "text", "tokens", "score"})
            )
            for item in self.items
            if item.told_in is not None
        ]
        return [*omissions, *self.left_out]


class LeftOff(Model):
    """The scene that a planned one follows, and how it ended, word for word."""

    chapter_index: int
    scene_index: int
    title: str = ""
    location_id: str | None = Field(default=None, description="Where it played, as far as its record says.")
    present: list[str] = Field(default_factory=list, description="Ids of those who were on stage in it.")
    story_time: str = Field(default="", exclude_if=is_unsaid, description="When it played, as its record says.")
    text: str = Field(description="Its last sentences, with their line breaks.")
    tokens: int = Field(ge=0)
    guessed_in: GuessedScenes = Field(default_factory=list, exclude_if=is_unsaid)


class ToldBefore(Model):
    """A scene, a chapter or a part before the planned scene, in whole sentences."""

    level: Literal["part", "chapter", "scene"]
    first_chapter: int = Field(description="Of a part the chapter that it begins with, else its own.")
    chapter_index: int = Field(description="Last chapter that it covers.")
    scene_index: int | None = Field(default=None, description="Last scene that it covers.")
    title: str = ""
    story_time: str = Field(default="", exclude_if=is_unsaid, description="When a scene played, as its record says.")
    text: str
    tokens: int = Field(ge=0, description="Of its line.")
    guessed_in: GuessedScenes = Field(default_factory=list, exclude_if=is_unsaid)


class CardFacts(Model):
    """What the author says on a card of somebody in the plan, as it holds on entering the scene."""

    entity_id: str
    fields: dict[str, Any] = Field(
        default_factory=dict, description="Of public_identity, age, gender, occupation and appearance, those said."
    )
    revealed_names: list[str] = Field(
        default_factory=list, description="Display names of the other cards that turned out to be one with it by then."
    )
    tokens: int = Field(ge=0, description="Of its line.")


class HiddenContext(Model):
    """Facts hidden from the point of view, within a budget of their own."""

    entity_states: list[EntityStateSnapshot] = Field(
        default_factory=list, description="Whole states that are otherwise than the point of view has them."
    )
    memories: list[StoryMemoryChunk] = Field(default_factory=list, description="Best first.")
    timeline_context: dict[str, Any] | None = None
    story_so_far: list[ToldBefore] = Field(
        default_factory=list, exclude_if=is_unsaid, description="What happened lately, oldest first."
    )
    items: list[ContextItem] = Field(default_factory=list, description="Receipts, one per memory.")
    names: dict[str, str] = Field(default_factory=dict, description="Entity id to its name in the story.")
    tokens: dict[str, int] = Field(default_factory=dict, description="Per section.")


class SceneMemoryContext(Shown, Model):
    """The memories, states and timeline of a planned scene.

    Every field but `cards`, `story_so_far`, `left_off` and `hidden` is in every output.
    """

    project_id: str
    chapter_index: int
    scene_index: int
    entity_states: list[EntityStateSnapshot] = Field(default_factory=list)
    relevant_memories: list[StoryMemoryChunk] = Field(default_factory=list)
    timeline_context: dict[str, Any] | None = None
    cards: list[CardFacts] = Field(
        default_factory=list,
        exclude_if=is_unsaid,
        description="What the author's cards of the planned people say that no state says.",
    )
    story_so_far: list[ToldBefore] = Field(
        default_factory=list,
        exclude_if=is_unsaid,
        description="The last scenes, before them chapters and parts, coarser the farther away; oldest first.",
    )
    left_off: LeftOff | None = Field(
        default=None,
        exclude_if=is_unsaid,
        description="Where the story left off; left out before the first scene and where its text is not stored.",
    )
    retrieval_timestamp: UtcDatetime
    report: Annotated[ContextReport, BeforeValidator(lambda report: {} if report is None else report)] = Field(
        default_factory=ContextReport, description="How it came about; empty in a context that no chain built."
    )
    hidden: HiddenContext | None = Field(
        default=None,
        exclude_if=is_unsaid,
        description="What the point of view does not know; left out where there is nothing of it.",
    )

    @model_validator(mode="before")
    @classmethod
    def _read_what_its_file_leaves_out(cls, value: Any) -> Any:
        return with_references_read(value)

    def as_prompt(self, *, language: str | None = None) -> str:
        """Return the context as a block for the prompt of a scene writer, in the language of its story.

        What holds comes first, then the story so far and how the scene before ended, who the people are to each
        other and what each wants, what is open, and what to pick up, in story order. Story text stands between fences
        that it cannot forge.

        Args:
            language: Language of the headings, `zh…` or `en`; None takes the story's.

        Returns:
            The block, ending in a line break; a context that holds nothing gives an empty string.
        """
        return renderer("prompt_block.render_context")(self, language=language)


Change = Literal["in", "out", "changed"]
MemoryChange = Literal["in", "out", "form", "text"]


class AttributeChange(Model):
    """One changed attribute of an entity, None for an absent one."""

    attribute: str
    was: Any = None
    now: Any = None


class StateDifference(Model):
    """An entity with a new, removed or changed state."""

    entity_id: str
    entity_type: str
    change: Change
    attributes: list[AttributeChange] = Field(default_factory=list, description="Only those that differ.")


class MemoryWording(Model):
    """A memory as it enters the prompt."""

    form: Form
    text: str


class MemoryDifference(Model):
    """A memory that came in, fell out, or stands there in another form or with another text."""

    memory_id: str = Field(description="Its source_id, else its chunk_id.")
    change: MemoryChange
    chapter_index: int | None = None
    scene_index: int | None = None
    was: MemoryWording | None = None
    now: MemoryWording | None = None


class MemoryMove(Model):
    """A memory of both contexts that is wanted more or less than before."""

    memory_id: str = Field(description="Its source_id, else its chunk_id.")
    rank_was: int = Field(description="Place among the memories, best first, from 1.")
    rank_now: int
    score_was: float
    score_now: float


class TimelineDifference(Model):
    """An entry of the timeline that came in, went, or tells something else of the same thing."""

    section: str
    change: Change
    was: dict[str, Any] | None = None
    now: dict[str, Any] | None = None


class ContextDifference(Model):
    """The changes between two contexts of a planned scene."""

    project_id: str
    chapter_index: int
    scene_index: int
    story_version_was: str | None = None
    story_version_now: str | None = None
    planner_was: PlannerReport = Field(default_factory=PlannerReport)
    planner_now: PlannerReport = Field(default_factory=PlannerReport)
    states: list[StateDifference] = Field(default_factory=list)
    memories: list[MemoryDifference] = Field(default_factory=list)
    timeline: list[TimelineDifference] = Field(default_factory=list)
    moves: list[MemoryMove] = Field(
        default_factory=list,
        description="Memories of both whose place among the best changed; a writer is told the same by them.",
    )
    left_off_was: str = Field(
        default="", exclude_if=is_unsaid, description="The end of the scene before, where it is another one now."
    )
    left_off_now: str = Field(default="", exclude_if=is_unsaid)
    tokens_was: dict[str, int] = Field(default_factory=dict, description="Per section.")
    tokens_now: dict[str, int] = Field(default_factory=dict, description="Per section.")
    names: dict[str, str] = Field(
        default_factory=dict, description="Entity id to name, of both; the later name counts."
    )
    issues: list[ReportIssue] = Field(
        default_factory=list, description="Of the later context: what failed there may be why something went."
    )

    @property
    def has_other_end(self) -> bool:
        """Whether the scene before ends otherwise, or another one stands before."""
        return bool(self.left_off_was or self.left_off_now)

    @property
    def is_empty(self) -> bool:
        """Whether a scene writer is told the same by both."""
        return not (self.states or self.memories or self.timeline or self.has_other_end)


_SILENT_MEMORY_FIELDS = ("is_indexed", "is_consolidated")
"""Fields of a memory that say nothing while they are as they are by default; readers of files rely on others."""


def context_document(context: SceneMemoryContext, *, is_full: bool = False) -> dict[str, Any]:
    """Return a context as JSON data, which `SceneMemoryContext.model_validate` reads back as the same context.

    Left out of a memory are flags that say nothing and its `embedding_id` where that is its `chunk_id`.
    """
    document = context.model_dump(mode="json")
    if is_full:
        return document
    for memory, chunk in zip(document["relevant_memories"], context.relevant_memories, strict=True):
        for name in _SILENT_MEMORY_FIELDS:
            field = type(chunk).model_fields[name]
            if getattr(chunk, name) == field.get_default(call_default_factory=True):
                del memory[name]
        if memory["embedding_id"] == memory["chunk_id"]:
            del memory["embedding_id"]
    return document


def with_references_read(payload: Any) -> Any:
    """Return a context's data with memory references resolved, otherwise unchanged."""
    if not isinstance(payload, Mapping) or not isinstance(payload.get("relevant_memories"), list | tuple):
        return payload
    return {
        **payload,
        "relevant_memories": [
            {"embedding_id": item.get("chunk_id"), **item} if isinstance(item, Mapping) else item
            for item in payload["relevant_memories"]
        ],
    }
