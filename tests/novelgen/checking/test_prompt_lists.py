"""What a model is shown of a check: whom and what the draft names, what holds, and evidence by whom it is about."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from novelgen.checking.prompt_lists import (
    FADES_AFTER_SCENES,
    MAX_LINE_TOKENS,
    Exhibits,
    evidence_by_subject,
    hard_facts,
    names_for,
    place_text,
)
from novelgen.checking.story import StoryBefore
from novelgen.language.language import estimate_tokens
from novelgen.memory.knowledge_rules import KnowledgeRules
from novelgen.memory.knowledge_story import KnowledgeEvent, KnowledgeScene
from novelgen.models.continuity import ContinuityEvidence
from novelgen.models.entity import Entity, EntityAlias
from novelgen.models.plan import ScenePlan
from novelgen.models.position import StoryPosition
from novelgen.models.state import OpenLoop, StateChange
from tests.support.continuity_stories import draft_of, gathering, story_before_draft


def facts(story: StoryBefore, text: str = "", **bounds: Any) -> list[ContinuityEvidence]:
    """Return all facts that a draft is shown."""
    return [one for each in hard_facts(draft_of(story, text), story, **bounds) for one in each.pieces]


@pytest.mark.parametrize(
    ("language", "lines"),
    [
        (
            "en",
            [
                (
                    "F1 | Tobin | Old Tobin | person"
                    " | 1:1 status: dead, drowned at the weir / 1:1 last on stage: 1:1, the salt house"
                ),
                "F2 | Ada Fenn | - | person",
                "F3 | the brass lamp | - | thing | 1:2 held by: Ben Orrick",
                "F4 | Ben Orrick | - | person | 1:2 holds: the brass lamp",
                "F5 | 1:2 on stage in the scene before: Ada Fenn, Ben Orrick",
            ],
        ),
        (
            "zh",
            [
                "F1 | 老秦 | 秦老汉 | 人物 | 1:1 状况：死亡，在堰口淹死 / 1:1 最后一次出场：1:1、盐仓",
                "F2 | 阿禾 | - | 人物",
                "F3 | 铜灯 | - | 物品 | 1:2 持有者：柳娘",
                "F4 | 柳娘 | - | 人物 | 1:2 持有：铜灯",
                "F5 | 1:2 上一场在场：阿禾、柳娘",
            ],
        ),
    ],
)
def test_everybody_of_the_draft_has_a_line_of_what_holds(language: str, lines: Sequence[str]) -> None:
    """Names, what it is and its states, the dead first; then the scene before, ties and open threads."""
    story = story_before_draft(language)
    shown = Exhibits((), hard_facts(draft_of(story), story)).fact_lines(story).splitlines()
    assert shown[:5] == list(lines)
    told = {each.source for each in facts(story)}
    assert {"thread", "relationship", "passage", "presence", "state"} <= told


def test_a_place_that_was_left_since_is_no_fact() -> None:
    """A stated place says nothing once its bearer was seen later; a mood never does."""
    left = StateChange(entity_id="C0", attribute="place", value="the weir", chapter_index=1, scene_index=1)
    mood = left.model_copy(update={"attribute": "emotional_state", "value": "merry"})
    seen = StateChange(entity_id="C0", attribute="presence", value={}, kind="presence", chapter_index=1, scene_index=2)
    texts = [each.text for each in facts(story_before_draft(changes=[left, mood, seen]))]
    assert not [each for each in texts if "the weir" in each or "merry" in each]
    assert "Ada Fenn: where: the weir" in [each.text for each in facts(story_before_draft(changes=[left]))]


def test_what_nobody_says_the_end_of_fades() -> None:
    """After six scenes with its bearer a status is no fact, but for a death and for being held."""
    said = {"C0": "has lost the mare", "C1": "arrested, in the tower"}
    changes = [
        StateChange(entity_id=each, attribute="status", value=value, chapter_index=1, scene_index=1)
        for each, value in said.items()
    ]
    for scenes, is_told in ((FADES_AFTER_SCENES - 1, True), (FADES_AFTER_SCENES, False)):
        seen = [KnowledgeScene(StoryPosition(1, number), frozenset({"C0", "C1"})) for number in range(1, scenes + 2)]
        base = story_before_draft(changes=changes)
        story = replace(base, knowledge=KnowledgeRules(replace(base.knowledge.story, scenes=seen)))
        texts = [each.text for each in facts(story)]
        assert ("Ada Fenn: status: has lost the mare" in texts) == is_told
        assert "Ben Orrick: status: arrested, in the tower" in texts


def test_facts_keep_within_their_budget_and_to_whom_the_draft_names() -> None:
    """Whole facts, weightiest first; of whom the draft does not speak nothing is told."""
    loop = OpenLoop(loop_id="OL9", description="The weir leaks.", related_entities=["C2"])
    few = facts(story_before_draft(threads=[loop]), "Ada Fenn slept.", max_tokens=40)
    assert sum(estimate_tokens(each.text) for each in few) <= 40
    assert not [each for each in few if "weir leaks" in each.text or "drowned" in each.text]
    nothing = story_before_draft(entities=[], changes=[], memories=[], relationships=[], threads=[])
    assert not [each for each in facts(nothing, "Rain.") if each.source == "state"]


def test_people_are_called_as_the_draft_calls_them() -> None:
    """A display name that only describes gives way to a name that says who is meant."""
    entity = Entity(
        entity_id="C0",
        entity_type="character",
        name="the little man",
        aliases=[EntityAlias(alias="Mr. Josiah Crane"), EntityAlias(alias="Crane")],
    )
    story = story_before_draft(entities=[entity])
    assert names_for(draft_of(story, "The little man bowed. 'Crane,' he said."), story)["C0"] == "Crane"
    assert names_for(draft_of(story, "It rained."), story)["C0"] == "Mr. Josiah Crane"


def test_evidence_stands_with_the_rarest_whom_it_and_the_draft_name() -> None:
    """A line for each, best first, each piece with its place; below it who was on stage in its scenes."""
    story = story_before_draft()
    draft = draft_of(story)
    lines = Exhibits(evidence_by_subject(gathering(story)(()), draft, story)).evidence_lines(draft, story).splitlines()
    assert lines == [
        "E1 | Tobin | 1:1 Old Tobin drowned at the weir; Ada Fenn saw it.",
        "E2 | Ben Orrick | 1:2 The press took two fingers of Ben Orrick's hand.",
        "E3 | the brass lamp | 1:2 Ada Fenn gave Ben Orrick the brass lamp.",
        "on stage then: 1:1 Ada Fenn, Tobin; 1:2 Ada Fenn, Ben Orrick",
    ]


def test_a_line_grows_to_its_bound_and_what_names_nobody_stands_by_its_scene() -> None:
    """What is left of somebody has another line; a piece of none of them stands under its place."""
    story = story_before_draft()
    long = [
        ContinuityEvidence(source_id=f"M{at}", chapter_index=1, scene_index=1, text=f"Tobin {at} " + "rowed " * 150)
        for at in range(4)
    ]
    rain = ContinuityEvidence(source="passage", source_id="p", chapter_index=1, scene_index=2, text="It rained.")
    lines = evidence_by_subject([*long, rain], draft_of(story), story)
    assert [(each.about, len(each.pieces)) for each in lines] == [("Tobin", 2), ("Tobin", 2), ("1:2", 1)]
    assert all(sum(estimate_tokens(one.text) for one in each.pieces) <= MAX_LINE_TOKENS for each in lines)


def test_only_what_the_story_keeps_from_somebody_is_marked() -> None:
    """That nobody told Ben is not known for sure; that it is hidden from him is."""
    story = story_before_draft()
    draft = draft_of(story)
    exhibits = Exhibits(evidence_by_subject(gathering(story)(()), draft, story))
    assert "kept from" not in exhibits.evidence_lines(draft, story)
    hidden = KnowledgeEvent(character_id="C1", source_id="M1", chapter_index=1, scene_index=2, kind="hidden")
    kept = replace(story, knowledge=KnowledgeRules(replace(story.knowledge.story, events=[hidden])))
    assert "[kept from: Ben Orrick]" in exhibits.evidence_lines(draft, kept)


def test_where_the_draft_stands_names_its_people_and_its_plan() -> None:
    """Also without a plan the section says whom the draft has, and that nothing else is known."""
    story = story_before_draft()
    assert place_text(draft_of(story), story).splitlines() == [
        "chapter 2, scene 1",
        "people of the draft: Ada Fenn, Tobin, Ben Orrick",
        "no plan is known: what the draft itself lets happen is meant to happen",
    ]
    plan = ScenePlan(location="the salt house", characters=["Ada"], purpose="Tobin turns up alive.")
    planned = replace(story, plan=plan, pov="C0")
    text = place_text(draft_of(planned), planned)
    assert "the plan: the salt house | Ada | Tobin turns up alive." in text
    assert "told from the point of view of Ada Fenn" in text
