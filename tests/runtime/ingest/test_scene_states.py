"""State changes of a scene."""

from __future__ import annotations

import pytest

from novelgen.models.record import SceneRecord
from runtime.ingest.scene_facts import presence_states, recorded_states
from runtime.ingest.scene_input import RecordOrigin


def test_every_recorded_attribute_is_an_explicit_change() -> None:
    """A record's changes come one per attribute, in order, None included."""
    record = SceneRecord.model_validate(
        {
            "chapter_index": 4,
            "scene_index": 2,
            "state_changes": [
                {"entity_id": "C0", "changes": {"mood": "calm", "goals": ["a", "b"]}},
                {"entity_id": "I3", "changes": {"holder": None}},
                {"entity_id": "L1", "changes": {"tension": 3}},
            ],
        }
    )
    changes = recorded_states(record, text="", made_by="supplied", entity_types={"L1": "faction"})
    assert [(each.entity_id, each.entity_type, each.attribute, each.value) for each in changes] == [
        ("C0", "character", "mood", "calm"),
        ("C0", "character", "goals", ["a", "b"]),
        ("I3", "item", "holder", None),
        ("L1", "faction", "tension", 3),
    ]
    assert {(each.kind, each.chapter_index, each.scene_index) for each in changes} == {("explicit", 4, 2)}


def test_presence_says_where_and_when() -> None:
    """Everybody on stage gets one presence with the place and the position."""
    changes = presence_states(
        ["C1", "hero", "C1"], location_id="L2", chapter_index=1, scene_index=5, entity_types={}
    )
    assert [(each.entity_id, each.entity_type, each.kind) for each in changes] == [
        ("C1", "character", "presence"),
        ("hero", "character", "presence"),
    ]
    assert changes[0].attribute == "presence"
    assert changes[0].value == {"location_id": "L2", "chapter_index": 1, "scene_index": 5}


def test_nobody_on_stage_brings_no_presence() -> None:
    """An empty stage changes nothing, even when the place is known."""
    assert presence_states([], location_id="L2", chapter_index=1, scene_index=5, entity_types={}) == []


@pytest.mark.parametrize(
    ("made_by", "evidence", "expected"),
    [
        ("extracted", "the lamp went out", (True, (4, 21))),
        ("extracted", "the lamp was lit again", (False, None)),
        ("extracted", None, (False, None)),
        ("supplied", "the lamp was lit again", (False, None)),
        ("supplied", None, (True, None)),
        ("author", "the lamp was lit again", (True, None)),
        ("author", "the lamp went out", (True, (4, 21))),
    ],
)
def test_a_change_is_verified_by_its_quote(
    made_by: RecordOrigin, evidence: str | None, expected: tuple[bool, tuple[int, int] | None]
) -> None:
    """A model owes a quote for each change, what is supplied without one is given, and authors owe none."""
    record = SceneRecord.model_validate(
        {
            "chapter_index": 1,
            "scene_index": 1,
            "state_changes": [{"entity_id": "I0", "changes": {"state": "dark"}, "evidence": evidence}],
        }
    )
    [change] = recorded_states(record, text="And the lamp went out.", made_by=made_by, entity_types={})
    assert (change.verified, change.source_span) == expected
