"""The measurements of workers and holdings still run, and what they store is all there."""

from pathlib import Path

import pytest

from runtime.stores import MemoryStores
from tests.benchmarks.holdings import measure_opening, store
from tests.benchmarks.workers import Setting, measure, render
from tests.support.demo_project import settings_for


@pytest.mark.thorough
def test_workers_on_one_project_lose_nothing(tmp_path: Path) -> None:
    """Of two workers one owns the embedded index; what the other stored reaches it as well."""
    result = measure(tmp_path, Setting(None, "embedded", True, 2), scenes=3)
    assert (result.scenes, result.problems) == (6, {}), render([result])


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="what a program holds is read from /proc")
def test_projects_beyond_the_bound_cost_no_descriptors(tmp_path: Path) -> None:
    """Projects are stored and measured, and opening them all keeps no more descriptors than the bound allows."""
    settings = settings_for(tmp_path).model_copy(update={"max_open_databases": 3})
    names = [f"p{number}" for number in range(8)]
    with MemoryStores(settings) as stores:
        stored = store(stores, names, scenes=1, index=False)
    assert (stored.projects, stored.index_bytes) == (8, 0)
    assert stored.memories > 0
    assert stored.database_bytes > 0
    few = measure_opening(settings, names[:3])
    assert measure_opening(settings, names).descriptors_of_all == few.descriptors_of_all
