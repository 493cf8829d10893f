"""Terminal listings of README, printed by the real program over the demo projects.

Unlike the other blocks these use the embedding model of the wheel, as the reader does.
"""

import contextlib
import shlex
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from runtime.doors.cli import output
from runtime.doors.cli.main import novelgen
from tests.docs.exceptions import PRINTED_BY
from tests.docs.pages import Block, blocks_of
from tests.support.demo_project import copy_shipped_demos

COLUMNS = 100
"""Width of the reader's terminal."""

CUT = "…"
"""A listing that ends with this line shows the beginning of the output."""

_UNSET = ("NOVELGEN_MODEL", "NOVELGEN_DATABASE_URL", "NOVELGEN_PROJECTS_DIR", "NOVELGEN_MEMORY__EMBEDDING_MODEL")
_PATIENCE = {"NOVELGEN_MEMORY__TOOL_TIMEOUT_S": "60", "NOVELGEN_MEMORY__CHAIN_TIMEOUT_S": "120"}


def printed_blocks(page: str) -> list[Block]:
    """Return the blocks of a page that show a terminal."""
    return [block for block in blocks_of(page) if block.marker.startswith(PRINTED_BY)]


def printed_by(block: Block) -> str:
    """Return what a block's command prints on a terminal, cut where the block is cut."""
    words = shlex.split(block.marker.removeprefix(PRINTED_BY))[1:]
    project = words[1]
    with _fresh_clone() as runner:
        for arguments in (["ingest", project], words):
            result = runner.invoke(novelgen, arguments, prog_name="novelgen")
            assert result.exit_code == 0, result.output
    lines = result.stdout.lstrip("\n").splitlines()
    shown = block.text.splitlines()
    if shown[-1] == CUT:
        lines = [*lines[: len(shown) - 1], CUT]
    return "\n".join(line.rstrip() for line in lines) + "\n"


@contextlib.contextmanager
def _fresh_clone() -> Iterator[CliRunner]:
    """Give a runner in a folder that holds the demo projects, on a terminal."""
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        projects_dir = Path(folder) / "projects"
        projects_dir.mkdir()
        copy_shipped_demos(projects_dir)
        for name in _UNSET:
            patch.delenv(name, raising=False)
        for name, value in (_PATIENCE | {"COLUMNS": str(COLUMNS)}).items():
            patch.setenv(name, value)
        patch.setattr(output, "is_terminal", lambda: True)
        with contextlib.chdir(folder):
            yield CliRunner()
