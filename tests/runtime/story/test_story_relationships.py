"""Relationships through `Story`: adding, editing every field, and the context that tells of them."""

from collections.abc import Iterator
from pathlib import Path

import pytest

import novelgen
from novelgen import Memory, Story
from novelgen.errors import UserInputError
from tests.runtime.test_front_door import PATIENT


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    """A memory in an empty folder."""
    with novelgen.open(tmp_path / "projects", **PATIENT) as opened:
        yield opened


def a_pair(memory: Memory, project_id: str, names: tuple[str, str]) -> Story:
    """Make a story of two people, and two scenes that both are in."""
    story = memory.create(project_id, language="zh" if project_id == "zh" else "en")
    for name in names:
        story.add_character(name)
    for number in (1, 2):
        record = {"characters_present": ["C0", "C1"]}
        story.ingest(text=f"{' '.join(names)} {number}", record=record, chapter_index=1, scene_index=number)
    return story


def test_an_edit_that_says_nothing_is_refused(memory: Memory) -> None:
    """An empty edit, an empty view, a pair without a relationship, and a second one of a pair change nothing."""
    story = a_pair(memory, "own", ("Ada", "Ben"))
    with pytest.raises(UserInputError, match="have no relationship yet"):
        story.edit_relationship("Ada", "Ben", status="close")
    story.add_relationship("Ada", "Ben", "friends")
    with pytest.raises(UserInputError, match="have relationship R0 already"):
        story.add_relationship("Ben", "Ada", "rivals")
    with pytest.raises(UserInputError, match="nothing to update"):
        story.edit_relationship("Ada", "Ben")
    with pytest.raises(UserInputError, match="perspective_a cannot become ''"):
        story.edit_relationship("Ada", "Ben", perspective_a="")


@pytest.mark.parametrize(
    ("project_id", "names", "line"),
    [
        (
            "en",
            ("Ada", "Ben"),
            "Ben – Ada: client, deep distrust; Ben: she cheats; Ada: he pays; latest: He counted it twice.",
        ),
        (
            "zh",
            ("王阿大", "李阿二"),
            "李阿二 – 王阿大：client、毫不信任；李阿二：she cheats；王阿大：he pays；最近：He counted it twice.",
        ),
    ],
)
def test_the_prompt_tells_the_point_of_view_first(
    memory: Memory, project_id: str, names: tuple[str, str], line: str
) -> None:
    """Seeds 000.16, 002.13, 002.38: a plan's `pov`, an alias too, puts that side first, with words for feelings."""
    story = a_pair(memory, project_id, names)
    story.add_relationship(
        *names, "client", perspective_a="he pays", perspective_b="she cheats", dimensions={"trust": -100}
    )
    story.edit_relationship(*names, event="He counted it twice.")
    plan = {"characters": list(names), "purpose": "settle the bill", "pov": names[1]}
    context = story.context(2, 1, plan)
    assert f"- [1:2] {line}" in context.as_prompt().splitlines()
    assert context.report is not None
    assert context.report.scene_plan is not None
    assert context.report.scene_plan.pov == names[1]
    del plan["pov"]
    without = story.context(2, 1, plan).as_prompt()
    assert f"{names[0]} – {names[1]}" in without
