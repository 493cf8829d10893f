"""Feelings: how events move them, within which bounds, and what they are called."""

import json

import pytest

from novelgen.characters.dispositions import (
    RELATIONSHIP_DELTAS,
    Disposition,
    DispositionChange,
    clamped,
    deltas_of,
    disposition_words,
    folded_disposition,
    relationship_header,
    require_dimensions,
    status_of,
    status_words,
)
from novelgen.characters.memory import CharacterMemorySettings
from novelgen.errors import UserInputError
from novelgen.models.state import DIMENSION_RANGES

SETTINGS = CharacterMemorySettings()


@pytest.mark.parametrize(
    ("event_type", "deltas"),
    [
        ("gift_given", {"affection": 5, "trust": 2}),
        ("betrayal", {"trust": -15, "affection": -10}),
        ("life_saved", {"trust": 15, "affection": 10, "fear": -5}),
    ],
)
def test_the_numbers_of_the_seed_hold(event_type: str, deltas: dict[str, int]) -> None:
    """Seed 002.26: gift, betrayal and a saved life move feelings as the seed says, under each of their names."""
    found = deltas_of(event_type, SETTINGS)
    assert {name: found.get(name) for name in deltas} == deltas
    other_names = {"gift_given": "gift_received", "life_saved": "saved_life"}
    assert deltas_of(other_names.get(event_type, event_type), SETTINGS) == found


def test_every_valid_interaction_type_has_a_rule_and_a_free_one_has_none() -> None:
    """Seed 002.26, 002.56: what a model proposes is bounded, what a person gives refused; a game has own rules."""
    assert set(SETTINGS.valid_interaction_types) <= set(RELATIONSHIP_DELTAS)
    assert deltas_of("dragon_ridden", SETTINGS) == {}
    proposed = json.loads(
        '{"trust_change": 99, "affection": -99, "fear_change": 10.4, "respect_change": "9", "luck_change": 5}'
    )
    assert clamped(proposed, SETTINGS) == {"trust": 15, "affection": -10, "fear": 10}
    assert clamped({"trust": float("nan"), "fear": float("inf"), "respect": True}, SETTINGS) == {"fear": 10}
    narrow = CharacterMemorySettings(max_trust_change=0, max_affection_change=3)
    assert clamped(proposed, narrow) == {"affection": -3, "fear": 10}
    own = CharacterMemorySettings(relationship_deltas={"gift_given": {"respect": 7}, "betrayal": {}})
    assert [deltas_of(each, own) for each in ("gift_received", "betrayal")] == [{"respect": 7}, {}]
    for wrong in ({"trusst": 3}, {"trust": "3"}, {"trust": True}):
        with pytest.raises(UserInputError):
            require_dimensions(wrong)


def test_changes_fold_in_their_order_within_their_bounds() -> None:
    """-100 to 100, familiarity 0 to 100; a value that is set stands until something moves it."""
    far = dict.fromkeys(DIMENSION_RANGES, 1000)
    low = {name: -number for name, number in far.items()}
    assert Disposition().moved(far) == Disposition(**dict.fromkeys(DIMENSION_RANGES, 100))
    assert Disposition().moved(low).model_dump() == {name: least for name, (least, _) in DIMENSION_RANGES.items()}
    changes = [
        DispositionChange(deltas={"trust": 5}),
        DispositionChange(values={"trust": -20}),
        DispositionChange(deltas={"trust": 3, "fear": 7}),
    ]
    folded = folded_disposition(changes)
    assert (folded.trust, folded.fear) == (-17, 7)


def test_the_header_has_the_form_of_the_seed() -> None:
    """Seed 002.13: in words the strongest that fits, and a status of the game's own as it is."""
    felt = Disposition(trust=45, affection=20)
    assert (
        relationship_header(felt, has_met=True, days_known=3)
        == "[Met=yes, Days_known=3, Trust=45, Affection=20, Fear=0, Status=friendly_acquaintance]"
    )
    felt = Disposition(trust=-80, affection=-80, fear=90, respect=-80)
    assert disposition_words(felt, other="Ada", language="en") == [
        "believes no word of Ada",
        "despises Ada",
        "hates Ada",
        "is terrified of Ada",
    ]
    assert [status_words(each, "zh") for each in ("friend", "sworn_brother")] == ["朋友", "sworn_brother"]


@pytest.mark.parametrize(
    ("values", "status"),
    [
        ({}, "acquaintance"),
        ({"trust": 55, "affection": 50}, "friend"),
        ({"trust": 80, "affection": 80}, "close_friend"),
        ({"trust": -5}, "rival"),
        ({"trust": 90, "affection": -40}, "enemy"),
    ],
)
def test_a_status_follows_trust_and_affection(values: dict[str, int], status: str) -> None:
    """The less of the two decides; before they met, everybody is a stranger."""
    assert status_of(Disposition(**values), has_met=True) == status
    assert status_of(Disposition(**values), has_met=False) == "stranger"


def test_feelings_have_words_in_both_languages() -> None:
    """Seed 002.38: what is much or little is said; what is neither is not."""
    felt = Disposition(trust=60, affection=-5, fear=30, familiarity=50)
    assert disposition_words(felt, other="you", language="en") == [
        "trusts you",
        "dislikes you",
        "is afraid of you",
        "knows you well",
    ]
    assert disposition_words(felt, other="你", language="zh") == ["信任你", "不喜欢你", "害怕你", "跟你很熟"]
    assert disposition_words(Disposition(), other="you", language="en") == []
