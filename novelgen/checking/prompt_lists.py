"""Prompt lists of the check: place, evidence, facts and draft."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from novelgen.checking.findings import MAX_VALUE_CHARACTERS, SUBJECT, labels_of, of_change, place_of
from novelgen.checking.story import Draft, StoryBefore
from novelgen.context.rendering import ATTRIBUTE_ORDER, is_left_behind
from novelgen.language.language import TokenCounter, estimate_tokens, story_language, word_pattern
from novelgen.language.normalise import is_description, simplified
from novelgen.language.sentences import split_sentences
from novelgen.memory.attributes import is_death
from novelgen.model_calls.prompt_data import NOTHING, as_data, place_in_words, telling_names
from novelgen.models.continuity import ContinuityEvidence
from novelgen.models.folds import HOLDER_ATTRIBUTE
from novelgen.models.position import StoryPosition, place_told, story_place
from novelgen.models.state import GUESSED, LOOP_WEIGHTS, PRESENCE_ATTRIBUTE, UNRESOLVED_STATUSES, OpenLoop, StateChange
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
    planned_ids = story.plan.characters if story.plan is not None else []
    matches = [story.resolver.resolve(text).entity_id for text in planned_ids]
    ids = [*(mention.entity_id for mention in draft.mentions), draft.narrator_id, *matches, story.pov]
    return list(dict.fromkeys(other_id for other_id in ids if other_id is not None and other_id in story.entity))


def names_for(draft: Draft, story: StoryBefore) -> dict[str, str]:
    """Return the name under which a reader of the draft knows each entity, by its id."""
    names = {}
    for entity in story.entities:
        own = [entity.name, *(name for name in entity.names() if name != entity.name)]
        telling = [text for text in own if not is_description(text)]
        named_ids = [entity_id for entity_id in telling if entity_id in draft.text]
        names[entity.entity_id] = (named_ids or telling or own)[0]
    return names


def place_text(draft: Draft, story: StoryBefore) -> str:
    """Return the draft's place, point of view, names and planned events."""
    subject_words, labels = words(SUBJECT, story.language), labels_of(story)
    names = names_for(draft, story)
    lines = [place_in_words(story.as_of.chapter_index, story.as_of.scene_index, story.language)]
    if story.pov is not None:
        lines.append(subject_words.text("prompt.pov", name=as_data(story.name(story.pov))))
    people = [
        names[entity_id] for entity_id in cast_of(draft, story) if story.entity[entity_id].entity_type == "character"
    ]
    if people:
        lines.append(subject_words["prompt.people"] + labels.list_separator.join(map(as_data, people)))
    plan, suggestion = story.plan, ""
    if plan is not None:
        planned_text = labels.list_separator.join(plan.characters)
        parts = (plan.location, planned_text, plan.purpose, *plan.key_actions)
        suggestion = " | ".join(as_data(part) for part in parts if part.strip())
    lines.append(subject_words["prompt.plan"] + suggestion if suggestion else subject_words["prompt.no_plan"])
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
        return {f"{mark}{at}": exhibit.pieces for mark, lines in lists for at, exhibit in enumerate(lines, start=1)}

    def evidence_lines(self, draft: Draft, story: StoryBefore) -> str:
        """Return evidence lines by person, thing or scene, with the cast of scenes."""
        ended_ids = {memory.source_id for memory in story.memories if memory.superseded_by is not None}
        outdated, hidden_marks = labels_of(story).outdated, KeptFrom(draft, story)
        lines = [
            _line(
                f"E{number}",
                exhibit.about,
                (
                    told(one) + (outdated if one.source_id in ended_ids else "") + hidden_marks.of(one)
                    for one in exhibit.pieces
                ),
            )
            for number, exhibit in enumerate(self.evidence, start=1)
        ]
        positions = {(one.chapter_index, one.scene_index) for exhibit in self.evidence for one in exhibit.pieces}
        stage = _on_stage(positions, names_for(draft, story), story)
        return "\n".join([*lines, *([stage] if stage else [])]) or NOTHING[story.language]

    def fact_lines(self, story: StoryBefore) -> str:
        """Return fact lines by entity, and by group for shared facts."""
        lines = []
        for number, exhibit in enumerate(self.facts, start=1):
            start = exhibit.about.split(" | ")[0] + labels_of(story).colon if exhibit.about else ""
            lines.append(_line(f"F{number}", exhibit.about, (told(one, without=start) for one in exhibit.pieces)))
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
    for evidence_item in evidence:
        named_ids = cast & {*evidence_item.entity_ids, *story.resolver.entity_ids_in(evidence_item.text)}
        subject = max(named_ids, key=lambda one: (story.words.entity_rarity(one), one), default="")
        about = (
            names[subject]
            if subject
            else labels.everywhere
            if evidence_item.chapter_index is None
            else at(evidence_item)
        )
        cost = count_tokens(evidence_item.text) + count_tokens(_extra_quote(evidence_item))
        line = last.get(about)
        if line is None or lines[line][2] + cost > MAX_LINE_TOKENS:
            last[about] = len(lines)
            lines.append((about, [evidence_item], cost))
        else:
            lines[line][1].append(evidence_item)
            lines[line] = (about, lines[line][1], lines[line][2] + cost)
    return [Exhibit(about, pieces) for about, pieces, _ in lines]


def hard_facts(
    draft: Draft, story: StoryBefore, *, max_tokens: int = MAX_FACT_TOKENS, count_tokens: TokenCounter = estimate_tokens
) -> list[Exhibit]:
    """Return the facts at the scene's start: states, last scene, ties, threads."""
    cast, names = cast_of(draft, story), names_for(draft, story)
    facts = {entity_id: facts_of(entity_id, story, names) for entity_id in cast}
    kept_evidence_items_by_id: dict[str, list[ContinuityEvidence]] = {entity_id: [] for entity_id in cast}
    headers = {entity_id: _header(entity_id, draft, story, names) for entity_id in cast}
    used_tokens = 0
    listing: list[str] = []
    for other_id in sorted(cast, key=lambda one: not any(fact.score for fact in facts[one])):
        cost = count_tokens(headers[other_id]) + 2
        if used_tokens + cost <= max_tokens:
            listing.append(other_id)
            used_tokens += cost
    others = [*_last_scene(story, names), *_relationships(cast, story, names), *threads_of(cast, story)]
    depth = max(map(len, facts.values()), default=0)
    rounds = [[(one, facts[one][at]) for one in listing if at < len(facts[one])] for at in range(depth)]
    ordered: list[tuple[str, ContinuityEvidence]] = [*(pair for one in rounds[:2] for pair in one)]
    ordered += [("", evidence_item) for evidence_item in others]
    ordered += [pair for one in rounds[2:] for pair in one]
    told_of: list[ContinuityEvidence] = []
    for entity_id, fact in ordered:
        cost = count_tokens(fact.text) + 4
        if used_tokens + cost <= max_tokens:
            used_tokens += cost
            (kept_evidence_items_by_id[entity_id] if entity_id else told_of).append(fact)
    by_entity = [Exhibit(headers[entity_id], kept_evidence_items_by_id[entity_id]) for entity_id in listing]
    return [*by_entity, *(Exhibit("", [evidence_item]) for evidence_item in told_of)]


def _header(entity_id: str, draft: Draft, story: StoryBefore, names: Mapping[str, str]) -> str:
    entity = story.entity[entity_id]
    known_ids = telling_names(entity, draft.text, limit=MAX_NAMES_SHOWN)
    others = [word[:60] for word in known_ids if word != names[entity_id]]
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
    order = [*(entity_id for entity_id in ATTRIBUTE_ORDER if entity_id not in _LAST_ATTRIBUTES)]
    ranks = {entity_id: rank for rank, entity_id in enumerate(order)} | {
        entity_id: len(order) + 1 + rank for rank, entity_id in enumerate(_LAST_ATTRIBUTES)
    }
    facts = []
    for attribute in sorted(changes, key=lambda entity_id: (ranks.get(entity_id, len(order)), entity_id)):
        is_first = is_death(attribute, changes[attribute].value)
        facts.append(of_change(changes[attribute], story, names).model_copy(update={"score": float(is_first)}))
    evidence_items = [
        of_change(change, story, names).model_copy(
            update={"text": labels.colon.join((names[entity_id], labels.attribute("holds"), names.get(owner, owner)))}
        )
        for (owner, attribute), change in story.in_force.items()
        if attribute == HOLDER_ATTRIBUTE and change.value == entity_id
    ]
    return [*facts[:1], *_last_seen(entity_id, story, names), *evidence_items, *facts[1:]]


def _still_tells(change: StateChange, story: StoryBefore) -> bool:
    """Tell whether a state says something at the draft: a place, say, does not once its bearer was seen since."""
    if change.attribute == PRESENCE_ATTRIBUTE or change.attribute in _PASSING_ATTRIBUTES:
        return False
    if change.value in (None, "") and change.attribute not in _PLACES:
        return False
    if change.attribute in _PLACES:
        if _is_taken_since(change, story):
            return False
        visible_change = story.in_force.get((change.entity_id, PRESENCE_ATTRIBUTE))
        return visible_change is None or story_place(change) >= story_place(visible_change)
    if change.attribute in _FADING_ATTRIBUTES:
        lasts = is_death(change.attribute, change.value) or says_held(change.value)
        since = sum(change.entity_id in scene.present and scene.position > place_of(change) for scene in story.scenes)
        return lasts or since < FADES_AFTER_SCENES
    return True


def _is_taken_since(change: StateChange, story: StoryBefore) -> bool:
    """Tell whether a holder ended the place of a thing."""
    holder = story.in_force.get((change.entity_id, HOLDER_ATTRIBUTE))
    if holder is None or holder.value in (None, ""):
        return False
    since = {one.attribute: (one.chapter_index, one.scene_index) for one in (change, holder)}
    return change.value in (None, "") or is_left_behind(change.attribute, since)


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
    sighting_text = words(SUBJECT, story.language)["prompt.seen"] + labels.list_separator.join(
        filter(None, (position, place))
    )
    slot, text = f"{entity_id}.{PRESENCE_ATTRIBUTE}", f"{names[entity_id]}{labels.colon}{sighting_text}"
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
        listing = labels_of(story).list_separator.join(names.get(entity_id, entity_id) for entity_id in present)
        text = told_as["prompt.stage"] + listing
        is_guess = not scene.has_record
        fact = ContinuityEvidence.at(place, "presence", str(place), text, entity_ids=present, is_guess=is_guess)
        facts.append(fact)
    ending = scene.text.rstrip()[-LAST_WORDS_CHARACTERS:]
    sentences = split_sentences(ending)
    if len(sentences) > 1 and len(scene.text.rstrip()) > len(ending):
        # The first one begins where the cut fell.
        ending = ending[sentences[1].start :]
    if ending:
        text = told_as["prompt.ended"] + " ".join(ending.split())
        facts.append(ContinuityEvidence.at(place, "passage", str(place), text))
    return facts


def _relationships(cast: Iterable[str], story: StoryBefore, names: Mapping[str, str]) -> Iterator[ContinuityEvidence]:
    name_set, labels = set(cast), labels_of(story)
    for relationship in story.relationships:
        if {relationship.character_a, relationship.character_b} <= name_set:
            parts = [relationship.relationship_type, relationship.status if relationship.status != "neutral" else ""]
            parts += [relationship.history[-1].event] if relationship.history else []
            tie = labels.separator.join(part for part in parts if part)[:MAX_VALUE_CHARACTERS]
            pair = [*relationship.in_reading_order()]
            text = f"{' / '.join(names.get(one, one) for one in pair)}{labels.colon}{tie}"
            if tie:
                yield ContinuityEvidence.at(
                    relationship, "relationship", relationship.relationship_id, text, entity_ids=pair
                )


def threads_of(cast: Iterable[str], story: StoryBefore) -> Iterator[ContinuityEvidence]:
    """Yield the unresolved threads of a cast, the nearest and weightiest first."""
    named_ids = set(cast)
    touched_threads = [
        (len(own_ids), LOOP_WEIGHTS[thread.importance], thread)
        for thread in story.threads
        if thread.status in UNRESOLVED_STATUSES
        and (own_ids := named_ids.intersection(story.entities_of_threads[thread.loop_id]))
    ]
    for _, _, thread in sorted(touched_threads, key=lambda one: (-one[0], -one[1], one[2].loop_id))[:MAX_THREADS]:
        yield of_thread(thread, story)


def of_thread(thread: OpenLoop, story: StoryBefore) -> ContinuityEvidence:
    """Return what a thread says, and how it ended."""
    is_over = thread.status not in UNRESOLVED_STATUSES
    text = words(SUBJECT, story.language)["prompt.thread_over" if is_over else "prompt.thread"] + thread.description
    text += f" – {thread.resolution_summary}" if is_over and thread.resolution_summary else ""
    end = (thread.last_chapter_index, thread.last_scene_index)
    is_ended_there = is_over and end[0] is not None
    return ContinuityEvidence.at(
        StoryPosition(*end) if is_ended_there else thread,
        "thread",
        thread.loop_id,
        text,
        entity_ids=story.entities_of_threads[thread.loop_id],
        said_from=None if is_ended_there else thread.said_from,
    )


# --- Lines ---


class KeptFrom:
    """Finds the characters of a draft from which a memory is hidden."""

    def __init__(self, draft: Draft, story: StoryBefore) -> None:
        self._knowledge = story.knowledge
        self._memories = {memory.source_id: memory for memory in story.knowledge.story.memories}
        self._names = names_for(draft, story)
        self._labels = labels_of(story)
        self._word = words(SUBJECT, story.language)["prompt.kept_from"]
        people = [
            entity_id for entity_id in cast_of(draft, story) if story.entity[entity_id].entity_type == "character"
        ]
        self._people = people[:MAX_KNOWERS_ASKED]

    def of(self, evidence: ContinuityEvidence) -> str:
        """Return the mark of hidden or false knowledge, empty without one."""
        memory = self._memories.get(evidence.source_id)
        kept_names = [
            as_data(self._names[entity_id])
            for entity_id in (self._people if memory is not None else ())
            if memory is not None
            and not (knowing := self._knowledge.knows(entity_id, memory)).knows
            and knowing.reason in ("hidden", "deceived")
        ]
        return f" [{self._word}{self._labels.list_separator.join(kept_names)}]" if kept_names else ""


def at(evidence: ContinuityEvidence) -> str:
    """Return the place in prompt form: 3:2, empty for timeless evidence."""
    chapter, scene = place_told(evidence)
    return "" if chapter is None else f"{chapter}:{scene}"


def told(evidence: ContinuityEvidence, *, without: str = "") -> str:
    """Return a piece with its place, extra quote and guess mark."""
    quote = _extra_quote(evidence)
    text = as_data(evidence.text).removeprefix(as_data(without) if without else "").strip()
    if evidence.is_guess:
        text += words(SUBJECT, story_language(evidence.text))["prompt.guess"]
    return " ".join(part for part in (at(evidence), text, f"“{as_data(quote)}”" if quote else "") if part)


def _line(number: str, about: str, pieces: Iterable[str]) -> str:
    listing = [piece for piece in pieces if piece]
    return " | ".join(part for part in (number, as_data(about), " / ".join(listing)) if part)


def _on_stage(positions: Iterable[tuple[int | None, int | None]], names: Mapping[str, str], story: StoryBefore) -> str:
    """Return the casts of scenes on one line."""
    by_cast: defaultdict[str, list[str]] = defaultdict(list)
    guess = words(SUBJECT, story.language)["prompt.guess"]
    for chapter, number in sorted(
        position for position in positions if position[0] is not None and position[1] is not None
    ):
        scene = story.knowledge.story.scene_at.get(StoryPosition(chapter, number))
        if scene is not None and scene.present:
            there = labels_of(story).list_separator.join(
                as_data(names.get(entity_id, entity_id)) for entity_id in sorted(scene.present)
            )
            by_cast[there].append(f"{chapter}:{number}" + ("" if scene.has_record else guess))
    listing = "; ".join(f"{' '.join(places)} {there}" for there, places in by_cast.items())
    return words(SUBJECT, story.language)["prompt.stages"] + listing if listing else ""


def _extra_quote(evidence: ContinuityEvidence) -> str:
    """Return the part of a quote that the text lacks."""
    quote = " ".join(evidence.quote.split())[:MAX_QUOTE_CHARACTERS]
    return "" if quote in " ".join(evidence.text.split()) else quote
