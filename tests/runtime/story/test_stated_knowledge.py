"""What an author says of things and people is known to whom the author puts in its scene, names or makes the holder."""

import itertools
import re
from pathlib import Path
from typing import Any

import pytest

from novelgen.context.labels import labels_for
from novelgen.errors import UserInputError
from novelgen.models.context import SceneMemoryContext
from novelgen.models.memory import PASSAGE_TYPES
from runtime.front_door import Memory
from runtime.story.base import as_part
from runtime.story.scene_reading import StorySceneStates
from runtime.story.story import Story
from tests.support.copied_stories import copied
from tests.support.variants import variants

STORIES: dict[str, dict[str, Any]] = {
    "en": {
        "people": ("Ada Penrose", "Roe", "Gray", "Tom Holt"),
        "texts": (
            "Ada Penrose signed the book. Roe nodded.",
            "The cabin was small. Roe filled most of it.",
            "It rained.",
        ),
        "things": ("the lamp key", "the penny", "the old sword"),
        "held": "The lamp key is with Roe.",
        "secret": "Gray is really called Tom Holt.",
        "everyday": "For two days all were sick but the cook, and nobody called him anything but Pudding.",
        "loss": "The fever took nobody before the equator.",
        "revealed": "Gray is really called Tom Holt, as he told Ada Penrose himself.",
        "hidden_word": "Gray is a smuggler.",
        "word_alone": "A smuggler was hanged in the harbour.",
        "word_and_name": "Gray spoke like a smuggler.",
        "hidden_from": "Hidden from Ada Penrose",
        "mark": "(guess)",
        "if_there": "if Ada Penrose was, Ada Penrose knows it",
        "plot": "Gray sold the water casks to the smugglers of Tortuga.",
        "scattered": "The water was low that week. Gray slept late. Nobody spoke of the casks at dinner. "
        "The cook told a story. Smugglers were hanged in it. Everybody laughed. It rained on Tortuga.",
        "blabbed": "The rain stopped. A sailor swore that Gray had sold the water casks to smugglers. It grew dark.",
        "shot": "Gray is dead: shot once through the heart.",
        "question": "Who knocks on the hull at night?",
        "told": "Ada Penrose told Roe of the noise in the hold.",
        "told_secret": "Ada Penrose is the child of Gray, as Holt told Roe alone.",
        "fact_of": "{} limped that night.",
        "limp": "The limp of {} was never real.",
        "unmasked": "{0} stared at the face. The limp was never real, said {1}, and my true name is {2}.",
        "seems_to_tell": "seems to tell a note kept from Ada Penrose",
        "alias": "Old Salt",
        "death_kept": "{0} is dead, and was buried behind {1}'s back.",
        "done_apart": "{0} secretly burned the chart behind {1}'s back.",
        "promised": "{0} promised {1} to tell nobody who he is, not {2} either.",
        "by_relation": "{} has a bad heart; his wife does not know it.",
        "listed": "The casks of {0} are empty; only {1} and {2} know it.",
        "unknown": "{} has a weak heart; nobody knows it.",
        "suspected": "{0} suspects that {1} sold the water casks to the smugglers.",
        "kept_thread": "{captain} swears to {other} not to tell {heroine} a word.",
        "apart_thread": "Why does {captain} secretly follow {other}?",
        "keeping": "{captain} owes {other} the ship and keeps it from {heroine}.",
        "told_of_it": "{captain} told {heroine} about it.",
        "wants_to_tell": "{captain} wants to tell {heroine}.",
        "comes_up": "The noise comes again.",
        "apart_move": "{captain} asks {other} about it behind {heroine}'s back.",
        "stranger": "Nat Wick",
        "asked": "Where is {thing}? Ada Penrose asked. {holder} shrugged.",
        "shown": "{holder} took out {thing} and laid it on the table.",
    },
    "zh": {
        "people": ("沈青", "柳十三", "哑伯", "谢无咎"),
        "texts": ("沈青坐在船头。柳十三点了点头。", "舱里很窄。柳十三占去大半。", "下雨了。"),
        "things": ("铜钥匙", "银锁", "旧剑"),
        "held": "铜钥匙在柳十三手里。",
        "secret": "哑伯其实叫谢无咎。",
        "everyday": "一连两天，人人都晕船，厨子却好好的，谁也不知道他真名叫什么，只叫他汤圆。",
        "loss": "过赤道以前，热病没有带走谁。",
        "revealed": "哑伯就是谢无咎，他当着沈青说破了身份。",
        "hidden_word": "哑伯是山贼头目。",
        "word_alone": "码头上绞死了一个山贼头目。",
        "word_and_name": "哑伯说话像山贼头目。",
        "hidden_from": "以下属实，但沈青不知道",
        "mark": "（推测）",
        "if_there": "沈青若在场，便知道",
        "plot": "哑伯把淡水桶卖给了海岛上的私枭。",
        "scattered": "那一周淡水不多了。哑伯睡得很晚。饭桌上没有人提起水桶。"
        "厨子讲了一个故事。故事里绞死了几个私枭。大家都笑了，海岛上下着雨。",
        "blabbed": "雨停了。一个水手赌咒说，哑伯把淡水桶卖给了海岛上的私枭。天黑了。",
        "shot": "哑伯死了，一枪正中心口。",
        "question": "夜里是谁在敲船底？",
        "told": "沈青把后巷听到的话告诉了柳十三。",
        "told_secret": "沈青是谢无咎的儿子，哑伯只告诉了柳十三一人。",
        "fact_of": "{}那晚跛着脚。",
        "limp": "{}的跛是装的。",
        "unmasked": "{0}望着那张脸，张大了嘴。“跛是装的，讨饭也是装的。”{1}笑了笑，“我的本名叫{2}。”",
        "seems_to_tell": "似乎说破了瞒着沈青的笔记",
        "alias": "老船夫",
        "death_kept": "{0}死了，瞒着{1}。",
        "done_apart": "{0}偷偷把海图烧了，瞒着{1}。",
        "promised": "{0}答应{1}，绝不让他的身份传到{2}耳朵里。",
        "by_relation": "{}喝酒，瞒着他妻子。",
        "listed": "{0}的水桶空了，只有{1}和{2}知道。",
        "unknown": "{}心脏不好，谁也不知道。",
        "suspected": "{0}疑心{1}把淡水桶卖给了海岛上的私枭。",
        "kept_thread": "{captain}对{other}发誓，不对{heroine}说一个字。",
        "apart_thread": "{captain}为什么偷偷跟着{other}？",
        "keeping": "{captain}欠了{other}一条船，瞒着{heroine}。",
        "told_of_it": "{captain}把这事告诉了{heroine}。",
        "wants_to_tell": "{captain}想告诉{heroine}。",
        "comes_up": "船底又响了。",
        "apart_move": "{captain}瞒着{heroine}向{other}打听。",
        "stranger": "贺六",
        "asked": "“{thing}呢？”沈青问{holder}。{holder}摇摇头。",
        "shown": "{holder}取出{thing}，放在桌上。",
    },
}


@pytest.fixture(params=STORIES)
def told(request: pytest.FixtureRequest) -> dict[str, Any]:
    return {"language": request.param, **STORIES[request.param]}


@pytest.fixture
@copied
def story(memory: Memory, told: dict[str, Any]) -> Story:
    """Three scenes of two chapters without records; the author says that the heroine is in the first two."""
    story = memory.create("voyage", language=told["language"])
    heroine, captain, *_ = told["people"]
    for number, text in enumerate(told["texts"]):
        story.ingest(text=text, chapter_index=1 + number // 2, scene_index=1 + number % 2)
    for name in told["people"]:
        story.entities.add(name, start="1:1")
    story.scenes.set_staging((1, 1), cast=[heroine, captain])
    story.scenes.set_staging((1, 2), cast=[heroine, captain])
    story.scenes.set_staging((2, 1), cast=[heroine])
    return story


def _context(
    story: Story, told: dict[str, Any], *about: str, scene: int = 2, pov: str | None = None
) -> SceneMemoryContext:
    heroine = told["people"][0]
    plan = {"characters": [heroine], "purpose": " ".join([heroine, *about])}
    return story.context(2, scene, plan, pov=pov or heroine, knowledge="separate")


def _states(story: Story, context: SceneMemoryContext, name: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return what a context tells of somebody or something, and what it hides."""
    entity_id = story.entities.get(name).entity.entity_id
    known, hidden = (
        next((state.state_data for state in states if state.entity_id == entity_id), {})
        for states in (context.entity_states, context.hidden.entity_states if context.hidden else [])
    )
    return known, hidden


def _notes(context: SceneMemoryContext) -> tuple[list[str], list[str]]:
    known = [memory.content for memory in context.relevant_memories]
    return known, [memory.content for memory in context.hidden.memories] if context.hidden else []


@pytest.mark.slow
@pytest.mark.parametrize(
    ("holder", "start"),
    variants(itertools.product([0, 1], ["1:1", "1:2", "2:1"]), [(0, "1:1"), (1, "1:2"), (1, "2:1")]),
)
def test_the_holder_of_a_card_is_known(story: Story, told: dict[str, Any], start: str, holder: int) -> None:
    """To whom holds it, and to whom the author has in the scene from which it holds, wherever the scenes stand."""
    name = told["people"][holder]
    story.entities.add(told["things"][0], kind="item", state={"holder": name}, start=start)
    known, hidden = _states(story, _context(story, told, told["things"][0]), told["things"][0])
    assert known["holder"] == story.entities.get(name).entity.entity_id
    assert hidden == {}


@pytest.mark.slow
def test_what_begins_where_they_are_not_is_not_known(story: Story, told: dict[str, Any]) -> None:
    """Neither are they in its scene, nor are they named."""
    _, captain, other, _ = told["people"]
    story.scenes.set_staging((1, 2), cast=[captain])
    story.scenes.set_staging((2, 1), cast=[captain])
    story.entities.add(told["things"][0], kind="item", state={"holder": other}, start="2:1")
    known, hidden = _states(story, _context(story, told, told["things"][0]), told["things"][0])
    assert "holder" not in known
    assert hidden["holder"] == story.entities.get(other).entity.entity_id


@pytest.mark.slow
def test_a_later_note_with_its_knowers_tells_an_older_state(story: Story, told: dict[str, Any]) -> None:
    """The author says that she knows it, of the state as of the note; a note hidden from her tells her none."""
    heroine, captain, *_ = told["people"]
    story.scenes.set_staging((1, 2), cast=[captain])
    story.entities.add(told["things"][0], kind="item", state={"holder": captain}, start="1:2")
    story.scenes.set_staging((2, 1), cast=[captain])
    note = story.memories.add(told["held"], start="2:1", known_by=[captain])
    assert _states(story, _context(story, told, told["things"][0]), told["things"][0])[0] == {}
    story.knowledge.set(heroine, note.note.memory_id, "knows")
    known, hidden = _states(story, _context(story, told, told["things"][0]), told["things"][0])
    assert (known["holder"], hidden) == (story.entities.get(captain).entity.entity_id, {})


@pytest.mark.slow
@pytest.mark.parametrize("content", ["loss", "told"])
def test_a_note_is_known_to_the_cast_of_its_scene(story: Story, told: dict[str, Any], content: str) -> None:
    """Also where it names nobody who is there, or nobody at all, and across chapters."""
    story.memories.add(told[content], start="2:1")
    known, hidden = _notes(_context(story, told))
    assert (told[content] in known, told[content] in hidden) == (True, False)


@pytest.mark.slow
def test_a_note_past_the_last_scene_of_its_chapter_is_of_that_scene(story: Story, told: dict[str, Any]) -> None:
    """For those who know it as for the list of a scene's notes: the next chapter's cast does not know it."""
    heroine, captain, *_ = told["people"]
    story.scenes.set_staging((1, 2), cast=[captain])
    note_id = story.memories.add(told["loss"], start="1:9").note.memory_id
    names = {knower.name for knower in story.knowledge.who_knows(note_id).known_by}
    assert (captain in names, heroine in names) == (True, False)
    with story._stores.database(story.project_id).read() as unit:
        assert [note.chunk_id for note in unit.memories.notes_of_scene((1, 2))] == [note_id]


@pytest.mark.slow
def test_an_everyday_word_of_a_secret_hides_nothing_else(story: Story, told: dict[str, Any]) -> None:
    """Who is called or told what stands in many texts; one further word tells a secret beside a name of it."""
    heroine, captain, *_ = told["people"]
    texts = [told[name] for name in ("everyday", "word_alone", "word_and_name", "told")]
    for text in texts:
        story.memories.add(text, start="1:2")
    for name in ("secret", "hidden_word", "told_secret"):
        story.memories.add(told[name], start="1:1", hidden_from=[heroine], known_by=[captain])
    story.ingest(text=told["everyday"], chapter_index=2, scene_index=2)
    story.scenes.set_staging((2, 2), cast=[heroine])
    story.memories.add(told["secret"], start="2:3", hidden_from=[heroine])
    known, hidden = _notes(_context(story, told, *texts, scene=3))
    assert told["everyday"] not in hidden
    assert {told["everyday"], told["word_alone"], told["told"]} <= set(known)
    assert told["word_and_name"] not in known
    assert told["word_and_name"] in hidden


@pytest.mark.slow
@pytest.mark.parametrize("by", ["the note itself", "another note"])
def test_a_disguise_is_known_with_the_name_behind_it(story: Story, told: dict[str, Any], by: str) -> None:
    """It is hidden until a note that she knows says whom it hides: the hidden one from a scene on, or another."""
    heroine, _, shown, behind = told["people"]
    note = story.memories.add(told["secret"], start="1:1", hidden_from=[heroine])
    story.entities.edit(behind, {}, state={"disguise": shown}, start="1:1")
    known, hidden = _states(story, _context(story, told, shown), behind)
    assert "disguise" not in known
    assert "disguise" in hidden
    if by == "the note itself":
        story.knowledge.set(heroine, note.note.memory_id, "knows", start="2:1")
    else:
        story.memories.add(told["revealed"], start="2:1", known_by=[heroine])
    known, hidden = _states(story, _context(story, told, shown, behind), behind)
    assert "disguise" in known
    assert hidden == {}
    earlier = story.context(1, 2, {"characters": [heroine, shown], "purpose": shown}, pov=heroine)
    assert _states(story, earlier, behind)[0] == {}
    assert told["secret"] not in _notes(earlier)[0]


@pytest.mark.slow
def test_what_a_guessed_absence_hides_is_marked(story: Story, told: dict[str, Any]) -> None:
    """Where nobody says who was there: the line, its state, a line on the marks and an issue with the command."""
    heroine, captain, *_ = told["people"]
    story.ingest(text=told["texts"][1], chapter_index=2, scene_index=2)
    story.entities.add(told["things"][0], kind="item", state={"holder": captain}, start="2:2")
    story.scenes.set_staging((2, 1), cast=[told["people"][2]])
    context = _context(story, told, told["things"][0], captain, scene=3)
    assert context.hidden is not None
    assert {tuple(place) for item in context.hidden.items for place in item.guessed_in} == {(2, 2)}
    [state] = [state for state in context.hidden.entity_states if "holder" in state.state_data]
    assert state.guessed_in == {"holder": (2, 2)}
    view = context.report.point_of_view
    assert view is not None
    assert (view.guessed_scenes, view.doubted_scenes) == ([], [(2, 2)])
    hidden_part = context.as_prompt().split(told["hidden_from"])[-1]
    assert told["mark"] in hidden_part
    assert told["if_there"] in context.as_prompt()
    [issue] = [issue.message for issue in context.report.issues if issue.stage == "knowledge"]
    assert f"that {heroine!r} was not in 2:2 is a guess" in issue
    assert "novelgen scene set voyage 2:2 --cast" in issue
    story.scenes.set_staging((2, 2), cast=[captain])
    context = _context(story, told, told["things"][0], captain, scene=3)
    assert context.hidden is not None
    assert not any(item.guessed_in for item in context.hidden.items)
    assert told["if_there"] not in context.as_prompt()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("about", "start"),
    variants(itertools.product([True, False], ["1:1", "1:2", "2:1"]), [(True, "1:2"), (False, "2:1")]),
)
def test_a_thread_of_the_author_is_known_to_the_cast_of_its_scene(
    story: Story, told: dict[str, Any], start: str, about: bool
) -> None:
    """And to whom it is about; to others it is hidden."""
    heroine, captain, *_ = told["people"]
    story.threads.add(told["question"], start=start, characters=[heroine] if about else [])
    if about:
        for place in ("1:1", "1:2", "2:1"):
            story.scenes.set_staging(place, cast=[captain])
    assert told["question"] in _context(story, told).as_prompt().split(told["hidden_from"])[0]


@pytest.mark.slow
@pytest.mark.parametrize("about_it", [False, True])
def test_a_note_beside_a_secret_of_few_words_is_known(story: Story, told: dict[str, Any], about_it: bool) -> None:
    """Of another thing in the same box, to whom is in its scene; one on the hidden thing stays hidden."""
    heroine, captain, *_ = told["people"]
    first, second, box = told["things"]
    for name in (first, second, box):
        story.entities.add(name, kind="item", start="1:1")
    secret = {"en": "{0} is locked in {1} of {2}.", "zh": "{0}锁在{2}的{1}里。"}[told["language"]]
    story.memories.add(secret.format(first, box, captain), start="1:2", known_by=[captain], hidden_from=[heroine])
    story.scenes.set_staging("2:1", cast=[heroine, captain])
    text = {"en": "{0} is with {2}, locked in {1}.", "zh": "{0}在{2}手里，锁在{1}中。"}[told["language"]]
    content = text.format(first if about_it else second, box, captain)
    story.memories.add(content, start="2:1")
    known, hidden = _notes(_context(story, told))
    assert (content in known, content in hidden) == (not about_it, about_it)


@pytest.mark.slow
@pytest.mark.parametrize("content", ["loss", "fact_of"])
def test_a_note_of_the_planned_scene_is_known_to_its_stated_cast(
    story: Story, told: dict[str, Any], content: str
) -> None:
    """In the context of the scene from which it holds; not to whom the author has elsewhere, nor what is apart."""
    _, captain, other, _ = told["people"]
    text = told[content].format(other)
    story.memories.add(text, start="2:1")
    apart = told["done_apart"].format(other, captain)
    story.memories.add(apart, start="2:1")
    known, hidden = _notes(_context(story, told, scene=1))
    assert (text in known, apart in hidden) == (True, True)
    story.scenes.set_staging("2:1", cast=[captain])
    known, hidden = _notes(_context(story, told, scene=1))
    assert (text in known, text in hidden) == (False, True)


def test_a_note_of_the_planned_scene_that_only_rules_hide_is_marked(story: Story, told: dict[str, Any]) -> None:
    """Nobody has said who is in that scene; one that the author hides has no mark."""
    heroine, _, other, _ = told["people"]
    unsaid, secret = told["fact_of"].format(other), told["limp"].format(other)
    story.memories.add(unsaid, start="3:1")
    story.memories.add(secret, start="3:1", hidden_from=[heroine])
    plan = {"characters": [heroine], "purpose": heroine}
    context = story.context(3, 1, plan, pov=heroine, knowledge="separate")
    prompt = context.as_prompt()
    assert [text in _notes(context)[1] for text in (unsaid, secret)] == [True, True]
    assert f"{unsaid}{'' if told['language'] == 'zh' else ' '}{told['mark']}" in prompt
    assert f"{secret}{'' if told['language'] == 'zh' else ' '}{told['mark']}" not in prompt


@pytest.mark.slow
@pytest.mark.parametrize("about", [True, False])
@pytest.mark.parametrize("kind", ["kept_thread", "apart_thread"])
def test_a_thread_is_kept_by_its_words_as_a_note_is(story: Story, told: dict[str, Any], kind: str, about: bool) -> None:
    """Though she is in the cast of its scene; a plain thread of that scene is known to her."""
    heroine, captain, other, _ = told["people"]
    people = [captain, other] if about else []
    story.scenes.set_staging("1:2", cast=[heroine, captain, other])
    text = told[kind].format(heroine=heroine, captain=captain, other=other)
    for thread in (text, told["question"]):
        story.threads.add(thread, start="1:2", characters=people)
    known, _, hidden = _context(story, told).as_prompt().partition(told["hidden_from"])
    assert [text in known, text in hidden, told["question"] in known] == [False, True, True]


@pytest.mark.parametrize(
    ("thread", "move", "is_there", "is_known"),
    [
        ("keeping", "told_of_it", True, True),
        ("keeping", "told_of_it", False, True),
        ("keeping", "comes_up", True, False),
        ("question", "comes_up", True, True),
        ("question", "comes_up", False, False),
        ("question", "wants_to_tell", False, False),
        ("question", "apart_move", True, False),
    ],
)
def test_a_thread_is_known_from_the_scene_of_a_move_on_that_tells_it(
    story: Story, told: dict[str, Any], thread: str, move: str, *, is_there: bool, is_known: bool
) -> None:
    """To its stated cast and to whom its words name as told, but for what its words keep from them."""
    heroine, captain, other, _ = told["people"]
    names = {"heroine": heroine, "captain": captain, "other": other}
    story.scenes.set_staging("1:2", cast=[captain, other])
    story.scenes.set_staging("2:1", cast=[captain, other, *([heroine] if is_there else [])])
    text = told[thread].format(**names)
    loop_id = story.threads.add(text, characters=[captain, other], start="1:2").loop_id
    story.threads.advance(loop_id, told[move].format(**names), start="2:2")

    def knows(scene: int) -> bool:
        known, _, hidden = _context(story, told, scene=scene).as_prompt().partition(told["hidden_from"])
        assert (text in known) is not (text in hidden)
        knowers = [knower.name for knower in story.knowledge.who_knows(loop_id, as_of=(2, scene)).known_by]
        assert (heroine in knowers, knowers[0]) == (text in known, "reader")
        return text in known

    assert (knows(1), knows(2)) == (False, is_known)
    # The author's own word outranks both, until it is taken back.
    story.knowledge.set(heroine, loop_id, "hidden" if is_known else "knows", start="2:2")
    assert (knows(1), knows(2)) == (False, not is_known)
    story.knowledge.forget(heroine, loop_id)
    assert knows(2) is is_known


@pytest.mark.parametrize(("is_there", "says_it"), [(False, False), (True, False), (False, True)])
def test_a_thread_that_ended_without_them_is_open_for_them(
    story: Story, told: dict[str, Any], *, is_there: bool, says_it: bool
) -> None:
    """With the mark of a belief; that and how it ended is hidden, and a thread of others is not listed."""
    heroine, captain, other, _ = told["people"]
    names = {"heroine": heroine, "captain": captain, "other": other}
    debt = {"en": f"{heroine} owes {captain} a penny.", "zh": f"{heroine}欠{captain}一文钱。"}[told["language"]]
    paid = {"en": f"{other} paid it.", "zh": f"{other}替她还了。"}[told["language"]]
    belief = labels_for(told["language"]).believed.format(heroine)
    story.scenes.set_staging("1:1", cast=[heroine, captain, other])
    story.scenes.set_staging("2:1", cast=[captain, other, *([heroine] if is_there else [])])
    loop_id = story.threads.add(debt, characters=[heroine, captain], scene_id="1:1").loop_id
    of_others = story.threads.add(told["question"], characters=[captain, other], scene_id="1:1").loop_id
    for ended_id in (loop_id, of_others):
        ending = f"{paid}{told['told_of_it'].format(**names)}" if says_it else paid
        story.threads.resolve(ended_id, ending, scene_id="2:1")
    known, _, hidden = _context(story, told, scene=2).as_prompt().partition(told["hidden_from"])
    is_open = not is_there and not says_it
    assert (f"{debt}{belief}" in known, paid in hidden) == (is_open, is_open)
    assert told["question"] not in known + hidden
    assert paid not in known
    before = _context(story, told, scene=1).as_prompt().partition(told["hidden_from"])[0]
    assert debt in before
    assert belief not in before


def test_that_they_were_not_told_of_an_end_is_a_guess_where_nobody_says_who_was_there(
    story: Story, told: dict[str, Any]
) -> None:
    """Both lines have the mark, and the command that says who was there takes it away."""
    heroine, captain, _, _ = told["people"]
    debt = {"en": f"{heroine} owes {captain} a penny.", "zh": f"{heroine}欠{captain}一文钱。"}[told["language"]]
    paid = {"en": "Somebody paid it.", "zh": "有人还了。"}[told["language"]]
    story.ingest(text=told["texts"][2], chapter_index=2, scene_index=2)
    loop_id = story.threads.add(debt, characters=[heroine, captain], scene_id="1:1").loop_id
    story.threads.resolve(loop_id, paid, scene_id="2:2")

    def lines() -> list[str]:
        prompt = _context(story, told, scene=3).as_prompt()
        return [line for line in prompt.splitlines() if debt in line]

    known, hidden = lines()
    assert known.endswith(told["mark"])
    assert hidden.endswith(told["mark"])
    issues = str(_context(story, told, scene=3).report.issues)
    assert "was not in 2:2 is a guess" in issues
    assert "whether" not in issues.partition("2:2")[0]
    story.scenes.set_staging("2:2", cast=[captain])
    assert not any(line.endswith(told["mark"]) for line in lines())
    story.scenes.set_staging("2:2", cast=[heroine])
    assert lines() == []


def test_a_thread_from_the_first_scene_on_is_of_that_scene(story: Story, told: dict[str, Any]) -> None:
    """As a note from there is: who is only in a later scene does not know it."""
    heroine, captain, other, _ = told["people"]
    story.scenes.set_staging("1:1", cast=[heroine, captain])
    story.scenes.set_staging("1:2", cast=[captain, other])
    content = {"en": "The hull leaks at the stern.", "zh": "船尾漏水。"}[told["language"]]
    ids = [story.threads.add(content, start="1:1").loop_id, story.memories.add(content, start="1:1").note.memory_id]
    for source_id in ids:
        knowers = {knower.name for knower in story.knowledge.who_knows(source_id, as_of="2:1").known_by}
        assert knowers - {"reader"} == {heroine, captain}


def test_a_move_from_a_stored_scene_on_is_of_that_scene(story: Story, told: dict[str, Any]) -> None:
    """Nobody of the scene before it learns of the thread, nor does a guessed cast."""
    heroine, captain, other, _ = told["people"]
    story.scenes.set_staging("1:1", cast=[captain, other])
    story.scenes.set_staging("2:1", cast=[captain])
    loop_id = story.threads.add(told["question"], characters=[captain, other], scene_id="1:1").loop_id
    story.threads.advance(loop_id, told["comes_up"], start="2:1")
    assert told["question"] in _context(story, told).as_prompt().partition(told["hidden_from"])[2]
    story.ingest(text=told["texts"][2], chapter_index=2, scene_index=2)
    story.threads.advance(loop_id, told["comes_up"])

    def hidden_line() -> str:
        hidden = _context(story, told, scene=3).as_prompt().rpartition(told["hidden_from"])[2]
        return next(line for line in hidden.splitlines() if told["question"] in line)

    # Nobody said who was in the scene of the move: that she does not know the thread is a guess.
    assert hidden_line().endswith(told["mark"])
    assert "novelgen scene set voyage 2:2 --cast" in str(_context(story, told, scene=3).report.issues)
    story.scenes.set_staging("2:2", cast=[captain])
    assert not hidden_line().endswith(told["mark"])
    story.scenes.set_staging("2:2", cast=[heroine])
    assert told["question"] not in _context(story, told, scene=3).as_prompt().partition(told["hidden_from"])[2]


@pytest.mark.slow
def test_a_thread_of_the_author_begun_elsewhere_is_hidden(story: Story, told: dict[str, Any]) -> None:
    """Neither is she in its scene, nor is it about her; that she is in the scene before tells her nothing."""
    _, captain, other, _ = told["people"]
    story.scenes.set_staging("2:1", cast=[captain])
    story.threads.add(told["question"], start="2:1", characters=[other])
    known, _, hidden = _context(story, told).as_prompt().partition(told["hidden_from"])
    assert told["question"] not in known
    assert told["question"] in hidden


@pytest.mark.slow
def test_a_long_passage_that_holds_the_words_of_a_secret_here_and_there_is_told(
    story: Story, told: dict[str, Any]
) -> None:
    """Two sentences tell a secret, not words that chance gathers over a page; a sentence that tells it is hidden."""
    heroine, captain, other, _ = told["people"]
    story.memories.add(told["plot"], start="1:1", hidden_from=[heroine], known_by=[captain])
    for number, text in enumerate((told["scattered"], told["blabbed"]), 2):
        story.ingest(text=text, chapter_index=2, scene_index=number)
        story.scenes.set_staging((2, number), cast=[heroine, other])
    known, hidden = _notes(_context(story, told, told["plot"], scene=4))
    assert told["scattered"] in known
    assert told["blabbed"] in hidden
    # The scene before a note shares one word with it.
    story.memories.add(told["plot"], start="2:3", hidden_from=[heroine])
    known, _ = _notes(_context(story, told, told["plot"], scene=4))
    assert told["scattered"] in known


@pytest.mark.slow
def test_a_wound_in_the_heart_is_no_thought(story: Story, told: dict[str, Any]) -> None:
    """Who was there knows of the death; a heavy heart is a thought of its own."""
    story.memories.add(told["shot"], start="2:1")
    known, _ = _notes(_context(story, told, told["shot"]))
    assert told["shot"] in known


@pytest.mark.slow
def test_a_scene_with_the_point_of_view_that_tells_a_note_kept_from_it_is_marked(
    story: Story, told: dict[str, Any]
) -> None:
    """The passage stays hidden as a guess, the note without a mark, and an issue has the command that settles it."""
    heroine, _, third, fourth = told["people"]
    limp, scene_text = told["limp"], told["unmasked"].format(heroine, third, fourth)
    story.ingest(text=scene_text, chapter_index=2, scene_index=2)
    story.scenes.set_staging((2, 2), cast=[heroine, third])
    note = story.memories.add(limp.format(third), start="2:2", hidden_from=[heroine]).note
    context = _context(story, told, third, scene=3)
    assert context.hidden is not None
    guesses = {item.text: [tuple(place) for place in item.guessed_in] for item in context.hidden.items}
    assert guesses == {note.content: [], scene_text: [(2, 2)]}
    view = context.report.point_of_view
    assert view is not None
    assert (view.doubted_scenes, view.doubted_notes) == ([], [(note.memory_id, 2, 2)])
    assert told["seems_to_tell"] in context.as_prompt()
    [issue] = [issue.message for issue in context.report.issues if issue.stage == "knowledge"]
    assert f'novelgen memory knowledge voyage {note.memory_id} "{heroine}" knows --from 2:3' in issue
    story.knowledge.set(heroine, note.memory_id, "knows", start="2:3")
    context = _context(story, told, third, scene=3)
    known, hidden = _notes(context)
    assert {note.content, scene_text} <= set(known)
    assert hidden == []
    assert not [issue for issue in context.report.issues if issue.stage == "knowledge"]


@pytest.mark.slow
@pytest.mark.parametrize(("scene", "others"), [("1:1", ["1:2", "2:1"]), ("1:2", ["1:1", "2:1"])])
def test_a_fact_of_a_scene_is_known_to_its_cast_alone(
    story: Story, told: dict[str, Any], scene: str, others: list[str]
) -> None:
    """Of a scene in the middle of a chapter as of its last one: nobody of the next scene was there."""
    heroine, captain, third, _ = told["people"]
    note = story.memories.add(told["fact_of"].format(third), scene_id=scene).note
    for place in (scene, *others):
        story.scenes.set_staging(place, cast=[heroine if place == scene else captain])
    assert note.content in _notes(_context(story, told, third))[0]
    for place in (scene, *others):
        story.scenes.set_staging(place, cast=[captain if place == scene else heroine])
    assert note.content in _notes(_context(story, told, third))[1]
    with pytest.raises(UserInputError, match="give scene_id or start, not both"):
        story.memories.add(told["fact_of"].format(third), scene_id=scene, start="2:1")


@pytest.mark.slow
@pytest.mark.parametrize(("start", "cast_of"), [("1:3", "1:2"), ("2:1", "2:1")])
def test_what_begins_after_the_last_scene_of_a_chapter_is_of_that_scene(
    story: Story, told: dict[str, Any], start: str, cast_of: str
) -> None:
    """A state and a thread from 1:3 on are of 1:2, and from 2:1 on of 2:1, though both stand after 1:2."""
    heroine, captain, _, fourth = told["people"]
    thing = told["things"][0]
    story.entities.add(thing, kind="item", start="1:1")
    story.entities.edit(thing, {}, state={"condition": told["loss"]}, start=start)
    story.threads.add(told["question"], characters=[fourth], start=start)
    for is_there in (True, False):
        for place in ("1:1", "1:2", "2:1"):
            story.scenes.set_staging(place, cast=[heroine if (place == cast_of) is is_there else captain])
        context = _context(story, told, thing)
        states = _states(story, context, thing)
        parts = context.as_prompt().split(told["hidden_from"])
        assert ["condition" in state for state in states] == [is_there, not is_there]
        assert [told["question"] in part for part in (*parts, "")[:2]] == [is_there, not is_there]


@pytest.mark.slow
def test_a_note_from_the_middle_of_a_chapter_is_known_to_the_cast_of_that_scene(
    story: Story, told: dict[str, Any]
) -> None:
    """Who was in the scene before with its people does not know it."""
    heroine, captain, other, _ = told["people"]
    for place, cast in (("1:1", [heroine, captain, other]), ("1:2", [captain, other]), ("2:1", [heroine, captain])):
        story.scenes.set_staging(place, cast=cast)
    note = story.memories.add(told["fact_of"].format(other), start="1:2").note
    assert note.content in _notes(_context(story, told, other))[1]
    assert note.content in _notes(_context(story, told, other, pov=captain))[0]


def _scenes_of_notes(story: Story, as_of: str | None = None) -> dict[str, list[str]]:
    """Return the notes that each scene lists, with as many as the list of scenes counts."""
    noted = {}
    for state in as_part(story, StorySceneStates).list_states(as_of=as_of):
        place = f"{state.chapter_index}:{state.scene_index}"
        facts = story.scenes.read(place, as_of=as_of).facts
        noted[place] = [fact.text for fact in facts if fact.is_note]
        assert state.facts == sum(fact.kind == "memory" for fact in facts)
    return noted


@pytest.mark.slow
def test_each_note_is_listed_beside_the_scene_of_which_it_is_a_fact(story: Story, told: dict[str, Any]) -> None:
    """One from a scene that is not stored yet is beside the last one before, and one without a place beside none."""
    starts = ("1:1", "1:2", "1:3", "2", "2:1", "2:2", "3:1", None)
    notes = {start: story.memories.add(f"{told['everyday']} {start}", start=start).note.content for start in starts}
    of_scene = story.memories.add(told["loss"], scene_id="1:1").note
    expected = {
        "1:1": [notes["1:1"], of_scene.content],
        "1:2": [notes["1:2"], notes["1:3"]],
        "2:1": [notes["2"], notes["2:1"], notes["2:2"], notes["3:1"]],
    }
    assert _scenes_of_notes(story) == expected
    # Read at 2:1, what holds from there on stands beside the last scene that is read.
    assert _scenes_of_notes(story, "2:1") == {
        "1:1": expected["1:1"],
        "1:2": [notes["2"], notes["1:2"], notes["1:3"], notes["2:1"]],
    }
    story.ingest(text=told["texts"][2], chapter_index=3, scene_index=1)
    assert _scenes_of_notes(story) == {**expected, "2:1": expected["2:1"][:3], "3:1": [notes["3:1"]]}
    story.memories.delete(of_scene.memory_id)
    assert [fact.text for fact in story.scenes.read("1:1").rejected] == [of_scene.content]
    [fact] = [fact for fact in story.scenes.read("1:2").facts if fact.text == notes["1:2"]]
    assert not fact.may_be_proved
    story.memories.edit(fact.source_id, start="2:1")
    assert notes["1:2"] in _scenes_of_notes(story)["2:1"]


@pytest.mark.slow
def test_a_card_is_first_seen_beside_the_scene_from_which_it_is_known(story: Story, told: dict[str, Any]) -> None:
    """One from 2:1 is no newcomer of the scene before, and waits beside the last scene for its own to be stored."""
    names = dict(zip(("1:2", "2:1", "2:2"), told["things"], strict=True))
    for start, name in names.items():
        story.entities.add(name, kind="item", start=start)

    def newcomers(place: str) -> list[str]:
        return [fact.about for fact in story.scenes.read(place).facts if fact.kind == "newcomer"]

    assert set(newcomers("1:1")) == set(told["people"])
    assert [newcomers("1:2"), newcomers("2:1")] == [[names["1:2"]], [names["2:1"], names["2:2"]]]
    story.ingest(text=told["texts"][2], chapter_index=2, scene_index=2)
    assert [newcomers("2:1"), newcomers("2:2")] == [[names["2:1"]], [names["2:2"]]]


@pytest.mark.slow
def test_a_note_of_the_last_scene_stays_of_it_when_the_next_one_comes(story: Story, told: dict[str, Any]) -> None:
    """Whoever was there knows it, though the next scene has its people alone."""
    heroine, captain, other, _ = told["people"]
    story.scenes.set_staging("2:1", cast=[heroine, other])
    note = story.memories.add(told["fact_of"].format(other), start="2:2").note
    story.ingest(text=told["texts"][2], chapter_index=2, scene_index=2)
    story.scenes.set_staging("2:2", cast=[captain, other])
    assert note.content in _notes(_context(story, told, other, scene=3))[0]


@pytest.mark.slow
def test_a_thought_that_is_hidden_from_another_hides_nothing_that_she_heard(story: Story, told: dict[str, Any]) -> None:
    """The author names one from whom it is hidden; the scene is hers."""
    heroine, captain, other, fourth = told["people"]
    story.ingest(text=told["blabbed"], chapter_index=2, scene_index=1, replace=True)
    story.scenes.set_staging("2:1", cast=[heroine, captain])
    story.memories.add(told["suspected"].format(captain, other), start="2:2", hidden_from=[fourth])
    context = _context(story, told, captain, other, scene=2)
    assert context.hidden is not None
    assert not [memory for memory in context.hidden.memories if memory.content_type in PASSAGE_TYPES]
    assert told["blabbed"] in context.as_prompt().partition(told["hidden_from"])[0]


def _knowers(story: Story, told: dict[str, Any], note_id: str, as_of: Any = (2, 2)) -> set[str]:
    known = story.knowledge.who_knows(note_id, as_of=as_of).known_by
    return {knower.name for knower in known} & {*told["people"]}


@pytest.mark.parametrize("start", [None, "1:2", "2:1"])
def test_who_is_said_to_know_a_note_takes_it_from_nobody(story: Story, told: dict[str, Any], start: str | None) -> None:
    """At its own place and later, of a fact and of one whose words list who knows it."""
    heroine, captain, other, fourth = told["people"]
    fact = story.memories.add(told["fact_of"].format(captain), start="1:2").note
    assert _knowers(story, told, fact.memory_id) == {heroine, captain}
    story.knowledge.set(other, fact.memory_id, "knows", start=start)
    assert _knowers(story, told, fact.memory_id) == {heroine, captain, other}
    listed = story.memories.add(told["listed"].format(fourth, heroine, captain), start="1:2").note
    story.knowledge.set(other, listed.memory_id, "knows", start=start)
    assert _knowers(story, told, listed.memory_id) == {heroine, captain, other}
    assert (other in _knowers(story, told, listed.memory_id, "1:2")) is (start != "2:1")
    story.knowledge.set(captain, listed.memory_id, "hidden", start=start)
    assert _knowers(story, told, listed.memory_id) == {heroine, other}


@pytest.mark.parametrize("start", [None, "1:2", "2:1"])
def test_a_list_of_knowers_stays_a_list(story: Story, told: dict[str, Any], start: str | None) -> None:
    """One may be added to it, and it may be said how somebody on it knows it; nobody else knows it."""
    _, captain, other, fourth = told["people"]
    listed = story.memories.add(told["limp"].format(fourth), start="1:2", known_by=[captain]).note
    assert _knowers(story, told, listed.memory_id) == {captain}
    story.knowledge.set(captain, listed.memory_id, "knows", how="deduced", start=start)
    assert _knowers(story, told, listed.memory_id) == {captain}
    story.knowledge.set(other, listed.memory_id, "knows", start=start)
    assert _knowers(story, told, listed.memory_id) == {captain, other}


def test_an_added_knower_stays_one(memory: Memory, story: Story, told: dict[str, Any], tmp_path: Path) -> None:
    """Taken back, undone, moved with its note, exported and imported."""
    heroine, captain, other, fourth = told["people"]
    listed = story.memories.add(told["limp"].format(fourth), start="1:2", known_by=[captain]).note
    fact = story.memories.add(told["fact_of"].format(captain), start="1:2").note
    story.knowledge.set(other, fact.memory_id, "knows")
    story.knowledge.forget(other, fact.memory_id)
    assert _knowers(story, told, fact.memory_id) == {heroine, captain}
    story.undo()
    assert _knowers(story, told, fact.memory_id) == {heroine, captain, other}
    story.memories.edit(fact.memory_id, start="1:3")
    story.project.export(folder=tmp_path / "out")
    memory.import_from(tmp_path / "out", project_id="again")
    for whole in (story, memory.story("again")):
        assert _knowers(whole, told, fact.memory_id) == {heroine, captain, other}
        assert _knowers(whole, told, listed.memory_id) == {captain}


@pytest.fixture
def apart(story: Story, told: dict[str, Any]) -> Story:
    """The heroine and the captain are together, apart and together again, and no text names a thing."""
    heroine, captain, other, _ = told["people"]
    story.scenes.set_staging((1, 2), cast=[captain, other])
    story.scenes.set_staging((2, 1), cast=[heroine, captain])
    return story


@pytest.mark.slow
@pytest.mark.parametrize(
    ("is_new", "start"),
    variants(itertools.product([True, False], ["2:1", "1:2", "1:3"]), [(True, "2:1"), (False, "1:2")]),
)
def test_a_meeting_does_not_tell_what_changed_hands_elsewhere(
    apart: Story, told: dict[str, Any], start: str, is_new: bool
) -> None:
    """A later scene with the point of view tells the holder where its text names thing and holder, and asks nothing."""
    heroine, captain, *_ = told["people"]
    thing = told["things"][0]
    holder = apart.entities.get(captain).entity.entity_id
    before = {}
    if is_new:
        apart.entities.add(thing, kind="item", state={"holder": captain}, start=start)
    else:
        apart.entities.add(thing, kind="item", state={"holder": heroine}, start="1:1")
        before = {"holder": apart.entities.get(heroine).entity.entity_id}
        apart.entities.edit(thing, {"holder": captain}, start=start)
    assert _states(apart, _context(apart, told, thing), thing) == (before, {"holder": holder})
    texts = [told[name].format(thing=thing, holder=captain) for name in ("asked", "shown")]
    for number, text in enumerate(texts, 2):
        apart.ingest(text=text, chapter_index=2, scene_index=number)
        apart.scenes.set_staging((2, number), cast=[heroine, captain])
    assert _states(apart, _context(apart, told, thing, scene=3), thing) == (before, {"holder": holder})
    assert _states(apart, _context(apart, told, thing, scene=4), thing) == ({"holder": holder}, {})


@pytest.mark.parametrize(
    ("attribute", "shows"), [("physical_state", True), ("status", True), ("identity", False), ("inventory", False)]
)
def test_a_meeting_shows_how_a_person_is(apart: Story, told: dict[str, Any], attribute: str, shows: bool) -> None:
    """It shows a wound, and neither what they really are nor what is in their pockets."""
    captain = told["people"][1]
    apart.entities.edit(captain, {}, state={attribute: told["stranger"]}, start="2:1")
    known, hidden = _states(apart, _context(apart, told, captain), captain)
    assert (attribute in known, attribute in hidden) == (shows, not shows)


def test_a_thing_without_a_known_name_stands_in_the_hidden_part(apart: Story, told: dict[str, Any]) -> None:
    """No line has an id in place of a name; a thing in their own hands has its name."""
    heroine, captain, *_ = told["people"]
    _, thing, own_thing = told["things"]
    for name, holder in ((thing, captain), (own_thing, heroine)):
        apart.entities.add(name, kind="item", start="1:3")
        apart.entities.edit(name, {"holder": holder}, start="2:2")
    context = _context(apart, told, captain)
    known, hidden = _states(apart, context, thing)
    assert (known, list(hidden)) == ({}, ["holder"])
    assert _states(apart, context, own_thing)[0] == {"holder": apart.entities.get(heroine).entity.entity_id}
    prompt = context.as_prompt()
    assert re.search(r"\b[CI]\d+", prompt) is None
    assert prompt.index(own_thing) < prompt.index(told["hidden_from"]) < prompt.index(thing)


def test_a_holder_without_a_known_name_stands_in_the_hidden_part(apart: Story, told: dict[str, Any]) -> None:
    """The state of a thing is never in neither part."""
    thing = told["things"][0]
    apart.entities.add(told["stranger"], start="1:3")
    apart.entities.add(thing, kind="item", start="1:1")
    apart.scenes.set_staging((2, 1), cast=[told["people"][0], told["stranger"]])
    apart.entities.edit(thing, {"holder": told["stranger"]}, start="2:2")
    context = _context(apart, told, thing)
    stranger = apart.entities.get(told["stranger"]).entity.entity_id
    assert _states(apart, context, thing) == ({}, {"holder": stranger})
    prompt = context.as_prompt()
    assert prompt.index(told["hidden_from"]) < prompt.index(told["stranger"])


@pytest.mark.slow
def test_a_note_ahead_of_the_story_hides_no_words_of_it(story: Story, told: dict[str, Any]) -> None:
    """Its chapter has fewer scenes than the note says."""
    heroine, captain, *_ = told["people"]
    story.ingest(text=told["blabbed"], chapter_index=2, scene_index=1, replace=True)
    story.scenes.set_staging("2:1", cast=[heroine, captain])
    story.memories.add(told["plot"], start="3:3", hidden_from=[heroine], known_by=[captain])
    story.ingest(text=told["texts"][2], chapter_index=3, scene_index=1)
    story.scenes.set_staging("3:1", cast=[heroine, captain])
    context = story.context(4, 1, {"characters": [heroine], "purpose": told["plot"]}, pov=heroine, knowledge="separate")
    assert told["blabbed"] in context.as_prompt().partition(told["hidden_from"])[0]


@pytest.mark.slow
def test_a_note_hides_no_words_of_an_earlier_scene(story: Story, told: dict[str, Any]) -> None:
    """She was there when they were said; in its own scene, and later, they are hidden."""
    heroine, captain, *_ = told["people"]
    for scene in (1, 2):
        story.ingest(text=told["blabbed"], chapter_index=2, scene_index=scene, replace=scene == 1)
        story.scenes.set_staging((2, scene), cast=[heroine, captain])
    story.memories.add(told["plot"], start="2:3", hidden_from=[heroine])
    context = _context(story, told, told["plot"], scene=3)
    passages = (context.relevant_memories, context.hidden.memories if context.hidden else [])
    known, hidden = (
        {(m.chapter_index, m.scene_index) for m in part if m.content_type in PASSAGE_TYPES} for part in passages
    )
    assert (2, 1) in known
    assert (2, 1) not in hidden
    assert (2, 2) not in known


@pytest.mark.slow
def test_a_note_that_calls_the_disguised_by_an_alias_tells_the_disguise(story: Story, told: dict[str, Any]) -> None:
    """The state names the one for whom somebody passes in full, the note as people call them."""
    heroine, _, shown, behind = told["people"]
    story.entities.add(told["alias"], kind="character", start="1:1")
    story.entities.merge(shown, told["alias"])
    story.entities.edit(behind, {}, state={"disguise": shown}, start="1:1")
    note = story.memories.add(told["secret"].replace(shown, told["alias"]), start="1:1", hidden_from=[heroine])
    assert "disguise" not in _states(story, _context(story, told, behind), behind)[0]
    story.knowledge.set(heroine, note.note.memory_id, "knows", start="2:1")
    assert "disguise" in _states(story, _context(story, told, behind), behind)[0]


@pytest.mark.slow
def test_words_that_keep_a_note_from_one_keep_it_from_nobody_else(story: Story, told: dict[str, Any]) -> None:
    """The cast of its scene knows the note and the death that it states; done in secret, it does not."""
    _, captain, other, fourth = told["people"]
    story.memories.add(told["death_kept"].format(other, fourth), start="2:2")
    context = _context(story, told, other)
    assert "status" in _states(story, context, other)[0]
    assert told["death_kept"].format(other, fourth) in _notes(context)[0]
    hidden = told["done_apart"].format(captain, fourth)
    story.memories.add(hidden, start="2:2")
    assert hidden in _notes(_context(story, told, captain))[1]


@pytest.mark.slow
def test_the_words_of_a_note_settle_who_knows_it(story: Story, told: dict[str, Any]) -> None:
    """Beside a cast of its scene: kept from one by name, from a relation, from all but those named, from all others."""
    heroine, captain, other, fourth = told["people"]

    def knowers(content: str) -> tuple[set[str], list[str], list[str]]:
        note = story.memories.add(content, start="1:3")
        known = story.knowledge.who_knows(note.note.memory_id, as_of="2:1").known_by
        is_guess = {knower.is_guess for knower in known if knower.name in (heroine, other)}
        assert len(note.known_only_by) < 2 or is_guess <= {False}
        return {knower.name for knower in known} & {*told["people"]}, note.kept_from, note.known_only_by

    # The English words keep it from everybody, the Chinese ones from the heroine alone.
    only_knowers = [captain, fourth] if "nobody" in told["promised"] else []
    promised = told["promised"].format(captain, fourth, heroine)
    assert knowers(promised) == ({captain, fourth}, [heroine], only_knowers)
    assert knowers(told["by_relation"].format(other)) == ({heroine, captain, other}, [], [])
    listed = told["listed"].format(captain, heroine, other)
    assert knowers(listed) == ({heroine, other}, [], [heroine, other])
    assert story.memories.preview(listed, start="1:3").known_only_by == [heroine, other]
    assert knowers(told["unknown"].format(other)) == ({other}, [], [other])
    notes = [told["promised"].format(captain, fourth, heroine), told["by_relation"].format(other)]
    known, hidden = _notes(_context(story, told, captain, other, fourth, scene=1))
    assert [note in known for note in notes] == [False, True]
    assert notes[0] in hidden


@pytest.mark.slow
def test_a_note_that_a_guessed_cast_hides_has_the_mark(story: Story, told: dict[str, Any]) -> None:
    """So has the state that it sets, also where the guess has her in the scene; of a stated cast there is no doubt."""
    heroine, captain, other, _ = told["people"]
    story.ingest(text=told["texts"][0], chapter_index=3, scene_index=1)
    note = story.memories.add(told["shot"], start="3:2").note
    plan = {"characters": [heroine, other], "purpose": other}
    for is_guessed in (True, False):
        context = story.context(4, 1, plan, pov=heroine, knowledge="separate")
        assert context.hidden is not None
        [item] = [item for item in context.hidden.items if item.chunk_id == note.chunk_id]
        [state] = [state for state in context.hidden.entity_states if "status" in state.state_data]
        assert [bool(item.guessed_in), bool(state.guessed_in.get("status"))] == [is_guessed, is_guessed]
        issues = [issue.message for issue in context.report.issues if issue.stage == "knowledge"]
        # Of her own text nothing is hidden, of the notes on it this one: the report says both.
        assert not any("nothing of it is kept" in issue for issue in issues)
        assert any("did not learn what is noted of 3:1 is a guess" in issue for issue in issues) is is_guessed
        assert (told["if_there"] in context.as_prompt()) is is_guessed
        story.scenes.set_staging((3, 1), cast=[captain])


def test_a_known_note_names_the_thing_that_it_begins_with(story: Story, told: dict[str, Any]) -> None:
    """Its state is known to whom the author has in both its scenes, though no scene before has the name."""
    _, captain, *_ = told["people"]
    thing = told["things"][0]
    story.entities.add(thing, kind="item", start="1:1")
    story.memories.add(told["held"], start="2:1")
    holder = story.entities.get(captain).entity.entity_id
    assert _states(story, _context(story, told), thing) == ({"holder": holder}, {})


def test_the_answer_names_the_notes_that_a_hidden_one_hides(story: Story, told: dict[str, Any]) -> None:
    """One that tells it, and none on something else."""
    heroine, captain, *_ = told["people"]
    hidden, telling, other = (
        story.memories.add(told[name], start="2:1").note for name in ("hidden_word", "word_and_name", "loss")
    )
    answer = story.knowledge.set(heroine, hidden.memory_id, "hidden")
    assert [note.source_id for note in answer.also_hidden] == [telling.memory_id]
    assert other.memory_id not in {note.source_id for note in answer.also_hidden}
    assert story.knowledge.set(captain, other.memory_id, "hidden").also_hidden == ()


def test_who_is_dead_from_the_start_learns_nothing(story: Story, told: dict[str, Any]) -> None:
    """A note that names them as an owner is known to who was there, and not to the dead."""
    heroine, stranger = told["people"][0], told["stranger"]
    story.entities.add(stranger, state={"status": "dead"}, start="1:1")
    note = story.memories.add(told["fact_of"].format(stranger), start="1:2").note
    lists = [story.knowledge.list(who, as_of="2:2") for who in (heroine, stranger)]
    assert [note.memory_id in {one.source_id for one in facts.known} for facts in lists] == [True, False]
