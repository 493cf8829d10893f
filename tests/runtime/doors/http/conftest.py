"""A server over both demo projects, without a network."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from tests.runtime.doors.http.serving import client_of, village_model


@pytest.fixture
def client(demo_folder: Path) -> Iterator[TestClient]:
    """A client of a server over the demos, whose model is scripted."""
    with client_of(demo_folder, chat_model=village_model()) as opened:
        yield opened


@pytest.fixture
def empty(tmp_path: Path) -> Iterator[TestClient]:
    """A client of a server over an empty folder, without a model."""
    folder = tmp_path / "projects"
    folder.mkdir()
    with client_of(folder) as opened:
        yield opened
