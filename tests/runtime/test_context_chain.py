"""The memory context chain over real stores: what callers hand in, and projects that there are not."""

import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from novelgen.models.context import SceneMemoryContext
from runtime.context_chain import build_context_chain
from runtime.index.process import IndexProcess, RunningProcess
from runtime.stores import MemoryStores
from tests.support.demo_project import settings_for

PLAN = {"location": "the Salt House", "characters": ["Ines"], "purpose": "Open the iron door."}


def ask(project_id: str, **asked: Any) -> dict[str, Any]:
    """Return a request of the chain as a mapping."""
    return {"project_id": project_id, "chapter_index": 5, "scene_index": 4, "scene_plan": PLAN, **asked}


@pytest.mark.parametrize("is_shared", [False, True])
def test_an_unknown_project_degrades_aloud_and_writes_no_folder(tmp_path: Path, is_shared: bool) -> None:
    """The context is valid and empty, one issue names the project that was meant, and the disk stays as it was."""
    url = f"sqlite:///{tmp_path / 'all.db'}" if is_shared else None
    settings = settings_for(tmp_path / "projects").model_copy(update={"database_url": url})
    with MemoryStores(settings) as stores:
        stores.create_project("demo")
        before = sorted((tmp_path / "projects").rglob("*"))
        context = build_context_chain(stores).invoke(ask("dmeo"))
        assert sorted((tmp_path / "projects").rglob("*")) == before
    assert SceneMemoryContext.model_validate_json(context.model_dump_json()) == context
    assert (context.relevant_memories, context.entity_states) == ([], [])
    assert context.report is not None
    (issue,) = context.report.issues
    assert (issue.stage, issue.kind) == ("outline", "unresolved")
    assert "'dmeo'" in issue.message
    assert "did you mean 'demo'?" in issue.message


def test_a_stored_project_without_a_folder_gets_its_file(tmp_path: Path) -> None:
    """In a shared database a project has no folder before its first context."""
    settings = settings_for(tmp_path / "projects").model_copy(
        update={"database_url": f"sqlite:///{tmp_path / 'all.db'}"}
    )
    with MemoryStores(settings) as stores:
        stores.create_project("demo")
        build_context_chain(stores).invoke(ask("demo"))
    assert (tmp_path / "projects" / "demo" / "scene_5_4_memory.json").is_file()


def test_an_index_that_still_loads_is_nothing_to_repair(demo_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first context of a program says that its index was not there in time, and sends nobody to the doctor."""

    def load_for_ever(arguments: Sequence[str], channel: int, log: int) -> RunningProcess:
        return subprocess.Popen(["sleep", "600"], stdin=channel)

    monkeypatch.setattr(IndexProcess, "launch", staticmethod(load_for_ever))
    with MemoryStores(settings_for(demo_folder, tool_timeout_s=2.0)) as stores:
        context = build_context_chain(stores, write_files=False).invoke(ask("demo"))
    assert context.report is not None
    (issue,) = [each for each in context.report.issues if each.stage == "semantic"]
    assert (issue.kind, "still starting" in issue.message, "doctor" in issue.message) == ("timeout", True, False)


@pytest.mark.parametrize(("project_id", "heading"), [("demo", "## Facts that hold"), ("demo-zh", "## 须遵守的事实")])
def test_the_prompt_is_in_the_language_of_the_story(
    read_demo_stores: MemoryStores, project_id: str, heading: str
) -> None:
    """Whatever the language of the plan."""
    context = build_context_chain(read_demo_stores, write_files=False).invoke(ask(project_id))
    assert heading in context.as_prompt()
    assert "## Facts that hold" in context.as_prompt(language="en")
    assert context.report is not None
    alone = context.model_copy(update={"report": context.report.model_copy(update={"language": ""})})
    assert heading in alone.as_prompt()
