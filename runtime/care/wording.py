"""What the doctor found, in Chinese; in English each check says it itself."""

from __future__ import annotations

from typing import NamedTuple

from novelgen.language.language import StoryLanguage
from runtime.care.checks import Diagnosis, Finding


class Wording(NamedTuple):
    """How a kind of finding is told; what stands in braces is filled with its values."""

    what: str
    message: str
    fix: str = ""


_SQLITE, _EMBEDDING, _MODEL, _DATABASE = "SQLite", "嵌入模型", "对话模型", "数据库"
_INDEX, _BREAKER, _READING, _MINDS, _CONTEXTS = "语义索引", "索引保护", "场景记录", "角色的记忆", "上下文文件"
_MODEL_FIX = "改正 model（NOVELGEN_MODEL）、地址（NOVELGEN_MODEL_BASE_URL）或密钥（NOVELGEN_MODEL_API_KEY），或不设置它"
_MODEL_FIRST = "先让嵌入模型能用：索引等着它，什么都不会丢"

CHINESE: dict[str, Wording] = {
    "sqlite_fine": Wording(_SQLITE, "{version}"),
    "sqlite_unused": Wording(_SQLITE, "{version}，未使用：设置了 database_url"),
    "sqlite_old": Wording(
        _SQLITE,
        "{version} 有 WAL 重置的错误（3.51.3 已修正）：几个进程同时写同一个项目可能损坏数据库；单个进程没有问题",
        "同一时间只让一个进程写一个项目，或更新 SQLite，或把 database_url 设为 PostgreSQL",
    ),
    "embedding_works": Wording(_EMBEDDING, "{model} 正常，{dimension} 维"),
    "embedding_not_asked": Wording(_EMBEDDING, "已设置 {model}；没有向它提问"),
    "embedding_fails": Wording(
        _EMBEDDING,
        "{model} 不能用，检索只按字词进行：{error}",
        "改正 memory.embedding_model（NOVELGEN_MEMORY__EMBEDDING_MODEL）：local 或 供应商:模型，以及它的地址和密钥",
    ),
    "model_none": Wording(
        _MODEL, "没有设置；检索按规则规划", "想让模型在规则之外帮忙，就把 model（NOVELGEN_MODEL）设为 供应商:模型"
    ),
    "model_unusable": Wording(_MODEL, "{model} 不能用，检索按规则规划：{error}", _MODEL_FIX),
    "model_not_asked": Wording(_MODEL, "已设置 {model}；没有向它提问"),
    "model_silent": Wording(_MODEL, "{model} 没有回答，检索按规则规划：{error}", _MODEL_FIX),
    "model_answers": Wording(_MODEL, "{model} 有回答"),
    "database_fine": Wording(_DATABASE, "{database}"),
    "database_empty": Wording(
        _DATABASE,
        "项目 {project_id} 还没有存入任何内容",
        "运行 `novelgen ingest {project_id}`；若是丢失了，恢复 {database}",
    ),
    "database_fails": Wording(
        _DATABASE,
        "{database} 不能用：{error}",
        "恢复它的备份，或把它移开再运行 `novelgen ingest`；单凭索引仍能给出上下文",
    ),
    "database_unreadable": Wording(_DATABASE, "能打开，但读不出来：{error}", "恢复它的备份"),
    "index_fine": Wording(_INDEX, "与数据库一致：{verification}"),
    "index_other_model": Wording(
        _INDEX,
        "它是用 {built_with} 建的，现在设置的是 {configured}；检索不用它",
        "运行 `novelgen reindex {project_id}`",
    ),
    "index_waits_for_model": Wording(_INDEX, "不能用，检索不靠它继续：{error}", _MODEL_FIRST),
    "index_fails": Wording(_INDEX, "不能用，检索不靠它继续：{error}", "运行 `novelgen reindex {project_id}`"),
    "index_late": Wording(
        _INDEX, "落后于数据库：{verification}（{waiting} 处改动待写入）", "运行 `novelgen index {project_id}`"
    ),
    "index_differs": Wording(_INDEX, "与数据库不一致：{verification}", "运行 `novelgen reindex {project_id}`"),
    "index_waiting": Wording(
        "待写入索引", "{unindexed} 处改动待写入；其中的内容目前只能按字词找到", "运行 `{command}`"
    ),
    "index_rebuilt": Wording(_INDEX, "已由数据库重建，因为 {problem}：{indexed} 条记忆，重新嵌入 {embedded} 段文字"),
    "index_repaired": Wording(_INDEX, "与数据库一致"),
    "index_beyond_repair": Wording(_INDEX, "重建之后仍是：{problem}", "检查磁盘，再运行一次"),
    "outbox_drained": Wording("待写入索引", "{indexed} 条等待的记忆已写入索引，{removed} 条已移除"),
    "embedded_otherwise": Wording(
        "memory.ingest", "{count} 条记忆是按另一种嵌入设置存入的", "运行 `novelgen reindex {project_id}`"
    ),
    "minds_of_nobody": Wording(
        _MINDS,
        "没有名为 {names} 的角色，却存有他们的记忆、感受或秘密",
        "撤销让他们消失的改动（`novelgen undo {project_id}`），或导入他们的卡片",
    ),
    "minds_without_vector": Wording(
        _MINDS, "{count} 条没有 {model} 的向量，按字词比较", "什么都不用做：每次回想都会补上一些"
    ),
    "knowledge_of_nothing": Wording(
        "谁知道什么",
        "你说过谁知道 {memories}，而它们已不在库中；重新读出时会再次生效",
        "改对取代它的记忆说，并在这里撤回（`novelgen memory forget-knowledge {project_id} {first} CHARACTER`）",
    ),
    "breaker_unknown": Wording(_BREAKER, "索引打不开：{error}", _MODEL_FIRST),
    "breaker_closed": Wording(_BREAKER, "正常：检索会用索引"),
    "breaker_open": Wording(
        _BREAKER, "索引接连出错，暂时不用它；过一会儿会再试", "运行 `novelgen doctor {project_id} --repair`"
    ),
    "context_files": Wording(_CONTEXTS, "{count} 个中有 {fresh} 个是最新的"),
    "context_stale": Wording("{file}", "已过时：写下之后，它之前的故事有了改动", "运行 `{command}`"),
    "context_unreadable": Wording("{file}", "{problem}", "运行 `{command}`"),
    "no_scenes": Wording("故事", "还没有存入任何场次", "运行 `{command}`"),
    "reading_failed": Wording(_READING, "模型未能读出 {failed} 场：正文已存，事实未存", "运行 `{command}`"),
    "nothing_read": Wording(_READING, "{scenes} 场都还没有读过：没有事实、状态、线索和关系", "运行 `{command}`"),
    "half_read": Wording(
        _READING, "读了一半：{scenes} 场中有 {scenes_with_record} 场有记录，{waiting} 场待读", "运行 `{command}`"
    ),
    "no_people": Wording("人物", "还不认识任何人物，无法按在场的人查找", "运行 `{command}`"),
}


def in_language(diagnosis: Diagnosis, language: StoryLanguage) -> Diagnosis:
    """Return a diagnosis whose findings are told in a language; a kind without words stays in English."""
    if language != "zh":
        return diagnosis
    return diagnosis.model_copy(
        update={
            "findings": [_in_chinese(each) for each in diagnosis.findings],
            "repairs": [_in_chinese(each) for each in diagnosis.repairs],
        }
    )


def _in_chinese(finding: Finding) -> Finding:
    wording = CHINESE.get(finding.kind)
    if wording is None:
        return finding
    what, message, fix = (each.format(**finding.values) for each in wording)
    return finding.model_copy(update={"what": what, "message": message, "fix": fix if finding.fix else ""})
