"""A project's folder cannot send the user's keys anywhere, nor put a database elsewhere, until its user trusts it."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from novelgen.errors import ConfigurationError, EmbeddingError, InvalidFileError
from runtime.doors.cli.main import novelgen
from runtime.files import project_trust
from runtime.model_providers.chat_models import build_chat_model
from runtime.model_providers.embeddings import build_embeddings
from runtime.settings import NovelgenSettings
from runtime.story.projects import look_at_trust, project_settings
from tests.support.openai_stub import openai_stub

KEY = "sk-REALKEY-of-the-user-0123456789"


@pytest.fixture(autouse=True)
def trust_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file of confirmations outside of the project."""
    file = tmp_path / "user" / "trusted.json"
    monkeypatch.setenv(project_trust.TRUST_VARIABLE, str(file))
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    return file


@pytest.fixture
def projects(tmp_path: Path) -> Path:
    """A folder with the project of somebody else."""
    (tmp_path / "projects" / "gift").mkdir(parents=True)
    return tmp_path / "projects"


def _say(projects: Path, **settings: Any) -> None:
    # JSON is YAML.
    (projects / "gift" / "config.yaml").write_text(json.dumps(settings), encoding="utf-8")


def _ask(settings: NovelgenSettings) -> None:
    model = build_chat_model(settings.model, base_url=settings.model_base_url, api_key=settings.model_api_key)
    assert model is not None
    model.invoke("hello")


def _embed(settings: NovelgenSettings) -> None:
    memory = settings.memory
    embeddings = build_embeddings(
        memory.embedding_model, base_url=memory.embedding_base_url, api_key=memory.embedding_api_key
    )
    with pytest.raises(EmbeddingError):
        embeddings.embed_query("hello")


@pytest.mark.parametrize("variable", ["OPENAI_API_KEY", "NOVELGEN_MODEL_API_KEY"])
def test_a_chat_model_elsewhere_gets_no_key(
    projects: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, variable: str
) -> None:
    """Neither the provider's nor ours; a trusted address does, and another one needs a new word."""
    monkeypatch.setenv(variable, KEY)
    with openai_stub(lambda call: call.say("ok")) as stub, openai_stub(lambda call: call.say("ok")) as other:
        _say(projects, model="openai:ok", model_base_url=stub.base_url)
        _ask(project_settings(projects, "gift"))
        assert stub.keys == [f"Bearer {project_trust.WITHHELD_KEY}"]
        assert stub.base_url in caplog.text
        assert "novelgen trust gift" in caplog.text
        look_at_trust(projects, "gift", is_confirmed=True)
        _ask(project_settings(projects, "gift"))
        assert stub.keys[1:] == [f"Bearer {KEY}"]
        _say(projects, model="openai:ok", model_base_url=other.base_url)
        _ask(project_settings(projects, "gift"))
        look_at_trust(projects, "gift", is_confirmed=True)
        look_at_trust(projects, "gift", is_confirmed=False)
        _ask(project_settings(projects, "gift"))
        assert other.keys == [f"Bearer {project_trust.WITHHELD_KEY}"] * 2


def test_an_embedding_model_elsewhere_gets_no_key(projects: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whichever variable holds it."""
    monkeypatch.setenv("NOVELGEN_MEMORY__EMBEDDING_API_KEY", KEY)
    with openai_stub(lambda call: call.refuse(400, "no")) as stub:
        _say(projects, memory={"embedding_model": "openai:ok", "embedding_base_url": stub.base_url})
        _embed(project_settings(projects, "gift"))
        assert set(stub.keys) == {f"Bearer {project_trust.WITHHELD_KEY}"}


def test_an_index_elsewhere_gets_no_token(projects: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither token nor headers, until the address is trusted."""
    monkeypatch.setenv("NOVELGEN_CHROMA_TOKEN", KEY)
    monkeypatch.setenv("NOVELGEN_CHROMA_HEADERS", json.dumps({"X-Chroma-Token": KEY}))
    _say(projects, memory={"vector_store": {"url": "http://127.0.0.1:9"}})
    withheld = project_settings(projects, "gift")
    assert (withheld.chroma_token, withheld.chroma_headers) == (None, {})
    look_at_trust(projects, "gift", is_confirmed=True)
    assert project_settings(projects, "gift").chroma_token is not None


def test_what_the_user_says_outside_of_the_project_gets_keys(projects: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The environment outranks the file, and a key of the project itself is its own."""
    with openai_stub(lambda call: call.say("ok")) as stub:
        _say(projects, model="openai:ok", model_base_url=stub.base_url, model_api_key="sk-of-the-project-123")
        _ask(project_settings(projects, "gift"))
        monkeypatch.setenv("NOVELGEN_MODEL_BASE_URL", stub.base_url)
        _say(projects, model="openai:ok", model_base_url="http://127.0.0.1:9/v1")
        _ask(project_settings(projects, "gift"))
        assert stub.keys == ["Bearer sk-of-the-project-123", f"Bearer {KEY}"]


@pytest.mark.parametrize("address", ["sqlite:////tmp/elsewhere.db", "sqlite:///../elsewhere.db", "postgresql://h/db"])
def test_a_database_elsewhere_is_not_opened(projects: Path, address: str) -> None:
    """It is refused with what to do; one within the folder is the project's own."""
    _say(projects, database_url=address)
    with pytest.raises(ConfigurationError, match="novelgen trust gift") as refusal:
        project_settings(projects, "gift")
    assert address not in str(refusal.value)
    look_at_trust(projects, "gift", is_confirmed=True)
    assert project_settings(projects, "gift").database_url == address
    own = f"sqlite:///{projects / 'gift' / 'data' / 'own.db'}"
    _say(projects, database_url=own)
    assert project_settings(projects, "gift").database_url == own


def test_the_command_asks_shows_and_takes_back(projects: Path, trust_file: Path) -> None:
    """Without a terminal it needs --yes; passwords are not shown; the confirmation lies outside of the project."""
    _say(projects, database_url="postgresql://me:secret@db.example/novel")
    command = ["--projects-dir", str(projects), "trust", "gift"]
    refused = CliRunner().invoke(novelgen, command)
    assert refused.exit_code == 2
    assert not trust_file.exists()
    done = CliRunner().invoke(novelgen, [*command, "--yes", "--json"])
    assert done.exit_code == 0, done.output
    told = json.loads(done.stdout)
    assert told["is_trusted"]
    assert told["addresses"] == {"database_url": "postgresql://…@db.example/novel"}
    assert str((projects / "gift").resolve()) in trust_file.read_text(encoding="utf-8")
    CliRunner().invoke(novelgen, [*command, "--remove"])
    assert json.loads(trust_file.read_text(encoding="utf-8")) == {}


def test_a_damaged_file_of_confirmations_is_named(projects: Path, trust_file: Path) -> None:
    """Nothing counts as trusted by it."""
    trust_file.parent.mkdir()
    trust_file.write_text("{", encoding="utf-8")
    _say(projects, model="openai:ok", model_base_url="http://127.0.0.1:9/v1")
    with pytest.raises(InvalidFileError, match=r"trusted\.json"):
        project_settings(projects, "gift")
