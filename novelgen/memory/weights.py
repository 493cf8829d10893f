"""Settings of the selection, with measured defaults."""

from __future__ import annotations

from typing import Literal, get_args

from pydantic import ConfigDict, Field

from novelgen.memory.search import NAME_KINDS, QueryKind
from novelgen.models.base import Model

QuotaName = Literal["obligations", "relations", "left_off", "story_so_far"]


class NeedQuotas(Model):
    """Shares of a budget.

    Unused shares go to the needs that want more.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    obligations: float = Field(default=0.5, ge=0, le=1, description="Open threads, of timeline_budget.")
    relations: float = Field(default=0.5, ge=0, le=1, description="Relationships, of timeline_budget.")
    left_off: float = Field(
        default=0.14, ge=0, le=1, description="The end of the scene before, word for word, of memory_budget; 0: none."
    )
    story_so_far: float = Field(
        default=0.33, ge=0, le=1, description="The last scenes, chapters and parts, of memory_budget; 0: none."
    )

    def tokens(self, name: QuotaName, budget_tokens: int) -> int:
        """Return a quota in whole tokens of its budget."""
        return int(getattr(self, name) * budget_tokens)

    def described(self, name: QuotaName) -> str:
        """Return a quota as reports name it."""
        return f"quotas.{name}={getattr(self, name):g}"


DEFAULT_QUOTAS = NeedQuotas()


class SelectionWeights(Model):
    """Weights of the parts of a memory's score, and the rules of form and filling.

    Every part is standardised over the candidates (mean 0, deviation 1), so a weight says how many points one
    deviation is worth. The sum reads like log-odds: a point is a factor of 2.7.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    relevance: float = Field(
        default=0.35, description="Closeness to the plan's queries, in a story of `whole_story_scenes` and more."
    )
    early_relevance: float = Field(
        default=1.2, description="The same at the beginning of a story; between the two in proportion."
    )
    importance: float = Field(default=0.45, description="Importance, 1-10, as stored.")
    entities: float = Field(default=0.3, description="Entities shared with the plan, rare ones counting more.")
    open_loops: float = Field(default=0.4, description="Weight of the open threads planted in its scene.")
    spreading: float = Field(
        default=0.15, description="What flows to its scene from sure scenes that are similar to it."
    )
    surroundings: float = Field(
        default=0.25, description="Evidence of what lies around the scenes that its own is most similar to."
    )
    summaries: float = Field(default=0.30, description="Closeness of its scene's summary bullets to the plan.")
    whole_story_scenes: int = Field(
        default=100,
        ge=1,
        description=(
            "Scenes before the plan from which `spreading`, `surroundings` and `summaries` count whole; with fewer, "
            "in proportion: a short story has few plots to tell apart."
        ),
    )
    text_alone_words: float = Field(
        default=0.25, description="Words shared with the whole plan, rare ones most, where a story has passages alone."
    )
    text_alone_entities: float = Field(
        default=0.12, description="`entities` where a story has passages alone: most of it is said by the names there."
    )
    text_alone_novelty: float = Field(
        default=0.3,
        description="Being unlike what earlier scenes told, where a story has passages alone: what is told again and "
        "again tells little.",
    )
    text_alone_spreading: float = Field(
        default=0.3,
        description="`spreading` where a story has passages alone, which flows between neighbouring scenes.",
    )
    beside_points: float = Field(
        default=1.0,
        ge=0,
        description="Added, where a story has passages alone, for each chosen passage that stands beside.",
    )

    voting_kinds: frozenset[QueryKind] = Field(
        default=frozenset(get_args(QueryKind)) - NAME_KINDS,
        description="Queries that decide about relevance; those of names only find candidates.",
    )
    best_queries: int = Field(
        default=3, ge=1, description="How many of its best queries are averaged in scene evidence."
    )
    lexical_share: float = Field(
        default=0.5,
        ge=0,
        description="Weight of words beside meaning in scene evidence, where a story has passages alone.",
    )

    at_hand_scenes: int = Field(
        default=3,
        ge=0,
        description="Scenes back that the writer has at hand; all that the story so far tells, where these are more.",
    )
    at_hand_points: float = Field(default=-2.0, description="Added to memories of scenes at hand.")
    superseded_points: float = Field(default=-0.5, description="Added to what a later memory replaced.")
    unverified_points: float = Field(default=-0.5, description="Added to what no quote of its scene proves.")
    consolidated_points: float = Field(
        default=0.7,
        description="Added to what stands for several memories: it tells several facts, and is priced as one.",
    )
    lasting_points: float = Field(
        default=0.5,
        description="Added to what always holds in the story, and taken from journeys and plans, which soon are over.",
    )
    pinned_points: float = Field(
        default=2.0, description="Added to what the author pinned, and to a note whose key stands in the plan."
    )
    summary_points: float = Field(default=-2.0, description="Added to a summary bullet beside memories.")
    passage_points: float = Field(default=-3.0, description="Added to a passage of the text beside memories.")

    scene_neighbours: int = Field(default=8, ge=0, description="Most similar scenes that each scene is tied to.")
    scene_reach: int = Field(default=6, ge=0, description="Scenes before and after that count as surroundings.")
    scene_decay: float = Field(default=0.6, gt=0, lt=1, description="Weight lost per scene of distance.")
    restart: float = Field(default=0.3, gt=0, le=1, description="Share of spreading that returns to the sure scenes.")
    spreading_steps: int = Field(default=10, ge=0, description="Steps of spreading.")
    bullet_share: float = Field(default=1.0, ge=0, description="Weight of a scene's summary bullets in scene evidence.")

    least_score: float = Field(
        default=-2.0, description="Below it a memory is not likely needed, and no room is filled with it."
    )
    full_form_score: float = Field(default=2.5, description="Score from which the full form is given.")
    length_discount: float = Field(default=0.6, ge=0, description="Exponent of tokens in gain per token.")
    near_duplicate_overlap: float = Field(default=0.6, gt=0, le=1, description="Shared words that make a duplicate.")
    left_out_receipts: int = Field(default=12, ge=0, description="How many left-out candidates are reported.")


DEFAULT_WEIGHTS = SelectionWeights()
