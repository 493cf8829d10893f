"""A chat model in the place of one that could not be built."""

from __future__ import annotations

from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import BaseMessage
from langchain_core.outputs import ChatResult

from novelgen.errors import ModelUnavailableError


class UnavailableChatModel(BaseChatModel):
    """Fails every call with the reason, so that whoever asks it degrades and says why.

    Args:
        reason: Why the configured model could not be built.
    """

    reason: str

    @property
    def _llm_type(self) -> str:
        return "unavailable"

    def _generate(self, messages: list[BaseMessage], *_: Any, **__: Any) -> ChatResult:
        raise ModelUnavailableError(self.reason)
