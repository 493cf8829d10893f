"""Names in English prose, told by capitals in mid-sentence, titles, possessives and verbs of speech."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from novelgen.language.language import word_list
from novelgen.language.normalise import ARTICLES, FEMALE_TITLES, MALE_TITLES, TITLES, fold_width
from novelgen.language.sentences import ABBREVIATIONS
from novelgen.language.sightings import FoundName, NameSighting, ScenePlace, found_names

_RANKS = frozenset(word_list("english_names_ranks"))
_TITLES_OF_PEOPLE = MALE_TITLES | FEMALE_TITLES | _RANKS

_NEVER_NAMES = frozenset(word_list("english_names_never_names"))
"""Capitalised for other reasons than that they name somebody of this story; also in the forms of `i'm`."""

_FUNCTION_WORDS = frozenset(word_list("english_names_function_words"))
_SPEECH_VERBS = word_list("english_names_speech_verbs")
_ACTING_VERBS = word_list("english_names_acting_verbs")

_PLACE_PREPOSITIONS = dict.fromkeys("in at into through across outside inside".split(), 1.0) | dict.fromkeys(
    "to from near towards toward round around".split(), 0.4
)
"""What each says of a place; people are walked to and looked at, too."""

_PLACE_WORDS = frozenset(word_list("english_names_place_words"))
_FACTION_WORDS = frozenset(word_list("english_names_faction_words"))
_ITEM_WORDS = frozenset(word_list("english_names_item_words"))
_JOINING = "of|of the|de|de la|du|des|del|della|di|da|la|le|von|van|van der|von der|al|el|bin|ibn|ben"
_CAPITAL = r"[A-ZÀ-ÖØ-Þ](?:[^\W\d_]|['](?=[A-Za-z]))*\.?(?:-[^\W\d_]+)*"
_RUN = re.compile(rf"\b{_CAPITAL}(?:(?:[ \n]|\.[ ])(?:(?:{_JOINING}) )?{_CAPITAL})*")
_WORD = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)*")
_LOWER = re.compile(r"(?<![\w'])[a-zß-öø-ÿ][^\W\d_]*(?:'[^\W\d_]+)*")
_AFTER = re.compile(rf",? (?:(?P<says>{'|'.join(_SPEECH_VERBS)})|(?P<acts>{'|'.join(_ACTING_VERBS)}))\b")
_BEFORE = re.compile(r"([^\W\d_]+)\s+$")
_SAYS_BEFORE = re.compile(rf"\b(?:{'|'.join(_SPEECH_VERBS)})\s+(?:the |old |young |poor |little )*$")
_BEGINS_A_NAME = frozenset("mr mrs miss ms mme mlle madame mademoiselle monsieur".split())
_OPENS = "“‘\"'«([_*—–- \t\n"
_ENDS = ".!?…:"
_LONGEST_BEFORE = 24
_CALLED_BEFORE = re.compile(r"(?:[a-z],|\b[Mm]y dear|\b[Oo]ld|\b[Yy]oung|\b[Dd]ear)\s$")
_AFTER_CALLED = frozenset(",.!?;")
_KNOWN_FROM = 3
_INITIAL = re.compile(r"[A-Z]\.?")
_PRONOUN = re.compile(r"[^A-ZÀ-ÖØ-Þ]{0,90}?\b(?:(?P<he>he|him|his|himself)|(?P<she>she|her|hers|herself))\b")


@dataclass(slots=True)
class EnglishScene:
    """What one scene shows: runs of capitalised words, and how often words stand in small letters."""

    runs: list[EnglishRun] = field(default_factory=list)
    lower: Counter[str] = field(default_factory=Counter)


@dataclass(frozen=True, slots=True)
class EnglishRun:
    """Capitalised words in a row; `opens` when they begin a sentence, so that the first may be no name."""

    words: tuple[str, ...]
    opens: bool
    paragraph: int
    says: bool
    acts: bool
    owns: bool
    called: bool
    place: float
    article: bool
    pronoun: str = ""


@lru_cache(maxsize=4096)
def read_english(text: str) -> EnglishScene:
    """Return what one scene shows; the same text is read once."""
    folded = fold_width(text)
    scene = EnglishScene()
    for paragraph, line in enumerate(folded.split("\n\n")):
        scene.lower.update(_LOWER.findall(line))
        for match in _RUN.finditer(line):
            scene.runs += _runs(line, match, paragraph)
    return scene


def _runs(line: str, match: re.Match[str], paragraph: int) -> list[EnglishRun]:
    """The runs of a match: a full stop that ends a sentence parts it, one of a short title or an initial does not."""
    runs: list[EnglishRun] = []
    parts = _parted(match)
    for start, end in parts:
        before = line[max(0, start - _LONGEST_BEFORE) : start]
        stripped = before.rstrip(_OPENS)
        gap = before[len(stripped) :]
        opens = not stripped or stripped[-1] in _ENDS or any(mark in gap for mark in '“"«*\n')
        if stripped.endswith(".") and _ends_in_title(stripped):
            opens = False
        text = line[start:end].removesuffix(".")
        owns = text.endswith(("'s", "s'"))
        words = tuple(text.removesuffix("'s").removesuffix("'").split())
        said = _BEFORE.search(before)
        previous = said.group(1).casefold() if said else ""
        after = _AFTER.match(line, end)
        runs.append(
            EnglishRun(
                words,
                opens,
                paragraph=paragraph,
                says=bool(after and after["says"]) or _SAYS_BEFORE.search(before) is not None,
                acts=bool(after and after["acts"]),
                owns=owns,
                called=_CALLED_BEFORE.search(before) is not None and line[end : end + 1] in _AFTER_CALLED,
                place=_place_sign(before),
                article=previous in ARTICLES,
                pronoun=(pronoun.lastgroup or "") if (pronoun := _PRONOUN.match(line, end)) else "",
            )
        )
    return runs


def _place_sign(before: str) -> float:
    """What the words before say of a place: "in London", "across the Channel"."""
    words = before.casefold().split()[-2:]
    if words and words[-1] == "the":
        words = words[:-1]
    return _PLACE_PREPOSITIONS.get(words[-1], 0.0) if words else 0.0


def _ends_in_title(text: str) -> bool:
    last = text.split()[-1].rstrip(".").casefold() if text.split() else ""
    return last in ABBREVIATIONS or len(last) == 1


def _parted(match: re.Match[str]) -> list[tuple[int, int]]:
    text, start = match.group(), match.start()
    parts, begin = [], 0
    for stop in re.finditer(r"\.\s", text):
        word = text[begin : stop.start()].split()[-1:]
        if word and (word[0].casefold() in ABBREVIATIONS or _INITIAL.fullmatch(word[0])):
            continue
        parts.append((start + begin, start + stop.start()))
        begin = stop.end()
    parts.append((start + begin, match.end()))
    return [(left, right) for left, right in parts if left < right]


def settle_english(scenes: Sequence[tuple[ScenePlace, str]]) -> list[FoundName]:
    """Return the names of English scenes in any order, before any are taken together."""
    read = [(place, read_english(text)) for place, text in scenes]
    lower: Counter[str] = Counter()
    free: Counter[str] = Counter()
    for _, scene in read:
        lower.update(scene.lower)
        for run in scene.runs:
            free.update(run.words[1:] if run.opens else run.words)
    words = _WordUse(lower, free)
    sightings = (
        (place, sighting) for place, scene in read for run in scene.runs for sighting in _sightings(run, words)
    )
    found = [each for each in found_names(sightings) if _is_kept(each, words)]
    lasts = {each.name.split()[-1] for each in found}
    return [each for each in found if not _is_family(each, lasts)]


def _is_family(found: FoundName, lasts: set[str]) -> bool:
    """Tell whether a name is the plural of another: the Bennets, the Miss Bennets."""
    *titles, last = found.name.split()
    if titles and titles[0] in ("Misses", "Messrs", "Messrs."):
        return True
    return last.endswith("s") and last.removesuffix("s") in lasts and (not titles or _bare(titles[-1]) in TITLES)


@dataclass(frozen=True, slots=True)
class _WordUse:
    """How often a word stands in small letters, and capitalised where nothing but a name asks for it."""

    lower: Counter[str]
    free: Counter[str]

    def is_common(self, word: str) -> bool:
        """Tell whether a capital is no sign of a name: the word mostly stands in small letters."""
        folded = word.casefold()
        if folded in _FUNCTION_WORDS:
            return True
        return self.lower[folded] > self.free[word]

    def is_proper(self, word: str) -> bool:
        return self.free[word] > 0 and not self.is_common(word)


def _sightings(run: EnglishRun, words: _WordUse) -> Iterable[NameSighting]:
    kept = list(run.words)
    opens = run.opens
    while kept and (_bare(kept[0]) in _FUNCTION_WORDS or (opens and _is_stray(kept, words))):
        kept, opens = kept[1:], False
    while kept and _bare(kept[-1]) in _FUNCTION_WORDS:
        kept = kept[:-1]
    for part in _split_by_never(kept):
        name = _clean(part)
        if name:
            is_last = part[-1] == run.words[-1]
            titled = len(part) > 1 and _bare(part[0]) in _TITLES_OF_PEOPLE
            last = _bare(part[-1])
            yield NameSighting(
                name,
                says=run.says,
                person=titled + (run.acts and is_last and not run.article) * 0.4 + run.owns * 0.3 + run.called * 0.4,
                place=2.0 * (last in _PLACE_WORDS and len(part) > 1) + run.place,
                faction=2.0 * (last in _FACTION_WORDS and len(part) > 1 and last not in _PLACE_WORDS),
                item=2.0 * (last in _ITEM_WORDS and len(part) > 1),
                term=0.5 * run.article,
                free=not run.opens,
                he=run.pronoun == "he" and is_last,
                she=run.pronoun == "she" and is_last,
                paragraph=run.paragraph,
            )


def _bare(word: str) -> str:
    return word.rstrip(".").casefold()


def _is_stray(kept: list[str], words: _WordUse) -> bool:
    """The first word of a sentence that is no name: it mostly stands in small letters, and is no title.

    A rare word in front of somebody known is none either, where no other sentence holds it: "Hitherto Anna".
    """
    if _bare(kept[0]) in _TITLES_OF_PEOPLE:
        return False
    is_rare = len(kept) > 1 and not words.free[kept[0]] and words.free[kept[1]] >= _KNOWN_FROM
    return is_rare or words.is_common(kept[0])


def _split_by_never(kept: list[str]) -> Iterable[list[str]]:
    part: list[str] = []
    for word in kept:
        bare = _bare(word)
        if bare in _BEGINS_A_NAME and any(_bare(each) not in TITLES for each in part):
            yield part
            part = []
        if (word.isupper() and len(bare) > 1) or bare in {"i", "i'm", "i'll"}:
            if part:
                yield part
            part = []
        else:
            part = [*part, word]
    if part:
        yield part


def _clean(part: list[str]) -> str:
    while part and part[-1] in _JOINING.split("|"):
        part = part[:-1]
    bare = [_bare(word) for word in part]
    proper = [word for word in bare if word not in TITLES and word not in ARTICLES and len(word) > 1]
    if not part or not proper or (len(part) == 1 and bare[0] in _NEVER_NAMES):
        return "" if not _is_title_name(part) else part[0].rstrip(".")
    name = " ".join(part)
    return name if _INITIAL.fullmatch(part[-1]) else name.rstrip(".")


def _is_title_name(part: list[str]) -> bool:
    """One title in full by itself: "the Captain" may be all the name that somebody has."""
    word = _bare(part[0]) if len(part) == 1 else ""
    return word in _TITLES_OF_PEOPLE and len(word) > 4 and word not in _NEVER_NAMES


def _is_kept(found: FoundName, words: _WordUse) -> bool:
    parts = found.name.split()
    proper = [word for word in parts if _bare(word) not in TITLES and _bare(word) not in ARTICLES]
    if not proper:
        return words.free[found.name] > words.lower[found.name.casefold()]
    return len(parts) > 1 or not (words.is_common(parts[0]) or not found.free or len(parts[0]) < 3)
