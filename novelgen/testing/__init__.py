"""For tests: a memory that is gone afterwards, a context by hand, a conformance suite for a memory of one's own."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from novelgen.lazy_exports import lazy_exports

if "pytest" in sys.modules:
    # Before they are imported, so that a case that fails tells the values.
    sys.modules["pytest"].register_assert_rewrite("novelgen.testing.conformance")

if TYPE_CHECKING:
    from novelgen import open_ephemeral
    from novelgen.testing.conformance import MemoryToolsConformance, StoryMemoryConformance
    from novelgen.testing.sample_story import CHINESE_STORY, ENGLISH_STORY, SampleScene, SampleStory, sample_context
else:
    __getattr__, __dir__ = lazy_exports(
        __name__,
        {
            "CHINESE_STORY": "novelgen.testing.sample_story",
            "ENGLISH_STORY": "novelgen.testing.sample_story",
            "MemoryToolsConformance": "novelgen.testing.conformance",
            "SampleScene": "novelgen.testing.sample_story",
            "SampleStory": "novelgen.testing.sample_story",
            "StoryMemoryConformance": "novelgen.testing.conformance",
            "open_ephemeral": "novelgen",
            "sample_context": "novelgen.testing.sample_story",
        },
    )

__all__ = [
    "CHINESE_STORY",
    "ENGLISH_STORY",
    "MemoryToolsConformance",
    "SampleScene",
    "SampleStory",
    "StoryMemoryConformance",
    "open_ephemeral",
    "sample_context",
]
