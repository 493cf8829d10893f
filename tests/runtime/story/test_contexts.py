"""Contexts to be looked at piece by piece."""

import pytest
from pydantic import ValidationError

from novelgen.models.context import MemoryContextRequest
from novelgen.models.entity import Entity
from novelgen.models.plan import ScenePlan
from runtime.stores import MemoryStores
from runtime.story.contexts import ContextBounds, ContextOptions, StoryContexts, characters_of_entities
from runtime.story.story import Story


def request(project_id: str) -> MemoryContextRequest:
    """Return a plan of the scene after the guild's story."""
    plan = ScenePlan(purpose="They meet again in the Archive.", characters=["Elena Thorne"])
    return MemoryContextRequest(project_id=project_id, chapter_index=2, scene_index=2, scene_plan=plan)


@pytest.mark.slow
def test_a_look_has_the_whole_report_and_every_line(guild: Story, stores: MemoryStores, project: str) -> None:
    """Scores part by part and budgets beside what they hold; those of one look are bounded and change no other."""
    bounds = ContextOptions(bounds=ContextBounds(memory_budget=0))
    look = StoryContexts(stores, guild.project_id).look_at_context(request=request(project), options=bounds)
    assert look.budgets["memories"] == 0
    assert look.context.relevant_memories == []
    assert StoryContexts(stores, guild.project_id).look_at_context(request=request(project)).context.relevant_memories
    look = StoryContexts(stores, guild.project_id).look_at_context(request=request(project))
    assert look.prompt == look.context.as_prompt()
    assert [each.item for each in look.lines if each.item]
    assert all(each.item.score_parts for each in look.lines if each.item)
    assert look.budgets["memories"] == stores.settings.memory.memory_budget
    assert not stores.paths(project).context_file(2, 2).exists()
    for budget in (-1, 2_000_000):
        with pytest.raises(ValidationError):
            ContextBounds(memory_budget=budget)


def test_a_look_that_is_kept_is_the_projects_file(guild: Story, stores: MemoryStores, project: str) -> None:
    """It holds the plan, from which the context can be built again."""
    stores.paths(project).folder.mkdir(parents=True, exist_ok=True)
    look = StoryContexts(stores, guild.project_id).look_at_context(request=request(project), write_file=True)
    assert [each for each in look.context.report.issues if each.stage == "write"] == []
    assert "They meet again in the Archive." in stores.paths(project).context_file(2, 2).read_text(encoding="utf-8")


def test_characters_are_built_from_what_the_story_has_shown() -> None:
    """Characters with a leading role lead, the others support, and places and things are none."""
    entities = [
        Entity(entity_id="C1", entity_type="character", name="Ben", role="antagonist"),
        Entity(entity_id="C0", entity_type="character", name="阿雀", role="主角", description="敲钟的孩子"),
        Entity(entity_id="C2", entity_type="character", name="Cornelius"),
        Entity(entity_id="L0", entity_type="location", name="the lighthouse"),
    ]
    characters = characters_of_entities(entities)
    assert (characters.protagonist.name, characters.protagonist.background) == ("阿雀", "敲钟的孩子")
    assert characters.antagonist.name == "Ben"
    assert [each.name for each in characters.supporting_characters] == ["Cornelius"]
