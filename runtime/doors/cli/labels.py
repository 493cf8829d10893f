"""Words of the readable views, in the story's language; they stand in `novelgen/words/commands.*.toml`."""

from __future__ import annotations

import re
from functools import cache

from novelgen.words import Words, words


class ViewLabels:
    """Headings, names of columns and sentences by their keys; those of the prompt block come from `context.labels`."""

    def __init__(self, language: str) -> None:
        self._words: Words = words("commands", language)
        self._reasons: dict[str, str] = self._words.table("reason")

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

    def value(self, stored: str) -> str:
        """Return a status, a kind or another stored word in the language of the story; an unknown one as it is."""
        return self.get(f"value.{stored}", stored.replace("_", " "))

    def reason(self, text: str) -> str:
        """Return why something is in a context, or is not, in the language of the story."""
        known = sorted(self._reasons, key=len, reverse=True)
        pattern = r"\b(?:" + "|".join(map(re.escape, known)) + r")\b"
        return re.sub(pattern, lambda found: self._reasons[found[0]], text)

    def place(self, chapter_index: int | None, scene_index: int | None) -> str:
        """Return a position as `3:2` or `3`, or the word for what holds everywhere."""
        if chapter_index is None:
            return self["head.everywhere"]
        return str(chapter_index) if scene_index is None else f"{chapter_index}:{scene_index}"


@cache
def view_labels_for(language: str) -> ViewLabels:
    """Return the labels of a language code such as `zh`, `zh-CN` or `en`; English for all others."""
    return ViewLabels("zh" if language.lower().startswith(("zh", "cn", "中")) else "en")
