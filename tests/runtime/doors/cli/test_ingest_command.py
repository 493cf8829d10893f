"""`novelgen init`, `ingest`, `import-book` and `since`, and what those that read scenes end with."""

import json
import shutil
from pathlib import Path

import pytest

from novelgen.errors import DatabaseError
from tests.runtime.doors.cli.conftest import Run
from tests.runtime.doors.cli.small_project import CHAPTERS, ENTITIES, PROJECT, RECORDS, write_project
from tests.support.openai_stub import StubCall, openai_stub


def summary(output: str) -> dict[str, str]:
    """Return the summary's lines by their names."""
    return {name: value.strip() for name, _, value in (line.partition(" ") for line in output.splitlines())}


def stored_contents(run: Run) -> list[str]:
    """Return the contents of all memories."""
    listed = run.json("memory", "list", PROJECT, "--limit", "1000")
    return [memory["chunk"]["content"] for memory in listed["memories"]]


def test_init_makes_a_skeleton_that_can_be_ingested(run: Run, projects_dir: Path) -> None:
    """The folder holds settings, characters, config and chapters, and works as it is."""
    result = run("init", "我的小说")
    folder = projects_dir / "我的小说"
    assert result.exit_code == 0
    assert {each.name for each in folder.iterdir()} == {
        "settings.json",
        "characters.json",
        "config.yaml",
        "chapters",
        "data",
    }
    assert json.loads((folder / "settings.json").read_text(encoding="utf-8"))["language"] == "zh"
    taken_in = run.well("ingest", "我的小说")
    assert "中没有章" in taken_in.stderr


@pytest.mark.slow
def test_a_new_project_speaks_the_language_of_its_name_or_text(run: Run, projects_dir: Path) -> None:
    """A Chinese name makes a Chinese story, unless `--language` says otherwise; after a Latin name the text tells."""
    made = run.json("init", "古灯")
    assert made["language"] == "zh"
    assert len(made["made"]) == 3
    assert run.json("init", "古灯二", "--language", "en")["language"] == "en"
    assert run.json("init", "lamp")["language"] == ""
    chapter = projects_dir / "lamp" / "chapters" / "chapter_001.txt"
    chapter.write_text("林凡推开门，灯还亮着。", encoding="utf-8")
    run.well("ingest", "lamp")
    [listed] = [each for each in run.json("projects") if each["project_id"] == "lamp"]
    assert listed["language"] == "zh"


@pytest.mark.slow
def test_a_demo_comes_with_the_program(run: Run, projects_dir: Path) -> None:
    """Where no folder of it is, its files are put there; what is asked of it before names the command."""
    asked = run("context", "demo-zh", "--chapter", "2", "--scene", "1")
    assert "novelgen ingest demo-zh" in asked.stderr
    run.well("ingest", "demo-zh", "--chapter", "1")
    assert run.json("scene", "list", "demo-zh")["scenes"]
    assert not (projects_dir / "demo-zh" / "README.md").exists()


def test_init_never_overwrites(run: Run, projects_dir: Path) -> None:
    """What is there stays; only what lacks is made."""
    folder = projects_dir / "novel"
    folder.mkdir(parents=True)
    (folder / "settings.json").write_text('{"author": "me"}', encoding="utf-8")
    result = run("init", "novel")
    assert (folder / "settings.json").read_text(encoding="utf-8") == '{"author": "me"}'
    assert "kept" in result.stdout
    assert "made" in result.stdout
    assert "made" not in run("init", "novel").stdout


@pytest.mark.slow
def test_ingest_stores_and_sums_up(run: Run, written: Path) -> None:
    """Chapters, records, characters and entities are stored, and the summary counts them."""
    result = run("ingest", PROJECT)
    told = summary(result.stdout)
    assert result.exit_code == 0
    assert told["scenes"] == "4 new, 0 changed, 0 unchanged, 0 failed"
    assert told["entities"] == str(len(ENTITIES))
    assert told["index"] == "up to date"
    assert RECORDS[1][0]["memories"][0]["content"] in stored_contents(run)
    assert "4/4" in result.stderr


@pytest.mark.slow
def test_no_records_leaves_them(run: Run, written: Path) -> None:
    """With --no-records the scenes speak by their text alone."""
    run("ingest", PROJECT, "--no-records")
    assert RECORDS[1][0]["memories"][0]["content"] not in stored_contents(run)


@pytest.mark.slow
def test_a_chapter_that_is_wrong_does_not_stop_the_others(run: Run, written: Path) -> None:
    """The good chapter is stored; the bad one is counted and named with its repair, and the exit code says so, as JSON
    does to programs.
    """
    (written / "chapters" / "chapter_002.json").write_text("{", encoding="utf-8")
    report = json.loads(run("ingest", PROJECT, "--json").stdout)
    assert [each["outcome"] for each in report["scenes"]] == ["added"] * 2
    assert "chapter_002.json" in report["failures"][0]
    result = run("ingest", PROJECT)
    assert result.exit_code == 1
    assert summary(result.stdout)["scenes"] == "0 new, 0 changed, 2 unchanged, 1 failed"
    assert "chapter_002.json' is not JSON" in result.stderr
    assert "correct it and run the same command again" in result.stderr


def test_what_is_asked_for_must_be_there(run: Run, written: Path) -> None:
    """The chapters that there are are named, and --records without any record is a mistake."""
    run.refused("ingest", PROJECT, "--chapter", "9", told="there are: 1, 2")
    shutil.rmtree(written / "records")
    run.refused("ingest", PROJECT, "--records", told="there are no records")
    assert not (written / "data").exists()


def write_book(folder: Path) -> Path:
    """Write the small story as a book's folder."""
    folder.mkdir()
    scenes = [
        {"chapter_index": chapter, "scene_index": place, "title": "", "text": text}
        for chapter, texts in CHAPTERS.items()
        for place, text in enumerate(texts, start=1)
    ]
    records = [record for chapter in RECORDS.values() for record in chapter]
    for name, lines in {"scenes": scenes, "entities": ENTITIES, "records": records}.items():
        (folder / f"{name}.jsonl").write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    (folder / "meta.json").write_text('{"title": "The Lighthouse", "language": "en"}', encoding="utf-8")
    return folder


@pytest.mark.slow
def test_import_book_creates_a_project_and_keeps_ids(run: Run, tmp_path: Path) -> None:
    """With --records entities and memories come under the book's own ids; again changes nothing."""
    book = write_book(tmp_path / "book")
    result = run.well("import-book", str(book), "--project", PROJECT, "--records")
    assert summary(result.stdout)["scenes"].startswith("4 new")
    run.well("memory", "show", PROJECT, "M003", "--json")
    again = run("import-book", str(book), "--project", PROJECT, "--records")
    assert "4 unchanged" in again.stdout


@pytest.mark.slow
def test_import_book_says_what_was_not_consolidated(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The book is stored, and the failure is told on the error stream."""

    def fail(*_: object, **__: object) -> None:
        raise DatabaseError("the disk is gone")

    monkeypatch.setenv("NOVELGEN_MEMORY__CONSOLIDATION__MAX_MEMORIES_PER_ENTITY", "1")
    monkeypatch.setattr("runtime.ingest.consolidation.consolidate_project", fail)
    result = run("import-book", str(write_book(tmp_path / "book")), "--project", "book")
    assert (result.exit_code, summary(result.stdout)["scenes"][:5]) == (0, "4 new")
    assert "memories were not consolidated: the disk is gone" in " ".join(result.stderr.split())


@pytest.mark.slow
def test_many_chapters_in_one_file_are_split(run: Run, projects_dir: Path) -> None:
    """Thirty chapters in chapter_001.txt are thirty, with volumes; words to readers are left out and listed."""
    run("init", "古灯")
    chapters = [f"第{number}章 灯{number}\n\n这是第{number}个故事。\n求月票！\n" for number in range(1, 31)]
    text = "第一卷 山\n\n" + "".join(chapters[:20]) + "第二卷 水\n\n" + "".join(chapters[20:])
    file = projects_dir / "古灯" / "chapters" / "chapter_001.txt"
    file.write_text(text, encoding="utf-8")
    told = run.well("ingest", "古灯")
    assert "30 章" in told.stdout
    assert "另有 18 项" in told.stdout
    listed = run.json("scene", "list", "古灯")["scenes"]
    assert [(each["scene"]["chapter_index"], each["scene"]["title"]) for each in listed][-1] == (30, "第30章 灯30")
    assert {each["part"] for each in listed} == {"第一卷 山", "第二卷 水"}
    again = run.json("ingest", "古灯")
    assert {each["outcome"] for each in again["scenes"]} == {"unchanged"}
    assert {each["part"] for each in run.json("scene", "list", "古灯")["scenes"]} == {"第一卷 山", "第二卷 水"}
    file.with_name("chapter_002.txt").write_text("又一章。", encoding="utf-8")
    clash = run("ingest", "古灯")
    assert clash.exit_code != 0
    assert "都是第2章" in clash.stderr


@pytest.mark.slow
def test_ingest_reads_what_novel_gen_remembered(run: Run, written: Path) -> None:
    """chapter_memory.json in the project's folder is taken in once, its anchor in time as no memory."""
    entry = {
        "chapter_number": 1,
        "timeline_anchor": "T+3",
        "unresolved_threads": ["Who saw Ada?"],
        "key_events": ["Ada hides the key."],
        "character_states": {"Ada": "afraid"},
        "summary": "",
    }
    (written / "chapter_memory.json").write_text(json.dumps([entry]), encoding="utf-8")
    for _ in range(2):
        run.well("ingest", PROJECT)
        contents = stored_contents(run)
        assert contents.count("Ada hides the key.") == 1
        assert "T+3" not in contents
        threads = run.json("thread", "list", PROJECT)["threads"]
        assert [each["description"] for each in threads].count("Who saw Ada?") == 1
    (written / "chapter_memory.json").write_text('[{"chapter_number": "one"}]', encoding="utf-8")
    wrong = run("ingest", PROJECT)
    assert wrong.exit_code != 0
    assert "chapter_number" in wrong.stderr


@pytest.mark.parametrize("missing", ["folder", "scenes"])
def test_import_book_creates_nothing_for_a_wrong_folder(
    run: Run, tmp_path: Path, projects_dir: Path, missing: str
) -> None:
    """A folder or file that is missing is named before a project is created."""
    if missing == "scenes":
        (tmp_path / "book").mkdir()
    run.refused("import-book", str(tmp_path / "book"), "--project", PROJECT, told="scenes.jsonl")
    assert not projects_dir.exists()


SOLD = "Ben sold the brass key to the harbour master for two loaves of bread."


def test_since_tells_the_last_scene(run: Run, ingested: Path) -> None:
    """Without options the last stored one, nobody by an id; a stretch without scenes says so."""
    lines = run("since", PROJECT).stdout.splitlines()
    assert lines[0] == "What scene 2:2 changed:"
    assert f"  - {SOLD}" in lines
    assert "  - Cornelius now holds the brass key" in lines
    assert not any("C2" in line for line in lines)
    assert run("since", PROJECT, "--from", "9").stdout.strip() == "no scene is stored there"


@pytest.mark.slow
def test_ingest_ends_with_what_the_last_scene_changed(run: Run, written: Path) -> None:
    """Of several chapters the last scene, with totals; a second run takes nothing in and tells nothing."""
    first = run("ingest", PROJECT).stdout
    assert "What scene 2:2 changed:" in first
    assert "  - The harbour master has the key" in first
    assert "  Changed hands: Cornelius now holds the brass key" in first
    assert "  All 4 scenes taken in: " in first
    assert "changed:" not in run("ingest", PROJECT).stdout


@pytest.mark.slow
def test_json_has_the_changes_and_the_flag_leaves_them_out(run: Run, written: Path) -> None:
    """`changes` stands in the report, and is absent where it was not wanted or there are none."""
    report = run.json("ingest", PROJECT, "--chapter", "1")
    assert (report["changes"]["first"], report["changes"]["last"]) == ([1, 1], [1, 2])
    assert "totals" not in report["changes"]
    assert "changes" not in run.json("ingest", PROJECT, "--no-changes")
    assert "changes" not in run.json("ingest", PROJECT)


@pytest.mark.slow
def test_extract_ends_with_what_the_scenes_changed(
    run: Run, projects_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of the scenes that were read, in the report too; `--no-changes` leaves it out."""
    write_project(projects_dir, records=False)
    assert "  stored as text alone, so that nobody said what they changed: 2:2" in run("ingest", PROJECT).stdout
    monkeypatch.setenv("NOVELGEN_MODEL", "openai:stub")
    monkeypatch.setenv("NOVELGEN_MEMORY__SUMMARIZATION__RECONCILE_CHAPTERS", "false")

    def answer(call: StubCall) -> None:
        scene = call.payload["messages"][1]["content"].split("===== the text =====\n")[1]
        memory = {"content": "Something is known.", "entities": ["Ada"], "evidence": scene[:30]}
        call.say(json.dumps({"summary": ["Something happens."], "memories": [memory]}))

    with openai_stub(answer) as stub:
        monkeypatch.setenv("NOVELGEN_MODEL_BASE_URL", stub.base_url)
        told = run("extract", PROJECT, "--scene", "1:1")
        report = run.json("extract", PROJECT, "--scene", "1:2")
        silent = run("extract", PROJECT, "--chapter", "2", "--no-changes")
    assert "What scene 1:1 changed:" in told.stdout
    assert "  - Something is known." in told.stdout
    assert report["changes"]["last"] == [1, 2]
    assert "What" not in silent.stdout.replace("What to do next", "")


@pytest.mark.slow
def test_one_text_is_stored_with_its_place_and_cast(run: Run, ingested: Path) -> None:
    """With `--as` alone; a name without a card is refused with the command that makes it."""
    text = ingested / "scene.txt"
    text.write_text("The rain had stopped.", encoding="utf-8")
    cards = {each["entity_type"]: each["name"] for each in run.json("card", "list", PROJECT)["entities"]}
    stated = ["--location", cards["location"], "--cast", cards["character"]]
    assert "--location goes with --as PLACE" in run("ingest", PROJECT, *stated).stderr
    refused = run("ingest", PROJECT, str(text), "--as", "9:1", "--cast", "Nobody")
    assert (refused.exit_code, "card add" in refused.stderr) == (2, True)
    run.well("ingest", PROJECT, str(text), "--as", "9:1", *stated)
    scene = run.json("scene", "show", PROJECT, "9:1")["scene"]
    assert scene["staged"].keys() == {"location_id", "participants"}


@pytest.mark.slow
@pytest.mark.parametrize(("language", "ship", "row"), [("en", "the Kestrel", "location"), ("zh", "广兴号", "地点")])
def test_a_ship_is_shown_as_the_place_of_a_scene(run: Run, language: str, ship: str, row: str) -> None:
    """In the scene, on the timeline and in the next scene's context; an unknown place is told as before."""
    run.well("init", "sea", "--language", language)
    run.well("card", "add", "sea", ship, "--kind", "item", "--from", "1:1")
    run.well("ingest", "sea", "-", "--as", "1:1", "--location", ship, answer="起雾了。")
    run.refused("scene", "set", "sea", "1:1", "--at", "Nowhere", told='card add sea "Nowhere" --kind location`')
    assert f"{row} {ship}" in run.done("scene", "show", "sea", "1:1")
    assert ship in run.done("timeline", "sea")
    assert f"[1:1] {ship}" in run.done("context", "sea", "--chapter", "1", "--scene", "2", "--purpose", "…")
    assert run.json("card", "show", "sea", ship)["metadata"]["last_appeared"]


@pytest.mark.parametrize(
    ("heading", "text"),
    [("第{0}章", "沈砚秋走进潮音厅，这是第{0}天。"), ("Chapter {0}", "Ada walked into hall {0}. It rained.")],
)
def test_a_file_without_a_number_goes_where_chapter_says(run: Run, tmp_path: Path, heading: str, text: str) -> None:
    """As `--as` does; another text of that chapter stays until it is said."""
    run.well("init", "book")
    draft = tmp_path / "draft.txt"
    for number in (1, 2, 3):
        draft.write_text(f"{heading.format(number)}\n\n{text.format(number)}\n", encoding="utf-8")
        run.well("ingest", "book", str(draft), "--chapter", str(number))
    shown = run.json("scene", "show", "book", "3:1")["scene"]
    assert (shown["title"], shown["text"]) == (heading.format(3), text.format(3))
    draft.write_text("The sea is wide. 海很宽。", encoding="utf-8")
    refused = run("ingest", "book", str(draft), "--chapter", "2")
    assert (refused.exit_code, "--replace" in refused.stderr) == (2, True)
    preview = run.well("ingest", "book", str(draft), "--chapter", "2", "--dry-run").stdout
    assert "--replace" in preview
    assert "--replace" not in run.well("ingest", "book", str(draft), "--chapter", "2", "--dry-run", "--replace").stdout
    run.well("ingest", "book", str(draft), "--chapter", "2", "--replace")
    assert run.json("scene", "show", "book", "2:1")["scene"]["text"] == "The sea is wide. 海很宽。"
    assert run.json("scene", "show", "book", "1:1")["scene"]["text"] == text.format(1)
    nowhere = run("ingest", "book", str(draft)).stderr
    assert ("--chapter 3" in nowhere, "--as next" in nowhere) == (True, True)


@pytest.mark.parametrize(
    ("heading", "notice"), [("第{0}章", "标题写的是第 6 章"), ("Chapter {0}", "its heading says 6, and it stands as")]
)
def test_a_heading_of_another_number_than_its_place_is_said(
    run: Run, tmp_path: Path, heading: str, notice: str
) -> None:
    """With the command that moves it; what follows such a chapter is where it belongs."""
    run.well("init", "book")
    draft = tmp_path / "draft.txt"
    text = {"第": "沈砚秋走进潮音厅，这是第{0}天。", "C": "Ada walked into hall {0}. It rained."}[heading[0]]
    answers = {}
    for number in (1, 2, 6, 7):
        draft.write_text(f"{heading.format(number)}\n\n{text.format(number)}\n", encoding="utf-8")
        answers[number] = run.well("ingest", "book", str(draft), "--as", "next").stdout
    assert [number for number, answer in answers.items() if "scene move" in answer] == [6]
    assert (notice in answers[6], "novelgen scene move book 3 6" in answers[6]) == (True, True)
    run.well("scene", "move", "book", "3", "6")
