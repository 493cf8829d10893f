"""Which names of a story are variants of one another: Mr. Sherlock Holmes, Holmes; 孙行者, 行者."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

from novelgen.language.chinese_names import simplified, surname_of
from novelgen.language.english_variants import english_groups
from novelgen.language.language import has_cjk
from novelgen.language.normalise import (
    ARTICLES,
    CHINESE_TITLES_AFTER,
    CHINESE_TITLES_BEFORE,
    FEMALE_TITLES,
    MALE_TITLES,
    OTHER_TITLES,
    TITLES,
    is_description,
    name_key,
)
from novelgen.language.sightings import FoundName

CLEARLY_MORE = 4
"""A bare surname that several bear means the one who stands in the text so many times as often as the next."""

_PLAIN_TITLES = frozenset("mr mrs miss ms old young little poor dear my our his her your their mx".split())


_NOT_GIVEN = frozenset("母王公婆爷娘父仙怪妖精神佛帝君")
"""Characters that end titles and kinds, not given names."""


class _Group:
    """Names of one bearer on the way."""

    def __init__(self, name: FoundName) -> None:
        self.names = [name]

    @property
    def count(self) -> int:
        return sum(each.count for each in self.names)


def grouped_names(names: Sequence[FoundName]) -> list[list[FoundName]]:
    """Put names together that are variants of one another; what may belong to several stays by itself."""
    chinese = [each for each in names if has_cjk(each.name)]
    english = [each for each in names if not has_cjk(each.name)]
    groups = [*english_groups(english), *_chinese_groups(chinese)]
    return [sorted(group, key=lambda each: (-each.count, -len(each.name), each.name)) for group in groups]


def _english_groups(names: Sequence[FoundName]) -> list[list[FoundName]]:
    by_core: dict[tuple[str, ...], list[FoundName]] = defaultdict(list)
    for each in names:
        by_core[_core(each.name)].append(each)
    full = {core: _Group(named[0]) for core, named in by_core.items() if len(core) > 1}
    for core, group in full.items():
        group.names = list(by_core[core])
    merged = _contained(full)
    singles: list[list[FoundName]] = []
    for core, named in by_core.items():
        if len(core) == 1:
            singles += _placed(core[0], named, merged)
    return [*(group.names for group in merged.values()), *singles]


def _core(name: str) -> tuple[str, ...]:
    """The words of a name without titles and articles, folded; a name of titles alone is its own core."""
    words = name_key(name).split()
    start = 0
    while start < len(words) - 1 and words[start] in TITLES | ARTICLES:
        start += 1
    return tuple(words[start:])


def _titles(name: str) -> frozenset[str]:
    words = name_key(name).split()
    return frozenset(words[: len(words) - len(_core(name))]) - ARTICLES


def _contained(full: dict[tuple[str, ...], _Group]) -> dict[tuple[str, ...], _Group]:
    """Join a longer name with the shorter one that it begins and ends with: John H. Watson, John Watson."""
    kept = dict(full)
    for core in sorted(full, key=len, reverse=True):
        hosts = [other for other in kept if len(other) < len(core) and other[-1] == core[-1] and set(other) < set(core)]
        if len(hosts) == 1 and core in kept:
            kept[hosts[0]].names += kept.pop(core).names
    return kept


def _placed(word: str, named: Sequence[FoundName], full: dict[tuple[str, ...], _Group]) -> list[list[FoundName]]:
    """Give the names that are one word beside titles to who bears it; return those that stay by themselves."""
    bearers = [group for core, group in full.items() if word in (core[0], core[-1])]
    bare = [each for each in named if not _titles(each.name)]
    titled: dict[frozenset[str], list[FoundName]] = defaultdict(list)
    for each in named:
        if _titles(each.name):
            titled[_titles(each.name)].append(each)
    own: list[_Group] = []
    for titles, variants in titled.items():
        fitting = [group for group in [*bearers, *own] if _fits(titles, group)]
        closest = [group for group in fitting if titles & _group_titles(group)] or fitting
        if len(closest) == 1:
            closest[0].names += variants
        else:
            group = _Group(variants[0])
            group.names = list(variants)
            own.append(group)
    if bare:
        host = _clear_bearer([*bearers, *own])
        if host is None:
            own.append(_Group(bare[0]))
            own[-1].names = list(bare)
        else:
            host.names += bare
    return [group.names for group in own]


def _group_titles(group: _Group) -> frozenset[str]:
    return frozenset().union(*(_titles(each.name) for each in group.names))


def _fits(titles: frozenset[str], group: _Group) -> bool:
    """Titles of one gender, and no second rank, go together."""
    theirs = _group_titles(group)
    for one, other in ((MALE_TITLES, FEMALE_TITLES), (FEMALE_TITLES, MALE_TITLES)):
        if titles & one and theirs & other:
            return False
    ranks = (titles & OTHER_TITLES) - _PLAIN_TITLES
    their_ranks = (theirs & OTHER_TITLES) - _PLAIN_TITLES
    if (ranks and theirs & FEMALE_TITLES) or (their_ranks and titles & FEMALE_TITLES):
        return False
    return not ranks or not their_ranks or bool(ranks & their_ranks)


def _clear_bearer(groups: Sequence[_Group]) -> _Group | None:
    ranked = sorted(groups, key=lambda group: -group.count)
    if len(ranked) == 1 or (len(ranked) > 1 and ranked[0].count >= CLEARLY_MORE * ranked[1].count):
        return ranked[0]
    return None


def _chinese_groups(names: Sequence[FoundName]) -> list[list[FoundName]]:
    by_name = {simplified(each.name): each for each in names}
    parent = {name: name for name in by_name}

    def root(name: str) -> str:
        while parent[name] != name:
            name = parent[name]
        return name

    for name, each in by_name.items():
        for other in each.same_as:
            if other in by_name:
                parent[root(other)] = root(name)
    longer: dict[str, list[str]] = defaultdict(list)
    for name in by_name:
        for part in _parts(name):
            longer[part].append(name)
    for short in sorted(by_name, key=len):
        hosts: dict[str, int] = defaultdict(int)
        for each in longer[short]:
            if root(each) != root(short):
                hosts[root(each)] += by_name[each].count
        host = _clear_host(hosts)
        if host:
            parent[root(short)] = host
    groups: dict[str, list[FoundName]] = defaultdict(list)
    for name, each in by_name.items():
        groups[root(name)].append(each)
    return list(groups.values())


def _clear_host(totals: dict[str, int]) -> str:
    ranked = sorted(totals, key=lambda each: -totals[each])
    if len(ranked) == 1 or (ranked and totals[ranked[0]] >= CLEARLY_MORE * totals[ranked[1]]):
        return ranked[0]
    return ""


def _parts(name: str) -> Iterable[str]:
    """The shorter names that a longer one holds: 悟空 in 孙悟空, 观音 in 观音菩萨."""
    if "·" in name:
        yield from name.split("·")
        return
    before = surname_of(name) or (name[0] if name[0] in CHINESE_TITLES_BEFORE else "")
    if before and len(name) - len(before) > 1 and not name.endswith(CHINESE_TITLES_AFTER):
        yield name[len(before) :]
    for title in CHINESE_TITLES_AFTER:
        if name.endswith(title) and len(name) - len(title) > 1:
            yield name[: -len(title)]
            return
