"""The timeline of a context: open threads, relationships and changes, within its budget."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from pydantic import BaseModel, Field

from novelgen.context.lines import SECTION_ORDER, Labels, render_timeline_entry
from novelgen.memory.attributes import LOCATION_ATTRIBUTE, PLACE_ATTRIBUTE
from novelgen.memory.outline import StoryOutline
from novelgen.memory.pay_off import SceneAhead, threads_by_pay_off
from novelgen.memory.weights import DEFAULT_QUOTAS, NeedQuotas
from novelgen.models.context import LeftOutItem, LeftOutWhy
from novelgen.models.folds import HOLDER_ATTRIBUTE
from novelgen.models.position import sort_key
from novelgen.models.state import PRESENCE_ATTRIBUTE, EntityStateSnapshot, Relationship

TimelineNeed = Literal["obligations", "relations", "timeline"]

MAX_LISTED_THREADS = 8
"""Of the threads that a scene could pay off; a longer list hides the right one."""

RECENT_SCENES = 10
"""What changed before so many last scenes, of what no line of state tells, is no recent change."""

_WHEREABOUTS = frozenset({LOCATION_ATTRIBUTE, PLACE_ATTRIBUTE, PRESENCE_ATTRIBUTE, HOLDER_ATTRIBUTE})
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


@dataclass(frozen=True, slots=True)
class FilledTimeline:
    """What was taken and what was not, with the reason, each in the order in which it came up."""

    taken: tuple[TimelineLine, ...]
    left_out: tuple[tuple[TimelineLine, LeftOutWhy], ...]

    def tokens_per_need(self) -> dict[TimelineNeed, int]:
        """Tokens of what was taken, for every need."""
        spent: dict[TimelineNeed, int] = {"obligations": 0, "relations": 0, "timeline": 0}
        for line in self.taken:
            spent[need_of(line.section)] += line.tokens
        return spent


def fill_timeline(
    lines: Mapping[str, Sequence[TimelineLine]], *, budget_tokens: int, quotas: NeedQuotas
) -> FilledTimeline:
    """Take lines until the budget is full."""
    taken: list[TimelineLine] = []
    left_out: list[tuple[TimelineLine, LeftOutWhy]] = []
    waiting: list[TimelineLine] = []
    used: Counter[str] = Counter()

    def offer(line: TimelineLine, why_not: LeftOutWhy) -> None:
        if used.total() + line.tokens <= budget_tokens:
            taken.append(line)
            used[line.section] += line.tokens
        else:
            left_out.append((line, why_not))

    told = {"budget": str(budget_tokens)}
    no_room = LeftOutWhy(code="no_room_in_timeline", values=told)
    rounds = range(max((len(each) for each in lines.values()), default=0))
    ordered = [lines[section][depth] for depth in rounds for section in FILL_ORDER if depth < len(lines[section])]
    for line in sorted(ordered, key=lambda line: line.section != "open_loops"):
        quota = _QUOTA_OF.get(line.section)
        if quota and used[line.section] + line.tokens > quotas.tokens(quota, budget_tokens):
            waiting.append(line)
        else:
            offer(line, no_room)
    for line in waiting:
        over = {**told, "quota": quotas.described(_QUOTA_OF[line.section])}
        offer(line, LeftOutWhy(code="over_timeline_quota", values=over))
    return FilledTimeline(tuple(taken), tuple(left_out))


class AssembledTimeline(BaseModel):
    """`timeline_context` within its budget; None when there is nothing to tell."""

    timeline: dict[str, list[dict[str, Any]]] | None = None
    tokens: int = 0
    tokens_per_need: dict[str, int] = Field(default_factory=dict, description="Adds up to `tokens`.")
    left_out: list[LeftOutItem] = Field(default_factory=list)


def assemble_timeline(
    outline: StoryOutline | None,
    snapshots: Sequence[EntityStateSnapshot],
    names: Mapping[str, str],
    *,
    entity_ids: Sequence[str],
    shown_states: Sequence[EntityStateSnapshot],
    labels: Labels,
    budget_tokens: int,
    count_tokens: Callable[[str], int],
    quotas: NeedQuotas = DEFAULT_QUOTAS,
    pov_id: str | None = None,
    ahead: SceneAhead | None = None,
) -> AssembledTimeline:
    """Fill the timeline, threads first, then in rounds over its sections until the budget is full."""

    def line(section: str, depth: int, entry: dict[str, Any]) -> TimelineLine:
        text = render_timeline_entry(section, entry, names, labels=labels)
        return TimelineLine(section, depth, entry, text, count_tokens(text))

    ahead = ahead or SceneAhead(entity_ids=frozenset(entity_ids))
    wanted = _wanted_entries(outline, snapshots, entity_ids, shown_states, pov_id, ahead)
    lines = {
        section: [line(section, depth, entry) for depth, entry in enumerate(entries)]
        for section, entries in wanted.items()
    }
    too_many = lines["open_loops"][MAX_LISTED_THREADS:]
    lines["open_loops"] = lines["open_loops"][:MAX_LISTED_THREADS]
    over_threads = LeftOutWhy(code="over_threads", values={"limit": str(MAX_LISTED_THREADS)})
    filled = fill_timeline(lines, budget_tokens=budget_tokens, quotas=quotas)
    timeline = {
        section: _in_story_order(taken)
        for section in SECTION_ORDER
        if (taken := [each for each in filled.taken if each.section == section])
    }
    return AssembledTimeline(
        timeline=timeline or None,
        tokens=sum(each.tokens for each in filled.taken),
        tokens_per_need=dict(filled.tokens_per_need()),
        left_out=[
            *(_left_out(each, why) for each, why in filled.left_out),
            *(_left_out(each, over_threads) for each in too_many),
        ],
    )


def _wanted_entries(
    outline: StoryOutline | None,
    snapshots: Sequence[EntityStateSnapshot],
    entity_ids: Sequence[str],
    shown_states: Sequence[EntityStateSnapshot],
    pov_id: str | None,
    ahead: SceneAhead,
) -> dict[str, list[dict[str, Any]]]:
    touched = set(entity_ids)
    shown = {state.entity_id for state in shown_states}
    last = outline.scenes[-RECENT_SCENES:] if outline is not None else []
    since = (last[0].chapter_index, last[0].scene_index) if last else (-1, -1)
    # A state is told whole: of several chapters' the last has what still holds.
    newest: dict[str, EntityStateSnapshot] = {}
    for each in reversed(snapshots):
        newest.setdefault(each.entity_id, each)
    changes = [
        {
            "entity_id": each.entity_id,
            "chapter_index": each.chapter_index,
            "scene_index": each.scene_index,
            "state_data": {key: value for key, value in each.state_data.items() if key != PRESENCE_ATTRIBUTE},
            **({"unverified": list(each.unverified)} if each.unverified else {}),
        }
        for each in newest.values()
        if each.entity_id not in shown
        and sort_key(each.chapter_index, each.scene_index) >= since
        and (each.state_data.keys() - _WHEREABOUTS or each.state_data.get(HOLDER_ATTRIBUTE) in touched)
    ]
    entries: dict[str, list[dict[str, Any]]] = {section: [] for section in FILL_ORDER}
    entries["snapshots"] = changes
    if outline is not None:
        entries["open_loops"] = [
            loop.model_dump(mode="json", exclude={"resolution_summary"}) for loop in threads_by_pay_off(outline, ahead)
        ]
        entries["relationships"] = [
            _relationship_entry(each, pov_id)
            for each in _touching_relationships(outline.relationships, touched, pov_id)
        ]
    return entries


def _touching_relationships(
    relationships: Sequence[Relationship], touched: set[str], pov_id: str | None
) -> list[Relationship]:
    """Relationships whose both sides the scene touches: the point of view's, then the most intense and recent."""
    both = [each for each in relationships if {each.character_a, each.character_b} <= touched]
    return sorted(
        both,
        key=lambda each: (
            pov_id not in (each.character_a, each.character_b),
            -each.intensity,
            -(each.chapter_index or 0),
            -(each.scene_index or 0),
            each.relationship_id,
        ),
    )


def _relationship_entry(relationship: Relationship, pov_id: str | None) -> dict[str, Any]:
    entry = relationship.model_dump(mode="json", exclude={"history"})
    if pov_id in (relationship.character_a, relationship.character_b):
        entry["seen_by"] = pov_id
    latest = next((event for event in reversed(relationship.history) if event.event), None)
    if latest is not None:
        entry["latest_event"] = latest.event
        place = (latest.chapter_index, latest.scene_index)
        if place != (relationship.chapter_index, relationship.scene_index):
            entry["latest_event_place"] = list(place)
    return entry


def _in_story_order(lines: Sequence[TimelineLine]) -> list[dict[str, Any]]:
    """Return entries in story order, after the relationships of the point of view; threads as they were chosen."""

    def order(line: TimelineLine) -> tuple[bool, int, int, int]:
        if line.section == "open_loops":
            return (True, 0, 0, line.depth)
        place = sort_key(line.entry.get("chapter_index"), line.entry.get("scene_index"))
        return ("seen_by" not in line.entry, *place, line.depth)

    return [dict(line.entry) for line in sorted(lines, key=order)]


def _left_out(line: TimelineLine, why: LeftOutWhy) -> LeftOutItem:
    name = line.entry.get("loop_id") or line.entry.get("relationship_id") or line.entry.get("entity_id") or ""
    told_of = f"{line.section}:{name}" if name else line.section
    return why.item(section="timeline", id=told_of, text=line.text, tokens=line.tokens)
