"""Lines that describe a story change for its author."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from novelgen.context.labels import Labels, labels_for
from novelgen.context.rendering import ATTRIBUTE_ORDER, NEUTRAL_STATUS, dimension_in_words, render_value
from novelgen.language.normalise import texts_within
from novelgen.models import story_difference as differences
from novelgen.models.entity import is_entity_id
from novelgen.models.knowledge import ALL_LIVED
from novelgen.models.story_difference import StoryDifference
from novelgen.words import words

MAX_BLOCK_LINES = 12
MAX_BLOCK_FACTS = 4

MAX_BLOCK_ITEMS = 3
"""So many of each other kind stand in one line of a block; the rest is counted."""

MAX_BLOCK_ATTRIBUTES = 2
"""Of one entity, in a block."""

_FLEETING = ("for_now", "emotional_state")
"""Told last, and not in a block: what is gone by the next scene."""

_Section = tuple[str, list[str]]


def difference_lines(difference: StoryDifference) -> list[str]:
    """Return all that a stretch changed: a title, then each kind with its heading and a line per change."""
    teller = _Teller(difference)
    lines = [teller.title()]
    facts = [teller.fact(new_fact, is_short=False) for new_fact in difference.facts]
    if (more := difference.facts_in_all - len(facts)) > 0:
        facts.append(teller.words["more"].format(more))
    for heading, items in ((teller.words["facts"], facts), *teller.sections(is_short=False)):
        if items:
            lines += [f"{heading}{teller.colon.rstrip()}", *(f"  - {item}" for item in items)]
    return [*lines, *teller.remarks()]


def difference_block(difference: StoryDifference) -> list[str]:
    """Return the same in at most `MAX_BLOCK_LINES` lines: the best facts, then one line for each other kind."""
    teller = _Teller(difference)
    sections = [
        f"  {heading}{teller.colon}{teller.joined(items)}" for heading, items in teller.sections(is_short=True) if items
    ]
    remarks = [f"  {remark}" for remark in teller.remarks()]
    room = MAX_BLOCK_LINES - 1 - len(sections) - len(remarks)
    shown_new_facts = difference.facts[: min(MAX_BLOCK_FACTS, max(1, room))]
    facts = [f"  - {teller.fact(new_fact, is_short=True)}" for new_fact in shown_new_facts]
    if (more := difference.facts_in_all - len(shown_new_facts)) > 0 and facts:
        facts[-1] += teller.aside(more)
    return [teller.title(), *facts, *sections, *remarks]


class _Teller:
    """The words for one difference."""

    def __init__(self, difference: StoryDifference) -> None:
        self._difference = difference
        self.words = words("context", difference.language, "difference")
        self._labels: Labels = labels_for(difference.language)
        self.colon = self._labels.colon
        unnamed = {
            text: self.words["unnamed_person" if text.startswith("C") else "unnamed_thing"]
            for text in _ids_of(difference)
        }
        self._names: Mapping[str, str] = {
            **unnamed,
            **{other_name: name for other_name, name in difference.names.items() if name != other_name},
        }

    def title(self) -> str:
        """Return the title for one scene or several."""
        first, last = self._difference.first, self._difference.last
        if first is None or last is None:
            return self.words["no_scene"]
        name = "scene" if first == last else "scenes"
        return self.words[name].format(_place(first), _place(last)) + self.colon.rstrip()

    def remarks(self) -> list[str]:
        """Return the remarks: no changes, unread scenes and totals."""
        difference, statements = self._difference, []
        unread_words = [
            _place((scene_telling.chapter_index, scene_telling.scene_index))
            for scene_telling in difference.scenes
            if not scene_telling.has_record
        ]
        if difference.is_empty and difference.scenes and not unread_words:
            statements.append(self.words["nothing"])
        if unread_words:
            statements.append(self.words["unread"].format(self.joined(unread_words, self._labels.list_separator)))
        if (totals := difference.totals) is not None:
            counts = {
                "count_facts": totals.facts,
                "count_newcomers": totals.newcomers,
                "count_planted": totals.threads_planted,
                "count_ended": totals.threads_ended,
                "count_deaths": totals.deaths,
            }
            lines = [self.words[name].format(count) for name, count in counts.items() if count]
            listing = self._labels.list_separator.join(lines)
            statements.append(self.words["totals"].format(totals.scenes) + (self.colon + listing if lines else ""))
        return statements

    def aside(self, more: int) -> str:
        """Return how many more there are, to stand after something."""
        return f"{self.words['open']}{self.words['more'].format(more)}{self.words['close']}"

    def joined(self, items: Sequence[str], separator: str | None = None) -> str:
        """Return the first items in one line, and how many more there are."""
        line = (separator or self._labels.separator).join(items[:MAX_BLOCK_ITEMS])
        more = len(items) - MAX_BLOCK_ITEMS
        return line + (self.aside(more) if more > 0 else "")

    def sections(self, *, is_short: bool) -> list[_Section]:
        """Return the sections beside facts, with headings.

        Some may be empty.
        """
        difference = self._difference
        lines_by_section: dict[str, Iterable[str]] = {
            "deaths": map(self._death, difference.deaths),
            "identities": map(self._identity, difference.identities),
            "newcomers": self._newcomers(),
            "handovers": map(self._handover, difference.handovers),
            "states": self._states(is_short=is_short),
            "threads": [self._thread(turn, is_short=is_short) for turn in difference.threads],
            "learnt": map(self._learning, difference.learnt),
            "relationships": map(self._relationship, difference.relationships),
        }
        return [(self.words[name], list(lines)) for name, lines in lines_by_section.items()]

    def fact(self, fact: differences.NewFact, *, is_short: bool) -> str:
        """Return a fact, in its short form where it has one and that is wanted."""
        mark = "" if fact.verified else self._labels.unverified
        if is_short:
            return (fact.short or fact.content) + mark
        text = fact.content + mark
        if fact.replaces:
            text = self.words["instead"].format(text, fact.replaces)
        is_one_scene = len(self._difference.scenes) < 2
        place = _place((fact.chapter_index, fact.scene_index))
        return text if is_one_scene else f"[{place}] {text}"

    def _death(self, turn: differences.StateTurn) -> str:
        return f"{self._value(turn.entity_id)}{self.colon}{self._value(turn.now)}"

    def _identity(self, turn: differences.IdentityTurn) -> str:
        return self.words["is" if turn.was else "is_called"].format(turn.was, turn.now)

    def _newcomers(self) -> list[str]:
        statements = []
        for newcomer in self._difference.newcomers:
            name = self._value(newcomer.entity_id)
            text = self.words["known_before"].format(name) if newcomer.was_known else name
            statements.append(text + (self._labels.guess if newcomer.is_guessed else ""))
        return statements

    def _handover(self, turn: differences.Handover) -> str:
        name = "held_by_nobody" if not turn.now else "holds_was" if turn.was else "holds"
        lines = (self._value(entity_id) for entity_id in (turn.item_id, turn.now, turn.was))
        return self.words[name].format(*lines)

    def _states(self, *, is_short: bool) -> list[str]:
        by_entity: dict[str, list[differences.StateTurn]] = {}
        for turn in self._difference.states:
            if not (is_short and turn.attribute in _FLEETING):
                by_entity.setdefault(turn.entity_id, []).append(turn)
        lines = []
        for entity_id, turns in by_entity.items():
            shown_turns = sorted(turns, key=_attribute_rank)[: MAX_BLOCK_ATTRIBUTES if is_short else None]
            parts = [self._attribute(turn, is_short=is_short) for turn in shown_turns]
            lines.append(f"{self._value(entity_id)}{self.colon}{self._labels.separator.join(parts)}")
        return lines

    def _attribute(self, turn: differences.StateTurn, *, is_short: bool) -> str:
        mark = "" if turn.verified else self._labels.unverified
        # Lists of knowledge keep their newest entries alone: what is not in them any more is not forgotten.
        text = self._turn(turn.was, turn.now, tells_removed=not is_short and turn.attribute != "knowledge")
        name = self._labels.attribute(turn.attribute).replace("_", " ")
        return f"{name}{self.colon}{text}{mark}"

    def _turn(self, was: Any, now: Any, *, tells_removed: bool) -> str:
        if isinstance(was, list | tuple) and isinstance(now, list | tuple):
            new_items = [item for item in now if item not in was]
            removed = [item for item in was if item not in now]
            if new_items and removed and tells_removed:
                return self.words["added_removed"].format(self._value(new_items), self._value(removed))
            if new_items or removed:
                return self.words["added" if new_items else "removed"].format(self._value(new_items or removed))
        if was in (None, "", []):
            return self._value(now)
        return self.words["turned"].format(self._value(was), self._value(now))

    def _thread(self, turn: differences.ThreadTurn, *, is_short: bool) -> str:
        statements = ["" if is_short else turn.note]
        if turn.kind == "overdue" and turn.age_scenes:
            statements.append(self.words["age"].format(turn.age_scenes))
        text = self._labels.separator.join(filter(None, statements))
        aside = f"{self.words['open']}{text}{self.words['close']}" if text else ""
        return self.words[turn.kind].format(turn.description) + aside

    def _learning(self, learning: differences.Learning) -> str:
        who = self._labels.list_separator.join(self._value(character_id) for character_id in learning.character_ids)
        teller = self._value(learning.from_id) if learning.from_id else ""
        what = self.words["tale"].format(teller) if learning.source_id == ALL_LIVED else learning.content
        name: str = learning.kind
        if name == "knows" and learning.how in ("overheard", "read", "deduced"):
            name = learning.how
        elif name == "knows" and (teller or learning.how == "told"):
            name = "told_by" if teller else "told"
        return self.words[name].format(who, teller, what)

    def _relationship(self, turn: differences.RelationshipTurn) -> str:
        ids = (turn.character_b, turn.character_a) if turn.type_reads_back else (turn.character_a, turn.character_b)
        pair = " – ".join(map(self._value, ids))
        was_neutral = turn.status_was in ("", NEUTRAL_STATUS) and turn.status_now == NEUTRAL_STATUS
        parts = [
            self._said_turn(turn.type_was, turn.type_now),
            "" if was_neutral else self._said_turn(turn.status_was, turn.status_now),
            *(self._feeling(feeling_turn, turn) for feeling_turn in turn.feelings),
            *turn.events[-1:],
        ]
        return f"{pair}{self.colon}{self._labels.separator.join(filter(None, parts))}"

    def _said_turn(self, was: str, now: str) -> str:
        if was == now:
            return ""
        return self.words["turned"].format(was, now or self.words["none"]) if was else now

    def _feeling(self, turn: differences.FeelingTurn, pair: differences.RelationshipTurn) -> str:
        was, now = (dimension_in_words(turn.dimension, value or 0, self._labels) for value in (turn.was, turn.now))
        if was == now:
            return ""
        text = self._said_turn(was, now)
        if turn.side == "both":
            return text
        return f"{self._value(pair.character_a if turn.side == 'a' else pair.character_b)}{self.colon}{text}"

    def _value(self, value: Any) -> str:
        if value in (None, "", []):
            return self.words["none"]
        return render_value(value, self._names, self._labels)


def _ids_of(difference: StoryDifference) -> set[str]:
    """Return the ids in the difference, which must not appear without a name."""
    statements: list[Any] = [*difference.names, *(newcomer.entity_id for newcomer in difference.newcomers)]
    for turn in (*difference.states, *difference.deaths):
        statements += [turn.entity_id, *texts_within(turn.was), *texts_within(turn.now)]
    for handover in difference.handovers:
        statements += [handover.item_id, handover.was, handover.now]
    for learning in difference.learnt:
        statements += [*learning.character_ids, learning.from_id]
    for pair in difference.relationships:
        statements += [pair.character_a, pair.character_b]
    return {item for item in statements if isinstance(item, str) and is_entity_id(item)}


def _attribute_rank(turn: differences.StateTurn) -> tuple[bool, int]:
    order = ATTRIBUTE_ORDER.index(turn.attribute) if turn.attribute in ATTRIBUTE_ORDER else 99
    return turn.attribute in _FLEETING, order


def _place(place: Sequence[int | None]) -> str:
    return ":".join(str(number) for number in place if number is not None)
