"""What a note states plainly, and what it does not."""

import pytest

from novelgen.memory.stated import Statement, statement_of
from novelgen.models.entity import Entity

KNOWN = [
    Entity(entity_id="C0", entity_type="character", name="林叔"),
    Entity(entity_id="I0", entity_type="item", name="鹿角柄折刀"),
    Entity(entity_id="L0", entity_type="location", name="青石镇"),
    Entity(entity_id="C1", entity_type="character", name="Anna"),
    Entity(entity_id="I1", entity_type="item", name="the silver ring"),
    Entity(entity_id="L1", entity_type="location", name="the mill"),
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
    ],
)
def test_anything_else_states_nothing(content: str) -> None:
    """A denial, a condition, a story, and what names something without a card."""
    assert statement_of(content, KNOWN) is None
