"""A translator's chunks: a literal glossary, dated values and attachments that are obeyed (seed 003)."""

from collections.abc import Iterator
from typing import Any

import pytest

from novelgen.errors import InvalidPositionError
from novelgen.models.chunk_context import ChunkContext
from runtime.ingest.ingest import ingest_scenes
from runtime.ingest.scene_input import SceneInput
from runtime.stores import MemoryStores
from runtime.story.story import Story
from tests.support.demo_project import settings_for
from tests.support.scripted_chat_model import answering

PROJECT = "guixu"
SCENES = {
    (1, 1): "沈砚秋追上去，喊了一声：“大师姐！”林晚没有回头。师父莫归尘站在掌门殿前，手里是一柄剑。",
    (1, 2): "“归墟是万物归处。”莫归尘说。林晚拾起掉了的鞋。",
    (2, 1): "林晚与沈砚秋下山。山门外有人卖灵石，也卖旧鞋。",
    (2, 2): "沈砚秋说起归墟，林晚不答。",
    (3, 1): "吴归墟从水里爬了出来。他看着林晚，一句话也没有说。",
    (4, 1): "“林姑娘，你姓林，可我姓吴。”吴归墟说。林晚手里的剑落在地上。",
}
CARDS: list[dict[str, Any]] = [
    {"name": "林晚", "fields": {"translation": "Lin Wan"}, "description": "归元宗大弟子，男装时少"},
    {"name": "沈砚秋", "fields": {"translation": "Shen Yanqiu"}, "description": "男，外门弟子，说话怯"},
    {"name": "莫归尘", "fields": {"translation": "Mo Guichen"}},
    {"name": "白鹤真人", "fields": {"translation": "the Crane Adept"}},
    {"name": "归墟", "kind": "term", "fields": {"translation": "the Ruins of Return", "definition": "万物归处"}},
    {"name": "灵石", "kind": "item", "fields": {"translation": "spirit stone"}, "description": "currency"},
    *(
        {"name": name, "kind": "term", "fields": {"translation": word}}
        for name, word in (
            ("剑", "sword"),
            ("道", "the Way"),
            ("气", "qi"),
            ("金丹", "golden core"),
            ("金丹期", "Golden Core stage"),
        )
    ),
]
ALIASES = [
    ("林晚", "大师姐", "沈砚秋", "Senior Sister"),
    ("沈砚秋", "小砚", "林晚", "Little Yan"),
    ("莫归尘", "师父", "林晚", "Master"),
    ("莫归尘", "掌门", "", "the Sect Master"),
    ("白鹤真人", "掌门", "", "the Sect Master of White Crane"),
    ("林晚", "林姑娘", "", "Miss Lin"),
]


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory, module_database_url: str | None) -> Iterator[MemoryStores]:
    """Open stores on either database."""
    settings = settings_for(tmp_path_factory.mktemp("guixu"))
    with MemoryStores(settings.model_copy(update={"database_url": module_database_url})) as stores:
        yield stores


def told(stores: MemoryStores, project_id: str) -> Story:
    """Return the story of four chapters, with the cards of its translator."""
    stores.create_project(project_id, language="zh")
    story = Story(stores, project_id)
    for card in CARDS:
        story.entities.add(**card, start=(1, 1))
    for name, alias, speaker, translation in ALIASES:
        said = {"alias": alias, "translation": translation, **({"speaker": speaker} if speaker else {})}
        story.entities.edit(name, {"alias": said})
    scenes = [SceneInput(chapter_index=one, scene_index=two, text=text) for (one, two), text in SCENES.items()]
    ingest_scenes(stores, project_id, scenes)
    return story


@pytest.fixture(scope="module")
def story(opened: MemoryStores) -> Story:
    """The story, of which tests change nothing."""
    return told(opened, PROJECT)


@pytest.fixture
def own(opened: MemoryStores, request: pytest.FixtureRequest) -> Story:
    """The same, for one test to change."""
    return told(opened, f"own-{abs(hash(request.node.name))}")


def names(context: ChunkContext) -> dict[str, str]:
    """Return all names of a glossary with their translations."""
    entries = [one for entry in context.glossary for one in (entry, *entry.aliases)]
    return {one.name: one.translation for one in entries}


def memories(story: Story, text: str, chapter: int | None = None, **asked: Any) -> dict[str, str]:
    """Return the texts of the memories of a chunk by their ids."""
    context = story.chunk_context(text, chapter_index=chapter, limit=200, **asked)
    return {each.chunk.chunk_id: each.chunk.content for each in context.memories}


@pytest.mark.slow
@pytest.mark.parametrize("chapter", [1, 2, 4, None])
@pytest.mark.parametrize(
    ("text", "name", "translation"),
    [
        ("“大师姐！”他喊。", "大师姐", "Senior Sister"),
        ("师父没有说话。", "师父", "Master"),
        ("剑光一闪。", "剑", "sword"),
        ("他说道不同。", "道", "the Way"),
        ("她运起气来。", "气", "qi"),
        ("那年他才金丹期。", "金丹期", "Golden Core stage"),
    ],
)
def test_every_name_of_a_card_is_found(
    story: Story, chapter: int | None, text: str, name: str, translation: str
) -> None:
    """1, 2: whatever its length or kind, in every chapter, the longest first."""
    context = story.chunk_context(text, chapter_index=chapter)
    assert names(context)[name] == translation
    assert "金丹" not in names(context)


@pytest.mark.slow
def test_a_name_without_a_translation_is_guessed_with_care(own: Story) -> None:
    """A description means somebody where the text tells whom, and a single character where it stands alone."""
    own.entities.edit("白鹤真人", {"alias": "老者"})
    own.entities.add("山", kind="location", start=(1, 1))
    assert names(own.chunk_context("老者望着江山。")) == {}


def test_a_speaker_and_a_note_come_in_the_first_chapter(story: Story) -> None:
    """5, 12: complete, listed under the card's own name; who is not named there is not told."""
    context = story.chunk_context("沈砚秋喊了一声：“大师姐！”林晚没有回头。", chapter_index=1)
    lines = context.text.splitlines()
    assert "- 沈砚秋 → Shen Yanqiu（人物）；又名小砚 → Little Yan（林晚所用）；男，外门弟子，说话怯" in lines
    assert "- 林晚 → Lin Wan（人物）；又名大师姐 → Senior Sister（沈砚秋所用）；归元宗大弟子，男装时少" in lines
    (entry,) = story.chunk_context("掌门殿前的莫归尘。", chapter_index=1).glossary[:1]
    assert (entry.name, [each.name for each in entry.aliases]) == ("莫归尘", ["掌门"])


def test_a_form_of_address_is_there_where_it_first_appears(story: Story) -> None:
    """5: of somebody known for long, and not in chapters before."""
    text = "“林姑娘，你姓林。”"
    assert names(story.chunk_context(text, chapter_index=4))["林姑娘"] == "Miss Lin"
    assert "林姑娘" not in names(story.chunk_context("林晚笑了。", chapter_index=3))


def test_an_ambiguous_title_lists_all_who_bear_it(story: Story) -> None:
    """16: with their own translations; memories come for the one whom the text names, too."""
    context = story.chunk_context("掌门来了。")
    translations = [alias.translation for entry in context.glossary for alias in entry.aliases if alias.name == "掌门"]
    assert translations == ["the Sect Master", "the Sect Master of White Crane"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("吴归墟从水里爬了出来。", False),
        ("林晚与吳歸墟说话。", False),
        ("他向归墟走去。", True),
        ("小王去归墟。", True),
        ("老王归墟走了一趟。", True),
    ],
)
def test_the_name_of_a_place_is_no_given_name(story: Story, text: str, expected: bool) -> None:
    """15: behind a surname it is part of somebody's name, whether or not that one has a card."""
    assert ("归墟" in names(story.chunk_context(text))) == expected


@pytest.mark.parametrize(
    ("text", "expected"), [("树林晚上很静。", False), ("林晚上山去了。", True), ("他陪林晚上街。", True)]
)
def test_the_ends_of_two_words_are_no_name(story: Story, text: str, expected: bool) -> None:
    """15: where another reading is likelier than the name."""
    assert ("林晚" in names(story.chunk_context(text))) == expected


def test_a_term_has_its_definition(story: Story) -> None:
    """11: what a term means stands in its line."""
    assert "- 归墟 → the Ruins of Return（术语）；万物归处" in story.chunk_context("归墟").text.splitlines()


def test_traditional_text_shows_traditional_names(story: Story) -> None:
    """20: names are written as the text writes them."""
    found = names(story.chunk_context("林晚與沈硯秋去歸墟。“大師姐！”"))
    assert {"沈硯秋": "Shen Yanqiu", "歸墟": "the Ruins of Return", "大師姐": "Senior Sister"}.items() <= found.items()


@pytest.mark.slow
def test_a_translation_holds_from_its_chapter_on(own: Story) -> None:
    """3: chapters before it keep the old one, the chapter itself has the new one."""
    own.entities.edit("归墟", {"translation": "the Guixu Abyss"}, start=(3, 1))
    own.entities.edit("林晚", {"alias": {"alias": "大师姐", "translation": "First Sister"}}, start=(3, 1))
    found = [names(own.chunk_context("归墟。“大师姐！”", chapter_index=each)) for each in (1, 2, 3, 4, None)]
    assert [each["归墟"] for each in found] == ["the Ruins of Return"] * 2 + ["the Guixu Abyss"] * 3
    assert [each["大师姐"] for each in found] == ["Senior Sister"] * 2 + ["First Sister"] * 3


@pytest.mark.slow
def test_no_later_description_or_translation_is_told(own: Story) -> None:
    """4: the leak test of what cards say, in every chapter and scene."""
    said = {"description": "吴归墟之女zq", "translation": "Wu Wan zq", "alias": {"alias": "吴晚", "translation": "zq"}}
    own.entities.edit("林晚", said, start=(4, 1))
    own.entities.edit("归墟", {"definition": "一个人zq"}, start=(2, 2))
    text = "林晚、归墟、大师姐、吴晚"
    for chapter, scene in [(1, None), (1, 2), (2, None), (2, 1), (3, None), (3, 1)]:
        context = own.chunk_context(text, chapter_index=chapter, scene_index=scene).model_dump_json()
        assert context.count("zq") == context.count("一个人zq") * (chapter == 3)
    late = own.chunk_context(text, chapter_index=4).model_dump_json()
    assert late.count("zq") > 3


@pytest.mark.slow
def test_a_note_counts_in_the_chapter_in_which_it_begins(own: Story) -> None:
    """6: from 3:1 is chapter 3; from 2:2 the second scene of chapter 2."""
    early, late = (
        own.memories.add("旧鞋不译出。", attached_to=["林晚"], start=(2, 2)),
        own.memories.add("此后一律译 the man.", attached_to=["林晚"], start=(3, 1)),
    )
    ids = [early.note.chunk_id, late.note.chunk_id]

    def shown(chapter: int, scene: int | None = None) -> list[bool]:
        found = memories(own, "林晚笑了。", chapter, scene_index=scene)
        return [each in found for each in ids]

    assert [shown(each) for each in (1, 2, 3, 4)] == [[False, False], [False, False], [True, True], [True, True]]
    assert (shown(2, 2), shown(2, 1)) == ([True, False], [False, False])
    with pytest.raises(InvalidPositionError, match="without chapter_index"):
        own.chunk_context("林晚", scene_index=2)


def test_a_chapter_that_begins_with_scene_0_tells_nothing_of_itself(opened: MemoryStores) -> None:
    """6: its first scene is as late as that of any other."""
    opened.create_project("zero", language="en")
    zero = Story(opened, "zero")
    zero.entities.add("Ada", fields={"translation": "阿达"}, start=(0, 0))
    record = {"memories": [{"memory_id": "M1", "content": "Ada drowned.", "entities": ["C0"]}]}
    places = {(0, 0): "Ada came.", (1, 0): "Ada drowned.", (1, 1): "Ada was mourned."}
    scenes = [
        SceneInput(
            chapter_index=one,
            scene_index=two,
            text=text,
            record={"chapter_index": one, "scene_index": two, **record} if (one, two) == (1, 0) else None,
        )
        for (one, two), text in places.items()
    ]
    ingest_scenes(opened, "zero", scenes)
    assert "drowned" not in str(memories(zero, "Ada smiled.", 1))
    assert "drowned" in str(memories(zero, "Ada smiled.", 1, scene_index=1))


@pytest.mark.slow
def test_what_is_attached_comes_there_and_nowhere_else(own: Story) -> None:
    """9: neither by a name in its words nor by their likeness; a chapter's rule stays in its chapter."""
    only = own.memories.add("沈砚秋说话时林晚总不答。", attached_to=["莫归尘"]).note.chunk_id
    rule = own.memories.add("只在第二章：林晚一律译 the elder.", attached_to=["chapter:2"]).note.chunk_id
    assert [only in memories(own, text) for text in ("林晚笑了。", "沈砚秋说话时林晚总不答话。", "莫归尘笑了。")] == [
        False,
        False,
        True,
    ]
    assert [rule in memories(own, "林晚笑了。", chapter) for chapter in (1, 2, 3)] == [False, True, False]


def test_what_is_taken_off_is_gone_from_the_chunks_of_an_entity(own: Story) -> None:
    """9: though its words name it, and nothing else is left that it is attached to."""
    note = own.memories.add("林晚说话短促。").note.chunk_id
    assert note in memories(own, "林晚笑了。")
    own.memories.detach([note], ["林晚"])
    assert note not in memories(own, "林晚笑了。")
    own.memories.attach([note], ["沈砚秋"])
    assert note not in memories(own, "林晚笑了。")
    assert note in memories(own, "林晚与沈砚秋笑了。")


@pytest.mark.slow
def test_two_rules_that_differ_by_a_word_are_two(own: Story) -> None:
    """7: notes by hand are never folded; the same text twice is shown once."""
    rule = "归墟的英文名在对白中用斜体，在叙述中用正体，标题中用大写。"
    other = rule.replace("斜体", "&").replace("正体", "斜体").replace("&", "正体")
    for content in (rule, other, rule):
        own.memories.add(content, attached_to=["归墟"])
    assert sorted(text for text in memories(own, "归墟").values() if "英文名" in text) == sorted([rule, other])


@pytest.mark.slow
def test_a_note_of_the_book_leaves_passages_in(own: Story) -> None:
    """17: a rule of style says nothing of the text, which its passages do."""
    before = memories(own, "林晚笑了。", 3)
    note = own.memories.add("英式拼写。", attached_to=["book"]).note.chunk_id
    after = memories(own, "林晚笑了。", 3)
    assert before
    assert after.keys() == {*before, note}


@pytest.mark.slow
def test_what_is_left_out_is_listed_where_it_is_asked_for(own: Story) -> None:
    """18: all that is counted can be seen; the block speaks to a translator."""
    for number in range(14):
        own.memories.add(f"第{number}条：归墟不加冠词。", attached_to=["归墟"])
    context = own.chunk_context("归墟", limit=10, with_left_out=True)
    assert (len(context.memories), context.more, len(context.left_out)) == (10, 4, 4)
    assert {each.chunk.chunk_id for each in context.memories}.isdisjoint(
        each.chunk.chunk_id for each in context.left_out
    )
    assert own.chunk_context("归墟", limit=10).left_out == []
    assert context.text.splitlines()[0].startswith("围栏之间是供翻译与校订用的资料")


@pytest.mark.slow
@pytest.mark.parametrize("in_text", [False, True])
def test_an_old_name_keeps_its_translation(own: Story, in_text: bool) -> None:
    """20: after a rename on the card alone, or through the text."""
    own.entities.rename("林晚", "林挽", also={"林姑娘": "林小姐"}, in_text=in_text, is_applied=True)
    found = names(own.chunk_context("林晚、林挽、大师姐、林小姐"))
    assert (found["林晚"], found["林挽"], found["大师姐"], found["林小姐"]) == (
        "Lin Wan", "Lin Wan", "Senior Sister", "Miss Lin"
    )  # fmt: skip


def test_a_confirmed_candidate_does_not_tell_what_comes_later(opened: MemoryStores) -> None:
    """8: a place of chapters 1 and 2 is no person before chapter 3 has the name that says so."""
    opened.create_project("bare", language="zh")
    bare = Story(opened, "bare")
    scenes = [SceneInput(chapter_index=one, scene_index=two, text=text * 3) for (one, two), text in SCENES.items()]
    ingest_scenes(opened, "bare", scenes)
    bare.candidates.confirm_several(["吴归墟", "林晚"])
    for chapter in (1, 2):
        assert list(names(bare.chunk_context("林晚说起归墟。", chapter_index=chapter))) == ["林晚"]
    assert set(names(bare.chunk_context("吴归墟", chapter_index=4))) == {"吴归墟", "归墟"}


@pytest.mark.slow
def test_a_merged_or_split_card_keeps_the_translations_of_its_names(own: Story) -> None:
    """20: each name goes with its own, the dated ones as well."""
    own.entities.edit("白鹤真人", {"translation": "Crane the Adept"}, start=(3, 1))
    own.entities.merge("莫归尘", "白鹤真人")
    found = [names(own.chunk_context("白鹤真人、莫归尘、师父", chapter_index=each)) for each in (2, None)]
    assert [each.get("白鹤真人") for each in found] == ["the Crane Adept", "Crane the Adept"]
    assert found[1]["莫归尘"] == "Mo Guichen"
    own.entities.split("莫归尘", "白鹤真人", aliases=["师父"])
    found = [names(own.chunk_context("白鹤真人、莫归尘、师父"))]
    assert found == [
        {"白鹤真人": "Crane the Adept", "师父": "Master", "莫归尘": "Mo Guichen", "掌门": "the Sect Master"}
    ]


@pytest.mark.slow
def test_what_is_attached_to_several_is_shown_once(own: Story) -> None:
    """The seed's merge and deduplicate: one memory, with all of the text's entities that it is attached to."""
    note = own.memories.add("两人以姐弟相称。", attached_to=["林晚", "沈砚秋"]).note.chunk_id
    context = own.chunk_context("林晚看着沈砚秋。")
    assert [sorted(each.attached_to) for each in context.memories if each.chunk.chunk_id == note] == [["C0", "C1"]]


@pytest.mark.slow
def test_what_names_nobody_is_the_books(own: Story) -> None:
    """The seed's default: in every chunk, after the section of names."""
    note = own.memories.add("数字用单词。").note
    assert [each.is_default for each in own.memories.get(note.chunk_id).chunk.attached_to] == [True]
    text = own.chunk_context("归墟", chapter_index=1).text
    assert text.index("本段出现的人物与术语") < text.index("数字用单词。")


@pytest.mark.slow
def test_a_note_from_before_a_card_is_found_by_its_words(own: Story) -> None:
    """The seed's keyword fallback."""
    note = own.memories.add("听雨是沈砚秋的剑。").note.chunk_id
    own.entities.add("听雨", kind="item", fields={"translation": "Listening Rain"})
    assert note in memories(own, "听雨落在地上。")


@pytest.mark.slow
def test_a_chat_model_chooses_what_the_page_needs(own: Story, opened: MemoryStores) -> None:
    """What no word of the page names comes, too; notes of other chapters are not in its list."""
    debt = own.memories.add("三块灵石是借来的，从未归还。", attached_to=["book"]).note.chunk_id
    own.memories.add("第九章用现在时。", attached_to=["chapter:9"])
    model = answering('{"numbers": [1]}')
    chosen = Story(opened, own.project_id, chat_model=model).chunk_context(
        "他低下头。", chapter_index=4, selector="model"
    )
    assert [memory.chunk.chunk_id for memory in chosen.memories][:1] == [debt]
    assert chosen.selector is not None
    assert (chosen.selector.used, chosen.selector.listed) == ("llm", 1)
    assert own.chunk_context("他低下头。", chapter_index=4).selector is None


@pytest.mark.slow
def test_without_a_chat_model_the_rules_choose_and_the_context_says_so(own: Story) -> None:
    by_rules = own.chunk_context("沈砚秋说起归墟。", chapter_index=4)
    chosen = own.chunk_context("沈砚秋说起归墟。", chapter_index=4, selector="model")
    assert chosen.memories == by_rules.memories
    assert [(issue.stage, issue.kind) for issue in chosen.issues] == [("select", "unavailable")]
