"""Slots that hold one value, promises broken and secrets out, and telling the dead from the living."""

from collections.abc import Callable
from typing import Any

import pytest

from novelgen.memory.attributes import (
    SUPERSESSION_CHAINS,
    PlaceNames,
    SlotHolder,
    closed_by,
    ends_another,
    is_death,
    is_return_to_life,
    shows_beside,
    slot_of,
    split_slot,
    with_supersessions,
    without_places_left,
)
from novelgen.models.memory import EVENT_TYPES
from novelgen.models.state import GUESSED, PLACE_GUESSED, StateChange
from tests.novelgen.memory.record_parts import memory, record, stored

SLOT_HOLDERS = [SlotHolder((1, 2), "M1"), SlotHolder((2, 1), "M2"), SlotHolder((2, 1), "M3"), SlotHolder((4, 1), "M4")]


@pytest.mark.parametrize(
    ("place", "closer"), [((1, 2), "M2"), ((2, 1), "M4"), ((3, 9), "M4"), ((4, 1), None), ((-1, -1), "M1")]
)
def test_the_next_value_closes_a_slot(place: tuple[int, int], closer: str | None) -> None:
    """The first value at a strictly later place takes over; values at one place stand side by side."""
    assert closed_by(SLOT_HOLDERS, place) == closer


def test_an_empty_slot_is_open() -> None:
    """Without holders nothing is closed, and a slot is written as it is read: entity and attribute."""
    assert closed_by([], (1, 1)) is None
    assert split_slot(slot_of("I1", "holder")) == ("I1", "holder")


@pytest.mark.parametrize("slot", ["", "holder", "I1.", ".holder", "I 1.holder", "a.b.c"])
def test_other_writings_are_no_slots(slot: str) -> None:
    """What is not entity and attribute is nothing."""
    assert split_slot(slot) is None


def superseded(new, *earlier) -> str | None:  # type: ignore[no-untyped-def]
    """Return what a new memory supersedes."""
    return with_supersessions(record(memories=[new]), earlier).memories[0].supersedes


def test_the_chains_hold_known_event_types() -> None:
    """Both ends of every chain are in the closed list."""
    assert set(SUPERSESSION_CHAINS) | set(SUPERSESSION_CHAINS.values()) <= EVENT_TYPES


@pytest.mark.parametrize(("ends", "began"), SUPERSESSION_CHAINS.items())
def test_an_end_supersedes_its_beginning(ends: str, began: str) -> None:
    """The memory of the same people is superseded."""
    new = memory("new", event_type=ends, entities=["C0", "C1"])
    assert superseded(new, stored("M1", began, "C0", "C1"), stored("M2", "event", "C0", "C1")) == "M1"


def test_who_and_what_decide_which_promise_was_broken() -> None:
    """Of several promises the one of the same people and the same matter is broken."""
    new = memory(
        "new", "Ben let the lamp go out and broke his promise.", event_type="promise_broken", entities=["C0", "C1"]
    )
    promises = [
        stored("M1", "promise_made", "C0", "C1", content="Ben promised Ada to keep the lamp burning."),
        stored("M2", "promise_made", "C0", "C1", content="Ben promised Ada to sell the boat."),
        stored("M3", "promise_made", "C0", "C2", content="Cy promised Ada to mind the lamp that Ben broke."),
    ]
    assert superseded(new, *promises) == "M1"


def test_nothing_is_superseded_twice_or_by_a_guess() -> None:
    """Two that fit alike stay, what is said stays, and only a record with an unsaid end is looked up."""
    new = memory("new", "It is over.", event_type="promise_broken", entities=["C0", "C1"])
    promises = [stored("M1", "promise_made", "C0", "C1"), stored("M2", "promise_made", "C0", "C1")]
    assert superseded(new, *promises) is None
    new = memory("new", event_type="promise_broken", entities=["C0", "C1"], supersedes="M9")
    assert superseded(new, stored("M1", "promise_made", "C0", "C1")) == "M9"
    over = stored("M1", "promise_made", "C0", "C1", superseded_by="M2")
    assert superseded(memory("new", event_type="promise_broken", entities=["C0", "C1"]), over) is None
    two = [memory(name, event_type="promise_broken", entities=["C0", "C1"]) for name in ("a", "b")]
    after = with_supersessions(record(memories=two), [stored("M1", "promise_made", "C0", "C1")])
    assert [each.supersedes for each in after.memories] == ["M1", None]
    assert ends_another(record(memories=[memory("a", event_type="promise_broken")]))
    assert not ends_another(record(memories=[memory("a", event_type="promise_broken", supersedes="M1")]))
    assert not ends_another(record(memories=[memory("a", event_type="promise_made")]))


def test_a_scene_can_break_what_it_promised() -> None:
    """The record's own earlier memories can be superseded, its later ones cannot."""
    made = memory("made", event_type="promise_made", entities=["C0", "C1"])
    broken = memory("broken", event_type="promise_broken", entities=["C0", "C1"])
    forwards = with_supersessions(record(memories=[made, broken]), [])
    backwards = with_supersessions(record(memories=[broken, made]), [])
    assert [each.supersedes for each in forwards.memories] == [None, "made"]
    assert [each.supersedes for each in backwards.memories] == [None, None]


@pytest.mark.parametrize(
    ("earlier", "ends"),
    [(("C0", "C1"), True), (("C0", "C1", "L0"), True), (("C0", "C1", "C2"), False), (("C0", "C2"), False)],
)
def test_among_the_same_people_alone(earlier: tuple[str, ...], ends: bool) -> None:
    """Seed 002.29: with the characters given, what is about somebody else as well stays; places do not count."""
    new = record(memories=[memory("new", event_type="promise_broken", entities=["C0", "C1"])])
    made = stored("M1", "promise_made", *earlier)
    [told] = with_supersessions(new, [made], people=["C0", "C1", "C2"]).memories
    assert told.supersedes == ("M1" if ends else None)


SAID: list[tuple[str, Any, str]] = [
    ("status", "dead", "death"),
    ("status", "Dead by heart failure and fall in quarrel with Major Sholto, body hidden", "death"),
    ("physical_state", "killed by the fall", "death"),
    ("alive", False, "death"),
    ("alive", "no", "death"),
    ("status", "被八戒打死", "death"),
    ("status", "已死，葬于山下", "death"),
    ("status", "四月已死（保密）", "death"),
    ("status", "圆寂", "death"),
    ("status", "dead tired", "neither"),
    ("status", "believed innocent of the murder", "neither"),
    ("status", "mourns the dead", "neither"),
    ("status", "从者已死，孤身被擒", "neither"),
    ("status", "死里逃生", "life"),
    ("status", "死心塌地", "neither"),
    ("status", "断了气", "death"),
    ("status", "drowned in the mill-race", "death"),
    ("status", "fell to his death", "death"),
    ("status", "被吊死", "death"),
    ("status", "淹死在水沟里", "death"),
    ("status", "死了，气死的", "death"),
    ("status", "drowned in debt", "neither"),
    ("status", "drowned two kittens", "neither"),
    ("status", "淹死了一只猫", "neither"),
    ("status", "被杀手盯上", "neither"),
    ("status", "断了气似的躺着", "neither"),
    ("status", "没断气", "neither"),
    ("status", "breathed his last word", "neither"),
    ("status", "drew her last breath of clean air", "neither"),
    ("status", ["dead"], "neither"),
    ("knowledge", "dead", "neither"),
    ("goals", "survived", "neither"),
    ("status", None, "neither"),
    ("status", "dead to the world, but alive", "life"),
    ("status", "alive after all", "life"),
    ("status", "a ghost", "life"),
    ("status", "死而复生", "life"),
    ("status", "复活，二十三果", "life"),
    ("alive", True, "life"),
]


@pytest.mark.parametrize(("attribute", "value", "told"), SAID)
def test_a_status_that_begins_with_it_tells_a_death_or_a_return_to_life(attribute: str, value: Any, told: str) -> None:
    """A death of others, a figure of speech, another attribute or another shape tells neither."""
    assert is_death(attribute, value) is (told == "death")
    assert is_return_to_life(attribute, value) is (told == "life")


PLACE_NAMES = PlaceNames(
    {
        "L0": ["the mill"],
        "L1": ["the hall"],
        "L2": ["the mill cellar"],
        "L3": ["the drying loft"],
        "L4": ["祠堂"],
        "L5": ["后山"],
        "L6": ["祠堂偏殿"],
        "L7": ["地窖"],
        "L8": ["Mill Lane Inn", "the Star"],
        "L9": ["the millpond"],
    },
    {"L3": ["L0"], "L7": ["祠堂"]},
)


def stays(value: Any, chapter: int = 1, scene: int = 2, attribute: str = "location_id") -> StateChange:
    """Return where an author says that somebody is."""
    return StateChange(
        entity_id="C0", attribute=attribute, value=value, chapter_index=chapter, scene_index=scene, by_author=True
    )


def sighted(location_id: str | None, chapter: int = 2, scene: int = 1, *marks: str) -> StateChange:
    """Return where somebody was on stage."""
    value = {"location_id": location_id, **dict.fromkeys(marks, True)}
    return StateChange(
        entity_id="C0", attribute="presence", value=value, chapter_index=chapter, scene_index=scene, kind="presence"
    )


def standing_places(*changes: StateChange) -> tuple[list[Any], list[str]]:
    """Return the places that stand, and the attributes that a guess ends."""
    is_at: Callable[[Any, str], bool] = PLACE_NAMES.is_at
    standing_changes, doubted = without_places_left(changes, is_at)
    return [one.value for one in standing_changes if one.kind == "explicit"], sorted(doubted)


@pytest.mark.parametrize(
    "changes",
    [
        (stays("L0"), sighted("L1")),
        (stays("L4"), sighted("L5")),
        (stays("L0"), sighted("L1", 1, 3)),
        (stays("L0"), sighted("L0", 1, 3), sighted("L1")),
        (stays("L0"), sighted("L1"), sighted("L0", 2, 2)),
        (stays("L0"), sighted("L1"), sighted("L8", 2, 2, GUESSED)),
        (stays("L0"), sighted("L8", 2, 1, GUESSED, PLACE_GUESSED), sighted("L1", 2, 2)),
        (stays("in a cab", attribute="place"), sighted("L1")),
        (stays("轿子里", attribute="place"), sighted("L4")),
        (stays("the mill"), sighted("L9")),
        (stays("L1"), stays("L0", 1, 3), sighted("L8")),
        (StateChange(entity_id="C0", attribute="location_id", value="L0"), sighted("L1", 1, 1)),
        (stays("L7"), sighted("L5")),
    ],
)
def test_a_later_sight_elsewhere_ends_a_stated_place(changes: tuple[StateChange, ...]) -> None:
    """Whoever was on stage elsewhere since is no longer where a note or card put them."""
    assert standing_places(*changes) == ([], [])


@pytest.mark.parametrize(
    ("changes", "value"),
    [
        ((stays("L0"), sighted("L0")), "L0"),
        ((stays("L0"), sighted("L2")), "L0"),
        ((stays("L0"), sighted("L3")), "L0"),
        ((stays("L2"), sighted("L0")), "L2"),
        ((stays("the old mill"), sighted("L0")), "the old mill"),
        ((stays("L4"), sighted("L6")), "L4"),
        ((stays("L4"), sighted("L7")), "L4"),
        ((stays("老祠堂"), sighted("L4")), "老祠堂"),
        ((stays("L0"), sighted("L1", 1, 2)), "L0"),
        ((stays("L0"), sighted("L1", 1, 1)), "L0"),
        ((stays("L0"), sighted("L1", 2, 1, GUESSED)), "L0"),
        ((stays("L0"), sighted(None)), "L0"),
        ((sighted("L1", 1, 2), stays("L0")), "L0"),
        ((stays("dead", attribute="status"), sighted("L1")), "dead"),
        ((stays("L0"), sighted("L8", 2, 1, PLACE_GUESSED), sighted("L0", 2, 2)), "L0"),
    ],
)
def test_other_sights_end_no_stated_place(changes: tuple[StateChange, ...], value: str) -> None:
    """The place itself, one in it or around it, the same scene, a guess, or a scene without a place."""
    assert standing_places(*changes) == ([value], [])


@pytest.mark.parametrize("marks", [(PLACE_GUESSED,), (GUESSED, PLACE_GUESSED)])
def test_a_guessed_place_of_a_stated_cast_ends_a_place_as_a_guess(marks: tuple[str, ...]) -> None:
    """It stands, with the mark, until it is stated anew."""
    left = (stays("L0"), sighted("L1", 2, 1, *marks))
    assert standing_places(*left) == (["L0"], ["location_id"])
    assert standing_places(*left, stays("L0", 2, 2)) == (["L0", "L0"], [])


@pytest.mark.parametrize(
    ("attribute", "entity_type", "is_shown"),
    [
        ("clothing", "character", True),
        ("衣着", "character", True),
        ("beard", "character", True),
        ("伤疤", "character", True),
        ("location_id", "character", True),
        ("location_id", "item", False),
        ("location_id", "location", True),
        ("where", "location", True),
        ("where", "item", False),
        ("condition", "item", True),
        ("holder", "item", False),
        ("goal", "character", False),
    ],
)
def test_a_meeting_shows_looks_and_no_plans(attribute: str, entity_type: str, is_shown: bool) -> None:
    """Dress and place of a person show, and nothing that a thing's look does not tell."""
    assert shows_beside(attribute, entity_type) == is_shown
