"""Test helpers: a temporary memory, a sample context, a conformance suite."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from novelgen.lazy_exports import lazy_exports

if "pytest" in sys.modules:
    # Before they are imported, so that a case that fails tells the values.
    sys.modules["pytest"].register_assert_rewrite("novelgen.testing.conformance")

if TYPE_CHECKING:
    from novelgen import open_ephemeral as open_ephemeral
    from novelgen.testing.conformance import MemoryToolsConformance as MemoryToolsConformance
    from novelgen.testing.conformance import StoryMemoryConformance as StoryMemoryConformance
    from novelgen.testing.sample_story import CHINESE_STORY as CHINESE_STORY
    from novelgen.testing.sample_story import ENGLISH_STORY as ENGLISH_STORY
    from novelgen.testing.sample_story import SampleScene as SampleScene
    from novelgen.testing.sample_story import SampleStory as SampleStory
    from novelgen.testing.sample_story import sample_context as sample_context
else:
    __getattr__, __dir__, __all__ = lazy_exports(
        __name__,
        {
            "novelgen": "open_ephemeral",
            "novelgen.testing.conformance": "MemoryToolsConformance StoryMemoryConformance",
            "novelgen.testing.sample_story": "CHINESE_STORY ENGLISH_STORY SampleScene SampleStory sample_context",
        },
    )
