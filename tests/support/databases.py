"""The databases that tests run on: SQLite always, PostgreSQL where there is a server."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from uuid import uuid4

import pytest
from sqlalchemy import create_engine, make_url, text

from tests.support.postgres_server import postgres_server, why_there_is_no_server

POSTGRES_VARIABLE = "NOVELGEN_TEST_POSTGRES_URL"
BOTH = ["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)]
"""Parameters of a fixture that gives a test either database."""
on_both_databases = pytest.mark.parametrize("database", BOTH, indirect=True)
"""Runs a test that else has SQLite on PostgreSQL, too: where its statements differ, or a server may act otherwise."""


@contextmanager
def postgres_for_tests() -> Iterator[str]:
    """Give the URL of the server that the environment names, else of one of our own; skip where there is none."""
    given = os.environ.get(POSTGRES_VARIABLE)
    if given:
        yield make_url(given).set(drivername="postgresql+psycopg").render_as_string(hide_password=False)
        return
    reason = why_there_is_no_server()
    if reason is not None:
        pytest.skip(f"{reason}; or set {POSTGRES_VARIABLE} to postgresql://user@host:port/database")
    with postgres_server() as server:
        yield server.url()


@contextmanager
def postgres_database(server_url: str, *, template: str = "template1") -> Iterator[str]:
    """A PostgreSQL database of its own, copied from a template, that goes away afterwards; its URL."""
    name = f"novelgen_{uuid4().hex}"
    admin = create_engine(server_url, isolation_level="AUTOCOMMIT")
    with admin.connect() as connection:
        connection.execute(text(f"CREATE DATABASE {name} TEMPLATE {template}"))
    yield make_url(server_url).set(database=name).render_as_string(hide_password=False)
    with admin.connect() as connection:
        connection.execute(text(f"DROP DATABASE {name} WITH (FORCE)"))
    admin.dispose()
