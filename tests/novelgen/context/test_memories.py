"""The planned scene as the choice of memories sees it."""

from typing import Literal

import pytest

from novelgen.context.retrieval_plan import PlannedQuery, RetrievalPlan
from novelgen.context.scene_context import selection_scene
from novelgen.memory.outline import OutlineScene, StoryOutline
from novelgen.memory.query_scores import lay_out
from novelgen.memory.search import NAME_KINDS, NAMES_PURPOSE, Candidate, SearchResult
from novelgen.models.memory import StoryMemoryChunk


def test_scenes_keep_their_place_among_all_that_are_stored() -> None:
    """Every stored scene is counted, whether a candidate comes from it or not; a note without a scene has no place."""
    story = StoryOutline(project_id="demo", scenes=[OutlineScene(1, number) for number in range(1, 6)])
    chunks = [
        StoryMemoryChunk(chunk_id="M4", project_id="demo", content="A fact.", chapter_index=1, scene_index=4),
        StoryMemoryChunk(chunk_id="N1", project_id="demo", content="Canon.", content_type="note"),
    ]
    candidates = [Candidate(chunk) for chunk in chunks]

    planned = selection_scene(story, RetrievalPlan(), SearchResult(candidates=tuple(candidates)))

    table = lay_out(candidates, planned)
    assert planned.ordinal == 5
    assert (table.scenes, table.ordinals.tolist(), table.scene_of.tolist()) == (((1, 4),), [3], [0, -1])


@pytest.mark.parametrize("origin", ["rules", "llm"])
def test_names_alone_have_no_say_in_what_is_relevant(origin: Literal["rules", "llm"]) -> None:
    """A query of names, which has no embedding, is of the kinds that only find candidates, whoever asked it."""
    asked = PlannedQuery(text="行者 孙行者", purpose=NAMES_PURPOSE, origin=origin)

    planned = selection_scene(StoryOutline(project_id="demo"), RetrievalPlan(queries=[asked]), SearchResult())

    assert {query.kind for query in planned.queries} <= NAME_KINDS
