"""Prompt files as constant templates.

A prompt file holds the messages of a prompt, each under a line `[system]` or `[human]`; `{name}` stands for
a variable. Only the file is a template: values are put in as they are, whatever braces or markers they hold.
"""

import re
from collections.abc import Collection
from functools import cache
from importlib import resources
from pathlib import Path

from langchain_core.prompts import ChatPromptTemplate

from novelgen.errors import ConfigurationError
from novelgen.language.language import StoryLanguage

PACKAGED_PROMPTS = "_prompts"
CHECKOUT_PROMPTS = Path(__file__).resolve().parents[2] / "prompts"
_FILE_NAME = re.compile(r"[a-z][a-z0-9_]*(?:\.[a-z]{2})?\.(?:txt|json)")
_ROLE_LINE = re.compile(r"^\[(system|human)\]\s*$", re.MULTILINE)


@cache
def read_prompt_file(file_name: str) -> str:
    """Read a prompt file from the package or the checkout, once per process."""
    if not _FILE_NAME.fullmatch(file_name):
        raise ConfigurationError(f"prompt file {file_name!r} is not a plain name such as 'plan_retrieval.en.txt'")
    for folder in (resources.files("novelgen").joinpath(PACKAGED_PROMPTS), CHECKOUT_PROMPTS):
        file = folder.joinpath(file_name)
        if file.is_file():
            return file.read_text(encoding="utf-8")
    raise ConfigurationError(f"prompt file {file_name!r} is missing; reinstall novelgen")


def load_chat_prompt(name: str, language: StoryLanguage, *, variables: Collection[str]) -> ChatPromptTemplate:
    """Load the chat prompt of that name in that language."""
    file_name = f"{name}.{language}.txt"
    _, *parts = _ROLE_LINE.split(read_prompt_file(file_name))
    if not parts:
        raise ConfigurationError(f"prompt file {file_name!r} has no line '[system]' or '[human]'")
    messages = [(role, text.strip()) for role, text in zip(parts[::2], parts[1::2], strict=True)]
    prompt = ChatPromptTemplate.from_messages(messages, template_format="f-string")
    if set(prompt.input_variables) != set(variables):
        raise ConfigurationError(
            f"prompt file {file_name!r} declares the variables {sorted(prompt.input_variables)}, "
            f"not {sorted(variables)}"
        )
    return prompt


PROMPT_PARTS = ("importance_scale",)
"""Texts that stand in several prompts, each under a variable of its name."""


def read_prompt_part(name: str, language: StoryLanguage) -> str:
    """Read a text that several prompts share."""
    return read_prompt_file(f"{name}.{language}.txt").strip()


def read_prompt_example(name: str, language: StoryLanguage) -> str:
    """Read the worked example that a prompt shows."""
    return read_prompt_file(f"{name}_example.{language}.json").strip()
