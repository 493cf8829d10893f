"""What rules tell of a draft without a model: its figures, the time with which it opens, words to avoid among it."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from novelgen.checking.absent import absent_act, dead_act, never_there
from novelgen.checking.findings import SUBJECT, finding, merge_issues
from novelgen.checking.holders import wrong_hands
from novelgen.checking.story import Draft, Piece, SharedWords, StoryBefore, StoryWords, stem
from novelgen.language.chronology import opening_words
from novelgen.language.contradictions import Contradiction, contradictions_of
from novelgen.language.language import has_cjk, is_cjk, word_list
from novelgen.language.normalise import simplified
from novelgen.language.numerals import Quantity, find_quantities
from novelgen.language.reading import read_story_time
from novelgen.language.sentences import Span
from novelgen.models.continuity import AvoidedWord, ContinuityEvidence, ContinuityIssue
from novelgen.models.story_time import SceneTime
from novelgen.words import words

RULE = "contradicted_figure"

MIN_LIKENESS = {"en": 10.0, "zh": 17.0}
"""From which rarity of shared words on two passages speak of the same thing; Chinese pairs of characters overlap."""

MIN_HEAD_RARITY = 4.0
"""How rare a noun must be that both figures measure by name: three hours' start, eight-and-twenty hours' start."""

MIN_RATIO = 1.6
"""From which ratio on two numbers differ by more than rounding, or a day that has passed since."""

MAX_RATIO = 60.0
"""Above which two figures measure different things rather than one thing otherwise."""

AGREEING_SHARE = 0.6
"""Share of a contradiction's likeness from which on an agreeing passage of the story keeps it silent."""

MAX_FIGURES = 2
"""Figures in one sentence above which nobody can say which of them a draft means."""

MIN_CLAUSE = 5
"""Characters before a figure below which its clause says nothing by itself: 前后不过, "in all"."""

MIN_CHARACTERS = 4
"""Chinese characters that two passages must share, a name that both bear for two: more than one word."""

_WINDOW = {"en": 120, "zh": 40}
_CLAUSE_END = re.compile(r"[，、；：。！？,;:—.!?“”‘\n]")

_COMPARED = frozenset({"duration", "length", "weight", "money"})
"""Dimensions of things that last; hours of the day and ages move with the story."""

_HEAD = re.compile(
    r"[’']?s?[’']?\s+(?:worth\s+)?(?:of\s+)?(?:the\s+|a\s+|his\s+|her\s+|their\s+|my\s+)?(?P<head>[a-z]{4,})"
)

_NO_HEAD = frozenset(word_list("rules_no_head"))
_VALUE = re.compile(r"\b(?:worth|valued?|priced?|costs?)\b", re.IGNORECASE)
_VALUED = re.compile(
    r"\bworth\s+of\s+(?:the\s+|his\s+|her\s+|their\s+)?(?P<before>[a-z]{4,})"
    r"|\b(?:value|price|cost)\s+of\s+(?:the\s+|his\s+|her\s+|their\s+)?(?P<after>[a-z]{4,})"
    r"|(?P<noun>[a-z]{4,})\s+(?:(?:is|are|was|were|being)\s+)?(?:worth|valued\s+at)\b",
    re.IGNORECASE,
)

_MOMENT = re.compile(r"[’']?\s+(?:ago|earlier|from now|hence)\b|(?:之|以)?[前后]", re.IGNORECASE)
"""What makes of a duration a moment: two days ago, 三日后."""

MAX_MOMENT = 60 * 86400.0
"""Seconds up to which a moment is told by days, which pass from scene to scene."""


@dataclass(frozen=True, slots=True)
class _Passage:
    """A figure with what is said around it."""

    quantity: Quantity
    figure: str
    around: SharedWords
    clause: SharedWords
    heads: frozenset[str]
    is_moment: bool


@dataclass(frozen=True, slots=True)
class _Told:
    """A figure of the story and how much it speaks of the same as one of the draft."""

    likeness: float
    passage: _Passage
    piece: Piece


def contradicted_quantities(draft: Draft, story: StoryBefore) -> Iterable[ContinuityIssue]:
    """Find numbers with a unit that the story tells otherwise of the same thing."""
    own = [each for each in find_quantities(draft.text, story.language) if each.dimension in _COMPARED]
    if not own:
        return
    words = story.words
    told = list(_told_figures(words, {each.dimension for each in own}))
    read: dict[int, _Passage] = {}
    found: set[tuple[str, Span, str]] = set()
    for quantity in own:
        sentence = draft.sentence_at(quantity.start) or Span(quantity.start, quantity.start)
        here = _read_passage(words, draft.text, sentence, quantity, own)
        agreeing = 0.0
        against: list[_Told] = []
        for at, (other, others, piece) in enumerate(told):
            if other.dimension != quantity.dimension or not _same_currency(quantity, other):
                continue
            if at not in read:
                read[at] = _read_passage(words, piece.words, Span(0, len(piece.words)), other, others)
            there = read[at]
            likeness = words.likeness(here.around, there.around)
            ratio = _ratio(quantity, other)
            if ratio < MIN_RATIO:
                agreeing = max(agreeing, likeness)
            elif ratio <= MAX_RATIO and not _is_other_time(here, there) and _same_thing(here, there, likeness, words):
                against.append(_Told(likeness, there, piece))
        best = max(against, key=lambda each: each.likeness, default=None)
        if best is None or agreeing >= AGREEING_SHARE * best.likeness:
            continue
        if (fact := (here.figure, best.piece.span, best.piece.text)) not in found:
            found.add(fact)
            issue = _finding(draft, story, here, best)
            if not words.is_planned(issue.draft_quote):
                yield issue


def _told_figures(words: StoryWords, dimensions: Iterable[str]) -> Iterator[tuple[Quantity, Sequence[Quantity], Piece]]:
    for piece in words.pieces():
        found = find_quantities(piece.words, words.language)
        if len(found) > MAX_FIGURES:
            continue
        for quantity in found:
            if quantity.dimension in dimensions:
                yield quantity, found, piece


def _read_passage(
    words: StoryWords, text: str, sentence: Span, quantity: Quantity, others: Sequence[Quantity]
) -> _Passage:
    language = words.language
    # Beyond a neighbouring figure the words are that one's.
    others = [each for each in others if _ratio(each, quantity) > 1]
    before = [each.end for each in others if each.end <= quantity.start]
    after = [each.start for each in others if each.start >= quantity.end]
    left = max([sentence.start, quantity.start - _WINDOW[language], *before])
    right = min([sentence.end, quantity.end + _WINDOW[language], *after])
    ends = [found.end() for found in _CLAUSE_END.finditer(text, left, quantity.start)]
    clause_start = ends[-1] if ends else left
    if ends and quantity.start - clause_start < MIN_CLAUSE:
        clause_start = ends[-2] if len(ends) > 1 else left
    following = _CLAUSE_END.search(text, quantity.end, right)
    clause_end = following.start() if following else right
    clause = f"{text[clause_start : quantity.start]}\n{text[quantity.end : clause_end]}"
    return _Passage(
        quantity=quantity,
        figure=text[quantity.start : quantity.end],
        around=words.read(f"{text[left : quantity.start]}\n{text[quantity.end : right]}"),
        clause=words.read(clause),
        heads=_heads(text, quantity, text[left:right]),
        is_moment=_MOMENT.match(text, quantity.end) is not None,
    )


def _heads(text: str, quantity: Quantity, around: str) -> frozenset[str]:
    """The nouns that an English figure measures by name."""
    if quantity.dimension == "money":
        if not _VALUE.search(around):
            return frozenset()
        return frozenset(
            stem(word) for found in _VALUED.finditer(around) for word in found.groups() if word is not None
        )
    found = _HEAD.match(text, quantity.end)
    head = found["head"] if found is not None else None
    return frozenset({stem(head)} if head and head not in _NO_HEAD else ())


def _same_currency(one: Quantity, other: Quantity) -> bool:
    return one.dimension != "money" or one.unit == other.unit


def _is_other_time(here: _Passage, there: _Passage) -> bool:
    """Whether one of two figures says when, by days that pass between scenes: two days ago is not how long."""
    if here.quantity.dimension != "duration" or not (here.is_moment or there.is_moment):
        return False
    return max(here.quantity.high, there.quantity.high) <= MAX_MOMENT


def _ratio(one: Quantity, other: Quantity) -> float:
    return max(one.low / max(other.high, 1e-9), other.low / max(one.high, 1e-9))


def _same_thing(here: _Passage, there: _Passage, likeness: float, words: StoryWords) -> bool:
    if any(words.rarity(head) >= MIN_HEAD_RARITY for head in here.heads & there.heads):
        return True
    if likeness < MIN_LIKENESS[words.language]:
        return False
    shared = here.clause.words & there.clause.words
    named = here.clause.names.keys() & there.clause.names.keys()
    if words.language == "zh":
        alike = {word for word in here.around.words & there.around.words if len(word) == 1}
        if len(alike) + 2 * len(here.around.names.keys() & there.around.names.keys()) < MIN_CHARACTERS:
            return False
        return bool(named) or any(len(word) > 1 for word in shared)
    return len(shared) > 1


def _finding(draft: Draft, story: StoryBefore, here: _Passage, told: _Told) -> ContinuityIssue:
    return finding(
        "figure", draft, story, clause_span(draft.text, here.quantity.start, here.quantity.end),
        [told.piece.as_evidence()],
        kind="canon_rule", rule=RULE,
        confidence=round(min(0.95, 0.6 + told.likeness / (8 * MIN_LIKENESS[story.language])), 2),
        entity_ids=sorted(here.around.names.keys() & told.passage.around.names.keys()),
        here=here.figure, there=told.passage.figure,
    )  # fmt: skip


def clause_span(text: str, start: int, end: int) -> Span:
    """Return the clause around the characters [start, end), without the marks around it."""
    before = [found.end() for found in _CLAUSE_END.finditer(text, max(0, start - 200), start)]
    left = before[-1] if before else max(0, start - 200)
    following = _CLAUSE_END.search(text, end, min(len(text), end + 200))
    right = following.start() if following else min(len(text), end + 200)
    while left < start and (text[left].isspace() or (not text[left].isalnum() and not is_cjk(text[left]))):
        left += 1
    while right > end and text[right - 1].isspace():
        right -= 1
    return Span(left, right)


Rule = Callable[[Draft, StoryBefore], Iterable[ContinuityIssue]]


def impossible_opening_time(draft: Draft, story: StoryBefore) -> Iterator[ContinuityIssue]:
    """Yield a finding where a draft's first words tell a time that contradicts what was told before.

    Only the first words count: further on it may be somebody's memory, plan or lie. A plan that says what the scene
    shows of the past explains nothing here, since such a scene opens with its own time.
    """
    found = opening_words(draft.text)
    if found is None or not story.story_times:
        return
    opening, span = found
    told = read_story_time(opening)
    if told.tells_of_past:
        return
    times = list(story.story_times)
    named = {mention.entity_id for mention in draft.mentions}
    place = story.as_of
    now = SceneTime(
        chapter_index=place.chapter_index or 0,
        scene_index=place.scene_index or 0,
        told=told,
        said_in="text",
        told_order=len(times) + 1,
        participants=sorted(named),
    )
    times.append(now.model_copy(update={"since_previous": told.shift}))
    for each in contradictions_of(times, len(times) - 1):
        if each.first != each.second:
            yield _issue(each, times[each.first], Span(*span), draft, story)
            return


def _issue(each: Contradiction, before: SceneTime, span: Span, draft: Draft, story: StoryBefore) -> ContinuityIssue:
    told = before.told.text if before.told is not None else ""
    source_id = f"{before.chapter_index}:{before.scene_index}.story_time"
    evidence = ContinuityEvidence.at(before, "passage", source_id, told, quote=told)
    return finding(
        "time", draft, story, span, [evidence],
        kind="story_time", rule=f"story_time.{each.rule}", confidence=0.8,
        now=draft.text[span.start : span.end], expected=words(SUBJECT, story.language)[f"time.expected.{each.rule}"],
    )  # fmt: skip


RULES: tuple[Rule, ...] = (
    dead_act,
    absent_act,
    never_there,
    wrong_hands,
    contradicted_quantities,
    impossible_opening_time,
)


def find_by_rules(draft: Draft, story: StoryBefore) -> list[ContinuityIssue]:
    """Return what a draft certainly contradicts of the story before it, worst first, one finding per place."""
    return merge_issues(each for rule in RULES for each in rule(draft, story))


# --- Words that an author wants to avoid, such as those that a platform refuses ---

MAX_QUOTES = 20
_AROUND = 15
"""So many characters on both sides of a word are quoted."""


def avoided_words(text: str, words: Iterable[str]) -> list[AvoidedWord]:
    """Return which of the words stand in a text, the most frequent first."""
    plain = _plain(text)
    found = [
        AvoidedWord(word=word, quotes=_quotes(text, spans), spans=spans)
        for word in dict.fromkeys(words)
        if (spans := list(_spans(plain, _plain(word))))
    ]
    return sorted(found, key=lambda each: -len(each.spans))


def _plain(text: str) -> str:
    """Fold a text, each character for itself."""
    return "".join(low if len(low := each.lower()) == 1 else each for each in simplified(text))


def _spans(text: str, word: str) -> Iterator[tuple[int, int]]:
    if word and word in text:
        edge = "" if has_cjk(word) else r"\b"
        yield from (each.span() for each in re.finditer(f"{edge}{re.escape(word)}{edge}", text))


def _quotes(text: str, spans: Sequence[tuple[int, int]]) -> list[str]:
    """Quote the words around the first places; places side by side are within one quotation."""
    quoted: list[str] = []
    until = 0
    for start, end in spans:
        if end > until and len(quoted) < MAX_QUOTES:
            until = end + _AROUND
            quoted.append(" ".join(text[max(0, start - _AROUND) : until].split()))
    return quoted
