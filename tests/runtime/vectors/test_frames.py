"""Messages arrive whole or not at all, and never later than the deadline."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator

import numpy as np
import pytest

from novelgen.errors import DeadlineExceededError
from runtime.vectors.frames import ChannelClosedError, pack_vectors, receive_frame, send_frame, unpack_vectors
from tests.runtime.vectors.story_rows import random_vectors


@pytest.fixture
def channels() -> Iterator[tuple[socket.socket, socket.socket]]:
    """Both ends of a channel."""
    mine, theirs = socket.socketpair()
    with mine, theirs:
        yield mine, theirs


def test_a_message_arrives_as_it_was_sent(channels: tuple[socket.socket, socket.socket]) -> None:
    """Head and body survive, Chinese text and half characters included."""
    mine, theirs = channels
    send_frame(mine, {"文": ["林黛玉", "\ud800"]}, body=b"\x00\xff")
    assert receive_frame(theirs) == ({"文": ["林黛玉", "\ud800"]}, b"\x00\xff")


def test_vectors_survive_as_raw_bytes() -> None:
    """32 bit floats come back bit by bit."""
    vectors = random_vectors(3)
    assert np.array_equal(unpack_vectors(pack_vectors(vectors), dimension=16), vectors)


def test_a_message_that_stops_half_way_ends_at_the_deadline(
    channels: tuple[socket.socket, socket.socket],
) -> None:
    """Half a message cannot hold the reader."""
    mine, theirs = channels
    mine.sendall(b"\x00\x00\x00\x64\x00\x00\x00\x00{")
    with pytest.raises(DeadlineExceededError, match="did not answer in time"):
        receive_frame(theirs, deadline=time.monotonic() + 0.1)


def test_a_message_that_drips_ends_at_the_deadline(channels: tuple[socket.socket, socket.socket]) -> None:
    """Each byte in time does not make the whole in time."""
    mine, theirs = channels
    stop = threading.Event()

    def drip() -> None:
        mine.sendall(b"\x00\x00\xff\xff\x00\x00\x00\x00")
        while not stop.wait(0.02):
            mine.sendall(b" ")

    thread = threading.Thread(target=drip)
    thread.start()
    try:
        with pytest.raises(DeadlineExceededError, match="did not answer in time"):
            receive_frame(theirs, deadline=time.monotonic() + 0.3)
    finally:
        stop.set()
        thread.join()


def test_a_reader_that_takes_nothing_cannot_hold_the_sender(
    channels: tuple[socket.socket, socket.socket],
) -> None:
    """A request larger than the buffers of the system ends at the deadline too."""
    with pytest.raises(DeadlineExceededError, match="did not take a request in time"):
        send_frame(channels[0], {}, body=bytes(50_000_000), deadline=time.monotonic() + 0.2)


def test_a_closed_channel_is_told_from_silence(channels: tuple[socket.socket, socket.socket]) -> None:
    """The end of the other process is an error of its own, for reader and sender."""
    mine, theirs = channels
    theirs.close()
    with pytest.raises(ChannelClosedError, match="closed its channel"):
        receive_frame(mine)
    with pytest.raises(ChannelClosedError, match="closed its channel"):
        send_frame(mine, {})
