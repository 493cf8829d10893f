"""Parts of a story that several classes make up."""

from runtime.story.attachments import StoryAttachments
from runtime.story.changes import StoryChanges
from runtime.story.character_news import StoryCharacterNews
from runtime.story.entities import StoryEntities
from runtime.story.entity_fields import StoryCardFields
from runtime.story.extraction import StoryConsolidation, StoryReconciliation
from runtime.story.glossary import StoryGlossary
from runtime.story.ingest import SceneIngest
from runtime.story.memories import StoryMemories
from runtime.story.renaming import StoryRenaming
from runtime.story.scene_editing import StorySceneEditing
from runtime.story.scene_reading import StorySceneReading
from runtime.story.scenes import StoryScenes
from runtime.story.search import StoryCardSearch
from runtime.story.secrets import StoryFlags
from runtime.story.states import StoryStates, StoryTimes
from runtime.story.story_difference import StoryDifferences
from runtime.story.who_is_who import StoryAppearances


class MemoriesPart(StoryMemories, StoryAttachments, StoryConsolidation):
    """Memories: list, add, correct, attach and consolidate them."""


class EntitiesPart(
    StoryEntities, StoryAppearances, StoryCardFields, StoryCardSearch, StoryGlossary, StoryRenaming, StoryStates
):
    """Entities with their cards and states: list, find, add, edit, rename, merge, split and delete them."""


class ScenesPart(StoryScenes, StorySceneEditing, StorySceneReading, StoryTimes, SceneIngest, StoryReconciliation):
    """Stored scenes with their texts and records: list, read, store, edit, move and delete them."""


class ChangesPart(StoryChanges, StoryDifferences):
    """Changes: by the author, and by the scenes of a stretch."""


class WorldPart(StoryFlags, StoryCharacterNews):
    """The world of a game: flags, and events of which characters hear."""
