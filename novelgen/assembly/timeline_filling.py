"""Filling the timeline: in rounds over its sections, within the budget and the quotas of needs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from novelgen.records.summaries import RECENT_CHAPTERS
from novelgen.selection.quotas import NeedQuotas

TimelineNeed = Literal["obligations", "relations", "timeline"]

# Rounds serve the sections in this order, so that each gets its most wanted entry before any gets a second.
FILL_ORDER = (
    "open_loops",
    "recent_events",
    "relationships",
    "chapter_summaries",
    "part_summaries",
    "snapshots",
)
_QUOTA_OF: dict[str, Literal["obligations", "relations"]] = {
    "open_loops": "obligations",
    "relationships": "relations",
}


@dataclass(frozen=True, slots=True)
class TimelineLine:
    """An entry as a line, with its place among the most wanted of its section."""

    section: str
    depth: int
    entry: Mapping[str, Any]
    text: str
    tokens: int

    @property
    def need(self) -> TimelineNeed:
        """The need that it serves."""
        return _QUOTA_OF.get(self.section, "timeline")


@dataclass(frozen=True, slots=True)
class FilledTimeline:
    """What was taken and what was not, with the reason, each in the order in which it came up."""

    taken: tuple[TimelineLine, ...]
    left_out: tuple[tuple[TimelineLine, str], ...]

    def tokens_per_need(self) -> dict[TimelineNeed, int]:
        """Tokens of what was taken, for every need."""
        spent: dict[TimelineNeed, int] = {"obligations": 0, "relations": 0, "timeline": 0}
        for line in self.taken:
            spent[line.need] += line.tokens
        return spent


def fill_timeline(
    lines: Mapping[str, Sequence[TimelineLine]], *, budget_tokens: int, quotas: NeedQuotas
) -> FilledTimeline:
    """Take lines until the budget is full.

    Args:
        lines: By section, each of `FILL_ORDER`, most wanted first.
        budget_tokens: Bound for all lines together.
        quotas: What is over its quota waits until all others had their turn. A chapter that a taken part tells
            of is not told again, unless it is the last one.
    """
    taken: list[TimelineLine] = []
    left_out: list[tuple[TimelineLine, str]] = []
    waiting: list[TimelineLine] = []
    used: Counter[str] = Counter()

    def offer(line: TimelineLine, reason: str) -> None:
        told_by = _part_that_tells(line, taken)
        if told_by is not None:
            left_out.append((line, f"told by the summary of part {told_by}"))
        elif used.total() + line.tokens <= budget_tokens:
            taken.append(line)
            used[line.section] += line.tokens
        else:
            left_out.append((line, reason))

    no_room = f"does not fit what timeline_budget={budget_tokens} has left"
    for line in _in_rounds(lines):
        quota = _QUOTA_OF.get(line.section)
        if quota and used[line.section] + line.tokens > quotas.tokens(quota, budget_tokens):
            waiting.append(line)
        else:
            offer(line, no_room)
    for line in waiting:
        offer(line, f"over {quotas.described(_QUOTA_OF[line.section])}, and {no_room}")
    return FilledTimeline(tuple(taken), tuple(left_out))


def _in_rounds(lines: Mapping[str, Sequence[TimelineLine]]) -> Iterable[TimelineLine]:
    rounds = range(max((len(each) for each in lines.values()), default=0))
    ordered = [
        lines[section][depth] for depth in rounds for section in FILL_ORDER if depth < len(lines[section])
    ]
    return sorted(ordered, key=_is_backlog)


def _is_backlog(line: TimelineLine) -> bool:
    """Summaries of chapters further back do not take part in the rounds: they take what is left."""
    return line.section == "chapter_summaries" and line.depth >= RECENT_CHAPTERS


def _part_that_tells(line: TimelineLine, taken: Sequence[TimelineLine]) -> int | None:
    if line.section != "chapter_summaries" or line.depth == 0:
        return None
    parts = (each.entry for each in taken if each.section == "part_summaries")
    chapter = line.entry["chapter_index"]
    return next(
        (part["part_number"] for part in parts if part["first_chapter"] <= chapter <= part["last_chapter"]),
        None,
    )
