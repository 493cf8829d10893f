"""Other names in place of names: a text says them wherever the old ones stand by themselves."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from novelgen.language.matching import NameFinder, NameMatch


class NameSwap:
    """Puts names in the place of others.

    Args:
        names: Each name to what stands in its place.
        others: Names that may hold one of them and stay as they are.
    """

    def __init__(self, names: Mapping[str, str], others: Iterable[str] = ()) -> None:
        self._names = dict(names)
        self._finder = NameFinder([*names, *others])

    def hits(self, text: str) -> list[NameMatch]:
        """Return where a text says one of the names."""
        return [match for match in self._finder.find(text) if match.name in self._names]

    def said(self, text: str) -> str:
        """Return a text with the new names."""
        parts, start = [], 0
        for match in self.hits(text):
            parts += [text[start : match.start], self._new(text, match)]
            start = match.end
        return "".join([*parts, text[start:]])

    def moved(self, text: str, at: int) -> int:
        """Return where in the new text stands what stood at a character of the old one."""
        before = [match for match in self.hits(text) if match.end <= at]
        return at + sum(len(self._new(text, match)) - (match.end - match.start) for match in before)

    def others_in(self, text: str, names: Iterable[str]) -> list[str]:
        """Return each place of some of the other names, by the name."""
        wanted = set(names)
        return [match.name for match in self._finder.find(text) if match.name in wanted]

    def _new(self, text: str, match: NameMatch) -> str:
        found, new = text[match.start : match.end], self._names[match.name]
        return new.upper() if found.isupper() and not match.name.isupper() else new
