"""far@B, evidence@B, scene@k and leak on a hand-made book."""

from __future__ import annotations

from dataclasses import replace

import pytest

from runtime.bench.book import BenchBook
from runtime.bench.scoring import AnswerKey, RankedText, mean_scores, rough_tokens

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
    """A memory that conveys a gold passage counts by its grade: 2 of 3 far points, 2 of 5 in all."""
    scores = key.score(book.plans[0], [KEY_HIDDEN], budgets=[100])
    assert scores["far@100"] == pytest.approx(2 / 3)
    assert scores["evidence@100"] == pytest.approx(2 / 5)


def test_a_short_form_counts_only_where_it_suffices(book: BenchBook, key: AnswerKey) -> None:
    """The key's short form says enough, the promise's is a label."""
    assert key.score(book.plans[0], [KEY_HIDDEN_SHORT], budgets=[100])["far@100"] == pytest.approx(2 / 3)
    assert key.score(book.plans[0], [PROMISE_SHORT], budgets=[100])["far@100"] == 0


def test_a_record_id_with_other_text_proves_nothing(book: BenchBook, key: AnswerKey) -> None:
    """What counts is the text that was given, not the id that it claims."""
    claimed = replace(KEY_HIDDEN, text="Something about a key.")
    assert key.score(book.plans[0], [claimed], budgets=[100])["far@100"] == 0


def test_a_quote_counts_verbatim_and_only_from_its_own_scene(book: BenchBook, key: AnswerKey) -> None:
    """A passage with most of the quote is found; the same words from another scene are not it."""
    passage = RankedText((1, 1), "... brass key under the third stair of the lighthouse.")
    assert key.score(book.plans[0], [passage], budgets=[100])["far@100"] == pytest.approx(2 / 3)
    moved = replace(passage, place=(2, 1))
    assert key.score(book.plans[0], [moved], budgets=[100])["far@100"] == 0


def test_what_stands_after_the_budget_does_not_count(book: BenchBook, key: AnswerKey) -> None:
    """Texts are taken up to the first that does not fit, even if a later one would."""
    long_text = RankedText((2, 1), "word " * 100)
    scores = key.score(book.plans[0], [long_text, KEY_HIDDEN], budgets=[50, 500])
    assert (scores["far@50"], scores["far@500"]) == (0, pytest.approx(2 / 3))


def test_scenes_at_hand_are_evidence_but_not_far(book: BenchBook, key: AnswerKey) -> None:
    """The sale two scenes back is evidence and no far fact."""
    scores = key.score(book.plans[0], [KEY_SOLD], budgets=[100])
    assert (scores["far@100"], scores["evidence@100"]) == (0, pytest.approx(2 / 5))


def test_scenes_of_other_plots_are_no_distance(book: BenchBook) -> None:
    """The sale is three scenes back in its own plot, and four when the baker's scene counts."""
    plan = book.plans[1]
    assert AnswerKey(book).score(plan, [MARIGOLD], budgets=[100])["far@100"] == 1
    counted = AnswerKey(replace(book, other_plots=frozenset()))
    assert counted.score(plan, [MARIGOLD], budgets=[100])["far@100"] == pytest.approx(2 / 3)


def test_a_plan_without_far_passages_has_no_far_score(book: BenchBook) -> None:
    """Where everything is at hand, far@B is missing and does not lower the mean."""
    near = book.plans[0].model_copy(update={"gold": book.plans[0].gold[2:]})
    assert "far@100" not in AnswerKey(book).score(near, [KEY_SOLD], budgets=[100])


def test_scenes_and_leak_are_counted_over_the_ranking(book: BenchBook, key: AnswerKey) -> None:
    """scene@5 weighs gold scenes by grade; an item of the planned scene is a leak."""
    leaked = RankedText((3, 3), "Ada swore an oath.", "M006")
    scores = key.score(book.plans[0], [KEY_HIDDEN, KEY_HIDDEN_SHORT, leaked, PROMISE_SHORT], budgets=[100])
    assert scores["scene@5"] == pytest.approx(3 / 5)
    assert scores["leak"] == pytest.approx(1 / 4)


def test_nothing_found_scores_nothing(book: BenchBook, key: AnswerKey) -> None:
    """An empty ranking has zeros everywhere, leak included."""
    scores = key.score(book.plans[0], [], budgets=[100])
    assert set(scores.values()) == {0.0}


def test_tokens_are_not_rounded() -> None:
    """A Chinese character is a token, any other character a quarter."""
    assert rough_tokens("钥匙key") == 2.75


def test_means_are_over_the_rows_that_have_a_score() -> None:
    """A score that a row lacks is left out of its mean."""
    assert mean_scores([{"leak": 0.0, "far@100": 1.0}, {"leak": 1.0}]) == {"leak": 0.5, "far@100": 1.0}
