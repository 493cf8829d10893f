"""The numbered list of memories from which a model chooses for a planned scene."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from novelgen.language.language import TokenCounter
from novelgen.memory.budget import short_form_defect
from novelgen.memory.search import CALLED_NOTES_RETRIEVER, RECENT_RETRIEVER, THREAD_RETRIEVER, Candidate, SearchResult
from novelgen.models.memory import StoryMemoryChunk, memory_place_text
from novelgen.models.position import story_place

LEAST_LINE_TOKENS = 8
"""No line of the list takes fewer tokens, so that a budget bounds how many memories are read for it."""

LIST_SHARE = 0.85
"""Of the tokens of a selection's prompt; threads and plan take the rest."""

ALWAYS_LISTED = frozenset({CALLED_NOTES_RETRIEVER, THREAD_RETRIEVER, RECENT_RETRIEVER})
"""Retrievers that answer without a query: pinned and called notes, due threads, important recent memories."""


@dataclass(frozen=True)
class MemoryList:
    """The memories of the list in story order, their lines, and how many had no room."""

    candidates: tuple[Candidate, ...] = ()
    lines: tuple[str, ...] = ()
    unlisted: int = 0

    @property
    def chunk_ids(self) -> tuple[str, ...]:
        """The ids of the memories; the line of number n has the id at n - 1."""
        return tuple(candidate.chunk.chunk_id for candidate in self.candidates)


def list_tokens(prompt_tokens: int) -> int:
    """Return the tokens for the list of a prompt of so many."""
    return int(LIST_SHARE * prompt_tokens)


def stored_candidates(memories: Iterable[StoryMemoryChunk], search: SearchResult) -> list[Candidate]:
    """Return the candidates of stored memories in story order, with the hits that the search had of them."""
    candidates_by_id = {candidate.chunk.chunk_id: candidate for candidate in search.candidates}
    candidates = [candidates_by_id.get(chunk.chunk_id) or Candidate(chunk) for chunk in memories]
    return sorted(candidates, key=lambda candidate: story_place(candidate.chunk))


def with_chosen(search: SearchResult, memory_list: MemoryList, chosen_ids: Sequence[str]) -> SearchResult:
    """Return the search with the chosen memories of a list that it lacked."""
    missing_ids = set(chosen_ids) - {candidate.chunk.chunk_id for candidate in search.candidates}
    candidates = [candidate for candidate in memory_list.candidates if candidate.chunk.chunk_id in missing_ids]
    return replace(search, candidates=(*search.candidates, *candidates)) if candidates else search


def whole_list(candidates: Sequence[Candidate], *, budget_tokens: int, count_tokens: TokenCounter) -> MemoryList | None:
    """Return the list of all memories before a scene, which must be in story order; None where it does not fit.

    Nothing of a line depends on the plan or on later scenes: the list of a scene begins as that of the scene before.
    """
    lines = _lines(candidates, count_tokens)
    if sum(map(count_tokens, lines)) > budget_tokens:
        return None
    return MemoryList(tuple(candidates), lines)


def best_list(
    ranked_candidates: Sequence[Candidate], *, budget_tokens: int, most: int, count_tokens: TokenCounter
) -> MemoryList:
    """Return the list of the first `most` of a ranking that fit, in story order.

    Pinned and called notes come before all others, and a quarter of the places is kept for memories of due threads and
    important recent ones.
    """
    candidates: list[Candidate] = []
    remaining_tokens = budget_tokens
    for candidate in _in_turn(ranked_candidates, most):
        cost = count_tokens(memory_line(len(ranked_candidates), candidate.chunk, count_tokens))
        if cost <= remaining_tokens:
            remaining_tokens -= cost
            candidates.append(candidate)
    candidates.sort(key=lambda candidate: (story_place(candidate.chunk), candidate.chunk.chunk_id))
    return MemoryList(
        tuple(candidates), _lines(candidates, count_tokens), unlisted=len(ranked_candidates) - len(candidates)
    )


def memory_line(number: int, memory: StoryMemoryChunk, count_tokens: TokenCounter) -> str:
    """Return the line of a memory: its number, its place, and its short form where that tells enough."""
    full, short = memory.content.strip(), (memory.short or "").strip()
    text = full if short_form_defect(short, full, count_tokens) else short
    return f"{number}. [{memory_place_text(memory, always='*')}] {' '.join(text.split())}"


def _lines(candidates: Iterable[Candidate], count_tokens: TokenCounter) -> tuple[str, ...]:
    return tuple(memory_line(number, candidate.chunk, count_tokens) for number, candidate in enumerate(candidates, 1))


_WAITING_SHARE = 0.25


def _in_turn(ranked_candidates: Sequence[Candidate], most: int) -> list[Candidate]:
    """Return those that may be listed, in the order in which they get room."""
    called_candidates = [
        candidate for candidate in ranked_candidates if _is_match_of(candidate, frozenset({CALLED_NOTES_RETRIEVER}))
    ]
    waiting_candidates = [candidate for candidate in ranked_candidates if _is_match_of(candidate, ALWAYS_LISTED)][
        : int(most * _WAITING_SHARE)
    ]
    in_turn = {
        candidate.chunk.chunk_id: candidate
        for candidate in [*called_candidates, *waiting_candidates, *ranked_candidates]
    }
    return list(in_turn.values())[:most]


def _is_match_of(candidate: Candidate, retrievers: frozenset[str]) -> bool:
    return any(hit.retriever in retrievers for hit in candidate.hits)
