"""The scene record as a model fills it: flat, bounded, and without an id of its own making."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from novelgen.language.language import synonyms
from novelgen.memory.attributes import ATTRIBUTES
from novelgen.model_calls.answers import AtMost, ModelPart, Text, Texts, as_list, within
from novelgen.models.entity import EntityType
from novelgen.models.memory import EVENT_TYPES
from novelgen.models.state import DELTA_BOUNDS, LoopImportance, RelationshipDimension

MAX_MEMORIES = 12
MAX_NEW_ENTITIES = 16
MAX_IDENTITIES = 8
MAX_NAMES = 8
MAX_KNOWERS = 16
LOWEST_IMPORTANCE, HIGHEST_IMPORTANCE = 1, 10
_BOUNDS_TOLD = ", ".join(f"{name} {bound}" for name, bound in DELTA_BOUNDS.items())


WHO = "id of the list, or plain name"
"""How a model may say whom or what it means; instructions, schema and corrections say the same."""

THREAD = "id of an open loop, or its words where you have no id"
"""How a model may say which thread it means."""

EVERYBODY = "everybody"
"""In a list of people: all who are present."""

LoopOutcome = Literal["advanced", "part", "resolved", "abandoned"]
UNENDED: frozenset[LoopOutcome] = frozenset({"advanced", "part"})
"""Outcomes after which a thread is still open."""

IdentityHow = Literal["same", "unmasked"]
LearningKind = Literal["knows", "deceived", "doubts"]
LearningHow = Literal["told", "overheard", "read", "deduced", "witnessed", "own_doing"]


def _words(name: str) -> BeforeValidator:
    words = synonyms(name)

    def known_word(value: Any) -> Any:
        folded_text = value.strip().casefold() if isinstance(value, str) else value
        return words.get(folded_text, folded_text) if isinstance(folded_text, str) else value

    return BeforeValidator(known_word)


def _as_text(value: Any) -> Any:
    """Turn numbers and truth values into words, and blanks into None."""
    if isinstance(value, bool | int | float):
        return str(value).lower()
    if isinstance(value, list):
        return [_as_text(item) for item in value]
    return None if isinstance(value, str) and not value.strip() else value


def _as_line(value: Any) -> Any:
    """Join a list of numbers into one line."""
    return " ".join(map(str, value)) if isinstance(value, list) else value


Numbers = Annotated[Text, BeforeValidator(_as_line)]
"""One or several numbers of memories, in a text or as a list."""

LoopOutcomeWord = Annotated[LoopOutcome, _words("thread_outcomes")]
IdentityWord = Annotated[IdentityHow, _words("identities")]
EntityTypeWord = Annotated[EntityType, _words("entity_types")]


class ModelNewEntity(ModelPart):
    """Somebody or something that is not in the list of known entities."""

    name: Text = Field(description="as the scene calls it")
    entity_type: EntityTypeWord
    aliases: Annotated[Texts, AtMost(MAX_NAMES)] = Field(default_factory=list, description="other names in the scene")
    description: Text = Field(default="", description="what tells it apart, and where it is")
    same_as: Text = Field(
        default="", description="known entity that this name belongs to: id, or plain name; else empty"
    )
    generic: bool = Field(default=False, description="true: one of a kind, known by no name of its own")
    quote: Text = Field(default="", description="words of the scene that give the name, if it is not there as such")


class ModelKnownName(ModelPart):
    """A new name of somebody or something in the list of known entities."""

    entity: Text = Field(description=WHO)
    name: Text
    quote: Text = Field(default="", description="words copied from the scene that give it the name")
    former: Text = Field(default="", description="who bore it until now, of a title that passes on; else empty")


class ModelSameEntities(ModelPart):
    """Two ids that are one."""

    a: Text = Field(description=WHO)
    b: Text = Field(description=WHO)
    how: IdentityWord = Field(
        default="same", description="unmasked: readers learn it in this scene; same: they were one all along"
    )
    quote: Text = Field(default="", description="words copied from the scene or from a line of the lists")


class ModelStateChange(ModelPart):
    """One attribute of one entity, or of several alike, that took a new value in the scene."""

    entity: Text = Field(default="", description=WHO)
    entities: Annotated[Texts, as_list, AtMost(MAX_NAMES)] = Field(
        default_factory=list,
        description=f"instead of entity: all who change alike, as a group that moves: {WHO}, or {EVERYBODY}",
    )
    attribute: Text = Field(
        description="; ".join(f"{name} ({meaning})" for name, meaning in ATTRIBUTES.items()) + "; or another short name"
    )
    op: Literal["set", "add", "remove", "clear"] = Field(
        default="set", description="add and remove for entries of a list, clear for what is over"
    )
    value: Annotated[str | list[str] | None, BeforeValidator(_as_text)] = Field(
        default=None, description="what holds after the scene, or what is added or removed"
    )
    when: Literal["now", "before", "probably"] = Field(
        default="now", description="before: it held at an earlier time, not now; probably: a guess or claim of somebody"
    )
    evidence: Text = Field(default="", description="words copied from the scene")


class ModelDimensionChange(ModelPart):
    """How far a feeling moved in the scene."""

    dimension: RelationshipDimension
    of: Literal["a", "b", "both"] = Field(default="both", description="who feels it for the other")
    change: int = Field(description=f"how far it moved, at most: {_BOUNDS_TOLD}, up or down")


class ModelRelationshipChange(ModelPart):
    """How two characters stand after the scene."""

    character_a: Text = Field(description=WHO)
    character_b: Text = Field(description=WHO)
    role_a: Text = Field(default="", description="what a is to b where they are not alike")
    role_b: Text = Field(default="", description="what b is to a")
    relationship_type: Text = Field(default="", description="where they are alike: friends, rivals")
    status: Text = "neutral"
    perspective_a: Text = Field(default="", description="how a sees b")
    perspective_b: Text = Field(default="", description="how b sees a")
    intensity: Annotated[int, within(0, 10)] = 5
    event: Text = Field(default="", description="what changed it")
    dimensions: Annotated[list[ModelDimensionChange], AtMost(5)] = Field(default_factory=list)


class ModelLoop(ModelPart):
    """A thread that the scene opens: a question, promise, threat or plan that is not yet paid."""

    description: Text
    category: Text = ""
    importance: Annotated[LoopImportance, _words("importances")] = "medium"
    entities: Annotated[Texts, as_list, AtMost(MAX_NAMES)] = Field(
        default_factory=list, description=f"of whom or what: {WHO}, or {EVERYBODY}"
    )
    pay_off: Text = Field(default="", description="the term or condition that the text sets; mostly empty")


class ModelLoopMove(ModelPart):
    """A known open loop that the scene moves or ends."""

    id: Text = Field(description=THREAD)
    note: Text = Field(default="", description="what happened to it")
    description: Text = Field(default="", description="what is open now, whole, where that has grown; mostly empty")
    pay_off: Text = Field(default="", description="the term or condition that the text sets for it now; mostly empty")
    outcome: LoopOutcomeWord = Field(
        default="advanced",
        description="advanced also: a standing promise kept once more; part: one part of it is answered; "
        "abandoned also when it is moot",
    )


class ModelLearning(ModelPart):
    """Some came to know what memories say, or to believe the contrary."""

    who: Annotated[Texts, as_list, AtMost(MAX_KNOWERS)] = Field(description=f"all who learn it: {WHO}, or {EVERYBODY}")
    memories: Annotated[Texts, as_list] = Field(
        description="numbers: M of known memories, N of those in this answer; all: what from_whom has lived through"
    )
    kind: Annotated[LearningKind, _words("learning_kinds")] = Field(
        default="knows", description="deceived: believes the contrary; doubts: does not believe it"
    )
    how: Annotated[LearningHow, _words("ways_of_learning")] = "told"
    from_whom: Text = Field(default="", description="who told or wrote it, or lied")
    certainty: Annotated[float, within(0.0, 1.0)] = Field(default=1.0, description="1 sure, 0.5 a rumour or a guess")
    quote: Text = Field(default="", description="words copied from the scene that show it")


class ModelMemory(ModelPart):
    """One fact that later scenes must not contradict."""

    content: Text
    short: Text = Field(default="", description="the same fact in about 60 characters, 18 in Chinese")
    event_type: Text = Field(default="other", json_schema_extra={"enum": [*sorted(EVENT_TYPES)]})
    importance: Annotated[int, within(LOWEST_IMPORTANCE, HIGHEST_IMPORTANCE)] = 5
    entities: Annotated[Texts, as_list, AtMost(MAX_NAMES)] = Field(
        default_factory=list, description=f"all it speaks of: {WHO}, or {EVERYBODY}"
    )
    tags: Annotated[Texts, AtMost(4)] = Field(default_factory=list)
    slot: Text = Field(
        default="",
        description="id or plain name, a dot, attribute, where only one value can be true at a time: I1.holder; "
        "else empty",
    )
    evidence: Text = ""
    repeats: Numbers = Field(default="", description="M numbers of the known memories that tell it; else empty")
    supersedes: Numbers = Field(default="", description="M numbers of all known memories that this ends or corrects")
    contradicts: Numbers = Field(default="", description="M number of the known memory that this cannot stand beside")
    known_by: Annotated[Texts, as_list, AtMost(MAX_KNOWERS)] = Field(
        default_factory=list, description=f"{WHO}, or {EVERYBODY}"
    )
    hidden_from: Annotated[Texts, as_list, AtMost(MAX_KNOWERS)] = Field(
        default_factory=list, description=f"{WHO}, or {EVERYBODY}: all who are there and not in known_by"
    )


class ModelSceneRecord(ModelPart):
    """Everything that the scene established.

    More items than the bounds are cut off; items of a wrong type are errors.
    """

    title: Text = ""
    pov: Text = Field(default="", description=f"who tells or sees the scene: {WHO}")
    location: Text = Field(default="", description=f"where it plays: {WHO} of a place, or words such as: in a cab")
    story_time: Text = Field(
        default="", description="when it plays, in a few words: day, hour, how long after the scene before"
    )
    is_flashback: bool = Field(default=False, description="all of it plays at an earlier time")
    characters_present: Annotated[Texts, as_list, AtMost(16)] = Field(
        default_factory=list, description=f"who is on stage, not who is only spoken of: {WHO}"
    )
    new_entities: Annotated[list[ModelNewEntity], AtMost(MAX_NEW_ENTITIES)] = Field(default_factory=list)
    known_names: Annotated[list[ModelKnownName], AtMost(MAX_IDENTITIES)] = Field(default_factory=list)
    same_entities: Annotated[list[ModelSameEntities], AtMost(MAX_IDENTITIES)] = Field(default_factory=list)
    summary: Annotated[Texts, AtMost(20)] = Field(description="bullets, whole sentences in the order of the scene")
    key_events: Annotated[Texts, AtMost(6)] = Field(default_factory=list)
    emotional_beats: Annotated[Texts, AtMost(4)] = Field(default_factory=list)
    state_changes: Annotated[list[ModelStateChange], AtMost(16)] = Field(default_factory=list)
    relationship_changes: Annotated[list[ModelRelationshipChange], AtMost(6)] = Field(default_factory=list)
    open_loops_created: Annotated[list[ModelLoop], AtMost(6)] = Field(default_factory=list)
    open_loops_moved: Annotated[list[ModelLoopMove], AtMost(16)] = Field(default_factory=list)
    memories: Annotated[list[ModelMemory], AtMost(MAX_MEMORIES)]
    learned: Annotated[list[ModelLearning], AtMost(12)] = Field(
        default_factory=list,
        description="who learns in the scene what memories say, or is made to believe the contrary",
    )

    def has_facts(self) -> bool:
        """Tell whether anything is said that a later scene could contradict or pick up."""
        return bool(
            self.memories
            or self.state_changes
            or self.relationship_changes
            or self.open_loops_created
            or self.open_loops_moved
        )
