"""Lasting traits that a draft may contradict: fields of a card, and disabilities of a person in the text."""

import re
from collections.abc import Iterator, Sequence

from novelgen.checking.findings import labels_of
from novelgen.checking.shared_ground import SENSES, Sense, shared_ground, without_names
from novelgen.checking.story import StoryBefore
from novelgen.context.rendering import render_value
from novelgen.language.sentences import split_sentences
from novelgen.models.continuity import ContinuityEvidence
from novelgen.models.dated_values import dated_values
from novelgen.models.entity import DATED, GUESSED_NAMES, Entity, profile_with_names

MAX_FIELD_CHARACTERS = 160

_CALLED = re.compile(r"\b(?:called|named|name was)\b|叫|称|名", re.IGNORECASE)


def card_sayings(
    entity: Entity, touched_texts: Sequence[str], story: StoryBefore
) -> tuple[list[ContinuityEvidence], list[ContinuityEvidence]]:
    """Return the fields of a card that share something with sentences of a draft, and the others.

    Args:
        entity: Whom or what the card is of, as the story had shown it.
        touched_texts: Sentences of the draft that name it.
        story: The story before the draft.
    """
    labels = labels_of(story)
    names = {known.entity_id: known.name for known in story.entities}
    profile = profile_with_names(entity, [], is_told=True)
    starts = {value.field: value.start for value in dated_values(entity) if value.start is not None}
    shared: list[ContinuityEvidence] = []
    others: list[ContinuityEvidence] = []
    for field, value in {"role": entity.role, "description": entity.description, **profile}.items():
        if (
            field in (DATED, GUESSED_NAMES)
            or isinstance(value, bool)
            or not isinstance(value, str | int | list)
            or not value
        ):
            continue
        text = render_value(value, names, labels)[:MAX_FIELD_CHARACTERS]
        chapter_index, start_scene = starts.get(field) or (None, None)
        saying = ContinuityEvidence(
            source="state",
            source_id=f"{entity.entity_id}.{field}",
            chapter_index=chapter_index,
            scene_index=None if start_scene is None else start_scene - 1,
            by_author=chapter_index is not None,
            text=labels.colon.join((entity.name, labels.attribute(field).replace("_", " "), text)),
            entity_ids=[entity.entity_id],
        )
        (shared if _bears_on(saying.text, touched_texts, entity.names()) else others).append(saying)
    return shared, others


def disability_sayings(entity_id: str, touched_texts: Sequence[str], story: StoryBefore) -> list[ContinuityEvidence]:
    """Return the first sentence of the text by which a person lacks what sentences of a draft use."""
    entity = story.entity[entity_id]
    if entity.entity_type != "character":
        return []
    unnamed_texts = [without_names(text, entity.names()) for text in touched_texts]
    senses = [sense for sense in SENSES if any(map(sense.is_used, unnamed_texts))]
    return [saying for sense in senses for saying in _first_loss(sense, entity, story)]


def _first_loss(sense: Sense, entity: Entity, story: StoryBefore) -> Iterator[ContinuityEvidence]:
    for scene in story.scenes:
        if not sense.loss.search(scene.text):
            continue
        for span in split_sentences(scene.text):
            text = scene.text[span.start : span.end]
            match = sense.loss.search(without_names(text, entity.names()))
            if match and _lacker_id(text, match.start(), story) == entity.entity_id:
                yield ContinuityEvidence.at(
                    scene.position,
                    "passage",
                    f"{scene.position}:passage:{span.start}",
                    text.strip(),
                    quote=text.strip(),
                )
                return


def _lacker_id(text: str, at: int, story: StoryBefore) -> str | None:
    """Return the person of a loss in a sentence: the last one before it, else the first after it."""
    mentions = [
        mention
        for mention in story.resolver.find_mentions(text)
        if story.entity[mention.entity_id].entity_type == "character"
    ]
    before = [mention for mention in mentions if mention.end <= at]
    if before:
        return before[-1].entity_id
    named = next(iter(mentions), None)
    return named.entity_id if named is not None and _CALLED.search(text[at : named.start]) else None


def _bears_on(text: str, touched_texts: Sequence[str], own_names: Sequence[str]) -> bool:
    """Tell whether a trait shares anything with a sentence, be it one character."""
    return shared_ground(text, touched_texts, own_names) > 0
