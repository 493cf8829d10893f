"""Every command of the program: one line each.

A command's module holds its grammar and help only and imports its work when it runs, so that `--help`
stays fast.
"""

from __future__ import annotations

_COMMANDS = "runtime.cli.commands"

COMMAND_SECTIONS: dict[str, dict[str, str]] = {
    "Fill the memory": {
        "new": f"{_COMMANDS}.new:new",
        "init": f"{_COMMANDS}.init:init",
        "ingest": f"{_COMMANDS}.ingest:ingest",
        "import-book": f"{_COMMANDS}.import_book:import_book",
        "import": f"{_COMMANDS}.import_command:import_command",
        "extract": f"{_COMMANDS}.extract:extract",
        "note": f"{_COMMANDS}.note:note",
    },
    "Write the next scene": {
        "context": f"{_COMMANDS}.context:context",
        "chunk-context": f"{_COMMANDS}.chunk_context:chunk_context",
    },
    "Look things up": {
        "search": f"{_COMMANDS}.search:search",
        "entity": f"{_COMMANDS}.entity:entity",
        "character": f"{_COMMANDS}.character:character",
        "location": f"{_COMMANDS}.location:location",
        "relationship": f"{_COMMANDS}.relationship:relationship",
        "loop": f"{_COMMANDS}.loop:loop",
        "timeline": f"{_COMMANDS}.timeline:timeline",
        "projects": f"{_COMMANDS}.projects:projects",
        "export": f"{_COMMANDS}.export:export",
    },
    "Put things right": {
        "memory": f"{_COMMANDS}.memory:memory",
        "record": f"{_COMMANDS}.record:record",
        "summary": f"{_COMMANDS}.summary:summary",
        "conflicts": f"{_COMMANDS}.conflicts:conflicts",
        "scene": f"{_COMMANDS}.scene:scene",
        "consolidate": f"{_COMMANDS}.consolidate:consolidate",
        "reindex": f"{_COMMANDS}.reindex:reindex",
        "doctor": f"{_COMMANDS}.doctor:doctor",
    },
    "Measure": {
        "bench": f"{_COMMANDS}.bench:bench",
    },
}
