"""Importing whatever a path is: a memory folder, a project of novel-gen, or a manuscript.

Nothing that is stored is changed, unless an update is asked for, and a repeated import changes nothing.
"""

import json
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from contextlib import contextmanager
from dataclasses import replace as with_fields
from functools import partial
from itertools import accumulate, chain
from operator import attrgetter
from pathlib import Path
from shutil import copyfile
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from pydantic import BaseModel, Field

from novelgen.errors import InvalidFileError, UnknownProjectError, UserInputError
from novelgen.glossary_table import is_glossary
from novelgen.language.language import count_words
from novelgen.language.resolver import NameResolver
from novelgen.models.context import ReportIssue
from novelgen.models.entity import Entity
from runtime.care.companion_files import CompanionCopy, take_companions
from runtime.care.manuscript_changes import ManuscriptChanges, Rearrangement, rearrangement
from runtime.care.novel_gen_folder import is_novel_gen_folder, read_novel_gen_folder
from runtime.care.reading import IncomingStory, is_memory_folder, read_memory_folder
from runtime.files import manuscripts
from runtime.files.file_reading import Unpacked, is_archive, read_text_file, unpack
from runtime.ingest.file_versions import Deletion, FileEdit, Reconciliation, deletion_of, reconciled, with_file_version
from runtime.ingest.indexing import IndexingResult, drain_outbox
from runtime.ingest.ingest import follow_volumes, ingest_scenes, new_run
from runtime.ingest.likeness import are_alike
from runtime.ingest.scene_input import SceneInput, bare_text, scenes_of_chapter
from runtime.storage.change import ChangeNumber
from runtime.storage.columns import ScenePlace
from runtime.storage.records import Scene, Summary
from runtime.storage.transfer import ProjectContents, SceneBundle, ToldScene
from runtime.stores import MemoryStores

Progress = Callable[[int, int], Any]
EVENTS = ("states", "loop_events", "relationship_changes", "knowledge")
"""Lists of contents that hold what happened at scenes."""


class ImportPreview(BaseModel):
    """Counts of an import: `new`, `same` and `kept` here."""

    new_entities: list[str] = Field(default_factory=list)
    same_entities: list[str] = Field(default_factory=list)
    kept_entities: list[str] = Field(default_factory=list, description="Stored otherwise; not overwritten.")
    clashing_entities: list[str] = Field(
        default_factory=list, description="Ids that mean somebody else here; nothing can be imported then."
    )
    new_scenes: list[str] = Field(default_factory=list, description="Places such as 3:2.")
    same_scenes: list[str] = Field(default_factory=list)
    kept_scenes: list[str] = Field(default_factory=list, description="Another scene stands there.")
    changed_scenes: list[str] = Field(
        default_factory=list, description="Stored with another text or title, which an update replaces."
    )
    new_memories: int = Field(default=0, description="Notes and memories that go with no new scene.")
    new_events: int = Field(
        default=0, description="States, loop events, relationship changes and who knows what, likewise."
    )
    new_summaries: int = Field(default=0, description="Summaries that somebody wrote.")
    new_consolidations: int = Field(default=0, description="Memories that stand for others.")
    new_character_memories: int = Field(
        default=0, description="What characters remember by themselves.", exclude_if=lambda count: not count
    )
    is_new_project: bool = False

    @property
    def adds(self) -> bool:
        """Whether anything is new."""
        return bool(self.new_entities or self.new_scenes or self.changed_scenes or self.new_memories or self.new_events)


class StoredText(BaseModel):
    """The text that an import stored, which is searchable by words from then on."""

    chapters: int = 0
    scenes: int = 0
    words: int = Field(default=0, description="字数: Chinese characters and words of other scripts.")


class ImportResult(BaseModel):
    """The result of an import, or its preview with `dry_run`."""

    preview: ImportPreview
    dry_run: bool = False
    issues: list[ReportIssue] = Field(default_factory=list)
    stored: StoredText = StoredText()
    indexing: IndexingResult = Field(default_factory=IndexingResult)
    change_id: ChangeNumber = None


def import_story(
    stores: MemoryStores,
    project_id: str,
    incoming: IncomingStory,
    *,
    dry_run: bool = False,
    index: bool = True,
    update: bool = False,
    moves: Mapping[ScenePlace, ScenePlace] | None = None,
    progress: Progress | None = None,
    index_progress: Progress | None = None,
    on_stored: Callable[[StoredText], Any] | None = None,
) -> ImportResult:
    """Add a story to a project, which is created when there is none.

    Each scene is one transaction with all that goes with it, so an import that was interrupted goes on where
    it stopped when it is run again.
    """
    stored_contents = _stored_contents(stores, project_id)
    if stored_contents is not None and moves:
        # A dry run tells what comes of scenes that would have moved by then.
        stored_contents = stored_contents.model_copy(
            update={"scenes": [_moved(scene, moves) for scene in stored_contents.scenes]}
        )
    plan = _ImportPlan(stored_contents or ProjectContents(), incoming, update=update)
    preview = plan.preview().model_copy(update={"is_new_project": stored_contents is None})
    if dry_run:
        return ImportResult(preview=preview, dry_run=True)
    if preview.clashing_entities:
        raise UserInputError(
            f"ids mean somebody else in project {project_id!r}: {preview.clashing_entities!r}; import into another"
            " project"
        )
    if stored_contents is None:
        contents = incoming.contents
        stores.create_project(project_id, name=contents.name, language=contents.language)
    tell = _telling(plan, progress)
    tell(0)
    left_out = _store(stores, project_id, plan, tell)
    # What came with cards and records hangs together with them, and is not taken back scene by scene.
    run_id = new_run() if plan.is_text_alone else ""
    result = ingest_scenes(
        stores,
        project_id,
        plan.told_scenes,
        run_id=run_id,
        index=False,
        progress=lambda done_count, _: tell(len(plan.scenes) + done_count),
    )
    with stores.database(project_id).write() as unit:
        for scene_id, version in plan.file_versions.items():
            unit.scenes.note_file_version(scene_id, version)
    if plan.told_beside or plan.told_places:
        with stores.database(project_id).write() as unit:
            unit.exchange.note_told_scenes(plan.told_beside)
            unit.exchange.tie_to_scenes(plan.told_places)
    issues = list(result.issues)
    if left_out:
        message = (
            f"{len(left_out)} consolidated memories were left out, for their sources are not stored here as they "
            "were there; `novelgen consolidate` makes new ones"
        )
        issues.append(ReportIssue(stage="import", kind="stale", message=message))
    if on_stored is not None:
        on_stored(plan.stored_text)
    indexing = drain_outbox(stores, project_id, progress=index_progress) if index else IndexingResult()
    issues += indexing.issues
    return ImportResult(
        preview=preview, issues=issues, stored=plan.stored_text, indexing=indexing, change_id=result.change_id
    )


class _ImportPlan:
    """The new part of incoming contents."""

    def __init__(self, stored_contents: ProjectContents, incoming: IncomingStory, *, update: bool = False) -> None:
        self._stored = stored_contents
        self._updates = update
        self._incoming = incoming
        self.contents = incoming.contents
        self._here = {_place(scene): scene for scene in stored_contents.scenes}
        self.scenes = [scene for scene in self.contents.scenes if _place(scene) not in self._here]
        self.told_scenes = [
            scene
            for scene in incoming.scenes
            if (there := self._here.get(_place(scene))) is None or (update and not _tells_the_same(there, scene))
        ]
        self.told_beside = {
            _place(scene): scene_telling for scene in incoming.scenes if (scene_telling := self._said_beside(scene))
        }
        self.entities = self._new_rows("entities", "entity.entity_id")
        self._memories = self._new_rows("memories", "chunk.chunk_id")
        self._bundled_ids = {scene.scene_id for scene in self.scenes}
        self._stored_ids = {scene.scene_id for scene in self.contents.scenes} - self._bundled_ids
        self._free_events = {name: self._new_free_events(name) for name in EVENTS}
        self.rest = self._rest()

    def bundle(self, scene: Scene) -> SceneBundle:
        """Return a new scene with all that goes with it, and the events at its place in their order."""
        scene_id = scene.scene_id
        return SceneBundle(
            scene=scene,
            mentions=self.contents.mentions.get(scene_id, []),
            memories=[memory for memory in self._memories if memory.scene_id == scene_id],
            **{name: self._events_at(scene, name) for name in EVENTS},
        )

    def _events_at(self, scene: Scene, name: str) -> list[Any]:
        free_events = {id(event) for event in self._free_events[name] if event.scene_id is None}
        return [
            event
            for event in getattr(self.contents, name)
            if event.scene_id == scene.scene_id or (id(event) in free_events and _place(event) == _place(scene))
        ]

    def _said_beside(self, scene: SceneInput) -> ToldScene | None:
        """Return the extra statements on a scene's document."""
        scene_telling, stored_scene = self._incoming.told.get(_place(scene)), self._here.get(_place(scene))
        if scene_telling is None or scene in self.told_scenes:
            return scene_telling
        is_bare = stored_scene is not None and not stored_scene.other_fields and _tells_the_same(stored_scene, scene)
        return scene_telling if is_bare else None

    @property
    def new_scenes(self) -> list[Scene | SceneInput]:
        """Those to store, whole ones first, then those that come as text."""
        return [*self.scenes, *self.told_scenes]

    @property
    def file_versions(self) -> dict[str, dict[str, str]]:
        """What files say of scenes that say the same already, by the ids of these."""
        return {
            there.scene_id: scene.file_version
            for scene in self._incoming.scenes
            if (there := self._here.get(_place(scene))) is not None
            and scene.file_version not in (None, there.file_version)
            and scene not in self.told_scenes
            and _tells_the_same(there, scene)
        }

    @property
    def told_places(self) -> set[ScenePlace]:
        """Places of scenes that come as text, and of which something else that comes says that it goes with them."""
        events = chain(*self.rest.events().values())
        of_scenes = {(event.chapter_index, event.scene_index) for event in events if event.scene_id is not None}
        return {_place(scene) for scene in self.told_scenes}.intersection(of_scenes)

    @property
    def is_text_alone(self) -> bool:
        """Whether nothing but scenes of text is new."""
        rest = self.rest.model_copy(update={"parts": []})
        return not (self.scenes or self.entities or self.told_beside) and rest == ProjectContents()

    @property
    def stored_text(self) -> StoredText:
        """How much text the new scenes have."""
        texts = {_place(scene): scene.text or "" for scene in self.new_scenes}
        return StoredText(
            chapters=len({chapter for chapter, _ in texts}),
            scenes=len(texts),
            words=sum(map(count_words, texts.values())),
        )

    def _new_rows(self, name: str, *key: str) -> list[Any]:
        """Return incoming rows without a stored key."""
        taken_keys = set(map(attrgetter(*key), getattr(self._stored, name)))
        return [item for item in getattr(self.contents, name) if attrgetter(*key)(item) not in taken_keys]

    def _new_free_events(self, name: str) -> list[Any]:
        """Return events of no new scene, beyond what is stored: of equal ones as many as there are more."""
        counter = Counter(key for key, _ in _keyed_events(self._stored, name))
        more = []
        for key, event in _keyed_events(self.contents, name):
            is_said = event.origin == "author" or event.scene_id not in self._stored_ids
            if is_said and event.scene_id not in self._bundled_ids:
                counter[key] -= 1
                more += [event] if counter[key] < 0 else []
        return more

    def _rest(self) -> ProjectContents:
        """Return new notes, and author's statements that neither belong to a new scene nor stand at its place."""
        new_places = {_place(scene) for scene in self.scenes}
        return ProjectContents(
            memories=[
                memory
                for memory in self._memories
                if memory.scene_id not in self._bundled_ids
                and not (memory.from_scene and memory.scene_id in self._stored_ids)
            ],
            **{
                name: [event for event in events if event.scene_id is not None or _place(event) not in new_places]
                for name, events in self._free_events.items()
            },
            parts=self.contents.parts,
            summaries=self._new_summaries(),
            consolidations=self._new_rows("consolidations", "chunk.chunk_id"),
            character_memories=self._new_rows("character_memories", "memory_id"),
            play=self.contents.play.missing_from(self._stored.play),
            waivers=self.contents.waivers,
        )

    def _new_summaries(self) -> list[Summary]:
        """Return unstored summaries, except for chapters with other scenes here."""
        scenes_by_position = {_place(scene): scene for scene in self.contents.scenes}
        others = {
            place[0]
            for place, scene in self._here.items()
            if place not in scenes_by_position or not _same_scene(scene, scenes_by_position[place])
        }
        new: list[Summary] = self._new_rows("summaries", "level", "number")
        is_of_others = (
            any(summary.first_chapter <= chapter <= summary.last_chapter for chapter in others) for summary in new
        )
        return [
            summary.model_copy(update={"is_withheld": True}) if withheld else summary
            for summary, withheld in zip(new, is_of_others, strict=True)
        ]

    def preview(self) -> ImportPreview:
        """Return new, stored and kept rows."""
        rest, here = self.rest, self._here
        preview = ImportPreview(
            new_entities=[entity.entity.entity_id for entity in self.entities],
            new_scenes=[_spelt(scene) for scene in self.new_scenes if _place(scene) not in here],
            new_memories=len(rest.memories),
            new_events=sum(map(len, self._free_events.values())) + rest.play.count(),
            new_summaries=len(rest.summaries),
            new_consolidations=len(rest.consolidations),
            new_character_memories=len(rest.character_memories),
        )
        known_entities_by_id = {entity.entity.entity_id: entity for entity in self._stored.entities}
        for input_entity in self.contents.entities:
            entity, old = input_entity.entity, known_entities_by_id.get(input_entity.entity.entity_id)
            if old is not None:
                is_namesake = not set(old.entity.names()).isdisjoint(entity.names())
                is_alike = is_namesake and old.entity.entity_type == entity.entity_type
                other = preview.kept_entities if is_alike else preview.clashing_entities
                (preview.same_entities if old.tells_the_same(input_entity) else other).append(entity.entity_id)
        for scene in self.contents.scenes:
            if stored_scene := here.get(_place(scene)):
                same = _same_scene(stored_scene, scene)
                (preview.same_scenes if same else preview.kept_scenes).append(_spelt(scene))
        for rendered_scene in self._incoming.scenes:
            if stored_scene := here.get(_place(rendered_scene)):
                text = rendered_scene.scrubbed().text
                is_alike = not self._updates and bare_text(stored_scene.text or "") == bare_text(text)
                other = preview.changed_scenes if self._updates else preview.kept_scenes
                (preview.same_scenes if is_alike or stored_scene.text == text else other).append(_spelt(rendered_scene))
        return preview


def _telling(plan: _ImportPlan, progress: Progress | None) -> Callable[[int], None]:
    """Return a progress reporter of stored text."""
    done_numbers = [0, *accumulate(len(scene.text or "") for scene in plan.new_scenes)]

    def tell(scenes: int) -> None:
        if progress is not None and len(done_numbers) > 1:
            progress(done_numbers[scenes], done_numbers[-1])

    return tell


def _store(stores: MemoryStores, project_id: str, plan: _ImportPlan, tell: Callable[[int], None]) -> list[str]:
    """Store a plan and return the ids of the consolidated memories that were left out."""
    database = stores.database(project_id)
    with database.write() as unit:
        for entity in plan.entities:
            unit.exchange.add_entity(entity)
        relationship_ids = unit.exchange.add_pairs(plan.contents.pairs)
    for done_count, scene in enumerate(plan.scenes, start=1):
        with database.write() as unit:
            unit.exchange.add_scene(plan.bundle(scene), relationship_ids)
        tell(done_count)
    with database.write() as unit:
        unit.exchange.add_rest(plan.rest, relationship_ids)
        unit.exchange.add_summaries(plan.rest.summaries, plan.rest.parts)
        unit.exchange.add_character_memories(plan.rest.character_memories)
        unit.exchange.add_play(plan.rest.play)
        unit.exchange.add_waivers(plan.rest.waivers)
        unit.exchange.raise_counters(plan.contents.counters)
        return unit.exchange.add_consolidations(plan.rest.consolidations, plan.contents.memories)


def _stored_contents(stores: MemoryStores, project_id: str) -> ProjectContents | None:
    stores.paths(project_id)
    try:
        database = stores.database(project_id)
    except UnknownProjectError:
        return None
    with database.read() as unit:
        return unit.exchange.contents()


def _keyed_events(contents: ProjectContents, name: str) -> Iterator[tuple[str, Any]]:
    """Key events by content, with pair ids as their two characters."""
    pairs = {pair.relationship_id: [pair.character_a, pair.character_b] for pair in contents.pairs}
    for event in getattr(contents, name):
        values = event.model_dump(mode="json", exclude={"created_at"})
        if "relationship_id" in values:
            values["relationship_id"] = pairs.get(values["relationship_id"], values["relationship_id"])
        yield json.dumps(values, sort_keys=True, ensure_ascii=False), event


def _same_scene(stored_scene: Scene, scene: Scene) -> bool:
    return (stored_scene.text, stored_scene.title, stored_scene.record) == (scene.text, scene.title, scene.record)


def _tells_the_same(stored_scene: Scene, scene: SceneInput) -> bool:
    clean = scene.scrubbed()
    return (stored_scene.text, stored_scene.title) == (clean.text, clean.title or stored_scene.title)


def _place(item: Any) -> Any:
    """Return chapter and scene, which a scene has both and anything else may lack."""
    return item.chapter_index, item.scene_index


def _moved(scene: Scene, moves: Mapping[ScenePlace, ScenePlace]) -> Scene:
    place = moves.get(_place(scene), _place(scene))
    return scene.model_copy(update={"chapter_index": place[0], "scene_index": place[1]})


def _spelt(scene: Scene | SceneInput) -> str:
    return _spelt_place(_place(scene))


def _spelt_place(place: ScenePlace) -> str:
    return f"{place[0]}:{place[1]}"


# --- Importing a path ---


class SourceImport(manuscripts.ManuscriptNotes, ImportResult):
    """The result of an import, with its source's details."""

    chapters: list[manuscripts.ManuscriptChapter] = Field(default_factory=list, description="Of a manuscript.")
    changes: ManuscriptChanges | None = Field(
        default=None, description="What differs from the story that is stored; None where none is."
    )
    updated: bool = Field(default=False, description="Whether what differs was taken in.")
    overwritten: bool = Field(
        default=False,
        exclude_if=lambda overwritten: not overwritten,
        description="Whether the file's text took the place of what was edited here, too.",
    )
    copied_files: list[str] = Field(
        default_factory=list,
        description="Settings, characters, word lists and plans that came into the project's folder.",
    )


def import_source(
    stores: MemoryStores,
    source: Path,
    *,
    project_id: str,
    dry_run: bool = False,
    index: bool = True,
    update: bool = False,
    replace: bool = False,
    overwrite: bool = False,
    keep_remarks: bool = False,
    every_file: bool = False,
    headings: Sequence[str] = (),
    progress: Progress | None = None,
    index_progress: Progress | None = None,
    on_stored: Callable[[StoredText], Any] | None = None,
) -> SourceImport:
    """Import a path into a new or existing project.

    Without `update` nothing stored changes.

    A chapter that is new stands where its heading says, else after the last one, and takes the place of none; one with
    another heading takes the place of a stored one only with `replace`. What was edited here stays: where the file
    changed, too, it takes the file's text only with `overwrite`.
    """
    stores.paths(project_id)
    take_in = partial(
        import_story,
        stores,
        project_id,
        dry_run=dry_run,
        index=index,
        progress=progress,
        index_progress=index_progress,
        on_stored=on_stored,
    )
    if not source.exists():
        raise InvalidFileError(f"{str(source)!r} does not exist; check the path")
    with _opened_source(source) as (path, passed_over):
        fields: dict[str, Any] = {"passed_over": passed_over}
        if path.is_dir() and is_memory_folder(path):
            story = read_memory_folder(path, project_id=project_id, now=stores.clock())
            result = take_in(story)
            companions = CompanionCopy([], []) if dry_run else take_companions(path, stores.paths(project_id))
            if companions.kept:
                message = f"the project has files of its own, which stay: {', '.join(companions.kept)}"
                result.issues.append(ReportIssue(stage="import", kind="unresolved", message=message))
            return SourceImport(**dict(result), **fields, copied_files=companions.taken)
        issues: list[ReportIssue] = []
        plans: list[Path] = []
        is_placed = True
        is_numbered = path.is_dir() and is_novel_gen_folder(path)
        if is_numbered:
            stored_contents = _stored_contents(stores, project_id) or ProjectContents()
            novel_gen_story = read_novel_gen_folder(
                path, project_id=project_id, stored_contents=stored_contents, now=stores.clock()
            )
            story, plans = novel_gen_story.story, novel_gen_story.plan_files
            if novel_gen_story.unresolved_names:
                message = (
                    f"chapter_memory.json names nobody that is known: {novel_gen_story.unresolved_names!r}; "
                    "add characters"
                )
                issues.append(ReportIssue(stage="import", kind="unresolved", message=message))
        elif path.is_file() and path.suffix.lower() in (".txt", ".md") and is_glossary(read_text_file(path)):
            raise InvalidFileError(_glossary_named(source, project_id))
        elif _is_manuscript_source(path, every_file=every_file or path != source):
            # Nothing is counted yet; a job that shall end hears of it here.
            waiting_partials_by_id = {"while_waiting": partial(progress, 0, 0)} if progress is not None else {}
            manuscript = manuscripts.read_manuscript(
                path, keep_remarks=keep_remarks, every_file=True, headings=headings, **waiting_partials_by_id
            )
            story = IncomingStory(
                ProjectContents(name=manuscript.title, parts=manuscript.parts),
                [scene for chapter in manuscript.chapters for scene in scenes_of_chapter(chapter)],
            )
            is_placed = not manuscripts.tells_no_place(manuscript, path)
            fields = {**dict(manuscript), "chapters": manuscript.preview()}
            fields["passed_over"] = [*passed_over, *manuscript.passed_over]
        elif path.is_file() and path.suffix.lower() in _GLOSSARY_FILES:
            raise InvalidFileError(_glossary_named(source, project_id))
        else:
            raise InvalidFileError(
                f"{str(source)!r} is neither a folder with 'memory' or 'chapters', nor one with a file for each "
                "chapter, nor a manuscript (.txt, .md, .epub, .docx), nor a .zip of one of these; check the path"
            )
        followed = _followed(
            stores,
            project_id,
            story,
            update=update,
            replace=replace,
            overwrite=overwrite,
            dry_run=dry_run,
            by_number=is_numbered,
            is_placed=is_placed,
        )
        result = take_in(followed.story, update=update, moves=followed.moves_to_come)
        changes = followed.changes
        if changes is not None:
            kept_places = {*changes.edited_scenes, *changes.conflicting_scenes}
            same_scenes = [place for place in result.preview.same_scenes if place not in kept_places]
            result.preview.same_scenes = same_scenes
        if changes is not None and changes.numbers and "chapters" in fields:
            fields |= _renumbered(fields, changes.numbers)
        if not dry_run and "parts" in fields:
            follow_volumes(stores, project_id, fields["parts"])
        copied = [] if dry_run else _copied_plans(plans, stores.paths(project_id).chapters)
        issues = [*result.issues, *issues]
        result = result.model_copy(update={"issues": issues})
        return SourceImport(
            **dict(result),
            **fields,
            changes=changes,
            updated=update,
            overwritten=overwrite and update,
            copied_files=copied,
        )


_GLOSSARY_FILES = (".csv", ".tsv", ".json")
"""Endings of files that hold no manuscript and may hold a glossary."""


def _glossary_named(source: Path, project_id: str) -> str:
    return (
        f"{str(source)!r} is no manuscript; if it is a glossary of terms and translations: "
        f"`novelgen glossary import {project_id} {source.name}`"
    )


@contextmanager
def _opened_source(source: Path) -> Iterator[Unpacked]:
    """Give a source, unpacked for as long as it is read where it is an archive."""
    if not (source.is_file() and is_archive(source)):
        yield Unpacked(source, [])
        return
    with TemporaryDirectory(prefix="novelgen-import-") as folder:
        # A manuscript without a title takes that of its folder.
        yield unpack(source, Path(folder) / source.stem)


def _is_manuscript_source(source: Path, *, every_file: bool) -> bool:
    if source.is_file():
        return manuscripts.is_manuscript(source)
    return manuscripts.is_manuscript_folder(source) or (every_file and manuscripts.holds_manuscripts(source))


class _Followed(NamedTuple):
    """What of a manuscript is taken in, once its story has followed it."""

    story: IncomingStory
    changes: ManuscriptChanges | None = None
    moves_to_come: Mapping[ScenePlace, ScenePlace] | None = None
    """Of a dry run."""


def _followed(
    stores: MemoryStores,
    project_id: str,
    story: IncomingStory,
    *,
    update: bool,
    replace: bool,
    overwrite: bool,
    dry_run: bool,
    by_number: bool,
    is_placed: bool,
) -> _Followed:
    """Move scenes as in the manuscript, where requested, and return the rest."""
    try:
        database = stores.database(project_id)
    except UnknownProjectError:
        return _Followed(with_fields(story, scenes=[with_file_version(scene) for scene in story.scenes]))
    with database.read() as unit:
        listed_scenes = unit.scenes.list_as_of(with_text=True)
        edited_ids = unit.journal.scenes_edited()
        deleted_scenes = unit.journal.scenes_deleted()
        entities = [stored_entity.entity for stored_entity in unit.entities.list_all()]
    if not listed_scenes:
        return _Followed(with_fields(story, scenes=[with_file_version(scene) for scene in story.scenes]))
    matching_rearrangement = rearrangement(
        {_place(scene): scene.text or "" for scene in listed_scenes},
        [with_file_version(scene.scrubbed()) for scene in story.scenes],
        titles={_place(scene): scene.title for scene in listed_scenes},
        by_number=by_number,
        is_placed=is_placed,
        replace=replace and update,
    )
    may_move = bool(matching_rearrangement.moves) and (update or matching_rearrangement.only_makes_room)
    if may_move and not dry_run:
        with database.write() as unit:
            unit.scenes.rearrange(matching_rearrangement.moves, matching_rearrangement.chapters)
    wanted_places = (
        matching_rearrangement.in_place
        if update or matching_rearrangement.only_makes_room
        else matching_rearrangement.untouched
    )
    moved_scenes_by_place = {
        matching_rearrangement.moves.get(_place(scene), _place(scene)): scene for scene in listed_scenes
    }
    reconciliations = {
        _place(scene): reconciled(
            scene, stored_scene, is_edited=stored_scene.scene_id in edited_ids, overwrite=overwrite and update
        )
        for scene in matching_rearrangement.scenes
        if (stored_scene := moved_scenes_by_place.get(_place(scene))) is not None
    }
    deletions = {
        _place(scene): deletion
        for scene in matching_rearrangement.scenes
        if _place(scene) not in moved_scenes_by_place and (deletion := deletion_of(scene, deleted_scenes)) is not None
    }
    away_places = {
        place for place, deletion in deletions.items() if not (deletion.is_conflict and overwrite and update)
    }
    scenes = [
        reconciliations[_place(scene)].scene if _place(scene) in reconciliations else scene
        for scene in matching_rearrangement.scenes
        if _place(scene) in wanted_places - away_places
    ]
    return _Followed(
        with_fields(story, scenes=scenes),
        _with_deletions(
            _with_edits(
                matching_rearrangement, reconciliations, moved_scenes_by_place, entities=entities, away=away_places
            ),
            deletions,
            new_places={_place(scene) for scene in scenes} - moved_scenes_by_place.keys(),
        ),
        matching_rearrangement.moves if may_move and dry_run else None,
    )


def _with_edits(
    followed_rearrangement: Rearrangement,
    reconciliations: Mapping[ScenePlace, Reconciliation],
    stored_scenes: Mapping[ScenePlace, Scene],
    *,
    entities: Sequence[Entity],
    away: Set[ScenePlace],
) -> ManuscriptChanges:
    """Return the changes with what was edited here told from what the file changed."""
    changes = followed_rearrangement.changes
    places_by_edit: dict[FileEdit, list[ScenePlace]] = defaultdict(list)
    for place, reconciliation in sorted(reconciliations.items()):
        places_by_edit[reconciliation.edit].append(place)
    scenes_by_place = {_place(scene): scene for scene in followed_rearrangement.scenes}
    changed_chapters = {
        chapter for chapter, _ in (*places_by_edit["newer"], *(scenes_by_place.keys() - reconciliations.keys() - away))
    }
    changed_chapters |= {int(place.partition(":")[0]) for place in changes.gone_scenes}
    return changes.model_copy(
        update={
            "changed_chapters": [chapter for chapter in changes.changed_chapters if chapter in changed_chapters],
            "edited_scenes": [_spelt_place(place) for place in places_by_edit["edited"]],
            "conflicting_scenes": [_spelt_place(place) for place in places_by_edit["conflict"]],
            "is_same_story": any(
                are_alike(stored_scenes[place].text or "", scenes_by_place[place].text) for place in reconciliations
            )
            or _name_two(entities, [scene.text for scene in followed_rearrangement.scenes]),
        }
    )


def _with_deletions(
    changes: ManuscriptChanges, deletions: Mapping[ScenePlace, Deletion], *, new_places: Set[ScenePlace]
) -> ManuscriptChanges:
    """Return the changes with the scenes that were deleted here told from new ones."""
    new_chapters = {chapter for chapter, _ in new_places}
    deleted_chapters = {chapter for chapter, _ in deletions}
    conflicting = [_spelt_place(place) for place, deletion in deletions.items() if deletion.is_conflict]
    return changes.model_copy(
        update={
            "new_chapters": [
                chapter
                for chapter in changes.new_chapters
                if chapter in new_chapters or chapter not in deleted_chapters
            ],
            "deleted_scenes": {
                _spelt_place(place): deletion.change_id
                for place, deletion in deletions.items()
                if not deletion.is_conflict
            },
            "conflicting_scenes": [*changes.conflicting_scenes, *conflicting],
        }
    )


def _name_two(entities: Sequence[Entity], texts: Iterable[str]) -> bool:
    """Return whether texts name two entities of a story, as further chapters of it do."""
    resolver = NameResolver(entities)
    entity_ids: set[str] = set()
    for text in texts:
        entity_ids.update(resolver.entity_ids_in(text))
        if len(entity_ids) > 1:
            return True
    return False


def _renumbered(fields: Mapping[str, Any], numbers: Mapping[int, int]) -> dict[str, Any]:
    """Return what is told of a part of a story with the numbers that its chapters have there."""
    chapters = [
        item.model_copy(update={"chapter_number": numbers.get(item.chapter_number, item.chapter_number)})
        for item in fields["chapters"]
    ]
    parts = [
        item.model_copy(
            update={
                "first_chapter": numbers.get(item.first_chapter, item.first_chapter),
                "last_chapter": numbers.get(item.last_chapter, item.last_chapter),
            }
        )
        for item in fields["parts"]
    ]
    return {"chapters": chapters, "parts": parts}


def _copied_plans(files: list[Path], folder: Path) -> list[str]:
    """Copy plans to the project's folder, keeping existing ones."""
    new = [file for file in files if not (folder / file.name).exists()]
    for file in new:
        folder.mkdir(parents=True, exist_ok=True)
        copyfile(file, folder / file.name)
    return [file.name for file in new]
