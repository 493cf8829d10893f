"""Every finding of the doctor has its words in Chinese."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import runtime.care.checks as checks
from novelgen.language.language import has_cjk
from runtime.care.wording import CHINESE
from runtime.stores import MemoryStores
from runtime.story.diagnosis import diagnose

KIND = re.compile(r'kind="(\w+)"(?: if .*? else "(\w+)")?')
ROOM = Path(checks.__file__).parent


def test_every_kind_has_its_words() -> None:
    """Whatever a check finds is told in Chinese, and no words are kept for what nobody finds."""
    files = [
        *(ROOM / f"{name}.py" for name in ("checks", "context_files", "repair")),
        ROOM.parent / "story" / "diagnosis.py",
    ]
    named = {kind for file in files for found in KIND.findall(file.read_text("utf-8")) for kind in found if kind}
    assert named == set(CHINESE)


@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_diagnosis_is_told_in_the_language_that_is_asked_for(demo_stores: MemoryStores, language: str) -> None:
    """All findings on a demo are in one language; levels and kinds are the same."""
    diagnosis = diagnose(demo_stores, "demo", repair=True, ask_network=False, language=language)  # type: ignore[arg-type]
    for finding in (*diagnosis.findings, *diagnosis.repairs):
        told = f"{finding.what} {finding.message} {finding.fix}"
        assert has_cjk(told) == (language == "zh"), told
        assert finding.kind in CHINESE
