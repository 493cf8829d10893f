"""The board of threads: where each stands, planting, moving, changing and ending them, and taking an end back."""

from __future__ import annotations

import re
from typing import get_args

from fastapi import APIRouter
from starlette.responses import RedirectResponse, Response

from novelgen.errors import UserInputError
from novelgen.models.record import ThreadEnding
from novelgen.models.state import LoopImportance
from novelgen.threads.kinds import shown_category
from novelgen.threads.ledger import LedgerEntry, ThreadLedger
from runtime.server.page.frame import project_address
from runtime.server.page.thread_lines import HEAD, WIDTH, thread_lines
from runtime.server.page.visits import Form, Name, PageRoute, Shown, Visit, Visited, number_in, place_in
from runtime.services import entities as entity_services
from runtime.services import threads as thread_services
from runtime.services.thread_ledger import thread_ledger

router = APIRouter(route_class=PageRoute, include_in_schema=False)

ENDED_AT_ONCE = 12
WAITING_AT_ONCE = 20
BOARD = ("planted", "moved", "due", "overdue")
ENDINGS: tuple[ThreadEnding, ...] = ("paid", "broken", "dropped", "moot")
WEIGHTS: tuple[LoopImportance, ...] = get_args(LoopImportance)
MANY_CARDS = 6
COMMAS = re.compile(r"[,，、]")


@router.get("/page/projects/{project_id}/threads")
def threads_page(
    visit: Visited,
    ended: Shown = ENDED_AT_ONCE,
    waiting: Shown = WAITING_AT_ONCE,
    person: Name = "",
    kind: Name = "",
    thread: Name = "",
    done: Name = "",
) -> Response:
    """Show where every thread stands; one may be chosen, to be moved, changed or ended."""
    ledger = visit.kept(thread_ledger)
    here = visit.here()
    places = here.places[: here.known]
    names = visit.kept(entity_services.entity_names)
    shown = _filtered(ledger, person, kind)
    over = sorted(
        shown.at("over"),
        key=lambda each: (each.last_chapter_index or 0, each.last_scene_index or 0),
        reverse=True,
    )
    columns: dict[str, list[LedgerEntry]] = {stage: shown.at(stage) for stage in BOARD}  # type: ignore[arg-type]
    columns["paid"] = [each for each in over if each.ending == "paid"]
    columns["dropped"] = [each for each in over if each.ending != "paid"]
    reopenable = visit.kept(thread_services.reopenable_threads)
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
        done=by_id.get(done) if done in reopenable else None,
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
    return kept.model_copy(
        update={"entries": [each for each in kept.entries if person in each.related_entities]}
    )


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
    end = thread_services.resolve_thread if how == "paid" else thread_services.abandon_thread
    end(
        visit.served.stores,
        visit.served.project_id,
        thread_id=thread_id,
        summary=summary,
        ending=how,
        scene_id=form.get("scene", "").strip() or None,
        start=visit.as_of,
    )
    return _to_the_board(visit, form, done=thread_id)


@router.post("/page/projects/{project_id}/threads/reopen")
def reopen_thread(visit: Visited, form: Form) -> Response:
    """Take back that a thread ended."""
    thread_services.reopen_thread(
        visit.served.stores, visit.served.project_id, thread_id=form.get("thread", ""), start=visit.as_of
    )
    return _to_the_board(visit, form)


@router.post("/page/projects/{project_id}/threads/advance")
def advance_thread(visit: Visited, form: Form) -> Response:
    """Say that a thread moved."""
    note = form.get("note", "").strip()
    if not note:
        raise UserInputError("how the thread moved is not said; write a sentence")
    thread_services.advance_thread(
        visit.served.stores,
        visit.served.project_id,
        thread_id=form.get("thread", ""),
        note=note,
        pays_part=bool(form.get("pays_part")),
        start=visit.as_of,
    )
    return _to_the_board(visit, form)


@router.post("/page/projects/{project_id}/threads/edit")
def edit_thread(visit: Visited, form: Form) -> Response:
    """Change what a thread says, what it weighs, and when it is due."""
    description = form.get("description", "").strip()
    if not description:
        raise UserInputError("the description is empty; write what the story leaves open")
    thread_services.edit_thread(
        visit.served.stores,
        visit.served.project_id,
        thread_id=form.get("thread", ""),
        description=description,
        category=form.get("category", "").strip(),
        importance=_weight(form),
        pay_off=form.get("pay_off", "").strip(),
        due_from=place_in(form, "due_from"),
        due_by=place_in(form, "due_by"),
        parts=number_in(form, "parts"),
    )
    return _to_the_board(visit, form)


@router.post("/page/projects/{project_id}/threads/add")
def add_thread(visit: Visited, form: Form) -> Response:
    """Plant a thread where the story stands on the page."""
    thread_services.add_thread(
        visit.served.stores,
        visit.served.project_id,
        description=form.get("description", "").strip(),
        category=form.get("category", "").strip(),
        importance=_weight(form),
        characters=[each.strip() for each in COMMAS.split(form.get("characters", "")) if each.strip()],
        start=visit.as_of,
    )
    return _to_the_board(visit, form)


def _weight(form: dict[str, str]) -> LoopImportance:
    told = form.get("weight", "") or "medium"
    weight = next((each for each in WEIGHTS if each == told), None)
    if weight is None:
        raise UserInputError(f"a thread cannot weigh {told[:50]!r}; choose one of {', '.join(WEIGHTS)}")
    return weight


def _to_the_board(visit: Visit, form: dict[str, str], **told: str) -> Response:
    """Lead back to the board as it was filtered."""
    as_of = "" if visit.as_of is None else str(visit.as_of)
    kept = {name: form.get(name, "")[:400] for name in ("person", "kind")}
    address = project_address(visit.served.project_id, "threads", as_of=as_of, **kept, **told)
    return RedirectResponse(address, status_code=303)
