"""Checks that need no project."""

from __future__ import annotations

import pytest

from runtime.diagnosis.findings import Diagnosis, Finding
from runtime.diagnosis.machine import check_chat_model, check_sqlite, versions
from runtime.diagnosis.project import check_extraction
from runtime.settings import NovelgenSettings


@pytest.mark.parametrize(
    ("version", "url", "level"),
    [
        ((3, 40, 1), None, "hint"),
        ((3, 51, 2), "sqlite:///x.db", "hint"),
        ((3, 51, 3), None, "ok"),
        ((4, 0, 0), None, "ok"),
        ((3, 40, 1), "postgresql+psycopg://localhost/x", "ok"),
    ],
)
def test_sqlite_before_its_fix_is_pointed_out(version: tuple[int, ...], url: str | None, level: str) -> None:
    """The WAL-reset error is named for the versions that have it, where SQLite is used at all."""
    finding = check_sqlite(NovelgenSettings(database_url=url), version=version)
    assert finding.level == level
    assert ("WAL-reset" in finding.message) == (level == "hint")


def test_versions_name_what_is_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    """A package that is not there is listed as such."""
    monkeypatch.setattr("runtime.diagnosis.machine._PACKAGES", ("click", "no-such-package"))
    found = versions()
    assert found["no-such-package"] == "not installed"
    assert found["click"][0].isdigit()


def test_a_chat_model_without_a_key_is_degraded(monkeypatch: pytest.MonkeyPatch) -> None:
    """A model that cannot be built is named with the settings to correct."""
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    finding = check_chat_model(NovelgenSettings(model="openai:gpt-4.1-mini"))
    assert finding.level == "degraded"
    assert "NOVELGEN_MODEL_API_KEY" in finding.fix


@pytest.mark.parametrize(("failed", "is_told"), [(0, False), (2, True)])
def test_failed_extractions_are_told(failed: int, is_told: bool) -> None:
    """Scenes that are stored without their facts are never passed over."""
    finding = check_extraction({"scenes whose extraction failed": failed})
    assert (finding is not None) == is_told


@pytest.mark.parametrize(("level", "is_broken"), [("degraded", False), ("broken", True)])
def test_a_diagnosis_is_broken_by_what_is_broken(level: str, is_broken: bool) -> None:
    """Degraded things work; one broken thing is enough."""
    finding = Finding.model_validate({"level": level, "what": "database", "message": ""})
    assert Diagnosis(findings=[finding]).is_broken == is_broken
