"""`novelgen entity candidates`, `confirm` and `drop`: names that the text offers and no entity bears."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from runtime.doors.cli.opening import opened_project, story_labels
from runtime.doors.cli.output import print_json, print_result, print_table, print_text, report_indexing
from runtime.doors.cli.parameters import COUNT, CliSession, as_of_option, json_option, project_argument

if TYPE_CHECKING:
    from novelgen.language.candidates import NameCandidate
    from novelgen.language.sightings import CandidateKind
    from novelgen.models.entity import EntityType
    from novelgen.models.position import StoryPosition
    from runtime.doors.cli.labels import ViewLabels
    from runtime.story.name_candidates import CandidateDecision

_ENTITY_KINDS = ("character", "location", "item", "faction", "term")

SHOWN_VARIANTS = 8
"""So many names of a candidate a row shows; --json has them all."""


@click.command(
    epilog="\b\nExamples:\n  novelgen entity candidates my-novel\n"
    "  novelgen entity candidates my-novel --kind character --as-of 4:1"
)
@project_argument
@click.option("--kind", type=click.Choice((*_ENTITY_KINDS, "unknown")), help="Only of this kind.  [default: all]")
@click.option(
    "--min-count", type=COUNT, help="Only what the text names so many times.  [default: 3; rarer in a short story]"
)
@as_of_option
@json_option
@click.pass_obj
def candidates(
    session: CliSession,
    project: str,
    kind: CandidateKind | None,
    min_count: int | None,
    as_of: StoryPosition | None,
    as_json: bool,
) -> None:
    """List who and what the text names that is no entity yet.

    Rules find them, without a model. They help searching and are no facts: confirm, merge or drop them.
    """
    from runtime.story.name_candidates import StoryNameCandidates

    with opened_project(session, project) as stores:
        found = StoryNameCandidates(stores, project).list_candidates(kind=kind, min_count=min_count, as_of=as_of)
        labels = story_labels(stores, project)
    if as_json:
        print_json(found)
        return
    rows = [
        (
            each.name,
            labels.value(each.kind),
            each.count,
            each.scenes,
            each.speaks or "",
            f"{each.first} - {each.last}",
            _variants(each, labels) + (f"  = {each.same_as}?" if each.same_as else ""),
        )
        for each in found.candidates
    ]
    counts = map(labels.value, ("times", "in scenes", "speaks"))
    print_table((labels.names, labels.kind, *counts, labels.place, labels.value("also")), rows, wide=6)
    asked = next((each for each in found.candidates if each.same_as), None)
    if asked is not None:
        told = labels.value("“= {}?” asks whether it is the same one; if so: {}")
        print_text(told.format(asked.same_as, f'novelgen entity merge {project} "{asked.same_as}" "{asked.name}"'))
    if rows:
        print_text(
            labels.value("{} makes one an entity; merge and drop: {}").format(
                f"novelgen entity confirm {project} NAME", "novelgen entity --help"
            )
        )


@click.command(
    epilog='\b\nExamples:\n  novelgen entity confirm my-novel "Mary Grey"\n'
    '  novelgen entity confirm my-novel "the Light" --kind location'
)
@project_argument
@click.argument("name")
@click.option("--kind", type=click.Choice(_ENTITY_KINDS), help="What it is.  [default: as the text suggests]")
@json_option
@click.pass_obj
def confirm(session: CliSession, project: str, name: str, kind: EntityType | None, as_json: bool) -> None:
    """Make a candidate an entity, known from the first scene that names it on; it can be undone."""
    from runtime.story.name_candidates import StoryNameCandidates

    with opened_project(session, project) as stores:
        done = StoryNameCandidates(stores, project).confirm_candidate(name=name, kind=kind)
    report_indexing(done.indexing, project)
    entity = done.entity
    told = f"added {entity.entity_id}  {', '.join(entity.names())}" if entity else name
    _print_decision(done, told, project, as_json=as_json)


@click.command(epilog='\b\nExample:\n  novelgen entity drop my-novel "Hum"')
@project_argument
@click.argument("name")
@json_option
@click.pass_obj
def drop(session: CliSession, project: str, name: str, as_json: bool) -> None:
    """Never offer a candidate again; it can be undone. Its text stays as it is."""
    from runtime.story.name_candidates import StoryNameCandidates

    with opened_project(session, project) as stores:
        done = StoryNameCandidates(stores, project).drop_candidate(name=name)
    _print_decision(done, f"{done.candidate.name} is not offered again", project, as_json=as_json)


def print_merged_candidate(done: CandidateDecision, project: str, *, as_json: bool) -> None:
    """Print what a candidate became part of."""
    report_indexing(done.indexing, project)
    names = ", ".join(done.candidate.names())
    if done.entity is not None:
        told = f"{done.entity.entity_id} ({done.entity.name}) is named {names}, too"
    else:
        told = f"{names} is offered as {done.joined.name if done.joined else done.change.entity_id}"
    _print_decision(done, told, project, as_json=as_json)


def _print_decision(done: CandidateDecision, told: str, project: str, *, as_json: bool) -> None:
    undo = f"undo: novelgen entity undo {project} {done.change.change_id}"
    print_result(done, told, undo, as_json=as_json)


def _variants(candidate: NameCandidate, labels: ViewLabels) -> str:
    others = [f"{each.name} {each.count}" for each in candidate.variants if each.name != candidate.name]
    more = len(others) - SHOWN_VARIANTS
    shown = ", ".join(others[:SHOWN_VARIANTS])
    return f"{shown} {labels.value('and {} more').format(more)}" if more > 0 else shown
