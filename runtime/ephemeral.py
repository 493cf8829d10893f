"""A memory for tests of programs that use novelgen: real stores, gone when closed, and an exact index in memory."""

import shutil
import tempfile
import threading
import weakref
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from langchain_core.embeddings import Embeddings
from langchain_core.language_models import BaseChatModel
from numpy.typing import NDArray

from novelgen.deadlines import Deadline
from novelgen.errors import VectorIndexDamagedError
from runtime.front_door import Memory
from runtime.index.locations import IndexLocation, ProjectKey, Stamp
from runtime.index.process import IndexProcess, IndexProcessRegistry
from runtime.index.rows import IndexHit, Metadata, QueryCut, decode_hit, exact_search, may_be_shown
from runtime.story.projects import ProjectStores


def open_ephemeral(
    *, embeddings: Embeddings | str = "fake:64", chat_model: BaseChatModel | None = None, **settings: Any
) -> Memory:
    """Return a memory of stories for a test: nothing is loaded, no process starts, and nothing of it stays.

    Stories are stored and searched as always, in SQLite, in a folder of its own that goes when it is closed. Neither a
    model nor a project of the environment is used.

    Args:
        embeddings: LangChain embeddings, or a name; those by default are made of the letters and mean nothing.
        chat_model: A scripted model of LangChain, such as `FakeListChatModel`; None lets rules do.
        **settings: As for `novelgen.open`.

    Returns:
        The memory; close it, or use it in a `with` block.
    """
    folder = tempfile.mkdtemp(prefix="novelgen-")
    own: dict[str, Any] = {"projects_dir": Path(folder), "database_url": f"sqlite:///{folder}/stories.db", "model": ""}
    if isinstance(embeddings, str):
        own["embedding_model"] = embeddings
    return _EphemeralMemory(
        own | settings, embeddings=None if isinstance(embeddings, str) else embeddings, chat_model=chat_model
    )


class _EphemeralMemory(Memory):
    """A memory whose folder goes with it, when it is closed or nobody holds it any more."""

    def __init__(
        self, settings: dict[str, Any], *, embeddings: Embeddings | None, chat_model: BaseChatModel | None
    ) -> None:
        super().__init__(settings, embeddings=embeddings, chat_model=chat_model)
        self._opened = ProjectStores(settings, embeddings=embeddings, indexes=IndexProcessRegistry(IndexInProgram))
        self._remove = weakref.finalize(self, shutil.rmtree, self.settings.projects_dir, ignore_errors=True)

    def close(self) -> None:
        """Close it, and leave nothing."""
        super().close()
        self._remove()


Row = tuple[NDArray[np.float32], str, Metadata]


@dataclass
class _Collection:
    stamp: Stamp
    rows: dict[str, Row] = field(default_factory=dict)


class IndexInProgram(IndexProcess):
    """Answers what the process of an index does, at once and without one; it is gone with the program."""

    def __init__(self, location: IndexLocation) -> None:
        super().__init__(location)
        self._lock = threading.Lock()
        self._live: dict[ProjectKey, _Collection] = {}
        self._built: dict[ProjectKey, _Collection] = {}

    def start(self) -> None:
        """Nothing has to start."""

    def wait_started(self, deadline: Deadline) -> None:
        """Nothing has to start."""

    def call(self, operation: str, deadline: Deadline, **arguments: Any) -> Any:
        """Do one operation."""
        with self._lock:
            return getattr(self, f"_{operation}")(**arguments)

    def close_idle(self) -> bool:
        """Keep what is there: no process holds it."""
        return True

    def _found(self, stamp: Stamp, *, must_exist: bool) -> _Collection | None:
        found = self._live.get(stamp.key)
        if found is None and must_exist:
            raise VectorIndexDamagedError(f"the index of project {stamp.project_id!r} is gone; rebuild it")
        if found is not None:
            found.stamp.require_same_vectors(stamp)
        return found

    def _upsert(
        self, stamp: Stamp, columns: dict[str, Any], *, must_exist: bool = False, is_rebuild: bool = False
    ) -> None:
        found = self._built[stamp.key] if is_rebuild else self._found(stamp, must_exist=must_exist)
        if found is None:
            found = self._live[stamp.key] = _Collection(stamp)
        rows = zip(columns["embeddings"], columns["documents"], columns["metadatas"], strict=True)
        found.rows.update(zip(columns["ids"], rows, strict=True))

    def _delete(self, key: ProjectKey, chunk_ids: Sequence[str]) -> None:
        for chunk_id in chunk_ids if key in self._live else ():
            self._live[key].rows.pop(chunk_id, None)

    def _query(
        self, stamp: Stamp, vectors: NDArray[np.float32], cut: QueryCut, *, must_exist: bool = False
    ) -> list[list[IndexHit]]:
        found = self._found(stamp, must_exist=must_exist)
        rows = {} if found is None else found.rows
        wanted = rows if cut.chunk_ids is None else rows.keys() & set(cut.chunk_ids)
        ids = [each for each in wanted if may_be_shown(rows[each][2], cut)]
        if not ids:
            return [[] for _ in vectors]
        matrix = np.stack([rows[each][0] for each in ids])
        answers = exact_search(matrix, ids, query_vectors=vectors, top_k=cut.top_k)
        return [[decode_hit(name, *rows[name][1:], similarity=score) for name, score in hits] for hits in answers]

    def _ids(self, key: ProjectKey) -> list[str]:
        return list(self._live[key].rows) if key in self._live else []

    def _drop(self, key: ProjectKey) -> None:
        self._live.pop(key, None)

    def _build_begin(self, stamp: Stamp) -> None:
        self._built[stamp.key] = _Collection(stamp)

    def _build_commit(self, key: ProjectKey, **_: Any) -> None:
        self._live[key] = self._built.pop(key)

    def _build_abort(self, key: ProjectKey) -> None:
        self._built.pop(key, None)
