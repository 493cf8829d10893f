"""Pages are written in short sentences, as measured over their prose."""

import re
from itertools import chain
from statistics import mean

import pytest

from tests.docs.pages import PAGES, text_of

MAX_MEAN_WORDS = 20
LONG_WORDS = 35
MAX_LONG_SHARE = 0.13
MAX_SEMICOLON_SHARE = 0.33
MAX_MEAN_WORDS_OF_ALL = 17

ENGLISH = [page for page in PAGES if not page.startswith("docs/research/") and ".zh." not in page]
_CODE = re.compile(r"```.*?```", re.DOTALL)
_NO_PROSE = ("|", "#", "<!--", "![")


def sentences_of(page: str) -> list[str]:
    """Return the sentences of the paragraphs and list items of a page."""
    sentences = []
    for block in re.split(r"\n\s*\n|\n(?=- |\d+\. )", _CODE.sub("", text_of(page))):
        prose = re.sub(r"\]\([^)]*\)", "]", re.sub(r"`[^`]*`", "x", block.strip())).replace("\n", " ")
        if prose and not prose.startswith(_NO_PROSE):
            sentences += re.split(r"(?<=[.?!:])\s+(?=[A-Z*\[])", prose)
    return [sentence for sentence in sentences if len(sentence.split()) > 2]


SENTENCES = {page: sentences for page in ENGLISH if len(sentences := sentences_of(page)) >= 5}


@pytest.mark.parametrize("page", SENTENCES)
def test_sentences_of_a_page_are_short(page: str) -> None:
    """Few words, few long sentences, and few that are two sentences joined by a semicolon."""
    words = [len(sentence.split()) for sentence in SENTENCES[page]]
    assert mean(words) <= MAX_MEAN_WORDS
    assert mean(count > LONG_WORDS for count in words) <= MAX_LONG_SHARE
    assert mean(";" in sentence for sentence in SENTENCES[page]) <= MAX_SEMICOLON_SHARE


def test_sentences_of_all_pages_are_short() -> None:
    """Of all pages together the mean is that of plain technical English."""
    assert mean(len(sentence.split()) for sentence in chain(*SENTENCES.values())) <= MAX_MEAN_WORDS_OF_ALL
