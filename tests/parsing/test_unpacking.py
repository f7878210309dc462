"""Archives: known by content, one file each, and never larger than agreed."""

import gzip
import io
import zipfile

import pytest

from skillmap.errors import ParseError
from skillmap.parsing.unpacking import unpack

MEGABYTE = 1024**2


def zipped(members: dict[str, bytes]) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return stream.getvalue()


def unpacked(content: bytes, *, max_bytes: int = MEGABYTE) -> bytes:
    return unpack(content, name="file", max_bytes=max_bytes).content


def test_plain_bytes_stay_as_they_are() -> None:
    assert unpacked(b"[1, 0]") == b"[1, 0]"


@pytest.mark.parametrize(
    "content",
    [
        zipped({"results.json": b"[1, 0]"}),
        zipped({"whatever.bin": b"[1, 0]"}),
        gzip.compress(b"[1, 0]"),
        zipped({"results.json.gz": gzip.compress(b"[1, 0]")}),
    ],
)
def test_the_single_file_of_an_archive_is_taken(content: bytes) -> None:
    assert unpacked(content) == b"[1, 0]"


def test_a_readme_in_the_archive_is_passed_over_and_reported() -> None:
    content = zipped({"README.md": b"hello", "a/results.json": b"[1]", "a/": b""})

    result = unpack(content, name="file", max_bytes=MEGABYTE)

    assert result.content == b"[1]"
    assert result.warnings == [(None, "file in the archive was not read", "README.md")]


def test_the_hidden_folder_of_finder_does_not_count() -> None:
    content = zipped({"r.json": b"[1]", "__MACOSX/._r.json": b"\x00\x05"})

    assert unpack(content, name="file", max_bytes=MEGABYTE) == (b"[1]", [])


def test_several_candidates_are_refused_with_their_names() -> None:
    content = zipped({"a.json": b"[1]", "b.csv": b"x"})

    with pytest.raises(ParseError, match=r"found 2 among 2 files: 'a.json', 'b.csv'"):
        unpacked(content)


def test_an_empty_archive_is_refused() -> None:
    with pytest.raises(ParseError, match="found 0 among 0 files: nothing"):
        unpacked(zipped({}))


@pytest.mark.parametrize("kept", [5, 30, 80])
def test_a_cut_off_zip_is_an_error(kept: int) -> None:
    content = zipped({"a.json": bytes(range(256)) * 4})

    with pytest.raises(ParseError, match=r"file: damaged zip archive: .*Fetch"):
        unpacked(content[:kept])


def test_a_zip_with_a_damaged_byte_is_an_error() -> None:
    content = bytearray(zipped({"a.json": bytes(range(256)) * 4}))
    content[60] ^= 0xFF

    with pytest.raises(ParseError, match="zip archive"):
        unpacked(bytes(content))


def test_a_cut_off_gzip_file_is_an_error() -> None:
    with pytest.raises(ParseError, match="file: damaged gzip file"):
        unpacked(gzip.compress(b"[1, 0]" * 100)[:-9])


@pytest.mark.parametrize("pack", [gzip.compress, lambda b: zipped({"a.json": b})])
def test_a_bomb_is_refused_by_its_size(pack: object) -> None:
    assert callable(pack)
    content = pack(b"0" * (2 * MEGABYTE))
    assert isinstance(content, bytes)
    assert len(content) < 10_000

    with pytest.raises(ParseError, match=r"may unpack to 1,048,576 bytes"):
        unpacked(content)


def test_a_plain_file_obeys_the_size_too() -> None:
    with pytest.raises(ParseError, match=r"10 bytes, this one has 11 or more"):
        unpacked(b"0" * 11, max_bytes=10)


def test_archives_nested_too_deep_are_refused() -> None:
    content = b"[1]"
    for _ in range(3):
        content = gzip.compress(content)

    with pytest.raises(ParseError, match="within an archive is not read"):
        unpacked(content)


def test_an_encrypted_member_is_an_error() -> None:
    content = bytearray(zipped({"a.json": b"[1]"}))
    # Bit 0 of the general purpose flag, in the local header and in the directory.
    content[6] |= 1
    content[content.index(b"PK\x01\x02") + 8] |= 1

    with pytest.raises(ParseError, match=r"cannot be read: .*encrypted"):
        unpacked(bytes(content))


def test_zstandard_is_named_as_not_read() -> None:
    with pytest.raises(ParseError, match="Zstandard is not read"):
        unpacked(b"\x28\xb5\x2f\xfd rest")
