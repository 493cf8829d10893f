"""Words of a note that keep it from somebody."""

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache

from novelgen.language.language import has_cjk, phrases, word_pattern, wording
from novelgen.language.normalise import CHINESE_TITLES_AFTER, TITLES
from novelgen.memory.own_deeds import OTHER as _OTHER
from novelgen.memory.own_deeds import WHOM as _WHOM
from novelgen.memory.own_deeds import does_it, is_telling, tells_it, tells_own_state, whom_it_concerns

KIN = "\x04"
"""Sign of somebody by a relation to a person."""

_TITLE_BEFORE = rf"(?:(?:the|old|young|little|poor|{'|'.join(map(re.escape, sorted(TITLES)))})\.? )?"
_TITLE_AFTER = f"(?:{'|'.join(map(re.escape, CHINESE_TITLES_AFTER))})?"

_LIST = re.compile(
    f"(?:[{_WHOM}{_OTHER}](?:, [{_WHOM}{_OTHER}])+,?|[{_WHOM}{_OTHER}])"
    rf" (?:(?:or|nor) [{_WHOM}{_OTHER}]|and [{_WHOM}{_OTHER}](?! (?:does|has|is|was|knows)\b))"
    f"|[{_WHOM}{_OTHER}](?:(?:、|和|与|跟|及|以及|或|或者)[{_WHOM}{_OTHER}])+"
)
"""People in a row: what is said of all of them is said of each."""


_SIGN = {language: wording(f"kept_from_no_sign_{language}") for language in ("en", "zh")}
"""Words of perceiving or doing without a sign of it."""


def _patterns(name: str) -> list[re.Pattern[str]]:
    return [
        re.compile(
            text.replace("\n", "")
            .replace("<N>", _WHOM)
            .replace("<O>", _OTHER)
            .replace("<SIGN>", _SIGN["zh" if has_cjk(text) else "en"]),
            re.IGNORECASE,
        )
        for text in phrases(name)
    ]


_WORDS = word_pattern("kept_from_words")
"""Words of which a text has at least one that keeps anything from anybody."""

_UNTOLD = _patterns("kept_from_untold")
_KEPT = _patterns("kept_from_kept")
"""Words of keeping: a negation before them in their clause takes them back."""

_APART = _patterns("kept_from_apart")
_FELT = _patterns("kept_from_felt")
_LIED = _patterns("kept_from_lied")
_SEEN_THROUGH = word_pattern("kept_from_seen_through")
_CARED = word_pattern("kept_from_cared")
_NO_SIGN = _patterns("kept_from_no_sign")
_WATCHED = _patterns("kept_from_watched")
"""Words by which somebody is out of the way, loved in secret, lied to, or perceived without a sign or in secret."""

_UNAWARE = {language: re.compile(wording(f"kept_from_unaware_{language}"), re.IGNORECASE) for language in ("en", "zh")}
"""A clause of somebody unaware of the words before it."""

_DENIED = word_pattern("kept_from_denied")
_OVER = _patterns("kept_from_over")
"""Words that tell that somebody did not know by then, and does now."""

_TOLD = _patterns("kept_from_told")
_TOLD_UNSURE = word_pattern("kept_from_told_unsure")

_CLAUSE_START = re.compile("[,;.:，。；：！？]")
_SENTENCE_END = re.compile("[.;!?。；！？]")

_KIN_OF = re.compile(f"[{_WHOM}{_OTHER}]的(?:{wording('kept_from_kin_zh')})")
"""沈青的哥哥: he is not 沈青. In English `'s` parts them."""

_ROLES = re.compile(
    rf"\b(?:(?:his|her|their|my|our)|{_WHOM}['’]s) (?:(?:own|old|young|late|poor|elder|eldest|younger|little|whole) )*"
    rf"{wording('kept_from_kin_en')}\b|\b{wording('kept_from_groups_en')}\b"
    rf"|[他她我]们?的?(?:{wording('kept_from_kin_zh')})|{wording('kept_from_groups_zh')}|{KIN}",
    re.IGNORECASE,
)
"""People by a relation to somebody, and groups: "his wife", "the crew", 家里人."""

_ASKS = re.compile("[?？]")

_NAMED = re.compile(f"{_WHOM}(?!['’]s|的)")
_PRONOUN = re.compile(r"\b(?:he|she|they|him|her|them)\b|[他她]", re.IGNORECASE)


_KNOW = "(?:(?:now |still |has |have |had )?known?|(?:now |still )?(?:knows|knew))"

_TELLER = {"en": f"(?:he|she|they|[{_WHOM}{_OTHER}])", "zh": f"(?:[他她]们?|[{_WHOM}{_OTHER}])"}

_BEGIN, _END = "\x07", "\x08"
"""Signs around a list of knowers."""


_LEADING = re.compile(
    rf"((?:^|[.;!?] )(?:unknown|unbeknown(?:st)?|without|after|before|when|while|once|instead|because|behind|far)\b"
    rf"[^,;.:!?]{{0,40}}?[{_WHOM}{_OTHER}])(?=, [{_WHOM}{_OTHER}](?:, [{_WHOM}{_OTHER}])*,? and [{_WHOM}{_OTHER}] \w)",
    re.IGNORECASE,
)
"""A phrase before the people of a sentence, to its own last name."""


def _patterns_of_knowers(name: str) -> list[re.Pattern[str]]:
    results = []
    for text in phrases(name):
        language, joint, count = (
            ("zh", "[、和与跟及]", "(?:自己|本人|[一两二三四五]个?人|俩|仨)?")
            if has_cjk(text)
            else ("en", "(?:, |,? (?:and|or|nor) )", "")
        )
        person = wording(f"kept_from_listed_{language}")
        people = f"(?P<who>{person}(?:{joint}{person})*){count}"
        results.append(
            re.compile(
                text.replace("<K>", people)
                .replace("<TOLD>", "(?P<told>)")
                .replace("<S>", _TELLER[language])
                .replace("<TEND>", wording(f"kept_from_told_end_{language}"))
                .replace("<KNOW>", _KNOW)
                .replace("<IT>", wording(f"kept_from_it_{language}"))
                .replace("<CLAUSE>", wording("kept_from_clause_zh"))
                .replace("<NOUN>", wording("kept_from_asked_zh"))
                .replace("<END>", wording(f"kept_from_end_{language}")),
                re.IGNORECASE,
            )
        )
    return results


_KNOWERS_WORDS = word_pattern("kept_from_knowers_words")
"""Words of which a text has at least one that lists all who know it."""

_KNOWERS = _patterns_of_knowers("kept_from_knowers")
_NOBODY = _patterns_of_knowers("kept_from_nobody")
_UNSURE = word_pattern("kept_from_knowers_unsure")
_ASKED = re.compile(rf"\b(?:{wording('kept_from_knowers_asked')})\b", re.IGNORECASE)
_JOINTS = re.compile(wording("kept_from_joints"), re.IGNORECASE)
_MORE_JOINTS = re.compile(f"{_JOINTS.pattern}|{wording('kept_from_more_joints')}", re.IGNORECASE)
_PART_START = re.compile("[,;.:，。；：！？()（）—–]| - ")


def _patterns_around(name: str) -> list[re.Pattern[str]]:
    """Return patterns around a list of knowers."""
    texts = (text.replace("<B>", _BEGIN).replace("<E>", _END).replace("<N>", _WHOM) for text in phrases(name))
    return [re.compile(text, re.IGNORECASE) for text in texts]


_KNOWING_OVER = _patterns_around("kept_from_knowers_over")
_KNOWN_SINCE = _patterns_around("kept_from_knowers_since")


def is_kept_from(content: str, names: Sequence[str], names_of_others: Iterable[str]) -> bool:
    """Tell whether a text says of somebody that they do not know it or are not told."""
    signed = _signed_for(content, names, names_of_others) if _WORDS.search(content) else None
    return signed is not None and _keeps(signed)


def is_lied_to(content: str, names: Sequence[str], names_of_others: Iterable[str]) -> bool:
    """Tell whether a text tells a lie that somebody believes."""
    signed = _signed_for(content, names, names_of_others) if _WORDS.search(content) else None
    return signed is not None and _is_lied_to(signed)


def is_between_few(content: str, names_of_people: Iterable[str]) -> bool:
    """Tell whether a text tells a lie, or a perception without a sign."""
    if not _WORDS.search(content):
        return False
    signed = _signed(content, frozenset(name for name in names_of_people if name and name in content), frozenset())
    return _is_lied_to(signed) or any(pattern.search(signed) for pattern in _NO_SIGN)


def does_not_know_own(content: str, names: Sequence[str], names_of_others: Iterable[str]) -> bool:
    """Tell whether a text has somebody unaware of their own state or birth."""
    signed = _signed_for(content, names, names_of_others) if _WORDS.search(content) else None
    return signed is not None and _keeps(signed) and tells_own_state(signed)


def is_told(content: str, names: Sequence[str], names_of_others: Iterable[str]) -> bool:
    """Tell whether a text says that somebody learns it."""
    signed = _signed_for(content, names, names_of_others)
    if signed is None or _ASKS.search(signed):
        return False
    return any(
        _TOLD_UNSURE.search(_CLAUSE_START.split(signed[: match.start()])[-1]) is None
        for pattern in _TOLD
        for match in pattern.finditer(signed)
    )


def is_among_knowers(content: str, names: Sequence[str], names_of_others: Iterable[str]) -> bool | None:
    """Tell whether somebody is among all those who know a text by its own words.

    Who tells or does it by their own will is among them. Of "nobody knows it" those whom it names may know it. None:
    the words do not settle it.
    """
    if not _KNOWERS_WORDS.search(content):
        return None
    own_names = frozenset(name for name in names if name and name in content)
    other_names = frozenset(name for name in names_of_others if name and name in content) - own_names
    return _is_listed(_signed(content, own_names, other_names))


def lists_former_knowers(content: str, names_of_people: Iterable[str]) -> bool:
    """Tell whether a text's list of knowers is over or ends."""
    if not _KNOWERS_WORDS.search(content):
        return False
    signed = _signed(content, frozenset(), frozenset(name for name in names_of_people if name and name in content))
    lists = [match for match in _lists(signed) if _OTHER in (match.groupdict().get("who") or _OTHER)]
    return bool(lists) and all(map(_is_over, lists))


@lru_cache(maxsize=4096)
def _is_listed(signed: str) -> bool | None:
    """Tell whether a list has the person in question, None without a list."""
    for match in _lists(signed):
        people = match.groupdict().get("who")
        if people is not None and not (_WHOM in people or _OTHER in people):
            continue
        if _is_over(match):
            if people is not None and (
                _is_told_since(match) or (_WHOM in people and _is_told_since(match, anybody=True))
            ):
                return True
            continue
        if people is None:
            return None if _WHOM in signed else False
        if _WHOM in people:
            return True
        is_teller = is_telling(match) and tells_it(match)
        if is_teller or _is_told_since(match) or does_it(match):
            return True
        # "He" of "only he and Nell know it" is somebody of the text, and nobody whose things alone it names.
        is_perhaps_listed = _PRONOUN.search(people) and _NAMED.search(signed)
        return None if is_teller is None or is_perhaps_listed else False
    return None


def _lists(signed: str) -> list[re.Match[str]]:
    """Return the lists of knowers, those of nobody last."""
    lists = list(_sure_matches(_KNOWERS, signed))
    others = (
        match
        for match in _sure_matches(_NOBODY, signed)
        if not any(match.start() < earlier.end() and earlier.start() < match.end() for earlier in lists)
    )
    return [*lists, *others]


def _sure_matches(patterns: Iterable[re.Pattern[str]], signed: str) -> Iterator[re.Match[str]]:
    """Yield matches before which their clause has no words of doubt."""
    for pattern in patterns:
        for match in pattern.finditer(signed):
            clause = _PART_START.split(signed[: match.start()])[-1]
            is_asked = _ASKED.search(_MORE_JOINTS.split(clause)[-1]) is not None
            if not (is_asked or _UNSURE.search(_JOINTS.split(clause)[-1])):
                yield match


def _is_over(match: re.Match[str]) -> bool:
    """Tell whether others know by then, or will."""
    marked = _marked(match)
    return any(pattern.search(marked) for pattern in _KNOWING_OVER)


def _is_told_since(match: re.Match[str], *, anybody: bool = False) -> bool:
    """Tell whether the person in question, or anybody, learns it later."""
    marked = _marked(match).replace(_OTHER, _WHOM) if anybody else _marked(match)
    return any(pattern.search(marked) for pattern in _KNOWN_SINCE)


def _marked(match: re.Match[str]) -> str:
    start, end = match.span()
    return f"{match.string[:start]}{_BEGIN}{match[0]}{_END}{match.string[end:]}"


def openly_said(statement: str, names: Iterable[str]) -> str:
    """Return a statement, people as signs, without words that keep it from people, be it without a name."""
    signed = _signed(statement, frozenset(name for name in names if name and name in statement), frozenset())
    if not _WORDS.search(signed):
        return signed
    rest = _ROLES.sub(_WHOM, signed)
    for pattern in _UNTOLD:
        rest = pattern.sub("", rest)
    return _without_kept(_KEPT, rest)


def without_keeping(clause: str, names: Iterable[str], names_of_things: Iterable[str]) -> str | None:
    """Return a clause, people and things as signs, without its words that keep something from a person.

    None: it has no such words.
    """
    own_names = frozenset(name for name in names if name and name in clause)
    if not own_names or not _WORDS.search(clause):
        return None
    signed = _signed(clause, own_names, frozenset(name for name in names_of_things if name and name in clause))
    rest = signed
    for pattern in (*_UNTOLD, *_KEPT):
        rest = pattern.sub("", rest)
    return None if rest == signed else rest


def without_secrecy(text: str, names: Iterable[str]) -> str:
    """Return a text without its words of keeping, such as "behind Nell's back" and 瞒着顾晚."""
    own_names = frozenset(name for name in names if name and name in text)
    if not own_names or not _WORDS.search(text):
        return text
    text = _without_kept(_kept_patterns(own_names), text)
    return " ".join(text.split()) if text.isascii() else text


def without_knowers(text: str, names: Iterable[str]) -> str:
    """Return a text, people as signs, without its words of knowing and not knowing.

    A list of knowers that is over stays: it tells when others learnt it.

    Args:
        text: The text, in which `KIN` may stand for people.
        names: The names of other people.
    """
    rest = _signed(text, frozenset(name for name in names if name and name in text), frozenset())
    for match in sorted(_lists(rest), key=re.Match[str].start, reverse=True):
        if not _is_over(match):
            rest = rest[: match.start()] + rest[match.end() :]
    for pattern in _UNTOLD:
        rest = pattern.sub("", rest)
    return _without_kept(_KEPT, rest)


def _without_kept(patterns: Iterable[re.Pattern[str]], text: str) -> str:
    """Return a text without words of keeping that no negation takes back."""
    for pattern in patterns:
        text = pattern.sub(
            lambda match: match[0] if _DENIED.search(_CLAUSE_START.split(match.string[: match.start()])[-1]) else "",
            text,
        )
    return text


@lru_cache(maxsize=256)
def _kept_patterns(names: frozenset[str]) -> list[re.Pattern[str]]:
    """Return the patterns of keeping with names in place of the sign of a person."""
    longest_first = "|".join(re.escape(name) for name in sorted(names, key=len, reverse=True))
    whom = f"(?:{_TITLE_BEFORE}(?:{longest_first}){_TITLE_AFTER})"
    return [re.compile(pattern.pattern.replace(_WHOM, whom), re.IGNORECASE) for pattern in _KEPT]


@lru_cache(maxsize=4096)
def _keeps(signed: str) -> bool:
    """Tell whether a text with signs keeps itself from the person in question."""
    if any(pattern.search(signed) for pattern in _OVER):
        return False
    return (
        any(pattern.search(signed) for pattern in (*_UNTOLD, *_FELT, *_NO_SIGN, *_WATCHED))
        or _has_undenied(_KEPT, signed)
        or (_has_undenied(_APART, signed) and _CARED.search(signed) is None)
        or _is_lied_to(signed)
        or _is_unaware(signed)
    )


@lru_cache(maxsize=4096)
def _is_lied_to(signed: str) -> bool:
    return _has_undenied(_LIED, signed) and _SEEN_THROUGH.search(signed) is None


def _is_unaware(signed: str) -> bool:
    """Tell whether a pronoun has the person in question unaware."""
    unaware = _UNAWARE["zh" if has_cjk(signed) else "en"]
    for match in unaware.finditer(signed):
        before = signed[: match.start()]
        pronoun = next((one for one in match.groups() if one), "")
        # "Neither of them" is everybody of the sentence before.
        signs = _SENTENCE_END.split(before.rstrip(" ,;，；"))[-1] if match["all"] else whom_it_concerns(before, pronoun)
        if _WHOM in signs:
            return True
    return False


def _has_undenied(patterns: Iterable[re.Pattern[str]], signed: str) -> bool:
    return any(
        _DENIED.search(_CLAUSE_START.split(signed[: match.start()])[-1]) is None
        for pattern in patterns
        for match in pattern.finditer(signed)
    )


def _signed_for(content: str, names: Iterable[str], names_of_others: Iterable[str]) -> str | None:
    """Return a text with signs in place of names, None without one of the person in question."""
    own_names = frozenset(name for name in names if name and name in content)
    if not own_names:
        return None
    other_names = frozenset(name for name in names_of_others if name and name in content) - own_names
    return _signed(content, own_names, other_names)


@lru_cache(maxsize=4096)
def _signed(content: str, own_names: frozenset[str], other_names: frozenset[str]) -> str:
    """Return a text with signs in place of names, the longest first, and of people in a row."""
    names = sorted(own_names | other_names, key=len, reverse=True)
    forms = [
        f"({re.escape(name)}){_TITLE_AFTER}" if has_cjk(name) else rf"\b{_TITLE_BEFORE}({re.escape(name)})(?!\w)"
        for name in names
    ]

    def sign(match: re.Match[str]) -> str:
        return _WHOM if names[(match.lastindex or 1) - 1] in own_names else _OTHER

    def joined(match: re.Match[str]) -> str:
        return _WHOM if _WHOM in match[0] else _OTHER

    text = " ".join(content.split())
    signed = re.sub("|".join(forms), sign, text) if forms else text
    # In "Unknown to Ada, Tom and Ben left" those who left are no part of the phrase before.
    signed = _LEADING.sub(r"\1 ", signed)
    signed = _LIST.sub(joined, _KIN_OF.sub(KIN, signed)) if forms else text
    return re.sub(f"{_WHOM},? who ", f"{_WHOM} ", signed)
