"""Scores of ranked texts against a book's answer key: far@B, evidence@B, scene@k and leak.

far@B is the grade-weighted share of the gold passages more than three scenes back that are within the first B
tokens; evidence@B is the same over all gold passages. A passage counts as found verbatim, when 60 % of its
character n-grams stand in what was given from its scene, or by a record that conveys it: the item's text holds
the record's full text, or its short form where that suffices. scene@k is the grade-weighted share of the gold
scenes among the first k scenes; leak is the share of items from the planned scene or later.

Entity states are compared with the fold of the records strictly before the scene.
"""

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pydantic import BaseModel, Field

from novelgen.language.language import count_cjk
from novelgen.models.record import SceneRecord
from novelgen.models.state import PRESENCE_ATTRIBUTE, EntityStateSnapshot
from tests.benchmarks.retrieval.book import BenchBook, BenchPlan, GoldPassage, Place

DEFAULT_BUDGETS = (300, 500, 1000, 2000)
SCENES_COUNTED = (5, 10)
AT_HAND_SCENES = 3
"""A passage of so many scenes back is still at hand for the author."""
FOUND_SHARE = 0.6
NGRAM_LENGTH = {"en": 5, "zh": 2}

_NO_TEXT = re.compile(r"[\W_]+")


@dataclass(frozen=True, slots=True)
class RankedText:
    """One text of a ranking, best first."""

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
    """Scores rankings for the plans of one book."""

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
        """Score a ranking."""
        scores: dict[str, float] = {}
        for budget in budgets:
            found = self._found(plan, self._given(ranked, budget))
            scores[f"evidence@{budget}"] = _graded_share(plan.gold, found)
            far = [number for number, gold in enumerate(plan.gold) if self._is_far(plan, gold)]
            if far:
                far_golds = [plan.gold[number] for number in far]
                scores[f"far@{budget}"] = _graded_share(far_golds, [found[number] for number in far])
        return scores | _scene_scores(plan, ranked) | {"leak": _leak(plan, ranked)}

    def score_page(self, plan: BenchPlan, page: str) -> dict[str, float]:
        """Score a whole page: the share of all passages, and of the far ones, that stand on it in any form."""
        found = self.conveyed_by(plan, page)
        far = self.graded_share(plan, found, far=True)
        shares = {"all": _graded_share(plan.gold, found), "tokens": rough_tokens(page)}
        return shares | ({"far": far} if far is not None else {})

    def conveyed_by(self, plan: BenchPlan, page: str) -> list[bool]:
        """Return for each needed passage whether a page conveys it."""
        plain, ngrams = _plain(page), _ngrams(page, self._ngram_length)
        given = _Given(dict.fromkeys((gold.place for gold in plan.gold), ngrams))
        given.in_full.update(each for each, text in self._full_texts.items() if text and text in plain)
        given.in_short.update(each for each, text in self._short_texts.items() if text and text in plain)
        return self._found(plan, given)

    def told_by_records(self, plan: BenchPlan) -> list[bool]:
        """Return for each needed passage whether a record conveys it."""
        return [bool(self._book.covers.get((plan.plan_id, number))) for number in range(len(plan.gold))]

    def graded_share(self, plan: BenchPlan, found: Sequence[bool], *, far: bool = False) -> float | None:
        """Return the graded share of found passages, None without far ones."""
        pairs = [(gold, is_found) for gold, is_found in zip(plan.gold, found, strict=True)]
        pairs = [pair for pair in pairs if not far or self._is_far(plan, pair[0])]
        return _graded_share([gold for gold, _ in pairs], [is_found for _, is_found in pairs]) if pairs else None

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


class StateAccuracy(BaseModel):
    """How true the states of all contexts were."""

    accuracy: float = Field(description="Share of attributes, returned or due, that equal the fold.")
    coverage: float = Field(description="Share of the plans' entities whose state was returned.")
    coverage_of_known: float = Field(description="The same among those with a recorded state before the scene.")
    attributes: int
    snapshots: int
    wrong: int = Field(description="Attributes that differ from the fold, stale and later ones included.")
    stale: int = Field(description="Attributes with a value that was replaced or cleared before the scene.")
    later: int = Field(description="Attributes with a value that only the scene itself or a later one sets.")
    entities_wanted: int
    entities_returned: int
    known_wanted: int
    known_returned: int


@dataclass(frozen=True, slots=True)
class _Change:
    place: Place
    value: Any


class StateKey:
    """The records' state changes, per entity and attribute in story order."""

    def __init__(self, records: Iterable[SceneRecord]) -> None:
        self._changes: dict[str, dict[str, list[_Change]]] = {}
        for record in sorted(records, key=lambda each: (each.chapter_index, each.scene_index)):
            place = (record.chapter_index, record.scene_index)
            for change in record.state_changes:
                history = self._changes.setdefault(change.entity_id, {})
                for attribute, value in change.changes.items():
                    history.setdefault(attribute, []).append(_Change(place, value))

    def fold(self, entity_id: str, before: Place) -> dict[str, Any]:
        """Return an entity's state on entering a scene; cleared attributes are absent."""
        last: dict[str, Any] = {}
        for attribute, history in self._changes.get(entity_id, {}).items():
            values = [change.value for change in history if change.place < before]
            if values and values[-1] is not None:
                last[attribute] = values[-1]
        return last

    def fault(self, entity_id: str, attribute: str, value: Any, before: Place) -> str:
        """Say what kind of wrong a value is: `stale`, `later` or `wrong`."""
        history = self._changes.get(entity_id, {}).get(attribute, [])
        if any(change.place < before and change.value == value for change in history):
            return "stale"
        return "later" if any(change.value == value for change in history) else "wrong"


def measure_states(
    book: BenchBook, contexts: Iterable[tuple[BenchPlan, Sequence[EntityStateSnapshot]]]
) -> StateAccuracy:
    """Compare the states of contexts with the records."""
    key = StateKey(book.book.records.values())
    names = ("right", "wrong", "stale", "later", "snapshots", "wanted", "returned", "known", "known_returned")
    counts = dict.fromkeys(names, 0)
    for plan, states in contexts:
        data = {each.entity_id: _without_presence(each.state_data) for each in states}
        wanted = {each.entity_id for each in plan.states}
        counts["wanted"] += len(wanted)
        counts["returned"] += len(wanted & data.keys())
        known = {entity_id for entity_id in wanted if key.fold(entity_id, plan.place)}
        counts["known"] += len(known)
        counts["known_returned"] += len(known & data.keys())
        counts["snapshots"] += len(data)
        for entity_id, state in data.items():
            for outcome in _outcomes(key, entity_id, state, plan.place):
                counts[outcome] += 1
    return _figures(counts)


def _outcomes(key: StateKey, entity_id: str, state: Mapping[str, Any], before: Place) -> list[str]:
    """Judge each attribute that was returned or is due; one that is due and missing is wrong."""
    due = key.fold(entity_id, before)
    return [
        "right"
        if state.get(attribute) == due.get(attribute)
        else key.fault(entity_id, attribute, state[attribute], before)
        if attribute in state
        else "wrong"
        for attribute in sorted(due.keys() | state.keys())
    ]


def _figures(counts: Mapping[str, int]) -> StateAccuracy:
    faults = counts["wrong"] + counts["stale"] + counts["later"]
    attributes = counts["right"] + faults
    return StateAccuracy(
        accuracy=_share(counts["right"], attributes),
        coverage=_share(counts["returned"], counts["wanted"]),
        coverage_of_known=_share(counts["known_returned"], counts["known"]),
        attributes=attributes,
        snapshots=counts["snapshots"],
        wrong=faults,
        stale=counts["stale"],
        later=counts["later"],
        entities_wanted=counts["wanted"],
        entities_returned=counts["returned"],
        known_wanted=counts["known"],
        known_returned=counts["known_returned"],
    )


def _share(part: int, whole: int) -> float:
    return part / whole if whole else 1.0


def _without_presence(state: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in state.items() if name != PRESENCE_ATTRIBUTE}
