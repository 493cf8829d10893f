"""Writing a project's memory as a folder of JSON files."""

from __future__ import annotations

import json
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any
from urllib.parse import quote

from novelgen.errors import UserInputError
from novelgen.models.entity import EntityType
from runtime.atomic_files import write_text_atomically
from runtime.exchange.memory_documents import MemoryDocuments
from runtime.storage.transfer.records import ProjectContents
from runtime.stores import MemoryStores

MEMORY_FOLDER = "memory"
ENTITY_FOLDERS: dict[EntityType, str] = {
    "character": "characters",
    "location": "locations",
    "item": "items",
    "faction": "factions",
    "term": "terms",
}
SCENES_FOLDER = "scenes"
LONGEST_FILE_NAME = 200


def export_project(stores: MemoryStores, project_id: str, folder: Path) -> list[Path]:
    """Write everything that a project holds to `memory/` in a folder; `read_memory_folder` reads it back.

    Args:
        stores: The stores.
        project_id: The project.
        folder: Is created when absent; it must not hold a `memory` with anything in it.

    Returns:
        The files that were written.

    Raises:
        UnknownProjectError: When no such project is stored.
        UserInputError: When there is something in `memory` already.
        ContextWriteError: When a file cannot be written.
    """
    with stores.database(project_id).read() as unit:
        contents = unit.exchange.contents()
    root = folder / MEMORY_FOLDER
    if root.exists() and any(root.iterdir()):
        raise UserInputError(f"{str(root)!r} is not empty; export to a new folder")
    return write_memory_folder(contents, root)


def write_memory_folder(contents: ProjectContents, root: Path) -> list[Path]:
    """Write contents as the files of a memory folder, each whole or not at all, and return their paths."""
    root.mkdir(parents=True, exist_ok=True)
    written = []
    for name, document in _documents(contents):
        text = json.dumps(document, ensure_ascii=False, indent=2) + "\n"
        write_text_atomically(root / name, text, root=root)
        written.append(root / name)
    return written


def _documents(contents: ProjectContents) -> Iterator[tuple[str, Any]]:
    documents = MemoryDocuments(contents)
    yield "project.json", {"name": contents.name, "language": contents.language}
    for given in contents.entities:
        folder = ENTITY_FOLDERS[given.entity.entity_type]
        yield f"{folder}/{file_name(given.entity.entity_id)}", documents.entity(given)
    for scene in contents.scenes:
        yield f"{SCENES_FOLDER}/{file_name(scene.scene.label)}", documents.scene(scene)
    yield "open_loops.json", documents.open_loops()
    yield "relationships.json", documents.relationships()
    yield "notes.json", documents.notes()
    yield "summaries.json", documents.summaries()
    if contents.consolidations:
        yield "consolidations.json", documents.consolidations()
    yield "counters.json", documents.counters()


def file_name(document_id: str) -> str:
    """Return the file name of an id; what a file name cannot hold is escaped as in URLs."""
    escaped = quote(document_id, safe=" ")
    if len(escaped) > LONGEST_FILE_NAME:
        escaped = escaped[:100] + sha256(document_id.encode("utf-8", "surrogatepass")).hexdigest()
    return escaped + ".json"
