"""Figures that the story tells otherwise, openings that cannot follow on it, words that an author avoids."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from novelgen.checking.rules import avoided_words, find_by_rules, impossible_opening_time
from novelgen.checking.story import StoryBefore, read_draft
from novelgen.language.chronology import TellingScene, scene_times
from novelgen.memory.knowledge_rules import KnowledgeRules
from novelgen.memory.story import KnowledgeScene, KnowledgeStory
from novelgen.models.continuity import ContinuityIssue
from novelgen.models.entity import Entity
from novelgen.models.plan import ScenePlan
from novelgen.models.position import StoryPosition
from tests.novelgen.checking.small_story import CHINESE, ENGLISH, told

_PLAIN = (
    "Rain fell on the roofs. The bread was stale. A dog barked twice. Nobody answered the bell. The lamp smoked. "
    "Carts rolled by. The kettle sang. A shutter banged. Gulls cried over the harbour. The tide went out. "
)
_PLAIN_ZH = "雨打在瓦上。狗叫了两声。灯花爆了。院门虚掩。茶已凉透。鸟雀归巢。炊烟升起。河水东流。马儿吃草。月色如霜。"


def story_of(texts: Sequence[str] = (), *, language: str = "en") -> StoryBefore:
    """A story of scenes with text, each long enough that a word may be rare."""
    plain = _PLAIN_ZH if language == "zh" else _PLAIN
    scenes = [
        KnowledgeScene(StoryPosition(1 + at, 1), frozenset(), plain * 15 + text) for at, text in enumerate([*texts, ""])
    ]
    story = told(CHINESE if language == "zh" else ENGLISH)
    return replace(story, knowledge=KnowledgeRules(KnowledgeStory(story.as_of, scenes)))


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


def test_a_figure_that_story_or_plan_gives_is_no_contradiction() -> None:
    """Where both figures were told the draft keeps to either, and a plan that speaks of the thing means it so."""
    other = "Yet the siege of Castle Morrow lasted for three weeks in the telling of the garrison that surrendered."
    draft = "The siege of Castle Morrow lasted for three weeks before the garrison surrendered."
    assert found(draft, story_of([SIEGE, other])) == []
    draft = "The siege of Castle Morrow lasted for three weeks before the garrison surrendered."
    plan = ScenePlan(key_actions=["Pym lies about the siege of Castle Morrow and how the garrison surrendered."])
    assert found(draft, story_of([SIEGE])) != []
    assert found(draft, replace(story_of([SIEGE]), plan=plan)) == []


def test_days_ago_are_told_from_another_day() -> None:
    """How many days ago something was changes from scene to scene; how many years ago hardly does."""
    drowned = "The packet Albatross with the consul aboard foundered off Scarness two days ago."
    later = "The packet Albatross with the consul aboard foundered off Scarness nine days ago."
    assert found(later, story_of([drowned])) == []
    years = drowned.replace("two days", "seven years")
    assert len(found(later.replace("nine days", "twenty years"), story_of([years]))) == 1


AS_OF = StoryPosition(2, 1)


def issues(text: str, *story_times: str, language: str = "en") -> list[ContinuityIssue]:
    """Return what a draft contradicts after scenes of one chapter with these story times."""
    scenes = [
        TellingScene(1, number, story_time=each, participants=["C0"]) for number, each in enumerate(story_times, 1)
    ]
    story = StoryBefore(
        as_of=AS_OF,
        language=language,
        entities=[Entity(entity_id="C0", entity_type="character", name="Wren" if language == "en" else "阿芦")],
        knowledge=KnowledgeRules(KnowledgeStory(as_of=AS_OF)),
        story_times=scene_times(scenes),
    )
    return list(impossible_opening_time(read_draft(text, story), story))


WRONG = [
    ("The same afternoon Wren rowed out.", ["that night"], "en", "hour", "The same afternoon"),
    ("同日午后，阿芦撑船出了河口。", ["入夜，亥时"], "zh", "hour", "同日午后"),
]


@pytest.mark.parametrize(("text", "before", "language", "rule", "quote"), WRONG)
def test_an_opening_that_cannot_follow_is_found(
    text: str, before: list[str], language: str, rule: str, quote: str
) -> None:
    """It quotes the draft and the scene before, and speaks the story's language."""
    [issue] = issues(text, *before, language=language)
    assert (issue.kind, issue.rule, issue.by) == ("story_time", f"story_time.{rule}", "rule")
    assert issue.draft_quote == text[issue.draft_span[0] : issue.draft_span[1]] == quote
    [evidence] = issue.evidence
    assert (evidence.chapter_index, evidence.scene_index, evidence.quote) == (1, 1, before[0])
    assert (language == "zh") == ("草稿" in issue.message)


RIGHT = [
    ("The next morning Wren rowed out.", ["that night"]),
    ("Wren rowed out the same afternoon.", ["that night"]),
    ("The same afternoon Wren rowed out.", ["noon"]),
    ("The same afternoon nobody was at the quay.", ["that night"]),
    ("“The same afternoon,” said Wren, “I rowed out.”", ["that night"]),
    ("The same afternoon Wren rowed out.", []),
    ("July 3rd was hot, and Wren rowed out.", ["July 7th"]),
]


@pytest.mark.parametrize(("text", "before"), RIGHT)
def test_an_opening_that_can_follow_is_left_alone(text: str, before: list[str]) -> None:
    """Other people, speech, words further on, another year, and a story without times prove nothing."""
    assert issues(text, *before) == []


@pytest.mark.parametrize(
    ("text", "word", "found"),
    [
        ("他取出殘魂，残魂一闪。", "残魂", ["殘魂", "残魂"]),
        ("She took the VPN, vpn and VPNs.", "Vpn", ["VPN", "vpn"]),
        ("İt was damn cold.", "damn", ["damn"]),
        ("A damned place.", "damn", []),
        ("无事。", "", []),
    ],
)
def test_a_word_is_found_in_every_spelling(text: str, word: str, found: list[str]) -> None:
    """Traditional or simplified, capital or small; letters as whole words alone."""
    told = avoided_words(text, [word])
    assert [text[start:end] for each in told for start, end in each.spans] == found


def test_the_most_frequent_comes_first_with_words_around_it() -> None:
    """A word that the list has twice is told once."""
    told = avoided_words("残魂，残魂。\n项上人头！", ["项上人头", "残魂", "残魂", "无"])
    assert [(each.word, len(each.spans)) for each in told] == [("残魂", 2), ("项上人头", 1)]
    assert told[0].quotes == ["残魂，残魂。 项上人头！"]
    assert told[1].quotes == ["残魂，残魂。 项上人头！"]
