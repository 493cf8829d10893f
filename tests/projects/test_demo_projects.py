"""The shipped demo stories hold together: ids, positions, holders and word counts."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from novelgen.models.memory import EVENT_TYPES

PROJECTS = Path(__file__).resolve().parents[2] / "projects"
LANGUAGES = {"demo": "en", "demo-zh": "zh"}
CHAPTERS = range(1, 7)
SHORT_LIMIT_CHARACTERS = 80
AN_ID = re.compile(r"[CLIFT]\d+")
Position = tuple[int, int]
Json = dict[str, Any]


def load(project: str, name: str) -> Json:
    return json.loads((PROJECTS / project / name).read_text(encoding="utf-8"))


def entities(project: str) -> dict[str, Json]:
    return {entity["entity_id"]: entity for entity in load(project, "entities.json")["entities"]}


def records(project: str) -> list[Json]:
    chapters = [load(project, f"records/chapter_{number:03d}_records.json") for number in CHAPTERS]
    return [record for chapter in chapters for record in chapter["records"]]


def scene_texts(project: str) -> dict[Position, str]:
    chapters = [load(project, f"chapters/chapter_{number:03d}.json") for number in CHAPTERS]
    return {
        (chapter["chapter_number"], scene["scene_number"]): scene["content"]
        for chapter in chapters
        for scene in chapter["scenes"]
    }


def position_of(record: Json) -> Position:
    return record["chapter_index"], record["scene_index"]


def memories(project: str) -> list[Json]:
    return [memory for record in records(project) for memory in record["memories"]]


def names_of(entity: Json) -> list[str]:
    return [entity["name"], *entity["aliases"]]


def ids_used(record: Json) -> set[str]:
    """Every entity id a record names, wherever it stands."""
    values = [record["pov_character_id"], record["location_id"], *record["characters_present"]]
    for memory in record["memories"]:
        values += memory["entities"]
        values += [memory["slot_type"].split(".")[0]] if "slot_type" in memory else []
    for change in record["state_changes"]:
        values += [change["entity_id"], change["changes"].get("holder"), change["changes"].get("location_id")]
    for change in record["relationship_changes"]:
        values += [change["character_a"], change["character_b"]]
    for loop in record["open_loops_created"]:
        values += loop["related_characters"] + loop["related_locations"]
    return {value for value in values if value and AN_ID.fullmatch(value)}


def shape(project: str) -> list[tuple[Position, list[str], list[tuple[str, str, str | None]]]]:
    """What both languages must share: positions, people present, and each memory without its words."""
    return [
        (
            position_of(record),
            record["characters_present"],
            [(m["memory_id"], m["event_type"], m.get("supersedes")) for m in record["memories"]],
        )
        for record in records(project)
    ]


@pytest.fixture(params=sorted(LANGUAGES))
def project(request: pytest.FixtureRequest) -> str:
    return request.param


def test_both_languages_tell_the_same_story() -> None:
    """Scenes, people present and memories stand at the same positions under the same ids in both languages."""
    assert shape("demo") == shape("demo-zh")
    assert entities("demo").keys() == entities("demo-zh").keys()


def test_word_counts_are_those_of_the_text(project: str) -> None:
    """English counts words, Chinese counts characters without punctuation, and totals add up."""
    for number in CHAPTERS:
        chapter = load(project, f"chapters/chapter_{number:03d}.json")
        for scene in chapter["scenes"]:
            text = scene["content"]
            words = len(text.split()) if project == "demo" else sum(map(str.isalnum, text))
            assert scene["word_count"] == words
        assert chapter["total_words"] == sum(scene["word_count"] for scene in chapter["scenes"])


def test_ids_exist_and_are_not_used_before_they_enter(project: str) -> None:
    """A record names only entities of entities.json, and none before the scene that brings it in."""
    known = entities(project)
    for record in records(project):
        for entity_id in ids_used(record):
            entity = known[entity_id]
            assert (entity["first_chapter"], entity["first_scene"]) <= position_of(record), entity_id


def test_every_name_and_alias_occurs_in_the_story(project: str) -> None:
    """No name or alias is dead weight: each can be found in some scene, none before its entity enters."""
    texts = scene_texts(project)
    shared = "the Captain" if project == "demo" else "头儿"
    for entity in entities(project).values():
        for name in names_of(entity):
            found = [position for position, text in texts.items() if name.casefold() in text.casefold()]
            assert found, name
            entered = (entity["first_chapter"], entity["first_scene"])
            assert entered <= found[0] or name == shared, name


def test_real_name_of_the_disguised_man_stays_hidden_until_he_gives_it(project: str) -> None:
    """The name that unmasks the knife-grinder is not in the text, nor in characters.json, before 4.2."""
    real = "Aurel Lind" if project == "demo" else "林伯衡"
    told = [position for position, text in scene_texts(project).items() if real in text]
    assert told[0] == (4, 2)
    assert real in entities(project)["C3"]["aliases"]
    assert real not in (PROJECTS / project / "characters.json").read_text(encoding="utf-8")


def test_memories_are_unique_short_and_of_known_types(project: str) -> None:
    """Memory ids are unique, shorts fit, importance is in bounds, event types come from the closed list."""
    all_memories = memories(project)
    ids = [memory["memory_id"] for memory in all_memories]
    assert len(ids) == len(set(ids))
    for memory in all_memories:
        assert 0 < len(memory["short"]) <= SHORT_LIMIT_CHARACTERS, memory["memory_id"]
        assert memory["event_type"] in EVENT_TYPES
        assert 1 <= memory["importance"] <= 10
        assert memory["entities"]


def test_a_slot_is_superseded_by_its_next_value(project: str) -> None:
    """In each slot a memory supersedes exactly the one that held the slot before it."""
    latest: dict[str, str] = {}
    earlier: set[str] = set()
    for memory in memories(project):
        slot = memory.get("slot_type")
        if slot is not None:
            assert memory.get("supersedes") == latest.get(slot), memory["memory_id"]
            latest[slot] = memory["memory_id"]
        elif "supersedes" in memory:
            assert memory["supersedes"] in earlier, memory["memory_id"]
        earlier.add(memory["memory_id"])


def test_loops_are_resolved_once_and_after_they_open(project: str) -> None:
    """Open loop ids are unique; one is resolved at most once, and only once it is open."""
    open_loops: set[str] = set()
    seen: set[str] = set()
    for record in records(project):
        for loop in record["open_loops_created"]:
            assert loop["id"] not in seen
            seen.add(loop["id"])
            open_loops.add(loop["id"])
        for resolution in record["open_loops_resolved"]:
            open_loops.remove(resolution["id"])
    assert open_loops, "the next chapter needs something to pick up"


def test_holders_carry_what_they_hold(project: str) -> None:
    """After every scene an item lies somewhere or is in the inventory of its holder, and of nobody else."""
    item_names = {key: entity["name"] for key, entity in entities(project).items() if key.startswith("I")}
    state: dict[str, Json] = {key: {} for key in entities(project)}
    for record in records(project):
        for change in record["state_changes"]:
            state[change["entity_id"]].update(change["changes"])
        for item_id, item_name in item_names.items():
            carriers = [key for key, values in state.items() if item_name in (values.get("inventory") or [])]
            carried = state[item_id].get("holder") is not None and not state[item_id].get("location_id")
            assert carriers == ([state[item_id]["holder"]] if carried else []), (position_of(record), item_id)
