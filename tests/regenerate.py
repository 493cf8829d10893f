"""Regenerate every file derived from the source.

`python -m tests.regenerate` writes the manifest of commands, the offered tools, the HTTP examples and the listings of
the documentation, and prints the messages without Chinese. `--pictures` also takes the screenshots of the page, which
need chromium.
"""

import argparse
import subprocess
import sys

GENERATORS = (
    "tests.runtime.doors.cli.test_inventory",
    "tests.runtime.doors.test_offered",
    "tests.runtime.doors.http.write_examples",
    "tests.docs.write_listings",
    "tests.novelgen.words.message_sources",
)
PICTURES = "tests.docs.write_screenshots"


def main() -> None:
    """Run the generators in turn, and stop at the first failure."""
    parser = argparse.ArgumentParser(prog="python -m tests.regenerate", description="Regenerate derived files.")
    parser.add_argument("--pictures", action="store_true", help="take the page's screenshots too")
    options = parser.parse_args()
    for module in (*GENERATORS, *([PICTURES] if options.pictures else [])):
        print(f"python -m {module}", flush=True)
        subprocess.run([sys.executable, "-m", module], check=True)


if __name__ == "__main__":
    main()
