"""Speakers, and persons of pronouns."""

import re
from collections.abc import Sequence

from novelgen.language.normalise import simplified
from novelgen.language.resolver import Mention
from novelgen.language.sentences import Span, split_sentences
from novelgen.language.speech import ACTS_AFTER, ACTS_BEFORE, QUOTED

MOST_SENTENCES_BACK = 3
"""So many sentences before a "he" the person is looked for."""

_LEADING = re.compile(
    r"^[\s,，.。]*(?:(?:and|then|but|so|at last|well) )?(?:the |old |young |poor |老|那|这)?$", re.IGNORECASE
)
"""What stands between the end of a speech, or the beginning of a sentence, and its subject."""

MOST_PARAGRAPHS_BETWEEN = 2
"""So near to a speech stands its answer."""

_BEFORE_VOCATIVE = re.compile(
    r"[“\"「『（(,，.。!！?？;；:：—–…]\s*(?:(?:my|dear|old|poor|the|oh|ah) )*$", re.IGNORECASE
)
_AFTER_VOCATIVE = re.compile(r"\s*[,，.。!！?？;；:：—–…”\"」』](?!\s*(?:he|she|who|they)\b|\s*[他她])", re.IGNORECASE)
"""Around a name by which somebody is spoken to; "the Guv'nor, he's old" speaks of him."""

_SPOKEN_TO = re.compile(
    r"(?:\b(?:(?:said|spoke|replied|whispered|shouted|answered|muttered|cried|turned|nodded)(?: [\w'’]+){0,3} to"
    r"|told|asked|assured|reminded|answered|(?:looked|stared|smiled|shouted) at) (?:the |old |poor )*"
    r"|(?:对着?|向|朝|冲着?|告诉|劝|问|看着|望着))$",
    re.IGNORECASE,
)
"""Before a name: somebody speaks to this one."""

_PRONOUN_SAYS = re.compile(
    r"^[\s,]*(?:(?:he|she) [a-z]+|[a-z]+ (?:he|she)\b|[他她][^，。！？；\n]{0,6}[道曰笑喝叫骂问答说])", re.IGNORECASE
)
_I_SAY = re.compile(r"^[\s,]*(?:I [a-z]+|[a-z]+ I)\b|^[\s,]*我[^，。！？；\n]{0,6}[道曰笑喝叫骂问答说]")


def quote_at(text: str, position: int) -> Span | None:
    """Return the quoted words around a position, or None."""
    return next(
        (Span(*match.span()) for match in QUOTED.finditer(text) if match.start() <= position < match.end()), None
    )


def speaker_of(text: str, quote: Span, people: Sequence[Mention], *, narrator_id: str | None = None) -> str | None:
    """Return the speaker of quoted words, or None.

    Args:
        text: The text.
        quote: Where the quoted words stand, as `quote_at` returns it.
        people: The mentions of persons in the text, in order.
        narrator_id: Who tells the story as "I".
    """
    text = simplified(text)
    start = text.rfind("\n", 0, quote.start) + 1
    end = text.find("\n", quote.end)
    narrated = _narrated(text, people)
    after = text[quote.end : len(text) if end < 0 else end]
    next_quote = QUOTED.search(after)
    after = after[: next_quote.start()] if next_quote else after
    behind = [mention for mention in narrated if quote.end <= mention.start < quote.end + len(after)]
    before = [mention for mention in narrated if start <= mention.start < quote.start]
    if _I_SAY.match(after):
        return narrator_id
    if behind:
        lead = text[quote.end : behind[0].start]
        is_tag = ACTS_BEFORE.search(re.sub(r"(?:the |old |young )+$", "", lead, flags=re.IGNORECASE)) is not None
        leads = _LEADING.match(lead) is not None
        if (is_tag and not re.search(r"[.。!?！？]", lead)) or (leads and ACTS_AFTER.match(text, behind[0].end)):
            return behind[0].entity_id
    if _PRONOUN_SAYS.match(after):
        return person_before(text, quote.start, people)
    if before:
        sentence = [
            span for span in split_sentences(text[start : quote.start]) if span.start + start <= before[-1].start
        ]
        first = next(mention for mention in before if mention.start >= sentence[-1].start + start)
        return first.entity_id
    if behind and _LEADING.match(text[quote.end : behind[0].start]):
        return behind[0].entity_id
    return None


def vocatives_in(text: str, quote: Span, people: Sequence[Mention]) -> list[Mention]:
    """Return the names called in quoted words: "Alf, sit down."."""
    return [
        one
        for one in people
        if quote.start < one.start < quote.end
        and _BEFORE_VOCATIVE.search(text, quote.start, one.start)
        and _AFTER_VOCATIVE.match(text, one.end)
    ]


def addressee_of(text: str, quote: Span, people: Sequence[Mention], *, speaker_id: str | None = None) -> str | None:
    """Return the one spoken to in quoted words, or None.

    Args:
        text: The text.
        quote: Where the quoted words stand, as `quote_at` returns it.
        people: The mentions of persons in the text, in order.
        speaker_id: The speaker, where known.
    """
    vocative_ids = {one.entity_id for one in vocatives_in(text, quote, people)}
    if vocative_ids:
        return vocative_ids.pop() if len(vocative_ids) == 1 and speaker_id not in vocative_ids else None
    start = text.rfind("\n", 0, quote.start) + 1
    end = text.find("\n", quote.end)
    narrated = [one for one in _narrated(text, people) if one.entity_id != speaker_id]
    beside = [one for one in narrated if start <= one.start < (end if end >= 0 else len(text))]
    addressed = {one.entity_id for one in beside if _SPOKEN_TO.search(text, start, one.start)}
    if addressed or speaker_id is None:
        return addressed.pop() if len(addressed) == 1 else None
    earlier = next(reversed([Span(*match.span()) for match in QUOTED.finditer(text, 0, quote.start)]), None)
    if earlier is None or len(text[earlier.end : quote.start].split("\n\n")) > MOST_PARAGRAPHS_BETWEEN:
        return None
    answered_id = speaker_of(text, earlier, people)
    line_start = text.rfind("\n", 0, earlier.start) + 1
    return answered_id if {one.entity_id for one in narrated if one.start >= line_start} == {answered_id} else None


def person_before(text: str, position: int, people: Sequence[Mention]) -> str | None:
    """Return the first person named in the nearest narrated sentence."""
    narrated = _narrated(text, people)
    spans = [span for span in split_sentences(text[:position]) if span.start < position][-MOST_SENTENCES_BACK - 1 :]
    for span in reversed(spans):
        mention = next((one for one in narrated if span.start <= one.start < min(span.end, position)), None)
        if mention is not None:
            return mention.entity_id
    return None


def _narrated(text: str, people: Sequence[Mention]) -> list[Mention]:
    spans = [match.span() for match in QUOTED.finditer(text)]
    return [one for one in people if not any(start <= one.start < end for start, end in spans)]
