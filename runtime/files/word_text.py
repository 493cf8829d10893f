"""Visible text of a Word document: paragraphs, headings, omitted parts.

Readers of .docx were tried on a document with tracked changes, fields, ruby, content controls, text boxes and hidden
text: mammoth 1.13 loses the base of ruby and simple fields and keeps hidden text, docx2python 3.7 and docx2txt 0.9 keep
hidden text, readings and what was moved away, and double text boxes, python-docx 1.2 sees plain runs alone.
"""

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from runtime.files.left_out import LeftOut

_HEADING_STYLE = re.compile(r"^(?:heading|标题)\s*(?P<level>[1-6])$", re.IGNORECASE)
_SCENE_BREAK = "***"
_LEVELS = 6
_OFF = frozenset({"0", "false", "off"})
_BODY_LEVEL = 9
_PRIVATE_USE = range(0xE000, 0xF900)


class _Style(NamedTuple):
    """The properties of a style."""

    based_on: str
    name: str
    level: int | None
    is_hidden: bool | None


class _Styles:
    """The styles of a document with inheritance."""

    def __init__(self, root: Any) -> None:
        self._styles = {
            _value(style, "styleId", own=True): _Style(
                _value(_child(style, "basedOn")),
                _value(_child(style, "name")),
                _outline_level(_child(style, "pPr")),
                _switch(_child(_child(style, "rPr"), "vanish")),
            )
            for style in (() if root is None else root)
            if _name(style) == "style"
        }

    def heading_level(self, style_id: str) -> int | None:
        """Return a heading's level, 1 for the title, or None."""
        for style in self._chain(style_id):
            match = _HEADING_STYLE.match(style.name)
            if match or style.name == "Title":
                return int(match["level"]) if match else 1
            if style.level is not None:
                return style.level if style.level <= _LEVELS else None
        return None

    def is_hidden(self, style_id: str) -> bool:
        """Tell whether text of a style is hidden."""
        switches = (style.is_hidden for style in self._chain(style_id) if style.is_hidden is not None)
        return next(switches, False)

    def is_contents(self, style_id: str) -> bool:
        """Tell whether paragraphs of a style are entries of a table of contents."""
        return any(re.match(r"(?:toc|目录)\s*\d", style.name, re.IGNORECASE) for style in self._chain(style_id))

    def _chain(self, style_id: str) -> Iterator[_Style]:
        passed: set[str] = set()
        while style_id in self._styles and style_id not in passed:
            passed.add(style_id)
            style = self._styles[style_id]
            yield style
            style_id = style.based_on


class WordReader:
    """Reads the body of a document."""

    def __init__(self, styles: Any) -> None:
        self.left_out = LeftOut()
        self._styles = _Styles(styles)
        self._lines: list[str] = []
        self._pieces: list[str] = []
        self._boxes: list[Any] = []
        self._fields: list[str] = []
        self._goes_on = False
        self._style_id = ""

    def lines(self, body: Any) -> list[str]:
        """Return the paragraphs of a body, headings marked as in Markdown."""
        self._walk(body)
        self._end_paragraph(None)
        return self._lines

    def _walk(self, parent: Any) -> None:
        for child in parent:
            name = _name(child)
            if not name or name.endswith(("Pr", "PrEx", "PrChange")):
                continue
            handler = _HANDLERS.get(name)
            if handler is None:
                self._walk(child)
            else:
                handler(self, child)

    def _paragraph(self, paragraph: Any) -> None:
        properties = _child(paragraph, "pPr")
        style_id = _value(_child(properties, "pStyle"))
        if self._styles.is_contents(style_id):
            self.left_out.add("table_of_contents", _text(paragraph))
            return
        if not self._goes_on:
            self._pieces = []
            self._style_id = style_id
        self._walk(paragraph)
        mark = _child(properties, "rPr")
        # The mark that ends a paragraph was deleted: it goes on in the next one.
        self._goes_on = _child(mark, "del") is not None or _child(mark, "moveFrom") is not None
        if not self._goes_on:
            self._end_paragraph(properties)

    def _end_paragraph(self, properties: Any) -> None:
        text = "".join(self._pieces)
        self._pieces = []
        level = _outline_level(properties)
        if level is None:
            level = self._styles.heading_level(self._style_id)
        if level is not None and level <= _LEVELS and text.strip():
            text = f"{'#' * level} {' '.join(text.split())}"
        if text.strip() or properties is not None:
            self._lines.append(text)
        if _is_rule(properties):
            self._lines.append(_SCENE_BREAK)
        boxes, self._boxes = self._boxes, []
        for box in boxes:
            self._walk(box)

    def _run(self, run: Any) -> None:
        properties = _child(run, "rPr")
        is_hidden = _switch(_child(properties, "vanish"))
        if is_hidden is None:
            run_style = _value(_child(properties, "rStyle"))
            is_hidden = self._styles.is_hidden(run_style or self._style_id)
        if is_hidden:
            if text := _text(run):
                self.left_out.add("hidden_text", text)
        else:
            self._walk(run)

    def _read_text(self, element: Any) -> None:
        if not any(state != "result" for state in self._fields):
            self._pieces.append(element.text or "")
        elif "contents" in self._fields:
            self.left_out.add("table_of_contents", element.text or "")

    def _field_mark(self, element: Any) -> None:
        kind = _value(element, "fldCharType", own=True)
        if kind == "begin":
            self._fields.append("code")
        elif self._fields and kind == "separate":
            self._fields[-1] = "result" if self._fields[-1] == "code" else self._fields[-1]
        elif self._fields and kind == "end":
            self._fields.pop()

    def _field_code(self, element: Any) -> None:
        if (element.text or "").lstrip().startswith("TOC") and self._fields:
            self._fields[-1] = "contents"

    def _content_control(self, control: Any) -> None:
        properties = _child(control, "sdtPr")
        gallery = _value(_child(_child(properties, "docPartObj"), "docPartGallery"))
        if gallery == "Table of Contents":
            self.left_out.add("table_of_contents", _text(control))
        elif _switch(_child(properties, "showingPlcHdr")):
            self.left_out.add("placeholders", _text(control))
        else:
            self._walk(control)

    def _alternatives(self, element: Any) -> None:
        choice = _child(element, "Choice")
        self._walk(_child(element, "Fallback") if choice is None else choice) if len(element) else None

    def _ruby(self, ruby: Any) -> None:
        reading, base = _child(ruby, "rt"), _child(ruby, "rubyBase")
        if reading is not None:
            self.left_out.add("readings", _text(reading))
        if base is not None:
            self._walk(base)

    def _row(self, row: Any) -> None:
        if _child(_child(row, "trPr"), "del") is not None:
            self._deleted(row)
        else:
            self._walk(row)

    def _cell(self, cell: Any) -> None:
        if _child(_child(cell, "tcPr"), "cellDel") is not None:
            self._deleted(cell)
        else:
            self._walk(cell)

    def _deleted(self, element: Any) -> None:
        if text := _text(element):
            self.left_out.add("deleted_text", text)

    def _moved(self, element: Any) -> None:
        if text := _text(element):
            self.left_out.add("moved_text", text)

    def _box(self, content: Any) -> None:
        self._boxes.append(content)

    def _picture(self, picture: Any) -> None:
        if any(_name(element) == "rect" and _value(element, "hr", own=True) == "t" for element in picture.iter()):
            self._lines.append(_SCENE_BREAK)
        elif not any(_name(element) == "txbxContent" for element in picture.iter()):
            self.left_out.add("pictures", "")
        self._walk(picture)

    def _symbol(self, element: Any) -> None:
        code = int(_value(element, "char", own=True) or "0", 16)
        self._pieces.append("◆" if code in _PRIVATE_USE or not code else chr(code))

    def _break(self, element: Any) -> None:
        if _value(element, "type", own=True) not in ("page", "column"):
            self._pieces.append("\n")

    def _count_element(self, element: Any) -> None:
        self.left_out.add("comments" if _name(element) == "commentReference" else "notes", "")


_HANDLERS: dict[str, Any] = {
    "p": WordReader._paragraph,
    "r": WordReader._run,
    "t": WordReader._read_text,
    "tab": lambda reader, _: reader._pieces.append("\t"),
    "cr": lambda reader, _: reader._pieces.append("\n"),
    "noBreakHyphen": lambda reader, _: reader._pieces.append("-"),
    "br": WordReader._break,
    "sym": WordReader._symbol,
    "fldChar": WordReader._field_mark,
    "instrText": WordReader._field_code,
    "delText": lambda reader, element: None,
    "delInstrText": lambda reader, element: None,
    "del": WordReader._deleted,
    "moveFrom": WordReader._moved,
    "sdt": WordReader._content_control,
    "AlternateContent": WordReader._alternatives,
    "ruby": WordReader._ruby,
    "tr": WordReader._row,
    "tc": WordReader._cell,
    "txbxContent": WordReader._box,
    "drawing": WordReader._picture,
    "pict": WordReader._picture,
    "commentReference": WordReader._count_element,
    "footnoteReference": WordReader._count_element,
    "endnoteReference": WordReader._count_element,
}
"""What is done with an element; any other one is walked through: insertions, smart tags, links, tables, fields."""


def _name(element: Any) -> str:
    """Return an element's local name, empty for a comment."""
    return element.tag.rpartition("}")[2] if isinstance(element.tag, str) else ""


def _child(element: Any, name: str) -> Any:
    return None if element is None else next((child for child in element if _name(child) == name), None)


def _value(element: Any, name: str = "val", *, own: bool = False) -> str:
    """Return the value of an element, or of its own attribute, whatever its namespace."""
    if element is None:
        return ""
    values = (value for key, value in element.attrib.items() if key.rpartition("}")[2] == name)
    return str(next(values, ""))


def _switch(element: Any) -> bool | None:
    return None if element is None else _value(element).lower() not in _OFF


def _outline_level(properties: Any) -> int | None:
    value = _value(_child(properties, "outlineLvl"))
    return min(int(value), _BODY_LEVEL) + 1 if value.isdigit() else None


def _is_rule(properties: Any) -> bool:
    """Tell whether a line is drawn below a paragraph alone, as Word makes one of `---`."""
    border = _child(properties, "pBdr")
    sides = {} if border is None else {_name(side): _value(side) for side in border}
    drawn_names = {side for side, value in sides.items() if value not in ("none", "nil", "")}
    return drawn_names == {"bottom"}


def _text(element: Any) -> str:
    return "".join(part.text or "" for part in element.iter() if _name(part) in ("t", "delText"))
