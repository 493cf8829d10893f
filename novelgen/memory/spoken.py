"""States that somebody says aloud in a scene."""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

from novelgen.language.language import FUNCTION_WORDS, significant_words, word_pattern
from novelgen.language.sentences import Span, split_sentences
from novelgen.language.speech import QUOTED
from novelgen.memory.attributes import is_death
from novelgen.memory.knowledge_story import KnowledgeMemory, KnowledgeScene
from novelgen.memory.stated import NAME_ATTRIBUTE, Statement, reading_of
from novelgen.models.entity import Entity
from novelgen.models.position import StoryPosition

_PLAIN_DEATH = word_pattern("spoken_plain_death")
"""All words of a plain death beside its name."""

_PLACING = word_pattern("character_view_placing")

_APART = word_pattern("spoken_apart")
"""Words around a speech that not all hear: whispered, thought."""

_MARKS = '“”「」『』" '
_SENTENCE_END = re.compile(r"[.!?。！？\n]")
_BEGINNING = StoryPosition(0, 0)


class Saying(NamedTuple):
    """A state that is said aloud in a scene."""

    scene: KnowledgeScene
    span: Span
    text: str


@dataclass(frozen=True)
class SpokenStates:
    """The states that people say in the scenes of a story."""

    scenes: Sequence[KnowledgeScene]
    notes: Sequence[KnowledgeMemory]
    entities: Sequence[Entity]
    _numbers_by_id: dict[str, frozenset[int]] = field(default_factory=dict, init=False, compare=False)
    _sayings: dict[Statement, list[Saying]] = field(default_factory=dict, init=False, compare=False)

    def of_note(self, note: KnowledgeMemory) -> list[Saying]:
        """Return the sayings that tell a whole note."""
        statements = self._stated_by(note.content)
        if len(statements) != 1:
            return []
        statement = statements[0]
        sayings = self.of_statement(statement, since=note.noted_at or _BEGINNING)
        return [saying for saying in sayings if self._tells_all(note.content, statement, saying.text)]

    def of_statement(
        self, statement: Statement, *, since: StoryPosition, until: StoryPosition | None = None
    ) -> list[Saying]:
        """Return the sayings of a state while it holds.

        Args:
            statement: The state.
            since: The first scene.
            until: The place at which it ends; else the next note on the same slot ends it.
        """
        if statement.attribute == NAME_ATTRIBUTE or not statement.value:
            return []
        ends = [
            place for other, place in self._stated_at[statement[:2]] if place > since and not _same(other, statement)
        ]
        end = min([*ends, *([] if until is None else [until])], default=None)
        if _as_key(statement) not in self._sayings:
            self._sayings[_as_key(statement)] = list(self._find(statement))
        return [
            saying
            for saying in self._sayings[_as_key(statement)]
            if saying.scene.position >= since and (end is None or saying.scene.position < end)
        ]

    @cached_property
    def _stated_at(self) -> Mapping[tuple[str, str], list[tuple[Statement, StoryPosition]]]:
        """The placed statements of notes by bearer and attribute."""
        places = defaultdict(list)
        for note in self.notes:
            for statement in self._stated_by(note.content):
                places[statement[:2]].append((statement, note.noted_at or _BEGINNING))
        return places

    def _stated_by(self, text: str) -> Sequence[Statement]:
        bearers = [entity for entity in self.entities if _is_named(entity, text)]
        return reading_of(text, bearers).statements if bearers else ()

    def _find(self, statement: Statement) -> Iterator[Saying]:
        about = [
            entity.entity_id for entity in self.entities if entity.entity_id in (statement.entity_id, statement.value)
        ]
        numbers = [self._naming(entity_id) for entity_id in about]
        for number in sorted(numbers[0].intersection(*numbers[1:]) if numbers else ()):
            scene, span = self._speeches[number]
            if _is_apart(scene.text, span):
                continue
            for text in _sentences(scene.text[span.start : span.end]):
                if any(_same(other, statement) for other in self._stated_by(text)):
                    yield Saying(scene, span, text)

    @cached_property
    def _speeches(self) -> Sequence[tuple[KnowledgeScene, Span]]:
        """The speeches of scenes with a stated cast."""
        scenes = (scene for scene in self.scenes if scene.has_record)
        return [(scene, Span(*speech.span())) for scene in scenes for speech in QUOTED.finditer(scene.text)]

    def _naming(self, entity_id: str) -> frozenset[int]:
        """Return the numbers of the speeches with a name."""
        if entity_id not in self._numbers_by_id:
            entity = next(one for one in self.entities if one.entity_id == entity_id)
            self._numbers_by_id[entity_id] = frozenset(
                number
                for number, (scene, span) in enumerate(self._speeches)
                if _is_named(entity, scene.text[span.start : span.end])
            )
        return self._numbers_by_id[entity_id]

    def _tells_all(self, note: str, statement: Statement, text: str) -> bool:
        """Tell whether a saying leaves nothing of a note untold."""
        names = sorted((name for one in self.entities for name in one.names()), key=len, reverse=True)
        unnamed = re.sub("|".join(map(re.escape, names)) or "(?!)", " ", note, flags=re.IGNORECASE)
        others = set(_bearers(note, self.entities)) - set(_bearers(text, self.entities))
        if others - {statement.entity_id, statement.value}:
            return False
        is_plain = is_death(statement.attribute, statement.value) and _PLAIN_DEATH.fullmatch(unnamed.strip(" .。!！"))
        words = significant_words(_PLACING.sub(" ", unnamed)) - FUNCTION_WORDS
        return bool(is_plain) or words <= significant_words(text)


def _sentences(speech: str) -> Iterator[str]:
    speech_text = speech.strip(_MARKS)
    for span in split_sentences(speech_text):
        yield speech_text[span.start : span.end].strip().rstrip(",，")


def _is_apart(text: str, speech: Span) -> bool:
    """Tell whether the narration around a speech keeps it apart."""
    before = _SENTENCE_END.split(QUOTED.sub(" ", text[: speech.start]))[-1]
    after = _SENTENCE_END.split(QUOTED.sub(" ", text[speech.end :]))[0]
    return any(_APART.search(part) is not None for part in (before, after))


def _is_named(entity: Entity, text: str) -> bool:
    """Tell whether a text has a name, also capitalised."""
    return any(name in text or name[:1].upper() + name[1:] in text for name in entity.names())


def _bearers(text: str, entities: Sequence[Entity]) -> list[str]:
    return [entity.entity_id for entity in entities if _is_named(entity, text)]


def _same(one: Statement, other: Statement) -> bool:
    return _as_key(one) == _as_key(other)


def _as_key(statement: Statement) -> Statement:
    """Return a statement in which every death is the same."""
    return statement._replace(value="dead") if is_death(statement.attribute, statement.value) else statement
