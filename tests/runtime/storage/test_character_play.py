"""Feelings, secrets, disclosures and flags, in both databases and over the time of a game."""

from datetime import UTC, datetime, timedelta
from typing import Any

from novelgen.characters.memory import GamePosition
from novelgen.characters.secrets import Secret
from runtime.storage.characters import PlayContents, StoredSecret
from runtime.storage.database import DatabaseManager
from runtime.storage.records import Disclosure, FeltChange, FlagChange, Project
from tests.runtime.storage.strangers_story import remembered
from tests.support.databases import on_both_databases

START = datetime(2031, 3, 1, tzinfo=UTC)
ODD_NAME = 'Ines "100%_" 阿蘅\\'


def moved(by: int, *, session: int | None = None, hours: int = 0) -> FeltChange:
    return FeltChange(
        character_id="C0",
        other_id=ODD_NAME,
        event_type="gift_given",
        deltas={"trust": by},
        session=session,
        turn=None if session is None else 1,
        happened_at=START + timedelta(hours=hours),
    )


def trusts(database: DatabaseManager, as_of: Any) -> list[int]:
    with database.project("demo").read() as unit:
        return [each.deltas["trust"] for each in unit.play.dispositions("C0", ODD_NAME, as_of=as_of)]


@on_both_databases
def test_changes_are_read_up_to_a_moment_in_the_order_of_the_game(database: DatabaseManager) -> None:
    """Strictly before a position or a point in time; what has no position goes by when it happened."""
    with database.project("demo").write() as unit:
        for change in (moved(3, session=3, hours=9), moved(1, session=1, hours=10), moved(2, hours=5)):
            unit.play.add_disposition(change)
    assert trusts(database, None) == [2, 1, 3]
    assert trusts(database, GamePosition(3, 1)) == [2, 1]
    assert trusts(database, GamePosition(1, 1)) == [2]
    assert trusts(database, GamePosition(9, 0)) == [2, 1, 3]
    assert trusts(database, START + timedelta(hours=9)) == [2]


def test_what_happened_without_a_position_after_a_turn_is_not_read_before_it(database: DatabaseManager) -> None:
    """The first thing that stands at the turn or later tells when it was."""
    with database.project("demo").write() as unit:
        unit.play.add_disposition(moved(1, session=2, hours=1))
        unit.play.add_disposition(moved(2, hours=2))
    assert trusts(database, GamePosition(2, 0)) == []


@on_both_databases
def test_everything_comes_back_as_it_went_in_once(database: DatabaseManager) -> None:
    """Contents of one project go into another; adding what is there already adds nothing."""
    given = PlayContents(
        dispositions=[moved(1, session=1), moved(1, session=1)],
        secrets=[StoredSecret(character_id="C0", secret=Secret(secret_id="s", text="阿蘅知道。"))],
        disclosures=[Disclosure(character_id="C0", other_id="C1", kind="shown", subject="ledger", happened_at=START)],
        flags=[FlagChange(name="bridge", value={"burnt": [1, None]}, happened_at=START)],
    )
    with database.project("demo").write() as unit:
        unit.play.add_contents(given)
    with database.project("demo").read() as unit:
        assert unit.play.contents() == given
    assert given.missing_from(given).is_empty()
    with database.project("demo2").read() as unit:
        assert unit.play.contents().is_empty()


def test_a_project_that_goes_takes_it_all_along(database: DatabaseManager) -> None:
    """Nothing of it is left for another project of that name."""
    with database.project("demo").write() as unit:
        unit.play.add_disposition(moved(1))
        unit.play.keep_secret("C0", Secret(secret_id="s", text="x"))
        unit.play.set_flag(FlagChange(name="bridge", happened_at=START))
        unit.play._session.delete(Project)
        assert unit.play.contents().is_empty()


@on_both_databases
def test_a_name_is_told_in_the_story_where_somebody_remembers_it(database: DatabaseManager) -> None:
    """Only in this project, and no sign of it stands for others."""
    with database.project("demo").write() as unit:
        unit.characters.add([remembered("CM1", content="I saw Barnaby and 阿蘅 at the mill.")])
    for project, told in (("demo", ["Barnaby", "阿蘅"]), ("demo2", [])):
        with database.project(project).read() as unit:
            assert [name for name in ("Barnaby", "阿蘅", "B%y") if unit.play.is_told_in_story(name)] == told
