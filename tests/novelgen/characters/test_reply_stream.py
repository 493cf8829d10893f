"""What a character says comes token by token; the analysis behind it is never heard."""

import json
import threading
from itertools import pairwise

import pytest
from langchain_core.messages import HumanMessage

from novelgen.characters.reply_stream import MAX_REPLY_CHARACTERS, ReplyParts, read_analysis, stream_text
from novelgen.deadlines import Deadline
from novelgen.errors import DeadlineExceededError, ModelUnavailableError
from novelgen.model_calls.answers import UnusableAnswerError
from tests.support.scripted_chat_model import StreamingModel
from tests.support.variants import variants

ANALYSIS = {"interaction_type": "gift_given", "trust_change": 2, "learned_about_player": {"name": "Theron"}}
SPEECH = "[warmly] It is good to see you again.\n\nSit down, friend."


def heard(answer: str, size: int) -> ReplyParts:
    """Return what is heard at the end, where each cut of the answer gives more of it and takes nothing back."""
    told = [ReplyParts()]
    for start in range(0, len(answer), size):
        told.append(told[-1].then(answer[start : start + size]))
    assert all(later.spoken.startswith(earlier.spoken) for earlier, later in pairwise(told))
    return told[-1]


FENCED = f"{SPEECH}\n```json\n{json.dumps(ANALYSIS)}\n```"
BARE = f"{SPEECH}\n{json.dumps(ANALYSIS)}"
SEED = json.dumps({"response": SPEECH, "analysis": ANALYSIS})
SEED_FENCED = f"```json\n{SEED}\n```"
THOUGHT = f"<think>\nHe wants {{gold}}. I say ```no```.\n</think>\n{FENCED}"


@pytest.mark.parametrize("size", [1, 2, 3, 7, 1000])
@pytest.mark.parametrize("answer", [FENCED, BARE, SEED, SEED_FENCED, THOUGHT])
def test_the_speech_is_heard_and_the_analysis_read_however_the_answer_is_cut_into_tokens(
    answer: str, size: int
) -> None:
    """Seed 002.46: dialogue and analysis come apart, in our form and in the seed's own JSON."""
    spoken, behind, *_ = heard(answer, size)
    assert spoken.strip() == SPEECH
    analysis = read_analysis(behind)
    assert analysis.interaction_type == "gift_given"
    assert analysis.changes == {"trust_change": 2}
    assert analysis.learned_about_player.name == "Theron"


@pytest.mark.parametrize("size", [1, 4, 1000])
@pytest.mark.parametrize("answer", ["Good day.", "天黑了。先回去吧。", "A `lone` mark, a < sign = and {no object}."])
def test_a_model_that_forgets_the_analysis_is_heard_whole(answer: str, size: int) -> None:
    """Without an analysis everything is speech, and that there is none is told, not guessed."""
    spoken, behind, *_ = heard(answer, size)
    assert spoken.strip() == answer
    with pytest.raises(UnusableAnswerError):
        read_analysis(behind)


def test_tokens_are_given_out_at_once() -> None:
    """Seed 002.49: each word is heard before the next one has come."""
    told = ReplyParts()
    for piece, answer in (
        ("Good", "Good"),
        ("", "Good"),
        (" day", "Good day"),
        ("`", "Good day"),
        ("\r\n!", "Good day`\r\n!"),
    ):
        told = told.then(piece)
        assert told.spoken == answer


def test_however_many_thoughts_stand_in_front_the_speech_is_heard() -> None:
    """A model that thinks in a thousand pieces, which come at once or bit by bit, is heard all the same."""
    answer = "<think>Who is it?</think>\n" * 1000 + "Good day."
    for size in (7, 1000, len(answer)):
        assert heard(answer, size).spoken == "Good day."


def test_escapes_of_a_streamed_response_are_read() -> None:
    """Quotation marks, line ends, characters by number and emoji, which are two numbers, are what they stand for."""
    answer = r'{"response": "He said \"no\".\nThen \u4f60\u597d \ud83d\ude00 \ud83d, \ude00.", "analysis": {}}'
    for size in (1, 3, 1000):
        assert heard(answer, size).spoken == 'He said "no".\nThen 你好 😀 , .'


@pytest.mark.slow
@pytest.mark.parametrize(
    "around",
    variants(["{}", "<think>{}", '{{"response": "{}"}}', "Hm.{}"], 2),
    ids=["speech", "thought", "JSON", "space"],
)
def test_the_longest_reply_is_heard_token_by_token(around: str) -> None:
    """Each token costs what is new in it: a reply that was looked at whole again at each of them took minutes."""
    text = " " * MAX_REPLY_CHARACTERS if around == "Hm.{}" else "天黑了。" * (MAX_REPLY_CHARACTERS // 4)
    assert heard(around.format(text), 1).spoken == {"<think>{}": "", "Hm.{}": "Hm."}.get(around, text)


@pytest.mark.parametrize(
    "written",
    [
        '{"interaction_type": 5, "trust_change": "much", "learned_about_player": "nothing", "memory": ["x"]}',
        '{"learned_about_player": {"name": "unknown", "notable_facts": "He is a trader."}}',
    ],
)
def test_fields_of_the_wrong_kind_count_as_nothing(written: str) -> None:
    """A model that writes a word where a number belongs moves nothing."""
    analysis = read_analysis(written)
    assert (analysis.interaction_type, analysis.memory, analysis.changes) == ("", "", {})
    assert analysis.learned_about_player.name is None


def test_a_stream_gives_the_pieces_as_the_model_does() -> None:
    """Every piece is given out, in order."""
    model = StreamingModel(script=["Good ", "day."])
    assert "".join(stream_text(model, [HumanMessage("Hello")], deadline=Deadline.after(30))) == "Good day."


def test_a_model_that_hangs_is_left_behind_at_the_deadline() -> None:
    """What came before is given out; then the time is up."""
    release = threading.Event()
    model = StreamingModel(script=["Good ", release, "day."])
    stream = stream_text(model, [HumanMessage("Hello")], deadline=Deadline.after(0.2))
    try:
        assert next(stream) == "Good "
        with pytest.raises(DeadlineExceededError, match="timeout_s"):
            list(stream)
    finally:
        release.set()


def test_a_model_that_fails_or_repeats_itself_is_told() -> None:
    """The error names what went wrong and hides what looks like a key; beyond every bound a reply is refused."""
    model = StreamingModel(script=["Good ", RuntimeError("bad key sk-123456789abcdef")])
    with pytest.raises(ModelUnavailableError, match="gave no answer") as raised:
        list(stream_text(model, [HumanMessage("Hello")], deadline=Deadline.after(30)))
    assert "sk-123456789" not in str(raised.value)
    model = StreamingModel(script=["x" * MAX_REPLY_CHARACTERS, "x"])
    with pytest.raises(ModelUnavailableError, match="repeats itself"):
        list(stream_text(model, [HumanMessage("Hello")], deadline=Deadline.after(30)))


FINAL = "<|end|><|start|>assistant<|channel|>final<|message|>"


@pytest.mark.parametrize(
    "answer",
    [
        f'<|channel|>analysis<|message|>She may say {{"response": "No."}}.{FINAL}Come in.<|return|>',
        f"<|start|>assistant<|channel|>analysis<|message|>Say what?{FINAL}Come in.",
        "<|channel|>final<|message|>Come in.<|return|>",
        "analysisWe say come in.assistantfinalCome in.",
        "[THINK]what?[/THINK]Come in.",
        '[{"response": "Come in."}]',
        '[ {"response": "Come in.", "analysis": {"memory": "x"}} ]',
    ],
)
@pytest.mark.parametrize("size", [1, 3, 400])
def test_channels_and_lists_are_no_speech(answer: str, size: int) -> None:
    """Of channels only the final one is heard, whatever the pieces; a list around the object is passed over."""
    assert heard(answer, size).spoken == "Come in."


@pytest.mark.parametrize("said", ["[smiles] Come in.", "analysis of wool is my trade.", "Commentary? None.", "<3 you"])
def test_what_begins_like_reasoning_is_heard(said: str) -> None:
    """Stage remarks and ordinary words stay."""
    assert heard(f"{said} And so on.", 1).spoken == f"{said} And so on."
