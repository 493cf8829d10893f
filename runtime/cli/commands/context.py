"""`novelgen context`."""

from __future__ import annotations

from pathlib import Path

import click

from runtime.cli.options import FILE, FOLDER, TOKENS, json_option, project_argument
from runtime.cli.session import CliSession

_EXAMPLES = """\b
Examples:
  novelgen context my-novel --chapter 6 --scene 2
  novelgen context my-novel --chapter 6 --scene 2 --plan plan.json --json
  novelgen context my-novel --plans plans.jsonl --out contexts"""


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
    as_json: bool,
) -> None:
    """Build what the next scene must remember, from its plan.

    Only what lies before the scene is read. The context is shown and written to PROJECT's folder as
    scene_<chapter>_<scene>_memory.json. A store or model that fails makes it thinner, says so, and still
    ends with exit code 0.
    """
    budgets = {
        "memory_budget": memory_budget,
        "state_budget": state_budget,
        "timeline_budget": timeline_budget,
    }
    if plans_file is not None:
        _require_only_batch(out, plan_file, chapter, scene, explain or as_json)
        from runtime.cli.actions.context_batch import build_contexts

        build_contexts(
            session,
            project,
            plans_file=plans_file,
            out=Path(str(out)),
            characters_file=characters_file,
            budgets=budgets,
            model=model,
        )
        return
    if chapter is None or scene is None or out is not None:
        raise click.UsageError("give --chapter and --scene for one context, or --plans and --out for many")
    from runtime.cli.actions.context import show_context

    show_context(
        session,
        project,
        place=(chapter, scene),
        plan_file=plan_file,
        characters_file=characters_file,
        budgets=budgets,
        model=model,
        explain=explain,
        as_json=as_json,
    )


def _require_only_batch(
    out: Path | None, plan_file: Path | None, chapter: int | None, scene: int | None, is_shown: bool
) -> None:
    if out is None:
        raise click.UsageError("--plans needs --out DIR, the folder for the contexts")
    if is_shown or not (plan_file is None and chapter is None and scene is None):
        raise click.UsageError(
            "--plans goes with --out, and without --chapter, --scene, --plan, --json or --explain"
        )
