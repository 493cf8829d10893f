"""What changes in the stores when a scene in the middle of a book is taken in again with changes.

    python -m tests.benchmarks.reingest_middle ../shared/bench/xiyouji [--json]

All rows of all tables are compared whole, numbers and moments included. Those that hang on the changed scene may
change; of the others only the project's counters of writes may, and nothing else.
"""

import argparse
import json
import tempfile
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sqlalchemy import create_engine, select

from novelgen.models.record import RecordedMemory, RecordedStateChange, SceneRecord
from runtime.files.project_files import load_book
from runtime.ingest.indexing import verify_index
from runtime.ingest.ingest import import_book, ingest_scenes
from runtime.ingest.scene_input import SceneInput, scenes_of_book
from runtime.settings import load_settings
from runtime.storage.tables import CHUNKS, METADATA, SCENES
from runtime.stores import MemoryStores

PROJECT = "measured"
BOOKKEEPING = {"projects", "counters"}
"""Tables whose rows count writes and give out numbers."""

Rows = dict[str, Counter[str]]
"""Table to its rows, each as JSON, with how often it is there."""


def measure(folder: Path) -> dict[str, Any]:
    """Take a book in, change its middle scene, and count the rows that differ, inside and outside of that scene.

    Args:
        folder: A book with records.

    Returns:
        Per table the rows gone and new of the scene and of everything else, and whether taking the scene in as it
        was brings every row's content back.
    """
    scenes = scenes_of_book(load_book(folder, records=True))
    middle = [scene for scene in scenes if scene.record and scene.record.memories][len(scenes) // 2]
    with tempfile.TemporaryDirectory() as projects:
        # Whether the index agrees is asked of what it took in: however busy the machine, it may take its time.
        patient = {"embedding_model": "fake:64", "vector_store": {"write_timeout_s": 120}}
        settings = load_settings(projects_dir=Path(projects), memory=patient)
        with MemoryStores(settings) as stores:
            import_book(stores, folder, project_id=PROJECT, records=True)
            before = _rows(stores, middle)
            [result] = ingest_scenes(stores, PROJECT, [_changed(middle)]).scenes
            after = _rows(stores, middle)
            is_sound = verify_index(stores, PROJECT).is_sound
            ingest_scenes(stores, PROJECT, [middle])
            restored = _rows(stores, middle)
    return {
        "book": folder.name,
        "scene": f"{middle.chapter_index}:{middle.scene_index}",
        "rows": sum(sum(rows.values()) for part in before for rows in part.values()),
        "memories": {"added": result.added, "removed": result.removed, "unchanged": result.unchanged},
        "of_the_scene": _differences(before[0], after[0]),
        "of_everything_else": _differences(before[1], after[1]),
        "index_agrees": is_sound,
        "taken_back_differs": _differences(before[1], restored[1]),
    }


def _changed(scene: SceneInput) -> SceneInput:
    """The scene with another sentence, one memory less and one more, and another state."""
    record = scene.record or SceneRecord(chapter_index=scene.chapter_index, scene_index=scene.scene_index)
    entity_id = record.memories[0].entities[0]
    memory = RecordedMemory(memory_id="M-measured", content="A bell rings thrice.", entities=[entity_id])
    state = RecordedStateChange(entity_id=entity_id, changes={"mood": "measured"})
    changed = record.model_copy(
        update={"memories": [*record.memories[1:], memory], "state_changes": [*record.state_changes[1:], state]}
    )
    return scene.model_copy(update={"text": f"{scene.text}\nA bell rings thrice.", "record": changed})


def _rows(stores: MemoryStores, scene: SceneInput) -> tuple[Rows, Rows]:
    """All rows: those that hang on a scene, and the others."""
    engine = create_engine(f"sqlite:///{stores.paths(PROJECT).database}")
    inside: Rows = {}
    outside: Rows = {}
    with engine.connect() as connection:
        at = (SCENES.c.chapter_index == scene.chapter_index, SCENES.c.scene_index == scene.scene_index)
        scene_id = connection.scalar(select(SCENES.c.scene_id).where(*at))
        chunks = connection.execute(
            select(CHUNKS.c.row_id, CHUNKS.c.chunk_id).where(CHUNKS.c.scene_id == scene_id)
        ).all()
        own = {"scene_id": {scene_id}, "chunk_row_id": {row[0] for row in chunks}}
        # What is gone from the scene keeps an entry that tells the index so.
        present = set(connection.scalars(select(CHUNKS.c.chunk_id)))
        foreign = present - {row[1] for row in chunks}
        for table in METADATA.sorted_tables:
            for row in connection.execute(select(table)).mappings():
                is_own = any(row.get(name) in ids for name, ids in own.items())
                if table.name == "index_outbox":
                    is_own = row["chunk_id"] not in foreign
                part = inside if is_own else outside
                part.setdefault(table.name, Counter())[_text(row)] += 1
    engine.dispose()
    return inside, outside


def _text(row: Mapping[str, Any]) -> str:
    return json.dumps({name: str(value) for name, value in row.items()}, sort_keys=True)


def _differences(before: Rows, after: Rows) -> dict[str, dict[str, int]]:
    counted = {
        table: {
            "gone": (before.get(table, Counter()) - after.get(table, Counter())).total(),
            "new": (after.get(table, Counter()) - before.get(table, Counter())).total(),
        }
        for table in sorted({*before, *after})
    }
    return {table: counts for table, counts in counted.items() if any(counts.values())}


def main() -> None:
    """Measure and print, for people or as JSON."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("book", type=Path)
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    found = measure(arguments.book)
    if arguments.json:
        print(json.dumps(found))
        return
    others = {name: counts for name, counts in found["of_everything_else"].items() if name not in BOOKKEEPING}
    verdict = f"rows changed elsewhere: {others}" if others else "no row changed elsewhere"
    print(f"{found['book']}, scene {found['scene']} of {found['rows']:,} rows changed: {verdict}")
    for table, counts in found["of_the_scene"].items():
        print(f"  {table}: {counts['gone']} gone, {counts['new']} new")
    print(f"  memories: {found['memories']}; the index agrees with the database: {found['index_agrees']}")


if __name__ == "__main__":
    main()
