"""A proxy on loopback that loses the reply to a message."""

import contextlib
import socket
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field


@dataclass
class CuttingProxy:
    """Passes everything on until `cut_after` is seen on its way to the server: then the client hears no more."""

    port: int
    cut_after: bytes | None = None
    cuts: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def is_cut(self, data: bytes) -> bool:
        """Tell whether this message is the one whose reply is lost; it is so once."""
        with self._lock:
            if self.cut_after is None or self.cut_after not in data:
                return False
            self.cut_after = None
            self.cuts += 1
            return True


@contextlib.contextmanager
def cutting_proxy(server_port: int) -> Iterator[CuttingProxy]:
    """Listen on a free port before a server on loopback."""
    with contextlib.closing(socket.create_server(("127.0.0.1", 0))) as listener:
        proxy = CuttingProxy(listener.getsockname()[1])
        threading.Thread(target=_accept, args=(proxy, listener, server_port), daemon=True).start()
        yield proxy


def _accept(proxy: CuttingProxy, listener: socket.socket, server_port: int) -> None:
    with contextlib.suppress(OSError):
        while True:
            client, _ = listener.accept()
            server = socket.create_connection(("127.0.0.1", server_port))
            threading.Thread(target=_to_server, args=(proxy, client, server), daemon=True).start()
            threading.Thread(target=_to_client, args=(client, server), daemon=True).start()


def _to_server(proxy: CuttingProxy, client: socket.socket, server: socket.socket) -> None:
    with contextlib.suppress(OSError):
        while data := client.recv(65536):
            if proxy.is_cut(data):
                # The client is gone before the server has answered; the server gets the whole message.
                client.shutdown(socket.SHUT_RDWR)
                server.sendall(data)
                server.recv(65536)
                break
            server.sendall(data)
    _close(client, server)


def _to_client(client: socket.socket, server: socket.socket) -> None:
    with contextlib.suppress(OSError):
        while data := server.recv(65536):
            client.sendall(data)
    _close(client, server)


def _close(*sockets: socket.socket) -> None:
    for each in sockets:
        with contextlib.suppress(OSError):
            each.shutdown(socket.SHUT_RDWR)
