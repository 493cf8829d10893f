"""The public models, loaded lazily."""

from __future__ import annotations

from typing import TYPE_CHECKING

from novelgen.lazy_exports import lazy_exports

if TYPE_CHECKING:
    from novelgen.characters.memory import CharacterChange as CharacterChange
    from novelgen.characters.memory import CharacterMemory as CharacterMemory
    from novelgen.characters.recall import Recall as Recall
    from novelgen.characters.reply_check import ReplyFinding as ReplyFinding
    from novelgen.language.candidates import NameCandidate as NameCandidate
    from novelgen.memory.conflict import Conflict as Conflict
    from novelgen.memory.ledger import ThreadLedger as ThreadLedger
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
    from novelgen.models.story_time import StoryTimeline as StoryTimeline
    from novelgen.models.user_file import Character as Character
    from novelgen.models.user_file import CharactersConfig as CharactersConfig
    from novelgen.models.user_file import Settings as Settings
    from runtime.care.checks import Diagnosis as Diagnosis
    from runtime.ingest.consolidation import ConsolidationReport as ConsolidationReport
    from runtime.ingest.extraction import ExtractionReport as ExtractionReport
    from runtime.storage.chunks import StoredConsolidation as StoredConsolidation
    from runtime.storage.journal import Change as Change
    from runtime.storage.records import FeltChange as FeltChange
    from runtime.storage.records import IndexingResult as IndexingResult
    from runtime.story.attachments import AttachmentChange as AttachmentChange
    from runtime.story.attachments import MemoriesAbout as MemoriesAbout
    from runtime.story.attachments import MentionAttachment as MentionAttachment
    from runtime.story.changes import DeletionResult as DeletionResult
    from runtime.story.changes import ListedChange as ListedChange
    from runtime.story.character import Reply as Reply
    from runtime.story.character_news import LoggedEvent as LoggedEvent
    from runtime.story.character_news import Told as Told
    from runtime.story.character_news import WorldEvent as WorldEvent
    from runtime.story.character_part import Feelings as Feelings
    from runtime.story.characters import CharacterConsolidation as CharacterConsolidation
    from runtime.story.characters import EditedMemory as EditedMemory
    from runtime.story.characters import Remembered as Remembered
    from runtime.story.condition import ReindexResult as ReindexResult
    from runtime.story.condition import StoryCondition as StoryCondition
    from runtime.story.conflicts import ListedConflict as ListedConflict
    from runtime.story.conflicts import SettledConflict as SettledConflict
    from runtime.story.continuity import StoredCheck as StoredCheck
    from runtime.story.continuity import Waiver as Waiver
    from runtime.story.entities import AddedEntity as AddedEntity
    from runtime.story.entities import EditedEntity as EditedEntity
    from runtime.story.entities import EntityCard as EntityCard
    from runtime.story.entities import EntityChangeResult as EntityChangeResult
    from runtime.story.entity_fields import OfferedField as OfferedField
    from runtime.story.extraction import ReconciliationReport as ReconciliationReport
    from runtime.story.glossary import GlossaryImport as GlossaryImport
    from runtime.story.ingest import IngestReport as IngestReport
    from runtime.story.knowledge import KnowledgeTable as KnowledgeTable
    from runtime.story.knowledge import MemoryKnowers as MemoryKnowers
    from runtime.story.knowledge import SaidKnowledge as SaidKnowledge
    from runtime.story.knowledge import SharedLife as SharedLife
    from runtime.story.lore import LoreImport as LoreImport
    from runtime.story.lore import StoredLoreEntry as StoredLoreEntry
    from runtime.story.memories import AddedNote as AddedNote
    from runtime.story.memories import MemoryCard as MemoryCard
    from runtime.story.memories import MemoryChange as MemoryChange
    from runtime.story.memories import MemoryListing as MemoryListing
    from runtime.story.note_states import NotePreview as NotePreview
    from runtime.story.projects import ProjectOverview as ProjectOverview
    from runtime.story.relationships import AddedRelationship as AddedRelationship
    from runtime.story.relationships import EditedRelationship as EditedRelationship
    from runtime.story.relationships import RelationshipCard as RelationshipCard
    from runtime.story.relationships import RelationshipCourse as RelationshipCourse
    from runtime.story.renaming import Renaming as Renaming
    from runtime.story.scene_editing import SceneEdit as SceneEdit
    from runtime.story.scene_editing import TextConsequences as TextConsequences
    from runtime.story.scene_reading import ReadScene as ReadScene
    from runtime.story.scenes import ListedScene as ListedScene
    from runtime.story.scenes import SceneChange as SceneChange
    from runtime.story.scenes import SceneRecordView as SceneRecordView
    from runtime.story.search import FoundCards as FoundCards
    from runtime.story.search import FoundMemory as FoundMemory
    from runtime.story.secrets import KeptDisclosure as KeptDisclosure
    from runtime.story.secrets import KeptSecret as KeptSecret
    from runtime.story.secrets import SecretState as SecretState
    from runtime.story.secrets import SetFlags as SetFlags
    from runtime.story.states import TimelineView as TimelineView
    from runtime.story.summaries import ListedSummary as ListedSummary
    from runtime.story.summaries import SceneSummary as SceneSummary
    from runtime.story.summaries import SummaryWriting as SummaryWriting
    from runtime.story.threads import ListedThread as ListedThread
    from runtime.story.transfer import ProjectExport as ProjectExport
    from runtime.story.transfer import ProjectImport as ProjectImport
    from runtime.story.who_is_who import Appearance as Appearance
    from runtime.story.who_is_who import CandidateDecision as CandidateDecision
    from runtime.story.who_is_who import MergePreview as MergePreview
else:
    __getattr__, __dir__, __all__ = lazy_exports(
        __name__,
        {
            "novelgen.characters.memory": "CharacterChange CharacterMemory",
            "novelgen.characters.recall": "Recall",
            "novelgen.characters.reply_check": "ReplyFinding",
            "novelgen.language.candidates": "NameCandidate",
            "novelgen.memory.conflict": "Conflict",
            "novelgen.memory.ledger": "ThreadLedger",
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
            "novelgen.models.story_time": "StoryTimeline",
            "novelgen.models.user_file": "Character CharactersConfig Settings",
            "runtime.care.checks": "Diagnosis",
            "runtime.ingest.consolidation": "ConsolidationReport",
            "runtime.ingest.extraction": "ExtractionReport",
            "runtime.storage.chunks": "StoredConsolidation",
            "runtime.storage.journal": "Change",
            "runtime.storage.records": "FeltChange IndexingResult",
            "runtime.story.attachments": "AttachmentChange MemoriesAbout MentionAttachment",
            "runtime.story.changes": "DeletionResult ListedChange",
            "runtime.story.character": "Reply",
            "runtime.story.character_news": "LoggedEvent Told WorldEvent",
            "runtime.story.character_part": "Feelings",
            "runtime.story.characters": "CharacterConsolidation EditedMemory Remembered",
            "runtime.story.condition": "ReindexResult StoryCondition",
            "runtime.story.conflicts": "ListedConflict SettledConflict",
            "runtime.story.continuity": "StoredCheck Waiver",
            "runtime.story.entities": "AddedEntity EditedEntity EntityCard EntityChangeResult",
            "runtime.story.entity_fields": "OfferedField",
            "runtime.story.extraction": "ReconciliationReport",
            "runtime.story.glossary": "GlossaryImport",
            "runtime.story.ingest": "IngestReport",
            "runtime.story.knowledge": "KnowledgeTable MemoryKnowers SaidKnowledge SharedLife",
            "runtime.story.lore": "LoreImport StoredLoreEntry",
            "runtime.story.memories": "AddedNote MemoryCard MemoryChange MemoryListing",
            "runtime.story.note_states": "NotePreview",
            "runtime.story.projects": "ProjectOverview",
            "runtime.story.relationships": "AddedRelationship EditedRelationship RelationshipCard RelationshipCourse",
            "runtime.story.renaming": "Renaming",
            "runtime.story.scene_editing": "SceneEdit TextConsequences",
            "runtime.story.scene_reading": "ReadScene",
            "runtime.story.scenes": "ListedScene SceneChange SceneRecordView",
            "runtime.story.search": "FoundCards FoundMemory",
            "runtime.story.secrets": "KeptDisclosure KeptSecret SecretState SetFlags",
            "runtime.story.states": "TimelineView",
            "runtime.story.summaries": "ListedSummary SceneSummary SummaryWriting",
            "runtime.story.threads": "ListedThread",
            "runtime.story.transfer": "ProjectExport ProjectImport",
            "runtime.story.who_is_who": "Appearance CandidateDecision MergePreview",
        },
    )
