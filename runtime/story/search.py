"""Search of facts by meaning and words, and of cards.

A card is a short text of what the story had shown before a position. Cards are not kept in the vector index: one
card of C0 there would tell chapter 3 what chapter 80 made of C0. They are built as of the position at every call;
words find what they say, and meaning is compared where it cannot leak: of entities the lasting part of the card,
whose vectors are kept by the hash of their text, and of scenes the vectors of their own memories, which SQL holds and
cuts.
"""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, Field

from novelgen.context.labels import Labels, labels_for
from novelgen.context.rendering import render_value
from novelgen.errors import NovelgenError
from novelgen.language.language import idf
from novelgen.memory.query_scores import unit_rows
from novelgen.memory.search import RankedMemory
from novelgen.models.entity import DATED, GUESSED_NAMES, Entity
from novelgen.models.memory import ContentType, StoryMemoryChunk
from novelgen.models.position import END_OF_STORY, StoryPosition
from novelgen.models.shown import ShownList
from novelgen.models.state import PRESENCE_ATTRIBUTE, EntityStateSnapshot
from runtime.memory_tools import DEFAULT_TOP_K, MAX_TOP_K
from runtime.search.card_vectors import CardVectors
from runtime.storage.database import UnitOfWork
from runtime.storage.records import Scene
from runtime.storage.terms import index_tokens, lexical_terms, term_tokens
from runtime.story.base import Count, Place, Share, StoryBase, Text, async_twin, known_entities, position_of

logger = logging.getLogger(__name__)

CardType = Literal["character", "location", "scene"]
CARD_TYPES: tuple[CardType, ...] = ("character", "location", "scene")
Vector = NDArray[np.float32]

DEFAULT_LIMIT = 5
MAX_SCENE_MEMORIES = 200
"""So many of the likest memories speak for their scenes."""
SNIPPET_CHARACTERS = 200
OPENING_CHARACTERS = 300
"""So much of its beginning stands for a scene without a record."""
MIN_CARDS_FOR_TYPICAL = 3
"""Of fewer cards nobody can say which likeness is typical."""


class CardHit(BaseModel):
    """A card that fits a query."""

    entity_id: str = Field(description="Id of the entity, or the label of the scene such as S001.")
    entity_type: CardType
    name: str
    relevance_score: float = Field(description="From 0 to 1.")
    snippet: str


class FoundCards(BaseModel):
    """The cards that fit a query, best first."""

    results: list[CardHit] = Field(default_factory=list)
    issues: list[str] = Field(default_factory=list, description="Why meaning was not compared, where it was not.")


@dataclass(frozen=True, slots=True)
class Card:
    """A card."""

    entity_id: str
    entity_type: CardType
    name: str
    lines: tuple[str, ...] = ()
    state_lines: tuple[str, ...] = ()
    place: tuple[int, int] | None = None

    @property
    def lasting_text(self) -> str:
        """The name and lasting description, which semantic search embeds."""
        return "\n".join([self.name, *self.lines])

    @property
    def all_lines(self) -> tuple[str, ...]:
        """Everything but the name."""
        return self.lines + self.state_lines


class FoundMemory(StoryMemoryChunk):
    """A memory at its place in the answer to a query."""

    score: float = Field(description="From 0 to 1: how well it fits the query.")
    held_by: str | None = Field(
        default=None, description="source_id of the memory that holds in its place; null: it holds itself."
    )


class StoryCardSearch(StoryBase):
    """The search for cards."""

    @cached_property
    def _card_vectors(self) -> CardVectors:
        return CardVectors(self._stores.paths(self.project_id).data, self._stores.embeddings)

    def find(
        self,
        query: Text,
        *,
        entity_types: Sequence[CardType] = CARD_TYPES,
        limit: Count = DEFAULT_LIMIT,
        min_relevance: Share = 0.0,
        as_of: Place = None,
    ) -> FoundCards:
        """Search characters, locations and scenes by name or meaning.

        Args:
            query: What to look for, in the story's language.
            entity_types: Only these: character, location, scene.
            limit: At most so many.
            min_relevance: Only results of at least this relevance_score; below 0.2 little has to do with the query.
            as_of: As far as the story has shown them before this position.
        """
        position = position_of(as_of) or END_OF_STORY
        with self._stores.database(self.project_id).read() as unit:
            cards = cards_as_of(unit, entity_types, as_of=position)
        words = _CardWords(query, cards)
        meaning, issues = self._meaning(query, cards, position)
        scored = [(_relevance(card, words, meaning), card) for card in cards]
        matches = sorted(
            (pair for pair in scored if pair[0] > 0 and pair[0] >= min_relevance), key=lambda pair: -pair[0]
        )
        return FoundCards(results=[_hit(card, score, words) for score, card in matches[:limit]], issues=issues)

    def _meaning(
        self, query: str, cards: Sequence[Card], as_of: StoryPosition
    ) -> tuple[dict[str, float] | None, list[str]]:
        """Centred likeness of cards, or None with the reason."""
        if not cards:
            return {}, []
        try:
            wanted_vectors = np.asarray(self._stores.embeddings.embed_query(query), dtype=np.float32)
            entities = self._entity_likeness(wanted_vectors, [card for card in cards if card.place is None])
            scenes = self._scene_likeness(wanted_vectors, [card for card in cards if card.place is not None], as_of)
        except NovelgenError as error:
            logger.warning("searching cards by words alone: %s", error)
            return None, [f"searched by words alone: {error}"]
        return likeness_above_typical(entities) | likeness_above_typical(scenes), []

    def _entity_likeness(self, wanted_vectors: Vector, cards: Sequence[Card]) -> dict[str, float]:
        if not cards:
            return {}
        matrix = self._card_vectors.embed([card.lasting_text for card in cards])
        likeness = (unit_rows(matrix) @ unit_rows(wanted_vectors)[0]).tolist()
        return {card.entity_id: value for card, value in zip(cards, likeness, strict=True)}

    def _scene_likeness(self, wanted_vectors: Vector, cards: Sequence[Card], as_of: StoryPosition) -> dict[str, float]:
        """The best likeness of any memory of each scene, among the likest memories."""
        if not cards:
            return {}
        best: dict[Any, float] = {}
        with self._stores.database(self.project_id).read() as unit:
            ids, matrix = unit.embeddings.matrix(self._stores.embedding_identity.model_name, as_of=as_of)
            if ids and matrix.shape[1] == len(wanted_vectors):
                likeness = unit_rows(matrix) @ unit_rows(wanted_vectors)[0]
                by_id = {ids[row]: float(likeness[row]) for row in np.argsort(-likeness)[:MAX_SCENE_MEMORIES].tolist()}
                for chunk in unit.memories.by_ids(list(by_id), as_of=as_of):
                    place = (chunk.chapter_index, chunk.scene_index)
                    best[place] = max(best.get(place, -1.0), by_id[chunk.chunk_id])
        least = min(best.values(), default=0.0)
        return {card.entity_id: best.get(card.place, least) for card in cards}

    afind = async_twin(find)


class StorySearch(StoryBase):
    """The search for memories."""

    def search(
        self,
        query: Text,
        *,
        entities: Sequence[str] | None = None,
        content_type: ContentType | None = None,
        tags: Sequence[str] | None = None,
        top_k: Annotated[int, Field(ge=1, le=MAX_TOP_K)] = DEFAULT_TOP_K,
        as_of: Place = None,
        min_relevance: Share = 0.0,
    ) -> ShownList[FoundMemory]:
        """Search facts by meaning and by words, best first.

        What was missing while it was searched (an index, a name that nobody bears) stands in `issues` of the list.

        Args:
            query: What to look for, in the story's language.
            entities: Only memories of one of these: entities, chapters as `chapter:3`, or `book`.
            content_type: Only this kind: scene, dialogue, description, summary, memory or note.
            tags: Only memories with one of these tags.
            top_k: At most so many, 1 to 200.
            as_of: Only what lies strictly before this position.
            min_relevance: Only what fits at least so well, from 0 (all) to 1: by the cosine of the embedding model, or
                by the share of the query's words that it holds. With the built-in model .84 (English) or .87
                (Chinese) keeps out what has nothing to do with the story.

        Raises:
            UserInputError: When the query is empty, or the relevance is not from 0 to 1.
            StoreError: When nothing of the search could answer.
        """
        self._awaken()
        ranked_memories = self._tools.rank_story_memory(
            self.project_id,
            query,
            entities=entities,
            content_type=content_type,
            tags=tags,
            top_k=top_k,
            as_of=position_of(as_of),
            min_relevance=min_relevance,
        )
        return ShownList(map(_found_memory, ranked_memories.memories), issues=ranked_memories.issues)

    asearch = async_twin(search)


def cards_as_of(unit: UnitOfWork, card_types: Sequence[CardType], *, as_of: StoryPosition) -> list[Card]:
    """Build the cards of some types before a position.

    They are built at every call: a card that is stored would tell of the position at which it was made, and
    how an entity stands differs from scene to scene.
    """
    cards: list[Card] = []
    entities = known_entities(unit, as_of)
    wanted_entities = [entity for entity in entities if entity.entity_type in card_types]
    if wanted_entities:
        names = {entity.entity_id: entity.name for entity in entities}
        labels = labels_for(unit.projects.require().language)
        ids = [entity.entity_id for entity in wanted_entities]
        snapshots = unit.states.snapshots(ids, as_of=as_of)
        states = {snapshot.entity_id: snapshot for snapshot in snapshots}
        cards += [_entity_card(entity, states.get(entity.entity_id), names, labels) for entity in wanted_entities]
    if "scene" in card_types:
        scenes = unit.scenes.list_as_of(as_of=as_of, with_text=True)
        cards += [_scene_card(scene) for scene in scenes]
    return cards


def likeness_above_typical(likeness: Mapping[str, float]) -> dict[str, float]:
    """Bring cosines to 0..1, where 0 is the likeness of a typical card, or less.

    Embeddings of one book share a large common direction, so that everything in it is alike to everything;
    what counts is how far something stands out.
    """
    values = list(likeness.values())
    typical = float(np.median(values)) if len(values) >= MIN_CARDS_FOR_TYPICAL else 0.0
    room = max(1.0 - typical, 1e-9)
    return {name: min(1.0, max(0.0, (value - typical) / room)) for name, value in likeness.items()}


class _CardWords:
    """BM25-like matching of query words and cards."""

    def __init__(self, query: str, cards: Sequence[Card]) -> None:
        phrases = [f" {' '.join(term_tokens(term))} " for term in lexical_terms(query)]
        texts = [_spaced("\n".join([card.name, *card.all_lines])) for card in cards]
        self._weights = {phrase: idf(sum(phrase in text for text in texts), len(texts)) for phrase in phrases}

    def share(self, text: str) -> float:
        """Return the weight of the query's words that a text holds, from 0 to 1."""
        total = sum(self._weights.values())
        spaced = _spaced(text)
        matched_weight = sum(weight for phrase, weight in self._weights.items() if phrase in spaced)
        return matched_weight / total if total else 0.0

    def best_line(self, card: Card) -> str:
        """Return a card's line with most query words, the first of equals."""
        return max(card.all_lines, key=self.share, default=card.name)


def _relevance(card: Card, words: _CardWords, meaning: Mapping[str, float] | None) -> float:
    share = words.share("\n".join([card.name, *card.all_lines]))
    return share if meaning is None else (share + meaning.get(card.entity_id, 0.0)) / 2


def _hit(card: Card, score: float, words: _CardWords) -> CardHit:
    line = words.best_line(card)
    return CardHit(
        entity_id=card.entity_id,
        entity_type=card.entity_type,
        name=card.name,
        relevance_score=round(score, 4),
        snippet=line if len(line) <= SNIPPET_CHARACTERS else line[: SNIPPET_CHARACTERS - 1] + "…",
    )


def _entity_card(entity: Entity, state: EntityStateSnapshot | None, names: Mapping[str, str], labels: Labels) -> Card:
    aliases = labels.list_separator.join(alias.alias for alias in entity.aliases)
    profile = [
        _field(name, value, entity.entity_type, names, labels)
        for name, value in entity.profile.items()
        if value and name not in (DATED, GUESSED_NAMES)
    ]
    stated = {} if state is None else state.state_data
    return Card(
        entity_id=entity.entity_id,
        entity_type="character" if entity.entity_type == "character" else "location",
        name=entity.name,
        lines=tuple(line for line in (entity.description, entity.role, aliases, *profile) if line),
        state_lines=tuple(
            _field(name, value, entity.entity_type, names, labels)
            for name, value in stated.items()
            if name != PRESENCE_ATTRIBUTE and value
        ),
    )


def _scene_card(scene: Scene) -> Card:
    record = scene.record
    lines = [] if record is None else [*record.summary, *record.key_events, *record.emotional_beats]
    return Card(
        entity_id=scene.label,
        entity_type="scene",
        name=scene.title or f"{scene.chapter_index}:{scene.scene_index}",
        lines=tuple(lines or [(scene.text or "")[:OPENING_CHARACTERS]]),
        place=(scene.chapter_index, scene.scene_index),
    )


def _field(name: str, value: Any, kind: str, names: Mapping[str, str], labels: Labels) -> str:
    return f"{labels.attribute(name, kind)}{labels.colon}{render_value(value, names, labels)}"


def _spaced(text: str) -> str:
    return f" {' '.join(index_tokens(text))} "


def _found_memory(ranked_memory: RankedMemory) -> FoundMemory:
    holder = ranked_memory.held_by
    return FoundMemory(**dict(ranked_memory.chunk), score=ranked_memory.score, held_by=holder and holder.memory_id)
