"""Things that show themselves in a notebook, as a small table in the story's language."""

from collections.abc import Iterable, Mapping
from importlib import import_module
from typing import Any, TypeVar

Item = TypeVar("Item")


def rendered(renderer: str, thing: Any, **options: str | None) -> str:
    """Return a thing as a renderer of `novelgen.context` has it: here alone models reach up, and load it late."""
    module, name = renderer.split(".")
    text: str = getattr(import_module(f"novelgen.context.{module}"), name)(thing, **options)
    return text


class Shown:
    """Base of objects with a notebook representation.

    `repr` is unchanged.
    """

    def _repr_html_(self) -> str:
        """Return the HTML for Jupyter."""
        return rendered("notebook.shown_html", self)

    def _repr_pretty_(self, printer: Any, _cycle: bool) -> None:
        """Print the text for IPython."""
        printer.text(rendered("notebook.shown_text", self))

    def in_simpler_terms(self) -> Any:
        """Return the replacement to show: another shown object, a list or a text."""
        return str(self)


class ShownList(Shown, list[Item]):
    """A list that a notebook shows as one table.

    Args:
        items: Its items.
        names: Entity id to name, for what is shown.
        issues: What was missing while it was made.
    """

    def __init__(
        self, items: Iterable[Item] = (), *, names: Mapping[str, str] | None = None, issues: Iterable[Any] = ()
    ) -> None:
        super().__init__(items)
        self.names = dict(names or {})
        self.issues = list(issues)
