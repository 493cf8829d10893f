"""What the program's own options pass to every command."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class CliSession:
    """The options that stand before the command.

    Args:
        projects_dir: Folder that holds the projects; it need not exist.
    """

    projects_dir: Path
