"""The bundle of stores."""

import shutil
import sqlite3
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, cast

import pytest
from langchain_core.embeddings import Embeddings
from langchain_core.vectorstores import InMemoryVectorStore

from novelgen.errors import (
    ConfigurationError,
    ForeignDatabaseError,
    UnknownProjectError,
    UserInputError,
    VectorIndexError,
)
from runtime.index.locations import ChromaFolder, ChromaServer
from runtime.index.same_process import SameProcessIndex
from runtime.settings import load_settings
from runtime.stores import MemoryStores
from runtime.story.condition import diagnose
from runtime.story.projects import ProjectStores
from runtime.story.story import Story
from tests.runtime.index.conftest import embedded, process_of

MOMENT = datetime(2026, 2, 3, tzinfo=UTC)


def _stores(folder: Path, **settings: Any) -> MemoryStores:
    memory = {"embedding_model": "fake:16", **settings.pop("memory", {})}
    return MemoryStores(load_settings(projects_dir=folder, memory=memory, **settings), clock=lambda: MOMENT)


@pytest.fixture
def stores(tmp_path: Path) -> Iterator[MemoryStores]:
    """Stores in an empty folder that does not exist yet."""
    with _stores(tmp_path / "projects") as opened:
        yield opened


@pytest.mark.parametrize(
    ("vector_store", "kind"),
    [
        ({}, "embedded per project"),
        ({"url": "http://user:secret@localhost:1"}, "Chroma server"),
        ({"provider": "my_stores:open_store"}, "my_stores:open_store"),
    ],
)
def test_a_diagnosis_names_the_kind_of_vector_index(tmp_path: Path, vector_store: dict[str, str], kind: str) -> None:
    """An import path is no index of Chroma's, and no address is told."""
    with _stores(tmp_path, memory={"vector_store": vector_store}) as stores:
        assert diagnose(stores, ask_network=False).settings["vector index"] == kind


def test_a_diagnosis_names_a_vector_store_of_the_program(tmp_path: Path) -> None:
    """One that a Python program passes stands in no setting."""

    def in_memory(_name: str, embeddings: Embeddings) -> InMemoryVectorStore:
        return InMemoryVectorStore(embeddings)

    with MemoryStores(load_settings(projects_dir=tmp_path), vector_store=SameProcessIndex(in_memory)) as stores:
        assert diagnose(stores, ask_network=False).settings["vector index"] == "vector store of the program"


def test_a_created_project_has_its_own_database(stores: MemoryStores, tmp_path: Path) -> None:
    """Each project's database lies in its folder, and Chinese ids are fine."""
    project = stores.create_project("西游记", name="西游", language="zh")
    assert (project.name, project.language, project.created_at) == ("西游", "zh", MOMENT)
    assert (tmp_path / "projects" / "西游记" / "data" / "novel.db").is_file()
    stores.create_project("other")
    assert stores.database("西游记").database is not stores.database("other").database
    assert stores.project_ids() == ["other", "西游记"]


def test_a_database_is_opened_once(stores: MemoryStores) -> None:
    """All threads get the same manager."""
    stores.create_project("a")
    stores.close()
    with ThreadPoolExecutor(8) as pool:
        managers = list(pool.map(lambda _: stores.database("a"), range(32)))
    assert len({id(manager.database) for manager in managers}) == 1


def test_an_unknown_project_creates_nothing(stores: MemoryStores, tmp_path: Path) -> None:
    """Asking for a project that is not there leaves the disk as it was."""
    for ask in (stores.database, stores.vectors):
        with pytest.raises(UnknownProjectError, match=r"no project 'nowhere' in .*; create it first"):
            ask("nowhere")
    assert not (tmp_path / "projects").exists()
    assert stores.project_ids() == []


def test_an_empty_database_is_no_project(stores: MemoryStores) -> None:
    """A database without the project's row, as a kill can leave it, is unknown and may still be created."""
    stores.create_project("a")
    source, target = stores.paths("a").database, stores.paths("b").database
    target.parent.mkdir(parents=True)
    stores.close()
    target.write_bytes(source.read_bytes())
    with closing(sqlite3.connect(target)) as connection, connection:
        connection.execute("DELETE FROM projects")
    with pytest.raises(UnknownProjectError, match="nothing of project 'b' is stored yet"):
        stores.database("b")
    assert stores.create_project("b").project_id == "b"
    assert stores.database("b").database is not stores.database("a").database


@pytest.mark.slow
def test_a_copied_folder_is_told_as_such(stores: MemoryStores, tmp_path: Path) -> None:
    """Whose the database is, by every way to it, and how a project is copied; what is stored from now on is its own."""
    stores.create_project("demo")
    shutil.copytree(tmp_path / "projects" / "demo", tmp_path / "projects" / "mycopy")
    told = "is that of 'demo', as in a copied or renamed folder.*novelgen import FOLDER --project mycopy"
    with pytest.raises(ForeignDatabaseError, match=told):
        stores.database("mycopy")
    with pytest.raises(ForeignDatabaseError, match=told):
        Story(stores, "mycopy").check("Ada slept.", chapter_index=1, scene_index=1)
    [finding] = [each for each in diagnose(stores, "mycopy").findings if each.level == "broken"]
    assert (finding.kind, "is that of 'demo'" in finding.message) == ("database_foreign", True)
    with closing(ProjectStores({"projects_dir": tmp_path / "projects"})) as shelf:
        problems = {each.project_id: each.problem for each in shelf.overviews()}
    assert problems["demo"] == ""
    assert "is that of 'demo'" in problems["mycopy"]
    stores.create_project("mycopy")
    stores.database("mycopy")


def test_a_project_cannot_be_created_twice(stores: MemoryStores) -> None:
    """The second creation is refused and harms nothing."""
    stores.create_project("a", name="first")
    with pytest.raises(UserInputError, match="'a' exists already"):
        stores.create_project("a", name="second")
    with stores.database("a").read() as unit:
        assert unit.projects.require().name == "first"


def test_other_folders_are_no_projects(stores: MemoryStores, tmp_path: Path) -> None:
    """Folders without a database, and odd names, are left out of the list."""
    stores.create_project("a")
    (tmp_path / "projects" / "notes").mkdir()
    (tmp_path / "projects" / ".hidden" / "data").mkdir(parents=True)
    (tmp_path / "projects" / ".hidden" / "data" / "novel.db").touch()
    (tmp_path / "projects" / "readme.md").touch()
    assert stores.project_ids() == ["a"]


def test_one_database_can_hold_all_projects(tmp_path: Path) -> None:
    """With database_url projects share a database, and unknown ones are still unknown."""
    url = f"sqlite:///{tmp_path / 'all.db'}"
    with _stores(tmp_path / "projects", database_url=url) as stores:
        stores.create_project("a")
        stores.create_project("b")
        assert stores.database("a").database is stores.database("b").database
        assert stores.project_ids() == ["a", "b"]
        with pytest.raises(UnknownProjectError, match="no project 'c' is stored"):
            stores.database("c")
        assert not (tmp_path / "projects").exists()


@pytest.mark.slow
def test_indexes_are_made_for_the_settings(stores: MemoryStores, tmp_path: Path) -> None:
    """A project's index lies beside its database, or on the server that is set; index and model are made once."""
    stores.create_project("a")
    index = stores.vectors("a")
    assert process_of(index) is process_of(stores.vectors("a"))
    assert embedded(index) == ChromaFolder(stores.paths("a").vectors)
    assert stores.embedding_identity == ("fake:16", 16)
    assert index.collection.dimension == 16
    assert stores.embeddings is stores.embeddings
    with _stores(tmp_path / "projects", memory={"vector_store": {"url": "http://127.0.0.1:9"}}) as served:
        assert process_of(served.vectors("a")).location == ChromaServer("http://127.0.0.1:9")


def test_a_server_index_cannot_be_told_without_the_database(tmp_path: Path) -> None:
    """The id that names it there is kept in SQL; an index of another database is never asked instead."""
    memory = {"vector_store": {"url": "http://127.0.0.1:9"}}
    with _stores(tmp_path, memory=memory) as stores:
        stores.create_project("a")
    stores.paths("a").database.write_bytes(b"no database" * 100)
    with pytest.raises(VectorIndexError, match=r"of project 'a' stands in the database, which cannot be read"):
        stores.vectors("a")


@pytest.mark.slow
def test_a_wrong_model_name_is_said_when_it_is_needed(tmp_path: Path) -> None:
    """Databases work although the embedding model is misspelt; the index says what is wrong."""
    with _stores(tmp_path, memory={"embedding_model": "fake:x"}) as stores:
        stores.create_project("a")
        with pytest.raises(ConfigurationError, match="fake:x"):
            stores.vectors("a")


def test_closed_stores_open_again(stores: MemoryStores) -> None:
    """Closing twice is harmless, and what is asked for afterwards is opened anew."""
    stores.create_project("a")
    before = stores.database("a").database
    stores.close()
    stores.close()
    assert stores.database("a").database is not before


def test_many_projects_do_not_use_up_descriptors(tmp_path: Path) -> None:
    """Of many projects only the last used keep connections; the others answer all the same."""
    with _stores(tmp_path, max_open_databases=2) as stores:
        names = [f"p{number}" for number in range(12)]
        for name in names[:2]:
            stores.create_project(name)
        few = len(list(Path("/dev/fd").iterdir()))
        for name in names[2:]:
            stores.create_project(name)
        assert len(list(Path("/dev/fd").iterdir())) == few
        for name in names:
            with stores.database(name).read() as unit:
                assert unit.projects.require().project_id == name


def test_a_database_at_work_is_not_closed_for_others(tmp_path: Path) -> None:
    """A transaction goes on while other projects are opened, and its database is found again, not opened twice."""
    with _stores(tmp_path, max_open_databases=1) as stores:
        for name in ("a", "b", "c"):
            stores.create_project(name)
        mine = stores.database("a")
        with mine.write() as unit:
            unit.projects.update(name="first")
            stores.database("b")
            stores.database("c")
            unit.projects.update(language="en")
        assert stores.database("a").database is mine.database
        with mine.read() as unit:
            project = unit.projects.require()
        assert (project.name, project.language) == ("first", "en")


def test_closing_reaches_a_database_that_was_closed_for_room_and_used_again(tmp_path: Path) -> None:
    """Whoever still holds it opens connections anew, which end with the stores."""
    with _stores(tmp_path, max_open_databases=1) as stores:
        for name in ("a", "b"):
            stores.create_project(name)
        stores.close()
        few = len(list(Path("/dev/fd").iterdir()))
        mine = stores.database("a")
        stores.database("b")
        with mine.read() as unit:
            unit.projects.require()
        stores.close()
        assert len(list(Path("/dev/fd").iterdir())) == few


@pytest.mark.slow
def test_indexes_beyond_the_bound_rest_and_come_back(tmp_path: Path) -> None:
    """Of two indexes one process runs at a time; either answers whenever it is asked."""
    with _stores(tmp_path, memory={"vector_store": {"max_processes": 1}}) as stores:
        for name in ("a", "b"):
            stores.create_project(name)
            stores.vectors(name).wait_started(60)
        assert [_owns(stores, name) for name in ("a", "b")] == [False, True]
        assert stores.vectors("a").list_ids(timeout_s=60) == set()
        assert [_owns(stores, name) for name in ("a", "b")] == [True, False]


def _owns(stores: MemoryStores, project_id: str) -> bool:
    """Tell whether this program owns an index, which it does as long as it keeps a process for it."""
    location = ChromaFolder(stores.paths(project_id).vectors)
    return (location.control_folder / "owner.pid").exists()


class CountingEmbeddings(Embeddings):
    """Embeddings of a caller, which note what they were asked."""

    model = "counting-1"

    def __init__(self) -> None:
        self.asked: list[str] = []

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        self.asked += texts
        return [[float(len(text)), 1.0, 0.0] for text in texts]

    def embed_query(self, text: str) -> list[float]:
        return self.embed_documents([text])[0]


def test_embeddings_may_be_those_of_the_caller(tmp_path: Path) -> None:
    """Under the name of class and model, or by a name; what are none is refused at once."""
    own = CountingEmbeddings()
    with MemoryStores(load_settings(projects_dir=tmp_path), embeddings=own) as stores:
        assert stores.embedding_identity == ("CountingEmbeddings:counting-1", 3)
        assert stores.embeddings.embed_query("abc") == [3.0, 1.0, 0.0]
        assert own.asked == ["dimension", "abc"]
    with MemoryStores(load_settings(projects_dir=tmp_path), embeddings="fake:8") as stores:
        assert stores.embedding_identity == ("fake:8", 8)
    with pytest.raises(ConfigurationError, match="embeddings cannot be int; pass LangChain embeddings"):
        MemoryStores(load_settings(projects_dir=tmp_path), embeddings=cast(Embeddings, 7))


@pytest.mark.parametrize(
    ("asked", "meant"), [("dmeo", "demo"), ("demo_zh", "demo-zh"), ("Demo-zh", "demo-zh"), ("古登", "古灯")]
)
def test_an_unknown_project_names_the_nearest(stores: MemoryStores, asked: str, meant: str) -> None:
    """A misspelt id is told the right one, in both scripts."""
    for project_id in ("demo", "demo-zh", "古灯"):
        stores.create_project(project_id)
    with pytest.raises(UnknownProjectError, match=f"'{asked}'.*did you mean '{meant}'"):
        stores.database(asked)
