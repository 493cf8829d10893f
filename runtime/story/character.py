"""One character of a story or a game, who remembers, feels, keeps secrets and speaks."""

from langchain_core.tools import BaseTool

from runtime.story.base import Place, position_of
from runtime.story.character_news import CharacterNews
from runtime.story.replies import CharacterReplies
from runtime.story.secrets import CharacterSecrets


class Character(CharacterNews, CharacterReplies, CharacterSecrets):
    """A character with a memory of its own; safe to share between threads. `Story.character` gives it.

    Nobody recalls what another learnt. Moments are pairs of session and turn, which order what is played as chapters
    and scenes order a book, or datetimes; what is read as of a moment was learnt strictly before it.

    Args:
        stores: Open stores; they are not closed here.
        project_id: The project.
        entity: The character.
        clock: Tells the present moment; None takes that of the stores. A game with a calendar of its own passes its
            own.
    """

    def __repr__(self) -> str:
        return f"Character({self.name!r}, {self.character_id!r}, project {self.project_id!r})"

    def tools(self, *, to: str | None = None, story_as_of: Place = None) -> list[BaseTool]:
        """Return LangChain tools for a model that plays this character: character_remember and character_recall.

        Args:
            to: To whom it speaks, as for `recall`; None keeps every secret back.
            story_as_of: What the story let the character know strictly before this place is recalled, too.
        """
        # Tools are a door: they stand above the story that they are made of.
        from runtime.doors.langchain import build_character_tools

        return build_character_tools(self._stores, self, to=to, story_as_of=position_of(story_as_of))
