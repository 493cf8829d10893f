"""A story memory that keeps long fiction consistent.

    import novelgen

    with novelgen.open("projects") as memory:
        story = memory.story("demo")
        context = story.context(chapter_index=5, scene_index=4, scene_plan={"purpose": "Open the iron door."})
        print(context.as_prompt())

`open` gives a `Memory`, which gives one `Story` per project. The models that go in and out are in
`novelgen.models`, the errors in `novelgen.errors`. Importing this package loads none of the libraries below.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from novelgen.errors import NovelgenError as NovelgenError
from novelgen.lazy_exports import lazy_exports

if TYPE_CHECKING:
    from novelgen.chains.checked_writing_chain import CheckedWritingChain as CheckedWritingChain
    from novelgen.chains.memory_context_chain import MemoryContextChain as MemoryContextChain
    from novelgen.characters.memory import CharacterChange as CharacterChange
    from novelgen.characters.memory import CharacterMemory as CharacterMemory
    from novelgen.characters.recall import Recall as Recall
    from novelgen.characters.reply_check import ReplyFinding as ReplyFinding
    from novelgen.language.candidates import NameCandidate as NameCandidate
    from novelgen.memory.conflict import Conflict as Conflict
    from novelgen.memory.ledger import ThreadLedger as ThreadLedger
    from novelgen.models.position import StoryPosition as StoryPosition
    from runtime.agents.langgraph import StoryStore as StoryStore
    from runtime.care.checks import Diagnosis as Diagnosis
    from runtime.ephemeral import open_ephemeral as open_ephemeral
    from runtime.front_door import Memory as Memory
    from runtime.front_door import open as open
    from runtime.front_door import summarize_scene as summarize_scene
    from runtime.ingest.consolidation import ConsolidationReport as ConsolidationReport
    from runtime.ingest.extraction import ExtractionReport as ExtractionReport
    from runtime.storage.change import Change as Change
    from runtime.storage.chunks import StoredConsolidation as StoredConsolidation
    from runtime.storage.models import IndexingResult as IndexingResult
    from runtime.storage.records import FeltChange as FeltChange
    from runtime.story.attachments import AttachmentChange as AttachmentChange
    from runtime.story.attachments import MemoriesAbout as MemoriesAbout
    from runtime.story.attachments import MentionAttachment as MentionAttachment
    from runtime.story.changes import DeletionResult as DeletionResult
    from runtime.story.changes import ListedChange as ListedChange
    from runtime.story.character import Character as Character
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
    from runtime.story.conflicts import StoryConflicts as StoryConflicts
    from runtime.story.continuity import StoredCheck as StoredCheck
    from runtime.story.continuity import StoryChecks as StoryChecks
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
    from runtime.story.knowledge import StoryKnowledge as StoryKnowledge
    from runtime.story.lore import LoreImport as LoreImport
    from runtime.story.lore import StoredLoreEntry as StoredLoreEntry
    from runtime.story.lore import StoryLore as StoryLore
    from runtime.story.memories import AddedNote as AddedNote
    from runtime.story.memories import MemoryCard as MemoryCard
    from runtime.story.memories import MemoryChange as MemoryChange
    from runtime.story.memories import MemoryListing as MemoryListing
    from runtime.story.note_states import NotePreview as NotePreview
    from runtime.story.parts import ChangesPart as ChangesPart
    from runtime.story.parts import EntitiesPart as EntitiesPart
    from runtime.story.parts import MemoriesPart as MemoriesPart
    from runtime.story.parts import ScenesPart as ScenesPart
    from runtime.story.parts import WorldPart as WorldPart
    from runtime.story.projects import ProjectOverview as ProjectOverview
    from runtime.story.relationships import AddedRelationship as AddedRelationship
    from runtime.story.relationships import EditedRelationship as EditedRelationship
    from runtime.story.relationships import RelationshipCard as RelationshipCard
    from runtime.story.relationships import RelationshipCourse as RelationshipCourse
    from runtime.story.relationships import StoryRelationships as StoryRelationships
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
    from runtime.story.states import StatesAround as StatesAround
    from runtime.story.story import Story as Story
    from runtime.story.summaries import ListedSummary as ListedSummary
    from runtime.story.summaries import SceneSummary as SceneSummary
    from runtime.story.summaries import StorySummarizing as StorySummarizing
    from runtime.story.summaries import SummaryWriting as SummaryWriting
    from runtime.story.threads import ListedThread as ListedThread
    from runtime.story.threads import StoryThreads as StoryThreads
    from runtime.story.transfer import ProjectExport as ProjectExport
    from runtime.story.transfer import ProjectImport as ProjectImport
    from runtime.story.transfer import StoryTransfer as StoryTransfer
    from runtime.story.who_is_who import Appearance as Appearance
    from runtime.story.who_is_who import CandidateDecision as CandidateDecision
    from runtime.story.who_is_who import MergePreview as MergePreview
    from runtime.story.who_is_who import StoryNameCandidates as StoryNameCandidates
else:
    __getattr__, __dir__, __all__ = lazy_exports(
        __name__,
        {
            "novelgen.chains.checked_writing_chain": "CheckedWritingChain",
            "novelgen.chains.memory_context_chain": "MemoryContextChain",
            "novelgen.characters.memory": "CharacterChange CharacterMemory",
            "novelgen.characters.recall": "Recall",
            "novelgen.characters.reply_check": "ReplyFinding",
            "novelgen.language.candidates": "NameCandidate",
            "novelgen.memory.conflict": "Conflict",
            "novelgen.memory.ledger": "ThreadLedger",
            "novelgen.models.position": "StoryPosition",
            "runtime.agents.langgraph": "StoryStore",
            "runtime.care.checks": "Diagnosis",
            "runtime.ephemeral": "open_ephemeral",
            "runtime.front_door": "Memory open summarize_scene",
            "runtime.ingest.consolidation": "ConsolidationReport",
            "runtime.ingest.extraction": "ExtractionReport",
            "runtime.storage.change": "Change",
            "runtime.storage.chunks": "StoredConsolidation",
            "runtime.storage.models": "IndexingResult",
            "runtime.storage.records": "FeltChange",
            "runtime.story.attachments": "AttachmentChange MemoriesAbout MentionAttachment",
            "runtime.story.changes": "DeletionResult ListedChange",
            "runtime.story.character": "Character Reply",
            "runtime.story.character_news": "LoggedEvent Told WorldEvent",
            "runtime.story.character_part": "Feelings",
            "runtime.story.characters": "CharacterConsolidation EditedMemory Remembered",
            "runtime.story.condition": "ReindexResult StoryCondition",
            "runtime.story.conflicts": "ListedConflict SettledConflict StoryConflicts",
            "runtime.story.continuity": "StoredCheck StoryChecks Waiver",
            "runtime.story.entities": "AddedEntity EditedEntity EntityCard EntityChangeResult",
            "runtime.story.entity_fields": "OfferedField",
            "runtime.story.extraction": "ReconciliationReport",
            "runtime.story.glossary": "GlossaryImport",
            "runtime.story.ingest": "IngestReport",
            "runtime.story.knowledge": "KnowledgeTable MemoryKnowers SaidKnowledge SharedLife StoryKnowledge",
            "runtime.story.lore": "LoreImport StoredLoreEntry StoryLore",
            "runtime.story.memories": "AddedNote MemoryCard MemoryChange MemoryListing",
            "runtime.story.note_states": "NotePreview",
            "runtime.story.parts": "ChangesPart EntitiesPart MemoriesPart ScenesPart WorldPart",
            "runtime.story.projects": "ProjectOverview",
            "runtime.story.relationships": "AddedRelationship EditedRelationship"
            " RelationshipCard RelationshipCourse StoryRelationships",
            "runtime.story.renaming": "Renaming",
            "runtime.story.scene_editing": "SceneEdit TextConsequences",
            "runtime.story.scene_reading": "ReadScene",
            "runtime.story.scenes": "ListedScene SceneChange SceneRecordView",
            "runtime.story.search": "FoundCards FoundMemory",
            "runtime.story.secrets": "KeptDisclosure KeptSecret SecretState SetFlags",
            "runtime.story.states": "StatesAround",
            "runtime.story.story": "Story",
            "runtime.story.summaries": "ListedSummary SceneSummary StorySummarizing SummaryWriting",
            "runtime.story.threads": "ListedThread StoryThreads",
            "runtime.story.transfer": "ProjectExport ProjectImport StoryTransfer",
            "runtime.story.who_is_who": "Appearance CandidateDecision MergePreview StoryNameCandidates",
        },
    )
    __all__ += ["NovelgenError", "__version__"]

__version__ = "0.1.0"
