"""Every finding of the doctor has its words."""

import re
from pathlib import Path

import pytest

import runtime.care.checks as checks
from novelgen.language.language import has_cjk
from novelgen.words import words
from runtime.stores import MemoryStores
from runtime.story.condition import diagnose

KINDS = {key.partition(".")[0] for key in words("doctor", "en")}
ROOM = Path(checks.__file__).parent


def test_every_kind_has_its_words() -> None:
    """No words are kept for what nobody finds; a kind without words could not be found at all."""
    code = "".join(file.read_text("utf-8") for file in (ROOM / "checks.py", ROOM.parent / "story" / "condition.py"))
    assert {kind for kind in KINDS if f'"{kind}"' in code} == KINDS
    assert set(re.findall(r'found\("\w+", "(\w+)"', code)) <= KINDS


@pytest.mark.slow
@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_diagnosis_is_told_in_the_language_that_is_asked_for(demo_stores: MemoryStores, language: str) -> None:
    """All findings on a demo are in one language; levels and kinds are the same."""
    diagnosis = diagnose(demo_stores, "demo", repair=True, ask_network=False, language=language)  # type: ignore[arg-type]
    for finding in (*diagnosis.findings, *diagnosis.repairs):
        told = f"{finding.what} {finding.message} {finding.fix}"
        assert has_cjk(told) == (language == "zh"), told
        assert finding.kind in KINDS
