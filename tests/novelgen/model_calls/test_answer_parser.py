"""The parser of answers, in a chain as LangChain builds them, and what is asked again."""

import json
from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.output_parsers import PydanticOutputParser
from langchain_openai import ChatOpenAI
from pydantic import BaseModel, SecretStr

from novelgen.model_calls.answer_parser import AnswerParser
from novelgen.model_calls.answers import UnusableAnswerError
from novelgen.model_calls.json_model import Question
from tests.support.openai_stub import StubCall, completion, openai_stub
from tests.support.scripted_chat_model import answering, finished


class Pet(BaseModel):
    """What is asked for."""

    name: str


PARSER = AnswerParser(pydantic_object=Pet, keys=("name",))


def test_it_is_langchains_parser_in_a_chain() -> None:
    """`model | parser` reads prose around the object; format instructions come from the same object."""
    assert isinstance(PARSER, PydanticOutputParser)
    assert (answering('Here: {"name": "Ada"} as asked') | PARSER).invoke("Which?") == Pet(name="Ada")
    assert PARSER.parse('{"name": "she is "Ada""}') == Pet(name='she is "Ada"')
    assert PARSER.get_format_instructions() == PydanticOutputParser(pydantic_object=Pet).get_format_instructions()


@pytest.mark.parametrize(
    ("answer", "fault", "message"),
    [
        (finished('{"name": "Ada"'), "cut", "ends within"),
        (finished('{"name": "Ada"}', "length"), "cut", "token limit"),
        (finished(""), "empty", "the answer was empty (finish_reason stop, 0 tokens of reasoning)"),
        (finished("<think>Ada?</think>\n"), "empty", "the answer was empty"),
        (finished('<|channel|>analysis<|message|>{"name": "Ada"}'), "empty", "the answer was empty"),
        (AIMessage("", additional_kwargs={"refusal": "I won't."}), "withheld", '''withheld the answer: "I won't."'''),
        (finished('{"name": "A', "content_filter"), "withheld", "'content_filter'"),
        (finished('{"properties": {"name": {}}, "name": "x"}'), "echo", "repeats the JSON schema"),
        (finished('{"name": 3}'), "schema", "name: Input should be a valid string"),
    ],
)
def test_what_is_no_answer_is_refused(answer: AIMessage, fault: str, message: str) -> None:
    """A cut answer is not completed, reasoning is not taken for one, and each fault is named."""
    with pytest.raises(UnusableAnswerError) as caught:
        (answering(answer) | PARSER).invoke("Which?")
    assert caught.value.fault == fault
    assert message in str(caught.value)


def test_reasoning_beside_an_answer_is_not_read() -> None:
    """Neither blocks of thinking nor `reasoning_content` is part of the text."""
    thinking: list[Any] = [
        {"type": "thinking", "thinking": '{"name": "Bob"}'},
        {"type": "text", "text": '{"name": "Ada"}'},
    ]
    assert (answering(AIMessage(thinking)) | PARSER).invoke("Which?") == Pet(name="Ada")
    beside = AIMessage("", additional_kwargs={"reasoning_content": '{"name": "Bob"}'})
    with pytest.raises(UnusableAnswerError, match="was empty"):
        (answering(beside) | PARSER).invoke("Which?")


def empty(call: StubCall, *, finish_reason: str = "stop") -> None:
    """Answer nothing but 40 tokens of reasoning."""
    answer = completion("", finish_reason=finish_reason)
    details = {"reasoning_tokens": 40}
    usage = {"prompt_tokens": 1, "completion_tokens": 40, "total_tokens": 41, "completion_tokens_details": details}
    call.send(json.dumps({**answer, "usage": usage}))


def asked(respond: Any, *, times: int = 1) -> tuple[list[Any], list[Any]]:
    """Ask a server for a pet some times; what came of it, and the response formats that it was asked in."""
    with openai_stub(respond) as stub:
        model = ChatOpenAI(model="tiny", base_url=stub.base_url, api_key=SecretStr("k"), max_retries=0)
        question = Question(
            model, Pet, prompt="summarise_scene", repair="repair_scene_summary", stage="asking", keys=("name",)
        )
        results: list[Any] = []
        for _ in range(times):
            try:
                results.append(question.ask(question.begin(30), "en", [HumanMessage("Which?")], accept=lambda pet: pet))
            except UnusableAnswerError as error:
                results.append(str(error))
        return results, [call.get("response_format", {}).get("type") for call in stub.calls]


def test_an_empty_answer_is_asked_once_without_a_format() -> None:
    """And the next question of the run begins there."""

    def respond(call: StubCall) -> None:
        if "response_format" in call.payload:
            empty(call)
        else:
            call.say('{"name": "Ada"}')

    pets, formats = asked(respond, times=2)
    assert pets == [Pet(name="Ada")] * 2
    assert formats == ["json_schema", None, None]


def test_an_answer_that_stays_empty_is_told_as_empty() -> None:
    """With why it ended and what its reasoning took; the same is not asked a third time."""
    told, formats = asked(empty)
    assert told == ["the answer was empty (finish_reason stop, 40 tokens of reasoning)"]
    assert formats == ["json_schema", None]


def test_reasoning_that_took_all_tokens_is_told() -> None:
    """No format is at fault there."""
    (message,), _ = asked(lambda call: empty(call, finish_reason="length"))
    assert "finish_reason length, 40 tokens of reasoning" in message
    assert "raise max_tokens" in message
