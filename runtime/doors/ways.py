"""What a message tells to run, as it is called at the door that the message goes out by."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache

from runtime.doors.cli.offers import OFFERS

_COMMAND = re.compile(r"`novelgen ([^`]+)`")

_OTHER_COMMANDS = {
    "check": "check_draft",
    "context": "build_context",
    "doctor": "repair_project",
    "extract": "extract_scenes",
    "ingest": "ingest_scene",
    "reindex": "repair_project",
}
"""Commands that no offer is made of, to the operation that does the same."""


def with_own_ways(message: str, ways: Mapping[str, str]) -> str:
    """Return a message whose commands of the shell are told as a door calls them; one that it lacks stays."""
    return _COMMAND.sub(lambda found: _way(found[1], ways) or found[0], message)


def _way(command: str, ways: Mapping[str, str]) -> str:
    words = command.split()
    named = (_operations().get(" ".join(words[:count]), "") for count in (2, 1))
    return next((f"`{ways[each]}`" for each in named if each in ways), "")


@cache
def _operations() -> dict[str, str]:
    return {offer.command: name for name, offer in OFFERS.items()} | _OTHER_COMMANDS
