"""Relationships and timeline as pages: what may be chosen on them, what they draw, and saying what one feels."""

from urllib.parse import parse_qsl

import pytest
from fastapi.testclient import TestClient

from runtime.page.frame import CHINESE, ENGLISH, filled
from runtime.page.scene_lanes import GUESS_MARK
from tests.runtime.page.reading import HERE, Seen, assert_refused, read, send

GRAPH = f"{HERE}/relationships"
PAIRS = "/v1/projects/demo/relationships"
TIMELINE = f"{HERE}/timeline"


def _drawn(seen: Seen) -> dict[str, str | None]:
    return {each["data-who"] or "": each["href"] for each in seen.all("a") if "data-who" in each}


def _arrows(seen: Seen) -> list[dict[str, str | None]]:
    """The arrows of the broad drawing; the narrow one has the same."""
    arrows = [each for each in seen.all("a") if "data-from" in each]
    broad, narrow = arrows[: len(arrows) // 2], arrows[len(arrows) // 2 :]
    assert broad == narrow
    return broad


@pytest.mark.slow
def test_a_person_stands_with_their_neighbours(reader: TestClient) -> None:
    """A pair shows how it went, each step with its scene, and what began of late is marked as new."""
    pairs = reader.get(PAIRS).json()["relationships"]
    both = [
        {each["character_a"], each["character_b"]}
        for each in reader.get(PAIRS, params={"character_id": "Finch"}).json()["relationships"]
    ]
    near, everybody = set.union(*both), {each[side] for each in pairs for side in ("character_a", "character_b")}
    (finch,) = set.intersection(*both)
    drawn = _drawn(read(reader.get(GRAPH, params={"person": finch})))
    assert drawn.keys() == near < everybody
    assert drawn[finch] == f"{HERE}/card?entity={finch}"
    assert _drawn(read(reader.get(GRAPH, params={"person": "C999"}))).keys() == everybody
    longest = max(pairs, key=lambda each: len(each["history"]))
    seen = read(reader.get(GRAPH, params={"pair": longest["relationship_id"]}))
    for each in longest["history"]:
        assert f"{HERE}/story?chapter={each['chapter_index']}&scene={each['scene_index']}" in seen.addresses
    assert "pair" in seen.ids
    assert [each for each in seen.all("svg") if each.get("class") == "course"]
    assert "pair" not in read(reader.get(GRAPH, params={"pair": "R999"})).ids
    begun = [(each["history"][0]["chapter_index"], each["history"][0]["scene_index"]) for each in pairs]
    places = reader.get(f"{HERE}/places").json()["places"]
    for lately in (1, 5, 100):
        seen = read(reader.get(GRAPH, params={"lately": lately}))
        marks = [each for each in _arrows(seen) if ENGLISH["side_new"] in (each["aria-label"] or "").split(" · ")]
        assert len(marks) == 2 * sum(list(place) in places[-lately:] for place in begun)
    for address in (f"{GRAPH}?lately=0", f"{TIMELINE}?order=reversed", f"{TIMELINE}?start=-1"):
        assert reader.get(address).status_code == 422


@pytest.mark.parametrize(("language", "words"), [("en", ENGLISH), ("zh", CHINESE)])
def test_a_guessed_place_has_a_hollow_dot(empty: TestClient, language: str, words: dict[str, str]) -> None:
    """Where the author said the cast alone, dot and name of the place have the marks that the legend tells."""
    empty.headers["Accept-Language"] = language
    empty.post("/v1/projects", json={"project_id": "new", "language": language})
    text, who, where = {
        "en": ('Nell went into the Mill House. "I am here," said Nell.', "Nell", "the Mill House"),
        "zh": ("阿筠走进大北电报局。“我来了。”阿筠说。", "阿筠", "大北电报局"),
    }[language]
    for name, kind in ((who, "character"), (where, "location")):
        empty.post("/v1/projects/new/entities", json={"name": name, "kind": kind})
    empty.post("/page/projects/new/write/store", data={"text": text})
    staging, timeline = "/v1/projects/new/scenes/1/1/staging", "/page/projects/new/timeline"
    assert empty.put(staging, json={"cast": [who]}).status_code == 200
    seen = read(empty.get(timeline))
    (dot,) = seen.all("circle")
    assert "guess" in (dot["class"] or "")
    assert f"{where}{GUESS_MARK}"[:4] in seen.text
    assert filled(words["is_on_stage_guess"], mark=GUESS_MARK) in seen.text
    assert empty.put(staging, json={"location": where}).status_code == 200
    seen = read(empty.get(timeline))
    assert GUESS_MARK not in seen.text.partition(words["is_on_stage"])[0]
    assert [each.get("class") for each in seen.all("circle")] == [None]


@pytest.mark.slow
def test_what_one_feels_is_said_and_drawn(client: TestClient) -> None:
    """Feelings count from the place of the slider on, for one side alone, and make its arrow warm or cold."""
    pair = client.get(PAIRS, params={"character_id": "C0"}).json()["relationships"][0]
    (other,) = {pair["character_a"], pair["character_b"]} - {"C0"}
    form = {
        "character_a": "C0",
        "character_b": other,
        "dimensions:trust": "-60",
        "dimensions:fear": "+40",
        "at": "pair",
    }
    seen = send(client, "relationships/feelings", back=f"{GRAPH}?pair={pair['relationship_id']}", **form)
    arrows = {(each["data-from"], each["data-to"]): (each["class"] or "").split() for each in _arrows(seen)}
    assert "cold" in arrows["C0", other]
    assert "unsaid" in arrows[other, "C0"]
    assert f"{ENGLISH['trust']} -60" in seen.text
    assert "-60" not in read(client.get(f"{GRAPH}?as_of=6:3")).text


def test_feelings_that_cannot_be_are_refused(reader: TestClient) -> None:
    """Nobody, oneself, no number, or one out of bounds changes nothing."""
    known = {"character_a": "C0", "character_b": "C4"}
    assert_refused(
        reader,
        [PAIRS],
        ("relationships/feelings", known, 400),
        ("relationships/feelings", {"dimensions:trust": "5"}, 400),
        ("relationships/feelings", {"character_a": "C0", "character_b": "C0", "dimensions:trust": "5"}, 400),
        ("relationships/feelings", {"character_a": "C0", "character_b": "C999", "dimensions:trust": "5"}, 404),
        *(("relationships/feelings", {**known, "dimensions:trust": felt}, 400) for felt in ("much", "101", "--5")),
        ("relationships/feelings", {**known, "dimensions:familiarity": "-1"}, 400),
    )


def _columns(seen: Seen) -> list[str]:
    """The addresses above the lanes, in order."""
    links = [each for each in seen.all("a") if "tabindex" not in each and "aria-label" in each]
    return [each["href"] or "" for each in links if "/story?" in (each["href"] or "")]


@pytest.mark.slow
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
