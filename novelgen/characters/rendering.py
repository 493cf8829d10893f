"""A recall as lines of a prompt, in the language of what is played, and what a line costs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from novelgen.language.language import StoryLanguage

CHARACTERS_PER_TOKEN = 3

FIRST_WIDE_CHARACTER = 0x2E80
"""From here on Unicode holds scripts whose characters are at least a token each: Chinese, Japanese, Korean, symbols."""


def estimate_recall_tokens(text: str) -> int:
    """Estimate the tokens of a line so that it is never told too cheap: a third of its characters, rounded up.

    Chinese characters count as one token each; a third of them would be less than half of what they cost.
    """
    wide = 0 if text.isascii() else sum(ord(character) >= FIRST_WIDE_CHARACTER for character in text)
    return wide + -(-(len(text) - wide) // CHARACTERS_PER_TOKEN)


@dataclass(frozen=True, slots=True)
class LineMarks:
    """What a line says of a memory beside its text."""

    age_days: int | None = None
    how: str = "own_doing"
    heard_from: str = ""
    is_over: bool = False
    is_former_value: bool = False
    is_rumour: bool = False


_HEADING = {"en": "What {name} remembers:", "zh": "{name}记得的事："}

_TODAY = {"en": "today", "zh": "今天"}

_YESTERDAY = {"en": "yesterday", "zh": "昨天"}

_DAYS_AGO = {"en": "{days} days ago", "zh": "{days}天前"}

_HEARD_FROM = {
    "en": {"overheard": "overheard from {name}", "read": "read it, from {name}"},
    "zh": {"overheard": "从{name}那里无意中听到的", "read": "从{name}那里读到的"},
}

_TOLD_BY = {"en": "heard from {name}", "zh": "听{name}说的"}

_HOW = {
    "en": {"told": "was told so", "overheard": "overheard it", "read": "read it", "deduced": "worked it out"},
    "zh": {"told": "听别人说的", "overheard": "无意中听到的", "read": "读到的", "deduced": "自己推断出来的"},
}

_OVER = {"en": "no longer so", "zh": "后来已不是这样"}

_FORMER_VALUE = {"en": "formerly, no longer true", "zh": "从前如此，现已不是"}

_RUMOUR = {"en": "only a rumour", "zh": "只是传闻"}

_SEPARATOR = {"en": "; ", "zh": "；"}

_BRACKETS = {"en": "({}) ", "zh": "（{}）"}


def heading_line(name: str, language: StoryLanguage) -> str:
    """Return the line above a recall."""
    return _HEADING[language].format(name=name)


def memory_line(text: str, marks: LineMarks, language: StoryLanguage) -> str:
    """Return a memory as a line, with its marks before it."""
    said: list[str] = []
    if marks.age_days is not None:
        said.append(_age(marks.age_days, language))
    if marks.heard_from:
        heard = _HEARD_FROM[language].get(marks.how, _TOLD_BY[language])
        said.append(heard.format(name=marks.heard_from))
    elif marks.how in _HOW[language]:
        said.append(_HOW[language][marks.how])
    if marks.is_rumour:
        said.append(_RUMOUR[language])
    if marks.is_former_value:
        said.append(_FORMER_VALUE[language])
    elif marks.is_over:
        said.append(_OVER[language])
    told = " ".join(text.split())
    return f"- {_BRACKETS[language].format(_SEPARATOR[language].join(said)) if said else ''}{told}"


def line_tokens(text: str, marks: LineMarks) -> int:
    """Estimate the tokens of a memory's line, in whichever language it costs more."""
    return max(estimate_recall_tokens(memory_line(text, marks, language) + "\n") for language in ("en", "zh"))


def heading_tokens(name: str) -> int:
    """Estimate the tokens of the heading, in whichever language it costs more."""
    return max(estimate_recall_tokens(heading_line(name, language) + "\n") for language in ("en", "zh"))


def joined_lines(lines: Sequence[str]) -> str:
    """Return lines as a text that ends with its last line."""
    return "\n".join(lines)


def _age(days: int, language: StoryLanguage) -> str:
    if days <= 0:
        return _TODAY[language]
    return _YESTERDAY[language] if days == 1 else _DAYS_AGO[language].format(days=days)
