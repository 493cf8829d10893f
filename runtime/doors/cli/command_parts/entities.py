"""Parts of commands on cards and on names of the text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import click

from novelgen.errors import UserInputError
from novelgen.shell_words import in_shell
from runtime.doors.cli import output
from runtime.doors.cli.command_parts.memories import MEMORY_COLUMNS
from runtime.doors.cli.command_view import MAX_LISTED, View, cell, cells_of, count_text, does
from runtime.doors.cli.parameters import POSITION, can_ask
from runtime.doors.operations import change_number


@does("show", "delete_entity", "delete_relationship", "delete_thread")
def _show_deletion(result: Any, view: View) -> None:
    view.say("deleted", id=result.deleted, name=result.name)
    for told_choice in (
        "unlinked_memories",
        "removed_relationships",
        "changed_threads",
        "changed_scenes",
        "changed_entities",
        "removed_character_memories",
        "changed_character_memories",
    ):
        ids = getattr(result, told_choice)
        if ids:
            listed = _scene_places(view, ids) if told_choice in ("unlinked_memories", "changed_scenes") else ids
            view.say(f"after_{told_choice}", count=len(ids), ids=view.labels.listing(listed[:MAX_LISTED]))


def _scene_places(view: View, scene_labels: Sequence[str]) -> list[str]:
    """Return where scenes stand, whose ids mean nothing to their authors."""
    with view.stores.database(view.project).read() as unit:
        positions = {label: unit.scenes.position_of_label(label) for label in scene_labels[:MAX_LISTED]}
    return [
        label if position is None else view.labels.place(position.chapter_index, position.scene_index)
        for label, position in positions.items()
    ]


@does("show", "get_entity")
def _show_entity(card: Any, view: View) -> None:
    from novelgen.context.rendering import render_value
    from novelgen.models.dated_values import dated_values
    from novelgen.models.entity import DATED, GUESSED_NAMES, METADATA, SAME_AS, revealed_identity
    from runtime.doors.cli.views import print_states
    from runtime.story.attachments import StoryAttachments

    result, labels, prompt = card.entity, view.labels, view.labels.prompt
    profile = {
        name: render_value(value, view.names, prompt)
        for name, value in result.profile.items()
        if name not in ("current_state", DATED, GUESSED_NAMES, SAME_AS)
        and (name != METADATA or not isinstance(value, dict))
    }
    for dated_value in dated_values(result):
        if dated_value.value in (None, ""):
            continue
        key, place = (
            f" {dated_value.key}" if dated_value.key else "",
            labels.place(*(dated_value.start or (None, None))),
        )
        field_name = f"{labels.field(dated_value.field, result.entity_type)}{key}{labels.in_brackets(place)}"
        profile[field_name] = render_value(dated_value.value, view.names, prompt)
    identity = revealed_identity(result)
    if identity is not None:
        place = prompt.after.format(labels.place(identity.chapter_index, identity.scene_index))
        name = view.names.get(identity.entity_id, identity.entity_id)
        profile[labels["head.same_person"]] = f"{name}{labels.in_brackets(place)}"
    if result.earlier_ids:
        profile[labels["head.same_person"]] = labels.listing([*result.revealed_names, *result.earlier_ids])
    # Of a thing it is counted alone where it is named.
    hidden_columns = () if result.entity_type in ("character", "location") else ("scene_count",)
    counts = {name: value for name, value in card.metadata.items() if name not in hidden_columns}
    output.print_pairs(
        {
            labels["head.entity_id"]: result.entity_id,
            labels["head.kind"]: "" if view.values.get("entity_type") else labels.value(result.entity_type),
            labels["head.names"]: _listed_names(result, view),
            labels["head.place"]: labels.place(*result.first_told),
            labels["value.role"]: labels.role(result.role),
            labels["head.text"]: result.description,
            **{labels.field(name, result.entity_type): value for name, value in profile.items()},
            **{labels.field(name): count_text(value, view) for name, value in counts.items()},
        }
    )
    if card.state is not None:
        print_states([card.state], view.names, view.labels)
    if not view.asked["memories"]:
        return
    about = StoryAttachments(view.stores, view.project).list_about(
        result.entity_id, limit=view.asked["memories"], as_of=view.values.get("as_of")
    )
    if about.memories:
        output.print_heading(prompt.memories)
        view.table(MEMORY_COLUMNS, about.memories)
        if about.more:
            command = f"novelgen memory list {view.project} --attached-to {result.entity_id}"
            view.say("more_about", count=about.more, command=command)


@cell
def _listed_names(entity: Any, view: View) -> str:
    """Return all names of a card, with a mark behind those that the text alone suggested."""
    from novelgen.models.entity import guessed_names

    guesses = guessed_names(entity)
    mark = view.labels.in_brackets(view.labels["value.guess"])
    return view.labels.listing(f"{name}{mark}" if name in guesses else name for name in entity.names())


@does("show", "edit_entity")
def _show_edited_entity(result: Any, view: View) -> None:
    field_name = partial(view.labels.field, kind=result.entity.entity_type)
    view.say(
        "changed_fields", id=result.entity.entity_id, fields=view.labels.listing(map(field_name, result.updated_fields))
    )
    if result.holds_after is not None:
        start = view.values.get("start")
        view.say(
            "holds_from" if start else "holds_after",
            attributes=view.labels.listing(map(field_name, [*result.dated, *result.attributes])),
            place=start or result.holds_after,
        )


@does("show", "rename_card")
def _show_renaming(result: Any, view: View) -> None:
    counts = [f"{view.labels.value(place_kind)} {times}" for place_kind, times in result.counts.items()]
    names = view.labels.listing(f"{old} → {new}" for old, new in result.names.items())
    view.say("renames" if counts else "renames_alone", names=names, counts=view.labels.listing(counts))
    if result.places:
        view.table(cells_of("kind=~held_by entity_id=id times text=words"), result.places)
    if result.kept_within:
        view.say(
            "kept_within", names=view.labels.listing(f"{name} {times}" for name, times in result.kept_within.items())
        )
    if result.other_names:
        view.say("other_names", names=view.labels.listing(result.other_names))
    if result.in_text and "in_text" not in view.values:
        view.say("said_in_text", count=result.in_text)
    if result.change is None:
        view.say("rename_applies")


@does("before", "add_card")
def _ask_start(view: View, payload: dict[str, Any]) -> None:
    """Ask on a terminal from where on somebody new is known, where the story has scenes already."""
    from runtime.story.entities import has_scenes

    if "start" in payload or not can_ask() or not has_scenes(view.stores, view.project):
        return
    question = view.labels["line.ask_start"].format(name=payload["name"])
    answer = click.prompt(question, default="", show_default=False, err=True).strip()
    if answer:
        payload["start"] = POSITION.convert(answer, None, None)


@does("show", "add_card")
def _show_added_entity(result: Any, view: View) -> None:
    view.say("added_entity", id=result.entity.entity_id, name=result.entity.name)
    if result.holds_after is not None:
        if start := view.values.get("start"):
            view.say("known_from", place=start)
        else:
            view.say("known_after_naming" if result.is_known_by_text else "known_after_last", place=result.holds_after)
    elif view.values.get("start") is not None:
        view.say("known_from_start")


@does("asks", "merge_entities")
def _merging(view: View, payload: Mapping[str, Any]) -> Any:
    """Look both up, before the merge is confirmed."""
    removed_id, keep = (
        payload[kind] if _is_candidate(view, payload[kind]) else _call_text(view, payload[kind])
        for kind in ("gone", "keep")
    )
    if removed_id == keep:
        raise UserInputError(f"{payload['gone']!r} is a name of {keep} already; give two")
    return [removed_id, keep]


def _call_text(view: View, name: str) -> str:
    entity = view.part.get(name).entity
    return entity.entity_id + view.labels.in_brackets(entity.name)


def _is_candidate(view: View, name: str) -> bool:
    from runtime.story.who_is_who import is_candidate

    return is_candidate(view.stores, view.project, name=name)


@does("run", "merge_entities")
def _merge(view: View) -> Any:
    from runtime.story.who_is_who import StoryNameCandidates

    keep, removed_name = view.values["keep"], view.values["gone"]
    if _is_candidate(view, keep) or _is_candidate(view, removed_name):
        if view.values.get("start") is not None:
            raise UserInputError(
                f"{keep!r} or {removed_name!r} has no card yet; make one with `novelgen entity confirm`, "
                "then merge the two"
            )
        return StoryNameCandidates(view.stores, view.project).merge(keep=keep, other=removed_name)
    return view.part.merge(**view.values)


@does("show", "merge_entities")
def _show_merged(result: Any, view: View) -> None:
    if hasattr(result, "candidate"):
        names = view.labels.listing(result.candidate.names())
        if result.entity is not None:
            view.say("named_too", id=result.entity.entity_id, name=result.entity.name, names=names)
        else:
            view.say("offered_as", names=names, name=result.joined.name if result.joined else result.change.entity_id)
    else:
        removed_name = result.other.name if result.other else view.values["gone"]
        kept_name = result.entity.name if result.entity else view.values["keep"]
        start = view.values.get("start")
        view.say(
            "merged" if start is None else "merged_from",
            gone=result.change.other_id + view.labels.in_brackets(removed_name),
            kept=result.change.entity_id + view.labels.in_brackets(kept_name),
            place=start,
        )
        for note in result.notes.shown:
            sentence = "merge_shows" if note.hidden_from else "merge_shows_beyond"
            names = view.labels.listing(note.hidden_from or note.known_by)
            view.say(sentence, text=note.content, names=names, place=start)
        for death in result.notes.refuted:
            view.say("merge_refutes", text=death.content, scene=death.scene, place=start)
        for note in result.notes.still_hidden:
            if note.known_by:
                command = f"`novelgen memory knowledge {view.project} {note.memory_id} … knows --from {start}`"
                names = view.labels.listing(note.known_by)
                view.say("merge_known_by", text=note.content, names=names, commands=command)
                continue
            commands = [
                f"`novelgen memory knowledge {view.project} {note.memory_id} {in_shell(name)} knows --from {start}`"
                for name in note.hidden_from
            ]
            view.say(
                "merge_still_hides",
                text=note.content,
                names=view.labels.listing(note.hidden_from),
                commands=view.labels.listing(commands),
            )


@does("show", "split_entity")
def _show_split(result: Any, view: View) -> None:
    change = result.change
    old = change.entity_id + view.labels.in_brackets(result.entity.name) if result.entity else change.entity_id
    view.say("split", id=change.other_id, name=view.values["new_name"], old=old)


@does("show", "drop_candidate")
def _show_candidate_decision(result: Any, view: View) -> None:
    if result.entity is None:
        view.say("dropped_candidate", name=result.candidate.name)
    else:
        view.say("added_entity", id=result.entity.entity_id, name=_listed_names(result.entity, view))


@does("show", "confirm_candidates")
def _show_confirmed(result: Any, view: View) -> None:
    for item in result:
        _show_candidate_decision(item, view)
        if item.candidate.same_as:
            _ask_whether_same(item.candidate, view, has_card=True)
        if len(result) > 1:
            # Of one the number stands below.
            output.print_undo(change_number(item), view.project, view.labels)


def _ask_whether_same(candidate: Any, view: View, *, has_card: bool = False) -> None:
    """Ask whether two names mean one entity.

    An existing card stays.
    """
    names = [candidate.same_as, candidate.name]
    keep, removed_name = reversed(names) if has_card and _is_candidate(view, candidate.same_as) else names
    command = f"novelgen entity merge {view.project} {in_shell(keep)} {in_shell(removed_name)}"
    view.say("is_it_the_same", name=candidate.name, other=candidate.same_as, command=command)


@cell
def _changed_entity(change: Any, view: View) -> str:
    return _name_at_change(change, change.entity_id, view)


@cell
def _other_entity(change: Any, view: View) -> str:
    """Return the name of the other one, empty where a change was about one alone."""
    name = _name_at_change(change, change.other_id, view)
    return "" if name == _changed_entity(change, view) else name


def _name_at_change(change: Any, entity_id: str, view: View) -> str:
    """Return an entity's name, also after a merge or deletion."""
    return view.names.get(entity_id) or str(change.entity_names.get(entity_id, entity_id))


@cell
def _variants(candidate: Any, view: View) -> str:
    others = [f"{variant.name} {variant.count}" for variant in candidate.variants if variant.name != candidate.name]
    more = view.labels["line.and_more"].format(len(others) - MAX_LISTED) if len(others) > MAX_LISTED else ""
    query = f"  = {candidate.same_as}?" if candidate.same_as else ""
    return f"{view.labels.listing(others[:MAX_LISTED])} {more}".rstrip() + query


@does("show", "list_entities")
def _show_identities(result: Any, view: View) -> None:
    """Say of two listed cards that they are one from a scene on."""
    from novelgen.models.entity import revealed_identity

    names = {entity.entity_id: entity.name for entity in result}
    for entity in result:
        identity = revealed_identity(entity)
        if identity is not None and identity.entity_id in names:
            view.say(
                "one_after",
                gone=f"{entity.entity_id}{view.labels.in_brackets(entity.name)}",
                kept=f"{identity.entity_id}{view.labels.in_brackets(names[identity.entity_id])}",
                place=view.labels.place(identity.chapter_index, identity.scene_index),
            )


@does("show", "list_candidates")
def _show_candidates_hint(result: Any, view: View) -> None:
    request = next((item for item in result if item.same_as), None)
    if request is not None:
        _ask_whether_same(request, view)
    if result:
        kind = " --kind character" if result[0].kind == "unknown" else ""
        command = f"novelgen entity confirm {view.project} {in_shell(result[0].name)}{kind}"
        output.print_text(
            view.labels["line.makes_one_an_entity_merge_and_drop"].format(command, "novelgen entity --help")
        )
