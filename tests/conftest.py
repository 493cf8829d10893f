"""Fixtures that several rooms' tests share."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from runtime.stores import MemoryStores
from tests.support.demo_project import DEMOS, copy_shipped_demos, ingest_demo, settings_for

pytest_plugins = ["tests.faults.results"]


@pytest.fixture(scope="session")
def ingested_demos(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A projects folder with both demo projects ingested; not to be changed."""
    folder = tmp_path_factory.mktemp("ingested") / "projects"
    folder.mkdir()
    copy_shipped_demos(folder)
    with MemoryStores(settings_for(folder)) as stores:
        for name in DEMOS:
            ingest_demo(stores, name)
    return folder


@pytest.fixture
def demo_folder(ingested_demos: Path, tmp_path: Path) -> Path:
    """A projects folder with both demo projects ingested, of the test's own."""
    return Path(shutil.copytree(ingested_demos, tmp_path / "projects"))


@pytest.fixture
def demo_stores(demo_folder: Path) -> Iterator[MemoryStores]:
    """Open stores over a demo folder of the test's own."""
    with MemoryStores(settings_for(demo_folder)) as stores:
        yield stores
