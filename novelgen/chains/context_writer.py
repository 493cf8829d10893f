"""The door through which a context leaves the chain."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol, runtime_checkable

from novelgen.models.context import SceneMemoryContext


@runtime_checkable
class ContextWriter(Protocol):
    """Whatever keeps a finished context; runtime writes it as a JSON file."""

    def write(self, context: SceneMemoryContext) -> Path | None:
        """Keep the context, whole or not at all.

        Raises:
            ContextWriteError: When it could not be kept; the chain reports it and goes on.
        """
        ...
