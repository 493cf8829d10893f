"""Entities of two small stories for the tests of this room."""

from novelgen.models.entity import Entity, EntityAlias, EntityType

_TYPES: dict[str, EntityType] = {"C": "character", "L": "location", "I": "item", "F": "faction"}


def entity(entity_id: str, name: str, *aliases: str, role: str = "", gender: str = "") -> Entity:
    """An entity whose type follows from its id."""
    return Entity(
        entity_id=entity_id,
        entity_type=_TYPES[entity_id[0]],
        name=name,
        aliases=[EntityAlias(alias=alias) for alias in aliases],
        role=role,
        profile={"gender": gender} if gender else {},
    )


def london() -> list[Entity]:
    """An English story."""
    return [
        entity("C0", "Sherlock Holmes", "Holmes", "Mr. Sherlock Holmes", "the old man"),
        entity("C1", "Dr. John Watson", "Watson", "doctor", role="narrator"),
        entity("C2", "Mary Morstan", "Miss Morstan"),
        entity("C3", "Captain Arthur Morstan", "Captain Morstan"),
        entity("C4", "Athelney Jones", "the fat detective", "the stranger"),
        entity("C5", "McMurdo", "the porter", "the stranger"),
        entity("C6", "Mordecai Smith"),
        entity("C7", "Jim Smith"),
        entity("L0", "221B Baker Street", "Baker Street"),
        entity("L1", "Mrs. Forrester's house", "Camberwell"),
        entity("L2", "The old fort at Agra", "the old fort"),
        entity("L3", "Pinchin Lane"),
        entity("L4", "Thaddeus Sholto's house"),
        entity("I0", "The Agra treasure", "the treasure"),
    ]


def journey() -> list[Entity]:
    """A Chinese story."""
    return [
        entity("C0", "唐三藏", "三藏", "师父", "圣僧"),
        entity("C1", "孙悟空", "行者", "孙行者", "大圣"),
        entity("C2", "猪八戒", "八戒", "那怪"),
        entity("C3", "镇元子", "大仙", "师父"),
        entity("C4", "木叉行者", "惠岸"),
        entity("C5", "王老者", "老王", "老儿"),
        entity("C6", "林黛玉", "黛玉"),
        entity("C7", "林黛"),
        entity("C8", "里社祠老者", "庙祝", "老儿"),
        entity("L0", "黄风岭黄风洞", "黄风岭"),
        entity("L1", "福陵山云栈洞"),
        entity("I0", "九齿钉钯", "钯"),
    ]
