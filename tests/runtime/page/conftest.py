"""Visitors of the page over both demos."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from tests.runtime.doors.http.conftest import client, empty
from tests.runtime.doors.http.serving import client_of

__all__ = ["client", "empty", "reader"]


@pytest.fixture(scope="module")
def reader(ingested_demos: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    """A visitor who changes nothing, over both demos."""
    folder = tmp_path_factory.mktemp("read") / "projects"
    shutil.copytree(ingested_demos, folder)
    with client_of(folder) as opened:
        yield opened
