"""Omitted parts of a book's file, counted and shown."""

from collections.abc import Iterable
from typing import Literal

from pydantic import BaseModel, Field

LeftOutKind = Literal[
    "deleted_text",
    "moved_text",
    "hidden_text",
    "placeholders",
    "comments",
    "notes",
    "note_marks",
    "readings",
    "page_numbers",
    "table_of_contents",
    "front_and_back_matter",
    "pages_apart",
    "pictures",
    "missing_pages",
]

MAX_EXAMPLES = 100
"""So many texts of one kind are shown."""
MAX_EXAMPLE_CHARACTERS = 300


class LeftOutPart(BaseModel):
    """Parts of one kind that are no text of the story."""

    kind: LeftOutKind
    count: int
    texts: list[str] = Field(default_factory=list, description="Their first characters, where they have any.")


class LeftOut:
    """Counts the omitted parts of a book."""

    def __init__(self) -> None:
        self._parts: dict[LeftOutKind, LeftOutPart] = {}

    def add(self, kind: LeftOutKind, text: str) -> None:
        """Note one part."""
        part = self._parts.setdefault(kind, LeftOutPart(kind=kind, count=0))
        part.count += 1
        shown_text = " ".join(text[: 10 * MAX_EXAMPLE_CHARACTERS].split())
        if shown_text and len(part.texts) < MAX_EXAMPLES:
            is_cut = len(shown_text) > MAX_EXAMPLE_CHARACTERS
            part.texts.append(shown_text[:MAX_EXAMPLE_CHARACTERS] + ("…" if is_cut else ""))

    def parts(self) -> list[LeftOutPart]:
        """Return the parts, those of a kind together."""
        return list(self._parts.values())


def merged(parts: Iterable[LeftOutPart]) -> list[LeftOutPart]:
    """Return the parts of several files, those of a kind together."""
    by_kind: dict[LeftOutKind, LeftOutPart] = {}
    for part in parts:
        whole = by_kind.setdefault(part.kind, LeftOutPart(kind=part.kind, count=0))
        whole.count += part.count
        whole.texts = [*whole.texts, *part.texts][:MAX_EXAMPLES]
    return list(by_kind.values())
