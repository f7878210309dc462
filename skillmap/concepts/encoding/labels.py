"""Labels of latents: from Neuronpedia's exports, from CSV files, or from top tokens.

A label is a guess, whoever made it. Where a latent has several, one is taken: that of
the best score, then of the newest explainer, then of the lowest id.
"""

import gzip
import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
import polars as pl
from numpy.typing import NDArray

from skillmap.concepts.encoding.frames import CONCEPTS
from skillmap.errors import InvalidInputError, ParseError

LABELS: Final = pl.Schema(
    {
        "latent_index": pl.Int32(),
        "label": pl.String(),
        "label_source": pl.String(),
        "explainer": pl.String(),
        "score": pl.Float64(),
        "label_id": pl.String(),
    }
)
DENSE: Final = 0.1

_TOP_TOKENS: Final = "top_tokens"
# GPT-2's and SentencePiece's signs for a space, and the signs of a part of a word.
_AROUND: Final = " \u0120\u2581\u010a\n\t\r"


def neuronpedia_labels(source: Path) -> pl.DataFrame:
    """Labels of an export of Neuronpedia.

    Args:
        source: Folder of ``batch-*.jsonl.gz`` files with explanations, or one of
            them, compressed or not.

    Returns:
        As ``LABELS`` has them, one row an explanation; several may be of one latent.

    Raises:
        ParseError: If a line is no explanation, or there is no file.
    """
    files = sorted(_exports(source)) if source.is_dir() else [source]
    if not files:
        raise ParseError(f"{source}: no *.jsonl.gz or *.jsonl file")
    rows = [row for file in files for row in _explanations(file)]
    return pl.DataFrame(rows, schema=LABELS)


def neuronpedia_densities(source: Path) -> pl.DataFrame:
    """Shares of tokens on which latents are active, of an export's features.

    Args:
        source: Folder of ``batch-*.jsonl.gz`` files with features, or one of them.

    Returns:
        ``latent_index`` and ``reference_density``.
    """
    files = sorted(_exports(source)) if source.is_dir() else [source]
    rows = [
        (_index(row, place), row.get("frac_nonzero"))
        for file in files
        for place, row in _objects(file)
    ]
    schema = {"latent_index": pl.Int32(), "reference_density": pl.Float64()}
    return pl.DataFrame(rows, schema=schema, orient="row")


def csv_labels(file: Path) -> pl.DataFrame:
    """Labels of a CSV file with ``latent_index`` and ``label``.

    ``label_source``, ``explainer``, ``score`` and ``label_id`` may be there too.

    Raises:
        ParseError: If a needed column is missing, or an index is no number.
    """
    try:
        read = pl.read_csv(file, infer_schema=False)
        missing = {"latent_index", "label"} - set(read.columns)
        if missing:
            raise ParseError(f"{file}: columns missing: {', '.join(sorted(missing))}")
        defaults = {
            "label_source": pl.lit("csv"),
            "explainer": pl.lit(None, pl.String),
            "score": pl.lit(None, pl.String),
            "label_id": pl.lit(None, pl.String),
        }
        added = [e.alias(n) for n, e in defaults.items() if n not in read.columns]
        return read.with_columns(added).select(LABELS.names()).cast(LABELS)
    except pl.exceptions.PolarsError as error:
        raise ParseError(f"{file}: {error}") from error


def top_token_labels(
    latents: NDArray[np.int64],
    values: NDArray[np.float32],
    tokens: Sequence[str],
    *,
    n_positions: int = 50,
    n_tokens: int = 3,
) -> pl.DataFrame:
    """Labels made of the tokens on which latents are most active.

    Args:
        latents: Of each active entry.
        values: Activation of each entry.
        tokens: Text of each entry's token.
        n_positions: Strongest entries of a latent that are looked at.
        n_tokens: Different tokens that a label has at most.

    Returns:
        As ``LABELS`` has them, one row for each latent that has an entry: its tokens
        by their summed activation, the strongest first, as "tok1 / tok2".

    Examples:
        >>> top_token_labels(
        ...     np.array([0, 0, 0, 4]),
        ...     np.array([1, 5, 2], "f4").repeat([1, 1, 2]),
        ...     [" the", " Dog", " cat", " the"],
        ... ).select("latent_index", "label").rows()
        [(0, 'dog / cat / the'), (4, 'the')]
    """
    entries = pl.DataFrame(
        {"latent_index": latents, "value": values, "token": _readable(tokens)},
        schema_overrides={"token": pl.String()},
    )
    rank = pl.col("value").rank("ordinal", descending=True).over("latent_index")
    strongest = entries.filter(rank <= n_positions, pl.col("token") != "")
    by_token = (
        strongest.group_by("latent_index", "token")
        .agg(pl.col("value").cast(pl.Float64).sum())
        .sort(["latent_index", "value", "token"], descending=[False, True, False])
    )
    return (
        by_token.group_by("latent_index", maintain_order=True)
        .agg(pl.col("token").head(n_tokens).str.join(" / ").alias("label"))
        .with_columns(
            label_source=pl.lit(_TOP_TOKENS),
            explainer=pl.lit(None, pl.String),
            score=pl.lit(None, pl.Float64),
            label_id=pl.lit(None, pl.String),
        )
        .select(LABELS.names())
        .cast(LABELS)
    )


def chosen_labels(labels: pl.DataFrame) -> pl.DataFrame:
    """One label for each latent that has any.

    The best score counts first, then the newest explainer, then the lowest id.

    Explainers are compared by name, since exports have no dates: newer versions of a
    model have higher names as a rule.

    Args:
        labels: As ``LABELS`` has them, any number for each latent.

    Returns:
        ``latent_index``, ``label`` with its spaces collapsed, and ``label_source``.
    """
    label = pl.col("label").str.replace_all(r"\s+", " ").str.strip_chars()
    return (
        labels.with_columns(label)
        .filter(pl.col("label") != "")
        .sort(
            ["latent_index", "score", "explainer", "label_id", "label"],
            descending=[False, True, True, False, False],
            nulls_last=True,
        )
        .unique("latent_index", keep="first", maintain_order=True)
        .select("latent_index", "label", "label_source")
    )


def concept_frame(
    encoder_id: str,
    n_latents: int,
    labels: pl.DataFrame,
    densities: pl.DataFrame | None = None,
    *,
    dense_density: float = DENSE,
) -> pl.DataFrame:
    """The dictionary of an encoder: every latent, and whether it counts.

    A latent counts if it has a label and is not dead in the reference text, where that
    is known.

    Args:
        encoder_id: Whose latents.
        n_latents: How many.
        labels: As ``LABELS`` has them.
        densities: ``latent_index`` and ``reference_density`` of some latents.
        dense_density: Share of tokens above which a latent is dense.

    Returns:
        As ``frames.CONCEPTS`` has it, sorted by latent. ``reason`` says why a latent
        does not count: "no label" or "dead". ``is_dense`` is false where the density
        is not known.

    Raises:
        InvalidInputError: If a label or density is of a latent that there is not.
    """
    none = pl.DataFrame(
        schema={"latent_index": pl.Int32(), "reference_density": pl.Float64()}
    )
    known = none if densities is None else densities.cast(none.schema)
    for name, frame in (("labels", labels), ("densities", known)):
        bad = frame.filter(~pl.col("latent_index").is_between(0, n_latents - 1))
        if not bad.is_empty():
            raise InvalidInputError(
                f"{name}: {bad.height} are of no latent of {encoder_id!r}, which has "
                f"{n_latents}, first {bad['latent_index'][0]}"
            )
    density = pl.col("reference_density")
    reason = (
        pl.when(density == 0)
        .then(pl.lit("dead"))
        .when(pl.col("label").is_null())
        .then(pl.lit("no label"))
    )
    return (
        pl.select(latent_index=pl.int_range(n_latents, dtype=pl.Int32))
        .join(chosen_labels(labels), on="latent_index", how="left")
        .join(known, on="latent_index", how="left")
        .with_columns(encoder_id=pl.lit(encoder_id), reason=reason)
        .with_columns(
            in_dictionary=pl.col("reason").is_null(),
            is_dense=(density > dense_density).fill_null(value=False),
        )
        .sort("latent_index")
        .select(CONCEPTS.names())
        .cast(CONCEPTS)
    )


def _readable(tokens: Sequence[str]) -> list[str]:
    """Tokens as a person writes them; what is no word stays as it is."""
    known = {token: _told(token) for token in set(tokens)}
    return [known[token] for token in tokens]


def _told(token: str) -> str:
    text = token.strip(_AROUND).casefold()
    if text or not token:
        return text
    return "line break" if re.search("[\n\u010a]", token) else "space"


def _exports(folder: Path) -> list[Path]:
    return [*folder.glob("*.jsonl.gz"), *folder.glob("*.jsonl")]


def _explanations(file: Path) -> Iterator[dict[str, Any]]:
    for place, row in _objects(file):
        yield {
            "latent_index": _index(row, place),
            "label": row.get("description"),
            "label_source": "neuronpedia",
            "explainer": row.get("explanationModelName"),
            "score": row.get("score"),
            "label_id": row.get("id"),
        }


def _objects(file: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    opened = gzip.open if file.suffix == ".gz" else open
    try:
        with opened(file, "rt", encoding="utf-8") as lines:
            for number, line in enumerate(lines, 1):
                if line.strip():
                    yield f"{file}:{number}", json.loads(line)
    except (OSError, ValueError, EOFError) as error:
        raise ParseError(f"{file}: {error}") from error


def _index(row: dict[str, Any], place: str) -> int:
    # Exports hold it as text.
    try:
        return int(row["index"])
    except (KeyError, TypeError, ValueError) as error:
        raise ParseError(f"{place}: index: no number of a latent") from error
