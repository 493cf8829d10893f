"""The one memory that several become, and whether a model's text of it says no more than they do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from hashlib import sha256

import numpy as np
from pydantic import BaseModel, Field

from novelgen.language.extractive import SHORT_FORM_CHARACTERS
from novelgen.language.language import estimate_tokens
from novelgen.language.sentences import as_sentence, join_sentences, split_sentences
from novelgen.memory.budget import is_cut, short_form_defect
from novelgen.memory.consolidation_rules import DEFAULT_RULES, ConsolidationRules, score
from novelgen.memory.search import Vector
from novelgen.model_calls.answers import require_grounded, whole_sentences
from novelgen.models.memory import StoryMemoryChunk

CONSOLIDATION_STAGE = "consolidation"


class ConsolidatedText(BaseModel):
    """What a consolidated memory says."""

    content: str
    short: str | None = Field(default=None, description="Only where one sentence says it all.")


def extractive_text(sources: Sequence[StoryMemoryChunk], rules: ConsolidationRules = DEFAULT_RULES) -> ConsolidatedText:
    """Join the short forms of memories, or their first sentences, as far as there is room."""
    sentences = {source.chunk_id: _sentence_of(source) for source in sources}
    kept: list[str] = []
    room = rules.max_tokens
    for source in sorted(sources, key=lambda each: (-score(each, rules), each.chunk_id)):
        sentence = sentences[source.chunk_id]
        cost = estimate_tokens(sentence) + 1
        if sentence in kept or (kept and cost > room):
            continue
        kept.append(sentence)
        room -= cost
    told = dict.fromkeys(sentence for sentence in sentences.values() if sentence in kept)
    return ConsolidatedText(content=join_sentences(told))


def consolidated_memory(
    text: ConsolidatedText, sources: Sequence[StoryMemoryChunk], *, created_at: datetime, is_models: bool = False
) -> StoryMemoryChunk:
    """Return the memory that stands for others."""
    last = sources[-1]
    chunk_id = consolidated_id(sources)
    tags = [tag for source in sources for tag in dict.fromkeys(source.tags)]
    is_extracted = is_models or any(source.origin == "extracted" for source in sources)
    return StoryMemoryChunk(
        chunk_id=chunk_id,
        project_id=last.project_id,
        chapter_index=last.chapter_index,
        scene_index=last.scene_index,
        content=text.content,
        short=text.short,
        content_type="memory",
        entities_mentioned=list(dict.fromkeys(each for source in sources for each in source.entities_mentioned)),
        tags=[tag for tag in dict.fromkeys(tags) if tags.count(tag) > 1],
        created_at=created_at,
        importance=max(source.importance for source in sources),
        source_id=chunk_id,
        is_consolidated=True,
        verified=all(source.verified for source in sources),
        origin="extracted" if is_extracted else "record",
    )


def consolidated_vector(sources: Sequence[StoryMemoryChunk], vectors: Mapping[str, Vector]) -> Vector | None:
    """Return the embedding of the memory that stands for others: the mean of theirs.

    Measured on both long books, it is found as well by the mean as by an embedding of its text, which costs.
    """
    if not all(source.chunk_id in vectors for source in sources):
        return None
    mean: Vector = np.mean([vectors[source.chunk_id] for source in sources], axis=0, dtype=np.float32)
    length = float(np.linalg.norm(mean))
    return mean / np.float32(length) if length > 0 else None


def consolidated_id(sources: Sequence[StoryMemoryChunk]) -> str:
    """Return the chunk id of the memory that stands for others: the same for the same sources."""
    names = "\x1f".join(sorted(source.chunk_id for source in sources))
    return f"consolidated-{sha256(names.encode('utf-8', 'surrogatepass')).hexdigest()[:16]}"


def _sentence_of(chunk: StoryMemoryChunk) -> str:
    """The short form, or where it will not do, the first sentence of the full one; with a full stop."""
    full, short = chunk.content.strip(), (chunk.short or "").strip()
    defect = short_form_defect(short, full, estimate_tokens)
    if not defect or (defect == "short form is no shorter" and not is_cut(short, full)):
        sentence = short
    else:
        spans = split_sentences(full)
        sentence = full[spans[0].start : spans[0].end] if spans else full
    return as_sentence(" ".join(sentence.split()))


class ModelConsolidation(BaseModel):
    """What a model is asked for."""

    content: str = Field(description="the facts in two to six whole sentences, with names")
    short: str = Field(default="", description="one whole sentence of at most 80 characters, or empty")


def grounded_text(
    answer: ModelConsolidation, sources: Sequence[StoryMemoryChunk], *, names: Sequence[str], rules: ConsolidationRules
) -> ConsolidatedText:
    """Return an answer as the text of a memory, or refuse it."""
    content = whole_sentences(answer.content, field="content", max_tokens=rules.max_tokens)
    shown = "\n".join(f"{source.content}\n{source.short or ''}" for source in sources)
    require_grounded(f"{content}\n{answer.short}", shown=shown, names=names)
    return ConsolidatedText(content=content, short=_usable_short(answer.short, content))


def _usable_short(short: str, content: str) -> str | None:
    line = " ".join(short.split())
    if len(line) > SHORT_FORM_CHARACTERS or short_form_defect(line, content, estimate_tokens):
        return None
    return line
