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


ROOM = Entity(entity_id="L7", entity_type="location", name="the room")
OTHERS = [
    Entity(
        entity_id="C20",
        entity_type="character",
        name="三藏",
        aliases=[EntityAlias(alias=alias) for alias in ("长老", "老和尚")],
    ),
    Entity(
        entity_id="C21",
        entity_type="character",
        name="Mordecai Smith",
        aliases=[EntityAlias(alias="the little man with the old hat")],
    ),
    Entity(entity_id="C22", entity_type="character", name="高老儿的女儿"),
    ROOM,
]


@pytest.mark.parametrize(
    ("said", "used", "meant", "names"),
    [
        (new("Ben Hart's widow"), "", "new-1", []),
        (new("高老"), "", "new-1", []),
        (new("the old man"), "", "new-1", []),
        (new("Mrs. Smith"), "", "new-1", []),
        (new("Miss Smith"), "", "new-1", []),
        (new("Mr. Smith"), "", "C21", []),
        (new("Smith"), "", "C21", []),
        (new("the lamplighter"), "", "C1", []),
        (new("the lamplighter", generic=True), "", "new-1", []),
        (new("老和尚"), "", "C20", []),
        (new("老和尚"), "C20", "new-1", []),
        (new("三藏"), "C20", "C20", []),
        (new("Captain Storm", aliases=["Storm"], same_as="C1"), "", "C1", ["Captain Storm", "Storm"]),
        (new("Ben", aliases=["the Beacon"]), "", "C1", ["the Beacon"]),
        (new("Mr. Thorne", same_as="C99"), "", "new-1", []),
        (new("the room", "location"), "", "new-1", []),
        (new("the room", "location", same_as="L7"), "", "L7", ["the room"]),
        (new("the lamp room", "location"), "", "L1", []),
    ],
)
def test_what_is_called_new_is_new_or_a_known_one(
    said: ModelNewEntity, used: str, meant: str, names: list[str]
) -> None:
    """A longer name, other titles, a kind and any place make another one; so does a byname of whom an id means.

    What else a known one is called becomes a name of it; a same_as that nobody bears does not cost the person.
    """
    known = [*ENTITIES, *OTHERS]
    text = f"Then {said.name} came in, {', '.join(said.aliases)}. {said.name}来了。"
    shown = References(known, shown_ids=[each.entity_id for each in known])
    found = shown.propose([said], text=text, first_number=1, used_ids=[used])
    assert found.meanings[said.name] == meant
    assert [each.temporary_id for each in found.entities] == [meant] * meant.startswith("new-")
    assert [(each.entity_id, each.name) for each in found.names] == [(meant, name) for name in names]
    assert shown.with_proposals(found).entity_id(said.name) == meant


def test_words_that_fit_two_threads_mean_none() -> None:
    """Though each would be meant alone."""
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
