"""A point of view in scenes that no model has read: who was there is a guess, and what they believe is marked."""

from typing import Any

import pytest

from novelgen.models.context import SceneMemoryContext
from novelgen.models.memory import PASSAGE_TYPES
from novelgen.models.state import EntityStateSnapshot
from runtime.front_door import Memory
from runtime.story.story import Story
from tests.support.copied_stories import copied

STORIES: dict[str, dict[str, Any]] = {
    "en": {
        "people": ("Ines", "Abe", "Cora"),
        "thing": "the brass key",
        "texts": (
            "Ines sat at the table and put the brass key into the drawer. “I keep it,” said Ines.",
            "Abe waited by the wall. Abe smiled. Ines, thin as a reed, with cold hands: the brass key round his neck.",
            "Ines walked home. “Nobody saw us,” said Ines.",
        ),
        "holders": ("Ines has the brass key.", "The brass key is in Abe's hands.", "The brass key is in Cora's hands."),
        "other": "The letter is in Ines's hands.",
        "believes": "(Ines still believes this)",
        "guess": "whether 'Ines' was in 1:1, 1:2, 1:3 is a guess",
        "mark": "(guess)",
        "explained": "if Ines was not, Ines does not know it",
        "death": "Abe is dead.",
        "private": "Cora calls Abe Tin in private.",
        "narration": "Abe waited by the wall.",
        "cart": "the yellow cart",
    },
    "zh": {
        "people": ("小满", "阿布", "林叔"),
        "thing": "铜钥匙",
        "texts": (
            "小满坐在桌边，把铜钥匙放进抽屉。“我收着。”小满说。",
            "阿布等在墙根下。阿布拍了拍胸口。小满，瘦得像一根芦苇，双手冰凉：铜钥匙挂在他的脖子上。",
            "小满走回家。“没有人看见。”小满说。",
        ),
        "holders": ("铜钥匙在小满手里。", "铜钥匙在阿布手里。", "铜钥匙在林叔手里。"),
        "other": "那封信在小满手里。",
        "believes": "（小满以为如此）",
        "guess": "whether '小满' was in 1:1, 1:2, 1:3 is a guess",
        "mark": "（推测）",
        "explained": "小满若不在场，便不知道",
        "death": "阿布死了。",
        "private": "林叔背地里叫阿布铁皮。",
        "narration": "阿布等在墙根下。",
        "cart": "黄板车",
    },
}


@pytest.fixture(params=STORIES)
def told(request: pytest.FixtureRequest) -> dict[str, Any]:
    return {"language": request.param, **STORIES[request.param]}


@pytest.fixture
@copied
def story(memory: Memory, told: dict[str, Any]) -> Story:
    """Three scenes without records: of the second the text names the heroine once."""
    story = memory.create("wall", language=told["language"])
    for name in told["people"]:
        story.entities.add(name, start="1:1")
    story.entities.add(told["thing"], kind="item", start="1:1")
    for number, text in enumerate(told["texts"], 1):
        story.ingest(text=text, chapter_index=1, scene_index=number)
    story.memories.add(told["holders"][0], start="1:2")
    return story


def _context(story: Story, told: dict[str, Any], knowledge: str) -> SceneMemoryContext:
    heroine, thing = told["people"][0], told["thing"]
    plan = {"characters": [heroine], "purpose": f"{heroine} {thing}"}
    return story.context(1, 4, plan, pov=heroine, knowledge=knowledge)  # type: ignore[arg-type]


def _key(story: Story, told: dict[str, Any], context: SceneMemoryContext, *, is_hidden: bool = False) -> Any:
    """Return the state of the key in a context, None where it has none."""
    thing = story.entities.get(told["thing"]).entity.entity_id
    states: list[EntityStateSnapshot] = context.entity_states
    if is_hidden:
        states = context.hidden.entity_states if context.hidden else []
    return next((state for state in states if state.entity_id == thing), None)


def _issues(context: SceneMemoryContext) -> list[str]:
    assert context.report is not None
    return [issue.message for issue in context.report.issues if issue.stage == "knowledge"]


@pytest.mark.slow
@pytest.mark.parametrize("knowledge", ["separate", "exclude"])
def test_who_is_away_by_a_guess_alone_knows_what_happened(story: Story, told: dict[str, Any], knowledge: str) -> None:
    """The newer holder wins, the note is known, and an issue says how to settle who was there."""
    _, other, _ = (story.entities.get(name).entity.entity_id for name in told["people"])
    assert told["people"][0] not in story.scenes.get((1, 2)).on_stage
    story.memories.add(told["holders"][1], start="1:3")
    context = _context(story, told, knowledge)
    key = _key(story, told, context)
    assert (key.state_data["holder"], key.believed) == (other, {})
    assert told["holders"][1] in [memory.content for memory in context.relevant_memories]
    assert _key(story, told, context, is_hidden=True) is None
    [issue] = _issues(context)
    assert issue.startswith(told["guess"])
    assert "scene set wall 1:3 --cast" in issue


@pytest.mark.slow
@pytest.mark.parametrize("knowledge", ["separate", "exclude"])
def test_what_is_known_by_a_guessed_presence_alone_is_marked(
    story: Story, told: dict[str, Any], knowledge: str
) -> None:
    """Passages, notes, states, threads and the scenes before carry a mark until the author states the casts."""
    heroine, other, _ = told["people"]
    thing = story.entities.get(told["thing"]).entity.entity_id
    story.memories.add(told["holders"][1], start="1:3")
    story.memories.add(told["death"], start="1:3")
    story.threads.add(told["death"], start="1:3")
    story.memories.add(told["other"], start="1:3")
    plan = {"characters": [heroine], "purpose": f"{told['thing']} {told['narration']}"}
    context = story.context(1, 4, plan, pov=heroine, knowledge=knowledge)  # type: ignore[arg-type]
    [key] = [state for state in context.entity_states if state.entity_id == thing]
    assert key.guessed_in == {"holder": (1, 2)}
    guesses = {item.text: item.guessed_in for item in context.report.items}
    # What names her she knows wherever she was.
    assert (guesses[told["death"]], guesses[told["other"]]) == ([(1, 2)], [])
    passages = [chunk for chunk in context.relevant_memories if chunk.content_type in PASSAGE_TYPES]
    assert passages
    for chunk in passages:
        assert guesses[chunk.content] == [(chunk.chapter_index, chunk.scene_index)]
    assert context.left_off
    assert context.left_off.guessed_in == [(1, 3)]
    assert context.story_so_far
    assert all(before.guessed_in for before in context.story_so_far)
    assert context.timeline_context
    assert [thread["guessed_in"] for thread in context.timeline_context["open_loops"]] == [[[1, 2]]]
    view = context.report.point_of_view
    assert view
    assert view.guessed_scenes == [(1, 1), (1, 2), (1, 3)]
    prompt = context.as_prompt().splitlines()
    assert len([line for line in prompt if told["explained"] in line]) == 1
    marked = [line for line in prompt if line.endswith(told["mark"])]
    # The end of the last scene stands in the story so far, which has its own mark.
    earlier = [chunk.content for chunk in passages if chunk.scene_index != 3]
    for line in (told["death"], told["thing"], *earlier):
        assert any(line in text for text in marked), line
    assert not any(told["other"] in text for text in marked)
    for number in (1, 2, 3):
        story.scenes.set_staging((1, number), cast=[heroine, other])
    context = _context(story, told, knowledge)
    assert told["mark"] not in context.as_prompt()
    assert "guessed_" not in context.model_dump_json()
    assert _issues(context) == []


def test_a_guess_beside_a_stated_cast_marks_nothing_that_both_tell(story: Story, told: dict[str, Any]) -> None:
    """A note between two scenes is known by the one whose cast the author stated."""
    heroine, other, _ = told["people"]
    story.scenes.set_staging((1, 3), cast=[heroine, other])
    story.memories.add(told["death"], start="1:3")
    context = _context(story, told, "separate")
    [item] = [item for item in context.report.items if item.text == told["death"]]
    assert item.guessed_in == []


@pytest.mark.slow
@pytest.mark.parametrize("knowledge", ["separate", "exclude"])
def test_a_value_that_holds_no_longer_is_a_belief(story: Story, told: dict[str, Any], knowledge: str) -> None:
    """Where the author says that she was away she believes the old holder, and the new one is hidden."""
    heroine, other, _ = (story.entities.get(name).entity.entity_id for name in told["people"])
    story.memories.add(told["holders"][1], start="1:3")
    for number, cast in enumerate(([heroine], [other], [other]), 1):
        story.scenes.set_staging((1, number), cast=cast)
    context = _context(story, told, knowledge)
    key = _key(story, told, context)
    assert (key.state_data["holder"], key.believed) == (heroine, {"holder": heroine})
    [line] = [line for line in context.as_prompt().splitlines() if told["believes"] in line]
    assert "1:1" in line
    hidden = _key(story, told, context, is_hidden=True)
    assert (hidden and hidden.state_data["holder"]) == (other if knowledge == "separate" else None)
    assert _issues(context) == []


@pytest.mark.slow
def test_no_note_is_hidden_for_the_words_of_holding(story: Story, told: dict[str, Any]) -> None:
    """Who holds a thing in secret hides no other holder, and the lists of knowledge say the same as the context."""
    heroine = told["people"][0]
    story.memories.add(told["holders"][2], start="1:4", hidden_from=[heroine])
    other = story.memories.add(told["other"], start="1:4")
    context = _context(story, told, "separate")
    known = {memory.content for memory in story.knowledge.list(heroine, as_of=(1, 4)).known}
    assert {told["holders"][0], told["other"]} <= known
    assert told["holders"][2] not in known
    hidden = {memory.content for memory in context.hidden.memories} if context.hidden else set()
    assert hidden & {told["holders"][0], told["other"], told["holders"][2]} <= {told["holders"][2]}
    assert other.note.content in known


@pytest.mark.slow
def test_a_note_that_tells_a_secret_is_known_in_neither(story: Story, told: dict[str, Any]) -> None:
    """A note about the heroine with the names of what is kept from her is hidden in the lists of knowledge as well."""
    heroine, _, keeper = told["people"]
    story.memories.add(told["holders"][2], start="1:4", hidden_from=[heroine])
    told_again = f"{heroine}, {keeper}: {told['thing']}."
    story.memories.add(told_again, start="1:4")
    knowledge = story.knowledge.list(heroine, as_of=(1, 4))
    assert told_again in {memory.content for memory in knowledge.not_known}
    context = _context(story, told, "exclude")
    assert told_again not in {memory.content for memory in context.relevant_memories}


@pytest.mark.slow
@pytest.mark.parametrize("knowledge", ["separate", "exclude"])
def test_a_disguise_that_only_the_author_states_works(story: Story, told: dict[str, Any], knowledge: str) -> None:
    """Who stood beside somebody in that scene is not shown for whom they pass; the hidden part says it."""
    heroine, other, keeper = told["people"]
    story.scenes.set_staging((1, 2), cast=[heroine, other])
    story.entities.edit(other, {"disguise": keeper}, start="1:3")
    plan = {"characters": [heroine, other], "purpose": other}
    context = story.context(1, 4, plan, pov=heroine, knowledge=knowledge)  # type: ignore[arg-type]
    assert not any("disguise" in state.state_data for state in context.entity_states)
    hidden = context.hidden.entity_states if context.hidden else []
    passes_for = [state.state_data["disguise"] for state in hidden if "disguise" in state.state_data]
    assert passes_for == ([keeper] if knowledge == "separate" else [])


@pytest.mark.parametrize("knowledge", ["separate", "exclude"])
def test_a_private_note_hides_what_it_tells_and_nothing_else(
    story: Story, told: dict[str, Any], knowledge: str
) -> None:
    """A death that she saw, and the narration of the scene, stay hers when a note on the dead man is private."""
    heroine, other, third = told["people"]
    story.scenes.set_staging((1, 2), cast=[heroine, other])
    story.memories.add(told["death"], start="1:3")
    story.memories.add(told["private"], start="1:3", known_by=[third])
    context = _context(story, told, knowledge)
    dead = story.entities.get(other).entity.entity_id
    [state] = [state for state in context.entity_states if state.entity_id == dead]
    assert "status" in state.state_data
    contents = " ".join(memory.content for memory in context.relevant_memories)
    assert told["death"] in contents
    assert told["narration"] in contents
    assert told["private"] not in contents
    hidden = [memory.content for memory in context.hidden.memories] if context.hidden else []
    assert hidden == ([told["private"]] if knowledge == "separate" else [])


def test_what_a_card_says_from_the_start_needs_no_scene(story: Story, told: dict[str, Any]) -> None:
    """The holder on a new card is known to the point of view, since no scene has to tell it."""
    other = told["people"][1]
    thing = story.entities.add(told["cart"], kind="item", holder=other, start="1:1").entity.entity_id
    plan = {"characters": [told["people"][0]], "purpose": told["cart"]}
    context = story.context(1, 4, plan, pov=told["people"][0])
    [state] = [state for state in context.entity_states if state.entity_id == thing]
    assert state.state_data["holder"] == story.entities.get(other).entity.entity_id
    assert thing not in [state.entity_id for state in (context.hidden.entity_states if context.hidden else [])]


@pytest.mark.slow
@pytest.mark.parametrize("start", [None, "1:4"])
def test_a_hidden_note_hides_the_state_that_it_states(story: Story, told: dict[str, Any], start: str | None) -> None:
    """Also where the note has no place and the point of view was last seen with the thing."""
    heroine, _, third = told["people"]
    story.ingest(text=told["texts"][0], chapter_index=1, scene_index=4)
    story.scenes.set_staging((1, 4), cast=[heroine])
    story.memories.add(told["holders"][2], start=start, hidden_from=[heroine])
    plan = {"characters": [heroine], "purpose": told["thing"]}
    context = story.context(1, 5, plan, pov=heroine)
    secret = story.entities.get(third).entity.entity_id
    key, hidden = _key(story, told, context), _key(story, told, context, is_hidden=True)
    assert key is None or key.state_data.get("holder") != secret
    assert hidden.state_data["holder"] == secret


def test_a_hidden_note_that_repeats_a_known_state_leaves_that_known(story: Story, told: dict[str, Any]) -> None:
    """What she knew of the first time stays hers; that it is so again is hidden."""
    heroine, other, third = told["people"]
    story.scenes.set_staging((1, 2), cast=[heroine, other])
    heroine_id, third_id = (story.entities.get(name).entity.entity_id for name in (heroine, third))
    story.memories.add(told["holders"][1], start="1:3", known_by=[heroine])
    plan = {"characters": [heroine], "purpose": told["thing"]}
    story.memories.add(told["holders"][2], start="1:4", known_by=[heroine])
    story.memories.add(told["holders"][1], start="1:5", hidden_from=[heroine])
    key = _key(story, told, story.context(1, 6, plan, pov=heroine))
    assert key.state_data["holder"] == third_id
    assert key.believed == {"holder": heroine_id}
