"""The board of threads: where each stands, planting, moving, changing and ending them, and taking an end back."""

from __future__ import annotations

from typing import get_args

from fastapi import APIRouter
from starlette.responses import Response

from novelgen.memory.kinds import shown_category
from novelgen.memory.ledger import LedgerEntry, ThreadLedger
from novelgen.models.record import ThreadEnding
from novelgen.models.state import LoopImportance
from runtime.page.thread_lines import HEAD, WIDTH, thread_lines
from runtime.page.visits import Name, PageRoute, Shown, Visited
from runtime.story.entities import StoryEntities
from runtime.story.thread_ledger import StoryThreadLedger
from runtime.story.threads import StoryThreads

router = APIRouter(route_class=PageRoute, include_in_schema=False)

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
    ledger = visit.kept(StoryThreadLedger.thread_ledger)
    here = visit.here()
    places = here.places[: here.known]
    names = visit.kept(StoryEntities.entity_names)
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
