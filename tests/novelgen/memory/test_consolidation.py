"""Which memories are consolidated, which together, and the memory that stands for them."""

import random
from datetime import UTC, datetime
from typing import Any

import numpy as np
import pytest

from novelgen.language.language import estimate_tokens
from novelgen.memory.consolidation import (
    MAX_SOURCES,
    MIN_FOR_A_MEAN,
    ConsolidatedText,
    choose_groups,
    consolidated_id,
    consolidated_memory,
    consolidated_vector,
    counts_after,
    entity_counts,
    extractive_text,
    protection,
    score,
)
from novelgen.models.memory import StoryMemoryChunk
from novelgen.models.state import OpenLoop

MOMENT = datetime(2026, 1, 1, tzinfo=UTC)
LOOP = OpenLoop(
    loop_id="OL1", description="Who?", related_entities=["C0"], chapter_index=1, scene_index=1,
    last_chapter_index=3, last_scene_index=2,
)  # fmt: skip


def chunk(chunk_id: str, chapter: int | None = 1, scene: int | None = 1, **fields: Any) -> StoryMemoryChunk:
    """A small fact about C0 with the tag "road"."""
    defaults: dict[str, Any] = {
        "content": f"Fact {chunk_id}.",
        "content_type": "memory",
        "entities_mentioned": ["C0"],
        "tags": ["road"],
        "importance": 4,
        "origin": "record",
        "source_id": chunk_id,
    }
    given = defaults | fields
    return StoryMemoryChunk(chunk_id=chunk_id, project_id="demo", chapter_index=chapter, scene_index=scene, **given)


@pytest.mark.parametrize(
    ("place", "fields", "why"),
    [
        ((2, 1), {"importance": 7, "verified": False, "event_type": "promise_kept"}, ""),
        ((2, 1), {"importance": 8}, "importance"),
        ((2, 1), {"tier": "important"}, "tier"),
        ((2, 1), {"origin": "author"}, "author"),
        ((2, 1), {"is_consolidated": True}, "consolidated"),
        ((2, 1), {"slot_type": "I1.holder"}, "slot"),
        ((2, 1), {"slot_type": "I1.holder", "superseded_by": "M9"}, ""),
        ((2, 1), {"event_type": "promise_made"}, "unresolved"),
        ((2, 1), {"event_type": "debt"}, "unresolved"),
        ((2, 1), {"event_type": "promise_made", "superseded_by": "M9"}, ""),
        ((2, None), {}, "no scene"),
        ((1, 1), {}, "open loop"),
        ((3, 2), {}, "open loop"),
        ((1, 1), {"entities_mentioned": ["C9"]}, ""),
    ],
)
def test_what_matters_is_protected(place: tuple[int, int | None], fields: dict[str, Any], why: str) -> None:
    """Weighty, pinned, authors', slots in force, what is owed, scenes of an open thread; what is over may go."""
    assert protection(chunk("M1", *place, **fields), [LOOP]) == why


def test_what_is_over_or_unproven_weighs_less() -> None:
    """The score is the importance, less for what was replaced and for what no quote proves."""
    assert score(chunk("M1", importance=6, superseded_by="M2")) == 3
    assert score(chunk("M1", importance=6, verified=False)) == 5


def chosen(memories: list[Any], limit: int = 1, **options: Any) -> list[tuple[str, ...]]:
    """Return the ids of the sources of each group; the scenes are those of the memories, unless given."""
    options = {"scenes": sorted({each.place for each in memories})} | options
    groups = choose_groups(memories, limit=limit, **options)
    return [tuple(source.chunk_id for source in group.sources) for group in groups]


def test_just_what_is_over_the_limit_is_joined() -> None:
    """Nothing up to it; one too many makes one pair, two make three of one or two pairs."""
    memories = [chunk(f"M{number}", number) for number in range(1, 7)]
    assert chosen(memories, limit=6) == []
    assert chosen([], limit=1) == []
    assert chosen(memories, limit=5) == [("M1", "M2")]
    assert sum(len(group) - 1 for group in chosen(memories, limit=4)) == 2


def test_the_lightest_the_nearest_and_those_of_one_topic_go_first() -> None:
    """Of equals those that weigh least, of one scene before neighbouring scenes, those that share more."""
    weights = {"M1": 5, "M2": 2, "M3": 6, "M4": 1, "M5": 7}
    memories = [chunk(name, importance=each) for name, each in weights.items()]
    assert chosen(memories, limit=4) == [("M2", "M4")]
    memories = [chunk("A", 1, 1), chunk("B", 1, 3), chunk("C", 1, 4), chunk("D", 2, 1), chunk("E", 2, 1)]
    scenes = [(1, number) for number in range(1, 5)] + [(2, 0), (2, 1)]
    assert chosen(memories, limit=4, scenes=scenes) == [("D", "E")]
    assert chosen(memories, limit=3, scenes=scenes) == [("B", "C"), ("D", "E")]
    tags = {"A": ["road"], "B": ["feast", "song"], "C": ["feast", "song"]}
    assert chosen([chunk(name, tags=each) for name, each in tags.items()], limit=2) == [("B", "C")]


def test_a_group_keeps_to_its_span_of_scenes_and_its_sources() -> None:
    """Memories far apart do not become one, those of no told scene are left alone, and no group grows too large."""
    near = [chunk(f"A{number}", 1, number) for number in range(3)]
    far = [chunk(f"Z{number}", 3, number) for number in range(3)]
    between = [(2, number) for number in range(6)]
    scenes = [*(each.place for each in near), *between, *(each.place for each in far)]
    assert chosen([*near, *far], scenes=scenes) == [("A0", "A1", "A2"), ("Z0", "Z1", "Z2")]
    assert chosen([chunk("M1", 1, 1), chunk("M2", 1, 1), chunk("M3", 9, 9)], scenes=[(1, 1)]) == [("M1", "M2")]
    memories = [chunk(f"M{number}") for number in range(9)]
    groups = chosen(memories)
    assert max(len(group) for group in groups) == MAX_SOURCES
    assert sum(len(group) for group in groups) >= 8


def test_topics_are_told_by_shared_tags_and_entities_without_embeddings() -> None:
    """The crowded entity itself is no topic; what one scene tells is one topic whatever it speaks of."""
    tagged = [chunk(f"T{number}", number, tags=["feast"]) for number in range(3)]
    linked = [chunk(f"L{number}", number, tags=[], entities_mentioned=["C0", "C1"]) for number in range(3)]
    alone = [chunk(f"A{number}", number, tags=[]) for number in range(3)]
    found = chosen([*tagged, *linked, *alone], limit=4)
    assert sorted(found) == [("L0", "L1", "L2"), ("T0", "T1", "T2")]
    apart = {"A": ["road"], "B": ["feast"]}
    assert chosen([chunk(name, 1, 1, tags=tags) for name, tags in apart.items()]) == [("A", "B")]
    assert chosen([chunk(name, ord(name), 1, tags=tags) for name, tags in apart.items()]) == []


def test_topics_are_told_by_embeddings_where_there_are_any() -> None:
    """Whatever the tags say; what is over and in force, proven and unproven, never mix."""
    names = [f"{'LR'[number % 2]}{number:02}" for number in range(MIN_FOR_A_MEAN)]
    vectors = {name: np.array([5, 1 if name[0] == "L" else -1], np.float32) for name in names}
    memories = [chunk(name, 1, number) for number, name in enumerate(names)]
    groups = chosen(memories, vectors=vectors)
    assert len(groups) >= 6
    assert all(len({name[0] for name in group}) == 1 for group in groups)
    few = {name: vectors[name] for name in names[:-1]}
    assert any(len({name[0] for name in group}) == 2 for group in chosen(memories, vectors=few))
    over = [chunk(f"O{number}", superseded_by="M9") for number in range(2)]
    doubted = [chunk(f"D{number}", verified=False) for number in range(2)]
    plain = [chunk(f"P{number}") for number in range(2)]
    assert sorted(chosen([*over, *doubted, *plain])) == [("D0", "D1"), ("O0", "O1"), ("P0", "P1")]


def test_a_memory_goes_into_one_group_and_counts_for_all_its_entities() -> None:
    """What one entity's group made fewer is not taken for the other again."""
    shared = [chunk(f"M{number}", 1, 1, entities_mentioned=["C0", "C1"]) for number in range(3)]
    groups = choose_groups(shared, limit=1, scenes=[(1, 1)])
    assert [group.entity_id for group in groups] == ["C0"]
    assert counts_after(shared, groups) == {"C0": 1, "C1": 1}


def test_any_story_keeps_the_rules() -> None:
    """On random stories: groups in bounds, disjoint, unprotected, linked, and the same in a second run."""
    numbers = random.Random(7)
    for _ in range(30):
        memories = [
            chunk(
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
        groups = choose_groups(memories, limit=5, scenes=scenes)
        assert groups == choose_groups(memories, limit=5, scenes=scenes)
        sources = [source.chunk_id for group in groups for source in group.sources]
        assert len(sources) == len(set(sources))
        free = {each.chunk_id for each in memories if not protection(each, [])}
        assert free.issuperset(sources)
        for group in groups:
            assert 2 <= len(group.sources) <= MAX_SOURCES
            places = [(source.chapter_index, source.scene_index) for source in group.sources]
            assert places == sorted(places)
            assert all(group.entity_id in source.entities_mentioned for source in group.sources)
        before, after = entity_counts(memories), counts_after(memories, groups)
        assert all(1 <= after[name] <= before[name] for name in before)


def test_short_forms_are_joined_in_story_order_as_sentences() -> None:
    """With a full stop of the language, equal ones once, never one that is cut; no short form tells one alone."""
    sources = [
        chunk("M1", content="Ada walked the long road to the mill and back.", short="Ada walked to the mill"),
        chunk("M2", content="Ben mended the bridge beside the mill with rope.", short="Ben mended the bridge."),
        chunk("M3", content="Ben mended it again, with more rope, and swore.", short="Ben mended the bridge."),
    ]
    text = extractive_text(sources)
    assert text == ConsolidatedText(content="Ada walked to the mill. Ben mended the bridge.", short=None)
    sources = [
        chunk("M1", content="行者在山门外等了八戒整整一个时辰，八戒才挑着担子来。", short="行者在山门外等八戒"),
        chunk("M2", content="八戒说路上遇着一个卖瓜的老汉，因此来迟了。", short="八戒因买瓜来迟。"),
    ]
    assert extractive_text(sources).content == "行者在山门外等八戒。八戒因买瓜来迟。"
    sources = [chunk("M1", content="行者说：“好。”"), chunk("M2", content="“走吧！”")]
    assert extractive_text(sources).content == "行者说：“好。”“走吧！”"
    cut = chunk("M1", content="Ada walked to the mill today.", short="Ada walked to the mill...")
    assert extractive_text([cut]).content == "Ada walked to the mill today."


def test_a_label_or_a_cut_short_form_gives_way_to_the_first_sentence() -> None:
    """What says nothing, is broken off or missing is replaced by a whole sentence of the full form."""
    sources = [
        chunk("M1", content="Ada learned that Dr. Roe owned the mill. She told nobody of it.", short="The mill..."),
        chunk("M2", content="Ben left. He went north by the coast road with all that he had.", short=None),
        chunk("M3", content="妖王把自己的来历与平日的习性一件件说给翠兰听，说到天亮才罢。", short="妖婿来历与习性"),
    ]
    text = extractive_text(sources).content
    assert text == (
        "Ada learned that Dr. Roe owned the mill. Ben left.妖王把自己的来历与平日的习性一件件说给翠兰听，说到天亮才罢。"
    )


def test_what_does_not_fit_is_left_out_lowest_first_and_never_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    """The highest-scoring stays even where it alone is too long."""
    monkeypatch.setattr("novelgen.memory.consolidation.MAX_TOKENS", 20)
    sources = [
        chunk(f"M{number}", content=f"Sentence number {number} is here.", importance=number) for number in (1, 7, 3)
    ]
    text = extractive_text(sources).content
    assert text == "Sentence number 7 is here. Sentence number 3 is here."
    assert estimate_tokens(text) <= 20
    long = [chunk("M1", content="word " * 100 + "end.")]
    assert extractive_text(long).content.endswith("word end.")


def test_the_memory_has_what_its_sources_have_together() -> None:
    """All entities, tags that two share, the highest importance, the last position; verified where all are."""
    sources = [
        chunk("M1", 1, 2, importance=3, tags=["a", "b"], entities_mentioned=["C0", "C1"]),
        chunk("M2", 2, 1, importance=6, tags=["b", "c"], entities_mentioned=["C2", "C0"], verified=False),
    ]
    memory = consolidated_memory(ConsolidatedText(content="Both."), sources, created_at=MOMENT)
    assert (memory.chapter_index, memory.scene_index) == (2, 1)
    assert memory.entities_mentioned == ["C0", "C1", "C2"]
    assert (memory.tags, memory.importance, memory.verified) == (["b"], 6, False)
    assert (memory.is_consolidated, memory.origin, memory.slot_type) == (True, "record", None)
    assert memory.chunk_id == memory.source_id == consolidated_id(sources)


def test_its_origin_and_its_id_tell_the_sources() -> None:
    """A model that wrote the text or the memories; the same memories in any order have one id, others another."""
    text = ConsolidatedText(content="Both.")
    plain, extracted = [chunk("M1")], [chunk("M1"), chunk("M2", origin="extracted")]
    assert consolidated_memory(text, plain, created_at=MOMENT, is_models=True).origin == "extracted"
    assert consolidated_memory(text, extracted, created_at=MOMENT).origin == "extracted"
    one, other, third = chunk("M1"), chunk("M2"), chunk("M3")
    assert consolidated_id([one, other]) == consolidated_id([other, one])
    assert consolidated_id([one, other]) != consolidated_id([one, third])


def test_its_embedding_is_the_mean_of_its_sources() -> None:
    """Of length 1; none where a source has none, or where they cancel each other out."""
    sources = [chunk("M1"), chunk("M2")]
    right, up = np.array([1, 0], np.float32), np.array([0, 1], np.float32)
    vector = consolidated_vector(sources, {"M1": right, "M2": up})
    assert vector == pytest.approx(np.sqrt([0.5, 0.5]))
    assert consolidated_vector(sources, {"M1": right}) is None
    assert consolidated_vector(sources, {"M1": right, "M2": -right}) is None
