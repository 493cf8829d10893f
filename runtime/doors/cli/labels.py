"""Words of the readable views, from `novelgen/words/commands.*.toml`."""

from __future__ import annotations

import locale
import os
import re
from functools import cache
from typing import TYPE_CHECKING

from novelgen.language.language import StoryLanguage
from novelgen.words import Words, words
from novelgen.words.messages import message_in

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from novelgen.context.labels import Labels
    from runtime.files.chapter_names import ChapterNames

LANGUAGE_VARIABLE = "NOVELGEN_LANG"
_CHINESE = ("zh", "cn", "中", "chinese")


class _Spoken:
    """The story language of a command, one per run."""

    language = ""


def speak(language: str) -> None:
    """Set the story language of a command, empty for none."""
    _Spoken.language = language


def language_of_reader(story: str = "") -> StoryLanguage:
    """Return `zh` or `en`: by NOVELGEN_LANG, else as the story that the command is about, else by the locale."""
    choice = os.environ.get(LANGUAGE_VARIABLE) or story or _Spoken.language or _language_of_locale()
    return "zh" if choice.lower().startswith(_CHINESE) else "en"


def in_words(message: str) -> str:
    """Return a message in the reader's language."""
    return message_in(message, language_of_reader())


def _language_of_locale() -> str:
    lines = (os.environ.get(name) for name in ("LC_ALL", "LC_MESSAGES", "LANG"))
    return next(filter(None, lines), None) or locale.getlocale()[0] or "en"


class ViewLabels:
    """Headings, columns and sentences by key.

    The prompt block's come from `context.labels`.
    """

    def __init__(self, language: StoryLanguage, names: Callable[[], ChapterNames] | None = None) -> None:
        self.language = language
        self._load_names = names
        self._words: Words = words("commands", language)
        self._reasons: dict[str, str] = self._words.table("reason") | self._words.table("retriever")

    def __getitem__(self, key: str) -> str:
        text: str = self._words[key]
        return text

    def get(self, key: str, default: str = "") -> str:
        """Return the words of a key, or a default where there are none."""
        text: str = self._words.get(key, default)
        return text

    def heading(self, key: str) -> str:
        """Return the name of a column, which may be a word or a line of another place, too."""
        return self.get(f"head.{key}") or self.get(f"value.{key}") or self[f"line.{key}"]

    @property
    def prompt(self) -> Labels:
        """Words that the prompt block has, too."""
        from novelgen.context.labels import labels_for

        return labels_for(self.language)

    def value(self, value: str) -> str:
        """Return a stored word in the story's language, unchanged if unknown."""
        return self.get(f"value.{value}", value.replace("_", " "))

    def listing(self, items: Iterable[object]) -> str:
        """Return items as people list them: with commas, in Chinese with 、."""
        return self.prompt.list_separator.join(map(str, items))

    def in_brackets(self, text: str) -> str:
        """Return a remark behind other words, in brackets; nothing without one."""
        if not text:
            return ""
        return f"（{text}）" if self.language == "zh" else f" ({text})"

    def role(self, role: str) -> str:
        """Return the role of a character, one of the four common ones in the reader's language."""
        return self.get(f"role.{role}", role)

    def field(self, name: str, kind: str = "") -> str:
        """Return the name of a card field or state attribute, as a kind of card has it."""
        return self.prompt.attribute(name, kind).replace("_", " ")

    def reason(self, text: str) -> str:
        """Return why something is in a context, or is not, in the language of the story."""
        text = message_in(text, self.language)
        known_keys = sorted(self._reasons, key=len, reverse=True)
        pattern = r"(?<![A-Za-z_])(?:" + "|".join(map(re.escape, known_keys)) + r")(?![A-Za-z_])"
        return re.sub(pattern, lambda match: self._reasons[match[0]], text)

    def stage(self, stage: str) -> str:
        """Return the name of a stage, which may be a retriever."""
        return self.get(f"stage.{stage}") or self.get(f"retriever.{stage.removeprefix('retriever_')}", stage)

    def issue(self, stage: str, kind: str, message: str) -> str:
        """Return an issue with its stage."""
        what = self.get(f"trouble.{kind}", kind)
        # What waits to be indexed is not out of date.
        what = self.get(f"trouble.{stage}_{kind}", what)
        return self["line.issue"].format(stage=self.stage(stage), kind=what, message=message_in(message, self.language))

    def with_names(self, names: Callable[[], ChapterNames]) -> ViewLabels:
        """Return these labels of a story whose chapters are told as their author calls them."""
        return ViewLabels(self.language, cache(names))

    def place(self, chapter_index: int | None, scene_index: int | None) -> str:
        """Return a position as everybody is shown it."""
        from novelgen.models.position import place_text

        if self._load_names is not None and chapter_index is not None:
            return self._load_names().place(chapter_index, scene_index)
        return place_text(chapter_index, scene_index, always=self.always)

    def memory_place(self, thing: object) -> str:
        """Return the place of a memory."""
        from novelgen.models.memory import memory_place_text
        from novelgen.models.position import StoryPosition, place_told

        is_scene = self._load_names().has_scene if self._load_names is not None else lambda _: True
        text = memory_place_text(thing, always=self.always, after=self.prompt.after, is_scene=is_scene)
        chapter, scene = place_told(thing)
        return text if chapter is None else text.replace(str(StoryPosition(chapter, scene)), self.place(chapter, scene))

    @property
    def always(self) -> str:
        """The word for timeless facts."""
        return self.prompt.everywhere


def view_labels_for(language: str = "") -> ViewLabels:
    """Return the labels of a language such as `zh` or `en`, or the reader's."""
    return _labels(language_of_reader(language))


@cache
def _labels(language: StoryLanguage) -> ViewLabels:
    return ViewLabels(language)
