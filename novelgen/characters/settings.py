"""Every number by which a character remembers, under the names of the design that it follows."""

from pydantic import ConfigDict, Field

from novelgen.models.base import Model
from novelgen.models.state import RelationshipDimension

SLOT_SEPARATOR = ":"
"""What follows it in a slot's name says whom a slot of that type is about: `npc_death_status:Mira`."""


class CharacterMemorySettings(Model):
    """What a memory of a character weighs, and what of it enters a recall."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    tier_weights: tuple[float, float, float] = Field(
        default=(3.0, 2.0, 1.0), description="Factors of pinned, important and regular memories."
    )
    recency_half_life_days: float = Field(
        default=7.0, gt=0, le=1_000_000, description="Days in which what is fresh of a memory halves."
    )
    recency_floor: float = Field(default=0.3, ge=0, le=1, description="What the recency factor never falls below.")
    relevance_floor: float = Field(default=0.3, ge=0, le=1, description="What the relevance factor never falls below.")
    high_relevance_threshold: float = Field(
        default=0.85, ge=0, le=1, description="Relevance from which a memory is told in full, not in short."
    )
    protected_slot_types: tuple[str, ...] = Field(
        default=("relationship_header", "player_name", "npc_death_status"),
        description="Slots that stand above every recall, outside the competition.",
    )
    max_protected: int = Field(default=3, ge=0, le=20, description="Most lines above a recall.")
    high_signal_recency_days: float = Field(
        default=7.0, ge=0, le=1_000_000, description="So far back weighty events come without being asked for."
    )
    high_signal_event_types: tuple[str, ...] = Field(
        default=(
            "betrayal",
            "debt",
            "death",
            "life_saved",
            "obligation",
            "promise_broken",
            "promise_made",
            "saved_life",
            "secret_revealed",
            "secret_shared",
            "threat_made",
            "witnessed_kill",
        ),
        description="Event types that come without being asked for while they are recent.",
    )
    high_signal_top_k: int = Field(default=15, ge=0, le=1000, description="Most candidates of that kind.")
    semantic_top_k: int = Field(
        default=15, ge=1, le=1000, description="Candidates nearest in meaning to what was said."
    )
    recall_budget_tokens: int = Field(
        default=800, ge=0, le=1_000_000, description="Tokens of a recall that names no budget."
    )
    max_memories_before_consolidate: int = Field(
        default=50, ge=2, le=1_000_000, description="Live memories from which consolidation has work."
    )
    consolidate_target: int = Field(
        default=20, ge=1, le=1_000_000, description="Live memories that consolidation leaves, as far as it can."
    )
    consolidate_automatically: bool = Field(
        default=False, description="Whether remembering beyond the limit consolidates by itself, by rules."
    )
    consolidated_importance: int = Field(
        default=6, ge=1, le=10, description="Importance of a memory that stands for several."
    )
    valid_interaction_types: tuple[str, ...] = Field(
        default=(
            "casual_conversation",
            "quest_related",
            "gift_given",
            "emotional_support",
            "romantic_gesture",
            "threat_made",
            "secret_shared",
            "betrayal",
            "life_saved",
            "romance_confession",
        ),
        description="What a model may call an interaction; the first is taken where nothing is near.",
    )
    interaction_type_similarity_threshold: float = Field(
        default=0.8, ge=0, le=1, description="Likeness from which a free type is taken for a valid one."
    )
    relationship_delta_threshold: int = Field(
        default=15, ge=0, description="Change of trust, affection and fear together that raises importance."
    )
    importance_boost_secret: int = Field(default=3, ge=0, le=10, description="A secret was revealed.")
    importance_boost_relationship: int = Field(default=2, ge=0, le=10, description="The relationship shifted.")
    importance_boost_obligation: int = Field(default=2, ge=0, le=10, description="Somebody owes something.")
    importance_boost_quest: int = Field(default=2, ge=0, le=10, description="A quest began or ended.")
    importance_boost_injury: int = Field(default=3, ge=0, le=10, description="Somebody was injured.")
    importance_boost_death: int = Field(default=4, ge=0, le=10, description="Somebody died.")
    importance_boost_identity: int = Field(default=2, ge=0, le=10, description="The player's name was learnt.")
    importance_boost_promise: int = Field(default=2, ge=0, le=10, description="A promise was made or broken.")
    event_type_importance: dict[str, int] = Field(
        default={
            "milestone": 10,
            "action": 8,
            "player_action": 8,
            "quest": 8,
            "witnessed": 7,
            "conversation": 6,
            "casual_conversation": 6,
            "default": 5,
        },
        description="Importance by event type, or by its first word (`quest` of `quest_failed`).",
    )
    importance_threshold: int = Field(
        default=8, ge=1, le=11, description="Importance from which a memory is important; 11: never by that."
    )
    pinned_event_types: tuple[str, ...] = Field(
        default=(
            "betrayal",
            "saved_life",
            "romance_confession",
            "witnessed_kill",
            "secret_revealed",
            "first_meeting",
            "first_gift",
            "first_quest",
            "milestone",
        ),
        description="Event types that are milestones, and pinned.",
    )
    important_event_types: tuple[str, ...] = Field(
        default=("quest_completed", "quest_failed", "gift_received", "emotional_support", "romantic_gesture"),
        description="Event types that are important.",
    )
    pinned_interaction_types: tuple[str, ...] = Field(
        default=("betrayal", "life_saved", "romance_confession"), description="Interaction types that pin a memory."
    )
    important_interaction_types: tuple[str, ...] = Field(
        default=("gift_given", "emotional_support", "romantic_gesture", "secret_shared"),
        description="Interaction types that make a memory important.",
    )
    superseded_score_multiplier: float = Field(
        default=0.1, ge=0, le=1, description="Factor of what something later put an end to."
    )
    slot_types: tuple[str, ...] = Field(
        default=("player_name", "player_allegiance", "player_info", "npc_belief_about_player", "current_quest_for_npc"),
        description="Slots: a new value takes the place of the old one.",
    )
    supersession_pairs: dict[str, str] = Field(
        default={
            "promise_made": "promise_broken",
            "trust_gained": "trust_lost",
            "alliance_formed": "alliance_broken",
            "secret_kept": "secret_revealed",
        },
        description="Event type to the event type that puts an end to it.",
    )
    max_trust_change: int = Field(default=15, ge=0, le=200, description="Largest change of trust by a model.")
    max_affection_change: int = Field(default=10, ge=0, le=200, description="Largest change of affection.")
    max_fear_change: int = Field(default=10, ge=0, le=200, description="Largest change of fear.")
    max_respect_change: int = Field(default=10, ge=0, le=200, description="Largest change of respect.")
    max_familiarity_change: int = Field(default=5, ge=0, le=100, description="Largest change of familiarity.")
    relationship_deltas: dict[str, dict[RelationshipDimension, int]] = Field(
        default={}, description="What event types do to feelings, in place of the table: `gift_given: {affection: 5}`."
    )

    def known_slot_types(self) -> tuple[str, ...]:
        """Return the types that a slot may have."""
        return tuple(dict.fromkeys((*self.slot_types, *self.protected_slot_types)))
