"""Bodies of a draft against the story's: which limb is lost or wounded, by what, on which side; and baldness."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from novelgen.checking.figures import clause_span
from novelgen.checking.likeness import Piece, StoryWords, telling_words
from novelgen.checking.proof import where_told
from novelgen.checking.story import Draft, StoryBefore
from novelgen.language.sentences import Span
from novelgen.models.continuity import ContinuityIssue

_PART_WORDS = {
    "leg": ("legs?|thighs?|knees?|calf|shins?|foot|feet|ankles?", "腿|膝|脚|足"),
    "arm": ("arms?|hands?|wrists?|elbows?|fingers?|thumbs?|palms?|forearms?", "臂|胳膊|手|腕|掌|肘|指"),
    "shoulder": ("shoulders?", "肩"),
    "eye": ("eyes?", "眼|目|睛"),
    "ear": ("ears?", "耳"),
    "chest": ("chest|breast|ribs?|lungs?", "胸|肋|肺"),
    "neck": ("neck|throat", "颈|脖|喉"),
    "face": ("cheeks?|jaw|chin|nose|lips?", "脸|颊|鼻|唇|腮"),
}
"""Parts of a body in English and Chinese; a wound in one is none in another."""

_PARTS = {
    name: re.compile(rf"\b(?:{english})\b|{chinese}", re.IGNORECASE) for name, (english, chinese) in _PART_WORDS.items()
}
_ENGLISH_PART = "|".join(english for english, _ in _PART_WORDS.values())
_CHINESE_PART = "|".join(chinese for _, chinese in _PART_WORDS.values())

_SIDED = re.compile(
    rf"\b(?P<side>left|right)[\s-]+(?P<part>{_ENGLISH_PART})\b"
    rf"|(?P<zh_side>[左右])(?:边|侧|只|条)?(?:的)?(?P<zh_part>{_CHINESE_PART})",
    re.IGNORECASE,
)
_SIDES = {"左": "left", "右": "right"}

_LOST = re.compile(
    r"\b(?:lost|lose|losing|gone|missing|off|amputat\w+|severed|stump|wooden|one-(?:legged|armed|eyed)|blind(?:ed)?"
    r"|maimed|crippled|without)\b|断了?|失去|没了|丢了|截|残|瘸|跛|瞎|失明|独(?:臂|眼|腿)|假(?:腿|肢|手)|木腿|砍去|砍掉",
    re.IGNORECASE,
)
_WOUND = re.compile(
    r"\b(?:wound(?:s|ed)?|bullets?|shot|stab(?:bed)?|scars?|scarred|gash(?:ed)?|arrows?|bitten|burn(?:t|ed)|injur\w+"
    r"|broken|fractured?|sprained)\b|伤|疤|中箭|箭疮|枪眼|刀口|骨折|扭了",
    re.IGNORECASE,
)
_SOUND = re.compile(
    rf"\b(?:two|both)\s+(?:of\s+)?(?:(?:my|his|her)\s+)?(?:sound|good|whole|strong|healthy|stout)\s+"
    rf"(?P<part>{_ENGLISH_PART})\b"
    rf"|\bboth\s+(?:my|his|her)\s+(?P<other>{_ENGLISH_PART})\s+(?:were\s+|are\s+)?(?:sound|whole|unhurt|intact)\b"
    rf"|(?:双|两条|两只|两个)好?(?P<zh_part>{_CHINESE_PART})(?:都|俱|皆)?(?:完好|齐全|好好的|健全|无恙)",
    re.IGNORECASE,
)
_BALD = re.compile(r"\bbald(?:ness|-headed)?\b|\bhairless\b|秃(?:头|顶)|秃了", re.IGNORECASE)
_LONG_HAIR = re.compile(
    r"\b(?:his|her|my)\s+(?:[a-z-]+,?\s+){0,3}(?:curls|locks|ringlets|tresses|braids?)\b"
    r"|\b(?:his|her|my)\s+(?:[a-z-]+,?\s+)?(?:thick|long|flowing|bushy|luxuriant|curly)\s+(?:[a-z-]+\s+)?hair\b"
    r"|满头(?:的)?(?:黑|乌|白|银|浓|长)发|(?:长|黑|乌|浓)发(?:披|垂|如)|一头(?:的)?(?:黑|乌|白|银|浓|长|卷)发",
    re.IGNORECASE,
)
_WIG = re.compile(r"\bwigs?\b|\bfalse\b|\bonce\b|\bused to\b|假发|当年|从前|昔日", re.IGNORECASE)

_FIRST_PERSON = re.compile(r"\b(?:I|my|me|mine)\b|我|俺|咱")
_SECOND_PERSON = re.compile(r"\b(?:you|your|yours)\b|你|您|汝", re.IGNORECASE)
_NAME = re.compile(r"\b[A-Z][a-z]{2,}\b")
"""A given name or a surname alone, by which a sentence may call whom the story knows by both."""

_NOT_SO = re.compile(
    r"\b(?:if|not|never|no|as though|like|dream\w*)\b|n[’']t\b|若|假如|倘|不|没|莫|梦|好像|似", re.IGNORECASE
)

MIN_CAUSE_RARITY = 4.5
"""How rare the word must be by which two passages speak of one wound: the bullet's make, the battle's name."""

MIN_STAGES_BACK = 2
"""Scenes back in which somebody has been on stage who may be the I of a speech that names no speaker."""

_MESSAGES = {
    "en": {
        "side": "The draft has the {here} of {who}; the story before it says the {there} ({place}).",
        "sound": "{who} has sound limbs in the draft, but the story before it says: {there} ({place}).",
        "elsewhere": "The draft puts the wound of {who} elsewhere than the story does: {there} ({place}).",
        "bald": "{who} has long hair in the draft, but is bald in the story before it ({place}).",
    },
    "zh": {
        "side": "草稿里{who}伤残的是{here}，而此前的故事里是{there}（{place}）。",
        "sound": "草稿里{who}四肢完好，而此前的故事说：{there}（{place}）。",
        "elsewhere": "草稿里{who}的伤处与此前的故事不同：{there}（{place}）。",
        "bald": "草稿里{who}有一头头发，而此前的故事里是秃头（{place}）。",
    },
}
_FIXES = {
    "en": "Keep to what the story says of the body, or let a scene tell how it changed.",
    "zh": "按此前故事里的身体状况改，或交代是怎样变的。",
}


@dataclass(frozen=True)
class _Bodies:
    """What the memories and states before a draft say of bodies."""

    story: StoryBefore
    words: StoryWords

    @cached_property
    def told(self) -> Sequence[tuple[str, Piece]]:
        """Whom a piece tells of a loss, a wound or a bald head of, and the piece; only where that is one person."""
        return [(who, piece) for piece in self.words.statements if (who := self._whose(piece)) is not None]

    def _whose(self, piece: Piece) -> str | None:
        if not (_LOST.search(piece.words) or _WOUND.search(piece.words) or _BALD.search(piece.words)):
            return None
        memory = piece.memory
        people = [
            each
            for each in (memory.entities_mentioned if memory is not None else [])
            if each in self.story.entity and self.story.entity[each].entity_type == "character"
        ]
        named = {each.entity_id for each in self.story.resolver.find_mentions(piece.words)} & set(people)
        if len(people) == 1:
            return people[0]
        return people[0] if people and named <= {people[0]} else None

    def of(self, who: str) -> Iterator[Piece]:
        """What is told of one person's body, the newest first."""
        return (piece for whose, piece in reversed(self.told) if whose == who)


def contradicted_bodies(draft: Draft, story: StoryBefore) -> Iterable[ContinuityIssue]:
    """Find bodies that are otherwise than the story told: a limb, its side, the place of a wound, baldness."""
    bodies = _Bodies(story, story.words)
    for rule in (_other_side, _sound_again, _wounded_elsewhere, _hair_of_the_bald):
        yield from (each for each in rule(draft, bodies) if not story.words.is_planned(each.draft_quote))


def _other_side(draft: Draft, bodies: _Bodies) -> Iterator[ContinuityIssue]:
    for found in _SIDED.finditer(draft.text):
        clause = clause_span(draft.text, found.start(), found.end())
        words = draft.text[clause.start : clause.end]
        if not (_LOST.search(words) or _WOUND.search(words)) or _SECOND_PERSON.search(words):
            continue
        part, side = _part_of(found.group()), _side_of(found)
        who = _whose_body(draft, bodies.story, clause, found.start())
        people = [who] if who else _last_on_stage(draft, bodies, clause, part)
        for person in people:
            sided = [(piece, sides) for piece in bodies.of(person) if (sides := _sides(piece.words, part))]
            if sided and all(side not in sides for _, sides in sided):
                piece, sides = sided[0]
                if _LOST.search(piece.words) or _WOUND.search(piece.words):
                    yield _finding(
                        "side", bodies.story, draft, clause, person, piece,
                        here=found.group(), there=next(iter(sides.values())), confidence=0.9 if who else 0.75,
                    )  # fmt: skip


def _last_on_stage(draft: Draft, bodies: _Bodies, clause: Span, part: str) -> list[str]:
    """The I of a speech without a speaker: the only one who lacks the limb, if on stage just before."""
    speech = draft.speech_at(clause.start)
    words = draft.text[clause.start : clause.end]
    if speech is None or speech.speaker_id or not _FIRST_PERSON.search(words) or not _LOST.search(words):
        return []
    lacking = {who for who, piece in bodies.told if _LOST.search(piece.words) and _PARTS[part].search(piece.words)}
    present = frozenset().union(*(scene.present for scene in bodies.story.scenes[-MIN_STAGES_BACK:]))
    return list(lacking) if len(lacking) == 1 and lacking <= present else []


def _sound_again(draft: Draft, bodies: _Bodies) -> Iterator[ContinuityIssue]:
    for found in _SOUND.finditer(draft.text):
        clause = clause_span(draft.text, found.start(), found.end())
        words = draft.text[clause.start : clause.end]
        who = _whose_body(draft, bodies.story, clause, found.start())
        if who is None or _NOT_SO.search(words.replace(found.group(), "")):
            continue
        part = _part_of(found.group())
        for piece in bodies.of(who):
            if _lost_part(piece.words, part):
                yield _finding("sound", bodies.story, draft, clause, who, piece, there=piece.words)
                break


def _lost_part(text: str, part: str) -> bool:
    return any(
        _LOST.search(text[max(0, found.start() - 25) : found.end() + 10]) for found in _PARTS[part].finditer(text)
    )


def _wounded_elsewhere(draft: Draft, bodies: _Bodies) -> Iterator[ContinuityIssue]:
    for sentence in draft.sentences:
        text = draft.text[sentence.start : sentence.end]
        if not _WOUND.search(text):
            continue
        here = body_parts(text)
        if len(here) != 1:
            continue
        for wound in _WOUND.finditer(text):
            clause = clause_span(draft.text, sentence.start + wound.start(), sentence.start + wound.end())
            words = draft.text[clause.start : clause.end]
            who = _whose_body(draft, bodies.story, clause, clause.start)
            if not body_parts(words) or _NOT_SO.search(words) or not (who or _FIRST_PERSON.search(words)):
                continue
            same = [
                (whose, piece)
                for whose, piece in bodies.told
                if who in (whose, None) and _is_same_wound(words, piece.words, bodies.words)
            ]
            if same and len({whose for whose, _ in same}) == 1:
                if not any(here & body_parts(piece.words) for _, piece in same):
                    whose, piece = same[-1]
                    yield _finding("elsewhere", bodies.story, draft, clause, whose, piece, there=piece.words)
                break


def _is_same_wound(here: str, there: str, words: StoryWords) -> bool:
    """Whether two passages name one cause of a wound by a rare word, and the later one a part of the body."""
    shared = telling_words(here) & telling_words(there)
    rare = (each for each in shared if words.rarity(each) >= MIN_CAUSE_RARITY)
    causes = [each for each in rare if not _WOUND.search(each) and not body_parts(each)]
    return bool(causes and body_parts(there) and _WOUND.search(there))


def _hair_of_the_bald(draft: Draft, bodies: _Bodies) -> Iterator[ContinuityIssue]:
    for found in _LONG_HAIR.finditer(draft.text):
        clause = clause_span(draft.text, found.start(), found.end())
        if _WIG.search(draft.text[clause.start : clause.end]):
            continue
        who = _whose_body(draft, bodies.story, clause, found.start())
        for piece in bodies.of(who) if who else ():
            if _BALD.search(piece.words):
                yield _finding("bald", bodies.story, draft, clause, who or "", piece)
                break


def _whose_body(draft: Draft, story: StoryBefore, clause: Span, at: int) -> str | None:
    """Who is meant by my, or the one person whom the sentence names before."""
    words = draft.text[clause.start : clause.end]
    speech = draft.speech_at(at)
    if _FIRST_PERSON.search(words):
        return speech.speaker_id if speech is not None else draft.narrator_id
    if _SECOND_PERSON.search(words):
        return None
    sentence = draft.sentence_at(at) or Span(at, at)
    named = [
        each.entity_id
        for each in draft.mentions
        if sentence.start <= each.start < at
        and draft.speech_at(each.start) == speech
        and each.entity_id in story.entity
        and story.entity[each.entity_id].entity_type == "character"
    ]
    for found in _NAME.finditer(draft.text, sentence.start, at):
        if draft.speech_at(found.start()) == speech:
            resolved = story.resolver.resolve(found.group()).entity_id
            named += [resolved] if resolved else []
    return named[-1] if len(set(named)) == 1 else None


def _part_of(text: str) -> str:
    return next(name for name, pattern in _PARTS.items() if pattern.search(text))


def body_parts(text: str) -> frozenset[str]:
    """Return the parts of a body that a text names, each by its English name."""
    return frozenset(name for name, pattern in _PARTS.items() if pattern.search(text))


def _side_of(found: re.Match[str]) -> str:
    return _SIDES[found["zh_side"]] if found["zh_side"] else found["side"].casefold()


def _sides(text: str, part: str) -> dict[str, str]:
    return {_side_of(found): found.group() for found in _SIDED.finditer(text) if _part_of(found.group()) == part}


def _finding(
    what: str,
    story: StoryBefore,
    draft: Draft,
    clause: Span,
    who: str,
    piece: Piece,
    *,
    here: str = "",
    there: str = "",
    confidence: float = 0.85,
) -> ContinuityIssue:
    language = "zh" if story.language == "zh" else "en"
    return ContinuityIssue(
        kind="injury_or_body",
        severity="high" if what in ("side", "sound") else "medium",
        draft_quote=draft.text[clause.start : clause.end],
        draft_span=(clause.start, clause.end),
        message=_MESSAGES[language][what].format(
            who=story.name(who), here=here, there=there, place=where_told(piece.as_evidence(), language)
        ),
        entity_ids=[who],
        evidence=[piece.as_evidence()],
        rule=f"body_{what}",
        confidence=confidence,
        fix=_FIXES[language],
    )
