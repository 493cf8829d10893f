"""A book as a folder of JSON Lines: scenes.jsonl, entities.jsonl, records.jsonl, meta.json."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from pydantic import Field, ValidationError

from novelgen.errors import InvalidFileError
from novelgen.models.entity import Entity
from novelgen.models.record import SceneRecord
from novelgen.models.user_file import UserFileModel
from runtime.files.file_reading import described, parse_json, read_json_file, read_text_file
from runtime.files.project_files import EntityEntry

Lines = TypeVar("Lines", bound=UserFileModel)


class BookScene(UserFileModel):
    """One scene of a book, as a line of scenes.jsonl."""

    chapter_index: int = Field(ge=0)
    scene_index: int = Field(ge=0)
    title: str = ""
    text: str


class _SceneLines(UserFileModel):
    lines: list[BookScene]


class _EntityLines(UserFileModel):
    lines: list[EntityEntry]


class _RecordLines(UserFileModel):
    lines: list[SceneRecord]


@dataclass(frozen=True, slots=True)
class Book:
    """A book read from a folder."""

    title: str
    language: str
    scenes: list[BookScene]
    entities: list[Entity] = field(default_factory=list)
    records: dict[tuple[int, int], SceneRecord] = field(default_factory=dict)


def load_book(folder: Path, *, records: bool = False) -> Book:
    """Read a book's folder; plans and answer keys in it are never opened."""
    unordered = _read_lines(folder / "scenes.jsonl", _SceneLines).lines
    scenes = sorted(unordered, key=lambda scene: (scene.chapter_index, scene.scene_index))
    title, language = _title_and_language(folder)
    _refuse_repeats([(each.chapter_index, each.scene_index) for each in scenes], folder / "scenes.jsonl")
    if not records:
        return Book(title=title, language=language, scenes=scenes)
    entities = [entry.entity() for entry in _read_lines(folder / "entities.jsonl", _EntityLines).lines]
    _refuse_repeats([each.entity_id for each in entities], folder / "entities.jsonl")
    return Book(title, language, scenes, entities, _records(folder / "records.jsonl", scenes))


def _records(file: Path, scenes: Sequence[BookScene]) -> dict[tuple[int, int], SceneRecord]:
    records = _read_lines(file, _RecordLines).lines
    positions = [(each.chapter_index, each.scene_index) for each in records]
    _refuse_repeats(positions, file)
    stray = set(positions) - {(each.chapter_index, each.scene_index) for each in scenes}
    if stray:
        raise InvalidFileError(f"{str(file)!r} has a record of {min(stray)!r}, a scene that scenes.jsonl lacks")
    return dict(zip(positions, records, strict=True))


def _title_and_language(folder: Path) -> tuple[str, str]:
    file = folder / "meta.json"
    meta = read_json_file(file) if file.exists() else {}
    if not isinstance(meta, dict):
        raise InvalidFileError(f"{str(file)!r} must hold an object, not {type(meta).__name__}")
    title, language = meta.get("title", folder.resolve().name), meta.get("language", "")
    for name, value in (("title", title), ("language", language)):
        if not isinstance(value, str):
            raise InvalidFileError(f"{str(file)!r}: {name} cannot be {value!r}; write a string")
    return title, language


def _read_lines(file: Path, model: type[Lines]) -> Lines:
    """Validate all lines as one model, so that unknown fields are named in one warning per file."""
    numbered = list(_documents(file))
    try:
        return model.model_validate({"lines": [document for _, document in numbered]})
    except ValidationError as error:
        number, _ = numbered[int(error.errors(include_url=False)[0]["loc"][1])]
        raise InvalidFileError(f"{str(file)!r} line {number}: {described(error, loc_start=2)}") from error


def _documents(file: Path) -> Iterator[tuple[int, Any]]:
    for number, line in enumerate(read_text_file(file).split("\n"), start=1):
        if line.strip():
            yield number, parse_json(line, where=f"{str(file)!r} line {number}")


def _refuse_repeats(keys: Sequence[object], file: Path) -> None:
    seen: set[object] = set()
    for key in keys:
        if key in seen:
            raise InvalidFileError(f"{str(file)!r} has {json.dumps(key)} more than once; keep one line of it")
        seen.add(key)
