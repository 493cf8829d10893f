"""How somebody stands at the end of the story so far: dead, bound or held, gone, as far as it is certain."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

from novelgen.checking.proof import of_change, of_memory, place_of
from novelgen.checking.story import StoryBefore
from novelgen.language.language import has_cjk
from novelgen.language.normalise import is_description
from novelgen.language.sentences import split_sentences
from novelgen.memory.supersession import split_slot
from novelgen.memory.vital_status import STATUS_ATTRIBUTES, is_death, is_return_to_life
from novelgen.models.continuity import ContinuityEvidence
from novelgen.models.memory import StoryMemoryChunk
from novelgen.models.position import StoryPosition
from novelgen.models.state import StateChange

StandingKind = Literal["dead", "bound", "held", "away"]


@dataclass(frozen=True, slots=True)
class Standing:
    """Why somebody cannot act: dead, bound hand and foot, held elsewhere, or gone, with what tells it."""

    kind: StandingKind
    since: StoryPosition
    evidence: tuple[ContinuityEvidence, ...]


# --- The dead ---


def death_of(entity_id: str, story: StoryBefore) -> Standing | None:
    """Return the death that the story has told of somebody, or None where they live, returned or may live.

    Somebody who was on stage in a later scene than the one that tells the death may live after all, or be shown as
    they were: then nothing is certain.
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
_NOT_THEIRS = re.compile(
    r"\b(?:for|of|to|with|about|in|on|from|by|at|against|than|like|near) (?:the |old |poor |young |little )*$"
)
"""What stands before a name that is not the subject: "her love for X is dead"."""
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


_OF_DEATH = re.compile(
    r"\b(?:die[sd]?|dying|dead|deaths?|kill\w*|murder\w*|slain|slew|drown\w*|perish\w*|execut\w*|hang\w*"
    r"|behead\w*|shot|stabb\w*|poison\w*"
    r"|corpse|body|buried|burial|funeral|grave|late)\b|死|亡|杀|毙|殁|逝|去世|圆寂|遇害|被害|丧|葬|尸|自尽|坐化",
    re.IGNORECASE,
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
FREED = re.compile(
    r"\b(?:releas\w+|freed|set (?:\w+ )?free|at liberty|his liberty|her liberty|escap\w+|rescue\w*"
    r"|(?:let|set|turned|broke|broken) (?:\w+ )?loose|loosed|let (?:him|her|them|me|us) go|unlocked|untied|unbound"
    r"|bail(?:ed)?|parole\w*|acquitted|discharged|pardoned|dropped the charges"
    r"|charges (?:were |are |have been |had been )?dropped|(?:let|turned) (?:\w+ ){1,2}(?:go|out)"
    r"|served (?:his|her) (?:time|sentence)"
    r"|out of (?:prison|jail|gaol|custody|hospital)|cut (?:his|her|the) (?:bonds|ropes?|cords?))\b"
    r"|释放|获释|救|解[了开下脱绑缚]|放[了出回走人]|松[了绑开]|脱身|脱困|挣[脱断开]|逃|赦|保出|出狱|取保|保释|假释|刑满"
    r"|无罪|越狱|撤案|撤诉|出来了",
    re.IGNORECASE,
)


_HELD_ATTRIBUTES = ("status", "physical_state", "location_id", "condition", "situation")


def captivity_of(entity_id: str, story: StoryBefore) -> Standing | None:
    """Return that somebody is bound or held, or None where nothing says so, or the story may have freed them.

    Their last status or physical state must say so, no memory since may free them, and the scene before the draft
    must be without them, so that nobody has them at hand.
    """
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
        entity_id in memory.entities_mentioned and place_of(memory) > since and FREED.search(memory.content)
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


def says_held(value: Any) -> bool:
    """Tell whether a state says that somebody is bound or held, and not that they were."""
    words = str(value)
    return bool((_BOUND.search(words) or _HELD.search(words)) and not _NO_LONGER.search(words))


# --- The gone ---

_GONE_AWAY = re.compile(
    r"^(?:now |still )?(?:away\b|gone (?:to|from|off|away)|left (?:for|the (?:country|city|town))|sailed (?:for"
    r"|away)|fled\b|missing\b"
    r"|disappeared|vanished|abroad\b|on (?:a|his|her) (?:journey|voyage|way to)|departed|emigrated|banished|exiled)"
    r"|^(?:已|已经)?(?:离开|离去|出走|出门|出海|远行|远走|失踪|逃走|逃往|下落不明|去往|前往|赴|往[^，。]{1,8}去"
    r"|不在|告别|辞别|回[家乡国]|流放|发配)",
    re.IGNORECASE,
)


def departure_of(entity_id: str, story: StoryBefore) -> Standing | None:
    """Return that somebody went away and was not on stage since, or None where that is not certain."""
    own = [each for each in story.changes if each.entity_id == entity_id and each.kind == "explicit"]
    last = {each.attribute: each for each in own if each.attribute in ("status", "location_id")}
    telling = [
        each
        for each in last.values()
        if (each.attribute == "location_id" and each.value is None)
        or (isinstance(each.value, str) and _GONE_AWAY.search(each.value) and not _NO_LONGER.search(each.value))
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
