"""The models that go into the memory and come out of it; each is loaded when it is first used."""

from __future__ import annotations

from typing import TYPE_CHECKING

from novelgen.lazy_exports import lazy_exports

if TYPE_CHECKING:
    from novelgen.models.chunk_context import ChunkContext, ChunkMemory, GlossaryEntry, GlossaryName
    from novelgen.models.context import (
        ContextDifference,
        ContextItem,
        ContextReport,
        LeftOutItem,
        MemoryContextRequest,
        ReportIssue,
        SceneMemoryContext,
    )
    from novelgen.models.entity import Entity, EntityAlias
    from novelgen.models.memory import Attachment, StoryMemoryChunk
    from novelgen.models.plan import ChapterPlan, GeneratedChapter, GeneratedScene, ScenePlan
    from novelgen.models.position import StoryPosition
    from novelgen.models.record import (
        RecordedLoop,
        RecordedLoopAdvance,
        RecordedLoopResolution,
        RecordedMemory,
        RecordedRelationshipChange,
        RecordedStateChange,
        SceneRecord,
    )
    from novelgen.models.state import (
        EntityStateSnapshot,
        OpenLoop,
        Relationship,
        RelationshipEvent,
        RelationshipView,
        StateChange,
    )
    from novelgen.models.user_file import Character, CharactersConfig, Settings
else:
    __getattr__, __dir__ = lazy_exports(
        __name__,
        {
            "Attachment": "novelgen.models.memory",
            "ChapterPlan": "novelgen.models.plan",
            "Character": "novelgen.models.user_file",
            "CharactersConfig": "novelgen.models.user_file",
            "ChunkContext": "novelgen.models.chunk_context",
            "ChunkMemory": "novelgen.models.chunk_context",
            "ContextDifference": "novelgen.models.context",
            "ContextItem": "novelgen.models.context",
            "ContextReport": "novelgen.models.context",
            "Entity": "novelgen.models.entity",
            "EntityAlias": "novelgen.models.entity",
            "EntityStateSnapshot": "novelgen.models.state",
            "GeneratedChapter": "novelgen.models.plan",
            "GeneratedScene": "novelgen.models.plan",
            "GlossaryEntry": "novelgen.models.chunk_context",
            "GlossaryName": "novelgen.models.chunk_context",
            "LeftOutItem": "novelgen.models.context",
            "MemoryContextRequest": "novelgen.models.context",
            "OpenLoop": "novelgen.models.state",
            "RecordedLoop": "novelgen.models.record",
            "RecordedLoopAdvance": "novelgen.models.record",
            "RecordedLoopResolution": "novelgen.models.record",
            "RecordedMemory": "novelgen.models.record",
            "RecordedRelationshipChange": "novelgen.models.record",
            "RecordedStateChange": "novelgen.models.record",
            "Relationship": "novelgen.models.state",
            "RelationshipEvent": "novelgen.models.state",
            "RelationshipView": "novelgen.models.state",
            "ReportIssue": "novelgen.models.context",
            "SceneMemoryContext": "novelgen.models.context",
            "ScenePlan": "novelgen.models.plan",
            "SceneRecord": "novelgen.models.record",
            "Settings": "novelgen.models.user_file",
            "StateChange": "novelgen.models.state",
            "StoryMemoryChunk": "novelgen.models.memory",
            "StoryPosition": "novelgen.models.position",
        },
    )

__all__ = [
    "Attachment",
    "ChapterPlan",
    "Character",
    "CharactersConfig",
    "ChunkContext",
    "ChunkMemory",
    "ContextDifference",
    "ContextItem",
    "ContextReport",
    "Entity",
    "EntityAlias",
    "EntityStateSnapshot",
    "GeneratedChapter",
    "GeneratedScene",
    "GlossaryEntry",
    "GlossaryName",
    "LeftOutItem",
    "MemoryContextRequest",
    "OpenLoop",
    "RecordedLoop",
    "RecordedLoopAdvance",
    "RecordedLoopResolution",
    "RecordedMemory",
    "RecordedRelationshipChange",
    "RecordedStateChange",
    "Relationship",
    "RelationshipEvent",
    "RelationshipView",
    "ReportIssue",
    "SceneMemoryContext",
    "ScenePlan",
    "SceneRecord",
    "Settings",
    "StateChange",
    "StoryMemoryChunk",
    "StoryPosition",
]
