"""What a scene's names tell: who is on stage, where, and which names occur."""

from typing import Any

from novelgen.models.entity import Entity
from novelgen.models.record import SceneRecord
from runtime.ingest.scene_input import SceneInput, SceneReading, SceneSurroundings, known_in_scene, name_mentions


def _entity(entity_id: str, name: str, **fields: Any) -> Entity:
    types = {"C": "character", "L": "location"}
    return Entity.model_validate({"entity_id": entity_id, "entity_type": types[entity_id[0]], "name": name, **fields})


ENTITIES = [
    _entity("C0", "Mary Grey", aliases=[{"alias": "the stranger"}]),
    _entity("C1", "Tom Hale", first_chapter=3, first_scene=2, aliases=[{"alias": "the stranger"}]),
    _entity("L0", "Baker Street"),
]


def _scene(text: str, record: SceneRecord | None = None) -> SceneInput:
    return SceneInput(chapter_index=2, scene_index=1, text=text, record=record)


def test_presence_comes_from_the_text_without_a_record() -> None:
    """Who acts, at the place named or the one before; with a record its own count, and nobody of later is mentioned."""
    reading = SceneReading(
        _scene('In Baker Street Mary Grey said "Good evening." Mary Grey left.'), SceneSurroundings(ENTITIES)
    )
    assert (reading.participants, reading.location_id) == (["C0"], "L0")
    reading = SceneReading(_scene("Mary Grey said no."), SceneSurroundings(ENTITIES, previous_location_id="L0"))
    assert reading.location_id == "L0"
    record = SceneRecord(chapter_index=2, scene_index=1, characters_present=["C5", "C5"], location_id="L9")
    reading = SceneReading(_scene("Mary Grey said no.", record), SceneSurroundings(ENTITIES))
    assert (reading.participants, reading.location_id) == (["C5"], "L9")
    reading = SceneReading(_scene("Tom Hale and Mary Grey met."), SceneSurroundings(ENTITIES))
    assert [each.entity_id for each in reading.mentions_in("Tom Hale and Mary Grey met.")] == ["C0"]


def test_known_entities_include_the_scene_itself() -> None:
    """An alias counts from its own scene; a shared one is a mention of each bearer, later ones included."""
    late_alias = _entity("C0", "A", aliases=[{"alias": "B", "first_chapter": 5, "first_scene": 1}])
    assert [each.entity_id for each in known_in_scene(ENTITIES, 3, 1)] == ["C0", "L0"]
    assert [each.entity_id for each in known_in_scene(ENTITIES, 3, 2)] == ["C0", "C1", "L0"]
    assert known_in_scene([late_alias], 4, 9)[0].names() == ["A"]
    assert known_in_scene([late_alias], 5, 1)[0].names() == ["A", "B"]
    assert name_mentions("The stranger met Mary Grey.", ENTITIES) == [
        ("C0", "Mary Grey"),
        ("C0", "the stranger"),
        ("C1", "the stranger"),
    ]
    assert name_mentions("", ENTITIES) == []
