"""A change of the story: its kind, and the rows before and after."""

from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Annotated, Any, Literal, get_args

from pydantic import Field, PrivateAttr

from novelgen.characters.memory import CharacterChangeKind
from novelgen.models.base import Model
from novelgen.models.position import UtcDatetime
from novelgen.models.record import is_unsaid
from runtime.storage.columns import ChangeSubject
from runtime.storage.records import ChangeRow

CardChangeKind = Literal[
    "add", "edit", "rename", "merge", "split", "confirm", "name", "join", "drop", "delete", "relate"
]

StoryChangeKind = Literal["summary", "waive", "template", "flag"]

EntityChangeKind = Literal[CardChangeKind, StoryChangeKind]

MemoryChangeKind = Literal["add", "edit", "confirm", "delete", "pin", "unpin", "ban", "unban", "know"]

SceneChangeKind = Literal["delete", "text", "record", "title", "move", "insert", "staging"]

RunKind = Literal["shorten", "ingest", "extract"]

AuthorChangeKind = Literal[MemoryChangeKind, SceneChangeKind, RunKind]

ThreadChangeKind = Literal["add", "edit", "advance", "resolve", "abandon", "reopen"]

ChangeKind = EntityChangeKind | AuthorChangeKind | ThreadChangeKind | CharacterChangeKind

NOT_OF_ENTITIES: frozenset[ChangeKind] = frozenset(get_args(StoryChangeKind))
"""Kinds that are undone as those of entities are, and say nothing of any."""

PlayKind = Literal["feel", "secret", "reveal", "show", "flag"]

RUNS: tuple[RunKind, ...] = get_args(RunKind)
"""Kinds of which one run brings as many changes as there are scenes; they go back together."""

Image = dict[str, Any]

Images = Mapping[str, Mapping[str, Image]]
"""Table to key to row."""


class RowChange(Model):
    """A row before and after a change: differing columns, or a whole row."""

    table: str
    key: Image
    before: Image | None = None
    after: Image | None = None

    @property
    def image(self) -> Image:
        """The row after the change, or before its deletion, with its key."""
        return {**self.key, **(self.after or self.before or {})}


class Change(Model):
    """Something that was changed and can be undone by its number.

    Of an entity: its card was added, edited or renamed (`other_id` is the name before), a merge (`other_id` became
    `entity_id`), a split (`other_id` came out of `entity_id`), or a decision
    on a candidate, a name that the text alone offers: it became an entity (confirm), or a name of one (name), it
    belongs to another candidate (join), or is not offered again (drop). Of a deletion `entity_id` is what is gone,
    an entity, relationship or thread, and `other_id` its name. What was said of how two stand (relate) has both.
    A summary has its level and number, what is meant to be so (waive) whether it is of the conflicts or the findings,
    a flag its name. Changes of one run share `other_id`.
    """

    change_id: int
    subject: ChangeSubject
    kind: ChangeKind
    entity_id: str = Field(
        description="Entity that stayed or came; a candidate's name of a join; empty of a drop. Of other subjects the"
        " id of the memory, scene, thread or character."
    )
    other_id: str = Field(
        default="", description="The other entity; of a decision on a candidate, its name; what a thread said."
    )
    created_at: UtcDatetime
    undone_at: UtcDatetime | None = None
    changed_rows: int = Field(description="How many rows it changed.")
    _rows: list[RowChange] = PrivateAttr(default_factory=list)

    @property
    def rows(self) -> list[RowChange]:
        """The rows before and after."""
        return self._rows

    @property
    def entity_names(self) -> dict[str, str]:
        """Names of the entities whose cards it made, changed or took away, by id."""
        images = (row_change.image for row_change in self._rows if row_change.table == "entities")
        return {image["entity_id"]: image["name"] for image in images if "name" in image}

    @property
    def before(self) -> Image:
        """The old values of the single changed thing."""
        return next((row_change.before or {} for row_change in self._rows), {})

    @property
    def after(self) -> Image:
        """The new values of the single changed thing."""
        return next((row_change.after or {} for row_change in self._rows), {})


def number_of(change: Change | None) -> int | None:
    """Return a change's number, or None."""
    return None if change is None else change.change_id


@dataclass
class Kept:
    """The changes of a finished journal block."""

    change_id: int | None = None
    """Its number; None where nothing changed."""


ChangeNumber = Annotated[
    int | None, Field(exclude_if=is_unsaid, description="By which `undo` takes it back; None where nothing changed.")
]
"""Of what a call changed, in its result."""

Keeping = AbstractContextManager[Kept]

Recording = AbstractContextManager[list[RowChange]]


def change_of_row(row: ChangeRow) -> Change:
    """Return the change that a row of the journal tells."""
    fields = {name: getattr(row, name) for name in Change.model_fields if name in ChangeRow.model_fields}
    change = Change(**fields | {"change_id": row.row_id, "changed_rows": len(row.changed_rows)})
    change._rows = [RowChange.model_validate(changed_row) for changed_row in row.changed_rows]
    return change
