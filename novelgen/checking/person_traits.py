"""Lasting traits of a person that a draft may contradict: fields of the card, and disabilities in the text."""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from novelgen.checking.evidence import body_parts
from novelgen.checking.findings import labels_of
from novelgen.checking.story import StoryBefore, telling_words
from novelgen.context.lines import render_value
from novelgen.language.language import patterns
from novelgen.language.sentences import split_sentences
from novelgen.models.continuity import ContinuityEvidence
from novelgen.models.entity import Entity, profile_with_names

MAX_FIELD_CHARACTERS = 160


class _Sense(NamedTuple):
    """A sense or limb: words of its use, and of its loss."""

    use: re.Pattern[str]
    loss: re.Pattern[str]


_SENSES = [
    _Sense(*(re.compile(words[name], re.IGNORECASE) for name in ("use", "loss")))
    for words in patterns("disabilities").values()
]


def card_sayings(
    entity: Entity, touched_texts: Sequence[str], story: StoryBefore
) -> tuple[list[ContinuityEvidence], list[ContinuityEvidence]]:
    """Return the fields of a person's card that share something with sentences of a draft, and the others.

    Args:
        entity: The person, as the story had shown it.
        touched_texts: Sentences of the draft that name it.
        story: The story before the draft.
    """
    if entity.entity_type != "character":
        return [], []
    labels = labels_of(story)
    names = {known.entity_id: known.name for known in story.entities}
    profile = profile_with_names(entity, [], is_told=True)
    shared: list[ContinuityEvidence] = []
    others: list[ContinuityEvidence] = []
    for field, value in {"role": entity.role, "description": entity.description, **profile}.items():
        if isinstance(value, bool) or not isinstance(value, str | int | list) or not value:
            continue
        text = render_value(value, names, labels)[:MAX_FIELD_CHARACTERS]
        saying = ContinuityEvidence(
            source="state",
            source_id=f"{entity.entity_id}.{field}",
            text=labels.colon.join((entity.name, labels.attribute(field).replace("_", " "), text)),
            entity_ids=[entity.entity_id],
        )
        (shared if _bears_on(text, touched_texts, entity.names()) else others).append(saying)
    return shared, others


def disability_sayings(entity_id: str, touched_texts: Sequence[str], story: StoryBefore) -> list[ContinuityEvidence]:
    """Return the first sentence of the text by which a person lacks what sentences of a draft use."""
    entity = story.entity[entity_id]
    if entity.entity_type != "character":
        return []
    senses = [sense for sense in _SENSES if any(_uses(sense, text) for text in touched_texts)]
    return [saying for sense in senses for saying in _first_loss(sense, entity, story)]


def _uses(sense: _Sense, text: str) -> bool:
    return sense.use.search(text) is not None and sense.loss.search(text) is None


def _first_loss(sense: _Sense, entity: Entity, story: StoryBefore) -> Iterator[ContinuityEvidence]:
    for scene in story.scenes:
        if not sense.loss.search(scene.text):
            continue
        for span in split_sentences(scene.text):
            text = scene.text[span.start : span.end]
            match = sense.loss.search(text)
            # Who stands last before the loss has it.
            before = match and story.resolver.find_mentions(text[: match.start()])
            if before and before[-1].entity_id == entity.entity_id:
                yield ContinuityEvidence.at(
                    scene.position,
                    "passage",
                    f"{scene.position}:passage:{span.start}",
                    text.strip(),
                    quote=text.strip(),
                )
                return


def _bears_on(text: str, touched_texts: Sequence[str], own_names: Sequence[str]) -> bool:
    """Tell whether a trait shares a word, a part of the body or a sense with a sentence."""
    own = telling_words(text) - telling_words(" ".join(own_names))
    return any(
        own & telling_words(other)
        or body_parts(text) & body_parts(other)
        or any(sense.loss.search(text) and _uses(sense, other) for sense in _SENSES)
        for other in touched_texts
    )
