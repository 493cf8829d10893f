"""From SQL to the vector index: vectors, following the outbox, building the index anew, its proof and its size."""

from __future__ import annotations

import logging
import random
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from novelgen import errors
from novelgen.models.context import ReportIssue
from novelgen.models.memory import StoryMemoryChunk
from runtime.index.process import START_TIMEOUT_S
from runtime.index.project_index import SAMPLE_SIZE, IndexVerification, ProjectIndex, next_index_id
from runtime.index.rows import INDEXED_FIELDS, IndexRow
from runtime.ingest.scene_writes import KEY_EVENT_TAG
from runtime.model_providers.embeddings import has_direction
from runtime.settings import IngestSettings
from runtime.storage.chunks import EmbeddingChoice
from runtime.storage.database import UnitOfWork
from runtime.storage.models import INDEX_STAGE, IndexingResult
from runtime.storage.records import OutboxEntry
from runtime.storage.session import batches
from runtime.stores import MemoryStores, built_with

logger = logging.getLogger(__name__)

Vector = NDArray[np.float32]

Progress = Callable[[int, int], Any]
"""Called with what is done and what there is in all."""

ENTRIES_PER_STEP = 128
"""Entries that are embedded, indexed and marked together: what a crash may have to do again. Four times as many cost
the index a third less CPU time than 32."""

_FAILURES = (errors.VectorIndexError, errors.EmbeddingError, errors.ConfigurationError, errors.DeadlineExceededError)


TEXTS_REMEMBERED = 4_096
"""Texts of one pass whose vectors are kept at hand for equal ones: 6 MB at 384 dimensions."""


def drain_outbox(
    stores: MemoryStores, project_id: str, *, progress: Progress | None = None, limit: int | None = None
) -> IndexingResult:
    """Bring the vector index up to date with SQL, safe to repeat or interrupt.

    A failing index or embedding model stops it: what was not done keeps waiting with the reason, and the
    result says so.
    """
    work = _IndexPass(stores, project_id)
    total = work.waiting_before if limit is None else min(limit, work.waiting_before)
    issue = work.model_change() if total else None
    if issue is None and total:
        try:
            # Much may come. A model that cannot be used is reported by the step that needs it.
            one_pass = stores.embeddings.one_pass()
        except errors.ConfigurationError:
            one_pass = nullcontext()
        with one_pass:
            issue = work.follow_all(total, progress, limit) or work.unusable_issue()
    if work.is_index_gone:
        logger.warning("project %r: the vector index is gone; rebuilding it from SQL", project_id)
        return reindex(stores, project_id, progress=progress)
    if issue is not None:
        logger.warning("project %r: %s", project_id, issue.message)
        work.result.issues.append(issue)
    return work.result.model_copy(update={"waiting": work.waiting()})


def reindex(stores: MemoryStores, project_id: str, *, progress: Progress | None = None) -> IndexingResult:
    """Rebuild the vector index from SQL, embedding only missing vectors.

    The old index answers until the new one is whole and holds exactly what SQL says.
    """
    work = _IndexPass(stores, project_id)
    entries = work.claim(work.waiting_before)
    expected_ids = work.index_ids()
    done_count = 0
    with stores.embeddings.one_pass():
        for step in batches(expected_ids, ENTRIES_PER_STEP):
            work.vectors_of(work.chunks(step))
            done_count += len(step)
            if progress is not None:
                progress(done_count, len(expected_ids))
    with work.index_turn(is_rebuild=True):
        indexed = work.rebuild(entries)
    issue = work.unusable_issue()
    if issue is not None:
        logger.warning("project %r: %s", project_id, issue.message)
        work.result.issues.append(issue)
    return work.result.model_copy(update={"indexed": indexed, "waiting": work.waiting()})


def verify_index(stores: MemoryStores, project_id: str) -> IndexVerification:
    """Compare the vector index with SQL: all ids, and for a sample whether its vectors find themselves."""
    work = _IndexPass(stores, project_id)
    ids = work.index_ids()
    sample = random.Random(0).sample(ids, min(len(ids), SAMPLE_SIZE))
    verification = stores.vectors(project_id).verify(
        set(ids), work.stored_vectors(sample), vectors_of=work.stored_vectors
    )
    without_direction = work.unusable_stored(sample)
    return replace(verification, lost_ids=tuple(sorted({*verification.lost_ids, *without_direction})))


class _IndexPass:
    """One indexing pass of a project, from vectors to index rows."""

    def __init__(self, stores: MemoryStores, project_id: str) -> None:
        self._stores = stores
        self._project_id = project_id
        self._database = stores.database(project_id)
        self._timeout_s = stores.settings.memory.vector_store.write_timeout_s
        with self._database.read() as unit:
            self._built_with = built_with(unit.projects.require())
            self.waiting_before = unit.outbox.count_waiting()
        self._by_text: dict[str, Vector] = {}
        self._characters = 0
        self.result = IndexingResult()
        self.is_index_gone = False
        self.unusable_ids: set[str] = set()
        """Memories whose vector has no direction; they wait in the outbox, to be embedded again."""
        self.replaced = 0
        """Rows that were removed from the index or written over."""

    # Vectors

    def vectors_of(self, chunks: Sequence[StoryMemoryChunk]) -> dict[str, Vector]:
        """Return vectors by chunk id, keeping new nonzero ones in SQL.

        A chunk whose text was changed by somebody else in the meantime is left out: its own entry in the
        outbox comes next.
        """
        vectors_by_id = self.stored_vectors([chunk.chunk_id for chunk in chunks])
        lacking = {chunk.chunk_id: chunk.content for chunk in chunks if chunk.chunk_id not in vectors_by_id}
        if not lacking:
            return vectors_by_id
        self._embed(list(lacking.values()))
        with self._database.write() as unit:
            current = unit.memories.contents(list(lacking))
            same = {chunk_id: content for chunk_id, content in current.items() if content == lacking[chunk_id]}
            fitting = {chunk_id: self._by_text[text] for chunk_id, text in same.items() if text in self._by_text}
            self.unusable_ids |= same.keys() - fitting.keys()
            unit.embeddings.put(self._stores.embedding_identity.model_name, fitting)
        return vectors_by_id | fitting

    def stored_vectors(self, chunk_ids: Sequence[str]) -> dict[str, Vector]:
        """Return those vectors of the configured model that SQL holds, by chunk id."""
        model, dimension = self._stores.embedding_identity
        with self._database.read() as unit:
            # What the model made of another length is of no use.
            ids, matrix = unit.embeddings.matrix(model, dimension=dimension, ids=chunk_ids, with_sources=True)
        return {chunk_id: vector for chunk_id, vector in zip(ids, matrix, strict=True) if has_direction(vector)}

    def unusable_stored(self, chunk_ids: Sequence[str]) -> set[str]:
        """Return which of the memories have a stored vector without a direction, kept before those were refused."""
        model, dimension = self._stores.embedding_identity
        with self._database.read() as unit:
            ids, matrix = unit.embeddings.matrix(model, dimension=dimension, ids=chunk_ids, with_sources=True)
        return {chunk_id for chunk_id, vector in zip(ids, matrix, strict=True) if not has_direction(vector)}

    def _embed(self, wanted_keys: Sequence[str]) -> None:
        """Have the vectors of texts at hand, each embedded once."""
        texts = [text for text in dict.fromkeys(wanted_keys) if text not in self._by_text]
        vectors: Sequence[list[float] | None]
        try:
            vectors = self._stores.embeddings.embed_documents(texts)
        except errors.VectorsWithoutDirectionError as error:
            # One bad vector costs its memory alone.
            vectors = error.vectors
        if len(self._by_text) > TEXTS_REMEMBERED:
            self._by_text = {text: self._by_text[text] for text in wanted_keys if text in self._by_text}
        usable = {text: vector for text, vector in zip(texts, vectors, strict=True) if vector is not None}
        self._by_text |= {text: np.asarray(vector, np.float32) for text, vector in usable.items()}
        self.result.embedded += len(usable)

    # The outbox

    def waiting(self) -> int:
        return self._database.reading(lambda unit: unit.outbox.count_waiting())

    def claim(self, limit: int) -> list[OutboxEntry]:
        return self._database.reading(lambda unit: unit.outbox.claim(limit=limit))

    def index_ids(self) -> list[str]:
        return sorted(self._database.reading(lambda unit: unit.memories.index_ids()))

    def chunks(self, chunk_ids: Sequence[str]) -> list[StoryMemoryChunk]:
        return self._database.reading(lambda unit: unit.memories.by_ids(chunk_ids, with_sources=True, is_bare=True))

    def index_turn(self, *, is_rebuild: bool) -> AbstractContextManager[None]:
        """Hold the index, so that no write is lost during a rebuild."""
        return self._database.index_turn(is_rebuild=is_rebuild, timeout_s=self._timeout_s)

    def model_change(self) -> ReportIssue | None:
        """Report an index of another model, since mixed vectors mislead."""
        if self._built_with is None:
            return None
        try:
            mismatch = self._stores.embedding_mismatch(self._project_id, self._built_with)
        except _FAILURES as error:
            return _issue(error)
        return None if mismatch is None else _issue(errors.EmbeddingMismatchError(mismatch))

    def follow_all(self, total: int, progress: Progress | None, limit: int | None) -> ReportIssue | None:
        """Process entries step by step with progress, and return the stopping issue."""
        characters = (
            0 if progress is None else self._database.reading(lambda unit: unit.outbox.awaited(limit=limit)).characters
        )

        def tell() -> None:
            if progress is not None and characters:
                progress(min(self._characters, characters), characters)

        done_count = 0
        while done_count < total:
            tell()
            entries = self.claim(min(ENTRIES_PER_STEP, total - done_count))
            if not entries:
                break
            replaced_before = self.replaced
            try:
                with self.index_turn(is_rebuild=False):
                    is_written = self._apply(entries)
            except _FAILURES as error:
                self.is_index_gone = isinstance(error, errors.VectorIndexGoneError)
                with self._database.write() as unit:
                    unit.outbox.mark_failed(entries, str(error))
                return _issue(error)
            self.mark_done(entries, is_written=is_written, replaced_count=self.replaced - replaced_before)
            done_count += len(entries)
        tell()
        return None

    def mark_done(self, entries: Sequence[OutboxEntry], *, is_written: bool, replaced_count: int = 0) -> None:
        """Mark entries done, and update the index's model and replaced rows."""
        with self._database.write() as unit:
            if is_written:
                unit.projects.set_embedding_model(*self._stores.embedding_identity)
            if replaced_count:
                unit.projects.count_index_removals(replaced_count)
            self._settle(unit, entries)

    def unusable_issue(self) -> ReportIssue | None:
        """Report memories without a usable vector, or return None."""
        if not self.unusable_ids:
            return None
        return _issue(
            errors.EmbeddingError(
                f"the embedding model gave {len(self.unusable_ids)} memories a vector without a direction; they are "
                f"found by words, and embedded again by the next write or `novelgen index {self._project_id}`"
            )
        )

    def _settle(self, unit: UnitOfWork, entries: Sequence[OutboxEntry]) -> None:
        """Mark entries done, except those without a usable vector."""
        unit.outbox.mark_done([entry for entry in entries if entry.chunk_id not in self.unusable_ids])
        if self.unusable_ids:
            unusable = [entry for entry in entries if entry.chunk_id in self.unusable_ids]
            unit.outbox.mark_failed(unusable, "its vector has no direction")
            unit.outbox.queue(sorted(self.unusable_ids - unit.outbox.waiting_ids(self.unusable_ids)), "upsert")

    def all_rows(self) -> Iterator[IndexRow]:
        """Give the index rows of all memories, read step by step, as of when the first is asked for.

        Read before others are kept from writing to the index, what they store meanwhile would go to the old one only.
        """
        for step in batches(self.index_ids(), ENTRIES_PER_STEP):
            yield from self._rows_of(self.chunks(step))

    def _rows_of(self, chunks: Sequence[StoryMemoryChunk]) -> list[IndexRow]:
        vectors = self.vectors_of(chunks) if chunks else {}
        return [
            IndexRow(**{name: getattr(memory, name) for name in INDEXED_FIELDS}, vector=vectors[memory.chunk_id])
            for memory in chunks
            if memory.chunk_id in vectors
        ]

    def rebuild(self, entries: Sequence[OutboxEntry]) -> int:
        """Rebuild beside the live index, verify, switch, and return the rows.

        Until then readers have the live one. A rebuild that fails leaves it as it was, but for files that cannot be
        read, which are removed.
        """
        project = self._database.reading(lambda unit: unit.projects.require())
        new_id = next_index_id(project.index_id)
        beside = self._stores.vectors(self._project_id, index_id=new_id)
        # The user may have asked for a repair, which must be let through.
        beside.let_repair_through()
        for is_last in (False, True):
            try:
                # What an earlier rebuild left there goes.
                beside.drop(self.index_ids())
                built = self._build(beside)
                break
            except errors.VectorIndexDamagedError as error:
                logger.warning(
                    "project %r: removing the files of the damaged vector index: %s", self._project_id, error
                )
                beside.discard_files()
                if is_last:
                    raise
            except BaseException:
                with suppress(*_FAILURES):
                    beside.drop(self.index_ids())
                raise
        with self._database.write() as unit:
            unit.projects.set_embedding_model(*self._stores.embedding_identity)
            unit.projects.switch_index(new_id)
            self._settle(unit, entries)
        identity = built_with(project)
        if identity is not None:
            with suppress(*_FAILURES):
                self._stores.vectors(self._project_id, index_id=project.index_id, identity=identity).drop(built)
        return len(built)

    def _build(self, index: ProjectIndex) -> list[str]:
        """Store all rows in an empty index, prove that it finds them, and return their ids."""
        built = index.add(self.all_rows())
        sample = random.Random(0).sample(sorted(built), min(len(built), SAMPLE_SIZE))
        verification = index.verify(set(built), self.stored_vectors(sample), vectors_of=self.stored_vectors)
        if not verification.is_sound:
            kind = errors.VectorIndexDamagedError if verification.lost_ids else errors.VectorIndexError
            raise kind(f"the vector index does not hold what was written to it ({verification}); the old one stays")
        return built

    def _apply(self, entries: Sequence[OutboxEntry]) -> bool:
        """Apply entries, and return whether rows were written."""
        with self._database.read() as unit:
            index_state = unit.outbox.index_state()
            entry_ids = [entry.chunk_id for entry in entries]
            chunks = unit.memories.by_ids(entry_ids, with_sources=True, is_bare=True)
        semantic = [chunk for chunk in chunks if chunk.is_indexed]
        staying = {chunk.chunk_id for chunk in semantic}
        by_words_only = {chunk.chunk_id for chunk in chunks} - staying
        # What is found by words only and was never asked for before cannot be in the index.
        gone_ids = {
            entry.chunk_id
            for entry in entries
            if entry.chunk_id not in staying and (entry.revision > 1 or entry.chunk_id not in by_words_only)
        }
        rows = self._rows_of(semantic)
        if rows or gone_ids:
            index = self._stores.vectors(self._project_id, index_id=index_state.index_id)
            # Loading its libraries may take a loaded machine long; an index that answers is given little time, since
            # whatever it does not take waits in the outbox.
            index.wait_started(START_TIMEOUT_S)
            index.add(rows, must_hold_rows=index_state.holds_rows, timeout_s=self._timeout_s)
            if gone_ids:
                index.delete(sorted(gone_ids), timeout_s=self._timeout_s)
        written_over = {entry.chunk_id for entry in entries if entry.revision > 1}
        self.replaced += len(gone_ids) + sum(row.chunk_id in written_over for row in rows)
        self.result.indexed += len(rows)
        self._characters += sum(len(row.content) for row in rows)
        self.result.removed += len(gone_ids)
        return bool(rows)


def _issue(error: Exception) -> ReportIssue:
    kind = "timeout" if isinstance(error, errors.DeadlineExceededError) else "unavailable"
    return ReportIssue.model_validate(
        {"stage": INDEX_STAGE, "kind": kind, "message": f"the vector index does not follow: {error}"}
    )


MAX_KEPT_PER_MEMORY = 3
SPARE_VECTORS = 2_000
"""Below this an index is never built again for its size: it costs 2 to 4 MB."""

_UPKEEP_FAILURES = (errors.StoreError, errors.ConfigurationError, errors.DeadlineExceededError)


def verify_after_crash(stores: MemoryStores, project_id: str, result: IndexingResult) -> IndexingResult:
    """Verify an index after a killed process, and rebuild it if unsound.

    Chroma keeps its vectors in several files that are not written at one stroke, so that a kill may cost some of
    them without a word. A reader cannot tell; the next writer looks, once.
    """
    if not _has_followed(result) or not stores.vectors(project_id, index_id=None).is_in_doubt:
        return result
    try:
        verification = verify_index(stores, project_id)
        if not verification.is_sound:
            logger.warning("project %r: the vector index was interrupted (%s); rebuilding it", project_id, verification)
            reindex(stores, project_id)
    except _UPKEEP_FAILURES as error:
        logger.warning("project %r: the interrupted vector index was not verified: %s", project_id, error)
        return result.with_issue(
            f"the vector index was interrupted and could not be proven sound: {error}; run `novelgen doctor --repair`"
        )
    return result


def rebuild_if_bloated(stores: MemoryStores, project_id: str, result: IndexingResult) -> IndexingResult:
    """Rebuild an index of Chroma when it keeps far more vectors than it must hold: it never frees their place.

    Measured: every 150 edits of scenes with 6 vectors each left 1 MB behind, without end. A rebuild takes about a
    second per 600 memories and embeds nothing; readers have the old index meanwhile, and what others store waits.
    """
    excess = _excess(stores, project_id) if _has_followed(result) else None
    if excess is None:
        return result
    logger.info("project %r: %s; rebuilding it", project_id, excess)
    try:
        reindex(stores, project_id)
    except _UPKEEP_FAILURES as error:
        logger.warning("project %r: the vector index was not made smaller: %s", project_id, error)
        return result.with_issue(f"{excess} and was not made smaller: {error}")
    return result


def _has_followed(result: IndexingResult) -> bool:
    return not result.waiting and bool(result.indexed or result.removed)


def _excess(stores: MemoryStores, project_id: str) -> str | None:
    """Report an index with far too many vectors, or return None."""
    with stores.database(project_id).read() as unit:
        removals = unit.projects.require().index_removals
        # Those that consolidated memories stand for are held as well, though no read sees them.
        memories = unit.memories.count_indexable() if removals > SPARE_VECTORS else 0
    kept_count = memories + removals
    if removals <= SPARE_VECTORS or kept_count <= SPARE_VECTORS + MAX_KEPT_PER_MEMORY * memories:
        return None
    if not stores.vectors(project_id, index_id=None).keeps_removed_vectors:
        return None
    return f"the vector index keeps {kept_count} vectors for {memories} memories"


def stored_otherwise(stores: MemoryStores, project_id: str) -> int:
    """Count memories whose embedding differs from `memory.ingest`."""
    choice = _embedding_choice(stores.settings.memory.ingest)
    with stores.database(project_id).read() as unit:
        return len(unit.embedding_choices.ids_with_other_choice(choice))


def apply_embedding_settings(stores: MemoryStores, project_id: str) -> int:
    """Apply `memory.ingest` to all stored scenes, indexed at the next turn."""
    choice = _embedding_choice(stores.settings.memory.ingest)
    with stores.database(project_id).write() as unit:
        return unit.embedding_choices.apply(choice)


def _embedding_choice(settings: IngestSettings) -> EmbeddingChoice:
    return EmbeddingChoice(
        passages=settings.embed_passages, key_events=settings.embed_key_events, key_event_tag=KEY_EVENT_TAG
    )
