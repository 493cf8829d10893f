"""A context line by line."""

from __future__ import annotations

import pytest

from novelgen.chains.memory_context_chain import MemoryContextChain
from novelgen.context.context_lines import NEEDS, context_lines
from novelgen.models.context import SceneMemoryContext
from novelgen.settings import ContextSettings
from tests.support.stories import lighthouse_memory, lighthouse_request


def built(pov: str = "", **settings: int) -> SceneMemoryContext:
    """Return the context of the lighthouse's plan."""
    chain = MemoryContextChain(lighthouse_memory(), settings=ContextSettings(**settings))
    return chain.invoke(lighthouse_request().model_copy(update={"pov": pov}))


@pytest.mark.parametrize("pov", ["", "Ben"])
def test_every_line_of_the_block_is_told_once(pov: str) -> None:
    """Each fact of the prompt is one line, of one need; what is hidden comes last."""
    context = built(pov)
    lines = context_lines(context)
    prompt = " ".join(context.as_prompt().split())
    assert lines
    for line in lines:
        assert " ".join(line.text.split()) in prompt
    facts = [each for each in context.as_prompt().splitlines() if each.startswith("- ")]
    assert len(lines) == len(facts)
    assert [each.is_hidden for each in lines] == sorted(each.is_hidden for each in lines)
    open_lines = [each for each in lines if not each.is_hidden]
    places = [NEEDS.index(each.need) for each in open_lines]
    assert places == sorted(places)


def test_tokens_of_the_lines_are_those_of_the_report() -> None:
    """Need by need they add up; of memories each line has its receipt."""
    context = built()
    assert context.report is not None
    lines = context_lines(context)
    for need, tokens in context.report.tokens_per_need.items():
        assert sum(each.tokens for each in lines if each.need == need) == tokens, need
    assert [each.item for each in lines if each.section == "memories"] == context.report.items


def test_what_a_line_is_of_is_told() -> None:
    """Entities, threads and relationships are named by id, with the scene where there is one."""
    lines = {each.section: each for each in context_lines(built())}
    assert lines["states"].entity_ids == [lines["states"].id]
    assert lines["open_loops"].id.startswith("OL")
    assert lines["memories"].chapter_index is not None


def test_an_empty_context_has_no_lines() -> None:
    """Where nothing fits nothing is told."""
    assert context_lines(built(memory_budget=0, state_budget=0, timeline_budget=0)) == []
