"""Progress bars on stderr."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeElapsedColumn

ProgressCallback = Callable[[int, int], None]
"""Called with how much is done and how much there is in all."""


@contextmanager
def progress_bars(*descriptions: str) -> Iterator[list[ProgressCallback]]:
    """Show bars, one below the other, while the block runs.

    Where stderr is no terminal, only their last state is printed.

    Args:
        *descriptions: What is being done, one per bar.

    Yields:
        One callback per bar.
    """
    with _bars() as progress:
        tasks = [progress.add_task(description, total=None) for description in descriptions]
        yield [partial(_update, progress, task) for task in tasks]


@contextmanager
def staged_progress() -> Iterator[Callable[[str, int, int], None]]:
    """Show a bar for each stage from its first report on.

    Yields:
        Called with the stage, how much is done and how much there is in all.
    """
    tasks: dict[str, TaskID] = {}
    with _bars() as progress:

        def report(stage: str, done: int, total: int) -> None:
            if stage not in tasks:
                tasks[stage] = progress.add_task(stage, total=None)
            _update(progress, tasks[stage], done, total)

        yield report


def _bars() -> Progress:
    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
    )
    return Progress(*columns, console=Console(stderr=True, markup=False, emoji=False, highlight=False))


def _update(progress: Progress, task: TaskID, done: int, total: int) -> None:
    progress.update(task, completed=done, total=total)
