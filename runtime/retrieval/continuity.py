"""The story before a draft, read for its check."""

from __future__ import annotations

from typing import get_args

from novelgen.continuity.story import StoryBefore
from novelgen.models.memory import DISTILLED_TYPES
from novelgen.models.plan import ScenePlan
from novelgen.models.position import StoryPosition
from novelgen.models.state import LoopStatus
from novelgen.story_time.chronology import scene_times
from runtime.retrieval.knowledge import knowledge_rules
from runtime.storage.records import MemoryFilter
from runtime.stores import MemoryStores


def story_before(
    stores: MemoryStores,
    project_id: str,
    *,
    as_of: StoryPosition,
    plan: ScenePlan | None = None,
    pov: str | None = None,
) -> StoryBefore:
    """Return the story strictly before a position as a check of a draft sees it.

    Args:
        stores: The stores.
        project_id: The project.
        as_of: Position of the draft's scene.
        plan: What the scene is meant to do.
        pov: Id of the point of view.

    Raises:
        UnknownProjectError: When no such project is stored.
        DatabaseError: When the database fails.
    """
    wanted = MemoryFilter(as_of=as_of, content_types=list(DISTILLED_TYPES), unconsolidated=True)
    with stores.database(project_id).read() as unit:
        entities = unit.entities.list_as_of(as_of=as_of)
        language = unit.outline(as_of=as_of).language
        changes = unit.states.changes_before(as_of, entity_ids=[each.entity_id for each in entities])
        memories = [each.chunk for each in unit.memories.list_matching(wanted)]
        relationships = unit.relationships.list_as_of(as_of=as_of)
        threads = unit.threads.list_as_of(as_of=as_of, statuses=get_args(LoopStatus))
        times = scene_times(unit.scenes.tellings(as_of=as_of))
    return StoryBefore(
        as_of=as_of,
        language="zh" if language.lower().startswith("zh") else "en",
        entities=entities,
        changes=changes,
        memories=memories,
        relationships=relationships,
        threads=threads,
        knowledge=knowledge_rules(stores, project_id, as_of=as_of),
        plan=plan,
        pov=pov,
        story_times=times,
    )
