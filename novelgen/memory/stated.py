"""Plain statements of notes: a holder or the loss of one, a place, a death, a name."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import NamedTuple

from novelgen.language.chinese_words import is_within_word
from novelgen.language.language import (
    FUNCTION_WORDS,
    has_cjk,
    patterns,
    phrases,
    significant_words,
    word_pattern,
    wording,
)
from novelgen.language.normalise import CHINESE_TITLES_AFTER, TITLES, name_key
from novelgen.language.resolver import Mention, NameResolver
from novelgen.memory.attributes import FIGURATIVE_DEATH, is_death
from novelgen.memory.kept_from import without_keeping, without_secrecy
from novelgen.models.entity import Entity, EntityType
from novelgen.models.folds import HOLDER_ATTRIBUTE

LONGEST_STATEMENT = 80
"""Characters of a note that states one thing; a longer one tells a story."""

_SIGNS = {"item": "\x01", "character": "\x02", "location": "\x03", "faction": "\x04", "term": "\x05"}
_ANY_SIGN = re.compile(f"[{''.join(_SIGNS.values())}]")
_HOLDER_SIGN = "\x06"
_NAME = (
    "(?:[\u3400-\u9fff·•]{1,12}"
    "|[A-Z\u00c0-\u00de][\\w.'’-]*(?: (?:of|the|de|la|van|von|[A-Z\u00c0-\u00de][\\w.'’-]*)){0,5})"
)
_KINDS = {
    "A": "[\x01-\x05]",
    "N": _NAME,
    "I": _SIGNS["item"],
    "C": _SIGNS["character"],
    "L": _SIGNS["location"],
    "X": f"[{_SIGNS['item']}{_SIGNS['character']}]",
    "H": _HOLDER_SIGN,
    "G": f"(?:{_SIGNS['character']}|s?he|they|[他她])",
}


class Statement(NamedTuple):
    """A value of an entity's state, as a note states it."""

    entity_id: str
    attribute: str
    value: str


_INTO = "|".join(lines.replace("\n", "") for lines in patterns("stated_into").values())
"""Words by which a thing goes where nobody has it."""


_GUESS = f"(?:{word_pattern('stated_guess').pattern})"
_PLAIN = rf"(?:(?:(?!{_GUESS})[^?？])+)"
"""Words that guess at nothing and ask nothing."""

_UNMOVED = f"(?!.*{word_pattern('stated_moved').pattern})"
"""Before words that move the thing no further."""


_PLEDGE = {language: words.replace("\n", "") for language, words in patterns("stated_pledge").items()}
"""What a thing passes on for: as a pledge, for sixty marks."""


def _patterns(name: str) -> list[re.Pattern[str]]:
    texts = (
        phrase.replace("\n", "")
        .replace("<into>", f"(?:{_INTO})")
        .replace("<pledge>", _PLEDGE["en"])
        .replace("<pledge_zh>", _PLEDGE["zh"])
        for phrase in phrases(name)
    )
    return [
        re.compile(re.sub(r"<(\w)>", lambda match: f"(?P<{match[1]}>{_KINDS[match[1]]})", text), re.IGNORECASE)
        for text in texts
    ]


def _history(name: str) -> list[re.Pattern[str]]:
    """Return patterns of further clauses, in which one sign may stand more than once."""
    texts = (re.sub(r"<([CHI])>", lambda match: _KINDS[match[1]], phrase) for phrase in phrases(name))
    return [
        re.compile(text.replace("<when>", f"(?: {_UNMOVED}{_PLAIN})").replace("<plain>", _PLAIN), re.IGNORECASE)
        for text in texts
    ]


def _by_last_word(pattern: re.Pattern[str]) -> re.Pattern[str]:
    """Return a pattern with a text in place of the sign of a thing."""
    text = r"(?:那|这|那把|这把)?[^\x01-\x03\s]{1,12}?"
    return re.compile(pattern.pattern.replace(_SIGNS["item"], text), re.IGNORECASE)


_HELD = _patterns("stated_holder")
_HELD_THING = [_by_last_word(pattern) for pattern in _HELD]
"""The same of a thing that a note calls by the last word of its name: 刀 of 鹿角柄折刀."""

_GONE = _patterns("stated_gone")
_GONE_THING = [_by_last_word(pattern) for pattern in _GONE]

_KILLED = _patterns("stated_killed")
_PLACED = _patterns("stated_place")
_CONDITION = _patterns("stated_condition")

_FOUND = _patterns("stated_found")
_FOUND_THING = [_by_last_word(pattern) for pattern in _FOUND]
"""A clause after which the next one tells who has the thing, by a pronoun or without a subject."""

_BEFORE = word_pattern("stated_before")
"""A further clause of where the thing was before."""

_HISTORY = _history("stated_history")
"""A further clause of how the holder came by the thing."""

_HISTORY_OF_LOSS = _history("stated_history_of_loss")
"""A further clause of where a lost thing is not."""

_RELATIVE_CHINESE = re.compile(wording("stated_relative_zh"))
"""What stands between a verb of holding and its thing: 她母亲留下的."""

_OWNING = re.compile("的(?:那[把个枚张块只])?|['’]s? ")
"""What stands between an owner and a thing."""

_IT = re.compile(r"\b(?:it|that)\b|它|那东西", re.IGNORECASE)

_PRONOUN = re.compile(r"\b(?:he|she|they)\b|[他她]们?", re.IGNORECASE)

_LEAD_IN = word_pattern("stated_lead_in")
_DOUBT = word_pattern("stated_doubt")
"""Words of a further clause that take back or bend what the first one states: all else leaves it."""

_ALIVE = word_pattern("stated_alive")
_MOVED_ON = word_pattern("stated_moved_on")
CONDITION_ATTRIBUTE = "condition"
"""Attribute of a place that burnt, fell in or was closed."""

_LASTING = ("status", CONDITION_ATTRIBUTE)
"""What stays so though it happened long ago."""

_TAKES_BACK = {
    "status": (_DOUBT, _ALIVE),
    HOLDER_ATTRIBUTE: (_DOUBT, _MOVED_ON),
    "location_id": (_DOUBT, _MOVED_ON),
    CONDITION_ATTRIBUTE: (_DOUBT, word_pattern("stated_whole_again")),
}
_HANDLED = word_pattern("stated_handled")
_PURPOSE = word_pattern("stated_purpose")
"""The beginning of a further clause that says what for a thing passes on."""

_PASSED_ON = word_pattern("stated_passed_on")
_WITNESSED = word_pattern("stated_witnessed")

_UNREAL = re.compile(f"{word_pattern('stated_unreal').pattern}|{FIGURATIVE_DEATH.pattern}", re.IGNORECASE)
_PAST = word_pattern("stated_past")
_AFTERMATH = word_pattern("stated_aftermath")
_UNSET = {attribute: re.compile(words, re.IGNORECASE) for attribute, words in patterns("stated_unset").items()}

_WOUND_FILLERS = word_pattern("stated_wound_fillers")
"""Words beside a plain wound: which hand, how badly, whose."""

_PRONOUN_FIRST = re.compile(
    r"\W*(?:(?:and|but|for|while|when) )?(?:he|she|they)\b|\W*(?:而|但|因为)?[他她]们?", re.IGNORECASE
)

_BEFORE_WORD = re.compile(
    r"\W*(?:(?:and|but|then|also|was|is|got|has|been|himself|herself|badly|gravely|shot|stabbed|cut) ?)*"
    r"|\W*(?:而|但|自己|也|中[枪箭弹刀]|[受负重]伤|伤重|倒地|当夜|当场|还|又|却|并|且|[左右双两一条只腿臂手脚腕肩头胸腰背膝踝脸眼肋]|胳膊)*",
    re.IGNORECASE,
)
"""What stands before a word of harm where the subject is that of the clause before."""

_TRUE = re.compile(r"\b(the )(?:true|real|genuine|original) (?=[a-z])", re.IGNORECASE)

_CIRCUMSTANCE = {name: words.replace("\n", "") for name, words in patterns("stated_circumstance").items()}
_BEARER_SIGN = f"[{_SIGNS['item']}{_SIGNS['character']}]"


def _circumstances(before: str, after: str) -> str:
    """Return a pattern for a row of circumstances."""
    words = _CIRCUMSTANCE
    return (
        f"(?:(?:{before}(?:{words['time_en']}|{words['where_en']}){after})+"
        f"|(?:{words['time_zh']}|{words['where_zh']})+)"
    )


_BEARER = f"(?:{_CIRCUMSTANCE['bearer_en']}|{_CIRCUMSTANCE['bearer_zh']})"
_BEFORE_BEARER = re.compile(f"{_circumstances('', ' ')}?{_BEARER}|{_circumstances('', ' ')}", re.IGNORECASE)
_AFTER_BEARER = re.compile(_circumstances(" ", ""), re.IGNORECASE)
_CIRCUMSTANCES_ALONE = re.compile(_circumstances("", "(?: |$)"), re.IGNORECASE)

_RELATION = {
    "en": rf"(?:\w+ ){{0,2}}?(?:{wording('kept_from_kin_en')}|{patterns('stated_relation')['en']})",
    "zh": f"(?:{wording('kept_from_kin_zh')}|{patterns('stated_relation')['zh']})",
}
_OTHER = _SIGNS["character"]
_RELATED = re.compile(rf"['’]s? {_RELATION['en']}\b|的{_RELATION['zh']}", re.IGNORECASE)
"""After a name: somebody else."""

_RELATION_BEFORE = re.compile(
    rf"{_OTHER}(?:['’]s? {_RELATION['en']}(?P<comma>,)? |的{_RELATION['zh']}(?P<chinese>[，,])?)"
    rf"(?P<name>{_OTHER}+)(?P<after>[，,])?",
    re.IGNORECASE,
)
"""Before a name: Josiah's partner Tom, 约西亚的合伙人汤姆."""

_APPOSED = (
    rf"(?:(?:{_OTHER}+['’]s?|the|an?|his|her|their|our|my|who|once|formerly|then|aged|[a-z]+ of) [^,;.()—–]{{1,80}}"
    rf"|{_OTHER}+的{_RELATION['zh']})"
)
_APPOSITION = re.compile(
    rf"(?<={_OTHER})(?:, {_APPOSED}, |\s*[，,]{_APPOSED}[，,]"
    rf"|\s*[—–]+\s*{_APPOSED}\s*[—–]+\s*|\s*[（(][^的()（）][^()（）]{{0,80}}[)）]\s*)",
    re.IGNORECASE,
)
"""After a name: Tom, Josiah's partner, died; 汤姆（约西亚的合伙人）死了."""

_BESIDE_NAME = re.compile(
    rf"[,，(（—–].*[,，)）—–]|['’]s? {_RELATION['en']}\b|的{_RELATION['zh']}", re.IGNORECASE | re.DOTALL
)
"""Signs of such words in a text whose names nobody has looked for."""

_SAYING = word_pattern("stated_saying")

_CLAUSE_END = re.compile("[，,；;。！!：:](?:\\s*)(?:and )?|\\.(?:\\s+|$)|\\s+and (?=[a-z])")

_STATEMENT_END = re.compile(
    _CLAUSE_END.pattern
    + r"|\s*[—–]+\s*|\s+-\s+"
    + r"|\s+(?:but|though|although) |\s+and (?=[A-Z][\w'’]*(?: [A-Z][\w'’]*)? (?:does|do|did|is|was|has|must|knows?)\b)"
    + r"|\s+(?=(?:that|which) (?:was|were|is|had|has|once|used|belonged|came|he|she|they|h(?:er|is)|their|[A-Z]\w*)\b)"
)
"""Also where a clause begins that tells more of a thing: that was her mother's."""

_TITLE_BEFORE = re.compile(r"([A-Z][a-z]+\.?)\s+$")

_NAMED = [re.compile(pattern.pattern) for pattern in _patterns("stated_name")]
"""With case: an English name begins with a capital."""

NAME_ATTRIBUTE = "real_name"
"""Attribute of a state: a name of somebody or something that a note states."""

NOBODY = ""
"""Value of a holder where the thing is destroyed, lost or stolen by nobody knows whom: nobody has it any more."""

STATED_ATTRIBUTES = (HOLDER_ATTRIBUTE, "location_id", "status", NAME_ATTRIBUTE, CONDITION_ATTRIBUTE)
"""Attributes that a note may state."""


class _Clause(NamedTuple):
    """A clause of a note, and whom and what it mentions."""

    text: str
    mentions: Sequence[Mention]


class Reading(NamedTuple):
    """All that a note states, that of its first clause first, and its clauses that state nothing."""

    statements: Sequence[Statement] = ()
    rest: str = ""


def statement_of(content: str, entities: Sequence[Entity]) -> Statement | None:
    """Return what the first clause of a note states; None where it tells anything else."""
    return next(iter(reading_of(content, entities).statements), None)


def statements_of(content: str, entities: Sequence[Entity]) -> Sequence[Statement]:
    """Return all that a note states."""
    return reading_of(content, entities).statements


def reading_of(content: str, entities: Sequence[Entity]) -> Reading:
    """Return what a note states, empty where it tells anything else or names something without a card.

    Its first clause states something. Further clauses may add to that or state more of others, and not take it back.
    "The true moon key" is the moon key, unless a card has that name.
    """
    text = content.strip()
    reading = _reading_in(text, entities)
    if not any(statement.value for statement in reading.statements) and not _is_story(text):
        reading = _reading_of_gift(text, entities) or reading
    if not reading.statements and (true_name := _TRUE.sub(r"\1", text)) != text:
        reading = _reading_in(true_name, entities)
    if not (reading.statements or _is_story(text)) and (bare := _without_apposition(text, entities)) != text:
        reading = _reading_in(bare, entities)
    if not _is_story(text):
        several = _reading_of_several(text, entities)
        # "Tom has the key and the letters": a clause alone tells of the first thing.
        if several is not None and len(several.statements) > len(reading.statements):
            reading = several
    if not reading.statements and (plain := without_secrecy(text, _names(entities, people=True))) != text:
        reading = _reading_in(plain, entities)
    if not reading.statements and (sourceless := _without_source(text, entities)) != text:
        reading = _reading_in(sourceless, entities)
    if (uncounted := _without_counts(text, entities)) != text:
        of_uncounted = reading_of(uncounted, entities)
        if len(of_uncounted.statements) > len(reading.statements):
            return of_uncounted
    return reading


def _without_source(text: str, entities: Sequence[Entity]) -> str:
    """Return a text without the person from whom a thing is taken: "from Ben", 从贺老三手里."""
    if " from " not in text and "从" not in text:
        return text
    names = "|".join(map(re.escape, sorted(_names(entities, people=True), key=len, reverse=True))) or "(?!)"
    return re.sub(
        rf" (?:back )?from (?:{names})(?:['’]s (?:hands?|pockets?|bag|room|house))?(?=,? and |,)"
        rf"|从(?:{names})的?(?:手[里中上]|那里|那儿|身[上边]|怀里|处)",
        "",
        text,
    )


_COUNTED_CHINESE = re.compile(wording("stated_counted_zh"))
_COUNTED_CHINESE_SOMEWHERE = re.compile(wording("stated_counted_zh").removesuffix("$"))
_COUNTED = re.compile(wording("stated_counted_en").replace("\n", ""), re.IGNORECASE)


def _without_counts(text: str, entities: Sequence[Entity]) -> str:
    """Return a text whose things stand without numbers: 十二张照片, "all three letters"."""
    if not (_COUNTED_CHINESE_SOMEWHERE.search(text) or _COUNTED.search(text)):
        return text
    kinds = {entity.entity_id: entity.entity_type for entity in entities}
    for mention in reversed(_mentions(text, entities)):
        before = _COUNTED_CHINESE.search(text, 0, mention.start) if kinds[mention.entity_id] == "item" else None
        if before is not None:
            text = text[: before.start()] + text[before.end() :]
    names = {
        re.sub("^the ", "", name, flags=re.IGNORECASE)
        for one in entities
        if one.entity_type == "item"
        for name in one.names()
        if not has_cjk(name) and name.casefold().endswith("s")
    }
    if not names:
        return text
    listing = "|".join(map(re.escape, sorted(names, key=len, reverse=True)))
    return re.sub(rf"\b{_COUNTED.pattern} (?=(?:{listing})\b)", "the ", text, flags=re.IGNORECASE)


def _without_apposition(text: str, entities: Sequence[Entity]) -> str:
    """Return a text without an apposition to its first name."""
    if not _BESIDE_NAME.search(text):
        return text
    kinds = {entity.entity_id: entity.entity_type for entity in entities}
    people = [mention for mention in _mentions(text, entities) if kinds[mention.entity_id] == "character"]
    if not people or any(later.start < earlier.end for earlier, later in pairwise(people)):
        return text
    first = people[0]
    # Every character of a name is a sign, so that places stay.
    signed = text
    for mention in people:
        signed = signed[: mention.start] + _OTHER * (mention.end - mention.start) + signed[mention.end :]
    before = _RELATION_BEFORE.match(signed, first.end - 1)
    if before is not None:
        name_end = before.end() if before["comma"] or before["chinese"] else before.end("name")
        return text[: first.start] + text[slice(*before.span("name"))] + text[name_end:]
    match = _APPOSITION.match(signed, first.end)
    if match is None or any(words.search(match[0]) for words in (_SAYING, _DOUBT, _UNREAL)):
        return text
    return text[: first.end] + ("" if has_cjk(text) else " ") + text[match.end() :]


_SUBORDINATE = patterns("stated_subordinate")
_SUB = _SUBORDINATE["en"].replace("\n", "")
_ENDING_SUB = re.compile(rf",? {_SUB}[^,;.?!—–]*(?=[,;.!—–]|$)", re.IGNORECASE)
_LEADING_SUB = re.compile(rf"{_SUB}[^,;.?!—–]*, ", re.IGNORECASE)
_BETWEEN_SUB = re.compile(rf"(?<={_OTHER}), {_SUB}[^,;.?!—–]*,(?= )", re.IGNORECASE)
_LEADING_ALONE = re.compile(rf"{_SUB}[^,;.?!—–]*", re.IGNORECASE)
_SUBJECT = re.compile(rf"(?<= )(?:(?:the |old )*[{_SIGNS['item']}{_OTHER}]|s?he\b|they\b)", re.IGNORECASE)
_SUB_CHINESE = rf"[^，。；？{_SIGNS['item']}]{{1,14}}?{_SUBORDINATE['zh']}"
_REASON_CHINESE = rf"因为?[^，。；？{_SIGNS['item']}]{{1,14}}(?=[，,])"
_CHINESE_SUB = re.compile(
    rf"^{_SUB_CHINESE}[，,](?![把将给交送借留传托])"
    rf"|(?<={_OTHER})(?!{_OTHER})(?:{_SUB_CHINESE}|{_REASON_CHINESE})[，,]?(?=(?:就|便|才|亲手|悄悄|偷偷)*[把将给交送借留传托])"
    rf"|(?<={_SIGNS['item']})在{_SUB_CHINESE}[，,]?(?=[被由给交送借留传托])"
)
"""Before a comma, after a person, after a thing."""

_OVER_OR_UNREAL = word_pattern("stated_subordinate_over")
_GIVEN = word_pattern("stated_given")


def _reading_of_gift(text: str, entities: Sequence[Entity]) -> Reading | None:
    """Return a gift beside clauses of when or why."""
    mentions = _mentions(text, entities)
    kinds = {entity.entity_id: entity.entity_type for entity in entities}
    if any(later.start < earlier.end for earlier, later in pairwise(mentions)):
        return None
    # Every character of a name is a sign, so that places stay.
    signed = text
    for mention in mentions:
        sign = _SIGNS.get(kinds[mention.entity_id], _SIGNS["term"])
        signed = signed[: mention.start] + sign * (mention.end - mention.start) + signed[mention.end :]
    for spans in _subordinates(signed):
        clauses = [signed[slice(*span)] for span in spans]
        if any(_OVER_OR_UNREAL.search(clause) or (has_cjk(text) and _UNREAL.search(clause)) for clause in clauses):
            continue
        bare, end = "", 0
        for start, stop in spans:
            bare += text[end:start]
            end = stop
        bare = (bare + text[end:]).strip(" ,，")
        reading = _reading_in(bare, entities)
        first = next(iter(reading.statements), None)
        if first is not None and first.attribute == HOLDER_ATTRIBUTE and first.value and _GIVEN.search(bare):
            return reading
    return None


def _subordinates(signed: str) -> Iterator[list[tuple[int, int]]]:
    """Yield the spans of clauses to leave out."""
    if has_cjk(signed):
        spans = [match.span() for match in _CHINESE_SUB.finditer(signed)]
        yield from [spans] if spans else []
        return
    leading = _LEADING_SUB.match(signed)
    between = [match.span() for match in _BETWEEN_SUB.finditer(signed)]
    start = leading.end() if leading is not None else 0
    first = [(0, start)] if start else []
    if between:
        yield [*first, *between]
    ending = [match.span() for match in _ENDING_SUB.finditer(signed, start)]
    if first or ending:
        yield [*first, *ending]
    # "As he lay dying Tom gave …": no sign parts the clauses.
    alone = _LEADING_ALONE.match(signed)
    for subject in _SUBJECT.finditer(signed, 0, alone.end()) if alone is not None else ():
        before = signed[: subject.start()].strip()
        is_cut = re.fullmatch(_SUB, before, re.IGNORECASE) is not None
        if is_cut or any(words.search(before) for words in (_SAYING, _DOUBT, _UNREAL)):
            continue
        ending = [match.span() for match in _ENDING_SUB.finditer(signed, subject.end())]
        yield [(0, subject.start()), *ending]


_JOINED = re.compile(r",? and (?:the )?|, (?:the )?|[和与跟、及]|以及", re.IGNORECASE)
_ALL_AFTER = re.compile(
    r"(?:这|那)?(?:两|二|三)样(?:东西)?(?:都|全)|[都全]|(?P<en> (?:is|are|was|were|have|has))?(?: both| all)(?= )"
)
_BOTH = re.compile(
    r"\bboth(?: of them)?(?=(?: back| over)* (?:to|with|in)\b)|(?:[这那])?两(?:样|件)(?:东西)?(?:都|全)?", re.IGNORECASE
)


def _reading_of_several(text: str, entities: Sequence[Entity]) -> Reading | None:
    """Return the holders of several things: 银簪和账本都还给了林婶."""
    kinds = {entity.entity_id: entity.entity_type for entity in entities}
    mentions = _mentions(text, entities)
    things = [one for one in mentions if kinds[one.entity_id] == "item"]
    if len({one.entity_id for one in things}) != len(things) or len(things) < 2:
        return None
    both = _BOTH.search(text, things[-1].end)
    texts = [] if both is None else _texts_of_both(text, both, things, mentions, kinds)
    texts = texts or _texts_of_joined(text, things) or _texts_of_parallel(text, mentions, kinds)
    readings = [_reading_in(one, entities) for one in texts]
    statements = [
        next((one for one in reading.statements if one.entity_id == thing.entity_id), None)
        for reading, thing in zip(readings, things, strict=False)
    ]
    if not statements or None in statements or {one.attribute for one in statements if one} != {HOLDER_ATTRIBUTE}:
        return None
    return Reading([one for one in statements if one], readings[0].rest)


def _texts_of_joined(text: str, things: Sequence[Mention]) -> list[str]:
    """Return a text once for each joined thing."""
    if not all(_JOINED.fullmatch(text, one.end, other.start) for one, other in pairwise(things)):
        return []
    start, end = things[0].start, things[-1].end
    after = _ALL_AFTER.match(text, end)
    verb = (after["en"] or "") if after is not None else ""
    rest = text[after.end() if after is not None else end :]
    before = re.sub(r"\bboth (?:the )?$", "", text[:start], flags=re.IGNORECASE)
    return [before + text[one.start : one.end] + verb + rest for one in things]


def _texts_of_parallel(text: str, mentions: Sequence[Mention], kinds: Mapping[str, EntityType]) -> list[str]:
    """Return a text once for each thing and its receiver: gave Ada the ring and Ben the key."""
    if len(mentions) != 5:
        return []
    pairs = [(mentions[1], mentions[2]), (mentions[3], mentions[4])]
    orders = {tuple(kinds[one.entity_id] for one in pair) for pair in pairs}
    if orders not in ({("character", "item")}, {("item", "character")}):
        return []
    if _JOINED.fullmatch(text, pairs[0][1].end, pairs[1][0].start) is None:
        return []
    if text[pairs[0][0].end : pairs[0][1].start] != text[pairs[1][0].end : pairs[1][1].start]:
        return []
    return [text[: pairs[0][1].end] + text[pairs[1][1].end :], text[: pairs[0][0].start] + text[pairs[1][0].start :]]


def _texts_of_both(
    text: str,
    both: re.Match[str],
    things: Sequence[Mention],
    mentions: Sequence[Mention],
    kinds: Mapping[str, EntityType],
) -> list[str]:
    """Return the last clause once for either thing of its "both"."""
    before = [match.end() for match in _STATEMENT_END.finditer(text, 0, both.start())]
    if len(things) != 2 or not before or any(pattern.search(text) for pattern in (_DOUBT, _UNREAL)):
        return []
    start = before[-1]
    if things[-1].end > start or _STATEMENT_END.search(text.rstrip(" .。！!"), both.end()):
        return []
    people = [one for one in mentions if kinds[one.entity_id] == "character"]
    has_subject = any(start <= one.start < both.start() for one in people)
    subject = "" if has_subject or has_cjk(text) or not people else text[people[0].start : people[0].end] + " "
    lead = re.sub("^(?:but|and|then) ", "", text[start : both.start()])
    return [subject + lead + text[one.start : one.end] + text[both.end() :] for one in things]


def _names(entities: Sequence[Entity], *, people: bool) -> list[str]:
    """Return the names of all people, or of all else."""
    return [name for one in entities if (one.entity_type == "character") == people for name in one.names()]


def _is_story(text: str) -> bool:
    return len(text) > LONGEST_STATEMENT * (1 if has_cjk(text) else 2)


def _reading_in(text: str, entities: Sequence[Entity]) -> Reading:
    if _is_story(text):
        return Reading()
    kinds = {entity.entity_id: entity.entity_type for entity in entities}
    opening, *others = _clauses(text, _mentions(text, entities), _STATEMENT_END) or [_Clause("", [])]
    first, statement = opening, _stated_plainly(opening, entities)
    actor = next((one for one in opening.mentions if kinds[one.entity_id] == "character"), None)
    if others and (thing_id := _found_id(first, entities)) is not None:
        # "Ada took the key and gave it to Tom": what comes of the thing counts.
        second = _of_thing(others[0], thing_id)
        outcome = _stated_by(second, entities)
        if outcome is None and actor is not None and not _PRONOUN.search(second.text):
            outcome = _stated_by(_of_actor(second, actor)[0], entities)
        if outcome is not None:
            first, statement, others = second, outcome, others[1:]
    if statement is None:
        return Reading()
    texts, rest = {statement: opening.text}, []
    for clause in others:
        if any(_is_history(clause, earlier, kinds) for earlier in texts):
            continue
        further = _stated_further(clause, actor, entities)
        slots = [(earlier.entity_id, earlier.attribute) for earlier in texts]
        is_new = further is not None and (further.entity_id, further.attribute) not in slots
        if further is not None and is_new and not _DOUBT.search(clause.text):
            texts[further] = clause.text
            continue
        is_of_another_thing = _handles_another_thing(clause, kinds)
        for earlier, own_text in list(texts.items()):
            is_named = any(
                mention.entity_id == earlier.entity_id
                for other in others
                for mention in other.mentions
                if other.text != own_text
            )
            is_held = earlier.attribute == HOLDER_ATTRIBUTE
            is_doubted = any(pattern.search(clause.text) for pattern in (_DOUBT, _BOTH))
            is_beside = is_held and is_of_another_thing and not is_named and not is_doubted
            if not is_beside and _is_taken_back(clause, earlier, entities):
                rest.append(texts.pop(earlier))
        if statement not in texts:
            return Reading()
        rest.append(clause.text)
    return Reading(list(texts), ("，" if has_cjk(text) else ", ").join(rest))


def _handles_another_thing(clause: _Clause, kinds: Mapping[str, EntityType]) -> bool:
    """Tell whether a clause names a thing, and tells of no other by a pronoun."""
    return any(kinds[one.entity_id] == "item" for one in clause.mentions) and not _IT.search(clause.text)


def _stated_plainly(clause: _Clause, entities: Sequence[Entity]) -> Statement | None:
    """Return what a clause states, also of a thing with its owner or a relative before it."""
    kinds = {entity.entity_id: entity.entity_type for entity in entities}
    return _stated_by(_without_relative(clause, kinds), entities) or _stated_by(_without_owner(clause, kinds), entities)


def _stated_further(clause: _Clause, actor: Mention | None, entities: Sequence[Entity]) -> Statement | None:
    """Return what a further clause states, also by a pronoun or without a subject.

    A pronoun may be anybody: it gives something away, and is nobody of whom anything is stated.
    """
    statement = _stated_plainly(clause, entities)
    if statement is None and actor is not None:
        with_actor, is_named = _of_actor(clause, actor)
        statement = _stated_by(with_actor, entities)
        if statement is not None and is_named and actor.entity_id in (statement.entity_id, statement.value):
            return None
    return None if statement is not None and statement.attribute == NAME_ATTRIBUTE else statement


def _of_actor(clause: _Clause, actor: Mention) -> tuple[_Clause, bool]:
    """Return a clause with an actor as its subject, and whether that may be another person."""
    text, mentions = clause
    pronoun = _PRONOUN.search(text, 0, mentions[0].start if mentions else len(text))
    start, end = pronoun.span() if pronoun is not None else (0, 0)
    return _with_mention(clause, actor.entity_id, start, end), pronoun is not None or actor.start > 0


def _is_taken_back(clause: _Clause, statement: Statement, entities: Sequence[Entity]) -> bool:
    """Tell whether a further clause takes back what an earlier one states, or states another value of it."""
    kinds = {entity.entity_id: entity.entity_type for entity in entities}
    rest = without_keeping(clause.text, _names(entities, people=True), _names(entities, people=False))
    takes_back = _TAKES_BACK.get(statement.attribute, (_DOUBT,)) + ((_BOTH,) if statement.value else ())
    if any(pattern.search(clause.text if rest is None else rest) for pattern in takes_back):
        return True
    if rest is not None:
        return False
    if statement.value == NOBODY and _found_id(_of_thing(clause, statement.entity_id), entities) is not None:
        return True
    if statement.attribute == HOLDER_ATTRIBUTE and _BEFORE.fullmatch(clause.text.strip(" ，,。.")):
        return False
    if statement.attribute == HOLDER_ATTRIBUTE and _PURPOSE.match(clause.text.strip()):
        return False
    if statement.attribute == HOLDER_ATTRIBUTE and _is_handled_by_another(clause, statement, kinds):
        return True
    return _stated_by(clause, entities) not in (None, statement)


_BESIDE = re.compile(
    r"(?:\b(?:by|in|on|with|without|near|beside|for|before|like|saving) |(?<![以认])为|[被在和与跟救护])$",
    re.IGNORECASE,
)
"""Before a name that is not the subject."""


_PRONOUN_AS_SUBJECT = re.compile(r"\b(?:before|after|when|while|as|since|because) (?:he|she|they)(?: \w+){0,2} $")


class Unset(NamedTuple):
    """Somebody dead, captive or hurt."""

    entity_id: str
    attribute: str


def is_in_doubt(content: str) -> bool:
    """Tell whether a note calls anything untrue or uncertain."""
    clauses = _clauses(content.strip(), [], _STATEMENT_END)
    return any(pattern.search(clause.text) for clause in clauses for pattern in (_DOUBT, _UNREAL))


def is_called_untrue(content: str) -> bool:
    """Tell whether a note calls its harm untrue, uncertain or to come."""
    return is_in_doubt(_AFTERMATH.sub(" ", content))


class Harm(NamedTuple):
    """A word of harm in a clause, and the one who suffers it."""

    entity_id: str | None
    attribute: str
    clause: str


def told_of_somebody(content: str, entities: Sequence[Entity]) -> Unset | None:
    """Return somebody dead, captive or hurt in a text, None if nobody."""
    harm = next(harms_told(content, entities), None)
    return None if harm is None or harm.entity_id is None else Unset(harm.entity_id, harm.attribute)


def harms_told(content: str, entities: Sequence[Entity]) -> Iterator[Harm]:
    """Yield what a text tells of deaths, captivity and injuries, without a sufferer where that may be anybody."""
    kinds = {entity.entity_id: entity.entity_type for entity in entities}
    text = _without_apposition(content.strip(), entities)
    earlier_id: str | None = None
    for clause in _clauses(text, _mentions(text, entities)):
        people = [
            mention
            for mention in clause.mentions
            if kinds[mention.entity_id] == "character" and not _RELATED.match(clause.text, mention.end)
        ]
        for attribute, pattern in _UNSET.items():
            word = pattern.search(clause.text)
            if word is None:
                continue
            if _PRONOUN_FIRST.match(clause.text) or (
                not people and _BEFORE_WORD.fullmatch(clause.text, 0, word.start())
            ):
                # "He was hurt pushing Nora aside": the one of whom the clause before spoke.
                if not _is_done_to_others(clause.text, word):
                    yield Harm(earlier_id, attribute, clause.text)
                continue
            if _PRONOUN_AS_SUBJECT.search(clause.text[: word.start()]):
                # "Ada gave it to Ben before she died": either may be meant.
                earlier = [one for one in people if one.end <= word.start()]
                yield Harm(earlier[0].entity_id if len(earlier) == 1 else None, attribute, clause.text)
                continue
            sufferer = _sufferer(clause, people, word, attribute)
            if sufferer is not None:
                yield Harm(sufferer.entity_id, attribute, clause.text)
        unaided = [one for one in people if not _BESIDE.search(clause.text, 0, one.start)] or people
        if unaided and (earlier_id is None or not _BESIDE.search(clause.text, 0, unaided[0].start)):
            earlier_id = unaided[0].entity_id


_REPORTED, _DONE_TO, _PASSIVE, _OTHER_OBJECT = (
    {
        language: re.compile(words.replace("\n", "").replace("<C>", f"{_OTHER}{_HOLDER_SIGN}*"), re.IGNORECASE)
        for language, words in patterns(name).items()
    }
    for name in ("stated_reported", "stated_done_to", "stated_passive", "stated_other_object")
)
_OBJECT_BEFORE = re.compile(f"[把将](?!{_OTHER}|自己|[他她])[^，。；{_OTHER}]*$")
"""What is done to somebody or something without a card: 把狗绑在树上."""

_OBJECT = re.compile(f"了?(?:那个)?(?={_OTHER})| (?:(?:the|old|poor) )*(?={_OTHER})", re.IGNORECASE)
_NAME_OF_DEAD = re.compile(f" of (?:(?:the|old|poor) )*(?={_OTHER})", re.IGNORECASE)
_DEAD_PERSON = re.compile(f"了?的(?={_OTHER})|(?<=dead) (?={_OTHER})", re.IGNORECASE)
_NOT_HURT = re.compile(
    r"(?:没有?|并?未|不曾|不会)[^，。；]{0,4}$|\b(?:not|never|\w+n['’]t) (?:been |be |yet |really |even )?$",
    re.IGNORECASE,
)
_DEATH_NOUN = re.compile("deaths?", re.IGNORECASE)
_OF_OTHERS = re.compile(rf"(?:\btheir|(?<![{_OTHER}{_HOLDER_SIGN}])['’]s|s['’]) (?:\w+ )?$", re.IGNORECASE)
"""Before the death of somebody without a card."""

_OF_NAME = re.compile(f"{_OTHER}{_HOLDER_SIGN}*(?:['’]s (?:early |sudden )?|[之的])$", re.IGNORECASE)
"""Right before a death: whose it is."""


def _sufferer(clause: _Clause, people: Sequence[Mention], word: re.Match[str], attribute: str) -> Mention | None:
    """Return the one of some people in a clause to whom a word of harm applies, None if to nobody of them."""
    language = "zh" if has_cjk(clause.text) else "en"
    # Every character of a name is a sign, so that places stay, the first another than the rest.
    signed = clause.text
    for mention in people:
        sign = _OTHER + _HOLDER_SIGN * (mention.end - mention.start - 1)
        signed = signed[: mention.start] + sign + signed[mention.end :]
    reports = list(_REPORTED[language].finditer(signed, 0, word.start()))
    start = reports[-1].end() if reports else 0
    bearer = _OF_NAME.search(signed, 0, word.start())
    if bearer is not None and attribute == "status":
        return next(one for one in people if one.start == bearer.start())
    # By whom it was done, or beside whom, is nobody who suffered it.
    unaided = [one for one in people if not _BESIDE.search(clause.text, 0, one.start)] or people
    before = [one for one in unaided if start <= one.start < word.end()]
    after = [one for one in people if one.start >= word.end()]
    if attribute != "status" and _NOT_HURT.search(signed, start, word.start()):
        return None
    if attribute == "status" and _OBJECT_BEFORE.search(signed[start : word.start()]):
        return None
    is_passive = _PASSIVE[language].search(signed, start, word.start()) is not None
    if not is_passive and _DONE_TO[language].fullmatch(signed, word.start(), word.end()):
        inside = [one for one in people if word.start() <= one.start < word.end()]
        if inside:
            return inside[-1]
        following = _OBJECT.match(signed, word.end())
        if following is not None:
            return next((one for one in after if one.start == following.end()), None)
        if _OTHER_OBJECT[language].match(signed, word.end()) or word[0][-1:] in "刀剑枪箭斧":
            return None
    if _DEATH_NOUN.fullmatch(word[0]):
        if _OF_OTHERS.search(signed, 0, word.start()):
            return None
        of_name = _NAME_OF_DEAD.match(signed, word.end())
        if of_name is not None:
            return next((one for one in after if one.start == of_name.end()), None)
    following = _DEAD_PERSON.match(signed, word.end())
    if following is not None:
        return next((one for one in after if one.start == following.end()), None)
    # Whoever died stands before it.
    near = before if attribute == "status" else before + [one for one in after if one in unaided]
    return min(reversed(near), key=lambda one: max(one.start - word.end(), word.start() - one.end, 0), default=None)


def _is_done_to_others(text: str, word: re.Match[str]) -> bool:
    """Tell whether a clause without a name tells harm by its subject: 杀了十七个人."""
    language = "zh" if has_cjk(text) else "en"
    return (
        _PASSIVE[language].search(text, 0, word.start()) is None
        and _DONE_TO[language].fullmatch(text, word.start(), word.end()) is not None
        and _OTHER_OBJECT[language].match(text, word.end()) is not None
    )


def plain_wound_of(content: str, entities: Sequence[Entity]) -> str | None:
    """Return whoever a text calls wounded and tells nothing else of, None if nobody."""
    wounded = told_of_somebody(content, entities)
    mentions = _mentions(content, entities)
    if wounded is None or wounded.attribute == "status" or {one.entity_id for one in mentions} != {wounded.entity_id}:
        return None
    rest = content
    for mention in reversed(mentions):
        rest = rest[: mention.start] + " " + rest[mention.end :]
    rest = _UNSET[wounded.attribute].sub(" ", rest)
    is_plain = not significant_words(_WOUND_FILLERS.sub(" ", rest)) - FUNCTION_WORDS and not is_in_doubt(content)
    return wounded.entity_id if is_plain else None


def repeats_death(content: str) -> bool:
    """Tell whether a text repeats a death."""
    is_told = _UNSET["status"].search(content) is not None
    return is_told and not _ALIVE.search(content) and not is_in_doubt(content)


def passed_on(content: str, entities: Sequence[Entity]) -> list[str]:
    """Return the things in a clause with a person, or after one, whose holder its words may change."""
    things = things_with_people(content, entities)
    clauses = _clauses(content.strip(), _mentions(content.strip(), entities)) if things else []
    ids = {
        mention.entity_id for clause in clauses if _PASSED_ON.search(_unnamed(clause)) for mention in clause.mentions
    }
    return [thing_id for thing_id in things if thing_id in ids]


def _unnamed(clause: _Clause) -> str:
    """Return a clause with signs in place of its names."""
    ends = [0, *(mention.end for mention in clause.mentions)]
    starts = [*(mention.start for mention in clause.mentions), len(clause.text)]
    return _SIGNS["item"].join(clause.text[end:start] for end, start in zip(ends, starts, strict=True))


def things_with_people(content: str, entities: Sequence[Entity]) -> list[str]:
    """Return the things in a clause with a person, or first in it, in order."""
    kinds = {entity.entity_id: entity.entity_type for entity in entities}
    text = content.strip()
    clauses = _clauses(text, _mentions(text, entities))
    named_ids = [[mention.entity_id for mention in clause.mentions] for clause in clauses]
    return list(
        dict.fromkeys(
            entity_id
            for ids in named_ids
            for entity_id in (ids if "character" in map(kinds.get, ids) else ids[:1])
            if kinds[entity_id] == "item"
        )
    )


def _mentions(text: str, entities: Sequence[Entity]) -> list[Mention]:
    """Return whom and what a note mentions, each with its titles: Colonel Hugh Ashcombe, 陈建国队长."""
    ids = [entity.entity_id for entity in entities]
    mentions: list[Mention] = []
    for mention in mentions_in(text, entities, present_ids=ids):
        last = mentions[-1] if mentions else None
        if last and last.entity_id == mention.entity_id and not text[last.end : mention.start].strip():
            mentions[-1] = replace(last, end=mention.end)
        else:
            mentions.append(mention)
    return [_with_titles(text, mention) for mention in mentions]


def named_ids_in(content: str, entities: Sequence[Entity]) -> list[str]:
    """Return the ids of whom and what a note names, things with a name of one character as well."""
    return list(dict.fromkeys(mention.entity_id for mention in mentions_in(content, entities)))


_BEFORE_SHORT = re.compile(wording("stated_short_before_zh").replace("\n", ""))
_HANDED_ON = re.compile("[交送递还借传塞丢抛扔留寄献赠退押抵藏放收烧撕](?:给|到|进|在|入|回|了|掉|还)")
_AFTER_SHORT = re.compile(wording("stated_short_after_zh").replace("\n", ""))


def mentions_in(
    text: str, entities: Sequence[Entity], *, resolver: NameResolver | None = None, present_ids: Sequence[str] = ()
) -> list[Mention]:
    """Return the mentions of a text, also of 信 where a thing stands."""
    short_names = {
        name
        for one in entities
        if one.entity_type == "item"
        for name in one.names()
        if len(name) == 1 and has_cjk(name) and name in text
    }
    mentions = (resolver or NameResolver(entities)).find_mentions(text, also_present=present_ids)
    if not short_names:
        return mentions
    known = {mention.start for mention in mentions}
    literal = NameResolver(entities, literal_names=short_names).find_mentions(text, also_present=present_ids)
    ends = [(mention.start, mention.end) for mention in mentions]
    short_mentions = [
        mention
        for mention in literal
        if mention.name in short_names and mention.start not in known and _is_short_name(text, mention, ends)
    ]
    return sorted([*mentions, *short_mentions], key=lambda one: one.start)


def _is_short_name(text: str, mention: Mention, others: Sequence[tuple[int, int]]) -> bool:
    """Tell whether a single character is a thing there: 把信交给, 信在; not 信使, 相信."""
    # After 交给 a person and a thing stand side by side.
    is_after_person = any(end == mention.start and text[:start].endswith(("给", "给了")) for start, end in others)
    before = _BEFORE_SHORT.search(text, 0, mention.start)
    if (before is None and not is_after_person) or _AFTER_SHORT.match(text, mention.end) is None:
        return False
    # 信塞 and 封信 are words as well.
    if before is not None and _HANDED_ON.match(text, mention.end):
        return True
    rest = text[mention.start :] if before is not None and len(before[0]) > 1 else text
    start = mention.start - (len(text) - len(rest))
    return not is_within_word(rest, start, start + 1)


def _with_titles(text: str, mention: Mention) -> Mention:
    word = _TITLE_BEFORE.search(text, 0, mention.start)
    is_title = word is not None and name_key(word[1]) in TITLES
    before = next((title for title in CHINESE_TITLES_AFTER if text.endswith(title, 0, mention.start)), "")
    after = next((title for title in CHINESE_TITLES_AFTER if text.startswith(title, mention.end)), "")
    start = word.start() if word is not None and is_title else mention.start - len(before)
    return replace(mention, start=start, end=mention.end + len(after))


def _clauses(text: str, mentions: Sequence[Mention], end: re.Pattern[str] = _CLAUSE_END) -> list[_Clause]:
    """Cut a text at its signs, but not within a name."""
    ends = [
        match
        for match in end.finditer(text)
        if not any(mention.start < match.end() and match.start() < mention.end for mention in mentions)
    ]
    starts = [0, *(match.end() for match in ends)]
    stops = [*(match.start() for match in ends), len(text)]
    clauses: list[_Clause] = []
    for start, stop in zip(starts, stops, strict=True):
        own = [
            replace(mention, start=mention.start - start, end=mention.end - start)
            for mention in mentions
            if start <= mention.start and mention.end <= stop
        ]
        clause = _Clause(text[start:stop], own)
        is_lead_in = not (clauses or own) and _is_lead_in(clause.text.strip())
        if clause.text.strip() and not is_lead_in:
            clauses.append(clause)
    return clauses


def _is_lead_in(text: str) -> bool:
    return _LEAD_IN.fullmatch(text) is not None or (
        _CIRCUMSTANCES_ALONE.fullmatch(text) is not None and not (_UNREAL.search(text) or _PAST.search(text))
    )


def _stated_by(clause: _Clause, entities: Sequence[Entity]) -> Statement | None:
    """Return what a clause states, other places read as text."""
    kinds = {entity.entity_id: entity.entity_type for entity in entities}
    bearers = [mention for mention in clause.mentions if kinds[mention.entity_id] in ("item", "character")]
    readings = [clause, *([_Clause(clause.text, bearers)] if len(bearers) < len(clause.mentions) else [])]
    for text, mentions in readings:
        name = _stated_name(text, mentions, kinds)
        if name is not None:
            return name
    signed_readings = [signed for reading in readings if (signed := _signed(reading, kinds)) is not None]
    for bare, ids in signed_readings:
        statement = _stated_with_signs(bare, ids, entities)
        if statement is not None:
            return None if statement.attribute in _LASTING and _UNREAL.search(clause.text) else statement
    if _UNREAL.search(clause.text):
        return None
    for bare, ids in signed_readings:
        for plain in _without_circumstances(bare):
            statement = _stated_with_signs(plain, ids, entities)
            if statement is not None:
                is_over = (
                    statement.attribute not in _LASTING and statement.value != NOBODY and _PAST.search(clause.text)
                )
                return None if is_over else statement
    return None


def _without_circumstances(bare: str) -> list[str]:
    """Return a signed clause without its circumstances, the shortest first."""
    starts = [sign.start() for sign in re.finditer(_BEARER_SIGN, bare)]
    first = starts[0] if starts else len(bare)
    heads = [end for end in range(first, 0, -1) if _BEFORE_BEARER.fullmatch(bare, 0, end)]
    plain_texts: dict[str, None] = {}
    for head in [*heads, 0]:
        tails = [start for start in range(max(head, first) + 1, len(bare)) if _AFTER_BEARER.fullmatch(bare, start)]
        for tail in [*tails, len(bare)]:
            text = bare[head:tail]
            plain_texts[text] = None
            for sign in re.finditer(_BEARER_SIGN, text):
                for end in range(len(text), sign.end(), -1):
                    if _AFTER_BEARER.fullmatch(text, sign.end(), end):
                        plain_texts[text[: sign.end()] + text[end:]] = None
    return list(plain_texts)


def _stated_with_signs(bare: str, ids: Sequence[str], entities: Sequence[Entity]) -> Statement | None:
    kinds = {entity.entity_id: entity.entity_type for entity in entities}
    if _is_told_dead(bare):
        return Statement(ids[0], "status", "已死" if has_cjk(bare) else "dead")
    killing = next((form for pattern in _KILLED if (form := pattern.fullmatch(bare))), None)
    if killing is not None:
        victim_id = ids[_signs_before(bare, killing.start("C"))]
        return Statement(victim_id, "status", "已死" if has_cjk(bare) else "dead")
    for held_or_placed, attribute, subject, value in (
        (_HELD, HOLDER_ATTRIBUTE, "I", "C"),
        (_PLACED, "location_id", "X", "L"),
    ):
        match = next((form for pattern in held_or_placed if (form := pattern.fullmatch(bare))), None)
        if match is not None:
            subject_id, value_id = (ids[_signs_before(bare, match.start(name))] for name in (subject, value))
            return Statement(subject_id, attribute, value_id)
    condition = next((form for pattern in _CONDITION if (form := pattern.fullmatch(bare))), None)
    if condition is not None:
        place_id = ids[_signs_before(bare, condition.start("L"))]
        return Statement(place_id, CONDITION_ATTRIBUTE, condition["value"])
    loss = next((form for pattern in _GONE if (form := pattern.fullmatch(bare))), None)
    if loss is not None:
        return Statement(ids[_signs_before(bare, loss.start("I"))], HOLDER_ATTRIBUTE, NOBODY)
    if [kinds[entity_id] for entity_id in ids] == ["character"]:
        thing_id = _called_id(_HELD_THING, bare, entities)
        if thing_id is not None:
            return Statement(thing_id, HOLDER_ATTRIBUTE, ids[0])
    thing_id = None if "item" in map(kinds.get, ids) else _called_id(_GONE_THING, bare, entities)
    return None if thing_id is None else Statement(thing_id, HOLDER_ATTRIBUTE, NOBODY)


def _without_relative(clause: _Clause, kinds: Mapping[str, EntityType]) -> _Clause:
    """Return a Chinese clause without a relative before its thing: 她母亲留下的."""
    text, mentions = clause
    things = [mention for mention in mentions if kinds[mention.entity_id] == "item"]
    if not things or things[0] is mentions[0]:
        return clause
    holder, thing = mentions[0], things[-1]
    match = _RELATIVE_CHINESE.fullmatch(text[holder.end : thing.start])
    if match is None:
        return clause
    start = holder.end + len(match["verb"])
    moved_thing = replace(thing, start=start, end=start + thing.end - thing.start)
    return _Clause(text[:start] + text[thing.start :], [holder, moved_thing])


def _without_owner(clause: _Clause, kinds: Mapping[str, EntityType]) -> _Clause:
    """Return a clause without the owner before its thing: 砚之的玉鱼, Nora's radio."""
    text, mentions = clause
    for owner, following in zip(mentions, [*mentions[1:], None], strict=False):
        match = _OWNING.match(text, owner.end)
        if match is None or kinds[owner.entity_id] != "character":
            continue
        is_of_thing = following and following.start == match.end() and kinds[following.entity_id] == "item"
        # A thing called by the last word of its name is no mention.
        if not is_of_thing and owner.start > 0:
            continue
        length = match.end() - owner.start
        others = [
            one if one.end <= owner.start else replace(one, start=one.start - length, end=one.end - length)
            for one in mentions
            if one is not owner
        ]
        return _Clause(text[: owner.start] + text[match.end() :], others)
    return clause


def _is_history(clause: _Clause, statement: Statement, kinds: Mapping[str, EntityType]) -> bool:
    """Tell whether a clause tells only how a holder came by a thing or lost it."""
    signed = _signed(clause, kinds) if statement.attribute == HOLDER_ATTRIBUTE else None
    if signed is None:
        return False
    bare, ids = signed
    ids_left = iter(ids)
    text = _ANY_SIGN.sub(lambda sign: _HOLDER_SIGN if next(ids_left) == statement.value else sign[0], bare)
    patterns = _HISTORY_OF_LOSS if statement.value == NOBODY else _HISTORY
    return any(pattern.fullmatch(text.strip(" ，,。.")) for pattern in patterns)


def _is_handled_by_another(clause: _Clause, statement: Statement, kinds: Mapping[str, EntityType]) -> bool:
    """Tell whether somebody else than its holder does anything with the thing in a clause."""
    if not any(kinds[one.entity_id] == "character" and one.entity_id != statement.value for one in clause.mentions):
        return False
    if any(mention.entity_id == statement.entity_id for mention in clause.mentions):
        return True
    return _HANDLED.search(_WITNESSED.sub("", clause.text)) is not None


def _signed(clause: _Clause, kinds: Mapping[str, EntityType]) -> tuple[str, list[str]] | None:
    """Return a clause with signs in place of its mentions, and their ids."""
    bare, ids, end = "", [], 0
    for mention in clause.mentions:
        sign = _SIGNS.get(kinds[mention.entity_id])
        if sign is None or mention.start < end:
            return None
        bare += clause.text[end : mention.start] + sign
        ids.append(mention.entity_id)
        end = mention.end
    return " ".join((bare + clause.text[end:]).split()), ids


def _found_id(clause: _Clause, entities: Sequence[Entity]) -> str | None:
    """Return the thing that a clause says is found or taken."""
    kinds = {entity.entity_id: entity.entity_type for entity in entities}
    signed = _signed(clause, kinds)
    if signed is None:
        return None
    bare, ids = signed
    texts = [bare] if _UNREAL.search(clause.text) else [bare, *_without_circumstances(bare)]
    for text in texts:
        match = next((form for pattern in _FOUND if (form := pattern.fullmatch(text))), None)
        if match is not None:
            return ids[_signs_before(text, match.start("I"))]
    return None if "item" in map(kinds.get, ids) else _called_id(_FOUND_THING, bare, entities)


def _of_thing(clause: _Clause, thing_id: str) -> _Clause:
    """Return a clause with a thing in place of its pronoun, or as its subject."""
    pronoun = next(
        (
            match
            for match in _IT.finditer(clause.text)
            if not any(one.start <= match.start() < one.end for one in clause.mentions)
        ),
        None,
    )
    return _with_mention(clause, thing_id, *(pronoun.span() if pronoun is not None else (0, 0)))


def _with_mention(clause: _Clause, entity_id: str, start: int, end: int) -> _Clause:
    """Return a clause with a mention in place of some of its characters, or before the first."""
    text, mentions = clause
    sign = "\x00" if has_cjk(text) or end > start else "\x00 "
    moved_mentions = [
        one
        if one.end <= start
        else replace(one, start=one.start + len(sign) - (end - start), end=one.end + len(sign) - (end - start))
        for one in mentions
    ]
    own = Mention(entity_id, "\x00", start, start + 1)
    return _Clause(text[:start] + sign + text[end:], sorted([*moved_mentions, own], key=lambda one: one.start))


_BEFORE_DEATH = re.compile(
    r"^(?:(?:has|had) been |(?:is|was|has|had|got) (?:now |already |long )*"
    rf"|已经|为了?[救护]{_OTHER}|是(?=[^，。]+[死杀害]的$))",
    re.IGNORECASE,
)
_DEATH_WITH_OTHERS = re.compile(
    f"(?:被|by |beside |near |saving |defending |protecting ){_OTHER}"
    f"|in {_OTHER}['’]s? (?:arms|house|bed|room|cell|barn|boat|ship)"
    f"|在{_OTHER}的?(?:怀[里中]|家里?|床上|身边|船上|房里)"
)
"""Others in a statement of a death: by whom, beside whom and where."""


def _is_told_dead(bare: str) -> bool:
    """Tell whether a clause says that its first person is dead."""
    if bare[:1] != _SIGNS["character"] or "?" in bare or re.search("[？吗]", bare):
        return False
    told_text = _BEFORE_DEATH.sub("", bare[1:].strip(" ，,"))
    told_text = _DEATH_WITH_OTHERS.sub(lambda match: match[0].replace(_SIGNS["character"], ""), told_text)
    return _SIGNS["character"] not in told_text and is_death("status", told_text)


def _signs_before(bare: str, end: int) -> int:
    """Count the mentions before a place of a text of signs."""
    return sum(character in _SIGNS.values() for character in bare[:end])


def _called_id(patterns: Sequence[re.Pattern[str]], bare: str, entities: Sequence[Entity]) -> str | None:
    """Return the one thing that a clause calls by the last word of its name."""
    for pattern in patterns:
        thing = match["I"] if (match := pattern.fullmatch(bare)) else ""
        called_ids = [one.entity_id for one in entities if one.entity_type == "item" and _is_called(one, thing)]
        if len(called_ids) == 1:
            return called_ids[0]
    return None


def _stated_name(text: str, mentions: Sequence[Mention], kinds: Mapping[str, EntityType]) -> Statement | None:
    """Return the name that a text states of whom it mentions first, be the name another card's or not."""
    if not mentions:
        return None
    first = mentions[0]
    bare = text[: first.start] + _SIGNS[kinds[first.entity_id]] + re.sub('[“”"「」《》]', "", text[first.end :])
    match = next((form for pattern in _NAMED if (form := pattern.fullmatch(bare.strip()))), None)
    return None if match is None else Statement(first.entity_id, NAME_ATTRIBUTE, match["N"])


def _is_called(thing: Entity, statement: str) -> bool:
    statement = re.sub("^[那这](?:把|个|枚|张|块)?|^the ", "", statement.strip(), flags=re.IGNORECASE)
    if not statement:
        return False
    if has_cjk(statement):
        return any(name.endswith(statement) for name in thing.names())
    return any(name.casefold().split()[-1] == statement.casefold() for name in thing.names())
