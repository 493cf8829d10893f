"""Writes the listings of the pages anew: `python -m tests.docs.write_listings`."""

from tests.docs.pages import PAGES, ROOT, Block, blocks_of, text_of
from tests.docs.printed import printed_blocks, printed_by
from tests.docs.running import listing_of


def main() -> None:
    """Put what the program prints into every console block."""
    for page in PAGES:
        text = text_of(page)
        for block in blocks_of(page):
            if block.language == "console":
                first = block.text.partition("\n")[0]
                text = text.replace(block.text, f"{first}\n{listing_of(first.removeprefix('$ '))}")
        for block in printed_blocks(page):
            text = text.replace(f"<!-- {block.marker} -->\n```text\n{block.text}", _listing(block))
        (ROOT / page).write_text(text, encoding="utf-8")


def _listing(block: Block) -> str:
    return f"<!-- {block.marker} -->\n```text\n{printed_by(block)}"


if __name__ == "__main__":
    main()
