"""Headings and attribute names of the prompt block, in the story's language."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from novelgen.language.language import stated_language
from novelgen.words import words


@dataclass(frozen=True, slots=True)
class FeelingWords:
    """What a dimension of a relationship is called above and below 0: slight, plain and strong."""

    above: tuple[str, str, str]
    below: tuple[str, str, str]


@dataclass(frozen=True)
class Labels:
    """The words around the story's facts."""

    language: str
    title: str
    note: str
    states: str
    left_off: str
    left_off_with: str
    story_so_far: str
    ended: str
    timeline: str
    people: str
    relationships: str
    minds: str
    memories: str
    open_loops: str
    snapshots: str
    everywhere: str
    in_scene: str
    advanced: str
    unverified: str
    outdated: str
    also: str
    changed: str
    later: str
    missing: str
    point_of_view: str
    hidden: str
    real_name: str
    unknown_to: str
    known_to_alone: str
    separator: str
    list_separator: str
    colon: str
    intensity: str
    latest: str
    dimensions: Mapping[str, FeelingWords]
    attributes: Mapping[str, str]
    values: Mapping[str, str]

    def attribute(self, name: str) -> str:
        """Return the attribute's word, or its own name when there is none."""
        return self.attributes.get(name, name)

    def value(self, value: object) -> str:
        """Return the word for a value that programs write, such as True or dead; any other as it is."""
        return self.values.get(str(value).casefold(), str(value))


@cache
def _labels(language: str) -> Labels:
    dimensions = words("context", language, "dimensions")
    return Labels(
        language=language,
        **words("context", language, "labels"),
        dimensions={name: FeelingWords(*map(tuple, named)) for name, named in dimensions.items()},
        attributes=words("context", language, "attributes"),
        values=words("context", language, "values"),
    )


def labels_for(language: str) -> Labels:
    """Return the labels of a language code such as `zh`, `zh-CN` or `en`; English for all others."""
    return _labels(stated_language(language) or "en")
