"""The rivals and test planners of the benchmark, on the small hand-made book."""

import json
import shutil
from pathlib import Path

import pytest

from novelgen.errors import UserInputError
from runtime.model_providers.embeddings import build_embeddings
from tests.benchmarks.retrieval.book import BenchBook, load_bench_book
from tests.benchmarks.retrieval.quality import QualityReport
from tests.benchmarks.rival_corpus import Corpus, memory_texts
from tests.benchmarks.rivals import measure_with_rivals, memory_rivals, recorded_model, recorded_selections

BOOK_FOLDER = Path(__file__).parents[1] / "data" / "bench_book"


@pytest.fixture(scope="module")
def book() -> BenchBook:
    """The hand-made book."""
    return load_bench_book(BOOK_FOLDER)


@pytest.fixture(scope="module")
def reports(tmp_path_factory: pytest.TempPathFactory, book: BenchBook) -> dict[str, QualityReport]:
    """Runs with records and all planners, and with the text alone, in one work folder."""
    work_dir = tmp_path_factory.mktemp("bench")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("NOVELGEN_MEMORY__EMBEDDING_MODEL", "fake:64")
        patch.delenv("NOVELGEN_MODEL", raising=False)
        return {
            "records": measure_with_rivals(book, work_dir, budgets=[30, 200], planner="garbage"),
            "text": measure_with_rivals(book, work_dir, budgets=[200], records=False, limit_plans=1),
        }


@pytest.fixture(scope="module")
def memories(book: BenchBook) -> Corpus:
    """The memories of the hand-made book."""
    return Corpus(memory_texts(book), build_embeddings("fake:64"))


def test_no_ranking_sees_the_planned_scene(book: BenchBook, memories: Corpus) -> None:
    """The one by importance begins with the weightiest; a short form has the order of the full one."""
    plan = book.plans[0]
    for rival in memory_rivals(memories):
        for rank in rival.rankings:
            assert all(each.place < plan.place for each in rank(plan))
    by_importance = next(each for each in memory_rivals(memories) if each.name == "by importance, full")
    ids = [each.record_id for each in by_importance.rankings[0](plan)]
    assert ids == ["M004", "M005", "M002", "M001", "M003", "X001"]
    named = {each.name: each.rankings[0](book.plans[0]) for each in memory_rivals(memories)}
    full, short = named["queries fused, full"], named["queries fused, short"]
    assert [each.record_id for each in full] == [each.record_id for each in short]
    assert "Cornelius has the key" in {each.text for each in short}


@pytest.mark.slow
def test_rivals_rank_the_same_memories_in_both_forms(reports: dict[str, QualityReport]) -> None:
    """Only the search without a cut leaks, a garbage planner takes nothing away, text alone is measured by text."""
    rivals = {each.name: each.scores for each in reports["records"].systems if each.group == "memories"}
    plain = {
        f"{way}, {form}" for way in ("random order", "by importance", "queries fused") for form in ("full", "short")
    }
    assert plain < rivals.keys()
    leaks = {name for name, scores in rivals.items() if scores["leak"] > 0}
    assert leaks == {"langchain-chroma similarity_search"}
    report = reports["records"]
    by_rules = next(each for each in report.systems if each.name == "rules planner").scores["far@200"]
    garbage = [each for each in report.systems if each.name.startswith("garbage planner")]
    assert len(garbage) == 3
    assert all(each.scores["far@200"] == by_rules for each in garbage)
    assert {each.group for each in reports["text"].systems} == {"novelgen", "text"}
    assert reports["text"].plans == 1


def test_each_plan_gets_the_answer_that_was_recorded_for_it(tmp_path: Path, book: BenchBook) -> None:
    """An answer is found by the plan's purpose in the prompt; a book without recorded answers says so."""
    folder = tmp_path / "book"
    shutil.copytree(BOOK_FOLDER, folder)
    with pytest.raises(OSError, match="plan_answers"):
        recorded_model(load_bench_book(folder))
    recorded = {plan.plan_id: {"queries": [{"query": f"what of {plan.plan_id}"}]} for plan in book.plans}
    lines = [json.dumps({"plan_id": name, "answer": answer}) for name, answer in recorded.items()]
    (folder / "plan_answers.jsonl").write_text("\n".join(lines), "utf-8")
    model = recorded_model(load_bench_book(folder))
    told = {plan.plan_id: f"Plan:\n{plan.scene_plan.purpose}\nAnswer." for plan in book.plans}
    assert {name: json.loads(str(model.invoke(prompt).content)) for name, prompt in told.items()} == recorded


def test_a_recorded_selection_is_found_in_the_list_by_its_text(tmp_path: Path, book: BenchBook) -> None:
    """The numbers are those of the prompt; what the list lacks is not chosen, and a foreign plan is refused."""
    plan, memory, absent = book.plans[0], memory_texts(book)[0], memory_texts(book)[1]
    file = tmp_path / "selections.jsonl"
    file.write_text(json.dumps({"plan_id": plan.plan_id, "memory_ids": [absent.record_id, memory.record_id]}), "utf-8")
    model, plan_ids = recorded_selections(book, file)
    assert plan_ids == {plan.plan_id}
    prompt = f"1. [1:1] something else\n2. [1:1] {memory.text}\n{plan.scene_plan.purpose}"
    assert json.loads(str(model.invoke(prompt).content)) == {"numbers": [2]}
    file.write_text('{"plan_id": "P-none", "memory_ids": []}', "utf-8")
    with pytest.raises(UserInputError, match="P-none"):
        recorded_selections(book, file)
