"""The planned scene as the choice of memories sees it."""

from typing import Literal

import pytest

from novelgen.context.retrieval_plan import RetrievalPlan
from novelgen.context.scene_context import selection_scene, with_what_holds
from novelgen.memory.outline import OutlineScene, StoryOutline
from novelgen.memory.query_scores import lay_out
from novelgen.memory.search import NAME_KINDS, NAMES_PURPOSE, Candidate, SearchQuery, SearchResult
from novelgen.memory.select import Selection
from novelgen.models.context import ContextItem
from novelgen.models.memory import StoryMemoryChunk
from tests.support.stories import lighthouse_request


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
    asked = SearchQuery(text="行者 孙行者", purpose=NAMES_PURPOSE, origin=origin)

    planned = selection_scene(StoryOutline(project_id="demo"), RetrievalPlan(queries=[asked]), SearchResult())

    assert {query.kind for query in planned.queries} <= NAME_KINDS


def link(name: str, scene: int, newer: str | None = None) -> StoryMemoryChunk:
    """Return a memory of chapter 1 that another one ended."""
    return StoryMemoryChunk(
        chunk_id=f"k-{name}", source_id=name, project_id="demo",
        content=f"The key is told by {name}.", short=f"{name}: the key",
        chapter_index=1, scene_index=scene, slot_type="I0.holder", superseded_by=newer,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("chosen", "is_told", "expected"),
    [
        (["M1"], True, [("M3", 3, "M3: the key")]),
        (["M1", "M2"], True, [("M3", 3, "M3: the key"), ("M3", 3, "")]),
        (["M1", "M3"], True, [("M3", 3, ""), None]),
        (["M1"], False, [("M3", 3, "")]),
        (["M5"], True, [None]),
        (["N1"], True, [("N2", 2, "")]),
        (["M7"], True, [("M8", 2, "")]),
        (["S1"], True, [("S2", 4, "held by: Ben")]),
        (["S1"], False, [("S2", 4, "")]),
    ],
)
def test_what_came_in_the_place_of_a_memory_is_told_once(
    chosen: list[str], is_told: bool, expected: list[tuple[str, int, str] | None]
) -> None:
    """The last that was found, in words where no other line has them and it still holds, never from the scene on."""
    found = {
        each.source_id or "": each
        for each in (
            *(link("M1", 1, "M2"), link("M2", 2, "M3"), link("M3", 3)),
            link("N1", 1, "N2"),
            link("N2", 2).model_copy(update={"short": "A lamp burns"}),
            link("S1", 1, "S2").model_copy(update={"slot_type": "I1.holder"}),
            *(link("M5", 1, "M6"), link("M6", 99), link("M7", 1, "M8"), link("M8", 2, "M9")),
        )
    }
    chunks = tuple(found[each] for each in chosen)
    items = tuple(
        ContextItem(chunk_id=each.chunk_id, source_id=each.source_id, text=each.content, tokens=3, prompt_index=0)
        for each in chunks
    )
    slots = {"I1.holder": ((1, 4), "held by: Ben")}
    request = lighthouse_request().model_copy(update={"chapter_index": 1, "scene_index": 9})

    told = with_what_holds(Selection(chunks, items), list(found.values()), request, slots=slots, is_told=is_told)

    now = [each.holds_now for each in told.items]
    assert [each and (each.source_id, each.scene_index, each.text) for each in now] == expected
