"""Which errors of a model every other request would meet, too."""

import pytest

from novelgen.model_calls.model_answer import NO_SUCH_MODEL, NOBODY_THERE, NOTHING_LEFT, WRONG_KEY, refusal_of


class StatusError(Exception):
    """An error of a client that tells the HTTP status."""

    def __init__(self, status_code: int, message: str) -> None:
        super().__init__(message)
        self.status_code = status_code


@pytest.mark.parametrize(
    ("status", "message", "fix"),
    [
        (401, "Incorrect API key provided", WRONG_KEY),
        (403, "You do not have access to this model", WRONG_KEY),
        (404, "The model `gpt-9` does not exist", NO_SUCH_MODEL),
        (404, "model 'qwen3:8b' not found", NO_SUCH_MODEL),
        (402, "Insufficient Balance", NOTHING_LEFT),
        (429, "You exceeded your current quota (insufficient_quota)", NOTHING_LEFT),
        (400, "Arrearage: Access denied, your account is in overdue-payment", NOTHING_LEFT),
        (400, "Your credit balance is too low to access the API", NOTHING_LEFT),
    ],
)
def test_a_refusal_names_what_to_do(status: int, message: str, fix: str) -> None:
    """Key, model and money are told apart, whatever the provider calls them."""
    assert refusal_of(StatusError(status, message)) == fix


@pytest.mark.parametrize(
    ("status", "message"),
    [
        (429, "Rate limit reached, try again in 20 s"),
        (500, "internal error"),
        (503, "overloaded"),
        (400, "'response_format' is not supported"),
        (403, "Your input was flagged by moderation"),
    ],
)
def test_what_another_request_may_pass_is_no_refusal(status: int, message: str) -> None:
    """A busy or broken service, and one that dislikes one text, may answer the next request."""
    assert refusal_of(StatusError(status, message)) is None


def test_an_address_where_nobody_listens_is_told_through_wrappers() -> None:
    """Clients wrap the refused connection in errors of their own."""
    wrapped = RuntimeError("Connection error.")
    wrapped.__cause__ = ConnectionRefusedError(111, "Connection refused")
    assert refusal_of(wrapped) == NOBODY_THERE
    assert refusal_of(RuntimeError("Connection error.")) is None
