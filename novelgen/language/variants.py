"""Which names of a story are variants of one another: Mr. Sherlock Holmes, Holmes; 孙行者, 行者."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence

from novelgen.language.chinese_names import has_surname, looks_like_a_thing, simplified, surname_of
from novelgen.language.english_variants import CLEARLY_MORE, english_groups, english_questions
from novelgen.language.language import has_cjk
from novelgen.language.normalise import CHINESE_TITLES_AFTER, CHINESE_TITLES_BEFORE, is_description
from novelgen.language.sightings import FoundName

LEAST_SIDE_BY_SIDE = 3
"""A title that stands before one and the same name so often is likely to be that one's: 武成王黄飞虎."""

_KINSHIP = frozenset("氏母婆嫂妹姐姑妈娘妻妃夫")
"""Who is called by a surname and one of these is a relative of those of that surname."""


def grouped_names(names: Sequence[FoundName]) -> list[list[FoundName]]:
    """Put names together that are variants of one another; what may belong to several stays by itself."""
    chinese = [each for each in names if has_cjk(each.name)]
    english = [each for each in names if not has_cjk(each.name)]
    groups = [*english_groups(english), *_chinese_groups(chinese)]
    return [sorted(group, key=lambda each: (-each.count, -len(each.name), each.name)) for group in groups]


def likely_same(groups: Sequence[Sequence[FoundName]]) -> dict[int, int]:
    """Return by its number each group that is likely to be another one's bearer, too, with the other's number.

    These are no proofs, so they are asked, not joined: 宋江, 宋押司; Lucy Gray, Miss Gray.
    """
    chinese = {at: group for at, group in enumerate(groups) if has_cjk(group[0].name)}
    english = {at: group for at, group in enumerate(groups) if at not in chinese}
    return english_questions(english) | _chinese_questions(chinese)


def _chinese_groups(names: Sequence[FoundName]) -> list[list[FoundName]]:
    by_name = {simplified(each.name): each for each in names}
    parent = {name: name for name in by_name}

    def root(name: str) -> str:
        while parent[name] != name:
            name = parent[name]
        return name

    for name, named in by_name.items():
        for other in sorted(named.same_as):
            if other in by_name:
                parent[root(other)] = root(name)
    longer = _by_part(by_name)
    for short in sorted(by_name, key=len):
        hosts: Counter[str] = Counter()
        for each in longer[short]:
            if root(each) != root(short):
                hosts[root(each)] += by_name[each].count
        host = _clear_host(hosts)
        if host:
            parent[root(short)] = host
    groups: dict[str, list[FoundName]] = defaultdict(list)
    for name, named in by_name.items():
        groups[root(name)].append(named)
    return list(groups.values())


def _by_part(names: Iterable[str]) -> dict[str, list[str]]:
    longer: dict[str, list[str]] = defaultdict(list)
    for name in names:
        for part in _parts(name):
            longer[part].append(name)
    return longer


def _parts(name: str) -> Iterable[str]:
    """The shorter names that a longer one holds: 悟空 in 孙悟空, 观音 in 观音菩萨."""
    if "·" in name:
        yield from name.split("·")
        return
    title = next((each for each in CHINESE_TITLES_AFTER if name.endswith(each) and len(name) - len(each) > 1), "")
    before = surname_of(name) or (name[0] if name[0] in CHINESE_TITLES_BEFORE else "")
    if title:
        yield name[: -len(title)]
    elif before and len(name) - len(before) > 1:
        yield name[len(before) :]


def _clear_host(totals: Counter[str]) -> str:
    ranked = totals.most_common(2)
    is_clear = len(ranked) == 1 or (len(ranked) == 2 and ranked[0][1] >= CLEARLY_MORE * ranked[1][1])
    return ranked[0][0] if is_clear else ""


def _chinese_questions(groups: dict[int, Sequence[FoundName]]) -> dict[int, int]:
    bearer = {simplified(each.name): at for at, group in groups.items() for each in group}
    counts = {at: sum(each.count for each in group) for at, group in groups.items()}
    longer = _by_part(bearer)
    families: dict[str, set[int]] = defaultdict(set)
    for name, at in bearer.items():
        if _is_full_name(name):
            families[surname_of(name)].add(at)
    found: dict[int, int] = {}
    for name, at in bearer.items():
        asked = {bearer[each] for each in longer[name]} | families.get(_surname_meant(name), set())
        beside = [(other, count) for each in groups[at] for other, count in each.beside.items() if each.name == name]
        asked |= {
            bearer[simplified(other)]
            for other, count in beside
            if count >= LEAST_SIDE_BY_SIDE
            and simplified(other) in bearer
            and count * 2 > sum(each for _, each in beside)
        }
        asked.discard(at)
        if asked and at not in found:
            found[at] = max(asked, key=lambda other: counts[other])
    return found


def _surname_meant(name: str) -> str:
    """The surname in 老孙, 孙先生 or 孙押司; empty for any other name."""
    if len(name) == 2 and name[0] in CHINESE_TITLES_BEFORE:
        return name[1]
    surname = surname_of(name)
    title = name[len(surname) :]
    if not surname or _KINSHIP.intersection(title):
        return ""
    return surname if title in CHINESE_TITLES_AFTER else ""


def _is_full_name(name: str) -> bool:
    """Tell whether a name is a surname and a given name, no title and no place."""
    is_named = has_surname(name) and not name.endswith(CHINESE_TITLES_AFTER)
    return is_named and not looks_like_a_thing(name) and not is_description(name)
