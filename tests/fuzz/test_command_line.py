"""Ids, positions, names and queries as somebody may type them."""

import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from runtime.doors.cli.error_handling import ExitCode
from runtime.doors.cli.main import novelgen
from tests.fuzz.strategies import HOSTILE, fuzzed
from tests.support.demo_project import DEMOS, FAKE_MEMORY

KNOWN_CODES = {code.value for code in ExitCode}
ARGUMENTS = st.sampled_from(
    [*(text for text in HOSTILE if "\x00" not in text and "\ud800" not in text), "demo", "C0", "1:1", "-1", "1:", ":"]
) | st.text(alphabet=st.characters(exclude_categories=("Cs",), exclude_characters="\x00"), max_size=12)


@pytest.fixture(scope="module")
def projects(ingested_demos: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A projects folder with the demos, for commands that read."""
    return Path(shutil.copytree(ingested_demos, tmp_path_factory.mktemp("typed") / "projects"))


COMMANDS: dict[str, list[str]] = {
    "entity": ["card", "show", "demo", "?"],
    "entity at": ["card", "show", "demo", "C0", "--as-of", "?"],
    "timeline": ["timeline", "?", "--chapter", "?"],
    "memory": ["memory", "show", "demo", "?"],
    "scene": ["scene", "show", "demo", "?"],
    "delete": ["scene", "delete", "demo", "?"],
    "context": ["context", "?", "--chapter", "?", "--scene", "?"],
    "plan": ["context", "demo", "--chapter", "5", "--scene", "4", "--plan", "?"],
    "ingest": ["ingest", "?"],
    "doctor": ["doctor", "?"],
}


@pytest.mark.parametrize("command", COMMANDS)
@given(data=st.data())
@fuzzed
def test_any_argument_ends_in_one_line_and_a_known_code(
    projects: Path, monkeypatch: pytest.MonkeyPatch, command: str, data: st.DataObject
) -> None:
    """No traceback, no bug, and nothing outside of the projects folder."""
    monkeypatch.setenv("NOVELGEN_MEMORY__EMBEDDING_MODEL", FAKE_MEMORY["embedding_model"])
    before = sorted(entry.name for entry in projects.parent.iterdir())
    arguments = [data.draw(ARGUMENTS) if part == "?" else part for part in COMMANDS[command]]
    if set(arguments) & set(DEMOS) and command in ("context", "ingest", "doctor", "plan"):
        # These start an index; whether they work is tested elsewhere.
        return
    result = CliRunner().invoke(novelgen, ["--projects-dir", str(projects), *arguments])
    assert result.exit_code in KNOWN_CODES
    assert "a bug in novelgen" not in result.stderr
    assert "Traceback" not in result.output
    assert sorted(entry.name for entry in projects.parent.iterdir()) == before
