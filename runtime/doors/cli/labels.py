"""Words of the readable views, in the story's language."""

from __future__ import annotations

import re
from dataclasses import dataclass, field


@dataclass(frozen=True)
class ViewLabels:
    """Headings and column names; those of the prompt block come from `novelgen.context.labels`."""

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
    values: dict[str, str] = field(default_factory=dict)
    """English word to that of the language: headings, and statuses and kinds as they are stored."""

    reasons: dict[str, str] = field(default_factory=dict)
    """Parts of scores, needs, retrievers and reasons of a report to words of the language."""

    def value(self, word: str) -> str:
        """Return an English word, or a sentence with places to fill in, in the language of the story.

        What the table lacks is shown as it is.
        """
        return self.values.get(word, word)

    def reason(self, text: str) -> str:
        """Return why something is in a context, or is not, in the language of the story."""
        if not self.reasons:
            return text
        known = sorted(self.reasons, key=len, reverse=True)
        pattern = r"\b(?:" + "|".join(map(re.escape, known)) + r")\b"
        return re.sub(pattern, lambda found: self.reasons[found[0]], text)


ENGLISH = ViewLabels(
    values={"model": "a model", "author": "you"},
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
    unresolved="记忆中没有叫此名的人或物",
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
    reasons={
        "importance": "重要",
        "surroundings": "场景邻近",
        "summaries": "见于梗概",
        "spreading": "联想",
        "relevance": "切题",
        "entities": "相关实体",
        "open_loops": "未了之事",
        "words": "字词相合",
        "novelty": "新意",
        "beside": "与选中者相邻",
        "superseded": "已被取代",
        "unverified": "无引文",
        "consolidated": "已合并",
        "pinned": "作者置顶",
        "at_hand": "刚写过",
        "summary": "梗概",
        "passage": "原文",
        "full form": "用全文",
        "short form is no shorter": "简写并不更短",
        "short form is cut": "简写不完整",
        "short form is a label": "简写只是标题",
        "no short form": "没有简写",
        "no room in the budget": "预算不足",
        "lowered as": "降低：",
        "in the JSON only, not in the prompt within": "只在 JSON 中，不在提示里，",
        "states": "状态",
        "obligations": "未了之事",
        "relations": "关系",
        "timeline": "时间线",
        "memories": "记忆",
        "passages": "原文",
        "semantic": "语义",
        "lexical": "字词",
        "entity": "实体",
        "loop": "线索",
        "recent": "近场",
        "rules": "规则",
        "llm": "模型",
        "no model is configured": "未配置模型",
        "the model's plan was not used": "未采用模型的规划",
        "the model's plan was added to that of the rules": "模型的规划并入规则的规划",
        "whole": "整个计划",
        "purpose": "目的",
        "action": "动作",
        "place": "地点",
        "character": "人物",
        "pair": "人物之间",
    },
    values={
        "character": "人物",
        "location": "地点",
        "item": "物品",
        "faction": "势力",
        "term": "术语",
        "scene": "原文",
        "dialogue": "对话",
        "description": "描写",
        "summary": "摘要",
        "memory": "记忆",
        "note": "作者笔记",
        "active": "有效",
        "banned": "已禁用",
        "deleted": "已删除",
        "none": "未提取",
        "pending": "待提取",
        "done": "已提取",
        "supplied": "作者提供",
        "failed": "提取失败",
        "open": "未了",
        "advanced": "有进展",
        "resolved": "已了结",
        "abandoned": "已放弃",
        "low": "低",
        "medium": "中",
        "high": "高",
        "critical": "关键",
        "age": "已历场数",
        "stage": "阶段",
        "pressure": "紧迫",
        "silent": "无人触及场数",
        "expected": "预期",
        "planted": "已埋下",
        "moved": "有进展",
        "due": "该兑现",
        "overdue": "已逾期",
        "project": "项目",
        "scenes": "场次",
        "memories": "记忆",
        "ended by rule": "依规则了结",
        "entities": "实体",
        "index": "索引",
        "up to date": "已是最新",
        "{} memories wait": "{} 条记忆待处理",
        "run": "请运行",
        "role": "角色",
        "new entities": "新实体",
        "model calls": "模型调用",
        "tokens": "词元",
        "price": "费用",
        "not placed": "未能归位",
        "chapters reconciled": "理顺的章",
        "{} before": "此前已理顺 {} 章",
        "{} not read yet": "尚未读完 {} 章",
        "now one": "合为一个",
        "now apart": "分为两个",
        "new names": "新名字",
        "threads ended": "了结的线索",
        "{} in, {} of them cached, {} out": "输入 {}（其中缓存 {}），输出 {}",
        "{} new, {} changed, {} unchanged, {} failed": "新增 {}，更改 {}，未变 {}，失败 {}",
        "memories whose knowers are told": "已写明知情者的记忆",
        "earlier memories learnt": "得知的旧事",
        "{} done, {} failed, {} overtaken": "完成 {}，失败 {}，其间被改 {}",
        "{}, {} facts without a quote in the scene": "{}，其中 {} 条事实在原文中没有引文",
        "of": "所属",
        "remark": "说明",
        "chapter {}": "第 {} 章",
        "part {}": "第 {} 部",
        "made": "要点",
        "model": "模型",
        "author": "作者",
        "older than its scenes": "早于其场次",
        "not over yet": "尚未结束",
        "not used: scenes went elsewhere": "未采用：场次已移走",
        "not used: older than its scenes": "未采用：早于其场次",
        "stands for": "代表",
        "limit": "上限",
        "day": "日",
        "since the scene before": "距上一场",
        "lived": "经历次序",
        "who and where": "人物与地点",
        "same day": "同日",
        "next day": "次日",
        "{} days": "{} 日",
        "{} days or more": "{} 日以上",
        "flashback": "倒叙",
        "before the story": "故事之前",
        "{} memories per entity": "每个实体 {} 条记忆",
        "would consolidate": "将合并",
        "consolidated": "已合并",
        "{} memories into {}": "{} 条记忆并为 {} 条",
        ", {} of them written by the model": "，其中 {} 条由模型撰写",
        "still over the limit": "仍超上限",
        "chapter": "章",
        "volume": "卷",
        "times": "次数",
        "in scenes": "见于几场",
        "speaks": "开口",
        "also": "又名",
        "unknown": "不明",
        "“= {}?” asks whether it is the same one; if so: {}": "“= {}？”是在问两者是否同一人；若是：{}",
        "{} makes one an entity; merge and drop: {}": "确认为实体：{}   合并与舍弃：{}",
        "title": "标题",
        "words": "字数",
        "opening": "开头",
        "Left out before the first chapter": "第一章之前的内容，未收入",
        "Left out as said to readers; --keep-remarks keeps it": "作者对读者说的话，未收入（加 --keep-remarks 则保留）",
        "chapter {}, line {}": "第 {} 章第 {} 行",
        "and {} more": "等，另有 {} 项",
        "Would import": "将导入",
        "Imported": "已导入",
        "read as": "文件编码",
        "damaged places": "损坏之处",
        "passed over": "略过的文件",
        "{title} follows chapter {after}: what lies between is missing, or its heading was not recognised": (
            "第{after}章之后是“{title}”：中间的章缺失，或标题没有认出"
        ),
        "{title} stands there twice": "“{title}”出现了两次",
        "{title} follows chapter {after}: the chapters are counted in the order of the file": (
            "第{after}章之后是“{title}”：各章按文件中的顺序编号"
        ),
        "new scenes": "新场次",
        "changed scenes": "更改的场次",
        "new notes": "新笔记",
        "new events": "新事件",
        "new summaries": "新摘要",
        "new consolidations": "新合并",
        "new memories of characters": "新人物记忆",
        "copied plans": "复制的计划",
        "already there": "已有",
        "kept as stored": "保留原存",
        "mean somebody else": "编号已属他人",
        "The manuscript against the story": "文稿与所存故事之别",
        "changed chapters": "改过的章",
        "chapters moved": "移动的章",
        "chapters that are gone": "不再有的章",
        "scenes that are gone": "不再有的场",
        "chapters that wait": "等待的章",
        "nothing of this was taken in; run the same command with --update": "以上均未收入；加 --update 再运行一次即可",
        "they wait until the chapters that are gone are deleted; then run the same command again": (
            "待删去不再有的章之后，再运行同一命令"
        ),
        "look: {}   delete scene by scene: {}": "查看：{}   逐场删除：{}",
        "delete: {}": "删除：{}",
        "There is now": "现在存有",
        "What to do next": "接下来",
        "{} chapters": "{} 章",
        "{} scenes": "{} 场",
        "{} characters of text": "正文 {} 字",
        "{} people": "人物 {} 个",
        "{} open threads": "未了线索 {} 条",
        "{} memories": "记忆 {} 条",
        "{} scenes read, {} failed, {} waiting": "已读 {} 场，失败 {} 场，待读 {} 场",
        "{} of {} memories indexed by meaning": "记忆已按语义索引 {} / {} 条",
        ", ": "，",
        "changed meanwhile": "其间有变",
        "{} groups, left alone": "{} 组，未动",
        "when": "时间",
        "tier": "层级",
        "important": "重要",
        "regular": "一般",
        "hint": "暗示",
        "locked": "未解锁",
        "hinted": "可暗示",
        "unlocked": "已解锁",
        "known": "对方已知",
        "flag": "标志",
        "value": "值",
        "leaked_secret": "泄密",
        "unknown_name": "无此人",
        "contradicted_slot": "与所知不符",
        "nothing is wrong with it": "没有问题",
        "Knows": "知道",
        "Does not know": "不知道",
        "{} knows {}": "{}知道 {}",
        "{} does not know {}": "{}不知道 {}",
        "{} believes the contrary of {}": "{}信的与 {} 相反",
        "{} has heard {} and doubts it": "{}听说过 {}，但不信",
        "everything that {} has lived through": "{}经历的一切",
        "from its own scene on, {}": "自其本场 {} 起",
        "on entering {}": "进入 {} 时起",
        "taken back: {}": "已收回 {} 条",
        "Known to": "知道的人",
        "Not known to": "不知道的人",
        "since": "自",
        "how": "如何得知",
        "learned from": "得自",
        "might know from": "或可得自",
        "sure": "把握",
        "own_doing": "亲身所为",
        "witnessed": "亲眼所见",
        "told": "听人说",
        "overheard": "偷听到",
        "read": "读到",
        "deduced": "推断",
        "as said": "据记载",
        "reader": "读者",
        "{} and {}: scenes together {}, alone {}": "{}与{}：同场 {} 场，其中独处 {} 场",
        "{} and {}: scenes together {}, never alone": "{}与{}：同场 {} 场，从未独处",
        "alone": "独处",
        "Continuity of scene {} of {}": "{} 场与前文是否相合（{}）",
        "nothing contradicts the {facts} facts before it": "与前文已记下的 {facts} 条事实没有矛盾",
        "nothing contradicts the text before it": "与前文的文字没有矛盾",
        "nothing was compared: the story before it could not be read": "没有对照：前文读不出来",
        "nothing was compared: no facts are stored before this scene; write one down (novelgen note {project} …), "
        "state it on a card (novelgen entity edit {project} …), or let a model read the scenes (novelgen extract "
        "{project})": (
            "没有可对照的事实：本场之前什么也没有记下。先记一条（novelgen note {project} …）、"
            "写下状态（novelgen entity edit {project} …），或让模型读出来（novelgen extract {project}）"
        ),
        "sentences: {}, against scenes: {}, memories: {}": "{} 句，对照 {} 场、{} 条记忆",
        "evidence: {}": "依据 {} 条",
        "rules alone looked": "只用规则核对",
        "draft": "草稿",
        "fix": "改法",
        "waived": "作者有意如此",
        "“{}”": "「{}」",
        "dead_or_absent": "已死或不在场",
        "object_holder": "物品归属",
        "identity": "身份",
        "knowledge_leak": "不该知道",
        "promise": "承诺与命令",
        "injury_or_body": "伤势与体貌",
        "relationship": "关系",
        "canon_rule": "世界规则与数目",
        "story_time": "故事时间",
        "invented": "无中生有",
    },
)


def view_labels_for(language: str) -> ViewLabels:
    """Return the labels of a language code such as `zh`, `zh-CN` or `en`; English for all others."""
    return CHINESE if language.lower().startswith(("zh", "cn", "中")) else ENGLISH


def place_text(chapter_index: int | None, scene_index: int | None, labels: ViewLabels) -> str:
    """Return a position as `3:2` or `3`, or the word for what holds everywhere."""
    if chapter_index is None:
        return labels.everywhere
    return str(chapter_index) if scene_index is None else f"{chapter_index}:{scene_index}"
