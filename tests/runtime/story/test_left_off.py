"""Where a stored story left off: cut before the scene, said where missing, kept from who was not there."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from novelgen.models.context import MemoryContextRequest, ReportIssue, SceneMemoryContext
from novelgen.models.entity import Entity
from novelgen.models.plan import ScenePlan
from novelgen.models.record import SceneRecord
from runtime.front_door import Memory
from runtime.ingest.entities import store_entities
from runtime.ingest.ingest import ingest_scene
from runtime.ingest.scene_input import SceneInput
from runtime.memory_tools import StoryMemoryTools
from runtime.stores import MemoryStores
from runtime.story.contexts import ContextBounds, ContextOptions, StoryContexts
from runtime.story.story import Story
from tests.support.demo_project import settings_for

pytestmark = pytest.mark.slow

TEXTS = {
    1: "Anna kept the lamp. Tom slept.\n\nAt last Anna rose and went to the mill.",
    2: "Tom woke alone. The bridge had fallen.\n\nHe saw the lamp in the river.",
    3: "Nobody spoke. Then the bell rang.",
}
PEOPLE = {1: ["C0", "C1"], 2: ["C1"], 3: ["C0", "C1"]}
WHO = {"C0": "Anna", "C1": "Tom"}


@pytest.fixture
def stores(tmp_path: Path) -> Iterator[MemoryStores]:
    """Stores with three scenes of two people; in the second is one of them alone."""
    with MemoryStores(settings_for(tmp_path)) as opened:
        opened.create_project("mill", language="en")
        people = [Entity(entity_id=each, entity_type="character", name=name) for each, name in WHO.items()]
        store_entities(opened, "mill", people)
        for number, text in TEXTS.items():
            tell(opened, number, text)
        yield opened


@pytest.fixture
def story(stores: MemoryStores) -> Story:
    """The story of those scenes."""
    return Story(stores, "mill")


def tell(stores: MemoryStores, number: int, text: str, *, title: str = "", **memory: Any) -> None:
    """Store a scene of chapter 1 with one memory."""
    says = {"memory_id": f"M{number}", "content": "They met.", "entities": PEOPLE.get(number, ["C0", "C1"]), **memory}
    record = SceneRecord.model_validate(
        {
            "chapter_index": 1,
            "scene_index": number,
            "characters_present": PEOPLE.get(number, ["C0", "C1"]),
            "memories": [says],
        }
    )
    ingest_scene(stores, "mill", SceneInput(chapter_index=1, scene_index=number, title=title, text=text, record=record))


def context_of(story: Story, scene: int, **options: Any) -> SceneMemoryContext:
    """Return the context of a planned scene of chapter 1."""
    return story.context(1, scene, {"purpose": "Anna and Tom meet at the bridge."}, **options)


def issues_of(context: SceneMemoryContext) -> list[ReportIssue]:
    """Return what the context says of the end of the scene before."""
    return [each for each in context.report.issues if each.stage == "left_off"]


def test_the_scene_before_ends_the_context_word_for_word(story: Story) -> None:
    """It is the last one strictly before the planned scene, also where later ones are stored."""
    for scene in (2, 3, 4):
        context = context_of(story, scene)
        assert (context.left_off.chapter_index, context.left_off.scene_index) == (1, scene - 1)
        assert context.left_off.text == TEXTS[scene - 1]
        assert context.left_off.present == PEOPLE[scene - 1]
        prompt = context.as_prompt()
        assert all(line in prompt for line in TEXTS[scene - 1].split("\n\n"))
        assert (
            context.report.tokens["left_off"] == context.report.tokens_per_need["left_off"] == context.left_off.tokens
        )
        assert SceneMemoryContext.model_validate_json(context.model_dump_json()).left_off == context.left_off


def test_before_the_first_scene_there_is_none_and_no_issue(story: Story) -> None:
    """Nothing is missing where nothing was told."""
    context = context_of(story, 1)
    assert context.left_off is None
    assert "left_off" not in context.model_dump()
    assert issues_of(context) == []


def test_its_share_of_the_budget_bounds_it(stores: MemoryStores, story: Story) -> None:
    """What does not fit is cut at a sentence; where not even the last fits that is said; 0 asks for none."""
    cases: list[tuple[int, str | None, list[str]]] = [
        (70, "He saw the lamp in the river.", []),
        (14, None, ["over_limit"]),
        (0, None, []),
    ]
    for tokens, text, kinds in cases:
        options = ContextOptions(bounds=ContextBounds(memory_budget=tokens))
        request = MemoryContextRequest(
            project_id="mill", chapter_index=1, scene_index=3, scene_plan=ScenePlan(scene_number=3)
        )
        context = StoryContexts(stores, "mill").look_at_context(request=request, options=options).context
        assert (context.left_off.text if context.left_off else None) == text
        assert [each.kind for each in issues_of(context)] == kinds


def test_a_scene_without_text_is_said(stores: MemoryStores, story: Story) -> None:
    """A record alone tells no end: the context says so and has all else."""
    tell(stores, 4, "")
    context = context_of(story, 5)
    assert context.left_off is None
    assert context.relevant_memories
    (issue,) = issues_of(context)
    assert issue.kind == "unavailable"
    assert "the text of scene 1:4 is not stored" in issue.message


def test_a_point_of_view_goes_on_from_the_scene_it_was_in(story: Story) -> None:
    """Anna was not at the bridge: from her the end of that scene is kept, and her own last one is shown."""
    for knowledge in ("separate", "exclude"):
        context = context_of(story, 3, pov="Anna", knowledge=knowledge)
        assert context.left_off.text == TEXTS[1]
    assert "bridge had fallen" not in context.as_prompt()


@pytest.mark.parametrize("is_in_title", [False, True], ids=["text", "title"])
def test_a_secret_in_the_end_of_the_scene_is_kept_from_who_was_there(
    stores: MemoryStores, story: Story, is_in_title: bool
) -> None:
    """What somebody on stage does not know of the scene before keeps its words out, and the report says why."""
    secret = "Under her cloak Anna hid the silver key from Tom."
    title, text = (secret, "Anna smiled.") if is_in_title else ("", f"Anna smiled. {secret}")
    tell(stores, 4, text, title=title, content=secret, known_by=["C0"], hidden_from=["C1"])
    hidden = context_of(story, 5, pov="Tom", knowledge="exclude")
    assert hidden.left_off is None
    assert "silver key" not in hidden.as_prompt()
    left_out = [each for each in hidden.report.left_out if each.section == "left_off"]
    assert [(each.id, each.text, each.reason) for each in left_out] == [("1:4", "", "Tom does not know all of it")]
    shown = context_of(story, 5, pov="Anna", knowledge="exclude").left_off
    assert shown is not None
    assert secret in (shown.title if is_in_title else shown.text)


SECRETS: dict[str, dict[str, Any]] = {
    "en": {
        "people": ("Nell", "Rowan"),
        "note": "Rowan is really Joss Tremayne, the son of the drowned keeper.",
        "telling": "Rowan took out a picture. \u201cI am Joss Tremayne, the keeper's son,\u201d he said.",
        "rest": "At night the lamp went out.\n\nNell found a letter on the bed.",
        "purpose": "Nell walks along the shore.",
    },
    "zh": {
        "people": ("林知秋", "罗文"),
        "note": "罗文就是沈鹤年的儿子沈家树，罗是他母亲的姓。",
        "telling": "罗文掏出一张照片。“我不叫罗文。”他说，“我叫沈家树，是沈鹤年的儿子。罗是我母亲的姓。”",
        "rest": "后半夜，马灯灭了。\n\n林知秋在铺位上找到了一张字条。",
        "purpose": "林知秋沿着河走。",
    },
}


@pytest.mark.parametrize("language", SECRETS)
def test_of_an_end_that_seems_to_tell_a_hidden_note_the_paragraphs_after_it_stay(memory: Memory, language: str) -> None:
    """Who was in the scene keeps what follows; the paragraph that tells the note does not come, and both are said."""
    words = SECRETS[language]
    first, second = words["people"]
    story = memory.create("shore", language=language)
    for name in words["people"]:
        story.entities.add(name, start="1:1")
    note = story.memories.add(words["note"], start="1:1", known_by=[second], hidden_from=[first]).note.memory_id
    story.ingest(text=f"{words['telling']}\n\n{words['rest']}", chapter_index=1, scene_index=1)
    story.scenes.set_staging("1:1", cast=[first, second])
    context = story.context(1, 2, {"purpose": words["purpose"], "characters": [first, second], "pov": first})
    assert context.left_off is not None
    assert context.left_off.text == words["rest"]
    assert [item.id for item in context.report.left_out if item.section == "left_off"] == ["1:1"]
    assert any(note in issue.message for issue in context.report.issues)


def test_a_text_that_cannot_be_read_costs_nothing_else(story: Story, monkeypatch: pytest.MonkeyPatch) -> None:
    """A read of it that fails is an issue of its own stage."""

    def fail(*_: Any, **__: Any) -> str:
        raise OSError("disk gone")

    monkeypatch.setattr(StoryMemoryTools, "scene_text", fail)
    context = context_of(story, 3)
    assert context.left_off is None
    assert context.relevant_memories
    assert [each.stage for each in issues_of(context)] == ["left_off"]


def test_a_note_stays_whose_few_words_all_stand_in_the_scene_before(story: Story) -> None:
    """Prose that uses the words of a note says something else with them; a memory of the same words is told already."""
    note = story.memories.add("The bell rang.", attached_to=["Anna"]).note
    plan = {"characters": ["Anna"], "purpose": "Anna rings the bell."}
    context = story.context(chapter_index=1, scene_index=4, scene_plan=plan)
    assert context.left_off is not None
    assert note.chunk_id in [each.chunk_id for each in context.report.items]


@pytest.mark.parametrize("pov", ["", "Anna"])
def test_the_end_of_the_scene_before_is_told_once(story: Story, pov: str) -> None:
    """Its passage stands not among the memories, too, whoever the point of view is."""
    block = context_of(story, 4, pov=pov).as_prompt()
    assert block.count("Then the bell rang.") == 1


TELLING_ORDER: dict[str, dict[str, Any]] = {
    "en": {
        "people": ("Finn", "Cora"),
        "note": "Cora copied the glaze recipe from the bottom of Finn's locket; Finn does not know.",
        "telling": "While Finn bathed, Cora unscrewed the bottom of the locket, and the recipe was soon copied.",
        "rest": "\u201cWhat are you doing with my locket?\u201d said Finn.",
        "untied": "Cora hummed and scrubbed the bottom of a pan.",
    },
    "zh": {
        "people": ("宋蓟", "宋蘅"),
        "note": "宋蘅拧开宋蓟的锁底，抄下了釉方，宋蓟不知道。",
        "telling": "宋蘅趁宋蓟洗澡，把锁底拧开，釉方一个字一个字抄在袖里。",
        "rest": "“姐，你看我的锁做什么？”宋蓟走进来。",
        "untied": "宋蘅哼着曲子，拧开了酒坛。",
    },
}


@pytest.mark.parametrize("language", TELLING_ORDER)
@pytest.mark.parametrize("by", ["words", "hidden_from", "known_by"])
def test_the_sentence_that_tells_a_kept_note_is_left_out_of_its_scene(memory: Memory, language: str, by: str) -> None:
    """Where a word of it stands and no sentence tells it, the report warns."""
    words = TELLING_ORDER[language]
    first, second = words["people"]
    story = memory.create("kiln", language=language)
    for name in words["people"]:
        story.entities.add(name, start="1:1")
    keeping = {"words": {}, "hidden_from": {"hidden_from": [first]}, "known_by": {"known_by": [second]}}[by]
    note = story.memories.add(words["note"], start="1:2", **keeping).note.memory_id
    plan = {"purpose": words["rest"], "characters": [first, second], "pov": first}
    for text, is_tied in ((words["telling"] + " " + words["rest"], True), (words["untied"], False)):
        story.ingest(text=text, chapter_index=1, scene_index=1, replace=not is_tied)
        story.scenes.set_staging("1:1", cast=[first, second])
        context = story.context(2, 1, plan)
        view = context.report.point_of_view
        assert view is not None
        assert context.left_off is not None
        assert context.left_off.text == (words["rest"] if is_tied else text)
        assert len(context.left_off.present) == len(words["people"])
        assert (view.doubted_notes, view.untied_notes) == (([(note, 1, 1)], []) if is_tied else ([], [(note, 1, 1)]))
        assert any(note in issue.message for issue in context.report.issues)


IDENTITY: dict[str, dict[str, Any]] = {
    "en": {
        "people": ("Nell", "Rowan", "Joss Tremayne"),
        "note": "Rowan, the new keeper, is really Joss Tremayne, who burned the mill.",
        "telling": "Rowan set down the lamp. Nobody had drawn a boat like that since Joss Tremayne.",
        "rest": "Nell found a letter on the bed.",
    },
    "zh": {
        "people": ("林知秋", "罗文", "沈家树"),
        "note": "罗文其实是沈家树，当年磨坊是他烧的。",
        "telling": "罗文放下马灯。沈家树走后，再没有人这样画船。",
        "rest": "林知秋在铺位上找到了一张字条。",
    },
}


@pytest.mark.parametrize("language", IDENTITY)
def test_two_names_in_one_breath_are_left_out_of_every_scene_after_a_kept_identity(
    memory: Memory, language: str
) -> None:
    """Also long after its note; a scene with one of the names is shown, and no issue says that it may tell it."""
    words = IDENTITY[language]
    first, mask, person = words["people"]
    story = memory.create("shore", language=language)
    for name in words["people"]:
        story.entities.add(name, start="1:1")
    story.memories.add(words["note"], start="1:1", hidden_from=[first])
    mask_alone = words["telling"].replace(person, "the tide" if language == "en" else "旧船")
    texts = {1: words["rest"], 2: words["rest"], 3: f"{words['telling']}\n\n{words['rest']}", 4: mask_alone}
    for scene, text in texts.items():
        story.ingest(text=text, chapter_index=1, scene_index=scene)
        story.scenes.set_staging(f"1:{scene}", cast=[first, mask])
    plan = {"purpose": words["rest"], "characters": [first, mask], "pov": first}
    for scene, text in ((4, words["rest"]), (5, mask_alone)):
        context = story.context(1, scene, plan)
        assert context.left_off is not None
        assert context.left_off.text == text
        assert context.report.point_of_view is not None
        assert context.report.point_of_view.untied_notes == []
        assert person not in context.model_copy(update={"hidden": None}).as_prompt()
    shown = story.context(1, 4, {**plan, "characters": [mask], "pov": mask}).left_off
    assert shown is not None
    assert shown.text == texts[3]
