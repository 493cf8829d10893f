"""Tables of the pages that the source holds: `python -m tests.docs.write_tables`."""

import json
from collections.abc import Iterable, Iterator, Sequence

import click
from pydantic import BaseModel

from novelgen.characters.memory import CharacterMemorySettings
from novelgen.deadlines import SHARES
from novelgen.memory.weights import SelectionWeights
from novelgen.settings import ContextSettings
from novelgen.words import words
from runtime.doors.cli.chinese_help import in_chinese
from runtime.doors.cli.main import novelgen
from runtime.settings import NovelgenSettings
from tests.docs.pages import ROOT, text_of
from tests.support.ladder import ladder

CONFIGURATION = "docs/reference/configuration.md"
CHINESE_CONFIGURATION = "docs/reference/configuration.zh.md"
CHINESE_COMMAND_LINE = "docs/reference/command-line.zh.md"
CHARACTERS = "docs/how-to/characters.md"
CHINESE_CHARACTERS = "docs/how-to/characters.zh.md"
ARCHITECTURE = "docs/explanation/architecture.md"


def weight_rows() -> list[str]:
    """Return a row per weight of the selection."""
    return [
        _row([f"`{name}`", _bare(field.default), field.description or ""])
        for name, field in SelectionWeights.model_fields.items()
    ]


def character_setting_rows() -> list[str]:
    """Return a row per setting of a character's memory."""
    return [
        _row([f"`{name}`", f"`{json.dumps(field.default)}`", field.description or ""])
        for name, field in CharacterMemorySettings.model_fields.items()
    ]


def chinese_character_setting_rows() -> list[str]:
    """Return the same rows with the descriptions that a Chinese config.yaml has."""
    descriptions = words("settings", "zh", "memory.character_memory")
    return [
        _row([f"`{name}`", f"`{json.dumps(field.default)}`", descriptions[name]])
        for name, field in CharacterMemorySettings.model_fields.items()
    ]


CHINESE_OF_ENVIRONMENT = {
    "projects_dir": "存放各项目的文件夹，也可写 `--projects-dir`。",
    "model_base_url": "您自己的服务器，与 OpenAI 的接口相同；默认为服务商的。",
    "model_api_key": "模型的密钥，默认取服务商自己的变量；从不记录或显示。",
    "model_timeout_s": "规划的总时限（秒），不论服务器如何。",
    "model_max_tokens": "模型回答最长多少词元。",
    "chroma_token": "Chroma 服务器的令牌，随 `Authorization: Bearer …` 发送；从不显示。",
    "chroma_headers": "发给 Chroma 服务器的标头，在环境变量里写作 JSON；从不显示。",
    "server_token": "进入 `novelgen serve` 的令牌，别的机器能连到时必须有；从不显示。",
    "server_read_token": "只供读取的令牌；从不显示。",
    "server_at_once": "同时处理几个存入、查找或编写的请求，1 至 16；另有同样多的等候。",
    "memory.max_states": "上下文里最多几个实体的状态。",
    "memory.embedding_base_url": "嵌入模型的服务器，与 OpenAI 的接口相同；默认为服务商的。",
    "memory.embedding_api_key": "嵌入模型的密钥，默认取服务商自己的变量；从不记录或显示。",
    "memory.summarization.max_bullets": "提取的摘要最多几条。",
}
"""Settings of which the template of `config.yaml` says nothing."""


def chinese_setting_rows() -> list[str]:
    """Return a row per setting with what a Chinese config.yaml says of it."""
    return [
        _row(
            [
                "" if name == "projects_dir" else f"`{name}`",
                f"`NOVELGEN_{name.upper().replace('.', '__')}`",
                "无" if default is None or default == {} else f"`{json.dumps(default, default=str)}`",
                CHINESE_OF_ENVIRONMENT.get(name) or str(words("settings", "zh")[name]).replace("|", "\\|"),
            ]
        )
        for name, default in _defaults(NovelgenSettings)
        if not name.startswith(("memory.weights.", "memory.character_memory."))
    ]


def _defaults(model: type[BaseModel], prefix: str = "") -> Iterator[tuple[str, object]]:
    for name, field in model.model_fields.items():
        if isinstance(field.default, BaseModel):
            yield from _defaults(type(field.default), f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", field.default


def chinese_weight_rows() -> list[str]:
    """Return a row per weight of the selection in Chinese."""
    descriptions = words("settings", "zh", "memory.weights")
    return [
        _row([f"`{name}`", _bare(field.default), descriptions[name]])
        for name, field in SelectionWeights.model_fields.items()
    ]


def chinese_command_rows() -> list[str]:
    """Return a row per command with the beginning of its Chinese help."""
    return list(_command_rows(novelgen, "novelgen"))


def _command_rows(group: click.Group, path: str) -> Iterator[str]:
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if isinstance(command, click.Group):
            yield from _command_rows(command, f"{path} {name}")
        elif command is not None and not command.hidden:
            usage = " ".join(command.collect_usage_pieces(click.Context(command))).removeprefix("[OPTIONS]")
            beginning = " ".join((command.help or "").partition("\n\n")[0].split())
            yield _row([f"`{path} {name}{usage}`", in_chinese(beginning).replace("|", "\\|")])


def stage_rows() -> list[str]:
    """Return a row per stage of a context and of a check, with its seconds by the default settings."""
    settings = ContextSettings()
    seconds = ladder(chain_timeout_s=settings.chain_timeout_s, tool_timeout_s=settings.tool_timeout_s)
    return [
        _row([f"`{name}`", f"`{share.of}`", f"{share.part:g}", f"{seconds[name]:.1f}", share.reason])
        for name, share in SHARES.items()
    ]


TABLES = {
    (CONFIGURATION, "| weight | default | what it does |"): weight_rows,
    (CHINESE_CONFIGURATION, "| `config.yaml` | 环境变量 | 默认 | 含义 |"): chinese_setting_rows,
    (CHINESE_CONFIGURATION, "| 权重 | 默认 | 作用 |"): chinese_weight_rows,
    (CHINESE_COMMAND_LINE, "| 命令 | 作用 |"): chinese_command_rows,
    (CHARACTERS, "| setting | default | meaning |"): character_setting_rows,
    (CHINESE_CHARACTERS, "| 设置 | 默认 | 含义 |"): chinese_character_setting_rows,
    (ARCHITECTURE, "| stage | of | share | seconds | why |"): stage_rows,
}
"""The rows below each heading row of a page."""


def rows_of(page: str, heading: str) -> list[str]:
    """Return the rows of the table of a page with this heading row."""
    lines = text_of(page).partition(f"{heading}\n")[2].splitlines()[1:]
    end = next((number for number, line in enumerate(lines) if not line.startswith("|")), len(lines))
    return lines[:end]


def _bare(value: object) -> str:
    return ", ".join(sorted(value)) if isinstance(value, frozenset) else str(value)


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _with_rows(text: str, heading: str, old: Sequence[str], new: Sequence[str]) -> str:
    ruler = text.partition(f"{heading}\n")[2].partition("\n")[0]
    return text.replace("\n".join([heading, ruler, *old]), "\n".join([heading, ruler, *new]))


def main() -> None:
    """Write the rows of every table."""
    for (page, heading), rows in TABLES.items():
        text = _with_rows(text_of(page), heading, rows_of(page, heading), rows())
        (ROOT / page).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
