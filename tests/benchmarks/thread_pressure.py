"""Which order of waiting threads comes nearest to what is paid next: pressure, age, importance, or both multiplied.

    python -m tests.benchmarks.thread_pressure BOOK_DIR… --scenes 5

Before every scene of a book the threads that wait are ordered in each way, from what the records say until then and
the people and place of the scene just before. Counted is which share of those that the next scenes pay stands among
the first three and the first eight. No model and no database.
"""

import argparse
import json
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from novelgen.memory.ledger import LedgerEntry, LedgerStory, ThreadEvent, make_ledger
from novelgen.memory.outline import OutlineScene
from novelgen.models.folds import loop_event_values, recorded_loop_events
from novelgen.models.position import StoryPosition
from novelgen.models.record import SceneRecord
from novelgen.models.state import LOOP_WEIGHTS

ORDERS: Mapping[str, Callable[[LedgerEntry], float]] = {
    "pressure": lambda each: each.pressure,
    "importance × age": lambda each: LOOP_WEIGHTS[each.importance] * (1 + (each.age_scenes or 0)),
    "importance, then age": lambda each: LOOP_WEIGHTS[each.importance] * 10_000 + (each.age_scenes or 0),
    "age, oldest first": lambda each: each.age_scenes or 0,
    "silence, longest first": lambda each: each.silent_scenes or 0,
    "moved last first": lambda each: -(each.silent_scenes or 0),
}

FIRST = (3, 8)

MAX_POSITIONS = 100
"""A longer book is looked at before every so many-th scene."""


def shares(records: Sequence[SceneRecord], *, scenes_ahead: int) -> dict[str, tuple[float, ...]]:
    """Return, for each order, the share of soon paid threads among the first, and what chance would give.

    Args:
        records: Of a whole book, in story order.
        scenes_ahead: Threads that one of so many next scenes pays count.
    """
    hits: dict[str, list[float]] = {name: [0.0] * len(FIRST) for name in (*ORDERS, "chance")}
    paid = 0
    for number in range(1, len(records), max(1, len(records) // MAX_POSITIONS)):
        ahead = records[number : number + scenes_ahead]
        soon = {each.id for record in ahead for each in record.open_loops_resolved if not each.abandoned}
        waiting = [each for each in _ledger_before(records, number) if each.is_waiting]
        gold = soon & {each.loop_id for each in waiting}
        paid += len(gold)
        for place, first in enumerate(FIRST):
            hits["chance"][place] += len(gold) * min(1.0, first / max(1, len(waiting)))
            for name, key in ORDERS.items():
                shown = sorted(waiting, key=lambda each: (-key(each), each.loop_id))[:first]
                hits[name][place] += len(gold & {each.loop_id for each in shown})
    return {name: tuple(count / max(1, paid) for count in counts) for name, counts in hits.items()}


def _ledger_before(records: Sequence[SceneRecord], number: int) -> list[LedgerEntry]:
    events: dict[str, list[ThreadEvent]] = defaultdict(list)
    for record in records[:number]:
        for event in recorded_loop_events(record):
            place = {"chapter_index": record.chapter_index, "scene_index": record.scene_index}
            events[event.id].append(ThreadEvent(**loop_event_values(event), **place))
    last = records[number - 1]
    story = LedgerStory(
        project_id="book",
        language="en",
        scenes=[OutlineScene(each.chapter_index, each.scene_index) for each in records[:number]],
        events=events,
        on_stage=frozenset([*last.characters_present, *([last.location_id] if last.location_id else [])]),
    )
    here = records[number]
    return make_ledger(story, as_of=StoryPosition(here.chapter_index, here.scene_index)).entries


def read_records(folder: Path) -> list[SceneRecord]:
    """Return the records of a benchmark book in story order."""
    with (folder / "records.jsonl").open(encoding="utf-8") as lines:
        records = [SceneRecord.model_validate(json.loads(line)) for line in lines]
    return sorted(records, key=lambda each: (each.chapter_index, each.scene_index))


def main() -> None:
    """Print a table for each book."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("books", nargs="+", type=Path)
    parser.add_argument("--scenes", type=int, default=5, help="how many next scenes count")
    options = parser.parse_args()
    for folder in options.books:
        told = shares(read_records(folder), scenes_ahead=options.scenes)
        print(f"{folder.name}: paid within {options.scenes} scenes, share among the first {FIRST}")
        for name, found in told.items():
            print(f"  {name:24}", "  ".join(f"{share:.2f}" for share in found))


if __name__ == "__main__":
    main()
