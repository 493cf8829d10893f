"""Surnames and given names that a text uses alone for one person."""

import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence

from novelgen.language.chinese_names import surname_of, word_class
from novelgen.language.english_names import FUNCTION_WORDS, gender_of_given
from novelgen.language.language import CJK_RANGES, has_cjk
from novelgen.language.normalise import (
    ARTICLES,
    CHINESE_TITLES_AFTER,
    FEMALE_TITLES,
    MALE_TITLES,
    TITLES,
    fold_width,
    name_key,
    simplified,
    title_free_key,
)

_LEAST_LETTERS = 2
_CLEARLY_MORE_CAPITALS = 3
_CHINESE_GIVEN = 2
"""Characters of a given name that may stand alone: 砚秋, not 渡."""

_NAME_WORD = re.compile(r"[A-ZÀ-ÖØ-Þ][^\W\d_]+")
_CAPITAL_BEFORE = re.compile(r"(?:^|[^\w])([A-ZÀ-ÖØ-Þ][^\W\d_]*)[’']?\.? $")
_CAPITAL_AFTER = re.compile(r" ([A-ZÀ-ÖØ-Þ][^\W\d_]+)")
_SENTENCE_OPENS = re.compile(r"(?:^|[.!?…:“‘\"«\n—*_]\s*)$")
_BEFORE = 40


def parts_of_name(name: str) -> list[str]:
    """Return the surname and the given name of a full name, of a Chinese one only the latter."""
    if has_cjk(name):
        given_name = name[len(surname_of(name)) :]
        may_stand_alone = (
            given_name != name and len(given_name) == _CHINESE_GIVEN and given_name not in CHINESE_TITLES_AFTER
        )
        return [given_name] if may_stand_alone else []
    words = _words(name)
    if len(words) < 2 or not all(_NAME_WORD.fullmatch(word) for word in (words[0], words[-1])):
        return []
    return [
        word
        for word in dict.fromkeys((words[-1], words[0]))
        if len(word) >= _LEAST_LETTERS and name_key(word) not in FUNCTION_WORDS
    ]


def with_parts(names_by_id: Mapping[str, Sequence[str]]) -> dict[str, list[str]]:
    """Return names with the surnames and given names in them that are one bearer's alone."""
    parts_by_id = {
        entity_id: {part for name in names for part in parts_of_name(name)} | set(names)
        for entity_id, names in names_by_id.items()
    }
    bearers = Counter(part for parts in parts_by_id.values() for part in parts)
    return {
        entity_id: [*names, *sorted(part for part in parts_by_id[entity_id] - set(names) if bearers[part] == 1)]
        for entity_id, names in names_by_id.items()
    }


def _words(name: str) -> list[str]:
    return [word for word in fold_width(name).split() if name_key(word) not in TITLES | ARTICLES]


def short_names(name: str, texts: Sequence[str], *, other_names: Collection[str] = ()) -> list[str]:
    """Return the parts of a full name that the texts use alone, and for nobody else.

    Args:
        name: Of a person, in full: Jonas Pruett, 沈砚秋.
        texts: All of the story.
        other_names: Names of all others that the story knows or the text offers.
    """
    own_key = title_free_key(name)
    others = [title_free_key(other) for other in other_names if title_free_key(other) != own_key]
    parts = parts_of_name(name)
    if has_cjk(name):
        return [given_name for given_name in parts if _is_chinese_used_alone(given_name, texts, others)]
    parts_of_others = {part for other in others for part in other.split()}
    return [
        word for word in parts if name_key(word) not in parts_of_others and _is_used_alone(word, texts, _words(name))
    ]


def _is_chinese_used_alone(given_name: str, texts: Sequence[str], others: Collection[str]) -> bool:
    if word_class(simplified(given_name))[:2] not in ("", "nr") or any(
        other.endswith(name_key(given_name)) for other in others
    ):
        return False
    is_alone = re.compile(rf"(?<![{CJK_RANGES}]){simplified(given_name)}")
    return any(is_alone.search(simplified(text)) for text in texts)


def _is_used_alone(word: str, texts: Sequence[str], words: Sequence[str]) -> bool:
    """Tell whether texts use a word of a full name alone, and in no other name."""
    pattern = re.compile(rf"(?<![\w’'-]){re.escape(word)}(?![\w-])")
    in_small_letters = re.compile(rf"(?<![\w’'-]){re.escape(word.lower())}(?![\w-])")
    is_surname = word == words[-1]
    gender = gender_of_given(name_key(words[0]))
    alone = free = small = 0
    for text in map(fold_width, texts):
        if word not in text:
            continue
        small += len(in_small_letters.findall(text))
        for match in pattern.finditer(text):
            before = text[max(0, match.start() - _BEFORE) : match.start()]
            before_match, after_match = _CAPITAL_BEFORE.search(before), _CAPITAL_AFTER.match(text, match.end())
            left_word = before_match[1] if before_match else ""
            right_word = after_match[1] if after_match else ""
            title = name_key(left_word)
            if is_surname and title in MALE_TITLES | FEMALE_TITLES:
                # Jonas Pruett and a Mrs. Pruett are a family.
                if gender != "f" if title in FEMALE_TITLES else gender == "f":
                    return False
            elif is_surname and left_word and left_word not in words and title not in FUNCTION_WORDS | TITLES:
                if gender_of_given(title) or not (
                    before_match and _SENTENCE_OPENS.search(before[: before_match.start(1)])
                ):
                    return False
            elif not is_surname and right_word and right_word not in words:
                return False
            elif not left_word and not right_word:
                alone += 1
                free += not _SENTENCE_OPENS.search(before)
    return alone > 0 and (small == 0 or free >= _CLEARLY_MORE_CAPITALS * small)
