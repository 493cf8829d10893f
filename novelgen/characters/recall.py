"""Which of a character's memories come back at a remark, and in which form."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from operator import not_
from typing import Literal, NamedTuple

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from novelgen.characters.memory import TIERS, CharacterMemory, CharacterMemorySettings, KnownStoryMemory
from novelgen.characters.mind import NOWHERE, Mind, View
from novelgen.language.language import StoryLanguage, story_language
from novelgen.memory.character_view import MIN_SHOWN_CERTAINTY
from novelgen.memory.query_scores import Column, Mask
from novelgen.models.context import ReportIssue
from novelgen.models.shown import Shown
from novelgen.words import words

SECONDS_PER_DAY = 86_400.0

UNKNOWN_RELEVANCE = 0.5
"""Relevance of everything where nothing was said."""

Form = Literal["full", "short"]
Source = Literal["meaning", "words", "high_signal", "standing"]
RecalledBy = Literal["meaning", "words", "standing"]


class ScoreParts(BaseModel):
    """The factors of a score."""

    model_config = ConfigDict(frozen=True)

    tier: float
    importance: float
    recency: float
    relevance: float
    superseded: float = 1.0

    @property
    def score(self) -> float:
        """Their product."""
        return self.tier * self.importance * self.recency * self.relevance * self.superseded


class ProtectedLine(BaseModel):
    """A line that stands above a recall, outside of the competition."""

    model_config = ConfigDict(frozen=True)

    text: str
    slot_type: str
    memory_id: str | None = Field(default=None, description="None: no memory but a state, such as a relationship.")
    tokens: int = 0


class RecalledMemory(BaseModel):
    """A memory that came back, as it is told."""

    model_config = ConfigDict(frozen=True)

    memory: KnownStoryMemory | CharacterMemory
    text: str
    form: Form
    score: float
    parts: ScoreParts
    relevance: float = Field(description="0 to 1, before the floor.")
    why: list[Source] = Field(description="What made it a candidate.")
    tokens: int
    age_days: int | None = None
    heard_from: str = Field(default="", description="Name of who told it.")
    is_over: bool = Field(default=False, description="Something later put an end to it.")

    def line(self, language: StoryLanguage) -> str:
        """Return the memory as a line, with its marks before the text."""
        catalogue, marks, how = words("characters", language), [], self.memory.how
        if self.age_days is not None:
            day = ("today", "yesterday", "days_ago")[min(self.age_days, 2)]
            marks.append(catalogue.text(f"recall.{day}", days=self.age_days))
        if self.memory.is_second_hand and self.heard_from:
            way = how if f"heard_from.{how}" in catalogue else "told"
            marks.append(catalogue.text(f"heard_from.{way}", name=self.heard_from))
        elif f"how.{how}" in catalogue:
            marks.append(catalogue[f"how.{how}"])
        if isinstance(self.memory, KnownStoryMemory) and self.memory.certainty < MIN_SHOWN_CERTAINTY:
            marks.append(catalogue["recall.rumour"])
        if self.is_over:
            marks.append(catalogue["recall.over"])
        text = catalogue["recall.separator"].join(marks)
        head = catalogue.text("recall.marked", marks=text) if marks else ""
        return f"- {head}{' '.join(self.text.split())}"


class LeftOutMemory(BaseModel):
    """A candidate for which the budget had no room."""

    model_config = ConfigDict(frozen=True)

    memory_id: str
    score: float


class Recall(Shown, BaseModel):
    """The memories recalled for a remark."""

    character_id: str
    character_name: str
    said: str
    by: RecalledBy = Field(description="words: no vectors could be compared; standing: nothing was said.")
    header: list[ProtectedLine] = Field(default_factory=list)
    items: list[RecalledMemory] = Field(default_factory=list, description="Best first.")
    left_out: list[LeftOutMemory] = Field(default_factory=list)
    budget_tokens: int
    tokens: int = Field(description="Estimated, of the whole block; at most the budget.")
    memories: int = Field(description="Live memories of the character's own at the moment of the read.")
    story_memories: int = Field(
        default=0, exclude_if=not_, description="Memories of the story that it knows, where these were asked for."
    )
    issues: list[ReportIssue] = Field(default_factory=list)

    def as_prompt(self, language: StoryLanguage | None = None) -> str:
        """Return the recall as a prompt block, empty without memories."""
        if not self.header and not self.items:
            return ""
        text = " ".join([self.said, *(memory.text for memory in self.items)])
        used_choice = language or story_language(text)
        lines = [
            _heading(self.character_name, used_choice),
            *(_header_line(protected_line.text) for protected_line in self.header),
        ]
        return "\n".join([*lines, *(memory.line(used_choice) for memory in self.items)])

    def in_simpler_terms(self) -> str:
        """Return the notebook representation."""
        return self.as_prompt()


class Compared(NamedTuple):
    """Nearness of memories to a remark, 0 for unrelated and 1 for on topic."""

    nearness: Column | None = None
    by: RecalledBy = "standing"


@dataclass(frozen=True, slots=True)
class Asked:
    """The request of a recall."""

    said: str
    compared: Compared
    budget_tokens: int
    protected: Sequence[ProtectedLine] = ()
    names: Mapping[str, str] | None = None


def score_parts(
    memory: CharacterMemory,
    *,
    age_days: float,
    relevance: float,
    settings: CharacterMemorySettings,
    is_superseded: bool = False,
) -> ScoreParts:
    """Return the factors of a memory's score."""
    freshness = 0.5 ** (max(age_days, 0.0) / settings.recency_half_life_days)
    return ScoreParts(
        tier=settings.tier_weights[TIERS.index(memory.tier)],
        importance=memory.importance / 10,
        recency=settings.recency_floor + (1 - settings.recency_floor) * freshness,
        relevance=settings.relevance_floor + (1 - settings.relevance_floor) * relevance,
        superseded=settings.superseded_score_multiplier if is_superseded else 1.0,
    )


def recall(mind: Mind, view: View, request: Asked, *, character_id: str, settings: CharacterMemorySettings) -> Recall:
    """Choose the recalled memories."""
    choice = _Choice(mind, view, request, settings)
    header = choice.header()
    in_header = {mind.place(line.memory_id) for line in header}
    name = (request.names or {}).get(character_id, character_id)
    issues: list[ReportIssue] = []
    heading_tokens = _most_tokens(lambda language: _heading(name, language))
    remaining_tokens = request.budget_tokens - heading_tokens
    fitting: list[ProtectedLine] = []
    for line in header:
        if line.tokens <= remaining_tokens:
            fitting.append(line)
            remaining_tokens -= line.tokens
        else:
            message = f"{line.slot_type} needs {line.tokens} tokens and found no room; raise budget_tokens"
            issues.append(ReportIssue(stage="recall", kind="over_limit", message=message))
    ranked_memories = choice.ranked(choice.candidates(in_header))
    items, left_out = choice.filled(ranked_memories, remaining_tokens)
    has_any = bool(fitting or items)
    used_tokens = sum(line.tokens for line in fitting) + sum(item.tokens for item in items)
    return Recall(
        character_id=character_id,
        character_name=name,
        said=request.said,
        by=request.compared.by,
        header=fitting,
        items=items,
        left_out=left_out,
        budget_tokens=request.budget_tokens,
        tokens=used_tokens + heading_tokens if has_any else 0,
        memories=int((view.live & ~mind.of_story).sum()),
        story_memories=int((view.live & mind.of_story).sum()),
        issues=issues,
    )


class _Choice:
    """One recall."""

    def __init__(self, mind: Mind, view: View, request: Asked, settings: CharacterMemorySettings) -> None:
        self._mind = mind
        self._view = view
        self._asked = request
        self._settings = settings
        # What the story tells has no date: it is neither fresh nor recent, and fades no further.
        self._age_days = np.where(mind.of_story, np.inf, (view.now - mind.known_at) / SECONDS_PER_DAY)
        near = request.compared.nearness
        self._relevance = np.full(len(mind), UNKNOWN_RELEVANCE) if near is None else np.clip(near, 0.0, 1.0)

    def header(self) -> list[ProtectedLine]:
        """Return protected memories by slot type, the latest first, within the limit."""
        types = self._settings.protected_slot_types
        holds = self._view.live & ~self._view.superseded & self._mind.of_slots(types)
        lines = [(types.index(line.slot_type), 0.0, line) for line in self._asked.protected if line.slot_type in types]
        for place in np.flatnonzero(holds).tolist():
            memory = self._mind.memories[place]
            line = ProtectedLine(
                text=memory.short or memory.content, slot_type=memory.slot_type or "", memory_id=memory.memory_id
            )
            lines.append((types.index(line.slot_type), -float(self._mind.known_at[place]), line))
        ordered = [line for _, _, line in sorted(lines, key=lambda item: item[:2])]
        return [
            line.model_copy(update={"tokens": estimate_recall_tokens(_header_line(line.text) + "\n")})
            for line in ordered[: self._settings.max_protected]
        ]

    def candidates(self, in_header: set[int]) -> dict[int, list[Source]]:
        """Return distinct candidate places with their reasons."""
        # A new value of a slot takes the old one out of recall; the character's list of memories still has it.
        pool = self._view.live & ~(self._view.superseded & self._mind.in_slot)
        pool[[place for place in in_header if place != NOWHERE]] = False
        results: dict[int, list[Source]] = {}
        for place in self._high_signal(pool):
            results.setdefault(place, []).append("high_signal")
        nearest, source = self._nearest(pool)
        for place in nearest:
            results.setdefault(place, []).append(source)
        return results

    def ranked(self, candidates: Mapping[int, list[Source]]) -> list[RecalledMemory]:
        """Return candidates by score, best first."""
        recalled_memories_by_number = {place: self._recalled_memory(place, why) for place, why in candidates.items()}

        def order(place: int) -> tuple[float, float, str]:
            memory = recalled_memories_by_number[place]
            return -memory.score, -float(self._mind.known_at[place]), memory.memory.memory_id

        return [recalled_memories_by_number[place] for place in sorted(recalled_memories_by_number, key=order)]

    def filled(
        self, ranking: Sequence[RecalledMemory], budget: int
    ) -> tuple[list[RecalledMemory], list[LeftOutMemory]]:
        """Return the fitting memories, best first, and the others."""
        items: list[RecalledMemory] = []
        left_out: list[LeftOutMemory] = []
        for memory in ranking:
            forms = [memory]
            if memory.form == "short" and memory.relevance >= self._settings.high_relevance_threshold:
                forms = [memory.model_copy(update={"text": memory.memory.content, "form": "full"}), memory]
            memories = (form.model_copy(update={"tokens": _most_tokens(form.line)}) for form in forms)
            item = next((form for form in memories if form.tokens <= budget), None)
            if item is None:
                left_out.append(LeftOutMemory(memory_id=memory.memory.memory_id, score=memory.score))
            else:
                items.append(item)
                budget -= item.tokens
        return items, left_out

    def _recalled_memory(self, place: int, why: list[Source]) -> RecalledMemory:
        """Return a memory in its short form, or in the only one that it has."""
        memory, parts = self._mind.memories[place], self._parts(place)
        days = float(self._age_days[place])
        told_by = memory.heard_from or ""
        return RecalledMemory(
            memory=memory,
            text=memory.short or memory.content,
            form="short" if memory.short else "full",
            score=parts.score,
            parts=parts,
            relevance=float(self._relevance[place]),
            why=why,
            tokens=0,
            age_days=int(max(days, 0)) if math.isfinite(days) else None,
            heard_from=(self._asked.names or {}).get(told_by, told_by),
            is_over=bool(self._view.superseded[place]),
        )

    def _parts(self, place: int) -> ScoreParts:
        return score_parts(
            self._mind.memories[place],
            age_days=float(self._age_days[place]),
            relevance=float(self._relevance[place]),
            settings=self._settings,
            is_superseded=bool(self._view.superseded[place]),
        )

    def _high_signal(self, pool: Mask) -> list[int]:
        """Return weighty events of the last days that still hold, the most important first, then the latest."""
        recent = self._age_days <= self._settings.high_signal_recency_days
        weighty = self._mind.of_types(self._settings.high_signal_event_types)
        places = np.flatnonzero(pool & recent & weighty & ~self._view.superseded)
        order = np.lexsort((-places, self._age_days[places], -self._mind.importances[places]))
        return places[order][: self._settings.high_signal_top_k].tolist()

    def _nearest(self, pool: Mask) -> tuple[list[int], Source]:
        """Return the memories nearest to the remark, or the weightiest without one."""
        places = np.flatnonzero(pool)
        limit = self._settings.semantic_top_k
        compared = self._asked.compared
        if compared.nearness is None:
            weights = [-self._parts(place).score for place in places.tolist()]
            return places[np.argsort(weights, kind="stable")][:limit].tolist(), "standing"
        near = places[self._relevance[places] > 0] if compared.by == "words" else places
        order = np.lexsort((self._age_days[near], -compared.nearness[near]))
        return near[order][:limit].tolist(), "words" if compared.by == "words" else "meaning"


CHARACTERS_PER_TOKEN = 3

FIRST_WIDE_CHARACTER = 0x2E80
"""From here on Unicode holds scripts whose characters are at least a token each: Chinese, Japanese, Korean, symbols."""


def estimate_recall_tokens(text: str) -> int:
    """Estimate the tokens of a line as a third of its characters, rounded up.

    Chinese characters count as one token each; a third of them would be less than half of what they cost.
    """
    wide = 0 if text.isascii() else sum(ord(character) >= FIRST_WIDE_CHARACTER for character in text)
    return wide + -(-(len(text) - wide) // CHARACTERS_PER_TOKEN)


def _most_tokens(line: Callable[[StoryLanguage], str]) -> int:
    """Estimate the tokens of a line, in whichever language it costs more."""
    return max(estimate_recall_tokens(line(language) + "\n") for language in ("en", "zh"))


def _heading(name: str, language: StoryLanguage) -> str:
    return words("characters", language).text("recall.heading", name=name)


def _header_line(text: str) -> str:
    return f"- {' '.join(text.split())}"
