"""What the chain finds of an answer key within budgets of tokens, and what each part of the choice is worth."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from langchain_core.language_models import BaseChatModel
from pydantic import BaseModel, Field

from novelgen.chains.memory_context_chain import MemoryContextChain
from novelgen.errors import UserInputError
from novelgen.memory.search import SearchRequest, SearchResult
from novelgen.memory.weights import SelectionWeights
from novelgen.models.context import SceneMemoryContext
from runtime.context_chain import build_context_chain
from runtime.memory_tools import StoryMemoryTools
from runtime.model_providers.embeddings import CheckedEmbeddings
from runtime.stores import MemoryStores
from tests.benchmarks.retrieval.bench_stores import imported, open_bench_stores
from tests.benchmarks.retrieval.book import BenchBook, BenchPlan
from tests.benchmarks.retrieval.scoring import (
    DEFAULT_BUDGETS,
    AnswerKey,
    RankedText,
    StateAccuracy,
    mean_scores,
    measure_states,
)

Ranking = Callable[[BenchPlan], Sequence[RankedText]]
"""Ranks texts for a plan, best first."""

OWN_GROUP = "novelgen"
ABLATION_GROUP = "ablation"


class SystemScores(BaseModel):
    """How one system did, as means over the plans."""

    group: str
    name: str
    scores: dict[str, float] = Field(description="far@B, evidence@B, scene@k and leak, 0-1.")


class QualityReport(BaseModel):
    """What a quality run found."""

    book: str
    language: str
    plans: int
    records: bool
    embedding_model: str
    budgets: list[int]
    systems: list[SystemScores]
    states: StateAccuracy | None = Field(default=None, description="Only with records.")
    problems: list[str] = Field(
        default_factory=list, description="What contexts of the rules planner missed; must be empty."
    )


@dataclass(frozen=True)
class Rival:
    """Another way to rank, measured beside novelgen."""

    group: str
    name: str
    rankings: tuple[Ranking, ...]


RivalsOf = Callable[[BenchBook, CheckedEmbeddings], list[Rival]]
"""Prepares the rivals for a book with the embeddings that novelgen has."""


def measure_quality(
    book: BenchBook,
    work_dir: Path,
    *,
    records: bool = True,
    budgets: Sequence[int] = DEFAULT_BUDGETS,
    ablation: bool = False,
    models: Mapping[str, BaseChatModel] | None = None,
    selector_model: BaseChatModel | None = None,
    only_plans: Collection[str] | None = None,
    rivals: RivalsOf | None = None,
    limit_plans: int | None = None,
) -> QualityReport:
    """Measure what the chain brings within budgets of tokens."""
    if not budgets or min(budgets) < 1:
        raise UserInputError(f"budgets cannot be {list(budgets)!r}; give one or more positive numbers")
    plans = [plan for plan in book.plans if only_plans is None or plan.plan_id in only_plans][:limit_plans]
    key = AnswerKey(book)
    with open_bench_stores(work_dir, memory_budget=max(budgets)) as stores:
        project_id = imported(stores, book, records=records)
        own = {
            name: run_chain(stores, project_id, plans, model=model)
            for name, model in {"rules planner": None, **(models or {})}.items()
        }
        if selector_model is not None:
            own |= {
                f"{name}, selection": run_chain(stores, project_id, plans, model=model, selector_model=selector_model)
                for name, model in {"rules planner": None, **(models or {})}.items()
            }
        systems = [_scored(OWN_GROUP, name, _key_scores(key, contexts, budgets)) for name, contexts in own.items()]
        if ablation:
            variants = run_ablation(stores, project_id, plans)
            systems += [
                _scored(ABLATION_GROUP, name, _key_scores(key, contexts, budgets))
                for name, contexts in variants.items()
            ]
        beside = rivals(book, stores.embeddings) if rivals is not None else []
        systems += [_scored(rival.group, rival.name, _rival_scores(key, rival, plans, budgets)) for rival in beside]
        by_rules = own["rules planner"]
        return QualityReport(
            book=book.folder.resolve().name,
            language=book.language,
            plans=len(plans),
            records=records,
            embedding_model=stores.embedding_identity.model_name,
            budgets=list(budgets),
            systems=systems,
            states=_states(book, by_rules) if records else None,
            problems=sorted({problem for each in by_rules for problem in each.problems}),
        )


def _key_scores(key: AnswerKey, contexts: Iterable[PlannedContext], budgets: Sequence[int]) -> list[dict[str, float]]:
    return [key.score(each.plan, each.ranked, budgets=budgets) for each in contexts]


def _rival_scores(
    key: AnswerKey, rival: Rival, plans: Sequence[BenchPlan], budgets: Sequence[int]
) -> list[dict[str, float]]:
    return [mean_scores(key.score(plan, rank(plan), budgets=budgets) for rank in rival.rankings) for plan in plans]


def _scored(group: str, name: str, rows: Iterable[dict[str, float]]) -> SystemScores:
    means = {score: round(value, 4) for score, value in mean_scores(rows).items()}
    return SystemScores(group=group, name=name, scores=means)


def _states(book: BenchBook, contexts: Iterable[PlannedContext]) -> StateAccuracy:
    return measure_states(book, ((each.plan, each.context.entity_states) for each in contexts))


@dataclass(frozen=True)
class PlannedContext:
    """A plan and the context that the chain gave for it."""

    plan: BenchPlan
    context: SceneMemoryContext

    @property
    def ranked(self) -> list[RankedText]:
        """The memories of the context as a ranking, best first."""
        report = self.context.report
        return [
            RankedText((item.chapter_index or 0, item.scene_index or 0), item.text, item.source_id)
            for item in (report.own_items if report else [])
        ]

    @property
    def problems(self) -> list[str]:
        """What the context says was missing; a name of several entities is the book's, not a failure."""
        report = self.context.report
        issues = report.issues if report else []
        return [f"{each.stage}: {each.message}" for each in issues if each.kind != "unresolved"]


def plan_request(project_id: str, plan: BenchPlan) -> dict[str, Any]:
    """Return what the chain is asked for a plan."""
    return {
        "project_id": project_id,
        "chapter_index": plan.chapter_index,
        "scene_index": plan.scene_index,
        "scene_plan": plan.scene_plan,
    }


def run_chain(
    stores: MemoryStores,
    project_id: str,
    plans: Sequence[BenchPlan],
    *,
    model: BaseChatModel | None = None,
    selector_model: BaseChatModel | None = None,
) -> list[PlannedContext]:
    """Build the context of every plan; nothing is written."""
    bounds = {"selector": "rules" if selector_model is None else "model"}
    chain = build_context_chain(stores, model=model, selector_model=selector_model, write_files=False, bounds=bounds)
    return [PlannedContext(plan, chain.invoke(plan_request(project_id, plan))) for plan in plans]


SCORED_PARTS = ("relevance", "importance", "entities", "open_loops", "spreading", "surroundings", "summaries")
OTHER_VARIANTS: dict[str, dict[str, float]] = {
    "without summaries, also as evidence of scenes": {"summaries": 0.0, "bullet_share": 0.0},
    "room filled with anything": {"least_score": -100.0},
    "without at-hand demotion": {"at_hand_points": 0.0},
    "without kinds (bullets and passages as good as memories)": {"summary_points": 0.0, "passage_points": 0.0},
    "superseded memories to a tenth": {"superseded_points": -2.3},
    "superseded memories as any": {"superseded_points": 0.0},
    "all in full form": {"full_form_score": -100.0},
    "short form wherever it tells": {"full_form_score": 100.0},
    "without gain per token": {"length_discount": 0.0},
}


def ablation_variants(whole: SelectionWeights) -> dict[str, SelectionWeights]:
    """Return the variants by name, the whole choice first, each differing from it in one thing."""
    without = {f"without {part}": _nothing_for(part) for part in SCORED_PARTS}
    changed = {**without, **OTHER_VARIANTS}
    return {"whole": whole, **{name: whole.model_copy(update=change) for name, change in changed.items()}}


def _nothing_for(part: str) -> dict[str, float]:
    """A part's weight and, where it has them, those for a young story and for one of passages alone."""
    names = (part, f"early_{part}", f"text_alone_{part}")
    return {name: 0.0 for name in names if name in SelectionWeights.model_fields}


def run_ablation(stores: MemoryStores, project_id: str, plans: Sequence[BenchPlan]) -> dict[str, list[PlannedContext]]:
    """Build every plan's context by rules once per variant, from one search per plan."""
    tools, whole = _RememberingTools(stores), stores.settings.memory.weights
    chains = {name: _chain(stores, tools, weights) for name, weights in ablation_variants(whole).items()}
    contexts: dict[str, list[PlannedContext]] = {name: [] for name in chains}
    for plan in plans:
        for name, chain in chains.items():
            contexts[name].append(PlannedContext(plan, chain.invoke(plan_request(project_id, plan))))
    return contexts


def _chain(stores: MemoryStores, tools: StoryMemoryTools, weights: SelectionWeights) -> MemoryContextChain:
    settings = stores.settings.memory.model_copy(update={"weights": weights})
    return MemoryContextChain(tools, settings=settings)


class _RememberingTools(StoryMemoryTools):
    """Memory tools that answer the last search again without searching."""

    def __init__(self, stores: MemoryStores) -> None:
        super().__init__(stores)
        self._asked = ""
        self._answer = SearchResult()

    def search(self, request: SearchRequest) -> SearchResult:
        asked = request.model_dump_json(exclude={"timeout_s"})
        if asked != self._asked:
            self._asked, self._answer = asked, super().search(request)
        return self._answer
