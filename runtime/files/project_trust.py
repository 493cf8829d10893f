"""Which project folders may say where keys and stores go: none that its user has not confirmed."""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import Field, SecretStr
from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError

from novelgen.errors import ConfigurationError, InvalidFileError
from novelgen.models.base import Model
from runtime.files.paths import write_text_atomically
from runtime.settings import NovelgenSettings

logger = logging.getLogger(__name__)

TRUST_VARIABLE = "NOVELGEN_TRUST_FILE"
"""Names the file of confirmations; by default it lies in the user's folder of settings."""

WITHHELD_KEY = "withheld-from-an-address-of-an-untrusted-project"
"""Sent in place of a key, so that no client looks for one in the environment."""

Addresses = dict[str, str]
"""Setting to the address that a project's config.yaml gives it."""


class ProjectTrust(Model):
    """The addresses in a project's config.yaml, and their confirmation."""

    project_id: str
    folder: Path
    addresses: Addresses = Field(description="Setting to address.")
    is_trusted: bool


def foreign_addresses(settings: NovelgenSettings, own: NovelgenSettings, folder: Path) -> Addresses:
    """Return the addresses that a project's config.yaml alone gives.

    Args:
        settings: With the file.
        own: Without it: the environment, the command line and defaults.
        folder: The project's folder; a SQLite file in it is no foreign address.
    """
    stated = {name: address for name, address in _addresses(settings).items() if address != _addresses(own)[name]}
    if _lies_within(stated.get("database_url"), folder):
        del stated["database_url"]
    return {name: address for name, address in stated.items() if address}


def guarded(
    settings: NovelgenSettings, own: NovelgenSettings, addresses: Addresses, *, project_id: str
) -> NovelgenSettings:
    """Return settings without keys that untrusted addresses would get.

    A key that stands in the same config.yaml is the project's own and is sent.

    Raises:
        ConfigurationError: When the database would lie elsewhere.
    """
    if not addresses:
        return settings
    advice = f"if the folder is yours, run `novelgen trust {project_id}`"
    if "database_url" in addresses:
        raise ConfigurationError(
            f"config.yaml of project {project_id!r} names a database outside of its folder; nothing was opened. Look "
            f"at it, and {advice}, or set NOVELGEN_DATABASE_URL yourself"
        )
    changes: dict[str, Any] = {}
    memory: dict[str, Any] = {}
    if "model_base_url" in addresses and settings.model_api_key == own.model_api_key:
        changes["model_api_key"] = SecretStr(WITHHELD_KEY)
    if "memory.embedding_base_url" in addresses and settings.memory.embedding_api_key == own.memory.embedding_api_key:
        memory["embedding_api_key"] = SecretStr(WITHHELD_KEY)
    if "memory.vector_store.url" in addresses:
        changes |= {"chroma_token": None} if settings.chroma_token == own.chroma_token else {}
        changes |= {"chroma_headers": {}} if settings.chroma_headers == own.chroma_headers else {}
    if _has_keys(own):
        listing = ", ".join(f"{name} {address!r}" for name, address in addresses.items())
        logger.warning(
            "your keys are not sent to the addresses that config.yaml of project %r names (%s); %s",
            project_id,
            listing,
            advice,
        )
    changes["memory"] = settings.memory.model_copy(update=memory)
    return settings.model_copy(update=changes)


def is_trusted(folder: Path, addresses: Addresses) -> bool:
    """Tell whether the user confirmed just these addresses of a project's folder."""
    return _read_confirmations().get(str(folder.resolve())) == addresses


def trust(folder: Path, addresses: Addresses) -> None:
    """Confirm a project's addresses.

    Later changes need another confirmation.
    """
    _write_confirmations({**_read_confirmations(), str(folder.resolve()): addresses})


def distrust(folder: Path) -> None:
    """Take a confirmation back."""
    confirmations = _read_confirmations()
    confirmations.pop(str(folder.resolve()), None)
    _write_confirmations(confirmations)


def trust_file() -> Path:
    """Return the file of confirmations, which lies outside of every project."""
    name = os.environ.get(TRUST_VARIABLE)
    if name:
        return Path(name)
    from platformdirs import user_config_path  # noqa: PLC0415 - few projects name addresses

    return user_config_path("novelgen", appauthor=False) / "trusted.json"


def _read_confirmations() -> dict[str, Addresses]:
    file = trust_file()
    try:
        content = json.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise InvalidFileError(f"{str(file)!r} cannot be read ({error}); delete it, and trust projects anew") from error
    return content if isinstance(content, dict) else {}


def _write_confirmations(confirmations: Mapping[str, Addresses]) -> None:
    file = trust_file()
    file.parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps(confirmations, ensure_ascii=False, indent=2, sort_keys=True) + "\n"
    write_text_atomically(file, text, root=file.parent)


def _addresses(settings: NovelgenSettings) -> dict[str, str | None]:
    return {
        "database_url": settings.database_url,
        "model_base_url": settings.model_base_url,
        "memory.embedding_base_url": settings.memory.embedding_base_url,
        "memory.vector_store.url": settings.memory.vector_store.url,
    }


def _lies_within(database_url: str | None, folder: Path) -> bool:
    try:
        url = make_url(database_url or "")
    except (ArgumentError, ValueError):
        return False
    file = Path(url.database).resolve() if url.get_backend_name() == "sqlite" and url.database else None
    return file is not None and folder.resolve() in file.parents


def _has_keys(own: NovelgenSettings) -> bool:
    keys = (own.model_api_key, own.memory.embedding_api_key, own.chroma_token, own.chroma_headers)
    return any(keys) or any(name.upper().endswith("_API_KEY") for name, value in os.environ.items() if value)
