"""`novelgen init`."""

from __future__ import annotations

import click

from runtime.cli.options import project_argument
from runtime.cli.session import CliSession


@click.command(
    epilog="\b\nExamples:\n  novelgen init my-novel\n  novelgen --projects-dir ~/novels init 我的小说 --language zh"
)
@project_argument
@click.option(
    "--language",
    type=click.Choice(["en", "zh"]),
    default="en",
    show_default=True,
    help="Language of the story, for settings.json.",
)
@click.pass_obj
def init(session: CliSession, project: str, language: str) -> None:
    """Make a project's folder, with a commented config.yaml.

    It holds settings.json, characters.json, config.yaml and chapters/. Files that are there already are left
    as they are.
    """
    from runtime.cli.actions.init_project import init_project

    init_project(session, project, language=language)
