"""Secrets: what unlocks them, and which texts give them away."""

from typing import Any

import pytest
from pydantic import ValidationError

from novelgen.characters.dispositions import Disposition
from novelgen.characters.reply_stream import card_text
from novelgen.characters.secrets import Secret, find_secret
from novelgen.models.entity import Entity

GOLD = Secret(
    secret_id="gold", text="He has hidden 300 gold pieces under the mill so that Elena can leave the village."
)
DEAL = Secret(secret_id="deal", text="Gregor made a deal with the bandits of Iron Hollow for protection.")
DEAL_ZH = Secret(secret_id="交易", text="格雷戈和铁谷的强盗做了交易，用粮食换取保护。")
LEDGER = Secret(
    secret_id="ledger",
    text="Hesper keeps a second ledger under the third stair, and Corwin pays her forty crowns each month to hide the "
    "smuggled powder.",
)
LEDGER_ZH = Secret(
    secret_id="账本", text="我在城南当铺的地窖里藏了第二本账，赵铁山每月给我四十两银子，让我替他瞒下私盐。"
)
CODE = Secret(secret_id="code", text="The gate opens at the word.", key_words=["nightshade"])


@pytest.mark.parametrize(
    ("unlock", "disposition", "flags", "items", "holds"),
    [
        ({"trust": 60}, {"trust": 60}, {}, [], True),
        ({"trust": 60}, {"trust": 59}, {}, [], False),
        ({"trust": 60, "affection": 40}, {"trust": 90, "affection": 39}, {}, [], False),
        ({"fear": 50}, {"fear": 60}, {}, [], True),
        ({"flag": "war"}, {}, {"war": True}, [], True),
        ({"flag": "war"}, {}, {"war": False}, [], False),
        ({"flags": {"act": 2}}, {}, {"act": 2}, [], True),
        ({"flags": {"act": 2}}, {}, {"act": 1}, [], False),
        ({"flag": "war", "flags": {"act": 2}}, {}, {"act": 2}, [], False),
        ({"flags": ["war", "winter"]}, {}, {"war": True}, [], False),
        ({"item": "the Ledger"}, {}, {}, ["The ledger"], True),
        ({"items": ["ledger", "seal"]}, {}, {}, ["ledger"], False),
        ({"item": "brass key"}, {}, {}, ["the Brass Key"], True),
        ({"item": "the brass key"}, {}, {}, ["brass keys"], False),
        ({}, {}, {}, [], True),
    ],
)
def test_all_conditions_must_hold(
    unlock: dict[str, Any], disposition: dict[str, int], flags: dict[str, Any], items: list[str], holds: bool
) -> None:
    """Seed 002.39: trust, affection, a flag, an item shown; one that fails keeps it locked."""
    secret = Secret.model_validate({"secret_id": "s", "text": "x", "unlock": unlock})
    standing = secret.standing(Disposition(**disposition), flags=flags, items=items)
    assert standing == ("unlocked" if holds else "locked")


def test_the_plainest_hint_whose_conditions_hold_is_given() -> None:
    """Each part has a lower threshold of its own; seed 002.40: what is never told unlocks for nobody."""
    hints = [{"text": "vague", "unlock_trust": 20}, {"text": "plain", "unlock": {"trust": 40}}]
    secret = Secret.model_validate({"secret_id": "s", "secret": "x", "unlock_trust": 60, "hints": hints})
    said = [secret.hint(Disposition(trust=trust), flags={}) for trust in (10, 20, 40)]
    assert said == [None, "vague", "plain"]
    secret = Secret.model_validate({"secret_id": "s", "text": "x", "never": True})
    assert secret.standing(Disposition(trust=100), flags={}) == "locked"


@pytest.mark.parametrize(
    "wrong",
    [
        {"unlock_luck": 3},
        {"unlock": {"flags": 3}},
        {"unlock": {"flags": [["war"]]}},
        {"unlock": {"flag": [{"war": True}]}},
        {"nver": True},
    ],
)
def test_a_misspelt_condition_is_refused(wrong: dict[str, Any]) -> None:
    """It would leave the secret open to everybody."""
    with pytest.raises(ValidationError):
        Secret.model_validate({"secret_id": "s", "text": "x", **wrong})


@pytest.mark.parametrize(
    ("text", "secret", "how"),
    [
        ("gregor made a deal with the bandits of IRON HOLLOW, for protection!", DEAL, "verbatim"),
        ("All right. I made a deal with bandits, for protection. There.", DEAL, "near_verbatim"),
        ("I have dealt with bandits. From Iron Hollow. They give us protection.", DEAL, "near_verbatim"),
        ("There are 300 pieces under the old mill.", GOLD, "key_facts"),
        ("The word? Nightshade.", CODE, "key_word"),
        ("我和强盗做了交易，拿粮食换保护。", DEAL_ZH, "near_verbatim"),
        ("格雷戈和铁谷的强盗做了交易：用粮食换取保护", DEAL_ZH, "verbatim"),
        # Of a secret that says several things, one of them alone.
        ("I keep a second ledger under the stair.", LEDGER, "near_verbatim"),
        ("Corwin pays me forty crowns a month to hide his powder.", LEDGER, "near_verbatim"),
        ("Corwin came by with his forty crowns, so the powder stays here.", LEDGER, "key_facts"),
        ("我在当铺地窖里藏了第二本账。", LEDGER_ZH, "near_verbatim"),
        ("赵铁山每月给我四十两。", LEDGER_ZH, "near_verbatim"),
    ],
)
def test_a_text_that_gives_a_secret_away_is_found(text: str, secret: Secret, how: str) -> None:
    """Seed 002.40: as it stands, in nearly its words, by a word that tells it alone, by its names and numbers."""
    trace = find_secret(text, secret, own_names=["Gregor", "Hesper", "格雷戈"])
    assert trace is not None
    assert trace.how == how
    assert text[trace.start : trace.end].strip()


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("The bandits of Iron Hollow are dangerous; stay away from there.", DEAL),
        ("Gregor sells nails, and he makes a fair deal.", DEAL),
        ("Elena works at the mill. She would like to leave the village one day.", GOLD),
        ("That will be 300 gold pieces.", CODE),
        ("铁谷的强盗很凶，别去。", DEAL_ZH),
        ("Forty crowns is a lot of money for a boat.", LEDGER),
        ("Corwin pays well, like any merchant who comes each month.", LEDGER),
        ("The second ledger on the shelf is full; fetch me a third.", LEDGER),
        ("四十两银子可不少。", LEDGER_ZH),
        ("赵铁山每月都来城南的当铺。", LEDGER_ZH),
        ("今年的粮食不够，大家都要省着吃。", DEAL_ZH),
        ("", DEAL),
    ],
)
def test_talk_of_the_same_things_is_no_leak(text: str, secret: Secret) -> None:
    """Whoever speaks of the bandits, the mill or Elena has not told the secret yet."""
    assert find_secret(text, secret, own_names=["Gregor", "Hesper", "格雷戈"]) is None


def test_a_card_holds_no_secret() -> None:
    """A `secrets` field of a card, and a line that tells a closed secret, are left out of what a model sees."""
    entity = Entity(
        entity_id="C0",
        entity_type="character",
        name="Gregor",
        role="merchant",
        profile={
            "personality": {"core_traits": ["cautious", "kind"]},
            "secrets": [{"secret": "He fears the dark.", "unlock_trust": 50}],
            "backstory": "He made a deal with the bandits of Iron Hollow for protection.",
            "current_state": {"goals": ["to flee"]},
        },
    )
    card = card_text(entity, [DEAL])
    assert card == "Gregor, merchant\npersonality: core traits: cautious, kind"
    assert "deal" in card_text(entity)
