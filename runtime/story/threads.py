"""Threads of a story: list, plant, move, end and ledger."""

from collections.abc import Iterable, Sequence
from operator import not_
from typing import Any, get_args

from pydantic import Field

from novelgen.errors import UnknownIdError, UserInputError
from novelgen.language.language import stated_language
from novelgen.language.normalise import name_key
from novelgen.memory.attributes import STATUS_ATTRIBUTES, deaths
from novelgen.memory.ledger import LedgerStory, ThreadLedger, ThreadStage, ledger_warnings, make_ledger
from novelgen.models.folds import OWN_WORDS
from novelgen.models.position import END_OF_STORY, StoryPosition, deadline_text, sort_key
from novelgen.models.position import Place as ScenePlace
from novelgen.models.record import RecordedLoop, RecordedLoopAdvance, RecordedLoopResolution, ThreadEnding
from novelgen.models.shown import ShownList
from novelgen.models.state import LoopImportance, LoopStatus, OpenLoop
from novelgen.nearest import MAX_LISTED
from runtime.storage.change import Kept, ThreadChangeKind
from runtime.storage.database import UnitOfWork
from runtime.storage.events import ThreadNotes
from runtime.stores import MemoryStores
from runtime.story import base
from runtime.story.changes import DeletionResult, followed_deletion
from runtime.story.note_states import names_by_words
from runtime.story.versions import Version, require_unchanged, require_version, thread_version


class ListedThread(OpenLoop, ThreadNotes):
    """A thread with its author's notes, for authors only."""

    change_id: base.ChangeNumber = None
    version: str = Field(default="", exclude_if=not_, description="Of a thread read by itself; a change may name it.")
    kept_from: list[str] = Field(
        default_factory=list,
        exclude_if=not_,
        description="Of a thread just planted or reworded: names of those from whom its words keep it.",
    )
    known_only_by: list[str] = Field(
        default_factory=list,
        exclude_if=not_,
        description="Of a thread just planted or reworded: names of its only knowers, as its words say.",
    )
    knowers_over: bool = Field(
        default=False,
        exclude_if=not_,
        description="Its words list all who know it, and say that this is over or to come.",
    )


WAITING: tuple[LoopStatus, ...] = ("open", "advanced")
"""Statuses of threads that wait for an answer."""


class StoryThreads(base.StoryBase):
    """Threads of a story: list, plant, move and end."""

    def get(self, loop_id: base.Name, *, as_of: base.Place = None) -> ListedThread:
        """Return a thread as it stands at a position.

        Args:
            loop_id: Its id, such as OL3, or a part of its description that no other one has.
            as_of: Position of the read; None means the end of the story.

        Raises:
            UserInputError: When it is not planted by then.
        """
        with self._stores.database(self.project_id).read() as unit:
            thread = required_thread(unit, self.project_id, loop_id, base.position_of(as_of) or END_OF_STORY)
            return _versioned(unit, self.project_id, thread)

    def add(
        self,
        description: str,
        *,
        category: str = "",
        importance: LoopImportance = "medium",
        characters: Sequence[str] = (),
        locations: Sequence[str] = (),
        items: Sequence[str] = (),
        notes: str = "",
        pay_off: str = "",
        due_from: base.Place = None,
        due_by: base.Place = None,
        parts: base.Number | None = None,
        scene_id: str | None = None,
        start: base.Place = None,
    ) -> ListedThread:
        """Plant a thread.

        Args:
            description: The question or promise that the story leaves open.
            category: mystery, relationship, goal, threat, promise, …
            importance: How much it weighs.
            characters: Whom it is about, by id, name or alias.
            locations: Which places.
            items: Which things.
            notes: What its author notes of it; it stands in no context and no prompt.
            pay_off: What its pay-off needs; the ledger of threads tells it, and so the next three.
            due_from: From entering this scene on it is due.
            due_by: Open on entering this scene, it is overdue.
            parts: In how many parts it is to be paid, at least two.
            scene_id: Scene in which it is planted, as S001 or 3:2; None means the last one.
            start: It waits on entering this position; None means after the last stored scene.

        Raises:
            UnknownEntityError: When nobody bears the name of a related entity by then.
            UnknownSceneError: When the scene is not stored before the position.
            UserInputError: When the description is empty, or the thread would be overdue before it is due.
        """
        start = base.position_of(start)
        first, last = _stated(base.position_of(due_from)), _stated(base.position_of(due_by))
        if not description.strip():
            raise UserInputError("the description is empty; write what the story leaves open")
        as_of = start or END_OF_STORY
        with self._stores.database(self.project_id).write() as unit:
            known_entities = base.entities_by_end_of(unit, as_of)
            loop_id = unit.threads.next_id()
            _require_order(loop_id, first, last, parts=parts)
            thread = RecordedLoop(
                id=loop_id,
                category=category,
                description=description,
                importance=importance,
                related_characters=base.resolved_ids(characters, known_entities, "character"),
                related_locations=base.resolved_ids(locations, known_entities, "location"),
                related_items=base.resolved_ids(items, known_entities, "item"),
            )
            at = base.place_of_statement(unit, as_of, scene_id=scene_id)
            fields: dict[str, Any] = {"created_at": self._stores.clock().isoformat(), OWN_WORDS: True}
            plan = {
                "notes": notes or None,
                "pay_off": pay_off or None,
                "due_from": first,
                "due_by": last,
                "parts": parts,
            }
            fields |= {name: value for name, value in plan.items() if value is not None}
            if start is not None and scene_id is None:
                fields["said_from"] = [start.chapter_index, start.scene_index or 1]
            with unit.journal.changing_thread("add", thread.id, description) as journal_entry:
                unit.threads.append(thread, at=at, follows_scene=scene_id is not None)
                unit.threads.describe(thread.id, fields)
            planted = _changed(unit, self.project_id, thread.id, as_of, journal_entry)
            return _with_names_by_words(unit, planted)

    def edit(
        self,
        loop_id: base.Name,
        *,
        description: str | None = None,
        category: str | None = None,
        importance: LoopImportance | None = None,
        characters: Sequence[str] | None = None,
        notes: str | None = None,
        pay_off: str | None = None,
        due_from: base.Place = None,
        due_by: base.Place = None,
        parts: base.Number | None = None,
        start: base.Place = None,
        expected_version: Version | None = None,
    ) -> ListedThread:
        """Change how a thread is described, what is noted of it, and where it is planted; what is not given stays.

        Args:
            loop_id: Its id, such as OL3, or a part of its description that no other one has.
            description: The question or promise that the story leaves open.
            category: mystery, relationship, goal, threat, promise, ….
            importance: low, medium, high or critical.
            characters: Whom it is about, by id, name or alias, in place of those before.
            notes: What its author notes of it; it stands in no context and no prompt.
            pay_off: What its pay-off needs; the ledger of threads tells it, and so the next three.
            due_from: From entering this scene on it is due.
            due_by: Open on entering this scene, it is overdue.
            parts: In how many parts it is to be paid, at least two.
            start: It waits on entering this position; only a thread that its author planted moves.
            expected_version: The `version` that was read; None changes whatever stands.

        Raises:
            StaleVersionError: When the thread was changed since that version was read.
            UserInputError: When no such thread is stored, a record planted it, it moved on before that position, or
                nothing is to be changed.
        """
        start = base.position_of(start)
        due_from = base.position_of(due_from)
        due_by = base.position_of(due_by)
        card_fields = {
            "description": description,
            "category": category,
            "importance": importance,
            "notes": notes,
            "pay_off": pay_off,
            "due_from": _stated(due_from),
            "due_by": _stated(due_by),
            "parts": parts,
        }
        changes: dict[str, Any] = {name: value for name, value in card_fields.items() if value is not None}
        if not changes and start is None and characters is None:
            raise UserInputError(
                "nothing to change; give a description, a category, an importance, its characters, notes, what its"
                " pay-off needs, when it is due, its parts, or from where on it waits"
            )
        if description is not None and not description.strip():
            raise UserInputError("the description is empty; write what the story leaves open")
        with self._stores.database(self.project_id).write() as unit:
            stored_listed_thread = required_thread(unit, self.project_id, loop_id, END_OF_STORY)
            loop_id = stored_listed_thread.loop_id
            require_version(
                expected_version,
                thread_version(stored_listed_thread),
                subject=f"thread {loop_id}",
                stored_fields=stored_listed_thread.model_dump(),
                sent_fields=changes,
            )
            if characters is not None:
                known_entities = base.entities_by_end_of(unit, END_OF_STORY)
                changes["related_characters"] = base.resolved_ids(characters, known_entities, "character")
            _require_order(
                loop_id,
                _stated(due_from) or stored_listed_thread.due_from,
                _stated(due_by) or stored_listed_thread.due_by,
                parts=parts,
            )
            with unit.journal.changing_thread("edit", loop_id, stored_listed_thread.description) as journal_entry:
                if start is not None:
                    chapter, place = start.chapter_index, base.place_of_statement(unit, start)
                    said_from = None if chapter is None else (chapter, start.scene_index or 1)
                    unit.threads.move_planting(loop_id, at=place, said_from=said_from)
                if changes:
                    unit.threads.describe(loop_id, changes)
            changed = _changed(unit, self.project_id, loop_id, END_OF_STORY, journal_entry)
            return changed if description is None else _with_names_by_words(unit, changed)

    def advance(
        self, loop_id: base.Name, note: str, *, pays_part: bool = False, start: base.Place = None
    ) -> ListedThread:
        """Say that a thread moved.

        Args:
            loop_id: Its id, such as OL3, or a part of its description that no other one has.
            note: What happened.
            pays_part: It paid a part of the thread.
            start: It holds on entering this position; None means after the last stored scene.

        Raises:
            UserInputError: When the thread is not planted by then.
        """
        as_of = base.position_of(start) or END_OF_STORY
        with self._stores.database(self.project_id).write() as unit:
            stored_listed_thread = required_thread(unit, self.project_id, loop_id, as_of)
            loop_id = stored_listed_thread.loop_id
            at = base.place_of_statement(unit, as_of)
            with unit.journal.changing_thread("advance", loop_id, stored_listed_thread.description) as journal_entry:
                advance = RecordedLoopAdvance(id=loop_id, note=note, pays_part=pays_part)
                unit.threads.append(
                    advance, at=at, follows_scene=False, said_from=_later_scene(unit, at, base.position_of(start))
                )
            return _changed(unit, self.project_id, loop_id, as_of, journal_entry)

    def resolve(
        self,
        loop_id: base.Name,
        summary: str,
        *,
        ending: ThreadEnding | None = None,
        scene_id: str | None = None,
        start: base.Place = None,
    ) -> ListedThread:
        """Say that a thread was answered.

        Args:
            loop_id: Its id, such as OL3, or a part of its description that no other one has.
            summary: How it was answered.
            ending: How it ended: paid, broken, dropped or moot; None means paid.
            scene_id: Scene in which it was, as S001 or 3:2; None means the last one.
            start: It holds on entering this position; None means after the last stored scene.

        Raises:
            UnknownSceneError: When the scene is not stored before the position.
            UserInputError: When no such thread waits.
        """
        event = RecordedLoopResolution(id=loop_id, resolution_summary=summary, ending=ending)
        return self._end(event, scene_id, base.position_of(start) or END_OF_STORY)

    def abandon(
        self,
        loop_id: base.Name,
        summary: str,
        *,
        ending: ThreadEnding | None = None,
        scene_id: str | None = None,
        start: base.Place = None,
    ) -> ListedThread:
        """Say that a thread was dropped without an answer, and why.

        Without an `ending` the ledger has it as moot where all its characters were dead by then, else as dropped.

        Args:
            loop_id: Its id, such as OL3, or a part of its description that no other one has.
            summary: Why it was dropped.
            ending: paid, broken, dropped or moot.
            scene_id: Scene in which it ended, as S004 or 3:2; None means the last one.
            start: It is over on entering this position; None means after the last stored scene.
        """
        event = RecordedLoopResolution(id=loop_id, resolution_summary=summary, abandoned=True, ending=ending)
        return self._end(event, scene_id, base.position_of(start) or END_OF_STORY)

    def reopen(self, loop_id: base.Name, *, start: base.Place = None) -> ListedThread:
        """Take back that a thread ended.

        Args:
            loop_id: Its id, such as OL3, or a part of its description that no other one has.
            start: It waits again on entering this position; None means after the last stored scene.

        Raises:
            UserInputError: When it has not ended by then, or a scene's record says that it has.
        """
        as_of = base.position_of(start) or END_OF_STORY
        with self._stores.database(self.project_id).write() as unit:
            ended_thread = _meant_thread(unit, loop_id, as_of)
            loop_id = loop_id if ended_thread is None else ended_thread.loop_id
            with unit.journal.changing_thread(
                "reopen", loop_id, ended_thread.description if ended_thread else ""
            ) as journal_entry:
                unit.threads.take_back_ending(loop_id, as_of=as_of)
            return _changed(unit, self.project_id, loop_id, as_of, journal_entry)

    def list_reopenable(self, *, as_of: base.Place = None) -> frozenset[str]:
        """Return the ids of threads ended by the author.

        See `reopen`.

        Args:
            as_of: Position of the read; None means the end of the story.

        Raises:
            UnknownProjectError: When no such project is stored.
        """
        with self._stores.database(self.project_id).read() as unit:
            endings = unit.threads.endings(as_of=base.position_of(as_of) or END_OF_STORY)
        return frozenset(text for text, origin in endings.items() if origin == "author")

    def _end(self, ending: RecordedLoopResolution, scene_id: str | None, as_of: StoryPosition) -> ListedThread:
        with self._stores.database(self.project_id).write() as unit:
            thread = _meant_thread(unit, ending.id, as_of)
            if thread is None or thread.status not in WAITING:
                waiting_threads = unit.threads.list_as_of(as_of=as_of)
                listing = ", ".join(
                    f"{thread.loop_id} ({thread.description})" for thread in waiting_threads[:MAX_LISTED]
                )
                if not waiting_threads:
                    raise UserInputError(f"no thread {ending.id!r} is open, and no other one")
                raise UserInputError(f"no thread {ending.id!r} is open; open are {listing}")
            ending = ending.model_copy(update={"id": thread.loop_id})
            at = base.place_of_statement(unit, as_of, scene_id=scene_id)
            kind: ThreadChangeKind = "abandon" if ending.abandoned else "resolve"
            with unit.journal.changing_thread(kind, ending.id, thread.description) as journal_entry:
                said_from = None if scene_id else _later_scene(unit, at, as_of)
                unit.threads.append(ending, at=at, follows_scene=scene_id is not None, said_from=said_from)
            return _changed(unit, self.project_id, ending.id, as_of, journal_entry)

    def ledger(
        self,
        *,
        category: str = "",
        stages: Sequence[ThreadStage] = (),
        limit: base.Count | None = None,
        as_of: base.Place = None,
    ) -> ThreadLedger:
        """Tell where every thread stands: planted, moved, due, overdue or over.

        Args:
            category: Only of this kind: promise, question, threat, plan, debt, mystery, …
            stages: Only those planted, moved, due, overdue or over; empty means all.
            limit: At most so many.
            as_of: As they stand at this position.
        """
        position = base.position_of(as_of) or END_OF_STORY
        with self._stores.database(self.project_id).read() as unit:
            language = stated_language(unit.projects.require().language) or "en"
            places = unit.scenes.places(as_of=position)
            events = unit.threads.events(as_of=position)
            characters = {
                item
                for moves in events.values()
                for event in moves
                for item in event.detail.get("related_characters") or ()
            }
            changes = unit.states.stated(attributes=STATUS_ATTRIBUTES, as_of=position) if characters else []
        story = LedgerStory(
            project_id=self.project_id,
            language=language,
            places=places,
            events=events,
            deaths={
                entity_id: sort_key(change.chapter_index, change.scene_index)
                for entity_id, change in deaths(changes).items()
                if entity_id in characters
            },
        )
        ledger = make_ledger(story, as_of=position)
        ledger = ledger.of_category(category) if category else ledger
        entries = ledger.at(*stages) if stages else ledger.entries
        return ledger.model_copy(update={"entries": entries[:limit], "more": len(entries) - len(entries[:limit])})

    def delete(self, loop_id: base.Name, *, expected_version: Version | None = None) -> DeletionResult:
        """Delete a thread with its history; `undo` takes it back.

        Args:
            loop_id: Its id, such as OL3, or a part of its description that no other one has.
            expected_version: The `version` that was read; None deletes whatever stands.

        Raises:
            StaleVersionError: When the thread was changed since that version was read.
            UserInputError: When no such thread is stored.
        """
        with self._stores.database(self.project_id).write() as unit:
            meant_thread = _meant_thread(unit, loop_id, END_OF_STORY)
            loop_id = loop_id if meant_thread is None else meant_thread.loop_id
            if expected_version is not None:
                thread = required_thread(unit, self.project_id, loop_id, END_OF_STORY)
                require_unchanged(expected_version, thread_version(thread), subject=f"thread {loop_id}")
            deletion = unit.deletions.delete_thread(loop_id)
        return followed_deletion(self._stores, self.project_id, deletion=deletion)

    def list(self, statuses: Sequence[LoopStatus] = (), *, as_of: base.Place = None) -> list[ListedThread]:
        """Return the questions, promises and threats that the story leaves open, in the order of their planting.

        Args:
            statuses: Only those of these statuses (open, advanced, resolved, abandoned); empty means those that wait.
            as_of: As they stand at this position.
        """
        position = base.position_of(as_of) or END_OF_STORY
        with self._stores.database(self.project_id).read() as unit:
            matching_threads = unit.threads.list_as_of(as_of=position, statuses=list(statuses) or WAITING)
            return ShownList(_noted(unit, matching_threads, position))

    aedit = base.async_twin(edit)
    areopen = base.async_twin(reopen)
    alist = base.async_twin(list)
    aget = base.async_twin(get)
    aadd = base.async_twin(add)
    adelete = base.async_twin(delete)
    aadvance = base.async_twin(advance)
    aresolve = base.async_twin(resolve)
    aabandon = base.async_twin(abandon)
    alist_reopenable = base.async_twin(list_reopenable)
    aledger = base.async_twin(ledger)


def thread_warnings(stores: MemoryStores, project_id: str, *, scenes: Iterable[ScenePlace]) -> list[str]:
    """Return the story's thread warnings after an ingest, in its language."""
    taken_places = frozenset(scenes)
    return ledger_warnings(StoryThreads(stores, project_id).ledger(), taken_places) if taken_places else []


def _stated(position: StoryPosition | None) -> list[int] | None:
    """Return a position for a description, empty for the end."""
    if position is None or position.chapter_index is None:
        return None
    return [position.chapter_index, position.scene_index or 0]


def _later_scene(unit: UnitOfWork, at: StoryPosition, start: StoryPosition | None) -> ScenePlace | None:
    """Return the later scene of a statement."""
    if start is None or start.chapter_index is None or base.is_told_before_the_next(unit, at, start):
        return None
    return start.chapter_index, start.scene_index or 1


def _require_order(loop_id: str, first: Sequence[int] | None, last: Sequence[int] | None, *, parts: int | None) -> None:
    """Refuse a thread that is overdue before it is due, or paid in less than two parts."""
    if parts is not None and parts < 2:
        raise UserInputError(f"a thread cannot be paid in {parts!r} parts; give two or more")
    if first and last and tuple(first) > tuple(last):
        begin, end = deadline_text(first), deadline_text(last)
        raise UserInputError(
            f"thread {loop_id!r} would be overdue at {end} before it is due at {begin};"
            " let it be due by a later scene than from which on it is due"
        )


def _meant_thread(unit: UnitOfWork, name: str, as_of: StoryPosition) -> OpenLoop | None:
    """Return the thread of an id, else the only one whose description has a text."""
    thread = unit.threads.get(name, as_of=as_of)
    wanted_text = name_key(name)
    if thread is not None or not wanted_text:
        return thread
    for statuses in (WAITING, get_args(LoopStatus)):
        threads = unit.threads.list_as_of(as_of=as_of, statuses=list(statuses))
        meant = [thread for thread in threads if wanted_text in name_key(thread.description)]
        if len(meant) > 1:
            listing = ", ".join(f"{thread.loop_id} ({thread.description})" for thread in meant[:MAX_LISTED])
            raise UserInputError(f"{name!r} may be several threads: {listing}; give the id")
        if meant:
            return meant[0]
    return None


def required_thread(unit: UnitOfWork, project_id: str, loop_id: str, as_of: StoryPosition) -> ListedThread:
    """Return a thread that is planted by a position."""
    thread = _meant_thread(unit, loop_id, as_of)
    if thread is None:
        raise UnknownIdError(
            f"no thread {loop_id!r} is planted by then; list them with `novelgen thread list {project_id}`"
        )
    return _noted(unit, [thread], as_of)[0]


def _changed(
    unit: UnitOfWork, project_id: str, loop_id: str, as_of: StoryPosition, journal_entry: Kept
) -> ListedThread:
    changed = required_thread(unit, project_id, loop_id, as_of).model_copy(
        update={"change_id": journal_entry.change_id}
    )
    return _versioned(unit, project_id, changed)


def _with_names_by_words(unit: UnitOfWork, thread: ListedThread) -> ListedThread:
    """Return a thread with those from whom its words keep it, and its only knowers."""
    names = names_by_words(thread.first_worded or thread.description, base.known_entities(unit, None))
    return thread.model_copy(update=names._asdict())


def _versioned(unit: UnitOfWork, project_id: str, thread: ListedThread) -> ListedThread:
    """Return a thread with its version, which is that of the end of the story wherever it is read."""
    at_end = required_thread(unit, project_id, thread.loop_id, END_OF_STORY)
    return thread.model_copy(update={"version": thread_version(at_end)})


def _noted(unit: UnitOfWork, threads: Sequence[OpenLoop], as_of: StoryPosition) -> list[ListedThread]:
    notes = unit.threads.notes(as_of=as_of) if threads else {}
    return [ListedThread(**dict(thread), **dict(notes.get(thread.loop_id, ThreadNotes()))) for thread in threads]
