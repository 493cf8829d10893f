"""Whom a model means, and what it may call new."""

import pytest

from novelgen.models.entity import Entity, EntityAlias
from novelgen.models.state import OpenLoop
from novelgen.reading.known_story import References, meant_thread
from novelgen.reading.model_record import ModelLoopMove, ModelNewEntity
from tests.novelgen.reading.keeper_scene import ENTITIES, TEXT

STRANGERS = [
    Entity(entity_id=f"C{number}", entity_type="character", name=name, aliases=[EntityAlias(alias="the stranger")])
    for number, name in ((5, "Osric"), (6, "Maud"))
]
SHOWN = [entity.entity_id for entity in ENTITIES if entity.entity_id != "L0"]


def references(*present: str) -> References:
    """Return references to everybody; the lighthouse was not shown."""
    return References([*ENTITIES, *STRANGERS], shown_ids=SHOWN, present_ids=present)


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("C1", "C1"),
        ("c1", "C1"),
        (" C1 (Ben)", "C1"),
        ("C1: Ben", "C1"),
        ("Ben", "C1"),
        ("the lamplighter", "C1"),
        ("阿本", "C1"),
        ("the lighthouse", "L0"),
        ("L0", None),
        ("C99", None),
        ("I77", None),
        ("Ben's sister", None),
        ("the stranger", None),
        ("nobody", None),
        ("", None),
    ],
)
def test_ids_count_when_shown_and_names_when_borne(said: str, meant: str | None) -> None:
    """An id that was not shown, an ambiguous name and a phrase around a name mean nobody."""
    assert references().entity_id(said) == meant


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("on the way to L1", "on the way to the lamp room"),
        ("在L1的桌上", "在the lamp room的桌上"),
        ("C1 (Ben)", "C1 (Ben)"),
        ("the box in L0, C99 or XL1", "the box in L0, C99 or XL1"),
    ],
)
def test_running_text_has_names_for_the_ids_that_were_shown(said: str, told: str) -> None:
    """An id alone stays one, and what was not shown is no id."""
    assert references().in_names(said) == told


def test_who_is_present_is_meant() -> None:
    """A name that several bear means the one on stage, and a place is no character."""
    assert references("C6").entity_id("the stranger") == "C6"
    assert references().entity_id("L1", entity_types=["character"]) is None
    assert references().entity_id("the lamp room", entity_types=["location"]) == "L1"


def new(name: str, entity_type: str = "character", **fields: object) -> ModelNewEntity:
    """Return a proposal of the model."""
    return ModelNewEntity.model_validate({"name": name, "entity_type": entity_type, **fields})


def test_new_entities_get_numbered_temporary_ids() -> None:
    """What the scene names and nobody bears is proposed, each once, with all its aliases that the scene holds."""
    proposals = references().propose(
        [
            new("Mr. Thorne", aliases=["Thorne", "the Duke", "Ben", "Mr. Thorne"]),
            new("mr. thorne", aliases=["the Marigold's master", "Thorne"]),
            new("the Marigold", "item"),
        ],
        text=f"{TEXT} Thorne, the Marigold's master.",
        first_number=4,
    )
    assert [(each.temporary_id, each.name, each.aliases) for each in proposals.entities] == [
        ("new-4", "Mr. Thorne", ["Thorne", "the Marigold's master"]),
        ("new-5", "the Marigold", []),
    ]
    assert proposals.refused == []


def test_known_ambiguous_and_invented_names_are_not_new() -> None:
    """Who is known is not proposed; who is ambiguous, absent from the scene or written as an id is refused."""
    text = f"{TEXT} The stranger spoke of C42."
    proposals = references().propose(
        [new("Ben"), new("the lamplighter"), new("the stranger"), new("Napoleon"), new("C42")],
        text=text,
        first_number=1,
    )
    assert proposals.entities == []
    assert proposals.refused == ["Napoleon", "C42"]
    assert proposals.shared == ["the stranger"]


def test_somebody_named_after_a_known_one_is_new() -> None:
    """A longer name that holds a known one, or 高老 of whose name 高老儿的女儿 is a part, is another person."""
    proposals = references().propose([new("Ben Hart's widow")], text="Ben Hart's widow came.", first_number=1)
    assert [each.name for each in proposals.entities] == ["Ben Hart's widow"]
    assert proposed("高老") == (["高老"], {"高老": "new-1"})


def test_the_proposed_are_known_from_then_on() -> None:
    """References that know the proposals resolve their names and temporary ids."""
    proposals = references().propose([new("Mr. Thorne")], text=TEXT, first_number=1)
    wider = references().with_proposals(proposals)
    assert [wider.entity_id(said) for said in ("Thorne", "new-1", "Mr. Thorne", "C1")] == [
        "new-1",
        "new-1",
        "new-1",
        "C1",
    ]


def test_another_one_of_a_kind_is_new_and_meant_by_its_name() -> None:
    """When the model says so; a byname of somebody who is meant by id belongs to another."""
    proposals = references().propose(
        [new("the lamplighter", generic=True)], text="The lamplighter came.", first_number=1
    )
    assert [each.temporary_id for each in proposals.entities] == ["new-1"]
    assert references().with_proposals(proposals).entity_id("the lamplighter") == "new-1"
    assert references().entity_id("the lamplighter") == "C1"
    assert proposed("老和尚", "C20") == (["老和尚"], {"老和尚": "new-1"})
    assert proposed("老和尚") == ([], {"老和尚": "C20"})
    assert proposed("三藏", "C20") == ([], {"三藏": "C20"})


def test_a_name_that_belongs_to_a_known_one_is_its_name() -> None:
    """What the model says is the same as a known entity becomes a name of it, aliases included."""
    proposals = references().propose(
        [new("Captain Storm", aliases=["Storm"], same_as="C1")],
        text="Captain Storm, who was Ben, came.",
        first_number=1,
    )
    assert proposals.entities == []
    assert [(each.entity_id, each.name) for each in proposals.names] == [("C1", "Captain Storm"), ("C1", "Storm")]
    assert references().with_proposals(proposals).entity_id("Captain Storm") == "C1"


def test_what_a_new_name_says_of_known_ones_is_kept() -> None:
    """Its aliases come to the known one; a same_as that nobody bears does not cost the person."""
    proposals = references().propose(
        [new("Ben", aliases=["the Beacon"])], text="Ben, the Beacon of the coast.", first_number=1
    )
    assert [(each.entity_id, each.name) for each in proposals.names] == [("C1", "the Beacon")]
    proposals = references().propose([new("Mr. Thorne", same_as="C99")], text="Mr. Thorne came.", first_number=1)
    assert [each.name for each in proposals.entities] == ["Mr. Thorne"]


PILGRIM = Entity(
    entity_id="C20",
    entity_type="character",
    name="三藏",
    aliases=[EntityAlias(alias=alias) for alias in ("长老", "老和尚")],
)
SMITH = Entity(
    entity_id="C21",
    entity_type="character",
    name="Mordecai Smith",
    aliases=[EntityAlias(alias="the little man with the old hat")],
)
DAUGHTER = Entity(entity_id="C22", entity_type="character", name="高老儿的女儿")


def proposed(name: str, *used: str, text: str = "") -> tuple[list[str], dict[str, str]]:
    """Return the names that become new entities, and whom each name means."""
    known = References([PILGRIM, SMITH, DAUGHTER], shown_ids=["C20", "C21", "C22"])
    new = ModelNewEntity(name=name, entity_type="character", description="somebody")
    found = known.propose([new], text=text or f"{name}来了。", first_number=1, used_ids=used)
    return [each.name for each in found.entities], found.meanings


@pytest.mark.parametrize("name", ["the old man", "Mrs. Smith", "Miss Smith"])
def test_a_description_or_another_title_makes_somebody_new(name: str) -> None:
    """Words of several names put together, and titles of another sex, do not make one person."""
    assert proposed(name, text=f"Then {name} came in.")[0] == [name]


@pytest.mark.parametrize("name", ["Mr. Smith", "Smith"])
def test_a_part_of_a_name_with_a_fitting_title_is_the_known_one(name: str) -> None:
    """A surname alone, or with a title that says nothing else, means its only bearer."""
    assert proposed(name, text=f"Then {name} came in.") == ([], {name: "C21"})


ROOM = Entity(entity_id="L7", entity_type="location", name="the room")


def in_rooms(*, same_as: str = "", name: str = "the room") -> tuple[list[str], dict[str, str]]:
    """Call a room new where one of an earlier scene is known; return the new names and what names mean."""
    known = References([*ENTITIES, ROOM], shown_ids=["L7", "L1"])
    new = ModelNewEntity(name=name, entity_type="location", same_as=same_as)
    found = known.propose([new], text=f"{TEXT} They sat down in {name}.", first_number=1)
    return [each.name for each in found.entities], found.meanings


def test_what_any_place_is_called_is_another_place() -> None:
    """Unless its id says so; words that fit two threads mean none."""
    assert in_rooms() == (["the room"], {"the room": "new-1"})
    assert in_rooms(same_as="L7") == ([], {"the room": "L7"})
    assert in_rooms(name="the lamp room") == ([], {"the lamp room": "L1"})
    twins = [
        OpenLoop(loop_id="OL1", description="Who killed the steward in the tower?"),
        OpenLoop(loop_id="OL2", description="Who killed the steward in the garden tower?"),
    ]
    assert meant_thread("Who killed the steward?", twins) is None


def test_a_room_of_an_earlier_scene_is_meant_by_its_id_alone() -> None:
    """Its name tells nothing, unless the scene itself brought it; among several it is no question of whom it means."""
    known = References([*ENTITIES, ROOM], shown_ids=["L7"])
    assert (known.entity_id("the room"), known.entity_id("L7")) == (None, "L7")
    new = ModelNewEntity(name="the room", entity_type="location")
    found = known.propose([new], text=f"{TEXT} The room was dark.", first_number=1)
    here = known.with_proposals(found)
    assert here.entity_id("the room", entity_types=["location"]) == "new-1"
    assert found.entities[0].generic
    later = References([*ENTITIES, ROOM, ROOM.model_copy(update={"entity_id": "L8"})], shown_ids=[])
    assert later.propose([new], text="The room was dark.", first_number=1).shared == []


THREADS = [
    OpenLoop(loop_id="OL3", description="Will Tom return the lantern to Mary before Friday?"),
    OpenLoop(loop_id="OL12", description="Who broke the window of the chapel?"),
    OpenLoop(loop_id="new-loop-1", description="阿翎为何隐瞒左手的伤？"),
]


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("OL3", "OL3"),
        ("ol12", "OL12"),
        ("OL12 (the window)", "OL12"),
        ("new-loop-1", "new-loop-1"),
        ("Will Tom return the lantern to Mary?", "OL3"),
        ("阿翎为何隐瞒左手的伤", "new-loop-1"),
        ("OL99", None),
        ("Tom and the chapel", None),
        ("", None),
    ],
)
def test_a_thread_is_known_by_its_id_or_its_words(said: str, meant: str | None) -> None:
    """Words count where they are unmistakable; anything else means no thread."""
    assert meant_thread(said, THREADS) == meant


@pytest.mark.parametrize(
    ("word", "outcome"),
    [
        ("already answered", "resolved"),
        ("Resolved", "resolved"),
        ("moot", "abandoned"),
        ("已有答案", "resolved"),
        ("推进", "advanced"),
    ],
)
def test_outcomes_are_taken_in_several_words(word: str, outcome: str) -> None:
    """What a model calls an outcome becomes one of the three that are stored."""
    assert ModelLoopMove.model_validate({"id": "OL1", "outcome": word}).outcome == outcome
