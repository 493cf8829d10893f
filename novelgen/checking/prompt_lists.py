"""Prompt lists of the check: place, evidence, facts and draft."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from novelgen.checking.findings import MAX_VALUE_CHARACTERS, SUBJECT, labels_of, of_change, place_of
from novelgen.checking.story import Draft, StoryBefore
from novelgen.context.lines import ATTRIBUTE_ORDER
from novelgen.language.language import TokenCounter, estimate_tokens, story_language, word_pattern
from novelgen.language.normalise import is_description, simplified
from novelgen.language.sentences import split_sentences
from novelgen.memory.attributes import is_death
from novelgen.model_calls.prompt_data import NOTHING, as_data, place_in_words, telling_names
from novelgen.models.continuity import ContinuityEvidence
from novelgen.models.position import StoryPosition, story_place
from novelgen.models.state import GUESSED, LOOP_WEIGHTS, PRESENCE_ATTRIBUTE, UNRESOLVED_STATUSES, StateChange
from novelgen.words import words

MAX_FACT_TOKENS = 900

MAX_LINE_TOKENS = 500
"""Of what is told of one person, thing or scene in one line; the rest of it has a line of its own."""

MAX_NAMES_SHOWN = 4

MAX_KNOWERS_ASKED = 6
"""Of so many characters of a draft it is told what is kept from them."""

MAX_THREADS = 8
MAX_QUOTE_CHARACTERS = 240

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


_BOUND, _HELD, _NO_LONGER = (word_pattern(f"held_{name}") for name in ("bound", "captive", "no_longer"))


def says_held(value: Any) -> bool:
    """Tell whether a state says that somebody is bound or held, and not that they were."""
    words = simplified(str(value))
    return bool((_BOUND.search(words) or _HELD.search(words)) and not _NO_LONGER.search(words))


# --- Where the draft stands ---


def cast_of(draft: Draft, story: StoryBefore) -> list[str]:
    """Return the possible cast: names in the draft, the plan's cast, the narrator."""
    planned = story.plan.characters if story.plan is not None else []
    found = [story.resolver.resolve(each).entity_id for each in planned]
    ids = [*(each.entity_id for each in draft.mentions), draft.narrator_id, *found, story.pov]
    return list(dict.fromkeys(each for each in ids if each is not None and each in story.entity))


def names_for(draft: Draft, story: StoryBefore) -> dict[str, str]:
    """Return the name under which a reader of the draft knows each entity, by its id."""
    names = {}
    for entity in story.entities:
        own = [entity.name, *(each for each in entity.names() if each != entity.name)]
        telling = [each for each in own if not is_description(each)]
        named = [each for each in telling if each in draft.text]
        names[entity.entity_id] = (named or telling or own)[0]
    return names


def place_text(draft: Draft, story: StoryBefore) -> str:
    """Return the draft's place, point of view, names and planned events."""
    told, labels = words(SUBJECT, story.language), labels_of(story)
    names = names_for(draft, story)
    lines = [place_in_words(story.as_of.chapter_index, story.as_of.scene_index, story.language)]
    if story.pov is not None:
        lines.append(told.text("prompt.pov", name=as_data(story.name(story.pov))))
    people = [names[each] for each in cast_of(draft, story) if story.entity[each].entity_type == "character"]
    if people:
        lines.append(told["prompt.people"] + labels.list_separator.join(map(as_data, people)))
    plan, meant = story.plan, ""
    if plan is not None:
        planned = labels.list_separator.join(plan.characters)
        parts = (plan.location, planned, plan.purpose, *plan.key_actions)
        meant = " | ".join(as_data(each) for each in parts if each.strip())
    lines.append(told["prompt.plan"] + meant if meant else told["prompt.no_plan"])
    return "\n".join(lines)


def draft_lines(draft: Draft) -> str:
    """Return the draft's sentences with their numbers, a line each."""
    return "\n".join(
        f"S{number} | {as_data(draft.text[span.start : span.end])}"
        for number, span in enumerate(draft.sentences, start=1)
    )


# --- What the story says ---


@dataclass(frozen=True, slots=True)
class Exhibit:
    """A prompt line: its subject and its pieces of evidence."""

    about: str
    pieces: Sequence[ContinuityEvidence]


@dataclass(frozen=True, slots=True)
class Exhibits:
    """Evidence and facts under the numbers by which a model names them: E1, E2 …, F1, F2 …."""

    evidence: Sequence[Exhibit] = ()
    facts: Sequence[Exhibit] = ()

    def by_number(self) -> dict[str, Sequence[ContinuityEvidence]]:
        """Return the pieces of each line by its number."""
        lists = (("E", self.evidence), ("F", self.facts))
        return {f"{mark}{at}": each.pieces for mark, lines in lists for at, each in enumerate(lines, start=1)}

    def evidence_lines(self, draft: Draft, story: StoryBefore) -> str:
        """Return evidence lines by person, thing or scene, with the cast of scenes."""
        ended = {each.source_id for each in story.memories if each.superseded_by is not None}
        outdated, kept = labels_of(story).outdated, KeptFrom(draft, story)
        lines = [
            _line(
                f"E{number}",
                each.about,
                (told(one) + (outdated if one.source_id in ended else "") + kept.of(one) for one in each.pieces),
            )
            for number, each in enumerate(self.evidence, start=1)
        ]
        positions = {(one.chapter_index, one.scene_index) for each in self.evidence for one in each.pieces}
        stage = _on_stage(positions, names_for(draft, story), story)
        return "\n".join([*lines, *([stage] if stage else [])]) or NOTHING[story.language]

    def fact_lines(self, story: StoryBefore) -> str:
        """Return fact lines by entity, and by group for shared facts."""
        lines = []
        for number, each in enumerate(self.facts, start=1):
            start = each.about.split(" | ")[0] + labels_of(story).colon if each.about else ""
            lines.append(_line(f"F{number}", each.about, (told(one, without=start) for one in each.pieces)))
        return "\n".join(lines) or NOTHING[story.language]


def evidence_by_subject(
    evidence: Iterable[ContinuityEvidence],
    draft: Draft,
    story: StoryBefore,
    *,
    count_tokens: TokenCounter = estimate_tokens,
) -> list[Exhibit]:
    """Return evidence lines by subject or scene, the best first."""
    cast = set(cast_of(draft, story))
    names, labels = names_for(draft, story), labels_of(story)
    lines: list[tuple[str, list[ContinuityEvidence], int]] = []
    last: dict[str, int] = {}
    for each in evidence:
        named = cast & {*each.entity_ids, *story.resolver.entity_ids_in(each.text)}
        subject = max(named, key=lambda one: (story.words.entity_rarity(one), one), default="")
        about = names[subject] if subject else labels.everywhere if each.chapter_index is None else at(each)
        cost = count_tokens(each.text) + count_tokens(_extra_quote(each))
        line = last.get(about)
        if line is None or lines[line][2] + cost > MAX_LINE_TOKENS:
            last[about] = len(lines)
            lines.append((about, [each], cost))
        else:
            lines[line][1].append(each)
            lines[line] = (about, lines[line][1], lines[line][2] + cost)
    return [Exhibit(about, pieces) for about, pieces, _ in lines]


def hard_facts(
    draft: Draft, story: StoryBefore, *, max_tokens: int = MAX_FACT_TOKENS, count_tokens: TokenCounter = estimate_tokens
) -> list[Exhibit]:
    """Return the facts at the scene's start: states, last scene, ties, threads."""
    cast, names = cast_of(draft, story), names_for(draft, story)
    facts = {each: facts_of(each, story, names) for each in cast}
    kept: dict[str, list[ContinuityEvidence]] = {each: [] for each in cast}
    headers = {each: _header(each, draft, story, names) for each in cast}
    spent = 0
    listed: list[str] = []
    for each in sorted(cast, key=lambda one: not any(fact.score for fact in facts[one])):
        cost = count_tokens(headers[each]) + 2
        if spent + cost <= max_tokens:
            listed.append(each)
            spent += cost
    others = [*_last_scene(story, names), *_relationships(cast, story, names), *threads_of(cast, story)]
    depth = max(map(len, facts.values()), default=0)
    rounds = [[(one, facts[one][at]) for one in listed if at < len(facts[one])] for at in range(depth)]
    ordered: list[tuple[str, ContinuityEvidence]] = [*(each for one in rounds[:2] for each in one)]
    ordered += [("", each) for each in others]
    ordered += [each for one in rounds[2:] for each in one]
    told_of: list[ContinuityEvidence] = []
    for entity_id, fact in ordered:
        cost = count_tokens(fact.text) + 4
        if spent + cost <= max_tokens:
            spent += cost
            (kept[entity_id] if entity_id else told_of).append(fact)
    by_entity = [Exhibit(headers[each], kept[each]) for each in listed]
    return [*by_entity, *(Exhibit("", [each]) for each in told_of)]


def _header(entity_id: str, draft: Draft, story: StoryBefore, names: Mapping[str, str]) -> str:
    entity = story.entity[entity_id]
    known = telling_names(entity, draft.text, limit=MAX_NAMES_SHOWN)
    others = [each[:60] for each in known if each != names[entity_id]]
    kind = words(SUBJECT, story.language)[f"prompt.type.{entity.entity_type}"]
    return " | ".join([names[entity_id], labels_of(story).separator.join(others) or "-", kind])


def facts_of(entity_id: str, story: StoryBefore, names: Mapping[str, str]) -> list[ContinuityEvidence]:
    """Return the facts of one entity, lasting ones first."""
    labels = labels_of(story)
    changes = {
        attribute: change
        for (owner, attribute), change in story.in_force.items()
        if owner == entity_id and _still_tells(change, story)
    }
    order = [*(each for each in ATTRIBUTE_ORDER if each not in _LAST_ATTRIBUTES)]
    ranks = {each: rank for rank, each in enumerate(order)} | {
        each: len(order) + 1 + rank for rank, each in enumerate(_LAST_ATTRIBUTES)
    }
    facts = []
    for attribute in sorted(changes, key=lambda each: (ranks.get(each, len(order)), each)):
        is_first = is_death(attribute, changes[attribute].value)
        facts.append(of_change(changes[attribute], story, names).model_copy(update={"score": float(is_first)}))
    held = [
        of_change(change, story, names).model_copy(
            update={"text": labels.colon.join((names[entity_id], labels.attribute("holds"), names.get(owner, owner)))}
        )
        for (owner, attribute), change in story.in_force.items()
        if attribute == "holder" and change.value == entity_id
    ]
    return [*facts[:1], *_last_seen(entity_id, story, names), *held, *facts[1:]]


def _still_tells(change: StateChange, story: StoryBefore) -> bool:
    """Tell whether a state says something at the draft: a place, say, does not once its bearer was seen since."""
    if change.attribute == PRESENCE_ATTRIBUTE or change.attribute in _PASSING_ATTRIBUTES:
        return False
    if change.value is None and change.attribute not in _PLACES:
        return False
    if change.attribute in _PLACES:
        seen = story.in_force.get((change.entity_id, PRESENCE_ATTRIBUTE))
        return seen is None or story_place(change) >= story_place(seen)
    if change.attribute in _FADING_ATTRIBUTES:
        lasts = is_death(change.attribute, change.value) or says_held(change.value)
        since = sum(change.entity_id in scene.present and scene.position > place_of(change) for scene in story.scenes)
        return lasts or since < FADES_AFTER_SCENES
    return True


def _last_seen(entity_id: str, story: StoryBefore, names: Mapping[str, str]) -> Iterator[ContinuityEvidence]:
    """Yield where a character was last on stage, unless in the scene before, which is told of everybody."""
    change = story.in_force.get((entity_id, PRESENCE_ATTRIBUTE))
    last = story.scenes[-1].present if story.scenes else frozenset()
    if story.entity[entity_id].entity_type != "character" or change is None or entity_id in last:
        return
    labels = labels_of(story)
    value = change.value if isinstance(change.value, Mapping) else {}
    where = value.get("location_id") or value.get("place") or ""
    place = names.get(where, where) if isinstance(where, str) else ""
    position = f"{change.chapter_index}:{change.scene_index}"
    seen = words(SUBJECT, story.language)["prompt.seen"] + labels.list_separator.join(filter(None, (position, place)))
    slot, text = f"{entity_id}.{PRESENCE_ATTRIBUTE}", f"{names[entity_id]}{labels.colon}{seen}"
    is_guess = bool(value.get(GUESSED))
    yield ContinuityEvidence.at(change, "presence", slot, text, entity_ids=[entity_id], is_guess=is_guess)


def _last_scene(story: StoryBefore, names: Mapping[str, str]) -> list[ContinuityEvidence]:
    """Return the cast and the end of the previous scene."""
    if not story.scenes:
        return []
    scene, told_as = story.scenes[-1], words(SUBJECT, story.language)
    place, facts = scene.position, []
    if scene.present:
        present = sorted(scene.present)
        listed = labels_of(story).list_separator.join(names.get(each, each) for each in present)
        told = told_as["prompt.stage"] + listed
        is_guess = not scene.has_record
        fact = ContinuityEvidence.at(place, "presence", str(place), told, entity_ids=present, is_guess=is_guess)
        facts.append(fact)
    ending = scene.text.rstrip()[-LAST_WORDS_CHARACTERS:]
    sentences = split_sentences(ending)
    if len(sentences) > 1 and len(scene.text.rstrip()) > len(ending):
        # The first one begins where the cut fell.
        ending = ending[sentences[1].start :]
    if ending:
        told = told_as["prompt.ended"] + " ".join(ending.split())
        facts.append(ContinuityEvidence.at(place, "passage", str(place), told))
    return facts


def _relationships(cast: Iterable[str], story: StoryBefore, names: Mapping[str, str]) -> Iterator[ContinuityEvidence]:
    named, labels = set(cast), labels_of(story)
    for each in story.relationships:
        if {each.character_a, each.character_b} <= named:
            parts = [each.relationship_type, each.status if each.status != "neutral" else ""]
            parts += [each.history[-1].event] if each.history else []
            tie = labels.separator.join(part for part in parts if part)[:MAX_VALUE_CHARACTERS]
            pair = [each.character_a, each.character_b]
            text = f"{' / '.join(names.get(one, one) for one in pair)}{labels.colon}{tie}"
            if tie:
                yield ContinuityEvidence.at(each, "relationship", each.relationship_id, text, entity_ids=pair)


def threads_of(cast: Iterable[str], story: StoryBefore) -> Iterator[ContinuityEvidence]:
    """Yield the unresolved threads of a cast, the nearest and weightiest first."""
    named = set(cast)
    touched = [
        (len(named & set(each.related_entities)), LOOP_WEIGHTS[each.importance], each)
        for each in story.threads
        if each.status in UNRESOLVED_STATUSES and named & set(each.related_entities)
    ]
    for _, _, each in sorted(touched, key=lambda one: (-one[0], -one[1], one[2].loop_id))[:MAX_THREADS]:
        text = words(SUBJECT, story.language)["prompt.thread"] + each.description
        yield ContinuityEvidence.at(each, "thread", each.loop_id, text, entity_ids=list(each.related_entities))


# --- Lines ---


class KeptFrom:
    """Finds the characters of a draft from which a memory is hidden."""

    def __init__(self, draft: Draft, story: StoryBefore) -> None:
        self._knowledge = story.knowledge
        self._memories = {each.source_id: each for each in story.knowledge.story.memories}
        self._names = names_for(draft, story)
        self._labels = labels_of(story)
        self._word = words(SUBJECT, story.language)["prompt.kept_from"]
        people = [each for each in cast_of(draft, story) if story.entity[each].entity_type == "character"]
        self._people = people[:MAX_KNOWERS_ASKED]

    def of(self, evidence: ContinuityEvidence) -> str:
        """Return the mark of hidden or false knowledge, empty without one."""
        memory = self._memories.get(evidence.source_id)
        kept = [
            as_data(self._names[each])
            for each in (self._people if memory is not None else ())
            if memory is not None
            and not (knowing := self._knowledge.knows(each, memory)).knows
            and knowing.reason in ("hidden", "deceived")
        ]
        return f" [{self._word}{self._labels.list_separator.join(kept)}]" if kept else ""


def at(evidence: ContinuityEvidence) -> str:
    """Return the place in prompt form: 3:2, empty for timeless evidence."""
    return "" if evidence.chapter_index is None else f"{evidence.chapter_index}:{evidence.scene_index}"


def told(evidence: ContinuityEvidence, *, without: str = "") -> str:
    """Return a piece with its place, extra quote and guess mark."""
    quote = _extra_quote(evidence)
    text = as_data(evidence.text).removeprefix(as_data(without) if without else "").strip()
    if evidence.is_guess:
        text += words(SUBJECT, story_language(evidence.text))["prompt.guess"]
    return " ".join(part for part in (at(evidence), text, f"“{as_data(quote)}”" if quote else "") if part)


def _line(number: str, about: str, pieces: Iterable[str]) -> str:
    listed = [each for each in pieces if each]
    return " | ".join(part for part in (number, as_data(about), " / ".join(listed)) if part)


def _on_stage(positions: Iterable[tuple[int | None, int | None]], names: Mapping[str, str], story: StoryBefore) -> str:
    """Return the casts of scenes on one line."""
    by_cast: defaultdict[str, list[str]] = defaultdict(list)
    guess = words(SUBJECT, story.language)["prompt.guess"]
    for chapter, number in sorted(each for each in positions if each[0] is not None and each[1] is not None):
        scene = story.knowledge.story.scene_at.get(StoryPosition(chapter, number))
        if scene is not None and scene.present:
            there = labels_of(story).list_separator.join(
                as_data(names.get(each, each)) for each in sorted(scene.present)
            )
            by_cast[there].append(f"{chapter}:{number}" + ("" if scene.has_record else guess))
    listed = "; ".join(f"{' '.join(places)} {there}" for there, places in by_cast.items())
    return words(SUBJECT, story.language)["prompt.stages"] + listed if listed else ""


def _extra_quote(evidence: ContinuityEvidence) -> str:
    """Return the part of a quote that the text lacks."""
    quote = " ".join(evidence.quote.split())[:MAX_QUOTE_CHARACTERS]
    return "" if quote in " ".join(evidence.text.split()) else quote
