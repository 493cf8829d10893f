"""What a recall costs and what it brings: a character of 3,000 memories, and a made-up life with questions.

    python -m tests.benchmarks.character_recall
    python -m tests.benchmarks.character_recall --events 1000 --only quality

Everything runs in one process, warm, with the embedding model of the settings; nothing else should run beside it.
The questions of the life ask in other words than the memories have, each for one event of which it is known.
"""

import argparse
import tempfile
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from novelgen.characters import recall as recalling
from novelgen.characters.events import GivenEvent, learning, made_memory
from novelgen.characters.memory import CharacterMemorySettings
from novelgen.characters.mind import Mind, RelevanceScale
from novelgen.characters.recall import Asked, Recall
from novelgen.memory.query_scores import unit_rows
from runtime.settings import load_settings
from runtime.storage.characters import MemoryVector
from runtime.stores import MemoryStores
from runtime.story.character import Character
from runtime.story.characters import StoryCharacters
from tests.benchmarks.character_life import AGE_NAMES, END, GREETINGS, Life, made_up_life

PROJECT = "village"
CALLS = 60
THREADS = 8

VARIANTS: dict[str, dict[str, Any]] = {
    "as shipped": {},
    "recency_half_life_days 1": {"recency_half_life_days": 1.0},
    "recency_half_life_days 30": {"recency_half_life_days": 30.0},
    "recency_half_life_days 365": {"recency_half_life_days": 365.0},
    "recency_floor 0": {"recency_floor": 0.0},
    "recency_floor 1 (no recency)": {"recency_floor": 1.0},
    "relevance_floor 0": {"relevance_floor": 0.0},
    "relevance_floor .5": {"relevance_floor": 0.5},
    "relevance_floor 1 (no relevance)": {"relevance_floor": 1.0},
    "tier_weights 1 1 1": {"tier_weights": (1.0, 1.0, 1.0)},
    "tier_weights 5 2.5 1": {"tier_weights": (5.0, 2.5, 1.0)},
    "semantic_top_k 5": {"semantic_top_k": 5},
    "semantic_top_k 30": {"semantic_top_k": 30},
    "semantic_top_k 60": {"semantic_top_k": 60},
    "high_signal_top_k 0": {"high_signal_top_k": 0},
    "high_signal_top_k 5": {"high_signal_top_k": 5},
    "high_signal_top_k 8": {"high_signal_top_k": 8},
    "high_signal_top_k 10": {"high_signal_top_k": 10},
    "high_signal_recency_days 1": {"high_signal_recency_days": 1.0},
    "high_signal_recency_days 30": {"high_signal_recency_days": 30.0},
    "high_relevance_threshold .5": {"high_relevance_threshold": 0.5},
    "high_relevance_threshold 1": {"high_relevance_threshold": 1.0},
}

BUDGETS = (150, 300, 500, 800, 1500)


@dataclass(frozen=True)
class Compared:
    """The life as a mind, and what each remark is to it."""

    life: Life
    mind: Mind
    ids: dict[str, str]
    scale: RelevanceScale
    cosines: dict[str, Any]

    def recalled(self, said: str, settings: CharacterMemorySettings, *, budget: int, is_scaled: bool = True) -> Recall:
        """Return what comes back at a remark at the end of the life."""
        cosines = self.cosines[said]
        view = self.mind.view(None, clock_now=END)
        asked = Asked(
            said=said,
            compared=recalling.Compared(
                self.scale.of(cosines) if is_scaled else np.clip(cosines, 0, 1), cosines, by="meaning"
            ),
            budget_tokens=budget,
        )
        return recalling.recall(self.mind, view, asked, character_id="C0", settings=settings)


def stored_life(stores: MemoryStores, life: Life) -> Character:
    """Store a life as the memories of a new character, embedded in one batch."""
    entity = StoryCharacters(stores, PROJECT).open_character(name="Gregor", create=True)
    settings = stores.settings.memory.character_memory
    vectors = stores.embeddings.embed_documents([event.text for event in life.events])
    memories = [
        made_memory(
            GivenEvent(text=event.text, event_type=event.event_type, slot=event.slot),
            learning(event.happened_at, now=END),
            character_id=entity.entity_id,
            memory_id=f"E{number}",
            event_id=f"E{number}",
            participants=[],
            settings=settings,
            created_at=END,
        ).memory
        for number, event in enumerate(life.events)
    ]
    holders: dict[str, int] = {}
    for number, memory in enumerate(memories):
        if memory.slot is not None:
            if memory.slot in holders:
                former = holders[memory.slot]
                memories[former] = memories[former].model_copy(update={"superseded_by": memory.memory_id})
            holders[memory.slot] = number
    model = stores.embeddings.model_name
    with stores.database(PROJECT).write() as unit:
        unit.characters.add(
            memories,
            {
                memory.memory_id: MemoryVector(model, np.asarray(vector, np.float32))
                for memory, vector in zip(memories, vectors, strict=True)
            },
        )
    return Character(stores, PROJECT, entity, clock=lambda: END)


def compared(stores: MemoryStores, gregor: Character, life: Life) -> Compared:
    """Embed every remark once."""
    said = [*(question.said for question in life.questions), *GREETINGS]
    questions = unit_rows(stores.embeddings.embed_queries(said))
    with stores.database(PROJECT).read() as unit:
        mind = stores.minds.mind(unit.characters, gregor.character_id, model=stores.embeddings.model_name)
    return Compared(
        life,
        mind,
        {memory.content: memory.memory_id for memory in mind.memories},
        stores.relevance_scales.scale(stores.embeddings, "en"),
        {
            text: np.einsum("ij,j->i", mind.vectors, vector).astype(np.float64)
            for text, vector in zip(said, questions, strict=True)
        },
    )


def measured_variant(
    life: Compared, settings: CharacterMemorySettings, *, budget: int, is_scaled: bool = True
) -> Mapping[str, float]:
    """Return which share of the needed memories came back: of all, by age, in the first place, and unasked."""
    found: dict[str, list[bool]] = {"asked": [], "first": [], **{age: [] for age in AGE_NAMES}}
    for question in life.life.questions:
        recalled = life.recalled(question.said, settings, budget=budget, is_scaled=is_scaled)
        told = {item.memory.memory_id: item for item in recalled.items}
        wanted = life.ids[question.event.text]
        found["asked"].append(wanted in told)
        found[question.age].append(wanted in told)
        found["first"].append(bool(recalled.items) and recalled.items[0].memory.memory_id == wanted)
    owed = [
        life.ids[event.text]
        in {item.memory.memory_id for item in life.recalled(said, settings, budget=budget, is_scaled=is_scaled).items}
        for said in GREETINGS
        for event in life.life.owed
    ]
    shares = {name: float(np.mean(values)) for name, values in found.items()}
    return {**shares, "unasked": float(np.mean(owed))}


def print_quality(life: Compared) -> None:
    """Print which setting moves what."""
    budget = 300
    print(f"{len(life.mind)} memories, {len(life.life.questions)} questions, budget {budget} tokens")
    print(f"{'':36}{'asked':>7}{'first':>7}" + "".join(f"{age:>11}" for age in AGE_NAMES) + f"{'unasked':>9}")

    def row(name: str, shares: Mapping[str, float]) -> None:
        ages = "".join(f"{shares[age]:>11.2f}" for age in AGE_NAMES)
        print(f"{name:36}{shares['asked']:>7.2f}{shares['first']:>7.2f}{ages}{shares['unasked']:>9.2f}")

    for name, changes in VARIANTS.items():
        row(name, measured_variant(life, CharacterMemorySettings(**changes), budget=budget))
    row(
        "relevance: the cosine as it is",
        measured_variant(life, CharacterMemorySettings(), budget=budget, is_scaled=False),
    )
    for tokens in BUDGETS:
        row(f"budget {tokens}", measured_variant(life, CharacterMemorySettings(), budget=tokens))


def milliseconds(work: Callable[[int], Any], calls: int = CALLS) -> tuple[float, float]:
    """Return the median and the 95th percentile of some calls."""
    spent = []
    for number in range(calls):
        start = time.perf_counter()
        work(number)
        spent.append((time.perf_counter() - start) * 1000)
    return float(np.percentile(spent, 50)), float(np.percentile(spent, 95))


def together_milliseconds(work: Callable[[int, int], Any], calls: int = 20) -> tuple[float, float]:
    """Return the median and the 95th percentile of calls that several threads make at once."""
    spent: list[float] = []

    def many(thread: int) -> None:
        for number in range(calls):
            start = time.perf_counter()
            work(thread, number)
            spent.append((time.perf_counter() - start) * 1000)

    threads = [threading.Thread(target=many, args=(thread,)) for thread in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return float(np.percentile(spent, 50)), float(np.percentile(spent, 95))


def print_latency(stores: MemoryStores, gregor: Character, life: Life) -> None:
    """Print what calls take, beside one embedding in the same run."""
    said = [question.said for question in life.questions]
    gregor.recall(said[0])

    def asked(number: int) -> str:
        # No two alike: nothing that keeps answers could help.
        return f"{said[number % len(said)]} {number}"

    one = milliseconds(lambda number: stores.embeddings.embed_query(asked(number)))
    document = milliseconds(lambda number: stores.embeddings.embed_documents([f"{life.events[number].text} {number}"]))
    recalled = milliseconds(lambda number: gregor.recall(asked(number)))
    remembered = milliseconds(lambda number: gregor.remember(f"{life.events[number].text} {number}"))

    embedded_together = together_milliseconds(
        lambda thread, number: stores.embeddings.embed_query(f"{asked(number)} {thread}")
    )
    # No two alike here either: what several hear at once is embedded once, which would help.
    together = together_milliseconds(lambda thread, number: gregor.recall(f"{asked(number)}, {thread}"))
    heard = together_milliseconds(lambda thread, number: gregor.recall(f"{asked(number)}!"))
    print(f"{'milliseconds':36}{'p50':>8}{'p95':>8}")
    for name, (median, high) in {
        "one query embedding": one,
        "one document embedding": document,
        "recall": recalled,
        f"embedding, {THREADS} threads at once": embedded_together,
        f"recall, {THREADS} threads at once": together,
        f"recall, {THREADS} threads, one remark": heard,
        "remember": remembered,
    }.items():
        print(f"{name:36}{median:>8.1f}{high:>8.1f}")
    print(f"recall p50 against 2.5 embeddings + 10: {recalled[0]:.1f} of {2.5 * one[0] + 10:.1f}")
    print(f"{THREADS} threads p95 against 4 times one's p95: {together[1]:.1f} of {4 * recalled[1]:.1f}")
    print(f"remember p50 against 2 embeddings + 15: {remembered[0]:.1f} of {2 * document[0] + 15:.1f}")


def main() -> None:
    """Measure, and print tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--events", type=int, default=3_000, help="events of the life")
    parser.add_argument("--only", choices=("quality", "latency"), help="measure only this")
    given = parser.parse_args()
    life = made_up_life(given.events)
    with tempfile.TemporaryDirectory() as folder, MemoryStores(load_settings(projects_dir=Path(folder))) as stores:
        gregor = stored_life(stores, life)
        if given.only != "latency":
            print_quality(compared(stores, gregor, life))
        if given.only != "quality":
            print_latency(stores, gregor, life)


if __name__ == "__main__":
    main()
