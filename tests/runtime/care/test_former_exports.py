"""An export of an earlier version is how a story comes into this one."""

import json
import zipfile
from pathlib import Path

from runtime.stores import MemoryStores
from runtime.story.story import Story
from tests.support.demo_project import settings_for

EXPORT = Path(__file__).parents[2] / "data" / "export_before_baseline.zip"
"""demo-zh with a note of its author, as the last version before the baseline of the schema wrote it."""


def test_an_export_of_the_version_before_the_baseline_comes_in_whole(tmp_path: Path) -> None:
    """Every file that it holds is written again as it was."""
    with zipfile.ZipFile(EXPORT) as archive:
        archive.extractall(tmp_path / "export")
    written = {
        str(file.relative_to(tmp_path / "export" / "memory")): json.loads(file.read_text(encoding="utf-8"))
        for file in (tmp_path / "export" / "memory").rglob("*.json")
    }
    with MemoryStores(settings_for(tmp_path / "projects")) as stores:
        Story(stores, "back").import_project(source=tmp_path / "export")
        documents = Story(stores, "back").project_documents()
    assert set(documents) == set(written)
    assert {name for name in written if documents[name] != written[name]} <= {"project.json"}
    changed = {key for key, value in written["project.json"].items() if documents["project.json"].get(key) != value}
    assert changed <= {"project_id", "created_at", "updated_at", "exported_at"}
