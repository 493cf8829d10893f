"""Ages of persons in a draft, beside other ages that the story gives them."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from novelgen.checking.story import Draft, StoryBefore
from novelgen.language.ages import Age, find_ages
from novelgen.language.language import wording
from novelgen.language.normalise import simplified
from novelgen.language.resolver import Mention
from novelgen.language.sentences import Span, split_sentences
from novelgen.language.speakers import person_before, quote_at, speaker_of
from novelgen.models.continuity import ContinuityEvidence

MAX_PASSAGES = 2
"""So many sentences of the text are shown beside an age."""

OF_ANOTHER_AGE = 0.5
"""Score of a saying that gives a person another age: after the dead, before all others."""

_BEFORE_CHARACTERS, _AFTER_CHARACTERS = 600, 300
"""Part of a scene around an age in which its person is looked for."""

_FIRST_PERSON = re.compile(r"\bI$")
_THIRD_PERSON = re.compile(r"\b(?:he|she)$", re.IGNORECASE)
_WHO = re.compile(r",?\s*\bwho$")
_FIRST_PERSON_CHINESE = re.compile(f"(?:{wording('ages_first_person_zh')})$")
_BEGINS_WITH_FIRST_PERSON = re.compile(f"(?:{wording('ages_first_person_zh')})(?!{wording('ages_kin_zh')})")
_BETWEEN_CHINESE = re.compile(f"(?:{wording('ages_between_zh')})+$")
_CLAUSE_START = re.compile(r"(?:^|[，。！？；：、,.!?;:“”「」『』\"…—\n])\s*$")


class AgeOfPerson(NamedTuple):
    """An age that a text gives a person."""

    entity_id: str
    age: Age


class AgeDenial(NamedTuple):
    """An age of a draft, with sayings of the story that give its person another."""

    age: Age
    sayings: list[ContinuityEvidence]


def ages_of_draft(draft: Draft, story: StoryBefore) -> Mapping[str, Sequence[Age]]:
    """Return the ages that a draft gives persons, by their id."""
    ages: dict[str, list[Age]] = {}
    for entity_id, age in _ages_in(draft.text, draft.mentions, story, narrator_id=draft.narrator_id):
        ages.setdefault(entity_id, []).append(age)
    return ages


def other_ages(
    entity_id: str, ages: Sequence[Age], sayings: Iterable[ContinuityEvidence], story: StoryBefore
) -> AgeDenial | None:
    """Return the first age of a draft that the story denies, with the sayings that do, or None.

    What is said first decides whether it is denied: the card, then states, notes and memories, then the text, the
    newest first.

    Args:
        entity_id: The person.
        ages: Ages that the draft gives the person.
        sayings: What the story says of the person, the most decisive first.
        story: The story before the draft.
    """
    if not ages:
        return None
    told = [(own, saying) for saying in sayings if (own := _own_ages(saying, entity_id, story))]
    told += _passages(entity_id, story)
    for age in ages:
        others = [saying for own, saying in told if not any(age.agrees_with(other) for other in own)]
        if others and others[0] is told[0][1]:
            told_elsewhere = [saying for saying in others if saying.source != "passage"]
            passages = [saying for saying in others if saying.source == "passage"][:MAX_PASSAGES]
            denying = [*told_elsewhere, *passages]
            scored = [saying.model_copy(update={"score": OF_ANOTHER_AGE}) for saying in denying]
            return AgeDenial(age, scored)
    return None


def _own_ages(saying: ContinuityEvidence, entity_id: str, story: StoryBefore) -> list[Age]:
    """Return the ages that a saying gives a person, a field of the card without naming them again."""
    is_field = saying.source == "state" and saying.source_id.startswith(f"{entity_id}.")
    mentions = story.resolver.find_mentions(saying.text)
    return [
        age
        for owner_id, age in _ages_in(saying.text, mentions, story, default_id=entity_id if is_field else None)
        if owner_id == entity_id
    ]


def _passages(entity_id: str, story: StoryBefore) -> list[tuple[list[Age], ContinuityEvidence]]:
    """Return the sentences of the text that give a person an age, the newest first."""
    passages: list[tuple[list[Age], ContinuityEvidence]] = []
    names = story.entity[entity_id].names()
    for scene in reversed(story.scenes):
        ages = find_ages(scene.text)
        if not ages or not (scene.pov == entity_id or any(name in scene.text for name in names)):
            continue
        for age in reversed(ages):
            start = scene.text.rfind("\n", 0, max(0, age.start - _BEFORE_CHARACTERS)) + 1
            window = scene.text[start : age.end + _AFTER_CHARACTERS]
            moved = age._replace(start=age.start - start, end=age.end - start)
            mentions = story.resolver.find_mentions(window)
            if _owner_id(window, moved, _people(mentions, story), narrator_id=scene.pov) != entity_id:
                continue
            sentences = (span for span in split_sentences(window) if span.start <= moved.end - 1 < span.end)
            span = next(sentences, Span(moved.start, moved.end))
            text = window[span.start : span.end].strip()
            source_id = f"{scene.position}:passage:{start + span.start}"
            passages.append(([age], ContinuityEvidence.at(scene.position, "passage", source_id, text, quote=text)))
    return passages


def _ages_in(
    text: str,
    mentions: Sequence[Mention],
    story: StoryBefore,
    *,
    default_id: str | None = None,
    narrator_id: str | None = None,
) -> Iterator[AgeOfPerson]:
    people = _people(mentions, story)
    for age in find_ages(text):
        owner_id = _owner_id(text, age, people, default_id=default_id, narrator_id=narrator_id)
        if owner_id is not None:
            yield AgeOfPerson(owner_id, age)


def _people(mentions: Sequence[Mention], story: StoryBefore) -> list[Mention]:
    return [one for one in mentions if story.entity[one.entity_id].entity_type == "character"]


def _owner_id(
    text: str, age: Age, people: Sequence[Mention], *, default_id: str | None = None, narrator_id: str | None = None
) -> str | None:
    """Return the id of the person of an age, or None where the text does not tell it."""
    text = simplified(text)
    quote = quote_at(text, age.start)
    if quote is not None and (age.is_past or text.startswith(",", age.start)):
        return None
    speaker_id = narrator_id if quote is None else speaker_of(text, quote, people, narrator_id=narrator_id)
    before = text[: age.start].rstrip(" ,") if not age.is_said_of_subject else text[: age.start].rstrip()
    between = _BETWEEN_CHINESE.search(before)
    before = before[: between.start()].rstrip() if between else before
    named = next((one for one in people if one.end == len(before)), None)
    if _FIRST_PERSON.search(before) or _FIRST_PERSON_CHINESE.search(before):
        return speaker_id
    if named is not None:
        return named.entity_id
    if _THIRD_PERSON.search(before) or re.search(r"[他她]$", before):
        return _named_after(text, age, people) or _third_person_id(text, len(before), people, quote, speaker_id)
    if who := _WHO.search(before):
        return next((one.entity_id for one in people if one.end == who.start()), default_id)
    behind = _named_behind(text, age, people)
    if behind is not None:
        return behind
    if default_id is not None:
        return default_id if not before or before.endswith((":", "：", "，", "。", ",", ".")) else None
    if age.is_said_of_subject and age.is_certain and _CLAUSE_START.search(before):
        return _unsaid_subject_id(text, len(before), people, quote, speaker_id)
    return None


def _named_after(text: str, age: Age, people: Sequence[Mention]) -> str | None:
    """Return the person whose name follows in apposition: He was sixty-one, the Guv'nor."""
    return next((one.entity_id for one in people if re.fullmatch(r", (?:the |old )*", text[age.end : one.start])), None)


def _named_behind(text: str, age: Age, people: Sequence[Mention]) -> str | None:
    """Return the person whose name follows: Aged 73, the Guv'nor; 七十三岁的秦班主."""
    if age.is_said_of_subject and not re.match("的", text[age.end :]):
        return None
    return next(
        (one.entity_id for one in people if re.fullmatch(r",? (?:the |old )*|的", text[age.end : one.start])), None
    )


def _third_person_id(
    text: str, position: int, people: Sequence[Mention], quote: Span | None, speaker_id: str | None
) -> str | None:
    """Return the person of "he": in a speech the last one named there, else the one narrated before."""
    if quote is None:
        return person_before(text, position, people)
    spoken = [one for one in people if quote.start <= one.start < position]
    if spoken:
        return spoken[-1].entity_id
    others = {one.entity_id for one in people if one.entity_id != speaker_id and one.start < quote.start}
    return others.pop() if speaker_id is not None and len(others) == 1 else None


def _unsaid_subject_id(
    text: str, position: int, people: Sequence[Mention], quote: Span | None, speaker_id: str | None
) -> str | None:
    """Return the person of a Chinese clause without a subject: that of the clause before, else who speaks."""
    start = max(quote.start + 1 if quote else 0, text.rfind("\n", 0, position) + 1)
    borders = [start, *(match.end() for match in re.finditer(r"[。！？；!?;]", text[:position]) if match.end() > start)]
    clause = text[borders[-1] if borders[-1] < position else borders[-2 if len(borders) > 1 else -1] : position]
    begin = position - len(clause)
    head = next((one for one in people if one.start == begin + len(clause) - len(clause.lstrip())), None)
    if head is not None and not re.match("[的们家]", text[head.end :]):
        return head.entity_id
    if not clause.strip(" ，,“"):
        return speaker_id if quote else person_before(text, position, people)
    if _BEGINS_WITH_FIRST_PERSON.match(clause):
        return speaker_id
    if re.match("[他她](?![们的])", clause):
        return _third_person_id(text, begin, people, quote, speaker_id)
    return None
