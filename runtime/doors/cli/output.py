"""What a command prints: JSON for programs, tables for people, progress and warnings on stderr.

Commands import this at their top, so what is heavy here is imported when something is printed.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from novelgen.language.scrub import scrub_text
from runtime.doors.cli.labels import ENGLISH, ViewLabels

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress, TaskID

    from novelgen.models.story_difference import StoryDifference
    from runtime.files.author_remarks import Remark
    from runtime.story.condition import StoryCondition
    from runtime.story.indexing import IndexingResult

PIPED_WIDTH = 100
"""Columns where the output is no terminal."""

SPEED_PERIOD_S = 120.0
"""The time that is left is told by the speed of so many seconds."""

ProgressCallback = Callable[[int, int], None]
"""Called with how much is done and how much there is in all."""


def print_json(data: Any) -> None:
    """Print models, and lists and mappings of them, as JSON on stdout.

    Characters that the encoding of stdout lacks are escaped, so that the output is JSON everywhere.
    """
    is_unicode = (getattr(sys.stdout, "encoding", None) or "utf-8").lower().startswith("utf")
    text = json.dumps(_plain(data), indent=2, ensure_ascii=not is_unicode)
    click.echo(text.encode("utf-8", "backslashreplace").decode("utf-8"))


def print_result(result: Any, *lines: str, as_json: bool) -> None:
    """Print what a command did: its result as JSON, or the lines that say it to people."""
    if as_json:
        print_json(result)
        return
    for line in lines:
        print_text(line)


def print_text(text: str = "") -> None:
    """Print a line for people on stdout; control characters are left out."""
    click.echo(scrub_text(text))


def print_heading(text: str) -> None:
    """Print a heading, with an empty line before it."""
    console = _console()
    console.print()
    console.print(scrub_text(text), style="bold")


def print_table(headings: Sequence[str], rows: Iterable[Sequence[object]], *, wide: int) -> None:
    """Print a table that fits the terminal; Chinese characters count two columns."""
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for index, heading in enumerate(headings):
        table.add_column(heading, overflow="fold", ratio=1 if index == wide else None)
    for row in rows:
        table.add_row(*("" if cell is None else scrub_text(str(cell)) for cell in row))
    _console().print(table)


def print_pairs(pairs: Mapping[str, object]) -> None:
    """Print names and values, one pair per line; None and empty values are left out."""
    from rich.table import Table

    given = {name: value for name, value in pairs.items() if value not in (None, "", [], {})}
    table = Table.grid(padding=(0, 2))
    table.add_column(style="bold", no_wrap=True)
    table.add_column(overflow="fold")
    for name, value in given.items():
        table.add_row(name, scrub_text(str(value)))
    _console().print(table)


def report_line(text: str) -> None:
    """Print a line about the work itself on stderr."""
    click.echo(scrub_text(text), err=True)


def report_warning(text: str) -> None:
    """Print a warning on stderr; one that repeats is told once a run."""
    context = click.get_current_context(silent=True)
    told: set[str] = context.meta.setdefault(f"{__name__}.warnings", set()) if context else set()
    if text not in told:
        told.add(text)
        report_line(f"warning: {text}")


def index_state(indexing: IndexingResult, project_id: str, labels: ViewLabels = ENGLISH) -> str:
    """Return the state of the index in words, with what failed, and the repair when something waits."""
    reason = f" ({indexing.issues[0].message})" if indexing.issues else ""
    if not indexing.waiting:
        return labels.value("up to date") + reason
    waiting = labels.value("{} memories wait").format(indexing.waiting)
    return f"{waiting}{reason}; {labels.value('run')} `novelgen reindex {project_id}`"


def report_indexing(indexing: IndexingResult, project_id: str, *, done: str = "stored") -> None:
    """Say on stderr when the vector index does not follow what a command did; SQL is safe either way."""
    if indexing.waiting:
        report_warning(f"{done}, but the index lags: {index_state(indexing, project_id)}")


def print_condition(condition: StoryCondition, labels: ViewLabels) -> None:
    """Print what a project holds now and what to do next, in the story's language."""
    told = {
        "{} chapters": condition.chapters,
        "{} scenes": condition.scenes,
        "{} characters of text": f"{condition.characters_of_text:,}",
        "{} people": condition.people,
        "{} open threads": condition.threads,
        "{} memories": condition.memories,
    }
    read = labels.value("{} scenes read, {} failed, {} waiting").format(
        condition.scenes_with_record, condition.scenes_failed, condition.scenes_waiting
    )
    indexed = max(0, condition.indexable - condition.unindexed)
    by_meaning = labels.value("{} of {} memories indexed by meaning").format(indexed, condition.indexable)
    print_heading(labels.value("There is now"))
    for line in ((labels.value(words).format(number) for words, number in told.items()), (read,), (by_meaning,)):
        print_text("  " + labels.value(", ").join(line))
    print_heading(labels.value("What to do next"))
    for step in condition.next_steps:
        print_text(f"  {step.command}")
        print_text(f"      {step.reason}")


def print_changes(changes: StoryDifference | None) -> None:
    """Print in a few lines what scenes changed that were just taken in; what kept that from being told, on stderr."""
    from novelgen.context.difference_block import difference_block

    if changes is None:
        return
    for issue in changes.issues:
        report_warning(issue.message)
    if not changes.issues:
        heading, *lines = difference_block(changes)
        print_heading(heading)
        for line in lines:
            print_text(line)


MAX_REMARKS = 12
"""So many remarks are shown; a serial has one in every chapter."""


def print_remarks(remarks: Sequence[Remark], labels: ViewLabels) -> None:
    """Print what was left out of a story's text because it is said to readers; nothing where there is none."""
    if not remarks:
        return
    print_heading(labels.value("Left out as said to readers; --keep-remarks keeps it"))
    for remark in remarks[:MAX_REMARKS]:
        place = labels.value("chapter {}, line {}").format(remark.chapter_number, remark.line)
        print_text(f"  {place}: {remark.text}")
    if len(remarks) > MAX_REMARKS:
        print_text("  " + labels.value("and {} more").format(len(remarks) - MAX_REMARKS))


@contextmanager
def progress_bars(*descriptions: str) -> Iterator[list[ProgressCallback]]:
    """Show bars on stderr, one below the other, while the block runs.

    Where stderr is no terminal, only their last state is printed.
    """
    with _bars() as progress:
        # Seen from their first report on: what has not begun has nothing to show.
        tasks = [progress.add_task(description, total=None, visible=False) for description in descriptions]
        yield [partial(_update, progress, task) for task in tasks]


@contextmanager
def staged_progress() -> Iterator[Callable[[str, int, int], None]]:
    """Show a bar for each stage from its first report on."""
    tasks: dict[str, TaskID] = {}
    with _bars() as progress:

        def report(stage: str, done: int, total: int) -> None:
            if stage not in tasks:
                tasks[stage] = progress.add_task(stage, total=total)
            _update(progress, tasks[stage], done, total)

        yield report


def _bars() -> Progress:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TextColumn("{task.completed:,.0f}/{task.total:,.0f}", markup=False),
        TimeElapsedColumn(),
        TextColumn("left:", markup=False),
        # The speed of the last minutes tells more of what is left than that of the whole: passages differ.
        TimeRemainingColumn(),
    )
    console = Console(stderr=True, markup=False, emoji=False, highlight=False)
    return Progress(*columns, console=console, speed_estimate_period=SPEED_PERIOD_S)


def _update(progress: Progress, task: TaskID, done: int, total: int) -> None:
    progress.update(task, completed=done, total=total, visible=True)


def _console() -> Console:
    """Return a console for stdout that takes story text as it is, without markup of any kind."""
    from rich.console import Console

    width = None if sys.stdout.isatty() else PIPED_WIDTH
    return Console(file=sys.stdout, markup=False, emoji=False, highlight=False, width=width)


def _plain(data: Any) -> Any:
    if hasattr(data, "model_dump"):
        return data.model_dump(mode="json")
    if isinstance(data, Mapping):
        return {key: _plain(value) for key, value in data.items()}
    return [_plain(value) for value in data] if isinstance(data, list | tuple) else data
