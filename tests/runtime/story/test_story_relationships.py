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
        story.entities.add_character(name)
    for number in (1, 2):
        record = {"characters_present": ["C0", "C1"]}
        story.ingest(text=f"{' '.join(names)} {number}", record=record, chapter_index=1, scene_index=number)
    return story


def test_an_edit_that_says_nothing_is_refused(memory: Memory) -> None:
    """An empty edit, an empty view, a pair without a relationship, and a second one of a pair change nothing."""
    story = a_pair(memory, "own", ("Ada", "Ben"))
    with pytest.raises(UserInputError, match="have no relationship yet"):
        story.relationships.edit("Ada", "Ben", status="close")
    story.relationships.add("Ada", "Ben", "friends")
    with pytest.raises(UserInputError, match="have relationship R0 already"):
        story.relationships.add("Ben", "Ada", "rivals")
    with pytest.raises(UserInputError, match="nothing to update"):
        story.relationships.edit("Ada", "Ben")
    with pytest.raises(UserInputError, match="perspective_a cannot become ''"):
        story.relationships.edit("Ada", "Ben", perspective_a="")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("project_id", "names", "line", "hidden"),
    [
        (
            "en",
            ("Ada", "Ben"),
            "Ben – Ada: grocer/client, deep distrust; Ben: she cheats; latest: He counted it twice.",
            "Ben – Ada; Ada: he pays",
        ),
        (
            "zh",
            ("王阿大", "李阿二"),
            "李阿二 – 王阿大：掌柜与客人、毫不信任；李阿二：she cheats；最近：He counted it twice.",
            "李阿二 – 王阿大；王阿大：he pays",
        ),
    ],
)
def test_the_prompt_tells_the_point_of_view_first(
    memory: Memory, project_id: str, names: tuple[str, str], line: str, hidden: str
) -> None:
    """Seeds 000.16, 002.13, 002.38: a plan's `pov`, an alias too, puts that side first, with words for feelings."""
    story = a_pair(memory, project_id, names)
    story.relationships.add(
        *names,
        {"en": "client/grocer", "zh": "客人与掌柜"}[project_id],
        perspective_a="he pays",
        perspective_b="she cheats",
        dimensions={"trust": -100},
    )
    story.relationships.edit(*names, event="He counted it twice.")
    plan = {"characters": list(names), "purpose": "settle the bill", "pov": names[1]}
    context = story.context(2, 1, plan)
    assert f"- [1:2] {line}" in context.as_prompt().splitlines()
    assert f"- [1:2] {hidden}" in context.as_prompt().splitlines()
    assert context.report.scene_plan is not None
    assert context.report.scene_plan.pov == names[1]
    del plan["pov"]
    without = story.context(2, 1, plan).as_prompt()
    assert f"{names[0]} – {names[1]}" in without


@pytest.fixture
def mother_and_son(memory: Memory) -> Story:
    """Anna and Boris on stage, whom the author says to be mother and son; Clara knows neither."""
    story = memory.create("mill", language="en")
    for name in ("Anna", "Boris", "Clara"):
        story.entities.add_character(name, start="1:1")
    record = {"characters_present": ["C0", "C1"], "summary": ["Anna baked bread."]}
    story.ingest(chapter_index=1, scene_index=1, text="Anna baked bread. Boris ate it.", record=record)
    story.relationships.add(
        "Anna", "Boris", "mother-son", perspective_a="He is too thin.", perspective_b="She sees all."
    )
    return story


def _divided(story: Story, pov: str) -> tuple[str, str]:
    """Return what is known and what is hidden in a prompt from a point of view."""
    prompt = story.context(1, 2, {"characters": ["Anna", "Boris"]}, pov=pov).as_prompt()
    known, _, hidden = prompt.partition("## Hidden from")
    return known, hidden


@pytest.mark.slow
@pytest.mark.parametrize(("pov", "own", "others"), [("Anna", "thin", "sees all"), ("Boris", "sees all", "thin")])
def test_what_an_author_states_of_two_is_known_to_both(mother_and_son: Story, pov: str, own: str, others: str) -> None:
    """Nobody saw it come to be; own views are told once, the other's stand apart."""
    known, hidden = _divided(mother_and_son, pov)
    roles = {"Anna": "Anna – Boris: mother-son", "Boris": "Boris – Anna: son-mother"}[pov]
    assert (roles in known, own in known, others in known) == (True, True, False)
    assert (own in hidden, others in hidden) == (False, True)
    excluded = mother_and_son.context(1, 2, {"characters": ["Anna", "Boris"]}, pov=pov, knowledge="exclude")
    assert roles in excluded.as_prompt()


@pytest.mark.slow
def test_a_third_person_does_not_know_it(mother_and_son: Story) -> None:
    """Where in doubt something is not known."""
    known, hidden = _divided(mother_and_son, "Clara")
    assert ("mother-son" in known, "mother-son" in hidden) == (False, True)


@pytest.mark.slow
def test_what_an_author_hides_of_two_keeps_their_relationship_from_them(mother_and_son: Story) -> None:
    """A note about both that is hidden from one outranks what is stated of both."""
    mother_and_son.memories.add("Anna bore Boris in secret.", attached_to=["Anna", "Boris"], hidden_from=["Boris"])
    known, hidden = _divided(mother_and_son, "Boris")
    assert ("son-mother" in known, "son-mother" in hidden) == (False, True)
    assert "mother-son" in _divided(mother_and_son, "Anna")[0]


@pytest.mark.slow
def test_who_acts_in_a_scene_without_a_record_knows_it(memory: Memory) -> None:
    """Elena met Marcus: both were there; Anna was not."""
    story = memory.create("archive", language="en")
    for name in ("Elena", "Marcus", "Anna"):
        story.entities.add_character(name, start="1:1")
    story.ingest(chapter_index=1, scene_index=1, text="Elena met Marcus in the archive.")
    story.ingest(chapter_index=1, scene_index=2, text="Rain fell on the roofs.")
    for pov, is_known in (("Elena", True), ("Marcus", True), ("Anna", False)):
        prompt = story.context(2, 1, {"characters": [pov]}, pov=pov).as_prompt()
        known, _, hidden = prompt.partition("## Hidden from")
        assert ("Elena met Marcus" in known, "Elena met Marcus" in hidden) == (is_known, not is_known), pov
