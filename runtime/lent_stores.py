"""Stores for one call: the caller's, or those of the settings."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from runtime.settings import load_settings
from runtime.stores import MemoryStores


@contextmanager
def lent_stores(stores: MemoryStores | None) -> Iterator[MemoryStores]:
    """Lend the given stores, or open those of the settings and close them at the end."""
    if stores is not None:
        yield stores
        return
    with MemoryStores(load_settings()) as opened:
        yield opened
