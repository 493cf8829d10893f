"""What a ledger says to its author, in the story's language: the board, the warnings, what was never paid."""

from __future__ import annotations

from collections.abc import Collection

from novelgen.language.language import StoryLanguage
from novelgen.memory.kinds import shown_category
from novelgen.memory.ledger import LedgerEntry, Place, ThreadLedger, ThreadStage
from novelgen.models.position import sort_key
from novelgen.models.record import ThreadEnding
from novelgen.models.state import LOOP_WEIGHTS

SILENT_FROM_SCENES = 12
"""From so many scenes without a move on, a board says that nobody touched a thread."""

MAX_OVER = 12
"""Threads that are over and stand on a board; the report and the JSON tell of all."""

MAX_WARNED = 5
"""Threads that are named in one warning; the others are counted."""

_WORDS: dict[StoryLanguage, dict[str, str]] = {
    "en": {
        "planted": "Planted",
        "moved": "Moved",
        "due": "Due",
        "overdue": "Overdue",
        "over": "Over",
        "nothing": "nothing",
        "silent": "nobody touched it for {0} scenes",
        "by": "by {0}",
        "needs": "needs: {0}",
        "parts": "{0} of {1} paid",
        "part": "parts paid: {0}",
        "moot": "moot: all whom it is about are dead",
        "paid_ending": "paid",
        "broken": "broken",
        "dropped": "dropped",
        "moot_ending": "moot by death",
        "late": "open for {0} scenes",
        "late_one": "open for one scene",
        "untouched": "nobody touched it for {0} scenes, since it was planted",
        "earlier": "and {0} more, over before these",
        "rhythm": "this book's rhythm: half of its threads are paid within {0} scenes, four fifths within {1}",
        "half": "this book's rhythm: half of its threads are paid within {0} scenes, four fifths never yet",
        "slow": "this book's rhythm: more than half of its threads are still open",
        "no_rhythm": "too few threads were paid yet ({0}) to tell this book's rhythm",
        "counts": "{0} threads: {1} paid, {2} broken, {3} dropped, {4} moot by death, {5} never paid",
        "never": "Never paid, the weightiest first",
        "warn_overdue": "critical threads are overdue: {0}",
        "warn_silent": "scene {1} ended a thread without saying how: {0}",
        "warn_moot": "threads wait of which all characters are dead: {0}",
        "more": "and {0} more",
        "list": "; ",
        "open": " (",
        "close": ")",
    },
    "zh": {
        "planted": "已埋下",
        "moved": "有进展",
        "due": "该兑现",
        "overdue": "已逾期",
        "over": "已了结",
        "nothing": "无",
        "silent": "已有 {0} 场无人触及",
        "by": "限 {0} 之前",
        "needs": "兑现所需：{0}",
        "parts": "{1} 份中已兑现 {0} 份",
        "part": "已兑现 {0} 份",
        "moot": "已无着落：所涉之人都已死去",
        "paid_ending": "已兑现",
        "broken": "已违背",
        "dropped": "有意放下",
        "moot_ending": "因人死而作罢",
        "late": "已悬 {0} 场",
        "late_one": "已悬一场",
        "untouched": "埋下后已有 {0} 场无人触及",
        "earlier": "另有 {0} 条早已了结",
        "rhythm": "本书的节奏：一半在 {0} 场内兑现，八成在 {1} 场内兑现",
        "half": "本书的节奏：一半在 {0} 场内兑现，至今还没有兑现到八成",
        "slow": "本书的节奏：至今兑现的不到一半",
        "no_rhythm": "已兑现的还太少（{0} 条），看不出本书的节奏",
        "counts": "共 {0} 条未了之事：已兑现 {1}，已违背 {2}，有意放下 {3}，因人死而作罢 {4}，从未兑现 {5}",
        "never": "从未兑现，要紧的在前",
        "warn_overdue": "要紧的未了之事已逾期：{0}",
        "warn_silent": "第 {1} 场了结了一条未了之事，却没有说明如何了结：{0}",
        "warn_moot": "这些未了之事所涉之人都已死去，却还悬着：{0}",
        "more": "另有 {0} 条",
        "list": "；",
        "open": "（",
        "close": "）",
    },
}

_ENDING_WORDS: dict[ThreadEnding, str] = {
    "paid": "paid_ending",
    "broken": "broken",
    "dropped": "dropped",
    "moot": "moot_ending",
}

BOARD_STAGES: tuple[ThreadStage, ...] = ("overdue", "due", "moved", "planted", "over")


def board_lines(ledger: ThreadLedger) -> list[tuple[str, list[str]]]:
    """Return the board: for each stage its heading and a line per thread, what presses most first.

    Of those that are over stand the last `MAX_OVER`, the latest first, and how many there are besides.
    """
    words = _WORDS[ledger.language]
    board = []
    for stage in BOARD_STAGES:
        found = ledger.at(stage)
        shown = sorted(found, key=_ended_at, reverse=True)[:MAX_OVER] if stage == "over" else found
        lines = [_line(each, ledger.language) for each in shown]
        if len(found) > len(shown):
            lines.append(words["earlier"].format(len(found) - len(shown)))
        board.append((f"{words[stage]}{words['open']}{len(found)}{words['close']}", lines))
    return board


def _ended_at(entry: LedgerEntry) -> Place:
    return sort_key(entry.last_chapter_index, entry.last_scene_index)


def unpaid_report(ledger: ThreadLedger) -> list[str]:
    """Return what became of the book's promises: how they ended, its rhythm, and each that was never paid."""
    words = _WORDS[ledger.language]
    waiting = sorted(
        (each for each in ledger.entries if each.is_waiting),
        key=lambda each: (-LOOP_WEIGHTS[each.importance], -(each.age_scenes or 0), each.loop_id),
    )
    endings: tuple[ThreadEnding, ...] = ("paid", "broken", "dropped", "moot")
    counts = [len(ledger.ended(ending)) for ending in endings]
    told = [words["counts"].format(len(ledger.entries), *counts, len(waiting)), rhythm_line(ledger)]
    if waiting:
        told.append(f"{words['never']}{words['open']}{len(waiting)}{words['close']}")
    return [*told, *(f"- {_line(each, ledger.language)}" for each in waiting)]


def rhythm_line(ledger: ThreadLedger) -> str:
    """Return in how many scenes this book pays its promises, or that this cannot be told yet."""
    words = _WORDS[ledger.language]
    whole = ledger.rhythm.whole
    if whole is None:
        return words["no_rhythm"].format(ledger.rhythm.paid)
    if whole.due_after_scenes is None:
        return words["slow"]
    if whole.overdue_after_scenes is None:
        return words["half"].format(whole.due_after_scenes)
    return words["rhythm"].format(whole.due_after_scenes, whole.overdue_after_scenes)


def ledger_warnings(
    ledger: ThreadLedger, scenes: Collection[Place], *, before: ThreadLedger | None = None
) -> list[str]:
    """Return what an author should hear of after scenes were taken in."""
    words = _WORDS[ledger.language]
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
        found.append(words["warn_overdue"].format(_named(late, words)))
    for each in ledger.at("over"):
        place = (each.last_chapter_index, each.last_scene_index)
        if place in scenes and not (each.resolution_summary or "").strip():
            found.append(words["warn_silent"].format(_named([each], words), f"{place[0]}:{place[1]}"))
    moot = [each for each in ledger.entries if each.moot_since in scenes]
    if moot:
        found.append(words["warn_moot"].format(_named(moot, words)))
    return found


def _named(entries: list[LedgerEntry], words: dict[str, str]) -> str:
    named = [f"{each.loop_id} {each.description}" for each in entries[:MAX_WARNED]]
    if len(entries) > MAX_WARNED:
        named.append(words["more"].format(len(entries) - MAX_WARNED))
    return words["list"].join(named)


def _line(entry: LedgerEntry, language: StoryLanguage) -> str:
    words = _WORDS[language]
    said = list(filter(None, _remarks(entry, language)))
    return f"{entry.loop_id} {entry.description}" + (
        f"{words['open']}{words['list'].join(said)}{words['close']}" if said else ""
    )


def _remarks(entry: LedgerEntry, language: StoryLanguage) -> list[str]:
    words = _WORDS[language]
    kind = shown_category(entry.category, language)
    if entry.ending is not None:
        return [kind, words[_ENDING_WORDS[entry.ending]], _parts(entry, words), entry.resolution_summary or ""]
    due_by = entry.window.due_by if entry.window else None
    return [
        kind,
        words["moot"] if entry.moot_since else "",
        _parts(entry, words),
        *_wait(entry.age_scenes or 0, entry.silent_scenes or 0, words),
        words["by"].format(":".join(map(str, due_by))) if due_by else "",
        words["needs"].format(entry.pay_off) if entry.pay_off else "",
    ]


def _wait(age: int, silent: int, words: dict[str, str]) -> list[str]:
    if SILENT_FROM_SCENES <= silent == age:
        return [words["untouched"].format(age)]
    waits = words["late_one"] if age == 1 else words["late"].format(age)
    return [waits if age else "", words["silent"].format(silent) if silent >= SILENT_FROM_SCENES else ""]


def _parts(entry: LedgerEntry, words: dict[str, str]) -> str:
    if entry.parts is not None and entry.ending != "paid":
        return words["parts"].format(entry.parts_paid, entry.parts)
    return words["part"].format(entry.parts_paid) if entry.parts_paid and entry.ending != "paid" else ""
