"""Telling from a state in the author's words whether somebody is dead, or has come back."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from novelgen.models.state import StateChange

STATUS_ATTRIBUTES = frozenset({"status", "physical_state", "alive", "vital_status"})
"""Attributes whose value may say that a character is dead or alive."""

_DEAD = re.compile(
    r"^(?:now |already |found |presumed )?"
    r"(?:dead(?! (?:drunk|tired|asleep|set|broke|certain|sure|calm))|died|deceased|killed|slain|murdered|executed)\b"
    r"|^(?:已经?|当场|不幸)?(?:被[^，。；、]{0,8}?(?:杀死|打死|害死|毒死|杀害|所杀)|被杀|被害身亡"
    r"|死(?!里逃生|而复生|心|守|战|期|对头|敌|牢|囚|罪|者|不|讯|因)|身亡|身死|身故|亡故|丧命|丧生|毙命|遇害|去世|病逝|病故|圆寂|战死|病死|阵亡|自尽身亡)",
    re.IGNORECASE,
)
_ALIVE = re.compile(
    r"\b(?:alive|revived|resurrected|restored to life|brought back|survived|returned from the dead|not dead"
    r"|faked (?:his|her|their) death|undead|ghost|spirit)\b"
    r"|复活|还魂|还阳|复生|死里逃生|未死|没死|没有死|假死|诈死|活着|生还|救活|鬼魂|阴魂|幽魂",
    re.IGNORECASE,
)


def is_death(attribute: str, value: Any) -> bool:
    """Tell whether a state change says that its character is dead.

    Only a value that begins with it counts: "dead by heart failure", 死亡; not "misses the dead", 从者已死.
    """
    if attribute not in STATUS_ATTRIBUTES:
        return False
    if attribute == "alive":
        return value is False or str(value).strip().casefold() in ("false", "no", "否")
    return isinstance(value, str) and _DEAD.match(value.strip()) is not None and not _ALIVE.search(value)


def is_return_to_life(attribute: str, value: Any) -> bool:
    """Tell whether a state change says that its character lives after all, or walks as a ghost."""
    if attribute not in STATUS_ATTRIBUTES:
        return False
    if attribute == "alive":
        return value is True or str(value).strip().casefold() in ("true", "yes", "是")
    return isinstance(value, str) and _ALIVE.search(value) is not None


def deaths(changes: Iterable[StateChange]) -> dict[str, StateChange]:
    """Return who is dead after changes given in the order in which they count, with what said so."""
    dead: dict[str, StateChange] = {}
    for change in changes:
        if is_death(change.attribute, change.value):
            dead[change.entity_id] = change
        elif is_return_to_life(change.attribute, change.value):
            dead.pop(change.entity_id, None)
    return dead
