"""The lists that a model sees of a check: known names, the draft's sentences, facts, evidence, claims."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from novelgen.checking.hard_facts import cast_of, labels_of, names_for
from novelgen.checking.standing import death_of
from novelgen.checking.story import Draft, StoryBefore
from novelgen.language.language import StoryLanguage, TokenCounter, estimate_tokens
from novelgen.language.sentences import split_sentences
from novelgen.memory.story import KnowledgeMemory
from novelgen.model_calls.prompt_data import NOTHING, as_data, listed, place_in_words, telling_names
from novelgen.models.continuity import ContinuityEvidence, DraftClaim
from novelgen.models.entity import Entity

MAX_KNOWN_TOKENS = 700

MAX_NAMES_SHOWN = 4

MAX_KNOWERS_ASKED = 6
"""Of so many characters of a draft it is told what they do not know."""

MAX_QUOTE_CHARACTERS = 240

LINE_TOKENS = 8
"""Number, place and marks of a line of evidence."""

_WORDS: Mapping[StoryLanguage, Mapping[str, str]] = {
    "en": {
        "pov": "told from the point of view of {name}",
        "plan": "the plan: ",
        "unknown": "not known to: ",
        "perhaps": "perhaps not known to: ",
        "comma": ", ",
    },
    "zh": {"pov": "视角人物：{name}", "plan": "计划：", "unknown": "不知情：", "perhaps": "未必知情：", "comma": "、"},
}


def language_of(story: StoryBefore) -> StoryLanguage:
    """Return the language in which a model is asked about a story."""
    return "zh" if story.language == "zh" else "en"


def place_text(story: StoryBefore) -> str:
    """Return where the draft stands, from whose point of view, and what the plan means to happen."""
    words = _WORDS[language_of(story)]
    lines = [place_in_words(story.as_of.chapter_index, story.as_of.scene_index, language_of(story))]
    if story.pov is not None:
        lines.append(words["pov"].format(name=as_data(story.name(story.pov))))
    if story.plan is not None:
        plan = story.plan
        parts = [plan.location, words["comma"].join(plan.characters), plan.purpose, *plan.key_actions]
        told = " | ".join(as_data(part) for part in parts if part.strip())
        if told:
            lines.append(words["plan"] + told)
    return "\n".join(lines)


def draft_lines(draft: Draft) -> str:
    """Return the draft's sentences with their numbers, a line each."""
    return "\n".join(
        f"S{number} | {as_data(draft.text[span.start : span.end])}"
        for number, span in enumerate(draft.sentences, start=1)
    )


def known_lines(draft: Draft, story: StoryBefore, *, max_tokens: int = MAX_KNOWN_TOKENS) -> str:
    """Return whom and what the story knows, whom the draft names first, then who was on stage last, within a budget."""
    last = sorted(story.scenes[-1].present) if story.scenes else []
    ids = dict.fromkeys([*cast_of(draft, story), *last])

    def line(entity: Entity) -> str:
        names = "; ".join(name[:60] for name in telling_names(entity, draft.text, limit=MAX_NAMES_SHOWN))
        return f"{entity.entity_id} | {names} | {entity.entity_type}"

    known = [story.entity[each] for each in ids if each in story.entity]
    return listed(known, line, max_tokens).text(language_of(story))


def claim_lines(claims: Sequence[DraftClaim], story: StoryBefore) -> str:
    """Return the claims as a list, a line each."""
    return "\n".join(f"- {as_data(each.claim)}" for each in claims) or NOTHING[language_of(story)]


def joined_evidence(
    lists: Iterable[Sequence[ContinuityEvidence]],
    *,
    max_tokens: float = math.inf,
    count_tokens: TokenCounter = estimate_tokens,
) -> list[ContinuityEvidence]:
    """Return several lists of evidence as one: the best of each in turn, each piece once, within a budget."""
    rest = [list(each) for each in lists]
    taken: list[ContinuityEvidence] = []
    told: set[str] = set()
    spent = 0
    for at in range(max(map(len, rest), default=0)):
        for each in (one[at] for one in rest if at < len(one)):
            sentences = {" ".join(each.text[start:end].split()) for start, end in split_sentences(each.text)}
            cost = count_tokens(each.text) + count_tokens(_extra_quote(each)) + LINE_TOKENS
            # A passage may have grown in one list, or overlap another: half of it must be new.
            if spent + cost <= max_tokens and 2 * len(sentences & told) < len(sentences):
                taken.append(each)
                told |= sentences
                spent += cost
    return taken


@dataclass(frozen=True, slots=True)
class Exhibits:
    """Facts and evidence under the numbers by which a model names them."""

    facts: Sequence[ContinuityEvidence]
    evidence: Sequence[ContinuityEvidence]

    def by_number(self) -> dict[str, ContinuityEvidence]:
        """Return them by F1, F2 …, E1, E2 …."""
        numbered = {f"F{number}": each for number, each in enumerate(self.facts, start=1)}
        return numbered | {f"E{number}": each for number, each in enumerate(self.evidence, start=1)}

    def fact_lines(self, story: StoryBefore) -> str:
        """Return the facts, a line each."""
        lines = [f"F{number} | {_told(each)}" for number, each in enumerate(self.facts, start=1)]
        return "\n".join(lines) or NOTHING[language_of(story)]

    def evidence_lines(self, draft: Draft, story: StoryBefore) -> str:
        """Return the evidence, a line each, with who of the draft's characters does not know it."""
        unknown = NotKnown(draft, story)
        ended = {each.source_id for each in story.memories if each.superseded_by is not None}
        outdated = labels_of(story).outdated
        lines = [
            " | ".join(
                part
                for part in (
                    f"E{number}",
                    _told(each) + (outdated if each.source_id in ended else ""),
                    unknown.of(each),
                )
                if part
            )
            for number, each in enumerate(self.evidence, start=1)
        ]
        return "\n".join(lines) or NOTHING[language_of(story)]


class NotKnown:
    """Tells of evidence who of a draft's characters does not know it."""

    def __init__(self, draft: Draft, story: StoryBefore) -> None:
        self._story = story
        self._words = _WORDS[language_of(story)]
        self._memories: Mapping[str, KnowledgeMemory] = {
            each.source_id: each for each in story.knowledge.story.memories
        }
        self._names = names_for(draft, story)
        living = [
            each
            for each in cast_of(draft, story)
            if story.entity[each].entity_type == "character" and death_of(each, story) is None
        ]
        self._people = living[:MAX_KNOWERS_ASKED]

    def of(self, evidence: ContinuityEvidence) -> str:
        """Return it as part of a line; empty where everybody knows it or nobody can tell."""
        memory = self._memories.get(evidence.source_id)
        if memory is None:
            return ""
        surely: list[str] = []
        perhaps: list[str] = []
        for character_id in self._people:
            knowing = self._story.knowledge.knows(character_id, memory)
            # Who was there and had no part in it, or heard of it and did not believe it, may well speak of it.
            if knowing.knows or knowing.reason in ("present", "doubts"):
                continue
            is_kept = knowing.reason in ("hidden", "deceived")
            may_know = not is_kept and self._story.knowledge.might_know_from(character_id, memory) is not None
            (perhaps if may_know else surely).append(as_data(self._names[character_id]))
        told = [
            self._words[word] + self._words["comma"].join(names)
            for word, names in (("unknown", surely), ("perhaps", perhaps))
            if names
        ]
        return " | ".join(told)


def _told(evidence: ContinuityEvidence) -> str:
    place = "" if evidence.chapter_index is None else f"{evidence.chapter_index}:{evidence.scene_index}"
    quote = _extra_quote(evidence)
    parts = (place, as_data(evidence.text), f"“{as_data(quote)}”" if quote else "")
    return " | ".join(part for part in parts if part)


def _extra_quote(evidence: ContinuityEvidence) -> str:
    """Return what of a quote the text does not say already."""
    quote = " ".join(evidence.quote.split())[:MAX_QUOTE_CHARACTERS]
    return "" if quote in " ".join(evidence.text.split()) else quote
