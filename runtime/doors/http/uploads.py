"""Temporary data of visitors: uploads and recent forms."""

import re
import secrets
import shutil
import threading
import unicodedata
import uuid
import zipfile
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import BinaryIO

from pydantic import BaseModel, Field, ValidationError

from novelgen.errors import ContextWriteError
from novelgen.models.context import SceneMemoryContext
from runtime.doors.http.jobs import MANUSCRIPT_TYPES
from runtime.doors.http.problems import Refusal
from runtime.files.paths import write_text_atomically

MAX_KEPT_UPLOADS = 10
"""Of the oldest nothing is kept."""

KEPT_FOR = timedelta(days=1)

LONGEST_NAME = 200

SUFFIXES = tuple(MANUSCRIPT_TYPES.values())
"""Endings of files that can be sent."""

_UPLOAD_ID = re.compile(r"[0-9a-f]{32}")
_NO_NAME = re.compile(r"[\x00-\x1f\x7f/\\]")


class Upload(BaseModel):
    """Files sent at once."""

    upload_id: str
    names: list[str] = Field(description="Of the files, as they were sent, for people alone.")
    file: str = Field(description="Its name in the upload's folder, which is never made of a name that was sent.")
    size_bytes: int
    created_at: datetime

    @property
    def title(self) -> str:
        """A possible title: a single file's name without extension."""
        return Path(self.names[0]).stem if len(self.names) == 1 else ""

    def title_of(self, title: str) -> str:
        """Return a story title, preferring the reader's.

        A reader finds the name of the kept file, or of the folder in an archive; only the latter says something.
        """
        return self.title if title == Path(self.file).stem else title or self.title


class Uploads:
    """Keeps uploads for a while."""

    def __init__(self, folder: Path, *, clock: Callable[[], datetime] = lambda: datetime.now(UTC)) -> None:
        self._folder = folder
        self._clock = clock

    def add(self, files: Sequence[tuple[str, BinaryIO]]) -> Upload:
        """Keep files. Several are put into one archive under their names, which its reader holds within bounds."""
        names = [_display_name(name) for name, _ in files]
        suffixes = [Path(name).suffix.lower() for name in names]
        wrong = next((name for name, suffix in zip(names, suffixes, strict=True) if suffix not in SUFFIXES), None)
        if not names or wrong is not None:
            raise Refusal(415, "invalid-file", f"{wrong!r} cannot be read; send {', '.join(SUFFIXES)}")
        if len(names) > 1 and ".zip" in suffixes:
            raise Refusal(415, "invalid-file", "an archive comes alone; send the .zip by itself")
        self._forget_old()
        upload_id = uuid.uuid4().hex
        folder = self._folder / upload_id
        target = folder / (f"manuscript{suffixes[0]}" if len(names) == 1 else "manuscripts.zip")
        try:
            folder.mkdir(parents=True)
            if len(files) == 1:
                with target.open("wb") as stream:
                    shutil.copyfileobj(files[0][1], stream)
            else:
                _pack(target, names, [content for _, content in files])
            size_bytes = target.stat().st_size
        except OSError as error:
            shutil.rmtree(folder, ignore_errors=True)
            raise ContextWriteError(f"the files cannot be kept: {error.strerror or error}") from error
        upload = Upload(
            upload_id=upload_id, names=names, file=target.name, size_bytes=size_bytes, created_at=self._clock()
        )
        write_text_atomically(folder / "upload.json", upload.model_dump_json() + "\n", root=self._folder)
        return upload

    def get(self, upload_id: str) -> Upload:
        """Return an upload."""
        if _UPLOAD_ID.fullmatch(upload_id):
            upload = _read(self._folder / upload_id)
            if upload is not None and self.path(upload).is_file():
                return upload
        raise Refusal(404, "unknown-upload", "these files are not kept any more; choose them again")

    def path(self, upload: Upload) -> Path:
        """Return where the file of an upload lies."""
        return self._folder / upload.upload_id / upload.file

    def forget(self, upload_id: str) -> None:
        """Drop an upload, if present."""
        if _UPLOAD_ID.fullmatch(upload_id):
            shutil.rmtree(self._folder / upload_id, ignore_errors=True)

    def _forget_old(self) -> None:
        folders = [path for path in self._folder.glob("*") if _UPLOAD_ID.fullmatch(path.name)]
        kept_uploads = sorted(
            (upload for folder in folders if (upload := _read(folder)) is not None),
            key=lambda upload: upload.created_at,
            reverse=True,
        )
        young = self._clock() - KEPT_FOR
        fresh = {upload.upload_id for upload in kept_uploads[: MAX_KEPT_UPLOADS - 1] if upload.created_at > young}
        for folder in folders:
            if folder.name not in fresh and not (folder.stat().st_mtime > young.timestamp() and _read(folder) is None):
                shutil.rmtree(folder, ignore_errors=True)


def _read(folder: Path) -> Upload | None:
    try:
        return Upload.model_validate_json((folder / "upload.json").read_text(encoding="utf-8"))
    except (OSError, ValidationError):
        return None


def _display_name(name: str) -> str:
    """Return a displayable file name with its extension."""
    plain = unicodedata.normalize("NFC", _NO_NAME.split(name)[-1]).strip() or "manuscript"
    plain = plain.encode("utf-8", "replace").decode("utf-8")
    stem, suffix = Path(plain).stem, Path(plain).suffix
    while len((stem + suffix).encode("utf-8")) > LONGEST_NAME and stem:
        stem = stem[:-1]
    return stem + suffix


def _pack(target: Path, names: Sequence[str], contents: Sequence[BinaryIO]) -> None:
    taken_names: set[str] = set()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_STORED) as archive:
        for name, content in zip(names, contents, strict=True):
            free, number = name, 1
            while free.casefold() in taken_names:
                number += 1
                free = f"{Path(name).stem} ({number}){Path(name).suffix}"
            taken_names.add(free.casefold())
            with archive.open(free, "w", force_zip64=True) as entry:
                shutil.copyfileobj(content, entry)


MOST_KEPT = 64

MOST_CHARACTERS = 12_000_000
"""Of all that is kept together."""


@dataclass(frozen=True, slots=True)
class KeptForm:
    """A form, and the context that it gave."""

    project_id: str
    form: Mapping[str, str]
    context_text: str = ""

    @property
    def characters(self) -> int:
        """How much of the room it takes."""
        return len(self.context_text) + sum(map(len, self.form.values()))

    def context(self) -> SceneMemoryContext | None:
        """Return the context."""
        return SceneMemoryContext.model_validate_json(self.context_text) if self.context_text else None


class KeptForms:
    """Keeps recent forms of the page, safe between threads."""

    def __init__(self, *, most_characters: int = MOST_CHARACTERS) -> None:
        self._most_characters = most_characters
        self._kept: OrderedDict[str, KeptForm] = OrderedDict()
        self._lock = threading.Lock()

    def keep(self, project_id: str, form: Mapping[str, str], context: SceneMemoryContext | None = None) -> str:
        """Keep a form and its context, and return the key under which they are found for a while."""
        text = context.model_dump_json() if context is not None else ""
        kept_form = KeptForm(project_id, dict(form), text)
        key = secrets.token_urlsafe(9)
        with self._lock:
            self._kept[key] = kept_form
            characters = sum(form.characters for form in self._kept.values())
            while characters > self._most_characters or len(self._kept) > MOST_KEPT:
                _, removed_form = self._kept.popitem(last=False)
                characters -= removed_form.characters
        return key

    def find(self, project_id: str, key: str) -> KeptForm | None:
        """Return a project's form by key, or None."""
        with self._lock:
            kept_form = self._kept.get(key)
            if kept_form is None or kept_form.project_id != project_id:
                return None
            self._kept.move_to_end(key)
        return kept_form
