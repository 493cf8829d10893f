"""Full or short form of a memory, its price, and filling a token budget by gain per token."""

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from heapq import heapify, heappop, heappush
from types import MappingProxyType

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
    """Choose the form of a memory by its score, never by what budget is left.

    The score is standardised against all candidates of the same plan, hundreds in a book, so one memory more or less
    does not move it.
    """
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


def short_form_defect(short: str, full: str, count_tokens: TokenCounter) -> str:
    """Tell why a short form cannot stand for the full one."""
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
    """Tell whether a short form is a title of what the memory tells (妖婿来历与习性) instead of telling it."""
    announcing = _ANNOUNCING_ZH if has_cjk(short) else _ANNOUNCING_EN
    return share < BARE_SHARE or (share < LABEL_SHARE and announcing.search(short) is not None)


@dataclass(frozen=True)
class Priced:
    """One candidate ready to be packed."""

    chunk_id: str
    gain: float
    tokens: int
    is_passage: bool = False


def gain_per_token(score: float, tokens: int, weights: SelectionWeights) -> float:
    """Weigh a score against what its form costs."""
    return score - weights.length_discount * math.log(max(1, tokens))


@dataclass(frozen=True)
class Filling:
    """How a budget was filled."""

    taken: tuple[str, ...]
    no_room: tuple[str, ...]
    duplicates: dict[str, str]
    over_quota: frozenset[str] = frozenset()
    lifted: Mapping[str, float] = field(default_factory=dict)
    over_count: frozenset[str] = frozenset()


def fill(
    priced: Iterable[Priced],
    budget_tokens: int,
    stand_in: Callable[[str], str | None],
    *,
    passage_tokens: int | None = None,
    beside: Mapping[str, Sequence[str]] = MappingProxyType({}),
    beside_points: float = 0.0,
    top_k: int | None = None,
) -> Filling:
    """Pack greedily, best gain per token first; what does not fit is passed over for what does."""
    taken: list[Priced] = []
    no_room: list[Priced] = []
    over_count: set[str] = set()
    waiting: list[Priced] = []
    duplicates: dict[str, str] = {}
    left = budget_tokens
    left_for_passages = budget_tokens if passage_tokens is None else passage_tokens

    def offer(entry: Priced) -> bool:
        nonlocal left
        is_over_count = top_k is not None and len(taken) >= top_k
        if is_over_count or not 0 < entry.tokens <= left:
            no_room.append(entry)
            over_count.update([entry.chunk_id] if is_over_count else ())
            return False
        twin = stand_in(entry.chunk_id)
        if twin is not None:
            duplicates[entry.chunk_id] = twin
            return False
        taken.append(entry)
        left -= entry.tokens
        return True

    queue = _Queue(priced)
    while (entry := queue.pop()) is not None:
        if entry.is_passage and entry.tokens > left_for_passages:
            waiting.append(entry)
        elif offer(entry):
            left_for_passages -= entry.tokens if entry.is_passage else 0
            queue.lift(beside.get(entry.chunk_id, ()), beside_points)
    for entry in waiting:
        offer(entry)
    return Filling(
        taken=tuple(entry.chunk_id for entry in sorted(taken, key=_best_first)),
        no_room=tuple(entry.chunk_id for entry in sorted(no_room, key=_best_first)),
        duplicates=duplicates,
        over_quota=frozenset(entry.chunk_id for entry in waiting).intersection(entry.chunk_id for entry in no_room),
        lifted={each.chunk_id: queue.lifted[each.chunk_id] for each in taken if each.chunk_id in queue.lifted},
        over_count=frozenset(over_count),
    )


class _Queue:
    """Gives out entries best first, while the gain of those that still wait may rise."""

    def __init__(self, priced: Iterable[Priced]) -> None:
        self._waiting = {entry.chunk_id: entry for entry in priced}
        self.lifted: dict[str, float] = {}
        self._heap = [_best_first(entry) for entry in self._waiting.values()]
        heapify(self._heap)

    def pop(self) -> Priced | None:
        """Give out the best that waits; None when all are out."""
        while self._heap:
            place = heappop(self._heap)
            entry = self._waiting.get(place[1])
            # A raised entry also has its old place, which comes later; by then it is out.
            if entry is not None:
                del self._waiting[entry.chunk_id]
                return entry
        return None

    def lift(self, chunk_ids: Iterable[str], points: float) -> None:
        """Raise the gain of those that still wait; `points` are not negative."""
        for chunk_id in chunk_ids:
            if chunk_id in self._waiting:
                entry = self._waiting[chunk_id]
                self.lifted[chunk_id] = self.lifted.get(chunk_id, 0.0) + points
                self._waiting[chunk_id] = replace(entry, gain=entry.gain + points)
                heappush(self._heap, _best_first(self._waiting[chunk_id]))


def _best_first(entry: Priced) -> tuple[float, str]:
    return (-entry.gain, entry.chunk_id)
