"""Which memories are consolidated together."""

from __future__ import annotations

import random
from typing import Any

import numpy as np

from novelgen.consolidation.groups import choose_groups, counts_after, entity_counts
from novelgen.consolidation.rules import ConsolidationRules, protection
from novelgen.consolidation.topics import FEWEST_FOR_A_MEAN
from tests.novelgen.consolidation.live_stories import live

RULES = ConsolidationRules(min_sources=3, max_sources=4, span_scenes=5)


def chosen(memories: list[Any], limit: int = 1, **options: Any) -> list[tuple[str, ...]]:
    """Return the ids of the sources of each group."""
    groups = choose_groups(memories, limit=limit, rules=RULES, **options)
    return [tuple(source.chunk_id for source in group.sources) for group in groups]


def test_nothing_is_done_up_to_the_limit() -> None:
    """As many as the limit are not too many; an empty project has none."""
    memories = [live(f"M{number}", number) for number in range(1, 7)]
    assert chosen(memories, limit=6) == []
    assert chosen([], limit=1) == []


def test_the_lowest_scores_go_first_and_no_more_than_needed() -> None:
    """One group of the least important is enough to come to the limit; it stands in story order."""
    weights = {"M1": 5, "M2": 2, "M3": 6, "M4": 1, "M5": 2, "M6": 5}
    memories = [live(name, 1, number, importance=each) for number, (name, each) in enumerate(weights.items())]
    assert chosen(memories, limit=4) == [("M1", "M2", "M4", "M5")]


def test_a_group_keeps_to_its_span_of_scenes() -> None:
    """Memories far apart in the story do not become one, whatever chapters the scenes stand in."""
    near = [live(f"A{number}", 1, number) for number in range(3)]
    between = [live(f"B{number}", 2, number, entities_mentioned=["C9"], tags=[]) for number in range(6)]
    far = [live(f"Z{number}", 3, number) for number in range(3)]
    assert chosen([*near, *between, *far]) == [("A0", "A1", "A2"), ("Z0", "Z1", "Z2")]


def test_too_few_of_a_kind_are_left_alone() -> None:
    """Two are no group."""
    assert chosen([live("M1", 1), live("M2", 2)]) == []


def test_topics_are_told_by_shared_tags_and_entities_without_embeddings() -> None:
    """The crowded entity itself is no topic."""
    tagged = [live(f"T{number}", number, tags=["feast"]) for number in range(3)]
    linked = [live(f"L{number}", number, tags=[], entities_mentioned=["C0", "C1"]) for number in range(3)]
    alone = [live(f"A{number}", number, tags=[]) for number in range(3)]
    assert chosen([*tagged, *linked, *alone]) == [("L0", "L1", "L2"), ("T0", "T1", "T2")]


def test_topics_are_told_by_embeddings_where_there_are_any() -> None:
    """Vectors that point one way, seen from the mean of all, are one topic, whatever the tags say."""
    names = [f"{'LR'[number % 2]}{number:02}" for number in range(FEWEST_FOR_A_MEAN)]
    vectors = {name: np.array([5, 1 if name[0] == "L" else -1], np.float32) for name in names}
    memories = [live(name, 1, number) for number, name in enumerate(names)]
    groups = chosen(memories, vectors=vectors)
    assert len(groups) == 6
    assert all(len({name[0] for name in group}) == 1 for group in groups)
    few = [live(name, 1, number) for number, name in enumerate(names[:6])]
    assert chosen(few, vectors=vectors) == [("L00", "R01", "L02", "R03")]


def test_what_is_over_and_what_is_in_force_never_mix() -> None:
    """Nor do the proven and the unproven."""
    over = [live(f"O{number}", 1, number, superseded_by="M9") for number in range(3)]
    doubted = [live(f"D{number}", 1, number, verified=False) for number in range(3)]
    plain = [live(f"P{number}", 1, number) for number in range(3)]
    assert sorted(chosen([*over, *doubted, *plain])) == [
        ("D0", "D1", "D2"),
        ("O0", "O1", "O2"),
        ("P0", "P1", "P2"),
    ]


def test_a_memory_goes_into_one_group_and_counts_for_all_its_entities() -> None:
    """What one entity's group made fewer is not taken for the other again."""
    shared = [live(f"M{number}", 1, number, entities_mentioned=["C0", "C1"]) for number in range(4)]
    groups = choose_groups(shared, limit=1, rules=RULES)
    assert [group.entity_id for group in groups] == ["C0"]
    assert counts_after(shared, groups) == {"C0": 1, "C1": 1}


def test_any_story_keeps_the_rules() -> None:
    """On random stories: groups in bounds, disjoint, unprotected, linked, and the same in a second run."""
    numbers = random.Random(7)
    for _ in range(30):
        memories = [
            live(
                f"M{number}",
                numbers.randint(1, 4),
                numbers.randint(0, 6),
                importance=numbers.randint(1, 10),
                entities_mentioned=numbers.sample(["C0", "C1", "C2"], numbers.randint(0, 3)),
                tags=numbers.sample(["road", "feast"], numbers.randint(0, 2)),
            )
            for number in range(60)
        ]
        groups = choose_groups(memories, limit=5, rules=RULES)
        assert groups == choose_groups(memories, limit=5, rules=RULES)
        sources = [source.chunk_id for group in groups for source in group.sources]
        assert len(sources) == len(set(sources))
        free = {each.chunk.chunk_id for each in memories if not protection(each, [], RULES)}
        assert free.issuperset(sources)
        for group in groups:
            assert 3 <= len(group.sources) <= 4
            assert all(group.entity_id in source.entities_mentioned for source in group.sources)
        before, after = entity_counts(memories), counts_after(memories, groups)
        assert all(after[name] >= 1 and after[name] <= before[name] for name in before)
