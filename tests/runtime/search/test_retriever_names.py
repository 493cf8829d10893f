"""Words for the names of retrievers."""

from pathlib import Path

import pytest

from novelgen.words import words
from runtime.doors.cli.labels import ViewLabels
from runtime.page.frame import CATALOGUES
from runtime.search.search import RETRIEVERS

REPOSITORY = Path(__file__).parents[3]


@pytest.mark.parametrize("retriever", RETRIEVERS)
def test_a_retriever_has_words_wherever_people_meet_it(retriever: str) -> None:
    """Both catalogues of each language and the glossary name it."""
    for language in ("en", "zh"):
        labels = ViewLabels(language)
        assert (word := labels.get(f"retriever.{retriever}")), f"[retriever] of commands.{language}.toml"
        assert (labels.stage(f"retriever_{retriever}"), labels.reason(f"{retriever} 3")) == (word, f"{word} 3")
        assert CATALOGUES[language].get(f"retriever_{retriever}"), f"runtime/page/words.{language}.toml"
    assert f"(`{retriever}`)" in (REPOSITORY / "docs/glossary.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_retriever_and_a_part_of_the_score_share_no_name(language: str) -> None:
    """Both are told in one sentence, in which a name has one word."""
    catalogue = words("commands", language)
    assert catalogue.table("reason").keys() & catalogue.table("retriever").keys() == set()
