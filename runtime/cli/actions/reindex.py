"""Building a project's vector index anew."""

from __future__ import annotations

import click

from runtime.cli.error_handling import ExitCode
from runtime.cli.opening import opened_project
from runtime.cli.output import print_pairs, progress_bars, report_line
from runtime.cli.parameters import CliSession
from runtime.ingest.embedding_settings import apply_embedding_settings
from runtime.ingest.indexing import reindex, verify_index


def reindex_project(session: CliSession, project_id: str) -> None:
    """Let the settings of what is embedded hold, build the index anew, verify it and print the counts.

    Raises:
        StoreError: When the database, the embedding model or the index fails; the old index stands.
        Exit: When the new index does not hold what the database says.
    """
    with opened_project(session, project_id) as stores:
        chosen = apply_embedding_settings(stores, project_id)
        with progress_bars("memories") as (progress,):
            result = reindex(stores, project_id, progress=progress)
        verification = verify_index(stores, project_id)
    print_pairs(
        {
            "project": project_id,
            "by the settings": f"{chosen} memories embedded otherwise than before" if chosen else None,
            "indexed": f"{result.indexed} memories, {result.embedded} texts embedded anew",
            "verified": str(verification),
            "waiting": result.waiting,
        }
    )
    if not verification.is_sound:
        report_line(f"error: the index does not agree with the database ({verification}); run it again")
        raise click.exceptions.Exit(ExitCode.FAILED)
