"""The identity of embeddings: what tells two models apart, as object and by name, and by what they return."""

from pathlib import Path

import pytest
from langchain_core.embeddings import Embeddings
from langchain_openai import AzureOpenAIEmbeddings, OpenAIEmbeddings

import novelgen
from novelgen.errors import EmbeddingError
from novelgen.testing import open_ephemeral
from runtime.care.checks import check_index, repair_index
from runtime.ingest.indexing import drain_outbox, reindex, verify_index
from runtime.model_providers.embeddings import build_embeddings, checked_embeddings
from runtime.model_providers.offline_embeddings import HashedNgramEmbeddings


class Spinning(Embeddings):
    """Embeddings that tell no model; another shift makes another model."""

    def __init__(self, shift: int = 0, dimension: int = 32, **told: object) -> None:
        self._hashed = HashedNgramEmbeddings(dimension)
        self._shift = shift
        vars(self).update(told)

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """Embed by letters, turned by the shift."""
        return [vector[self._shift :] + vector[: self._shift] for vector in self._hashed.embed_documents(texts)]

    def embed_query(self, text: str) -> list[float]:
        """Embed as a passage."""
        return self.embed_documents([text])[0]


def name_of(embeddings: Embeddings) -> str:
    return checked_embeddings(embeddings).model_name


@pytest.mark.parametrize("attribute", ["model", "model_name", "model_id", "deployment", "repo_id"])
def test_whatever_tells_two_models_apart_is_their_identity(attribute: str) -> None:
    """Each of the names that packages give the model counts; the same value is the same model."""
    one, other = (Spinning(**{attribute: value}) for value in ("one", "other"))
    assert name_of(one) == "Spinning:one"
    assert name_of(other) == "Spinning:other"


def test_an_object_is_the_model_that_a_setting_names() -> None:
    """Of LangChain's packages the provider is known; a deployment that was not chosen says nothing."""
    key = {"api_key": "sk-none", "check_embedding_ctx_length": False}
    assert name_of(OpenAIEmbeddings(model="bge-m3", **key)) == "openai:bge-m3"  # type: ignore[arg-type]
    named = build_embeddings("openai:bge-m3", base_url="http://127.0.0.1:9/v1")
    assert named.model_name == "openai:bge-m3"
    assert build_embeddings("text-embedding-3-small", base_url="http://127.0.0.1:9/v1").model_name == (
        "openai:text-embedding-3-small"
    )
    azure = AzureOpenAIEmbeddings(
        azure_deployment="mine", model="m", azure_endpoint="http://127.0.0.1:9", api_version="1", api_key="k"
    )
    assert name_of(azure) == "azure_openai:m/mine"


def test_wrapped_embeddings_are_known_by_what_they_wrap() -> None:
    """A cache is the model that it keeps; another wrapper may change vectors and is named beside it."""
    inner = Spinning(model="one")
    assert name_of(Spinning(underlying_embeddings=inner)) == "Spinning:one"
    wrapper = Spinning()
    wrapper._hashed = inner  # type: ignore[assignment]
    assert name_of(wrapper) == "Spinning(Spinning:one)"


class Silent(Spinning):
    """Embeddings whose parts tell nothing either."""

    def __init__(self, shift: int = 0, dimension: int = 32) -> None:
        super().__init__(shift, dimension)
        hashed, self._hashed = self._hashed, None  # type: ignore[assignment]
        self._embed = hashed.embed_documents

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """Embed by letters, turned by the shift."""
        return [vector[self._shift :] + vector[: self._shift] for vector in self._embed(texts)]


def test_models_that_tell_nothing_are_known_by_a_fingerprint() -> None:
    """The same vectors give the same identity, others another."""
    assert name_of(Silent()) == name_of(Silent())
    assert name_of(Silent()) != name_of(Silent(shift=7))


@pytest.mark.slow
@pytest.mark.parametrize("change", [{"shift": 7}, {"dimension": 16}])
def test_other_vectors_under_one_class_are_never_mixed(tmp_path: Path, change: dict[str, int]) -> None:
    """Words and entities answer, report, search and doctor say what to do here, and reindex() does it."""
    settings = {"database_url": f"sqlite:///{tmp_path / 'stories.db'}"}
    with novelgen.open(tmp_path, embeddings=Silent(), **settings) as stories:
        story = stories.create("mill", language="en")
        story.ingest(text="Ada gave Bo the key of the mill.", chapter_index=1, scene_index=1)
    with novelgen.open(tmp_path, embeddings=Silent(**change), **settings) as stories:
        story = stories.story("mill")
        found = story.search("the key")
        assert [memory.content for memory in found] == ["Ada gave Bo the key of the mill."]
        advice = "call `reindex()` on the story in the program that passes these embeddings"
        assert [advice in message for message in map(str, found.issues)] == [True]
        context = story.context(1, 2, {"purpose": "Bo turns the key of the mill."})
        assert any(advice in issue.message for issue in context.report.issues)
        assert context.relevant_memories
        finding = check_index(story._stores, "mill", waiting_count=0)
        assert finding is not None
        assert (finding.level, finding.fix) == ("degraded", advice)
        story.project.reindex()
        assert story.search("the key").issues == []


@pytest.mark.parametrize("name", ["openai:emb"])
def test_a_named_model_of_another_length_names_the_command(tmp_path: Path, name: str) -> None:
    """A server that loads another model under the same name: the shell's own command mends it."""
    with open_ephemeral(embeddings=Spinning(model="emb")) as stories:
        stores = stories.create("mill", language="en")._stores
        stories.story("mill").ingest(text="Ada gave Bo the key.", chapter_index=1, scene_index=1)
        stores._embeddings = checked_embeddings(Spinning(model="emb", dimension=16))
        stores._embeddings.is_passed_in = False
        found = stories.story("mill").search("the key")
        assert [memory.content for memory in found] == ["Ada gave Bo the key."]
        assert "run `novelgen reindex mill`" in str(found.issues[0])
        assert "(32 dimensions)" in str(found.issues[0])


class Faulty(Spinning):
    """Embeddings that give texts with a word in them a vector of some value everywhere."""

    bad: float | None = 0.0

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """Embed by letters, but for the faulty text."""
        vectors = super().embed_documents(texts)
        if self.bad is None:
            return vectors
        return [
            [self.bad] * len(vector) if "key" in text else vector for text, vector in zip(texts, vectors, strict=True)
        ]


@pytest.mark.slow
@pytest.mark.parametrize("bad", [0.0, 3e38])
@pytest.mark.parametrize("heal", [drain_outbox, reindex, repair_index])
def test_a_vector_without_a_direction_costs_its_memory_alone(bad: float, heal: object) -> None:
    """It is refused on arrival and waits; the others are indexed, and any way to the index embeds it again."""
    model = Faulty(model="faulty")
    model.bad = bad
    with open_ephemeral(embeddings=model) as stories:
        story = stories.create("mill", language="en")
        story.ingest(text="Ada gave Bo the key.", chapter_index=1, scene_index=1)
        story.ingest(text="It rained on the mill.", chapter_index=1, scene_index=2)
        stores = story._stores
        assert len(verify_index(stores, "mill").missing_ids) == 1
        result = drain_outbox(stores, "mill")
        assert (result.waiting, "vector without a direction" in result.issues[0].message) == (1, True)
        assert [memory.content for memory in story.search("rained")][:1] == ["It rained on the mill."]
        with pytest.raises(EmbeddingError, match="a vector of zeros, or one too long or too short"):
            stores.embeddings.embed_query("key")
        assert reindex(stores, "mill").waiting == 1
        assert [finding.level for finding in repair_index(stores, "mill")][-1] == "ok"
        model.bad = None
        heal(stores, "mill")  # type: ignore[operator]
        assert drain_outbox(stores, "mill").waiting == 0
        assert verify_index(stores, "mill").is_sound


@pytest.mark.slow
def test_a_repair_that_fails_is_part_of_the_diagnosis(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever asks for JSON gets it, with what failed and what to do."""

    def failing(*_: object) -> None:
        raise EmbeddingError("the embedding server is away")

    with open_ephemeral() as stories:
        story = stories.create("mill", language="en")
        monkeypatch.setattr("runtime.care.checks.repair_index", failing)
        diagnosis = story.project.check_health(repair=True, ask_network=False)
    (repair,) = diagnosis.repairs
    assert (repair.level, "the embedding server is away" in repair.message) == ("broken", True)
    assert diagnosis.is_broken
    assert diagnosis.model_dump_json()
