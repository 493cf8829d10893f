"""Facts in a provider's answers and errors, independent of the provider."""

from __future__ import annotations

import json
import re
import traceback
from collections.abc import Collection, Iterator, Mapping
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any

from pydantic import SecretStr

from novelgen.errors import ModelUnavailableError

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel
    from langchain_core.messages import AIMessage, BaseMessage

MAX_ERROR_CHARACTERS = 200

CHECK_THE_SERVER = "check the model, its address and its server"
"""The advice where nothing else is known of a failure."""

NOTHING_LEFT = "its quota or balance is used up: top up the account, or name another model"
WRONG_KEY = "set the right key in the provider's own variable or in NOVELGEN_MODEL_API_KEY"
NO_SUCH_MODEL = "correct the model's name (provider:model, as `novelgen doctor` shows it) or its address"
NOBODY_THERE = "nobody answers at its address: check the network, start the server, or correct NOVELGEN_MODEL_BASE_URL"
CONTEXT_TOO_LONG = (
    "the prompt is longer than the model's context: give the model a longer one on its server (num_ctx of Ollama, -c "
    "of llama.cpp, --max-model-len of vLLM), or lower memory.summarization.window_characters and prompt_list_tokens"
)
MIN_KEY_CHARACTERS = 8
"""A shorter text is no key, and to remove it would garble what is quoted."""

_FINISH_KEYS = ("finish_reason", "stop_reason", "done_reason")
_CUT_REASONS = frozenset({"length", "max_tokens", "model_length", "max_output_tokens"})
_STATUS_OF_A_WRONG_KEY = frozenset({401, 403})
_NOTHING_LEFT = re.compile(
    r"insufficient[_ ](?:quota|balance|funds|credits?)|exceeded your current quota|credit balance is too low"
    r"|arrearage|overdue.payment|FreeTierOnly|余额不足|欠费",
    re.IGNORECASE,
)
_CONTEXT_TOO_LONG = re.compile(
    r"context[_ ](?:length|size|window|limit)|maximum (?:context|model|prompt|input) length|num_ctx|n_ctx|max_model_len"
    r"|prompt is too long|input is too long|too many (?:input |prompt )?tokens|exceeds? the (?:available )?context"
    r"|reduce the length of the messages|上下文(?:长度|窗口|过长)"
    r"|(?:输入|超出|超过).{0,12}(?:最大|长度).{0,8}(?:限制|上限|token)",
    re.IGNORECASE,
)
_STATUS_OF_A_LONG_CONTEXT = frozenset({400, 413, 422, 500})
_WITHHELD_REASONS = frozenset(
    "content_filter content_filtered safety refusal prohibited_content recitation blocklist spii sensitive "
    "guardrail_intervened".split()
)
_WAIT = re.compile(
    r"(?:try again|retry|wait)\D{0,24}?(?P<number>\d+(?:\.\d+)?) ?"
    r"(?P<unit>ms|milliseconds?|s(?:ec(?:onds?)?)?|m(?:in(?:utes?)?)?)\b"
    r"|(?P<number_zh>\d+(?:\.\d+)?) ?秒后",
    re.IGNORECASE,
)
_TITLE = re.compile(r"<title[^>]*>(.*?)</title>", re.IGNORECASE | re.DOTALL)
_OF_AN_ANSWER = ("choices", "data", "output", "content", "candidates")
"""Keys of which a provider's answer has one."""

_OF_OTHER_WORDS = ("message", "msg", "detail", "error_msg", "error_message", "raw")

_OF_THIS_TEXT_ALONE = re.compile(r"moderat|flagged|safety|content[_ ](?:policy|filter)|inappropriate", re.IGNORECASE)
_NO_CONNECTION_ERRORS = frozenset({"ConnectError", "ConnectionRefusedError", "gaierror"})
_SECRET = re.compile(r"\b(?:sk|pk|rk|key)-[\w*-]{6,}|(?<=Bearer )\S+", re.IGNORECASE)


def finish_reason_of(answer: BaseMessage) -> str:
    """Return the provider's finish reason, empty if missing."""
    reasons = (answer.response_metadata.get(key) for key in _FINISH_KEYS)
    return next((reason for reason in reasons if isinstance(reason, str)), "")


def is_cut(answer: BaseMessage) -> bool:
    """Tell whether the provider says that the answer stopped at its token limit."""
    return finish_reason_of(answer).casefold() in _CUT_REASONS


def withheld_reason(answer: BaseMessage) -> str | None:
    """Return the reason for a withheld answer, or None."""
    refusal = answer.additional_kwargs.get("refusal")
    if isinstance(refusal, str) and refusal.strip():
        return _one_line(refusal)
    reason = finish_reason_of(answer)
    return reason if reason.casefold() in _WITHHELD_REASONS else None


def state_of(answer: BaseMessage) -> str:
    """Return why an answer ended, and the tokens that its reasoning took."""
    usage = getattr(answer, "usage_metadata", None) or {}
    reasoning = (usage.get("output_token_details") or {}).get("reasoning") or 0
    return f"finish_reason {finish_reason_of(answer) or None}, {reasoning} tokens of reasoning"


def cut_answer_in(error: Exception) -> AIMessage | None:
    """Return the answer that ran into its token limit when the client raised for that, else None.

    openai's LengthFinishReasonError is no APIError; it carries the completion.
    """
    completion = getattr(error, "completion", None)
    choices = getattr(completion, "choices", None)
    if not choices or choices[0].finish_reason != "length":
        return None
    from langchain_core import messages  # noqa: PLC0415 - what only describes an error starts without it

    usage = getattr(completion, "usage", None)
    usage_fields = None
    if usage is not None:
        details = getattr(usage, "completion_tokens_details", None)
        usage_fields = {
            "input_tokens": usage.prompt_tokens,
            "output_tokens": usage.completion_tokens,
            "total_tokens": usage.total_tokens,
            "output_token_details": {"reasoning": getattr(details, "reasoning_tokens", None) or 0},
        }
    text = choices[0].message.content or ""
    return messages.AIMessage(text, response_metadata={"finish_reason": "length"}, usage_metadata=usage_fields)


def refusal_of(error: Exception) -> str | None:
    """Return the fix for an error that affects all requests, or None.

    A refused key, an unknown model, an account with nothing left, an address where nobody listens. That a
    service is busy, broken or dislikes one text says nothing of the next request.
    """
    status = status_of(error)
    text = str(error)
    if status == 402 or (status in (400, 403, 429) and _NOTHING_LEFT.search(text)):
        return NOTHING_LEFT
    if status in _STATUS_OF_A_WRONG_KEY and not _OF_THIS_TEXT_ALONE.search(text):
        return WRONG_KEY
    if status == 404:
        return NO_SUCH_MODEL
    return NOBODY_THERE if is_nobody_there(error) else None


def is_context_too_long(error: Exception) -> bool:
    """Tell whether a provider refuses a prompt as longer than the model's context."""
    return status_of(error) in _STATUS_OF_A_LONG_CONTEXT and _CONTEXT_TOO_LONG.search(str(error)) is not None


def own_error_in(error: Exception) -> ModelUnavailableError | None:
    """Return an error of ours that a client has wrapped, or that was raised as it is."""
    return next((cause for cause in _chain_of(error) if isinstance(cause, ModelUnavailableError)), None)


def retry_after_s(error: Exception) -> float | None:
    """Return after how many seconds the provider wants to be asked again, by its header or its words."""
    response = _response_of(error)
    if response is not None:
        waits_s = retry_after_of(response.headers, _body_of(response))
        if waits_s is not None:
            return waits_s
    return _wait_in(str(error))


def retry_after_of(headers: Mapping[str, str], body: str) -> float | None:
    """Return the seconds to wait that a response tells."""
    value = headers.get("retry-after-ms")
    if value is not None and value.strip().replace(".", "", 1).isdigit():
        return float(value) / 1000
    value = headers.get("retry-after")
    if value is not None and value.strip().replace(".", "", 1).isdigit():
        return float(value)
    if value is not None:
        try:
            until, now = (parsedate_to_datetime(date) for date in (value, headers.get("date", "")))
            return max(0.0, (until - now).total_seconds())
        except (TypeError, ValueError):
            # No date, or none of now to count from; the body may say it in words.
            pass
    return _wait_in(body)


def _wait_in(text: str) -> float | None:
    match = _WAIT.search(text)
    if match is None:
        return None
    number, unit = float(match["number"] or match["number_zh"]), (match["unit"] or "s").casefold()
    return number / 1000 if unit.startswith(("ms", "milli")) else number * 60 if unit.startswith("m") else number


def answer_fault(status: int, content_type: str, body: str) -> str | None:
    """Return the fault of a response body in the provider's words, or None.

    Args:
        status: HTTP status of the response.
        content_type: Its Content-Type.
        body: Its text.
    """
    kind = content_type.partition(";")[0].strip() or "no Content-Type"
    try:
        # A number of thousands of digits is no fault of the body's form; the reader of the answer refuses it.
        fields = json.loads(body, parse_int=len, parse_float=len)
    except (ValueError, RecursionError):
        title = _TITLE.search(body)
        if title or body.lstrip()[:1] == "<":
            return f"HTTP {status} with a web page ({kind}): {_one_line(title[1] if title else body)!r}"
        if "\ufffd" in body or "\0" in body:
            return f"HTTP {status} with {len(body)} characters of binary data ({kind})"
        return f"HTTP {status} with what is no JSON ({kind}): {_one_line(body)!r}"
    if not isinstance(fields, dict):
        return f"HTTP {status} with what is no answer: {_one_line(body)!r}"
    if any(fields.get(key) for key in _OF_AN_ANSWER):
        return None
    words = _words_of(fields)
    if words:
        return f"HTTP {status} with an error: {_one_line(words)!r}"
    return f"HTTP {status} without an answer: {_one_line(body)!r}"


def _words_of(fields: Mapping[str, Any]) -> str:
    """Return the text of a provider's error, wherever it stands."""
    error = fields.get("error")
    if isinstance(error, Mapping):
        metadata = error.get("metadata")
        words = [error.get(key) for key in _OF_OTHER_WORDS]
        words += [metadata.get("raw")] if isinstance(metadata, Mapping) else []
        return "; ".join(dict.fromkeys(word for word in words if isinstance(word, str) and word.strip())) or str(error)
    if error:
        return str(error)
    return next((word for key in _OF_OTHER_WORDS if isinstance(word := fields.get(key), str) and word.strip()), "")


def status_of(error: Exception) -> int | None:
    """Return the HTTP status that an error of a provider's client tells, if it does."""
    status = getattr(error, "status_code", None)
    return status if isinstance(status, int) else None


def is_nobody_there(error: Exception) -> bool:
    """Tell whether no connection could be made at all, whatever the client wrapped that in."""
    return any(type(other_error).__name__ in _NO_CONNECTION_ERRORS for other_error in _chain_of(error))


def _chain_of(error: BaseException) -> Iterator[BaseException]:
    seen_numbers: set[int] = set()
    current: BaseException | None = error
    while current is not None and id(current) not in seen_numbers:
        seen_numbers.add(id(current))
        yield current
        current = current.__cause__ or current.__context__


def _response_of(error: Exception) -> Any:
    """Return the HTTP response that a client hung on an error, if it did."""
    responses = (getattr(cause, "response", None) for cause in _chain_of(error))
    return next(
        (response for response in responses if hasattr(response, "headers") and hasattr(response, "status_code")), None
    )


def _body_of(response: Any) -> str:
    try:
        return str(response.text)
    except RuntimeError:
        # A stream that nobody has read.
        return ""


def described(error: Exception, *, secrets: Collection[str] = ()) -> str:
    """Return an error on one line, without anything like a key.

    Its words stand in quotes: what is quoted is never changed where messages are said in another language.
    """
    own = own_error_in(error)
    if own is not None:
        return _redacted(str(own), secrets)
    response = _response_of(error)
    if response is not None and response.status_code < 400:
        # The client fell over an answer that is none; its own error says less than the answer.
        fault = answer_fault(response.status_code, response.headers.get("content-type", ""), _body_of(response))
        if fault is not None:
            return _redacted(fault, secrets)
    if isinstance(error, IndexError):
        # LangChain takes the first choice without a look whether there is one.
        return "an answer without any choice"
    text = _one_line(_redacted(_text_of(error), secrets))
    return f"{type(error).__name__}: {text!r}" if text else type(error).__name__


def _text_of(error: Exception) -> str:
    """Return an error's text, or the words of a provider's JSON."""
    body = getattr(error, "body", None)
    error_body = body if isinstance(body, Mapping) else error.args[0] if error.args else None
    words = (
        _words_of(error_body if "error" in error_body else {"error": error_body})
        if isinstance(error_body, Mapping)
        else ""
    )
    status = status_of(error)
    if not words:
        return str(error)
    return words if status is None else f"HTTP {status}: {words}"


def _one_line(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= MAX_ERROR_CHARACTERS else f"{line[:MAX_ERROR_CHARACTERS]}…"


def safe_cause(error: Exception, *, secrets: Collection[str] = ()) -> Exception | None:
    """Return the error as the cause of another, or None when its traceback, which may be logged, tells a key."""
    shown_text = "".join(traceback.format_exception(error))
    return error if _redacted(shown_text, secrets) == shown_text else None


def secrets_of(model: BaseChatModel) -> list[str]:
    """Return the keys that a chat model holds."""
    keys = (value.get_secret_value() for value in vars(model).values() if isinstance(value, SecretStr))
    return [key for key in keys if key]


def _redacted(text: str, secrets: Collection[str]) -> str:
    for secret in secrets:
        if len(secret) >= MIN_KEY_CHARACTERS:
            text = text.replace(secret, "[key]")
    return _SECRET.sub("[key]", text)
