"""Settings by their names: those of the memory may be given flat, and a misspelt one is told the right one."""

from pathlib import Path
from typing import Any

import pytest

from novelgen.errors import ConfigurationError
from runtime.settings import load_settings


def test_settings_of_the_memory_may_be_given_by_their_own_name() -> None:
    """Flat and grouped keywords say the same and go together."""
    settings = load_settings(memory={"state_budget": 700}, memory_budget=3000, model_timeout_s=5)
    assert (settings.memory.memory_budget, settings.memory.state_budget) == (3000, 700)
    assert settings.model_timeout_s == 5


IN_A_FILE = {
    "databse_url: sqlite://": "config.yaml': there is no setting 'databse_url'; did you mean 'database_url'",
    "Memory:\n  memory_budget: 1": "no setting 'Memory'; did you mean 'memory'",
    "memory_budget: 1": "'memory_budget' stands under `memory:`",
    "memory:\n  memry_budget: 1": r"did you mean 'memory\.memory_budget'",
    "memory:\n  vector_store:\n    ulr: http://x": r"did you mean 'memory\.vector_store\.url'",
}
IN_THE_ENVIRONMENT = {
    "NOVELGEN_MODLE": "no setting NOVELGEN_MODLE; did you mean NOVELGEN_MODEL",
    "NOVELGEN_MEMORY_BUDGET": "write NOVELGEN_MEMORY__MEMORY_BUDGET",
    "novelgen_database_ulr": "did you mean NOVELGEN_DATABASE_URL",
    "NOVELGEN_MEMORY__MEMORY_BUDGT": r"did you mean 'memory\.memory_budget'",
}


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"memory_budgt": 1}, "no setting 'memory_budgt'; did you mean 'memory_budget'"),
        ({"modle": "openai:x"}, "did you mean 'model'"),
        ({"memory": {"memory_budgt": 1}}, r"'memory\.memory_budgt'; did you mean 'memory\.memory_budget'"),
        ({"memory": {"weights": {"relevanse": 1}}}, r"did you mean 'memory\.weights\.relevance'"),
        ({"vector_store": {"ulr": "x"}}, r"did you mean 'memory\.vector_store\.url'"),
        ({"colour": "blue"}, "no setting 'colour'; there are: attach_notes_by_name,"),
        # Seed 000.42: other stores, misspelt names and wrong values of the names that other programs write.
        ({"vector_store": {"provider": "pinecone"}}, r"memory\.vector_store\.provider' cannot be 'pinecone'"),
        ({"vector_store": {"embedding_modl": "default"}}, r"no setting 'memory\.vector_store\.embedding_modl'"),
        ({"vector_store": {"embedding_model": 3}}, r"memory\.embedding_model' cannot be 3"),
        *IN_A_FILE.items(),
        *IN_THE_ENVIRONMENT.items(),
    ],
)
def test_a_misspelt_setting_is_told_the_right_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, given: Any, told: str
) -> None:
    """As a keyword, in the file and in the environment, whose value, which may be a key, is not told."""
    file = tmp_path / "config.yaml"
    if isinstance(given, str) and given in IN_A_FILE:
        file.write_text(given, encoding="utf-8")
    elif isinstance(given, str):
        monkeypatch.setenv(given, "sk-secret" if "__" not in given else "7")
    with pytest.raises(ConfigurationError, match=told) as raised:
        load_settings(file, **({} if isinstance(given, str) else given))
    assert "sk-secret" not in str(raised.value)


def test_settings_of_other_programs_are_left_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In the file, which may be shared, and in the environment."""
    file = tmp_path / "config.yaml"
    file.write_text("llm:\n  provider: openai\ntemperature: 0.7\n", encoding="utf-8")
    assert load_settings(file) == load_settings()
    monkeypatch.setenv("NOVELGEN_WEB_PORT", "80")
    assert load_settings().model is None


def test_the_names_of_the_seed_are_understood(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Seed 000.42: its config.yaml is taken as it stands; novelgen's own name wins over the other one."""
    monkeypatch.delenv("NOVELGEN_MEMORY__EMBEDDING_MODEL", raising=False)
    config = tmp_path / "config.yaml"
    config.write_text(
        "memory:\n"
        "  vector_store:\n"
        '    provider: "chromadb"\n'
        '    embedding_model: "default"\n'
        "  summarization:\n"
        "    max_bullets: 5\n"
        '    model: "gpt-5"\n',
        encoding="utf-8",
    )
    settings = load_settings(config)
    assert settings.memory == load_settings(memory={"summarization": {"model": "gpt-5"}}).memory
    assert (settings.memory.vector_store.provider, settings.memory.embedding_model) == ("chroma", "local")
    both = load_settings(memory={"embedding_model": "fake:8", "vector_store": {"embedding_model": "fake:16"}})
    assert both.memory.embedding_model == "fake:8"
    moved = load_settings(vector_store={"embedding_model": "fake:16"})
    assert moved.memory.embedding_model == "fake:16"
    monkeypatch.setenv("NOVELGEN_MEMORY__EMBEDDING_MODEL", "fake:32")
    assert load_settings(config).memory.embedding_model == "fake:32"
