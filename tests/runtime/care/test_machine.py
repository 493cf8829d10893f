"""Checks that need no project."""

import pytest
from pydantic import SecretStr

from runtime.care.checks import Diagnosis, Finding, check_chat_model, check_embeddings, check_sqlite, versions
from runtime.settings import MemorySettings, NovelgenSettings
from runtime.stores import MemoryStores
from tests.support.openai_stub import openai_stub

KEY = "no-pattern.known/to:anyone"


@pytest.mark.parametrize(
    ("version", "url", "level"),
    [
        ((3, 40, 1), None, "hint"),
        ((3, 51, 2), "sqlite:///x.db", "hint"),
        ((3, 51, 3), None, "ok"),
        ((4, 0, 0), None, "ok"),
        ((3, 40, 1), "postgresql+psycopg://localhost/x", "ok"),
    ],
)
def test_sqlite_before_its_fix_is_pointed_out(version: tuple[int, ...], url: str | None, level: str) -> None:
    """The WAL-reset error is named for the versions that have it, where SQLite is used at all."""
    finding = check_sqlite(NovelgenSettings(database_url=url), version=version)
    assert finding.level == level
    assert ("WAL-reset" in finding.message) == (level == "hint")


@pytest.mark.slow
def test_a_chat_model_without_a_key_or_a_server_is_degraded(monkeypatch: pytest.MonkeyPatch) -> None:
    """With the settings to correct, embeddings alike; a package that is not there is listed as such."""
    monkeypatch.setattr("runtime.care.checks._PACKAGES", ("click", "no-such-package"))
    found = versions()
    assert found["no-such-package"] == "not installed"
    assert found["click"][0].isdigit()
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    finding = check_chat_model(NovelgenSettings(model="openai:gpt-4.1-mini"))
    assert finding.level == "degraded"
    assert "NOVELGEN_MODEL_API_KEY" in finding.fix
    dead = "http://127.0.0.1:9/v1"
    assert check_chat_model(NovelgenSettings(model="openai:stub", model_base_url=dead)).level == "degraded"
    memory = MemorySettings(embedding_model="openai:stub", embedding_base_url=dead)
    with MemoryStores(NovelgenSettings(memory=memory)) as stores:
        assert check_embeddings(stores).level == "degraded"


def test_a_chat_model_is_really_asked() -> None:
    """One that answers is fine; one that refuses the key is degraded, with what it said but not the key."""
    with openai_stub(lambda call: call.say("yes")) as stub:
        settings = NovelgenSettings(model="openai:stub", model_base_url=stub.base_url)
        assert check_chat_model(settings).level == "ok"
        assert len(stub.calls) == 1
    with openai_stub(lambda call: call.refuse(401, f"Incorrect API key provided: {KEY}")) as stub:
        refused = check_chat_model(
            NovelgenSettings(model="openai:stub", model_base_url=stub.base_url, model_api_key=SecretStr(KEY))
        )
    assert refused.level == "degraded"
    assert "401" in refused.message
    assert KEY not in refused.message + refused.fix


def test_without_the_network_no_service_is_asked() -> None:
    """`--no-network` builds the models and asks nobody elsewhere; a server of this machine is asked all the same."""
    far = "http://nobody.invalid/v1"
    memory = MemorySettings(embedding_model="openai:stub", embedding_base_url=far)
    settings = NovelgenSettings(model="openai:stub", model_base_url=far, memory=memory)
    chat_model = check_chat_model(settings, ask_network=False)
    with MemoryStores(settings) as stores:
        embeddings = check_embeddings(stores, ask_network=False)
    assert {chat_model.level, embeddings.level} == {"ok"}
    assert all("was not asked" in each.message for each in (chat_model, embeddings))
    with openai_stub(lambda call: call.say("yes")) as stub:
        here = NovelgenSettings(model="openai:stub", model_base_url=stub.base_url)
        assert "answers" in check_chat_model(here, ask_network=False).message


def test_the_key_of_the_embedding_model_reaches_its_server_and_no_message() -> None:
    """`embedding_api_key` is a setting of its own; it is in no representation and no finding."""
    with openai_stub(lambda call: call.refuse(401, f"Incorrect API key provided: {KEY}")) as stub:
        memory = MemorySettings(
            embedding_model="openai:stub", embedding_base_url=stub.base_url, embedding_api_key=SecretStr(KEY)
        )
        settings = NovelgenSettings(memory=memory)
        with MemoryStores(settings) as stores:
            finding = check_embeddings(stores)
    assert stub.keys[0] == f"Bearer {KEY}"
    assert finding.level == "degraded"
    assert KEY not in repr(settings) + settings.model_dump_json() + finding.model_dump_json()


@pytest.mark.parametrize(("level", "is_broken"), [("degraded", False), ("broken", True)])
def test_a_diagnosis_is_broken_by_what_is_broken(level: str, is_broken: bool) -> None:
    """Degraded things work; one broken thing is enough."""
    finding = Finding.model_validate({"level": level, "what": "database", "message": ""})
    assert Diagnosis(findings=[finding]).is_broken == is_broken
