"""The timeline of a context within its budget: open threads, relationships, and what changed lately."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from novelgen.context.labels import Labels
from novelgen.context.rendering import SECTION_ORDER, render_timeline_entry
from novelgen.language.language import TokenCounter
from novelgen.memory.attributes import LOCATION_ATTRIBUTE, PLACE_ATTRIBUTE
from novelgen.memory.outline import StoryOutline
from novelgen.memory.pay_off import SceneAhead, threads_by_pay_off
from novelgen.memory.weights import DEFAULT_QUOTAS, NeedQuotas
from novelgen.models.context import LeftOutItem, LeftOutWhy
from novelgen.models.folds import HOLDER_ATTRIBUTE
from novelgen.models.position import sort_key, story_place
from novelgen.models.state import PRESENCE_ATTRIBUTE, EntityStateSnapshot, Relationship

TimelineNeed = Literal["obligations", "relations", "timeline"]

MAX_LISTED_THREADS = 8
"""Of the threads that a scene could pay off; a longer list hides the right one."""

SCENES_OF_RECENT_CHANGES = 10
"""What changed before so many last scenes, of what no line of state tells, is no recent change."""

_PLACE_ATTRIBUTES = frozenset({LOCATION_ATTRIBUTE, PLACE_ATTRIBUTE, PRESENCE_ATTRIBUTE, HOLDER_ATTRIBUTE})
"""Where those are of whom no line of state tells is no change that a scene without them has to know, nor what things
somebody has who is not in it."""

# Threads take their room first. Then rounds serve the sections in this order, so that each gets its most wanted entry
# before any gets a second.
FILL_ORDER = ("open_loops", "relationships", "snapshots")
_QUOTA_OF: dict[str, Literal["obligations", "relations"]] = {"open_loops": "obligations", "relationships": "relations"}


def need_of(section: str) -> TimelineNeed:
    """Return the need that a section of the timeline serves."""
    return _QUOTA_OF.get(section, "timeline")


@dataclass(frozen=True, slots=True)
class TimelineLine:
    """An entry as a line, with its place among the most wanted of its section."""

    section: str
    depth: int
    entry: Mapping[str, Any]
    text: str
    tokens: int

    def left_out(self, why: LeftOutWhy) -> LeftOutItem:
        """Return the omission record of an entry."""
        name = next((self.entry[key] for key in ("loop_id", "relationship_id", "entity_id") if self.entry.get(key)), "")
        told_of = f"{self.section}:{name}" if name else self.section
        return why.item(section="timeline", id=told_of, text=self.text, tokens=self.tokens)

    @property
    def place_told(self) -> tuple[bool, int, int, int]:
        """Sort key in story order, after the point of view's relationships."""
        if self.section == "open_loops":
            return (True, 0, 0, self.depth)
        place = sort_key(self.entry.get("chapter_index"), self.entry.get("scene_index"))
        return ("seen_by" not in self.entry, *place, self.depth)


@dataclass(frozen=True)
class AssembledTimeline:
    """`timeline_context` within its budget, or None when empty."""

    timeline: dict[str, list[dict[str, Any]]] | None
    tokens_per_need: dict[str, int]
    left_out: list[LeftOutItem]

    @property
    def tokens(self) -> int:
        """Its cost."""
        return sum(self.tokens_per_need.values())


def fill_timeline(
    lines: Mapping[str, Sequence[TimelineLine]], *, budget_tokens: int, quotas: NeedQuotas
) -> AssembledTimeline:
    """Take lines until the budget is full."""
    timeline_lines: list[TimelineLine] = []
    left_out: list[LeftOutItem] = []
    lines_over_quota: list[TimelineLine] = []
    used_tokens: Counter[str] = Counter()

    def offer(line: TimelineLine, why_not: LeftOutWhy) -> None:
        if used_tokens.total() + line.tokens <= budget_tokens:
            timeline_lines.append(line)
            used_tokens[line.section] += line.tokens
        else:
            left_out.append(line.left_out(why_not))

    texts = {"budget": str(budget_tokens)}
    no_room = LeftOutWhy(code="no_room_in_timeline", values=texts)
    rounds = range(max((len(timeline_lines) for timeline_lines in lines.values()), default=0))
    ordered = [lines[section][depth] for depth in rounds for section in FILL_ORDER if depth < len(lines[section])]
    for line in sorted(ordered, key=lambda line: line.section != "open_loops"):
        quota = _QUOTA_OF.get(line.section)
        if quota and used_tokens[line.section] + line.tokens > quotas.tokens(quota, budget_tokens):
            lines_over_quota.append(line)
        else:
            offer(line, no_room)
    for line in lines_over_quota:
        over = {**texts, "quota": quotas.described(_QUOTA_OF[line.section])}
        offer(line, LeftOutWhy(code="over_timeline_quota", values=over))
    sections = {
        section: [
            dict(timeline_line.entry)
            for timeline_line in sorted(timeline_lines, key=lambda timeline_line: timeline_line.place_told)
            if timeline_line.section == section
        ]
        for section in SECTION_ORDER
    }
    return AssembledTimeline(
        timeline={section: entries for section, entries in sections.items() if entries} or None,
        tokens_per_need={need_of(section): used_tokens[section] for section in FILL_ORDER},
        left_out=left_out,
    )


def assemble_timeline(
    outline: StoryOutline,
    snapshots: Sequence[EntityStateSnapshot],
    names: Mapping[str, str],
    *,
    shown_states: Sequence[EntityStateSnapshot],
    ahead: SceneAhead,
    labels: Labels,
    budget_tokens: int,
    count_tokens: TokenCounter,
    quotas: NeedQuotas = DEFAULT_QUOTAS,
    pov_id: str | None = None,
) -> AssembledTimeline:
    """Fill the timeline, threads first, then in rounds over its sections until the budget is full."""

    def line(section: str, depth: int, entry: dict[str, Any]) -> TimelineLine:
        text = render_timeline_entry(section, entry, names, labels=labels)
        return TimelineLine(section, depth, entry, text, count_tokens(text))

    filters = {
        "open_loops": [
            loop.model_dump(mode="json", exclude=set() if loop.resolution_summary else {"resolution_summary"})
            for loop in threads_by_pay_off(outline, ahead)
        ],
        "relationships": _relationships(outline.relationships, ahead.entity_ids, pov_id),
        "snapshots": _changes(outline, snapshots, ahead.entity_ids, shown_states),
    }
    lines = {
        section: [line(section, depth, entry) for depth, entry in enumerate(entries)]
        for section, entries in filters.items()
    }
    too_many = lines["open_loops"][MAX_LISTED_THREADS:]
    lines["open_loops"] = lines["open_loops"][:MAX_LISTED_THREADS]
    filled_assembled_timeline = fill_timeline(lines, budget_tokens=budget_tokens, quotas=quotas)
    over_threads = LeftOutWhy(code="over_threads", values={"limit": str(MAX_LISTED_THREADS)})
    return replace(
        filled_assembled_timeline,
        left_out=[
            *filled_assembled_timeline.left_out,
            *(timeline_line.left_out(over_threads) for timeline_line in too_many),
        ],
    )


def _changes(
    outline: StoryOutline,
    snapshots: Sequence[EntityStateSnapshot],
    touched_names: Collection[str],
    shown_states: Sequence[EntityStateSnapshot],
) -> list[dict[str, Any]]:
    shown_ids = {state.entity_id for state in shown_states}
    last = outline.scenes[-SCENES_OF_RECENT_CHANGES:]
    since = story_place(last[0]) if last else (-1, -1)
    # A state is told whole: of several chapters' the last has what still holds.
    newest: dict[str, EntityStateSnapshot] = {}
    for snapshot in reversed(snapshots):
        newest.setdefault(snapshot.entity_id, snapshot)
    return [
        {
            "entity_id": snapshot.entity_id,
            "chapter_index": snapshot.chapter_index,
            "scene_index": snapshot.scene_index,
            "state_data": {key: value for key, value in snapshot.state_data.items() if key != PRESENCE_ATTRIBUTE},
            **({"unverified": list(snapshot.unverified)} if snapshot.unverified else {}),
        }
        for snapshot in newest.values()
        if snapshot.entity_id not in shown_ids
        and story_place(snapshot) >= since
        and (
            snapshot.state_data.keys() - _PLACE_ATTRIBUTES or snapshot.state_data.get(HOLDER_ATTRIBUTE) in touched_names
        )
    ]


def _relationships(
    relationships: Sequence[Relationship], touched_ids: Collection[str], pov_id: str | None
) -> list[dict[str, Any]]:
    """Relationships within the scene's cast, the point of view's first."""
    both = sorted(
        (
            relationship
            for relationship in relationships
            if {relationship.character_a, relationship.character_b}.issubset(touched_ids)
        ),
        key=lambda relationship: (
            pov_id not in (relationship.character_a, relationship.character_b),
            -relationship.intensity,
            -(relationship.chapter_index or 0),
            -(relationship.scene_index or 0),
            relationship.relationship_id,
        ),
    )
    entries = []
    for other_relationship in both:
        entry = other_relationship.model_dump(mode="json", exclude={"history"})
        if pov_id in (other_relationship.character_a, other_relationship.character_b):
            entry["seen_by"] = pov_id
        latest = next((event for event in reversed(other_relationship.history) if event.event), None)
        if latest is not None:
            entry["latest_event"] = latest.event
            place = (latest.chapter_index, latest.scene_index)
            if place != (other_relationship.chapter_index, other_relationship.scene_index):
                entry["latest_event_place"] = list(place)
        entries.append(entry)
    return entries
