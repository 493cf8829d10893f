"""The files of a project folder, and of a book as a folder of JSON Lines, read as models.

Every function raises `InvalidFileError` for a file that is there but wrong, naming the file, the field and
the value. Chapters may have the shape of either version of novel-gen.
"""

from __future__ import annotations

import contextlib
import logging
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

from pydantic import BaseModel, Field, ValidationError, field_validator

from novelgen.errors import InvalidFileError
from novelgen.models.character_forms import read_characters, require_characters
from novelgen.models.context import SceneMemoryContext
from novelgen.models.entity import ALIAS_TRANSLATIONS, TRANSLATION, Entity, EntityAlias, EntityType
from novelgen.models.plan import ChapterPlan, GeneratedChapter, ScenePlan
from novelgen.models.record import SceneRecord
from novelgen.models.user_file import CharactersConfig, Settings, UserFileModel
from runtime.files.file_reading import described, parse_json, read_json_file, read_story_text, read_text_file, validated
from runtime.files.paths import ProjectPaths

if TYPE_CHECKING:
    from runtime.files.manuscripts import Manuscript


class AliasEntry(UserFileModel):
    """An alias with its details, a string meaning its name."""

    alias: str = Field(min_length=1)
    language: str | None = None
    speaker: str | None = None
    translation: str | dict[str, Any] = Field(default="", description="Kept in the entity's profile.")
    first_chapter: int | None = Field(default=None, ge=0)
    first_scene: int | None = Field(default=None, ge=0)


class EntityEntry(UserFileModel):
    """One entity of a file, with unknown fields as its profile."""

    entity_id: str = Field(min_length=1)
    entity_type: EntityType
    name: str = Field(min_length=1)
    aliases: list[AliasEntry] = Field(default_factory=list)
    role: str = ""
    description: str = ""
    translation: str | dict[str, Any] = Field(default="", description="Kept in the profile.")
    profile: dict[str, Any] = Field(default_factory=dict)
    first_chapter: int | None = Field(default=None, ge=0)
    first_scene: int | None = Field(default=None, ge=0)
    name_first_chapter: int | None = Field(default=None, ge=0)
    name_first_scene: int | None = Field(default=None, ge=0)

    @field_validator("aliases", mode="before")
    @classmethod
    def _plain_aliases(cls, value: Any) -> Any:
        if not isinstance(value, list):
            return value
        return [{"alias": item} if isinstance(item, str) else item for item in value]

    def entity(self) -> Entity:
        """Return the entity."""
        card_fields = self.model_dump(exclude={"extra", "aliases", "profile", "translation"})
        by_alias = {
            alias_entry.alias: alias_entry.translation for alias_entry in self.aliases if alias_entry.translation
        }
        fields = {TRANSLATION: self.translation, ALIAS_TRANSLATIONS: by_alias}
        aliases = [
            EntityAlias(**alias_entry.model_dump(exclude={"extra", "translation"})) for alias_entry in self.aliases
        ]
        profile = {**{name: value for name, value in fields.items() if value}, **self.extra, **self.profile}
        return Entity(**card_fields, aliases=aliases, profile=profile)


_CHAPTER_FILE = re.compile(r"^chapter_(?P<number>\d{1,6})\.(?:json|txt|md)$", re.IGNORECASE)
_RECORDS_FILE = re.compile(r"^chapter_(?P<number>\d{1,6})_records\.json$", re.IGNORECASE)


class _RecordsFile(UserFileModel):
    chapter_number: int | None = Field(default=None, ge=0)
    records: list[SceneRecord]


class _EntitiesFile(UserFileModel):
    entities: list[EntityEntry]


def load_settings_file(file: Path) -> Settings | None:
    """Load a project's settings, or None without a file."""
    return (
        validated(Settings, read_json_file(file, within=file.parent), where=repr(str(file))) if file.exists() else None
    )


def load_characters(file: Path) -> CharactersConfig | None:
    """Load characters in any form of `read_characters`, or None without a file."""
    if not file.exists():
        return None
    data = read_characters(read_json_file(file, within=file.parent))
    try:
        require_characters(list(data) if isinstance(data, Mapping) else [])
    except ValueError as error:
        raise InvalidFileError(f"{str(file)!r}: {error}") from error
    return validated(CharactersConfig, data, where=repr(str(file)))


def load_chapter_plan(file: Path) -> ChapterPlan | None:
    """Read the plans of a chapter's scenes, in either shape of novel-gen, or None where there is no file."""
    if not file.exists():
        return None
    plan = validated(
        ChapterPlan, in_first_shape(read_json_file(file, within=file.parent.parent)), where=repr(str(file))
    )
    _refuse_repeats([scene.scene_number for scene in plan.scenes], file, "scenes.scene_number")
    return plan


def chapter_files(folder: Path) -> dict[int, Path]:
    """Find the chapters of a project: `chapter_NNN.json`, `.txt` or `.md`."""
    return _numbered_files(folder, _CHAPTER_FILE)


def is_text_without_number(file: Path) -> bool:
    """Tell whether a file is a text without a chapter's name, such as draft.txt."""
    return _CHAPTER_FILE.match(file.name) is None and file.suffix.lower() != ".json"


def record_files(folder: Path) -> dict[int, Path]:
    """Find record files `chapter_NNN_records.json`.

    Otherwise like `chapter_files`.
    """
    return _numbered_files(folder, _RECORDS_FILE)


def load_chapters(file: Path, *, keep_remarks: bool = False) -> Manuscript:
    """Read a chapter's file, and several chapters where a text holds the numbered headings of several."""
    from runtime.files.chapter_headings import numbered_headings, without_remarks
    from runtime.files.chapter_text import chapter_from_text
    from runtime.files.manuscripts import Manuscript, split_manuscript

    number = _number_of(file, _CHAPTER_FILE, example="chapter_001.json")
    if file.suffix.lower() == ".json":
        return Manuscript(chapters=[load_chapter(file)])
    text = read_story_text(file, within=file.parent.parent).text
    manuscript = split_manuscript(text, keep_remarks=keep_remarks)
    if len(manuscript.chapters) > 1 and len(numbered_headings(text.split("\n"))) > 1:
        return manuscript
    told_text, remarks = (text, []) if keep_remarks else without_remarks(text, chapter_number=number)
    return Manuscript(chapters=[chapter_from_text(told_text, chapter_number=number)], remarks=remarks)


def load_chapter(file: Path) -> GeneratedChapter:
    """Read a chapter: JSON in either shape of novel-gen, or plain text or Markdown that is split into scenes."""
    from runtime.files.chapter_text import chapter_from_text

    number = _number_of(file, _CHAPTER_FILE, example="chapter_001.json")
    if file.suffix.lower() != ".json":
        return chapter_from_text(read_story_text(file, within=file.parent.parent).text, chapter_number=number)
    chapter = validated(
        GeneratedChapter, in_first_shape(read_json_file(file, within=file.parent.parent)), where=repr(str(file))
    )
    if chapter.chapter_number != number:
        raise InvalidFileError(
            f"{str(file)!r}: chapter_number is {chapter.chapter_number!r} but the file's name says {number}; "
            "rename the file or correct the number"
        )
    _refuse_repeats([scene.scene_number for scene in chapter.scenes], file, "scenes.scene_number")
    return chapter


def load_records(file: Path) -> list[SceneRecord]:
    """Read the supplied records of a chapter: `{"chapter_number", "records": […]}` or a bare list."""
    if not file.exists():
        return []
    records = validated(
        _RecordsFile, _read_list(file, under="records", within=file.parent.parent), where=repr(str(file))
    ).records
    number = _number_of(file, _RECORDS_FILE, example="chapter_001_records.json")
    stray = next((record for record in records if record.chapter_index != number), None)
    if stray is not None:
        raise InvalidFileError(
            f"{str(file)!r}: records.chapter_index is {stray.chapter_index!r} but the file's name says "
            f"{number}; move the record or correct the number"
        )
    _refuse_repeats([record.scene_index for record in records], file, "records.scene_index")
    return records


def load_entities(file: Path) -> list[Entity]:
    """Load entities: `{"entities": […]}` or a list, with aliases as strings or objects."""
    if not file.exists():
        return []
    entries = validated(
        _EntitiesFile, _read_list(file, under="entities", within=file.parent), where=repr(str(file))
    ).entities
    _refuse_repeats([entity_entry.entity_id for entity_entry in entries], file, "entities.entity_id")
    return [entry.entity() for entry in entries]


def _numbered_files(folder: Path, pattern: re.Pattern[str]) -> dict[int, Path]:
    paths_by_number: dict[int, Path] = {}
    for file in sorted(folder.iterdir()) if folder.is_dir() else []:
        match = pattern.match(file.name)
        if match is None:
            continue
        number = int(match["number"])
        if number in paths_by_number:
            raise InvalidFileError(
                f"{str(paths_by_number[number])!r} and {str(file)!r} are both chapter {number}; keep one of them"
            )
        paths_by_number[number] = file
    return dict(sorted(paths_by_number.items()))


def _number_of(file: Path, pattern: re.Pattern[str], *, example: str) -> int:
    match = pattern.match(file.name)
    if match is None:
        raise InvalidFileError(
            f"the name of {str(file)!r} tells no chapter; name it such as {example!r}, or say where its text goes: "
            "`--as next` for the next chapter, `--chapter 3` for chapter 3"
        )
    return int(match["number"])


def _read_list(file: Path, *, under: str, within: Path) -> Any:
    data = read_json_file(file, within=within)
    return {under: data} if isinstance(data, list) else data


def _refuse_repeats(values: Sequence[object], file: Path, field: str) -> None:
    repeated = [value for value, count in Counter(values).items() if count > 1]
    if repeated:
        raise InvalidFileError(f"{str(file)!r}: {field} {repeated[0]!r} stands more than once")


_CHAPTER_NAMES = {"chapter_id": "chapter_number", "title": "chapter_title", "word_count": "total_words"}
_SCENE_ID = re.compile(r"(?P<chapter>\d{1,7})_(?P<scene>\d{1,7})")


def in_first_shape(data: Any) -> Any:
    """Return a chapter, or a chapter's plan, under the names of novel-gen's first version.

    The second one has `chapter_id`, `title` and `word_count` for `chapter_number`, `chapter_title` and
    `total_words`, and names a scene by a `scene_id` such as "3_1" in place of its `scene_number`. Every other
    field stays under its name, such as a plan's pov, goal, conflict, turn, reveal, threads_advance, must_include
    and must_avoid.
    """
    if not isinstance(data, Mapping) or "chapter_id" not in data or "chapter_number" in data:
        return data
    renamed = _renamed(data, _CHAPTER_NAMES)
    scenes = renamed.get("scenes")
    if isinstance(scenes, list):
        renamed["scenes"] = [_scene(scene, data["chapter_id"]) for scene in scenes]
    return renamed


def _scene(data: Any, chapter_id: Any) -> Any:
    if not isinstance(data, Mapping) or "scene_number" in data:
        return data
    match = _SCENE_ID.fullmatch(str(data.get("scene_id")))
    if match is None or match["chapter"] != str(chapter_id):
        return data
    return {**_renamed(data, {"scene_id": "scene_number"}), "scene_number": int(match["scene"])}


def _renamed(data: Mapping[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    """Rename fields, except for taken names."""
    return {
        new if (new := names.get(name, name)) == name or new not in data else name: value
        for name, value in data.items()
    }


_CONTEXT_FILE = re.compile(r"^scene_(?P<chapter>\d{1,7})_(?P<scene>\d{1,7})_memory\.json$")


class _Loop(BaseModel):
    loop_id: str
    description: str


class _Relationship(BaseModel):
    relationship_id: str
    character_a: str
    character_b: str
    relationship_type: str
    status: str


class _Snapshot(BaseModel):
    entity_id: str
    state_data: dict[str, object]


class _TimelineContext(BaseModel):
    """The required fields of timeline entries in edited files."""

    open_loops: list[_Loop] = []
    relationships: list[_Relationship] = []
    snapshots: list[_Snapshot] = []


class _ContextFile(BaseModel):
    timeline_context: _TimelineContext | None = None


def context_places(paths: ProjectPaths) -> list[tuple[int, int]]:
    """Return the places of a project's context files, in story order."""
    names = [file.name for file in paths.folder.iterdir()] if paths.folder.is_dir() else []
    matches = [match for name in names if (match := _CONTEXT_FILE.match(name))]
    places = {(int(match["chapter"]), int(match["scene"])): match.string for match in matches}
    return sorted(place for place, name in places.items() if name == paths.context_file(*place).name)


def planned_places(paths: ProjectPaths) -> list[tuple[int, int]]:
    """Return the places of a project's plans, in story order."""
    places = set(context_places(paths))
    for file in paths.chapters.glob("chapter_*_plan.json"):
        with contextlib.suppress(InvalidFileError):
            chapter = load_chapter_plan(file)
            scenes = chapter.scenes if chapter else []
            places |= {(chapter.chapter_number, plan.scene_number or 0) for plan in scenes if chapter}
    return sorted(places)


def load_context(paths: ProjectPaths, chapter_index: int, scene_index: int) -> SceneMemoryContext | None:
    """Read the context of a scene, or None where there is no file."""
    file = paths.context_file(chapter_index, scene_index)
    if not file.exists():
        return None
    data, where = read_json_file(file, within=paths.folder), repr(str(file))
    context = validated(SceneMemoryContext, data, where=where)
    validated(_ContextFile, data, where=where)
    match = (context.project_id, context.chapter_index, context.scene_index)
    if match != (paths.project_id, chapter_index, scene_index):
        raise InvalidFileError(
            f"{where} holds the context of scene {match[1]}:{match[2]} of project {match[0]!r}, not its own"
        )
    return context


logger = logging.getLogger(__name__)


def own_scene_plan(
    paths: ProjectPaths, *, chapter_index: int, scene_index: int
) -> tuple[ScenePlan | None, ChapterPlan | None]:
    """Return a scene's plan from its chapter, or from its context."""
    chapter_plan = load_chapter_plan(paths.chapter_plan_file(chapter_index))
    plan = chapter_plan.scene(scene_index) if chapter_plan is not None else None
    return plan or _kept_plan(paths, chapter_index, scene_index), chapter_plan


def _kept_plan(paths: ProjectPaths, chapter_index: int, scene_index: int) -> ScenePlan | None:
    try:
        context = load_context(paths, chapter_index, scene_index)
    except InvalidFileError as error:
        logger.info("no plan is taken from a context file: %s", error)
        return None
    return context.report.scene_plan if context and context.report else None


# --- A book as a folder: scenes.jsonl, entities.jsonl, records.jsonl, meta.json ---


class BookScene(UserFileModel):
    """One scene of a book, as a line of scenes.jsonl."""

    chapter_index: int = Field(ge=0)
    scene_index: int = Field(ge=0)
    title: str = ""
    text: str


Line = TypeVar("Line", bound=BaseModel)


class _Lines(UserFileModel, Generic[Line]):
    """All lines of a file as one model, so that unknown fields are named in one warning per file."""

    lines: list[Line]


class _Meta(BaseModel):
    title: str = ""
    language: str = ""


class Book(NamedTuple):
    """A book read from a folder."""

    title: str
    language: str
    scenes: list[BookScene]
    entities: list[Entity]
    records: dict[tuple[int, int], SceneRecord]


def load_book(folder: Path, *, records: bool = False) -> Book:
    """Load a book's folder, without plans and answer keys."""
    scenes = sorted(_read_lines(folder / "scenes.jsonl", BookScene), key=_place)
    _refuse_repeats([_place(book_scene) for book_scene in scenes], folder / "scenes.jsonl", "scene")
    meta = folder / "meta.json"
    rendered_meta = validated(_Meta, read_json_file(meta) if meta.exists() else {}, where=repr(str(meta)))
    book = Book(rendered_meta.title or folder.resolve().name, rendered_meta.language, scenes, [], {})
    if not records:
        return book
    entities = [entry.entity() for entry in _read_lines(folder / "entities.jsonl", EntityEntry)]
    _refuse_repeats([entity.entity_id for entity in entities], folder / "entities.jsonl", "entity_id")
    file = folder / "records.jsonl"
    recorded = _read_lines(file, SceneRecord)
    _refuse_repeats([_place(record) for record in recorded], file, "scene")
    stray = {_place(record) for record in recorded} - {_place(book_scene) for book_scene in scenes}
    if stray:
        raise InvalidFileError(f"{str(file)!r} has a record of {min(stray)!r}, a scene that scenes.jsonl lacks")
    return book._replace(entities=entities, records={_place(record): record for record in recorded})


def _place(item: BookScene | SceneRecord) -> tuple[int, int]:
    return item.chapter_index, item.scene_index


def _read_lines(file: Path, kind: type[Line]) -> list[Line]:
    numbered_lines = [pair for pair in enumerate(read_text_file(file).split("\n"), start=1) if pair[1].strip()]
    documents = [parse_json(line, where=f"{str(file)!r} line {number}") for number, line in numbered_lines]
    try:
        return _Lines[kind].model_validate({"lines": documents}).lines  # type: ignore[valid-type]
    except ValidationError as error:
        number, _ = numbered_lines[int(error.errors(include_url=False)[0]["loc"][1])]
        raise InvalidFileError(f"{str(file)!r} line {number}: {described(error, loc_start=2)}") from error
