"""Made-up memories that fill a project to a size: seeded, written directly, never embedded."""

import random
from collections.abc import Iterable, Iterator, Sequence
from itertools import count, islice

import numpy as np
from numpy.typing import NDArray

from novelgen.models.memory import StoryMemoryChunk
from runtime.index.rows import IndexRow
from runtime.storage.models import SceneWrite
from runtime.stores import MemoryStores
from tests.benchmarks.retrieval.book import BenchBook

SEED = 11
CLUSTERS = 300
NOISE = 0.5
"""Length of the noise beside a cluster's centre of length one."""
MEMORIES_PER_SCENE = 10
SUMMARIES_PER_SCENE = 2
SCENES_PER_CHAPTER = 10
SCENES_PER_STEP = 100


def fill_project(stores: MemoryStores, project_id: str, book: BenchBook, *, size: int) -> None:
    """Add made-up scenes after a book's last chapter until a project holds `size` memories."""
    with stores.database(project_id).read() as unit:
        stored = unit.memories.count()
    wanted = max(0, size - stored)
    fillers = Fillers(book, project_id, dimension=stores.embedding_identity.dimension)
    scenes = fillers.scenes()
    written = 0
    while written < wanted:
        step = _lacking(stores, project_id, islice(scenes, SCENES_PER_STEP), limit=wanted - written)
        _write(stores, project_id, step, fillers)
        written += sum(len(scene.chunks) for scene in step)


def chapter_after(book: BenchBook, *, memories: int) -> int:
    """Return a chapter that comes after a book and after all scenes that filled a project to a size."""
    chapters_of_fillers = memories // (MEMORIES_PER_SCENE * SCENES_PER_CHAPTER) + 1
    return _last_chapter(book) + chapters_of_fillers + 1


class Fillers:
    """Makes scenes of memories, the same for the same book and project."""

    def __init__(self, book: BenchBook, project_id: str, *, dimension: int) -> None:
        self._project_id = project_id
        self._dice = random.Random(SEED)
        self._texts = [each.content for _, record in sorted(book.book.records.items()) for each in record.memories]
        self._is_chinese = book.language == "zh"
        self._entity_ids = [entity.entity_id for entity in book.book.entities]
        self._first_chapter = _last_chapter(book) + 1
        self._random = np.random.default_rng(SEED)
        self._centres = _unit(self._random.normal(size=(CLUSTERS, dimension)))

    def scenes(self) -> Iterator[SceneWrite]:
        """Give scenes without end, always the same ones."""
        for number in count():
            yield self._scene(number)

    def vectors(self, rows: int) -> NDArray[np.float32]:
        """Return unit vectors around random centres, shape (rows, dimension)."""
        centres = self._centres[self._random.integers(CLUSTERS, size=rows)]
        noise = _unit(self._random.normal(size=centres.shape))
        return _unit(centres + NOISE * noise).astype(np.float32)

    def _scene(self, number: int) -> SceneWrite:
        chapter = self._first_chapter + number // SCENES_PER_CHAPTER
        scene = number % SCENES_PER_CHAPTER + 1
        cast = self._some_entities(4)
        chunks = [self._chunk(f"filler-{number}-{place}", place, cast) for place in range(MEMORIES_PER_SCENE)]
        return SceneWrite(
            project_id=self._project_id,
            chapter_index=chapter,
            scene_index=scene,
            scene_id=f"{self._project_id}-filler-{number}",
            participants=cast,
            text="\n".join(each.content for each in chunks),
            chunks=chunks,
        )

    def _chunk(self, chunk_id: str, place: int, cast: Sequence[str]) -> StoryMemoryChunk:
        text = self._shuffled_text()
        return StoryMemoryChunk(
            chunk_id=chunk_id,
            project_id=self._project_id,
            content=text,
            content_type="summary" if place < SUMMARIES_PER_SCENE else "memory",
            short=text[: len(text) // 2].strip(),
            importance=self._dice.randint(2, 9),
            entities_mentioned=self._dice.sample(list(cast), min(2, len(cast))),
            source_id=chunk_id,
            origin="record",
        )

    def _some_entities(self, picks: int) -> list[str]:
        """Pick entities, those that come first in the book far more often."""
        places = {int(len(self._entity_ids) * self._dice.random() ** 2) for _ in range(picks)}
        return [self._entity_ids[place] for place in sorted(places)]

    def _shuffled_text(self) -> str:
        """Return the words of a memory, or its Chinese characters, in another order."""
        text = self._dice.choice(self._texts)
        parts = list(text) if self._is_chinese else text.split()
        self._dice.shuffle(parts)
        return ("" if self._is_chinese else " ").join(parts).strip()


def _lacking(stores: MemoryStores, project_id: str, scenes: Iterable[SceneWrite], *, limit: int) -> list[SceneWrite]:
    """Return the scenes that an earlier, broken-off run has not written, with at most `limit` memories in all."""
    lacking: list[SceneWrite] = []
    with stores.database(project_id).read() as unit:
        for scene in scenes:
            if limit > 0 and not unit.scenes.holds_id(str(scene.scene_id)):
                lacking.append(scene.model_copy(update={"chunks": scene.chunks[:limit]}))
                limit -= len(lacking[-1].chunks)
    return lacking


def _write(stores: MemoryStores, project_id: str, scenes: Sequence[SceneWrite], fillers: Fillers) -> None:
    """Store scenes and their vectors, in SQL and in the index, as ingest would leave them."""
    chunks = [(scene, chunk) for scene in scenes for chunk in scene.chunks]
    vectors = dict(zip((chunk.chunk_id for _, chunk in chunks), fillers.vectors(len(chunks)), strict=True))
    with stores.database(project_id).write() as unit:
        for scene in scenes:
            unit.scenes.replace_scene(scene)
        unit.embeddings.put(stores.embedding_identity.model_name, vectors)
    stores.vectors(project_id).add(_row(scene, chunk, vectors[chunk.chunk_id]) for scene, chunk in chunks)
    with stores.database(project_id).write() as unit:
        unit.outbox.mark_done(unit.outbox.claim(limit=len(chunks)))


def _last_chapter(book: BenchBook) -> int:
    return max(scene.chapter_index for scene in book.book.scenes)


def _row(scene: SceneWrite, chunk: StoryMemoryChunk, vector: NDArray[np.float32]) -> IndexRow:
    return IndexRow(
        chunk_id=chunk.chunk_id,
        project_id=chunk.project_id,
        chapter_index=scene.chapter_index,
        scene_index=scene.scene_index,
        source_id=chunk.source_id,
        content=chunk.content,
        content_type=chunk.content_type,
        vector=vector,
    )


def _unit(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)
