"""The tools that are offered, and what a model is told of when to use which."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from mcp.types import ToolAnnotations

from runtime.doors.mcp import correcting, reading, storing
from runtime.doors.mcp.answers import Answer


@dataclass(frozen=True, slots=True)
class ToolOffer:
    """A tool as it is offered."""

    body: Callable[..., Answer] | Callable[..., Awaitable[Answer]]
    title: str
    description: str
    hints: ToolAnnotations

    @property
    def is_read_only(self) -> bool:
        """Whether it changes nothing."""
        return bool(self.hints.read_only_hint)


READS = ToolAnnotations(read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False)
ADDS = ToolAnnotations(read_only_hint=False, destructive_hint=False, idempotent_hint=False, open_world_hint=False)
ADDS_ONCE = ToolAnnotations(read_only_hint=False, destructive_hint=False, idempotent_hint=True, open_world_hint=False)
REPLACES = ToolAnnotations(read_only_hint=False, destructive_hint=True, idempotent_hint=True, open_world_hint=False)
CHANGES = ToolAnnotations(read_only_hint=False, destructive_hint=True, idempotent_hint=False, open_world_hint=False)
ASKS_A_MODEL = ToolAnnotations(read_only_hint=False, destructive_hint=True, idempotent_hint=False, open_world_hint=True)

OFFERS: tuple[ToolOffer, ...] = (
    ToolOffer(
        reading.build_scene_context,
        "Context of the next scene",
        "Build what the next scene must not contradict and should pick up: how everybody stands, what they know, what"
        " was established, open threads. Call it once before you write or plan a scene, and write from what it says."
        " Give the plan as fully as you have it. Returns a block of text.",
        READS,
    ),
    ToolOffer(
        reading.check_draft,
        "Check a draft",
        "Check the draft of a scene against everything before it: the dead who act, things in wrong hands, what"
        " somebody cannot know, broken promises, wrong numbers and days, events that never were. Call it after you"
        " wrote a scene and before ingest_scene. Returns findings with quotes of both sides; nothing is stored.",
        READS,
    ),
    ToolOffer(
        reading.what_changed,
        "What changed",
        "Tell what the last stored scene changed, or all from one on: facts, states, who holds what, threads, who"
        " learnt what, newcomers, deaths. Call it when you come back to a story, before you plan on.",
        READS,
    ),
    ToolOffer(
        reading.search_story_memory,
        "Search the memory",
        "Search what the story has established, by meaning and by words: facts, events, promises, secrets. One question"
        " per call. Call it whenever you are about to state something of the past that you have not read. A memory with"
        " held_by is outdated.",
        READS,
    ),
    ToolOffer(
        reading.get_entity_state,
        "How somebody stands",
        "Look up where a character, place or thing is at a point of the story, what it holds, wants and suffers. For"
        " who somebody is, call get_entity_card.",
        READS,
    ),
    ToolOffer(
        reading.get_recent_timeline,
        "Around a chapter",
        "List how everybody and everything stood at the end of the chapters around one chapter, to see what changed"
        " lately. For one of them alone, call get_entity_state.",
        READS,
    ),
    ToolOffer(
        reading.list_entities,
        "Who and what there is",
        "List characters, places, things, factions and terms with ids and aliases. Call it to find an id, and before"
        " you invent a name.",
        READS,
    ),
    ToolOffer(
        reading.get_entity_card,
        "Card",
        "Tell who a character or what a place or thing is: role, description, traits, aliases, and how it stands.",
        READS,
    ),
    ToolOffer(
        reading.who_knows,
        "Who knows a fact",
        "Tell who knows one fact, since when and from whom, and who does not. Call it before somebody speaks of a"
        " secret; search_story_memory tells the memory_id.",
        READS,
    ),
    ToolOffer(
        reading.get_character_knowledge,
        "What a character knows",
        "List what a character knows, and what is true but unknown to them, the latest first. Call it before you let"
        " them speak, hint or act on something.",
        READS,
    ),
    ToolOffer(
        reading.list_threads,
        "Open threads",
        "List the questions, promises and threats that the story has opened and not ended, those first that press most."
        " Call it before you plan a scene.",
        READS,
    ),
    ToolOffer(
        reading.list_scenes,
        "Stored scenes",
        "List the last stored scenes with who was on stage and their summaries; tells which place comes next.",
        READS,
    ),
    ToolOffer(
        reading.read_scene,
        "Text of a scene",
        "Return the text of a stored scene word by word, such as the last one, to go on in its voice.",
        READS,
    ),
    ToolOffer(
        storing.add_note,
        "Add a note",
        "Store one fact that the author decided and no scene tells: a rule of the world, a plan, a secret. Not for what"
        " happens in a scene: ingest_scene takes that in. Search first whether it is known.",
        ADDS,
    ),
    ToolOffer(
        storing.ingest_scene,
        "Take a scene in",
        "Store a finished scene that the author has approved. The same text again changes nothing; another text at a"
        " place where a scene is stored takes its place, with all that came from it. Then call extract_scene.",
        REPLACES,
    ),
    ToolOffer(
        storing.extract_scene,
        "Read a scene out",
        "Let the memory's own language model read out what a stored scene establishes: facts with quotes, states,"
        " threads, who learnt what. Call it once after ingest_scene without a record; it can take a minute or two.",
        ASKS_A_MODEL,
    ),
    ToolOffer(
        storing.add_thread,
        "Plant a thread",
        "Record a question, promise or threat that the story has opened and must answer later. What extract_scene has"
        " found is recorded already: list_threads first.",
        ADDS,
    ),
    ToolOffer(
        storing.end_thread,
        "End a thread",
        "Record that a thread was answered or dropped in the last stored scene. What extract_scene has found is"
        " recorded already.",
        ADDS,
    ),
    ToolOffer(
        storing.waive_finding,
        "Mean it so",
        "Mark a finding of check_draft as meant by the author, who must have said so; it stays silent while the words"
        " and the evidence stand.",
        ADDS_ONCE,
    ),
    ToolOffer(
        correcting.correct_memory,
        "Correct a memory",
        "Edit, pin, ban or delete one memory that the author says is wrong, weighty or useless; no ingest takes that"
        " back. Not for what a new scene changes: that supersedes the old by itself.",
        REPLACES,
    ),
    ToolOffer(
        correcting.correct_entity,
        "Correct a card",
        "Correct name, role or description on a card, or add an alias. Not for what a scene changes.",
        REPLACES,
    ),
    ToolOffer(
        correcting.merge_entities,
        "Make two one",
        "Make two entries of the same character, place or thing one. Call it when the author says that they are one;"
        " undo_change takes it back.",
        CHANGES,
    ),
    ToolOffer(
        correcting.undo_change, "Undo", "Take a change back, whatever it was, unless something changed since.", CHANGES
    ),
    ToolOffer(
        correcting.character_remember,
        "Let a character remember",
        "Games: keep an event in one character's own memory. Not for scenes of a book.",
        ADDS,
    ),
    ToolOffer(
        correcting.character_recall,
        "What a character recalls",
        "Games: what comes back to a character at a remark. What is not in it, the character does not know.",
        READS,
    ),
)
