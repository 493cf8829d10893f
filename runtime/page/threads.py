"""The board of threads, and their lines over the book."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from typing import NamedTuple, get_args

from starlette.responses import Response

from novelgen.memory.ledger import LedgerEntry, ThreadMove, shown_category
from novelgen.models.record import ThreadEnding
from novelgen.models.state import LoopImportance
from runtime.page.relationships import shortened
from runtime.page.visits import Name, Shown, Visited, router
from runtime.story.knowledge import Knower

WIDTH = 1000.0
LEFT, RIGHT = 330.0, 990.0
HEAD, ROW = 26.0, 26.0

MAX_LINES = 60
MAX_CHAPTERS_WRITTEN = 16
NAME_ROOM = 38

Place = tuple[int, int]


class ThreadLine(NamedTuple):
    """A thread over the book, with the places of its moves and the band in which it is due."""

    entry: LedgerEntry
    name: str
    y: float
    start: float
    end: float
    steps: Sequence[tuple[float, ThreadMove]]
    due: tuple[float, float] | None


class ThreadLines(NamedTuple):
    """The lines of many threads, with the chapters above them."""

    lines: Sequence[ThreadLine]
    chapters: Sequence[tuple[float, int]]
    height: float
    left_out: int


def thread_lines(entries: Sequence[LedgerEntry], places: Sequence[Place]) -> ThreadLines:
    """Return the lines of threads, in the order in which they were planted."""
    drawn_entries = sorted(
        entries[:MAX_LINES], key=lambda entry: (entry.chapter_index or 0, entry.scene_index or 0, entry.loop_id)
    )
    lines = [_line(entry, places, HEAD + ROW * (index + 0.5)) for index, entry in enumerate(drawn_entries)]
    firsts: dict[int, int] = {}
    for index, (chapter, _) in enumerate(places):
        firsts.setdefault(chapter, index)
    every = -(-len(firsts) // MAX_CHAPTERS_WRITTEN) or 1
    chapters = [(_x(index, places), chapter) for chapter, index in list(firsts.items())[::every]]
    return ThreadLines(lines, chapters, HEAD + ROW * len(lines) + 6, max(0, len(entries) - len(drawn_entries)))


def _x(index: float, places: Sequence[Place]) -> float:
    share = min(1.0, max(0.0, index / max(1, len(places))))
    return round(LEFT + (RIGHT - LEFT) * share, 1)


def _index_of(chapter: int | None, scene: int | None, places: Sequence[Place]) -> int:
    """Return a scene's number, a chapter's last one, or the first."""
    if chapter is None:
        return 0
    return max(0, bisect_right(places, (chapter, 10**9 if scene is None else scene)) - 1)


def _line(entry: LedgerEntry, places: Sequence[Place], y: float) -> ThreadLine:
    steps = [(_x(_index_of(move.chapter_index, move.scene_index, places), places), move) for move in entry.moves]
    planted_index = _index_of(entry.chapter_index, entry.scene_index, places)
    start = _x(planted_index, places)
    end = RIGHT if entry.is_waiting else max(start, steps[-1][0])
    name = shortened(entry.description, NAME_ROOM)
    return ThreadLine(entry, name, y, start, end, steps, _due(entry, places))


def _due(entry: LedgerEntry, places: Sequence[Place]) -> tuple[float, float] | None:
    window = entry.window
    if window is None or not entry.is_waiting:
        return None
    first, last = (
        None if place is None else bisect_right(places, (place[0], place[1] - 1))
        for place in (window.due_from, window.due_by)
    )
    begins = first if first is not None else last
    if begins is None or begins >= len(places):
        return None
    return _x(begins, places), RIGHT if last is None or last == begins else _x(last, places)


BOARD = ("planted", "moved", "due", "overdue")
MANY_CARDS = 6


@router.get("/page/projects/{project_id}/threads")
def threads_page(
    visit: Visited, ended: Shown = 12, waiting: Shown = 20, person: Name = "", kind: Name = "", thread: Name = ""
) -> Response:
    """Show all threads, optionally with one to edit."""
    ledger = visit.kept(visit.story.threads.ledger)
    places = visit.here.known_places
    names = visit.names()
    shown_entries = ledger.of_category(kind).entries if kind else ledger.entries
    shown_entries = [entry for entry in shown_entries if person in ("", *entry.related_entities)]
    over = sorted(
        (entry for entry in shown_entries if entry.stage == "over"),
        key=lambda entry: (entry.last_chapter_index or 0, entry.last_scene_index or 0),
        reverse=True,
    )
    columns = {stage: [entry for entry in shown_entries if entry.stage == stage] for stage in BOARD}
    columns["paid"] = [entry for entry in over if entry.ending == "paid"]
    columns["dropped"] = [entry for entry in over if entry.ending != "paid"]
    categories = sorted({entry.category for entry in ledger.entries if entry.category})
    people = {who for entry in ledger.entries for who in entry.related_entities if who in names}
    viewed = next((entry for entry in ledger.entries if entry.loop_id == thread), None)
    return visit.page(
        "threads",
        columns=columns,
        limits={stage: waiting if stage in BOARD else ended for stage in columns},
        more_of={stage: "waiting" if stage in BOARD else "ended" for stage in columns},
        names=names,
        last=places[-1] if places else None,
        people=sorted(people, key=lambda item: names[item]),
        category_of=lambda category: shown_category(category, visit.language),
        kinds={shown_category(category, visit.language): category for category in categories},
        person=person,
        kind=kind,
        count=len(ledger.entries),
        viewed=viewed,
        version=visit.story.threads.get(thread, as_of=visit.until).version if viewed else "",
        knowers=_knowers(visit, viewed) if viewed else (),
        reopenable=visit.kept(visit.story.threads.list_reopenable),
        lines=thread_lines([*(entry for entry in shown_entries if entry.is_waiting), *over], places),
        line_sizes=(WIDTH, HEAD),
        weights=get_args(LoopImportance),
        endings=get_args(ThreadEnding),
        many=MANY_CARDS,
    )


def _knowers(visit: Visited, thread: LedgerEntry) -> list[tuple[Knower, bool]]:
    """Return who knows a thread, with those of a guessed cast marked."""
    knowers = visit.kept(visit.story.knowledge.who_knows, memory_id=thread.loop_id).known_by
    return [(knower, knower.is_doubtful) for knower in knowers]
