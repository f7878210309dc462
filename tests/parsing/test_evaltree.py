"""EvalTree's arrays by position."""

import json

import pytest

from skillmap.errors import ParseError
from skillmap.parsing.formats import parse_bytes
from skillmap.parsing.source import ParsedSource, ParseOptions


def parsed(text: str) -> ParsedSource:
    options = ParseOptions(benchmark="math", model="m", annotator="a")
    return parse_bytes(text.encode(), name="file", options=options)


def test_zeros_and_ones_are_scores_by_position() -> None:
    source = parsed("[1, 0, true, null, NaN, 0.0]")

    assert source.format == "evaltree_results"
    columns = ["position", "native_id", "benchmark", "model", "score", "outcome"]
    assert source.results.select(columns).rows() == [
        (0, None, "math", "m", 1.0, None),
        (1, None, "math", "m", 0.0, None),
        (2, None, "math", "m", 1.0, None),
        (3, None, "math", "m", None, "unscored"),
        (4, None, "math", "m", None, "unscored"),
        (5, None, "math", "m", 0.0, None),
    ]
    assert not source.results["expects_prediction"].any()
    assert source.items.is_empty()


def test_any_other_number_is_rejected_and_positions_stay() -> None:
    source = parsed("[1, 2, 0.5, 0]")

    assert source.results["position"].to_list() == [0, 3]
    assert source.rejects.rows() == [
        (1, "result is neither 0 nor 1 nor null", "2"),
        (2, "result is neither 0 nor 1 nor null", "0.5"),
    ]


def test_pairwise_results_are_refused_by_name() -> None:
    with pytest.raises(ParseError, match=r"pairwise results .* are not supported"):
        parsed("[[1, 2], [2, 2], [1, 1]]")


def test_phrases_are_skills_by_position() -> None:
    source = parsed(json.dumps(["Adding, with care.", "Solving x² = 4."]))

    assert source.format == "evaltree_skills"
    assert source.skills.rows() == [
        (0, "math", None, None, "a", 0, "Adding, with care."),
        (1, "math", None, None, "a", 0, "Solving x² = 4."),
    ]


def test_blank_and_missing_phrases_are_rejected() -> None:
    source = parsed('["Adding.", " ", null]')

    assert source.n_records == 3
    assert source.rejects.rows() == [
        (1, "skill phrase is blank or not text", " "),
        (2, "skill phrase is blank or not text", "null"),
    ]


def test_an_array_of_nulls_is_of_no_known_format() -> None:
    with pytest.raises(ParseError, match="found a JSON array of NoneType, first null"):
        parsed("[null, null]")
