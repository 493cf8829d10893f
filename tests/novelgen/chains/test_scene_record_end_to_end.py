"""Extraction with a real small model; such a model extracts badly, so only structure is asserted."""

import pytest
from langchain_openai import ChatOpenAI

from novelgen.chains.scene_record_chain import SceneRecordChain
from novelgen.reading.conclusion import has_facts
from tests.novelgen.reading.keeper_scene import ENTITIES, TEXT, TEXT_ZH, request
from tests.support.scripted_chat_model import ScriptedChatModel
from tests.support.small_model_server import DEADLINE_S, MISSING, is_installed

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.timeout(900),
    pytest.mark.skipif(not is_installed(), reason=f"needs a small model: {MISSING}"),
]


@pytest.mark.parametrize(("text", "way"), [(TEXT, "json_schema"), (TEXT_ZH, "json_schema"), (TEXT, "prompt")])
def test_a_scene_is_recorded_or_failed_aloud(chat_model: ChatOpenAI, text: str, way: str) -> None:
    """Whatever the model writes, a record holds facts and known ids only, and a failure says why."""
    model = chat_model if way == "json_schema" else ScriptedChatModel(answer=chat_model.invoke)
    chain = SceneRecordChain(model, timeout_s=DEADLINE_S)
    result = chain.invoke(request(text))
    assert 1 <= result.model_calls <= 6
    if result.record is None:
        assert (result.status, bool(result.reason), bool(result.issues)) == ("failed", True, True)
        return
    known = {entity.entity_id for entity in ENTITIES}
    known |= {each.temporary_id for each in result.proposed_entities}
    record = result.record
    assert result.status == "done"
    assert has_facts(record)
    assert {each for memory in record.memories for each in memory.entities} <= known
    assert {change.entity_id for change in record.state_changes} <= known
