"""What `note` answers: the state that it sets in plain words, or what stays as it was."""

import shlex
from typing import Any

import pytest

from tests.runtime.doors.cli.conftest import Run

pytestmark = pytest.mark.slow

STORIES: dict[str, dict[str, Any]] = {
    "en": {
        "cards": ("Kit", "Ada", "the silver whistle", "the mill"),
        "held": ("The silver whistle is with Kit.", "After 1:1 the silver whistle is held by Kit."),
        "again": ("The silver whistle is with Kit again", "whistle is held by Kit, as the state says already"),
        "lost": ("Ada dropped the whistle down the well.", "After 1:1 nobody has the silver whistle any more"),
        "over": "Over then: the silver whistle is held by Kit.",
        "unread": ("Ada took out the silver whistle.", "As before: nobody has the silver whistle."),
        "back": ("The silver whistle is back with Kit; it was in Ada's chest.", "is held by Kit."),
        "placed": ("Ada is at the mill.", "Ada is at the mill."),
        "named": ("Kit's real name is Tom Holt.", "the real name of Kit is Tom Holt."),
        "doubted": ("Kit was killed, Ada lied.", "It sets no state, for it tells of a lie,"),
        "dead": ("Kit is dead.", "After 1:1 Kit is dead."),
        "standing": ("Nobody knows who took the silver whistle.", "As before: the silver whistle is held by Kit."),
        "clearing": '`"holder="`',
    },
    "zh": {
        "cards": ("沈青", "陆行舟", "断雁剑", "寒潭"),
        "held": ("断雁剑在沈青手里。", "1:1 之后，断雁剑由沈青持有。"),
        "again": ("断雁剑还在沈青手里", "断雁剑由沈青持有，原已如此"),
        "lost": ("陆行舟把剑扔进了寒潭。", "1:1 之后，没有人再持有断雁剑"),
        "over": "其前已过时：断雁剑由沈青持有。",
        "unread": ("陆行舟拿出断雁剑。", "它没有改变任何状态，仍为：没有人持有断雁剑。"),
        "back": ("剑找回来了，在沈青手里。", "断雁剑由沈青持有。"),
        "placed": ("陆行舟在寒潭。", "陆行舟在寒潭。"),
        "named": ("沈青其实叫李四。", "沈青的真名是“李四”。"),
        "doubted": ("沈青死了，陆行舟瞎编的。", "它没有设定状态，因为说的是谎话"),
        "dead": ("沈青死了。", "沈青已死。"),
        "standing": ("谁拿了断雁剑，没有人知道。", "仍为：断雁剑由沈青持有。"),
        "clearing": '"持有者="',
    },
}  # fmt: skip


@pytest.mark.parametrize("language", STORIES)
def test_an_answer_is_a_plain_sentence(run: Run, language: str) -> None:
    """Held, held already, lost, unread of a thing without a holder, found again; the command that clears works."""
    told = STORIES[language]
    run.well("init", "sea", "--language", language)
    person, other, thing, place = told["cards"]
    for name in (person, other):
        run.well("card", "add", "sea", name, "--from", "1:1")
    run.well("card", "add", "sea", thing, "--kind", "item", "--from", "1:1")
    run.well("card", "add", "sea", place, "--kind", "location", "--from", "1:1")
    run.well(
        "ingest", "sea", "-", "--as", "next", answer=f"{person}。{other}。" if language == "zh" else f"{person} sat."
    )

    def answer(text: str) -> str:
        return " ".join(run.well("note", "sea", text, "--from", "2:1").output.split())

    for name in ("held", "again", "lost", "unread", "back", "standing", "placed", "named"):
        note, expected = told[name]
        text = answer(note)
        assert expected in text, name
        assert (told["over"] in text) is (name == "lost")
        assert (told["clearing"] in text) is (name == "standing")
    run.well("card", "edit", "sea", thing, told["clearing"].strip('`"'), "--from", "2:1")
    assert told["doubted"][1] in answer(told["doubted"][0])
    assert told["dead"][1] in answer(told["dead"][0])
    # The same note again is kept once.
    assert told["unread"][1].rstrip(".。") in answer("“…” " + told["unread"][0])


@pytest.mark.parametrize("language", STORIES)
def test_notes_and_threads_are_changed_as_they_stand(run: Run, language: str) -> None:
    """An edit says the state that it sets; a note taken back cannot be edited; what is over is marked in the list.

    A thread is meant by a part of its description; a warning on knowledge is printed once.
    """
    told = STORIES[language]
    run.well("init", "sea", "--language", language)
    person, other, thing, _ = told["cards"]
    for name in (person, other):
        run.well("card", "add", "sea", name, "--from", "1:1")
    run.well("card", "add", "sea", thing, "--kind", "item", "--from", "1:1")
    run.well(
        "ingest", "sea", "-", "--as", "next", answer=f"{person}，{thing}。" if language == "zh" else f"{person} sat."
    )
    run.well("note", "sea", told["held"][0], "--from", "1:1")
    lost = run.done("note", "sea", told["lost"][0], "--from", "2:1")
    assert told["over"] in lost
    assert "--ends" not in lost
    run.well("note", "sea", told["placed"][0], "--from", "2:1")
    edited = run.done("memory", "edit", "sea", "note-N2", "--text", told["dead"][0])
    assert told["dead"][1] in edited
    listing = run.json("memory", "list", "sea", "--type", "note")
    assert [memory["chunk"]["superseded_by"] for memory in listing["memories"]] == ["note-N1", None, None]
    run.well("note", "sea", told["standing"][0], "--from", "2:1")
    run.well("undo", "sea")
    run.refused("memory", "edit", "sea", "note-N3", "--text", told["dead"][0], told="novelgen memory unban sea note-N3")
    for description in ("Who lit the lamp?", "Who lit the fire?"):
        run.well("thread", "add", "sea", description)
    run.refused("thread", "resolve", "sea", "who lit", "Ada", told="OL1")
    run.well("thread", "resolve", "sea", "the LAMP", "Ada")
    waiting = run.done("thread", "list", "sea")
    assert ("OL0" in waiting, "OL1" in waiting) == (False, True)
    scene = ("--chapter", "2", "--scene", "1", "--with", other, "--pov", other, "--purpose", person)
    result = run.well("context", "sea", *scene)
    assert (result.stdout.count("--cast"), result.stderr.count("--cast")) == (1, 0)


@pytest.mark.parametrize(
    ("language", "people", "field", "hurt", "well_again", "else_again", "standing"),
    [
        (
            "en",
            ("Tubby", "Nell"),
            "injury",
            "left wrist broken",
            ("Tubby's wrist is whole again.", "Tubby is out of plaster.", "Tubby can use his hand again."),
            ("Nell is well again.", "Tubby told Nell a story."),
            'As before: Tubby: left wrist broken. If that is over: `novelgen card edit sea "Tubby" "body=…"',
        ),
        (
            "zh",
            ("阿虎", "阿宁"),
            "伤势",
            "左臂骨折",
            ("阿虎的胳膊好了。", "阿虎拆了夹板。", "阿虎痊愈了。"),
            ("阿宁的病好了。", "阿虎给阿宁讲故事。"),
            '仍为：阿虎：左臂骨折。若已变了：`novelgen card edit sea "阿虎" "身体=…"',
        ),
    ],
)
def test_who_is_well_again_has_an_injury_until_it_is_cleared(
    run: Run,
    language: str,
    people: tuple[str, str],
    field: str,
    hurt: str,
    well_again: tuple[str, ...],
    else_again: tuple[str, ...],
    standing: str,
) -> None:
    """The answer says what stands of whom the note names, and its command clears it."""
    run.well("init", "sea", "--language", language)
    run.well("ingest", "sea", "-", "--as", "next", answer="。".join(people) if language == "zh" else "They sat.")
    for name in people:
        run.well("card", "add", "sea", name, "--from", "1:1")
    run.well("card", "edit", "sea", people[0], f"{field}={hurt}", "--from", "1:2")
    for text in well_again:
        assert standing in " ".join(run.well("note", "sea", text, "--from", "1:2", "--preview").output.split())
    for text in else_again:
        assert hurt not in run.well("note", "sea", text, "--from", "1:2", "--preview").output
    run.well("card", "edit", "sea", people[0], f"{field}=", "--from", "1:2")
    assert hurt not in run.well("note", "sea", well_again[0], "--from", "1:2").output


@pytest.mark.parametrize(
    ("language", "kept", "gone", "place", "said", "wrong"),
    [
        ("en", "Thomas", "Quill", "Mill", "C1 (Quill) and C0 (Thomas) are one after 1:1", "none is known yet"),
        ("zh", "宋裁缝", "老乞丐", "磨坊", "1:1 之后，C1（老乞丐） 与 C0（宋裁缝） 是同一个", "这样的卡片一张也没有"),
    ],
)
def test_two_cards_that_become_one_say_so_in_the_list(
    run: Run, language: str, kept: str, gone: str, place: str, said: str, wrong: str
) -> None:
    """Where no position is given; and a place without any card of places is refused by its name."""
    run.well("init", "one", "--language", language)
    for name in (kept, gone):
        run.well("card", "add", "one", name, "--from", "1:1")
    for _ in range(2):
        run.well("ingest", "one", "-", "--as", "next", answer=f"{kept}。" if language == "zh" else f"{kept} sat.")
    refused = run("scene", "set", "one", "1:1", "--location", place)
    assert refused.exit_code == 2
    assert all(text in refused.stderr for text in (place, wrong, f'card add one "{place}" --kind location'))
    run.well("entity", "merge", "one", kept, gone, "--from", "2:1", "--yes")
    assert said in run("card", "list", "one").stdout
    assert said not in run("card", "list", "one", "--as-of", "3:1").stdout


@pytest.mark.parametrize(
    ("language", "who", "note", "answer"),
    [
        ("en", "Nell", "Gus has promised not to tell Nell that the mill is sold.", "Kept from Nell, as its words say."),
        ("zh", "顾晚", "白玫瞒着顾晚把电报局卖了。", "照它的话，瞒着顾晚。"),
    ],
)
def test_a_note_says_from_whom_its_words_keep_it(run: Run, language: str, who: str, note: str, answer: str) -> None:
    """With the command that tells it to them, which holds from the note's place on."""
    run("init", "kept", "--language", language)
    run("card", "add", "kept", who, "--from", "1:1")
    assert answer in run("note", "kept", note, "--from", "2:1", "--preview").stdout
    told = run("note", "kept", note, "--from", "2:1").stdout
    assert answer in told
    command = told.partition("`novelgen ")[2].partition("`")[0]
    assert command == f'memory knowledge kept note-N0 "{who}" knows --from 2:1'
    run(*shlex.split(command))
    assert who in run("memory", "knowers", "kept", "note-N0", "--as-of", "3:1").stdout.partition("\n\n")[2]
    assert answer not in run("note", "kept", f"{note}!", "--known-by", who).stdout


@pytest.mark.parametrize(
    ("language", "who", "note", "answer"),
    [
        (
            "en",
            "Nell",
            "The strongbox lies under the coal; only Nell knows it.",
            "Known to Nell and nobody else, as its words say.",
        ),
        ("zh", "顾晚", "钱箱埋在煤堆下，只有顾晚知道。", "照它的话，知道的只有顾晚。"),
    ],
)
def test_a_note_says_who_alone_knows_it_by_its_words(run: Run, language: str, who: str, note: str, answer: str) -> None:
    """As what is said, and no guess; with its knowers said the words count for nothing."""
    run("init", "kept", "--language", language)
    run("card", "add", "kept", who, "--from", "1:1")
    assert answer in run("note", "kept", note, "--from", "2:1", "--preview").stdout
    assert answer in run("note", "kept", note, "--from", "2:1").stdout
    known = run("memory", "knowers", "kept", "note-N0", "--as-of", "3:1").stdout.partition("\n\n")[0]
    assert who in known
    assert not {"guess", "推测"} & set(known.replace("(", " ").replace(")", " ").replace("（", " ").split())
    assert answer not in run("note", "kept", f"{note}!", "--known-by", who).stdout


@pytest.mark.parametrize(
    ("language", "note", "guessed", "stated", "told_of_nobody"),
    [
        (
            "en",
            "The vault door has three bells.",
            "Known to: Kit (guess).",
            "Known to: Kit, Ada.",
            "only the reader knows it",
        ),
        ("zh", "库门上有三口铃。", "知道的人：沈青（推测）。", "知道的人：沈青、陆行舟。", "只有读者知道"),
    ],
)
def test_a_note_that_names_nobody_says_who_knows_it(
    run: Run, language: str, note: str, guessed: str, stated: str, told_of_nobody: str
) -> None:
    """Those of the scene, as a guess where its cast is one; the reader alone where nobody is in it."""
    run.well("init", "sea", "--language", language)
    person, other, *_ = STORIES[language]["cards"]
    text = f"{person}看着{other}。" if language == "zh" else f"{person} looked at {other}."
    run.well("ingest", "sea", "-", "--as", "next", answer=text)
    for name in (person, other):
        run.well("card", "add", "sea", name, "--from", "1:1")
    for is_stated in (False, True):
        if is_stated:
            run.well("scene", "set", "sea", "1:1", "--cast", f"{person}, {other}")
        answer = run.well("note", "sea", f"{note}{'!' * is_stated}", "--from", "1:2")
        said = answer.output + answer.stderr
        assert (stated if is_stated else guessed) in said
        assert told_of_nobody not in said
    answer = run.well("note", "sea", note)
    assert told_of_nobody in answer.output + answer.stderr


KNOWERS: dict[str, dict[str, Any]] = {
    "en": {
        "people": ("Kit", "Ada", "Nell"),
        "away": "Gus",
        "scenes": ("Kit sat with Ada and Nell.", "Gus sat."),
        "open": "Kit gave Ada a book.",
        "listed": "Only Ada knows that Kit drinks.",
        "told": "Kit told Ada that the well is dry.",
        "apart": "Ada whispered to Kit that the well is dry.",
        "absent": "Gus sold the mill.",
        "later": "Gus burnt the letters.",
        "all": "Known to: Kit, Ada, Nell.",
        "four": "Known to: Kit, Ada, Nell, Gus.",
        "two": "Known to: Kit, Ada. Not to: Nell.",
        "guessed": "Known to: Kit, Ada. Not to: Nell (guess).",
        "one": "Known to: Gus.",
        "heading": "Known to: ",
        "not_to": "Not to: ",
    },
    "zh": {
        "people": ("沈青", "陆行舟", "顾晚"),
        "away": "白玫",
        "scenes": ("沈青和陆行舟、顾晚坐着。", "白玫坐着。"),
        "open": "沈青给了陆行舟一本书。",
        "listed": "只有陆行舟知道沈青酗酒。",
        "told": "沈青告诉陆行舟井干了。",
        "apart": "陆行舟悄悄告诉沈青井干了。",
        "absent": "白玫卖了磨坊。",
        "later": "白玫烧了信。",
        "all": "知道的人：沈青、陆行舟、顾晚。",
        "four": "知道的人：沈青、陆行舟、顾晚、白玫。",
        "two": "知道的人：沈青、陆行舟。不知道的人：顾晚。",
        "guessed": "知道的人：沈青、陆行舟。不知道的人：顾晚（推测）。",
        "one": "知道的人：白玫。",
        "heading": "知道的人：",
        "not_to": "不知道的人：",
    },
}


def _story_of_two_scenes(run: Run, language: str) -> dict[str, Any]:
    """Store a scene with a stated cast of three, and one with another person alone."""
    told = KNOWERS[language]
    run.well("init", "sea", "--language", language)
    for number, text in enumerate(told["scenes"], start=1):
        run.well("ingest", "sea", "-", "--as", f"1:{number}", answer=text)
    for name in (*told["people"], told["away"]):
        run.well("card", "add", "sea", name, "--from", "1:1")
    run.well("scene", "set", "sea", "1:1", "--cast", ", ".join(told["people"]))
    run.well("scene", "set", "sea", "1:2", "--cast", told["away"])
    return told


def _remark(run: Run, *arguments: str) -> str:
    return " ".join(run.well(*arguments).stderr.split())


@pytest.mark.parametrize("language", KNOWERS)
def test_a_note_says_who_of_its_scene_knows_it(run: Run, language: str) -> None:
    """At the end of its own scene, and who beside it does not; with its command they do."""
    told = _story_of_two_scenes(run, language)
    for note, answer in (("open", "all"), ("listed", "two"), ("told", "all"), ("apart", "guessed")):
        remark = _remark(run, "note", "sea", told[note], "--from", "1:1")
        assert told[answer] in remark, note
        assert (told["not_to"] in remark) is (answer != "all"), note
    # Who was elsewhere is not beside it, and whoever of another scene knows it later is not told.
    assert told["away"] not in remark
    remark = _remark(run, "note", "sea", told["later"], "--from", "1:2")
    assert told["one"] in remark
    assert told["not_to"] not in remark
    command = shlex.split(_remark(run, "note", "sea", f"{told['listed']}!", "--from", "1:1").split("`")[1])
    assert command == ["novelgen", "memory", "knowledge", "sea", "note-N5", told["people"][2], "knows"]
    run.well(*command[1:])
    knowers = run.json("memory", "knowers", "sea", "note-N5", "--as-of", "1:2")
    assert told["people"][2] in {knower["name"] for knower in knowers["known_by"]}


@pytest.mark.parametrize("language", KNOWERS)
def test_where_the_author_says_who_knows_a_note_no_rule_is_told(run: Run, language: str) -> None:
    """Nor in a preview, of a note that stands already, or after an edit of its knowers' note."""
    told = _story_of_two_scenes(run, language)
    assert told["heading"] not in _remark(run, "note", "sea", told["open"], "--from", "1:1", "--preview")
    known_by = ("--known-by", told["people"][0])
    assert told["heading"] not in _remark(run, "note", "sea", told["open"], "--from", "1:1", *known_by)
    assert told["heading"] not in _remark(run, "memory", "edit", "sea", "note-N0", "--text", told["told"])
    assert told["heading"] in _remark(run, "note", "sea", told["listed"], "--from", "1:1")
    assert told["heading"] not in _remark(run, "note", "sea", told["listed"], "--from", "1:1")
    hidden_from = ("--hidden-from", told["people"][2])
    assert told["two"] in _remark(run, "note", "sea", f"{told['open']}!", "--from", "1:1", *hidden_from)


@pytest.mark.parametrize("language", KNOWERS)
def test_an_edited_note_says_who_knows_it_now(run: Run, language: str) -> None:
    """By its new text or place; a new weight says nothing of knowers."""
    told = _story_of_two_scenes(run, language)
    run.well("note", "sea", told["open"], "--from", "1:1")
    edit = ("memory", "edit", "sea", "note-N0")
    assert told["two"] in _remark(run, *edit, "--text", told["listed"])
    assert told["heading"] not in _remark(run, *edit, "--importance", "9")
    assert told["one"] in _remark(run, *edit, "--text", told["absent"], "--from", "1:2")
    assert told["four"] in _remark(run, *edit, "--from", "1:1")


@pytest.mark.parametrize("language", KNOWERS)
def test_a_thread_says_who_knows_it(run: Run, language: str) -> None:
    """Planted, reworded or moved; a new weight says nothing of knowers."""
    told = _story_of_two_scenes(run, language)
    assert told["all"] in _remark(run, "thread", "add", "sea", told["open"], "--scene", "1:1")
    assert told["two"] in _remark(run, "thread", "edit", "sea", "OL0", "--description", told["listed"])
    assert told["heading"] not in _remark(run, "thread", "edit", "sea", "OL0", "--importance", "low")
    assert told["two"] in _remark(run, "thread", "add", "sea", told["listed"], "--scene", "1:1")
    assert told["all"] in _remark(run, "thread", "add", "sea", told["absent"], "--scene", "1:1")
    assert told["one"] in _remark(run, "thread", "edit", "sea", "OL2", "--from", "1:2")
