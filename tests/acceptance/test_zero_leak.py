"""Nothing of the planned scene or later reaches a context: a mark is planted wherever a later scene can put one."""

import contextlib
import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from novelgen.context.prompt_block import render_context
from novelgen.errors import UserInputError
from novelgen.memory.search import SearchQuery, SearchRequest
from novelgen.models.context import MemoryContextRequest
from novelgen.models.entity import Entity, EntityAlias
from novelgen.models.plan import ScenePlan
from novelgen.models.position import END_OF_STORY, StoryPosition
from novelgen.models.record import SceneRecord
from runtime.context_chain import build_context_chain
from runtime.doors.arguments import arguments_of, read_arguments
from runtime.doors.operations import BY_NAME
from runtime.ingest.entities import store_entities
from runtime.ingest.ingest import ingest_scenes
from runtime.ingest.scene_input import SceneInput
from runtime.memory_tools import get_entity_state_tool, get_recent_timeline_tool, search_story_memory_tool
from runtime.search.search import LISTING_RETRIEVERS, RetrieverAnswer, search_words
from runtime.stores import MemoryStores
from runtime.story.memories import StoryMemories
from tests.acceptance.test_memory_context_retrieval import damage_database, damage_index
from tests.support.demo_project import settings_for
from tests.support.scripted_chat_model import answering

PROJECT = "marked"
CHAPTERS, SCENES = 4, 3
CUTS = [(1, 1), (2, 1), (3, 2), (4, 3)]
MARK = re.compile(r"Zeichen(\d+)x(\d+)")


def mark(chapter: int, scene: int) -> str:
    """Return the mark of a scene: a word that occurs in that scene and in what came from it alone."""
    return f"Zeichen{chapter}x{scene}"


def record(chapter: int, scene: int) -> SceneRecord:
    """Return a record that carries the scene's mark in every field that a context could show."""
    word = mark(chapter, scene)
    number = chapter * 10 + scene
    return SceneRecord.model_validate(
        {
            "chapter_index": chapter,
            "scene_index": scene,
            "title": f"Title {word}",
            "pov_character_id": "C0",
            "location_id": "L0",
            "story_time": word,
            "characters_present": ["C0", "C1", f"C{number}"],
            "summary": [f"Anna and Boris at the mill, {word}."],
            "key_events": [f"Anna speaks to Boris about the ring, {word}"],
            "emotional_beats": [word],
            "state_changes": [
                {"entity_id": "C0", "changes": {"status": word, "knowledge": [word], f"trait_{word}": word}},
                {"entity_id": "I0", "changes": {"holder": f"C{number}"}},
            ],
            "relationship_changes": [
                {
                    "character_a": "C0",
                    "character_b": "C1",
                    "relationship_type": word,
                    "status": word,
                    "perspective_a": word,
                    "perspective_b": word,
                    "event": word,
                }
            ],
            "open_loops_created": [
                {
                    "id": f"OL{number}",
                    "description": f"Who wants the ring? {word}",
                    "importance": "critical",
                    "related_characters": ["C0"],
                }
            ],
            "open_loops_advanced": [{"id": "OL11", "note": word}] if number > 11 else [],
            "memories": [
                {
                    "memory_id": f"M{number}",
                    "event_type": "secret_revealed",
                    "content": f"Anna gave Boris the ring at the mill, {word}.",
                    "short": f"Anna gave Boris the ring {word}",
                    "importance": 10,
                    "entities": ["C0", "C1", "I0"],
                    "tags": [word],
                    "supersedes": f"M{number - 1}" if scene > 1 else None,
                    "slot_type": "I0.holder",
                }
            ],
        }
    )


def newcomer(chapter: int, scene: int) -> Entity:
    """Return a character who first appears in the scene and is named after its mark."""
    word = mark(chapter, scene)
    return Entity(
        entity_id=f"C{chapter * 10 + scene}",
        entity_type="character",
        name=f"Count {word}",
        role=f"traitor {word}",
        description=f"Really {word}.",
        first_chapter=chapter,
        first_scene=scene,
    )


def entities() -> list[Entity]:
    """Anna, Boris, the mill and the ring, whose aliases come up one by one, and a newcomer in every scene."""
    places = [(chapter, scene) for chapter in range(1, CHAPTERS + 1) for scene in range(1, SCENES + 1)]
    aliases = [EntityAlias(alias=f"Lady {mark(*place)}") for place in places]
    return [
        Entity(entity_id="C0", entity_type="character", name="Anna", aliases=aliases),
        Entity(entity_id="C1", entity_type="character", name="Boris"),
        Entity(entity_id="L0", entity_type="location", name="the mill"),
        Entity(entity_id="I0", entity_type="item", name="the ring"),
        *(newcomer(*place) for place in places),
    ]


def scene(chapter: int, number: int, *, with_record: bool) -> SceneInput:
    """Return a scene whose text names its mark, its newcomer and a new alias of Anna's."""
    word = mark(chapter, number)
    text = (
        f"Anna met Boris at the mill. She showed him the ring and spoke of {word}. "
        f"Count {word} came in. From now on they called her Lady {word}. Anna promised Boris {word}."
    )
    return SceneInput(
        chapter_index=chapter,
        scene_index=number,
        title=f"Title {word}",
        text=text,
        record=record(chapter, number) if with_record else None,
    )


def tell(stores: MemoryStores, *, with_records: bool) -> None:
    """Ingest the marked story, last chapter first, so that no order of writing hides a leak, and a late note."""
    stores.create_project(PROJECT, language="en")
    store_entities(stores, PROJECT, entities())
    for chapter in range(CHAPTERS, 0, -1):
        scenes = [scene(chapter, number, with_record=with_records) for number in range(1, SCENES + 1)]
        ingest_scenes(stores, PROJECT, scenes)
    text = f"Anna's ring is cursed, {mark(4, 2)}."
    StoryMemories(stores, PROJECT).add(text, attached_to=["Anna"], start=(4, 3), keys=["ring"], importance=9)


def build(folder: Path, *, with_records: bool) -> None:
    """Make a projects folder with the marked story."""
    with MemoryStores(settings_for(folder)) as stores:
        tell(stores, with_records=with_records)


@pytest.fixture(scope="module", params=[True, False], ids=["records", "text alone"])
def marked_folder(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A projects folder with the marked story, with records or by its text alone."""
    folder = tmp_path_factory.mktemp("marked")
    build(folder, with_records=request.param)
    return folder


@pytest.fixture(scope="module")
def stores(marked_folder: Path) -> Iterator[MemoryStores]:
    """Open stores over the marked story."""
    with MemoryStores(settings_for(marked_folder)) as opened:
        yield opened


def request_at(chapter: int, number: int) -> MemoryContextRequest:
    """Return a plan that names everything that could draw a later fact in."""
    return MemoryContextRequest(
        project_id=PROJECT,
        chapter_index=chapter,
        scene_index=number,
        scene_plan=ScenePlan(
            scene_number=number,
            location="the mill",
            characters=["Anna", "Boris", "the Count", "the Lady"],
            purpose="Anna gives Boris the ring and keeps her promise",
            key_actions=["Anna gave Boris the ring at the mill", "Who wants the ring?", "Count and Lady"],
        ),
    )


def leaked(text: str, chapter: int, number: int) -> set[str]:
    """Return the marks in a text that belong to the planned scene or to a later one."""
    return {found.group() for found in MARK.finditer(text) if (int(found[1]), int(found[2])) >= (chapter, number)}


def everything(context: Any, prompts: list[list[Any]]) -> str:
    """Return all that a run lets out: JSON, both prompt blocks, and what the model was told."""
    blocks = [render_context(context, language=language) for language in ("en", "zh")]
    told = [str(message.content) for messages in prompts for message in messages]
    return "\n".join([context.model_dump_json(), *blocks, *told])


SELECTION = '{"numbers": [1, 2, 3]}'
"""The answer of a model that chooses memories."""
PLAN = json.dumps({"entities": ["C0"], "events": ["the ring"], "queries": [{"query": "Anna and Boris, the ring"}]})


@pytest.mark.slow
@pytest.mark.parametrize("cut", CUTS)
def test_no_later_mark_is_in_context_prompt_card_or_name(stores: MemoryStores, cut: tuple[int, int]) -> None:
    """Memories, states, timeline, names, receipts, left-outs and the planner's prompt are all cut."""
    model = answering(PLAN, SELECTION)
    context = build_context_chain(stores, model=model, write_files=False).invoke(request_at(*cut))
    text = everything(context, model.prompts)
    assert leaked(text, *cut) == set()
    assert [issue for issue in context.report.issues if issue.kind != "unresolved"] == []
    if cut > (1, 1):
        assert leaked(text, 1, 1), "the earlier marks must be found, or the test proves nothing"


@pytest.mark.parametrize("cut", CUTS)
def test_every_tool_is_cut(stores: MemoryStores, cut: tuple[int, int]) -> None:
    """Search, states and timeline bring no later mark by themselves, and a later name is nobody's."""
    position = StoryPosition(*cut)
    found = search_story_memory_tool(PROJECT, "Anna, Boris, the ring", top_k=200, as_of=position, stores=stores)
    states = [get_entity_state_tool(PROJECT, name, *cut, stores=stores) for name in ("C0", "I0", "Boris")]
    timeline = get_recent_timeline_tool(PROJECT, cut[0], context_window=5, as_of=position, stores=stores)
    dumped = [each.model_dump_json() for each in [*found, *states, *timeline] if each is not None]
    assert leaked("\n".join(dumped), *cut) == set()
    for title in ("Lady", "Count"):
        assert get_entity_state_tool(PROJECT, f"{title} {mark(4, 3)}", *cut, stores=stores) is None


ASKED = {
    "query": "Anna, Boris, the ring",
    "entity_id": "Anna",
    "character_id": "Anna",
    "character_a": "Anna",
    "character_b": "Boris",
    "keep": "Anna",
    "gone": "Boris",
    "chapter_index": 3,
    "memory_id": "M11",
    "loop_id": "OL11",
}
CUT_OPERATIONS = [
    name
    for name, each in BY_NAME.items()
    if not (each.changes or each.is_of_character) and "as_of" in arguments_of(each.function).model_fields
]


@pytest.mark.parametrize("name", CUT_OPERATIONS)
def test_every_operation_is_cut(stores: MemoryStores, name: str) -> None:
    """Whatever any door reads as of a position has no later mark."""
    operation = BY_NAME[name]
    model = arguments_of(operation.function, operation.without)
    asked = {each: ASKED[each] for each, info in model.model_fields.items() if info.is_required()}
    values = read_arguments(model, {**asked, "as_of": "3:2"})
    told = ""
    # Of a story of text alone nobody knows the memory and the thread that are asked for.
    with contextlib.suppress(UserInputError):
        told = operation.answer(operation.function(operation.part(stores, PROJECT), **values)).model_dump_json()
    assert leaked(told, 3, 2) == set()


@pytest.mark.parametrize("retriever", [search_words, *LISTING_RETRIEVERS.values()])
def test_every_retriever_is_cut_by_itself(stores: MemoryStores, retriever: Callable[..., RetrieverAnswer]) -> None:
    """What one lists has no later mark before anything behind it cuts once more, and is all there at the end."""
    asked = [SearchQuery(text=f"Anna, Boris, the ring, {mark(1, 1)} {mark(4, 3)}")]
    listed = {}
    for as_of in (StoryPosition(3, 2), END_OF_STORY):
        request = SearchRequest(project_id=PROJECT, queries=asked, entity_ids=["C0", "I0", "book"], as_of=as_of)
        ids = retriever(stores, request).hits
        with stores.database(PROJECT).read() as unit:
            listed[as_of] = "\n".join(each.content for each in unit.memories.by_ids(ids, as_of=END_OF_STORY))
    assert leaked(listed[StoryPosition(3, 2)], 3, 2) == set()
    if listed[END_OF_STORY]:
        assert leaked(listed[END_OF_STORY], 3, 2), "the later marks must be there, or the test proves nothing"


@pytest.mark.slow
@pytest.mark.parametrize("damage", [damage_index, damage_database], ids=["no index", "no database"])
def test_the_cut_holds_while_a_store_is_down(tmp_path: Path, damage: Any) -> None:
    """Fallbacks are cut like everything else."""
    build(tmp_path, with_records=True)
    damage(tmp_path / PROJECT)
    with MemoryStores(settings_for(tmp_path)) as stores:
        model = answering(PLAN, SELECTION, PLAN, SELECTION)
        context = build_context_chain(stores, model=model, write_files=False).invoke(request_at(3, 2))
    assert context.relevant_memories
    assert leaked(everything(context, model.prompts), 3, 2) == set()


@pytest.mark.slow
def test_the_context_is_the_same_whether_or_not_the_future_exists(
    stores: MemoryStores, marked_folder: Path, tmp_path: Path
) -> None:
    """Rewriting chapter 2 when chapter 4 exists gives what it gave when chapter 2 was next."""
    is_recorded = stores.database(PROJECT).reading(
        lambda unit: unit.scenes.require(StoryPosition(1, 1)).record_origin == "supplied"
    )
    with MemoryStores(settings_for(tmp_path)) as young:
        young.create_project(PROJECT, language="en")
        store_entities(young, PROJECT, entities())
        scenes = [scene(1, number, with_record=is_recorded) for number in range(1, SCENES + 1)]
        ingest_scenes(young, PROJECT, scenes)
        then = build_context_chain(young, write_files=False).invoke(request_at(2, 1))
    now = build_context_chain(stores, write_files=False).invoke(request_at(2, 1))
    assert [item.source_id for item in now.report.items] == [item.source_id for item in then.report.items]
    assert [item.score_parts for item in now.report.items] == [item.score_parts for item in then.report.items]
    assert [state.state_data for state in now.entity_states] == [state.state_data for state in then.entity_states]
