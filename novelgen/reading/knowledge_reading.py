"""Knowledge of a scene's memories: lists, answers and proof."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from math import log
from typing import Annotated

from pydantic import BaseModel, Field

from novelgen.language.language import StoryLanguage, significant_words
from novelgen.language.matching import QuoteFinder
from novelgen.memory.knowledge_rules import KnowledgeRules
from novelgen.memory.knowledge_story import KnowledgeMemory, KnowledgeStory
from novelgen.model_calls.answers import AtMost, ModelPart, Text, Texts, UnusableAnswerError, as_list
from novelgen.model_calls.prompt_data import NOTHING, as_data, listed, piped, place_mark, telling_names
from novelgen.models.context import ReportIssue
from novelgen.models.entity import Entity
from novelgen.models.record import RecordedLearning, SceneRecord
from novelgen.reading.known_story import Placer, means_everybody
from novelgen.reading.model_record import EVERYBODY, WHO, ModelLearning
from novelgen.reading.prompt_lists import PromptLists
from novelgen.reading.request import PromptMemory, SceneRequest, dropped

KNOWLEDGE_STAGE = "knowledge"
MAX_JUDGED = 40
MAX_JUDGED_KNOWERS = 60

UNPROVED_CERTAINTY = 0.5
"""How sure a learning is at most whose quote is not in the scene: models often copy a word of it wrongly."""

EVERYTHING = frozenset({"all", "*", "everything", "全部", "所有", "一切"})
"""In place of numbers: all that somebody has lived through."""

_NUMBER = re.compile(r"\W*([MN]\d{1,4})\b", re.IGNORECASE)
MAX_CAST_TOKENS = 1200
MAX_CONSIDERED = 400
"""Of so many earlier memories, those nearest to the text in words and people, it is asked who knows them."""

SURE = 0.8
"""From this certainty on somebody is listed as one who knows a memory; who may know it is left to the reader."""

_ON_STAGE: Mapping[StoryLanguage, str] = {"en": "on stage", "zh": "在场"}
_KNOWN_BY: Mapping[StoryLanguage, str] = {"en": "known by", "zh": "知情"}


class CastMember(BaseModel):
    """A person known by the end of the scene."""

    entity: Entity
    is_present: bool = Field(default=False, description="The record lists them as present.")


class SceneKnowledgeRequest(SceneRequest):
    """A scene with a record, and the knowledge on entering it."""

    language: StoryLanguage
    cast: list[CastMember] = Field(default_factory=list, description="Characters, the surest first.")
    memories: list[PromptMemory] = Field(default_factory=list)
    earlier: list[PromptMemory] = Field(default_factory=list, description="The likeliest to be learnt first.")


def scene_cast(text: str, entities: Iterable[Entity], record: SceneRecord) -> list[CastMember]:
    """Return the characters of a story in the order in which a scene may need them."""
    about = {entity_id for memory in record.memories for entity_id in memory.entities}
    present = set(record.characters_present)

    def need(entity: Entity) -> tuple[bool, bool, bool]:
        is_named = any(name in text for name in entity.names())
        return entity.entity_id not in present, entity.entity_id not in about, not is_named

    people = [entity for entity in entities if entity.entity_type == "character"]
    return [CastMember(entity=entity, is_present=entity.entity_id in present) for entity in sorted(people, key=need)]


def judged_memories(record: SceneRecord, cast: Iterable[CastMember]) -> list[PromptMemory]:
    """Return the memories of a record for judgement by a model."""
    people = {member.entity.entity_id for member in cast}
    return [
        PromptMemory(
            memory_id=memory.memory_id,
            says=memory.content,
            evidence=memory.evidence or "",
            entities=[entity_id for entity_id in memory.entities if entity_id in people],
        )
        for memory in record.memories
    ]


def earlier_memories(text: str, story: KnowledgeStory, cast: Sequence[CastMember]) -> list[PromptMemory]:
    """Return the memories before a scene in the order in which somebody may learn them in it.

    What its words and people speak of comes first, the more so where somebody on stage knows it and somebody else
    there does not. What everybody on stage surely knows is left out.
    """
    present = [member.entity.entity_id for member in cast if member.is_present]
    rules = KnowledgeRules(story)
    ranking: list[tuple[float, int, PromptMemory]] = []
    for nearness, number in _nearest(text, story):
        memory = story.memories[number]
        knowers = [
            knowing.character_id
            for knowing in rules.knowers(memory, (one.entity.entity_id for one in cast))
            if knowing.certainty >= SURE
        ]
        ignorant = set(present) - set(knowers)
        if present and not ignorant:
            continue
        score = nearness + (0.4 if len(ignorant) < len(present) else 0.0)
        place = memory.position
        earlier = PromptMemory(
            memory_id=memory.source_id,
            says=memory.content,
            chapter_index=place.chapter_index if place else None,
            scene_index=place.scene_index if place else None,
            known_by=knowers,
        )
        ranking.append((-score, -number, earlier))
    return [memory for _, _, memory in sorted(ranking, key=lambda one: one[:2])]


def _nearest(text: str, story: KnowledgeStory) -> list[tuple[float, int]]:
    """Rank memories by rare words and names shared with one paragraph."""
    paragraphs = [significant_words(splitline) for splitline in text.splitlines()]
    words = [significant_words(memory.content) for memory in story.memories]
    counts = Counter(word for other_word in words for word in other_word)
    people = Counter(entity_id for memory in story.memories for entity_id in memory.entities)
    named_ids = {
        person_id for person_id in people if any(name and name in text for name in story.names.get(person_id, ()))
    }

    def nearness(memory: KnowledgeMemory, own: frozenset[str]) -> float:
        rarity = {word: 1 / (1 + log(counts[word])) for word in own}
        whole = sum(rarity.values()) or 1.0
        shared = max((sum(rarity[word] for word in own & paragraph) for paragraph in paragraphs), default=0.0)
        # A main character is in every other memory and tells little; a thing or a walk-on tells much.
        nearness_score = sum(
            1 / (1 + log(people[entity_id])) for entity_id in memory.entities if entity_id in named_ids
        )
        return shared / whole + 0.6 * min(1.0, nearness_score)

    scored = [
        (nearness(memory, own), number) for number, (memory, own) in enumerate(zip(story.memories, words, strict=True))
    ]
    return sorted(scored, reverse=True)[:MAX_CONSIDERED]


def knowledge_lists(
    request: SceneKnowledgeRequest, memories: Sequence[PromptMemory], *, max_tokens: int
) -> PromptLists:
    """Write the lists of a prompt, in whole lines."""
    language = request.language

    def cast_line(member: CastMember) -> str:
        names = "; ".join(name[:60] for name in telling_names(member.entity, request.text))
        return piped(member.entity.entity_id, names, _ON_STAGE[language] if member.is_present else "")

    cast = listed(request.cast, cast_line, MAX_CAST_TOKENS)
    ids = {member.entity.entity_id for member in cast.items}

    def earlier_line(memory: PromptMemory, number: str = "M999") -> str:
        knowers = [entity_id for entity_id in memory.known_by if entity_id in ids]
        text = f"{_KNOWN_BY[language]}: {', '.join(knowers)}" if knowers else ""
        return piped(number, place_mark(memory.chapter_index, memory.scene_index), memory.says, text)

    line_list = listed(request.earlier, earlier_line, max_tokens)
    numbered_memories_by_id = {
        f"M{number}": memory
        for number, memory in enumerate(sorted(line_list.items, key=lambda memory: memory.order), start=1)
    }
    new = {f"N{number}": memory for number, memory in enumerate(memories, start=1)}
    lines = {
        "memories": [f"{number} | {as_data(memory.says)}" for number, memory in new.items()],
        "earlier": [as_data(earlier_line(memory, number)) for number, memory in numbered_memories_by_id.items()],
    }
    return PromptLists(
        texts={
            "cast": cast.text(language),
            **{name: "\n".join(line) or NOTHING[language] for name, line in lines.items()},
        },
        shown_ids=tuple(member.entity.entity_id for member in cast.items),
        memory_ids={number: memory.memory_id for number, memory in (new | numbered_memories_by_id).items()},
        left_out={"memories": line_list.left_out},
    )


class ModelKnowers(ModelPart):
    """Who knows one memory of the scene when it ends."""

    id: Text = Field(description="number of a memory of the scene: N1")
    known_by: Annotated[Texts, as_list, AtMost(MAX_JUDGED_KNOWERS)] = Field(
        default_factory=list,
        description=f"all who know it, on stage or not: {WHO}, or {EVERYBODY}: all who are on stage",
    )
    hidden_from: Annotated[Texts, as_list, AtMost(MAX_JUDGED_KNOWERS)] = Field(
        default_factory=list,
        description=f"who is there, or whom it concerns, and does not know it: {WHO}, or {EVERYBODY}",
    )


class ModelSceneKnowledge(ModelPart):
    """Who knows what when the scene ends."""

    memories: Annotated[list[ModelKnowers], AtMost(MAX_JUDGED)] = Field(
        description="one entry for each memory of the scene"
    )
    learned: Annotated[list[ModelLearning], AtMost(60)] = Field(
        default_factory=list, description="who learns what earlier memories say; empty where nobody does"
    )


class Knowers(BaseModel):
    """The knowers and likely non-knowers of a memory at its scene's end."""

    known_by: list[str] = Field(default_factory=list)
    hidden_from: list[str] = Field(default_factory=list)


class SceneKnowledge(BaseModel):
    """A model's knowledge statements in story ids.

    `issues` list dropped and unproven ones.
    """

    knowers: dict[str, Knowers] = Field(default_factory=dict, description="By memory_id.")
    learned: list[RecordedLearning] = Field(default_factory=list)
    issues: list[ReportIssue] = Field(default_factory=list)

    def plus(self, later: SceneKnowledge) -> SceneKnowledge:
        """Merge with a later part, whose statements win."""
        return SceneKnowledge(
            knowers=self.knowers | later.knowers,
            learned=[*self.learned, *later.learned],
            issues=[*self.issues, *later.issues],
        )


class LearningReader:
    """Reads learning statements for extraction and for the knowledge pass."""

    def __init__(self, placer: Placer, memory_ids: Mapping[str, str], *, text: str) -> None:
        self._placer = placer
        self._memory_ids = {number.casefold(): entity_id for number, entity_id in memory_ids.items()}
        self._finder = QuoteFinder(text)
        self.unproved: list[str] = []

    def read(self, said: Sequence[ModelLearning]) -> list[RecordedLearning]:
        """Return the learnings, one per learner, without unplaced ones."""
        learnings: list[RecordedLearning] = []
        for number, learning in enumerate(said):
            field = f"learned[{number}]"
            who = self._placer.people(learning.who, field=f"{field}.who")
            teller = self._placer.one(learning.from_whom, "character", field=f"{field}.from_whom")
            if any(map(means_everybody, learning.who)):
                who = [one for one in who if one != teller]
            is_everything = any(one.casefold() in EVERYTHING for one in learning.memories)
            memory_ids = [] if is_everything else self._memories(learning.memories, field=f"{field}.memories")
            if not who or not (memory_ids or (is_everything and teller)):
                continue
            is_proved = self._finder.find(learning.quote) is not None
            if not is_proved:
                self.unproved.append(learning.quote or ", ".join(learning.memories))
            learnings += [
                RecordedLearning(
                    character_id=character_id,
                    memory_ids=memory_ids,
                    kind=learning.kind,
                    how=learning.how,
                    from_id=teller if teller != character_id else None,
                    certainty=learning.certainty if is_proved else min(learning.certainty, UNPROVED_CERTAINTY),
                    evidence=learning.quote if is_proved else None,
                )
                for character_id in who
                if memory_ids or character_id != teller
            ]
        return learnings

    def memory_id(self, reference: str) -> str | None:
        """Return the id of a numbered memory, or None for an unknown number."""
        number = _NUMBER.match(reference)
        return self._memory_ids.get(number.group(1).casefold()) if number else None

    def _memories(self, statements: Iterable[str], *, field: str) -> list[str]:
        matches = []
        for text in statements:
            memory_id = self.memory_id(text)
            if memory_id is None:
                self._placer.unknown_in(field, text)
            else:
                matches.append(memory_id)
        return list(dict.fromkeys(matches))


class KnowledgeAnswerReader:
    """Reads one answer of the pass over scenes that have a record."""

    def __init__(
        self,
        placer: Placer,
        memory_ids: Mapping[str, str],
        *,
        asked: Mapping[str, Sequence[str]],
        present: Sequence[str],
        text: str,
    ) -> None:
        placer.present = tuple(present)
        self._placer = placer
        self._learning = LearningReader(placer, memory_ids, text=text)
        self._asked = asked
        self._present = present

    def read(self, answer: ModelSceneKnowledge) -> SceneKnowledge:
        """Turn an answer into storable knowledge."""
        knowers: dict[str, Knowers] = {}
        for number, model_knowers in enumerate(answer.memories):
            memory_id = self._learning.memory_id(model_knowers.id)
            if memory_id not in self._asked or memory_id is None:
                self._placer.unknown_in(f"memories[{number}].id", model_knowers.id)
            elif "known_by" in model_knowers.model_fields_set or model_knowers.hidden_from:
                knowers.setdefault(memory_id, self._knowers(model_knowers, memory_id, field=f"memories[{number}]"))
        learned_learnings = self._learning.read(answer.learned)
        if self._asked and not knowers:
            raise UnusableAnswerError("empty", "it does not say of any memory N1, N2 … who knows it")
        is_named = any(model_knowers.known_by or model_knowers.hidden_from for model_knowers in answer.memories)
        if (
            is_named
            and not learned_learnings
            and not any(other_knowers.known_by or other_knowers.hidden_from for other_knowers in knowers.values())
        ):
            raise UnusableAnswerError("ungrounded", "no id in it is one of the cast")
        unjudged = [text for text in self._asked if text not in knowers]
        unproved = self._learning.unproved
        issues = [
            *dropped(
                KNOWLEDGE_STAGE,
                "unresolved",
                "ids and numbers that no list holds were dropped",
                [*self._placer.unknown],
            ),
            *dropped(KNOWLEDGE_STAGE, "degraded", "what was learnt is less sure without its quote", unproved),
            *dropped(KNOWLEDGE_STAGE, "degraded", "memories of which the model does not say who knows them", unjudged),
        ]
        return SceneKnowledge(knowers=knowers, learned=learned_learnings, issues=issues)

    def _knowers(self, model_knowers: ModelKnowers, memory_id: str, *, field: str) -> Knowers:
        known_by = self._placer.people(model_knowers.known_by, field=f"{field}.known_by")
        hidden_from = self._placer.people(model_knowers.hidden_from, field=f"{field}.hidden_from")
        if any(map(means_everybody, model_knowers.hidden_from)):
            hidden_from = [character_id for character_id in hidden_from if character_id not in known_by]
        if not model_knowers.known_by and "known_by" in model_knowers.model_fields_set:
            # An empty list of a record leaves it to presence; that nobody knows it must be said of each.
            hidden_from = list(dict.fromkeys([*hidden_from, *self._present, *self._asked[memory_id]]))
        # Who is named in both was thought of in particular where it says that they do not know.
        known_by = [entity_id for entity_id in known_by if entity_id not in hidden_from]
        return Knowers(known_by=known_by, hidden_from=hidden_from)


def with_knowledge(record: SceneRecord, knowledge: SceneKnowledge, *, keep: bool) -> SceneRecord:
    """Return a record with the knowledge of a reading."""
    memories = [
        memory
        if memory.memory_id not in knowledge.knowers or (keep and (memory.known_by or memory.hidden_from))
        else memory.model_copy(update=knowledge.knowers[memory.memory_id].model_dump())
        for memory in record.memories
    ]
    before = record.learned if keep else []
    statements = {(learning.character_id, memory_id) for learning in before for memory_id in learning.memory_ids}
    learned_learnings = without_learnings(knowledge.learned, lambda who, memory_id: (who, memory_id) in statements)
    return record.model_copy(
        update={"memories": memories, "learned": [*before, *learned_learnings], "knowledge_read": True}
    )


def without_learnings(
    learnings: Iterable[RecordedLearning], is_known: Callable[[str, str], bool]
) -> list[RecordedLearning]:
    """Return learnings without known facts, keeping lies, doubts and whole tales."""
    kept_learnings = []
    for learning in learnings:
        new = [
            one for one in learning.memory_ids if learning.kind != "knows" or not is_known(learning.character_id, one)
        ]
        if new or not learning.memory_ids:
            kept_learnings.append(learning.model_copy(update={"memory_ids": new}))
    return kept_learnings


def with_reading_of(record: SceneRecord, reading: SceneRecord) -> SceneRecord:
    """Return a record with the knowledge of the scene's earlier reading."""
    if record.knowledge_read or not reading.knowledge_read:
        return record
    before = {(memory.memory_id, memory.content): memory for memory in reading.memories}
    memories = []
    for memory in record.memories:
        known_memory = before.get((memory.memory_id, memory.content))
        if known_memory is not None and not (memory.known_by or memory.hidden_from):
            fields = {"known_by": known_memory.known_by, "hidden_from": known_memory.hidden_from}
            memory = memory.model_copy(update=fields)
        memories.append(memory)
    learned_learnings = record.learned or reading.learned
    return record.model_copy(update={"memories": memories, "learned": learned_learnings, "knowledge_read": True})
