"""Which memories come back: the score, the candidates, the forms, the budget and what is protected."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import pytest

from novelgen.characters.memory import CharacterMemory, CharacterMemorySettings
from novelgen.characters.mind import Mind, RelevanceScale
from novelgen.characters.recall import (
    Asked,
    Compared,
    ProtectedLine,
    Recall,
    estimate_recall_tokens,
    recall,
    score_parts,
)
from novelgen.words import words

NOW = datetime(2031, 5, 1, 12, tzinfo=UTC)

DEFAULT_SETTINGS = CharacterMemorySettings()


def remembered(memory_id: str, content: str = "", *, days: float = 0.0, **fields: Any) -> CharacterMemory:
    """Return a memory of some days ago."""
    when = NOW - timedelta(days=days)
    given: dict[str, Any] = {
        "memory_id": memory_id,
        "character_id": "C0",
        "content": content or f"Memory {memory_id}.",
        "happened_at": when,
        "known_at": when,
        "created_at": when,
    }
    return CharacterMemory(**{**given, **fields})


def recalled(
    memories: Sequence[CharacterMemory],
    relevance: Sequence[float] | None = None,
    *,
    budget: int = 1_000,
    settings: CharacterMemorySettings = DEFAULT_SETTINGS,
    protected: Sequence[ProtectedLine] = (),
) -> Recall:
    """Recall at a remark to which the memories have the given relevance."""
    mind = Mind(memories, np.zeros((len(memories), 0), np.float32), np.zeros(len(memories), bool))
    asked = Asked(
        said="What is it?",
        compared=Compared() if relevance is None else Compared(np.array(relevance, dtype=float), by="meaning"),
        budget_tokens=budget,
        protected=protected,
        names={"C0": "Gregor", "C1": "Mira"},
    )
    return recall(mind, mind.view(None, clock_now=NOW), asked, character_id="C0", settings=settings)


def ids(found: Recall) -> list[str]:
    return [item.memory.memory_id for item in found.items]


@pytest.mark.parametrize(
    ("tier", "importance", "days", "relevance", "expected"),
    [
        ("pinned", 10, 10, 0.3, 0.857),
        ("regular", 5, 0, 0.9, 0.465),
        ("important", 8, 7, 0.0, 0.312),
        ("regular", 10, 10_000, 1.0, 0.3),
    ],
)
def test_the_score_is_the_product_of_its_four_factors(
    tier: Any, importance: int, days: float, relevance: float, expected: float
) -> None:
    """Seed 002.7, 002.8: tier x importance x recency (half-life 7 days, floor .3) x relevance (floor .3)."""
    memory = remembered("m", tier=tier, importance=importance)
    parts = score_parts(memory, age_days=days, relevance=relevance, settings=DEFAULT_SETTINGS)
    assert parts.score == pytest.approx(expected, abs=0.001)


def test_what_is_over_or_old_gives_way() -> None:
    """Seed 002.30: superseded counts a tenth; a tier is no kept place; two sources are one with both reasons."""
    parts = [
        score_parts(remembered("m"), age_days=1, relevance=0.5, settings=DEFAULT_SETTINGS, is_superseded=over)
        for over in (False, True)
    ]
    assert parts[1].score == pytest.approx(parts[0].score / 10)
    old = remembered("old", days=60, tier="pinned", importance=6)
    new = remembered("new", importance=7)
    assert ids(recalled([old, new], [0.0, 1.0])) == ["new", "old"]
    found = recalled([remembered("m", event_type="betrayal")], [1.0])
    assert [item.why for item in found.items] == [["high_signal", "meaning"]]


def test_candidates_are_bounded() -> None:
    """Of many memories, the nearest and the weighty ones of the last days alone are weighed."""
    memories = [remembered(f"m{number}", days=30) for number in range(100)]
    memories += [remembered("fresh", days=2, event_type="betrayal"), remembered("stale", days=9, event_type="betrayal")]
    found = recalled(memories, [*np.linspace(1, 0.5, 100), 0.0, 0.0], budget=100_000)

    assert len(found.items) == DEFAULT_SETTINGS.semantic_top_k + 1
    assert "fresh" in ids(found)
    assert "stale" not in ids(found)
    assert next(item for item in found.items if item.memory.memory_id == "fresh").why == ["high_signal"]


def test_the_form_goes_by_relevance_and_not_by_room() -> None:
    """However much room there is, only what the remark is about is told in full."""
    full = "The long story of the mill and of everything that came of it in the end. " * 3
    memories = [
        remembered("topic", full, short="The mill burnt down."),
        remembered("aside", full, short="The mill was old."),
    ]
    for budget in (300, 100_000):
        found = recalled(memories, [0.86, 0.84], budget=budget)
        assert [item.form for item in found.items] == ["full", "short"]


def test_the_block_never_costs_more_than_the_budget() -> None:
    """Heading, marks and protected lines count, in both languages; what finds no room is named."""
    texts = ["我在集市上看见玩家买了三盏灯笼。", "The player bought three lanterns at the market."] * 10
    memories = [remembered(f"m{place}", text, how="told", heard_from="C1") for place, text in enumerate(texts)]
    line = ProtectedLine(text="[Met=yes, Trust=45]", slot_type="relationship_header")
    for budget in range(0, 400, 7):
        found = recalled(memories, [0.5] * 20, budget=budget, protected=[line])
        assert found.tokens <= budget or not (found.items or found.header)
        for language in ("en", "zh"):
            assert estimate_recall_tokens(found.as_prompt(language)) <= found.tokens
        assert len(found.items) + len(found.left_out) == DEFAULT_SETTINGS.semantic_top_k


def test_protected_lines_stand_above_and_are_at_most_three() -> None:
    """Seed 002.12: how the two stand, the player's name and deaths come whatever is asked, no more than three."""
    memories = [
        remembered("name", "The player's name is Ines.", days=300, slot="player_name"),
        remembered("dead1", "Marcus is dead.", days=200, slot="npc_death_status:Marcus"),
        remembered("dead2", "Varn is dead.", days=100, slot="npc_death_status:Varn"),
        remembered("other"),
    ]
    line = ProtectedLine(text="[Met=yes, Days_known=3, Trust=45]", slot_type="relationship_header")
    found = recalled(memories, [0.0, 0.0, 0.0, 1.0], protected=[line])

    assert [each.text for each in found.header] == [line.text, "The player's name is Ines.", "Varn is dead."]
    assert ids(found)[0] == "other"
    assert "dead1" in ids(found)


def test_a_former_value_of_a_slot_does_not_come_back() -> None:
    """Seed 002: a slot update deletes the old value; before the new one is known, it holds."""
    memories = [
        remembered("old", "The player serves the duke.", days=1, slot="player_allegiance", superseded_by="new"),
        remembered("new", "The player serves nobody.", slot="player_allegiance", importance=1, days=300),
        *(remembered(f"m{number}") for number in range(20)),
    ]
    found = recalled(memories, [1.0, 0.0, *[0.9] * 20])

    assert "old" not in ids(found)
    assert "duke" not in found.as_prompt("en")
    alone = recalled(memories[:1], [1.0])
    assert [item.is_over for item in alone.items] == [False]


def test_nothing_said_brings_what_weighs_most() -> None:
    """A greeting is answered by weight, and said to be so; an empty memory is an empty block."""
    found = recalled([remembered("light"), remembered("heavy", importance=9)])
    assert ids(found) == ["heavy", "light"]
    assert (found.by, found.items[0].why) == ("standing", ["standing"])
    found = recalled([], [])
    assert (found.items, found.tokens, found.as_prompt()) == ([], 0, "")


def test_the_prompt_is_in_the_language_of_what_is_told() -> None:
    """Heading and marks follow the memories: Chinese for Chinese ones."""
    memory = remembered("m", "玩家答应替我看摊子。", days=2, how="told", heard_from="C1")
    found = recalled([memory], [1.0])
    assert found.as_prompt() == "Gregor记得的事：\n- （2天前；听Mira说的）玩家答应替我看摊子。"


@pytest.mark.parametrize(
    ("text", "tokens"), [("", 0), ("ab", 1), ("abcd", 2), ("灯笼", 2), ("三盏灯 abc", 5), ("カタナ", 3)]
)
def test_tokens_are_never_told_too_cheap(text: str, tokens: int) -> None:
    """Seed 002.19: a third of the characters, rounded up; a Chinese character costs a whole token."""
    assert estimate_recall_tokens(text) == tokens


def test_a_scale_puts_strangers_at_nothing_and_pairs_at_all() -> None:
    """Whatever a model's cosines are; both languages have as many known pairs, and no remark twice."""
    count = len(words("relevance", "en")["pairs"])
    remarks = np.eye(count) + 0.5
    scale = RelevanceScale(remarks.tolist(), remarks.tolist())

    assert scale.of(np.array([scale.unrelated, scale.related])) == pytest.approx([0.0, 1.0])
    far = recalled([remembered("near"), remembered("far")], [1.5, -0.5])
    assert [each.relevance for each in far.items] == [1.0, 0.0]
    flat = RelevanceScale(np.ones((3, 3)).tolist(), np.ones((3, 3)).tolist())
    assert flat.of(np.array([1.01])) == pytest.approx([0.5], abs=1e-4)
    assert len(words("relevance", "en")["pairs"]) == len(words("relevance", "zh")["pairs"])
    for pairs in (words("relevance", language)["pairs"] for language in ("en", "zh")):
        assert len({text for pair in pairs for text in pair}) == 2 * len(pairs)
