"""Numbers with their units are read from words and digits, in English and in Chinese."""

import pytest

from novelgen.language.counted_nouns import find_counts
from novelgen.language.language import StoryLanguage
from novelgen.language.numerals import Dimension, chinese_numbers, english_amount, find_quantities

DAY = 86400.0
YEAR = 365.25 * DAY


@pytest.mark.parametrize(
    ("words", "number"),
    [
        ("seven", 7),
        ("eight-and-twenty", 28),
        ("a hundred and fifty", 150),
        ("one thousand two hundred and five", 1205),
        ("half a million", 500_000),
        ("fifty thousand", 50_000),
        ("a dozen", 12),
        ("two and a half", 2.5),
        ("1,250", 1250),
    ],
)
def test_english_words_say_their_number(words: str, number: float) -> None:
    """Old forms, halves and scales are read as well as digits."""
    assert english_amount(words) == number


@pytest.mark.parametrize(
    ("digits", "numbers"),
    [
        ("三百", (300, 300)),
        ("二百七十", (270, 270)),
        ("一万三千五百", (13500, 13500)),
        ("十二", (12, 12)),
        ("三五十", (30, 50)),
        ("两三", (2, 3)),
        ("三两", (2, 3)),
        ("1百20", (120, 120)),
        ("半", (0.5, 0.5)),
        ("3万", (30000, 30000)),
    ],
)
def test_chinese_digits_say_the_least_and_the_most(digits: str, numbers: tuple[float, float]) -> None:
    """Two neighbouring digits are a range, all else is one number."""
    assert chinese_numbers(digits) == numbers


@pytest.mark.parametrize(
    ("text", "language", "figure", "dimension", "low", "high"),
    [
        ("She waited three long years.", "en", "three long years", "duration", 3 * YEAR, 3 * YEAR),
        ("two or three days after", "en", "two or three days", "duration", 2 * DAY, 3 * DAY),
        ("a six-mile walk", "en", "six-mile", "length", 9654, 9654),
        ("worth half a million sterling", "en", "half a million sterling", "money", 5e5, 5e5),
        ("a boy twelve years old", "en", "twelve years old", "age", 12, 12),
        ("at three o’clock in the afternoon", "en", "three o’clock in the afternoon", "clock", 15, 15),
        ("about nine in the evening", "en", "nine in the evening", "clock", 21, 21),
        ("在此住了三个月", "zh", "三个月", "duration", YEAR / 4, YEAR / 4),
        ("已有五百余年了", "zh", "五百余年", "duration", 500 * YEAR, 600 * YEAR),
        ("离城八十里", "zh", "八十里", "length", 40000, 40000),
        ("重三千斤", "zh", "三千斤", "weight", 1500, 1500),
        ("有盐三斗", "zh", "三斗", "volume", 30, 30),
        ("五石米", "zh", "五石", "volume", 500, 500),
        ("纹银一万两白银", "zh", "一万两", "money", 10000, 10000),
        ("今年六十一岁", "zh", "六十一岁", "age", 61, 61),
    ],
)
def test_a_number_is_found_with_its_unit(
    text: str, language: StoryLanguage, figure: str, dimension: Dimension, low: float, high: float
) -> None:
    """The figure spans number and unit, and its value stands in the base unit of its dimension."""
    (found,) = find_quantities(text, language)
    assert text[found.start : found.end] == figure
    assert found.dimension == dimension
    assert found.low == pytest.approx(low)
    assert found.high == pytest.approx(high)


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("One day he left for some years.", "en"),
        ("It was not three years.", "en"),
        ("Three of them had nine lives.", "en"),
        ("一日，忽有人来。第三日方回。", "zh"),
        ("这两日不曾见他，半日不语。", "zh"),
        ("千丈高崖，万年古松。", "zh"),
        ("不是三年。", "zh"),
        ("三月里桃花开了，数十年如此。", "zh"),
    ],
)
def test_what_measures_nothing_is_no_quantity(text: str, language: StoryLanguage) -> None:
    """A single day, dates, what is denied, counts of things and figures of speech are left out."""
    assert find_quantities(text, language) == []


@pytest.mark.parametrize(
    ("text", "dimension", "amount"),
    [
        ("茶厂欠信用社十二万，六月底到期。", "money", 120000),
        ("林建业出价八十万，要盘下茶厂。", "money", 800000),
        ("拿了定金两万，写了收条。", "money", 20000),
        ("那三万定金", "money", 30000),
        ("沈立春在木材行欠两万三。", "money", 23000),
        ("他年过七旬。", "age", 70),
        ("他走了十万里路。", "money", None),
        ("还有十二万人。", "money", None),
    ],
)
def test_sums_without_a_unit_and_decades_of_age(text: str, dimension: str, amount: int | None) -> None:
    """欠十二万 is money, 七旬 of somebody an age and no seventy days."""
    amounts = [one.low for one in find_quantities(text, "zh") if one.dimension == dimension]
    assert amounts == ([] if amount is None else [amount])
    assert amount is None or [one.dimension for one in find_quantities(text, "zh")] == [dimension]


def test_loads_of_a_stuff_are_counted() -> None:
    """Of the same stuff with and without an adjective."""
    votes = [
        find_counts(text, "zh") for text in ("三十二票赞成，九票反对。", "乐团投票时，二十七票赞成。", "他买了三票货。")
    ]
    assert [[(one.low, one.unit) for one in counts] for counts in votes] == [
        [(32, "票"), (9, "票反对")],
        [(27, "票")],
        [],
    ]
    loads = [find_counts(text, "zh") for text in ("西仓里有四十二担陈茶。", "烧掉了四十八担茶。")]
    assert [[(one.low, one.unit) for one in load] for load in loads] == [[(42, "担茶")], [(48, "担茶")]]
