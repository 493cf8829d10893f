"""Filling the budget for memories, with its quota for passages."""

import pytest

from novelgen.memory.budget import Priced, fill
from novelgen.memory.select import select_memories
from novelgen.memory.weights import NeedQuotas, SelectionWeights
from tests.novelgen.memory.build import candidate, crowd, plan_scene

PRICED = [
    Priced("p1", 9.0, 40, is_passage=True),
    Priced("p2", 8.0, 40, is_passage=True),
    Priced("m1", 7.0, 40),
    Priced("m2", 6.0, 40),
]


def test_the_best_gain_goes_first_and_passages_wait_over_their_quota() -> None:
    """Whatever kind it is; distilled memories come in their stead, and what those leave unused goes to passages."""
    assert fill(PRICED, 80, lambda _: None).taken == ("p1", "p2")
    filling = fill(PRICED, 80, lambda _: None, passage_tokens=40)
    assert (filling.taken, filling.no_room) == (("p1", "m1"), ("p2", "m2"))
    assert filling.over_quota == {"p2"}
    filling = fill(PRICED, 160, lambda _: None, passage_tokens=0)
    assert filling.taken == ("p1", "p2", "m1", "m2")
    assert filling.no_room == ()
    assert filling.over_quota == frozenset()


def test_a_taken_passage_lifts_those_that_stand_beside_it() -> None:
    """By less than the points it comes before what was better, and each side counts; one not given lifts nothing."""
    priced = [Priced(name, gain, 10) for name, gain in (("a", 9.0), ("b", 8.0), ("c", 7.5), ("d", 7.2))]
    beside = {"a": ("c",), "b": ("c", "d"), "c": ("a", "b"), "d": ("b",)}
    assert fill(priced, 40, lambda _: None).taken == ("a", "b", "c", "d")
    assert fill(priced, 20, lambda _: None, beside=beside, beside_points=0.6).taken == ("a", "c")
    lifted = fill(priced, 30, lambda _: None, beside={"a": ("d",), "b": ("d",)}, beside_points=0.4)
    assert (lifted.taken, lifted.no_room) == (("a", "b", "d"), ("c",))
    assert lifted.lifted == {"d": pytest.approx(0.8)}
    priced = [Priced("long", 9.0, 50), Priced("near", 7.0, 10), Priced("far", 7.5, 10)]
    filling = fill(priced, 10, lambda _: None, beside={"long": ("near",)}, beside_points=2.0)
    assert filling.taken == ("far",)


def test_a_left_out_passage_names_its_quota() -> None:
    """The receipt says which quota was full."""
    texts = [
        candidate("passage", 3, content="Ada walked down to the harbour in the rain and waited.", content_type="scene")
    ]
    selection = select_memories(
        [*crowd(), *texts],
        plan_scene(),
        weights=SelectionWeights(left_out_receipts=100, least_score=-100),
        budget_tokens=60,
        quotas=NeedQuotas(passages=0),
    )
    assert {each.content_type for each in selection.chunks} == {"memory"}
    reasons = {each.id: each.reason for each in selection.left_out}
    assert reasons["passage"] == "over quotas.passages=0, and no room in the budget"


def test_without_distilled_memories_passages_know_no_quota() -> None:
    """A story without records is told by its passages alone."""
    passages = [
        candidate(f"p{n}", n, content=f"第{n}天，阿黛走到码头去等船。", content_type="scene") for n in (1, 2, 3)
    ]
    free = select_memories(passages, plan_scene(), quotas=NeedQuotas(passages=0), budget_tokens=30)
    assert [item.chunk_id for item in free.items] == [
        item.chunk_id for item in select_memories(passages, plan_scene(), budget_tokens=30).items
    ]
    assert free.items
