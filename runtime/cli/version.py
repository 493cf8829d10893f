"""The version of the program."""

from __future__ import annotations

import importlib.metadata

NOT_INSTALLED = "from a checkout"


def program_version() -> str:
    """Return the installed version, or a word for a checkout that is not installed."""
    try:
        return importlib.metadata.version("novelgen")
    except importlib.metadata.PackageNotFoundError:
        return NOT_INSTALLED
