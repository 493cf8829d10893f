"""The ledger: kinds of threads, how long they waited, when due, how they ended, and what an author hears of it."""

from collections.abc import Sequence
from typing import Any, get_args

import pytest

from novelgen.language.language import StoryLanguage
from novelgen.memory.ledger import (
    MAX_OVER,
    LedgerEntry,
    LedgerStory,
    Place,
    ThreadEvent,
    ThreadKind,
    ThreadLedger,
    board_lines,
    is_of_category,
    kind_of,
    ledger_warnings,
    make_ledger,
    shown_category,
    unpaid_report,
)
from novelgen.models.position import END_OF_STORY, StoryPosition


@pytest.mark.parametrize(
    ("category", "kind"),
    [
        ("Promises", "promise"),
        ("a blood-oath", "promise"),
        ("未了的誓言", "promise"),
        ("family_secret", "mystery"),
        ("身世之谜", "mystery"),
        ("unpaid debt", "debt"),
        ("人情债", "debt"),
        ("compromise", None),
        ("", None),
    ],
)
def test_words_of_both_languages_say_a_kind(category: str, kind: ThreadKind | None) -> None:
    """A word counts in any form and beside others, but not as a part of another English word."""
    assert kind_of(category) == kind


def test_a_category_is_found_in_either_language_or_by_its_very_words() -> None:
    """What names no kind finds only what is called the same."""
    assert is_of_category("许诺", "vow")
    assert is_of_category("oath", "许诺")
    assert is_of_category("Weather ", "weather")
    assert not is_of_category("weather", "season")
    assert not is_of_category("promise", "threat")
    assert not is_of_category("", "threat")


@pytest.mark.parametrize(
    ("category", "language", "shown"),
    [("vow", "zh", "许诺"), ("伏笔", "en", "foreshadowing"), (" weather ", "zh", "weather"), ("", "en", "")],
)
def test_a_kind_is_shown_in_the_storys_language(category: str, language: StoryLanguage, shown: str) -> None:
    """What is of no known kind stays as it was written."""
    assert shown_category(category, language) == shown


@pytest.mark.parametrize("kind", get_args(ThreadKind))
def test_every_kind_is_read_again_as_it_is_shown(kind: ThreadKind) -> None:
    """What a board shows can be asked for in the same words."""
    for language in get_args(StoryLanguage):
        assert kind_of(shown_category(kind, language)) == kind


PLACES: Sequence[Place] = [(1, number) for number in range(1, 21)]


def planted(scene: int, **detail: Any) -> ThreadEvent:
    """Return the planting of a thread in a scene of the first chapter."""
    told = {"category": "promise", "description": "a vow", "importance": "high"}
    lists: dict[str, list[str]] = {"related_characters": [], "related_locations": [], "related_items": []}
    return ThreadEvent("", "planted", detail={**told, **lists, **detail}, chapter_index=1, scene_index=scene)


def moved(kind: str, scene: int, note: str = "", **detail: Any) -> ThreadEvent:
    """Return what became of a thread in a scene of the first chapter."""
    return ThreadEvent("", kind, note, detail=detail, chapter_index=1, scene_index=scene)


def ledger(
    *threads: list[ThreadEvent],
    as_of: StoryPosition = END_OF_STORY,
    deaths: dict[str, Place] | None = None,
    language: StoryLanguage = "en",
    places: Sequence[Place] = PLACES,
) -> ThreadLedger:
    """Return the ledger of a story of twenty scenes with these threads, OL0 first."""
    events = {
        f"OL{number}": [
            ThreadEvent(f"OL{number}", each.kind, each.note, each.detail, each.chapter_index, each.scene_index)
            for each in thread
        ]
        for number, thread in enumerate(threads)
    }
    story = LedgerStory(project_id="p", language=language, places=places, events=events, deaths=deaths or {})
    return make_ledger(story, as_of=as_of)


def only(found: ThreadLedger, loop_id: str = "OL0") -> LedgerEntry:
    """Return a thread of a ledger."""
    return next(each for each in found.entries if each.loop_id == loop_id)


PAID = [[planted(1), moved("resolved", 1 + age, "so")] for age in (2, 3, 4, 5, 10)]
"""Five threads that were paid after so many scenes."""


def test_the_weightiest_waits_first_and_what_is_over_stands_last() -> None:
    """Nothing is due of which nobody said when; what is overdue comes first, a thread of the dead last."""
    waiting = only(ledger([planted(1), moved("advanced", 8, "a hint")]))
    assert (waiting.stage, waiting.age_scenes, waiting.silent_scenes, waiting.window) == ("moved", 19, 12, None)
    assert [each.note for each in waiting.moves] == ["", "a hint"]
    found = ledger([planted(1), moved("resolved", 3)], [planted(15)], [planted(1, importance="critical")])
    assert [each.loop_id for each in found.entries] == ["OL2", "OL1", "OL0"]
    both = [planted(1, related_characters=["C0", "C1"])]
    found = only(ledger(both, deaths={"C0": (1, 4), "C1": (1, 6)}))
    assert (found.moot_since, found.dead_ids) == ((1, 6), ["C0", "C1"])
    living = only(ledger(both, deaths={"C0": (1, 4)}))
    assert (living.moot_since, living.dead_ids) == (None, ["C0"])
    late = [planted(18, importance="low", due_by=[1, 19])]
    found = ledger(both, [planted(9)], [planted(1, importance="critical")], late, deaths={"C0": (1, 4), "C1": (1, 6)})
    assert [each.loop_id for each in found.entries] == ["OL3", "OL2", "OL1", "OL0"]


@pytest.mark.parametrize(
    ("as_of", "stage"),
    [
        (StoryPosition(1, 9), "planted"),
        (StoryPosition(1, 10), "due"),
        (StoryPosition(1, 15), "overdue"),
        (END_OF_STORY, "overdue"),
    ],
)
def test_a_stated_window_makes_a_thread_due_and_overdue(as_of: StoryPosition, stage: str) -> None:
    """From --due-from it is due, on entering --due-by it is overdue, whatever the others did."""
    stated = planted(1, due_from=[1, 10], due_by=[1, 15], pay_off="the lamp must burn")
    found = only(ledger([stated], *PAID, as_of=as_of))
    assert (found.stage, found.pay_off) == (stage, "the lamp must burn")
    assert found.window is not None
    assert found.window.source == "author"


@pytest.mark.parametrize(
    ("kind", "detail", "deaths", "ending"),
    [
        ("resolved", {}, {}, "paid"),
        ("resolved", {"ending": "broken"}, {}, "broken"),
        ("abandoned", {}, {}, "dropped"),
        ("abandoned", {}, {"C0": (1, 4)}, "moot"),
        ("abandoned", {}, {"C0": (1, 9)}, "dropped"),
        ("abandoned", {"ending": "dropped"}, {"C0": (1, 4)}, "dropped"),
    ],
)
def test_a_thread_ends_in_one_of_four_ways(
    kind: str, detail: dict[str, str], deaths: dict[str, Place], ending: str
) -> None:
    """What was said counts; else an answer pays, and a thread is moot whose people were dead when it was dropped."""
    thread = [planted(1, related_characters=["C0"]), moved(kind, 5, "so", **detail)]
    found = only(ledger(thread, deaths=deaths))
    assert (found.stage, found.ending) == ("over", ending)


@pytest.mark.parametrize(
    ("language", "overdue", "silent", "moot"),
    [
        ("en", "critical threads are overdue: OL5", "scene 1:20 ended a thread without saying how", "are dead"),
        ("zh", "要紧的线索已逾期：OL5", "1:20 场了结了一条线索", "都已死去"),
    ],
)
def test_an_author_is_warned_of_what_is_late_and_of_what_ended_without_a_word(
    language: StoryLanguage, overdue: str, silent: str, moot: str
) -> None:
    """Endings and deaths of other scenes than those that were taken in were told before."""
    late = [planted(1, importance="critical", due_by=[1, 5])]
    ended = [planted(18), moved("resolved", 20)]
    dead = [planted(19, related_characters=["C9"])]
    found = ledger(*PAID, late, ended, dead, deaths={"C9": (1, 20)}, language=language)
    told = ledger_warnings(found, {(1, 20)})
    assert [each in line for each, line in zip((overdue, silent, moot), told, strict=True)] == [True] * 3
    assert [overdue in line for line in ledger_warnings(found, {(1, 19)})] == [True]
    assert ledger_warnings(ledger([planted(18)]), {(1, 20)}) == []


@pytest.mark.parametrize(
    ("language", "headings", "silent"),
    [
        ("en", ["Overdue (1)", "Due (0)", "Moved (0)", "Planted (0)", "Over (5)"], "nobody touched it for 19 scenes"),
        ("zh", ["已逾期（1）", "该兑现（0）", "有进展（0）", "已埋下（0）", "已了结（5）"], "已有 19 场无人触及"),
    ],
)
def test_the_board_says_where_each_stands_and_who_was_forgotten(
    language: StoryLanguage, headings: list[str], silent: str
) -> None:
    """A column for each stage, in the story's language."""
    board = board_lines(ledger(*PAID, [planted(1, due_by=[1, 5])], language=language))
    assert [heading for heading, _ in board] == headings
    assert silent in board[0][1][0]


def test_a_book_report_tells_what_was_never_paid() -> None:
    """How the others ended, and each that waits, the weightiest first."""
    broken = [planted(1), moved("resolved", 4, "no", ending="broken")]
    critical = [planted(9, importance="critical", description="the throne")]
    told = unpaid_report(ledger(*PAID, broken, [planted(2)], critical))
    assert told[0] == "8 threads: 5 paid, 1 broken, 0 dropped, 0 moot by death, 2 never paid"
    assert [line.split()[1] for line in told[2:]] == ["OL7", "OL6"]
    assert unpaid_report(ledger([planted(1), moved("resolved", 2, "so")]))[1:] == []


def test_a_record_may_say_when_a_thread_is_due_and_its_author_has_the_last_word() -> None:
    """The author's window goes before the record's; so does what a pay-off needs."""
    expected = {"due_by": [2, 0], "pay_off": "before the fair"}
    by_record = only(ledger(*PAID, [planted(19, expected=expected)]), "OL5")
    assert by_record.window is not None
    assert (by_record.window.source, by_record.window.due_by) == ("record", (2, 0))
    assert (by_record.pay_off, by_record.stage) == ("before the fair", "planted")
    late = ledger([planted(1, expected={"due_by": [1, 5]})])
    assert only(late).stage == "overdue"
    author = only(ledger([planted(1, expected=expected, due_by=[1, 5], pay_off="the key")]))
    assert author.window is not None
    assert (author.window.source, author.window.due_by, author.pay_off) == ("author", (1, 5), "the key")
    words_alone = only(ledger([planted(1, expected={"pay_off": "before the fair"})]))
    assert (words_alone.window, words_alone.pay_off) == (None, "before the fair")


@pytest.mark.parametrize(
    ("language", "some", "whole"), [("en", "2 of 3 paid", "parts paid: 2"), ("zh", "3 份中已兑现 2 份", "已兑现 2 份")]
)
def test_a_thread_may_be_paid_in_parts(language: StoryLanguage, some: str, whole: str) -> None:
    """Moves that pay a part are counted, against how many there are where that was said; a hint pays nothing."""
    moves = [
        moved("advanced", 3, "the first", pays_part=True),
        moved("advanced", 4, "a hint"),
        moved("advanced", 6, "the second", pays_part=True),
    ]
    found = ledger([planted(1, parts=3), *moves], [planted(1), *moves], language=language)
    assert [(each.parts, each.parts_paid) for each in found.entries] == [(3, 2), (None, 2)]
    assert [move.pays_part for move in only(found).moves] == [False, True, False, True]
    lines = dict(board_lines(found))
    told = next(lines[heading] for heading in lines if heading.startswith(("Moved", "有进展")))
    assert some in told[0]
    assert whole in told[1]
    paid = ledger([planted(1, parts=3), *moves, moved("resolved", 9, "all")], language=language)
    assert some not in "".join(line for _, each in board_lines(paid) for line in each)


def test_a_ledger_may_be_of_one_category() -> None:
    """Entries of other kinds are left out; without a category all stay."""
    found = ledger(*PAID, [planted(3, category="威胁")], [planted(3, category="")])
    assert [each.loop_id for each in found.of_category("danger").entries] == ["OL5"]
    assert len(found.of_category("threat", "vow").entries) == 6
    assert found.of_category() == found
    assert "(threat" in dict(board_lines(found.of_category("threat")))["Planted (1)"][0]


@pytest.mark.parametrize(
    ("category", "description", "is_moot"),
    [
        ("promise", "a vow", True),
        ("mystery", "their deaths", False),
        ("", "Who did it?", False),
        ("", "他是谁？", False),
    ],
)
def test_a_question_outlives_those_whom_it_is_about(category: str, description: str, is_moot: bool) -> None:
    """Who killed the dead may still be answered; a promise of theirs cannot be kept any more."""
    told = {"category": category, "description": description, "related_characters": ["C1"]}
    waiting = [planted(1, **told)]
    dropped = [planted(1, **told), moved("abandoned", 9)]
    found = ledger(waiting, dropped, deaths={"C1": (1, 4)})
    assert only(found).moot_since == ((1, 4) if is_moot else None)
    assert only(found, "OL1").ending == ("moot" if is_moot else "dropped")
    assert bool(ledger_warnings(found, [(1, 4)])) is is_moot


def test_of_what_is_over_a_board_shows_the_last() -> None:
    """The latest endings first; how many more there are is said, the report counts all, and one scene is no scenes."""
    ended = [[planted(1), moved("resolved", 1 + number, "so")] for number in range(1, MAX_OVER + 4)]
    for language, more in (("en", "and 3 more, over before these"), ("zh", "另有 3 条早已了结")):
        heading, lines = board_lines(ledger(*ended, language=language))[-1]
        assert str(MAX_OVER + 3) in heading
        assert lines[0].startswith(f"OL{MAX_OVER + 2} ")
        assert (len(lines), lines[-1]) == (MAX_OVER + 1, more)
    (line,) = dict(board_lines(ledger([planted(19)])))["Planted (1)"]
    assert "open for one scene)" in line
