"""`novelgen npc secrets` and `check`: what may be told to whom, which is shown and judged for people."""

from datetime import datetime
from typing import Any

import click

from runtime.doors.cli.error_handling import ExitCode
from runtime.doors.cli.output import print_json, print_table, print_text
from runtime.doors.cli.parameters import CliSession, opened_project, story_labels
from runtime.stores import MemoryStores
from runtime.story.character import Character
from runtime.story.characters import StoryCharacters
from runtime.story.secrets import SecretState

Moment = tuple[int, int] | datetime | None


def secrets(
    session: CliSession, project: str, character: str, to: str, as_of: Moment, reveal: bool, as_json: bool
) -> None:
    """Do `novelgen npc secrets`."""
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


def check(
    session: CliSession, project: str, character: str, reply: str, to: str, said: str, as_of: Moment, as_json: bool
) -> None:
    """Do `novelgen npc check`."""
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
    return Character(stores, project, StoryCharacters(stores, project).open_character(name=name))


def _secret(state: SecretState, *, reveal: bool) -> dict[str, Any]:
    """Return a secret without what its listener may not hear, unless the author asks for it."""
    shown: dict[str, Any] = {"secret_id": state.secret.secret_id, "standing": state.standing, "hint": state.hint}
    if reveal or state.standing in ("unlocked", "known"):
        shown["text"] = state.secret.text
    if reveal:
        shown |= state.secret.model_dump(mode="json", include={"unlock", "never", "hints", "key_words"})
    return shown
