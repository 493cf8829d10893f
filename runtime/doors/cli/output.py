"""Output of commands: JSON, tables, progress and warnings.

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

from novelgen.language.normalise import scrub_text
from runtime.doors.cli.error_handling import ExitCode
from runtime.doors.cli.labels import ViewLabels, in_words, view_labels_for
from runtime.doors.cli.shell import with_quoted_arguments

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress, TaskID

    from novelgen.models.context import ReportIssue
    from novelgen.models.story_difference import StoryDifference
    from runtime.files.chapter_headings import Remark
    from runtime.story.condition import IndexingResult, StoryCondition

PIPED_WIDTH = 100
"""Columns where the output is no terminal."""

MAX_ROWS = 30
"""So many rows of a table a terminal gets without `--all`."""

SPEED_PERIOD_S = 120.0
"""The time that is left is told by the speed of so many seconds."""

ProgressCallback = Callable[[int, int], None]
"""Called with how much is done and how much there is in all."""


def is_terminal() -> bool:
    """Tell whether stdout is read by somebody at a terminal."""
    return sys.stdout.isatty()


def print_json(data: Any) -> None:
    """Print models, and lists and mappings of them, as JSON on stdout.

    Characters that the encoding of stdout lacks are escaped, so that the output is JSON everywhere.
    """
    is_unicode = (getattr(sys.stdout, "encoding", None) or "utf-8").lower().startswith("utf")
    text = json.dumps(_plain(data), indent=2, ensure_ascii=not is_unicode)
    click.echo(text.encode("utf-8", "backslashreplace").decode("utf-8"))


def print_result(result: Any, *lines: str, as_json: bool) -> None:
    """Print a result as JSON, or as lines for people."""
    if as_json:
        print_json(result)
        return
    for line in lines:
        print_text(in_words(line))


def print_text(text: str = "") -> None:
    """Print a line on stdout, without control characters."""
    click.echo(with_quoted_arguments(scrub_text(text)))


def print_heading(text: str) -> None:
    """Print a heading, with an empty line before it."""
    console = _console()
    console.print()
    console.print(scrub_text(text), style="bold")


def print_cut(lines: Iterable[str]) -> None:
    """Print each text on one line of the terminal, cut where it is longer."""
    console = _console()
    for line in lines:
        console.print("  " + " ".join(scrub_text(line).split()), no_wrap=True, overflow="ellipsis")


def last_rows(sentences: Sequence[str], most: int) -> list[str]:
    """Return the last of some sentences, as many to a line of the terminal as fit."""
    from rich.cells import cell_len

    from novelgen.language.sentences import join_sentences

    room, rows = _console().width - 2, [""]
    for text in map(" ".join, map(str.split, reversed(sentences))):
        joined_text = join_sentences([text, rows[0]]) if rows[0] else text
        rows = [joined_text, *rows[1:]] if not rows[0] or cell_len(joined_text) <= room else [text, *rows]
        if len(rows) > most:
            return rows[1:]
    return rows


def print_table(
    headings: Sequence[str],
    rows: Iterable[Sequence[object]],
    *,
    labels: ViewLabels | None = None,
    shows_all: bool = True,
) -> None:
    """Print a table that fits the terminal, with wide characters as two columns.

    With labels headings are keys. A terminal gets the first rows of a long one, and how to see the rest. A column
    without a value is left out.
    """
    from rich import box
    from rich.table import Table

    cells = [["" if cell is None else scrub_text(str(cell)) for cell in row] for row in rows]
    visible_rows = cells if shows_all or not is_terminal() else cells[:MAX_ROWS]
    columns = [index for index in range(len(headings)) if any(row[index] for row in cells)]
    if not columns:
        print_text((labels or view_labels_for())["head.nothing"])
        return
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for index in columns:
        heading = headings[index] if labels is None else labels.heading(headings[index])
        table.add_column(heading, overflow="fold", ratio=1 if index == columns[-1] else None)
    for row in visible_rows:
        table.add_row(*(row[index] for index in columns))
    _console().print(table)
    if len(visible_rows) < len(cells):
        print_text((labels or view_labels_for())["line.more_rows"].format(count=len(cells) - len(visible_rows)))


def print_pairs(pairs: Mapping[str, object], labels: ViewLabels | None = None) -> None:
    """Print name and value pairs, without empty ones.

    With labels, names are keys.
    """
    from rich.table import Table

    payload = {name: value for name, value in pairs.items() if value not in (None, "", [], {})}
    table = Table.grid(padding=(0, 2))
    table.add_column(style="bold", no_wrap=True)
    table.add_column(overflow="fold")
    for name, value in payload.items():
        table.add_row(name if labels is None else labels.heading(name), scrub_text(str(value)))
    _console().print(table)


def report_line(text: str) -> None:
    """Print a progress line on stderr, in the reader's language."""
    click.echo(with_quoted_arguments(in_words(scrub_text(text))), err=True)


def report_end(failures: Sequence[str], summary: str) -> None:
    """Print failures and totals, and fail the command if anything failed."""
    for failure in failures:
        report_line(f"error: {failure}")
    report_line(summary)
    if failures:
        raise click.exceptions.Exit(ExitCode.FAILED)


def report_warning(text: str) -> None:
    """Print a warning on stderr, once per run."""
    context = click.get_current_context(silent=True)
    told_names: set[str] = context.meta.setdefault(f"{__name__}.warnings", set()) if context else set()
    if text not in told_names:
        told_names.add(text)
        report_line(f"warning: {text}")


def report_issue(issue: ReportIssue) -> None:
    """Print an issue on stderr, even beside JSON."""
    report_warning(view_labels_for().issue(issue.stage, issue.kind, issue.message))


def index_state(indexing: IndexingResult, project_id: str, labels: ViewLabels) -> str:
    """Return the index's state in words, with failures and the repair."""
    reason = labels.in_brackets(in_words(indexing.issues[0].message)) if indexing.issues else ""
    if not indexing.waiting:
        return labels["line.up_to_date"] + reason
    waiting_text = labels["line.memories_wait"].format(indexing.waiting)
    return f"{waiting_text}{reason}; {labels['value.run']} `novelgen reindex {project_id}`"


def report_indexing(indexing: IndexingResult, project_id: str) -> None:
    """Report on stderr an index that lags behind SQL."""
    # What was left for later on purpose the import told, and every context does.
    if indexing.waiting and indexing.issues:
        report_warning(f"stored, but the index lags: {index_state(indexing, project_id, view_labels_for())}")


def print_condition(condition: StoryCondition, labels: ViewLabels) -> None:
    """Print a project's contents and the next step."""
    from runtime.story.condition import next_steps_in

    counts = {
        "chapters": condition.chapters,
        "scenes": condition.scenes,
        "words_of_text": f"{condition.words_of_text:,}",
        "people": condition.people,
        "open_threads": condition.threads,
        "memories": condition.memories,
    }
    text = labels["line.scenes_read_failed_waiting"].format(
        condition.scenes_with_record, condition.scenes_failed, condition.scenes_waiting
    )
    indexed = max(0, condition.indexable - condition.unindexed)
    by_meaning = labels["line.of_memories_indexed_by_meaning"].format(indexed, condition.indexable)
    print_heading(labels["line.there_is_now"])
    for line in ((labels[f"line.{key}"].format(number) for key, number in counts.items()), (text,), (by_meaning,)):
        print_text("  " + labels["line.comma"].join(line))
    print_heading(labels["line.what_to_do_next"])
    for step in next_steps_in(condition, labels.language):
        print_text(f"  {step.command}")
        print_text(f"      {step.reason}")


def print_undo(change_id: int | None, project: str, labels: ViewLabels) -> None:
    """Print how a change is taken back, where it can be."""
    if change_id is not None:
        print_text(labels["line.undo"].format(command=f"novelgen undo {project} {change_id}"))


def print_changes(changes: StoryDifference | None) -> None:
    """Print the changes of newly stored scenes, with failures on stderr."""
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


def print_remarks(
    remarks: Sequence[Remark], labels: ViewLabels, *, heading: str = "remarks_left_out", most: int = MAX_REMARKS
) -> None:
    """Print the removed remarks of a text, or their heading."""
    if not remarks:
        return
    print_heading(labels[f"line.{heading}"])
    for remark in remarks[:most]:
        place = labels["line.chapter_line"].format(remark.chapter_number, remark.line)
        print_text(f"  {place}: {remark.text}")
    if len(remarks) > most:
        print_text("  " + labels["line.and_more_remarks"].format(len(remarks) - most))


@contextmanager
def progress_bars(*descriptions: str) -> Iterator[list[ProgressCallback]]:
    """Show bars on stderr, one below the other, while the block runs.

    Where stderr is no terminal, only their last state is printed.
    """
    with _bars() as progress:
        # Seen from their first report on: what has not begun has nothing to show.
        tasks = [progress.add_task(in_words(description), total=None, visible=False) for description in descriptions]
        yield [partial(_update, progress, task) for task in tasks]


def _bars() -> Progress:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TextColumn("{task.completed:,.0f}/{task.total:,.0f}", markup=False),
        TimeElapsedColumn(),
        TextColumn(in_words("left:"), markup=False),
        # The speed of the last minutes tells more of what is left than that of the whole: passages differ.
        TimeRemainingColumn(),
    )
    console = Console(stderr=True, markup=False, emoji=False, highlight=False)
    return Progress(*columns, console=console, speed_estimate_period=SPEED_PERIOD_S)


def _update(progress: Progress, task: TaskID, done_count: int, total: int) -> None:
    progress.update(task, completed=done_count, total=total, visible=True)


def _console() -> Console:
    """Return a console for stdout that takes story text as it is, without markup of any kind."""
    from rich.console import Console

    width = None if is_terminal() else PIPED_WIDTH
    return Console(file=sys.stdout, markup=False, emoji=False, highlight=False, width=width)


def _plain(data: Any) -> Any:
    if hasattr(data, "model_dump"):
        return data.model_dump(mode="json", by_alias=True)
    if isinstance(data, Mapping):
        return {key: _plain(value) for key, value in data.items()}
    return [_plain(value) for value in data] if isinstance(data, list | tuple) else data
