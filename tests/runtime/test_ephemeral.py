"""The memory for users' own tests: real, at once, and gone afterwards."""

import subprocess
import sys
from pathlib import Path

import pytest
from langchain_core.language_models import FakeListChatModel
from pydantic import ValidationError

from novelgen.errors import UnknownProjectError
from novelgen.testing import open_ephemeral, sample_context
from runtime.index.process import IndexProcess


def test_a_story_in_five_lines() -> None:
    """A scene goes in, the next context remembers it; a scripted model may be given; each memory is its own."""
    with open_ephemeral() as stories:
        story = stories.create("mill", language="en")
        story.ingest(text="Ada gave Bo the key.", chapter_index=1, scene_index=1)
        context = story.context(1, 2, {"purpose": "Bo opens the mill."})
        assert "Ada gave Bo the key." in context.as_prompt()
        assert [each.content for each in story.search("key")] == ["Ada gave Bo the key."]
    with open_ephemeral(chat_model=FakeListChatModel(responses=["- Ada gives Bo the key.\n- It is cold."])) as stories:
        story = stories.create("mill", language="en")
        assert story.summaries.summarize("Ada gave Bo the key. It was cold.").bullets == [
            "Ada gives Bo the key.",
            "It is cold.",
        ]
    with open_ephemeral() as one, open_ephemeral() as other:
        one.create("mill", language="en")
        with pytest.raises(UnknownProjectError):
            other.story("mill")


def test_a_context_is_written_by_hand_in_one_line() -> None:
    """It needs no moment, two of the same place are equal, and any field may be given."""
    context = sample_context(1, 2, relevant_memories=[])
    assert context == sample_context(1, 2)
    assert context.as_prompt() == ""
    assert sample_context(1, 2, project_id="mill").project_id == "mill"
    with pytest.raises(ValidationError):
        sample_context(1, 2, retrieval_timestamp="never")


@pytest.mark.slow
def test_nothing_stays_and_nothing_starts() -> None:
    """No process is started for it, and its folder goes when it is closed."""
    with open_ephemeral() as stories:
        folder = stories.settings.projects_dir
        story = stories.create("mill", language="en")
        story.ingest(text="Ada gave Bo the key.", chapter_index=1, scene_index=1)
        assert story.search("key").issues == []
        assert not isinstance(story._stores.vectors("mill")._access, IndexProcess)
        assert story.project.check_health(repair=True).findings
        assert folder.is_dir()
    assert not folder.exists()


def test_the_environment_does_not_reach_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Neither the database, the Chroma server nor the model that the environment names is touched."""
    monkeypatch.setenv("NOVELGEN_DATABASE_URL", "postgresql://nobody@127.0.0.1:1/none")
    monkeypatch.setenv("NOVELGEN_MEMORY__VECTOR_STORE__URL", "http://127.0.0.1:1")
    monkeypatch.setenv("NOVELGEN_MODEL", "openai:gpt-none")
    monkeypatch.setenv("NOVELGEN_PROJECTS_DIR", str(tmp_path))
    with open_ephemeral() as stories:
        story = stories.create("mill", language="en")
        story.ingest(text="Ada gave Bo the key.", chapter_index=1, scene_index=1)
        context = story.context(1, 2, {"purpose": "Bo opens the mill."})
        assert (context.report.issues, context.report.planner.used) == ([], "rules")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_the_suite_needs_no_stores() -> None:
    """Who runs the conformance suite alone loads neither SQLAlchemy nor Chroma."""
    code = "import sys, novelgen.testing as t; t.StoryMemoryConformance; sys.exit('sqlalchemy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
