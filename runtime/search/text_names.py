"""The names that a story's text offers, kept until its text changes."""

import contextlib
import threading
from collections.abc import Sequence
from functools import cache
from hashlib import sha256
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from novelgen.errors import ContextWriteError
from novelgen.language import candidates
from novelgen.language.candidates import NameCandidate, candidate_of, find_name_candidates, often_enough, without_known
from novelgen.language.matching import NameFinder
from novelgen.models.position import StoryPosition
from runtime.files.paths import write_text_atomically
from runtime.storage.change import Change
from runtime.storage.database import UnitOfWork
from runtime.stores import RecentlyUsed

REMEMBERED_STORIES = 8
"""Names of so many stories and positions are kept in memory; the reading of each scene is kept besides."""

NAMES_FOLDER = "names_of_text"
LONG_BOOK = 100_000
"""Characters from which on reading the names of a text takes much longer than reading them from a file."""

_lock = threading.Lock()
_candidates_by_story: RecentlyUsed[str, list[NameCandidate]] = RecentlyUsed(REMEMBERED_STORIES)
_names = TypeAdapter(list[NameCandidate])


def names_of_text(unit: UnitOfWork, *, as_of: StoryPosition) -> list[NameCandidate]:
    """Return every name that the scenes before a position offer, however rare, whoever is known.

    They are derived from the stored texts alone: a text that changes changes them. Those of a long text are kept
    beside its database, too, for a program that starts anew.
    """
    mark = sha256(f"{_rules_mark()} {unit.scenes.texts_mark(as_of=as_of)}".encode()).hexdigest()
    with _lock:
        matching_candidates = _candidates_by_story.get(mark)
    if matching_candidates is not None:
        return matching_candidates
    file = None if unit.folder is None else unit.folder / NAMES_FOLDER / f"{mark}.json"
    matching_candidates = None if file is None else _names_kept(file)
    if matching_candidates is None:
        texts = unit.scenes.texts_as_of(as_of=as_of)
        matching_candidates = find_name_candidates(texts, min_count=1, is_story=True)
        if file is not None and sum(len(text) for _, _, text in texts) >= LONG_BOOK:
            # What cannot be kept is read again; what was written longest ago makes room.
            with contextlib.suppress(ContextWriteError, OSError):
                write_text_atomically(file, _names.dump_json(matching_candidates).decode(), root=file.parents[1])
                kept_paths = sorted(file.parent.glob("*.json"), key=lambda path: path.stat().st_mtime)
                for old in kept_paths[:-REMEMBERED_STORIES]:
                    old.unlink(missing_ok=True)
    with _lock:
        _candidates_by_story.use(mark, matching_candidates)
        _candidates_by_story.take_surplus()
    return matching_candidates


def _names_kept(file: Path) -> list[NameCandidate] | None:
    try:
        return _names.validate_json(file.read_bytes())
    except (OSError, ValidationError):
        return None


@cache
def _rules_mark() -> str:
    """Return a version mark of the name rules for caches."""
    folder = Path(candidates.__file__).parent
    rules = sorted([*folder.glob("*.py"), *folder.glob("*.toml")])
    return sha256(b"".join(path.read_bytes() for path in rules)).hexdigest()


def open_candidates(unit: UnitOfWork, *, as_of: StoryPosition, min_count: int | None) -> list[NameCandidate]:
    """Return open name candidates, joined as the author decided."""
    decided = _decided(unit)
    dropped = [change.other_id for change in decided if change.kind == "drop"]
    known_ids = [name for entity in unit.entities.list_as_of(as_of=as_of) for name in entity.names()]
    offered = without_known(
        names_of_text(unit, as_of=as_of), [*known_ids, *dropped], joined_names=_joined_names(decided)
    )
    return often_enough(offered, min_count)


def names_in_text(unit: UnitOfWork, names: Sequence[str], *, as_of: StoryPosition) -> dict[str, list[str]]:
    """Return the names in the text before a position, by bearer.

    Dropped candidates are found, too: they are not offered, but their passages are still about them.
    """
    offered = without_known(names_of_text(unit, as_of=as_of), [], joined_names=_joined_names(_decided(unit)))
    results = {name: candidate.names() for name in names if (candidate := candidate_of(offered, name)) is not None}
    others = NameFinder(name for name in names if name not in results)
    texts = unit.scenes.texts_as_of(as_of=as_of) if len(results) < len(set(names)) else []
    held_names = {match.name for _, _, text in texts for match in others.find(text)}
    return results | {name: [name] for name in names if name in held_names}


def _decided(unit: UnitOfWork) -> list[Change]:
    return [change for change in unit.merges.list_all() if change.undone_at is None]


def _joined_names(decided: Sequence[Change]) -> list[tuple[str, str]]:
    return [(change.entity_id, change.other_id) for change in decided if change.kind == "join"]
