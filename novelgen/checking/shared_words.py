"""Rare nouns of a draft in the notes and text of a story."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise, zip_longest
from typing import NamedTuple

from novelgen.checking.evidence import PASSAGE_CHARACTERS, passages_of
from novelgen.checking.findings import of_memory
from novelgen.checking.story import Draft, StoryBefore, telling_words
from novelgen.language.chinese_names import has_surname
from novelgen.language.language import CJK_RANGES, idf, patterns, word_list, wording
from novelgen.language.numerals import CHINESE_NUMERAL
from novelgen.language.sentences import Span, split_sentences
from novelgen.models.continuity import ContinuityEvidence, TouchedKind

MAX_NOUNS = 200
"""Of a long draft the first so many nouns are looked up."""

MAX_MATTERS_OF_WORDS = 8
MAX_SENTENCES_OF_A_WORD = 2

NAME_WEIGHT = 2
"""A sentence that names whom it is asked of counts as one with so many shared words more."""

LEAST_BESIDE_A_NOUN = 2
"""Words, and pairs of Chinese characters, that two sentences share beside a noun and all names."""

RARE_SHARE = 0.15
"""A word of more of the scenes tells nothing of one thing; in a short story it may stand in three."""

RARE_SCENES = 3

_CHINESE_POINTING = re.compile(rf"{wording('touched_pointing_zh')}$")
_ENGLISH_NOUN = re.compile(
    r"\b(?P<pointing>the|that|this|those|these|his|her|my|your|our|their|its|a|an)"
    r" (?=(?P<phrase>[\w’'-]+(?: [\w’'-]+){0,2}))",
    re.IGNORECASE,
)
_ENGLISH_WORD = re.compile(r"[^\W\d_]{3,}(?![’']t)")
_NO_NOUNS = frozenset(word_list("english_no_nouns"))
_CHINESE_NO_NOUNS = frozenset(word_list("chinese_no_nouns"))
"""Adjectives that the segmenter reads as nouns or names."""


def _endings(name: str) -> dict[str, frozenset[str]]:
    """Return endings, each with the nouns that have it."""
    entries = (entry.partition("=") for entry in word_list(name))
    return {ending: frozenset(nouns.split(",")) for ending, _, nouns in entries}


_NO_NOUN_ENDINGS = _endings("english_no_noun_endings")
"""Endings of adverbs, adjectives and participles."""

_MODIFIER_ENDINGS = _endings("english_modifier_endings") | _endings("chinese_modifier_endings")
"""Endings of what stands before a noun and says how it is: greenish, eastern, 灰色, 木制."""
_BODY = re.compile("|".join(patterns("body_parts").values()), re.IGNORECASE)
_CHINESE = re.compile(f"[{CJK_RANGES}]")


class Noun(NamedTuple):
    """A noun of a draft with its terms and place."""

    terms: frozenset[str]
    span: Span
    is_pointed: bool
    kind: TouchedKind = "thing"


class WordMatch(NamedTuple):
    """A noun of a draft with the statements of the story."""

    noun: Noun
    sayings: list[ContinuityEvidence]
    weight: float


def find_word_matches(
    draft: Draft, story: StoryBefore, *, taken: Iterable[Span], said_texts: Iterable[str]
) -> list[WordMatch]:
    """Find the notes and sentences that share rare nouns with a draft.

    Args:
        draft: The draft.
        story: The story strictly before it.
        taken: Spans of the draft that other matters explain.
        said_texts: Texts that other matters quote.

    Returns:
        The matches by the weight of their shared words, at most `MAX_MATTERS_OF_WORDS`, each text once.
    """
    taken_positions = {position for span in taken for position in range(span.start, span.end)}
    nouns = [noun for noun in nouns_of(draft) if taken_positions.isdisjoint(range(noun.span.start, noun.span.end))]
    matches = [match for noun in nouns[:MAX_NOUNS] if (match := _match(noun, draft, story)) is not None]
    matches.sort(key=lambda match: (-match.weight, match.noun.span))
    quotes = list(said_texts)
    chosen: list[WordMatch] = []
    for match in matches:
        fresh = [saying for saying in match.sayings if not any(saying.text in text for text in quotes)]
        if fresh and len(chosen) < MAX_MATTERS_OF_WORDS:
            quotes += [saying.text for saying in fresh]
            chosen.append(match._replace(sayings=fresh))
    return chosen


def nouns_of(draft: Draft) -> list[Noun]:
    """Return the distinct nouns of a draft without parts of the body."""
    nouns: dict[frozenset[str], Noun] = {}
    for noun in (*_chinese_nouns(draft.plain), *_english_nouns(draft.plain)):
        word = draft.plain[noun.span.start : noun.span.end]
        if noun.terms and not _BODY.search(word) and not (noun.terms in nouns and not noun.is_pointed):
            nouns[noun.terms] = noun
    return sorted(nouns.values(), key=lambda noun: noun.span)


_MONEY = re.compile("(?:块|毛|分|角|元|文|吊|贯|两)(?:钱|银子|大洋)?")
_NUMERAL_END = re.compile(f"{CHINESE_NUMERAL}(?:多|来)?$")
"""Before a unit of money: 三十三块钱 is no thing but a number."""


def _chinese_nouns(text: str) -> Iterator[Noun]:
    if not _CHINESE.search(text):
        return
    import rjieba  # noqa: PLC0415

    start = 0
    tagged = [*rjieba.tag(text), ("", ""), ("", "")]
    for (word, tag), after, further in zip(tagged, tagged[1:], tagged[2:], strict=False):
        end = start + len(word)
        is_before_noun = (further if after[0] == "的" else after)[1].startswith("n")
        is_noun = word not in _CHINESE_NO_NOUNS and not (is_before_noun and _ends_in(word, _MODIFIER_ENDINGS))
        is_noun = is_noun and not (_MONEY.fullmatch(word) and _NUMERAL_END.search(text[:start]))
        if tag.startswith("n") and is_noun and _CHINESE.search(word):
            is_pointed = _CHINESE_POINTING.search(text[max(0, start - 8) : start]) is not None
            # The classifier of 那张纸条 may be read into the noun.
            if len(word) > 1 or is_pointed:
                kind: TouchedKind = "person" if tag.startswith("nr") and has_surname(word) else "thing"
                yield Noun(_terms(word), Span(start, end), is_pointed, kind)
        start = end


def _english_nouns(text: str) -> Iterator[Noun]:
    for match in _ENGLISH_NOUN.finditer(text):
        at = match.start("phrase")
        is_pointed = match["pointing"].casefold() not in ("a", "an")
        has_noun = False
        words = [*_ENGLISH_WORD.finditer(match["phrase"])]
        for word, following in zip_longest(words, words[1:]):
            terms = telling_words(word.group())
            is_noun = _may_be_noun(word.group().casefold())
            is_before_noun = following is not None and bool(telling_words(following.group()))
            if is_before_noun and _ends_in(word.group().casefold(), _MODIFIER_ENDINGS):
                continue
            if not terms or (has_noun and not is_noun):
                # A common word ends what the article points to, and so does a verb or adverb behind the noun.
                break
            if not is_noun:
                continue
            has_noun = True
            yield Noun(terms, Span(at + word.start(), at + word.end()), is_pointed)


def _may_be_noun(word: str) -> bool:
    return word not in _NO_NOUNS and not _ends_in(word, _NO_NOUN_ENDINGS)


def _ends_in(word: str, endings: Mapping[str, frozenset[str]]) -> bool:
    """Tell whether a word has an ending and is none of the nouns that have it, too."""
    return any(word.endswith(ending) and word not in nouns for ending, nouns in endings.items())


def _terms(word: str) -> frozenset[str]:
    return frozenset(map("".join, pairwise(word))) if len(word) > 1 else frozenset(word)


def _match(noun: Noun, draft: Draft, story: StoryBefore) -> WordMatch | None:
    """Return the telling statements on a noun, or None without any."""
    sentence = draft.sentence_at(noun.span.start) or noun.span
    own = telling_words(draft.plain[sentence.start : sentence.end])
    notes = [
        of_memory(memory, story)
        for memory in story.memories
        if memory.content_type == "note"
        and memory.superseded_by is None
        and noun.terms <= telling_words(memory.content)
    ]
    pieces = list(_sentences_with(noun.terms, story))
    scenes = {piece.chapter_index_and_scene for piece in pieces}
    count = len(story.scenes)
    if len(scenes) > max(RARE_SCENES, RARE_SHARE * count):
        pieces = []
    best_first = sorted(pieces, key=lambda piece: (len(own & piece.terms), piece.chapter_index_and_scene), reverse=True)
    telling = [piece for piece in best_first if _tells_of(noun, piece, own, story)]
    last = [max(telling, key=lambda piece: piece.chapter_index_and_scene)] if telling else []
    sentences = list(dict.fromkeys([*telling[:1], *last]))[:MAX_SENTENCES_OF_A_WORD]
    sayings = [*notes, *(piece.evidence for piece in sentences)]
    if not sayings:
        return None
    rarity = idf(len(scenes), max(1, count))
    overlap = max((len(own & piece.terms) for piece in sentences), default=0)
    return WordMatch(noun, sayings, rarity + 0.2 * overlap + bool(notes))


def _tells_of(noun: Noun, piece: _Sentence, own: frozenset[str], story: StoryBefore) -> bool:
    """Tell whether a sentence with a noun tells something of it to a sentence of a draft.

    Where notes, memories or states tell the story, a noun alone is one of many: the sentences share more than that.
    """
    shared = (own & piece.terms) - noun.terms
    if not (noun.is_pointed or len(shared) > 1):
        return False
    return not story.is_told or sum(len(term) > 1 for term in shared - story.words_of_names) >= LEAST_BESIDE_A_NOUN


class _Sentence(NamedTuple):
    chapter_index_and_scene: tuple[int, int]
    start: int
    text: str
    terms: frozenset[str]

    @property
    def evidence(self) -> ContinuityEvidence:
        chapter_index, scene_index = self.chapter_index_and_scene
        return ContinuityEvidence(
            source="passage",
            source_id=f"{chapter_index}:{scene_index}:passage:{self.start}",
            chapter_index=chapter_index,
            scene_index=scene_index,
            text=self.text,
            quote=self.text,
        )


def _sentences_with(terms: frozenset[str], story: StoryBefore) -> Iterator[_Sentence]:
    length = PASSAGE_CHARACTERS[story.language]
    for scene in story.scenes:
        for passage, passage_terms in passages_of(scene.text, length):
            if not terms <= passage_terms:
                continue
            text = scene.text[passage.start : passage.end]
            place = (scene.position.chapter_index or 0, scene.position.scene_index or 0)
            for span in split_sentences(text):
                sentence_terms = telling_words(text[span.start : span.end])
                if terms <= sentence_terms:
                    words = " ".join(text[span.start : span.end].split())
                    yield _Sentence(place, passage.start + span.start, words, sentence_terms)


def telling_sentence(evidence: ContinuityEvidence, words: frozenset[str], names: Sequence[str]) -> ContinuityEvidence:
    """Reduce a passage to its most telling sentence."""
    if evidence.source != "passage":
        return evidence
    sentences = [evidence.text[span.start : span.end] for span in split_sentences(evidence.text)]
    telling = max(
        sentences,
        key=lambda text: len(words & telling_words(text)) + NAME_WEIGHT * any(name in text for name in names),
        default=evidence.text,
    )
    return evidence.model_copy(update={"text": telling, "quote": telling})
