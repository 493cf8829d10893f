"""Keys are in no log, report, error, output or representation, whatever a server says of them."""

import logging
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner
from pydantic import SecretStr

from novelgen.errors import ConfigurationError, EmbeddingError
from runtime.context_chain import build_context_chain
from runtime.doors.cli.main import novelgen
from runtime.ingest.extraction import extract_scenes
from runtime.ingest.indexing import reindex
from runtime.ingest.scene_passes import SceneChoice
from runtime.model_providers.chat_models import build_chat_model
from runtime.model_providers.embeddings import build_embeddings
from runtime.settings import load_settings
from runtime.stores import MemoryStores
from tests.support.demo_project import demo_request, settings_for
from tests.support.openai_stub import StubCall, openai_stub

KEYS = ["sk-proj-abcDEF123456789", "no-pattern.known/to:anyone", "42424242424242"]


def _telling(key: str) -> Callable[[StubCall], None]:
    """Answer as a server that quotes the key."""
    return lambda call: call.refuse(401, f"Incorrect API key provided: {key}. Authorization: Bearer {key}")


@pytest.mark.slow
@pytest.mark.parametrize("key", KEYS)
def test_a_failing_chat_model_tells_no_key(demo_folder: Path, caplog: pytest.LogCaptureFixture, key: str) -> None:
    """Neither planning nor extraction lets it out, in reports or logs at any level."""
    with openai_stub(_telling(key)) as stub, caplog.at_level(logging.DEBUG, logger="novelgen"):
        settings = load_settings(
            projects_dir=demo_folder,
            memory=settings_for(demo_folder).memory.model_dump(),
            model="openai:stub",
            model_base_url=stub.base_url,
            model_api_key=key,
        )
        with MemoryStores(settings) as stores:
            context = build_context_chain(stores).invoke(demo_request("demo", 5, 4))
            model = build_chat_model(settings.model, base_url=settings.model_base_url, api_key=settings.model_api_key)
            assert model is not None
            report = extract_scenes(stores, "demo", model, choice=SceneChoice(chapter_index=99))
    told = [context.model_dump_json(), report.model_dump_json(), caplog.text, repr(settings), str(model), repr(model)]
    assert stub.calls
    assert any("401" in issue.message for issue in context.report.issues)
    assert [text for text in told if key in text] == []


@pytest.mark.parametrize("key", KEYS)
def test_a_failing_embedding_model_tells_no_key(
    demo_folder: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, key: str
) -> None:
    """The key comes from the provider's environment variable; errors and their causes do not hold it."""
    monkeypatch.setenv("OPENAI_API_KEY", key)
    with openai_stub(_telling(key)) as stub, caplog.at_level(logging.DEBUG, logger="runtime"):
        memory = {"embedding_model": "openai:stub", "embedding_base_url": stub.base_url}
        with MemoryStores(settings_for(demo_folder, **memory)) as stores:
            context = build_context_chain(stores).invoke(demo_request("demo", 5, 4))
            with pytest.raises(EmbeddingError, match="401") as caught:
                reindex(stores, "demo")
    assert stub.calls
    chain: list[BaseException] = [caught.value]
    while (cause := chain[-1].__cause__) is not None:
        chain.append(cause)
    told = [context.model_dump_json(), caplog.text, *(repr(error) for error in chain)]
    assert [text for text in told if key in text] == []


@pytest.mark.parametrize("key", [KEYS[0], *(pytest.param(key, marks=pytest.mark.thorough) for key in KEYS[1:])])
def test_the_command_line_tells_no_key(demo_folder: Path, kept_logging: None, key: str) -> None:
    """Not even at debug, where tracebacks are shown."""
    with openai_stub(_telling(key)) as stub:
        environment = {
            "NOVELGEN_MODEL": "openai:stub",
            "NOVELGEN_MODEL_BASE_URL": stub.base_url,
            "NOVELGEN_MODEL_API_KEY": key,
            "OPENAI_API_KEY": key,
            "NOVELGEN_MEMORY__EMBEDDING_MODEL": "openai:stub",
            "NOVELGEN_MEMORY__EMBEDDING_BASE_URL": stub.base_url,
        }
        program = ["--projects-dir", str(demo_folder), "--log-level", "debug"]
        commands = (["reindex", "demo"], ["context", "demo", "--chapter", "5", "--scene", "4", "--json"])
        told = [CliRunner(env=environment).invoke(novelgen, [*program, *command]).output for command in commands]
    assert "Traceback" in told[0]
    assert all("401" in each and key not in each for each in told)


@pytest.mark.parametrize(
    "content",
    ["model_api_key: [KEY]", "model_api_key: {a: KEY}", "model_api_key: 'KEY", "model_api_key: KEY\n  x: : y"],
)
def test_a_wrong_setting_tells_no_key(tmp_path: Path, content: str) -> None:
    """A key of a wrong type, also the number as which YAML reads digits, or in no YAML, is not quoted."""
    file = tmp_path / "config.yaml"
    for told in (content.replace("KEY", KEYS[1]), f"model_api_key: {KEYS[2]}"):
        file.write_text(told, encoding="utf-8")
        with pytest.raises(ConfigurationError, match=r"model_api_key|not YAML") as caught:
            load_settings(file)
        assert not [key for key in KEYS if key in str(caught.value)]


@pytest.mark.parametrize("key", KEYS)
def test_models_show_no_key(key: str) -> None:
    """Printing what holds a key does not print it."""
    secret = SecretStr(key)
    chat = build_chat_model("openai:stub", base_url="http://127.0.0.1:9", api_key=secret)
    embeddings = build_embeddings("openai:stub", base_url="http://127.0.0.1:9", api_key=secret)
    assert all(key not in text for text in (repr(chat), str(chat), repr(embeddings), repr(vars(embeddings))))
