"""Every English sentence of the source that people may be shown, as a template with numbered places."""

import ast
import json
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

SOURCE = Path(__file__).parents[3]

_PROSE = re.compile(r"[A-Za-z]{2,},? [a-z]{2,}")
_CHINESE = re.compile(r"[\u3400-\u9fff]")
_PLACE_OF_LOG = re.compile(r"%(?:[sdrg]|\.\d+f)")
_NAMED_PLACE = re.compile(r"\{(\w*)(?:![rs])?(?::[^{}]*)?\}")
_WORD_LIST = re.compile(r"\s*\n {4}.*|\s*(?:[\w-]+\s+){14,}[\w-]+\s*", re.DOTALL)
_CODE = re.compile(
    r"\(\?[:!<]|\\[bw]|</\w+>|<(?:div|caption|t[dh])|IS NULL| <> |^\s*novelgen |^import |^\x08|^# |^mrs |^\S+$"
    r"|^PRAGMA |^Do the same as |^SELECT |^Basic |^private, |^NOVELGEN_\w+="
)

_SAYING = re.compile(r".*(?:Error|Refusal|Issue|Finding|Problem)|warning|error|fail|report_\w+|progress_bars|_unusable")
"""Names of what takes a sentence for people; its words count in every module, also when they are short."""

_DESCRIBING = frozenset({"help", "description", "epilog", "metavar", "doc", "summary", "examples", "cut_by"})
"""Names of arguments whose words are help, for `--help` and /openapi.json."""

_SILENT_CALLS = frozenset(
    {"debug", "info", "compile", "getLogger", "Query", "Field", "FieldInfo", "Header", "option", "lazy_exports"}
)

BOTH_LANGUAGES = (
    "novelgen/characters/dispositions.py",
    "novelgen/characters/mind.py",
    "novelgen/context/chunk_memories.py",
    "novelgen/context/difference_block.py",
    "novelgen/context/notebook.py",
    "novelgen/context/retrieval_plan.py",
    "novelgen/memory/knowledge_rules.py",
    "novelgen/reading/prompt_lists.py",
    "runtime/ingest/chapter_pass.py",
    "runtime/story/character.py",
)
"""Modules that hold their words in both languages beside each other, for people or for a prompt."""

FOR_PROGRAMS = (
    "novelgen/checking",
    "novelgen/deadlines.py",
    "novelgen/language",
    "novelgen/memory",
    "novelgen/reading/known_story.py",
    "novelgen/reading/model_record.py",
    "novelgen/reading/knowledge_reading.py",
    "novelgen/testing",
    "novelgen/words",
    "runtime/agents",
    "runtime/doors/answers.py",
    "runtime/doors/cli/operation_commands.py",
    "runtime/doors/cli/command_view.py",
    "runtime/doors/cli/command_parts",
    "runtime/doors/http/telemetry.py",
    "runtime/doors/langchain.py",
    "runtime/doors/mcp",
    "runtime/doors/tools.py",
    "runtime/files/book_writing.py",
    "runtime/model_providers/bulk_e5.py",
    "runtime/storage/search_indexes.py",
    "runtime/storage/migrations",
    "runtime/storage/terms.py",
)
"""Modules whose other strings are words of a language, patterns, help, or said to a model, an agent or a monitor."""


def message_templates() -> dict[str, str]:
    """Return each template with the first place of the source where it stands."""
    found: dict[str, str] = {}
    for folder in ("novelgen", "runtime"):
        for file in sorted((SOURCE / folder).rglob("*.py")):
            name = file.relative_to(SOURCE).as_posix()
            reader = _Reader(is_quiet=name.startswith((*BOTH_LANGUAGES, *FOR_PROGRAMS)))
            reader.visit(ast.parse(file.read_text(encoding="utf-8")))
            for line, template in reader.found:
                found.setdefault(template, f"{name}:{line}")
    return found


class _Reader(ast.NodeVisitor):
    """Collects sentences; in a quiet module only those that an error, an issue or a warning takes."""

    def __init__(self, *, is_quiet: bool) -> None:
        self._is_quiet = is_quiet
        self._is_saying = False
        self.found: list[tuple[int, str]] = []

    def visit(self, node: ast.AST) -> None:
        if isinstance(node, ast.AnnAssign):
            if node.value is not None:
                self.visit(node.value)
        elif isinstance(node, ast.arguments):
            for each in (*node.defaults, *filter(None, node.kw_defaults)):
                self.visit(each)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            for each in (*node.decorator_list, node.args, *node.body):
                self.visit(each)
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            return  # a docstring
        elif isinstance(node, ast.Call):
            self._visit_call(node)
        elif isinstance(node, ast.Dict):
            for key, value in zip(node.keys, node.values, strict=True):
                if not (isinstance(key, ast.Constant) and key.value in _DESCRIBING):
                    self.visit(value)
        elif (pieces := _pieces(node)) is not None:
            self._take(node, pieces)
        else:
            self.generic_visit(node)

    def _visit_call(self, node: ast.Call) -> None:
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        is_word_list = name == "split" and isinstance(node.func, ast.Attribute) and _pieces(node.func.value) is not None
        if name in _SILENT_CALLS or is_word_list:
            return
        before, self._is_saying = self._is_saying, self._is_saying or bool(_SAYING.fullmatch(name))
        for each in node.args:
            self.visit(each)
        for keyword in node.keywords:
            if keyword.arg not in _DESCRIBING:
                self.visit(keyword.value)
        self._is_saying = before
        self.visit(node.func)

    def _take(self, node: ast.AST, pieces: list[str | ast.AST]) -> None:
        is_short = self._is_saying and len(pieces) > 1 and bool(re.search("[a-z]{3}", "".join(_texts(pieces))))
        template = _template(pieces)
        is_prose = bool(_PROSE.search(template)) or is_short
        if is_prose and (self._is_saying or not self._is_quiet) and not _is_for_programs(template):
            self.found.append((getattr(node, "lineno", 0), template))
        for each in pieces:
            if not isinstance(each, str):
                self.visit(each)


def _pieces(node: ast.AST) -> list[str | ast.AST] | None:
    """Return texts and places of a string, of an f-string, or of several that are put together; None for the rest."""
    if isinstance(node, ast.Constant):
        return [node.value] if isinstance(node.value, str) else None
    if isinstance(node, ast.JoinedStr):
        return [each.value if isinstance(each, ast.Constant) else each for each in node.values]
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        sides = (_pieces(node.left), _pieces(node.right))
        if sides != (None, None):
            left, right = sides
            return [*([node.left] if left is None else left), *([node.right] if right is None else right)]
    return None


def _texts(pieces: list[str | ast.AST]) -> Iterator[str]:
    return (each for each in pieces if isinstance(each, str))


def _template(pieces: list[str | ast.AST]) -> str:
    """Return a template whose places are numbered; those of a format or of a log are places, too."""
    is_plain = len(pieces) == 1
    text = ""
    for each in pieces:
        text += (
            _PLACE_OF_LOG.sub("{}", each)
            if isinstance(each, str) and is_plain
            else "{}"
            if not isinstance(each, str)
            else each.replace("{", "\x01").replace("}", "\x02")
        )
    numbers = iter(range(1, 100))
    numbered = _NAMED_PLACE.sub(lambda _: f"{{{next(numbers)}}}", text)
    return numbered.replace("\x01", "{{").replace("\x02", "}}")


def _is_for_programs(template: str) -> bool:
    return bool(_CHINESE.search(template) or _CODE.search(template) or _WORD_LIST.fullmatch(template))


def print_missing() -> None:
    """Print what has no Chinese yet, as lines of the catalogue."""
    known = catalogue()["source"]
    for template, place in message_templates().items():
        if template not in known:
            print(f'# {place}\n{json.dumps(template, ensure_ascii=False)} = ""')


def catalogue() -> dict[str, dict[str, str]]:
    """Return the tables of the Chinese messages."""
    return tomllib.loads((SOURCE / "novelgen/words/messages.zh.toml").read_text(encoding="utf-8"))


if __name__ == "__main__":
    print_missing()
