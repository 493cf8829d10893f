"""What consolidation costs and brings: far@B of one book before and after, in one run, by limit.

    python -m tests.benchmarks.consolidation ../shared/bench/xiyouji_long --work-dir DIR --limits 150,75

A consolidated memory is scored source by source, in its order: each source with the sentence that tells it, at
its own place and under its own record id, so that joining loses and gains nothing by the way it is scored.
"""

import argparse
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from novelgen.memory.consolidation import extractive_text
from novelgen.models.memory import StoryMemoryChunk
from runtime.ingest.consolidation import consolidate_project, undo_consolidation
from tests.benchmarks.retrieval.bench_stores import BenchStores, VectorCache, imported, load_bench_settings
from tests.benchmarks.retrieval.book import BenchBook, load_bench_book
from tests.benchmarks.retrieval.quality import PlannedContext, run_chain
from tests.benchmarks.retrieval.scoring import DEFAULT_BUDGETS, AnswerKey, RankedText, mean_scores

Sources = Mapping[str, Sequence[StoryMemoryChunk]]
"""Chunk id of a consolidated memory to its sources."""


def measure(book: BenchBook, work_dir: Path, limits: Sequence[int]) -> list[dict[str, Any]]:
    """Return a row of scores without consolidation, and one for each limit."""
    settings = load_bench_settings(work_dir / "projects", memory_budget=max(DEFAULT_BUDGETS))
    with BenchStores(settings, VectorCache(work_dir / "vectors.sqlite3")) as stores:
        project_id = imported(stores, book, records=True)
        undo_consolidation(stores, project_id)
        rows: list[dict[str, Any]] = [{"limit": None, **_scores(book, run_chain(stores, project_id, book.plans), {})}]
        for limit in limits:
            report = consolidate_project(stores, project_id, limit=limit)
            sources = _sources(stores, project_id)
            scores = _scores(book, run_chain(stores, project_id, book.plans), sources)
            undo_consolidation(stores, project_id)
            consolidated = sum(len(group.source_ids) for group in report.groups)
            told = {
                "limit": limit,
                "memories": f"{report.memories_before} -> {report.memories_after}",
                "consolidated_share": round(consolidated / report.memories_before, 3),
                "groups": len(report.groups),
                "over_limit": report.over_limit,
            }
            rows.append(told | scores)
    return rows


def _sources(stores: BenchStores, project_id: str) -> Sources:
    with stores.database(project_id).read() as unit:
        found = unit.consolidations.list_all()
        return {each.chunk.chunk_id: unit.memories.by_ids(each.source_ids, with_sources=True) for each in found}


def _scores(book: BenchBook, contexts: Sequence[PlannedContext], sources: Sources) -> dict[str, float]:
    key = AnswerKey(book)
    rows = [key.score(each.plan, _ranked(each, sources)) for each in contexts]
    shown = [*(f"far@{budget}" for budget in DEFAULT_BUDGETS), "leak"]
    items = [item for each in contexts for item in each.ranked]
    means = mean_scores(rows)
    joined = sum(item.record_id in sources for item in items) / max(1, len(items))
    return {name: round(means[name], 3) for name in shown} | {"items_consolidated": round(joined, 3)}


def _ranked(context: PlannedContext, sources: Sources) -> list[RankedText]:
    ranked: list[RankedText] = []
    for item in context.ranked:
        parts = sources.get(item.record_id or "", ())
        ranked += [_part(source, item.text) for source in parts] if parts else [item]
    return ranked


def _part(source: StoryMemoryChunk, text: str) -> RankedText:
    told = extractive_text([source]).content
    place = (source.chapter_index or 0, source.scene_index or 0)
    return RankedText(place, told if told in text else "", source.source_id)


def main() -> None:
    """Measure a book and print the rows as JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--work-dir", type=Path, required=True)
    parser.add_argument("--limits", default="150,75")
    given = parser.parse_args()
    limits = [int(each) for each in given.limits.split(",")]
    for row in measure(load_bench_book(given.folder), given.work_dir, limits):
        print(json.dumps(row, ensure_ascii=False))


if __name__ == "__main__":
    main()
