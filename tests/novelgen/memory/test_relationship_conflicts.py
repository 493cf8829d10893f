"""What scenes say of two people and what excludes it."""

from itertools import count
from typing import Any

import pytest

from novelgen.memory.conflicts import find_conflicts
from novelgen.memory.outline import PairChange
from novelgen.memory.relationship_conflicts import relationships_at_odds
from tests.novelgen.memory.record_parts import scene, stated, stored

SCENES = [scene(1, 1), scene(2, 1), scene(3, 1), scene(4, 1, time="years ago"), scene(5, 1)]


def said(chapter: int, kind: str, pair: tuple[str, str] = ("C0", "C1"), **fields: Any) -> PairChange:
    """Return what the scene of a chapter says of a pair."""
    return PairChange(
        relationship_id=f"R{'-'.join(pair)}",
        character_a=pair[0],
        character_b=pair[1],
        relationship_type=kind,
        chapter_index=chapter,
        scene_index=1,
        **fields,
    )


def at_odds(*types: str) -> bool:
    """Tell whether a pair that scenes call so, one after the other, is in conflict."""
    chapters = count(1)
    return bool(relationships_at_odds(SCENES, [said(next(chapters), each) for each in types]))


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("father and son", "son and father"),
        ("mother and daughter", "sisters"),
        ("twin brothers", "unrelated"),
        ("siblings", "cousins"),
        ("father-son", "uncle and nephew"),
        ("friends, mother and son", "grandmother and grandson"),
        ("父亲与儿子", "儿子与父亲"),
        ("父子", "叔侄"),
        ("亲兄弟", "毫无血缘关系"),
        ("兄妹", "表兄妹"),
    ],
)
def test_kin_that_exclude_each_other_are_found(earlier: str, later: str) -> None:
    """Seed 000.15: who is somebody's father cannot be their son, brother or a stranger by blood, in either order."""
    assert at_odds(earlier, later)
    assert at_odds(later, "allies", earlier)


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("father and son", "Father and Son"),
        ("father and son", "father-son"),
        ("father and son", "stepfather and stepson"),
        ("brothers", "unrelated"),
        ("brothers", "cousins"),
        ("brothers-in-law", "cousins"),
        ("sworn brothers", "father and son"),
        ("twin brothers", "brothers"),
        ("mentor and student", "student and mentor"),
        ("结拜兄弟", "父子"),
        ("师兄弟", "叔侄"),
        ("兄弟", "表兄弟"),
        ("姐妹", "无血缘关系"),
        ("义父与义子", "父子"),
        ("夫妻", "敌对"),
    ],
)
def test_what_may_both_hold_is_no_conflict(earlier: str, later: str) -> None:
    """Loose words, sworn and step kin, feelings and roles may change or stand side by side."""
    assert not at_odds(earlier, later)


def test_a_conflict_names_pair_and_both_scenes() -> None:
    """The same id whenever it is found; seed 000.15: a second marriage while the first lasts names all three."""
    told = [said(1, "father and son"), said(4, "son and father"), said(5, "son and father", status="close")]
    [found] = relationships_at_odds(SCENES, told)
    assert (found.kind, found.subject, found.entity_ids) == ("relationship", "RC0-C1", ["C0", "C1"])
    assert (found.first.chapter_index, found.second.chapter_index) == (1, 5)
    assert found.second.says == "C0 – C1: son and father, close"
    assert find_conflicts(SCENES, [], relationships=told) == [found]
    told = [said(1, *WED[0]), said(2, *WED[1])]
    [found] = relationships_at_odds(SCENES, told)
    assert (found.subject, found.entity_ids) == ("C0", ["C0", "C1", "C2"])


@pytest.mark.parametrize(
    ("event_type", "about", "is_explained"),
    [("identity_revealed", "C1", True), ("event", "C1", False), ("identity_revealed", "C7", False)],
)
def test_what_comes_out_explains_new_kin(event_type: str, about: str, is_explained: bool) -> None:
    """A memory of the later scene that reveals something about one of the two explains it, another one does not."""
    told = [said(1, "siblings"), said(2, "unrelated")]
    memories = [stored("M1", event_type, about, at=(2, 1))]
    assert (relationships_at_odds(SCENES, told, (), memories) == []) is is_explained


WED = ("husband and wife", ("C0", "C1")), ("spouses", ("C0", "C2"))


def test_a_marriage_that_is_over_leaves_its_people_free() -> None:
    """Divorce, death and a disclosed sham end it; so does a type that is none any more."""
    first, second = said(1, *WED[0]), said(3, *WED[1])
    for between in (
        said(2, "former spouses"),
        said(2, "", status="divorced"),
        said(2, "widow and husband", status="dead"),
    ):
        assert relationships_at_odds(SCENES, [first, between, second]) == []
    assert relationships_at_odds(SCENES, [first, second], [stated("C1", "status", "dead", (2, 1))]) == []
    assert relationships_at_odds(SCENES, [first, second], (), [stored("M1", "death", "C1", at=(2, 1))]) == []
    dies_later = [stated("C1", "status", "dead", (5, 1))]
    assert len(relationships_at_odds(SCENES, [first, second], dies_later)) == 1
    assert relationships_at_odds(SCENES, [said(1, "夫妻"), said(2, "夫妻", ("C0", "C2"))]) == []


@pytest.mark.parametrize(("kind", "wed"), [("sworn enemies", "husband and wife"), ("敌对", "夫妻")])
def test_enemies_are_not_wed_for_nothing(kind: str, wed: str) -> None:
    """Seed 000.15: from foes to a couple without any event between is found; an event or a memory of both explains."""
    foes = said(1, kind)
    [found] = relationships_at_odds(SCENES, [foes, said(3, wed)])
    assert (found.first.says, found.second.says) == (f"C0 – C1: {kind}", f"C0 – C1: {wed}")
    assert relationships_at_odds(SCENES, [foes, said(3, wed, event="They made peace.")]) == []
    assert relationships_at_odds(SCENES, [foes, said(2, "friends"), said(3, wed)]) == []
    shared = [stored("M1", "event", "C0", "C1", at=(2, 1))]
    assert relationships_at_odds(SCENES, [foes, said(3, wed)], (), shared) == []
