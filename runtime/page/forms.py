"""Forms of the page, with their operations."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Any, NamedTuple, get_origin
from urllib.parse import parse_qsl, quote, urlencode, urlsplit

from starlette.responses import RedirectResponse, Response

from novelgen.context.labels import labels_for
from novelgen.errors import StaleVersionError, UnknownEntityError, UnknownSceneError, UserInputError
from novelgen.models.entity import EntityType, is_entity_id
from novelgen.models.position import StoryPosition
from runtime.doors.arguments import arguments_of, read_arguments
from runtime.doors.operations import OPERATIONS, change_number
from runtime.page.cards import field_values
from runtime.page.frame import MAX_TOLD, NOTICE_FIELDS, named_by_words, own_address
from runtime.page.typed_again import WORDS_OF_FIELDS, OfferedCard, typed_again
from runtime.page.visits import Form, Visit, Visited, place_in, problem_in, router
from runtime.story.base import means_nobody
from runtime.story.entities import EntityCard
from runtime.story.knowledge import Knower, Unaware, knowers_by_rules

FormValues = Mapping[str, str]

MAX_TEXT = 4000
MAX_DIGITS = 15
MAX_NAMED = 10
"""So many knowers a notice names."""
CARD_FIELDS = ("name", "role", "description")
ID_ATTRIBUTES = ("holder", "location_id")
"""Attributes whose value is somebody or something that has a card."""

DECISIONS = ("confirm", "delete", "pin", "unpin", "ban", "unban")
"""What may be decided on a memory: each has an operation of that name."""

_OPERATIONS = {operation.name: operation for operation in OPERATIONS}

_description = attrgetter("description")
_card_name = attrgetter("entity.name")
_card_id = attrgetter("entity.entity_id")
_note_id = attrgetter("note.chunk_id")
_edited_id = attrgetter("memory.chunk.chunk_id")
_thread_id = attrgetter("loop_id")


def _memory_words(result: Any) -> str:
    return named_by_words(result.memory.chunk.content)


def _noted_done(result: Any) -> str:
    """Return the notice of a stored note, with its state or without."""
    if result.is_repeat:
        return "noted_already"
    if result.stated is not None and result.standing and not result.stated.borne_by:
        return "note_states_beside"
    if result.standing:
        first = result.standing[0]
        return "note_changes_nothing" if first.value_name or first.attribute == "holder" else "note_unset"
    if result.stated is None or result.stated.borne_by:
        return "add"
    return "note_stood" if result.stated.stood_already else "note_states"


def _aliased_done(result: Any) -> str:
    """Return the notice of changed names, one that another card bears told."""
    return "alias_shared" if result.issues else "alias"


def _merged_done(result: Any) -> str:
    """Return the notice of a merge."""
    if result.notes.still_hidden:
        return "merge_hidden"
    return "merge_shown" if result.notes.shown else "merge"


def _merged_words(result: Any) -> str | list[str]:
    """Return the words of the notice."""
    notes = result.notes.still_hidden or result.notes.shown
    return [note.content for note in notes] if notes else _card_name(result)


def _refuted_deaths(result: Any) -> list[str]:
    """Return the deaths that a merge refutes."""
    refuted = getattr(getattr(result, "notes", None), "refuted", ())
    return [f"{named_by_words(death.content)} ({death.scene})" for death in refuted]


def _added_done(result: Any) -> str:
    if any(issue.kind == "stale" for issue in result.issues):
        return "card_apart"
    return "card_shared" if any(issue.kind == "unresolved" for issue in result.issues) else "confirm_card"


def _noted_words(result: Any) -> str | list[str]:
    if result.is_repeat:
        return named_by_words(result.note.content)
    if result.stated is not None:
        return [f"{state.name} → {state.value_name or '—'}" for state in (result.stated, *result.also_stated)]
    if result.standing and _noted_done(result) == "note_unset":
        return str(result.standing[0].name)
    if result.standing:
        return f"{result.standing[0].name} → {result.standing[0].value_name or '—'}"
    return ""


@dataclass(frozen=True, kw_only=True)
class PageForm:
    """A form of the page, which says itself where it leads back to.

    Args:
        operation: Its name in the table, or which one it is by what was sent.
        done: The words of the notice, `did_…`, or which ones by the result.
        read: The arguments, where they are not the fields of the form under their own names; None changes nothing.
        told: What the notice names, of the result, one thing or several, or the first of these fields that is filled.
        to_card: Whose card it leads to, of the result.
        knowers_of: The id of a note or thread whose knowers the notice tells, of the result.
        clearable_fields: Arguments that an empty field clears; other empty fields say nothing.
        confirmed: Whether somebody must have ticked that it is meant.
        missing_cards: The cards that its names need and that are not there, of a form about a scene.
    """

    operation: str | Callable[[FormValues], str]
    done: str | Callable[[Any], str]
    read: Callable[[Visit, FormValues], dict[str, Any] | None] | None = None
    told: Callable[[Any], str | list[str]] | tuple[str, ...] = ()
    to_card: Callable[[Any], str] | None = None
    knowers_of: Callable[[Any], str] | None = None
    clearable_fields: tuple[str, ...] = ()
    confirmed: bool = False
    missing_cards: Callable[[Visit, FormValues], list[OfferedCard]] | None = None

    def answer(self, visit: Visit, sent: FormValues) -> Response:
        """Run a form's operation with the new cards that were ticked, or offer them."""
        cards = self.missing_cards(visit, sent) if self.missing_cards else []
        if not all(sent.get(card.field) == "yes" for card in cards):
            names = ", ".join(repr(card.name) for card in cards)
            error = UnknownEntityError(f"no card has the name {names}; make it, or write the name of another")
            again = typed_again(visit, sent, problem_in(visit.request, error), cards=cards)
            if again is not None:
                return again
        for card in cards:
            visit.story.entities.add(card.name, kind=card.kind, start=str(scene_meant(visit, sent)))
        return self._run(visit, sent)

    def _run(self, visit: Visit, sent: FormValues) -> Response:
        """Run a form's operation, and redirect to its result with an undo."""
        if self.confirmed and sent.get("sure") != "yes":
            raise UserInputError("tick that this is meant; scenes change their numbers by it")
        sent = _with_own_field(sent)
        operation = _OPERATIONS[self.operation if isinstance(self.operation, str) else self.operation(sent)]
        model = arguments_of(operation.function, operation.without)
        payload = _fields(visit, sent, model.model_fields) if self.read is None else self.read(visit, sent)
        back = sent.get("back") or visit.link(visit.view)
        if payload is None:
            return led_back(back, "same", at=sent.get("at", ""))
        form_fields = {
            name: value for name, value in payload.items() if value not in ("", None) or name in self.clearable_fields
        }
        if sent.get("version") and "expected_version" in model.model_fields:
            form_fields["expected_version"] = sent["version"]
        try:
            result = operation.run(visit.story, read_arguments(model, form_fields))
        except StaleVersionError as error:
            return _stale_page(visit, sent, error)
        number = change_number(result)
        # What has no number, or several, tells by itself what it changed.
        is_same = number is None and any(hasattr(result, name) for name in ("change", "change_id"))
        is_repeat = getattr(result, "is_repeat", False)
        is_same = is_same and not is_repeat
        known_to, not_known_to = ("", "") if is_same or is_repeat else self._knowers(visit, result, payload)
        text = self.told(result) if callable(self.told) else next(filter(None, map(sent.get, self.told)), "")
        if not isinstance(text, str):
            text = visit.word("between_names").join(text)
        return led_back(
            visit.link("card", entity=self.to_card(result)) if self.to_card else back,
            "same" if is_same else self.done if isinstance(self.done, str) else self.done(result),
            told=text,
            kept=visit.word("between_names").join(getattr(result, "kept_from", ())),
            known=visit.word("between_names").join(getattr(result, "known_only_by", ())),
            known_to=known_to,
            not_known_to=not_known_to,
            knowers_over="1" if getattr(result, "knowers_over", False) else "",
            refuted=visit.word("between_names").join(_refuted_deaths(result)),
            lost=len(getattr(result, "lost", ())),
            undo="" if number is None else str(number),
            at=sent.get("at", ""),
        )

    def _knowers(self, visit: Visit, result: Any, payload: Mapping[str, Any]) -> tuple[str, str]:
        """Return who knows a note or thread by the rules, and who of its scene does not."""
        if self.knowers_of is None or ("memory_id" in payload and "content" not in payload):
            return "", ""
        stores, project_id = visit.served.stores, visit.served.project_id
        knowers = knowers_by_rules(stores, project_id, source_id=self.knowers_of(result))
        if knowers is None:
            return "", ""
        names = _people_listed(visit, knowers.people) or visit.word("note_known_to_nobody")
        return names, _people_listed(visit, knowers.unaware_beside)


def _people_listed(visit: Visit, people: Sequence[Knower | Unaware]) -> str:
    """Return the first names with the mark of a guess."""
    mark = visit.word("in_brackets", words=visit.word("guess"))
    space = "" if visit.language == "zh" else " "
    names = [f"{one.name}{space}{mark}" if one.is_doubtful else one.name for one in people[:MAX_NAMED]]
    return visit.word("between_names").join([*names, "…"] if len(people) > MAX_NAMED else names)


def _with_own_field(form: FormValues) -> FormValues:
    """Return a form with the field that its author named."""
    name, value = (form.get(part, "").strip() for part in ("own_name", "own_value"))
    return {**form, f"fields:{name[:100]}": value} if name and value else form


class Contested(NamedTuple):
    """A stale form field, with the present and the sent value."""

    label: str
    field: str
    stored: str
    sent: str


_WORDS_OF_CHANGES = {**WORDS_OF_FIELDS, "event_type": "kind_of_fact"}
"""Fields of a change, each with its word; a kind is chosen, not typed."""


def _stale_page(visit: Visit, form: FormValues, error: StaleVersionError) -> Response:
    """Show present values beside a stale form, which can be sent again."""
    labels, names = labels_for(visit.language), visit.names()
    contested = []
    for name, value in error.sent.items():
        field = next((other_name for other_name in (name, f"fields:{name}") if other_name in form), "value")
        word = visit.word_or(_WORDS_OF_CHANGES.get(name, name))
        label = labels.attribute(name).replace("_", " ") if word == name else word
        stored_text = _in_lines(error.stored.get(name), names)
        contested.append(Contested(label, field, stored_text, form.get(field, _in_lines(value, names))))
    contested_fields = {other_contested.field for other_contested in contested} | {"version"}
    rest = [(name, value) for name, value in form.items() if name not in contested_fields]
    return visit.page(
        "stale",
        status=412,
        contested=contested,
        rest=rest,
        version=error.version,
        action=visit.request.url.path + (f"?{visit.request.url.query}" if visit.request.url.query else ""),
        back_to=own_address(form.get("back") or visit.link(visit.view)),
    )


def _in_lines(value: Any, names: Mapping[str, str]) -> str:
    """Return a stored value as a form has it, one entry of a list a line."""
    values = value if isinstance(value, list) else [] if value is None else [value]
    return "\n".join(names.get(entity_id, entity_id) for entity_id in map(str, values))


def _fields(visit: Visit, form: FormValues, fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return a form's arguments, from the slider's position by default.

    Several names in one field are a list, places of scenes also with spaces between; `scenes:3` is one more entry of
    a list, `fields:role` one of an object.
    """
    payload: dict[str, Any] = {name: visit.standing for name in ("start", "as_of") if name in fields}
    for field, statement in form.items():
        name, _, part = field.partition(":")
        if name not in fields:
            continue
        is_list = get_origin(fields[name].annotation) is list
        if name == "position":
            payload[name] = str(scene_meant(visit, form, name))
        elif not part:
            field_names = visit.names_in("\n".join(statement.split()) if name == "scenes" else statement)
            payload[name] = [*field_names, *payload.get(name, ())] if is_list else statement.strip()
        elif is_list:
            payload.setdefault(name, []).append(statement)
        elif statement.strip():
            payload.setdefault(name, {})[part] = statement.strip()
    return payload


def led_back(
    back: str,
    done: str,
    *,
    told: str = "",
    kept: str = "",
    known: str = "",
    known_to: str = "",
    not_known_to: str = "",
    knowers_over: str = "",
    refuted: str = "",
    lost: int = 0,
    undo: str = "",
    at: str = "",
) -> Response:
    """Redirect to a page with its change, at element `at`."""
    parts = urlsplit(own_address(back))
    remaining_pairs = [pair for pair in parse_qsl(parts.query, keep_blank_values=True) if pair[0] not in NOTICE_FIELDS]
    names = [("told", told[:MAX_TOLD]), ("secret_from", kept[:MAX_TOLD]), ("known_only_by", known[:MAX_TOLD])]
    names += [("known_to", known_to[:MAX_TOLD]), ("not_known_to", not_known_to[:MAX_TOLD])]
    names += [("knowers_over", knowers_over), ("refuted", refuted[:MAX_TOLD])]
    statements = [("done", done), *names, ("lost", str(lost or ""))]
    query = urlencode(
        [*remaining_pairs, *(pair for pair in [*statements, ("undo", undo)] if pair[1])], errors="replace"
    )
    anchor = f"#{quote(at, safe='-_:.', errors='replace')}" if at else ""
    return RedirectResponse(f"{parts.path}?{query}{anchor}", status_code=303)


@router.post("/page/projects/{project_id}/undo")
def take_back(visit: Visited, form: Form) -> Response:
    """Take a change back, and lead to where it was told."""
    number = form.get("undo", "")
    if not (number.isdecimal() and len(number) <= MAX_DIGITS):
        raise UserInputError(
            "what is to be taken back is not said whole; use the button beside the notice, or the list of changes"
        )
    undone = visit.story.undo(change_id=int(number))
    if undone.change.kind == "add" and undone.change.subject == "entity":
        # Its card, where the notice stood, is gone.
        return led_back(visit.link("cards"), "undo")
    draft = dict(parse_qsl(urlsplit(form.get("back", "")).query)).get("draft", "")
    if draft:
        # The scene where the notice stood is gone; what was written at the desk is there again.
        return led_back(visit.link("write", kept=draft), "undo")
    return led_back(form.get("back", ""), "undo")


# --- Scenes and facts ---


def scene_meant(visit: Visit, form: FormValues, name: str = "position") -> StoryPosition:
    """Return the scene that a form is about, which must lie before the position of the page."""
    place = place_in(form, name)
    if place is None or place.chapter_index is None or place.scene_index is None:
        raise UserInputError("which scene is meant is not said")
    if visit.as_of is not None and not visit.as_of.admits(place.chapter_index, place.scene_index):
        raise UnknownSceneError(f"scene {place} does not lie before {visit.as_of}; move the slider first")
    return place


def _noted(visit: Visit, form: FormValues) -> dict[str, Any]:
    """Return a scene's fact, read from the next scene on."""
    place = scene_meant(visit, form)
    return {
        "content": form.get("content", ""),
        "attached_to": visit.names_in(form.get("about", "")) or None,
        "scene_id": str(place),
        **{name: form.get(name) for name in ("importance", "event_type", "evidence")},
        "ends": [value for name, value in form.items() if name.startswith("ends:")],
        "as_of": visit.standing,
    }


@router.post("/page/projects/{project_id}/story/add/preview")
def preview_fact(visit: Visited, form: Form) -> Response:
    """Show the state that a fact of a scene would set."""
    place = scene_meant(visit, form)
    start = f"{place.chapter_index}:{(place.scene_index or 0) + 1}"
    return _note_preview(visit, form, "story/add", start=start)


@router.post("/page/projects/{project_id}/lore/add/preview")
def preview_entry(visit: Visited, form: Form) -> Response:
    """Show the state that an entry of the lorebook would set."""
    return _note_preview(visit, form, "lore/add", start=form.get("start", "").strip() or None)


def _note_preview(visit: Visit, form: FormValues, target: str, *, start: str | None) -> Response:
    content = form.get("content", "").strip()
    if not content:
        raise UserInputError("the note is empty; write what holds in the story")
    place = place_in({"start": start or ""}, "start")
    preview = visit.story.memories.preview(content, start=place)
    stated = [state for state in (preview.stated, *preview.also_stated) if state is not None]
    labels = labels_for(visit.language)
    return visit.page(
        "note_preview",
        content=content,
        stated=stated,
        over=preview.over,
        kept_from=preview.kept_from,
        known_only_by=preview.known_only_by,
        knowers_over=preview.knowers_over,
        perhaps_over=preview.perhaps_over,
        attributes={state.attribute: labels.attribute(state.attribute) for state in stated},
        rest=list(form.items()),
        target=target,
        back_to=own_address(form.get("back") or visit.link(visit.view)),
    )


def _fact_edited(visit: Visit, form: FormValues) -> dict[str, Any] | None:
    """Return the changed fields of a fact, leaving equal ones derived.

    Whom a memory is about, but is not known yet at the position, is not in the form, and stays.
    """
    place = scene_meant(visit, form)
    reading = visit.story.scenes.read(position=place, as_of=visit.as_of)
    memory_key = ("memory", form.get("memory_id", ""))
    fact = next(
        (
            established_fact
            for established_fact in [*reading.facts, *reading.rejected]
            if (established_fact.kind, established_fact.source_id) == memory_key
        ),
        None,
    )
    if fact is None:
        raise UserInputError(f"scene {place} holds no fact {memory_key[1][:100]!r}; look at the scene again")
    values_before = {
        "content": fact.text,
        "importance": str(fact.importance or ""),
        "event_type": fact.event_type,
        "evidence": "" if fact.span is None else (reading.scene.text or "")[slice(*fact.span)].strip(),
    }
    # A browser with scripts sends what was changed alone.
    statements = {name: form[name].strip() for name in values_before if name in form}
    if statements.get("content") == "":
        raise UserInputError("the fact is empty; write what holds in the story, or reject it")
    about = (
        visit.names_in(form["about"]) if "about" in form else [named_entity.entity_id for named_entity in fact.entities]
    )
    ids_by_name = {named_entity.name: named_entity.entity_id for named_entity in fact.entities}
    changes: dict[str, Any] = {
        **{
            name: value
            for name, value in statements.items()
            if value != values_before[name] and (value or name == "evidence")
        },
        "attach": [text for text in about if text not in ids_by_name and text not in ids_by_name.values()],
        "detach": [entity_id for name, entity_id in ids_by_name.items() if not {name, entity_id} & set(about)],
    }
    changes = {name: value for name, value in changes.items() if value != []}
    return {"memory_id": memory_key[1], **changes, "as_of": visit.standing} if changes else None


def _fact_recorded(visit: Visit, form: FormValues) -> dict[str, Any]:
    return {
        "position": str(scene_meant(visit, form)),
        **{name: form.get(name, "") for name in ("kind", "source_id")},
        "text": form.get("text", "").strip() if form.get("action") == "edit" else None,
        "as_of": visit.standing,
    }


def _missing_cards(visit: Visit, form: FormValues) -> list[OfferedCard]:
    """Return the names of a scene's place and cast that no card has."""
    entities = visit.story.entities.list()
    names: list[tuple[EntityType, str]] = [("location", name) for name in [form.get("location", "").strip()] if name]
    names += [("character", name) for name in visit.names_in(form.get("cast", ""))]
    return [
        OfferedCard(f"card:{kind}:{name}", name, kind)
        for kind, name in dict.fromkeys(names)
        if means_nobody(name, entities, kind)
    ]


def _staged(visit: Visit, form: FormValues) -> dict[str, Any]:
    """Return the place and cast of a scene from a form."""
    return {
        "position": str(scene_meant(visit, form)),
        "location": form.get("location", "").strip(),
        "cast": visit.names_in(form.get("cast", "")),
        "names": _meanings(visit, form),
    }


def _meanings(visit: Visit, form: FormValues) -> dict[str, str] | None:
    """Return whom names mean in a scene, one `name=whom` a line; a line that is gone takes its meaning back."""
    if "names" not in form:
        return None
    lines = [line.partition("=") for line in re.split("[\n;；]", form["names"]) if line.strip()]
    unread = next((name for name, sign, meant in lines if not (sign and name.strip() and meant.strip())), None)
    if unread is not None:
        raise UserInputError(f"{unread.strip()[:100]!r} says no meaning; write a name, = and whom it means, one a line")
    stood = visit.story.scenes.read(position=scene_meant(visit, form), as_of=visit.as_of).names
    return {**dict.fromkeys(stood, ""), **{name.strip(): meant.strip() for name, _, meant in lines}} or None


def _scene_moved(visit: Visit, form: FormValues) -> dict[str, Any]:
    target = f"{form.get('to_chapter', '')}:{form.get('to_scene', '')}"
    return {"source": str(scene_meant(visit, form)), "target": target}


# --- Knowledge ---


def _knowledge_fields(visit: Visit, form: FormValues) -> dict[str, Any]:
    """Return the author's statement in a cell.

    `as_told` removes it.
    """
    cell = {name: form.get(name, "").strip() for name in ("character_id", "memory_id")}
    kind = form.get("kind", "").strip()
    if kind == "as_told":
        return cell
    how = {name: form.get(name, "").strip() for name in ("how", "learned_from")} if kind == "knows" else {}
    start = visit.standing if form.get("since") == "here" else ""
    return {**cell, "kind": kind, **how, "certainty": 0.5 if form.get("unsure") else 1.0, "start": start}


# --- Cards ---


def _card(visit: Visit, form: FormValues) -> EntityCard:
    """Return the card of a form, as it is known at the position of the page."""
    name = form.get("entity_id", "").strip()
    if not name:
        raise UserInputError("which card is changed is not said; open it from the list of cards")
    return visit.story.entities.get(name, as_of=visit.until)


def _card_edited(visit: Visit, form: FormValues) -> dict[str, Any]:
    """Return the changed name, role and description of a card."""
    shown_entity = _card(visit, form).entity
    statements = {card_field: form[card_field].strip()[:MAX_TEXT] for card_field in CARD_FIELDS if card_field in form}
    if "name" in statements and not statements["name"]:
        raise UserInputError("a card needs a name; write one")
    names = {entity.entity_id: entity.name for entity in visit.story.entities.list(as_of=visit.until)}
    values_before = field_values(shown_entity, names, visit.word("between_names"))
    changed: dict[str, Any] = {
        text: value for text, value in statements.items() if value != getattr(shown_entity, text)
    }
    fields = {name.removeprefix("fields:"): text.strip() for name, text in form.items() if name.startswith("fields:")}
    changed |= {name: value for name, value in fields.items() if value != values_before.get(name, "")}
    if not changed:
        raise UserInputError("nothing of the card was changed; write another name, role or description")
    return {"entity_id": shown_entity.entity_id, "changes": changed}


def _alias_changed(visit: Visit, form: FormValues) -> dict[str, Any]:
    whole = visit.story.entities.get(_card(visit, form).entity.entity_id).entity
    alias, removed_id = form.get("alias", "").strip()[:400], form.get("gone", "").strip()
    if removed_id:
        kept_entries = [alias.model_dump() for alias in whole.aliases if alias.alias != removed_id]
        if len(kept_entries) == len(whole.aliases):
            raise UserInputError(f"{removed_id!r} is no other name of {whole.entity_id}; choose one of its card")
        return {"entity_id": whole.entity_id, "changes": {"aliases": kept_entries}}
    if not alias:
        raise UserInputError("the name is empty; write another name of this card")
    place = place_in(form, "since")
    since = {} if place is None else {"first_chapter": place.chapter_index, "first_scene": place.scene_index}
    names = visit.names_in(alias)
    return {"entity_id": whole.entity_id, "changes": {"alias": [{"alias": name, **since} for name in names]}}


def _state_said(visit: Visit, form: FormValues) -> dict[str, Any]:
    """Return how an attribute stands from the page's position on, in the shape that it had: lists have lines."""
    card = _card(visit, form)
    attribute = form.get("attribute", "").strip()[:200]
    if not attribute:
        raise UserInputError("which attribute is corrected is not said; write one, such as status")
    old = None if card.state is None else card.state.state_data.get(attribute)
    if old is not None and not isinstance(old, str | list):
        raise UserInputError(f"{attribute!r} is neither a text nor a list; correct it over HTTP or in Python")
    text = form.get("value", "").strip()[:MAX_TEXT]
    lines = [line.strip() for line in text.split("\n") if line.strip()]
    olds = old if isinstance(old, list) else [old]
    if attribute in ID_ATTRIBUTES or any(isinstance(old, str) and is_entity_id(old) for old in olds):
        lines = [_entity_id_or_text(visit, line) for line in lines]
    value = None if not text else lines if isinstance(old, list) else "\n".join(lines)
    if value == old:
        raise UserInputError(f"{attribute!r} stands like that already; write another value")
    return {"entity_id": card.entity.entity_id, "changes": {}, "state": {attribute: value}, "start": visit.standing}


def _entity_id_or_text(visit: Visit, text: str) -> str:
    """Return the id of a named entity, or the text."""
    try:
        return visit.story.entities.get(text, as_of=visit.until).entity.entity_id
    except UnknownEntityError:
        return text


FORMS: dict[str, PageForm] = {
    **{
        f"memory/{decision}": PageForm(
            operation=f"{decision}_memory", done="check" if decision == "confirm" else decision, told=_memory_words
        )
        for decision in DECISIONS
    },
    "memory/end": PageForm(operation="end_memory", done="end", told=_memory_words),
    "story/fact": PageForm(
        operation="edit_memory",
        done="change",
        read=_fact_edited,
        told=_memory_words,
        knowers_of=_edited_id,
        clearable_fields=("evidence",),
    ),
    "story/add": PageForm(operation="add_note", done=_noted_done, read=_noted, told=_noted_words, knowers_of=_note_id),
    "lore/add": PageForm(operation="add_note", done=_noted_done, told=_noted_words, knowers_of=_note_id),
    "lore/import": PageForm(
        operation="import_lore", done="lore", told=lambda result: str(len(result.added) + len(result.updated))
    ),
    "story/recorded": PageForm(
        operation="amend_recorded_fact", done="record", read=_fact_recorded, clearable_fields=("text",)
    ),
    "story/staging": PageForm(
        operation="set_staging",
        done="staging",
        read=_staged,
        clearable_fields=("location", "cast"),
        missing_cards=_missing_cards,
    ),
    "card/kind": PageForm(
        operation="edit_entity",
        done="edit_card",
        read=lambda visit, sent_values: {
            "entity_id": _card(visit, sent_values).entity.entity_id,
            "changes": {"kind": sent_values.get("kind", "")},
        },
        told=_card_name,
    ),
    "story/text": PageForm(operation="edit_scene", done="text", clearable_fields=("text", "title")),
    "story/insert": PageForm(operation="insert_scene", done="scene_insert", clearable_fields=("text",), confirmed=True),
    "story/move": PageForm(operation="move_scene", done="scene_move", read=_scene_moved, confirmed=True),
    "story/delete": PageForm(operation="delete_scene", done="scene_delete", confirmed=True),
    "story/summary": PageForm(operation="write_summary", done="summary", clearable_fields=("text",)),
    "threads/end": PageForm(
        operation=lambda sent: "resolve_thread" if sent.get("ending") in ("", "paid", None) else "abandon_thread",
        done="end_thread",
        told=_description,
    ),
    "threads/reopen": PageForm(operation="reopen_thread", done="undo"),
    "threads/advance": PageForm(operation="advance_thread", done="advance_thread", told=_description),
    "threads/edit": PageForm(
        operation="edit_thread",
        done="edit_thread",
        told=_description,
        clearable_fields=("description", "category", "pay_off"),
    ),
    "threads/add": PageForm(operation="add_thread", done="add_thread", told=_description, knowers_of=_thread_id),
    "relationships/feelings": PageForm(operation="edit_relationship", done="feelings"),
    "knowledge/say": PageForm(
        operation=lambda sent: "forget_knowledge" if sent.get("kind") == "as_told" else "set_knowledge",
        done="say",
        read=_knowledge_fields,
        told=("words", "memory_id"),
        clearable_fields=("kind",),
    ),
    "card/edit": PageForm(operation="edit_entity", done="edit_card", read=_card_edited, told=_card_name),
    "card/alias": PageForm(operation="edit_entity", done=_aliased_done, read=_alias_changed, told=("alias", "gone")),
    "card/state": PageForm(operation="edit_entity", done="state", read=_state_said, told=_card_name),
    "cards/add": PageForm(operation="add_card", done=_added_done, told=_card_name, to_card=_card_id),
    "card/rename": PageForm(operation="rename_card", done="rename", told=_card_name, to_card=_card_id),
    "card/merge": PageForm(operation="merge_entities", done=_merged_done, told=_merged_words, to_card=_card_id),
    "card/delete": PageForm(operation="delete_entity", done="card_delete", told=("name",), confirmed=True),
    "card/split": PageForm(
        operation="split_entity", done="split", told=("new_name",), to_card=attrgetter("other.entity_id")
    ),
    "who-is-who/confirm": PageForm(operation="confirm_candidate", done="confirm_card", told=("name",)),
    "who-is-who/confirm-several": PageForm(
        operation="confirm_candidates", done="confirm_card", told=lambda result: [*map(_card_name, result)]
    ),
    "who-is-who/name": PageForm(operation="merge_candidate", done="name", told=("other",)),
    "who-is-who/drop": PageForm(operation="drop_candidate", done="drop", told=("name",)),
    "check/waive": PageForm(operation="add_waiver", done="waive"),
    "check/unwaive": PageForm(operation="remove_waiver", done="unwaive"),
}
"""Address below a project to the form that is sent there."""


def _handler(form: PageForm) -> Callable[..., Response]:
    def answer(visit: Visited, sent_values: Form) -> Response:
        return form.answer(visit, sent_values)

    return answer


for _address, _form in FORMS.items():
    router.add_api_route(
        f"/page/projects/{{project_id}}/{_address}", _handler(_form), methods=["POST"], response_class=Response
    )
