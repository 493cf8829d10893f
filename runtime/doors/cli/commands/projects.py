"""Projects and their care: `novelgen init`, `projects`, `delete`, `index`, `reindex`, `doctor`."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from novelgen.errors import ConfigurationError
from runtime.doors.cli import output, parameters
from runtime.doors.cli.error_handling import ExitCode
from runtime.doors.cli.labels import ViewLabels, in_words, view_labels_for
from runtime.story.projects import MadeFiles, ProjectOverview, ProjectTrust, StoryProjects, look_at_trust

if TYPE_CHECKING:
    from runtime.care.checks import Finding


def init(session: parameters.CliSession, project: str, language: str | None, as_json: bool) -> None:
    """Do `novelgen init`."""
    with parameters.opened_stores(session, project) as stores:
        files = StoryProjects(stores, project).init_project(language=language)
    hint = f"\nCards may come before the first scene: `novelgen card add {project} NAME`."
    output.print_result(files, *_made_lines(files), hint, as_json=as_json)


def projects(session: parameters.CliSession, as_json: bool) -> None:
    """Do `novelgen projects`."""
    with closing(parameters.opened_shelf(session)) as stores:
        overviews = stores.overviews()
    if as_json:
        output.print_json(overviews)
    elif not overviews:
        output.print_text(in_words(f"no projects in {str(session.projects_dir)!r}; make one with `novelgen init NAME`"))
    else:
        headings = ("project", "language", "scenes", "memories", "entities", "title")
        rows = [
            (
                project_overview.project_id,
                project_overview.language,
                project_overview.scenes,
                project_overview.memories,
                project_overview.entities,
                _title(project_overview),
            )
            for project_overview in overviews
        ]
        output.print_table(headings, rows, labels=view_labels_for())


def delete(session: parameters.CliSession, project: str, is_confirmed: bool, as_json: bool) -> None:
    """Do `novelgen delete`."""
    from runtime.doors.http.settings import running_server

    url = running_server(session.projects_dir)
    if url is not None:
        raise ConfigurationError(f"a server has these projects ({url}); delete {project!r} there, or end it first")
    with parameters.opened_stores(session, project) as stores:
        folder = stores.paths(project).folder
        parameters.require_confirmation(
            f"delete project {project!r} with all that is stored of it and all files in {str(folder)!r}",
            is_confirmed=is_confirmed,
        )
        deleted = StoryProjects(stores, project).delete_project(confirm=project)
    text = f"deleted {deleted.project_id}: {deleted.scenes} scenes, {deleted.memories} memories, {deleted.files} files"
    output.print_result(deleted, text, as_json=as_json)


def trust(session: parameters.CliSession, project: str, remove: bool, is_confirmed: bool, as_json: bool) -> None:
    """Do `novelgen trust`."""
    looked_at = look_at_trust(session.projects_dir, project)
    if remove:
        looked_at = look_at_trust(session.projects_dir, project, is_confirmed=False)
    elif not looked_at.is_trusted:
        listing = "".join(f"\n  {name}: {address}" for name, address in _shown_addresses(looked_at).items())
        parameters.require_confirmation(
            f"let config.yaml of project {project!r} in {str(looked_at.folder)!r} use these addresses, also with your "
            f"keys?{listing}\n",
            is_confirmed=is_confirmed,
        )
        looked_at = look_at_trust(session.projects_dir, project, is_confirmed=True)
    if not looked_at.addresses:
        text = "config.yaml names no address; nothing needs to be trusted"
    else:
        text = "trusted" if looked_at.is_trusted else "not trusted: its addresses get none of your keys"
    shown_project_trust = looked_at.model_copy(update={"addresses": _shown_addresses(looked_at)})
    output.print_result(shown_project_trust, text, as_json=as_json)


def _shown_addresses(looked_at: ProjectTrust) -> dict[str, str]:
    """Return addresses without the passwords that they may hold."""
    return {name: re.sub(r"(?<=://)[^/@\s]*@", "…@", address) for name, address in looked_at.addresses.items()}


def _title(overview: ProjectOverview) -> str:
    return in_words(overview.problem) if overview.problem else overview.name


def _made_lines(files: MadeFiles) -> list[str]:
    made_ids = [f"made  {file}" for file in files.made] + [f"kept  {file}" for file in files.kept]
    text = f"\nPut finished chapters into {files.chapters} as chapter_001.json, .txt or .md, then run:"
    return [*made_ids, text, f"  novelgen ingest {files.project_id}"]


def index(session: parameters.CliSession, project: str, as_json: bool) -> None:
    """Do `novelgen index`."""
    from runtime.story.condition import StoryUpkeep

    bars = output.progress_bars("meaning, characters")
    with parameters.opened_project(session, project) as stores, resuming(project), bars as (progress,):
        result = StoryUpkeep(stores, project).index(progress=progress)
        labels = parameters.story_labels(stores, project)
    if as_json:
        output.print_json(result)
        return
    done_text = labels["line.indexed_now"].format(result.indexed, result.embedded)
    output.print_pairs(
        {"project": project, "indexed": done_text, "index": output.index_state(result, project, labels)}, labels
    )


@contextmanager
def resuming(project: str, *, command: str = "") -> Iterator[None]:
    """Report, after an interrupt, the stored part and the command to continue."""
    try:
        yield
    except KeyboardInterrupt:
        repeat = f"repeat `{command}` if text is missing; " if command else ""
        output.report_line(
            f"stopped: what was stored is whole and found by words; {repeat}"
            f"`novelgen index {project}` goes on with its meaning"
        )
        raise


def doctor(
    session: parameters.CliSession,
    project: str | None,
    repair: bool,
    no_network: bool,
    bundle: Path | None,
    as_json: bool,
) -> None:
    """Do `novelgen doctor`."""
    if repair and project is None:
        raise click.UsageError("--repair needs PROJECT")
    from runtime.story.condition import diagnose, shareable

    with parameters.opened_stores(session, project) as stores:
        labels = view_labels_for() if project is None else parameters.labels_where_stored(stores, project)
        language = "en" if as_json else labels.language
        diagnosis = diagnose(stores, project, repair=repair, ask_network=not no_network, language=language)
    if as_json:
        output.print_json(diagnosis)
    else:
        machine = {"versions": diagnosis.versions, "settings": diagnosis.settings}
        # Who asks after a story is told of it; what is fine is counted, and stands in --json.
        fields = {"counts": diagnosis.counts} if diagnosis.counts else machine
        for heading, pairs in fields.items():
            if pairs:
                output.print_heading(labels[f"line.{heading}"])
                output.print_pairs(
                    {in_words(name): in_words(str(value)) for name, value in pairs.items() if value is not None}
                )
        for heading, findings in (("repairs", diagnosis.repairs), ("findings", diagnosis.findings)):
            wrong = [finding for finding in findings if finding.level != "ok" or heading == "repairs"]
            if findings:
                output.print_heading(labels[f"line.{heading}"])
            if wrong:
                output.print_table(
                    ("level", "what", "finding"), [_row(finding, labels) for finding in wrong], labels=labels
                )
            if len(wrong) < len(findings):
                output.print_text(labels["line.checks_fine"].format(len(findings) - len(wrong)))
    if bundle is not None:
        bundle.write_text(json.dumps(shareable(diagnosis), ensure_ascii=False, indent=2) + "\n", encoding="utf-8")
        output.report_line(f"wrote {bundle}: no text, name, id or path of a story is in it")
    if diagnosis.is_broken:
        raise click.exceptions.Exit(ExitCode.STORE_UNAVAILABLE)


def reindex(session: parameters.CliSession, project: str, as_json: bool) -> None:
    """Do `novelgen reindex`."""
    from runtime.story.condition import StoryUpkeep

    with parameters.opened_project(session, project) as stores, output.progress_bars("memories") as (progress,):
        result = StoryUpkeep(stores, project).reindex(progress=progress)
        labels = parameters.story_labels(stores, project)
    if as_json:
        output.print_json(result)
    else:
        indexing, chosen_count = result.indexing, result.chosen
        output.print_pairs(
            {
                "project": project,
                "by_the_settings": labels["line.embedded_otherwise"].format(chosen_count) if chosen_count else None,
                "indexed": labels["line.indexed_anew"].format(indexing.indexed, indexing.embedded),
                "verified": in_words(str(result.verification)),
                "waiting": indexing.waiting,
            },
            labels,
        )
    if not result.is_sound:
        output.report_line(f"error: the index does not agree with the database ({result.verification}); run it again")
        raise click.exceptions.Exit(ExitCode.FAILED)


def _row(finding: Finding, labels: ViewLabels) -> tuple[str, str, str]:
    fix = f"\n  → {in_words(finding.fix)}" if finding.fix else ""
    return labels.value(finding.level), in_words(finding.what), in_words(finding.message) + fix
