"""An index that is kept in the program's own memory, and searched exactly: for the tests of those who use novelgen."""

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from novelgen.deadlines import Deadline
from novelgen.errors import VectorIndexDamagedError, VectorIndexError
from runtime.index.locations import IndexLocation, ProjectKey, Stamp
from runtime.index.process import IndexProcess
from runtime.index.rows import IndexHit, Metadata, QueryCut, decode_hit, exact_search, may_be_shown

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
        self._operations: dict[str, Callable[..., Any]] = {
            "upsert": self._upsert,
            "delete": self._delete,
            "query": self._query,
            "ids": self._ids,
            "drop": lambda key: self._live.pop(key, None),
            "build_begin": self._build_begin,
            "build_commit": self._build_commit,
            "build_abort": lambda key: self._built.pop(key, None),
        }

    def start(self) -> None:
        """Nothing has to start."""

    def wait_started(self, deadline: Deadline) -> None:
        """Nothing has to start."""

    def call(self, operation: str, deadline: Deadline, **arguments: Any) -> Any:
        """Do one operation."""
        with self._lock:
            return self._operations[operation](**arguments)

    def close_idle(self) -> bool:
        """Keep what is there: no process holds it."""
        return True

    def _upsert(
        self, stamp: Stamp, columns: dict[str, Any], *, must_exist: bool = False, is_rebuild: bool = False
    ) -> None:
        if must_exist and not is_rebuild and stamp.key not in self._live:
            raise VectorIndexDamagedError(f"the index of project {stamp.project_id!r} is gone; rebuild it")
        place = self._built if is_rebuild else self._live
        collection = place.setdefault(stamp.key, _Collection(stamp))
        collection.stamp.require_same_vectors(stamp)
        rows = zip(columns["embeddings"], columns["documents"], columns["metadatas"], strict=True)
        collection.rows.update(zip(columns["ids"], rows, strict=True))

    def _delete(self, key: ProjectKey, chunk_ids: Sequence[str]) -> None:
        for chunk_id in chunk_ids if key in self._live else ():
            self._live[key].rows.pop(chunk_id, None)

    def _query(
        self,
        stamp: Stamp,
        vectors: NDArray[np.float32],
        cut: QueryCut,
        *,
        must_exist: bool = False,
        is_rebuild: bool = False,
    ) -> list[list[IndexHit]]:
        found = (self._built if is_rebuild else self._live).get(stamp.key)
        if found is None:
            if must_exist:
                raise VectorIndexDamagedError(f"the index of project {stamp.project_id!r} is gone; rebuild it")
            return [[] for _ in vectors]
        found.stamp.require_same_vectors(stamp)
        wanted = found.rows.keys() if cut.chunk_ids is None else found.rows.keys() & set(cut.chunk_ids)
        ids = [
            each
            for each in wanted
            if may_be_shown(found.rows[each][2], project_id=cut.project_id, before_key=cut.before_key)
        ]
        if not ids:
            return [[] for _ in vectors]
        matrix = np.stack([found.rows[each][0] for each in ids])
        answers = exact_search(matrix, ids, query_vectors=vectors, top_k=cut.top_k)
        return [
            [
                decode_hit(chunk_id, found.rows[chunk_id][1], found.rows[chunk_id][2], similarity=score)
                for chunk_id, score in hits
            ]
            for hits in answers
        ]

    def _ids(self, key: ProjectKey, *, is_rebuild: bool = False) -> list[str]:
        found = (self._built if is_rebuild else self._live).get(key)
        return [] if found is None else list(found.rows)

    def _build_begin(self, stamp: Stamp) -> None:
        self._built[stamp.key] = _Collection(stamp)

    def _build_commit(self, key: ProjectKey) -> None:
        if key not in self._built:
            raise VectorIndexError(f"no rebuild of project {key.project_id!r} is under way; begin one")
        self._live[key] = self._built.pop(key)
