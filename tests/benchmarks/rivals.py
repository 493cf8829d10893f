"""What novelgen is measured against, and test planners that do not ship: `python -m tests.benchmarks DIR --rivals`.

Beside the chain stand plain rankings of the same memories (or searches in the text itself) and langchain-chroma as
it is commonly used; --planner garbage also runs the chain with models that plan nonsense, which must cost nearly
nothing; --planner recorded also runs it with what a model answered to each plan (DIR/plan_answers.jsonl: {"plan_id",
"answer"} a line).
"""

import json
import random
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import chromadb
from langchain_chroma import Chroma
from langchain_core.embeddings import Embeddings
from langchain_core.language_models import BaseChatModel, FakeListChatModel
from langchain_core.messages import BaseMessage

from novelgen.errors import UserInputError
from novelgen.models.entity import Entity
from runtime.model_providers.embeddings import CheckedEmbeddings
from tests.benchmarks.retrieval.book import BenchBook, BenchPlan, whole_plan
from tests.benchmarks.retrieval.quality import QualityReport, Ranking, Rival, measure_quality
from tests.benchmarks.retrieval.scoring import RankedText
from tests.benchmarks.rival_corpus import (
    Corpus,
    CorpusText,
    corpus_documents,
    memory_texts,
    passage_texts,
    plan_queries,
    ranked_documents,
)
from tests.support.scripted_chat_model import ScriptedChatModel

RANDOM_SEEDS = 5


def measure_with_rivals(
    book: BenchBook,
    work_dir: Path,
    *,
    planner: str = "rules",
    selections: Path | None = None,
    with_rivals: bool = True,
    **options: Any,
) -> QualityReport:
    """Measure the chain, with another planner beside the rules, and its rivals on the same embeddings."""
    models: dict[str, BaseChatModel] = {}
    if planner == "garbage":
        models = {f"garbage planner: {kind}": model for kind, model in garbage_models(book.book.entities).items()}
    if planner == "recorded":
        models = {"recorded planner": recorded_model(book)}
    if selections is not None:
        options["selector_model"], options["only_plans"] = recorded_selections(book, selections)

    def rivals(book: BenchBook, embeddings: CheckedEmbeddings) -> list[Rival]:
        return all_rivals(book, embeddings, work_dir, records=options.get("records", True)) if with_rivals else []

    return measure_quality(book, work_dir, models=models, rivals=rivals, **options)


def all_rivals(book: BenchBook, embeddings: CheckedEmbeddings, work_dir: Path, *, records: bool) -> list[Rival]:
    """Return rivals that search what the chain has: the records' memories, or the text."""
    group = "memories" if records else "text"
    corpus = Corpus(memory_texts(book) if records else passage_texts(book), embeddings)
    store = chroma_store(corpus, embeddings, work_dir / "chroma", name=group)
    plain = memory_rivals(corpus) if records else text_rivals(corpus)
    return [*plain, *chroma_rivals(group, corpus, store)]


def memory_rivals(memories: Corpus) -> list[Rival]:
    """Return the plain rankings of memories, each in full and in short form, all cut at the planned scene."""
    rivals: list[Rival] = []
    for form, is_short in (("full", False), ("short", True)):
        shuffled = tuple(_formed(_shuffled(memories, seed), is_short=is_short) for seed in range(RANDOM_SEEDS))
        rivals += [
            Rival("memories", f"random order, {form}", shuffled),
            Rival("memories", f"by importance, {form}", (_formed(_weighty(memories), is_short=is_short),)),
            Rival("memories", f"queries fused, {form}", (_formed(_fused(memories), is_short=is_short),)),
        ]
    return rivals


def text_rivals(passages: Corpus) -> list[Rival]:
    """Return the searches in passages of 500 characters, cut at the planned scene."""
    return [
        Rival("text", "BM25, words and bigrams, cut", (_formed(_by_words(passages)),)),
        Rival("text", "one query fused, cut", (_formed(_fused(passages, queries=_one_query)),)),
        Rival("text", "queries fused, cut", (_formed(_fused(passages)),)),
    ]


def _formed(rank: Callable[[BenchPlan], Sequence[CorpusText]], *, is_short: bool = False) -> Ranking:
    return lambda plan: [each.ranked(is_short=is_short) for each in rank(plan)]


def _shuffled(corpus: Corpus, seed: int) -> Callable[[BenchPlan], list[CorpusText]]:
    def rank(plan: BenchPlan) -> list[CorpusText]:
        visible = corpus.texts[: corpus.visible(plan.place)]
        random.Random(f"{seed} {plan.plan_id}").shuffle(visible)
        return visible

    return rank


def _weighty(corpus: Corpus) -> Callable[[BenchPlan], list[CorpusText]]:
    """By importance, then the newest first."""

    def rank(plan: BenchPlan) -> list[CorpusText]:
        numbers = range(corpus.visible(plan.place))
        order = sorted(numbers, key=lambda number: (-corpus.texts[number].importance, -number))
        return [corpus.texts[number] for number in order]

    return rank


def _fused(
    corpus: Corpus, *, queries: Callable[[BenchPlan], list[str]] | None = None
) -> Callable[[BenchPlan], list[CorpusText]]:
    return lambda plan: corpus.fused((queries or _many_queries)(plan), plan.place)


def _by_words(corpus: Corpus) -> Callable[[BenchPlan], list[CorpusText]]:
    return lambda plan: corpus.by_words(whole_plan(plan.scene_plan), plan.place)


def _one_query(plan: BenchPlan) -> list[str]:
    return [whole_plan(plan.scene_plan)]


def _many_queries(plan: BenchPlan) -> list[str]:
    return plan_queries(plan.scene_plan)


RESULTS = 100
"""More than fill the largest usual budget."""


def chroma_store(corpus: Corpus, embeddings: Embeddings, folder: Path, *, name: str) -> Chroma:
    """Fill a collection with a corpus, each text with its number in story order; one that is there is used."""
    client = chromadb.PersistentClient(str(folder))
    store = Chroma(name, embedding_function=embeddings, client=client, collection_metadata={"hnsw:space": "cosine"})
    if len(store.get(limit=len(corpus.texts) + 1, include=[])["ids"]) != len(corpus.texts):
        store.reset_collection()
        documents = corpus_documents(corpus)
        for start in range(0, len(documents), 1000):
            store.add_documents(documents[start : start + 1000])
    return store


def chroma_rivals(group: str, corpus: Corpus, store: Chroma) -> list[Rival]:
    """Return similarity search without and with a cut at the planned scene."""
    return [
        Rival(group, "langchain-chroma similarity_search", (similarity(corpus, store, is_cut=False),)),
        Rival(group, "langchain-chroma similarity_search, cut", (similarity(corpus, store, is_cut=True),)),
    ]


def similarity(corpus: Corpus, store: Chroma, *, is_cut: bool) -> Callable[[BenchPlan], Sequence[RankedText]]:
    """Rank by one similarity search for the whole plan."""

    def rank(plan: BenchPlan) -> list[RankedText]:
        cut: dict[str, Any] | None = {"number": {"$lt": corpus.visible(plan.place)}} if is_cut else None
        found = store.similarity_search(whole_plan(plan.scene_plan), k=RESULTS, filter=cut)
        return ranked_documents(corpus, found)

    return rank


ANSWERS = 200
SEED = 7

_INVENTED = {
    "entities": ["X901", "Zaphod Beeblebrox"],
    "events": ["an invasion"],
    "queries": [{"query": "Zaphod Beeblebrox 占领 quantum reactor", "entities": ["X901"]}],
}


def garbage_models(entities: Sequence[Entity]) -> dict[str, BaseChatModel]:
    """Return one model per kind of garbage: plans without content, of what no story knows, of entities at random."""
    dice = random.Random(SEED)
    return {
        "empty": FakeListChatModel(responses=[json.dumps({"entities": [], "events": [], "queries": []})]),
        "ungrounded": FakeListChatModel(responses=[json.dumps(_INVENTED, ensure_ascii=False)]),
        "known ids": FakeListChatModel(responses=[_random_plan(entities, dice) for _ in range(ANSWERS)]),
    }


def recorded_model(book: BenchBook) -> BaseChatModel:
    """Return a model that answers the prompt of each plan as `plan_answers.jsonl` beside the book has it."""
    lines = (book.folder / "plan_answers.jsonl").read_text("utf-8").splitlines()
    answers = {line["plan_id"]: json.dumps(line["answer"], ensure_ascii=False) for line in map(json.loads, lines)}
    by_purpose = {
        "".join(plan.scene_plan.purpose.split()): answers[plan.plan_id]
        for plan in book.plans
        if plan.plan_id in answers
    }

    def answer(messages: list[BaseMessage]) -> str:
        prompt = "".join("".join(str(message.content).split()) for message in messages)
        return next(text for purpose, text in by_purpose.items() if purpose in prompt)

    return ScriptedChatModel(answer=answer)


_LINE_OF_LIST = re.compile(r"^(?P<number>\d+)\. \[(?P<chapter>\d+):(?P<scene>\d+)\] (?P<text>.*)$", re.MULTILINE)


def recorded_selections(book: BenchBook, file: Path) -> tuple[BaseChatModel, frozenset[str]]:
    """Return a model that chooses for each plan the memories of a file, and the plans that the file has.

    A line of the file is {"plan_id", "memory_ids"}, the most needed first. The numbers are those of the prompt's list,
    where a memory is found by its text; one that the list lacks is not chosen.

    Raises:
        UserInputError: When the file names a plan that the book lacks.
    """
    lines = [json.loads(line) for line in file.read_text("utf-8").splitlines() if line.strip()]
    memory_ids = {line["plan_id"]: line["memory_ids"] for line in lines}
    strange_ids = memory_ids.keys() - {plan.plan_id for plan in book.plans}
    if strange_ids:
        raise UserInputError(f"{str(file)!r} has the plan {min(strange_ids)!r}, which {book.folder.name!r} lacks")
    texts = {
        str(memory.record_id): [(memory.place, "".join(text.split())) for text in (memory.text, memory.short)]
        for memory in memory_texts(book)
    }
    purposes = {
        "".join(plan.scene_plan.purpose.split()): plan.plan_id for plan in book.plans if plan.plan_id in memory_ids
    }

    def answer(messages: list[BaseMessage]) -> str:
        prompt = "\n".join(str(message.content) for message in messages)
        squeezed = "".join(prompt.split())
        plan_id = next(plan_id for purpose, plan_id in purposes.items() if purpose in squeezed)
        numbers = {
            ((int(match["chapter"]), int(match["scene"])), "".join(match["text"].split())): int(match["number"])
            for match in _LINE_OF_LIST.finditer(prompt)
        }
        numbers_or_none = (numbers.get(text) for name in memory_ids[plan_id] for text in texts.get(name, ()))
        return json.dumps({"numbers": list(dict.fromkeys(number for number in numbers_or_none if number is not None))})

    return ScriptedChatModel(answer=answer), frozenset(memory_ids)


def _random_plan(entities: Sequence[Entity], dice: random.Random) -> str:
    picked = dice.sample(list(entities), min(6, len(entities)))
    queries = [{"query": each.name, "entities": [each.entity_id]} for each in picked]
    plan = {"entities": [each.entity_id for each in picked], "events": [], "queries": queries}
    return json.dumps(plan, ensure_ascii=False)
