"""Importing a book's folder."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from novelgen.errors import InvalidFileError, InvalidProjectIdError
from novelgen.models.position import StoryPosition
from runtime.ingest.ingest import import_book
from runtime.settings import load_settings
from runtime.stores import MemoryStores

pytestmark = pytest.mark.slow

PLACE = {"chapter_index": 1, "scene_index": 1}
FILES: dict[str, list[dict[str, Any]]] = {
    "scenes.jsonl": [
        {**PLACE, "title": "一", "text": "阿青说道：“走吧。”"},
        {"chapter_index": 2, "scene_index": 1, "title": "二", "text": "灯灭了。"},
    ],
    "entities.jsonl": [
        {"entity_id": "C7", "entity_type": "character", "name": "阿青", "first_chapter": 1, "first_scene": 1}
    ],
    "records.jsonl": [
        {
            **PLACE,
            "characters_present": ["C7"],
            "memories": [{"memory_id": "M001", "content": "阿青要走。", "entities": ["C7"]}],
            "open_loops_created": [{"id": "OL4", "description": "去哪里"}],
        }
    ],
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A made-up book of two scenes with one entity and one record; its plans cannot be read."""
    book = tmp_path / "book"
    book.mkdir()
    for name, documents in FILES.items():
        lines = [json.dumps(each, ensure_ascii=False) + "\n" for each in documents]
        (book / name).write_text("".join(lines), encoding="utf-8")
    (book / "meta.json").write_text('{"title": "灯", "language": "zh"}', encoding="utf-8")
    for name in ("plans.jsonl", "covers.jsonl", "shorts.jsonl"):
        (book / name).write_bytes(b"\xff never read")
    return book


@pytest.fixture
def stores(tmp_path: Path) -> Iterator[MemoryStores]:
    """Stores in an empty folder; nothing is embedded for real."""
    settings = load_settings(projects_dir=tmp_path / "projects", memory={"embedding_model": "fake:16"})
    with MemoryStores(settings) as opened:
        yield opened


def test_entities_and_records_come_with_the_flag(stores: MemoryStores, folder: Path) -> None:
    """With the flag ids are kept, also over a project that was imported without it; a repeat changes nothing."""
    import_book(stores, folder, project_id="lamp")
    result = import_book(stores, folder, project_id="lamp", records=True)
    assert [each.outcome for each in result.scenes] == ["replaced", "unchanged"]
    with stores.database("lamp").read() as unit:
        (entity,) = unit.entities.list_all()
        (loop,) = unit.threads.list_as_of()
        memories = [each.chunk.source_id for each in unit.memories.list_matching() if each.chunk.source_id]
        (state,) = unit.states.snapshots(["C7"], as_of=StoryPosition(2, 1))
        assert unit.entities.next_id("character") == "C8"
    assert (entity.entity.entity_id, entity.origin, loop.loop_id, memories) == ("C7", "supplied", "OL4", ["M001"])
    assert state.state_data["presence"]["scene_index"] == 1
    again = import_book(stores, folder, project_id="lamp", records=True)
    assert [each.outcome for each in again.scenes] == ["unchanged"] * 2
    assert again.indexing.indexed == 0


def test_a_wrong_folder_creates_no_project(stores: MemoryStores, folder: Path) -> None:
    """Everything is read before anything is stored; without the flag scenes come alone."""
    with (folder / "records.jsonl").open("a", encoding="utf-8") as stream:
        stream.write("{broken\n")
    with pytest.raises(InvalidFileError, match=r"records\.jsonl' line 2 is not JSON"):
        import_book(stores, folder, project_id="lamp", records=True)
    with pytest.raises(InvalidProjectIdError, match=r"\.\./lamp"):
        import_book(stores, folder, project_id="../lamp")
    assert stores.project_ids() == []
    result = import_book(stores, folder, project_id="lamp")
    assert (result.count("added"), result.issues) == (2, [])
    with stores.database("lamp").read() as unit:
        project = unit.projects.require()
        scenes = unit.scenes.list_as_of()
        assert unit.entities.list_all() == []
    assert (project.name, project.language) == ("灯", "zh")
    assert [(each.title, each.record) for each in scenes] == [("一", None), ("二", None)]
