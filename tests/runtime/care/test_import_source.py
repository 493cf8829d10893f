"""Importing whatever a path is."""

import itertools
import json
import zipfile
from pathlib import Path
from typing import Any

import pytest

from novelgen.errors import InvalidFileError, UnknownProjectError
from novelgen.models.entity import ID_PREFIXES, Entity, EntityType
from novelgen.models.position import StoryPosition
from runtime.care.exporting import export_project
from runtime.care.importing import SourceImport, import_source
from runtime.files.project_files import own_scene_plan
from runtime.ingest.entities import store_entities
from runtime.stores import MemoryStores
from runtime.story.story import Story
from runtime.story.transfer import may_store_twice

_numbers = itertools.count(1)


@pytest.fixture
def project() -> str:
    """Id of a project that is not there yet."""
    return f"imported-{next(_numbers)}"


def _write(file: Path, data: Any) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(data if isinstance(data, str) else json.dumps(data, ensure_ascii=False), "utf-8")


def _import(stores: MemoryStores, source: Path, project: str, **options: Any) -> SourceImport:
    return import_source(stores, source, project_id=project, index=False, **options)


_ENTRY = {
    "chapter_title": "雪夜",
    "timeline_anchor": "冬夜",
    "key_events": ["林冲到山神庙"],
    "character_states": {"林冲": "受冻", "陆谦": "在逃"},
    "unresolved_threads": ["谁放的火？"],
    "summary": "林冲雪夜上山。",
}


def _novel_gen(folder: Path, memory: Any) -> Path:
    _write(folder / "characters.json", {"protagonist": {"name": "林冲", "role": "protagonist", "personality": "隐忍"}})
    chapter = {"chapter_number": 1, "scenes": [{"scene_number": 1, "content": "林冲走进山神庙。", "word_count": 8}]}
    _write(folder / "chapters/chapter_001.json", {**chapter, "chapter_title": "雪夜", "total_words": 8})
    _write(folder / "chapters/chapter_002_plan.json", {"chapter_number": 2, "scenes": []})
    _write(folder / "chapter_memory.json", memory)
    return folder


@pytest.mark.parametrize("is_listed", [True, False])
def test_a_project_of_novel_gen(stores: MemoryStores, project: str, tmp_path: Path, is_listed: bool) -> None:
    """Characters, chapters and chapter memories in either shape; a chapter's memory holds from its end, and a second
    import knows characters by name, threads by their words, scenes by place.
    """
    memory = [{"chapter_number": 1, **_ENTRY}] if is_listed else {"chapters": {"1": _ENTRY}}
    result = _import(stores, _novel_gen(tmp_path, memory), project)
    assert result.preview.new_entities == ["C0"]
    assert result.preview.new_scenes == ["1:1"]
    assert result.copied_files == ["chapter_002_plan.json"]
    assert "陆谦" in result.issues[0].message
    assert stores.paths(project).chapter_plan_file(2).is_file()
    inside, after = StoryPosition(1, 2), StoryPosition(2)
    with stores.database(project).read() as unit:
        assert unit.scenes.require(StoryPosition(1, 1)).participants == ["C0"]
        state = unit.states.snapshots(["C0"], as_of=after)[0].state_data
        assert state["status"] == "受冻"
        assert "status" not in unit.states.snapshots(["C0"], as_of=inside)[0].state_data
        assert [loop.description for loop in unit.threads.list_as_of(as_of=after)] == ["谁放的火？"]
        assert unit.threads.list_as_of(as_of=inside) == []
        notes = [each.chunk.content for each in unit.memories.list_matching() if not each.from_scene]
        assert sorted(notes) == sorted(["林冲雪夜上山。", "林冲到山神庙"])
        assert unit.scenes.require(StoryPosition(1, 1)).story_time == "冬夜"
        before = unit.exchange.contents()
    preview = _import(stores, tmp_path, project).preview
    assert (preview.new_entities, preview.new_scenes, preview.new_memories, preview.new_events) == ([], [], 0, 0)
    assert preview.same_scenes == ["1:1"]
    with stores.database(project).read() as unit:
        assert unit.exchange.contents() == before


def _second_version(folder: Path) -> Path:
    """A project as novel-gen's second version writes it."""
    _write(folder / "characters.json", {"protagonist": {"name": "林冲"}})
    scene = {"location": "山神庙", "characters": ["林冲"], "purpose": "避雪"}
    stamp = {"run_id": "r1", "revision_id": "v1"}
    chapter = {"chapter_id": 1, **stamp, "title": "雪夜", "word_count": 8}
    told = {"scene_id": "1_1", **scene, "content": "林冲走进山神庙。"}
    _write(folder / "chapters/chapter_001.json", {**chapter, "scenes": [told]})
    plan = {"chapter_id": 2, **stamp, "pov": "林冲", "goal": "活过今夜", "must_avoid": ["鲁智深"]}
    planned = {"scene_id": "2_1", **scene, "key_actions": ["推门"]}
    _write(folder / "chapters/chapter_002_plan.json", {**plan, "scenes": [planned]})
    entry = {"chapter_id": 1, "title": "雪夜", "scene_count": 1, "word_count": 8}
    _write(folder / "chapter_memory.json", {"chapters": {"1": entry}})
    return folder


def test_a_project_of_novel_gens_second_version(stores: MemoryStores, project: str, tmp_path: Path) -> None:
    """Its chapters become scenes, its characters, supporting ones too, entities; the cast and place of a scene are what
    it says, whatever its text names, and plans are found by their scenes.
    """
    folder = _second_version(tmp_path)
    people = {
        "protagonist": {"name": "林冲", "traits": ["隐忍"]},
        "supporting": [{"name": "鲁智深"}, {"name": "李小二"}],
        "antagonist": {"name": "陆谦"},
    }
    _write(folder / "characters.json", people)
    scene = {"scene_id": "1_1", "location": "山神庙", "characters": ["林冲", "李小二", "店家"], "content": "他进门。"}
    _write(folder / "chapters/chapter_001.json", {"chapter_id": 1, "title": "雪夜", "scenes": [scene]})
    result = _import(stores, folder, project)
    assert result.preview.new_entities == ["C0", "C1", "C2", "C3", "L0"]
    assert (result.preview.new_scenes, result.copied_files) == (["1:1"], ["chapter_002_plan.json"])
    assert "店家" in result.issues[0].message
    with stores.database(project).read() as unit:
        stored = unit.scenes.require(StoryPosition(1, 1))
        names = {each.entity.entity_id: each.entity.name for each in unit.entities.list_all()}
        before = [each.entity_id for each in unit.entities.list_as_of(as_of=StoryPosition(1, 1))]
    assert [names[each] for each in stored.participants] == ["林冲", "李小二"]
    assert (names[stored.location_id or ""], stored.title) == ("山神庙", "雪夜")
    assert "L0" not in before
    assert _import(stores, folder, project).preview.new_entities == []
    plan, _ = own_scene_plan(stores.paths(project), chapter_index=2, scene_index=1)
    assert (plan.purpose, plan.key_actions) == ("避雪", ["推门"])


def test_relationships_casts_and_places_of_the_first_version(
    stores: MemoryStores, project: str, tmp_path: Path
) -> None:
    """Each side's words about the other hold from the beginning; a chapter's plan says who was on stage."""
    folder = _novel_gen(tmp_path, [{"chapter_number": 1, **_ENTRY}])
    people = {
        "protagonist": {"name": "林冲", "relationships": {"陆谦": "旧友，后来的仇人", "高俅": "仇人"}},
        "antagonist": {"name": "陆谦", "relationships": {"林冲": "要他死"}},
    }
    _write(folder / "characters.json", people)
    plan = {"scene_number": 1, "location": "草料场", "characters": ["陆谦"], "purpose": "避雪", "key_actions": []}
    _write(folder / "chapters/chapter_001_plan.json", {"chapter_number": 1, "chapter_title": "雪夜", "scenes": [plan]})
    result = _import(stores, folder, project)
    assert "高俅" in result.issues[0].message
    with stores.database(project).read() as unit:
        (relation,) = unit.relationships.list_as_of(as_of=StoryPosition(1, 1))
        assert (relation.character_a, relation.character_b) == ("C0", "C1")
        assert (relation.perspective_a, relation.perspective_b) == ("旧友，后来的仇人", "要他死")
        stored = unit.scenes.require(StoryPosition(1, 1))
        assert set(stored.participants) == {"C0", "C1"}
        assert stored.location_id == "L0"
        before = unit.exchange.contents()
    _import(stores, folder, project)
    with stores.database(project).read() as unit:
        assert unit.exchange.contents() == before


@pytest.mark.parametrize(("kinds", "place_id"), [(["item"], "I0"), (["item", "location"], "L0")])
def test_a_plan_lets_a_scene_play_on_a_ship_that_has_its_card(
    stores: MemoryStores, tmp_path: Path, project: str, kinds: list[EntityType], place_id: str
) -> None:
    """No second card of its name is made; a location of the name goes before it."""
    folder = _second_version(tmp_path)
    stores.create_project(project, name="船", language="zh")
    cards = [Entity(entity_id=f"{ID_PREFIXES[kind]}0", entity_type=kind, name="广兴号") for kind in kinds]
    store_entities(stores, project, cards, origin="author")
    scene = {"scene_id": "1_1", "location": "广兴号", "characters": [], "content": "起雾了。"}
    _write(folder / "chapters/chapter_001.json", {"chapter_id": 1, "title": "雾", "scenes": [scene]})
    _import(stores, folder, project)
    with stores.database(project).read() as unit:
        assert unit.scenes.require(StoryPosition(1, 1)).location_id == place_id
        assert [each.entity.name for each in unit.entities.list_all()].count("广兴号") == len(kinds)


def test_what_cannot_be_read_is_refused_before_anything_is_made(
    stores: MemoryStores, project: str, tmp_path: Path
) -> None:
    """A wrong plan's file is named, a wrong memory's field and value, and a path that is none as that."""
    folder = _second_version(tmp_path / "second")
    _write(folder / "chapters/chapter_002_plan.json", {"chapter_id": 2, "scenes": [{"scene_id": "3_1"}]})
    (tmp_path / "nothing").mkdir()
    (tmp_path / "book.pdf").write_bytes(b"x")
    for source, told in (
        (folder, r"chapter_002_plan\.json.*scene_number is missing in .*'scene_id': '3_1'"),
        (_novel_gen(tmp_path / "first", {"chapters": {"one": _ENTRY}}), "chapter_number cannot be 'one'"),
        (tmp_path / "bok.txt", r"bok\.txt' does not exist; check the path"),
        (tmp_path / "nothing", "is neither a folder with"),
        (tmp_path / "book.pdf", "is neither a folder with"),
    ):
        with pytest.raises(InvalidFileError, match=told):
            _import(stores, source, project)
        with pytest.raises(UnknownProjectError, match=project):
            stores.database(project)


def test_a_manuscript_is_previewed_then_imported(stores: MemoryStores, project: str, tmp_path: Path) -> None:
    """The dry run tells the chapters, each scene of one that has several, and makes nothing; the import takes them in.
    Later a changed scene is kept as it is stored, and said; a new one is added.
    """
    file = tmp_path / "book.md"
    file.write_text("The Book\n\n# One\n\nShe came.\n\n## Noon\n\nShe slept well.\n\n# Two\n\nShe left.", "utf-8")
    dry = _import(stores, file, project, dry_run=True)
    assert [(each.chapter_number, each.scenes) for each in dry.chapters] == [(1, 2), (2, 1)]
    cut = [[(one.title, one.words, one.opening) for one in each.cut] for each in dry.chapters]
    assert cut == [[("", 2, "She came."), ("Noon", 3, "She slept well.")], []]
    assert dry.left_out == "The Book"
    assert dry.preview.new_scenes == ["1:1", "1:2", "2:1"]
    with pytest.raises(UnknownProjectError, match=project):
        stores.database(project)
    assert _import(stores, file, project).preview.is_new_project
    with stores.database(project).read() as unit:
        texts = [scene.text for scene in unit.scenes.list_as_of(with_text=True)]
    assert texts == ["She came.", "She slept well.", "She left."]
    file.write_text(file.read_text("utf-8").replace("came", "went") + "\n\n# Three\n\nShe wrote.", "utf-8")
    preview = _import(stores, file, project).preview
    assert (preview.new_scenes, preview.kept_scenes) == (["3:1"], ["1:1"])


def test_only_an_edited_manuscript_may_be_stored_twice(stores: MemoryStores, project: str, tmp_path: Path) -> None:
    """Further chapters, and the same text again, raise no question; a changed text beside new scenes does."""
    file = tmp_path / "book.txt"
    story = Story(stores, project)
    assert story.project.preview_import(source=file) is None
    asked = {}
    for name, text in (
        ("first", "Chapter 1\n\nOne.\n"),
        ("further", "Chapter 1\n\nOne.\n\nChapter 2\n\nTwo. And three, swallowed by it.\n"),
        ("edited", "Chapter 1\n\nOne.\n\nChapter 2\n\nTwo.\n\nChapter 3\n\nAnd three, swallowed by it.\n"),
    ):
        file.write_text(text, "utf-8")
        found = story.project.preview_import(source=file)
        asked[name] = found is not None and may_store_twice(found=found)
        if name != "edited":
            _import(stores, file, project)
    assert asked == {"first": False, "further": False, "edited": True}
    found = story.project.preview_import(source=file, update=True)
    assert found is not None
    assert not may_store_twice(found=found, update=True)


def test_progress_is_told_in_characters(stores: MemoryStores, project: str, tmp_path: Path) -> None:
    """First the text, then its meaning; a repeated import has nothing to tell."""
    file = tmp_path / "book.md"
    _write(file, "第一回 雪\n\n林冲上山。\n\n第二回 火\n\n草场起火，烧了一夜。")
    told: list[tuple[str, int, int]] = []
    result = import_source(
        stores,
        file,
        project_id=project,
        progress=lambda done, total: told.append(("text", done, total)),
        index_progress=lambda done, total: told.append(("meaning", done, total)),
        on_stored=lambda stored: told.append(("stored", stored.scenes, stored.words)),
    )
    assert told == [
        ("text", 0, 15),
        ("text", 5, 15),
        ("text", 15, 15),
        ("stored", 2, 12),
        ("meaning", 0, 15),
        ("meaning", 15, 15),
    ]
    assert (result.indexing.indexed, result.indexing.waiting) == (2, 0)
    told.clear()
    import_source(stores, file, project_id=project, progress=lambda *_: told.append(("text", 0, 0)))
    assert told == []


def _zipped(folder: Path, archive: Path) -> Path:
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as opened:
        for file in sorted(folder.rglob("*")):
            opened.write(file, file.relative_to(folder.parent))
    return archive


def test_a_zip_of_chapters_is_a_book(stores: MemoryStores, project: str, tmp_path: Path) -> None:
    """An archive of chapter files is read as the folder is, with what was left in it."""
    _write(tmp_path / "雪夜" / "第001章 上山.txt", "林冲上山。")
    _write(tmp_path / "雪夜" / "第002章 下山.txt", "林冲下山。")
    _write(tmp_path / "雪夜" / "cover.png", "x")
    result = _import(stores, _zipped(tmp_path / "雪夜", tmp_path / "book.zip"), project)
    assert [(each.chapter_number, each.title) for each in result.chapters] == [(1, "第001章 上山"), (2, "第002章 下山")]
    assert result.passed_over == ["雪夜/cover.png"]
    with stores.database(project).read() as unit:
        assert unit.projects.require().name == "雪夜"


def test_files_whose_names_tell_no_chapter_are_chapters_in_order(
    stores: MemoryStores, project: str, tmp_path: Path
) -> None:
    """Of a zip, or where the files were chosen one by one, names need not tell a chapter; a folder still refuses."""
    _write(tmp_path / "book" / "a morning.txt", "She woke.")
    _write(tmp_path / "book" / "b evening.txt", "She slept.")
    for source, options in (
        (tmp_path / "book", {"every_file": True}),
        (_zipped(tmp_path / "book", tmp_path / "b.zip"), {}),
    ):
        result = _import(stores, source, project, dry_run=True, **options)
        assert [(each.chapter_number, each.title) for each in result.chapters] == [(1, "a morning"), (2, "b evening")]
    with pytest.raises(InvalidFileError, match="check the path"):
        _import(stores, tmp_path / "book", project)


@pytest.mark.slow
def test_a_zip_of_an_export_comes_back(stores: MemoryStores, project: str, tmp_path: Path) -> None:
    """What was exported and packed is imported as it was."""
    _write(tmp_path / "book.md", "# Chapter 1\n\nShe woke.\n\n***\n\nShe ate.\n\n# Chapter 2\n\nShe slept.")
    _import(stores, tmp_path / "book.md", project)
    export_project(stores, project, tmp_path / "export")
    result = _import(stores, _zipped(tmp_path / "export" / "memory", tmp_path / "e.zip"), f"{project}-again")
    assert result.preview.new_scenes == ["1:1", "1:2", "2:1"]
