"""Inputs that nobody would write."""

import json
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

EXAMPLES = int(os.environ.get("NOVELGEN_TEST_FUZZ_EXAMPLES", "15"))
LONGEST_MESSAGE = 2_000
Test = TypeVar("Test", bound=Callable[..., Any])

HOSTILE = [
    "",
    "\x00",
    "\ud800",
    "\u202e\u2066",
    "\ufeff",
    "{",
    "}" * 9,
    "{{0.__class__}}",
    "[" * 3_000,
    '{"a":' * 3_000,
    "NaN",
    "1e999",
    "9" * 5_000,
    "../../etc/passwd",
    "<think>",
    "<|im_end|>",
    "“”：，｛｝",
    "```json",
    "\\ud800",
    "盐" * 50,
]
TEXTS = st.text(alphabet=st.characters(codec=None, exclude_categories=())) | st.sampled_from(HOSTILE)
JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.sampled_from(HOSTILE[:12]) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


@contextmanager
def documented(*kinds: type[Exception]) -> Iterator[None]:
    """Let through what may come out, as long as it says something short; anything else is a failure."""
    messages: list[str] = []
    try:
        yield
    except kinds as error:
        messages.append(str(error))
    assert all(0 < len(message) < LONGEST_MESSAGE for message in messages), messages


def fuzzed(test: Test) -> Test:
    """Give a test as many examples as asked for, and as much time as they need."""
    configured: Any = settings(
        max_examples=EXAMPLES,
        deadline=None,
        suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
    )
    return configured(test)


@st.composite
def broken_texts(draw: st.DrawFn, *parts: str) -> str:
    """Cut, join and pollute texts that would be fine by themselves."""
    pieces = draw(st.lists(st.sampled_from(parts) | TEXTS, min_size=1, max_size=4))
    text = "".join(pieces)
    start = draw(st.integers(0, len(text)))
    return text[: draw(st.integers(start, len(text)))] if draw(st.booleans()) else text[start:]


@st.composite
def changed_documents(draw: st.DrawFn, *documents: Any) -> Any:
    """Replace something, at any depth, in a document that would be fine."""
    document = json.loads(json.dumps(draw(st.sampled_from(documents))))
    for _ in range(draw(st.integers(1, 3))):
        document = _changed(draw, document)
    return document


def _changed(draw: st.DrawFn, value: Any) -> Any:
    if isinstance(value, dict) and value and draw(st.integers(0, 4)):
        name = draw(st.sampled_from(sorted(value)))
        return {**value, name: _changed(draw, value[name])}
    if isinstance(value, list) and value and draw(st.integers(0, 4)):
        place = draw(st.integers(0, len(value) - 1))
        return [_changed(draw, each) if place == index else each for index, each in enumerate(value)]
    return draw(JSON_VALUES)
