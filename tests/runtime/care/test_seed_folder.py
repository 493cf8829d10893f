"""The memory folder of seed 000, as another program writes it: what it says survives import, export and import."""

import json
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from novelgen.models.position import StoryPosition, utc_now
from novelgen.models.record import RecordedRelationshipChange
from runtime.care.exporting import export_project, project_documents
from runtime.care.importing import import_source
from runtime.settings import load_settings
from runtime.storage.transfer import ProjectContents
from runtime.stores import MemoryStores
from runtime.story.entities import StoryEntities
from runtime.story.story import Story

MADE = "2024-11-04T18:50:00+00:00"

CHARACTER = {
    "id": "C0",
    "type": "character",
    "created_at": "2024-11-04T18:50:00Z",
    "updated_at": "2024-11-04T18:50:00Z",
    "name": "Ines Holt",
    "aliases": ["the surveyor"],
    "role": "protagonist",
    "description": "She measures a coast that moves",
    "current_state": {"location_id": "L0", "inventory": ["sextant"], "goals": ["find the shoal"]},
    "history": [
        {
            "tick": 1,
            "scene_id": "S001",
            "changes": {"emotional_state": "wary", "inventory": ["sextant"]},
            "summary": "Found the sextant in a locked drawer",
            "weather": "fog",
        },
        {"tick": 2, "scene_id": "S002", "changes": {}, "summary": "Said nothing of it"},
        {"tick": 7, "scene_id": "S007", "changes": {"mood": "calm"}, "summary": "A scene of another volume"},
    ],
    "metadata": {"pov_count": 9, "last_appeared": "S040", "importance": "primary"},
}
LOCATION = {
    "id": "L0",
    "type": "location",
    "created_at": "2024-11-04T18:50:00Z",
    "updated_at": "2024-11-04T18:50:00Z",
    "name": "the Tide House",
    "history": [{"tick": 1, "scene_id": "S001", "changes": {"tension_level": 4}, "summary": "Broken into"}],
    "metadata": {"scene_count": 2, "last_used": "S003"},
}
LOOPS = {
    "loops": [
        {
            "id": "OL0",
            "type": "open_loop",
            "created_at": "2024-11-04T18:50:00Z",
            "created_in_scene": "S001",
            "status": "open",
            "category": "mystery",
            "description": "Who moved the shoal?",
            "importance": "high",
            "related_characters": ["C0"],
            "notes": "To be answered by the ferryman",
            "colour": "red",
        }
    ]
}
RELATIONSHIPS = {
    "relationships": [
        {
            "id": "R0",
            "type": "relationship",
            "created_at": "2024-11-04T18:50:00Z",
            "updated_at": "2024-11-05T18:50:00Z",
            "character_a": "C0",
            "character_b": "C1",
            "relationship_type": "mentor-student",
            "status": "strained",
            "history": [{"tick": 1, "scene_id": "S001", "event": "They quarrel"}],
            "metadata": {"last_interaction": "S001", "interaction_count": 30, "mood": "cold"},
        }
    ]
}


def _scene(number: int) -> dict[str, Any]:
    return {
        "id": f"S00{number}",
        "type": "scene",
        "created_at": "2024-11-04T18:50:00Z",
        "tick": number,
        "title": f"Tide {number}",
        "pov_character_id": "C0" if number < 3 else "C1",
        "location_id": "L0" if number != 2 else None,
        "markdown_file": f"scene_00{number}.md",
        "word_count": 1247,
        "summary": [f"Ines measures the coast for the {number}. time"],
        "characters_present": ["C0", "C1"] if number == 1 else ["C1"],
        "entities_created": ["C0", "L0"],
        "entities_updated": ["C0"],
        "open_loops_created": ["OL0"] if number == 1 else [],
        "metadata": {"plan_id": "P001", "revision_count": 0},
        "director": "somebody",
    }


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the seed with its counters."""
    root = tmp_path_factory.mktemp("seed")
    documents: dict[str, Any] = {
        "characters/C0.json": CHARACTER,
        "characters/C1.json": {"id": "C1", "type": "character", "name": "Marcus", "created_at": ""},
        "locations/L0.json": LOCATION,
        "open_loops.json": LOOPS,
        "relationships.json": RELATIONSHIPS,
        "counters.json": {"character": 2, "location": 1, "scene": 3, "open_loop": 1, "relationship": 1},
        **{f"scenes/S00{number}.json": _scene(number) for number in (1, 2, 3)},
    }
    for name, data in documents.items():
        file = root / "memory" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(data), "utf-8")
    return root


@pytest.fixture(scope="module")
def told(stores: MemoryStores, folder: Path) -> str:
    """A project that the folder was imported into; nothing is changed in it."""
    assert import_source(stores, folder, project_id="told", index=False).issues == []
    return "told"


def _contents(stores: MemoryStores, project_id: str) -> ProjectContents:
    with stores.database(project_id).read() as unit:
        return unit.exchange.contents()


@pytest.fixture(scope="module")
def documents(stores: MemoryStores, told: str) -> dict[str, Any]:
    """What an export of that project writes: file to document."""
    return project_documents(stores, told)


def test_scenes_keep_the_labels_that_the_folder_gives_them(stores: MemoryStores, told: str) -> None:
    """Seed 000.39: the next is S004; a noted count of the whole book is shown by no earlier read."""
    with stores.database(told).read() as unit:
        scenes = unit.scenes.list_as_of()
    assert [(each.label, each.title) for each in scenes] == [("S001", "Tide 1"), ("S002", "Tide 2"), ("S003", "Tide 3")]
    assert _contents(stores, told).counters["S"] == 4
    (ines, *_) = StoryEntities(stores, told).list(as_of=StoryPosition(1, 2))
    assert ines.profile["metadata"] == {"importance": "primary"}


@pytest.mark.slow
def test_moments_stay_until_something_changes(stores: MemoryStores, folder: Path) -> None:
    """Seed 000.2, 000.12: of characters, places and pairs they come out as they went in; saying what is stored already
    changes nothing, an edit moves the second one.
    """
    import_source(stores, folder, project_id="moments", index=False)
    written = project_documents(stores, "moments")
    for name in ("characters/C0.json", "locations/L0.json"):
        assert (written[name]["created_at"], written[name]["updated_at"]) == (MADE, MADE)
    nameless = written["characters/C1.json"]
    assert nameless["created_at"] == nameless["updated_at"] > MADE
    story = StoryEntities(stores, "moments")
    story.edit(entity_id="C0", changes={"role": "protagonist"})
    assert story.get(entity_id="C0").updated_at.isoformat() == MADE
    before = utc_now()
    story.edit(entity_id="L0", changes={"description": "It stands on piles"})
    story.edit(entity_id="C0", changes={"mood": "calm"})
    with stores.database("moments").write() as unit:
        change = RecordedRelationshipChange(character_a="C1", character_b="C0", status="close")
        unit.relationships.append(change, at=StoryPosition(1, 3))
    for each in (*(story.get(entity_id=name) for name in ("C0", "L0")), *_contents(stores, "moments").pairs):
        assert each.updated_at is not None
        assert (each.created_at.isoformat(), each.updated_at >= before) == (MADE, True)


def test_history_keeps_its_summaries(stores: MemoryStores, told: str, documents: dict[str, Any]) -> None:
    """Seed 000.4: an entry keeps what it says beside its changes, one without changes and one of no scene here too."""
    said = [each for each in documents["characters/C0.json"]["history"] if "summary" in each]
    assert [(each["tick"], each["scene_id"], each["changes"], each["summary"]) for each in said] == [
        (1, "S001", CHARACTER["history"][0]["changes"], "Found the sextant in a locked drawer"),
        (2, "S002", {}, "Said nothing of it"),
        (7, "S007", {"mood": "calm"}, "A scene of another volume"),
    ]
    assert said[0]["weather"] == "fog"
    state = StoryEntities(stores, told).get(entity_id="C0").state
    assert "no_change" not in state.state_data


def test_counts_are_those_of_the_scenes_before_a_position(
    stores: MemoryStores, told: str, documents: dict[str, Any]
) -> None:
    """Seed 000.5: point of view, scenes and the last appearance, as of story time; the author's notes stay beside, in
    the documents, too.
    """
    card = StoryEntities(stores, told).get(entity_id="C0")
    assert card.metadata.pop("named_count") == 0
    assert card.metadata == {"importance": "primary", "pov_count": 2, "scene_count": 2, "last_appeared": "S002"}
    assert card.entity.profile["metadata"] == CHARACTER["metadata"]
    early = StoryEntities(stores, told).get(entity_id="C0", as_of=StoryPosition(1, 2))
    told_early = {"importance": "primary", "named_count": 0, "pov_count": 1, "scene_count": 1, "last_appeared": "S001"}
    assert early.metadata == told_early
    place = StoryEntities(stores, told).get(entity_id="L0", as_of=StoryPosition(1, 3))
    assert place.metadata == {"named_count": 0, "scene_count": 1, "last_used": "S001"}
    nobody = StoryEntities(stores, told).get(entity_id="C1", as_of=StoryPosition(1, 1))
    assert nobody.metadata == {"named_count": 0, "pov_count": 0, "scene_count": 0}
    character = documents["characters/C0.json"]
    assert character["metadata"]["last_appeared"] == "S002"
    assert character["author_metadata"] == {"pov_count": 9, "last_appeared": "S040"}
    assert documents["locations/L0.json"]["metadata"] == {"scene_count": 2, "last_used": "S003"}


def test_scenes_and_threads_keep_what_their_documents_say(documents: dict[str, Any]) -> None:
    """Seed 000.8, 000.10: file, words where there is no text to count, entities, metadata, notes, moment, and unknown
    fields come out as they went in.
    """
    document = documents["scenes/S001.json"]
    kept = ("markdown_file", "word_count", "entities_created", "entities_updated", "metadata", "director")
    assert {name: document[name] for name in kept} == {name: _scene(1)[name] for name in kept}
    assert (document["created_at"], document["open_loops_created"]) == (MADE, ["OL0"])
    (loop,) = documents["open_loops.json"]["loops"]
    assert [loop[name] for name in ("notes", "created_at", "colour")] == ["To be answered by the ferryman", MADE, "red"]


def test_an_interrupted_import_keeps_them_too(stores: MemoryStores, folder: Path) -> None:
    """Seed 000.8: what the documents say comes with the next try where the scenes came with the first."""

    def stop(*_: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        import_source(stores, folder, project_id="again", index=False, progress=stop)
    import_source(stores, folder, project_id="again", index=False)
    written = project_documents(stores, "again")
    files = [f"scene_00{number}.md" for number in (1, 2, 3)]
    assert [written[f"scenes/S00{number}.json"]["markdown_file"] for number in (1, 2, 3)] == files


def test_a_relationship_is_shown_as_it_is_exported(stores: MemoryStores, told: str, documents: dict[str, Any]) -> None:
    """Seed 000.12: moments, notes and counts, the author's beside; an earlier read counts only the scenes before it."""
    (pair,) = documents["relationships.json"]["relationships"]
    assert (pair["created_at"], pair["updated_at"]) == (MADE, "2024-11-05T18:50:00+00:00")
    assert pair["metadata"] == {"mood": "cold", "interaction_count": 2, "last_interaction": "S002"}
    assert pair["author_metadata"] == {"last_interaction": "S001", "interaction_count": 30}
    ends = {name: pair[name] for name in ("character_a", "character_b")}
    shown = Story(stores, told).relationships.get(**ends)
    assert shown.metadata == pair["metadata"]
    assert shown.created_at == datetime.fromisoformat(pair["created_at"])
    assert shown.updated_at == datetime.fromisoformat(pair["updated_at"])
    early = Story(stores, told).relationships.get(**ends, as_of=StoryPosition(1, 2))
    assert early.metadata == {"mood": "cold", "interaction_count": 1, "last_interaction": "S001"}


def test_an_export_of_it_comes_back_whole(stores: MemoryStores, told: str, tmp_path: Path) -> None:
    """Seed 000.38: folder to database to folder to database loses nothing, twice over."""
    export_project(stores, told, tmp_path / "first")
    elsewhere = load_settings(projects_dir=tmp_path / "projects", memory={"embedding_model": "fake:8"})
    with MemoryStores(elsewhere) as others:
        import_source(others, tmp_path / "first", project_id=told, index=False)
        assert _contents(others, told) == _contents(stores, told)
        export_project(others, told, tmp_path / "second")
    first, second = (
        {str(file.relative_to(tmp_path / each)): file.read_text("utf-8") for file in (tmp_path / each).rglob("*.json")}
        for each in ("first", "second")
    )
    assert first == second
