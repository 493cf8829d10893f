"""A small project as an author's files: two written chapters, the plan of a third, characters, records."""

import json
import shutil
from pathlib import Path
from typing import Any

PROJECT = "lighthouse"

CHAPTERS: dict[int, list[str]] = {
    1: [
        "Ada hid the brass key under the third stair of the lighthouse. Nobody saw her do it.",
        "Ben promised Ada that he would keep the lamp burning until she came back from the mainland.",
    ],
    2: [
        "Ada read the keeper's logbook on the mainland and found a wreck called the Marigold in it.",
        "Ben sold the brass key to the harbour master, a man named Cornelius, for two loaves of bread.",
    ],
}

ENTITIES = [
    {"entity_id": "C0", "entity_type": "character", "name": "Ada", "aliases": ["the keeper's daughter"]},
    {"entity_id": "C1", "entity_type": "character", "name": "Ben"},
    {"entity_id": "C2", "entity_type": "character", "name": "Cornelius", "aliases": ["the harbour master"]},
    {"entity_id": "L0", "entity_type": "location", "name": "the lighthouse"},
    {"entity_id": "I0", "entity_type": "item", "name": "the brass key"},
]

RECORDS: dict[int, list[dict[str, Any]]] = {
    1: [
        {
            "chapter_index": 1,
            "scene_index": 1,
            "title": "The third stair",
            "location_id": "L0",
            "characters_present": ["C0"],
            "summary": ["Ada hides the brass key under the third stair."],
            "state_changes": [{"entity_id": "I0", "changes": {"location_id": "L0"}}],
            "memories": [
                {
                    "memory_id": "M001",
                    "event_type": "event",
                    "content": "Ada hid the brass key under the third stair of the lighthouse.",
                    "short": "The key lies under the third stair",
                    "importance": 7,
                    "entities": ["C0", "I0"],
                    "tags": ["key"],
                }
            ],
        },
        {
            "chapter_index": 1,
            "scene_index": 2,
            "title": "A promise",
            "location_id": "L0",
            "characters_present": ["C0", "C1"],
            "summary": ["Ben promises Ada to keep the lamp burning."],
            "state_changes": [{"entity_id": "C1", "changes": {"goals": ["keep the lamp burning"]}}],
            "memories": [
                {
                    "memory_id": "M002",
                    "event_type": "promise_made",
                    "content": "Ben promised Ada to keep the lamp burning until her return.",
                    "short": "Ben must keep the lamp burning",
                    "importance": 8,
                    "entities": ["C0", "C1"],
                }
            ],
        },
    ],
    2: [
        {
            "chapter_index": 2,
            "scene_index": 2,
            "title": "Two loaves",
            "characters_present": ["C1", "C2"],
            "summary": ["Ben sells the brass key to the harbour master."],
            "state_changes": [{"entity_id": "I0", "changes": {"holder": "C2", "location_id": None}}],
            "memories": [
                {
                    "memory_id": "M003",
                    "event_type": "transfer",
                    "content": "Ben sold the brass key to the harbour master for two loaves of bread.",
                    "short": "The harbour master has the key",
                    "importance": 9,
                    "entities": ["C1", "C2", "I0"],
                }
            ],
        }
    ],
}

PLAN: dict[str, Any] = {
    "scene_number": 1,
    "location": "the lighthouse",
    "characters": ["Ada", "Ben"],
    "purpose": "Ada comes back and looks for the brass key",
    "key_actions": ["Ada searches the third stair", "She asks Ben about the lamp and his promise"],
}


def write_project(projects_dir: Path, *, records: bool = True) -> Path:
    """Write the author's files and return the project's folder."""
    folder = projects_dir / PROJECT
    (folder / "chapters").mkdir(parents=True)
    _write(folder / "settings.json", {"project_name": "The Lighthouse", "language": "en"})
    _write(
        folder / "characters.json",
        {"protagonist": {"name": "Ada", "role": "protagonist"}, "supporting_characters": [{"name": "Ben"}]},
    )
    _write(folder / "entities.json", {"entities": ENTITIES})
    for number, texts in CHAPTERS.items():
        scenes = [{"scene_number": place, "content": text} for place, text in enumerate(texts, start=1)]
        chapter = {"chapter_number": number, "chapter_title": f"Chapter {number}", "scenes": scenes}
        _write(folder / "chapters" / f"chapter_{number:03d}.json", chapter)
        if records:
            _write(folder / "records" / f"chapter_{number:03d}_records.json", {"records": RECORDS[number]})
    plan = {"chapter_number": 3, "chapter_title": "Back", "scenes": [PLAN]}
    _write(folder / "chapters" / "chapter_003_plan.json", plan)
    return folder


def disable_index(folder: Path) -> None:
    """Put a file in the place of a project's index, so that it is refused at once."""
    shutil.rmtree(folder / "data" / "vectors")
    (folder / "data" / "vectors").write_text("not a folder", encoding="utf-8")


def _write(file: Path, data: object) -> None:
    file.parent.mkdir(exist_ok=True)
    file.write_text(json.dumps(data), encoding="utf-8")
