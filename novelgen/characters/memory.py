"""Memories of a game character and the settings that weigh them."""

from datetime import datetime
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import ConfigDict, Field

from novelgen.errors import InvalidPositionError
from novelgen.models.base import Model
from novelgen.models.knowledge import Certainty, KnowledgeSource
from novelgen.models.position import GREATEST_INDEX, UtcDatetime, to_utc
from novelgen.models.shown import Shown
from novelgen.models.state import RelationshipDimension

SLOT_SEPARATOR = ":"
"""What follows it in a slot's name says whom a slot of that type is about: `npc_death_status:Mira`."""


def _words(listing: str) -> tuple[str, ...]:
    return tuple(listing.split())


class CharacterMemorySettings(Model):
    """Weights and bounds of a character's memories and recalls."""

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
        default=_words(
            "betrayal debt death life_saved obligation promise_broken promise_made "
            "saved_life secret_revealed secret_shared threat_made witnessed_kill"
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
        default=_words(
            "casual_conversation quest_related gift_given emotional_support romantic_gesture "
            "threat_made secret_shared betrayal life_saved romance_confession"
        ),
        description="What a model may call an interaction; all else counts as casual_conversation.",
    )
    match_interaction_types: bool = Field(
        default=False, description="For debugging: take a type that is not valid for the nearest one."
    )
    interaction_type_similarity_threshold: float = Field(
        default=0.8, ge=0, le=1, description="Likeness from which a valid type is near enough to be told, or taken."
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
        default=_words(
            "betrayal saved_life romance_confession witnessed_kill secret_revealed "
            "first_meeting first_gift first_quest milestone"
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


CharacterTier = Literal["pinned", "important", "regular"]
TIERS: tuple[CharacterTier, ...] = ("pinned", "important", "regular")
HowLearnt = Literal["own_doing", "witnessed", "told", "overheard", "read"]
CharacterMemoryStatus = Literal["active", "consolidated", "deleted"]

SECOND_HAND: frozenset[KnowledgeSource] = frozenset({"told", "overheard", "read"})
"""Ways of learning that a recall marks: the character was not there."""

PositionNumber = Annotated[int, Field(ge=0, le=GREATEST_INDEX)]


class GamePosition(NamedTuple):
    """A session and a turn within it, as an order of play."""

    session: int
    turn: int


Moment = GamePosition | datetime
"""When something happens, or as of when something is read: a position of the game, or a point in time."""


def as_moment(value: tuple[int, int] | datetime | None) -> Moment | None:
    """Return a moment as session and turn, datetime or None."""
    if value is None:
        return None
    if isinstance(value, datetime):
        return to_utc(value)
    if not (
        isinstance(value, tuple | list)
        and len(value) == 2
        and all(type(number) is int and 0 <= number <= GREATEST_INDEX for number in value)
    ):
        raise InvalidPositionError(
            f"{value!r} is no moment; pass (session, turn) of whole numbers from 0 to {GREATEST_INDEX:,}, or a datetime"
        )
    return GamePosition(*value)


class CharacterMemory(Shown, Model):
    """One memory of one character, in that character's own words.

    `session` and `turn` are where it happened, `happened_at` when. What the character learnt later than it happened
    has the moment of learning in `known_session`, `known_turn` and `known_at`; a read goes by these.
    """

    model_config = ConfigDict(frozen=True)

    memory_id: str
    character_id: str
    content: str
    short: str | None = Field(default=None, description="Told in place of the content where it is no main topic.")
    event_type: str = ""
    interaction_type: str | None = None
    importance: int = Field(default=5, ge=1, le=10)
    tier: CharacterTier = "regular"
    is_milestone: bool = False
    participants: list[str] = Field(default_factory=list, description="Ids of characters, names of others.")
    emotion: str = ""
    location: str = ""
    slot: str | None = Field(default=None, description="What it is the one current value of: `player_name`.")
    how: KnowledgeSource = "own_doing"
    heard_from: str | None = Field(default=None, description="Id of the character who told it, or a name.")
    event_id: str = Field(default="", description="The same for all memories of one event, whoever remembers it.")
    session: PositionNumber | None = None
    turn: PositionNumber | None = None
    happened_at: UtcDatetime
    known_session: PositionNumber | None = None
    known_turn: PositionNumber | None = None
    known_at: UtcDatetime
    superseded_by: str | None = Field(default=None, description="Memory that put an end to it.")
    status: CharacterMemoryStatus = "active"
    consolidated_into: str | None = Field(default=None, description="Memory that stands for it.")
    stands_for: list[str] = Field(default_factory=list, description="Memories that it stands for.")
    details: dict[str, Any] = Field(default_factory=dict, description="What the caller keeps with it.")
    created_at: UtcDatetime

    @property
    def slot_type(self) -> str | None:
        """The type of its slot, without the subject."""
        return None if self.slot is None else self.slot.partition(SLOT_SEPARATOR)[0]

    @property
    def known_position(self) -> GamePosition | None:
        """The position of learning, or None without a position."""
        if self.known_session is None or self.known_turn is None:
            return None
        return GamePosition(self.known_session, self.known_turn)

    def in_simpler_terms(self) -> str:
        """Return the line that a notebook shows."""
        when = f"[{self.session}:{self.turn}] " if self.session is not None else ""
        return f"- {when}{self.content}"

    @property
    def is_second_hand(self) -> bool:
        """Whether the character was not there."""
        return self.how in SECOND_HAND


class KnownStoryMemory(CharacterMemory):
    """A memory of the story that a character knows, as a recall weighs it beside the character's own.

    Its `memory_id` is the story's source_id. Scenes have positions and no dates: where it stands is `chapter_index` and
    `scene_index`, and all of its moments are that of being stored.
    """

    chapter_index: int | None = Field(default=None, description="Its scene; None: a note of the author.")
    scene_index: int | None = None
    since_chapter: int | None = Field(default=None, description="Where the character came to know it; None: always.")
    since_scene: int | None = None
    certainty: Certainty = 1.0


CharacterChangeKind = Literal["remember", "edit", "delete", "consolidate", "feel", "secret", "reveal", "show"]


class CharacterChange(Model):
    """Something that was done to a character's memories, feelings or secrets, which can be undone."""

    change_id: int
    kind: CharacterChangeKind
    character_id: str
    memory_ids: list[str]
    created_at: UtcDatetime
    undone_at: UtcDatetime | None = None
