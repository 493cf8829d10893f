"""Kinds of threads: what their categories mean, in whatever words a record, a model or an author put them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Literal

from novelgen.language.language import StoryLanguage
from novelgen.words import words

ThreadKind = Literal["promise", "question", "mystery", "threat", "plan", "debt", "foreshadowing", "relationship"]

_CATEGORY_WORDS: Mapping[ThreadKind, str] = {
    "promise": "promise vow oath pledge obligation duty bargain order 许诺 承诺 诺言 誓 约定 契约 义务 责任 嘱托 命令",
    "question": "question doubt uncertainty 疑问 问题 疑惑 未知",
    "mystery": "mystery secret riddle puzzle 谜 秘密 悬念 疑案 身世",
    "threat": "threat danger conflict enmity peril 威胁 危险 危机 冲突 隐患",
    "plan": "plan goal quest mission scheme intention revenge deadline 计划 目标 任务 打算 图谋 阴谋 复仇 报仇 期限",
    "debt": "debt favour favor 债 欠 人情 恩",
    "foreshadowing": "foreshadowing omen prophecy hint clue 伏笔 预言 预兆 征兆 线索",
    "relationship": "relationship romance love 关系 感情 情缘",
}


def kind_of(category: str) -> ThreadKind | None:
    """Return the kind that a category means, or None where its words say none."""
    folded = category.strip().casefold()
    words = {part.removesuffix("s") for part in re.split(r"[^a-z]+", folded)}
    for kind, known in _CATEGORY_WORDS.items():
        if any(word in words if word.isascii() else word in folded for word in known.split()):
            return kind
    return None


def is_of_category(category: str, wanted: str) -> bool:
    """Tell whether a category is the wanted one, or means the same kind, in whichever language either is said."""
    if category.strip().casefold() == wanted.strip().casefold():
        return True
    kind = kind_of(wanted)
    return kind is not None and kind_of(category) == kind


def shown_category(category: str, language: StoryLanguage) -> str:
    """Return a category as it is shown: the word of its kind in the story's language, else its own words."""
    kind = kind_of(category)
    return category.strip() if kind is None else words("memory", language)[f"kinds.{kind}"]


_ASKS: frozenset[ThreadKind] = frozenset({"question", "mystery", "foreshadowing"})


def asks_something(category: str, description: str) -> bool:
    """Tell whether a thread waits for an answer, which the dead can be the object of, and not for a deed."""
    return kind_of(category) in _ASKS or description.rstrip().endswith(("?", "？"))
