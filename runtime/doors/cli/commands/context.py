"""`novelgen context`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from runtime.doors.cli.error_handling import ExitCode
from runtime.doors.cli.opening import opened_stores
from runtime.doors.cli.output import is_terminal, print_json, progress_bars, report_line, report_warning
from runtime.doors.cli.parameters import CHAPTER, FILE, FOLDER, TOKENS, CliSession, json_option, project_argument

if TYPE_CHECKING:
    from novelgen.models.context import SceneMemoryContext
    from novelgen.models.knowledge import KnowledgeMode
    from runtime.stores import MemoryStores
    from runtime.story.contexts import BuiltContext, ContextOptions
    from runtime.story.scene_plans import PlannedScene

_EXAMPLES = """\b
Examples:
  novelgen context my-novel --chapter 6 --scene 2
  novelgen context my-novel --chapter 6 --purpose "Ada opens the door" --with Ada --at "the Salt House"
  novelgen context my-novel plan.json --json
  novelgen context my-novel plan.json --pov Ines --knowledge exclude
  novelgen context my-novel --chapter 6 --scene 2 --diff
  novelgen context my-novel --plans plans.jsonl --out contexts
  novelgen context my-novel --stale"""


@click.command(epilog=_EXAMPLES)
@project_argument
@click.argument("plan_argument", metavar="[PLAN]", required=False, type=FILE)
@click.option("--chapter", type=CHAPTER, help="Chapter of the planned scene.  [default: the one after what is stored]")
@click.option(
    "--scene",
    type=CHAPTER,
    help="Number of the planned scene within its chapter.  [default: the one after what is stored of it]",
)
@click.option(
    "--plan",
    "plan_option",
    type=FILE,
    help="The scene's plan as JSON, or its chapter's plan; as PLAN.  [default: the scene in "
    "chapters/chapter_NNN_plan.json]",
)
@click.option("--purpose", help="In place of a file: what the scene is for.")
@click.option("--with", "characters", multiple=True, metavar="NAME", help="Who appears; repeatable.")
@click.option("--at", "location", metavar="PLACE", help="Where the scene plays.")
@click.option(
    "--pov", metavar="NAME", help="From whose point of view: a name, an alias or an id.  [default: the plan's]"
)
@click.option(
    "--knowledge",
    type=click.Choice(("mark", "separate", "exclude")),
    help="What becomes of what the point of view does not know: said on each line, set apart, or left out.  "
    "[default: separate where there is a point of view]",
)
@click.option("--action", "actions", multiple=True, help="What happens, in order; repeatable.")
@click.option(
    "--plans",
    "plans_file",
    type=FILE,
    help="Many plans: a JSON object per line with plan_id, chapter_index, scene_index, scene_plan; or the plan "
    "of a chapter.",
)
@click.option("--out", type=FOLDER, help="With --plans: folder for <plan_id>.json, one per plan.")
@click.option(
    "--characters",
    "characters_file",
    type=FILE,
    help="The characters as JSON.  [default: the project's characters.json, else the stored entities]",
)
@click.option("--budget", "--memory-budget", "memory_budget", type=TOKENS, help="Tokens for memories.  [default: 2000]")
@click.option("--state-budget", type=TOKENS, help="Tokens for entity states.  [default: 600]")
@click.option("--timeline-budget", type=TOKENS, help="Tokens for the timeline.  [default: 400]")
@click.option("--model", help="Chat model that plans the retrieval, provider:model.  [default: none, by rules]")
@click.option("--strict", is_flag=True, help="End with exit code 2 where the model cannot be had, not by rules.")
@click.option("--top-k", type=TOKENS, help="At most so many memories.  [default: as many as the budget holds]")
@click.option("--all", "shows_all", is_flag=True, help="On a terminal: everything, not the first screen of it.")
@click.option(
    "--explain", is_flag=True, help="Also show queries, scores, what was left out, and timings; with --full-report."
)
@click.option(
    "--full-report", is_flag=True, help="Keep every score and every field in the file and in --json; twice the size."
)
@click.option(
    "--diff",
    is_flag=True,
    help="Show what changed against the context file, which stays as it is; without --diff it is rewritten.",
)
@click.option(
    "--stale",
    is_flag=True,
    help="Rebuild every context file whose earlier story has changed; with --diff only show what would change.",
)
@json_option
@click.pass_obj
def context(
    session: CliSession,
    project: str,
    plan_argument: Path | None,
    chapter: int | None,
    scene: int | None,
    plan_option: Path | None,
    purpose: str | None,
    characters: tuple[str, ...],
    location: str | None,
    pov: str | None,
    knowledge: KnowledgeMode | None,
    actions: tuple[str, ...],
    plans_file: Path | None,
    out: Path | None,
    characters_file: Path | None,
    memory_budget: int | None,
    state_budget: int | None,
    timeline_budget: int | None,
    model: str | None,
    strict: bool,
    top_k: int | None,
    shows_all: bool,
    explain: bool,
    full_report: bool,
    diff: bool,
    stale: bool,
    as_json: bool,
) -> None:
    """Build what the next scene must remember, from its plan.

    The plan is PLAN, the project's own, or said: --purpose, --with, --at. Only what lies before the scene is read.
    A terminal gets the first screen of the context, --all and a pipe everything. It is written to PROJECT's folder as
    scene_<chapter>_<scene>_memory.json. A store or model that fails makes it thinner, says so, and still ends with
    exit code 0.
    """

    if plan_argument is not None and plan_option is not None:
        raise click.UsageError("give PLAN or --plan, not both")
    plan_file = plan_argument or plan_option
    spoken = _spoken_plan(purpose, characters, location, actions)
    if spoken is not None and plan_file is not None:
        raise click.UsageError("a plan is read from a file or said by --purpose, --with, --at; not both")
    names_scene = any(each is not None for each in (plan_file, spoken, chapter, scene))
    if stale:
        _require_only_stale(names_scene, out, explain, as_json and not diff)
    elif plans_file is not None:
        _require_only_batch(names_scene, out, explain or as_json or diff)
    elif not names_scene or out is not None:
        raise click.UsageError(
            "give --chapter and --scene, a PLAN or --purpose for one context, --plans and --out for many, or --stale"
        )
    elif diff and explain:
        raise click.UsageError("--diff goes without --explain")
    from runtime.story.contexts import ContextOptions, StoryContexts
    from runtime.story.scene_plans import StoryScenePlans

    given = {
        "memory_budget": memory_budget,
        "state_budget": state_budget,
        "timeline_budget": timeline_budget,
        "knowledge": knowledge,
        "top_k": top_k,
        "full_report": True if explain or full_report else None,
    }
    memory = {name: value for name, value in given.items() if value is not None} or None
    options = ContextOptions(characters_file, must_have_model=strict, pov=pov or "")
    with opened_stores(session, project, model=model, memory=memory) as stores:
        if stale:
            _rebuild_stale(stores, project, options, plans_file, diff=diff, as_json=as_json)
        elif plans_file is not None:
            _build_many(stores, project, options, plans_file, Path(str(out)))
        else:
            planned = StoryScenePlans(stores, project).find_planned_scene(
                chapter_index=chapter, scene_index=scene, plan_file=plan_file, spoken_plan=spoken
            )
            if diff:
                _show_difference(stores, project, options, planned, as_json=as_json)
            else:
                is_short = is_terminal() and not (shows_all or explain)
                built = StoryContexts(stores, project).build_context(scene=planned, options=options)
                _show_context(stores, built, is_short=is_short, explain=explain, as_json=as_json)


def _show_context(stores: MemoryStores, built: BuiltContext, *, is_short: bool, explain: bool, as_json: bool) -> None:
    from novelgen.models.context import context_document
    from runtime.doors.cli.views import print_context, print_explanation, print_first_screen

    if as_json:
        print_json(context_document(built.context, is_full=stores.settings.memory.full_report))
        _report_not_written(built.context)
        return
    if is_short:
        print_first_screen(built.context, language=built.language)
        return
    print_context(built.context, language=built.language, written_to=built.file)
    if explain and built.context.report is not None:
        print_explanation(built.context.report, language=built.language)


def _report_not_written(context: SceneMemoryContext) -> None:
    """Say on stderr what is missing on disk, since nobody looks for it in the JSON."""
    for issue in context.report.issues if context.report else []:
        if issue.stage == "write":
            report_warning(f"the context is not written: {issue.message}")


def _show_difference(
    stores: MemoryStores, project: str, options: ContextOptions, planned: PlannedScene, *, as_json: bool
) -> None:
    from runtime.doors.cli.views import print_difference
    from runtime.story.contexts import StoryContexts

    compared = StoryContexts(stores, project).compare_context(scene=planned, options=options)
    if as_json:
        print_json(compared.difference)
    else:
        print_difference(compared.difference, language=compared.language, file=compared.file)


def _build_many(stores: MemoryStores, project: str, options: ContextOptions, plans_file: Path, folder: Path) -> None:
    from runtime.story.contexts import StoryContexts

    with progress_bars("contexts") as (progress,):
        report = StoryContexts(stores, project).build_contexts(
            plans_file=plans_file, folder=folder, options=options, progress=progress
        )
    _end(report.failures, f"{report.written} of {report.asked} contexts written to {folder}")


def _rebuild_stale(
    stores: MemoryStores, project: str, options: ContextOptions, plans_file: Path | None, *, diff: bool, as_json: bool
) -> None:
    from runtime.doors.cli.views import print_difference
    from runtime.story.contexts import StoryContexts

    with progress_bars("contexts") as (progress,):
        report = StoryContexts(stores, project).rebuild_stale_contexts(
            plans_file=plans_file, write_files=not diff, options=options, progress=progress
        )
    compared = report.compared
    if diff and as_json:
        print_json([each.difference for each in compared])
    elif diff:
        for each in compared:
            print_difference(each.difference, language=each.language, file=each.file)
    count, of_all = len(compared), report.stale
    summary = f"{count} of {of_all} stale contexts {'compared, none written' if diff else 'rebuilt'}"
    _end(report.failures, summary if report.stale else "no context file is stale")


def _end(failures: list[str], summary: str) -> None:
    for failure in failures:
        report_line(f"error: {failure}")
    report_line(summary)
    if failures:
        raise click.exceptions.Exit(ExitCode.FAILED)


def _spoken_plan(
    purpose: str | None, characters: tuple[str, ...], location: str | None, actions: tuple[str, ...]
) -> dict[str, Any] | None:
    """Return the fields of a plan that was said on the command line, or None where nothing was."""
    if purpose is None and location is None and not characters and not actions:
        return None
    return {
        "purpose": purpose or "",
        "location": location or "",
        "characters": list(characters),
        "key_actions": list(actions),
    }


def _require_only_batch(names_scene: bool, out: Path | None, is_shown: bool) -> None:
    if out is None:
        raise click.UsageError("--plans needs --out DIR, the folder for the contexts")
    if is_shown or names_scene:
        raise click.UsageError(
            "--plans goes with --out, and without --chapter, --scene, --plan, --json, --diff or --explain"
        )


def _require_only_stale(names_scene: bool, out: Path | None, explain: bool, is_shown: bool) -> None:
    if names_scene or out is not None or explain:
        raise click.UsageError("--stale goes without --chapter, --scene, --plan, --out or --explain")
    if is_shown:
        raise click.UsageError("--stale writes files and prints no JSON; add --diff to see what would change")
