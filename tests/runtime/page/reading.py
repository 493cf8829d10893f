"""Reading a page as a browser does: its elements, their attributes, and the text that a person sees."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx
from httpx import Response

from runtime.page.routes import STATIC_TYPES

VOID = frozenset({"meta", "link", "input", "br"})
FIELDS = frozenset({"input", "textarea", "select", "button"})

HERE = "/page/projects/demo"


@dataclass
class Seen:
    """What a page holds."""

    elements: list[tuple[str, dict[str, str | None]]] = field(default_factory=list)
    forms: list[tuple[dict[str, str | None], list[dict[str, str | None]]]] = field(default_factory=list)
    text: str = ""
    unbalanced: list[str] = field(default_factory=list)

    def all(self, tag: str) -> list[dict[str, str | None]]:
        """The attributes of every element of a tag, in order."""
        return [attributes for name, attributes in self.elements if name == tag]

    def fields(self, name: str) -> list[str]:
        """The values of every input of a name, in order."""
        return [each.get("value") or "" for each in self.all("input") if each.get("name") == name]

    @property
    def ticks(self) -> list[dict[str, str | None]]:
        """The attributes of every box to tick, in order."""
        return [each for each in self.all("input") if each.get("type") == "checkbox"]

    def filled(self, address: str, **typed: str) -> dict[str, str]:
        """What a browser sends of the first form that leads to an address, with what is typed or ticked in it."""
        fields = next(fields for form, fields in self.forms if form.get("action") == address)
        for name, value in typed.items():
            (one,) = [each for each in fields if each.get("name") == name]
            assert one.get("type") != "checkbox" or one.get("value") == value
        return {each["name"] or "": each["value"] or "" for each in fields if each.get("type") == "hidden"} | typed

    @property
    def addresses(self) -> list[str]:
        """Every address that the page names."""
        named = ("href", "src", "action", "data-places", "formaction", "poster", "srcset")
        return [value or "" for _, each in self.elements for name, value in each.items() if name in named]

    @property
    def ids(self) -> list[str]:
        """The ids of all elements."""
        return [each["id"] or "" for _, each in self.elements if "id" in each]


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.seen = Seen()
        self._open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        told = dict(attrs)
        self.seen.elements.append((tag, told))
        if tag == "form":
            self.seen.forms.append((told, []))
        elif tag in FIELDS and ("form" in told or "form" in self._open):
            forms = [each for each in self.seen.forms if "form" not in told or each[0].get("id") == told["form"]]
            forms[-1][1].append(told)
        if tag not in VOID:
            self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if self._open and self._open[-1] == tag:
            self._open.pop()
        else:
            self.seen.unbalanced.append(tag)

    def handle_data(self, data: str) -> None:
        self.seen.text += data


def read(response: Response) -> Seen:
    """Return what a page holds, after a look at what every page must be."""
    assert response.headers["content-type"] == "text/html; charset=utf-8"
    policy = response.headers["content-security-policy"]
    assert policy.startswith("default-src 'none'")
    assert "unsafe" not in policy
    reader = _Reader()
    reader.feed(response.text)
    reader.close()
    seen = reader.seen
    assert seen.unbalanced == []
    assert len(seen.ids) == len(set(seen.ids))
    for address in seen.addresses:
        parts = urlsplit(address)
        assert (parts.scheme, parts.netloc) == ("", ""), address
        assert not address.startswith("//"), address
        if address.startswith("#"):
            assert address[1:] in seen.ids, address
    for tag, attributes in seen.elements:
        assert tag not in ("style", "iframe", "object", "embed", "base", "img"), tag
        assert not [name for name in attributes if name.startswith("on") or name == "style"], attributes
    scripts = [each.get("src") for each in seen.all("script")]
    assert scripts[0] == "/page/static/page.js"
    assert {*scripts[1:]} <= {f"/page/static/{name}" for name in STATIC_TYPES}
    return seen


def send(client: httpx.Client, address: str, /, on: Seen | None = None, **form: str) -> Seen:
    """Send a form of the demo, as it stands on a page if one is given, and return the page to which it leads."""
    sent = form if on is None else on.filled(f"{HERE}/{address}", **form)
    answer = client.post(f"{HERE}/{address}", data=sent, follow_redirects=True)
    assert answer.status_code == 200, answer.text[-1500:]
    return read(answer)


def take_back(client: httpx.Client, seen: Seen) -> Seen:
    """Press the button of the notice, else that of the latest change that is listed."""
    fields = next(fields for form, fields in seen.forms if "/undo" in (form["action"] or "") and fields)
    return send(client, "undo", **{each["name"] or "": each["value"] or "" for each in fields if "name" in each})


def assert_refused(
    client: httpx.Client, told_by: Sequence[str], *cases: tuple[str, dict[str, str], int], query: str = ""
) -> None:
    """Each form is answered with a page of its status, and what the addresses of the API tell stays as it was."""
    before: list[Any] = [client.get(each).json() for each in told_by]
    for address, form, status in cases:
        answer = client.post(f"{HERE}/{address}{query}", data=form, follow_redirects=False)
        assert answer.status_code == status, (address, form, answer.text[-800:])
        read(answer)
    assert [client.get(each).json() for each in told_by] == before


def later_words(client: httpx.Client, project: str, as_of: str) -> list[str]:
    """What only the story from a position on says; what stands in any word of it before is none of it.

    Args:
        client: A visitor of the server.
        project: The project.
        as_of: The position, as an address has it.
    """
    position = tuple(int(part) for part in as_of.split(":"))
    here = f"/v1/projects/{project}"
    earlier: list[str] = []
    later: set[str] = set()
    status = ["open", "advanced", "resolved", "abandoned"]
    for path, listing, of, query in (
        ("threads", "threads", "description", {"statuses": status}),
        ("entities", "entities", "name", {}),
        ("memories", "memories", "chunk", {"limit": 500}),
    ):
        listed: list[list[str]] = []
        for asked in ({**query, "as_of": as_of}, query):
            found = client.get(f"{here}/{path}", params=asked).json()[listing]
            told = [each[of] for each in found]
            listed.append([each if isinstance(each, str) else each["content"] for each in told])
        earlier += listed[0]
        later |= set(listed[1]) - set(listed[0])
    for each in client.get(f"{here}/scenes").json()["scenes"]:
        place = (each["scene"]["chapter_index"], each["scene"]["scene_index"])
        text = client.get(f"{here}/scenes/{place[0]}/{place[1]}").json()["scene"]["text"]
        if place < (position if len(position) == 2 else (position[0], 0)):
            earlier.append(text)
        else:
            later |= {line.strip() for line in text.splitlines() if line.strip()}
            later.add(each["scene"]["title"])
    known = "\n".join(earlier).casefold()
    return sorted(each for each in later if each.casefold() not in known)


def awaited(client: httpx.Client, address: str) -> Seen:
    """Return the page of a job once it is over; its events are followed until then."""
    job_id = parse_qs(urlsplit(address).query)["job"][0]
    client.get(f"/v1/jobs/{job_id}/events")
    return read(client.get(address))
