"""The retrievers that need no query, over the demo story."""

from novelgen.memory.search import SearchRequest
from novelgen.models.position import StoryPosition
from novelgen.models.state import OpenLoop
from runtime.search.search import DUE_THREADS, thread_memories
from runtime.stores import MemoryStores

BEFORE = StoryPosition(5, 4)


def waiting(stores: MemoryStores) -> list[OpenLoop]:
    """Return the threads that are open on entering the scene, the most due first."""
    with stores.database("demo").read() as unit:
        return unit.threads.due(as_of=BEFORE, limit=100)


def places_found(stores: MemoryStores, *entity_ids: str) -> set[tuple[int | None, int | None]]:
    """Return the scenes whose memories the loop retriever lists for a scene about some entities."""
    asked = SearchRequest(project_id="demo", entity_ids=list(entity_ids), as_of=BEFORE)
    found = thread_memories(stores, asked).chunks.values()
    return {(chunk.chapter_index, chunk.scene_index) for chunk in found}


def places_of(loops: list[OpenLoop]) -> set[tuple[int | None, int | None]]:
    """Return where threads were planted and last moved."""
    return {
        place
        for loop in loops
        for place in ((loop.chapter_index, loop.scene_index), (loop.last_chapter_index, loop.last_scene_index))
    }


def test_the_most_due_threads_are_looked_up_whoever_the_scene_is_about(read_demo_stores: MemoryStores) -> None:
    """What waits longest and weighs most is found without any of its people, and no more than that."""
    loops = waiting(read_demo_stores)
    assert len(loops) > DUE_THREADS
    found = places_found(read_demo_stores, "nobody")
    assert found
    assert found <= places_of(loops[:DUE_THREADS])


def test_threads_of_the_scenes_people_come_too(read_demo_stores: MemoryStores) -> None:
    """A thread that is not due yet is found by those whom it is about; all lies before the scene."""
    loops = waiting(read_demo_stores)
    late = next(
        loop
        for loop in loops[DUE_THREADS:]
        if loop.related_entities and not places_of([loop]) & places_of(loops[:DUE_THREADS])
    )
    found = places_found(read_demo_stores, late.related_entities[0])
    assert (late.chapter_index, late.scene_index) in found
    assert all(BEFORE.admits(*place) for place in found)


def test_threads_of_the_request_are_not_read_again(read_demo_stores: MemoryStores) -> None:
    """Those of the outline give the same memories; of none there are none."""
    loops = waiting(read_demo_stores)
    request = SearchRequest(project_id="demo", entity_ids=["nobody"], as_of=BEFORE)
    requests = [request.model_copy(update={"open_loops": threads}) for threads in (None, loops, [])]
    answers = [list(thread_memories(read_demo_stores, of_threads).chunks) for of_threads in requests]
    assert answers[0] == answers[1]
    assert answers[0]
    assert answers[2] == []
