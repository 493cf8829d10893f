"""A thing is where the story left it, unless the draft tells how it changed hands."""

import pytest

from novelgen.checking.story import StoryBefore
from novelgen.models.plan import ScenePlan
from tests.novelgen.checking.small_story import CHINESE, ENGLISH, found, memory, state, told

WITH_FENN = state("I0", "holder", "C1")


def before(draft: str) -> StoryBefore:
    """The story in the draft's language, in which the second person has the thing."""
    return told(CHINESE if "。" in draft else ENGLISH, changes=[WITH_FENN])


@pytest.mark.parametrize(
    "draft",
    [
        "Anselm drew the brass astrolabe from his own satchel and laid it on the chart.",
        "The night was clear. Then he took from his coat pocket the brass astrolabe, and blew the dust off it.",
        "“I have the brass astrolabe,” said Anselm, “and nobody shall have it from me.”",
        "Anselm came in with the brass astrolabe in his hand.",
        "Anselm stood at the window, the brass astrolabe in his left hand.",
        "The door opened. He had the brass astrolabe at his belt.",
        "In the cabin Anselm was toying with the brass astrolabe.",
        "陆青崖从怀中取出青铜罗盘，放在桌上。",
        "陆青崖把青铜罗盘亮给他看。",
        "陆青崖醒了，把那青铜罗盘挂在腰间，推门出去。",
        "陆青崖道：“罗盘在我手里，谁也拿不去。”",
    ],
)
def test_a_thing_in_wrong_hands_is_found(draft: str) -> None:
    """Somebody who is certainly not its holder has it about them: by name, by the pronoun's sex, by their own words."""
    (issue,) = found(draft, before(draft))
    assert (issue.kind, issue.rule, issue.entity_ids) == ("object_holder", "wrong_hands", ["I0", "C1"])
    assert issue.evidence[0].source_id == "I0.holder"
    assert draft[slice(*issue.draft_span)] == issue.draft_quote
    assert ("苏晚棠" if "。" in draft else "Mrs. Ottoline Fenn") in issue.message


@pytest.mark.parametrize(
    "draft",
    [
        "Ottoline drew the brass astrolabe from her own satchel and laid it on the chart.",
        "Anselm borrowed the brass astrolabe that evening. At midnight Anselm drew the astrolabe from his satchel.",
        "Ottoline nodded. Anselm drew the brass astrolabe from his satchel.",
        "She drew the brass astrolabe from her satchel.",
        "Anselm took the brass astrolabe.",
        "He dreamt again. Anselm drew the brass astrolabe from his own satchel.",
        "Anselm thought of the brass astrolabe, and of what lay in his satchel.",
        "Anselm drew a pencil from his satchel. The brass astrolabe was far away.",
        "Anselm met a woman with the brass astrolabe in her hand.",
        "She came in with the brass astrolabe in her hand.",
        "Anselm came in with a copy of the brass astrolabe in his hand.",
        "At a word from Anselm the brass astrolabe was shown.",
        "Anselm took the lamp with the brass astrolabe in mind.",
        "苏晚棠从怀中取出青铜罗盘，放在桌上。",
        "苏晚棠把青铜罗盘递给他。陆青崖把罗盘挂在腰间。",
        "苏晚棠点了点头。陆青崖把青铜罗盘挂在腰间，推门出去。",
        "那人从怀中取出青铜罗盘，放在桌上。",
        "陆青崖梦见自己回到海上。陆青崖从怀中取出青铜罗盘，放在桌上。",
    ],
)
def test_a_thing_with_its_holder_or_handed_on_is_right(draft: str) -> None:
    """The holder has it, also one only described, or lends it, or the draft hands it on, or nobody has it at all."""
    assert found(draft, before(draft)) == []


def test_a_pronoun_means_the_only_person_of_the_sentence_before() -> None:
    """Of two men he is whom the sentence before is about; a woman, or somebody whose sex nobody knows, is not."""
    people = [
        each.model_copy(update={"profile": {"gender": "male"}}) if each.entity_id in ("C0", "C3") else each
        for each in ENGLISH
    ]
    story = told(people, changes=[state("I0", "holder", "C3")])
    (issue,) = found("Anselm sat alone. He was turning the brass astrolabe over.", story)
    assert (issue.rule, issue.entity_ids) == ("wrong_hands", ["I0", "C3"])
    assert found("Ottoline sat alone. He was turning the brass astrolabe over.", story) == []
    assert found("Anselm sat beside Ottoline. He was turning the brass astrolabe over.", story) == []
    assert found("Anselm sat alone.\n\nHe was turning the brass astrolabe over.", story) == []
    assert (
        found("Anselm sat alone. He was turning the brass astrolabe over.", told(ENGLISH, changes=story.changes)) == []
    )


def test_the_last_that_was_told_of_a_thing_counts() -> None:
    """A later holder, inventory or memory put the earlier one out, and so does a plan that brings it over."""
    draft = "Anselm drew the brass astrolabe from his own satchel."
    later = state("I0", "holder", "C0", chapter=4)
    listed = state("C0", "inventory", ["lamp", "the astrolabe"], chapter=4)
    unread = memory("Mrs. Fenn left the astrolabe.", "C1", "I0", slot="I0.holder", chapter=4)
    assert found(draft, told(ENGLISH, changes=[WITH_FENN, later])) == []
    assert found(draft, told(ENGLISH, changes=[WITH_FENN, listed])) == []
    assert found(draft, told(ENGLISH, changes=[WITH_FENN], memories=[unread])) == []
    plan = ScenePlan(key_actions=["Anselm shows the brass astrolabe"])
    draft = "Anselm drew the brass astrolabe from his own satchel."
    assert found(draft, told(ENGLISH, changes=[WITH_FENN], plan=plan)) == []
