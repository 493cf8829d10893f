"""Changes of a manuscript against the stored chapters: moved, edited, new and gone.

Chapters are told by their text and by their heading, never by their place alone, and scenes within them by their text.
So what was read from a scene never comes to stand for another text, and one more chapter takes the place of none. A
manuscript that is a part of its story, such as the newest chapter, is fitted into the story's order.
"""

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from itertools import count

from pydantic import BaseModel, Field

from runtime.files.chapter_names import ChapterName, ChapterNames, NamedChapter, TitledScene, named_chapters
from runtime.files.manuscripts import is_first_name
from runtime.ingest.likeness import MIN_LIKENESS, likeness, sentences_of
from runtime.ingest.scene_input import SceneInput, bare_text
from runtime.storage.columns import ScenePlace

MOST_COMPARED = 40_000
"""So many pairs of chapters that nothing else tells are compared by their sentences."""
LEAST_WITHIN = 0.5
"""A chapter of which so large a share of sentences stands in a manuscript is not gone, wherever that has it."""


class OtherChapter(BaseModel):
    """A chapter of a manuscript at the place of a stored one with another heading and another text."""

    chapter: int = Field(description="Number of the stored one in the order.")
    stored: str = Field(description="Heading of the stored one.")
    given: str = Field(description="Heading of the one in the manuscript.")


class ManuscriptChanges(BaseModel):
    """What differs between a story and the manuscript that it came from; chapters by number, scenes by place."""

    changed_chapters: list[int] = Field(default_factory=list, description="Stored with another text.")
    new_chapters: list[int] = Field(default_factory=list)
    gone_chapters: list[int] = Field(default_factory=list, description="Stored, but no more in it.")
    moved_chapters: dict[int, int] = Field(
        default_factory=dict, description="Stored number to that of now, the text the same or alike."
    )
    moved_scenes: dict[str, str] = Field(
        default_factory=dict,
        exclude_if=lambda moved_value: not moved_value,
        description="The same of scenes of interludes, which stand within a chapter by then or did before.",
    )
    gone_scenes: list[str] = Field(
        default_factory=list, description="Places of scenes that a changed chapter has no more."
    )
    waiting_chapters: list[int] = Field(
        default_factory=list,
        description="Of the manuscript: their place is taken by a chapter that is gone; nothing was done to them.",
    )
    other_chapters: list[OtherChapter] = Field(
        default_factory=list,
        exclude_if=lambda others: not others,
        description="Stored chapters whose place one with another heading would take; only `replace` lets it.",
    )
    edited_scenes: list[str] = Field(
        default_factory=list,
        exclude_if=lambda edited: not edited,
        description="Places of scenes that were edited here since their file was taken in, and that the file did not "
        "change: they stay.",
    )
    conflicting_scenes: list[str] = Field(
        default_factory=list,
        exclude_if=lambda conflicting: not conflicting,
        description="Places of scenes that were edited or deleted here and edited in the file: they stay as they are "
        "here, but with `overwrite`.",
    )
    deleted_scenes: dict[str, int] = Field(
        default_factory=dict,
        exclude_if=lambda deleted: not deleted,
        description="Places of scenes that were deleted here and that the file did not change, each with the number of "
        "the change: they stay away, and `undo` brings them back.",
    )
    numbers: dict[int, int] = Field(
        default_factory=dict,
        exclude_if=lambda numbers: not numbers,
        description="Number of a chapter as the manuscript alone counts it to its number in the story.",
    )
    goes_on: bool = Field(
        default=False,
        exclude_if=lambda goes_on: not goes_on,
        description="Whether the manuscript is what follows the last chapter that is stored.",
    )
    is_same_story: bool = Field(
        default=False,
        exclude=True,
        description="Whether a chapter of it is a stored one or its edit, or it names two of the entities.",
    )

    @property
    def is_empty(self) -> bool:
        """Whether the manuscript tells what is stored, or only adds to its end."""
        return not (
            self.changed_chapters
            or self.gone_chapters
            or self.moved_chapters
            or self.moved_scenes
            or self.gone_scenes
            or self.other_chapters
        )


@dataclass(frozen=True, slots=True)
class Rearrangement:
    """How a story follows a manuscript."""

    changes: ManuscriptChanges
    scenes: Sequence[SceneInput]
    """Those of the manuscript at their places in the story."""
    moves: Mapping[ScenePlace, ScenePlace]
    chapters: Mapping[int, int]
    """Where what stands in a chapter, and in no scene of it, goes."""
    in_place: frozenset[ScenePlace]
    """Places in the story of the manuscript's scenes that an update takes in."""
    untouched: frozenset[ScenePlace]
    """Those of them that move nothing that is stored."""
    only_makes_room: bool = False
    """Whether nothing moves but 番外 and afterwords behind a chapter that is new."""


@dataclass(frozen=True)
class _Chapter:
    """A chapter of a story or of a manuscript, with the texts of its scenes by their numbers."""

    named: NamedChapter
    texts: Mapping[int, str] = field(hash=False)

    @property
    def place(self) -> ScenePlace:
        return self.named.chapter_index, self.named.first_scene

    @property
    def number(self) -> int:
        return self.named.chapter_index

    @property
    def name(self) -> ChapterName | None:
        return self.named.name

    @property
    def text(self) -> str:
        return "\n".join(self.texts.values())


_Pairs = dict[ScenePlace, ScenePlace]


def rearrangement(
    stored_texts: Mapping[ScenePlace, str],
    scenes: Sequence[SceneInput],
    *,
    titles: Mapping[ScenePlace, str] | None = None,
    by_number: bool = False,
    is_placed: bool = True,
    replace: bool = False,
) -> Rearrangement:
    """Find out which scenes of a manuscript are those that are stored; where lines break tells no two texts apart.

    Args:
        stored_texts: Texts of the stored scenes.
        scenes: Those of the manuscript.
        titles: Titles of the stored scenes.
        by_number: Whether chapters bear their numbers for good, as the files of a project do; headings tell nothing.
        is_placed: Whether the numbers of chapters without headings say anything; else such a one is known by its text
            alone.
        replace: Whether a chapter may take the place of one with another heading.
    """
    titles = titles or {}
    old = _chapters({place: bare_text(text) for place, text in stored_texts.items()}, {} if by_number else titles)
    places = {(scene.chapter_index, scene.scene_index): scene for scene in scenes}
    new = _chapters(
        {place: bare_text(scene.text) for place, scene in places.items()},
        {} if by_number else {place: scene.title for place, scene in places.items()},
    )
    next_number = _following_number(old)
    pairs = _paired_chapters(old, new, next_number, is_placed=is_placed)
    is_whole = by_number or _is_whole(old, pairs)
    others = _others(old, new, pairs, next_number, is_whole=is_whole)
    if replace:
        pairs |= dict(others)
    fitted = _as_it_stands(old, new, pairs) if is_whole else _fitted(old, new, pairs, others, next_number)
    return _rearranged(old, new, pairs, fitted, places=places, others=[] if replace else others, is_whole=is_whole)


@dataclass
class _Fitted:
    """Where the chapters of a manuscript, and the stored ones, stand once the story follows it."""

    new: dict[ScenePlace, ScenePlace] = field(default_factory=dict)
    """First place of a manuscript's chapter to that in the story."""
    moved: dict[int, int] = field(default_factory=dict)
    """Stored chapter of the order that makes room to its new number."""
    only_makes_room: bool = False
    goes_on: bool = False


def _chapters(texts: Mapping[ScenePlace, str], titles: Mapping[ScenePlace, str]) -> list[_Chapter]:
    chapters_by_name = named_chapters(TitledScene(*place, titles.get(place, "")) for place in texts)
    return [
        _Chapter(
            named_chapter, {scene: texts[named_chapter.chapter_index, scene] for scene in named_chapter.scene_indexes}
        )
        for named_chapter in chapters_by_name
    ]


def _following_number(chapters: Sequence[_Chapter]) -> int | None:
    numbers = [
        chapter.name.number for chapter in chapters if chapter.name is not None and chapter.name.number is not None
    ]
    return numbers[-1] + 1 if numbers else None


def _is_whole(old: Sequence[_Chapter], pairs: _Pairs) -> bool:
    """Tell whether a manuscript is the whole story."""
    return not old or (old[0].place in pairs and len(pairs) * 2 >= len(old))


def _paired_chapters(
    old: Sequence[_Chapter], new: Sequence[_Chapter], next_number: int | None, *, is_placed: bool
) -> _Pairs:
    """Return which stored chapters are which of a manuscript: the same text, else alike, else the same heading."""
    pairs: _Pairs = {}
    matcher = SequenceMatcher(
        None, [chapter.text for chapter in old], [chapter.text for chapter in new], autojunk=False
    )
    for kind, start, end, new_start, new_end in matcher.get_opcodes():
        if kind == "equal":
            same = zip(old[start:end], new[new_start:new_end], strict=True)
            pairs |= {before.place: after.place for before, after in same}
        elif kind == "replace":
            pairs |= _alike_chapters(old[start:end], new[new_start:new_end], next_number, is_placed=is_placed)
    given_places = set(pairs.values())
    rest = (
        [chapter for chapter in old if chapter.place not in pairs],
        [chapter for chapter in new if chapter.place not in given_places],
    )
    if len(rest[0]) * len(rest[1]) <= MOST_COMPARED:
        pairs |= _alike_chapters(*rest, next_number, is_placed=is_placed)
    if is_placed and not pairs and len(new) == 1 and new[0].name is None:
        pairs |= _numbered_alike(old, new[0], next_number)
    return dict(sorted(pairs.items()))


def _numbered_alike(old: Sequence[_Chapter], chapter: _Chapter, next_number: int | None) -> _Pairs:
    """Return the one stored chapter of the number in a file's name: 02.md."""
    if chapter.number == next_number:
        return {}
    same = [stored_chapter for stored_chapter in old if _own_number(stored_chapter) == chapter.number]
    return {same[0].place: chapter.place} if len(same) == 1 else {}


def _own_number(chapter: _Chapter) -> int | None:
    """Return the number of a chapter by its heading, else by its place; a prologue or 番外 has none."""
    if chapter.name is None or not (chapter.name.is_heading or chapter.name.number is not None):
        return chapter.number
    return chapter.name.number


def _alike_chapters(
    old: Sequence[_Chapter], new: Sequence[_Chapter], next_number: int | None, *, is_placed: bool
) -> _Pairs:
    scored = _scored({chapter.place: chapter.text for chapter in old}, {chapter.place: chapter.text for chapter in new})
    pairs: _Pairs = {}
    for score, before, after in scored:
        if score >= MIN_LIKENESS and before not in pairs and after not in pairs.values():
            pairs[before] = after
    for chapter in new:
        if chapter.place not in pairs.values():
            same = (
                earlier
                for earlier in old
                if earlier.place not in pairs
                and (is_placed or chapter.name is not None)
                and _is_same_chapter(earlier, chapter, next_number)
            )
            before_ = next(same, None)
            if before_ is not None:
                pairs[before_.place] = chapter.place
    return pairs


def _is_same_chapter(stored_chapter: _Chapter, chapter: _Chapter, next_number: int | None) -> bool:
    """Tell whether two chapters have one heading, or, where neither has any, one number."""
    if stored_chapter.name is None or chapter.name is None:
        return stored_chapter.name is chapter.name and stored_chapter.place == chapter.place
    if chapter.name.number is not None and chapter.name.number == next_number:
        # The number that follows begins again in a volume: only a title makes it the earlier chapter.
        return (
            bool(chapter.name.title)
            and stored_chapter.name.title == chapter.name.title
            and stored_chapter.name.is_same(chapter.name)
        )
    return stored_chapter.name.is_same(chapter.name)


def _scored(old: Mapping[ScenePlace, str], new: Mapping[ScenePlace, str]) -> list[tuple[float, ScenePlace, ScenePlace]]:
    """Return how alike each two texts are, the most alike and nearest first."""
    sentences = {place: sentences_of(text) for place, text in new.items()}
    scored = sorted(
        (
            -likeness(sentences_of(text), sentences[after]),
            abs(before[0] - after[0]),
            abs(before[1] - after[1]),
            before,
            after,
        )
        for before, text in old.items()
        for after in new
    )
    return [(-score, before, after) for score, _, _, before, after in scored]


def _others(
    old: Sequence[_Chapter], new: Sequence[_Chapter], pairs: _Pairs, next_number: int | None, *, is_whole: bool
) -> list[tuple[ScenePlace, ScenePlace]]:
    """Return the chapters of a manuscript that claim the place of a stored one with another heading."""
    given_places = set(pairs.values())
    free = {chapter.place: chapter for chapter in old if chapter.place not in pairs}
    others: list[tuple[ScenePlace, ScenePlace]] = []
    for chapter in new:
        if chapter.place in given_places:
            continue
        if is_whole:
            claimed_chapter = free.get(chapter.place)
        else:
            number = chapter.name.number if chapter.name is not None else None
            claimed_chapter = next(
                (
                    other_chapter
                    for other_chapter in free.values()
                    if number is not None
                    and number != next_number
                    and other_chapter.name is not None
                    and (other_chapter.name.number, other_chapter.name.section)
                    == (number, chapter.name.section if chapter.name else "")
                ),
                None,
            )
        if claimed_chapter is not None:
            others.append((claimed_chapter.place, chapter.place))
            del free[claimed_chapter.place]
    return others


def _as_it_stands(old: Sequence[_Chapter], new: Sequence[_Chapter], pairs: _Pairs) -> _Fitted:
    """Let a story have the order of a manuscript that tells it whole."""
    last = max((chapter.number for chapter in old), default=0)
    is_longer = any(chapter.number > last for chapter in new)
    return _Fitted({chapter.place: chapter.place for chapter in new}, goes_on=bool(pairs) and is_longer)


def _fitted(
    old: Sequence[_Chapter],
    new: Sequence[_Chapter],
    pairs: _Pairs,
    others: Sequence[tuple[ScenePlace, ScenePlace]],
    next_number: int | None,
) -> _Fitted:
    """Fit the chapters of a part of a story into the order of what is stored."""
    fitted = _Fitted()
    stored_of = {after: before for before, after in pairs.items()}
    claimed_places = {after for _, after in others}
    order: list[int | _Chapter] = [*sorted({chapter.number for chapter in old})]
    names = ChapterNames([chapter.named for chapter in old])
    end = _end_of_story(order, old)
    behind: int | None = None
    heads = {chapter.number: chapter for chapter in reversed(new)}
    for number, group in _by_number(new).items():
        known_places = [stored_of[chapter.place] for chapter in group if chapter.place in stored_of]
        if known_places:
            offset = known_places[0][0]
            for chapter in group:
                before = stored_of.get(chapter.place)
                fitted.new[chapter.place] = before if before is not None else (offset, chapter.named.first_scene)
            behind = order.index(offset) + 1
            continue
        if any(chapter.place in claimed_places for chapter in group):
            continue
        head = heads[number]
        index = behind if behind is not None else _index_by_number(order, old, head, end)
        if behind is None:
            fitted.goes_on = index == end and (
                next_number is None or head.name is None or head.name.number == next_number
            )
        order.insert(index, head)
        end += index <= end
        behind = index + 1
    numbers_by_chapter, previous = {}, -1
    following = [entry if isinstance(entry, int) else None for entry in order]
    for rank, entry in enumerate(order):
        if isinstance(entry, int):
            previous = max(previous + 1, entry)
            numbers_by_chapter[entry] = previous
            continue
        after = next((stored_number for stored_number in following[rank + 1 :] if stored_number is not None), None)
        own = entry.name.number if entry.name is not None and entry.name.number is not None else None
        own = 0 if own is None and rank == 0 else own
        is_free = own is not None and own > previous and (after is None or own < after)
        previous = own if is_free and own is not None else previous + 1 if previous >= 0 else 1
        for part in _by_number(new)[entry.number]:
            fitted.new[part.place] = (previous, part.named.first_scene)
    fitted.moved = {before: after for before, after in numbers_by_chapter.items() if before != after}
    closing = {chapter.number for chapter in old if chapter.named.is_whole and chapter.named.is_closing}
    fitted.only_makes_room = set(fitted.moved) <= closing and names.next_chapter not in fitted.moved.values()
    return fitted


def _by_number(chapters: Sequence[_Chapter]) -> dict[int, list[_Chapter]]:
    groups: dict[int, list[_Chapter]] = {}
    for chapter in chapters:
        groups.setdefault(chapter.number, []).append(chapter)
    return groups


def _end_of_story(order: Sequence[int | _Chapter], old: Sequence[_Chapter]) -> int:
    """Return the rank after the last chapter of the story itself, before 番外 and afterwords at its end."""
    following = ChapterNames([chapter.named for chapter in old]).next_chapter
    return sum(isinstance(item, int) and item < following for item in order)


def _index_by_number(order: Sequence[int | _Chapter], old: Sequence[_Chapter], chapter: _Chapter, end: int) -> int:
    """Return the rank of a chapter that nothing but its heading places: by its number, else at the end."""
    name = chapter.name
    if name is None:
        return end
    if name.is_closing:
        return len(order)
    if name.number is None:
        return 0 if is_first_name(name.label) else end
    numbers = {
        chapter.number: chapter.name.number for chapter in old if chapter.named.is_whole and chapter.name is not None
    }
    ranking = [(rank, numbers.get(item)) for rank, item in enumerate(order[:end]) if isinstance(item, int)]
    told_places = [(rank, number) for rank, number in ranking if number is not None]
    for (rank, before), (_, after) in zip(reversed(told_places[:-1]), reversed(told_places[1:]), strict=True):
        if before < name.number < after and told_places[-1][1] + 1 != name.number:
            return rank + 1
    if told_places and name.number < told_places[0][1]:
        return told_places[0][0]
    return end


def _rearranged(
    old: Sequence[_Chapter],
    new: Sequence[_Chapter],
    pairs: _Pairs,
    fitted: _Fitted,
    *,
    places: Mapping[ScenePlace, SceneInput],
    others: Sequence[tuple[ScenePlace, ScenePlace]],
    is_whole: bool,
) -> Rearrangement:
    by_old, by_new = {chapter.place: chapter for chapter in old}, {chapter.place: chapter for chapter in new}
    story_places = _story_places(new, pairs, fitted, is_whole=is_whole)
    pair_moves = _moved_pairs(by_old, by_new, pairs, story_places)
    moves, chapters = _shifted_scenes(old, fitted) | pair_moves.moves, {**fitted.moved, **pair_moves.chapters}
    paired_places = set(pairs.values())
    new_numbers = {
        story_places[chapter.place][0]
        for chapter in new
        if chapter.place not in paired_places and chapter.place in story_places and chapter.named.is_whole
    }
    waiting_numbers = {after[0] for _, after in others}
    if _is_stuck(old, moves):
        waiting_numbers |= _waiting_when_stuck(old, pairs, story_places, new_numbers)
        moves, chapters = {before: after for before, after in moves.items() if before[0] == after[0]}, {}
    elif is_whole:
        waiting_numbers |= _waiting_for_room(old, pairs, moves, story_places, new_numbers)
    moves = {before: after for before, after in moves.items() if before != after}
    scenes = [
        scene.model_copy(update={"chapter_index": story_places[place][0], "scene_index": story_places[place][1]})
        for place, scene in places.items()
        if place in story_places and place[0] not in waiting_numbers
    ]
    taken_places = frozenset((scene.chapter_index, scene.scene_index) for scene in scenes)
    moved_chapters = _moved_whole_chapters(by_old, by_new, pairs, chapters)
    changes = ManuscriptChanges(
        changed_chapters=sorted(pair_moves.changed),
        new_chapters=sorted(new_numbers),
        gone_chapters=_gone_chapters(old, new, pairs) if is_whole else [],
        gone_scenes=pair_moves.gone_scenes,
        waiting_chapters=sorted(waiting_numbers),
        moved_chapters=moved_chapters,
        moved_scenes={
            f"{before[0]}:{before[1]}": f"{after[0]}:{after[1]}"
            for before, after in sorted(moves.items())
            if before[0] != after[0] and before[0] not in moved_chapters
        },
        other_chapters=[
            OtherChapter(chapter=before[0], stored=by_old[before].named.heading, given=by_new[after].named.heading)
            for before, after in others
        ],
        numbers=_numbers_in_story(story_places),
        goes_on=fitted.goes_on,
    )
    return Rearrangement(
        changes,
        scenes,
        moves,
        chapters,
        taken_places,
        _untouched_places(old, pairs, story_places, taken_places, new_numbers),
        only_makes_room=_only_makes_room(fitted, moves),
    )


def _story_places(
    new: Sequence[_Chapter], pairs: _Pairs, fitted: _Fitted, *, is_whole: bool
) -> dict[ScenePlace, ScenePlace]:
    """Return the place in the story of each scene of the manuscript."""
    paired_places = set(pairs.values())
    story_places: dict[ScenePlace, ScenePlace] = {}
    for chapter in new:
        if chapter.place not in fitted.new:
            continue
        number, first_scene = fitted.new[chapter.place]
        shift = first_scene - chapter.named.first_scene
        if chapter.place in paired_places and not is_whole:
            number = fitted.moved.get(number, number)
        story_places |= {(chapter.number, scene): (number, scene + shift) for scene in chapter.texts}
    return story_places


def _shifted_scenes(old: Sequence[_Chapter], fitted: _Fitted) -> dict[ScenePlace, ScenePlace]:
    """Return the moves of stored scenes whose chapters make room."""
    return {
        (chapter.number, scene): (fitted.moved[chapter.number], scene)
        for chapter in old
        if chapter.number in fitted.moved
        for scene in chapter.texts
    }


@dataclass
class _MovedPairs:
    """Moves of stored scenes that the manuscript has, too."""

    moves: dict[ScenePlace, ScenePlace] = field(default_factory=dict)
    chapters: dict[int, int] = field(default_factory=dict)
    changed: set[int] = field(default_factory=set)
    gone_scenes: list[str] = field(default_factory=list)


def _moved_pairs(
    by_old: Mapping[ScenePlace, _Chapter],
    by_new: Mapping[ScenePlace, _Chapter],
    pairs: _Pairs,
    story_places: Mapping[ScenePlace, ScenePlace],
) -> _MovedPairs:
    """Return the moves that bring each stored chapter to the place of its counterpart."""
    pair_moves = _MovedPairs()
    for before_place, after_place in pairs.items():
        if after_place not in story_places:
            continue
        before, after = by_old[before_place], by_new[after_place]
        number = story_places[after_place][0]
        shift = story_places[after_place][1] - after.named.first_scene
        if before.text != after.text:
            pair_moves.changed.add(number)
        if before.named.is_whole and before.number != number:
            pair_moves.chapters[before.number] = number
        inner = _paired_scenes(before.texts, after.texts)
        wanted_numbers = {scene + shift for scene in after.texts}
        free = count(max(*before.texts, *wanted_numbers) + 1)
        for was in before.texts:
            # A scene that is gone stands aside, where no other scene of the chapter wants to be.
            now = inner[was] + shift if was in inner else next(free) if was in wanted_numbers else was
            pair_moves.moves[before.number, was] = (number, now)
            if was not in inner:
                pair_moves.gone_scenes.append(f"{number}:{now}")
    return pair_moves


def _stored_places(old: Sequence[_Chapter]) -> list[ScenePlace]:
    return [(chapter.number, scene) for chapter in old for scene in chapter.texts]


def _is_stuck(old: Sequence[_Chapter], moves: Mapping[ScenePlace, ScenePlace]) -> bool:
    """Tell whether two stored scenes would come to stand at one place."""
    targets = [moves.get(place, place) for place in _stored_places(old)]
    return len(set(targets)) < len(targets)


def _waiting_when_stuck(
    old: Sequence[_Chapter], pairs: _Pairs, story_places: Mapping[ScenePlace, ScenePlace], new_numbers: Set[int]
) -> set[int]:
    """Return the manuscript's chapters that cannot be taken in where nothing moves to another chapter."""
    taken_numbers = new_numbers & {chapter.number for chapter in old}
    moving = {
        after[0] for before, after in pairs.items() if after in story_places and before[0] != story_places[after][0]
    }
    return moving | {place[0] for place, target in story_places.items() if target[0] in taken_numbers}


def _waiting_for_room(
    old: Sequence[_Chapter],
    pairs: _Pairs,
    moves: Mapping[ScenePlace, ScenePlace],
    story_places: Mapping[ScenePlace, ScenePlace],
    new_numbers: Set[int],
) -> set[int]:
    """Return the manuscript's new chapters that would claim the place of a stored chapter that stays."""
    staying_numbers = {place[0] for place in _stored_places(old) if moves.get(place, place) == place}
    paired_numbers = {story_places[after][0] for after in pairs.values()}
    claimed_numbers = new_numbers & (staying_numbers - paired_numbers)
    return {place[0] for place, target in story_places.items() if target[0] in claimed_numbers}


def _moved_whole_chapters(
    by_old: Mapping[ScenePlace, _Chapter],
    by_new: Mapping[ScenePlace, _Chapter],
    pairs: _Pairs,
    chapters: Mapping[int, int],
) -> dict[int, int]:
    """Return the chapters that move as they are, by their stored numbers."""
    whole_numbers = {chapter.number for chapter in by_old.values() if chapter.named.is_whole}
    split_numbers = {before[0] for before, after in pairs.items() if not by_new[after].named.is_whole}
    return {
        before: after
        for before, after in sorted(chapters.items())
        if before != after and before in whole_numbers - split_numbers
    }


def _numbers_in_story(story_places: Mapping[ScenePlace, ScenePlace]) -> dict[int, int]:
    """Return the chapters that the story counts otherwise than the manuscript, each by its first scene."""
    numbers = {place[0]: target[0] for place, target in sorted(story_places.items(), reverse=True)}
    return {before: after for before, after in sorted(numbers.items()) if before != after}


def _untouched_places(
    old: Sequence[_Chapter],
    pairs: _Pairs,
    story_places: Mapping[ScenePlace, ScenePlace],
    taken_places: Set[ScenePlace],
    new_numbers: Set[int],
) -> frozenset[ScenePlace]:
    """Return the places of chapters that stay, and of new ones where none is stored."""
    staying_numbers = {
        before[0] for before, after in pairs.items() if after in story_places and before[0] == story_places[after][0]
    }
    added_numbers = new_numbers - {chapter.number for chapter in old}
    return frozenset(place for place in taken_places if place[0] in staying_numbers | added_numbers)


def _only_makes_room(fitted: _Fitted, moves: Mapping[ScenePlace, ScenePlace]) -> bool:
    moving = {before[0] for before in moves} | {after[0] for after in moves.values()}
    return fitted.only_makes_room and bool(fitted.moved) and moving <= {*fitted.moved, *fitted.moved.values()}


def _gone_chapters(old: Sequence[_Chapter], new: Sequence[_Chapter], pairs: _Pairs) -> list[int]:
    """Return the stored chapters that a manuscript should have; one whose sentences stand in it elsewhere is there."""
    if not pairs or not new:
        return []
    first = min(pairs)
    told_texts = frozenset().union(*(sentences_of(chapter.text) for chapter in new))
    gone_numbers = []
    for chapter in old:
        sentences = sentences_of(chapter.text)
        is_within = len(sentences & told_texts) >= LEAST_WITHIN * max(1, len(sentences))
        if chapter.place not in pairs and chapter.place >= first and not is_within:
            gone_numbers.append(chapter.number)
    return list(dict.fromkeys(gone_numbers))


def _paired_scenes(old: Mapping[int, str], new: Mapping[int, str]) -> dict[int, int]:
    """Return which scenes of a chapter are which by now: the same text, else alike, else in its place."""
    before, after = sorted(old), sorted(new)
    matcher = SequenceMatcher(
        None, [old[number] for number in before], [new[number] for number in after], autojunk=False
    )
    pairs: dict[int, int] = {}
    for kind, start, end, new_start, new_end in matcher.get_opcodes():
        if kind == "equal":
            pairs |= dict(zip(before[start:end], after[new_start:new_end], strict=True))
        elif kind == "replace":
            pairs |= _alike_scenes(
                {n: old[n] for n in before[start:end]}, {n: new[n] for n in after[new_start:new_end]}
            )
    return dict(sorted(pairs.items()))


def _alike_scenes(old: Mapping[int, str], new: Mapping[int, str]) -> dict[int, int]:
    pairs: dict[int, int] = {}
    for score, (_, before), (_, after) in _scored(_place_texts(old), _place_texts(new)):
        if (score >= MIN_LIKENESS or before == after) and before not in pairs and after not in pairs.values():
            pairs[before] = after
    return pairs


def _place_texts(texts: Mapping[int, str]) -> dict[ScenePlace, str]:
    return {(0, number): text for number, text in texts.items()}
