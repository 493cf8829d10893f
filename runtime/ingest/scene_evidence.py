"""Where in its scene the quote behind a recorded fact stands, and whether the fact is verified by it."""

from __future__ import annotations

from typing import NamedTuple

from novelgen.records.evidence import QuoteFinder
from runtime.ingest.scene_input import RecordOrigin


class LocatedEvidence(NamedTuple):
    """The characters [start, end) of a quote, None where it was not found, and whether its fact counts as verified."""

    source_span: tuple[int, int] | None
    verified: bool


def located_evidence(quote: str | None, finder: QuoteFinder, made_by: RecordOrigin) -> LocatedEvidence:
    """Look for the quote of a fact.

    A fact whose quote does not stand in the scene is unverified, and so is one that a model gave no quote for.
    What was supplied without a quote is given, and what an author says needs none.

    Args:
        quote: What is said to stand in the scene, if anything.
        finder: Of the scene's text.
        made_by: Who made the record.
    """
    span = finder.find(quote)
    owes_quote = made_by == "extracted" or (made_by == "supplied" and bool(quote))
    return LocatedEvidence(span and (span.start, span.end), span is not None or not owes_quote)
