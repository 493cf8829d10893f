"""Names that a story's text offers before a position, found once for the same texts."""

from __future__ import annotations

import threading
from collections.abc import Sequence

from novelgen.language.candidates import NameCandidate, candidate_of, find_name_candidates, often_enough, without_known
from novelgen.language.matching import NameFinder
from novelgen.models.position import StoryPosition
from runtime.storage.journal import Change
from runtime.storage.unit import UnitOfWork
from runtime.stores import RecentlyUsed

REMEMBERED_STORIES = 8
"""Names of so many stories and positions are kept in memory; the reading of each scene is kept besides."""

_lock = threading.Lock()
_remembered: RecentlyUsed[str, list[NameCandidate]] = RecentlyUsed(REMEMBERED_STORIES)


def names_of_text(unit: UnitOfWork, *, as_of: StoryPosition) -> list[NameCandidate]:
    """Return every name that the scenes before a position offer, however rare, whoever is known.

    They are derived from the stored texts alone and kept nowhere else: a text that changes changes them.
    """
    mark = unit.scenes.texts_mark(as_of=as_of)
    with _lock:
        found = _remembered.get(mark)
    if found is None:
        found = find_name_candidates(unit.scenes.texts_as_of(as_of=as_of), min_count=1)
        with _lock:
            _remembered.use(mark, found)
            _remembered.take_surplus()
    return found


def open_candidates(unit: UnitOfWork, *, as_of: StoryPosition, min_count: int | None) -> list[NameCandidate]:
    """Return the names that are no entity's by then and that the author has not dropped, joined as the author said."""
    decided = _decided(unit)
    dropped = [change.other_id for change in decided if change.kind == "drop"]
    known = [name for entity in unit.entities.list_as_of(as_of=as_of) for name in entity.names()]
    candidates = without_known(names_of_text(unit, as_of=as_of), [*known, *dropped], joined=_joined(decided))
    return often_enough(candidates, min_count)


def names_in_text(unit: UnitOfWork, names: Sequence[str], *, as_of: StoryPosition) -> dict[str, list[str]]:
    """Return which names stand in the text before a position, each with all names of who bears it there.

    Dropped candidates are found, too: they are not offered, but their passages are still about them.
    """
    candidates = without_known(names_of_text(unit, as_of=as_of), [], joined=_joined(_decided(unit)))
    found = {name: each.names() for name in names if (each := candidate_of(candidates, name)) is not None}
    others = NameFinder(name for name in names if name not in found)
    texts = unit.scenes.texts_as_of(as_of=as_of) if len(found) < len(set(names)) else []
    held = {match.name for _, _, text in texts for match in others.find(text)}
    return found | {name: [name] for name in names if name in held}


def _decided(unit: UnitOfWork) -> list[Change]:
    return [change for change in unit.merges.list_all() if change.undone_at is None]


def _joined(decided: Sequence[Change]) -> list[tuple[str, str]]:
    return [(change.entity_id, change.other_id) for change in decided if change.kind == "join"]
