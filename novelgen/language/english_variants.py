"""Which English names of a story are variants of one another: Mr. Sherlock Holmes, Holmes; Elizabeth, Lizzy."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from novelgen.language.language import word_list
from novelgen.language.normalise import ARTICLES, FEMALE_TITLES, MALE_TITLES, OTHER_TITLES, TITLES, name_key
from novelgen.language.sightings import FoundName, ScenePlace, likely_kind


def _split(entries: Iterable[str]) -> dict[str, tuple[str, ...]]:
    parts = (entry.partition(":") for entry in entries)
    return {name: tuple(filter(None, short.split(","))) for name, _, short in parts}


_MEN, _WOMEN = _split(word_list("english_men")), _split(word_list("english_women"))
_MALE_NAMES, _FEMALE_NAMES = (frozenset(names).union(*names.values()) for names in (_MEN, _WOMEN))
_FORMAL_NAMES: defaultdict[str, list[str]] = defaultdict(list)
"""The full given names of which each may be a short form."""
for _name, _shorts in {**_MEN, **_WOMEN}.items():
    for _short in _shorts:
        _FORMAL_NAMES[_short].append(_name)

CLEARLY_MORE = 3
"""A name that several bear means the one who stands in the text so many times as often as the next."""

CLEARLY_ONE_GENDER = 2.0
"""So many times as often is a name followed by the pronouns of its bearer's gender as by the others."""

OFTEN_SIDE_BY_SIDE = 2.5
"""Mr. X and a given name that share paragraphs so many times as often as chance would have it are father and son."""

LEAST_COUNT = 3
LARGE_FAMILY = 4
_PARTICLES = frozenset("de la du des del della di da le von van der den al el bin ibn of".split())
_PLAIN_TITLES = frozenset("mr mrs miss ms old young little poor dear my our his her your their mx".split())
_GIVEN_TITLES = frozenset(
    "miss mlle mademoiselle master sir lady lord aunt uncle cousin brother sister father mother".split()
)
_RANKS_BY_BIRTH = frozenset("sir lady lord duke duchess count countess prince princess king queen baron".split())
_THINGS = ("location", "item", "faction")
_COMMON = frozenset({"mr", "mrs", "miss"})
_RANKS = OTHER_TITLES - _PLAIN_TITLES
_WIFE = frozenset({"mrs", "mme", "madame", "frau", "signora", "señora"})


@dataclass(slots=True, eq=False)
class _Bearer:
    """Names of one bearer on the way; `first` and `last` are empty where none of the names says them."""

    names: list[FoundName]
    first: str = ""
    last: str = ""
    titles: set[str] = field(default_factory=set)
    has_wife: bool = False

    def add(self, names: Iterable[FoundName]) -> None:
        self.names += names
        self.titles = set().union(*(_titles(each.name) for each in self.names))

    @property
    def count(self) -> int:
        return sum(each.count for each in self.names)

    @property
    def count_in_full(self) -> int:
        return sum(each.count for each in self.names if len(_core(each.name)) > 1)

    @property
    def gender(self) -> str:
        """`m`, `f`, or empty where the text does not tell."""
        return _gender_of_titles(self.titles) or _gender_of_given(self.first) or _gender_of_pronouns(self.names)


def english_groups(names: Sequence[FoundName]) -> list[list[FoundName]]:
    """Put names together that are variants of one another; what may belong to several stays by itself."""
    by_core: dict[tuple[str, ...], list[FoundName]] = defaultdict(list)
    for each in names:
        by_core[_core(each.name)].append(each)
    single = {core[0]: named for core, named in by_core.items() if len(core) == 1}
    whole = {core: named for core, named in by_core.items() if len(core) > 1}
    somebody = {core: named for core, named in whole.items() if _may_be_somebody(core, named, by_core)}
    things = [named for core, named in whole.items() if core not in somebody]
    people = _named_in_full(somebody)
    own: list[_Bearer] = []
    # Who is called by a given name is clear before it is asked to whom a surname belongs.
    given = {each.first for each in people}
    last: dict[ScenePlace, int] = {}
    for place, paragraph in (each for name in names for each in name.paragraphs):
        last[place] = max(paragraph + 1, last.get(place, 0))
    paragraphs = sum(last.values())
    for word in sorted(single, key=lambda word: (word not in given, -sum(each.count for each in single[word]), word)):
        own += _placed(word, single[word], people, paragraphs)
    people += own
    _join_nicknames(people)
    return [*things, *(each.names for each in people if each.names)]


def _named_in_full(somebody: dict[tuple[str, ...], list[FoundName]]) -> list[_Bearer]:
    """Who has a given name and a surname; Mrs. John Knightley is another than John Knightley."""
    people: dict[tuple[str, str], _Bearer] = {}
    wives: dict[tuple[str, str], _Bearer] = {}
    for core, named in somebody.items():
        key = core[0], core[-1]
        for each in named:
            if _titles(each.name) & _WIFE and core[0] not in _FEMALE_NAMES:
                wives.setdefault(key, _Bearer([], last=core[-1])).add([each])
            else:
                people.setdefault(key, _Bearer([], first=core[0], last=core[-1])).add([each])
    for key, wife in wives.items():
        if wife.count >= LEAST_COUNT and key in people:
            people[key].has_wife = True
    return [*people.values(), *wives.values()]


def _core(name: str) -> tuple[str, ...]:
    """The words of a name without titles and articles, folded; what an "of" adds is left out."""
    words = name_key(name).split()
    start = 0
    while start < len(words) - 1 and words[start] in TITLES | ARTICLES:
        start += 1
    kept = words[start:]
    if "of" in kept[1:]:
        kept = kept[: kept.index("of", 1)]
    return tuple(kept)


def _may_be_somebody(
    core: tuple[str, ...], named: Sequence[FoundName], by_core: dict[tuple[str, ...], list[FoundName]]
) -> bool:
    """Tell whether a name of several words may be a given name and a surname, no place and no chance neighbours."""
    if "'" in core[0] or core[0] in _PARTICLES:
        return False
    if core[0] in _MALE_NAMES | _FEMALE_NAMES or any(_titles(each.name) for each in named):
        return True
    is_thing = likely_kind(named) in _THINGS
    is_family = any(_titles(each.name) & _COMMON for each in by_core.get((core[-1],), ()))
    return is_family or (sum(each.count for each in named) > 1 and not is_thing)


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


def _gender_of_given(name: str) -> str:
    is_male, is_female = name in _MALE_NAMES, name in _FEMALE_NAMES
    return "" if is_male == is_female else "m" if is_male else "f"


def _gender_of_pronouns(names: Iterable[FoundName]) -> str:
    he, she = sum(each.he for each in names), sum(each.she for each in names)
    if he + she < 3:
        return ""
    return "m" if he >= CLEARLY_ONE_GENDER * she else "f" if she >= CLEARLY_ONE_GENDER * he else ""


def _placed(word: str, named: Sequence[FoundName], people: Sequence[_Bearer], paragraphs: int) -> list[_Bearer]:
    """Give the names that are one word beside titles to who bears it; return those that stay by themselves."""
    given = [each for each in people if each.names and word == each.first]
    family = [each for each in people if each.names and each.last == word]
    bare = [each for each in named if not _titles(each.name) or name_key(each.name) == word]
    titled: dict[frozenset[str], list[FoundName]] = defaultdict(list)
    for each in named:
        if each not in bare:
            titled[frozenset(_titles(each.name))].append(each)
    is_given = bool(given) or (word in _MALE_NAMES | _FEMALE_NAMES and not family)
    own: list[_Bearer] = []
    bare_count = sum(each.count for each in bare)
    gender = _gender_of_given(word)
    host = _clear_bearer([each for each in given if not gender or each.gender in (gender, "")])
    if host is not None and host.count * CLEARLY_MORE > sum(each.count for each in named) - bare_count:
        host.add(bare)
        bare = []
    spoken = {title for titles in titled for title in titles}
    for titles, variants in sorted(titled.items(), key=lambda item: -sum(each.count for each in item[1])):
        host = _host(
            titles,
            variants,
            given,
            family,
            spoken=spoken - titles,
            is_given=bare_count > sum(each.count for each in variants),
            paragraphs=paragraphs,
        )
        if host is None:
            own.append(host := _Bearer([], first=word if is_given else "", last="" if is_given else word))
        host.add(variants)
    if bare:
        host = _host_of_bare(word, bare, given, [*family, *own])
        if host is None:
            own.append(host := _Bearer([], first=word))
        host.add(bare)
    return own


def _host(
    titles: frozenset[str],
    variants: Sequence[FoundName],
    given: Sequence[_Bearer],
    family: Sequence[_Bearer],
    *,
    spoken: set[str],
    is_given: bool,
    paragraphs: int,
) -> _Bearer | None:
    """Who bears a title and a name, if it is clear."""
    relatives = [
        each
        for each in family
        # The text sets two people side by side, not two names of one.
        if _fits(titles, each) and not ("mr" in titles and _are_side_by_side(variants, each, paragraphs))
    ]
    if len(relatives) > 1:
        relatives = [each for each in relatives if each.count > 1]
    if titles & (_WIFE | {"lady"}):
        # Mrs. X is the mother of the family where there is a Miss X, too.
        daughter = "miss" in spoken or "lady" in titles or len(relatives) > 1
        relatives = [each for each in relatives if each.titles & titles or (not daughter and each.gender == "f")]
    elif "miss" in titles and len(relatives) > 1:
        # Miss X is the eldest; her sister is Miss Anne, or Miss Anne X.
        eldest = [each for each in relatives if not _is_called(each, titles)]
        if len(eldest) == 1 and _are_side_by_side(variants, eldest[0], paragraphs):
            relatives.remove(eldest[0])
        else:
            relatives = eldest or relatives
    elif "miss" not in titles:
        # Mr. X of a large family, or beside Mrs. X, is the father; his brother is Mr. John X.
        is_large = len(family) >= LARGE_FAMILY
        relatives = [
            each
            for each in relatives
            if titles & each.titles or not (is_large or ("mrs" in spoken and each.count_in_full < 2))
            if not (each.has_wife and _is_called(each, titles))
            if titles & each.titles or not (titles & _RANKS and "mr" in spoken)
        ]
    if titles & _RANKS and not spoken and len(family) == 1:
        # The only one of her name is the captain, whatever else the text tells of her.
        relatives = list(family)
    by_given = [
        each
        for each in given
        if _fits(titles, each)
        if (is_given and not (titles & {"mr"} and "mrs" in spoken)) or titles & (each.titles | _GIVEN_TITLES)
        if not titles & _RANKS - _GIVEN_TITLES
    ]
    return _clear_bearer(relatives) or _clear_bearer(by_given)


def _is_called(bearer: _Bearer, titles: frozenset[str]) -> bool:
    """Tell whether somebody is called by a title and the given name."""
    called = [name_key(each.name).split() for each in bearer.names if titles & _titles(each.name)]
    return any(bearer.first in words for words in called)


def _are_side_by_side(variants: Sequence[FoundName], bearer: _Bearer, paragraphs: int) -> bool:
    """Tell whether names share paragraphs with a given name far more often than chance would have it."""
    mine = set().union(*(each.paragraphs for each in variants))
    theirs = set().union(*(each.paragraphs for each in bearer.names if name_key(each.name) == bearer.first))
    return len(mine & theirs) > max(1.0, OFTEN_SIDE_BY_SIDE * len(mine) * len(theirs) / paragraphs)


def _fits(titles: frozenset[str], bearer: _Bearer) -> bool:
    """Titles of one gender, and no second rank, go together."""
    gender = _gender_of_titles(titles)
    theirs = bearer.gender
    if gender and theirs and gender != theirs:
        return False
    if (titles & _WIFE and "miss" in bearer.titles) or ("miss" in titles and bearer.titles & _WIFE):
        return False
    ranks, their_ranks = titles & _RANKS, bearer.titles & _RANKS
    if not ranks & their_ranks and ((ranks and theirs == "f") or (their_ranks and gender == "f")):
        return False
    by_birth, theirs_by_birth = titles & _RANKS_BY_BIRTH, bearer.titles & _RANKS_BY_BIRTH
    if (by_birth and bearer.titles & _COMMON) or (theirs_by_birth and titles & _COMMON):
        return False
    return not ranks or not their_ranks or bool(ranks & their_ranks)


def _host_of_bare(
    word: str, bare: Sequence[FoundName], given: Sequence[_Bearer], others: Sequence[_Bearer]
) -> _Bearer | None:
    gender = _gender_of_given(word) if given else _gender_of_pronouns(bare)
    # A bare surname is a man's in most books; a woman's where the text goes on with her.
    he, she = sum(each.he for each in bare), sum(each.she for each in bare)
    men = [each for each in others if each.gender != "f"]
    by_family = None
    if he > she and gender != "f":
        in_full = _clear_bearer([each for each in men if each.first and each.last])
        is_most = in_full is not None and all(in_full.count >= each.count for each in men)
        by_family = in_full if is_most else _clear_bearer(men)
    by_family = by_family or _clear_bearer(others)
    by_given = _clear_bearer(given)
    if by_family and by_family.count >= CLEARLY_MORE * sum(each.count for each in given):
        return by_family
    return by_given


def _clear_bearer(people: Sequence[_Bearer]) -> _Bearer | None:
    ranked = sorted(people, key=lambda each: -each.count)
    is_clear = ranked and all(ranked[0].count >= CLEARLY_MORE * each.count for each in ranked[1:2])
    return ranked[0] if is_clear else None


def _join_nicknames(people: list[_Bearer]) -> None:
    """Join who is only called by a short form with the one who bears the name in full: Lizzy, Elizabeth Bennet."""
    by_first: dict[str, list[_Bearer]] = defaultdict(list)
    for each in people:
        if each.first:
            by_first[each.first].append(each)
    for each in people:
        if not each.first or each.count < LEAST_COUNT:
            continue
        hosts = [
            host
            for name in _FORMAL_NAMES.get(each.first, ())
            for host in by_first.get(name, ())
            if host is not each and host.names and not host.titles & _RANKS_BY_BIRTH and each.last in ("", host.last)
        ]
        host = _clear_bearer(hosts)
        if host is not None:
            host.add(each.names)
            each.names = []


def english_questions(groups: dict[int, Sequence[FoundName]]) -> dict[int, int]:
    """Return by its number each group without a full name whose bearer may be another's, with the other's number."""
    cores = {at: {_core(each.name) for each in group} for at, group in groups.items()}
    people = {at: _Bearer([]) for at in groups}
    whole: dict[str, set[int]] = defaultdict(set)
    for at, group in groups.items():
        people[at].add(group)
        people[at].first = next(
            (core[0] for core in cores[at] if len(core) > 1 or core[0] in _MALE_NAMES | _FEMALE_NAMES), ""
        )
        for core in cores[at]:
            if likely_kind(group) not in _THINGS:
                whole[core[0]].add(at)
                whole[core[-1]].add(at)
    found: dict[int, int] = {}
    for at, mine in people.items():
        if any(len(core) > 1 for core in cores[at]) or likely_kind(groups[at]) in _THINGS:
            continue
        words = {core[0] for core in cores[at]}
        asked = {
            host for word in words for name in (word, *_FORMAL_NAMES.get(word, ())) for host in whole.get(name, ())
        }
        titled = frozenset(mine.titles)
        fitting = [
            host
            for host in asked - {at}
            if people[host].count >= mine.count or any(len(core) > 1 for core in cores[host])
            if not mine.gender or not people[host].gender or mine.gender == people[host].gender
            if not (titled & _WIFE and "miss" in people[host].titles)
            and not ("miss" in titled and people[host].titles & _WIFE)
        ]
        if fitting:
            found[at] = max(fitting, key=lambda host: people[host].count)
    return found
