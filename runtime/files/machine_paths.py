"""What is told to others of this machine: never where things lie on it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

_ABSOLUTE_PATH = re.compile(r"(?<![\w.:/])(?:/[^\s/'\"`:;,]+){2,}/?|(?<!\w)[A-Za-z]:\\[^\s'\"`:;,]+")


def without_paths(message: str, *, folders: Sequence[Path] = ()) -> str:
    """Return a message without paths of this machine: of each its last part stays."""
    for folder in folders:
        for path in {str(folder.absolute()), str(folder.resolve())}:
            if len(path) > 1:
                message = message.replace(path, "the projects folder")
    return _ABSOLUTE_PATH.sub(lambda found: "…/" + re.split(r"[/\\]", found[0].rstrip("/\\"))[-1], message)
