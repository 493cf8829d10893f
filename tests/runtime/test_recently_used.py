"""The order of use of things, and which are too many."""

from runtime.stores import RecentlyUsed


def test_what_was_used_longest_ago_is_too_many() -> None:
    """Asking counts as using; what is given back counts as used last, and everything can be taken."""
    held: RecentlyUsed[str, int] = RecentlyUsed(2)
    held.use("a", 1)
    held.use("b", 2)
    assert (held.take_surplus(), held.get("a")) == ([], 1)
    held.use("c", 3)
    assert held.take_surplus() == [("b", 2)]
    assert (held.get("a"), held.get("b"), held.get("c")) == (1, None, 3)
    held.use("b", 2)
    assert held.take_surplus() == [("a", 1)]
    assert (held.take_all(), held.take_all()) == ([3, 2], [])
