"""Which of many open things were used last, so that the others can be put to rest."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable
from typing import Generic, TypeVar

Key = TypeVar("Key", bound=Hashable)
Thing = TypeVar("Thing")


class RecentlyUsed(Generic[Key, Thing]):
    """Holds things in the order of their use and tells which are too many. Not safe between threads.

    Args:
        limit: Most things to hold in the long run, at least 1.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._things: OrderedDict[Key, Thing] = OrderedDict()

    def get(self, key: Key) -> Thing | None:
        """Return a thing and take it as used now; None when it is not held."""
        thing = self._things.get(key)
        if thing is not None:
            self._things.move_to_end(key)
        return thing

    def use(self, key: Key, thing: Thing) -> None:
        """Hold a thing as the one used last, beyond the limit if need be."""
        self._things[key] = thing
        self._things.move_to_end(key)

    def take_surplus(self) -> list[tuple[Key, Thing]]:
        """Let go of what is beyond the limit and return it, the one used longest ago first."""
        return [self._things.popitem(last=False) for _ in range(len(self._things) - self._limit)]

    def take_all(self) -> list[Thing]:
        """Let go of everything and return it."""
        things = list(self._things.values())
        self._things.clear()
        return things
