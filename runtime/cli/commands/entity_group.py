"""The commands that characters and locations share: list, show and edit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from runtime.cli.parameters import (
    POSITION,
    CliSession,
    CommandGroup,
    as_of_option,
    json_option,
    project_argument,
)

if TYPE_CHECKING:
    from novelgen.models.entity import EntityType
    from novelgen.models.position import StoryPosition


def entity_group(entity_type: EntityType, summary: str) -> click.Group:
    """Return a group with `list`, `show` and `edit` for entities of a type.

    Args:
        entity_type: The type, which is also the group's name.
        summary: Help of the group.
    """
    group = CommandGroup(entity_type, help=summary)
    _add_list(group, entity_type)
    _add_show(group, entity_type)
    _add_edit(group, entity_type)
    return group


def from_option(command: Any) -> Any:
    """Give a command the option `--from`."""
    return click.option(
        "--from",
        "start",
        type=POSITION,
        help="Holds on entering that scene.  [default: after the last stored scene]",
    )(command)


def _add_list(group: click.Group, entity_type: EntityType) -> None:
    @group.command("list", epilog=f"\b\nExample:\n  novelgen {entity_type} list my-novel --as-of 4:1")
    @project_argument
    @as_of_option
    @json_option
    @click.pass_obj
    def list_command(session: CliSession, project: str, as_of: StoryPosition | None, as_json: bool) -> None:
        """List them with their names."""
        from runtime.cli.actions.story_entities import list_of_type

        list_of_type(session, project, entity_type, as_of=as_of, as_json=as_json)


def _add_show(group: click.Group, entity_type: EntityType) -> None:
    @group.command(
        "show", epilog=f"\b\nExample:\n  novelgen {entity_type} show my-novel {_example(entity_type)}"
    )
    @project_argument
    @click.argument("name", metavar="ID_OR_NAME")
    @as_of_option
    @json_option
    @click.pass_obj
    def show(
        session: CliSession, project: str, name: str, as_of: StoryPosition | None, as_json: bool
    ) -> None:
        """Show card, profile and state at a point of the story."""
        from runtime.cli.actions.story_entities import show_of_type

        show_of_type(session, project, entity_type, name, as_of=as_of, as_json=as_json)


def _add_edit(group: click.Group, entity_type: EntityType) -> None:
    @group.command(
        "edit",
        epilog=f"\b\nExamples:\n  novelgen {entity_type} edit my-novel {_example(entity_type)} description='…'\n"
        f"  novelgen {entity_type} edit my-novel {_example(entity_type)} 'goals=[\"go home\"]' --from 4:1",
    )
    @project_argument
    @click.argument("name", metavar="ID_OR_NAME")
    @click.argument("changes", metavar="FIELD=VALUE", nargs=-1, required=True)
    @from_option
    @click.pass_obj
    def edit(
        session: CliSession, project: str, name: str, changes: tuple[str, ...], start: StoryPosition | None
    ) -> None:
        """Change fields of the card, the profile or the state.

        A VALUE is JSON where it can be read as JSON, else a text. Fields that belong to neither card nor profile
        are attributes of the state.
        """
        from runtime.cli.actions.story_entities import edit_entity

        edit_entity(session, project, entity_type, name, changes, start=start)


def _example(entity_type: EntityType) -> str:
    return "C0" if entity_type == "character" else "L0"
