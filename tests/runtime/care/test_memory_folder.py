"""A project's memory as a folder of JSON files: out and in without loss."""

import itertools
import json
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, example, given, settings

from novelgen.errors import InvalidFileError, UnknownProjectError, UserInputError
from novelgen.memory.consolidation import ConsolidatedText, consolidated_memory
from novelgen.models.entity import Entity
from novelgen.models.memory import AttachedTo, Attachment
from novelgen.models.position import END_OF_STORY, StoryPosition, utc_now
from runtime.care.exporting import export_project, file_name
from runtime.care.importing import ImportResult, import_source, import_story
from runtime.care.reading import read_memory_folder
from runtime.ingest.entities import store_entities
from runtime.ingest.ingest import ingest_scenes
from runtime.ingest.scene_input import SceneInput
from runtime.settings import load_settings
from runtime.storage.records import Pair
from runtime.storage.transfer import ProjectContents
from runtime.stores import MemoryStores
from runtime.story.story import Story
from tests.runtime.care.exchanged_story import MOVED_TO_ONE_PLACE, STORIES, tell
from tests.runtime.ingest.made_up_story import ENTITIES, recorded_scenes, scene

_numbers = itertools.count(1)


def _opened(folder: Path, database_url: str | None = None) -> MemoryStores:
    memory = {"embedding_model": "fake:32"}
    return MemoryStores(load_settings(projects_dir=folder, memory=memory, database_url=database_url))


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Iterator[MemoryStores]:
    """Where projects are exported."""
    with _opened(tmp_path_factory.mktemp("here")) as stores:
        yield stores


@pytest.fixture(scope="module")
def there(tmp_path_factory: pytest.TempPathFactory, module_database_url: str | None) -> Iterator[MemoryStores]:
    """Where they are imported, on either database."""
    with _opened(tmp_path_factory.mktemp("there"), module_database_url) as stores:
        yield stores


def _contents(stores: MemoryStores, project_id: str) -> ProjectContents:
    with stores.database(project_id).read() as unit:
        return unit.exchange.contents()


def _import(stores: MemoryStores, project_id: str, folder: Path, **options: Any) -> ImportResult:
    story = read_memory_folder(folder, project_id=project_id, now=utc_now())
    return import_story(stores, project_id, story, index=False, **options)


def _files(folder: Path) -> dict[str, str]:
    return {str(file.relative_to(folder)): file.read_text("utf-8") for file in folder.rglob("*.json")}


@pytest.fixture
def told(here: MemoryStores, tmp_path: Path) -> str:
    """A project that lies exported in the test's folder."""
    project_id = _told_project(here)
    export_project(here, project_id, tmp_path)
    return project_id


def _told_project(stores: MemoryStores) -> str:
    project_id = f"told-{next(_numbers)}"
    stores.create_project(project_id, name="The lamp", language="en")
    store_entities(stores, project_id, ENTITIES, origin="author")
    ingest_scenes(stores, project_id, recorded_scenes(), index=False)
    return project_id


@pytest.mark.slow
@settings(
    max_examples=8, deadline=None, phases=[Phase.explicit, Phase.generate], suppress_health_check=[HealthCheck.too_slow]
)
@given(story=STORIES)
@example(story=MOVED_TO_ONE_PLACE)
def test_whatever_the_story_it_comes_back_as_it_was(
    here: MemoryStores, there: MemoryStores, story: dict[str, Any]
) -> None:
    """Export, import elsewhere: the same contents and marks, the same files again; importing twice adds nothing."""
    project_id = f"story-{next(_numbers)}"
    here.create_project(project_id, name="A story", language="zh")
    with here.database(project_id).write() as unit:
        tell(unit, project_id, story)
    with tempfile.TemporaryDirectory() as name:
        first, second = Path(name) / "first", Path(name) / "second"
        export_project(here, project_id, first)
        _import(there, project_id, first)
        assert _contents(there, project_id) == _contents(here, project_id)
        for as_of in (END_OF_STORY, StoryPosition(1, 2)):
            with here.database(project_id).read() as old, there.database(project_id).read() as new:
                assert new.story_version(as_of) == old.story_version(as_of)
        again = _import(there, project_id, first).preview
        assert (again.new_entities, again.new_scenes, again.new_memories, again.new_events) == ([], [], 0, 0)
        assert (again.new_summaries, again.new_consolidations) == (0, 0)
        assert _contents(there, project_id) == _contents(here, project_id)
        export_project(there, project_id, second)
        assert _files(second) == _files(first)


def test_the_files_have_the_documented_shapes(here: MemoryStores, there: MemoryStores, tmp_path: Path) -> None:
    """One file per entity and scene, with the fields of the scheme; views say what history amounts to. A memory that
    is found by words alone, or stands for others, says so as every export before it did; a pair of which no scene says
    anything any more is one all the same.
    """
    project_id = _told_project(here)
    with here.database(project_id).write() as unit:
        sources = [each.chunk for each in unit.memories.list_matching() if each.chunk.content_type == "memory"][:2]
        text = ConsolidatedText(content="Both of it.")
        unit.consolidations.add(consolidated_memory(text, sources, created_at=utc_now()), sources)
        unit.exchange.add_pairs([Pair(relationship_id="R9", character_a="C0", character_b="I0")])
    written = export_project(here, project_id, tmp_path)
    files = {str(file.relative_to(tmp_path / "memory")): json.loads(file.read_text("utf-8")) for file in written}
    listed = "consolidations counters notes open_loops project relationships summaries"
    single = "characters/C0 characters/C1 items/I0 locations/L0 scenes/S001 scenes/S002 scenes/S003"
    assert sorted(files) == sorted(f"{name}.json" for name in (*listed.split(), *single.split()))
    mary = files["characters/C0.json"]
    assert (mary["id"], mary["type"], mary["name"]) == ("C0", "character", "Mary Grey")
    assert mary["current_state"] == {"mood": "mood 21"}
    view = {"character_id": "C1", "relationship_type": "", "status": "status 21", "description": ""}
    assert mary["relationships"][0] == view
    assert {"tick": 1, "scene_id": "S001", "changes": {"mood": "mood 11"}}.items() <= next(
        each.items() for each in mary["history"] if "mood" in each["changes"]
    )
    loop = files["open_loops.json"]["loops"][0]
    assert (loop["id"], loop["status"], loop["created_in_scene"]) == ("OL11", "open", "S001")
    assert (files["counters.json"]["character"], files["counters.json"]["scene"]) == (2, 3)
    memories = {each["content_type"]: each for each in files["scenes/S001.json"]["memories"]}
    assert memories["scene"]["embedding_id"] == "words-only"
    assert memories["memory"]["embedding_id"] == memories["memory"]["chunk_id"]
    assert [each["event_type"] for each in files["consolidations.json"]["consolidations"]] == ["consolidated"]
    assert not {"is_indexed", "is_consolidated", "project_id", "superseded_by"} & memories["scene"].keys()
    _import(there, project_id, tmp_path)
    assert _contents(there, project_id) == _contents(here, project_id)
    before = _files(tmp_path)
    with pytest.raises(UserInputError, match="is not empty"):
        export_project(here, project_id, tmp_path)
    assert _files(tmp_path) == before


def test_a_dry_run_tells_and_stores_nothing(there: MemoryStores, told: str, tmp_path: Path) -> None:
    """Not even the project is created."""
    result = _import(there, told, tmp_path, dry_run=True)
    assert result.dry_run
    assert result.preview.is_new_project
    assert result.preview.new_scenes == ["1:1", "1:2", "2:1"]
    with pytest.raises(UnknownProjectError, match=told):
        there.database(told)


def test_an_import_changes_nothing_that_is_there(here: MemoryStores, there: MemoryStores, tmp_path: Path) -> None:
    """What is stored otherwise is kept, an entity and a scene by name, and so are summaries, parts and notes of what is
    waived; what is missing is added.
    """
    project_id = _told_project(here)
    with here.database(project_id).write() as unit:
        unit.summaries.write("chapter", 1, "Theirs.", chapters=(1, 1), origin="author")
        unit.summaries.write("chapter", 2, "Theirs, too.", chapters=(2, 2), origin="model")
        unit.projects.update(settings={"parts": [{"title": "", "first_chapter": 1, "last_chapter": 9}]})
        unit.projects.set_waived("conflicts", {"X1": "a dream"})
        unit.projects.set_waived("findings", {"K1": "he lies", "K2": ""})
    export_project(here, project_id, tmp_path)
    there.create_project(project_id)
    with there.database(project_id).write() as unit:
        unit.entities.upsert(Entity(entity_id="C0", entity_type="character", name="Mary Grey", description="mine"))
        unit.summaries.write("chapter", 1, "Mine.", chapters=(1, 1), origin="author")
        unit.projects.update(settings={"parts": [{"title": "mine", "first_chapter": 1, "last_chapter": 1}]})
        unit.projects.set_waived("findings", {"K1": "she lies"})
    ingest_scenes(there, project_id, [scene(1, 2, text="Another text.")], index=False)
    preview = _import(there, project_id, tmp_path).preview
    assert (preview.kept_entities, preview.kept_scenes) == (["C0"], ["1:2"])
    assert (preview.new_scenes, preview.new_summaries) == (["1:1", "2:1"], 1)
    with there.database(project_id).read() as unit:
        assert unit.entities.get("C0").entity.description == "mine"
        assert unit.scenes.require(StoryPosition(1, 2)).text == "Another text."
        assert unit.scenes.require(StoryPosition(1, 1)).label == "S002"
    contents = _contents(there, project_id)
    assert [each.text for each in contents.summaries] == ["Mine.", "Theirs, too."]
    assert [part.title for part in contents.parts] == ["mine"]
    assert contents.waivers.conflicts == {"X1": "a dream"}
    assert contents.waivers.findings == {"K1": "she lies", "K2": ""}


def test_ids_that_mean_somebody_else_are_refused(there: MemoryStores, told: str, tmp_path: Path) -> None:
    """Two stories cannot be poured into one project."""
    there.create_project(told)
    with there.database(told).write() as unit:
        unit.entities.upsert(Entity(entity_id="C1", entity_type="character", name="Ahab"))
    with pytest.raises(UserInputError, match=r"mean somebody else in project .*\['C1'\]"):
        _import(there, told, tmp_path)
    assert _contents(there, told).scenes == []


def test_an_interrupted_import_goes_on(here: MemoryStores, there: MemoryStores, told: str, tmp_path: Path) -> None:
    """Each scene is whole or not there; the second run adds the rest."""
    steps: list[int] = []

    def stop(characters: int, _: int) -> None:
        steps.append(characters)
        if len(steps) == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        _import(there, told, tmp_path, progress=stop)
    assert len(_contents(there, told).scenes) == 2
    assert _import(there, told, tmp_path).preview.new_scenes == ["2:1"]
    assert _contents(there, told) == _contents(here, told)


def test_what_a_person_edits_in_the_files_is_taken_over(there: MemoryStores, told: str, tmp_path: Path) -> None:
    """A changed current state or status is the author's word after the last scene, a changed card the card."""
    file = tmp_path / "memory/characters/C0.json"
    mary = json.loads(file.read_text("utf-8"))
    mary["current_state"]["mood"] = "serene"
    mary["personality"] = {"fears": ["water"]}
    file.write_text(json.dumps(mary), "utf-8")
    file = tmp_path / "memory/relationships.json"
    data = json.loads(file.read_text("utf-8"))
    data["relationships"][0]["status"] = "married"
    file.write_text(json.dumps(data), "utf-8")
    _import(there, told, tmp_path)
    with there.database(told).read() as unit:
        before = unit.states.snapshots(["C0"], as_of=StoryPosition(2, 1))[0]
        after = unit.states.snapshots(["C0"])[0]
        relation = unit.relationships.between("C0", "C1")
        stored = unit.entities.get("C0")
    assert (before.state_data["mood"], after.state_data["mood"]) == ("mood 12", "serene")
    assert relation.status == "married"
    assert stored.entity.profile == {"personality": {"fears": ["water"]}}


def test_a_folder_of_another_program_is_read(there: MemoryStores, tmp_path: Path) -> None:
    """The plain scheme: ticks for positions, texts in Markdown files, statuses as arrows, empty states."""
    memory = tmp_path / "memory"
    _write(
        memory / "characters/C0.json",
        {
            "id": "C0",
            "type": "character",
            "name": "Elena Thorne",
            "aliases": ["Elle"],
            "personality": {"core_traits": ["curious"]},
            "current_state": {"location_id": None, "emotional_state": "anxious", "goals": [], "inventory": ["map"]},
            "history": [{"tick": 1, "scene_id": "S001", "changes": {"inventory": ["map"]}, "summary": "x"}],
            "metadata": {"pov_count": 3},
        },
    )
    _write(memory / "characters/C1.json", {"id": "C1", "type": "character", "name": "Marcus"})
    for number, text in ((1, "Elena Thorne found a map."), (2, "Marcus caught her.")):
        told = {"id": f"S00{number}", "tick": number, "title": f"T{number}", "markdown_file": f"scene_00{number}.md"}
        _write(memory / f"scenes/S00{number}.json", {**told, "summary": [text], "characters_present": ["C0"]})
        _write(tmp_path / f"scenes/scene_00{number}.md", text)
    loop = {"id": "OL0", "description": "Where?", "importance": "high", "created_in_scene": "S001", "notes": "n"}
    resolved = {"status": "resolved", "resolved_in_scene": "S002", "resolution_summary": "here"}
    _write(memory / "open_loops.json", {"loops": [{**loop, **resolved}]})
    relation = {
        "id": "R0",
        "character_a": "C1",
        "character_b": "C0",
        "status": "strained",
        "perspective_a": "reckless student",
        "history": [{"tick": 2, "scene_id": "S002", "event": "caught", "status_change": "close -> strained"}],
    }
    _write(memory / "relationships.json", {"relationships": [relation]})
    _write(memory / "counters.json", {"character": 5, "scene": 2, "open_loop": 1})
    project_id = f"foreign-{next(_numbers)}"
    assert _import(there, project_id, tmp_path).issues == []
    with there.database(project_id).read() as unit:
        scenes = unit.scenes.list_as_of(with_text=True)
        early = unit.states.snapshots(["C0"], as_of=StoryPosition(1, 2))[0]
        late = unit.states.snapshots(["C0"])[0]
        loop_then = unit.threads.get("OL0", as_of=StoryPosition(1, 2))
        (relationship,) = unit.relationships.list_as_of()
        (before,) = unit.relationships.list_as_of(as_of=StoryPosition(1, 2))
        stored = unit.entities.get("C0")
    assert [(one.chapter_index, one.scene_index, one.text) for one in scenes] == [
        (1, 1, "Elena Thorne found a map."),
        (1, 2, "Marcus caught her."),
    ]
    assert [one.label for one in scenes] == ["S001", "S002"]
    assert early.state_data["inventory"] == ["map"]
    assert "emotional_state" not in early.state_data
    assert late.state_data["emotional_state"] == "anxious"
    assert loop_then.status == "open"
    assert relationship.seen_by("C1").your_view == "reckless student"
    caught = relationship.history[1]
    assert before.status == "close"
    assert (caught.event, caught.status, caught.scene_index) == ("caught", "strained", 2)
    assert stored.entity.profile == {"personality": {"core_traits": ["curious"]}, "metadata": {"pov_count": 3}}
    with there.database(project_id).write() as unit:
        assert unit.entities.next_id("character") == "C5"
    added = SceneInput(chapter_index=1, scene_index=3, text="Later.")
    ingest_scenes(there, project_id, [added], index=False)
    with there.database(project_id).read() as unit:
        assert unit.scenes.require(StoryPosition(1, 3)).label == "S003"


PART = {"first_chapter": 3, "last_chapter": 1}


@pytest.mark.parametrize(
    ("name", "data", "message"),
    [
        ("characters/C0.json", {"id": "C0", "type": "hero", "name": "A"}, r"C0\.json': type cannot be 'hero'"),
        ("characters/C0.json", {"id": "C0", "type": "character"}, "name is missing"),
        ("scenes/S001.json", {"id": "S001", "tick": -1}, "tick cannot be -1"),
        (
            "relationships.json",
            {"relationships": [{"id": "R0", "character_a": "C0"}]},
            r"\[0\]\.character_b is missing",
        ),
        ("open_loops.json", {"loops": [{"id": "OL0", "status": "lost"}]}, r"loops\[0\]\.status cannot be 'lost'"),
        ("counters.json", {"scene": "three"}, "scene cannot be 'three'"),
        ("counters.json", [1], "must hold an object of counters"),
        ("summaries.json", {"parts": [PART]}, r"summaries\.json.*lies before first_chapter 3"),
        ("summaries.json", {"parts": [PART | {"first_chapter": 1}] * 2}, "no chapter in two of them"),
        ("summaries.json", {"summaries": [{"level": "book"}]}, r"summaries\.json.*level"),
    ],
)
def test_wrong_files_name_file_field_and_value(tmp_path: Path, name: str, data: Any, message: str) -> None:
    """Nothing is guessed; an empty folder is no story."""
    with pytest.raises(InvalidFileError, match="holds no memory folder"):
        read_memory_folder(tmp_path, project_id="x", now=utc_now())
    _write(tmp_path / "memory" / "counters.json", {})
    _write(tmp_path / "memory" / name, data)
    with pytest.raises(InvalidFileError, match=message):
        read_memory_folder(tmp_path, project_id="x", now=utc_now())


@pytest.mark.parametrize("entity_id", ["../../evil", "C:0", "a/b", "漢字", "x" * 400, ".."])
def test_ids_make_safe_file_names(entity_id: str) -> None:
    """No id leads out of its folder or is too long for a file system."""
    name = file_name(entity_id)
    assert "/" not in name
    assert ":" not in name
    assert len(name) <= 205
    assert name.endswith(".json")


def _write(file: Path, data: Any) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(data if isinstance(data, str) else json.dumps(data, ensure_ascii=False), "utf-8")


def test_a_summary_of_scenes_that_are_others_here_is_not_told(
    here: MemoryStores, there: MemoryStores, tmp_path: Path
) -> None:
    """It may give away what lies ahead here; that of a chapter whose scenes are the same is told."""
    project_id = _told_project(here)
    with here.database(project_id).write() as unit:
        for chapter in (1, 2):
            unit.summaries.write("chapter", chapter, f"Of {chapter}.", chapters=(chapter, chapter), origin="author")
    export_project(here, project_id, tmp_path)
    there.create_project(project_id)
    ingest_scenes(there, project_id, [SceneInput(chapter_index=1, scene_index=1, text="Another.")], index=False)
    _import(there, project_id, tmp_path)
    withheld = {each.number: each.is_withheld for each in _contents(there, project_id).summaries}
    assert withheld == {1: True, 2: False}


@pytest.mark.slow
def test_attachments_go_with_their_memories(here: MemoryStores, there: MemoryStores, tmp_path: Path) -> None:
    """Seed 003.2: what was attached by hand, named by a note, and taken off stands there as here."""
    project_id, name = _told_project(here), ENTITIES[0].name
    story = Story(here, project_id)
    note = story.memories.add(
        content=f"{name} is left-handed.", attached_to=[ENTITIES[1].name, "chapter:1", "book"]
    ).note
    story.memories.add(content="It never rains.")
    bare = story.memories.add(content=f"{name} again.").note
    story.memories.edit(memory_id=bare.chunk_id, detach=[name])
    export_project(here, project_id, tmp_path)
    _import(there, project_id, tmp_path / "memory")

    def attached(stores: MemoryStores) -> list[tuple[str, list[AttachedTo], list[Attachment]]]:
        found = Story(stores, project_id).memories.list(limit=None).memories
        ids = [each.chunk.chunk_id for each in found]
        cards = [Story(stores, project_id).memories.get(memory_id=each) for each in ids]
        return [(card.chunk.chunk_id, card.chunk.attached_to, card.attachments) for card in cards]

    assert attached(there) == attached(here)
    (links,) = [links for chunk_id, links, _ in attached(there) if chunk_id == note.chunk_id]
    assert {each.type for each in links} >= {"chapter", "book"}
    (undone,) = [links for chunk_id, links, _ in attached(there) if chunk_id == bare.chunk_id]
    assert [each.id for each in undone] == ["book"]


def test_files_of_the_project_folder_travel_with_the_memory(
    here: MemoryStores, there: MemoryStores, tmp_path: Path
) -> None:
    """Settings, characters, word lists and plans come back; a file of the importing project stays and is named."""
    project_id, other_id = _told_project(here), f"other-{next(_numbers)}"
    texts = {
        "settings.json": '{"genre": "mystery"}',
        "characters.json": "{}",
        "avoid.txt": "suddenly",
        "chapters/chapter_003_plan.json": '{"chapter_number": 3}',
    }
    for name, text in {**texts, "config.yaml": "model: null"}.items():
        file = here.paths(project_id).folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, "utf-8")
    export = Story(here, project_id).project.export(tmp_path / "out")
    assert export.left_out == ["config.yaml"]
    own = there.paths(other_id).folder / "avoid.txt"
    own.parent.mkdir(parents=True)
    own.write_text("very", "utf-8")
    result = import_source(there, tmp_path / "out", project_id=other_id, index=False)
    assert sorted(result.copied_files) == sorted(set(texts) - {"avoid.txt"})
    assert ["avoid.txt" in issue.message for issue in result.issues] == [True]
    taken = {name: (own.parent / name).read_text("utf-8") for name in texts}
    assert taken == {**texts, "avoid.txt": "very"}
    (tmp_path / "packed.zip").write_bytes(Story(here, project_id).project.export_archive())
    packed = import_source(there, tmp_path / "packed.zip", project_id=f"{other_id}-packed", index=False)
    assert sorted(packed.copied_files) == sorted(texts)


@pytest.mark.slow
def test_an_export_replaces_an_earlier_one_only_when_told(here: MemoryStores, told: str, tmp_path: Path) -> None:
    """With force stale files go and others of the folder stay; what is no export is never replaced."""
    stale, own = tmp_path / "memory" / "scenes" / "S9.json", tmp_path / "README.txt"
    stale.write_text("{}", "utf-8")
    own.write_text("mine", "utf-8")
    with pytest.raises(UserInputError, match=r"is not empty.*--force"):
        export_project(here, told, tmp_path)
    written = export_project(here, told, tmp_path, force=True)
    assert not stale.exists()
    assert own.exists()
    assert all(file.is_file() for file in written)
    (tmp_path / "memory" / "project.json").unlink()
    with pytest.raises(UserInputError, match="no export"):
        export_project(here, told, tmp_path, force=True)
