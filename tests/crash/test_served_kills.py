"""A server that is killed under load loses nothing that it answered for: 2 ends here, any number by hand."""

import os
from pathlib import Path

import pytest

from tests.crash.served_kills import kill_servers, render

KILLS = int(os.environ.get("NOVELGEN_TEST_SERVED_KILLS", "2"))
SEED = int(os.environ.get("NOVELGEN_TEST_SEED", "20261123"))


@pytest.mark.timeout(max(600, KILLS * 60))
def test_no_end_of_a_server_loses_what_it_answered_for(tmp_path: Path) -> None:
    """Ended by SIGTERM and SIGKILL in turn, a server starts again over a whole database with every answered write."""
    report = kill_servers(tmp_path, seed=SEED, kills=KILLS)
    assert report.holds, render(report)
    assert report.writes >= KILLS
    assert (report.found["checked"], len(report.ends_s)) == (60, -(-KILLS // 2))
