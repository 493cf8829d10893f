"""Row 17: without any network everything passes, the local embedding model included."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.faults.expectations import HANG_GUARD_S
from tests.faults.matrix import covers
from tests.runtime.doors.cli.small_project import PROJECT, write_project

pytestmark = pytest.mark.index_started_as_shipped

REPOSITORY = Path(__file__).resolve().parents[2]


def _has_network_namespaces() -> bool:
    if shutil.which("unshare") is None:
        return False
    return subprocess.run(["unshare", "-n", "true"], capture_output=True, timeout=60).returncode == 0


@pytest.mark.slow
@covers(17)
def test_ingest_and_context_need_no_network(tmp_path: Path) -> None:
    """In a namespace without network the command line ingests with the local model and builds a context."""
    if not _has_network_namespaces():
        pytest.skip("this machine does not permit network namespaces (unshare -n)")
    write_project(tmp_path)
    for arguments in (["ingest", PROJECT], ["context", PROJECT, "--chapter", "3", "--scene", "1", "--json"]):
        finished = subprocess.run(
            ["unshare", "-n", sys.executable, "-m", "novelgen", "--projects-dir", str(tmp_path), *arguments],
            capture_output=True,
            text=True,
            timeout=HANG_GUARD_S,
            cwd=tmp_path,
            env={
                **os.environ,
                "PYTHONPATH": str(REPOSITORY),
                "NOVELGEN_MEMORY__EMBEDDING_MODEL": "local",
                "NOVELGEN_MEMORY__TOOL_TIMEOUT_S": "60",
                "NOVELGEN_MEMORY__CHAIN_TIMEOUT_S": "90",
            },
        )
        assert finished.returncode == 0, finished.stderr
    context = json.loads(finished.stdout)
    assert context["relevant_memories"]
    assert context["entity_states"]
    assert context["report"]["issues"] == []
