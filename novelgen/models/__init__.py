"""The public models, loaded lazily."""

from __future__ import annotations

from typing import TYPE_CHECKING

from novelgen.lazy_exports import lazy_exports

if TYPE_CHECKING:
    from novelgen.models.chunk_context import ChunkContext as ChunkContext
    from novelgen.models.chunk_context import ChunkMemory as ChunkMemory
    from novelgen.models.chunk_context import GlossaryEntry as GlossaryEntry
    from novelgen.models.chunk_context import GlossaryName as GlossaryName
    from novelgen.models.context import ContextDifference as ContextDifference
    from novelgen.models.context import ContextItem as ContextItem
    from novelgen.models.context import ContextReport as ContextReport
    from novelgen.models.context import LeftOutItem as LeftOutItem
    from novelgen.models.context import MemoryContextRequest as MemoryContextRequest
    from novelgen.models.context import ReportIssue as ReportIssue
    from novelgen.models.context import SceneMemoryContext as SceneMemoryContext
    from novelgen.models.continuity import DraftCheck as DraftCheck
    from novelgen.models.entity import Entity as Entity
    from novelgen.models.entity import EntityAlias as EntityAlias
    from novelgen.models.knowledge import CharacterKnowledge as CharacterKnowledge
    from novelgen.models.memory import Attachment as Attachment
    from novelgen.models.memory import StoryMemoryChunk as StoryMemoryChunk
    from novelgen.models.plan import ChapterPlan as ChapterPlan
    from novelgen.models.plan import GeneratedChapter as GeneratedChapter
    from novelgen.models.plan import GeneratedScene as GeneratedScene
    from novelgen.models.plan import ScenePlan as ScenePlan
    from novelgen.models.position import StoryPosition as StoryPosition
    from novelgen.models.record import RecordedLoop as RecordedLoop
    from novelgen.models.record import RecordedLoopAdvance as RecordedLoopAdvance
    from novelgen.models.record import RecordedLoopResolution as RecordedLoopResolution
    from novelgen.models.record import RecordedMemory as RecordedMemory
    from novelgen.models.record import RecordedRelationshipChange as RecordedRelationshipChange
    from novelgen.models.record import RecordedStateChange as RecordedStateChange
    from novelgen.models.record import SceneRecord as SceneRecord
    from novelgen.models.shown import ShownList as ShownList
    from novelgen.models.state import EntityStateSnapshot as EntityStateSnapshot
    from novelgen.models.state import OpenLoop as OpenLoop
    from novelgen.models.state import Relationship as Relationship
    from novelgen.models.state import RelationshipEvent as RelationshipEvent
    from novelgen.models.state import RelationshipView as RelationshipView
    from novelgen.models.state import StateChange as StateChange
    from novelgen.models.story_difference import StoryDifference as StoryDifference
    from novelgen.models.story_time import SceneTimes as SceneTimes
    from novelgen.models.user_file import Character as Character
    from novelgen.models.user_file import CharactersConfig as CharactersConfig
    from novelgen.models.user_file import Settings as Settings
else:
    __getattr__, __dir__, __all__ = lazy_exports(
        __name__,
        {
            "novelgen.models.chunk_context": "ChunkContext ChunkMemory GlossaryEntry GlossaryName",
            "novelgen.models.context": "ContextDifference ContextItem ContextReport LeftOutItem MemoryContextRequest"
            " ReportIssue SceneMemoryContext",
            "novelgen.models.continuity": "DraftCheck",
            "novelgen.models.entity": "Entity EntityAlias",
            "novelgen.models.knowledge": "CharacterKnowledge",
            "novelgen.models.memory": "Attachment StoryMemoryChunk",
            "novelgen.models.plan": "ChapterPlan GeneratedChapter GeneratedScene ScenePlan",
            "novelgen.models.position": "StoryPosition",
            "novelgen.models.record": "RecordedLoop RecordedLoopAdvance RecordedLoopResolution RecordedMemory"
            " RecordedRelationshipChange RecordedStateChange SceneRecord",
            "novelgen.models.shown": "ShownList",
            "novelgen.models.state": "EntityStateSnapshot OpenLoop Relationship RelationshipEvent RelationshipView"
            " StateChange",
            "novelgen.models.story_difference": "StoryDifference",
            "novelgen.models.story_time": "SceneTimes",
            "novelgen.models.user_file": "Character CharactersConfig Settings",
        },
    )
