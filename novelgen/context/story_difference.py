"""Folding of statements before and within a stretch into its changes."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

from novelgen.memory.attributes import INVENTORY_ATTRIBUTE, is_death
from novelgen.memory.ledger import LedgerEntry, ThreadLedger
from novelgen.models import story_difference as differences
from novelgen.models.entity import Entity
from novelgen.models.folds import HOLDER_ATTRIBUTE, fold_state_changes
from novelgen.models.knowledge import ALL_LIVED, READER, KnowledgeEvent
from novelgen.models.memory import DISTILLED_TYPES, StoryMemoryChunk
from novelgen.models.pair_types import turned_pair_type
from novelgen.models.position import Place, Placed, StoryPosition, story_place
from novelgen.models.record import ThreadEnding
from novelgen.models.state import LOOP_WEIGHTS, PRESENCE_ATTRIBUTE, Relationship, RelationshipDimensions, StateChange
from novelgen.models.story_difference import StoryDifference

MAX_FACTS_OF_A_SCENE = 7


@dataclass(frozen=True)
class StoryStretch:
    """A stretch of a story: from entering one position until entering another, as stores hold it."""

    project_id: str
    language: Literal["en", "zh"]
    since: StoryPosition
    until: StoryPosition
    scenes: Sequence[differences.ToldScene] = ()
    memories: Sequence[StoryMemoryChunk] = ()
    replaced: Mapping[str, StoryMemoryChunk] = field(default_factory=dict)
    changes: Sequence[StateChange] = ()
    ledger: ThreadLedger | None = None
    said: Sequence[KnowledgeEvent] = ()
    told: Mapping[str, StoryMemoryChunk] = field(default_factory=dict)
    relationships_before: Sequence[Relationship] = ()
    relationships: Sequence[Relationship] = ()
    entities_before: Sequence[Entity] = ()
    entities: Sequence[Entity] = ()
    masks: Mapping[str, str] = field(default_factory=dict)
    seen_before: frozenset[str] = frozenset()
    seen: Sequence[str] = ()
    surely_seen: frozenset[str] = frozenset()
    """Of `seen`, those that no rule alone puts there."""

    def holds(self, thing: Placed) -> bool:
        """Tell whether something lies within the stretch."""
        place = (thing.chapter_index, thing.scene_index)
        return self.until.admits(*place) and not self.since.admits(*place)


def tell_difference(stretch: StoryStretch) -> StoryDifference:
    """Return the changes of a stretch of the story."""
    facts = _facts(stretch)
    counter: Counter[Place] = Counter()
    best = []
    for fact in facts:
        counter[story_place(fact)] += 1
        if counter[story_place(fact)] <= MAX_FACTS_OF_A_SCENE:
            best.append(fact)
    turns = list(_state_turns(stretch))
    deaths = [turn for turn in turns if (is_death(turn.attribute, turn.now) and not is_death(turn.attribute, turn.was))]
    hands = [turn for turn in turns if turn.attribute == HOLDER_ATTRIBUTE]
    places = [story_place(scene_telling) for scene_telling in stretch.scenes]
    names = {entity.entity_id: entity.name for entity in (*stretch.entities_before, *stretch.entities)}
    return StoryDifference(
        project_id=stretch.project_id,
        language=stretch.language,
        first=min(places, default=None),
        last=max(places, default=None),
        scenes=list(stretch.scenes),
        facts=best,
        facts_in_all=len(facts),
        states=[
            turn for turn in turns if turn not in deaths and turn not in hands and not _is_handover(turn, hands, names)
        ],
        handovers=[differences.Handover(item_id=turn.entity_id, was=turn.was, now=turn.now) for turn in hands],
        threads=_thread_turns(stretch),
        learnt=_learnings(stretch),
        relationships=list(_relationship_turns(stretch)),
        newcomers=_newcomers(stretch),
        identities=list(_identities(stretch, names)),
        deaths=deaths,
        # What was stored of a mask is told of who was behind it.
        names={**{mask: names[entity_id] for mask, entity_id in stretch.masks.items() if entity_id in names}, **names},
    )


# --- Facts ---


def _facts(stretch: StoryStretch) -> list[differences.NewFact]:
    """Facts that hold at the end, or a summary's sentences without records."""
    within = [memory for memory in stretch.memories if stretch.holds(memory) and memory.superseded_by is None]
    distilled = [memory for memory in within if memory.content_type in DISTILLED_TYPES]
    told_places = {story_place(memory) for memory in distilled}
    summed = [
        memory
        for memory in within
        if memory.content_type not in DISTILLED_TYPES and story_place(memory) not in told_places
    ]
    facts = [
        differences.NewFact(
            source_id=memory.memory_id,
            chapter_index=memory.chapter_index,
            scene_index=memory.scene_index,
            content=memory.content,
            short=memory.short or "",
            importance=memory.importance,
            verified=memory.verified,
            replaces=" / ".join(
                stretch.replaced[ended_id].content for ended_id in memory.superseded_ids if ended_id in stretch.replaced
            ),
        )
        for memory in (*distilled, *summed)
    ]
    return sorted(facts, key=lambda fact: (-fact.importance, not fact.verified))


# --- States ---


def _state_turns(stretch: StoryStretch) -> Iterator[differences.StateTurn]:
    by_entity: dict[str, list[StateChange]] = defaultdict(list)
    for change in stretch.changes:
        by_entity[change.entity_id].append(change)
    for entity_id, changes in by_entity.items():
        before, *_ = fold_state_changes(changes, stretch.since)
        after, *_ = fold_state_changes(changes, stretch.until)
        last = {change.attribute: change for change in changes if change.kind == "explicit" and stretch.holds(change)}
        for attribute in {**before, **after}:
            was, now = before.get(attribute), after.get(attribute)
            if attribute != PRESENCE_ATTRIBUTE and was != now and not _is_cut(attribute, was, now):
                verified = last[attribute].verified if attribute in last else True
                yield differences.StateTurn(
                    entity_id=entity_id, attribute=attribute, was=was, now=now, verified=verified
                )


def _is_cut(attribute: str, was: Any, now: Any) -> bool:
    """Return whether a knowledge list only lost entries, being cut to the newest."""
    is_list = isinstance(was, list) and (now is None or isinstance(now, list))
    return attribute == "knowledge" and is_list and all(item in was for item in now or ())


def _is_handover(turn: differences.StateTurn, hands: Sequence[differences.StateTurn], names: Mapping[str, str]) -> bool:
    """Return whether an inventory changed only by handovers."""
    if turn.attribute != INVENTORY_ATTRIBUTE:
        return False
    was, now = (item if isinstance(item, list) else [item] for item in (turn.was, turn.now))
    moved_ids = {statement for turn in hands for statement in (turn.entity_id, names.get(turn.entity_id))}
    differing = [item for item in (*was, *now) if item is not None and (item in was) != (item in now)]
    return all(isinstance(item, str) and item in moved_ids for item in differing)


# --- Threads ---

_TURNS: tuple[differences.ThreadTurnKind, ...] = (*get_args(ThreadEnding), "planted", "moved", "overdue")


def _thread_turns(stretch: StoryStretch) -> list[differences.ThreadTurn]:
    entries = stretch.ledger.entries if stretch.ledger is not None else []
    turns = [turn for entry in entries if (turn := _thread_turn(entry, stretch)) is not None]
    return sorted(turns, key=lambda turn: (_TURNS.index(turn.kind), -LOOP_WEIGHTS[turn.importance]))


def _thread_turn(entry: LedgerEntry, stretch: StoryStretch) -> differences.ThreadTurn | None:
    within = [move for move in entry.moves if stretch.holds(move)]
    kinds = [move.kind for move in within]
    kind: differences.ThreadTurnKind
    note = ""
    if within and entry.ending is not None and kinds[-1] in ("resolved", "abandoned"):
        kind, note = entry.ending, entry.resolution_summary or ""
    elif "planted" in kinds:
        kind = "planted"
    elif "advanced" in kinds:
        kind, note = "moved", next(move.note for move in reversed(within) if move.kind == "advanced")
    elif _became_overdue(entry, stretch):
        kind = "overdue"
    else:
        return None
    return differences.ThreadTurn(
        loop_id=entry.loop_id,
        kind=kind,
        description=entry.description,
        importance=entry.importance,
        note=note,
        age_scenes=entry.age_scenes,
    )


def _became_overdue(entry: LedgerEntry, stretch: StoryStretch) -> bool:
    """Tell whether a waiting thread was not overdue on entering the stretch, and is at its end."""
    if entry.stage != "overdue" or entry.window is None or entry.window.due_by is None:
        return False
    return StoryPosition(*entry.window.due_by) > stretch.since


# --- Knowledge ---


def _learnings(stretch: StoryStretch) -> list[differences.Learning]:
    """The learners of older or hidden facts, grouped by fact."""
    learnings_by_key: dict[tuple[str, ...], differences.Learning] = {}
    for event in stretch.said:
        memory = stretch.told.get(event.source_id)
        is_tale = event.source_id == ALL_LIVED and event.learned_from is not None
        if event.character_id == READER or (memory is None and not is_tale):
            continue
        is_own = memory is not None and story_place(memory) == story_place(event)
        if is_own and event.kind == "knows" and event.learned_from is None:
            # What a scene says of a memory of its own: that who was there knows it is no news.
            continue
        key = (event.source_id, event.kind, event.how, event.learned_from or "")
        learning = learnings_by_key.setdefault(
            key,
            differences.Learning(
                character_ids=[],
                source_id=event.source_id,
                content=memory.content if memory is not None else "",
                kind=event.kind,
                how=event.how,
                from_id=event.learned_from,
            ),
        )
        if event.character_id not in learning.character_ids:
            learning.character_ids.append(event.character_id)
    weights = {source_id: memory.importance for source_id, memory in stretch.told.items()}
    return sorted(learnings_by_key.values(), key=lambda learning: -weights.get(learning.source_id, 10))


# --- Relationships ---


def _relationship_turns(stretch: StoryStretch) -> Iterator[differences.RelationshipTurn]:
    before = {
        (relationship.character_a, relationship.character_b): relationship
        for relationship in stretch.relationships_before
    }
    for now in stretch.relationships:
        happened = [event for event in now.history if stretch.holds(event)]
        if not happened:
            continue
        was = before.get((now.character_a, now.character_b))
        turn = differences.RelationshipTurn(
            character_a=now.character_a,
            character_b=now.character_b,
            type_was=_type_read_alike(was, now) if was else "",
            type_now=now.relationship_type,
            type_reads_back=now.type_reads_back,
            status_was=was.status if was else "",
            status_now=now.status,
            feelings=list(_feelings(was, now)),
            events=[event.event for event in happened if event.event],
        )
        is_same = (turn.type_was, turn.status_was) == (turn.type_now, turn.status_now)
        if not is_same or turn.feelings or turn.events:
            yield turn


def _type_read_alike(was: Relationship, now: Relationship) -> str:
    """Return the earlier type, read as the later one."""
    if was.type_reads_back == now.type_reads_back:
        return was.relationship_type
    return str(turned_pair_type(was.relationship_type, type_reads_back=was.type_reads_back)["relationship_type"])


def _feelings(was: Relationship | None, now: Relationship) -> Iterator[differences.FeelingTurn]:
    sides: dict[differences.Side, str] = {"both": "dimensions", "a": "dimensions_a", "b": "dimensions_b"}
    for side, name in sides.items():
        before: RelationshipDimensions = getattr(was, name, {})
        after: RelationshipDimensions = getattr(now, name)
        for dimension, value in after.items():
            if before.get(dimension) != value:
                yield differences.FeelingTurn(side=side, dimension=dimension, was=before.get(dimension), now=value)


# --- Who and what ---


def _newcomers(stretch: StoryStretch) -> list[differences.Newcomer]:
    known_ids = {entity.entity_id for entity in stretch.entities_before}
    entities = {entity.entity_id: entity for entity in stretch.entities}
    on_stage = [key for key in dict.fromkeys(stretch.seen) if key in entities and key not in stretch.seen_before]
    shown_ids = [entity_id for entity_id in entities if entity_id not in known_ids]
    return [
        differences.Newcomer(
            entity_id=entity_id,
            entity_type=entities[entity_id].entity_type,
            was_known=entity_id in known_ids and entities[entity_id].first_chapter is not None,
            is_guessed=entity_id in known_ids and entity_id not in stretch.surely_seen,
        )
        for entity_id in dict.fromkeys((*on_stage, *shown_ids))
    ]


def _identities(stretch: StoryStretch, names: Mapping[str, str]) -> Iterator[differences.IdentityTurn]:
    for mask, entity_id in stretch.masks.items():
        if entity_id in names and mask in names:
            yield differences.IdentityTurn(entity_id=entity_id, was=names[mask], now=names[entity_id])
    before = {entity.entity_id: entity.name for entity in stretch.entities_before}
    for entity in stretch.entities:
        was, now = before.get(entity.entity_id, entity.name), entity.name
        # A longer or shorter form of the same name is no other.
        is_other = was.casefold() not in now.casefold() and now.casefold() not in was.casefold()
        if entity.entity_type == "character" and is_other:
            yield differences.IdentityTurn(
                entity_id=entity.entity_id, was="" if was == entity.entity_id else was, now=now
            )
