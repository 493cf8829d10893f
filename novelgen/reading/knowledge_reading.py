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
from novelgen.memory.story import KnowledgeMemory, KnowledgeStory
from novelgen.model_calls.answers import AtMost, ModelPart, Text, Texts, UnusableAnswerError
from novelgen.model_calls.prompt_data import NOTHING, as_data, listed, piped, place_mark, telling_names
from novelgen.models.context import ReportIssue
from novelgen.models.entity import Entity
from novelgen.models.record import RecordedLearning, SceneRecord
from novelgen.reading.known_story import Placer, means_everybody
from novelgen.reading.model_record import ModelLearning
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
    about = {each for memory in record.memories for each in memory.entities}
    present = set(record.characters_present)

    def need(entity: Entity) -> tuple[bool, bool, bool]:
        is_named = any(name in text for name in entity.names())
        return entity.entity_id not in present, entity.entity_id not in about, not is_named

    people = [each for each in entities if each.entity_type == "character"]
    return [CastMember(entity=each, is_present=each.entity_id in present) for each in sorted(people, key=need)]


def judged_memories(record: SceneRecord, cast: Iterable[CastMember]) -> list[PromptMemory]:
    """Return the memories of a record for judgement by a model."""
    people = {each.entity.entity_id for each in cast}
    return [
        PromptMemory(
            memory_id=memory.memory_id,
            says=memory.content,
            evidence=memory.evidence or "",
            entities=[each for each in memory.entities if each in people],
        )
        for memory in record.memories
    ]


def earlier_memories(text: str, story: KnowledgeStory, cast: Sequence[CastMember]) -> list[PromptMemory]:
    """Return the memories before a scene in the order in which somebody may learn them in it.

    What its words and people speak of comes first, the more so where somebody on stage knows it and somebody else
    there does not. What everybody on stage surely knows is left out.
    """
    present = [each.entity.entity_id for each in cast if each.is_present]
    rules = KnowledgeRules(story)
    ranked: list[tuple[float, int, PromptMemory]] = []
    for nearness, number in _nearest(text, story):
        memory = story.memories[number]
        knowers = [
            each.character_id
            for each in rules.knowers(memory, (one.entity.entity_id for one in cast))
            if each.certainty >= SURE
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
        ranked.append((-score, -number, earlier))
    return [each for _, _, each in sorted(ranked, key=lambda one: one[:2])]


def _nearest(text: str, story: KnowledgeStory) -> list[tuple[float, int]]:
    """Rank memories by rare words and names shared with one paragraph."""
    paragraphs = [significant_words(each) for each in text.splitlines()]
    words = [significant_words(memory.content) for memory in story.memories]
    counts = Counter(word for each in words for word in each)
    people = Counter(each for memory in story.memories for each in memory.entities)
    named = {each for each in people if any(name and name in text for name in story.names.get(each, ()))}

    def nearness(memory: KnowledgeMemory, own: frozenset[str]) -> float:
        rarity = {word: 1 / (1 + log(counts[word])) for word in own}
        whole = sum(rarity.values()) or 1.0
        shared = max((sum(rarity[word] for word in own & each) for each in paragraphs), default=0.0)
        # A main character is in every other memory and tells little; a thing or a walk-on tells much.
        touched = sum(1 / (1 + log(people[each])) for each in memory.entities if each in named)
        return shared / whole + 0.6 * min(1.0, touched)

    scored = [
        (nearness(memory, own), number) for number, (memory, own) in enumerate(zip(story.memories, words, strict=True))
    ]
    return sorted(scored, reverse=True)[:MAX_CONSIDERED]


def knowledge_lists(request: SceneKnowledgeRequest, asked: Sequence[PromptMemory], *, max_tokens: int) -> PromptLists:
    """Write the lists of a prompt, in whole lines."""
    language = request.language

    def cast_line(member: CastMember) -> str:
        names = "; ".join(name[:60] for name in telling_names(member.entity, request.text))
        return piped(member.entity.entity_id, names, _ON_STAGE[language] if member.is_present else "")

    cast = listed(request.cast, cast_line, MAX_CAST_TOKENS)
    ids = {each.entity.entity_id for each in cast.items}

    def earlier_line(memory: PromptMemory, number: str = "M999") -> str:
        knowers = [each for each in memory.known_by if each in ids]
        told = f"{_KNOWN_BY[language]}: {', '.join(knowers)}" if knowers else ""
        return piped(number, place_mark(memory.chapter_index, memory.scene_index), memory.says, told)

    kept = listed(request.earlier, earlier_line, max_tokens)
    numbered = {
        f"M{number}": each for number, each in enumerate(sorted(kept.items, key=lambda each: each.order), start=1)
    }
    new = {f"N{number}": each for number, each in enumerate(asked, start=1)}
    lines = {
        "memories": [f"{number} | {as_data(each.says)}" for number, each in new.items()],
        "earlier": [as_data(earlier_line(each, number)) for number, each in numbered.items()],
    }
    return PromptLists(
        texts={
            "cast": cast.text(language),
            **{name: "\n".join(each) or NOTHING[language] for name, each in lines.items()},
        },
        shown_ids=tuple(each.entity.entity_id for each in cast.items),
        memory_ids={number: each.memory_id for number, each in (new | numbered).items()},
        left_out={"memories": kept.left_out},
    )


class ModelKnowers(ModelPart):
    """Who knows one memory of the scene when it ends."""

    id: Text = Field(description="number of a memory of the scene: N1")
    known_by: Annotated[Texts, AtMost(MAX_JUDGED_KNOWERS)] = Field(
        default_factory=list, description="ids of everybody who knows it, on stage or not"
    )
    hidden_from: Annotated[Texts, AtMost(MAX_JUDGED_KNOWERS)] = Field(
        default_factory=list, description="ids of who is there, or whom it concerns, and does not know it"
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
        self._memory_ids = {number.casefold(): each for number, each in memory_ids.items()}
        self._finder = QuoteFinder(text)
        self.unproved: list[str] = []

    def read(self, said: Sequence[ModelLearning]) -> list[RecordedLearning]:
        """Return the learnings, one per learner, without unplaced ones."""
        found: list[RecordedLearning] = []
        for number, each in enumerate(said):
            field = f"learned[{number}]"
            who = self._placer.people(each.who, field=f"{field}.who")
            teller = self._placer.one(each.from_whom, "character", field=f"{field}.from_whom")
            if any(map(means_everybody, each.who)):
                who = [one for one in who if one != teller]
            is_everything = any(one.casefold() in EVERYTHING for one in each.memories)
            memory_ids = [] if is_everything else self._memories(each.memories, field=f"{field}.memories")
            if not who or not (memory_ids or (is_everything and teller)):
                continue
            is_proved = self._finder.find(each.quote) is not None
            if not is_proved:
                self.unproved.append(each.quote or ", ".join(each.memories))
            found += [
                RecordedLearning(
                    character_id=character_id,
                    memory_ids=memory_ids,
                    kind=each.kind,
                    how=each.how,
                    from_id=teller if teller != character_id else None,
                    certainty=each.certainty if is_proved else min(each.certainty, UNPROVED_CERTAINTY),
                    evidence=each.quote if is_proved else None,
                )
                for character_id in who
                if memory_ids or character_id != teller
            ]
        return found

    def memory_id(self, said: str) -> str | None:
        """Return the id of a numbered memory, or None for an unknown number."""
        number = _NUMBER.match(said)
        return self._memory_ids.get(number.group(1).casefold()) if number else None

    def _memories(self, said: Iterable[str], *, field: str) -> list[str]:
        found = []
        for each in said:
            memory_id = self.memory_id(each)
            if memory_id is None:
                self._placer.unknown_in(field, each)
            else:
                found.append(memory_id)
        return list(dict.fromkeys(found))


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
        for number, each in enumerate(answer.memories):
            memory_id = self._learning.memory_id(each.id)
            if memory_id not in self._asked or memory_id is None:
                self._placer.unknown_in(f"memories[{number}].id", each.id)
            elif "known_by" in each.model_fields_set or each.hidden_from:
                knowers.setdefault(memory_id, self._knowers(each, memory_id, field=f"memories[{number}]"))
        learned = self._learning.read(answer.learned)
        if self._asked and not knowers:
            raise UnusableAnswerError("empty", "it does not say of any memory N1, N2 … who knows it")
        named = any(each.known_by or each.hidden_from for each in answer.memories)
        if named and not learned and not any(each.known_by or each.hidden_from for each in knowers.values()):
            raise UnusableAnswerError("ungrounded", "no id in it is one of the cast")
        unjudged = [each for each in self._asked if each not in knowers]
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
        return SceneKnowledge(knowers=knowers, learned=learned, issues=issues)

    def _knowers(self, said: ModelKnowers, memory_id: str, *, field: str) -> Knowers:
        known_by = self._placer.all(said.known_by, "character", field=f"{field}.known_by")
        hidden_from = self._placer.all(said.hidden_from, "character", field=f"{field}.hidden_from")
        if not said.known_by and "known_by" in said.model_fields_set:
            # An empty list of a record leaves it to presence; that nobody knows it must be said of each.
            hidden_from = list(dict.fromkeys([*hidden_from, *self._present, *self._asked[memory_id]]))
        # Who is named in both was thought of in particular where it says that they do not know.
        known_by = [each for each in known_by if each not in hidden_from]
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
    said = {(each.character_id, memory_id) for each in before for memory_id in each.memory_ids}
    learned = without_learnings(knowledge.learned, lambda who, memory_id: (who, memory_id) in said)
    return record.model_copy(update={"memories": memories, "learned": [*before, *learned], "knowledge_read": True})


def without_learnings(
    learned: Iterable[RecordedLearning], is_known: Callable[[str, str], bool]
) -> list[RecordedLearning]:
    """Return learnings without known facts, keeping lies, doubts and whole tales."""
    kept = []
    for each in learned:
        new = [one for one in each.memory_ids if each.kind != "knows" or not is_known(each.character_id, one)]
        if new or not each.memory_ids:
            kept.append(each.model_copy(update={"memory_ids": new}))
    return kept


def with_reading_of(record: SceneRecord, read: SceneRecord) -> SceneRecord:
    """Return a record with the knowledge of the scene's earlier reading."""
    if record.knowledge_read or not read.knowledge_read:
        return record
    before = {(each.memory_id, each.content): each for each in read.memories}
    memories = []
    for memory in record.memories:
        known = before.get((memory.memory_id, memory.content))
        if known is not None and not (memory.known_by or memory.hidden_from):
            told = {"known_by": known.known_by, "hidden_from": known.hidden_from}
            memory = memory.model_copy(update=told)
        memories.append(memory)
    learned = record.learned or read.learned
    return record.model_copy(update={"memories": memories, "learned": learned, "knowledge_read": True})
