"""Ingest of a story: project folders, and books with records."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, Field, ValidationError

from novelgen.errors import InvalidFileError, InvalidPositionError, UnknownProjectError, UserInputError
from novelgen.language.normalise import DEEPEST, is_deeper
from novelgen.models.entity import Entity
from novelgen.models.plan import given_record
from novelgen.models.position import StoryPosition
from novelgen.models.record import SceneRecord, is_unsaid
from novelgen.models.story_difference import StoryDifference
from novelgen.models.user_file import Settings, StoryPart
from runtime.care.importing import import_story
from runtime.care.novel_gen_folder import read_chapter_memory
from runtime.files.chapter_headings import Remark
from runtime.files.chapter_names import NEXT, ChapterNames, UnwrittenPosition
from runtime.files.file_reading import described
from runtime.files.manuscripts import read_draft
from runtime.files.paths import ProjectPaths, bring_demo
from runtime.files.project_files import (
    chapter_files,
    is_text_without_number,
    load_chapters,
    load_characters,
    load_entities,
    load_records,
    load_settings_file,
    record_files,
)
from runtime.ingest import ingest as ingesting
from runtime.ingest.consolidation import consolidate_beyond_setting
from runtime.ingest.entities import store_entities
from runtime.ingest.file_versions import FileEdit, deletion_of, file_version, reconciled, with_file_version
from runtime.ingest.indexing import IndexingResult, drain_outbox, rebuild_if_bloated, stored_otherwise
from runtime.ingest.ingest import IngestResult
from runtime.ingest.scene_input import SceneInput, bare_text, scenes_of_chapter
from runtime.storage.records import Scene
from runtime.stores import MemoryStores
from runtime.story.base import (
    At,
    ChangeNumber,
    Name,
    Progress,
    SceneText,
    StoryBase,
    async_twin,
    chapter_names_of,
    known_entities,
    stored_position,
    story_position,
)
from runtime.story.changes import Standing, keep_insertion
from runtime.story.condition import StoryCondition, StoryUpkeep
from runtime.story.projects import follow_language
from runtime.story.scene_editing import LocationName, staging_of
from runtime.story.story_difference import StoryDifferences
from runtime.story.text_placing import (
    StoredPlace,
    another_chapter,
    placed_text,
    read_finished_text,
    require_replaceable,
)
from runtime.story.threads import thread_warnings
from runtime.story.versions import Version, require_version, scene_version


class IngestReport(BaseModel):
    """The results of an ingest, and the project's contents."""

    project_id: str
    scenes: list[ingesting.SceneIngestResult] = Field(default_factory=list)
    failures: list[str] = Field(
        default_factory=list, description="Parts that are wrong; they were left out and did not stop the others."
    )
    warnings: list[str] = Field(default_factory=list)
    remarks: list[Remark] = Field(
        default_factory=list, description="What the author says to readers in chapters of text; left out."
    )
    memories: int = 0
    entities: int = 0
    indexing: IndexingResult = Field(default_factory=IndexingResult)
    condition: StoryCondition | None = Field(
        default=None, description="What the project holds now, and what to do next."
    )
    changes: StoryDifference | None = Field(
        default=None,
        exclude_if=is_unsaid,
        description="What the scenes that were taken in changed; of many the last one, with totals of all.",
    )

    place: StoredPlace | None = Field(
        default=None, exclude_if=is_unsaid, description="Of one text: where it was stored, or would be."
    )
    change_id: ChangeNumber = None

    @classmethod
    def of(cls, project_id: str, result: IngestResult) -> IngestReport:
        """Return the report of stored scenes, with issues as warnings."""
        issues = [*(issue for scene in result.scenes for issue in scene.issues), *result.consolidation]
        warnings = [issue.message for issue in issues]
        return cls(project_id=project_id, scenes=result.scenes, warnings=warnings, indexing=result.indexing)

    def count(self, outcome: str) -> int:
        """Return how many scenes had that outcome."""
        return sum(scene.outcome == outcome for scene in self.scenes)


class SceneIngest(StoryBase):
    """Ingest of finished texts, one at a time."""

    def store_text(
        self,
        text: SceneText,
        *,
        at: Annotated[str, Field(min_length=1, max_length=400)] = NEXT,
        title: Annotated[str, Field(max_length=500)] = "",
        record: SceneRecord | Mapping[str, Any] | None = None,
        location: LocationName | None = None,
        cast: Sequence[Name] | None = None,
        replace: bool = False,
        keep_remarks: bool = False,
        dry_run: bool = False,
    ) -> IngestReport:
        """Store a finished text as the next chapter or scene, or at a place.

        A heading on top of the text becomes its title. As a chapter (`next`, `13`, `第13章`) the text is cut at its
        scene breaks; as a scene (`13:1`, `12:next`) it is stored whole. The next chapter stands after the last one and
        before 番外 and afterwords at the end, which move on by one. The same text again changes nothing. With
        `dry_run` the report tells in `place` where the text would go, what it would replace, and nothing is stored; so
        a page shows `place`, asks where `place.needs_replace`, and stores.

        Args:
            text: The whole text.
            at: Where: `next`, a chapter such as `13` or `第13章`, a scene such as `13:1`, `12:next` for the next scene
                of chapter 12.
            title: Title, in place of the heading on top of the text.
            record: What it established, where it is one scene; None leaves that to be read by a model.
            location: Id, name or alias of the place or of a ship, where it is one scene; empty where it has none.
                None leaves it to be guessed.
            cast: Ids, names or aliases of all who are in it, where it is one scene, several in one text between
                commas; an empty list means nobody. None leaves it to be guessed.
            replace: Whether it may take the place of a scene or chapter with another text.
            keep_remarks: Whether what the author says to readers stays in the text.
            dry_run: Only tell in `place` where it would go.

        Raises:
            UserInputError: When there is no text, it holds several chapters, another text stands there, or several
                scenes come with one record, place or cast.
            InvalidPositionError: When `at` is no place.
            UnknownEntityError: When no card has a name of the place or the cast.
        """
        finished = read_finished_text(text, title=title, keep_remarks=keep_remarks)
        names = chapter_names_of(self._stores, self.project_id)
        position = self._place_for(at, names)
        stored_scenes: list[Scene] = []
        entities: list[Entity] = []
        is_staged = location is not None or cast is not None
        with suppress(UnknownProjectError), self._stores.database(self.project_id).read() as unit:
            stored_scenes = unit.scenes.list_as_of(with_text=True)
            entities = known_entities(unit, None) if is_staged else []
        staging = staging_of(entities, location=location, cast=cast, project_id=self.project_id)
        placement = placed_text(finished, at, names=names, stored_scenes=stored_scenes, position=position)
        report = IngestReport(project_id=self.project_id, place=placement.place, remarks=list(finished.remarks))
        if dry_run:
            return report
        if placement.place.needs_replace and not replace:
            first = next(
                scene for scene in stored_scenes if str(scene.position) == placement.place.replaced[0].split(" ", 1)[0]
            )
            raise another_chapter(str(first.position), first.title, first.text or "")
        scenes = list(placement.scenes)
        if record is not None:
            if len(scenes) != 1:
                raise UserInputError(f"the text has {len(scenes)} scenes and one record; store it at a scene: 13:1")
            where = {"chapter_index": scenes[0].chapter_index, "scene_index": scenes[0].scene_index}
            loaded_record = read_given(SceneRecord, record, by=partial(given_record, **where))
            scenes = [scenes[0].model_copy(update={"record": loaded_record})]
        if is_staged:
            scenes = scenes or [SceneInput.of_stored(scene) for scene in placement.stored_scenes]
            if len(scenes) != 1:
                raise UserInputError(
                    f"the text has {len(scenes)} scenes and one place and cast; store it at a scene: 13:1"
                )
            scenes = [scenes[0].model_copy(update={"staged": staging.statements})]
        self._follow_settings(load_settings_file(self._stores.paths(self.project_id).settings_file))
        self._make_room(placement.gap)
        result = ingesting.ingest_scenes(self._stores, self.project_id, scenes, run_id=ingesting.new_run())
        counted_ingest_report = IngestReport.of(self.project_id, result)
        counted_ingest_report = counted_ingest_report.model_copy(
            update={"place": report.place, "remarks": report.remarks}
        )
        counted_ingest_report.warnings += self._absent(scenes) if position.scene_index is None else []
        counted_ingest_report.warnings += [issue.message for issue in staging.issues]
        return _count_contents(self._stores, counted_ingest_report, tell_changes=False)

    def _place_for(self, at: str, names: ChapterNames) -> StoryPosition:
        """Return the place of a new text, a chapter alone being a chapter."""
        text = at.strip()
        chapter, sign, last = text.rpartition(":")
        if text.casefold() == NEXT:
            return UnwrittenPosition(names.next_chapter)
        if sign and last.strip().casefold() == NEXT:
            number = stored_position(self, chapter.strip(), name="at").chapter_index or 0
            return StoryPosition(number, max((scene for at, scene in names.places if at == number), default=0) + 1)
        return stored_position(self, text, name="at")

    def _make_room(self, chapter_index: int | None) -> None:
        """Let the chapters from one on move up, so that undo knows of it."""
        if chapter_index is None:
            return
        with self._stores.database(self.project_id).write() as unit:
            order_before = Standing.of(unit)
            unit.scenes.insert_gap(StoryPosition(chapter_index))
            keep_insertion(unit, None, order_before)

    def _absent(self, scenes: Sequence[SceneInput]) -> list[str]:
        """Tell which scenes are stored of chapters that have them no more."""
        return [
            f"scene {place} is stored, but its chapter has it no more; "
            f"`novelgen scene delete {self.project_id} {place}`"
            for place in ingesting.absent_scenes(self._stores, self.project_id, scenes)
        ]

    def _store_scene(
        self,
        *,
        chapter_index: int,
        scene_index: int,
        text: str,
        title: str = "",
        record: SceneRecord | None = None,
        expected_version: Version | None = None,
    ) -> IngestResult:
        """Store one finished scene, replacing its facts and creating the project."""
        scene = SceneInput(chapter_index=chapter_index, scene_index=scene_index, title=title, text=text, record=record)
        self._stores.ensure_project(self.project_id)

        def guard(stored: Scene | None) -> None:
            require_version(
                expected_version,
                "" if stored is None else scene_version(stored),
                subject=f"scene {chapter_index}:{scene_index}",
                stored_fields={} if stored is None else {"title": stored.title, "text": (stored.text or "").strip()},
                sent_fields={"title": title, "text": text.strip()},
            )

        return ingesting.ingest_scene(
            self._stores, self.project_id, scene, guard=None if expected_version is None else guard
        )

    def store(
        self,
        *,
        position: At,
        text: SceneText | None = None,
        record: SceneRecord | Mapping[str, Any] | None = None,
        title: Annotated[str, Field(max_length=500)] = "",
        replace: bool = False,
        expected_version: Version | None = None,
    ) -> IngestReport:
        """Ingest one finished scene, replacing only its own facts.

        What it changed is not told: a program that stores a book scene by scene would pay for each;
        `changes.between` tells it.

        Args:
            position: The scene, as `3:2`.
            text: The whole text of the finished scene; None takes the stored one, for which `record` is.
            record: What it established, as a scene record: characters_present, summary, memories, state_changes, …;
                None leaves that to be read by a model.
            title: Title of the scene.
            replace: Whether it may take the place of a chapter with another heading.
            expected_version: The `version` of the stored scene that was read; None replaces whatever stands.

        Raises:
            StaleVersionError: When the stored scene was changed since that version was read.
            UserInputError: When there is neither text nor record, the record is none, or a chapter with another heading
                stands there.
        """
        position = story_position(position)
        if position.chapter_index is None or position.scene_index is None:
            raise InvalidPositionError(f"{str(position)!r} is no scene; pass chapter_index and scene_index")
        if (text is None and record is None) or (text is not None and not text.strip()):
            raise UserInputError(f"there is no text for scene {str(position)!r}; nothing was stored")
        place = {"chapter_index": position.chapter_index, "scene_index": position.scene_index}
        loaded_record = None if record is None else read_given(SceneRecord, record, by=partial(given_record, **place))
        self._follow_settings(load_settings_file(self._stores.paths(self.project_id).settings_file))
        if text is None:
            with self._stores.database(self.project_id).read() as unit:
                stored_scene = unit.scenes.require(position)
            text, title = stored_scene.text or "", title or stored_scene.title
        else:
            position = self._free_place(position, text=text, title=title, replace=replace)
            place = {"chapter_index": position.chapter_index or 0, "scene_index": position.scene_index or 0}
        result = self._store_scene(
            **place, text=text, title=title, record=loaded_record, expected_version=expected_version
        )
        return _count_contents(self._stores, IngestReport.of(self.project_id, result), tell_changes=False)

    def _free_place(self, position: StoryPosition, *, text: str, title: str, replace: bool) -> StoryPosition:
        """Return the place of a text, making room for a new chapter.

        Raises:
            UserInputError: When a chapter with another heading stands there.
        """
        with self._stores.database(self.project_id).read() as unit:
            there = unit.scenes.get(position)
            stored_scenes = unit.scenes.list_as_of(with_text=True) if isinstance(position, UnwrittenPosition) else []
        if isinstance(position, UnwrittenPosition):
            same = next(
                (scene for scene in reversed(stored_scenes) if bare_text(scene.text or "") == bare_text(text)), None
            )
            if same is not None:
                return same.position
            self._make_room(position.chapter_index if there is not None else None)
        elif not replace:
            place = {"chapter_index": position.chapter_index, "scene_index": position.scene_index}
            require_replaceable(SceneInput.model_validate({**place, "title": title, "text": text}), there)
        return position

    def _require_stored_or_demo(self) -> None:
        try:
            self._stores.database(self.project_id)
        except UnknownProjectError as error:
            paths = self._stores.paths(self.project_id)
            if not bring_demo(paths):
                # A door without a shell leaves this part out.
                elsewhere = ", or set --projects-dir"
                raise UnknownProjectError(
                    f"there is no project {self.project_id!r}: no folder {str(paths.folder)!r}; make it with "
                    f"`novelgen init {self.project_id}`{elsewhere}"
                ) from error

    def _follow_settings(self, input_settings: Settings | None) -> None:
        """Create the project, or update it from settings.json."""
        settings = input_settings or Settings()
        self._stores.ensure_project(self.project_id, name=settings.project_name, language=settings.language)
        with self._stores.database(self.project_id).write() as unit:
            stored_project = unit.projects.require()
            name, language = settings.project_name or stored_project.name, settings.language or stored_project.language
            project_settings = {"parts": [], ingesting.VOLUMES: False, **stored_project.settings}
            parts = [part.model_dump(exclude={"extra"}) for part in settings.parts]
            by_manuscript = stored_project.settings.get(ingesting.VOLUMES) and not parts
            fields = (
                project_settings
                if input_settings is None or by_manuscript
                else {**project_settings, "parts": parts, ingesting.VOLUMES: False}
            )
            if (name, language, fields) != (stored_project.name, stored_project.language, project_settings):
                unit.projects.update(name=name, language=language, settings=fields)

    astore_text = async_twin(store_text)
    astore = async_twin(store)


def note_file(stores: MemoryStores, *, report: IngestReport) -> None:
    """Note that scenes came from a file, which an import may bring again."""
    new_ids = [result.scene_id for result in report.scenes if result.outcome == "added"]
    with stores.database(report.project_id).write() as unit:
        for scene in map(unit.scenes.require_id, new_ids):
            unit.scenes.note_file_version(scene.scene_id, file_version(scene.title, scene.text or ""))


class ProjectIngest(SceneIngest):
    """Ingest of whole projects and books."""

    def ingest_project(
        self,
        *,
        files: Sequence[Path] = (),
        records: bool | None = None,
        chapter_index: int | None = None,
        keep_remarks: bool = False,
        tell_changes: bool = True,
        progress: Progress | None = None,
        index_progress: Progress | None = None,
    ) -> IngestReport:
        """Store a project folder: chapters, records, characters, entities and settings.

        What is stored already and has not changed is left alone; a changed scene takes the place of what came from it
        before. A project whose folder is there is created, and so is a demo.
        """
        paths = self._stores.paths(self.project_id)
        if not paths.folder.is_dir():
            self._require_stored_or_demo()
        sources = _Sources(paths, files=files, records=records, chapter_index=chapter_index, keep_remarks=keep_remarks)
        settings = load_settings_file(paths.settings_file)
        characters, entities = load_characters(paths.characters_file), load_entities(paths.entities_file)
        self._follow_settings(settings)
        store_entities(self._stores, self.project_id, entities, characters=characters)
        report = IngestReport(project_id=self.project_id)
        scenes = _take_in(self._stores, sources, report, progress)
        report.remarks = sources.remarks
        ingesting.follow_volumes(self._stores, self.project_id, sources.parts)
        with _noting_failure(report):
            report.warnings += _remember(self._stores, paths)
        report.warnings += [issue.message for scene in report.scenes for issue in scene.issues]
        report.warnings += self._absent(scenes)
        report.indexing = rebuild_if_bloated(
            self._stores, self.project_id, drain_outbox(self._stores, self.project_id, progress=index_progress)
        )
        report.warnings += [issue.message for issue in consolidate_beyond_setting(self._stores, self.project_id)]
        if not sources.files:
            report.warnings.append(f"no chapters in {str(paths.chapters)!r}; write chapter_001.json, .txt or .md")
        return _count_contents(self._stores, report, tell_changes=tell_changes)

    def import_book_folder(
        self,
        *,
        folder: Path,
        records: bool = False,
        tell_changes: bool = True,
        progress: Progress | None = None,
        index_progress: Progress | None = None,
    ) -> IngestReport:
        """Import a book of JSON Lines into a project, which is created when there is none."""
        if not folder.is_dir():
            raise InvalidFileError(f"there is no folder {str(folder)!r}; give one that holds scenes.jsonl")
        result = ingesting.import_book(
            self._stores,
            folder,
            project_id=self.project_id,
            records=records,
            progress=progress,
            index_progress=index_progress,
        )
        return _count_contents(self._stores, IngestReport.of(self.project_id, result), tell_changes=tell_changes)

    def store_scene(
        self, *, chapter_index: int, scene_index: int, text: str, title: str = "", record: SceneRecord | None = None
    ) -> IngestResult:
        """Store one finished scene, replacing its facts and creating the project."""
        return self._store_scene(
            chapter_index=chapter_index, scene_index=scene_index, text=text, title=title, record=record
        )


class StoryIngest(StoryBase):
    """The ingest of finished scenes."""

    def ingest(
        self,
        files: str | Path | Sequence[str | Path] = (),
        *,
        text: str | None = None,
        record: SceneRecord | Mapping[str, Any] | None = None,
        chapter_index: int | None = None,
        scene_index: int | None = None,
        title: str = "",
        at: str | None = None,
        replace: bool = False,
        records: bool | None = None,
        progress: Progress | None = None,
    ) -> IngestReport:
        """Ingest finished scenes: a text, files or the project folder.

        What is stored already and has not changed is left alone; a changed scene takes the place of what came from
        it before, and of nothing else.

        Args:
            files: Chapter files or folders of them, in place of those in the project's `chapters` folder.
            text: One scene's text, at `chapter_index` and `scene_index`.
            record: What that scene established; without `text`, of the scene that is stored there.
            chapter_index: Chapter of the text, also of one file whose name tells no chapter; with other files, only
                this chapter.
            scene_index: Scene of the text within its chapter.
            title: Title of that scene.
            at: Place of the text in place of the two numbers: `next`, `13`, `13:1`, `第13章`; see `store_text`.
            replace: Whether the text may take the place of a chapter with another heading.
            records: Of files: True wants their records, False leaves them, None takes those that are there.
            progress: Called after each scene with the scenes done and the scenes in all.

        Returns:
            What became of each scene. Parts that are wrong stand in `failures` and do not stop the others.

        Raises:
            UserInputError: When a text comes without its place, or the record is none.
            DatabaseError: When the database fails.
        """
        project = ProjectIngest(self._stores, self.project_id)
        if text is not None and at is not None:
            if files or chapter_index is not None or scene_index is not None:
                raise UserInputError("a text has one place; pass `at`, or chapter_index and scene_index")
            return project.store_text(text, at=at, title=title, record=record, replace=replace)
        if text is None and record is None:
            paths = [Path(files)] if isinstance(files, str | Path) else [Path(file) for file in files]
            is_text = len(paths) == 1 and not paths[0].is_dir() and is_text_without_number(paths[0])
            if chapter_index is not None and is_text:
                return project.store_text(read_draft(paths[0]), at=str(chapter_index), title=title, replace=replace)
            return project.ingest_project(files=paths, records=records, chapter_index=chapter_index, progress=progress)
        if files:
            raise UserInputError("ingest takes either files, or one scene's text and record; leave one of them out")
        if chapter_index is None or scene_index is None:
            raise UserInputError("a scene's text or record needs its place; pass chapter_index and scene_index")
        return project.store(
            position=StoryPosition(chapter_index, scene_index), text=text, record=record, title=title, replace=replace
        )

    aingest = async_twin(ingest)


class _Sources:
    """The chapters to take in, each with its records."""

    def __init__(
        self,
        paths: ProjectPaths,
        *,
        files: Sequence[Path],
        records: bool | None,
        chapter_index: int | None,
        keep_remarks: bool,
    ) -> None:
        self.remarks: list[Remark] = []
        self.parts: list[StoryPart] = []
        self._keep_remarks = keep_remarks
        self._origins: dict[int, Path] = {}
        self._records = {} if records is False else record_files(paths.records)
        if records and not self._records:
            raise UserInputError(
                f"there are no records in {str(paths.records)!r}; write chapter_001_records.json there, or "
                "leave out --records"
            )
        self.are_named = bool(files) and not any(file.is_dir() for file in files)
        self.files = [file for path in files for file in _files_in(path)] or _choose_files(
            chapter_files(paths.chapters), chapter_index, paths
        )
        self._chapter_index = chapter_index if files else None

    def scenes(self, file: Path) -> list[SceneInput]:
        """Return the scenes of a chapter's file, each with its record where there is one."""
        manuscript = load_chapters(file, keep_remarks=self._keep_remarks)
        numbers = [chapter.chapter_number for chapter in manuscript.chapters]
        if self._chapter_index is not None and self._chapter_index not in numbers:
            raise InvalidFileError(
                f"{str(file)!r} is chapter {numbers[0]}, not {self._chapter_index}; leave out --chapter, or store its "
                f"text there with `--as {self._chapter_index}`"
            )
        twice = next((number for number in numbers if number in self._origins), None)
        if twice is not None:
            raise InvalidFileError(
                f"{str(self._origins[twice])!r} and {str(file)!r} both hold chapter {twice}; keep one of them"
            )
        self._origins |= dict.fromkeys(numbers, file)
        self.remarks += manuscript.remarks
        self.parts += manuscript.parts
        return [
            _from_file(scene)
            for chapter in manuscript.chapters
            if self._chapter_index in (None, chapter.chapter_number)
            for scene in scenes_of_chapter(
                chapter,
                load_records(self._records[chapter.chapter_number]) if chapter.chapter_number in self._records else [],
            )
        ]


def _from_file(scene: SceneInput) -> SceneInput:
    """Return a scene as it comes from its file, with the title of its record where it has none."""
    title = scene.title or (scene.record.title if scene.record else "")
    return with_file_version(scene.model_copy(update={"title": title}))


def _files_in(path: Path) -> list[Path]:
    """Return a chapter's file, or those of a folder in its place."""
    files = list(chapter_files(path).values()) if path.is_dir() else [path]
    if not files:
        raise UserInputError(f"there are no chapters in {str(path)!r}; name them chapter_001.json, .txt or .md")
    return files


def _choose_files(paths_by_number: dict[int, Path], chapter_index: int | None, paths: ProjectPaths) -> list[Path]:
    if chapter_index is None:
        return list(paths_by_number.values())
    if chapter_index not in paths_by_number:
        there = ", ".join(map(str, paths_by_number)) or "none"
        raise UserInputError(f"no chapter {chapter_index} in {str(paths.chapters)!r}; there are: {there}")
    return [paths_by_number[chapter_index]]


def _take_in(
    stores: MemoryStores, sources: _Sources, report: IngestReport, progress: Progress | None
) -> list[SceneInput]:
    """Store scenes one by one, continuing after failures, and return them.

    A file that its author names is taken at its word; those of a folder leave what was edited here.
    """
    scenes: list[SceneInput] = []
    run_id = ingesting.new_run()
    for file in sources.files:
        with _noting_failure(report):
            scenes += sources.scenes(file)
    edits = None if sources.are_named else _EditsHere(stores, report.project_id)
    for number, scene in enumerate(scenes, start=1):
        with _noting_failure(report):
            kept_scene = scene if edits is None else edits.scene_to_store(scene)
            if kept_scene is None:
                continue
            result = ingesting.ingest_scenes(stores, report.project_id, [kept_scene], run_id=run_id, index=False)
            report.scenes += result.scenes
        if progress is not None:
            progress(number, len(scenes))
    report.warnings += [] if edits is None else edits.warnings()
    return scenes


class _EditsHere:
    """What was edited here since its file was taken in, against the files of a folder."""

    def __init__(self, stores: MemoryStores, project_id: str) -> None:
        with stores.database(project_id).read() as unit:
            self._stored_scenes = {scene.position: scene for scene in unit.scenes.list_as_of(with_text=True)}
            self._edited_ids = unit.journal.scenes_edited()
            self._deleted_scenes = unit.journal.scenes_deleted()
        self._deleted_places: list[str] = []
        self._project_id = project_id
        self._places: defaultdict[FileEdit, list[str]] = defaultdict(list)

    def scene_to_store(self, scene: SceneInput) -> SceneInput | None:
        """Return what to store of a file's scene, None of one that was deleted here."""
        position = StoryPosition(scene.chapter_index, scene.scene_index)
        stored_scene = self._stored_scenes.get(position)
        if stored_scene is None:
            deletion = deletion_of(scene.scrubbed(), self._deleted_scenes)
            if deletion is None:
                return scene
            (self._places["conflict"] if deletion.is_conflict else self._deleted_places).append(str(position))
            return None
        is_edited = stored_scene.scene_id in self._edited_ids
        edit, kept_scene = reconciled(scene.scrubbed(), stored_scene, is_edited=is_edited)
        self._places[edit].append(str(position))
        # A record that comes with another text than the stored one is none of that.
        return kept_scene.model_copy(update={"record": None}) if edit == "conflict" else kept_scene

    def warnings(self) -> list[str]:
        """Tell which scenes stay as they are here."""
        warnings: list[str] = []
        edited, conflicting = (", ".join(self._places[edit]) for edit in ("edited", "conflict"))
        if edited:
            warnings.append(
                f"edited here since their files were taken in, and kept, for the files did not change: {edited}"
            )
        if conflicting:
            warnings.append(
                f"edited both here and in their files, and kept as they are here: {conflicting}; "
                f"`novelgen ingest {self._project_id} FILE` takes the text of the file that you name"
            )
        if self._deleted_places:
            warnings.append(
                f"deleted here since their files were taken in, and not brought back: "
                f"{', '.join(self._deleted_places)}; `novelgen ingest {self._project_id} FILE` brings back the file "
                "that you name"
            )
        return warnings


def _remember(stores: MemoryStores, paths: ProjectPaths) -> list[str]:
    """Add novel-gen's chapter memories, and return missing parts."""
    if not paths.chapter_memory_file.is_file() and not paths.characters_file.is_file():
        return []
    with stores.database(paths.project_id).read() as unit:
        stored_contents = unit.exchange.contents()
    novel_gen_story = read_chapter_memory(
        paths.folder, project_id=paths.project_id, stored_contents=stored_contents, now=stores.clock()
    )
    if novel_gen_story is None:
        return []
    import_story(stores, paths.project_id, novel_gen_story.story, index=False)
    if not novel_gen_story.unresolved_names:
        return []
    names = ", ".join(map(repr, novel_gen_story.unresolved_names))
    return [f"chapter_memory.json or characters.json name nobody that is known: {names}; add characters"]


@contextmanager
def _noting_failure(report: IngestReport) -> Iterator[None]:
    try:
        yield
    except UserInputError as error:
        report.failures.append(str(error))


def _count_contents(stores: MemoryStores, report: IngestReport, *, tell_changes: bool) -> IngestReport:
    """Count the project's contents, and report missing embeddings."""
    project_id = report.project_id
    otherwise = stored_otherwise(stores, project_id)
    if otherwise:
        report.warnings.append(
            f"{otherwise} memories of unchanged scenes are not embedded as memory.ingest says; "
            f"`novelgen reindex {project_id}` does it"
        )
    condition = StoryUpkeep(stores, project_id).condition()
    follow_language(stores.paths(project_id), condition.language)
    report.memories, report.entities = condition.memories, condition.entities
    report.condition = condition
    report.change_id = IngestResult(scenes=report.scenes).change_id
    taken_places = [
        (result.chapter_index, result.scene_index) for result in report.scenes if result.outcome in _STORED_OUTCOMES
    ]
    report.warnings += thread_warnings(stores, project_id, scenes=taken_places)
    report.changes = StoryDifferences(stores, project_id).of_scenes(taken=taken_places) if tell_changes else None
    return report


Model = TypeVar("Model", bound=BaseModel)
_STORED_OUTCOMES: tuple[ingesting.Outcome, ...] = ("added", "replaced")


def read_given(model: type[Model], given: Any, *, by: Callable[[Any], Any] = lambda value: value) -> Model:
    """Read a caller's object by a reader, with errors as argument errors."""
    try:
        given = by(given)
    except ValueError as error:
        raise UserInputError(str(error)) from error
    if is_deeper(given, than=DEEPEST):
        raise UserInputError(f"an object nests deeper than {DEEPEST} levels; nothing was stored")
    try:
        return model.model_validate(given)
    except ValidationError as error:
        reason = error.errors()[0].get("ctx", {}).get("error")
        raise UserInputError(str(reason) if reason is not None else described(error)) from error
