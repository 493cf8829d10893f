"""States, timeline entries, earlier scenes and single values as lines of a prompt block, within bounds."""

from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import BaseModel, Field

from novelgen.context.labels import Labels
from novelgen.language.language import TokenCounter
from novelgen.memory.attributes import (
    DESCRIPTION_ATTRIBUTE,
    DISGUISE_ATTRIBUTE,
    INVENTORY_ATTRIBUTE,
    LOCATION_ATTRIBUTE,
    PASSING_ATTRIBUTE,
    PLACE_ATTRIBUTE,
    is_death,
)
from novelgen.memory.stated import NAME_ATTRIBUTE
from novelgen.models.context import LeftOff, ToldBefore
from novelgen.models.entity import is_entity_id
from novelgen.models.folds import HOLDER_ATTRIBUTE
from novelgen.models.pair_types import read_sides
from novelgen.models.position import Place, place_text, place_told, sort_key
from novelgen.models.state import GUESSED, PRESENCE_ATTRIBUTE, UNRESOLVED_STATUSES, EntityStateSnapshot

Placing = tuple[int | None, int | None]
"""Chapter and scene of something, each None where it has none."""

HOLDS = "holds"
"""Under which name a line tells the things that have somebody as their holder."""

ATTRIBUTE_ORDER = (
    "status",
    "identity",
    "disguise",
    DESCRIPTION_ATTRIBUTE,
    "location_id",
    "place",
    "holder",
    "condition",
    "physical_state",
    "inventory",
    HOLDS,
    "knowledge",
    "goals",
    "emotional_state",
    "for_now",
)

MIND_ATTRIBUTES = frozenset({"knowledge", "goals", "emotional_state", "secrets"})
"""What somebody wants, knows and hides: told among the people, not among the facts that hold for all."""


AGEING_ATTRIBUTES = frozenset({"status", "disguise", "condition", "physical_state", "emotional_state", "goals"})
"""What may be over though no scene said so: told with its scene where its bearer has been seen or changed since."""

WHEREABOUTS = frozenset({LOCATION_ATTRIBUTE, PLACE_ATTRIBUTE, HOLDER_ATTRIBUTE})
"""What is over as soon as anybody walks or gives: told with its scene where the story went on since."""


LIVING_ATTRIBUTES = frozenset({"goals", "emotional_state", PASSING_ATTRIBUTE})
"""What ends with a life."""


class RenderedStates(BaseModel):
    """State lines that fit a budget, and the omitted ones."""

    lines: dict[str, str] = Field(default_factory=dict, description="Entity id to what holds of it.")
    minds: dict[str, str] = Field(default_factory=dict, description="Entity id to what it wants, knows and hides.")
    held: dict[str, str] = Field(
        default_factory=dict, description="Of things without a line of their own: id to the holder whose line says it."
    )
    tokens: int = 0
    dropped: dict[str, list[str]] = Field(default_factory=dict, description="Entity id to attributes left out.")


def render_states(
    snapshots: Sequence[EntityStateSnapshot],
    names: Mapping[str, str],
    *,
    labels: Labels,
    budget_tokens: int,
    count_tokens: TokenCounter,
    also_called: Mapping[str, str] | None = None,
) -> RenderedStates:
    """Render states in rounds, the weightiest attribute of each first, so that all are served before any is twice."""
    others = (also_called or {}).items()
    heads = {
        **names,
        **{entity_id: f"{names.get(entity_id, entity_id)}{labels.also.format(other)}" for entity_id, other in others},
    }
    holders = {thing_id: snapshot.entity_id for snapshot in snapshots for thing_id in snapshot.holds}
    holders_by_id = {
        snapshot.entity_id: holders[snapshot.entity_id]
        for snapshot in snapshots
        if snapshot.entity_id in holders and _is_merely_held(snapshot)
    }
    beside = {snapshot.entity_id: snapshot for snapshot in snapshots}
    parts = [
        [] if snapshot.entity_id in holders_by_id else state_parts(snapshot, names, labels, beside=beside)
        for snapshot in snapshots
    ]
    factual = {index for index, part in enumerate(parts) if {name for name, _ in part} - MIND_ATTRIBUTES}
    taken_entries: list[dict[bool, list[str]]] = [{False: [], True: []} for _ in snapshots]
    dropped: dict[str, list[str]] = {}
    used_tokens = 0

    def line(index: int, texts: Sequence[str], *, is_mind: bool) -> str:
        entity_id = snapshots[index].entity_id
        display_names = names if is_mind and index in factual else heads
        return f"- {display_names.get(entity_id, entity_id)}{labels.colon}{labels.separator.join(texts)}"

    for depth in range(max((len(part) for part in parts), default=0)):
        for index, part in enumerate(parts):
            if depth >= len(part):
                continue
            attribute, text = part[depth]
            is_mind = attribute in MIND_ATTRIBUTES
            told_texts = taken_entries[index][is_mind]
            before = count_tokens(line(index, told_texts, is_mind=is_mind)) if told_texts else 0
            cost = count_tokens(line(index, [*told_texts, text], is_mind=is_mind)) - before
            if used_tokens + cost <= budget_tokens:
                told_texts.append(text)
                used_tokens += cost
            else:
                dropped.setdefault(snapshots[index].entity_id, []).append(attribute)
    lines, minds = (
        {
            snapshot.entity_id: line(index, taken_entries[index][is_mind], is_mind=is_mind)
            for index, snapshot in enumerate(snapshots)
            if taken_entries[index][is_mind]
        }
        for is_mind in (False, True)
    )
    told_of = {
        thing_id: holder_id
        for thing_id, holder_id in holders_by_id.items()
        if holder_id in lines and not {HOLDS, INVENTORY_ATTRIBUTE} & set(dropped.get(holder_id, ()))
    }
    return RenderedStates(lines=lines, minds=minds, held=told_of, tokens=used_tokens, dropped=dropped)


def _is_merely_held(thing: EntityStateSnapshot) -> bool:
    """Tell whether nothing but its holder is known of a thing."""
    return (
        not thing.unverified
        and not thing.believed
        and not thing.guessed_in
        and thing.state_data.keys() <= {HOLDER_ATTRIBUTE, PRESENCE_ATTRIBUTE}
    )


def render_attribute(
    name: str,
    value: Any,
    names: Mapping[str, str],
    labels: Labels,
    *,
    kind: str = "",
    is_proven: bool = True,
    is_guess: bool = False,
    as_of: str = "",
    believed_by: str | None = None,
) -> str:
    """Render one attribute and its value, with marks for unproven, guessed, believed and old ones."""
    mark = "" if is_proven else labels.unverified
    mark += belief_mark(believed_by, names, labels)
    mark += labels.guess if is_guess else ""
    return f"{labels.attribute(name, kind)}{as_of}{labels.colon}{render_value(value, names, labels)}{mark}"


def belief_mark(believed_by: str | None, names: Mapping[str, str], labels: Labels) -> str:
    """Return what stands behind a value that somebody still takes for true, empty without them."""
    return "" if believed_by is None else labels.believed.format(names.get(believed_by, labels.point_of_view))


def render_value(value: Any, names: Mapping[str, str], labels: Labels) -> str:
    """Render one attribute's value: ids become names, lists and dicts are joined."""
    if isinstance(value, Mapping):
        pairs = (f"{key}{labels.colon}{render_value(item, names, labels)}" for key, item in value.items())
        return labels.list_separator.join(pairs)
    if isinstance(value, list | tuple):
        return labels.list_separator.join(render_value(item, names, labels) for item in value)
    return names.get(str(value)) or labels.value(value)


def state_parts(
    snapshot: EntityStateSnapshot,
    names: Mapping[str, str],
    labels: Labels,
    *,
    beside: Mapping[str, EntityStateSnapshot] | None = None,
) -> list[tuple[str, str]]:
    """Return attributes with lines, the weightiest first and unproven last."""
    now = max(map(_last_place, (snapshot, *(beside or {}).values())))
    over = LIVING_ATTRIBUTES if any(is_death(*pair) for pair in snapshot.state_data.items()) else ()
    data = {
        name: value
        for name, value in snapshot.state_data.items()
        if name not in over
        and value not in ("", [])
        and not is_left_behind(name, snapshot.since)
        and not _is_own_name(name, value, names.get(snapshot.entity_id), names)
    }
    carried = render_value(data.get("inventory", []), names, labels).casefold()
    held_names = [
        f"{names.get(entity_id, entity_id)}{_scene(said_place, now)}"
        for entity_id, said_place in _told_as_held(snapshot, beside)
        if not _is_unnamed(entity_id, names) and names.get(entity_id, entity_id).casefold() not in carried
    ]
    fields = {name: value for name, value in data.items() if not _is_unnamed(value, names)}
    fields |= {HOLDS: held_names} if held_names else {}
    ordered = [name for name in ATTRIBUTE_ORDER if name in fields]
    ordered += sorted(name for name in fields.keys() - {*ATTRIBUTE_ORDER, PRESENCE_ATTRIBUTE})
    parts = [
        (
            name,
            render_attribute(
                name,
                fields[name],
                names,
                labels,
                kind=snapshot.entity_type,
                is_proven=name not in snapshot.unverified,
                is_guess=name in (*snapshot.guessed_in, *snapshot.guessed),
                as_of=_aged(name, snapshot, now),
                believed_by=snapshot.believed.get(name),
            ),
        )
        for name in sorted(ordered, key=lambda text: text in snapshot.unverified)
    ]
    presence = None if over else data.get(PRESENCE_ATTRIBUTE)
    is_told = {"location_id", "place"} & data.keys()
    if isinstance(presence, Mapping) and not presence.get(GUESSED) and not is_told and HOLDER_ATTRIBUTE not in data:
        # Who was only seen, nobody knows where, was seen in a scene.
        scene = "" if parts else labels.in_scene.format(place_of(presence, labels))
        location_id = None if _is_unnamed(presence.get("location_id"), names) else presence.get("location_id")
        where = location_id or scene
        if where:
            statement = _scene(_place_seen(presence), now) if location_id else ""
            parts.append(
                (PRESENCE_ATTRIBUTE, render_attribute(PRESENCE_ATTRIBUTE, where, names, labels, as_of=statement))
            )
    return parts


def shown_state(snapshot: EntityStateSnapshot) -> dict[str, Any]:
    """Return a state without a place left behind, where a dead person was last seen, or a scene without a place."""
    data = {name: value for name, value in snapshot.state_data.items() if not is_left_behind(name, snapshot.since)}
    presence = data.get(PRESENCE_ATTRIBUTE)
    is_placed = isinstance(presence, Mapping) and bool(presence.get("location_id"))
    if not is_placed or any(is_death(*pair) for pair in data.items()):
        data.pop(PRESENCE_ATTRIBUTE, None)
    return data


def _told_as_held(
    snapshot: EntityStateSnapshot, beside: Mapping[str, EntityStateSnapshot] | None
) -> list[tuple[str, Placing | None]]:
    """Return the things that a line says somebody holds, each with where that was said, if it is known."""
    if beside is None:
        return [(held_id, None) for held_id in snapshot.holds]
    things = {held_id: beside[held_id] for held_id in snapshot.holds if held_id in beside}
    return [(text, thing.since.get(HOLDER_ATTRIBUTE)) for text, thing in things.items() if _is_merely_held(thing)]


def _is_own_name(attribute: str, value: Any, own_name: str | None, names: Mapping[str, str]) -> bool:
    """Tell whether somebody passes for, or is really called, what the line calls them."""
    return attribute in (DISGUISE_ATTRIBUTE, NAME_ATTRIBUTE) and names.get(str(value), value) == own_name


def is_left_behind(name: str, since: Mapping[str, Placing]) -> bool:
    """Tell whether a place is that of a thing before somebody took it.

    Args:
        name: The attribute.
        since: The places from which on the attributes of the thing hold; without one it holds from the start.
    """
    is_place = name in (LOCATION_ATTRIBUTE, PLACE_ATTRIBUTE)
    placed_place, taken_place = (sort_key(*since.get(one, (None, None))) for one in (name, HOLDER_ATTRIBUTE))
    return is_place and placed_place < taken_place


def _aged(name: str, snapshot: EntityStateSnapshot, now: Place) -> str:
    """Return the scene of a possibly outdated value.

    See `AGEING_ATTRIBUTES` and `WHEREABOUTS`. A mere belief always has its scene.
    """
    if name in snapshot.believed:
        return _scene(snapshot.since.get(name))
    if name in WHEREABOUTS:
        return _scene(snapshot.since.get(name), now)
    return _scene(snapshot.since.get(name), _last_place(snapshot)) if name in AGEING_ATTRIBUTES else ""


def _scene(said_place: Placing | None, now: Place | None = None) -> str:
    """Return a place in parentheses, where the story went on since; without `now` in any case."""
    if not said_place or not sort_key(*said_place) > (-1, -1) or (now is not None and sort_key(*said_place) >= now):
        return ""
    return f" [{place_text(*said_place, always='')}]"


def _last_place(snapshot: EntityStateSnapshot) -> Place:
    """Return where somebody or something was last seen or changed."""
    presence = snapshot.state_data.get(PRESENCE_ATTRIBUTE)
    presence_fields = presence if isinstance(presence, Mapping) and not presence.get(GUESSED) else {}
    return max(sort_key(*place) for place in [*snapshot.since.values(), _place_seen(presence_fields)])


def _place_seen(presence: Mapping[str, Any]) -> Placing:
    return presence.get("chapter_index"), presence.get("scene_index")


def _is_unnamed(value: Any, names: Mapping[str, str]) -> bool:
    """Return whether a value is an id without a known name."""
    return bool(names) and isinstance(value, str) and is_entity_id(value) and value not in names


DEFAULT_INTENSITY = 5
"""Not worth telling."""

NEUTRAL_STATUS = "neutral"
"""How two stand of whom nobody said how they stand."""

PLAIN_FEELING = 25
"""From this value of a dimension on it is a feeling, below it a slight one."""

STRONG_FEELING = 60
"""From this value of a dimension on it is a strong one."""

SECTION_ORDER = ("snapshots", "relationships", "open_loops")


def place_of(entry: Mapping[str, Any], labels: Labels) -> str:
    """Render an entry's source position."""
    return place_text(*place_told(entry), always=labels.everywhere)


def render_left_off(left_off: LeftOff, names: Mapping[str, str], *, labels: Labels) -> list[str]:
    """Render where the story left off: a line of the scene's place and people, then its last words by paragraph."""
    place = names.get(left_off.location_id or "", "")
    present = labels.list_separator.join(names[entity_id] for entity_id in left_off.present if entity_id in names)
    about = [left_off.title, left_off.story_time, place, labels.left_off_with.format(present) if present else ""]
    heading = f"[{place_of(left_off.model_dump(), labels)}] {labels.separator.join(filter(None, about))}".rstrip()
    heading += labels.guess if left_off.guessed_in else ""
    return [heading, *(line for line in left_off.text.splitlines() if line.strip())]


def render_told_before(before: ToldBefore, *, labels: Labels) -> str:
    """Render a scene, chapter or part of the story so far as a line."""
    start = f"{before.first_chapter}–" if before.level == "part" else ""
    about = labels.separator.join(filter(None, (before.title, before.story_time)))
    title = f"{about}{labels.colon}" if about and before.level != "chapter" else ""
    mark = labels.guess if before.guessed_in else ""
    return f"- [{start}{place_of(before.model_dump(), labels)}] {title}{before.text}{mark}"


def render_timeline_entry(section: str, entry: Mapping[str, Any], names: Mapping[str, str], *, labels: Labels) -> str:
    """Render one entry of `timeline_context`, or of the story so far, as a line with its source position."""
    if section == "story_so_far":
        return render_told_before(ToldBefore.model_validate(entry), labels=labels)
    mark = labels.guess if entry.get("guessed_in") else ""
    return f"- [{place_of(entry, labels)}] {_BODIES[section](entry, names, labels)}{mark}"


def _loop(entry: Mapping[str, Any], names: Mapping[str, str], labels: Labels) -> str:
    moving = f" ({labels.advanced})" if entry.get("status") == "advanced" else ""
    ending = ""
    if entry.get("status", "open") not in UNRESOLVED_STATUSES:
        how = entry.get("resolution_summary")
        ending = f" ({labels.thread_over}{labels.colon}{how})" if how else f" ({labels.thread_over})"
    return f"{entry['description']}{moving}{ending}{belief_mark(entry.get('believed_by'), names, labels)}"


def _relationship(entry: Mapping[str, Any], names: Mapping[str, str], labels: Labels) -> str:
    """Render a relationship: type, status, both views and the last event."""
    sides, kind = read_sides(
        entry["relationship_type"],
        type_reads_back=entry.get("type_reads_back", False),
        is_from_second=entry.get("seen_by") == entry["character_b"],
    )
    fields = {side: names.get(entry[f"character_{side}"], entry[f"character_{side}"]) for side in sides}
    feelings = {side: _feelings(entry.get(f"dimensions_{side}"), labels) for side in sides}
    both = _feelings(entry.get("dimensions"), labels)
    is_felt = bool(both or any(feelings.values()))
    # What somebody feels or thinks says more than that nobody gave a status, and must not be denied by it.
    is_told = is_felt or (not kind and any(entry.get(f"perspective_{side}") for side in sides))
    is_untold = entry["status"] == NEUTRAL_STATUS and (is_told or (kind and labels.language == "zh"))
    status = "" if is_untold else entry["status"]
    intensity = entry.get("intensity", DEFAULT_INTENSITY)
    weight = f"{labels.intensity} {intensity}" if intensity != DEFAULT_INTENSITY else ""
    standing_text = labels.list_separator.join(
        part for part in (" → ".join(item for item in (kind, status) if item), weight, both) if part
    )
    views = [
        f"{fields[side]}{labels.colon}{labels.list_separator.join(own)}"
        for side in sides
        if (own := [text for text in (entry.get(f"perspective_{side}"), feelings[side]) if text])
    ]
    pair = " – ".join(fields[side] for side in sides)
    heading = f"{pair}{labels.colon}{standing_text}" if standing_text else pair
    where = f" [{place_text(*place, always=labels.everywhere)}]" if (place := entry.get("latest_event_place")) else ""
    latest = [f"{labels.latest}{where}{labels.colon}{event}"] if (event := entry.get("latest_event")) else []
    return labels.separator.join([heading, *views, *latest])


def _feelings(values: Mapping[str, int] | None, labels: Labels) -> str:
    words = (dimension_in_words(name, value, labels) for name, value in (values or {}).items())
    return labels.list_separator.join(word for word in words if word)


def dimension_in_words(name: str, value: int, labels: Labels) -> str:
    """Return a dimension in words such as `deep distrust`, empty if neutral."""
    words = labels.dimensions.get(name)
    if words is None or not value:
        return ""
    strength = sum(abs(value) >= bound for bound in (PLAIN_FEELING, STRONG_FEELING))
    return words.above[strength] if value > 0 else words.below[strength]


def _snapshot(entry: Mapping[str, Any], names: Mapping[str, str], labels: Labels) -> str:
    name = names.get(entry["entity_id"], entry["entity_id"])
    state = entry["state_data"]
    unverified = entry.get("unverified", ())
    texts = [render_attribute(key, state[key], names, labels, is_proven=key not in unverified) for key in state]
    return f"{name}{labels.colon}{labels.separator.join(texts)}"


_BODIES = {"open_loops": _loop, "relationships": _relationship, "snapshots": _snapshot}
