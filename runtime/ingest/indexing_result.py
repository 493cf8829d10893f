"""What following the index came to: apart from the work itself, so that who only reads does not load that."""

from __future__ import annotations

from pydantic import BaseModel, Field

from novelgen.models.context import ReportIssue

INDEX_STAGE = "index"


class IndexingResult(BaseModel):
    """What was brought to the index, and what still waits."""

    indexed: int = Field(default=0, description="Memories stored in the index.")
    removed: int = Field(default=0, description="Memories asked to be removed from it.")
    embedded: int = Field(default=0, description="Texts that had to be embedded.")
    waiting: int = Field(default=0, description="Entries that are still to be done.")
    issues: list[ReportIssue] = Field(default_factory=list)

    def with_issue(self, message: str) -> IndexingResult:
        """Return the same result, saying also what is not as it should be although everything was stored."""
        issue = ReportIssue(stage=INDEX_STAGE, kind="degraded", message=message)
        return self.model_copy(update={"issues": [*self.issues, issue]})
