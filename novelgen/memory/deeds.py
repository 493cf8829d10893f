"""Deeds that notes tell, with those who take part or are only spoken of."""

import re
from collections.abc import Collection, Sequence
from typing import NamedTuple

from novelgen.language.language import has_cjk, patterns
from novelgen.language.resolver import Mention
from novelgen.language.sentences import Span

_PERSON = "\x02"
_OWNER = "\x03"
"""Sign of one who only owns something: `Tom's`, 孟小舟的."""

_OTHER = "\x04"
"""Sign of anything else that has a name."""

_JOINT = "\x05"
"""Stands for what joins people in a row."""

_ROW = re.compile(f"{_PERSON}(?: and {_PERSON}|(?:, {_PERSON})+,? and {_PERSON}|(?:[、和与跟同及]{_PERSON})+)")
_PEOPLE = re.compile(f"{_PERSON}(?:{_JOINT}+{_PERSON})*")
_ABOUT = frozenset("为替因比像")
"""Characters before a person who is only spoken of, or helped."""

_UNAWARE = re.compile("(?:[趁乘等]|[趁瞒背]着|瞒过|[避躲支]开)$")
"""Words before a person that does not notice the deed."""

_CLAUSE = re.compile("[^,;:.!?，；：。！？]+")
_CLAUSE_END = re.compile("[,;:.!?，；：。！？]")
_SENTENCE_END = re.compile("[;.!?；。！？]")

_REPORT_START = re.compile(
    r"(?<![a-z])(?:that|whether|if|how|why|what|where|when|who|whom|whose|which|of|about)\b|[，：]?[“”「」]"
    f"|(?<=[说道诉知告白认露誓证咐嘱{_PERSON}了])[，：]"
)
"""Where what is said in a deed begins."""

_SAID = re.compile(
    "告诉|告知|[说道]|透露|吐露|倾吐|坦白|承认|嘱咐|吩咐|叮嘱|警告|提醒|答应|发誓|保证|许诺|应允|约定|商量|托付|拜托|威胁|要求"
)

_OWNS = re.compile(r"['’]s?\b|['’](?= )|的")


class Deed(NamedTuple):
    """A deed of a note."""

    doers: frozenset[str]
    others: frozenset[str]
    """To whom it is done or said."""
    core: str
    """The words that tell it, without what is said."""
    span: Span
    """Where it stands in the text, from the first of its people on."""


class _Words(NamedTuple):
    """The patterns of a language."""

    leading: re.Pattern[str]
    """A first clause of when or why."""
    no_doer: re.Pattern[str]
    """What stands before a person who does nothing."""
    done: re.Pattern[str]
    happening: re.Pattern[str]
    """A verb of a deed."""
    suffered: re.Pattern[str]
    """What stands between who suffers a deed and who does it."""
    end: re.Pattern[str]
    """What follows a deed: what is said or thought, and of whom."""
    report: re.Pattern[str]
    """A last clause that tells who says the rest."""
    spoken: re.Pattern[str]
    """A verb of saying, believing or knowing, and its object clause as a group."""
    unsaid: re.Pattern[str]
    """Words before such a verb that deny it, or say it of everybody."""
    speaker: re.Pattern[str]
    mishap: re.Pattern[str]
    """A mishap of somebody's body."""


def _words(language: str) -> _Words:
    happened = patterns("knowledge_rules_happened")[language].replace("\n", "")
    return _Words(
        *(
            re.compile(
                patterns(f"deeds_{name}")[language]
                .replace("\n", "")
                .replace("<say>", patterns("deeds_say")[language].replace("\n", ""))
                .replace("<mind>", patterns("deeds_mind")[language].replace("\n", ""))
                .replace("<clause>", f"(?P<clause>{patterns('deeds_clause')[language]})".replace("\n", ""))
                .replace("<happened>", f"(?:{happened})")
                .replace("<act>", patterns("deeds_act")[language].replace("\n", ""))
                .replace("<lasting>", f"(?:{patterns('deeds_lasting')[language]})".replace("\n", ""))
                .replace("<C>", _PERSON)
                .replace("<P>", _PEOPLE.pattern)
                .replace("<O>", _OWNER),
                re.IGNORECASE,
            )
            for name in _Words._fields
        )
    )


_LANGUAGES = {language: _words(language) for language in ("en", "zh")}


def deed_of(text: str, mentions: Sequence[Mention], people: Collection[str]) -> Deed | None:
    """Return the first deed of a text, None where nobody named does one.

    Args:
        text: A note.
        mentions: The names in it.
        people: The ids of all people.
    """
    signed, person_ids = _signed(text, mentions, people)
    words = _LANGUAGES["zh" if has_cjk(text) else "en"]
    start = 0
    while leading := words.leading.match(signed, start):
        start = leading.end()
    report = words.report.search(signed, start)
    object_clauses = _object_clauses(signed, words)
    for first in _PEOPLE.finditer(signed, start if report is None else report.start()):
        # "Ada suspects Tom stole the book": nobody is told of a deed of his.
        is_object = any(begin <= first.start() < end for begin, end in object_clauses)
        if is_object or words.no_doer.search(signed[: first.start()]):
            continue
        suffered = words.suffered.match(signed, first.end())
        doer = first if suffered is None else _PEOPLE.match(signed, suffered.end())
        act = doer if suffered else words.done.match(signed, first.end())
        if doer is None or act is None:
            continue
        end = words.end.search(signed, act.end())
        stop = len(signed) if end is None else end.start()
        if act.groupdict().get("whom"):
            stop = act.end()
        taking_part = {
            at: person_id
            for at, person_id in person_ids.items()
            if first.start() <= at < stop and signed[at] == _PERSON and not _is_spoken_of(signed[:at])
        }
        doers = frozenset(one for at, one in taking_part.items() if doer.start() <= at < doer.end())
        span = Span(*(_place_in_text(at, mentions) for at in (first.start(), stop)))
        return Deed(doers, frozenset(taking_part.values()) - doers, signed[:stop], span)
    return None


def mishap_of(text: str, mentions: Sequence[Mention], people: Collection[str]) -> Deed | None:
    """Return the mishap of somebody's body in a text, None without one.

    Args:
        text: A note.
        mentions: The names in it.
        people: The ids of all people.
    """
    signed, person_ids = _signed(text, mentions, people)
    mishap = _LANGUAGES["zh" if has_cjk(text) else "en"].mishap.search(signed)
    if mishap is None:
        return None
    start, stop = mishap.span()
    bearers = frozenset(person_id for at, person_id in person_ids.items() if start <= at < stop)
    return Deed(bearers, frozenset(), signed[:stop], Span(*(_place_in_text(at, mentions) for at in (start, stop))))


def _is_spoken_of(before: str) -> bool:
    """Tell whether words before a person have them take no part."""
    return before[-1:] in _ABOUT or _UNAWARE.search(before) is not None


def people_of_deeds(text: str, mentions: Sequence[Mention], people: Collection[str]) -> frozenset[str] | None:
    """Return the people with a part in a text's deeds, None where nobody named does one.

    Its later clauses may tell of further deeds, unless they are what is said in the first.

    Args:
        text: A note.
        mentions: The names in it.
        people: The ids of all people.
    """
    first = deed_of(text, mentions, people)
    if first is None:
        return None
    signed, person_ids = _signed(text, mentions, people)
    words = _LANGUAGES["zh" if has_cjk(text) else "en"]
    taking_part = set(first.doers | first.others)
    end = len(first.core)
    if _REPORT_START.match(signed, end) and (not has_cjk(text) or _SAID.search(first.core)):
        # What is said goes on to the end of its sentence.
        end = next((stop.end() for stop in _SENTENCE_END.finditer(signed, end)), len(signed))
    for clause in _CLAUSE.finditer(signed, end):
        if not words.happening.search(clause[0]):
            continue
        stop = words.end.search(signed, clause.start(), clause.end())
        taking_part |= {
            person_id
            for at, person_id in person_ids.items()
            if clause.start() <= at < (stop.start() if stop else clause.end())
            and signed[at] == _PERSON
            and not _is_spoken_of(signed[:at])
        }
    return frozenset(taking_part)


def _place_in_text(at: int, mentions: Sequence[Mention]) -> int:
    """Return the place in a text of a place in it with signs."""
    for mention in mentions:
        if mention.start >= at:
            break
        at += mention.end - mention.start - 1
    return at


def people_spoken_of(text: str, mentions: Sequence[Mention], people: Collection[str]) -> frozenset[str]:
    """Return the people that a text names in object clauses alone.

    Those are of somebody's saying, believing, suspecting, thinking or knowing. What is denied tells of others:
    "Ben does not know that Ada lied" is no secret of Ben's.

    Args:
        text: A note.
        mentions: The names in it.
        people: The ids of all people.
    """
    signed, person_ids = _signed(text, mentions, people)
    words = _LANGUAGES["zh" if has_cjk(text) else "en"]
    spans = _object_clauses(signed, words)
    report = words.report.search(signed)
    if report is not None:
        leading = words.leading.match(signed)
        spans.append((0 if leading is None else leading.end(), report.start()))
    inside = {at for at in person_ids if any(start <= at < end for start, end in spans)}
    outside_ids = {person_id for at, person_id in person_ids.items() if at not in inside and signed[at] == _PERSON}
    return frozenset(person_ids[at] for at in inside) - outside_ids


def _object_clauses(signed: str, words: _Words) -> list[tuple[int, int]]:
    """Return the spans of sayings, beliefs and knowledge."""
    return [
        match.span(match.lastgroup or 0)
        for match in words.spoken.finditer(signed)
        if not words.unsaid.search(_CLAUSE_END.split(signed[: match.start()])[-1])
        and words.speaker.search(_SENTENCE_END.split(signed[: match.start()])[-1])
    ]


def _signed(text: str, mentions: Sequence[Mention], people: Collection[str]) -> tuple[str, dict[int, str]]:
    """Return a text with signs in place of names, and the people of the signs."""
    signed, person_ids, end = "", {}, 0
    for mention in mentions:
        signed += text[end : mention.start]
        end = mention.end
        if mention.entity_id not in people:
            signed += _OTHER
        else:
            person_ids[len(signed)] = mention.entity_id
            signed += _OWNER if _OWNS.match(text, end) else _PERSON
    signed += text[end:]
    return _ROW.sub(lambda row: re.sub(f"[^{_PERSON}]", _JOINT, row[0]), signed), person_ids
