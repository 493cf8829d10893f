"""What is imported on any system: nothing that POSIX alone has is needed to import the program."""

from __future__ import annotations

import subprocess
import sys

CODE = """
import importlib, pkgutil, signal, sys
# It asks which system it is on before it imports fcntl.
import mcp.server.stdio
for name in ("fcntl", "grp", "pwd", "resource", "termios"):
    sys.modules[name] = None
for name in [each for each in dir(signal) if each.startswith(("SIG", "ITIMER_")) and each.isupper()]:
    if name not in ("SIGABRT", "SIGFPE", "SIGILL", "SIGINT", "SIGSEGV", "SIGTERM", "SIG_DFL", "SIG_IGN"):
        delattr(signal, name)
import novelgen, runtime
for package in (novelgen, runtime):
    for module in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
        # Alembic runs this file itself, and the other is the program.
        if not module.name.endswith(("migrations.env", "__main__")):
            importlib.import_module(module.name)
print("imported")
"""


def test_every_module_is_imported_without_posix() -> None:
    """Windows is not supported, but whoever tries is told by what fails, not by an import."""
    run = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", CODE], capture_output=True, text=True, timeout=170, check=False
    )
    assert run.stdout.strip() == "imported", run.stderr
