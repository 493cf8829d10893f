"""Evidence from the story before a draft: memories and passages, best first."""

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache, reduce

import numpy as np
from numpy.typing import NDArray

from novelgen.checking.body_parts import body_parts
from novelgen.checking.findings import of_memory
from novelgen.checking.story import Draft, Piece, StoryBefore, place_or_none, telling_words
from novelgen.language.language import StoryLanguage, TokenCounter, estimate_tokens, idf, rarity_of, word_list
from novelgen.language.numerals import find_quantities
from novelgen.language.sentences import Span, chunk_text
from novelgen.models.continuity import ContinuityEvidence
from novelgen.models.position import StoryPosition, story_place
from novelgen.models.state import PRESENCE_ATTRIBUTE

MAX_PIECES = 40
MAX_EVIDENCE_TOKENS = 2500

PASSAGE_CHARACTERS = {"en": 240, "zh": 80}
"""Length of a piece of text: a few sentences, which is what one contradiction is proved by."""

CHANGING_EVENTS = frozenset(word_list("evidence_changing_events"))
"""Kinds of memories after which somebody or something is otherwise than before."""

MEANING, SENTENCE_WORDS, CLAUSE_WORDS = 1.0, 0.2, 0.2
"""Weights for one sentence: standard score of the cosine, BM25 of its sentence and of its best
clause. Measured flat within a factor of 1.5 on both books of the benchmark."""

DRAFT_WORDS, DRAFT_NAMES, IMPORTANCE, MEMORY, AGE = 0.05, 0.1, 0.1, 2.0, 0.3
"""Weights for the draft as a whole: BM25, names, importance above 5, being a distilled memory, and, against it, the
logarithm of how many scenes ago it was."""

MIN_CLAUSE_WORDS = 5.0
"""BM25 from which the best piece for a clause has a place of its own."""

PIECES_PER_TEXT = 2
CONSIDERED_PASSAGES = 600
REMEMBERED_TEXTS = 2000

_CLAUSE = re.compile(r"[^,;:—–!?.，；：。！？、“”\"‘「」『』…\n]+")


def gather_evidence(
    draft: Draft,
    story: StoryBefore,
    *,
    similar: Sequence[Mapping[str, float]] = (),
    limit: int = MAX_PIECES,
    max_tokens: int = MAX_EVIDENCE_TOKENS,
    count_tokens: TokenCounter = estimate_tokens,
) -> list[ContinuityEvidence]:
    """Gather evidence that a draft might contradict."""
    readings = _pieces(story)
    if not readings or limit < 1:
        return []
    pieces = [piece for piece, _ in readings]
    scores = _Scores(draft, story, pieces, [terms for _, terms in readings], similar=similar)
    choice = _Chosen(pieces, limit=limit, max_tokens=max_tokens, count_tokens=count_tokens)
    for index in scores.in_order():
        choice.take(index)
    best_first = sorted(choice.groups, key=lambda group: -scores.total[group[0]])
    return [_evidence(pieces, group, story, float(scores.total[group[0]])) for group in best_first]


def _pieces(story: StoryBefore) -> list[tuple[Piece, frozenset[str]]]:
    """Return the memories, then the passages of every scene, in story order, with their terms."""
    memories = [
        (
            Piece(memory.content, Span(0, len(memory.content)), place_or_none(memory), memory),
            telling_words(memory.content),
        )
        for memory in story.memories
    ]
    length = PASSAGE_CHARACTERS[story.language]
    passages = [
        (Piece(scene.text, span, scene.position), terms)
        for scene in story.scenes
        for span, terms in passages_of(scene.text, length)
    ]
    return [*memories, *passages]


@lru_cache(maxsize=REMEMBERED_TEXTS)
def passages_of(text: str, length: int) -> tuple[tuple[Span, frozenset[str]], ...]:
    spans = chunk_text(text, target_characters=length)
    return tuple((span, telling_words(text[span.start : span.end])) for span in spans)


@dataclass
class _Scores:
    """How much each piece bears on the draft, and in which order pieces are taken."""

    draft: Draft
    story: StoryBefore
    pieces: Sequence[Piece]
    terms: Sequence[frozenset[str]]
    similar: Sequence[Mapping[str, float]]
    total: NDArray[np.float64] = field(init=False)

    def __post_init__(self) -> None:
        queries = self._asked = [self.draft.text[start:end] for start, end in self.draft.sentences]
        of_sentences = [telling_words(text) for text in queries]
        of_clauses = [terms for text in queries for terms in _clauses(text)]
        of_draft = telling_words(" ".join(queries))
        self._by_term = self._pieces_by_term(of_draft.union(*of_sentences, *of_clauses))
        lengths = np.array([len(terms) for terms in self.terms], dtype=float)
        self._length = 0.6 + 0.4 * lengths / max(1.0, float(lengths.mean()))
        self._is_memory = np.array([piece.memory is not None for piece in self.pieces])
        nothing = [np.zeros(len(self.pieces))]
        words = np.array([self._bm25(terms) for terms in of_sentences] or nothing)
        # A scene has many clauses, so that a row of each at a time is looked at: all of them fill no cache.
        self._clauses = [self._bm25(terms) for terms in of_clauses] or nothing
        whole = self._bm25(of_draft)
        self._names = self._names_of(whole)
        within = [mention for mention in self.draft.mentions if self.draft.sentence_index_at(mention.start) is not None]
        self._named = sorted(
            {mention.entity_id for mention in within}, key=lambda entity_id: (-self._rarity[entity_id], entity_id)
        )
        self._of_text = SENTENCE_WORDS * words + MEANING * self._meanings(len(queries))
        shared = np.zeros(len(self.pieces))
        for other_id in sorted(self._named):
            shared[self._naming.get(other_id, [])] += self._rarity[other_id]
        order = {scene.position: number for number, scene in enumerate(self.story.scenes)}
        now = len(order)
        ages = [max(1, now - order.get(piece.position, now - 1) if piece.position else 1) for piece in self.pieces]
        self._of_draft = (
            DRAFT_WORDS * whole
            + DRAFT_NAMES * shared
            + MEMORY * self._is_memory
            + IMPORTANCE
            * np.array([0 if piece.memory is None else piece.memory.importance - 5 for piece in self.pieces])
            - AGE * np.log(ages)
        )
        self.total = self._of_text.max(axis=0) + CLAUSE_WORDS * reduce(np.maximum, self._clauses) + self._of_draft

    def in_order(self) -> Iterator[int]:
        """Yield pieces in the order of their places, with repetitions."""
        yield from self._last_changes()
        yield from self._known_of_places()
        yield from self._of_numbers_and_bodies()
        yield from self._of_every_text()
        yield from (int(index) for index in np.argsort(-self.total, kind="stable"))

    def _pieces_by_term(
        self, asked_words: frozenset[str]
    ) -> Mapping[str, tuple[NDArray[np.intp], NDArray[np.float64]]]:
        """Return which pieces hold each term that is asked for, and how much it tells of each of them."""
        holding: defaultdict[str, list[int]] = defaultdict(list)
        for index, terms in enumerate(self.terms):
            for term in terms & asked_words:
                holding[term].append(index)
        count = len(self.pieces)
        return {
            term: (np.array(found_numbers, dtype=np.intp), np.full(len(found_numbers), idf(len(found_numbers), count)))
            for term, found_numbers in holding.items()
        }

    def _bm25(self, terms: Iterable[str]) -> NDArray[np.float64]:
        """Score pieces by BM25 with k1 = 0 and b = 0.4, ignoring term frequency."""
        matches = [self._by_term[term] for term in terms if term in self._by_term]
        if not matches:
            return np.zeros(len(self.pieces))
        holding, weights = (np.concatenate(group) for group in zip(*matches, strict=True))
        return np.bincount(holding, weights, minlength=len(self.pieces)) / self._length

    def _meanings(self, sentence_count: int) -> NDArray[np.float64]:
        """Standard scores of the cosines of each sentence, over the memories that have one."""
        scores = np.zeros((max(1, sentence_count), len(self.pieces)))
        by_id = {piece.source_id: index for index, piece in enumerate(self.pieces) if piece.memory is not None}
        for number, cosines in enumerate(self.similar[:sentence_count]):
            row_cosines = [(by_id[entity_id], value) for entity_id, value in cosines.items() if entity_id in by_id]
            if len(row_cosines) < 2:
                continue
            values = np.array([value for _, value in row_cosines])
            deviation = float(values.std()) or 1.0
            scores[number, [index for index, _ in row_cosines]] = (values - values.mean()) / deviation
        return scores

    def _names_of(self, whole: NDArray[np.float64]) -> list[frozenset[str]]:
        """The entities of each piece, skipping passages with few shared words."""
        passages = np.flatnonzero(~self._is_memory)
        best = passages[np.argsort(-whole[passages], kind="stable")[:CONSIDERED_PASSAGES]]
        considered = {int(index) for index in best if whole[index] > 0}
        self._considered = [*np.flatnonzero(self._is_memory).tolist(), *sorted(considered)]
        names = [
            frozenset(
                self.story.resolver.entity_ids_in(piece.words)
                if piece.memory is not None or index in considered
                else ()
            ).union(piece.memory.entities_mentioned if piece.memory is not None else ())
            for index, piece in enumerate(self.pieces)
        ]
        counts = Counter(entity_id for names_of_row in names for entity_id in names_of_row)
        self._rarity: defaultdict[str, float] = defaultdict(lambda: math.log(2.0 * (len(self.pieces) + 1)))
        self._rarity.update({entity_id: rarity_of(count, len(self.pieces)) for entity_id, count in counts.items()})
        self._naming: defaultdict[str, list[int]] = defaultdict(list)
        for index, names_of_row in enumerate(names):
            for entity_id in names_of_row:
                self._naming[entity_id].append(index)
        return names

    def _last_changes(self) -> Iterator[int]:
        for entity_id in self._named:
            changes = [
                index
                for index, piece in enumerate(self.pieces)
                if piece.memory is not None
                and entity_id in self._names[index]
                and (
                    (piece.memory.slot_type or "").startswith(f"{entity_id}.")
                    or piece.memory.event_type in CHANGING_EVENTS
                )
            ]
            yield from changes[-1:]

    def _known_of_places(self) -> Iterator[int]:
        types = {entity.entity_id: entity.entity_type for entity in self.story.entities}
        named_ids = [entity_id for entity_id in self._named if types.get(entity_id) == "location"]
        for place_id in dict.fromkeys([*_places_of_last_scene(self.story), *named_ids]):
            about = [
                index
                for index, piece in enumerate(self.pieces)
                if piece.memory is not None and piece.memory.entities_mentioned[:1] == [place_id]
            ]
            yield from sorted(about, key=lambda index: -self.total[index])[:PIECES_PER_TEXT]

    def _of_numbers_and_bodies(self) -> Iterator[int]:
        """Find evidence about numbers and limbs, which may use different words."""
        language = self.story.language
        name_set = set(self._named)
        for number, text in enumerate(self._asked):
            scores = self._of_text[number] + self._of_draft
            alike = [
                [index for index in self._considered if dimension in _dimensions(self.pieces[index].words, language)]
                for dimension in sorted(_dimensions(text, language))
            ]
            alike += [
                [
                    index
                    for index in self._considered
                    if self._is_memory[index]
                    and name_set & self._names[index]
                    and part in body_parts(self.pieces[index].words)
                ]
                for part in sorted(body_parts(text))
            ]
            for pieces in alike:
                yield from sorted(pieces, key=lambda index: -scores[index])[:PIECES_PER_TEXT]

    def _of_every_text(self) -> Iterator[int]:
        by_text = [_best_of(row + self._of_draft) for row in self._of_text]
        by_clause = [_best_of(CLAUSE_WORDS * row + 0.3 * self._of_draft) for row in self._clauses]
        for rank in range(min(PIECES_PER_TEXT, len(self.pieces))):
            best = [row[rank] for row in by_text]
            best += [
                row[rank]
                for row, scores in zip(by_clause, self._clauses, strict=True)
                if scores[row[rank]] > MIN_CLAUSE_WORDS
            ]
            yield from sorted(dict.fromkeys(best), key=lambda index: -self.total[index])


def _best_of(scores: NDArray[np.float64]) -> list[int]:
    """Return the numbers of the best pieces, the best first.

    Equal scores keep story order, and `scores` is consumed.
    """
    best = []
    for _ in range(PIECES_PER_TEXT):
        best.append(int(scores.argmax()))
        scores[best[-1]] = -np.inf
    return best


@lru_cache(maxsize=REMEMBERED_TEXTS)
def _dimensions(text: str, language: StoryLanguage) -> frozenset[str]:
    return frozenset(quantity.dimension for quantity in find_quantities(text, language))


def _clauses(text: str) -> Iterator[frozenset[str]]:
    matches = (telling_words(match.group()) for match in _CLAUSE.finditer(text))
    return (terms for terms in matches if len(terms) > 1)


def _places_of_last_scene(story: StoryBefore) -> list[str]:
    if not story.scenes:
        return []
    last = story.scenes[-1].position
    places = [
        change.value.get("location_id")
        for change in story.changes
        if change.attribute == PRESENCE_ATTRIBUTE
        and isinstance(change.value, Mapping)
        and story_place(change) == story_place(last)
    ]
    return [place for place in dict.fromkeys(places) if place]


@dataclass
class _Chosen:
    """Pieces that were taken, each group of neighbouring passages of a scene as one."""

    pieces: Sequence[Piece]
    limit: int
    max_tokens: int
    count_tokens: TokenCounter
    groups: list[list[int]] = field(default_factory=list)
    _group_of: dict[int, int] = field(default_factory=dict)
    _tokens: int = 0

    def take(self, index: int) -> None:
        """Take a piece where there is room, next to a neighbour that was taken already."""
        if index in self._group_of:
            return
        beside = min(
            (self._group_of[number] for number in (index - 1, index + 1) if self._joins(index, number)), default=None
        )
        if beside is None and len(self.groups) >= self.limit:
            return
        tokens = self.count_tokens(self.pieces[index].words)
        if self._tokens + tokens > self.max_tokens:
            return
        self._tokens += tokens
        if beside is None:
            self.groups.append([])
        self._group_of[index] = len(self.groups) - 1 if beside is None else beside
        self.groups[self._group_of[index]].append(index)

    def _joins(self, index: int, taken_index: int) -> bool:
        if taken_index not in self._group_of:
            return False
        piece, other = self.pieces[index], self.pieces[taken_index]
        return piece.memory is None and other.memory is None and piece.position == other.position


def _evidence(pieces: Sequence[Piece], group: Sequence[int], story: StoryBefore, score: float) -> ContinuityEvidence:
    first, last = pieces[min(group)], pieces[max(group)]
    score = round(score, 3)
    if first.memory is not None:
        return of_memory(first.memory, story).model_copy(update={"score": score})
    words = first.text[first.span.start : last.span.end]
    place = first.position or StoryPosition()
    return ContinuityEvidence.at(place, "passage", first.source_id, words, quote=words, score=score)
