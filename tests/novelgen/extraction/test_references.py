"""Whom a model means, and what it may call new."""

from __future__ import annotations

import pytest

from novelgen.extraction.known_story import References
from novelgen.extraction.model_record import ModelNewEntity
from novelgen.models.entity import Entity, EntityAlias
from tests.novelgen.extraction.keeper_scene import ENTITIES, TEXT

STRANGERS = [
    Entity(
        entity_id=f"C{number}",
        entity_type="character",
        name=name,
        aliases=[EntityAlias(alias="the stranger")],
    )
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


def test_who_is_present_is_meant() -> None:
    """A name that several bear means the one on stage."""
    assert references("C6").entity_id("the stranger") == "C6"


def test_a_place_is_no_character() -> None:
    """Where a character is wanted, something else is not meant."""
    assert references().entity_id("L1", entity_types=["character"]) is None
    assert references().entity_id("the lamp room", entity_types=["location"]) == "L1"


def new(name: str, entity_type: str = "character", **fields: object) -> ModelNewEntity:
    """Return a proposal of the model."""
    return ModelNewEntity.model_validate({"name": name, "entity_type": entity_type, **fields})


def test_new_entities_get_numbered_temporary_ids() -> None:
    """What the scene names and nobody bears is proposed, each once, with the aliases that the scene holds."""
    proposals = references().propose(
        [
            new("Mr. Thorne", aliases=["Thorne", "the Duke", "Ben", "Mr. Thorne"]),
            new("mr. thorne"),
            new("the Marigold", "item"),
        ],
        text=f"{TEXT} Thorne, the Marigold.",
        first_number=4,
    )
    assert [(each.temporary_id, each.name, each.aliases) for each in proposals.entities] == [
        ("new-4", "Mr. Thorne", ["Thorne"]),
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
    """A longer name that holds a known one is another person."""
    proposals = references().propose([new("Ben Hart's widow")], text="Ben Hart's widow came.", first_number=1)
    assert [each.name for each in proposals.entities] == ["Ben Hart's widow"]


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
    """A generic name that a known one bears is another one when the model says so, in this answer alone."""
    proposals = references().propose(
        [new("the lamplighter", generic=True)], text="The lamplighter came.", first_number=1
    )
    assert [each.temporary_id for each in proposals.entities] == ["new-1"]
    assert references().with_proposals(proposals).entity_id("the lamplighter") == "new-1"
    assert references().entity_id("the lamplighter") == "C1"


def test_a_name_that_belongs_to_a_known_one_is_its_name() -> None:
    """What the model says is the same as a known entity becomes a name of it, aliases included."""
    proposals = references().propose(
        [new("Captain Storm", aliases=["Storm"], same_as="C1")],
        text="Captain Storm, who was Ben, came.",
        first_number=1,
    )
    assert proposals.entities == []
    assert [(each.entity_id, each.name) for each in proposals.names] == [
        ("C1", "Captain Storm"),
        ("C1", "Storm"),
    ]
    assert references().with_proposals(proposals).entity_id("Captain Storm") == "C1"


def test_aliases_given_with_a_known_name_are_kept() -> None:
    """A known name in new_entities brings its other names to the known one."""
    proposals = references().propose(
        [new("Ben", aliases=["the Beacon"])], text="Ben, the Beacon of the coast.", first_number=1
    )
    assert [(each.entity_id, each.name) for each in proposals.names] == [("C1", "the Beacon")]


def test_an_unknown_same_as_leaves_the_name_new() -> None:
    """A same_as that nobody bears does not cost the person."""
    proposals = references().propose(
        [new("Mr. Thorne", same_as="C99")], text="Mr. Thorne came.", first_number=1
    )
    assert [each.name for each in proposals.entities] == ["Mr. Thorne"]
