"""The participants and the place of a scene, from its text."""

import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from novelgen.language.language import CJK_RANGES, has_cjk, word_list, wording
from novelgen.language.normalise import simplified
from novelgen.language.resolver import Mention
from novelgen.models.entity import Entity, EntityType

QUOTED = re.compile(r"“[^”]*(?:”|$)|「[^」]*(?:」|$)|『[^』]*(?:』|$)|\"[^\"\n]*\"")
"""Words between quotation marks; over several paragraphs where each opens again and only the last one closes."""

ON_STAGE_SCORE = 2.0
NARRATED_SCORE = 1.0
ACTING_SCORE = 2.0
SPOKEN_OF_SCORE = 0.25
"""What a mention counts: in narration, in narration with a verb beside it, inside somebody's speech."""

FIRST_PERSON_SHARE = 0.004
"""Least share of "I" or 我 among a narration's words or characters that makes it a first person's."""

_FIRST_PERSON = re.compile(r"\bI\b|我")
_WORD = re.compile(r"\w+")
_NARRATOR_ROLE = re.compile(r"narrator|first.person|叙述者|叙事者|第一人称", re.IGNORECASE)
_ENGLISH_VERBS = word_list("speech_english_verbs")
_ENGLISH_VERB = "|".join(_ENGLISH_VERBS)
ACTS_AFTER = re.compile(
    rf",? (?:{_ENGLISH_VERB})\b"
    rf"|[^，。！？；\n]{{0,6}}[道曰笑喝叫骂问答]"
    rf"|[{CJK_RANGES}]?(?:[将把取走来去上下入出听见闻掣抡使]|说)"
)
ACTS_BEFORE = re.compile(rf"\b(?:{_ENGLISH_VERB}) $|(?:{wording('speech_chinese_met')})了?$", re.IGNORECASE)
"""After and before a name: somebody says or does something."""

_BEGINS_SENTENCE = re.compile(r"(?:^|[.!?。！？…”」』\"]\s*|\n\s*)$")
_DOES = re.compile(
    rf"(?: and [A-Z][\w’'-]*(?: [A-Z][\w’'-]*)?)?"
    rf" (?:\w+ly )?(?:[a-z]+ed|{'|'.join(word_list('speech_english_pasts'))})\b"
    rf"|(?:[在于从到往][{CJK_RANGES}]{{1,8}}?)?(?:{wording('speech_chinese_met')})"
    rf"|(?![的把被对向跟给替让将之和与同及是])[{CJK_RANGES}]{{1,3}}[着了]"
    rf"|[从由沿往朝][{CJK_RANGES}]{{1,6}}?[站坐跪走跑冲奔跳翻爬钻溜摸探滑下上进出回过来去]"
    r"|[站坐跪立躺倚靠走跑冲奔跳转抬低伸举点摇抱抓握拉推按拍扶端捧提拔攥皱瞪盯望看瞧打踢挥停退闪飞落追赶守蹲爬翻放收]"
)
"""After a name that begins a sentence: somebody does something, whatever the verb."""
IS_AWAY = re.compile(
    r" (?:was|were|is|had been) (?:still |already )?(?:out|away|gone|absent|elsewhere|abroad"
    r"|not (?:there|in|here|at home)|at (?:school|work|sea))\b"
    r"|(?:还|并|正|也|都)?(?:不在|没在|没来|没有来|不曾来|出门|外出|远在|出去了)",
    re.IGNORECASE,
)
"""After a name: the narration says that somebody is elsewhere."""
_IS_SUBJECT = re.compile(rf"(?![的把被对向跟给替让将之和与同及是、])[{CJK_RANGES}]|,? (?!and\b|or\b)[a-z]")
_PRONOUN = r"(?:(?:She|He)\b|[她他](?![们的]))"
_PRONOUN_BEGINS = re.compile(rf"[.!?。！？…”」』\"]\s*{_PRONOUN}|\n\s*{_PRONOUN}")
"""A sentence that goes on with somebody named before."""
_COMMON_PLACE = re.compile(
    r"\b(?:in|into|inside|at|through|across|beside|outside|behind|on) (?:the|a|his|her|their|its) (?:[a-z]+ ){0,2}?"
    r"(?P<english>churchyard|graveyard|church|chapel|hospital|bedroom|dining room|kitchen|cellar|attic|garden|orchard"
    r"|barn|stable|station|harbou?r|quay|beach|market|school|inn|tavern|office|library|prison|forest|woods)\b"
    r"|(?<=[在到进回出])[^，。！？；\n的]{0,4}?(?P<chinese>医院|海堤|码头|墓地|坟地|教堂|学校|车站|厨房|卧室|餐厅|办公室|图书馆|警察局"
    r"|监狱|市场|酒馆|茶馆|客栈|海边|河边|树林|花园|地窖|阁楼)"
)
"""A place without a name in which a scene plays, as its narration says."""
_LONGEST_VERB = 14
LONGEST_OF_ONE_PLACE = {"en": 12_000, "zh": 3_000}
"""Characters of a text beyond which it has no one place: a chapter without breaks goes from one to another."""


@dataclass(frozen=True, slots=True)
class ScenePresence:
    """The participants and place of a scene, from its text."""

    participant_ids: list[str]
    location_id: str | None


def presence_of(
    text: str, mentions: Sequence[Mention], entities: Sequence[Entity], *, previous_location_id: str | None = None
) -> ScenePresence:
    """Return the participants and the place of a scene by heuristics."""
    text = simplified(text)
    types = {entity.entity_id: entity.entity_type for entity in entities}
    speech = [(match.start(), match.end()) for match in QUOTED.finditer(text)]
    scores: defaultdict[str, float] = defaultdict(float)
    people = _of_type(mentions, types, "character")
    borders = [mention.start for mention in people if not _is_spoken(mention, speech)]
    for mention in people:
        next_named = borders[at] if (at := bisect_right(borders, mention.start)) < len(borders) else len(text)
        scores[mention.entity_id] += _stage_score(text, mention, speech, until=next_named)
    narrator_id = narrator_of(text, entities)
    if narrator_id is not None:
        scores[narrator_id] += ON_STAGE_SCORE
    ranking = sorted(scores, key=lambda entity_id: -scores[entity_id])
    participants = [entity_id for entity_id in ranking if scores[entity_id] >= ON_STAGE_SCORE]
    here = [mention.entity_id for mention in _of_type(mentions, types, "location") if not _is_spoken(mention, speech)]
    is_one_scene = len(text) <= LONGEST_OF_ONE_PLACE["zh" if has_cjk(text) else "en"]
    # A thing on which its author lets a scene play, as a ship, is no guess for the next one.
    before = [one for one in entities if (one.entity_id, one.entity_type) == (previous_location_id, "location")]
    goes_on = not here and any(_plays_at(text, entity.names()) for entity in before)
    place = (max(here, key=here.count) if here else previous_location_id if goes_on else None) if is_one_scene else None
    return ScenePresence(participants, place)


def _plays_at(text: str, names: Sequence[str]) -> bool:
    """Tell whether a narration names no place without a name, or the one with these names."""
    common = {match["english"] or match["chinese"] for match in _COMMON_PLACE.finditer(QUOTED.sub(" ", text))}
    return not common or any(word in simplified(name).casefold() for word in common for name in names)


def _of_type(mentions: Sequence[Mention], types: dict[str, EntityType], entity_type: EntityType) -> list[Mention]:
    return [mention for mention in mentions if types.get(mention.entity_id) == entity_type]


def _stage_score(text: str, mention: Mention, speech: Sequence[tuple[int, int]], *, until: int) -> float:
    """Return what a mention counts for the presence of whom it names, the next person being named at `until`."""
    if _is_spoken(mention, speech) or IS_AWAY.match(text, mention.end):
        return SPOKEN_OF_SCORE
    before = text[max(0, mention.start - _LONGEST_VERB) : mention.start]
    acts = ACTS_AFTER.match(text, mention.end) or ACTS_BEFORE.search(before)
    does = _BEGINS_SENTENCE.search(before) and (
        _DOES.match(text, mention.end) or _stays_subject(text, mention, speech, until=until)
    )
    return ACTING_SCORE if acts or does else NARRATED_SCORE


def _stays_subject(text: str, mention: Mention, speech: Sequence[tuple[int, int]], *, until: int) -> bool:
    """Return whether a name is the subject of its sentence and of a later one."""
    if not _IS_SUBJECT.match(text, mention.end):
        return False
    follows = _PRONOUN_BEGINS.finditer(text, mention.end, until)
    return any(not _is_within(match.end() - 1, speech) for match in follows)


def _is_spoken(mention: Mention, speech: Sequence[tuple[int, int]]) -> bool:
    return _is_within(mention.start, speech)


def _is_within(position: int, spans: Sequence[tuple[int, int]]) -> bool:
    at = bisect_right(spans, position, key=lambda span: span[0]) - 1
    return at >= 0 and position < spans[at][1]


def narrator_of(text: str, entities: Sequence[Entity]) -> str | None:
    """Return the id of a first-person narrator, or None."""
    narrators = [entity.entity_id for entity in entities if _NARRATOR_ROLE.search(entity.role)]
    return narrators[0] if len(narrators) == 1 and is_first_person(text) else None


def is_first_person(text: str) -> bool:
    """Return whether narration outside speech is in the first person."""
    narration = QUOTED.sub(" ", text)
    size = len(narration) if has_cjk(narration) else len(_WORD.findall(narration))
    return len(_FIRST_PERSON.findall(narration)) >= max(1.0, FIRST_PERSON_SHARE * size)
