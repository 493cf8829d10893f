"""Renaming through the whole memory, undone by `undo`."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal

from pydantic import Field

from novelgen.errors import UserInputError
from novelgen.language.language import is_cjk
from novelgen.language.matching import NameSwap, longer_names
from novelgen.language.normalise import name_key, texts_within, visible_name
from novelgen.models.base import Model
from novelgen.models.entity import Entity, translated_as
from novelgen.models.position import END_OF_STORY
from novelgen.models.record import SceneRecord
from runtime.storage.change import Change, RowChange
from runtime.storage.database import UnitOfWork
from runtime.storage.merges import reworded
from runtime.storage.models import IndexingResult, MemoryFilter
from runtime.storage.records import Scene
from runtime.storage.undo_checks import require_scene_as_left
from runtime.stores import MemoryStores
from runtime.story.base import Name, StoryBase, async_twin, entity_of_exact_name, known_entities
from runtime.story.changes import changed_scene, naming_later
from runtime.story.entity_fields import changed_card

RenamedKind = Literal["card", "scene", "memory", "state", "thread", "relationship", "summary", "character_memory"]

_HELD_BY_TABLE: Mapping[str, RenamedKind] = {
    "entities": "card",
    "memory_chunks": "memory",
    "state_changes": "state",
    "loop_events": "thread",
    "relationship_changes": "relationship",
    "story_summaries": "summary",
    "character_memories": "character_memory",
}

_DELETED = MemoryFilter(statuses=["deleted"])
"""Memories that are renamed and not counted: nobody sees them, until they come back."""

_WORDS_OF_RECORDS = frozenset(
    {"title", "summary", "key_events", "emotional_beats", "content", "short", "description", "pay_off", "note"}
    | {"resolution_summary", "event", "relationship_type", "status", "perspective_a", "perspective_b", "changes"}
)
"""Fields of a scene's record that say something in words; the others are ids, numbers and quotes of the text."""

_QUOTES = frozenset({"evidence"})

MAX_PLACES = 200
SHOWN_AROUND = 30
"""So many characters on either side of a name are shown."""


class RenamedPlace(Model):
    """A place that says the name."""

    held_by: RenamedKind
    id: str = Field(description="Of the memory, thread or card; of a scene its place.")
    times: int
    words: str = Field(description="The first place as it will be.")


class Renaming(Model):
    """A rename's changes, planned or done."""

    entity: Entity = Field(description="As it is, or would be.")
    names: dict[str, str] = Field(description="Each name to what stands in its place.")
    is_applied: bool
    counts: dict[RenamedKind, int] = Field(description="How often the names are said, by what says them.")
    places: list[RenamedPlace] = Field(description=f"The first {MAX_PLACES} of them.")
    kept_within: dict[str, int] = Field(
        description="Longer names that hold one of the names and stay as they are; `within` renames in them, too."
    )
    other_names: list[str] = Field(description="Other names of the card, which stay; `also` changes them, too.")
    in_text: int = Field(description="How often the scenes' own text says the names; changed only where asked for.")
    change: Change | None = Field(default=None, description="By its number it is taken back.")
    indexing: IndexingResult = Field(default_factory=IndexingResult)


class StoryRenaming(StoryBase):
    """Another name through the whole memory."""

    def rename(
        self,
        entity_id: Name,
        new_name: Name,
        *,
        also: Mapping[str, Annotated[str, Field(min_length=1, max_length=400)]] | None = None,
        within: Sequence[str] = (),
        in_text: bool = False,
        is_applied: bool = False,
    ) -> Renaming:
        """Rename an entity in the whole memory, optionally as a preview.

        Memories, short forms, summaries, threads, notes, states, relationships and cards say the new name; the old one
        stays as an alias. The scenes' own text says it only where that is asked for. `undo` takes all of it back.

        Args:
            entity_id: Id, name or alias.
            new_name: The name from now on.
            also: Other names of it to what stands in their place.
            within: Longer names that hold the name and mean the same, such as 林凡儿; else they are somebody else's.
            in_text: Also change the stored text of scenes, and the quotes from it.
            is_applied: Do it; else only the preview is made.

        Raises:
            UserInputError: When the new name is somebody else's, or nothing would change.
        """
        new_name = visible_name(new_name)
        also = {old: visible_name(new) for old, new in (also or {}).items()}
        database = self._stores.database(self.project_id)
        with database.write() if is_applied else database.read() as unit:
            planned_renamed = _Renamed(unit, entity_id, new_name, also, within, in_text=in_text)
            change = planned_renamed.apply(self._stores) if is_applied else None
            renaming = planned_renamed.told()
        indexing = self._follow_edit() if is_applied else IndexingResult()
        return renaming.model_copy(update={"is_applied": is_applied, "change": change, "indexing": indexing})

    arename = async_twin(rename)


class _Renamed:
    """A rename worked out within a transaction: which rows and scenes it changes, and how."""

    def __init__(
        self,
        unit: UnitOfWork,
        name: str,
        new_name: str,
        also: Mapping[str, str],
        within: Sequence[str],
        *,
        in_text: bool,
    ) -> None:
        self._unit = unit
        entities = known_entities(unit, None)
        self.old = entity_of_exact_name(name, entities)
        if new_name == self.old.name:
            raise UserInputError(f"{self.old.entity_id} is called {new_name!r} already; give another name")
        for entity in entities:
            is_other = entity.entity_id != self.old.entity_id and entity.entity_type == self.old.entity_type
            if is_other and name_key(new_name) in map(name_key, entity.names()):
                raise UserInputError(
                    f"{entity.entity_id} bears the name {new_name!r} already; choose another one, or merge the two"
                )
        unknown_ids = [text for text in also if text not in self.old.names()]
        if unknown_ids:
            raise UserInputError(f"{unknown_ids[0]!r} is no name of {self.old.entity_id}; it has {self.old.names()}")
        self.names = {self.old.name: new_name, **also}
        holding = [name for name in self.old.names() if name not in self.names and self.old.name in name]
        self.names |= {text: _renamed_within(text, self.old.name, new_name) for text in (*holding, *within)}
        scenes = unit.scenes.list_as_of(with_text=True)
        self._longer = _names_around(unit, self.names, entities, self.old, [scene.text or "" for scene in scenes])
        self.swap = NameSwap(self.names, [*self._longer, *_names_of_others(entities, self.old)])
        self.found: Counter[RenamedKind] = Counter()
        self.kept: Counter[str] = Counter()
        self.places: list[RenamedPlace] = []
        self.in_text = 0
        self.rows = [
            row
            for row in unit.words.changes(self.swap.said)
            if (row.table, row.key.get("entity_id")) != ("entities", self.old.entity_id)
        ]
        deleted_ids = {memory.chunk.chunk_id for memory in unit.memories.list_matching(_DELETED)}
        for row in self.rows:
            if row.key.get("chunk_id") in deleted_ids:
                continue
            self._note(_HELD_BY_TABLE[row.table], str(next(iter(row.key.values()))), row.before)
        by_hand = unit.words.memories_by_hand()
        lines = [(scene, self._scene_words(scene, by_hand, in_text=in_text)) for scene in scenes]
        self.scenes = [(scene, fields) for scene, fields in lines if fields]

    def told(self) -> Renaming:
        """Return the changes in numbers and places."""
        return Renaming(
            entity=self._entity(),
            names=self.names,
            is_applied=False,
            counts=dict(self.found),
            places=self.places[:MAX_PLACES],
            kept_within=dict(self.kept),
            other_names=[name for name in self.old.names() if name not in self.names],
            in_text=self.in_text,
        )

    def apply(self, stores: MemoryStores) -> Change:
        """Write it all, and keep how it was."""
        from runtime.ingest.entities import store_entities_in
        from runtime.ingest.scene_writes import replace_stored_scene

        unit = self._unit
        current = unit.words.current_summaries()
        unit.journal.rewrite(self.rows)
        images = []
        for scene, fields in self.scenes:
            before = _image(unit, scene, fields)
            replace_stored_scene(unit, changed_scene(scene, fields), stores=stores)
            if "text" in fields:
                unit.scenes.restore_spans(scene.scene_id, self._moved(scene.text or "", before["spans"]))
            after = _image(unit, unit.scenes.require(scene.position), fields)
            images.append(RowChange(table=SCENE_WORDS, key={"scene_id": scene.scene_id}, before=before, after=after))
        with unit.journal.recording_card(self.old.entity_id) as card:
            store_entities_in(unit, [self._entity()], origin="author", stores=stores)
        fresh = unit.words.keep_current(current)
        # What was changed of one row in two steps is put together.
        row_changes_by_key = {(row.table, str(row.key)): row for row in self.rows}
        for row in fresh:
            first = row_changes_by_key.get((row.table, str(row.key)))
            if first is not None:
                row = row.model_copy(
                    update={
                        "before": {**(row.before or {}), **(first.before or {})},
                        "after": {**(first.after or {}), **(row.after or {})},
                    }
                )
            row_changes_by_key[row.table, str(row.key)] = row
        return unit.journal.keep(
            "rename", self.old.entity_id, self.old.name, [*card, *row_changes_by_key.values(), *images]
        )

    def _entity(self) -> Entity:
        own = {name: getattr(self.old, name) for name in ("role", "description", "profile")}
        others = [new for old, new in self.names.items() if old != self.old.name and new not in self.old.names()]
        stated_fields = {"name": self.names[self.old.name], **({"alias": others} if others else {})}
        text = reworded(own, self.swap.said)
        text["profile"] = translated_as(text["profile"], self.names)
        return changed_card(self.old.model_copy(update=text), stated_fields)

    def _scene_words(self, scene: Scene, by_hand: set[str], *, in_text: bool) -> dict[str, Any]:
        """Return those fields of a scene that say the name, as they will be."""
        fields: dict[str, Any] = {}
        place = str(scene.position)
        title = self._said_in(place, scene.title)
        if title != scene.title:
            fields["title"] = title
        if scene.record is not None:
            record_fields = scene.record.model_dump(mode="json")
            record = self._record(record_fields, place, by_hand, in_text=in_text)
            if record != record_fields:
                fields["record"] = SceneRecord.model_validate(record).model_dump(mode="json")
        text = scene.text or ""
        self.in_text += len(self.swap.hits(text))
        self.kept.update(self.swap.others_in(text, self._longer))
        if in_text:
            new = self._said_in(place, text)
            if new != text:
                fields["text"] = new
        return fields

    def _record(self, text: Any, place: str, by_hand: set[str], *, in_text: bool, key: str = "") -> Any:
        if isinstance(text, str):
            is_said = key in _WORDS_OF_RECORDS or (in_text and key in _QUOTES)
            return self._said_in(place, text) if is_said else text
        if isinstance(text, list):
            return [self._record(item, place, by_hand, in_text=in_text, key=key) for item in text]
        if not isinstance(text, dict):
            return text
        if text.get("memory_id") in by_hand:
            # What an author touched is a memory of its own, and the record must go on bringing that one.
            return text
        inner = (lambda name: key) if key == "changes" else (lambda name: name)
        return {
            name: self._record(item, place, by_hand, in_text=in_text, key=inner(name)) for name, item in text.items()
        }

    def _said_in(self, place: str, text: str) -> str:
        statement = self.swap.said(text)
        if statement != text:
            self._note("scene", place, text)
        return statement

    def _note(self, held_by: RenamedKind, thing: str, told_value: Any) -> None:
        matches = [(text, hits) for text in texts_within(told_value) if (hits := self.swap.hits(text))]
        times = sum(len(hits) for _, hits in matches)
        text, (first, *_) = matches[0]
        # What stands around the name on one line, cut between words.
        before, after = text[: first.start].split("\n")[-1], text[first.end :].split("\n")[0]
        remainder, right = before[-SHOWN_AROUND:], after[:SHOWN_AROUND]
        if remainder != before:
            remainder = f"…{remainder if is_cjk(remainder[0]) else remainder.partition(' ')[2]}"
        if right != after:
            right = f"{right if is_cjk(right[-1]) else right.rpartition(' ')[0]}…"
        words = self.swap.said(" ".join(f"{remainder}{text[first.start : first.end]}{right}".split()))
        self.found[held_by] += times
        self.places.append(RenamedPlace(held_by=held_by, id=thing, times=times, words=words))

    def _moved(self, text: str, spans: Mapping[str, Sequence[Any]]) -> dict[str, Sequence[Any]]:
        """Return where words stand that stood there before the names changed their length."""
        return {
            chunk_id: [self.swap.moved(text, start), self.swap.moved(text, end), verified]
            for chunk_id, (start, end, verified) in spans.items()
            if start is not None
        }


SCENE_WORDS = "scene_words"
"""In place of a table: a scene's text, record and the spans in it, which are put back by deriving the scene anew."""


def _renamed_within(longer: str, name: str, new_name: str) -> str:
    """Return a longer name with a new name in it, whose own parts are said once: Sam Tulloch, Sam Tully."""
    before, _, after = longer.partition(name)
    start = "" if before and new_name.startswith(before) else before
    end = "" if after and new_name.endswith(after) else after
    return start + new_name + end


def restore_renamed(unit: UnitOfWork, change: Change, *, stores: MemoryStores) -> None:
    """Restore renamed scenes.

    The journal restores the rows.
    """
    from runtime.ingest.scene_writes import replace_stored_scene

    for row in change.rows:
        if row.table != SCENE_WORDS or row.before is None or row.after is None:
            continue
        scene = unit.scenes.by_id(row.key["scene_id"])
        if scene is None:
            continue
        now = _image(unit, scene, row.after)
        is_as_left = all(now[name] == value for name, value in row.after.items() if name != "spans")
        with naming_later(unit, change, scene):
            require_scene_as_left(change, scene, is_as_left=is_as_left)
        replace_stored_scene(unit, changed_scene(scene, row.before), stores=stores)
        unit.scenes.restore_spans(scene.scene_id, row.before["spans"])


def _image(unit: UnitOfWork, scene: Scene, fields: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in unit.scenes.image(scene).items() if name in fields or name == "spans"}


def _names_of_others(entities: Sequence[Entity], entity: Entity) -> list[str]:
    return [
        name for other_entity in entities if other_entity.entity_id != entity.entity_id for name in other_entity.names()
    ]


def _names_around(
    unit: UnitOfWork, names: Mapping[str, str], entities: Sequence[Entity], entity: Entity, texts: Sequence[str]
) -> set[str]:
    """Return longer names of other entities that contain a name."""
    # Late, as what reads names out of prose is heavy, and cards are listed without it.
    from runtime.search.text_names import names_of_text

    offered = [name for candidate in names_of_text(unit, as_of=END_OF_STORY) for name in candidate.names()]
    others = [
        *_names_of_others(entities, entity),
        *offered,
        *(other_name for name in names for other_name in longer_names(texts, name)),
    ]
    own = {*names, *entity.names()}
    return {other for other in others if other not in own and any(name in other for name in names)}
