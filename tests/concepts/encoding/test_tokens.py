import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillmap.concepts.encoding.identity import TokenPolicy
from skillmap.concepts.encoding.tokens import TextTokenizer, TokenisedText, item_content
from skillmap.errors import InvalidInputError
from tests.concepts.encoding.word_tokenizer import WordTokenizer

INSTRUCTION = "Answer this: {content} Think first."


def read(tokenizer: WordTokenizer, text: str | None, **policy: object) -> TokenisedText:
    return TextTokenizer(tokenizer, TokenPolicy(**policy)).tokenised(text)  # pyright: ignore[reportArgumentType]


def kept(tokenizer: WordTokenizer, text: TokenisedText) -> list[str]:
    return tokenizer.words([text.ids[place] for place in text.kept])


def test_only_the_content_counts_whatever_stands_around_it() -> None:
    tokenizer = WordTokenizer()

    text = read(tokenizer, "Answer: why?", instruction=INSTRUCTION)

    assert text.status == "encoded"
    assert kept(tokenizer, text) == ["Answer", ":", "why", "?"]
    # What comes after the last token that counts is not read: <s><turn>Answer this:.
    assert len(text.ids) == 5 + 4
    assert text.n_tokens == 5 + 4 + 3 + 1
    assert not text.is_truncated


def test_the_whole_prompt_counts_without_its_special_tokens_or_with_them() -> None:
    tokenizer = WordTokenizer()

    without = read(tokenizer, "why", instruction="Say {content}!", span="prompt")
    including = read(
        tokenizer,
        "why",
        instruction="Say {content}!",
        span="prompt",
        special_tokens="included",
    )

    assert kept(tokenizer, without) == ["Say", "why", "!"]
    assert kept(tokenizer, including) == ["<s>", "<turn>", "Say", "why", "!", "</s>"]


def test_a_plain_text_begins_with_one_token_that_begins_a_text() -> None:
    tokenizer = WordTokenizer()

    text = read(tokenizer, "why not", template="plain")

    assert tokenizer.words(text.ids) == ["<s>", "why", "not"]
    assert text.kept == (1, 2)


def test_a_tokenizer_need_not_know_where_a_text_begins() -> None:
    tokenizer = WordTokenizer(begin=None)

    text = read(tokenizer, "why not", template="plain")

    assert tokenizer.words(text.ids) == ["why", "not"]


def test_two_beginnings_are_an_error() -> None:
    text = read(WordTokenizer(), "why", template="plain", instruction="<s>{content}")

    assert text.status == "error"
    assert "begins with two tokens" in (text.reason or "")


@pytest.mark.parametrize("nothing", [None, "", " \n\t"])
def test_no_text_is_empty(nothing: str | None) -> None:
    assert read(WordTokenizer(), nothing) == TokenisedText("empty")


def test_a_text_of_special_tokens_alone_is_told_apart() -> None:
    text = read(WordTokenizer(), "</s><turn>")

    assert text.status == "all_special"
    assert text.ids == ()


def test_special_tokens_inside_the_content_do_not_count() -> None:
    tokenizer = WordTokenizer()

    text = read(tokenizer, "one</s>two")

    assert kept(tokenizer, text) == ["one", "two"]


def test_what_is_too_long_is_cut_and_told() -> None:
    tokenizer = WordTokenizer()

    text = read(tokenizer, "one two three four", max_length=4)

    assert text.status == "encoded"
    assert kept(tokenizer, text) == ["one", "two"]
    assert text.is_truncated
    assert text.n_tokens == 7


def test_a_content_behind_the_length_that_is_read_is_empty() -> None:
    text = read(WordTokenizer(), "one", max_length=2)

    assert text.status == "empty"
    assert text.is_truncated


def test_a_template_may_refuse_a_text() -> None:
    text = read(WordTokenizer(), "refused")

    assert text.status == "error"
    assert text.reason == "ValueError: the template refuses it"


def test_a_template_that_strips_a_turn_still_shows_its_content() -> None:
    tokenizer = WordTokenizer(template="{turn}{stripped}{end}")

    text = read(tokenizer, "  one two ")

    assert kept(tokenizer, text) == ["one", "two"]


def test_a_template_is_needed_and_must_show_the_content() -> None:
    with pytest.raises(InvalidInputError, match="has no chat template"):
        read(WordTokenizer(template=None), "one")
    with pytest.raises(InvalidInputError, match="does not show the content"):
        read(WordTokenizer(template="{turn}{nothing}"), "one")


@given(st.text(min_size=1, max_size=40))
def test_any_content_is_found_or_is_a_status(content: str) -> None:
    tokenizer = WordTokenizer()

    text = read(tokenizer, content, instruction=INSTRUCTION)

    alone = tokenizer(content, add_special_tokens=False, return_offsets_mapping=True)[
        "input_ids"
    ]
    wanted = [token for token in alone if token not in tokenizer.all_special_ids]
    if text.status == "encoded":
        assert [text.ids[place] for place in text.kept] == wanted
    else:
        assert text.kept == ()


def test_an_item_is_its_question_and_its_options() -> None:
    assert item_content("Which?", ["a", "b"]) == "Which?\na\nb"
    assert item_content("Which?") == "Which?"
    assert item_content(None, ["a"]) is None


@pytest.mark.parametrize(
    ("policy", "message"),
    [
        ({"instruction": "no place"}, "must hold {content} once"),
        ({"instruction": "{content}{content}"}, "must hold {content} once"),
        ({"max_length": 0}, "max_length must be above 0"),
        ({"max_norm": 0.0}, "max_norm must be above 0"),
    ],
)
def test_an_impossible_policy_is_refused(
    policy: dict[str, object], message: str
) -> None:
    with pytest.raises(InvalidInputError, match=message):
        TokenPolicy(**policy)  # pyright: ignore[reportArgumentType]
