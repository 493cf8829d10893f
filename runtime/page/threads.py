"""The board of threads: where each stands, planting, moving, changing and ending them, and taking an end back."""

from __future__ import annotations

from typing import get_args

from fastapi import APIRouter
from starlette.responses import Response

from novelgen.errors import UserInputError
from novelgen.memory.kinds import shown_category
from novelgen.memory.ledger import LedgerEntry, ThreadLedger
from novelgen.models.record import ThreadEnding
from novelgen.models.state import LoopImportance
from runtime.page.notices import TakingBack
from runtime.page.taking_back import led_back
from runtime.page.thread_lines import HEAD, WIDTH, thread_lines
from runtime.page.visits import Form, Name, PageRoute, Shown, Visit, Visited, names_in, number_in, place_in
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


@router.post("/page/projects/{project_id}/threads/end")
def end_thread(visit: Visited, form: Form) -> Response:
    """End a thread where the story stands on the page, or in an earlier scene."""
    thread_id, summary = form.get("thread", ""), form.get("summary", "").strip()
    told = form.get("how", "") or "paid"
    if not thread_id or not summary:
        raise UserInputError("which thread ends, or how, is not said; write a sentence")
    how = next((each for each in ENDINGS if each == told), None)
    if how is None:
        raise UserInputError(f"a thread cannot end {told[:50]!r}; choose one of {', '.join(ENDINGS)}")
    end = StoryThreads.resolve_thread if how == "paid" else StoryThreads.abandon_thread
    ended = end(
        StoryThreads(visit.served.stores, visit.served.project_id),
        thread_id=thread_id,
        summary=summary,
        ending=how,
        scene_id=form.get("scene", "").strip() or None,
        start=visit.as_of,
    )
    undo = TakingBack(kind="thread", entity=thread_id, start=visit.standing)
    return _to_the_board(visit, form, "end_thread", told=ended.description, undo=undo.packed())


@router.post("/page/projects/{project_id}/threads/reopen")
def reopen_thread(visit: Visited, form: Form) -> Response:
    """Take back that a thread ended."""
    StoryThreads(visit.served.stores, visit.served.project_id).reopen_thread(
        thread_id=form.get("thread", ""), start=visit.as_of
    )
    return _to_the_board(visit, form, "undo")


@router.post("/page/projects/{project_id}/threads/advance")
def advance_thread(visit: Visited, form: Form) -> Response:
    """Say that a thread moved."""
    note = form.get("note", "").strip()
    if not note:
        raise UserInputError("how the thread moved is not said; write a sentence")
    thread = StoryThreads(visit.served.stores, visit.served.project_id).advance_thread(
        thread_id=form.get("thread", ""), note=note, pays_part=bool(form.get("pays_part")), start=visit.as_of
    )
    return _to_the_board(visit, form, "advance_thread", told=thread.description)


@router.post("/page/projects/{project_id}/threads/edit")
def edit_thread(visit: Visited, form: Form) -> Response:
    """Change what a thread says, what it weighs, and when it is due."""
    description = form.get("description", "").strip()
    if not description:
        raise UserInputError("the description is empty; write what the story leaves open")
    thread = StoryThreads(visit.served.stores, visit.served.project_id).edit_thread(
        thread_id=form.get("thread", ""),
        description=description,
        category=form.get("category", "").strip(),
        importance=_weight(form),
        pay_off=form.get("pay_off", "").strip(),
        due_from=place_in(form, "due_from"),
        due_by=place_in(form, "due_by"),
        parts=number_in(form, "parts"),
    )
    return _to_the_board(visit, form, "edit_thread", told=thread.description)


@router.post("/page/projects/{project_id}/threads/add")
def add_thread(visit: Visited, form: Form) -> Response:
    """Plant a thread where the story stands on the page."""
    thread = StoryThreads(visit.served.stores, visit.served.project_id).add_thread(
        description=form.get("description", "").strip(),
        category=form.get("category", "").strip(),
        importance=_weight(form),
        characters=names_in(form.get("characters", "")),
        start=visit.as_of,
    )
    return _to_the_board(visit, form, "add_thread", told=thread.description)


def _weight(form: dict[str, str]) -> LoopImportance:
    told = form.get("weight", "") or "medium"
    weight = next((each for each in WEIGHTS if each == told), None)
    if weight is None:
        raise UserInputError(f"a thread cannot weigh {told[:50]!r}; choose one of {', '.join(WEIGHTS)}")
    return weight


def _to_the_board(visit: Visit, form: dict[str, str], done: str, *, told: str = "", undo: str = "") -> Response:
    """Lead back to the board as it was filtered, telling there what was done."""
    kept = {name: form.get(name, "")[:400] for name in ("person", "kind")}
    address = visit.address("threads", **kept)
    return led_back(address, done, told=told, undo=undo)
