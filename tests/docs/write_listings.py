"""Writes the console listings of the pages anew: `python -m tests.docs.write_listings`."""

from tests.docs.pages import PAGES, ROOT, blocks_of, text_of
from tests.docs.running import listing_of


def main() -> None:
    """Put what the program prints into every console block."""
    for page in PAGES:
        text = text_of(page)
        for block in blocks_of(page):
            if block.language == "console":
                first = block.text.partition("\n")[0]
                text = text.replace(block.text, f"{first}\n{listing_of(first.removeprefix('$ '))}")
        (ROOT / page).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
