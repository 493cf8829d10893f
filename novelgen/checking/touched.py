"""The elements of a draft beside the story's statements on them."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from novelgen.checking.evidence import CHANGING_EVENTS
from novelgen.checking.findings import SUBJECT, of_memory, place_of
from novelgen.checking.hidden_sayings import HiddenSayings
from novelgen.checking.person_ages import PersonAges
from novelgen.checking.person_traits import card_sayings, disability_sayings
from novelgen.checking.prompt_lists import facts_of, of_thread, threads_of
from novelgen.checking.shared_ground import LEAST_SHARED, denies_number, shared_ground
from novelgen.checking.shared_words import find_word_matches, telling_sentence
from novelgen.checking.story import Draft, StoryBefore, telling_words
from novelgen.language.chinese_words import is_within_word
from novelgen.language.counted_nouns import find_counts
from novelgen.language.language import StoryLanguage, has_cjk, wording
from novelgen.language.numerals import Quantity, find_quantities
from novelgen.language.sentences import Span, split_sentences
from novelgen.memory.ledger import asks_something
from novelgen.models.continuity import ContinuityEvidence, TouchedKind, TouchedMatter
from novelgen.models.entity import Entity, EntityType
from novelgen.models.state import UNRESOLVED_STATUSES
from novelgen.words import words

MAX_MATTERS = 40
MAX_SAYINGS = 6
MAX_SHARING = 8
"""So many sayings stand beside a sentence with which they share something."""

MAX_QUOTE_CHARACTERS = 200
FULL_CHINESE_NAME = 3
"""Characters of a surname and a given name that is said alone."""

KIND_OF: Mapping[EntityType, TouchedKind] = {
    "character": "person",
    "item": "thing",
    "location": "place",
    "faction": "group",
    "term": "term",
}

ORDER: Sequence[TouchedKind] = ("person", "thing", "place", "group", "term", "promise", "question", "number")
"""The most decisive kind first."""

_CHINESE_POINTING = wording("touched_pointing_zh")
_ENGLISH_POINTING = wording("touched_pointing_en")
"""What stands before a short name of a known thing: 那把, 把, "the"."""

_DETERMINER = re.compile(r"^(?:the|a|an|his|her|my|their) ", re.IGNORECASE)


def find_touched(draft: Draft, story: StoryBefore, evidence: Sequence[ContinuityEvidence]) -> list[TouchedMatter]:
    """Find the elements of a draft and the story's statements on them.

    Args:
        draft: The draft.
        story: The story strictly before it.
        evidence: What was gathered for it, best first.

    Returns:
        The most decisive first: persons, things, places, groups and terms, promises, questions, numbers. What is
        hidden from the point of view is marked.
    """
    about = [
        (evidence_item, {*evidence_item.entity_ids, *story.resolver.entity_ids_in(evidence_item.text)})
        for evidence_item in evidence
    ]
    names = {entity.entity_id: entity.name for entity in story.entities}
    ages = PersonAges(draft, story)
    spans = {person_id: Span(first.start, first.end) for person_id, (first, *_) in ages.by_person.items()}
    spans |= _spans(draft, story)
    entities = [_of_entity(*one, draft, story, about, names, ages) for one in spans.items()]
    entity_matters = [matter for matter in entities if matter.sayings]
    explained_ids = {matter.entity_id for matter in entity_matters}
    matters = [
        *entity_matters,
        *_of_words(
            draft,
            story,
            taken=[
                *(span for entity_id, span in spans.items() if entity_id in explained_ids),
                *(Span(one.start, one.end) for one in draft.mentions if one.entity_id in explained_ids),
            ],
            said_texts=[one.text for matter in entity_matters for one in matter.sayings],
        ),
        *_of_threads(draft, story),
        *_of_numbers(draft, story, evidence, ages),
    ]
    matters.sort(key=lambda matter: (ORDER.index(matter.kind), -matter.sayings[0].score, matter.draft_span))
    listed = matters[:MAX_MATTERS]
    hidden = HiddenSayings(draft, story, (saying for matter in listed for saying in matter.sayings))
    return [
        matter.model_copy(update={"sayings": [hidden.mark(saying) for saying in matter.sayings]}) for matter in listed
    ]


# --- People, things, places ---


def _spans(draft: Draft, story: StoryBefore) -> dict[str, Span]:
    """Return where the draft first names each entity, also by a short name: 那把刀, "the knife", 国栋, Annie."""
    spans = {entity_id: Span(first.start, first.end) for entity_id, (first, *_) in draft.mentions_of.items()}
    taken_numbers = {position for mention in draft.mentions for position in range(mention.start, mention.end)}
    for entity in story.entities:
        if entity.entity_type == "item" and entity.entity_id not in spans:
            span = next((span for span in _short_names(entity, draft) if span.start not in taken_numbers), None)
            if span is not None:
                spans[entity.entity_id] = span
    people = [entity for entity in story.entities if entity.entity_type == "character"]
    bearers = Counter(name for entity in people for name in {*map(_given_name, entity.names())})
    for entity in people:
        for name in sorted({*map(_given_name, entity.names())}):
            if name and bearers[name] == 1 and entity.entity_id not in spans:
                span = next((span for span in _words(name, draft) if span.start not in taken_numbers), None)
                if span is not None:
                    spans[entity.entity_id] = span
    return spans


def _given_name(name: str) -> str:
    """Return the given name of a full name, else an empty text."""
    if has_cjk(name):
        return name[1:] if len(name) == FULL_CHINESE_NAME else ""
    first, *rest = name.split() or [""]
    return first if rest and len(first) > 2 and first.istitle() and not first.endswith(".") else ""


def _words(name: str, draft: Draft) -> Iterator[Span]:
    if not has_cjk(name):
        yield from (Span(*match.span()) for match in re.finditer(rf"\b{re.escape(name)}\b", draft.plain))
        return
    yield from (
        Span(*match.span())
        for match in re.finditer(re.escape(name), draft.plain)
        if not is_within_word(draft.plain, match.start(), match.end())
    )


def _short_names(entity: Entity, draft: Draft) -> Iterator[Span]:
    for name in entity.names():
        for pattern in _short_forms(name):
            for match in re.finditer(pattern, draft.plain, re.IGNORECASE):
                yield Span(*match.span("short"))


def _short_forms(name: str) -> list[str]:
    """Return patterns of short names of a thing: 折刀 and 那把刀 of 鹿角柄折刀, "the knife" of "the horn knife"."""
    if has_cjk(name):
        endings = [name[at:] for at in range(1, len(name) - 1)]
        pointed = rf"{_CHINESE_POINTING}(?P<short>{re.escape(name[-1])})"
        return [*(f"(?P<short>{re.escape(ending)})" for ending in endings), pointed]
    *rest, head = _DETERMINER.sub("", name).split() or [""]
    return [rf"{_ENGLISH_POINTING}(?P<short>{re.escape(head)})\b"] if rest and len(head) > 2 else []


def _of_entity(
    entity_id: str,
    span: Span,
    draft: Draft,
    story: StoryBefore,
    about: Sequence[tuple[ContinuityEvidence, set[str]]],
    names: Mapping[str, str],
    ages: PersonAges,
) -> TouchedMatter:
    facts = [_with_quote(evidence_item, story) for evidence_item in facts_of(entity_id, story, names)]
    facts.sort(key=lambda evidence_item: (-evidence_item.score, evidence_item.is_guess))
    # Of memories, what an author says and what changed somebody or something, the last first.
    memories = [
        memory for memory in story.memories if entity_id in memory.entities_mentioned and memory.superseded_by is None
    ]
    decisive = [
        memory
        for memory in memories
        if memory.content_type == "note" or memory.slot_type or memory.event_type in CHANGING_EVENTS
    ]
    evidence_items = [of_memory(memory, story).model_copy(update={"score": 0.0}) for memory in reversed(decisive)]
    notes = [evidence_item for evidence_item in evidence_items if evidence_item.source == "note"]
    deaths = [
        of_memory(memory, story).model_copy(update={"score": 1.0})
        for memory in decisive
        if memory.event_type == "death"
    ]
    own_names = story.entity[entity_id].names()
    sentence = draft.sentence_at(span.start) or span
    own_words = telling_words(draft.plain[sentence.start : sentence.end])
    gathered = [
        telling_sentence(evidence_item, own_words, own_names).model_copy(update={"score": 0.0})
        for evidence_item, ids in about
        if entity_id in ids
    ]
    gathered.sort(key=lambda evidence_item: -len(own_words & telling_words(evidence_item.text)))
    entity = story.entity[entity_id]
    sentences = [draft.sentence_at(mention.start) or span for mention in draft.mentions_of.get(entity_id, ())]
    touched_texts = [draft.plain[start:end] for start, end in [sentence, *sentences]]
    on_card, of_card = card_sayings(entity, touched_texts, story)
    disabilities = disability_sayings(entity_id, touched_texts, story)
    dead = [*(evidence_item for evidence_item in facts if evidence_item.score), *deaths]
    # Who has a thing bears on whatever is done with it.
    first = dead or ([] if entity.entity_type == "character" else facts[:1])
    around_texts = [*touched_texts, *_next_sentences([sentence, *sentences], draft, story)]
    denial = ages.denial(entity_id, (*on_card, *of_card, *facts, *evidence_items))
    first = [*first, *(denial.sayings if denial is not None else ())]
    first += [saying for saying in (*on_card, *of_card, *facts) if denies_number(saying.text, around_texts, own_names)]
    sharing = _most_shared_first([*on_card, *facts, *disabilities, *evidence_items], touched_texts, own_names)
    rest = [*facts[:2], *notes, *evidence_items[:2], *gathered[:2], *facts, *gathered, *of_card]
    most = max(MAX_SAYINGS, min(len(first) + len(sharing), MAX_SHARING))
    sayings = _each_once([*first, *sharing, *rest])[:most]
    name = _name_with_alias(entity, draft.text[span.start : span.end], story)
    if denial is not None:
        span = Span(denial.age.start, denial.age.end)
    return _matter(draft, KIND_OF[entity.entity_type], name, span, sayings, entity_id=entity_id)


def _next_sentences(sentences: Sequence[Span], draft: Draft, story: StoryBefore) -> list[str]:
    """Return the sentences after some of a draft that name nobody: "She was twenty-five."."""
    naming = {
        draft.sentence_index_at(mention.start)
        for mention in draft.mentions
        if story.entity[mention.entity_id].entity_type == "character"
    }
    numbers = {(draft.sentence_index_at(sentence.start) or 0) + 1 for sentence in sentences}
    following = [draft.sentences[number] for number in sorted(numbers - naming) if number < len(draft.sentences)]
    return [draft.plain[span.start : span.end] for span in following]


def _most_shared_first(
    sayings: Sequence[ContinuityEvidence], touched_texts: Sequence[str], own_names: Sequence[str]
) -> list[ContinuityEvidence]:
    """Return the sayings that share something with the draft, most first."""
    shared = [(shared_ground(saying.text, touched_texts, own_names), saying) for saying in sayings]
    return [saying for ground, saying in sorted(shared, key=lambda one: -one[0]) if ground >= LEAST_SHARED]


def _name_with_alias(entity: Entity, alias: str, story: StoryBefore) -> str:
    """Return the name of a card with its alias in a draft."""
    if alias in entity.name or alias not in entity.names():
        return entity.name
    return words(SUBJECT, story.language).text("prompt.name_with_alias", name=entity.name, alias=alias)


def _with_quote(fact: ContinuityEvidence, story: StoryBefore) -> ContinuityEvidence:
    """Return a state with the words of its scene that prove it, where they are known."""
    entity_id, _, attribute = fact.source_id.partition(".")
    change = story.in_force.get((entity_id, attribute))
    scene = change and story.knowledge.story.scene_at.get(place_of(change))
    if not (change and change.source_span and scene):
        return fact
    start, end = change.source_span
    return fact.model_copy(update={"quote": scene.text[start:end]})


def _of_words(
    draft: Draft, story: StoryBefore, *, taken: Sequence[Span], said_texts: Sequence[str]
) -> Iterator[TouchedMatter]:
    """Yield the matters of nouns without an entity."""
    for match in find_word_matches(draft, story, taken=taken, said_texts=said_texts):
        span = match.noun.span
        yield _matter(draft, match.noun.kind, draft.text[span.start : span.end], span, match.sayings)


# --- Threads and numbers ---


SHARE_OF_ENDED = 0.4
"""Least share of the words of a thread that is over that a sentence says, for it to be listed."""


def _of_threads(draft: Draft, story: StoryBefore) -> Iterator[TouchedMatter]:
    asking_ids = {thread.loop_id for thread in story.threads if asks_something(thread.category, thread.description)}
    terms = [telling_words(draft.plain[start:end]) for start, end in draft.sentences]
    for thread in threads_of(draft.mentions_of, story):
        own, people = telling_words(thread.text), set(thread.entity_ids)
        named_numbers = [
            draft.sentence_index_at(mention.start) for mention in draft.mentions if mention.entity_id in people
        ]
        best = max((at for at in named_numbers if at is not None), key=lambda at: len(own & terms[at]), default=None)
        if best is not None:
            name = story.name(thread.entity_ids[0]) if thread.entity_ids else thread.source_id
            kind: TouchedKind = "question" if thread.source_id in asking_ids else "promise"
            yield _matter(draft, kind, name, draft.sentences[best], [thread])
    for ended in (thread for thread in story.threads if thread.status not in UNRESOLVED_STATUSES):
        own = telling_words(ended.description)
        people = draft.mentions_of.keys() & {*story.entities_of_threads[ended.loop_id]}
        best = max(range(len(terms)), key=lambda at: len(own & terms[at]), default=None)
        # What is over is touched only where a sentence says the same again, kept or broken.
        if best is not None and people and len(own & terms[best]) >= max(2, SHARE_OF_ENDED * len(own)):
            kind = "question" if ended.loop_id in asking_ids else "promise"
            yield _matter(draft, kind, story.name(min(people)), draft.sentences[best], [of_thread(ended, story)])


def _of_numbers(
    draft: Draft, story: StoryBefore, evidence: Sequence[ContinuityEvidence], ages: PersonAges
) -> Iterator[TouchedMatter]:
    """Yield numbers whose unit, or counted noun, has another value in related statements or any note.

    An age of a person stands beside that person, and an age of another time nowhere.
    """
    notes = [
        of_memory(memory, story)
        for memory in story.memories
        if memory.content_type == "note" and memory.superseded_by is None
    ]
    note_ids = {note.source_id for note in notes}
    open_threads = [of_thread(thread, story) for thread in story.threads if thread.status in UNRESOLVED_STATUSES]
    evidence_quantities = [
        (evidence_item, _quantities_in(evidence_item.text, story.language))
        for evidence_item in (*notes, *open_threads, *(item for item in evidence if item.source_id not in note_ids))
    ]
    for quantity in _quantities_in(draft.text, story.language):
        sentence = draft.sentence_at(quantity.start)
        span = Span(quantity.start, quantity.end)
        if sentence is None or (quantity.dimension == "age" and not ages.is_without_person(span)):
            continue
        # Who says a number often stands in the sentence beside it.
        around = _around(draft, sentence)
        own = telling_words(draft.plain[around.start : quantity.start]) | telling_words(
            draft.plain[quantity.end : around.end]
        )
        others = [
            _at_quantity(evidence_item, other)
            for evidence_item, quantities in evidence_quantities
            if (other := next((one for one in quantities if _is_other(quantity, one)), None)) is not None
            and not any(_is_same(quantity, one) for one in quantities)
            and (
                own & telling_words(evidence_item.text)
                or (quantity.dimension == "count" and evidence_item.source_id in note_ids)
            )
        ]
        if others:
            yield _matter(draft, "number", draft.text[span.start : span.end], span, others[:2])


def _quantities_in(text: str, language: StoryLanguage) -> list[Quantity]:
    """Return the numbers of a text, measures and counts."""
    return sorted((*find_quantities(text, language), *find_counts(text, language)), key=lambda one: one.start)


def _at_quantity(evidence: ContinuityEvidence, quantity: Quantity) -> ContinuityEvidence:
    """Reduce a passage to the sentence of a quantity."""
    changes: dict[str, object] = {"score": 0.0}
    if evidence.source == "passage":
        spans = (span for span in split_sentences(evidence.text) if span.start <= quantity.start < span.end)
        text = next((evidence.text[span.start : span.end] for span in spans), evidence.text)
        changes |= {"text": text, "quote": text}
    return evidence.model_copy(update=changes)


def _around(draft: Draft, sentence: Span) -> Span:
    """Return a sentence with its neighbours in the paragraph."""
    index = draft.sentence_index_at(sentence.start) or 0
    near = [
        other
        for other in draft.sentences[max(0, index - 1) : index + 2]
        if "\n" not in draft.text[min(other.end, sentence.end) : max(other.start, sentence.start)]
    ]
    return Span(near[0].start, near[-1].end)


def _is_other(one: Quantity, other: Quantity) -> bool:
    return one.dimension == other.dimension and one.unit == other.unit and not _is_same(one, other)


def _is_same(one: Quantity, other: Quantity) -> bool:
    return one.dimension == other.dimension and one.low <= other.high and other.low <= one.high


# --- Frame ---


def _each_once(sayings: Iterable[ContinuityEvidence]) -> list[ContinuityEvidence]:
    once: dict[str, ContinuityEvidence] = {}
    for evidence_item in sayings:
        once.setdefault(evidence_item.text, evidence_item)
    return list(once.values())


def _matter(
    draft: Draft,
    kind: TouchedKind,
    name: str,
    span: Span,
    sayings: Sequence[ContinuityEvidence],
    *,
    entity_id: str = "",
) -> TouchedMatter:
    start, end = draft.sentence_at(span.start) or span
    # A sentence may be as long as a draft.
    start, end = max(start, span.start - MAX_QUOTE_CHARACTERS // 2), min(end, span.end + MAX_QUOTE_CHARACTERS // 2)
    return TouchedMatter(
        kind=kind,
        name=name,
        entity_id=entity_id,
        draft_quote=draft.text[start:end].strip(),
        draft_span=(start, end),
        sayings=list(sayings)[:MAX_SHARING],
    )
