"""A short scene in two languages, what is known on entering it, and a good answer about it."""

import copy
import json
from typing import Any

from langchain_core.messages import AIMessage

from novelgen.chains.scene_record_chain import SceneRecordChain
from novelgen.models.entity import Entity, EntityAlias
from novelgen.models.record import SceneRecord
from novelgen.models.state import EntityStateSnapshot, OpenLoop, Relationship
from novelgen.reading.request import SceneRecordRequest, SceneRecordResult
from tests.support.scripted_chat_model import answering
from tests.support.stories import NOW, PROJECT

TEXT = (
    "Ada climbed to the lamp room before dusk. Ben was trimming the wick with his left hand; the right hung in a "
    "sling.\n\n“I promised you I would keep it burning,” he said, “and I let it go out. On Tuesday. The Marigold "
    "came past at two in the morning.”\n\nShe put the brass key on the sill between them. “Keep it,” said Ada. "
    "“Mr. Thorne must not have it.”\n\nBen took the key and did not look at her."
)
TEXT_ZH = (
    "黄昏之前，阿黛爬上灯室。阿本正用左手修灯芯，右手吊在绷带里。“我答应过你不让灯灭，”他说，“可星期二它灭了。"
    "‘金盏花号’凌晨两点从这里经过。”她把铜钥匙放在两人之间的窗台上。“你收着，”阿黛说，“不能让索恩先生拿到。”"
    "阿本收起钥匙，没有看她。"
)

ENTITIES = [
    Entity(entity_id="C0", entity_type="character", name="Ada", aliases=[EntityAlias(alias="阿黛")]),
    Entity(
        entity_id="C1",
        entity_type="character",
        name="Ben",
        aliases=[EntityAlias(alias="the lamplighter"), EntityAlias(alias="阿本")],
    ),
    Entity(entity_id="I0", entity_type="item", name="the brass key", aliases=[EntityAlias(alias="铜钥匙")]),
    Entity(entity_id="L0", entity_type="location", name="the lighthouse"),
    Entity(entity_id="L1", entity_type="location", name="the lamp room", aliases=[EntityAlias(alias="灯室")]),
]

ANSWER: dict[str, Any] = {
    "title": "The lamp went out",
    "pov": "C0",
    "location": "L1",
    "story_time": "before dusk",
    "characters_present": ["C0", "Ben"],
    "new_entities": [
        {"name": "Mr. Thorne", "entity_type": "character", "aliases": [], "description": "Wants the key."}
    ],
    "summary": ["Ben admits that the lamp went out.", "Ada gives him the key.", "Thorne must not have it."],
    "key_events": ["Ada gives Ben the brass key"],
    "emotional_beats": ["Ben: shame"],
    "state_changes": [
        {"entity": "I0", "attribute": "holder", "value": "Ben", "evidence": "Ben took the key"},
        {"entity": "C1", "attribute": "physical state", "value": "right arm in a sling", "evidence": "in a sling"},
    ],
    "relationship_changes": [
        {
            "character_a": "C0",
            "character_b": "C1",
            "relationship_type": "friends",
            "status": "strained",
            "intensity": 6,
            "event": "he let the lamp go out",
            "dimensions": [{"dimension": "trust", "change": -40}],
        }
    ],
    "open_loops_created": [
        {"description": "Why does Thorne want the key?", "importance": "high", "entities": ["Mr. Thorne", "I0"]}
    ],
    "open_loops_moved": [{"id": "OL0", "note": "the lamp went out", "outcome": "resolved"}],
    "memories": [
        {
            "content": "Ben broke his promise to Ada: on Tuesday he let the lamp of the lighthouse go out.",
            "short": "Ben broke his promise to Ada; the lamp went out on Tuesday.",
            "event_type": "promise_broken",
            "importance": 4,
            "entities": ["C0", "C1"],
            "evidence": "and I let it go out",
        },
        {
            "content": "Ada gave Ben the brass key so that Mr. Thorne would not get it.",
            "short": "Ada gave Ben the brass key to keep it from Mr. Thorne.",
            "event_type": "transfer",
            "importance": 7,
            "entities": ["C0", "C1", "I0", "Mr. Thorne"],
            "slot": "I0.holder",
            "evidence": "She put the brass key on the sill",
        },
    ],
}


def answer(**changes: Any) -> str:
    """Return the good answer with some keys changed, as JSON."""
    return json.dumps({**copy.deepcopy(ANSWER), **changes}, ensure_ascii=False)


def answer_with_memory(**changes: Any) -> str:
    """Return the good answer with its first memory alone, changed."""
    return answer(memories=[{**ANSWER["memories"][0], **changes}])


def request(text: str = TEXT, **changes: Any) -> SceneRecordRequest:
    """Return the request for the scene."""
    state = EntityStateSnapshot(
        project_id=PROJECT,
        entity_type="item",
        entity_id="I0",
        timestamp=NOW,
        state_data={"holder": "C0", "presence": {"location_id": "L0"}},
    )
    loop = OpenLoop(loop_id="OL0", category="promise", description="Will Ben keep the lamp burning?")
    friends = Relationship(relationship_id="R0", character_a="C0", character_b="C1", dimensions={"trust": 30})
    given: dict[str, Any] = {
        "project_id": PROJECT,
        "chapter_index": 3,
        "scene_index": 2,
        "text": text,
        "entities": ENTITIES,
        "open_loops": [loop],
        "states": [state],
        "relationships": [friends],
        "max_bullets": 3,
    }
    return SceneRecordRequest.model_validate({**given, **changes})


def extracted(*answers: str | AIMessage, **changes: Any) -> SceneRecordResult:
    """Extract the scene with these answers."""
    return SceneRecordChain(answering(*answers)).invoke(request(**changes))


def recorded(*answers: str | AIMessage, **changes: Any) -> SceneRecord:
    """Return the record that comes of these answers."""
    record = extracted(*answers, **changes).record
    assert record is not None
    return record
