"""Arguments of the story tools, as a model fills them in; the project is never one of them."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from novelgen.chains.question_chains import MAX_SCENE_CHARACTERS
from novelgen.language.extractive import MAX_BULLETS
from novelgen.models.position import ChapterIndex, SceneIndex
from novelgen.models.state import LoopImportance, RelationshipDimensions
from runtime.story.cards import DEFAULT_LIMIT, CardType

MAX_RESULTS = 50

KNOWN_MEMORIES = 20
"""So many memories that a character knows, and does not know, are told unless a model asks for more."""

LAST_SCENES = 10
"""So many scenes' times are told unless more are asked for."""

WAITING_LOOPS = 10
"""So many waiting threads are told unless a model asks for more."""

EVIDENCE_OF_FINDING = 3
"""So many pieces of evidence are told of a contradiction."""

_Text = Annotated[str, Field(min_length=1, max_length=4_000)]
_Name = Annotated[str, Field(min_length=1, max_length=200)]
_Texts = Annotated[list[_Text], Field(max_length=50)]
_Ids = Annotated[list[_Name], Field(max_length=50)]
_Targets = Annotated[list[_Name], Field(max_length=100)]
_Importance = Annotated[int, Field(ge=1, le=10)]
_Memories = Annotated[list[str], Field(min_length=1, max_length=100)]
_CharacterId = Annotated[str, Field(min_length=1, description="Id of a character, such as C0; a name works, too.")]
_SceneId = Annotated[
    str | None, Field(description="Scene after which it holds, such as S001. Default: the last finished scene.")
]
_Intensity = Annotated[int, Field(ge=0, le=10, description="How much the relationship matters, 0 to 10.")]


class _Arguments(BaseModel):
    # An argument that does not exist, such as a project_id, is an error and not silently dropped.
    model_config = ConfigDict(extra="forbid")


class MemorySearchArguments(_Arguments):
    """Arguments of memory_search."""

    query: _Text = Field(description="What to look for, in the language of the story.")
    entity_types: list[CardType] | None = Field(
        default=None, description="Only these: character, location, scene. Default: all three."
    )
    limit: int = Field(default=DEFAULT_LIMIT, ge=1, le=MAX_RESULTS, description="At most so many results.")
    min_relevance: float = Field(
        default=0.0,
        ge=0,
        le=1,
        description="Only results of at least this relevance_score; below 0.2 little has to do with the query.",
    )


class CharacterGenerateArguments(_Arguments):
    """Arguments of character_generate."""

    name: _Name = Field(description="The character's full name.")
    role: str = Field(default="", description="protagonist, antagonist, supporting or minor.")
    description: _Text = Field(description="Who the character is, in one or two sentences.")
    traits: _Texts | None = Field(default=None, description="Core personality traits.")
    goals: _Texts | None = Field(default=None, description="What the character wants at first.")


class LocationGenerateArguments(_Arguments):
    """Arguments of location_generate."""

    name: _Name = Field(description="Name of the place.")
    description: _Text = Field(description="What the place is, in one or two sentences.")
    atmosphere: str | None = Field(default=None, description="Its mood.")
    features: _Texts | None = Field(default=None, description="What is notable there.")


class RelationshipCreateArguments(_Arguments):
    """Arguments of relationship_create."""

    character_a: _CharacterId
    character_b: _CharacterId
    relationship_type: _Name = Field(description="mentor-student, friends, rivals, family, …")
    perspective_a: _Text = Field(description="How character_a sees character_b.")
    perspective_b: _Text = Field(description="How character_b sees character_a.")
    status: _Name = Field(default="neutral", description="close, strained, hostile, neutral, …")
    intensity: _Intensity = 5


class RelationshipUpdateArguments(_Arguments):
    """Arguments of relationship_update."""

    character_a: _CharacterId
    character_b: _CharacterId
    status: _Name | None = Field(default=None, description="The new status.")
    event: _Text | None = Field(default=None, description="What happened between them.")
    scene_id: _SceneId = None
    intensity: int | None = Field(
        default=None, ge=0, le=10, description="How much the relationship matters now, 0 to 10."
    )
    relationship_type: _Name | None = Field(
        default=None, description="The new type; of two roles, character_a's comes first."
    )
    perspective_a: _Text | None = Field(default=None, description="How character_a sees character_b now.")
    perspective_b: _Text | None = Field(default=None, description="How character_b sees character_a now.")
    dimensions: RelationshipDimensions | None = Field(
        default=None,
        description="What character_a alone feels for character_b now: trust, respect, affection, fear from -100 to"
        " 100, familiarity from 0 to 100.",
    )
    mutual_dimensions: RelationshipDimensions | None = Field(
        default=None, description="The same where both feel alike."
    )


class RelationshipQueryArguments(_Arguments):
    """Arguments of relationship_query."""

    character_id: _CharacterId
    status_filter: _Name | None = Field(default=None, description="Only relationships of this status.")


class KnowledgeQueryArguments(_Arguments):
    """Arguments of knowledge_query."""

    character_id: _CharacterId
    about: _Text | None = Field(
        default=None, description="Only memories about this: a name, or words that they hold. Default: all."
    )
    limit: int = Field(default=KNOWN_MEMORIES, ge=1, le=MAX_RESULTS, description="At most so many of each.")


class StoryTimeQueryArguments(_Arguments):
    """Arguments of story_time_query."""

    character_id: _CharacterId | None = Field(
        default=None, description="Only scenes with this character. Default: all scenes."
    )
    limit: int = Field(default=LAST_SCENES, ge=1, le=MAX_RESULTS, description="At most so many, the last ones.")


class OpenLoopCreateArguments(_Arguments):
    """Arguments of open_loop_create."""

    description: _Text = Field(description="The question or promise that the story leaves open.")
    category: str = Field(default="", description="mystery, relationship, goal, threat, promise, …")
    importance: LoopImportance = Field(default="medium", description="low, medium, high or critical.")
    related_characters: _Ids | None = Field(default=None, description="Ids of characters.")
    related_locations: _Ids | None = Field(default=None, description="Ids of locations.")
    related_items: _Ids | None = Field(default=None, description="Ids of items.")
    notes: str = Field(default="", description="Notes of the author, which no context of a scene shows.")
    scene_id: _SceneId = None


class OpenLoopListArguments(_Arguments):
    """Arguments of open_loop_list."""

    on_stage: _Ids | None = Field(
        default=None, description="Ids or names of whom and what the next scene has. Default: the last scene's."
    )
    category: str = Field(
        default="", description="Only of this kind: promise, question, threat, plan, debt, mystery, …"
    )
    only_due: bool = Field(default=False, description="Only those that are due or overdue.")
    limit: int = Field(default=WAITING_LOOPS, ge=1, le=MAX_RESULTS, description="At most so many.")


class OpenLoopResolveArguments(_Arguments):
    """Arguments of open_loop_resolve."""

    open_loop_id: _Name = Field(description="Id of the open loop, such as OL0.")
    resolution_summary: _Text = Field(description="How it was answered, or why it was dropped.")
    abandoned: bool = Field(default=False, description="True: dropped without an answer.")
    scene_id: _SceneId = None


class ContinuityCheckArguments(_Arguments):
    """Arguments of continuity_check."""

    text: Annotated[str, Field(min_length=1, max_length=MAX_SCENE_CHARACTERS)] = Field(
        description="The whole draft of the scene."
    )
    pov: _Name | None = Field(
        default=None, description="From whose point of view it is told: a name or an id. Default: the plan's."
    )


class StoryChangesArguments(_Arguments):
    """Arguments of story_changes."""

    chapter_index: ChapterIndex | None = Field(
        default=None, description="Chapter from which on to tell. Default: only the last finished scene."
    )
    scene_index: SceneIndex | None = Field(
        default=None, description="Scene of that chapter from which on to tell. Default: its first."
    )


class SceneSummarizeArguments(_Arguments):
    """Arguments of scene_summarize."""

    scene_text: Annotated[str, Field(min_length=1, max_length=MAX_SCENE_CHARACTERS)] = Field(
        description="The text of one finished scene."
    )
    max_bullets: int = Field(default=MAX_BULLETS, ge=1, le=20, description="At most so many bullets.")


class AttachArguments(_Arguments):
    """Arguments of memory_attach and memory_detach."""

    memory_ids: _Memories = Field(description="chunk_id or source_id of each memory.")
    attached_to: _Memories = Field(description="Entities by id or name, chapters as chapter:3, or book.")


_ATTACHED_TO = "Entities by id or name, chapters as chapter:3, or book for what holds in the whole story."


class CreateMemoryArguments(_Arguments):
    """Arguments of create_memory."""

    content: _Text = Field(description="One fact of the story, in its language, that can be read alone.")
    attached_to: _Targets | None = Field(
        default=None, description=f"What it is about. {_ATTACHED_TO} Default: whom it names, else the book."
    )
    short: _Text | None = Field(default=None, description="The same fact in a few words.")
    importance: _Importance | None = Field(default=None, description="Weight, 1 to 10. Default: 8.")
    tags: _Texts | None = Field(default=None, description="Words by which it can be filtered.")
    chapter_index: ChapterIndex | None = Field(
        default=None, description="Chapter from which on it holds. Default: it holds everywhere."
    )
    scene_index: SceneIndex | None = Field(
        default=None, description="Scene of that chapter from which on it holds; needs chapter_index."
    )


class UpdateMemoryArguments(_Arguments):
    """Arguments of update_memory."""

    memory_id: _Name = Field(description="chunk_id or source_id of the memory.")
    content: _Text | None = Field(default=None, description="New text. Default: as it is, as for all.")
    short: _Text | None = Field(default=None, description="New short form; with a new text the old one goes.")
    importance: _Importance | None = Field(default=None, description="New weight, 1 to 10.")
    tags: _Texts | None = Field(default=None, description="New tags, all of them.")
    attached_to: _Targets | None = Field(
        default=None, description=f"All that it shall be attached to, in place of what there is. {_ATTACHED_TO}"
    )


class ListMemoriesArguments(_Arguments):
    """Arguments of list_memories."""

    attached_to: _Memories = Field(description=f"Memories of one of these. {_ATTACHED_TO}")
    limit: int = Field(default=20, ge=1, le=MAX_RESULTS, description="At most so many, in story order.")


class AttachByMentionArguments(_Arguments):
    """Arguments of memory_attach_by_mention."""

    entity: str = Field(min_length=1, description="Id, name or alias of the entity.")
    preview: bool = Field(default=True, description="True: only show which memories would be attached.")
