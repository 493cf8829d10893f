"""Things that show themselves in a notebook, as a small table in the story's language."""

from collections.abc import Callable, Iterable, Mapping
from importlib import import_module
from typing import Any, TypeVar

Item = TypeVar("Item")


def renderer(name: str) -> Callable[..., str]:
    """Return a renderer of `novelgen.context`: here alone models reach up, and load it late."""
    module, function = name.split(".")
    render: Callable[..., str] = getattr(import_module(f"novelgen.context.{module}"), function)
    return render


class Shown:
    """Base of objects with a notebook representation.

    `repr` is unchanged.
    """

    def _repr_html_(self) -> str:
        """Return the HTML for Jupyter."""
        return renderer("notebook.shown_html")(self)

    def _repr_pretty_(self, printer: Any, _cycle: bool) -> None:
        """Print the text for IPython."""
        printer.text(renderer("notebook.shown_text")(self))

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
