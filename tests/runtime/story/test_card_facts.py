"""What authors say on cards of the planned people stands in contexts: dated, within the budget, and as far as known."""

from datetime import UTC, datetime
from typing import Any

import pytest

from novelgen.context.card_facts import card_facts
from novelgen.context.labels import labels_for
from novelgen.context.point_of_view import FoundStory
from novelgen.language.language import estimate_tokens
from novelgen.memory.outline import StoryOutline
from novelgen.memory.search import SearchResult
from novelgen.models.context import SceneMemoryContext
from novelgen.models.entity import Entity
from novelgen.models.state import EntityStateSnapshot
from runtime.front_door import Memory
from runtime.story.story import Story
from tests.support.copied_stories import copied

NOW = datetime(2026, 1, 1, tzinfo=UTC)

STORIES: dict[str, dict[str, Any]] = {
    "en": {
        "people": ("Ines", "Abe", "Cora"),
        "texts": ("Ines waited. Abe came.", "Abe left.", "Ines slept."),
        "fields": {"age": "61", "appearance": "a lame left leg"},
        "later": "a wooden leg",
        "secret": "Abe's lame left leg is a sham.",
        "line": "- Abe: age: 61; appearance: a lame left leg",
    },
    "zh": {
        "people": ("小满", "阿布", "林叔"),
        "texts": ("小满等着。阿布来了。", "阿布走了。", "小满睡了。"),
        "fields": {"年龄": "61", "外貌": "左腿瘸"},
        "later": "左腿是木头的",
        "secret": "阿布的左腿瘸是装的。",
        "line": "- 阿布：年龄：61；外貌：左腿瘸",
    },
}


@pytest.fixture(params=STORIES)
def told(request: pytest.FixtureRequest) -> dict[str, Any]:
    return {"language": request.param, **STORIES[request.param]}


@pytest.fixture
@copied
def story(memory: Memory, told: dict[str, Any]) -> Story:
    """Three scenes; the second of the people has a card with fields, which another wording replaces from 1:3 on."""
    story = memory.create("cards", language=told["language"])
    heroine, other, third = told["people"]
    story.entities.add(heroine, start="1:1")
    story.entities.add(other, told["fields"], start="1:1")
    story.entities.add(third, told["fields"], start="1:1")
    for number, text in enumerate(told["texts"], 1):
        story.ingest(text=text, chapter_index=1, scene_index=number)
        story.scenes.set_staging((1, number), cast=[heroine, other])
    return story


def _context(story: Story, told: dict[str, Any], place: tuple[int, int] = (1, 4), **more: Any) -> SceneMemoryContext:
    plan = {"characters": list(told["people"][:2]), "purpose": told["people"][1]}
    return story.context(*place, plan, **more)


def _fields(context: SceneMemoryContext) -> dict[str, dict[str, Any]]:
    return {context.report.names[facts.entity_id]: facts.fields for facts in context.cards}


def test_the_fields_of_planned_people_stand_below_the_states(story: Story, told: dict[str, Any]) -> None:
    """One line a card, under its own heading; nobody's who is not planned."""
    context = _context(story, told)
    assert _fields(context) == {told["people"][1]: {"age": "61", "appearance": [*told["fields"].values()][1]}}
    lines = context.as_prompt().splitlines()
    assert told["line"] in lines
    assert context.report.tokens["cards"] == context.cards[0].tokens > 0
    again = SceneMemoryContext.model_validate_json(context.model_dump_json())
    assert again.cards == context.cards


def test_a_field_is_told_from_its_place_on(story: Story, told: dict[str, Any]) -> None:
    """A later wording stands in no earlier context."""
    other = told["people"][1]
    [_, name] = told["fields"]
    story.entities.edit(other, {name: told["later"]}, start="1:3")
    before, after = (_fields(_context(story, told, (1, number)))[other]["appearance"] for number in (2, 4))
    assert (before, after) == (told["fields"][name], told["later"])


def test_a_point_of_view_is_told_of_whom_it_has_met(story: Story, told: dict[str, Any]) -> None:
    """Its own card and those of people it shared a scene with; nothing of a stranger, and no secret."""
    heroine, other, third = told["people"]
    plan = {"characters": [other, third], "purpose": other}
    assert set(_fields(story.context(1, 4, plan, pov=heroine))) == {other}
    assert set(_fields(story.context(1, 4, plan, pov=third))) == {third}
    assert set(_fields(story.context(1, 4, plan))) == {other, third}
    story.memories.add(told["secret"], start="1:2", hidden_from=[heroine])
    assert "appearance" not in _fields(story.context(1, 4, plan, pov=heroine)).get(other, {})


@pytest.mark.parametrize(("budget_tokens", "fields"), [(60, {"age": "61"}), (0, {})])
def test_cards_take_what_the_states_leave_and_repeat_none(budget_tokens: int, fields: dict[str, str]) -> None:
    """A state of that name stands in place of a field; without room there is no line."""
    entity = Entity(entity_id="C0", entity_type="character", name="Abe", profile={"age": "61", "appearance": "lame"})
    state = EntityStateSnapshot(
        project_id="p",
        entity_type="character",
        entity_id="C0",
        timestamp=datetime.now(UTC),
        state_data={"appearance": "x"},
    )
    found = FoundStory(StoryOutline(project_id="p", entities=[entity]), SearchResult(), (state,), ())
    facts = card_facts(
        found,
        ["C0"],
        [state],
        view_cut=None,
        labels=labels_for("en"),
        budget_tokens=budget_tokens,
        count_tokens=estimate_tokens,
    )
    assert [fact.fields for fact in facts] == ([fields] if fields else [])
