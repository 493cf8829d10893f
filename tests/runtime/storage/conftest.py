"""Databases for the storage tests: real SQLite always, PostgreSQL where a server is named.

Migrating takes longer than most tests, so every test gets a copy of one that was migrated for the session.
"""

import shutil
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from sqlalchemy import make_url

from runtime.storage.database import DatabaseManager
from tests.support.databases import BOTH, postgres_database


def create_demo_projects(url_or_path: str | Path) -> None:
    """Migrate a database and create the projects "demo" and, to be left alone, "demo2"."""
    opened = DatabaseManager.open(url_or_path)
    with opened.project("demo").write() as unit:
        unit.projects.create(name="Demo", language="en")
    with opened.project("demo2").write() as unit:
        unit.projects.create()
    opened.close()


@pytest.fixture(scope="session")
def sqlite_template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A migrated SQLite file with both projects."""
    file = tmp_path_factory.mktemp("template") / "novel.db"
    create_demo_projects(file)
    return file


@pytest.fixture(scope="session")
def postgres_template(postgres_url: str) -> Iterator[str]:
    """Name of a migrated PostgreSQL database with both projects."""
    with postgres_database(postgres_url) as url:
        create_demo_projects(url)
        yield str(make_url(url).database)


@pytest.fixture(params=BOTH)
def database_url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """URL or path of an empty database that goes away with the test."""
    if request.param == "sqlite":
        yield str(tmp_path / "novel.db")
        return
    with postgres_database(request.getfixturevalue("postgres_url")) as url:
        yield url


@pytest.fixture
def database(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[DatabaseManager]:
    """An open database with the projects "demo" and "demo2": SQLite, or what `on_both_databases` asks for."""
    with ExitStack() as held:
        if getattr(request, "param", "sqlite") == "sqlite":
            place = shutil.copy(request.getfixturevalue("sqlite_template"), tmp_path / "novel.db")
        else:
            server, template = (request.getfixturevalue(name) for name in ("postgres_url", "postgres_template"))
            place = held.enter_context(postgres_database(server, template=template))
        opened = DatabaseManager.open(place)
        held.callback(opened.close)
        yield opened
