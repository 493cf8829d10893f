"""`novelgen npc`: what a character of a game or a role-play remembers, feels, keeps secret and says."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

from novelgen.errors import UserInputError
from runtime.doors.cli.error_handling import ExitCode
from runtime.doors.cli.labels import ViewLabels
from runtime.doors.cli.opening import opened_project, opened_stores, story_labels
from runtime.doors.cli.output import print_json, print_pairs, print_result, print_table, print_text, report_warning
from runtime.doors.cli.parameters import (
    MOMENT,
    POSITION,
    TOKENS,
    CliSession,
    CommandGroup,
    json_option,
    project_argument,
)

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from novelgen.characters.memory import CharacterMemory
    from novelgen.models.context import ReportIssue
    from novelgen.models.position import StoryPosition
    from runtime.stores import MemoryStores
    from runtime.story.character import Character
    from runtime.story.secrets import SecretState

    Moment = tuple[int, int] | datetime | None

PLAYER = "player"
WAYS = ("own_doing", "witnessed", "told", "overheard", "read")
F = TypeVar("F", bound=Callable[..., Any])


@click.group(
    cls=CommandGroup,
    epilog="\b\nExamples:\n"
    '  novelgen npc remember village Gregor "Ines gave me a lamp." --event-type gift_given --with player --create\n'
    '  novelgen npc recall village Gregor "Do you like the lamp?" --to player\n'
    "  novelgen npc feelings village Gregor\n"
    '  novelgen npc recall my-novel Holmes "Where is the treasure?" --story-as-of 5:1',
)
def npc() -> None:
    """Try what a game's character remembers, feels and says.

    Each character has a memory of its own, which nobody else recalls and no scene searches. CHARACTER is an id, name or
    alias. Moments are session:turn, such as 2:5, or a time. A program does the same and more with
    story.character("Gregor").
    """


def _as_of_moment(command: F) -> F:
    return click.option(
        "--as-of", type=MOMENT, help="As it was strictly before that session:turn or time.  [default: now]"
    )(command)


def _to_option(command: F) -> F:
    return click.option("--to", default=PLAYER, show_default=True, help="Towards whom: a character, or any name.")(
        command
    )


@npc.command(
    epilog="\b\nExamples:\n"
    '  novelgen npc remember village Gregor "I sold the sword." --event-type betrayal --witness Mira --at 1:3\n'
    '  novelgen npc remember village Gregor "The player is called Ines." --slot player_name'
)
@project_argument
@click.argument("character")
@click.argument("text")
@click.option("--event-type", default="", help="conversation, gift_given, promise_made, betrayal, or one of yours.")
@click.option("--importance", type=click.IntRange(1, 10), help="1 to 10.  [default: by the type]")
@click.option("--with", "participants", multiple=True, help="Who took part, such as player; several, one each.")
@click.option("--witness", "witnesses", multiple=True, help="A character who saw it and remembers it, too.")
@click.option("--emotion", default="", help="What the character felt.")
@click.option("--location", default="", help="Where it was.")
@click.option("--slot", help="It is the one value that holds: player_name, npc_death_status:Mira, ….")
@click.option("--how", type=click.Choice(WAYS), default="own_doing", show_default=True, help="How it was learnt.")
@click.option("--heard-from", help="Who told it.")
@click.option("--at", type=MOMENT, help="When it happened: session:turn, or a time.  [default: now]")
@click.option("--create", is_flag=True, help="Make the character, and the project, where there is none.")
@json_option
@click.pass_obj
def remember(
    session: CliSession,
    project: str,
    character: str,
    text: str,
    witnesses: tuple[str, ...],
    create: bool,
    as_json: bool,
    **event: Any,
) -> None:
    """Let a character remember an event, in its own words."""
    with (opened_stores if create else opened_project)(session, project) as stores:
        done = _opened(stores, project, character, create=create).remember(text, witnesses=witnesses, **event)
    _warn(done.issues)
    memory = done.memory
    told = f"{memory.memory_id}: {memory.tier}, importance {memory.importance}"
    ended = [f"put an end to: {', '.join(done.ended)}"] if done.ended else []
    seen = [f"remembered by witnesses, too: {len(done.copies)}"] if done.copies else []
    print_result(done, told, *ended, *seen, as_json=as_json)


@npc.command(
    epilog="\b\nExamples:\n"
    '  novelgen npc recall village Gregor "Do you still wait for my herbs?" --to player --budget 300\n'
    '  novelgen npc recall my-novel Holmes "Where is the treasure?" --story-as-of 5:1'
)
@project_argument
@click.argument("character")
@click.argument("said", default="")
@click.option("--to", help="To whom it will speak.  [default: nobody in particular, who hears no secret]")
@click.option("--budget", type=TOKENS, help="Most tokens of the block.  [default: 800, or the setting]")
@_as_of_moment
@click.option(
    "--story-as-of",
    type=POSITION,
    help="Also what the story let it know before that scene.  [default: its own memories alone]",
)
@click.option("--explain", is_flag=True, help="Show the score of each memory and what it is made of.")
@json_option
@click.pass_obj
def recall(
    session: CliSession,
    project: str,
    character: str,
    said: str,
    to: str | None,
    budget: int | None,
    as_of: Moment,
    story_as_of: StoryPosition | None,
    explain: bool,
    as_json: bool,
) -> None:
    """Show what comes back to a character at a remark.

    It is printed as a prompt holds it. What is kept secret from the listener, and what the character does not know, is
    not in it.
    """
    with opened_project(session, project) as stores:
        found = _opened(stores, project, character).recall(
            said, budget_tokens=budget, as_of=as_of, to=to, story_as_of=story_as_of
        )
        labels = story_labels(stores, project)
    if as_json:
        print_json(found)
        return
    print_text(found.as_prompt() or labels["head.nothing"])
    if explain:
        headings = ("entity_id", "score", "score_parts", "why")
        rows = [
            (each.memory.memory_id, f"{each.score:.2f}", _parts(each.parts), ", ".join(each.why))
            for each in found.items
        ]
        print_table(headings, rows, labels=labels)
        print_pairs({"tokens": f"{found.tokens} / {found.budget_tokens}", "left_out": len(found.left_out)}, labels)
    _warn(found.issues)


@npc.command("list", epilog="\b\nExample:\n  novelgen npc list village Gregor --as-of 2:1")
@project_argument
@click.argument("character")
@_as_of_moment
@click.option("--holding", is_flag=True, help="Leave out what something later put an end to.")
@json_option
@click.pass_obj
def list_command(
    session: CliSession, project: str, character: str, as_of: Moment, holding: bool, as_json: bool
) -> None:
    """List what a character remembers by itself.

    What tells a secret is listed, too: it is for you, and not for a prompt.
    """
    with opened_project(session, project) as stores:
        memories = _opened(stores, project, character).memories(as_of=as_of, with_former=not holding)
        labels = story_labels(stores, project)
    if as_json:
        print_json(memories)
        return
    rows = [
        (
            each.memory_id,
            _when(each, labels),
            each.event_type,
            each.importance,
            labels.value(each.tier),
            labels.value(each.how),
            each.content,
        )
        for each in memories
    ]
    headings = ("entity_id", "when", "kind", "importance", "tier", "how", "text")
    print_table(headings, rows, labels=labels)


@npc.command(epilog="\b\nExample:\n  novelgen npc feelings village Gregor --to Mira --as-of 2:1")
@project_argument
@click.argument("character")
@_to_option
@_as_of_moment
@json_option
@click.pass_obj
def feelings(session: CliSession, project: str, character: str, to: str, as_of: Moment, as_json: bool) -> None:
    """Show what a character feels for somebody, and what moved it."""
    with opened_project(session, project) as stores:
        feeling = _opened(stores, project, character)
        found, moved = feeling.feelings(to, as_of=as_of), feeling.feelings_history(to, as_of=as_of)
        labels = story_labels(stores, project)
    if as_json:
        print_json({"feelings": found, "changes": moved})
        return
    print_text(found.header)
    print_text(labels["line.comma"].join(found.words) or labels["head.nothing"])
    if moved:
        rows = [
            (
                "" if each.session is None else f"{each.session}:{each.turn}",
                labels["line.comma"].join(
                    [
                        *(f"{name} {by:+}" for name, by in each.deltas.items()),
                        *(f"{name} = {value}" for name, value in each.values.items()),
                    ]
                ),
                each.event_type,
            )
            for each in moved
        ]
        print_table(("when", "change", "why"), rows, labels=labels)


@npc.command(
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


@npc.command(epilog='\b\nExample:\n  novelgen npc check village Gregor "I pay the bandits with grain." --to player')
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


@npc.command(
    epilog="\b\nExamples:\n  novelgen npc flags village\n"
    "  novelgen npc flags village --set bridge_burnt --set price=12 --at 2:1"
)
@project_argument
@click.option("--set", "settings", multiple=True, metavar="NAME[=VALUE]", help="Set a flag, to true without a value.")
@click.option("--at", type=MOMENT, help="When the flags are set.  [default: now]")
@_as_of_moment
@json_option
@click.pass_obj
def flags(
    session: CliSession, project: str, settings: tuple[str, ...], at: Moment, as_of: Moment, as_json: bool
) -> None:
    """Show the flags of a game, which unlock secrets; set some.

    A VALUE is JSON (true, 12, "north"), or else taken as text.
    """
    from novelgen.characters.memory import as_moment
    from runtime.story.secrets import StoryFlags

    if at is not None and not settings:
        raise UserInputError("--at says when flags are set; add --set NAME, or read with --as-of")
    with opened_project(session, project) as stores:
        for given in settings:
            name, is_given, value = given.partition("=")
            StoryFlags(stores, project).set_flag(
                name=name, value=_flag_value(value) if is_given else True, at=as_moment(at)
            )
        found = StoryFlags(stores, project).flags(as_of=as_moment(as_of))
        labels = story_labels(stores, project)
    if as_json:
        print_json(found)
    elif found:
        rows = [(name, json.dumps(value, ensure_ascii=False)) for name, value in found.items()]
        print_table(("flag", "value"), rows, labels=labels)
    else:
        print_text(labels["head.nothing"])


def _opened(stores: MemoryStores, project: str, name: str, *, create: bool = False) -> Character:
    from runtime.story.character import Character
    from runtime.story.characters import StoryCharacters

    return Character(stores, project, StoryCharacters(stores, project).open_character(name=name, create=create))


def _secret(state: SecretState, *, reveal: bool) -> dict[str, Any]:
    """Return a secret without what its listener may not hear, unless the author asks for it."""
    shown: dict[str, Any] = {"secret_id": state.secret.secret_id, "standing": state.standing, "hint": state.hint}
    if reveal or state.standing in ("unlocked", "known"):
        shown["text"] = state.secret.text
    if reveal:
        shown |= state.secret.model_dump(mode="json", include={"unlock", "never", "hints", "key_words"})
    return shown


def _flag_value(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


def _when(memory: CharacterMemory, labels: ViewLabels) -> str:
    if memory.known_position is None:
        return f"{memory.known_at:%Y-%m-%d %H:%M}"
    return "{}:{}".format(*memory.known_position)


def _parts(parts: Any) -> str:
    return " × ".join(f"{name} {value:.2f}" for name, value in parts.model_dump().items() if value != 1)


def _warn(issues: Sequence[ReportIssue]) -> None:
    for each in issues:
        report_warning(each.message)
