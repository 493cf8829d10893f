"""From a model's answer about one window to a record in the story's own ids, with its evidence located."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from itertools import count
from typing import Any

from novelgen.language.extractive import short_form
from novelgen.language.language import word_list
from novelgen.language.matching import QuoteFinder
from novelgen.language.normalise import scrub_text
from novelgen.memory.attributes import MEMBERS_ATTRIBUTE, attribute_named, slot_of
from novelgen.model_calls.prompt_data import as_data
from novelgen.models import record as records
from novelgen.models.base import with_texts
from novelgen.models.context import IssueKind, ReportIssue
from novelgen.models.memory import EVENT_TYPES, OTHER_EVENT
from novelgen.reading import model_record
from novelgen.reading.change_reading import RelationshipReader, StateReader
from novelgen.reading.knowledge_reading import LearningReader
from novelgen.reading.known_story import (
    Placer,
    References,
    SceneSoFar,
    looks_like_an_id,
    means_everybody,
    meant_thread,
    names_an_id,
)
from novelgen.reading.prompt_lists import PromptLists
from novelgen.reading.request import NewName, ProposedEntity, SameEntities, ScenePart, UnplacedItem, dropped
from novelgen.reading.scene_touch import name_evidence

STAGE = "extract"
TEMPORARY_LOOP_PREFIX = "new-loop-"
_MEMORY_NUMBER = re.compile(r"\b(M\d{1,4})\b", re.IGNORECASE)
_ATTRIBUTE = re.compile(r"[^\W\d][\w-]{0,39}")


@dataclass(frozen=True, slots=True)
class WindowAnswer:
    """A model's answer on a part of a scene, with its prompt's lists."""

    said: model_record.ModelSceneRecord
    lists: PromptLists
    shortage: str | None
    proposed: Mapping[str, ProposedEntity]


@dataclass(frozen=True, slots=True)
class WindowReading:
    """The result of one part: record, entities and dropped items."""

    record: records.SceneRecord
    proposed: list[ProposedEntity]
    issues: list[ReportIssue]
    unplaced: tuple[UnplacedItem, ...] = ()
    """What the answer says and the record does not hold, with the reason."""
    new_names: tuple[NewName, ...] = ()
    same_entities: tuple[SameEntities, ...] = ()


def interpreted(part: ScenePart, so_far: SceneSoFar, answer: WindowAnswer) -> WindowReading:
    """Turn an answer into established facts, against the known story.

    Between question and answer other scenes may have been stored: whom the model calls new may be known
    meanwhile, and then is that one.
    """
    stand_ins = dict(so_far.request.stand_ins)
    if answer.proposed:
        # Those that had temporary ids when the prompt showed them.
        by_name = References(so_far.entities, shown_ids=(), present_ids=so_far.present_ids)
        now = {
            text: by_name.entity_id(one.name, entity_types=[one.entity_type]) for text, one in answer.proposed.items()
        }
        stand_ins |= {temporary_id: entity_id for temporary_id, entity_id in now.items() if entity_id is not None}
    references = References(
        so_far.entities,
        shown_ids=[shown_id for shown_id in answer.lists.shown_ids if shown_id not in answer.proposed],
        present_ids=so_far.present_ids,
        stand_ins=stand_ins,
    )
    reading = AnswerReader(references, so_far, part, answer.lists).read(answer.said)
    if answer.shortage is None:
        return reading
    issue = ReportIssue(stage=STAGE, kind="over_limit", message=answer.shortage)
    return replace(reading, issues=[issue, *reading.issues])


class AnswerReader:
    """Reads one answer.

    Ids and names that nobody bears are dropped and reported; what is proposed as new gets a temporary id.
    """

    def __init__(self, references: References, so_far: SceneSoFar, part: ScenePart, lists: PromptLists) -> None:
        self._so_far = so_far
        self._request = so_far.request
        self._text = part.text
        self._placer = Placer(references)
        self._here, self._before = QuoteFinder(part.text), QuoteFinder(part.context)
        self._listed = QuoteFinder("\n".join(lists.texts.values()))
        self._memory_ids = {number.casefold(): entity_id for number, entity_id in lists.memory_ids.items()}
        self._new_ids: dict[str, str] = {}
        """The memories of the answer by their numbers: n1, n2."""
        self._told_before: list[str] = []
        self._issues: list[ReportIssue] = []

    def read(self, answer: model_record.ModelSceneRecord) -> WindowReading:
        """Turn an answer into a record."""
        in_names = self._placer.references.in_names
        answer = with_texts(
            answer, lambda field, statement: in_names(statement) if field in _RUNNING_TEXT else statement
        )
        first_number = len(self._so_far.proposed) + 1
        proposals = self._placer.references.propose(
            answer.new_entities, text=self._text, first_number=first_number, used_ids=_used_ids(answer)
        )
        references = self._placer.references.with_proposals(proposals)
        self._placer = Placer(references, members=self._members(answer, references))
        proposed = proposals.entities
        self._report("unresolved", "new names of which the scene holds nothing", proposals.refused)
        self._report("unresolved", "new names that several known entities bear", proposals.shared)
        self._report("degraded", "new names that the scene holds only in part were kept", proposals.garbled)
        new_names = [*proposals.names, *self._known_names(answer.known_names)]
        same_entities = self._same_entities(answer.same_entities)
        present = self._placer.people(answer.characters_present, field="characters_present")
        self._placer.present = tuple(present)
        memories = self._memories(answer, present)
        record = records.SceneRecord(
            chapter_index=self._request.chapter_index,
            scene_index=self._request.scene_index,
            title=answer.title,
            pov_character_id=self._placer.one(answer.pov, "character", field="pov"),
            location_id=self._location(answer.location),
            story_time=answer.story_time or None,
            is_flashback=answer.is_flashback,
            characters_present=present,
            summary=answer.summary,
            key_events=answer.key_events,
            emotional_beats=answer.emotional_beats,
            state_changes=self._states(answer),
            relationship_changes=self._relationships(answer.relationship_changes),
            open_loops_created=self._loops_created(answer),
            learned=self._learnings(answer),
            **memories,
            **self._loops_moved(answer),
        )
        self._report("unresolved", "ids and names that nobody bears were dropped", [*self._placer.unknown])
        self._report("degraded", "facts of what was read with the part before were dropped", self._told_before)
        if self._placer.refused:
            message = f"what else could not be placed: {', '.join(self._placer.refused)}"
            self._issues.append(ReportIssue(stage=STAGE, kind="degraded", message=message))
        for name in proposals.refused:
            self._placer.refuse("new_entities", name, "the scene holds nothing of it; quote what gives it")
        for name in proposals.shared:
            self._placer.refuse("new_entities", name, "several known entities bear it; same_as or generic")
        return WindowReading(
            record,
            proposed,
            self._issues,
            tuple(self._placer.unplaced),
            new_names=tuple(new_names),
            same_entities=tuple(same_entities),
        )

    def _members(self, answer: model_record.ModelSceneRecord, references: References) -> dict[str, list[str]]:
        """The members of each group, in the story and this answer."""
        fields = {
            entity_id: list(state.get(MEMBERS_ATTRIBUTE) or ()) for entity_id, state in self._so_far.states.items()
        }
        for change in answer.state_changes:
            group = references.entity_id(change.entity, entity_types=["faction"])
            if group is not None and attribute_named(change.attribute) == MEMBERS_ATTRIBUTE and change.op != "remove":
                value = change.value if isinstance(change.value, list) else [change.value or ""]
                fields[group] = [*fields.get(group, []), *value]
        results = {
            group: [references.entity_id(item, entity_types=["character"]) for item in each_said]
            for group, each_said in fields.items()
        }
        return {group: [other_id for other_id in ids if other_id is not None] for group, ids in results.items()}

    def _location(self, statement: str) -> str | None:
        """The scene's known place.

        Vehicles and unknown places are none.
        """
        if not statement:
            return None
        place_id = self._placer.meant(statement, ["location"])
        is_an_id = place_id is None and names_an_id(statement)
        if is_an_id and self._placer.meant(statement, ["item"]) is None:
            self._placer.unknown_in("location", statement, ["location"])
        return place_id

    def _known_names(self, model_known_names: Sequence[model_record.ModelKnownName]) -> list[NewName]:
        new_names = []
        references = self._placer.references
        for number, model_known_name in enumerate(model_known_names):
            field = f"known_names[{number}]"
            entity_id = self._placer.one(model_known_name.entity, field=f"{field}.entity")
            if (
                entity_id is None
                or not model_known_name.name
                or references.bearers(model_known_name.name) == [entity_id]
            ):
                continue
            evidence = name_evidence(model_known_name.name, self._text, quote=model_known_name.quote)
            bearers = ", ".join(references.bearers(model_known_name.name))
            if looks_like_an_id(model_known_name.name) or evidence in ("none", "garbled"):
                self._placer.refuse(
                    f"{field}.name", model_known_name.name, "the scene does not give it; quote what does"
                )
            elif bearers and bearers == (former := self._placer.meant(model_known_name.former)):
                new_names.append(
                    NewName(
                        entity_id=entity_id, name=model_known_name.name, quote=model_known_name.quote, former_id=former
                    )
                )
            elif bearers:
                why = f"{bearers} bears it; same_entities if they are one"
                self._placer.refuse(f"{field}.name", model_known_name.name, why)
            else:
                new_names.append(NewName(entity_id=entity_id, name=model_known_name.name, quote=model_known_name.quote))
        return new_names

    def _same_entities(self, same_entity_answers: Sequence[model_record.ModelSameEntities]) -> list[SameEntities]:
        identities = []
        for number, model_same_entities in enumerate(same_entity_answers):
            field = f"same_entities[{number}]"
            first = self._placer.one(model_same_entities.a, field=f"{field}.a")
            second = self._placer.one(model_same_entities.b, field=f"{field}.b")
            if first is None or second is None or first == second:
                continue
            if all(words.find(model_same_entities.quote) is None for words in (self._here, self._before, self._listed)):
                self._placer.refuse(
                    f"{field}.quote", model_same_entities.quote, "no words of the scene or of the lists"
                )
                continue
            identities.append(
                SameEntities(
                    entity_id=first, other_id=second, how=model_same_entities.how, quote=model_same_entities.quote
                )
            )
        return identities

    def _states(self, answer: model_record.ModelSceneRecord) -> list[records.RecordedStateChange]:
        earlier = [
            change.attribute for change in answer.state_changes if answer.is_flashback or change.when == "before"
        ]
        self._report("degraded", "states of an earlier time do not hold now and were left out", earlier)
        if answer.is_flashback:
            return []
        reader = StateReader(self._placer, self._so_far.states, text=self._text)
        return reader.read(
            [
                (number, change)
                for number, change in enumerate(answer.state_changes)
                if self._is_of_this_window(change.evidence)
            ]
        )

    def _relationships(
        self, changes: Sequence[model_record.ModelRelationshipChange]
    ) -> list[records.RecordedRelationshipChange]:
        cut_texts: list[str] = []
        reader = RelationshipReader(
            self._placer,
            so_far=self._so_far.relationships,
            on_entering=self._request.relationships,
            report_cut=cut_texts.append,
        )
        recorded = reader.read(changes)
        self._report("over_limit", "changes of a relationship were cut to a scene's bounds", cut_texts)
        return recorded

    def _loops_created(self, answer: model_record.ModelSceneRecord) -> list[records.RecordedLoop]:
        numbers = count(self._so_far.loops_created + 1)
        return [
            records.RecordedLoop(
                id=f"{TEMPORARY_LOOP_PREFIX}{number}",
                category=loop.category,
                description=loop.description,
                importance=loop.importance,
                pay_off=loop.pay_off,
                **self._related(loop.entities, field=f"open_loops_created[{index}].entities"),
            )
            for index, loop in enumerate(answer.open_loops_created)
            if loop.description
            for number in [next(numbers)]
        ]

    def _related(self, statements: Sequence[str], *, field: str) -> dict[str, list[str]]:
        ids = self._placer.all(statements, field=field)
        types = {other_id: self._placer.type_of(other_id) for other_id in ids}
        return {
            "related_characters": [other_id for other_id in ids if types[other_id] in ("character", "faction")],
            "related_locations": [other_id for other_id in ids if types[other_id] == "location"],
            "related_items": [other_id for other_id in ids if types[other_id] in ("item", "term")],
        }

    def _loops_moved(self, answer: model_record.ModelSceneRecord) -> dict[str, Any]:
        threads = self._so_far.open_loops
        moves = [(meant_thread(move.id, threads), move) for move in answer.open_loops_moved]
        for number, (loop_id, move) in enumerate(moves):
            if loop_id is None:
                self._placer.unknown_in(f"open_loops_moved[{number}].id", move.id)
        return {
            "open_loops_advanced": [
                records.RecordedLoopAdvance(
                    id=loop_id,
                    note=move.note,
                    pays_part=move.outcome == "part",
                    description=move.description,
                    pay_off=move.pay_off,
                )
                for loop_id, move in moves
                if loop_id is not None and move.outcome in model_record.UNENDED
            ],
            "open_loops_resolved": [
                records.RecordedLoopResolution(
                    id=loop_id, resolution_summary=move.note, abandoned=move.outcome == "abandoned"
                )
                for loop_id, move in moves
                if loop_id is not None and move.outcome not in model_record.UNENDED
            ],
        }

    def _is_of_this_window(self, quote: str) -> bool:
        """Return whether evidence lies in this window, not only in its context."""
        is_told_before = self._before.find(quote) is not None and self._here.find(quote) is None
        if is_told_before:
            self._told_before.append(quote)
        return not is_told_before

    def _learnings(self, answer: model_record.ModelSceneRecord) -> list[records.RecordedLearning]:
        reader = LearningReader(self._placer, {**self._memory_ids, **self._new_ids}, text=self._text)
        learned_learnings = reader.read(
            [learning for learning in answer.learned if self._is_of_this_window(learning.quote)]
        )
        self._report("degraded", "what was learnt is less sure without its quote", reader.unproved)
        return learned_learnings

    def _memories(self, answer: model_record.ModelSceneRecord, present: Sequence[str]) -> dict[str, Any]:
        new: list[records.RecordedMemory] = []
        repeated: list[records.RecordedRepetition] = []
        for number, memory in enumerate(answer.memories):
            field = f"memories[{number}]"
            if not self._is_of_this_window(memory.evidence):
                continue
            if known_ids := self._known_memories(memory.repeats, field=f"{field}.repeats"):
                repeated += [
                    records.RecordedRepetition(memory_id=one, evidence=memory.evidence or None) for one in known_ids
                ]
                self._new_ids[f"n{number + 1}"] = known_ids[0]
            elif memory.content:
                new.append(self._memory(memory, present, field=field))
                self._new_ids[f"n{number + 1}"] = new[-1].memory_id
        return {"memories": new, "memories_repeated": repeated}

    def _known_memories(self, statement: str, *, field: str) -> list[str]:
        """The memory ids of numbers.

        Unknown numbers are reported.
        """
        matches = []
        for number in _MEMORY_NUMBER.findall(statement):
            known_name = self._memory_ids.get(number.casefold())
            if known_name is None:
                self._placer.unknown_in(field, number)
            else:
                matches.append(known_name)
        return list(dict.fromkeys(matches))

    def _known_memory(self, statement: str, *, field: str) -> str | None:
        return next(iter(self._known_memories(statement, field=field)), None)

    def _memory(
        self, memory: model_record.ModelMemory, present: Sequence[str], *, field: str
    ) -> records.RecordedMemory:
        event_type = memory.event_type.strip().casefold()
        if event_type not in EVENT_TYPES:
            self._report("degraded", f"unknown event types became {OTHER_EVENT!r}", [memory.event_type])
            event_type = OTHER_EVENT
        entities = self._placer.all(memory.entities, field=f"{field}.entities")
        told_by = (self._request.project_id, hash_of_text(scrub_text(self._request.text)), memory.content)
        digest = sha256("\x1f".join(told_by).encode()).hexdigest()
        memory_id = f"x-{digest[:16]}"
        ended_ids = self._known_memories(memory.supersedes, field=f"{field}.supersedes")
        # Whom neither story nor scene knows was made up: no quote can prove what is said of them alone.
        is_of_nobody = bool(memory.entities) and not entities
        return records.RecordedMemory(
            memory_id=memory_id,
            event_type=event_type,
            content=memory.content,
            short=self._short(memory),
            importance=memory.importance,
            entities=entities,
            tags=memory.tags,
            slot_type=self._slot(memory.slot, field=f"{field}.slot"),
            supersedes=next(iter(ended_ids), None),
            also_supersedes=ended_ids[1:],
            contradicts=self._known_memory(memory.contradicts, field=f"{field}.contradicts"),
            evidence=None if is_of_nobody else memory.evidence or None,
            **self._knowers(memory, present, entities, field=field),
        )

    def _knowers(
        self, memory: model_record.ModelMemory, present: Sequence[str], entities: Sequence[str], *, field: str
    ) -> dict[str, Any]:
        """The stated knowers and non-knowers, merged with the participants."""
        absent = self._placer.people(memory.known_by, field=f"{field}.known_by")
        hidden_from = self._placer.people(memory.hidden_from, field=f"{field}.hidden_from")
        if any(map(means_everybody, memory.hidden_from)):
            hidden_from = [text for text in hidden_from if text not in absent]
        had_part = [entity_id for entity_id in entities if entity_id in present]
        known_by = dict.fromkeys([*had_part, *absent] if absent else [])
        return {
            "known_by": [entity_id for entity_id in known_by if entity_id not in hidden_from],
            "hidden_from": hidden_from,
        }

    def _short(self, memory: model_record.ModelMemory) -> str:
        """The model's short form where it fits, else a whole sentence of the content, else none."""
        for candidate in (memory.short, memory.content):
            if 0 < len(candidate) <= records.SHORT_FORM_LIMIT:
                return candidate
        mentions = self._placer.references.names.find_mentions(memory.content)
        return short_form(memory.content, mentions, limit_characters=records.SHORT_FORM_LIMIT) or ""

    def _slot(self, statement: str, *, field: str) -> str | None:
        entity, _, attribute_said = statement.rpartition(".")
        entity_id = self._placer.one(entity, field=field)
        attribute = "_".join(attribute_said.casefold().split())
        if entity_id is None:
            return None
        if not _ATTRIBUTE.fullmatch(attribute):
            self._placer.refuse(field, statement, "not written id.attribute")
            return None
        return slot_of(entity_id, attribute)

    def _report(self, kind: IssueKind, message: str, names: Sequence[str]) -> None:
        self._issues += dropped(STAGE, kind, message, names)


_RUNNING_TEXT = frozenset(word_list("answer_reading_running_text"))
"""Fields that are read as prose: an id in them says nothing to whoever writes the next scene."""


def _used_ids(answer: model_record.ModelSceneRecord) -> set[str]:
    """Ids in an answer, wherever it may name an entity."""
    used_ids = {
        answer.pov,
        *answer.characters_present,
        *(model_known_name.entity for model_known_name in answer.known_names),
    }
    for change in answer.state_changes:
        used_ids |= {change.entity, *change.entities}
    for move in answer.relationship_changes:
        used_ids |= {move.character_a, move.character_b}
    for pair in answer.same_entities:
        used_ids |= {pair.a, pair.b}
    for learning in answer.learned:
        used_ids |= {*learning.who, learning.from_whom}
    return used_ids.union(*(memory.entities for memory in answer.memories))


def hash_of_text(text: str) -> str:
    """Return the SHA-256 of a text, which tells it from all others."""
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


MAX_ITEMS = 20
MAX_ITEM_CHARACTERS = 120

_KEPT_WITHOUT = ("memories", "open_loops_created", "learned")
"""Lists whose items are stored all the same, with one entity or slot fewer: no reason to ask again.

So little is lost of who learnt what: the pass over who knows what reads the scene again.
"""

_NEVER_CORRECTED = frozenset({"summary", "key_events", "emotional_beats", "memories", "open_loops_created", "learned"})
_PLACE = re.compile(r"(\w+)(?:\[(\d+)\])?")


def is_worth_asking(unplaced: Sequence[UnplacedItem]) -> bool:
    """Tell whether a fact would be lost: a state, a relationship, a thread's move, somebody on stage, the place."""
    return any(not item.field.startswith(_KEPT_WITHOUT) for item in unplaced)


def items_text(unplaced: Sequence[UnplacedItem]) -> str:
    """List unplaced items with their places and reasons."""
    return "\n".join(
        f"- {item.field}: {as_data(item.text)[:MAX_ITEM_CHARACTERS]} ({as_data(item.reason)})"
        for item in unplaced[:MAX_ITEMS]
    )


def with_corrections(
    answer: model_record.ModelSceneRecord, correction: model_record.ModelSceneRecord, unplaced: Sequence[UnplacedItem]
) -> model_record.ModelSceneRecord:
    """Return an answer merged with the model's corrections.

    Only what could not be placed is touched, whatever else the correction says. Items are added and not put in
    the place of others: a new name may be all that the first ones lacked.
    """
    asked_ids = {match.group(1) for item in unplaced if (match := _PLACE.match(item.field))}
    changes: dict[str, Any] = {}
    for name in model_record.ModelSceneRecord.model_fields:
        before, now = getattr(answer, name), getattr(correction, name)
        if name in _NEVER_CORRECTED or not now:
            continue
        if isinstance(before, list):
            if name in asked_ids or name == "new_entities":
                changes[name] = [*before, *(item for item in now if item not in before)]
        elif name in asked_ids:
            changes[name] = now
    corrected = {memory.content: memory for memory in correction.memories}
    if "memories" in asked_ids:
        changes["memories"] = [corrected.get(memory.content, memory) for memory in answer.memories]
    return answer.model_copy(update=changes)


def without_replaced(
    merged_record: model_record.ModelSceneRecord,
    answer: model_record.ModelSceneRecord,
    still_unplaced: Sequence[UnplacedItem],
) -> model_record.ModelSceneRecord:
    """Return an answer without those first items that still cannot be placed where the correction put others."""
    removed_numbers_by_list: dict[str, set[int]] = {}
    for item in still_unplaced:
        match = _PLACE.match(item.field)
        if match and match.group(2) is not None and match.group(1) not in _NEVER_CORRECTED:
            removed_numbers_by_list.setdefault(match.group(1), set()).add(int(match.group(2)))
    changes = {}
    for name, numbers in removed_numbers_by_list.items():
        first, now = getattr(answer, name), getattr(merged_record, name)
        if len(now) > len(first):
            changes[name] = [item for number, item in enumerate(now) if number >= len(first) or number not in numbers]
    return merged_record.model_copy(update=changes)
