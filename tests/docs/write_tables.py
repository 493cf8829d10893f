"""Tables of the pages that the source holds: `python -m tests.docs.write_tables`."""

import json
from collections.abc import Iterable, Sequence

from novelgen.characters.memory import CharacterMemorySettings
from novelgen.deadlines import SHARES
from novelgen.memory.weights import SelectionWeights
from novelgen.settings import ContextSettings
from novelgen.words import words
from tests.docs.pages import ROOT, text_of
from tests.support.ladder import ladder

CONFIGURATION = "docs/reference/configuration.md"
CHARACTERS = "docs/how-to/characters.md"
CHINESE_CHARACTERS = "docs/how-to/characters.zh.md"
ARCHITECTURE = "docs/explanation/architecture.md"


def weight_rows() -> list[str]:
    """Return a row per weight of the selection."""
    return [
        _row([f"`{name}`", _bare(field.default), field.description or ""])
        for name, field in SelectionWeights.model_fields.items()
    ]


def character_setting_rows() -> list[str]:
    """Return a row per setting of a character's memory."""
    return [
        _row([f"`{name}`", f"`{json.dumps(field.default)}`", field.description or ""])
        for name, field in CharacterMemorySettings.model_fields.items()
    ]


def chinese_character_setting_rows() -> list[str]:
    """Return the same rows with the descriptions that a Chinese config.yaml has."""
    descriptions = words("settings", "zh", "memory.character_memory")
    return [
        _row([f"`{name}`", f"`{json.dumps(field.default)}`", descriptions[name]])
        for name, field in CharacterMemorySettings.model_fields.items()
    ]


def stage_rows() -> list[str]:
    """Return a row per stage of a context and of a check, with its seconds by the default settings."""
    settings = ContextSettings()
    seconds = ladder(chain_timeout_s=settings.chain_timeout_s, tool_timeout_s=settings.tool_timeout_s)
    return [
        _row([f"`{name}`", f"`{share.of}`", f"{share.part:g}", f"{seconds[name]:.1f}", share.reason])
        for name, share in SHARES.items()
    ]


TABLES = {
    (CONFIGURATION, "| weight | default | what it does |"): weight_rows,
    (CHARACTERS, "| setting | default | meaning |"): character_setting_rows,
    (CHINESE_CHARACTERS, "| 设置 | 默认 | 含义 |"): chinese_character_setting_rows,
    (ARCHITECTURE, "| stage | of | share | seconds | why |"): stage_rows,
}
"""The rows below each heading row of a page."""


def rows_of(page: str, heading: str) -> list[str]:
    """Return the rows of the table of a page with this heading row."""
    lines = text_of(page).partition(f"{heading}\n")[2].splitlines()[1:]
    end = next((number for number, line in enumerate(lines) if not line.startswith("|")), len(lines))
    return lines[:end]


def _bare(value: object) -> str:
    return ", ".join(sorted(value)) if isinstance(value, frozenset) else str(value)


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _with_rows(text: str, heading: str, old: Sequence[str], new: Sequence[str]) -> str:
    ruler = text.partition(f"{heading}\n")[2].partition("\n")[0]
    return text.replace("\n".join([heading, ruler, *old]), "\n".join([heading, ruler, *new]))


def main() -> None:
    """Write the rows of every table."""
    for (page, heading), rows in TABLES.items():
        text = _with_rows(text_of(page), heading, rows_of(page, heading), rows())
        (ROOT / page).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
