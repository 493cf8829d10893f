"""Places of what has changed, in contexts: a scene that is there, or the words after which one."""

import pytest

from novelgen.checking.findings import where_told
from novelgen.models.context import SceneMemoryContext
from runtime.front_door import Memory

WORDS = {
    "en": ("Ada", "Ben", "the lamp key", "The lamp key is with {}.", "{} sat with the lamp key.", "after 1:2"),
    "zh": ("沈青", "石敢", "长命锁", "长命锁在{}手里。", "{}看着长命锁。", "1:2 之后"),
}


@pytest.mark.parametrize("language", WORDS)
def test_what_changed_at_the_end_of_a_chapter_names_its_last_scene(memory: Memory, language: str) -> None:
    """Chapter 1 has two scenes; the later note is read on entering 2:1, and no 1:3 is told."""
    first, second, thing, said, text, after = WORDS[language]
    story = memory.create("lamp", language=language)
    for number, name in enumerate((first, second), start=1):
        story.ingest(text=text.format(name), chapter_index=1, scene_index=number)
        story.entities.add(name, start="1:1")
    story.entities.add(thing, kind="item", start="1:1")
    story.memories.add(said.format(first), start="1:2")
    story.memories.add(said.format(second), start="2:1")
    context: SceneMemoryContext = story.context(2, 1, scene_plan={"characters": [first], "purpose": thing})
    block = context.as_prompt()
    assert f"[{after}]" in block
    assert "1:3" not in block


@pytest.mark.parametrize("language", WORDS)
def test_check_and_context_tell_one_place_of_a_thread(memory: Memory, language: str) -> None:
    """That from which its author said it waits, not the scene before it."""
    first, _, thing, _, text, _ = WORDS[language]
    story = memory.create("lamp", language=language)
    for number in (1, 2):
        story.ingest(text=text.format(first), chapter_index=1, scene_index=number)
    story.entities.add(first, start="1:1")
    story.threads.add(thing, characters=[first], start="2:1")
    story.ingest(text=text.format(first), chapter_index=2, scene_index=1)
    draft = text.format(first)
    check = story.check(text=draft, chapter_index=2, scene_index=2, use_model=False)
    sayings = [saying for matter in check.touched for saying in matter.sayings if saying.source == "thread"]
    assert [where_told(saying, language) for saying in sayings] == ["2:1"]
    block = story.context(2, 2, scene_plan={"characters": [first], "purpose": thing}).as_prompt()
    assert any("[2:1]" in line and thing in line for line in block.splitlines())
