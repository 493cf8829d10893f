"""The context of a piece of text over runtime's stores, for translators and editors."""

import logging

from novelgen.chains.chunk_context_chain import ChunkContextChain
from novelgen.errors import StoreError
from novelgen.models.chunk_context import ChunkContext, ChunkContextRequest, MemoryPriority
from novelgen.models.position import require_project_id
from runtime.search.story_memory import StoryMemoryTools
from runtime.stores import MemoryStores, stores_or_default

logger = logging.getLogger(__name__)


def build_chunk_context(
    project_id: str,
    text: str,
    chapter_index: int | None = None,
    limit: int | None = None,
    *,
    stores: MemoryStores | None = None,
    language: str | None = None,
    priority: MemoryPriority | None = None,
    touch: bool | None = None,
) -> ChunkContext:
    """Build the glossary and the memories that a translator or editor of a piece of text must know.

    Args:
        project_id: The project, a plain string.
        text: The piece of text, a paragraph to a few pages.
        chapter_index: The chapter in which it stands: only what lies before that chapter counts, and of
            whom the chapter first shows only the names in the text. None means the whole book.
        limit: At most so many memories; None, as for all that follows, takes the project's setting, by default 10.
        stores: Stores to use; None opens those of the settings.
        language: Language of the headings, `zh…` or `en`; None takes the story's.
        priority: `score`, or `least_recently_read`: of what fits, what was never noted as read comes first, then what
            was not for longest.
        touch: Note on the memories shown that they were read now, as far as that can be done; by default
            nothing is written.

    Returns:
        The context. What fails in the stores leaves its part empty and stands in `issues`.

    Raises:
        ValidationError: When the limit, the chapter or the length of the text is out of bounds.
        InvalidProjectIdError: When the project id is not a plain, path-free string.
        UnknownProjectError: When no such project is stored.
    """
    require_project_id(project_id)
    with stores_or_default(stores) as lent:
        settings = lent.settings.memory.chunk_context
        request = ChunkContextRequest(
            project_id=project_id,
            text=text,
            chapter_index=chapter_index,
            limit=settings.limit if limit is None else limit,
            language=language,
            priority=priority or settings.priority,
        )
        # A project that is not stored is refused; a database that fails is left to the chain to report.
        try:
            lent.database(project_id)
        except StoreError as error:
            logger.info("whether project %r is stored could not be read: %s", project_id, error)
        chain = ChunkContextChain(StoryMemoryTools(lent), timeout_s=lent.settings.memory.tool_timeout_s)
        context = chain.invoke(request)
        if (settings.touch if touch is None else touch) and context.memories:
            _touch(lent, context)
    return context


def _touch(stores: MemoryStores, context: ChunkContext) -> None:
    try:
        with stores.database(context.project_id).write() as unit:
            unit.memories.mark_read([each.chunk.chunk_id for each in context.memories])
    except StoreError as error:
        logger.warning("not noted as read: %s", error)
