"""Parsing of model answers into one whole JSON object.

Tolerated: a byte order mark, reasoning in blocks or channels of its own, chat markers, code fences, prose around the
object, trailing and lost commas, comments, single quotes, quotation marks within a string, Chinese quotation marks and
punctuation, line breaks in strings, Python's constants, repeated keys. Never tolerated: an object that ends too early,
for nobody knows what it lacks, and a repair that adds a word or loses one.
"""

import json
import math
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import accumulate
from typing import Annotated, Any, Literal, NoReturn

import json5
from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    GetCoreSchemaHandler,
    GetJsonSchemaHandler,
    ValidationInfo,
    model_validator,
)
from pydantic_core.core_schema import CoreSchema, with_info_before_validator_function

from novelgen.errors import ModelOutputError
from novelgen.language.language import estimate_tokens, significant_words
from novelgen.language.matching import NameFinder
from novelgen.language.normalise import is_deeper
from novelgen.language.sentences import SENTENCE_ENDS

MAX_TEXT_CHARACTERS = 1000
Text = Annotated[str, AfterValidator(lambda value: " ".join(value.split())[:MAX_TEXT_CHARACTERS])]
Texts = Annotated[list[Text], AfterValidator(lambda texts: [text for text in texts if text])]


def distinct_items(values: list[Any]) -> list[Any]:
    """Return the items of a list without blanks and repeats."""
    return list({str(item): item for item in values if item not in (None, "")}.values())


@dataclass(frozen=True, slots=True)
class AtMost:
    """Cuts a list off after so many items, blanks and repeats left out, and tells the bound in the schema."""

    limit: int

    def _cut(self, value: Any, info: ValidationInfo, *, field: str) -> Any:
        if not isinstance(value, list):
            return value
        items = distinct_items(value)
        if info.context and len(items) > self.limit:
            info.context["cuts"].append(f"{field}: {self.limit} of {len(items)}")
        return items[: self.limit]

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        cutter = partial(self._cut, field=handler.field_name or "")
        return with_info_before_validator_function(cutter, handler(source))

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        return {**handler(schema), "maxItems": self.limit}


as_list = BeforeValidator(lambda value: [value] if isinstance(value, str) and value.strip() else value)
"""One name in place of a list of one."""


def within(lowest: float, highest: float) -> AfterValidator:
    """Bring a number within bounds."""
    return AfterValidator(lambda value: max(lowest, min(highest, value)))


def _drop_titles(schema: dict[str, Any]) -> None:
    """Take pydantic's titles, which repeat the names, out of a schema that every prompt has to carry."""
    schema.pop("title", None)
    for shape in schema.get("properties", {}).values():
        shape.pop("title", None)


class ModelPart(BaseModel):
    """A part of the model's answer; null stands for what is not said."""

    model_config = ConfigDict(json_schema_extra=_drop_titles)

    @model_validator(mode="before")
    @classmethod
    def _drop_nulls(cls, given_value: Any) -> Any:
        return (
            {key: value for key, value in given_value.items() if value is not None}
            if isinstance(given_value, dict)
            else given_value
        )


MAX_ANSWER_CHARACTERS = 60_000
MAX_DEPTH = 16
MAX_DIGITS = 100
"""A longer number counts nothing in a story, and Python refuses to read thousands of digits."""

EXCERPT_CHARACTERS = 120

MAX_CANDIDATES = 200
"""Braces at which an object may begin; each costs a look at the whole rest of the answer."""

AnswerFault = Literal["cut", "not_json", "schema", "empty", "echo", "ungrounded", "withheld"]
_REASONING_NAMES = r"(?:seed:)?(?:think|thinking|thought|reasoning)"
_REASONING = re.compile(
    rf"<({_REASONING_NAMES})>.*?(?:</\1>|\Z)|\[({_REASONING_NAMES})\].*?(?:\[/\2\]|\Z)"
    r"|◁think▷.*?(?:◁/think▷|\Z)"
    r"|<\|(begin_of|start)_(thought|thinking)\|>.*?(?:<\|end(?:_of)?_\4\|>|\Z)",
    re.DOTALL | re.IGNORECASE,
)
_REASONING_END = re.compile(
    rf"\A.*(?:</{_REASONING_NAMES}>|\[/{_REASONING_NAMES}\]|◁/think▷|<\|end(?:_of)?_(?:thought|thinking)\|>)",
    re.DOTALL | re.IGNORECASE,
)
_CHANNEL = re.compile(r"<\|channel\|>\s*(?P<name>\w+)[^<]*(?:<\|constrain\|>[^<]*)?<\|message\|>")
_FINAL_CHANNEL = "final"
_BARE_CHANNEL = re.compile(r"\A\s*(?:analysis|commentary)(?=[A-Z\"'{\u3400-\u9fff])")
"""The name of a channel whose markers the server has taken out: `analysisWe need …assistantfinal{…}`."""
_BARE_FINAL = re.compile(r"\A.*assistantfinal", re.DOTALL)
_CHAT_MARKER = re.compile(r"<\|[^|<>\n]{1,40}\|>|</s>|<(?:start|end)_of_turn>")
_END_OF_INPUT = "Unexpected end of input"
_CUT_MESSAGE = "the answer ends within its JSON object; it must be complete and shorter"
_DEPTH_MESSAGE = "the answer nests too deep"
_CHINESE_QUOTED = re.compile(r"[“”]([^“”\"]*)[“”]")
_CHINESE_PUNCTUATION = str.maketrans({"：": ":", "，": ",", "｛": "{", "｝": "}", "［": "[", "］": "]"})
_STRING = re.compile(r'"(?:[^"\\]|\\.)*"', re.DOTALL)


class UnusableAnswerError(ModelOutputError):
    """The model's answer is unusable.

    `fault` gives the kind.
    """

    def __init__(self, fault: AnswerFault, message: str) -> None:
        super().__init__(message)
        self.fault: AnswerFault = fault


def parse_json_object(answer: str, *, keys: Collection[str]) -> dict[str, Any]:
    """Find the JSON object in an answer.

    Args:
        answer: The answer as the model wrote it.
        keys: Keys of the object that is meant, where the answer holds several.

    Returns:
        The last object that has all keys, else the last one.

    Raises:
        UnusableAnswerError: When there is none, it is cut, or it cannot be read without a guess.
    """
    if len(answer) > MAX_ANSWER_CHARACTERS:
        raise UnusableAnswerError("not_json", f"the answer has {len(answer)} characters, too many to be read")
    text = spoken_text(answer)
    try:
        objects = list(_objects_in(text))
        if not _fitting(objects, keys):
            # Turn Chinese quotation marks and punctuation into JSON's, outside of strings in straight quotes.
            parts: list[str] = []
            end = 0
            for string in _STRING.finditer(text):
                parts += [_json_punctuation(text[end : string.start()]), string.group()]
                end = string.end()
            objects += _objects_in("".join([*parts, _json_punctuation(text[end:])]))
        if not _fitting(objects, keys):
            objects += _fitting(_repaired_objects(text), keys)
    except RecursionError as error:
        raise UnusableAnswerError("not_json", _DEPTH_MESSAGE) from error
    if not objects:
        raise UnusableAnswerError("not_json", f"no readable JSON object in the answer {excerpt(answer)!r}")
    filters = (_fitting(objects, keys) or objects)[-1]
    if is_deeper(filters, than=MAX_DEPTH):
        raise UnusableAnswerError("not_json", _DEPTH_MESSAGE)
    return filters


def _fitting(objects: Iterable[dict[str, Any]], keys: Collection[str]) -> list[dict[str, Any]]:
    return [candidate for candidate in objects if all(key in candidate for key in keys)]


def spoken_text(answer: str) -> str:
    """Return the answer without byte order mark and reasoning, up to the chat marker that ends the turn."""
    text = answer.lstrip("\ufeff")
    channels = list(_CHANNEL.finditer(text))
    if channels:
        # Of channels only the final one speaks; a model that never came to it has said nothing.
        finals = [channel for channel in channels if channel["name"].casefold() == _FINAL_CHANNEL]
        text = _CHAT_MARKER.split(text[finals[-1].end() :])[0] if finals else ""
    elif _BARE_CHANNEL.match(text):
        final = _BARE_FINAL.match(text)
        text = text[final.end() :] if final else ""
    text = _REASONING_END.sub("", _REASONING.sub("", text))
    turns = _CHAT_MARKER.split(text)
    return next((turn for turn in turns if "{" in turn or "｛" in turn), text)


def _objects_in(text: str) -> Iterator[dict[str, Any]]:
    """Yield top-level objects, skipping braces without a readable object."""
    start = text.find("{")
    for _ in range(MAX_CANDIDATES):
        if start < 0:
            return
        value, end = _read_value(text, start)
        if isinstance(value, dict):
            yield value
        start = text.find("{", max(end, start + 1))
    if start >= 0:
        message = f"the answer holds more than {MAX_CANDIDATES} objects or braces"
        raise UnusableAnswerError("not_json", message)


def _read_value(text: str, start: int) -> tuple[Any, int]:
    """Read the value at a place, or return None and the place of the fault."""
    decoder = json.JSONDecoder(strict=False, **_HOOKS)
    try:
        return decoder.raw_decode(text, start)
    except json.JSONDecodeError as error:
        if error.pos >= len(text.rstrip()):
            raise UnusableAnswerError("cut", _CUT_MESSAGE) from error
    value, message, end = json5.parse(text, start=start, consume_trailing=False, strict=False, **_HOOKS)
    if message and _END_OF_INPUT in message:
        raise UnusableAnswerError("cut", _CUT_MESSAGE)
    return value, end


def _joined_pairs(pairs: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    """Build an object, joining repeated lists and keeping the first other value."""
    fields_by_name: dict[str, Any] = {}
    for key, value in pairs:
        earlier = fields_by_name.get(key)
        if isinstance(earlier, list) and isinstance(value, list):
            fields_by_name[key] = [*earlier, *value]
        elif not earlier:
            fields_by_name[key] = value
    return fields_by_name


def _refuse_constant(name: str) -> NoReturn:
    raise UnusableAnswerError("not_json", f"the answer holds {name}, which is no JSON value")


def _read_integer(digits: str, base: int = 10) -> int:
    if len(digits) > MAX_DIGITS:
        raise UnusableAnswerError("not_json", f"the answer holds a number of {len(digits)} digits")
    return int(digits, base)


def _read_float(digits: str) -> float:
    value = float(digits)
    if not math.isfinite(value):
        _refuse_constant(digits[:MAX_DIGITS])
    return value


_HOOKS: dict[str, Any] = {
    "object_pairs_hook": _joined_pairs,
    "parse_constant": _refuse_constant,
    "parse_int": _read_integer,
    "parse_float": _read_float,
}


def _repaired_objects(text: str) -> list[dict[str, Any]]:
    """Return the object that json_repair makes of broken JSON, where it neither adds nor loses a word."""
    start = _OBJECT_START.search(text)
    piece = text[start.start() : text.rfind("}") + 1] if start else ""
    depths = accumulate(_BRACKETS.get(character, 0) for character in piece)
    if not piece or max(depths) > MAX_DEPTH:
        return []
    # It takes a tenth of a second to load, which whole answers never need.
    import json_repair  # noqa: PLC0415

    try:
        value = json_repair.loads(piece, skip_json_loads=True)
    except ValueError:
        return []
    return [value] if isinstance(value, dict) and _end_of_value(value, piece, 0) == len(piece) else []


_OBJECT_START = re.compile(r"\{(?=\s*[\"'“”])")
_BRACKETS = {"{": 1, "[": 1, "}": -1, "]": -1}
_BETWEEN = re.compile(r"[\s,:，：]*")
_QUOTES = frozenset("\"'“”")
_CONSTANTS: dict[object, re.Pattern[str]] = {
    None: re.compile("null|None"),
    True: re.compile("true|True"),
    False: re.compile("false|False"),
}
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?(?=[\s,，\]}])")
_ESCAPES = {"\n": "n", "\t": "t", "\r": "r", "\b": "b", "\f": "f", '"': '"', "'": "'", "\\": "\\", "/": "/"}


def _end_of_value(value: Any, piece: str, start: int) -> int:
    """Return the end of a value in its source text, -1 where they differ."""
    at = _end_between(piece, start)
    if isinstance(value, str):
        if piece[at : at + 1] not in _QUOTES:
            return -1
        end = _end_of_text(value, piece, at + 1)
        return end + 1 if piece[end : end + 1] in _QUOTES else -1
    if isinstance(value, dict | list):
        opening, closing = "{}" if isinstance(value, dict) else "[]"
        if piece[at : at + 1] != opening:
            return -1
        at += 1
        for part in [part for item in value.items() for part in item] if isinstance(value, dict) else value:
            at = _end_of_value(part, piece, at)
            if at < 0:
                return -1
        at = _end_between(piece, at)
        return at + 1 if piece[at : at + 1] == closing else -1
    if value is None or isinstance(value, bool):
        constant = _CONSTANTS[value].match(piece, at)
        return constant.end() if constant else -1
    number = _NUMBER.match(piece, at)
    is_same = number is not None and len(number[0]) <= MAX_DIGITS and float(number[0]) == value
    return number.end() if number is not None and is_same and math.isfinite(value) else -1


def _end_between(piece: str, start: int) -> int:
    between = _BETWEEN.match(piece, start)
    return between.end() if between else start


def _end_of_text(value: str, piece: str, start: int) -> int:
    """Return the end of a string in a text, plain or escaped."""
    if piece.startswith(value, start):
        return start + len(value)
    written_match = _escaped_text(value).match(piece, start)
    return written_match.end() if written_match else len(piece)


def _escaped_text(value: str) -> re.Pattern[str]:
    """Return a pattern of a string as JSON may write it: each character as it is, or escaped."""
    return re.compile("".join(_written_forms(character) for character in value))


def _written_forms(character: str) -> str:
    units = character.encode("utf-16-be", "surrogatepass").hex()
    code = "".join(rf"\\u{units[at : at + 4]}" for at in range(0, len(units), 4))
    forms = [re.escape(character), f"(?i:{code})"]
    if character in _ESCAPES:
        forms.insert(0, r"\\" + re.escape(_ESCAPES[character]))
    return f"(?:{'|'.join(forms)})"


def _json_punctuation(text: str) -> str:
    pieces = _CHINESE_QUOTED.split(text)
    between = [piece.translate(_CHINESE_PUNCTUATION) for piece in pieces[::2]]
    quoted_names = [json.dumps(piece, ensure_ascii=False) for piece in pieces[1::2]]
    return "".join(part for pair in zip(between, [*quoted_names, ""], strict=True) for part in pair)


def excerpt(text: str) -> str:
    """Return the beginning of a text, on one line."""
    line = " ".join(text.split())
    return line if len(line) <= EXCERPT_CHARACTERS else f"{line[:EXCERPT_CHARACTERS]}…"


SHARED_SHARE = 1 / 3
"""At least this share of the answer's words stands in what was shown."""


def whole_sentences(text: str, *, field: str, max_tokens: int) -> str:
    """Return the model's text on one line, or reject it."""
    line = " ".join(text.split())
    if not line:
        raise UnusableAnswerError("empty", f"{field} is empty")
    if estimate_tokens(line) > max_tokens:
        raise UnusableAnswerError("schema", f"{field} is longer than {max_tokens} tokens")
    if line[-1] not in SENTENCE_ENDS:
        raise UnusableAnswerError("schema", f"{field} does not end with a whole sentence: {line[-20:]!r}")
    return line


def require_grounded(text: str, *, source: str, names: Sequence[str]) -> None:
    """Reject a text with names or facts that the prompt lacks."""
    for name in sorted({match.name for match in NameFinder(names).find(text)}):
        if not NameFinder([name]).find(source):
            raise UnusableAnswerError("ungrounded", f"{name!r} is not named in what was to be summed up")
    words = significant_words(text)
    if len(words & significant_words(source)) < SHARED_SHARE * len(words):
        raise UnusableAnswerError("ungrounded", "the answer does not tell what was to be summed up")
