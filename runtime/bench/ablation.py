"""What each part of the choice is worth: the same candidates chosen from with one part changed at a time."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from novelgen.chains.memory_context_chain import MemoryContextChain
from novelgen.memory.search import SearchRequest, SearchResult
from novelgen.selection.weights import SelectionWeights
from runtime.bench.book import BenchPlan
from runtime.bench.chain_runs import PlannedContext, plan_request
from runtime.memory_tools import StoryMemoryTools
from runtime.stores import MemoryStores

SCORED_PARTS = (
    "relevance",
    "importance",
    "entities",
    "open_loops",
    "spreading",
    "surroundings",
    "summaries",
)
OTHER_VARIANTS: dict[str, dict[str, float]] = {
    "without summaries, also as evidence of scenes": {"summaries": 0.0, "bullet_share": 0.0},
    "without damping what all embeddings share": {"damping": 0.0},
    "without at-hand demotion": {"at_hand_points": 0.0},
    "without kinds (bullets and passages as good as memories)": {
        "summary_points": 0.0,
        "passage_points": 0.0,
    },
    "superseded memories to a tenth": {"superseded_points": -2.3},
    "superseded memories as any": {"superseded_points": 0.0},
    "all in full form": {"full_form_score": -100.0},
    "short form wherever it tells": {"full_form_score": 100.0},
    "without gain per token": {"length_discount": 0.0},
}


def ablation_variants(whole: SelectionWeights) -> dict[str, SelectionWeights]:
    """Return the variants by name, the whole choice first, each differing from it in one thing.

    Args:
        whole: The weights that are set.
    """
    without = {f"without {part}": _nothing_for(part) for part in SCORED_PARTS}
    changed = {**without, **OTHER_VARIANTS}
    return {"whole": whole, **{name: whole.model_copy(update=change) for name, change in changed.items()}}


def _nothing_for(part: str) -> dict[str, float]:
    """A part's weight and, where it has one of its own, that for a story of passages alone."""
    names = (part, f"text_alone_{part}")
    return {name: 0.0 for name in names if name in SelectionWeights.model_fields}


def run_ablation(
    stores: MemoryStores,
    project_id: str,
    plans: Sequence[BenchPlan],
    *,
    progress: Callable[[int, int], None],
) -> dict[str, list[PlannedContext]]:
    """Build every plan's context by rules once per variant, from one search per plan.

    Args:
        stores: Stores that hold the book.
        project_id: Its project.
        plans: The plans.
        progress: Called after each plan with the plans done and the plans in all.

    Returns:
        Contexts per variant, in the order of the plans.
    """
    tools, whole = _RememberingTools(stores), stores.settings.memory.weights
    chains = {name: _chain(stores, tools, weights) for name, weights in ablation_variants(whole).items()}
    contexts: dict[str, list[PlannedContext]] = {name: [] for name in chains}
    for done, plan in enumerate(plans, start=1):
        for name, chain in chains.items():
            contexts[name].append(PlannedContext(plan, chain.invoke(plan_request(project_id, plan))))
        progress(done, len(plans))
    return contexts


def _chain(stores: MemoryStores, tools: StoryMemoryTools, weights: SelectionWeights) -> MemoryContextChain:
    settings = stores.settings.memory.model_copy(update={"weights": weights})
    return MemoryContextChain(tools, settings=settings)


class _RememberingTools(StoryMemoryTools):
    """Memory tools that answer the last search again without searching."""

    def __init__(self, stores: MemoryStores) -> None:
        super().__init__(stores)
        self._asked = ""
        self._answer = SearchResult()

    def search(self, request: SearchRequest) -> SearchResult:
        asked = request.model_dump_json(exclude={"timeout_s"})
        if asked != self._asked:
            self._asked, self._answer = asked, super().search(request)
        return self._answer
