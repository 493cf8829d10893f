"""Random faults for the soak: what breaks under a running program, and how it is mended again."""

import contextlib
import json
import logging
import os
import random
import signal
import sqlite3
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Protocol

from langchain_core.callbacks import CallbackManagerForLLMRun
from langchain_core.embeddings import Embeddings
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from pydantic import ConfigDict

from runtime.files.paths import ProjectPaths
from runtime.index.embeddings import CheckedEmbeddings
from runtime.index.offline_embeddings import HashedNgramEmbeddings
from runtime.settings import NovelgenSettings
from runtime.stores import MemoryStores
from tests.benchmarks.samples import children_of
from tests.runtime.index.conftest import ServerProcess
from tests.support.openai_stub import StubCall

logger = logging.getLogger(__name__)

DIMENSION = 256
PAUSE_S = (3.0, 9.0)
DAMAGED_BYTES = 4096
REPAIR_ATTEMPTS = 4
ANSWER = json.dumps({"entities": ["C1"], "queries": [{"query": "who hid the ring", "entities": ["C1"]}]})
"""Of every model that plans."""


class Refused(Exception):
    """A call was refused, as it may be under faults; its message is the kind.

    Args:
        kind: What was told.
        may_come_late: Whether it may still be done after later calls.
        retry_after_s: When to try again.
    """

    def __init__(self, kind: str, *, may_come_late: bool = False, retry_after_s: float = 0.0) -> None:
        super().__init__(kind)
        self.may_come_late = may_come_late
        self.retry_after_s = retry_after_s


class Harmed(Protocol):
    """What can be harmed: a process, and its index, which can be repaired."""

    pid: int

    def repair(self, project_id: str) -> bool:
        """Repair a project's index as an operator would; whether it was rebuilt. Raises Refused."""


class Outages:
    """Which providers fail at the moment, by the time at which they work again."""

    def __init__(self) -> None:
        self._until_s: dict[str, float] = {}

    def begin(self, what: str, *, lasting_s: float) -> None:
        """Let a provider fail for a while."""
        self._until_s[what] = time.monotonic() + lasting_s

    def end_all(self) -> None:
        """Let everything work again."""
        self._until_s.clear()

    def raise_if_out(self, what: str) -> None:
        """Fail like a provider that cannot be reached, during its outage."""
        if time.monotonic() < self._until_s.get(what, 0.0):
            raise ConnectionError(f"the {what} are out of order")


class FlakyEmbeddings(Embeddings):
    """Hashed embeddings with outages."""

    def __init__(self, outages: Outages) -> None:
        self._outages = outages
        self._inner = HashedNgramEmbeddings(DIMENSION)

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """Embed texts, or fail."""
        self._outages.raise_if_out("embeddings")
        return self._inner.embed_documents(texts)

    def embed_query(self, text: str) -> list[float]:
        """Embed a query, or fail."""
        return self.embed_documents([text])[0]


class FlakyChatModel(BaseChatModel):
    """Gives the same plan every time, with outages."""

    model_config = ConfigDict(arbitrary_types_allowed=True)

    outages: Outages

    @property
    def _llm_type(self) -> str:
        return "flaky"

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        self.outages.raise_if_out("models")
        message = AIMessage(ANSWER, response_metadata={"finish_reason": "stop"})
        return ChatResult(generations=[ChatGeneration(message=message)])


class FlakyStores(MemoryStores):
    """Stores whose embedding model has outages."""

    def __init__(self, settings: NovelgenSettings, outages: Outages) -> None:
        super().__init__(settings)
        self._flaky = CheckedEmbeddings(FlakyEmbeddings(outages), model_name=f"fake:{DIMENSION}", dimension=DIMENSION)

    @property
    def embeddings(self) -> CheckedEmbeddings:
        """The embedding model with outages."""
        return self._flaky


def answering(outages: Outages) -> Callable[[StubCall], None]:
    """Return how an OpenAI-compatible server answers for embeddings and models that have outages."""
    embeddings = HashedNgramEmbeddings(DIMENSION)

    def answer(call: StubCall) -> None:
        texts = call.payload.get("input")
        try:
            outages.raise_if_out("models" if texts is None else "embeddings")
        except ConnectionError as error:
            call.refuse(503, str(error))
            return
        if texts is None:
            call.say(ANSWER)
        else:
            call.embed(embeddings.embed_documents(texts))

    return answer


class Faults(threading.Thread):
    """Does harm at random until told to stop, one thing at a time, and mends damaged indexes as an operator would.

    Args:
        subject: What the clients work on.
        settings: Of its stores: where their files lie.
        project_ids: Projects that may be harmed.
        outages: Switches of the providers.
        stop: Ends it.
        seed: Of what happens when.
        chroma: The server of the index, where there is one.
    """

    def __init__(
        self,
        subject: Harmed,
        settings: NovelgenSettings,
        project_ids: Sequence[str],
        outages: Outages,
        *,
        stop: threading.Event,
        seed: int,
        chroma: ServerProcess | None = None,
    ) -> None:
        super().__init__(name="soak-faults")
        self.done: Counter[str] = Counter()
        self._subject = subject
        self._settings = settings
        self._project_ids = project_ids
        self._outages = outages
        self._stopped = stop
        self._dice = random.Random(f"{seed}/faults")
        self._kinds: dict[str, tuple[Callable[[], bool], float]] = {
            "index killed": (self._kill, 3),
            "index frozen": (self._freeze, 3),
            "index files damaged": (self._damage, 1.5),
            "database locked": (self._lock_database, 2),
            "embeddings out": (lambda: self._out("embeddings"), 2),
            "model out": (lambda: self._out("models"), 2),
        }
        if chroma is not None:
            self._kinds["index server killed"] = (lambda: self._kill_server(chroma), 2)
            self._kinds["index server frozen"] = (lambda: self._freeze_server(chroma), 2)

    def run(self) -> None:
        """Do harm until stopped."""
        while not self._stopped.wait(self._dice.uniform(*PAUSE_S)):
            name = self._dice.choices(list(self._kinds), weights=[each[1] for each in self._kinds.values()])[0]
            if self._kinds[name][0]():
                self.done[name] += 1

    def _kill(self) -> bool:
        return self._signal_some(signal.SIGKILL) is not None

    def _freeze(self) -> bool:
        pid = self._signal_some(signal.SIGSTOP)
        if pid is None:
            return False
        self._stopped.wait(self._dice.uniform(0.2, 7.0))
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGCONT)
        return True

    def _kill_server(self, chroma: ServerProcess) -> bool:
        chroma.kill()
        self._stopped.wait(self._dice.uniform(0.2, 4.0))
        chroma.start()
        return True

    def _freeze_server(self, chroma: ServerProcess) -> bool:
        chroma.freeze()
        self._stopped.wait(self._dice.uniform(0.2, 7.0))
        chroma.thaw()
        return True

    def _signal_some(self, number: signal.Signals) -> int | None:
        pids = [pid for pid in children_of(self._subject.pid) if _is_index(pid)]
        if not pids:
            return None
        pid = self._dice.choice(pids)
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, number)
        return pid

    def _damage(self) -> bool:
        project_id = self._dice.choice(self._project_ids)
        folder = ProjectPaths(self._settings.projects_dir, project_id).vectors
        files = sorted(file for file in folder.rglob("*") if file.is_file() and file.stat().st_size)
        if not files:
            return False
        _overwrite(self._dice.choice(files), self._dice)
        self._stopped.wait(self._dice.uniform(2.0, 8.0))
        self._repair(project_id)
        return True

    def _repair(self, project_id: str) -> None:
        for _ in range(REPAIR_ATTEMPTS):
            try:
                is_rebuilt = self._subject.repair(project_id)
            except Refused as error:
                logger.warning("repair of %r failed: %s", project_id, error)
                self.done["repair failed, tried again"] += 1
            else:
                self.done["repairs"] += 1
                self.done["rebuilt"] += is_rebuilt
                return

    def _lock_database(self) -> bool:
        if self._settings.database_url is not None:
            return False
        file = ProjectPaths(self._settings.projects_dir, self._dice.choice(self._project_ids)).database
        with contextlib.closing(sqlite3.connect(file, timeout=5, isolation_level=None)) as other:
            try:
                other.execute("BEGIN EXCLUSIVE")
            except sqlite3.OperationalError:
                return False
            self._stopped.wait(1.0)
            other.execute("ROLLBACK")
        return True

    def _out(self, what: str) -> bool:
        self._outages.begin(what, lasting_s=self._dice.uniform(1.0, 6.0))
        return True


def _is_index(pid: int) -> bool:
    with contextlib.suppress(OSError):
        return b"runtime.index.worker" in Path(f"/proc/{pid}/cmdline").read_bytes()
    return False


def _overwrite(file: Path, dice: random.Random) -> None:
    with contextlib.suppress(OSError), file.open("r+b") as stream:
        stream.seek(dice.randrange(max(1, file.stat().st_size)))
        stream.write(dice.randbytes(DAMAGED_BYTES))
