"""What was read of a story at a position, kept until the project is written to.

Who knows what, what of it one character may recall, and the names that the text offers.
"""

import contextlib
import threading
import weakref
from collections.abc import Callable, Hashable, Sequence
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Generic, NamedTuple, TypeVar

from pydantic import BaseModel, ValidationError

from novelgen.characters.from_story import StoryShare, share_of_story
from novelgen.errors import ContextWriteError
from novelgen.language import candidates
from novelgen.language.candidates import NameCandidate, candidate_of, find_name_candidates, often_enough, without_known
from novelgen.language.matching import NameFinder
from novelgen.memory.character_view import CharacterView, StoryKnowledge
from novelgen.memory.knowledge_rules import KnowledgeRules
from novelgen.memory.story import KnowledgeStory
from novelgen.models.memory import DISTILLED_TYPES
from novelgen.models.position import END_OF_STORY, StoryPosition
from runtime.files.paths import write_text_atomically
from runtime.storage.database import UnitOfWork
from runtime.storage.journal import Change
from runtime.storage.records import MemoryFilter
from runtime.stores import MemoryStores, RecentlyUsed

Reading = TypeVar("Reading")
Question = tuple[str, Hashable]


class _Kept(NamedTuple, Generic[Reading]):
    """A reading, and the write to the project up to which it is known to hold."""

    last_write: tuple[str, int]
    reading: Reading


class KeptReadings(Generic[Reading]):
    """Answers to the latest questions about stories; a question is read again only after a write to the project.

    The position belongs to the question, so that nothing is told at one which was read at another. Answers are
    shared between all who ask: nobody may change one. Safe between threads.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._lock = threading.Lock()
        self._kept: weakref.WeakKeyDictionary[MemoryStores, RecentlyUsed[Question, _Kept[Reading]]]
        self._kept = weakref.WeakKeyDictionary()

    def read(
        self,
        stores: MemoryStores,
        project_id: str,
        asked: Hashable,
        *,
        read: Callable[[Reading | None], Reading],
        is_whole: Callable[[Reading], bool] = lambda _: True,
    ) -> Reading:
        """Return the answer to a question; one that is not whole yet is read again whatever was written."""
        question = (project_id, asked)
        # The number of the write is read first: an answer is never older than the number it is kept under.
        with stores.database(project_id).read() as unit:
            last_write = unit.projects.require().last_write
        with self._lock:
            kept = self._kept.setdefault(stores, RecentlyUsed(self._limit))
            found = kept.get(question)
        if found is not None and found.last_write == last_write and is_whole(found.reading):
            return found.reading
        reading = read(None if found is None else found.reading)
        with self._lock:
            kept.use(question, _Kept(last_write, reading))
            kept.take_surplus()
        return reading


REMEMBERED_RULES = 4
"""Of so many positions the story as it was read is kept in memory, for each opened set of stores."""

_rules: KeptReadings[KnowledgeRules] = KeptReadings(REMEMBERED_RULES)


def knowledge_story(stores: MemoryStores, project_id: str, *, as_of: StoryPosition) -> KnowledgeStory:
    """Return the story strictly before a position, as far as it tells who knows what."""
    return knowledge_rules(stores, project_id, as_of=as_of).story


def knowledge_rules(stores: MemoryStores, project_id: str, *, as_of: StoryPosition) -> KnowledgeRules:
    """Return the rules over that story, which are the same until a write changes what it tells.

    What a character of a game remembers is a write, too, and changes nothing here. The rules keep the words of all
    scenes once they were asked who could have told what.
    """

    def read(former: KnowledgeRules | None) -> KnowledgeRules:
        with stores.database(project_id).read() as unit:
            story = unit.knowledge_story(as_of=as_of)
        return former if former is not None and former.story == story else KnowledgeRules(story)

    return _rules.read(stores, project_id, as_of, read=read)


MAX_SHARES = 64
"""Of so many characters and positions it stays at hand what they know, for each opened set of stores."""


class _Known(NamedTuple):
    view: CharacterView
    share: StoryShare


_shares: KeptReadings[_Known] = KeptReadings(MAX_SHARES)


def story_share(
    stores: MemoryStores, project_id: str, character_id: str, *, as_of: StoryPosition, model: str | None
) -> StoryShare:
    """Return what a character knows of the story strictly before a position, with its vectors."""

    def read(former: _Known | None) -> _Known:
        rules = knowledge_rules(stores, project_id, as_of=as_of)
        view = former.view if former is not None else None
        if view is None or view.shared.rules is not rules:
            view = StoryKnowledge(rules).of(character_id, is_shown=True)
        return _Known(view, _read_share(stores, project_id, view, as_of=as_of, model=model))

    # What has no vector yet may have one at the next remark, without the story being written to.
    asked = (character_id, as_of, model)
    known = _shares.read(stores, project_id, asked, read=read, is_whole=lambda known: not known.share.without_vector)
    return known.share


def _read_share(
    stores: MemoryStores, project_id: str, view: CharacterView, *, as_of: StoryPosition, model: str | None
) -> StoryShare:
    wanted = MemoryFilter(as_of=as_of, content_types=list(DISTILLED_TYPES), unconsolidated=True)
    with stores.database(project_id).read() as unit:
        ids = [each.chunk.chunk_id for each in unit.memories.list_matching(wanted)]
        # Read again by id, which tells what replaced a memory before the position.
        chunks = unit.memories.by_ids(ids, as_of=as_of, with_sources=True)
        vectors = {}
        if model is not None:
            names, matrix = unit.embeddings.matrix(model, as_of=as_of, ids=ids, with_sources=True)
            vectors = dict(zip(names, matrix, strict=True))
        entities = unit.entities.list_as_of(as_of=as_of)
    settings = stores.settings.memory.character_memory
    return share_of_story(view, chunks, entities=entities, vectors=vectors, settings=settings)


REMEMBERED_STORIES = 8
"""Names of so many stories and positions are kept in memory; the reading of each scene is kept besides."""

NAMES_FILE = "names_of_text.json"
LONG_BOOK = 100_000
"""Characters from which on reading the names of a text takes much longer than reading them from a file."""


class NamesKept(BaseModel):
    """The names that all of a story's text offers, with what they were told from and by."""

    rules: str
    texts: str
    names: list[NameCandidate]


_lock = threading.Lock()
_remembered: RecentlyUsed[str, list[NameCandidate]] = RecentlyUsed(REMEMBERED_STORIES)


def names_of_text(unit: UnitOfWork, *, as_of: StoryPosition) -> list[NameCandidate]:
    """Return every name that the scenes before a position offer, however rare, whoever is known.

    They are derived from the stored texts alone: a text that changes changes them. Those of a whole long book are
    kept beside its database, too, for a program that starts anew.
    """
    mark = unit.scenes.texts_mark(as_of=as_of)
    with _lock:
        found = _remembered.get(mark)
    if found is not None:
        return found
    folder = unit.folder if mark == unit.scenes.texts_mark(as_of=END_OF_STORY) else None
    file = None if folder is None else folder / NAMES_FILE
    found = None if file is None else _names_kept(file, mark)
    if found is None:
        texts = unit.scenes.texts_as_of(as_of=as_of)
        found = find_name_candidates(texts, min_count=1)
        if file is not None and sum(len(text) for _, _, text in texts) >= LONG_BOOK:
            kept = NamesKept(rules=_rules_mark(), texts=mark, names=found)
            # What cannot be kept is read again.
            with contextlib.suppress(ContextWriteError):
                write_text_atomically(file, kept.model_dump_json(), root=file.parent)
    with _lock:
        _remembered.use(mark, found)
        _remembered.take_surplus()
    return found


def _names_kept(file: Path, mark: str) -> list[NameCandidate] | None:
    """Return the names that a file keeps, where they are of these texts and by these rules."""
    try:
        kept = NamesKept.model_validate_json(file.read_bytes())
    except (OSError, ValidationError):
        return None
    return kept.names if (kept.rules, kept.texts) == (_rules_mark(), mark) else None


@cache
def _rules_mark() -> str:
    """Return a mark of the rules by which names are told: who corrects a rule must not be told what was kept before."""
    rules = sorted(Path(candidates.__file__).parent.glob("*.py"))
    return sha256(b"".join(each.read_bytes() for each in rules)).hexdigest()


def open_candidates(unit: UnitOfWork, *, as_of: StoryPosition, min_count: int | None) -> list[NameCandidate]:
    """Return the names that are no entity's by then and that the author has not dropped, joined as the author said."""
    decided = _decided(unit)
    dropped = [change.other_id for change in decided if change.kind == "drop"]
    known = [name for entity in unit.entities.list_as_of(as_of=as_of) for name in entity.names()]
    offered = without_known(names_of_text(unit, as_of=as_of), [*known, *dropped], joined=_joined(decided))
    return often_enough(offered, min_count)


def names_in_text(unit: UnitOfWork, names: Sequence[str], *, as_of: StoryPosition) -> dict[str, list[str]]:
    """Return which names stand in the text before a position, each with all names of who bears it there.

    Dropped candidates are found, too: they are not offered, but their passages are still about them.
    """
    offered = without_known(names_of_text(unit, as_of=as_of), [], joined=_joined(_decided(unit)))
    found = {name: each.names() for name in names if (each := candidate_of(offered, name)) is not None}
    others = NameFinder(name for name in names if name not in found)
    texts = unit.scenes.texts_as_of(as_of=as_of) if len(found) < len(set(names)) else []
    held = {match.name for _, _, text in texts for match in others.find(text)}
    return found | {name: [name] for name in names if name in held}


def _decided(unit: UnitOfWork) -> list[Change]:
    return [change for change in unit.merges.list_all() if change.undone_at is None]


def _joined(decided: Sequence[Change]) -> list[tuple[str, str]]:
    return [(change.entity_id, change.other_id) for change in decided if change.kind == "join"]
