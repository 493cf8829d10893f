"""What an answer or an error of a chat model says of itself, whatever the provider."""

from __future__ import annotations

import re
import traceback
from collections.abc import Collection
from typing import TYPE_CHECKING

from pydantic import SecretStr

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel
    from langchain_core.messages import BaseMessage

MAX_ERROR_CHARACTERS = 200

_FINISH_KEYS = ("finish_reason", "stop_reason", "done_reason")
_CUT_REASONS = frozenset({"length", "max_tokens", "model_length", "max_output_tokens"})
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


def described(error: Exception, *, secrets: Collection[str] = ()) -> str:
    """Return the error's type and the start of its text, on one line, without anything that looks like a key.

    Args:
        error: What a client raised.
        secrets: Texts that are keys although they may not look so.
    """
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
