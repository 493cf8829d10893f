"""The evidence about a name over a whole story."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeVar

CandidateKind = Literal["character", "location", "item", "faction", "term", "unknown"]
ScenePlace = tuple[int, int]
"""(chapter, scene)."""

CLEARLY_MORE = 3
"""A name that several bear means the one who stands in the text so many times as often as the next."""

NameKey = TypeVar("NameKey")


def clearly_most(counts: Mapping[NameKey, int]) -> NameKey | None:
    """Return the clearly most frequent names of a text."""
    ranking = Counter(counts).most_common(2)
    is_clear = ranking and all(ranking[0][1] >= CLEARLY_MORE * count for _, count in ranking[1:])
    return ranking[0][0] if is_clear else None


LEAST_EVIDENCE = 0.12
"""Share of a name's places that must speak for a kind; below it the kind is unknown."""


@dataclass(frozen=True, slots=True)
class NameSighting:
    """One occurrence of a name, with its evidence for each kind."""

    name: str
    weights: Mapping[CandidateKind, float]
    says: bool = False
    free: bool = True
    he: bool = False
    she: bool = False
    beside: str = ""
    paragraph: int = 0


@dataclass(slots=True)
class FoundName:
    """A name with all its sightings."""

    name: str
    count: int = 0
    speaks: int = 0
    free: int = 0
    places: dict[ScenePlace, int] = field(default_factory=dict)
    weights: dict[CandidateKind, float] = field(default_factory=dict)
    he: int = 0
    she: int = 0
    beside: Counter[str] = field(default_factory=Counter)
    paragraphs: set[tuple[ScenePlace, int]] = field(default_factory=set)
    same_as: set[str] = field(default_factory=set)

    def add(self, place: ScenePlace, sighting: NameSighting) -> None:
        """Count one more place where the name stands."""
        self.count += 1
        self.speaks += sighting.says
        self.free += sighting.free
        self.places[place] = self.places.get(place, 0) + 1
        self.he += sighting.he
        self.she += sighting.she
        self.paragraphs.add((place, sighting.paragraph))
        if sighting.beside:
            self.beside[sighting.beside] += 1
        for kind, weight in sighting.weights.items():
            self.weigh(kind, weight)

    def join(self, other: FoundName) -> None:
        """Add the evidence from scenes in another language."""
        self.count += other.count
        self.speaks += other.speaks
        self.free += other.free
        self.he += other.he
        self.she += other.she
        self.beside += other.beside
        self.paragraphs |= other.paragraphs
        for place, count in other.places.items():
            self.places[place] = self.places.get(place, 0) + count
        for kind, weight in other.weights.items():
            self.weigh(kind, weight)

    def weigh(self, kind: CandidateKind, weight: float) -> None:
        """Add evidence for a kind."""
        if weight:
            self.weights[kind] = self.weights.get(kind, 0.0) + weight


def found_names(sightings: Iterable[tuple[ScenePlace, NameSighting]]) -> list[FoundName]:
    """Sum up sightings by name, in the order in which the names first stand."""
    name_matches_by_id: dict[str, FoundName] = {}
    for place, sighting in sightings:
        name_matches_by_id.setdefault(sighting.name, FoundName(sighting.name)).add(place, sighting)
    return list(name_matches_by_id.values())


def likely_kind(names: Iterable[FoundName]) -> CandidateKind:
    """Return the kind for which the places of names of one bearer speak most."""
    listed_name_matches = list(names)
    total = sum(name_match.count for name_match in listed_name_matches)
    weights: dict[CandidateKind, float] = {}
    for name_match in listed_name_matches:
        for kind, weight in name_match.weights.items():
            weights[kind] = weights.get(kind, 0.0) + weight
    if not weights:
        return "unknown"
    kind = max(weights, key=lambda kind: weights[kind])
    return kind if weights[kind] >= LEAST_EVIDENCE * total else "unknown"
