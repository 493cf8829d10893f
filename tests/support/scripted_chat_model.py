"""A chat model for tests that answers what a function tells it to."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from langchain_core.callbacks import CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from pydantic import ConfigDict, Field

Answer = Callable[[list[BaseMessage]], AIMessage | str]


class ScriptedChatModel(BaseChatModel):
    """Answers with `answer(messages)` and records every prompt; what `answer` raises is raised."""

    model_config = ConfigDict(arbitrary_types_allowed=True)

    answer: Answer
    prompts: list[list[BaseMessage]] = Field(default_factory=list)
    tool_names: list[str] = Field(default_factory=list)

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(self, tools: Sequence[Any], **_: Any) -> ScriptedChatModel:
        """Note which tools are offered; the script calls them as it likes."""
        self.tool_names[:] = [tool.name for tool in tools]
        return self

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        self.prompts.append(messages)
        answer = self.answer(messages)
        message = answer if isinstance(answer, AIMessage) else finished(answer)
        return ChatResult(generations=[ChatGeneration(message=message)])


class StreamingModel(BaseChatModel):
    """Streams a script piece by piece and keeps the prompts; an exception in it is raised, an event awaited."""

    script: list[Any]
    prompts: list[str] = Field(default_factory=list)

    @property
    def _llm_type(self) -> str:
        return "streaming"

    def _generate(self, *_: Any, **__: Any) -> ChatResult:
        raise NotImplementedError

    def _stream(self, messages: list[BaseMessage], *_: Any, **__: Any) -> Iterator[ChatGenerationChunk]:
        self.prompts.append("\n".join(str(each.content) for each in messages))
        for piece in self.script:
            if isinstance(piece, Exception):
                raise piece
            if isinstance(piece, threading.Event):
                piece.wait()
            else:
                message = piece if isinstance(piece, AIMessageChunk) else AIMessageChunk(content=piece)
                yield ChatGenerationChunk(message=message)


def finished(text: str, finish_reason: str = "stop") -> AIMessage:
    """Return an answer as a server gives it, with its finish reason."""
    return AIMessage(text, response_metadata={"finish_reason": finish_reason})


def calling(tool_name: str, call_id: str = "call-1", **arguments: Any) -> AIMessage:
    """Return an answer that calls a tool."""
    call = {"name": tool_name, "args": arguments, "id": call_id, "type": "tool_call"}
    return AIMessage("", tool_calls=[call])


def answering(*answers: str | AIMessage) -> ScriptedChatModel:
    """Return a model that gives these answers in order; a further call is an error of the test."""
    remaining: Sequence[str | AIMessage] = answers
    script = iter(remaining)
    return ScriptedChatModel(answer=lambda _: next(script))
