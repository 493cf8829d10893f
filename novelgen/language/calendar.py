"""How many days lie between two dates of a story, as far as their words tell."""

from __future__ import annotations

from datetime import date
from typing import NamedTuple

from novelgen.models.story_time import DaySpan, ToldTime

_LUNAR_MONTH_DAYS = (29, 30)

FIRST_GREGORIAN_YEAR = 1753
"""Before it two calendars ran side by side in English books, and weekdays prove nothing."""


class Distance(NamedTuple):
    """Days from one date to another: what is certain, and the likeliest number with whether it is told."""

    span: DaySpan
    likely: int | None
    is_told: bool


def days_between(first: ToldTime, then: ToldTime) -> Distance | None:
    """Return how many days a later told date lies after an earlier told one."""
    if not (first.is_dated and then.is_dated) or first.is_lunar != then.is_lunar:
        return None
    if first.era != then.era and first.era and then.era:
        return None
    both_years = first.year is not None and then.year is not None
    years = (then.year or 0) - (first.year or 0) if both_years else 0
    return _lunar(first, then, years, both_years) if first.is_lunar else _gregorian(first, then, both_years)


def _gregorian(first: ToldTime, then: ToldTime, both_years: bool) -> Distance | None:
    start = calendar_day(first, year=first.year or then.year or 2001)
    end = calendar_day(then, year=then.year or first.year or 2001)
    if start is None or end is None:
        return None
    days = (end - start).days
    if both_years:
        return Distance(DaySpan(min_days=days, max_days=days), days, True)
    if days < 0:
        return Distance(DaySpan(min_days=days + 365, max_days=None), None, False)
    return Distance(DaySpan(min_days=days, max_days=None), days, False)


def _lunar(first: ToldTime, then: ToldTime, years: int, both_years: bool) -> Distance | None:
    months = (then.month or 0) - (first.month or 0) + 12 * years
    days = (then.day or 0) - (first.day or 0)
    if months == 0:
        span = DaySpan(min_days=days, max_days=days if both_years else None)
        return Distance(span, days, both_years) if days >= 0 or both_years else None
    if months < 0:
        return None
    least, most = (months * each + days for each in _LUNAR_MONTH_DAYS)
    # A leap month may stand between, one in about three years.
    return Distance(
        DaySpan(min_days=least, max_days=most + 30 * (1 + months // 30) if both_years else None), None, False
    )


def calendar_day(told: ToldTime, *, year: int | None = None) -> date | None:
    """Return a told date as a day of our calendar, or None where it is none or no such day exists."""
    in_year = year if year is not None else told.year
    if told.is_lunar or told.era or in_year is None or told.month is None or told.day is None:
        return None
    try:
        return date(in_year, told.month, told.day)
    except ValueError:
        return None
