"""Name candidates of a story, found by rules in its text."""

from collections.abc import Collection, Iterable, Sequence

from pydantic import BaseModel, Field

from novelgen.language import normalise
from novelgen.language.chinese_names import (
    FULL_NAME,
    SHORT_STORY,
    chinese_groups,
    chinese_questions,
    has_surname,
    settle_chinese,
)
from novelgen.language.english_names import english_groups, english_questions, settle_english
from novelgen.language.language import has_cjk, story_language, wording
from novelgen.language.sightings import CandidateKind, FoundName, ScenePlace, likely_kind

MIN_COUNT = 3
"""A candidate stands in the text so many times, all its variants together, to be offered."""

ALWAYS_OFFERED = 60
"""Where fewer are named so often, as in a story's first chapters, rarer ones are offered, too, up to so many."""

SceneText = tuple[int, int, str]
"""Chapter, scene and text."""


_VERBS_AFTER_NAMES = frozenset(wording("candidates_verbs_after_names"))


class NameVariant(BaseModel):
    """One way in which a candidate is named."""

    name: str
    count: int
    first: str = Field(description="First scene that holds it, such as 3:2.")

    @property
    def first_place(self) -> ScenePlace:
        """Chapter and scene that first hold it."""
        return _parsed(self.first)


class NameCandidate(BaseModel):
    """Somebody or something that the text names, and no entity yet."""

    name: str = Field(description="Its clearest name.")
    kind: CandidateKind
    variants: list[NameVariant] = Field(description="All its names, the most frequent first.")
    count: int = Field(description="How often the text names it.")
    scenes: int = Field(description="In how many scenes.")
    first: str = Field(description="First scene that names it, such as 3:2.")
    last: str
    speaks: int = Field(description="Lines that are said to be its own.")
    score: float = Field(description="How much speaks for its being a name, 0 to 1.")
    same_as: str = Field(
        default="", description="A question: the candidate that this may be, too; only you can say so."
    )

    @property
    def first_place(self) -> ScenePlace:
        """Chapter and scene that first name it."""
        return _parsed(self.first)

    def names(self) -> list[str]:
        """Return all its names, the clearest first."""
        return list(dict.fromkeys([self.name, *(name_variant.name for name_variant in self.variants)]))


def find_name_candidates(
    scenes: Iterable[SceneText], *, min_count: int | None = None, is_story: bool = False
) -> list[NameCandidate]:
    """Find people, places and things in a story by rules alone.

    Args:
        scenes: In any order.
        min_count: Only those that are named so often; None derives it from how many there are.
        is_story: They are all scenes so far: while they are short, whoever is named once counts, too.
    """
    ordered = sorted(scenes)
    is_short = is_story and sum(len(text) for _, _, text in ordered) < SHORT_STORY
    english: list[tuple[ScenePlace, str]] = []
    chinese: list[tuple[ScenePlace, str]] = []
    for chapter, scene, text in ordered:
        (chinese if story_language(text) == "zh" else english).append(((chapter, scene), text))
    names: dict[str, FoundName] = {}
    for name_match in [
        *(settle_english(english) if english else []),
        *(settle_chinese(chinese, is_short=is_short) if chinese else []),
    ]:
        if name_match.name in names:
            names[name_match.name].join(name_match)
        else:
            names[name_match.name] = name_match
    groups = english_groups([name_match for name_match in names.values() if not has_cjk(name_match.name)])
    groups += chinese_groups([name_match for name_match in names.values() if has_cjk(name_match.name)])
    groups = [
        sorted(
            group,
            key=lambda other_name_match: (-other_name_match.count, -len(other_name_match.name), other_name_match.name),
        )
        for group in groups
    ]
    candidates = [_candidate(group) for group in groups]
    in_english: dict[int, Sequence[FoundName]] = {}
    in_chinese: dict[int, Sequence[FoundName]] = {}
    for at, group in enumerate(groups):
        (in_chinese if has_cjk(group[0].name) else in_english)[at] = group
    # These are no proofs, so they are asked, not joined: 宋江, 宋押司; Lucy Gray, Miss Gray.
    for at, other in (english_questions(in_english) | chinese_questions(in_chinese)).items():
        candidates[at].same_as = candidates[other].name
    return often_enough(sorted(candidates, key=_rank), min_count)


def often_enough(candidates: Sequence[NameCandidate], min_count: int | None) -> list[NameCandidate]:
    """Drop rarely named candidates.

    None derives the limit from the list's length.
    """
    if min_count is not None:
        return [candidate for candidate in candidates if candidate.count >= min_count]
    return [candidate for at, candidate in enumerate(candidates) if candidate.count >= MIN_COUNT or at < ALWAYS_OFFERED]


def without_known(
    candidates: Sequence[NameCandidate], known_names: Iterable[str], *, joined_names: Iterable[tuple[str, str]] = ()
) -> list[NameCandidate]:
    """Drop candidates with known names, and join those the author joined.

    Full names of somebody whose card has a short one alone are asked: Gus Pellow of Gus, 何小满 of 小满.
    """
    names = list(known_names)
    keys = set(map(_without_article, names))
    kept_candidates: list[NameCandidate] = []
    for candidate in candidates:
        known_name = next((name for name in candidate.names() if _without_article(name) in keys), None)
        if known_name is None and _is_name_with_verb(candidate.name, names):
            continue
        fuller_candidate = candidate if known_name is None else _fuller_names(candidate, known_name, names)
        if fuller_candidate is not None:
            kept_candidates.append(fuller_candidate)
    for keep, other in joined_names:
        first, second = (candidate_of(kept_candidates, name) for name in (keep, other))
        if first is not None and second is not None and first is not second:
            kept_candidates = [
                candidate for candidate in kept_candidates if candidate is not first and candidate is not second
            ]
            kept_candidates.append(_together(first, second))
    return sorted(kept_candidates, key=_rank)


def _is_name_with_verb(name: str, known_names: Iterable[str]) -> bool:
    """Tell whether a verb follows a known name: 桂婶用."""
    return any(len(other) > 1 and name[:-1] == other and name[-1:] in _VERBS_AFTER_NAMES for other in known_names)


def _without_article(name: str) -> str:
    """Return the key of a name without an article before it: the Ashcombe Green is Ashcombe Green."""
    first, _, rest = normalise.name_key(name).partition(" ")
    return rest if rest and first in normalise.ARTICLES else normalise.name_key(name)


def _fuller_names(candidate: NameCandidate, known_name: str, known_names: Iterable[str]) -> NameCandidate | None:
    """Return the names of a known candidate that are fuller than its known one, as a question."""
    known_keys = set(map(normalise.title_free_key, known_names))
    variants = [
        variant
        for variant in candidate.variants
        if normalise.title_free_key(variant.name) not in known_keys
        if _fullness(variant.name) > _fullness(known_name) and _is_full_name(variant.name)
    ]
    if not variants:
        return None
    return candidate.model_copy(
        update={
            "name": variants[0].name,
            "variants": variants,
            "count": sum(variant.count for variant in variants),
            "scenes": min(candidate.scenes, sum(variant.count for variant in variants)),
            "first": _place(min(variant.first_place for variant in variants)),
            "same_as": known_name,
        }
    )


def candidate_of(candidates: Iterable[NameCandidate], name: str) -> NameCandidate | None:
    """Return the candidate that bears a name, or None when none does, or several do."""
    listed_candidates = list(candidates)
    for key_of in (normalise.name_key, normalise.title_free_key):
        key = key_of(name)
        matching_candidates = [
            candidate for candidate in listed_candidates if key and key in map(key_of, candidate.names())
        ]
        if matching_candidates:
            return matching_candidates[0] if len(matching_candidates) == 1 else None
    return None


def _together(first: NameCandidate, second: NameCandidate) -> NameCandidate:
    variants = sorted([*first.variants, *second.variants], key=lambda name_variant: -name_variant.count)
    places = {_parsed(place): place for candidate in (first, second) for place in (candidate.first, candidate.last)}
    return first.model_copy(
        update={
            "kind": second.kind if first.kind == "unknown" else first.kind,
            "variants": variants,
            "count": first.count + second.count,
            # How many scenes name both is not told: at least so many name one of them.
            "scenes": max(first.scenes, second.scenes),
            "first": places[min(places)],
            "last": places[max(places)],
            "speaks": first.speaks + second.speaks,
            "score": max(first.score, second.score),
        }
    )


def _rank(candidate: NameCandidate) -> tuple[int, int, str]:
    return -candidate.count, -candidate.scenes, candidate.name


def _parsed(place: str) -> ScenePlace:
    chapter, scene = place.split(":")
    return int(chapter), int(scene)


def _candidate(group: Sequence[FoundName]) -> NameCandidate:
    places: set[ScenePlace] = set().union(*(name_match.places for name_match in group))
    speaks = sum(name_match.speaks for name_match in group)
    weights = [max(name_match.weights.values(), default=0.0) for name_match in group]
    signs = sum(weights)
    # Its clearest name is the fullest of the frequent: of those that stand for a tenth of what the most frequent does.
    most = max(name_match.count for name_match in group)
    frequent = [
        name_match
        for name_match in group
        if name_match.count * 10 >= most and not normalise.is_description(name_match.name)
    ] or list(group)
    return NameCandidate(
        name=max(frequent, key=lambda name_match: (_fullness(name_match.name), name_match.count, name_match.name)).name,
        kind=likely_kind(group),
        variants=[
            NameVariant(name=name_match.name, count=name_match.count, first=_place(min(name_match.places)))
            for name_match in group
        ],
        count=sum(name_match.count for name_match in group),
        scenes=len(places),
        first=_place(min(places)),
        last=_place(max(places)),
        speaks=speaks,
        score=round(signs / (signs + 2.0), 2),
    )


def _is_full_name(name: str) -> bool:
    """Tell whether a name has a surname and a given name, or several words."""
    if has_cjk(name):
        return len(name) == FULL_NAME and has_surname(name) and name[1:] not in normalise.CHINESE_TITLES_AFTER
    return len(_words(name)) > 1


def _fullness(name: str) -> int:
    """The length of a name without titles, so that full names win."""
    return len(name) if has_cjk(name) else len(_words(name))


def _place(place: ScenePlace) -> str:
    return f"{place[0]}:{place[1]}"


MAX_SCENES_OF_MAKESHIFT = 1
"""A display name that stands in no more scenes was made for the moment: "the voice under the hill"."""

MIN_SCENES_OF_NAME = 3


def better_display_name(
    name: str, others: Sequence[str], texts: Sequence[str], *, taken_names: Collection[str] = ()
) -> str | None:
    """Return the name used most by the story, for a rarely used display name."""
    if _scenes_with(name, texts) > MAX_SCENES_OF_MAKESHIFT:
        return None
    own = _words(name)
    name_counts = [
        (_scenes_with(text, texts), len(text), text)
        for text in others
        if text not in {*taken_names, *normalise.CHINESE_TITLES_AFTER}
        and not (normalise.is_description(text) or _words(text) <= own or text in name)
    ]
    scenes, _, best = max(name_counts, default=(0, 0, ""))
    return best if scenes >= MIN_SCENES_OF_NAME else None


def _scenes_with(name: str, texts: Sequence[str]) -> int:
    return sum(name in text for text in texts)


def _words(name: str) -> frozenset[str]:
    return frozenset(normalise.name_key(name).split()) - normalise.TITLES - normalise.ARTICLES
