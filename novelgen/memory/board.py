"""What a ledger says to its author, in the story's language: the board, the warnings, what was never paid."""

from collections.abc import Collection, Mapping

from novelgen.language.language import StoryLanguage
from novelgen.memory.ledger import LedgerEntry, ThreadLedger, ThreadStage, shown_category
from novelgen.models.position import Place, deadline_text, sort_key
from novelgen.models.record import ThreadEnding
from novelgen.models.state import LOOP_WEIGHTS
from novelgen.words import words

SILENT_FROM_SCENES = 12
"""From so many scenes without a move on, a board says that nobody touched a thread."""

MAX_OVER = 12
"""Threads that are over and stand on a board; the report and the JSON tell of all."""

MAX_WARNED = 5
"""Threads that are named in one warning; the others are counted."""

BOARD_STAGES: tuple[ThreadStage, ...] = ("overdue", "due", "moved", "planted", "over")


def board_lines(ledger: ThreadLedger) -> list[tuple[str, list[str]]]:
    """Return for each stage its heading and a line per thread, what presses most first; of what is over the last."""
    catalogue = words("memory", ledger.language, "threads")
    board = []
    for stage in BOARD_STAGES:
        found = shown = ledger.at(stage)
        if stage == "over":
            places = {each.loop_id: sort_key(each.last_chapter_index, each.last_scene_index) for each in found}
            shown = sorted(found, key=lambda each: places[each.loop_id], reverse=True)[:MAX_OVER]
        lines = [_line(each, ledger.language) for each in shown]
        if len(found) > len(shown):
            lines.append(catalogue["earlier"].format(len(found) - len(shown)))
        board.append((f"{catalogue[stage]}{catalogue['open']}{len(found)}{catalogue['close']}", lines))
    return board


def unpaid_report(ledger: ThreadLedger) -> list[str]:
    """Return what became of the book's promises: how they ended, its rhythm, and each that was never paid."""
    catalogue = words("memory", ledger.language, "threads")
    waiting = sorted(
        (each for each in ledger.entries if each.is_waiting),
        key=lambda each: (-LOOP_WEIGHTS[each.importance], -(each.age_scenes or 0), each.loop_id),
    )
    endings: tuple[ThreadEnding, ...] = ("paid", "broken", "dropped", "moot")
    counts = [len(ledger.ended(ending)) for ending in endings]
    told = [catalogue["counts"].format(len(ledger.entries), *counts, len(waiting)), rhythm_line(ledger)]
    if waiting:
        told.append(f"{catalogue['never']}{catalogue['open']}{len(waiting)}{catalogue['close']}")
    return [*told, *(f"- {_line(each, ledger.language)}" for each in waiting)]


def rhythm_line(ledger: ThreadLedger) -> str:
    """Return in how many scenes this book pays its promises, or that this cannot be told yet."""
    catalogue = words("memory", ledger.language, "threads")
    whole = ledger.rhythm.whole
    if whole is None:
        return catalogue["no_rhythm"].format(ledger.rhythm.paid)
    if whole.due_after_scenes is None:
        return catalogue["slow"]
    if whole.overdue_after_scenes is None:
        return catalogue["half"].format(whole.due_after_scenes)
    return catalogue["rhythm"].format(whole.due_after_scenes, whole.overdue_after_scenes)


def ledger_warnings(
    ledger: ThreadLedger, scenes: Collection[Place], *, before: ThreadLedger | None = None
) -> list[str]:
    """Return what an author should hear of after scenes were taken in."""
    catalogue = words("memory", ledger.language, "threads")
    told = {each.loop_id for each in before.at("overdue")} if before else set()
    found = []
    late = [
        each
        for each in ledger.at("overdue")
        if each.importance == "critical"
        and not each.moot_since
        and (each.loop_id not in told or (each.window is not None and each.window.source != "rhythm"))
    ]
    if late:
        found.append(catalogue["warn_overdue"].format(_named(late, catalogue)))
    for each in ledger.at("over"):
        place = (each.last_chapter_index, each.last_scene_index)
        if place in scenes and not (each.resolution_summary or "").strip():
            found.append(catalogue["warn_silent"].format(_named([each], catalogue), f"{place[0]}:{place[1]}"))
    moot = [each for each in ledger.entries if each.moot_since in scenes]
    if moot:
        found.append(catalogue["warn_moot"].format(_named(moot, catalogue)))
    return found


def _named(entries: list[LedgerEntry], catalogue: Mapping[str, str]) -> str:
    named = [f"{each.loop_id} {each.description}" for each in entries[:MAX_WARNED]]
    if len(entries) > MAX_WARNED:
        named.append(catalogue["more"].format(len(entries) - MAX_WARNED))
    return catalogue["list"].join(named)


def _line(entry: LedgerEntry, language: StoryLanguage) -> str:
    catalogue = words("memory", language, "threads")
    kind, due_by = shown_category(entry.category, language), entry.window.due_by if entry.window else None
    if entry.ending is not None:
        remarks = [kind, catalogue[f"ended_{entry.ending}"], _parts(entry, catalogue), entry.resolution_summary or ""]
    else:
        remarks = [
            kind,
            catalogue["moot"] if entry.moot_since else "",
            _parts(entry, catalogue),
            *_waits(entry.age_scenes or 0, entry.silent_scenes or 0, catalogue),
            catalogue["by"].format(deadline_text(due_by)) if due_by else "",
            catalogue["needs"].format(entry.pay_off) if entry.pay_off else "",
        ]
    said = catalogue["list"].join(filter(None, remarks))
    aside = f"{catalogue['open']}{said}{catalogue['close']}" if said else ""
    return f"{entry.loop_id} {entry.description}{aside}"


def _waits(age: int, silent: int, catalogue: Mapping[str, str]) -> list[str]:
    if SILENT_FROM_SCENES <= silent == age:
        return [catalogue["untouched"].format(age)]
    waits = catalogue["late_one"] if age == 1 else catalogue["late"].format(age)
    return [waits if age else "", catalogue["silent"].format(silent) if silent >= SILENT_FROM_SCENES else ""]


def _parts(entry: LedgerEntry, catalogue: Mapping[str, str]) -> str:
    if entry.parts is not None and entry.ending != "paid":
        return catalogue["parts"].format(entry.parts_paid, entry.parts)
    return catalogue["part"].format(entry.parts_paid) if entry.parts_paid and entry.ending != "paid" else ""
