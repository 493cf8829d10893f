"""What keeps a block of the pages from being run as it stands, each by name; nothing else is left out."""

from __future__ import annotations

import click

import novelgen
from runtime.cli.main import novelgen as program


def _has_option(command: str, option: str) -> bool:
    found = program.get_command(click.Context(program), command)
    return found is not None and any(option in each.opts for each in found.params)


AWAITED = {
    "novelgen.open(": hasattr(novelgen, "open"),
    "novelgen.models import": hasattr(novelgen, "open"),
    "novelgen thread ": program.get_command(click.Context(program), "thread") is not None,
    "--purpose": _has_option("context", "--purpose"),
    "--no-network": _has_option("doctor", "--no-network"),
}
"""What blocks use that may not be built yet, and whether it is; a block with a False one is skipped by name."""

NOT_RUN = {
    "main-command": "makes an environment and installs into it; tests/test_packaging.py does so with the wheel",
    "main-command-zh": "the same in Chinese",
    "test-command": "installs and runs these tests; .ci/run runs this very line",
    "minutes": "a measurement of minutes to hours; tests/benchmarks runs each at a small size",
}
"""Markers of blocks that no test runs, and why."""

SERVED_HERE = (
    "http://127.0.0.1:8080/v1",
    "http://127.0.0.1:11434/v1",
    "https://api.deepseek.com/v1",
    "https://dashscope.aliyuncs.com/compatible-mode/v1",
)
"""Addresses of services; in a test the stub server's address stands in their place."""


def awaited_of(text: str) -> str | None:
    """Return what a block uses that is not built yet, or None."""
    return next((what for what, is_there in AWAITED.items() if what in text and not is_there), None)
