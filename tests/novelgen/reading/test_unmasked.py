"""What a prompt tells of somebody whose mask has fallen."""

from novelgen.models.entity import Entity
from novelgen.models.state import EntityStateSnapshot, OpenLoop, Relationship
from novelgen.reading.known_story import SceneSoFar
from novelgen.reading.prompt_lists import chosen_lists
from novelgen.reading.request import EntitySighting, SceneBefore, SceneRecordRequest, in_shown_ids
from tests.novelgen.reading.keeper_scene import ENTITIES, request
from tests.support.stories import NOW, PROJECT

MASK = "C10"


def state(entity_id: str, scene: int, **data: object) -> EntityStateSnapshot:
    """Return a state that last changed in a scene of chapter 1."""
    return EntityStateSnapshot(
        project_id=PROJECT,
        entity_type="character",
        entity_id=entity_id,
        chapter_index=1,
        scene_index=scene,
        timestamp=NOW,
        state_data=data,
    )


def pair(one: str, other: str, scene: int, **said: str) -> Relationship:
    """Return how two stand since a scene of chapter 1."""
    return Relationship(
        relationship_id=f"R{scene}", character_a=one, character_b=other, chapter_index=1, scene_index=scene, **said
    )


def masked(**fields: object) -> SceneRecordRequest:
    """Return a scene on entering which the ferryman C10 is known to have been Ben, C1."""
    return in_shown_ids(
        request(**{"stand_ins": {MASK: "C1"}, "states": [], "relationships": [], "open_loops": [], **fields})
    )


def test_no_line_speaks_of_the_mask() -> None:
    """States, pairs, threads, scenes and holders that were told of the mask are told of who wore it."""
    key = EntityStateSnapshot(
        project_id=PROJECT, entity_type="item", entity_id="I0", timestamp=NOW, state_data={"holder": MASK}
    )
    story = masked(
        states=[state(MASK, 1, goals=["cross at night"]), key],
        relationships=[pair("C0", MASK, 1, relationship_type="passenger and ferryman")],
        open_loops=[OpenLoop(loop_id="OL1", description="Who rows at night?", related_entities=[MASK])],
        scenes_before=[SceneBefore(chapter_index=1, scene_index=1, characters_present=["C0", MASK])],
        present_ids=["C0", MASK],
        sightings={MASK: EntitySighting(chapter_index=1, scene_index=1)},
    )
    texts = chosen_lists("Ada and Ben met.", SceneSoFar.on_entering(story), language="en").texts
    assert MASK not in "\n".join(texts.values())
    assert "C1 | @1:1 | goals: [cross at night]; holds: [I0]" in texts["states"]
    assert texts["relationships"].startswith("C0 C1 | passenger and ferryman")
    assert "OL1 | medium | C1 | Who rows at night?" in texts["threads"]
    assert texts["scenes"] == "1:1 | C0, C1"


def test_of_two_states_the_later_holds_and_lists_are_joined() -> None:
    """What the mask pursued is pursued still; where it was seen last is where its wearer is."""
    [joined] = masked(
        states=[
            state(MASK, 5, location_id="L1", goals=["cross at night"]),
            state("C1", 2, location_id="L0", goals=["keep the light"], status="missing"),
        ]
    ).states
    assert joined.entity_id == "C1"
    assert joined.state_data == {
        "location_id": "L1",
        "goals": ["keep the light", "cross at night"],
        "status": "missing",
    }


def test_a_list_that_changed_since_stands_alone() -> None:
    """A goal that was met does not come back with the mask's; without masks a story is given as it is."""
    [joined] = masked(
        states=[state(MASK, 2, goals=["cross at night", "hide"], disguise="a ferryman"), state("C1", 5, goals=["hide"])]
    ).states
    assert joined.state_data == {"goals": ["hide"], "disguise": "a ferryman"}
    story = request(entities=[*ENTITIES, Entity(entity_id=MASK, entity_type="character", name="Osric")])
    assert in_shown_ids(story) is story


def test_a_pair_is_one_in_order_and_nobody_stands_to_themselves() -> None:
    """The later standing holds with its sides the right way round; mask and wearer are no pair."""
    pairs = masked(
        relationships=[
            pair("C1", MASK, 4),
            pair("C0", "C1", 2, perspective_a="a friend"),
            pair(MASK, "C11", 3, relationship_type="killer and victim", perspective_a="hates"),
        ],
        stand_ins={MASK: "C1", "C11": "C0"},
    ).relationships
    [one] = pairs
    assert (one.character_a, one.character_b, one.relationship_type) == ("C0", "C1", "victim and killer")
    assert (one.perspective_a, one.perspective_b) == ("", "hates")


def test_masks_over_masks_end_with_whoever_is_shown() -> None:
    """A merged entity of a mask stands for the wearer; a ring of stand-ins names nobody for themselves."""
    story = masked(stand_ins={"C12": MASK, MASK: "C1"}, present_ids=["C12", "C1"])
    assert (story.present_ids, story.stand_ins) == (["C1"], {"C12": "C1", MASK: "C1"})
    assert masked(stand_ins={"C12": "C12"}, present_ids=["C12"]).present_ids == ["C12"]
