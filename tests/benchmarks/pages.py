"""What a scene needs and what stands on the page that its writer gets, beside what programs do without a memory.

A page is the context as a prompt, of about so many tokens: by rules, with the queries that a model gave
(`plan_answers.jsonl` beside the book), and with the memories that a model selected (`recorded/BOOK.selections.jsonl`,
{"plan_id", "memory_ids"} a line). Beside it: the same without any record, from the text alone; a recap, which is the
summaries of the last scenes that fit and the end of the last one; chunks of 500 characters as langchain-chroma finds
them for the plan, cut at the scene; and the whole text so far.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from pathlib import Path

from pydantic import BaseModel, Field

from novelgen.language.language import count_cjk
from novelgen.models.record import SceneRecord
from novelgen.settings import ContextSettings
from runtime.context_chain import build_context_chain
from runtime.settings import load_settings
from tests.benchmarks.retrieval.bench_stores import TOOL_TIMEOUT_S, BenchStores, VectorCache, imported
from tests.benchmarks.retrieval.book import BenchBook, BenchPlan
from tests.benchmarks.retrieval.quality import Ranking, plan_request
from tests.benchmarks.retrieval.scoring import AnswerKey, mean_scores, rough_tokens
from tests.benchmarks.rival_corpus import Corpus, passage_texts
from tests.benchmarks.rivals import chroma_store, recorded_model, recorded_selections, similarity

FIRST_PLAN = 8
"""The plans before it stand so near to the beginning that any page holds everything."""

DEFAULT_PAGES = (1000, 2000, 3300)
SHIPPED_PAGE = 3300
"""About what a page takes by default: memories, states and timeline with their headings."""

END_SHARE = 800 / 3300
"""Of a recap the end of the last scene takes so much."""

RECORDED = Path(__file__).parent / "recorded"

PageOf = Callable[[BenchPlan, int], str]
"""Writes the page of a plan, of about so many tokens."""


class PageScores(BaseModel):
    """How much of what the plans need a kind of page conveys, as means over the plans."""

    kind: str
    page: int | None = Field(description="Tokens that the page is made for; None for the whole text.")
    all: float = Field(description="Share of all needed facts, 0-1.")
    far: float = Field(description="Share of those from more than three scenes back, 0-1.")
    tokens: float = Field(description="What the pages take.")


class PageReport(BaseModel):
    """What a run over pages found."""

    book: str
    plans: int
    pages: list[int]
    scores: list[PageScores]


def measure_pages(
    book: BenchBook, work_dir: Path, *, selections: Path | None = None, pages: Sequence[int] = DEFAULT_PAGES
) -> PageReport:
    """Measure every kind of page at every length; recorded selections bound the plans to theirs."""
    selector, plan_ids = recorded_selections(book, selections) if selections is not None else (None, None)
    plans = [plan for plan in book.plans if plan.plan_id in plan_ids] if plan_ids else book.plans[FIRST_PLAN:]
    plans = list(plans or book.plans)
    planner = recorded_model(book) if (book.folder / "plan_answers.jsonl").exists() else None
    settings = load_settings(None, projects_dir=work_dir / "projects")
    slow = {"tool_timeout_s": TOOL_TIMEOUT_S, "chain_timeout_s": 2 * TOOL_TIMEOUT_S}
    memory = settings.memory.model_copy(update=slow)
    cache = VectorCache(work_dir / "vectors.sqlite3")
    bench_settings = settings.model_copy(update={"model": None, "database_url": None, "memory": memory})
    with closing(cache), BenchStores(bench_settings, cache) as stores:
        project_id, text_id = (imported(stores, book, records=records) for records in (True, False))

        def context(project_id: str, **models: object) -> PageOf:
            def page(plan: BenchPlan, tokens: int) -> str:
                selector = "rules" if models.get("selector_model") is None else "model"
                bounds = {**page_budgets(memory, tokens), "selector": selector}
                chain = build_context_chain(stores, **models, write_files=False, bounds=bounds)  # type: ignore[arg-type]
                return chain.invoke(plan_request(project_id, plan)).as_prompt()

            return page

        passages = Corpus(passage_texts(book), stores.embeddings)
        chunks = similarity(
            passages, chroma_store(passages, stores.embeddings, work_dir / "chroma", name="text"), is_cut=True
        )
        kinds: dict[str, PageOf] = {"rules": context(project_id)}
        if planner is not None:
            kinds["queries of a model"] = context(project_id, model=planner)
        if selector is not None:
            kinds["selection by a model"] = context(project_id, model=planner, selector_model=selector)
        kinds |= {
            "text alone, no record": context(text_id),
            "recap": lambda plan, tokens: recap(book, plan, tokens),
            "plain chunks": lambda plan, tokens: first_chunks(chunks, plan, tokens),
        }
        scores = [
            page_scores(AnswerKey(book), plans, kind, page, tokens) for kind, page in kinds.items() for tokens in pages
        ]
    whole = page_scores(AnswerKey(book), plans, "whole text", lambda plan, _: text_before(book, plan), None)
    return PageReport(book=book.folder.resolve().name, plans=len(plans), pages=list(pages), scores=[*scores, whole])


def page_scores(key: AnswerKey, plans: Sequence[BenchPlan], kind: str, page: PageOf, tokens: int | None) -> PageScores:
    """Score one kind of page at one length."""
    means = mean_scores(key.score_page(plan, page(plan, tokens or 0)) for plan in plans)
    shares = {name: round(means.get(name, 0.0), 4) for name in ("all", "far", "tokens")}
    return PageScores(kind=kind, page=tokens, **shares)


def page_budgets(memory: ContextSettings, tokens: int) -> dict[str, int]:
    """Return the budgets of a page, each with the share that it has by default."""
    names = ("memory_budget", "state_budget", "timeline_budget")
    return {name: round(getattr(memory, name) * tokens / SHIPPED_PAGE) for name in names}


def recap(book: BenchBook, plan: BenchPlan, tokens: int) -> str:
    """Return the end of the scene before a planned one, and before it the summaries that fit, oldest first."""
    before = [scene for scene in book.book.scenes if (scene.chapter_index, scene.scene_index) < plan.place]
    records = [book.book.records.get((scene.chapter_index, scene.scene_index)) for scene in before]
    end_tokens = round(END_SHARE * tokens)
    end = before[-1].text[-(end_tokens if count_cjk(before[-1].text) > end_tokens else 4 * end_tokens) :]
    summaries: list[str] = []
    remaining_tokens = tokens - rough_tokens(end)
    for record in reversed(records):
        summary = _summary(record) if record else ""
        if rough_tokens(summary) > remaining_tokens:
            break
        summaries.append(summary)
        remaining_tokens -= rough_tokens(summary)
    return "\n".join([*reversed(summaries), end])


def _summary(record: SceneRecord) -> str:
    return " ".join(record.summary or record.key_events)


def first_chunks(ranking: Ranking, plan: BenchPlan, tokens: int) -> str:
    """Return the first texts of a ranking that fit."""
    chunks: list[str] = []
    remaining_tokens = float(tokens)
    for chunk in ranking(plan):
        remaining_tokens -= rough_tokens(chunk.text)
        if remaining_tokens < 0:
            break
        chunks.append(chunk.text)
    return "\n".join(chunks)


def text_before(book: BenchBook, plan: BenchPlan) -> str:
    """Return the whole text before a planned scene."""
    return "\n".join(scene.text for scene in book.book.scenes if (scene.chapter_index, scene.scene_index) < plan.place)


def page_rows(report: PageReport) -> list[list[str]]:
    """Return the table: a row per kind, `all · far (tokens)` per length of page; the whole text has one cell."""
    cells: dict[str, Mapping[int | None, str]] = {}
    for score in report.scores:
        cell = f"{score.all:.2f} · {score.far:.2f} ({score.tokens:,.0f})"
        cells[score.kind] = {**cells.get(score.kind, {}), score.page: cell}
    return [[kind, *(pages.get(page, pages.get(None, "–")) for page in report.pages)] for kind, pages in cells.items()]
