"""The vectors that are kept beside memories."""

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt
from sqlalchemy import select

from novelgen.errors import EmbeddingError
from novelgen.models.position import END_OF_STORY, StoryPosition
from runtime.storage.session import Repository, before, visible
from runtime.storage.tables import CHUNKS, EMBEDDINGS

FloatMatrix = npt.NDArray[np.float32]

_STORED_TYPE = np.dtype("<f4")


class EmbeddingRepository(Repository):
    """Stores and reads vectors."""

    def put(self, model: str, vectors: Mapping[str, Sequence[float] | FloatMatrix]) -> int:
        """Store vectors by chunk id, over what was stored for the model before."""
        arrays = {chunk_id: np.asarray(vector, dtype=_STORED_TYPE) for chunk_id, vector in vectors.items()}
        shapes = {array.shape for array in arrays.values()}
        if len(shapes) > 1 or any(len(shape) != 1 or shape[0] == 0 for shape in shapes):
            raise EmbeddingError(f"vectors of one call must have one length, but have the shapes {shapes!r}")
        broken = next((chunk_id for chunk_id, array in arrays.items() if not np.isfinite(array).all()), None)
        if broken is not None:
            raise EmbeddingError(f"the vector of {broken!r} holds values that are not finite; embed it again")
        dimension = shapes.pop()[0] if shapes else 0
        rows = [
            {
                "chunk_row_id": row_id,
                "model": model,
                "dimension": dimension,
                "content_hash": content_hash,
                "vector": arrays[chunk_id].tobytes(),
            }
            for chunk_id, row_id, content_hash in self._session.select(
                [CHUNKS.c.chunk_id, CHUNKS.c.row_id, CHUNKS.c.content_hash],
                self._session.among(CHUNKS.c.chunk_id, arrays),
            )
        ]
        statement = self._session.upsert(EMBEDDINGS)
        statement = statement.on_conflict_do_update(
            index_elements=["chunk_row_id", "model"],
            set_={name: statement.excluded[name] for name in ("dimension", "content_hash", "vector")},
        )
        if rows:
            self._session.run(statement, rows)
        return len(rows)

    def matrix(
        self,
        model: str,
        *,
        as_of: StoryPosition = END_OF_STORY,
        ids: Sequence[str] | None = None,
        with_sources: bool = False,
    ) -> tuple[list[str], FloatMatrix]:
        """Return the vectors of active memories before a position, in one array."""
        joined = CHUNKS.join(EMBEDDINGS, EMBEDDINGS.c.chunk_row_id == CHUNKS.c.row_id)
        cut = before(as_of, CHUNKS) if with_sources else visible(self._session.project_id, as_of)
        statement = (
            select(CHUNKS.c.chunk_id, EMBEDDINGS.c.vector)
            .select_from(joined)
            .where(self._session.owns(CHUNKS), CHUNKS.c.status == "active", cut, EMBEDDINGS.c.model == model)
        )
        if ids is not None:
            statement = statement.where(self._session.among(CHUNKS.c.chunk_id, ids))
        rows = self._session.rows(statement)
        if not rows:
            return [], np.zeros((0, 0), dtype=np.float32)
        joined_bytes = b"".join(row[1] for row in rows)
        matrix = np.frombuffer(joined_bytes, dtype=_STORED_TYPE).reshape(len(rows), -1)
        return [row[0] for row in rows], matrix.astype(np.float32, copy=False)
