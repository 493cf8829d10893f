"""The comparison of orders of threads, on a story of four scenes."""

from novelgen.models.record import SceneRecord
from tests.benchmarks.thread_pressure import shares


def test_each_order_is_scored_by_what_the_next_scenes_pay() -> None:
    """Of five threads the oldest is paid in the last scene: found by age, missed by what moved last."""
    planted = [{"id": f"OL{number}", "description": "a vow"} for number in range(5)]
    records = [
        {"scene_index": 1, "open_loops_created": planted[:1]},
        {"scene_index": 2, "open_loops_created": planted[1:]},
        {"scene_index": 3},
        {"scene_index": 4, "open_loops_resolved": [{"id": "OL0", "resolution_summary": "kept"}]},
    ]
    story = [SceneRecord.model_validate({"chapter_index": 1, **record}) for record in records]
    found = shares(story, scenes_ahead=1)
    assert found["age, oldest first"] == (1.0, 1.0)
    assert found["moved last first"] == (0.0, 1.0)
    assert found["chance"] == (0.6, 1.0)
