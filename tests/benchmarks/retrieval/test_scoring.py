"""far@B, evidence@B, scene@k and leak, and the accuracy of states, on a hand-made book."""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from novelgen.models.state import EntityStateSnapshot
from tests.benchmarks.retrieval.book import BenchBook
from tests.benchmarks.retrieval.scoring import (
    AnswerKey,
    RankedText,
    StateKey,
    mean_scores,
    measure_states,
    rough_tokens,
)

KEY_HIDDEN = RankedText((1, 1), "Ada concealed the key beneath the third stair.", "M001")
KEY_HIDDEN_SHORT = RankedText((1, 1), "Key beneath third stair", "M001")
PROMISE_SHORT = RankedText((1, 2), "Ben's word", "M002")
KEY_SOLD = RankedText((2, 2), "Cornelius bought the key from Ben for bread.", "M004")
MARIGOLD = RankedText((2, 1), "The logbook names a wreck, the Marigold.", "M003")


@pytest.fixture
def key(book: BenchBook) -> AnswerKey:
    """The answer key of the hand-made book."""
    return AnswerKey(book)


def test_a_covering_memory_in_full_counts(book: BenchBook, key: AnswerKey) -> None:
    """By its grade; a short form only where it suffices, and the text that was given, not the id that it claims."""
    scores = key.score(book.plans[0], [KEY_HIDDEN], budgets=[100])
    assert scores["far@100"] == pytest.approx(2 / 3)
    assert scores["evidence@100"] == pytest.approx(2 / 5)
    assert key.score(book.plans[0], [KEY_HIDDEN_SHORT], budgets=[100])["far@100"] == pytest.approx(2 / 3)
    assert key.score(book.plans[0], [PROMISE_SHORT], budgets=[100])["far@100"] == 0
    claimed = replace(KEY_HIDDEN, text="Something about a key.")
    assert key.score(book.plans[0], [claimed], budgets=[100])["far@100"] == 0


def test_a_quote_counts_verbatim_and_only_from_its_own_scene(book: BenchBook, key: AnswerKey) -> None:
    """A passage with most of the quote is found; the same words from another scene are not it."""
    passage = RankedText((1, 1), "... brass key under the third stair of the lighthouse.")
    assert key.score(book.plans[0], [passage], budgets=[100])["far@100"] == pytest.approx(2 / 3)
    moved = replace(passage, place=(2, 1))
    assert key.score(book.plans[0], [moved], budgets=[100])["far@100"] == 0


def test_a_page_conveys_what_stands_on_it_in_any_form(book: BenchBook, key: AnswerKey) -> None:
    """In full, in a short form that suffices, or word for word; a mere label conveys nothing."""
    shares = [
        key.score_page(book.plans[0], page)["far"]
        for page in (
            f"- [1:1] {KEY_HIDDEN.text}",
            f"- {KEY_HIDDEN_SHORT.text}",
            "He said: brass key under the third stair of the lighthouse.",
            PROMISE_SHORT.text,
        )
    ]
    assert shares == [pytest.approx(2 / 3)] * 3 + [0]


def test_what_stands_after_the_budget_does_not_count(book: BenchBook, key: AnswerKey) -> None:
    """Texts are taken up to the first that does not fit, even if a later one would."""
    long_text = RankedText((2, 1), "word " * 100)
    scores = key.score(book.plans[0], [long_text, KEY_HIDDEN], budgets=[50, 500])
    assert (scores["far@50"], scores["far@500"]) == (0, pytest.approx(2 / 3))


def test_scenes_at_hand_are_evidence_but_not_far(book: BenchBook, key: AnswerKey) -> None:
    """Scenes of other plots are no distance, and where everything is at hand far@B is missing."""
    scores = key.score(book.plans[0], [KEY_SOLD], budgets=[100])
    assert (scores["far@100"], scores["evidence@100"]) == (0, pytest.approx(2 / 5))
    plan = book.plans[1]
    assert AnswerKey(book).score(plan, [MARIGOLD], budgets=[100])["far@100"] == 1
    counted = AnswerKey(replace(book, other_plots=frozenset()))
    assert counted.score(plan, [MARIGOLD], budgets=[100])["far@100"] == pytest.approx(2 / 3)
    near = book.plans[0].model_copy(update={"gold": book.plans[0].gold[2:]})
    assert "far@100" not in AnswerKey(book).score(near, [KEY_SOLD], budgets=[100])


def test_scenes_and_leak_are_counted_over_the_ranking(book: BenchBook, key: AnswerKey) -> None:
    """By grade, an item of the planned scene leaks, tokens are not rounded, means skip what lacks."""
    leaked = RankedText((3, 3), "Ada swore an oath.", "M006")
    scores = key.score(book.plans[0], [KEY_HIDDEN, KEY_HIDDEN_SHORT, leaked, PROMISE_SHORT], budgets=[100])
    assert scores["scene@5"] == pytest.approx(3 / 5)
    assert scores["leak"] == pytest.approx(1 / 4)
    scores = key.score(book.plans[0], [], budgets=[100])
    assert set(scores.values()) == {0.0}
    assert rough_tokens("钥匙key") == 2.75
    assert mean_scores([{"leak": 0.0, "far@100": 1.0}, {"leak": 1.0}]) == {"leak": 0.5, "far@100": 1.0}


def snapshot(entity_id: str, **state: Any) -> EntityStateSnapshot:
    """Return a snapshot with a state."""
    return EntityStateSnapshot(
        project_id="p",
        entity_type="item",
        entity_id=entity_id,
        timestamp=datetime(2020, 1, 1, tzinfo=UTC),
        state_data=state,
    )


def test_states_are_held_against_the_fold_before_the_scene(book: BenchBook) -> None:
    """Cleared ones are gone, presence is none, and a value of the planned scene is from later."""
    key = StateKey(book.book.records.values())
    assert key.fold("I0", (2, 2)) == {"location_id": "L0", "hidden": True}
    assert key.fold("I0", (4, 1)) == {"holder": "C2"}
    assert key.fold("C9", (4, 1)) == {}
    states = [snapshot("I0", holder="C2", presence={"location_id": "L0"}), snapshot("C1", goals=[])]
    found = measure_states(book, [(book.plans[0], states)])
    assert (found.accuracy, found.coverage, found.attributes, found.wrong) == (1, 1, 2, 0)
    states = [snapshot("C0", goals=["find who let the lamp die"])]
    found = measure_states(book, [(book.plans[0], states)])
    assert (found.later, found.stale, found.accuracy) == (1, 0, 0)


@pytest.mark.parametrize(
    ("state", "fault"),
    [
        ({"holder": "C2", "hidden": True}, "stale"),
        ({"holder": "C2", "location_id": "L0"}, "stale"),
        ({"holder": "C0"}, "wrong"),
        ({}, "wrong"),
    ],
)
def test_a_false_state_is_told_by_its_kind(book: BenchBook, state: dict[str, Any], fault: str) -> None:
    """A value that was cleared is stale; an invented or a missing one is wrong."""
    found = measure_states(book, [(book.plans[0], [snapshot("I0", **state)])])
    assert found.wrong == 1
    assert found.stale == (fault == "stale")
    assert found.later == 0
