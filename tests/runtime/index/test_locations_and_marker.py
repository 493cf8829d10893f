"""The marker remembers which projects have rows."""

from pathlib import Path

import pytest

from novelgen.errors import ConfigurationError, VectorIndexDamagedError
from runtime.index.locations import ChromaServer, EmbeddedIndex, RowsMarker


def test_projects_are_remembered_and_forgotten(tmp_path: Path) -> None:
    """A new marker on the same file knows what the old one wrote."""
    marker = RowsMarker(tmp_path / "marker.json")
    assert marker.projects() == frozenset()
    marker.add("红楼梦")
    marker.add("emma")
    marker.remove("emma")
    assert RowsMarker(tmp_path / "marker.json").projects() == {"红楼梦"}


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"projects": 3}', b"\xff\xfe"])
def test_a_marker_that_cannot_be_read_is_damage_until_reset(tmp_path: Path, content: bytes) -> None:
    """Garbage is never taken for `nothing was written`."""
    path = tmp_path / "marker.json"
    path.write_bytes(content)
    marker = RowsMarker(path)
    with pytest.raises(VectorIndexDamagedError, match=r"marker\.json.* cannot be read"):
        marker.projects()
    marker.reset()
    assert marker.projects() == frozenset()


def test_a_reset_keeps_a_marker_that_can_be_read(tmp_path: Path) -> None:
    """Only garbage is forgotten."""
    marker = RowsMarker(tmp_path / "marker.json")
    marker.add("emma")
    marker.reset()
    assert marker.projects() == {"emma"}


def test_two_spellings_of_a_folder_are_one_index(tmp_path: Path) -> None:
    """Links and dots do not make a second index."""
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    assert EmbeddedIndex(tmp_path / "link" / ".." / "link") == EmbeddedIndex(tmp_path / "real")


@pytest.mark.parametrize("url", ["", "localhost:8000", "ftp://host", "http://", "http://host:99999"])
def test_a_server_address_must_be_an_http_url(url: str) -> None:
    """The message shows how to write it."""
    with pytest.raises(ConfigurationError, match="vector server URL"):
        ChromaServer(url)


def test_a_server_address_is_taken_apart() -> None:
    """Host, port and scheme come from the URL; the port has a default."""
    server = ChromaServer("https://chroma.example")
    assert (server.host, server.port, server.uses_tls) == ("chroma.example", 8000, True)
    assert ChromaServer("http://127.0.0.1:9").port == 9
