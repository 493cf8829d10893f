"""The tests that the documentation names for its promises are there."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SECURITY, FAULTS = "docs/explanation/security.md", "docs/how-to/when-something-fails.md"
NAMED_TEST = re.compile(r"tests/[\w/]+(?:\.py|/)(?:::(\w+))?")


def _rows(document: str, heading: str) -> list[list[str]]:
    """Return the rows of the table below a heading row of a document."""
    _, _, rest = (ROOT / document).read_text(encoding="utf-8").partition(heading)
    lines = rest.lstrip("\n").splitlines()[1:]
    table = []
    for line in lines:
        if not line.startswith("|"):
            break
        table.append([part.strip() for part in line.strip("|").split(" | ")])
    return table


TABLES = (
    (SECURITY, "| Threat | Rule | Test |"),
    (FAULTS, "| what | what you get | test |"),
    (FAULTS, "| what comes | what is done | test |"),
)
PROMISES = [(document, row[0], row[-1]) for document, heading in TABLES for row in _rows(document, heading)]


@pytest.mark.parametrize(("document", "promise", "tests"), PROMISES)
def test_each_promise_names_its_test(document: str, promise: str, tests: str) -> None:
    """A file or a folder of tests that exists and has tests, and a function of it where one is named."""
    named = list(NAMED_TEST.finditer(tests))
    assert named, (document, promise)
    for name in named:
        path = ROOT / name[0].partition("::")[0]
        files = sorted(path.rglob("test_*.py")) if path.is_dir() else [path]
        functions = re.findall(r"def (test_\w+)", "".join(file.read_text(encoding="utf-8") for file in files))
        assert functions, (document, promise, name[0])
        assert name[1] is None or name[1] in functions


def test_both_documents_have_their_tables() -> None:
    """So many that none was lost by a change of their form."""
    counts = {document: sum(of == document for of, _, _ in PROMISES) for document in (SECURITY, FAULTS)}
    assert counts[SECURITY] >= 30
    assert counts[FAULTS] >= 20
