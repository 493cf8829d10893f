"""The words around the facts of a story in a prompt block: headings, attributes, values and feelings, by language."""

from collections import ChainMap, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from novelgen.card_fields import fields_by_kind
from novelgen.language.language import stated_language
from novelgen.words import words


@dataclass(frozen=True, slots=True)
class FeelingWords:
    """Words of a relationship dimension on both sides of 0, in three degrees."""

    above: tuple[str, str, str]
    below: tuple[str, str, str]


@dataclass(frozen=True)
class Labels:
    """The words around the story's facts."""

    language: str
    title: str
    note: str
    unread: str
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
    cards: str
    everywhere: str
    after: str
    in_scene: str
    advanced: str
    thread_over: str
    unverified: str
    guess: str
    guessed: str
    doubted: str
    doubted_note: str
    believed: str
    outdated: str
    also: str
    one_with: str
    changed: str
    later: str
    over: str
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
    attributes_by_kind: Mapping[str, Mapping[str, str]]
    values: Mapping[str, str]

    def attribute(self, name: str, kind: str = "") -> str:
        """Return the attribute's word on a kind of card, or its own name when there is none."""
        return self.attributes_by_kind.get(kind, {}).get(name) or self.attributes.get(name, name)

    def value(self, value: object) -> str:
        """Return the word for a program's value such as True or dead."""
        return self.values.get(str(value).casefold(), str(value))


def _card_words(language: str) -> dict[str, dict[str, str]]:
    """Return the names of the fields of cards, by kind."""
    return {kind: {field.key: field.called(language) for field in fields} for kind, fields in fields_by_kind().items()}


def _differing_words(words_by_kind: Mapping[str, Mapping[str, str]]) -> dict[str, dict[str, str]]:
    """Return the names of fields by kind of card: 外观 of a thing, 外貌 of a person."""
    words_by_key: defaultdict[str, set[str]] = defaultdict(set)
    for own_words in words_by_kind.values():
        for key, word in own_words.items():
            words_by_key[key].add(word)
    return {
        kind: {key: word for key, word in own_words.items() if len(words_by_key[key]) > 1}
        for kind, own_words in words_by_kind.items()
    }


@cache
def _labels(language: str) -> Labels:
    dimensions = words("context", language, "dimensions")
    card_words = _card_words(language)
    return Labels(
        language=language,
        **words("context", language, "labels"),
        dimensions={name: FeelingWords(*map(tuple, word_lists)) for name, word_lists in dimensions.items()},
        attributes={**ChainMap(*card_words.values()), **words("context", language, "attributes")},
        attributes_by_kind=_differing_words(card_words),
        values=words("context", language, "values"),
    )


def labels_for(language: str) -> Labels:
    """Return the labels of a language code, English by default."""
    return _labels(stated_language(language) or "en")
