"""Things that show themselves in a notebook, as a small table in the story's language."""

from collections.abc import Iterable, Mapping
from typing import Any, TypeVar

Item = TypeVar("Item")


class Shown:
    """Something that a notebook shows; `repr` stays what it is."""

    def _repr_html_(self) -> str:
        """Return what Jupyter shows."""
        # Rendering stands above the models; who only holds one does not load it.
        from novelgen.context.notebook import shown_html  # noqa: PLC0415

        return shown_html(self)

    def _repr_pretty_(self, printer: Any, _cycle: bool) -> None:
        """Print what a terminal of IPython shows."""
        from novelgen.context.notebook import shown_text  # noqa: PLC0415

        printer.text(shown_text(self))

    def in_simpler_terms(self) -> Any:
        """Return what to show in place of this: something that is shown already, a list of such, or a text."""
        return str(self)


class ShownList(Shown, list[Item]):
    """A list whose items a notebook shows as one table.

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
