"""What the pass over who knows what shows of a scene: its cast, its memories, and earlier ones that may be learnt."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import log
from typing import TypeVar

from pydantic import BaseModel, Field

from novelgen.language.language import StoryLanguage, estimate_tokens, significant_words
from novelgen.memory.knowledge_rules import KnowledgeRules
from novelgen.memory.story import KnowledgeMemory, KnowledgeStory
from novelgen.model_calls.prompt_data import NOTHING, as_data, telling_names
from novelgen.models.entity import Entity
from novelgen.models.position import ChapterIndex, SceneIndex
from novelgen.models.record import SceneRecord

MAX_CAST_TOKENS = 1200
MAX_CONSIDERED = 400
"""Of so many earlier memories, those nearest to the text in words and people, it is asked who knows them."""

SURE = 0.8
"""From this certainty on somebody is listed as one who knows a memory; who may know it is left to the reader."""

_ON_STAGE: Mapping[StoryLanguage, str] = {"en": "on stage", "zh": "在场"}
_KNOWN_BY: Mapping[StoryLanguage, str] = {"en": "known by", "zh": "知情"}


Item = TypeVar("Item")


class CastMember(BaseModel):
    """Somebody whom the story knows by the end of the scene."""

    entity: Entity
    is_present: bool = Field(default=False, description="The record lists them as present.")


class JudgedMemory(BaseModel):
    """A memory of the scene; `evidence` is what of its text proves it, if that is known."""

    memory_id: str
    says: str
    evidence: str = ""
    about: list[str] = Field(default_factory=list, description="Ids of the characters that it is about.")


class EarlierMemory(BaseModel):
    """A memory of an earlier scene, and who knows it on entering this one."""

    memory_id: str
    says: str
    chapter_index: int | None = None
    scene_index: int | None = None
    known_by: list[str] = Field(default_factory=list)


class SceneKnowledgeRequest(BaseModel):
    """A scene that has a record, and what was known to whom on entering it; nothing of later scenes is in it."""

    project_id: str = Field(min_length=1)
    chapter_index: ChapterIndex
    scene_index: SceneIndex
    text: str
    language: StoryLanguage
    cast: list[CastMember] = Field(default_factory=list, description="Characters, the surest first.")
    memories: list[JudgedMemory] = Field(default_factory=list)
    earlier: list[EarlierMemory] = Field(default_factory=list, description="The likeliest to be learnt first.")
    stand_ins: dict[str, str] = Field(
        default_factory=dict, description="Entities that became part of others, and of whom."
    )


def scene_cast(text: str, entities: Iterable[Entity], record: SceneRecord) -> list[CastMember]:
    """Return the characters of a story in the order in which a scene may need them."""
    about = {each for memory in record.memories for each in memory.entities}
    present = set(record.characters_present)

    def need(entity: Entity) -> tuple[bool, bool, bool]:
        is_named = any(name in text for name in entity.names())
        return entity.entity_id not in present, entity.entity_id not in about, not is_named

    people = [each for each in entities if each.entity_type == "character"]
    return [CastMember(entity=each, is_present=each.entity_id in present) for each in sorted(people, key=need)]


def judged_memories(record: SceneRecord, cast: Iterable[CastMember]) -> list[JudgedMemory]:
    """Return the memories of a record, of which a model is to say who knows them."""
    people = {each.entity.entity_id for each in cast}
    return [
        JudgedMemory(
            memory_id=memory.memory_id,
            says=memory.content,
            evidence=memory.evidence or "",
            about=[each for each in memory.entities if each in people],
        )
        for memory in record.memories
    ]


def earlier_memories(text: str, story: KnowledgeStory, cast: Sequence[CastMember]) -> list[EarlierMemory]:
    """Return the memories before a scene in the order in which somebody may learn them in it.

    What its words and people speak of comes first, the more so where somebody on stage knows it and somebody else
    there does not. What everybody on stage surely knows is left out.
    """
    present = [each.entity.entity_id for each in cast if each.is_present]
    rules = KnowledgeRules(story)
    ranked: list[tuple[float, int, EarlierMemory]] = []
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
        earlier = EarlierMemory(
            memory_id=memory.source_id,
            says=memory.content,
            chapter_index=place.chapter_index if place else None,
            scene_index=place.scene_index if place else None,
            known_by=knowers,
        )
        ranked.append((-score, -number, earlier))
    return [each for _, _, each in sorted(ranked, key=lambda one: one[:2])]


def _nearest(text: str, story: KnowledgeStory) -> list[tuple[float, int]]:
    """Rank memories by the rare words that one paragraph shares with them, and by who of them is named."""
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


@dataclass(frozen=True, slots=True)
class KnowledgeLists:
    """The lists of one prompt as texts, and what an answer to it may refer to.

    `memory_ids` gives the ids of the memories that stand as N1 or M1 in it; `left_out` counts earlier ones without
    room.
    """

    texts: Mapping[str, str]
    shown: tuple[Entity, ...]
    memory_ids: Mapping[str, str]
    left_out: int


def knowledge_lists(
    request: SceneKnowledgeRequest, asked: Sequence[JudgedMemory], *, max_tokens: int
) -> KnowledgeLists:
    """Write the lists of a prompt, in whole lines."""
    language = request.language
    shown, cast_lines = _fitting([(each, _cast_line(each, request)) for each in request.cast], MAX_CAST_TOKENS)
    ids = {each.entity.entity_id for each in shown}
    new = {f"N{number}": each for number, each in enumerate(asked, start=1)}
    kept, _ = _fitting([(each, _earlier_line("M999", each, ids, language)) for each in request.earlier], max_tokens)
    earlier = {f"M{number}": each for number, each in enumerate(sorted(kept, key=_place_of), start=1)}
    lines = {
        "cast": cast_lines,
        "memories": [f"{number} | {as_data(each.says)}" for number, each in new.items()],
        "earlier": [_earlier_line(number, each, ids, language) for number, each in earlier.items()],
    }
    memory_ids = {number: each.memory_id for number, each in new.items()}
    memory_ids |= {number: each.memory_id for number, each in earlier.items()}
    return KnowledgeLists(
        texts={name: "\n".join(each) or NOTHING[language] for name, each in lines.items()},
        shown=tuple(each.entity for each in shown),
        memory_ids=memory_ids,
        left_out=len(request.earlier) - len(kept),
    )


def _fitting(lines: Iterable[tuple[Item, str]], max_tokens: int) -> tuple[list[Item], list[str]]:
    """Take the first whole lines that fit; one that is too long makes room for the next."""
    taken: list[Item] = []
    texts: list[str] = []
    spent = 0
    for item, line in lines:
        cost = estimate_tokens(line) + 1
        if spent + cost <= max_tokens:
            spent += cost
            taken.append(item)
            texts.append(line)
    return taken, texts


def _cast_line(member: CastMember, request: SceneKnowledgeRequest) -> str:
    entity = member.entity
    names = "; ".join(name[:60] for name in telling_names(entity, request.text))
    parts = [entity.entity_id, names, _ON_STAGE[request.language] if member.is_present else ""]
    return as_data(" | ".join(part for part in parts if part))


def _earlier_line(number: str, memory: EarlierMemory, ids: Iterable[str], language: StoryLanguage) -> str:
    place = "" if memory.chapter_index is None else f"{memory.chapter_index}:{memory.scene_index}"
    knowers = [each for each in memory.known_by if each in ids]
    told = f"{_KNOWN_BY[language]}: {', '.join(knowers)}" if knowers else ""
    return as_data(" | ".join(part for part in (number, place, memory.says, told) if part))


def _place_of(memory: EarlierMemory) -> tuple[int, int, str]:
    return memory.chapter_index or 0, memory.scene_index or 0, memory.memory_id
