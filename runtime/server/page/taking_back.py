"""What a page says after a change, and how the change is taken back: whole in the address, nothing is kept."""

from __future__ import annotations

import base64
import binascii
import zlib
from collections.abc import Sequence
from typing import Any, Literal
from urllib.parse import parse_qsl, urlencode, urlsplit

from fastapi import APIRouter, Request
from pydantic import BaseModel, Field, ValidationError
from starlette.responses import RedirectResponse, Response

from novelgen.errors import UserInputError
from runtime.server.house import position
from runtime.server.page.visits import Form, PageRoute, Visited, own_address
from runtime.services import entities as entity_services
from runtime.services import knowledge as knowledge_services
from runtime.services.knowledge import StoredKnowledge

router = APIRouter(route_class=PageRoute, include_in_schema=False)

MAX_PACKED = 100_000
"""Characters of what is taken back, unpacked; a card's texts are much shorter."""

_FIELDS = ("done", "told", "undo")


class TakingBack(BaseModel):
    """How a change is taken back.

    `change`: by its number. `card`: fields and attributes to what they were. `knowledge`: the words of the author that
    stood before.
    """

    kind: Literal["change", "card", "knowledge"]
    change_id: int = 0
    entity: str = ""
    changes: dict[str, Any] = Field(default_factory=dict)
    attributes: dict[str, Any] = Field(default_factory=dict)
    start: str = Field(default="", pattern=r"^([0-9]{1,7}(:[0-9]{1,7})?)?$")
    memory_id: str = ""
    words: list[StoredKnowledge] = Field(default_factory=list)

    def packed(self) -> str:
        """Return it as an address can hold it."""
        told = self.model_dump_json(exclude_defaults=True).encode("utf-8", "replace")
        return base64.urlsafe_b64encode(zlib.compress(told, 9)).decode("ascii")


class Notice(BaseModel):
    """What was changed just now: a word of the catalogue, whom it is of, and how to take it back."""

    done: str
    told: str = ""
    undo: str = ""


NOTICES: Sequence[str] = (
    "did_edit_card",
    "did_alias",
    "did_state",
    "did_merge",
    "did_split",
    "did_confirm_card",
    "did_name",
    "did_drop",
    "did_say",
    "did_take_back",
)


def notice_of(request: Request) -> Notice | None:
    """Return what the address says was changed; None where it says nothing."""
    query = request.query_params
    if query.get("done", "") not in NOTICES:
        return None
    return Notice(done=query["done"], told=query.get("told", "")[:400], undo=query.get("undo", ""))


def back_from(request: Request) -> str:
    """Return the address of a page without what it says of a change."""
    kept = [(name, value) for name, value in request.query_params.multi_items() if name not in _FIELDS]
    return request.url.path + (f"?{urlencode(kept, errors='replace')}" if kept else "")


def led_back(back: str, done: str, *, told: str = "", undo: TakingBack | None = None) -> Response:
    """Lead to a page of the page's own that says what was changed.

    Args:
        back: Its address, as a form brought it.
        done: Of `NOTICES`.
        told: Whom or what it is of.
        undo: How it is taken back; None where it cannot be.
    """
    parts = urlsplit(own_address(back))
    kept = [each for each in parse_qsl(parts.query, keep_blank_values=True) if each[0] not in _FIELDS]
    said = [("done", done), ("told", told[:400]), ("undo", undo.packed() if undo else "")]
    query = urlencode([*kept, *(each for each in said if each[1])], errors="replace")
    return RedirectResponse(f"{parts.path}?{query}", status_code=303)


@router.post("/page/projects/{project_id}/take-back")
def take_back(visit: Visited, form: Form) -> Response:
    """Take a change back, and lead to where it was made."""
    undo = _unpacked(form.get("undo", ""))
    stores, project_id = visit.served.stores, visit.served.project_id
    if undo.kind == "change":
        entity_services.undo_entity_change(stores, project_id, change_id=undo.change_id)
    elif undo.kind == "card":
        entity_services.edit_entity(
            stores,
            project_id,
            name=undo.entity,
            changes=undo.changes,
            attributes=undo.attributes or None,
            start=position(undo.start or None),
        )
    else:
        knowledge_services.restore_author_words(
            stores, project_id, character=undo.entity, memory_id=undo.memory_id, words=undo.words
        )
    return led_back(form.get("back", ""), "did_take_back", told=form.get("told", ""))


def _unpacked(packed: str) -> TakingBack:
    try:
        unpacker = zlib.decompressobj()
        told = unpacker.decompress(base64.urlsafe_b64decode(packed), MAX_PACKED)
        return TakingBack.model_validate_json(told)
    except (ValidationError, zlib.error, binascii.Error, ValueError) as error:
        raise UserInputError(
            "what is to be taken back is not said whole; use the button beside the notice, or the list of changes"
        ) from error
