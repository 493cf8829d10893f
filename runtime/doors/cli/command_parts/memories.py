"""Parts of commands on memories and notes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from novelgen.models.memory import over_from
from novelgen.models.position import StoryPosition
from novelgen.shell_words import in_shell
from novelgen.words import filled
from runtime.doors.cli import output
from runtime.doors.cli.command_view import MAX_LISTED, View, cell, cells_of, does, guess_text
from runtime.doors.cli.labels import in_words


@cell
def _memory_text(chunk: Any, view: View) -> str:
    if not chunk.superseded_by:
        return str(chunk.content)
    ended_place = over_from(chunk.superseded_by)
    if ended_place is not None:
        return f"{chunk.content}{view.labels.prompt.over.format(StoryPosition(*ended_place))}"
    return f"{chunk.content} {view.labels['head.outdated'].format(source=chunk.superseded_by)}"


MEMORY_COLUMNS = cells_of("entity_id=:memory_id place=@ kind=~content_type importance text=:memory_text")


@cell
def _attached_to(result: Any, view: View) -> str:
    return _attachment_text(result.attachments, view)


def _attachment_text(attachments: Sequence[Any], view: View) -> str:
    """A memory's attachments on one line: entities, chapters, book."""
    lines = (
        attachment.name + view.labels.in_brackets(attachment.target)
        if attachment.name
        else _target(attachment.target, view)
        for attachment in attachments
    )
    return view.labels["line.comma"].join(lines)


def _target(target: str, view: View) -> str:
    """Return a target as people read it: chapter:3 as chapter 3."""
    from novelgen.models.memory import chapter_of_target

    chapter = chapter_of_target(target)
    return in_words(target) if chapter is None else view.labels["line.chapter"].format(chapter)


@does("show", "attach_memories", "detach_memories")
def _show_attachments(result: Any, view: View) -> None:
    [memory_id] = view.values["memory_ids"]
    same = "" if result.changed else view.labels["line.as_before"]
    output.print_text(f"{memory_id}: {_attachment_text(result.attachments[memory_id], view)}{same}")


@cell
def _memory_status(memory: Any, view: View) -> str:
    pinned = f"{view.labels['line.comma']}{view.labels['value.pinned']}" if memory.pinned else ""
    over = "" if memory.over_at is None else view.labels.prompt.over.format(memory.over_from)
    return view.labels.value(memory.status) + pinned + over


@does("show", "delete_memory", *(f"{verb}_memory" for verb in ("confirm", "pin", "unpin", "ban", "unban")))
def _show_decision(result: Any, view: View) -> None:
    output.print_text(f"{view.values['memory_id']}: {_memory_status(result.memory, view)}")


@does("show", "end_memory")
def _show_end(result: Any, view: View) -> None:
    view.say("ended_memory", id=view.values["memory_id"], place=str(result.memory.over_from))
    _say_standing(result, view)


@does("show", "edit_memory")
def _show_edited_memory(result: Any, view: View) -> None:
    memory_id = view.values["memory_id"]
    if set(view.values) - {"memory_id", "attach", "detach", "attached_to"}:
        view.say("edited_memory", id=memory_id)
    if "start" in view.values:
        view.say("moved_note", id=memory_id, place=view.values["start"])
    _say_effects(result, view, note_id=memory_id)
    if set(view.values) & {"attach", "detach", "attached_to"}:
        output.print_text(f"{memory_id}: {_attachment_text(view.part.get(memory_id=memory_id).attachments, view)}")


@does("run", "add_note")
def _note(view: View) -> Any:
    if view.asked["is_previewed"]:
        return view.part.preview(content=view.values["content"], start=view.values.get("start"))
    return view.part.add(**view.values)


def _in_plain_words(item: Any, value: str, view: View) -> str:
    """Return a state as a clause."""
    from novelgen.memory.attributes import is_death

    attribute = item.attribute
    if not value:
        key = "says_holder_gone"
    elif attribute in ("physical_state", "condition") or (attribute == "status" and not is_death(attribute, value)):
        key = "says_condition"
    else:
        key = f"says_{attribute}"
    return filled(view.labels[f"line.{key}"], name=item.name, value=value)


def _say_all_stated(result: Any, view: View, *, key: str) -> None:
    """Say all that a note states, one line each."""
    for stated in ([result.stated] if result.stated else []) + result.also_stated:
        _say_stated(stated, view, key=key)


def _say_stated(stated: Any, view: View, *, key: str) -> None:
    if stated.borne_by is not None:
        start = view.values.get("start")
        view.say(
            "states_taken_in_secret" if view.values.get("hidden_from") else "states_taken",
            name=stated.name,
            value=stated.value_name,
            other=stated.borne_by,
            gone=stated.entity_id,
            project=view.project,
            field=in_shell(f"disguise={stated.name}"),
            start=f" --from {start}" if start else "",
            revealed=start or "…",
        )
        return
    if stated.value:
        what = _in_plain_words(stated, stated.value_name, view)
    else:
        what = filled(view.labels["line.says_lost"], name=stated.name)
    if stated.stood_already:
        view.say(f"{key}_stood", what=what)
        return
    where = {"place": stated.holds_after} if stated.holds_after else {}
    view.say(f"{key}_after" if where else key, what=what, **where)
    if stated.before is not None:
        view.say("states_over", what=_in_plain_words(stated, stated.before, view))
    for place in stated.places_over:
        view.say("states_over", what=_in_plain_words(place, place.value_name, view))


def _typed_field(attribute: str, view: View) -> str:
    """Return the name by which `card edit` takes an attribute."""
    from novelgen.card_fields import fields_by_kind

    fields = (field for of_kind in fields_by_kind().values() for field in of_kind)
    return next((field.called(view.labels.language) for field in fields if field.key == attribute), attribute)


def _say_standing(result: Any, view: View) -> None:
    """Say what a note left unchanged, with the command that changes it."""
    standing, beside = result.standing, "_beside" if result.stated else ""
    unset = [item for item in standing if not item.value_name and item.attribute != "holder"]
    stood = [item for item in standing if item not in unset]
    if stood:
        first = stood[0]
        values = (_in_plain_words(item, item.value_name, view) for item in stood)
        view.say(
            ("states_unchanged" if first.value_name else "states_unheld") + beside,
            values=view.labels.prompt.separator.join(values),
            command=_setting(first, view),
            clearing=in_shell(f"{_typed_field(first.attribute, view)}="),
        )
    for item in unset:
        doubted = "_in_doubt" if item.is_in_doubt and not beside else ""
        view.say(f"states_unset_{item.attribute}{beside}{doubted}", name=item.name, command=_setting(item, view))


def _setting(item: Any, view: View) -> str:
    """Return the command that sets a state."""
    start = view.values.get("start")
    field = _typed_field(item.attribute, view)
    command = f"novelgen card edit {view.project} {in_shell(item.name)} {in_shell(f'{field}=…')}"
    return command + (f" --from {start}" if start else "")


@does("show", "add_note")
def _show_note(result: Any, view: View) -> None:
    if view.asked["is_previewed"]:
        if result.stated is None:
            view.say("states_nothing")
        _say_all_stated(result, view, key="would_state")
        _say_standing(result, view)
        say_kept(result, view, source_id="NOTE")
        _say_ended(result, view)
        return
    start, note = view.values.get("start"), result.note
    if result.is_repeat:
        view.say("noted_already", id=note.chunk_id)
        return
    view.say("noted_from" if start else "noted", id=note.chunk_id, place=start)
    if any(item.type == "chapter" for item in note.attached_to):
        lines = (_target(item.id, view) for item in note.attached_to if item.type == "chapter")
        view.say("noted_for", what=view.labels["line.comma"].join(lines))
    _say_effects(result, view, note_id=note.chunk_id)


def _say_effects(result: Any, view: View, *, note_id: str) -> None:
    """Say what a note that was added or changed does to states, knowers and earlier notes."""
    _say_all_stated(result, view, key="states")
    _say_standing(result, view)
    say_kept(result, view, source_id=note_id)
    _say_ended(result, view, note_id=note_id)


def say_kept(result: Any, view: View, *, source_id: str) -> None:
    """Say the only knowers of a note or a thread, and from whom its words keep it."""
    if result.known_only_by:
        view.say("note_known_by", names=view.labels.listing(result.known_only_by))
    command = f"novelgen memory knowledge {view.project} {source_id}"
    if result.knowers_over:
        view.say("note_knowers_over", command=f"{command} NAME hidden")
    if not result.kept_from:
        return
    start = view.values.get("start")
    command = f"{command} {in_shell(result.kept_from[0])} knows" + (f" --from {start}" if start else "")
    view.say("note_kept_from", names=view.labels.listing(result.kept_from), command=command)


def _say_ended(result: Any, view: View, *, note_id: str = "") -> None:
    """Say which earlier notes are over, and which may be, with the command that marks them so."""
    for note in result.over:
        view.say("note_over", id=note.memory_id, place=note.place or view.labels.always, text=note.content)
    if not result.perhaps_over:
        return
    for note in result.perhaps_over:
        view.say("note_perhaps_over", id=note.memory_id, place=note.place or view.labels.always, text=note.content)
    first = result.perhaps_over[0].memory_id
    if note_id:
        view.say("note_ends", command=f"novelgen memory edit {view.project} {note_id} --ends {first}")
    else:
        view.say("note_would_end", option=f"--ends {first}")


@does("aside", "add_note")
def _note_aside(result: Any, view: View) -> None:
    if view.asked["is_previewed"] or result.is_repeat:
        return
    if result.occurs_nowhere:
        view.remark("occurs_nowhere")
    if not view.values.get("known_by"):
        is_of_nobody = not result.named and all(item.is_default for item in result.note.attached_to)
        say_knowers(result.note.chunk_id, view, is_of_nobody=is_of_nobody)


@does("aside", "edit_memory")
def _edit_aside(result: Any, view: View) -> None:
    if {"content", "start"} & set(view.values):
        say_knowers(result.memory.chunk.chunk_id, view)


def say_knowers(source_id: str, view: View, *, is_of_nobody: bool = False) -> None:
    """Say who knows a memory or a thread by the rules, and who of its scene does not.

    Args:
        source_id: The memory or thread.
        view: The view of the command.
        is_of_nobody: It names nobody, so that nobody known is a slip.
    """
    from runtime.story.knowledge import knowers_by_rules

    knowers = knowers_by_rules(view.stores, view.project, source_id=source_id)
    if knowers is None:
        return
    if is_of_nobody and not knowers.people:
        view.remark("concerns_nobody")
        return
    names = _people_listed(knowers.people, view) or view.labels["value.nobody"]
    command = f"novelgen memory knowledge {view.project} {source_id}"
    if not knowers.unaware_beside:
        view.remark("known_by_rules", names=names, command=f"{command} NAME")
        return
    view.remark(
        "known_by_rules_and_not_by",
        names=names,
        others=_people_listed(knowers.unaware_beside, view),
        command=f"{command} {in_shell(knowers.unaware_beside[0].name)}",
        hiding=f"{command} NAME",
    )


def _people_listed(people: Sequence[Any], view: View) -> str:
    """Return names with the mark of a guess."""
    names = [f"{one.name}{guess_text(view) if one.is_doubtful else ''}" for one in people]
    more = view.labels["line.and_more"].format(len(names) - MAX_LISTED) if len(names) > MAX_LISTED else ""
    return f"{view.labels.listing(names[:MAX_LISTED])} {more}".rstrip()


@does("show", "list_memories")
def _more_memories(result: Any, view: View) -> None:
    if result.total > len(result.memories):
        view.say("more_memories", count=result.total - len(result.memories))


@does("show", "attach_mentions")
def _show_mentions(result: Any, view: View) -> None:
    if result.memories:
        key = "mentions_attached" if result.is_attached else "mentions"
        view.say(key, count=len(result.memories), entity=result.target)


@does("asks", "undo_consolidations")
def _consolidation_asked(view: View, payload: Mapping[str, Any]) -> str:
    return str(payload.get("chunk_id") or view.labels["value.all"])


@does("show", "consolidate_memories")
def _show_consolidation(report: Any, view: View) -> None:
    labels = view.labels
    sources = sum(len(group.source_ids) for group in report.groups)
    done_text = labels["line.memories_into"].format(sources, len(report.groups))
    if not report.dry_run:
        by_model = sum(group.is_models for group in report.groups)
        done_text += labels["line.of_them_written_by_the_model"].format(by_model)
    output.print_pairs(
        {
            labels["value.project"]: view.project,
            labels["value.limit"]: labels["line.memories_per_entity"].format(report.limit),
            labels["line.would_consolidate" if report.dry_run else "value.consolidated"]: done_text,
            labels["value.memories"]: f"{report.memories_before} -> {report.memories_after}",
            labels["line.still_over_the_limit"]: labels.listing(f"{name} {n}" for name, n in report.over_limit.items()),
            labels["line.changed_meanwhile"]: labels["line.groups_left_alone"].format(report.overtaken)
            if report.overtaken
            else None,
            labels["value.index"]: None
            if report.dry_run
            else output.index_state(report.indexing, view.project, labels),
        }
    )
    if report.dry_run:
        rows = [(group.entity_id, labels.listing(group.source_ids)) for group in report.groups]
        output.print_table(("entity", "memories"), rows, labels=labels)
