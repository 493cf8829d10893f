"""What says that a scene, or what it tells of, does not play now."""

from __future__ import annotations

import re

_HOUR = (
    r"(?:\w+\s+)?(?:noon|midnight|midday|dawn|dusk|day(?:break|light)?|sun(?:rise|set)|dark|lunch|dinner|supper"
    r"|breakfast)"
)
_CLOCK = rf"(?:half|a quarter|\d|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|{_HOUR})\b"

_YEARS_BACK = r"years? (?:ago|earlier|before)"

PAST = re.compile(
    r"\b(?:flash ?back|told|tells|recall(?:s|ed|ing)?|remember(?:s|ed|ing)?|memor(?:y|ies)|past(?! "
    rf"{_CLOCK})(?<!half past)(?<!half-past)(?<!quarter past)|{_YEARS_BACK}|earlier(?! (?:that|this|the same))"
    rf"|before(?! {_CLOCK})|prologue|events|yesterday|last (?:night|year|week|month)|ago)\b"
    r"|回忆|往事|当年|昔年|昔日|从前|以前|年前|月前|日前|天前|(?<![亮明黑晚午更时刻])之前|追述|倒叙|旧事|自述|昨[日夜晚天]",
    re.IGNORECASE,
)
"""Words for what was; not `before midnight`, nor `half past six`, which are hours of now."""

UNREAL = re.compile(r"\b(?:dreams?|visions?|ghosts?|s[ée]ance)\b|梦|幻|亡魂|鬼魂|地府|前世", re.IGNORECASE)
"""Words for what does not happen as the rest does."""


def tells_of_past(story_time: str | None) -> bool:
    """Tell whether a story time says that the scene plays earlier, or tells of what played earlier."""
    return PAST.search(story_time or "") is not None


def is_out_of_time(story_time: str | None) -> bool:
    """Tell whether a story time says that a scene does not play when it is told: the past, a dream, a ghost."""
    return tells_of_past(story_time) or UNREAL.search(story_time or "") is not None
