"""Names of settings that nobody knows, told with the name that was probably meant."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from pydantic import BaseModel

from novelgen.errors import ConfigurationError
from novelgen.nearest import ALIKE, did_you_mean, nearest_name


def grouped_settings(
    given: Mapping[str, Any], settings: type[BaseModel], *, other_keywords: Sequence[str] = ()
) -> dict[str, Any]:
    """Return settings that were given as keywords, those of the memory under `memory`, where they belong."""
    of_memory = _inner(settings, "memory")
    memory: Any = given.get("memory", {})
    grouped: dict[str, Any] = {}
    for name, value in given.items():
        if name in settings.model_fields:
            grouped[name] = value
        elif name in of_memory:
            memory = {**_as_mapping(memory), name: value}
        else:
            known = [*other_keywords, *settings.model_fields, *of_memory]
            raise ConfigurationError(
                f"there is no setting {name!r}{did_you_mean(name, known, likeness=ALIKE) or _all_of(known)}"
            )
    return {**grouped, "memory": memory} if memory else grouped


def with_own_names(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return settings with the embedding model where it belongs, which other programs write under the vector store."""
    memory = given.get("memory")
    store = memory.get("vector_store") if isinstance(memory, Mapping) else None
    if not isinstance(memory, Mapping) or not isinstance(store, Mapping) or "embedding_model" not in store:
        return dict(given)
    rest = {name: value for name, value in store.items() if name != "embedding_model"}
    model = {"embedding_model": store["embedding_model"]}
    return {**given, "memory": {**model, **memory, "vector_store": rest}}


def misspelt_key(given: Mapping[str, Any], settings: type[BaseModel]) -> str | None:
    """Return what is wrong with the first key of a config file that was probably meant to be a setting, or None.

    Keys of nothing that is like a setting may be another program's.
    """
    for name in map(str, given):
        if name in settings.model_fields:
            continue
        if name in _inner(settings, "memory"):
            return f"{name!r} stands under `memory:`; move it there"
        if meant := did_you_mean(name, settings.model_fields):
            return f"there is no setting {name!r}{meant}"
    return None


def misspelt_variable(names: Iterable[str], settings: type[BaseModel], *, prefix: str) -> str | None:
    """Return what is wrong with the first environment variable that was probably meant to be a setting, or None."""
    for variable in sorted(name.upper() for name in names):
        name = variable.removeprefix(prefix).casefold()
        if name == variable.casefold() or "__" in name or name in settings.model_fields:
            continue
        if name in _inner(settings, "memory"):
            return f"there is no setting {variable}; write {prefix}MEMORY__{name.upper()}"
        nearest = nearest_name(name, settings.model_fields)
        if nearest is not None:
            return f"there is no setting {variable}; did you mean {prefix}{nearest.upper()}?"
    return None


def unknown_setting(path: Sequence[int | str], settings: type[BaseModel]) -> str:
    """Return the message for a setting whose name its group does not know."""
    group, name = [str(part) for part in path[:-1]], str(path[-1])
    model: type[BaseModel] = settings
    for part in group:
        annotation = model.model_fields[part].annotation if part in model.model_fields else None
        if not (isinstance(annotation, type) and issubclass(annotation, BaseModel)):
            break
        model = annotation
    known = [*model.model_fields, *_flat_groups(model)]
    nearest = nearest_name(name, known, likeness=ALIKE)
    meant = _all_of(known)
    if nearest is not None:
        meant = f"; did you mean {'.'.join([*group, nearest])!r}?"
    return f"there is no setting {'.'.join([*group, name])!r}{meant}"


def with_flat_settings(given: Mapping[str, Any], model: type[BaseModel]) -> dict[str, Any]:
    """Return settings of a group with those that stand beside one of its own groups moved into it.

    What stands beside it wins: the group may hold no more than defaults.
    """
    flat = _flat_groups(model)
    told = {name: value for name, value in given.items() if name not in flat}
    for name in given:
        if name in flat:
            inner = _as_mapping(told.get(flat[name]) or {})
            told[flat[name]] = {**inner, name: given[name]}
    return told


def _flat_groups(model: type[BaseModel]) -> dict[str, str]:
    """Return the settings that may stand beside their group, with the group's name."""
    return {name: group for group in getattr(model, "flat_groups", ()) for name in _inner(model, group)}


def _inner(settings: type[BaseModel], name: str) -> list[str]:
    model = _model_of(settings, name)
    return [] if model is None else [*model.model_fields, *_flat_groups(model)]


def _model_of(settings: type[BaseModel], name: str) -> type[BaseModel] | None:
    annotation = settings.model_fields[name].annotation
    return annotation if isinstance(annotation, type) and issubclass(annotation, BaseModel) else None


def _as_mapping(group: Any) -> dict[str, Any]:
    return group.model_dump(exclude_unset=True) if isinstance(group, BaseModel) else dict(group)


def _all_of(known: Sequence[str]) -> str:
    return f"; there are: {', '.join(sorted(known))}"
