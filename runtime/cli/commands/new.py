"""`novelgen new`."""

from __future__ import annotations

import click

from runtime.cli.session import CliSession


@click.command(epilog="\b\nExample:\n  novelgen new my-novel\n  novelgen new 我的小说 --language zh")
@click.argument("name")
@click.option(
    "--language",
    type=click.Choice(["en", "zh"]),
    default="en",
    show_default=True,
    help="Language of the story.",
)
@click.pass_obj
def new(session: CliSession, name: str, language: str) -> None:
    """Make a new project with an empty memory.

    As `init`, it makes the folder with a commented config.yaml; the memory is there at once, so that characters,
    places, relationships and loops can be added before the first scene.
    """
    from runtime.cli.actions.new_project import new_project

    new_project(session, name, language=language)
