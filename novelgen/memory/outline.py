"""The outline before a position: scenes and summaries."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby, pairwise
from typing import Literal

from pydantic import ConfigDict, Field

from novelgen.language.language import estimate_tokens
from novelgen.language.sentences import as_sentence, join_sentences
from novelgen.memory.merge import spread
from novelgen.models.base import Model
from novelgen.models.entity import Entity
from novelgen.models.memory import ContentType
from novelgen.models.position import END_OF_STORY, StoryPosition, story_place
from novelgen.models.state import OpenLoop, Relationship, RelationshipDimension
from novelgen.models.user_file import StoryPart


@dataclass(frozen=True, slots=True)
class OutlineScene:
    """A stored scene's place and cast.

    It is no pydantic model, since contexts read ten thousand.
    """

    chapter_index: int
    scene_index: int
    title: str = ""
    location_id: str | None = None
    participants: Sequence[str] = ()
    key_events: Sequence[str] = ()
    summary: Sequence[str] = ()
    is_guessed: bool = False
    """Whether no record, only rules over the text, say where it played and who was in it."""
    story_time: str = ""
    """When it played, in the words of its record; of the last scenes alone."""
    said: frozenset[str] = frozenset()
    """What its author says of it, record or none: participants, location_id."""

    @property
    def is_place_guessed(self) -> bool:
        """Whether only rules say where it played."""
        return self.is_guessed and "location_id" not in self.said

    @property
    def is_cast_guessed(self) -> bool:
        """Whether only rules say who was in it."""
        return self.is_guessed and "participants" not in self.said


SummaryOrigin = Literal["made", "model", "author"]
"""Made of the bullets below it, written by a model, or by a person."""


class ChapterSummary(Model):
    """A finished chapter's summary, visible after its last stored scene."""

    chapter_index: int
    scene_index: int | None = Field(default=None, description="Last scene that it covers.")
    summary: str
    origin: SummaryOrigin = "made"


class PartSummary(Model):
    """A finished part's summary, visible from the next chapter on."""

    part_number: int = Field(description="From 1.")
    title: str = ""
    first_chapter: int = Field(description="First stored chapter that it covers.")
    last_chapter: int = Field(description="Last chapter of the part, stored or not.")
    chapter_index: int = Field(description="Last stored chapter that it covers.")
    scene_index: int | None = Field(default=None, description="Last scene that it covers.")
    summary: str
    origin: SummaryOrigin = "made"


class StoryOutline(Model):
    """Entities, scenes, threads and relationships strictly before a position.

    Names and aliases in `entities` are only those that the story had introduced by then.
    """

    project_id: str
    language: str = ""
    entities: list[Entity] = Field(default_factory=list, description="In order of entity id.")
    scenes: list[OutlineScene] = Field(default_factory=list, description="In story order, oldest first.")
    open_loops: list[OpenLoop] = Field(default_factory=list, description="Unresolved at the position.")
    ended_loops: list[OpenLoop] = Field(
        default_factory=list, description="Resolved or dropped before the position, with how."
    )
    relationships: list[Relationship] = Field(default_factory=list)
    part_summaries: list[PartSummary] = Field(default_factory=list, description="Oldest first.")
    chapter_summaries: list[ChapterSummary] = Field(default_factory=list, description="Oldest first.")
    holders: dict[str, list[str]] = Field(
        default_factory=dict, description="Character id to the ids of the items that it holds at the position."
    )
    stated_ids: list[str] = Field(
        default_factory=list,
        description="Ids of the entities with an explicit state change before the position, last changed first.",
    )
    story_version: str | None = Field(
        default=None, description="Mark of everything stored before the position; changes when that changes."
    )
    masks: dict[str, str] = Field(
        default_factory=dict, description="Id of who turned out to be somebody else by then to that one's id."
    )

    @property
    def names(self) -> dict[str, str]:
        """The names by id, with revealed identities; an entity without a name yet has none."""
        names = {entity.entity_id: entity.name for entity in self.entities if not entity.is_unnamed}
        return {**{mask: names[entity_id] for mask, entity_id in self.masks.items() if entity_id in names}, **names}


RECALLED_SCENES = 12
"""Last scenes that a recap tells."""


class StoryRecap(Model):
    """A planner's recap strictly before a position."""

    scenes: list[OutlineScene] = Field(
        default_factory=list,
        description=(
            "The last scenes in story order. Without a summary or key events in its record, a scene has one "
            "bullet: sentences of its text."
        ),
    )
    content_types: list[ContentType] = Field(
        default_factory=list, description="Kinds of what is stored, most frequent first."
    )
    tags: list[str] = Field(default_factory=list, description="Tags of memories and notes, most used first.")


@dataclass(frozen=True, slots=True)
class PairChange:
    """A pair's status after a scene.

    None leaves the earlier value.
    """

    relationship_id: str
    character_a: str
    character_b: str
    relationship_type: str | None = None
    type_reads_back: bool = False
    status: str | None = None
    perspective_a: str | None = None
    perspective_b: str | None = None
    intensity: int | None = None
    dimensions: Mapping[RelationshipDimension, int] = field(default_factory=dict)
    dimensions_a: Mapping[RelationshipDimension, int] | None = None
    dimensions_b: Mapping[RelationshipDimension, int] | None = None
    event: str = ""
    chapter_index: int | None = None
    scene_index: int | None = None
    origin: str = ""
    """`author` where a person stated it."""


CHAPTERS_PER_PART = 10


class NumberedPart(Model):
    """A part with its number in the story."""

    model_config = ConfigDict(frozen=True)

    number: int = Field(ge=1)
    title: str = ""
    first_chapter: int
    last_chapter: int

    def holds(self, chapter_index: int) -> bool:
        """Tell whether a chapter lies in this part."""
        return self.first_chapter <= chapter_index <= self.last_chapter


def story_parts(
    stated: Sequence[StoryPart], *, last_chapter: int, chapters_per_part: int = CHAPTERS_PER_PART
) -> list[NumberedPart]:
    """Number the parts of a story."""
    stated_story_parts = stated or [
        StoryPart(first_chapter=0 if first == 1 else first, last_chapter=first + chapters_per_part - 1)
        for first in range(1, max(last_chapter, 1) + 1, chapters_per_part)
    ]
    return [
        NumberedPart(number=number, **part.model_dump(exclude={"extra"}))
        for number, part in enumerate(stated_story_parts, start=1)
        if part.first_chapter <= last_chapter
    ]


def finished_parts(parts: Sequence[NumberedPart], *, as_of: StoryPosition, last_chapter: int) -> list[NumberedPart]:
    """Return the parts that are over at a position."""
    if as_of.chapter_index is None:
        return [part for part in parts if part.last_chapter <= last_chapter]
    return [part for part in parts if part.last_chapter < as_of.chapter_index]


RECENT_CHAPTERS = 3
"""So many of the last chapters that are over are summed up each by itself, whatever part they are in: where a
timeline has no room for the part, they are told in its stead."""

CHAPTER_BULLETS = 6
SUMMARY_CHARACTERS = 900
PART_BULLETS = 8

PART_TOKENS = 120
"""A part is told as short as a chapter, so that a timeline has room for both, in either language."""


class WrittenSummary(Model):
    """A summary that a person or a model wrote."""

    model_config = ConfigDict(frozen=True)

    text: str
    origin: SummaryOrigin = "author"


def chapter_summaries(
    scenes: Sequence[OutlineScene],
    *,
    as_of: StoryPosition = END_OF_STORY,
    written_summaries: Mapping[int, WrittenSummary] | None = None,
) -> list[ChapterSummary]:
    """Sum up the chapters that are over at a position."""
    summaries = []
    for chapter_index, chapter in groupby(sorted(scenes, key=story_place), key=lambda scene: scene.chapter_index):
        rendered_scenes = list(chapter)
        summary_text = _summed_up(rendered_scenes)
        stands = (written_summaries or {}).get(chapter_index) or WrittenSummary(text=summary_text, origin="made")
        if stands.text and as_of.admits(chapter_index, None):
            place = {"chapter_index": chapter_index, "scene_index": rendered_scenes[-1].scene_index}
            summaries.append(ChapterSummary(**place, summary=stands.text, origin=stands.origin))
    return summaries


def part_summaries(
    parts: Sequence[NumberedPart],
    scenes: Sequence[OutlineScene],
    *,
    as_of: StoryPosition = END_OF_STORY,
    written_summaries: Mapping[int, WrittenSummary] | None = None,
    weights: Mapping[tuple[int, int], float] | None = None,
) -> list[PartSummary]:
    """Sum up the parts that are over at a position, from their whole course, of neighbours the weightiest scene."""
    matching_parts = []
    last_chapter = max((scene.chapter_index for scene in scenes), default=-1)
    for part in finished_parts(parts, as_of=as_of, last_chapter=last_chapter):
        rendered_scenes = sorted((scene for scene in scenes if part.holds(scene.chapter_index)), key=story_place)
        if not rendered_scenes:
            continue
        summary_text = _rolled_up(rendered_scenes, weights or {})
        stands = (written_summaries or {}).get(part.number) or WrittenSummary(text=summary_text, origin="made")
        if stands.text:
            matching_parts.append(
                PartSummary(
                    part_number=part.number,
                    title=part.title,
                    first_chapter=rendered_scenes[0].chapter_index,
                    last_chapter=part.last_chapter,
                    chapter_index=rendered_scenes[-1].chapter_index,
                    scene_index=rendered_scenes[-1].scene_index,
                    summary=stands.text,
                    origin=stands.origin,
                )
            )
    return matching_parts


def _rolled_up(scenes: Sequence[OutlineScene], weights: Mapping[tuple[int, int], float]) -> str:
    """Return the weightiest bullet of each equal stretch of the part."""
    weight_of: dict[str, float] = {}
    for scene in scenes:
        for sentence in _sentences(scene):
            weight_of.setdefault(sentence, weights.get(story_place(scene), 0.0))
    lines = [sentence for sentence in weight_of if estimate_tokens(sentence) <= PART_TOKENS]
    for count in range(min(PART_BULLETS, len(lines)), 0, -1):
        borders = [len(lines) * index // count for index in range(count + 1)]
        stretches = [lines[start:end] for start, end in pairwise(borders)]
        text = join_sentences(max(stretch, key=weight_of.__getitem__) for stretch in stretches)
        if estimate_tokens(text) <= PART_TOKENS:
            return text
    return ""


def _summed_up(scenes: Sequence[OutlineScene]) -> str:
    sentences = dict.fromkeys(sentence for scene in scenes for sentence in _sentences(scene))
    lines = [sentence for sentence in sentences if len(sentence) <= SUMMARY_CHARACTERS]
    for count in range(min(CHAPTER_BULLETS, len(lines)), 0, -1):
        text = join_sentences(spread(lines, count))
        if len(text) <= SUMMARY_CHARACTERS:
            return text
    return ""


def _sentences(scene: OutlineScene) -> list[str]:
    """The key events of a scene, or its summary."""
    bullets = scene.key_events or scene.summary
    return [as_sentence(" ".join(bullet.split())) for bullet in bullets if bullet.strip()]
