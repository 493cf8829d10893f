"""`novelgen thread`, which was `novelgen loop` and still answers to it, and `novelgen threads`, the ledger."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from runtime.doors.cli.commands.deleted import print_deletion
from runtime.doors.cli.labels import ViewLabels, place_text
from runtime.doors.cli.opening import opened_project, story_labels
from runtime.doors.cli.output import print_heading, print_json, print_pairs, print_result, print_table, print_text
from runtime.doors.cli.parameters import (
    COUNT,
    POSITION,
    CliSession,
    CommandGroup,
    as_of_option,
    from_option,
    json_option,
    project_argument,
    require_confirmation,
    yes_option,
)

if TYPE_CHECKING:
    from novelgen.memory.ledger import LedgerEntry, ThreadLedger
    from novelgen.models.position import StoryPosition
    from novelgen.models.record import ThreadEnding
    from novelgen.models.state import LoopStatus


@click.group(cls=CommandGroup)
def thread() -> None:
    """Look at open threads; add, move, end and delete them.

    A thread is what the story has promised and not yet paid.
    """


@thread.command("list", epilog="\b\nExample:\n  novelgen thread list my-novel --as-of 9:1 --due 5")
@project_argument
@click.option(
    "--status",
    "statuses",
    type=click.Choice(["open", "advanced", "resolved", "abandoned"]),
    multiple=True,
    help="Only these.  [default: open, advanced]",
)
@click.option("--due", type=COUNT, help="At most so many, those first that wait longest and weigh most.")
@as_of_option
@json_option
@click.pass_obj
def list_command(
    session: CliSession,
    project: str,
    statuses: tuple[LoopStatus, ...],
    due: int | None,
    as_of: StoryPosition | None,
    as_json: bool,
) -> None:
    """List the threads that wait for an answer."""
    from runtime.story.threads import StoryThreads

    with opened_project(session, project) as stores:
        if due is None:
            found = StoryThreads(stores, project).threads(statuses=statuses, as_of=as_of)
        else:
            found = StoryThreads(stores, project).due_threads(limit=due, as_of=as_of)
        labels = story_labels(stores, project)
    if as_json:
        print_json(found)
        return
    rows = [
        (
            each.loop_id,
            labels.value(each.status),
            labels.value(each.importance),
            "" if each.chapter_index is None else place_text(each.chapter_index, each.scene_index, labels),
            each.age_scenes,
            each.description,
        )
        for each in found
    ]
    headings = (labels.entity_id, labels.status, labels.importance, labels.place, labels.value("age"), labels.text)
    print_table(headings, rows, wide=5)


@thread.command(epilog="\b\nExample:\n  novelgen thread show my-novel OL3")
@project_argument
@click.argument("thread_id", metavar="THREAD")
@as_of_option
@json_option
@click.pass_obj
def show(session: CliSession, project: str, thread_id: str, as_of: StoryPosition | None, as_json: bool) -> None:
    """Show a thread as it stands."""
    from runtime.story.threads import StoryThreads

    with opened_project(session, project) as stores:
        found = StoryThreads(stores, project).get_thread(thread_id=thread_id, as_of=as_of)
    if as_json:
        print_json(found)
        return
    pairs = found.model_dump(exclude={"related_entities"})
    print_pairs({**pairs, "related": ", ".join(found.related_entities)})


@thread.command(
    epilog='\b\nExample:\n  novelgen thread add my-novel "Who lit the lamp?" --importance high --character Ada'
)
@project_argument
@click.argument("description")
@click.option("--category", default="", help="mystery, relationship, goal, threat, promise, …  [default: none]")
@click.option(
    "--importance",
    type=click.Choice(["low", "medium", "high", "critical"]),
    default="medium",
    show_default=True,
    help="How much it weighs.",
)
@click.option("--character", "characters", multiple=True, help="Whom it is about; may be given repeatedly.")
@click.option("--location", "locations", multiple=True, help="Which place; may be given repeatedly.")
@click.option("--item", "items", multiple=True, help="Which thing; may be given repeatedly.")
@click.option("--notes", default="", help="What you note of it for yourself; no context shows it.  [default: none]")
@from_option
@json_option
@click.pass_obj
def add(session: CliSession, project: str, as_json: bool, **fields: Any) -> None:
    """Plant a thread."""
    from runtime.story.threads import StoryThreads

    with opened_project(session, project) as stores:
        added = StoryThreads(stores, project).add_thread(**fields)
    print_result(added, f"added {added.loop_id}", as_json=as_json)


@thread.command(
    epilog='\b\nExamples:\n  novelgen thread edit my-novel OL3 --advance "A second light is seen"\n'
    '  novelgen thread edit my-novel OL3 --resolve "Ada lit it"'
)
@project_argument
@click.argument("thread_id", metavar="THREAD")
@click.option("--advance", help="It moved: what happened.")
@click.option("--resolve", help="It was answered: how.")
@click.option("--abandon", help="It was dropped: why.")
@click.option("--description", help="How it is described, from where it was planted.")
@click.option("--category", help="mystery, relationship, goal, threat, promise, …")
@click.option("--importance", type=click.Choice(["low", "medium", "high", "critical"]), help="How much it weighs.")
@click.option("--notes", help="What you note of it for yourself; no context shows it.")
@click.option("--pay-off", help="What its pay-off needs; `novelgen threads` shows it.")
@click.option("--due-from", type=POSITION, help="From entering that scene on it is due.")
@click.option("--due-by", type=POSITION, help="Open on entering that scene, it is overdue.")
@click.option("--parts", type=click.IntRange(min=2), help="In how many parts it is to be paid.")
@click.option("--pays-part", is_flag=True, help="With --advance: this paid a part of it.")
@click.option(
    "--ending",
    type=click.Choice(["paid", "broken", "dropped", "moot"]),
    help="How it ended, with --resolve or --abandon.  [default: paid, or dropped]",
)
@from_option
@json_option
@click.pass_obj
def edit(
    session: CliSession,
    project: str,
    thread_id: str,
    advance: str | None,
    resolve: str | None,
    abandon: str | None,
    ending: ThreadEnding | None,
    pays_part: bool,
    start: StoryPosition | None,
    as_json: bool,
    **described: Any,
) -> None:
    """Move or end a thread by one of --advance, --resolve and --abandon, or describe it anew."""
    from runtime.story.threads import StoryThreads

    if ending is not None and resolve is None and abandon is None:
        raise click.UsageError("--ending says how a thread ended; give --resolve or --abandon, too")
    if pays_part and advance is None:
        raise click.UsageError("--pays-part says what a move did; give --advance, too")
    moves = sum(each is not None for each in (advance, resolve, abandon))
    is_described = any(value is not None for value in described.values())
    if moves > 1 or not (moves or is_described):
        raise click.UsageError(
            "what becomes of the thread? give one of --advance, --resolve and --abandon, or what is to be"
            " described anew"
        )
    with opened_project(session, project) as stores:
        if is_described:
            edited = StoryThreads(stores, project).edit_thread(thread_id=thread_id, **described)
        if advance is not None:
            edited = StoryThreads(stores, project).advance_thread(
                thread_id=thread_id, note=advance, pays_part=pays_part, start=start
            )
        if resolve is not None:
            edited = StoryThreads(stores, project).resolve_thread(
                thread_id=thread_id, summary=resolve, ending=ending, start=start
            )
        if abandon is not None:
            edited = StoryThreads(stores, project).abandon_thread(
                thread_id=thread_id, summary=abandon, ending=ending, start=start
            )
    print_result(edited, f"{thread_id} is {edited.status}", as_json=as_json)


@thread.command(epilog="\b\nExample:\n  novelgen thread reopen my-novel OL3")
@project_argument
@click.argument("thread_id", metavar="THREAD")
@from_option
@json_option
@click.pass_obj
def reopen(session: CliSession, project: str, thread_id: str, start: StoryPosition | None, as_json: bool) -> None:
    """Take back that a thread ended, where you said so and no scene's record does."""
    from runtime.story.threads import StoryThreads

    with opened_project(session, project) as stores:
        opened = StoryThreads(stores, project).reopen_thread(thread_id=thread_id, start=start)
    print_result(opened, f"{thread_id} is {opened.status}", as_json=as_json)


@thread.command(epilog="\b\nExample:\n  novelgen thread delete my-novel OL3 --yes")
@project_argument
@click.argument("thread_id", metavar="THREAD")
@yes_option
@json_option
@click.pass_obj
def delete(session: CliSession, project: str, thread_id: str, is_confirmed: bool, as_json: bool) -> None:
    """Delete a thread with its history; `entity undo` takes it back."""
    from runtime.story.deletion import StoryDeletion
    from runtime.story.threads import StoryThreads

    with opened_project(session, project) as stores:
        found = StoryThreads(stores, project).get_thread(thread_id=thread_id)
        require_confirmation(f"delete {thread_id} ({found.description}) with its history", is_confirmed=is_confirmed)
        print_deletion(StoryDeletion(stores, project).delete_thread(thread_id=thread_id), project, as_json=as_json)


@click.command(
    epilog="\b\nExamples:\n  novelgen threads my-novel --due\n  novelgen threads my-novel --board --as-of 9:1\n"
    "  novelgen threads my-novel --report"
)
@project_argument
@as_of_option
@click.option("--due", "only_due", is_flag=True, help="Only those that are due or overdue.")
@click.option(
    "--category",
    "categories",
    multiple=True,
    help="Only of this kind: promise, question, threat, plan, debt, mystery, 伏笔, …; may be given repeatedly.",
)
@click.option("--on-stage", multiple=True, help="Who or where the next scene is; may be given repeatedly.")
@click.option("--board", "as_board", is_flag=True, help="A board: overdue, due, moved, planted, over.")
@click.option("--report", "as_report", is_flag=True, help="What became of all of them, and what was never paid.")
@json_option
@click.pass_obj
def threads(
    session: CliSession,
    project: str,
    as_of: StoryPosition | None,
    only_due: bool,
    categories: tuple[str, ...],
    on_stage: tuple[str, ...],
    as_board: bool,
    as_report: bool,
    as_json: bool,
) -> None:
    """Tell which promises wait, how long, and which are due.

    What presses most comes first: by weight, age against what is expected, silence, and who is on stage. When a
    thread is due is told by its author (`novelgen thread edit --due-by`), else by how long this book's paid threads
    of that weight stayed open.
    """
    from novelgen.memory.board import board_lines, rhythm_line, unpaid_report
    from runtime.story.thread_ledger import StoryThreadLedger

    if sum((only_due, as_board, as_report)) > 1:
        raise click.UsageError("--due, --board and --report are three views; give one of them")
    with opened_project(session, project) as stores:
        ledger = StoryThreadLedger(stores, project).thread_ledger(as_of=as_of, on_stage=on_stage)
        labels = story_labels(stores, project)
    ledger = ledger.of_category(*categories)
    if only_due:
        ledger = ledger.model_copy(update={"entries": ledger.at("due", "overdue")})
    if as_json:
        print_json(ledger)
    elif as_board:
        for heading, lines in board_lines(ledger):
            print_heading(heading)
            for line in lines:
                print_text(f"- {line}")
    elif as_report:
        for line in unpaid_report(ledger):
            print_text(line)
    else:
        _print_waiting(ledger, labels)
        print_text(rhythm_line(ledger))


def _print_waiting(ledger: ThreadLedger, labels: ViewLabels) -> None:
    headings = ("stage", "pressure", "age", "silent", "expected")
    rows = [
        (
            each.loop_id,
            labels.value(each.stage),
            labels.value(each.importance),
            each.pressure,
            each.age_scenes,
            each.silent_scenes,
            _expected(each),
            each.description,
        )
        for each in ledger.entries
        if each.is_waiting
    ]
    stage, pressure, age, silent, expected = map(labels.value, headings)
    print_table(
        (labels.entity_id, stage, labels.importance, pressure, age, silent, expected, labels.text), rows, wide=7
    )


def _expected(entry: LedgerEntry) -> str:
    """`9:1` for an author's, `4-20` for the ages that the book's rhythm tells; empty where neither is known."""
    window = entry.window
    if window is None:
        return ""
    if window.source == "rhythm":
        last = "…" if window.overdue_after_scenes is None else window.overdue_after_scenes
        return f"{window.due_after_scenes}-{last}"
    return " – ".join(":".join(map(str, place)) if place else "…" for place in (window.due_from, window.due_by))
