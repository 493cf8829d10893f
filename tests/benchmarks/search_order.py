"""Whether a search finds what it is asked for: each memory by its own short form, and what holds before what is over.

    python -m tests.benchmarks.search_order
    python -m tests.benchmarks.search_order ../shared/bench/xiyouji_long --work-dir DIR --sample 400

Without a book, both demo projects are measured, ingested anew with the embedding model of the settings. A book is
imported once into the work folder. Each memory that has a short form is asked for twice: by that form, and by its
middle, which is the form without its first and last fifth, so that no rule for equal texts can help.
"""

import argparse
import random
import tempfile
from collections.abc import Sequence
from pathlib import Path

from pydantic import BaseModel, Field

from novelgen.memory.search import RankedMemories
from novelgen.models.memory import StoryMemoryChunk
from runtime.ingest.ingest import import_book
from runtime.search.search import ranked_memories
from runtime.settings import load_settings
from runtime.stores import MemoryStores
from tests.support.demo_project import DEMOS, copy_shipped_demos, ingest_demo

PATIENT = {"tool_timeout_s": 60.0, "chain_timeout_s": 120.0, "vector_store": {"write_timeout_s": 60.0}}
"""A loaded machine must not change what is found."""

FIRST_TEN = 10


class FoundShare(BaseModel):
    """How often a memory was found where it should be."""

    first: float = Field(description="Share of the memories that came first.")
    first_ten: float = Field(description="Share that was among the first ten.")


class SearchOrder(BaseModel):
    """How a project's memories are found."""

    project_id: str
    memories: int = Field(description="How many were asked for.")
    own_form: FoundShare = Field(description="Asked for by the own short form.")
    holding_by_middle: FoundShare = Field(
        description="Those that hold, by the middle of their short form; a text that several share is anyone's."
    )
    outdated_first: list[str] = Field(
        description="Outdated memories that came before what holds, though not asked for in their own words."
    )
    unmarked: list[str] = Field(description="Outdated memories that were not shown as such.")


def measure(stores: MemoryStores, project_id: str, *, sample: int | None = None) -> SearchOrder:
    """Ask for the memories of a project, each by its own words.

    Args:
        stores: Stores that hold the project.
        project_id: The project.
        sample: At most so many memories, drawn the same way every time.
    """
    asked_for = memories_with_short_form(stores, project_id)
    chosen = asked_for if sample is None else random.Random(1).sample(asked_for, min(sample, len(asked_for)))
    own: list[int | None] = []
    middle: list[int | None] = []
    outdated_first: list[str] = []
    unmarked: list[str] = []
    for memory in chosen:
        short = memory.short or ""
        texts = (short, middle_of(short))
        answers = [ranked_memories(stores, project_id, text) for text in texts]
        own.append(place_of(memory, answers[0]))
        if memory.superseded_by is None:
            middle.append(place_of(memory, answers[1]))
        over = {each.chunk_id for each in asked_for if each.superseded_by is not None}
        for answer, text in zip(answers, texts, strict=True):
            unmarked += [
                each.chunk.chunk_id for each in answer.memories if each.chunk.chunk_id in over and not each.is_outdated
            ]
            outdated_first += [name for name in before_what_holds(answer) if text != short or name != memory.chunk_id]
    return SearchOrder(
        project_id=project_id,
        memories=len(chosen),
        own_form=_share(own),
        holding_by_middle=_share(middle),
        outdated_first=sorted(set(outdated_first)),
        unmarked=sorted(set(unmarked)),
    )


def memories_with_short_form(stores: MemoryStores, project_id: str) -> list[StoryMemoryChunk]:
    """Return the distilled memories of a project that have a short form, as they are at its end."""
    with stores.database(project_id).read() as unit:
        stored = [each.chunk for each in unit.memories.list_matching()]
        named = [each.chunk_id for each in stored if each.content_type == "memory" and each.short]
        return unit.memories.by_ids(named)


def middle_of(text: str) -> str:
    """Return a text without its first and last fifth: by words where it has them, else by characters."""
    parts: Sequence[str] = text.split() if " " in text else text
    cut = len(parts) // 5
    return ("" if isinstance(parts, str) else " ").join(parts[cut : len(parts) - cut])


def place_of(memory: StoryMemoryChunk, answer: RankedMemories) -> int | None:
    """Return the place of a memory, or of one that says the very same, from 1; None where it is not there."""
    for place, each in enumerate(answer.memories, start=1):
        if each.chunk.chunk_id == memory.chunk_id or each.chunk.short == memory.short:
            return place
    return None


def before_what_holds(answer: RankedMemories) -> list[str]:
    """Return the outdated memories of an answer that stand before the one that holds in their place."""
    places = {each.chunk.chunk_id: place for place, each in enumerate(answer.memories)}
    return [
        each.chunk.chunk_id
        for place, each in enumerate(answer.memories)
        if each.held_by is not None and places.get(each.held_by.chunk_id, len(places)) > place
    ]


def _share(places: Sequence[int | None]) -> FoundShare:
    count = max(1, len(places))
    return FoundShare(
        first=sum(place == 1 for place in places) / count,
        first_ten=sum(place is not None and place <= FIRST_TEN for place in places) / count,
    )


def measured_demos(projects_dir: Path) -> list[SearchOrder]:
    """Ingest both demos into a folder and measure them."""
    copy_shipped_demos(projects_dir)
    with MemoryStores(load_settings(projects_dir=projects_dir, memory=PATIENT)) as stores:
        for project_id in DEMOS:
            ingest_demo(stores, project_id)
        return [measure(stores, project_id) for project_id in DEMOS]


def measured_book(book: Path, projects_dir: Path, *, sample: int | None) -> SearchOrder:
    """Import a book where it is not yet, and measure it."""
    projects_dir.mkdir(parents=True, exist_ok=True)
    project_id = book.name.replace("_", "-")
    with MemoryStores(load_settings(projects_dir=projects_dir, memory=PATIENT)) as stores:
        import_book(stores, book, project_id=project_id, records=True)
        return measure(stores, project_id, sample=sample)


def main() -> None:
    """Measure what the arguments name and print the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("books", nargs="*", type=Path, help="folders of books; none: both demos")
    parser.add_argument("--work-dir", type=Path, help="keeps imported books; default: a temporary folder")
    parser.add_argument("--sample", type=int, help="at most so many memories of a book")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = given.work_dir or Path(temporary) / "projects"
        if given.books:
            found = [measured_book(book, folder, sample=given.sample) for book in given.books]
        else:
            demos = Path(temporary) / "demos"
            demos.mkdir()
            found = measured_demos(demos)
    headings = ("memories", "first", "in ten", "middle: first", "in ten", "outdated first")
    widths = (9, 8, 8, 15, 8, 16)
    print("project".ljust(22) + "".join(f"{word:>{width}}" for word, width in zip(headings, widths, strict=True)))
    for each in found:
        print(
            f"{each.project_id:22}{each.memories:>9}{each.own_form.first:>8.3f}{each.own_form.first_ten:>8.3f}"
            f"{each.holding_by_middle.first:>15.3f}{each.holding_by_middle.first_ten:>8.3f}"
            f"{len(each.outdated_first):>16}"
        )


if __name__ == "__main__":
    main()
