"""The context of a piece of text, for translators and editors: text in, glossary and memories out."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from typing import Any

from langchain_core.runnables import RunnableLambda

from novelgen.chains import stepwise_chain
from novelgen.context import chunk_memories
from novelgen.context.memory_list import (
    LEAST_LINE_TOKENS,
    MemoryList,
    best_list,
    list_tokens,
    stored_candidates,
    whole_list,
    with_chosen,
)
from novelgen.context.model_selector import NO_MODEL, MemorySelector, ModelSelection
from novelgen.context.text_glossary import TextMention, mentioned_in
from novelgen.deadlines import Deadline, run_concurrently
from novelgen.language.language import TokenCounter, estimate_tokens, stated_language, story_language
from novelgen.memory import answers
from novelgen.memory.outline import StoryOutline
from novelgen.memory.protocol import MemoryTools, StoryMemory, as_story_memory, further_read
from novelgen.memory.search import SearchResult
from novelgen.models.chunk_context import ChunkContext, ChunkContextRequest
from novelgen.models.context import ReportIssue
from novelgen.models.entity import Entity
from novelgen.models.memory import StoryMemoryChunk
from novelgen.models.position import require_project_id
from novelgen.settings import ContextSettings

ChunkInput = ChunkContextRequest | Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class _Run:
    """One context on its way through the chain."""

    request: ChunkContextRequest
    language: str = ""
    mentions: tuple[TextMention, ...] = ()
    known: tuple[Entity, ...] = ()
    found: stepwise_chain.Untraced[SearchResult] = stepwise_chain.NOTHING_FOUND
    read_at: Mapping[str, datetime] = field(default_factory=dict)
    selection: ModelSelection | None = None
    issues: tuple[ReportIssue, ...] = ()

    def with_issues(self, *issues: ReportIssue | None) -> _Run:
        """Return the run with further issues."""
        return replace(self, issues=(*self.issues, *stepwise_chain.logged(*issues)))


class ChunkContextChain(stepwise_chain.StepwiseChain[ChunkInput, ChunkContext]):
    """Runnable that builds the context of a piece of text.

    Works as any LangChain Runnable. It reads and writes nothing else. A memory or a model that fails leaves its
    part empty, or to the rules, and stands in `issues`; nothing of it reaches the caller as an exception.

    Args:
        memory: The memory tools, `runtime`'s or a double.
        timeout_s: Seconds for each stage that reads the memory.
        selector: Chooses from the memories where a request has the selector "model".
        settings: Bounds of the list from which it chooses.
        count_tokens: Token counter of the list.
        propagate_bugs: Raise TypeError, KeyError and their like instead of degrading; for tests.
    """

    def __init__(
        self,
        memory: MemoryTools | StoryMemory,
        *,
        timeout_s: float = 8.0,
        selector: MemorySelector | None = None,
        settings: ContextSettings | None = None,
        count_tokens: TokenCounter = estimate_tokens,
        propagate_bugs: bool = False,
    ) -> None:
        self._memory = as_story_memory(memory)
        self._timeout_s = timeout_s
        self._selector = selector
        self._settings = settings or ContextSettings()
        self._count_tokens = count_tokens
        self._propagate_bugs = propagate_bugs
        super().__init__(
            RunnableLambda(self._find_names).with_config(run_name="find_names")
            | RunnableLambda(self._retrieve).with_config(run_name="retrieve")
            | RunnableLambda(self._select).with_config(run_name="select")
        )

    def _find_names(self, value: ChunkInput) -> _Run:
        request = ChunkContextRequest.model_validate(value)
        require_project_id(request.project_id)
        outcomes, issues = self._outlines(request)
        story: StoryOutline | None = outcomes["outline"]
        chapter = outcomes.get("outline_of_chapter")
        if request.scene_index is None and request.chapter_index is not None:
            begins_with_zero = story is not None and any(
                scene.chapter_index == request.chapter_index for scene in story.scenes
            )
            if story is None or begins_with_zero:
                request = request.model_copy(update={"scene_index": 0})
            if begins_with_zero:
                story = self._outlines(request)[0]["outline"]
        mentions = mentioned_in(
            request.text,
            story.entities if story is not None else (),
            # Without the story before, nobody could tell who is new.
            newly_shown=chapter.entities if story is not None and chapter is not None else (),
            position=request.position,
            into=request.to,
        )
        language = request.language or (story.language if story else "") or story_language(request.text)
        known_entities = tuple(story.entities) if story is not None else ()
        run = _Run(request, language=language, mentions=tuple(mentions), known=known_entities)
        return run.with_issues(*issues)

    def _outlines(
        self, request: ChunkContextRequest
    ) -> tuple[dict[str, StoryOutline | None], list[ReportIssue | None]]:
        """Read the story where the text begins, and where it is over."""
        read_outline = partial(self._memory.outline, request.project_id)
        calls: dict[str, Callable[[], StoryOutline]] = {"outline": partial(read_outline, as_of=request.position)}
        if request.chapter_index is not None:
            calls["outline_of_chapter"] = partial(read_outline, as_of=request.end)
        outcomes = run_concurrently(calls, timeouts_s=dict.fromkeys(calls, self._timeout_s))
        issues = [
            stepwise_chain.issue_of(stage, outcome, propagate_bugs=self._propagate_bugs)
            for stage, outcome in outcomes.items()
        ]
        return {stage: outcome.value for stage, outcome in outcomes.items()}, issues

    def _retrieve(self, run: _Run) -> _Run:
        deadline = Deadline.after(self._timeout_s, stage="retrieval")
        request = chunk_memories.chunk_search(run.request, run.mentions, timeout_s=deadline.share("search").remaining_s)
        if not request.queries or not run.request.limit:
            return run
        calls: dict[str, Callable[[], SearchResult]] = {"search": partial(self._memory.search, request)}
        outcome = run_concurrently(calls, timeouts_s={"search": deadline.remaining_s})["search"]
        issue = stepwise_chain.issue_of("search", outcome, propagate_bugs=self._propagate_bugs)
        search: SearchResult = outcome.value or SearchResult()
        stepwise_chain.trace_retrievers(request, search)
        run = replace(run, found=stepwise_chain.untraced_search(search)).with_issues(issue, *search.issues)
        return self._with_read_moments(run, deadline)

    def _with_read_moments(self, run: _Run, deadline: Deadline) -> _Run:
        """Return the memories with the times of their last reads, where needed."""
        read_moments, candidates = further_read(self._memory, "read_moments"), run.found.value.candidates
        if run.request.priority == "score" or not candidates or read_moments is None:
            return run
        names = [candidate.chunk.chunk_id for candidate in candidates]
        calls = {"read_moments": partial(read_moments, run.request.project_id, names)}
        outcome = run_concurrently(calls, timeouts_s={"read_moments": deadline.remaining_s})["read_moments"]
        issue = stepwise_chain.issue_of("read_moments", outcome, propagate_bugs=self._propagate_bugs)
        return replace(run, read_at=outcome.value or {}).with_issues(issue)

    def _select(self, run: _Run) -> ChunkContext:
        """Let the model choose first where the request says so, then the rules."""
        if run.request.selector != "model" or not run.request.limit:
            return _choose(run)
        if self._selector is None:
            return _choose(run.with_issues(NO_MODEL))
        run, memory_list = self._memory_list(run)
        if not memory_list.lines:
            return _choose(run)
        language = stated_language(run.language) or story_language(run.request.text)
        selection = self._selector.select_for_text(run.request.text, memory_list, language=language)
        search = with_chosen(run.found.value, memory_list, selection.chunk_ids)
        run = replace(run, found=stepwise_chain.untraced_search(search), selection=selection)
        return _choose(run.with_issues(*selection.issues))

    def _memory_list(self, run: _Run) -> tuple[_Run, MemoryList]:
        """Return the list of all memories before the text, or of the best that the search found."""
        request, settings = run.request, self._settings
        budget_tokens, count_tokens = list_tokens(settings.selector_tokens), self._count_tokens
        memories_before = further_read(self._memory, "memories_before")
        if memories_before is not None:
            most = budget_tokens // LEAST_LINE_TOKENS
            read = partial(memories_before, request.project_id, as_of=request.position, most=most)
            calls = {"memory_list": lambda: answers.read_list("memories_before", read(), StoryMemoryChunk)}
            outcome = run_concurrently(calls, timeouts_s={"memory_list": self._timeout_s})["memory_list"]
            run = run.with_issues(stepwise_chain.issue_of("select", outcome, propagate_bugs=self._propagate_bugs))
            candidates = stored_candidates(outcome.value or (), run.found.value)
            candidates = chunk_memories.selectable_candidates(request, run.mentions, candidates)
            whole = whole_list(candidates, budget_tokens=budget_tokens, count_tokens=count_tokens)
            if candidates and whole is not None:
                return run, whole
        candidates = chunk_memories.selectable_candidates(request, run.mentions, run.found.value.candidates)
        candidates = chunk_memories.ranked_candidates(request, run.mentions, candidates, known=run.known)
        most = settings.selector_candidates
        return run, best_list(candidates, budget_tokens=budget_tokens, most=most, count_tokens=count_tokens)


def _choose(run: _Run) -> ChunkContext:
    search = run.found.value
    memories, more, left_out = chunk_memories.choose_for_chunk(
        run.request,
        run.mentions,
        search.candidates,
        entities=run.known,
        link_count=search.linked,
        read_at=run.read_at,
        first_ids=run.selection.chunk_ids if run.selection else (),
    )
    glossary = [mention.entry for mention in run.mentions]
    return ChunkContext(
        project_id=run.request.project_id,
        chapter_index=run.request.chapter_index,
        glossary=glossary,
        memories=memories,
        more=more,
        left_out=left_out if run.request.with_left_out else [],
        text=chunk_memories.render_chunk_context(glossary, memories, more=more, language=run.language),
        selector=run.selection.report if run.selection else None,
        issues=list(run.issues),
    )
