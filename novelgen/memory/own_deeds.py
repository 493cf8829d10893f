"""Tellers and doers of the matter of a list of knowers, in texts with signs of people."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from novelgen.language.language import has_cjk, patterns

WHOM, OTHER = "\x02", "\x03"
"""Signs of the person in question, and of anybody and anything else."""

_NAME = f"[{WHOM}{OTHER}]"

_ANYBODY = re.compile("[\x02-\x04]")
"""A person by name, or by a relation to one."""

_SENTENCE_END = re.compile(r"[.!?](?=\s|$|[”\"])|[;。！？；]")
_CLAUSE_END = re.compile(r"[,:，：—–()（）]| - |,? \b(?:and|but)\b ?")
_STATES_MORE = re.compile(r"[^\s,;.!?)(—–，。；！？、）（]| - ")
"""After a list of knowers: what they know follows."""

_REASON = re.compile(r"[，,]? ?(?:because|since|因为)\s?")


def _pattern(name: str, language: str) -> re.Pattern[str]:
    text = patterns(f"own_deeds_{name}")[language]
    for sign, table in (
        ("<happened>", "knowledge_rules_happened"),
        ("<act>", "deeds_act"),
        ("<lasting>", "deeds_lasting"),
        ("<doing>", "own_deeds_doing"),
        ("<befalls>", "own_deeds_befalls"),
    ):
        text = text.replace(sign, f"(?:{patterns(table)[language]})")
    return re.compile(text.replace("\n", "").replace("<C>", _NAME).replace("<N>", f"(?P<name>{_NAME})"), re.IGNORECASE)


class _Words(NamedTuple):
    """The patterns of a language."""

    subject: re.Pattern[str]
    """The beginning of a clause, to the name of its subject."""
    does: re.Pattern[str]
    """Words of doing, owing, saying, intending or feeling, after a subject."""
    goes_on: re.Pattern[str]
    """A clause without a subject, with a deed of the subject before."""
    by: re.Pattern[str]
    """The doer in a clause with another subject."""
    befallen: re.Pattern[str]
    """Words of things that befall a subject unawares."""
    unaware: re.Pattern[str]
    """Words by which nobody need know what they do or are."""
    says: re.Pattern[str]
    """A saying: what follows is told by its subject."""
    stranger: re.Pattern[str]
    """The end of a clause with a subject without a known name."""
    state: re.Pattern[str]
    """The state of a subject that cannot but know it."""
    being: re.Pattern[str]
    """The being of a subject, such as a birth."""
    kin: re.Pattern[str]
    """Somebody by a relation to one person, and by the name of another."""
    knowing: re.Pattern[str]
    """A knower of the words that follow."""


_LANGUAGES = {language: _Words(*(_pattern(name, language) for name in _Words._fields)) for language in ("en", "zh")}


def does_it(listing: re.Match[str]) -> bool:
    """Tell whether the person in question does the deed of a list."""
    text = listing.string
    words = _words_of(text)
    clause = listing.groupdict().get("clause")
    if clause is not None:
        return _does(clause, words)
    after = text[listing.end() :]
    if listing[0].endswith(" that ") or _STATES_MORE.match(after):
        # What somebody told another may be a deed of anybody.
        return not is_telling(listing) and _does(_first_sentence(after.lstrip(":： -")), words)
    reason = _REASON.match(after)
    if reason is not None and _is_said_by(_first_sentence(after[reason.end() :]), words):
        return True
    return any(_does(sentence, words) for sentence in _nearest(text[: listing.start()]))


def is_telling(listing: re.Match[str]) -> bool:
    """Tell whether a list has the only people told."""
    return listing.groupdict().get("told") is not None


def tells_it(listing: re.Match[str]) -> bool | None:
    """Tell whether the person in question told it to the listed people.

    None: the words do not say who did.
    """
    text, words = listing.string, _words_of(listing.string)
    start, end = listing.span("who")
    inside = re.search(_NAME, text[listing.start() : start] + text[end : listing.end()])
    if inside is not None:
        return inside[0] == WHOM
    before = text[: listing.start()]
    if words.stranger.search(_CLAUSE_END.split(_SENTENCE_END.split(before)[-1])[-1]):
        return False
    for sentence in reversed(_sentences(before)):
        subjects = [clause.person for clause in _clauses(sentence, words) if clause.person]
        if subjects:
            return subjects[-1] == WHOM
    return None if WHOM in before else False


class _Clause(NamedTuple):
    text: str
    person: str
    """The sign of its subject, or of who does it; empty without one."""
    rest: str
    """What follows the subject."""
    is_deed: bool


def _does(sentence: str, words: _Words) -> bool:
    clauses = list(_clauses(sentence, words))
    if any(words.unaware.search(clause.text) for clause in clauses):
        return False
    if any(clause.person == WHOM and words.befallen.match(clause.rest) for clause in clauses):
        return False
    return any(
        clause.person == WHOM and (clause.is_deed or words.state.match(clause.rest) is not None) for clause in clauses
    )


def tells_own_state(text: str) -> bool:
    """Tell whether a text first states the being of the person in question."""
    words = _words_of(text)
    sentence = words.knowing.sub("", text)
    kin = words.kin.search(sentence)
    if kin is not None:
        return kin["name"] == WHOM
    subject = _subject_of(sentence, words)
    return subject is not None and subject.person == WHOM and words.being.match(subject.rest) is not None


def whom_it_concerns(text: str, pronoun: str) -> str:
    """Return the signs of people that may not know a text.

    It is about them, or done to them: whoever does it knows it, and a mother knows her child.

    Args:
        text: The text before words that have them unaware.
        pronoun: The pronoun by which those words name them.
    """
    words = _words_of(text)
    sentences = [sentence for sentence in _sentences(text) if _ANYBODY.search(sentence)]
    if not sentences:
        return ""
    sentence = words.knowing.sub("", sentences[-1])
    kin = words.kin.search(sentence)
    if kin is not None:
        is_of_father = kin["male"] is not None and _PRONOUNS.get(pronoun.lower()) is True
        return kin["name"] + (kin["other"] if is_of_father else "")
    subject = _subject_of(sentence, words)
    if subject is None:
        people = re.findall(_NAME, sentence)
        return people[0] if len(set(people)) == 1 else ""
    if not subject.is_deed:
        return subject.person
    # Without a pronoun it is the one who does it.
    return next(iter(re.findall(_NAME, subject.rest)), "") if pronoun else ""


_PRONOUNS = {"he": True, "him": True, "his": True, "他": True, "she": False, "her": False, "她": False}
"""Whether a pronoun is of a man."""


def _subject_of(sentence: str, words: _Words) -> _Clause | None:
    sentence = words.knowing.sub("", sentence)
    return next((clause for clause in _clauses(sentence, words) if clause.person), None)


def _is_said_by(sentence: str, words: _Words) -> bool:
    first = next(_clauses(sentence, words), None)
    return first is not None and first.person == WHOM and words.says.match(first.rest) is not None


def _clauses(sentence: str, words: _Words) -> Iterator[_Clause]:
    """Yield the clauses of a sentence, to the first saying."""
    last = ""
    for text in _CLAUSE_END.split(sentence):
        subject = words.subject.match(text)
        agent = words.by.search(text) if subject is None else None
        if subject is not None:
            last = subject["name"]
            rest = text[subject.end() :]
            says = words.says.match(rest)
            if says is not None:
                yield _Clause(text[: subject.end()] + says[0], last, says[0], is_deed=True)
                return
            passive = words.by.search(rest)
            yield _Clause(text, last, rest, is_deed=words.does.match(rest) is not None)
            if passive is not None:
                yield _Clause(text, next(filter(None, passive.groups())), "", is_deed=True)
        elif agent is not None:
            last = next(filter(None, agent.groups()))
            yield _Clause(text, last, "", is_deed=True)
        elif text.strip():
            yield _Clause(text, last, text, is_deed=words.goes_on.match(text) is not None)


def _nearest(before: str) -> list[str]:
    """Return the nearest sentence with a person before a list."""
    return next(([sentence] for sentence in reversed(_sentences(before)) if _ANYBODY.search(sentence)), [])


def _sentences(text: str) -> list[str]:
    return [sentence for sentence in _SENTENCE_END.split(text) if sentence.strip()]


def _first_sentence(text: str) -> str:
    return _SENTENCE_END.split(text)[0]


def _words_of(text: str) -> _Words:
    return _LANGUAGES["zh" if has_cjk(text) else "en"]
