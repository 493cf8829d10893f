"""Names that authors give their chapters, beside the places at which these stand in the order of the story.

A place such as 8:1 is the first scene of the eighth chapter in order. Its author may call that chapter 第7章（下）, for
numbers are doubled, begin again in a volume, and have interludes and 番外 between them.
"""

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import NamedTuple

from novelgen.errors import InvalidPositionError, UnknownSceneError
from novelgen.language.language import CJK_RANGES
from novelgen.language.numerals import HEADING_NUMERAL, chinese_number
from novelgen.models.position import StoryPosition
from runtime.files.chapter_headings import Heading, heading_of
from runtime.files.chapter_text import AFTER_WORD, CHAPTER_WORDS, NUMBER_WORD, TO, bare_heading, chapter_number

TITLE_PARTS = " · "
"""Between a chapter's title and that of a scene in it, where one title tells both."""

_NUMBER_PART = re.compile(
    rf"^(?:第?\s*(?:\d+[.．]\d+|{HEADING_NUMERAL}(?:{TO}{HEADING_NUMERAL})?)\s*[章回節节话話集]"
    rf"|章\s*节?\s*{HEADING_NUMERAL}"
    rf"|(?i:{CHAPTER_WORDS}){AFTER_WORD}(?:(?i:the)\s+)?(?:\d+|[\w-]+)"
    r"|[（(]?(?:\d{1,5}|[IVXLC]+|[〇零一二两三四五六七八九十百]+)[）)]?(?=\s*(?:$|[.．、:：—–-]))"
    rf"|(?i:{NUMBER_WORD})(?=\s?[.:—–-]\s*[A-Z])"
    r"|[（(](?:\d{1,5}|[〇零一二两三四五六七八九十百]+)[）)]"
    rf"|(?:\d{{1,5}}|[〇零一二两三四五六七八九十百]+)(?=\s+[{CJK_RANGES}]))"
)
"""What of a heading says which chapter it is: 第7章, Chapter 12, 三、"""
_CHAPTER_WITHIN = re.compile(rf"第\s*{HEADING_NUMERAL}\s*[章回]")
"""The same behind the name of a volume: 第二卷 风起 第三章 雪夜."""
_SECTION = re.compile(
    r"^\s*[：:]?\s*(?:[（(]\s*(?P<inner>[上中下]|[一二三四五六七八九十]{1,3}|\d{1,2})\s*[）)]|(?P<bare>[上中下])(?=$|[\s：:]))"
)
_REMARK = re.compile(r"[（(【\[][^（()）【】\[\]]*(?:求|更|票|打赏|加更|补)[^（()）【】\[\]]*[）)】\]]")
_NOT_SAID = re.compile(r"[\W_]+")
_CLOSING = re.compile(
    r"^(?:番外|外传|外傳|尾声|尾聲|后记|後記|后序|後序|完本感言|(?i:epilogue|afterword|author['’]?s\s+notes?|bonus|extra))"
)
"""Names of chapters that stand after the end of the story: what is written next stands before them."""
_NAMED_PLACE = re.compile(r"^(?P<name>.+?)\s*[:：]\s*(?P<scene>\d{1,7})$", re.DOTALL)
NEXT = "next"
"""The word for what comes after the story so far."""
_NEXT_WORDS = frozenset({NEXT, "下一章", "下一场"})
LONGEST_LABEL = 24


class UnwrittenPosition(StoryPosition):
    """The place of a new chapter, which moves later ones."""

    __slots__ = ()


class ChapterName(NamedTuple):
    """The name of a chapter as its heading gives it."""

    label: str
    """As people are told it: 第7章（下）, 番外 旧信, Chapter 12."""
    number: int | None = None
    section: str = ""
    title: str = ""
    """Its own title, as it is compared; of a chapter without a number its whole heading."""
    is_heading: bool = True
    """Whether it has the form of a chapter's heading; else it may be the title of a scene."""

    @property
    def is_closing(self) -> bool:
        """Whether such a chapter stands after the end of a story."""
        return self.number is None and _CLOSING.match(self.label) is not None

    def is_same(self, other: "ChapterName") -> bool:
        """Tell whether two headings are of one chapter, whatever digits and forms they have."""
        if self.number is None or other.number is None:
            return self.number is other.number and self.title == other.title
        is_titled_alike = self.title == other.title or not (self.title and other.title)
        return (self.number, self.section) == (other.number, other.section) and is_titled_alike


@lru_cache(maxsize=20_000)
def chapter_name(heading: str) -> ChapterName | None:
    """Return the name that a heading gives, or None for an empty one."""
    text = " ".join(bare_heading(heading).split())
    if not text:
        return None
    matching_heading: Heading | None = heading_of(text)
    part = _NUMBER_PART.match(text) or _CHAPTER_WITHIN.search(text)
    number = matching_heading.number if matching_heading is not None else _number_in(part[0]) if part else None
    if number is None or (matching_heading is not None and matching_heading.kind == "named"):
        return ChapterName(text, title=_compared(text), is_heading=matching_heading is not None)
    rest = text[part.end() :] if part else text
    section = _SECTION.match(rest)
    label = (part[0] if part else text) + (section[0].rstrip() if section else "")
    title = rest[section.end() :] if section else rest
    statement = (section["inner"] or section["bare"]) if section else ""
    return ChapterName(
        label.strip(),
        number,
        unicodedata.normalize("NFKC", statement),
        _compared(title),
        is_heading=matching_heading is not None,
    )


def _number_in(part: str) -> int | None:
    bare = part.strip("（）() ")
    return chinese_number(bare) if re.fullmatch(HEADING_NUMERAL, bare) else chapter_number(bare)


def _compared(text: str) -> str:
    """Return words as they are compared: without remarks to readers, marks and blanks."""
    return _NOT_SAID.sub("", _REMARK.sub("", unicodedata.normalize("NFKC", text)).casefold())


def chapter_part(title: str) -> str:
    """Return the part of a scene's title that is its chapter's."""
    return title.partition(TITLE_PARTS)[0].strip()


class TitledScene(NamedTuple):
    """The place of a scene with its title."""

    chapter_index: int
    scene_index: int
    title: str = ""


@dataclass(frozen=True, slots=True)
class NamedChapter:
    """Scenes that follow one another under one heading."""

    chapter_index: int
    heading: str
    scene_indexes: tuple[int, ...]
    is_whole: bool
    """Whether it begins its chapter of the order; an interlude may stand within another chapter."""

    @property
    def name(self) -> ChapterName | None:
        """The name that its heading gives."""
        return chapter_name(self.heading)

    @property
    def first_scene(self) -> int:
        """Number of its first scene in the order."""
        return self.scene_indexes[0]

    @property
    def is_closing(self) -> bool:
        """Whether it stands after the end of the story."""
        return self.name is not None and self.name.is_closing


def named_chapters(scenes: Iterable[TitledScene]) -> list[NamedChapter]:
    """Return the chapters of a story, told by the titles of its scenes, in the order of the story."""
    by_chapter: dict[int, list[TitledScene]] = {}
    for scene in sorted(scenes):
        by_chapter.setdefault(scene.chapter_index, []).append(scene)
    return [named_chapter for chapter in by_chapter.values() for named_chapter in _chapters_of(chapter)]


def _chapters_of(scenes: Sequence[TitledScene]) -> list[NamedChapter]:
    parts = [chapter_part(scene.title) for scene in scenes]
    headings = [part for part in parts if (name := chapter_name(part)) and name.is_heading]
    # A title that is no heading is its chapter's where all scenes have it; else each scene has its own.
    common = headings[0] if headings else parts[0] if len(set(parts)) == 1 else ""
    runs: list[tuple[str, list[int]]] = []
    for scene in scenes:
        own = scene.title.partition(TITLE_PARTS)[2].strip()
        name = chapter_name(own) if own else None
        heading = own if name is not None and name.is_heading else common
        if not runs or runs[-1][0] != heading:
            runs.append((heading, []))
        runs[-1][1].append(scene.scene_index)
    return [
        NamedChapter(scenes[0].chapter_index, heading, tuple(indexes), is_whole=rank == 0)
        for rank, (heading, indexes) in enumerate(runs)
    ]


@dataclass(frozen=True)
class ChapterNames:
    """The author's names of a story's chapters, and their places."""

    chapters: Sequence[NamedChapter] = field(default_factory=list)

    @classmethod
    def of(cls, scenes: Iterable[TitledScene]) -> "ChapterNames":
        """Return the names of the chapters that titled scenes make."""
        return cls(named_chapters(scenes))

    @cached_property
    def _by_place(self) -> dict[tuple[int, int], NamedChapter]:
        return {
            (named_chapter.chapter_index, scene): named_chapter
            for named_chapter in self.chapters
            for scene in named_chapter.scene_indexes
        }

    @cached_property
    def _by_chapter(self) -> dict[int, NamedChapter]:
        return {named_chapter.chapter_index: named_chapter for named_chapter in self.chapters if named_chapter.is_whole}

    @cached_property
    def _labels(self) -> dict[str, int]:
        counts: dict[str, int] = {}
        for named_chapter in self.chapters:
            if named_chapter.name is not None:
                counts[named_chapter.name.label] = counts.get(named_chapter.name.label, 0) + 1
        return counts

    def label(self, chapter_index: int, scene_index: int | None = None) -> str:
        """Return the author's name of a chapter, if its place does not show it.

        A number that several chapters bear is told with its title.
        """
        chapter = self._by_chapter.get(chapter_index) if scene_index is None else None
        chapter = chapter or self._by_place.get((chapter_index, scene_index or 0))
        return "" if chapter is None else self._label_of(chapter)

    def _label_of(self, chapter: NamedChapter) -> str:
        name = chapter.name
        if name is None or not (name.is_heading or name.number is not None):
            return ""
        is_shared = self._labels[name.label] > 1
        if name.number == chapter.chapter_index and not name.section and chapter.is_whole and not is_shared:
            return ""
        text = " ".join(bare_heading(chapter.heading).split()) if is_shared else name.label
        return text if len(text) <= LONGEST_LABEL else f"{text[:LONGEST_LABEL]}…"

    def place(self, chapter_index: int | None, scene_index: int | None = None) -> str:
        """Return a place with its author's name: `第8章:1 (9:1)`."""
        plain = str(StoryPosition(chapter_index, scene_index))
        if chapter_index is None:
            return plain
        chapter_index, scene_index = self.begun_place(chapter_index, scene_index)
        plain = str(StoryPosition(chapter_index, scene_index))
        chapter = self._by_place.get((chapter_index, scene_index)) if scene_index is not None else None
        label = self.label(chapter_index, scene_index) or ("" if chapter else self.label(chapter_index))
        if not label:
            return plain
        if scene_index is None:
            return f"{label} ({plain})"
        own = scene_index if chapter is None else chapter.scene_indexes.index(scene_index) + 1
        return f"{label}:{own} ({plain})"

    @property
    def places(self) -> list[tuple[int, int]]:
        """Chapter and scene of every scene, in the order of the story."""
        return sorted(self._by_place)

    def begun_place(self, chapter_index: int, scene_index: int | None) -> tuple[int, int | None]:
        """Return the place as of which something that stands at a place is read, where no scene stands there.

        At 4:0 stands what is read on entering chapter 4.
        """
        is_before_chapter = scene_index == 0 and (chapter_index, 0) not in self._by_place
        return (chapter_index, 1 if is_before_chapter else scene_index)

    def has_scene(self, place: tuple[int, int | None]) -> bool:
        """Return whether a scene stands at a place."""
        return place in self._by_place

    @property
    def next_chapter(self) -> int:
        """The chapter that is written next: after the story, before 番外 and afterwords at its end."""
        ends = [named_chapter for named_chapter in self.chapters if named_chapter.is_whole]
        while ends and ends[-1].is_closing:
            ends.pop()
        ends = ends or list(self.chapters)
        return max((named_chapter.chapter_index for named_chapter in ends), default=0) + 1

    def is_taken(self, chapter_index: int) -> bool:
        """Tell whether scenes stand in a chapter of the order."""
        return chapter_index in self._by_chapter

    def position_of(self, text: str) -> StoryPosition:
        """Return the place that is called so: 第8章, 第8章:1, `Chapter 8`, 番外, `next`.

        The number after the last one is the chapter that is written next.

        Raises:
            InvalidPositionError: When it is no name of a chapter, or of several.
            UnknownSceneError: When no chapter is called so.
        """
        whole = text.strip()
        if not any(letter.isalpha() for letter in whole):
            raise InvalidPositionError(
                f"{text[:80]!r} is no place of the story; write chapter:scene such as 3:2, or a chapter such as 3"
            )
        split = _NAMED_PLACE.match(whole)
        if whole.casefold() in _NEXT_WORDS or (split and split["name"].casefold() in _NEXT_WORDS):
            return UnwrittenPosition(self.next_chapter, int(split["scene"]) if split else 1)
        candidates = [(whole, None)] + ([(split["name"], int(split["scene"]))] if split else [])
        for call_name, scene in candidates:
            name = chapter_name(call_name)
            if name is None:
                continue
            named_chapters = self._find_chapters(name)
            if len(named_chapters) > 1:
                listing = ", ".join(
                    f"{named_chapter.chapter_index} ({named_chapter.heading})" for named_chapter in named_chapters
                )
                raise InvalidPositionError(
                    f"{call_name!r} may be several chapters: {listing}; write one of these numbers"
                )
            if named_chapters:
                return self._position(named_chapters[0], scene)
        call_name, scene = candidates[-1]
        name = chapter_name(call_name)
        if name is None or not name.is_heading:
            raise InvalidPositionError(
                f"{text[:80]!r} is no place of the story; write chapter:scene such as 3:2, a chapter such as 3, or a "
                "heading of the story such as Chapter 8:1"
            )
        if name.number is not None:
            numbers = [
                named_chapter.name.number
                for named_chapter in self.chapters
                if named_chapter.name and named_chapter.name.number is not None
            ]
            if not numbers:
                return StoryPosition(name.number, scene)
            if name.number in (numbers[-1] + 1, max(numbers) + 1):
                return UnwrittenPosition(self.next_chapter, scene)
        raise UnknownSceneError(f"no chapter is called {call_name[:80]!r}; list them with `novelgen scene list`")

    def _find_chapters(self, name: ChapterName) -> list[NamedChapter]:
        """Return the chapters of a name: the same heading, else the same number and part, else the same number."""
        named_chapter_names = [
            (named_chapter, named_chapter.name) for named_chapter in self.chapters if named_chapter.name is not None
        ]
        if name.number is None:
            exact = [
                named_chapter
                for named_chapter, other in named_chapter_names
                if other.number is None and other.title == name.title
            ]
            begins = [
                named_chapter
                for named_chapter, other in named_chapter_names
                if other.number is None and other.is_heading and name.is_heading and other.title.startswith(name.title)
            ]
            return exact or begins
        same = [(named_chapter, other) for named_chapter, other in named_chapter_names if other.number == name.number]
        parts = [(named_chapter, other) for named_chapter, other in same if other.section == name.section]
        whole = [named_chapter for named_chapter, other in parts if name.title and other.title == name.title]
        if whole or name.title:
            return whole
        chosen_named_chapters = [named_chapter for named_chapter, _ in parts or same]
        # The parts of one chapter, of which none is named: it begins with the first.
        return (
            chosen_named_chapters[:1]
            if len({named_chapter.chapter_index for named_chapter in chosen_named_chapters}) == 1
            else chosen_named_chapters
        )

    def _position(self, chapter: NamedChapter, scene: int | None) -> StoryPosition:
        if scene is None:
            return StoryPosition(chapter.chapter_index, None if chapter.is_whole else chapter.first_scene)
        if 0 < scene <= len(chapter.scene_indexes):
            return StoryPosition(chapter.chapter_index, chapter.scene_indexes[scene - 1])
        beyond = scene - len(chapter.scene_indexes) if chapter.scene_indexes else scene
        return StoryPosition(chapter.chapter_index, max(0, chapter.scene_indexes[-1] + beyond) if scene else 0)
