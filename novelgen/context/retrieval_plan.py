"""What to look up for a planned scene: the plan that a model fills, and the plan that is carried out."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, Field, field_validator

from novelgen.language.language import folded
from novelgen.memory.search import SearchQuery
from novelgen.model_calls.answers import AtMost
from novelgen.models.context import PlannerReport, ReportIssue
from novelgen.models.memory import CONTENT_TYPES, ContentType

MAX_ENTITIES = 12
MAX_EVENTS = 6
MAX_QUERIES = 12
MAX_FURTHER_QUERIES = 6
MAX_THREADS = 6
MAX_TAGS = 4
MAX_QUERY_CHARACTERS = 200


def _only_texts(value: Any) -> list[str]:
    """Keep the texts of a list; whatever else stands there is no answer, and spoils none."""
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


class PlannedQuery(SearchQuery):
    """A query and who asked for it."""

    origin: Literal["rules", "llm"] = "rules"


class RetrievalPlan(BaseModel):
    """What is looked up for a planned scene."""

    entity_ids: list[str] = Field(default_factory=list, description="Known entities, the plan's own first.")
    inferred_ids: list[str] = Field(
        default_factory=list,
        description="Those of them that only a model picked; their memories and states are looked up, and no more.",
    )
    queries: list[PlannedQuery] = Field(default_factory=list, description="The widest first.")
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
    """Add what a model planned to what the rules planned; nothing of the rules is lost."""
    asked = {_query_key(query) for query in rules.queries}
    return RetrievalPlan(
        entity_ids=list(dict.fromkeys([*rules.entity_ids, *model.entity_ids])),
        inferred_ids=[each for each in model.entity_ids if each not in rules.entity_ids],
        pov_id=rules.pov_id,
        queries=[*rules.queries, *(query for query in model.queries if _query_key(query) not in asked)],
        unresolved_names=list(dict.fromkeys([*rules.unresolved_names, *model.unresolved_names])),
        thread_ids=list(dict.fromkeys([*rules.thread_ids, *model.thread_ids])),
        planner=model.planner,
        issues=[*rules.issues, *model.issues],
    )


def with_further(plan: RetrievalPlan, further: RetrievalPlan) -> RetrievalPlan:
    """Add what a model asked on after the first hits; a second round that failed adds its reason and nothing else."""
    whole = merge_plans(plan, further)
    planner = plan.planner.model_copy(update={"reason": further.planner.reason})
    if further.planner.used == "llm":
        shown = further.planner.model_dump(include={"rounds", "prompt_tokens"})
        planner = plan.planner.model_copy(update=shown)
    inferred = dict.fromkeys([*plan.inferred_ids, *whole.inferred_ids])
    return whole.model_copy(update={"planner": planner, "inferred_ids": list(inferred)})


def _query_key(query: SearchQuery) -> tuple[str, frozenset[str], str | None, frozenset[str]]:
    text = folded(query.text)
    return (text, frozenset(query.entities), query.content_type, frozenset(query.tags))
