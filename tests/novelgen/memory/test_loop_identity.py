"""Telling the loops of a scene that was read anew from new ones."""

import pytest

from novelgen.memory.merge import known_loop_ids, loops_said_again, with_loops_said_again
from novelgen.models.record import RecordedLoop, SceneRecord
from novelgen.models.state import OpenLoop


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


def test_the_likest_are_matched_first_and_each_once() -> None:
    """Two new tellings never share one old id, and a scene without loops, before or now, has nothing to keep."""
    before = loops(OL1="Will Tom return the borrowed lamp?", OL2="Who stole the silver bell?")
    now = loops(
        a="Tom should return that borrowed lamp before winter comes.",
        b="Will Tom return the borrowed lamp?",
        c="Somebody stole the silver bell.",
    )
    assert known_loop_ids(before, now) == {"b": "OL1", "c": "OL2"}
    assert known_loop_ids([], loops(a="Who?")) == known_loop_ids(loops(OL1="Who?"), []) == {}


@pytest.mark.parametrize(
    ("known", "created", "is_same"),
    [
        ("Will Tom Hale return the lamp on Friday?", "Will Tom Hale return the lamp by Friday?", True),
        ("阿雀答应把钥匙还给青荇", "阿雀答应把钥匙还给青荇。", True),
        ("Will Tom Hale return the lamp on Friday?", "Will Tom Hale sell the lamp to the pedlar?", False),
        ("谁割断了钟绳", "阿雀答应把钥匙还给青荇", False),
    ],
)
def test_a_thread_that_is_opened_again_is_moved(known: str, created: str, is_same: bool) -> None:
    """Two scenes that were read side by side may open one thread in nearly the same words; another stays another."""
    opened = loops(new1=created)
    matched = loops_said_again(opened, [OpenLoop(loop_id="OL4", category="", description=known)])
    assert matched == ({"new1": "OL4"} if is_same else {})
    given = [loop.model_copy(update={"id": matched.get(loop.id, "OL5")}) for loop in opened]
    record = SceneRecord(chapter_index=2, scene_index=1, open_loops_created=given)
    moved = with_loops_said_again(record, {"OL4"})
    assert [loop.id for loop in moved.open_loops_created] == ([] if is_same else ["OL5"])
    assert [(loop.id, loop.note) for loop in moved.open_loops_advanced] == ([("OL4", created)] if is_same else [])
