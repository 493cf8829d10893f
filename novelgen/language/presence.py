"""Who is on stage in a scene, and where it plays, told from its text alone."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from novelgen.language.language import CJK_RANGES, has_cjk
from novelgen.language.normalise import simplified
from novelgen.language.resolver import Mention
from novelgen.language.speech import QUOTED
from novelgen.models.entity import Entity, EntityType

ON_STAGE_SCORE = 2.0
NARRATED_SCORE = 1.0
ACTING_SCORE = 2.0
SPOKEN_OF_SCORE = 0.25
"""What a mention counts: in narration, in narration with a verb beside it, inside somebody's speech."""

FIRST_PERSON_SHARE = 0.004
"""Least share of "I" or 我 among a narration's words or characters that makes it a first person's."""

_FIRST_PERSON = re.compile(r"\bI\b|我")
_WORD = re.compile(r"\w+")
_NARRATOR_ROLE = re.compile(r"narrator|first.person|叙述者|叙事者|第一人称", re.IGNORECASE)
_ENGLISH_VERBS = """
    said says asked answered replied cried remarked whispered shouted muttered exclaimed observed continued
    returned murmured laughed nodded smiled called growled gasped began had was took gave came went looked
    turned stood sat rose held put drew opened walked ran shook stepped sprang led followed pulled threw leaned
    glanced seized entered left kept seemed
    """.split()
_ENGLISH_VERB = "|".join(_ENGLISH_VERBS)
_ACTS_AFTER = re.compile(
    rf",? (?:{_ENGLISH_VERB})\b"
    rf"|[^，。！？；\n]{{0,6}}[道曰笑喝叫骂问答]"
    rf"|[{CJK_RANGES}]?(?:[将把取走来去上下入出听见闻掣抡使]|说)"
)
_ACTS_BEFORE = re.compile(rf"\b(?:{_ENGLISH_VERB}) $", re.IGNORECASE)
_LONGEST_VERB = 14
LONGEST_OF_ONE_PLACE = {"en": 12_000, "zh": 3_000}
"""Characters of a text beyond which it has no one place: a chapter without breaks goes from one to another."""


@dataclass(frozen=True, slots=True)
class ScenePresence:
    """Who takes part in a scene and where it plays, as far as its text tells.

    `participant_ids` come most prominent first; `location_id` is None when nothing tells the place.
    """

    participant_ids: list[str]
    location_id: str | None


def presence_of(
    text: str, mentions: Sequence[Mention], entities: Sequence[Entity], *, previous_location_id: str | None = None
) -> ScenePresence:
    """Tell who is on stage and where, by heuristic.

    A character is on stage when its mentions add up to `ON_STAGE_SCORE`: one in narration counts
    `NARRATED_SCORE`, with a verb beside it `ACTING_SCORE`, one inside quotation marks `SPOKEN_OF_SCORE`. In a
    first person's narration the one character whose role says narrator is on stage too. The place
    is the location that the narration names most, else the previous scene's; what speech alone names is none, and a
    text of more than `LONGEST_OF_ONE_PLACE` characters has no one place.
    """
    text = simplified(text)
    types = {entity.entity_id: entity.entity_type for entity in entities}
    speech = [(match.start(), match.end()) for match in QUOTED.finditer(text)]
    scores: defaultdict[str, float] = defaultdict(float)
    for mention in _of_type(mentions, types, "character"):
        scores[mention.entity_id] += _stage_score(text, mention, speech)
    narrator_id = narrator_of(text, entities)
    if narrator_id is not None:
        scores[narrator_id] += ON_STAGE_SCORE
    ranked = sorted(scores, key=lambda entity_id: -scores[entity_id])
    participants = [entity_id for entity_id in ranked if scores[entity_id] >= ON_STAGE_SCORE]
    here = [mention.entity_id for mention in _of_type(mentions, types, "location") if not _is_spoken(mention, speech)]
    is_one_scene = len(text) <= LONGEST_OF_ONE_PLACE["zh" if has_cjk(text) else "en"]
    place = (max(here, key=here.count) if here else previous_location_id) if is_one_scene else None
    return ScenePresence(participants, place)


def _of_type(mentions: Sequence[Mention], types: dict[str, EntityType], entity_type: EntityType) -> list[Mention]:
    return [mention for mention in mentions if types.get(mention.entity_id) == entity_type]


def _stage_score(text: str, mention: Mention, speech: Sequence[tuple[int, int]]) -> float:
    if _is_spoken(mention, speech):
        return SPOKEN_OF_SCORE
    before = text[max(0, mention.start - _LONGEST_VERB) : mention.start]
    acts = _ACTS_AFTER.match(text, mention.end) or _ACTS_BEFORE.search(before)
    return ACTING_SCORE if acts else NARRATED_SCORE


def _is_spoken(mention: Mention, speech: Sequence[tuple[int, int]]) -> bool:
    return any(start <= mention.start < end for start, end in speech)


def narrator_of(text: str, entities: Sequence[Entity]) -> str | None:
    """Return the id of who tells a text in the first person, or None where that is nobody known."""
    narrators = [entity.entity_id for entity in entities if _NARRATOR_ROLE.search(entity.role)]
    return narrators[0] if len(narrators) == 1 and is_first_person(text) else None


def is_first_person(text: str) -> bool:
    """Tell whether a text says I outside of what is said aloud as often as a first person's narration does."""
    narration = QUOTED.sub(" ", text)
    size = len(narration) if has_cjk(narration) else len(_WORD.findall(narration))
    return len(_FIRST_PERSON.findall(narration)) >= max(1.0, FIRST_PERSON_SHARE * size)
