"""For those who bring a memory of their own: a conformance suite, and the stories that it is filled with."""

from novelgen.testing.conformance import MemoryToolsConformance, StoryMemoryConformance
from novelgen.testing.sample_story import CHINESE_STORY, ENGLISH_STORY, SampleScene, SampleStory

__all__ = [
    "CHINESE_STORY",
    "ENGLISH_STORY",
    "MemoryToolsConformance",
    "SampleScene",
    "SampleStory",
    "StoryMemoryConformance",
]
