"""`novelgen bench`."""

from __future__ import annotations

from pathlib import Path

import click

from runtime.cli.parameters import COUNT, FOLDER, json_option

_EXAMPLES = """\b
Examples:
  novelgen bench books/sign_of_four --work-dir bench-work
  novelgen bench books/sign_of_four --no-records --budgets 1000,2000
  novelgen bench books/sign_of_four --cost 1000,20000,2000/100000"""


@click.command(epilog=_EXAMPLES)
@click.argument("folder", metavar="DIR", type=FOLDER)
@click.option(
    "--records/--no-records",
    default=True,
    show_default=True,
    help="Whether novelgen has the scene records, or the text alone.",
)
@click.option("--budgets", default="300,500,1000,2000", show_default=True, help="Tokens, each scored.")
@click.option(
    "--planner",
    type=click.Choice(["rules", "garbage"]),
    default="rules",
    show_default=True,
    help="garbage: also with models that plan nonsense, which must cost nearly nothing.",
)
@click.option("--peers", is_flag=True, help="Also measure other packages' retrievers that are installed.")
@click.option("--ablation", is_flag=True, help="Also choose with one part of the score changed at a time.")
@click.option(
    "--cost",
    metavar="SIZES",
    help="Measure time and memory instead, at these numbers of memories: 20000, or 2000/100000 for 2,000 in "
    "the project beside another project's 100,000.",
)
@click.option("--limit-plans", type=COUNT, help="Only the first so many plans; with --cost, so many runs.")
@click.option(
    "--work-dir",
    type=FOLDER,
    help="Keeps imported projects and vectors for the next run.  [default: none kept]",
)
@json_option
def bench(
    folder: Path,
    records: bool,
    budgets: str,
    planner: str,
    peers: bool,
    ablation: bool,
    cost: str | None,
    limit_plans: int | None,
    work_dir: Path | None,
    as_json: bool,
) -> None:
    """Measure retrieval on a book with an answer key.

    What novelgen finds stands beside what other ways to search find.

    DIR holds scenes.jsonl, entities.jsonl, records.jsonl, plans.jsonl, meta.json and, where a memory conveys a
    fact in other words, covers.jsonl and shorts.jsonl. far@B is the share of the facts from more than three
    scenes back that stand within the first B tokens.
    """
    from runtime.cli.actions.bench import run_cost, run_quality

    if cost is not None:
        run_cost(folder, sizes=cost, runs=limit_plans, work_dir=work_dir, as_json=as_json)
        return
    run_quality(
        folder,
        records=records,
        budgets=budgets,
        planner=planner,
        peers=peers,
        ablation=ablation,
        limit_plans=limit_plans,
        work_dir=work_dir,
        as_json=as_json,
    )
