"""In which form a model is asked for JSON, by what its client takes."""

import json
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from pydantic import BaseModel, Field

from novelgen.model_calls.json_model import Question
from tests.support.scripted_chat_model import ScriptedChatModel, finished


class Pet(BaseModel):
    """What is asked for."""

    name: str


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
            raise FormatError(400, "format not supported")
        answer = finished(json.dumps({"name": "Ada"}))
        assert isinstance(answer, AIMessage)
        return ChatResult(generations=[ChatGeneration(message=answer)])


class FormatError(Exception):
    """An error of a client that tells the HTTP status."""

    def __init__(self, status_code: int, message: str) -> None:
        super().__init__(message)
        self.status_code = status_code


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
