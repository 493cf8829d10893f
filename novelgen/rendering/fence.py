"""Fences that story text cannot forge."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable


def fence_mark(texts: Iterable[str]) -> str:
    """Return a mark that occurs in none of the texts and depends on all of them.

    The mark is a hash of everything that it fences, so that the same context gives the same prompt, and a
    text that tries to hold its own fence changes the mark by holding it.
    """
    body = "\x00".join(texts)
    attempt = 0
    while True:
        mark = hashlib.sha256(f"{attempt}\x00{body}".encode("utf-8", "surrogatepass")).hexdigest()[:12]
        if mark not in body:
            return mark
        attempt += 1


def fenced(lines: Iterable[str], mark: str) -> list[str]:
    """Return the lines between an opening and a closing fence; line breaks inside a line become spaces."""
    return [f"<story-data {mark}>", *(" ".join(line.splitlines()) for line in lines), f"</story-data {mark}>"]
