"""Character secrets with their listeners, and story flags."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Literal

from pydantic import BaseModel, Field, JsonValue, ValidationError

from novelgen.characters.dispositions import PLAYER, folded_disposition
from novelgen.characters.memory import Moment, as_moment
from novelgen.characters.mind import Mind, View
from novelgen.characters.recall import ProtectedLine
from novelgen.characters.secrets import Secret, SecretStanding, UnlockConditions, require_secret, withheld_places
from novelgen.errors import UserInputError
from novelgen.language.normalise import DEEPEST, is_deeper, name_key, scrub_text, scrub_tree
from novelgen.nearest import did_you_mean
from runtime.files.file_reading import described, shown
from runtime.storage.database import UnitOfWork
from runtime.storage.records import Disclosure, DisclosureFields, FlagChange, Happened
from runtime.story.base import ChangeNumber, Name, StoryBase, async_twin
from runtime.story.character_part import CharacterPart, When, feelings_in, happened, other_id_of


class KeptSecret(Secret):
    """A secret as it is kept, or was until it was dropped."""

    change_id: ChangeNumber = None


class KeptDisclosure(DisclosureFields):
    """A stored disclosure of a secret or thing."""

    change_id: ChangeNumber = None


class SecretState(BaseModel):
    """A secret's state towards a listener.

    It holds the text, for authors only.
    """

    secret: Secret
    standing: SecretStanding
    hint: str | None = Field(default=None, description="What may be let slip while it is not unlocked.")


@dataclass(frozen=True, slots=True)
class SecretView:
    """The secrets a character may tell somebody."""

    open: list[Secret] = field(default_factory=list)
    hints: list[str] = field(default_factory=list)
    closed: list[Secret] = field(default_factory=list)


class CharacterSecrets(CharacterPart):
    """A character's secrets and their listeners."""

    def keep_secret(self, secret: Mapping[str, Any] | Secret) -> KeptSecret:
        """Let the character keep a secret, in place of the one of that id.

        Args:
            secret: `{"secret_id": "deal", "text": "…", "unlock": {"trust": 60, "flag": "…", "item": "…"}}`; with
                `"never": True` it is never told, with `"hints": [{"text": "…", "unlock": {"trust": 40}}]` a part is
                let slip before. `secret`, `unlock_trust` and `unlock_affection` are understood, too.

        Raises:
            UserInputError: When a field is wrong; says which.
        """
        if not isinstance(secret, Secret | Mapping):
            raise UserInputError(
                f"that is no secret: {shown(secret)}; pass a mapping with secret_id, text and what unlocks it"
            )
        try:
            input_secret = secret if isinstance(secret, Secret) else Secret.model_validate(scrub_tree(dict(secret)))
        except ValidationError as error:
            raise UserInputError(f"that is no secret: {described(error)}{_meant_field(error)}") from error
        with (
            self._stores.database(self.project_id).write() as unit,
            unit.journal.changing_play("secret", self.character_id, input_secret.secret_id) as journal_entry,
        ):
            unit.play.keep_secret(self.character_id, input_secret)
        return KeptSecret(**dict(input_secret), change_id=journal_entry.change_id)

    def drop_secret(self, secret_id: str) -> KeptSecret:
        """Take a secret away.

        Raises:
            UserInputError: When the character keeps no such secret.
        """
        with self._stores.database(self.project_id).write() as unit:
            secret = require_secret(unit.play.secrets(self.character_id), secret_id)
            with unit.journal.changing_play("secret", self.character_id, secret_id) as journal_entry:
                unit.play.drop_secret(self.character_id, secret_id)
        return KeptSecret(**dict(secret), change_id=journal_entry.change_id)

    def secrets(self, *, to: str = PLAYER, as_of: When = None) -> list[SecretState]:
        """Return the secrets, and how each stands towards a listener: locked, hinted, unlocked or known.

        Args:
            to: The listener.
            as_of: As they stood then; None means now.
        """
        with self._stores.database(self.project_id).read() as unit:
            return _states(unit, self.character_id, other_id_of(unit, to), as_of=as_moment(as_of))

    def reveal(self, secret_id: str, *, to: str = PLAYER, at: When = None) -> KeptDisclosure:
        """Write down that the character told somebody a secret: it stays known to them.

        Args:
            secret_id: The secret.
            to: Who heard it.
            at: When.

        Raises:
            UserInputError: When the character keeps no such secret, or one that is never told.
        """
        with self._stores.database(self.project_id).write() as unit:
            return reveal_in(unit, self.character_id, secret_id, to=to, at=as_moment(at), now=self._clock())

    def see_item(self, item: str, *, by: str = PLAYER, at: When = None) -> KeptDisclosure:
        """Write down that somebody showed the character a thing, which may unlock a secret.

        Args:
            item: Name of the thing, as the secret's condition names it.
            by: Who showed it.
            at: When.

        Raises:
            UserInputError: When the thing has no name.
        """
        name = scrub_text(item).strip()
        if not name:
            raise UserInputError("the item has no name; say what was shown")
        with self._stores.database(self.project_id).write() as unit:
            when = happened(as_moment(at), self._clock())
            return _disclosed(unit, self.character_id, other_id_of(unit, by), "shown", name, when)

    akeep_secret = async_twin(keep_secret)
    adrop_secret = async_twin(drop_secret)
    asecrets = async_twin(secrets)
    areveal = async_twin(reveal)
    asee_item = async_twin(see_item)


class SetFlags(BaseModel):
    """The flags of a game after one of them took a value."""

    flags: dict[str, Any] = Field(description="All of them with their values now.")
    change_id: ChangeNumber = None


class StoryFlags(StoryBase):
    """Flags of a game, which may unlock secrets."""

    def set_flag(
        self,
        name: Name,
        value: JsonValue = True,
        *,
        at: tuple[int, int] | datetime | None = None,
        clock: Callable[[], datetime] | None = None,
    ) -> SetFlags:
        """Set a flag of a game, which may unlock secrets.

        Args:
            name: The flag.
            value: Anything that JSON holds.
            at: When: session and turn, or a datetime; None means now.
            clock: Tells the present moment of the game; None takes the computer's.

        Returns:
            All flags with their values now, and the number by which `undo` takes it back.

        Raises:
            UserInputError: When the name is empty, or JSON cannot hold the value.
        """
        now = (clock or self._stores.clock)()
        flag = scrub_text(name).strip()
        if not flag:
            raise UserInputError("the flag has no name; pass one such as 'bridge_burnt'")
        require_json(value, f"flag {flag!r}")
        with self._stores.database(self.project_id).write() as unit:
            change = FlagChange(name=flag, value=scrub_tree(value), **dict(happened(as_moment(at), now)))
            with unit.journal.changing_play("flag", flag) as journal_entry:
                unit.play.set_flag(change)
            flags = flags_in(unit, None)
        return SetFlags(flags=flags, change_id=journal_entry.change_id)

    def get_flags(self, *, as_of: tuple[int, int] | datetime | None = None) -> dict[str, Any]:
        """Return the flags of a game with their values.

        Args:
            as_of: The values that they had then: session and turn, or a datetime; None means now.
        """
        with self._stores.database(self.project_id).read() as unit:
            return flags_in(unit, as_moment(as_of))

    aset_flag = async_twin(set_flag)
    aget_flags = async_twin(get_flags)


def _meant_field(error: ValidationError) -> str:
    """Return which field was meant by one that is misspelt."""
    first = error.errors(include_url=False)[0]
    if first["type"] != "extra_forbidden":
        return ""
    known_fields_by_id = {**Secret.model_fields, **UnlockConditions.model_fields}
    return did_you_mean(str(first["loc"][-1]), known_fields_by_id)


def reveal_in(
    unit: UnitOfWork, character_id: str, secret_id: str, *, to: str, at: Moment | None, now: datetime
) -> KeptDisclosure:
    """Write down that a secret was told, within a transaction."""
    secret = require_secret(unit.play.secrets(character_id), secret_id)
    if secret.never:
        raise UserInputError(f"secret {secret_id!r} is never told; keep it without `never` first")
    return _disclosed(unit, character_id, other_id_of(unit, to), "revealed", secret_id, happened(at, now))


def _disclosed(
    unit: UnitOfWork, character_id: str, other_id: str, kind: Literal["revealed", "shown"], subject: str, when: Happened
) -> KeptDisclosure:
    """Journal a disclosure for undo."""
    disclosure = Disclosure(character_id=character_id, other_id=other_id, kind=kind, subject=subject, **dict(when))
    change: Literal["reveal", "show"] = "reveal" if kind == "revealed" else "show"
    with unit.journal.changing_play(change, character_id, other_id) as journal_entry:
        unit.play.disclose(disclosure)
    return KeptDisclosure(**disclosure.model_dump(), change_id=journal_entry.change_id)


def flags_in(unit: UnitOfWork, as_of: Moment | None) -> dict[str, Any]:
    """Return the flags with their values, within a transaction."""
    return {flag_change.name: flag_change.value for flag_change in unit.play.flag_changes(as_of=as_of)}


def secret_view(unit: UnitOfWork, character_id: str, to: str, *, as_of: Moment | None) -> SecretView:
    """Return the secrets a character may tell a listener."""
    other_id = other_id_of(unit, to)
    if other_id == character_id:
        return SecretView(open=unit.play.secrets(character_id))
    states = _states(unit, character_id, other_id, as_of=as_of)
    secrets = [secret_state.secret for secret_state in states if secret_state.standing in ("unlocked", "known")]
    return SecretView(
        open=secrets,
        hints=[secret_state.hint for secret_state in states if secret_state.hint is not None],
        closed=[secret_state.secret for secret_state in states if secret_state.secret not in secrets],
    )


def towards_listener(
    unit: UnitOfWork, mind: Mind, character_id: str, to: str | None, *, as_of: Moment | None, now: datetime
) -> tuple[list[ProtectedLine], list[Secret]]:
    """Return the pair's line above a recall, and the withheld secrets."""
    if to is None:
        return [], unit.play.secrets(character_id)
    other_id = other_id_of(unit, to)
    if other_id == character_id:
        return [], []
    felt_feelings = feelings_in(unit, mind, character_id, other_id, as_of=as_of, now=now)
    line = ProtectedLine(text=felt_feelings.header, slot_type="relationship_header")
    return [line], secret_view(unit, character_id, other_id, as_of=as_of).closed


def without_told(mind: Mind, view: View, closed: Sequence[Secret], own_names: Sequence[str]) -> View:
    """Return a view of memories without those that tell a secret which is closed."""
    live = view.live.copy()
    live[withheld_places(mind, closed, own_names=own_names)] = False
    return replace(view, live=live)


def _states(unit: UnitOfWork, character_id: str, other_id: str, *, as_of: Moment | None) -> list[SecretState]:
    secrets = unit.play.secrets(character_id)
    if not secrets:
        return []
    disposition = folded_disposition(unit.play.dispositions(character_id, other_id, as_of=as_of))
    disclosures = unit.play.disclosures(character_id, other_id, as_of=as_of)
    shown_ids = [disclosure.subject for disclosure in disclosures if disclosure.kind == "shown"]
    told_ids = {name_key(disclosure.subject) for disclosure in disclosures if disclosure.kind == "revealed"}
    flags = flags_in(unit, as_of)
    states = []
    for secret in secrets:
        standing_choice = secret.standing(
            disposition, flags=flags, items=shown_ids, is_known=name_key(secret.secret_id) in told_ids
        )
        hint = secret.hint(disposition, flags=flags, items=shown_ids) if standing_choice == "hinted" else None
        states.append(SecretState(secret=secret, standing=standing_choice, hint=hint))
    return states


def require_json(value: Any, what: str) -> None:
    """Reject values outside JSON, and too deep nesting."""
    if is_deeper(value, than=DEEPEST):
        raise UserInputError(f"{what} nests deeper than {DEEPEST} levels; nothing was stored")
    try:
        json.dumps(value, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise UserInputError(
            f"{what} cannot be {value!r}; pass text, a number, true, false, a list or a mapping"
        ) from error
