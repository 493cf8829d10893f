"""Hidden identities that a merge reveals."""

from dataclasses import replace

from pydantic import Field

from novelgen.memory.knowledge_rules import KnowledgeRules
from novelgen.memory.knowledge_story import KnowledgeMemory
from novelgen.memory.told_identity import tells_identity
from novelgen.models.base import Model
from novelgen.models.entity import Entity
from novelgen.models.knowledge import READER
from novelgen.models.memory import replacing_scene
from novelgen.models.position import StoryPosition
from runtime.storage.database import UnitOfWork
from runtime.story import base

MOST_NOTES = 1000
"""So many notes of the two are looked at."""


class IdentityNote(Model):
    """A hidden note of an identity."""

    memory_id: str = Field(description="As `memory knowledge` takes it.")
    content: str
    hidden_from: list[str] = Field(default_factory=list, description="Their names, and `reader`.")
    known_by: list[str] = Field(default_factory=list, description="Names of those who alone know it.")


class RefutedDeath(Model):
    """A note of a death that a later scene refutes."""

    memory_id: str
    content: str
    scene: str = Field(description="`2:1`, which shows the person alive under the other name.")


class RevealedNotes(Model):
    """Notes that an identity shows, keeps hidden or refutes."""

    shown: list[IdentityNote] = Field(
        default_factory=list, description="It tells that the two are one and nothing else: all know it from there on."
    )
    still_hidden: list[IdentityNote] = Field(
        default_factory=list, description="It tells more, or its author hides it from that scene on: it stays hidden."
    )
    refuted: list[RefutedDeath] = Field(default_factory=list, description="Deaths that are over from there on.")


def revealed_notes(unit: UnitOfWork, kept: Entity, gone: Entity, *, at: StoryPosition) -> RevealedNotes:
    """Return the hidden notes of an identity, as from the reveal on."""
    rules = KnowledgeRules(unit.knowledge_story(as_of=at))
    names = {entity.entity_id: entity.name for entity in base.known_entities(unit, None)} | {READER: READER}
    own_names = [name for name in kept.names() if name not in gone.names()]
    notes = RevealedNotes()
    for memory in rules.story.memories:
        if not tells_identity(memory.content, [own_names, gone.names()]):
            continue
        hidden_ids, is_limited = _hidden_from(rules, memory), rules.limits_knowers(memory)
        if not (hidden_ids or is_limited):
            continue
        stored_memory = unit.memories.find(memory.source_id)
        memory_id = memory.source_id if stored_memory is None else stored_memory.chunk.chunk_id
        untold = replace(memory, told_to_all_at=None)
        is_told = memory.told_to_all_at is not None and not memory.is_noted_since_told
        knowers = {knowing.character_id for knowing in rules.knowers(untold, rules.story.character_ids)}
        if is_limited and knowers != rules.story.character_ids:
            known_by = sorted(names.get(one, one) for one in knowers)
            listing = notes.shown if is_told else notes.still_hidden
            listing.append(IdentityNote(memory_id=memory_id, content=memory.content, known_by=known_by))
            if not is_told:
                continue
            hidden_ids = [one for one in hidden_ids if not rules.knows(one, memory).knows]
        for is_known, listing in ((True, notes.shown), (False, notes.still_hidden)):
            hidden_from = [
                names.get(one, one)
                for one in hidden_ids
                if rules.knows(one, memory).knows == is_known and not rules.knows(one, untold).knows
            ]
            if hidden_from:
                listing.append(IdentityNote(memory_id=memory_id, content=memory.content, hidden_from=hidden_from))
    ids = [kept.entity_id, gone.entity_id]
    for note in unit.memories.by_entities(ids, as_of=at, content_types=["note"], limit=MOST_NOTES):
        scene = replacing_scene(note.superseded_by)
        if scene is not None:
            place = str(StoryPosition(*scene))
            notes.refuted.append(RefutedDeath(memory_id=note.memory_id, content=note.content, scene=place))
    return notes


def _hidden_from(rules: KnowledgeRules, memory: KnowledgeMemory) -> list[str]:
    """Return the ids of those from whom an author or a note's own words hide it."""
    events = rules.story.events_by_memory.get(memory.source_id, ())
    hidden_ids = [event.character_id for event in events if event.by_author and event.kind != "knows"]
    if memory.position is None:
        hidden_ids += sorted(one for one in rules.story.character_ids if rules.words_keep_from(one, memory.content))
    return list(dict.fromkeys(hidden_ids))
