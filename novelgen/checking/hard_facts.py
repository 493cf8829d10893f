"""What holds for whom a draft names as its scene begins: states, holders, where they are, ties and open threads."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from novelgen.checking.proof import place_of
from novelgen.checking.standing import says_held
from novelgen.checking.story import Draft, StoryBefore
from novelgen.context.labels import CHINESE, ENGLISH, Labels
from novelgen.context.lines import ATTRIBUTE_ORDER, render_value
from novelgen.language.language import TokenCounter, estimate_tokens
from novelgen.language.normalise import is_description
from novelgen.language.sentences import split_sentences
from novelgen.memory.vital_status import is_death
from novelgen.models.continuity import ContinuityEvidence
from novelgen.models.position import StoryPosition, story_place
from novelgen.models.state import LOOP_WEIGHTS, PRESENCE_ATTRIBUTE, UNRESOLVED_STATUSES, StateChange

MAX_FACT_TOKENS = 1200

MAX_THREADS = 8

MAX_VALUE_CHARACTERS = 160

LAST_WORDS_CHARACTERS = 400
"""Of the scene before: where it left everybody."""

_LAST_ATTRIBUTES = ("knowledge", "goals")
"""What changes often is told last."""

_PLACES = frozenset({"location_id", "place"})

_PASSING_ATTRIBUTES = frozenset({"emotional_state", "for_now"})
"""What the next scene may change without a word."""

_FADING_ATTRIBUTES = frozenset({"status", "goals"})
"""What nobody says the end of: a horse that was lost, an errand that was done."""

FADES_AFTER_SCENES = 6
"""After so many scenes with its bearer such a state is no fact, unless it is a death or says that they are held."""

_WORDS: Mapping[str, Mapping[str, str]] = {
    "en": {
        "stage": "On stage in the scene before: ",
        "ended": "The scene before ended: ",
        "seen": "last on stage: ",
        "thread": "open: ",
    },
    "zh": {"stage": "上一场在场：", "ended": "上一场的结尾：", "seen": "最后一次出场：", "thread": "未了："},
}


def cast_of(draft: Draft, story: StoryBefore) -> list[str]:
    """Return the ids of whom and what a draft may bring on: whom it names, the plan's cast, the point of view."""
    planned = story.plan.characters if story.plan is not None else []
    found = [story.resolver.resolve(each).entity_id for each in planned]
    ids = [*(each.entity_id for each in draft.mentions), *found, story.pov]
    return list(dict.fromkeys(each for each in ids if each is not None and each in story.entity))


def names_for(draft: Draft, story: StoryBefore) -> dict[str, str]:
    """Return the name under which a reader of the draft knows each entity, by its id.

    The display name where the draft has it, else a name of the draft that says who is meant, else the first that
    does: a story may list somebody under what they were called for a moment.
    """
    names = {}
    for entity in story.entities:
        own = [entity.name, *(each for each in entity.names() if each != entity.name)]
        telling = [each for each in own if not is_description(each)]
        named = [each for each in telling if each in draft.text]
        names[entity.entity_id] = (named or telling or own)[0]
    return names


def hard_facts(
    draft: Draft, story: StoryBefore, *, max_tokens: int = MAX_FACT_TOKENS, count_tokens: TokenCounter = estimate_tokens
) -> list[ContinuityEvidence]:
    """Return what holds as the scene begins, weightiest first, within a budget.

    Everybody's first fact comes before anybody's second, so that one with many leaves room for all.
    """
    cast = cast_of(draft, story)
    names = names_for(draft, story)
    rounds = [_of_entity(each, story, names) for each in cast]
    dead = [fact for facts in rounds for fact in facts if fact.score > 0]
    first = [*dead, *_last_scene(story, names), *(facts[0] for facts in rounds if facts)]
    ties = [*_relationships(cast, story, names), *_threads(cast, story)]
    depth = max(map(len, rounds), default=0)
    later = [[facts[at] for facts in rounds if at < len(facts)] for at in range(1, depth)]
    ordered = [*first, *(fact for each in later[:2] for fact in each), *ties]
    ordered += [fact for each in later[2:] for fact in each]
    kept: dict[tuple[str, str], ContinuityEvidence] = {}
    spent = 0
    for fact in ordered:
        cost = count_tokens(fact.text) + 6
        key = (fact.source_id, fact.text)
        if key not in kept and spent + cost <= max_tokens:
            kept[key] = fact
            spent += cost
    return list(kept.values())


def labels_of(story: StoryBefore) -> Labels:
    """Return the words of the story's language."""
    return CHINESE if story.language == "zh" else ENGLISH


def _of_entity(entity_id: str, story: StoryBefore, names: Mapping[str, str]) -> list[ContinuityEvidence]:
    """Return what holds of one entity, what lasts before what passes."""
    labels = labels_of(story)
    changes = {
        attribute: change
        for (owner, attribute), change in story.in_force.items()
        if owner == entity_id and change.value is not None and _still_tells(change, story)
    }
    order = [*(each for each in ATTRIBUTE_ORDER if each not in _LAST_ATTRIBUTES)]
    ranks = {each: rank for rank, each in enumerate(order)} | {
        each: len(order) + 1 + rank for rank, each in enumerate(_LAST_ATTRIBUTES)
    }
    facts = []
    for attribute in sorted(changes, key=lambda each: (ranks.get(each, len(order)), each)):
        change = changes[attribute]
        value = render_value(change.value, names, labels)[:MAX_VALUE_CHARACTERS]
        text = f"{names[entity_id]}{labels.colon}{labels.attribute(attribute)}{labels.colon}{value}"
        facts.append(_fact(entity_id, attribute, text, change, is_first=is_death(attribute, change.value)))
    held = [
        _fact(
            owner,
            attribute,
            f"{names.get(owner, owner)}{labels.colon}{labels.attribute(attribute)}{labels.colon}{names[entity_id]}",
            change,
        )
        for (owner, attribute), change in story.in_force.items()
        if attribute == "holder" and change.value == entity_id
    ]
    return [*facts[:1], *_last_seen(entity_id, story, names), *held, *facts[1:]]


def _still_tells(change: StateChange, story: StoryBefore) -> bool:
    """Tell whether a state says something at the draft: a place, say, does not once its bearer was seen since."""
    if change.attribute == PRESENCE_ATTRIBUTE or change.attribute in _PASSING_ATTRIBUTES:
        return False
    if change.attribute in _PLACES:
        seen = story.in_force.get((change.entity_id, PRESENCE_ATTRIBUTE))
        return seen is None or story_place(change) >= story_place(seen)
    if change.attribute in _FADING_ATTRIBUTES:
        lasts = is_death(change.attribute, change.value) or says_held(change.value)
        since = sum(change.entity_id in scene.present and scene.position > place_of(change) for scene in story.scenes)
        return lasts or since < FADES_AFTER_SCENES
    return True


def _fact(
    entity_id: str, attribute: str, text: str, change: StateChange, *, is_first: bool = False
) -> ContinuityEvidence:
    return ContinuityEvidence(
        source="state",
        source_id=f"{entity_id}.{attribute}",
        chapter_index=change.chapter_index,
        scene_index=change.scene_index,
        text=text,
        entity_ids=[entity_id],
        score=1.0 if is_first else 0.0,
    )


def _last_seen(entity_id: str, story: StoryBefore, names: Mapping[str, str]) -> Iterator[ContinuityEvidence]:
    """Yield where a character was last on stage, unless in the scene before, which is told of everybody."""
    change = story.in_force.get((entity_id, PRESENCE_ATTRIBUTE))
    entity = story.entity[entity_id]
    last = story.scenes[-1].present if story.scenes else frozenset()
    if entity.entity_type != "character" or change is None or entity_id in last:
        return
    labels, words = labels_of(story), _WORDS[story.language]
    value = change.value if isinstance(change.value, Mapping) else {}
    where = value.get("location_id") or value.get("place") or ""
    place = names.get(where, where) if isinstance(where, str) else ""
    at = f"{change.chapter_index}:{change.scene_index}"
    yield ContinuityEvidence(
        source="presence",
        source_id=f"{entity_id}.{PRESENCE_ATTRIBUTE}",
        chapter_index=change.chapter_index,
        scene_index=change.scene_index,
        text=f"{names[entity_id]}{labels.colon}{words['seen']}{labels.list_separator.join(filter(None, (at, place)))}",
        entity_ids=[entity_id],
    )


def _last_scene(story: StoryBefore, names: Mapping[str, str]) -> list[ContinuityEvidence]:
    """Return who was on stage in the scene before, and how it ended."""
    if not story.scenes:
        return []
    scene, labels, words = story.scenes[-1], labels_of(story), _WORDS[story.language]
    facts = []
    if scene.present:
        present = sorted(scene.present)
        told = labels.list_separator.join(names.get(each, each) for each in present)
        facts.append(_of_scene(scene.position, "presence", words["stage"] + told, present))
    ending = scene.text.rstrip()[-LAST_WORDS_CHARACTERS:]
    sentences = split_sentences(ending)
    if len(sentences) > 1 and len(scene.text.rstrip()) > len(ending):
        # The first one begins where the cut fell.
        ending = ending[sentences[1].start :]
    if ending:
        facts.append(_of_scene(scene.position, "passage", words["ended"] + " ".join(ending.split()), []))
    return facts


def _of_scene(position: StoryPosition, source: str, text: str, ids: Sequence[str]) -> ContinuityEvidence:
    return ContinuityEvidence.model_validate(
        {
            "source": source,
            "source_id": f"{position.chapter_index}:{position.scene_index}",
            "chapter_index": position.chapter_index,
            "scene_index": position.scene_index,
            "text": text,
            "entity_ids": list(ids),
        }
    )


def _relationships(cast: Iterable[str], story: StoryBefore, names: Mapping[str, str]) -> Iterator[ContinuityEvidence]:
    named, labels = set(cast), labels_of(story)
    for each in story.relationships:
        if {each.character_a, each.character_b} <= named:
            parts = [each.relationship_type, each.status if each.status != "neutral" else ""]
            parts += [each.history[-1].event] if each.history else []
            told = labels.separator.join(part for part in parts if part)[:MAX_VALUE_CHARACTERS]
            pair = " / ".join(names.get(one, one) for one in (each.character_a, each.character_b))
            if told:
                yield ContinuityEvidence(
                    source="relationship",
                    source_id=each.relationship_id,
                    chapter_index=each.chapter_index,
                    scene_index=each.scene_index,
                    text=f"{pair}{labels.colon}{told}",
                    entity_ids=[each.character_a, each.character_b],
                )


def _threads(cast: Iterable[str], story: StoryBefore) -> Iterator[ContinuityEvidence]:
    named = set(cast)
    touched = [
        (len(named & set(each.related_entities)), LOOP_WEIGHTS[each.importance], each)
        for each in story.threads
        if each.status in UNRESOLVED_STATUSES and named & set(each.related_entities)
    ]
    for _, _, each in sorted(touched, key=lambda one: (-one[0], -one[1], one[2].loop_id))[:MAX_THREADS]:
        yield ContinuityEvidence(
            source="thread",
            source_id=each.loop_id,
            chapter_index=each.chapter_index,
            scene_index=each.scene_index,
            text=_WORDS[story.language]["thread"] + each.description,
            entity_ids=list(each.related_entities),
        )
