"""Building stale contexts again, or showing what that would change."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import click

from novelgen.assembly.context_difference import compare_contexts
from novelgen.errors import ContextWriteError, NovelgenError
from novelgen.models.context import SceneMemoryContext
from novelgen.models.plan import ChapterPlan, ScenePlan
from runtime.cli.context_building import BuildOptions, ContextBuilder, opened_builder
from runtime.cli.error_handling import ExitCode
from runtime.cli.output import print_json, progress_bars, report_line
from runtime.cli.parameters import CliSession
from runtime.cli.plan_files import find_scene_plan, read_plan_lines
from runtime.cli.views.context_difference import print_difference
from runtime.diagnosis.context_files import JudgedContext, judge_context_files
from runtime.projects.paths import ProjectPaths
from runtime.projects.scene_plans import own_scene_plan
from runtime.writer import JsonContextWriter

_FATAL_STAGES = ("outline", "search", "states", "timeline")
"""Where one of these failed the story was not read whole: the stale context is the better one and stays."""

_Keep = Callable[[SceneMemoryContext], object]
_Plans = Mapping[tuple[int, int], ScenePlan]


@dataclass
class _Rebuilt:
    """A stale context, the one of now, and the language of its story."""

    was: SceneMemoryContext
    now: SceneMemoryContext
    language: str


@dataclass
class _Tally:
    """What became of the stale contexts."""

    stale: int = 0
    rebuilt: list[_Rebuilt] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)


def rebuild_stale(
    session: CliSession, project_id: str, options: BuildOptions, *, plans_file: Path | None
) -> None:
    """Build every stale context of a project again, in story order, and write it over its file.

    A file stays as it is when its scene has no plan, or the story before it could not be read whole.

    Args:
        session: The program's own options.
        project_id: The project.
        options: How contexts are built.
        plans_file: Plans that go before the project's own; None takes those alone.

    Raises:
        UnknownProjectError: When there is no such project; nothing is created.
        InvalidFileError: When the plans or another file cannot be read.
        DatabaseError: When the database fails.
        Exit: When a context could not be read or built; the others are written.
    """
    with opened_builder(session, project_id, options, write_files=False) as builder:
        writer = JsonContextWriter(builder.paths.projects_dir)
        tally = _built_again(builder, project_id, plans_file, keep=writer.write)
    _end(tally, f"{len(tally.rebuilt)} of {tally.stale} stale contexts rebuilt")


def show_stale_differences(
    session: CliSession, project_id: str, options: BuildOptions, *, plans_file: Path | None, as_json: bool
) -> None:
    """Show what building the stale contexts again would change; no file is written.

    Args and errors are those of `rebuild_stale`.
    """
    with opened_builder(session, project_id, options, write_files=False) as builder:
        tally = _built_again(builder, project_id, plans_file, keep=None)
    differences = [(compare_contexts(each.was, each.now), each.language) for each in tally.rebuilt]
    if as_json:
        print_json([difference for difference, _ in differences])
    else:
        for difference, language in differences:
            file = builder.paths.context_file(difference.chapter_index, difference.scene_index)
            print_difference(difference, language=language, file=file)
    _end(tally, f"{len(differences)} of {tally.stale} stale contexts compared, none written")


def _built_again(
    builder: ContextBuilder, project_id: str, plans_file: Path | None, *, keep: _Keep | None
) -> _Tally:
    judged = judge_context_files(builder.stores, project_id)
    stale = [each.context for each in judged if each.is_stale and each.context is not None]
    tally = _Tally(len(stale), failures=[_unreadable(project_id, each) for each in judged if each.problem])
    given = _plans_of(plans_file, tally)
    if not stale:
        return tally
    builder.await_index()
    with progress_bars("contexts") as (progress,):
        for done, each in enumerate(stale, start=1):
            try:
                rebuilt = _rebuilt(builder, each, given)
                if keep is not None:
                    keep(rebuilt.now)
                tally.rebuilt.append(rebuilt)
            except NovelgenError as error:
                tally.failures.append(str(error))
            progress(done, len(stale))
    return tally


def _unreadable(project_id: str, judged: JudgedContext) -> str:
    place = f"--chapter {judged.chapter_index} --scene {judged.scene_index}"
    return f"{judged.problem}; write it with `novelgen context {project_id} {place}`"


def _plans_of(plans_file: Path | None, tally: _Tally) -> _Plans:
    """Return the plans of a file by their scenes; lines that cannot be used are failures."""
    plans: dict[tuple[int, int], ScenePlan] = {}
    for numbered in read_plan_lines(plans_file) if plans_file else []:
        line = numbered.plan
        if line is None:
            tally.failures.append(numbered.problem)
            continue
        place = (line.chapter_index, line.scene_index)
        if place in plans:
            tally.failures.append(
                f"line {numbered.number}, plan {line.plan_id!r}: scene {place[0]}:{place[1]} has a plan on an "
                "earlier line, which counts; keep one"
            )
        plans.setdefault(place, line.scene_plan)
    return plans


def _rebuilt(builder: ContextBuilder, was: SceneMemoryContext, given: _Plans) -> _Rebuilt:
    place = {"chapter_index": was.chapter_index, "scene_index": was.scene_index}
    plan, chapter_plan = _plan(builder.paths, was, given)
    now = builder.build(plan, chapter_plan=chapter_plan, **place)
    fatal = [issue for issue in now.report.issues if issue.stage in _FATAL_STAGES] if now.report else []
    if fatal:
        scene = f"{was.chapter_index}:{was.scene_index}"
        raise ContextWriteError(f"the context of scene {scene} stays as it is: {fatal[0].message}")
    return _Rebuilt(was, now, builder.language(plan, **place))


def _plan(
    paths: ProjectPaths, was: SceneMemoryContext, given: _Plans
) -> tuple[ScenePlan, ChapterPlan | None]:
    place = {"chapter_index": was.chapter_index, "scene_index": was.scene_index}
    plan = given.get((was.chapter_index, was.scene_index))
    if plan is None:
        return find_scene_plan(None, paths, **place)
    return plan, own_scene_plan(paths, **place)[1]


def _end(tally: _Tally, summary: str) -> None:
    for failure in tally.failures:
        report_line(f"error: {failure}")
    report_line(summary if tally.stale else "no context file is stale")
    if tally.failures:
        raise click.exceptions.Exit(ExitCode.FAILED)
