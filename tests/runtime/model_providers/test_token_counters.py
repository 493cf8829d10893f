"""Counting tokens by the tokenizer that a setting names."""

import hashlib
import socket
from pathlib import Path

import pytest
import tiktoken
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Whitespace

from novelgen.errors import ConfigurationError
from novelgen.language.language import estimate_tokens
from runtime.model_providers import token_counters
from runtime.model_providers.token_counters import build_token_counter
from runtime.settings import load_settings


@pytest.fixture
def tokenizer_file(tmp_path: Path) -> Path:
    """A tokenizer of whole words that would cut a text at three tokens and pad it to eight."""
    words = {"[UNK]": 0, "Ada": 1, "hid": 2, "the": 3, "key": 4, "阿黛": 5, "藏": 6}
    tokenizer = Tokenizer(WordLevel(words, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = Whitespace()
    tokenizer.enable_truncation(3)
    tokenizer.enable_padding(length=8)
    file = tmp_path / "tokenizer.json"
    tokenizer.save(str(file))
    return file


@pytest.fixture
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever opens a connection fails the test."""

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("a connection was opened")

    monkeypatch.setattr(socket.socket, "connect", refuse)


def test_a_tokenizer_file_counts_whole_texts(tokenizer_file: Path) -> None:
    """Neither truncation nor padding changes what a text costs; the default estimates as before."""
    assert build_token_counter("estimate") == (estimate_tokens, None)
    assert load_settings().memory.token_counter == "estimate"
    count, issue = build_token_counter(f"hf:{tokenizer_file}")
    assert issue is None
    assert [count(text) for text in ("Ada hid the key Ada hid", "阿黛 藏 key", "Ada", "")] == [6, 3, 1, 0]


MALFORMED = ["", "{}", "not json", '{"model": {"type": "WordLevel"}}']


@pytest.mark.parametrize(
    ("name", "kind", "said"),
    [
        ("hf:{}/none.json", "unavailable", "none.json"),
        *((f"hf:{{}}/{number}.json", "malformed", "is no tokenizer.json") for number in range(len(MALFORMED))),
        *((f"tiktoken:{each}", "unavailable", "not in tiktoken's cache") for each in ("o200k_base", "gpt-4o", "gpt-4")),
        ("tiktoken:no-such-model", "unavailable", "knows no model"),
        # No chat model uses its encoding.
        ("tiktoken:text-davinci-003", "unavailable", "not supported"),
    ],
)
def test_what_cannot_count_is_said_and_estimated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, no_network: None, name: str, kind: str, said: str
) -> None:
    """Nothing is fetched; a damaged cache, which tiktoken would delete and fetch anew, is left alone."""
    for number, content in enumerate(MALFORMED):
        (tmp_path / f"{number}.json").write_text(content, "utf-8")
    url = "https://openaipublic.blob.core.windows.net/encodings/cl100k_base.tiktoken"
    damaged = tmp_path / hashlib.sha1(url.encode()).hexdigest()
    damaged.write_bytes(b"cut")
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path))
    count, issue = build_token_counter(name.format(tmp_path))
    assert count is estimate_tokens
    assert issue is not None
    assert (issue.stage, issue.kind) == ("tokens", kind)
    assert said in issue.message
    assert damaged.read_bytes() == b"cut"


def test_what_tiktoken_has_at_hand_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, no_network: None) -> None:
    """A file whose hash is right is given to tiktoken, and its encoding counts without special tokens."""
    content = b"IQ== 0\nIg== 1\n"
    digest = hashlib.sha256(content).hexdigest()
    url = "https://openaipublic.blob.core.windows.net/encodings/o200k_base.tiktoken"
    (tmp_path / hashlib.sha1(url.encode()).hexdigest()).write_bytes(content)
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(token_counters, "_TIKTOKEN_ENCODINGS", {"o200k_base": ("o200k_base", digest)})
    letters = tiktoken.Encoding(
        "letters", pat_str=r".", mergeable_ranks={bytes([n]): n for n in range(256)}, special_tokens={}
    )
    monkeypatch.setattr(tiktoken, "get_encoding", lambda name: letters)
    count, issue = build_token_counter("tiktoken:gpt-4o")
    assert (count("Ada"), count("钥"), issue) == (3, 3, None)


@pytest.mark.parametrize("name", ["", "exact", "hf:", "tiktoken:", "spm:x"])
def test_an_unknown_scheme_is_refused(name: str) -> None:
    """Both where it is set and where a counter is asked for, with what can be written."""
    with pytest.raises(ConfigurationError, match="token counter"):
        build_token_counter(name)
    with pytest.raises(ConfigurationError, match=r"memory\.token_counter"):
        load_settings(memory={"token_counter": name})
