"""A Chinese story is Chinese wherever its author looks on the command line."""

import json
import re
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner

from runtime.doors.cli.main import manifest, novelgen

COMMANDS = {
    "stores": """
projects
doctor --no-network
doctor demo-zh --no-network --repair
trust demo-zh --yes
trust demo-zh --remove
index demo-zh
reindex demo-zh
ingest demo-zh
""",
    "cards": """
entity candidates demo-zh --min-count 1
card list demo-zh
card show demo-zh 青荇
entity timeline demo-zh 2
entity memories demo-zh 青荇
card edit demo-zh 青荇 role=锁匠 alias=小骆 --state status=受伤
entity split demo-zh 燕三 --name 林伯衡 --alias 林伯衡
entity merge demo-zh 燕三 林伯衡 --yes
entity changes demo-zh
undo demo-zh
undo demo-zh
undo demo-zh 99
entity confirm demo-zh 无此人
entity confirm demo-zh 盐巡 --kind faction
entity drop demo-zh 无此人
card add demo-zh 骆长贵 --role 伙计 --from 2:1
card list demo-zh
card show demo-zh 贺松年
card edit demo-zh 贺松年 description=总办
card delete demo-zh 骆长贵
card delete demo-zh 骆长贵 --yes
card add demo-zh 关帝庙 --kind location
card list demo-zh
card show demo-zh 关帝庙
card edit demo-zh 关帝庙 description=旧庙
card delete demo-zh 关帝庙 --yes
card delete demo-zh 无此人 --yes
""",
    "ties": """
knows demo-zh 阿雀
knows demo-zh 阿雀 --about 钥匙
relationship add demo-zh 阿雀 贺松年 --type 仇人
relationship list demo-zh
relationship show demo-zh 青荇 阿雀
relationship together demo-zh 青荇 阿雀
relationship edit demo-zh 阿雀 贺松年 --status hostile --intensity 8 --dimension trust=10
relationship show demo-zh 阿雀 贺松年
relationship delete demo-zh 阿雀 贺松年 --yes
relationship show demo-zh 阿雀 关羽
""",
    "kinds": """
card add demo-zh 铜镜 --kind item
card list demo-zh --kind item
card show demo-zh 铜镜
card edit demo-zh 铜镜 description=旧铜镜 外观=起了绿锈
card rename demo-zh 铜镜 青铜镜
card rename demo-zh 铜镜 青铜镜 --apply
card rename demo-zh 无此人 某人
card delete demo-zh 铜镜
card delete demo-zh 铜镜 --yes
undo demo-zh
""",
    "threads": """
thread add demo-zh 谁烧了盐仓 --category mystery --importance high --character 青荇
thread list demo-zh
thread show demo-zh OL0
thread advance demo-zh OL0 青荇又许了一次
thread edit demo-zh OL0 --importance critical
thread resolve demo-zh OL0 谷嫂听见了钟
thread reopen demo-zh OL0
thread abandon demo-zh OL0 不再提起
thread delete demo-zh OL0 --yes
thread show demo-zh OL99
threads demo-zh
threads demo-zh --board
threads demo-zh --report
timeline demo-zh
timeline demo-zh --lived
""",
    "memories": """
note demo-zh 关帝庙的门朝北开
note demo-zh 阿雀怕水 --from 2:1 --known-by 青荇
memory show demo-zh note-N0
memory edit demo-zh note-N0 --text 关帝庙的门朝南开
memory edit demo-zh note-N0 --from 2:1
memory attach demo-zh note-N0 阿雀
memory detach demo-zh note-N0 阿雀
memory attach-mentions demo-zh 阿雀
memory end demo-zh note-N0 --from 9:1
memory pin demo-zh note-N0
memory unpin demo-zh note-N0
memory ban demo-zh note-N0
memory unban demo-zh note-N0
memory confirm demo-zh note-N0
memory knowers demo-zh note-N1
memory knowledge demo-zh note-N1 阿雀
memory forget-knowledge demo-zh note-N1 阿雀
memory changes demo-zh
undo demo-zh
memory delete demo-zh note-N0 --yes
memory show demo-zh M999
consolidate demo-zh --limit 3 --dry-run
consolidate demo-zh --limit 3
memory consolidated demo-zh
memory unconsolidate demo-zh --yes
memory list demo-zh --type note
note demo-zh 渡口只在涨潮时开 --key 渡口
glossary import demo-zh --file 没有
glossary import demo-zh
glossary import demo-zh summary.txt --file summary.txt
glossary export demo-zh json
lore list demo-zh
lore export demo-zh
lore export demo-zh
lore import demo-zh broken.json
lore import demo-zh 没有.json
undo demo-zh
""",
    "scenes": """
record show demo-zh 1:1
record edit demo-zh 1:1 --file record.json
record edit demo-zh 1:1 --file broken.json
summary show demo-zh
summary edit demo-zh --chapter 1 --file summary.txt
summary write demo-zh
conflicts list demo-zh
conflicts waive demo-zh X1
conflicts resolve demo-zh X1 --keep first
scene list demo-zh
scene show demo-zh 1:1
scene show demo-zh 99:1
scene insert demo-zh 3:1 --file summary.txt
scene move demo-zh 3:1 4:1
scene set demo-zh 1:1 --cast 青荇
scene set demo-zh 1:1 --location 无此地
scene delete demo-zh 4:1
scene delete demo-zh 4:1 --yes
""",
    "context": """
search demo-zh 铜钥匙
search demo-zh 铜钥匙 --entity 无此人
context demo-zh --chapter 7 --scene 1
context demo-zh --chapter 7 --scene 1 --explain
context demo-zh --chapter 7 --scene 1 --diff
context demo-zh --chapter 7 --with 无此人 --with 无那人 --explain
context demo-zh --chapter 7 --purpose 开门 --with 无此人 --pov 关羽
context demo-zh --stale
context demo-zh --chapter 70
context demo-zh
""",
    "check": """
check demo-zh --chapter 7 --scene 1 --text summary.txt
check demo-zh --stored --chapter 2
check demo-zh --waive K0123456789ab
check demo-zh --unwaive K0123456789ac
chunk-context demo-zh --text summary.txt
summarize summary.txt
since demo-zh --from 3:1
extract demo-zh
extract demo-zh --estimate --again
""",
    "npc": """
npc remember demo-zh 阿雀 青荇给了我一块糖 --with player
npc remember demo-zh 无此人 来过
npc recall demo-zh 阿雀 你还怕水吗 --to player
npc list demo-zh 阿雀
npc feelings demo-zh 阿雀
npc feelings-history demo-zh 阿雀
npc secrets demo-zh 阿雀
npc flags demo-zh --set 桥已断
npc check demo-zh 阿雀 我叫关羽 --said 你叫什么
""",
    "files": """
export demo-zh backup
export demo-zh backup
import backup --project 副本 --dry-run
import backup --project 副本
import 没有.txt --project 副本
import-book 没有 --project 副本
init 新书
ingest 新书
ingest 没有的书
delete 新书
delete 新书 --yes
""",
    "slips": """
scene shw demo-zh
scene show demo-zh x:y
note demo-zh
memory list demo-zh --status 好
search demo-zh 钥匙 --top-k 0
thread add demo-zh 谁 --importance 大
--projects-dir 没有 card list demo-zh
--projects-dir 没有 projects
""",
}
"""What is run one after the other on one copy of the demo, by what it is about."""


NOT_RUN = {"serve", "mcp", "card fields"}
"""The first two do not end; the last lists names of fields as they are typed."""

SEEN_AS_TYPED = re.compile(
    r"`[^`]*`|\bnovelgen [^，；：。、（）]*"  # commands
    r"|--[a-z-]+(?: [A-Z]+)?|\bC:S\b|“(?:memory|chapters|active|banned|deleted|low|medium|high|critical)”"
    r"|“(?:shw|show|TEXT)”|\b(?:PROJECT|NAME|FIELD|VALUE|PLAN|FILE|PATH|DIR|NOVELGEN_\w+|memory(?:\.\w+)+)\b"
    r"|[\w./-]*/[\w./-]*|[\w*]*\.(?:jsonl?|txt|md|epub|docx|zip|yaml|toml|db)\b"  # files
    r"|\b\d+:\d+:[\w:]+|\b[A-Za-z]+[-:]?[A-Za-z]*[0-9][\w.-]*|\b[0-9a-f]{8,}|\b[0-9a-f]+[,、]"  # ids
    r"|\bdemo-zh\b|\bdoor[_ ]number\b"  # the demo's own
    r"|^\s*[\]\[{}\"].*|<[^>]*>|\[Met=.*"  # a record is JSON; the head of a prompt
)

KEPT_ENGLISH = set(
    "JSON UTF SQLite PostgreSQL WAL ScenePlan UTC chromadb langchain core chroma pydantic sqlalchemy python sqlite"
    " novelgen openai fake local on zh book true True player database_url projects_dir search_fallback model create"
    " SillyTavern NovelAI entries character_book"
    " chapter_index state_budget least_score plain xianxia mystery romance".split()
)
"""Names of packages, settings, templates of cards, fields of files and arguments, which are typed as they stand."""

_WORD = re.compile(r"[A-Za-z_]{2,}")
_ENGLISH_MARK = re.compile(r"(?<=[\u4e00-\u9fff”）])[,;] |[,;] (?=[\u4e00-\u9fff“（])|\((?=[\u4e00-\u9fff])")
"""Chinese words that are joined or put in brackets by hand."""


def english_in(text: str) -> list[str]:
    """Return the lines of a text that hold English words, or English marks beside Chinese words."""
    told = ((line.strip(), set(_WORD.findall(SEEN_AS_TYPED.sub(" ", line)))) for line in text.splitlines())
    return [line for line, found in told if found - KEPT_ENGLISH or _ENGLISH_MARK.search(line)]


@pytest.mark.slow
@pytest.mark.parametrize("about", COMMANDS)
def test_every_command_of_a_chinese_project_is_chinese(
    about: str, demo_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Results, errors, warnings, progress and questions of all commands hold no English but names, ids and commands."""
    for name in ("LC_ALL", "LC_MESSAGES", "LANG"):
        monkeypatch.setenv(name, "zh_CN.UTF-8")
    monkeypatch.setenv("NOVELGEN_MEMORY__EMBEDDING_MODEL", "fake:64")
    monkeypatch.setenv("NOVELGEN_PROJECTS_DIR", str(demo_folder))
    shutil.rmtree(demo_folder / "demo")
    monkeypatch.chdir(tmp_path)
    record = {"chapter_index": 1, "scene_index": 1, "summary": ["青荇找到钥匙。"]}
    Path("record.json").write_text(json.dumps(record), encoding="utf-8")
    Path("broken.json").write_text('{"chapter_index": "一"}', encoding="utf-8")
    Path("summary.txt").write_text("青荇开了门。骆守成站在门外。", encoding="utf-8")
    english: dict[str, list[str]] = {}
    for line in COMMANDS[about].strip().splitlines():
        result = CliRunner().invoke(novelgen, line.split())
        assert result.exit_code in (0, 1, 2), line
        if found := english_in(result.stdout) + english_in(result.stderr):
            english[line] = found
    assert not english, "\n".join(f"{line}\n    " + "\n    ".join(found) for line, found in english.items())


def test_every_command_is_among_those_that_are_run() -> None:
    """A new command is run in Chinese, too."""
    commands = manifest()["commands"]
    run = [line for lines in COMMANDS.values() for line in lines.splitlines()]
    assert not [each for each in commands if each not in NOT_RUN and not any(line.startswith(each) for line in run)]
