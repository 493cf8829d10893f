"""Figures, bodies, kin and what is told: a draft against a small made-up story, in English and in Chinese."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from novelgen.checking.rules import find_by_rules
from novelgen.checking.story import StoryBefore, read_draft
from novelgen.memory.knowledge_rules import KnowledgeRules
from novelgen.memory.story import KnowledgeMemory, KnowledgeScene, KnowledgeStory
from novelgen.models.continuity import ContinuityIssue
from novelgen.models.memory import StoryMemoryChunk
from novelgen.models.plan import ScenePlan
from novelgen.models.position import StoryPosition
from tests.novelgen.checking.small_story import CHINESE, ENGLISH, memory, told

_PLAIN = (
    "Rain fell on the roofs. The bread was stale. A dog barked twice. Nobody answered the bell. The lamp smoked. "
    "Carts rolled by. The kettle sang. A shutter banged. Gulls cried over the harbour. The tide went out. "
)
_PLAIN_ZH = "雨打在瓦上。狗叫了两声。灯花爆了。院门虚掩。茶已凉透。鸟雀归巢。炊烟升起。河水东流。马儿吃草。月色如霜。"


def story_of(
    texts: Sequence[str] = (), memories: Sequence[StoryMemoryChunk] = (), *, language: str = "en", present: str = ""
) -> StoryBefore:
    """A story of scenes with text, each long enough that a word may be rare, and of memories."""
    entities = CHINESE if language == "zh" else ENGLISH
    plain = _PLAIN_ZH if language == "zh" else _PLAIN
    story = told(entities, memories=memories)
    scenes = [
        KnowledgeScene(StoryPosition(1 + at, 1), frozenset(present.split()), plain * 15 + text)
        for at, text in enumerate([*texts, ""])
    ]
    known = [
        KnowledgeMemory(
            source_id=each.source_id or "",
            content=each.content,
            position=StoryPosition(each.chapter_index, each.scene_index),
            entities=each.entities_mentioned,
            event_type=each.event_type,
        )
        for each in memories
    ]
    knowledge = KnowledgeStory(
        story.as_of,
        scenes,
        known,
        {each.entity_id: each.names() for each in entities},
        frozenset(each.entity_id for each in entities if each.entity_type == "character"),
    )
    return replace(story, knowledge=KnowledgeRules(knowledge))


def found(draft: str, story: StoryBefore) -> list[ContinuityIssue]:
    """What the rules find, each quote checked against its span."""
    issues = find_by_rules(read_draft(draft, story), story)
    for each in issues:
        assert draft[slice(*each.draft_span)] == each.draft_quote
    return issues


SIEGE = "The siege of Castle Morrow lasted for seven months before the garrison surrendered."
PASS = "这里往北，便是三百里断魂峡谷，峡中飞沙走石，行人罕至。"


@pytest.mark.parametrize(
    ("text", "language", "draft", "quote", "there"),
    [
        (
            SIEGE,
            "en",
            "The siege of Castle Morrow lasted for three weeks before the garrison surrendered, and we ate rats.",
            "The siege of Castle Morrow lasted for three weeks before the garrison surrendered",
            "seven months",
        ),
        (
            "They had nine hours’ head upon the riders.",
            "en",
            "The riders will catch them yet; with two hours’ head nobody outruns a horse.",
            "with two hours’ head nobody outruns a horse",
            "nine hours",
        ),
        (
            "The brooch was worth four thousand pounds.",
            "en",
            "He laughed at the offer, for a brooch worth ninety pounds buys no house.",
            "for a brooch worth ninety pounds buys no house",
            "four thousand pounds",
        ),
        (PASS, "zh", "前面这断魂峡谷不过三十里，峡中太平无事。", "前面这断魂峡谷不过三十里", "三百里"),
    ],
)
def test_another_figure_of_the_same_thing_is_found(
    text: str, language: str, draft: str, quote: str, there: str
) -> None:
    """The finding quotes the clause, names the story's figure and shows the sentence that tells it."""
    (issue,) = found(draft, story_of([text], language=language))
    assert (issue.kind, issue.rule) == ("canon_rule", "contradicted_figure")
    assert issue.draft_quote == quote
    assert there in issue.message
    assert there in issue.fix
    (evidence,) = issue.evidence
    assert (evidence.source, evidence.chapter_index, evidence.scene_index) == ("passage", 1, 1)
    assert evidence.source_id.startswith("1:1:passage:")
    assert there in evidence.text


@pytest.mark.parametrize(
    ("text", "language", "draft"),
    [
        (SIEGE, "en", "The siege of Castle Morrow lasted for half a year before the garrison surrendered."),
        (SIEGE, "en", "The siege of Castle Morrow lasted for seven months before the garrison surrendered."),
        (SIEGE, "en", "The wedding at Oxney lasted for three weeks, and nobody was sober."),
        (SIEGE, "en", "The siege of Castle Morrow did not last three weeks; the garrison surrendered late."),
        (PASS, "zh", "前面这断魂峡谷足有三百里，峡中飞沙走石。"),
        (PASS, "zh", "前面这白鹭渡口不过三十里，渡船甚多。"),
    ],
)
def test_an_agreeing_figure_or_one_of_something_else_is_none(text: str, language: str, draft: str) -> None:
    """Rounding, the same in another unit, another event and what is denied are no contradiction."""
    assert found(draft, story_of([text], language=language)) == []


def test_a_figure_that_the_story_also_gives_is_no_contradiction() -> None:
    """Where the story has told both figures, the draft may keep to either."""
    other = "Yet the siege of Castle Morrow lasted for three weeks in the telling of the garrison that surrendered."
    draft = "The siege of Castle Morrow lasted for three weeks before the garrison surrendered."
    assert found(draft, story_of([SIEGE, other])) == []


def test_days_ago_are_told_from_another_day() -> None:
    """How many days ago something was changes from scene to scene; how many years ago hardly does."""
    drowned = "The packet Albatross with the consul aboard foundered off Scarness two days ago."
    later = "The packet Albatross with the consul aboard foundered off Scarness nine days ago."
    assert found(later, story_of([drowned])) == []
    years = drowned.replace("two days", "seven years")
    assert len(found(later.replace("nine days", "twenty years"), story_of([years]))) == 1


def test_what_the_plan_means_to_change_is_no_contradiction() -> None:
    """A plan that speaks of the figure's thing means it so."""
    draft = "The siege of Castle Morrow lasted for three weeks before the garrison surrendered."
    plan = ScenePlan(key_actions=["Pym lies about the siege of Castle Morrow and how the garrison surrendered."])
    assert found(draft, story_of([SIEGE])) != []
    assert found(draft, replace(story_of([SIEGE]), plan=plan)) == []


LEG = memory("Captain Varley lost his right leg to a sabre at Oxney.", "C2", event_type="injury")
LEG_ZH = memory("韩铁山早年断了右腿。", "C2", event_type="injury")
BULLET = memory("Captain Varley carries a Tarnbeck bullet in his thigh.", "C2", event_type="injury")
BALD = memory("Captain Varley is bald.", "C2")


@pytest.mark.parametrize(
    ("fact", "language", "draft", "quote", "rule"),
    [
        (LEG, "en", "“With my left leg gone, I cannot climb,” said Varley.", "With my left leg gone", "body_side"),
        (LEG_ZH, "zh", "韩铁山叹道：“我断了左腿，走不得山路。”", "我断了左腿", "body_side"),
        (
            LEG,
            "en",
            "“I had two sound legs under me,” said Varley, “and I ran.”",
            "I had two sound legs under me",
            "body_sound",
        ),
        (
            BULLET,
            "en",
            "“The Tarnbeck bullet went through my shoulder,” said Varley.",
            "The Tarnbeck bullet went through my shoulder",
            "body_elsewhere",
        ),
        (
            BALD,
            "en",
            "Varley shook his thick black curls at them.",
            "Varley shook his thick black curls at them",
            "body_bald",
        ),
    ],
)
def test_a_body_that_is_otherwise_is_found(
    fact: StoryMemoryChunk, language: str, draft: str, quote: str, rule: str
) -> None:
    """A limb on the other side, or sound again, a wound elsewhere, and hair of the bald."""
    (issue,) = found(draft, story_of(memories=[fact], language=language))
    assert (issue.kind, issue.rule, issue.entity_ids) == ("injury_or_body", rule, ["C2"])
    assert issue.draft_quote == quote
    assert issue.evidence[0].source == "memory"
    assert issue.evidence[0].text == fact.content


@pytest.mark.parametrize(
    ("fact", "language", "draft"),
    [
        (LEG, "en", "“With my right leg gone, I cannot climb,” said Varley."),
        (LEG, "en", "“With my left leg gone, I cannot climb,” said Pym."),
        (LEG, "en", "“I broke my left leg as a boy,” said Pym."),
        (LEG, "en", "“If I had two sound legs I would run,” said Varley."),
        (LEG, "en", "Varley laid his left hand on the rail."),
        (BULLET, "en", "“The Tarnbeck bullet went through my thigh,” said Varley."),
        (BULLET, "en", "“An arrow went through my shoulder,” said Varley."),
        (BALD, "en", "Pym shook his thick black curls at them."),
        (BALD, "en", "Varley straightened the curls of his wig, his black curls from the barber."),
        (LEG_ZH, "zh", "韩铁山叹道：“我断了右腿，走不得山路。”"),
        (LEG_ZH, "zh", "韩铁山把左手按在桌上。"),
    ],
)
def test_a_body_as_it_was_or_somebody_else_s_is_none(fact: StoryMemoryChunk, language: str, draft: str) -> None:
    """The same side, another person, another wound, a wish and a wig are no contradiction."""
    assert found(draft, story_of(memories=[fact], language=language)) == []


KINLESS = memory("Mrs. Ottoline Fenn has no relatives living.", "C1")
KINLESS_ZH = memory("苏晚棠举目无亲。", "C1")
FRIENDS = memory("Captain Varley and Sergeant Pym were the best of friends.", "C2", "C3")


@pytest.mark.parametrize(
    ("fact", "language", "draft", "quote", "rule"),
    [
        (KINLESS, "en", "“Varley is my only brother,” said Ottoline.", "Varley is my only brother", "telling_kin"),
        (KINLESS_ZH, "zh", "苏晚棠笑道：“他是我表哥。”", "他是我表哥", "telling_kin"),
        (
            FRIENDS,
            "en",
            "Varley never sat with Pym. The two hated each other like poison.",
            "The two hated each other like poison",
            "telling_friends",
        ),
    ],
)
def test_kin_of_the_kinless_and_enemies_who_are_friends_are_found(
    fact: StoryMemoryChunk, language: str, draft: str, quote: str, rule: str
) -> None:
    """Whoever has nobody has no brother, and friends who never fell out are no enemies."""
    (issue,) = found(draft, story_of(memories=[fact], language=language))
    assert (issue.kind, issue.rule, issue.draft_quote) == ("relationship", rule, quote)
    assert issue.evidence[0].text == fact.content


@pytest.mark.parametrize(
    ("facts", "draft"),
    [
        ([KINLESS], "“Varley is my only brother,” said Pym."),
        ([KINLESS], "“Varley is my only friend,” said Ottoline."),
        ([FRIENDS], "Varley never sat with Ottoline. The two hated each other like poison."),
        (
            [FRIENDS, memory("Varley and Pym quarrelled over the ledger.", "C2", "C3", chapter=4)],
            "Varley never sat with Pym. The two hated each other like poison.",
        ),
    ],
)
def test_other_people_and_a_quarrel_since_are_no_contradiction(facts: list[StoryMemoryChunk], draft: str) -> None:
    """What is said of somebody else, or has changed since, stays silent."""
    assert found(draft, story_of(memories=facts)) == []


@pytest.mark.parametrize(
    ("text", "language", "draft", "quote"),
    [
        (
            "His eldest daughter Clemence kept the inn.",
            "en",
            "The youngest daughter Clemence sat by the door.",
            "The youngest daughter Clemence sat by the door",
        ),
        ("大女儿名采薇，次女名采苓，俱未许人。", "zh", "老者道：“我大女儿采苓会绣花。”", "我大女儿采苓会绣花"),
    ],
)
def test_a_child_in_another_order_is_found(text: str, language: str, draft: str, quote: str) -> None:
    """Who was the eldest is not the youngest."""
    (issue,) = found(draft, story_of([text], language=language))
    assert (issue.rule, issue.draft_quote) == ("telling_order", quote)


def test_the_same_child_in_the_same_order_is_none() -> None:
    """The third of three may be called the youngest."""
    story = story_of(["His third daughter Clemence kept the inn."])
    assert found("The youngest daughter Clemence sat by the door.", story) == []
    assert found("The third daughter Clemence sat by the door.", story) == []


def test_the_child_of_another_parent_is_found() -> None:
    """Of one who did the same, two passages name two fathers; the same father by another name is none."""
    text = "那白衣少年本是南海龙王之子，因打碎琉璃盏，被贬下凡间牧羊。"
    story = story_of([text], language="zh")
    draft = "他本是北海龙王的亲生太子，因打碎琉璃盏，被贬下凡间牧羊。"
    (issue,) = found(draft, story)
    assert (issue.kind, issue.rule, issue.draft_quote) == ("identity", "telling_parent", "他本是北海龙王的亲生太子")
    assert found("他本是南海龙王的亲生太子，因打碎琉璃盏，被贬下凡间牧羊。", story) == []


SECRET = memory(
    "Pym buried the poisoned chalice beneath the chapel flagstones and swore the sexton to silence.", "C3", chapter=2
)


def test_a_speaker_who_tells_what_they_cannot_know_is_found() -> None:
    """Ottoline was not there and nobody told her; Pym, who did it, may speak of it."""
    story = story_of(["", "Pym dug alone."], [replace_place(SECRET)], present="C3")
    said = "Pym buried the poisoned chalice beneath the chapel flagstones and swore the sexton to silence"
    (issue,) = found(f"“{said},” said Ottoline.", story)
    assert (issue.kind, issue.rule, issue.entity_ids) == ("knowledge_leak", "telling_leak", ["C1"])
    assert issue.draft_quote.startswith("Pym buried the poisoned chalice")
    assert issue.evidence[0].text == SECRET.content
    own = "I buried the poisoned chalice beneath the chapel flagstones and swore the sexton to silence"
    assert found(f"“{own},” said Pym.", story) == []
    assert found("“There is a chalice in the chapel,” said Ottoline.", story) == []
    lore = replace_place(SECRET).model_copy(update={"event_type": "rule_or_canon"})
    told_of_the_world = story_of(["", "Pym dug alone."], [lore], present="C3")
    assert found(f"“{said},” said Ottoline.", told_of_the_world) == []


def replace_place(chunk: StoryMemoryChunk) -> StoryMemoryChunk:
    """The memory in the first scene of its chapter, where the story has its text."""
    return chunk.model_copy(update={"scene_index": 1})


def test_the_enmity_of_one_pair_is_told_once() -> None:
    """Two words of one enmity are one finding."""
    sworn = memory("韩铁山与顾捕头是结义兄弟。", "C2", "C3")
    draft = "韩铁山与顾捕头素来不和，势不两立，人人知道。"
    assert [each.rule for each in found(draft, story_of(memories=[sworn], language="zh"))] == ["telling_friends"]
