"""The planned scene as the choice of memories sees it."""

from novelgen.context.retrieval_plan import RetrievalPlan
from novelgen.context.scene_context import selection_scene
from novelgen.memory.outline import OutlineScene, StoryOutline
from novelgen.memory.search import Candidate, SceneCast, SearchResult
from novelgen.models.memory import StoryMemoryChunk


def test_scenes_of_candidates_keep_their_place_among_all_that_are_stored() -> None:
    """Scenes that no candidate comes from are left out, but counted; a note without a scene has none."""
    story = StoryOutline(
        project_id="demo", scenes=[OutlineScene(1, number, participants=("C0",)) for number in range(1, 6)]
    )
    chunks = [
        StoryMemoryChunk(chunk_id="M4", project_id="demo", content="A fact.", chapter_index=1, scene_index=4),
        StoryMemoryChunk(chunk_id="N1", project_id="demo", content="Canon.", content_type="note"),
    ]
    search = SearchResult(candidates=tuple(Candidate(chunk) for chunk in chunks))

    planned = selection_scene(story, RetrievalPlan(), search)

    assert planned.ordinal == 5
    assert planned.scenes == (SceneCast(1, 4, 3, frozenset({"C0"})),)
