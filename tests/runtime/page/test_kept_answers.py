"""What the page keeps from one visit to the next is never told after it changed, nor at another position."""

import pytest
from fastapi.testclient import TestClient

from runtime.page import visits
from runtime.search.kept_readings import KeptReadings

pytestmark = pytest.mark.slow

HERE = "/page/projects/demo"
VIEWS = ("story?chapter=1&scene=3", "threads", "cards?order=name", "card?entity=C6", "timeline", "reading?again=yes")
POSITIONS = ("", "3:1")
WRITES = (
    ("card/edit", {"entity_id": "C0", "name": "Ines of the Locks", "role": "locksmith", "description": ""}),
    ("card/alias", {"entity_id": "C6", "alias": "the envoy", "since": "1:2"}),
    ("card/merge", {"keep": "C6", "gone": "C7"}),
    ("threads/end?as_of=2:1", {"loop_id": "OL1", "ending": "paid", "summary": "It opens the box."}),
)


def _views(client: TestClient) -> dict[str, str]:
    """Every view at every position, by address."""
    addresses = [
        f"{HERE}/{view}{('&' if '?' in view else '?') + 'as_of=' + as_of if as_of else ''}"
        for view in VIEWS
        for as_of in POSITIONS
    ]
    return {each: client.get(each).text for each in addresses}


def test_after_each_write_the_views_are_what_a_new_server_shows(
    client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With what is kept or without it, and asked in any order, the pages are the same, and each write shows."""
    monkeypatch.setattr(visits, "_kept", KeptReadings(1000))
    shown = _views(client)
    for address, form in WRITES:
        answer = client.post(f"{HERE}/{address}", data=form, follow_redirects=False)
        assert answer.status_code == 303, answer.text[-800:]
        before, shown = shown, _views(client)
        assert shown != before, address
        with monkeypatch.context() as anew:
            anew.setattr(visits, "_kept", KeptReadings(1))
            assert _views(client) == shown, address
    assert _views(client) == shown
