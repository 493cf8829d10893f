"""The parser of a model's answer: LangChain's for Pydantic models, with a reader that completes no cut answer."""

from __future__ import annotations

from functools import cache
from typing import Any, TypeVar

from langchain_core.messages import BaseMessage
from langchain_core.output_parsers import PydanticOutputParser
from langchain_core.outputs import ChatGeneration, Generation
from pydantic import BaseModel, Field, ValidationError

from novelgen.language.normalise import scrub_text
from novelgen.model_calls import model_answer
from novelgen.model_calls.answers import UnusableAnswerError, distinct_items, parse_json_object, spoken_text

Answer = TypeVar("Answer", bound=BaseModel)
_SCHEMA_KEYS = frozenset({"properties", "$defs", "$schema"})


class AnswerParser(PydanticOutputParser[Answer]):
    """Reads the JSON object of an answer into its model: `model | parser`.

    LangChain's own parser closes the brackets of a cut answer and refuses an object with prose around it. This one
    refuses what is cut, empty or withheld, and finds the object in whatever surrounds it.

    Args:
        pydantic_object: The model of the answer.
        keys: Keys of the object that is meant, where an answer holds several.
        cuts: Gets the lists of an answer that are longer than their bounds.
        misfits: Gets the items of lists that do not fit the schema and are dropped; None refuses such an answer.
    """

    keys: tuple[str, ...] = ()
    cuts: list[str] = Field(default_factory=list)
    misfits: list[str] | None = None

    def parse_result(self, result: list[Generation], *, partial: bool = False) -> Answer:
        """Parse an answer.

        With `partial` nothing is parsed, since half an object is unreliable.

        Raises:
            UnusableAnswerError: When the answer is empty, cut, withheld, not readable, or of another shape.
        """
        generation = result[0]
        message = generation.message if isinstance(generation, ChatGeneration) else None
        if message is not None:
            require_whole(message)
        return self.read_text(scrub_text(generation.text if message is None else message.text))

    def read_text(self, text: str) -> Answer:
        """Read the text of a whole answer."""
        fields = parse_json_object(text, keys=self.keys)
        if _SCHEMA_KEYS & fields.keys():
            raise UnusableAnswerError("echo", "the answer repeats the JSON schema instead of filling it")
        return self._parse_obj(fields)

    def _parse_obj(self, obj: Any) -> Answer:
        try:
            return self.pydantic_object.model_validate(obj, context={"cuts": self.cuts})
        except ValidationError as error:
            remainder, messages = without_misfits(obj, error)
            # What was asked for has no fitting item left: then it is the answer's shape that is wrong.
            is_left = all(remainder.get(key) or not obj.get(key) for key in self.keys)
            if self.misfits is not None and messages and is_left:
                self.misfits += messages
                return self._parse_obj(remainder)
            first = error.errors()[0]
            place = ".".join(str(part) for part in first["loc"])
            message = f"the JSON does not fit the schema: {place}: {first['msg']}"
            raise UnusableAnswerError("schema", message) from error

    def get_format_instructions(self) -> str:
        """Return how to write the answer, for the prompt."""
        return _format_instructions(self.pydantic_object)


def without_misfits(fields: dict[str, Any], error: ValidationError) -> tuple[dict[str, Any], list[str]]:
    """Return an answer without the list items that do not fit, and messages on them.

    There are no messages where something else does not fit either.
    """
    wrong: dict[str, set[int]] = {}
    messages = []
    for fault in error.errors(include_url=False):
        match fault["loc"]:
            case (str(name), int(number), *inner) if isinstance(fields.get(name), list):
                wrong.setdefault(name, set()).add(number)
                place = "".join(f".{part}" for part in inner[:1])
                messages.append(f"{name}[{number}]{place}: {fault['msg']}")
            case _:
                return fields, []
    # The numbers are those of the list without blanks and repeats.
    remainder = {
        name: [item for number, item in enumerate(distinct_items(fields[name])) if number not in numbers]
        for name, numbers in wrong.items()
    }
    return {**fields, **remainder}, messages


@cache
def _format_instructions(shape: type[BaseModel]) -> str:
    # A schema is slow to write, and a book's estimate asks for it with every scene.
    return PydanticOutputParser(pydantic_object=shape).get_format_instructions()


def require_whole(message: BaseMessage) -> None:
    """Refuse an answer that says nothing, that stopped at its limit, or that the provider withheld."""
    is_silent = not spoken_text(message.text).strip()
    state = model_answer.state_of(message)
    if model_answer.is_cut(message):
        if is_silent:
            raise UnusableAnswerError(
                "cut", f"the answer was empty ({state}): its tokens were used up before it began; raise max_tokens"
            )
        raise UnusableAnswerError("cut", "the answer was cut at its token limit; make it much shorter")
    withheld = model_answer.withheld_reason(message)
    if withheld is not None:
        raise UnusableAnswerError("withheld", f"the model or its provider withheld the answer: {withheld!r}")
    if is_silent:
        raise UnusableAnswerError("empty", f"the answer was empty ({state})")
