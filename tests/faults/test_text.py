"""Rows 25 and 49: text that stores cannot hold, and text that is too much."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from novelgen.errors import UserInputError
from novelgen.language.normalise import scrub_text
from novelgen.models.context import MemoryContextRequest
from novelgen.models.plan import ScenePlan
from novelgen.models.record import SceneRecord
from runtime.context_chain import build_context_chain
from runtime.doors.cli.error_handling import ExitCode
from runtime.doors.cli.main import novelgen
from runtime.files.file_reading import parse_json
from runtime.ingest.ingest import ingest_scene
from runtime.ingest.scene_input import SceneInput
from runtime.stores import MemoryStores
from tests.faults.matrix import covers
from tests.support.demo_project import FAKE_MEMORY, settings_for

PROJECT = "dirty"
DIRT = st.text(alphabet=st.sampled_from("\x00\x08\ud800\u202e\ufeff\uffff\r\u2028盐éx"))


@pytest.fixture(scope="module")
def stores(tmp_path_factory: pytest.TempPathFactory) -> Iterator[MemoryStores]:
    """Stores with an empty project."""
    with MemoryStores(settings_for(tmp_path_factory.mktemp("projects"))) as opened:
        opened.create_project(PROJECT, language="en")
        yield opened


@pytest.mark.slow
@covers(25)
@given(dirt=DIRT)
@settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_dirty_text_is_the_same_in_sql_index_and_file(stores: MemoryStores, dirt: str) -> None:
    """Whatever cannot be stored is scrubbed once, at the border, and never differently later."""
    fact = f"Ines{dirt}hid the key"
    memory = {"memory_id": "M1", "content": fact, "short": fact[:40], "tags": [f"tag{dirt}"]}
    file = json.dumps({"chapter_index": 1, "scene_index": 1, "memories": [memory]})
    record = SceneRecord.model_validate(parse_json(file, where="the record"))
    scene = SceneInput(chapter_index=1, scene_index=1, title=dirt, text=f"{fact}. {dirt}", record=record)
    ingest_scene(stores, PROJECT, scene)
    with stores.database(PROJECT).read() as unit:
        (stored,) = unit.scenes.list_as_of(with_text=True)
        chunks = {each.chunk.chunk_id: each.chunk for each in unit.memories.list_matching()}
    assert stored.text == scrub_text(f"{fact}. {dirt}")
    vector = stores.embeddings.embed_query(fact)
    (hits,) = stores.vectors(PROJECT).query([vector], top_k=5)
    assert scrub_text(fact) in {hit.content for hit in hits}
    assert all(hit.content == chunks[hit.chunk_id].content for hit in hits)
    plan = ScenePlan(scene_number=1, purpose=f"Where is the key? {dirt}", key_actions=[fact])
    context = build_context_chain(stores).invoke(
        MemoryContextRequest(project_id=PROJECT, chapter_index=2, scene_index=1, scene_plan=plan)
    )
    written = json.loads((stores.paths(PROJECT).folder / "scene_2_1_memory.json").read_text(encoding="utf-8"))
    contents = {chunk.content for chunk in context.relevant_memories}
    assert context.left_off is not None
    assert scrub_text(fact) in {*contents, context.left_off.text.split(".")[0]}
    assert {each["content"] for each in written["relevant_memories"]} == contents


@covers(49)
def test_a_scene_of_ten_megabytes_is_refused_by_the_library(stores: MemoryStores) -> None:
    """The error names the scene, its length and the limit; nothing of it is stored."""
    scene = SceneInput(chapter_index=9, scene_index=1, text="x" * 10_000_000)
    with pytest.raises(UserInputError, match=r"scene 1 of chapter 9 has 10,000,000 characters.*split it"):
        ingest_scene(stores, PROJECT, scene)
    with stores.database(PROJECT).read() as unit:
        assert all(each.chapter_index != 9 for each in unit.scenes.list_as_of())


@pytest.mark.slow
@covers(49)
def test_a_scene_of_ten_megabytes_is_refused_by_the_command_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One line that names the limit, and an exit code that says so; other chapters would be stored."""
    monkeypatch.setenv("NOVELGEN_MEMORY__EMBEDDING_MODEL", FAKE_MEMORY["embedding_model"])
    chapters = tmp_path / PROJECT / "chapters"
    chapters.mkdir(parents=True)
    (chapters / "chapter_001.txt").write_text("x" * 10_000_000, encoding="utf-8")
    result = CliRunner().invoke(novelgen, ["--projects-dir", str(tmp_path), "ingest", PROJECT])
    assert result.exit_code == ExitCode.FAILED
    assert "limit" in result.stderr
    assert len(result.stderr.strip().splitlines()[-1]) < 500
