"""The contexts that the page showed last: what a change would do is told against one of them."""

from __future__ import annotations

import secrets
import threading
from collections.abc import Mapping
from dataclasses import dataclass

from novelgen.models.context import SceneMemoryContext
from runtime.stores import RecentlyUsed

MOST_KEPT = 32

LONGEST_KEPT = 1_000_000
"""Characters of a context as JSON; a longer one is not kept, so that all of them stay within a few megabytes."""


@dataclass(frozen=True, slots=True)
class KeptContext:
    """A plan's form, and the context that it gave.

    Args:
        project_id: Whose it is.
        form: The fields of the form.
        text: The context as JSON; empty where only the form is kept.
    """

    project_id: str
    form: Mapping[str, str]
    text: str

    def context(self) -> SceneMemoryContext | None:
        """Return the context."""
        return SceneMemoryContext.model_validate_json(self.text) if self.text else None


class KeptContexts:
    """Keeps what was shown last, in memory alone; safe between threads."""

    def __init__(self) -> None:
        self._kept: RecentlyUsed[str, KeptContext] = RecentlyUsed(MOST_KEPT)
        self._lock = threading.Lock()

    def keep(
        self, project_id: str, form: Mapping[str, str], context: SceneMemoryContext | None = None
    ) -> str:
        """Keep a form and its context, and return the key under which they are found for a while."""
        text = context.model_dump_json() if context is not None else ""
        key = secrets.token_urlsafe(9)
        with self._lock:
            kept = KeptContext(project_id, dict(form), text if len(text) <= LONGEST_KEPT else "")
            self._kept.use(key, kept)
            self._kept.take_surplus()
        return key

    def find(self, project_id: str, key: str) -> KeptContext | None:
        """Return what is kept under a key of a project, or None where it is no longer."""
        with self._lock:
            kept = self._kept.get(key)
        return kept if kept is not None and kept.project_id == project_id else None
