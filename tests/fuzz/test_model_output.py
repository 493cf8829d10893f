"""What a language model may write, and worse."""

import json
import time

import pytest
from hypothesis import given

from novelgen.model_calls.answers import UnusableAnswerError, parse_json_object
from tests.fuzz.strategies import TEXTS, broken_texts, documented, fuzzed

GOOD = json.dumps({"entities": ["C0"], "queries": [{"query": "the key", "tags": []}]})
PIECES = (GOOD, "```json\n", "\n```", "<think>", "</think>", "{", "}", '"', "'", ",", ":", "“", "”", "NaN", "//", "/*")
HANG_GUARD_S = 60.0


@given(answer=broken_texts(*PIECES) | TEXTS)
@fuzzed
def test_any_answer_is_an_object_or_unusable(answer: str) -> None:
    """Whatever the model writes, nothing else comes out."""
    with documented(UnusableAnswerError):
        assert isinstance(parse_json_object(answer, keys=("entities", "queries")), dict)


def test_an_answer_may_have_sixty_thousand_characters() -> None:
    """A longer one is refused unread, however good it is."""
    answer = '{"entities": []}'
    assert parse_json_object(answer.ljust(60_000), keys=("entities",)) == {"entities": []}
    with pytest.raises(UnusableAnswerError, match="60001 characters"):
        parse_json_object(answer.ljust(60_001), keys=("entities",))


def test_an_answer_may_nest_sixteen_levels() -> None:
    """One more is refused: what reads an answer must not run out of stack."""
    nested = '{{"entities": {}{}}}'
    assert parse_json_object(nested.format("[" * 15, "]" * 15), keys=("entities",))
    with pytest.raises(UnusableAnswerError, match="too deep"):
        parse_json_object(nested.format("[" * 16, "]" * 16), keys=("entities",))


@pytest.mark.parametrize(
    "answer",
    [
        "{" * 60_000,
        '{"a":' * 11_000,
        "[" * 60_000,
        '{"a": "' + "\\" * 59_000,
        "“" * 60_000,
        "<think>" * 8_000,
        "x" * 10_000_000,
    ],
    ids=["braces", "objects", "lists", "escapes", "quotes", "thoughts", "10 MB"],
)
def test_bombs_are_refused_in_time(answer: str) -> None:
    """Depth and length cost neither the stack nor minutes."""
    started_s = time.monotonic()
    with pytest.raises(UnusableAnswerError, match="answer"):
        parse_json_object(answer, keys=("entities",))
    assert time.monotonic() - started_s < HANG_GUARD_S
