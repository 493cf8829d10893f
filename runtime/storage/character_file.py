"""Aliases that a project's characters.json has brought, and taking them back."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sqlalchemy import Table, bindparam, select

from runtime.storage.session import StorageSession
from runtime.storage.tables import ALIASES, CHARACTER_FILE_ALIASES

AliasPair = tuple[str, str]
"""(entity_id, alias)."""


class CharacterFileRepository:
    """Remembers which aliases nobody but characters.json has brought.

    Args:
        session: The transaction to work in.
    """

    def __init__(self, session: StorageSession) -> None:
        self._session = session

    def aliases(self) -> set[AliasPair]:
        """Return the aliases that nobody but characters.json has brought."""
        table = CHARACTER_FILE_ALIASES
        statement = select(table.c.entity_id, table.c.alias).where(self._session.owns(table))
        return {(row.entity_id, row.alias) for row in self._session.rows(statement)}

    def withdraw(self, *, said: Iterable[AliasPair]) -> list[AliasPair]:
        """Take back what only an earlier characters.json had.

        Args:
            said: The aliases that it has now.

        Returns:
            The aliases that are gone, in order of id and alias.
        """
        gone = sorted(self.aliases() - set(said))
        if gone:
            self._session.touch()
            self._delete(ALIASES, gone)
            self._delete(CHARACTER_FILE_ALIASES, gone)
        return gone

    def note(self, brought: Iterable[AliasPair]) -> None:
        """Remember aliases of stored entities as brought by characters.json alone."""
        rows = [
            {"project_id": self._session.project_id, "entity_id": entity_id, "alias": alias}
            for entity_id, alias in sorted(set(brought))
        ]
        if rows:
            self._session.run(self._session.upsert(CHARACTER_FILE_ALIASES).on_conflict_do_nothing(), rows)

    def release(self, pairs: Iterable[AliasPair]) -> None:
        """Forget aliases that somebody else brings, too: they stay when characters.json drops them."""
        self._delete(CHARACTER_FILE_ALIASES, sorted(set(pairs) & self.aliases()))

    def _delete(self, table: Table, pairs: Sequence[AliasPair]) -> None:
        statement = table.delete().where(
            self._session.owns(table),
            table.c.entity_id == bindparam("of_entity"),
            table.c.alias == bindparam("of_alias"),
        )
        if pairs:
            self._session.run(statement, [{"of_entity": each[0], "of_alias": each[1]} for each in pairs])
