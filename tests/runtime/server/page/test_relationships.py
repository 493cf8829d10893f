"""The relationship graph: whoever is drawn stands within the picture, and every line joins two who are drawn."""

from __future__ import annotations

import re

import hypothesis.strategies as st
from hypothesis import given

from novelgen.models.state import Relationship
from runtime.server.page.relationships import HEIGHT, MAX_DRAWN, WIDTH, relationship_graph

WHO = st.integers(0, 30).map(lambda number: f"C{number:02}")
PAIRS = st.lists(st.tuples(WHO, WHO, st.integers(0, 10)).filter(lambda each: each[0] < each[1]), max_size=80)


def _pair(first: str, second: str, intensity: int = 5) -> Relationship:
    return Relationship(
        relationship_id=f"{first}-{second}", character_a=first, character_b=second, intensity=intensity
    )


@given(PAIRS)
def test_everybody_stands_within_the_picture(told: list[tuple[str, str, int]]) -> None:
    """At most as many as fit are drawn, each once, within the borders; lines lead from dot to dot."""
    graph = relationship_graph(
        [_pair(*each) for each in told], {each: each for pair in told for each in pair[:2]}
    )
    at = {each.entity_id: (each.x, each.y) for each in graph.people}
    assert len(at) == len(graph.people) <= MAX_DRAWN
    assert all(0 < x < WIDTH and 0 < y < HEIGHT for x, y in at.values())
    for line in graph.pairs:
        numbers = [float(each) for each in re.findall(r"-?[0-9.]+", line.path)]
        assert (numbers[0], numbers[1]) == at[line.pair.character_a]
        assert (numbers[4], numbers[5]) == at[line.pair.character_b]
    if len({each for pair in told for each in pair[:2]}) <= MAX_DRAWN:
        assert len(graph.pairs) == len(told)


def test_who_is_not_known_is_not_drawn() -> None:
    """A pair with somebody without a name at the position is left out."""
    graph = relationship_graph([_pair("C0", "C1"), _pair("C0", "C2")], {"C0": "Ines", "C1": "Reed"})
    assert [each.name for each in graph.people] == ["Ines", "Reed"]
    assert len(graph.pairs) == 1


def test_an_empty_story_is_an_empty_picture() -> None:
    """Nobody and nothing is drawn."""
    assert relationship_graph([], {"C0": "Ines"}).people == []
