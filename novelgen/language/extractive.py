"""Extractive summaries of a scene, without a model."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from novelgen.language.language import patterns
from novelgen.language.resolver import Mention
from novelgen.language.sentences import Span, split_sentences

SHORT_FORM_CHARACTERS = 80
ENTITY_WEIGHT = 1.0
COUNTED_ENTITIES = 3
"""More named entities than these in one sentence say no more."""

_MARKERS = [
    (kind["weight"], re.compile(kind["en"], re.IGNORECASE), re.compile(kind["zh"]))
    for kind in patterns("markers").values()
]
_LATIN = re.compile(r"[A-Za-z]")
_CHINESE = re.compile(r"[\u3400-\u9fff]")
_SHORTEST_SENTENCE = 6


@dataclass(frozen=True, slots=True)
class SalientSentence:
    """A sentence at the characters [start, end), and how much it matters (0 means not at all)."""

    start: int
    end: int
    score: float


def salient_sentences(text: str, mentions: Sequence[Mention], *, limit: int) -> list[SalientSentence]:
    """Find the sentences of a text that name entities, act or promise."""
    scored = [_scored(text, span, mentions) for span in split_sentences(text)]
    weighty = [sentence for sentence in scored if sentence.score > 0]
    return sorted(weighty, key=lambda sentence: (-sentence.score, sentence.start))[: max(0, limit)]


def short_form(text: str, mentions: Sequence[Mention], *, limit_characters: int = SHORT_FORM_CHARACTERS) -> str | None:
    """Return the best whole sentence of a text that fits the limit, or None when none does."""
    fitting = [span for span in split_sentences(text) if span.end - span.start <= limit_characters]
    best = max(
        (_scored(text, span, mentions) for span in fitting),
        key=lambda salient_sentence: salient_sentence.score,
        default=None,
    )
    return " ".join(text[best.start : best.end].split()) if best is not None and best.score > 0 else None


MIN_BULLETS = 3
MAX_BULLETS = 5

BULLET_CHARACTERS = 200
"""A longer sentence of a scene is clipped to it in a bullet."""


def bullets(text: str, *, max_bullets: int = MAX_BULLETS) -> list[str]:
    """Summarise a scene by its weightiest sentences, one per stretch, in order."""
    spans = [span for span in split_sentences(text) if text[span.start : span.end].strip()]
    count = min(max_bullets, len(spans), max(MIN_BULLETS, len(spans) // SENTENCES_PER_BULLET))
    scored = [_scored(text, span, ()) for span in spans]
    chosen_salient_sentences = []
    for number in range(count):
        stretch = scored[len(scored) * number // count : len(scored) * (number + 1) // count]
        # Where nothing weighs, what is longest tells most.
        chosen_salient_sentences.append(
            max(
                stretch,
                key=lambda salient_sentence: (
                    salient_sentence.score,
                    min(BULLET_CHARACTERS, salient_sentence.end - salient_sentence.start),
                ),
            )
        )
    lines = [
        " ".join(text[salient_sentence.start : salient_sentence.end].split())
        for salient_sentence in chosen_salient_sentences
    ]
    clipped = (item if len(item) <= BULLET_CHARACTERS else f"{item[: BULLET_CHARACTERS - 1]}…" for item in lines)
    return list(dict.fromkeys(map(with_whole_quotations, clipped)))


_QUOTATION_MARKS = (("“", "”"), ("「", "」"), ("『", "』"))
_STRAIGHT_MARK = '"'


def with_whole_quotations(text: str) -> str:
    """Return a part of a text with every quotation opened and closed, and … where it was cut."""
    for opening, closing in _QUOTATION_MARKS:
        depth = unopened = 0
        for character in text:
            if character == opening:
                depth += 1
            elif character == closing and depth:
                depth -= 1
            elif character == closing:
                unopened += 1
        text = f"{f'{opening}…' * unopened}{text}"
        if depth:
            text = f"{text.rstrip('…')}{f'…{closing}' * depth}"
    if text.count(_STRAIGHT_MARK) % 2:
        # A mark before a word opens, one behind a word or a stop closes.
        is_last_opening = re.search(r'(?:^|[\s(—–])"[^"]*$', text) is not None
        text = f'{text.rstrip("…")}…"' if is_last_opening else f'"…{text}'
    return text


SENTENCES_PER_BULLET = 6
"""A scene has a bullet for so many sentences, between the least and the most."""

GIST_CHARACTERS = 240

_ROOM_FOR_MARKS = 16
"""What the marks of a cut and of a closed quotation take of it."""


def gist(text: str) -> str:
    """Return a scene's weightiest and last sentence, cut to the limit."""
    spans = [span for span in split_sentences(text) if text[span.start : span.end].strip()]
    if not spans:
        return ""
    last = (spans[-1].start, spans[-1].end)
    weightiest = [
        (salient_sentence.start, salient_sentence.end) for salient_sentence in salient_sentences(text, (), limit=1)
    ]
    half = (GIST_CHARACTERS - _ROOM_FOR_MARKS) // 2
    lines = [" ".join(text[start:end].split()) for start, end in sorted({*weightiest, last})]
    clipped = [item if len(item) <= half else f"{item[: half - 1]}…" for item in lines]
    return " … ".join(map(with_whole_quotations, clipped))[:GIST_CHARACTERS]


def _scored(text: str, span: Span, mentions: Sequence[Mention]) -> SalientSentence:
    if span.end - span.start < _SHORTEST_SENTENCE:
        return SalientSentence(span.start, span.end, 0.0)
    named_ids = {mention.entity_id for mention in mentions if span.start <= mention.start and mention.end <= span.end}
    sentence = text[span.start : span.end]
    score = ENTITY_WEIGHT * min(COUNTED_ENTITIES, len(named_ids))
    has_latin, has_chinese = _LATIN.search(sentence) is not None, _CHINESE.search(sentence) is not None
    score += sum(
        weight
        for weight, english, chinese in _MARKERS
        if (has_chinese and chinese.search(sentence)) or (has_latin and english.search(sentence))
    )
    return SalientSentence(span.start, span.end, score)
