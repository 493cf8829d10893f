"""A chat model that finds one contradiction in a draft."""

import json
from typing import Any

from tests.support.scripted_chat_model import ScriptedChatModel


def scripted_judge(quote: str, *, subject: str, why: str) -> ScriptedChatModel:
    """Return a model that finds that words of a draft contradict the first fact about a subject.

    Args:
        quote: The words of the draft; a draft without them has no contradiction.
        subject: A word of the fact's line in the prompt.
        why: The reason that the model gives.
    """

    def answer(messages: list[Any]) -> str:
        prompt = "\n".join(str(message.text) for message in messages)
        if '"verdicts"' in prompt:
            return json.dumps({"verdicts": [{"id": "K1", "stands": True, "confidence": 0.9}]})
        if quote not in prompt:
            return json.dumps({"contradictions": []})
        line = next(line for line in prompt.splitlines() if line.startswith("F") and subject in line)
        fact_id, fact = line.split(" | ")[0], line.split(" | ")[-1]
        evidence = {"id": fact_id, "quote": fact.split(" / ")[0].split(" ", 1)[-1]}
        finding = {"quote": quote, "evidence": [evidence], "why": why, "kind": "dead_or_absent", "confidence": 0.9}
        return json.dumps({"contradictions": [finding]}, ensure_ascii=False)

    return ScriptedChatModel(answer=answer)
