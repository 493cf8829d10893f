"""Messages between the program and the process of its index: a JSON head and raw bytes.

A frame is two lengths (unsigned 32 bit, big endian), the head as UTF-8 JSON, and a body of raw
little-endian float32 values. Neither side ever waits longer than its deadline for a whole frame.
"""

from __future__ import annotations

import json
import socket
import struct
import time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from novelgen.errors import DeadlineExceededError

_LENGTHS = struct.Struct(">II")
_READ_SIZE_BYTES = 1 << 20

Head = dict[str, Any]


class ChannelClosedError(ConnectionError):
    """The other process closed the channel or died."""


def pack_vectors(vectors: NDArray[np.float32]) -> bytes:
    """Write vectors of shape (rows, dimension) as raw bytes."""
    return np.ascontiguousarray(vectors, dtype="<f4").tobytes()


def unpack_vectors(body: bytes, *, dimension: int) -> NDArray[np.float32]:
    """Read back what `pack_vectors` wrote, shape (rows, dimension)."""
    return np.frombuffer(body, dtype="<f4").reshape(-1, dimension)


def send_frame(
    channel: socket.socket, head: Head, *, body: bytes = b"", deadline: float | None = None
) -> None:
    """Send one message.

    Args:
        channel: Connected stream socket.
        head: JSON-ready part of the message.
        body: Raw part of the message.
        deadline: Moment of `time.monotonic` at which to give up; None waits for good.

    Raises:
        DeadlineExceededError: The other side did not take the message in time.
        ChannelClosedError: The other side is gone.
    """
    encoded = json.dumps(head, separators=(",", ":")).encode("ascii")
    _wait_at_most(channel, deadline)
    try:
        channel.sendall(_LENGTHS.pack(len(encoded), len(body)) + encoded + body)
    except TimeoutError as error:
        raise DeadlineExceededError("the index process did not take a request in time") from error
    except OSError as error:
        raise ChannelClosedError("the index process closed its channel") from error


def receive_frame(channel: socket.socket, *, deadline: float | None = None) -> tuple[Head, bytes]:
    """Receive one whole message.

    Args:
        channel: Connected stream socket.
        deadline: Moment of `time.monotonic` at which to give up; None waits for good.

    Returns:
        Head and body of the message.

    Raises:
        DeadlineExceededError: The message was not complete in time, even if parts of it came.
        ChannelClosedError: The other side is gone.
    """
    head_bytes, body_bytes = _LENGTHS.unpack(_receive_exactly(channel, _LENGTHS.size, deadline=deadline))
    head = json.loads(_receive_exactly(channel, head_bytes, deadline=deadline))
    return head, _receive_exactly(channel, body_bytes, deadline=deadline)


def _receive_exactly(channel: socket.socket, size_bytes: int, *, deadline: float | None) -> bytes:
    received = bytearray()
    while len(received) < size_bytes:
        _wait_at_most(channel, deadline)
        try:
            part = channel.recv(min(size_bytes - len(received), _READ_SIZE_BYTES))
        except TimeoutError as error:
            raise DeadlineExceededError("the index process did not answer in time") from error
        except OSError as error:
            raise ChannelClosedError("the index process closed its channel") from error
        if not part:
            raise ChannelClosedError("the index process closed its channel")
        received += part
    return bytes(received)


def _wait_at_most(channel: socket.socket, deadline: float | None) -> None:
    if deadline is None:
        channel.settimeout(None)
        return
    remaining_s = deadline - time.monotonic()
    if remaining_s <= 0:
        raise DeadlineExceededError("the index process did not answer in time")
    channel.settimeout(remaining_s)
