"""Long work over HTTP: progress, cancel, resume, and what a restart leaves of it."""

import json
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient
from pydantic import BaseModel

from novelgen.errors import DatabaseBusyError
from runtime.doors.http.app import build_app
from runtime.doors.http.jobs import Job, JobOrder, Jobs
from runtime.doors.http.problems import Refusal
from runtime.doors.http.settings import Limits
from runtime.ingest import indexing
from runtime.model_providers.offline_embeddings import HashedNgramEmbeddings
from runtime.story.projects import ProjectStores
from tests.runtime.doors.http.serving import PATIENT, await_job

BOOK = "\n\n".join(f"Chapter {n}\n\nThe weir was low on day {n}. Ada Penrose counted the stones." for n in range(1, 5))
WEIR = "/v1/projects/the-weir"


class Counted(BaseModel):
    """What a counting job comes to."""

    steps: int


class Counting:
    """Work in steps, each of which waits until it is let go."""

    def __init__(self, steps: int = 3) -> None:
        self.steps = steps
        self.begun = threading.Event()
        self.go = threading.Event()
        self.runs = 0

    def __call__(self, order: JobOrder) -> BaseModel:
        self.runs += 1
        self.begun.set()
        for done in range(1, self.steps + 1):
            assert self.go.wait(60)
            order.progress(done, self.steps)
        return Counted(steps=self.steps)


def ended(jobs: Jobs, job_id: str) -> Job:
    """Wait for the end of a job."""
    thread = next((each for each in threading.enumerate() if each.name == f"job-{job_id}"), None)
    if thread is not None:
        thread.join(60)
    return jobs.get(job_id)


def jobs_in(folder: Path, work: Callable[[JobOrder], BaseModel], **limits: Any) -> Jobs:
    """Return jobs of one kind, `count`."""
    jobs = Jobs(folder, limits=Limits(**limits))
    jobs.offer("count", work)
    jobs.load()
    return jobs


@pytest.mark.slow
def test_a_manuscript_comes_in_as_a_job(empty: TestClient) -> None:
    """A manuscript is answered at once with its job, whose events end with what it came to."""
    answer = empty.post(f"{WEIR}/manuscript", content=BOOK, headers={"Content-Type": "text/plain"})
    assert answer.status_code == 202
    job = await_job(empty, answer.json()["job_id"])
    assert answer.headers["location"] == f"/v1/jobs/{job['job_id']}"
    assert (job["state"], job["done"]) == ("done", job["total"])
    assert empty.get(WEIR).json()["scenes"] == 4
    found = empty.post(f"{WEIR}/search", json={"query": "stones of the weir"}).json()["memories"]
    assert found


@pytest.mark.parametrize(("content", "kind"), [(b"PK\x03\x04 no book", "application/epub+zip"), (b"", "text/plain")])
def test_a_manuscript_that_cannot_be_read_fails_its_job(empty: TestClient, content: bytes, kind: str) -> None:
    """A broken manuscript ends as a failed job with a problem, which names no path of the machine."""
    sent = empty.post(f"{WEIR}/manuscript", content=content, headers={"Content-Type": kind}).json()
    job = await_job(empty, sent["job_id"])
    assert job["state"] == "failed"
    assert job["problem"]["status"] == 422, job
    assert "/tmp" not in json.dumps(job["problem"])


def test_a_type_that_is_no_manuscript_is_refused(empty: TestClient) -> None:
    """What cannot be a manuscript is refused at once, with the types that can."""
    answer = empty.post(f"{WEIR}/manuscript", content=b"x", headers={"Content-Type": "image/png"})
    assert answer.status_code == 400
    assert "application/epub+zip" in answer.json()["detail"]
    assert empty.get("/v1/jobs").json()["jobs"] == []


class SlowEmbeddings(HashedNgramEmbeddings):
    """Embeds nothing until it is let go."""

    def __init__(self) -> None:
        super().__init__(64)
        self.begun = threading.Event()
        self.go = threading.Event()

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """Embed once let go."""
        self.begun.set()
        assert self.go.wait(60)
        return super().embed_documents(texts)


@pytest.mark.slow
def test_a_manuscript_is_cancelled_while_it_is_indexed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A job that is cancelled while it indexes ends after its step: its scenes are stored, the rest of the index
    waits, and resumed it stores nothing twice and indexes what waits."""
    monkeypatch.setattr(indexing, "ENTRIES_PER_STEP", 2)
    embeddings = SlowEmbeddings()
    stores = ProjectStores({"projects_dir": tmp_path, "memory": PATIENT}, embeddings=embeddings)
    with TestClient(build_app(stores), base_url="http://localhost") as client:
        sent = client.post(f"{WEIR}/manuscript", content=BOOK, headers={"Content-Type": "text/plain"}).json()
        assert embeddings.begun.wait(60)
        cancelling = client.delete(f"/v1/jobs/{sent['job_id']}").json()
        assert (cancelling["state"], cancelling["stage"]) == ("cancelling", "meaning")
        embeddings.go.set()
        job = await_job(client, sent["job_id"])
        assert job["state"] == "cancelled"
        assert (job["stage"], 0 < job["done"] < job["total"]) == ("meaning", True)
        assert client.get(WEIR).json()["scenes"] == 4
        client.post(f"/v1/jobs/{job['job_id']}/resume")
        job = await_job(client, sent["job_id"])
        assert (job["state"], job["stage"], job["done"]) == ("done", "meaning", job["total"])
        assert client.get(WEIR).json()["scenes"] == 4
        assert index_problems(client) == []


def index_problems(client: TestClient) -> list[str]:
    """Return what is wrong with the index of the book."""
    found = client.get(f"{WEIR}/doctor").json()["findings"]
    return [each["message"] for each in found if each["what"] == "vector index" and each["level"] not in ("ok", "hint")]


@pytest.mark.slow
def test_a_name_that_leads_elsewhere_is_refused(empty: TestClient, tmp_path: Path) -> None:
    """No project id of a manuscript makes a folder outside of the projects."""
    for name in ("..", "..%5Cx", "a%00b", "nul"):
        answer = empty.post(f"/v1/projects/{name}/manuscript", content=b"x", headers={"Content-Type": "text/plain"})
        assert answer.status_code in (400, 404), name
    assert {each.name for each in tmp_path.iterdir()} == {"projects"}


def test_a_cancelled_job_ends_at_its_step_and_goes_on_later(tmp_path: Path) -> None:
    """A job that is cancelled at work ends after its step; resumed, it runs to its end."""
    work = Counting()
    jobs = jobs_in(tmp_path, work)
    job = jobs.start("count", "p", {})
    assert work.begun.wait(60)
    assert jobs.cancel(job.job_id).state == "cancelling"
    work.go.set()
    cancelled = ended(jobs, job.job_id)
    assert (cancelled.state, cancelled.done) == ("cancelled", 1)
    jobs.resume(job.job_id)
    done = ended(jobs, job.job_id)
    assert (done.state, done.result, work.runs) == ("done", {"steps": 3}, 2)
    jobs.cancel(job.job_id)
    with pytest.raises(Refusal, match="no job"):
        jobs.get(job.job_id)


def test_jobs_of_one_project_run_one_after_the_other(tmp_path: Path) -> None:
    """Of one project one job runs at a time, of two projects two, and more wait than run."""
    work = Counting()
    jobs = jobs_in(tmp_path, work, jobs_at_once=2, jobs_waiting=1)
    first, second = jobs.start("count", "a", {}), jobs.start("count", "a", {})
    assert (jobs.get(first.job_id).state, jobs.get(second.job_id).state) == ("running", "waiting")
    with pytest.raises(Refusal) as refusal:
        jobs.start("count", "b", {})
    assert (refusal.value.status_code, "Retry-After" in (refusal.value.headers or {})) == (429, True)
    with pytest.raises(Refusal, match="cancel it first"):
        jobs.resume(first.job_id)
    assert jobs.cancel(second.job_id).state == "cancelled"
    work.go.set()
    assert ended(jobs, first.job_id).state == "done"
    assert jobs.get(second.job_id).state == "cancelled"


def test_a_job_whose_server_ends_is_interrupted_and_resumed_by_the_next(tmp_path: Path) -> None:
    """What runs when a server ends is interrupted, kept with its order, and resumed by the next server."""
    work = Counting()
    jobs = jobs_in(tmp_path, work)
    job = jobs.start("count", "p", {"chapter_index": 3}, source=("manuscript.txt", b"text"))
    assert work.begun.wait(60)
    jobs.stop()
    work.go.set()
    assert ended(jobs, job.job_id).state == "interrupted"

    other = jobs_in(tmp_path, Counting(steps=1))
    known = other.get(job.job_id)
    assert (known.state, known.arguments) == ("interrupted", {"chapter_index": 3})
    assert (tmp_path / job.job_id / "manuscript.txt").read_bytes() == b"text"


def test_a_job_of_a_killed_server_is_interrupted(tmp_path: Path) -> None:
    """A job that stands as running in the files of a server that is gone is interrupted, and can be resumed."""
    work = Counting(steps=1)
    jobs = jobs_in(tmp_path, work)
    job = jobs.start("count", "p", {})
    assert work.begun.wait(60)
    next_work = Counting(steps=1)
    next_work.go.set()
    other = jobs_in(tmp_path, next_work)
    assert other.get(job.job_id).state == "interrupted"
    # What stands for the killed server ends here: both have a thread of the job's name.
    work.go.set()
    ended(jobs, job.job_id)
    other.resume(job.job_id)
    assert ended(other, job.job_id).state == "done"


def test_a_failed_job_says_why(tmp_path: Path) -> None:
    """A failure of a store ends a job with its problem; a bug ends it, too, and tells nothing of the inside."""

    def busy(order: JobOrder) -> BaseModel:
        raise DatabaseBusyError(f"{str(tmp_path / 'p' / 'novel.db')!r} stayed locked; try later")

    def broken(order: JobOrder) -> BaseModel:
        raise RuntimeError("inside")

    jobs = jobs_in(tmp_path, busy)
    jobs.offer("break", broken)
    failed = ended(jobs, jobs.start("count", "p", {}).job_id)
    assert failed.problem is not None
    assert (failed.state, failed.problem.type) == ("failed", "urn:novelgen:database-busy")
    assert str(tmp_path) not in failed.problem.detail
    bug = ended(jobs, jobs.start("break", "p", {}).job_id)
    assert bug.problem is not None
    assert (bug.state, "inside" in bug.problem.detail) == ("failed", False)


def test_a_damaged_job_file_does_not_keep_a_server_from_starting(tmp_path: Path) -> None:
    """A job whose file is torn is passed over; the others are there."""
    jobs = jobs_in(tmp_path, Counting(steps=0))
    job = ended(jobs, jobs.start("count", "p", {}).job_id)
    (tmp_path / "torn").mkdir()
    (tmp_path / "torn" / "job.json").write_text('{"job_id": "to')
    assert [each.job_id for each in jobs_in(tmp_path, Counting()).list()] == [job.job_id]
