"""The listings of README show what the program prints."""

import pytest

from tests.docs.pages import Block
from tests.docs.printed import printed_blocks, printed_by
from tests.regenerate import HOW

BLOCKS = printed_blocks("README.md")


@pytest.mark.slow
@pytest.mark.parametrize("block", BLOCKS, ids=lambda block: block.marker.split()[4])
def test_a_listing_is_what_its_command_prints(block: Block) -> None:
    """The first context of a newcomer, with the embedding model of the wheel."""
    assert block.text == printed_by(block), HOW


def test_readme_shows_its_first_command_in_both_languages() -> None:
    """The commands that README tells a newcomer to run end with the commands that its listings show."""
    assert len(BLOCKS) == 2
