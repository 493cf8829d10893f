"""Ages of persons against the story."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property, lru_cache
from typing import NamedTuple

from novelgen.checking.story import Draft, StoryBefore
from novelgen.language.ages import Age, find_ages, find_births
from novelgen.language.language import has_cjk, wording
from novelgen.language.normalise import simplified
from novelgen.language.resolver import Mention
from novelgen.language.sentences import Span, split_sentences
from novelgen.language.speakers import addressee_of, person_before, quote_at, speaker_of, vocatives_in
from novelgen.language.told_years import TIME_BEFORE_CHINESE, Year
from novelgen.models.continuity import ContinuityEvidence

MAX_PASSAGES = 2
"""So many sentences of the text are shown beside an age."""

OF_ANOTHER_AGE = 0.5
"""Score of a saying that gives a person another age: after the dead, before all others."""

BEFORE_CHARACTERS, AFTER_CHARACTERS = 600, 300
"""Part of a scene around an age in which its person is looked for."""

_FIRST_PERSON = re.compile(r"\bI$")
_THIRD_PERSON = re.compile(r"\b(?:he|she)$", re.IGNORECASE)
_PRONOUN_BEHIND = re.compile(r",?\s+(?:he|she)\b", re.IGNORECASE)
_WHO = re.compile(r",?\s*\bwho$")
_FIRST_PERSON_CHINESE = re.compile(f"(?:{wording('ages_first_person_zh')})$")
_BEGINS_WITH_FIRST_PERSON = re.compile(f"(?:{wording('ages_first_person_zh')})(?!{wording('ages_kin_zh')})")
_BETWEEN_CHINESE = re.compile(f"(?:{wording('ages_between_zh')})+$")
_SENTENCE_END = re.compile("[。！？；!?;]")
_NEW_PERSON = re.compile("有[^，]{0,4}[个位名]|[见遇娶收生领带]")
"""Before an age without a subject: it may be that of somebody whom the clause brings in."""

_SECOND_PERSON = re.compile(
    r"(?:(?:^|[“\"‘(,.;:!?—–…]|(?<![\w’'])(?:but|and|for|because|why|well|now|father))\s*|^)you$|(?:^|[“「『，。！？；：…—但可])[你您]$",
    re.IGNORECASE,
)
"""Who is spoken to, first in a clause: "tell her you're forty" says no age."""

_MAX_DAYS_WITHIN_A_YEAR = 180
_YEARS_SINCE = 1.0
"""So much later than the last year told may a scene play."""

_CLAUSE_START = re.compile(r"(?:^|[，。！？；：、,.!?;:“”「」『』\"…—\n])\s*$")


class AgeDenial(NamedTuple):
    """An age and sayings against it."""

    age: Age
    sayings: list[ContinuityEvidence]


class PersonAges:
    """Ages in a draft."""

    def __init__(self, draft: Draft, story: StoryBefore) -> None:
        self._story = story
        self.by_person: defaultdict[str, list[Age]] = defaultdict(list)
        self._without_person: list[Age] = []
        for entity_id, age in _ages_in(draft.text, draft.mentions, story, narrator_id=draft.narrator_id):
            (self._without_person if entity_id is None else self.by_person[entity_id]).append(age)

    def is_without_person(self, span: Span) -> bool:
        """Tell whether an age is nobody's."""
        return any(age.start < span.end and span.start < age.end for age in self._without_person)

    def denial(self, entity_id: str, sayings: Iterable[ContinuityEvidence]) -> AgeDenial | None:
        """Return the first denied age, or None.

        What says an age first decides whether it is denied: the card, then states, notes and memories, then the text,
        the newest first.

        Args:
            entity_id: The person.
            sayings: What cards, states, notes and memories say of the person, the most decisive first.
        """
        ages = self.by_person.get(entity_id)
        if ages is None:
            return None
        statements = [(own, saying) for saying in sayings if (own := self._own_ages(saying, entity_id))]
        count = len(statements)
        statements += self._passages.get(entity_id, [])
        for age in ages:
            answers = [[age.agrees_with(one, now=self._now) for one in own] for own, _ in statements]
            compared = [at for at, own in enumerate(answers) if True in own or False in own]
            numbers = [at for at in compared if True not in answers[at]]
            if numbers and numbers[0] == compared[0]:
                indices = [at for at in numbers if at < count] + [at for at in numbers if at >= count][:MAX_PASSAGES]
                denying = [statements[at][1].model_copy(update={"score": OF_ANOTHER_AGE}) for at in indices]
                return AgeDenial(age, denying)
        return None

    def _own_ages(self, saying: ContinuityEvidence, entity_id: str) -> list[Age]:
        """Return the ages of a person in a saying."""
        is_field = saying.source == "state" and saying.source_id.startswith(f"{entity_id}.")
        mentions = self._story.resolver.find_mentions(saying.text)
        default_id = entity_id if is_field else None
        ages = _ages_in(saying.text, mentions, self._story, default_id=default_id, with_births=True)
        return [age for person_id, age in ages if person_id == entity_id]

    @cached_property
    def _now(self) -> Year | None:
        """The year of the last scene that tells one, None where years may have passed since."""
        for time in reversed(self._story.story_times):
            if time.told is None or time.is_flashback:
                continue
            if time.told.year is not None:
                year = Year.counted(time.told.era, time.told.year, time.told.to_year or time.told.year)
                return year._replace(high=year.high + _YEARS_SINCE)
            if time.told.shift is not None and (time.told.shift.max_days or 0) > _MAX_DAYS_WITHIN_A_YEAR:
                return None
        return None

    @cached_property
    def _passages(self) -> Mapping[str, Sequence[tuple[list[Age], ContinuityEvidence]]]:
        """The sentences with an age, by person, newest first."""
        passages: defaultdict[str, list[tuple[list[Age], ContinuityEvidence]]] = defaultdict(list)
        for scene in reversed(self._story.scenes):
            plain = _without_chinese_names(scene.text, self._story)
            for age in reversed((*find_births(plain), *find_ages(plain))):
                start = scene.text.rfind("\n", 0, max(0, age.start - BEFORE_CHARACTERS)) + 1
                text = scene.text[start : age.end + AFTER_CHARACTERS]
                moved_age = age._replace(start=age.start - start, end=age.end - start)
                people = _people(self._story.resolver.find_mentions(text), self._story)
                entity_id = _person_id(text, moved_age, people, narrator_id=scene.pov)
                if entity_id is None:
                    continue
                spans = (span for span in split_sentences(text) if span.start < moved_age.end <= span.end)
                span = next(spans, Span(moved_age.start, moved_age.end))
                quote = text[span.start : span.end].strip()
                source_id = f"{scene.position}:passage:{start + span.start}"
                evidence = ContinuityEvidence.at(scene.position, "passage", source_id, quote, quote=quote)
                passages[entity_id].append(([age], evidence))
        return passages


def _ages_in(
    text: str,
    mentions: Sequence[Mention],
    story: StoryBefore,
    *,
    default_id: str | None = None,
    narrator_id: str | None = None,
    with_births: bool = False,
) -> Iterator[tuple[str | None, Age]]:
    """Yield the ages of a text with their persons."""
    people = _people(mentions, story)
    plain = _without_chinese_names(text, story)
    for age in (*find_ages(plain), *(find_births(plain) if with_births else ())):
        yield _person_id(text, age, people, default_id=default_id, narrator_id=narrator_id), age


def _without_chinese_names(text: str, story: StoryBefore) -> str:
    """Return a text with a neutral character for each one of a Chinese name.

    A character of a name may be a word: 若 of 颜若兰, 从 of 沈从文.
    """
    names = tuple(
        name
        for entity in story.entities
        if entity.entity_type == "character"
        for name in entity.names()
        if len(name) > 1 and has_cjk(name)
    )
    return _any_of(names).sub(lambda match: "某" * len(match[0]), text) if names else text


@lru_cache(maxsize=4)
def _any_of(names: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile("|".join(map(re.escape, sorted(names, key=len, reverse=True))))


def _people(mentions: Sequence[Mention], story: StoryBefore) -> list[Mention]:
    return [one for one in mentions if story.entity[one.entity_id].entity_type == "character"]


def _person_id(
    text: str, age: Age, people: Sequence[Mention], *, default_id: str | None = None, narrator_id: str | None = None
) -> str | None:
    """Return the person of an age, or None."""
    text = simplified(text)
    quote = quote_at(text, age.start)
    if quote is not None and ((age.is_past and age.year is None) or text.startswith(",", age.start)):
        return None
    speaker_id = narrator_id if quote is None else speaker_of(text, quote, people, narrator_id=narrator_id)
    before = text[: age.start].rstrip(" ,") if not age.is_said_of_subject else text[: age.start].rstrip()
    between = _BETWEEN_CHINESE.search(before)
    before = before[: between.start()].rstrip() if between else before
    if age.year is not None and (time := TIME_BEFORE_CHINESE.search(before)):
        before = before[: time.start()].rstrip()
    mention = next((one for one in people if one.end == len(before)), None)
    if _FIRST_PERSON.search(before) or _FIRST_PERSON_CHINESE.search(before):
        return speaker_id
    if _SECOND_PERSON.search(before):
        return addressee_of(text, quote, people, speaker_id=speaker_id) if quote is not None else None
    if mention is None and re.match("[，。；！]", text[age.end :]):
        # 他女儿颜若兰，十九岁，手里端着一碗银耳。
        mention = next((one for one in people if before.endswith("，") and one.end == len(before) - 1), None)
    if mention is not None:
        return mention.entity_id
    if _THIRD_PERSON.search(before) or re.search(r"[他她]$", before):
        return _named_after(text, age, people) or _third_person_id(text, len(before), people, quote, speaker_id)
    if _PRONOUN_BEHIND.match(text, age.end):
        return _named_after(text, age, people) or _alone_before(text, age.start, people, quote)
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
    """Return the person in apposition: He was sixty-one, the Guv'nor."""
    return next((one.entity_id for one in people if re.fullmatch(r", (?:the |old )*", text[age.end : one.start])), None)


def _alone_before(text: str, position: int, people: Sequence[Mention], quote: Span | None) -> str | None:
    """Return the one person whom the sentence of a place, or the one before it, names till there."""
    begin = max(quote.start if quote else 0, text.rfind("\n", 0, position) + 1)
    borders = [begin, *(match.end() for match in re.finditer(r"[.!?]\s", text[:position]) if match.end() > begin)]
    for start in borders[-2:][::-1]:
        named_ids = {one.entity_id for one in people if start <= one.start < position}
        if named_ids:
            return named_ids.pop() if len(named_ids) == 1 else None
    return None


def _named_behind(text: str, age: Age, people: Sequence[Mention]) -> str | None:
    """Return the person named behind: 七十三岁的秦班主."""
    if age.is_said_of_subject and not re.match("的", text[age.end :]):
        return None
    return next(
        (one.entity_id for one in people if re.fullmatch(r",? (?:the |old )*|的", text[age.end : one.start])), None
    )


def _third_person_id(
    text: str, position: int, people: Sequence[Mention], quote: Span | None, speaker_id: str | None
) -> str | None:
    """Return the person of a pronoun."""
    if quote is None:
        return person_before(text, position, people)
    addressed_ids = {one.entity_id for one in vocatives_in(text, quote, people)}
    spoken_mentions = [
        one for one in people if quote.start <= one.start < position and one.entity_id not in addressed_ids
    ]
    if spoken_mentions:
        return spoken_mentions[-1].entity_id
    others = {one.entity_id for one in people if one.entity_id != speaker_id and one.start < quote.start}
    return others.pop() if speaker_id is not None and len(others) == 1 else None


def _unsaid_subject_id(
    text: str, position: int, people: Sequence[Mention], quote: Span | None, speaker_id: str | None
) -> str | None:
    """Return the person of an elided subject."""
    start = max(quote.start + 1 if quote else 0, text.rfind("\n", 0, position) + 1)
    borders = [start, *(match.end() for match in _SENTENCE_END.finditer(text, start, position))]
    begin = max((border for border in borders if border < position), default=position)
    clause = text[begin:position]
    if _NEW_PERSON.search(clause) or sum(begin <= one.start < position for one in people) > 1:
        return None
    head = next((one for one in people if one.start == position - len(clause.lstrip())), None)
    if head is not None and not re.match("[的们家]", text[head.end :]):
        return head.entity_id
    if not clause.strip(" ，,“"):
        return speaker_id if quote else person_before(text, position, people)
    if _BEGINS_WITH_FIRST_PERSON.match(clause):
        return speaker_id
    if re.match("[他她](?![们的])", clause):
        return _third_person_id(text, begin, people, quote, speaker_id)
    return None
