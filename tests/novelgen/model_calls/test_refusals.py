"""In which form a model is asked for JSON, and which of its errors every other request would meet, too."""

import json
from typing import Any

import pytest
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from pydantic import BaseModel, Field

from novelgen.model_calls.json_model import Question
from novelgen.model_calls.model_answer import (
    NO_SUCH_MODEL,
    NOBODY_THERE,
    NOTHING_LEFT,
    WRONG_KEY,
    described,
    refusal_of,
)
from tests.support.scripted_chat_model import ScriptedChatModel, finished


class Pet(BaseModel):
    """What is asked for."""

    name: str


class StatusError(Exception):
    """An error of a client that tells the HTTP status."""

    def __init__(self, status_code: int, message: str) -> None:
        super().__init__(message)
        self.status_code = status_code


class OllamaLikeModel(ScriptedChatModel):
    """Takes `format`, as Ollama's own client does, and notes each it was called with."""

    format: str | dict[str, Any] | None = None
    num_predict: int | None = None
    num_ctx: int | None = None
    formats: list[Any] = Field(default_factory=list)
    refused: tuple[str, ...] = ()

    def _generate(self, messages: list[BaseMessage], *args: Any, **kwargs: Any) -> ChatResult:
        asked = kwargs.get("format")
        self.formats.append(asked)
        if type(asked).__name__ in self.refused:
            raise StatusError(400, "format not supported")
        answer = finished(json.dumps({"name": "Ada"}))
        assert isinstance(answer, AIMessage)
        return ChatResult(generations=[ChatGeneration(message=answer)])


def asked(model: OllamaLikeModel, *, times: int = 1) -> list[Pet]:
    """Ask for a pet, some times."""
    question = Question(model, Pet, prompt="", repair="", stage="asking", keys=("name",))
    return [
        question.ask(question.begin(30), "en", [HumanMessage("Which?")], accept=lambda pet: pet) for _ in range(times)
    ]


def test_ollama_is_given_the_schema() -> None:
    """As `format`; one that refuses it gets plain JSON mode, and the next request begins there."""
    model = OllamaLikeModel(answer=lambda _: "", formats=[])
    assert asked(model) == [Pet(name="Ada")]
    assert model.formats[0]["required"] == ["name"]
    model = OllamaLikeModel(answer=lambda _: "", formats=[], refused=("dict",))
    asked(model, times=2)
    assert [type(each).__name__ for each in model.formats] == ["dict", "str", "str"]


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


def test_a_short_key_garbles_no_message() -> None:
    """What quotes tokens is not cut to pieces by a key of one letter; a key of the usual length is hidden."""
    assert described(RuntimeError("too many tokens"), secrets=["k", "tokens"]) == "RuntimeError: 'too many tokens'"
    assert described(RuntimeError("bad key abcd-1234"), secrets=["abcd-1234"]) == "RuntimeError: 'bad key [key]'"
