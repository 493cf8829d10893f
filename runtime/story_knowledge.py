"""Who knows what in a story, for Python programs: asked of characters, memories and pairs, and the author's word."""

from __future__ import annotations

from novelgen.models.knowledge import CharacterKnowledge, KnowledgeKind, KnowledgeSource
from runtime.async_twins import async_twin
from runtime.services import knowledge as knowledge_services
from runtime.services.knowledge import MemoryKnowers, SharedLife, StoredKnowledge
from runtime.story_base import Place, StoryBase, position_of


class StoryKnowledge(StoryBase):
    """The part of a `Story` that tells who knows what; see there."""

    def knowledge(self, character: str, *, as_of: Place = None, about: str | None = None) -> CharacterKnowledge:
        """Tell what a character knows and what not: every memory before the position in one of two lists.

        Args:
            character: Id, name or alias; `reader` for whoever reads the book.
            as_of: Position of the read.
            about: Only memories about this entity, or else with these words.

        Raises:
            UnknownEntityError: When nobody bears the name by then, or several do.
        """
        return knowledge_services.character_knowledge(
            self._stores, self.project_id, character=character, as_of=position_of(as_of), about=about
        )

    def who_knows(self, memory_id: str, *, as_of: Place = None) -> MemoryKnowers:
        """Tell who knows a memory, since when and how, and who does not and might have been told.

        Args:
            memory_id: Its source_id or chunk_id.
            as_of: Position of the read.

        Raises:
            UnknownMemoryError: When there is no such memory by then.
        """
        return knowledge_services.who_knows(
            self._stores, self.project_id, memory_id=memory_id, as_of=position_of(as_of)
        )

    def lived_together(self, first: str, second: str, *, as_of: Place = None) -> SharedLife:
        """Return the scenes that two characters were in together, and which of them alone.

        Args:
            first: One of them.
            second: The other.
            as_of: Only scenes before this position.

        Raises:
            UnknownEntityError: When nobody bears a name by then, or several do.
        """
        return knowledge_services.lived_together(
            self._stores, self.project_id, first=first, second=second, as_of=position_of(as_of)
        )

    def set_knowledge(
        self,
        character: str,
        memory_id: str,
        kind: KnowledgeKind = "knows",
        *,
        how: KnowledgeSource = "author",
        learned_from: str | None = None,
        certainty: float = 1.0,
        start: Place = None,
    ) -> StoredKnowledge:
        """Say whether a character knows a memory; it outranks the record and all rules.

        Args:
            character: Id, name or alias; `reader` for whoever reads the book.
            memory_id: Its source_id or chunk_id; `*` for all that `learned_from` has lived through.
            kind: knows, hidden (does not), deceived (believes the contrary) or doubts.
            how: own_doing, witnessed, told, overheard, read, deduced or author.
            learned_from: Whom they know it from.
            certainty: 1 is sure; less is a rumour.
            start: It holds on entering this position; None means from the memory's own scene on.

        Raises:
            UnknownEntityError: When nobody bears a name by then, or several do.
            UnknownMemoryError: When there is no such memory before the position.
        """
        return knowledge_services.set_knowledge(
            self._stores,
            self.project_id,
            character=character,
            memory_id=memory_id,
            kind=kind,
            how=how,
            learned_from=learned_from,
            certainty=certainty,
            start=position_of(start),
        )

    def forget_knowledge(self, character: str, memory_id: str) -> list[StoredKnowledge]:
        """Take back all that `set_knowledge` said of a character and a memory, and return it.

        Args:
            character: Id, name or alias; `reader` for whoever reads the book.
            memory_id: Its source_id or chunk_id; `*` for whole tales.

        Raises:
            UserInputError: When nothing was said.
        """
        return knowledge_services.forget_knowledge(
            self._stores, self.project_id, character=character, memory_id=memory_id
        )

    aknowledge = async_twin(knowledge)
    awho_knows = async_twin(who_knows)
    alived_together = async_twin(lived_together)
    aset_knowledge = async_twin(set_knowledge)
    aforget_knowledge = async_twin(forget_knowledge)
