"""The results for a scene, limited to the point of view's knowledge.

Retrieval and planning use everything; only what comes out is cut. Where in doubt something is not known.
"""

import json
import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from novelgen.context.rendering import DEFAULT_INTENSITY, NEUTRAL_STATUS, is_left_behind
from novelgen.context.retrieval_plan import RetrievalPlan
from novelgen.language.language import word_pattern
from novelgen.language.normalise import texts_within
from novelgen.memory.attributes import (
    DISGUISE_ATTRIBUTE,
    LOCATION_ATTRIBUTE,
    PASSING_ATTRIBUTE,
    PLACES,
    PlaceNames,
    attribute_named,
    place_left,
    seen_alive,
    shows_beside,
    without_places_left,
)
from novelgen.memory.character_view import INNER_ATTRIBUTES, LEAST_NAMES_THAT_TELL, CharacterView, StoryKnowledge
from novelgen.memory.knowledge_rules import KnowledgeRules
from novelgen.memory.knowledge_story import KnowledgeMemory, KnowledgeScene, KnowledgeStory
from novelgen.memory.outline import OutlineScene, PairChange, StoryOutline
from novelgen.memory.search import Candidate, SearchQuery, SearchResult
from novelgen.memory.stated import NOBODY, Statement, statements_of
from novelgen.memory.story_changes import StoryChanges
from novelgen.memory.whereabouts import tells_value
from novelgen.models.context import (
    ContextItem,
    HiddenContext,
    LeftOff,
    MemoryContextRequest,
    PointOfView,
    ReportedQuery,
    ReportIssue,
    SceneMemoryContext,
)
from novelgen.models.entity import Entity, is_entity_id
from novelgen.models.folds import HOLDER_ATTRIBUTE, ending_change, fold_holders, folded_relationship, snapshot_of
from novelgen.models.knowledge import KnowledgeMode
from novelgen.models.memory import NOTE_ID, StoryMemoryChunk, over_from, replacing_scene
from novelgen.models.position import Place, StoryPosition, story_place
from novelgen.models.state import PRESENCE_ATTRIBUTE, EntityStateSnapshot, OpenLoop, Relationship, StateChange
from novelgen.shell_words import in_shell

_OF_PAIR: dict[str, Any] = {"relationship_type": "", "status": NEUTRAL_STATUS, "intensity": DEFAULT_INTENSITY} | {
    "dimensions": {},
    "history": [],
}
"""What is said of a pair, and not of one side, with its value where nothing is said."""

_BEGINNING = StoryPosition(0, 0)
"""Place of what an author says without one."""

_IDENTITY = word_pattern("point_of_view_identity")
"""Words by which a note says that two names are of one."""

_CAPITALISED = re.compile(r"[A-Z][\w'’-]+(?: [A-Z][\w'’-]+)*")
"""A name within free words."""

SHOWN_FIELDS = ("public_identity", "age", "gender", "occupation", "appearance")
"""What everybody sees or knows who has met somebody.

What moves them and where they come from, texts have to tell.
"""

WITHHELD = "(withheld: it may name what the point of view does not know)"


def decided_point_of_view(
    request: MemoryContextRequest, plan: RetrievalPlan, outline: StoryOutline | None, mode: KnowledgeMode | None
) -> tuple[PointOfView | None, ReportIssue | None]:
    """Return the point of view and the handling of its unknown facts."""
    name = request.scene_plan.pov.strip()
    wanted_choice = request.knowledge or mode
    if not name:
        return (PointOfView(mode="mark") if wanted_choice == "mark" else None), None
    if outline is None:
        return PointOfView(name=name, mode="exclude" if wanted_choice == "exclude" else "mark"), None
    known_entities_by_id = {entity.entity_id: entity for entity in outline.entities}
    entity = known_entities_by_id.get(plan.pov_id or "")
    if entity is None or entity.entity_type != "character":
        issue = ReportIssue(
            stage="knowledge",
            kind="unresolved",
            message=f"no one character whom the story has shown by then is meant by the point of view {name!r}; "
            "nothing is left out or set apart. Give the name, an alias or the id of a character",
        )
        return PointOfView(name=name, mode="mark"), issue
    return PointOfView(character_id=entity.entity_id, name=name, mode=wanted_choice or "separate"), None


@dataclass(frozen=True)
class FoundStory:
    """The results for a planned scene."""

    outline: StoryOutline
    search: SearchResult
    states: Sequence[EntityStateSnapshot]
    timeline: Sequence[EntityStateSnapshot]
    guessed_scenes: Sequence[tuple[int, int]] = ()
    """Scenes in which a guess alone has the point of view."""


@dataclass(frozen=True)
class PointOfViewCut:
    """Divides results into a character's known and unknown parts."""

    found: FoundStory
    character_id: str | None
    view: CharacterView | None
    changes: StoryChanges | None
    request: MemoryContextRequest

    @cached_property
    def known(self) -> FoundStory:
        """The known results, under known names."""
        outline = self.found.outline
        return FoundStory(
            outline=outline.model_copy(
                update={
                    "entities": list(self._known_entities),
                    "scenes": list(self._known_scenes()),
                    "open_loops": list(self._known_loops()),
                    "relationships": list(self._known_relationships()),
                    "chapter_summaries": [
                        summary
                        for summary in outline.chapter_summaries
                        if self._knows_summary(summary.summary, summary.chapter_index, summary.chapter_index)
                    ],
                    "part_summaries": [
                        part
                        for part in outline.part_summaries
                        if self._knows_summary(part.summary, part.first_chapter, part.last_chapter)
                    ],
                }
            ),
            search=replace(self.found.search, candidates=tuple(self._known_candidates)),
            states=list(self._known_states()),
            timeline=(),
            guessed_scenes=[
                place for scene in self.found.outline.scenes if self._view.is_guessed_in(*(place := story_place(scene)))
            ],
        )

    @cached_property
    def hidden(self) -> FoundStory:
        """The unknown results: memories and differing states, threads and relationships."""
        outline, known_story = self.found.outline, self.known
        taken_ids = {candidate.chunk.chunk_id for candidate in known_story.search.candidates}
        threads = {thread.loop_id for thread in known_story.outline.open_loops}
        pairs = {relationship.relationship_id: relationship for relationship in known_story.outline.relationships}
        statements = {
            (scene.chapter_index, scene.scene_index, text)
            for scene in known_story.outline.scenes
            for text in (*scene.key_events, *scene.summary)
        }

        def unsaid(scene: OutlineScene, lines: Sequence[str]) -> tuple[str, ...]:
            return tuple(text for text in lines if (scene.chapter_index, scene.scene_index, text) not in statements)

        return FoundStory(
            outline=outline.model_copy(
                update={
                    "scenes": [
                        replace(scene, key_events=unsaid(scene, scene.key_events), summary=unsaid(scene, scene.summary))
                        for scene in outline.scenes
                    ],
                    "open_loops": [
                        self._with_doubt_of_thread(thread)
                        for thread in outline.open_loops
                        if thread.loop_id not in threads
                    ]
                    + [self._with_doubt_of_end(thread) for thread in outline.ended_loops if thread.loop_id in threads],
                    "relationships": list(self._unknown_relationships(pairs)),
                    "chapter_summaries": [],
                    "part_summaries": [],
                }
            ),
            search=replace(
                self.found.search,
                candidates=tuple(
                    candidate for candidate in self.found.search.candidates if candidate.chunk.chunk_id not in taken_ids
                ),
            ),
            states=list(self._differing_states()),
            timeline=(),
            guessed_scenes=[
                place
                for scene in outline.scenes
                if self._view.doubted_at(*(place := (scene.chapter_index, scene.scene_index)))
                or any(self._view.notes_hiding(text, *place) for text in (*scene.key_events, *scene.summary))
            ],
        )

    @cached_property
    def unknown_names(self) -> dict[str, str]:
        """Entity id to the display name in the story, where they know another one, or none."""
        names_by_id = {entity.entity_id: entity.name for entity in self.known.outline.entities}
        return {
            entity.entity_id: entity.name
            for entity in self.found.outline.entities
            if names_by_id.get(entity.entity_id) != entity.name
        }

    def counted(self) -> dict[str, int]:
        """Return the counts of unknown results by kind, without zeros."""
        known_story = self.known
        whole, story_outline = self.found.outline, known_story.outline

        def entries(outline: StoryOutline) -> int:
            threads = [thread for thread in outline.open_loops if thread.believed_by is None]
            told_count = len(threads) + len(outline.relationships)
            told_count += len(outline.chapter_summaries) + len(outline.part_summaries)
            return told_count + sum(len(scene.key_events) for scene in outline.scenes)

        counts = {
            "memories": len(self.found.search.candidates) - len(known_story.search.candidates),
            "states": sum(1 for _ in self._differing_states()),
            "timeline": entries(whole) - entries(story_outline),
            "names": len(self.unknown_names),
        }
        return {kind: count for kind, count in counts.items() if count}

    def reported(self, query: SearchQuery) -> ReportedQuery:
        """Return a query for the report, withholding unknown names."""
        shown_reported_query = ReportedQuery(
            text=query.text, origin=query.origin, purpose=query.purpose, content_type=query.content_type
        )
        is_plain = query.origin == "rules" and all(word in self._request_text for word in query.text.split())
        return shown_reported_query if is_plain else shown_reported_query.model_copy(update={"text": WITHHELD})

    def reported_names(self, names: Iterable[str]) -> list[str]:
        """Return those of some names that the request itself says."""
        return [name for name in names if name in self._request_text]

    @cached_property
    def _request_text(self) -> str:
        """The text of the request and the known names."""
        names = [name for entity in self.known.outline.entities for name in entity.names()]
        return "\n".join([self._plan_text, *names])

    @cached_property
    def _plan_text(self) -> str:
        return "\n".join([*texts_within(self.request.scene_plan.model_dump()), *self.request.hints])

    @cached_property
    def _view(self) -> CharacterView:
        """The character's view, empty without knowledge."""
        return self.view or StoryKnowledge(KnowledgeRules(KnowledgeStory(self.request.position))).of("")

    # --- Memories ---

    def known_candidates(self, candidates: Iterable[Candidate]) -> list[Candidate]:
        """Return those of some memories that they know, each as it holds for them."""
        view = self._view
        # A memory that something replaced of which they do not know still holds for them.
        return [
            candidate
            if candidate.chunk.superseded_by is None
            or replacing_scene(candidate.chunk.superseded_by) is not None
            or over_from(candidate.chunk.superseded_by) is not None
            or view.knows_source(candidate.chunk.superseded_by)
            else replace(candidate, chunk=candidate.chunk.model_copy(update={"superseded_by": None}))
            for candidate in candidates
            if view.knows(candidate.chunk)
        ]

    def with_guesses(self, item: ContextItem, chunk: StoryMemoryChunk) -> ContextItem:
        """Return a receipt with the scenes of guessed presence behind it."""
        places = [(place.chapter_index, place.scene_index) for place in self._view.guesses_of(chunk)]
        return item.model_copy(update={"guessed_in": places}) if places else item

    def with_doubt(self, item: ContextItem, chunk: StoryMemoryChunk) -> ContextItem:
        """Return a hidden receipt with its scene where a guess alone hides it."""
        place = self._view.doubt_of(chunk)
        return item if place is None else item.model_copy(update={"guessed_in": [_pair(place)]})

    def has_cast(self, place: tuple[int, int]) -> bool:
        """Tell whether somebody says who was in a scene."""
        scene = self._view.shared.rules.story.scene_at.get(StoryPosition(*place))
        return scene is not None and scene.has_record

    def doubts(self, hidden: HiddenContext | None, left_off: LeftOff | None) -> dict[str, Any]:
        """Return by which guesses something is hidden: scenes without them, and notes that scenes with them tell.

        Args:
            hidden: What is set apart from them.
            left_off: The end of the previous scene, where it is kept from them.
        """
        scenes = doubted_scenes(hidden)
        texts = [(chunk.content, story_place(chunk)) for chunk in hidden.memories] if hidden else []
        for scene in self.found.outline.scenes:
            texts += [(text, story_place(scene)) for text in (*scene.key_events, *scene.summary)]
        texts = [(text, place) for text, place in texts if place in scenes]
        if left_off is not None:
            texts.append((f"{left_off.title}\n{left_off.text}", (left_off.chapter_index, left_off.scene_index)))
        notes = {(note_id, *place) for text, place in texts for note_id in self._view.notes_hiding(text, *place)}
        return {
            "doubted_scenes": [place for place in scenes if not self._view.was_in(*place)],
            "doubted_notes": sorted(notes, key=lambda note: note[1:]),
        }

    @cached_property
    def _known_candidates(self) -> list[Candidate]:
        return self.known_candidates(self.found.search.candidates)

    # --- Names ---

    @cached_property
    def _shown_text(self) -> str:
        return "\n".join([self._plan_text, *(candidate.chunk.content for candidate in self._known_candidates)])

    @cached_property
    def known_cards(self) -> Mapping[str, Entity]:
        """The one card that they know of each person who is also somebody else, where that is kept from them."""
        if self.view is None or self.changes is None:
            return {}
        of_cards, view = self.changes.of_cards, self.view
        return {
            person: max(cards, key=self._how_known)
            for person, cards in of_cards.cards.items()
            if person != self.character_id
            and view.is_identity_kept(
                [card.names() for card in cards], is_told_to_all=of_cards.identities.is_told_to_all(person)
            )
        }

    def _how_known(self, card: Entity) -> tuple[bool, bool]:
        """Return whether the plan names a card, and whether they know a name of it."""
        is_named = any(name in self._plan_text for name in card.names())
        return is_named, bool(self._view.names_of(card, self._shown_text))

    @cached_property
    def _known_changes(self) -> StoryChanges | None:
        return self.changes and self.changes.as_known(self.known_cards)

    def _as_known(self, entity: Entity) -> Entity:
        """Return a person as the card that they know."""
        if entity.entity_id in self.known_cards:
            return self.known_cards[entity.entity_id].model_copy(update={"entity_id": entity.entity_id})
        if self.changes is None and entity.earlier_ids and entity.entity_id != self.character_id:
            # Nobody can tell which card said what.
            return entity.model_copy(update={"profile": {}, "revealed_names": [], "earlier_ids": []})
        return entity

    def _names_of(self, entity_id: str) -> Sequence[str]:
        """Return the names of anything, of a person those of the known card."""
        card = self.known_cards.get(entity_id)
        return card.names() if card else self._view.shared.rules.story.names.get(entity_id, ())

    def _known_cast(self, scene: OutlineScene) -> list[str]:
        """Return the cast of a scene without whom they take for somebody else there."""
        return self.known_present(scene.participants, story_place(scene))

    def known_present(self, present: Iterable[str], place: Place) -> list[str]:
        """Return those of a cast whom they know as the ones that they were there."""
        return [entity_id for entity_id in present if place not in self._unknown_places.get(entity_id, ())]

    @cached_property
    def _unknown_places(self) -> Mapping[str, set[Place]]:
        return self.changes.unknown_places(self.known_cards) if self.changes else {}

    @cached_property
    def _known_entities(self) -> Sequence[Entity]:
        shown_text = self._shown_text
        entities = []
        for entity in map(self._as_known, self.found.outline.entities):
            is_own = entity.entity_id == self.character_id
            names = self.view.names_of(entity, shown_text) if self.view else []
            if not names and is_own:
                names = [self.request.scene_plan.pov.strip() if self.view is None else entity.name]
            if not names and self.view and entity.entity_id in self._seen_holders.get(self.character_id or "", ()):
                names = [entity.name]
            if names:
                kept_aliases = [alias for alias in entity.aliases if alias.alias in names[1:]]
                entities.append(entity.model_copy(update={"name": names[0], "aliases": kept_aliases}))
        return entities

    @cached_property
    def _nameless_ids(self) -> frozenset[str]:
        """The ids of everybody and everything without a name that they know; without a view nobody can tell."""
        if self.view is None:
            return frozenset()
        named_ids = {entity.entity_id for entity in self._known_entities}
        return frozenset(entity.entity_id for entity in self.found.outline.entities) - named_ids

    def _named_values(self, snapshot: EntityStateSnapshot) -> dict[str, Any]:
        """Return a state without the values for which they know no name."""
        values = {}
        for attribute, value in snapshot.state_data.items():
            named_value = value
            if isinstance(value, Mapping) and value.get("location_id") in self._nameless_ids:
                named_value = {**value, "location_id": None}
            elif isinstance(value, list):
                named_value = [entry for entry in value if str(entry) not in self._nameless_ids]
            if named_value == value or named_value:
                values[attribute] = named_value
        return {name: value for name, value in values.items() if str(value) not in self._nameless_ids}

    def knows_of_card(self, entity_id: str, text: str) -> bool:
        """Tell whether they know what a card says: of themselves, or of people they have met."""
        if entity_id == self.character_id:
            return True
        if entity_id in self._nameless_ids:
            return False
        scenes = (scene for scene in self.found.outline.scenes if entity_id in self._known_cast(scene))
        is_met = any(self._view.was_in(*story_place(scene)) for scene in scenes)
        names = self._names_of(entity_id)
        return is_met and self._view.knowing_of_statement(" ".join([*names, text]), [entity_id], None).knows

    # --- Scenes, threads, summaries ---

    def _known_scenes(self) -> Iterable[OutlineScene]:
        view = self._view
        for scene in self.found.outline.scenes:
            place = (scene.chapter_index, scene.scene_index)
            if view.was_in(*place):
                yield replace(
                    scene,
                    participants=self._known_cast(scene),
                    title=scene.title if view.witnessed_narration(scene.title, *place) else "",
                    key_events=tuple(
                        key_event for key_event in scene.key_events if view.witnessed_narration(key_event, *place)
                    ),
                    summary=tuple(text for text in scene.summary if view.witnessed_narration(text, *place)),
                )

    def _known_loops(self) -> Iterable[OpenLoop]:
        view = self._view
        for loop in (*self.found.outline.open_loops, *self._loops_believed_open()):
            knowing = view.knowing_of_thread(loop)
            if not knowing.knows:
                continue
            if loop.worded_in and not view.was_in(*loop.worded_in):
                planted_as = loop.first_worded or loop.description
                loop = loop.model_copy(update={"description": planted_as, "first_worded": "", "worded_in": None})
            guess = view.guess_of(knowing)
            if guess is not None:
                loop = loop.model_copy(update={"guessed_in": [_pair(guess)]})
            if view.was_in(loop.last_chapter_index, loop.last_scene_index):
                yield loop
            else:
                planting_fields = {"last_chapter_index": loop.chapter_index, "last_scene_index": loop.scene_index}
                yield loop.model_copy(update={"status": "open", **planting_fields})

    def _loops_believed_open(self) -> Iterable[OpenLoop]:
        """Yield the threads of theirs that ended without them: for them they are open."""
        for loop in self.found.outline.ended_loops:
            if self.character_id in loop.related_entities and self._view.believes_open(loop):
                update = {"status": "open", "resolution_summary": None, "believed_by": self.character_id}
                yield self._with_doubt_of_end(loop).model_copy(update={**update, "steps": loop.steps[:-1]})

    def _with_doubt_of_end(self, thread: OpenLoop) -> OpenLoop:
        place = self._view.doubt_of_end(thread)
        return thread if place is None else thread.model_copy(update={"guessed_in": [_pair(place)]})

    def _with_doubt_of_thread(self, thread: OpenLoop) -> OpenLoop:
        place = self._view.doubt_of_thread(thread)
        return thread if place is None else thread.model_copy(update={"guessed_in": [_pair(place)]})

    def _knows_summary(self, text: str, first_chapter: int, last_chapter: int) -> bool:
        places = [
            (scene.chapter_index, scene.scene_index)
            for scene in self.found.outline.scenes
            if first_chapter <= scene.chapter_index <= last_chapter
        ]
        return bool(places) and all(self._view.saw(text, *place) for place in places)

    # --- States ---

    def _known_states(self) -> Iterable[EntityStateSnapshot]:
        view, as_of = self.view, self.request.position
        for snapshot in self.found.states:
            if snapshot.entity_id in self._nameless_ids:
                continue
            is_own = snapshot.entity_id == self.character_id
            changes = self._changes_known_of(snapshot.entity_id)
            visible_snapshot: EntityStateSnapshot | None = snapshot
            told_own = is_own and self._known_changes is not None and bool(self._changes_of.get(snapshot.entity_id))
            if not is_own or (view is not None and told_own):
                standing_changes, doubted = without_places_left(seen_alive(changes), self._is_at(snapshot))
                visible_snapshot = snapshot_of(
                    snapshot.project_id, standing_changes, as_of=as_of, timestamp=snapshot.timestamp, doubted=doubted
                )
            if visible_snapshot is not None:
                held_ids = set(self._seen_holders.get(snapshot.entity_id, ())) - self._nameless_ids
                believed = self._believed(visible_snapshot, snapshot)
                visible_snapshot = visible_snapshot.model_copy(
                    update={"state_data": self._named_values(visible_snapshot)}
                )
                yield visible_snapshot.model_copy(
                    update={
                        # What somebody else holds by now, the line of the thing alone says, as a belief.
                        "holds": [held_id for held_id in snapshot.holds if held_id in held_ids],
                        "believed": {name: believed[name] for name in believed if name in visible_snapshot.state_data},
                        "guessed_in": {} if is_own else self._guessed_in(visible_snapshot, changes),
                    }
                )

    def _changes_known_of(self, entity_id: str) -> list[StateChange]:
        """Return the changes of an entity that they know.

        Their own state, wherever it came to be, but for what a memory tells that is kept from them.
        """
        if entity_id != self.character_id:
            return [change for change in self._seen_changes if change.entity_id == entity_id]
        return [
            change
            for change in self._changes_of.get(entity_id, ())
            if not self._view.is_kept_from(self._said_of(change), change.chapter_index, change.scene_index)
        ]

    def knows_state(self, change: StateChange) -> bool:
        """Tell whether they know the value that a change gave and that holds."""
        if not self._nameless_ids.isdisjoint((change.entity_id, str(change.value))):
            return False
        changes = seen_alive(self._changes_known_of(change.entity_id))
        values = [one.value for one in changes if (one.attribute, one.kind) == (change.attribute, change.kind)]
        return bool(values) and values[-1] == change.value

    def is_guessed_away(self, change: StateChange) -> bool:
        """Tell whether a guess alone hides a change from them."""
        return self._doubt_of_change(change) is not None

    def knows_field(self, entity: Entity, field: str, value: Any) -> bool:
        """Tell whether they know what a field of a card says."""
        if entity.entity_id == self.character_id:
            return True
        if attribute_named(field) in INNER_ATTRIBUTES or field in self._fields_of_other_cards(entity.entity_id):
            return False
        if entity.entity_type == "character" and field in SHOWN_FIELDS:
            return self.knows_of_card(entity.entity_id, f"{field} {value}")
        text = " ".join([*self._names_of(entity.entity_id), field, str(value)])
        return self._view.knowing_of_statement(text, [entity.entity_id], None).knows

    def _is_at(self, whole: EntityStateSnapshot) -> Callable[[Any, str], bool]:
        """Return the comparison of two places, with a snapshot's own ones as same."""
        standing_values = [whole.state_data.get(name) for name in PLACES]
        return lambda value, location_id: value in standing_values or self._places.is_at(value, location_id)

    @cached_property
    def _places(self) -> PlaceNames:
        """The places of the story with their outer places."""
        values = {
            state.entity_id: [state.state_data.get(name) for name in (*PLACES, HOLDER_ATTRIBUTE)]
            for state in self.found.states
            if state.entity_type == "location"
        }
        where = {place_id: [value for value in place_values if value] for place_id, place_values in values.items()}
        return PlaceNames({entity.entity_id: entity.names() for entity in self.found.outline.entities}, where)

    @cached_property
    def _seen_holders(self) -> Mapping[str, Sequence[str]]:
        """The things that each holder has, as far as they know."""
        return fold_holders(
            (change.entity_id, change.value)
            for change in self._seen_changes
            if change.kind == "explicit" and change.attribute == HOLDER_ATTRIBUTE
        )

    def _guessed_in(
        self, seen: EntityStateSnapshot, changes: Iterable[StateChange]
    ) -> dict[str, tuple[int | None, int | None]]:
        """Return the attributes known by a guessed presence, with its scene."""
        explicit = [change for change in sorted(changes, key=story_place) if change.kind == "explicit"]
        last_changes = {change.attribute: change for change in explicit if change.attribute in seen.state_data}
        guesses = {name: self._guess_of_change(change) for name, change in last_changes.items()}
        return {name: _pair(place) for name, place in guesses.items() if place is not None}

    def _guess_of_change(self, change: StateChange) -> StoryPosition | None:
        """Return the scene by which they know a change, if a guess alone has them in it."""
        place = _place(change)
        if change.by_author and change.kind == "explicit":
            notes = self._notes_telling(change)
            if notes:
                guesses = [self._view.guess_of_source(note.source_id) for note in notes]
                return None if None in guesses else guesses[0]
            saying = self._scene_saying(change)
            if saying is not None:
                return saying
            rules = self._view.shared.rules
            stage = rules.scene_of_statement(place, is_of_chapter=change.is_of_chapter)
            scene = rules.scene_beside(self.character_id or "", _named_by(change), place, stage=stage)
            if not self._was_before_them(change) or self._is_over_from_start(change):
                scene = None
            if scene is None or not scene.has_record:
                # A meeting of a stated cast makes sure what a guess alone tells.
                showing = self._scene_showing(change)
                scene = showing if scene is None or (showing is not None and showing.has_record) else scene
            place = scene.position if scene is not None else None
        if place is None or not self._view.is_guessed_in(place.chapter_index, place.scene_index):
            return None
        return place

    def _believed(self, seen: EntityStateSnapshot, whole: EntityStateSnapshot) -> dict[str, str]:
        """Return the attributes of which the character knows a value that holds no longer."""
        return {
            name: self.character_id or ""
            for name, value in seen.state_data.items()
            if name != PRESENCE_ATTRIBUTE
            and (whole.state_data.get(name) != value or is_left_behind(name, whole.since))
            and not is_left_behind(name, seen.since)
        }

    @cached_property
    def _seen_changes(self) -> list[StateChange]:
        def saw(change: StateChange) -> bool:
            attribute = attribute_named(change.attribute)
            if attribute in INNER_ATTRIBUTES:
                return False
            if change.by_author and change.kind == "explicit":
                # A disguise that no scene shows is one that works, until they know who it is.
                is_disguise = attribute == DISGUISE_ATTRIBUTE
                return self._knows_disguise(change) if is_disguise else self._knows_statement(change)
            about = [change.entity_id] if change.kind == "explicit" else ()
            return self._view.saw(self._said_of(change), change.chapter_index, change.scene_index, about=about)

        changes = self._known_changes.states if self._known_changes else ()
        return [change for change in changes if saw(change)]

    def _knows_statement(self, change: StateChange) -> bool:
        """Tell whether they know what an author states."""
        if self._notes_telling(change):
            return True
        if self._is_withheld(change):
            return False
        if self._scene_saying(change) is not None:
            return True
        if _statement(change) in self._unknown_statements:
            # They were not there, and the note says no more: another scene may show it.
            return self._scene_showing(change) is not None
        knowing = self._view.knowing_of_statement(
            self._said_of(change), _named_by(change), _place(change), is_of_chapter=change.is_of_chapter
        )
        if knowing.knows and self._is_over_from_start(change):
            return self._scene_showing(change) is not None
        return (knowing.knows and self._was_before_them(change)) or self._scene_showing(change) is not None

    def _is_withheld(self, change: StateChange) -> bool:
        """Tell whether a note that states a change is kept from them.

        A later note may keep from them that something is as it was, and an earlier one as long as nothing moved it.
        """
        note = self._withheld_statements.get(_statement(change))
        if note is None:
            return False
        since, place = note.noted_at or _BEGINNING, _place(change) or _BEGINNING
        changes = self._known_changes.states if self._known_changes else ()
        return not any(
            since <= (_place(other) or _BEGINNING) < place and other.value != change.value
            for other in changes
            if (other.entity_id, other.attribute, other.kind) == (change.entity_id, change.attribute, "explicit")
        )

    @cached_property
    def _withheld_statements(self) -> Mapping[Statement, KnowledgeMemory]:
        """The states of withheld notes, with the last note."""
        notes = (note for note in self._view.notes(known=False) if self._view.is_withheld(note))
        return dict(self._statements_of(notes))

    def _was_before_them(self, change: StateChange) -> bool:
        """Tell whether an author's change came before their eyes, or shows."""
        place = _place(change)
        if place is None or _shows(change) or self.character_id in _named_by(change):
            return True
        rules = self._view.shared.rules
        stage = rules.scene_of_statement(place, is_of_chapter=change.is_of_chapter)
        return rules.is_in_all_of(self.character_id or "", place, stage=stage)

    def _scene_saying(self, change: StateChange) -> StoryPosition | None:
        """Return the scene in which they hear a change."""
        rules, statement = self._view.shared.rules, _statement(change)
        if statement not in self._unknown_statements or self._is_withheld(change):
            return None
        end = self._end_of(change)
        sayings = rules.spoken.of_statement(
            statement, since=_place(change) or _BEGINNING, until=None if end is None else _place(end)
        )
        saying = rules.saying_heard(self.character_id or "", sayings)
        if saying is None or self._view.is_kept_from(saying.text, *_pair(saying.scene.position)):
            return None
        return saying.scene.position

    def _is_over_from_start(self, change: StateChange) -> bool:
        """Tell whether another's state of the beginning is over.

        Nobody needs a scene to know how all began, but one to believe it later.
        """
        is_of_start = _place(change) is None and self.character_id not in _named_by(change)
        return is_of_start and self._end_of(change) is not None

    def _end_of(self, change: StateChange) -> StateChange | None:
        """Return the change that ends a state."""
        changes = self._changes_of.get(change.entity_id, ())
        end = ending_change(change, changes)
        if change.attribute not in PLACES:
            return end
        ends = [
            one
            for one in changes
            if place_left(change, one, self._places.is_at) == "sure"
            or (one.attribute == HOLDER_ATTRIBUTE and one.value and story_place(one) > story_place(change))
        ]
        return min([*ends, *([end] if end else [])], key=story_place, default=None)

    def _scene_showing(self, change: StateChange) -> KnowledgeScene | None:
        """Return a scene of theirs that tells a standing change.

        It has all of its names. Of a state that shows beside its bearer it has the bearer, of one of the start also
        their name alone.
        """
        place, end = _place(change), self._end_of(change)
        named = [self._names_of(change.entity_id), *self._names_of_values(change)]
        if place is None and end is None:
            return None
        is_met_of_start = place is None and _shows(change)
        if is_met_of_start or _shows_later(change):
            meeting = self._meeting_showing(change, until=None if end is None else _place(end) or _BEGINNING)
            if meeting is not None:
                return meeting
        if is_met_of_start:
            named = named[:1]
        elif len(named) < LEAST_NAMES_THAT_TELL:
            return None
        then = [name for names in self._names_of_values(end) for name in names] if end else []
        return self._view.scene_naming(
            named,
            place or _BEGINNING,
            until=None if end is None else _place(end),
            then=then,
            is_in_words=not is_entity_id(str(change.value)),
        )

    def _meeting_showing(self, change: StateChange, *, until: StoryPosition | None) -> KnowledgeScene | None:
        """Return a meeting up to a place that shows them a change, which is not kept from them there."""
        unknown_places = self._unknown_places.get(change.entity_id, ())
        meeting = self._view.scene_with(change.entity_id, after=_place(change), until=until, leaving_out=unknown_places)
        if meeting is None or _place(change) is None:
            return meeting
        text = " ".join([*self._names_of(change.entity_id), json.dumps(change.value, ensure_ascii=False)])
        return meeting if self._view.is_shown_at(meeting, text, change.entity_id) else None

    def _names_of_values(self, change: StateChange) -> list[Sequence[str]]:
        """Return the names of each value of a change."""
        names = self._view.shared.rules.story.names
        values = change.value if isinstance(change.value, list) else [change.value]
        if change.kind == "presence":
            values = [change.value.get(LOCATION_ATTRIBUTE)]
        return [names.get(str(value), [str(value)]) for value in values if value]

    @cached_property
    def _changes_of(self) -> Mapping[str, Sequence[StateChange]]:
        """The ordered changes of each entity."""
        changes = defaultdict(list)
        for change in self._known_changes.states if self._known_changes else ():
            changes[change.entity_id].append(change)
        return changes

    def _knows_disguise(self, change: StateChange) -> bool:
        """Tell whether a note that they know, or a merge by then, says who is behind a disguise."""
        names = self._view.shared.rules.story.names
        behind, shown = names.get(change.entity_id, ()), str(change.value)
        if shown in (change.entity_id, *self._revealed_names.get(change.entity_id, ())):
            return True
        # Free words may hold the name: "Daniel Oakes under a false name".
        held_names = {name for own in names.values() for name in own if name in shown}
        shown_names = {shown, *held_names, *_CAPITALISED.findall(shown)}
        shown_names.update(*(own for key, own in names.items() if shown == key or not held_names.isdisjoint(own)))
        return any(
            _IDENTITY.search(note.content) is not None
            and any(name in note.content for name in behind)
            and any(name in note.content for name in shown_names)
            for note in self._view.notes(known=True)
        )

    @cached_property
    def _revealed_names(self) -> Mapping[str, Sequence[str]]:
        """The names of each under which the story knew them as somebody else."""
        return {entity.entity_id: entity.revealed_names for entity in map(self._as_known, self.found.outline.entities)}

    def _said_of(self, change: StateChange) -> str:
        """Return a change as a text: names of its bearer, attribute and value."""
        names = self._names_of(change.entity_id)
        return " ".join([*names, change.attribute, json.dumps(change.value, ensure_ascii=False)])

    def _notes_telling(self, change: StateChange) -> list[KnowledgeMemory]:
        """Return the known notes that state a change at its place or later, in a form or in plain words."""
        place = _place(change) or _BEGINNING
        notes = self._known_statements.get(_statement(change), ())
        notes = [note for note in notes if (note.noted_at or _BEGINNING) >= place]
        return notes or [note for note in self._known_notes_on.get(change.entity_id, ()) if self._tells(note, change)]

    def _tells(self, note: KnowledgeMemory, change: StateChange) -> bool:
        """Tell whether the words of a note say a change while it holds."""
        since, noted_at, end = _place(change), note.noted_at, self._end_of(change)
        if since is None or noted_at is None or noted_at < since:
            return False
        if end is not None and noted_at >= (_place(end) or _BEGINNING):
            return False
        kinds = {name: entity.entity_type for entity in self.found.outline.entities for name in entity.names()}
        values = self._names_of_values(change)
        return bool(values) and all(
            tells_value(
                note.content,
                self._names_of(change.entity_id),
                names,
                kind=next((kinds[name] for name in names if name in kinds), None),
            )
            for names in values
        )

    @cached_property
    def _known_notes_on(self) -> Mapping[str, Sequence[KnowledgeMemory]]:
        """The notes that they know, by each whom they name."""
        notes = defaultdict(list)
        for note in self._view.notes(known=True):
            for entity_id in note.entities:
                notes[entity_id].append(note)
        return notes

    @cached_property
    def _known_statements(self) -> Mapping[Statement, Sequence[KnowledgeMemory]]:
        """The states that notes state which they know, with the notes."""
        notes_by_statement = defaultdict(list)
        for statement, note in self._statements_of(self._view.notes(known=True)):
            notes_by_statement[statement].append(note)
        return notes_by_statement

    @cached_property
    def _unknown_statements(self) -> Mapping[Statement, KnowledgeMemory]:
        """The states of notes that they do not know, with the last such note."""
        return dict(self._statements_of(self._view.notes(known=False)))

    def _statements_of(self, notes: Iterable[KnowledgeMemory]) -> Iterator[tuple[Statement, KnowledgeMemory]]:
        for note in notes:
            for statement in statements_of(note.content, self.found.outline.entities):
                yield statement, note

    def _differing_states(self) -> Iterable[EntityStateSnapshot]:
        known_snapshots_by_id = {state.entity_id: state for state in self.known.states}
        for state in self.found.states:
            snapshot = known_snapshots_by_id.get(state.entity_id)
            had = snapshot.state_data if snapshot else {}
            differing = {
                name: value
                for name, value in state.state_data.items()
                if had.get(name) != value and name != PRESENCE_ATTRIBUTE
            }
            differing |= self._fields_of_other_cards(state.entity_id)
            holds = [held_id for held_id in state.holds if snapshot is None or held_id not in snapshot.holds]
            if differing or holds:
                yield state.model_copy(
                    update={
                        "state_data": differing,
                        "holds": holds,
                        "guessed_in": self._doubted_in(state.entity_id, differing),
                        "unverified": [name for name in state.unverified if name in differing],
                    }
                )

    def _fields_of_other_cards(self, entity_id: str) -> dict[str, Any]:
        """Return what cards say of a person that the known one does not."""
        known_card = self.known_cards.get(entity_id)
        if known_card is None or self.changes is None:
            return {}
        return {
            name: value
            for card in self.changes.of_cards.cards[entity_id]
            for name in SHOWN_FIELDS
            if (value := card.profile.get(name)) not in (None, "", [], {}) and value != known_card.profile.get(name)
        }

    def _doubted_in(self, entity_id: str, values: Mapping[str, Any]) -> dict[str, tuple[int | None, int | None]]:
        """Return the attributes hidden by a guessed absence, with its scene."""
        changes = self._known_changes.states if self._known_changes else ()
        explicit = (change for change in changes if change.kind == "explicit" and change.entity_id == entity_id)
        last_changes = {change.attribute: change for change in sorted(explicit, key=story_place)}
        doubts = {name: self._doubt_of_change(last_changes[name]) for name in values if name in last_changes}
        return {name: _pair(place) for name, place in doubts.items() if place is not None}

    def _doubt_of_change(self, change: StateChange) -> StoryPosition | None:
        """Return the scene of guessed absence that hides a change from them."""
        if not change.by_author:
            return self._view.doubted_at(change.chapter_index, change.scene_index)
        note = self._unknown_statements.get(_statement(change))
        if note is not None:
            return self._view.doubt_of_note(note)
        doubt = self._view.doubted_from(_place(change), is_of_chapter=change.is_of_chapter)
        if doubt is not None or self._was_before_them(change):
            return doubt
        scene = self._view.shared.rules.scene_at_or_before(_place(change) or _BEGINNING)
        return None if scene is None else self._view.doubted_at(*_pair(scene.position))

    # --- Relationships ---

    def _known_relationships(self) -> Iterable[Relationship]:
        for whole in self.found.outline.relationships:
            if not self._nameless_ids.isdisjoint((whole.character_a, whole.character_b)):
                continue
            changes = self._pair_changes.get((whole.character_a, whole.character_b), ())
            pair_changes = [pair_change for pair_change in changes if self._saw_pair(pair_change, whole)]
            sides = {whole.character_b: "b", whole.character_a: "a"}
            side = sides.get(self.character_id or "")
            if not pair_changes and side is None:
                continue
            ids = whole.model_dump(include={"relationship_id", "character_a", "character_b"})
            standing_relationship = folded_relationship(pair_changes, **ids) if pair_changes else Relationship(**ids)
            # What they feel themselves; nobody sees into the others.
            own = {name: getattr(whole, name) for name in (f"perspective_{side}", f"dimensions_{side}") if side}
            if pair_changes or any(own.values()):
                nobodys = {"perspective_a": "", "perspective_b": "", "dimensions_a": {}, "dimensions_b": {}}
                guesses = {
                    place
                    for pair_change in pair_changes
                    if not self._is_own_standing(pair_change, whole)
                    and self._view.is_guessed_in(*(place := story_place(pair_change)))
                }
                yield standing_relationship.model_copy(update={**nobodys, **own, "guessed_in": sorted(guesses)})

    @cached_property
    def _pair_changes(self) -> Mapping[tuple[str, str], Sequence[PairChange]]:
        pairs = self._known_changes.pairs.values() if self._known_changes else ()
        return {(changes[0].character_a, changes[0].character_b): changes for changes in pairs if changes}

    def _unknown_relationships(self, known_relationships_by_id: Mapping[str, Relationship]) -> Iterable[Relationship]:
        """Yield the unknown parts of relationships."""
        for whole in self.found.outline.relationships:
            side = {whole.character_b: "b", whole.character_a: "a"}.get(self.character_id or "")
            relationship = known_relationships_by_id.get(whole.relationship_id)
            own: dict[str, Any] = {}
            if side and relationship is not None:
                own = {f"perspective_{side}": "", f"dimensions_{side}": {}}
            unknown_relationship = whole.model_copy(update=own)
            if _tells_alike(unknown_relationship, relationship and relationship.model_copy(update=own)):
                continue
            if relationship is not None:
                hidden_fields = {
                    name: _OF_PAIR[name] for name in _OF_PAIR if getattr(relationship, name) == getattr(whole, name)
                }
                unknown_relationship = unknown_relationship.model_copy(update=hidden_fields)
            yield unknown_relationship

    def _is_own_standing(self, change: PairChange, whole: Relationship) -> bool:
        """Tell whether an author says how they stand to somebody, who need no scene to know it."""
        return change.origin == "author" and self.character_id in (whole.character_a, whole.character_b)

    def _saw_pair(self, change: PairChange, whole: Relationship) -> bool:
        statement = " ".join(text for text in (change.relationship_type, change.status, change.event) if text)
        about = [whole.character_a, whole.character_b]
        if self._is_own_standing(change, whole):
            return not self._view.is_stated_apart(statement, about)
        return self._view.saw(statement, change.chapter_index, change.scene_index, about=about)


GUESSED_SCENES_NAMED = 5
"""So many of the scenes of which it is a guess who was there are named, the latest."""


def guessed_scenes(context: SceneMemoryContext) -> list[tuple[int, int]]:
    """Return the scenes of guesses that the context draws on."""
    guesses = [
        *(item.guessed_in for item in context.report.items),
        *(before.guessed_in for before in context.story_so_far),
        *((context.left_off.guessed_in,) if context.left_off else ()),
        *(list(state.guessed_in.values()) for state in context.entity_states),
        *_guesses_of_entries(context.timeline_context),
    ]
    return sorted({place for places in guesses for place in places})


def _guesses_of_entries(timeline: Mapping[str, Any] | None) -> Iterator[list[tuple[int, int]]]:
    for entry in (entry for section in (timeline or {}).values() for entry in section):
        # That they were not told of an end is a doubt of what is hidden.
        if entry.get("believed_by"):
            continue
        yield [(chapter, scene) for chapter, scene in entry.get("guessed_in", ())]


def doubted_scenes(hidden: HiddenContext | None) -> list[tuple[int, int]]:
    """Return the scenes of which a guess alone hides something."""
    if hidden is None:
        return []
    guesses = [
        *(item.guessed_in for item in hidden.items),
        *(before.guessed_in for before in hidden.story_so_far),
        *(list(state.guessed_in.values()) for state in hidden.entity_states),
        *_guesses_of_entries(hidden.timeline_context),
    ]
    return sorted({place for places in guesses for place in places})


def doubted_by_notes(context: SceneMemoryContext) -> list[tuple[int, int]]:
    """Return the scenes of the point of view's text of which a guess hides what is noted."""
    view, hidden = context.report.point_of_view, context.hidden
    if view is None or hidden is None:
        return []
    noted = [item for item in hidden.items if item.chunk_id.startswith(NOTE_ID)]
    scenes = doubted_scenes(hidden.model_copy(update={"items": noted, "story_so_far": []}))
    return [place for place in scenes if place not in view.doubted_scenes]


def guessed_scenes_issues(context: SceneMemoryContext) -> list[ReportIssue]:
    """Return the issues for guessed casts that tell or hide something."""
    view = context.report.point_of_view
    if view is None:
        return []
    messages = []
    if view.guessed_scenes:
        places = _named(view.guessed_scenes)
        messages.append(
            f"whether {view.name!r} was in {', '.join(places)} is a guess: the text names them there, nobody says "
            f"who was there, and its text is not kept from them. Say it: "
            f"`novelgen scene set {context.project_id} {places[-1]} --cast …`"
        )
    if noted_scenes := doubted_by_notes(context):
        places = _named(noted_scenes)
        messages.append(
            f"that {view.name!r} did not learn what is noted of {', '.join(places)} is a guess: nobody says who was "
            f"there, and the notes, states and threads with the mark are hidden from them. Say it: "
            f"`novelgen scene set {context.project_id} {places[-1]} --cast …`"
        )
    if view.doubted_scenes:
        places = _named(view.doubted_scenes)
        messages.append(
            f"that {view.name!r} was not in {', '.join(places)} is a guess: nobody says who was there, and it is "
            f"hidden from them. Say it: `novelgen scene set {context.project_id} {places[-1]} --cast …`"
        )
    for note_id, chapter, scene in view.doubted_notes[-GUESSED_SCENES_NAMED:]:
        messages.append(
            f"that {view.name!r} did not learn {note_id} in {chapter}:{scene} is a guess: the scene has them and seems "
            f"to tell it, and the note is hidden from them. If they learn it there: "
            f"`novelgen memory knowledge {context.project_id} {note_id} {in_shell(view.name)} knows "
            f"--from {chapter}:{scene + 1}`"
        )
    for note_id, chapter, scene in view.untied_notes[-GUESSED_SCENES_NAMED:]:
        messages.append(
            f"the text of {chapter}:{scene} may tell {note_id}, which is kept from {view.name!r}, who was there: no "
            f"words of it could be tied to the note. Read what is given of it. If they learn it there: "
            f"`novelgen memory knowledge {context.project_id} {note_id} {in_shell(view.name)} knows "
            f"--from {chapter}:{scene + 1}`"
        )
    return [ReportIssue(stage="knowledge", kind="unresolved", message=message) for message in messages]


def _named(scenes: Sequence[tuple[int, int]]) -> list[str]:
    return [f"{chapter}:{scene}" for chapter, scene in scenes[-GUESSED_SCENES_NAMED:]]


def marked_items(
    items: Sequence[ContextItem],
    chunks: Sequence[StoryMemoryChunk],
    character_ids: Collection[str],
    knowledge: StoryKnowledge,
) -> list[ContextItem]:
    """Return receipts marked with the characters that know each memory."""
    views = [knowledge.of(character_id) for character_id in character_ids]

    def marked(item: ContextItem, chunk: StoryMemoryChunk) -> ContextItem:
        knows = {view.character_id: view.knows(chunk) for view in views}
        source_id, newer = chunk.memory_id, item.holds_now
        if newer is not None and any(view.is_hidden_from_them(newer.source_id) for view in views):
            newer = newer.model_copy(update={"text": ""})
        return item.model_copy(
            update={
                "holds_now": newer,
                "known_by": [text for text, is_known in knows.items() if is_known],
                "not_known_by": [text for text, is_known in knows.items() if not is_known],
                "kept_from": [view.character_id for view in views if view.is_hidden_from_them(source_id)],
            }
        )

    return [marked(item, chunk) for item, chunk in zip(items, chunks, strict=True)]


def _tells_alike(one: Relationship, other: Relationship | None) -> bool:
    left_out = {"history", "chapter_index", "scene_index"}
    return other is not None and one.model_dump(exclude=left_out) == other.model_dump(exclude=left_out)


def _place(thing: StateChange | OpenLoop) -> StoryPosition | None:
    return None if thing.chapter_index is None else StoryPosition(thing.chapter_index, thing.scene_index)


def _pair(place: StoryPosition) -> tuple[int | None, int | None]:
    return place.chapter_index, place.scene_index


def _shows_later(change: StateChange) -> bool:
    """Tell whether a change shows in any meeting while it holds.

    Where somebody was and what they did in the scene of the change, a later one does not show.
    """
    return _shows(change) and attribute_named(change.attribute) not in (*PLACES, PASSING_ATTRIBUTE)


def _shows(change: StateChange) -> bool:
    """Tell whether a change shows when they meet its bearer."""
    return shows_beside(change.attribute, change.entity_type)


def _statement(change: StateChange) -> Statement:
    return Statement(change.entity_id, change.attribute, NOBODY if change.value is None else str(change.value))


def _named_by(change: StateChange) -> list[str]:
    """Return the ids of a change: its bearer, and its value where that is one."""
    return [change.entity_id, *([change.value] if is_entity_id(str(change.value)) else [])]
