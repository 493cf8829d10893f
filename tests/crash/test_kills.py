"""Kills at any point lose nothing that was acknowledged: 12 on SQLite here, any number by NOVELGEN_TEST_KILLS."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.crash.harness import Nursery, kill_again_and_again, opened_nursery
from tests.faults.matrix import covers
from tests.support.databases import postgres_database, postgres_for_tests

pytestmark = pytest.mark.slow

PROJECTS = 2
KILLS = int(os.environ.get("NOVELGEN_TEST_KILLS", "12"))
SEED = int(os.environ.get("NOVELGEN_TEST_SEED", "20261122"))


@pytest.fixture(scope="module")
def nursery() -> Iterator[Nursery]:
    """Where the killed programs come from: what all of them import is imported once."""
    with opened_nursery() as opened:
        yield opened


@covers(37)
@pytest.mark.timeout(max(600, KILLS * 30))
@pytest.mark.parametrize("number", range(PROJECTS))
def test_no_kill_loses_doubles_or_halves_what_was_acknowledged(nursery: Nursery, tmp_path: Path, number: int) -> None:
    """Of two programs one is killed: SQL holds every acknowledged scene whole; at the end the index agrees with it."""
    assert min(kill_again_and_again(nursery, tmp_path, seed=SEED + number, kills=-(-KILLS // PROJECTS))) > 0


@covers(37)
@pytest.mark.postgres
@pytest.mark.timeout(max(600, KILLS * 30))
def test_no_kill_loses_what_was_acknowledged_on_a_server(nursery: Nursery, tmp_path: Path) -> None:
    """The same on PostgreSQL, where what a killed program asked for may still be committed, whole."""
    with postgres_for_tests() as server, postgres_database(server) as url:
        acts = kill_again_and_again(nursery, tmp_path, seed=SEED, kills=-(-KILLS // PROJECTS), database_url=url)
    assert min(acts) > 0
