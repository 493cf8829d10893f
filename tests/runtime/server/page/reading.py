"""Reading a page as a browser does: its elements, their attributes, and the text that a person sees."""

from __future__ import annotations

from dataclasses import dataclass, field
from html.parser import HTMLParser
from urllib.parse import urlsplit

from httpx import Response

VOID = frozenset({"meta", "link", "input", "br"})


@dataclass
class Seen:
    """What a page holds."""

    elements: list[tuple[str, dict[str, str | None]]] = field(default_factory=list)
    text: str = ""
    unbalanced: list[str] = field(default_factory=list)

    def all(self, tag: str) -> list[dict[str, str | None]]:
        """The attributes of every element of a tag, in order."""
        return [attributes for name, attributes in self.elements if name == tag]

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
        self.seen.elements.append((tag, dict(attrs)))
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
    scripts = [each.get("src") or "" for each in seen.all("script")]
    assert scripts[0] == "/page/static/page.js"
    assert all(each.startswith("/page/static/") for each in scripts)
    return seen
