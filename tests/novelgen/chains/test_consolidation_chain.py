"""The text of a consolidated memory, by a model or joined from its sources."""

from __future__ import annotations

import asyncio
import json
import time

import pytest
from langchain_core.messages import BaseMessage
from pydantic import ValidationError

from novelgen.chains.consolidation_chain import (
    PROMPT_VARIABLES,
    REPAIR_VARIABLES,
    ConsolidationChain,
    ConsolidationRequest,
)
from novelgen.language.language import StoryLanguage, story_language
from novelgen.model_calls.prompting import load_chat_prompt
from tests.novelgen.memory.live_stories import chunk
from tests.support.scripted_chat_model import ScriptedChatModel, answering, finished

ENGLISH = ConsolidationRequest(
    sources=[
        chunk("M1", content="Ada bought a rope at the market of Dunholm.", short="Ada has a rope from Dunholm"),
        chunk("M2", content="Ada tied the rope to the bridge before the storm.", short="She tied the rope"),
        chunk("M3", content="The bridge held through the storm, to Ben's surprise.", short="Ben saw the bridge hold"),
    ],
    names=["Ada", "Ben", "Cornelius", "Dunholm", "行者"],
)
CHINESE = ConsolidationRequest(
    sources=[
        chunk("M1", content="行者在集市上买了一根绳子。"),
        chunk("M2", content="行者把绳子系在桥上。"),
        chunk("M3", content="八戒见那座桥没有被大水冲走。"),
    ],
    names=["行者", "八戒", "沙僧"],
)
GOOD = "Ada bought a rope at Dunholm and tied it to the bridge before the storm. The bridge held."


def told(content: str, short: str = "") -> str:
    """An answer of the model."""
    return json.dumps({"content": content, "short": short}, ensure_ascii=False)


def test_without_a_model_the_sources_are_joined() -> None:
    """No issue: nobody was to be asked."""
    result = ConsolidationChain().invoke(ENGLISH)
    assert result.text.content == "Ada has a rope from Dunholm. She tied the rope. Ben saw the bridge hold."
    assert (result.is_models, result.issues) == (False, [])


def test_a_models_text_is_taken_as_it_is() -> None:
    """With its short form, where that will do; the prompt shows the facts in order and nothing of their names."""
    model = answering(told(GOOD, "Ada's rope saved the bridge at Dunholm from the storm"))
    result = ConsolidationChain(model).invoke(ENGLISH)
    assert (result.text.content, result.is_models, result.issues) == (GOOD, True, [])
    assert result.text.short == "Ada's rope saved the bridge at Dunholm from the storm"
    asked = model.prompts[0][-1].text
    assert asked.index("- Ada bought") < asked.index("- Ada tied") < asked.index("- The bridge held")
    assert "Cornelius" not in "".join(message.text for message in model.prompts[0])


def test_chinese_is_asked_and_answered_in_chinese() -> None:
    """The prompt's language is that of the sources."""
    text = "行者在集市上买了绳子，系在桥上。八戒见桥没有被大水冲走。"
    model = answering(told(text))
    result = ConsolidationChain(model).invoke(CHINESE)
    assert (result.text.content, result.is_models) == (text, True)
    assert story_language(model.prompts[0][0].text) == "zh"


@pytest.mark.parametrize(
    ("answer", "problem"),
    [
        (told(""), "content is empty"),
        (told(GOOD.replace("Ada", "Cornelius")), "'Cornelius' is not named in what was to be summed up"),
        (told(GOOD, "Cornelius tied it"), "'Cornelius' is not named in what was to be summed up"),
        (told("Everybody danced merrily around golden fountains. Nothing else happened."), "does not tell"),
        (told("Ada tied the rope to the bridge before the storm. The bridge held, and"), "whole sentence"),
        (told("Ada tied the rope to the bridge. " * 60), "longer than 240 tokens"),
        ("I would rather not.", "JSON"),
        (finished(told(GOOD)[:40], "length"), "cut"),
    ],
)
def test_a_bad_answer_is_repaired_once(answer: str, problem: str) -> None:
    """What was wrong is told to the model, and its second answer is taken."""
    model = answering(answer, told(GOOD))
    result = ConsolidationChain(model).invoke(ENGLISH)
    assert (result.text.content, result.is_models) == (GOOD, True)
    assert problem in model.prompts[1][-1].text


def test_a_model_that_stays_bad_is_replaced_by_the_sources_aloud() -> None:
    """The issue says why, and names what was wrong."""
    bad = told("沙僧在桥上系了绳子。八戒见桥没有被大水冲走。")
    result = ConsolidationChain(answering(bad, bad)).invoke(CHINESE)
    assert result.text.content == "行者在集市上买了一根绳子。行者把绳子系在桥上。八戒见那座桥没有被大水冲走。"
    assert not result.is_models
    (issue,) = result.issues
    assert (issue.stage, issue.kind) == ("consolidation", "malformed")
    assert "'沙僧' is not named in what was to be summed up" in issue.message


def test_a_server_that_is_down_or_hangs_costs_the_text_alone() -> None:
    """Whatever the provider raises, and a model that never answers within the time."""

    def refuse(_: list[BaseMessage]) -> str:
        raise ConnectionError("no route")

    def hang(_: list[BaseMessage]) -> str:
        time.sleep(5)
        return told(GOOD)

    down = ConsolidationChain(ScriptedChatModel(answer=refuse)).invoke(ENGLISH)
    late = ConsolidationChain(ScriptedChatModel(answer=hang), timeout_s=0.2).invoke(ENGLISH)
    assert [issue.kind for issue in (*down.issues, *late.issues)] == ["unavailable", "timeout"]
    assert down.text == late.text == ConsolidationChain().invoke(ENGLISH).text


def test_a_short_form_that_will_not_do_is_dropped() -> None:
    """Too long, or a label."""
    for short in ("Ada " + "and the rope " * 10, "The bridge's history"):
        assert ConsolidationChain(answering(told(GOOD, short))).invoke(ENGLISH).text.short is None


def test_it_is_a_runnable() -> None:
    """Mappings, async and batches work; no sources are refused."""
    chain = ConsolidationChain()
    as_mapping = ENGLISH.model_dump()
    assert asyncio.run(chain.ainvoke(as_mapping)) == chain.batch([ENGLISH])[0] == chain.invoke(as_mapping)
    with pytest.raises(ValidationError, match="at least 1 item"):
        chain.invoke({"sources": []})


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize(
    ("name", "variables"), [("consolidate_memories", PROMPT_VARIABLES), ("repair_consolidation", REPAIR_VARIABLES)]
)
def test_its_prompts_are_in_both_languages(name: str, variables: frozenset[str], language: StoryLanguage) -> None:
    """Each declares just the variables that the chain gives, and is in its language."""
    prompt = load_chat_prompt(name, language, variables=variables)
    assert story_language(prompt.format(**dict.fromkeys(variables, ""))) == language
