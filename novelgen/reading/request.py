"""Requests and results of an extraction."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, model_validator

from novelgen.language.language import StoryLanguage, story_language
from novelgen.language.normalise import require_size, scrub_text
from novelgen.language.sentences import reading_windows
from novelgen.memory.identities import final_ids
from novelgen.model_calls.prompt_data import NOTHING, as_data_lines, place_in_words
from novelgen.model_calls.usage import ModelWork
from novelgen.models.context import IssueKind, ReportIssue
from novelgen.models.entity import Entity, EntityType
from novelgen.models.entity import NewName as NewName
from novelgen.models.entity import SameEntities as SameEntities
from novelgen.models.pair_types import turned_pair_type
from novelgen.models.position import ChapterIndex, Place, SceneIndex, require_project_id, story_place
from novelgen.models.record import SceneRecord
from novelgen.models.state import EntityStateSnapshot, OpenLoop, Relationship

ListItem = TypeVar("ListItem", bound=BaseModel)
ExtractionFault = Literal[
    "timeout", "unavailable", "cut", "not_json", "schema", "echo", "ungrounded", "empty", "withheld"
]
_PART: Mapping[StoryLanguage, str] = {"en": ", part {part} of {parts}", "zh": "，第{part}部分，共{parts}部分"}


@dataclass(frozen=True, slots=True)
class ScenePart:
    """The characters [start, end) of a scene, which one prompt shows."""

    text: str
    start: int = 0
    end: int = 0
    context: str = ""
    number: int = 1
    parts: int = 1


class SceneRequest(BaseModel):
    """A finished scene that a model is to read."""

    project_id: str = Field(min_length=1)
    chapter_index: ChapterIndex
    scene_index: SceneIndex
    text: str
    stand_ins: dict[str, str] = Field(
        default_factory=dict, description="Entities that became part of others, and of whom."
    )

    def cut(self, *, window_characters: int) -> list[ScenePart]:
        """Return the parts of a scene, rejecting invalid projects and sizes."""
        require_project_id(self.project_id)
        require_size(self.text, f"scene {self.scene_index} of chapter {self.chapter_index}")
        text = scrub_text(self.text)
        windows = reading_windows(text, window_characters=window_characters)
        return [
            ScenePart(
                text=text[window.start : window.end],
                start=window.start,
                end=window.end,
                context=text[window.context_start : window.start],
                number=number,
                parts=len(windows),
            )
            for number, window in enumerate(windows, start=1)
        ]

    def values_of(self, part: ScenePart, language: StoryLanguage) -> dict[str, str]:
        """Return a part's place and text as prompt variables."""
        place = place_in_words(self.chapter_index, self.scene_index, language)
        if part.parts > 1:
            place += _PART[language].format(part=part.number, parts=part.parts)
        return {
            "place": place,
            "context": as_data_lines(part.context).strip() or NOTHING[language],
            "scene_text": as_data_lines(part.text).strip(),
        }


class EntitySighting(BaseModel):
    """Where the story last showed an entity or spoke of it, and in how many scenes it did."""

    chapter_index: int
    scene_index: int
    scenes: int = Field(default=1, ge=1)


class SceneBefore(BaseModel):
    """A scene shortly before the present one.

    Of one that nobody has read yet, as it is when scenes are read side by side, there are no bullets, but the words
    that it ends with and the names that it holds.
    """

    chapter_index: int
    scene_index: int
    story_time: str = ""
    location_id: str | None = None
    characters_present: list[str] = Field(default_factory=list)
    summary: list[str] = Field(default_factory=list)
    names: list[str] = Field(default_factory=list, description="Of one that is unread: whom and what it names.")
    last_words: str = Field(default="", description="Of one that is unread.")


class PromptMemory(BaseModel):
    """A memory of the story as a model is shown it."""

    memory_id: str
    says: str
    short: str = ""
    chapter_index: int | None = None
    scene_index: int | None = None
    importance: int = 5
    entities: list[str] = Field(default_factory=list, description="Ids of those whom it is about.")
    evidence: str = Field(default="", description="What of its scene's text proves it, if that is known.")
    known_by: list[str] = Field(default_factory=list, description="Ids of those who know it, where that is asked.")

    @model_validator(mode="after")
    def _short_is_said(self) -> PromptMemory:
        self.short = self.short or self.says
        return self

    @property
    def order(self) -> tuple[int, int, str]:
        """Where a list of memories has it."""
        return self.chapter_index or 0, self.scene_index or 0, self.memory_id


class SceneRecordRequest(SceneRequest):
    """A finished scene and the known story.

    Entities are those by its end.

    It holds all that is known; what of it the prompt lists is chosen by what the scene touches.
    """

    title: str = ""
    language: StoryLanguage | None = Field(default=None, description="None is told from the text.")
    entities: list[Entity] = Field(default_factory=list, description="With the names known in the scene.")
    present_ids: list[str] = Field(default_factory=list, description="Who was on stage lately, the most recent first.")
    open_loops: list[OpenLoop] = Field(default_factory=list)
    states: list[EntityStateSnapshot] = Field(default_factory=list)
    relationships: list[Relationship] = Field(default_factory=list)
    memories: list[PromptMemory] = Field(default_factory=list, description="Those that still hold.")
    scenes_before: list[SceneBefore] = Field(default_factory=list, description="The last few, in story order.")
    story_places: list[tuple[int, int]] = Field(
        default_factory=list, description="Chapter and scene of every scene before, in story order."
    )
    sightings: dict[str, EntitySighting] = Field(default_factory=dict, description="By entity id.")
    max_bullets: int = Field(default=5, ge=1, le=20, description="Most bullets of the summary.")

    @property
    def told_in(self) -> StoryLanguage:
        """The language of the scene."""
        return self.language or story_language(scrub_text(self.text))


class ProposedEntity(BaseModel):
    """A new entity of the scene.

    The caller assigns its id.
    """

    temporary_id: str
    entity_type: EntityType
    name: str = Field(min_length=1)
    aliases: list[str] = Field(default_factory=list)
    description: str = ""
    generic: bool = Field(default=False, description="One of a kind, known by no name of its own.")


class UnverifiedFact(BaseModel):
    """A fact whose quote is missing from the scene, kept with a lower rank."""

    kind: Literal["memory", "state_change"]
    id: str = Field(description="memory_id, or entity and attribute: C2.status.")
    says: str
    quote: str | None = None


class UnplacedItem(BaseModel):
    """An unplaced item of an answer, open for one repair."""

    model_config = ConfigDict(frozen=True)

    field: str = Field(description="Where the answer said it: state_changes[2].value.")
    text: str = Field(description="What it said there.")
    reason: str = Field(description="Why it could not be placed.")


class SceneResult(ModelWork):
    """The result of a model's reading of a scene."""

    status: Literal["done", "failed"]
    reason: str | None = Field(default=None, description="Why it failed.")
    is_refused: bool = Field(
        default=False, description="The model would refuse every other scene, too: key, model, quota, address."
    )
    is_nobody_there: bool = Field(default=False, description="Nobody answered at the model's address.")
    windows: int = 0


class SceneRecordResult(SceneResult):
    """The result of an extraction, with a record if done.

    A record speaks of new entities and loops by temporary ids; `conclusion.with_given_ids` replaces them.
    """

    record: SceneRecord | None = None
    proposed_entities: list[ProposedEntity] = Field(default_factory=list)
    new_names: list[NewName] = Field(default_factory=list, description="Names that known entities get in the scene.")
    same_entities: list[SameEntities] = Field(
        default_factory=list, description="Entities that are one; a quote proves each."
    )
    unverified: list[UnverifiedFact] = Field(default_factory=list)
    unplaced: list[UnplacedItem] = Field(
        default_factory=list, description="What the answers said and the record does not hold."
    )
    fault: ExtractionFault | None = None


def in_shown_ids(request: SceneRecordRequest) -> SceneRecordRequest:
    """Return a request with current ids in every list.

    Where two ids become one, the later state and the later standing of a pair hold; the lists of one that was
    masked until then are added to those of the other.
    """
    ids = final_ids(request.stand_ins)
    if not ids:
        return request

    def shown(listing: Iterable[ListItem], *fields: str) -> list[ListItem]:
        return [
            item.model_copy(update={name: _replace_ids(getattr(item, name), ids) for name in fields})
            for item in listing
        ]

    return request.model_copy(
        update={
            "stand_ins": ids,
            "states": _states(request.states, ids),
            "open_loops": shown(request.open_loops, "related_entities"),
            "relationships": _relationships(request.relationships, ids),
            "present_ids": _replace_ids(request.present_ids, ids),
            "memories": shown(request.memories, "entities"),
            "scenes_before": shown(request.scenes_before, "location_id", "characters_present"),
            "sightings": _sightings(request.sightings, ids),
        }
    )


def _replace_ids(value: Any, ids: Mapping[str, str]) -> Any:
    """Return a value with former ids replaced, lists without repeats."""
    if isinstance(value, list):
        replaced_items = [_replace_ids(item, ids) for item in value]
        return [item for at, item in enumerate(replaced_items) if item not in replaced_items[:at]]
    return ids.get(value, value) if isinstance(value, str) else value


def _states(states: Sequence[EntityStateSnapshot], ids: Mapping[str, str]) -> list[EntityStateSnapshot]:
    snapshots_by_id: dict[str, EntityStateSnapshot] = {}
    for state in sorted(states, key=_changed_at):
        entity_id = ids.get(state.entity_id, state.entity_id)
        data = {name: _replace_ids(value, ids) for name, value in state.state_data.items()}
        before = snapshots_by_id.pop(entity_id, None)
        if before is not None:
            state_fields = before.state_data
            # What was taken from a list since the mask fell would come back with the mask's own list.
            for name in state_fields.keys() & data.keys() if state.entity_id in ids else ():
                if isinstance(state_fields[name], list) and isinstance(data[name], list):
                    data[name] = [*state_fields[name], *(item for item in data[name] if item not in state_fields[name])]
            data = {**state_fields, **data}
        snapshots_by_id[entity_id] = state.model_copy(update={"entity_id": entity_id, "state_data": data})
    return list(snapshots_by_id.values())


def _relationships(pairs: Sequence[Relationship], ids: Mapping[str, str]) -> list[Relationship]:
    relationships_by_key: dict[tuple[str, str], Relationship] = {}
    for pair in sorted(pairs, key=_changed_at):
        a, b = (ids.get(entity_id, entity_id) for entity_id in (pair.character_a, pair.character_b))
        fields: dict[str, Any] = {"character_a": min(a, b), "character_b": max(a, b)}
        if a > b:
            fields |= {
                **turned_pair_type(pair.relationship_type, type_reads_back=pair.type_reads_back),
                "perspective_a": pair.perspective_b,
                "perspective_b": pair.perspective_a,
                "dimensions_a": pair.dimensions_b,
                "dimensions_b": pair.dimensions_a,
            }
        if a != b:
            relationships_by_key[min(a, b), max(a, b)] = pair.model_copy(update=fields)
    return list(relationships_by_key.values())


def _sightings(sightings: Mapping[str, EntitySighting], ids: Mapping[str, str]) -> dict[str, EntitySighting]:
    entity_sightings_by_id: dict[str, EntitySighting] = {}
    for former, entity_sighting in sightings.items():
        entity_id = ids.get(former, former)
        other = entity_sightings_by_id.get(entity_id)
        if other is not None:
            latest = max(entity_sighting, other, key=lambda other_entity_sighting: story_place(other_entity_sighting))
            entity_sighting = latest.model_copy(update={"scenes": entity_sighting.scenes + other.scenes})
        entity_sightings_by_id[entity_id] = entity_sighting
    return entity_sightings_by_id


def _changed_at(item: EntityStateSnapshot | Relationship) -> Place:
    return item.chapter_index or 0, item.scene_index or 0


def dropped(stage: str, kind: IssueKind, message: str, names: Sequence[str]) -> list[ReportIssue]:
    """Report dropped and doubtful items, the first by name."""
    shown_text = ", ".join(repr(name[:60]) for name in names[:8])
    return [ReportIssue(stage=stage, kind=kind, message=f"{message}: {shown_text}")] if names else []
