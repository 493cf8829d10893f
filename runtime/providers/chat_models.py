"""A chat model by name."""

from __future__ import annotations

import os
from typing import Any

from langchain.chat_models import init_chat_model
from langchain_core.language_models import BaseChatModel
from pydantic import SecretStr

from novelgen.errors import ConfigurationError
from runtime.providers.provider_errors import configuration_error

UNUSED_KEY = "unused"


def build_chat_model(
    name: str | None,
    *,
    base_url: str | None = None,
    api_key: SecretStr | None = None,
    timeout_s: float = 20.0,
    max_tokens: int = 1500,
    temperature: float = 0.0,
    max_retries: int = 0,
) -> BaseChatModel | None:
    """Build the chat model that a setting names; nothing is sent yet.

    Args:
        name: `provider:model` as `langchain.chat_models.init_chat_model` knows it, such as
            "openai:gpt-4.1-mini"; None or blank means that no model is used.
        base_url: Of an OpenAI-compatible server; None is the provider's own.
        api_key: None reads the provider's environment variable. A server of one's own that wants no key
            needs none.
        timeout_s: Seconds for one request. A server that drips can exceed it: put a deadline around calls.
        max_tokens: Longest answer.
        temperature: 0 for the most likely answer.
        max_retries: By the client, on top of the first request.

    Returns:
        The model, or None when no name is given.

    Raises:
        ConfigurationError: When the provider is unknown, its package is not installed, or a value or the key
            is missing or wrong. Never holds the key.
    """
    if name is None or not name.strip():
        return None
    options: dict[str, Any] = {
        "timeout": timeout_s,
        "max_tokens": max_tokens,
        "temperature": temperature,
        "max_retries": max_retries,
        **connection_options(name, base_url, api_key),
    }
    try:
        model: BaseChatModel = init_chat_model(name.strip(), **options)
    except Exception as error:  # noqa: BLE001 - a provider's package may fail in any way
        raise configuration_error("chat model", name, error, api_key) from None
    if not isinstance(model, BaseChatModel):
        raise ConfigurationError(f"chat model {name!r} is not a chat model; write provider:model")
    return model


def connection_options(name: str, base_url: str | None, api_key: SecretStr | None) -> dict[str, Any]:
    """Return base URL and key as a provider's client takes them; what is not given is left to the client.

    The OpenAI client refuses to start without a key, which a server of one's own seldom wants: with a base URL
    and no key anywhere it gets a placeholder.
    """
    options: dict[str, Any] = {}
    if base_url:
        options["base_url"] = base_url
    if api_key is not None and api_key.get_secret_value():
        options["api_key"] = api_key
    elif base_url and name.strip().startswith("openai:") and not os.environ.get("OPENAI_API_KEY"):
        options["api_key"] = SecretStr(UNUSED_KEY)
    return options
