"""From what a model says of two characters to how they stand: roles, views, feelings within a scene's bounds."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from novelgen.language.language import has_cjk
from novelgen.models.folds import standing_after
from novelgen.models.record import RecordedRelationshipChange
from novelgen.models.state import DELTA_BOUNDS, DIMENSION_RANGES, Relationship, RelationshipDimension
from novelgen.reading.model_record import ModelRelationshipChange
from novelgen.reading.placing import Placer

Feelings = dict[RelationshipDimension, int]


def moved(name: RelationshipDimension, value: int, delta: int, *, on_entering: int) -> int:
    """Return a dimension after a change: within its range, and within a scene's bounds of what it was."""
    lowest, highest = DIMENSION_RANGES[name]
    bound = DELTA_BOUNDS[name]
    return max(lowest, on_entering - bound, min(highest, on_entering + bound, value + delta))


class RelationshipReader:
    """Reads the relationship changes of one answer, each onto how the pair stood before it."""

    def __init__(
        self,
        placer: Placer,
        *,
        so_far: Sequence[Relationship],
        on_entering: Sequence[Relationship],
        report_cut: Callable[[str], None],
    ) -> None:
        self._placer = placer
        self._so_far = _by_pair(so_far)
        self._on_entering = _by_pair(on_entering)
        self._report_cut = report_cut

    def read(self, changes: Sequence[ModelRelationshipChange]) -> list[RecordedRelationshipChange]:
        """Return the changes as a record states them, in the model's order of each pair."""
        found: list[RecordedRelationshipChange] = []
        for number, change in enumerate(changes):
            field = f"relationship_changes[{number}]"
            a = self._placer.one(change.character_a, "character", field=f"{field}.character_a")
            b = self._placer.one(change.character_b, "character", field=f"{field}.character_b")
            if a is not None and a == b:
                self._placer.refuse(field, change.character_b, f"both sides are {a}")
            if a is not None and b is not None and a != b:
                recorded = self._recorded(a, b, change)
                found.append(recorded)
                known = self._so_far.get(frozenset({a, b}))
                self._so_far[frozenset({a, b})] = standing_after(recorded, known)
        return found

    def _recorded(self, a: str, b: str, change: ModelRelationshipChange) -> RecordedRelationshipChange:
        known = self._so_far.get(frozenset({a, b}))
        said = change.model_fields_set
        pair, mine, theirs = self._feelings(a, b, change)
        return RecordedRelationshipChange(
            character_a=a,
            character_b=b,
            relationship_type=_type_said(change),
            status=change.status if known is None or "status" in said else known.status,
            perspective_a=change.perspective_a,
            perspective_b=change.perspective_b,
            intensity=change.intensity if known is None or "intensity" in said else known.intensity,
            event=change.event,
            dimensions=pair,
            dimensions_a=mine,
            dimensions_b=theirs,
        )

    def _feelings(self, a: str, b: str, change: ModelRelationshipChange) -> tuple[Feelings, Feelings, Feelings]:
        """The dimensions that moved, of the pair and of either side."""
        now = _Standing(self._so_far.get(frozenset({a, b})), a)
        entered = _Standing(self._on_entering.get(frozenset({a, b})), a)
        is_cut = False
        for each in change.dimensions:
            name = each.dimension
            is_of_both = each.of == "both" and not any(name in side for side in now.sides.values())
            parts = ["both"] if is_of_both else ["a", "b"] if each.of == "both" else [each.of]
            for part in parts if each.change else ():
                before = entered.of(part, name)
                value = moved(name, now.of(part, name), each.change, on_entering=before)
                is_cut = is_cut or abs(now.of(part, name) + each.change - before) > DELTA_BOUNDS[name]
                now.put(part, name, value)
        if is_cut:
            self._report_cut(f"{a} {b}")
        return now.moved["both"], now.moved["a"], now.moved["b"]


class _Standing:
    """What a pair, and either side of it, feels; the pair's where a side has nothing of its own."""

    def __init__(self, pair: Relationship | None, a: str) -> None:
        self._pair: Feelings = dict(pair.dimensions) if pair else {}
        is_first = pair is None or pair.character_a == a
        first = dict(pair.dimensions_a) if pair else {}
        second = dict(pair.dimensions_b) if pair else {}
        self.sides: dict[str, Feelings] = {"a": first if is_first else second, "b": second if is_first else first}
        self.moved: dict[str, Feelings] = {"both": {}, "a": {}, "b": {}}

    def of(self, part: str, name: RelationshipDimension) -> int:
        return self.sides.get(part, self._pair).get(name, self._pair.get(name, 0))

    def put(self, part: str, name: RelationshipDimension, value: int) -> None:
        self.sides.get(part, self._pair)[name] = value
        self.moved[part][name] = value


def _by_pair(relationships: Sequence[Relationship]) -> dict[frozenset[str], Relationship]:
    return {frozenset({each.character_a, each.character_b}): each for each in relationships}


def _type_said(change: ModelRelationshipChange) -> str:
    """What each is to the other, where they are not alike, in the order of the pair; else the type."""
    one, other = change.role_a, change.role_b
    if not one or not other or one == other:
        return change.relationship_type or one or other
    return f"{one}与{other}" if has_cjk(one) else f"{one} and {other}"
