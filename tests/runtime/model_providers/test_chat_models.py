"""Chat models by name."""

import pytest
from langchain_openai import ChatOpenAI
from pydantic import SecretStr

from novelgen.errors import ConfigurationError
from runtime.model_providers.chat_models import build_chat_model
from tests.support.openai_stub import openai_stub

KEY = "sk-verysecretverysecret"


@pytest.mark.parametrize("name", [None, "", "  "])
def test_no_name_is_no_model(name: str | None) -> None:
    """Without a name the rules plan alone."""
    assert build_chat_model(name) is None


def test_settings_reach_the_server() -> None:
    """Model, key, token limit and temperature are those that were given; nothing is retried."""
    with openai_stub(lambda call: call.say("hello")) as stub:
        model = build_chat_model("openai:tiny", base_url=stub.base_url, api_key=SecretStr(KEY), max_tokens=77)
        assert isinstance(model, ChatOpenAI)
        assert model.invoke("hi").text == "hello"
    payload = stub.calls[0]
    assert (payload["model"], payload["max_completion_tokens"], payload["temperature"]) == ("tiny", 77, 0.0)
    assert model.max_retries == 0


def test_server_of_ones_own_needs_no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    """A base URL alone is enough for a local server."""
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with openai_stub(lambda call: call.say("hello")) as stub:
        model = build_chat_model("openai:tiny", base_url=stub.base_url)
        assert model is not None
        assert model.invoke("hi").text == "hello"


def test_key_is_in_no_representation_and_no_error() -> None:
    """A model that its name alone tells is built with it, and a provider's error is told without it."""
    model = build_chat_model("openai:tiny", api_key=SecretStr(KEY))
    assert KEY not in repr(model) + str(model)
    model = build_chat_model("gpt-4o", api_key=SecretStr(KEY))
    assert isinstance(model, ChatOpenAI)
    assert model.model_name == "gpt-4o"
    with pytest.raises(ConfigurationError, match="openai:tiny") as caught:
        build_chat_model("openai:tiny", api_key=SecretStr(KEY), max_tokens=KEY)  # type: ignore[arg-type]
    assert KEY not in str(caught.value)
    assert caught.value.__cause__ is None


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("no-such-model", r"chat model 'no-such-model' cannot be used; write provider:model"),
        ("nonsense:model", r"chat model 'nonsense:model' cannot be used; write provider:model"),
        ("opnai:gpt-4o", r"cannot be used; write 'openai:gpt-4o'; there is no provider 'opnai'"),
        ("mistralai:small", r"needs a package: pip install 'langchain-mistralai'.*MISTRAL_API_KEY"),
        ("openai:gpt-4.1-mini", r"needs a key: set OPENAI_API_KEY or NOVELGEN_MODEL_API_KEY"),
        ("gpt-4o", r"'gpt-4o', that is 'openai:gpt-4o', needs a key: set OPENAI_API_KEY"),
        ("deepseek-chat", r"'deepseek:deepseek-chat', needs .* 'langchain-deepseek'; .* DEEPSEEK_API_KEY"),
        ("claude-sonnet-4", r"'anthropic:claude-.*pip install 'langchain-anthropic'.*ANTHROPIC_API_KEY"),
        ("gemini-2.5-pro", r"'google_genai:gemini-.*pip install 'langchain-google-genai'.*GOOGLE_API_KEY"),
        ("deepseek-chat", r"or write 'openai:deepseek-chat' with model_base_url https://api\.deepseek\.com/v1"),
        ("ollama:qwen3", r"needs a package: pip install 'langchain-ollama' [(]"),
        ("qwen-plus", r"write 'openai:qwen-plus' with model_base_url .*dashscope.*NOVELGEN_MODEL_API_KEY"),
        ("qwen3:8b", r"write 'openai:qwen3:8b' with model_base_url .*'ollama:qwen3:8b'"),
    ],
)
def test_bad_names_say_what_to_change(name: str, message: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A missing or unknown provider, a missing package and a missing key each name the value and the fix."""
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(ConfigurationError, match=message):
        build_chat_model(name)
