"""Full or short: which form of a memory a scene is given."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

from novelgen.models.context import Form
from novelgen.models.memory import StoryMemoryChunk
from novelgen.selection.weights import SelectionWeights
from novelgen.text.cjk import has_cjk
from novelgen.text.sentences import SENTENCE_ENDS
from novelgen.text.tokens import TokenCounter

NOT_SHORTER = 0.8
"""From this share of the full form's tokens on, a short form saves nothing worth its loss."""

BARE_SHARE = 0.2
"""Under this share of the full form's tokens, a short form can only be a title."""

LABEL_SHARE = 0.4
"""Under this share, a short form that announces something (its "terms", its "origin") does not tell it."""

PASSAGE_TYPES = frozenset({"scene", "dialogue", "description"})
"""Verbatim text, already cut into small windows; its short form is for lists and searching."""

_ANNOUNCING_ZH = re.compile(
    "来历|习性|规则|底细|规矩|由来|经过|缘由|缘故|详情|始末|身世|内容|情况|条件|特征|计划|约定|得知|发觉|发现|说明|交代"
    "|告知|描述|介绍|名单|名号|真相|秘密|原因|打算|条款|之法|办法|方法|用法|性情|来意|往事|议事|商议"
)
_ANNOUNCING_EN = re.compile(
    r"\b(?:names?|describe[sd]?|explain(?:s|ed)?|tells?|told|history|details?|terms|conditions|contents|rules"
    r"|habits|origins?|reveal(?:s|ed)?|accounts?|descriptions?|identity|identities|story|learn(?:s|ed|t)?"
    r"|relate[sd]?|background|past|secrets?|reasons?|plans?|circumstances)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class ChosenForm:
    """A memory as it would enter the prompt.

    Args:
        form: full or short.
        text: The stored full or short form, whole.
        tokens: What it costs.
        why: Why the full form was taken although a short one is stored; empty otherwise.
    """

    form: Form
    text: str
    tokens: int
    why: str = ""


def calibrated_relevance(score: float, weights: SelectionWeights) -> float:
    """Map a score to 0-1, one half where the full form begins.

    The score is standardised against all candidates of the same plan, hundreds in a book, so one memory more
    or less does not move it, and the budget has no part in it.
    """
    return 1.0 / (1.0 + math.exp(min(700.0, weights.full_form_score - score)))


def choose_form(
    chunk: StoryMemoryChunk, score: float, weights: SelectionWeights, count_tokens: TokenCounter
) -> ChosenForm:
    """Choose the form of a memory by its relevance, never by what budget is left.

    Args:
        chunk: The memory.
        score: Its score for the planned scene.
        weights: `full_form_score` is the border.
        count_tokens: Counts tokens.

    Returns:
        The full form from the border on, or where the short one is missing, cut, a label or no shorter.
    """
    full = chunk.content.strip()
    cost = count_tokens(full)
    short = (chunk.short or "").strip()
    if chunk.content_type in PASSAGE_TYPES:
        # Measured on the English book: passages whole bring a tenth more far-back facts than their best sentences.
        return ChosenForm("full", full, cost)
    if calibrated_relevance(score, weights) >= 0.5:
        return ChosenForm("full", full, cost, "relevant")
    defect = short_form_defect(short, full, count_tokens)
    if defect:
        return ChosenForm("full", full, cost, defect)
    return ChosenForm("short", short, count_tokens(short))


def short_form_defect(short: str, full: str, count_tokens: TokenCounter) -> str:
    """Tell why a short form cannot stand for the full one.

    Args:
        short: The stored short form; may be empty.
        full: The full form.
        count_tokens: Counts tokens.

    Returns:
        "no short form", "short form is cut", "short form is a label", "short form is no shorter"; empty when
        it will do.
    """
    if not short:
        return "no short form"
    share = count_tokens(short) / max(1, count_tokens(full))
    if share >= NOT_SHORTER:
        return "short form is no shorter"
    if is_cut(short, full):
        return "short form is cut"
    return "short form is a label" if is_label(short, share) else ""


def is_cut(short: str, full: str) -> bool:
    """Tell whether a short form is just the beginning of the full one, broken off inside a sentence."""
    if short.endswith(("...", "……")) or (short.endswith("…") and not full.endswith("…")):
        return True
    if not full.startswith(short) or short == full:
        return False
    return short[-1] not in SENTENCE_ENDS and full[len(short)] not in SENTENCE_ENDS


def is_label(short: str, share: float) -> bool:
    """Tell whether a short form is a title of what the memory tells (妖婿来历与习性) instead of telling it.

    Args:
        short: The short form.
        share: Its tokens as a share of the full form's.

    Returns:
        True when it is far too short, or short and announcing.
    """
    announcing = _ANNOUNCING_ZH if has_cjk(short) else _ANNOUNCING_EN
    return share < BARE_SHARE or (share < LABEL_SHARE and announcing.search(short) is not None)
