"""Chat models that plan nonsense: what the rules find must survive them."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence

from langchain_core.language_models import BaseChatModel, FakeListChatModel

from novelgen.models.entity import Entity

ANSWERS = 200
SEED = 7

_INVENTED = {
    "entities": ["X901", "Zaphod Beeblebrox"],
    "events": ["an invasion"],
    "queries": [{"query": "Zaphod Beeblebrox 占领 quantum reactor", "entities": ["X901"]}],
}


def garbage_models(entities: Sequence[Entity]) -> dict[str, BaseChatModel]:
    """Return one model per kind of garbage.

    Args:
        entities: The book's entities, of which one model names random ones.

    Returns:
        `empty` answers a plan without content, `ungrounded` names what no story knows, `known ids` answers
        well-formed plans about entities picked at random.
    """
    dice = random.Random(SEED)
    return {
        "empty": FakeListChatModel(responses=[json.dumps({"entities": [], "events": [], "queries": []})]),
        "ungrounded": FakeListChatModel(responses=[json.dumps(_INVENTED, ensure_ascii=False)]),
        "known ids": FakeListChatModel(responses=[_random_plan(entities, dice) for _ in range(ANSWERS)]),
    }


def _random_plan(entities: Sequence[Entity], dice: random.Random) -> str:
    picked = dice.sample(list(entities), min(6, len(entities)))
    queries = [{"query": each.name, "entities": [each.entity_id]} for each in picked]
    plan = {"entities": [each.entity_id for each in picked], "events": [], "queries": queries}
    return json.dumps(plan, ensure_ascii=False)
