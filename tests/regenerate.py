"""Regenerate every file derived from the source.

`python -m tests.regenerate` writes the manifest of commands, the offered tools, the HTTP paths and examples, and the
tables, listings and notebooks of the documentation. It ends with the messages that have no Chinese. `--pictures` also
takes the screenshots of the page, which need chromium.
"""

import argparse
import subprocess
import sys

GENERATORS = {
    "tests.runtime.doors.cli.test_inventory": "runtime/doors/cli/manifest.json",
    "tests.runtime.doors.test_offered": "tests/runtime/doors/offered",
    "tests.runtime.doors.http.write_openapi_paths": "tests/runtime/doors/http/openapi_paths.json",
    "tests.runtime.doors.http.write_examples": "runtime/doors/http/examples.json",
    "tests.docs.write_tables": "tables of docs/reference/configuration.md and its neighbours",
    "tests.docs.write_listings": "listings of README.md and docs/reference/command-line.md",
    "tests.docs.notebooks": "docs/notebooks",
    "tests.novelgen.words.message_sources": "(prints messages without Chinese)",
}
"""Each generator with the files it writes."""

PICTURES = {"tests.docs.write_screenshots": "docs/images"}

HOW = "this file is derived from the source: `python -m tests.regenerate` writes it; then review the difference"
"""Ends the failure of a test that holds a derived file against its source."""


def main() -> None:
    """Run the generators in turn, and stop at the first failure."""
    parser = argparse.ArgumentParser(prog="python -m tests.regenerate", description="Regenerate derived files.")
    parser.add_argument("--pictures", action="store_true", help="take the page's screenshots too")
    options = parser.parse_args()
    for module, files in (GENERATORS | (PICTURES if options.pictures else {})).items():
        print(f"{files}: python -m {module}", flush=True)
        subprocess.run([sys.executable, "-m", module], check=True)


if __name__ == "__main__":
    main()
