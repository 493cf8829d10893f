"""Answers of memory tools, checked against the types that the protocols promise."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeVar

from pydantic import ValidationError

from novelgen.errors import MemoryAnswerError
from novelgen.memory.search import Candidate, SearchResult
from novelgen.models.memory import StoryMemoryChunk
from novelgen.models.state import EntityStateSnapshot

Answer = TypeVar("Answer")
Part = TypeVar("Part", StoryMemoryChunk, EntityStateSnapshot)


def checked(tool: str, call: Callable[[], Any], kind: type[Answer]) -> Callable[[], Answer]:
    """Return a call that raises where a tool answers with another type.

    Args:
        tool: Name of the tool, for the message.
        call: Calls the tool.
        kind: The type that the tool promises.

    Returns:
        The call; it raises `MemoryAnswerError` for an answer of another type.
    """

    return lambda: _of_kind(tool, call(), kind)


def _of_kind(tool: str, answer: Any, kind: type[Answer]) -> Answer:
    if isinstance(answer, kind):
        return answer
    raise _refusal(tool, answer, kind.__name__)


def checked_search(call: Callable[[], Any]) -> Callable[[], SearchResult]:
    """Return a search that validates its answer.

    The error keeps usable candidates.
    """

    def answer() -> SearchResult:
        result = _of_kind("search", call(), SearchResult)
        usable = tuple(candidate for candidate in result.candidates if _is_candidate(candidate))
        if len(usable) == len(result.candidates):
            return result
        strange = next(candidate for candidate in result.candidates if not _is_candidate(candidate))
        raise _refusal("search", strange, "candidates with a memory", usable=replace(result, candidates=usable))

    return answer


def checked_states(tool: str, call: Callable[[], Any]) -> Callable[[], list[EntityStateSnapshot]]:
    """Return a call that validates its list of states.

    The error keeps usable ones.
    """
    return lambda: read_list(tool, call(), EntityStateSnapshot)


def read_list(tool: str, answer: object, kind: type[Part]) -> list[Part]:
    """Read a list of memories or states, each as it is or as a mapping of all its fields.

    Raises:
        MemoryAnswerError: When the answer is no list, or an entry is of another type; it keeps the usable entries.
    """
    if not isinstance(answer, list | tuple):
        raise _refusal(tool, answer, f"a list of {kind.__name__}")
    usable: list[Part] = []
    strange: list[object] = []
    for entry in answer:
        try:
            usable.append(kind.model_validate(entry))
        except ValidationError:
            strange.append(entry)
    if strange:
        raise _refusal(tool, strange[0], kind.__name__, usable=usable)
    return usable


def read_one(tool: str, answer: object, kind: type[Part]) -> Part | None:
    """Read one memory or state, or None.

    Raises:
        MemoryAnswerError: When the answer is of another type.
    """
    return None if answer is None else next(iter(read_list(tool, [answer], kind)))


def _is_candidate(value: object) -> bool:
    return isinstance(value, Candidate) and isinstance(value.chunk, StoryMemoryChunk)


def _refusal(tool: str, answer: object, target: str, *, usable: Any = None) -> MemoryAnswerError:
    return MemoryAnswerError(f"{tool} answered with {answer!r:.120}, not with {target}", usable=usable)
