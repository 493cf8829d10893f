"""Import and export of translators' glossaries: terms and translations stand on cards."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from pydantic import BaseModel, Field

from novelgen.errors import UserInputError
from novelgen.glossary_table import GlossaryForm, GlossaryTerm, read_glossary, written_glossary
from novelgen.language.normalise import name_key, visible_name
from novelgen.models.context import ReportIssue
from novelgen.models.dated_values import entity_at, with_values_from
from novelgen.models.entity import (
    ALIAS_TRANSLATIONS,
    ANY_LANGUAGE,
    TRANSLATION,
    Entity,
    EntityAlias,
    EntityType,
    is_entity_id,
    translation_of,
)
from novelgen.models.position import END_OF_STORY, StoryPosition
from runtime.storage.columns import EntityOrigin
from runtime.storage.database import UnitOfWork
from runtime.storage.models import IndexingResult
from runtime.story import base

MAX_GLOSSARY_CHARACTERS = 5_000_000

GlossaryText = Annotated[str, Field(min_length=2, max_length=MAX_GLOSSARY_CHARACTERS)]


class GlossaryImport(BaseModel):
    """What became of a glossary."""

    added: list[str] = Field(description="Ids of the new cards.")
    updated: list[str] = Field(description="Ids of the cards that got a translation, an alias or a note.")
    were_there: int = Field(description="So many rows say what the cards say already.")
    issues: list[ReportIssue] = Field(default_factory=list, description="What was not taken, and why.")
    indexing: IndexingResult = Field(default_factory=IndexingResult)
    change_id: base.ChangeNumber = None


class StoryGlossary(base.StoryBase):
    """Glossaries of translators' tools: terms with translations onto the cards, and from there into a file."""

    def import_glossary(
        self,
        text: GlossaryText,
        *,
        form: GlossaryForm | None = None,
        to: base.Language = "",
        kind: EntityType = "term",
        start: base.Place = None,
    ) -> GlossaryImport:
        """Take a glossary in, which `undo` takes back: translations of names that cards bear, and new cards.

        A term that several cards bear is translated on each. The note of a row becomes the description of a term,
        and of another card that has none.

        Args:
            text: CSV or TSV with or without headings, a JSON list of `{src, dst, info}`, or lines `src->dst #info`.
            form: csv, tsv, json or text; None takes what the text looks like.
            to: Language of the translations, such as en; empty: the same for all languages.
            kind: What a term is that has no card yet, where its row does not say it.
            start: New cards are known, and new translations hold, on entering this position; None means from the
                start.

        Raises:
            UserInputError: When it is no glossary, or has too many rows.
        """
        table = read_glossary(text, form)
        begins = base.position_of(start)
        with self._stores.database(self.project_id).write() as unit:
            taking = _Taking(unit, to=to.strip(), kind=kind, start=begins)
            for term in table.terms:
                taking.take(term)
            with unit.journal.recording_cards(list(taking.changed)) as rows:
                is_rescanned = self._store(unit, taking)
            number = (
                unit.journal.keep("add" if taking.added else "edit", rows[0].key["entity_id"], "", rows)
                if rows
                else None
            )
        unread_names = [*table.unread, *taking.unread]
        return GlossaryImport(
            added=taking.added,
            updated=[text for text in taking.changed if text not in set(taking.added)],
            were_there=taking.were_there,
            issues=[ReportIssue(stage="glossary", kind="malformed", message=message) for message in unread_names],
            indexing=self._follow_edit() if is_rescanned else IndexingResult(),
            change_id=number and number.change_id,
        )

    def export_glossary(self, form: GlossaryForm = "csv", *, to: base.Language = "", as_of: base.Place = None) -> str:
        """Return all translated names as a glossary; an import of CSV or JSON brings it back whole.

        Args:
            form: csv, tsv (OmegaT, GalTransl), json (LinguaGacha, AiNiee) or text (`src->dst #info`, SakuraLLM).
            to: Language of the translations; empty takes the first of each.
            as_of: As far as the story has shown the names before this position.
        """
        with self._stores.database(self.project_id).read() as unit:
            known_entities = base.known_entities(unit, base.position_of(as_of))
        names = {entity.entity_id: entity.name for entity in known_entities}
        return written_glossary([term for entity in known_entities for term in _terms(entity, names, to.strip())], form)

    def _store(self, unit: UnitOfWork, taking: "_Taking") -> bool:
        from runtime.ingest.entities import store_entities_in

        by_origin: dict[EntityOrigin, list[Entity]] = defaultdict(list)
        for entity_id, entity in taking.changed.items():
            by_origin[taking.origins[entity_id]].append(entity)
        results = [
            store_entities_in(unit, entities, origin=origin, stores=self._stores)
            for origin, entities in by_origin.items()
        ]
        return any(entities_result.rescanned for entities_result in results)

    aimport_glossary = base.async_twin(import_glossary)
    aexport_glossary = base.async_twin(export_glossary)


class _Taking:
    """The cards that the rows of a glossary change, one row after another."""

    def __init__(self, unit: UnitOfWork, *, to: str, kind: EntityType, start: StoryPosition | None) -> None:
        self._unit, self._to, self._kind, self._start = unit, to, kind, start
        at = END_OF_STORY if start is None else base.place_of_statement(unit, start)
        self._place = {"first_chapter": at.chapter_index, "first_scene": at.scene_index}
        self._begins = (
            None if at == END_OF_STORY or start is None else (start.chapter_index or 0, start.scene_index or 1)
        )
        self._stored = {entity.entity.entity_id: entity for entity in unit.entities.list_all()}
        self._bearers: dict[str, list[str]] = defaultdict(list)
        for entity_id, stored_entity in self._stored.items():
            self._index(entity_id, stored_entity.entity.names())
        self.changed: dict[str, Entity] = {}
        self.added: list[str] = []
        self.origins: dict[str, EntityOrigin] = {}
        self.were_there = 0
        self._rows: dict[tuple[str, str], GlossaryTerm] = {}
        self.unread: list[str] = []

    def _index(self, entity_id: str, names: Sequence[str]) -> None:
        for name in names:
            if entity_id not in self._bearers[name_key(name)]:
                self._bearers[name_key(name)].append(entity_id)

    def take(self, term: GlossaryTerm) -> None:
        """Take a row in."""
        try:
            name = visible_name(term.src)
        except UserInputError as error:
            self.unread.append(str(error))
            return
        owners = self._bearers.get(name_key(term.of), []) if term.of else []
        bearers = owners or self._bearers.get(name_key(name), [])
        if not bearers:
            self._add(name, term)
            return
        before = {bearer_id: self.changed.get(bearer_id) for bearer_id in bearers}
        other = self._rows.setdefault((bearers[0], name_key(name)), term)
        if other.dst != term.dst:
            self.unread.append(
                f"{other.src!r} and {term.src!r} are one name, translated as {other.dst!r} and {term.dst!r}: the last"
                " counts"
            )
        for entity_id in bearers:
            self._say(entity_id, name, term)
        self.were_there += all(self.changed.get(entity_id) == entity for entity_id, entity in before.items())

    def _add(self, name: str, term: GlossaryTerm) -> None:
        kind = term.type or self._kind
        entity = Entity(
            entity_id=self._unit.entities.next_id(kind),
            entity_type=kind,
            name=name,
            description=term.info,
            profile={TRANSLATION: _translated(None, term.dst, self._to)},
            **self._place,
            **{f"name_{field}": value for field, value in self._place.items()},
            said_from=self._begins,
        )
        self.changed[entity.entity_id] = entity
        self.origins[entity.entity_id] = "author"
        self.added.append(entity.entity_id)
        self._index(entity.entity_id, [name])
        self._rows[entity.entity_id, name_key(name)] = term

    def _say(self, entity_id: str, name: str, term: GlossaryTerm) -> None:
        """Let a card say what a row says of one of its names."""
        stored_entity = self._stored.get(entity_id)
        entity = self.changed.get(entity_id) or (stored_entity.entity if stored_entity else None)
        if entity is None:
            return
        shown_entity = entity_at(entity, self._start or END_OF_STORY)
        stated_entity = self._with_row(shown_entity, name, term)
        if stated_entity == shown_entity:
            return
        is_new = entity_id in self.added
        self.changed[entity_id] = (
            stated_entity if is_new else with_values_from(entity, shown_entity, stated_entity, start=self._begins)
        )
        is_described = stated_entity.description != shown_entity.description
        self.origins[entity_id] = "author" if is_new or is_described or stored_entity is None else stored_entity.origin

    def _with_row(self, entity: Entity, name: str, term: GlossaryTerm) -> Entity:
        own = next((other_name for other_name in entity.names() if name_key(other_name) == name_key(name)), None)
        changes: dict[str, Any] = {}
        if own is None:
            alias = EntityAlias(alias=name, speaker=self._speaker(term.speaker), **self._place)
            changes["aliases"] = [*entity.aliases, alias]
        profile = dict(entity.profile)
        if own == entity.name:
            profile[TRANSLATION] = _translated(profile.get(TRANSLATION), term.dst, self._to)
        else:
            by_alias = profile.get(ALIAS_TRANSLATIONS)
            translated = dict(by_alias) if isinstance(by_alias, Mapping) else {}
            translated[own or name] = _translated(translated.get(own or name), term.dst, self._to)
            profile[ALIAS_TRANSLATIONS] = translated
        changes["profile"] = profile
        if term.info and own == entity.name and (entity.entity_type == "term" or not entity.description):
            changes["description"] = term.info
        return entity.model_copy(update=changes)

    def _speaker(self, name: str) -> str | None:
        bearers = self._bearers.get(name_key(name), []) if name else []
        return bearers[0] if len(bearers) == 1 else name or None


def _translated(old: Any, new: str, to: str) -> Any:
    """Return a translation with a new one into a language; a text alone counts for every language."""
    by_language = {ANY_LANGUAGE: old} if isinstance(old, str) and old else dict(old) if isinstance(old, Mapping) else {}
    if TRANSLATION in by_language:
        # The form of novel-gen's files, whose one text counts for every language.
        by_language = {ANY_LANGUAGE: by_language[TRANSLATION]}
    by_language[to] = new
    return new if set(by_language) == {ANY_LANGUAGE} else by_language


def _terms(entity: Entity, names: Mapping[str, str], to: str) -> list[GlossaryTerm]:
    speakers = {alias.alias: alias.speaker or "" for alias in entity.aliases}
    return [
        GlossaryTerm(
            src=name,
            dst=translation,
            info=entity.description if name == entity.name else "",
            type=entity.entity_type,
            of="" if name == entity.name else entity.name,
            speaker=_speaker_name(speakers.get(name, ""), names),
        )
        for name in entity.names()
        if (translation := translation_of(entity, name, into=to))
    ]


def _speaker_name(speaker: str, names: Mapping[str, str]) -> str:
    # Who is not known yet is not told to use it.
    return names.get(speaker, "") if is_entity_id(speaker) else speaker
