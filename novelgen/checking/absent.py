"""Rules of a draft's continuity: the dead do not act, nor do those who are bound, held or gone."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from novelgen.checking.acting import Act, certain_acts, is_by_wire, is_certain_name
from novelgen.checking.proof import is_planned, place_of, where_told
from novelgen.checking.standing import FREED, Standing, captivity_of, death_of, departure_of, says_held
from novelgen.checking.story import Draft, StoryBefore
from novelgen.language.language import has_cjk
from novelgen.language.sentences import Span
from novelgen.models.continuity import ContinuityIssue

# --- The dead ---


def dead_act(draft: Draft, story: StoryBefore) -> Iterator[ContinuityIssue]:
    """Find who acts, speaks or is met alive in the draft's present though the story has told them dead."""
    dead: dict[str, Standing | None] = {}
    seen: set[str] = set()
    for act in certain_acts(draft, story):
        who = act.entity_id
        if who in seen or is_planned(who, story):
            continue
        if who not in dead:
            dead[who] = death_of(who, story)
        standing = dead[who]
        if standing is not None:
            seen.add(who)
            yield _issue(draft, story, act, standing, rule="dead_act")


_LATELY = re.compile(
    r"\b(?:last night|this (?:very )?(?:morning|afternoon|evening)|yesterday|today|tonight|just now|(?:an"
    r"|half an) hour ago|a moment ago)\b"
    r"|昨[夜日天晚]|今[早晨日天晚]|方才|刚才|适才|刚刚|前日|前天",
    re.IGNORECASE,
)
_DEALT_BEFORE = re.compile(
    r"\b(?:I|[Ww]e|[Hh]e|[Ss]he|[Tt]hey)\b[^.;!?]{0,40}\b(?:saw|met|visited|(?:spoke|talked|dined|supped|drank"
    r"|sat|walked|breakfasted) (?:to|with)"
    r"|(?:word|words|talk|chat|hour|minutes|drink) (?:\w+ ){0,2}with|heard from|called (?:on|upon))"
    r" (?:(?:the|old|little|young|poor|our|my|Mr\.|Mrs\.|Miss|Dr\.) )*$"
    r"|(?:遇[见到]|碰[见到]|见[过到了]|拜访|会了|见|同|和|与|跟)(?:那|老)*$"
)
_DEALT_AFTER = re.compile(
    r"[^，。；！？]{0,6}(?:说过?话|吃酒|喝酒|吃饭|说了|谈了|见了?面|商量|聊|同席|同坐)"
    r"|[，。；！？]|$"
)
_NOT_DEALT = re.compile(
    r"\b(?:grave|tomb|portrait|dream\w*|dreamt|ghost|spirit|body|corpse|funeral|if|not|never|n[’']t|as if)\b"
    r"|坟|墓|像|梦|鬼|魂|尸|灵|没|未|不|若|如果",
    re.IGNORECASE,
)
MIN_SCENES_SINCE_DEATH = 5
"""Scenes since a death was told from which on what was done with the dead "last night" came certainly after it."""


def dead_met(draft: Draft, story: StoryBefore) -> Iterator[ContinuityIssue]:
    """Find who is told to have been met or spoken with yesterday or today though they died long before.

    Long before is a chapter and some scenes, or before the story began for who was never on stage.
    """
    seen: set[str] = set()
    for mention in draft.mentions:
        who = mention.entity_id
        sentence = draft.sentence_at(mention.start)
        if sentence is None or who in seen or story.entity[who].entity_type != "character" or is_planned(who, story):
            continue
        words = draft.text[sentence.start : sentence.end]
        before = draft.text[sentence.start : mention.start]
        if not (_LATELY.search(words) and _DEALT_BEFORE.search(before)) or _NOT_DEALT.search(words):
            continue
        if has_cjk(mention.name) and not _DEALT_AFTER.match(draft.text, mention.end, sentence.end):
            continue
        if draft.text.startswith(("’s", "'s", "的"), mention.end) or not is_certain_name(mention, draft, story):
            continue
        dead = death_of(who, story)
        if dead is None or not _is_long_ago(who, dead, story):
            continue
        seen.add(who)
        act = Act(who, mention.name, Span(sentence.start, sentence.start + len(words.rstrip())))
        yield _issue(draft, story, act, dead, rule="dead_met")


def _is_long_ago(entity_id: str, dead: Standing, story: StoryBefore) -> bool:
    since = [scene for scene in story.scenes if scene.position > dead.since]
    if len(since) < MIN_SCENES_SINCE_DEATH or dead.since.chapter_index == story.as_of.chapter_index:
        return False
    return not any(entity_id in scene.present for scene in story.scenes) or len(since) >= 4 * MIN_SCENES_SINCE_DEATH


# --- The bound and the held ---

_CUSTODY_HERE = re.compile(
    r"\b(?:cell|prison|jail|gaol|dungeon|custody|handcuff\w*|manacle\w*|shackle\w*|chains|irons|fetters"
    r"|prisoner|captive|captor\w*|guards?|gaoler|jailer"
    r"|warder|constables?|police|ropes?|bound|tied|bonds|locked)\b"
    r"|牢|狱|囚|绑|缚|捆|绳|锁|链|铐|押|看守|狱卒|差役|官差",
    re.IGNORECASE,
)


def absent_act(draft: Draft, story: StoryBefore) -> Iterator[ContinuityIssue]:
    """Find who acts in the draft though the story left them bound or held elsewhere, and nothing freed them since."""
    standing: dict[str, Standing | None] = {}
    seen: set[str] = set()
    for act in certain_acts(draft, story):
        who = act.entity_id
        if who in seen or is_planned(who, story):
            continue
        if who not in standing:
            standing[who] = captivity_of(who, story)
        held = standing[who]
        if held is None or (held.kind == "bound" and not act.moves):
            continue
        if _is_explained(draft, story, act, held):
            # Whoever has been freed, visited or rung up stays so for the rest of the scene.
            seen.add(who)
            continue
        seen.add(who)
        yield _issue(draft, story, act, held, rule="absent_act")


def _is_explained(draft: Draft, story: StoryBefore, act: Act, held: Standing) -> bool:
    """Whether the draft itself tells how they come to act: freed, in custody, heard from, or with whoever holds them.

    Somebody bound is free to speak, and somebody held to do anything, wherever their captors are.
    """
    until = draft.text[: act.span.end]
    if FREED.search(until) or _TIME_PASSED.search(until) or is_by_wire(draft, act):
        return True
    around = draft.text[max(0, act.span.start - 200) : act.span.end + 100]
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


# --- The gone ---

_BACK = re.compile(
    r"\b(?:return\w*|(?:is|was|are|were|been|comes?|came|gets?|got) back|back (?:from|at|in)|arriv\w+|again"
    r"|came (?:in|home|up|out|to)|entered|reappear\w*|at last|burst in|walked in|found|met|sent for|calls?"
    r"|called (?:at|on|upon)|reach\w*|land(?:ed|ing))\b"
    r"|回[来到至转]|归[来到]|[赶走跑飞转出迎上前过进下请寻找叫引]来|来[到至了]|到[了得来]|回家|寻[着到见]|遇"
    r"|撞见|[迎引率]|[带领]着?|拜访|访|请[了得]|重逢",
    re.IGNORECASE,
)


_TIME_PASSED = re.compile(
    r"\b(?:weeks?|months?|years?|seasons?|summer|autumn|winter|spring) (?:later|on\b|pass\w*|went by|go(?:es)? by"
    r"|had passed|(?:had )?gone by)"
    r"|\b(?:after|for) (?:\w+ ){0,2}(?:weeks|months|years)\b"
    r"|(?:周|星期|个月|年)(?:之?后|以后|过去)|过了[^，。！？]{0,3}(?:周|星期|月|年)|[转展]眼|一晃|[春夏秋冬]天[来到]了",
    re.IGNORECASE,
)
"""So much time that whoever was away or held may be back or free by now."""

MAX_CHAPTERS_GONE = 2
"""Chapters after which nobody can tell whether who went away is still gone."""


def gone_act(draft: Draft, story: StoryBefore) -> Iterator[ContinuityIssue]:
    """Find who was there all along in the draft though the story sent them away and nobody met them since.

    A draft that has them, or anybody, arrive, come back, meet or look for somebody before it tells how.
    """
    seen: set[str] = set()
    for act in certain_acts(draft, story):
        who = act.entity_id
        if (
            who in seen
            or is_planned(who, story)
            or _BACK.search(draft.text, max(0, act.span.start - 200), act.span.end)
            or _TIME_PASSED.search(draft.text, 0, act.span.end)
        ):
            continue
        seen.add(who)
        gone = departure_of(who, story)
        if gone is not None and not _is_distant(gone, story) and not is_by_wire(draft, act):
            yield _issue(draft, story, act, gone, rule="gone_act")


def _is_distant(gone: Standing, story: StoryBefore) -> bool:
    """Whether a departure lies more than a chapter back, so that they may well have come home untold."""
    chapters = (gone.since.chapter_index, story.as_of.chapter_index)
    return None in chapters or (chapters[1] or 0) - (chapters[0] or 0) > MAX_CHAPTERS_GONE


# --- What a finding says ---

_WORDS: Mapping[str, Mapping[str, tuple[str, str]]] = {
    "en": {
        "dead": (
            "{name} has been dead since {where} ({told}), but acts or is met here.",
            "Give the act to somebody who lives, or show that it is a memory, a dream or a ghost.",
        ),
        "bound": (
            "{name} was bound or locked up in {where} ({told}) and nothing has freed them, but moves about here.",
            "Tell how {name} got free, or let somebody else do it.",
        ),
        "away": (
            "{name} went away in {where} ({told}) and has not come back, but is here.",
            "Tell how {name} came back, or let somebody else do it.",
        ),
        "held": (
            "{name} has been held since {where} ({told}) and nothing has freed them, but acts here.",
            "Tell how {name} got free, or let somebody else do it.",
        ),
    },
    "zh": {
        "dead": (
            "{name}在{where}已死（{told}），这里却还在行动或与人相见。",
            "换一个活着的人来做，或写明这是回忆、梦境或鬼魂。",
        ),
        "bound": (
            "{name}在{where}被绑住或关住（{told}），此后并未脱身，这里却行动自如。",
            "写明{name}如何脱身，或换别人来做。",
        ),
        "away": ("{name}在{where}已经离开（{told}），此后并未回来，这里却在场。", "写明{name}如何回来，或换别人来做。"),
        "held": (
            "{name}自{where}起被人扣住（{told}），此后并未获释，这里却在行动。",
            "写明{name}如何脱身，或换别人来做。",
        ),
    },
}


def _issue(draft: Draft, story: StoryBefore, act: Act, standing: Standing, *, rule: str) -> ContinuityIssue:
    first = standing.evidence[0]
    message, fix = _WORDS[story.language][standing.kind]
    given = {"name": act.name, "where": where_told(first, story.language), "told": first.text.rstrip(".。")}
    return ContinuityIssue(
        kind="dead_or_absent",
        severity="medium" if standing.kind == "away" else "high",
        draft_quote=draft.text[act.span.start : act.span.end],
        draft_span=(act.span.start, act.span.end),
        message=message.format(**given),
        entity_ids=[act.entity_id],
        evidence=list(standing.evidence),
        rule=rule,
        confidence={"dead": 0.9, "bound": 0.8, "held": 0.8, "away": 0.6}[standing.kind],
        fix=fix.format(**given),
    )
