"""Databases for the storage tests: real SQLite always, PostgreSQL where a server is named."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pytest
from sqlalchemy import create_engine, make_url, text

from runtime.storage.database import DatabaseManager

POSTGRES_VARIABLE = "NOVELGEN_TEST_POSTGRES_URL"


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)])
def database_url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """URL or path of an empty database that goes away with the test."""
    if request.param == "sqlite":
        yield str(tmp_path / "novel.db")
        return
    server = os.environ.get(POSTGRES_VARIABLE)
    if not server:
        pytest.skip(f"PostgreSQL NOT TESTED: set {POSTGRES_VARIABLE} to postgresql://user@host:port/database")
    name = f"novelgen_{uuid4().hex}"
    admin = create_engine(make_url(server).set(drivername="postgresql+psycopg"), isolation_level="AUTOCOMMIT")
    with admin.connect() as connection:
        connection.execute(text(f"CREATE DATABASE {name}"))
    yield make_url(server).set(database=name).render_as_string(hide_password=False)
    with admin.connect() as connection:
        connection.execute(text(f"DROP DATABASE {name} WITH (FORCE)"))
    admin.dispose()


@pytest.fixture
def database(database_url: str) -> Iterator[DatabaseManager]:
    """An open database with the projects "demo" and, to be left alone, "demo2"."""
    opened = DatabaseManager.open(database_url)
    with opened.write() as unit:
        unit.projects.create("demo", name="Demo", language="en")
        unit.projects.create("demo2")
    yield opened
    opened.close()


@pytest.fixture
def sqlite_database(tmp_path: Path) -> Iterator[DatabaseManager]:
    """An open SQLite database with the project "demo"."""
    opened = DatabaseManager.open(tmp_path / "novel.db", busy_timeout_s=2.0)
    with opened.write() as unit:
        unit.projects.create("demo")
    yield opened
    opened.close()
