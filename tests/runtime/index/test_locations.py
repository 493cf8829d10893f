"""Where an index lives: a folder, however it is spelt, or a server's address with what its door asks for."""

from pathlib import Path

import pytest

from novelgen.errors import ConfigurationError
from runtime.index.locations import ChromaFolder, ChromaServer


def test_two_spellings_of_a_folder_are_one_index(tmp_path: Path) -> None:
    """Links and dots do not make a second index."""
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    assert ChromaFolder(tmp_path / "link" / ".." / "link") == ChromaFolder(tmp_path / "real")


def test_a_server_address_must_be_an_http_url() -> None:
    """Host, port and scheme come from it, the port has a default; the message shows how to write it."""
    assert ChromaServer("https://chroma.example").address == ("chroma.example", 8000, True)
    assert ChromaServer("http://127.0.0.1:9").address == ("127.0.0.1", 9, False)
    for url in ("", "localhost:8000", "ftp://host", "http://", "http://host:99999"):
        with pytest.raises(ConfigurationError, match="vector server URL"):
            ChromaServer(url)


@pytest.mark.parametrize(
    ("headers", "token"), [((("", "x"),), ""), ((("X Y", "x"),), ""), ((("X", "a\nb"),), ""), ((), "密")]
)
def test_what_no_header_can_hold_is_refused(headers: tuple[tuple[str, str], ...], token: str) -> None:
    """Before anything is sent, and without quoting a value."""
    with pytest.raises(ConfigurationError, match="chroma_headers"):
        ChromaServer("http://127.0.0.1:9", headers=headers, token=token)
