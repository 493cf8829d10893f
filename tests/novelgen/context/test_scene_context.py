"""The planned scene as the choice of memories sees it, and which memories and states enter its context."""

from typing import Literal

import pytest

from novelgen.context.labels import labels_for
from novelgen.context.retrieval_plan import RetrievalPlan
from novelgen.context.scene_context import AssembledStates, assemble_states, selection_scene, with_successors
from novelgen.language.language import estimate_tokens
from novelgen.memory.outline import OutlineScene, StoryOutline
from novelgen.memory.query_scores import lay_out
from novelgen.memory.search import NAME_KINDS, NAMES_PURPOSE, Candidate, SearchQuery, SearchResult
from novelgen.memory.select import Selection
from novelgen.models.context import ContextItem
from novelgen.models.memory import StoryMemoryChunk
from novelgen.models.position import END_OF_STORY
from novelgen.models.state import EntityStateSnapshot
from tests.support.stories import NOW, PROJECT, lighthouse_memory, lighthouse_request


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

    told = with_successors(Selection(chunks, items), list(found.values()), request, slots=slots, is_told=is_told)

    now = [each.holds_now for each in told.items]
    assert [each and (each.source_id, each.scene_index, each.text) for each in now] == expected


@pytest.mark.parametrize(
    ("slot", "left", "mark"),
    [
        ("C1.location_id", (1, 4), "scene:1:4"),
        ("C1.location_id", (1, 1), None),
        ("C2.location_id", (1, 4), None),
        (None, (1, 4), None),
    ],
)
def test_a_note_on_a_place_is_over_where_its_bearer_is_seen_elsewhere(
    slot: str | None, left: tuple[int, int], mark: str | None
) -> None:
    """In a later scene alone, and of that bearer."""
    note = link("N1", 2).model_copy(update={"slot_type": slot})
    item = ContextItem(chunk_id="N1", source_id="N1", text=note.content, tokens=3, prompt_index=0)
    request = lighthouse_request().model_copy(update={"chapter_index": 1, "scene_index": 9})
    selection = Selection((note,), (item,))
    places_left = {"C1.location_id": left}
    marked = with_successors(selection, [note], request, slots={}, is_told=True, places_left=places_left)
    assert marked.chunks[0].superseded_by == mark
    now = marked.items[0].holds_now
    assert (now is not None and now.scene_index) == (left[1] if mark else False)


ENGLISH = labels_for("en")

STATES = lighthouse_memory().get_entity_states(PROJECT, ["C0", "C1", "I0"], as_of=END_OF_STORY)


def assembled(states: list[EntityStateSnapshot], *, budget: int = 600, most: int = 12) -> AssembledStates:
    """Assemble states in English."""
    return assemble_states(
        states, {}, labels=ENGLISH, budget_tokens=budget, max_states=most, count_tokens=estimate_tokens
    )


def test_snapshots_keep_their_order_and_their_whole_state() -> None:
    """Nothing is cut out, the most wanted comes first, and a state of which all was cleared takes no place."""
    assert assembled(STATES).snapshots == STATES
    bare = EntityStateSnapshot(project_id=PROJECT, entity_type="item", entity_id="I9", timestamp=NOW)
    assert assembled([bare, *STATES], most=3).snapshots == STATES


def test_what_does_not_fit_is_left_out_by_name() -> None:
    """What is beyond max_states, and all of them for a budget of nothing, each with its reason."""
    result = assembled(STATES, most=2)
    assert [state.entity_id for state in result.snapshots] == ["C0", "C1"]
    assert [(item.id, item.reason) for item in result.left_out] == [("I0", "more than max_states=2")]
    result = assembled(STATES, budget=0)
    assert result.snapshots == []
    assert [item.id for item in result.left_out] == ["C0", "C1", "I0"]
    assert all("state_budget=0" in item.reason for item in result.left_out)


def test_attributes_kept_out_of_the_prompt_are_named() -> None:
    """A snapshot that is only partly in the prompt is whole in the JSON, and the report says what is missing."""
    rich = EntityStateSnapshot(
        project_id=PROJECT,
        entity_type="character",
        entity_id="C9",
        timestamp=NOW,
        state_data={"status": "alive", "goals": ["a very long list of goals " * 20]},
    )
    result = assembled([rich], budget=20)
    assert result.snapshots == [rich]
    assert "goals" in result.left_out[0].reason


def test_who_was_only_seen_keeps_a_place() -> None:
    """Seed 001.6: presence alone is a state, with its place where that is known, else with the scene."""
    seen = [
        EntityStateSnapshot(
            project_id=PROJECT,
            entity_type="character",
            entity_id=entity_id,
            timestamp=NOW,
            state_data={"presence": {"location_id": place, "chapter_index": 2, "scene_index": 1}},
        )
        for entity_id, place in (("C7", "L0"), ("C8", None))
    ]
    result = assembled(seen)
    assert result.snapshots == seen
    assert result.left_out == []
