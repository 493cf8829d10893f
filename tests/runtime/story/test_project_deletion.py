"""Deleting a project: all of its own goes, nothing of any other, and what was cut short can be finished."""

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import create_engine, inspect, text

from novelgen.errors import ContextWriteError, DatabaseError, UnknownProjectError, UserInputError, VectorIndexOwnedError
from runtime.index.locations import ChromaFolder
from runtime.index.ownership import IndexOwnership
from runtime.ingest.entities import store_entities
from runtime.ingest.ingest import ingest_scenes
from runtime.settings import load_settings
from runtime.stores import MemoryStores
from runtime.story.projects import TRASH_FOLDER, StoryProjects, list_project_ids
from runtime.story.story import Story
from tests.runtime.agents.guild_story import ENTITIES, scene
from tests.support.databases import BOTH, postgres_database

KEPT, GONE = "guild", "gone"


def _open(folder: Path, **settings: Any) -> MemoryStores:
    return MemoryStores(load_settings(projects_dir=folder, memory={"embedding_model": "fake:32"}, **settings))


def _fill(stores: MemoryStores, project_id: str) -> None:
    StoryProjects(stores, project_id).create_project(name=project_id, language="en")
    store_entities(stores, project_id, ENTITIES, origin="author")
    ingest_scenes(stores, project_id, [scene(*place) for place in ((1, 1), (1, 2), (2, 1))])
    Story(stores, project_id).memories.add(content=f"The lamp of {project_id} is lit.")


def _found(stores: MemoryStores, project_id: str) -> list[str]:
    found = Story(stores, project_id).search(query="Which lamp is lit?")
    return [each.content for each in found if "lamp" in each.content]


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with two projects, each with a database of its own; not to be changed."""
    folder = tmp_path_factory.mktemp("filled") / "projects"
    with _open(folder) as opened:
        for project_id in (KEPT, GONE):
            _fill(opened, project_id)
    return folder


@pytest.fixture
def stores(filled: Path, tmp_path: Path) -> Iterator[MemoryStores]:
    """The two projects, of the test's own."""
    with _open(Path(shutil.copytree(filled, tmp_path / "projects"))) as opened:
        yield opened


@pytest.fixture(params=["sqlite", *BOTH[1:]])
def shared_url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """One database for all projects."""
    if request.param == "sqlite":
        yield f"sqlite:///{tmp_path / 'all.db'}"
        return
    with postgres_database(request.getfixturevalue("postgres_url")) as url:
        yield url


def _rows(url: str, project_id: str) -> dict[str, int]:
    """How many rows of each table are a project's."""
    engine = create_engine(url)
    with engine.connect() as connection:
        tables = [
            each
            for each in inspect(connection).get_table_names()
            if "project_id" in {column["name"] for column in inspect(connection).get_columns(each)}
        ]
        counted = {
            table: connection.execute(
                text(f"SELECT count(*) FROM {table} WHERE project_id = :project_id"), {"project_id": project_id}
            ).scalar_one()
            for table in tables
        }
    engine.dispose()
    return counted


@pytest.mark.slow
def test_a_project_goes_with_its_folder_and_no_other(stores: MemoryStores) -> None:
    """Rows, index and files of one project are gone; the other one answers as before, from the same program."""
    before = Story(stores, KEPT).project.export_documents()
    Story(stores, GONE).knowledge.table()
    deleted = StoryProjects(stores, GONE).delete_project(confirm=GONE)
    assert (deleted.scenes, deleted.files > 3) == (3, True)
    assert list_project_ids(stores) == [KEPT]
    assert [each.name for each in stores.settings.projects_dir.iterdir()] == [KEPT]
    with pytest.raises(UnknownProjectError):
        stores.database(GONE)
    assert Story(stores, KEPT).project.export_documents() == before
    assert f"The lamp of {KEPT} is lit." in _found(stores, KEPT)


@pytest.mark.slow
def test_a_name_that_is_free_again_begins_anew(stores: MemoryStores) -> None:
    """A project made under the id of a deleted one holds nothing of it, although the program read it before."""
    Story(stores, GONE).knowledge.table()
    StoryProjects(stores, GONE).delete_project(confirm=GONE)
    StoryProjects(stores, GONE).create_project(name="Another", language="en")
    assert _found(stores, GONE) == []
    assert Story(stores, GONE).knowledge.table().rows == []
    Story(stores, GONE).memories.add(content="A lamp is lit elsewhere.")
    assert _found(stores, GONE) == ["A lamp is lit elsewhere."]


def test_without_its_id_nothing_goes(stores: MemoryStores) -> None:
    """Whoever does not write the id deletes nothing."""
    for confirm in ("", "gon", "GONE", "guild"):
        with pytest.raises(UserInputError, match="confirm"):
            StoryProjects(stores, GONE).delete_project(confirm=confirm)
        assert list_project_ids(stores) == [GONE, KEPT]


def test_what_is_not_there_cannot_be_deleted(stores: MemoryStores) -> None:
    """An unknown id is refused, and a folder that is no project stays."""
    other = stores.settings.projects_dir / "photos"
    other.mkdir()
    (other / "lamp.png").write_bytes(b"x")
    for name in ("nobody", "photos"):
        with pytest.raises(UnknownProjectError):
            StoryProjects(stores, name).delete_project(confirm=name)
    assert (other / "lamp.png").exists()


def test_an_index_that_another_process_owns_keeps_its_project(stores: MemoryStores) -> None:
    """While another program has the index open nothing is deleted; after that it is."""
    stores.close()
    ownership = IndexOwnership(ChromaFolder(stores.paths(GONE).vectors))
    ownership.acquire()
    with pytest.raises(VectorIndexOwnedError):
        StoryProjects(stores, GONE).delete_project(confirm=GONE)
    assert _found(stores, GONE)
    ownership.release()
    stores.close()
    StoryProjects(stores, GONE).delete_project(confirm=GONE)
    assert list_project_ids(stores) == [KEPT]


def test_a_damaged_database_goes_too(stores: MemoryStores) -> None:
    """What cannot be read any more can be deleted."""
    stores.close()
    stores.paths(GONE).database.write_bytes(b"no database" * 500)
    with pytest.raises(DatabaseError):
        stores.database(GONE)
    assert StoryProjects(stores, GONE).delete_project(confirm=GONE).scenes == 0
    assert list_project_ids(stores) == [KEPT]


def test_a_folder_that_lies_elsewhere_stays(stores: MemoryStores, tmp_path: Path) -> None:
    """A link in the folder of the projects goes; where it leads is somebody else's."""
    stores.close()
    elsewhere = stores.paths(GONE).folder.rename(tmp_path / "elsewhere")
    stores.paths(GONE).folder.symlink_to(elsewhere)
    StoryProjects(stores, GONE).delete_project(confirm=GONE)
    assert list_project_ids(stores) == [KEPT]
    assert (elsewhere / "settings.json").exists()


def test_what_a_deletion_left_goes_with_the_next(stores: MemoryStores) -> None:
    """Files of a deletion that was killed while it removed them are no project, and the next one removes them."""
    trash = stores.settings.projects_dir / TRASH_FOLDER
    (trash / "a1b2").mkdir(parents=True)
    (trash / "a1b2" / "novel.db").write_bytes(b"x")
    assert list_project_ids(stores) == [GONE, KEPT]
    StoryProjects(stores, GONE).delete_project(confirm=GONE)
    assert not trash.exists()


@pytest.mark.slow
def test_of_a_shared_database_only_its_own_rows_go(tmp_path: Path, shared_url: str) -> None:
    """Where many projects share one database, only the rows of one go; words and meaning of the other are found."""
    with _open(tmp_path / "projects", database_url=shared_url) as stores:
        for project_id in (KEPT, GONE):
            _fill(stores, project_id)
        before, documents = _rows(shared_url, KEPT), Story(stores, KEPT).project.export_documents()
        assert {"scenes", "memory_chunks", "entities", "index_outbox"} <= {
            table for table, count in _rows(shared_url, GONE).items() if count
        }
        StoryProjects(stores, GONE).delete_project(confirm=GONE)
        assert not any(_rows(shared_url, GONE).values())
        assert _rows(shared_url, KEPT) == before
        assert Story(stores, KEPT).project.export_documents() == documents
        assert f"The lamp of {KEPT} is lit." in _found(stores, KEPT)
        _fill(stores, GONE)
        assert f"The lamp of {GONE} is lit." in _found(stores, GONE)
        assert f"The lamp of {KEPT} is lit." not in _found(stores, GONE)


@pytest.mark.slow
def test_a_deletion_that_was_cut_short_is_finished(
    tmp_path: Path, shared_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the rows are gone and the folder is not, the project is still told of, and the same call ends it."""
    with _open(tmp_path / "projects", database_url=shared_url) as stores:
        for project_id in (KEPT, GONE):
            _fill(stores, project_id)

        def full_disk(self: Path, target: Path) -> None:
            raise OSError(28, "No space left on device")

        with monkeypatch.context() as patched:
            patched.setattr(Path, "rename", full_disk)
            with pytest.raises(ContextWriteError, match="delete it again"):
                StoryProjects(stores, GONE).delete_project(confirm=GONE)
        assert list_project_ids(stores) == [GONE, KEPT]
        StoryProjects(stores, GONE).delete_project(confirm=GONE)
        assert list_project_ids(stores) == [KEPT]
        assert _found(stores, KEPT)
