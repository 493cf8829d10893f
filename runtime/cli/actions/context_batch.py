"""Building the contexts of many plans in one process."""

from __future__ import annotations

from pathlib import Path

import click

from novelgen.errors import ContextWriteError, NovelgenError
from runtime.atomic_files import write_text_atomically
from runtime.cli.context_building import BuildOptions, ContextBuilder, opened_builder
from runtime.cli.error_handling import ExitCode
from runtime.cli.output import progress_bars, report_line
from runtime.cli.parameters import CliSession
from runtime.cli.plan_files import NumberedPlan, PlanLine, read_plan_lines
from runtime.writer import context_json


def build_contexts(
    session: CliSession,
    project_id: str,
    options: BuildOptions,
    *,
    plans_file: Path,
    out: Path,
) -> None:
    """Build a context per plan and write it as `<plan_id>.json`, beside its canonical file.

    Raises:
        UnknownProjectError: When there is no such project; nothing is created.
        InvalidFileError: When the plans or another file cannot be read.
        Exit: When a plan failed; the others are written.
    """
    with opened_builder(session, project_id, options) as builder:
        plans = read_plan_lines(plans_file)
        builder.await_index()
        out.mkdir(parents=True, exist_ok=True)
        failures: list[str] = []
        with progress_bars("contexts") as (progress,):
            for done, numbered in enumerate(plans, start=1):
                failures += _failure_of(builder, numbered, out)
                progress(done, len(plans))
    for failure in failures:
        report_line(f"error: {failure}")
    report_line(f"{len(plans) - len(failures)} of {len(plans)} contexts written to {out}")
    if failures:
        raise click.exceptions.Exit(ExitCode.FAILED)


def _failure_of(builder: ContextBuilder, numbered: NumberedPlan, out: Path) -> list[str]:
    """Build and write one context; return why it failed, or nothing."""
    if numbered.plan is None:
        return [numbered.problem]
    try:
        _build(builder, numbered.plan, out)
    except NovelgenError as error:
        return [f"line {numbered.number}, plan {numbered.plan.plan_id!r}: {error}"]
    return []


def _build(builder: ContextBuilder, plan: PlanLine, out: Path) -> None:
    context = builder.build(plan.scene_plan, chapter_index=plan.chapter_index, scene_index=plan.scene_index)
    if context.report is None:
        raise ContextWriteError("the chain gave a context without a report")
    write_text_atomically(out / f"{plan.plan_id}.json", context_json(context), root=out)
