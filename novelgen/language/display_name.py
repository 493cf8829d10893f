"""Which of its names an entity goes by, once the story has given it a better one."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from novelgen.language.normalise import ARTICLES, CHINESE_TITLES_AFTER, TITLES, is_description, name_key

MAX_SCENES_OF_MAKESHIFT = 1
"""A display name that stands in no more scenes was made for the moment: "the voice under the hill"."""

MIN_SCENES_OF_NAME = 3


def better_display_name(
    name: str, others: Sequence[str], texts: Sequence[str], *, taken: Collection[str] = ()
) -> str | None:
    """Return the name by which the story calls an entity, where it is listed under one that the story hardly uses."""
    if _scenes_with(name, texts) > MAX_SCENES_OF_MAKESHIFT:
        return None
    own = _words(name)
    counted = [
        (_scenes_with(each, texts), len(each), each)
        for each in others
        if each not in taken and not _says_nobody(each) and not _words(each) <= own and each not in name
    ]
    scenes, _, best = max(counted, default=(0, 0, ""))
    return best if scenes >= MIN_SCENES_OF_NAME else None


def _says_nobody(name: str) -> bool:
    return is_description(name) or name in CHINESE_TITLES_AFTER


def _scenes_with(name: str, texts: Sequence[str]) -> int:
    return sum(name in text for text in texts)


def _words(name: str) -> frozenset[str]:
    return frozenset(name_key(name).split()) - TITLES - ARTICLES
