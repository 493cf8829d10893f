"""Chat models by name, with a stand-in for unavailable ones."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import BaseMessage
from pydantic import SecretStr

from novelgen.errors import ModelUnavailableError
from runtime.model_providers.connection import configuration_error, connection_options, full_model_name

if TYPE_CHECKING:
    from langchain_core.outputs import ChatResult

PROVIDERS_OF_OPENAIS_CLIENT = frozenset({"openai", "azure_openai", "deepseek", "xai"})
"""Whose packages take an HTTP client of ours."""


class UnavailableChatModel(BaseChatModel):
    """Fails every call with the reason, so that whoever asks it degrades and says why."""

    reason: str

    @property
    def _llm_type(self) -> str:
        return "unavailable"

    def _generate(self, messages: list[BaseMessage], *_: Any, **__: Any) -> ChatResult:
        raise ModelUnavailableError(self.reason)


def build_chat_model(
    name: str | None,
    *,
    base_url: str | None = None,
    api_key: SecretStr | None = None,
    timeout_s: float = 20.0,
    max_tokens: int = 1500,
) -> BaseChatModel | None:
    """Build the chat model of a setting, without a request."""
    if name is None or not name.strip():
        return None
    from langchain.chat_models import init_chat_model  # noqa: PLC0415 - two seconds that few commands need

    full_name = full_model_name("chat model", name)
    options: dict[str, Any] = {
        "timeout": timeout_s,
        "max_tokens": max_tokens,
        "temperature": 0.0,
        # Whoever asks puts a deadline around the call, in which a retry of the client's own would not be seen.
        "max_retries": 0,
        **connection_options(full_name, base_url, api_key),
    }
    if full_name.partition(":")[0] in PROVIDERS_OF_OPENAIS_CLIENT:
        from runtime.model_providers.model_client import MAX_CHAT_MEGABYTES, ModelClient  # noqa: PLC0415 - as above

        options["http_client"] = ModelClient(max_megabytes=MAX_CHAT_MEGABYTES)
    try:
        return init_chat_model(full_name, **options)
    except Exception as error:  # noqa: BLE001 - a provider's package may fail in any way
        raise configuration_error("chat model", name, error, api_key) from None
