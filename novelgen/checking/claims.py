"""What a draft claims: the shape in which a model lists it, and what of that can be placed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Annotated, Any

from pydantic import BeforeValidator, Field

from novelgen.checking.story import Draft, StoryBefore
from novelgen.language.sentences import Span
from novelgen.memory.evidence import QuoteFinder
from novelgen.model_calls.answer_parts import ModelPart, Text, Texts
from novelgen.model_calls.answers import UnusableAnswerError
from novelgen.models.continuity import CONTINUITY_KINDS, ContinuityKind, DraftClaim

MAX_CLAIMS = 25

MAX_CLAIM_ENTITIES = 8

MAX_CLAIM_SENTENCES = 4

SHORTEST_DRAFT_QUOTE = (4, 2)
"""Least characters of an English and a Chinese quote of a draft: it must tell where, not prove anything."""

_KIND_WORDS: dict[str, ContinuityKind] = {
    **dict.fromkeys(("dead", "absent", "death", "presence", "dead_absent", "死者", "缺席", "在场"), "dead_or_absent"),
    **dict.fromkeys(("object", "item", "holder", "possession", "物品", "持有"), "object_holder"),
    **dict.fromkeys(("location", "setting", "geography", "地点", "方位"), "place"),
    **dict.fromkeys(("name", "title", "disguise", "who", "身份", "名字", "称呼"), "identity"),
    **dict.fromkeys(("knowledge", "leak", "knows", "知情", "泄密"), "knowledge_leak"),
    **dict.fromkeys(("order", "oath", "plan", "vow", "agreement", "诺言", "命令", "约定"), "promise"),
    **dict.fromkeys(("injury", "body", "looks", "age", "appearance", "wound", "身体", "相貌", "伤"), "injury_or_body"),
    **dict.fromkeys(("kin", "rank", "relation", "family", "关系", "亲属"), "relationship"),
    **dict.fromkeys(("rule", "canon", "number", "count", "world", "规则", "数目", "法则"), "canon_rule"),
    **dict.fromkeys(("time", "date", "chronology", "timeline", "时间", "日期"), "story_time"),
    **dict.fromkeys(("invention", "event", "past", "past_event", "history", "杜撰", "往事"), "invented"),
}


def read_kind(said: Any) -> ContinuityKind:
    """Return the kind that a model's word means; what nobody can place counts as an invented past."""
    word = "_".join(str(said).casefold().replace("-", " ").replace("_", " ").split())
    known = {each: each for each in CONTINUITY_KINDS}
    if word in known:
        return known[word]
    parts = [word, *word.split("_")]
    return next((_KIND_WORDS[each] for each in parts if each in _KIND_WORDS), "invented")


KindWord = Annotated[ContinuityKind, BeforeValidator(read_kind)]


def at_most(limit: int) -> BeforeValidator:
    """Return what cuts a list that a model made too long, and takes one word for a list of one."""

    def cut(value: Any) -> Any:
        if isinstance(value, str | int):
            return [str(value)]
        return value[:limit] if isinstance(value, list) else value

    return BeforeValidator(cut)


Sentences = Annotated[Texts, BeforeValidator(lambda value: [str(each) for each in value]), at_most(MAX_CLAIM_SENTENCES)]


Number = Annotated[Text, BeforeValidator(str)]
"""Of a line that was shown: E3, K1, or a bare 1."""


class ModelClaim(ModelPart):
    """Something that the draft takes for granted or lets happen."""

    claim: Text = Field(description="one short sentence that stands alone, with names")
    sentences: Sentences = Field(
        default_factory=list, description="numbers of the sentences: S4", max_length=MAX_CLAIM_SENTENCES
    )
    entities: Annotated[Texts, at_most(MAX_CLAIM_ENTITIES)] = Field(
        default_factory=list, description="ids of the list", max_length=MAX_CLAIM_ENTITIES
    )
    kind: KindWord = "invented"
    question: Text = Field(default="", description="what to ask of the story's memory, without the draft's answer")


class ModelClaims(ModelPart):
    """What a draft claims."""

    claims: Annotated[list[ModelClaim], at_most(MAX_CLAIMS)] = Field(max_length=MAX_CLAIMS)


def read_claims(answer: ModelClaims, draft: Draft, story: StoryBefore) -> list[DraftClaim]:
    """Return the claims of an answer, with the draft's own words and the ids that the story knows."""
    claims = [
        DraftClaim(
            claim=each.claim,
            draft_quote=_quoted(each.sentences, draft),
            entity_ids=placed_ids(each.entities, story),
            kind=each.kind,
        )
        for each in answer.claims
        if each.claim
    ]
    if not claims and draft.sentences:
        raise UnusableAnswerError("empty", "it lists no claim of the draft")
    return claims


def questions_of(answer: ModelClaims) -> list[str]:
    """Return what is to be asked of the memory: each claim's question, or the claim where it has none."""
    return list(dict.fromkeys(each.question or each.claim for each in answer.claims if each.claim))


def placed_ids(said: Iterable[str], story: StoryBefore) -> list[str]:
    """Return the ids of whom names or ids mean; who is not known is left out."""
    found = (story.resolver.resolve(each).entity_id for each in said)
    return list(dict.fromkeys(each for each in found if each is not None))


def find_in_draft(quote: str, draft: Draft) -> Span | None:
    """Return where a quote stands in a draft; spelling that does not count is folded."""
    return QuoteFinder(draft.text, min_characters=SHORTEST_DRAFT_QUOTE).find(quote)


def sentence_number(said: str, sentences: Sequence[Span]) -> int | None:
    """Return the index of a sentence that a model names as S4 or 4; None for one that was not shown."""
    digits = said.strip().lstrip("Ss#").strip()
    number = int(digits) if digits.isascii() and digits.isdigit() and len(digits) < 6 else 0
    return number - 1 if 1 <= number <= len(sentences) else None


def _quoted(said: Iterable[str], draft: Draft) -> str:
    numbers = sorted({at for each in said if (at := sentence_number(each, draft.sentences)) is not None})
    if not numbers:
        return next((draft.text[span.start : span.end] for each in said if (span := find_in_draft(each, draft))), "")
    first = draft.sentences[numbers[0]]
    # Sentences that stand together are one quote; of others the first is enough to find the place.
    end = first.end
    for before, number in pairwise(numbers):
        if number != before + 1:
            break
        end = draft.sentences[number].end
    return draft.text[first.start : end]
