"""`novelgen npc secrets` and `check`: what may be told to whom, which is shown and judged for people."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from runtime.doors.cli.error_handling import ExitCode
from runtime.doors.cli.opening import opened_project, story_labels
from runtime.doors.cli.output import print_json, print_table, print_text
from runtime.doors.cli.parameters import MOMENT, CliSession, json_option, project_argument

if TYPE_CHECKING:
    from datetime import datetime

    from runtime.stores import MemoryStores
    from runtime.story.character import Character
    from runtime.story.secrets import SecretState

    Moment = tuple[int, int] | datetime | None

_to_option = click.option("--to", default="player", show_default=True, help="Towards whom: a character, or any name.")
_as_of_moment = click.option(
    "--as-of", type=MOMENT, help="As it was strictly before that session:turn or time.  [default: now]"
)


@click.command(
    epilog="\b\nExamples:\n  novelgen npc secrets village Gregor --to Mira\n"
    "  novelgen npc secrets village Gregor --reveal --json"
)
@project_argument
@click.argument("character")
@_to_option
@_as_of_moment
@click.option("--reveal", is_flag=True, help="Show the texts of locked secrets, too: for you, not for a player.")
@json_option
@click.pass_obj
def secrets(
    session: CliSession, project: str, character: str, to: str, as_of: Moment, reveal: bool, as_json: bool
) -> None:
    """Show how a character's secrets stand towards somebody.

    locked: nothing of it may be told; hinted: the hint may be let slip; unlocked: it may be told; known: it was.
    """
    with opened_project(session, project) as stores:
        states = _opened(stores, project, character).secrets(to=to, as_of=as_of)
        labels = story_labels(stores, project)
    shown = [_secret(each, reveal=reveal) for each in states]
    if as_json:
        print_json(shown)
        return
    headings = ("entity_id", "status", "hint", "text")
    rows = [(each["secret_id"], labels.value(each["standing"]), each["hint"], each.get("text", "")) for each in shown]
    print_table(headings, rows, labels=labels)


@click.command(epilog='\b\nExample:\n  novelgen npc check village Gregor "I pay the bandits with grain." --to player')
@project_argument
@click.argument("character")
@click.argument("reply")
@_to_option
@click.option("--said", default="", help="What it answers: names that stand there are no inventions.")
@_as_of_moment
@json_option
@click.pass_obj
def check(
    session: CliSession, project: str, character: str, reply: str, to: str, said: str, as_of: Moment, as_json: bool
) -> None:
    """Find leaked secrets and invented people in a reply.

    What goes against a slot, such as the player's name, is found, too. Nothing is stored. Exit code 1 says that
    something was found.
    """
    with opened_project(session, project) as stores:
        findings = _opened(stores, project, character).check_reply(reply, to=to, said=said, as_of=as_of)
        labels = story_labels(stores, project)
    if as_json:
        print_json(findings)
    for each in () if as_json else findings:
        print_text(f"{labels.value(each.kind)}: {each.message}")
    if not findings and not as_json:
        print_text(labels["line.nothing_is_wrong_with_it"])
    if findings:
        raise click.exceptions.Exit(ExitCode.FAILED)


def _opened(stores: MemoryStores, project: str, name: str) -> Character:
    from runtime.story.character import Character
    from runtime.story.characters import StoryCharacters

    return Character(stores, project, StoryCharacters(stores, project).open_character(name=name))


def _secret(state: SecretState, *, reveal: bool) -> dict[str, Any]:
    """Return a secret without what its listener may not hear, unless the author asks for it."""
    shown: dict[str, Any] = {"secret_id": state.secret.secret_id, "standing": state.standing, "hint": state.hint}
    if reveal or state.standing in ("unlocked", "known"):
        shown["text"] = state.secret.text
    if reveal:
        shown |= state.secret.model_dump(mode="json", include={"unlock", "never", "hints", "key_words"})
    return shown
