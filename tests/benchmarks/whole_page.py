"""What a scene needs and what stands on the page that its writer gets, beside a recap of the same length.

    python -m tests.benchmarks.whole_page DIR [--planner recorded] [--every N] [--work-dir DIR]

DIR is a book with an answer key. The page is the context as a prompt, as it ships, by rules or with the queries that a
model gave (`plan_answers.jsonl` beside the book); the recap is what a
program without a memory would send: the summaries of the last scenes, as many as fit, and the end of the last one.
"""

import argparse
import sys
import tempfile
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

from langchain_core.language_models import BaseChatModel

from novelgen.language.language import count_cjk
from novelgen.models.record import SceneRecord
from runtime.settings import load_settings
from runtime.story.contexts import build_context_chain
from tests.benchmarks.retrieval.bench_stores import TOOL_TIMEOUT_S, BenchStores, VectorCache, imported
from tests.benchmarks.retrieval.book import BenchBook, BenchPlan, load_bench_book
from tests.benchmarks.retrieval.quality import plan_request
from tests.benchmarks.retrieval.scoring import AnswerKey, mean_scores, rough_tokens
from tests.benchmarks.rivals import recorded_model

FIRST_PLAN = 8
"""The plans before it stand so near to the beginning that any page holds everything."""

PAGE_TOKENS = 3300
"""About what a page takes by default: memories, states and timeline with their headings."""

END_TOKENS = 800


def contexts(
    stores: BenchStores, book: BenchBook, plans: Sequence[BenchPlan], *, model: BaseChatModel | None = None
) -> list[str]:
    """Return the page of each plan."""
    chain = build_context_chain(stores, model=model, write_files=False)
    project_id = imported(stores, book, records=True)
    return [chain.invoke(plan_request(project_id, plan)).as_prompt() for plan in plans]


def recap(book: BenchBook, plan: BenchPlan) -> str:
    """Return the end of the scene before a planned one, and before it the summaries that fit, oldest first."""
    before = [each for each in book.book.scenes if (each.chapter_index, each.scene_index) < plan.place]
    records = [book.book.records.get((each.chapter_index, each.scene_index)) for each in before]
    end = before[-1].text[-(END_TOKENS if count_cjk(before[-1].text) > END_TOKENS else 4 * END_TOKENS) :]
    told: list[str] = []
    left = PAGE_TOKENS - rough_tokens(end)
    for record in reversed(records):
        summary = _summary(record) if record else ""
        if rough_tokens(summary) > left:
            break
        told.append(summary)
        left -= rough_tokens(summary)
    return "\n".join([*reversed(told), end])


def _summary(record: SceneRecord) -> str:
    return " ".join(record.summary or record.key_events)


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure one book."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("book", type=Path)
    parser.add_argument("--planner", choices=["rules", "recorded"], default="rules")
    parser.add_argument("--every", type=int, default=1, metavar="N", help="take every Nth plan")
    parser.add_argument("--work-dir", type=Path, help="keep the imported project and its vectors here")
    chosen = parser.parse_args(arguments)
    book = load_bench_book(chosen.book)
    plans = book.plans[FIRST_PLAN :: chosen.every] or book.plans
    key = AnswerKey(book)
    model = recorded_model(book) if chosen.planner == "recorded" else None
    with tempfile.TemporaryDirectory() as temporary:
        folder = chosen.work_dir or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        settings = load_settings(None, projects_dir=folder / "projects")
        slow = {"tool_timeout_s": TOOL_TIMEOUT_S, "chain_timeout_s": 2 * TOOL_TIMEOUT_S}
        memory = settings.memory.model_copy(update=slow)
        cache = VectorCache(folder / "vectors.sqlite3")
        with (
            closing(cache),
            BenchStores(settings.model_copy(update={"model": None, "memory": memory}), cache) as stores,
        ):
            pages = {
                "recap": [recap(book, plan) for plan in plans],
                "context": contexts(stores, book, plans, model=model),
            }
    for name, texts in pages.items():
        means = mean_scores(key.score_page(plan, text) for plan, text in zip(plans, texts, strict=True))
        print(f"{name:8} all {means['all']:.3f}  far {means.get('far', 0):.3f}  tokens {means['tokens']:.0f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
