"""Times of scenes: told times, days and order."""

from __future__ import annotations

from typing import Literal, get_args

from pydantic import Field

from novelgen.models.base import Model
from novelgen.models.record import is_unsaid
from novelgen.models.shown import Shown

Season = Literal["spring", "summer", "autumn", "winter"]
SEASONS: tuple[Season, ...] = get_args(Season)
PartOfDay = Literal["small_hours", "dawn", "morning", "noon", "afternoon", "evening", "night", "midnight"]

Certainty = Literal["told", "inferred", "at_least", "unknown"]
"""Of a day: every link to it is told; a link follows from the hours or a date without its year; it is the earliest
that it can be; or nothing says."""

LivedWhen = Literal["now", "in_story", "before_story", "unknown"]


class DaySpan(Model):
    """A span of days with bounds.

    Negative values point back.
    """

    min_days: int
    max_days: int | None = Field(default=None, description="None means that nothing says how many at most.")

    @property
    def is_exact(self) -> bool:
        """Tell whether it is one number."""
        return self.min_days == self.max_days


class ToldTime(Model):
    """A parsed time expression, with None for missing parts."""

    text: str
    era: str = Field(default="", exclude_if=is_unsaid, description="Reign or other era that `year` counts in.")
    year: int | None = Field(default=None, exclude_if=is_unsaid)
    to_year: int | None = Field(default=None, exclude_if=is_unsaid, description="Last of several years.")
    is_about: bool = Field(default=False, exclude_if=is_unsaid, description="The year is said to be about right.")
    month: int | None = Field(default=None, exclude_if=is_unsaid)
    day: int | None = Field(default=None, exclude_if=is_unsaid, description="Day of the month.")
    is_lunar: bool = Field(
        default=False, exclude_if=is_unsaid, description="Month and day are of the Chinese calendar."
    )
    weekday: int | None = Field(default=None, exclude_if=is_unsaid, description="1 Monday to 7 Sunday.")
    season: Season | None = Field(default=None, exclude_if=is_unsaid)
    part: PartOfDay | None = Field(default=None, exclude_if=is_unsaid)
    minutes: tuple[int, int] | None = Field(
        default=None,
        exclude_if=is_unsaid,
        description="Earliest and latest minute of its day at which it begins; over 1440 is the night after.",
    )
    is_clock: bool = Field(default=False, exclude_if=is_unsaid, description="An hour of the clock is given.")
    shift: DaySpan | None = Field(
        default=None, exclude_if=is_unsaid, description="Days since the scene told before it."
    )
    event: str = Field(
        default="", exclude_if=is_unsaid, description="What is to come, to which days are counted: `Orla's Night`."
    )
    days_before: int | None = Field(default=None, exclude_if=is_unsaid, description="So many days before it.")
    until: ToldTime | None = Field(default=None, exclude_if=is_unsaid, description="When it ends, where that is said.")
    tells_of_past: bool = Field(default=False, exclude_if=is_unsaid)
    past: ToldTime | None = Field(
        default=None, exclude_if=is_unsaid, description="When what it tells of played; `shift` is then days back."
    )

    @property
    def is_dated(self) -> bool:
        """Tell whether it names a day of a month."""
        return self.month is not None and self.day is not None

    @property
    def says_something(self) -> bool:
        """Tell whether anything but words was read in it."""
        return bool(self.model_dump(exclude={"text"}, exclude_defaults=True))


class SceneTime(Model):
    """When one stored scene plays."""

    chapter_index: int
    scene_index: int
    scene_id: str = ""
    title: str = ""
    told: ToldTime | None = Field(default=None, exclude_if=is_unsaid)
    said_in: Literal["record", "text"] | None = Field(
        default=None, exclude_if=is_unsaid, description="Whether the record says it, or the scene's own opening."
    )
    story_day: int | None = Field(
        default=None, exclude_if=is_unsaid, description="Running day; the story's first told scene plays on day 1."
    )
    until_day: int | None = Field(
        default=None, exclude_if=is_unsaid, description="Day on which it ends, where that is a later one."
    )
    certainty: Certainty = "unknown"
    since_previous: DaySpan | None = Field(
        default=None, exclude_if=is_unsaid, description="Days since the scene told before it ended."
    )
    is_flashback: bool = Field(default=False, exclude_if=is_unsaid)
    lived: LivedWhen = "unknown"
    told_order: int
    lived_order: int | None = Field(
        default=None, exclude_if=is_unsaid, description="Its place in the order lived; None where nothing says."
    )
    location_id: str | None = Field(default=None, exclude_if=is_unsaid)
    participants: list[str] = Field(default_factory=list, exclude_if=is_unsaid)
    guessed: list[str] = Field(
        default_factory=list, exclude_if=is_unsaid, description="What of it only rules say: participants, location_id."
    )

    @property
    def place(self) -> tuple[int, int]:
        """Chapter and scene."""
        return (self.chapter_index, self.scene_index)


class SceneTimes(Shown, Model):
    """The scenes of a story strictly before a position, with when they play."""

    project_id: str
    language: str = ""
    scenes: list[SceneTime] = Field(default_factory=list)
    names: dict[str, str] = Field(default_factory=dict, description="Names to show for the ids in it.")
