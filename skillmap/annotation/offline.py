"""Skills of items without a language model: sentences close to a vocabulary.

Every sentence of a question, or of a solution, is compared with every skill of a
vocabulary by the cosine of their vectors; what is close enough is taken to be what
the sentence is about. That tells what a text speaks of, which is less than what it
takes to answer it: use it where no annotator can be had, and to compare with one.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Final, NamedTuple, cast

import numpy as np
import polars as pl
from numpy.typing import NDArray

from skillmap.annotation.sentences import Sentence, sentences
from skillmap.annotation.vocabulary import Vocabulary
from skillmap.errors import InvalidInputError

Vectors = NDArray[np.float32]

DEFAULT_THRESHOLD: Final = 0.3
"""Least cosine of a sentence and a skill, for MiniLM and chains of names.

On the starter suite (233 items, 47 skills, 2.0 of them an item), at most two skills a
sentence, against the skills that its authors named. Share of the found that are
named, and of the named that are found:

- 0.25: 31 % and 39 % in question and options;
- 0.30: 41 % and 32 %, and nothing for 53 items; by area (16) 58 % and 37 %;
- 0.35: 43 % and 21 %, and nothing for 98 items;
- 0.45: 52 % and 7 %, and nothing for 179 items;
- 0.30: 32 % and 58 % with titles and conclusions of the steps too; by area 50 % and
  68 %.

0.3 has the best F1 of both, 0.36 and 0.42. Drawn at random, 4 % would be named.

The more skills there are to choose from, the closer the closest one is by chance: take
0.5 for thousands. Of 600 MMLU items that name one skill each, among 10,955 skills of
2,500 broad ones, by question and options:

- 0.3: 9.0 skills an item; 4 % and 35 %; by broad skill 10 % and 67 %;
- 0.5: 3.1 skills an item, and nothing for 103; 8 % and 24 %; by broad skill 21 % and
  48 %;
- 0.6: 0.9 skills an item, and nothing for 354; 13 % and 12 %; by broad skill 28 % and
  19 %.
"""

DEFAULT_MOST: Final = 2
"""Skills kept a sentence, at most."""

_TEXTS: Final = ("item_id", "source", "text")
_BLOCK_CELLS: Final = 4_000_000
_DECIMALS: Final = 5

MENTIONS_SCHEMA: Final = pl.Schema(
    {
        "item_id": pl.String(),
        "annotator": pl.String(),
        "source": pl.String(),
        "step_index": pl.Int64(),
        "level_index": pl.Int64(),
        "phrase": pl.String(),
        "family": pl.String(),
        "step_title": pl.String(),
        "evidence": pl.String(),
        "conclusion": pl.String(),
        "span_start": pl.Int64(),
        "span_end": pl.Int64(),
        "similarity": pl.Float64(),
        "order": pl.Int64(),
    }
)
"""The mentions of ``parse_rationales``, with ``source`` and ``similarity``."""


class Match(NamedTuple):
    """Sentences and the skills that they are close to, in order.

    Attributes:
        sentence: Index of the sentence.
        skill: Index of the skill.
        similarity: Cosine of the two.
    """

    sentence: NDArray[np.intp]
    skill: NDArray[np.intp]
    similarity: Vectors


def item_texts(
    items: pl.DataFrame, rationales: pl.DataFrame | None = None
) -> pl.DataFrame:
    """Texts of items that skills are looked for in.

    Args:
        items: Columns ``item_id``, ``question`` and ``choices`` of ``core.items``.
        rationales: Columns ``item_id`` and ``rationale``, or None.

    Returns:
        ``item_id``, ``source`` and ``text``: the question with its options below it,
        one a line ("question"), and the rationale ("rationale"). Items without
        either have no row.
    """
    options = pl.col("choices").list.eval(pl.element().drop_nulls()).list.join("\n")
    question = pl.concat_str(
        "question",
        pl.when(options != "").then(options),
        separator="\n",
        ignore_nulls=True,
    )
    texts = [items.select("item_id", pl.lit("question").alias("source"), text=question)]
    if rationales is not None:
        texts.append(
            rationales.select(
                "item_id", pl.lit("rationale").alias("source"), text="rationale"
            )
        )
    return pl.concat(texts).filter(pl.col("text").str.strip_chars() != "")


def offline_mentions(
    texts: pl.DataFrame,
    vocabulary: Vocabulary,
    embed: Callable[[Sequence[str]], Vectors],
    *,
    annotator: str,
    threshold: float = DEFAULT_THRESHOLD,
    most: int = DEFAULT_MOST,
    phrase_vectors: Vectors | None = None,
) -> pl.DataFrame:
    """Skills whose vectors are close to those of sentences.

    Args:
        texts: Columns ``item_id``, ``source`` and ``text``, as `item_texts` gives.
        vocabulary: The skills.
        embed: Gives unit vectors of texts, such as ``Embedder.embed``.
        annotator: Name to write beside the skills, such as "offline:MiniLM".
        threshold: Least cosine, in [-1, 1].
        most: Skills a sentence at most, the closest ones, the first of equals.
        phrase_vectors: Of the vocabulary's phrases; embedded if left out.

    Returns:
        `MENTIONS_SCHEMA`, one row a name of each skill's chain, in the order of
        the texts. ``step_index`` numbers the sentences of an item that have a
        skill, ``evidence`` is the sentence and ``span_start`` to ``span_end`` its
        place in the text of that ``source``. A skill stands once a sentence, and
        again with every sentence that is close to it.

    Raises:
        InvalidInputError: If a column is missing, or a bound is out of range.
    """
    _check(texts, threshold, most)
    places = [
        (row, sentence)
        for row, text in enumerate(texts["text"])
        for sentence in sentences(text or "")
    ]
    if not places:
        return MENTIONS_SCHEMA.to_frame()
    if phrase_vectors is None:
        phrase_vectors = embed(vocabulary.phrases)
    vectors = embed([sentence.text for _, sentence in places])
    match = close_skills(vectors, phrase_vectors, threshold=threshold, most=most)
    return _mentions(texts, places, vocabulary, match, annotator)


def close_skills(
    sentence_vectors: Vectors,
    phrase_vectors: Vectors,
    *,
    threshold: float = DEFAULT_THRESHOLD,
    most: int = DEFAULT_MOST,
) -> Match:
    """Closest skills of each sentence, by a matrix product in blocks.

    Args:
        sentence_vectors: Unit vectors, shape ``(n_sentences, dimensions)``.
        phrase_vectors: Unit vectors, shape ``(n_skills, dimensions)``.
        threshold: Least cosine.
        most: Skills a sentence at most.

    Returns:
        By sentence, then from close to far, equals by the skill's index.
    """
    found: list[Match] = []
    most = min(most, len(phrase_vectors))
    height = max(1, _BLOCK_CELLS // max(1, len(phrase_vectors)))
    for start in range(0, len(sentence_vectors), height):
        cosines = sentence_vectors[start : start + height] @ phrase_vectors.T
        # The last bits may depend on the size of the block.
        cosines = cosines.round(_DECIMALS)
        row, skill = np.nonzero(cosines >= threshold)
        cosine = cosines[row, skill]
        order = np.lexsort((skill, -cosine, row))
        row, skill, cosine = row[order], skill[order], cosine[order]
        rank = np.arange(row.size) - np.searchsorted(row, row)
        kept = rank < most
        found.append(Match(row[kept] + start, skill[kept], cosine[kept]))
    if not found:
        nothing = np.empty(0, dtype=np.intp)
        return Match(nothing, nothing, np.empty(0, dtype=np.float32))
    return Match(*(np.concatenate(parts) for parts in zip(*found, strict=True)))


def _mentions(
    texts: pl.DataFrame,
    places: list[tuple[int, Sentence]],
    vocabulary: Vocabulary,
    match: Match,
    annotator: str,
) -> pl.DataFrame:
    rows = list(_rows(places, vocabulary, match))
    names = ("row", "place", "level_index", "phrase", "family", "similarity")
    found = pl.DataFrame(
        rows, schema=list(names), orient="row", infer_schema_length=None
    )
    if found.is_empty():
        return MENTIONS_SCHEMA.to_frame()
    row_numbers = found["row"].to_list()
    said = [places[place][1] for place in cast("list[int]", found["place"].to_list())]
    return (
        found.with_columns(
            texts.select("item_id", "source")[row_numbers],
            annotator=pl.lit(annotator),
            evidence=pl.Series([one.text for one in said], dtype=pl.String),
            span_start=pl.Series([one.start for one in said]),
            span_end=pl.Series([one.end for one in said]),
            step_title=None,
            conclusion=None,
        )
        .with_columns(
            step_index=pl.col("place").rank("dense").over("item_id") - 1,
            order=pl.int_range(pl.len()),
        )
        .select(pl.col(name).cast(kind) for name, kind in MENTIONS_SCHEMA.items())
    )


def _rows(
    places: list[tuple[int, Sentence]], vocabulary: Vocabulary, match: Match
) -> Iterator[tuple[int, int, int, str, str | None, float]]:
    found = zip(
        cast("list[int]", match.sentence.tolist()),
        cast("list[int]", match.skill.tolist()),
        cast("list[float]", match.similarity.tolist()),
        strict=True,
    )
    for place, skill, similarity in found:
        chain = vocabulary.chains[skill]
        for level, name in enumerate(chain.names, start=chain.first_level):
            row = places[place][0]
            yield row, place, level, name, chain.family, similarity


def _check(texts: pl.DataFrame, threshold: float, most: int) -> None:
    missing = [name for name in _TEXTS if name not in texts.columns]
    if missing:
        raise InvalidInputError(
            f"texts must have the columns {', '.join(_TEXTS)}: missing {missing}"
        )
    if not -1 <= threshold <= 1:
        raise InvalidInputError(f"threshold must be in [-1, 1], got {threshold}")
    if most < 1:
        raise InvalidInputError(f"most must be at least 1, got {most}")
