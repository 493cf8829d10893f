"""What a note states plainly, and what it does not."""

import pytest

from novelgen.memory.stated import NOBODY, Statement, statement_of
from novelgen.models.entity import Entity

KNOWN = [
    Entity(entity_id="C0", entity_type="character", name="林叔"),
    Entity(entity_id="I0", entity_type="item", name="鹿角柄折刀"),
    Entity(entity_id="L0", entity_type="location", name="青石镇"),
    Entity(entity_id="C1", entity_type="character", name="Anna"),
    Entity(entity_id="I1", entity_type="item", name="the silver ring"),
    Entity(entity_id="L1", entity_type="location", name="the mill"),
    Entity(entity_id="C3", entity_type="character", name="周先生"),
    Entity(entity_id="C4", entity_type="character", name="陈远"),
    Entity(entity_id="C2", entity_type="character", name="Ben Trevose"),
]


@pytest.mark.parametrize(
    ("content", "entity_id", "attribute", "value"),
    [
        ("刀在林叔手里。", "I0", "holder", "C0"),
        ("那把刀现在归林叔了", "I0", "holder", "C0"),
        ("林叔拿着鹿角柄折刀。", "I0", "holder", "C0"),
        ("林叔死了。", "C0", "status", "已死"),
        ("林叔在青石镇。", "C0", "location_id", "L0"),
        ("The ring is Anna's now.", "I1", "holder", "C1"),
        ("Anna has the silver ring.", "I1", "holder", "C1"),
        ("Ben Trevose is dead.", "C2", "status", "dead"),
        ("Anna is at the mill now.", "C1", "location_id", "L1"),
        ("林叔其实叫陈建国。", "C0", "real_name", "陈建国"),
        ("林叔的真名是“陈建国”", "C0", "real_name", "陈建国"),
        ("Anna's real name is Jonathan Small.", "C1", "real_name", "Jonathan Small"),
        ("Ben Trevose is really called Will Pascoe.", "C2", "real_name", "Will Pascoe"),
        ("刀在林叔手里，锁在派出所的铁柜里。", "I0", "holder", "C0"),
        ("昨夜，刀在林叔手里。它锁着。", "I0", "holder", "C0"),
        ("刀被林叔偷走了。", "I0", "holder", "C0"),
        ("鹿角柄折刀烧成了灰", "I0", "holder", NOBODY),
        ("刀被人扔进了海里。", "I0", "holder", NOBODY),
        ("刀从派出所的铁柜里被人撬走了，没人看见。", "I0", "holder", NOBODY),
        ("林叔死了，死在青石镇，胸口插着刀。", "C0", "status", "已死"),
        ("林叔被陈远杀了。", "C0", "status", "已死"),
        ("林叔死在青石镇。", "C0", "status", "已死"),
        ("周先生其实叫何书远，是个记者。", "C3", "real_name", "何书远"),
        ("The ring is with Ben Trevose, locked in his desk.", "I1", "holder", "C2"),
        ("The ring is in Ben Trevose's hands and locked in a drawer.", "I1", "holder", "C2"),
        ("The ring was stolen by Ben Trevose.", "I1", "holder", "C2"),
        ("The silver ring was burnt to ashes.", "I1", "holder", NOBODY),
        ("The ring was thrown into the sea.", "I1", "holder", NOBODY),
        ("The ring was stolen from the cabinet.", "I1", "holder", NOBODY),
        ("Ben Trevose is dead, stabbed at the mill.", "C2", "status", "dead"),
        ("Ben Trevose was killed by Anna.", "C2", "status", "dead"),
    ],
)
def test_a_plain_note_states_one_thing(content: str, entity_id: str, attribute: str, value: str) -> None:
    """Who holds a thing, by its name or the last word of it, where somebody is, that somebody is dead."""
    assert statement_of(content, KNOWN) == Statement(entity_id, attribute, value)


@pytest.mark.parametrize(
    "content",
    [
        "刀在苏晚手里",
        "林叔不喜欢刀",
        "林叔没死",
        "秘密在林叔身上",
        "林叔如果在青石镇，就好了",
        "Anna lost the ring.",
        "林叔叫人去了",
        "Anna's name is known to all.",
        "Anna is really called on to speak.",
        "Anna has not the ring",
        "Ben Trevose is not dead",
        "Anna killed Ben Trevose.",
        "Anna is with Ben Trevose",
        "If Anna is at the mill, the ring is hers.",
        "刀在林叔手里，后来被偷了。",
        "刀在林叔手里，是谎话。",
        "刀在林叔手里，陈远偷走了它。",
        "刀没丢。",
        "如果刀烧成了灰，就好了。",
        "刀丢了吗？",
        "林叔死了吗？",
        "林叔死了，大家都这么以为。",
        "林叔死了，刀在周先生手里。",
        "林叔把刀扔进了海里的事，没人知道。",
        "The ring was not lost.",
        "Was the ring stolen?",
        "The ring is with Anna, but Ben Trevose wants it.",
        "The ring is with Anna and Ben Trevose",
        "Anna is dead, they say.",
    ],
)
def test_anything_else_states_nothing(content: str) -> None:
    """A denial, a condition, a story, and what names something without a card."""
    assert statement_of(content, KNOWN) is None
