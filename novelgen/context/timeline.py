"""The timeline, the story so far and the previous scene's end, within budgets."""

from bisect import bisect_left
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from novelgen.context.lines import SECTION_ORDER, Labels, render_timeline_entry, render_told_before
from novelgen.language.language import TokenCounter
from novelgen.language.sentences import as_sentence, join_sentences, split_sentences
from novelgen.memory.attributes import LOCATION_ATTRIBUTE, PLACE_ATTRIBUTE
from novelgen.memory.merge import spread
from novelgen.memory.outline import OutlineScene, StoryOutline
from novelgen.memory.pay_off import SceneAhead, threads_by_pay_off
from novelgen.memory.weights import DEFAULT_QUOTAS, NeedQuotas
from novelgen.models.context import LeftOff, LeftOutItem, LeftOutWhy, PointOfView, ToldBefore
from novelgen.models.folds import HOLDER_ATTRIBUTE
from novelgen.models.position import StoryPosition, sort_key, story_place
from novelgen.models.state import PRESENCE_ATTRIBUTE, EntityStateSnapshot, Relationship

TimelineNeed = Literal["obligations", "relations", "timeline"]

MAX_LISTED_THREADS = 8
"""Of the threads that a scene could pay off; a longer list hides the right one."""

RECENT_SCENES = 10
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
    waiting_timeline_lines: list[TimelineLine] = []
    used_counter: Counter[str] = Counter()

    def offer(line: TimelineLine, why_not: LeftOutWhy) -> None:
        if used_counter.total() + line.tokens <= budget_tokens:
            timeline_lines.append(line)
            used_counter[line.section] += line.tokens
        else:
            left_out.append(line.left_out(why_not))

    texts = {"budget": str(budget_tokens)}
    no_room = LeftOutWhy(code="no_room_in_timeline", values=texts)
    rounds = range(max((len(timeline_lines) for timeline_lines in lines.values()), default=0))
    ordered = [lines[section][depth] for depth in rounds for section in FILL_ORDER if depth < len(lines[section])]
    for line in sorted(ordered, key=lambda line: line.section != "open_loops"):
        quota = _QUOTA_OF.get(line.section)
        if quota and used_counter[line.section] + line.tokens > quotas.tokens(quota, budget_tokens):
            waiting_timeline_lines.append(line)
        else:
            offer(line, no_room)
    for line in waiting_timeline_lines:
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
        tokens_per_need={need_of(section): used_counter[section] for section in FILL_ORDER},
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
            loop.model_dump(mode="json", exclude={"resolution_summary"}) for loop in threads_by_pay_off(outline, ahead)
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
    last = outline.scenes[-RECENT_SCENES:]
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


# --- Where the story left off ---

MOST_CHARACTERS_PER_TOKEN = 10
"""Of a long scene no more is looked at than could fit; English has four to five, Chinese one or two."""

SCENE_SHARE = 0.8
"""Of the room of the story so far its last scenes get so much; the chapters before them half of what is left where
there are parts, and the parts the rest."""

MAX_SENTENCES = 8
"""Of one summary; of a row of them, where they do not fit, fewer of each."""


def scene_before(
    scenes: Sequence[OutlineScene], view: PointOfView | None, *, as_of: StoryPosition
) -> OutlineScene | None:
    """Return the scene before the planned one, or the point of view's last scene."""
    is_cut = view is not None and view.mode != "mark"
    character_id = view.character_id if view is not None else None
    return next(
        (
            scene
            for scene in reversed(scenes)
            if as_of.admits(scene.chapter_index, scene.scene_index)
            and (not is_cut or character_id in scene.participants)
        ),
        None,
    )


def left_off(scene: OutlineScene, text: str, *, budget_tokens: int, count_tokens: TokenCounter) -> LeftOff | None:
    """Return the longest fitting end of a scene, or None."""
    tail = text[-budget_tokens * MOST_CHARACTERS_PER_TOKEN :]
    spans = split_sentences(tail)
    # Where the text was cut no sentence begins.
    first = 1 if len(tail) < len(text) else 0

    def cost_from(number: int) -> int:
        return count_tokens(tail[spans[number].start :].strip())

    def begins_paragraph(number: int) -> bool:
        return number == 0 or "\n" in tail[spans[number - 1].end : spans[number].start]

    begin = bisect_left(range(len(spans)), True, lo=first, key=lambda number: cost_from(number) <= budget_tokens)
    if begin >= len(spans):
        return None
    # What begins in the middle of somebody's speech reads as nobody's; half of the room is enough for paragraphs.
    paragraph = next((number for number in range(begin, len(spans)) if begins_paragraph(number)), begin)
    if cost_from(paragraph) * 2 >= budget_tokens:
        begin = paragraph
    return LeftOff(
        chapter_index=scene.chapter_index,
        scene_index=scene.scene_index,
        title=scene.title,
        location_id=None if scene.is_place_guessed else scene.location_id,
        present=[] if scene.is_cast_guessed else list(scene.participants),
        story_time=scene.story_time,
        text=tail[spans[begin].start :].strip(),
        tokens=cost_from(begin),
    )


def story_so_far(
    story: StoryOutline,
    *,
    as_of: StoryPosition,
    budget_tokens: int,
    labels: Labels,
    count_tokens: TokenCounter,
    guessed_scenes: Sequence[tuple[int, int]] = (),
) -> list[ToldBefore]:
    """Summarise the past, oldest first: parts, chapters, then the last scenes.

    Lines of `guessed_scenes`, in which a guess alone has the point of view, are marked.
    """

    def marked(before: ToldBefore) -> ToldBefore:
        scenes = [
            (chapter, scene)
            for chapter, scene in guessed_scenes
            if before.first_chapter <= chapter <= before.chapter_index and before.scene_index in (None, scene)
        ]
        return before.model_copy(update={"guessed_in": scenes}) if scenes else before

    def worded(before: ToldBefore, sentences: Sequence[str]) -> ToldBefore:
        """Return the line with the chosen sentences and its cost."""
        notice = before.model_copy(update={"text": join_sentences(sentences)})
        return notice.model_copy(update={"tokens": count_tokens(render_told_before(notice, labels=labels))})

    def shortened(before: ToldBefore, most: int) -> ToldBefore:
        """Return it in so many of its sentences, spread over all of them."""
        return worded(before, spread(_sentences(before.text), most))

    def fitting(rows: Sequence[ToldBefore], room: int) -> list[ToldBefore]:
        """Shorten all lines until they fit, at last keeping the nearest alone."""
        for most in range(MAX_SENTENCES, 0, -1):
            notices = [notice for row in rows if (notice := shortened(row, most)).text]
            if sum(notice.tokens for notice in notices) <= room:
                return notices
        return list(reversed(list(_while_fitting(reversed(notices), room)))) if rows else []

    before = [scene for scene in story.scenes if as_of.admits(scene.chapter_index, scene.scene_index)]
    room = int(SCENE_SHARE * budget_tokens)
    whole = (shortened(marked(_of_scene(scene)), MAX_SENTENCES) for scene in reversed(before))
    scenes = list(reversed(list(_while_fitting((notice for notice in whole if notice.text), room))))
    remaining_tokens = budget_tokens - sum(notice.tokens for notice in scenes)
    places = {story_place(notice) for notice in scenes}
    untold_numbers = {scene.chapter_index for scene in before if story_place(scene) not in places}
    last_in_parts = max((part.last_chapter for part in story.part_summaries), default=-1)
    over = [summary for summary in story.chapter_summaries if as_of.admits(summary.chapter_index, None)]
    wanted_summaries = [
        summary for summary in over if summary.chapter_index in untold_numbers or summary.origin == "author"
    ]
    recent = [summary for summary in wanted_summaries if summary.chapter_index > last_in_parts] or wanted_summaries[-1:]
    finished = [part for part in story.part_summaries if as_of.admits(part.last_chapter, None)]
    rows = [
        marked(_recap_line("chapter", summary.chapter_index, summary.chapter_index, text=summary.summary))
        for summary in recent
    ]
    chapters = fitting(rows, remaining_tokens // 2 if finished else remaining_tokens)
    remaining_tokens -= sum(notice.tokens for notice in chapters)
    untold_numbers -= {notice.chapter_index for notice in chapters}
    rows = [
        marked(_recap_line("part", part.first_chapter, part.chapter_index, title=part.title, text=part.summary))
        for part in finished
        if part.origin == "author"
        or any(part.first_chapter <= number <= part.last_chapter for number in untold_numbers)
    ]
    # What the finer say is left out of the coarser.
    said_texts: set[str] = set()
    kept_notices: list[ToldBefore] = []
    for notice in reversed([*fitting(rows, remaining_tokens), *chapters, *scenes]):
        sentences = [sentence for sentence in _sentences(notice.text) if sentence not in said_texts]
        said_texts.update(sentences)
        if sentences:
            kept_notices.append(worded(notice, sentences))
    return kept_notices[::-1]


def _recap_line(level: Literal["part", "chapter", "scene"], first: int, last: int, **more: Any) -> ToldBefore:
    return ToldBefore(level=level, first_chapter=first, chapter_index=last, tokens=0, **more)


def _of_scene(scene: OutlineScene) -> ToldBefore:
    bullets = scene.summary or scene.key_events
    return _recap_line(
        "scene",
        scene.chapter_index,
        scene.chapter_index,
        scene_index=scene.scene_index,
        title=scene.title,
        story_time=scene.story_time,
        text=join_sentences(as_sentence(" ".join(bullet.split())) for bullet in bullets if bullet.strip()),
    )


def _sentences(text: str) -> list[str]:
    return [text[span.start : span.end] for span in split_sentences(text)]


def _while_fitting(nearest_first: Iterable[ToldBefore], room: int) -> Iterator[ToldBefore]:
    for notice in nearest_first:
        if notice.tokens > room:
            return
        room -= notice.tokens
        yield notice
