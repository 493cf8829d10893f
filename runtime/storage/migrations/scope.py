"""What of a database belongs to the migrations' comparison with the models."""

from __future__ import annotations

from typing import Any

LEXICAL_TABLE = "memory_terms"
"""The lexical index: on SQLite a virtual table with shadow tables that nobody may touch."""


def is_ours(name: str | None, kind: str, _parents: Any) -> bool:
    """Tell whether Alembic compares something: all but the lexical index and its shadow tables."""
    return kind != "table" or not (name or "").startswith(LEXICAL_TABLE)
