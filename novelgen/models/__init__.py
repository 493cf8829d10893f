"""The models that go into the memory and come out of it; each is loaded when it is first used."""

from __future__ import annotations

from typing import TYPE_CHECKING

from novelgen.lazy_exports import lazy_exports

if TYPE_CHECKING:
    from novelgen.models.attachment import Attachment
    from novelgen.models.characters import Character, CharactersConfig
    from novelgen.models.chunk_context import ChunkContext, ChunkMemory, GlossaryEntry, GlossaryName
    from novelgen.models.context import (
        ContextItem,
        ContextReport,
        LeftOutItem,
        ReportIssue,
        SceneMemoryContext,
    )
    from novelgen.models.context_difference import ContextDifference
    from novelgen.models.entity import Entity, EntityAlias
    from novelgen.models.loop import OpenLoop
    from novelgen.models.memory import StoryMemoryChunk
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
    from novelgen.models.relationship import Relationship, RelationshipEvent, RelationshipView
    from novelgen.models.request import MemoryContextRequest
    from novelgen.models.state import EntityStateSnapshot, StateChange
    from novelgen.models.story_settings import Settings
else:
    __getattr__, __dir__ = lazy_exports(
        __name__,
        {
            "Attachment": "novelgen.models.attachment",
            "ChapterPlan": "novelgen.models.plan",
            "Character": "novelgen.models.characters",
            "CharactersConfig": "novelgen.models.characters",
            "ChunkContext": "novelgen.models.chunk_context",
            "ChunkMemory": "novelgen.models.chunk_context",
            "ContextDifference": "novelgen.models.context_difference",
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
            "MemoryContextRequest": "novelgen.models.request",
            "OpenLoop": "novelgen.models.loop",
            "RecordedLoop": "novelgen.models.record",
            "RecordedLoopAdvance": "novelgen.models.record",
            "RecordedLoopResolution": "novelgen.models.record",
            "RecordedMemory": "novelgen.models.record",
            "RecordedRelationshipChange": "novelgen.models.record",
            "RecordedStateChange": "novelgen.models.record",
            "Relationship": "novelgen.models.relationship",
            "RelationshipEvent": "novelgen.models.relationship",
            "RelationshipView": "novelgen.models.relationship",
            "ReportIssue": "novelgen.models.context",
            "SceneMemoryContext": "novelgen.models.context",
            "ScenePlan": "novelgen.models.plan",
            "SceneRecord": "novelgen.models.record",
            "Settings": "novelgen.models.story_settings",
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
