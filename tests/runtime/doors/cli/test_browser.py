"""When `novelgen serve` opens the browser, and what it opens."""

import webbrowser

import pytest

from runtime.doors.cli.commands.serving import has_browser_at_hand, show_page

AT_A_DESK = {"DISPLAY": ":0"}


@pytest.mark.parametrize(
    ("is_terminal", "environment", "platform", "expected"),
    [
        (True, AT_A_DESK, "linux", True),
        (True, {"WAYLAND_DISPLAY": "wayland-0"}, "linux", True),
        (True, {}, "darwin", True),
        (True, {}, "linux", False),
        (False, AT_A_DESK, "linux", False),
        (True, {**AT_A_DESK, "SSH_CONNECTION": "10.0.0.1 22"}, "linux", False),
        (True, {"SSH_TTY": "/dev/ttys1"}, "darwin", False),
        (True, {**AT_A_DESK, "CI": "true"}, "linux", False),
    ],
)
def test_a_browser_is_at_hand_at_a_desk(
    is_terminal: bool, environment: dict[str, str], platform: str, expected: bool
) -> None:
    """Only at a terminal of this machine with a desktop, not over SSH and not in CI, somebody would see a browser."""
    found = has_browser_at_hand(is_terminal=is_terminal, environment=environment, platform=platform)
    assert found is expected


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("http://127.0.0.1:8000", "http://127.0.0.1:8000/"),
        ("http://0.0.0.0:9000", "http://127.0.0.1:9000/"),
        ("http://[::]:9000", "http://[::1]:9000/"),
        ("http://10.0.0.7:8000", "http://10.0.0.7:8000/"),
    ],
)
def test_the_page_is_opened_at_an_address_of_this_machine(
    monkeypatch: pytest.MonkeyPatch, url: str, shown: str
) -> None:
    """A server that listens everywhere is opened at this machine's own address."""
    opened: list[str] = []
    monkeypatch.setattr(webbrowser, "open", lambda address: not opened.append(address))
    show_page(url).join(60)
    assert opened == [shown]


def test_without_a_browser_the_address_is_told(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Where no browser can be started the user is told what to open."""
    monkeypatch.setattr(webbrowser, "open", lambda address: False)
    show_page("http://127.0.0.1:8000").join(60)
    assert "open http://127.0.0.1:8000/ yourself" in capsys.readouterr().err
