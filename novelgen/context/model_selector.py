"""The choice of memories by a language model from the list of all before a scene."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Protocol

from langchain_core.documents import BaseDocumentCompressor, Document
from langchain_core.language_models import BaseChatModel
from pydantic import Field

from novelgen.context.memory_list import MemoryList
from novelgen.context.retrieval_plan import background_text, scene_plan_text
from novelgen.deadlines import call_with_deadline
from novelgen.errors import DeadlineExceededError, ModelError
from novelgen.language.language import StoryLanguage, estimate_tokens
from novelgen.model_calls.answers import UnusableAnswerError
from novelgen.model_calls.json_model import Question, issue_kind_of
from novelgen.models.base import Model
from novelgen.models.context import IssueKind, MemoryContextRequest, ReportIssue, SelectorReport
from novelgen.models.state import LOOP_WEIGHTS, UNRESOLVED_STATUSES, OpenLoop

MOST_NUMBERS = 60
"""Numbers that the prompt asks for at most."""

MOST_TEXT_CHARACTERS: Mapping[StoryLanguage, int] = {"en": 12_000, "zh": 4_000}
"""Of a longer text the model reads so many characters."""

MOST_THREAD_TOKENS = 1500
"""Of more open threads the model reads the weightiest."""

NO_MODEL = ReportIssue(
    stage="select",
    kind="unavailable",
    message="no chat model is configured, so that the rules chose the memories; set model, or selector: rules",
)


class SelectionAnswer(Model):
    """A model's choice from the numbered list."""

    numbers: list[int] = Field(description="Numbers of the memories that the scene needs, the most needed first.")


class MemorySelector(Protocol):
    """Chooses from the list of the memories before a scene; a failure is an empty selection with an issue."""

    def select(
        self,
        request: MemoryContextRequest,
        memory_list: MemoryList,
        *,
        open_loops: Sequence[OpenLoop],
        language: StoryLanguage,
    ) -> ModelSelection:
        """Return the memories of the list that the planned scene needs."""
        ...

    def select_for_text(self, text: str, memory_list: MemoryList, *, language: StoryLanguage) -> ModelSelection:
        """Return the memories of the list that the translator or editor of a text needs."""
        ...


@dataclass(frozen=True)
class ModelSelection:
    """The chosen memory ids in order of need, with usage and issues."""

    chunk_ids: tuple[str, ...]
    report: SelectorReport
    issues: tuple[ReportIssue, ...] = ()


class ModelSelector:
    """Chooses memories with a chat model.

    Args:
        model: The chat model.
        timeout_s: Seconds for the call and its one repair.
    """

    def __init__(self, model: BaseChatModel, *, timeout_s: float = 20.0) -> None:
        self._model = model
        self._timeout_s = timeout_s

    def select(
        self,
        request: MemoryContextRequest,
        memory_list: MemoryList,
        *,
        open_loops: Sequence[OpenLoop],
        language: StoryLanguage,
    ) -> ModelSelection:
        """Ask the model which of the memories the planned scene needs.

        Args:
            request: The planned scene.
            memory_list: The memories to choose from; all must lie before the scene.
            open_loops: The threads that are open before the scene.
            language: Language of the prompt.

        Returns:
            The selection; after a failure it is empty, and an issue gives the reason.
        """
        values = {
            "memories": "\n".join(memory_list.lines),
            "threads": "\n".join(_thread_lines(open_loops)),
            "background": background_text(request, language),
            "scene_plan": scene_plan_text(request.scene_plan, language),
        }
        return self._choose("select_memories", values, memory_list, language=language)

    def select_for_text(self, text: str, memory_list: MemoryList, *, language: StoryLanguage) -> ModelSelection:
        """Ask the model which of the memories the translator or editor of a text needs.

        Args:
            text: The text; of a long one the model reads the beginning.
            memory_list: The memories to choose from; all must lie before the text.
            language: Language of the prompt.

        Returns:
            The selection; an issue gives the reason where it is empty or the text was cut.
        """
        most = MOST_TEXT_CHARACTERS[language]
        values = {"memories": "\n".join(memory_list.lines), "text": text[:most]}
        selection = self._choose("select_for_text", values, memory_list, language=language)
        if len(text) <= most:
            return selection
        message = f"the model read the first {most} of {len(text)} characters of the text"
        issue = ReportIssue(stage="select", kind="over_limit", message=message)
        return replace(selection, issues=(*selection.issues, issue))

    def _choose(
        self, prompt: str, values: Mapping[str, str], memory_list: MemoryList, *, language: StoryLanguage
    ) -> ModelSelection:
        question = Question(
            self._model,
            SelectionAnswer,
            prompt=prompt,
            repair="repair_selection",
            stage="selection by the model",
            keys=("numbers",),
        )
        values = {**values, "most": str(MOST_NUMBERS)}
        counts = _counts(memory_list, self._timeout_s)
        counts["prompt_tokens"] = question.prompt_tokens(language, values)
        conversation = question.begin(self._timeout_s)
        try:
            numbers, faults = question.ask(
                conversation, language, values, accept=lambda answer: _usable_numbers(answer, len(memory_list.lines))
            )
        except (ModelError, DeadlineExceededError) as error:
            return _rules_alone(str(error), issue_kind_of(error), counts)
        report = SelectorReport(used="llm", chosen=len(numbers), **counts, **faults)
        return ModelSelection(tuple(memory_list.chunk_ids[number - 1] for number in numbers), report)


class RerankerSelector:
    """Chooses memories with a reranker of LangChain: a cross-encoder, a provider's, or one's own.

    It gets the memories of the list in full, as documents with `chunk_id`, `chapter_index` and `scene_index`, and the
    plan of the scene, or the text, as the query.

    Args:
        reranker: The reranker; what it returns counts in its order.
        timeout_s: Seconds for the call.
    """

    def __init__(self, reranker: BaseDocumentCompressor, *, timeout_s: float = 20.0) -> None:
        self._reranker = reranker
        self._timeout_s = timeout_s

    def select(
        self,
        request: MemoryContextRequest,
        memory_list: MemoryList,
        *,
        open_loops: Sequence[OpenLoop],
        language: StoryLanguage,
    ) -> ModelSelection:
        """Ask the reranker which of the memories the planned scene needs; see `ModelSelector.select`."""
        return self._rank(scene_plan_text(request.scene_plan, language), memory_list)

    def select_for_text(self, text: str, memory_list: MemoryList, *, language: StoryLanguage) -> ModelSelection:
        """Ask the reranker which of the memories a text needs; see `ModelSelector.select_for_text`."""
        return self._rank(text, memory_list)

    def _rank(self, query: str, memory_list: MemoryList) -> ModelSelection:
        documents = [
            Document(
                page_content=chunk.content,
                metadata=chunk.model_dump(include={"chunk_id", "chapter_index", "scene_index"}),
                id=chunk.chunk_id,
            )
            for chunk in (candidate.chunk for candidate in memory_list.candidates)
        ]
        counts = _counts(memory_list, self._timeout_s)
        ask = partial(self._reranker.compress_documents, documents, query)
        try:
            ranked_documents = call_with_deadline(ask, timeout_s=self._timeout_s, stage="reranker")
            ranked_ids = [str(document.metadata.get("chunk_id")) for document in ranked_documents]
        except Exception as error:  # noqa: BLE001 - a reranker of any package may fail in any way
            kind: IssueKind = "timeout" if isinstance(error, DeadlineExceededError) else "unavailable"
            return _rules_alone(f"the reranker {type(self._reranker).__name__} failed: {error}", kind, counts)
        list_ids = set(memory_list.chunk_ids)
        known_ids = [chunk_id for chunk_id in ranked_ids if chunk_id in list_ids]
        chosen_ids = tuple(dict.fromkeys(known_ids))
        if not chosen_ids:
            return _rules_alone("the reranker returned none of the memories", "malformed", counts)
        faults = {"unknown": len(ranked_ids) - len(known_ids), "repeated": len(known_ids) - len(chosen_ids)}
        report = SelectorReport(used="reranker", chosen=len(chosen_ids[:MOST_NUMBERS]), **counts, **faults)
        return ModelSelection(chosen_ids[:MOST_NUMBERS], report)


def memory_selector(
    model: BaseChatModel | None, reranker: BaseDocumentCompressor | None, *, timeout_s: float
) -> MemorySelector | None:
    """Return the selector of a reranker, else of a chat model, else None.

    Args:
        model: The chat model.
        reranker: A reranker of LangChain; it goes before the model.
        timeout_s: Seconds for one selection.
    """
    if reranker is not None:
        return RerankerSelector(reranker, timeout_s=timeout_s)
    return ModelSelector(model, timeout_s=timeout_s) if model is not None else None


def unasked_selection(kind: IssueKind) -> ModelSelection:
    """Return the selection without a call to a model that gave no plan.

    Args:
        kind: How its call for the plan failed.

    Returns:
        An empty selection, with an issue of the same kind.
    """
    return _rules_alone("the model gave no answer for the plan, and was not asked again", kind, {})


def _counts(memory_list: MemoryList, timeout_s: float) -> dict[str, Any]:
    """Return what the report of every selection says of its list and its time."""
    return {"listed": len(memory_list.lines), "unlisted": memory_list.unlisted, "timeout_s": timeout_s}


def _thread_lines(open_loops: Sequence[OpenLoop]) -> list[str]:
    """Return the lines of threads that wait, in story order: as many of the weightiest as there is room for."""
    threads = [loop for loop in open_loops if loop.status in UNRESOLVED_STATUSES and loop.said_from is None]
    remaining_tokens = MOST_THREAD_TOKENS
    loop_ids: set[str] = set()
    for loop in sorted(threads, key=lambda thread: -LOOP_WEIGHTS[thread.importance]):
        remaining_tokens -= estimate_tokens(f"- {loop.description}")
        if remaining_tokens < 0:
            break
        loop_ids.add(loop.loop_id)
    return [f"- {loop.description}" for loop in threads if loop.loop_id in loop_ids]


def _rules_alone(reason: str, kind: IssueKind, counts: Mapping[str, Any]) -> ModelSelection:
    """Return a selection that leaves the choice to the rules, and says why."""
    issue = ReportIssue(stage="select", kind=kind, message=f"the rules chose alone: {reason}")
    report = SelectorReport(used="rules", reason=f"the model's selection was not used: {reason}", **counts)
    return ModelSelection((), report, (issue,))


def _usable_numbers(answer: SelectionAnswer, count: int) -> tuple[list[int], dict[str, int]]:
    """Return the numbers of the list, each once, and how many were unknown or repeated."""
    known_numbers = [number for number in answer.numbers if 1 <= number <= count]
    numbers = list(dict.fromkeys(known_numbers))
    if not numbers:
        raise UnusableAnswerError("ungrounded", f"no number of the answer is in the list: {answer.numbers[:5]!r}")
    return numbers, {"unknown": len(answer.numbers) - len(known_numbers), "repeated": len(known_numbers) - len(numbers)}
