"""Importing whatever a path is: a memory folder, a project of novel-gen, or a manuscript.

Nothing that is stored is changed, unless an update is asked for, and a repeated import changes nothing.
"""

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import accumulate
from operator import attrgetter
from pathlib import Path
from shutil import copyfile
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from pydantic import BaseModel, Field

from novelgen.errors import InvalidFileError, UnknownProjectError, UserInputError
from novelgen.models.context import ReportIssue
from novelgen.models.user_file import StoryPart
from runtime.care.novel_gen_folder import is_novel_gen_folder, read_novel_gen_folder
from runtime.care.reading import IncomingStory, is_memory_folder, read_memory_folder
from runtime.care.updating import ManuscriptChanges, rearrangement
from runtime.files.chapter_headings import Remark
from runtime.files.file_reading import Unpacked, is_archive, unpack
from runtime.files.manuscripts import (
    Manuscript,
    ManuscriptChapter,
    OddNumber,
    holds_manuscripts,
    is_manuscript,
    is_manuscript_folder,
    read_manuscript,
)
from runtime.ingest.indexing import IndexingResult, drain_outbox
from runtime.ingest.ingest import follow_volumes, ingest_scenes, new_run
from runtime.ingest.scene_input import SceneInput, bare_text, scenes_of_chapter
from runtime.storage.journal import ChangeNumber
from runtime.storage.records import ScenePlace, StoredEntity, StoredScene, StoredSummary
from runtime.storage.transfer import ProjectContents, SceneBundle, ToldScene
from runtime.stores import MemoryStores

Progress = Callable[[int, int], Any]
EVENTS = ("states", "loop_events", "relationship_changes", "knowledge")
"""Lists of contents that hold what happened at scenes."""


class ImportPreview(BaseModel):
    """What an import adds (`new`), finds stored already (`same`) and leaves as it is here (`kept`)."""

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
    characters: int = 0


class ImportResult(BaseModel):
    """What an import did; with `dry_run` what it would do."""

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
    progress: Progress | None = None,
    index_progress: Progress | None = None,
    on_stored: Callable[[StoredText], Any] | None = None,
) -> ImportResult:
    """Add a story to a project, which is created when there is none.

    Each scene is one transaction with all that goes with it, so an import that was interrupted goes on where
    it stopped when it is run again.
    """
    stored = _stored_contents(stores, project_id)
    plan = _ImportPlan(stored or ProjectContents(), incoming, update=update)
    preview = plan.preview.model_copy(update={"is_new_project": stored is None})
    if dry_run:
        return ImportResult(preview=preview, dry_run=True)
    if preview.clashing_entities:
        raise UserInputError(
            f"ids mean somebody else in project {project_id!r}: {preview.clashing_entities!r}; import into another"
            " project"
        )
    if stored is None:
        contents = incoming.contents
        stores.create_project(project_id, name=contents.name, language=contents.language)
    count = _CharacterCount(plan, progress)
    count.begun()
    left_out = _store(stores, project_id, plan, count)
    # What came with cards and records hangs together with them, and is not taken back scene by scene.
    run_id = new_run() if plan.is_text_alone else ""
    told = ingest_scenes(stores, project_id, plan.told_scenes, run_id=run_id, index=False, progress=count.told_scenes)
    if plan.told_beside:
        with stores.database(project_id).write() as unit:
            unit.exchange.note_told_scenes(plan.told_beside)
    issues = [*told.issues, *_left_out_issues(left_out)]
    if on_stored is not None:
        on_stored(plan.stored_text)
    indexing = IndexingResult()
    if index:
        indexing = drain_outbox(stores, project_id, progress=index_progress)
    issues = [*issues, *indexing.issues]
    return ImportResult(
        preview=preview, issues=issues, stored=plan.stored_text, indexing=indexing, change_id=told.change_id
    )


class _ImportPlan:
    """What of incoming contents is new beside stored ones."""

    def __init__(self, stored: ProjectContents, incoming: IncomingStory, *, update: bool = False) -> None:
        self._stored = stored
        self._updates = update
        self._incoming = incoming
        self.contents = incoming.contents
        here = {(each.chapter_index, each.scene_index): each for each in stored.scenes}
        self.scenes = [each for each in self.contents.scenes if _place(each) not in here]
        self.told_scenes = [
            each
            for each in incoming.scenes
            if (place := (each.chapter_index, each.scene_index)) not in here
            or (update and not _tells_the_same(here[place], each))
        ]
        self.told_beside = self._told_beside(here)
        given = {_place(each): each for each in self.contents.scenes}
        self._other_chapters = {
            place[0] for place, each in here.items() if place not in given or not _same_scene(each, given[place])
        }
        known = {each.entity.entity_id: each for each in stored.entities}
        self.entities = [each for each in self.contents.entities if each.entity.entity_id not in known]
        self._memories = self._unknown("memories", "chunk.chunk_id")
        self.rest = self._rest()
        self.preview = self._preview(known, here, incoming)

    def bundle(self, scene: StoredScene) -> SceneBundle:
        """Return a new scene with all that goes with it."""
        label = scene.label
        return SceneBundle(
            scene=scene,
            memories=[each for each in self._memories if each.scene_label == label],
            **{name: [each for each in getattr(self.contents, name) if each.scene_label == label] for name in EVENTS},
        )

    def _told_beside(self, here: Mapping[ScenePlace, StoredScene]) -> dict[ScenePlace, ToldScene]:
        """What documents say beside of scenes that are taken in, or were by an import that was interrupted."""
        told = {}
        for scene in self._incoming.scenes:
            place = (scene.chapter_index, scene.scene_index)
            stored = here.get(place)
            is_bare = stored is not None and not stored.other_fields and _tells_the_same(stored, scene)
            if place in self._incoming.told and (scene in self.told_scenes or is_bare):
                told[place] = self._incoming.told[place]
        return told

    @property
    def is_text_alone(self) -> bool:
        """Whether nothing but scenes of text is new."""
        rest = self.rest.model_copy(update={"parts": []})
        return not (self.scenes or self.entities or self.told_beside) and rest == ProjectContents()

    @property
    def stored_text(self) -> StoredText:
        """How much text the new scenes have."""
        texts = {_place(each): each.text or "" for each in self.scenes}
        texts |= {(each.chapter_index, each.scene_index): each.text for each in self.told_scenes}
        return StoredText(
            chapters=len({chapter for chapter, _ in texts}), scenes=len(texts), characters=sum(map(len, texts.values()))
        )

    def _unknown(self, name: str, *key: str) -> list[Any]:
        """What is given under a name and not stored under its key."""
        taken = set(map(attrgetter(*key), getattr(self._stored, name)))
        return [each for each in getattr(self.contents, name) if attrgetter(*key)(each) not in taken]

    def _rest(self) -> ProjectContents:
        """What goes with no new scene: notes and what the author said, but for what is stored already."""
        bundled = {each.label for each in self.scenes}
        stored_scenes = {each.label for each in self.contents.scenes} - bundled
        loose = [each for each in self._memories if each.scene_label not in bundled]

        def new(name: str) -> list[Any]:
            events = [each for each in getattr(self.contents, name) if each.scene_label not in bundled]
            said = [each for each in events if each.origin == "author" or each.scene_label not in stored_scenes]
            # What is given beyond what is stored; of equal ones as many as there are more.
            left = Counter(_event_key(each, self._pair_of, True) for each in getattr(self._stored, name))
            more = []
            for each in said:
                key = _event_key(each, self._pair_of, False)
                if left[key] > 0:
                    left[key] -= 1
                else:
                    more.append(each)
            return more

        return ProjectContents(
            memories=[each for each in loose if not each.from_scene or each.scene_label not in stored_scenes],
            **{name: new(name) for name in EVENTS},
            parts=self.contents.parts,
            summaries=self._new_summaries(),
            consolidations=self._unknown("consolidations", "chunk.chunk_id"),
            character_memories=self._unknown("character_memories", "memory_id"),
            play=self.contents.play.beyond(self._stored.play),
            waivers=self.contents.waivers,
        )

    def _new_summaries(self) -> list[StoredSummary]:
        """Summaries that are not stored yet; those of chapters with other scenes here are withheld."""
        new: list[StoredSummary] = self._unknown("summaries", "level", "number")
        for number, each in enumerate(new):
            if any(each.first_chapter <= chapter <= each.last_chapter for chapter in self._other_chapters):
                new[number] = each.model_copy(update={"is_withheld": True})
        return new

    def _pair_of(self, contents_is_stored: bool, relationship_id: str) -> str:
        pairs = (self._stored if contents_is_stored else self.contents).pairs
        found = next((each for each in pairs if each.relationship_id == relationship_id), None)
        return relationship_id if found is None else f"{found.character_a}\x1f{found.character_b}"

    def _preview(
        self, known: dict[str, StoredEntity], here: dict[tuple[int, int], StoredScene], incoming: IncomingStory
    ) -> ImportPreview:
        preview = ImportPreview(
            new_entities=[each.entity.entity_id for each in self.entities],
            new_scenes=[str(each.position) for each in self.scenes]
            + [
                f"{each.chapter_index}:{each.scene_index}"
                for each in self.told_scenes
                if (each.chapter_index, each.scene_index) not in here
            ],
            new_memories=len(self.rest.memories),
            new_events=sum(len(getattr(self.rest, name)) for name in EVENTS) + self.rest.play.count(),
            new_summaries=len(self.rest.summaries),
            new_consolidations=len(self.rest.consolidations),
            new_character_memories=len(self.rest.character_memories),
        )
        for given in self.contents.entities:
            old = known.get(given.entity.entity_id)
            if old is not None:
                entity_id = given.entity.entity_id
                share_a_name = set(old.entity.names()) & set(given.entity.names())
                if old.tells_the_same(given):
                    preview.same_entities.append(entity_id)
                elif share_a_name and old.entity.entity_type == given.entity.entity_type:
                    preview.kept_entities.append(entity_id)
                else:
                    preview.clashing_entities.append(entity_id)
        for scene in self.contents.scenes:
            stored = here.get(_place(scene))
            if stored is not None:
                same = _same_scene(stored, scene)
                (preview.same_scenes if same else preview.kept_scenes).append(str(scene.position))
        for told in incoming.scenes:
            stored = here.get((told.chapter_index, told.scene_index))
            if stored is not None:
                place = f"{told.chapter_index}:{told.scene_index}"
                given_text = told.scrubbed().text
                is_same = bare_text(stored.text or "") == bare_text(given_text)
                if stored.text == given_text or (is_same and not self._updates):
                    preview.same_scenes.append(place)
                else:
                    (preview.changed_scenes if self._updates else preview.kept_scenes).append(place)
        return preview


class _CharacterCount:
    """Tells how much of a plan's text is stored, whole scenes first, then those that come as text."""

    def __init__(self, plan: _ImportPlan, progress: Progress | None) -> None:
        whole = [len(each.text or "") for each in plan.scenes]
        told = [len(each.text) for each in plan.told_scenes]
        self._done = list(accumulate([*whole, *told]))
        self._whole_scenes = len(whole)
        self._progress = progress

    def begun(self) -> None:
        """Tell that all is read and nothing stored yet."""
        if self._progress is not None and self._done:
            self._progress(0, self._done[-1])

    def whole_scenes(self, done: int) -> None:
        """Tell that so many whole scenes are stored."""
        if self._progress is not None:
            self._progress(self._done[done - 1], self._done[-1])

    def told_scenes(self, done: int, _total: int) -> None:
        """Tell that so many scenes are stored that come as text."""
        self.whole_scenes(self._whole_scenes + done)


def _store(stores: MemoryStores, project_id: str, plan: _ImportPlan, count: _CharacterCount) -> list[str]:
    """Store a plan and return the ids of the consolidated memories that were left out."""
    database = stores.database(project_id)
    with database.write() as unit:
        for entity in plan.entities:
            unit.exchange.add_entity(entity)
        relationship_ids = unit.exchange.add_pairs(plan.contents.pairs)
    for done, scene in enumerate(plan.scenes, start=1):
        with database.write() as unit:
            unit.exchange.add_scene(plan.bundle(scene), relationship_ids)
        count.whole_scenes(done)
    with database.write() as unit:
        unit.exchange.add_rest(plan.rest, relationship_ids)
        unit.exchange.add_summaries(plan.rest.summaries, plan.rest.parts)
        unit.exchange.add_character_memories(plan.rest.character_memories)
        unit.exchange.add_play(plan.rest.play)
        unit.exchange.add_waivers(plan.rest.waivers)
        unit.exchange.raise_counters(plan.contents.counters)
        return unit.exchange.add_consolidations(plan.rest.consolidations, plan.contents.memories)


def _left_out_issues(left_out: Sequence[str]) -> list[ReportIssue]:
    if not left_out:
        return []
    message = (
        f"{len(left_out)} consolidated memories were left out, for their sources are not stored here as they "
        "were there; `novelgen consolidate` makes new ones"
    )
    return [ReportIssue(stage="import", kind="stale", message=message)]


def _stored_contents(stores: MemoryStores, project_id: str) -> ProjectContents | None:
    stores.paths(project_id)
    try:
        database = stores.database(project_id)
    except UnknownProjectError:
        return None
    with database.read() as unit:
        return unit.exchange.contents()


def _event_key(event: Any, pair_of: Callable[[bool, str], str], is_stored: bool) -> str:
    values = event.model_dump(mode="json", exclude={"scene_label", "created_at"})
    if "relationship_id" in values:
        values["relationship_id"] = pair_of(is_stored, values["relationship_id"])
    return json.dumps(values, sort_keys=True, ensure_ascii=False)


def _same_scene(stored: StoredScene, given: StoredScene) -> bool:
    return (stored.text, stored.title, stored.record) == (given.text, given.title, given.record)


def _tells_the_same(stored: StoredScene, told: SceneInput) -> bool:
    clean = told.scrubbed()
    return (stored.text, stored.title) == (clean.text, clean.title or stored.title)


def _place(scene: StoredScene) -> tuple[int, int]:
    return scene.chapter_index, scene.scene_index


class SourceImport(ImportResult):
    """What an import did, with what is particular to its source."""

    title: str = Field(default="", description="Of a manuscript: that of its file or folder.")
    chapters: list[ManuscriptChapter] = Field(default_factory=list, description="Of a manuscript.")
    parts: list[StoryPart] = Field(default_factory=list, description="Volumes of a manuscript.")
    left_out: str = Field(default="", description="Title page, contents, and the like before a manuscript's volumes.")
    odd_numbers: list[OddNumber] = Field(
        default_factory=list, description="Headings of a manuscript that do not follow the last one."
    )
    remarks: list[Remark] = Field(
        default_factory=list, description="What the author says to readers in a manuscript; left out."
    )
    encodings: list[str] = Field(default_factory=list, description="Of the files of a manuscript.")
    damaged: list[Remark] = Field(default_factory=list, description="Lines of them that look damaged; they are kept.")
    passed_over: list[str] = Field(default_factory=list, description="Files of a folder that are no chapters.")
    changes: ManuscriptChanges | None = Field(
        default=None, description="What differs from the story that is stored; None where none is."
    )
    updated: bool = Field(default=False, description="Whether what differs was taken in.")
    copied_plans: list[str] = Field(default_factory=list, description="Files in the project's chapters folder.")


def import_source(
    stores: MemoryStores,
    source: Path,
    *,
    project_id: str,
    dry_run: bool = False,
    index: bool = True,
    update: bool = False,
    keep_remarks: bool = False,
    every_file: bool = False,
    progress: Progress | None = None,
    index_progress: Progress | None = None,
    on_stored: Callable[[StoredText], Any] | None = None,
) -> SourceImport:
    """Import a path into a project, which is created when there is none; without `update` nothing stored is changed."""
    stores.paths(project_id)
    options: dict[str, Any] = {
        "dry_run": dry_run,
        "index": index,
        "progress": progress,
        "index_progress": index_progress,
        "on_stored": on_stored,
    }
    if not source.exists():
        raise InvalidFileError(f"{str(source)!r} does not exist; check the path")
    with _opened_source(source) as (found, passed_over):
        if found.is_dir() and is_memory_folder(found):
            story = read_memory_folder(found, project_id=project_id, now=stores.clock())
            result = SourceImport(**dict(import_story(stores, project_id, story, **options)))
        elif found.is_dir() and is_novel_gen_folder(found):
            result = _import_novel_gen(stores, found, project_id, options, update=update)
        elif _is_manuscript_source(found, every_file=every_file or found != source):
            # Nothing is counted yet; a job that shall end hears of it here.
            waiting = {"while_waiting": partial(progress, 0, 0)} if progress is not None else {}
            manuscript = read_manuscript(found, keep_remarks=keep_remarks, every_file=True, **waiting)
            result = _import_manuscript(stores, manuscript, project_id, options, update=update)
        else:
            raise InvalidFileError(
                f"{str(source)!r} is neither a folder with 'memory' or 'chapters', nor one with a file for each "
                "chapter, nor a manuscript (.txt, .md, .epub, .docx), nor a .zip of one of these; check the path"
            )
    return result.model_copy(update={"passed_over": [*passed_over, *result.passed_over]})


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
        return is_manuscript(source)
    return is_manuscript_folder(source) or (every_file and holds_manuscripts(source))


def _import_manuscript(
    stores: MemoryStores, manuscript: Manuscript, project_id: str, options: dict[str, Any], *, update: bool
) -> SourceImport:
    scenes = [scene for chapter in manuscript.chapters for scene in scenes_of_chapter(chapter)]
    followed = _followed(stores, project_id, scenes, is_done=update and not options["dry_run"], update=update)
    contents = ProjectContents(name=manuscript.title, parts=manuscript.parts)
    result = import_story(stores, project_id, IncomingStory(contents, followed.scenes), update=update, **options)
    if not options["dry_run"]:
        follow_volumes(stores, project_id, manuscript.parts)
    told = manuscript.model_dump(include={"left_out", "odd_numbers", "encodings", "damaged", "passed_over"})
    return SourceImport(
        **dict(result),
        **told,
        title=manuscript.title,
        chapters=manuscript.preview(),
        parts=manuscript.parts,
        remarks=manuscript.remarks,
        changes=followed.changes,
        updated=update,
    )


class _Followed(NamedTuple):
    scenes: list[SceneInput]
    changes: ManuscriptChanges | None


def _followed(
    stores: MemoryStores, project_id: str, scenes: list[SceneInput], *, is_done: bool, update: bool
) -> _Followed:
    """Move what stands elsewhere in a manuscript, where this is wanted, and return the scenes to take in."""
    try:
        database = stores.database(project_id)
    except UnknownProjectError:
        return _Followed(scenes, None)
    with database.read() as unit:
        stored = {
            (each.chapter_index, each.scene_index): each.text or "" for each in unit.scenes.list_as_of(with_text=True)
        }
    if not stored:
        return _Followed(scenes, None)
    found = rearrangement(stored, [scene.scrubbed() for scene in scenes])
    if is_done and found.moves:
        with database.write() as unit:
            unit.scenes.rearrange(found.moves, found.changes.moved_chapters)
    wanted = found.in_place if update and (is_done or not found.moves) else found.untouched
    told = [scene for scene in scenes if (scene.chapter_index, scene.scene_index) in wanted]
    return _Followed(told, found.changes)


def _import_novel_gen(
    stores: MemoryStores, source: Path, project_id: str, options: dict[str, Any], *, update: bool
) -> SourceImport:
    stored = _stored_contents(stores, project_id) or ProjectContents()
    read = read_novel_gen_folder(source, project_id=project_id, stored=stored, now=stores.clock())
    followed = _followed(
        stores, project_id, read.story.scenes, is_done=update and not options["dry_run"], update=update
    )
    story = IncomingStory(read.story.contents, followed.scenes)
    result = import_story(stores, project_id, story, update=update, **options)
    issues = list(result.issues)
    if read.unresolved_names:
        message = f"chapter_memory.json names nobody that is known: {read.unresolved_names!r}; add characters"
        issues.append(ReportIssue(stage="import", kind="unresolved", message=message))
    plans = [] if options["dry_run"] else _copied_plans(read.plan_files, stores.paths(project_id).chapters)
    return SourceImport(
        **{**dict(result), "issues": issues}, copied_plans=plans, changes=followed.changes, updated=update
    )


def _copied_plans(files: list[Path], folder: Path) -> list[str]:
    """Copy plans to where `novelgen context` looks for them; those that are there stay."""
    copied = []
    for file in files:
        if (folder / file.name).exists():
            continue
        folder.mkdir(parents=True, exist_ok=True)
        copyfile(file, folder / file.name)
        copied.append(file.name)
    return copied
