"""Rules of a draft's continuity: who is dead does not act, and who is held or bound does not act elsewhere."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from novelgen.continuity.acting import Act, certain_acts, is_certain_name, sentence_at
from novelgen.continuity.story import Draft, StoryBefore
from novelgen.models.continuity import ContinuityEvidence, ContinuityIssue
from novelgen.models.memory import StoryMemoryChunk
from novelgen.models.position import StoryPosition
from novelgen.models.state import StateChange
from novelgen.names.normalise import is_description
from novelgen.records.supersession import slot_of, split_slot
from novelgen.records.vital_status import STATUS_ATTRIBUTES, is_death, is_return_to_life
from novelgen.text.language import has_cjk
from novelgen.text.sentences import Span, split_sentences

StandingKind = Literal["dead", "bound", "held", "away"]


@dataclass(frozen=True, slots=True)
class Standing:
    """Why somebody cannot act: dead, bound hand and foot, held elsewhere, or gone, with what tells it."""

    kind: StandingKind
    since: StoryPosition
    evidence: tuple[ContinuityEvidence, ...]


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


def death_of(entity_id: str, story: StoryBefore) -> Standing | None:
    """Return the death that the story has told of somebody, or None where they live, returned or may live.

    Somebody who was on stage in a later scene than the one that tells the death may live after all, or be shown as
    they were: then nothing is certain.

    Args:
        entity_id: A character.
        story: The story before the draft.
    """
    own = [each for each in story.changes if each.entity_id == entity_id and each.kind == "explicit"]
    told = sorted(
        [
            *(
                (place_of(each), of_change(each, story))
                for each in own
                if is_death(each.attribute, each.value)
            ),
            *(
                (place_of(each), of_memory(each, story))
                for each in story.memories
                if each.superseded_by is None and _tells_death(each, entity_id, story)
            ),
        ],
        key=lambda pair: pair[0],
    )
    told = told or [(place, evidence) for place, evidence in _told_late(entity_id, story)]
    if not told:
        return None
    first = told[0][0]
    if any(is_return_to_life(each.attribute, each.value) and place_of(each) >= first for each in own):
        return None
    if any(entity_id in scene.present and scene.position > told[-1][0] for scene in story.scenes):
        return None
    if _LIVES_ON.search(" ".join(_later_words(entity_id, story, first))):
        return None
    return Standing("dead", first, tuple(evidence for _, evidence in told[:3]))


def _told_late(entity_id: str, story: StoryBefore) -> Iterator[tuple[StoryPosition, ContinuityEvidence]]:
    """Where the text itself calls somebody dead by the way: "the late X", "X, who is now dead", 已故的X.

    Only of who was never on stage: whoever was is told dead by more than a word.
    """
    entity = story.entity[entity_id]
    if any(entity_id in scene.present for scene in story.scenes):
        return
    names = "|".join(
        re.escape(each)
        for each in sorted(entity.names(), key=len, reverse=True)
        if not is_description(each) and len(each) > 1
    )
    if not names:
        return
    late = re.compile(
        rf"\b[Tt]he late (?:{names})\b"
        rf"|\b(?:{names}),? (?:who|that) (?:is|was|has been|had been) (?:now |already |long |since )?dead\b"
        rf"|\b(?:{names}),? who (?:has |had )(?:since |lately |just )?died\b|\b(?:{names}),? (?:now|since"
        rf"|long) dead\b"
        rf"|已故的?(?:{names})|(?:{names})(?:早已|早就|已经|已)(?:死了|去世|过世|亡故|病故|身故|不在人世)"
    )
    for scene in story.scenes:
        found = late.search(scene.text)
        if found is not None:
            quote = found.group()
            yield (
                scene.position,
                ContinuityEvidence(
                    source="passage",
                    source_id=f"{scene.position.chapter_index}:{scene.position.scene_index}",
                    chapter_index=scene.position.chapter_index,
                    scene_index=scene.position.scene_index,
                    text=_sentence_around(scene.text, found.start(), found.end()),
                    quote=quote,
                    entity_ids=[entity_id],
                ),
            )
            return


def _sentence_around(text: str, start: int, end: int) -> str:
    spans = [each for each in split_sentences(text) if each.start < end and start < each.end]
    return text[spans[0].start : spans[-1].end].strip() if spans else text[start:end]


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
        sentence = sentence_at(draft, mention.start)
        if (
            sentence is None
            or who in seen
            or story.entity[who].entity_type != "character"
            or is_planned(who, story)
        ):
            continue
        words = draft.text[sentence.start : sentence.end]
        before = draft.text[sentence.start : mention.start]
        if not (_LATELY.search(words) and _DEALT_BEFORE.search(before)) or _NOT_DEALT.search(words):
            continue
        if has_cjk(mention.name) and not _DEALT_AFTER.match(draft.text, mention.end, sentence.end):
            continue
        if draft.text.startswith(("’s", "'s", "的"), mention.end) or not is_certain_name(
            mention, draft, story
        ):
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
    return (
        not any(entity_id in scene.present for scene in story.scenes)
        or len(since) >= 4 * MIN_SCENES_SINCE_DEATH
    )


_LIVES_ON = re.compile(
    r"\b(?:alive|revived|resurrected|survived|restored to life|came back to life|brought back to life|not dead"
    r"|faked|ghost|spirit|undead)\b"
    r"|复活|还魂|还阳|复生|死里逃生|未死|没死|没有死|假死|诈死|活着|生还|救活|鬼魂|阴魂|亡魂|魂魄",
    re.IGNORECASE,
)


def _later_words(entity_id: str, story: StoryBefore, since: StoryPosition) -> Iterator[str]:
    for memory in story.memories:
        if entity_id in memory.entities_mentioned and place_of(memory) >= since:
            yield memory.content


_DIED = re.compile(
    r"(?:,? (?:who )?(?:is|was|are|were|lies?|lay|has been|had been|is found|was found|were found"
    r"|been found) (?:now |already |found |shot |stabbed )?"
    r"(?:and )?(?:dead\b(?! (?:drunk|tired|asleep|set|sure|certain|calm))|killed|slain|murdered|executed|hanged"
    r"|beheaded|drowned|"
    r"shot dead|buried)|,? (?:who )?(?:has |had )?(?:died|drowned|perished|dies)\b(?! (?:of|with) (?:laugh"
    r"|shame|bored)))"
)
_KILLED = re.compile(
    r"\b(?:kills|killed|murders|murdered|slew|slays|slain|beheads|beheaded|executes|executed|assassinated"
    r"|stabbed to death|shot dead|(?:the )?(?:death|murder|funeral|burial|killing) of) (?:the |old |poor "
    r"|young |little )*$"
)
_NOT_DONE = re.compile(
    r"\b(?:not|never|nearly|almost|if|would|could|might|may|tried|try|tries|attempt\w*|threat\w*|swears?|vow\w*"
    r"|want\w*|wish\w*"
    r"|plan\w*|plot\w*|fear\w*|believ\w*|suppos\w*|suspect\w*|pretend\w*|feign\w*|faked?|rumou?r\w*|accused"
    r"|falsely|says?|said"
    r"|thinks?|thought|will|shall|intend\w*|until)\b"
    r"|不|未|没|险些|差点|几乎|若|如果|要是|倘|企图|想要|打算|扬言|威胁|誓|怕|以为|怀疑|据说|假|诈|装|传言|谣"
    r"|欲|将要|说",
    re.IGNORECASE,
)
_CHINESE_DIED = re.compile(
    r"(?:已经?|便|就|也|终于|当场|不幸|自|撞墙而|自缢而|投[江河井湖]而|中毒而|力竭而|[^，。；]{0,6}(?:被|为|让"
    r"|叫)[^，。；]{0,10}?"
    r"(?:一[^，。；]{0,4})?(?:打|杀|害|毒|刺|砍|射|筑|勒|烧|咬|踩|压)?)?"
    r"(?:死(?!里逃生|而复生|心|守|战|期|对头|敌|牢|囚|罪|者|不|讯|因|党|士|路|活)|身亡|身死|身故|亡故|丧命|丧生"
    r"|毙命|遇害|去世|病逝|病故|圆寂|战死|阵亡|被杀|被害)"
)
_CHINESE_KILLED = re.compile(
    r"(?:打死|杀死|害死|毒死|刺死|砍死|射死|勒死|烧死|筑死|掐死|处死|斩杀|杀了|斩了|杀害|击毙|处决)(?:了|那|老"
    r"|小)*$"
)


def _tells_death(memory: StoryMemoryChunk, entity_id: str, story: StoryBefore) -> bool:
    """Whether a memory tells the death of one character for certain: in its slot, of nobody else, or by name."""
    if memory.content_type == "note" and memory.chapter_index is None:
        return False
    slot = split_slot(memory.slot_type or "")
    words = memory.content
    if slot is not None and slot[1] in STATUS_ATTRIBUTES:
        if slot[0] != entity_id:
            return False
        if memory.event_type == "death":
            return True
    if entity_id not in memory.entities_mentioned:
        return False
    if memory.event_type == "death" and memory.entities_mentioned == [entity_id]:
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
        return bool(
            _CHINESE_DIED.match(text, end, clause_end) or _CHINESE_KILLED.search(text, clause_start, start)
        )
    sentence_start = max(text.rfind(each, 0, start) for each in (". ", "; ", ": ")) + 1
    sentence_end = min(
        (at for each in (". ", ";", ",") if (at := text.find(each, end + 1)) >= 0), default=len(text)
    )
    if _NOT_DONE.search(text, sentence_start, sentence_end):
        return False
    return bool(_DIED.match(text, end) or _KILLED.search(text[sentence_start:start]))


# --- The bound and the held ---

_BOUND = re.compile(
    r"\b(?:bound\b(?! (?:for|by (?:oath|promise|duty|honou?r)|to (?:be|keep|serve|obey))|ary)|tied (?:up|to)"
    r"|chained|shackled|fettered|in (?:chains|irons|the stocks)"
    r"|locked (?:up|in)|in (?:a|the|his|her) (?:cell|dungeon)|trussed|gagged)\b"
    r"|绑|缚(?!鸡)|捆|锁在|关在|囚于|囚在|绷在|吊在|压在[^，]{0,6}[下底]|笼入",
    re.IGNORECASE,
)
_HELD = re.compile(
    r"\b(?:(?:under )?arrest(?:ed)?|imprisoned|in (?:prison|jail|gaol|custody)|captured|captive|prisoner"
    r"|(?:still )?held(?:,| prisoner| captive| by the| in custody)|detained|kidnapped|abducted|carried off"
    r"|jailed|penal servitude|interned)\b"
    r"|被捕|被擒|被捉|被抓|被俘|被囚|被[^，。]{0,6}(?:摄|掳|劫|擒|捉|抓|虏)(?:走|去|住|获)?|被关|被押|入狱|下狱"
    r"|收监|在押|坐牢|软禁|羁押|拘押",
    re.IGNORECASE,
)
_NO_LONGER = re.compile(
    r"\b(?:past|former(?:ly)?|once|escap\w+|releas\w+|freed|free|rescued|cleared|acquitted|ex-|fled|unbound"
    r"|untied|nearly|almost|not)\b"
    r"|逃|脱|获释|释放|获救|救出|救下|解缚|松绑|解绑|已解|放出|放了|曾|未|险些|不",
    re.IGNORECASE,
)
_FREED = re.compile(
    r"\b(?:releas\w+|freed|set (?:\w+ )?free|at liberty|his liberty|her liberty|escap\w+|rescue\w*"
    r"|(?:let|set|turned|broke|broken) (?:\w+ )?loose|loosed|let (?:him|her|them|me|us) go|unlocked|untied|unbound"
    r"|bailed?|acquitted|discharged|pardoned|cut (?:his|her|the) (?:bonds|ropes?|cords?))\b"
    r"|释放|获释|救|解[了开下脱绑缚]|放[了出回走]|松[了绑开]|脱身|脱困|挣[脱断开]|逃|赦|保出|出狱",
    re.IGNORECASE,
)
_CUSTODY_HERE = re.compile(
    r"\b(?:cell|prison|jail|gaol|dungeon|custody|handcuff\w*|manacle\w*|shackle\w*|chains|irons|fetters"
    r"|prisoner|captive|captor\w*|guards?|gaoler|jailer"
    r"|warder|constables?|police|ropes?|bound|tied|bonds|locked)\b"
    r"|牢|狱|囚|绑|缚|捆|绳|锁|链|铐|押|看守|狱卒|差役|官差",
    re.IGNORECASE,
)
_HELD_ATTRIBUTES = ("status", "physical_state", "location_id", "condition", "situation")


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
        if held is None or _is_explained(draft, story, act, held):
            continue
        seen.add(who)
        yield _issue(draft, story, act, held, rule="absent_act")


def captivity_of(entity_id: str, story: StoryBefore) -> Standing | None:
    """Return that somebody is bound or held, or None where nothing says so, or the story may have freed them.

    Their last status or physical state must say so, no memory since may free them, and the scene before the draft
    must be without them, so that nobody has them at hand.

    Args:
        entity_id: A character.
        story: The story before the draft.
    """
    own = [
        each
        for each in story.changes
        if each.entity_id == entity_id and each.kind == "explicit" and each.attribute in _HELD_ATTRIBUTES
    ]
    said = [each for each in own if isinstance(each.value, str) and each.attribute != "location_id"]
    last_of: dict[str, StateChange] = {each.attribute: each for each in said}
    telling = [each for each in last_of.values() if _says_held(each.value)]
    if not telling or not story.scenes or entity_id in story.scenes[-1].present:
        return None
    told = max(telling, key=place_of)
    since = place_of(told)
    freed = [each for each in said if place_of(each) > since and not _says_held(each.value)]
    if freed or any(
        entity_id in memory.entities_mentioned and place_of(memory) > since and _FREED.search(memory.content)
        for memory in story.memories
    ):
        return None
    if any(entity_id in scene.present and scene.position > since for scene in story.scenes):
        return None
    kind: StandingKind = "bound" if _BOUND.search(str(told.value)) else "held"
    memories = [
        of_memory(each, story)
        for each in story.memories
        if entity_id in each.entities_mentioned
        and each.superseded_by is None
        and (_BOUND.search(each.content) or _HELD.search(each.content))
    ]
    return Standing(kind, since, (of_change(told, story), *memories[-2:]))


def _says_held(value: Any) -> bool:
    words = str(value)
    return bool((_BOUND.search(words) or _HELD.search(words)) and not _NO_LONGER.search(words))


def _is_explained(draft: Draft, story: StoryBefore, act: Act, held: Standing) -> bool:
    """Whether the draft itself tells how they come to act: freed, in custody, or with whoever holds them.

    Somebody bound is free to speak, and somebody held to do anything, wherever their captors are.
    """
    until = draft.text[: act.span.end]
    if _FREED.search(until) or (held.kind == "bound" and not act.moves):
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
        change.entity_id == entity_id and place_of(change) >= held.since and _says_held(change.value)
        for change in story.changes
        if change.kind == "explicit" and isinstance(change.value, str)
    )


# --- The gone ---

_GONE_AWAY = re.compile(
    r"^(?:now |still )?(?:away\b|gone (?:to|from|off|away)|left (?:for|the (?:country|city|town))|sailed (?:for"
    r"|away)|fled\b|missing\b"
    r"|disappeared|vanished|abroad\b|on (?:a|his|her) (?:journey|voyage|way to)|departed|emigrated|banished|exiled)"
    r"|^(?:已|已经)?(?:离开|离去|出走|出门|出海|远行|远走|失踪|逃走|逃往|下落不明|去往|前往|赴|往[^，。]{1,8}去"
    r"|不在|告别|辞别|回[家乡国]|流放|发配)",
    re.IGNORECASE,
)
_BACK = re.compile(
    r"\b(?:return\w*|came back|come back|back (?:from|at|in)|arriv\w+|again|came (?:in|home|up|out|to)|entered"
    r"|reappear\w*"
    r"|at last|burst in|walked in|found|met|sent for|calls?|called (?:at|on|upon)|reach\w*|land(?:ed|ing))\b"
    r"|回[来到至转]|归[来到]|[赶走跑飞转出迎上前过进下请寻找叫引]来|来[到至了]|到[了得来]|回家|寻[着到见]|遇"
    r"|撞见|迎|拜访|访|请[了得]|重逢",
    re.IGNORECASE,
)


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
        ):
            continue
        seen.add(who)
        gone = departure_of(who, story)
        if gone is not None:
            yield _issue(draft, story, act, gone, rule="gone_act")


def departure_of(entity_id: str, story: StoryBefore) -> Standing | None:
    """Return that somebody went away and was not on stage since, or None where that is not certain."""
    own = [each for each in story.changes if each.entity_id == entity_id and each.kind == "explicit"]
    last = {each.attribute: each for each in own if each.attribute in ("status", "location_id")}
    telling = [
        each
        for each in last.values()
        if (each.attribute == "location_id" and each.value is None)
        or (
            isinstance(each.value, str)
            and _GONE_AWAY.search(each.value)
            and not _NO_LONGER.search(each.value)
        )
    ]
    if not telling:
        return None
    told = max(telling, key=place_of)
    since = place_of(told)
    if any(entity_id in scene.present and scene.position > since for scene in story.scenes):
        return None
    if not any(scene.position > since for scene in story.scenes):
        return None
    if any(place_of(each) > since and each.attribute in ("status", "location_id") for each in own):
        return None
    beside = [
        of_memory(each, story)
        for each in story.memories
        if entity_id in each.entities_mentioned and place_of(each) == since and each.superseded_by is None
    ]
    return Standing("away", since, (of_change(told, story), *beside[:2]))


# --- What both say ---


def is_planned(entity_id: str, story: StoryBefore) -> bool:
    """Tell whether the plan of the scene names somebody, as cast or in what is to happen."""
    plan = story.plan
    if plan is None:
        return False
    if any(story.resolver.resolve(name).entity_id == entity_id for name in plan.characters):
        return True
    words = "\n".join((plan.purpose, *plan.key_actions))
    return entity_id in story.resolver.entity_ids_in(words)


def of_memory(memory: StoryMemoryChunk, story: StoryBefore) -> ContinuityEvidence:
    """Return a memory as evidence, with what of its scene's text proves it where that is known."""
    quotes = {each.source_id: each.quote for each in story.knowledge.story.memories}
    return ContinuityEvidence(
        source="note" if memory.content_type == "note" else "memory",
        source_id=memory.source_id or memory.chunk_id,
        chapter_index=memory.chapter_index,
        scene_index=memory.scene_index,
        text=memory.content,
        quote=quotes.get(memory.source_id or "", ""),
        entity_ids=list(memory.entities_mentioned),
    )


def of_change(change: StateChange, story: StoryBefore) -> ContinuityEvidence:
    """Return a state as evidence."""
    return ContinuityEvidence(
        source="state",
        source_id=slot_of(change.entity_id, change.attribute),
        chapter_index=change.chapter_index,
        scene_index=change.scene_index,
        text=f"{story.name(change.entity_id)}: {change.attribute} = {_said(change.value, story)}",
        entity_ids=[change.entity_id],
    )


def _said(value: Any, story: StoryBefore) -> str:
    """A state's value in words: an entity by its name, none at all as nowhere."""
    if value is None:
        return "（已离开）" if story.language == "zh" else "nowhere (left)"
    if isinstance(value, list):
        return ("、" if story.language == "zh" else ", ").join(map(str, value))
    return story.name(str(value))


def place_of(told: StateChange | StoryMemoryChunk) -> StoryPosition:
    """Return where a state or a memory was told; what stands everywhere comes first."""
    return StoryPosition(told.chapter_index or 0, told.scene_index or 0)


_WORDS: Mapping[str, Mapping[str, tuple[str, str]]] = {
    "en": {
        "dead": (
            "{name} is dead since {where} ({told}), but acts or is met here.",
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
        "away": (
            "{name}在{where}已经离开（{told}），此后并未回来，这里却在场。",
            "写明{name}如何回来，或换别人来做。",
        ),
        "held": (
            "{name}自{where}起被人扣住（{told}），此后并未获释，这里却在行动。",
            "写明{name}如何脱身，或换别人来做。",
        ),
    },
}


def where_told(evidence: ContinuityEvidence, language: str) -> str:
    """Return the scene of a piece of evidence in the story's words: "chapter 3, scene 2", 第3章第2场."""
    if language == "zh":
        return f"第{evidence.chapter_index}章第{evidence.scene_index}场"
    return f"chapter {evidence.chapter_index}, scene {evidence.scene_index}"


def _issue(draft: Draft, story: StoryBefore, act: Act, standing: Standing, *, rule: str) -> ContinuityIssue:
    first = standing.evidence[0]
    message, fix = _WORDS[story.language][standing.kind]
    given = {
        "name": act.name,
        "where": where_told(first, story.language),
        "told": first.text.rstrip(".。"),
    }
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
