"""The in-memory double keeps what the memory protocols promise."""

from novelgen.memory.in_memory import InMemoryStoryMemory
from novelgen.memory.protocol import MemoryTools
from novelgen.models.memory import StoryMemoryChunk
from novelgen.testing import MemoryToolsConformance, SampleStory, StoryMemoryConformance


def double_of(story: SampleStory) -> InMemoryStoryMemory:
    """The double, filled with a story."""
    canon = StoryMemoryChunk(chunk_id="note-0", project_id=story.project_id, content=story.canon, content_type="note")
    return InMemoryStoryMemory.of_records(
        story.project_id, story.records, entities=story.entities, notes=[canon], language=story.language
    )


class TestInMemoryStoryMemory(StoryMemoryConformance):
    """The double as a whole story memory."""

    def memory_of(self, story: SampleStory) -> InMemoryStoryMemory:
        return double_of(story)


class TestInMemoryTools(MemoryToolsConformance):
    """The double as three tools alone."""

    def memory_of(self, story: SampleStory) -> MemoryTools:
        return double_of(story)
