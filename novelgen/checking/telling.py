"""What a draft tells against the story: what a speaker cannot know, kin nobody has, who is whose child, the eldest."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from novelgen.checking.figures import clause_span
from novelgen.checking.likeness import Piece, SharedWords, StoryWords, telling_words
from novelgen.checking.proof import where_told
from novelgen.checking.story import Draft, StoryBefore
from novelgen.language.sentences import Span
from novelgen.memory.knowledge_rules import Knowing, Reason
from novelgen.models.continuity import ContinuityEvidence, ContinuityIssue, ContinuityKind

MIN_LEAK = {"en": 24.0, "zh": 40.0}
"""From which rarity of shared words on a speaker tells a memory, and not only touches on what it speaks of."""

KNOWN_SHARE = 0.6
"""Share of it from which on something that the speaker does know accounts for the words."""

_LEAKING: frozenset[Reason] = frozenset({"hidden", "settled", "absent", "inner"})
"""Who was there may have understood more than the record says; who was away, or is kept from it, has not."""

_NO_KIN = re.compile(
    r"\b(?:no|without(?:\s+any)?|not\s+a(?:\s+single)?)\s+(?:living\s+|other\s+)?"
    r"(?:relatives?|relations?|family|kin|kinsfolk)\b"
    r"|举目无亲|无亲无故|(?:没有|没|无|并无)(?:一个)?(?:亲人|亲戚|亲族|家人)|六亲(?:俱|皆|全)?无",
    re.IGNORECASE,
)
_KIN_ENGLISH = (
    "sisters?|brothers?|aunts?|uncles?|cousins?|nieces?|nephews?|mothers?|fathers?|grandmother|grandfather"
    "|sons?|daughters?"
)
_IS_MY_KIN = re.compile(
    rf"\b(?:is|are|am)\s+my\s+(?:(?:own|only|dear|mother[’']s|father[’']s|late|elder|younger|poor)\s+){{0,3}}(?:{_KIN_ENGLISH})\b"
    r"|是(?:我|俺)(?:的)?(?:亲|嫡亲)?(?:姨母|姨妈|姑母|姑妈|舅舅|舅父|叔父|叔叔|伯父|表兄|表哥|表弟|表妹|堂兄|堂弟|姐姐|妹妹|哥哥|弟弟|侄儿|外甥)",
    re.IGNORECASE,
)

_HATRED = re.compile(
    r"\b(?:hated|loathed|detested|despised)\s+(?:each\s+other|one\s+another)\b|\b(?:sworn|mortal|bitter|deadly)\s+enemies\b"
    r"|势不两立|不共戴天|死对头|水火不容|素来不和|(?:彼此|互相)(?:仇恨|憎恨|痛恨)",
    re.IGNORECASE,
)
_FRIENDSHIP = re.compile(
    r"\b(?:(?:particular|close|great|dear|best|old|bosom|intimate|firm|fast|inseparable)\s+friends?|friends)\b"
    r"|至交|知己|好友|挚友|结义|结拜|莫逆|把兄弟|生死之交",
    re.IGNORECASE,
)
_FALLEN_OUT = re.compile(
    r"\b(?:quarrel\w*|betray\w*|hat(?:e|es|ed|red)|enem(?:y|ies)|swindl\w*|cheat\w*|stole|fell out|feud\w*"
    r"|vengeance|revenge)\b"
    r"|反目|翻脸|背叛|出卖|决裂|仇|恨|绝交|争吵|不和",
    re.IGNORECASE,
)

_ORDER = {
    "eldest": "first", "oldest": "first", "elder": "first", "大": "first", "长": "first",
    "second": "second", "二": "second", "次": "second",
    "third": "third", "三": "third",
    "youngest": "last", "younger": "last", "小": "last", "幼": "last",
}  # fmt: skip
_CHILD = {"son": "son", "boy": "son", "daughter": "daughter", "girl": "daughter", "brother": "brother"} | {
    "sister": "sister", "女儿": "daughter", "女": "daughter", "儿子": "son", "子": "son", "公子": "son",
    "太子": "son", "郎": "son",
}  # fmt: skip
_ORDERED = re.compile(
    r"\b(?P<order>eldest|oldest|elder|second|third|youngest|younger)\s+(?P<child>son|daughter|brother|sister|boy|girl)"
    r"(?:\s+(?:is\s+|was\s+)?(?:named|called)|,)?\s+(?P<name>[A-Z][a-z]+)\b"
    r"|\b(?P<name2>[A-Z][a-z]+),\s+(?:the|his|her|my|their|our)\s+(?P<order2>eldest|oldest|second|third|youngest)\s+"
    r"(?P<child2>son|daughter|brother|sister|boy|girl)\b"
)
_ORDERED_CHINESE = re.compile(
    r"(?P<order>大|长|次|二|三|小|幼)(?:小)?(?P<child>女儿|儿子|公子|太子|女|子)(?:的?名字?叫?(?:做|作)?|唤名|唤作|唤做|名唤|叫做|叫作|叫)"
    r"(?P<name>[\u4e00-\u9fff]{2,3})(?=[，。；、！？：])"
)
_ORDERED_PLAIN_CHINESE = r"(?P<order>大|长|次|二|三|小|幼)(?P<child>女儿|儿子|公子|太子|女|子)(?P<name>{names})"

_PARENT_CHINESE = re.compile(
    r"(?P<parent>[\u4e00-\u9fff]{2,6}?)(?:之(?P<child>[子女])(?![弟孙婿])"
    r"|[之的](?:亲生|嫡亲|嫡|独生|独)?(?P<child2>太子|儿子|女儿|公子|公主))"
)
_CALLED_BY_RANK = re.compile("[王帝皇侯公爷氏君将相]|员外|先生")
"""What a Chinese parent is called by: no 没来历的女儿 has one."""

_PARENT = re.compile(
    r"\b(?:the\s+)?(?:only\s+|eldest\s+|youngest\s+)?(?P<child>son|daughter|child)\s+of\s+(?:the\s+|old\s+|late\s+)*"
    r"(?P<parent>(?:[A-Z][a-z]+\.?\s?)+)"
    r"|\b(?P<parent2>(?:[A-Z][a-z]+\s?)+)[’']s\s+(?:only\s+|own\s+|eldest\s+|youngest\s+)?(?P<child2>son|daughter)\b"
)
MIN_PARENT_LIKENESS = {"en": 9.0, "zh": 20.0}
"""From which rarity of the other words on two passages tell whose child the same person is."""

_MESSAGES: Mapping[str, Mapping[str, str]] = {
    "en": {
        "leak": "{who} cannot know this ({why}): {there} ({place}).",
        "kin": "{who} has no such kin in the story before it: {there} ({place}).",
        "friends": "The draft makes enemies of {who}; the story before it says: {there} ({place}).",
        "order": "{who} is another of the children in the story before it: {there} ({place}).",
        "parent": "The draft says {here}; the story before it says {there} ({place}).",
    },
    "zh": {
        "leak": "{who}不可能知道这件事（{why}）：{there}（{place}）。",
        "kin": "此前的故事里{who}没有这样的亲人：{there}（{place}）。",
        "friends": "草稿说{who}是仇敌，而此前的故事说：{there}（{place}）。",
        "order": "此前的故事里{who}的排行不同：{there}（{place}）。",
        "parent": "草稿说“{here}”，而此前的故事说“{there}”（{place}）。",
    },
}
_FIXES: Mapping[str, Mapping[str, str]] = {
    "en": {
        "leak": "Let somebody tell them first, or let somebody say it who knows it.",
        "kin": "Make it another relation, or tell where this one comes from.",
        "friends": "Keep to what they were, or tell how they fell out.",
        "order": "Keep to the order that the story gave.",
        "parent": "Keep to the parent that the story gave.",
    },
    "zh": {
        "leak": "先交代是谁告诉此人的，或换知情的人来说。",
        "kin": "改作别的关系，或交代这门亲从何而来。",
        "friends": "按原来的关系写，或交代何时反目。",
        "order": "按此前的排行写。",
        "parent": "按此前所说的父母写。",
    },
}
_WHY = {
    "en": {
        "hidden": "it is kept from them",
        "settled": "it was said while they were away",
        "absent": "they were not there, and nothing tells it to them",
        "inner": "it went on in somebody else's mind",
    },
    "zh": {
        "hidden": "有人瞒着",
        "settled": "是不在场时别人说的",
        "absent": "当时不在场，此后也没有谁告诉过",
        "inner": "是别人的心事",
    },
}


def leaked_knowledge(draft: Draft, story: StoryBefore) -> Iterable[ContinuityIssue]:
    """Find what a speaker tells in the rare words of a memory that they cannot know by the knowledge rules."""
    language = _language(story)
    words = story.words
    memories = {each.source_id: each for each in story.knowledge.story.memories}
    pieces = [each for each in words.statements if _source_id(each) in memories and not _is_lore(each, story)]
    told = [telling_words(piece.words) for piece in pieces] if draft.speeches else []
    read: dict[int, SharedWords] = {}
    known: dict[tuple[str, str], Knowing] = {}

    def knowing(speaker_id: str, piece: Piece) -> Knowing:
        key = (speaker_id, _source_id(piece))
        if key not in known:
            known[key] = story.knowledge.knows(speaker_id, memories[key[1]])
        return known[key]

    for speaker_id, span in _said(draft):
        here = words.read(_words(draft, span))
        alike: list[tuple[float, int]] = []
        for at, there in enumerate(told):
            # Names are looked for only where the words alone come near.
            if sum(map(words.rarity, here.words & there)) >= KNOWN_SHARE * MIN_LEAK[language]:
                if at not in read:
                    read[at] = words.read(pieces[at].words)
                alike.append((words.likeness(here, read[at]), at))
        alike.sort(key=lambda each: -each[0])
        if not alike or alike[0][0] < MIN_LEAK[language]:
            continue
        best, piece = alike[0][0], pieces[alike[0][1]]
        verdict = knowing(speaker_id, piece)
        if verdict.knows or verdict.reason not in _LEAKING or words.is_planned(_words(draft, span)):
            continue
        if any(each >= KNOWN_SHARE * best and knowing(speaker_id, pieces[at]).knows for each, at in alike[1:]):
            continue
        yield _finding(
            "leak", "knowledge_leak", story, draft, span, piece.as_evidence(), [speaker_id],
            who=story.name(speaker_id), why=_WHY[language][verdict.reason],
            place=where_told(piece.as_evidence(), language),
            confidence=0.75,
        )  # fmt: skip


def _is_lore(piece: Piece, story: StoryBefore) -> bool:
    """Whether a memory tells how the world is, which others may know as well, and not what somebody did or said."""
    memory = piece.memory
    if memory is None:
        return False
    people = (
        each
        for each in memory.entities_mentioned
        if each in story.entity and story.entity[each].entity_type in ("character", "faction")
    )
    return memory.event_type == "rule_or_canon" or not any(people)


def contradicted_relations(draft: Draft, story: StoryBefore) -> Iterable[ContinuityIssue]:
    """Find kin whom nobody has, friends who are called enemies, children in another order or of other parents."""
    words = story.words
    rules = (_kin_of_the_kinless, _enemies_who_are_friends, _children_in_another_order, _children_of_others)
    for rule in rules:
        yield from (each for each in rule(draft, story, words) if not words.is_planned(each.draft_quote))


def _said(draft: Draft) -> Iterator[tuple[str, Span]]:
    """The sentences said aloud by whom the draft names, with their marks left out."""
    for speech in draft.speeches:
        if speech.speaker_id is None:
            continue
        for sentence in draft.sentences:
            start, end = max(sentence.start, speech.start), min(sentence.end, speech.end)
            while start < end and draft.text[start] in "“‘「『\"' \n":
                start += 1
            while start < end and draft.text[end - 1] in "”’」』\"' \n":
                end -= 1
            if start < end:
                yield speech.speaker_id, Span(start, end)


def _kin_of_the_kinless(draft: Draft, story: StoryBefore, words: StoryWords) -> Iterator[ContinuityIssue]:
    for found in _IS_MY_KIN.finditer(draft.text):
        speech = draft.speech_at(found.start())
        who = speech.speaker_id if speech is not None else draft.narrator_id
        if who is None:
            continue
        for piece in words.statements:
            if piece.memory is not None and who in piece.memory.entities_mentioned[:1] and _NO_KIN.search(piece.words):
                clause = clause_span(draft.text, found.start(), found.end())
                yield _finding(
                    "kin", "relationship", story, draft, clause, piece.as_evidence(), [who],
                    who=story.name(who), place=where_told(piece.as_evidence(), _language(story)), confidence=0.85,
                )  # fmt: skip
                break


def _enemies_who_are_friends(draft: Draft, story: StoryBefore, words: StoryWords) -> Iterator[ContinuityIssue]:
    told: set[frozenset[str]] = set()
    for found in _HATRED.finditer(draft.text):
        pair = _pair_before(draft, story, found.start())
        if pair is None or pair in told:
            continue
        both = [
            piece
            for piece in words.statements
            if piece.memory is not None and pair <= set(piece.memory.entities_mentioned)
        ]
        friends = [piece for piece in both if _FRIENDSHIP.search(piece.words)]
        between = [
            f"{each.relationship_type} {each.status}"
            for each in story.relationships
            if {each.character_a, each.character_b} == pair
        ]
        if friends and not any(_FALLEN_OUT.search(text) for text in [*between, *(each.words for each in both)]):
            told.add(pair)
            clause = clause_span(draft.text, found.start(), found.end())
            language = _language(story)
            names = ("和" if language == "zh" else " and ").join(map(story.name, sorted(pair)))
            yield _finding(
                "friends", "relationship", story, draft, clause, friends[-1].as_evidence(), sorted(pair),
                who=names, place=where_told(friends[-1].as_evidence(), language), confidence=0.8,
            )  # fmt: skip


def _pair_before(draft: Draft, story: StoryBefore, at: int) -> frozenset[str] | None:
    """The two whom the sentence names, or it and the one before; None where it is not exactly two."""
    sentence = draft.sentence_at(at) or Span(at, at)
    earlier = [each for each in draft.sentences if each.end <= sentence.start]
    for start in (sentence.start, *(each.start for each in reversed(earlier[-2:]))):
        named = frozenset(
            each.entity_id
            for each in draft.mentions
            if start <= each.start < sentence.end
            and each.entity_id in story.entity
            and story.entity[each.entity_id].entity_type == "character"
        )
        if len(named) >= 2:
            return named if len(named) == 2 else None
    return None


@dataclass(frozen=True, slots=True)
class _Child:
    name: str
    order: str
    child: str
    start: int
    end: int


def _children(text: str, *, names: Sequence[str] = ()) -> list[_Child]:
    """Named children with their order among the others."""
    patterns = [_ORDERED, _ORDERED_CHINESE]
    if names:
        patterns.append(re.compile(_ORDERED_PLAIN_CHINESE.format(names="|".join(map(re.escape, names)))))
    found = []
    for match in (each for pattern in patterns for each in pattern.finditer(text)):
        told = {name.rstrip("2"): value for name, value in match.groupdict().items() if value}
        found.append(_Child(told["name"], _ORDER[told["order"]], _CHILD[told["child"]], match.start(), match.end()))
    return found


def _children_in_another_order(draft: Draft, story: StoryBefore, words: StoryWords) -> Iterator[ContinuityIssue]:
    told: dict[tuple[str, str], list[tuple[str, Piece]]] = {}
    for piece in words.pieces():
        for each in _children(piece.words):
            told.setdefault((each.name, each.child), []).append((each.order, piece))
    if not told:
        return
    for each in _children(draft.text, names=sorted({name for name, _ in told})):
        before = told.get((each.name, each.child), [])
        if not before or not all(_is_another_order(each.order, order) for order, _ in before):
            continue
        piece = before[0][1]
        clause = clause_span(draft.text, each.start, each.end)
        yield _finding(
            "order", "relationship", story, draft, clause, piece.as_evidence(), [],
            who=each.name, place=where_told(piece.as_evidence(), _language(story)), confidence=0.9,
        )  # fmt: skip


def _is_another_order(one: str, other: str) -> bool:
    """Whether two orders exclude each other; the third of three is the last as well."""
    return one != other and {one, other} not in ({"third", "last"}, {"second", "last"})


def _children_of_others(draft: Draft, story: StoryBefore, words: StoryWords) -> Iterator[ContinuityIssue]:
    language = _language(story)
    told: list[tuple[str, str, Piece, SharedWords]] | None = None
    for parent, said, start, end in _parents(draft.text):
        if told is None:
            told = [
                (other, there, piece, words.read(piece.words.replace(other, " ")))
                for piece in words.pieces()
                for other, there, _, _ in _parents(piece.words)
            ]
        sentence = draft.sentence_at(start) or Span(start, start)
        here = words.read(draft.text[sentence.start : sentence.end].replace(parent, " "))
        against = [(words.likeness(here, around), there, piece, other) for other, there, piece, around in told]
        against.sort(key=lambda each: -each[0])
        if not against or against[0][0] < MIN_PARENT_LIKENESS[language]:
            continue
        best, there, piece, _ = against[0]
        alike = [other for likeness, _, _, other in against if likeness >= KNOWN_SHARE * best]
        if any(_is_same_name(parent, other, story) for other in alike):
            continue
        clause = clause_span(draft.text, start, end)
        yield _finding(
            "parent", "identity", story, draft, clause, piece.as_evidence(), [],
            here=said, told=there, place=where_told(piece.as_evidence(), language), confidence=0.8,
        )  # fmt: skip


def _parents(text: str) -> Iterator[tuple[str, str, int, int]]:
    """Whose child somebody is said to be: the parent, the words that say it, and where they stand."""
    for pattern in (_PARENT, _PARENT_CHINESE):
        for found in pattern.finditer(text):
            told = {name.rstrip("2"): value for name, value in found.groupdict().items() if value}
            if pattern is _PARENT_CHINESE and not _CALLED_BY_RANK.search(told["parent"]):
                continue
            yield told["parent"].strip(), found.group().strip(), found.start(), found.end()


def _is_same_name(one: str, other: str, story: StoryBefore) -> bool:
    if one.endswith(other) or other.endswith(one):
        return True
    return any({one, other} <= set(each.names()) for each in story.entities)


def _words(draft: Draft, span: Span) -> str:
    return draft.text[span.start : span.end]


def _language(story: StoryBefore) -> str:
    return "zh" if story.language == "zh" else "en"


def _source_id(piece: Piece) -> str:
    return (piece.memory.source_id or piece.memory.chunk_id) if piece.memory is not None else ""


def _finding(
    what: str,
    kind: ContinuityKind,
    story: StoryBefore,
    draft: Draft,
    span: Span,
    evidence: ContinuityEvidence,
    entity_ids: list[str],
    *,
    confidence: float,
    place: str,
    who: str = "",
    why: str = "",
    here: str = "",
    told: str = "",
) -> ContinuityIssue:
    language = _language(story)
    return ContinuityIssue(
        kind=kind,
        severity="high" if what == "leak" else "medium",
        draft_quote=draft.text[span.start : span.end],
        draft_span=(span.start, span.end),
        message=_MESSAGES[language][what].format(who=who, why=why, here=here, there=told or evidence.text, place=place),
        entity_ids=entity_ids,
        evidence=[evidence],
        rule=f"telling_{what}",
        confidence=confidence,
        fix=_FIXES[language][what],
    )
