"""`novelgen context`."""

from collections.abc import Mapping
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import click

from novelgen.models.context import context_document
from runtime.doors.cli import output
from runtime.doors.cli.error_handling import issues_told_in_answer
from runtime.doors.cli.labels import view_labels_for
from runtime.doors.cli.parameters import CliSession, opened_stores
from runtime.doors.cli.views import print_context, print_difference, print_explanation, print_first_screen
from runtime.stores import MemoryStores
from runtime.story.base import chapter_names_of
from runtime.story.contexts import BuiltContext, ContextOptions, StoryContexts
from runtime.story.scene_plans import StoryScenePlans

_OF_MEMORY = ("memory_budget", "state_budget", "timeline_budget", "knowledge", "top_k", "selector")
"""Options that are settings of a project's memory, for once."""


def context(session: CliSession, project: str, *, diff: bool, explain: bool, as_json: bool, **arguments: Any) -> None:
    """Do `novelgen context`."""
    plans_file, out = arguments["plans_file"], arguments["out"]
    if arguments["plan_argument"] is not None and arguments["plan_option"] is not None:
        raise click.UsageError("give PLAN or --plan, not both")
    plan_file = arguments["plan_argument"] or arguments["plan_option"]
    plan_fields = _spoken_plan(arguments)
    place = {"chapter_index": arguments["chapter"], "scene_index": arguments["scene"]}
    if plan_fields is not None and plan_file is not None:
        raise click.UsageError("a plan is read from a file or said by --purpose, --with, --at; not both")
    names_scene = any(item is not None for item in (plan_file, plan_fields, *place.values()))
    if arguments["stale"]:
        if names_scene or out is not None or explain:
            raise click.UsageError("--stale goes without --chapter, --scene, --plan, --out or --explain")
        if as_json and not diff:
            raise click.UsageError("--stale writes files and prints no JSON; add --diff to see what would change")
    elif plans_file is not None:
        if out is None:
            raise click.UsageError("--plans needs --out DIR, the folder for the contexts")
        if (explain or as_json or diff) or names_scene:
            raise click.UsageError(
                "--plans goes with --out, and without --chapter, --scene, --plan, --json, --diff or --explain"
            )
    elif not names_scene or out is not None:
        raise click.UsageError(
            "give --chapter and --scene, a PLAN or --purpose for one context, --plans and --out for many, or --stale"
        )
    elif diff and explain:
        raise click.UsageError("--diff goes without --explain")
    memory = {name: arguments[name] for name in _OF_MEMORY if arguments[name] is not None}
    if explain or arguments["full_report"]:
        memory["full_report"] = True
    options = ContextOptions(
        arguments["characters_file"], must_have_model=arguments["strict"], pov=arguments["pov"] or ""
    )
    with opened_stores(session, project, model=arguments["model"], memory=memory or None) as stores:
        story = StoryContexts(stores, project)
        if arguments["stale"]:
            _rebuild_stale(story, options, plans_file, diff=diff, as_json=as_json)
        elif plans_file is not None:
            folder = Path(str(out))
            with output.progress_bars("contexts") as (progress,):
                report = story.build_contexts(plans_file=plans_file, folder=folder, options=options, progress=progress)
            output.report_end(report.failures, f"{report.written} of {report.asked} contexts written to {folder}")
        else:
            scene_plan = StoryScenePlans(stores, project).find_planned_scene(
                **place, plan_file=plan_file, spoken_plan=plan_fields
            )
            if not diff:
                with nullcontext() if as_json else issues_told_in_answer():
                    built = story.build_context(scene=scene_plan, options=options)
                is_short = output.is_terminal() and not (arguments["shows_all"] or explain)
                _show_context(stores, built, is_short=is_short, explain=explain, as_json=as_json)
                return
            compared = story.compare_context(scene=scene_plan, options=options)
            if as_json:
                output.print_json(compared.difference)
            else:
                print_difference(compared.difference, view_labels_for(compared.language), compared.file)


def _show_context(stores: MemoryStores, built: BuiltContext, *, is_short: bool, explain: bool, as_json: bool) -> None:
    if as_json:
        output.print_json(context_document(built.context, is_full=stores.settings.memory.full_report))
        # On stderr, since nobody looks for it in the JSON.
        for issue in built.context.report.issues if built.context.report else []:
            if issue.stage == "write":
                output.report_warning(f"the context is not written: {issue.message}")
        return
    labels = view_labels_for(built.language).with_names(lambda: chapter_names_of(stores, built.context.project_id))
    if is_short:
        print_first_screen(built.context, labels)
        return
    print_context(built.context, labels, built.file)
    if explain:
        print_explanation(built.context.report, labels)


def _rebuild_stale(
    story: StoryContexts, options: ContextOptions, plans_file: Path | None, *, diff: bool, as_json: bool
) -> None:
    with output.progress_bars("contexts") as (progress,):
        report = story.rebuild_stale_contexts(
            plans_file=plans_file, write_files=not diff, options=options, progress=progress
        )
    compared = report.compared
    if diff and as_json:
        output.print_json([compared_context.difference for compared_context in compared])
    elif diff:
        for compared_context in compared:
            print_difference(
                compared_context.difference, view_labels_for(compared_context.language), compared_context.file
            )
    count, of_all = len(compared), report.stale
    summary = f"{count} of {of_all} stale contexts {'compared, none written' if diff else 'rebuilt'}"
    output.report_end(report.failures, summary if report.stale else "no context file is stale")


def _spoken_plan(requested_fields: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the fields of a plan that was said on the command line, or None where nothing was."""
    stated_fields = {"purpose": requested_fields["purpose"], "location": requested_fields["location"]}
    list_fields = {"characters": list(requested_fields["characters"]), "key_actions": list(requested_fields["actions"])}
    if not any(list_fields.values()) and all(item is None for item in stated_fields.values()):
        return None
    return {name: text or "" for name, text in stated_fields.items()} | list_fields
