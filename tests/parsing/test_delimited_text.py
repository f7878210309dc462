"""CSV dialects."""

import csv
import io

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skillmap.errors import ParseError
from skillmap.parsing.delimited_text import DelimitedTable, parse_delimited_text

cells = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)


def parsed(text: str) -> DelimitedTable:
    return parse_delimited_text(text, name="file")


@settings(deadline=None)
@given(
    st.lists(st.lists(cells, min_size=3, max_size=3), max_size=6),
    st.sampled_from([",", ";", "\t", "|"]),
    st.sampled_from(["\n", "\r\n"]),
)
def test_a_written_table_is_read_back(
    rows: list[list[str]], separator: str, line_end: str
) -> None:
    stream = io.StringIO(newline="")
    writer = csv.writer(
        stream, delimiter=separator, lineterminator=line_end, quoting=csv.QUOTE_ALL
    )
    writer.writerows([["id", "question", "score"], *rows])

    table = parsed(stream.getvalue())

    columns = [list(column) for column in zip(*rows, strict=True)] or [[], [], []]
    assert list(table.columns.values()) == columns
    assert table.positions == list(range(len(rows)))
    assert table.rejects == []


def test_a_quoted_line_break_stays_in_its_cell() -> None:
    table = parsed('id,question\n1,"a\r\nb"\n2,c\n')

    assert table.columns == {"id": ["1", "2"], "question": ["a\r\nb", "c"]}


def test_commas_inside_cells_do_not_win_over_semicolons() -> None:
    table = parsed("id;question\n1;a, b, c\n2;d, e\n")

    assert table.columns == {"id": ["1", "2"], "question": ["a, b, c", "d, e"]}


def test_a_nul_and_a_very_long_cell_are_kept() -> None:
    table = parsed("id,question\n1,a\x00b\n2," + "x" * 200_000 + "\n")

    assert table.columns["question"] == ["a\x00b", "x" * 200_000]


def test_ragged_rows_are_rejected_and_blank_lines_skipped() -> None:
    table = parsed("id,score\n1,0\n\n2\n3,1,9\n4,1\n")

    assert table.positions == [0, 3]
    assert table.columns == {"id": ["1", "4"], "score": ["0", "1"]}
    assert table.rejects == [
        (1, "row does not have the header's 2 cells", '["2"]'),
        (2, "row does not have the header's 2 cells", '["3", "1", "9"]'),
    ]


def test_the_nameless_row_number_of_pandas_is_left_out() -> None:
    assert parsed(",id\n0,a\n1,b\n").columns == {"id": ["a", "b"]}


def test_a_header_alone_has_no_rows() -> None:
    assert parsed("id,score\n") == DelimitedTable([], {"id": [], "score": []}, [])


def test_a_quote_that_is_never_closed_is_an_error() -> None:
    with pytest.raises(ParseError, match=r"file: not CSV: .* at line 3. Close every"):
        parsed('id,question\n1,"a\n2,b\n')


def test_equal_column_names_are_an_error() -> None:
    with pytest.raises(ParseError, match=r"found twice: \['id'\]"):
        parsed("id,id,score\n1,2,3\n")


def test_a_text_without_rows_is_an_error() -> None:
    with pytest.raises(ParseError, match="file: no header row"):
        parsed("\n\n")


def test_the_separator_is_found_in_a_long_table() -> None:
    row = "q;" + "a, b, c " * 20_000 + "\n"

    assert list(parsed("id;question\n" + row * 10).columns) == ["id", "question"]
