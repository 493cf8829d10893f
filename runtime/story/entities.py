"""Entities: list, add, edit, merge and split."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from pydantic import Field

from novelgen.card_fields import KINDS
from novelgen.errors import UserInputError
from novelgen.language.matching import NameFinder
from novelgen.language.name_lists import split_names
from novelgen.language.normalise import name_key, visible_name
from novelgen.memory.attributes import DISGUISE_ATTRIBUTE
from novelgen.models.base import Model
from novelgen.models.context import ReportIssue
from novelgen.models.dated_values import entity_at, with_values_from
from novelgen.models.entity import METADATA, Entity, EntityAlias, EntityType, entity_counts
from novelgen.models.position import END_OF_STORY, StoryPosition
from novelgen.models.shown import Shown, ShownList
from novelgen.models.state import EntityStateSnapshot, StateChange
from novelgen.shell_words import in_shell
from novelgen.words import LANGUAGES, words
from runtime.storage.change import NOT_OF_ENTITIES, Change
from runtime.storage.columns import EntityOrigin
from runtime.storage.database import UnitOfWork
from runtime.storage.entities import first_appearance
from runtime.storage.models import IndexingResult
from runtime.stores import MemoryStores
from runtime.story import base
from runtime.story.changes import DeletionResult, followed_deletion
from runtime.story.entity_fields import known_fields_of, refuse_places, with_names_field, with_names_from
from runtime.story.note_mentions import follow_notes_of_names
from runtime.story.note_states import follow_note, hidden_namings, joined_rows
from runtime.story.revealed_notes import RevealedNotes, revealed_notes
from runtime.story.versions import Version, card_fields, card_version, require_unchanged, require_version


class EntityCard(Shown, Model):
    """An entity and how it stands at the position that was read."""

    entity: Entity
    state: EntityStateSnapshot | None = Field(default=None, description="None: nothing is known of it yet.")
    metadata: dict[str, Any] = Field(
        default_factory=dict,
        description="What is noted of it, under the counts of the scenes before the position: how often, where last.",
    )
    created_at: datetime | None = Field(default=None, description="When its card was made; None: before that was kept.")
    updated_at: datetime | None = Field(default=None, description="When something was last said of it.")
    is_by_author: bool = Field(
        default=False,
        description="Whether its role and description are shown from its first scene on; else at the end alone.",
    )
    version: str = Field(default="", description="Of the whole card; a change may name it.")

    def in_simpler_terms(self) -> ShownList[Shown]:
        """Return the notebook representation."""
        results: list[Shown] = [self.entity, *([self.state] if self.state else [])]
        return ShownList(results, names={self.entity.entity_id: self.entity.name})


class AddedEntity(Model):
    """An entity that was added."""

    entity: Entity
    holds_after: str | None = Field(description="Scene after which it is known, such as 2:2; None: from the start.")
    change: Change = Field(description="By its number it is taken back.")
    issues: list[ReportIssue] = Field(default_factory=list, description="Who is named and has no card.")

    @property
    def is_known_by_text(self) -> bool:
        """Whether it is known after the first scene whose text names it, and not by a place of its own."""
        return self.holds_after is not None and self.entity.first_chapter is None


class EditedEntity(Model):
    """An entity that was changed."""

    entity: Entity
    updated_fields: list[str] = Field(description="Fields and attributes in the order given.")
    attributes: list[str] = Field(description="Those of them that are attributes of its state.")
    dated: list[str] = Field(
        default_factory=list, description="Fields of its card whose new value holds from the position on."
    )
    holds_after: str | None = Field(
        description="Scene after which the attributes hold; None: from the start, or there are none."
    )
    change: Change | None = Field(description="By its number it is taken back; None: all was like that already.")
    version: str = Field(default="", description="Of the card as it stands now.")
    issues: list[ReportIssue] = Field(default_factory=list, description="Who is named and has no card.")


class EntityChangeResult(Model):
    """A merge or a split, or a change that was undone."""

    change: Change
    entity: Entity | None = Field(description="Who stayed; None when it is gone.")
    other: Entity | None = Field(description="Who was merged, or came out.")
    what: str = Field(default="", description="Of a memory its place and what it says, of a scene place and title.")
    issues: list[ReportIssue] = Field(default_factory=list, description="What of it stays, and how that goes back.")
    notes: RevealedNotes = Field(
        default_factory=RevealedNotes, description="Of a merge from a scene on: what of the identity was hidden."
    )
    indexing: IndexingResult = Field(default_factory=IndexingResult)


class StoryEntities(base.StoryBase):
    """Entities: list, add, edit, merge and split."""

    def get(
        self, entity_id: base.Name, *, entity_type: EntityType | None = None, as_of: base.Place = None
    ) -> EntityCard:
        """Return an entity with its state, counts of its scenes, and when its card was made and changed.

        Args:
            entity_id: Id, name or alias.
            entity_type: Only one of this type is meant.
            as_of: As far as the story has shown it before this position.
        """
        as_of = base.position_of(as_of)
        with self._stores.database(self.project_id).read() as unit:
            matching_entity = (
                base.card_of_name(unit, entity_id, entity_type)
                if as_of is None
                else base.entity_of_exact_name(entity_id, base.known_entities(unit, as_of), entity_type)
            )
            position = as_of or END_OF_STORY
            states = unit.states.snapshots([matching_entity.entity_id], as_of=position)
            identities = unit.entities.identities_as_of(position)
            person = identities.person(matching_entity.entity_id)
            if as_of is None and matching_entity.entity_id in identities.persons.values():
                # At the end the person has the fields of all their cards.
                entities = {entity.entity_id: entity for entity in unit.entities.list_as_of(as_of=position)}
                matching_entity = entities.get(person, matching_entity)
            scenes = unit.scenes.casts(as_of=position, naming=person)
            stored_entity = unit.entities.get(matching_entity.entity_id)
            version = card_version(unit, matching_entity.entity_id)
            [matching_entity] = _with_first_mentions(unit, [matching_entity])
        noted = matching_entity.profile.get(METADATA)
        named_count = sum(person in scene.named for scene in scenes)
        counts = {"named_count": named_count, **entity_counts(person, matching_entity.entity_type, scenes)}
        return EntityCard(
            entity=matching_entity,
            state=next(iter(states), None),
            metadata={**(noted if isinstance(noted, Mapping) else {}), **counts},
            created_at=stored_entity.created_at if stored_entity else None,
            updated_at=stored_entity.updated_at if stored_entity else None,
            is_by_author=stored_entity is not None and stored_entity.origin == "author",
            version=version,
        )

    def add(
        self,
        name: base.Name,
        fields: Mapping[str, Any] | None = None,
        *,
        kind: EntityType = "character",
        role: str = "",
        description: str = "",
        aliases: Sequence[str] = (),
        holder: base.Name | None = None,
        state: Mapping[str, Any] | None = None,
        start: base.Place = None,
    ) -> AddedEntity:
        """Add a card of a character, place, thing, faction or term.

        `undo` removes it.

        Args:
            name: Its display name.
            fields: Further fields to their values, in either language or of your own; what may change with the
                story is an attribute of its state.
            kind: character, location, item, faction or term.
            role: protagonist, antagonist, supporting or minor; of others what they are.
            description: Who or what it is, in a sentence or two.
            aliases: Its other names, several in one text between commas.
            holder: Who has it, by id, name or alias; of an item.
            state: Attributes of its state, whatever their names look like.
            start: It is known, and its state holds, on entering this position, `1:1` from the start; None means from
                where the text first names it, else after the last stored scene.

        Raises:
            UserInputError: When the name is taken, or a field looks misspelt or does not fit; names those that there
                are.
        """
        # Late, as what reads names out of prose is heavy, and cards are listed without it.
        from runtime.ingest.guessed_names import with_guessed_names

        stated_fields = with_names_field({**(fields or {}), **({"holder": holder} if holder else {})})
        plain_names = [alias for alias in stated_fields.get("alias", []) if isinstance(alias, str)]
        name, aliases = visible_name(name), [visible_name(alias) for alias in (*split_names(aliases), *plain_names)]
        if holder and kind != "item":
            raise UserInputError(f"a {kind} has no holder; only an item has one")
        with self._stores.database(self.project_id).write() as unit:
            as_of = base.position_of(start) or END_OF_STORY
            namings = hidden_namings(unit, name) if kind == "character" else {}
            _refuse_taken_name(unit, name, kind, as_of, free_of=namings)
            known_entities = base.known_entities(unit, None)
            fields_by_name = known_fields_of(kind, unit=unit, entities=known_entities)
            at = base.place_of_statement(unit, as_of)
            own_names = list(dict.fromkeys([name, *aliases]))
            named_at = _first_named(unit, own_names) if start is None else None
            # Where the text names it, that says from where it is known, and goes on doing so when scenes move.
            card_place = at if named_at is None else END_OF_STORY
            if start is not None and at == END_OF_STORY:
                # Its author says that it is known from the beginning, also where the text names it later.
                card_place = base.place_before(as_of)
            first = {"first_chapter": card_place.chapter_index, "first_scene": card_place.scene_index}
            is_said = card_place != END_OF_STORY
            chapter, scene = (as_of.chapter_index, as_of.scene_index) if is_said else (None, None)
            bare = Entity(
                entity_id=unit.entities.next_id(kind),
                entity_type=kind,
                name=name,
                role=role,
                description=description,
                aliases=[EntityAlias(alias=key, **(first if start is not None else {})) for key in own_names[1:]],
                **first,
                **{f"name_{field}": value for field, value in first.items()},
                said_from=None if chapter is None else (chapter, 1 if scene is None else scene),
            )
            # What a new card says holds from where the card is known, not from where its author writes it.
            said_at = named_at or at
            entity, _, attributes = fields_by_name.with_said(unit, bare, stated_fields, said_at, state=state)
            _refuse_own_disguise(entity, name, attributes, project_id=self.project_id)
            entity = with_guessed_names(unit, entity, known_entities=known_entities)
            with unit.journal.recording_card(entity.entity_id) as rows:
                rescanned = _store(self._stores, unit, None, entity)
                # Before what the card says itself, which was said last.
                notes = follow_notes_of_names(unit, entity.entity_id, entity.names(), stores=self._stores)
                unit.states.append(
                    _state_changes(entity, attributes, said_at, base.position_of(start)), follows_scene=False
                )
            note_rows = [row for note in namings.values() for row in follow_note(unit, note, stores=self._stores)]
            change = unit.journal.keep("add", entity.entity_id, "", joined_rows([*rows, *notes.rows, *note_rows]))
            issues = [
                *notes.issues,
                *_names_taken_back(known_entities, name, namings, project_id=self.project_id),
                *_shared_names(base.known_entities(unit, None), entity.entity_id, own_names),
                *fields_by_name.issues({**entity.profile, **attributes}),
            ]
        if rescanned:
            self._follow_edit()
        return AddedEntity(entity=entity, holds_after=base.place_name(said_at), change=change, issues=issues)

    def add_character(
        self,
        name: base.Name,
        *,
        role: str = "",
        description: str = "",
        traits: Sequence[str] = (),
        goals: Sequence[str] = (),
        start: base.Place = None,
    ) -> AddedEntity:
        """Add a character, with its goals as part of its state.

        Args:
            name: Its display name.
            role: protagonist, antagonist, supporting or minor.
            description: Who it is, in a sentence or two.
            traits: Its core traits.
            goals: What it wants at first.
            start: It is known on entering this position, `1:1` from the start; None means from where the text first
                names it, else after the last stored scene.

        Raises:
            UserInputError: When the name is taken or empty.
        """
        fields = {
            **({"personality": {"core_traits": list(traits)}} if traits else {}),
            **({"goals": list(goals)} if goals else {}),
        }
        return self.add(name, fields, role=role, description=description, start=start)

    def add_location(
        self,
        name: base.Name,
        *,
        description: str = "",
        atmosphere: str | None = None,
        features: Sequence[str] = (),
        start: base.Place = None,
    ) -> AddedEntity:
        """Add a location.

        Args:
            name: Its display name.
            description: What it is, in a sentence or two.
            atmosphere: Its mood.
            features: What is notable there.
            start: It is known on entering this position, `1:1` from the start; None means from where the text first
                names it, else after the last stored scene.
        """
        place_fields = {"atmosphere": atmosphere, "features": list(features)}
        fields = {field: value for field, value in place_fields.items() if value}
        return self.add(name, fields, kind="location", description=description, start=start)

    def edit(
        self,
        entity_id: base.Name,
        changes: Mapping[str, Any],
        *,
        aliases: Sequence[str] = (),
        state: Mapping[str, Any] | None = None,
        entity_type: EntityType | None = None,
        start: base.Place = None,
        expected_version: Version | None = None,
    ) -> EditedEntity:
        """Change fields of an entity's card and profile, and attributes of its state.

        Args:
            entity_id: Id, name or alias.
            changes: Fields to their new values: name, kind, role, description, alias, translation, a field of the
                profile, an attribute of the state, or one of your own; `current_state` is an object of attributes.
            aliases: Further names of it beside those that it has, several in one text between commas.
            state: Attributes of the state, whatever their names look like; null clears one.
            entity_type: Only one of this type is meant.
            start: All of it holds on entering this position, and before it what was said before; None means after the
                last stored scene.
            expected_version: The `version` that was read; None changes whatever stands.

        Raises:
            StaleVersionError: When the card was changed since that version was read.
            UserInputError: When a name looks misspelt, a value does not fit, or nothing is to be changed.
        """
        changes = with_names_field(changes, also=split_names(aliases))
        if not changes and not state:
            raise UserInputError("nothing to change; give a field and its value, such as role=minor")
        with self._stores.database(self.project_id).write() as unit:
            known_entities = base.known_entities(unit, None)
            entity = base.card_to_change(unit, entity_id, known_entities, entity_type, as_of=base.position_of(start))
            changes, kind = _without_kind(changes, entity)
            _require_card(unit, entity, expected_version, {**changes, **(state or {})})
            fields_by_name = known_fields_of(kind, unit=unit, entities=known_entities)
            begins = base.position_of(start)
            at = base.place_of_statement(unit, begins or END_OF_STORY)
            stored_entity = unit.entities.require(entity.entity_id).entity
            shown_entity = entity if begins is None else entity_at(stored_entity, begins)
            shown_entity = shown_entity.model_copy(update={"entity_type": kind})
            edited, plain, stated_fields = fields_by_name.with_said(unit, shown_entity, changes, at, state=state)
            _refuse_own_disguise(entity, entity_id, stated_fields, project_id=self.project_id)
            if begins is None or at == END_OF_STORY:
                dated_names, changed = (
                    [],
                    with_values_from(stored_entity, shown_entity, edited, start=None, is_first=begins is not None),
                )
            else:
                refuse_places(plain)
                dated_names = [name for name in plain if name not in stated_fields]
                begun_place = (begins.chapter_index or 0, 1 if begins.scene_index is None else begins.scene_index)
                changed = with_values_from(
                    stored_entity, shown_entity, with_names_from(shown_entity, edited, at), start=begun_place
                )
            changed = changed.model_copy(update={"entity_type": kind})
            if name_key(changed.name) not in map(name_key, entity.names()):
                _refuse_taken_name(unit, changed.name, entity.entity_type, END_OF_STORY)
            new_names = [new_name for new_name in changed.names() if new_name not in stored_entity.names()]
            with unit.journal.recording_card(entity.entity_id) as rows:
                rescanned = changed != stored_entity and _store(self._stores, unit, stored_entity, changed)
                notes = follow_notes_of_names(unit, entity.entity_id, new_names, stores=self._stores)
                if stated_fields:
                    unit.states.append(_state_changes(changed, stated_fields, at, begins), follows_scene=False)
                    unit.entities.mark_updated(entity.entity_id)
            rows = joined_rows([*rows, *notes.rows])
            change = unit.journal.keep("edit", entity.entity_id, entity.name, rows) if rows else None
            fields = {name: value for name, value in edited.profile.items() if name in plain}
            issues = [
                *notes.issues,
                *_shared_names(known_entities, entity.entity_id, new_names),
                *fields_by_name.issues({**fields, **stated_fields}),
            ]
            version = card_version(unit, entity.entity_id)
        if rescanned:
            self._follow_edit()
        return EditedEntity(
            entity=entity_at(changed, END_OF_STORY),
            updated_fields=list(
                dict.fromkeys([*([] if kind == entity.entity_type else ["kind"]), *plain, *stated_fields])
            ),
            attributes=list(stated_fields),
            dated=dated_names,
            holds_after=base.place_name(at) if stated_fields or dated_names else None,
            change=change,
            version=version,
            issues=issues,
        )

    def merge(self, keep: str, gone: base.Name, *, start: base.Place = None) -> EntityChangeResult:
        """Make one entity part of another: everything is re-linked, and it can be undone.

        Args:
            keep: Who stays, by id, name or alias.
            gone: Who becomes part of it.
            start: From where on they are one, of an identity that comes out late: before it they are two, and neither
                tells of the other; None means in every scene.

        Raises:
            UserInputError: When both are one, of different types, or not both known before `start`.
        """
        revealed_at = base.position_of(start)
        notes = RevealedNotes()
        with self._stores.database(self.project_id).write() as unit:
            known_entities = base.known_entities(unit, None)
            kept_entity, merged_entity = (base.entity_of_exact_name(name, known_entities) for name in (keep, gone))
            if revealed_at is None:
                change = unit.merges.merge(kept_entity.entity_id, merged_entity.entity_id)
            else:
                known_ids = {entity.entity_id for entity in unit.entities.list_as_of(as_of=revealed_at)}
                known_ids |= unit.entities.masks_as_of(revealed_at).keys()
                at = base.place_of_statement(unit, revealed_at)
                for entity in (kept_entity, merged_entity):
                    if entity.entity_id not in known_ids or at.chapter_index is None:
                        raise UserInputError(
                            f"{entity.name!r} is not known before {str(revealed_at)!r}; give a later scene from which "
                            "the two are one, or none to make them one in every scene"
                        )
                change = unit.merges.unmask(kept_entity.entity_id, merged_entity.entity_id, at=at, by_author=True)
                notes = revealed_notes(unit, kept_entity, merged_entity, at=revealed_at)
        return EntityChangeResult(
            change=change, entity=kept_entity, other=merged_entity, notes=notes, indexing=self._follow_edit()
        )

    def split(
        self, entity_id: base.Name, new_name: base.Name, *, aliases: Sequence[str] = (), scenes: Sequence[base.At] = ()
    ) -> EntityChangeResult:
        """Take a new entity out of one: its names and scenes move, and it can be undone.

        Args:
            entity_id: Whom to split, by id, name or alias.
            new_name: Display name of the new entity: an alias, or a new name.
            aliases: More names of the new one.
            scenes: Scenes that are only about the new one.

        Raises:
            UserInputError: When nothing is to be split off, or a place names no scene.
        """
        places = [(place.chapter_index, place.scene_index) for place in map(base.story_position, scenes)]
        if any(None in place for place in places):
            raise UserInputError("a scene is named by chapter and scene, such as 3:2")
        with self._stores.database(self.project_id).write() as unit:
            entity = base.entity_of_exact_name(entity_id, base.known_entities(unit, None))
            change = unit.merges.split(
                entity.entity_id, name=new_name, aliases=split_names(aliases, [entity]), scenes=places
            )
            new = unit.entities.get(change.other_id)
        indexing = self._follow_edit()
        return EntityChangeResult(change=change, entity=entity, other=new and new.entity, indexing=indexing)

    def delete(
        self, entity_id: base.Name, *, entity_type: EntityType | None = None, expected_version: Version | None = None
    ) -> DeletionResult:
        """Delete an entity with its names, states and relationships; memories stay. `undo` takes it back.

        Args:
            entity_id: Id, name or alias.
            entity_type: Only one of this type is meant.
            expected_version: The `version` that was read; None deletes whatever stands.

        Raises:
            StaleVersionError: When the card was changed since that version was read.
            UnknownEntityError: When nobody bears the name, or several do.
        """
        with self._stores.database(self.project_id).write() as unit:
            entity = base.card_of_name(unit, entity_id, entity_type)
            require_unchanged(
                expected_version,
                card_version(unit, entity.entity_id),
                subject=f"card {entity.entity_id} ({entity.name!r})",
            )
            deletion = unit.deletions.delete_entity(entity.entity_id)
        return followed_deletion(self._stores, self.project_id, deletion=deletion)

    def list_changes(self) -> list[Change]:
        """List all merges, splits and decisions on candidates, the oldest first."""
        with self._stores.database(self.project_id).read() as unit:
            return [change for change in unit.merges.list_all() if change.kind not in NOT_OF_ENTITIES]

    def list(
        self,
        entity_type: EntityType | None = None,
        *,
        name: str = "",
        limit: base.Count | None = None,
        as_of: base.Place = None,
    ) -> list[Entity]:
        """Return the characters, places, things, factions and terms of the story, in order of id.

        Args:
            entity_type: Only these: character, location, item, faction or term.
            name: Only those one of whose names holds these characters.
            limit: At most so many.
            as_of: As far as the story has shown them before this position.
        """
        with self._stores.database(self.project_id).read() as unit:
            known_entities = _with_first_mentions(unit, base.known_entities(unit, base.position_of(as_of)))
        target = name.strip().casefold()
        matching_entities = [
            entity
            for entity in known_entities
            if entity_type in (None, entity.entity_type)
            and (not target or any(target in one.casefold() for one in entity.names()))
        ]
        return ShownList(matching_entities[:limit])

    aget = base.async_twin(get)
    aedit = base.async_twin(edit)
    alist = base.async_twin(list)
    aadd = base.async_twin(add)
    adelete = base.async_twin(delete)
    aadd_character = base.async_twin(add_character)
    aadd_location = base.async_twin(add_location)
    amerge = base.async_twin(merge)
    asplit = base.async_twin(split)
    alist_changes = base.async_twin(list_changes)


def former_names(changes: Iterable[Change]) -> dict[str, str]:
    """Return the names of entities by id as changes, the oldest first, had them last."""
    return {entity_id: name for change in changes for entity_id, name in change.entity_names.items()}


def _without_kind(changes: Mapping[str, Any], entity: Entity) -> tuple[dict[str, Any], EntityType]:
    """Return changes of a card without its kind, and its kind after them."""
    named_text = next((name for name in changes if name in ("kind", "种类")), None)
    if named_text is None:
        return dict(changes), entity.entity_type
    statement = str(changes[named_text]).strip().casefold()
    kinds = {kind: kind for kind in KINDS}
    for language in LANGUAGES:
        kind_words = words("memory", language, "card_kinds")
        kinds |= {kind_words[kind]: kind for kind in KINDS}
    if statement not in kinds:
        raise UserInputError(f"{changes[named_text]!r} is no kind of card; give one of {', '.join(KINDS)}")
    return {name: value for name, value in changes.items() if name != named_text}, kinds[statement]


def _store(stores: MemoryStores, unit: UnitOfWork, before: Entity | None, entity: Entity) -> bool:
    """Store an author's entity, and return whether scenes name it.

    With another alias alone the rest of a card does not become the author's: it may tell what is to come.
    """
    from runtime.ingest.entities import store_entities_in

    stored_entity = unit.entities.get(entity.entity_id) if before else None
    origin: EntityOrigin = "author"
    statements: list[str] = []
    if stored_entity and before and entity.model_copy(update={"aliases": before.aliases}) == before:
        origin = stored_entity.origin
        known_aliases_by_id, named_aliases_by_id = (
            {alias.alias: alias for alias in one.aliases} for one in (before, entity)
        )
        statements = [
            alias
            for alias, other_alias in named_aliases_by_id.items()
            if known_aliases_by_id.get(alias) != other_alias and origin != "author"
        ]
        if origin != "author":
            unit.entities.remove_aliases(
                entity.entity_id, [*(set(known_aliases_by_id) - set(named_aliases_by_id)), *statements]
            )
    result = store_entities_in(unit, [entity], origin=origin, stores=stores)
    if statements:
        unit.entities.claim_aliases(entity.entity_id, statements)
    return bool(result.rescanned)


def _require_card(
    unit: UnitOfWork, entity: Entity, expected_version: str | None, sent_fields: Mapping[str, Any]
) -> None:
    if expected_version is None:
        return
    state = next(iter(unit.states.snapshots([entity.entity_id])), None)
    require_version(
        expected_version,
        card_version(unit, entity.entity_id),
        subject=f"card {entity.entity_id} ({entity.name!r})",
        stored_fields=card_fields(entity, {} if state is None else state.state_data),
        sent_fields=sent_fields,
    )


def _with_first_mentions(unit: UnitOfWork, entities: Sequence[Entity]) -> list[Entity]:
    """Return entities that say from where on they are known, where the text says it and no author did."""
    mentions = unit.entities.first_mentions()
    return [
        entity.model_copy(
            update=dict(zip(("first_chapter", "first_scene"), first_appearance(entity, mentions), strict=True))
        )
        for entity in entities
    ]


def _first_named(unit: UnitOfWork, names: Sequence[str]) -> StoryPosition | None:
    """Return the first stored scene whose text holds one of some names."""
    finder = NameFinder(names)
    scenes = (scene for scene in unit.scenes.list_as_of(with_text=True) if finder.find(scene.text or ""))
    return min((scene.position for scene in scenes), default=None)


def _shared_names(known_entities: Sequence[Entity], entity_id: str, names: Sequence[str]) -> list[ReportIssue]:
    """Report the names of a card that other cards bear, too."""
    issues = []
    for name in names:
        for other in known_entities:
            if other.entity_id != entity_id and name_key(name) in map(name_key, other.names()):
                message = (
                    f"{name!r} is a name of {other.entity_id} ({other.name}), too: where scenes do not show who is"
                    f" meant, it means neither; say it of a scene: `novelgen scene set` with --name"
                )
                issues.append(ReportIssue(stage="card", kind="unresolved", message=message))
    return issues


def _names_taken_back(
    known_entities: Sequence[Entity], name: str, bearer_ids: Collection[str], *, project_id: str
) -> list[ReportIssue]:
    """Report the cards that bore a hidden real name until it got a card of its own."""
    return [
        ReportIssue(
            stage="card",
            kind="stale",
            message=(
                f"{name!r} has a card of its own now, and {bearer.name!r} bears the name no more: the note on it is"
                " hidden from somebody, so both cards stay. Say for whom one passes: `novelgen card edit"
                f" {project_id} {in_shell(name)} {in_shell(f'disguise={bearer.name}')}`"
            ),
        )
        for bearer in known_entities
        if bearer.entity_id in bearer_ids
    ]


def _refuse_own_disguise(entity: Entity, given_name: str, state: Mapping[str, Any], *, project_id: str) -> None:
    """Refuse to disguise a person as itself."""
    value = state.get(DISGUISE_ATTRIBUTE)
    if not isinstance(value, str) or not base.bears_name(entity, value):
        return
    raise UserInputError(
        f"{given_name!r} and {value!r} are names of one card, {entity.entity_id} ({entity.name}), and nobody passes for"
        f" themselves; give the other person a card first: `novelgen card add {project_id} NAME`"
    )


def _refuse_taken_name(
    unit: UnitOfWork, name: str, entity_type: EntityType, as_of: StoryPosition, *, free_of: Collection[str] = ()
) -> None:
    shown_entities_by_id = {entity.entity_id: entity for entity in base.known_entities(unit, as_of)}
    for stored_entity in unit.entities.list_all(entity_types=[entity_type]):
        is_free = stored_entity.entity.entity_id in free_of and name_key(name) != name_key(stored_entity.entity.name)
        if is_free or name_key(name) not in map(name_key, stored_entity.entity.names()):
            continue
        known_entity = shown_entities_by_id.get(stored_entity.entity.entity_id)
        if known_entity is None or name_key(name) not in map(name_key, known_entity.names()):
            # What the story tells later is not told here, its ids neither.
            raise UserInputError(f"the name {name!r} is taken; choose another one")
        raise UserInputError(f"{entity_type} {known_entity.entity_id} bears the name {name!r} already; use that id")


def _state_changes(
    entity: Entity, state: Mapping[str, Any], at: StoryPosition, begins: StoryPosition | None
) -> list[StateChange]:
    return [
        StateChange(
            entity_id=entity.entity_id,
            entity_type=entity.entity_type,
            attribute=attribute,
            value=value,
            chapter_index=at.chapter_index,
            scene_index=at.scene_index,
            is_of_chapter=base.is_of_chapter(at, begins),
        )
        for attribute, value in state.items()
    ]


def has_scenes(stores: MemoryStores, project_id: str) -> bool:
    """Tell whether anything of the story is stored, so that it matters from where on something holds."""
    with stores.database(project_id).read() as unit:
        return bool(unit.scenes.list_as_of(last=1))
