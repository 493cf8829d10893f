"""Scores of ranked texts against a book's answer key: far@B, evidence@B, scene@k and leak.

far@B is the grade-weighted share of the gold passages more than three scenes back that are within the first B
tokens; evidence@B is the same over all gold passages. A passage counts as found verbatim, when 60 % of its
character n-grams stand in what was given from its scene, or by a record that conveys it: the item's text holds
the record's full text, or its short form where that suffices. scene@k is the grade-weighted share of the gold
scenes among the first k scenes; leak is the share of items from the planned scene or later.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from novelgen.models.record import SceneRecord
from novelgen.text.language import count_cjk
from runtime.bench.book import BenchBook, BenchPlan, GoldPassage, Place

DEFAULT_BUDGETS = (300, 500, 1000, 2000)
SCENES_COUNTED = (5, 10)
AT_HAND_SCENES = 3
"""A passage of so many scenes back is still at hand for the author."""
FOUND_SHARE = 0.6
NGRAM_LENGTH = {"en": 5, "zh": 2}

_NO_TEXT = re.compile(r"[\W_]+")


@dataclass(frozen=True, slots=True)
class RankedText:
    """One text of a ranking, best first.

    Args:
        place: Chapter and scene that it comes from; (0, 0) for a text without a position.
        text: As it would enter the prompt.
        record_id: memory_id, or `<chapter>:<scene>:summary|key_events:<index>`; None for anything else.
    """

    place: Place
    text: str
    record_id: str | None = None


def rough_tokens(text: str) -> float:
    """Return the benchmark's tokens: one per Chinese character, one per four others, not rounded."""
    chinese = count_cjk(text)
    return chinese + (len(text) - chinese) / 4


@dataclass
class _Given:
    """What fits a budget."""

    ngrams: dict[Place, set[str]] = field(default_factory=dict)
    in_full: set[str] = field(default_factory=set)
    in_short: set[str] = field(default_factory=set)


class AnswerKey:
    """Scores rankings for the plans of one book.

    Args:
        book: The book with its key.
    """

    def __init__(self, book: BenchBook) -> None:
        self._book = book
        self._ngram_length = NGRAM_LENGTH[book.language]
        self._full_texts, self._short_texts = _record_texts(book.book.records.values())
        places = [(scene.chapter_index, scene.scene_index) for scene in book.book.scenes]
        own = (place for place in places if place not in book.other_plots)
        self._order = {place: number for number, place in enumerate(own)}

    def score(
        self, plan: BenchPlan, ranked: Sequence[RankedText], *, budgets: Sequence[int] = DEFAULT_BUDGETS
    ) -> dict[str, float]:
        """Score a ranking.

        Args:
            plan: One of the book's plans.
            ranked: Best first.
            budgets: Tokens, each scored for itself.

        Returns:
            `far@B` and `evidence@B` per budget, `scene@5`, `scene@10` and `leak`, all 0-1; `far@B` is missing
            for a plan without far passages.
        """
        scores: dict[str, float] = {}
        for budget in budgets:
            found = self._found(plan, self._given(ranked, budget))
            scores[f"evidence@{budget}"] = _graded_share(plan.gold, found)
            far = [number for number, gold in enumerate(plan.gold) if self._is_far(plan, gold)]
            if far:
                far_golds = [plan.gold[number] for number in far]
                scores[f"far@{budget}"] = _graded_share(far_golds, [found[number] for number in far])
        return scores | _scene_scores(plan, ranked) | {"leak": _leak(plan, ranked)}

    def _given(self, ranked: Sequence[RankedText], budget: int) -> _Given:
        """Take texts up to the first that does not fit."""
        given, used = _Given(), 0.0
        for each in ranked:
            used += rough_tokens(each.text)
            if used > budget:
                break
            given.ngrams.setdefault(each.place, set()).update(_ngrams(each.text, self._ngram_length))
            self._note_record(each, given)
        return given

    def _note_record(self, each: RankedText, given: _Given) -> None:
        record_id = each.record_id
        if record_id is None:
            return
        text = _plain(each.text)
        if record_id in self._full_texts and self._full_texts[record_id] in text:
            given.in_full.add(record_id)
        elif record_id in self._short_texts and self._short_texts[record_id] in text:
            given.in_short.add(record_id)

    def _found(self, plan: BenchPlan, given: _Given) -> list[bool]:
        return [
            self._stands_verbatim(gold, given) or self._is_conveyed(plan.plan_id, number, given)
            for number, gold in enumerate(plan.gold)
        ]

    def _stands_verbatim(self, gold: GoldPassage, given: _Given) -> bool:
        wanted = _ngrams(gold.quote, self._ngram_length)
        return len(wanted & given.ngrams.get(gold.place, set())) >= FOUND_SHARE * len(wanted)

    def _is_conveyed(self, plan_id: str, number: int, given: _Given) -> bool:
        key = (plan_id, number)
        if given.in_full & self._book.covers.get(key, frozenset()):
            return True
        return bool((given.in_full | given.in_short) & self._book.shorts.get(key, frozenset()))

    def _is_far(self, plan: BenchPlan, gold: GoldPassage) -> bool:
        return self._order[plan.place] - self._order[gold.place] > AT_HAND_SCENES


def mean_scores(rows: Iterable[Mapping[str, float]]) -> dict[str, float]:
    """Return the mean of each score over the rows that have it."""
    collected: dict[str, list[float]] = {}
    for row in rows:
        for name, value in row.items():
            collected.setdefault(name, []).append(value)
    return {name: sum(values) / len(values) for name, values in collected.items()}


def _record_texts(records: Iterable[SceneRecord]) -> tuple[dict[str, str], dict[str, str]]:
    full: dict[str, str] = {}
    short: dict[str, str] = {}
    for record in records:
        for memory in record.memories:
            full[memory.memory_id], short[memory.memory_id] = _plain(memory.content), _plain(memory.short)
        for kind, bullets in (("summary", record.summary), ("key_events", record.key_events)):
            for number, bullet in enumerate(bullets):
                full[f"{record.chapter_index}:{record.scene_index}:{kind}:{number}"] = _plain(bullet)
    return full, short


def _plain(text: str) -> str:
    return _NO_TEXT.sub("", unicodedata.normalize("NFKC", text)).lower()


def _ngrams(text: str, length: int) -> set[str]:
    plain = _plain(text)
    return {plain[start : start + length] for start in range(max(1, len(plain) - length + 1))}


def _graded_share(golds: Sequence[GoldPassage], found: Sequence[bool]) -> float:
    hits = sum(gold.grade for gold, is_found in zip(golds, found, strict=True) if is_found)
    return hits / sum(gold.grade for gold in golds)


def _scene_scores(plan: BenchPlan, ranked: Sequence[RankedText]) -> dict[str, float]:
    scenes = list(dict.fromkeys(each.place for each in ranked))
    grades: dict[Place, int] = {}
    for gold in plan.gold:
        grades[gold.place] = max(gold.grade, grades.get(gold.place, 0))
    total = sum(grades.values())
    return {
        f"scene@{count}": sum(grade for place, grade in grades.items() if place in scenes[:count]) / total
        for count in SCENES_COUNTED
    }


def _leak(plan: BenchPlan, ranked: Sequence[RankedText]) -> float:
    return sum(each.place >= plan.place for each in ranked) / max(1, len(ranked))
