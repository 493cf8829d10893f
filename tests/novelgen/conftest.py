"""A small language model for the rooms that ask one."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from tests.support.small_model_server import DEADLINE_S, small_model_server

if TYPE_CHECKING:
    from langchain_openai import ChatOpenAI


@pytest.fixture(scope="module")
def chat_model() -> Iterator["ChatOpenAI"]:
    """Run SmolLM2-135M for the tests of this module."""
    from langchain_openai import ChatOpenAI  # seconds that the other tests of the room do not need

    with small_model_server() as base_url:
        yield ChatOpenAI(
            model="smollm2",
            base_url=base_url,
            api_key="unused",
            temperature=0,
            max_tokens=600,
            timeout=DEADLINE_S,
            max_retries=0,
        )
