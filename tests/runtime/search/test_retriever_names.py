"""Words for the names of retrievers."""

from pathlib import Path

import pytest

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
