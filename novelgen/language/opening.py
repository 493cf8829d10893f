"""Reading when a scene plays from the first words of its text, where its record does not say it."""

from __future__ import annotations

import re

from novelgen.language.numerals import CHINESE_NUMERAL, ENGLISH_NUMERAL
from novelgen.language.reading import read_story_time
from novelgen.models.story_time import ToldTime

MAX_OPENING_CHARACTERS = 80
"""A time that opens a scene stands in so many characters, or it is not its opening."""

_PART = r"(?:day|morning|afternoon|evening|night|noon)"
_UNIT = r"(?:days?|nights?|weeks?|fortnights?|months?|years?)"
_MANY = rf"(?:some|several|a few|many|a couple of|{ENGLISH_NUMERAL})"
_MONTH = r"(?:January|February|March|April|May|June|July|August|September|October|November|December)"
_WEEKDAY = r"(?:Monday|Tuesday|Wednesday|Thursday|Friday|Saturday|Sunday)"
_ENGLISH = re.compile(
    rf"""^(?:it\ was\ (?:on\ |in\ |not\ until\ )?|on\ |in\ |at\ |by\ |but\ |and\ |so\ |early\ |late\ |all\ )*(?P<time>
        (?:early\ |late\ )?(?:the\ )?(?:next|following)\ {_PART}
      | the\ day\ after\ (?=[a-z]|$) | the\ morrow
      | (?:later\ )?(?:that|the)\ same\ {_PART} | (?:later\ )?that\ {_PART}
      | {_MANY}\ {_UNIT}\ (?:later|afterwards?|after(?=[,.;]|$)|passed|had\ passed|went\ by)
      | after\ {_MANY}\ {_UNIT}(?=,)
      | (?:{_WEEKDAY}(?:\ (?:morning|afternoon|evening|night))?,?\ (?:the\ )?)?
        (?:\d{{1,2}}(?:st|nd|rd|th)?(?:\ of)?\ {_MONTH}|{_MONTH}\ \d{{1,2}}(?:st|nd|rd|th)?)\b(?:,?\ \d{{4}}\b)?
      | the\ (?:[a-z]+-)?[a-z]+(?:st|nd|rd|th)\ of\ {_MONTH}\b(?:,?\ \d{{4}}\b)?
    )(?![\w'’])""",
    re.IGNORECASE | re.VERBOSE,
)
_CHINESE_PART = "清晨|清早|一早|早上|早晨|天明|天亮|黎明|上午|中午|正午|午后|下午|傍晚|黄昏|入夜|晚上|夜里|深夜|半夜"
_CHINESE = re.compile(
    rf"""^(?:却说|话说|且说|只说|再说|单说|直到|到了|到|等到|及至|至|就在|在)?[，、]?(?P<time>
        (?:[次翌][日晨早晚夜天]|第二[天日]|隔[天日]|转天|[当同][日天晚夜]|是[日夜晚]|这天(?={_CHINESE_PART}))
        (?:{_CHINESE_PART})?
      | (?:又?过了|又过|隔了)(?:[半数几]|{CHINESE_NUMERAL})[余多来]?个?(?:日|天|夜|旬|月|年|星期|礼拜|周)(?![前岁])
      | (?:[半数几]|{CHINESE_NUMERAL})[余多来]?个?(?:日|天|夜|旬|月|年|星期|礼拜|周)(?:之后|以后|过后|后)(?!的)
      | 那年[春夏秋冬][天季]?
      | (?:\d{{4}}年|[\u4e00-\u9fff]{{2}}{CHINESE_NUMERAL}年)?
        (?:正|腊|{CHINESE_NUMERAL})月(?:初?{CHINESE_NUMERAL}[日号]?|[中上下]旬)(?![多余])
    )""",
    re.VERBOSE,
)


def read_opening(text: str) -> ToldTime | None:
    """Read the time with which a scene's text opens, where it clearly opens with one.

    Only its first words count, and never speech: `The next morning`, `Three days later`, `次日`, `过了三日`,
    `那年冬天`. What stands further on may be anybody's memory or plan.
    """
    found = opening_words(text)
    if found is None:
        return None
    told = read_story_time(found[0])
    return told if told.says_something and not told.tells_of_past else None


def opening_words(text: str) -> tuple[str, tuple[int, int]] | None:
    """Return the words of time with which a text opens, and where they stand in it."""
    start = len(text) - len(text.lstrip("\ufeff \t\r\n\u3000*#—-"))
    head = text[start : start + MAX_OPENING_CHARACTERS]
    match = _CHINESE.match(head) or _ENGLISH.match(head)
    if match is None:
        return None
    first, last = match.span("time")
    return match["time"], (start + first, start + last)
