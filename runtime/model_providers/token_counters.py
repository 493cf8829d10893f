"""Token counting by local tokenizers, without downloads."""

import os
import tempfile
from hashlib import sha1, sha256
from pathlib import Path
from typing import NamedTuple

from novelgen.errors import ConfigurationError
from novelgen.language.language import TokenCounter, estimate_tokens
from novelgen.models.context import IssueKind, ReportIssue

_TIKTOKEN_FILES = "https://openaipublic.blob.core.windows.net/encodings"
_TIKTOKEN_ENCODINGS = {
    "cl100k_base": ("cl100k_base", "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7"),
    "o200k_base": ("o200k_base", "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d"),
    "o200k_harmony": ("o200k_base", "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d"),
}
"""Encoding to its file and the file's sha256, as tiktoken_ext/openai_public.py has them: it fetches what is missing
or damaged, so this is looked at before it is asked."""


class TokenCounting(NamedTuple):
    """A token counter, or an estimate with an issue."""

    count_tokens: TokenCounter
    issue: ReportIssue | None = None


def build_token_counter(name: str) -> TokenCounting:
    """Build the counter that a setting names."""
    scheme, _, target = name.partition(":")
    if name == "estimate":
        return TokenCounting(estimate_tokens)
    if scheme == "tiktoken" and target:
        return _tiktoken_counter(target)
    if scheme == "hf" and target:
        file = Path(target).expanduser()
        if not file.is_file():
            return _estimated("unavailable", f"there is no file {str(file)!r}")
        try:
            from tokenizers import Tokenizer  # noqa: PLC0415 - heavy, and only for those who ask for it
        except ImportError:
            return _estimated("unavailable", "the package tokenizers is not installed")
        try:
            tokenizer = Tokenizer.from_file(str(file))
        except Exception as error:  # noqa: BLE001 - the library raises nothing more specific
            return _estimated("malformed", f"{str(file)!r} is no tokenizer.json: {error}")
        tokenizer.no_truncation()
        tokenizer.no_padding()
        return TokenCounting(lambda text: len(tokenizer.encode(text, add_special_tokens=False).ids))
    raise ConfigurationError(
        f"token counter {name!r} is unknown; write estimate, tiktoken:<model or encoding> or "
        "hf:<path of a tokenizer.json>"
    )


def _tiktoken_counter(target: str) -> TokenCounting:
    import tiktoken  # noqa: PLC0415 - heavy, and only for those who ask for it

    try:
        encoding = target if target in _TIKTOKEN_ENCODINGS else tiktoken.encoding_name_for_model(target)
    except KeyError:
        return _estimated("unavailable", f"tiktoken knows no model or encoding {target!r}")
    if encoding not in _TIKTOKEN_ENCODINGS:
        return _estimated("unavailable", f"the encoding {encoding!r} is not supported")
    if not _is_at_hand(encoding):
        return _estimated(
            "unavailable",
            f"the file of {encoding!r} is not in tiktoken's cache; fetch it once where there is a network: "
            f"python -c \"import tiktoken; tiktoken.get_encoding('{encoding}')\"",
        )
    tokenizer = tiktoken.get_encoding(encoding)
    return TokenCounting(lambda text: len(tokenizer.encode_ordinary(text)))


def _is_at_hand(encoding: str) -> bool:
    """Tell whether tiktoken would find the file whole in its cache, where it looks for it."""
    name, digest = _TIKTOKEN_ENCODINGS[encoding]
    default = str(Path(tempfile.gettempdir()) / "data-gym-cache")
    folder = os.environ.get("TIKTOKEN_CACHE_DIR", os.environ.get("DATA_GYM_CACHE_DIR", default))
    url = f"{_TIKTOKEN_FILES}/{name}.tiktoken"
    file = Path(folder) / sha1(url.encode(), usedforsecurity=False).hexdigest()
    try:
        return bool(folder) and sha256(file.read_bytes()).hexdigest() == digest
    except OSError:
        return False


def _estimated(kind: IssueKind, why: str) -> TokenCounting:
    issue = ReportIssue(stage="tokens", kind=kind, message=f"tokens are estimated: {why}")
    return TokenCounting(estimate_tokens, issue)
