"""Which memories are consolidated together."""

import random
from typing import Any

import numpy as np

from novelgen.memory.consolidation import (
    MIN_FOR_A_MEAN,
    ConsolidationRules,
    choose_groups,
    counts_after,
    entity_counts,
    protection,
)
from tests.novelgen.memory.live_stories import live

RULES = ConsolidationRules(max_sources=4, span_scenes=5)


def chosen(memories: list[Any], limit: int = 1, **options: Any) -> list[tuple[str, ...]]:
    """Return the ids of the sources of each group; the scenes are those of the memories, unless given."""
    options = {"scenes": sorted({each.place for each in memories}), "rules": RULES} | options
    groups = choose_groups(memories, limit=limit, **options)
    return [tuple(source.chunk_id for source in group.sources) for group in groups]


def test_just_what_is_over_the_limit_is_joined() -> None:
    """Nothing up to it; one too many makes one pair, two make three of one or two pairs."""
    memories = [live(f"M{number}", number) for number in range(1, 7)]
    assert chosen(memories, limit=6) == []
    assert chosen([], limit=1) == []
    assert chosen(memories, limit=5) == [("M1", "M2")]
    assert sum(len(group) - 1 for group in chosen(memories, limit=4)) == 2


def test_the_lightest_the_nearest_and_those_of_one_topic_go_first() -> None:
    """Of equals those that weigh least, of one scene before neighbouring scenes, those that share more."""
    weights = {"M1": 5, "M2": 2, "M3": 6, "M4": 1, "M5": 7}
    memories = [live(name, importance=each) for name, each in weights.items()]
    assert chosen(memories, limit=4) == [("M2", "M4")]
    memories = [live("A", 1, 1), live("B", 1, 3), live("C", 1, 4), live("D", 2, 1), live("E", 2, 1)]
    scenes = [(1, number) for number in range(1, 5)] + [(2, 0), (2, 1)]
    assert chosen(memories, limit=4, scenes=scenes) == [("D", "E")]
    assert chosen(memories, limit=3, scenes=scenes) == [("B", "C"), ("D", "E")]
    tags = {"A": ["road"], "B": ["feast", "song"], "C": ["feast", "song"]}
    assert chosen([live(name, tags=each) for name, each in tags.items()], limit=2) == [("B", "C")]


def test_a_group_keeps_to_its_span_of_scenes_and_its_sources() -> None:
    """Memories far apart do not become one, those of no told scene are left alone, and no group grows too large."""
    near = [live(f"A{number}", 1, number) for number in range(3)]
    far = [live(f"Z{number}", 3, number) for number in range(3)]
    between = [(2, number) for number in range(6)]
    scenes = [*(each.place for each in near), *between, *(each.place for each in far)]
    assert chosen([*near, *far], scenes=scenes) == [("A0", "A1", "A2"), ("Z0", "Z1", "Z2")]
    assert chosen([live("M1", 1, 1), live("M2", 1, 1), live("M3", 9, 9)], scenes=[(1, 1)]) == [("M1", "M2")]
    memories = [live(f"M{number}") for number in range(9)]
    groups = chosen(memories)
    assert max(len(group) for group in groups) == RULES.max_sources
    assert sum(len(group) for group in groups) >= 8


def test_topics_are_told_by_shared_tags_and_entities_without_embeddings() -> None:
    """The crowded entity itself is no topic; what one scene tells is one topic whatever it speaks of."""
    tagged = [live(f"T{number}", number, tags=["feast"]) for number in range(3)]
    linked = [live(f"L{number}", number, tags=[], entities_mentioned=["C0", "C1"]) for number in range(3)]
    alone = [live(f"A{number}", number, tags=[]) for number in range(3)]
    found = chosen([*tagged, *linked, *alone], limit=4)
    assert sorted(found) == [("L0", "L1", "L2"), ("T0", "T1", "T2")]
    apart = {"A": ["road"], "B": ["feast"]}
    assert chosen([live(name, 1, 1, tags=tags) for name, tags in apart.items()]) == [("A", "B")]
    assert chosen([live(name, ord(name), 1, tags=tags) for name, tags in apart.items()]) == []


def test_topics_are_told_by_embeddings_where_there_are_any() -> None:
    """Whatever the tags say; what is over and in force, proven and unproven, never mix."""
    names = [f"{'LR'[number % 2]}{number:02}" for number in range(MIN_FOR_A_MEAN)]
    vectors = {name: np.array([5, 1 if name[0] == "L" else -1], np.float32) for name in names}
    memories = [live(name, 1, number) for number, name in enumerate(names)]
    groups = chosen(memories, vectors=vectors)
    assert len(groups) >= 6
    assert all(len({name[0] for name in group}) == 1 for group in groups)
    few = {name: vectors[name] for name in names[:-1]}
    assert any(len({name[0] for name in group}) == 2 for group in chosen(memories, vectors=few))
    over = [live(f"O{number}", superseded_by="M9") for number in range(2)]
    doubted = [live(f"D{number}", verified=False) for number in range(2)]
    plain = [live(f"P{number}") for number in range(2)]
    assert sorted(chosen([*over, *doubted, *plain])) == [("D0", "D1"), ("O0", "O1"), ("P0", "P1")]


def test_a_memory_goes_into_one_group_and_counts_for_all_its_entities() -> None:
    """What one entity's group made fewer is not taken for the other again."""
    shared = [live(f"M{number}", 1, 1, entities_mentioned=["C0", "C1"]) for number in range(4)]
    groups = choose_groups(shared, limit=1, scenes=[(1, 1)], rules=RULES)
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
        scenes = [(chapter, scene) for chapter in range(1, 5) for scene in range(7)]
        memories.sort(key=lambda each: each.place)
        groups = choose_groups(memories, limit=5, scenes=scenes, rules=RULES)
        assert groups == choose_groups(memories, limit=5, scenes=scenes, rules=RULES)
        sources = [source.chunk_id for group in groups for source in group.sources]
        assert len(sources) == len(set(sources))
        free = {each.chunk.chunk_id for each in memories if not protection(each, [], RULES)}
        assert free.issuperset(sources)
        for group in groups:
            assert 2 <= len(group.sources) <= 4
            places = [(source.chapter_index, source.scene_index) for source in group.sources]
            assert places == sorted(places)
            assert all(group.entity_id in source.entities_mentioned for source in group.sources)
        before, after = entity_counts(memories), counts_after(memories, groups)
        assert all(1 <= after[name] <= before[name] for name in before)
