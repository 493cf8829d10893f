"""Long work: jobs with progress, which can be cancelled, and resumed after a cancel, a failure or a restart.

What a job stores it stores scene by scene, and what is stored already is left alone when it runs again; so to resume a
job is to run it again. Its order and its manuscript are kept in a folder beside the projects until it is forgotten.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import shutil
import threading
import uuid
from collections import deque
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, Field, ValidationError

from novelgen.deadlines import Deadline
from novelgen.errors import NovelgenError, UserInputError
from runtime.doors.answers import told
from runtime.doors.http.problems import Problem, Refusal, problem_of
from runtime.doors.http.settings import Limits
from runtime.files.paths import write_text_atomically

logger = logging.getLogger(__name__)

JobState = Literal["waiting", "running", "cancelling", "cancelled", "done", "failed", "interrupted"]
"""interrupted: the server ended before the job did."""

JobStage = Literal["", "text", "meaning"]

OVER: frozenset[JobState] = frozenset({"cancelled", "done", "failed", "interrupted"})

MAX_KEPT_JOBS = 200
"""Jobs that are over; of the oldest nothing is kept."""

_EVENT_INTERVAL_S = 0.2


class Job(BaseModel):
    """Long work, and how far it is."""

    job_id: str = Field(examples=["4f0c2d6e9b1a4c57"])
    kind: str = Field(
        description="ingest, manuscript or extract; of a draft on the page check or repair.", examples=["ingest"]
    )
    project_id: str
    arguments: dict[str, Any] = Field(default_factory=dict, description="As they were asked for.")
    state: JobState = "waiting"
    done: int = Field(default=0, description="Steps that are done: scenes, or characters of a manuscript.")
    total: int = Field(default=0, description="Steps in all; 0 where that is not known yet.")
    stage: JobStage = Field(
        default="",
        description="Which steps are counted: `text` is stored, then indexed by `meaning`; empty where a job has one "
        "stage only.",
    )
    created_at: datetime
    ended_at: datetime | None = None
    result: Any = Field(default=None, description="What it came to, once it is done.")
    problem: Problem | None = Field(default=None, description="Why it failed.")


class JobCancelled(Exception):
    """Ends the work of a job at the border of two steps."""


@dataclass(frozen=True)
class JobOrder:
    """The inputs of a job.

    `tell` raises JobCancelled once the job must end.
    """

    job: Job
    folder: Path
    tell: Callable[[JobStage, int, int], None]

    def progress(self, done: int, total: int) -> None:
        """Tell of a step of a job that has one stage."""
        self.tell("", done, total)

    def progress_of(self, stage: JobStage) -> Callable[[int, int], None]:
        """Return a reporter of a stage's steps."""
        return partial(self.tell, stage)


Work = Callable[[JobOrder], BaseModel]


class Jobs:
    """Runs jobs, so many at once and of one project one after the other."""

    def __init__(
        self,
        folder: Path,
        *,
        limits: Limits,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
        secret_folders: tuple[Path, ...] = (),
    ) -> None:
        self._folder = folder
        self._limits = limits
        self._clock = clock
        self._secret_folders = secret_folders
        self._work: dict[str, Work] = {}
        self._jobs: dict[str, Job] = {}
        self._waiting: deque[str] = deque()
        self._running: dict[str, threading.Thread] = {}
        self._lock = threading.RLock()
        self._is_closing = False

    def offer(self, kind: str, work: Work) -> None:
        """Say how a kind of job is done."""
        self._work[kind] = work

    def load(self) -> None:
        """Load an earlier server's jobs, marking unfinished ones as interrupted."""
        if not self._folder.is_dir():
            return
        for file in sorted(self._folder.glob("*/job.json")):
            try:
                job = Job.model_validate_json(file.read_text(encoding="utf-8"))
            except (OSError, ValidationError) as error:
                logger.warning("a job cannot be read and is passed over: %s", error)
                continue
            if job.state not in OVER:
                job = job.model_copy(update={"state": "interrupted", "ended_at": self._clock()})
            self._jobs[job.job_id] = job

    def start(
        self, kind: str, project_id: str, arguments: dict[str, Any], *, source: tuple[str, bytes | Path] | None = None
    ) -> Job:
        """Put a job in the queue."""
        self.require_room()
        job = Job(
            job_id=uuid.uuid4().hex[:16],
            kind=kind,
            project_id=project_id,
            arguments=arguments,
            created_at=self._clock(),
        )
        if source is not None:
            name, content = source
            folder = self._folder / job.job_id
            folder.mkdir(parents=True, exist_ok=True)
            if isinstance(content, Path):
                shutil.move(content, folder / name)
            else:
                (folder / name).write_bytes(content)
        with self._lock:
            self._jobs[job.job_id] = job
            self._waiting.append(job.job_id)
            self._forget_old()
        self._write(job)
        self._run_next()
        return self.get(job.job_id)

    def resume(self, job_id: str) -> Job:
        """Run a finished job again, keeping its stored results."""
        with self._lock:
            job = self._require(job_id)
            if job.state not in OVER:
                raise Refusal(409, "job-not-over", f"job {job_id!r} is {job.state}; cancel it first, or let it end")
            self.require_room()
            job = self._set(
                job_id, state="waiting", done=0, total=0, stage="", ended_at=None, result=None, problem=None
            )
            self._waiting.append(job_id)
        self._write(job)
        self._run_next()
        return self.get(job_id)

    def cancel(self, job_id: str) -> Job:
        """Stop a job after its present step, or forget a finished one."""
        with self._lock:
            job = self._require(job_id)
            if job.state == "waiting":
                self._waiting.remove(job_id)
                job = self._set(job_id, state="cancelled", ended_at=self._clock())
            elif job.state == "running":
                job = self._set(job_id, state="cancelling")
            elif job.state in OVER:
                del self._jobs[job_id]
                shutil.rmtree(self._folder / job_id, ignore_errors=True)
                return job
        self._write(job)
        return job

    def get(self, job_id: str) -> Job:
        """Return a job."""
        with self._lock:
            return self._require(job_id)

    def source(self, job_id: str, name: str) -> bytes:
        """Return a job's input."""
        with self._lock:
            self._require(job_id)
        try:
            return (self._folder / job_id / name).read_bytes()
        except OSError as error:
            raise Refusal(
                404, "unknown-job", f"what job {job_id!r} was started with is gone; start it again"
            ) from error

    def list(self, project_id: str | None = None) -> list[Job]:
        """Return the jobs, the latest first."""
        with self._lock:
            jobs = [job for job in self._jobs.values() if project_id in (None, job.project_id)]
        return sorted(jobs, key=lambda job: job.created_at, reverse=True)

    def require_idle(self, project_id: str) -> None:
        """Reject changes that would disturb a project's job."""
        at_work = next((job for job in self.list(project_id) if job.state not in OVER), None)
        if at_work is not None:
            raise Refusal(
                409,
                "still-at-work",
                f"job {at_work.job_id!r} of project {project_id!r} is {at_work.state}; cancel it, or let it end",
            )

    def forget_project(self, project_id: str) -> None:
        """Forget the jobs of a project that are over, with their manuscripts."""
        with self._lock:
            for job in self.list(project_id):
                if job.state in OVER:
                    del self._jobs[job.job_id]
                    shutil.rmtree(self._folder / job.job_id, ignore_errors=True)

    async def follow(self, job_id: str) -> AsyncIterator[Job]:
        """Yield a job whenever it has changed, until it is over or the server ends."""
        last: Job | None = None
        while True:
            job = self.get(job_id)
            if job != last:
                yield job
                last = job
            if job.state in OVER or self._is_closing:
                return
            await asyncio.sleep(_EVENT_INTERVAL_S)

    def stop(self) -> None:
        """Start no job any more, and let those that run end after the step at which they are."""
        with self._lock:
            self._is_closing = True

    def close(self, *, timeout_s: float = 0.5) -> None:
        """Stop, and wait briefly for running jobs, which can be resumed later."""
        self.stop()
        with self._lock:
            running = list(self._running.values())
        deadline = Deadline.after(timeout_s)
        for thread in running:
            thread.join(deadline.remaining_s)

    def _run_next(self) -> None:
        with self._lock:
            busy = {self._jobs[entity_id].project_id for entity_id in self._running if entity_id in self._jobs}
            for job_id in list(self._waiting):
                job = self._jobs[job_id]
                if self._is_closing or len(self._running) >= self._limits.jobs_at_once:
                    return
                if job.project_id in busy:
                    continue
                busy.add(job.project_id)
                self._waiting.remove(job_id)
                self._set(job_id, state="running")
                # No executor: at the end of the program Python would wait for its threads, whatever they do.
                thread = threading.Thread(target=self._run, args=(job_id,), name=f"job-{job_id}", daemon=True)
                self._running[job_id] = thread
                thread.start()

    def _run(self, job_id: str) -> None:
        def tell(stage: JobStage, done: int, total: int) -> None:
            with self._lock:
                job = self._set(job_id, stage=stage, done=done, total=total)
            if job.state == "cancelling" or self._is_closing:
                raise JobCancelled

        try:
            job = self.get(job_id)
            self._write(job)
            result = self._work[job.kind](JobOrder(job, self._folder / job_id, tell))
            job_fields: dict[str, Any] = {
                "state": "done",
                "result": json.loads(told(result, folders=self._secret_folders).model_dump_json()),
            }
        except JobCancelled:
            job_fields = {"state": "interrupted" if self._is_closing else "cancelled"}
        except NovelgenError as error:
            job_fields = {"state": "failed", "problem": problem_of(error, folders=self._secret_folders)}
        except Exception:
            # The border of the thread: whoever waits for the job must hear that it ended.
            logger.exception("job %s failed", job_id)
            bug = Refusal(500, "bug", "a bug in novelgen; the server's log has more under the job's id")
            job_fields = {"state": "failed", "problem": bug.problem}
        with self._lock:
            self._running.pop(job_id, None)
            job = self._set(job_id, ended_at=self._clock(), **job_fields)
        self._write(job)
        self._run_next()

    def _require(self, job_id: str) -> Job:
        job = self._jobs.get(job_id)
        if job is None:
            raise Refusal(404, "unknown-job", f"no job {job_id!r}; GET /v1/jobs lists them")
        return job

    def require_room(self) -> None:
        """Refuse a job for which there is no room."""
        with self._lock:
            if len(self._waiting) >= self._limits.jobs_waiting:
                raise Refusal(
                    429,
                    "too-many-jobs",
                    f"{len(self._waiting)} jobs wait already; try later",
                    headers={"Retry-After": "30"},
                )

    def _set(self, job_id: str, **changes: Any) -> Job:
        """Change a job under the caller's lock."""
        job = self._require(job_id).model_copy(update=changes)
        self._jobs[job_id] = job
        return job

    def _forget_old(self) -> None:
        over = sorted((job for job in self._jobs.values() if job.state in OVER), key=lambda job: job.created_at)
        for job in over[: max(0, len(self._jobs) - MAX_KEPT_JOBS)]:
            del self._jobs[job.job_id]
            shutil.rmtree(self._folder / job.job_id, ignore_errors=True)

    def _write(self, job: Job) -> None:
        """Persist a job for a later server, ignoring failures."""
        with contextlib.suppress(OSError):
            (self._folder / job.job_id).mkdir(parents=True, exist_ok=True)
        try:
            write_text_atomically(
                self._folder / job.job_id / "job.json", job.model_dump_json(indent=2) + "\n", root=self._folder
            )
        except NovelgenError as error:
            logger.warning("job %s cannot be kept: %s", job.job_id, error)


MANUSCRIPT_TYPES = {
    "text/plain": ".txt",
    "text/markdown": ".md",
    "application/epub+zip": ".epub",
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document": ".docx",
    "application/zip": ".zip",
}
"""Type of an uploaded manuscript to the ending of its file: names never come from outside."""


def manuscript_file(content_type: str) -> str:
    """Return the name under which a job keeps a manuscript."""
    suffix = MANUSCRIPT_TYPES.get(content_type.partition(";")[0].strip().lower())
    if suffix is None:
        raise UserInputError(
            f"a manuscript cannot be {content_type!r}; send one of {', '.join(MANUSCRIPT_TYPES)} as Content-Type"
        )
    return f"manuscript{suffix}"
