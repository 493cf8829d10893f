"""What a check-up finds."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, Field

Level = Literal["ok", "hint", "degraded", "broken"]


class Finding(BaseModel):
    """One thing that was looked at.

    `ok` works, `hint` may be wanted otherwise, `degraded` costs something, `broken` keeps from working.
    """

    level: Level
    what: str
    message: str
    fix: str = ""


class Diagnosis(BaseModel):
    """Everything that was looked at, in the order in which it was."""

    versions: dict[str, str] = Field(default_factory=dict)
    settings: dict[str, Any] = Field(default_factory=dict)
    repairs: list[Finding] = Field(default_factory=list, description="What was repaired before the look.")
    counts: dict[str, int] = Field(default_factory=dict, description="Of the project; empty without one.")
    findings: list[Finding] = Field(default_factory=list)

    @property
    def is_broken(self) -> bool:
        """Whether something keeps the program from working."""
        return any(finding.level == "broken" for finding in [*self.repairs, *self.findings])
