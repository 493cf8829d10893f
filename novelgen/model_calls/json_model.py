"""A chat model that is asked for one JSON object of a known shape, within a deadline, with one repair."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from typing import Any, Generic, TypeVar

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.runnables import RunnableLambda
from pydantic import BaseModel

from novelgen.deadlines import Deadline, call_with_deadline
from novelgen.errors import DeadlineExceededError, ModelError, ModelRefusedError, ModelUnavailableError
from novelgen.language.language import StoryLanguage, estimate_tokens
from novelgen.model_calls import model_answer
from novelgen.model_calls.answer_parser import AnswerParser
from novelgen.model_calls.answers import UnusableAnswerError
from novelgen.model_calls.prompting import (
    PROMPT_PARTS,
    load_chat_prompt,
    read_prompt_example,
    read_prompt_file,
    read_prompt_part,
)
from novelgen.model_calls.usage import ModelUsage, usage_of
from novelgen.models.context import IssueKind, ReportIssue

ResponseFormat = dict[str, Any]
"""What the client is called with, beside the prompt; empty is the prompt alone."""

STATUS_CODES_OF_A_REFUSED_FORMAT = frozenset({400, 404, 415, 422, 500, 501})
"""Answers of servers that may mean that they do not know a response format; llama-cpp-python says 500."""


def response_formats(model: BaseChatModel, schema: type[BaseModel]) -> list[ResponseFormat]:
    """Return the JSON response formats, the strictest first and the prompt last."""
    fields = type(model).model_fields.keys()
    if "openai_api_base" in fields:
        json_schema = {"name": schema.__name__, "schema": strict_schema(schema), "strict": True}
        strict = {"type": "json_schema", "json_schema": json_schema}
        return [{"response_format": strict}, {"response_format": {"type": "json_object"}}, {}]
    if fields >= _FIELDS_OF_OLLAMA:
        return [{"format": strict_schema(schema)}, {"format": "json"}, {}]
    return [{}]


def strict_schema(schema: type[BaseModel]) -> dict[str, Any]:
    """Return the JSON schema of a model in the strict form that OpenAI documents."""
    return _strict(schema.model_json_schema())


def _strict(node: Any) -> Any:
    if isinstance(node, list):
        return [_strict(item) for item in node]
    if not isinstance(node, dict):
        return node
    strict = {key: _strict(value) for key, value in node.items() if key not in ("default", "title")}
    if "properties" in strict:
        strict |= {"required": list(strict["properties"]), "additionalProperties": False}
    return strict


logger = logging.getLogger(__name__)
_FIELDS_OF_OLLAMA = frozenset({"format", "num_predict", "num_ctx"})
MAX_REPAIRED_CHARACTERS = 2000
SHARE_OF_TIME_TO_WAIT = 0.25
"""Of what is left of the time, as long as a provider that asks for a pause is waited for, once."""
Answer = TypeVar("Answer", bound=BaseModel)
Accepted = TypeVar("Accepted")


class Question(Generic[Answer]):
    """One question to a chat model: prompt, repair prompt and answer schema."""

    def __init__(
        self,
        model: BaseChatModel,
        shape: type[Answer],
        *,
        prompt: str,
        repair: str,
        stage: str,
        keys: Collection[str],
        repair_values: Mapping[str, str] | None = None,
    ) -> None:
        self._model = model
        self.parser: AnswerParser[Answer] = AnswerParser(pydantic_object=shape, keys=tuple(keys))
        self._formats = response_formats(model, shape)
        self._prompt = prompt
        self._repair = repair
        self._stage = stage
        self._repair_values = dict(repair_values or {})

    def messages(self, language: StoryLanguage, values: Mapping[str, str]) -> list[BaseMessage]:
        """Return the prompt, with the constant part first for provider caches."""
        texts = {**values, "format_instructions": self.parser.get_format_instructions()}
        template = read_prompt_file(f"{self._prompt}.{language}.txt")
        if "{example}" in template:
            texts["example"] = read_prompt_example(self._prompt, language)
        texts |= {name: read_prompt_part(name, language) for name in PROMPT_PARTS if f"{{{name}}}" in template}
        return load_chat_prompt(self._prompt, language, variables=texts).format_messages(**texts)

    def prompt_tokens(self, language: StoryLanguage, values: Mapping[str, str]) -> int:
        """Estimate the tokens of the prompt."""
        return sum(estimate_tokens(message.text) for message in self.messages(language, values))

    def begin(self, timeout_s: float) -> JsonConversation[Answer]:
        """Begin a run of askings that share the time."""
        return JsonConversation(self, deadline=Deadline.after(timeout_s), stage=self._stage)

    def ask(
        self,
        conversation: JsonConversation[Answer],
        language: StoryLanguage,
        values: Mapping[str, str] | Sequence[BaseMessage],
        *,
        accept: Callable[[Answer], Accepted],
    ) -> Accepted:
        """Ask within a run, and once more after an unusable answer."""
        messages = self.messages(language, values) if isinstance(values, Mapping) else list(values)
        try:
            return accept(conversation.say(messages))
        except UnusableAnswerError as error:
            if error.fault == "withheld" or (error.fault == "empty" and conversation.is_asked_plainly):
                raise
            logger.info("%s: the model is asked once more: %s", self._stage, error)
            texts = {**self._repair_values, "problem": str(error)}
            repair = load_chat_prompt(self._repair, language, variables=texts).format_messages(**texts)
            message = AIMessage(str(conversation.said[-1].content)[:MAX_REPAIRED_CHARACTERS])
        return accept(conversation.say([*messages, message, *repair], is_last=True))

    def answer(
        self,
        language: StoryLanguage,
        values: Mapping[str, str],
        *,
        accept: Callable[[Answer], Accepted],
        timeout_s: float,
        failure: str,
    ) -> tuple[Accepted | None, dict[str, Any]]:
        """Ask alone, and return the accepted answer or None with `ModelWork` fields."""
        conversation = self.begin(timeout_s)
        try:
            accepted = self.ask(conversation, language, values, accept=accept)
            return accepted, {**conversation.work(), "issues": conversation.issues()}
        except (ModelError, DeadlineExceededError) as error:
            issue = ReportIssue(stage=self._stage, kind=issue_kind_of(error), message=f"{failure}: {error}")
            logger.warning("%s", issue.message)
            return None, {**conversation.work(), "issues": [issue]}

    def call(
        self, messages: list[BaseMessage], *, conversation: JsonConversation[Answer], is_last: bool = False
    ) -> Answer:
        """Call the model in the strictest response format that its server takes, and remember that one.

        A server that refuses a format, or answers nothing under it, is asked without it. Of the last answer, items
        that do not fit the schema are dropped and the others are read.
        """
        lists = {"cuts": conversation.cuts, "misfits": conversation.misfits if is_last else None}
        parser = self.parser.model_copy(update=lists)
        formats = self._formats
        has_waited = False
        while True:
            conversation.requests += 1
            response_format, *looser = formats
            model = self._model.bind(**response_format) if response_format else self._model
            hear = partial(conversation.hear, messages)
            asking = (model | RunnableLambda(hear, name="hear_answer") | parser).with_config(run_name="ask_model")
            try:
                answer: Answer = call_with_deadline(
                    partial(asking.invoke, messages), timeout_s=conversation.deadline.remaining_s, stage=self._stage
                )
            except UnusableAnswerError as error:
                self._formats = formats
                if error.fault != "empty" or not response_format:
                    raise
                logger.info("asked without a response format, under which nothing came: %s", error)
                conversation.is_asked_plainly = True
                formats = [{}]
            except DeadlineExceededError:
                raise
            except Exception as error:
                # A provider's package may fail in any way.
                cut_answer = model_answer.cut_answer_in(error)
                if cut_answer is not None:
                    self._formats = formats
                    return parser.invoke(conversation.hear(messages, cut_answer))
                failure = model_failure(error, self._model)
                if not has_waited and failure.retry_after_s is not None:
                    has_waited = failure.retry_after_s <= conversation.deadline.remaining_s * SHARE_OF_TIME_TO_WAIT
                    if has_waited:
                        logger.info("asked again after %g s: %s", failure.retry_after_s, failure)
                        time.sleep(failure.retry_after_s)
                        continue
                if not looser or not is_another_format_worth_it(error):
                    if failure is error:
                        raise
                    raise failure from model_answer.safe_cause(error, secrets=model_answer.secrets_of(self._model))
                logger.info("response format refused: %s", failure)
                formats = looser
            else:
                self._formats = formats
                return answer


def is_another_format_worth_it(error: Exception) -> bool:
    """Whether a failure may come from the response format alone."""
    return (
        model_answer.status_of(error) in STATUS_CODES_OF_A_REFUSED_FORMAT
        and model_answer.refusal_of(error) != model_answer.NOTHING_LEFT
        and not model_answer.is_context_too_long(error)
    )


def model_failure(error: Exception, model: BaseChatModel) -> ModelUnavailableError:
    """Return the error of a call that failed: in the provider's words, with the fix and the time to wait."""
    own = model_answer.own_error_in(error)
    if own is not None:
        # Who raised it, a stand-in of a model or the client, said what is to be done.
        return own
    quote = model_answer.described(error, secrets=model_answer.secrets_of(model))
    fix = model_answer.refusal_of(error)
    if fix is not None:
        message = f"the model refuses, and would every other request: {quote}; {fix}"
        return ModelRefusedError(message, is_nobody_there=model_answer.is_nobody_there(error))
    wait_s = model_answer.retry_after_s(error)
    if model_answer.is_context_too_long(error):
        fix = model_answer.CONTEXT_TOO_LONG
    elif wait_s is not None:
        fix = f"it asks to wait {wait_s:g} s"
    else:
        fix = model_answer.CHECK_THE_SERVER
    return ModelUnavailableError(f"the model gave no answer: {quote}; {fix}", retry_after_s=wait_s)


class JsonConversation(Generic[Answer]):
    """Calls with one deadline.

    `requests` counts them, and `usage` sums the provider's counts.
    """

    def __init__(self, question: Question[Answer], *, deadline: Deadline, stage: str) -> None:
        self._question = question
        self.deadline = deadline
        self._stage = stage
        self._started_s = time.monotonic()
        self.requests = 0
        self.usage = ModelUsage()
        self.said: list[BaseMessage] = []
        self.cuts: list[str] = []
        self.misfits: list[str] = []
        self.is_asked_plainly = False
        """Whether nothing came under a response format, so that the same was asked without it."""

    def say(self, messages: list[BaseMessage], *, is_last: bool = False) -> Answer:
        """Send a prompt and read the answer.

        `said` is the conversation so far.
        """
        return self._question.call(messages, conversation=self, is_last=is_last)

    def hear(self, messages: list[BaseMessage], answer: AIMessage) -> AIMessage:
        """Count an answer's usage, and pass it to the parser."""
        self.usage = self.usage.plus(usage_of(answer))
        self.said = [*messages, AIMessage(str(answer.text) or "-")]
        return answer

    def issues(self, stage: str = "") -> list[ReportIssue]:
        """Say which lists of the answers were longer than their bounds, and what of them did not fit."""
        issues: list[ReportIssue] = []
        if self.misfits:
            message = f"items of the answer that do not fit the schema were dropped: {'; '.join(self.misfits[:8])}"
            issues.append(ReportIssue(stage=stage or self._stage, kind="malformed", message=message))
        if self.cuts:
            message = f"the answer's lists were cut at their bounds: {', '.join(dict.fromkeys(self.cuts))}"
            issues.append(ReportIssue(stage=stage or self._stage, kind="over_limit", message=message))
        return issues

    def work(self) -> dict[str, Any]:
        """Return the usage of all calls as `ModelWork` fields."""
        elapsed_s = time.monotonic() - self._started_s
        return {"model_calls": self.requests, "usage": self.usage, "elapsed_s": elapsed_s}


def issue_kind_of(error: ModelError | DeadlineExceededError) -> IssueKind:
    """Tell how a failed call is reported."""
    if isinstance(error, DeadlineExceededError):
        return "timeout"
    if isinstance(error, ModelUnavailableError):
        return "unavailable"
    if isinstance(error, UnusableAnswerError) and error.fault == "cut":
        return "over_limit"
    return "malformed"


def failure_fields(error: ModelError | DeadlineExceededError, *, stage: str, message: str = "") -> dict[str, Any]:
    """Return the fields of a result that an error ended: why, and whether every other scene would meet it, too."""
    message = message or str(error)
    return {
        "status": "failed",
        "reason": message,
        "is_refused": isinstance(error, ModelRefusedError),
        "is_nobody_there": isinstance(error, ModelRefusedError) and error.is_nobody_there,
        "issues": [ReportIssue(stage=stage, kind=issue_kind_of(error), message=message)],
    }
