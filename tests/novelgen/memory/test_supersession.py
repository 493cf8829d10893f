"""Promises broken, alliances gone, secrets out."""

import pytest

from novelgen.memory.attributes import SUPERSESSION_CHAINS, ends_another, with_supersessions
from novelgen.models.memory import EVENT_TYPES
from tests.novelgen.memory.record_parts import memory, record, stored


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
