"""Who cannot act in a draft: the dead, the bound, the held, and who never leaves a place by the author's note."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Literal

from novelgen.checking.acting import Act, certain_acts, is_by_wire
from novelgen.checking.findings import finding, is_planned, of_change, of_memory, place_of
from novelgen.checking.notes import Stay, elsewhere_of, stays_in_notes
from novelgen.checking.story import Draft, StoryBefore
from novelgen.language.language import has_cjk, word_pattern, wording
from novelgen.language.normalise import simplified
from novelgen.memory.attributes import STATUS_ATTRIBUTES, is_death, is_return_to_life, split_slot
from novelgen.models.continuity import ContinuityEvidence, ContinuityIssue
from novelgen.models.memory import StoryMemoryChunk
from novelgen.models.position import StoryPosition
from novelgen.models.state import StateChange

StandingKind = Literal["dead", "bound", "held"]


@dataclass(frozen=True, slots=True)
class Standing:
    """Why somebody cannot act: dead, bound hand and foot, or held elsewhere, with what tells it."""

    kind: StandingKind
    since: StoryPosition
    evidence: tuple[ContinuityEvidence, ...]


def dead_act(draft: Draft, story: StoryBefore) -> Iterator[ContinuityIssue]:
    """Find who acts, speaks or is met alive in the draft's present though the story has told them dead."""
    return _acts_of(draft, story, death_of, lambda act, standing: False)


def absent_act(draft: Draft, story: StoryBefore) -> Iterator[ContinuityIssue]:
    """Find who acts in the draft though the story left them bound or held elsewhere, and nothing freed them since."""
    return _acts_of(draft, story, captivity_of, lambda act, held: _is_explained(draft, story, act, held))


def _acts_of(
    draft: Draft,
    story: StoryBefore,
    standing_of: Callable[[str, StoryBefore], Standing | None],
    is_explained: Callable[[Act, Standing], bool],
) -> Iterator[ContinuityIssue]:
    """Each of the cast who certainly acts, against how the story left them; one finding for each of them."""
    left: dict[str, Standing | None] = {}
    seen: set[str] = set()
    for act in certain_acts(draft, story):
        who = act.entity_id
        if who in seen or is_planned(who, story):
            continue
        if who not in left:
            left[who] = standing_of(who, story)
        standing = left[who]
        # Who is bound is free to speak.
        if standing is None or (standing.kind == "bound" and not act.moves):
            continue
        seen.add(who)
        if not is_explained(act, standing):
            rule, confidence = ("dead_act", 0.9) if standing.kind == "dead" else ("absent_act", 0.8)
            yield finding(
                standing.kind, draft, story, act.span, standing.evidence,
                kind="dead_or_absent", rule=rule, severity="high", confidence=confidence, entity_ids=[who],
                name=act.name,
            )  # fmt: skip


def never_there(draft: Draft, story: StoryBefore) -> Iterator[ContinuityIssue]:
    """Find who acts at another place though a note of the author's says that they never leave theirs."""
    stays: dict[str, Stay] = stays_in_notes(story)
    seen: set[str] = set()
    for act in certain_acts(draft, story) if stays else ():
        who = act.entity_id
        if who in seen or who not in stays or is_planned(who, story):
            continue
        elsewhere = elsewhere_of(stays[who], act.span, draft, story)
        if elsewhere is not None:
            seen.add(who)
            yield finding(
                "stays", draft, story, act.span, [stays[who].evidence],
                kind="place", rule="never_there", confidence=0.8, entity_ids=[who, elsewhere],
                name=act.name, place=story.name(stays[who].place_id), elsewhere=story.name(elsewhere),
            )  # fmt: skip


# --- The dead ---


def death_of(entity_id: str, story: StoryBefore) -> Standing | None:
    """Return the death that the story has told of somebody, or None where they live, returned or may live.

    Somebody who was on stage in a later scene than the one that tells the death may live after all, or be shown as
    they were: then nothing is certain. A presence that is only guessed puts no note of the author's in doubt.
    """
    own = [each for each in story.changes if each.entity_id == entity_id and each.kind == "explicit"]
    told = sorted(
        [
            *((place_of(each), of_change(each, story)) for each in own if is_death(each.attribute, each.value)),
            *(
                (place_of(each), of_memory(each, story))
                for each in story.memories
                if each.superseded_by is None and _tells_death(each, entity_id, story)
            ),
        ],
        key=lambda pair: pair[0],
    )
    if not told:
        return None
    first, last = told[0][0], told[-1][0]
    if any(is_return_to_life(each.attribute, each.value) and place_of(each) >= first for each in own):
        return None
    is_noted = any(evidence.source == "note" for _, evidence in told)
    shown = [scene for scene in story.scenes if scene.has_record or not is_noted]
    if any(entity_id in scene.present and scene.position > last for scene in shown):
        return None
    later = (each for each in story.memories if entity_id in each.entities_mentioned and place_of(each) >= last)
    if _LIVES_ON.search(" ".join(simplified(each.content) for each in later)):
        return None
    return Standing("dead", first, tuple(evidence for _, evidence in told[:3]))


_LIVES_ON = word_pattern("absent_lives_on")


_DIED = re.compile(wording("absent_died"))
_KILLED = re.compile(wording("absent_killed"))
_NOT_THEIRS = re.compile(wording("absent_not_theirs"))
"""What stands before a name that is not the subject: "her love for X is dead"."""
_NOT_DONE = word_pattern("absent_not_done")
_CHINESE_DIED = re.compile(wording("absent_chinese_died"))
_CHINESE_KILLED = re.compile(wording("absent_chinese_killed"))


_OF_DEATH = word_pattern("absent_of_death")


def _tells_death(memory: StoryMemoryChunk, entity_id: str, story: StoryBefore) -> bool:
    """Whether a memory tells the death of one character for certain: in its slot, of nobody else, or by name."""
    if memory.content_type == "note" and memory.chapter_index is None:
        return False
    slot = split_slot(memory.slot_type or "")
    words = simplified(memory.content)
    if slot is not None and slot[1] in STATUS_ATTRIBUTES:
        if slot[0] != entity_id:
            return False
        if memory.event_type == "death":
            return True
    if entity_id not in memory.entities_mentioned:
        return False
    if memory.event_type == "death" and memory.entities_mentioned == [entity_id] and _OF_DEATH.search(words):
        return True
    return any(
        _is_told_dead(words, mention.start, mention.end)
        for mention in story.resolver.find_mentions(words, also_present=memory.entities_mentioned)
        if mention.entity_id == entity_id
    )


def _is_told_dead(text: str, start: int, end: int) -> bool:
    """Whether the words beside a name say that its bearer died; not that they might or nearly did."""
    if has_cjk(text):
        clause_start = max(text.rfind(each, 0, start) for each in "，。；：") + 1
        clause_end = min((at for each in "，。；：" if (at := text.find(each, end)) >= 0), default=len(text))
        if _NOT_DONE.search(text[clause_start:clause_end]):
            return False
        return bool(_CHINESE_DIED.match(text, end, clause_end) or _CHINESE_KILLED.search(text, clause_start, start))
    sentence_start = max(text.rfind(each, 0, start) for each in (". ", "; ", ": ")) + 1
    sentence_end = min((at for each in (". ", ";", ",") if (at := text.find(each, end + 1)) >= 0), default=len(text))
    if _NOT_DONE.search(text, sentence_start, sentence_end):
        return False
    if _NOT_THEIRS.search(text[sentence_start:start]):
        return bool(_KILLED.search(text[sentence_start:start]))
    return bool(_DIED.match(text, end) or _KILLED.search(text[sentence_start:start]))


# --- The bound and the held ---

_BOUND = word_pattern("absent_bound")
_HELD = word_pattern("absent_held")
_NO_LONGER = word_pattern("absent_no_longer")
FREED = word_pattern("absent_freed")


_HELD_ATTRIBUTES = ("status", "physical_state", "location_id", "condition", "situation")


def captivity_of(entity_id: str, story: StoryBefore) -> Standing | None:
    """Return that somebody is bound or held, or None where nothing says so, or the story may have freed them."""
    own = [
        each
        for each in story.changes
        if each.entity_id == entity_id and each.kind == "explicit" and each.attribute in _HELD_ATTRIBUTES
    ]
    said = [each for each in own if isinstance(each.value, str) and each.attribute != "location_id"]
    last_of: dict[str, StateChange] = {each.attribute: each for each in said}
    telling = [each for each in last_of.values() if says_held(each.value)]
    if not telling or not story.scenes or entity_id in story.scenes[-1].present:
        return None
    told = max(telling, key=place_of)
    since = place_of(told)
    freed = [each for each in said if place_of(each) > since and not says_held(each.value)]
    if freed or any(
        entity_id in memory.entities_mentioned and place_of(memory) > since and FREED.search(simplified(memory.content))
        for memory in story.memories
    ):
        return None
    if any(entity_id in scene.present and scene.position > since for scene in story.scenes):
        return None
    kind: StandingKind = "bound" if _BOUND.search(simplified(str(told.value))) else "held"
    memories = [
        of_memory(each, story)
        for each in story.memories
        if entity_id in each.entities_mentioned
        and each.superseded_by is None
        and any(pattern.search(simplified(each.content)) for pattern in (_BOUND, _HELD))
    ]
    return Standing(kind, since, (of_change(told, story), *memories[-2:]))


def says_held(value: Any) -> bool:
    """Tell whether a state says that somebody is bound or held, and not that they were."""
    words = simplified(str(value))
    return bool((_BOUND.search(words) or _HELD.search(words)) and not _NO_LONGER.search(words))


_CUSTODY_HERE = word_pattern("absent_custody_here")


def _is_explained(draft: Draft, story: StoryBefore, act: Act, held: Standing) -> bool:
    """Whether the draft tells how they come to act: freed, in custody, heard from, or with whoever holds them."""
    until = draft.plain[: act.span.end]
    if FREED.search(until) or _TIME_PASSED.search(until) or is_by_wire(draft, act):
        return True
    around = draft.plain[max(0, act.span.start - 200) : act.span.end + 100]
    if _CUSTODY_HERE.search(around):
        return True
    if held.kind == "bound":
        return False
    captors = {each for evidence in held.evidence for each in evidence.entity_ids} - {act.entity_id}
    return any(
        each.entity_id in captors
        and story.entity[each.entity_id].entity_type == "character"
        and draft.speech_at(each.start) is None
        and act.span.start - 600 <= each.start <= act.span.end
        for each in draft.mentions
        if not _is_fellow(each.entity_id, story, held)
    )


def _is_fellow(entity_id: str, story: StoryBefore, held: Standing) -> bool:
    """Whether somebody named beside a captive is held with them, and so no captor."""
    return any(
        change.entity_id == entity_id and place_of(change) >= held.since and says_held(change.value)
        for change in story.changes
        if change.kind == "explicit" and isinstance(change.value, str)
    )


_TIME_PASSED = re.compile(wording("absent_time_passed"), re.IGNORECASE)
"""So much time that whoever was away or held may be back or free by now."""
