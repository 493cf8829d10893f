"""Who knows what in a story, for Python programs: asked of characters, memories and pairs, and the author's word."""

from __future__ import annotations

from runtime.story.base import StoryBase
from runtime.story.knowledge import StoryKnowledge


class StoryKnowledge(StoryBase):
    """The part of a `Story` that tells who knows what; see there."""
