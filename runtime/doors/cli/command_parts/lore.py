"""Parts of commands on lorebooks and glossaries."""

from __future__ import annotations

from typing import Any

from runtime.doors.cli import output
from runtime.doors.cli.command_view import View, does


@does("show", "export_lore")
def _show_lorebook(result: Any, _: View) -> None:
    output.print_json(result)


@does("show", "import_lore")
def _show_lore_import(result: Any, view: View) -> None:
    view.say("lore_imported", count=len(result.added), updated=len(result.updated), same=result.were_there)


@does("show", "export_glossary")
def _show_glossary(result: Any, _: View) -> None:
    output.print_text(result.rstrip("\n"))


@does("show", "import_glossary")
def _show_glossary_import(result: Any, view: View) -> None:
    view.say("glossary_imported", count=len(result.added), updated=len(result.updated), same=result.were_there)
