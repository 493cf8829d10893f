"""Whether an answer about a scene can be about this scene at all."""

from __future__ import annotations

from collections.abc import Collection

from novelgen.extraction.model_record import ModelSceneRecord
from novelgen.model_calls.parsing import UnusableAnswerError
from novelgen.records.evidence import QuoteFinder
from novelgen.text.significant import significant_words
from novelgen.text.tokens import estimate_tokens

TOKENS_OF_A_SCENE_OF_SUBSTANCE = 40
"""A scene of fewer tokens may establish nothing."""

SHARED_SHARE = 1 / 3
FEWEST_SHARED_WORDS = 2
"""A fact without a quote may be of the scene when this share of its words, and this many, stand there."""


def is_of_substance(text: str) -> bool:
    """Tell whether a scene is long enough to establish something."""
    return estimate_tokens(text) >= TOKENS_OF_A_SCENE_OF_SUBSTANCE


def require_grounded(
    answer: ModelSceneRecord, *, text: str, example: ModelSceneRecord, must_have_facts: bool
) -> ModelSceneRecord:
    """Return an answer without what it took from the prompt's example, or refuse it.

    Args:
        answer: What the model said of the text.
        text: What it read.
        example: The worked example of the prompt.
        must_have_facts: Whether an answer without any fact is refused.

    Raises:
        UnusableAnswerError: With fault "empty" when there is no fact, "echo" when all memories are the
            example's, "ungrounded" when there is no quote and no fact that could be of this text.
    """
    if not answer.has_facts():
        if must_have_facts:
            raise UnusableAnswerError(
                "empty", "no memories and no state changes, though the scene has content"
            )
        return answer
    echoed = {memory.content for memory in example.memories}
    own = [memory for memory in answer.memories if memory.content not in echoed]
    if answer.memories and not own:
        raise UnusableAnswerError("echo", "the memories are those of the example, not of the scene")
    if not _is_grounded(answer, text):
        raise UnusableAnswerError("ungrounded", "no quote stands in the scene, and no fact speaks of it")
    return answer.model_copy(update={"memories": own})


def _is_grounded(answer: ModelSceneRecord, text: str) -> bool:
    finder = QuoteFinder(text)
    quotes = [memory.evidence for memory in answer.memories]
    quotes += [change.evidence for change in answer.state_changes]
    if any(finder.find(quote) for quote in quotes):
        return True
    words = significant_words(text)
    told = [memory.content for memory in answer.memories]
    told += [change.value for change in answer.state_changes if isinstance(change.value, str)]
    told += [change.event for change in answer.relationship_changes]
    told += [loop.description for loop in answer.open_loops_created]
    told += [move.note for move in answer.open_loops_moved]
    return any(_speaks_of(each, words) for each in told)


def _speaks_of(fact: str, scene_words: Collection[str]) -> bool:
    words = significant_words(fact)
    shared = len(words.intersection(scene_words))
    return shared >= max(FEWEST_SHARED_WORDS, SHARED_SHARE * len(words))
