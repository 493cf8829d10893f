"""Chinese help of commands, translated by `help.zh.toml`."""

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache

import click
from rich.cells import cell_len

from novelgen.words import entries

_PIECES = re.compile(r"[\u2e80-\u9fff\uff00-\uffef…]|[^\s\u2e80-\u9fff\uff00-\uffef…]+|\s+")
_NEVER_FIRST = frozenset("，。；：、？！）】”…")
_BESIDE = re.compile(r"^(?P<said>.*)  \[(?P<beside>[^\[\]]*(?:\[[^\[\]]*\])?[^\[\]]*)\]$", re.DOTALL)
_KINDS_BESIDE = {"default": "默认", "env var": "环境变量", "required": "必填"}
_ELLIPSIS = "..."


class ChineseHelp(click.HelpFormatter):
    """Formatter of Chinese help, wrapped by display width."""

    def write_usage(self, prog: str, args: str = "", prefix: str | None = None) -> None:
        """Write how the command is called."""
        super().write_usage(prog, args, prefix or "用法：")

    def write_heading(self, heading: str) -> None:
        """Write the heading of a section."""
        self.write(f"{'':>{self.current_indent}}{in_chinese(heading)}：\n")

    def write_text(self, text: str) -> None:
        """Write paragraphs, keeping lines of literal ones."""
        indent = " " * self.current_indent
        paragraphs = []
        for paragraph in _in_paragraphs(text):
            if isinstance(paragraph, list):
                lines: Iterable[str] = map(_with_its_indent, paragraph)
            else:
                lines = _wrapped(in_chinese(paragraph), self.width - len(indent))
            paragraphs.append("\n".join(indent + line for line in lines))
        self.write("\n\n".join(paragraphs) + "\n")

    def write_dl(self, rows: Iterable[tuple[str, str]], col_max: int = 30, col_spacing: int = 2) -> None:
        """Write terms beside their descriptions."""
        rows = list(rows)
        first = min(max((cell_len(name) for name, _ in rows), default=0), col_max) + col_spacing
        for name, text in rows:
            lead = f"{'':>{self.current_indent}}{name}"
            lines = _wrapped(in_chinese(text), max(self.width - first - self.current_indent, 10))
            if cell_len(name) > first - col_spacing:
                self.write(f"{lead}\n")
                lead = " " * self.current_indent
            margin = self.current_indent + first
            for line in lines or [""]:
                self.write(f"{lead + ' ' * (margin - cell_len(lead)) + line}".rstrip() + "\n")
                lead = ""


def _in_paragraphs(text: str) -> Iterator[str | list[str]]:
    """Return paragraphs as texts of one line, those that keep their lines (marked by a backspace) as lists of them."""
    for paragraph in text.split("\n\n"):
        if paragraph.startswith("\b"):
            yield paragraph.splitlines()[1:]
        else:
            yield " ".join(paragraph.split())


def in_chinese(text: str) -> str:
    """Return a help text in Chinese with defaults, in English without a translation."""
    return said_in_chinese(text) or text


def said_in_chinese(text: str) -> str | None:
    """Return a help text's Chinese translation, or None."""
    plain = " ".join(text.split())
    if plain in _catalogue():
        return _catalogue()[plain]
    if beside := _BESIDE.match(text):
        statement = said_in_chinese(beside["said"]) if beside["said"] else ""
        return None if statement is None else f"{statement} [{_told_beside(beside['beside'])}]"
    if text.endswith(_ELLIPSIS):
        whole = [text for text in _catalogue() if text.startswith(plain.removesuffix(_ELLIPSIS).rstrip())]
        return _catalogue()[whole[0]] if whole else None
    return None


def _told_beside(text: str) -> str:
    """Say a default, a variable or bounds as click lists them behind an option."""
    lines = []
    for other_text in text.split("; "):
        kind, colon, value = other_text.partition(": ")
        if kind not in _KINDS_BESIDE:
            lines.append(other_text)
        else:
            lines.append(f"{_KINDS_BESIDE[kind]}{'：' if colon else ''}{in_chinese(value)}")
    return "；".join(lines)


def _with_its_indent(line: str) -> str:
    text = line.strip()
    return line[: len(line) - len(line.lstrip())] + in_chinese(text) if text else ""


def _wrapped(text: str, width: int) -> Sequence[str]:
    lines = [""]
    for piece in _PIECES.findall(text):
        is_full = cell_len(lines[-1]) + cell_len(piece) > width
        if is_full and lines[-1] and piece not in _NEVER_FIRST:
            lines.append("")
        if lines[-1] or not piece.isspace():
            lines[-1] += piece
    return [line.rstrip() for line in lines]


@cache
def _catalogue() -> dict[str, str]:
    return entries("help.zh")
