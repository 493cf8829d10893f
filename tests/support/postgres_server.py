"""A PostgreSQL server of the test's own, to be killed and frozen; needs Debian's packages."""

import contextlib
import os
import shutil
import signal
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path


def _find_program(name: str, programs: Path | None = None) -> str | None:
    if programs is not None:
        return str(programs / name) if (programs / name).exists() else None
    installed = sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{name}"))
    return str(installed[-1]) if installed else shutil.which(name)


def why_there_is_no_server(programs: Path | None = None) -> str | None:
    """Return why no server can be started here, or None where one can; of another installation where it is named."""
    if _find_program("initdb", programs) is None or _find_program("postgres", programs) is None:
        return "PostgreSQL NOT TESTED: its server programs are not installed (apt-get install postgresql)"
    if os.geteuid() == 0 and subprocess.run(["id", "postgres"], capture_output=True).returncode != 0:
        return "PostgreSQL NOT TESTED: the server does not run as root, and there is no user postgres"
    return None


class PostgresServer:
    """A cluster on a free port of loopback."""

    def __init__(self, folder: Path, programs: Path | None = None) -> None:
        self._programs = programs
        self._data = folder / "cluster"
        self._log = folder / "server.log"
        with contextlib.closing(socket.socket()) as probe:
            probe.bind(("127.0.0.1", 0))
            self.port: int = probe.getsockname()[1]
        self._process: subprocess.Popen[bytes] | None = None
        self._run("initdb", "-D", str(self._data), "-U", "postgres", "-A", "trust", "-E", "UTF8", "--no-sync")

    def url(self, port: int | None = None) -> str:
        """Return the URL of the server, or of something that stands before it on another port."""
        return f"postgresql+psycopg://postgres@127.0.0.1:{port or self.port}/postgres"

    def start(self) -> None:
        """Start the server and wait until it answers, after a crash as well."""
        options = {"port": self.port, "listen_addresses": "127.0.0.1", "unix_socket_directories": "", "fsync": "off"}
        command = [*_as_its_user(), self._program("postgres"), "-D", str(self._data)]
        for name, value in options.items():
            command += ["-c", f"{name}={value}"]
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(
                command, stdout=log, stderr=log, cwd=self._data.parent, start_new_session=True
            )
        ready = [self._program("pg_isready"), "-h", "127.0.0.1", "-p", str(self.port), "-t", "60", "-q"]
        for _ in range(600):
            if subprocess.run(ready).returncode == 0:
                return
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(0.1)
        raise RuntimeError(self._log.read_text(encoding="utf-8", errors="replace"))

    def kill(self) -> None:
        """End the server and all its processes with SIGKILL."""
        if self._process is not None:
            self._signal(signal.SIGKILL)
            self._process.wait()
            self._process = None

    def freeze(self) -> None:
        """Stop all its processes where they are."""
        self._signal(signal.SIGSTOP)

    def thaw(self) -> None:
        """Let them go on."""
        self._signal(signal.SIGCONT)

    def _signal(self, number: signal.Signals) -> None:
        assert self._process is not None
        for pid in _family_of(self._process.pid):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, number)

    def _run(self, program: str, *arguments: str) -> None:
        command = [*_as_its_user(), self._program(program), *arguments]
        finished = subprocess.run(command, capture_output=True, text=True, cwd=self._data.parent)
        if finished.returncode != 0:
            raise RuntimeError(finished.stderr)

    def _program(self, name: str) -> str:
        found = _find_program(name, self._programs)
        assert found is not None
        return found


@contextlib.contextmanager
def postgres_server(programs: Path | None = None) -> Iterator[PostgresServer]:
    """Make a cluster, start it, and remove all of it at the end."""
    folder = Path(tempfile.mkdtemp(prefix="novelgen-postgres-", dir="/tmp"))
    if os.geteuid() == 0:
        shutil.chown(folder, "postgres")
    try:
        server = PostgresServer(folder, programs)
        server.start()
        try:
            yield server
        finally:
            server.kill()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _family_of(pid: int) -> list[int]:
    """Return a process and its children: the server's backends leave its group."""
    children = Path(f"/proc/{pid}/task/{pid}/children")
    found = children.read_text(encoding="ascii").split() if children.exists() else []
    return [pid, *(int(child) for child in found)]


def _as_its_user() -> list[str]:
    return ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"] if os.geteuid() == 0 else []
