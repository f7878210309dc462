import gzip
import json
import struct
import zlib
from pathlib import Path

from scripts.encoder_text import (
    SOURCES,
    countries,
    dictionary,
    docstrings,
    glosses,
    novels,
    pages,
    passages,
    python_manual,
)

PROSE = "This is a sentence of a paragraph that is long enough to be kept as prose."


def write(folder: Path, name: str, content: str | bytes) -> None:
    file = folder / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(content if isinstance(content, bytes) else content.encode())


def r_vector(lines: list[str]) -> bytes:
    """A character vector as R serialises it, compressed, with its size before it."""
    about = b"X\n\x00\x00\x00\x03\x00\x04\x02\x01" + struct.pack(
        ">ii", 0x10, len(lines)
    )
    texts = b"".join(
        b"\x00\x04\x00\x09" + struct.pack(">i", len(line)) + line.encode()
        for line in lines
    )
    packed = about + texts
    return struct.pack(">i", len(packed)) + zlib.compress(packed)


def test_novels_are_read_out_of_vectors_of_lines(tmp_path: Path) -> None:
    first = r_vector(["EMMA", "", PROSE, "It goes on in this line."])
    write(tmp_path, "data/Rdata.rdb", first + r_vector(["", PROSE, ""]))

    assert list(novels(tmp_path, wanted=range(1))) == [
        f"{PROSE} It goes on in this line."
    ]
    assert list(novels(tmp_path, wanted=range(1, 2))) == [PROSE]


def test_countries_give_their_longer_entries_up_to_a_sentence(tmp_path: Path) -> None:
    content = {"Economy": {"overview": {"text": f"{PROSE} " * 9}, "GDP": {"text": "1"}}}
    write(tmp_path, "europe/xx.json", json.dumps(content))
    write(tmp_path, "package.json", json.dumps({"text": PROSE * 9}))

    (found,) = countries(tmp_path)

    assert found == " ".join([PROSE] * 7)


def test_a_manual_gives_prose_without_its_markup(tmp_path: Path) -> None:
    kept = f":class:`~a.List` and ``x``: {PROSE}"
    text = f"{kept}\n\n.. note:: {PROSE}\n\n======== {PROSE}\n"
    write(tmp_path, "tutorial/lists.rst.txt", text)
    write(tmp_path, "whatsnew/3.rst.txt", PROSE)

    assert list(python_manual(tmp_path)) == [f"a.List and x: {PROSE}"]


def test_docstrings_give_prose_without_examples(tmp_path: Path) -> None:
    write(tmp_path, "a.py", f'"""{PROSE}\n\n>>> 1 + 1  # {PROSE}\n2\n"""\n')
    write(tmp_path, "tests/b.py", f'"""{PROSE}"""\n')

    assert list(docstrings(tmp_path)) == [PROSE]


def test_word_meanings_are_those_with_an_example(tmp_path: Path) -> None:
    line = '01 04 n 01 ice_age 0 001 | a cold time; "it was an ice age"  \n'
    write(
        tmp_path, "data.noun", f"  1 licence\n{line}02 04 n 01 x 0 001 | no example\n"
    )
    for name in ("data.verb", "data.adj", "data.adv"):
        write(tmp_path, name, "")

    assert list(glosses(tmp_path)) == ['ice age: a cold time; "it was an ice age"']


def test_a_dictionary_begins_after_its_notice(tmp_path: Path) -> None:
    text = "\n\n".join([f"notice {n} {PROSE}" for n in range(12)] + [PROSE])
    write(tmp_path, "x.dict.dz", gzip.compress(text.encode()))

    assert list(dictionary(tmp_path)) == [PROSE]


def test_pages_give_their_paragraphs_only(tmp_path: Path) -> None:
    write(tmp_path, "a.html", f"<h1>Title</h1><p>{PROSE}<pre>{PROSE}</pre><p>short")

    assert list(pages(tmp_path)) == [PROSE]


def test_neighbours_are_joined_to_passages_and_short_rests_left_out() -> None:
    cut = list(passages([PROSE] * 18))

    # 8 sentences of 73 characters and their line breaks are the first above 560.
    assert [passage.count(PROSE) for passage in cut] == [8, 8]
    assert list(passages(["short"])) == []


def test_text_that_is_held_out_is_of_other_places() -> None:
    training = {s.paragraphs for s in SOURCES.values() if s.part == "training"}
    held_out = {s.paragraphs for s in SOURCES.values() if s.part == "held_out"}

    assert {source.part for source in SOURCES.values()} == {"training", "held_out"}
    # The dictionaries are of two packages.
    assert training & held_out <= {dictionary}
