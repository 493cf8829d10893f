"""How often it is told rightly who knows what, against the judged lines of a book's `knowledge.jsonl`.

    python -m tests.benchmarks.knowledge ../shared/bench/xiyouji [--wrong]

Each line says whether a character knows a memory on entering a scene, and since when; it is a trap where "was listed as
present in the memory's scene" answers wrongly. Rules alone, from the book's records and texts; `presence` is what that
simple answer would score.
"""

import argparse
import tempfile
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path

from pydantic import BaseModel

from novelgen.models.knowledge import CharacterKnowledge
from novelgen.models.position import StoryPosition
from runtime.ingest.ingest import import_book
from runtime.settings import load_settings
from runtime.stores import MemoryStores
from runtime.story.knowledge import StoryKnowledge

PROJECT = "measured"


class JudgedLine(BaseModel):
    """Whether a character knows a memory on entering a scene, as somebody who read the book says."""

    id: str
    character_id: str
    memory_id: str
    chapter_index: int
    scene_index: int
    knows: bool
    since: tuple[int, int] | None = None
    how: str = ""
    trap: bool = False


class KnowledgeScore(BaseModel):
    """Shares of the judged lines that are told rightly, 0-1.

    `traps` is that of the traps alone, `since` that of the lines known both ways whose beginning is judged, `presence`
    what who is listed as present would score. `wrong` holds the ids of the lines told wrongly.
    """

    lines: int
    accuracy: float
    traps: float
    since: float
    presence: float
    wrong: list[str]


def score(folder: Path) -> KnowledgeScore:
    """Take a book in and hold what is told of it against its judged lines."""
    text = (folder / "knowledge.jsonl").read_text(encoding="utf-8")
    lines = [JudgedLine.model_validate_json(line) for line in text.splitlines() if line.strip()]
    asked: dict[tuple[str, int, int], list[JudgedLine]] = defaultdict(list)
    for line in lines:
        asked[line.character_id, line.chapter_index, line.scene_index].append(line)
    told: dict[str, bool] = {}
    begun: dict[str, bool] = {}
    with tempfile.TemporaryDirectory() as projects:
        settings = load_settings(projects_dir=Path(projects), memory={"embedding_model": "fake:64"})
        with MemoryStores(settings) as stores:
            import_book(stores, folder, project_id=PROJECT, records=True)
            for (who, chapter, scene), about in asked.items():
                as_of = StoryPosition(chapter, scene)
                found = _by_memory(StoryKnowledge(stores, PROJECT).knowledge(character=who, as_of=as_of))
                for line in about:
                    since = found[line.memory_id]
                    told[line.id] = (since is not None) == line.knows
                    if line.knows and line.since and since is not None:
                        begun[line.id] = since == line.since
    return KnowledgeScore(
        lines=len(lines),
        accuracy=_share([told[line.id] for line in lines]),
        traps=_share([told[line.id] for line in lines if line.trap]),
        since=_share(list(begun.values())),
        presence=_share([not line.trap for line in lines]),
        wrong=[line.id for line in lines if not told[line.id]],
    )


def _by_memory(knowledge: CharacterKnowledge) -> Mapping[str, tuple[int | None, int | None] | None]:
    """Each memory to where it was learnt; None for what is not known."""
    known = {each.source_id: (each.since_chapter, each.since_scene) for each in knowledge.known}
    return {**{each.source_id: None for each in knowledge.not_known}, **known}


def _share(right: list[bool]) -> float:
    return round(sum(right) / len(right), 3) if right else 0.0


def main(arguments: list[str] | None = None) -> None:
    """Print the score of a book."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="a book with records and knowledge.jsonl")
    parser.add_argument("--wrong", action="store_true", help="also the ids of the lines told wrongly")
    options = parser.parse_args(arguments)
    result = score(options.folder)
    print(result.model_dump_json(exclude=None if options.wrong else {"wrong"}))


if __name__ == "__main__":
    main()
