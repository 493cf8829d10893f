"""Answers of doors: results and errors without local paths."""

import logging
import re
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel

from novelgen import errors
from novelgen.models.context import ReportIssue
from runtime.care.checks import Diagnosis, Finding
from runtime.doors.cli.operation_commands import OPERATION_COMMANDS, OTHER_COMMANDS
from runtime.files.paths import without_paths

_COMMAND = re.compile(r"`novelgen ([^`]+)`")
_OF_SHELL = re.compile(r", or (?:name another folder of projects \(--projects-dir\)|set --projects-dir)")


def with_own_ways(message: str, ways: Mapping[str, str]) -> str:
    """Return a message with shell commands as a door's own calls."""
    return _COMMAND.sub(lambda match: _way(match[1], ways) or match[0], _OF_SHELL.sub("", message))


def _way(command: str, ways: Mapping[str, str]) -> str:
    words = command.split()
    operation_names = (_operations().get(" ".join(words[:count]), "") for count in (2, 1))
    return next((f"`{ways[entity_id]}`" for entity_id in operation_names if entity_id in ways), "")


@cache
def _operations() -> dict[str, str]:
    return {entry.command: name for name, entry in OPERATION_COMMANDS.items()} | OTHER_COMMANDS


logger = logging.getLogger(__name__)
Answer = TypeVar("Answer")

_MESSAGES = frozenset({"failures", "failure_reason", "problem", "reason", "stopped", "thread_warnings", "warnings"})
"""Fields of answers in which the program says what went wrong: no field of a story's text is called so."""

_MESSAGES_OF: dict[type[BaseModel], frozenset[str]] = {
    ReportIssue: frozenset({"message"}),
    Finding: frozenset({"message", "fix", "values"}),
    Diagnosis: frozenset({"settings"}),
}

_PLAIN = frozenset({str, int, float, bool, type(None)})


def told(answer: Answer, *, folders: Sequence[Path] = ()) -> Answer:
    """Return an answer without local paths in messages."""
    statement: Any = answer
    if isinstance(answer, BaseModel):
        statement = _told_model(answer, folders)
    elif isinstance(answer, list) and answer and type(answer[0]) not in _PLAIN:
        listing: list[Any] = [told(item, folders=folders) for item in answer]
        # What nothing had to be taken out of is not copied: a long story has thousands of such parts.
        statement = listing if any(item is not was for item, was in zip(listing, answer, strict=True)) else answer
    elif isinstance(answer, dict):
        statement = {name: told(item, folders=folders) for name, item in answer.items()}
    return statement


def _told_model(model: BaseModel, folders: Sequence[Path]) -> BaseModel:
    messages = _MESSAGES | _MESSAGES_OF.get(type(model), frozenset())
    changes: dict[str, Any] = {}
    for name, value in model.__dict__.items():
        if name in messages:
            statement = _message(value, folders)
        elif type(value) in _PLAIN:
            continue
        else:
            statement = told(value, folders=folders)
        if statement is not value:
            changes[name] = statement
    return model.model_copy(update=changes) if changes else model


def _message(value: Any, folders: Sequence[Path]) -> Any:
    if isinstance(value, str):
        return without_paths(value, folders=folders)
    if isinstance(value, list):
        return [_message(item, folders) for item in value]
    if isinstance(value, dict):
        return {name: _message(item, folders) for name, item in value.items()}
    return told(value, folders=folders)


_FIXES: tuple[tuple[type[errors.NovelgenError], str], ...] = (
    (errors.UnknownProjectError, "Call again with an id that {list_projects} tells."),
    (errors.InvalidProjectIdError, "Call again with an id that {list_projects} tells."),
    (errors.UnknownEntityError, "Call again with an id or name that {list_entities} tells."),
    (errors.UnknownMemoryError, "Call again with a source_id that {search_story_memory} tells."),
    (errors.UnknownSceneError, "Call again with a scene that {list_scenes} tells."),
    (
        errors.StaleVersionError,
        "Compare what is stored with what you sent, then call again with this version and what should stand.",
    ),
    (errors.ConfigurationError, "Tell the user; another call will not help."),
    (errors.UserInputError, "Correct the argument that the error names and call again."),
    (errors.ModelError, "The language model behind the memory failed, not your call; try once more later."),
    (errors.DeadlineExceededError, "The memory was too slow; try once more, or go on without it."),
    (errors.StoreError, "The memory is out of order, not your call; go on without it, or try once more later."),
    (errors.NovelgenError, "Tell the user; another call will not help."),
)
"""What an agent may do about an error: of the first class that fits; in braces the tool of an operation."""


def error_kind(error: errors.NovelgenError) -> str:
    """Return the stable name of a kind of error, the same at every door: `unknown-entity`."""
    return re.sub(r"(?<!^)(?=[A-Z])", "-", type(error).__name__.removesuffix("Error")).lower()


def refusal(error: Exception, *, names: Mapping[str, str], folders: Sequence[Path] = ()) -> dict[str, Any]:
    """Return an error for agents: kind, problem and fix."""
    if not isinstance(error, errors.NovelgenError):
        logger.error("a call failed", exc_info=error)
        return {"error": {"kind": "bug", "message": "a bug in novelgen; its log tells more", "fix": "Tell the user."}}
    if not isinstance(error, errors.UserInputError):
        logger.warning("a call failed: %s", error)
    fix = next(text for kind, text in _FIXES if isinstance(error, kind)).format_map(names)
    tools = {name: tool for name, tool in names.items() if "_" in tool}
    message = with_own_ways(without_paths(str(error), folders=folders), tools)
    stated_fields: dict[str, Any] = {"kind": error_kind(error), "message": message, "fix": fix}
    if isinstance(error, errors.StaleVersionError):
        stated_fields |= {"version": error.version, "stored": error.stored, "sent": error.sent}
    return {"error": stated_fields}
