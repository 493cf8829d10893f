"""The relationship graph: who is drawn stands within the picture, and arrows lead between those who are drawn."""

import re
from itertools import combinations, product

import hypothesis.strategies as st
import pytest
from hypothesis import given

from novelgen.models.state import Relationship
from runtime.page.relationships import (
    BROAD,
    MAX_DRAWN,
    NARROW,
    RelationshipGraph,
    Sheet,
    change_of,
    course_chart,
    relationship_graph,
    shortened,
    sides_of,
    type_of_side,
)
from runtime.story.relationships import CourseStep

WHO = st.integers(0, 30).map(lambda number: f"C{number:02}")
PAIRS = st.lists(
    st.tuples(WHO, WHO, st.integers(0, 10)).filter(lambda each: each[0] < each[1]),
    max_size=80,
    unique_by=lambda each: each[:2],
)


def _pair(first: str, second: str, intensity: int = 5, **told: object) -> Relationship:
    given = {"perspective_a": "sees", "perspective_b": "is seen", "intensity": intensity, **told}
    ids = {"relationship_id": f"{first}-{second}", "character_a": first, "character_b": second}
    return Relationship.model_validate({**ids, **given})


def _drawn(told: list[tuple[str, str, int]], chosen: str = "", sheet: Sheet = BROAD) -> RelationshipGraph:
    names = {each: each for pair in told for each in pair[:2]}
    pairs = [_pair(*each, relationship_type="old friends") for each in told]
    return relationship_graph(pairs, names, chosen_id=chosen, sheet=sheet)


@pytest.mark.slow
@given(PAIRS, WHO, st.sampled_from([BROAD, NARROW]))
def test_everybody_stands_within_the_picture(told: list[tuple[str, str, int]], chosen: str, sheet: Sheet) -> None:
    """No more than fit are drawn, each once and within the borders; arrows stay within, between those who are drawn."""
    for centre in ("", chosen):
        graph = _drawn(told, centre, sheet)
        drawn = {each.entity_id for each in graph.people}
        assert len(drawn) == len(graph.people) <= MAX_DRAWN + (centre in drawn)
        assert all(0 < each.text_x < graph.width and 0 < each.text_y < graph.height for each in graph.people)
        for arrow in graph.arrows:
            assert {arrow.side.who, arrow.side.other} <= drawn
            numbers = [float(each) for each in re.findall(r"-?[0-9.]+", arrow.path + " " + arrow.head)]
            assert all(0 < x < graph.width for x in numbers[::2])
            assert all(0 < y < graph.height for y in numbers[1::2])
    if len({who for pair in told for who in pair[:2]}) <= MAX_DRAWN:
        assert len(_drawn(told).arrows) == 2 * len(told)


@given(PAIRS, st.sampled_from([BROAD, NARROW]))
def test_the_words_on_lines_can_be_read(told: list[tuple[str, str, int]], sheet: Sheet) -> None:
    """Each pair has its words at most once, within the picture, over no others and no names; of few pairs all do."""
    graph = _drawn(told, sheet=sheet)
    labels = [each for each in graph.arrows if each.label]
    assert len({each.pair.relationship_id for each in labels}) == len(labels)
    length = len("old friends") * sheet.label_letter
    assert all(length / 2 <= each.label_at.real <= graph.width - length / 2 for each in labels)
    for first, second in combinations(labels, 2):
        apart = first.label_at - second.label_at
        assert abs(apart.real) >= length or abs(apart.imag) >= 2 * sheet.label_letter
    for each, person in product(labels, graph.people):
        half = len(person.name) * sheet.letter / 2
        middle = person.text_x + {"start": half, "middle": 0, "end": -half}[person.anchor]
        covers = abs(each.label_at.real - middle) < length / 2 + half
        assert not covers or abs(each.label_at.imag - person.text_y) >= sheet.letter
    if 0 < len(told) <= 2:
        assert len(labels) == len(told)


@pytest.mark.parametrize(
    ("words", "lines"),
    [
        ("old friends", ("old friends",)),
        ("landlady and lodger for many a year", ("landlady and", "lodger for m…")),
        ("keeper ofasecretofmany", ("keeper", "ofasecretofm…")),
        ("施主与法师与旧识", ("施主与法师与", "旧识")),
    ],
)
def test_long_words_on_a_line_stand_on_two(words: str, lines: tuple[str, ...]) -> None:
    """They part between words where there are any, and what two lines do not hold is cut."""
    told = _pair("C00", "C01", relationship_type=words)
    graph = relationship_graph([told], {"C00": "Ines", "C01": "Finch"}, sheet=NARROW)
    assert [each.label for each in graph.arrows if each.label] == [lines]


@given(st.integers(2, MAX_DRAWN), st.sampled_from(["Ines", "Captain Ysolde Varga of Saltmouth", "齐天大圣孙悟空行者"]))
def test_names_are_whole_and_cover_nobodys(count: int, name: str) -> None:
    """However many stand there, every name lies within the picture as it is written, and gives way to the others."""
    names = {f"C{number:02}": name for number in range(count)}
    graph = relationship_graph([_pair("C00", each) for each in names if each != "C00"], names)
    length = sum(17 if each > "\u2e80" else 8.5 for each in name)
    boxes = []
    for each in graph.people:
        assert each.name == name
        left = each.text_x - {"start": 0, "middle": length / 2, "end": length}[each.anchor]
        assert 0 <= left <= graph.width - length
        boxes.append((left, each.text_y))
    for first, second in combinations(boxes, 2):
        assert abs(first[0] - second[0]) >= length or abs(first[1] - second[1]) >= 18


@pytest.mark.slow
@given(PAIRS, PAIRS)
def test_who_is_there_keeps_the_order(told: list[tuple[str, str, int]], later: list[tuple[str, str, int]]) -> None:
    """While the story goes on, people stand in the same order around the picture, and others come between them."""
    whole = [*told, *(each for each in later if each[:2] not in {one[:2] for one in told})]
    if len({who for pair in whole for who in pair[:2]}) <= MAX_DRAWN:
        before, after = ([each.entity_id for each in _drawn(pairs).people] for pairs in (told, whole))
        assert [each for each in after if each in before] == before


def test_around_one_person_stand_their_neighbours_alone() -> None:
    """Who has no room is counted, and who is not known is not drawn."""
    graph = _drawn([("C0", "C1", 5), ("C0", "C2", 5), ("C1", "C2", 5), ("C2", "C3", 5)], "C0")
    assert sorted(each.entity_id for each in graph.people) == ["C0", "C1", "C2"]
    assert [each.pair.relationship_id for each in graph.arrows if each.is_beside] == ["C1-C2", "C1-C2"]
    graph = _drawn([("C00", f"C{number:02}", number % 11) for number in range(1, 31)])
    assert (len(graph.people), graph.left_out) == (MAX_DRAWN, 31 - MAX_DRAWN)
    assert "C00" in [each.entity_id for each in graph.people]
    graph = relationship_graph([_pair("C0", "C1"), _pair("C0", "C2")], {"C0": "Ines", "C1": "Reed"})
    assert ([each.name for each in graph.people], len(graph.arrows)) == (["Ines", "Reed"], 2)


def test_a_side_is_as_warm_as_its_feelings() -> None:
    """Its own goes before what both feel; a side of which nothing is told has no arrow."""
    first, second = sides_of(_pair("C0", "C1", dimensions={"trust": 40}, dimensions_a={"trust": -50, "fear": 30}))
    assert [(each.mean, each.warmth) for each in (first, second)] == [(-40, "cold"), (40, "warm")]
    known = sides_of(_pair("C0", "C1", dimensions={"familiarity": 90}))[0]
    assert (known.mean, known.warmth) == (None, "unsaid")
    assert sides_of(_pair("C0", "C1", dimensions={"respect": 9}))[0].warmth == "even"
    for told, arrows in (
        ({"perspective_b": ""}, [("C0", True)]),
        ({"perspective_a": "", "perspective_b": ""}, [("C0", False)]),
    ):
        graph = relationship_graph([_pair("C0", "C1", **told)], {"C0": "Ines", "C1": "Reed"})
        assert [(each.side.who, bool(each.head)) for each in graph.arrows] == arrows


def test_what_changed_is_told_from_what_was() -> None:
    """New, better, worse, otherwise changed or as before, each side by itself; a long name is cut."""
    now = _pair("C0", "C1", dimensions={"trust": 20})
    side = sides_of(now)[0]
    assert change_of(side, now, None) == "new"
    for trust, change in ((10, "better"), (40, "worse"), (18, "other"), (20, "")):
        assert change_of(side, now, _pair("C0", "C1", dimensions={"trust": trust})) == change
    assert change_of(side, now, _pair("C0", "C1", 7, dimensions={"trust": 20})) == "other"
    assert shortened("Sherlock Holmes of Baker Street", 18) == "Sherlock Holmes of…"
    assert shortened("齐天大圣孙悟空行者", 10) == "齐天大圣孙…"
    assert shortened("Ines", 18) == "Ines"


def test_a_course_runs_over_the_scenes() -> None:
    """Each value holds from its scene to the next change, the last to the end, and names do not cover each other."""
    steps = [
        CourseStep(chapter_index=chapter, scene_index=1, intensity=5, dimensions_a={}, dimensions_b={})
        for chapter in (1, 2)
    ]
    values = [{"trust": 0, "respect": 0}, {"trust": 50, "respect": 50}]
    chart = course_chart(steps, values, [(1, 1), (1, 2), (2, 1), (2, 2)])
    assert (chart.top, chart.bottom) == (100, 0)
    assert [(each.name, each.value) for each in chart.lines] == [("trust", 50), ("respect", 50)]
    assert chart.lines[0].path == "M34.0 148.0 H192.0 V80.0 H350.0"
    assert chart.lines[1].label_y - chart.lines[0].label_y >= 15


def test_a_role_stays_with_its_person_in_the_picture() -> None:
    """The words on a line read from left to right or from above, each arrow and the sides from who comes first."""
    names = {who: who for who in ("C0", "C1")}
    for pair, (from_first, from_second), sides in (
        (_pair("C0", "C1", relationship_type="mother-daughter"), ("mother-daughter", "daughter-mother"), "C0 C1"),
        (_pair("C0", "C1", relationship_type="师徒"), ("师徒", "← 师徒"), "C0 C1"),
        (_pair("C0", "C1", relationship_type="mentor", type_reads_back=True), ("← mentor", "mentor"), "C1 C0"),
    ):
        assert (type_of_side(pair, "C0"), type_of_side(pair, "C1")) == (from_first, from_second)
        assert [side.who for side in sides_of(pair)] == sides.split()
        graph = relationship_graph([pair], names)
        first = min(graph.people, key=lambda person: (person.x, person.y)).entity_id
        [label] = [arrow.label for arrow in graph.arrows if arrow.label]
        assert " ".join(label) == type_of_side(pair, first)
