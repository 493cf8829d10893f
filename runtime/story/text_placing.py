"""Placing of finished texts: heading, place and existing scenes."""

from collections.abc import Sequence
from dataclasses import dataclass

from pydantic import BaseModel, Field

from novelgen.errors import UserInputError
from novelgen.language.language import count_words
from novelgen.models.position import StoryPosition
from runtime.files.chapter_headings import Remark, heading_of, numbered_headings, without_remarks
from runtime.files.chapter_names import TITLE_PARTS, ChapterNames, UnwrittenPosition, chapter_name, chapter_part
from runtime.files.chapter_text import SCENE_TITLE_FIELD, bare_heading, chapter_from_text, numeral_title_number
from runtime.ingest.likeness import are_alike
from runtime.ingest.scene_input import SceneInput, bare_text
from runtime.storage.records import Scene

OPENING_CHARACTERS = 40


class StoredPlace(BaseModel):
    """The place of a text, and its effect on stored scenes."""

    position: str = Field(description="Of its first scene in the order, such as 13:1.")
    called: str = Field(default="", description="The same as the author calls it, such as 第12章:1 (13:1).")
    title: str = Field(default="", description="The heading that was on top of the text, or that was given.")
    scenes: int = Field(default=1, description="Scenes that the text is cut into.")
    words: int = Field(default=0, description="字数: Chinese characters and words of other scripts.")
    moved: int = Field(default=0, description="Scenes that make room: of 番外 and afterwords behind it.")
    replaced: list[str] = Field(
        default_factory=list, description="Stored scenes with another text whose place it takes, each with its opening."
    )
    other_number: int | None = Field(
        default=None,
        exclude_if=lambda number: number is None,
        description="Number that its heading gives, where that is neither its place nor what follows the one before.",
    )
    needs_replace: bool = Field(
        default=False, description="Whether it is stored only with `replace`: another chapter stands there."
    )


@dataclass(frozen=True, slots=True)
class FinishedText:
    """A text as it came, read as one scene or as the scenes of a chapter."""

    title: str
    body: str
    remarks: Sequence[Remark] = ()


def read_finished_text(text: str, *, title: str = "", keep_remarks: bool = False) -> FinishedText:
    """Separate a text's heading and the remarks to readers.

    Raises:
        UserInputError: When there is no text, or the text holds several chapters.
    """
    if not text.strip():
        raise UserInputError("there is no text; nothing was stored")
    lines = text.strip("\n").split("\n")
    headings = numbered_headings(lines)
    if len({heading.title for heading in headings}) > 1:
        raise UserInputError(
            f"the text holds several chapters: {headings[0].title!r}, {headings[1].title!r}, …; import it"
        )
    title_on_top, body = split_title(text)
    body, remarks = (body, []) if keep_remarks else without_remarks(body, chapter_number=0)
    return FinishedText(title or title_on_top, body.strip(), remarks)


def split_title(text: str) -> tuple[str, str]:
    """Return the heading on top of a text, empty without one, and what stands below it."""
    lines = text.strip("\n").split("\n")
    first = next((index for index, line in enumerate(lines) if line.strip()), 0)
    rest = "\n".join(lines[first + 1 :])
    heading = heading_of(lines[first]) if rest.strip() else None
    if heading is not None:
        return heading.title, rest
    is_titled = bool(rest.strip()) and numeral_title_number(lines, first) is not None
    return (bare_heading(lines[first]), rest) if is_titled else ("", text)


@dataclass(frozen=True, slots=True)
class PlacedText:
    """Scenes to store, with the necessary moves."""

    scenes: Sequence[SceneInput]
    place: StoredPlace
    gap: int | None = None
    """Chapter for which others make room first."""
    stored_scenes: Sequence[Scene] = ()
    """Those that hold the same text already."""


def placed_text(
    finished: FinishedText, at: str, *, names: ChapterNames, stored_scenes: Sequence[Scene], position: StoryPosition
) -> PlacedText:
    """Return a text's place.

    `13:1` is one scene, and `13` or `next` a chapter.

    Args:
        finished: The text.
        at: Where its caller wants it; `next`, `12:next`, a place or a heading.
        names: What the author calls the chapters.
        stored_scenes: The scenes of the story with their texts.
        position: What `at` means in numbers.
    """
    chapter_index = position.chapter_index or 0
    is_chapter = position.scene_index is None
    here = {scene.scene_index: scene for scene in stored_scenes if scene.chapter_index == chapter_index}
    if isinstance(position, UnwrittenPosition) and (same := _stored_already(finished, names, stored_scenes)):
        position = same[0].position
        words = count_words(finished.body)
        place = StoredPlace(position=str(position), title=finished.title, scenes=len(same), words=words)
        return PlacedText((), _call_place(place, names, position), stored_scenes=same)
    if isinstance(position, UnwrittenPosition):
        _require_new(finished, names, stored_scenes)
    gap = chapter_index if isinstance(position, UnwrittenPosition) and here else None
    texts = _scenes_of(finished) if is_chapter else [("", finished.body)]
    first = 1 if position.scene_index is None else position.scene_index
    scenes = [
        SceneInput(
            chapter_index=chapter_index,
            scene_index=first + rank,
            title=TITLE_PARTS.join(filter(None, (finished.title, own))),
            text=body,
        )
        for rank, (own, body) in enumerate(texts)
    ]
    others = [] if gap is not None else [here[scene.scene_index] for scene in scenes if scene.scene_index in here]
    scenes_by_number = {scene.scene_index: scene for scene in scenes}
    changed = [
        scene for scene in others if bare_text(scene.text or "") != bare_text(scenes_by_number[scene.scene_index].text)
    ]
    place = StoredPlace(
        position=str(StoryPosition(chapter_index, first)),
        title=finished.title,
        scenes=len(scenes),
        words=sum(count_words(scene.text) for scene in scenes),
        moved=0 if gap is None else sum(scene.chapter_index >= chapter_index for scene in stored_scenes),
        replaced=[f"{item.position} {item.title} “{opening(item.text or '')}”" for item in changed],
        needs_replace=any(
            not are_alike(scene.text or "", scenes_by_number[scene.scene_index].text) for scene in changed
        ),
    )
    if is_chapter:
        place.other_number = _other_number(finished.title, names, chapter_index)
    return PlacedText(scenes, _call_place(place, names, StoryPosition(chapter_index, first), finished.title), gap)


def _other_number(title: str, names: ChapterNames, chapter_index: int) -> int | None:
    """Return the number of a heading that differs from its place and begins no volume."""
    name = chapter_name(title) if title else None
    number = name.number if name is not None and name.is_heading else None
    before = [
        chapter.name.number for chapter in names.chapters if chapter.chapter_index < chapter_index and chapter.name
    ]
    last = next((before_number for before_number in reversed(before) if before_number is not None), chapter_index - 1)
    return None if number in (chapter_index, last, last + 1, 1) else number


def _call_place(place: StoredPlace, names: ChapterNames, position: StoryPosition, title: str = "") -> StoredPlace:
    name = chapter_name(title) if title else None
    if name is not None and name.is_heading and name.number != position.chapter_index:
        call_name = f"{name.label} ({position})"
    else:
        call_name = names.place(position.chapter_index, position.scene_index)
    return place.model_copy(update={"called": call_name})


def _stored_already(finished: FinishedText, names: ChapterNames, stored_scenes: Sequence[Scene]) -> Sequence[Scene]:
    """Return the scenes of the chapter that holds the very text that comes as a new one."""
    target = bare_text("\n".join(body for _, body in _scenes_of(finished)))
    for chapter in reversed(names.chapters):
        scenes = [
            scene
            for scene in stored_scenes
            if scene.chapter_index == chapter.chapter_index and scene.scene_index in chapter.scene_indexes
        ]
        if bare_text("\n".join(scene.text or "" for scene in scenes)) == target:
            return scenes
    return ()


def _require_new(finished: FinishedText, names: ChapterNames, stored_scenes: Sequence[Scene]) -> None:
    """Refuse a chapter as a further one that is a stored one edited."""
    name = chapter_name(finished.title) if finished.title else None
    for chapter in names.chapters if name is not None else ():
        if chapter.name is None or name is None or not name.is_same(chapter.name):
            continue
        text = "\n".join(
            scene.text or ""
            for scene in stored_scenes
            if scene.chapter_index == chapter.chapter_index and scene.scene_index in chapter.scene_indexes
        )
        if are_alike(text, finished.body):
            raise UserInputError(
                f"{finished.title!r} is stored as chapter {chapter.chapter_index} already, with a text like this; "
                f"store it at '{chapter.chapter_index}' to let it follow"
            )


def _scenes_of(finished: FinishedText) -> list[tuple[str, str]]:
    chapter = chapter_from_text(finished.body, chapter_number=0)
    scenes = [(str(scene.extra.get(SCENE_TITLE_FIELD) or ""), scene.content) for scene in chapter.scenes]
    inner = chapter.chapter_title
    return [(own or (inner if rank == 0 else ""), body) for rank, (own, body) in enumerate(scenes)]


def require_replaceable(scene: SceneInput, stored_scene: Scene | None) -> None:
    """Refuse a text at the place of a chapter with another heading, unless it is that chapter edited.

    Raises:
        UserInputError: When another chapter stands there.
    """
    if stored_scene is None or not stored_scene.text or bare_text(stored_scene.text) == bare_text(scene.text):
        return
    first = next((line for line in scene.text.split("\n") if line.strip()), "")
    input_chapter_name = chapter_name(chapter_part(scene.title) or first)
    there = chapter_name(chapter_part(stored_scene.title))
    if input_chapter_name is None or there is None or not (input_chapter_name.is_heading and there.is_heading):
        return
    if not input_chapter_name.is_same(there) and not are_alike(stored_scene.text, scene.text):
        raise another_chapter(str(stored_scene.position), stored_scene.title, stored_scene.text)


def another_chapter(place: str, title: str, text: str) -> UserInputError:
    """Return the error of a text at a place where another one stands."""
    return UserInputError(
        f"{place} is stored as {title!r}, “{opening(text)}”; to let the new text take its place, say replace; to store "
        "it as a further chapter, store it as 'next'"
    )


def opening(text: str) -> str:
    """Return the first words of a text."""
    told_text = " ".join(text[: OPENING_CHARACTERS * 4].split())
    return told_text if len(told_text) <= OPENING_CHARACTERS else f"{told_text[:OPENING_CHARACTERS]}…"
