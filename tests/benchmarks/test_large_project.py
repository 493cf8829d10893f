"""The measurement of one large project still runs, on a small one."""

from pathlib import Path

import pytest

from tests.benchmarks.large_project import measure


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="what a program holds is read from /proc")
def test_every_act_on_a_large_project_is_measured(tmp_path: Path) -> None:
    """From ingest to export each act is told once, none reports an issue, and the export holds every scene."""
    told: list[str] = []
    measure(tmp_path, scenes=12, memories=6, tell=told.append)
    acts = [line[:34].strip() for line in told if " CPU s " in line]
    assert acts == [
        *("ingest, with the index", "the first context", "a context, mean of 10", "a search", "scene list", "a card"),
        *("a scene moved to the end", "and back", "two people merged", "undone", "a scene replaced", "export"),
    ]
    assert "72 memories" in told[1]
    assert len(list((tmp_path / "export" / "memory" / "scenes").iterdir())) == 12
