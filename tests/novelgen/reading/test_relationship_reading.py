"""What a model says of two characters keeps its direction, and adds up within one scene."""

from typing import Any

import pytest

from novelgen.chains.scene_record_chain import SceneRecordChain
from novelgen.memory.merge import merge_records
from novelgen.models.folds import fold_relationship_changes, relationship_change_values
from novelgen.models.record import RecordedRelationshipChange, SceneRecord
from novelgen.models.state import Relationship
from novelgen.reading.known_story import SceneSoFar
from novelgen.reading.request import SceneRecordResult
from tests.novelgen.reading.keeper_scene import answer, request
from tests.support.scripted_chat_model import answering

FRIENDS = Relationship(
    relationship_id="R0", character_a="C0", character_b="C1", status="close", intensity=8,
    dimensions={"trust": 30}, dimensions_b={"fear": 5},
)  # fmt: skip


def moves(**moved: dict[str, Any]) -> list[dict[str, Any]]:
    """Return dimension changes as a model writes them: trust={"a": 5}."""
    return [
        {"dimension": name, "of": side, "change": change}
        for name, sides in moved.items()
        for side, change in sides.items()
    ]


def result_of(*changes: dict[str, Any], before: Relationship | None = FRIENDS) -> SceneRecordResult:
    """Return the result for the good answer with these relationship changes."""
    pairs = [{"character_a": "C0", "character_b": "C1", **change} for change in changes]
    model = answering(answer(relationship_changes=pairs))
    return SceneRecordChain(model).invoke(request(relationships=[before] if before else []))


def read(*changes: dict[str, Any], before: Relationship | None = FRIENDS) -> RecordedRelationshipChange:
    """Return what the record says of the pair."""
    record = result_of(*changes, before=before).record
    assert record is not None
    [found] = record.relationship_changes
    return found


@pytest.mark.parametrize(
    ("roles", "stored"),
    [
        (("killer", "victim"), "victim and killer"),
        (("凶手", "死者"), "死者与凶手"),
        (("rescuer who deceives her", "widow"), "widow / rescuer who deceives her"),
        (("head and owner", "widow"), "widow / head and owner"),
    ],
)
def test_a_pair_in_the_other_order_keeps_who_is_who(roles: tuple[str, str], stored: str) -> None:
    """C1 killed C0: the pair is stored as C0 C1, and its type and feelings are turned with it."""
    change = read(
        {
            "character_a": "C1",
            "character_b": "C0",
            "role_a": roles[0],
            "role_b": roles[1],
            "perspective_b": "terror",
            "dimensions": moves(fear={"b": 8}),
        }
    )
    values = relationship_change_values(change)
    assert values["relationship_type"] == stored
    assert (values["perspective_a"], values["perspective_b"]) == ("terror", None)
    assert (values["dimensions_a"], values["dimensions_b"], values["dimensions"]) == ({"fear": 8}, {}, {})


def test_a_feeling_of_one_side_is_not_the_others() -> None:
    """Each moves from where it stands, what both feel moves both; what is not said stays, strangers begin neutral."""
    change = read({"dimensions": moves(fear={"a": 3}, trust={"b": -5})})
    assert (change.dimensions, change.dimensions_a, change.dimensions_b) == ({}, {"fear": 3}, {"trust": 25})
    both = read({"dimensions": moves(fear={"both": 4}, trust={"both": -5})})
    assert (both.dimensions, both.dimensions_a, both.dimensions_b) == ({"trust": 25}, {"fear": 4}, {"fear": 9})
    change = read({"dimensions": moves(trust={"both": 5})})
    assert (change.status, change.intensity) == ("close", 8)
    first = read({"dimensions": moves(trust={"both": 5})}, before=None)
    assert (first.status, first.intensity, first.dimensions) == ("neutral", 5, {"trust": 5})


def test_the_changes_of_one_scene_add_up_within_its_bounds() -> None:
    """Two steps add; three cannot go beyond what a scene may move, which is said aloud."""
    steps = [{"dimensions": moves(trust={"both": 6}), "event": f"step {number}"} for number in (1, 2, 3)]
    assert read(*steps[:2]).dimensions == {"trust": 42}
    result = result_of(*steps)
    assert result.record is not None
    assert result.record.relationship_changes[0].dimensions == {"trust": 45}
    assert [issue.kind for issue in result.issues if "bounds" in issue.message] == ["over_limit"]


def test_windows_of_one_scene_add_up() -> None:
    """The next window goes on from where the one before left the pair, in either order; events are joined."""
    first = RecordedRelationshipChange(
        character_a="C0", character_b="C1", relationship_type="lender and borrower", event="She lends.",
        dimensions={"trust": 36}, dimensions_a={"fear": 2},
    )  # fmt: skip
    window = SceneRecord(chapter_index=3, scene_index=2, relationship_changes=[first])
    so_far = SceneSoFar.on_entering(request(relationships=[FRIENDS])).after(window, [])
    [pair] = so_far.relationships
    assert (pair.dimensions, pair.dimensions_a, pair.dimensions_b) == ({"trust": 36}, {"fear": 2}, {"fear": 5})
    assert so_far.request.relationships == [FRIENDS]
    second = RecordedRelationshipChange(
        character_a="C1", character_b="C0", perspective_a="kind", event="He swears.", dimensions_a={"respect": 4}
    )
    later = SceneRecord(chapter_index=3, scene_index=2, relationship_changes=[second])
    [merged] = merge_records([window, later], max_bullets=3).relationship_changes
    assert (merged.character_a, merged.relationship_type) == ("C0", "lender and borrower")
    assert (merged.perspective_b, merged.event) == ("kind", "She lends. He swears.")
    assert (merged.dimensions, merged.dimensions_a, merged.dimensions_b) == ({"trust": 36}, {"fear": 2}, {"respect": 4})


def test_what_is_said_of_both_replaces_what_a_side_had() -> None:
    """An author's fear=20 for the pair holds for both, until one side is told apart again."""
    changes = [
        RecordedRelationshipChange(character_a="C0", character_b="C1", dimensions_a={"fear": 40}),
        RecordedRelationshipChange(character_a="C0", character_b="C1", dimensions={"fear": 20}),
        RecordedRelationshipChange(character_a="C0", character_b="C1", dimensions_b={"fear": 1}),
    ]
    placed = [_Placed(change) for change in changes]
    folded = fold_relationship_changes(placed)
    assert (folded["dimensions"], folded["dimensions_a"], folded["dimensions_b"]) == ({"fear": 20}, {}, {"fear": 1})


def test_each_side_sees_its_own_feelings() -> None:
    """Ben's fear of Ada is not Ada's of Ben."""
    ada, ben = FRIENDS.seen_by("C0"), FRIENDS.seen_by("C1")
    assert (ada.dimensions, ada.their_dimensions) == ({"trust": 30}, {"trust": 30, "fear": 5})
    assert (ben.dimensions, ben.their_dimensions) == ({"trust": 30, "fear": 5}, {"trust": 30})


class _Placed:
    """A recorded change as a stored one, without a position."""

    chapter_index = scene_index = None

    def __init__(self, change: RecordedRelationshipChange) -> None:
        self.__dict__.update(relationship_change_values(change))
