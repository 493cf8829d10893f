"""The tables of settings, weights and deadlines are those of the program, with these defaults."""

import re
from typing import Any

import pytest
from pydantic import BaseModel

from novelgen.characters.dispositions import RELATIONSHIP_DELTAS, deltas_of
from novelgen.characters.memory import CharacterMemorySettings
from novelgen.settings import ContextSettings
from runtime.settings import NovelgenSettings
from tests.docs.pages import text_of
from tests.docs.write_tables import CHARACTERS, CHINESE_CHARACTERS, TABLES, rows_of
from tests.regenerate import HOW
from tests.support.ladder import ladder

CONFIGURATION = text_of("docs/reference/configuration.md")
SETTING_ROW = re.compile(r"^\| (?:`([\w.]+)` )?\| `(NOVELGEN_\w+)` \| ([^|]+) \|", re.MULTILINE)


def flat_defaults(model: type[BaseModel], prefix: str = "") -> dict[str, Any]:
    """Return every setting by its dotted name with its default."""
    found: dict[str, Any] = {}
    for name, field in model.model_fields.items():
        default = field.default
        nested = flat_defaults(type(default), f"{prefix}{name}.") if isinstance(default, BaseModel) else None
        found |= nested if nested is not None else {f"{prefix}{name}": default}
    return found


def test_every_setting_is_in_the_table_with_its_default() -> None:
    """The configuration table names every setting, its variable and its default, and no other."""
    described = {variable: (name, default.strip()) for name, variable, default in SETTING_ROW.findall(CONFIGURATION)}
    defaults = flat_defaults(NovelgenSettings)
    elsewhere = ("memory.weights.", "memory.character_memory.")
    shown = [name for name in defaults if not name.startswith(elsewhere)]
    expected = {f"NOVELGEN_{name.upper().replace('.', '__')}" for name in shown}
    assert described.keys() == expected
    for variable, (name, told) in described.items():
        default = defaults[name or "projects_dir"]
        if isinstance(default, bool):
            assert told == str(default).lower(), variable
        elif isinstance(default, int | float):
            assert float(told) == default, variable


@pytest.mark.parametrize(("page", "heading"), TABLES)
def test_a_table_is_that_of_the_source(page: str, heading: str) -> None:
    """Weights, settings of a character's memory and deadlines: names, defaults and descriptions, in their order."""
    assert rows_of(page, heading) == TABLES[page, heading](), HOW


@pytest.mark.parametrize(("page", "heading"), [(CHARACTERS, "| type of event |"), (CHINESE_CHARACTERS, "| 事件类型 |")])
def test_what_events_do_to_feelings_is_told(page: str, heading: str) -> None:
    """The table of the types of events is that of the rules, other names of a type included."""
    rows = re.findall(r"^\| ((?:`\w+`(?:, )?)+) \| ([^|]+) \|$", text_of(page).partition(heading)[2], re.MULTILINE)
    told = {
        name: {dimension: int(by) for dimension, by in re.findall(r"(\w+) ([+-]\d+)", moves)}
        for names, moves in rows
        for name in re.findall(r"`(\w+)`", names)
    }
    settings = CharacterMemorySettings()
    assert told.keys() >= RELATIONSHIP_DELTAS.keys()
    assert told == {name: deltas_of(name, settings) for name in told}


def test_both_commands_of_a_fresh_machine_are_there() -> None:
    """The two commands that do all the set-up are marked, so that CI runs the very line of the README."""
    for marker in ("main-command", "test-command"):
        assert re.search(rf"<!-- {marker} -->\n```bash\n.+\n```", text_of("README.md"))


def test_the_readme_is_short() -> None:
    """What a newcomer reads first fits into 175 lines, both languages together; the rest is in docs."""
    assert len(text_of("README.md").splitlines()) <= 175


def test_the_time_after_which_a_hanging_index_is_given_up_is_told() -> None:
    """The page of faults names the seconds that follow from the table and the default settings."""
    settings = ContextSettings()
    seconds = ladder(chain_timeout_s=settings.chain_timeout_s, tool_timeout_s=settings.tool_timeout_s)
    assert f"hangs after {seconds['index']:.1f} s," in text_of("docs/how-to/when-something-fails.md")
