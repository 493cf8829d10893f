"""What characters feel for each other, keep secret and told whom, and the story's flags, over the time of a game."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Any, TypeVar

from pydantic import BaseModel, Field
from sqlalchemy import ColumnElement, Table, func, not_, or_, select, true

from novelgen.characters.memory import GamePosition, Moment
from novelgen.characters.secrets import Secret
from runtime.storage.records import Disclosure, FlagChange, Happened, StoredDispositionChange
from runtime.storage.session import Repository
from runtime.storage.tables import (
    ALIASES,
    CHARACTER_MEMORIES,
    CHARACTER_SECRETS,
    CHUNKS,
    DISCLOSURES,
    DISPOSITION_CHANGES,
    ENTITIES,
    SCENES,
    STORY_FLAGS,
)

Told = TypeVar("Told", bound=Happened)


class StoredSecret(BaseModel):
    """A secret and whose it is."""

    character_id: str
    secret: Secret


class PlayContents(BaseModel):
    """Everything of it that a project holds, for export and import."""

    dispositions: list[StoredDispositionChange] = Field(default_factory=list)
    secrets: list[StoredSecret] = Field(default_factory=list)
    disclosures: list[Disclosure] = Field(default_factory=list)
    flags: list[FlagChange] = Field(default_factory=list)

    def is_empty(self) -> bool:
        """Tell whether there is nothing in it."""
        return not self.count()

    def count(self) -> int:
        """Return how many entries there are in all."""
        return len(self.dispositions) + len(self.secrets) + len(self.disclosures) + len(self.flags)

    def beyond(self, stored: PlayContents) -> PlayContents:
        """Return what is not stored yet; a secret that is stored under an id stays as it is."""
        kept = {(each.character_id, each.secret.secret_id) for each in stored.secrets}
        return PlayContents(
            dispositions=_beyond(self.dispositions, stored.dispositions),
            secrets=[each for each in self.secrets if (each.character_id, each.secret.secret_id) not in kept],
            disclosures=_beyond(self.disclosures, stored.disclosures),
            flags=_beyond(self.flags, stored.flags),
        )


class PlayRepository(Repository):
    """Reads and writes dispositions, secrets, disclosures and flags."""

    def add_disposition(self, change: StoredDispositionChange) -> None:
        """Write down that feelings moved."""
        self._session.touch()
        self._session.insert(DISPOSITION_CHANGES, [change.model_dump()])

    def dispositions(
        self, character_id: str, other_id: str, *, as_of: Moment | None = None
    ) -> list[StoredDispositionChange]:
        """Return how one's feelings for another moved up to a moment, in the order in which it happened.

        What a memory moved counts while the memory stands: deleted or undone, it never happened.
        """
        table = DISPOSITION_CHANGES
        deleted = select(CHARACTER_MEMORIES.c.memory_id).where(
            self._session.owns(CHARACTER_MEMORIES), CHARACTER_MEMORIES.c.status == "deleted"
        )
        is_of_both = (table.c.character_id == character_id, table.c.other_id == other_id)
        stands = or_(table.c.memory_id.is_(None), table.c.memory_id.not_in(deleted))
        return self._told(StoredDispositionChange, table, as_of, *is_of_both, stands)

    def is_told_in_story(self, name: str) -> bool:
        """Tell whether a name stands anywhere in the story: in its scenes, cards, or what somebody remembers."""
        texts = (CHARACTER_MEMORIES.c.content, SCENES.c.text, CHUNKS.c.content, ENTITIES.c.description, ALIASES.c.alias)
        return any(
            self._session.value(column.table.c.project_id, column.contains(name, autoescape=True)) is not None
            for column in texts
        )

    def others(self, character_id: str, *, as_of: Moment | None = None) -> list[str]:
        """Return for whom a character feels anything that is written down, in order of id."""
        table = DISPOSITION_CHANGES
        is_own = (table.c.character_id == character_id, self._before(as_of, table))
        return sorted(set(self._session.values(table.c.other_id, *is_own)))

    def keep_secret(self, character_id: str, secret: Secret) -> None:
        """Store a secret of a character in place of the one of that id."""
        self._session.touch()
        self.drop_secret(character_id, secret.secret_id)
        self._session.insert(CHARACTER_SECRETS, [_secret_row(StoredSecret(character_id=character_id, secret=secret))])

    def drop_secret(self, character_id: str, secret_id: str) -> None:
        """Take a secret away; that it was revealed to somebody stays."""
        table = CHARACTER_SECRETS
        self._session.delete(table, table.c.character_id == character_id, table.c.secret_id == secret_id)

    def secrets(self, character_id: str) -> list[Secret]:
        """Return the secrets of a character, in the order in which they were first kept."""
        table = CHARACTER_SECRETS
        return [
            Secret.model_validate(row.secret)
            for row in self._session.select(table, table.c.character_id == character_id, order=[table.c.row_id])
        ]

    def disclose(self, disclosure: Disclosure) -> None:
        """Write down that a secret was revealed, or a thing shown."""
        self._session.touch()
        self._session.insert(DISCLOSURES, [disclosure.model_dump()])

    def disclosures(self, character_id: str, other_id: str, *, as_of: Moment | None = None) -> list[Disclosure]:
        """Return what was revealed to another, and shown by that one, up to a moment."""
        table = DISCLOSURES
        return self._told(Disclosure, table, as_of, table.c.character_id == character_id, table.c.other_id == other_id)

    def set_flag(self, change: FlagChange) -> None:
        """Write down that a flag took a value."""
        self._session.touch()
        self._session.insert(STORY_FLAGS, [change.model_dump()])

    def flag_changes(self, *, as_of: Moment | None = None) -> list[FlagChange]:
        """Return what values flags took up to a moment, in the order in which it happened."""
        return self._told(FlagChange, STORY_FLAGS, as_of)

    def contents(self) -> PlayContents:
        """Return everything that the project holds of it."""
        return PlayContents(
            dispositions=self._told(StoredDispositionChange, DISPOSITION_CHANGES),
            secrets=[
                StoredSecret(character_id=row.character_id, secret=Secret.model_validate(row.secret))
                for row in self._session.select(CHARACTER_SECRETS, order=[CHARACTER_SECRETS.c.row_id])
            ],
            disclosures=self._told(Disclosure, DISCLOSURES),
            flags=self.flag_changes(),
        )

    def add_contents(self, given: PlayContents) -> None:
        """Add entries that are not stored yet; see `PlayContents.beyond`."""
        self._session.touch()
        self._session.insert(CHARACTER_SECRETS, [_secret_row(each) for each in given.secrets])
        self._session.insert(DISPOSITION_CHANGES, [each.model_dump() for each in given.dispositions])
        self._session.insert(DISCLOSURES, [each.model_dump() for each in given.disclosures])
        self._session.insert(STORY_FLAGS, [each.model_dump() for each in given.flags])

    def _told(
        self, model: type[Told], table: Table, as_of: Moment | None = None, *conditions: ColumnElement[bool]
    ) -> list[Told]:
        """Return what happened up to a moment; sessions may be told in any order, what has none is from the start."""
        told = self._session.models(model, table, self._before(as_of, table), *conditions, order=[table.c.row_id])

        def place(each: Happened) -> tuple[int, int]:
            return -1 if each.session is None else each.session, -1 if each.turn is None else each.turn

        return sorted(told, key=lambda each: (place(each), each.happened_at))

    def _before(self, as_of: Moment | None, table: Table) -> ColumnElement[bool]:
        """Return the condition that a row lies strictly before a moment.

        What has no position lies before one if it happened before the first thing that stands there or later.
        """
        if as_of is None:
            return true()
        if isinstance(as_of, datetime):
            return table.c.happened_at < as_of
        position = GamePosition(*as_of)
        firsts = [
            self._session.connection.scalar(
                select(func.min(each.c.happened_at)).where(
                    self._session.owns(each), each.c.session.is_not(None), not_(_is_earlier(each, position))
                )
            )
            for each in (CHARACTER_MEMORIES, DISPOSITION_CHANGES, DISCLOSURES, STORY_FLAGS)
        ]
        border = min((each for each in firsts if each is not None), default=None)
        unplaced = table.c.session.is_(None)
        return or_(
            unplaced if border is None else unplaced & (table.c.happened_at < border),
            table.c.session.is_not(None) & _is_earlier(table, position),
        )


def _is_earlier(table: Table, position: GamePosition) -> ColumnElement[bool]:
    same_session = (table.c.session == position.session) & (table.c.turn < position.turn)
    return or_(table.c.session < position.session, same_session)


def _secret_row(stored: StoredSecret) -> dict[str, Any]:
    return {
        "character_id": stored.character_id,
        "secret_id": stored.secret.secret_id,
        "secret": stored.secret.model_dump(mode="json", exclude_defaults=True),
    }


def _beyond(given: Iterable[Any], stored: Iterable[Any]) -> list[Any]:
    """What is given beyond what is stored; of equal ones as many as there are more."""
    left = [each.model_dump() for each in stored]
    new = []
    for each in given:
        image = each.model_dump()
        if image in left:
            left.remove(image)
        else:
            new.append(each)
    return new
