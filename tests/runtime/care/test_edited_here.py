"""Importing a manuscript again after its author edited the story, too: nothing of that is lost unasked."""

import itertools
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from novelgen.models.position import StoryPosition
from runtime.care.importing import SourceImport, import_source
from runtime.ingest.file_versions import file_version
from runtime.stores import MemoryStores
from runtime.story.entities import StoryEntities
from runtime.story.ingest import IngestReport, ProjectIngest, SceneIngest, StoryIngest
from runtime.story.scene_editing import StorySceneEditing
from runtime.story.scenes import StoryScenes
from runtime.story.transfer import StoryTransfer, is_of_another_story
from runtime.story.undo import StoryUndo

_numbers = itertools.count(1)
SENTENCES = {
    "zh": "沈砚秋走进潮音厅，这是第{0}天。坑有两米六深。灯开着{0}盏。雨下了{0}夜。",
    "en": "Ada walked into hall {0}. The pit was deep. There were {0} lamps. It rained for {0} nights.",
}
HERE = {"zh": ("两米六", "三米二"), "en": ("deep", "shallow")}
IN_FILE = {"zh": ("盏", "支"), "en": ("lamps", "candles")}
HEADING = {"zh": "第{0}章", "en": "Chapter {0}"}


class Book:
    """A folder with a file for each chapter, and the project that it was imported into."""

    def __init__(self, stores: MemoryStores, folder: Path, language: str) -> None:
        self.stores, self.folder, self.language = stores, folder, language
        self.project_id = f"edited-here-{next(_numbers)}"
        folder.mkdir()
        for number in range(1, 6):
            self.write(number, SENTENCES[language].format(number))

    def write(self, number: int, text: str) -> None:
        """Write the file of a chapter."""
        heading = HEADING[self.language].format(number)
        (self.folder / f"chapter_{number:03}.txt").write_text(f"{heading}\n\n{text}\n", encoding="utf-8")

    def change_file(self, *numbers: int) -> None:
        """Edit the files of chapters."""
        for number in numbers:
            self.write(number, SENTENCES[self.language].format(number).replace(*IN_FILE[self.language]))

    def take_in(self, **options: Any) -> SourceImport:
        """Import the folder."""
        return import_source(self.stores, self.folder, project_id=self.project_id, index=False, **options)

    def text(self, number: int) -> str:
        """Return the stored text of a chapter."""
        with self.stores.database(self.project_id).read() as unit:
            return unit.scenes.require(StoryPosition(number, 1)).text or ""

    def edit(self, *numbers: int, **fields: str) -> None:
        """Edit stored chapters by hand, as the page does."""
        editing = StorySceneEditing(self.stores, self.project_id)
        for number in numbers:
            editing.edit((number, 1), **(fields or {"text": self.text(number).replace(*HERE[self.language])}))


@pytest.fixture(params=["zh", "en"])
def book(request: pytest.FixtureRequest, stores: MemoryStores, tmp_path: Path) -> Book:
    """Five chapters that were imported from their files."""
    imported = Book(stores, tmp_path / "book", request.param)
    imported.take_in()
    return imported


def _has(book: Book, number: int, words: Mapping[str, tuple[str, str]]) -> bool:
    return words[book.language][1] in book.text(number)


def test_a_chapter_edited_here_stays_where_its_file_did_not_change(book: Book) -> None:
    """The preview tells the edit here, the edit of the file and both apart, and so does the update."""
    book.edit(1, 3)
    book.change_file(3, 5)
    before = book.take_in(dry_run=True)
    assert (before.changes.edited_scenes, before.changes.conflicting_scenes) == (["1:1"], ["3:1"])
    assert (before.changes.changed_chapters, before.preview.kept_scenes) == ([5], ["5:1"])
    done = book.take_in(update=True)
    assert (done.changes.edited_scenes, done.changes.conflicting_scenes) == (["1:1"], ["3:1"])
    assert (done.preview.changed_scenes, done.preview.same_scenes) == (["5:1"], ["2:1", "4:1"])
    assert [_has(book, number, HERE) for number in (1, 3, 5)] == [True, True, False]
    assert [_has(book, number, IN_FILE) for number in (1, 3, 5)] == [False, False, True]
    again = book.take_in(update=True)
    assert (again.preview.changed_scenes, again.changes.conflicting_scenes) == ([], ["3:1"])


def test_the_file_takes_a_place_where_that_is_said_and_undo_brings_the_edit_back(book: Book) -> None:
    """Only where both changed; after the undo all is as it was, so that the same may be asked again."""
    book.edit(1, 3)
    book.change_file(3)
    for _ in range(2):
        done = book.take_in(update=True, overwrite=True)
        assert (done.preview.changed_scenes, done.overwritten) == (["3:1"], True)
        assert (_has(book, 1, HERE), _has(book, 3, HERE), _has(book, 3, IN_FILE)) == (True, False, True)
        assert book.take_in(update=True).changes.conflicting_scenes == []
        StoryUndo(book.stores, book.project_id).undo(done.change_id)
        assert (_has(book, 3, HERE), book.take_in(dry_run=True).changes.conflicting_scenes) == (True, ["3:1"])


def _numbers_stored(book: Book) -> list[int]:
    with book.stores.database(book.project_id).read() as unit:
        return [scene.chapter_index for scene in unit.scenes.list_as_of()]


@pytest.mark.parametrize("number", [1, 3, 5], ids=["first", "middle", "last"])
def test_a_chapter_deleted_here_stays_away_where_its_file_did_not_change(book: Book, number: int) -> None:
    """Neither an import nor an update brings it back, the answer names the change, and `undo` of that brings it."""
    change_id = StoryScenes(book.stores, book.project_id).delete((number, 1)).change_id
    left = [chapter for chapter in range(1, 6) if chapter != number]
    for options in ({"dry_run": True}, {}, {"update": True}, {"update": True, "overwrite": True}):
        done = book.take_in(**options)
        assert done.changes.deleted_scenes == {f"{number}:1": change_id}
        assert (done.changes.new_chapters, done.changes.conflicting_scenes) == ([], [])
        assert (done.preview.new_scenes, _numbers_stored(book)) == ([], left)
    StoryUndo(book.stores, book.project_id).undo(change_id)
    assert _numbers_stored(book) == [1, 2, 3, 4, 5]
    assert book.take_in(update=True).changes.deleted_scenes == {}


def test_a_deletion_outlasts_the_list_of_changes(book: Book, monkeypatch: pytest.MonkeyPatch) -> None:
    """While it stands its file stays away and it can be taken back; once taken back it is forgotten as others are."""
    monkeypatch.setattr("runtime.storage.journal.MAX_KEPT_CHANGES", 2)
    scenes, changes = StoryScenes(book.stores, book.project_id), StoryUndo(book.stores, book.project_id)
    change_id = scenes.delete((3, 1)).change_id
    for sentence in ("He left.", "She stayed.", "They met."):
        book.edit(1, text=f"{book.text(1)} {sentence}")
    done = book.take_in(update=True)
    assert (done.changes.deleted_scenes, _numbers_stored(book)) == ({"3:1": change_id}, [1, 2, 4, 5])
    changes.undo(change_id)
    assert _numbers_stored(book) == [1, 2, 3, 4, 5]
    for sentence in ("Rain.", "Snow.", "Fog."):
        book.edit(1, text=f"{book.text(1)} {sentence}")
    with book.stores.database(book.project_id).read() as unit:
        assert change_id not in [change.change_id for change in unit.journal.list_all("scene")]


def test_a_chapter_deleted_here_whose_file_changed_is_asked_for(book: Book) -> None:
    """It stays away as what both changed does, and the update that takes the file's text brings it."""
    StoryScenes(book.stores, book.project_id).delete((3, 1))
    book.change_file(3)
    done = book.take_in(update=True)
    assert (done.changes.conflicting_scenes, done.changes.deleted_scenes) == (["3:1"], {})
    assert _numbers_stored(book) == [1, 2, 4, 5]
    book.take_in(update=True, overwrite=True)
    assert _numbers_stored(book) == [1, 2, 3, 4, 5]
    assert _has(book, 3, IN_FILE)


def test_a_new_chapter_is_none_that_was_deleted(book: Book) -> None:
    """One more file comes in beside the one that stays away."""
    StoryScenes(book.stores, book.project_id).delete((3, 1))
    book.write(6, {"zh": "码头空了。船没有回来。", "en": "The quay was empty. No ship came."}[book.language])
    done = book.take_in(update=True)
    assert (done.changes.new_chapters, list(done.changes.deleted_scenes)) == ([6], ["3:1"])
    assert _numbers_stored(book) == [1, 2, 4, 5, 6]


def test_overwriting_needs_an_update(book: Book) -> None:
    """Without it nothing that is stored changes."""
    book.edit(3)
    book.change_file(3)
    assert not book.take_in(overwrite=True).overwritten
    assert _has(book, 3, HERE)


def test_a_title_and_a_text_are_told_apart(book: Book) -> None:
    """The title that was given here stays with the text that the file brings."""
    book.edit(2, title="Rain 雨")
    book.change_file(2)
    assert book.take_in(update=True).preview.changed_scenes == ["2:1"]
    with book.stores.database(book.project_id).read() as unit:
        assert unit.scenes.require(StoryPosition(2, 1)).title == "Rain 雨"
    assert _has(book, 2, IN_FILE)


def test_a_file_that_follows_the_edit_is_the_same_again(book: Book) -> None:
    """Once the file says what was edited here, its next edit is taken in as any other."""
    book.edit(4)
    text = book.text(4)
    book.write(4, text)
    assert book.take_in().changes.edited_scenes == []
    book.write(4, text.replace(*IN_FILE[book.language]))
    assert book.take_in(update=True).preview.changed_scenes == ["4:1"]
    assert _has(book, 4, HERE)
    assert _has(book, 4, IN_FILE)


def test_a_chapter_of_another_door_is_never_replaced_unasked(book: Book) -> None:
    """No file of it was ever taken in."""
    SceneIngest(book.stores, book.project_id).store_text(
        f"{HEADING[book.language].format(6)}\n\n{HERE[book.language][1] * 9}", at="next"
    )
    book.write(6, SENTENCES[book.language].format(6))
    done = book.take_in(update=True)
    assert (done.changes.conflicting_scenes, done.preview.changed_scenes) == (["6:1"], [])
    assert _has(book, 6, HERE)


@pytest.mark.parametrize("is_edited", [True, False])
def test_a_project_of_an_earlier_version_is_asked_for_where_an_edit_is_known(book: Book, is_edited: bool) -> None:
    """Nobody knows what its files said: the list of changes tells."""
    if is_edited:
        book.edit(2)
    with book.stores.database(book.project_id).write() as unit:
        for scene in unit.scenes.list_as_of():
            unit.scenes.note_file_version(scene.scene_id, None)
    book.change_file(2)
    done = book.take_in(update=True)
    assert done.changes.conflicting_scenes == (["2:1"] if is_edited else [])
    assert (_has(book, 2, HERE), _has(book, 2, IN_FILE)) == (is_edited, not is_edited)


def test_what_the_files_said_goes_along_with_an_export(book: Book, stores: MemoryStores, tmp_path: Path) -> None:
    """A copy keeps its edits as the project does."""
    book.edit(1)
    StoryTransfer(stores, book.project_id).export(tmp_path / "out")
    book.project_id = f"copy-{book.project_id}"
    import_source(stores, tmp_path / "out", project_id=book.project_id, index=False)
    done = book.take_in(update=True)
    assert (done.changes.edited_scenes, done.preview.changed_scenes) == (["1:1"], [])
    assert _has(book, 1, HERE)


def test_an_edited_chapter_alone_is_no_other_story(book: Book) -> None:
    """The project holds that very chapter, whatever part of it changed."""
    book.change_file(2)
    file = book.folder / "chapter_002.txt"
    preview = StoryTransfer(book.stores, book.project_id).preview_import(source=file, update=True)
    assert preview is not None
    assert preview.preview.changed_scenes == ["2:1"]
    assert not is_of_another_story(book.stores, book.project_id, found=preview, update=True)
    file.write_text(HEADING[book.language].format(2) + "\n\nThe sea is wide. Nobody came.\n", encoding="utf-8")
    other = StoryTransfer(book.stores, book.project_id).preview_import(source=file, update=True)
    assert other is not None
    assert is_of_another_story(book.stores, book.project_id, found=other, update=True)


@pytest.mark.parametrize("update", [False, True])
def test_a_chapter_that_says_no_number_stands_after_the_last_one(book: Book, update: bool) -> None:
    """Alone in its file it takes the place of none; the same again is stored already, and an edit of it is its own."""
    text = {
        "zh": "林渡走到灯塔下面。灯塔里没有人。门开着。",
        "en": "Ben went up the tower. Nobody was there. A door stood open.",
    }
    file = book.folder.parent / "draft.txt"
    file.write_text(text[book.language], encoding="utf-8")
    first = book.text(1)
    options = {"project_id": book.project_id, "index": False, "update": update}
    assert import_source(book.stores, file, **options).preview.new_scenes == ["6:1"]
    again = import_source(book.stores, file, **options)
    assert (again.preview.new_scenes, again.preview.same_scenes) == ([], ["6:1"])
    rain = {"zh": "雨。", "en": " Rain."}[book.language]
    file.write_text(text[book.language] + rain, encoding="utf-8")
    assert import_source(book.stores, file, **options).changes.changed_chapters == [6]
    assert (book.text(1), book.text(6).endswith(rain)) == (first, update)


@pytest.mark.parametrize(("name", "place"), [("02.md", "2:1"), ("7.txt", "4:1")])
def test_a_number_alone_names_a_chapters_file(stores: MemoryStores, tmp_path: Path, name: str, place: str) -> None:
    """As it does within a folder."""
    project_id, folder = f"numbered-{next(_numbers)}", tmp_path / "numbered"
    folder.mkdir()
    for number in (1, 2, 3):
        (folder / f"{number:02}.md").write_text(SENTENCES["en"].format(number), encoding="utf-8")
    import_source(stores, folder, project_id=project_id, index=False)
    file = tmp_path / name
    file.write_text("The sea is wide. Nobody came.", encoding="utf-8")
    preview = import_source(stores, file, project_id=project_id, dry_run=True, update=True).preview
    assert [*preview.changed_scenes, *preview.new_scenes] == [place]


@pytest.fixture
def own_folder(book: Book) -> Book:
    """The same with its files as the project's own chapters, taken in by `ingest`."""
    book.project_id, book.folder = (
        f"ingested-{book.project_id}",
        book.stores.paths(f"ingested-{book.project_id}").chapters,
    )
    book.folder.mkdir(parents=True)
    for number in range(1, 6):
        book.write(number, SENTENCES[book.language].format(number))
    _ingest(book)
    return book


def _ingest(book: Book, *files: Path) -> IngestReport:
    return ProjectIngest(book.stores, book.project_id).ingest_project(files=files)


def _replaced(report: IngestReport) -> list[int]:
    return [scene.chapter_index for scene in report.scenes if scene.outcome != "unchanged"]


def test_the_files_of_a_folder_bring_back_nothing_that_was_deleted_here(own_folder: Book) -> None:
    """What stays away is said, one whose file changed too, and the file that is named is taken in."""
    book = own_folder
    for number in (2, 4):
        StoryScenes(book.stores, book.project_id).delete((number, 1))
    book.change_file(4)
    report = _ingest(book)
    assert (_replaced(report), _numbers_stored(book)) == ([], [1, 3, 5])
    warnings = "; ".join(report.warnings)
    assert f"not brought back: 2:1; `novelgen ingest {book.project_id} FILE` brings back" in warnings
    assert "edited both here and in their files, and kept as they are here: 4:1" in warnings
    _ingest(book, book.folder / "chapter_002.txt")
    assert _numbers_stored(book) == [1, 2, 3, 5]
    assert "not brought back" not in "; ".join(_ingest(book).warnings)


@pytest.mark.slow
@pytest.mark.parametrize("is_given", [False, True])
def test_the_files_of_a_folder_replace_nothing_that_was_edited_here(own_folder: Book, is_given: bool) -> None:
    """Neither the project's own nor one that is given; what stays is said, and a changed file is taken in."""
    book = own_folder
    book.edit(1, 3)
    book.edit(2, title="Rain 雨")
    book.change_file(3, 5)
    report = _ingest(book, *([book.folder] if is_given else []))
    assert _replaced(report) == [5]
    assert [_has(book, number, HERE) for number in (1, 3, 5)] == [True, True, False]
    assert [_has(book, number, IN_FILE) for number in (1, 3, 5)] == [False, False, True]
    kept, conflicting = report.warnings
    assert kept.endswith("the files did not change: 1:1, 2:1")
    assert ("both here and in their files" in conflicting, "3:1; " in conflicting) == (True, True)
    with book.stores.database(book.project_id).read() as unit:
        assert unit.scenes.require(StoryPosition(2, 1)).title == "Rain 雨"
    assert _replaced(_ingest(book)) == []


def test_a_file_that_is_named_takes_the_place_and_undo_brings_the_edit_back(own_folder: Book) -> None:
    """It is its author's word, whether it changed or not."""
    book = own_folder
    book.edit(1, 3)
    book.change_file(3)
    report = _ingest(book, book.folder / "chapter_001.txt", book.folder / "chapter_003.txt")
    assert (_replaced(report), report.warnings) == ([1, 3], [])
    assert [_has(book, 1, HERE), _has(book, 3, HERE), _has(book, 3, IN_FILE)] == [False, False, True]
    StoryUndo(book.stores, book.project_id).undo(report.change_id)
    assert [_has(book, 1, HERE), _has(book, 3, HERE), _has(book, 3, IN_FILE)] == [True, True, False]


def test_a_record_of_another_text_is_not_taken_in(own_folder: Book) -> None:
    """What the file's text established is nothing that the stored one says."""
    book = own_folder
    book.edit(3)
    book.change_file(3)
    records = book.stores.paths(book.project_id).records
    records.mkdir()
    for number in (3, 4):
        record = {"chapter_index": number, "scene_index": 1, "summary": ["Lamps 灯"]}
        (records / f"chapter_{number:03}_records.json").write_text(json.dumps([record]), encoding="utf-8")
    report = _ingest(book)
    assert (_replaced(report), report.failures) == ([4], [])
    assert _replaced(_ingest(book, book.folder / "chapter_003.txt")) == [3]


def test_a_named_file_without_a_number_is_the_chapter_that_is_said(own_folder: Book) -> None:
    """In Python, too."""
    book = own_folder
    draft = book.folder.parent / "draft.txt"
    draft.write_text(book.text(2).replace(*IN_FILE[book.language]), encoding="utf-8")
    StoryIngest(book.stores, book.project_id).ingest(draft, chapter_index=2)
    assert (_has(book, 2, IN_FILE), _has(book, 1, IN_FILE)) == (True, False)


def _number_places(book: Book, name: str, *, text: str, **options: Any) -> tuple[list[str], list[str]]:
    """Return the places that a file of that name would change, and would add."""
    file = book.folder.parent / name
    file.write_text(text, encoding="utf-8")
    preview = import_source(book.stores, file, project_id=book.project_id, index=False, update=True, **options).preview
    return preview.changed_scenes, preview.new_scenes


@pytest.mark.parametrize("title", ["", "Rain 雨"])
def test_a_rewritten_file_that_is_a_number_is_its_chapter_though_it_has_no_heading(book: Book, title: str) -> None:
    """Alone; it keeps the heading that the stored one has."""
    if title:
        book.edit(2, title=title)
    rewritten = {"zh": "海很宽。那一夜谁也没有来。", "en": "The sea is wide. Nobody came."}[book.language]
    assert _number_places(book, "02.md", text=rewritten) == (["2:1"], [])
    with book.stores.database(book.project_id).read() as unit:
        stored_scene = unit.scenes.require(StoryPosition(2, 1))
    assert (stored_scene.text, stored_scene.title) == (rewritten, title or HEADING[book.language].format(2))
    assert _number_places(book, "06.md", text=SENTENCES[book.language].format(66)[4:9], dry_run=True) == ([], ["6:1"])


def test_a_number_of_no_chapter_or_of_several_takes_the_place_of_none(book: Book) -> None:
    """A 番外 has no number, and a number that begins again with a volume is the new chapter's."""
    ingest = SceneIngest(book.stores, book.project_id)
    aside = {"zh": "番外 旧信", "en": "Epilogue"}[book.language]
    ingest.store_text(f"{aside}\n\n{SENTENCES[book.language].format(60)}", at="6")
    other_text = {"zh": "海很宽。", "en": "The sea is wide."}[book.language]
    assert _number_places(book, "06.md", text=other_text, dry_run=True) == ([], ["6:1"])
    book.edit(4, title=HEADING[book.language].format(3))
    assert _number_places(book, "03.md", text=other_text, dry_run=True)[0] == []
    book.edit(5, title=HEADING[book.language].format(1))
    assert _number_places(book, "02.md", text=other_text, dry_run=True)[0] == []


def test_a_files_version_is_that_of_its_text_and_title() -> None:
    """Nothing else."""
    assert file_version("a", "b") == file_version("a", "b")
    assert file_version("a", "b") != file_version("a", "c")


def test_further_chapters_that_name_two_entities_are_of_this_story(book: Book, tmp_path: Path) -> None:
    """One name is no sign of it, since other stories have a Nell or a 林渡, too."""
    names = {"zh": ("林渡", "顾晚"), "en": ("Nell Hargrave", "Jory Penrose")}[book.language]
    further = tmp_path / "further"
    further.mkdir()
    heading = HEADING[book.language].format(9)
    (further / "chapter_009.txt").write_text(f"{heading}\n\n{names[0]}. {names[1]}.\n", encoding="utf-8")
    verdicts = []
    for name in names:
        preview = StoryTransfer(book.stores, book.project_id).preview_import(source=further)
        assert preview is not None
        verdicts.append(is_of_another_story(book.stores, book.project_id, found=preview))
        StoryEntities(book.stores, book.project_id).add(name, start="1:1")
    preview = StoryTransfer(book.stores, book.project_id).preview_import(source=further)
    assert preview is not None
    assert verdicts == [True, True]
    assert not is_of_another_story(book.stores, book.project_id, found=preview)
