"""No row of another project ever leaves: look-alike names, shared databases and indexes, planted rows."""

import json
import sqlite3
import unicodedata
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from novelgen.models.context import MemoryContextRequest
from novelgen.models.entity import Entity
from novelgen.models.plan import ScenePlan
from novelgen.models.position import END_OF_STORY
from novelgen.models.record import SceneRecord
from runtime.context_chain import build_context_chain
from runtime.ingest.entities import store_entities
from runtime.ingest.ingest import ingest_scene
from runtime.ingest.scene_input import SceneInput
from runtime.memory_tools import get_entity_state_tool, get_recent_timeline_tool, search_story_memory_tool
from runtime.stores import MemoryStores
from tests.support.demo_project import demo_request, settings_for

LOOK_ALIKES = [
    "demo",
    "Demo",
    "demo2",
    "dem",
    "demo-",
    "demo_",
    "demo%",
    "dem_",
    "d mo",
    "dеmo",
    "demo'--",
    "西游记",
    "西游",
    unicodedata.normalize("NFC", "démo"),
]


def _secret(number: int) -> str:
    return f"Geheimnis{number}Ende"


@pytest.fixture(scope="module")
def stores(tmp_path_factory: pytest.TempPathFactory) -> Iterator[MemoryStores]:
    """All projects in one database and one index folder, each with one secret and otherwise the same words."""
    folder = tmp_path_factory.mktemp("projects")
    settings = settings_for(folder).model_copy(update={"database_url": f"sqlite:///{folder / 'all.db'}"})
    shared_index = folder / "index"
    shared_index.mkdir()
    with MemoryStores(settings) as opened:
        for number, name in enumerate(LOOK_ALIKES):
            opened.create_project(name, language="en")
            data = opened.paths(name).data
            data.mkdir(parents=True)
            (data / "vectors").symlink_to(shared_index)
            _tell(opened, name, _secret(number))
        yield opened


def _tell(stores: MemoryStores, project_id: str, secret: str) -> None:
    store_entities(stores, project_id, [Entity(entity_id="C0", entity_type="character", name="Anna")])
    record = SceneRecord.model_validate(
        {
            "chapter_index": 1,
            "scene_index": 1,
            "characters_present": ["C0"],
            "summary": [f"Anna hid the ring, {secret}."],
            "state_changes": [{"entity_id": "C0", "changes": {"mood": secret}}],
            "open_loops_created": [{"id": "OL0", "description": f"Where is the ring? {secret}"}],
            "memories": [{"memory_id": "M1", "content": f"Anna hid the ring, {secret}.", "entities": ["C0"]}],
        }
    )
    text = f"Anna hid the ring, {secret}."
    ingest_scene(stores, project_id, SceneInput(chapter_index=1, scene_index=1, text=text, record=record))


@pytest.mark.parametrize("number", range(len(LOOK_ALIKES)))
def test_look_alike_projects_see_their_own_rows_only(stores: MemoryStores, number: int) -> None:
    """Every tool and the whole context hold the project's own secret and nobody else's."""
    name = LOOK_ALIKES[number]
    plan = ScenePlan(scene_number=1, characters=["Anna"], purpose="Where is the ring that Anna hid?")
    request = MemoryContextRequest(project_id=name, chapter_index=2, scene_index=1, scene_plan=plan)
    context = build_context_chain(stores, write_files=False).invoke(request)
    state = get_entity_state_tool(name, "Anna", 2, stores=stores)
    assert state is not None
    told = "\n".join(
        [
            context.model_dump_json(),
            state.model_dump_json(),
            *(each.model_dump_json() for each in search_story_memory_tool(name, "ring", top_k=200, stores=stores)),
            *(each.model_dump_json() for each in get_recent_timeline_tool(name, 1, stores=stores)),
        ]
    )
    secrets = {other for other in range(len(LOOK_ALIKES)) if _secret(other) in told}
    assert secrets == {number}
    (hits,) = stores.vectors(name).query([stores.embeddings.embed_query("ring")], top_k=100)
    assert {hit.metadata["project_id"] for hit in hits} == {name}


@pytest.mark.slow
def test_rows_planted_in_the_database_under_another_name_stay_inside(demo_folder: Path) -> None:
    """Memories that were given to another project behind our back are found by neither retriever nor filter."""
    database = demo_folder / "demo" / "data" / "novel.db"
    with closing(sqlite3.connect(database)) as connection:
        rows = connection.execute("SELECT row_id, chunk_id FROM memory_chunks LIMIT 40").fetchall()
        stolen = [chunk_id for _, chunk_id in rows]
        marks = ",".join("?" * len(rows))
        for table, key in (
            ("memory_chunks", "row_id"),
            ("chunk_entities", "chunk_row_id"),
            ("chunk_tags", "chunk_row_id"),
        ):
            statement = f"UPDATE {table} SET project_id = 'planted' WHERE {key} IN ({marks})"
            connection.execute(statement, [row_id for row_id, _ in rows])
        connection.commit()
    with MemoryStores(settings_for(demo_folder)) as stores:
        context = build_context_chain(stores, write_files=False).invoke(demo_request("demo", 6, 1))
        found = search_story_memory_tool("demo", "the heron key", top_k=200, stores=stores)
        with stores.database("demo").read() as unit:
            listed = {each.chunk.chunk_id for each in unit.memories.list_matching()}
            by_id = unit.memories.by_ids(stolen, as_of=END_OF_STORY)
    told = {chunk.chunk_id for chunk in [*context.relevant_memories, *found]} | listed
    assert told
    assert told & set(stolen) == set()
    assert by_id == []
    assert all(chunk_id not in json.dumps(context.model_dump(mode="json")) for chunk_id in stolen)
