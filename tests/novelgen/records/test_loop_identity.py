"""Telling the loops of a scene that was read anew from new ones."""

from __future__ import annotations

import pytest

from novelgen.models.record import RecordedLoop
from novelgen.records.merge import known_loop_ids


def loops(**descriptions: str) -> list[RecordedLoop]:
    """Return loops by id."""
    return [RecordedLoop(id=name, description=text) for name, text in descriptions.items()]


@pytest.mark.parametrize(
    ("before", "now"),
    [
        ("Will Tom return the lamp?", "will Tom  return the LAMP?"),
        ("Will Tom Hale return the borrowed lamp on Friday?", "Tom has to return the borrowed lamp to Mary."),
        ("阿雀答应把钥匙还给青荇", "青荇等着阿雀把钥匙还给她"),
        ("谁?", "谁?"),
    ],
)
def test_a_loop_that_is_told_anew_keeps_its_id(before: str, now: str) -> None:
    """Case and spacing do not count, and half of the words are enough, in both languages."""
    assert known_loop_ids(loops(OL3=before), loops(new1=now)) == {"new1": "OL3"}


@pytest.mark.parametrize(
    ("before", "now"),
    [
        ("Will Tom return the lamp?", "Who cut the bell rope?"),
        ("The lamp is lent.", "The lamp is stolen by Pike."),
        ("阿雀答应把钥匙还给青荇", "谁割断了钟绳"),
    ],
)
def test_another_loop_gets_an_id_of_its_own(before: str, now: str) -> None:
    """One common word does not make two loops one."""
    assert known_loop_ids(loops(OL3=before), loops(new1=now)) == {}


def test_the_likest_are_matched_first_and_each_once() -> None:
    """Two new tellings never share one old id."""
    before = loops(OL1="Will Tom return the borrowed lamp?", OL2="Who stole the silver bell?")
    now = loops(
        a="Tom should return that borrowed lamp before winter comes.",
        b="Will Tom return the borrowed lamp?",
        c="Somebody stole the silver bell.",
    )
    assert known_loop_ids(before, now) == {"b": "OL1", "c": "OL2"}


def test_nothing_matches_nothing() -> None:
    """A scene without loops, before or now, has nothing to keep."""
    assert known_loop_ids([], loops(a="Who?")) == known_loop_ids(loops(OL1="Who?"), []) == {}
