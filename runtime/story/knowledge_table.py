"""Who of a cast knows what, as a table: the latest memories first, narrowed to what an author looks for."""

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Literal

from pydantic import BaseModel, Field

from novelgen.errors import UserInputError
from novelgen.memory.knowledge_rules import KnowledgeRules
from novelgen.memory.story import KnowledgeMemory
from novelgen.models.knowledge import READER, KnownMemory, UnknownMemory
from novelgen.models.position import END_OF_STORY
from runtime.search.kept_readings import knowledge_rules
from runtime.story.base import Count, Name, Number, Place, StoryBase, async_twin, known_entities, position_of
from runtime.story.knowledge import is_about, knower_id

Narrowing = Literal["all", "known", "unknown", "irony", "secret"]
"""Which memories a table has: those that somebody knows, does not know, does not know while the reader does (of
nobody named: whom it is about), or that are kept from somebody while another knows them."""

MAX_LOOKED_AT = 2000
"""So many memories are looked at for one part of a narrowed table; the next part goes on behind them."""

MAX_CAST = 10


class KnowledgeRow(BaseModel):
    """A memory, and of each of a cast whether they know it."""

    source_id: str
    content: str
    chapter_index: int | None = None
    scene_index: int | None = None
    cells: list[KnownMemory | UnknownMemory] = Field(default_factory=list, description="In the order of the cast.")
    said_of: list[str] = Field(
        default_factory=list, description="Of whom the author said whether they know it, by then."
    )


class KnowledgeTable(BaseModel):
    """Who of a cast knows what."""

    cast: dict[str, str] = Field(
        default_factory=dict, description="Id to name: the reader first, then who is on stage most."
    )
    rows: list[KnowledgeRow] = Field(default_factory=list, description="The latest first.")
    total: int = Field(default=0, description="How many memories there are before it is narrowed.")
    next_offset: int | None = Field(
        default=None, description="Where the next part begins; None: there is nothing further."
    )


class StoryKnowledgeTable(StoryBase):
    """Who of a cast knows what, as a table: the latest memories first, narrowed to what an author looks for."""

    def knowledge_table(
        self,
        *,
        as_of: Place = None,
        about: str | None = None,
        narrowing: Narrowing = "all",
        of: Name | None = None,
        is_of_one: bool = False,
        offset: Number = 0,
        limit: Count = 40,
        max_cast: int = MAX_CAST,
    ) -> KnowledgeTable:
        """Tell of each of the latest memories who knows it.

        Args:
            as_of: Position of the read; None means the end of the story.
            about: Only memories about this; see `character_knowledge`.
            narrowing: Which of them; `known` and `unknown` need somebody.
            of: Id, name or alias of whose knowledge is asked, or `reader`; they are of the cast in any case.
            is_of_one: The cast is nobody else.
            offset: How many memories to pass over, from the latest back.
            limit: At most so many memories.
            max_cast: At most so many characters, beside the reader and who is asked for.

        Raises:
            UnknownEntityError: When nobody bears the name by then, or several do.
            UnknownProjectError: When no such project is stored.
            UserInputError: When there is no such narrowing, or it needs somebody.
            DatabaseError: When the database fails.
        """
        if of is None and (narrowing in ("known", "unknown") or is_of_one):
            raise UserInputError(f"whose knowledge is asked is not said; name somebody, or {READER!r}")
        cut = position_of(as_of) or END_OF_STORY
        with self._stores.database(self.project_id).read() as unit:
            is_wanted = is_about(unit, about, cut)
            names = {each.entity_id: each.name for each in known_entities(unit, cut)}
            of_id = None if of is None else knower_id(unit, of, cut)
        rules = knowledge_rules(self._stores, self.project_id, as_of=cut)
        wanted = [memory for memory in rules.story.memories if is_wanted(memory)][::-1]
        fits = _condition(rules, narrowing, of_id)
        found: list[KnowledgeMemory] = []
        looked_at = wanted[offset : offset + (limit if narrowing == "all" else MAX_LOOKED_AT)]
        following = offset
        for memory in looked_at:
            following += 1
            if fits(memory):
                found.append(memory)
            if len(found) == limit:
                break
        cast = _cast(rules, names, of_id, is_of_one=is_of_one, max_cast=max_cast)
        return KnowledgeTable(
            cast=cast,
            rows=[_row(rules, memory, list(cast)) for memory in found],
            total=len(wanted),
            next_offset=following if following < len(wanted) else None,
        )

    aknowledge_table = async_twin(knowledge_table)


def _cast(
    rules: KnowledgeRules, names: dict[str, str], of_id: str | None, *, is_of_one: bool, max_cast: int
) -> dict[str, str]:
    names = {READER: READER, **names}
    if is_of_one and of_id is not None:
        return {of_id: names.get(of_id, of_id)}
    seen = Counter(each for scene in rules.story.scenes for each in sorted(scene.present))
    people = [each for each, _ in seen.most_common() if each in rules.story.character_ids and each in names]
    shown = [READER, *people[:max_cast]]
    if of_id is not None and of_id not in shown:
        shown.append(of_id)
    return {each: names.get(each, each) for each in shown}


def _row(rules: KnowledgeRules, memory: KnowledgeMemory, cast: Sequence[str]) -> KnowledgeRow:
    told = [rules.of_character(each, [memory]) for each in cast]
    place = memory.position or memory.noted_at or END_OF_STORY
    events = rules.story.events_by_memory.get(memory.source_id, ())
    said_of = {event.character_id for event in events if event.by_author}
    return KnowledgeRow(
        source_id=memory.source_id,
        content=memory.content,
        chapter_index=place.chapter_index,
        scene_index=place.scene_index,
        cells=[each.known[0] if each.known else each.not_known[0] for each in told],
        said_of=[each for each in cast if each in said_of],
    )


def _condition(rules: KnowledgeRules, narrowing: Narrowing, of_id: str | None) -> Callable[[KnowledgeMemory], bool]:
    def whom(memory: KnowledgeMemory) -> list[str]:
        if of_id is not None:
            return [of_id]
        return [each for each in memory.entities if each in rules.story.character_ids]

    def knows(character_id: str, memory: KnowledgeMemory) -> bool:
        return rules.knows(character_id, memory).knows

    def is_irony(memory: KnowledgeMemory) -> bool:
        return knows(READER, memory) and any(not knows(each, memory) for each in whom(memory))

    def is_secret(memory: KnowledgeMemory) -> bool:
        kept = {
            event.character_id
            for event in rules.story.events_by_memory.get(memory.source_id, ())
            if event.kind != "knows" and of_id in (None, event.character_id)
        }
        is_kept = any(not knows(each, memory) for each in sorted(kept))
        return is_kept and any(knows(each, memory) for each in sorted(rules.story.character_ids - kept))

    conditions: dict[Narrowing, Callable[[KnowledgeMemory], bool]] = {
        "all": lambda memory: True,
        "known": lambda memory: knows(of_id or READER, memory),
        "unknown": lambda memory: not knows(of_id or READER, memory),
        "irony": is_irony,
        "secret": is_secret,
    }
    return conditions[narrowing]
