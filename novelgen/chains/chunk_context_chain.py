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
from novelgen.context.text_glossary import TextMention, mentioned_in
from novelgen.deadlines import Deadline, run_concurrently
from novelgen.language.language import story_language
from novelgen.memory.outline import StoryOutline
from novelgen.memory.protocol import MemoryTools, StoryMemory, as_story_memory, further_read
from novelgen.memory.search import SearchResult
from novelgen.models.chunk_context import ChunkContext, ChunkContextRequest
from novelgen.models.context import ReportIssue
from novelgen.models.entity import Entity
from novelgen.models.position import require_project_id

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
    issues: tuple[ReportIssue, ...] = ()

    def with_issues(self, *issues: ReportIssue | None) -> _Run:
        """Return the run with further issues."""
        return replace(self, issues=(*self.issues, *stepwise_chain.logged(*issues)))


class ChunkContextChain(stepwise_chain.StepwiseChain[ChunkInput, ChunkContext]):
    """Runnable that builds the context of a piece of text.

    Works as any LangChain Runnable. It reads and writes nothing else. A memory that fails leaves its part
    empty and stands in `issues`; nothing of it reaches the caller as an exception.
    """

    def __init__(
        self, memory: MemoryTools | StoryMemory, *, timeout_s: float = 8.0, propagate_bugs: bool = False
    ) -> None:
        self._memory = as_story_memory(memory)
        self._timeout_s = timeout_s
        self._propagate_bugs = propagate_bugs
        super().__init__(
            RunnableLambda(self._find_names).with_config(run_name="find_names")
            | RunnableLambda(self._retrieve).with_config(run_name="retrieve")
            | RunnableLambda(_choose).with_config(run_name="select")
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
        loaded_partial = partial(self._memory.outline, request.project_id)
        calls: dict[str, Callable[[], StoryOutline]] = {"outline": partial(loaded_partial, as_of=request.position)}
        if request.chapter_index is not None:
            calls["outline_of_chapter"] = partial(loaded_partial, as_of=request.end)
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


def _choose(run: _Run) -> ChunkContext:
    search = run.found.value
    memories, more, left_out = chunk_memories.choose_for_chunk(
        run.request, run.mentions, search.candidates, known=run.known, linked=search.linked, read_at=run.read_at
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
        issues=list(run.issues),
    )
