"""Settings of the program, from config.yaml, the environment and arguments.

Precedence: arguments, then environment (`NOVELGEN_…`, nested by `__`), then the project's `config.yaml`
(its keys stand under `memory:`), then the defaults.
"""

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, SecretStr, ValidationError, model_validator
from pydantic_settings import (
    BaseSettings,
    InitSettingsSource,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    SettingsError,
)
from yaml import YAMLError, safe_load

from novelgen.characters.memory import CharacterMemorySettings
from novelgen.errors import ConfigurationError
from novelgen.models.base import Model
from novelgen.nearest import ALIKE, did_you_mean, nearest_name
from novelgen.settings import ChunkContextSettings, ContextSettings, ContinuitySettings

ENVIRONMENT_PREFIX = "NOVELGEN_"

LOCAL_EMBEDDINGS = "local"


class VectorStoreSettings(Model):
    """Where the semantic index lives."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    # Chroma is also written as its package is called.
    provider: Annotated[str, BeforeValidator(lambda name: "chroma" if name == "chromadb" else name)] = Field(
        default="chroma",
        pattern=r"^(chroma|[A-Za-z_][\w.]*:[A-Za-z_]\w*)$",
        description="chroma, or the import path package.module:factory of another LangChain vector store.",
    )
    url: str | None = Field(default=None, description="URL of a Chroma server; None: embedded, per project.")
    max_processes: int = Field(default=8, ge=1, le=10_000, description="Embedded indexes kept running at once.")
    write_timeout_s: float = Field(
        default=10.0, gt=0, le=600, description="For one step of bringing the index up to SQL."
    )


class IngestSettings(Model):
    """Embedded parts of recorded scenes, beside memories and summary.

    Whatever is not embedded is still found by words. A scene without a record has its passages embedded.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    embed_passages: bool = Field(default=False, description="Raw passages: nearly all the time of ingest.")
    embed_key_events: bool = Field(default=False, description="Key events beside the summary's bullets.")


class SummarizationSettings(Model):
    """How scene records and summaries are made."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    max_bullets: int = Field(default=5, ge=1, le=20)
    chapters_per_part: int = Field(
        default=10, ge=1, le=1000, description="Chapters summed up together, where settings.json has no parts."
    )
    model: str | None = Field(default=None, description="Chat model for extraction; None: the planner's.")
    timeout_s: float = Field(default=180.0, gt=0, le=3600, description="For one scene, all calls together.")
    max_tokens: int = Field(default=4000, ge=16, le=200_000, description="Longest answer of the model.")
    window_characters: int = Field(default=6000, ge=200, description="Longest piece that is read at once.")
    prompt_list_tokens: int = Field(
        default=12_000, ge=200, le=200_000, description="What a prompt lists of the story so far, in all."
    )
    workers: int = Field(default=1, ge=1, le=64, description="Scenes that the model reads at once.")
    reconcile_chapters: bool = Field(
        default=True, description="Ask the model once more at the end of each chapter what spans its scenes."
    )
    price_in: float | None = Field(default=None, ge=0, description="Of a million tokens of prompts.")
    price_out: float | None = Field(default=None, ge=0, description="Of a million tokens of answers.")


class ConsolidationSettings(Model):
    """When one memory comes to stand for several."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    max_memories_per_entity: int | None = Field(
        default=None, ge=1, description="Ingest consolidates beyond; None: never by itself."
    )


class MemorySettings(ContextSettings):
    """Budgets, stores and embeddings of the memory.

    What `character_memory` holds may stand beside it, too: `recency_half_life_days` of `memory`.
    """

    vector_store: VectorStoreSettings = VectorStoreSettings()
    embedding_model: Annotated[str, BeforeValidator(lambda name: LOCAL_EMBEDDINGS if name == "default" else name)] = (
        Field(default=LOCAL_EMBEDDINGS, description="local, fake:<dimension> or provider:model; default: local.")
    )
    embedding_base_url: str | None = None
    embedding_api_key: SecretStr | None = Field(
        default=None, description="None: the provider's own variable. It belongs into the environment."
    )
    ingest: IngestSettings = IngestSettings()
    summarization: SummarizationSettings = SummarizationSettings()
    consolidation: ConsolidationSettings = ConsolidationSettings()
    chunk_context: ChunkContextSettings = ChunkContextSettings()
    continuity: ContinuitySettings = ContinuitySettings()
    character_memory: CharacterMemorySettings = CharacterMemorySettings()
    token_counter: str = Field(
        default="estimate",
        pattern=r"^(estimate|tiktoken:.+|hf:.+)$",
        description="estimate, tiktoken:<model or encoding> or hf:<path of a tokenizer.json>.",
    )
    attach_notes_by_name: bool = Field(
        default=True, description="Whether a note that is attached to nothing is attached to those whom its text names."
    )
    search_fallback: Literal["on", "off"] = Field(
        default="on", description="off: relevant_memories stays empty when Chroma fails."
    )

    @model_validator(mode="before")
    @classmethod
    def _gather_flat_settings(cls, given_value: Any) -> Any:
        """Let flat settings override the defaults of their group."""
        if not isinstance(given_value, dict):
            return given_value
        flat = {name: value for name, value in given_value.items() if name in CharacterMemorySettings.model_fields}
        if not flat:
            return given_value
        fields = {name: value for name, value in given_value.items() if name not in flat}
        return {**fields, "character_memory": {**_as_mapping(fields.get("character_memory") or {}), **flat}}


def _as_mapping(group: Any) -> dict[str, Any]:
    return group.model_dump(exclude_unset=True) if isinstance(group, BaseModel) else dict(group)


class NovelgenSettings(BaseSettings):
    """All settings, immutable and passed down."""

    model_config = SettingsConfigDict(
        env_prefix=ENVIRONMENT_PREFIX,
        env_nested_delimiter="__",
        extra="ignore",
        frozen=True,
        nested_model_default_partial_update=True,
    )

    projects_dir: Path = Field(default=Path("projects"), description="Where projects live.")
    database_url: str | None = Field(
        default=None, description="SQLAlchemy URL; None: SQLite in each project's data folder."
    )
    max_open_databases: int = Field(
        default=32, ge=1, le=100_000, description="SQLite databases kept open at once, up to 17 descriptors each."
    )
    model: str | None = Field(default=None, description="Chat model, provider:model; None: rules only.")
    model_base_url: str | None = None
    model_api_key: SecretStr | None = None
    model_timeout_s: float = Field(default=20.0, gt=0, le=3600)
    model_max_tokens: int = Field(default=1500, ge=16, le=200_000)
    chroma_token: SecretStr | None = Field(
        default=None, description="Sent to the Chroma server as `Authorization: Bearer …`."
    )
    chroma_headers: dict[str, SecretStr] = Field(
        default={}, description="Sent to the Chroma server with every request, such as X-Chroma-Token."
    )
    server_token: SecretStr | None = Field(
        default=None, description="Opens `novelgen serve`; it must be set where others can reach the server."
    )
    server_read_token: SecretStr | None = Field(default=None, description="Opens `novelgen serve` for reading only.")
    server_at_once: int = Field(
        default=4, ge=1, le=16, description="Requests that store, search or compose at once; as many calls of agents."
    )
    memory: MemorySettings = MemorySettings()


_OF_MEMORY = [*MemorySettings.model_fields, *CharacterMemorySettings.model_fields]
"""Settings that may be given without the `memory` that they belong to."""


def grouped_settings(values: Mapping[str, Any], *, other_keywords: Sequence[str] = ()) -> dict[str, Any]:
    """Return settings that were given as keywords, those of the memory under `memory`, where they belong."""
    memory: Any = values.get("memory", {})
    grouped: dict[str, Any] = {}
    for name, value in values.items():
        if name in NovelgenSettings.model_fields:
            grouped[name] = value
        elif name in _OF_MEMORY:
            memory = {**_as_mapping(memory), name: value}
        else:
            known_names = [*other_keywords, *NovelgenSettings.model_fields, *_OF_MEMORY]
            raise ConfigurationError(
                f"there is no setting {name!r}{did_you_mean(name, known_names, likeness=ALIKE) or _all_of(known_names)}"
            )
    return {**grouped, "memory": memory} if memory else grouped


def _with_own_names(payload: Mapping[str, Any]) -> dict[str, Any]:
    """Return settings with the embedding model where it belongs, which other programs write under the vector store."""
    memory = payload.get("memory")
    store = memory.get("vector_store") if isinstance(memory, Mapping) else None
    if not isinstance(memory, Mapping) or not isinstance(store, Mapping) or "embedding_model" not in store:
        return dict(payload)
    rest = {name: value for name, value in store.items() if name != "embedding_model"}
    model = {"embedding_model": store["embedding_model"]}
    return {**payload, "memory": {**model, **memory, "vector_store": rest}}


def _misspelt_key(payload: Mapping[str, Any]) -> str | None:
    """Return the problem of the first misspelt key, or None.

    Keys of nothing that is like a setting may be another program's.
    """
    for name in payload:
        if name in NovelgenSettings.model_fields:
            continue
        if name in _OF_MEMORY:
            return f"{name!r} stands under `memory:`; move it there"
        if suggestion := did_you_mean(name, NovelgenSettings.model_fields):
            return f"there is no setting {name!r}{suggestion}"
    return None


def _misspelt_variable(names: Iterable[str]) -> str | None:
    """Return the problem of the first misspelt environment variable, or None."""
    for variable in sorted(name.upper() for name in names):
        name = variable.removeprefix(ENVIRONMENT_PREFIX).casefold()
        if name == variable.casefold() or "__" in name or name in NovelgenSettings.model_fields:
            continue
        if name in _OF_MEMORY:
            return f"there is no setting {variable}; write {ENVIRONMENT_PREFIX}MEMORY__{name.upper()}"
        nearest = nearest_name(name, NovelgenSettings.model_fields)
        if nearest is not None:
            return f"there is no setting {variable}; did you mean {ENVIRONMENT_PREFIX}{nearest.upper()}?"
    return None


def _all_of(known_names: Sequence[str]) -> str:
    return f"; there are: {', '.join(sorted(known_names))}"


_SECRET_SETTINGS = (
    "model_api_key",
    "memory.embedding_api_key",
    "database_url",
    "chroma_token",
    "chroma_headers",
    "server_token",
    "server_read_token",
)


def load_settings(config_file: Path | None = None, **overrides: Any) -> NovelgenSettings:
    """Build the settings.

    Args:
        config_file: A config.yaml to read; a missing file counts as empty.
        **overrides: Values that win over everything, those of the memory also by their own name
            (`memory_budget=3000`); None values are ignored.

    Raises:
        ConfigurationError: When the file is not YAML, a name is misspelt, or a value is of the wrong type or out
            of bounds.
    """
    fields = {name: value for name, value in overrides.items() if value is not None}
    payload = _with_own_names(grouped_settings(fields))

    try:
        in_file = _with_own_names(_content(config_file))
        _refuse_code_in_file(in_file, config_file)
        problem = _misspelt_variable(os.environ)
        if problem is not None:
            raise ConfigurationError(problem)

        class FileSettings(NovelgenSettings):
            @classmethod
            def settings_customise_sources(
                cls,
                settings_cls: type[BaseSettings],
                init_settings: PydanticBaseSettingsSource,
                env_settings: PydanticBaseSettingsSource,
                dotenv_settings: PydanticBaseSettingsSource,
                file_secret_settings: PydanticBaseSettingsSource,
            ) -> tuple[PydanticBaseSettingsSource, ...]:
                return (init_settings, env_settings, InitSettingsSource(settings_cls, in_file))

        return NovelgenSettings.model_construct(**dict(FileSettings(**payload)))
    except ValidationError as error:
        raise _refusal(error) from None
    except SettingsError as error:
        # Its cause quotes the value, which may be a key.
        raise ConfigurationError(f"{error}; write it as JSON") from None
    except (YAMLError, UnicodeDecodeError) as error:
        raise ConfigurationError(f"{str(config_file)!r} is not YAML in UTF-8: {error}; correct it") from error


def _refuse_code_in_file(in_file: Mapping[str, Any], config_file: Path | None) -> None:
    """Refuse a file that names code to import: a project's folder may come from anybody."""
    memory = in_file.get("memory")
    store = memory.get("vector_store") if isinstance(memory, Mapping) else None
    provider = store.get("provider") if isinstance(store, Mapping) else None
    if isinstance(provider, str) and ":" in provider:
        raise ConfigurationError(
            f"{str(config_file)!r} names the vector store {provider!r}, which is code to import; set "
            f"{ENVIRONMENT_PREFIX}MEMORY__VECTOR_STORE__PROVIDER instead, or pass vector_store= to novelgen.open"
        )


def _content(config_file: Path | None) -> dict[str, Any]:
    """Return a file's settings, rejecting other YAML and misspelt names."""
    if config_file is None or not config_file.is_file():
        return {}
    try:
        # Read from a stream: errors in a text would quote it, and it may hold the key. Not by libyaml, which a file
        # that nests too deep brings down with the process.
        with config_file.open(encoding="utf-8") as stream:
            if all(line.lstrip()[:1] in ("", "#") for line in stream):
                # As in a new project; its comments take a hundred times as long to parse.
                return {}
            stream.seek(0)
            content = safe_load(stream)
    except RecursionError as error:
        raise ConfigurationError(f"{str(config_file)!r} nests too deep; correct it") from error
    except UnicodeDecodeError:
        raise
    except ValueError as error:
        # YAML of its form, such as the date 2026-99-99 or an endless number; the error might quote the value.
        raise ConfigurationError(
            f"{str(config_file)!r} holds a number or date that does not exist; correct it"
        ) from error
    content = {} if content is None else content
    if not isinstance(content, dict):
        raise ConfigurationError(
            f"{str(config_file)!r} holds a {type(content).__name__}, not settings; write `name: value` lines"
        )
    for key in content:
        if not isinstance(key, str):
            raise ConfigurationError(f"{str(config_file)!r} has {key!r} for a name; put names that are texts in quotes")
    problem = _misspelt_key(content)
    if problem is not None:
        raise ConfigurationError(f"{str(config_file)!r}: {problem}")
    return content


def _refusal(error: ValidationError) -> ConfigurationError:
    """Name the first wrong setting with its value, hiding secrets.

    Raise it `from None`: pydantic's error quotes every value.
    """
    first = error.errors()[0]
    if first["type"] == "extra_forbidden":
        # Its group does not know the name.
        path = first["loc"]
        group, name = [str(part) for part in path[:-1]], str(path[-1])
        model: type[BaseModel] = NovelgenSettings
        for part in group:
            annotation = model.model_fields[part].annotation if part in model.model_fields else None
            if not (isinstance(annotation, type) and issubclass(annotation, BaseModel)):
                break
            model = annotation
        known_names = _OF_MEMORY if model is MemorySettings else [*model.model_fields]
        nearest = nearest_name(name, known_names, likeness=ALIKE)
        suggestion = _all_of(known_names)
        if nearest is not None:
            suggestion = f"; did you mean {'.'.join([*group, nearest])!r}?"
        return ConfigurationError(f"there is no setting {'.'.join([*group, name])!r}{suggestion}")
    name = ".".join(str(part) for part in first["loc"])
    text = "what it is" if name.startswith(_SECRET_SETTINGS) else repr(first.get("input"))[:200]
    return ConfigurationError(
        f"setting {name!r} cannot be {text}: {first['msg']}; "
        f"set it in config.yaml or as NOVELGEN_{name.upper().replace('.', '__')}"
    )
