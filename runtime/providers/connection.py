"""How to reach a provider: base URL and key."""

from __future__ import annotations

import os
from typing import Any

from pydantic import SecretStr

UNUSED_KEY = "unused"


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
