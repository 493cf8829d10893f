"""What Python programs correct in a story: memories, scenes, cards, relationships, threads, deletions, undo."""

from __future__ import annotations

from collections.abc import Mapping

from langchain_core.tools import BaseTool

from novelgen.models.state import Relationship
from runtime.async_twins import async_twin
from runtime.story.base import Place, StoryBase, position_of
from runtime.story.relationships import StoryRelationships
from runtime.story_tools.editing_tools import build_editing_tools


class StoryEditing(StoryBase):
    """The part of a `Story` that corrects what is stored; see there."""

    def edit_relationship(
        self,
        first: str,
        second: str,
        *,
        relationship_type: str | None = None,
        perspective_a: str | None = None,
        perspective_b: str | None = None,
        status: str | None = None,
        event: str | None = None,
        intensity: int | None = None,
        dimensions: Mapping[str, int] | None = None,
        mutual_dimensions: Mapping[str, int] | None = None,
        scene_id: str | None = None,
        start: Place = None,
    ) -> Relationship:
        """Change how two characters stand; what is not given stays as it is.

        Args:
            first: One of the two.
            second: The other one.
            relationship_type: The new type.
            perspective_a: How the first sees the second now.
            perspective_b: How the second sees the first now.
            status: The new status.
            event: What happened between them.
            intensity: How much it matters now, 0 to 10.
            dimensions: What the first feels for the second now; the second's side stays.
            mutual_dimensions: What both feel alike now.
            scene_id: Scene in which it happened, as S001 or 3:2.
            start: It holds on entering this position.

        Raises:
            UnknownEntityError: When nobody bears a name by then, or several do.
            UserInputError: When they have no relationship, or nothing is to be changed.
        """
        return (
            StoryRelationships(self._stores, self.project_id)
            .edit_relationship(
                first=first,
                second=second,
                relationship_type=relationship_type,
                perspective_a=perspective_a,
                perspective_b=perspective_b,
                status=status,
                event=event,
                intensity=intensity,
                dimensions=dimensions,
                mutual_dimensions=mutual_dimensions,
                scene_id=scene_id,
                start=position_of(start),
            )
            .relationship
        )

    def editing_tools(self) -> list[BaseTool]:
        """Return LangChain tools with which an editor's agent corrects this story alone.

        They change cards, states and threads, delete, and undo; they see the whole story and are not for the planner
        of a scene. What goes wrong in a call is answered as data.
        """
        return build_editing_tools(self._stores, self.project_id)

    aedit_relationship = async_twin(edit_relationship)
