"""Entities as the documents of a memory folder tell them."""

from __future__ import annotations

from typing import Any

from novelgen.models.entity import Entity, EntityAlias
from runtime.exchange.memory_document_shapes import EntityDocument
from runtime.projects.file_reading import validated
from runtime.storage.transfer.records import ExchangedEntity


def exchanged_entity(document: EntityDocument) -> ExchangedEntity:
    """Return the entity of a document; fields that the document does not know are its profile.

    Raises:
        InvalidFileError: When an alias is wrong.
    """
    aliases = [_alias(each, document) for each in document.aliases]
    by_default = document.origin == "author"
    profile: dict[str, Any] = {**(document.model_extra or {}), **document.profile}
    if document.metadata:
        profile["metadata"] = document.metadata
    entity = Entity(
        entity_id=document.id,
        entity_type=document.type,
        name=document.name,
        aliases=[alias for alias, _ in aliases],
        role=document.role,
        description=document.description,
        profile=profile,
        first_chapter=document.first_chapter,
        first_scene=document.first_scene,
        name_first_chapter=document.name_first_chapter,
        name_first_scene=document.name_first_scene,
    )
    written = [
        alias.alias for alias, by_author in aliases if (by_default if by_author is None else by_author)
    ]
    return ExchangedEntity(entity=entity, origin=document.origin, author_aliases=written)


def _alias(given: str | dict[str, Any], document: EntityDocument) -> tuple[EntityAlias, bool | None]:
    if isinstance(given, str):
        given = {"alias": given}
    by_author = given.get("by_author")
    known = {name: value for name, value in given.items() if name != "by_author"}
    return validated(EntityAlias, known, where=f"an alias of {document.id!r}"), (
        by_author if isinstance(by_author, bool) else None
    )
