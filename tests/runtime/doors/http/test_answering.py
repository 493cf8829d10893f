"""Answers tell nothing of where things lie on the machine, and leave the story's own words alone."""

from pydantic import BaseModel

from novelgen.models.context import ReportIssue
from runtime.care.checks import Finding
from runtime.doors.http.problems import told

LOST = "cannot open '/srv/books/demo/vectors/chroma.sqlite3'; run doctor"


class Answered(BaseModel):
    """An answer as routes give them."""

    text: str
    issues: list[ReportIssue]
    findings: dict[str, Finding]
    warnings: list[str]


def test_messages_tell_no_paths_and_texts_stay() -> None:
    """Issues, findings and warnings keep of a path its last part; what a story says of a path stays word for word."""
    answer = Answered(
        text="She typed /etc/hosts/allow and waited.",
        issues=[ReportIssue(stage="index", kind="unavailable", message=LOST)],
        findings={"index": Finding(level="broken", what="index", message=LOST, fix=LOST)},
        warnings=[LOST, "all is well"],
    )
    said = told(answer)
    clean = "cannot open '…/chroma.sqlite3'; run doctor"
    assert said.text == answer.text
    assert said.issues[0].message == clean
    assert (said.findings["index"].message, said.findings["index"].fix) == (clean, clean)
    assert said.warnings == [clean, "all is well"]
    assert answer.issues[0].message == LOST


def test_an_answer_without_messages_is_given_as_it_is() -> None:
    """Where there is nothing to leave out, nothing is copied."""
    issue = ReportIssue(stage="index", kind="stale", message="3 memories wait")
    assert told(issue) is issue
    assert told("/srv/books/demo") == "/srv/books/demo"
