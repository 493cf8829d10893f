"""The forms that the page got last: plans with the contexts that they gave, and drafts; in memory, not for long."""

from __future__ import annotations

import secrets
import threading
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass

from novelgen.models.context import SceneMemoryContext

MOST_KEPT = 64

MOST_CHARACTERS = 12_000_000
"""Of all that is kept together."""


@dataclass(frozen=True, slots=True)
class KeptForm:
    """A form, and the context that it gave."""

    project_id: str
    form: Mapping[str, str]
    context_text: str = ""

    @property
    def characters(self) -> int:
        """How much of the room it takes."""
        return len(self.context_text) + sum(map(len, self.form.values()))

    def context(self) -> SceneMemoryContext | None:
        """Return the context."""
        return SceneMemoryContext.model_validate_json(self.context_text) if self.context_text else None


class KeptForms:
    """Keeps what the page got last; safe between threads."""

    def __init__(self, *, most_characters: int = MOST_CHARACTERS) -> None:
        self._most_characters = most_characters
        self._kept: OrderedDict[str, KeptForm] = OrderedDict()
        self._lock = threading.Lock()

    def keep(self, project_id: str, form: Mapping[str, str], context: SceneMemoryContext | None = None) -> str:
        """Keep a form and its context, and return the key under which they are found for a while."""
        text = context.model_dump_json() if context is not None else ""
        kept = KeptForm(project_id, dict(form), text)
        key = secrets.token_urlsafe(9)
        with self._lock:
            self._kept[key] = kept
            characters = sum(each.characters for each in self._kept.values())
            while characters > self._most_characters or len(self._kept) > MOST_KEPT:
                _, gone = self._kept.popitem(last=False)
                characters -= gone.characters
        return key

    def find(self, project_id: str, key: str) -> KeptForm | None:
        """Return what is kept under a key of a project, or None where it is no longer."""
        with self._lock:
            kept = self._kept.get(key)
            if kept is None or kept.project_id != project_id:
                return None
            self._kept.move_to_end(key)
        return kept
