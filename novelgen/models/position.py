"""Where and when: project ids, positions in a story, moments in time."""

from __future__ import annotations

import functools
import math
import re
import unicodedata
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Annotated, Any, Protocol

from pydantic import AfterValidator, Field

from novelgen.errors import InvalidPositionError, InvalidProjectIdError

MAX_PROJECT_ID_LENGTH = 100

SCENE_LABEL = re.compile(r"S[0-9]{1,9}")
"""An id of a scene, which it keeps wherever it is moved."""

LONGEST_CHAPTER_NAME = 200

CHAPTER_NAME = (
    r"(?:.{0,200}[\u00c0-\u024f\u0370-\u052f\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af].{0,200}"
    r"|(?:[Nn]ext|[Cc]h(?:ap(?:ter)?)?|[Ee]p(?:isode)?|[Pp](?:rologue|reface|art)|[Ee]pilogue|[Ii]nterlude|[Ff]oreword"
    r"|[Aa](?:fterword|ct)|[Bb]ook|[Vv]olume|[Ss]tave|[Cc]anto)(?:[^A-Za-z].{0,200})?)"
)
"""The form of a name by which authors call a chapter: 第8章, 番外, Chapter 8, Prologue; in any dialect of patterns."""

_FORBIDDEN = re.compile(r'[/\\:*?"<>|\x00-\x1f\x7f]')

_DEVICE_NAMES = frozenset(
    {"con", "prn", "aux", "nul", *(f"com{n}" for n in range(1, 10)), *(f"lpt{n}" for n in range(1, 10))}
)


def require_project_id(value: object) -> str:
    """Return a project id that is a safe key and folder name, or reject it.

    Args:
        value: What a caller passed. Letters of every script, digits, spaces, `_`, inner dots and `-` are fine.

    Returns:
        The id, in Unicode NFC.

    Raises:
        InvalidProjectIdError: When it is not a string, empty, longer than 100 characters, like a path
            (`../x`, `/etc`, `C:`), a device name (`nul`), or holds control or wildcard characters.
    """
    if not isinstance(value, str):
        raise InvalidProjectIdError(f"project_id must be a plain string, not {type(value).__name__}: {value!r}")
    name = unicodedata.normalize("NFC", value)
    problem = _problem_with(name)
    if problem:
        raise InvalidProjectIdError(f"project_id {value!r} {problem}; use a plain name such as 'my-novel'")
    return name


def _problem_with(name: str) -> str | None:
    if not name.strip():
        return "is empty"
    if name != name.strip():
        return "begins or ends with white space"
    if len(name) > MAX_PROJECT_ID_LENGTH or len(name.encode("utf-8", "surrogatepass")) > 240:
        return f"is longer than {MAX_PROJECT_ID_LENGTH} characters"
    if _FORBIDDEN.search(name) or any(unicodedata.category(character) in ("Cc", "Cf", "Cs") for character in name):
        return "holds a path separator or a character that file names cannot hold"
    if name.startswith(".") or name.endswith("."):
        return "begins or ends with a dot"
    if name.startswith("-"):
        return "begins with a dash, which commands take for an option"
    if name.split(".")[0].lower() in _DEVICE_NAMES:
        return "is the name of a device on some systems"
    return None


GREATEST_INDEX = 1_000_000
ChapterIndex = Annotated[int, Field(ge=0, le=GREATEST_INDEX)]
SceneIndex = Annotated[int, Field(ge=0, le=GREATEST_INDEX)]


@functools.total_ordering
@dataclass(frozen=True, eq=False)
class StoryPosition:
    """A point in the story at which something is read: on entering a scene, a chapter, or after the end.

    `StoryPosition(3, 2)` is the moment of entering scene 2 of chapter 3, `StoryPosition(3)` of entering
    chapter 3, `StoryPosition()` the moment after the last stored scene. What is read at a position lies
    strictly before it. Positions are ordered; the end of the story is the greatest.

    Args:
        chapter_index: Chapter, from 0 up; None means after the last stored scene.
        scene_index: Scene within the chapter, from 0 up; None means on entering the chapter.

    Raises:
        InvalidPositionError: When a number is out of 0..1,000,000, or a scene comes without its chapter.
    """

    chapter_index: int | None = None
    scene_index: int | None = None

    def __post_init__(self) -> None:
        for name, value in (("chapter_index", self.chapter_index), ("scene_index", self.scene_index)):
            if value is not None and not (type(value) is int and 0 <= value <= GREATEST_INDEX):
                raise InvalidPositionError(f"{name}={value!r} is not a whole number from 0 to {GREATEST_INDEX:,}")
        if self.chapter_index is None and self.scene_index is not None:
            raise InvalidPositionError(
                f"scene_index={self.scene_index!r} was given without chapter_index; pass both, or neither"
            )

    @functools.cached_property
    def key(self) -> tuple[float, float]:
        """Sort key: entering a chapter comes before its first scene, the end after everything."""
        if self.chapter_index is None:
            return (math.inf, math.inf)
        return sort_key(self.chapter_index, self.scene_index)

    def __lt__(self, other: StoryPosition) -> bool:
        return self.key < other.key

    def __eq__(self, other: object) -> bool:
        return isinstance(other, StoryPosition) and self.key == other.key

    def __hash__(self) -> int:
        return hash(self.key)

    def __str__(self) -> str:
        if self.chapter_index is None:
            return "end"
        return str(self.chapter_index) if self.scene_index is None else f"{self.chapter_index}:{self.scene_index}"

    def admits(self, chapter_index: int | None, scene_index: int | None) -> bool:
        """Tell whether something that the story established there may be read at this position.

        Args:
            chapter_index: Chapter of the thing; None means that it has no position and is visible everywhere.
            scene_index: Scene of the thing; None means that it is known at the end of its chapter only.

        Returns:
            True when the thing lies strictly before this position.
        """
        if chapter_index is None or self.chapter_index is None:
            return True
        if scene_index is None or self.scene_index is None:
            return chapter_index < self.chapter_index
        return (chapter_index, scene_index) < (self.chapter_index, self.scene_index)


END_OF_STORY = StoryPosition()

Place = tuple[int, int]
"""Where something stands in the story, as a sort key."""

SCENES_PER_CHAPTER = 2_000_000
"""More than a scene's number can be, so that chapter and scene fit into one number; stored in vector indexes."""


class Placed(Protocol):
    """Anything with a chapter and a scene, each None where it has none."""

    @property
    def chapter_index(self) -> int | None: ...

    @property
    def scene_index(self) -> int | None: ...


def sort_key(chapter_index: int | None, scene_index: int | None) -> Place:
    """Return the story order key: timeless first, chapters before their scenes."""
    return -1 if chapter_index is None else chapter_index, -1 if scene_index is None else scene_index


def story_place(thing: Placed) -> Place:
    """Return the key by which story order sorts a thing that has a chapter and a scene."""
    return sort_key(thing.chapter_index, thing.scene_index)


def place_told(thing: Any) -> tuple[int | None, int | None]:
    """Return where people are told something: where its author said it begins, else the scene at which it stands."""
    of = thing.get if isinstance(thing, Mapping) else functools.partial(getattr, thing)
    said_place: tuple[int, int] | None = of("said_from", None)
    return (said_place[0], said_place[1]) if said_place else (of("chapter_index", None), of("scene_index", None))


def scene_from(start: StoryPosition, scenes: Sequence[Place]) -> Place | None:
    """Return the scene from which something holds, None where there are no scenes.

    That is the first scene of its chapter from its start on. Where the chapter has none there, it is the last scene
    before.

    Args:
        start: It holds from this position on.
        scenes: Places of the scenes, in story order.
    """
    following = bisect_left(scenes, start.key)
    if scenes[following : following + 1] and (following == 0 or scenes[following][0] == start.chapter_index):
        return scenes[following]
    return scenes[following - 1] if following else None


def place_text(chapter_index: int | None, scene_index: int | None, *, always: str) -> str:
    """Return a displayed place: `3:2`, `3` for a chapter, a word if timeless."""
    return always if chapter_index is None else str(StoryPosition(chapter_index, scene_index))


def deadline_text(place: Sequence[int] | None) -> str:
    """Return when a thread is due as everybody is shown it: `9:1`, `12` for a chapter, nothing where nobody said."""
    return place_text(place[0], place[1] or None, always="") if place else ""


def packed_place(chapter: Any, scene: Any) -> Any:
    """Return chapter and scene as one number that grows with the story: of ints, of arrays, of SQL columns."""
    return chapter * SCENES_PER_CHAPTER + scene


def unpacked_place(number: int) -> Place:
    """Return the chapter and the scene that `packed_place` made one number of."""
    return divmod(number, SCENES_PER_CHAPTER)


def to_utc(value: datetime) -> datetime:
    """Return the moment in UTC, reading naive ones as UTC."""
    return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


def utc_now() -> datetime:
    """Return the present moment, aware, in UTC."""
    return datetime.now(UTC)


UtcDatetime = Annotated[datetime, AfterValidator(to_utc)]
