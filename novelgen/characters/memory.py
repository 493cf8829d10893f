"""What one character remembers: a memory, when it happened, and from when on the character knows it."""

from datetime import datetime
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import BaseModel, ConfigDict, Field

from novelgen.characters.settings import SLOT_SEPARATOR
from novelgen.errors import InvalidPositionError
from novelgen.models.knowledge import Certainty, KnowledgeSource
from novelgen.models.position import GREATEST_INDEX, UtcDatetime, to_utc
from novelgen.models.shown import Shown

CharacterTier = Literal["pinned", "important", "regular"]

TIERS: tuple[CharacterTier, ...] = ("pinned", "important", "regular")

HowLearnt = Literal["own_doing", "witnessed", "told", "overheard", "read"]

CharacterMemoryStatus = Literal["active", "consolidated", "deleted"]

SECOND_HAND: frozenset[KnowledgeSource] = frozenset({"told", "overheard", "read"})
"""Ways of learning that a recall marks: the character was not there."""

PositionNumber = Annotated[int, Field(ge=0, le=GREATEST_INDEX)]


class GamePosition(NamedTuple):
    """A session and a turn within it, which order what is played as chapters and scenes order a book."""

    session: int
    turn: int


Moment = GamePosition | datetime
"""When something happens, or as of when something is read: a position of the game, or a point in time."""


def as_moment(value: tuple[int, int] | datetime | None) -> Moment | None:
    """Return what a caller gave as a moment: a pair of session and turn, a datetime, or None."""
    if value is None:
        return None
    if isinstance(value, datetime):
        return to_utc(value)
    if not (
        isinstance(value, tuple | list)
        and len(value) == 2
        and all(type(each) is int and 0 <= each <= GREATEST_INDEX for each in value)
    ):
        raise InvalidPositionError(
            f"{value!r} is no moment; pass (session, turn) of whole numbers from 0 to {GREATEST_INDEX:,}, or a datetime"
        )
    return GamePosition(*value)


class CharacterMemory(Shown, BaseModel):
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
        """The type of its slot, without what the slot is about."""
        return None if self.slot is None else self.slot.partition(SLOT_SEPARATOR)[0]

    @property
    def known_position(self) -> GamePosition | None:
        """From which position on the character knows it; None where it has no position."""
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


class CharacterChange(BaseModel):
    """Something that was done to a character's memories, feelings or secrets, which can be undone."""

    change_id: int
    kind: CharacterChangeKind
    character_id: str
    memory_ids: list[str]
    created_at: UtcDatetime
    undone_at: UtcDatetime | None = None
