"""The words of the page, one catalogue per language with the same keys."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Literal

PageLanguage = Literal["en", "zh"]


def _catalogue(language: PageLanguage) -> Mapping[str, str]:
    """Return the words of a language; its tables, one per view, are for who writes them."""
    text = Path(__file__).with_name(f"words.{language}.toml").read_text(encoding="utf-8")
    return {key: words for table in tomllib.loads(text).values() for key, words in table.items()}


ENGLISH = _catalogue("en")
CHINESE = _catalogue("zh")

CATALOGUES: Mapping[PageLanguage, Mapping[str, str]] = {"en": ENGLISH, "zh": CHINESE}

COMMAS: Mapping[PageLanguage, str] = {"en": ", ", "zh": "，"}
"""What stands between parts of a sentence, or names."""

_WISH = re.compile(r"\s*([A-Za-z*]{1,8})(?:-[A-Za-z0-9-]{1,20})?\s*(?:;\s*q=([01](?:\.[0-9]{1,3})?))?\s*")


def language_wished(header: str) -> PageLanguage:
    """Return the language of the page that a browser wishes for most, English where it has none of ours."""
    best: PageLanguage = "en"
    best_weight = 0.0
    for wish in header[:500].split(","):
        found = _WISH.fullmatch(wish)
        if found is None:
            continue
        weight = float(found[2]) if found[2] else 1.0
        name = found[1].lower()
        if name in ("en", "zh") and weight > best_weight:
            best, best_weight = ("zh" if name == "zh" else "en"), weight
    return best
