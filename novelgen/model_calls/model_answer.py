"""What an answer or an error of a chat model says of itself, whatever the provider."""

from __future__ import annotations

import re
import traceback
from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING

from pydantic import SecretStr

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel
    from langchain_core.messages import BaseMessage

MAX_ERROR_CHARACTERS = 200

CHECK_THE_SERVER = "check the model, its address and its server"
"""The advice where nothing else is known of a failure."""

NOTHING_LEFT = "its quota or balance is used up: top up the account, or name another model"
WRONG_KEY = "set the right key in the provider's own variable or in NOVELGEN_MODEL_API_KEY"
NO_SUCH_MODEL = "correct the model's name (provider:model, as `novelgen doctor` shows it) or its address"
NOBODY_THERE = "nobody answers at its address: check the network, start the server, or correct NOVELGEN_MODEL_BASE_URL"
_FINISH_KEYS = ("finish_reason", "stop_reason", "done_reason")
_CUT_REASONS = frozenset({"length", "max_tokens", "model_length", "max_output_tokens"})
_STATUS_OF_A_WRONG_KEY = frozenset({401, 403})
_NOTHING_LEFT = re.compile(
    r"insufficient[_ ](?:quota|balance|funds|credits?)|exceeded your current quota|credit balance is too low"
    r"|arrearage|overdue.payment|FreeTierOnly|余额不足|欠费",
    re.IGNORECASE,
)
_OF_THIS_TEXT_ALONE = re.compile(r"moderat|flagged|safety|content[_ ](?:policy|filter)|inappropriate", re.IGNORECASE)
_NO_CONNECTION_ERRORS = frozenset({"ConnectError", "ConnectionRefusedError", "gaierror"})
_SECRET = re.compile(r"\b(?:sk|pk|rk|key)-[\w*-]{6,}|(?<=Bearer )\S+", re.IGNORECASE)


def is_cut(answer: BaseMessage) -> bool:
    """Tell whether the provider says that the answer stopped at its token limit."""
    reasons = (answer.response_metadata.get(key) for key in _FINISH_KEYS)
    return any(isinstance(reason, str) and reason.casefold() in _CUT_REASONS for reason in reasons)


def cut_text_in(error: Exception) -> str | None:
    """Return what the model wrote before its token limit when the client raised for that, else None.

    openai's LengthFinishReasonError is no APIError; it carries the completion.
    """
    choices = getattr(getattr(error, "completion", None), "choices", None)
    if not choices or choices[0].finish_reason != "length":
        return None
    return choices[0].message.content or ""


def refusal_of(error: Exception) -> str | None:
    """Return what to do about an error that every other request would meet, too; None when another may pass.

    A refused key, an unknown model, an account with nothing left, an address where nobody listens. That a
    service is busy, broken or dislikes one text says nothing of the next request.
    """
    status = status_of(error)
    told = str(error)
    if status == 402 or (status in (400, 403, 429) and _NOTHING_LEFT.search(told)):
        return NOTHING_LEFT
    if status in _STATUS_OF_A_WRONG_KEY and not _OF_THIS_TEXT_ALONE.search(told):
        return WRONG_KEY
    if status == 404:
        return NO_SUCH_MODEL
    return NOBODY_THERE if is_nobody_there(error) else None


def status_of(error: Exception) -> int | None:
    """Return the HTTP status that an error of a provider's client tells, if it does."""
    status = getattr(error, "status_code", None)
    return status if isinstance(status, int) else None


def is_nobody_there(error: Exception) -> bool:
    """Tell whether no connection could be made at all, whatever the client wrapped that in."""
    return any(type(each).__name__ in _NO_CONNECTION_ERRORS for each in _chain_of(error))


def _chain_of(error: BaseException) -> Iterator[BaseException]:
    seen: set[int] = set()
    current: BaseException | None = error
    while current is not None and id(current) not in seen:
        seen.add(id(current))
        yield current
        current = current.__cause__ or current.__context__


def described(error: Exception, *, secrets: Collection[str] = ()) -> str:
    """Return the error's type and the start of its text, on one line, without anything that looks like a key."""
    text = _redacted(" ".join(str(error).split()), secrets)
    return f"{type(error).__name__}: {text[:MAX_ERROR_CHARACTERS]}" if text else type(error).__name__


def safe_cause(error: Exception, *, secrets: Collection[str] = ()) -> Exception | None:
    """Return the error as the cause of another, or None when its traceback, which may be logged, tells a key."""
    shown = "".join(traceback.format_exception(error))
    return error if _redacted(shown, secrets) == shown else None


def secrets_of(model: BaseChatModel) -> list[str]:
    """Return the keys that a chat model holds."""
    held = (value.get_secret_value() for value in vars(model).values() if isinstance(value, SecretStr))
    return [secret for secret in held if secret]


def _redacted(text: str, secrets: Collection[str]) -> str:
    for secret in secrets:
        text = text.replace(secret, "[key]")
    return _SECRET.sub("[key]", text)
