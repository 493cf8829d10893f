"""The fault matrix: what is broken, and what must become of it. Tests name their rows by `covers`."""

from dataclasses import dataclass

import pytest

MARKER = "fault_rows"
V = "memories empty (fallback off) or by exact search and words (on), entities intact, an issue"
D = "no entity states, memories still there, an issue"
J = "the error is logged and reported, SQL is kept, the file can be written again"
X = "no record and a reason; the scene's text is kept"


@dataclass(frozen=True, slots=True)
class FaultRow:
    """One row: its number, the fault, and the expectation. No row may raise or outlast its budget."""

    number: int
    fault: str
    expectation: str


ROWS: dict[int, FaultRow] = {
    number: FaultRow(number, fault, expectation)
    for number, fault, expectation in (
        (1, "Index folder gone", f"{V}; rebuilt from SQL"),
        (2, "Index path is a file", f"{V}; rebuilt from SQL"),
        (3, "Index database empty", f"{V}; rebuilt from SQL"),
        (4, "Index database header garbage", f"{V}; rebuilt from SQL"),
        (5, "Vector folder gone", f"{V}; rebuilt from SQL"),
        (6, "Vectors halved", "found by canary questions; rebuilt from SQL"),
        (7, "Vectors random", f"{V}; the process is replaced, the index rebuilt from SQL"),
        (8, "Vector metadata empty", f"{V}; rebuilt from SQL"),
        (9, "Index locked by another program", f"reads pass or {V}; writes wait in the outbox"),
        (10, "Index process frozen", V),
        (11, "Index process killed in a query", f"{V}; the next call works"),
        (12, "Index process crashes again and again", f"the breaker opens; {V}"),
        (13, "A second program opens the index", "it asks through the first, which is unharmed"),
        (14, "The embedding dimension changed", f"{V}; rebuilt from SQL"),
        (15, "The embedding model raises or hangs", V),
        (16, "The embedding model returns NaN", V),
        (17, "No network", "everything passes"),
        (18, "A row in the index that SQL does not have", "never returned; found by verification"),
        (19, "A row that the index has lost", "found by verification and brought back"),
        (20, "The same vector in another project", "never returned"),
        (21, "project_id None, a dict, a list, empty, a path", "refused before anything is read"),
        (22, "Disk full", "refused clearly, nothing half; converges when there is room, without duplicates"),
        (23, "Context folder unwritable", J),
        (24, "The context file is a link that leads outside", f"{J}; nothing outside is touched"),
        (25, "Surrogates and NUL in the text", "scrubbed alike in SQL, index and JSON"),
        (26, "Kill before the rename", "the old file or the new one, whole"),
        (27, "fsync fails", J),
        (28, "No file descriptors", "memories and states empty, not written, all reported; recovers"),
        (29, "SQLite locked", "reads pass (WAL) or no states (rollback journal); a save is refused clearly"),
        (30, "Readers and writers race", "all commit"),
        (31, "SQLite header garbage", f"{D}; the file is left as it is"),
        (32, "Old or foreign schema", f"{D}; the error names the schema"),
        (33, "PostgreSQL killed in a transaction", f"{D}; it reconnects"),
        (34, "PostgreSQL frozen", D),
        (35, "Connection pool exhausted", D),
        (36, "The reply of a commit is lost", "the repeated save makes no duplicate"),
        (37, "Kill at any point", "nothing acknowledged is lost, doubled or half; the stores agree again"),
        (38, "The language model hangs or drips", X),
        (39, "429 with Retry-After 3600", X),
        (40, "500, HTML with status 200, no choices", X),
        (41, "400 for response_format", "falls back to JSON mode, then to the prompt"),
        (42, "Truncated JSON", X),
        (43, "A draft inside a think block", "the real answer is used"),
        (44, "Fence, prose, comma, quotes, byte order mark", "read"),
        (45, "Depth bomb, NaN", X),
        (46, "The answer names another project", "not read; ids come from the caller"),
        (47, "A memory forges a fence or a role", "stays fenced"),
        (48, "Braces, jinja, lc keys in the text", "literal text"),
        (49, "A scene of 10 MB", "a clean limit error, by library and command line"),
        (50, "All stores down", "an empty, valid context that says so; the scene is still written"),
    )
}


def covers(*numbers: int) -> pytest.MarkDecorator:
    """Mark a test as the proof of rows; an unknown one is an error of the test."""
    unknown = sorted(set(numbers) - ROWS.keys())
    if unknown:
        raise ValueError(f"the fault matrix has no rows {unknown!r}")
    mark: pytest.MarkDecorator = getattr(pytest.mark, MARKER)
    return mark(*numbers)
