"""Whether what a model made of memories says no more than they do."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import BaseModel, Field

from novelgen.consolidation.consolidated import ConsolidatedText
from novelgen.consolidation.rules import ConsolidationRules
from novelgen.model_calls.grounded_answers import require_grounded, whole_sentences
from novelgen.models.memory import StoryMemoryChunk
from novelgen.selection.forms import short_form_defect
from novelgen.text.extractive import SHORT_FORM_CHARACTERS
from novelgen.text.tokens import estimate_tokens


class ModelConsolidation(BaseModel):
    """What a model is asked for."""

    content: str = Field(description="the facts in two to six whole sentences, with names")
    short: str = Field(default="", description="one whole sentence of at most 80 characters, or empty")


def grounded_text(
    answer: ModelConsolidation,
    sources: Sequence[StoryMemoryChunk],
    *,
    names: Sequence[str],
    rules: ConsolidationRules,
) -> ConsolidatedText:
    """Return an answer as the text of a memory, or refuse it.

    Args:
        answer: What the model said.
        sources: What it was shown.
        names: Every name that the story knows, later ones too: none may come in that the sources lack.
        rules: Bounds the length.

    Returns:
        Its content, with the short form where that will do.

    Raises:
        UnusableAnswerError: With fault "empty", "schema" when the content is too long or cut, "ungrounded" when
            it names or tells what the sources do not.
    """
    content = whole_sentences(answer.content, field="content", max_tokens=rules.max_tokens)
    shown = "\n".join(f"{source.content}\n{source.short or ''}" for source in sources)
    require_grounded(f"{content}\n{answer.short}", shown=shown, names=names)
    return ConsolidatedText(content=content, short=_usable_short(answer.short, content))


def _usable_short(short: str, content: str) -> str | None:
    line = " ".join(short.split())
    if len(line) > SHORT_FORM_CHARACTERS or short_form_defect(line, content, estimate_tokens):
        return None
    return line
