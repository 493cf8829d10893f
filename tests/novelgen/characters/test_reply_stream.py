"""What a character says comes token by token; the analysis behind it is never heard."""

import json
import threading
from itertools import pairwise

import pytest
from langchain_core.messages import HumanMessage

from novelgen.characters.reply_stream import MAX_REPLY_CHARACTERS, ReplyParts, parted, read_analysis, stream_text
from novelgen.deadlines import Deadline
from novelgen.errors import DeadlineExceededError, ModelUnavailableError
from novelgen.model_calls.answers import UnusableAnswerError
from tests.support.scripted_chat_model import StreamingModel

ANALYSIS = {"interaction_type": "gift_given", "trust_change": 2, "learned_about_player": {"name": "Theron"}}
SPEECH = "[warmly] It is good to see you again.\n\nSit down, friend."


def heard(answer: str, size: int) -> ReplyParts:
    """Return what is heard at the end, where each cut of the answer gives more of it and takes nothing back."""
    told = [parted(answer[:end]) for end in [*range(size, len(answer), size), len(answer)]]
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
    spoken, behind = heard(answer, size)
    assert spoken.strip() == SPEECH
    analysis = read_analysis(behind)
    assert analysis.interaction_type == "gift_given"
    assert analysis.changes == {"trust_change": 2}
    assert analysis.learned_about_player.name == "Theron"


@pytest.mark.parametrize("size", [1, 4, 1000])
@pytest.mark.parametrize("answer", ["Good day.", "天黑了。先回去吧。", "A `lone` mark, a < sign = and {no object}."])
def test_a_model_that_forgets_the_analysis_is_heard_whole(answer: str, size: int) -> None:
    """Without an analysis everything is speech, and that there is none is told, not guessed."""
    spoken, behind = heard(answer, size)
    assert spoken.strip() == answer
    with pytest.raises(UnusableAnswerError):
        read_analysis(behind)


def test_tokens_are_given_out_at_once() -> None:
    """Seed 002.49: each word is heard before the next one has come."""
    for answer in ("Good", "Good day", "Good day to you"):
        assert parted(answer).spoken == answer


def test_escapes_of_a_streamed_response_are_read() -> None:
    """Quotation marks, line ends and characters by number come out as what they stand for."""
    answer = r'{"response": "He said \"no\".\nThen \u4f60\u597d.", "analysis": {}}'
    assert heard(answer, 1).spoken == 'He said "no".\nThen 你好.'


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
    with pytest.raises(ModelUnavailableError, match="gave no reply") as raised:
        list(stream_text(model, [HumanMessage("Hello")], deadline=Deadline.after(30)))
    assert "sk-123456789" not in str(raised.value)
    model = StreamingModel(script=["x" * MAX_REPLY_CHARACTERS, "x"])
    with pytest.raises(ModelUnavailableError, match="repeats itself"):
        list(stream_text(model, [HumanMessage("Hello")], deadline=Deadline.after(30)))
