"""memory.search: characters, locations and scenes, cut by position.

Cards are not kept in the vector index: one card of C0 there would tell chapter 3 what chapter 80 made of C0.
They are built as of the position at every call; words find what they say, and meaning is compared where it
cannot leak: of entities the lasting part of the card, whose vectors are cached by their text, and of scenes
the vectors of their own memories, which SQL holds and cuts.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any

import numpy as np

from novelgen.errors import NovelgenError
from runtime.storage.unit import UnitOfWork
from runtime.story_tools.arguments import CARD_TYPES, CardType
from runtime.story_tools.card_ranking import CardWords, Vector, cosines, likeness_above_typical
from runtime.story_tools.cards import Card, cards_as_of
from runtime.story_tools.refusals import Answer
from runtime.story_tools.story_scope import StoryScope

logger = logging.getLogger(__name__)

SCENE_MEMORIES = 200
"""So many of the likest memories speak for their scenes."""
SNIPPET_CHARACTERS = 200


class CardSearch:
    """Searches the cards of one project; keeps the vectors of cards that did not change between calls.

    Args:
        scope: The project and position.
    """

    def __init__(self, scope: StoryScope) -> None:
        self._scope = scope
        self._vectors: dict[str, Vector] = {}

    def __call__(
        self, *, query: str, entity_types: Sequence[CardType] | None = None, limit: int = 5
    ) -> Answer:
        """Search.

        Returns:
            `{results: [{entity_id, entity_type, name, relevance_score, snippet}]}`, best first, scores from 0
            to 1, cards without any relevance left out; with `issues` when meaning could not be compared.
        """
        with self._scope.database.read() as unit:
            cards = cards_as_of(self._scope, unit, entity_types or CARD_TYPES)
        words = CardWords(query, cards)
        meaning, issues = self._meaning(query, cards)
        scored = [(self._relevance(card, words, meaning), card) for card in cards]
        found = sorted((each for each in scored if each[0] > 0), key=lambda each: -each[0])
        answer: Answer = {"results": [_result(card, score, words) for score, card in found[:limit]]}
        return answer | ({"issues": issues} if issues else {})

    def _relevance(self, card: Card, words: CardWords, meaning: dict[str, float] | None) -> float:
        share = words.share("\n".join([card.name, *card.all_lines]))
        return share if meaning is None else (share + meaning.get(card.entity_id, 0.0)) / 2

    def _meaning(self, query: str, cards: Sequence[Card]) -> tuple[dict[str, float] | None, list[str]]:
        """Likeness of each card above the typical one; None, and why, where the model or its vectors fail."""
        if not cards:
            return {}, []
        try:
            wanted = np.asarray(self._scope.stores.embeddings.embed_query(query), dtype=np.float32)
            entities = self._entity_likeness(wanted, [card for card in cards if card.place is None])
            scenes = self._scene_likeness(wanted, [card for card in cards if card.place is not None])
        except NovelgenError as error:
            logger.warning("searching cards by words alone: %s", error)
            return None, [f"searched by words alone: {error}"]
        return likeness_above_typical(entities) | likeness_above_typical(scenes), []

    def _entity_likeness(self, wanted: Vector, cards: Sequence[Card]) -> dict[str, float]:
        texts = list(dict.fromkeys(card.lasting_text for card in cards))
        new = [text for text in texts if text not in self._vectors]
        if new:
            embedded = self._scope.stores.embeddings.embed_documents(new)
            self._vectors |= {
                text: np.asarray(vector, dtype=np.float32) for text, vector in zip(new, embedded, strict=True)
            }
        if not cards:
            return {}
        matrix = np.stack([self._vectors[card.lasting_text] for card in cards])
        likeness = cosines(matrix, wanted).tolist()
        return {card.entity_id: value for card, value in zip(cards, likeness, strict=True)}

    def _scene_likeness(self, wanted: Vector, cards: Sequence[Card]) -> dict[str, float]:
        if not cards:
            return {}
        with self._scope.database.read() as unit:
            by_place = self._place_likeness(unit, wanted)
        least = min(by_place.values(), default=0.0)
        return {card.entity_id: by_place.get(card.place, least) for card in cards if card.place is not None}

    def _place_likeness(self, unit: UnitOfWork, wanted: Vector) -> dict[Any, float]:
        """The best likeness of any memory of each scene, among the likest memories."""
        scope, model = self._scope, self._scope.stores.embedding_identity.model_name
        ids, matrix = unit.embeddings.matrix(model, as_of=scope.as_of)
        if not ids or matrix.shape[1] != len(wanted):
            return {}
        likeness = cosines(matrix, wanted)
        likest = np.argsort(-likeness)[:SCENE_MEMORIES].tolist()
        chunks = unit.memories.by_ids([ids[row] for row in likest], as_of=scope.as_of)
        by_id = {ids[row]: float(likeness[row]) for row in likest}
        best: dict[Any, float] = {}
        for chunk in chunks:
            place = (chunk.chapter_index, chunk.scene_index)
            best[place] = max(best.get(place, -1.0), by_id[chunk.chunk_id])
        return best


def _result(card: Card, score: float, words: CardWords) -> dict[str, Any]:
    line = words.best_line(card)
    return {
        "entity_id": card.entity_id,
        "entity_type": card.entity_type,
        "name": card.name,
        "relevance_score": round(score, 4),
        "snippet": line if len(line) <= SNIPPET_CHARACTERS else line[: SNIPPET_CHARACTERS - 1] + "…",
    }
