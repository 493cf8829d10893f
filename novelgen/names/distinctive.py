"""Telling names from mere descriptions: "Holmes" from "the old man", 行者 from 那怪."""

from __future__ import annotations

import re

from novelgen.names.normalise import ARTICLES, TITLES, fold_width, name_key
from novelgen.text.cjk import has_cjk

_CHINESE_DESCRIPTION = re.compile(
    r"^[那这某一二两三众几老小大]*[个位名条]?"
    r"(?:老[者儿叟妪母僧妖道人翁汉爷头]|[少青]年|妇人|寡妇|女[子儿人]|男[子人]|[汉娘]子?|和尚|道[人童]|僧人?|童子?|妖[怪精王仙魔]?|怪物?"
    r"|人|魔[王头]?|公公|婆婆|丈人|丈母|浑家|拙荆|兄弟|师[兄弟姐妹父傅祖公]|徒弟|先生|小姐|姑娘|大[哥人王仙圣]|[二三四]哥"
    r"|先锋|将军|主人|客人|店家|掌柜|老板|大夫|医生|陌生人|黑衣人|爹|娘|哥|姐|弟|妹)$"
)
_WORD = re.compile(r"[^\W\d_]+")


def is_description(name: str) -> bool:
    """Tell whether a name only describes its bearer, so that it may be said of others as well.

    English: no capitalised word beside titles and articles ("the old man", "doctor", "the Captain").
    Chinese: made of a demonstrative or number and a common noun for a person (那怪, 老儿, 师父).

    Args:
        name: A name or alias.

    Returns:
        True when the name alone does not say who is meant.
    """
    if has_cjk(name):
        return _CHINESE_DESCRIPTION.match(name_key(name)) is not None
    words = _WORD.findall(fold_width(name))
    return not any(word[0].isupper() and word.casefold() not in TITLES | ARTICLES for word in words)
