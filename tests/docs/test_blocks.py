"""Every block of README and docs runs as it stands."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.docs.exceptions import NOT_RUN, PRINTED_BY
from tests.docs.pages import PAGES, blocks_of
from tests.docs.running import run_block
from tests.support.openai_stub import OpenAiStub, StubCall, openai_stub

ALL_BLOCKS = [block for page in PAGES for block in blocks_of(page)]
PAGES_WITH_BLOCKS = [page for page in PAGES if blocks_of(page)]


def _serve(call: StubCall) -> None:
    """Answer as a service that embeds texts and plans every retrieval alike."""
    if "input" in call.payload:
        texts = call.payload["input"]
        count = 1 if isinstance(texts, str) else len(texts)
        call.embed([[float(index + 1), 1.0, 0.5] for index in range(count)])
    else:
        query = {"query": "the iron door 铁门", "entities": [], "content_type": None, "tags": []}
        call.say(json.dumps({"entities": [], "events": ["the iron door"], "queries": [query]}))


@pytest.fixture
def service() -> Iterator[OpenAiStub]:
    """The stub that stands for every service of the pages."""
    with openai_stub(_serve) as stub:
        yield stub


@pytest.fixture
def reader(demo_folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A reader's working folder: the demo projects are in it and taken in; nothing is configured."""
    folder = demo_folder.parent
    monkeypatch.chdir(folder)
    for name in ("NOVELGEN_MODEL", "NOVELGEN_DATABASE_URL", "OPENAI_API_KEY", "NOVELGEN_PROJECTS_DIR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("NOVELGEN_MEMORY__EMBEDDING_MODEL", "fake:64")
    monkeypatch.setenv("NOVELGEN_MEMORY__TOOL_TIMEOUT_S", "60")
    monkeypatch.setenv("NOVELGEN_MEMORY__CHAIN_TIMEOUT_S", "120")
    return folder


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES_WITH_BLOCKS)
def test_every_block_runs_as_it_stands(
    page: str, reader: Path, service: OpenAiStub, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The blocks of a page run in their order, as somebody who reads it from top to bottom runs them."""
    monkeypatch.setenv("OPENAI_BASE_URL", service.base_url)
    for block in blocks_of(page):
        if block.marker not in NOT_RUN:
            run_block(block, reader, patch=monkeypatch, service_url=service.base_url)


def test_no_marker_leaves_out_what_it_does_not_name() -> None:
    """A comment above a block is one that the tests know."""
    marked = [block for block in ALL_BLOCKS if block.marker and block.file is None]
    strange = [block for block in marked if block.marker not in NOT_RUN and not block.marker.startswith(PRINTED_BY)]
    assert [f"{block.page}:{block.line}" for block in strange] == []
