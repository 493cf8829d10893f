"""The story before a scene in the ids that are shown: of a mask that has fallen, what is known is of who wore it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from novelgen.models.position import Place
from novelgen.models.state import EntityStateSnapshot, OpenLoop, Relationship, turned_type
from novelgen.reading.request import EntitySighting, SceneRecordRequest


def in_shown_ids(request: SceneRecordRequest) -> SceneRecordRequest:
    """Return a request in which every list speaks of those whom its entities show, and of nobody by a former id.

    Where two ids become one, the later state and the later standing of a pair hold; the lists of one that was
    masked until then are added to those of the other.
    """
    ids = _final_ids(request.stand_ins)
    if not ids:
        return request
    return request.model_copy(
        update={
            "stand_ins": ids,
            "states": _states(request.states, ids),
            "open_loops": [_thread(each, ids) for each in request.open_loops],
            "relationships": _relationships(request.relationships, ids),
            "present_ids": _each_once(request.present_ids, ids),
            "memories": [
                each.model_copy(update={"entities": _each_once(each.entities, ids)}) for each in request.memories
            ],
            "scenes_before": [
                each.model_copy(
                    update={
                        "location_id": _shown(each.location_id, ids),
                        "characters_present": _each_once(each.characters_present, ids),
                    }
                )
                for each in request.scenes_before
            ],
            "sightings": _sightings(request.sightings, ids),
        }
    )


def _final_ids(stand_ins: Mapping[str, str]) -> dict[str, str]:
    """Follow who became somebody who became somebody; a ring of them ends where it began."""
    final = {}
    for entity_id in stand_ins:
        met, now = {entity_id}, stand_ins[entity_id]
        while now in stand_ins and now not in met:
            met.add(now)
            now = stand_ins[now]
        if now != entity_id:
            final[entity_id] = now
    return final


def _shown(value: Any, ids: Mapping[str, str]) -> Any:
    """A value with whole strings that are former ids replaced; other words stay as they are."""
    if isinstance(value, list):
        return [_shown(each, ids) for each in value]
    return ids.get(value, value) if isinstance(value, str) else value


def _each_once(entity_ids: Iterable[str], ids: Mapping[str, str]) -> list[str]:
    return list(dict.fromkeys(ids.get(each, each) for each in entity_ids))


def _thread(thread: OpenLoop, ids: Mapping[str, str]) -> OpenLoop:
    return thread.model_copy(update={"related_entities": _each_once(thread.related_entities, ids)})


def _states(states: Sequence[EntityStateSnapshot], ids: Mapping[str, str]) -> list[EntityStateSnapshot]:
    found: dict[str, EntityStateSnapshot] = {}
    for state in sorted(states, key=_changed_at):
        entity_id = ids.get(state.entity_id, state.entity_id)
        data = {name: _shown(value, ids) for name, value in state.state_data.items()}
        before = found.pop(entity_id, None)
        if before is not None:
            # What was taken from a list since the mask fell would come back with the mask's own list.
            is_mask = state.entity_id in ids
            data = _joined(before.state_data, data) if is_mask else {**before.state_data, **data}
        found[entity_id] = state.model_copy(update={"entity_id": entity_id, "state_data": data})
    return list(found.values())


def _joined(earlier: Mapping[str, Any], later: Mapping[str, Any]) -> dict[str, Any]:
    joined = {**earlier, **later}
    for name, value in later.items():
        held = earlier.get(name)
        if isinstance(value, list) and isinstance(held, list):
            joined[name] = [*held, *(each for each in value if each not in held)]
    return joined


def _relationships(pairs: Sequence[Relationship], ids: Mapping[str, str]) -> list[Relationship]:
    found: dict[tuple[str, str], Relationship] = {}
    for pair in sorted(pairs, key=_changed_at):
        a, b = ids.get(pair.character_a, pair.character_a), ids.get(pair.character_b, pair.character_b)
        if a != b:
            found[min(a, b), max(a, b)] = _between(pair, a, b)
    return list(found.values())


def _between(pair: Relationship, a: str, b: str) -> Relationship:
    """The same standing between those whom its sides are shown as, the one first that sorts first."""
    if a < b:
        return pair.model_copy(update={"character_a": a, "character_b": b})
    return pair.model_copy(
        update={
            "character_a": b,
            "character_b": a,
            "relationship_type": turned_type(pair.relationship_type),
            "perspective_a": pair.perspective_b,
            "perspective_b": pair.perspective_a,
            "dimensions_a": pair.dimensions_b,
            "dimensions_b": pair.dimensions_a,
        }
    )


def _sightings(sightings: Mapping[str, EntitySighting], ids: Mapping[str, str]) -> dict[str, EntitySighting]:
    found: dict[str, EntitySighting] = {}
    for former, seen in sightings.items():
        entity_id = ids.get(former, former)
        other = found.get(entity_id)
        if other is not None:
            latest = max(seen, other, key=lambda each: (each.chapter_index, each.scene_index))
            seen = latest.model_copy(update={"scenes": seen.scenes + other.scenes})
        found[entity_id] = seen
    return found


def _changed_at(each: EntityStateSnapshot | Relationship) -> Place:
    return each.chapter_index or 0, each.scene_index or 0
