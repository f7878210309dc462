"""Files as decoded records: content over suffix, UTF-8 over locale, nothing lost."""

import gzip
import io
import json
import os
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

from skillmap.errors import ParseError
from skillmap.parsing.documents import Document, decode_document, read_document


def decoded(content: bytes) -> Document:
    return decode_document(content, name="file")


def test_an_array_and_lines_are_told_apart_whatever_the_suffix(tmp_path: Path) -> None:
    """I-4: a ``.jsonl`` may hold one JSON array, and a ``.json`` JSON lines."""
    array, lines = tmp_path / "a.jsonl", tmp_path / "b.json"
    array.write_text('[{"id": 1}, {"id": 2}]', encoding="utf-8")
    lines.write_text('{"id": 1}\n{"id": 2}\n', encoding="utf-8")

    first, second = read_document(array), read_document(str(lines))

    assert first.values() == second.values() == [{"id": 1}, {"id": 2}]
    assert (first.shape, second.shape) == ("JSON array", "JSON lines")


def test_one_object_is_one_record() -> None:
    document = decoded(b'{"id": 1,\n "score": 0}')

    assert document.shape == "JSON object"
    assert document.values() == [{"id": 1, "score": 0}]


def test_rows_of_a_table_are_objects() -> None:
    document = decoded(b"id,score\r\n1,0\r\n2,1\r\n")

    assert document.values() == [{"id": "1", "score": "0"}, {"id": "2", "score": "1"}]
    assert document.is_table


def test_a_byte_order_mark_is_no_part_of_the_first_name() -> None:
    for text in ("id,score\n1,0\n", '{"id": "1", "score": "0"}'):
        document = decoded(b"\xef\xbb\xbf" + text.encode())

        assert document.values() == [{"id": "1", "score": "0"}]


def test_parquet_is_known_by_its_first_bytes() -> None:
    stream = io.BytesIO()
    pl.DataFrame({"id": [1, 2], "choices": [["a"], None]}).write_parquet(stream)

    document = decoded(gzip.compress(stream.getvalue()))

    assert document.shape == "Parquet table"
    assert document.values() == [
        {"id": 1, "choices": ["a"]},
        {"id": 2, "choices": None},
    ]


@pytest.mark.parametrize("kept", [4, 60, -20])
def test_a_cut_off_parquet_file_is_an_error(kept: int) -> None:
    stream = io.BytesIO()
    pl.DataFrame({"id": list(range(100))}).write_parquet(stream)

    with pytest.raises(ParseError, match="file: damaged Parquet file"):
        decoded(stream.getvalue()[:kept])


def test_bytes_that_are_not_utf_8_are_replaced_and_flagged() -> None:
    document = decoded(b'[{"a": "caf\xe9"}, {"a": "caf\xc3\xa9"}]')

    assert document.values() == [{"a": "caf\ufffd"}, {"a": "café"}]
    assert document.replaced == {0}


def test_a_lone_surrogate_is_replaced_and_flagged() -> None:
    r"""I-15: a response cut inside a pair, "x\ud835y", stops writers of UTF-8."""
    document = decoded(rb'{"a": "x\ud835y"}' + b"\n" + rb'{"a": "\ud83d\ude00"}')

    assert document.values() == [{"a": "x\ufffdy"}, {"a": "\U0001f600"}]
    assert document.replaced == {0}


def test_bad_bytes_of_a_csv_are_replaced_in_names_too() -> None:
    document = decoded(b"id,caf\xe9\n1,ok\n2,\xff\n")

    assert document.values() == [
        {"id": "1", "caf\ufffd": "ok"},
        {"id": "2", "caf\ufffd": "\ufffd"},
    ]
    assert document.replaced == {1}


def test_a_replacement_character_of_the_source_itself_is_not_flagged() -> None:
    assert decoded('["\ufffd"]'.encode()).replaced == frozenset()


def test_control_characters_are_kept() -> None:
    assert decoded(b'["a\x00\x07b"]').values() == ["a\x00\x07b"]


@pytest.mark.parametrize("content", [b"", b" \n\t", b"\xef\xbb\xbf"])
def test_an_empty_file_is_an_error(content: bytes) -> None:
    with pytest.raises(ParseError, match="file: the file is empty"):
        decoded(content)


@pytest.mark.parametrize("content", [b"[]", b"id,score\n"])
def test_a_file_without_records_is_an_error(content: bytes) -> None:
    with pytest.raises(ParseError, match="without any record"):
        decoded(content)


def test_utf_16_is_refused_with_a_remedy() -> None:
    with pytest.raises(ParseError, match=r"found UTF-16\. Save it as UTF-8"):
        decoded("id,score\n1,0\n".encode("utf-16"))


def test_a_missing_file_is_an_error_that_names_it(tmp_path: Path) -> None:
    with pytest.raises(ParseError, match=r"none\.json: cannot be read: No such file"):
        read_document(tmp_path / "none.json")


def test_the_locale_makes_no_difference(tmp_path: Path) -> None:
    """I-16: under the C locale one non-ASCII record ended a file early."""
    file = tmp_path / "a.jsonl"
    records = [{"id": n, "question": "pronounced \u02c8p\u0259"} for n in range(3)]
    text = "\n".join(json.dumps(record, ensure_ascii=False) for record in records)
    file.write_text(text, encoding="utf-8")
    code = (
        "import sys; from skillmap.parsing.documents import read_document as read;"
        "print(ascii(read(sys.argv[1]).values()))"
    )

    run = subprocess.run(
        [sys.executable, "-X", "utf8=0", "-c", code, str(file)],
        env={"LC_ALL": "C", "PATH": os.defpath, "PYTHONCOERCECLOCALE": "0"},
        cwd=Path(__file__).parents[2],
        capture_output=True,
        check=True,
    )

    assert run.stdout.decode().strip() == ascii(records)


class Remote(os.PathLike[str]):
    """A path of another library, with its own way to read."""

    def __fspath__(self) -> str:
        return "remote://file"

    def read_bytes(self) -> bytes:
        return b"[1]"


class Wrapped(os.PathLike[str]):
    """A path of another library that is only a path."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def __fspath__(self) -> str:
        return str(self._path)


def test_paths_of_other_libraries_are_read_their_own_way(tmp_path: Path) -> None:
    file = tmp_path / "a.json"
    file.write_text("[0]", encoding="utf-8")

    assert read_document(Remote()).values() == [1]
    assert read_document(Wrapped(file)).values() == [0]
