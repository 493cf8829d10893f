"""Importing a book's folder into a project."""

from __future__ import annotations

from pathlib import Path

from runtime.files.bench_folder import load_book
from runtime.ingest.embedding_batches import Progress
from runtime.ingest.entity_writes import store_entities
from runtime.ingest.ingest import IngestResult, ingest_scenes
from runtime.ingest.scene_input import scenes_of_book
from runtime.stores import MemoryStores


def import_book(
    stores: MemoryStores,
    folder: Path,
    *,
    project_id: str,
    records: bool = False,
    progress: Progress | None = None,
    index_progress: Progress | None = None,
) -> IngestResult:
    """Import a book's scenes, and with `records` its entities and scene records, into a project.

    The project is created when there is none; ids of the book are kept. Importing again changes nothing.

    Args:
        stores: The stores.
        folder: Holds scenes.jsonl, meta.json and, for `records`, entities.jsonl and records.jsonl.
        project_id: The project.
        records: Also import entities and records.
        progress: Called after each scene with the scenes done and the scenes in all.
        index_progress: Called after each step of indexing with the entries done and the entries in all.

    Raises:
        InvalidFileError: When a file is missing or wrong; nothing is created or stored then.
        InvalidProjectIdError: When the id is not a plain, path-free string.
        DatabaseError: When the database fails.
    """
    stores.paths(project_id)
    book = load_book(folder, records=records)
    stores.ensure_project(project_id, name=book.title, language=book.language)
    if book.entities:
        store_entities(stores, project_id, book.entities)
    return ingest_scenes(
        stores, project_id, scenes_of_book(book), progress=progress, index_progress=index_progress
    )
