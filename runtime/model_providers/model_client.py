"""The HTTP client of models behind a server: bounded answers, no redirect to another host, a server's own words."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from typing import Any

import httpx

from novelgen.errors import ModelUnavailableError
from novelgen.model_calls.model_answer import CHECK_THE_SERVER, answer_fault, retry_after_of

MAX_CHAT_MEGABYTES = 16
MAX_EMBEDDING_MEGABYTES = 128
"""A thousand vectors of 4,096 numbers, written out."""

MAX_REDIRECTS = 5
MEGABYTE = 1 << 20
PIECE_BYTES = 1 << 16
_ANY_ZLIB_HEADER = zlib.MAX_WBITS | 32
_ENCODINGS = frozenset({"gzip", "deflate"})
"""What is understood; deflate comes from servers that do not look at what was asked for."""
_WHOLE_TYPES = ("application/json", "text/html")
"""Content types of an answer in one piece, also where a stream was asked for."""


class ModelClient(httpx.Client):
    """HTTP client with bounded bodies and no redirects to other hosts.

    Args:
        max_megabytes: The most that an answer may have, unpacked.
    """

    def __init__(self, *, max_megabytes: int) -> None:
        super().__init__(headers={"Accept-Encoding": "gzip"})
        self._max_megabytes = max_megabytes

    def send(self, request: httpx.Request, *, stream: bool = False, auth: Any = None, **_: Any) -> httpx.Response:
        """Send a request, and read its answer within the bound.

        Raises:
            ModelUnavailableError: When the answer is too large or none at all, or the server names another host.
        """
        response = self._send_request(request, auth)
        remaining_headers = [
            (name, value) for name, value in response.headers.items() if name not in _OF_THE_PACKED_BODY
        ]
        body = _BoundedBody(response, self._max_megabytes)
        bounded = httpx.Response(response.status_code, headers=remaining_headers, request=response.request, stream=body)
        content_type = bounded.headers.get("content-type", "")
        if stream and not content_type.startswith(_WHOLE_TYPES):
            return bounded
        bounded.read()
        if bounded.is_success:
            fault = answer_fault(bounded.status_code, content_type, bounded.text)
            if fault is not None:
                wait_s = retry_after_of(bounded.headers, bounded.text)
                fix = CHECK_THE_SERVER if wait_s is None else f"it asks to wait {wait_s:g} s"
                raise ModelUnavailableError(f"the server answered {fault}; {fix}", retry_after_s=wait_s)
        return bounded

    def _send_request(self, request: httpx.Request, auth: Any) -> httpx.Response:
        """Send a request, following redirects within its host, without reading the body."""
        origin = request.url
        for _ in range(MAX_REDIRECTS):
            response = super().send(request, stream=True, auth=auth, follow_redirects=False)
            if response.next_request is None:
                return response
            response.close()
            request = response.next_request
            if not _is_same_server(origin, request.url):
                raise ModelUnavailableError(
                    f"the server at {_address(origin)!r} redirects to {_address(request.url)!r}, and nothing was sent "
                    "there; correct the address of the model if that is right"
                )
        raise ModelUnavailableError(f"the server at {_address(origin)!r} redirects without end; {CHECK_THE_SERVER}")


_OF_THE_PACKED_BODY = frozenset({"content-encoding", "content-length", "transfer-encoding"})


def _is_same_server(origin: httpx.URL, target: httpx.URL) -> bool:
    """Whether an address is of the same host and port, or of the same host by TLS."""
    if origin.host != target.host:
        return False
    is_upgrade = (origin.scheme, target.scheme) == ("http", "https") and (origin.port, target.port) == (None, None)
    return is_upgrade or (origin.scheme, origin.port) == (target.scheme, target.port)


def _address(url: httpx.URL) -> str:
    return f"{url.scheme}://{url.netloc.decode('ascii').rpartition('@')[2]}"


class _BoundedBody(httpx.SyncByteStream):
    """The body of a response, unpacked piece by piece and no longer than its bound."""

    def __init__(self, response: httpx.Response, max_megabytes: int) -> None:
        self._response = response
        self._max_megabytes = max_megabytes

    def __iter__(self) -> Iterator[bytes]:
        length = 0
        for piece in self._pieces():
            length += len(piece)
            if length > self._max_megabytes * MEGABYTE:
                raise ModelUnavailableError(
                    f"the server's answer is larger than {self._max_megabytes} MB and was not read on; "
                    f"{CHECK_THE_SERVER}"
                )
            yield piece

    def _pieces(self) -> Iterator[bytes]:
        encoding = self._response.headers.get("content-encoding", "identity").strip().casefold()
        if encoding in ("identity", ""):
            yield from self._response.iter_raw()
            return
        if encoding not in _ENCODINGS:
            raise ModelUnavailableError(
                f"the server packed its answer as {encoding!r}, which it was not asked for; {CHECK_THE_SERVER}"
            )
        unpacker = zlib.decompressobj(_ANY_ZLIB_HEADER)
        try:
            for packed in self._response.iter_raw():
                rest = packed
                while rest:
                    yield unpacker.decompress(rest, PIECE_BYTES)
                    rest = unpacker.unconsumed_tail
        except zlib.error as error:
            raise ModelUnavailableError(
                f"the server's answer is no {encoding!r}, as it says: {str(error)!r}; {CHECK_THE_SERVER}"
            ) from error

    def close(self) -> None:
        """Give the connection back."""
        self._response.close()
