"""The ledger of promises: kinds, waiting times, endings and warnings."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from pydantic import BaseModel, Field

from novelgen.language.language import StoryLanguage, synonyms
from novelgen.models.folds import fold_loop_events, folded_loop, said_pay_off
from novelgen.models.position import Place, StoryPosition, deadline_text, sort_key, story_place
from novelgen.models.record import ThreadEnding, is_unsaid
from novelgen.models.shown import Shown, ShownList
from novelgen.models.state import LOOP_WEIGHTS, UNRESOLVED_STATUSES, OpenLoop
from novelgen.words import words

ThreadKind = Literal["promise", "question", "mystery", "threat", "plan", "debt", "foreshadowing", "relationship"]
_CATEGORY_WORDS: Mapping[str, Any] = synonyms("thread_kinds")


def kind_of(category: str) -> ThreadKind | None:
    """Return the kind that a category means, or None where its words say none."""
    folded_text = category.strip().casefold()
    words = {part.removesuffix("s") for part in re.split(r"[^a-z]+", folded_text)}
    category_items = _CATEGORY_WORDS.items()
    return next(
        (kind for word, kind in category_items if (word in words if word.isascii() else word in folded_text)), None
    )


def is_of_category(category: str, pattern: str) -> bool:
    """Tell whether a category is the wanted one, or means the same kind, in whichever language either is said."""
    if category.strip().casefold() == pattern.strip().casefold():
        return True
    kind = kind_of(pattern)
    return kind is not None and kind_of(category) == kind


def shown_category(category: str, language: StoryLanguage) -> str:
    """Return a category as it is shown: the word of its kind in the story's language, else its own words."""
    kind = kind_of(category)
    return category.strip() if kind is None else words("memory", language)[f"kinds.{kind}"]


_ASKS: frozenset[ThreadKind] = frozenset({"question", "mystery", "foreshadowing"})


def asks_something(category: str, description: str) -> bool:
    """Return whether a thread waits for an answer rather than a deed."""
    return kind_of(category) in _ASKS or description.rstrip().endswith(("?", "？"))


ThreadStage = Literal["planted", "moved", "due", "overdue", "over"]
StatedSource = Literal["author", "record"]


@dataclass(frozen=True)
class ThreadEvent:
    """Something that happened to a thread, with its position."""

    loop_id: str
    kind: str
    note: str = ""
    detail: Mapping[str, Any] = field(default_factory=dict)
    chapter_index: int | None = None
    scene_index: int | None = None


class ThreadMove(BaseModel):
    """A step of a thread: planted, advanced, resolved or abandoned."""

    kind: str
    note: str = ""
    pays_part: bool = Field(default=False, description="Whether it paid a part of the thread.")
    chapter_index: int | None = None
    scene_index: int | None = None
    said_from: Place | None = Field(
        default=None, exclude_if=is_unsaid, description="From where on it counts, where its author said that."
    )


class ThreadWindow(BaseModel):
    """When a thread is expected to be paid, as its author or a record said."""

    source: StatedSource
    due_from: Place | None = Field(default=None, description="It is due on entering this scene.")
    due_by: Place | None = Field(default=None, description="Open on entering this scene, it is overdue.")


class LedgerEntry(OpenLoop):
    """A thread as the ledger has it at a position."""

    stage: ThreadStage = "planted"
    ending: ThreadEnding | None = Field(default=None, description="How it ended; None while it waits.")
    moves: list[ThreadMove] = Field(default_factory=list, description="Oldest first, the planting included.")
    silent_scenes: int | None = Field(default=None, description="Stored scenes since it last moved.")
    window: ThreadWindow | None = None
    pay_off: str = Field(default="", description="What its pay-off needs, in words: the author's, else the record's.")
    parts: int | None = Field(default=None, description="In how many parts it is to be paid, where that was said.")
    parts_paid: int = Field(default=0, description="How many of its moves paid a part.")
    dead_ids: list[str] = Field(default_factory=list, description="Of its characters, who is dead.")
    moot_since: Place | None = Field(
        default=None, description="It waits for a deed though all its characters are dead: where the last of them died."
    )

    @property
    def is_waiting(self) -> bool:
        """Whether it is neither paid nor dropped."""
        return self.status in UNRESOLVED_STATUSES


class ThreadLedger(Shown, BaseModel):
    """All threads that are planted by a position."""

    project_id: str
    language: StoryLanguage = "en"
    scenes: int = Field(default=0, description="Stored scenes before the position.")
    entries: list[LedgerEntry] = Field(
        default_factory=list,
        description="Those that wait first, what is overdue before what is due; then those that are over, as planted.",
    )
    more: int = Field(default=0, description="How many further ones there are.")

    def at(self, *stages: ThreadStage) -> list[LedgerEntry]:
        """Return the threads of these stages, in the ledger's order."""
        return [entry for entry in self.entries if entry.stage in stages]

    def of_category(self, *patterns: str) -> ThreadLedger:
        """Return the ledger of these categories, in either language."""
        kept_entries = [entry for entry in self.entries if any(is_of_category(entry.category, one) for one in patterns)]
        return self.model_copy(update={"entries": kept_entries}) if patterns else self

    def ended(self, *endings: ThreadEnding) -> list[LedgerEntry]:
        """Return the threads that ended in these ways."""
        return [entry for entry in self.entries if entry.ending in endings]

    def in_simpler_terms(self) -> ShownList[LedgerEntry]:
        """Return the notebook representation."""
        return ShownList(self.entries)


@dataclass(frozen=True)
class LedgerStory:
    """The material of a ledger, strictly before its position."""

    project_id: str
    language: StoryLanguage
    places: Sequence[Place]
    events: Mapping[str, Sequence[ThreadEvent]]
    deaths: Mapping[str, Place] = field(default_factory=dict)


def make_ledger(story: LedgerStory, *, as_of: StoryPosition) -> ThreadLedger:
    """Return where every thread stands."""
    places = story.places
    # The place that the story enters: that of the position, at the end the one after the last scene.
    here = (places[-1][0], places[-1][1] + 1) if places else (0, 0)
    if as_of.chapter_index is not None:
        here = sort_key(as_of.chapter_index, as_of.scene_index)
    whole = (events for events in story.events.values() if fold_loop_events(events).planted is not None)
    threads = [_Thread(events, places, story, here) for events in whole]
    entries = [thread.entry() for thread in threads]
    waiting_entries = sorted((entry for entry in entries if entry.is_waiting), key=_first_due)
    return ThreadLedger(
        project_id=story.project_id,
        language=story.language,
        scenes=len(places),
        entries=[*waiting_entries, *(entry for entry in entries if not entry.is_waiting)],
    )


def _first_due(entry: LedgerEntry) -> tuple[bool, int, int, int, str]:
    """Sort waiting threads by stage, weight and age, moot ones last."""
    stage = BOARD_STAGES.index(entry.stage) if entry.stage in ("overdue", "due") else len(BOARD_STAGES)
    weight = LOOP_WEIGHTS[entry.importance]
    return entry.moot_since is not None, stage, -weight, -(entry.age_scenes or 0), entry.loop_id


class _Thread:
    """One thread among the scenes of a story."""

    def __init__(self, events: Sequence[ThreadEvent], places: Sequence[Place], story: LedgerStory, here: Place) -> None:
        self._events, self._places, self._story, self._here = events, places, story, here
        loop, fold = folded_loop(events, age_scenes=self._since), fold_loop_events(events)
        assert loop is not None  # it was planted, else it would be none
        self.loop, self._last, self._is_over = loop, fold.last, fold.is_over
        self._detail: Mapping[str, Any] = fold.planted.detail if fold.planted else {}
        self._said_ending: ThreadEnding | None = fold.last.detail.get("ending") or None
        self._silent = self._since(fold.last)

    def _since(self, event: ThreadEvent) -> int | None:
        if event.chapter_index is None:
            return None
        after = sort_key(event.chapter_index, 10**9 if event.scene_index is None else event.scene_index)
        return len(self._places) - bisect_right(self._places, after)

    def entry(self) -> LedgerEntry:
        characters = list(self._detail.get("related_characters") or ())
        deaths = self._story.deaths
        dead = [character for character in characters if character in deaths]
        doers = [] if asks_something(self.loop.category, self.loop.description) else characters
        is_moot = not self._is_over and bool(doers) and len(dead) == len(doers)
        window = self._window()
        stage = "over" if self._is_over else self._stage(window)
        return LedgerEntry(
            **dict(self.loop),
            stage=stage,
            ending=self._ending(doers) if self._is_over else None,
            moves=[
                ThreadMove(
                    kind=event.kind,
                    note=event.note,
                    pays_part=bool(event.detail.get("pays_part")),
                    chapter_index=event.chapter_index,
                    scene_index=event.scene_index,
                    said_from=event.detail.get("said_from"),
                )
                for event in self._events
            ],
            silent_scenes=self._silent,
            window=window,
            pay_off=said_pay_off(self._events),
            parts=self._detail.get("parts"),
            parts_paid=sum(bool(event.detail.get("pays_part")) for event in self._events),
            dead_ids=dead,
            moot_since=max(deaths[item] for item in dead) if is_moot else None,
        )

    def _ending(self, doers: Sequence[str]) -> ThreadEnding:
        if self._said_ending is not None:
            return self._said_ending
        if self.loop.status == "resolved":
            return "paid"
        deaths, end = self._story.deaths, story_place(self._last)
        return "moot" if doers and all(doer in deaths and deaths[doer] <= end for doer in doers) else "dropped"

    def _window(self) -> ThreadWindow | None:
        statements: tuple[tuple[StatedSource, Mapping[str, Any]], ...] = (
            ("author", self._detail),
            ("record", self._detail.get("expected") or {}),
        )
        for source, stated in statements:
            places = (stated.get(name) for name in ("due_from", "due_by"))
            due_from, due_by = ((place[0], place[1]) if place else None for place in places)
            if due_from or due_by:
                return ThreadWindow(source=source, due_from=due_from, due_by=due_by)
        return None

    def _stage(self, window: ThreadWindow | None) -> ThreadStage:
        if window is not None:
            if window.due_by is not None and self._here >= window.due_by:
                return "overdue"
            due_from = window.due_from or (window.due_by[0], -1) if window.due_by else window.due_from
            if due_from is not None and self._here >= due_from:
                return "due"
        return "moved" if self.loop.status == "advanced" else "planted"


SILENT_FROM_SCENES = 12
"""From so many scenes without a move on, a board says that nobody touched a thread."""

MAX_OVER = 12
"""Threads that are over and stand on a board; the report and the JSON tell of all."""

MAX_WARNED = 5
"""Threads that are named in one warning; the others are counted."""

BOARD_STAGES: tuple[ThreadStage, ...] = ("overdue", "due", "moved", "planted", "over")


def board_lines(ledger: ThreadLedger) -> list[tuple[str, list[str]]]:
    """Return the heading and thread lines of each stage."""
    catalogue = words("memory", ledger.language, "threads")
    board = []
    for stage in BOARD_STAGES:
        entries = shown_entries = ledger.at(stage)
        if stage == "over":
            places = {entry.loop_id: sort_key(entry.last_chapter_index, entry.last_scene_index) for entry in entries}
            shown_entries = sorted(entries, key=lambda entry: places[entry.loop_id], reverse=True)[:MAX_OVER]
        lines = [_line(entry, ledger.language) for entry in shown_entries]
        if len(entries) > len(shown_entries):
            lines.append(catalogue["earlier"].format(len(entries) - len(shown_entries)))
        board.append((f"{catalogue[stage]}{catalogue['open']}{len(entries)}{catalogue['close']}", lines))
    return board


def unpaid_report(ledger: ThreadLedger) -> list[str]:
    """Return the endings of promises and the unpaid ones."""
    catalogue = words("memory", ledger.language, "threads")
    waiting_entries = sorted(
        (entry for entry in ledger.entries if entry.is_waiting),
        key=lambda entry: (-LOOP_WEIGHTS[entry.importance], -(entry.age_scenes or 0), entry.loop_id),
    )
    endings: tuple[ThreadEnding, ...] = ("paid", "broken", "dropped", "moot")
    counts = [len(ledger.ended(ending)) for ending in endings]
    lines = [catalogue["counts"].format(len(ledger.entries), *counts, len(waiting_entries))]
    if waiting_entries:
        lines.append(f"{catalogue['never']}{catalogue['open']}{len(waiting_entries)}{catalogue['close']}")
    return [*lines, *(f"- {_line(entry, ledger.language)}" for entry in waiting_entries)]


def ledger_warnings(ledger: ThreadLedger, scenes: Collection[Place]) -> list[str]:
    """Return the author's warnings after an ingest."""
    catalogue = words("memory", ledger.language, "threads")
    matches = []
    late = [entry for entry in ledger.at("overdue") if entry.importance == "critical" and not entry.moot_since]
    if late:
        matches.append(catalogue["warn_overdue"].format(_name_threads(late, catalogue)))
    for entry in ledger.at("over"):
        place = (entry.last_chapter_index, entry.last_scene_index)
        if place in scenes and not (entry.resolution_summary or "").strip():
            matches.append(catalogue["warn_silent"].format(_name_threads([entry], catalogue), f"{place[0]}:{place[1]}"))
    moot = [entry for entry in ledger.entries if entry.moot_since in scenes]
    if moot:
        matches.append(catalogue["warn_moot"].format(_name_threads(moot, catalogue)))
    return matches


def _name_threads(entries: list[LedgerEntry], catalogue: Mapping[str, str]) -> str:
    named_ids = [f"{entry.loop_id} {entry.description}" for entry in entries[:MAX_WARNED]]
    if len(entries) > MAX_WARNED:
        named_ids.append(catalogue["more"].format(len(entries) - MAX_WARNED))
    return catalogue["list"].join(named_ids)


def _line(entry: LedgerEntry, language: StoryLanguage) -> str:
    catalogue = words("memory", language, "threads")
    kind, due_by = shown_category(entry.category, language), entry.window.due_by if entry.window else None
    if entry.ending is not None:
        remarks = [kind, catalogue[f"ended_{entry.ending}"], _parts(entry, catalogue), entry.resolution_summary or ""]
    else:
        remarks = [
            kind,
            catalogue["moot"] if entry.moot_since else "",
            _parts(entry, catalogue),
            *_waits(entry.age_scenes or 0, entry.silent_scenes or 0, catalogue),
            catalogue["by"].format(deadline_text(due_by)) if due_by else "",
            catalogue["needs"].format(entry.pay_off) if entry.pay_off else "",
        ]
    statement = catalogue["list"].join(filter(None, remarks))
    aside = f"{catalogue['open']}{statement}{catalogue['close']}" if statement else ""
    return f"{entry.loop_id} {entry.description}{aside}"


def _waits(age: int, silent: int, catalogue: Mapping[str, str]) -> list[str]:
    if SILENT_FROM_SCENES <= silent == age:
        return [catalogue["untouched"].format(age)]
    waits = catalogue["late_one"] if age == 1 else catalogue["late"].format(age)
    return [waits if age else "", catalogue["silent"].format(silent) if silent >= SILENT_FROM_SCENES else ""]


def _parts(entry: LedgerEntry, catalogue: Mapping[str, str]) -> str:
    if entry.parts is not None and entry.ending != "paid":
        return catalogue["parts"].format(entry.parts_paid, entry.parts)
    return catalogue["part"].format(entry.parts_paid) if entry.parts_paid and entry.ending != "paid" else ""
