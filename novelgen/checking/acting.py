"""Who certainly does something in a draft's present: named as the subject of a deed, as a speaker, or met alive."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from novelgen.checking.findings import tight
from novelgen.checking.story import Draft, StoryBefore
from novelgen.language.language import has_cjk, word_list, word_pattern, wording
from novelgen.language.normalise import is_description
from novelgen.language.resolver import Mention
from novelgen.language.sentences import Span


@dataclass(frozen=True, slots=True)
class Act:
    """A deed of somebody whom a draft names."""

    entity_id: str
    name: str
    span: Span
    moves: bool = False


_ELSEWHEN = word_pattern("acting_elsewhen")
"""What stands beside a deed that is remembered, dreamt, painted, recorded, read out, feigned or only thought of."""

_WRITTEN = word_pattern("acting_written")
"""What opens a letter or a tale that goes on to the end of its paragraph, also where it is said aloud."""

_BY_WIRE = word_pattern("acting_by_wire")
_CHARACTERS_BEFORE_A_CALL = 300
"""How far before somebody is first named a telephone or a letter may stand that brings their words."""

_SPOKEN = word_list("acting_spoken")
_MOVED = word_list("acting_moved")
_ADVERBS = (
    r"(?:,? (?:then|now|only|still|again|also|just|even|too|himself|herself|at once|at last|in turn"
    r"|(?!only|early)\w+ly),?)*"
)
_ENGLISH_DEED = re.compile(
    rf"(?:, (?:who|with|in|his|her|still|pale|white|red)\b[^,.;:!?“”\n]{{1,60}},)?{_ADVERBS}"
    rf" (?:(?P<spoken>{'|'.join(_SPOKEN)})|(?P<moved>{'|'.join(_MOVED)})"
    r"|(?:was|is|were) (?:still |already |now )?(?P<doing>(?:sitt|stand|walk|wait|smil|laugh|com|go|rid|runn"
    r"|lean|hold"
    r"|read|eat|drink|smok|talk|speak|whistl|sing|pac|look|kneel|crouch|squatt|pour|writ)ing))\b(?! dead\b)"
)
_ENGLISH_START = re.compile(
    r"(?:^|[,;:—] |[,;—] ?(?:and|but|then|while) |^(?:And|But|Then|So|Now) )"
    r"(?:(?:[Tt]he|[Oo]ld|[Pp]oor|[Yy]oung|[Ll]ittle|[Oo]ur|[Mm]y|[Ff]riend|good|honest|Mr\.|Mrs\.|Miss|Dr\.) )*$"
)
_ENGLISH_SAID_BEFORE = re.compile(
    rf"[”\"’'] (?:{'|'.join(_SPOKEN)}) (?:(?:the|old|little|young|poor|our|my|Mr\.|Mrs\.|Miss|Dr\.) )*$"
)
_MET_BEFORE = re.compile(wording("acting_met_before"))
_MET_ALIVE = re.compile(wording("acting_met_alive"))

_CHINESE_START = re.compile(wording("acting_chinese_start"))
_CHINESE_SPOKEN = re.compile(wording("acting_chinese_spoken"))
_CHINESE_MOVED = re.compile(wording("acting_chinese_moved"))
_NO_CHINESE_SUBJECT = frozenset("的之被与同和及、死已尸")
_CHINESE_LIFELESS = re.compile(r"死|尸|魂|被[^，]{0,6}[杀打捉拿]")


def certain_acts(draft: Draft, story: StoryBefore) -> Iterator[Act]:
    """Yield what people certainly do in the draft's present, in the order of the text."""
    if _ELSEWHEN.search(draft.plain[: _opening_end(draft)]) and _is_far_back(draft):
        return
    namesakes = {each for each in draft.mentions_of if _has_namesake(each, draft)}
    for mention in draft.mentions:
        if mention.entity_id in namesakes:
            continue
        if story.entity[mention.entity_id].entity_type != "character" or draft.speech_at(mention.start):
            continue
        if not is_certain_name(mention, draft, story):
            continue
        sentence = draft.sentence_at(mention.start)
        if sentence is None or is_elsewhen(draft, sentence):
            continue
        act = _act_at(draft, mention, sentence)
        if act is not None:
            yield act


def is_certain_name(mention: Mention, draft: Draft, story: StoryBefore) -> bool:
    """Tell whether a name can mean one character alone: no description, and no part of another one's name."""
    name = mention.name
    if is_description(name) or len(name) < 2:
        return False
    is_chinese = has_cjk(name)
    pattern = re.compile(re.escape(name) if is_chinese else rf"\b{re.escape(name)}\b", re.IGNORECASE)
    named = draft.mentions_of
    return not any(
        pattern.search(other)
        for entity in story.entities
        if entity.entity_id != mention.entity_id and entity.entity_type in ("character", "faction")
        if not is_chinese or entity.entity_id in named
        for other in entity.names()
    )


_NAMESAKE_BEFORE = re.compile(wording("acting_namesake_before"), re.IGNORECASE)


def _has_namesake(entity_id: str, draft: Draft) -> bool:
    """Whether the draft has another of that name: the new one, a second one, a child named after them."""
    return any(
        _NAMESAKE_BEFORE.search(draft.plain, max(0, each.start - 20), each.start)
        for each in draft.mentions_of[entity_id]
    )


def is_by_wire(draft: Draft, act: Act) -> bool:
    """Tell whether somebody who acts may only be heard from: by telephone, on a screen, in a letter."""
    first = draft.mentions_of[act.entity_id][0].start
    start = max(0, min(first, act.span.start) - _CHARACTERS_BEFORE_A_CALL)
    return _BY_WIRE.search(draft.plain, start, act.span.end) is not None


def is_elsewhen(draft: Draft, sentence: Span) -> bool:
    """Tell whether a sentence, or what its paragraph tells before it, is of another time or of no real one.

    What somebody says aloud before it does not count, since it is said in the present.
    """
    paragraph = draft.plain.rfind("\n", 0, sentence.start) + 1
    at = draft.sentence_index_at(sentence.start) or 0
    start = max(paragraph, draft.sentences[at - 2].start if at >= 2 else 0)
    return _WRITTEN.search(draft.plain, paragraph, sentence.end) is not None or any(
        draft.speech_at(match.start()) is None for match in _ELSEWHEN.finditer(draft.plain, start, sentence.end)
    )


def _opening_end(draft: Draft) -> int:
    return draft.sentences[min(1, len(draft.sentences) - 1)].end if draft.sentences else 0


_FAR_BACK = word_pattern("acting_far_back")


def _is_far_back(draft: Draft) -> bool:
    """Whether the draft opens as a memory or a dream, so that all of it is one."""
    return any(
        draft.speech_at(match.start()) is None for match in _FAR_BACK.finditer(draft.plain, 0, _opening_end(draft))
    )


def _act_at(draft: Draft, mention: Mention, sentence: Span) -> Act | None:
    text = draft.plain
    if has_cjk(mention.name):
        return _chinese_act(text, mention, sentence)
    before = text[sentence.start : mention.start]
    if text.startswith(("’s", "'s"), mention.end):
        return None
    if _ENGLISH_SAID_BEFORE.search(before):
        return Act(mention.entity_id, mention.name, tight(text, sentence))
    deed = _ENGLISH_DEED.match(text, mention.end, sentence.end)
    if deed and _ENGLISH_START.search(before):
        return Act(mention.entity_id, mention.name, tight(text, sentence), moves=deed["spoken"] is None)
    if _MET_BEFORE.search(before) and _MET_ALIVE.match(text, mention.end, sentence.end):
        return Act(mention.entity_id, mention.name, tight(text, sentence), moves=True)
    return None


def _chinese_act(text: str, mention: Mention, sentence: Span) -> Act | None:
    if not _CHINESE_START.search(text[sentence.start : mention.start]):
        return None
    if text[mention.end : mention.end + 1] in _NO_CHINESE_SUBJECT:
        return None
    end = re.compile(r"[，。！？；：…“”「」\n]|$").search(text, mention.end, sentence.end)
    clause = text[mention.end : end.start() if end else sentence.end]
    if _CHINESE_LIFELESS.search(clause):
        return None
    moved = _CHINESE_MOVED.match(text, mention.end, sentence.end)
    spoken = _CHINESE_SPOKEN.match(text, mention.end, sentence.end)
    if not moved and not spoken:
        return None
    bounds = [each.end() for each in re.finditer(r"[，；：。！？”」』\n]", text[sentence.start : mention.start])]
    return Act(
        mention.entity_id,
        mention.name,
        tight(text, Span(sentence.start + (bounds[-1] if bounds else 0), sentence.end)),
        moves=moved is not None,
    )
