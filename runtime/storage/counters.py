"""Ids that two writers cannot give out twice: C0, L0, S001, OL0, R0 and so on."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Literal, get_args

from sqlalchemy import case

from novelgen.models.entity import ID_PREFIXES, EntityType
from runtime.storage.session import StorageSession
from runtime.storage.tables import COUNTERS

CounterKind = Literal["C", "L", "I", "F", "T", "S", "OL", "R", "N"]
"""Characters, locations, items, factions, terms, scenes, open loops, relationships, notes."""

_FIRST_NUMBER: dict[str, int] = {"S": 1}
_NUMBERED = re.compile(rf"({'|'.join(sorted(get_args(CounterKind), key=len, reverse=True))})(\d{{1,9}})")


class CounterRepository:
    """Gives out ids; the counter row is locked until the transaction ends.

    Args:
        session: The transaction to work in.
    """

    def __init__(self, session: StorageSession) -> None:
        self._session = session

    def take(self, kind: CounterKind) -> str:
        """Return the next id of a kind, such as C0 or S001, that nobody was given before."""
        first = _FIRST_NUMBER.get(kind, 0)
        statement = self._session.upsert(COUNTERS).values(
            project_id=self._session.project_id, kind=kind, next_number=first + 1
        )
        statement = statement.on_conflict_do_update(
            index_elements=["project_id", "kind"], set_={"next_number": COUNTERS.c.next_number + 1}
        )
        number = (
            self._session.connection.execute(statement.returning(COUNTERS.c.next_number)).scalar_one() - 1
        )
        return f"{kind}{number:03d}" if kind == "S" else f"{kind}{number}"

    def take_for(self, entity_type: EntityType) -> str:
        """Return the next id of an entity of that type."""
        return self.take(ID_PREFIXES[entity_type])  # type: ignore[arg-type]

    def jump_over(self, used_ids: Iterable[str]) -> None:
        """Let the counters go on after ids that came from elsewhere; ids of other shapes are ignored."""
        highest: dict[str, int] = {}
        for used_id in used_ids:
            match = _NUMBERED.fullmatch(used_id)
            if match:
                highest[match[1]] = max(highest.get(match[1], 0), int(match[2]))
        for kind, number in highest.items():
            statement = self._session.upsert(COUNTERS).values(
                project_id=self._session.project_id, kind=kind, next_number=number + 1
            )
            greater = case(
                (COUNTERS.c.next_number > statement.excluded.next_number, COUNTERS.c.next_number),
                else_=statement.excluded.next_number,
            )
            self._session.run(
                statement.on_conflict_do_update(
                    index_elements=["project_id", "kind"], set_={"next_number": greater}
                )
            )
