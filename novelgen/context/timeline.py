"""The timeline of a context: open threads, relationships and changes, within its budget."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from novelgen.context.lines import SECTION_ORDER, Labels, render_timeline_entry
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

    def left_out(self, why: LeftOutWhy) -> LeftOutItem:
        """Return what is told of it where it is not taken."""
        name = next((self.entry[key] for key in ("loop_id", "relationship_id", "entity_id") if self.entry.get(key)), "")
        told_of = f"{self.section}:{name}" if name else self.section
        return why.item(section="timeline", id=told_of, text=self.text, tokens=self.tokens)

    @property
    def place_told(self) -> tuple[bool, int, int, int]:
        """Sort key: story order, after the relationships of the point of view; threads as they were chosen."""
        if self.section == "open_loops":
            return (True, 0, 0, self.depth)
        place = sort_key(self.entry.get("chapter_index"), self.entry.get("scene_index"))
        return ("seen_by" not in self.entry, *place, self.depth)


@dataclass(frozen=True)
class AssembledTimeline:
    """`timeline_context` within its budget; None when there is nothing to tell."""

    timeline: dict[str, list[dict[str, Any]]] | None
    tokens_per_need: dict[str, int]
    left_out: list[LeftOutItem]

    @property
    def tokens(self) -> int:
        """What it costs."""
        return sum(self.tokens_per_need.values())


def fill_timeline(
    lines: Mapping[str, Sequence[TimelineLine]], *, budget_tokens: int, quotas: NeedQuotas
) -> AssembledTimeline:
    """Take lines until the budget is full."""
    taken: list[TimelineLine] = []
    left_out: list[LeftOutItem] = []
    waiting: list[TimelineLine] = []
    used: Counter[str] = Counter()

    def offer(line: TimelineLine, why_not: LeftOutWhy) -> None:
        if used.total() + line.tokens <= budget_tokens:
            taken.append(line)
            used[line.section] += line.tokens
        else:
            left_out.append(line.left_out(why_not))

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
    sections = {
        section: [
            dict(each.entry) for each in sorted(taken, key=lambda each: each.place_told) if each.section == section
        ]
        for section in SECTION_ORDER
    }
    return AssembledTimeline(
        timeline={section: entries for section, entries in sections.items() if entries} or None,
        tokens_per_need={need_of(section): used[section] for section in FILL_ORDER},
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

    wanted = {
        "open_loops": [
            loop.model_dump(mode="json", exclude={"resolution_summary"}) for loop in threads_by_pay_off(outline, ahead)
        ],
        "relationships": _relationships(outline.relationships, ahead.entity_ids, pov_id),
        "snapshots": _changes(outline, snapshots, ahead.entity_ids, shown_states),
    }
    lines = {
        section: [line(section, depth, entry) for depth, entry in enumerate(entries)]
        for section, entries in wanted.items()
    }
    too_many = lines["open_loops"][MAX_LISTED_THREADS:]
    lines["open_loops"] = lines["open_loops"][:MAX_LISTED_THREADS]
    filled = fill_timeline(lines, budget_tokens=budget_tokens, quotas=quotas)
    over_threads = LeftOutWhy(code="over_threads", values={"limit": str(MAX_LISTED_THREADS)})
    return replace(filled, left_out=[*filled.left_out, *(each.left_out(over_threads) for each in too_many)])


def _changes(
    outline: StoryOutline,
    snapshots: Sequence[EntityStateSnapshot],
    touched: Collection[str],
    shown_states: Sequence[EntityStateSnapshot],
) -> list[dict[str, Any]]:
    shown = {state.entity_id for state in shown_states}
    last = outline.scenes[-RECENT_SCENES:]
    since = story_place(last[0]) if last else (-1, -1)
    # A state is told whole: of several chapters' the last has what still holds.
    newest: dict[str, EntityStateSnapshot] = {}
    for each in reversed(snapshots):
        newest.setdefault(each.entity_id, each)
    return [
        {
            "entity_id": each.entity_id,
            "chapter_index": each.chapter_index,
            "scene_index": each.scene_index,
            "state_data": {key: value for key, value in each.state_data.items() if key != PRESENCE_ATTRIBUTE},
            **({"unverified": list(each.unverified)} if each.unverified else {}),
        }
        for each in newest.values()
        if each.entity_id not in shown
        and story_place(each) >= since
        and (each.state_data.keys() - _WHEREABOUTS or each.state_data.get(HOLDER_ATTRIBUTE) in touched)
    ]


def _relationships(
    relationships: Sequence[Relationship], touched: Collection[str], pov_id: str | None
) -> list[dict[str, Any]]:
    """Relationships whose both sides the scene touches: the point of view's, then the most intense and recent."""
    both = sorted(
        (each for each in relationships if {each.character_a, each.character_b}.issubset(touched)),
        key=lambda each: (
            pov_id not in (each.character_a, each.character_b),
            -each.intensity,
            -(each.chapter_index or 0),
            -(each.scene_index or 0),
            each.relationship_id,
        ),
    )
    entries = []
    for each in both:
        entry = each.model_dump(mode="json", exclude={"history"})
        if pov_id in (each.character_a, each.character_b):
            entry["seen_by"] = pov_id
        latest = next((event for event in reversed(each.history) if event.event), None)
        if latest is not None:
            entry["latest_event"] = latest.event
            place = (latest.chapter_index, latest.scene_index)
            if place != (each.chapter_index, each.scene_index):
                entry["latest_event_place"] = list(place)
        entries.append(entry)
    return entries
