"""Full or short form of a memory, its price, and filling a token budget by gain per token."""

import math
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from heapq import heapify, heappop, heappush
from types import MappingProxyType
from typing import NamedTuple

from novelgen.language.language import TokenCounter, has_cjk, word_pattern
from novelgen.language.sentences import SENTENCE_ENDS
from novelgen.memory.weights import SelectionWeights
from novelgen.models.context import Form
from novelgen.models.memory import PASSAGE_TYPES, StoryMemoryChunk

NOT_SHORTER = 0.8
"""From this share of the full form's tokens on, a short form saves nothing worth its loss."""

BARE_SHARE = 0.2
"""Under this share of the full form's tokens, a short form can only be a title."""

LABEL_SHARE = 0.4
"""Under this share, a short form that announces something (its "terms", its "origin") does not tell it."""


_ANNOUNCING_ZH = re.compile(
    "来历|习性|规则|底细|规矩|由来|经过|缘由|缘故|详情|始末|身世|内容|情况|条件|特征|计划|约定|得知|发觉|发现|说明|交代"
    "|告知|描述|介绍|名单|名号|真相|秘密|原因|打算|条款|之法|办法|方法|用法|性情|来意|往事|议事|商议"
)

_ANNOUNCING_EN = word_pattern("budget_announcing_en")


@dataclass(frozen=True)
class ChosenForm:
    """A memory as it would enter the prompt."""

    form: Form
    text: str
    tokens: int
    why: str = ""


def choose_form(
    chunk: StoryMemoryChunk, score: float, weights: SelectionWeights, count_tokens: TokenCounter
) -> ChosenForm:
    """Choose full or short form from the score alone."""
    full = chunk.content.strip()
    cost = count_tokens(full)
    short = (chunk.short or "").strip()
    if chunk.content_type in PASSAGE_TYPES:
        # Measured on the English book: passages whole bring a tenth more far-back facts than their best sentences.
        return ChosenForm("full", full, cost)
    if score >= weights.full_form_score:
        return ChosenForm("full", full, cost, "relevant")
    defect = short_form_defect(short, full, count_tokens)
    if defect:
        return ChosenForm("full", full, cost, defect)
    return ChosenForm("short", short, count_tokens(short))


SURE_PLACES = 20
"""So many of those that a model chose have room, in short forms if need be, before the foremost become full.

Measured on the English book as read, of 0 to 60 (docs/research/measured.md)."""


def forms_of_chosen(
    chunks: Sequence[StoryMemoryChunk], budget_tokens: int, count_tokens: TokenCounter
) -> dict[str, ChosenForm]:
    """Choose the forms of a model's memories, the first in full.

    Args:
        chunks: The memories, the most needed first.
        budget_tokens: Tokens for all of them.
        count_tokens: Token counter of the budget.

    Returns:
        The form of each; from the first short one on all are short, but those without a short form that tells enough.
    """
    forms: dict[str, ChosenForm] = {}
    fulls = {chunk.chunk_id: _full_form(chunk, count_tokens) for chunk in chunks}
    shorts = {chunk.chunk_id: _short_form(chunk, count_tokens) or fulls[chunk.chunk_id] for chunk in chunks}
    remaining_tokens = budget_tokens - sum(shorts[chunk.chunk_id].tokens for chunk in chunks[:SURE_PLACES])
    is_room = True
    for place, chunk in enumerate(chunks):
        full, short = fulls[chunk.chunk_id], shorts[chunk.chunk_id]
        reserved = short.tokens if place < SURE_PLACES else 0
        is_room = is_room and full.tokens - reserved <= remaining_tokens
        remaining_tokens -= full.tokens - reserved if is_room else 0
        forms[chunk.chunk_id] = full if is_room else short
    return forms


def _full_form(chunk: StoryMemoryChunk, count_tokens: TokenCounter) -> ChosenForm:
    full = chunk.content.strip()
    return ChosenForm("full", full, count_tokens(full), "chosen by the model")


def _short_form(chunk: StoryMemoryChunk, count_tokens: TokenCounter) -> ChosenForm | None:
    """Return the short form where it can stand for the full one."""
    short = (chunk.short or "").strip()
    if short_form_defect(short, chunk.content.strip(), count_tokens):
        return None
    return ChosenForm("short", short, count_tokens(short))


def short_form_defect(short: str, full: str, count_tokens: TokenCounter) -> str:
    """Tell why a short form cannot stand for the full one."""
    if not short:
        return "no short form"
    share = count_tokens(short) / max(1, count_tokens(full))
    if share >= NOT_SHORTER:
        return "short form is no shorter"
    if is_cut(short, full):
        return "short form is cut"
    # A title of what the memory tells (妖婿来历与习性) does not tell it.
    announcing = _ANNOUNCING_ZH if has_cjk(short) else _ANNOUNCING_EN
    is_label = share < BARE_SHARE or (share < LABEL_SHARE and announcing.search(short) is not None)
    return "short form is a label" if is_label else ""


def is_cut(short: str, full: str) -> bool:
    """Tell whether a short form is just the beginning of the full one, broken off inside a sentence."""
    if short.endswith(("...", "……")) or (short.endswith("…") and not full.endswith("…")):
        return True
    if not full.startswith(short) or short == full:
        return False
    return short[-1] not in SENTENCE_ENDS and full[len(short)] not in SENTENCE_ENDS


def gain_per_token(score: float, tokens: int, weights: SelectionWeights) -> float:
    """Weigh a score against the cost of its form."""
    return score - weights.length_discount * math.log(max(1, tokens))


class Priced(NamedTuple):
    """A candidate's value and cost."""

    gain: float
    tokens: int


@dataclass(frozen=True)
class Filling:
    """A filled budget by chunk id: memories taken and missed, best first."""

    taken: tuple[str, ...]
    no_room: tuple[str, ...]
    duplicates: dict[str, str]
    lifted: Mapping[str, float]
    over_count: frozenset[str]


def fill(
    priced: Mapping[str, Priced],
    budget_tokens: int,
    stand_in: Callable[[str], str | None],
    *,
    beside: Mapping[str, Sequence[str]] = MappingProxyType({}),
    beside_points: float = 0.0,
    top_k: int | None = None,
) -> Filling:
    """Pack greedily by gain per token, skipping memories that do not fit.

    What stands beside something taken gains `beside_points`, which are not negative, while it still waits.
    """
    waiting_scores = {chunk_id: entry.gain for chunk_id, entry in priced.items()}
    queue = [(-gain, chunk_id) for chunk_id, gain in waiting_scores.items()]
    heapify(queue)
    taken_scores: dict[str, float] = {}
    no_room: dict[str, float] = {}
    duplicates: dict[str, str] = {}
    lifted: dict[str, float] = {}
    over_count: set[str] = set()
    remaining_tokens = budget_tokens
    while queue:
        _, chunk_id = heappop(queue)
        # A raised entry also has its old place, which comes later; by then it is out.
        gain = waiting_scores.pop(chunk_id, None)
        if gain is None:
            continue
        cost = priced[chunk_id].tokens
        is_over_count = top_k is not None and len(taken_scores) >= top_k
        if is_over_count or not 0 < cost <= remaining_tokens:
            no_room[chunk_id] = gain
            over_count.update([chunk_id] if is_over_count else ())
        elif (twin := stand_in(chunk_id)) is not None:
            duplicates[chunk_id] = twin
        else:
            taken_scores[chunk_id] = gain
            remaining_tokens -= cost
            for near in beside.get(chunk_id, ()):
                if near in waiting_scores:
                    lifted[near] = lifted.get(near, 0.0) + beside_points
                    waiting_scores[near] += beside_points
                    heappush(queue, (-waiting_scores[near], near))
    taken_first, missed_first = (
        tuple(sorted(fields, key=lambda name: (-fields[name], name))) for fields in (taken_scores, no_room)
    )
    lifted = {chunk_id: points for chunk_id, points in lifted.items() if chunk_id in taken_scores}
    return Filling(taken_first, missed_first, duplicates, lifted, frozenset(over_count))


def fill_further(
    filling: Filling,
    priced: Mapping[str, Priced],
    spare_tokens: int,
    stand_in: Callable[[str], str | None],
    *,
    beside: Mapping[str, Sequence[str]] = MappingProxyType({}),
    beside_points: float = 0.0,
    top_k: int | None = None,
) -> Filling:
    """Fill spare tokens with candidates that had no room."""
    left_count = None if top_k is None else max(0, top_k - len(filling.taken))
    neighbours = Counter(near for chunk_id in filling.taken for near in beside.get(chunk_id, ()))
    raised = {
        chunk_id: price._replace(gain=price.gain + beside_points * neighbours[chunk_id])
        for chunk_id, price in priced.items()
    }
    more = fill(raised, spare_tokens, stand_in, beside=beside, beside_points=beside_points, top_k=left_count)
    lifted = {
        chunk_id: beside_points * neighbours[chunk_id] + more.lifted.get(chunk_id, 0.0)
        for chunk_id in more.taken
        if neighbours[chunk_id] or chunk_id in more.lifted
    }
    taken = set(more.taken) | more.duplicates.keys()
    return Filling(
        taken=(*filling.taken, *more.taken),
        no_room=tuple(chunk_id for chunk_id in filling.no_room if chunk_id not in taken),
        duplicates={**filling.duplicates, **more.duplicates},
        lifted={**filling.lifted, **lifted},
        over_count=frozenset(filling.over_count - taken),
    )
