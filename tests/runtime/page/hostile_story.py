"""A story that wants to be HTML: every field of it that somebody writes."""

from typing import Any

from fastapi.testclient import TestClient

from novelgen.models.position import StoryPosition
from runtime.story.entities import StoryEntities

PROJECT = "evil & co"
ADDRESS = "/page/projects/evil%20&%20co"

EVIL = "<script>alert('x')</script>\"><img src=x onerror=alert(1)>{{7*7}}</textarea></pre></title>"
RIGHT_TO_LEFT = "\u202eevil\u202c \u0627\u0644\u0633\u0644\u0627\u0645 \u2067x\u2069"
EMOJI = "\U0001f469\u200d\U0001f680"
LONG = "la" * 50_000
QUOTE = "The lamp went out at noon."


def write_hostile_story(client: TestClient) -> None:
    """Make a project whose every field wants to be HTML, with a scene that holds a line of 100,000 characters."""
    made = client.post("/v1/projects", json={"project_id": PROJECT, "name": EVIL, "language": "en"})
    assert made.status_code == 201, made.text
    stores = client.app.state.novelgen.stores.of(PROJECT)  # type: ignore[attr-defined]
    added = StoryEntities(stores, PROJECT).add_character(
        name=f"Nell {EVIL}", role=EVIL, description=EVIL, start=StoryPosition(1, 1)
    )
    assert added.entity.entity_id == "C0"
    StoryEntities(stores, PROJECT).add_character(name=f"Wat {EVIL}", start=StoryPosition(1, 1))
    text = f"{EVIL}\n\n{RIGHT_TO_LEFT} {EMOJI}\n{QUOTE} And nobody lit it.\n{LONG}"
    body = {"text": text, "record": _record(EVIL), "title": EVIL}
    sent = client.put("/v1/projects/evil%20&%20co/scenes/1/1", json=body)
    assert sent.status_code == 200, sent.text


def _record(hostile: str) -> dict[str, Any]:
    return {
        "chapter_index": 1,
        "scene_index": 1,
        "title": hostile,
        "summary": [hostile],
        "story_time": hostile,
        "characters_present": ["C0", "C1"],
        "relationship_changes": [
            {
                "character_a": "C0",
                "character_b": "C1",
                "relationship_type": hostile,
                "perspective_a": hostile,
                "perspective_b": hostile,
                "event": hostile,
                "dimensions_a": {"trust": -40},
            }
        ],
        "state_changes": [{"entity_id": "C0", "changes": {"status": hostile, hostile: EMOJI}}],
        "open_loops_created": [
            {"id": "OL0", "category": hostile, "description": f"{hostile} {EMOJI}", "related_characters": ["C0"]}
        ],
        "memories": [
            {"memory_id": "M1", "content": f"{hostile} {RIGHT_TO_LEFT}", "entities": ["C0"], "evidence": QUOTE}
        ],
    }
