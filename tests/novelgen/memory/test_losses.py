"""What is lost when memories become one."""

from novelgen.memory.consolidation import ConsolidationRules, Losses, Topics
from novelgen.models.memory import StoryMemoryChunk
from tests.novelgen.memory.live_stories import chunk

RULES = ConsolidationRules(max_sources=3, span_scenes=4)


def loss(*sources: StoryMemoryChunk) -> float | None:
    """Return the loss in a story of ten scenes about C0, without embeddings."""
    numbers = {(1, number): number for number in range(10)}
    return Losses(numbers, Topics(sources, {}, background={"C0"}), RULES).of(sources)


def test_it_grows_with_distance_weight_and_difference() -> None:
    """Each alone makes it greater, and the weightiest source decides about the weight."""
    least = loss(chunk("A", importance=3), chunk("B", importance=3))
    assert least is not None
    worse = [
        loss(chunk("A", importance=3), chunk("B", 1, 2, importance=3)),
        loss(chunk("A", importance=3), chunk("B", importance=6)),
        loss(chunk("A", importance=3), chunk("B", importance=3, tags=["feast"])),
    ]
    assert all(each is not None and each > least for each in worse)
    assert loss(chunk("A", importance=6), chunk("B", importance=6)) == worse[1]


def test_the_rules_forbid_what_would_say_too_much_or_mix() -> None:
    """Too many sources, too far a span, another topic, over beside in force; unmarked ones share one scene alone."""
    assert loss(*(chunk(name) for name in "ABCD")) is None
    assert loss(chunk("A", 1, 1), chunk("B", 1, 4)) is not None
    assert loss(chunk("A", 1, 1), chunk("B", 1, 5)) is None
    assert loss(chunk("A", 1, 1), chunk("B", 1, 2, tags=["feast"])) is None
    assert loss(chunk("A"), chunk("B", superseded_by="M9")) is None
    assert loss(chunk("A"), chunk("B", verified=False)) is None
    assert loss(chunk("A", 1, 1, tags=[]), chunk("B", 1, 2, tags=[])) is None
    assert loss(chunk("A", 1, 1, tags=[]), chunk("B", 1, 1, tags=[])) is not None
