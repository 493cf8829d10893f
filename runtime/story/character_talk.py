"""What a character feels, keeps secret and says: the part of `Character` that games talk to."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from langchain_core.language_models import BaseChatModel

from novelgen.characters.dispositions import PLAYER
from novelgen.characters.memory import as_moment
from novelgen.characters.reply_check import ReplyFinding
from novelgen.characters.secrets import Secret
from runtime.storage.records import Disclosure, StoredDispositionChange
from runtime.stores import MemoryStores
from runtime.story.base import Place, async_twin, position_of
from runtime.story.dispositions import Feelings, StoryDispositions
from runtime.story.python_arguments import ReadsArguments
from runtime.story.replies import Keeping, Reply, StoryReplies
from runtime.story.secrets import SecretState, StorySecrets

Moment = tuple[int, int] | datetime | None


class CharacterTalk(ReadsArguments):
    """Feelings, secrets and replies of a character, towards one other at a time.

    The other is the id, name or alias of a character, or any other name: "player" where nobody is named.
    """

    _stores: MemoryStores
    _clock: Callable[[], datetime]
    project_id: str
    character_id: str

    # --- Feelings ---

    def feelings(self, other: str = PLAYER, *, as_of: Moment = None) -> Feelings:
        """Return what the character feels for another: five dimensions, a status, a header, and words.

        Args:
            other: For whom.
            as_of: As it was then; None means now.
        """
        return StoryDispositions(self._stores, self.project_id).read_feelings(
            character_id=self.character_id, other=other, as_of=as_moment(as_of), now=self._clock()
        )

    def feel(
        self,
        other: str = PLAYER,
        *,
        event_type: str = "",
        deltas: Mapping[str, int] | None = None,
        values: Mapping[str, int] | None = None,
        at: Moment = None,
    ) -> Feelings:
        """Move what the character feels for another; `remember` does so by itself for those who took part.

        Args:
            other: For whom.
            event_type: What happened: its rule moves what `deltas` do not name.
            deltas: Dimension to the number by which it moves: `{"trust": 5}`.
            values: Dimension to the value that it takes: `{"fear": 40}`.
            at: When.

        Raises:
            UserInputError: When a dimension is unknown, or nothing is told to move.
        """
        return StoryDispositions(self._stores, self.project_id).change_feelings(
            character_id=self.character_id,
            other=other,
            event_type=event_type,
            deltas=deltas,
            values=values,
            at=as_moment(at),
            now=self._clock(),
        )

    def feelings_history(self, other: str = PLAYER, *, as_of: Moment = None) -> list[StoredDispositionChange]:
        """Return how the character's feelings for another moved, in the order in which it happened.

        Args:
            other: For whom.
            as_of: Only what happened before; None means everything so far.
        """
        return StoryDispositions(self._stores, self.project_id).list_feelings_changes(
            character_id=self.character_id, other=other, as_of=as_moment(as_of)
        )

    # --- Secrets ---

    def keep_secret(self, secret: Mapping[str, Any] | Secret) -> Secret:
        """Let the character keep a secret, in place of the one of that id.

        Args:
            secret: `{"secret_id": "deal", "text": "…", "unlock": {"trust": 60, "flag": "…", "item": "…"}}`; with
                `"never": True` it is never told, with `"hints": [{"text": "…", "unlock": {"trust": 40}}]` a part is
                let slip before. `secret`, `unlock_trust` and `unlock_affection` are understood, too.

        Raises:
            UserInputError: When a field is wrong; says which.
        """
        return StorySecrets(self._stores, self.project_id).keep_secret(character_id=self.character_id, secret=secret)

    def drop_secret(self, secret_id: str) -> Secret:
        """Take a secret away.

        Raises:
            UserInputError: When the character keeps no such secret.
        """
        return StorySecrets(self._stores, self.project_id).drop_secret(
            character_id=self.character_id, secret_id=secret_id
        )

    def secrets(self, *, to: str = PLAYER, as_of: Moment = None) -> list[SecretState]:
        """Return the secrets, and how each stands towards a listener: locked, hinted, unlocked or known.

        Args:
            to: The listener.
            as_of: As they stood then; None means now.
        """
        return StorySecrets(self._stores, self.project_id).list_secrets(
            character_id=self.character_id, to=to, as_of=as_moment(as_of)
        )

    def reveal(self, secret_id: str, *, to: str = PLAYER, at: Moment = None) -> Disclosure:
        """Write down that the character told somebody a secret: it stays known to them.

        Args:
            secret_id: The secret.
            to: Who heard it.
            at: When.

        Raises:
            UserInputError: When the character keeps no such secret, or one that is never told.
        """
        return StorySecrets(self._stores, self.project_id).reveal_secret(
            character_id=self.character_id, secret_id=secret_id, to=to, at=as_moment(at), now=self._clock()
        )

    def see_item(self, item: str, *, by: str = PLAYER, at: Moment = None) -> Disclosure:
        """Write down that somebody showed the character a thing, which may unlock a secret.

        Args:
            item: Name of the thing, as the secret's condition names it.
            by: Who showed it.
            at: When.

        Raises:
            UserInputError: When the thing has no name.
        """
        return StorySecrets(self._stores, self.project_id).show_item(
            character_id=self.character_id, item=item, by=by, at=as_moment(at), now=self._clock()
        )

    # --- Replies ---

    def check_reply(self, text: str, *, to: str = PLAYER, said: str = "", as_of: Moment = None) -> list[ReplyFinding]:
        """Find what is wrong with something that the character is about to say; nothing is stored.

        A secret that the listener may not hear, a name that the story does not know (with the one that may be meant),
        and what goes against a slot, such as the player's name. Rules find it: what is told in wholly other words is
        not found.

        Args:
            text: What is said.
            to: To whom.
            said: What it answers.
            as_of: As things stood then; None means now.

        Returns:
            Findings in the order of the text, each with a quote and where it stands; empty where all is well.
        """
        return StoryReplies(self._stores, self.project_id).check_character_reply(
            character_id=self.character_id, text=text, to=to, said=said, as_of=as_moment(as_of)
        )

    def stream_reply(
        self,
        chat_model: BaseChatModel,
        said: str,
        *,
        to: str = PLAYER,
        talk: Sequence[tuple[str, str]] = (),
        at: Moment = None,
        budget_tokens: int | None = None,
        timeout_s: float | None = None,
        keep: Keeping = "clean",
        story_as_of: Place = None,
    ) -> Iterator[str | Reply]:
        """Let a model speak as the character: yields what it says as it comes, and at last a `Reply`.

        Args:
            chat_model: Any LangChain chat model.
            said: What was said to the character.
            to: Who said it.
            talk: The turns before, as pairs of who and what.
            at: When it is said.
            budget_tokens: Of the memories in the prompt; None takes the setting `recall_budget_tokens`.
            timeout_s: The reply must be whole by then; None takes the setting `model_timeout_s`.
            keep: When it is remembered: "clean" where the check found nothing, "always", or "never".
            story_as_of: Of the story what it let the character know strictly before this place may come back, too.

        Yields:
            Texts, then one `Reply`: what was found, stored and changed. A model that fails or hangs ends in a reply
            that says so in `issues`, and of which nothing is stored.

        Raises:
            UserInputError: When nothing was said.
        """
        return StoryReplies(self._stores, self.project_id).stream_reply(
            character_id=self.character_id,
            chat_model=chat_model,
            said=said,
            to=to,
            talk=talk,
            at=as_moment(at),
            now=self._clock(),
            budget_tokens=budget_tokens,
            timeout_s=timeout_s,
            keep=keep,
            story_as_of=position_of(story_as_of),
        )

    async def astream_reply(self, chat_model: BaseChatModel, said: str, **options: Any) -> AsyncIterator[str | Reply]:
        """Do the same as `stream_reply` without blocking the event loop: the same arguments and parts.

        Args:
            chat_model: Any LangChain chat model.
            said: What was said to the character.
            **options: As of `stream_reply`.
        """
        stream = self.stream_reply(chat_model, said, **options)
        while (part := await asyncio.to_thread(next, stream, None)) is not None:
            yield part

    def keep_reply(self, reply: Reply, *, at: Moment = None) -> Reply:
        """Remember a reply that was not remembered by itself, whatever the check found.

        Args:
            reply: As the stream yielded it.
            at: When it was said.
        """
        return StoryReplies(self._stores, self.project_id).keep_reply(reply=reply, at=as_moment(at), now=self._clock())

    afeelings = async_twin(feelings)
    afeel = async_twin(feel)
    afeelings_history = async_twin(feelings_history)
    akeep_secret = async_twin(keep_secret)
    adrop_secret = async_twin(drop_secret)
    asecrets = async_twin(secrets)
    areveal = async_twin(reveal)
    asee_item = async_twin(see_item)
    acheck_reply = async_twin(check_reply)
    akeep_reply = async_twin(keep_reply)
