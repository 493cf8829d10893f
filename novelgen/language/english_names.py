"""English names from capitals, titles, possessives and speech, with variants."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from novelgen.language.language import word_list
from novelgen.language.normalise import ARTICLES, FEMALE_TITLES, MALE_TITLES, OTHER_TITLES, TITLES, fold_width, name_key
from novelgen.language.sentences import ABBREVIATIONS
from novelgen.language.sightings import (
    CLEARLY_MORE,
    FoundName,
    NameSighting,
    ScenePlace,
    clearly_most,
    found_names,
    likely_kind,
)

_RANKS = frozenset(word_list("english_names_ranks"))
_TITLES_OF_PEOPLE = MALE_TITLES | FEMALE_TITLES | _RANKS

_CALENDAR = frozenset(word_list("english_names_calendar"))
_ORDINALS = frozenset(word_list("numerals_small_ordinals"))
_NEVER_NAMES = frozenset(word_list("english_names_never_names")) | _CALENDAR
"""Capitalised for other reasons than that they name somebody of this story; also in the forms of `i'm`."""

FUNCTION_WORDS = frozenset(word_list("english_names_function_words"))
_SPEECH_VERBS = word_list("english_names_speech_verbs")
_ACTING_VERBS = word_list("english_names_acting_verbs")

_PLACE_PREPOSITIONS = dict.fromkeys("in at into through across outside inside".split(), 1.0) | dict.fromkeys(
    "to from near towards toward round around".split(), 0.4
)
"""What each says of a place; people are walked to and looked at, too."""

_PLACE_WORDS = frozenset(word_list("english_names_place_words"))
_FACTION_WORDS = frozenset(word_list("english_names_faction_words"))
_ITEM_WORDS = frozenset(word_list("english_names_item_words"))
_OFFICES = frozenset(word_list("english_names_offices"))
"""What somebody is, where it stands behind a name: "H. Quayle, Chair"."""

_NEVER_ENDINGS = tuple(word_list("english_names_never_endings"))
_MIN_OF_ENDING = 7
"""Letters of a word from which on its ending says that it names nobody."""

_WORDS_OF_THINGS = _PLACE_WORDS | _FACTION_WORDS | _ITEM_WORDS
_SAINTS = frozenset(("st", "saint"))
_JOINING = "of|of the|de|de la|du|des|del|della|di|da|la|le|von|van|van der|von der|al|el|bin|ibn|ben"
_JOINING_WORDS = frozenset(_JOINING.replace("|", " ").split())
_CAPITAL = r"[A-ZÀ-ÖØ-Þ](?:[^\W\d_]|['](?=[A-Za-z]))*\.?(?:-[^\W\d_]+)*"
_LONGEST_RUN = 60
"""Words that are taken together at most: of more in capitals none is the name of anybody."""
_RUN = re.compile(rf"\b{_CAPITAL}(?:(?:[ \n]|\.[ ])(?:(?:{_JOINING}) )?{_CAPITAL}){{0,{_LONGEST_RUN - 1}}}")
_WORD = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)*")
_LOWER = re.compile(r"(?<![\w'])[a-zß-öø-ÿ][^\W\d_]*(?:'[^\W\d_]+)*")
_AFTER = re.compile(rf",? (?:(?P<says>{'|'.join(_SPEECH_VERBS)})|(?P<acts>{'|'.join(_ACTING_VERBS)}))\b")
_BEFORE = re.compile(r"([^\W\d_]+)\s+$")
_SAYS_BEFORE = re.compile(rf"\b(?:{'|'.join(_SPEECH_VERBS)})\s+(?:the |old |young |poor |little )*$")
_BEGINS_A_NAME = frozenset("mr mrs miss ms mme mlle madame mademoiselle monsieur".split())
_OPENS = "“‘\"'«([_*—–- \t\n"
_ENDS = ".!?…:"
_CLOSED = re.compile(r'" ')
"""A straight mark that closes a speech: "Shut the door," Augustin said."""

_LOOKS = re.compile(
    r"\b(?:look|glanc|star|gaz|smil|nod|wav|shout|laugh|frown|point|grinn?)(?:e?d|ing|e?s|ded)? (?:at|to|towards?) $"
)
"""Somebody is looked at or waved to; it says of no place."""

_LONGEST_BEFORE = 24
_CALLED_BEFORE = re.compile(
    r"(?:(?:\b[a-z]|[“\"‘'`.!?—]\s?[A-Z])[^\W\d_’']*(?:[’'][a-z]+)?,|\b[Mm]y dear|\b[Oo]ld|\b[Yy]oung|\b[Dd]ear)\s$"
)
"""Who is called, not who follows another name in a list: "Come, Ada", but "H. Quayle, Chair"."""

_LISTED_BEFORE = re.compile(rf"{_CAPITAL},\s$")
_CONTRACTED = re.compile("'(?:ll|d|ve|re)$")
_AFTER_CALLED = frozenset(",.!?;")
_KNOWN_FROM = 3
_OFTEN_OPENED = 2
"""So many sentences that begin with two words alike begin with a name."""

_INITIAL = re.compile(r"[A-Z]\.?")
_PRONOUN = re.compile(r"[^A-ZÀ-ÖØ-Þ]{0,90}?\b(?:(?P<he>he|him|his|himself)|(?P<she>she|her|hers|herself))\b")


@dataclass(slots=True)
class EnglishScene:
    """The signs of one scene: capitalised runs and lower-case word counts."""

    runs: list[EnglishRun] = field(default_factory=list)
    lower: Counter[str] = field(default_factory=Counter)


@dataclass(frozen=True, slots=True)
class EnglishRun:
    """A run of capitalised words.

    `opens` marks the start of a sentence.
    """

    words: tuple[str, ...]
    opens: bool
    paragraph: int
    says: bool
    acts: bool
    owns: bool
    called: bool
    place: float
    article: bool
    listed: bool
    pronoun: str = ""


@lru_cache(maxsize=4096)
def read_english(text: str) -> EnglishScene:
    """Return the signs of one scene, cached by text."""
    folded_text = fold_width(text)
    scene = EnglishScene()
    for paragraph, line in enumerate(folded_text.split("\n\n")):
        scene.lower.update(_LOWER.findall(line))
        for match in _RUN.finditer(line):
            scene.runs += _runs(line, match, paragraph)
    return scene


def _runs(line: str, match: re.Match[str], paragraph: int) -> list[EnglishRun]:
    """The runs of a match, split at sentence ends but not at abbreviations."""
    runs: list[EnglishRun] = []
    parts = _parted(match)
    for start, end in parts:
        before = line[max(0, start - _LONGEST_BEFORE) : start]
        stripped = before.rstrip(_OPENS)
        gap = before[len(stripped) :]
        opens = not stripped or stripped[-1] in _ENDS or any(mark in _CLOSED.sub(" ", gap) for mark in '“"«*\n')
        if stripped.endswith(".") and _ends_in_title(stripped):
            opens = False
        text = line[start:end].removesuffix(".")
        owns = text.endswith(("'s", "s'"))
        words = tuple(_CONTRACTED.sub("", text).removesuffix("'s").removesuffix("'").split())
        stated_match = _BEFORE.search(before)
        previous = stated_match.group(1).casefold() if stated_match else ""
        after = _AFTER.match(line, end)
        runs.append(
            EnglishRun(
                words,
                opens,
                paragraph=paragraph,
                says=bool(after and after["says"]) or _SAYS_BEFORE.search(before) is not None,
                acts=bool(after and after["acts"]) or _CONTRACTED.search(text) is not None,
                owns=owns,
                called=_CALLED_BEFORE.search(before) is not None and line[end : end + 1] in _AFTER_CALLED,
                place=_place_sign(before),
                article=previous in ARTICLES,
                listed=_LISTED_BEFORE.search(before) is not None,
                pronoun=(pronoun.lastgroup or "") if (pronoun := _PRONOUN.match(line, end)) else "",
            )
        )
    return runs


def _place_sign(before: str) -> float:
    """The place sign before a name: "in London", "across the Channel"."""
    if _LOOKS.search(before):
        return 0.0
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
    return [(remaining_count, right) for remaining_count, right in parts if remaining_count < right]


def settle_english(scenes: Sequence[tuple[ScenePlace, str]]) -> list[FoundName]:
    """Return the names of English scenes in any order, before any are taken together."""
    readings = [(place, read_english(text)) for place, text in scenes]
    lower: Counter[str] = Counter()
    free: Counter[str] = Counter()
    opening_pairs: Counter[tuple[str, str]] = Counter()
    for _, scene in readings:
        lower.update(scene.lower)
        for run in scene.runs:
            free.update(run.words[1:] if run.opens else run.words)
            opening_pairs.update([(run.words[0], run.words[1])] if run.opens and len(run.words) > 1 else [])
    words = _WordUse(lower, free, opening_pairs)
    sightings = (
        (place, sighting) for place, scene in readings for run in scene.runs for sighting in _sightings(run, words)
    )
    name_matches = [name_match for name_match in found_names(sightings) if _is_kept(name_match, words)]
    lasts = {name_match.name.split()[-1] for name_match in name_matches}
    return [name_match for name_match in name_matches if not _is_family(name_match, lasts)]


def _is_family(name_match: FoundName, lasts: set[str]) -> bool:
    """Tell whether a name is the plural of another: the Bennets, the Miss Bennets."""
    *titles, last = name_match.name.split()
    if titles and titles[0] in ("Misses", "Messrs", "Messrs."):
        return True
    return last.endswith("s") and last.removesuffix("s") in lasts and (not titles or _bare(titles[-1]) in TITLES)


@dataclass(frozen=True, slots=True)
class _WordUse:
    """How often a word stands in small letters, and capitalised where nothing but a name asks for it."""

    lower: Counter[str]
    free: Counter[str]
    opening_pairs: Counter[tuple[str, str]]
    """Two words in capitals at the head of a sentence."""

    def is_common(self, word: str) -> bool:
        """Tell whether a capital is no sign of a name: the word mostly stands in small letters."""
        folded_text = word.casefold()
        if folded_text in FUNCTION_WORDS:
            return True
        return self.lower[folded_text] > self.free[word]

    def is_proper(self, word: str) -> bool:
        return self.free[word] > 0 and not self.is_common(word)


def _sightings(run: EnglishRun, words: _WordUse) -> Iterable[NameSighting]:
    kept_names = list(run.words)
    opens = run.opens
    while (
        kept_names
        and not _is_given_before_name(kept_names, words, opens=opens)
        and (_bare(kept_names[0]) in FUNCTION_WORDS or (opens and _is_stray(kept_names, words)))
    ):
        kept_names, opens = kept_names[1:], False
    if _is_day_before_name(kept_names, words):
        kept_names, opens = kept_names[1:], False
    while kept_names and _bare(kept_names[-1]) in FUNCTION_WORDS:
        kept_names = kept_names[:-1]
    for part in _split_by_never(kept_names):
        name = _clean(part)
        if name and not (run.listed and len(part) == 1 and _bare(part[0]) in _OFFICES):
            is_last = part[-1] == run.words[-1]
            is_compound = len(part) > 1
            last = _bare(part[-1])
            # At St Brannoc's, the St Christopher: a house or a thing has the name of a saint.
            is_saint = is_compound and _bare(part[0]) in _SAINTS
            is_saints = is_saint and (run.article or (run.owns and run.place > 0))
            titled = is_compound and _bare(part[0]) in _TITLES_OF_PEOPLE and not is_saints
            # She was married to Bert Tully: a given name and a surname are no place.
            in_full = is_compound and _bare(part[0]) in _GIVEN_NAMES and last not in _WORDS_OF_THINGS
            person = (
                titled
                + (run.acts and is_last and not run.article) * 0.4
                + run.called * 0.4
                + in_full * (run.place > 0) * 0.5
            )
            person += run.owns * (not is_saints) * 0.3
            yield NameSighting(
                name,
                {
                    "character": person + 2.0 * run.says,
                    "location": 2.0 * (last in _PLACE_WORDS and is_compound) + run.place + is_saints * run.owns,
                    "faction": 2.0 * (last in _FACTION_WORDS and is_compound and last not in _PLACE_WORDS),
                    "item": 2.0 * (last in _ITEM_WORDS and is_compound),
                    "term": 0.5 * run.article,
                },
                says=run.says,
                # "When Maggie came": the capital of a given name is its own, though a sentence begins there.
                free=not run.opens or (not opens and _bare(part[0]) in _GIVEN_NAMES),
                he=run.pronoun == "he" and is_last,
                she=run.pronoun == "she" and is_last,
                paragraph=run.paragraph,
            )


def _is_given_before_name(kept_names: Sequence[str], words: _WordUse, *, opens: bool) -> bool:
    """Tell whether a word that is a given name, too, stands before a surname: Will Pascoe, not "Will Pascoe come?".

    Where it begins a sentence, another one must hold it with a capital.
    """
    first = _bare(kept_names[0])
    is_given = first in FUNCTION_WORDS and first in _GIVEN_NAMES
    is_before_name = (
        len(kept_names) > 1 and _bare(kept_names[1]) not in FUNCTION_WORDS and words.is_proper(kept_names[1])
    )
    return is_given and is_before_name and (not opens or words.free[kept_names[0]] > 0)


def _is_day_before_name(kept_names: Sequence[str], words: _WordUse) -> bool:
    """Tell whether a day stands before a name: "On the Wednesday Sergeant Beck came"."""
    if len(kept_names) < 2 or _bare(kept_names[0]) not in _CALENDAR or not kept_names[0].endswith("day"):
        return False
    following, last = _bare(kept_names[1]), _bare(kept_names[-1])
    is_name = following in _TITLES_OF_PEOPLE | _GIVEN_NAMES or words.is_proper(kept_names[1])
    return is_name and following not in _CALENDAR and last not in _WORDS_OF_THINGS


def _bare(word: str) -> str:
    return word.rstrip(".").casefold()


def _is_stray(kept_words: list[str], words: _WordUse) -> bool:
    """The first word of a sentence that is no name: it mostly stands in small letters, and is no title.

    A rare word in front of somebody known is none either, where no other sentence holds it: "Hitherto Anna".
    """
    if _bare(kept_words[0]) in _TITLES_OF_PEOPLE:
        return False
    is_rare = (
        len(kept_words) > 1
        and not words.free[kept_words[0]]
        and words.free[kept_words[1]] >= _KNOWN_FROM
        # Ivy Tully is somebody, though her name stands at the head of sentences alone.
        and _bare(kept_words[0]) not in _GIVEN_NAMES
        and words.opening_pairs[kept_words[0], kept_words[1]] < _OFTEN_OPENED
    )
    return is_rare or words.is_common(kept_words[0])


def _split_by_never(kept_words: list[str]) -> Iterable[list[str]]:
    part: list[str] = []
    for word in kept_words:
        bare = _bare(word)
        if bare in _BEGINS_A_NAME and any(_bare(text) not in TITLES for text in part):
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
    if not part or not proper or (len(part) == 1 and (bare[0] in _NEVER_NAMES or _ends_like_no_name(bare[0]))):
        return "" if not _is_title_name(part) else part[0].rstrip(".")
    if _CALENDAR.intersection(proper) and {*proper} <= _CALENDAR | _ORDINALS | _JOINING_WORDS:
        return ""
    name = " ".join(part)
    return name if _INITIAL.fullmatch(part[-1]) else name.rstrip(".")


def _ends_like_no_name(word: str) -> bool:
    """Tell whether a word in small letters has an ending of abstract words: amenities, arbitration."""
    return len(word) >= _MIN_OF_ENDING and word.endswith(_NEVER_ENDINGS) and word not in _GIVEN_NAMES


def _is_title_name(part: list[str]) -> bool:
    """One title in full by itself: "the Captain" may be all the name that somebody has."""
    word = _bare(part[0]) if len(part) == 1 else ""
    return word in _TITLES_OF_PEOPLE and len(word) > 4 and word not in _NEVER_NAMES


def _is_kept(name_match: FoundName, words: _WordUse) -> bool:
    parts = name_match.name.split()
    proper = [word for word in parts if _bare(word) not in TITLES and _bare(word) not in ARTICLES]
    if not proper:
        return words.free[name_match.name] > words.lower[name_match.name.casefold()]
    # Ben is somebody, though every sentence that holds the name begins with it.
    is_given = _bare(parts[0]) in _GIVEN_NAMES and name_match.count >= LEAST_OPENING
    is_free = bool(name_match.free) or (is_given and not words.lower[_bare(parts[0])])
    return len(parts) > 1 or not (words.is_common(parts[0]) or not is_free or len(parts[0]) < 3)


# --- Variants: Mr. Sherlock Holmes, Holmes; Elizabeth, Lizzy ---


def _split(entries: Iterable[str]) -> dict[str, tuple[str, ...]]:
    parts = (entry.partition(":") for entry in entries)
    return {name: tuple(filter(None, short.split(","))) for name, _, short in parts}


_MEN, _WOMEN = _split(word_list("english_men")), _split(word_list("english_women"))
_MALE_NAMES, _FEMALE_NAMES = (frozenset(names).union(*names.values()) for names in (_MEN, _WOMEN))
_GIVEN_NAMES = _MALE_NAMES | _FEMALE_NAMES
_FORMAL_NAMES: defaultdict[str, list[str]] = defaultdict(list)
"""The full given names of which each may be a short form."""
for _name, _shorts in {**_MEN, **_WOMEN}.items():
    for _short in _shorts:
        _FORMAL_NAMES[_short].append(_name)

CLEARLY_ONE_GENDER = 2.0
"""So many times as often is a name followed by the pronouns of its bearer's gender as by the others."""

OFTEN_SIDE_BY_SIDE = 2.5
"""Mr. X and a given name that share paragraphs so many times as often as chance would have it are father and son."""

LEAST_COUNT = 3
LEAST_OPENING = 2
"""A given name that stands in no small letters is somebody's, where so many sentences begin with it."""

LARGE_FAMILY = 4
_PARTICLES = frozenset("de la du des del della di da le von van der den al el bin ibn of".split())
_PLAIN_TITLES = frozenset("mr mrs miss ms old young little poor dear my our his her your their mx".split())
_GIVEN_TITLES = frozenset(
    "miss mlle mademoiselle master sir lady lord aunt uncle cousin brother sister father mother".split()
)
_RANKS_BY_BIRTH = frozenset("sir lady lord duke duchess count countess prince princess king queen baron".split())
_THINGS = ("location", "item", "faction")
_COMMON = frozenset({"mr", "mrs", "miss"})
_RANKS_OF_OFFICE = OTHER_TITLES - _PLAIN_TITLES
_WIFE = frozenset({"mrs", "mme", "madame", "frau", "signora", "señora"})


@dataclass(slots=True, eq=False)
class _Bearer:
    """The names of one bearer, with `first` and `last` empty if unknown."""

    names: list[FoundName]
    first: str = ""
    last: str = ""
    titles: set[str] = field(default_factory=set)
    has_wife: bool = False

    def add(self, names: Iterable[FoundName]) -> None:
        self.names += names
        self.titles = set().union(*(_titles(name_match.name) for name_match in self.names))

    @property
    def count(self) -> int:
        return sum(name_match.count for name_match in self.names)

    @property
    def count_in_full(self) -> int:
        return sum(name_match.count for name_match in self.names if len(_core(name_match.name)) > 1)

    @property
    def gender(self) -> str:
        """`m`, `f`, or empty where the text does not tell."""
        return _gender_of_titles(self.titles) or gender_of_given(self.first) or _gender_of_pronouns(self.names)


def english_groups(names: Sequence[FoundName]) -> list[list[FoundName]]:
    """Group variants of one name, leaving ambiguous ones alone."""
    by_core: dict[tuple[str, ...], list[FoundName]] = defaultdict(list)
    for name_match in names:
        by_core[_core(name_match.name)].append(name_match)
    single = {core[0]: name_matches for core, name_matches in by_core.items() if len(core) == 1}
    whole = {core: name_matches for core, name_matches in by_core.items() if len(core) > 1}
    somebody = {
        core: name_matches for core, name_matches in whole.items() if _may_be_somebody(core, name_matches, by_core)
    }
    things = [name_matches for core, name_matches in whole.items() if core not in somebody]
    people = _named_in_full(somebody)
    own: list[_Bearer] = []
    # Who is called by a given name is clear before it is asked to whom a surname belongs.
    given_words = {bearer.first for bearer in people}
    last: dict[ScenePlace, int] = {}
    for place, paragraph in (paragraph for name in names for paragraph in name.paragraphs):
        last[place] = max(paragraph + 1, last.get(place, 0))
    paragraphs = sum(last.values())
    for word in sorted(
        single, key=lambda word: (word not in given_words, -sum(name_match.count for name_match in single[word]), word)
    ):
        own += _place_words(word, single[word], people, paragraphs)
    people += own
    _join_nicknames(people)
    return [*things, *(bearer.names for bearer in people if bearer.names)]


def _named_in_full(somebody: dict[tuple[str, ...], list[FoundName]]) -> list[_Bearer]:
    """People with given name and surname.

    Mrs. John Knightley differs from John Knightley.
    """
    people: dict[tuple[str, str], _Bearer] = {}
    wives: dict[tuple[str, str], _Bearer] = {}
    for core, name_matches in somebody.items():
        key = core[0], core[-1]
        for name_match in name_matches:
            if _titles(name_match.name) & _WIFE and core[0] not in _FEMALE_NAMES:
                wives.setdefault(key, _Bearer([], last=core[-1])).add([name_match])
            else:
                people.setdefault(key, _Bearer([], first=core[0], last=core[-1])).add([name_match])
    for key, wife in wives.items():
        if wife.count >= LEAST_COUNT and key in people:
            people[key].has_wife = True
    return [*people.values(), *wives.values()]


def _core(name: str) -> tuple[str, ...]:
    """The folded words of a name without titles, articles and "of" parts."""
    words = name_key(name).split()
    start = 0
    while start < len(words) - 1 and words[start] in TITLES | ARTICLES:
        start += 1
    kept_words = words[start:]
    if "of" in kept_words[1:]:
        kept_words = kept_words[: kept_words.index("of", 1)]
    return tuple(kept_words)


def _may_be_somebody(
    core: tuple[str, ...], name_matches: Sequence[FoundName], by_core: dict[tuple[str, ...], list[FoundName]]
) -> bool:
    """Return whether several words may be a given name and a surname."""
    if "'" in core[0] or core[0] in _PARTICLES:
        return False
    if core[0] in _GIVEN_NAMES or any(_titles(name_match.name) for name_match in name_matches):
        return True
    is_thing = likely_kind(name_matches) in _THINGS
    is_family = any(_titles(name_match.name) & _COMMON for name_match in by_core.get((core[-1],), ()))
    return is_family or (sum(name_match.count for name_match in name_matches) > 1 and not is_thing)


def _titles(name: str) -> set[str]:
    words = name_key(name).split()
    titles: set[str] = set()
    for word in words[:-1] if len(words) > 1 else words:
        if word not in TITLES:
            break
        titles.add(word)
    return titles


def _gender_of_titles(titles: Iterable[str]) -> str:
    male, female = bool(MALE_TITLES.intersection(titles)), bool(FEMALE_TITLES.intersection(titles))
    return "" if male == female else "m" if male else "f"


def gender_of_given(name: str) -> str:
    is_male, is_female = name in _MALE_NAMES, name in _FEMALE_NAMES
    return "" if is_male == is_female else "m" if is_male else "f"


def _gender_of_pronouns(names: Iterable[FoundName]) -> str:
    he, she = sum(name_match.he for name_match in names), sum(name_match.she for name_match in names)
    if he + she < 3:
        return ""
    return "m" if he >= CLEARLY_ONE_GENDER * she else "f" if she >= CLEARLY_ONE_GENDER * he else ""


def _place_words(
    word: str, name_matches: Sequence[FoundName], people: Sequence[_Bearer], paragraphs: int
) -> list[_Bearer]:
    """Assign single words beside titles to bearers, and return the rest."""
    bearers = [bearer for bearer in people if bearer.names and word == bearer.first]
    family = [bearer for bearer in people if bearer.names and bearer.last == word]
    bare = [
        name_match for name_match in name_matches if not _titles(name_match.name) or name_key(name_match.name) == word
    ]
    titled: dict[frozenset[str], list[FoundName]] = defaultdict(list)
    for name_match in name_matches:
        if name_match not in bare:
            titled[frozenset(_titles(name_match.name))].append(name_match)
    is_given = bool(bearers) or (word in _GIVEN_NAMES and not family)
    own: list[_Bearer] = []
    bare_count = sum(name_match.count for name_match in bare)
    gender = gender_of_given(word)
    host = _clear_bearer([bearer for bearer in bearers if not gender or bearer.gender in (gender, "")])
    if (
        host is not None
        and host.count * CLEARLY_MORE > sum(name_match.count for name_match in name_matches) - bare_count
    ):
        host.add(bare)
        bare = []
    spoken_names = {title for titles in titled for title in titles}
    for titles, variants in sorted(titled.items(), key=lambda item: -sum(name_match.count for name_match in item[1])):
        host = _host(
            titles,
            variants,
            bearers,
            family,
            spoken_names=spoken_names - titles,
            is_given=bare_count > sum(name_match.count for name_match in variants),
            paragraphs=paragraphs,
        )
        if host is None:
            own.append(host := _Bearer([], first=word if is_given else "", last="" if is_given else word))
        host.add(variants)
    if bare:
        host = _host_of_bare(word, bare, bearers, [*family, *own])
        if host is None:
            own.append(host := _Bearer([], first=word))
        host.add(bare)
    return own


def _host(
    titles: frozenset[str],
    variants: Sequence[FoundName],
    bearers: Sequence[_Bearer],
    family: Sequence[_Bearer],
    *,
    spoken_names: set[str],
    is_given: bool,
    paragraphs: int,
) -> _Bearer | None:
    """The bearer of a title and a name, if clear."""
    relatives = [
        bearer
        for bearer in family
        # The text sets two people side by side, not two names of one.
        if _fits(titles, bearer) and not ("mr" in titles and _are_side_by_side(variants, bearer, paragraphs))
    ]
    if len(relatives) > 1:
        relatives = [bearer for bearer in relatives if bearer.count > 1]
    if titles & (_WIFE | {"lady"}):
        # Mrs. X is the mother of the family where there is a Miss X, too.
        daughter = "miss" in spoken_names or "lady" in titles or len(relatives) > 1
        relatives = [
            bearer for bearer in relatives if bearer.titles & titles or (not daughter and bearer.gender == "f")
        ]
    elif "miss" in titles and len(relatives) > 1:
        # Miss X is the eldest; her sister is Miss Anne, or Miss Anne X.
        eldest = [bearer for bearer in relatives if not _is_called(bearer, titles)]
        if len(eldest) == 1 and _are_side_by_side(variants, eldest[0], paragraphs):
            relatives.remove(eldest[0])
        else:
            relatives = eldest or relatives
    elif "miss" not in titles:
        # Mr. X of a large family, or beside Mrs. X, is the father; his brother is Mr. John X.
        is_large = len(family) >= LARGE_FAMILY
        relatives = [
            bearer
            for bearer in relatives
            if titles & bearer.titles or not (is_large or ("mrs" in spoken_names and bearer.count_in_full < 2))
            if not (bearer.has_wife and _is_called(bearer, titles))
            if titles & bearer.titles or not (titles & _RANKS_OF_OFFICE and "mr" in spoken_names)
        ]
    if titles & _RANKS_OF_OFFICE and not spoken_names and len(family) == 1:
        # The only one of her name is the captain, whatever else the text tells of her.
        relatives = list(family)
    by_given = [
        bearer
        for bearer in bearers
        if _fits(titles, bearer)
        if (is_given and not (titles & {"mr"} and "mrs" in spoken_names)) or titles & (bearer.titles | _GIVEN_TITLES)
        if not titles & _RANKS_OF_OFFICE - _GIVEN_TITLES
    ]
    return _clear_bearer(relatives) or _clear_bearer(by_given)


def _is_called(bearer: _Bearer, titles: frozenset[str]) -> bool:
    """Tell whether somebody is called by a title and the given name."""
    calls = [name_key(name_match.name).split() for name_match in bearer.names if titles & _titles(name_match.name)]
    return any(bearer.first in words for words in calls)


def _are_side_by_side(variants: Sequence[FoundName], bearer: _Bearer, paragraphs: int) -> bool:
    """Tell whether names share paragraphs with a given name far more often than chance would have it."""
    mine = set().union(*(name_match.paragraphs for name_match in variants))
    theirs = set().union(
        *(name_match.paragraphs for name_match in bearer.names if name_key(name_match.name) == bearer.first)
    )
    return len(mine & theirs) > max(1.0, OFTEN_SIDE_BY_SIDE * len(mine) * len(theirs) / paragraphs)


def _fits(titles: frozenset[str], bearer: _Bearer) -> bool:
    """Titles of one gender, and no second rank, go together."""
    gender = _gender_of_titles(titles)
    theirs = bearer.gender
    if gender and theirs and gender != theirs:
        return False
    if (titles & _WIFE and "miss" in bearer.titles) or ("miss" in titles and bearer.titles & _WIFE):
        return False
    ranks, their_ranks = titles & _RANKS_OF_OFFICE, bearer.titles & _RANKS_OF_OFFICE
    if not ranks & their_ranks and ((ranks and theirs == "f") or (their_ranks and gender == "f")):
        return False
    by_birth, theirs_by_birth = titles & _RANKS_BY_BIRTH, bearer.titles & _RANKS_BY_BIRTH
    if (by_birth and bearer.titles & _COMMON) or (theirs_by_birth and titles & _COMMON):
        return False
    return not ranks or not their_ranks or bool(ranks & their_ranks)


def _host_of_bare(
    word: str, bare: Sequence[FoundName], bearers: Sequence[_Bearer], others: Sequence[_Bearer]
) -> _Bearer | None:
    gender = gender_of_given(word) if bearers else _gender_of_pronouns(bare)
    # A bare surname is a man's in most books; a woman's where the text goes on with her.
    he, she = sum(name_match.he for name_match in bare), sum(name_match.she for name_match in bare)
    men = [bearer for bearer in others if bearer.gender != "f"]
    by_family = None
    if he > she and gender != "f":
        in_full = _clear_bearer([bearer for bearer in men if bearer.first and bearer.last])
        is_most = in_full is not None and all(in_full.count >= bearer.count for bearer in men)
        by_family = in_full if is_most else _clear_bearer(men)
    by_family = by_family or _clear_bearer(others)
    by_given = _clear_bearer(bearers)
    if by_family and by_family.count >= CLEARLY_MORE * sum(bearer.count for bearer in bearers):
        return by_family
    return by_given


def _clear_bearer(people: Sequence[_Bearer]) -> _Bearer | None:
    return clearly_most({bearer: bearer.count for bearer in people})


def _join_nicknames(people: list[_Bearer]) -> None:
    """Join nicknames with full names: Lizzy, Elizabeth Bennet."""
    by_first: dict[str, list[_Bearer]] = defaultdict(list)
    for bearer in people:
        if bearer.first:
            by_first[bearer.first].append(bearer)
    for bearer in people:
        if not bearer.first or bearer.count < LEAST_COUNT:
            continue
        hosts = [
            host
            for name in _FORMAL_NAMES.get(bearer.first, ())
            for host in by_first.get(name, ())
            if host is not bearer
            and host.names
            and not host.titles & _RANKS_BY_BIRTH
            and bearer.last in ("", host.last)
        ]
        host = _clear_bearer(hosts)
        if host is not None:
            host.add(bearer.names)
            bearer.names = []


def english_questions(groups: dict[int, Sequence[FoundName]]) -> dict[int, int]:
    """Return the groups without a full name that may share a bearer."""
    cores = {at: {_core(name_match.name) for name_match in group} for at, group in groups.items()}
    people = {at: _Bearer([]) for at in groups}
    whole: dict[str, set[int]] = defaultdict(set)
    for at, group in groups.items():
        people[at].add(group)
        people[at].first = next((core[0] for core in cores[at] if len(core) > 1 or core[0] in _GIVEN_NAMES), "")
        for core in cores[at]:
            if likely_kind(group) not in _THINGS:
                whole[core[0]].add(at)
                whole[core[-1]].add(at)
    found_counts: dict[int, int] = {}
    for at, mine in people.items():
        if any(len(core) > 1 for core in cores[at]) or likely_kind(groups[at]) in _THINGS:
            continue
        words = {core[0] for core in cores[at]}
        asked_numbers = {
            host for word in words for name in (word, *_FORMAL_NAMES.get(word, ())) for host in whole.get(name, ())
        }
        titled = frozenset(mine.titles)
        fitting = [
            host
            for host in asked_numbers - {at}
            if people[host].count >= mine.count or any(len(core) > 1 for core in cores[host])
            if not mine.gender or not people[host].gender or mine.gender == people[host].gender
            if not (titled & _WIFE and "miss" in people[host].titles)
            and not ("miss" in titled and people[host].titles & _WIFE)
        ]
        if fitting:
            found_counts[at] = max(fitting, key=lambda host: people[host].count)
    return found_counts
