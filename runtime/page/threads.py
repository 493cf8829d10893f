"""The board of threads: where each stands, and as lines over the book when it was planted, moved, is due and ended."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from typing import get_args

from starlette.responses import Response

from novelgen.memory.ledger import LedgerEntry, ThreadLedger, ThreadMove, shown_category
from novelgen.models.record import ThreadEnding
from novelgen.models.state import LoopImportance
from runtime.page.relationships import shortened
from runtime.page.visits import Name, Shown, Visited, router
from runtime.story.base import StoryBase
from runtime.story.threads import StoryThreads

WIDTH = 1000.0
LEFT, RIGHT = 330.0, 990.0
HEAD, ROW = 26.0, 26.0

MAX_LINES = 60
MAX_CHAPTERS_WRITTEN = 16
NAME_ROOM = 38

Place = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Step:
    """A move of a thread, at its scene."""

    x: float
    move: ThreadMove


@dataclass(frozen=True, slots=True)
class ThreadLine:
    """A thread over the book."""

    entry: LedgerEntry
    name: str
    y: float
    start: float
    end: float
    steps: Sequence[Step]
    due: tuple[float, float] | None


@dataclass(frozen=True, slots=True)
class ThreadLines:
    """The lines of many threads, with the chapters above them."""

    lines: Sequence[ThreadLine]
    chapters: Sequence[tuple[float, int]]
    height: float
    left_out: int


def thread_lines(entries: Sequence[LedgerEntry], places: Sequence[Place]) -> ThreadLines:
    """Return the lines of threads, in the order in which they were planted."""
    drawn = sorted(entries[:MAX_LINES], key=lambda each: (each.chapter_index or 0, each.scene_index or 0, each.loop_id))
    lines = [_line(each, places, HEAD + ROW * (index + 0.5)) for index, each in enumerate(drawn)]
    firsts: dict[int, int] = {}
    for index, (chapter, _) in enumerate(places):
        firsts.setdefault(chapter, index)
    every = -(-len(firsts) // MAX_CHAPTERS_WRITTEN) or 1
    chapters = [(_x(index, places), chapter) for chapter, index in list(firsts.items())[::every]]
    return ThreadLines(lines, chapters, HEAD + ROW * len(lines) + 6, max(0, len(entries) - len(drawn)))


def _x(index: float, places: Sequence[Place]) -> float:
    share = min(1.0, max(0.0, index / max(1, len(places))))
    return round(LEFT + (RIGHT - LEFT) * share, 1)


def _index_of(chapter: int | None, scene: int | None, places: Sequence[Place]) -> int:
    """Return the number of a scene; of a chapter alone that of its last scene, of no place that of the first."""
    if chapter is None:
        return 0
    return max(0, bisect_right(places, (chapter, 10**9 if scene is None else scene)) - 1)


def _line(entry: LedgerEntry, places: Sequence[Place], y: float) -> ThreadLine:
    steps = [Step(_x(_index_of(each.chapter_index, each.scene_index, places), places), each) for each in entry.moves]
    planted = _index_of(entry.chapter_index, entry.scene_index, places)
    start = _x(planted, places)
    return ThreadLine(
        entry=entry,
        name=shortened(entry.description, NAME_ROOM),
        y=y,
        start=start,
        end=RIGHT if entry.is_waiting else max(start, steps[-1].x),
        steps=steps,
        due=_due(entry, planted, places),
    )


def _due(entry: LedgerEntry, planted: int, places: Sequence[Place]) -> tuple[float, float] | None:
    window = entry.window
    if window is None or not entry.is_waiting:
        return None
    first: int | None
    last: int | None
    if window.source == "rhythm":
        first = None if window.due_after_scenes is None else planted + window.due_after_scenes
        last = None if window.overdue_after_scenes is None else planted + window.overdue_after_scenes
    else:
        first, last = (
            None if each is None else bisect_right(places, (each[0], each[1] - 1))
            for each in (window.due_from, window.due_by)
        )
    begins = first if first is not None else last
    if begins is None or begins >= len(places):
        return None
    return _x(begins, places), RIGHT if last is None or last == begins else _x(last, places)


ENDED_AT_ONCE = 12
WAITING_AT_ONCE = 20
BOARD = ("planted", "moved", "due", "overdue")
ENDINGS: tuple[ThreadEnding, ...] = ("paid", "broken", "dropped", "moot")
WEIGHTS: tuple[LoopImportance, ...] = get_args(LoopImportance)
MANY_CARDS = 6


@router.get("/page/projects/{project_id}/threads")
def threads_page(
    visit: Visited,
    ended: Shown = ENDED_AT_ONCE,
    waiting: Shown = WAITING_AT_ONCE,
    person: Name = "",
    kind: Name = "",
    thread: Name = "",
) -> Response:
    """Show where every thread stands; one may be chosen, to be moved, changed or ended."""
    ledger = visit.kept(StoryThreads.thread_ledger)
    here = visit.here()
    places = here.places[: here.known]
    names = visit.kept(StoryBase.entity_names)
    shown = _filtered(ledger, person, kind)
    over = sorted(
        shown.at("over"), key=lambda each: (each.last_chapter_index or 0, each.last_scene_index or 0), reverse=True
    )
    columns: dict[str, list[LedgerEntry]] = {stage: shown.at(stage) for stage in BOARD}  # type: ignore[arg-type]
    columns["paid"] = [each for each in over if each.ending == "paid"]
    columns["dropped"] = [each for each in over if each.ending != "paid"]
    reopenable = visit.kept(StoryThreads.reopenable_threads)
    by_id = {each.loop_id: each for each in ledger.entries}
    frame = visit.frame("threads", here)
    categories = sorted({each.category for each in ledger.entries if each.category})
    return frame.page(
        "threads",
        columns=columns,
        limits={stage: waiting if stage in BOARD else ended for stage in columns},
        more_of={stage: "waiting" if stage in BOARD else "ended" for stage in columns},
        names=names,
        greatest=max((each.pressure for each in ledger.entries), default=0.0),
        last=places[-1] if places else None,
        people=sorted(
            {who for each in ledger.entries for who in each.related_entities if who in names},
            key=lambda each: names[each],
        ),
        category_of=lambda category: shown_category(category, frame.language),
        kinds={shown_category(each, frame.language): each for each in categories},
        person=person,
        kind=kind,
        count=len(ledger.entries),
        viewed=by_id.get(thread),
        reopenable=reopenable,
        lines=thread_lines([*(each for each in shown.entries if each.is_waiting), *over], places),
        line_sizes=(WIDTH, HEAD),
        weights=WEIGHTS,
        endings=ENDINGS,
        many=MANY_CARDS,
    )


def _filtered(ledger: ThreadLedger, person: str, kind: str) -> ThreadLedger:
    """Return the ledger of the threads that are about somebody and of a kind, as far as either was asked for."""
    kept = ledger.of_category(kind) if kind else ledger
    if not person:
        return kept
    return kept.model_copy(update={"entries": [each for each in kept.entries if person in each.related_entities]})
