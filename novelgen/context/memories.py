"""From candidates to the memories of a context, with their receipts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pydantic import BaseModel, Field

from novelgen.context.prompt_block import prompt_order
from novelgen.context.retrieval_plan import PlannedQuery, RetrievalPlan
from novelgen.language.language import TokenCounter
from novelgen.memory.candidates import QueryKind, SceneCast, SceneQuery, SelectionScene
from novelgen.memory.outline import StoryOutline
from novelgen.memory.search import SearchResult
from novelgen.memory.select import LeftOutMemory, SelectedMemory, select_memories
from novelgen.memory.weights import DEFAULT_QUOTAS, NeedQuotas, SelectionWeights
from novelgen.models.context import ContextItem, LeftOutItem, LeftOutWhy, MemoryContextRequest
from novelgen.models.memory import PASSAGE_TYPES, StoryMemoryChunk, is_entity_target

_KINDS: dict[str, QueryKind] = {
    "whole": "plan",
    "purpose": "purpose",
    "action": "action",
    "place": "place",
    "character": "character",
    "pair": "pair",
}


class AssembledMemories(BaseModel):
    """Memories within the budget, best first, and their receipts, one to one."""

    chunks: list[StoryMemoryChunk] = Field(default_factory=list)
    items: list[ContextItem] = Field(default_factory=list)
    tokens: int = 0
    tokens_per_need: dict[str, int] = Field(default_factory=dict, description="Adds up to `tokens`.")
    left_out: list[LeftOutItem] = Field(default_factory=list)

    def without(self, told: Mapping[str, str]) -> AssembledMemories:
        """Return the rest without what other sections tell; `told` has the section of each such chunk id."""
        kept = [each for each in self.items if each.chunk_id not in told]
        gone = [each for each in self.items if each.chunk_id in told]
        verbatim = {each.chunk_id for each in self.chunks if each.content_type in PASSAGE_TYPES}
        spent = dict(self.tokens_per_need)
        for each in gone:
            spent["passages" if each.chunk_id in verbatim else "memories"] -= each.tokens
        whys = [LeftOutWhy(code="told_elsewhere", values={"section": told[each.chunk_id]}) for each in gone]
        return AssembledMemories(
            chunks=[each for each in self.chunks if each.chunk_id not in told],
            items=_with_prompt_indices(kept),
            tokens=sum(each.tokens for each in kept),
            tokens_per_need=spent,
            left_out=[
                *(
                    LeftOutItem(
                        id=each.chunk_id,
                        source_id=each.source_id,
                        text=each.text,
                        tokens=each.tokens,
                        score=each.score,
                        reason=why.sentence,
                        why=why,
                    )
                    for each, why in zip(gone, whys, strict=True)
                ),
                *self.left_out,
            ],
        )


def assemble_memories(
    request: MemoryContextRequest,
    story: StoryOutline,
    plan: RetrievalPlan,
    *,
    search: SearchResult,
    budget_tokens: int,
    weights: SelectionWeights,
    count_tokens: TokenCounter,
    quotas: NeedQuotas = DEFAULT_QUOTAS,
    top_k: int | None = None,
    is_full_report: bool = True,
) -> AssembledMemories:
    """Choose the memories of a planned scene."""
    position = request.position
    candidates = [
        each
        for each in search.candidates
        if each.chunk.project_id == request.project_id
        and position.admits(each.chunk.chapter_index, each.chunk.scene_index)
    ]
    selection = select_memories(
        candidates,
        selection_scene(story, plan, search),
        weights=weights,
        budget_tokens=budget_tokens,
        count_tokens=count_tokens,
        quotas=quotas,
        top_k=top_k,
    )
    verbatim = sum(each.tokens for each in selection.items if each.chunk.content_type in PASSAGE_TYPES)
    return AssembledMemories(
        chunks=[_given_out(item.chunk, is_full=is_full_report) for item in selection.items],
        items=_with_prompt_indices([_receipt(item, has_score_parts=is_full_report) for item in selection.items]),
        tokens=selection.tokens,
        tokens_per_need={"memories": selection.tokens - verbatim, "passages": verbatim},
        left_out=[_left_out(item) for item in selection.left_out],
    )


def selection_scene(story: StoryOutline, plan: RetrievalPlan, search: SearchResult) -> SelectionScene:
    """Return the planned scene as the choice sees it, with the facts of the candidates' scenes."""
    named = [each for each in plan.entity_ids if each not in plan.inferred_ids]
    found_in = {candidate.scene_key for candidate in search.candidates}
    vectors = search.query_vectors or (None,) * len(plan.queries)
    return SelectionScene(
        ordinal=len(story.scenes),
        queries=tuple(
            SceneQuery(text=query.text, kind=_kind(query), vector=vector)
            for query, vector in zip(plan.queries, vectors, strict=True)
        ),
        entity_ids=frozenset(named),
        scenes=tuple(
            SceneCast(chapter_index=scene.chapter_index, scene_index=scene.scene_index, ordinal=ordinal)
            for ordinal, scene in enumerate(story.scenes)
            if (scene.chapter_index, scene.scene_index) in found_in
        ),
        open_loops=tuple(story.open_loops),
    )


def _kind(query: PlannedQuery) -> QueryKind:
    if query.origin == "llm":
        return "character" if query.is_names_only else "model"
    return _KINDS.get(query.purpose, "other")


def _given_out(chunk: StoryMemoryChunk, *, is_full: bool) -> StoryMemoryChunk:
    """Return a memory as a context holds it: what it is attached to is told where its entities do not tell it."""
    if is_full or not all(is_entity_target(each.id) for each in chunk.attached_to):
        return chunk
    return chunk.model_copy(update={"attached_to": []})


def _receipt(item: SelectedMemory, *, has_score_parts: bool) -> ContextItem:
    return ContextItem(
        chunk_id=item.chunk.chunk_id,
        source_id=item.chunk.source_id,
        chapter_index=item.chunk.chapter_index,
        scene_index=item.chunk.scene_index,
        form=item.form,
        text=item.text,
        tokens=item.tokens,
        prompt_index=0,
        reasons=list(item.reasons),
        arm_ranks=item.arm_ranks,
        score=item.score,
        score_parts=item.score_parts if has_score_parts else {},
    )


def _with_prompt_indices(items: Sequence[ContextItem]) -> list[ContextItem]:
    places = {item.chunk_id: index for index, item in enumerate(prompt_order(list(items)))}
    return [item.model_copy(update={"prompt_index": places[item.chunk_id]}) for item in items]


def _left_out(item: LeftOutMemory) -> LeftOutItem:
    return LeftOutItem(
        section="memories",
        id=item.chunk.chunk_id,
        source_id=item.chunk.source_id,
        text=item.chunk.short or item.chunk.content[:120],
        tokens=item.tokens,
        score=item.score,
        reason=item.reason,
        why=item.why,
    )
