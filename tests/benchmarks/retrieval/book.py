"""A benchmark book: a book's folder with plans and an answer key beside its scenes and records."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field

from novelgen.errors import InvalidFileError
from novelgen.models.plan import ScenePlan
from runtime.files.file_reading import parse_json, read_json_file, read_text_file, validated
from runtime.files.project_files import Book, load_book

Place = tuple[int, int]
"""Chapter and scene."""

Line = TypeVar("Line", bound=BaseModel)


class _BookLine(BaseModel):
    model_config = ConfigDict(frozen=True)


class GoldPassage(_BookLine):
    """An earlier passage that a plan needs; grade 2 is essential, 1 useful."""

    chapter_index: int
    scene_index: int
    quote: str = Field(min_length=1)
    grade: int = Field(ge=1, le=2)

    @property
    def place(self) -> Place:
        """Chapter and scene of the passage."""
        return self.chapter_index, self.scene_index


class PlannedState(_BookLine):
    """An entity whose state a plan depends on; the exact values are those of the records."""

    entity_id: str


class BenchPlan(_BookLine):
    """The plan of a scene with its answer key."""

    plan_id: str
    chapter_index: int
    scene_index: int
    scene_plan: ScenePlan
    gold: tuple[GoldPassage, ...] = Field(min_length=1)
    states: tuple[PlannedState, ...] = ()

    @property
    def place(self) -> Place:
        """Chapter and scene of the planned scene."""
        return self.chapter_index, self.scene_index


class _Cover(_BookLine):
    plan_id: str
    gold_index: int
    memory_ids: tuple[str, ...] = ()
    bullets: tuple[tuple[int, int, str, int], ...] = ()


class _SufficientShorts(_BookLine):
    plan_id: str
    gold_index: int
    short_ids: tuple[str, ...] = ()


class _Meta(_BookLine):
    language: Literal["en", "zh"]
    other_plots: tuple[Place, ...] = ()


GoldKey = tuple[str, int]
"""Plan id and index of the gold passage."""


@dataclass(frozen=True)
class BenchBook:
    """A book with its plans and answer key."""

    folder: Path
    book: Book
    plans: tuple[BenchPlan, ...]
    covers: dict[GoldKey, frozenset[str]]
    shorts: dict[GoldKey, frozenset[str]]
    other_plots: frozenset[Place]

    @property
    def language(self) -> str:
        """`en` or `zh`."""
        return self.book.language


def load_bench_book(folder: Path) -> BenchBook:
    """Read a benchmark book."""
    book = load_book(folder, records=True)
    meta = validated(_Meta, read_json_file(folder / "meta.json"), where=repr(str(folder / "meta.json")))
    plans = tuple(_lines(folder / "plans.jsonl", BenchPlan))
    if not plans:
        raise InvalidFileError(f"{str(folder / 'plans.jsonl')!r} holds no plan; there is nothing to measure")
    _require_scenes(plans, {(each.chapter_index, each.scene_index) for each in book.scenes}, folder)
    return BenchBook(
        folder=folder,
        book=book,
        plans=plans,
        covers={
            (each.plan_id, each.gold_index): frozenset([*each.memory_ids, *map(_bullet_id, each.bullets)])
            for each in _optional_lines(folder / "covers.jsonl", _Cover)
        },
        shorts={
            (each.plan_id, each.gold_index): frozenset(each.short_ids)
            for each in _optional_lines(folder / "shorts.jsonl", _SufficientShorts)
        },
        other_plots=frozenset(meta.other_plots),
    )


def whole_plan(plan: ScenePlan) -> str:
    """Return a plan as one query."""
    return "\n".join([plan.location, " ".join(plan.characters), plan.purpose, *plan.key_actions])


def _require_scenes(plans: tuple[BenchPlan, ...], places: set[Place], folder: Path) -> None:
    """Distances are counted in scenes, so every place of the key must be one."""
    for plan in plans:
        for place in (plan.place, *(gold.place for gold in plan.gold)):
            if place not in places:
                raise InvalidFileError(
                    f"{str(folder / 'plans.jsonl')!r}: plan {plan.plan_id!r} speaks of scene {place!r}, "
                    "which scenes.jsonl lacks"
                )


def _bullet_id(bullet: tuple[int, int, str, int]) -> str:
    return ":".join(str(part) for part in bullet)


def _optional_lines(file: Path, model: type[Line]) -> Iterator[Line]:
    return _lines(file, model) if file.exists() else iter(())


def _lines(file: Path, model: type[Line]) -> Iterator[Line]:
    for number, line in enumerate(read_text_file(file).split("\n"), start=1):
        if line.strip():
            where = f"{str(file)!r} line {number}"
            document: Any = parse_json(line, where=where)
            yield validated(model, document, where=where)
