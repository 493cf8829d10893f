"""One quality run over a book: novelgen's chain and all rivals, on the same embeddings."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, Field

from novelgen.errors import UserInputError
from runtime.bench.ablation import run_ablation
from runtime.bench.book import BenchBook, BenchPlan
from runtime.bench.chain_runs import PlannedContext, imported, load_bench_settings, run_chain
from runtime.bench.chroma_rivals import chroma_rivals, chroma_store
from runtime.bench.corpus import Corpus, memory_texts, passage_texts
from runtime.bench.garbage_planner import garbage_models
from runtime.bench.peers import peer_rivals
from runtime.bench.rivals import Rival, memory_rivals, text_rivals
from runtime.bench.scoring import DEFAULT_BUDGETS, AnswerKey, mean_scores
from runtime.bench.state_accuracy import StateAccuracy, measure_states
from runtime.bench.vector_cache import BenchStores, VectorCache
from runtime.providers.embeddings import CheckedEmbeddings

Planner = Literal["rules", "garbage"]
StageProgress = Callable[[str, int, int], None]
"""Called with what is being done, how much is done and how much there is in all."""

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
    not_measured: dict[str, str] = Field(default_factory=dict, description="Peer to why, and what to do.")


def measure_quality(
    book: BenchBook,
    work_dir: Path,
    *,
    records: bool = True,
    budgets: Sequence[int] = DEFAULT_BUDGETS,
    planner: Planner = "rules",
    peers: bool = False,
    ablation: bool = False,
    limit_plans: int | None = None,
    progress: StageProgress = lambda *_: None,
) -> QualityReport:
    """Measure what the chain and its rivals bring within budgets of tokens.

    Args:
        book: The book.
        work_dir: Holds the imported projects and all vectors; what is there is used again.
        records: Whether the chain has the scene records, or the text alone.
        budgets: Tokens, each scored for itself; the chain fills the largest, and its ranking is cut.
        planner: `garbage` also runs the chain with models that plan nonsense.
        peers: Also run the retrievers of other packages, as far as they are installed.
        ablation: Also run the chain with one part of the choice changed at a time.
        limit_plans: Only the first so many plans.
        progress: Called during the run.

    Raises:
        UserInputError: When a budget is not positive.
        StoreError: When a store fails while the book is imported.
    """
    if not budgets or min(budgets) < 1:
        raise UserInputError(f"budgets cannot be {list(budgets)!r}; give one or more positive numbers")
    plans = book.plans[:limit_plans]
    key = AnswerKey(book)
    with _open_stores(work_dir, memory_budget=max(budgets)) as stores:
        project_id = imported(
            stores, book, records=records, progress=lambda done, total: progress("import", done, total)
        )
        own = _own_runs(stores, project_id, book, plans, planner, progress)
        systems = [
            _scored(OWN_GROUP, name, _key_scores(key, contexts, budgets)) for name, contexts in own.items()
        ]
        if ablation:
            variants = run_ablation(stores, project_id, plans, progress=partial(progress, ABLATION_GROUP))
            systems += [
                _scored(ABLATION_GROUP, name, _key_scores(key, contexts, budgets))
                for name, contexts in variants.items()
            ]
        rivals, not_measured = _rivals(
            book, stores.embeddings, work_dir, records=records, peers=peers, progress=progress
        )
        for done, rival in enumerate(rivals, start=1):
            systems.append(_scored(rival.group, rival.name, _rival_scores(key, rival, plans, budgets)))
            progress("rivals", done, len(rivals))
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
            not_measured=not_measured,
        )


@contextmanager
def _open_stores(work_dir: Path, *, memory_budget: int) -> Iterator[BenchStores]:
    settings = load_bench_settings(work_dir / "projects", memory_budget=memory_budget)
    cache = VectorCache(work_dir / "vectors.sqlite3")
    try:
        with BenchStores(settings, cache) as stores:
            yield stores
    finally:
        cache.close()


def _own_runs(
    stores: BenchStores,
    project_id: str,
    book: BenchBook,
    plans: Sequence[BenchPlan],
    planner: Planner,
    progress: StageProgress,
) -> dict[str, list[PlannedContext]]:
    models = garbage_models(book.book.entities) if planner == "garbage" else {}
    named = {"rules planner": None, **{f"garbage planner: {kind}": model for kind, model in models.items()}}
    return {
        name: run_chain(
            stores,
            project_id,
            plans,
            model=model,
            progress=lambda done, total, name=name: progress(name, done, total),  # type: ignore[misc]
        )
        for name, model in named.items()
    }


def _rivals(
    book: BenchBook,
    embeddings: CheckedEmbeddings,
    work_dir: Path,
    *,
    records: bool,
    peers: bool,
    progress: StageProgress,
) -> tuple[list[Rival], dict[str, str]]:
    """Return rivals that search what the chain has: the records' memories, or the text."""
    group = "memories" if records else "text"
    texts = memory_texts(book) if records else passage_texts(book)
    progress("vectors of rivals", 0, len(texts))
    corpus = Corpus(texts, embeddings)
    progress("vectors of rivals", len(texts), len(texts))
    store = chroma_store(corpus, embeddings, work_dir / "chroma", name=group)
    plain = memory_rivals(corpus) if records else text_rivals(corpus)
    rivals = [*plain, *chroma_rivals(group, corpus, store)]
    if not peers:
        return rivals, {}
    found = peer_rivals(corpus, store, embeddings, work_dir)
    return [*rivals, *found.rivals], found.not_installed


def _key_scores(
    key: AnswerKey, contexts: Iterable[PlannedContext], budgets: Sequence[int]
) -> list[dict[str, float]]:
    return [key.score(each.plan, each.ranked, budgets=budgets) for each in contexts]


def _rival_scores(
    key: AnswerKey, rival: Rival, plans: Sequence[BenchPlan], budgets: Sequence[int]
) -> list[dict[str, float]]:
    return [
        mean_scores(key.score(plan, rank(plan), budgets=budgets) for rank in rival.rankings) for plan in plans
    ]


def _scored(group: str, name: str, rows: Iterable[dict[str, float]]) -> SystemScores:
    means = {score: round(value, 4) for score, value in mean_scores(rows).items()}
    return SystemScores(group=group, name=name, scores=means)


def _states(book: BenchBook, contexts: Iterable[PlannedContext]) -> StateAccuracy:
    return measure_states(book, ((each.plan, each.context.entity_states) for each in contexts))
