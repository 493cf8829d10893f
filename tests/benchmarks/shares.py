"""Needed facts on pages of a book that is read in part.

The records of 0, 1, 10, 50 and 100 % of the scenes are stored, each part holding the one before; and no record, but one
note, one for each tenth scene, or one for each, the weightiest memory of its scene in its words. The entities have
their cards throughout.
"""

import random
from collections.abc import Sequence
from contextlib import closing
from itertools import pairwise
from pathlib import Path

from pydantic import BaseModel, Field

from novelgen.memory.merge import spread
from novelgen.models.position import Place, StoryPosition
from runtime.context_chain import build_context_chain
from runtime.ingest.entities import store_entities
from runtime.ingest.ingest import ingest_scenes
from runtime.ingest.scene_input import scenes_of_book
from runtime.ingest.scene_writes import new_run
from runtime.settings import load_settings
from runtime.stores import MemoryStores
from runtime.story.memories import StoryMemories
from tests.benchmarks.pages import page_budgets
from tests.benchmarks.retrieval.bench_stores import TOOL_TIMEOUT_S, BenchStores, VectorCache
from tests.benchmarks.retrieval.book import BenchBook, BenchPlan
from tests.benchmarks.retrieval.quality import plan_request
from tests.benchmarks.retrieval.scoring import AnswerKey

RECORD_SHARES = (0, 1, 10, 50, 100)
"""Per cent of the scenes that have a record."""

NOTE_SHARES = (0, 1, 10, 100)
"""Per cent of the scenes that have a note, without any record."""

PAGE = 2000


class ShareScores(BaseModel):
    """Mean shares of needed facts on pages of a partly read book."""

    by: str = Field(description="records or notes.")
    percent: int
    all: float = Field(description="Share of all needed facts, 0-1.")
    far: float = Field(description="Share of those from more than three scenes back, 0-1.")
    lost: float = Field(
        description="Share of all that the part before had on the page, of what the records convey at all, 0-1."
    )
    gained: float = Field(description="Share of all that it had not, 0-1.")


class ShareReport(BaseModel):
    """The result of a run over parts of a book."""

    book: str
    plans: int
    page: int
    scores: list[ShareScores]


def measure_shares(book: BenchBook, work_dir: Path, *, page: int = PAGE, limit_plans: int | None = None) -> ShareReport:
    """Measure pages of a book with parts of its records or notes.

    A limit of plans is spread over all of them.
    """
    plans = spread(book.plans, limit_plans or len(book.plans))
    settings = load_settings(None, projects_dir=work_dir / "projects")
    slow = {"tool_timeout_s": TOOL_TIMEOUT_S, "chain_timeout_s": 2 * TOOL_TIMEOUT_S, "selector": "rules"}
    memory = settings.memory.model_copy(update=slow)
    fitted = settings.model_copy(update={"model": None, "database_url": None, "memory": memory})
    key = AnswerKey(book)
    scores: list[ShareScores] = []
    with closing(VectorCache(work_dir / "vectors.sqlite3")) as cache, BenchStores(fitted, cache) as stores:
        for by, shares in (("records", RECORD_SHARES), ("notes", NOTE_SHARES)):
            conveyed = {
                share: _conveyed(stores, key, plans, _stored(stores, book, by=by, percent=share), page)
                for share in shares
            }
            before = {shares[0]: conveyed[shares[0]], **{after: conveyed[first] for first, after in pairwise(shares)}}
            scores += [_scored(key, plans, by, share, conveyed[share], before[share]) for share in shares]
    return ShareReport(book=book.folder.resolve().name, plans=len(plans), page=page, scores=scores)


def part_of_scenes(places: Sequence[Place], percent: int) -> list[Place]:
    """Return a share of the places in per cent.

    A greater share holds a lesser one.
    """
    shuffled = random.Random(0).sample(list(places), len(places))
    return shuffled[: -(-len(places) * percent // 100)]


def _stored(stores: MemoryStores, book: BenchBook, *, by: str, percent: int) -> str:
    """Store a book with a part of its records or notes."""
    project_id = f"share-{by}-{percent}"
    stores.ensure_project(project_id, name=book.book.title, language=book.book.language)
    store_entities(stores, project_id, book.book.entities)
    records = book.book.records
    part = part_of_scenes(sorted(records), percent)
    known = {place: records[place] for place in part} if by == "records" else {}
    result = ingest_scenes(stores, project_id, scenes_of_book(book.book._replace(records=known)), run_id=new_run())
    if by == "notes" and any(scene.outcome == "added" for scene in result.scenes):
        _note(stores, project_id, book, part)
    return project_id


def _note(stores: MemoryStores, project_id: str, book: BenchBook, part: Sequence[Place]) -> None:
    """Note the weightiest memory of each scene of a part, read from the next scene on."""
    places = [(scene.chapter_index, scene.scene_index) for scene in book.book.scenes]
    next_places = dict(pairwise(places))
    for place in sorted(part):
        memories = book.book.records[place].memories
        if memories and place in next_places:
            weightiest = max(memories, key=lambda memory: memory.importance)
            StoryMemories(stores, project_id).add(weightiest.content, start=StoryPosition(*next_places[place]))


def _conveyed(
    stores: MemoryStores, key: AnswerKey, plans: Sequence[BenchPlan], project_id: str, page: int
) -> list[list[bool]]:
    bounds = page_budgets(stores.settings.memory, page)
    chain = build_context_chain(stores, write_files=False, bounds=bounds)
    return [key.conveyed_by(plan, chain.invoke(plan_request(project_id, plan)).as_prompt()) for plan in plans]


def _scored(
    key: AnswerKey,
    plans: Sequence[BenchPlan],
    by: str,
    percent: int,
    now: Sequence[Sequence[bool]],
    before: Sequence[Sequence[bool]],
) -> ShareScores:
    """Return the means of a part, compared with the part before."""

    def mean(values: Sequence[Sequence[bool]], *, far: bool = False) -> float:
        rows = [key.graded_share(plan, row, far=far) for plan, row in zip(plans, values, strict=True)]
        known = [row for row in rows if row is not None]
        return round(sum(known) / max(1, len(known)), 4)

    def changes(first: Sequence[Sequence[bool]], second: Sequence[Sequence[bool]]) -> list[list[bool]]:
        return [
            [a and not b for a, b in zip(one, other, strict=True)] for one, other in zip(first, second, strict=True)
        ]

    return ShareScores(
        by=by,
        percent=percent,
        all=mean(now),
        far=mean(now, far=True),
        lost=mean(
            [
                [is_lost and is_told for is_lost, is_told in zip(row, key.told_by_records(plan), strict=True)]
                for plan, row in zip(plans, changes(before, now), strict=True)
            ]
        ),
        gained=mean(changes(now, before)),
    )
