"""Ages in a text, also without a unit."""

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from novelgen.language.language import story_language, wording
from novelgen.language.normalise import simplified
from novelgen.language.numerals import CHINESE_DIGITS, ENGLISH_CARDINALS, chinese_numbers, english_amount
from novelgen.language.told_years import FROM_NOW, Year, births, time_of

MOST_YEARS = 120.0
"""A greater number is nobody's age."""

ABOUT_YEARS = 3.0
"""How far an age "about sixty", or 六十上下, may be from sixty."""

REMEMBERED_TEXTS = 10_000


class Age(NamedTuple):
    """The bounds of an age, with its characters."""

    start: int
    end: int
    low: float
    high: float
    is_said_of_subject: bool
    """Whether what stands before it is whose age it is: "he was sixty", and not "a man of sixty"."""

    is_past: bool = False
    """Whether its verb is in the past: in a speech it is no age of now."""

    is_certain: bool = True
    """Whether it is an age without a person before it."""

    year: Year | None = None
    """When it is told of, None for now."""

    is_birth: bool = False
    """Whether it is a birth in its year, and no age."""

    def agrees_with(self, other: "Age", *, now: Year | None = None) -> bool | None:
        """Tell whether somebody may be of both ages, None if unknown.

        Args:
            other: The other age.
            now: The year in which the story stands, where it is known.
        """
        if self.year is None and other.year is None:
            return self.low <= other.high and other.low <= self.high
        own, others = self._birth(now), other._birth(now)
        if own.era != others.era:
            return None
        return own.low <= others.high and others.low <= own.high

    def _birth(self, now: Year | None) -> Year:
        """Return the year of birth, a year more or less."""
        era, low, high = self.year or Year(FROM_NOW, 0, 0)
        if era == FROM_NOW and now is not None:
            era, low, high = now.era, low + now.low, high + now.high
        return Year(era, low, high) if self.is_birth else Year(era, low - self.high - 1, high - self.low + 1)


_CARDINAL = "|".join(
    re.escape(word).replace(r"\-", r"[\s-]") for word in sorted(ENGLISH_CARDINALS, key=len, reverse=True)
)
_UNITS_FIRST = rf"(?:{'|'.join(ENGLISH_CARDINALS[:9])})-and-(?:{_CARDINAL})"
_NUMBER = rf"(?>(?P<n>(?:\d{{1,3}}|an? hundred(?: and (?:{_CARDINAL}))?|{_UNITS_FIRST}|{_CARDINAL})\b))(?![,.]\d)"
_BOUND = rf"(?:(?P<bound>{wording('ages_bound_en')})\s+)?"
_OLD = r"[\s-]years?[\s-](?:old|of\s+age)\b"
_MORE = rf"(?!,?\s+(?:(?:or|and)\s+)?(?:{_CARDINAL}|\d)|\s+and\s+a\s+half)"
_END = (
    rf"(?:{_OLD})?(?P<odd>[\s-]odd\b| or so\b)?{_MORE}"
    rf"(?=\s+(?:{wording('ages_end_en')})\b|\s*[,.;:!\"”’)—–]|\s*$)"
)
"""After an age: "I'm two steps behind", "two, three steps" and "two and a half" are none."""

_SOMEBODY_OF = rf"an?\s+(?:[a-z]+\s+)?(?:{wording('ages_person_en')})\s+of\s+"
_VERB = (
    r"(?<!\bit)(?P<verb>\s+(?:(?:ha(?:s|ve|d)|[a-z]+ly|only|just)\s+){0,2}(?:am|is|was|turns|turned|(?:wi|sha)ll be)"
    r"|(?<=\byou)(?:\s+are|[’']re)|[’'](?:m|s|ve|ll\s+be)(?:\s+turned)?)"
    r"\s+(?:(?:now|just|only|all of|already|still|barely|not)\s+)*"
)
_AT = rf"\b(?P<at>at)\s+(?:(?:the\s+)?age\s+(?:of\s+)?)?{_NUMBER}"
_WHO_BEHIND = r",?\s+(?:he|she|(?:[\w.’'-]+\s){0,2}[\w.’'-]+)\s+(?:is|was)\s+(?:still|yet|now)\b"
_ENGLISH = [
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"(?<=\S){_VERB}(?:{_SOMEBODY_OF})?{_BOUND}{_NUMBER}{_END}",
        rf"(?<=\w),\s+{_BOUND}{_NUMBER}(?:{_OLD})?(?=\s*,)",
        rf"(?:\baged\s+|(?<!of )(?<!at )\bage\b\W{{1,3}}){_BOUND}{_NUMBER}",
        rf"\b{_SOMEBODY_OF}{_BOUND}{_NUMBER}{_END}",
        rf"(?<![\w-])(?<!\bor )(?<!\band ){_NUMBER}{_OLD}",
        rf"{_AT}(?={_WHO_BEHIND})",
        rf"(?<=[;,:—–]\s)(?:and\s+)?{_AT}(?=,?\s+(?:he|she)\s+(?:is|was)\s)",
        rf"\bnow,?\s+{_AT}(?=\s*,)",
        rf"(?<=\S)(?<!\bit)(?P<verb>\s+(?:am|is|was))\s+still\s[^,.;:!?\n“”\"]{{0,60}}?{_AT}{_END}",
    )
]
_ONCE = re.compile(rf"\b(?:{wording('ages_once_en')})\b[^.!?\n]*(?:[.!?]\s[^.!?\n]*)?$", re.IGNORECASE)
"""Before an age at which somebody was something: it may be of another time."""

_LAST_HOUR = 12
"""Up to it a number behind "at" is an hour."""

_DECADES = {word: 10.0 * value for value, word in enumerate(wording("ages_decades_en").split("|"), 2)}
_IN_DECADE = re.compile(
    rf"(?<=\S)(?P<verb>\s+(?:am|is|was)|[’'](?:m|s))\s+(?:already |now |well )?in\s+(?:his|her|my)\s+"
    rf"(?:(?:early|late|mid)[\s-]+)?(?P<n>{'|'.join(_DECADES)})\b",
    re.IGNORECASE,
)

_DIGITS = rf"(?<![{CHINESE_DIGITS}廿卅第数几\d])(?P<n>\d{{1,3}}|[{CHINESE_DIGITS}廿卅]{{1,5}})"
_MARKER = f"(?P<marker>{wording('ages_marker_zh')})(?:才|刚|已经|已|都|快|满|是|有|也|又)*"
_ABOUT = "(?P<over>[多余来]|有余)?"
_AFTER = "(?P<after>出头|开外|上下|左右|挂零)?"
_CHINESE_END = "(?=了?(?:吧|啦|咯|喽|哩|呢)?(?:[，。！；、,.!”」』…—]|$)|的[他她某])"
_PAST_ZH = f"(?!{wording('ages_then_zh')})"
_CHINESE = [
    re.compile(pattern)
    for pattern in (
        f"(?P<marker>年龄|年纪|岁数)\\W{{0,2}}{_DIGITS}{_ABOUT}岁?{_AFTER}",
        f"(?:{_MARKER})?{_DIGITS}{_ABOUT}(?:周?岁){_AFTER}{_PAST_ZH}",
        f"{_MARKER}{_DIGITS}{_ABOUT}{_AFTER}{_CHINESE_END}",
        f"(?P<done>){_DIGITS}{_ABOUT}{_AFTER}(?=了(?:吧|啦|咯|喽|哩|呢)?(?:[，。！；、,.!”」』…—]|$))",
        f"(?P<done>){_DIGITS}(?P<after>出头|开外|挂零|上下|左右){_CHINESE_END}",
        "(?P<marker>年(?:已|将|且)?(?:过|近|逾|届|满|至|及))(?P<n>[二三四五六七八九])旬",
        "(?P<marker>年(?:已|将|且)?(?:过|近|逾|届|满|至|及))(?P<named>半百|花甲|古稀)",
    )
]
_NAMED = {"半百": 50.0, "花甲": 60.0, "古稀": 70.0}
_UNDER_ZH = re.compile(r"(?:不到|未满|不满|未到|没到|没满|还差.{1,3}才)$")
_OVER_ZH = re.compile(r"(?:过了?|超过|逾|不止)$")
_NEAR_ZH = re.compile(r"(?:快要?|近|将近|将|眼看就?|眼瞅着就?)$")
_NOT_ZH = re.compile(wording("ages_not_zh") + r"[^，。！？；：、“”\n]{0,8}$")

_ONCE_ZH = re.compile(f"(?:{wording('ages_once_zh')})[^。！？；\n]{{0,20}}$")


@lru_cache(maxsize=REMEMBERED_TEXTS)
def find_ages(text: str) -> tuple[Age, ...]:
    """Find the ages in a text, of now or of a told year.

    Any other age of the past ("when he was seven", 七岁那年, 那年他才七岁) or a likeness ("as if she was ten") is none.
    """
    plain = simplified(text)
    ages: list[Age] = []
    for age in sorted(_chinese(plain) if story_language(plain) == "zh" else _english(plain), key=lambda one: one[:2]):
        if age.high <= 0 or age.low > MOST_YEARS or any(age.start < other.end for other in ages):
            continue
        is_now, year = time_of(plain, age.start, age.end)
        if is_now or year is not None:
            ages.append(age._replace(year=year))
    return tuple(ages)


def find_births(text: str) -> list[Age]:
    """Find the births in a text, as ages of nought."""
    return [
        Age(start, end, 0, 0, is_said_of_subject=True, is_certain=False, year=year, is_birth=True)
        for start, end, year in births(text)
    ]


_HYPOTHETICAL = re.compile(rf"\b(?:{wording('ages_not_en')})\b[^,.;!?]{{0,20}}$", re.IGNORECASE)


def _english(text: str) -> Iterator[Age]:
    for pattern in _ENGLISH:
        for match in pattern.finditer(text):
            groups = match.groupdict()
            amount = english_amount(match["n"])
            if amount is None or amount <= 1 or _HYPOTHETICAL.search(text, max(0, match.start() - 40), match.start()):
                continue
            is_at = groups.get("at") is not None
            if is_at and (amount <= _LAST_HOUR or _ONCE.search(text, max(0, match.start() - 120), match.start())):
                continue
            verb = (groups.get("verb") or "").casefold()
            bound = (groups.get("bound") or "").casefold()
            if not bound.startswith("not") and re.search(
                r"\bnot\s", text[match.start() : match.start("n")], re.IGNORECASE
            ):
                continue
            low = high = amount
            if "be" in verb.split():
                low = amount - 1
            if (groups.get("odd") or "").strip() == "or so" or bound in ("about", "around", "some"):
                low, high = amount - ABOUT_YEARS, amount + ABOUT_YEARS
            elif "odd" in (groups.get("odd") or "") or re.match(wording("ages_over_en"), bound):
                high = amount + 10
            elif bound in ("nearly", "almost", "going on", "pushing", "rising"):
                low = amount - ABOUT_YEARS
            elif bound:
                low, high = 0.0, amount - 0.5
            if re.match(r"\s+(?:next|come)\b", text[match.end() : match.end() + 8], re.IGNORECASE):
                low -= 1
            yield Age(match.start(), match.end(), low, high, bool(verb), is_past="was" in verb.split())
    for match in _IN_DECADE.finditer(text):
        decade = _DECADES[match["n"].casefold()]
        yield Age(match.start(), match.end(), decade, decade + 9, True, is_past="was" in match["verb"])


def _chinese(text: str) -> Iterator[Age]:
    for pattern in _CHINESE:
        for match in pattern.finditer(text):
            groups = match.groupdict()
            is_decade = "旬" in match.group()
            if groups.get("named"):
                values: tuple[float, float] | None = (_NAMED[groups["named"]],) * 2
            else:
                values = chinese_numbers(match["n"].replace("廿", "二十").replace("卅", "三十"))
            before = text[max(0, match.start() - 16) : match.start("named" if groups.get("named") else "n")]
            if values is None or _NOT_ZH.search(before):
                continue
            if re.match("的[他她]", text[match.end() :]) and _ONCE_ZH.search(text, 0, match.start()):
                continue
            low, high = (value * (10 if is_decade else 1) for value in values)
            if "done" in groups and low < 10:
                continue
            after, before = groups.get("after") or "", before.rstrip("满有")
            if _UNDER_ZH.search(before):
                low, high = 0.0, high - 0.5
            elif _NEAR_ZH.search(before):
                low = low - ABOUT_YEARS
            elif after in ("上下", "左右"):
                low, high = low - ABOUT_YEARS, high + ABOUT_YEARS
            elif after in ("出头", "挂零"):
                high = low + 5
            elif groups.get("over") or after == "开外" or is_decade or groups.get("named") or _OVER_ZH.search(before):
                high = low + 9
            is_certain = "岁" in match.group() or (groups.get("marker") or "") not in ("", "已经", "已", "才", "都")
            yield Age(match.start(), match.end(), low, high, True, is_certain=is_certain)
