"""What holds as a draft's scene begins, as a model is shown it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from novelgen.checking.hard_facts import FADES_AFTER_SCENES, hard_facts, names_for
from novelgen.language.language import estimate_tokens
from novelgen.memory.knowledge_rules import KnowledgeRules
from novelgen.memory.story import KnowledgeScene
from novelgen.models.entity import Entity, EntityAlias
from novelgen.models.position import StoryPosition
from novelgen.models.state import OpenLoop, StateChange
from tests.support.continuity_stories import draft_of, story_before_draft


@pytest.mark.parametrize(
    ("language", "dead", "stage", "holder", "thread"),
    [
        (
            "en",
            "Tobin: status: dead, drowned at the weir",
            "On stage in the scene before: Ada Fenn, Ben Orrick",
            "the brass lamp: held by: Ben Orrick",
            "open: Ada owes Ben for the lamp.",
        ),
        (
            "zh",
            "老秦：状况：死亡，在堰口淹死",
            "上一场在场：阿禾、柳娘",
            "铜灯：持有者：柳娘",
            "未了：阿禾欠着柳娘的灯钱。",
        ),
    ],
)
def test_facts_are_told_in_the_storys_language(language: str, dead: str, stage: str, holder: str, thread: str) -> None:
    """Deaths come first; who was there last, who holds what and what is open have the place that proves them."""
    story = story_before_draft(language)
    facts = hard_facts(draft_of(story), story)
    told = {each.text: each for each in facts}
    assert facts[0].text == dead
    assert (told[stage].source, told[stage].source_id) == ("presence", "1:2")
    assert (told[holder].source_id, told[holder].scene_index) == ("I0.holder", 2)
    assert told[thread].source == "thread"
    assert len(told) == len(facts)


def test_who_was_not_in_the_scene_before_was_seen_somewhere() -> None:
    """Where somebody was last tells whether they can be here."""
    story = story_before_draft()
    [seen] = [each for each in hard_facts(draft_of(story), story) if each.source_id == "C2.presence"]
    assert seen.text == "Tobin: last on stage: 1:1, the salt house"


def test_a_place_that_was_left_since_is_no_fact() -> None:
    """A stated place says nothing once its bearer was seen later; a mood never does."""
    left = StateChange(entity_id="C0", attribute="place", value="the weir", chapter_index=1, scene_index=1)
    mood = left.model_copy(update={"attribute": "emotional_state", "value": "merry"})
    seen = StateChange(entity_id="C0", attribute="presence", value={}, kind="presence", chapter_index=1, scene_index=2)
    story = story_before_draft(changes=[left, mood, seen])
    texts = [each.text for each in hard_facts(draft_of(story), story)]
    assert not [each for each in texts if "the weir" in each or "merry" in each]
    stays = story_before_draft(changes=[left])
    assert "Ada Fenn: where: the weir" in [each.text for each in hard_facts(draft_of(stays), stays)]


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
        rules = KnowledgeRules(replace(base.knowledge.story, scenes=seen))
        story = replace(base, knowledge=rules)
        texts = [each.text for each in hard_facts(draft_of(story), story)]
        assert ("Ada Fenn: status: has lost the mare" in texts) == is_told
        assert "Ben Orrick: status: arrested, in the tower" in texts


def test_facts_keep_within_their_budget_and_to_whom_the_draft_names() -> None:
    """Whole facts, weightiest first; of whom the draft does not speak nothing is told."""
    story = story_before_draft(
        threads=[OpenLoop(loop_id="OL9", description="The weir leaks.", related_entities=["C2"])]
    )
    facts = hard_facts(draft_of(story, "Ada Fenn slept."), story, max_tokens=40)
    assert sum(estimate_tokens(each.text) for each in facts) <= 40
    assert not [each for each in facts if "weir leaks" in each.text or "drowned" in each.text]


def test_a_first_scene_has_no_facts() -> None:
    """Nothing lies before it."""
    story = story_before_draft(entities=[], changes=[], memories=[], relationships=[], threads=[])
    assert not [each for each in hard_facts(draft_of(story, "Rain."), story) if each.source == "state"]


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
