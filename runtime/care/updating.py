"""What a manuscript that is imported again changes: which of its chapters are stored ones, and where they went.

Chapters are told by their text, scenes within them likewise, so that what was read from a scene never comes to stand
for another text when something is inserted before it.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import count

from pydantic import BaseModel, Field

from runtime.ingest.scene_input import SceneInput, bare_text
from runtime.storage.records import ScenePlace

MIN_LIKENESS = 0.3
"""Share of sentences that a chapter keeps in an edit, from which on it counts as the same one."""

_ENDS = re.compile(r"[。！？；!?.…;\n]+")

_Texts = Mapping[int, str]


class ManuscriptChanges(BaseModel):
    """What differs between a story and the manuscript that it came from; chapters by number, scenes by place."""

    changed_chapters: list[int] = Field(default_factory=list, description="Stored with another text.")
    new_chapters: list[int] = Field(default_factory=list)
    gone_chapters: list[int] = Field(default_factory=list, description="Stored, but no more in it.")
    moved_chapters: dict[int, int] = Field(
        default_factory=dict, description="Stored number to that in the manuscript, the text the same or alike."
    )
    gone_scenes: list[str] = Field(
        default_factory=list, description="Places of scenes that a changed chapter has no more."
    )
    waiting_chapters: list[int] = Field(
        default_factory=list,
        description="Of the manuscript: their place is taken by a chapter that is gone; nothing was done to them.",
    )

    @property
    def is_empty(self) -> bool:
        """Whether the manuscript tells what is stored, or only adds to its end."""
        return not (self.changed_chapters or self.gone_chapters or self.moved_chapters or self.gone_scenes)


@dataclass(frozen=True, slots=True)
class Rearrangement:
    """How a story follows a manuscript."""

    changes: ManuscriptChanges
    moves: dict[ScenePlace, ScenePlace]
    in_place: frozenset[ScenePlace]
    untouched: frozenset[ScenePlace]


def rearrangement(stored: Mapping[ScenePlace, str], scenes: Sequence[SceneInput]) -> Rearrangement:
    """Find out which scenes of a manuscript are those that are stored; where lines break tells no two texts apart."""
    given = {(scene.chapter_index, scene.scene_index): scene.text for scene in scenes}
    old, new = (_by_chapter({place: bare_text(text) for place, text in each.items()}) for each in (stored, given))
    pairs = _paired(_joined(old), _joined(new))
    came_from = {after: before for before, after in pairs.items()}
    moves: dict[ScenePlace, ScenePlace] = {}
    changes = ManuscriptChanges(
        new_chapters=[number for number in new if number not in came_from],
        gone_chapters=_gone(old, new, pairs),
        moved_chapters={before: after for before, after in pairs.items() if before != after},
    )
    for before, after in pairs.items():
        if old[before] != new[after]:
            changes.changed_chapters.append(after)
        inner = _paired(old[before], new[after])
        free = count(max(*old[before], *new[after]) + 1)
        for was in old[before]:
            # A scene that is gone stands aside, where no other scene of the chapter wants to be.
            now = inner[was] if was in inner else next(free) if was in new[after] else was
            moves[before, was] = (after, now)
            if was not in inner:
                changes.gone_scenes.append(f"{after}:{now}")
    taken = {place for place, times in Counter(moves.get(place, place) for place in stored).items() if times > 1}
    if taken:
        waiting = {after for before, after in pairs.items() if before != after}
        waiting |= {number for number in changes.new_chapters if number in old}
        changes.waiting_chapters = sorted(waiting)
        changes.moved_chapters = {}
        moves = {before: after for before, after in moves.items() if before[0] == after[0]}
    waiting_chapters = set(changes.waiting_chapters)
    kept = {before for before, after in pairs.items() if before == after}
    beside = {number for number in new if number in kept or (number not in came_from and number not in old)}
    return Rearrangement(
        changes,
        {before: after for before, after in moves.items() if before != after},
        frozenset(place for place in given if place[0] not in waiting_chapters),
        frozenset(place for place in given if place[0] in beside),
    )


def _by_chapter(texts: Mapping[ScenePlace, str]) -> dict[int, dict[int, str]]:
    chapters: dict[int, dict[int, str]] = {}
    for chapter, scene in sorted(texts):
        chapters.setdefault(chapter, {})[scene] = texts[chapter, scene]
    return chapters


def _joined(chapters: Mapping[int, _Texts]) -> dict[int, str]:
    return {number: "\n".join(scenes.values()) for number, scenes in chapters.items()}


def _gone(old: Iterable[int], new: Iterable[int], pairs: Mapping[int, int]) -> list[int]:
    """Return the stored chapters that a manuscript should have; one that begins later or is a sequel need not."""
    stored, given = sorted(old), sorted(new)
    if not pairs or not given:
        return []
    first = min(pairs)
    return [number for number in stored if number not in pairs and number >= first]


def _paired(old: _Texts, new: _Texts) -> dict[int, int]:
    """Return which numbers of the old texts are which of the new ones: the same text, else alike, else in its place."""
    before, after = sorted(old), sorted(new)
    matcher = SequenceMatcher(
        None, [old[number] for number in before], [new[number] for number in after], autojunk=False
    )
    pairs: dict[int, int] = {}
    for kind, start, end, new_start, new_end in matcher.get_opcodes():
        if kind == "equal":
            pairs |= dict(zip(before[start:end], after[new_start:new_end], strict=True))
        elif kind == "replace":
            pairs |= _alike({n: old[n] for n in before[start:end]}, {n: new[n] for n in after[new_start:new_end]})
    return dict(sorted(pairs.items()))


def _alike(old: _Texts, new: _Texts) -> dict[int, int]:
    sentences = {number: _sentences(text) for number, text in new.items()}
    scored = sorted(
        (
            (-_likeness(_sentences(text), sentences[there]), abs(number - there), number, there)
            for number, text in old.items()
            for there in new
        )
    )
    pairs: dict[int, int] = {}
    for score, _, number, there in scored:
        is_same = -score >= MIN_LIKENESS or number == there
        if is_same and number not in pairs and there not in pairs.values():
            pairs[number] = there
    return pairs


def _sentences(text: str) -> frozenset[str]:
    return frozenset(filter(None, _ENDS.split(text)))


def _likeness(left: frozenset[str], right: frozenset[str]) -> float:
    return len(left & right) / max(len(left), len(right), 1)
