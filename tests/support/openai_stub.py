"""An OpenAI-compatible chat server on loopback that answers as a test tells it to."""

import contextlib
import json
import threading
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Responder = Callable[["StubCall"], None]


@dataclass
class StubCall:
    """One request to the stub, and the means to answer it."""

    payload: dict[str, Any]
    index: int
    handler: BaseHTTPRequestHandler
    closing: threading.Event

    def send(
        self,
        body: str,
        *,
        status: int = 200,
        content_type: str = "application/json",
        headers: dict[str, str] | None = None,
    ) -> None:
        """Answer with a whole body."""
        data = body.encode()
        self._head(status, content_type, len(data), headers or {})
        self.handler.wfile.write(data)

    def say(self, text: str, *, finish_reason: str = "stop") -> None:
        """Answer with a chat completion that holds this text."""
        self.send(json.dumps(completion(text, finish_reason=finish_reason)))

    def speak(self, pieces: Iterable[str], *, pause_s: float = 0.0) -> None:
        """Answer with a stream of pieces."""
        self.handler.send_response(200)
        self.handler.send_header("Content-Type", "text/event-stream")
        self.handler.end_headers()
        for piece in pieces:
            choice = {"index": 0, "delta": {"role": "assistant", "content": piece}, "finish_reason": None}
            self._event(choice)
            if self.closing.wait(pause_s):
                return
        self._event({"index": 0, "delta": {}, "finish_reason": "stop"})
        self.handler.wfile.write(b"data: [DONE]\n\n")

    def _event(self, choice: dict[str, Any]) -> None:
        told = {"id": "stub", "object": "chat.completion.chunk", "created": 0, "model": "stub"}
        self.handler.wfile.write(f"data: {json.dumps({**told, 'choices': [choice]})}\n\n".encode())
        self.handler.wfile.flush()

    def embed(self, vectors: list[list[float]]) -> None:
        """Answer with one vector per text."""
        data = [{"object": "embedding", "index": i, "embedding": each} for i, each in enumerate(vectors)]
        usage = {"prompt_tokens": 1, "total_tokens": 1}
        self.send(json.dumps({"object": "list", "data": data, "model": "stub", "usage": usage}))

    def refuse(self, status: int, message: str, *, headers: dict[str, str] | None = None) -> None:
        """Answer with an error in OpenAI's form."""
        error = {"error": {"message": message, "type": "invalid_request_error", "code": None}}
        self.send(json.dumps(error), status=status, headers=headers)

    def hang(self) -> None:
        """Answer nothing until the stub is closed."""
        self.closing.wait()

    def drip(self, text: str, *, seconds_per_byte: float) -> None:
        """Answer one byte at a time, so that no read ever times out."""
        data = json.dumps(completion(text)).encode()
        self._head(200, "application/json", len(data), {})
        for byte in data:
            self.handler.wfile.write(bytes([byte]))
            self.handler.wfile.flush()
            if self.closing.wait(seconds_per_byte):
                return

    def _head(self, status: int, content_type: str, length: int, headers: dict[str, str]) -> None:
        self.handler.send_response(status)
        for name, value in {"Content-Type": content_type, "Content-Length": str(length), **headers}.items():
            self.handler.send_header(name, value)
        self.handler.end_headers()


@dataclass
class OpenAiStub:
    """A running stub: where it listens and what it was asked, with which keys."""

    base_url: str
    calls: list[dict[str, Any]] = field(default_factory=list)
    keys: list[str] = field(default_factory=list)


def completion(text: str, *, finish_reason: str = "stop") -> dict[str, Any]:
    """Return a chat completion in OpenAI's form."""
    message = {"role": "assistant", "content": text}
    return {
        "id": "stub",
        "object": "chat.completion",
        "created": 0,
        "model": "stub",
        "choices": [{"index": 0, "message": message, "finish_reason": finish_reason}],
        "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
    }


@contextlib.contextmanager
def openai_stub(respond: Responder) -> Iterator[OpenAiStub]:
    """Serve on a free port of loopback until the block ends, each call in a thread of its own."""
    closing = threading.Event()
    stub = OpenAiStub("")

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            length = int(self.headers.get("Content-Length", 0))
            payload = json.loads(self.rfile.read(length))
            stub.calls.append(payload)
            stub.keys.append(self.headers.get("Authorization", ""))
            # A client that gave up closes its end; that is the point of several tests.
            with contextlib.suppress(ConnectionError):
                respond(StubCall(payload, len(stub.calls) - 1, self, closing))

        def log_message(self, format: str, *args: Any) -> None:
            """Keep the test output quiet."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    server.block_on_close = False
    stub.base_url = f"http://127.0.0.1:{server.server_address[1]}/v1"
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield stub
    finally:
        closing.set()
        server.shutdown()
        server.server_close()
