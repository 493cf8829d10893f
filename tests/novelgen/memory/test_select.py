"""Behaviour of the choice as a whole."""

import dataclasses
import random

import pytest

from novelgen.memory.search import SelectionScene
from novelgen.memory.select import merge_candidates, select_memories
from novelgen.memory.weights import SelectionWeights
from novelgen.models.context import LeftOutWhy
from novelgen.models.state import OpenLoop
from tests.novelgen.memory.build import candidate, crowd, lexical, plan_scene, semantic

EVERYTHING = SelectionWeights(left_out_receipts=50, least_score=-100)
"""Weights of a choice that fills its room whatever it is filled with."""


def ids(selection) -> list[str]:
    """Chunk ids of the items in order."""
    return [item.chunk_id for item in selection.items]


def test_order_of_input_never_matters() -> None:
    """Nothing in, nothing out; shuffled the same items, receipts and left-outs; ties go by id."""
    for scene in (plan_scene(), SelectionScene(ordinal=0)):
        selection = select_memories([], scene)
        assert (selection.items, selection.left_out, selection.tokens) == ((), (), 0)
    candidates = [
        *crowd(30, importance=4),
        candidate("star", 31, axis=0, importance=9, hits=(lexical(1, 3.0), semantic(2, 0.9))),
    ]
    scene = plan_scene(axis=0)
    first = select_memories(candidates, scene, budget_tokens=120)
    shuffled = random.Random(7).sample(candidates, len(candidates))
    assert select_memories(shuffled, scene, budget_tokens=120) == first
    assert ids(select_memories(crowd(5), plan_scene())) == ["c01", "c02", "c03", "c04", "c05"]


@pytest.mark.parametrize("budget", [0, 1, 9, 10, 33, 100, 1000])
def test_budget_is_never_exceeded(budget):
    """The chosen texts cost at most the budget, and each item says what it costs."""
    selection = select_memories(crowd(40), plan_scene(), budget_tokens=budget, count_tokens=len)
    assert selection.tokens <= budget
    assert all(item.tokens == len(item.text) for item in selection.items)


def test_what_does_not_fit_or_is_not_likely_needed_is_left_out() -> None:
    """With its reason and what lowered it; of a handful, and of a story that fits whole, everything is taken."""
    long = candidate("long", 1, importance=10, content="A long tale. " * 40)
    selection = select_memories([long, *crowd(15)], plan_scene(), budget_tokens=50)
    assert "long" not in ids(selection)
    assert selection.items
    assert "no room in the budget" in {left.reason for left in selection.left_out if left.id == "long"}
    trifles = [candidate(f"t{i:02d}", i, importance=1, content=f"Trifle{i:02d} " * 120) for i in range(1, 11)]
    weighty = [candidate(f"w{i:02d}", i, importance=8) for i in range(11, 21)]
    selection = select_memories([*trifles, *weighty], plan_scene(), weights=SelectionWeights(least_score=0))
    assert ids(selection) == [f"w{i:02d}" for i in range(11, 21)]
    assert {each.why.code for each in selection.left_out} == {"unlikely"}
    assert "below least_score=0" in selection.left_out[0].reason
    whole = select_memories(
        [*trifles, *weighty], plan_scene(), weights=SelectionWeights(least_score=0), budget_tokens=9_000
    )
    assert len(whole.items) == 20
    weights = SelectionWeights(left_out_receipts=2)
    selection = select_memories(
        [candidate(f"o{i}", i, superseded_by="n") for i in range(1, 6)], plan_scene(), weights=weights, budget_tokens=0
    )
    assert len(selection.left_out) == 2
    assert LeftOutWhy.model_validate({"code": "over_quota", "values": {"quota": "x"}}).code == "no_room"
    assert {left.reason for left in selection.left_out} == {"no room in the budget; lowered as superseded"}


def test_what_speaks_for_a_memory_raises_it() -> None:
    """Where the plan points, ranks, weight, the author's pin, standing for several: each leads equal others."""
    candidates = [*crowd(20, axis=1), candidate("near", 30, axis=0)]
    assert ids(select_memories(candidates, plan_scene(axis=0)))[0] == "near"
    for hit in (semantic(1), semantic(1, 0.9)):
        candidates = [*crowd(20), candidate("found", 30, hits=(hit,))]
        others = [candidate("late", 29, hits=(semantic(90, 0.1) if hit.score else semantic(90),))]
        assert ids(select_memories([*candidates, *others], plan_scene()))[0] == "found"
    candidates = [*crowd(20, importance=4), candidate("vow", 30, importance=9)]
    selection = select_memories(candidates, plan_scene())
    assert ids(selection)[0] == "vow"
    assert "importance" in selection.items[0].reasons
    assert ids(select_memories([*crowd(20), candidate("pin", 25, tier="pinned")], plan_scene()))[0] == "pin"
    candidates = [*crowd(20), candidate("several", 25, is_consolidated=True)]
    first = select_memories(candidates, plan_scene()).items[0]
    assert first.chunk_id == "several"
    assert first.reasons[0] == "consolidated"


def test_protagonist_does_not_fill_all_places():
    """Sharing a rare thing with the plan counts, sharing the one whom all memories name does not."""
    candidates = [
        *(candidate(f"h{i:02d}", i, entities_mentioned=["hero"]) for i in range(1, 31)),
        candidate("z-ring", 35, entities_mentioned=["ring"]),
    ]
    scene = plan_scene(entity_ids=frozenset({"hero", "ring"}))
    selection = select_memories(candidates, scene)
    assert ids(selection)[0] == "z-ring"
    heroes = [item.score_parts.get("entities", 0) for item in selection.items[1:]]
    assert max(heroes) <= 0


def test_what_speaks_against_a_memory_lowers_it() -> None:
    """What was replaced, what no quote proves, and what the author still has at hand come after their likes."""
    candidates = [
        *crowd(15),
        candidate("a-old", 20, content="The ring lies in the well.", superseded_by="b-new"),
        candidate("b-new", 20, content="Mara carries a ring now."),
    ]
    order = ids(select_memories(candidates, plan_scene()))
    assert order.index("b-new") < order.index("a-old")
    candidates = [
        *crowd(15),
        candidate("a-unproved", 20, content="The ring lies in the well.", verified=False),
        candidate("b-proved", 20, content="Mara carries a ring now."),
    ]
    order = ids(select_memories(candidates, plan_scene()))
    assert order.index("b-proved") < order.index("a-unproved")
    order = ids(select_memories(crowd(20), plan_scene(ordinal=21), weights=EVERYTHING))
    assert order[-3:] == ["c18", "c19", "c20"]


def test_what_always_holds_is_raised_and_what_is_soon_over_lowered() -> None:
    """Of equal importance, a rule of the story leads and a journey comes last."""
    rule = candidate("z-rule", 25, event_type="rule_or_canon")
    journey = candidate("a-journey", 1, event_type="journey")
    order = ids(select_memories([journey, *crowd(20), rule], plan_scene(), weights=EVERYTHING))
    assert (order[0], order[-1]) == ("z-rule", "a-journey")


def test_open_loop_raises_the_memories_of_its_scene():
    """Memories of the scene that planted an open loop lead; a resolved loop raises nothing."""
    loop = OpenLoop(loop_id="L", description="Who took it?", importance="high", chapter_index=1, scene_index=15)
    resolved = loop.model_copy(update={"status": "resolved"})
    assert ids(select_memories(crowd(20), plan_scene(open_loops=(loop,))))[0] == "c15"
    assert ids(select_memories(crowd(20), plan_scene(open_loops=(resolved,))))[0] == "c01"


def test_memory_of_unknown_scene_is_judged_by_itself():
    """A note without a scene and a memory of a scene without facts can be chosen."""
    note = candidate("note", 1, content_type="note", importance=10)
    placeless = dataclasses.replace(
        note, chunk=note.chunk.model_copy(update={"chapter_index": None, "scene_index": None})
    )
    stray = candidate("stray", 999, importance=9)
    order = ids(select_memories([*crowd(20, importance=3), placeless, stray], plan_scene()))
    assert order[:2] == ["note", "stray"]


def test_memory_stands_for_its_bullet_and_passage():
    """A bullet and a passage with the words of a memory of their scene are left out as its duplicates."""
    text = "Mara hides the silver ring under the third stone"
    same = [
        candidate("m", 25, content=text, importance=9),
        candidate("b", 25, content=text + " at night", content_type="summary", importance=10),
        candidate("p", 25, content="So it was that " + text + ", and nobody saw.", content_type="scene"),
    ]
    selection = select_memories([*crowd(20), *same], plan_scene(), weights=EVERYTHING)
    assert "m" in ids(selection)
    assert {"b", "p"}.isdisjoint(ids(selection))
    reasons = {left.id: left.reason for left in selection.left_out}
    assert reasons == {"b": "duplicate of m", "p": "duplicate of m"}


def test_equal_texts_of_two_scenes_count_once() -> None:
    """Whatever case and punctuation; in a book without records passages are judged against each other only."""
    twins = [candidate("x1", 3, content="The gate is shut!"), candidate("x2", 9, content="the gate is shut")]
    order = ids(select_memories([*crowd(15), *twins], plan_scene()))
    assert len({"x1", "x2"} & set(order)) == 1
    selection = select_memories(crowd(20, content_type="scene"), plan_scene())
    assert len(selection.items) == 20
    assert all("kind" not in item.score_parts for item in selection.items)


@pytest.mark.parametrize("read_scenes", [0, 1, 10, 19, 20])
@pytest.mark.parametrize("note_count", [0, 1, 15])
def test_passages_of_unread_scenes_stay_beside_notes_and_memories(read_scenes, note_count):
    """However many scenes have a record and however many notes there are; a read scene's passage stays lowered."""
    passages = crowd(20, content_type="scene", importance=1)
    memories = [candidate(f"m{index:02d}", index) for index in range(1, read_scenes + 1)]
    notes = [candidate(f"n{index:02d}", 30, content_type="note", importance=9) for index in range(note_count)]
    unread_places = frozenset((1, index) for index in range(read_scenes + 1, 21))
    scene = plan_scene(unread_places=unread_places)
    chosen = set(ids(select_memories([*passages, *memories, *notes], scene)))
    assert {row.chunk.chunk_id for row in passages if row.chunk.place in unread_places} <= chosen
    if read_scenes >= 10:
        assert {row.chunk.chunk_id for row in passages if row.chunk.place not in unread_places}.isdisjoint(chosen)


def _passage_scores(others, unread_scenes=20):
    """Scores of the passages of unread scenes beside other candidates."""
    passages = [
        candidate(f"p{index:02d}", index, content_type="scene", importance=1 + index % 3) for index in range(1, 21)
    ]
    scene = plan_scene(unread_places=frozenset((1, index) for index in range(1, unread_scenes + 1)))
    items = select_memories([*passages, *others], scene, budget_tokens=9_000).items
    return {item.chunk_id: item.score for item in items if item.chunk_id.startswith("p")}


@pytest.mark.parametrize("content_type", ["note", "memory"])
def test_notes_and_memories_leave_the_order_of_unread_passages_as_it_is(content_type):
    """The passages of unread scenes are judged among themselves: one note or many, or a record of another scene."""
    alone = _passage_scores([])
    for count in (1, 3, 15):
        others = [candidate(f"x{index:02d}", 30, content_type=content_type, importance=9) for index in range(count)]
        beside = _passage_scores(others)
        shift = beside["p01"] - alone["p01"]
        assert shift <= 0
        assert beside == pytest.approx({name: score + shift for name, score in alone.items()}, abs=0.002)


def test_spare_tokens_are_filled_with_passages_of_unread_scenes_alone():
    """What other sections leave goes to text that nothing else tells, after all that the budget holds."""
    passages = crowd(20, content_type="scene", importance=1)
    memories = [candidate(f"m{index:02d}", 30 + index % 5) for index in range(15)]
    scene = plan_scene(unread_places=frozenset((1, index) for index in range(1, 11)))

    def taken(budget_tokens, spare_tokens=0, top_k=None):
        return ids(
            select_memories(
                [*passages, *memories], scene, budget_tokens=budget_tokens, spare_tokens=spare_tokens, top_k=top_k
            )
        )

    within = taken(40)
    beyond = taken(40, 25)
    assert beyond[: len(within)] == within
    more = beyond[len(within) :]
    assert more
    assert all(name <= "c10" for name in more)
    assert taken(40, 25, top_k=len(within) + 1) == beyond[: len(within) + 1]
    assert len(taken(40, 9_000)) > len(beyond)
    assert taken(0, 9_000)
    assert all(name <= "c10" for name in taken(0, 9_000))


def test_a_memory_of_a_scene_at_hand_is_lowered_only_where_a_line_tells_it():
    """Where nobody says what the lines tell, all of the last scenes are at hand."""
    near = [candidate("told", 99), candidate("wound", 99, importance=7)]
    ordinals = {(1, index): index for index in range(1, 100)}

    def lowered(told_ids):
        scene = plan_scene(ordinals=ordinals, told_ids=told_ids)
        items = select_memories([*crowd(20), *near], scene, weights=EVERYTHING).items
        return {item.chunk_id for item in items if "at_hand" in item.score_parts}

    assert lowered(None) == {"told", "wound"}
    assert lowered(frozenset({"told"})) == {"told"}


@pytest.mark.parametrize(("content_type", "counts"), [("scene", True), ("memory", False)])
def test_shared_words_count_by_themselves_where_only_passages_are_stored(content_type, counts):
    """Beside memories, words stand in where no meaning was found; an author's note makes a story no less its text."""
    rows = [*crowd(content_type=content_type), candidate("note", 30, content_type="note")]
    rows[4] = candidate("hit", 5, hits=(lexical(1, 9.0),), content_type=content_type, content="The plan.")

    chosen = {item.chunk_id: item for item in select_memories(rows, plan_scene(), weights=EVERYTHING).items}

    assert ("words" in chosen["hit"].score_parts) is counts
    assert ("relevance" in chosen["hit"].score_parts) is not counts


def test_a_receipt_says_what_the_passage_beside_it_gave():
    """The points of a chosen neighbour are a part of the score like any other, and a reason."""
    pair = [
        candidate("n1", 30, content_type="scene", content="Eve went down to the harbour."),
        candidate("n2", 30, content_type="scene", content="No lamp burned there."),
    ]
    for row, span in zip(pair, ((0, 29), (30, 51)), strict=True):
        row.chunk.source_span = span
    chosen = select_memories([*crowd(12, content_type="scene"), *pair], plan_scene()).items
    (item,) = [each for each in chosen if "beside" in each.score_parts]
    assert item.chunk_id in ("n1", "n2")
    assert item.score_parts["beside"] == 1.0
    assert "beside" in item.reasons
    assert sum(item.score_parts.values()) == pytest.approx(item.score, abs=0.01)


def test_findings_of_one_chunk_are_merged():
    """A chunk found by two retrievers is one candidate with both hits and the embedding of either."""
    merged = merge_candidates(
        [candidate("a", hits=(lexical(1),)), candidate("a", axis=2, hits=(semantic(3),)), candidate("0")]
    )
    assert [m.chunk.chunk_id for m in merged] == ["0", "a"]
    assert merged[1].hits == (lexical(1), semantic(3))
    assert merged[1].vector is not None


def test_what_flows_between_scenes_counts_by_how_many_there_are():
    """In a young story the queries decide, in a long one also what lies around; the parts say it."""

    def parts(ordinal: int) -> dict[str, float]:
        star = candidate("star", 3, axis=0)
        near = [candidate(f"near{n}", n, axis=1) for n in range(4, 8)]
        found = [star, *near, *(candidate(f"far{n}", n, axis=2 + n % 5) for n in range(12, 40))]
        items = select_memories(found, plan_scene(ordinal=ordinal, axis=0)).items
        return next(item.score_parts for item in items if item.chunk_id == "star")

    young, half, whole = parts(50), parts(75), parts(100)
    assert parts(400) == whole
    assert young["relevance"] > half["relevance"] > whole["relevance"] > 0
    assert 0 < young["surroundings"] < half["surroundings"] < whole["surroundings"]


def test_scenes_like_the_neighbours_of_a_sure_scene_are_raised() -> None:
    """And so are those next to one that the plan's characters shared."""
    sure = [candidate(f"s{i}", 20, axis=0, content=f"Sure thing {i} of many words") for i in range(3)]
    beside = [candidate(f"b{index}", index, axis=1) for index in (19, 21)]
    others = [*crowd(12, axis=2), candidate("far", 39, axis=2), candidate("alike", 35, axis=1)]
    order = ids(select_memories([*sure, *beside, *others], plan_scene(axis=0)))
    assert set(order[:3]) == {"s0", "s1", "s2"}
    assert order.index("alike") < order.index("far")
