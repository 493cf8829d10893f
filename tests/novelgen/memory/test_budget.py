"""Which form of a memory is given, and how the budget is filled."""

import pytest

from novelgen.language.language import estimate_tokens
from novelgen.memory.budget import Priced, choose_form, fill, forms_of_chosen, is_cut, short_form_defect
from novelgen.memory.weights import SelectionWeights
from tests.novelgen.memory.build import chunk

WEIGHTS = SelectionWeights()
FULL = "Old Sherman of the lane lends his dog gladly: a friend of Mr. Holmes is always welcome there."
SHORT = "Sherman lends his dog to Holmes gladly"


def test_relevant_memory_is_given_in_full() -> None:
    """From the border score on; a beginning that ends inside a sentence is cut, a whole first sentence is not."""
    memory = chunk("m", content=FULL, short=SHORT)
    at = WEIGHTS.full_form_score
    assert choose_form(memory, at, WEIGHTS, estimate_tokens).text == FULL
    below = choose_form(memory, at - 0.01, WEIGHTS, estimate_tokens)
    assert (below.form, below.text) == ("short", SHORT)
    full = "The gate is shut at nine. Nobody passes after that, not even the priest of the lower town."
    assert is_cut("The gate is shut at nine. Nobody pas", full)
    assert is_cut("The gate is shut...", full)
    assert not is_cut("The gate is shut at nine.", full)
    assert not is_cut("The gate is shut at nine", full)
    assert is_cut("行者变作高翠兰，赚得", "行者变作高翠兰，赚得妖怪自供住处。")
    assert not is_cut("行者变作高翠兰。", "行者变作高翠兰。妖怪自供住处。")


@pytest.mark.parametrize(
    ("short", "full"),
    [
        ("妖婿来历与习性", "妖婿自称福陵山姓猪，初来勤谨耕种，后变长嘴大耳猪样，一顿吃三五斗，吃斋，会弄风走石。"),
        ("人参果延寿规则", "五庄观人参果三千年开花结果熟，近万年结三十，闻活三百六十岁，吃一个活四万七千年。"),
        (
            "The sign and its four names",
            "The paper bears four crosses in a line and the words: Jonathan Small, Mahomet Singh, Abdullah Khan.",
        ),
        ("The oath", "Small swore to the Sikhs to raise no hand against them, for a quarter of the treasure."),
    ],
)
def test_labels_are_found_in_both_languages(short, full):
    """A title that announces what the memory tells does not stand for it."""
    assert short_form_defect(short, full, estimate_tokens) == "short form is a label"
    chosen = choose_form(chunk("m", content=full, short=short), -5.0, WEIGHTS, estimate_tokens)
    assert (chosen.form, chosen.text, chosen.why) == ("full", full, "short form is a label")


@pytest.mark.parametrize(
    ("short", "full"),
    [
        ("金池长老撞墙自尽", "金池长老寻不见袈裟，羞愧难当，撞墙而死。"),
        ("行者代师受鞭", "行者两次请代师受鞭，把腿变熟铁受鞭。"),
        (SHORT, FULL),
        ("Mary hands over six pearls", "Mary Morstan hands over the six pearls that she was sent in the last years."),
    ],
)
def test_telling_short_forms_stand(short, full):
    """A short sentence that tells the fact has no defect."""
    assert short_form_defect(short, full, estimate_tokens) == ""


@pytest.mark.parametrize(
    ("short", "defect"), [(None, "no short form"), ("  ", "no short form"), (FULL, "short form is no shorter")]
)
def test_missing_or_equal_short_form_gives_the_full_one(short, defect):
    """Without a shorter form the full one is given, and the receipt says why."""
    chosen = choose_form(chunk("m", content=FULL, short=short), -5.0, WEIGHTS, estimate_tokens)
    assert (chosen.form, chosen.why) == ("full", defect)


def test_a_taken_passage_lifts_those_that_stand_beside_it() -> None:
    """By less than the points it comes before what was better, and each side counts; one not given lifts nothing."""
    priced = {name: Priced(gain, 10) for name, gain in (("a", 9.0), ("b", 8.0), ("c", 7.5), ("d", 7.2))}
    beside = {"a": ("c",), "b": ("c", "d"), "c": ("a", "b"), "d": ("b",)}
    assert fill(priced, 40, lambda _: None).taken == ("a", "b", "c", "d")
    assert fill(priced, 20, lambda _: None, beside=beside, beside_points=0.6).taken == ("a", "c")
    lifted = fill(priced, 30, lambda _: None, beside={"a": ("d",), "b": ("d",)}, beside_points=0.4)
    assert (lifted.taken, lifted.no_room) == (("a", "b", "d"), ("c",))
    assert lifted.lifted == {"d": pytest.approx(0.8)}
    priced = {"long": Priced(9.0, 50), "near": Priced(7.0, 10), "far": Priced(7.5, 10)}
    filling = fill(priced, 10, lambda _: None, beside={"long": ("near",)}, beside_points=2.0)
    assert filling.taken == ("far",)


@pytest.mark.parametrize(
    ("budget_tokens", "fulls"),
    [(10, 0), (20 * 10, 0), (20 * 10 + 14, 1), (20 * 24, 20), (20 * 24 + 23, 20), (30 * 24, 30)],
)
def test_what_a_model_chose_is_full_where_there_is_room_and_short_where_not(budget_tokens: int, fulls: int) -> None:
    """The first twenty have room in short forms before the foremost become full; after a short one all are short."""
    chosen = [chunk(f"m{number:02}", content=FULL, short=SHORT) for number in range(30)]
    assert (estimate_tokens(FULL), estimate_tokens(SHORT)) == (24, 10)
    forms = [form.form for form in forms_of_chosen(chosen, budget_tokens, estimate_tokens).values()]
    assert forms == ["full"] * fulls + ["short"] * (30 - fulls)


def test_what_a_model_chose_has_no_short_form_that_is_a_label() -> None:
    forms = forms_of_chosen([chunk("m", content=FULL, short="The dog")], 1, estimate_tokens)
    assert (forms["m"].form, forms["m"].text) == ("full", FULL)
