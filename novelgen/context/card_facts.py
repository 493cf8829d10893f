"""What authors say on the cards of the planned people that a draft must not contradict."""

from collections.abc import Mapping, Sequence
from typing import Any

from novelgen.context.labels import Labels
from novelgen.context.point_of_view import SHOWN_FIELDS, FoundStory, PointOfViewCut
from novelgen.context.rendering import render_attribute
from novelgen.language.language import TokenCounter
from novelgen.models.context import CardFacts
from novelgen.models.entity import Entity
from novelgen.models.state import EntityStateSnapshot

CARD_TOKENS = 120
"""At most, of what the states leave of their budget."""


def card_facts(
    found: FoundStory,
    planned_ids: Sequence[str],
    states: Sequence[EntityStateSnapshot],
    *,
    view_cut: PointOfViewCut | None,
    labels: Labels,
    budget_tokens: int,
    count_tokens: TokenCounter,
) -> list[CardFacts]:
    """Return the planned people's cards as of the scene, each field whole, within a budget.

    A card says first with which other cards it turned out to be one. A state of the same name stands in place of a
    field. Of a point of view it is what they know.
    """
    entities = {entity.entity_id: entity for entity in found.outline.entities}
    names, room = found.outline.names, min(CARD_TOKENS, budget_tokens)
    stated = {snapshot.entity_id: snapshot.state_data for snapshot in states}
    facts: list[CardFacts] = []
    for entity_id in dict.fromkeys(planned_ids):
        entity = entities.get(entity_id)
        if entity is None or entity.entity_type != "character" or entity_id not in names:
            continue
        fact = CardFacts(entity_id=entity_id, tokens=0)
        if entity.revealed_names:
            both = [entity.name, *entity.revealed_names]
            others = [name for name in both if name != names[entity_id]]
            one = fact.model_copy(update={"revealed_names": others})
            tokens = count_tokens(render_card_facts(one, names, labels=labels))
            fact = one.model_copy(update={"tokens": tokens}) if tokens <= room else fact
        for name, value in _fields(entity, stated.get(entity_id, {}), view_cut).items():
            longer = fact.model_copy(update={"fields": {**fact.fields, name: value}})
            tokens = count_tokens(render_card_facts(longer, names, labels=labels))
            if tokens <= room:
                fact = longer.model_copy(update={"tokens": tokens})
        if fact.fields or fact.revealed_names:
            facts.append(fact)
            room -= fact.tokens
    return facts


def render_card_facts(facts: CardFacts, names: Mapping[str, str], *, labels: Labels) -> str:
    """Render the fields of one card as a line."""
    texts = [render_attribute(name, value, names, labels) for name, value in facts.fields.items()]
    name = names.get(facts.entity_id, facts.entity_id)
    others = [other for other in facts.revealed_names if other != name]
    if others:
        name += labels.one_with.format(labels.list_separator.join(others))
    return f"- {name}{labels.colon if texts else ''}{labels.separator.join(texts)}"


def _fields(entity: Entity, state: Mapping[str, Any], view_cut: PointOfViewCut | None) -> dict[str, Any]:
    fields = {name: value for name in SHOWN_FIELDS if (value := entity.profile.get(name)) not in (None, "", [], {})}
    return {
        name: value
        for name, value in fields.items()
        if name not in state and (view_cut is None or view_cut.knows_of_card(entity.entity_id, f"{name} {value}"))
    }
