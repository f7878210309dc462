from string import ascii_uppercase

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skillmap.extraction.outcomes import extract
from tests.extraction.said import TEN, letter, make_responses, read

CITIES = ["Lyon", "Rome", "Berlin", "Paris"]


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("So the answer is (B).", "B"),
        ("So the answer is B", "B"),
        ("**Answer: D**", "D"),
        ("Answer: **D**", "D"),
        ("Answer: D because it is.", "D"),
        ("The answer is (d).", "D"),
        ("The answer is d.", "D"),
        ("Therefore, the correct answer is:\n\n\\[\n\\boxed{C}\n\\]", "C"),
        ("The answer is $\\boxed{\\text{(C)}}$.", "C"),
        ("\\[ \\text{The answer is } (G) \\]", "G"),
        ("The answer to the question is clearly option E, since it is so.", "E"),
        ("The answer is J: all of them.", "J"),
        ("The answer is\uff08\uff22\uff09。", "B"),
        ("It is not there, but the closest is (H).", "H"),
        ("It is closest to (F) though.", "F"),
        ("The best choice would be [A].", "A"),
        ("The correct answer is:\nA. option number one", "A"),
        ("只有选项C是对", "C"),
        ("答案是 C", "C"),
    ],
)
def test_an_announced_letter_is_read(said: str, expected: str) -> None:
    assert letter(said) == expected


@pytest.mark.parametrize(
    "said",
    [
        "The answer is February 3rd.",
        "The correct answer is Isabel F. Lofting.",
        "The author is Darling et al",
        "The answer is (Insufficient data)",
        "The answer is (None of the given options).",
        "The answer is (A and B).",
        "The answer is (A), (B), and (C).",
        "The answer is (H, J).",
        "The answer could be (A) or (G).",
        "Answer: Let's think step by step.",
        "The answer is (K).",
        "The answer is (P)",
        "The answer is not (B).",
        "Answer (B) is incorrect.",
        "The answer is A careful guess.",
        "The answer is I think unknown.",
        "The answer is J. Smith.",
        "A careful look is needed.",
        "A. option number one\nB. option number two",
        "The answer is \\boxed{7 \\times 5}.",
        "The answer is:\n(a) 49 m,\n(b) 12 m",
    ],
)
def test_a_letter_is_never_guessed(said: str) -> None:
    assert read(said)[:2] == (None, "unparsed")


def test_the_last_stated_answer_wins() -> None:
    assert letter("The answer is (C).\n\nNo: the answer is (H).") == "H"
    assert letter("The answer is January 22nd. The answer is (H)") == "H"


def test_words_after_an_announced_letter_do_not_hide_it() -> None:
    assert letter("The answer is (C).\nAnswer: Let's think.") == "C"


@pytest.mark.parametrize(
    "denial", ["The answer is none of the options.", "There is no correct answer here."]
)
def test_a_later_denial_takes_an_answer_back(denial: str) -> None:
    assert letter(f"The answer is (C). Wait. {denial}") is None


@pytest.mark.parametrize("n_options", [2, 4, 10])
def test_a_letter_beyond_the_options_is_no_answer(n_options: int) -> None:
    said = [f"The answer is ({letter})." for letter in ascii_uppercase]

    read = extract(make_responses(*said, choices=TEN[:n_options]))

    expected = [*ascii_uppercase[:n_options], *[None] * (26 - n_options)]
    assert read["prediction"].to_list() == expected


def test_more_than_ten_options_have_letters_too() -> None:
    options = [f"option {number}" for number in range(18)]

    assert letter("The answer is (M).", choices=options) == "M"


@pytest.mark.parametrize(
    ("said", "expected", "method"),
    [
        ("The answer is Paris.", "D", "announced_text"),
        ("The answer is (Paris).", "D", "announced_text"),
        ("The answer is \\boxed{\\text{Paris}}.", "D", "announced_text"),
        ("Option C is the best.", "C", "verdict"),
        ("(B) is correct, and (A) is not.", "B", "verdict"),
        ("I would choose option A.", "A", "verdict"),
        ("B", "B", "lettered_line"),
        ("(D) Paris", "D", "lettered_line"),
        ("B) Rome", "B", "lettered_line"),
        ("The capital of France, as I know it, is:\n\n**D. Paris**", "D", None),
        ("The capital is called D. Paris.", "D", "closing_option"),
        ("The capital is Paris.", "D", "closing_option"),
        ("It lies on the Seine, hence this is option D.", "D", "closing_option"),
        ("The likeliest city is (D).", "D", "closing_option"),
        ("Everyone says Paris (D).", "D", "closing_option"),
    ],
)
def test_weaker_signs_are_read_where_nothing_is_announced(
    said: str, expected: str, method: str | None
) -> None:
    prediction, _, read_by = read(said, choices=CITIES, answer="A")

    assert prediction == expected
    assert method in (None, read_by)


@pytest.mark.parametrize(
    "said",
    [
        "(A) is correct. (B) is correct too.",
        "If option B is correct, so is C.",
        "It is not Paris",
        "Paris is larger than Lyon.",
        "A. Lyon\nB. Rome\nC. Berlin\nD. Paris.",
        "It could be Lyon or Rome.",
        "Let us see.\n\nA. Lyon:",
    ],
)
def test_a_weak_sign_for_two_options_is_none(said: str) -> None:
    assert letter(said, choices=CITIES) is None


def test_words_that_close_a_long_text_may_be_where_it_was_cut() -> None:
    said = "So far we know little. " * 40 + "One of the towns is Paris."

    assert letter(said, choices=CITIES) is None


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("The answer is 24.8 liters.", "B"),
        ("The answer is 24.80 L, which is the volume.", None),
        ("The answer is $1250.", "C"),
        ("The answer is 1,250.00 dollars.", "C"),
        ("The answer is (0.5).", "A"),
        ("The answer is I, II, and III.", "D"),
        ("The answer is 7.", None),
    ],
)
def test_numeric_options_are_known_by_their_value(
    said: str, expected: str | None
) -> None:
    options = [".5", "24.8 liters", "$1,250", "I, II, and III"]

    assert letter(said, choices=options) == expected


def test_two_options_with_one_text_cannot_be_told_apart() -> None:
    assert letter("The answer is Rome.", choices=["Rome", "rome", "Bern"]) is None


def test_the_longest_option_that_fits_is_meant() -> None:
    options = ["Increase", "Increase in demand", "Fall"]

    assert letter("The answer is an increase in demand.", choices=options) == "B"


def test_a_question_that_the_model_makes_up_is_not_its_answer() -> None:
    said = "The answer is (C).\n\nQuestion: What next?\nThe answer is (D)."

    assert letter(said) == "C"


FORMS = ["({})", "{}", "**{}**", "[{}]", "\\boxed{{{}}}", "({}) {}", "option {}"]


def test_every_option_is_read_in_every_form() -> None:
    stated = [
        (ascii_uppercase[place], form.format(ascii_uppercase[place], text))
        for place, text in enumerate(TEN)
        for form in [*FORMS, "{1}"]
    ]

    said = [f"Well. The answer is {answer}." for _, answer in stated]
    read = extract(make_responses(*said))

    assert read["prediction"].to_list() == [letter for letter, _ in stated]


@given(st.lists(st.text("ABIJK(). isnotandor\n", max_size=30), min_size=20))
@settings(max_examples=20)
def test_only_letters_of_the_item_are_answers(said: list[str]) -> None:
    read = extract(make_responses(*(f"The answer is {text}" for text in said)))

    assert read["prediction"].drop_nulls().is_in(list("ABCDEFGHIJ")).all()
