"""A draft that opens with a time which cannot follow on what was told before it."""

import pytest

from novelgen.checking.rules import impossible_opening_time
from novelgen.checking.story import StoryBefore, read_draft
from novelgen.language.chronology import TellingScene, scene_times
from novelgen.memory.knowledge_rules import KnowledgeRules
from novelgen.memory.story import KnowledgeStory
from novelgen.models.continuity import ContinuityIssue
from novelgen.models.entity import Entity
from novelgen.models.position import StoryPosition

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
        changes=[],
        memories=[],
        relationships=[],
        threads=[],
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
