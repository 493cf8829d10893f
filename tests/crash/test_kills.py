"""Kills at any point lose nothing that was acknowledged: 36 here, any number by NOVELGEN_TEST_KILLS."""

import os
from pathlib import Path

import pytest

from tests.crash.harness import kill_again_and_again
from tests.faults.matrix import covers

PROJECTS = 6
KILLS = int(os.environ.get("NOVELGEN_TEST_KILLS", "36"))
SEED = int(os.environ.get("NOVELGEN_TEST_SEED", "20261122"))


@covers(37)
@pytest.mark.timeout(max(600, KILLS * 30))
@pytest.mark.parametrize("number", range(PROJECTS))
def test_no_kill_loses_doubles_or_halves_what_was_acknowledged(tmp_path: Path, number: int) -> None:
    """After each kill SQL holds every acknowledged scene whole; at the end the index agrees with it."""
    report = kill_again_and_again(tmp_path, seed=SEED + number, kills=-(-KILLS // PROJECTS))
    assert report.acts > 0
