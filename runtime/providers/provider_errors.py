"""Errors of model providers in words that say what to change, without keys."""

from __future__ import annotations

import os

from pydantic import SecretStr

from novelgen.errors import ConfigurationError
from novelgen.model_calls.model_answer import described

SHORTEST_KEY = 4
"""A shorter text is no key, and to remove it would garble the message."""


def configuration_error(
    what: str, name: str, error: Exception, api_key: SecretStr | None
) -> ConfigurationError:
    """Say why a model could not be built.

    Args:
        what: "chat model" or "embedding model".
        name: The setting's value.
        error: What the provider's package raised. Raise the result `from None`, for the original may hold
            the key.
        api_key: Removed from the text wherever it stands.
    """
    told = described(error, secrets=known_keys(api_key))
    provider = name.partition(":")[0].strip()
    if isinstance(error, ImportError):
        package = "novelgen[openai]" if provider == "openai" else f"langchain-{provider.replace('_', '-')}"
        return ConfigurationError(f"{what} {name!r} needs a package: pip install '{package}' ({told})")
    if any(word in str(error).casefold() for word in ("api_key", "api key", "credential")):
        variable = f"{provider.upper()}_API_KEY"
        return ConfigurationError(
            f"{what} {name!r} needs a key: set {variable} or the key's setting ({told})"
        )
    return ConfigurationError(
        f"{what} {name!r} cannot be used; write provider:model, such as 'openai:<model>' ({told})"
    )


def known_keys(api_key: SecretStr | None) -> list[str]:
    """Return every key that a server could quote: the given one, and those of the environment."""
    given = [api_key.get_secret_value()] if api_key is not None else []
    of_environment = [value for name, value in os.environ.items() if name.upper().endswith("_API_KEY")]
    return [key for key in (*given, *of_environment) if len(key) >= SHORTEST_KEY]
