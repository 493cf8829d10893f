"""Nothing that only Unix has is needed to import novelgen."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

REPOSITORY = Path(__file__).resolve().parents[2]

IMPORT_AS_ON_WINDOWS = """
import importlib, os, pkgutil, signal, sys
# They ask for the platform's name, which cannot be told otherwise here.
import mcp.server, uvicorn
for name in ("fcntl", "grp", "pwd", "resource", "termios"):
    sys.modules[name] = None
known = {"SIGABRT", "SIGFPE", "SIGILL", "SIGINT", "SIGSEGV", "SIGTERM"}
for name in [name for name in dir(signal) if name.startswith("SIG") and "_" not in name and name not in known]:
    delattr(signal, name)
for module, names in ((signal, ("alarm", "setitimer", "ITIMER_REAL")), (os, ("fork", "getuid", "setsid", "killpg"))):
    for name in names:
        delattr(module, name)
import novelgen, runtime
# Alembic alone runs the one, Python the other.
left_out = ("runtime.storage.migrations.env", "novelgen.__main__")
for package in (novelgen, runtime):
    for found in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
        if found.name not in left_out:
            importlib.import_module(found.name)
"""


def test_every_module_can_be_imported_without_what_only_unix_has() -> None:
    """Signals, limits and locks of Unix are met when they are used, not when a module is imported."""
    finished = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", IMPORT_AS_ON_WINDOWS],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(REPOSITORY)},
    )
    assert finished.returncode == 0, finished.stderr
