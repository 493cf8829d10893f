"""Words of the readable views, in the story's language."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class ViewLabels:
    """Headings and column names; those of the prompt block come from `novelgen.rendering.labels`."""

    context: str
    planner: str
    tokens: str
    total: str
    issues: str
    no_issues: str
    written: str
    not_written: str
    nothing: str
    outdated: str
    number: str
    entity: str
    entity_id: str
    kind: str
    names: str
    place: str
    facts: str
    text: str
    why: str
    form: str
    forms: dict[str, str]
    score: str
    score_parts: str
    retrievers: str
    queries: str
    origin: str
    purpose: str
    left_out: str
    section: str
    timings: str
    unresolved: str
    title: str
    on_stage: str
    status: str
    importance: str
    everywhere: str
    difference: str
    attribute: str
    was: str
    now: str
    change: str
    changes: dict[str, str]
    unchanged: str
    story_version: str
    left_as_it_is: str


ENGLISH = ViewLabels(
    context="Memory for scene {place} of {project}",
    planner="planned by",
    tokens="tokens",
    total="tokens in all",
    issues="Missing or degraded",
    no_issues="nothing is missing",
    written="written to",
    not_written="not written",
    nothing="nothing",
    outdated="(outdated, replaced by {source})",
    number="#",
    entity="entity",
    entity_id="id",
    kind="type",
    names="names",
    place="scene",
    facts="facts",
    text="text",
    why="why",
    form="form",
    forms={"full": "full", "short": "short"},
    score="score",
    score_parts="score parts",
    retrievers="found by (rank)",
    queries="Queries",
    origin="by",
    purpose="for",
    left_out="Left out",
    section="section",
    timings="seconds",
    unresolved="not known to the story",
    title="title",
    on_stage="on stage",
    status="status",
    importance="weight",
    everywhere="always",
    difference="What changes in the memory for scene {place} of {project}",
    attribute="attribute",
    was="was",
    now="now",
    change="change",
    changes={"in": "new", "out": "gone", "changed": "changed", "form": "form", "text": "text"},
    unchanged="nothing that a writer is told has changed",
    story_version="story version",
    left_as_it_is="not overwritten (without --diff it is)",
)

CHINESE = ViewLabels(
    context="《{project}》{place} 场的记忆",
    planner="规划方式",
    tokens="词元",
    total="词元合计",
    issues="缺失或降级",
    no_issues="无缺失",
    written="已写入",
    not_written="未写入",
    nothing="无",
    outdated="（已过时，后有 {source}）",
    number="#",
    entity="实体",
    entity_id="编号",
    kind="类型",
    names="名称",
    place="场次",
    facts="事实",
    text="内容",
    why="理由",
    form="形式",
    forms={"full": "全文", "short": "简写"},
    score="得分",
    score_parts="得分构成",
    retrievers="检索来源（名次）",
    queries="检索语句",
    origin="来源",
    purpose="用途",
    left_out="未入选",
    section="部分",
    timings="秒",
    unresolved="故事中尚未出现",
    title="标题",
    on_stage="在场",
    status="状态",
    importance="重要度",
    everywhere="通用",
    difference="《{project}》{place} 场的记忆有何变化",
    attribute="属性",
    was="原为",
    now="现为",
    change="变化",
    changes={"in": "新增", "out": "移除", "changed": "更改", "form": "形式", "text": "内容"},
    unchanged="写作所需的内容没有变化",
    story_version="故事版本",
    left_as_it_is="未覆盖（不加 --diff 则覆盖）",
)


def view_labels_for(language: str) -> ViewLabels:
    """Return the labels of a language code such as `zh`, `zh-CN` or `en`; English for all others."""
    return CHINESE if language.lower().startswith(("zh", "cn", "中")) else ENGLISH


def place_text(chapter_index: int | None, scene_index: int | None, labels: ViewLabels) -> str:
    """Return a position as `3:2` or `3`, or the word for what holds everywhere."""
    if chapter_index is None:
        return labels.everywhere
    return str(chapter_index) if scene_index is None else f"{chapter_index}:{scene_index}"
