"""A project of an earlier version comes into this one whole: as its export, and as its database."""

import json
import zipfile
from pathlib import Path

import pytest

from runtime.stores import MemoryStores
from runtime.story.story import Story
from tests.support.demo_project import settings_for

EARLIER = Path(__file__).parents[2] / "data" / "project_of_2010ae96.zip"
"""A project with rows in every table, as commit 2010ae96 stored it (`novel.db`) and exported it (`export`)."""


@pytest.fixture
def earlier(tmp_path: Path) -> Path:
    """The unpacked project."""
    with zipfile.ZipFile(EARLIER) as archive:
        archive.extractall(tmp_path / "earlier")
    return tmp_path / "earlier"


def _documents(folder: Path) -> dict[str, object]:
    files = (folder / "export" / "memory").rglob("*.json")
    return {
        str(file.relative_to(folder / "export" / "memory")): json.loads(file.read_text(encoding="utf-8"))
        for file in files
    }


@pytest.mark.slow
def test_an_earlier_export_comes_in_whole(earlier: Path, tmp_path: Path) -> None:
    """Every file that it holds is written again as it was."""
    with MemoryStores(settings_for(tmp_path / "projects")) as stores:
        Story(stores, "demo").project.import_source(source=earlier / "export")
        assert Story(stores, "demo").project.export_documents() == _documents(earlier)


def test_an_earlier_database_opens_whole(earlier: Path, tmp_path: Path) -> None:
    """A project folder whose database 2010ae96 wrote reads as its export of then."""
    data = tmp_path / "projects" / "demo" / "data"
    data.mkdir(parents=True)
    (earlier / "novel.db").rename(data / "novel.db")
    with MemoryStores(settings_for(tmp_path / "projects")) as stores:
        assert Story(stores, "demo").project.export_documents() == _documents(earlier)
