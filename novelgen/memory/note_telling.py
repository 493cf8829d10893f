"""Sentences that tell a note."""

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import combinations

from novelgen.language.language import CJK_RANGES, FUNCTION_WORDS, word_list, word_pattern, wording
from novelgen.language.sentences import Span, split_sentences
from novelgen.memory.attributes import FIGURATIVE_DEATH, is_death
from novelgen.memory.told_identity import tells_only_identity

_FRAMING = word_pattern("note_telling_framing")
"""Words of knowing."""

_CHINESE_FUNCTION = wording("note_telling_chinese_function")
_CHINESE_ALONE = frozenset(wording("note_telling_chinese_alone"))
"""Characters that tell nothing alone."""

_SMALL = frozenset(word_list("note_telling_small"))
_NUMBER_WORDS = frozenset(word_list("secrets_number_words"))
_CHINESE_NUMBER = re.compile("[一二三四五六七八九十百千万两]{2,}")
_CHINESE_RUN = re.compile(f"[{CJK_RANGES}]+")
_CHINESE_PART = re.compile(f"[{_CHINESE_FUNCTION}]+")
_WORD = re.compile(rf"[^\W_{CJK_RANGES}]+")
_WORD_OR_BREAK = re.compile(rf"['’]s\b|[^\W_{CJK_RANGES}]+|[^\s]")
_NAME = "\x00"

_DATE = word_pattern("note_telling_date")
"""Days, months and seasons: they place a deed and do not tell it."""

_IDENTITY_BEFORE = re.compile(
    rf"(?:{word_pattern('note_telling_identity').pattern})(?: (?:a|the|one))?$", re.IGNORECASE
)
"""Words of being somebody else, right before the second name."""

_IDENTITY_BETWEEN = re.compile("就是|正是|便是|即是|也就是")
"""Words that make two of one where nothing else stands between."""

LONGEST_APPOSITION = 60
"""Most characters from one name to the other: who the first is, and that they are the second."""

_SENTENCE = re.compile(r"[^;.!?；。！？…]+")
_CLAUSE = re.compile(r"[^,;:.!?—，；：。！？…]+")

_LONG_PHRASE = 4
"""Longer Chinese runs are cut in pairs.

山匪打灯报信 is three things.
"""

_HALF = 0.5
"""Weight of one character: 换 of 偷换."""

LEAST_NAMES_OR_PHRASES = 2
"""Least of both together."""

LEAST_TOLD = 1.5
LEAST_SHARE = 0.34
LEAST_TOLD_BY_TWO = 3.0
LEAST_SHARE_BY_TWO = 0.5
"""Least phrases that tell a note.

Of 26 notes of each language with 78 sentences that tell them and 104 beside them 71 and 78 are so found, and none and
one wrongly.
"""

LEAST_OF_CLAUSE = 2
LEAST_OF_CLAUSE_WITH_NAMES = 3
LEAST_AFTER_CLAUSE = 2
"""Least phrases of a clause that is told alone, least of one phrase with its names, and least that follow it.

Of 15 sentences that tell a note with further clauses 13 are missed without it, and of 25 beside them none is taken
for one with it.
"""

LEAST_WITHIN = 1.5
LEAST_SHARE_WITHIN = 0.7
"""Least words of a thread that a kept note says, and least share of them, for it to tell no more than the note."""

_DEAD = word_pattern("note_telling_dead")
_BURIAL = word_pattern("note_telling_burial")
"""What is there of the dead alone."""

_BEARER = word_pattern("note_telling_bearer")
"""Pronouns and kin."""

_NO_SUBJECT = word_pattern("note_telling_no_subject")
_COPULA = word_pattern("note_telling_copula")
_CLAUSE_END = re.compile(r"[,;:.!?—，；：。！？…“”\"\n]")


@dataclass(frozen=True)
class NoteTelling:
    """What a note tells."""

    phrases: tuple["_Phrase", ...]
    mentions: tuple[tuple[str, ...], ...]
    """Names of each in it."""
    dead: tuple[str, ...]
    """Names of its dead."""
    people: tuple[str, ...]
    """Names of all people."""
    clause: "NoteTelling | None" = None
    """Its first clause with enough phrases, where the note goes on after it."""
    identities: tuple[tuple[tuple[str, ...], tuple[str, ...]], ...] = ()
    """Names of two that a clause says to be one."""

    def sentences(self, text: str) -> list[Span]:
        """Return the sentences that tell it, its first clause or an identity of it."""
        spans = {*self._sentences(text), *self.sentences_of_identity(text)}
        return sorted(spans | {*self.clause.sentences(text)} if self.clause else spans, key=lambda span: span.start)

    def sentences_of_identity(self, text: str) -> list[Span]:
        """Return neighbouring sentences that have both names of an identity."""
        spans = split_sentences(text) if self.identities else []
        pieces = [text[span.start : span.end] for span in spans]
        numbers: set[int] = set()
        for both in self.identities:
            named = [[any(name in piece for name in names) for names in both] for piece in pieces]
            for number, names in enumerate(named):
                last = named[number + 1] if number + 1 < len(named) else [False, False]
                if all(names):
                    numbers.add(number)
                elif any(names) and any(last) and names != last and not all(last):
                    numbers |= {number, number + 1}
        return [span for number, span in enumerate(spans) if number in numbers]

    def nearness(self, text: str) -> float:
        """Return the weight of its phrases that a text has in one sentence, at most their number."""
        pieces = [text[span.start : span.end] for span in split_sentences(text)]
        return max((sum(self._matches(piece).values()) for piece in pieces), default=0.0)

    def _sentences(self, text: str) -> list[Span]:
        spans = split_sentences(text)
        pieces = [text[span.start : span.end] for span in spans]
        parts = [self._matches(piece) for piece in pieces]
        is_told = [
            self._is_enough(part, piece, LEAST_TOLD, LEAST_SHARE) or self._tells_death(piece)
            for part, piece in zip(parts, pieces, strict=True)
        ]
        for number in range(len(spans) - 1):
            both = {
                index: max(part.get(index, 0.0) for part in parts[number : number + 2])
                for index in parts[number].keys() | parts[number + 1].keys()
            }
            is_apart = all(part.keys() for part in parts[number : number + 2])
            if (not self.phrases or (is_apart and len(self.phrases) >= LEAST_TOLD_BY_TWO)) and self._is_enough(
                both, " ".join(pieces[number : number + 2]), LEAST_TOLD_BY_TWO, LEAST_SHARE_BY_TWO
            ):
                is_told[number] = is_told[number + 1] = True
        return [span for span, tells in zip(spans, is_told, strict=True) if tells]

    @property
    def is_told_alone(self) -> bool:
        """Whether it says enough to be told without the rest of its note."""
        names_enough = bool(self.phrases) and len(self.phrases) + len(self.mentions) >= LEAST_OF_CLAUSE_WITH_NAMES
        return len(self.phrases) >= LEAST_OF_CLAUSE or names_enough

    def is_within(self, text: str) -> bool:
        """Tell whether another text says nearly all of it, in any order."""
        if not all(any(name in text for name in own) for own in self.mentions):
            return False
        words = _words(text, self.people)
        own = [word for phrase in self.phrases for word in phrase.words]
        weight = sum(_weight_told(word, words) for word in own)
        names = len(self.mentions) if len(own) <= 1 else 0
        return weight >= LEAST_SHARE_WITHIN * sum(map(_weight, own)) and weight + names / 2 >= LEAST_WITHIN

    def _is_enough(self, matches: dict[int, float], piece: str, least: float, share: float) -> bool:
        if len(self.phrases) <= 1:
            # So little may be said of anybody, but not beside the names of all whom the note names.
            names_enough = len(self.mentions) + len(self.phrases) >= LEAST_NAMES_OR_PHRASES
            says_all = len(matches) == len(self.phrases) and all(share >= 1 for share in matches.values())
            return names_enough and says_all and all(any(name in piece for name in own) for own in self.mentions)
        weight = sum(matches.values())
        # One thing of a note and half of another tell a note of two.
        return weight >= max(least, share * len(self.phrases), min(2.0, 0.6 * len(self.phrases)))

    def _matches(self, piece: str) -> dict[int, float]:
        """Return a piece's share of each phrase."""
        words = _words(piece, self.people)
        shares = {index: phrase.share(words) for index, phrase in enumerate(self.phrases)}
        return {index: share for index, share in shares.items() if share}

    def _tells_death(self, sentence: str) -> bool:
        """Tell whether a sentence tells a death."""
        if not self.dead:
            return False
        others = [name for name in self.people if name not in self.dead]
        return any(_is_of_dead(sentence, match, self.dead, others) for match in _DEAD.finditer(sentence)) or any(
            not any(
                sentence[: match.start()].endswith((name, f"{name}的", f"{name}'s ", f"{name}’s ")) for name in others
            )
            for match in _BURIAL.finditer(sentence)
        )


@dataclass(frozen=True)
class _Phrase:
    """Neighbouring words, one of which is enough."""

    words: tuple[str, ...]

    def share(self, words: "_Words") -> float:
        return max(self._share_of(word, words) for word in self.words)

    @staticmethod
    def _share_of(word: str, words: "_Words") -> float:
        if not _CHINESE_RUN.match(word):
            return float(word in words.stems)
        if len(word) == 1:
            return float(word in words.characters)
        if any(word[at : at + 2] in words.pairs for at in range(len(word) - 1)):
            return 1.0
        return _HALF if words.characters.intersection(word) else 0.0


@dataclass(frozen=True)
class _Words:
    stems: frozenset[str]
    pairs: frozenset[str]
    characters: frozenset[str]


def _weight(word: str) -> float:
    """Return one for a word, and for two Chinese characters."""
    return max(1.0, len(word) / 2) if _CHINESE_RUN.match(word) else 1.0


def _weight_told(word: str, words: _Words) -> float:
    """Return how much of the weight of a word others tell."""
    if not _CHINESE_RUN.match(word):
        return float(word in words.stems)
    if len(word) == 1:
        return float(word in words.characters)
    pairs = {place for place in range(len(word) - 1) if word[place : place + 2] in words.pairs}
    told = {place for first in pairs for place in (first, first + 1)}
    alone = {place for place, character in enumerate(word) if character in words.characters} - told
    return _weight(word) * (len(told) + _HALF * len(alone)) / len(word)


def note_telling(note: str, people: Iterable[Sequence[str]], *, own_names: Sequence[str] = ()) -> NoteTelling:
    """Return what a note tells.

    Args:
        note: The note.
        people: The names of each character.
        own_names: The names of the one from whom it is kept.
    """
    characters = [tuple(name for name in names if name) for names in people]
    all_names = tuple(sorted({name for names in characters for name in names}, key=len, reverse=True))
    telling = _telling(note, characters, all_names, own_names)
    clauses = (_telling(clause, characters, all_names, own_names) for clause in _CLAUSE.findall(_DATE.sub(_NAME, note)))
    clause = next((clause for clause in clauses if clause.is_told_alone), None)
    goes_on = clause is not None and len(clause.phrases) + LEAST_AFTER_CLAUSE <= len(telling.phrases)
    return replace(telling, clause=clause if goes_on else None, identities=_identities(note, telling.mentions))


def _telling(
    note: str, characters: Iterable[tuple[str, ...]], all_names: tuple[str, ...], own_names: Sequence[str]
) -> NoteTelling:
    mentions = [names for names in characters if any(name in note for name in names) and not {*names} & {*own_names}]
    dead = [name for names in mentions if any(_dies(note, name) for name in names) for name in names]
    return NoteTelling(
        tuple(_phrases(_FRAMING.sub(_NAME, _without(note, all_names)))), tuple(mentions), tuple(dead), all_names
    )


def _identities(note: str, mentions: Sequence[tuple[str, ...]]) -> tuple[tuple[tuple[str, ...], tuple[str, ...]], ...]:
    """Return the names of each two that a clause says to be one: of one card it is told to all."""
    names_by_name = {name: names for names in mentions for name in names}
    if not names_by_name:
        return ()
    any_name = re.compile("|".join(map(re.escape, sorted(names_by_name, key=len, reverse=True))))
    pairs: dict[tuple[tuple[str, ...], tuple[str, ...]], None] = {}
    for sentence in _SENTENCE.findall(note):
        matches = list(any_name.finditer(sentence))
        for first, second in combinations(matches, 2):
            both = names_by_name[first.group()], names_by_name[second.group()]
            between = sentence[first.end() : second.start()].strip(" ,，")
            clause = sentence[: first.start()] + first.group() + " " + sentence[first.end() :]
            if both[0] != both[1] and (
                (len(between) <= LONGEST_APPOSITION and _IDENTITY_BEFORE.search(between))
                or _IDENTITY_BETWEEN.fullmatch(between)
                or any(tells_only_identity(part, both) for part in _CLAUSE.findall(clause))
            ):
                pairs[both] = None
    return tuple(pairs)


def _phrases(text: str) -> list[_Phrase]:
    rows = [(number.group(),) for number in _CHINESE_NUMBER.finditer(text)]
    for run in _CHINESE_RUN.findall(_CHINESE_NUMBER.sub(_NAME, text)):
        for part in filter(None, _CHINESE_PART.split(run)):
            words = [word for word in part.split("的") if word and word not in _CHINESE_ALONE]
            is_long = len(words) == 1 and len(part) > _LONG_PHRASE
            rows += [(part[at : at + 2],) for at in range(0, len(part) - 1, 2)] if is_long else [tuple(words)]
    words = []
    for match in _WORD_OR_BREAK.finditer(text):
        word = match.group()
        if word in ("'s", "’s"):
            continue
        if _is_number(word):
            rows += [tuple(words), (_stem(word),)]
        elif _WORD.fullmatch(word) and len(word) > 2 and word.casefold() not in FUNCTION_WORDS | _SMALL:
            words.append(_stem(word))
            continue
        else:
            rows.append(tuple(words))
        words = []
    rows.append(tuple(words))
    # No word counts twice.
    phrases: list[_Phrase] = []
    for row in rows:
        earlier_words = [word for phrase in phrases for word in phrase.words]
        own = tuple(word for word in row if not any(_is_said_by(word, other) for other in earlier_words))
        if own:
            phrases.append(_Phrase(own))
    return phrases


def _is_said_by(word: str, other: str) -> bool:
    return word == other or (word in other and _CHINESE_RUN.match(word) is not None)


@lru_cache(maxsize=20_000)
def _words_of(text: str) -> _Words:
    runs = _CHINESE_RUN.findall(text)
    return _Words(
        frozenset(_stem(word) for word in _WORD.findall(text)),
        frozenset(run[at : at + 2] for run in runs for at in range(len(run) - 1)),
        frozenset("".join(runs)),
    )


def _words(piece: str, names: Iterable[str]) -> _Words:
    return _words_of(_without(piece, names))


def _without(text: str, names: Iterable[str]) -> str:
    for name in names:
        text = text.replace(name, _NAME)
    return text


def _is_number(word: str) -> bool:
    return word.casefold() in _NUMBER_WORDS or (word.isdigit() and len(word) > 1)


def _stem(word: str) -> str:
    """Take off endings: `buried` is `bury`."""
    stem = word.casefold()
    for ending, rest in (
        ("ing", ""),
        ("ied", "i"),
        ("ies", "i"),
        ("en", ""),
        ("ed", ""),
        ("es", ""),
        ("s", ""),
        ("e", ""),
    ):
        if stem.endswith(ending) and len(stem) - len(ending) > 2:
            stem = stem.removesuffix(ending) + rest
            break
    if stem.endswith("y"):
        stem = stem[:-1] + "i"
    return stem[:-1] if len(stem) > 3 and stem[-1] == stem[-2] else stem


def _dies(note: str, name: str) -> bool:
    """Tell whether a note has a death."""
    for match in re.finditer(re.escape(name), note):
        clause = _CLAUSE_END.split(note[match.end() :].lstrip(" ，,"))[0]
        if is_death("status", _COPULA.sub("", clause, count=1).strip()):
            return True
    return False


def _is_of_dead(sentence: str, word: re.Match[str], dead: Sequence[str], people: Collection[str]) -> bool:
    """Tell whether a word of death is of the dead."""
    if FIGURATIVE_DEATH.search(sentence, max(0, word.start() - 2)):
        return False
    before = _CLAUSE_END.split(sentence[: word.start()])[-1]
    after = _CLAUSE_END.split(sentence[word.end() :])[0]
    if any(name in before + word.group() + after for name in dead):
        return True
    if any(name in before for name in people if name):
        return False
    return _BEARER.search(before + word.group()) is not None or not _NO_SUBJECT.sub("", before).strip()
