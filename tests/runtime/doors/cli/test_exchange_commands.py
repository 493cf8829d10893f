"""`novelgen init`, `export` and `import`."""

import json
import shlex
from pathlib import Path

import pytest

from runtime.model_providers.embeddings import CheckedEmbeddings
from tests.runtime.doors.cli.conftest import Run
from tests.runtime.doors.cli.small_project import PROJECT


def test_a_new_project_can_be_peopled_before_its_first_scene(run: Run, projects_dir: Path) -> None:
    """Folder, config and memory are there at once; a second time leaves them as they are."""
    run.well("init", "灯塔", "--language", "zh")
    assert (projects_dir / "灯塔" / "config.yaml").is_file()
    assert run("card", "add", "灯塔", "林冲").stdout == "已添加 C0  林冲\n撤销：novelgen undo 灯塔 1\n"
    assert run.json("projects")
    assert len(run.json("init", "灯塔")["kept"]) == 3
    assert [each["name"] for each in run.json("card", "list", "灯塔")["entities"]] == ["林冲"]
    run.refused("new", "灯塔", told="new")


@pytest.mark.parametrize(("project", "already"), [("bay", "already noted as note-N0"), ("灯塔", "已记过，即 note-N0")])
def test_a_repeated_note_says_that_it_is_noted(run: Run, project: str, already: str) -> None:
    """In the story's language, with the id of the one note that is kept."""
    run.well("init", project, "--language", "zh" if project == "灯塔" else "en")
    run.well("note", project, "The bridge is gone.", "--from", "2:1")
    again = run.well("note", project, "The bridge is gone.", "--from", "2:1")
    assert already in again.stdout
    assert "undo" not in again.stdout
    assert len(run.json("memory", "list", project)["memories"]) == 1


def test_a_glossary_and_a_lorebook_are_given_by_path(run: Run, tmp_path: Path) -> None:
    """As `novelgen import` takes its file; `--file` is the same, and one of both is asked for."""
    run.well("init", "bay")
    glossary, lorebook = tmp_path / "terms.csv", tmp_path / "world.json"
    glossary.write_text("src,dst\nheron key,鹭鸶钥匙\n", "utf-8")
    lorebook.write_text(json.dumps({"entries": {"0": {"key": ["tide"], "content": "The tide is late."}}}), "utf-8")
    for command, file in (("glossary", glossary), ("lore", lorebook)):
        run.well(command, "import", "bay", str(file))
        run.well(command, "import", "bay", "--file", str(file))
        run.refused(command, "import", "bay", told=f"novelgen {command} import PROJECT PATH")
        run.refused(command, "import", "bay", str(file), "--file", str(file), told="give the file once")
    assert [entry["text"] for entry in run.json("lore", "list", "bay")["entries"]] == ["The tide is late."]
    assert [entity["name"] for entity in run.json("card", "list", "bay")["entities"]] == ["heron key"]


@pytest.mark.slow
def test_an_export_comes_back_as_another_project(run: Run, ingested: Path, tmp_path: Path, projects_dir: Path) -> None:
    """A dry run makes nothing, the import the same story."""
    out = tmp_path / "out"
    run.well("export", PROJECT, str(out))
    assert (out / "memory/characters/C0.json").is_file()
    dry = run.well("import", str(out), "--project", "copy", "--dry-run")
    assert "Would import" in dry.stdout
    assert not (projects_dir / "copy" / "data").exists()
    done = run.json("import", str(out), "--project", "copy")
    assert done["preview"]["new_scenes"] == ["1:1", "1:2", "2:1", "2:2"]
    assert run("card", "list", "copy", "--json").stdout == run("card", "list", PROJECT, "--json").stdout
    again = run("import", str(out), "--project", "copy")
    assert "already there" in again.stdout
    assert "new scenes" not in again.stdout


@pytest.mark.slow
def test_a_story_is_written_for_its_readers(run: Run, ingested: Path, tmp_path: Path) -> None:
    """A path that ends as a book does gets the text, never over a file that is there."""
    book = tmp_path / "books" / "book.epub"
    run.well("export", PROJECT, str(book))
    again = run.json("import", str(book), "--project", "copy")
    assert again["preview"]["new_scenes"] == ["1:1", "1:2", "2:1", "2:2"]
    assert run("export", PROJECT, str(book)).exit_code == 2


@pytest.mark.slow
def test_a_story_is_not_imported_over_another_one_unasked(run: Run, ingested: Path, tmp_path: Path) -> None:
    """Into a project with another story one is asked, or says --yes; more of the same story needs neither."""
    book, more = tmp_path / "book.md", "\n\n第三回 水\n\n林冲过江。"
    book.write_text("第一回 雪\n\n林冲上山。\n\n第二回 火\n\n草场起火。", "utf-8")
    other = tmp_path / "other.md"
    other.write_text("第七回 风\n\n武松打虎。", "utf-8")
    run.well("import", str(book), "--project", "book")
    run.refused("import", str(other), "--project", "book", told="--yes")
    book.write_text(book.read_text("utf-8") + more, "utf-8")
    run.well("import", str(book), "--project", "book")
    run.well("import", str(other), "--project", "book", "--yes")
    places = [each["scene"]["chapter_index"] for each in run.json("scene", "list", "book")["scenes"]]
    assert places == [1, 2, 3, 7]


def test_a_manuscript_is_shown_split(run: Run, tmp_path: Path) -> None:
    """The dry run lists the chapters and what is left out, in the language of the book."""
    file = tmp_path / "book.md"
    file.write_text("The Book\n\n第一回 雪\n\n林冲上山。\n\n第二回 火\n\n草场起火。", "utf-8")
    shown = run.well("import", str(file), "--project", "book", "--dry-run")
    for part in ("第一回 雪", "草场起火", "第一章之前", "The Book", "1:1、2:1"):
        assert part in shown.stdout


@pytest.mark.slow
def test_the_end_of_an_import_says_what_is_there_and_what_is_next(run: Run, tmp_path: Path) -> None:
    """Counts, what was left out and the next commands, in the story's language; `--json` has all of it."""
    folder = tmp_path / "古灯"
    folder.mkdir()
    for number, text in ((1, "沈砚提灯入山。"), (2, "灯灭了，门外有人。\n求月票！")):
        (folder / f"第00{number}章 灯.txt").write_bytes(text.encode("gbk"))
    told = run.well("import", str(folder), "--project", "古灯")
    for part in ("GB18030", "求月票！", "第2章第 2 行", "现在存有", "2 章", "接下来"):
        assert part in told.stdout
    assert "novelgen serve" in told.stdout
    assert "novelgen extract" not in told.stdout
    assert "novelgen entity candidates 古灯" in told.stdout
    data = run.json("import", str(folder), "--project", "古灯")
    assert data["condition"]["chapters"] == 2
    assert [step["kind"] for step in data["condition"]["next_steps"]][:2] == ["page", "people"]
    assert [each["text"] for each in data["remarks"]] == ["求月票！"]
    kept = run.json("import", str(folder), "--project", "灯二", "--keep-remarks")
    assert kept["remarks"] == []


BOOK = "第一回 雪\n\n林冲上山。\n\n第二回 火\n\n草场起火。"


@pytest.mark.slow
def test_the_text_is_there_before_its_meaning(run: Run, tmp_path: Path) -> None:
    """Text is stored and found by words first; meaning is indexed at once, or left to its own command."""
    file = tmp_path / "book.md"
    file.write_text(BOOK, "utf-8")
    at_once = run.well("import", str(file), "--project", "at-once", "--json")
    assert "stored: 2 chapters, 2 scenes, 8 words; searchable by words" in at_once.stderr
    assert json.loads(at_once.stdout)["indexing"]["waiting"] == 0
    later = run("import", str(file), "--project", "later", "--no-index", "--json")
    assert json.loads(later.stdout)["stored"] == {"chapters": 2, "scenes": 2, "words": 8}
    assert "尚未按语义索引：请运行 `novelgen index later`" in later.stderr
    found = run.well("search", "later", "草场", "--json")
    assert "草场起火。" in found.stdout
    assert "2 memories are found by words and names only" in found.stdout + found.stderr
    indexed = run.well("index", "later", "--json")
    assert json.loads(indexed.stdout)["indexed"] == 2
    assert "已是最新" in run("index", "later").stdout
    assert run("index", "nobody").exit_code == 2


@pytest.mark.slow
def test_an_import_that_is_stopped_while_it_indexes_leaves_a_whole_story(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ctrl-C ends with 130 and the command that goes on; the story can be read, and indexed later."""
    file = tmp_path / "book.md"
    file.write_text(BOOK, "utf-8")

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(CheckedEmbeddings, "embed_documents", interrupted)
        stopped = run("import", str(file), "--project", "book")
    assert stopped.exit_code == 130
    assert "`novelgen index book` goes on with its meaning" in stopped.stderr
    assert len(run.json("scene", "list", "book")["scenes"]) == 2
    assert run.json("index", "book")["waiting"] == 0


@pytest.mark.slow
def test_the_steps_that_an_import_names_can_be_taken(run: Run, tmp_path: Path) -> None:
    """What is to be typed next works as it stands there."""
    book = tmp_path / "book.md"
    book.write_text("# Chapter 1\n\nRain fell.\n", encoding="utf-8")
    imported = run.json("import", str(book), "--project", "rain", "--no-index")
    steps = imported["condition"]["next_steps"]
    assert [each["kind"] for each in steps] == ["page", "people", "index", "context"]
    for step in steps:
        program, *arguments = shlex.split(step["command"])
        assert program == "novelgen"
        run.well(*arguments, *(["--help"] if step["kind"] == "page" else []))


@pytest.mark.slow
def test_an_edited_manuscript_is_taken_in_by_update_alone(run: Run, tmp_path: Path) -> None:
    """Without the option the command names what changed and says which option takes it in."""
    file = tmp_path / "book.txt"
    file.write_text("Chapter 1\n\nShe came.\nIt was late.\n\nChapter 2\n\nShe left.", "utf-8")
    run.well("import", str(file), "--project", "book")
    file.write_text("Chapter 1\n\nShe came.\nIt was early.\n\nChapter 2\n\nShe left.", "utf-8")
    hinted = run("import", str(file), "--project", "book")
    assert "changed chapters  1: 1" in hinted.stdout
    assert "--update" in hinted.stdout
    assert "late" in run("scene", "show", "book", "1:1").stdout
    run.well("import", str(file), "--project", "book", "--update")
    assert "early" in run("scene", "show", "book", "1:1").stdout
    again = run.json("import", str(file), "--project", "book", "--update")
    assert again["changes"]["changed_chapters"] == []


def test_lines_that_look_like_headings_are_shown_and_one_of_them_reads_all(run: Run, tmp_path: Path) -> None:
    """What was not read is listed with its line; `--heading` names the form, and one of no line is refused."""
    file = tmp_path / "book.txt"
    snow = "林海点灯。外面的雪下了一夜。\n\n" * 40
    file.write_text("".join(f"夜·{number} 雪\n\n{snow}" for number in "一二三"), "utf-8")
    shown = run.well("import", str(file), "--project", "book", "--dry-run").stdout
    assert "有 3 行像章节标题" in shown
    assert "1: 夜·一 雪" in shown
    told = run.json("import", str(file), "--project", "book", "--dry-run", "--heading", "夜·一 雪")
    assert [chapter["title"] for chapter in told["chapters"]] == ["夜·一 雪", "夜·二 雪", "夜·三 雪"]
    assert told["unread_headings"] == []
    run.refused("import", str(file), "--project", "book", "--heading", "晨·一", told="晨·一")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("language", "says"),
    [
        ("zh", ("保留这里的：1: 1:1", "这里改过或删去、文件也改过，保留这里的：1: 2:1", "已换成文件里的")),
        (
            "en",
            (
                "did not change: kept: 1: 1:1",
                "edited both here (or deleted) and in the file: 1: 2:1",
                "took their place",
            ),
        ),
    ],
)
def test_an_update_keeps_what_was_edited_here(
    run: Run, tmp_path: Path, language: str, says: tuple[str, str, str]
) -> None:
    """What was edited in the file, too, is named and stays, unless --yes or an answer says otherwise."""
    heading, tail = ("第{}章", "雨下了一夜。") if language == "zh" else ("Chapter {}", "It rained all night.")
    folder = tmp_path / "book"
    folder.mkdir()
    text = "灯灭了。门外有人。{}" if language == "zh" else "The lamp went out. Somebody was outside. {}"
    for number in (1, 2, 3):
        (folder / f"{number}.txt").write_text(f"{heading.format(number)}\n\n{text.format(tail * number)}", "utf-8")
    run.well("import", str(folder), "--project", "book")
    for number in (1, 2):
        here = tmp_path / "here.txt"
        here.write_text(text.format(tail * number) * 2, "utf-8")
        run.well("ingest", "book", str(here), "--as", f"{number}:1", "--replace")
    for number in (2, 3):
        (folder / f"{number}.txt").write_text(f"{heading.format(number)}\n\n{text.format(tail * 9)}", "utf-8")
    update = ("import", str(folder), "--project", "book", "--update")
    refused = run(*update)
    assert refused.exit_code == 1
    assert [part in refused.stdout for part in says] == [True, True, False]
    assert tail * 9 not in run.well("scene", "show", "book", "2:1").stdout
    assert tail * 9 in run.well("scene", "show", "book", "3:1").stdout
    forced = run.well(*update, "--yes")
    assert [part in forced.stdout for part in says] == [True, False, True]
    assert tail * 9 in run.well("scene", "show", "book", "2:1").stdout
    assert text.format(tail) * 2 in run.well("scene", "show", "book", "1:1").stdout


@pytest.mark.parametrize(
    ("language", "says"),
    [
        ("zh", "不再收入：1: 2:1。用 `novelgen undo book {}` 找回"),
        ("en", "did not change: 1: 2:1; not brought back. `novelgen undo book {}`"),
    ],
)
def test_an_update_says_what_was_deleted_here(run: Run, tmp_path: Path, language: str, says: str) -> None:
    """One line names it with the command that brings it back, and that command does."""
    heading, text = (
        ("第{}章", "灯灭了{}。门外有人{}。") if language == "zh" else ("Chapter {}", "Lamp {} went. Ann saw {}.")
    )
    folder = tmp_path / "book"
    folder.mkdir()
    for number in (1, 2, 3):
        (folder / f"{number}.txt").write_text(f"{heading.format(number)}\n\n{text.format(number, number)}", "utf-8")
    run.well("import", str(folder), "--project", "book")
    deleted = run.json("scene", "delete", "book", "2:1", "--yes")
    updated = run.well("import", str(folder), "--project", "book", "--update")
    assert says.format(deleted["change_id"]) in updated.stdout
    run.refused("scene", "show", "book", "2:1", told="2:1")
    run.well("undo", "book", str(deleted["change_id"]))
    assert text.format(2, 2) in run.well("scene", "show", "book", "2:1").stdout
    again = run.well("import", str(folder), "--project", "book", "--update")
    assert says.format(deleted["change_id"]) not in again.stdout


def test_a_chapter_that_ingest_stored_follows_its_file(run: Run, tmp_path: Path) -> None:
    """Its text came from a file as that of an import does: nothing of it was edited here."""
    (tmp_path / "1.txt").write_text("第一回 雪\n\n林冲上山。\n\n雪很大。\n\n他没有回头。", "utf-8")
    run.well("ingest", "book", str(tmp_path / "1.txt"), "--as", "next")
    (tmp_path / "1.txt").write_text("第一回 雪\n\n林冲上山。\n\n雪很大。\n\n他回了头。", "utf-8")
    run.well("import", str(tmp_path / "1.txt"), "--project", "book", "--update")
    assert "他回了头" in run.well("scene", "show", "book", "1:1").stdout


def test_the_question_of_an_import_is_of_one_language(run: Run, tmp_path: Path) -> None:
    """In Chinese no English stands within it."""
    for name, text in (("一.txt", "第一回 雪\n\n林冲上山。"), ("二.txt", "第七回 风\n\n武松打虎。")):
        (tmp_path / name).write_text(text, "utf-8")
    run.well("import", str(tmp_path / "一.txt"), "--project", "b")
    answer = run("import", str(tmp_path / "二.txt"), "--project", "b")
    assert "其中存的是另一个故事" in answer.stderr
    assert "which holds" not in answer.stderr
