"""Chapter review: the model's lists and its corrections of a chapter."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Annotated

from pydantic import BaseModel, BeforeValidator, Field

from novelgen.language.language import StoryLanguage, estimate_tokens, significant_words
from novelgen.language.matching import QuoteFinder
from novelgen.model_calls.answers import AtMost, ModelPart, Text, Texts, within
from novelgen.model_calls.prompt_data import NOTHING, Item, as_data, listed, telling_names
from novelgen.models.context import ReportIssue
from novelgen.models.entity import Entity
from novelgen.models.position import Place, story_place
from novelgen.models.record import RecordedLoopResolution
from novelgen.models.state import LOOP_WEIGHTS, OpenLoop
from novelgen.reading.known_story import References, meant_thread
from novelgen.reading.model_record import (
    HIGHEST_IMPORTANCE,
    LOWEST_IMPORTANCE,
    THREAD,
    UNENDED,
    WHO,
    LoopOutcomeWord,
    ModelSameEntities,
)
from novelgen.reading.prompt_lists import PROMPT_LIST_TOKENS
from novelgen.reading.request import NewName, PromptMemory, SameEntities
from novelgen.reading.scene_touch import name_evidence

CHAPTER_STAGE = "reconcile"
MAX_IDENTITIES = 16
LEAST_DRIFT = 2
MAX_NEW_TOKENS = 2500
MAX_KNOWN_TOKENS = 6000
MAX_THREAD_TOKENS = 2500
MAX_EVENT_TOKENS = 3000
MAX_MEMORY_TOKENS = 4000
"""These bounds hold for lists of PROMPT_LIST_TOKENS or more; for shorter ones every list has its share."""

MAX_QUOTE_CHARACTERS = 120
MAX_DESCRIPTION_CHARACTERS = 120
MAX_NAMES_SHOWN = 8


class ChapterScene(BaseModel):
    """A scene of the chapter, its text included, in which quotes are looked for."""

    chapter_index: int
    scene_index: int
    text: str
    summary: list[str] = Field(default_factory=list)


class ChapterEntity(BaseModel):
    """A known entity at the chapter's end, with its description."""

    entity: Entity
    description: str = ""
    is_new: bool = Field(default=False, description="The chapter brought it.")
    seen: list[tuple[int, int]] = Field(default_factory=list, description="Scenes that name it, in story order.")
    first_quote: str = Field(default="", description="The sentence that names it first.")


class ChapterRequest(BaseModel):
    """A chapter of which every scene was read."""

    chapter_index: int
    language: StoryLanguage
    scenes: list[ChapterScene] = Field(min_length=1)
    entities: list[ChapterEntity] = Field(default_factory=list)
    threads: list[OpenLoop] = Field(default_factory=list, description="Those that wait at its end.")
    memories: list[PromptMemory] = Field(default_factory=list)


class ChapterReading(BaseModel):
    """A model's corrections of a chapter, in story ids with scenes.

    `issues` say what was dropped.
    """

    names: list[tuple[Place, NewName]] = Field(default_factory=list, description="With the scenes that give them.")
    identities: list[tuple[Place, SameEntities]] = Field(
        default_factory=list, description="With the scenes that show them."
    )
    wrong_names: list[tuple[str, list[str]]] = Field(
        default_factory=list, description="Entities with names of theirs that belong to another one."
    )
    endings: list[tuple[Place, RecordedLoopResolution]] = Field(
        default_factory=list, description="Threads that ended, with the scenes in which they did."
    )
    joined: dict[str, str] = Field(default_factory=dict, description="Thread to an older one that says the same.")
    joined_memories: dict[str, str] = Field(
        default_factory=dict, description="memory_id to that of the one that tells the same and stays."
    )
    importances: dict[str, int] = Field(default_factory=dict, description="memory_id to its new importance.")
    issues: list[ReportIssue] = Field(default_factory=list)


_Scene = Annotated[Text, BeforeValidator(lambda value: str(value) if isinstance(value, int) else value)]
_SCENE_FIELD = "the scene that proves it, as the list writes it: 3:2"


class ModelChapterIdentity(ModelSameEntities):
    """Two ids of the lists that are one."""

    scene: _Scene = Field(default="", description=_SCENE_FIELD)
    quote: Text = Field(default="", description="words copied from a quote of the lists, or number of a memory: M4")


class ModelChapterName(ModelPart):
    """A name that belongs to an id of the lists and is missing there."""

    entity: Text = Field(description=WHO)
    name: Text
    scene: _Scene = Field(default="", description=_SCENE_FIELD)
    quote: Text = Field(default="", description="as above")


class ModelNotSame(ModelPart):
    """Names in the line of an id that belong to another one."""

    id: Text = Field(description=WHO)
    names: Texts = Field(default_factory=list, description="those of the other one, as the line has them")
    scene: _Scene = Field(default="", description=_SCENE_FIELD)
    quote: Text = Field(default="", description="as above")


class ModelEndedThread(ModelPart):
    """An open thread that is over by the end of the chapter."""

    id: Text = Field(description=THREAD)
    outcome: LoopOutcomeWord = Field(default="resolved", description="resolved, or abandoned when it is moot")
    scene: _Scene = Field(default="", description="the scene in which it ended: 3:2")
    note: Text = Field(default="", description="how it ended, in one sentence")
    quote: Text = Field(default="", description="as above")


class ModelJoinedThread(ModelPart):
    """An open thread that says the same as an older one."""

    id: Text = Field(description=THREAD)
    same_as: Text = Field(description="the older one, alike")


class ModelJoinedMemory(ModelPart):
    """A memory that tells the same as another one, or that a later one shows to be wrong or over."""

    id: Text = Field(description="number of the memory that goes: M4")
    same_as: Text = Field(description="number of the one that stays")


class ModelImportance(ModelPart):
    """The importance that a memory should have beside the others."""

    id: Text = Field(description="number of the memory: M4")
    importance: Annotated[int, within(LOWEST_IMPORTANCE, HIGHEST_IMPORTANCE)]


class ModelChapter(ModelPart):
    """What has to be put right at the end of a chapter; empty lists where nothing has."""

    same_entities: Annotated[list[ModelChapterIdentity], AtMost(MAX_IDENTITIES)]
    known_names: Annotated[list[ModelChapterName], AtMost(MAX_IDENTITIES)] = Field(default_factory=list)
    not_same: Annotated[list[ModelNotSame], AtMost(MAX_IDENTITIES)] = Field(default_factory=list)
    threads_ended: Annotated[list[ModelEndedThread], AtMost(40)]
    threads_joined: Annotated[list[ModelJoinedThread], AtMost(20)] = Field(default_factory=list)
    memories_joined: Annotated[list[ModelJoinedMemory], AtMost(20)] = Field(default_factory=list)
    importance: Annotated[list[ModelImportance], AtMost(80)] = Field(default_factory=list)


class ChapterLists:
    """The lists of a chapter's prompt, each line whole or left out, and the numbers of its memories."""

    def __init__(self, request: ChapterRequest, *, list_tokens: int = PROMPT_LIST_TOKENS) -> None:
        self._request = request
        self._share = min(1.0, list_tokens / PROMPT_LIST_TOKENS)
        self.issues: list[ReportIssue] = []
        self.memories = self._chosen_memories()
        new = [entity for entity in request.entities if entity.is_new]
        threads = sorted(
            request.threads, key=lambda thread: (-LOOP_WEIGHTS[thread.importance], -(thread.last_chapter_index or 0))
        )
        memory_lines = [
            f"{number} | {memory.chapter_index}:{memory.scene_index} | {memory.importance} | {as_data(memory.says)}"
            for number, memory in self.memories.items()
        ]
        self.texts = {
            "new_entities": self._list_text("new entities", new, _entity_line, MAX_NEW_TOKENS),
            "known_entities": self._list_text(
                "known entities", self._nearest_known(new), _entity_line, MAX_KNOWN_TOKENS
            ),
            "threads": self._list_text("threads", threads, _thread_line, MAX_THREAD_TOKENS),
            "scenes": self._list_text("scenes", request.scenes, _scene_line, MAX_EVENT_TOKENS),
            "memories": "\n".join(memory_lines) or NOTHING[request.language],
        }

    def _chosen_memories(self) -> dict[str, PromptMemory]:
        """Number the memories in story order, the weightiest if too many."""
        kept_ids: set[str] = set()
        used_tokens = 0
        for other_memory in sorted(self._request.memories, key=lambda memory: -memory.importance):
            used_tokens += estimate_tokens(other_memory.says) + 8
            if used_tokens > self._share * MAX_MEMORY_TOKENS:
                self._report_cut("memories", len(kept_ids), len(self._request.memories))
                break
            kept_ids.add(other_memory.memory_id)
        memories = [memory for memory in self._request.memories if memory.memory_id in kept_ids]
        return {f"M{number}": memory for number, memory in enumerate(memories, start=1)}

    def _nearest_known(self, new: Sequence[ChapterEntity]) -> list[ChapterEntity]:
        """Order entities by shared type and words, then by last sighting."""
        words = {(entity.entity.entity_type, word) for entity in new for word in _words_of(entity)}
        known_entities = [entity for entity in self._request.entities if not entity.is_new]

        def nearness(entity: ChapterEntity) -> tuple[int, int, int]:
            shared = sum((entity.entity.entity_type, word) in words for word in _words_of(entity))
            chapter, scene = entity.seen[-1] if entity.seen else (-1, -1)
            return -shared, -chapter, -scene

        return sorted(known_entities, key=nearness)

    def _list_text(self, name: str, items: Sequence[Item], line_of: Callable[[Item], str], max_tokens: int) -> str:
        line_list = listed(items, line_of, self._share * max_tokens, stops_at_first=True)
        if line_list.left_out:
            self._report_cut(name, len(line_list.items), len(items))
        return line_list.text(self._request.language)

    def _report_cut(self, name: str, kept_count: int, whole: int) -> None:
        message = (
            f"{kept_count} of {whole} {name} had room in the prompt at the end of chapter {self._request.chapter_index}"
        )
        self.issues.append(ReportIssue(stage=CHAPTER_STAGE, kind="over_limit", message=message))


def _words_of(listed_entity: ChapterEntity) -> frozenset[str]:
    return significant_words(f"{' '.join(listed_entity.entity.names())} {listed_entity.description}")


def _entity_line(listed_entity: ChapterEntity) -> str:
    entity = listed_entity.entity
    places = [f"{chapter}:{scene}" for chapter, scene in listed_entity.seen]
    seen_names = places if len(places) <= 4 else [places[0], "...", *places[-3:]]
    quote = as_data(listed_entity.first_quote)[:MAX_QUOTE_CHARACTERS]
    parts = [
        as_data(entity.entity_id),
        entity.entity_type,
        "; ".join(as_data(name)[:60] for name in telling_names(entity, limit=MAX_NAMES_SHOWN)),
        as_data(listed_entity.description)[:MAX_DESCRIPTION_CHARACTERS],
        ", ".join(seen_names),
        f"“{quote}”" if quote else "",
    ]
    return " | ".join(parts)


def _scene_line(scene: ChapterScene) -> str:
    return f"{scene.chapter_index}:{scene.scene_index} | {' '.join(scene.summary)}"


def _thread_line(thread: OpenLoop) -> str:
    origin = f"{thread.chapter_index}:{thread.scene_index}"
    last_place = f"{thread.last_chapter_index}:{thread.last_scene_index}"
    since = origin if origin == last_place else f"{origin}, moved {last_place}"
    return f"{thread.loop_id} | {thread.importance} | {since} | {as_data(thread.description)}"


_PLACE = re.compile(r"(\d+)\s*[:：.]\s*(\d+)")
_MEMORY_NUMBER = re.compile(r"\W*[Mm](\d+)\W*")


class ChapterAnswerReader:
    """Reads one answer, dropping and reporting unlisted or unproven items."""

    def __init__(self, request: ChapterRequest, lists: ChapterLists) -> None:
        self._request = request
        self._lists = lists
        entities = [entity.entity for entity in request.entities]
        self._references = References(entities, shown_ids=[entity.entity_id for entity in entities])
        self._finders = {story_place(scene): QuoteFinder(scene.text) for scene in request.scenes}
        self._first_quotes = [
            (entity.seen[0], QuoteFinder(entity.first_quote))
            for entity in request.entities
            if entity.seen and entity.first_quote
        ]
        self._threads = {thread.loop_id: thread for thread in request.threads}
        self._issues: list[ReportIssue] = []

    def read(self, answer: ModelChapter) -> ChapterReading:
        """Turn an answer into storable corrections."""
        joined_ids = self._join_threads(answer.threads_joined)
        return ChapterReading(
            names=self._names(answer.known_names),
            identities=self._identities(answer.same_entities),
            wrong_names=self._wrong_names(answer.not_same),
            endings=[pair for pair in self._endings(answer.threads_ended) if pair[1].id not in joined_ids],
            joined=joined_ids,
            joined_memories=self._joined_memories(answer.memories_joined),
            importances=self._importances(answer.importance),
            issues=[*self._lists.issues, *self._issues],
        )

    def _identities(self, model_chapter_identities: Sequence[ModelChapterIdentity]) -> list[tuple[Place, SameEntities]]:
        matches = []
        for model_chapter_identity in model_chapter_identities:
            one, other = (
                self._references.entity_id(model_chapter_identity.a),
                self._references.entity_id(model_chapter_identity.b),
            )
            if one is None or other is None or one == other:
                self._drop(
                    "entities said to be one that no list holds",
                    f"{model_chapter_identity.a} {model_chapter_identity.b}",
                )
                continue
            place = self._proven_place(model_chapter_identity.quote, model_chapter_identity.scene)
            if place is None:
                self._drop("entities said to be one without a quote that proves it", f"{one} {other}")
                continue
            matches.append(
                (
                    place,
                    SameEntities(
                        entity_id=one,
                        other_id=other,
                        how=model_chapter_identity.how,
                        quote=model_chapter_identity.quote,
                    ),
                )
            )
        return matches

    def _names(self, model_chapter_names: Sequence[ModelChapterName]) -> list[tuple[Place, NewName]]:
        matches = []
        for model_chapter_name in model_chapter_names:
            entity_id = self._references.entity_id(model_chapter_name.entity)
            if entity_id is None or not model_chapter_name.name:
                self._drop(
                    "names of entities that no list holds", f"{model_chapter_name.entity} {model_chapter_name.name}"
                )
                continue
            if self._references.bearers(model_chapter_name.name) == [entity_id]:
                continue
            place = self._place_of_name(model_chapter_name)
            if place is None:
                self._drop("names that no scene of the chapter gives", f"{entity_id} {model_chapter_name.name}")
                continue
            matches.append(
                (place, NewName(entity_id=entity_id, name=model_chapter_name.name, quote=model_chapter_name.quote))
            )
        return matches

    def _wrong_names(self, model_not_sames: Sequence[ModelNotSame]) -> list[tuple[str, list[str]]]:
        matches: list[tuple[str, list[str]]] = []
        for model_not_same in model_not_sames:
            entity_id = self._references.entity_id(model_not_same.id)
            names = [name for name in model_not_same.names if entity_id in self._references.bearers(name)]
            if entity_id is None or not names:
                self._drop(
                    "names to be taken from an id that has none of them", f"{model_not_same.id} {model_not_same.names}"
                )
            elif self._proven_place(model_not_same.quote, model_not_same.scene) is None:
                self._drop("names to be taken from an id without a quote that proves it", f"{entity_id} {names}")
            else:
                matches.append((entity_id, names))
        return matches

    def _place_of_name(self, model_chapter_name: ModelChapterName) -> Place | None:
        texts = {story_place(scene): scene.text for scene in self._request.scenes}
        stated = self._stated_place(model_chapter_name.scene)
        for place in dict.fromkeys([*([stated] if stated else []), *texts]):
            if name_evidence(model_chapter_name.name, texts[place]) in ("verbatim", "parts"):
                return place
        return self._proven_place(model_chapter_name.quote, model_chapter_name.scene)

    def _endings(self, model_ended_threads: Sequence[ModelEndedThread]) -> list[tuple[Place, RecordedLoopResolution]]:
        endings_by_thread: dict[str, tuple[Place, RecordedLoopResolution]] = {}
        for model_ended_thread in model_ended_threads:
            loop_id = meant_thread(model_ended_thread.id, self._request.threads)
            place = self._proven_place(model_ended_thread.quote, model_ended_thread.scene) or self._stated_place(
                model_ended_thread.scene
            )
            if loop_id is None or place is None:
                self._drop("ends of threads that do not wait, or without a scene of the chapter", model_ended_thread.id)
                continue
            if model_ended_thread.outcome in UNENDED:
                continue
            thread = self._threads[loop_id]
            moved_place = (thread.last_chapter_index or 0, thread.last_scene_index or 0)
            # What moved later than the model says was not over yet: it is over with that move.
            ending = RecordedLoopResolution(
                id=loop_id,
                resolution_summary=model_ended_thread.note,
                abandoned=model_ended_thread.outcome == "abandoned",
            )
            endings_by_thread.setdefault(loop_id, (max(place, moved_place), ending))
        return list(endings_by_thread.values())

    def _join_threads(self, model_joined_threads: Sequence[ModelJoinedThread]) -> dict[str, str]:
        matches: dict[str, str] = {}
        for model_joined_thread in model_joined_threads:
            one, other = (
                meant_thread(thread, self._request.threads)
                for thread in (model_joined_thread.id, model_joined_thread.same_as)
            )
            if one is None or other is None or one == other:
                self._drop(
                    "threads to join that do not both wait", f"{model_joined_thread.id} {model_joined_thread.same_as}"
                )
                continue
            older, later = sorted((one, other), key=self._planting_of)
            while older in matches:
                older = matches[older]
            if older != later:
                matches.setdefault(later, older)
        return matches

    def _planting_of(self, loop_id: str) -> tuple[int, int, int, str]:
        thread = self._threads[loop_id]
        return thread.chapter_index or 0, thread.scene_index or 0, len(loop_id), loop_id

    def _joined_memories(self, model_joined_memories: Sequence[ModelJoinedMemory]) -> dict[str, str]:
        matches: dict[str, str] = {}
        for model_joined_memory in model_joined_memories:
            memory, stays = self._memory(model_joined_memory.id), self._memory(model_joined_memory.same_as)
            if memory is None or stays is None or memory is stays:
                self._drop(
                    "memories to join that were not both listed",
                    f"{model_joined_memory.id} {model_joined_memory.same_as}",
                )
            elif memory.memory_id in matches.values() or stays.memory_id in matches:
                self._drop(
                    "memories to join of which one goes and stays",
                    f"{model_joined_memory.id} {model_joined_memory.same_as}",
                )
            else:
                matches.setdefault(memory.memory_id, stays.memory_id)
        return matches

    def _importances(self, model_importances: Sequence[ModelImportance]) -> dict[str, int]:
        """Accept importances that differ by at least `LEAST_DRIFT`."""
        found_counts = {}
        for model_importance in model_importances:
            memory = self._memory(model_importance.id)
            if memory is None:
                self._drop("importance of memories that were not listed", model_importance.id)
            elif abs(memory.importance - model_importance.importance) >= LEAST_DRIFT:
                found_counts[memory.memory_id] = model_importance.importance
        return found_counts

    def _memory(self, statement: str) -> PromptMemory | None:
        number = _MEMORY_NUMBER.fullmatch(statement)
        return self._lists.memories.get(f"M{number.group(1)}") if number else None

    def _proven_place(self, quote: str, scene: str) -> Place | None:
        """Return the scene of a quote or of a numbered memory."""
        memory = self._memory(quote)
        if memory is not None:
            return story_place(memory)
        stated = self._stated_place(scene)
        for place in dict.fromkeys([*([stated] if stated else []), *self._finders]):
            if self._finders[place].find(quote) is not None:
                return place
        return next((place for place, finder in self._first_quotes if finder.find(quote) is not None), None)

    def _stated_place(self, scene: str) -> Place | None:
        match = _PLACE.search(scene)
        if match is not None:
            place = (int(match.group(1)), int(match.group(2)))
        elif scene.strip().isdigit():
            place = (self._request.chapter_index, int(scene))
        else:
            return None
        return place if place in self._finders else None

    def _drop(self, message: str, what: str) -> None:
        self._issues.append(ReportIssue(stage=CHAPTER_STAGE, kind="unresolved", message=f"{message}: {what[:80]!r}"))
