"""`novelgen context`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from runtime.cli.parameters import FILE, FOLDER, TOKENS, CliSession, json_option, project_argument

if TYPE_CHECKING:
    from runtime.cli.context_building import BuildOptions

_EXAMPLES = """\b
Examples:
  novelgen context my-novel --chapter 6 --scene 2
  novelgen context my-novel --chapter 6 --scene 2 --plan plan.json --json
  novelgen context my-novel --chapter 6 --scene 2 --diff
  novelgen context my-novel --plans plans.jsonl --out contexts
  novelgen context my-novel --stale"""


@click.command(epilog=_EXAMPLES)
@project_argument
@click.option("--chapter", type=click.IntRange(min=0), help="Chapter of the planned scene.")
@click.option("--scene", type=click.IntRange(min=0), help="Number of the planned scene within its chapter.")
@click.option(
    "--plan",
    "plan_file",
    type=FILE,
    help="The scene's plan, a ScenePlan as JSON.  [default: the scene in chapters/chapter_NNN_plan.json]",
)
@click.option(
    "--plans",
    "plans_file",
    type=FILE,
    help="Many plans: a JSON object per line with plan_id, chapter_index, scene_index, scene_plan.",
)
@click.option("--out", type=FOLDER, help="With --plans: folder for <plan_id>.json, one per plan.")
@click.option(
    "--characters",
    "characters_file",
    type=FILE,
    help="The characters as JSON.  [default: the project's characters.json, else the stored entities]",
)
@click.option(
    "--budget", "--memory-budget", "memory_budget", type=TOKENS, help="Tokens for memories.  [default: 2000]"
)
@click.option("--state-budget", type=TOKENS, help="Tokens for entity states.  [default: 600]")
@click.option("--timeline-budget", type=TOKENS, help="Tokens for the timeline.  [default: 400]")
@click.option(
    "--model", help="Chat model that plans the retrieval, provider:model.  [default: none, by rules]"
)
@click.option("--explain", is_flag=True, help="Also show queries, scores, what was left out, and timings.")
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
    chapter: int | None,
    scene: int | None,
    plan_file: Path | None,
    plans_file: Path | None,
    out: Path | None,
    characters_file: Path | None,
    memory_budget: int | None,
    state_budget: int | None,
    timeline_budget: int | None,
    model: str | None,
    explain: bool,
    diff: bool,
    stale: bool,
    as_json: bool,
) -> None:
    """Build what the next scene must remember, from its plan.

    Only what lies before the scene is read. The context is shown and written to PROJECT's folder as
    scene_<chapter>_<scene>_memory.json. A store or model that fails makes it thinner, says so, and still
    ends with exit code 0.
    """
    from runtime.cli.context_building import BuildOptions

    budgets = {
        "memory_budget": memory_budget,
        "state_budget": state_budget,
        "timeline_budget": timeline_budget,
    }
    options = BuildOptions(characters_file, budgets, model)
    names_scene = not (plan_file is None and chapter is None and scene is None)
    if stale:
        _require_only_stale(names_scene, out, explain, as_json and not diff)
        _refresh(session, project, options, plans_file=plans_file, diff=diff, as_json=as_json)
    elif plans_file is not None:
        _require_only_batch(names_scene, out, explain or as_json or diff)
        from runtime.cli.actions.context_batch import build_contexts

        build_contexts(session, project, options, plans_file=plans_file, out=Path(str(out)))
    elif chapter is None or scene is None or out is not None:
        raise click.UsageError(
            "give --chapter and --scene for one context, --plans and --out for many, or --stale"
        )
    elif diff:
        _refuse_explain(explain)
        from runtime.cli.actions.context import show_difference

        show_difference(
            session, project, options, place=(chapter, scene), plan_file=plan_file, as_json=as_json
        )
    else:
        from runtime.cli.actions.context import show_context

        show_context(
            session,
            project,
            options,
            place=(chapter, scene),
            plan_file=plan_file,
            explain=explain,
            as_json=as_json,
        )


def _refresh(
    session: CliSession,
    project: str,
    options: BuildOptions,
    *,
    plans_file: Path | None,
    diff: bool,
    as_json: bool,
) -> None:
    from runtime.cli.actions.context_stale import rebuild_stale, show_stale_differences

    if diff:
        show_stale_differences(session, project, options, plans_file=plans_file, as_json=as_json)
    else:
        rebuild_stale(session, project, options, plans_file=plans_file)


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


def _refuse_explain(explain: bool) -> None:
    if explain:
        raise click.UsageError("--diff goes without --explain")
