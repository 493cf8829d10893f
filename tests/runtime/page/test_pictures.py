"""Relationships and timeline as pages: what may be chosen on them, what they draw, and saying what one feels."""

from urllib.parse import parse_qsl

import pytest
from fastapi.testclient import TestClient

from runtime.page.frame import ENGLISH
from tests.runtime.page.reading import Seen, read

GRAPH = "/page/projects/demo/relationships"
TIMELINE = "/page/projects/demo/timeline"


def _drawn(seen: Seen) -> set[str]:
    return {each["data-who"] or "" for each in seen.all("a") if "data-who" in each}


def _arrows(seen: Seen) -> list[dict[str, str | None]]:
    return [each for each in seen.all("a") if "data-from" in each]


def test_a_person_stands_with_their_neighbours(reader: TestClient) -> None:
    """A pair shows how it went, each step with its scene, and what began of late is marked as new."""
    pairs = reader.get("/v1/projects/demo/relationships", params={"character": "Finch"}).json()
    near = {each[side] for each in pairs["relationships"] for side in ("character_a", "character_b")}
    (finch,) = near.intersection(*({each["character_a"], each["character_b"]} for each in pairs["relationships"]))
    seen = read(reader.get(GRAPH, params={"person": finch}))
    assert _drawn(seen) == near
    assert f"/page/projects/demo/card?entity={finch}" in [
        each["href"] for each in seen.all("a") if each.get("data-who") == finch
    ]
    whole = reader.get("/v1/projects/demo/relationships").json()["relationships"]
    everybody = {each[side] for each in whole for side in ("character_a", "character_b")}
    assert near < everybody
    assert _drawn(read(reader.get(GRAPH, params={"person": "C999"}))) == everybody
    pairs = reader.get("/v1/projects/demo/relationships").json()["relationships"]
    longest = max(pairs, key=lambda each: len(each["history"]))
    seen = read(reader.get(GRAPH, params={"pair": longest["relationship_id"]}))
    assert "pair" in seen.ids
    for each in longest["history"]:
        place = f"chapter={each['chapter_index']}&scene={each['scene_index']}"
        assert f"/page/projects/demo/story?{place}" in seen.addresses
    assert [each for each in seen.all("svg") if each.get("class") == "course"]
    assert "pair" not in read(reader.get(GRAPH, params={"pair": "R999"})).ids
    pairs = reader.get("/v1/projects/demo/relationships").json()["relationships"]
    begun = sorted((each["history"][0]["chapter_index"], each["history"][0]["scene_index"]) for each in pairs)
    places = reader.get("/page/projects/demo/places").json()["places"]
    for lately in (1, 5, 10, 100):
        recent = {tuple(each) for each in places[-lately:]}
        new = [place for place in begun if place in recent]
        seen = read(reader.get(GRAPH, params={"lately": lately}))
        marks = [each for each in _arrows(seen) if ENGLISH["side_new"] in (each["aria-label"] or "").split(" · ")]
        assert len(marks) == 2 * len(new)


def test_what_one_feels_is_said_and_drawn(client: TestClient) -> None:
    """Feelings count from the place of the slider on, for one side alone, and make its arrow warm or cold."""
    form = {"first": "C0", "second": "C2", "trust": "-60", "fear": "+40", "person": "C0", "at": "pair"}
    pair = next(
        each
        for each in client.get("/v1/projects/demo/relationships").json()["relationships"]
        if "C0" in (each["character_a"], each["character_b"])
    )
    form["second"] = next(each for each in (pair["character_a"], pair["character_b"]) if each != "C0")
    answer = client.post(f"{GRAPH}/feelings", data=form, follow_redirects=False)
    where = f"pair={pair['relationship_id']}&person=C0&done=feelings&undo=1#pair"
    assert (answer.status_code, answer.headers["location"]) == (303, f"{GRAPH}?{where}")
    seen = read(client.get(answer.headers["location"]))
    (arrow,) = [each for each in _arrows(seen) if (each["data-from"], each["data-to"]) == ("C0", form["second"])]
    assert "cold" in (arrow["class"] or "").split()
    assert f"{ENGLISH['trust']} -60" in seen.text
    (back,) = [each for each in _arrows(seen) if (each["data-from"], each["data-to"]) == (form["second"], "C0")]
    assert "unsaid" in (back["class"] or "").split()
    assert "-60" not in read(client.get(f"{GRAPH}?as_of=6:3")).text


@pytest.mark.parametrize(
    ("form", "status"),
    [
        ({"first": "C0", "second": "C1"}, 400),
        ({"first": "C0", "second": "C0", "trust": "5"}, 400),
        ({"first": "C0", "second": "C999", "trust": "5"}, 404),
        ({"first": "C0", "second": "C4", "trust": "much"}, 400),
        ({"first": "C0", "second": "C4", "trust": "101"}, 400),
        ({"first": "C0", "second": "C4", "familiarity": "-1"}, 400),
        ({"first": "C0", "second": "C4", "trust": "--5"}, 400),
        ({"trust": "5"}, 400),
    ],
)
def test_feelings_that_cannot_be_are_refused(reader: TestClient, form: dict[str, str], status: int) -> None:
    """Nobody, oneself, no number, or one out of bounds changes nothing."""
    before = reader.get("/v1/projects/demo/relationships").json()
    answer = reader.post(f"{GRAPH}/feelings", data=form)
    read(answer)
    assert answer.status_code == status
    assert reader.get("/v1/projects/demo/relationships").json() == before


@pytest.mark.parametrize("address", [f"{GRAPH}?lately=0", f"{TIMELINE}?order=reversed", f"{TIMELINE}?start=-1"])
def test_a_wrong_choice_is_refused(reader: TestClient, address: str) -> None:
    """What a view cannot show is told in words."""
    assert reader.get(address).status_code == 422


def _columns(seen: Seen) -> list[str]:
    """The addresses above the lanes, in order."""
    links = [each for each in seen.all("a") if "tabindex" not in each and "aria-label" in each]
    return [each["href"] or "" for each in links if "/story?" in (each["href"] or "")]


def test_scenes_are_drawn_as_told_or_as_lived(reader: TestClient, client: TestClient) -> None:
    """A scene of years before comes first as lived, and what was chosen on a view stays when the slider moves."""
    record = {"chapter_index": 9, "scene_index": 1, "story_time": "three years before"}
    earlier = {"text": "Three years before, the shop was shut.", "record": record}
    assert client.put("/v1/projects/demo/scenes/9/1", json=earlier).status_code == 200
    told = client.get("/v1/projects/demo/story-times").json()["scenes"]
    as_lived = sorted(
        told, key=lambda each: (each.get("lived_order") is None, each.get("lived_order", 0), each["told_order"])
    )
    assert as_lived[0] == told[-1]
    for order, scenes in (("told", told), ("lived", as_lived)):
        seen = read(client.get(TIMELINE, params={"order": order}))
        expected = [
            f"/page/projects/demo/story?chapter={each['chapter_index']}&scene={each['scene_index']}" for each in scenes
        ]
        assert _columns(seen)[: len(expected)] == expected
    for view, chosen in (
        ("timeline", {"order": "lived"}),
        ("relationships", {"person": "C0", "pair": "R0", "lately": "10"}),
    ):
        seen = read(reader.get(f"/page/projects/demo/{view}", params=chosen))
        hidden = {each["name"]: each["value"] for each in seen.all("input") if each.get("type") == "hidden"}
        assert {name: hidden.get(name) for name in chosen} == chosen
        answer = reader.get(f"/page/projects/demo/at/{view}", params={"known": 4, **chosen}, follow_redirects=False)
        path, _, query = answer.headers["location"].partition("?")
        assert path == f"/page/projects/demo/{view}"
        assert dict(parse_qsl(query)) == {**chosen, "as_of": "2:1"}
