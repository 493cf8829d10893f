"""The text of a consolidated memory without a model, and the memory itself."""

from datetime import UTC, datetime

import numpy as np
import pytest

from novelgen.language.language import estimate_tokens
from novelgen.memory.consolidation import (
    ConsolidatedText,
    ConsolidationRules,
    consolidated_id,
    consolidated_memory,
    consolidated_vector,
    extractive_text,
)
from tests.novelgen.memory.live_stories import chunk

MOMENT = datetime(2026, 1, 1, tzinfo=UTC)


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


def test_what_does_not_fit_is_left_out_lowest_first_and_never_cut() -> None:
    """The highest-scoring stays even where it alone is too long."""
    sources = [
        chunk(f"M{number}", content=f"Sentence number {number} is here.", importance=number) for number in (1, 7, 3)
    ]
    text = extractive_text(sources, ConsolidationRules(max_tokens=20)).content
    assert text == "Sentence number 7 is here. Sentence number 3 is here."
    assert estimate_tokens(text) <= 20
    long = [chunk("M1", content="word " * 100 + "end.")]
    assert extractive_text(long, ConsolidationRules(max_tokens=20)).content.endswith("word end.")


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
