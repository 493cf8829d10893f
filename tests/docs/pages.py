"""The pages that users read, and the fenced blocks in them."""

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGES = ("README.md", *(page.relative_to(ROOT).as_posix() for page in sorted((ROOT / "docs").rglob("*.md"))))

_BLOCK = re.compile(r"^(?:<!-- ([^\n]+) -->\n)?```([^\n]*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Block:
    """One fenced block.

    Args:
        page: Path of its page from the repository's root.
        line: Line of its fence, from 1.
        language: What stands after the fence.
        marker: The comment above it, such as `file: plan.json`; empty without one.
        text: What stands between the fences.
    """

    page: str
    line: int
    language: str
    marker: str
    text: str

    @property
    def file(self) -> str | None:
        """The file that a reader saves the block as, where the marker names one."""
        return self.marker.removeprefix("file: ") if self.marker.startswith("file: ") else None


def text_of(page: str) -> str:
    """Return a page's text."""
    return (ROOT / page).read_text(encoding="utf-8")


def blocks_of(page: str) -> list[Block]:
    """Return the fenced blocks of a page, in order."""
    text = text_of(page)
    return [
        Block(
            page=page,
            line=text.count("\n", 0, match.start(2)) + 1,
            language=match.group(2),
            marker=match.group(1) or "",
            text=match.group(3),
        )
        for match in _BLOCK.finditer(text)
    ]
