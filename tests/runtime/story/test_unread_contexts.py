"""Contexts of books without records."""

import pytest

from novelgen.models.context import MemoryContextRequest
from novelgen.models.plan import ScenePlan
from runtime.stores import MemoryStores
from runtime.story.contexts import StoryContexts
from runtime.story.ingest import ProjectIngest
from runtime.story.story import Story

pytestmark = pytest.mark.slow

UNREAD_STORIES = {
    "en": ("Maggie carried lamp {0} along the quay and counted {0} boats at anchor.", "Ben Trevose is dead."),
    "zh": ("苏晚提着第{0}盏灯走过码头，数了数，水里停着{0}条船。", "赵凯死了。"),
}


@pytest.mark.parametrize("language", UNREAD_STORIES)
def test_one_note_takes_no_text_from_a_book_without_records(stores: MemoryStores, project: str, language: str) -> None:
    """The passages that stood in the context before the note stand there after it, beside the note."""
    line, note = UNREAD_STORIES[language]
    ingest = ProjectIngest(stores, project)
    for number in range(1, 21):
        ingest.store_scene(chapter_index=1, scene_index=number, text=line.format(number))
    story, contexts = Story(stores, project), StoryContexts(stores, project)
    plan = ScenePlan(purpose=line.format(7))
    planned = MemoryContextRequest(project_id=project, chapter_index=2, scene_index=1, scene_plan=plan)
    before = {memory.content for memory in contexts.look_at_context(request=planned).context.relevant_memories}
    assert len(before) > 12
    story.memories.add(note, attached_to=["book"])
    after = {memory.content for memory in contexts.look_at_context(request=planned).context.relevant_memories}
    assert before | {note} == after
