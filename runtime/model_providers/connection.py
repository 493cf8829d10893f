"""Provider connections: packages, keys, addresses and safe errors."""

import importlib
import os
import warnings
from collections.abc import Callable
from typing import Any, Literal

from pydantic import SecretStr

from novelgen.errors import ConfigurationError
from novelgen.model_calls.model_answer import MIN_KEY_CHARACTERS, described
from novelgen.nearest import ALIKE, nearest_name

ModelKind = Literal["chat model", "embedding model"]

UNUSED_KEY = "unused"

_FACTORIES: dict[ModelKind, str] = {
    "chat model": "langchain.chat_models.base",
    "embedding model": "langchain.embeddings.base",
}
_KEY_SETTINGS: dict[ModelKind, str] = {
    "chat model": "NOVELGEN_MODEL_API_KEY",
    "embedding model": "NOVELGEN_MEMORY__EMBEDDING_API_KEY",
}
_KEY_VARIABLES = {
    "google_genai": "GOOGLE_API_KEY",
    "google_vertexai": "GOOGLE_APPLICATION_CREDENTIALS",
    "huggingface": "HUGGINGFACEHUB_API_TOKEN",
    "mistralai": "MISTRAL_API_KEY",
    "perplexity": "PPLX_API_KEY",
}
"""Where it is not the provider's name with `_API_KEY`."""

_KEYLESS_PROVIDERS = frozenset({"ollama"})
"""On one's own machine, where nobody asks for a key."""

_PROVIDER_OF_PREFIX = {"gemini": "google_genai", "text-embedding-": "openai"}
"""What LangChain does not tell by the beginning of a model's name, or leaves open."""

_COMPATIBLE_SERVICES = {
    "qwen": "https://dashscope.aliyuncs.com/compatible-mode/v1",
    "qwq": "https://dashscope.aliyuncs.com/compatible-mode/v1",
    "glm": "https://open.bigmodel.cn/api/paas/v4",
    "moonshot": "https://api.moonshot.cn/v1",
    "kimi": "https://api.moonshot.cn/v1",
}
"""Models without a provider of LangChain's whose makers offer an OpenAI-compatible address."""

_ADDRESSES_OF_PROVIDERS = {"deepseek": "https://api.deepseek.com/v1"}
"""OpenAI-compatible addresses of providers whose own package need not be installed."""


def full_model_name(kind: ModelKind, name: str) -> str:
    """Return `provider:model` for a model's name, with the provider that its beginning tells where it has none.

    A name whose provider is not known is returned as it is; `configuration_error` says what to write instead.
    """
    name = name.strip()
    provider, _, model = name.partition(":")
    if model and provider in _known_packages(kind):
        return name
    inferred = _inferred_provider(kind, name)
    return f"{inferred}:{name}" if inferred else name


def connection_options(name: str, base_url: str | None, api_key: SecretStr | None) -> dict[str, Any]:
    """Return base URL and key in the client's form, omitting missing ones.

    The OpenAI client refuses to start without a key, which a server of one's own seldom wants: with a base URL
    and no key anywhere it gets a placeholder.
    """
    options: dict[str, Any] = {}
    if base_url:
        options["base_url"] = base_url
    if api_key is not None and api_key.get_secret_value() and name.partition(":")[0] not in _KEYLESS_PROVIDERS:
        options["api_key"] = api_key
    elif base_url and name.startswith("openai:") and not os.environ.get("OPENAI_API_KEY"):
        options["api_key"] = SecretStr(UNUSED_KEY)
    return options


def configuration_error(kind: ModelKind, name: str, error: Exception, api_key: SecretStr | None) -> ConfigurationError:
    """Return the reason and fix for a model that failed to build."""
    text = described(error, secrets=known_keys(api_key))
    full_name = full_model_name(kind, name)
    shown_text = repr(name) if full_name == name.strip() else f"{name!r}, that is {full_name!r},"
    provider, _, model = full_name.partition(":")
    packages = _known_packages(kind)
    if not model or provider not in packages:
        return ConfigurationError(
            f"{kind} {name!r} cannot be used; write {_right_form(kind, full_name, packages)} ({text})"
        )
    if isinstance(error, ImportError):
        key = f"; its key goes into {_key_variable(provider)} or {_KEY_SETTINGS[kind]}"
        return ConfigurationError(
            f"{kind} {shown_text} needs a package: pip install {packages[provider]!r}"
            f"{'' if provider in _KEYLESS_PROVIDERS else key}{_other_way(kind, provider, model)} ({text})"
        )
    if any(word in str(error).casefold() for word in ("api_key", "api key", "api token", "credential")):
        return ConfigurationError(
            f"{kind} {shown_text} needs a key: set {_key_variable(provider)} or {_KEY_SETTINGS[kind]} ({text})"
        )
    return ConfigurationError(f"{kind} {shown_text} cannot be used; correct its settings ({text})")


def known_keys(api_key: SecretStr | None) -> list[str]:
    """Return every key that a server could quote: the given one, and those of the environment."""
    values = [api_key.get_secret_value()] if api_key is not None else []
    of_environment = [value for name, value in os.environ.items() if name.upper().endswith("_API_KEY")]
    return [key for key in (*values, *of_environment) if len(key) >= MIN_KEY_CHARACTERS]


def provider_of_class(kind: ModelKind, model_class: type) -> str | None:
    """Return LangChain's provider of a model class, or None."""
    table = getattr(importlib.import_module(_FACTORIES[kind]), "_BUILTIN_PROVIDERS", {})
    package = model_class.__module__.partition(".")[0]
    for provider, entry in table.items():
        if entry[1] == model_class.__name__ and entry[0].partition(".")[0] == package:
            return str(provider)
    return None


def _known_packages(kind: ModelKind) -> dict[str, str]:
    """Return the packages of providers, from LangChain's private table if present."""
    table = getattr(importlib.import_module(_FACTORIES[kind]), "_BUILTIN_PROVIDERS", {})
    return {provider: entry[0].partition(".")[0].replace("_", "-") for provider, entry in table.items()}


def _inferred_provider(kind: ModelKind, name: str) -> str | None:
    package_names = _known_packages(kind)
    folded_text = name.casefold()
    for prefix, provider in _PROVIDER_OF_PREFIX.items():
        if folded_text.startswith(prefix) and provider in package_names:
            return provider
    infer: Callable[[str], str | None] | None = getattr(
        importlib.import_module(_FACTORIES["chat model"]), "_attempt_infer_model_provider", None
    )
    if infer is None:
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        inferred = infer(name)
    return inferred if inferred in package_names else None


def _other_way(kind: ModelKind, provider: str, model: str) -> str:
    """Return how to do without a provider's package, where its service has an OpenAI-compatible address."""
    address = _ADDRESSES_OF_PROVIDERS.get(provider) if kind == "chat model" else None
    return f"; or write 'openai:{model}' with model_base_url {address}" if address else ""


def _right_form(kind: ModelKind, name: str, packages: dict[str, str]) -> str:
    """Return the right spelling of a model name without a known provider."""
    provider, _, model = name.partition(":")
    for prefix, address in _COMPATIBLE_SERVICES.items():
        if name.casefold().startswith(prefix):
            setting = "model_base_url" if kind == "chat model" else "memory.embedding_base_url"
            return (
                f"'openai:{name}' with {setting} of its service, such as {address} and its key in "
                f"{_KEY_SETTINGS[kind]}, or 'ollama:{name}' for one on this machine"
            )
    nearest = nearest_name(provider, packages, likeness=ALIKE) if model else None
    if nearest:
        return f"'{nearest}:{model}'; there is no provider {provider!r}"
    return "provider:model, such as 'openai:<model>', with a provider of " + ", ".join(sorted(packages))


def _key_variable(provider: str) -> str:
    return _KEY_VARIABLES.get(provider, f"{provider.upper()}_API_KEY")
