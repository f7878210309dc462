"""RouteLLM's wide CSVs."""

import csv
import io

import pytest

from skillmap.errors import ParseError
from skillmap.parsing.formats import parse_bytes
from skillmap.parsing.source import ParsedSource, ParseOptions

PROMPT = "Largest planet?\nA. Mars\nB. Jupiter\nC. Venus\nD. Earth\nAnswer:"


def table(*rows: list[str], separator: str = ",") -> bytes:
    stream = io.StringIO(newline="")
    csv.writer(stream, delimiter=separator).writerows(rows)
    return stream.getvalue().encode()


def parsed(content: bytes, **options: str) -> ParsedSource:
    return parse_bytes(content, name="file", options=ParseOptions(**options))


def test_a_prompt_is_split_and_every_model_has_a_result() -> None:
    source = parsed(
        table(["prompt", "org/m-1", "m-2"], [PROMPT, "True", "False"]),
        category="astronomy",
    )

    assert source.format == "routellm_csv"
    columns = ["question", "choices", "answer", "category", "native_id"]
    assert source.items.select(columns).rows() == [
        (
            "Largest planet?",
            ["Mars", "Jupiter", "Venus", "Earth"],
            None,
            "astronomy",
            None,
        )
    ]
    columns = ["position", "model", "score", "prediction", "expects_prediction"]
    assert source.results.select(columns).rows() == [
        (0, "org/m-1", 1.0, None, False),
        (0, "m-2", 0.0, None, False),
    ]


def test_the_last_block_of_options_counts() -> None:
    """A stem of European history quotes "A. J. P. Taylor" at the start of a line."""
    prompt = "He was\nA. J. P. Taylor.\nWho?\nA. w\nB. x\nC. y\nD. z\nAnswer:"

    item = parsed(table(["prompt", "m"], [prompt, "1"])).items.row(0, named=True)

    assert item["question"] == "He was\nA. J. P. Taylor.\nWho?"
    assert item["choices"] == ["w", "x", "y", "z"]


def test_options_and_stem_may_span_lines() -> None:
    prompt = "If\n\nx?\nA. 1\n2\nB. x\nC. y\nD. z\nz\nAnswer:"

    item = parsed(table(["prompt", "m"], [prompt, "1"])).items.row(0, named=True)

    assert item["question"] == "If\n\nx?"
    assert item["choices"] == ["1\n2", "x", "y", "z\nz"]


@pytest.mark.parametrize("prompt", ["How many?", "Q\nA. x\nB. y\nAnswer:", ""])
def test_a_prompt_without_four_options_stays_whole(prompt: str) -> None:
    item = parsed(table(["prompt", "m"], [prompt, "1"])).items.row(0, named=True)

    assert (item["question"], item["choices"]) == (prompt, [])


def test_responses_belong_to_the_model_of_their_column() -> None:
    source = parsed(
        table(
            ["prompt", "org/m", "gpt", "org/m_response", "gpt_response"],
            ["How many?", "True", "False", "#### 3", "4,\n5"],
        )
    )

    assert source.results.select("model", "response").rows() == [
        ("org/m", "#### 3"),
        ("gpt", "4,\n5"),
    ]


def test_a_bad_verdict_is_rejected_and_the_other_model_kept() -> None:
    source = parsed(
        table(
            ["prompt", "m-1", "m-2"],
            ["a", "True", "False"],
            ["b", "maybe", "True"],
            ["c", "0.5", "True"],
            ["d", "False", ""],
            ["e", "1", "0"],
        )
    )

    assert source.rejects.rows() == [
        (1, "verdict on 'm-1' is neither True nor False", "maybe"),
        (2, "verdict on 'm-1' is neither True nor False", "0.5"),
    ]
    rows = source.results.select("position", "model", "score", "outcome").rows()
    assert rows == [
        (0, "m-1", 1.0, None),
        (0, "m-2", 0.0, None),
        (1, "m-2", 1.0, None),
        (2, "m-2", 1.0, None),
        (3, "m-1", 0.0, None),
        (3, "m-2", None, "unscored"),
        (4, "m-1", 1.0, None),
        (4, "m-2", 0.0, None),
    ]


def test_other_separators_and_a_byte_order_mark_are_read() -> None:
    content = table(["prompt", "m-1"], ["a, b", "True"], separator=";")

    source = parsed(b"\xef\xbb\xbf" + content)

    assert source.items["question"].to_list() == ["a, b"]


def test_one_score_column_is_the_generic_form() -> None:
    content = table(["prompt", "correct"], ["a", "True"])

    assert parsed(content, model="m").format == "generic"


def test_a_column_that_may_be_a_score_or_a_model_is_ambiguous() -> None:
    content = table(["prompt", "score", "gpt-4"], ["a", "1", "0"])

    with pytest.raises(
        ParseError, match=r"could be generic, routellm_csv: .*'gpt-4'.* --format"
    ):
        parsed(content)


def test_a_forced_format_explains_what_it_needs() -> None:
    with pytest.raises(
        ParseError, match=r"columns must be prompt.*\['cost', 'prompt'\]"
    ):
        parse_bytes(
            table(["prompt", "cost"], ["a", "0.25"]),
            name="file",
            format_name="routellm_csv",
        )


def test_one_told_model_cannot_stand_for_two_columns() -> None:
    content = table(["prompt", "m-1", "m-2"], ["a", "True", "False"])

    with pytest.raises(ParseError, match=r"one model 'm' was told, the file has 2"):
        parsed(content, model="m")
